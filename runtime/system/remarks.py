"""Sentences about a system that is not as its data state it; each names the object, the value and the remedy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import degrees

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.layout import GROUND_INDEX, OMEGA, STATE, P, R, V
from runtime.jit.python_code import python_code
from runtime.support.arrays import Floats, frozen
from runtime.support.errors import AssemblyError
from runtime.support.units import with_unit
from runtime.system.assemble import poses_moved
from runtime.system.cone import Cone
from runtime.system.degrees_of_freedom import null_space, rows_at
from runtime.system.dependence import near_dependence
from runtime.system.limit_building import restricting_moment
from runtime.system.parts import Body
from runtime.system.rank import closing_joints, joints_of
from runtime.system.reference import placed_vectors, rotation_matrix, states_with_ground
from runtime.system.system import System

MOVED = 1e-3  # of the model's size: a body is named if its centre of mass, or a point of a joint, is moved by more
TURNED = 1e-2  # [rad] the same for its rotation
FAR = 1.0  # of the model's size: a body that would have to move farther is refused
CHANGED = 1e-3  # of the largest speed: a given velocity that is changed by more is named
UNSEEN = 1e-9  # of the speed of points of the model: a change that counts as rounding
LIGHT = 1e-6  # factor of mass and inertia by which bodies of first guesses move before others
BETWEEN_SAMPLES = 0.02  # [rad] by which the edge of a cone may be off the straight lines between its samples
TRIANGLE = 1e-4  # of the largest moment: rounding of published values, and of mass given to bodies between joints
NAMED = 3  # bodies in a sentence
OPPOSITE = -1.0 + 1e-6  # a_i . a_j of axes that point against each other


def model_size(system: System, y: Floats) -> float:
    """Extent of the model in given poses [m]: diagonal of the box of the centres of mass and of the points of the joints.

    Of the two points of a joint, which an error of the data may part, the one nearer to the bodies counts.
    """
    states = states_with_ground(y)
    centres = states[1:, R:P]
    middle, points = centres.mean(axis=0), [*centres]
    for k, joint in enumerate(system.joints):
        of = placed_vectors(joint, states[system.data.body_i[k]], states[system.data.body_j[k]])
        ends = [where for _, kind, _, where in of if kind == "point"]
        if ends:
            points.append(min(ends, key=lambda end: float(np.linalg.norm(end - middle))))
    return float(np.linalg.norm(np.ptp(np.array(points), axis=0)))


def with_light_guesses(system: System) -> System:
    """The system for assembly: bodies whose pose is a first guess are light, so that they move before the others."""
    scale = np.array([1.0] + [LIGHT if body.guess else 1.0 for body in system.bodies])
    if not (scale < 1.0).any() or (scale[1:] < 1.0).all():
        return system
    t, column = system.data, scale[:, None, None]
    light = frozen(
        t._replace(mass=t.mass * scale, inertia=t.inertia * column, inertia_inverse=t.inertia_inverse / column)
    )
    return replace(system, data=light)


def worst_joint(system: System, y: Floats) -> str:
    """The row of joints that a state violates most, with its value."""
    work = shared_workspace_for(system.data)
    worst = projection.worst_row(system.time, y, system.data, work, False)
    k, r = map(int, work.failed)
    return f"{system.row_name(k, r)}, off by {with_unit(f'{worst:.3g}', system.joints[k].units[r])}"


def moved_bodies(system: System, before: Floats, after: Floats) -> list[str]:
    """A sentence on bodies that joints, without drivers, have moved from given poses.

    Raises
    ------
    AssemblyError
        For a body that would have to move by more than the model's size.
    """
    size = model_size(system, before) or model_size(system, after) or 1.0
    moves, turns = _largest_moves(system, before, after), poses_moved(before, after)[1]
    exact = np.array([not body.guess for body in system.bodies])
    share = np.where(exact, np.maximum(moves / (MOVED * size), turns / TURNED), 0.0)
    n = int(np.where(exact, moves, -1.0).argmax() if (exact & (moves > FAR * size)).any() else share.argmax())
    if share[n] <= 1.0:
        return []
    body, others = system.body_names[n], int((share > 1.0).sum()) - 1
    remedy = (
        f"correct its pose or the data of the joints, or pass guess=True to body '{body}' if its pose is a first guess"
    )
    if moves[n] > FAR * size:
        raise AssemblyError(
            f"body '{body}' would have to move by {moves[n]:.3g} m, where the model has a size of {size:.3g} m, to satisfy "
            f"{worst_joint(system, before)}; {remedy}"
        )
    also = f", and {others} other{'s' * (others > 1)} by less" if others else ""
    return [
        f"body '{body}' was moved by {moves[n]:.3g} m, where the model has a size of {size:.3g} m, and turned by "
        f"{turns[n]:.3g} rad{also}, to satisfy {worst_joint(system, before)}; {remedy}"
    ]


def _largest_moves(system: System, before: Floats, after: Floats) -> Floats:
    """Largest displacement of each body's centre of mass and points of joints between two states [m]."""
    moves = poses_moved(before, after)[0]
    states = [states_with_ground(y) for y in (before, after)]
    for k, joint in enumerate(system.joints):
        ends = {"i": int(system.data.body_i[k]), "j": int(system.data.body_j[k])}
        old, new = (placed_vectors(joint, of[ends["i"]], of[ends["j"]]) for of in states)
        for (_, kind, side, was), (*_, now) in zip(old, new, strict=True):
            if kind == "point" and (n := ends[side]) != GROUND_INDEX:
                moves[n - 1] = max(moves[n - 1], float(np.linalg.norm(now - was)))
    return moves


def impossible_inertias(bodies: Sequence[Body]) -> list[str]:
    """A sentence on bodies whose largest principal moment of inertia is above the sum of the others."""
    moments = np.linalg.eigvalsh([body.inertia for body in bodies]).astype(float) if bodies else np.zeros((0, 3))
    return impossible_moments(moments, lambda place: f"'{bodies[place].name}'")


def impossible_moments(moments: Floats, name: Callable[[int], str]) -> list[str]:
    """A sentence on those of principal moments (n, 3), in ascending order, that violate the triangle inequality.

    ``name``: place -> what the sentence calls its body.  Moments below 0, which are refused, are left out.
    """
    small, middle, large = moments.T
    found = np.flatnonzero((large - small - middle > TRIANGLE * large) & (small >= -TRIANGLE * large)).tolist()
    if not found:
        return []
    listed = ", ".join(f"{name(k)} ({large[k]:.6g} > {small[k] + middle[k]:.6g})" for k in found[:NAMED])
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return [
        "principal moments of inertia [kg m^2] violate the triangle inequality, which no distribution of mass does: "
        f"body {listed}{more}; they are used as they are, correct them if they are not meant"
    ]


def changed_velocities(system: System, before: Floats, after: Floats) -> list[str]:
    """A sentence on given velocities, not zero, that were changed to satisfy the constraints."""
    a, b = before.reshape(-1, STATE), after.reshape(-1, STATE)
    found = []
    size = model_size(system, before) or 1.0
    speed = max(np.abs(a[:, V:OMEGA]).max(initial=0.0), size * np.abs(a[:, OMEGA:]).max(initial=0.0))
    for part, name, unit, scale in ((slice(V, OMEGA), "v", "m/s", 1.0), (slice(OMEGA, STATE), "omega", "rad/s", size)):
        largest = max(float(np.abs(a[:, part]).max(initial=0.0)), UNSEEN / CHANGED * float(speed) / scale)
        for body, old, new in zip(system.bodies, a[:, part], b[:, part], strict=True):
            change = float(np.linalg.norm(new - old))
            if old.any() and not body.guess and change > CHANGED * largest:
                found.append((change / largest, body, name, old, new, unit))
    if not found:
        return []
    _, body, name, old, new, unit = max(found, key=lambda one: one[0])
    others = len({one[1].name for one in found}) - 1
    also = f", and velocities of {others} other bod{'ies' if others > 1 else 'y'}" if others else ""
    return [
        f"{name} of body '{body.name}' was changed from {_text(old)} to {_text(new)} {unit}{also}, to satisfy the constraints; "
        f"give consistent velocities, or pass guess=True to body '{body.name}' if its velocities are a first guess"
    ]


def _text(vector: Floats) -> str:
    return f"({', '.join(f'{0.0 if abs(c) < 1e-12 else c:.4g}' for c in vector)})"


def opposite_axes(system: System, y: Floats) -> list[str]:
    """Sentences on joints that hold two axes parallel which point against each other."""
    if not system.joints:
        return []
    work, states, found = rows_at(system, system.time, y), states_with_ground(y), []
    for k, joint in enumerate(system.joints):
        ends = {"i": int(system.data.body_i[k]), "j": int(system.data.body_j[k])}
        of = placed_vectors(joint, states[ends["i"]], states[ends["j"]])
        axes = {name: axis for name, kind, _, axis in of if kind == "direction"}
        for name, axis in axes.items():
            other = f"{name.removesuffix('_i')}_j"
            if not name.endswith("_i") or other not in axes or not axis @ axes[other] < OPPOSITE:
                continue
            if _stay_parallel(work.D[k, : len(joint.rows)], axis, ends):
                found.append(
                    f"joint '{joint.name}' ({joint.kind}): {name} and {other} point against each other, which closes the joint "
                    f"on its reversed branch; turn one of them around, such as {other} = {_text(-joint.values[other])}"
                )
    return found


def _stay_parallel(D: Floats, axis: Floats, ends: dict[str, int]) -> bool:
    """The rows of a joint (rows, 12) admit no motion that would part its axes."""
    free = null_space(D)
    for columns, side in ((slice(0, 6), "i"), (slice(6, 12), "j")):
        if ends[side] == GROUND_INDEX:
            D = D.copy()
            D[:, columns] = 0.0
            free = null_space(np.vstack([D, np.eye(12)[columns]]))
    relative = free[9:12] - free[3:6]
    return bool(np.abs(np.cross(axis, relative.T)).max(initial=0.0) < 1e-6)


def locked(system: System, y: Floats) -> list[str]:
    """A sentence on closed loops that are locked, or whose rows are nearly dependent.

    Raises
    ------
    AssemblyError
        Where a loop closes to the accuracy of its data only and admits no run.
    """
    if not closing_joints(system, joints_of(system)):
        return []
    near = near_dependence(system, y)
    exact = sum(len(joint.rows) for joint in system.joints if not joint.signals) - len(system.redundant)
    remedy = "state their points and axes with all digits, or let build(adjust=True) change them by the least"
    if near and near.freedoms and exact < near.exact_rank:
        raise AssemblyError(
            f"a closed loop closes to the accuracy of its data only: {near.text}, so that "
            f"no motion satisfies all rows; {remedy}"
        )
    freedoms = 6 * len(system.bodies) - exact
    if near and near.freedoms:
        return [
            f"system '{system.name}' has nearly dependent rows: {near.text}, which leaves {freedoms} degree"
            f"{'s' * (freedoms != 1)} of freedom in place of {near.freedoms}; if the data are rounded, {remedy}"
        ]
    if freedoms == 0:
        return [
            f"system '{system.name}' has 0 degrees of freedom and cannot move: its {exact} independent rows hold all bodies; "
            "leave a joint out, or use one with fewer rows"
        ]
    return []


def beyond_limits(system: System, y: Floats) -> list[str]:
    """A sentence for each limit whose direction is farther outside its cone than the compliance.

    There its moment is the largest one, and does not grow with the angle.
    """
    t, states, found = system.data.limits, states_with_ground(y), []
    x, u = t.x.copy(), np.zeros(3)
    for k, place, body, local in zip(t.vector_limit, t.vector_place, t.vector_body, t.vector_local, strict=True):
        x[k, place : place + 3] = rotation_matrix(states[body, P:V]) @ local
    for k, limit in enumerate(system.limits):
        python_code(limit.module.direction)(states[t.body_i[k]], states[t.body_j[k]], x[k], u)
        if _is_near(u, limit.cone, limit.compliance):
            continue
        excess = float(restricting_moment(limit, u[None]).excess[0])
        if excess > limit.compliance:
            found.append(
                f"limit '{limit.name}' of joint '{limit.joint}': the start is {excess:.4g} rad ({degrees(excess):.3g} degrees) "
                f"outside its cone, by more than its compliance of {limit.compliance:.4g} rad, so that its moment is the largest "
                f"one, {limit.max_moment:.4g} N m; start inside the cone, or correct the cone or the frame of the limit"
            )
    return found


def _is_near(u: Floats, cone: Cone, compliance: float) -> bool:
    """Whether a direction is surely inside a cone, or within its compliance, by samples of the edge: without compiled code."""
    edge = cone.pieces.samples.reshape(-1, 3)
    if (edge @ u / np.linalg.norm(edge, axis=1)).max() >= np.cos(compliance):
        return True
    longitudes, latitudes = np.arctan2(edge[:, 1], edge[:, 0]), np.arctan2(np.hypot(edge[:, 0], edge[:, 1]), edge[:, 2])
    at_edge = np.interp(np.arctan2(u[1], u[0]), longitudes, latitudes, period=2.0 * np.pi)
    return bool(np.arctan2(np.hypot(u[0], u[1]), u[2]) < at_edge - BETWEEN_SAMPLES)
