"""What changes its sign at a kink of a force is 0 within its rounding, and only there."""

import importlib

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq

from codegen.compiler.rounding import ROUNDING, rounding_of
from tests.support.muscle_laws import MODULES, PENNATE, arrays, outputs, python

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


a, b, c, d = sp.symbols("a b c d", real=True)


@pytest.mark.parametrize(
    "value",
    [(a - b) * (c - d), (a - b) / (c - d), c * (a - b) * sp.cos(c - d), a * (a - b) ** 2 / (c - d) ** 3, a * b * c],
)
@pytest.mark.parametrize("apart", [1.0, 1e-3, 1e-6])
def test_a_rounding_is_the_effect_of_relative_changes(value, apart):
    """That is of the first order: the sum of all derivatives by the sizes of what they are by."""
    at = {a: 1.3, b: 1.3 - apart, c: -0.7, d: -0.7 - 2.0 * apart}
    effect = sum(abs(sp.diff(value, s).subs(at) * at[s]) for s in at)
    assert 0.3 * effect < rounding_of(value, {}).subs(at) / ROUNDING < 3.0 * effect


@pytest.mark.parametrize("name", ["thelen_as_published", "thelen_as_opensim", "millard_as_opensim"])
def test_the_isometric_force_is_a_kink_within_the_rounding_of_lengths(name):
    module, values = MODULES[name], PENNATE | dict(excitation=0.2, activation=0.3, fiber_length=0.045)
    isometric = brentq(lambda at: outputs(module, "law", **values, length=at)["rate of fiber_length"], 0.32, 0.326)

    def kinks(off):
        out = np.full(module.KINKS["law"], np.nan)
        python(module, "law_kinks")(*arrays(module, **values, length=isometric + off), out)
        return out

    lower, at, higher = (np.sign(kinks(off)) for off in (-1e-11, 0.0, 1e-11))
    there = at == 0.0
    assert there.any() and (lower[there] == -higher[there]).all() and (lower[there] != 0.0).all()
