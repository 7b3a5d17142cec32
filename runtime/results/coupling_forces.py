"""Forces of couplings and rotors on the coordinates of joints, and as wrenches on the bodies of these joints.

A coupling pushes along its follower and its leaders, a rotor along one coordinate.  Along that of a turn they exert a moment in
the span of the axes of the joint's turns, along that of a slide a force in the span of its slides at the centre of mass of body
j; neither does work along the other coordinates of the joint.  The reactions of the joint are those beside it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.derived import derive_along_coordinates
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.force_elements import follow_states
from runtime.dynamics.layout import STATE, P, R, V
from runtime.dynamics.model_data import Workspace
from runtime.support.arrays import Bools, Floats
from runtime.system.coordinate_steps import step_of
from runtime.system.coupled_coordinates import put_coordinates, tree_with_rows
from runtime.system.joint_motion import coordinates, relative_poses, twists
from runtime.system.reference import body_places, rotation_matrices, states_with_ground
from runtime.system.spanning_tree import tree_data
from runtime.system.system import System
from runtime.system.tree_coordinates import joint_coordinates
from runtime.system.trees import trees_of


class Part(NamedTuple):
    """What a coupling or a rotor exerts along one coordinate, on the bodies of its joint."""

    name: str  # of the coupling; of the rotor its coordinate
    joint: str
    wrench: Floats  # (n, 2, 6) on body i and j: force, moment about the centre of mass


class CouplingForces(NamedTuple):
    """What couplings and rotors exert at n states, and the accelerations with them."""

    follower: Floats  # (n, couplings) along the follower [N m], [N]
    wrench: Floats  # (n, bodies + 1, 6) of all: force, moment about the centre of mass
    parts: list[Part]  # of which it is the sum
    v_dot: Floats  # (n, bodies + 1, 6) by the equations in joint coordinates
    undetermined: Bools  # (n,) whether the state is singular; forces and accelerations are 0 there


def forces_of_couplings(
    system: System, times: Floats, states: Floats, before: Floats, contact_events: Floats, like: Workspace
) -> CouplingForces:
    """Forces of the couplings and rotors of a system in states (n, 13 bodies) that follow each other.

    Behind those of the bodies they have the states of forces.  ``before``: as of ``derived.take_state``; ``like``: with its
    resolution of speeds.
    """
    tree = trees_of(system).tree
    assert tree is not None
    memory = tree_with_rows(system)
    work, coupled = workspace_for(system.data, tree=memory), memory.closing.coupled
    work.contacts.speed_resolution[0] = like.contacts.speed_resolution[0]
    follow_states(system.data.forces, work.forces)
    n, of_bodies = len(states), STATE * len(system.bodies)
    along = _Along(system, states[:, :of_bodies])
    z = joint_coordinates(tree, system.body_names, system.joint_motions, states[:, :of_bodies])
    put_coordinates(system.couplings, coupled, along.values, z)  # without jumps
    z = np.concatenate([z, states[:, of_bodies:]], axis=1)
    z_dot, v_dot, lam = (
        np.zeros(z.shape),
        np.zeros((n, len(system.bodies) + 1, 6)),
        np.zeros((n, len(system.couplings))),
    )
    derive_along_coordinates(
        np.asarray(times, float), np.ascontiguousarray(z), before, contact_events, system.data, work, z_dot, v_dot, lam
    )
    undetermined = np.array(~np.isfinite(v_dot).all(axis=(1, 2)), bool)
    for array in (z_dot, v_dot, lam):
        array[undetermined] = 0.0
    for k, one in enumerate(system.couplings):
        along.push(one.name, one.follower, -lam[:, k])
        slopes = one.derivatives(along.values)[1]
        for n, leader in enumerate(one.leaders):
            along.push(one.name, leader, lam[:, k] * slopes[:, n])
    for rotor in system.armatures:
        k = step_of(rotor.name, rotor.coordinate, system.joint_motions, tree)
        force = -rotor.inertia * tree.coordinates[k].sign * z_dot[:, memory.data.u[k]]
        along.push(rotor.name, rotor.coordinate, force)
    return CouplingForces(-lam, along.wrench, along.parts, v_dot, undetermined)


def energy_of_rotors(system: System, states: Floats) -> Floats:
    """Kinetic energy of the rotors of a system in states (n, 13 bodies), (n,) [J]."""
    tree = trees_of(system).tree
    assert tree is not None and tree.armature is not None
    data = tree_data(tree, system.gravity)
    z = joint_coordinates(tree, system.body_names, system.joint_motions, states)
    return 0.5 * z[:, data.u] ** 2 @ data.armature


class _Along:
    """Values of the coordinates along which couplings and rotors act, and the wrenches on the bodies of their joints."""

    def __init__(self, system: System, states: Floats) -> None:
        n = len(states)
        self.motions, self.places = system.joint_motions, body_places(system.body_names)
        self.states = states_with_ground(states)
        self.wrench, self.parts = np.zeros((n, len(system.bodies) + 1, 6)), list[Part]()
        self.values: dict[str, Floats] = {}
        self.slopes: dict[str, Floats] = {}
        named = [one for c in system.couplings for one in (c.follower, *c.leaders)]
        for name in {one.rpartition(".")[0] for one in [*named, *(a.coordinate for a in system.armatures)]}:
            motion = self.motions[name]
            poses = relative_poses(
                *(self.states[:, self.places[b]] for b in (motion.joint.body_i, motion.joint.body_j))
            )
            found = coordinates(motion, poses)
            self.values |= {f"{name}.{c}": found[:, k] for k, c in enumerate(motion.units)}
            self.slopes[name] = _unit_wrenches(twists(motion, poses))

    def push(self, name: str, coordinate: str, force: Floats) -> None:
        """Add a force (n,) along a coordinate, of the coupling or rotor of this name."""
        joint, _, column = coordinate.rpartition(".")
        motion = self.motions[joint]
        along = self.slopes[joint][:, list(motion.units).index(column)] * force[:, None]  # (n, 6), in axes of body i
        i, j = self.places[motion.joint.body_i], self.places[motion.joint.body_j]
        A = rotation_matrices(self.states[:, i, P:V])
        linear, moment = (np.einsum("nab,nb->na", A, part) for part in (along[:, :3], along[:, 3:]))
        arm = self.states[:, j, R:P] - self.states[:, i, R:P]
        on_j = np.concatenate([linear, moment], axis=1)
        on_i = -np.concatenate([linear, moment + np.cross(arm, linear)], axis=1)
        self.wrench[:, j] += on_j
        self.wrench[:, i] += on_i
        self.parts.append(Part(name, joint, np.stack([on_i, on_j], axis=1)))


def _unit_wrenches(twists: Floats) -> Floats:
    """Wrenches (n, coordinates, 6) of unit power along one coordinate and none along the others; twists (n, 6, coordinates)."""
    n, _, count = twists.shape
    slides = ~twists[0, 3:].any(axis=0)
    unit = np.eye(count)
    force = np.zeros((n, count, 3))
    if slides.any():
        force = unit[:, slides] @ np.linalg.pinv(twists[:, :3, slides])
    moment = np.zeros((n, count, 3))
    if not slides.all():
        left = unit[:, ~slides] - force @ twists[:, :3, ~slides]
        moment = left @ np.linalg.pinv(twists[:, 3:, ~slides])
    return np.concatenate([force, moment], axis=2)
