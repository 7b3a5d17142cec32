"""Forces of couplings on the coordinates of joints, and as wrenches on the bodies of these joints.

A coupling pushes along two coordinates.  Along that of a turn it exerts a moment in the span of the axes of the joint's turns,
along that of a slide a force in the span of its slides at the centre of mass of body j; neither does work along the other
coordinates of the joint.  The reactions of the joint are those beside it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from runtime.dynamics.derived import multipliers_of_couplings
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.layout import STATE, P, R, V
from runtime.dynamics.model_data import Workspace
from runtime.support.arrays import Floats
from runtime.system.coupled_coordinates import put_coordinates, tree_with_rows
from runtime.system.joint_motion import coordinates, relative_poses, twists
from runtime.system.reference import body_places, ground_state, rotation_matrices
from runtime.system.spanning_tree import joint_coordinates
from runtime.system.system import System


class CouplingForces(NamedTuple):
    """What couplings exert at n states."""

    follower: Floats  # (n, couplings) along the follower [N m], [N]
    wrench: Floats  # (n, bodies + 1, 6) force, moment about the centre of mass
    undetermined: NDArray[np.bool_]  # (n,) whether the state is singular; the forces are 0 there


def forces_of_couplings(
    system: System, times: Floats, states: Floats, contact_events: Floats, like: Workspace
) -> CouplingForces:
    """Forces of the couplings of a system in states (n, 13 bodies) that follow each other; ``like``: with its resolution."""
    tree, motions, places = system.tree, system.joint_motions, body_places(system.body_names)
    assert tree is not None
    memory = tree_with_rows(system)
    work, coupled = workspace_for(system.data, tree=memory), memory.closing.coupled
    work.contacts.speed_resolution[0] = like.contacts.speed_resolution[0]
    n = len(states)
    z = joint_coordinates(tree, system.body_names, motions, states)
    ground = np.broadcast_to(ground_state(), (n, 1, STATE))
    full = np.concatenate([ground, states.reshape(n, -1, STATE)], axis=1)
    values: dict[str, Floats] = {}
    slopes: dict[str, Floats] = {}
    for name in {one.rpartition(".")[0] for c in system.couplings for one in (c.follower, c.leader)}:
        motion = motions[name]
        poses = relative_poses(full[:, places[motion.joint.body_i]], full[:, places[motion.joint.body_j]])
        found = coordinates(motion, poses)
        values |= {f"{name}.{c}": found[:, k] for k, c in enumerate(motion.units)}
        slopes[name] = _unit_wrenches(twists(motion, poses))
    put_coordinates(system.couplings, coupled, values, z)  # without jumps
    lam = np.zeros((n, len(system.couplings)))
    multipliers_of_couplings(
        np.asarray(times, float), np.ascontiguousarray(z), contact_events, system.data, work, np.zeros(z.shape[1]), lam
    )
    undetermined = np.array(~np.isfinite(lam).all(axis=1), bool)
    lam[undetermined] = 0.0
    wrench = np.zeros((n, len(system.bodies) + 1, 6))
    for k, one in enumerate(system.couplings):
        for name, push in (
            (one.follower, -lam[:, k]), (one.leader, lam[:, k] * one.value(values[one.leader], 1)),
        ):  # fmt: skip
            joint, _, column = name.rpartition(".")
            motion = motions[joint]
            along = slopes[joint][:, list(motion.units).index(column)] * push[:, None]  # (n, 6), in axes of body i
            i, j = places[motion.joint.body_i], places[motion.joint.body_j]
            A = rotation_matrices(full[:, i, P:V])
            force, moment = (np.einsum("nab,nb->na", A, part) for part in (along[:, :3], along[:, 3:]))
            wrench[:, j, :3] += force
            wrench[:, j, 3:] += moment
            wrench[:, i, :3] -= force
            arm = full[:, j, R:P] - full[:, i, R:P]
            wrench[:, i, 3:] -= moment + np.cross(arm, force)
    return CouplingForces(-lam, wrench, undetermined)


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
    wrenches: Floats = np.concatenate([force, moment], axis=2)
    return wrenches
