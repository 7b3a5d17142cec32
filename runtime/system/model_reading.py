"""The parts of a model from its document, checked by the rules of the builder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np

from runtime.dynamics.layout import STATE, P, V
from runtime.support.arrays import Floats
from runtime.support.checks import finite, unit
from runtime.support.errors import ModelError, shown, unknown_name
from runtime.system.armature import Armature, build_armature
from runtime.system.cone import Cone
from runtime.system.connection import (
    checked_inertia,
    checked_mass,
    checked_name,
    connection,
    definition,
    refuse_other_keys,
)
from runtime.system.contact_building import build_contact
from runtime.system.coupling import Coupling, build_coupling
from runtime.system.data_building import Parts
from runtime.system.force_building import build_force
from runtime.system.limit_building import build_limit, checked_law_parameters
from runtime.system.load_building import build_motor
from runtime.system.model_description import digest_of_module
from runtime.system.model_schema import check_schema
from runtime.system.model_shapes import shape_of
from runtime.system.model_text import Document, read_document
from runtime.system.model_writing import FORMAT, VERSION, shipped_definition
from runtime.system.parts import (
    AXIS_TOLERANCE,
    FORCE_KINDS,
    GROUND,
    LIMIT_KINDS,
    Body,
    Contact,
    Force,
    Joint,
    Limit,
    Load,
    Motor,
)  # fmt: skip
from runtime.system.reference import ground_state
from runtime.system.signal import Signal, as_signal
from runtime.system.sum_of_products import SumOfProducts

GRAVITY = (0.0, 0.0, -9.81)
Item = Mapping[str, Any]
Own = Mapping[str, ModuleType]  # a user's definitions by sort and name, such as "joint pin"


@dataclass(eq=False)
class Model:
    """A model that was read.  ``y`` (13 bodies,): states that its bodies are given; ``changed``: definitions of other digests."""

    document: Document
    parts: Parts
    y: Floats
    gravity: Floats
    changed: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the system."""
        return str(self.document.value.get("name", "system"))

    @property
    def angles(self) -> dict[str, float]:
        """Initial coordinates by name."""
        return {key: float(value) for key, value in self.document.value.get("angles", {}).items()}

    @property
    def rates(self) -> dict[str, float]:
        """Initial rates by name."""
        return {key: float(value) for key, value in self.document.value.get("rates", {}).items()}

    def remark(self) -> str:
        """A sentence about definitions that have changed; empty where none has."""
        if not self.changed:
            return ""
        verb = "has" if len(self.changed) == 1 else "have"
        return (
            f"{self.document.file}: {', '.join(self.changed)} {verb} another definition than when the file was written; compare "
            "a run with one of that time, and write the file anew"
        )


@dataclass(eq=False)
class _Found:
    document: Document
    own: Own
    bodies: dict[str, Body] = field(default_factory=dict)
    states: dict[str, Floats] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    couplings: dict[str, Coupling] = field(default_factory=dict)


def read_model(file: Path, definitions: Iterable[ModuleType] = ()) -> Model:
    """Read and check a file.  ``definitions``: what ``codegen.compile_joint`` and ``compile_force`` returned.

    Raises
    ------
    ModelError
        Naming the file, the line, the part and the rule.
    """
    document = read_document(file)
    _refuse_format(document)
    check_schema(document)
    found = _Found(document, _own(definitions))
    with document.at(("name",)):
        name = document.value.get("name", "system")
        if not name or not name.isprintable():
            raise ModelError(f"system name {shown(name)}: use printable characters on one line")
    with document.at(("gravity",)):
        gravity = finite(document.value.get("gravity", GRAVITY), (3,), "gravity")
    gravity.flags.writeable = False
    bodies, y = _section(found, "bodies", _body), np.concatenate(list(found.states.values()))
    found.states[GROUND] = ground_state()
    parts = Parts(
        bodies=bodies,
        joints=_section(found, "joints", _joint),
        limits=_section(found, "limits", _limit),
        loads=_section(found, "loads", _load),
        motors=_section(found, "motors", _motor),
        contacts=_section(found, "contacts", _contact),
        forces=_section(found, "forces", _force),
        shapes=_section(found, "shapes", lambda f, item: shape_of(item, f.bodies)),
        couplings=_section(found, "couplings", _coupling),
        armatures=_armatures(found),
    )
    _check_names(document, parts)
    return Model(document, parts, y, gravity, _changed(document, found.own))


def _refuse_format(document: Document) -> None:
    """Refuse what is no model, and a model of a newer format."""
    value, version = document.value, document.value.get("version")
    if value.get("format") != FORMAT:
        raise document.error(
            ("format",), f'format = {shown(value.get("format"))}; a model of Talus has "format": "{FORMAT}"'
        )
    if type(version) is int and version > VERSION:
        raise document.error(
            ("version",),
            f"format version {version}, this Talus reads up to {VERSION}; pip install -U talus-multibody",
        )
    if type(version) is not int or version < 1:
        raise document.error(("version",), f"version = {shown(version)}; give the version of the format, {VERSION}")


def _own(definitions: Iterable[ModuleType]) -> Own:
    found = {}
    for module in definitions:
        if not (isinstance(module, ModuleType) and hasattr(module, "NAME") and hasattr(module, "evaluate")):
            raise ModelError(f"definitions: {shown(module)}; give what codegen.compile_joint or compile_force returned")
        found[f"{'force' if hasattr(module, 'OUTPUTS') else 'joint'} {module.NAME}"] = module
    return found


def _changed(document: Document, own: Own) -> tuple[str, ...]:
    """Definitions whose digest is another one than in the file."""
    found = []
    for what, digest in document.value.get("definitions", {}).items():
        sort, _, name = what.partition(" ")
        module = own.get(what) or shipped_definition(sort, name)
        if module is None:
            raise document.error(("definitions", what), f"definitions: there is no {shown(what)}; remove the entry")
        if digest_of_module(module) != digest:
            found.append(what)
    return tuple(found)


def _section(found: _Found, key: str, make: Any) -> tuple[Any, ...]:
    """The parts of a list of the document, each error with its line."""
    made = []
    for n, item in enumerate(found.document.value.get(key, ())):
        with found.document.at((key, n)):
            made.append(make(found, item))
    return tuple(made)


def _check_names(document: Document, parts: Parts) -> None:
    sections: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
        ("limit", "limits", parts.limits), ("load", "loads", parts.loads), ("motor", "motors", parts.motors),
        ("contact", "contacts", parts.contacts), ("force", "forces", parts.forces),
    )  # fmt: skip
    for sort, key, items in sections:
        before: set[str] = set()
        for n, item in enumerate(items):
            with document.at((key, n)):
                checked_name(item.name, sort, before)
            before.add(item.name)


def _body(found: _Found, item: Item) -> Body:
    name, start = item["name"], ground_state()
    what = f"body '{name}'"
    checked_name(name, "body", found.bodies)
    if name == GROUND:
        raise ModelError(f"body '{GROUND}': this name is reserved for the fixed body; choose another name")
    for key, place in (("r", slice(0, P)), ("p", slice(P, V)), ("v", slice(V, V + 3)), ("omega", slice(V + 3, STATE))):
        if key in item:
            start[place] = finite(item[key], (place.stop - place.start,), f"{what}: {key}")
    unit(start[P:V], f"{what}: p", AXIS_TOLERANCE)
    inertia, free, guess = checked_inertia(item["inertia"], what), item.get("free", False), item.get("guess", False)
    found.bodies[name] = Body(name, checked_mass(item["mass"], what), inertia, free, guess)
    found.states[name] = start
    return found.bodies[name]


def _kind(found: _Found, sort: str, item: Item, family: str) -> ModuleType:
    """The module of a definition: a user's own, or a shipped one."""
    kind, listed = item["kind"], found.document.value.get("definitions", {})
    if f"{family} {kind}" in found.own:
        return found.own[f"{family} {kind}"]
    module = shipped_definition(family, kind)
    if module is None and f"{family} {kind}" in listed:
        raise ModelError(
            f"{sort} '{item['name']}': {shown(kind)} is a definition of the user's own; pass "
            f"definitions=[codegen.compile_{family}({kind})]"
        )
    if family == "force":
        if module is None:
            raise unknown_name(kind, FORCE_KINDS, "kind", whose=f"force '{item['name']}': ")
        return module
    return definition(sort, item["name"], module or kind)


def _signals(item: Item, what: str) -> dict[str, Signal]:
    return {key: _signal(value, f"{what}: {key}") for key, value in item.get("signals", {}).items()}


def _signal(value: Any, what: str) -> Signal:
    """A signal from a number, its pieces, or samples."""
    try:
        if not isinstance(value, dict):
            return as_signal(float(value), what)
        given: dict[str, Any] = {
            key: entry if key == "degree" else np.array(entry, dtype=float) for key, entry in value.items()
        }
        if "knots" in given:
            return Signal(given["knots"], given["coefficients"])
        return Signal.samples(**given) if "rates" in given else Signal.spline(**given)
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from None


def _joint(found: _Found, item: Item) -> Joint:
    checked_name(item["name"], "joint", found.joints)
    sort = "driver" if "signals" in item else "joint"
    module = _kind(found, sort, item, "joint")
    what = f"{sort} '{item['name']}' ({module.NAME})"
    if bool(module.SIGNALS) != (sort == "driver"):
        rule = f"missing signals {', '.join(module.SIGNALS)}" if module.SIGNALS else "unused signals; it has none"
        raise ModelError(f"{what}: {rule}")
    values = {**item["values"], **_signals(item, what)}
    made = connection(sort, item["name"], module, item["body_i"], item["body_j"], values, found.bodies)
    found.joints[item["name"]] = made
    return made


def _motor(found: _Found, item: Item) -> Motor:
    what = f"motor '{item['name']}'"
    values = {**item["values"], **_signals(item, what)}
    gains = {key: float(item.get(key, 0.0)) for key in ("stiffness", "damping")}
    effort = _signal(item.get("effort", 0.0), f"{what}: effort")
    module = _kind(found, "motor", item, "joint")
    return build_motor(
        item["name"],
        module,
        item["body"],
        item["other"],
        found.bodies,
        effort=effort,
        values=values,
        states=None,
        **gains,
    )


def _limit(found: _Found, item: Item) -> Limit:
    what = f"limit '{item['name']}'"
    if item["joint"] not in found.joints:
        raise unknown_name(item["joint"], found.joints, "joint", whose=f"{what}: ")
    joint, cone = found.joints[item["joint"]], Cone(**item["cone"])
    given = {key: item.get(key, 0.0) for key in ("max_moment", "compliance", "damping")}
    law = item.get("law", "conservative")
    if "xi" in item:
        return build_limit(
            item["name"], joint, found.states, reference=item["reference"], xi=item["xi"], eta=item["eta"], cone=cone,
            direction=item.get("direction"), law=law, global_axes=False, **given,
        )  # fmt: skip
    ends = (joint.body_i, joint.body_j)
    if item["reference"] not in ends:
        raise ModelError(f"{what}: reference = {shown(item['reference'])}; use one of its bodies, {' or '.join(ends)}")
    if item["kind"] not in LIMIT_KINDS:
        raise unknown_name(item["kind"], LIMIT_KINDS, "kind", whose=f"{what}: ")
    module = LIMIT_KINDS[item["kind"]]
    if module.FITS and joint.kind not in module.FITS:
        raise ModelError(f"{what} ({module.NAME}): joint '{joint.name}' is {joint.kind}; use {', '.join(module.FITS)}")
    checked = checked_law_parameters(what, **given)
    moving = ends[1] if item["reference"] == ends[0] else ends[0]
    values: Mapping[str, Any] = MappingProxyType(_limit_values(what, module, item["values"]))
    if values["damping"] != checked["damping"]:
        raise ModelError(
            f"{what}: damping = {checked['damping']:g}, but its values have {values['damping']:g}; give it twice"
        )
    return Limit(
        item["name"], module.NAME, joint.name, item["reference"], moving, cone, **checked, law=law, values=values
    )


def _limit_values(what: str, module: ModuleType, given: Item) -> dict[str, Any]:
    """The keywords of a limit's definition."""
    vectors, constants = {name: kind for name, kind, _ in module.VECTORS}, [row[0] for row in module.PARAMETERS]
    wanted = [*vectors, *constants]
    refuse_other_keys(what, given, wanted, f"needs {', '.join(wanted)}")
    values: dict[str, Any] = {}
    for key, value in given.items():
        values[key] = finite(value, (3,) if key in vectors else (), f"{what}: {key}")
        if vectors.get(key) == "direction":
            unit(values[key], f"{what}: {key}", AXIS_TOLERANCE)
        values[key].flags.writeable = False
    return {key: value if value.ndim else float(value) for key, value in values.items()}


def _coupling(found: _Found, item: Item) -> Coupling:
    name, law = item["name"], item["law"]
    pieces = isinstance(law, dict) and "knots" in law
    if isinstance(law, dict):
        law = SumOfProducts(**law) if "powers" in law else _signal(law, f"coupling '{name}': law")
    made = build_coupling(
        name, item["follower"], item["leader"], law, found.joints, found.couplings, straight=not pieces
    )
    found.couplings[name] = made
    return made


def _armatures(found: _Found) -> tuple[Armature, ...]:
    made: dict[str, Armature] = {}
    for coordinate, inertia in found.document.value.get("armature", {}).items():
        with found.document.at(("armature", coordinate)):
            made[coordinate] = build_armature(coordinate, inertia, found.joints, made)
    return tuple(made.values())


def _load(found: _Found, item: Item) -> Load:
    what = f"load '{item['name']}'"
    if item["body"] not in found.bodies:
        raise unknown_name(item["body"], found.bodies, "body", "bodies", f"{what}: ")
    three = {
        key: tuple(_signal(one, f"{what}: {key}") for one in item.get(key, (0.0,) * 3))
        for key in ("force", "moment", "point")
        if key != "point" or key in item
    }
    axes, attached = item.get("axes", "global"), item.get("attached", False)
    if attached and (axes == "body" or "point" not in item):
        raise ModelError(f'{what}: attached needs a point and "axes": "global"')
    return Load(item["name"], item["body"], three["force"], three["moment"], three.get("point"), axes, attached)  # type: ignore[arg-type]


def _contact(found: _Found, item: Item) -> Contact:
    what = f"contact '{item['name']}'"
    return build_contact(
        item["name"], item["body"], found.bodies, centre=item["centre"], radius=item["radius"], law=item["law"],
        friction=item.get("friction"), plane=item.get("plane", GROUND), point=item.get("point", (0.0, 0.0, 0.0)),
        normal=item.get("normal", (0.0, 0.0, 1.0)), belt=item.get("belt"),
        belt_speed=_signal(item["belt_speed"], f"{what}: belt_speed") if "belt_speed" in item else 0.0,
        creep=item.get("creep"), least_impact=item.get("least_impact", 1e-2), parameters=item["parameters"], states=None,
    )  # fmt: skip


def _force(found: _Found, item: Item) -> Force:
    what = f"force '{item['name']}'"
    module = _kind(found, "force", item, "force")
    joint = found.joints.get(item["joint"], item["joint"]) if "joint" in item else None
    values = {**item["values"], **_signals(item, what)}
    made = build_force(item["name"], module, item["bodies"], values, found.bodies, joint=joint)
    borrowed = tuple(item.get("borrowed", made.borrowed))
    if set(borrowed) - set(made.values):
        raise ModelError(f"{what}: borrowed = {shown(list(borrowed))}; its vectors are {', '.join(made.values)}")
    return replace(made, borrowed=borrowed)
