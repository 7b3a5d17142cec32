"""Axes for the vectors of a tree's steps, so that many components of them are 0.

Vectors in the axes of a turn may be those of the reference configuration, turned back by a constant angle, which is then added to
the coordinate.  The angle is chosen so that the axis of the next turn, or the way to the next point, is along an axis of these:
one sum replaces products with the components that become 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from runtime.dynamics.lift import GROUND_STEP, product
from runtime.jit.python_code import python_code
from runtime.support.arrays import Floats, Ints
from runtime.system.tree_geometry import OF_GRAVITY, OF_STEP, UPPER

SMALL = 1e-12  # of unit vectors and of lengths: far above rounding, so that the choice does not depend on it
euler_product = python_code(product)  # of Euler parameters
OF_AXIS = 5  # number of zeros in other vectors that one in the axis of a turn counts as


@dataclass(frozen=True)
class Axes:
    """By step the angle that is added to its coordinate (n, ...) and the axes of its vectors: columns of (n, 3, 3, ...).

    A last axis is that of cases.  Rates of balls are in the axes of what they carry: trees with balls keep those of the
    reference configuration.
    """

    parents: Sequence[int]  # of the steps
    offset: Floats
    rotation: Floats
    direction: Floats  # (n, 3) axis of the turn whose coordinate has an angle added, in the axes of the step before
    chosen: Ints  # (n,) which of ``vectors_beyond`` has this angle; -1: none

    def turned(self, step: int, vector: Floats) -> Floats:
        """A vector (3, ...) that a step moves, in its axes; those of the ground are global."""
        return vector if step == GROUND_STEP else _turned(self.rotation[step].swapaxes(0, 1), vector)

    def turned_back(self, step: int, p: Floats) -> Floats:
        """Euler parameters (4, ...) of what a step moves, beside its axes."""
        way = []
        while step != GROUND_STEP:
            way.append(step)
            step = self.parents[step]
        for k in reversed(way):
            half = 0.5 * self.offset[k]
            p = np.array(euler_product((np.cos(half), *(-np.sin(half) * x for x in self.direction[k])), p))
        return p

    def of_tree(self, given: Floats) -> Floats:
        """Parameters (3 + 16 n, ...) of the steps, as of ``kernel_parameters``, in these axes."""
        found = given.copy()
        own = found[OF_GRAVITY:].reshape(len(self.parents), OF_STEP, *given.shape[1:])
        for k, parent in enumerate(self.parents):
            for first, step in ((0, parent), (3, parent), (7, k)):
                own[k, first : first + 3] = self.turned(step, own[k, first : first + 3])
            half = self.turned(k, inertia_of(own[k, 10:]))
            own[k, 10:] = self.turned(k, half.swapaxes(0, 1)).swapaxes(0, 1)[UPPER]
        return found


def _turned(A: Floats, x: Floats) -> Floats:
    """A x for x (3, ...), with the same bits for one case as for many, which products of matrices have not."""
    return np.array([row[0] * x[0] + row[1] * x[1] + row[2] * x[2] for row in A])


def axes_of(
    kinds: Sequence[str],
    parents: Sequence[int],
    parameters: Floats,
    others: Mapping[int, list[Floats]],
    like: Axes | None = None,
) -> Axes:
    """The axes for a tree.

    Parameters
    ----------
    kinds : sequence of str
        Of the steps.
    parents : sequence of int
    parameters : (3 + 16 n, ...)
        Of the steps, in global axes.
    others : mapping
        By step the other vectors (3, ...) that it moves and that its equations read.
    like : Axes, optional
        Of the system of cases: each case has the axes that turn the same vectors to the same coordinate axes.
    """
    n, cases = len(kinds), parameters.shape[1:]
    rotation = np.zeros((n, 3, 3, *cases))
    rotation[:, range(3), range(3)] = 1.0
    axes = Axes(parents, np.zeros((n, *cases)), rotation, np.zeros((n, 3)), np.full(n, -1))
    if "ball" in kinds:
        return axes
    own = parameters[OF_GRAVITY:].reshape(n, OF_STEP, *cases)
    for k, parent in enumerate(parents):
        if parent != GROUND_STEP:
            rotation[k] = rotation[parent]
        if like is None:
            axes.chosen[k] = _choose(axes, k, kinds, own, others)
        else:
            axes.chosen[k], axes.direction[k] = like.chosen[k], like.direction[k]
        if axes.chosen[k] >= 0:
            along = int(np.argmax(np.abs(axes.direction[k])))
            beyond = axes.turned(k, vectors_beyond(k, kinds, parents, own, others)[axes.chosen[k]])
            angle = np.arctan2(beyond[(along + 2) % 3], beyond[(along + 1) % 3])
            axes.offset[k] = axes.direction[k, along] * angle
            rotation[k] = np.einsum("ab...,bc...->ac...", rotation[k], about(along, angle))
    return axes


def _choose(axes: Axes, k: int, kinds: Sequence[str], own: Floats, others: Mapping[int, list[Floats]]) -> int:
    """Which of ``vectors_beyond`` step k turns to a coordinate axis, and sets the direction of its turn; -1: none."""
    e = axes.turned(axes.parents[k], own[k, 0:3])
    along = int(np.argmax(np.abs(e)))
    if kinds[k] != "turn" or not abs(e[along]) > 1.0 - SMALL:
        return -1
    axes.direction[k, along] = np.sign(e[along])
    with_k = _moved_alike(k, kinds, axes.parents)
    turns = sum(kinds[c] == "turn" for c, parent in enumerate(axes.parents) if parent in with_k)
    vectors = [axes.turned(k, v) for v in vectors_beyond(k, kinds, axes.parents, own, others)]
    inertias = [axes.turned(k, inertia_of(own[c, 10:])) for c in with_k]
    next_axes, moments = np.reshape(vectors[:turns], (turns, 3)), [axes.turned(k, own[c, 7:10]) for c in with_k]
    return _best_vector(along, next_axes, vectors[turns:], moments, [axes.turned(k, half.T) for half in inertias])


def vectors_beyond(
    k: int, kinds: Sequence[str], parents: Sequence[int], own: Floats, others: Mapping[int, list[Floats]]
) -> list[Floats]:
    """Axes of the turns beyond turn k, ways to the points there, and other vectors, in global axes.

    own (n, 16, ...): parameters of the steps
    """
    with_k = _moved_alike(k, kinds, parents)
    children = [c for c in range(len(kinds)) if parents[c] in with_k]
    found = [own[c, 0:3] for c in children if kinds[c] == "turn"] + [own[c, 3:6] for c in children]
    return found + [v for c in with_k for v in others.get(c, ())]


def _moved_alike(k: int, kinds: Sequence[str], parents: Sequence[int]) -> list[int]:
    """A turn, and the slides beyond it without another turn between."""
    found = [k]
    for c in range(k + 1, len(kinds)):
        if kinds[c] == "slide" and parents[c] in found:
            found.append(c)
    return found


def inertia_of(six: Floats) -> Floats:
    """The inertia (3, 3, ...) with the components (6, ...) of its upper half."""
    found = np.empty((3, 3, *six.shape[1:]))
    found[UPPER] = found[UPPER[1], UPPER[0]] = six
    return found


def _best_vector(
    along: int, next_axes: Floats, vectors: list[Floats], moments: list[Floats], inertias: list[Floats]
) -> int:
    """Which vector gives the most zeros where it is turned about the axis ``along`` to the next; -1: none gives more.

    Of what a turn moves: axes of the next turns, other vectors, moments of masses, inertias.
    """
    length = max((float(np.abs(v).max()) for v in vectors), default=0.0)

    def zeros(A: Floats) -> int:
        """Number of components of 0 in axes A, those of axes of turns counted several times."""
        count = OF_AXIS * int((np.abs(next_axes @ A) < SMALL).sum())
        count += sum(int((np.abs(v @ A) < SMALL * length).sum()) for v in vectors)
        count += sum(int((np.abs(v @ A) < SMALL * np.linalg.norm(v)).sum()) for v in moments)
        return count + sum(int((np.abs((A.T @ J @ A)[UPPER]) < SMALL * np.linalg.norm(J)).sum()) for J in inertias)

    most, which, first, second = zeros(np.eye(3)), -1, (along + 1) % 3, (along + 2) % 3
    for number, (vector, size) in enumerate([*((a, 1.0) for a in next_axes), *((v, length) for v in vectors)]):
        if math.hypot(vector[first], vector[second]) > SMALL * size:
            found = zeros(about(along, math.atan2(vector[second], vector[first])))
            if found > most:
                most, which = found, number
    return which


def about(along: int, angle: Any) -> Floats:
    """Rotation matrix of a turn about a coordinate axis, (3, 3), or of many (3, 3, cases)."""
    A, first, second = np.zeros((3, 3, *np.shape(angle))), (along + 1) % 3, (along + 2) % 3
    A[along, along], A[first, first], A[second, first] = 1.0, np.cos(angle), np.sin(angle)
    A[second, second], A[first, second] = A[first, first], -A[second, first]
    return A
