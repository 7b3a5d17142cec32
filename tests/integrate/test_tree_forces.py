"""Forces along the coordinates of trees in lanes, against the wrenches on bodies of the equations of all bodies."""

import numpy as np
import pytest

from benchmarks.ensemble_systems import builder_of
from runtime import Signal
from runtime.integrate.acting_forces import known_forces
from tests.support.force_kernels import FORCES, TABLE, Case
from tests.support.joint_trees import random_tree
from tests.support.lane_forces import expected, in_lanes, random_states
from tests.support.trees import Tree, motors_of, with_loads


def same(system, seed, size=1.0):
    """Q, power and energy of a system in lanes and from wrenches agree."""
    assert known_forces(system)
    z, times = random_states(system, seed, size)
    for own, wanted in zip(in_lanes(system, z, times), expected(system, z, times), strict=True):
        assert own == pytest.approx(wanted, rel=1e-13, abs=2e-13 * np.abs(wanted).max())
    return wanted


def add_force(b, kind, seed, bodies):
    """A force of a kind with random values between random bodies."""
    random, case = np.random.default_rng([seed, 9]), Case(kind, seed)
    ends = [str(body) for body in random.permutation(bodies)[: case.count]]
    ends += ends[1:2] * (case.count - len(ends))
    if set(case.module.BODIES) | {body for _, _, body in case.module.VECTORS} == {"i"}:
        ends = [next(body for body in ends if body != "ground"), "ground"]
    over = dict(zip(("body_k", "body_l"), ends[2:], strict=False))
    values = {v: case.local[v] for v, *_ in case.module.VECTORS if v in case.module.KEYWORDS} | case.values
    b.force(f"f_{kind}", kind, *ends[:2], **values, **dict.fromkeys(case.module.TABLES, TABLE), **over)


@pytest.mark.parametrize("kind", FORCES)
def test_forces_of_each_kind_along_coordinates(kind):
    seed = sum(map(ord, kind))
    b = builder_of(random_tree(seed, coordinates=4)[0])
    add_force(b, kind, seed, ["ground", *b.build(check_units=False).body_names])
    same(b.build(check_units=False), seed)


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_loads_and_motors_of_every_sort(seed):
    tree = Tree(["revolute", "universal", "modified_universal", "revolute"], [None, 0, 1, 1], seed)
    b = tree.builder()
    with_loads(tree, b, seed)
    waves = [Signal.function(lambda t, k=k: np.sin(t + k), 0.0, 1.0, step=0.01) for k in range(6)]
    motors_of(tree, b, waves)
    system = b.build()
    same(system, seed, 0.4)
