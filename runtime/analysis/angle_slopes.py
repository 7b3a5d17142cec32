"""Derivatives of the coordinates of joints, and of their rates, along derivatives of the states of the bodies.

Coordinates are functions of the states of two bodies and of the axes, points and reference of the motion of a joint, which
codegen has proven; both parts of their derivatives are differences of order six of these functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from runtime.analysis.nearby import NearbySystems
from runtime.integrate.variational.differences import BOTH_SIDES, weights
from runtime.integrate.variational.points import NEARBY
from runtime.results.joint_angles import JointAngles, by_name, coordinates_and_rates
from runtime.results.whole_turns import near
from runtime.support.arrays import Floats
from runtime.support.names import named
from runtime.system.joint_motion import FULL_TURN, JointMotion
from runtime.system.system import System

Motions = Mapping[str, JointMotion]  # by the names of joints


class NearbyMotions(NamedTuple):
    """Motions of the joints that differ with a quantity, at nearby values of it."""

    motions: tuple[Motions, ...]
    weights: Floats  # with which changes of the coordinates add up to the derivative


def nearby_motions(system: System, others: Sequence[System], six: NearbySystems) -> NearbyMotions:
    """The motions of the joints of nearby systems, where they differ from those of the system; others may be none."""
    own = system.joint_motions
    changed = [name for name in own if any(_differ(own[name], other.joint_motions[name]) for other in others)]
    return NearbyMotions(
        tuple({name: other.joint_motions[name] for name in changed} for other in others), six.weights[: len(others)]
    )


def _differ(a: JointMotion, b: JointMotion) -> bool:
    """Whether the axes, points or reference poses of two motions differ."""
    pairs = [(a.reference.A, b.reference.A), (a.reference.r, b.reference.r)]
    for one, other in zip(a.steps, b.steps, strict=True):
        pairs += [(one.axis, other.axis), (one.point, other.point)]
    return not all(np.array_equal(*pair) for pair in pairs)


def slopes_of_angles(
    system: System, nearby: Sequence[NearbyMotions], states: Floats, slopes: Floats
) -> Mapping[str, JointAngles]:
    """Derivatives of the coordinates of the joints and of their rates, (m, K) each.

    system : with the reference configuration in which coordinates are 0
    nearby : of each of K quantities
    states : (m, 13 bodies)
    slopes : (m, 13 bodies, K) their derivatives
    """
    found = {
        name: _slopes_of_joint(system, motion, nearby, states, slopes) for name, motion in system.joint_motions.items()
    }
    return named("joint with coordinates", found, "joints with coordinates")


def _slopes_of_joint(
    system: System, motion: JointMotion, nearby: Sequence[NearbyMotions], states: Floats, slopes: Floats
) -> JointAngles:
    own, count = coordinates_and_rates(system, motion, states), slopes.shape[2]
    found = [np.zeros((*values.shape, count)) for values in own]

    def add(k: int, weight: Floats | float, others: tuple[Floats, Floats]) -> None:
        changes = nearest_turns(motion, others[0], own[0]) - own[0], others[1] - own[1]
        for to, change in zip(found, changes, strict=True):
            to[..., k] += weight * change

    for k in range(count):
        reach = (np.abs(slopes[:, :, k]) / np.maximum(np.abs(states), 1.0)).max(axis=1, keepdims=True)
        h = NEARBY / np.where(reach > 0.0, reach, 1.0)
        for place, weight in zip(BOTH_SIDES, weights(BOTH_SIDES), strict=True):
            add(k, weight / h, coordinates_and_rates(system, motion, states + place * h * slopes[:, :, k]))
        for weight, motions in zip(nearby[k].weights, nearby[k].motions, strict=True):
            if motion.joint.name in motions:
                add(k, weight, coordinates_and_rates(system, motions[motion.joint.name], states))
    return by_name(motion, found[0], found[1], axis=1)


def nearest_turns(motion: JointMotion, values: Floats, to: Floats) -> Floats:
    """Coordinates (n, coordinates) of the same poses that are nearest to others: whole turns added or taken away."""
    values = values.copy()
    for step, own in motion.places:
        if step.kind == "turn":
            values[:, own] = near(values[:, own], to[:, own])
        elif step.kind == "ball":
            length = np.linalg.norm(values[:, own], axis=1, keepdims=True)
            axes = values[:, own] / np.where(length > 0.0, length, 1.0)
            along = ((to[:, own] - values[:, own]) * axes).sum(axis=1, keepdims=True)
            values[:, own] += FULL_TURN * np.round(along / FULL_TURN) * axes
    return values
