"""Kinks of all forces of a tree, and angles of forces and motors, for LANES vectorised cases.

Numbers that change their sign at kinks of laws, and the angles whose revolutions are counted.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from runtime.integrate.written.acting_forces import ActingForces, Written
from runtime.integrate.written.placed_bodies import Places
from runtime.integrate.written.tree_forces import ForcesOnSteps
from runtime.jit.recorder import Number
from runtime.system.system import System

AXES = dict(z=1, signals=2, parameters=2, out=1)  # of the arrays
NAME, ANGLES = "kinks_of_forces", "angles_of_forces"  # of the functions of the texts
OF_FORCES = {NAME: ("kinks", "KINKS"), ANGLES: ("angles", "ANGLES")}  # kernel, and number of what it gives


def _count(system: System, name: str) -> int:
    of_motors = sum(motor.winds for motor in system.motors) if name == ANGLES else 0
    return of_motors + sum(getattr(force.module, OF_FORCES[name][1]) for force in system.forces)


def _write(name: str, acting: ActingForces, code: Any, data: dict[str, Any]) -> None:
    forces, row, (kernel, sort) = ForcesOnSteps(Places(code, acting, data)), 0, OF_FORCES[name]
    for k, force in enumerate(acting.forces):
        if not (count := getattr(force.module, sort)):
            continue
        out: dict[int, Number] = {}
        forces.call_force(kernel, k, force, out)
        for c in range(count):
            code.store(out[c], data["out"], row + c)
        row += count
    for k, motor in enumerate(acting.motors):
        if name == ANGLES and motor.angles:
            code.store(forces.measure_motor(k, motor)[0], data["out"], motor.first_angle)


_WRITTEN = {
    name: Written(name, AXES, __name__, "the kinks of forces in a batch", partial(_write, name)) for name in OF_FORCES
}


def kinks_of(system: System, name: str = NAME) -> tuple[int, int]:
    """Address in this process of the function of all kinks, or of all angles; 0 where there are none; and their number.

    It takes the addresses of z, signals and parameters as ``tree_forces.FORCES``, and of its result.
    """
    count = _count(system, name)
    return _WRITTEN[name].address(system) if count else 0, count


def text_of_kinks(system: System, name: str = NAME) -> str:
    """A function of Python for one lane, as the function of ``kinks_of``, for the compilers of other machines."""
    return _WRITTEN[name].text(system) if _count(system, name) else ""
