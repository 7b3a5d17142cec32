"""What changes its sign at corners of the laws of all forces of a tree, for LANES cases side by side."""

from __future__ import annotations

from functools import partial
from typing import Any

from runtime.integrate.written.acting_forces import ActingForces, acting_forces
from runtime.integrate.written.placed_bodies import Places
from runtime.integrate.written.tree_forces import ForcesOnSteps
from runtime.jit.recorder import Number
from runtime.lanes.written_function import address_of_lanes, text_of_lane
from runtime.support.arrays import Ints
from runtime.support.latest import Latest
from runtime.system.system import System

AXES = dict(z=1, signals=2, parameters=2, out=1)  # of the arrays
NAME = "corners_of_forces"  # of the function of the text


def count_of_corners(system: System) -> int:
    """Number of the corners of all forces."""
    return int(system.data.forces.corner[-1])


def _address(system: System) -> int:
    acting = acting_forces(system)
    return address_of_lanes(
        NAME, AXES, partial(_write, acting), __name__, "the corners of forces in a batch", *acting.text()
    )


def _write(acting: ActingForces, code: Any, data: dict[str, Any]) -> None:
    forces, row = ForcesOnSteps(Places(code, acting, data)), 0
    for k, force in enumerate(acting.forces):
        if force.module.CORNERS == 0:
            continue
        out: dict[int, Number] = {}
        forces.call_force("corners", k, force, out)
        for c in range(force.module.CORNERS):
            code.store(out[c], data["out"], row + c)
        row += force.module.CORNERS


_addresses = Latest(_address, 8)


def corners_of(system: System) -> tuple[int, Ints]:
    """Address in this process of the function of all corners, 0 where there are none, and which are jumps of angles, (corners,).

    It takes the addresses of z, signals and parameters as the function of ``tree_forces.address_of_forces``, and of its result
    (corners,).
    """
    jump = system.data.forces.jump
    return _addresses(system) if len(jump) else 0, jump


def text_of_corners(system: System) -> str:
    """A function of Python for one lane, as the function of ``corners_of``, for the compilers of other machines."""
    if count_of_corners(system) == 0:
        return ""
    return text_of_lane(NAME, AXES, partial(_write, acting_forces(system)))
