"""Ranges of coordinates that limits and stops of a system state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.layout import STATE, P, R, V
from runtime.dynamics.lift import lift_all, lift_workspace
from runtime.dynamics.limits import angles_of_limits
from runtime.support.arrays import Floats
from runtime.system.joint_motion import FULL_TURN
from runtime.system.limits_along import random_coordinates
from runtime.system.parts import GROUND
from runtime.system.reference import rotation_matrices
from runtime.system.spanning_tree import TreeSteps, tree_data
from runtime.system.system import System
from runtime.system.trees import trees_of

SAME = 1e-9  # [rad], [m]
STOPS = ("hinge_stop", "stop")  # kinds of forces that end a range


class _Measured(NamedTuple):
    """Name of a limit or stop; what it measures in sample states, (samples,) [rad] or [m]; its range; whether it is an angle."""

    name: str
    value: Floats
    lower: float
    upper: float
    turn: bool


def coordinate_ranges(system: System) -> tuple[dict[str, tuple[float, float]], tuple[str, ...]]:
    """Ranges of coordinates by name, such as "knee.angle", with the signs of the joints; and limits that state none.

    Ranges are those of limits of hinges and universal joints, and of the forces ``hinge_stop`` and ``stop``, also of files.  A
    limit belongs to a coordinate where its angle or distance is linear in it; that is found at random coordinates.  Cones of
    balls, and stops between bodies that several coordinates move, state none.
    """
    tree = trees_of(system).of_joints
    if tree is None or not (system.limits or any(force.kind in STOPS for force in system.forces)):
        return {}, ()
    z = random_coordinates(tree)
    states = np.empty((len(z), STATE * len(system.bodies)))
    lift_all(tree_data(tree, system.gravity), lift_workspace(len(tree.kinds)), z, states)
    found: dict[str, tuple[float, float]] = {}
    others = []
    for one in _measured(system, states):
        if (range_ := _range(tree, system, z, one)) is None:
            others.append(one.name)
            continue
        name, lower, upper = range_
        before = found.get(name, (-np.inf, np.inf))
        found[name] = max(lower, before[0]), min(upper, before[1])
    return found, tuple(others)


def _measured(system: System, states: Floats) -> Iterator[_Measured]:
    """What limits and stops measure in states (samples, 13 bodies)."""
    angles = np.empty((len(states), len(system.limits)))
    angles_of_limits(states, system.data, shared_workspace_for(system.data), angles)
    for limit, angle in zip(system.limits, angles.T, strict=True):
        ahead, behind = (float(np.arccos(point[2])) if np.any(point) else np.inf for _, point in limit.vertices)
        yield _Measured(limit.name, angle, -behind, ahead, True)
    for force in system.forces:
        if force.kind not in STOPS:
            continue
        (r_i, A_i), (r_j, A_j) = (_pose(system, body, states) for body in force.ends[:2])
        of = {name: np.asarray(value, float) for name, value in force.values.items()}
        a = A_i @ of["a_i"]
        if force.kind == "stop":
            distance = ((r_j + A_j @ of["s_j"] - r_i - A_i @ of["s_i"]) * a).sum(axis=1)
            yield _Measured(force.name, distance, float(of["clearance"]), np.inf, False)
            continue
        b, c = A_i @ of["b_i"], A_j @ of["c_j"]
        angle = np.arctan2((c * np.cross(a, b)).sum(axis=1), (c * b).sum(axis=1))
        middle, half = float(of["middle"]), float(of["half_range"])
        near = angle + FULL_TURN * np.round((middle - angle[0]) / FULL_TURN)
        yield _Measured(force.name, near, middle - half, middle + half, True)


def _pose(system: System, body: str, states: Floats) -> tuple[Floats, Floats]:
    if body == GROUND:
        return np.zeros((len(states), 3)), np.tile(np.eye(3), (len(states), 1, 1))
    own = states.reshape(len(states), -1, STATE)[:, system.body_index(body)]
    return own[:, R:P], rotation_matrices(own[:, P:V])


def _range(tree: TreeSteps, system: System, z: Floats, one: _Measured) -> tuple[str, float, float] | None:
    """The coordinate along which a measured value changes, and its range; None if there is none."""
    for coordinate, kind, place in zip(tree.coordinates, tree.kinds, tree.places[0], strict=False):
        if (
            kind != ("turn" if one.turn else "slide")
            or not coordinate.joint
            or not np.isfinite([one.lower, one.upper]).any()
        ):
            continue
        q = coordinate.sign * z[:, place]
        for slope in (1.0, -1.0) if one.turn else ((one.value[1] - one.value[0]) / q[1],):
            off = one.value - one.value[0] - slope * q
            if one.turn:
                off -= FULL_TURN * np.round(off / FULL_TURN)
            if abs(slope) > SAME and np.abs(off).max() < SAME:
                ends = sorted((end - one.value[0]) / slope for end in (one.lower, one.upper))
                own = list(system.joint_motions[coordinate.joint].units)[coordinate.place]
                return f"{coordinate.joint}.{own}", float(ends[0]), float(ends[1])
    return None
