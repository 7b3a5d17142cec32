"""The transition velocity of friction, and the tolerances that it asks for.

Friction goes from none to full within the transition velocity, so that a velocity whose error exceeds the transition velocity
gives any friction.  Radau
bounds the tolerance of the velocities of the bodies concerned; other methods are refused where their tolerance is above it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import OMEGA, STATE, V
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.kept import kept
from runtime.system.parts import GROUND
from runtime.system.system import System

EXPLICIT = ("dop853", "RK23", "RK45", "DOP853")  # methods whose steps are bounded by the stiffness of friction
LEAST_TRANSITION_VELOCITY = 1e-6  # [m/s] or [rad/s] that they are let to resolve
TRANSITION_VELOCITY = "transition_velocity"  # the parameter of a friction
PART = 0.01  # of the transition velocity: the largest tolerance of velocities at which friction that holds keeps two digits


class TransitionVelocity(NamedTuple):
    """The transition velocity of a contact or a force, [m/s] or [rad/s], and the bodies whose velocities it concerns."""

    owner: str
    value: float
    bodies: tuple[str, ...]


@kept
def transition_velocities_of(system: System) -> list[TransitionVelocity]:
    """The transition velocities of all frictions that are not zero."""
    found = [
        TransitionVelocity(f"contact '{c.name}'", float(c.parameters[TRANSITION_VELOCITY]), (c.body, c.plane))
        for c in system.contacts
        if c.friction
    ]
    return found + [
        TransitionVelocity(f"force '{f.name}'", f.values[TRANSITION_VELOCITY], f.bodies)
        for f in system.forces
        if TRANSITION_VELOCITY in f.values
    ]


def bounds_of_tolerances(system: System) -> Floats:
    """Upper bounds (13 bodies,) of the tolerances of a state: for velocities a part of the smallest transition velocity."""
    bounds = np.full(STATE * len(system.bodies), np.inf)
    for transition_velocity in transition_velocities_of(system):
        for body in set(transition_velocity.bodies) - {GROUND}:
            first = STATE * system.body_index(body)
            place = slice(first + V, first + OMEGA + 3)
            bounds[place] = np.minimum(bounds[place], PART * transition_velocity.value)
    return bounds


def sticks(system: System) -> bool:
    """Whether a friction has a transition velocity that only implicit methods resolve."""
    return (
        min((transition_velocity.value for transition_velocity in transition_velocities_of(system)), default=np.inf)
        < LEAST_TRANSITION_VELOCITY
    )


def refuse_transition_velocities(system: System, method: str, rtol: float, atol: float) -> None:
    """Refuse explicit methods for friction that sticks, and tolerances above a transition velocity for all methods but radau.

    Raises
    ------
    ModelError
    """
    if system.joint_coordinates_only and method == "auto":
        method = "dop853"
    radau = "" if system.joint_coordinates_only else "method='radau', or "  # which knows no joint coordinates
    for owner, transition_velocity, bodies in sorted(transition_velocities_of(system), key=lambda found: found.value):
        if method in EXPLICIT and transition_velocity < LEAST_TRANSITION_VELOCITY:
            raise ModelError(
                f"{owner}: transition_velocity = {transition_velocity:g}, for which the explicit method '{method}' would need "
                f"steps far below a microsecond; use {radau}a transition velocity of {LEAST_TRANSITION_VELOCITY:g} or more"
            )
        if method in ("radau", "auto"):
            continue
        moving = [name for name in bodies if name != GROUND]
        y = system.state.y.reshape(-1, STATE)[[system.body_index(name) for name in moving]]
        tolerance = atol + rtol * float(np.abs(y[:, V : OMEGA + 3]).max())
        if tolerance > transition_velocity:
            raise ModelError(
                f"{owner}: transition_velocity = {transition_velocity:g} is below {tolerance:.2g}, the tolerance of velocities "
                f"at the start, so that friction would change with the error of a step; use {radau}lower rtol and atol, or a "
                "larger transition velocity"
            )
