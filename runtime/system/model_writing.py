"""The document of a model: everything that a builder was given, and for a system also what was computed of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.layout import OMEGA, STATE, P, R, V
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.projection import assemble_positions, project_velocities
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.connection import KINDS
from runtime.system.coupling import Coupling
from runtime.system.data_building import Parts, model_data
from runtime.system.frames import Frame
from runtime.system.joint_values import values_of
from runtime.system.model_description import digest_of_module
from runtime.system.model_text import DIGEST, digest_of
from runtime.system.parts import (
    FORCE_KINDS,
    FRICTIONS,
    LIMIT_KINDS,
    LIMIT_LAWS,
    NORMAL_LAWS,
    Body,
    Contact,
    Force,
    Joint,
    Limit,
    Load,
    Motor,
)
from runtime.system.shapes import Shape
from runtime.system.signal import Signal
from runtime.system.sum_of_products import SumOfProducts
from runtime.version import __version__

FORMAT, VERSION = "talus-model", 2
UNITS = "m, kg, s, rad"
ADDRESSES = ("address", "lookups", "kinks")  # of the data: of compiled code in this process
MOVED = 1e-12  # [rad], [m], [rad/s], [m/s] a coordinate or a rate below this is that of the reference configuration
ASSEMBLED = 1e-9  # the same where drivers place bodies, which assembly does to rounding
Item = dict[str, Any]


def builder_document(
    name: str, gravity: Floats, axes: str, parts: Parts, y: Floats, angles: Mapping[str, float], rates: Mapping[str, float]
) -> Item:  # fmt: skip
    """The document of a builder: its parts, the states y (13 bodies,) that bodies were given, and initial coordinates.

    Raises
    ------
    ModelError
        Naming the signal that the file cannot state.
    """
    value: Item = {
        "format": FORMAT, "version": VERSION, "written_by": f"talus-multibody {__version__}", "units": UNITS, "name": name,
        "gravity": gravity.tolist(), "axes": axes,
        "bodies": [_body(body, state) for body, state in zip(parts.bodies, y.reshape(-1, STATE), strict=True)],
        "joints": [_joint(joint) for joint in parts.joints],
        "limits": [_limit(limit) for limit in parts.limits],
        "motors": [_motor(motor) for motor in parts.motors],
        "loads": [_load(load) for load in parts.loads],
        "contacts": [_contact(contact) for contact in parts.contacts],
        "forces": [_force(force) for force in parts.forces],
        "shapes": [_shape(shape) for shape in parts.shapes],
        "frames": [_frame(frame) for frame in parts.frames],
        "couplings": [_coupling(coupling) for coupling in parts.couplings],
        "armature": {one.coordinate: one.inertia for one in parts.armatures},
        "angles": dict(angles), "rates": dict(rates),
        "definitions": digests_of_definitions(parts),
    }  # fmt: skip
    return {key: entry for key, entry in value.items() if entry not in ([], {})}


def system_document(system: Any) -> Item:
    """The document of a ``System``: that of a builder which starts in its state, and what ``Builder.build`` computed.

    Raises
    ------
    ModelError
    """
    parts, reference = parts_of(system), system.reference_configuration.y
    angles, own_rates = ({}, {}) if system.reference is None else _displacement(system)
    value = builder_document(system.name, system.gravity, "body", parts, reference, angles, own_rates)
    assembly = {**vars(system.assembly), "remarks": list(system.assembly.remarks)}
    assembly["adjustments"] = [
        {**one._asdict(), "given": np.asarray(one.given).tolist(), "used": np.asarray(one.used).tolist()}
        for one in system.assembly.adjustments
    ]
    value["system"] = {
        "time": system.time, "state": _rows(system.state.y),
        **({} if system.reference is None else {"reference": _rows(reference)}),
        "assembly": assembly, "degrees_of_freedom": system.degrees_of_freedom, "rank": system.rank,
        "redundant": list(system.redundant), "overdetermined": system.overdetermined,
        "branch_signs": [[float(sign) for sign in signs] for signs in system.branch_signs],
        "alpha": system.data.alpha, "beta": system.data.beta, "closed": int(system.data.closed),
        "redundant_rows": int(system.data.redundant),
        "computed": {key: array.tolist() for key, array in _computed(system, parts, reference)},
    }  # fmt: skip
    return {**value, DIGEST: digest_of(value)}


def parts_of(system: Any) -> Parts:
    """The parts of a system."""
    return Parts(*(getattr(system, name) for name in Parts._fields))


def definitions_of(parts: Parts) -> dict[str, ModuleType]:
    """The generated modules of all definitions that parts use, by sort and name.

    Raises
    ------
    ModelError
        For two definitions of one sort and name.
    """
    joints = [*parts.joints, *(motor.joint for motor in parts.motors)]
    used: list[tuple[Any, str, ModuleType | None]] = [(one, "joint", one.module) for one in joints]
    used += [(one, "limit", one.module) for one in parts.limits] + [
        (one, "law", one.law_module) for one in parts.limits
    ]
    used += [(one, "force", one.module) for one in parts.forces]
    used += [(one, "contact", one.law_module) for one in parts.contacts]
    used += [(one, "friction", one.friction_module) for one in parts.contacts]
    found: dict[str, ModuleType] = {}
    for one, sort, module in used:
        if module is None:
            continue
        other = found.setdefault(f"{sort} {module.NAME}", module)
        if other is not module and digest_of_module(other) != digest_of_module(module):
            raise ModelError(
                f"{type(one).__name__.lower()} '{one.name}': its definition '{module.NAME}' is another one than that of the "
                "same name before it; files and cases know definitions by their names: rename the function of one"
            )
    return found


def digests_of_definitions(parts: Parts) -> dict[str, str]:
    """Digests of ``definitions_of``, sorted."""
    return {what: digest_of_module(module) for what, module in sorted(definitions_of(parts).items())}


def shipped_definition(sort: str, name: str) -> ModuleType | None:
    """The shipped module of a definition; None for a user's own."""
    families: Mapping[str, Mapping[str, ModuleType]] = {
        "joint": KINDS, "force": FORCE_KINDS, "limit": LIMIT_KINDS, "law": LIMIT_LAWS, "contact": NORMAL_LAWS,
        "friction": FRICTIONS,
    }  # fmt: skip
    return families.get(sort, {}).get(name)


def leaves(data: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Names and values of all entries of nested named tuples, such as "limits.pieces.bounds"."""
    for key, entry in zip(data._fields, data, strict=True):
        if hasattr(entry, "_fields"):
            yield from leaves(entry, f"{before}{key}.")
        else:
            yield f"{before}{key}", entry


def _computed(system: Any, parts: Parts, reference: Floats) -> Iterator[tuple[str, Floats]]:
    """Arrays of the data that other bits than these parts in this reference configuration give."""
    anew: ModelData = model_data(parts, system.gravity, reference, fit=system.overdetermined)
    for (key, own), (_, other) in zip(leaves(system.data), leaves(anew), strict=True):
        if key.rpartition(".")[2] in ADDRESSES or not isinstance(own, np.ndarray):
            continue
        if own.shape != other.shape or own.dtype != other.dtype or own.tobytes() != other.tobytes():
            if own.shape != other.shape or own.dtype != np.float64:
                raise ModelError(f"system '{system.name}': its data '{key}' do not belong to its parts; build it anew")
            yield key, own


def _displacement(system: Any) -> tuple[dict[str, float], dict[str, float]]:
    """Coordinates and rates by which the initial state differs from the reference configuration, or from where drivers lead."""
    states, least = (_driven(system), system.state.y), ASSEMBLED if system.drivers else MOVED
    before, now = (values_of(system.joint_motions, system.body_names, y) for y in states)
    angles, own_rates = (
        {key: value for key, value in new.items() if abs(value - old[key]) > least}
        for old, new in zip(before, now, strict=True)
    )
    return angles, own_rates


def _driven(system: Any) -> Floats:
    """The state to which drivers lead from the reference configuration; that of the system if only a homotopy finds it."""
    y: Floats = system.reference_configuration.y
    if not system.drivers:
        return y
    work = shared_workspace_for(system.data)
    y, _, residual = assemble_positions(system.time, y, system.data, work)
    if not residual <= ASSEMBLED:
        y = system.state.y
    return project_velocities(system.time, y, system.data, work)


def _rows(y: Floats) -> list[Any]:
    return y.reshape(-1, STATE).tolist()


def _values(values: Mapping[str, Any]) -> Item:
    return {key: np.asarray(value, dtype=float).tolist() for key, value in values.items()}


def _signal(signal: Signal, what: str) -> Any:
    if np.isinf(signal.knots[0]):
        if signal.coefficients[0, 1:].any():
            raise ModelError(f"{what}: a polynomial without first and last time cannot be written; give its knots")
        return float(signal.coefficients[0, 0])
    return {"knots": signal.knots.tolist(), "coefficients": signal.coefficients.tolist()}


def _signals(signals: Mapping[str, Signal], what: str) -> Item:
    return {"signals": {key: _signal(s, f"{what}: {key}") for key, s in signals.items()}} if signals else {}


def _body(body: Body, state: Floats) -> Item:
    return {
        "name": body.name, "mass": float(body.mass), "inertia": body.inertia.tolist(), "r": state[R:P].tolist(),
        "p": state[P:V].tolist(), "v": state[V:OMEGA].tolist(), "omega": state[OMEGA:].tolist(),
        **({"free": True} if body.free else {}), **({"guess": True} if body.guess else {}),
    }  # fmt: skip


def _joint(joint: Joint) -> Item:
    ends = {"name": joint.name, "kind": joint.kind, "body_i": joint.body_i, "body_j": joint.body_j}
    return {**ends, "values": _values(joint.values), **_signals(joint.signals, f"driver '{joint.name}'")}


def _motor(motor: Motor) -> Item:
    joint, what = motor.joint, f"motor '{motor.name}'"
    return {
        "name": joint.name, "kind": joint.kind, "body": joint.body_i, "other": joint.body_j, "values": _values(joint.values),
        **_signals(joint.signals, what), "effort": _signal(motor.effort, f"{what}: effort"),
        "stiffness": float(motor.stiffness), "damping": float(motor.damping),
        **({"coordinate": motor.coordinate} if motor.coordinate else {}),
    }  # fmt: skip


def _limit(limit: Limit) -> Item:
    cone = limit.cone
    return {
        "name": limit.name, "kind": limit.kind, "joint": limit.joint, "reference": limit.reference,
        "cone": {
            "longitudes": list(cone.longitudes), "latitudes": list(cone.latitudes), "interpolation": cone.interpolation,
        },
        **{key: float(value) for key, value in limit.numbers.items() if key not in limit.parameters},
        **({"parameters": _values(limit.parameters)} if limit.parameters else {}), "law": limit.law,
        "values": _values(limit.values),
    }  # fmt: skip


def _load(load: Load) -> Item:
    found: Item = {"name": load.name, "body": load.body}
    for key in ("force", "moment", "point"):
        if (three := getattr(load, key)) is not None:
            found[key] = [_signal(one, f"load '{load.name}': {key}") for one in three]
    return {**found, "axes": load.axes, "attached": load.attached}


def _contact(contact: Contact) -> Item:
    own, speed = contact.values, _signal(contact.belt_speed, f"contact '{contact.name}': belt_speed")
    return {
        "name": contact.name, "body": contact.body, "plane": contact.plane, "centre": own["s_i"].tolist(),
        "radius": float(own["radius"]), "point": own["s_j"].tolist(), "normal": own["n_j"].tolist(),
        "belt": own["b_j"].tolist(), "belt_speed": speed, "law": contact.law,
        **({"friction": contact.friction} if contact.friction else {}),
        **({"sphere_share": float(own["sphere_share"])} if own["sphere_share"] else {}),
        "transition_velocity": float(contact.parameters["transition_velocity"]),
        "min_impact_speed": float(contact.min_impact_speed),
        "parameters": {key: float(value) for key, value in contact.parameters.items() if key != "transition_velocity"},
    }  # fmt: skip


def _force(force: Force) -> Item:
    return {
        "name": force.name, "kind": force.kind, "bodies": list(force.bodies),
        **({"joint": force.joint} if force.joint else {}), **({"borrowed": list(force.borrowed)} if force.borrowed else {}),
        **({"settled": list(force.settled)} if force.settled else {}),
        "values": _values(force.values), **_signals(force.signals, f"force '{force.name}'"),
    }  # fmt: skip


def _coupling(coupling: Coupling) -> Item:
    law, leaders = coupling.law, list(coupling.leaders)
    return {
        "name": coupling.name, "follower": coupling.follower, "leader": leaders[0] if len(leaders) == 1 else leaders,
        "law": law.to_mapping() if isinstance(law, SumOfProducts) else _signal(law, f"coupling '{coupling.name}': law"),
    }  # fmt: skip


def _frame(frame: Frame) -> Item:
    return {"name": frame.name, "body": frame.body, "s": frame.s.tolist(), "rotation": frame.A.tolist()}


def _shape(shape: Shape) -> Item:
    mesh = {"vertices": shape.vertices.tolist(), "faces": shape.faces.tolist()} if shape.kind == "mesh" else {}
    return {
        "body": shape.body, "kind": shape.kind, "at": shape.at.tolist(), "rotation": shape.rotation.tolist(),
        "sizes": [float(size) for size in shape.sizes], **mesh, **({"colour": shape.colour} if shape.colour else {}),
        **({"label": shape.label} if shape.label else {}),
    }  # fmt: skip
