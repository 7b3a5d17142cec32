"""Variants of a system: built by a function from its arguments, with other parameters, with another initial state."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from runtime.support.errors import ModelError, UnknownNameError, did_you_mean, said_by, shown
from runtime.support.kept import kept
from runtime.system.assemble import assemble, check_configuration, check_velocities, moved_reference
from runtime.system.displacement import displaced
from runtime.system.parameters import joints_differ, replace_parameters
from runtime.system.quantity import Quantity, Role
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.trees import trees_of

MOVED = 1e-9  # relative to the size of a part of a state, or in its unit


def name_of(function: Any) -> str:
    """``module.function``, for messages; of a function with some arguments given, the function."""
    return shown(getattr(function, "func", function))  # functools.partial


def check_arguments(build: Callable[..., System], given: Mapping[str, Quantity], what: str) -> None:
    """Refuse names of arguments that a function does not accept, and missing names of arguments that it needs.

    Parameters
    ----------
    build : function
    given : mapping
        Quantities of any role by name; the names of arguments are checked.
    what : str
        The argument of the caller that holds the names, for the message.

    Raises
    ------
    ModelError
        Naming the function, the argument and those that it accepts.
    """
    try:
        signature = inspect.signature(build)
    except (TypeError, ValueError):
        return  # compiled code has no signature
    known = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    accepted = f"it takes {', '.join(p.name for p in known)}" if known else "it takes none"
    accepts_any = any(p.kind == p.VAR_KEYWORD for p in signature.parameters.values())
    arguments = {name for name, quantity in given.items() if quantity.role is Role.ARGUMENT}
    if not accepts_any and (unknown := sorted(arguments - {p.name for p in known})):
        near = did_you_mean(unknown[0], [p.name for p in known])
        raise UnknownNameError(f"{what}: {name_of(build)} has no parameter '{unknown[0]}'; {near}{accepted}")
    if missing := [p.name for p in known if p.default is p.empty and p.name not in arguments]:
        raise ModelError(f"{what}: {name_of(build)} needs '{missing[0]}', too; {accepted}")


def build_variant(
    build: Callable[..., System], values: Mapping[str, Any], quantities: Mapping[str, Quantity]
) -> System:
    """Return the system that a function builds from those of the values that are its arguments.

    Raises
    ------
    ModelError
        Where the function returns no system or raises any exception, with the text of the exception.
    """
    try:
        system = build(**{name: value for name, value in values.items() if quantities[name].role is Role.ARGUMENT})
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{name_of(build)} failed: {said_by(error)}") from error
    if not isinstance(system, System):
        if callable(getattr(system, "build", None)):
            raise ModelError(f"{name_of(build)} gave a {type(system).__name__}; return its build()")
        raise ModelError(f"{name_of(build)} gave {shown(system)}; give a function that builds a System")
    return system


def variant(
    build: System | Callable[..., System],
    values: Mapping[str, Any],
    quantities: Mapping[str, Quantity],
    time: float | None = None,
    *,
    assembled: bool = False,
) -> tuple[System, State, bool]:
    """Return a system and its initial state with the given values, and whether parameters of joints are among these.

    ``quantities`` by the names of the values: arguments of the function, parameters of the system, parts of the initial state,
    coordinates of joints.  ``time`` [s] of the state: that of the system by default.  The state is not moved onto the
    constraints, unless coordinates are given: before they are set, if ``assembled`` or where parameters of joints differ.

    Raises
    ------
    ModelError
        For values that a rule forbids, coordinates that drivers do not allow, and parts of the state that coordinates change.
    """
    if isinstance(build, System):
        system = build
    else:
        system = build_variant(build, values, quantities)
        trees_of(system).steps  # noqa: B018  found now: rows are quick to evaluate while those of no other system were
    parameters = {name: value for name, value in values.items() if quantities[name].role is Role.PARAMETER}
    state: dict[str, dict[str, Any]] = {}
    coordinates: dict[str, dict[str, float]] = {"angle": {}, "rate": {}}
    for role, into in ((Role.STATE, state), (Role.COORDINATE, coordinates)):
        for name in (name for name in values if quantities[name].role is role):
            into.setdefault(quantities[name].part, {})[quantities[name].owner] = values[name]
    other = replace_parameters(system, parameters) if parameters else system
    moved = joints_differ(system, other)
    start = other.state.replace(**state) if state else other.state
    if any(coordinates.values()):
        at = other.time if time is None else time
        if moved or (assembled and (state or at != other.time)):
            start = assemble(other, start, time=at)
        if moved:  # coordinates are 0 in the reference configuration of the changed joints
            other = with_reference(other, moved_reference(other))
        before, start = (
            start,
            displaced(other, coordinates["angle"], coordinates["rate"], state=start, check_units=False),
        )
        _refuse_moved(before, start, state, coordinates)
        if other.drivers and (assembled or at == other.time):
            remedy = "leave out coordinates and rates of joints that drivers move, or change their signals"
            check_configuration(other, at, start.y, remedy)
            check_velocities(other, at, start.y, remedy)
    return other, start, moved


def _refuse_moved(before: State, after: State, given: Mapping[str, Any], coordinates: Mapping[str, Any]) -> None:
    """Refuse parts of a state that are given and do not remain, since given coordinates of joints move their body."""
    for part, bodies in given.items():
        for body in bodies:
            kept, found = getattr(before, part)[body], getattr(after, part)[body]
            if np.abs(found - kept).max() > MOVED * max(1.0, float(np.abs(kept).max())):
                names = [f"{what}.{name}" for what, values in coordinates.items() for name in values]
                raise ModelError(
                    f"{part}.{body} and {', '.join(names)} contradict each other: the joints move body '{body}'; give its state "
                    "by the one or by the other"
                )


def with_reference(system: System, reference: State) -> System:
    """The system with another reference configuration, in which coordinates of its joints are 0.

    Constants that its joints, limits and forces hold are unchanged, and so is the description of its model.
    """
    found = replace(system, reference=reference)
    if "model" in vars(system):
        vars(found)["model"] = vars(system)["model"]
    return found


@kept
def structure_of(system: System) -> list[Any]:
    """All properties that are equal for systems that differ in parameters alone."""
    return [
        system.body_names, [(j.name, j.kind, j.body_i, j.body_j) for j in system.joints],
        [(limit.name, limit.kind) for limit in system.limits], system.load_names, system.degrees_of_freedom,
        [(contact.name, contact.body, contact.plane, contact.law, contact.friction) for contact in system.contacts],
        [(m.name, m.joint.kind) for m in system.motors], [(force.name, force.kind, force.bodies) for force in system.forces],
    ]  # fmt: skip
