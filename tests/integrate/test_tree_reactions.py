"""Forces that depend on the reactions of their joints, in lanes, against accelerations in absolute coordinates."""

import numpy as np
import pytest

import codegen
from benchmarks.ensemble_systems import builder_of
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.layout import LANES, OK, STATE, V
from runtime.dynamics.lift import lift_once, lift_workspace
from runtime.integrate.written.acting_forces import known_forces
from runtime.system.spanning_tree import tree_data
from runtime.system.trees import trees_of
from tests.integrate.test_tree_recursion import in_lanes
from tests.support.joint_trees import random_tree
from tests.support.lane_forces import add_force


def socket_friction(omega_i, omega_j, reaction_force, coefficient, transition_velocity, normal_load):
    """Friction in a ball joint in proportion to its force and to the rate.

    coefficient : times a radius [m], 0 <= coefficient
    transition_velocity : [rad/s], 0 < transition_velocity
    """
    slip = omega_j - omega_i
    return {
        "dissipation": coefficient
        * normal_load(codegen.size(reaction_force))
        * slip.dot(slip)
        / transition_velocity
        / 2
    }


JOURNAL = dict(coefficient=0.3, radius=0.05, thrust_radius=0.04, spacing=0.4, transition_velocity=0.3, damping=0.1)
FRICTIONS = {
    "revolute": ("journal_friction", JOURNAL),
    "modified_universal": ("journal_friction", JOURNAL),
    "translational": ("guide_friction", dict(coefficient=0.1, spacing=1.5, transition_velocity=0.5, damping=0.2)),
    "cylindrical": ("sleeve_friction", dict(coefficient=0.1, radius=0.1, spacing=1.5, transition_velocity=0.4)),
    "spherical": (codegen.compile_force(socket_friction), dict(coefficient=0.02, transition_velocity=0.5)),
}


def rubbing_tree(seed, *, share=1.0, floating=0.0):
    """A random tree with a spring, all of whose joints rub; coefficients times ``share``."""
    system, _ = random_tree(seed, coordinates=7, kinds=tuple(FRICTIONS), floating=floating)
    b = builder_of(system)
    add_force(b, "spring_damper", seed, system.body_names)
    for joint in system.joints:
        kind, law = FRICTIONS[joint.kind]
        law = law | {"coefficient": share * law["coefficient"]}
        b.force(f"rub_{joint.name}", kind, joint.body_i, joint.body_j, joint=joint.name, **law)
    return b.build(check_units=False)


def states(system, seed, size=1.0):
    """Coordinates and rates (n, LANES), with Euler parameters of unit length."""
    random, tree = np.random.default_rng(seed), trees_of(system).of_joints
    z = random.uniform(-size, size, (tree.places[1][-1], LANES))
    for kind, after in zip(tree.kinds, tree.places[0][1:], strict=True):
        if kind in ("ball", "free"):
            z[after - 4 : after] /= np.linalg.norm(z[after - 4 : after], axis=0)
    return z


def velocities(system, z, u):
    """Velocities (bodies, 6, LANES) of the bodies at coordinates z and rates u (rates, LANES)."""
    tree = tree_data(trees_of(system).of_joints, system.gravity)
    memory, y = lift_workspace(len(tree.kind)), np.zeros(STATE * len(tree.step))
    found = np.empty((len(tree.step), 6, LANES))
    for lane in range(LANES):
        own = np.append(z[: tree.u[0], lane], u[:, lane])
        lift_once(tree, memory, own, y)
        found[..., lane] = y.reshape(-1, STATE)[:, V:]
    return found


def in_absolute(system, z):
    """Accelerations (bodies, 6, LANES) and power (LANES,) by the equations of all bodies."""
    tree = tree_data(trees_of(system).of_joints, system.gravity)
    memory, work, y = lift_workspace(len(tree.kind)), workspace_for(system.data), np.zeros(STATE * len(tree.step))
    found, power = np.empty((len(tree.step), 6, LANES)), np.empty(LANES)
    for lane in range(LANES):
        lift_once(tree, memory, np.ascontiguousarray(z[:, lane]), y)
        y_dot = np.zeros_like(y)
        assert derivative_once(0.0, y, system.data, work, y_dot) == OK
        found[..., lane], power[lane] = y_dot.reshape(-1, STATE)[:, V:], work.power.sum()
    return found, power


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "floating"), [(1, 0.0), (2, 0.0), (3, 0.0), (5, 0.0), (4, 0.4), (6, 0.4)])
def test_random_trees_with_friction_by_reactions(seed, floating):
    """What friction changes of the accelerations, and its power; without it see ``test_conformance``."""
    system, none = rubbing_tree(seed, floating=floating), rubbing_tree(seed, share=0.0, floating=floating)
    assert known_forces(system)
    z, times = states(system, seed), np.zeros(LANES)
    (one, power, _, worst), (two, *_) = in_lanes(system, z, times), in_lanes(none, z, times)
    first = trees_of(system).of_joints.places[0][-1]
    (of_all, power_of_all), (without, _) = in_absolute(system, z), in_absolute(none, z)
    assert np.isfinite(worst).all() and np.abs(of_all - without).max() > 0.5
    assert velocities(system, z, (one - two)[first:]) == pytest.approx(
        of_all - without, abs=1e-12 * np.abs(of_all).max()
    )
    assert power == pytest.approx(power_of_all, abs=1e-13 * np.abs(power_of_all).max())
