"""Many systems of one layout, which differ in numbers alone: checked and assembled at once, as ``build_system`` does.

A case is good where ``build_system`` surely neither refuses it nor remarks on it; rules with a limit are met by a margin.  Other
cases are built one by one, so that every message comes from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from runtime.dynamics.cases import angles_of_cases
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.layout import GROUND_INDEX, STATE, P, R, V
from runtime.dynamics.lift import GROUND_STEP
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.projection import RANK_TOLERANCE
from runtime.support.arrays import Bools, Floats
from runtime.system.assemble import VELOCITY_TOLERANCE
from runtime.system.built_contacts import usual_contacts
from runtime.system.built_forces import ForceCases, Values, force_cases
from runtime.system.case_table import CaseTable, LimitTable
from runtime.system.cone import Cone, vertices
from runtime.system.dependence import NEARLY
from runtime.system.joint_cases import (
    JointCases,
    constants_of_cases,
    joint_cases,
    read_only,
    sound_inertias,
    states_of_cases,
)
from runtime.system.joint_motion import times
from runtime.system.rank import close_loops, joints_of
from runtime.system.reference import body_places, rotation_matrices
from runtime.system.spanning_tree import LOCKED, lock_of_rows, pairs_of_joints
from runtime.system.system import System
from runtime.system.unusual_values import usual_cases

MARGIN = 10.0  # from limits of ranks
MOVED = 1e-6  # of the size of the model, [rad]: a case that assembly moves by more is built alone


@dataclass(frozen=True)
class LimitCases:
    """Limits of many cases."""

    x: Floats  # (cases, limits, X)
    local: Floats  # (cases, vectors, 3)
    law: Floats  # (cases, limits, 3) largest moment, compliance, damping
    edge: Floats  # (cases, limits, 2) [rad] angles of the cone's points in the plane of the hinge: ahead, behind
    flat: Floats  # (cases, limits, 2) [rad] excess up to which these are the nearest
    data: ModelData
    memory: Floats  # of ``data.limits.vector_local``

    def angles(self, states: Floats) -> Floats:
        """Angles (cases, m, limits) [rad] in states (cases, m, 13 bodies)."""
        found, work = np.empty((*states.shape[:2], self.x.shape[1])), workspace_for(self.data)
        angles_of_cases(np.ascontiguousarray(states), self.x, self.local, self.memory, self.data, work, found)
        return found


@dataclass(frozen=True)
class BuiltCases:
    """Systems of a layout: data of their bodies, joints, limits and forces."""

    masses: Floats  # (cases, bodies)
    inertias: Floats  # (cases, bodies, 3, 3)
    gravity: Floats  # (cases, 3)
    states: Floats  # (cases, 13 bodies) assembled
    joints: JointCases
    limits: LimitCases | None
    forces: ForceCases | None
    good: Bools  # (cases,)


def built_cases(system: System, table: CaseTable) -> BuiltCases:
    """The systems of a table whose layout is that of ``system``, which has no redundant rows."""
    masses, inertias, gravity, y, values, recipes = table[:6]
    good = np.ones(len(y), bool)
    for body in range(len(system.bodies)):
        good &= sound_inertias(inertias[:, body])
    inertias = np.where(good[:, None, None, None], inertias, system.data.inertia[1:])
    joints = joint_cases(system, values, masses, inertias, states_of_cases(y))
    states, assembled = joints.assembled(y, velocities=False)
    good &= joints.good & assembled & _moved_by_rounding(system, joints, y, states)
    good &= _consistent(system, joints, states)
    acting = system.forces or system.motors or system.loads or system.contacts
    forces = force_cases(system, recipes, table.forces) if acting else None
    if recipes[0].check_units:
        points = _points(system, joints, {} if forces is None else forces.values)
        good &= usual_cases(system, masses, inertias, gravity, points, y.reshape(len(y), -1, STATE))
        if forces is not None:
            extent = np.max(
                [np.zeros(len(y)), *(np.linalg.norm(v, axis=1) for of in points.values() for v in of)], axis=0
            )
            good &= usual_contacts(
                system, forces.of_contacts, masses.sum(axis=1), gravity, extent, y.reshape(len(y), -1, STATE)
            )
    states = np.where(good[:, None], states, system.state.y)
    limits = _limit_cases(system, table.limits, states) if system.limits else None
    if forces is not None:
        good &= forces.are_allowed(states, units=recipes[0].check_units)
    return BuiltCases(masses, inertias, gravity, states, joints, limits, forces, good)


def _points(system: System, joints: JointCases, forces: Values) -> dict[str, list[Floats]]:
    """Points of joints, forces and contacts (cases, 3) [m] by body."""
    found: dict[str, list[Floats]] = {name: [] for name in system.body_names}
    ends = [(joints.values[one.name], zip("ij", (one.body_i, one.body_j), strict=True)) for one in system.joints]
    ends += [(forces["contact", one.name], zip("i", (one.body,), strict=True)) for one in system.contacts]
    ends += [(forces["force", one.name], zip("ijkl", one.ends, strict=True)) for one in system.forces]
    for values, bodies in ends:
        for end, body in bodies:
            if body in found:
                found[body] += [v for k, v in values.items() if k.startswith("s_") and k.endswith(end)]
    return found


def _moved_by_rounding(system: System, joints: JointCases, before: Floats, after: Floats) -> Bools:
    """Which cases assembly has left where they were, but for so little that ``moved_bodies`` remarks on none."""
    a, b = (y.reshape(len(y), -1, STATE) for y in (before, after))
    moves = np.abs(b[..., R:P] - a[..., R:P]).max(axis=(1, 2))
    turns = 4.0 * np.abs(b[..., P:V] - a[..., P:V]).max(axis=(1, 2))
    still: Bools = (turns <= MOVED) & (moves + 2.0 * turns * joints.length <= MOVED * _sizes(system, joints, before))
    return still


def _sizes(system: System, joints: JointCases, y: Floats) -> Floats:
    """``model_size`` of cases, (cases,) [m]."""
    states = states_of_cases(y)
    centres = states[:, 1:, R:P]
    middle, points = centres.mean(axis=1), list(np.moveaxis(centres, 1, 0))
    for k, joint in enumerate(system.joints):
        ends = []
        for name, kind, side in joint.module.VECTORS:
            if kind == "point":
                own = states[:, (system.data.body_i if side == "i" else system.data.body_j)[k]]
                ends.append(own[:, R:P] + times(rotation_matrices(own[:, P:V]), joints.values[joint.name][name]))
        if ends:
            away = np.array([np.linalg.norm(end - middle, axis=1) for end in ends])
            points.append(np.take_along_axis(np.array(ends), away.argmin(axis=0)[None, :, None], axis=0)[0])
    sizes: Floats = np.linalg.norm(np.ptp(np.array(points), axis=0), axis=1)
    return sizes


def _consistent(system: System, joints: JointCases, states: Floats) -> Bools:
    """Which cases have consistent velocities and independent rows, of bodies that are locked as those of the system."""
    worst, D = joints.rows(states)
    speed = np.abs(states.reshape(len(states), -1, STATE)[..., V:]).max(axis=(1, 2))
    good: Bools = worst[:, 1] <= VELOCITY_TOLERANCE * np.maximum(1.0, speed)
    good &= np.isfinite(D).all(axis=(1, 2, 3))
    good[good] = _independent(system, joints.of(np.flatnonzero(good)), states[good], D[good])
    for which, (i, j) in pairs_of_joints(system.joints, body_places(system.body_names)):
        own = np.concatenate([_columns_of(D[:, k], system, k, j) for k in which], axis=1)
        least = lock_of_rows(np.where(good[:, None, None], own, np.eye(own.shape[1], 6)))
        good &= least >= MARGIN * LOCKED if _are_locked(system, i, j) else least < LOCKED / MARGIN
    return good


def _columns_of(D: Floats, system: System, k: int, body: int) -> Floats:
    """The rows of joint k (cases, rows, 6) for the velocities of one of its bodies."""
    first = 0 if system.data.body_i[k] == body else 6
    return D[:, : len(system.joints[k].rows), first : first + 6]


def _are_locked(system: System, *bodies: int) -> bool:
    """Whether two bodies of a system, or the ground, move as one in its tree."""
    assert system.tree is not None
    steps = [GROUND_STEP if body == GROUND_INDEX else system.tree.body_step[body - 1] for body in bodies]
    return steps[0] == steps[1]


def _independent(system: System, joints: JointCases, states: Floats, D: Floats) -> Bools:
    """Which cases have rows that are independent by a margin, so that no loop is locked and no row is redundant."""
    cases, bodies = len(states), len(system.bodies)
    if not close_loops(system, joints_of(system)):
        return np.asarray(joints.dependent(states, MARGIN * RANK_TOLERANCE) == 0)
    rows = sum(len(joint.rows) for joint in system.joints)
    if rows >= 6 * bodies:
        return np.zeros(cases, bool)
    dense = np.zeros((cases, rows, 6 * (bodies + 1)))
    first = 0
    for k, joint in enumerate(system.joints):
        last = first + len(joint.rows)
        for body in (system.data.body_i[k], system.data.body_j[k]):
            dense[:, first:last, 6 * body : 6 * body + 6] += _columns_of(D[:, k], system, k, body)
        first = last
    dense = np.ascontiguousarray(dense[..., 6:])
    dense.reshape(cases, rows, bodies, 2, 3)[:, :, :, 1] /= joints.length[:, None, None, None]
    sizes = np.linalg.norm(dense, axis=2)
    dense /= np.where(sizes > 0.0, sizes, 1.0)[..., None]
    return np.asarray(_above(dense, 1.1 * NEARLY) & (sizes > 0.0).all(axis=1))


def _above(rows: Floats, least: float) -> Bools:
    """Which matrices (cases, m, n) of m < n unit rows have singular values above the least, by far more than rounding."""
    square = rows @ np.swapaxes(rows, 1, 2) - least**2 * np.eye(rows.shape[1])
    try:
        np.linalg.cholesky(square)  # exists where the matrices are positive definite
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.eigvalsh(square)[:, 0] > 0.0)
    return np.ones(len(rows), bool)


def _limit_cases(system: System, limits: Sequence[LimitTable], y: Floats) -> LimitCases:
    """The limits of cases; ``y`` (cases, 13 bodies): their reference configurations."""
    t, states, cases = system.data.limits, states_of_cases(y), len(y)
    x, local = np.zeros((cases, *t.x.shape)), np.zeros((cases, *t.vector_local.shape))
    law, ahead = np.empty((cases, len(system.limits), 3)), np.empty((cases, len(system.limits), 2))
    for k, (limit, own) in enumerate(zip(system.limits, limits, strict=True)):
        ends = [states[:, body[k]].T for body in (t.body_i, t.body_j)]
        constants, found = constants_of_cases(limit, own.values, ends, (x.shape[2], cases))
        x[:, k] = constants.T
        for row, (name, *_) in zip(np.flatnonzero(t.vector_limit == k), limit.module.VECTORS, strict=True):
            local[:, row] = found[name].T
        law[:, k] = own.law
        for column, key in enumerate(("to_xi", "to_eta")):  # ``Limit.ahead``
            ahead[:, k, column] = own.values.get(key, 0.0)
    flat, edge = _vertices_of_limits([own.cones for own in limits], ahead)
    memory = t.vector_local.copy()
    data = system.data._replace(limits=t._replace(vector_local=read_only(memory)))
    return LimitCases(x, local, law, edge, flat, data, memory)


def _vertices_of_limits(limits: Sequence[Sequence[Cone]], ahead: Floats) -> tuple[Floats, Floats]:
    """Excesses and angles of the vertices of limits (cases, limits, 2), ahead and behind; ``limits``: cones of the cases."""
    cones: dict[Cone, int] = {}
    places = dict[int, int]()  # by identity, which is found faster than by value
    for of in limits:
        for cone in of:
            if id(cone) not in places:
                places[id(cone)] = cones.setdefault(cone, len(cones))
    which = np.array([[places[id(cone)] for cone in of] for of in limits]).T
    if (which == which[0]).all() and (ahead == ahead[0]).all():  # as they mostly are
        which, ahead = which[:1], ahead[:1]
    sides = np.stack([ahead, -ahead], axis=2)  # (cases, limits, 2, 2)
    which = np.repeat(which[..., None], 2, axis=2)
    reach, points = vertices(list(cones), which.ravel(), sides.reshape(-1, 2))
    hinged = sides.any(axis=3)
    flat = np.where(hinged, reach.reshape(which.shape), 0.0)
    edge = np.arccos(np.where(hinged, points[:, 2].reshape(which.shape), 0.0))
    every = (len(limits[0]), *flat.shape[1:])
    return np.broadcast_to(flat, every), np.broadcast_to(edge, every)
