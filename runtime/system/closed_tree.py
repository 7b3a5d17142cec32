"""Trees whose coordinates rows of joints restrain, as ``codegen`` needs them for their kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from generated import digests
from runtime.dynamics.layout import GROUND_INDEX, ROWS, STATE, P, V
from runtime.dynamics.model_data import ModelData
from runtime.jit.python_code import python_code
from runtime.support.arrays import Bools, Floats
from runtime.system.model_description import digest_of_module, key_of
from runtime.system.parts import Joint
from runtime.system.reference import rotation_matrices
from runtime.system.spanning_tree import SpanningTree, tree_parameters
from runtime.system.tree_axes import Axes, axes_of
from runtime.system.tree_geometry import OF_GRAVITY, OF_STEP, carried, kernel_parameters

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

    def like(self, value: Floats) -> _Parameters:
        """Those of cases (n, cases)."""
        return _Parameters(value, self.size[:, None], self.unit[:, None])

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
    rounding: tuple[_Parameters, ...]  # of the closing joints, without Euler parameters
    poses: tuple[tuple[int, int], ...]  # of Euler parameters that are read: place among the parameters, body from 0 on

    def with_signs(self, signs: Floats) -> Floats:
        """The parameters where the Euler parameters of the bodies have these signs (bodies,) times their own."""
        found = self.parameters.copy()
        for place, body in self.poses:
            found[place : place + OF_POSE] *= signs[body]
        return found


def closed_tree(name: str, tree: SpanningTree, joints: tuple[Joint, ...], data: ModelData) -> ClosedTree:
    """A tree with rows, of a system of this name with these joints and data."""
    length = _length(tree)
    given = np.array(tree_parameters(tree, data.gravity))
    pairs = [_closing_joint(k, joints[k], tree, data, length) for k in tree.closing]
    of_joints = [joint for joint, _ in pairs]
    axes = axes_of(tree.kinds, tree.parents, given, _others(pairs))
    rounding = tuple(_in_axes(joint, values, axes) for joint, values in pairs)
    n = len(tree.kinds)
    offsets = _Parameters(axes.offset, np.zeros(n), np.zeros(n, bool))
    own = [_of_tree(axes.of_tree(tree.parents, given), data.gravity, length), offsets]
    own += [
        _posed(joint, k, tree, data, axes, values)
        for k, joint, values in zip(tree.closing, of_joints, rounding, strict=True)
    ]
    every = _Parameters(*(np.concatenate(parts) for parts in zip(*own, strict=True)))
    parameters = every.rounded()
    numbers = (parameters == 0.0) | (every.unit & (np.abs(parameters) == 1.0))
    if not tree.turns_and_slides:
        numbers &= ~_parts_of_vectors(parameters, every.unit, n, of_joints)
    constants = tuple(
        value if known else None for value, known in zip(parameters.tolist(), numbers.tolist(), strict=True)
    )
    kernels = {joints[k].module.__name__: digest_of_module(joints[k].module) for k in tree.closing}
    decided = [
        digests.WHOLE, "closed tree", kernels, tree.kinds, tree.parents, constants,
        [
            [joints[k].module.__name__, j.steps, j.vectors, j.signals, *_named(j.posed)]
            for k, j in zip(tree.closing, of_joints, strict=True)
        ],
    ]  # fmt: skip
    return ClosedTree(
        name, key_of(decided), kernels, tree.kinds, tree.parents, tuple(of_joints), parameters, constants, axes,
        rounding, _poses_of(tree, of_joints, data, len(given) + n),
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


def _named(posed: tuple[bool, bool]) -> list[tuple[bool, bool]]:
    """What the key of a kernel says of Euler parameters; nothing where none are read."""
    return [posed] if any(posed) else []


def _poses_of(
    tree: SpanningTree, of_joints: Sequence[ClosingJoint], data: ModelData, start: int
) -> tuple[tuple[int, int], ...]:
    """``ClosedTree.poses``; the parameters of the closing joints begin at ``start``."""
    found = []
    for k, joint in zip(tree.closing, of_joints, strict=True):
        start += 2 * OF_BODY + joint.size
        for body, posed in zip((int(data.body_i[k]), int(data.body_j[k])), joint.posed, strict=True):
            if posed and body != GROUND_INDEX:
                found.append((start, body - 1))
            start += OF_POSE * posed
    return tuple(found)


def _posed(
    joint: ClosingJoint, k: int, tree: SpanningTree, data: ModelData, axes: Axes, found: _Parameters
) -> _Parameters:
    """The parameters of the k-th joint of a system, with those of the Euler parameters that it reads."""
    for body, step, posed in zip((data.body_i[k], data.body_j[k]), joint.steps, joint.posed, strict=True):
        if posed:
            p = np.array([1.0, 0.0, 0.0, 0.0]) if body == GROUND_INDEX else tree.pose[body - 1, P:V]
            more = axes.turned_back(step, tree.parents, p), np.ones(OF_POSE), np.zeros(OF_POSE, bool)  # of either sign
            found = _Parameters(*(np.concatenate(parts) for parts in zip(found, more, strict=True)))
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
    closed: ClosedTree, tree: SpanningTree, joints: tuple[Joint, ...], data: ModelData, masses: Floats, gravity: Floats
) -> tuple[Floats, Bools]:
    """Parameters of the kernel of a tree for cases of its system, (n, cases), and which cases it serves.

    masses (cases, bodies + 1), gravity (cases, 3); all else is that of the system with this tree, joints and data.
    """
    found: Floats = np.tile(closed.parameters[:, None], len(masses))
    load = carried(tree.geometry, tree.skeleton, masses[:, 1:], data.inertia[1:])
    given = closed.axes.of_tree(tree.parents, kernel_parameters(tree.geometry, tree.skeleton, load, gravity))
    found[: len(given)] = _of_tree(given, gravity.T, _length(tree)).rounded()
    start = len(given) + len(tree.kinds)
    arms = tree.geometry.arms(tree.skeleton.body_step)[0]
    for k, joint in zip(tree.closing, closed.joints, strict=True):
        for side, body in enumerate((int(data.body_i[k]), int(data.body_j[k]))):
            if body != GROUND_INDEX:
                arm = arms[body - 1] if joint.moved[side] else np.zeros(3)
                weights = start + OF_BODY * side + 3
                found[weights : weights + 2] = weights_of(body, data, masses[:, body], arm)
        start += 2 * OF_BODY + joints[k].module.SIZE + OF_POSE * sum(joint.posed)
    return found, served_by(closed, found)


def served_by(closed: ClosedTree, found: Floats) -> Bools:
    """Which cases have the numbers of the kernel among their parameters (n, cases), and of turns and slides no other zeros."""
    known = np.array([value is not None for value in closed.constants])
    numbers = np.array([np.nan if value is None else value for value in closed.constants])[:, None]
    others = (found != 0.0) | bool({"ball", "free"} & set(closed.kinds))
    serves: Bools = np.where(known[:, None], found == numbers, others).all(axis=0)
    return serves


def of_steps(found: Floats, gravity: Floats, tree: SpanningTree) -> Floats:
    """Parameters of the steps (n, cases) for gravity (3, cases), without what is rounding."""
    return _of_tree(found, gravity, _length(tree)).rounded()


def _of_tree(found: Floats, gravity: Floats, length: float) -> _Parameters:
    """Parameters of the steps, found as for ``prepare``."""
    sizes, more = np.zeros_like(found), found.shape[1:]
    sizes[:OF_GRAVITY] = np.abs(gravity).max(axis=0)
    own, of = found[OF_GRAVITY:].reshape(-1, OF_STEP, *more), sizes[OF_GRAVITY:].reshape(-1, OF_STEP, *more)
    of[:, 0:3], of[:, 3:6] = 1.0, length
    of[:, 7:10] = length * own[:, 6:7]
    of[:, 10:] = np.abs(own[:, 10:]).max(axis=1, keepdims=True)
    of *= OF_TURNED
    unit = np.zeros(len(found), bool)
    unit[OF_GRAVITY:].reshape(-1, OF_STEP)[:, 0:3] = True
    return _Parameters(found, sizes, unit.reshape(-1, *[1] * len(more)))


def _others(pairs: Sequence[tuple[ClosingJoint, _Parameters]]) -> dict[int, list[Floats]]:
    """By step the vectors of closing joints that it moves: to the bodies, and those of x."""
    found: dict[int, list[Floats]] = {}
    for joint, values in pairs:
        for side, first in joint.places():
            found.setdefault(joint.steps[side], []).append(values.value[first : first + 3])
    return found


def _in_axes(joint: ClosingJoint, values: _Parameters, axes: Axes) -> _Parameters:
    """The parameters of a closing joint with its vectors in the axes of the steps that move them."""
    value = values.value.copy()
    for side, first in joint.places():
        value[first : first + 3] = axes.turned(joint.steps[side], value[first : first + 3])
    return values._replace(value=value, size=OF_TURNED * values.size)


def _closing_joint(
    k: int, joint: Joint, tree: SpanningTree, data: ModelData, length: float
) -> tuple[ClosingJoint, _Parameters]:
    """The k-th joint of a system, and its parameters.

    These are arm, 1 / mass and 3 / trace of inertia of both bodies, and x.  Where rows read a body's place only in sums with the
    vectors to its points, these lead from the point of the step, about which the inertia is then, and there is no arm.
    """
    bodies, skeleton = (int(data.body_i[k]), int(data.body_j[k])), tree.skeleton
    of_k = data.vector_joint == k
    vectors = [
        (int(place), bodies.index(int(body)))
        for place, body in zip(data.vector_place[of_k], data.vector_body[of_k], strict=True)
    ]
    steps, found, arms, moved = [], [], [], []
    for side, body in enumerate(bodies):
        of_ground = body == GROUND_INDEX
        arm = np.zeros(3) if of_ground else tree.geometry.arms(skeleton.body_step)[0, body - 1]
        moved.append(not of_ground and reads_points_alone(joint.module, vectors, side))
        arms.append(arm)
        steps.append(-1 if of_ground else skeleton.body_step[body - 1])
        weights = (
            (0.0, 0.0) if of_ground else weights_of(body, data, data.mass[body], arm if moved[side] else np.zeros(3))
        )
        found.append(np.concatenate([np.zeros(3) if moved[side] else arm, weights]))
    x = data.x[k, : joint.module.SIZE].copy()
    of_x, unit = np.zeros_like(x), np.zeros(len(x), bool)
    for (place, side), local in zip(vectors, data.vector_local[of_k], strict=True):
        body = bodies[side]
        turned = local if body == GROUND_INDEX else rotation_matrices(tree.pose[body - 1 : body, P:V])[0] @ local
        of_x[place : place + 3] = np.abs(turned).max()
        unit[place : place + 3] = joint.module.VECTORS[place // 3][1] != POINT
        if moved[side] and not unit[place]:
            turned, of_x[place : place + 3] = turned + arms[side], length
        x[place : place + 3] = turned
    signals = [
        (int(place), n)
        for n, (at, place) in enumerate(zip(data.signal_joint, data.signal_place, strict=True))
        if at == k
    ]
    for place, _ in signals:
        x[place : place + 3] = 0.0
    one = ClosingJoint(
        joint.module.evaluate, len(joint.rows), (steps[0], steps[1]), len(x), tuple(vectors), (moved[0], moved[1]),
        tuple(signals), tuple(place for place, _ in vectors if joint.module.VECTORS[place // 3][1] == POINT),
        (reads_euler_parameters(joint.module, 0), reads_euler_parameters(joint.module, 1)),
    )  # fmt: skip
    of_arms = np.array([length, length, length, 0.0, 0.0])
    return one, _Parameters(
        np.concatenate([*found, x]),
        np.concatenate([of_arms, of_arms, of_x]),
        np.concatenate([np.zeros(10, bool), unit]),
    )


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
