"""Efforts of the motors of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runtime.dynamics.derived import Derived
from runtime.support.arrays import Floats, ReadOnlyArrays
from runtime.support.names import named
from runtime.system.system import System


@dataclass(frozen=True)
class MotorMotion(ReadOnlyArrays):
    """A motor over time; arrays (n,).

    ``effort`` [N m], along a slide [N]: on its coordinate, with its spring and its damper; ``unit``; ``power`` [W]: effort times
    the rate of the coordinate, the rate at which the motor does work on the bodies.
    """

    name: str
    unit: str
    effort: Floats = field(repr=False)
    power: Floats = field(repr=False)


def motor_motions(system: System, found: Derived) -> Mapping[str, MotorMotion]:
    """Motion of each motor by its name, from what is derived at the times of a run."""
    own = {
        motor.name: MotorMotion(motor.name, motor.effort_unit, effort, effort * rate)
        for motor, (effort, rate) in zip(system.motors, found.motors.transpose(1, 2, 0), strict=True)
    }
    return named("motor", own)
