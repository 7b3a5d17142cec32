"""Kinks of all forces of a tree, and angles of forces and motors, for LANES vectorised cases.

Numbers that change their sign at kinks of laws, and the angles whose revolutions are counted.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from runtime.dynamics import force_elements
from runtime.integrate.written.acting_forces import OF_PIECE, ActingForces, ActingKernel, Written
from runtime.integrate.written.placed_bodies import Places
from runtime.integrate.written.tree_forces import ForcesOnSteps
from runtime.jit.recorder import Number
from runtime.lanes.vector_formulas import with_vectors
from runtime.support.arrays import Ints
from runtime.system.system import System

AXES = dict(z=1, signals=2, parameters=2, out=1)  # of the arrays
NAME, ANGLES = "kinks_of_forces", "angles_of_forces"  # of the functions of the texts
WORDS = "the kinks of forces in a batch"
beyond_knot = with_vectors(force_elements.beyond_knot)


def _write_kinks(only: int | None, acting: ActingForces, code: Any, data: dict[str, Any]) -> None:
    """Write the kinks of all forces, or of one of them, at their places among all."""
    forces, row = ForcesOnSteps(Places(code, acting, data)), 0
    for k, force in enumerate(acting.forces):
        count = force.module.KINKS + sum(pieces - 1 for _, pieces in force.tables)
        if count and only in (None, k):
            _put_kinks(forces, k, force, row)
        row += count


def _put_kinks(forces: ForcesOnSteps, k: int, force: ActingKernel, row: int) -> None:
    out: dict[int, Number] = {}
    arguments, count = forces.call_force("kinks", k, force, out), force.module.KINKS
    found = [out[c] for c in range(count)]
    for n, (_, pieces) in enumerate(force.tables):
        first = forces.at.rows.of("table", k, n)
        knots = [forces.at.load("parameters", first + OF_PIECE * p) for p in range(pieces)]
        found += [beyond_knot(arguments[n], knot, out[count + n]) for knot in knots[1:]]
    for c, number in enumerate(found):
        forces.code.store(number, forces.at.data["out"], row + c)


def _write_angles(acting: ActingForces, code: Any, data: dict[str, Any]) -> None:
    forces = ForcesOnSteps(Places(code, acting, data))
    for k, force in enumerate(acting.forces):
        out: dict[int, Number] = {}
        if force.angles:
            forces.call_force("angles", k, force, out)
        for c in range(len(force.angles)):
            code.store(out[c], data["out"], force.first_angle + c)
    for k, motor in enumerate(acting.motors):
        if motor.angles:
            code.store(forces.measure_motor(k, motor)[0], data["out"], motor.first_angle)


@cache
def _kinks(only: int | None = None) -> Written:
    return Written(NAME if only is None else f"{NAME}_{only}", AXES, __name__, WORDS, partial(_write_kinks, only))


_ANGLES = Written(ANGLES, AXES, __name__, WORDS, _write_angles)


def kinks_of(system: System, *, gpu: bool) -> tuple[Ints, Ints]:
    """Addresses in this process of the functions of kinks, one for each force that has some; and which gives each kink.

    They take the addresses of z, signals and parameters as ``tree_forces.FORCES``, and of the kinks of all forces, of which each
    puts its own.  The one of a graphics processor, which is no machine code here, puts all.
    """
    counts = np.diff(system.data.forces.kink)
    having = np.flatnonzero(counts)
    if gpu:
        return np.zeros(min(len(having), 1), np.int64), np.zeros(counts.sum(), np.int64)
    addresses = [_kinks(k).address(system) for k in having.tolist()]
    return np.array(addresses, np.int64), np.repeat(np.arange(len(having)), counts[having])


def _count_of_angles(system: System) -> int:
    return sum(motor.winds for motor in system.motors) + sum(force.module.ANGLES for force in system.forces)


def angles_of(system: System) -> tuple[int, int]:
    """Address in this process of the function of all angles, as those of ``kinks_of``, 0 where there are none; their number."""
    count = _count_of_angles(system)
    return _ANGLES.address(system) if count else 0, count


def text_of_kinks(system: System) -> str:
    """A function of Python for one lane, as those of ``kinks_of`` for all forces, for the compilers of other machines."""
    return _kinks().text(system) if system.data.forces.kink[-1] else ""


def text_of_angles(system: System) -> str:
    """Likewise, as the function of ``angles_of``."""
    return _ANGLES.text(system) if _count_of_angles(system) else ""
