"""The numbers of a system by name, such as "mass.main_foot" or "l.ankle", and the same system with others.

A system with other numbers is what ``Builder`` would make of them with the bodies placed as they are, without its check for
loose bodies, which numbers do not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.layout import GROUND_INDEX, STATE
from runtime.support.arrays import Floats, frozen
from runtime.support.checks import finite
from runtime.support.errors import ModelError
from runtime.system.assemble import assembled, branch_signs_of, change, check_velocities
from runtime.system.cone import Cone
from runtime.system.connection import checked_gain, checked_inertia, checked_mass, connection
from runtime.system.limit_building import checked_law_parameters, limit_data
from runtime.system.model_description import like_model
from runtime.system.parts import GROUND as GROUND_NAME
from runtime.system.parts import Joint
from runtime.system.rank import refuse_singular_joints, without_redundant_rows
from runtime.system.reference import ground_state, reference
from runtime.system.state import PARTS, State
from runtime.system.system import System

GRAVITY, OF_BODY, OF_MOTOR = "gravity", ("mass", "inertia"), ("stiffness", "damping")
OF_LIMIT, LATITUDES = ("max_moment", "compliance", "damping"), "latitudes"
UNITS = {
    "mass": "kg", "inertia": "kg m^2", GRAVITY: "m/s^2", "l": "m", "s": "m", "a": "1", "max": "N m", "compliance": "rad",
    LATITUDES: "rad",
}  # fmt: skip


def is_parameter(name: str, build: Any) -> bool:
    """A name is of a system's number: neither of its initial state, nor of an argument of the function that builds it."""
    return not is_state(name) and ("." in name or isinstance(build, System))


def is_state(name: str) -> bool:
    """A name is of a part of the initial state, such as "omega.main_foot"."""
    part, dot, _ = name.partition(".")
    return part in PARTS and bool(dot)


def unit_of(name: str) -> str:
    """Unit of a number, as far as its name tells: "" for others, such as the damping of a motor, or of a limit."""
    return UNITS.get(name.partition(".")[0].split("_")[0], "")


def directions(system: System) -> set[str]:
    """Names of numbers that are unit vectors."""
    return {
        f"{key}.{joint.name}" for joint in system.joints for key, kind, _ in joint.module.VECTORS if kind == "direction"
    }


def parameters(system: System) -> dict[str, Any]:
    """Name -> value.

    "gravity" (3,) [m/s^2]; of bodies "mass.NAME" [kg], "inertia.NAME" (3, 3) [kg m^2]; of joints and drivers their keywords,
    such as "s_i.NAME" (3,) [m]; of motors "stiffness.NAME", "damping.NAME"; of limits "max_moment.NAME" [N m],
    "compliance.NAME" [rad], "damping.NAME" [N m s], "latitudes.NAME" (n,) [rad].
    """
    found: dict[str, Any] = {GRAVITY: system.gravity}
    parts: list[tuple[str, Any]] = []
    for body in system.bodies:
        parts += [(f"{key}.{body.name}", getattr(body, key)) for key in OF_BODY]
    for joint in system.joints:
        parts += [(f"{key}.{joint.name}", value) for key, value in joint.values.items()]
    for motor in system.motors:
        parts += [(f"{key}.{motor.name}", getattr(motor, key)) for key in OF_MOTOR]
    for limit in system.limits:
        parts += [(f"{key}.{limit.name}", getattr(limit, key)) for key in OF_LIMIT]
        parts.append((f"{LATITUDES}.{limit.name}", np.array(limit.cone.latitudes)))
    for name, value in parts:
        if name in found:
            del found[name]  # of a motor and of a limit: it is not clear which one is meant
        else:
            found[name] = value
    return found


def replace_parameters(system: System, values: Mapping[str, Any]) -> System:
    """The system with other numbers and the state that it had, which may violate the constraints now.

    Raises
    ------
    ModelError
        As of ``Builder``, for numbers that break a rule, and for names that are none of ``numbers``.
    """
    if not isinstance(values, Mapping):
        raise ModelError(f"numbers: {values!r} is no mapping; give names and values, such as {{'mass.toes': 0.2}}")
    known, of_owner = parameters(system), dict[str, dict[str, Any]]()
    for name, value in values.items():
        if name not in known:
            raise ModelError(f"system '{system.name}' has no number '{name}'; it has {', '.join(known)}")
        key, _, owner = name.partition(".")
        of_owner.setdefault(owner, {})[key] = value
    moved = affects_joints(system, values)
    if moved and system.redundant:
        raise ModelError(
            f"system '{system.name}': rows that repeat others were removed ({', '.join(system.redundant)}), which may be others "
            "with other joints; give the function that builds the system"
        )
    new: dict[str, Any] = {}
    data: dict[str, Any] = {}
    if "" in of_owner:
        new["gravity"] = data["gravity"] = finite(of_owner[""][GRAVITY], (3,), GRAVITY)
    _change_bodies(system, of_owner, new, data)
    _change_joints(system, of_owner, new, data)
    _change_motors(system, of_owner, new, data)
    _change_limits(system, of_owner, new, data)
    other = replace(
        system, **new, data=system.data._replace(**dict(zip(data, frozen(tuple(data.values())), strict=True)))
    )
    if moved:
        other = replace(other, branch_signs=branch_signs_of(other, other.time, other.state.y))
    if model := like_model(system.model, other.data, other.state.y):
        vars(other)["model"] = model  # in place of describing it anew, which takes as long as all before
    return other


def with_parameters(system: System, values: Mapping[str, Any]) -> System:
    """Return the system with other ``parameters``, its initial state moved onto the constraints by the least change.

    What joints hold is taken from the initial state as it is.

    Parameters
    ----------
    system : System
    values : mapping
        New values by name, such as ``{"mass.toes": 0.2, "l.ankle": 0.04}``; ``parameters(system)`` lists the names.

    Raises
    ------
    ModelError, AssemblyError
    """
    other, before = replace_parameters(system, values), system.state.y
    y, iterations, residual = assembled(other, other.time, before)
    if affects_joints(other, values):
        refuse_singular_joints(other, y)
        without_redundant_rows(other, y, "refuse")
    y = projection.project_velocities(other.time, y, other.data, workspace_for(other.data))
    check_velocities(other, other.time, y, "give other velocities")
    found = replace(
        other, state=State(other.body_names, y), assembly=change(other.body_names, before, y, iterations, residual)
    )
    if "model" in vars(other):
        vars(found)["model"] = vars(other)["model"]
    return found


def affects_joints(system: System, names: Iterable[str]) -> bool:
    """One of the numbers is of a joint, so that constraints change with it."""
    return any(name.partition(".")[2] in system.joint_names for name in names)


def _own(of_owner: Mapping[str, Mapping[str, Any]], owner: str, keys: Any) -> dict[str, Any]:
    return {key: value for key, value in of_owner.get(owner, {}).items() if key in keys}


def _change_bodies(system: System, of_owner: Mapping[str, Any], new: dict[str, Any], data: dict[str, Any]) -> None:
    bodies, t = list(system.bodies), system.data
    for k, body in enumerate(bodies):
        if not (own := _own(of_owner, body.name, OF_BODY)):
            continue
        what = f"body '{body.name}'"
        mass = checked_mass(own.get("mass", body.mass), what)
        inertia = checked_inertia(own["inertia"], what) if "inertia" in own else body.inertia
        bodies[k] = replace(body, mass=mass, inertia=inertia)
        for name, value in (("mass", mass), ("inertia", inertia), ("inertia_inverse", np.linalg.inv(inertia))):
            data.setdefault(name, getattr(t, name).copy())[k + 1] = value
    new["bodies"] = tuple(bodies)


def _change_joints(system: System, of_owner: Mapping[str, Any], new: dict[str, Any], data: dict[str, Any]) -> None:
    joints, t = list(system.joints), system.data
    for k, joint in enumerate(joints):
        if not (own := _own(of_owner, joint.name, joint.values)):
            continue
        sort = "driver" if joint.signals else "joint"
        _refuse_limited(system, sort, joint, own)
        values = {**joint.values, **joint.signals, **own}
        joints[k] = connection(sort, joint.name, joint.module, joint.body_i, joint.body_j, values, system.body_names)
        x = data.setdefault("x", t.x.copy())
        local = data.setdefault("vector_local", t.vector_local.copy())
        x[k] = 0.0
        states = _states(system)
        found = reference(joints[k], states[t.body_i[k]], states[t.body_j[k]], x[k])
        for row, (name, *_) in zip(np.flatnonzero(t.vector_joint == k), joint.module.VECTORS, strict=True):
            local[row] = found[name]
    new["joints"] = tuple(joints)


def _refuse_limited(system: System, sort: str, joint: Joint, own: Mapping[str, Any]) -> None:
    for limit in system.limits:
        if limit.joint == joint.name and (shared := [key for key in own if key in limit.module.BORROWS]):
            raise ModelError(
                f"{sort} '{joint.name}' ({joint.kind}): limit '{limit.name}' hangs on its {shared[0]}; give a function that "
                "builds the system from it"
            )


def _change_motors(system: System, of_owner: Mapping[str, Any], new: dict[str, Any], data: dict[str, Any]) -> None:
    motors, loads = list(system.motors), system.data.loads
    for k, motor in enumerate(motors):
        if not (own := _own(of_owner, motor.name, OF_MOTOR)):
            continue
        for key, given in own.items():
            value = checked_gain(given, f"motor '{motor.name}' ({motor.joint.kind}): {key}")
            changes: dict[str, Any] = {key: value}
            motors[k] = replace(motors[k], **changes)
            changes[key] = getattr(loads, key).copy()
            changes[key][k] = value
            loads = loads._replace(**changes)
    new["motors"], data["loads"] = tuple(motors), loads


def _change_limits(system: System, of_owner: Mapping[str, Any], new: dict[str, Any], data: dict[str, Any]) -> None:
    limits = list(system.limits)
    for k, limit in enumerate(limits):
        if not (own := _own(of_owner, limit.name, (*OF_LIMIT, LATITUDES))):
            continue
        what = f"limit '{limit.name}' of joint '{limit.joint}' ({system.joint(limit.joint).kind})"
        law: dict[str, Any] = checked_law_parameters(
            what, **{key: own.get(key, getattr(limit, key)) for key in OF_LIMIT}
        )
        law["values"] = MappingProxyType({**limit.values, "damping": law["damping"]})
        if LATITUDES in own:
            latitudes = finite(own[LATITUDES], (len(limit.cone.latitudes),), f"{what}: latitudes")
            law["cone"] = Cone(limit.cone.longitudes, latitudes, limit.cone.interpolation)
        limits[k] = replace(limit, **law)
        new["limits"] = tuple(limits)
    if "limits" in new:
        index = {GROUND_NAME: GROUND_INDEX} | {name: k + 1 for k, name in enumerate(system.body_names)}
        data["limits"] = limit_data(limits, index, _states(system))


def _states(system: System) -> Floats:
    return np.vstack([ground_state(), system.state.y.reshape(-1, STATE)])
