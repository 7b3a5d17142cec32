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
POINT = "point"  # kind of a vector
SEED, ALIKE = 11, 1e-9  # of random states, and of rows there


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


def closed_tree(name: str, tree: SpanningTree, joints: tuple[Joint, ...], data: ModelData) -> ClosedTree:
    """A tree with rows, of a system of this name with these joints and data."""
    length = _length(tree)
    given = np.array(tree_parameters(tree, data.gravity))
    pairs = [_closing_joint(k, joints[k], tree, data, length) for k in tree.closing]
    of_joints = [joint for joint, _ in pairs]
    axes = axes_of(tree.kinds, tree.parents, given, _others(pairs))
    n = len(tree.kinds)
    offsets = _Parameters(axes.offset, np.zeros(n), np.zeros(n, bool))
    own = [_of_tree(axes.of_tree(tree.parents, given), data.gravity, length), offsets]
    own += [_in_axes(joint, values, axes) for joint, values in pairs]
    every = _Parameters(*(np.concatenate(parts) for parts in zip(*own, strict=True)))
    parameters = every.rounded()
    constants = tuple(
        value if value == 0.0 or (unit and abs(value) == 1.0) else None
        for value, unit in zip(parameters.tolist(), every.unit.tolist(), strict=True)
    )
    kernels = {joints[k].module.__name__: digest_of_module(joints[k].module) for k in tree.closing}
    decided = [
        digests.WHOLE, "closed tree", kernels, tree.kinds, tree.parents, constants,
        [[joints[k].module.__name__, j.steps, j.vectors, j.signals] for k, j in zip(tree.closing, of_joints, strict=True)],
    ]  # fmt: skip
    return ClosedTree(
        name, key_of(decided), kernels, tree.kinds, tree.parents, tuple(of_joints), parameters, constants, axes
    )


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
                found[weights : weights + 2] = _weights(body, data, masses[:, body], arm)
        start += 2 * OF_BODY + joints[k].module.SIZE
    known = np.array([value is not None for value in closed.constants])
    numbers = np.array([np.nan if value is None else value for value in closed.constants])[:, None]
    serves: Bools = np.where(known[:, None], found == numbers, found != 0.0).all(axis=0)
    return found, serves


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
            (0.0, 0.0) if of_ground else _weights(body, data, data.mass[body], arm if moved[side] else np.zeros(3))
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
        tuple(signals),
    )  # fmt: skip
    of_arms = np.array([length, length, length, 0.0, 0.0])
    return one, _Parameters(
        np.concatenate([*found, x]),
        np.concatenate([of_arms, of_arms, of_x]),
        np.concatenate([np.zeros(10, bool), unit]),
    )


def _weights(body: int, data: ModelData, mass: Any, arm: Floats) -> tuple[Any, Any]:
    """1 / mass and 3 / trace of inertia of a body about a point at this distance from its centre, for a mass or those of cases.

    They give the sizes of rows.  Of a point mass the inertia that stands in for its own, as in absolute coordinates.
    """
    own = float(np.trace(data.inertia[body])) or 9.0 / float(np.trace(data.inertia_inverse[body]))
    return 1.0 / mass, 3.0 / (own + 2.0 * mass * float(arm @ arm))


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
