"""Quantities that follow from states of the bodies and their accelerations, of a run or of many cases in rows.

Those of frames, accelerations of the coordinates of joints, mechanics over these, and those of the whole system.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import P, V
from runtime.results.coordinate_quantities import COORDINATE_QUANTITIES, INVERSE_DYNAMICS, coordinate_value
from runtime.results.joint_angles import poses_of
from runtime.results.result_quantities import SYSTEM_QUANTITIES
from runtime.support.arrays import Floats
from runtime.system.frames import frame_motion
from runtime.system.joint_motion import accelerations
from runtime.system.momentum import centre_of_mass, momentum, moving_bodies
from runtime.system.orientation import euler_parameters
from runtime.system.parts import GROUND
from runtime.system.quantity import ACCELERATION, Quantity
from runtime.system.reference import body_places, states_with_ground
from runtime.system.state import STATE_UNITS
from runtime.system.system import System
from runtime.system.tree_coordinates import products


class Rows(NamedTuple):
    """States in rows: times of a run, or times of cases one case after the other."""

    states: Floats  # (n, bodies, 13)
    v_dot: Callable[[], Floats]  # returns accelerations (n, bodies, 6) of centres of mass and of turns
    mass: Floats  # (bodies,), or (n, bodies) where the cases have masses of their own
    inertia: Floats  # (bodies, 3, 3), or (n, bodies, 3, 3)
    counted: Callable[[], Mapping[str, Floats]]  # returns coordinates by name (n,), where whole turns are known


def rows_of(
    system: System, states: Floats, v_dot: Callable[[], Floats], counted: Callable[[], Mapping[str, Floats]] = dict
) -> Rows:
    """Rows of states (n, bodies, 13) of one system."""
    return Rows(states, v_dot, system.data.mass[1:], system.data.inertia[1:], counted)


def needs_accelerations(quantity: Quantity) -> bool:
    """Whether a quantity of ``value_in_rows`` needs those."""
    of_frame = quantity.owner_sort == "frame" and quantity.part not in STATE_UNITS
    return of_frame or quantity.part in (ACCELERATION, INVERSE_DYNAMICS)


def value_in_rows(system: System, quantity: Quantity, rows: Rows) -> Floats | None:
    """A quantity (n, ...); None where it does not follow from these rows."""
    if quantity.part in COORDINATE_QUANTITIES:
        return coordinate_value(system, quantity, rows.states, rows.counted(), rows.v_dot)
    if quantity.owner_sort == "frame":
        return _of_frame(system, quantity, rows)
    if quantity.part == ACCELERATION:
        return _acceleration(system, quantity, rows)
    if quantity.part not in SYSTEM_QUANTITIES:
        return None
    moving = moving_bodies(system)
    states, mass, inertia = rows.states[:, moving], rows.mass[..., moving], rows.inertia[..., moving, :, :]
    if quantity.part == "centre_of_mass":
        return centre_of_mass(mass, states[..., :P])
    linear, angular = np.split(momentum(mass, inertia, states), 2, axis=1)
    return linear if quantity.part == "momentum" else angular


def _of_frame(system: System, quantity: Quantity, rows: Rows) -> Floats:
    frame = next(one for one in system.frames if one.name == quantity.owner)
    body = states_with_ground(rows.states.reshape(len(rows.states), -1))[:, body_places(system.body_names)[frame.body]]
    if quantity.part == "p":
        return products(body[:, P:V], np.broadcast_to(euler_parameters(frame.A, "frame"), (len(body), 4)))
    r, _, v, omega = frame_motion(frame, body)
    if not needs_accelerations(quantity):
        return {"r": r, "v": v, "omega": omega}[quantity.part]
    if frame.body == GROUND:
        return np.zeros_like(r)
    a, alpha = np.split(rows.v_dot()[:, system.body_index(frame.body)], 2, axis=1)
    if quantity.part == "omega_dot":
        return alpha
    arm = r - body[:, :P]
    return np.asarray(a + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm)))


def _acceleration(system: System, quantity: Quantity, rows: Rows) -> Floats:
    joint, _, column = quantity.owner.rpartition(".")
    motion = system.joint_motions[joint]
    poses, *states = poses_of(system, motion, rows.states)
    ends = (motion.joint.body_i, motion.joint.body_j)
    v_dot = rows.v_dot()
    still = np.zeros((len(rows.states), 6))
    own = [still if body == GROUND else v_dot[:, system.body_index(body)] for body in ends]
    return accelerations(motion, poses, *states, *own)[:, list(motion.units).index(column)]
