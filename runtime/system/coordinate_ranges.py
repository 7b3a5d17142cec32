"""Ranges of coordinates that limits and stops of a system state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from runtime.dynamics.derived import NO_ANGLES, derived
from runtime.dynamics.equations import shared_workspace_for, workspace_for
from runtime.dynamics.force_elements import REPORTS
from runtime.dynamics.layout import STATE
from runtime.dynamics.lift import lift_all, lift_workspace
from runtime.dynamics.limits import angles_of_limits
from runtime.support.arrays import Floats
from runtime.system.force_states import vector_of
from runtime.system.limits_along import linear_in, random_coordinates
from runtime.system.spanning_tree import TreeSteps, tree_data
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.trees import trees_of

STOPS = ("hinge_stop", "stop")  # kinds of forces that end a range


class _Measured(NamedTuple):
    """Name of a limit or stop; what it measures in sample states, (samples,) [rad] or [m]; its range; the kind of step."""

    name: str
    value: Floats
    lower: float
    upper: float
    kind: str  # "turn" of an angle, "slide" of a distance


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
        yield _Measured(limit.name, angle, -behind, ahead, "turn")
    stops = [(k, force) for k, force in enumerate(system.forces) if force.kind in STOPS]
    outputs = _outputs_of_forces(system, states) if stops else np.zeros(0)
    for k, force in stops:
        reported = list(force.outputs).index("distance" if force.kind == "stop" else "angle")
        values = outputs[:, k, REPORTS + reported]
        if force.kind == "stop":
            yield _Measured(force.name, values, force.values["clearance"], np.inf, "slide")
        else:
            middle, half = force.values["middle"], force.values["half_range"]
            yield _Measured(force.name, values, middle - half, middle + half, "turn")


def _outputs_of_forces(system: System, states: Floats) -> Floats:
    """Outputs (samples, forces, ...) of the forces in states (samples, 13 bodies)."""
    times, y = np.full(len(states), system.time), [vector_of(system, State(system.body_names, one)) for one in states]
    no_contacts = np.zeros((0, 4))
    return derived(times, np.array(y), NO_ANGLES, no_contacts, system.data, workspace_for(system.data)).force_outputs


def _range(tree: TreeSteps, system: System, z: Floats, one: _Measured) -> tuple[str, float, float] | None:
    """The coordinate along which a measured value changes, and its range; None if there is none."""
    if not np.isfinite([one.lower, one.upper]).any() or (found := linear_in(tree, z, one.value, one.kind)) is None:
        return None
    coordinate = tree.coordinates[found[0]]
    ends = sorted((end - one.value[0]) / (coordinate.sign * found[1]) for end in (one.lower, one.upper))
    own = list(system.joint_motions[coordinate.joint].units)[coordinate.place]
    return f"{coordinate.joint}.{own}", float(ends[0]), float(ends[1])
