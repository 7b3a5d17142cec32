"""Derivatives of rows over the data of a joint, against complex steps through the kernels that they differentiate."""

import numpy as np
import pytest

from tests.support.contact_kernels import values
from tests.support.definitions import DEFINITIONS, module_of
from tests.support.kernels import case
from tests.support.marks import over

H = 1e-30  # of the complex step
NAMES = [name for name in DEFINITIONS if not module_of(name).SIGNALS]


def steps(module, x):
    """x after a step along each component of the data: translations of points, turns of directions and triads, constants."""
    found = []
    for name, kind, _ in module.VECTORS:
        if name not in module.KEYWORDS:
            continue
        for axis in np.eye(3):
            moved = x.astype(complex)
            for n, (other, kind_of_other, _) in enumerate(module.VECTORS):
                part = slice(3 * n, 3 * n + 3)
                if other == name and kind == "point":
                    moved[part] += 1j * H * axis
                elif other == name or (kind == "direction" and kind_of_other.endswith(f":{name}")):
                    moved[part] += 1j * H * np.cross(axis, x[part])
            found.append(moved)
    start = 3 * len(module.VECTORS)
    return found + [single(x, start + k) for k in range(len(module.PARAMETERS))]


def single(x, place):
    moved = x.astype(complex)
    moved[place] += 1j * H
    return moved


def derived_places(module):
    """Places in x of the components of carried vectors, and of held constants."""
    carried = [
        3 * n + c for n, (_, kind, _) in enumerate(module.VECTORS) if kind.startswith("carried") for c in range(3)
    ]
    start = 3 * len(module.VECTORS) + len(module.PARAMETERS)
    return carried, [start + k for k in range(module.HELD)]


@over("seed", range(3))
@pytest.mark.parametrize("name", NAMES)
def test_slopes_over_the_data(name, seed):
    module, c = module_of(name), case(name, seed)
    carried, held = derived_places(module)
    moved = steps(module, c.x) + [single(c.x, place) for place in (*carried, *held)]
    exact = np.array([values(module.phi, len(module.ROWS), c.body_i, c.body_j, x).imag / H for x in moved]).T
    found = np.full((len(module.ROWS), len(moved)), np.nan)
    module.data_slopes.py_func(c.body_i, c.body_j, c.x, found)
    assert np.abs(found - exact.reshape(found.shape)).max(initial=0.0) < 1e-12 * max(
        1.0, np.abs(exact).max(initial=0.0)
    )


@over("seed", range(3))
@pytest.mark.parametrize("name", NAMES)
def test_slopes_of_the_reference_configuration(name, seed):
    module, c = module_of(name), case(name, seed)
    carried, held = derived_places(module)
    count, size = len(carried) + len(held), len(carried) + len(held) + module.BRANCH_SIGNS
    columns = []
    for x in steps(module, c.x):
        first = values(module.reference, size, c.body_i, c.body_j, x)
        x = x.copy()
        x[carried] = c.x[carried] + 1j * first[: len(carried)].imag  # held constants may use carried vectors
        columns.append(values(module.reference, size, c.body_i, c.body_j, x)[:count].imag / H)
    exact, found = np.array(columns).T.reshape(count, len(columns)), np.full((count, len(columns)), np.nan)
    module.reference_slopes.py_func(c.body_i, c.body_j, c.x, found)
    assert np.abs(found - exact).max(initial=0.0) < 1e-12 * max(1.0, np.abs(exact).max(initial=0.0))


def test_some_definitions_carry_and_hold():
    assert any(derived_places(module_of(name))[0] for name in NAMES) and any(module_of(name).HELD for name in NAMES)
