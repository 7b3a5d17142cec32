"""Trees whose coordinates rows of joints restrain, as ``codegen`` needs them for their kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generated import digests
from runtime.dynamics.layout import GROUND_INDEX, P, V
from runtime.dynamics.model_data import ModelData
from runtime.support.arrays import Floats
from runtime.system.model_description import digest_of_module, key_of
from runtime.system.parts import Joint
from runtime.system.reference import rotation_matrices
from runtime.system.spanning_tree import SpanningTree, tree_parameters
from runtime.system.tree_geometry import OF_GRAVITY, OF_STEP

ROUNDING = 1e-15


@dataclass(frozen=True)
class ClosingJoint:
    """A joint whose rows restrain the coordinates of a tree."""

    kernel: Any
    rows: int
    steps: tuple[int, int]  # that move its bodies last
    size: int  # of x
    vectors: tuple[tuple[int, int], ...]  # place in x of those that the bodies turn, and 0 or 1 for body i or j
    signals: tuple[tuple[int, int], ...]  # place in x of the signals of a driver, and their number among all


@dataclass(frozen=True)
class ClosedTree:
    """A tree with rows; ``parameters`` are those of its kernel."""

    name: str
    key: str
    made_from: dict[str, str]
    kinds: tuple[str, ...]
    parents: tuple[int, ...]
    joints: tuple[ClosingJoint, ...]
    parameters: Floats
    constants: tuple[float | None, ...]


class _Parameters(NamedTuple):
    """Parameters of a kernel, (n,) each."""

    value: Floats
    size: Floats  # what a value of 0 may differ from it, in units of rounding
    unit: NDArray[np.bool_]  # components of unit vectors

    def rounded(self) -> Floats:
        """With what is 0, or a component 1 or -1 of a unit vector, but for rounding made so: such values are computed."""
        near = np.sign(self.value)
        kept = np.where(self.unit & (np.abs(self.value - near) <= ROUNDING), near, self.value)
        return np.where(np.abs(self.value) <= ROUNDING * self.size, 0.0, kept)


def closed_tree(name: str, tree: SpanningTree, joints: tuple[Joint, ...], data: ModelData) -> ClosedTree:
    """A tree with rows, of a system of this name with these joints and data."""
    where, skeleton = tree.geometry, tree.skeleton
    length = max(float(np.abs(a).max()) for a in (where.ways(skeleton.parents), where.arms(skeleton.body_step)))
    of_joints, own = [], [_of_tree(tree, data, length)]
    for k in tree.closing:
        one, values = _closing_joint(k, joints[k], tree, data, length)
        of_joints.append(one)
        own.append(values)
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
    return ClosedTree(name, key_of(decided), kernels, tree.kinds, tree.parents, tuple(of_joints), parameters, constants)


def _of_tree(tree: SpanningTree, data: ModelData, length: float) -> _Parameters:
    """Parameters of the steps, as for ``prepare``."""
    found = np.array(tree_parameters(tree, data.gravity))
    sizes = np.zeros_like(found)
    sizes[:OF_GRAVITY] = np.abs(data.gravity).max()
    own, of = found[OF_GRAVITY:].reshape(-1, OF_STEP), sizes[OF_GRAVITY:].reshape(-1, OF_STEP)
    of[:, 0:3], of[:, 3:6] = 1.0, length
    of[:, 7:10] = length * own[:, 6:7]
    of[:, 10:] = np.abs(own[:, 10:]).max(axis=1, keepdims=True)
    unit = np.zeros(len(found), bool)
    unit[OF_GRAVITY:].reshape(-1, OF_STEP)[:, 0:3] = True
    return _Parameters(found, sizes, unit)


def _closing_joint(
    k: int, joint: Joint, tree: SpanningTree, data: ModelData, length: float
) -> tuple[ClosingJoint, _Parameters]:
    """The k-th joint of a system, and its parameters.

    These are arm, 1 / mass and 3 / trace of inertia of both bodies, and x.
    """
    bodies, skeleton = (int(data.body_i[k]), int(data.body_j[k])), tree.skeleton
    arms = tree.geometry.arms(skeleton.body_step)[0]
    steps, found = [], []
    for body in bodies:
        if body == GROUND_INDEX:
            steps.append(-1)
            found.append(np.zeros(5))
            continue
        steps.append(skeleton.body_step[body - 1])
        weights = [1.0 / data.mass[body], 3.0 / np.trace(data.inertia[body])]
        found.append(np.concatenate([arms[body - 1], weights]))
    x, vectors = data.x[k, : joint.module.SIZE].copy(), []
    of_x, unit = np.zeros_like(x), np.zeros(len(x), bool)
    for at, place, body, local in zip(
        data.vector_joint, data.vector_place, data.vector_body, data.vector_local, strict=True
    ):
        if at == k:
            turned = local if body == GROUND_INDEX else rotation_matrices(tree.pose[body - 1 : body, P:V])[0] @ local
            x[place : place + 3] = turned
            of_x[place : place + 3] = np.abs(turned).max()
            unit[place : place + 3] = joint.module.VECTORS[place // 3][1] != "point"
            vectors.append((int(place), bodies.index(int(body))))
    signals = [
        (int(place), n)
        for n, (at, place) in enumerate(zip(data.signal_joint, data.signal_place, strict=True))
        if at == k
    ]
    for place, _ in signals:
        x[place : place + 3] = 0.0
    one = ClosingJoint(
        joint.module.evaluate, len(joint.rows), (steps[0], steps[1]), len(x), tuple(vectors), tuple(signals)
    )
    of_arms = np.array([length, length, length, 0.0, 0.0])
    return one, _Parameters(
        np.concatenate([*found, x]),
        np.concatenate([of_arms, of_arms, of_x]),
        np.concatenate([np.zeros(10, bool), unit]),
    )
