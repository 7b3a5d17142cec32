"""Equations of trees in lanes by the recursion, against those of one state."""

import numpy as np
import pytest

import models
from runtime import Builder, Signal
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.layout import LANES, OK
from runtime.integrate.tree_method import memory_of_tree
from runtime.integrate.written.acting_forces import known_forces
from runtime.integrate.written.equation_parameters import parameters_of_equations
from runtime.integrate.written.tree_recursion import (
    AXES,
    NAME,
    address_of_recursion,
    has_plain_numbers,
    text_of_recursion,
)
from runtime.system.parameters import replace_parameters
from runtime.system.tree_coordinates import joint_coordinates
from tests.support import lane_forces
from tests.support.joint_trees import KINDS, random_tree
from tests.support.lane_forces import call, run_text, signals_at
from tests.support.trees import Tree, motors_of, with_loads


def states_near(system, state, seed):
    """Coordinates and rates (n, LANES) near those of a state, whose Euler parameters have not quite unit length."""
    random = np.random.default_rng(seed)
    z = joint_coordinates(system.tree, system.body_names, system.joint_motions, state.y[None])[0]
    return z[:, None] + 0.3 * random.standard_normal((len(z), LANES)), random.uniform(0.0, 1.0, LANES)


def in_lanes(system, z, times, *, general=False, limits=None, text=False):
    """z_dot (n, LANES), power, energy and worst (LANES,) by compiled code of lanes, or by the text of a function for one."""
    rows = np.repeat(parameters_of_equations(system)[:, None], LANES, axis=1)
    found = [np.full(z.shape, np.nan), *(np.full(LANES, np.nan) for _ in range(3))]
    limits = np.zeros((0, LANES)) if limits is None else limits
    arrays = [np.ascontiguousarray(z), signals_at(system, times), rows, limits, *found]
    if text:
        run_text(text_of_recursion(system, general=general), NAME, AXES, arrays)
    else:
        call(address_of_recursion(system, general=general), arrays)
    return found


def same_in_text(system, z, times, **more):
    """The text of a function for one lane computes what the code of lanes does."""
    for own, wanted in zip(
        in_lanes(system, z, times, text=True, **more), in_lanes(system, z, times, **more), strict=True
    ):
        assert own == pytest.approx(wanted, rel=1e-11, abs=1e-12 * np.abs(wanted).max())


def expected(system, z, times, place=None):
    """z_dot and worst by the recursion of one state."""
    work = workspace_for(system.data, tree=memory_of_tree(system, system.data, place or system.tree, by_kernel=False))
    z_dot, worst = np.empty(z.shape), np.empty(LANES)
    for lane, time in enumerate(times):
        out = np.empty(len(z))
        assert derivative_once(float(time), z[:, lane].copy(), system.data, work, out) == OK
        z_dot[:, lane], worst[lane] = out, work.smallest_pivot[0] ** -2.0
    return z_dot, worst


@pytest.mark.parametrize(("seed", "floating"), [(1, 0.0), (2, 0.0), (3, 0.4), (4, 0.4), (6, 0.4)])
def test_trees_of_all_steps(seed, floating):
    system, state = random_tree(seed, coordinates=9, kinds=tuple(KINDS), floating=floating)
    z, times = states_near(system, state, seed)
    found, wanted = in_lanes(system, z, times), expected(system, z, times)
    assert found[0] == pytest.approx(wanted[0], rel=1e-12, abs=1e-13 * np.abs(wanted[0]).max())
    assert found[3] == pytest.approx(wanted[1], rel=1e-12)
    assert not found[1].any() and not found[2].any()


def loaded_tree(seed):
    """A floating body that carries others on joints of all kinds, with loads, motors and a spring."""
    tree = Tree(["free", "spherical", "revolute", "modified_universal"], [None, 0, 0, 1], seed)
    b = tree.builder()
    with_loads(tree, b, seed)
    waves = [Signal.function(lambda t, k=k: np.sin(t + k), 0.0, 1.0, step=0.01) for k in range(12)]
    motors_of(tree, b, waves)
    law = dict(stiffness=30.0, damping=0.5, free_length=0.1)
    b.force("spring", "spring_damper", tree.names[0], tree.names[3], s_i=(0.1, 0, 0.2), s_j=(0, 0.2, 0), **law)
    return b.build()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_all_that_acts_on_trees_of_all_steps(seed):
    system = loaded_tree(seed)
    assert known_forces(system)
    z, times = states_near(system, system.state, seed)
    z_dot, *others, _ = in_lanes(system, z, times)
    assert z_dot == pytest.approx(expected(system, z, times)[0], rel=1e-11, abs=1e-12 * np.abs(z_dot).max())
    same_in_text(system, z, times)
    Q, *along = lane_forces.in_lanes(system, z, times)
    assert others == pytest.approx(np.array(along), rel=1e-12, abs=1e-12) and along[1].min() > 0.0
    for own, wanted in zip((Q, *along), lane_forces.expected(system, z, times), strict=True):
        assert own == pytest.approx(wanted, rel=1e-12, abs=2e-13 * np.abs(wanted).max())


def test_numbers_of_the_text_are_those_of_the_system():
    """A motion in a plane, in code that leaves out products with 0 and in code for any numbers."""
    system = models.foot_ground.build()
    z, times = states_near(system, system.state, 3)
    for own, wanted in zip(in_lanes(system, z, times), in_lanes(system, z, times, general=True), strict=True):
        assert own == pytest.approx(wanted, rel=1e-12, abs=1e-12 * np.abs(wanted).max())
    same_in_text(system, z, times)
    same_in_text(system, z, times, general=True)
    assert address_of_recursion(system) != address_of_recursion(system, general=True)
    parameters = parameters_of_equations(system)[None]
    assert has_plain_numbers(system, parameters)
    for turned in ({"a_i.sagittal": (0.6, 0.8, 0.0)}, {"inertia.leg": [[1, 0.1, 0], [0.1, 1, 0], [0, 0, 1]]}):
        other = replace_parameters(system, turned)
        assert not has_plain_numbers(system, parameters_of_equations(other)[None])


def test_sums_over_bodies_that_masses_change_are_no_plain_numbers():
    """Two equal bodies on a turn, whose moments cancel: the text of the code does not depend on the masses."""
    systems = []
    for mass in (1.0, 3.0):
        b = Builder("dumbbell")
        for k, x in enumerate((0.2, -0.2)):
            b.body(f"half_{k}", mass=mass if k else 1.0, inertia=(2e-3, 3e-3, 2e-3), r=(x, 0.0, 0.0))
        axis = dict(axes="global", s_i=(0, 0, 0), s_j=(0, 0, 0), a_i=(0, 0, 1), a_j=(0, 0, 1))
        b.joint("turn", "revolute", "half_0", "ground", **axis)
        b.joint("rod", "fixed", "half_0", "half_1")
        systems.append(b.build())
    parameters = np.stack([parameters_of_equations(system) for system in systems])
    assert has_plain_numbers(systems[0], parameters)
    assert (
        address_of_recursion(systems[0])
        == address_of_recursion(systems[1])
        != address_of_recursion(systems[0], general=True)
    )
