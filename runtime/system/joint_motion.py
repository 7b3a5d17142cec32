"""The motion of a joint: its coordinates in a pose, their rates, and the pose that they lead to.

The steps are those of ``codegen.motions``, which codegen has proven from the rows of the joint.  All coordinates are 0 in the
reference configuration.  Arrays of poses are those of body j in axes of body i.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.layout import OMEGA, STATE, P, R, V
from runtime.support.arrays import Floats, crossed
from runtime.system.parts import Joint
from runtime.system.reference import BODY_FRAME, rotation_matrices, tangents

UNITS = {"turn": "rad", "slide": "m", "ball": "rad"}
CENTRE = "r_j"  # in place of a point: the centre of mass of body j
AXES = ("x", "y", "z")
FULL_TURN = 2.0 * np.pi
NO_TURN = 1e-6  # [rad] turn below which its axis is that of the time before
PARALLEL = 1e-9  # [1] sine of the angle between axes below which they are parallel


class Pose(NamedTuple):
    """Orientation A (n, 3, 3) and place r (n, 3) of body j, in axes of body i."""

    A: Floats
    r: Floats


@dataclass(frozen=True)
class Step:
    """A step of a motion, in axes of body i in the reference configuration.

    Where joints of many cases differ, its vectors are those of each case, (n, 3), and poses are of a case each.
    """

    name: str
    kind: str  # "turn", "slide" or "ball"
    axis: Floats  # (3,) of a turn or slide
    point: Floats  # (3,) of a turn or ball

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its coordinates; of any turn, the components of its rotation vector."""
        return tuple(f"{self.name}_{axis}" for axis in AXES) if self.kind == "ball" else (self.name,)


@dataclass(frozen=True)
class JointMotion:
    """The steps of a joint of a system, and the pose in which its coordinates are 0."""

    joint: Joint
    steps: tuple[Step, ...]
    reference: Pose  # of one pose, or of each case

    @property
    def of_all(self) -> bool:
        """Whether all cases have the same axes, points and reference."""
        return self.reference.r.ndim == 1 and all(step.axis.ndim == step.point.ndim == 1 for step in self.steps)

    @property
    def units(self) -> Mapping[str, str]:
        """Units of the coordinates by their names."""
        return {column: UNITS[step.kind] for step in self.steps for column in step.columns}

    @property
    def places(self) -> list[tuple[Step, slice]]:
        """Each step with the places of its coordinates."""
        ends = np.cumsum([len(step.columns) for step in self.steps]).tolist()
        return [(step, slice(end - len(step.columns), end)) for step, end in zip(self.steps, ends, strict=True)]


def joint_motion(joint: Joint, state_i: Floats, state_j: Floats) -> JointMotion | None:
    """The motion of a joint from its reference configuration, states (13,) of its bodies; None if it has no coordinates."""
    if not getattr(joint.module, "MOTION", None):
        return None
    A, r = (part[0] for part in relative_poses(state_i[None], state_j[None]))
    return motion_from(joint, joint.values, Pose(A, r))


def motion_from(joint: Joint, values: Mapping[str, Any], reference: Pose) -> JointMotion:
    """The motion of a joint from a reference pose (3, 3), (3,), or those of many cases (n, 3, 3), (n, 3), each with its values.

    values : keywords of the joint's definition; vectors (3,) or (n, 3)
    """
    A, r = reference

    def axis(text: str) -> Floats:
        if not text:
            return np.zeros(3)
        local = axis_in_body(text, values)
        return times(A, local) if text.endswith("_j") else local

    def point(text: str) -> Floats:
        local = np.asarray(values[text], float) if text not in ("", CENTRE) else np.zeros(3)
        return r + times(A, local) if text.endswith("_j") else local

    steps = tuple(Step(name, kind, axis(a), point(s)) for name, kind, a, s in joint.module.MOTION)
    return JointMotion(joint, steps, reference)


def axis_in_body(text: str, values: Mapping[str, Any]) -> Floats:
    """The axis of a step, such as "a_i", "xi_i" or "across1:a_i", in axes of the body that its name ends with, (3,) or (n, 3)."""
    across, _, name = text.rpartition(":")
    stem = name.rpartition("_")[0]
    local = BODY_FRAME[stem] if stem in BODY_FRAME else np.asarray(values[name], float)
    return tangents(local.T)[int(across[-1]) - 1].T if across else local


def times(A: Floats, v: Floats) -> Floats:
    """Matrices (..., 3, 3) times vectors (..., 3)."""
    return (A @ v[..., None])[..., 0]


def relative_poses(states_i: Floats, states_j: Floats) -> Pose:
    """Poses of body j in axes of body i, from their states (n, 13)."""
    A_i, A_j = rotation_matrices(states_i[:, P:V]), rotation_matrices(states_j[:, P:V])
    return Pose(np.swapaxes(A_i, 1, 2) @ A_j, np.einsum("nba,nb->na", A_i, states_j[:, R:P] - states_i[:, R:P]))


def _turned(motion: JointMotion, poses: Pose) -> Floats:
    """Turns (n, 3, 3) of body j since the reference configuration."""
    return poses.A @ np.swapaxes(motion.reference.A, -1, -2)


def _carried(motion: JointMotion, poses: Pose, point: Floats) -> Floats:
    """Where a point (3,) of the reference configuration that is fixed in body j is in poses, (n, 3)."""
    return poses.r + times(_turned(motion, poses), point - motion.reference.r)


def coordinates(motion: JointMotion, poses: Pose, *, apart: bool = False) -> Floats:
    """The coordinates in poses that follow each other, (n, coordinates); angles without jumps.

    A pose that violates the rows has the coordinates of one nearby.
    apart : poses do not follow each other; all angles are within half a turn
    """
    turned = _turned(motion, poses)
    values: dict[str, Floats] = {}
    turns = [step for step in motion.steps if step.kind == "turn"]
    for step, following in zip(turns, [*turns[1:], None], strict=False):
        if following is None:
            angle = _angle(turned, step.axis)
        else:
            angle = _first_angle(motion, poses, step, following)
            turned = rotations_about(step.axis, -angle) @ turned
        values[step.name] = (angle if apart else np.unwrap(angle))[:, None]
    for step in motion.steps:
        if step.kind == "ball":
            values[step.name] = _rotation_vectors(turned, apart=apart)
    _add_slides(motion, poses.r, values)
    return np.concatenate([values[step.name] for step in motion.steps], axis=1)


def _add_slides(motion: JointMotion, r: Floats, values: dict[str, Floats]) -> None:
    """The distances of slides, by least squares, where all turns are known."""
    if all(step.kind != "slide" for step in motion.steps):
        return
    place = np.broadcast_to(motion.reference.r, r.shape)
    ways: dict[str, Floats] = {}
    for step in reversed(motion.steps):
        if step.kind == "slide":
            ways[step.name] = np.broadcast_to(step.axis, r.shape)
            continue
        A = _turn(step, values[step.name])
        place = step.point + times(A, place - step.point)
        ways = {name: times(A, way) for name, way in ways.items()}
    B = np.stack(list(ways.values()), axis=2)
    distances = np.einsum("nab,nb->na", np.linalg.pinv(B), r - place)
    values |= {name: distances[:, k : k + 1] for k, name in enumerate(ways)}


def _turn(step: Step, values: Floats) -> Floats:
    """Rotation matrices of a turn or ball for values of its coordinates (n, 1 or 3)."""
    if step.kind == "turn":
        return rotations_about(step.axis, values[:, 0])
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(values).as_matrix()


def moved_pose(motion: JointMotion, values: Floats) -> Pose:
    """The pose (3, 3), (3,) of body j for values of its coordinates (coordinates,)."""
    A, r = motion.reference.A, motion.reference.r
    for step, places in reversed(motion.places):
        own = values[places]
        if step.kind == "slide":
            r = r + step.axis * own[0]
            continue
        by = _turn(step, own[None])[0]
        A, r = by @ A, step.point + by @ (r - step.point)
    return Pose(A, r)


def twists(motion: JointMotion, poses: Pose) -> Floats:
    """Velocity of the centre of body j and angular velocity for a unit rate of each coordinate, (n, 6, coordinates).

    They are relative to body i and in its axes.  The rates of any turn are the components of the angular velocity.
    """
    columns = [
        np.hstack([e if slide else crossed(e, arm), 0.0 * e if slide else e])
        for e, arm, slide, *_ in _axes(motion, poses)
    ]
    return np.stack(columns, axis=2)


def _twist_slopes(motion: JointMotion, poses: Pose, twist: Floats) -> Floats:
    """Derivatives of ``twists``, in axes of body i, where body j moves against it by a twist (n, 6)."""
    v, omega = np.split(twist, 2, axis=1)
    columns = []
    for e, arm, slide, turned, carried in _axes(motion, poses):
        e_dot = crossed(omega, e) if turned else 0.0 * e
        moving = crossed(e_dot, arm) + crossed(e, crossed(omega, arm) if carried else v)
        columns.append(np.hstack([e_dot if slide else moving, 0.0 * e if slide else e_dot]))
    return np.stack(columns, axis=2)


def _axes(motion: JointMotion, poses: Pose) -> Iterator[tuple[Floats, Floats, bool, bool, bool]]:
    """Axis (n, 3) of each coordinate, arm (n, 3) from its point to the centre of body j, whether it is a slide.

    And whether the axis, and the point, are fixed in body j.
    """
    A = _turned(motion, poses)
    for step, (_, _, axis_name, point_name) in zip(motion.steps, motion.joint.module.MOTION, strict=True):
        turned, carried = axis_name.endswith("_j"), point_name.endswith("_j")
        point = _carried(motion, poses, step.point) if carried else step.point
        for axis in np.eye(3) if step.kind == "ball" else [step.axis]:
            e = times(A, axis) if turned else np.broadcast_to(axis, poses.r.shape)
            yield e, poses.r - point, step.kind == "slide", turned, carried


def relative_twists(states_i: Floats, states_j: Floats) -> Floats:
    """Velocity of the centre of body j and angular velocity relative to body i, in axes of body i, (n, 6)."""
    A_i = rotation_matrices(states_i[:, P:V])
    omega_i = states_i[:, OMEGA:STATE]
    v = states_j[:, V:OMEGA] - states_i[:, V:OMEGA] - crossed(omega_i, states_j[:, R:P] - states_i[:, R:P])
    omega = states_j[:, OMEGA:STATE] - omega_i
    return np.hstack([np.einsum("nba,nb->na", A_i, v), np.einsum("nba,nb->na", A_i, omega)])


def rates(motion: JointMotion, poses: Pose, states_i: Floats, states_j: Floats) -> Floats:
    """Rates of the coordinates (n, coordinates) in poses, from the states (n, 13) of both bodies.

    Where the twists depend on each other, the rows of the joint do too, and no run goes there.
    """
    return np.einsum("nka,na->nk", np.linalg.pinv(twists(motion, poses)), relative_twists(states_i, states_j))


def accelerations(
    motion: JointMotion, poses: Pose, states_i: Floats, states_j: Floats, v_dot_i: Floats, v_dot_j: Floats
) -> Floats:
    """Derivatives of ``rates``, (n, coordinates), from the accelerations (n, 6) of the centres of mass and of the turns."""
    twist = relative_twists(states_i, states_j)
    inverse = np.linalg.pinv(twists(motion, poses))
    speeds = np.einsum("nka,na->nk", inverse, twist)
    A_i, omega_i = rotation_matrices(states_i[:, P:V]), states_i[:, OMEGA:STATE]
    arm = states_j[:, R:P] - states_i[:, R:P]
    by_turn = crossed(omega_i, arm)
    v, omega = (np.einsum("nab,nb->na", A_i, part) for part in np.split(twist, 2, axis=1))
    a, alpha = np.split(v_dot_j - v_dot_i, 2, axis=1)
    a = a - crossed(v_dot_i[:, 3:], arm) - crossed(omega_i, by_turn + 2.0 * v)
    relative = [np.einsum("nba,nb->na", A_i, part) for part in (a, alpha - crossed(omega_i, omega))]
    left = np.hstack(relative) - np.einsum("nak,nk->na", _twist_slopes(motion, poses, twist), speeds)
    return np.einsum("nka,na->nk", inverse, left)


def rotations_about(axis: Floats, angles: Floats) -> Floats:
    """Rotation matrices (n, 3, 3) about a unit axis (3,), or about those of each case (n, 3)."""
    tilde = crossed(axis[..., None, :], np.eye(3))
    c, s = np.cos(angles)[:, None, None], np.sin(angles)[:, None, None]
    return c * np.eye(3) - s * tilde + (1.0 - c) * (axis[..., :, None] * axis[..., None, :])


def _angle(A: Floats, axis: Floats) -> Floats:
    """Angles of turns A (n, 3, 3) about an axis."""
    vee = np.stack([A[:, 2, 1] - A[:, 1, 2], A[:, 0, 2] - A[:, 2, 0], A[:, 1, 0] - A[:, 0, 1]], axis=1)
    cosine = np.trace(A, axis1=1, axis2=2) - along(axis, times(A, axis))
    return np.arctan2(along(vee, axis), cosine)


def along(a: Floats, b: Floats) -> Floats:
    """Products (...) of vectors (..., 3)."""
    return (a * b).sum(axis=-1)


def _first_angle(motion: JointMotion, poses: Pose, step: Step, following: Step) -> Floats:
    """Angles of the first of two turns: the second leaves its axis in place, and its point where the axes are parallel."""
    first, then = following.axis, times(_turned(motion, poses), following.axis)
    parallel = np.linalg.norm(crossed(step.axis, first), axis=-1)[..., None] < PARALLEL
    if parallel.any():
        first = np.where(parallel, following.point - step.point, first)
        then = np.where(parallel, _carried(motion, poses, following.point) - step.point, then)
    start = first - step.axis * along(step.axis, first)[..., None]
    return np.arctan2(along(then, crossed(step.axis, start)), along(then, start))


def _rotation_vectors(A: Floats, *, apart: bool) -> Floats:
    """Rotation vectors (n, 3) of turns that follow each other, without jumps; ``apart``: as of ``coordinates``."""
    from scipy.spatial.transform import Rotation

    vectors: Floats = Rotation.from_matrix(np.array(A)).as_rotvec()  # SciPy 1.15 refuses read-only arrays
    (clear,) = np.nonzero(np.linalg.norm(vectors, axis=1) > NO_TURN)
    if apart or not len(clear):
        return vectors
    axes = vectors[clear] / np.linalg.norm(vectors[clear], axis=1)[:, None]
    reverses = np.einsum("na,na->n", axes[1:], axes[:-1]) < 0.0
    axes[1:] *= np.cumprod(np.where(reverses, -1.0, 1.0))[:, None]
    axes = axes[np.maximum(np.searchsorted(clear, np.arange(len(A)), side="right") - 1, 0)]
    angles = np.einsum("na,na->n", vectors, axes)
    whole_turns = np.round((np.unwrap(angles) - angles) / FULL_TURN) * FULL_TURN
    return vectors + axes * whole_turns[:, None]
