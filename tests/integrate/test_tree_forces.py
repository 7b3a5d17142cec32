"""Forces along the coordinates of trees in lanes, against the wrenches on bodies of the equations of all bodies."""

import numpy as np
import pytest
import sympy as sp

import codegen
import models
from benchmarks.ensemble_systems import builder_of
from runtime import Signal
from runtime.integrate.written.acting_forces import known_forces
from runtime.integrate.written.force_parameters import (
    parameters_of_cases,
    parameters_of_forces,
    takes_values,
)
from runtime.integrate.written.tree_forces import address_of_forces
from runtime.system.allowed_values import allowed
from runtime.system.parameters import with_parameters
from runtime.system.quantity import quantities
from runtime.system.trees import trees_of
from tests.support.force_kernels import FORCES
from tests.support.joint_trees import random_tree
from tests.support.lane_forces import add_force, expected, foot_with_forces, in_lanes, random_states
from tests.support.trees import Tree, motors_of, with_loads


def same(system, seed, size=1.0):
    """Q, power and energy of a system in lanes and from wrenches agree; the power of a force with a potential is rounding."""
    assert known_forces(system)
    z, times = random_states(system, seed, size)
    for own, wanted in zip(in_lanes(system, z, times), expected(system, z, times), strict=True):
        assert own == pytest.approx(wanted, rel=1e-13, abs=max(2e-13 * np.abs(wanted).max(), 1e-14))
    return wanted


@pytest.mark.parametrize("kind", FORCES)
def test_forces_of_each_kind_along_coordinates(kind):
    seed = sum(map(ord, kind))
    b = builder_of(random_tree(seed, coordinates=4)[0])
    add_force(b, kind, seed, ["ground", *b.build(check_units=False).body_names])
    same(b.build(check_units=False), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 5])
def test_loads_and_motors_of_every_sort(seed):
    tree = Tree(["revolute", "universal", "modified_universal", "revolute"], [None, 0, 1, 1], seed)
    b = tree.builder()
    with_loads(tree, b, seed)
    waves = [Signal.function(lambda t, k=k: np.sin(t + k), 0.0, 1.0, step=0.01) for k in range(6)]
    motors_of(tree, b, waves)
    system = b.build()
    same(system, seed, 0.4)


def test_motors_with_gains_and_moved_references():
    system = foot_with_forces()
    assert same(system, 1)[2].min() > 0.0  # energy
    moved = with_parameters(system, {"l.ankle": 0.045})
    same(moved, 2)
    of_case = parameters_of_cases(system, trees_of(moved).tree.geometry)
    assert of_case == pytest.approx(parameters_of_forces(moved)[None], rel=1e-14, abs=1e-16)
    assert address_of_forces(moved) == address_of_forces(system)


def test_values_that_break_a_rule_and_parameters_that_are_not_taken():
    system = foot_with_forces()
    values = np.array([1.0, 0.0, -1.0, np.nan, np.inf])
    wanted = {
        "stiffness.f_spring_damper": [True, True, False, False, False],
        "free_angle.f_torsional_spring": [True, True, True, False, False],
        "stiffness.drive": [True, True, False, False, False],
    }
    for name, good in wanted.items():
        assert allowed(system, quantities(system)[name][0], values).tolist() == good
    assert not takes_values(system, "force", "f_torsional_spring", "a_i")  # a direction
    assert not takes_values(system, "force", "f_tabulated_spring", "tension_table")
    assert not takes_values(system, "limit", "ankle", "damping")


def test_kernels_with_equal_arguments_have_their_own_code():
    found = []
    for kind, *names in (("spring_damper", "damping", "free_length"), ("cable", "loss", "slack_length")):
        b = builder_of(models.foot.build())
        values = dict(zip(("stiffness", *names), (10.0, 1.0, 0.01), strict=True))
        b.force("f", kind, "leg", "main_foot", s_i=(0, 0, 0), s_j=(0, 0, 0.1), **values)
        found.append(address_of_forces(b.build()))
    assert found[0] != found[1]


def actuator(r_i, s_i, p_i, r_j, s_j, p_j, strength, reach, exponent, activation_t, coordinate, rate):
    """A force along a line that a signal drives, of a length and rate with functions of all sorts.

    strength : [N]
    reach : [m]
    exponent : [1]
    activation_t : [1]
    """
    length = coordinate((r_j + s_j - r_i - s_i).norm())
    alike = sum(p_i[k] * p_j[k] for k in range(4)) ** 2
    shape = alike + sp.exp(-length / reach) + (length / reach) ** exponent + sp.tanh(length) + sp.log(length)
    return {"forces": {length: -strength * activation_t * shape * (1 + rate(length) / 10)}}


def test_a_force_of_the_users_own_with_a_signal():
    b = builder_of(random_tree(3, coordinates=4)[0])
    first, *_, last = b.build(check_units=False).body_names
    values = dict(s_i=(0.1, 0, 0), s_j=(0, 0.2, 0), strength=3.0, reach=0.7, exponent=0.6)
    wave = Signal.function(np.sin, 0.0, 1.0)
    b.force("own", codegen.compile_force(actuator), first, last, **values, activation_t=wave)
    same(b.build(check_units=False), 3)
