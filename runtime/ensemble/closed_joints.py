"""Cases with closed loops or drivers whose joints differ: their trees in a pose in which bodies are turned as in their system.

The vectors of a kernel are those of a reference configuration.  In that of a case, which satisfies all rows, bodies are turned a
little against that of the system, and components that are 0 there are not.  A pose that the joints of the tree alone satisfy, in
which bodies are only moved, keeps them; the coordinates at the start are those from this pose on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from runtime.dynamics.layout import ROWS, STATE, P, R, V
from runtime.dynamics.projection import RANK_TOLERANCE
from runtime.ensemble.at_once import Prepared
from runtime.ensemble.joint_batch import of_one_batch
from runtime.integrate.batches.parameters import OFFSET, SIGN
from runtime.jit.python_code import python_code
from runtime.support.arrays import Bools, Floats
from runtime.system.joint_cases import MARGIN, JointCases
from runtime.system.joint_motion import times
from runtime.system.reference import body_places, rotation_matrices, states_with_ground
from runtime.system.spanning_tree import SpanningTree
from runtime.system.system import System
from runtime.system.tree_coordinates import joint_coordinates
from runtime.system.tree_geometry import Geometry, geometry

ITERATIONS, SATISFIED = 12, 1e-13  # of Newton's method; [SI unit of a row]


def in_axes_of_system(prepared: Prepared) -> tuple[Prepared, Floats]:
    """The cases with trees in a pose in which bodies are turned as in their system, where their joints allow one.

    Also what was added to the coordinates, (cases, n): angles of results count from the reference configurations of the cases.
    """
    system, tree, joints, count = prepared.given.system, prepared.given.tree, prepared.joints, len(prepared.good)
    assert joints is not None
    states = prepared.states(np.arange(count), prepared.z[:, None])[:, 0]
    reference, found = _moved_alone(system, tree, joints)
    if not found.any():
        return prepared, np.zeros_like(prepared.z)
    motions = joints.motions(reference)
    where = geometry(tree.skeleton, motions, body_places(system.body_names), states_with_ground(reference))
    z = joint_coordinates(tree, system.body_names, motions, states, where.pose)
    found &= of_one_batch(system, tree, where, z, states)
    turned = np.where(found[:, None], z - prepared.z, 0.0)
    parts = zip(where, prepared.where, strict=True)
    where = Geometry(*(np.where(found.reshape(-1, *[1] * (new.ndim - 1)), new, old) for new, old in parts))
    limits = prepared.limits.copy()
    limits[..., OFFSET] -= limits[..., SIGN] * turned[:, tree.limited_places[0]]
    return replace(prepared, where=where, z=np.where(found[:, None], z, prepared.z), limits=limits), turned


def _moved_alone(system: System, tree: SpanningTree, joints: JointCases) -> tuple[Floats, Bools]:
    """States (cases, 13 bodies) at rest that satisfy the joints of the tree, bodies turned as in the system; for which cases."""
    count, data, names = len(joints.masses), system.data, [joint.name for joint in system.joints]
    states = np.tile(system.reference_configuration.y.reshape(-1, STATE), (count, 1, 1))
    states[..., V:] = 0.0
    good, walked = np.ones(count, bool), set[str]()
    for one in tree.coordinates:
        if not one.joint or one.joint in walked:
            continue
        walked.add(one.joint)
        left = _satisfied(joints, names.index(one.joint), system.body_index(one.outer), states)
        good &= left <= SATISFIED
    free = sum(not one.joint for one in tree.coordinates)
    alone = len(walked) + free == len(data.mass) - 1  # bodies that are locked to others would have to follow these
    return states.reshape(count, -1), good & alone


def _satisfied(joints: JointCases, k: int, outer: int, states: Floats) -> Floats:
    """Move the outer body in states (cases, bodies, 13) onto the rows of joint k, in place; the largest |Phi| that is left."""
    data, joint = joints.system.data, joints.system.joints[k]
    x, place, rows = joints.of_cases.x[:, k].copy(), int(data.body_j[k] == outer + 1), len(joint.rows)
    for row in np.flatnonzero(data.vector_joint == k):
        o, body = data.vector_place[row], int(data.vector_body[row])
        local = joints.of_cases.local[:, row]
        x[:, o : o + 3] = local if body == 0 else times(rotation_matrices(states[:, body - 1, P:V]), local)
    for _ in range(ITERATIONS):
        ends = [
            states_with_ground(states.reshape(len(states), -1))[:, int(body[k])].T
            for body in (data.body_i, data.body_j)
        ]
        Phi, D = np.zeros((ROWS, len(x))), np.zeros((ROWS, 12, len(x)))
        python_code(joint.module.phi)(*ends, x.T, Phi)
        python_code(joint.module.jacobian)(*ends, x.T, D)
        left: Floats = np.abs(Phi[:rows]).max(axis=0)
        if (left <= SATISFIED).all():
            break
        columns = np.moveaxis(D[:rows, 6 * place : 6 * place + 3], 2, 0)
        with np.errstate(all="ignore"):
            step = -times(np.linalg.pinv(np.where(np.isfinite(columns), columns, 0.0)), Phi[:rows].T)
        states[:, outer, R:P] += np.where(np.isfinite(step), step, 0.0)
    return left


def as_redundant(prepared: Prepared) -> Bools:
    """Which cases surely have as many redundant rows as their system, in their reference configurations."""
    joints, pose = prepared.joints, prepared.where.pose
    assert joints is not None
    states = np.zeros((*pose.shape[:2], STATE))
    states[..., :V] = pose
    states = states.reshape(len(states), -1)
    counts = [joints.dependent(states, share * RANK_TOLERANCE) for share in (MARGIN, 1.0 / MARGIN)]
    same: Bools = np.all([count == len(prepared.given.system.redundant) for count in counts], axis=0)
    return same
