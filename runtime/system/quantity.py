"""Named quantities: parameters, parts of the initial state, arguments of building functions.

Examples: "mass.toes", "omega.main_foot", "link_length".
This module alone splits names at the dot: ``parse`` where only the name is known, ``quantities`` where the system is known.
Units and shapes come from the definitions of the system's parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from runtime.support.arguments import checked
from runtime.support.arrays import read_only
from runtime.support.kept import kept
from runtime.system.contact_building import contact_bounds, contact_units, parameter_of
from runtime.system.limit_building import limit_bounds
from runtime.system.parts import Bounds, Force, Joint, Motor, unit_with_metres
from runtime.system.state import PARTS, STATE_UNITS
from runtime.system.system import System

GRAVITY, INERTIA, LATITUDES, ARMATURE = "gravity", "inertia", "latitudes", "armature"
BODY_UNITS = {"mass": "kg", INERTIA: "kg m^2"}
POSITIVE: Bounds = (0.0, True, None, "")
NOT_NEGATIVE: Bounds = (0.0, False, None, "")
MOTOR_PARTS, EFFORT = ("stiffness", "damping"), "effort"
COORDINATES = ("angle", "rate")  # "angle.ankle.theta_i": coordinate of a joint in the initial state, and its rate
ACCELERATION = "acceleration"  # of a coordinate of a joint in results


class Role(Enum):
    """What a named quantity belongs to."""

    STATE = "part of the initial state"
    COORDINATE = "initial coordinate of a joint, or its rate"
    PARAMETER = "parameter of a system"
    ARGUMENT = "argument of a function that builds a system"
    OUTPUT = "result of a run over time"


class Quantity(NamedTuple):
    """A named quantity.

    ``name``: "part.owner", of a coordinate "angle.joint.coordinate"; gravity and the arguments of a function have no owner.
    ``owner_sort``: "body", "joint" (drivers included), "motor", "force", "limit" or "armature".  ``unit_length``: a unit
    vector, or Euler parameters.  ``bounds``: None for finite numbers of any size.  ``rates``: coordinates along which a result is
    given, and ``units`` of its components where they differ.  Where a parameter or an argument was parsed
    without a system, ``shape`` is None and ``unit`` and ``owner_sort`` are empty.
    """

    name: str
    part: str
    owner: str
    role: Role
    shape: tuple[int, ...] | None = None
    unit: str = ""
    owner_sort: str = ""
    unit_length: bool = False
    bounds: Bounds | None = None  # of its numbers
    rates: tuple[str, ...] = ()
    units: tuple[str, ...] = ()


@cache
def parse(name: str, *, of_system: bool = False) -> Quantity:
    """The quantity of a name.

    Parameters
    ----------
    name : str
    of_system : bool
        The name belongs to a system, which has no arguments; default: to a function that builds one.
    """
    part, dot, owner = name.partition(".")
    if dot and part in PARTS:
        shape = (PARTS[part].stop - PARTS[part].start,)
        return Quantity(name, part, owner, Role.STATE, shape, STATE_UNITS[part], "body", part == "p")
    if part in COORDINATES and "." in owner:
        return Quantity(name, part, owner, Role.COORDINATE, (), "", "joint")
    return Quantity(name, part, owner, Role.PARAMETER if dot or of_system else Role.ARGUMENT)


@kept
def quantities(system: System) -> dict[str, tuple[Quantity, Any]]:
    """The parameters of a system by name, with their values.

    Left out is a name that two parts share, such as the damping of a motor and of a limit with the same name.
    """
    found: dict[str, tuple[Quantity, Any]] = {}
    for quantity, value in _parameters(system):
        if quantity.name in found:
            del found[quantity.name]
        else:
            found[quantity.name] = quantity, value
    return found


def _parameters(system: System) -> Iterator[tuple[Quantity, Any]]:
    def parameter(
        sort: str, owner: str, part: str, unit: str, value: Any, bounds: Bounds | None = None, unit_length: bool = False
    ) -> tuple[Quantity, Any]:
        name = f"{part}.{owner}" if owner else part
        shape = value.shape if isinstance(value, np.ndarray) else ()
        return Quantity(name, part, owner, Role.PARAMETER, shape, unit, sort, unit_length, bounds), value

    def of_definitions(sort: str, owners: Sequence[Joint | Force]) -> Iterator[tuple[Quantity, Any]]:
        for owner in owners:
            for part, value in owner.values.items():
                unit, unit_length = keywords_of(owner.module)[part]
                yield parameter(sort, owner.name, part, unit, value, owner.module.BOUNDS.get(part), unit_length)

    yield parameter("", "", GRAVITY, "m/s^2", system.gravity)
    for body in system.bodies:
        yield parameter("body", body.name, "mass", BODY_UNITS["mass"], body.mass, POSITIVE)
        yield parameter("body", body.name, INERTIA, BODY_UNITS[INERTIA], body.inertia)
    yield from of_definitions("joint", system.joints)
    for motor in system.motors:
        for part, unit in zip(MOTOR_PARTS, _motor_units(motor), strict=True):
            yield parameter("motor", motor.name, part, unit, getattr(motor, part), NOT_NEGATIVE)
        if motor.effort.is_constant:
            yield parameter("motor", motor.name, EFFORT, motor.effort_unit, float(motor.effort.coefficients[0, 0]))
    yield from of_definitions("force", system.forces)
    for limit in system.limits:
        for part, bounds in limit_bounds(limit.law_module).items():
            yield parameter("limit", limit.name, part, bounds[3] or "1", limit.numbers[part], bounds)
        yield parameter("limit", limit.name, LATITUDES, "rad", read_only(np.array(limit.cone.latitudes)))
    for contact in system.contacts:
        of = contact_bounds(contact.law_module, contact.friction_module)
        for part, unit in contact_units(contact).items():
            yield parameter("contact", contact.name, part, unit, parameter_of(contact, part), of.get(part))
    for one in system.armatures:
        yield parameter("armature", one.name, ARMATURE, _armature_unit(system, one.name), one.inertia, NOT_NEGATIVE)


def _armature_unit(system: System, coordinate: str) -> str:
    joint, _, column = coordinate.rpartition(".")
    motion = system.joint_motions.get(joint)
    return "kg m^2" if motion is None or motion.units.get(column, "rad") == "rad" else "kg"


@checked
def coordinate_units(system: System) -> dict[str, str]:
    """Names of the coordinates of a system's joints and of their rates, such as "angle.ankle.theta_i" -> units.

    Units are "rad", "m", "rad/s" or "m/s".
    """
    found: dict[str, str] = {}
    angle, rate = COORDINATES
    for joint, motion in system.joint_motions.items():
        for column, unit in motion.units.items():
            found |= {f"{angle}.{joint}.{column}": unit, f"{rate}.{joint}.{column}": f"{unit}/s"}
    return found


def initial_coordinates(system: System) -> list[str]:
    """Names of the coordinates of a system's joints in its initial state, such as "angle.ankle.theta_i"."""
    return [name for name in coordinate_units(system) if name.startswith(f"{COORDINATES[0]}.")]


@cache
def keywords_of(module: ModuleType) -> dict[str, tuple[str, bool]]:
    """Unit of each vector, constant and table of the definition of a joint or force, and whether it is a direction."""
    units = {part: ("m" if kind == "point" else "1", kind == "direction") for part, kind, _ in module.VECTORS}
    for part, unit in module.PARAMETERS:  # of joints the power of metres
        units[part] = (unit if isinstance(unit, str) else unit_with_metres("", unit)), False
    return units | {part: (unit, False) for part, unit in getattr(module, "TABLE_UNITS", {}).items()}


def _motor_units(motor: Motor) -> tuple[str, str]:
    """Units of a motor's stiffness and damping; its coordinate is an angle [rad] or a power of metres."""
    (power,) = motor.joint.module.UNITS
    if power == 0:
        return "N m/rad", "N m s/rad"
    # Half the stiffness times the squared coordinate is an energy [N m].
    return unit_with_metres("N", 1 - 2 * power), unit_with_metres("N s", 1 - 2 * power)
