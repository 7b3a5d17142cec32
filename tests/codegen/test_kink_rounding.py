"""What changes its sign at a kink of a force is 0 within its rounding, and only there."""

import importlib

import numpy as np
import pytest

EPS = np.finfo(float).eps
BODY = np.zeros(13)
BODY[3] = 1.0


def place(x):
    """State of a body at rest at a place along x."""
    body = BODY.copy()
    body[0] = x
    return body


@pytest.mark.parametrize("far", [0.0, 0.1, 7.7, 1e4])
@pytest.mark.parametrize(("kind", "values"), [("stop", (1e6, 1.0, 0.0, 0.25)), ("cable", (1e6, 0.0, 0.25))])
def test_a_kink_is_at_0_within_the_rounding_of_places(kind, values, far):
    module = importlib.import_module(f"generated.force_{kind}")
    vectors = {"s_i": (0, 0, 0), "a_i": (1, 0, 0), "s_j": (0, 0, 0)}
    x = np.concatenate([*(vectors[name] for name, *_ in module.VECTORS if name in vectors), values])
    assert len(x) == module.SIZE
    out = np.empty(module.KINKS)

    def kink(off):
        module.kinks(place(far), place(far + 0.25 + off), x, out)
        return out[-1]

    rounding = EPS * max(far, 0.25)
    assert [kink(k * rounding) for k in (-4, -1, 0, 1, 4)] == [0.0] * 5
    assert kink(-1e3 * rounding) * kink(1e3 * rounding) < 0.0
    assert abs(kink(1e-3)) == pytest.approx(1e-3, rel=1e-6)


@pytest.mark.parametrize("far", [0.0, 0.1, 7.7, 1e4])
def test_the_argument_of_a_table_has_the_rounding_of_places(far):
    """Not that of itself: a length is the difference of places."""
    module = importlib.import_module("generated.force_tabulated_spring")
    out = np.empty(module.KINKS + len(module.TABLES))
    module.kinks(place(far), place(far + 0.25), np.zeros(module.SIZE), out)
    assert 4.0 * EPS * max(far, 0.25) < out[-1] < 100.0 * EPS * max(far, 0.25)
