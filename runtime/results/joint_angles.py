"""Coordinates of the joints of a run: angles and distances of their motions, with rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from runtime.dynamics.layout import STATE
from runtime.results.named_values import NamedValues
from runtime.results.whole_turns import WholeTurns, set_whole_turns
from runtime.support.arrays import Floats, Ints
from runtime.support.names import named
from runtime.system.joint_motion import FULL_TURN, JointMotion, Pose, coordinates, rates, relative_poses
from runtime.system.reference import body_places, states_with_ground
from runtime.system.system import System
from runtime.system.trees import trees_of


@dataclass(frozen=True)
class JointAngles(NamedValues):
    """Coordinates of a joint over time, those of its definition in ``codegen/motions.py``; arrays (n,).

    They describe how body j has moved against body i since the reference configuration, where they are 0: turns [rad], positive
    about the axis by the right hand, with the revolutions since the start of the run (in absolute coordinates followed from the
    start, without jumps while a turn between two times of the result is less than half a turn); distances [m]; of any turn about
    a point the components of the rotation vector [rad] in axes of body i.

    ``run.angles["ankle"].theta_i``, ``["theta_i"]``: a coordinate; ``rates["theta_i"]`` [rad/s], [m/s]; ``units["theta_i"]``.
    The rates of a rotation vector are the components of the relative angular velocity in axes of body i.
    """

    lacks = "joint '{}' ({}) has no coordinate"

    name: str
    kind: str
    values: Mapping[str, Floats] = field(repr=False)
    rates: Mapping[str, Floats] = field(repr=False)
    units: Mapping[str, str]

    def __getitem__(self, coordinate: str) -> Floats:
        return self.values[coordinate]


def joint_angles(
    system: System,
    states: Floats,
    turns: WholeTurns | None = None,
    steps: Floats | None = None,
    start: Floats | None = None,
) -> Mapping[str, JointAngles]:
    """Coordinates by the names of the joints that have a motion, from the states (n, bodies, 13) of a run.

    turns : those of the tree of the system, where they are known
    steps : times (n,) [s] of states that are the ends of steps
    start : as of ``coordinates_and_rates``
    """
    of_tree = None if turns is None else turns.quarters
    found = {
        name: angles_of_joint(system, motion, states, of_tree, steps, start)
        for name, motion in system.joint_motions.items()
    }
    return named("joint with coordinates", found, "joints with coordinates")


def angles_of_joint(
    system: System,
    motion: JointMotion,
    states: Floats,
    quarters: Ints | None = None,
    steps: Floats | None = None,
    start: Floats | None = None,
) -> JointAngles:
    """Coordinates of a joint of a system, with its motion, from the states (n, bodies, 13) of a run.

    quarters : ``WholeTurns.quarters`` of its tree, where they are known
    """
    values, speeds = coordinates_and_rates(system, motion, states, start)
    known = [] if quarters is None else set_whole_turns(trees_of(system).of_joints, motion, values, quarters)
    others = [k for k in turns_of(motion) if k not in known]
    if steps is not None and others:
        values[:, others] += missing_turns(values[:, others], speeds[:, others], steps)
    return by_name(motion, values, speeds)


def turns_of(motion: JointMotion) -> list[int]:
    """Places of the turns among the coordinates of a joint."""
    turns = {step.name for step in motion.steps if step.kind == "turn"}
    return [k for k, name in enumerate(motion.units) if name in turns]


def missing_turns(angles: Floats, rates: Floats, steps: Floats) -> Floats:
    """Whole turns (n, turns) [rad] since the first time that angles without jumps do not show: a step may take several turns."""
    by_rate = 0.5 * (rates[1:] + rates[:-1]) * np.diff(steps)[:, None]
    turns = np.round((by_rate - np.diff(angles, axis=0)) / FULL_TURN)
    turns[~np.isfinite(turns)] = 0.0
    return np.concatenate([np.zeros_like(angles[:1]), FULL_TURN * np.cumsum(turns, axis=0)])


def by_name(motion: JointMotion, values: Floats, speeds: Floats, axis: int = -1) -> JointAngles:
    """Coordinates and rates of a joint from arrays with the coordinates along an axis."""

    def parts(array: Floats) -> Mapping[str, Floats]:
        rows = np.ascontiguousarray(np.moveaxis(array, axis, 0))
        return named("coordinate", dict(zip(motion.units, rows, strict=True)))

    return JointAngles(motion.joint.name, motion.joint.kind, parts(values), parts(speeds), motion.units)


def poses_of(system: System, motion: JointMotion, states: Floats) -> tuple[Pose, Floats, Floats]:
    """Relative poses of a joint in states (n, bodies, 13) or (n, 13 bodies), and the states (n, 13) of its bodies."""
    places = body_places(system.body_names)
    every = states_with_ground(states.reshape(len(states), STATE * len(system.body_names)))  # also of no states
    of_i, of_j = (every[:, places[body]] for body in (motion.joint.body_i, motion.joint.body_j))
    return relative_poses(of_i, of_j), of_i, of_j


def coordinates_and_rates(
    system: System, motion: JointMotion, states: Floats, start: Floats | None = None
) -> tuple[Floats, Floats]:
    """Coordinates and rates (n, coordinates) of a joint, with its motion, in states (n, bodies, 13) or (n, 13 bodies).

    start : state (13 bodies,) at the start of the run, where angles are within half a turn; default: the first state
    """
    before = 0 if start is None else 1
    if start is not None:
        states = np.concatenate([start.reshape(1, *states.shape[1:]), states])
    poses, of_i, of_j = poses_of(system, motion, states)
    return coordinates(motion, poses)[before:], rates(motion, poses, of_i, of_j)[before:]
