"""Trees whose coordinates rows of joints restrain, as ``codegen`` needs them for their kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from generated import digests
from runtime.dynamics.layout import GROUND_INDEX, ROWS, STATE, P, V
from runtime.dynamics.lift import GROUND_STEP
from runtime.dynamics.model_data import ModelData
from runtime.jit.python_code import python_code
from runtime.support.arrays import Bools, Floats
from runtime.system.joint_motion import times
from runtime.system.model_description import digest_of_module, key_of
from runtime.system.parts import Joint
from runtime.system.reference import rotation_matrices
from runtime.system.spanning_tree import SpanningTree
from runtime.system.tree_axes import Axes, axes_of
from runtime.system.tree_geometry import OF_GRAVITY, OF_STEP, Carried, Geometry, carried, kernel_parameters

ROUNDING = 1e-15
OF_TURNED = 4.0  # rounding of what was turned into other axes, in units of that of the others
OF_BODY = 5  # parameters of a body of a closing joint
OF_POSE = 4  # and of one whose Euler parameters are read: those that it has beside the axes of its step
POINT = "point"  # kind of a vector
SEED, ALIKE = 11, 1e-9  # of random states, and of rows there


class _Parameters(NamedTuple):
    """Parameters of a kernel, (n,) each, or with a last axis of cases."""

    value: Floats
    size: Floats  # what a value of 0 may differ from it, in units of rounding
    unit: Bools  # components of unit vectors

    def rounded(self) -> Floats:
        """With what is 0, or a component 1 or -1 of a unit vector, but for rounding made so: such values are computed."""
        near = np.sign(self.value)
        kept = np.where(self.unit & (np.abs(self.value - near) <= ROUNDING), near, self.value)
        return np.where(np.abs(self.value) <= ROUNDING * self.size, 0.0, kept)


@dataclass(frozen=True)
class ClosingJoint:
    """A joint whose rows restrain the coordinates of a tree."""

    kernel: Any
    rows: int
    steps: tuple[int, int]  # that move its bodies last
    size: int  # of x
    vectors: tuple[tuple[int, int], ...]  # place in x of those that the bodies turn, and 0 or 1 for body i or j
    moved: tuple[bool, bool]  # the point of its step stands for the centre of body i, j
    signals: tuple[tuple[int, int], ...]  # place in x of the signals of a driver, and their number among all
    points: tuple[int, ...]  # places in x of the vectors that lead to points
    posed: tuple[bool, bool]  # whether it reads Euler parameters of body i, j: then their parameters follow x

    def places(self) -> list[tuple[int, int]]:
        """Of all vectors that bodies turn: 0 or 1 for the body, place among the parameters."""
        arms = [(side, OF_BODY * side) for side in range(2)]
        return arms + [(side, 2 * OF_BODY + place) for place, side in self.vectors]


@dataclass(frozen=True)
class ClosedTree:
    """A tree with rows; ``parameters`` are those of its kernel: of the steps, angles added to coordinates, closing joints.

    They are in ``axes``.
    """

    name: str
    key: str
    made_from: dict[str, str]
    kinds: tuple[str, ...]
    parents: tuple[int, ...]
    joints: tuple[ClosingJoint, ...]
    parameters: Floats
    constants: tuple[float | None, ...]
    axes: Axes
    poses: tuple[tuple[int, int], ...]  # of Euler parameters that are read: place among the parameters, body from 0 on

    def with_signs(self, signs: Floats) -> Floats:
        """The parameters where the Euler parameters of the bodies have these signs (bodies,) times their own."""
        found = self.parameters.copy()
        for place, body in self.poses:
            found[place : place + OF_POSE] *= signs[body]
        return found


def closed_tree(name: str, tree: SpanningTree, joints: tuple[Joint, ...], data: ModelData) -> ClosedTree:
    """A tree with rows, of a system of this name with these joints and data."""
    of_joints = [_closing_joint(k, joints[k], tree, data) for k in tree.closing]
    alone = data.x[None], data.vector_local[None], data.mass[None, 1:], tree.geometry
    given = kernel_parameters(tree.geometry, tree.skeleton, tree.carried, data.gravity)
    values = _values_of_joints(of_joints, tree, data, *alone)
    axes = axes_of(tree.kinds, tree.parents, given[:, 0], _others(of_joints, [value[:, 0] for value in values]))
    every, poses = _in_axes(axes, of_joints, tree, data, given, values, tree.geometry)
    parameters, unit, n = every.rounded()[:, 0], every.unit[:, 0], len(tree.kinds)
    numbers = (parameters == 0.0) | (unit & (np.abs(parameters) == 1.0))
    if not tree.turns_and_slides:
        numbers &= ~_parts_of_vectors(parameters, unit, n, of_joints)
    constants = tuple(
        value if known else None for value, known in zip(parameters.tolist(), numbers.tolist(), strict=True)
    )
    kernels = {joints[k].module.__name__: digest_of_module(joints[k].module) for k in tree.closing}
    decided = [
        digests.WHOLE, "closed tree", kernels, tree.kinds, tree.parents, constants,
        [
            [joints[k].module.__name__, j.steps, j.vectors, j.signals, *[j.posed] * any(j.posed)]
            for k, j in zip(tree.closing, of_joints, strict=True)
        ],
    ]  # fmt: skip
    return ClosedTree(
        name, key_of(decided), kernels, tree.kinds, tree.parents, tuple(of_joints), parameters, constants, axes,
        tuple(poses),
    )  # fmt: skip


def _parts_of_vectors(parameters: Floats, unit: Bools, n: int, of_joints: Sequence[ClosingJoint]) -> Bools:
    """Which parameters belong to ways, moments, inertias and points of joints of which others are not 0.

    Where bodies turn freely such zeros save few operations, and cases with other lengths do not have them.
    """
    found = np.zeros(len(parameters), bool)
    vectors = [(OF_GRAVITY + OF_STEP * k + first, size) for k in range(n) for first, size in ((3, 3), (7, 3), (10, 6))]
    start = OF_GRAVITY + (OF_STEP + 1) * n
    for joint in of_joints:
        vectors += [(start + first, 3) for _, first in joint.places()]
        start += 2 * OF_BODY + joint.size + OF_POSE * sum(joint.posed)
    for first, size in vectors:
        own = slice(first, first + size)
        found[own] = bool(parameters[own].any()) & ~unit[own]
    return found


def reads_euler_parameters(module: Any, side: int) -> bool:
    """Whether the rows of a joint read the Euler parameters of body i (0) or j (1): others are no numbers without them."""
    random = np.random.default_rng(SEED)
    states, x = random.standard_normal((2, STATE)), random.standard_normal(module.SIZE)
    states[side, P:V] = np.nan
    found = [np.zeros(ROWS), np.zeros(ROWS), np.zeros((ROWS, 12)), np.zeros(ROWS)]
    try:
        python_code(module.evaluate)(*states, x, *found)
    except (ArithmeticError, ValueError):  # outside the range of a function
        return True
    return bool(np.isnan(np.concatenate([one.ravel() for one in found])).any())


def _length(tree: SpanningTree) -> float:
    """The largest component of the ways between the points of the steps and to the bodies [m]."""
    where, skeleton = tree.geometry, tree.skeleton
    return max(float(np.abs(a).max()) for a in (where.ways(skeleton.parents), where.arms(skeleton.body_step)))


def parameters_of_cases(
    closed: ClosedTree, tree: SpanningTree, data: ModelData, masses: Floats, gravity: Floats
) -> tuple[Floats, Bools]:
    """Parameters of the kernel of a tree for cases of its system, (n, cases), and which cases it serves.

    masses (cases, bodies + 1), gravity (cases, 3); all else is that of the system with this tree and data.
    """
    found: Floats = np.tile(closed.parameters[:, None], len(masses))
    load = carried(tree.geometry, tree.skeleton, masses[:, 1:], data.inertia[1:])
    given = closed.axes.of_tree(kernel_parameters(tree.geometry, tree.skeleton, load, gravity))
    found[: len(given)] = _of_tree(given, _length(tree)).rounded()
    start = len(given) + len(tree.kinds)
    arms = tree.geometry.arms(tree.skeleton.body_step)[0]
    for k, joint in zip(tree.closing, closed.joints, strict=True):
        for side, body in enumerate((int(data.body_i[k]), int(data.body_j[k]))):
            if body != GROUND_INDEX:
                arm = arms[body - 1] if joint.moved[side] else np.zeros(3)
                weights = start + OF_BODY * side + 3
                found[weights : weights + 2] = weights_of(body, data, masses[:, body], arm)
        start += 2 * OF_BODY + joint.size + OF_POSE * sum(joint.posed)
    return found, served_by(closed, found)


def served_by(closed: ClosedTree, found: Floats) -> Bools:
    """Which cases have the numbers of the kernel among their parameters (n, cases), and of turns and slides no other zeros."""
    known = np.array([value is not None for value in closed.constants])
    numbers = np.array([np.nan if value is None else value for value in closed.constants])[:, None]
    others = (found != 0.0) | bool({"ball", "free"} & set(closed.kinds))
    return np.where(known[:, None], found == numbers, others).all(axis=0)


def parameters_of_joints(
    closed: ClosedTree, tree: SpanningTree, data: ModelData, x: Floats, local: Floats, masses: Floats, where: Geometry,
    load: Carried, gravity: Floats,
) -> tuple[Floats, Bools]:  # fmt: skip
    """Parameters of the kernel of a tree for cases whose joints differ, (n, cases), and which cases it serves.

    Each case has the axes that its vectors need for the zeros of the kernel.

    Parameters
    ----------
    x, local, masses : (cases, joints, X), (cases or 1, vectors, 3), (cases, bodies)
        Of the joints and bodies of the cases, as of ``CaseData``.
    where, load : Geometry, Carried
        Of the trees.
    gravity : (cases, 3) [m/s^2]
    """
    given = kernel_parameters(where, tree.skeleton, load, gravity)
    values = _values_of_joints(closed.joints, tree, data, x, local, masses, where)
    axes = axes_of(closed.kinds, closed.parents, given, _others(closed.joints, values), closed.axes)
    found = _in_axes(axes, closed.joints, tree, data, given, values, where)[0].rounded()
    return found, served_by(closed, found)


def _of_tree(found: Floats, length: float) -> _Parameters:
    """Parameters of the steps (n, cases), found as for ``prepare``."""
    sizes, unit, more = np.zeros_like(found), np.zeros(found.shape, bool), found.shape[1:]
    sizes[:OF_GRAVITY] = np.abs(found[:OF_GRAVITY]).max(axis=0)
    own, of = found[OF_GRAVITY:].reshape(-1, OF_STEP, *more), sizes[OF_GRAVITY:].reshape(-1, OF_STEP, *more)
    of[:, 0:3], of[:, 3:6] = 1.0, length
    of[:, 7:10] = length * own[:, 6:7]
    of[:, 10:] = np.abs(own[:, 10:]).max(axis=1, keepdims=True)
    of *= OF_TURNED
    unit[OF_GRAVITY:].reshape(-1, OF_STEP, *more)[:, 0:3] = True
    return _Parameters(found, sizes, unit)


def _others(joints: Sequence[ClosingJoint], values: Sequence[Floats]) -> dict[int, list[Floats]]:
    """By step the vectors (3, ...) of closing joints that it moves: to the bodies, and those of x."""
    found: dict[int, list[Floats]] = {}
    for joint, value in zip(joints, values, strict=True):
        for side, first in joint.places():
            found.setdefault(joint.steps[side], []).append(value[first : first + 3])
    return found


def _in_axes(
    axes: Axes, joints: Sequence[ClosingJoint], tree: SpanningTree, data: ModelData, given: Floats,
    values: Sequence[Floats], where: Geometry,
) -> tuple[_Parameters, list[tuple[int, int]]]:  # fmt: skip
    """All parameters (n, cases) in axes of the steps, from those of the steps and of the joints in global axes.

    Also ``ClosedTree.poses``.
    """
    poses: list[tuple[int, int]] = []
    length, cases, n = _length(tree), given.shape[1], len(tree.kinds)
    offset = np.zeros((n, cases)) + axes.offset.reshape(n, -1)
    parts = [
        _of_tree(axes.of_tree(given), length),
        _Parameters(offset, np.zeros_like(offset), np.zeros_like(offset, bool)),
    ]
    for k, joint, in_global in zip(tree.closing, joints, values, strict=True):
        value, size, unit = in_global.copy(), np.zeros(in_global.shape), np.zeros(in_global.shape, bool)
        size[:3] = size[OF_BODY : OF_BODY + 3] = length
        for place, side in joint.vectors:
            own, point = slice(2 * OF_BODY + place, 2 * OF_BODY + place + 3), place in joint.points
            unit[own] = not point
            size[own] = length if point and joint.moved[side] else np.abs(value[own]).max(axis=0)
        for side, first in joint.places():
            value[first : first + 3] = axes.turned(joint.steps[side], value[first : first + 3])
        parts.append(_Parameters(value, OF_TURNED * size, unit))
        for body, step, posed in zip((data.body_i[k], data.body_j[k]), joint.steps, joint.posed, strict=True):
            if posed:
                if body != GROUND_INDEX:
                    poses.append((sum(len(part.value) for part in parts), int(body) - 1))
                p = np.eye(4)[:, :1] if body == GROUND_INDEX else where.pose[:, body - 1, P:V].T
                p = axes.turned_back(step, p + np.zeros(cases))
                parts.append(_Parameters(p, np.ones_like(p), np.zeros_like(p, bool)))  # of either sign
    return _Parameters(*(np.concatenate(own) for own in zip(*parts, strict=True))), poses


def _closing_joint(k: int, joint: Joint, tree: SpanningTree, data: ModelData) -> ClosingJoint:
    """The k-th joint of a system.

    Where rows read a body's place only in sums with the vectors to its points, these lead from the point of the step, about
    which the inertia is then, and there is no arm.
    """
    bodies, of_k = (int(data.body_i[k]), int(data.body_j[k])), data.vector_joint == k
    vectors = [
        (int(place), bodies.index(int(body)))
        for place, body in zip(data.vector_place[of_k], data.vector_body[of_k], strict=True)
    ]
    steps = [GROUND_STEP if body == GROUND_INDEX else tree.body_step[body - 1] for body in bodies]
    moved = [
        body != GROUND_INDEX and reads_points_alone(joint.module, vectors, side) for side, body in enumerate(bodies)
    ]
    signals = [
        (int(place), n)
        for n, (at, place) in enumerate(zip(data.signal_joint, data.signal_place, strict=True))
        if at == k
    ]
    return ClosingJoint(
        joint.module.evaluate, len(joint.rows), (steps[0], steps[1]), joint.module.SIZE, tuple(vectors),
        (moved[0], moved[1]), tuple(signals),
        tuple(place for place, _ in vectors if joint.module.VECTORS[place // 3][1] == POINT),
        (reads_euler_parameters(joint.module, 0), reads_euler_parameters(joint.module, 1)),
    )  # fmt: skip


def _values_of_joints(
    joints: Sequence[ClosingJoint], tree: SpanningTree, data: ModelData, x: Floats, local: Floats, masses: Floats,
    where: Geometry,
) -> list[Floats]:  # fmt: skip
    """Parameters (2 * OF_BODY + SIZE, cases) of each closing joint, in global axes; without Euler parameters.

    These are arm, 1 / mass and 3 / trace of inertia of both bodies, and x.
    """
    values, of_bodies = [], where.arms(tree.skeleton.body_step)
    for k, joint in zip(tree.closing, joints, strict=True):
        found = np.zeros((2 * OF_BODY + joint.size, len(x)))
        found[2 * OF_BODY :] = x[:, k, : joint.size].T
        bodies = int(data.body_i[k]), int(data.body_j[k])
        arms = [np.zeros((1, 3)) if body == GROUND_INDEX else of_bodies[:, body - 1] for body in bodies]
        for side, body in enumerate(bodies):
            if body == GROUND_INDEX:
                continue
            arm, first = arms[side], OF_BODY * side
            found[first : first + 3] = 0.0 if joint.moved[side] else arm.T
            weights = weights_of(body, data, masses[:, body - 1], arm if joint.moved[side] else np.zeros((1, 3)))
            found[first + 3 : first + 5] = np.broadcast_arrays(*weights, np.zeros(len(x)))[:2]
        for row, (at, side) in zip(np.flatnonzero(data.vector_joint == k), joint.vectors, strict=True):
            turned, body = local[:, row], bodies[side]
            if body != GROUND_INDEX:
                turned = times(rotation_matrices(where.pose[:, body - 1, P:V]), turned)
            if joint.moved[side] and at in joint.points:
                turned = turned + arms[side]
            found[2 * OF_BODY + at : 2 * OF_BODY + at + 3] = turned.T
        for at, _ in joint.signals:
            found[2 * OF_BODY + at : 2 * OF_BODY + at + 3] = 0.0
        values.append(found)
    return values


def weights_of(body: int, data: ModelData, mass: Any, arm: Floats) -> tuple[Any, Any]:
    """1 / mass and 3 / trace of inertia of a body about a point ``arm`` (3,) from its centre, for a mass or those of cases.

    They give the sizes of rows.  Of a point mass the inertia that stands in for its own, as in absolute coordinates.
    """
    own = float(np.trace(data.inertia[body])) or 9.0 / float(np.trace(data.inertia_inverse[body]))
    return 1.0 / mass, 3.0 / (own + 2.0 * mass * (arm * arm).sum(axis=-1))


def reads_points_alone(module: Any, vectors: Sequence[tuple[int, int]], side: int) -> bool:
    """Whether rows read the place of body i (0) or j (1) only in sums with the vectors to its points, in a random state.

    ``vectors``: places in x, and bodies.
    """
    points = [place for place, of in vectors if of == side and module.VECTORS[place // 3][1] == POINT]
    random = np.random.default_rng(SEED)
    states, x, way = random.standard_normal((2, STATE)), random.standard_normal(module.SIZE), random.standard_normal(3)
    rows, kernel = np.zeros((2, ROWS)), python_code(module.phi)
    try:
        kernel(*states, x, rows[0])
        states[side, :P] -= way
        for place in points:
            x[place : place + 3] += way
        kernel(*states, x, rows[1])
    except (ArithmeticError, ValueError):  # outside the range of a function
        return False
    return bool(np.allclose(rows[0], rows[1], rtol=ALIKE, atol=ALIKE))
