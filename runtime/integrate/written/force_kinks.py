"""Kinks of all forces of a tree, and angles of forces and motors, for LANES vectorised cases.

Numbers that change their sign at kinks of laws, and the angles whose revolutions are counted.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from runtime.dynamics import force_elements
from runtime.integrate.written.acting_forces import OF_PIECE, ActingForces, Written
from runtime.integrate.written.placed_bodies import Places
from runtime.integrate.written.tree_forces import ForcesOnSteps
from runtime.jit.recorder import Number
from runtime.lanes.vector_formulas import with_vectors
from runtime.system.system import System

AXES = dict(z=1, signals=2, parameters=2, out=1)  # of the arrays
NAME, ANGLES = "kinks_of_forces", "angles_of_forces"  # of the functions of the texts
OF_FORCES = {NAME: ("kinks", "KINKS"), ANGLES: ("angles", "ANGLES")}  # kernel, and number of what it gives
beyond_knot = with_vectors(force_elements.beyond_knot)


def _count(system: System, name: str) -> int:
    if name == NAME:
        return int(system.data.forces.kink[-1])
    return sum(motor.winds for motor in system.motors) + sum(force.module.ANGLES for force in system.forces)


def _write(name: str, acting: ActingForces, code: Any, data: dict[str, Any]) -> None:
    forces, row = ForcesOnSteps(Places(code, acting, data)), 0
    kernel, sort = OF_FORCES[name]
    for k, force in enumerate(acting.forces):
        if not hasattr(force.module, kernel):
            continue
        out: dict[int, Number] = {}
        arguments, count = forces.call_force(kernel, k, force, out), getattr(force.module, sort)
        found = [out[c] for c in range(count)]
        for n, (_, pieces) in enumerate(force.tables if name == NAME else ()):
            knots = [
                forces.at.load("parameters", forces.at.rows.of("table", k, n) + OF_PIECE * p) for p in range(pieces)
            ]
            found += [beyond_knot(arguments[n], knot, out[count + n]) for knot in knots[1:]]
        for number in found:
            code.store(number, data["out"], row)
            row += 1
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
