"""Axes, points and masses of the steps of a tree, of one system or of many cases whose joints differ.

Vectors are in global axes, in the reference configuration of each case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import GROUND_INDEX, P, R, V
from runtime.dynamics.lift import GROUND_STEP
from runtime.support.arrays import Floats
from runtime.system.joint_motion import JointMotion, times
from runtime.system.reference import rotation_matrices

UPPER = np.triu_indices(3)  # of an inertia: xx, xy, xz, yy, yz, zz
OF_GRAVITY, OF_STEP = 3, 16  # parameters of a kernel: see ``kernel_parameters``


@dataclass(frozen=True)
class Coordinate:
    """Where the coordinate of a step is in the motion of its joint, and what the step connects."""

    joint: str  # "" of a body that nothing holds
    place: int  # among the coordinates of the joint
    sign: float
    inner: str  # body or ground
    outer: str


class Skeleton(NamedTuple):
    """The steps of a tree in order, each after the one that carries it."""

    coordinates: tuple[Coordinate, ...]
    kinds: tuple[str, ...]  # "turn", "slide", "ball" or "free"
    parents: tuple[int, ...]  # the step that carries each; GROUND_STEP: none
    body_step: tuple[int, ...]  # (bodies,) the last step that moves each body


class Geometry(NamedTuple):
    """Where the steps of a tree are."""

    axis: Floats  # (cases, n, 3)
    point: Floats  # (cases, n, 3) [m] on the axis of a turn
    pose: Floats  # (cases, bodies, 7)

    def ways(self, parents: Sequence[int]) -> Floats:
        """From the point of the step before, or from the origin, to that of each step, (cases, n, 3) [m]."""
        return self.point - self._points(parents)

    def arms(self, body_step: Sequence[int]) -> Floats:
        """From the point of the last step that moves it, or from the origin, to each body, (cases, bodies, 3) [m]."""
        return self.pose[..., R:P] - self._points(body_step)

    def _points(self, steps: Sequence[int]) -> Floats:
        at = np.concatenate([self.point, np.zeros((len(self.point), 1, 3))], axis=1)  # the last: of the ground
        return at[:, list(steps)]

    def reaches(self, skeleton: Skeleton) -> Floats:
        """For each step the largest distance [m] of a body that it moves from its point, (cases, n)."""
        found = np.zeros(self.point.shape[:2])
        for body, step in enumerate(skeleton.body_step):
            of: list[int] = []  # the steps that move the body
            while step != GROUND_STEP:
                of.append(step)
                step = skeleton.parents[step]
            away = np.linalg.norm(self.pose[:, body, None, R:P] - self.point[:, of], axis=-1)
            found[:, of] = np.maximum(found[:, of], away)
        return found


class Carried(NamedTuple):
    """Of the bodies that each step moves and no later one does."""

    mass: Floats  # (cases, n) [kg]
    moment: Floats  # (cases, n, 3) mass times the way from the point of the step to their centre [kg m]
    inertia: Floats  # (cases, n, 3, 3) about the point [kg m^2]


def geometry(
    skeleton: Skeleton, motions: Mapping[str, JointMotion], places: Mapping[str, int], states: Floats
) -> Geometry:
    """The geometry of a tree.

    Parameters
    ----------
    motions : mapping
        By the names of the joints; with the vectors of all cases where these differ.
    places : mapping
        Of bodies and the ground among the states, by name.
    states : (cases, bodies + 1, 13)
        Of the ground and the bodies, in the reference configuration.
    """
    n = len(skeleton.kinds)
    axis, point = np.zeros((len(states), n, 3)), np.zeros((len(states), n, 3))
    for k, (one, parent) in enumerate(zip(skeleton.coordinates, skeleton.parents, strict=True)):
        if not one.joint:
            point[:, k] = states[:, places[one.outer], R:P]
            continue
        motion = motions[one.joint]
        step = next(step for step, own in motion.places if own.start == one.place)
        i = states[:, places[motion.joint.body_i]]
        A = rotation_matrices(i[:, P:V])
        axis[:, k] = times(A, step.axis)
        follows = step.kind == "slide" and parent >= 0
        point[:, k] = point[:, parent] if follows else i[:, R:P] + times(A, step.point)
    return Geometry(axis, point, states[:, GROUND_INDEX + 1 :, :V].copy())


def carried(of: Geometry, skeleton: Skeleton, masses: Floats, inertias: Floats) -> Carried:
    """What the steps carry.

    masses (cases, bodies), inertias (bodies, 3, 3) or (cases, bodies, 3, 3), in the bodies' own axes
    """
    n, cases = len(skeleton.kinds), max(len(of.point), len(masses))
    mass, moment, inertia = np.zeros((cases, n)), np.zeros((cases, n, 3)), np.zeros((cases, n, 3, 3))
    arms, bodies = of.arms(skeleton.body_step), of.pose.shape[1]
    A = rotation_matrices(of.pose[..., P:V].reshape(-1, 4)).reshape(-1, bodies, 3, 3)
    square = (arms * arms).sum(axis=2)[..., None, None] * np.eye(3) - arms[..., :, None] * arms[..., None, :]
    of_body = A @ inertias @ np.swapaxes(A, 2, 3) + masses[..., None, None] * square
    moments = masses[..., None] * arms
    for body, step in enumerate(skeleton.body_step):
        if step != GROUND_STEP:
            mass[:, step] += masses[:, body]
            moment[:, step] += moments[:, body]
            inertia[:, step] += of_body[:, body]
    return Carried(mass, moment, inertia)


def kernel_parameters(of: Geometry, skeleton: Skeleton, load: Carried, gravity: Floats) -> Floats:
    """The parameters of cases as the function ``prepare`` of a kernel takes them, (parameters, cases).

    gravity (3,) or (cases, 3)
    """
    cases, n = load.mass.shape
    found = np.empty((OF_GRAVITY + OF_STEP * n, cases))
    found[:OF_GRAVITY] = gravity[:, None] if gravity.ndim == 1 else gravity.T
    steps = found[OF_GRAVITY:].reshape(n, OF_STEP, cases)
    steps[:, 0:3] = np.moveaxis(of.axis, 0, 2)
    steps[:, 3:6] = np.moveaxis(of.ways(skeleton.parents), 0, 2)
    steps[:, 6] = load.mass.T
    steps[:, 7:10] = np.moveaxis(load.moment, 0, 2)
    steps[:, 10:] = np.moveaxis(load.inertia[..., UPPER[0], UPPER[1]], 0, 2)
    return found
