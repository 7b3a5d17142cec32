"""The parameters of a system by name, such as "mass.main_foot" or "l.ankle", and the system with other values of them.

A system with other parameters equals the one that ``Builder`` would make with the bodies at the same place; only the check for
disconnected bodies is left out, because parameters do not affect it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from runtime.dynamics import projection
from runtime.dynamics.angles import COUNT
from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.sparsity import has_loops
from runtime.support.arguments import checked
from runtime.support.arrays import Floats, Ints, frozen
from runtime.support.checks import finite, not_negative
from runtime.support.errors import ModelError, UnknownNameError, did_you_mean, shown
from runtime.support.names import Named
from runtime.support.units import ask_about_change
from runtime.system.assemble import assembled, assembled_on_joints, branch_signs_of, change
from runtime.system.checked_start import checked_start
from runtime.system.cone import Cone
from runtime.system.connection import checked_inertia, checked_mass, connection
from runtime.system.contact_building import changed_contact, contact_data
from runtime.system.data_building import load_data, signals_of
from runtime.system.force_addresses import counted_angles
from runtime.system.force_building import build_force, force_data
from runtime.system.limit_building import checked_law_parameters, limit_data
from runtime.system.load_building import motors_in
from runtime.system.mass_data import MASS_DATA, mass_data
from runtime.system.model_description import like_model
from runtime.system.parts import Body, Force, Joint, Limit, Motor
from runtime.system.quantity import (
    ARMATURE,
    EFFORT,
    GRAVITY,
    INERTIA,
    LATITUDES,
    MOTOR_PARTS,
    Role,
    initial_coordinates,
    parse,
    quantities,
)
from runtime.system.rank import refuse_singular_joints, with_redundant_rows_named
from runtime.system.reference import body_places, reference, states_by_name, states_with_ground
from runtime.system.remarks import impossible_inertias, locked
from runtime.system.signal import as_signal, signal_data
from runtime.system.state import State
from runtime.system.system import System, with_fields
from runtime.system.thin_bodies import open_motions_at_start
from runtime.system.trees import keep_of_joints

# By the unit of a parameter: the factor from which on a change is asked about.
CHANGES = {"m": 300.0, "kg": 300.0, "m/s": 300.0, "N/m": 1e5, "N m/rad": 1e5, "m/s^2": 300.0}
NUMBERS = float, list, tuple, np.ndarray
Changes = dict[tuple[str, str], dict[str, Any]]  # sort and name of the owner -> part -> new value


@checked
def parameters(system: System) -> dict[str, Any]:
    """Return the parameters of a system, name -> value.

    "gravity" (3,) [m/s^2]; of bodies "mass.NAME" [kg], "inertia.NAME" (3, 3) [kg m^2]; of joints and drivers the keywords of
    their definitions, such as "s_i.NAME" (3,) [m], "a_i.NAME" (3,) [1], "l.NAME" [m]; of motors "stiffness.NAME" [N m/rad] or
    [N/m], "damping.NAME" [N m s/rad] or [N s/m], and "effort.NAME" [N m] or [N] where it is constant; of forces the keywords of
    their definitions; of limits "max_moment.NAME" [N m], "compliance.NAME" [rad], "damping.NAME" [N m s], the
    parameters of an own law, "latitudes.NAME" (n,) [rad]; of contacts the constants of their laws, "radius.NAME" [m] and the
    points "centre.NAME" and "point.NAME" (3,) [m]; of coordinates with rotors "armature.JOINT.COORDINATE" [kg m^2] or [kg].
    """
    return Named({name: value for name, (_, value) in quantities(system).items()}, "parameter")


def replace_parameters(system: System, values: Mapping[str, Any]) -> System:
    """Return the system with other parameters and an unchanged initial state, which may then violate the constraints.

    For callers that assemble a state of their own, such as ensembles; ``with_parameters`` assembles the initial state too.

    Parameters
    ----------
    system : System
    values : mapping
        New values by name; ``parameters(system)`` lists the names.

    Raises
    ------
    ModelError
        For values that ``Builder`` would refuse, and for names that are not among ``parameters(system)``.
    """
    if not isinstance(values, Mapping):
        raise ModelError(f"parameters: {values!r} is no mapping; give names and values, such as {{'mass.toes': 0.2}}")
    known, changes = quantities(system), Changes()
    for name, value in values.items():
        if name not in known:
            able = [*known, *initial_coordinates(system)]
            near = did_you_mean(name, able)
            if isinstance(name, str) and parse(name).role in (Role.STATE, Role.COORDINATE):
                near = "it is a part of the initial state, as State.replace and runtime.system.displaced change it; "
            raise UnknownNameError(
                f"system '{system.name}' has no parameter {shown(name)}; {near}it has {', '.join(known)}"
            )
        quantity, own = known[name]
        if not (isinstance(value, NUMBERS) and np.array_equal(value, own)):  # parts that do not change are kept
            changes.setdefault((quantity.owner_sort, quantity.owner), {})[quantity.part] = value
    if not changes:
        return system
    joints_changed = any(sort == "joint" for sort, _ in changes)
    new: dict[str, Any] = {}
    if ("", "") in changes:
        new["gravity"] = finite(changes["", ""][GRAVITY], (3,), GRAVITY)
    for sort, (parts, changed) in _CHANGED.items():
        if any(own == sort for own, _ in changes):
            every = [(one, changes.get((sort, one.name))) for one in getattr(system, parts)]
            new[parts] = tuple([changed(system, one, own) if own else one for one, own in every])
    if joints_changed and any(motor.coordinate for motor in system.motors):
        states = states_by_name(system.reference_configuration.y, system.body_names)
        new["motors"] = motors_in(new.get("motors", system.motors), new["joints"], states)
    data = _changed_data(system, new)
    other = with_fields(
        system,
        **new,
        data=system.data._replace(**dict(zip(data, frozen(tuple(data.values())), strict=True))),
        _made_of=(),
    )
    if joints_changed:
        other = with_fields(other, branch_signs=branch_signs_of(other, other.time, other.reference_configuration.y))
    else:
        keep_of_joints(system, other)
    if model := like_model(system.model, other.data, other.state.y):
        vars(other)["model"] = model  # a new description would take as long as all steps above
    return other


def ask_about_units(system: System, values: Mapping[str, Any]) -> None:
    """Warn of lengths, masses, speeds and stiffnesses far from those of the system, probably given in another unit."""
    known = quantities(system)
    for name, value in values.items():
        if name in known and (factor := CHANGES.get(known[name][0].unit)):
            quantity, before = known[name]
            ask_about_change(name, before, value, quantity.unit, factor, f"system '{system.name}'")


@checked
def with_parameters(system: System, values: Mapping[str, Any], *, check_units: bool = True) -> System:
    """Return the system with other parameters and its initial state moved onto the constraints by the least change.

    Quantities that joints keep constant from the reference configuration on, such as the angle of a fixed joint, have their
    values of the reference configuration before the move.

    Parameters
    ----------
    system : System
    values : mapping
        New values by name, such as ``{"mass.toes": 0.2, "l.ankle": 0.04}``; ``parameters(system)`` lists the names.
    check_units : bool
        Warn of a length, mass, speed or stiffness far from the present one, which was probably given in another unit (a length
        in mm is 1000 times one in m).

    Raises
    ------
    ModelError
        For values that ``Builder`` would refuse, and for names that are not among ``parameters(system)``.
    AssemblyError
        Where no configuration near the initial state satisfies the constraints.
    """
    if check_units:
        ask_about_units(system, values)
    other, before = replace_parameters(system, values), system.state.y
    remarks = tuple(impossible_inertias([body for body in other.bodies if f"{INERTIA}.{body.name}" in values]))
    singular: tuple[str, ...] = ()
    y, iterations, residual = assembled(other, other.time, before)
    moved = joints_differ(system, other)
    if moved:
        refuse_singular_joints(other, y)
        other, singular = _with_rank(other, y, "keep" if system.redundant else "refuse")
        remarks += tuple(locked(other, y))
    y = projection.project_velocities(other.time, y, other.data, shared_workspace_for(other.data))
    kept = not moved and y.tobytes() == before.tobytes()
    known = open_motions_at_start(system) if kept and len(system.data.thin_body) else None
    other = checked_start(other, y, singular, remarks, "give other velocities", known)
    assembly = replace(change(other.body_names, before, y, iterations, residual), remarks=remarks)
    reference = system.reference
    if reference is not None and moved:
        reference = State(other.body_names, assembled_on_joints(other, reference.y))
    state = system.state if kept else State(other.body_names, y)
    found = with_fields(other, state=state, reference=reference, assembly=assembly)
    if not moved:
        keep_of_joints(system, found)
    if "model" in vars(other):
        vars(found)["model"] = vars(other)["model"]
    return found


def _with_rank(system: System, y: Floats, redundant: str) -> tuple[System, tuple[str, ...]]:
    """The system with the rank of its rows, which may be another one than before, and rows dependent in this pose alone."""
    points = [joint.holds_points for joint in system.joints]
    data = system.data._replace(closed=int(has_loops(system.data.body_i, system.data.body_j, points)), redundant=0)
    system, singular = with_redundant_rows_named(replace(system, data=frozen(data), redundant=()), y, redundant)
    rank = int(system.data.rows.sum()) - len(system.redundant)
    return replace(
        system, rank=rank, degrees_of_freedom=6 * len(system.bodies) - rank - len(system.couplings)
    ), singular


def joints_differ(system: System, other: System) -> bool:
    """A system made by ``replace_parameters`` has other parameters of joints or drivers, so that its constraints differ."""
    return any(a is not b for a, b in zip(system.joints, other.joints, strict=True))


def _changed_data(system: System, new: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of the data that follow from other parts, in the reference configuration of a system."""
    t, data = system.data, {name: new[name] for name in ("gravity",) if name in new}
    places, states = body_places(system.body_names), states_with_ground(system.reference_configuration.y)
    if bodies := new.get("bodies"):
        data["mass"] = np.array([t.mass[0], *(body.mass for body in bodies)])
        data["inertia"] = np.array([t.inertia[0], *(body.inertia for body in bodies)])
        data |= zip(MASS_DATA, mass_data(bodies, system.joints), strict=True)
    if joints := new.get("joints"):
        data["x"], data["vector_local"] = t.x.copy(), t.vector_local.copy()
        for k in (k for k, joint in enumerate(joints) if joint is not system.joints[k]):
            data["x"][k] = 0.0
            found = reference(joints[k], states[t.body_i[k]], states[t.body_j[k]], data["x"][k])
            for row, (name, *_) in zip(np.flatnonzero(t.vector_joint == k), joints[k].module.VECTORS, strict=True):
                data["vector_local"][row] = found[name]
    if motors := new.get("motors"):
        first = _first_number(np.append(t.loads.signal, t.loads.effort))
        data["loads"] = load_data(system.loads, motors, places, states, first)
        data["angles"] = counted_angles(system.joints, system.forces, motors)
        data["counted"] = int(data["angles"][:, COUNT].sum())
        data["signals"] = signal_data(
            signals_of(system.joints, system.loads, motors, system.contacts, system.forces), t.signals.order
        )
    if limits := new.get("limits"):
        data["limits"] = limit_data(limits, places, states)
    if forces := new.get("forces"):
        data["forces"] = force_data(forces, system.joints, places, states, _first_number(t.forces.signal))
    if contacts := new.get("contacts"):
        data["contacts"] = contact_data(contacts, places, states, _first_number(t.contacts.signal))
    return data


def _changed_body(_: System, body: Body, own: Mapping[str, Any]) -> Body:
    what = f"body '{body.name}'"
    mass = checked_mass(own.get("mass", body.mass), what)
    return replace(body, mass=mass, inertia=checked_inertia(own[INERTIA], what) if INERTIA in own else body.inertia)


def _changed_joint(system: System, joint: Joint, own: Mapping[str, Any]) -> Joint:
    refuse_borrowed(system, joint, own)
    sort, values = "driver" if joint.signals else "joint", {**joint.values, **joint.signals, **own}
    return connection(sort, joint.name, joint.module, joint.body_i, joint.body_j, values, system.body_names)


def _changed_motor(_: System, motor: Motor, own: Mapping[str, Any]) -> Motor:
    what = f"motor '{motor.name}' ({motor.joint.kind})"
    new: dict[str, Any] = {
        key: not_negative(given, f"{what}: {key}") for key, given in own.items() if key in MOTOR_PARTS
    }
    if EFFORT in own:
        new[EFFORT] = as_signal(own[EFFORT], f"{what}: {EFFORT}")
    return replace(motor, **new)


def refuse_borrowed(system: System, joint: Joint, own: Collection[str]) -> None:
    """Refuse to change what a limit or a force of a joint takes from it.

    Raises
    ------
    ModelError
    """
    borrowers = [("limit", one.name, one.joint, one.module.BORROWS) for one in system.limits]
    borrowers += [("force", one.name, one.joint, one.borrowed) for one in system.forces]
    for sort, name, of, borrowed in borrowers:
        if of == joint.name and (shared := [key for key in own if key in borrowed]):
            raise ModelError(
                f"{'driver' if joint.signals else 'joint'} '{joint.name}' ({joint.kind}): {sort} '{name}' depends on its "
                f"{shared[0]}; give a function that builds the system from it"
            )


def _changed_force(system: System, force: Force, own: Mapping[str, Any]) -> Force:
    values, joint = {**force.values, **force.signals, **own}, system.joint(force.joint) if force.joint else None
    found = build_force(force.name, force.module, force.bodies, values, system.body_names, joint=joint)
    settled = tuple(state for state in force.settled if f"{state}_0" not in own)
    return replace(found, borrowed=tuple(key for key in force.borrowed if key not in own), settled=settled)


def _first_number(signals: Ints) -> int:
    """The number of the first of these signals, which follow each other."""
    return int(signals[0]) if len(signals) else 0


def _changed_limit(system: System, limit: Limit, own: Mapping[str, Any]) -> Limit:
    what = f"limit '{limit.name}' of joint '{limit.joint}' ({system.joint(limit.joint).kind})"
    law = checked_law_parameters(
        what, limit.law_module, {key: own.get(key, value) for key, value in limit.numbers.items()}
    )
    law["values"] = MappingProxyType({**limit.values, "damping": law["damping"]})
    if LATITUDES in own:
        latitudes = finite(own[LATITUDES], (len(limit.cone.latitudes),), f"{what}: latitudes")
        law["cone"] = Cone(limit.cone.longitudes, latitudes, limit.cone.interpolation)
    found = replace(limit, **law)
    if LATITUDES not in own:  # the geometry is that of the given limit, and takes milliseconds
        vars(found)["vertices"] = limit.vertices
    return found


# By the sort of its owner: the field of the system, and the function that makes the part with other values, which it checks.
_CHANGED: dict[str, tuple[str, Callable[[System, Any, Mapping[str, Any]], Any]]] = {
    "body": ("bodies", _changed_body), "joint": ("joints", _changed_joint), "motor": ("motors", _changed_motor),
    "limit": ("limits", _changed_limit), "force": ("forces", _changed_force),
    "contact": ("contacts", lambda _, contact, own: changed_contact(contact, own)),
    "armature": (
        "armatures", lambda _, one, own: replace(one, inertia=not_negative(own[ARMATURE], f"armature '{one.name}'")),
    ),
}  # fmt: skip
