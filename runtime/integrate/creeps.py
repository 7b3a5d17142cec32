"""The creep of friction, and the tolerances that it asks for.

Friction goes from none to full within the creep, so that a velocity whose error exceeds the creep gives any friction.  Radau
bounds the tolerance of the velocities of the bodies concerned; other methods are refused where their tolerance is above it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import OMEGA, STATE, V
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.parts import GROUND
from runtime.system.system import System

EXPLICIT = ("dop853", "RK23", "RK45", "DOP853")  # methods whose steps are bounded by the stiffness of friction
LEAST_CREEP = 1e-6  # [m/s] or [rad/s] that they are let to resolve
CREEP = "creep"  # the parameter of a friction
PART = 0.01  # of the creep: the largest tolerance of velocities at which friction that holds keeps two digits


class Creep(NamedTuple):
    """The creep of a contact or a force, [m/s] or [rad/s], and the bodies whose velocities it concerns."""

    owner: str
    value: float
    bodies: tuple[str, ...]


def creeps_of(system: System) -> list[Creep]:
    """The creeps of all frictions that are not zero."""
    found = [
        Creep(f"contact '{c.name}'", float(c.parameters[CREEP]), (c.body, c.plane))
        for c in system.contacts
        if c.friction
    ]
    return found + [Creep(f"force '{f.name}'", f.values[CREEP], f.bodies) for f in system.forces if CREEP in f.values]


def bounds_of_tolerances(system: System) -> Floats:
    """Upper bounds (13 bodies,) of the tolerances of a state: for velocities a part of the smallest creep of the body."""
    bounds = np.full(STATE * len(system.bodies), np.inf)
    for creep in creeps_of(system):
        for body in set(creep.bodies) - {GROUND}:
            first = STATE * system.body_index(body)
            place = slice(first + V, first + OMEGA + 3)
            bounds[place] = np.minimum(bounds[place], PART * creep.value)
    return bounds


def sticks(system: System) -> bool:
    """Whether a friction has a creep that only implicit methods resolve."""
    return min((creep.value for creep in creeps_of(system)), default=np.inf) < LEAST_CREEP


def refuse_creeps(system: System, method: str, rtol: float, atol: float) -> None:
    """Refuse explicit methods for friction that sticks, and tolerances above a creep for all methods but radau.

    Raises
    ------
    ModelError
    """
    if system.joint_coordinates_only and method == "auto":
        method = "dop853"
    radau = "" if system.joint_coordinates_only else "method='radau', or "  # which knows no joint coordinates
    for owner, creep, bodies in sorted(creeps_of(system), key=lambda found: found.value):
        if method in EXPLICIT and creep < LEAST_CREEP:
            raise ModelError(
                f"{owner}: creep = {creep:g}, for which the explicit method '{method}' would need steps far below a "
                f"microsecond; use {radau}a creep of {LEAST_CREEP:g} or more"
            )
        if method in ("radau", "auto"):
            continue
        moving = [name for name in bodies if name != GROUND]
        y = system.state.y.reshape(-1, STATE)[[system.body_index(name) for name in moving]]
        tolerance = atol + rtol * float(np.abs(y[:, V : OMEGA + 3]).max())
        if tolerance > creep:
            raise ModelError(
                f"{owner}: creep = {creep:g} is below {tolerance:.2g}, the tolerance of velocities at the start, so that "
                f"friction would change with the error of a step; use {radau}lower rtol and atol, or a larger creep"
            )
