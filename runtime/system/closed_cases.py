"""Parameters of the kernel of a tree with rows for cases whose joints differ in lengths, points and axes.

Each case has the axes that its vectors need for the zeros of the kernel: those that turn the same vectors to the same axes as in
the system whose kernel it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from runtime.dynamics.layout import GROUND_INDEX, P, V
from runtime.dynamics.lift import GROUND_STEP
from runtime.dynamics.model_data import ModelData
from runtime.lanes.assembly import CaseData
from runtime.support.arrays import Bools, Floats
from runtime.system.closed_tree import (
    OF_BODY,
    OF_POSE,
    ClosedTree,
    of_steps,
    served_by,
    weights_of,
)
from runtime.system.joint_motion import times
from runtime.system.reference import rotation_matrices
from runtime.system.spanning_tree import SpanningTree
from runtime.system.tree_axes import Axes, euler_product, inertia_of, vectors_beyond
from runtime.system.tree_geometry import OF_GRAVITY, OF_STEP, UPPER, Carried, Geometry, kernel_parameters


@dataclass(frozen=True)
class _AxesOfCases:
    """As ``Axes``, with a last axis of cases."""

    parents: Sequence[int]
    offset: Floats  # (n, cases)
    rotation: Floats  # (n, 3, 3, cases)
    direction: Floats  # (n, 3)

    def turned(self, step: int, vector: Floats) -> Floats:
        """Vectors (3, cases) that a step moves, in its axes."""
        if step == GROUND_STEP:
            return vector
        found: Floats = np.einsum("abn,an->bn", self.rotation[step], vector)
        return found

    def of_tree(self, given: Floats) -> Floats:
        """Parameters (3 + 16 n, cases) of the steps in these axes."""
        found = given.copy()
        own = found[OF_GRAVITY:].reshape(len(self.parents), OF_STEP, -1)
        for k, parent in enumerate(self.parents):
            for first, step in ((0, parent), (3, parent), (7, k)):
                own[k, first : first + 3] = self.turned(step, own[k, first : first + 3])
            A = self.rotation[k]
            own[k, 10:] = np.einsum("ban,bcn,cdn->adn", A, inertia_of(own[k, 10:]), A)[UPPER]
        return found

    def turned_back(self, step: int, p: Floats) -> Floats:
        """Euler parameters (4, cases) of what a step moves, beside its axes."""
        way = []
        while step != GROUND_STEP:
            way.append(step)
            step = self.parents[step]
        for k in reversed(way):
            half = 0.5 * self.offset[k]
            p = np.array(euler_product((np.cos(half), *(-np.sin(half) * x for x in self.direction[k])), p))
        return p


def _axes_of_cases(
    axes: Axes, kinds: Sequence[str], parents: Sequence[int], given: Floats, others: Mapping[int, list[Floats]]
) -> _AxesOfCases:
    """The axes of cases with parameters (3 + 16 n, cases); ``others``: by step other vectors (3, cases)."""
    n, cases = len(kinds), given.shape[1]
    offset, rotation = np.zeros((n, cases)), np.tile(np.eye(3)[..., None], (n, 1, 1, cases))
    found = _AxesOfCases(parents, offset, rotation, axes.direction)
    own = given[OF_GRAVITY:].reshape(n, OF_STEP, cases)
    for k, parent in enumerate(parents):
        if parent != GROUND_STEP:
            rotation[k] = rotation[parent]
        if axes.chosen[k] < 0:
            continue
        along = int(np.argmax(np.abs(axes.direction[k])))
        first, second = (along + 1) % 3, (along + 2) % 3
        vector = found.turned(k, vectors_beyond(k, kinds, parents, own, others)[axes.chosen[k]])
        angle = np.arctan2(vector[second], vector[first])
        offset[k] = axes.direction[k, along] * angle
        turn = np.tile(np.eye(3)[..., None], (1, 1, cases))
        turn[first, first] = turn[second, second] = np.cos(angle)
        turn[second, first] = np.sin(angle)
        turn[first, second] = -turn[second, first]
        rotation[k] = np.einsum("abn,bcn->acn", rotation[k], turn)
    return found


def parameters_of_joints(
    closed: ClosedTree,
    tree: SpanningTree,
    data: ModelData,
    of: CaseData,
    where: Geometry,
    load: Carried,
    gravity: Floats,
) -> tuple[Floats, Bools]:
    """Parameters of the kernel of a tree for cases of its system, (n, cases), and which cases it serves.

    Parameters
    ----------
    of : CaseData
        Their joints and masses.
    where, load : Geometry, Carried
        Of the trees.
    gravity : (cases, 3) [m/s^2]
    """
    given = kernel_parameters(where, tree.skeleton, load, gravity)
    joints = [_values_of_joint(k, place, closed, tree, data, of, where) for place, k in enumerate(tree.closing)]
    others: dict[int, list[Floats]] = {}
    for joint, values in zip(closed.joints, joints, strict=True):
        for side, first in joint.places():
            others.setdefault(joint.steps[side], []).append(values[first : first + 3])
    axes = _axes_of_cases(closed.axes, closed.kinds, closed.parents, given, others)
    parts = [of_steps(axes.of_tree(given), gravity.T, tree), axes.offset]
    for k, joint, values, rounding in zip(tree.closing, closed.joints, joints, closed.rounding, strict=True):
        for side, first in joint.places():
            values[first : first + 3] = axes.turned(joint.steps[side], values[first : first + 3])
        poses = []
        for body, step, posed in zip((data.body_i[k], data.body_j[k]), joint.steps, joint.posed, strict=True):
            if posed:
                p = where.pose[:, body - 1, P:V].T if body != GROUND_INDEX else np.eye(4)[:, :1] + 0.0 * given[:1]
                poses.append(axes.turned_back(step, p))
        parts.append(np.concatenate([rounding.like(values).rounded(), *poses]))
    found = np.concatenate(parts)
    return found, served_by(closed, found)


def _values_of_joint(
    k: int, place: int, closed: ClosedTree, tree: SpanningTree, data: ModelData, of: CaseData, where: Geometry
) -> Floats:
    """Parameters (2 * OF_BODY + SIZE, cases) of joint k, in global axes; without Euler parameters."""
    joint, cases = closed.joints[place], len(of.x)
    found = np.zeros((2 * OF_BODY + joint.size, cases))
    found[2 * OF_BODY :] = of.x[:, k, : joint.size].T
    bodies, of_bodies = (int(data.body_i[k]), int(data.body_j[k])), where.arms(tree.skeleton.body_step)
    arms = [np.zeros((1, 3)) if body == GROUND_INDEX else of_bodies[:, body - 1] for body in bodies]
    for side, body in enumerate(bodies):
        if body == GROUND_INDEX:
            continue
        arm, first = arms[side], OF_BODY * side
        found[first : first + 3] = 0.0 if joint.moved[side] else arm.T
        weights = weights_of(body, data, of.masses[:, body - 1], arm if joint.moved[side] else np.zeros((1, 3)))
        found[first + 3 : first + 5] = np.broadcast_arrays(*weights, np.zeros(cases))[:2]
    for row, (at, side) in zip(np.flatnonzero(data.vector_joint == k), joint.vectors, strict=True):
        turned, body = of.local[:, row], bodies[side]
        if body != GROUND_INDEX:
            turned = times(rotation_matrices(where.pose[:, body - 1, P:V]), turned)
        if joint.moved[side] and at in joint.points:
            turned = turned + arms[side]
        found[2 * OF_BODY + at : 2 * OF_BODY + at + 3] = turned.T
    for at, _ in joint.signals:
        found[2 * OF_BODY + at : 2 * OF_BODY + at + 3] = 0.0
    return found


assert OF_POSE == V - P
