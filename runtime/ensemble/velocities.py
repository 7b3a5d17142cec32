"""Cases that differ in the velocities of their bodies alone: their initial states as arrays."""

from __future__ import annotations

import numpy as np

from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.layout import STATE, V
from runtime.dynamics.projection import worst_of_all
from runtime.ensemble.cases import Cases
from runtime.ensemble.task import Task
from runtime.support.arrays import Bools, Floats
from runtime.system.assemble import POSITION_TOLERANCE, VELOCITY_TOLERANCE
from runtime.system.joint_cases import with_consistent_velocities
from runtime.system.state import PARTS
from runtime.system.system import System


def only_velocities(task: Task, cases: Cases) -> bool:
    """Whether cases of a system differ in velocities alone, at a time at which its drivers are where the state has them."""
    system, how = task.system, task.how
    if not isinstance(system, System) or any(task.quantities[name].part not in ("v", "omega") for name in cases):
        return False
    return not (task.assemble and system.drivers and how.t_start != system.time)


def states_with_velocities(task: Task, cases: Cases) -> tuple[Floats, Bools]:
    """Initial states (cases, 13 bodies), and which of them surely satisfy the rows."""
    system, start = task.system, task.how.t_start
    assert isinstance(system, System)
    count = len(next(iter(cases.values())))
    states = np.tile(system.state.y, (count, 1))
    for name, values in cases.items():
        quantity = task.quantities[name]
        o, place = STATE * system.body_index(quantity.owner), PARTS[quantity.part]
        states[:, o + place.start : o + place.stop] = values
    work = shared_workspace_for(system.data)
    if task.assemble:
        states = with_consistent_velocities(system, start, states)
    worst = np.zeros((count, 2))
    worst_of_all(start, states, system.data, work, worst)
    speed = np.abs(states.reshape(count, -1, STATE)[:, :, V:]).max(axis=(1, 2))
    return states, (worst[:, 0] <= POSITION_TOLERANCE) & (worst[:, 1] <= VELOCITY_TOLERANCE * np.maximum(1.0, speed))
