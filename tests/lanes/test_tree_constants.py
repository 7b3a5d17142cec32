"""Constants of kernels of many cases side by side, against those of the arrays that one system has."""

import numpy as np
import pytest

from models import foot, pendulum
from runtime.integrate.tree_method import kernel_of
from runtime.lanes.tree_constants import TreeCases, constants_of_trees
from runtime.system.tree_geometry import Geometry, carried, kernel_parameters
from tests.support.systems import cart

COUNT = 21  # no whole number of lanes


SYSTEMS = {
    "foot": foot.build,
    "foot with limits": lambda: foot.build(limits="elastic"),
    "pendulum": pendulum.build,
    "cart": cart,
}


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("varied", [("where",), ("inertia",), ("gravity",), ("where", "inertia", "gravity")])
def test_constants_are_those_of_single_systems(name, varied):
    system, random = SYSTEMS[name](), np.random.default_rng(0)
    tree, n, steps, module = system.tree, len(system.bodies), system.tree.skeleton, kernel_of(system.tree)
    counts = dict.fromkeys(varied, COUNT)
    shapes = [(counts.get("where", 1), *part.shape[1:]) for part in tree.geometry]
    where = Geometry(
        *(part + 0.1 * random.standard_normal(shape) for part, shape in zip(tree.geometry, shapes, strict=True))
    )
    masses = random.uniform(0.5, 2.0, (COUNT, n))
    root = random.standard_normal((counts.get("inertia", 1), n, 3, 3))
    inertia, gravity = root @ np.swapaxes(root, 2, 3), random.standard_normal((counts.get("gravity", 1), 3))
    cases = TreeCases(np.array(steps.parents), np.array(steps.body_step), *where, masses, inertia, gravity)
    found = constants_of_trees(module, cases)
    parameters = kernel_parameters(where, steps, carried(where, steps, masses, inertia), gravity)
    expected = np.zeros((module.CONSTANTS, COUNT))
    module.prepare(parameters, expected)
    assert np.abs(found - expected.T).max() < 1e-14 * np.abs(expected).max() and np.ptp(found, axis=0).max() > 0.1
