"""Cases that differ in the velocities of their bodies alone: their initial states as arrays."""

from __future__ import annotations

import numpy as np

from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.layout import ROWS, STATE, V
from runtime.dynamics.projection import worst_of_all
from runtime.ensemble.cases import Cases
from runtime.ensemble.joint_batch import in_joints, of_bodies
from runtime.ensemble.task import Task
from runtime.integrate.tree_method import OFF_THE_ROWS, off_the_rows, tree_of_lanes
from runtime.lanes.velocity_rows import (
    LinearRows,
    VelocityRows,
    find_rates,
    linear_rows,
    rates_of_rows,
)
from runtime.support.arrays import Bools, Floats, frozen
from runtime.support.latest import Latest
from runtime.system.assemble import POSITION_TOLERANCE, VELOCITY_TOLERANCE
from runtime.system.joint_cases import with_consistent_velocities
from runtime.system.state import PARTS
from runtime.system.system import System


def only_velocities(task: Task, cases: Cases) -> bool:
    """Whether cases of a system differ in velocities alone, at a time at which its drivers are where the state has them."""
    system = task.system
    if not isinstance(system, System) or any(task.quantities[name].part not in ("v", "omega") for name in cases):
        return False
    return not task.assemble or task.starts_in_time(system)


def states_with_velocities(task: Task, cases: Cases) -> tuple[Floats, Bools]:
    """Initial states (cases, 13 bodies), and which of them surely satisfy the rows."""
    system, start = task.system, task.how.t_start
    assert isinstance(system, System)
    states = _states(system, _velocities(task, system, cases).T.reshape(-1, len(system.bodies), STATE - V))
    worst = np.zeros((len(states), 2))
    worst_of_all(start, states, system.data, shared_workspace_for(system.data), worst)
    speed = np.abs(states.reshape(len(states), -1, STATE)[:, :, V:]).max(axis=(1, 2))
    return states, (worst[:, 0] <= POSITION_TOLERANCE) & (worst[:, 1] <= VELOCITY_TOLERANCE * np.maximum(1.0, speed))


def coordinates_with_velocities(task: Task, cases: Cases) -> tuple[Floats, Bools]:
    """Coordinates and rates (cases, n) of a tree, and for which cases they surely are those of states that satisfy the rows.

    The start of the runs is in time for the system (``Task.starts_in_time``).
    """
    system = task.system
    assert isinstance(system, System)
    q, rows, fits = _of_pose(system)
    v = _velocities(task, system, cases)
    count, n = v.shape[1], len(q)
    u, speed, value, beyond = np.empty((len(rows.rates.offset), count)), *(np.empty(count) for _ in range(3))
    find_rates(rows, v, u, speed, value, beyond)
    z = np.empty((count, n + len(u)))
    z[:, :n], z[:, n:] = q, u.T
    return z, (beyond == 0.0) & fits


def _velocities(task: Task, system: System, cases: Cases) -> Floats:
    """Velocities (6 bodies, cases) of all bodies; with ``assemble``, projected onto the constraints."""
    count, bodies = len(next(iter(cases.values()))), len(system.bodies)
    found = np.tile(system.state.y.reshape(bodies, STATE)[:, V:, None], (1, 1, count))
    for name, values in cases.items():
        quantity = task.quantities[name]
        place = PARTS[quantity.part]
        found[system.body_index(quantity.owner), place.start - V : place.stop - V] = values.T
    if task.assemble:
        states = _states(system, np.moveaxis(found, 2, 0))
        states = with_consistent_velocities(system, task.how.t_start, states)
        found[:] = np.moveaxis(states.reshape(count, bodies, STATE)[..., V:], 0, 2)
    return found.reshape(-1, count)


def _states(system: System, velocities: Floats) -> Floats:
    """States (n, 13 bodies) in the pose of a system with velocities (n, bodies, 6)."""
    count, bodies = velocities.shape[:2]
    states = np.empty((count, bodies, STATE))
    states[:] = system.state.y.reshape(bodies, STATE)
    states[..., V:] = velocities
    return states.reshape(count, -1)


def _made(system: System) -> tuple[Floats, VelocityRows, bool]:
    """Coordinates of the pose of a system, its rows, and whether the pose satisfies them."""
    bodies, everywhere = len(system.bodies), [(system, np.arange(1))]
    rest = _states(system, np.zeros((1, bodies, STATE - V)))
    n = tree_of_lanes(system).places[0][-1]
    q = in_joints(everywhere, rest)[0, :n]
    units = np.eye((STATE - V) * bodies)
    moving = _states(system, np.concatenate([np.zeros_like(units[:1]), units]).reshape(-1, bodies, STATE - V))
    found = np.zeros((len(moving), 1 + ROWS * len(system.joints)))
    rates_of_rows(system.time, moving, system.data, shared_workspace_for(system.data), found)
    rates = in_joints([(system, np.arange(len(moving)))], moving)[:, n:]
    count = rates.shape[1]
    z = np.hstack([np.tile(q, (1 + count, 1)), np.vstack([np.zeros(count), np.eye(count)])])
    lifted = of_bodies([(system, np.arange(len(z)))], z[:, None])[:, 0]
    velocities = lifted.reshape(len(z), bodies, STATE)[..., V:].reshape(len(z), -1)
    pose = rest[0].reshape(bodies, STATE)[:, :V]
    rows = VelocityRows(
        violated=_linear(found[:, 1:]), rates=_linear(rates), lifted=_linear(velocities),
        least=np.array([1.0, max(1.0, np.abs(pose).max())]), tolerance=np.array([VELOCITY_TOLERANCE, OFF_THE_ROWS]),
    )  # fmt: skip
    fits = found[0, 0] <= POSITION_TOLERANCE and off_the_rows(lifted[0], rest[0]) <= OFF_THE_ROWS
    return q, frozen(rows), bool(fits)


def _linear(values: Floats) -> LinearRows:
    """Linear functions by their values (1 + variables, rows) at 0 and at units."""
    return linear_rows(values[0], (values[1:] - values[0]).T)


_of_pose = Latest(_made, 4)
