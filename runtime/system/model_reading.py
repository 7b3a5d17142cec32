"""The parts of a model from its document, checked by the rules of the builder."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np

from runtime.dynamics.layout import P, V
from runtime.dynamics.limits import LAWS
from runtime.support.arrays import Floats, read_only
from runtime.support.checks import finite, finite_number, unit
from runtime.support.errors import RENAMED, ModelError, shown, unknown_name
from runtime.support.units import DOWN
from runtime.system.cone import Cone
from runtime.system.connection import checked_name, checked_vector, refuse_other_keys
from runtime.system.limit_building import checked_law_parameters, law_of_limit, moving_body
from runtime.system.model_description import digest_of_module
from runtime.system.model_schema import check_keys
from runtime.system.model_shapes import shape_of
from runtime.system.model_text import Document, read_document
from runtime.system.model_writing import FORMAT, UNITS, VERSION, shipped_definition
from runtime.system.muscle_modules import LAWS as MUSCLE_LAWS
from runtime.system.muscle_modules import REFLEXES, law_of, muscle_module_of, reflex_of
from runtime.system.parts import AXIS_TOLERANCE, LIMIT_BOUNDS, LIMIT_KINDS, Limit
from runtime.system.parts_builder import Made, PartsBuilder
from runtime.system.signal import Signal, as_signal
from runtime.system.sum_of_products import SumOfProducts

Item = Mapping[str, Any]
Own = Mapping[str, ModuleType]  # a user's definitions by sort and name, such as "joint pin"
LAW_COMPILERS = {
    "law": "limit",
    "contact": "contact",
    "friction": "contact",
    "muscle": "muscle",
    "reflex": "reflex",
}  # ``codegen.compile_*`` by the sort of a law
OF_MUSCLES: Mapping[str, Any] = {"muscle": MUSCLE_LAWS, "reflex": REFLEXES}


@dataclass(eq=False)
class Model:
    """A model that was read; ``changed``: definitions of other digests."""

    document: Document
    made: Made
    gravity: Floats
    changed: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the system."""
        return str(self.document.value.get("name", "system"))

    def remark(self) -> str:
        """A sentence about definitions that have changed; empty where none has."""
        if not self.changed:
            return ""
        verb = "has" if len(self.changed) == 1 else "have"
        return (
            f"{self.document.file}: {', '.join(self.changed)} {verb} another definition than when the file was written; pass a "
            "definition of your own by definitions=[...], else compare a run with one of that time, and write the file anew"
        )


def read_model(file: Path, definitions: Iterable[ModuleType] = ()) -> Model:
    """Read and check a file.  ``definitions``: what ``codegen.compile_joint`` and its like returned.

    Raises
    ------
    ModelError
        Naming the file, the part and the rule.
    """
    document = read_document(file)
    _refuse_format(document)
    reader = _Reader(document, _own(definitions))
    with document.errors():
        if document.value["version"] == 1:
            _rename(document.value)
        check_keys(document.value)
        name = document.value.get("name", "system")
        if not name or not name.isprintable():
            raise ModelError(f"system name {shown(name)}: use printable characters on one line")
        gravity = finite(document.value.get("gravity", DOWN), (3,), "gravity")
        made, changed = reader.read(), _changed(document, reader.own)
    gravity.flags.writeable = False
    return Model(document, made, gravity, changed)


def _refuse_format(document: Document) -> None:
    """Refuse what is no model, and a model of a newer format."""
    value, version = document.value, document.value.get("version")
    if value.get("format") != FORMAT:
        raise document.error(f'format = {shown(value.get("format"))}; a model of Talus has "format": "{FORMAT}"')
    if type(version) is int and version > VERSION:
        raise document.error(
            f"format version {version}, this Talus reads up to {VERSION}; pip install -U talus-multibody"
        )
    if type(version) is not int or version < 1:
        raise document.error(f"version = {shown(version)}; give the version of the format, {VERSION}")
    if value.get("units", UNITS) != UNITS:
        raise document.error(f"units = {shown(value['units'])}; give all values in {UNITS!r}")


def _rename(value: Item) -> None:
    """Give parameters of contacts and frictions, and laws of limits, in a document of version 1 their names of version 2."""
    frictions = [item["values"] for item in value.get("forces", ()) if item["kind"].endswith("_friction")]
    for item in (*value.get("contacts", ()), *frictions):
        for former in RENAMED.keys() & item.keys():
            item[RENAMED[former]] = item.pop(former)
    for item in value.get("limits", ()):
        item["law"] = RENAMED.get(item.get("law", LAWS[0]), item.get("law", LAWS[0]))


def _own(definitions: Iterable[ModuleType]) -> Own:
    found = {}
    for module in definitions:
        known = hasattr(module, "evaluate") or getattr(module, "SORT", "") in LAW_COMPILERS
        if not (isinstance(module, ModuleType) and hasattr(module, "NAME") and known):
            raise ModelError(
                f"definitions: {shown(module)}; give what codegen.compile_joint, compile_force, compile_limit, "
                "compile_contact, compile_muscle or compile_reflex returned"
            )
        sort = getattr(module, "SORT", "force" if hasattr(module, "OUTPUTS") else "joint")
        found[f"{sort} {module.NAME}"] = module
    return found


def _definition(own: Own, sort: str, name: str) -> ModuleType | None:
    """The module of a definition: a user's own, a muscle with a user's own law or reflex, or a shipped one; None for others."""
    if sort == "force" and law_of(name):
        with suppress(KeyError):
            return muscle_module_of(name, *(ChainMap(_of_sort(own, part), of) for part, of in OF_MUSCLES.items()))
    return own.get(f"{sort} {name}") or shipped_definition(sort, name)


def _of_sort(own: Own, sort: str) -> dict[str, ModuleType]:
    """A user's definitions of a sort, by name."""
    return {what.partition(" ")[2]: module for what, module in own.items() if what.partition(" ")[0] == sort}


def _changed(document: Document, own: Own) -> tuple[str, ...]:
    """Definitions whose digest is another one than in the file."""
    found = []
    for what, digest in document.value.get("definitions", {}).items():
        sort, _, name = what.partition(" ")
        module = _definition(own, sort, name)
        if module is None:
            raise ModelError(f"definitions: there is no {shown(what)}; remove the entry")
        if digest_of_module(module) != digest:
            found.append(what)
    return tuple(found)


class _Reader(PartsBuilder):
    """Adds the parts of a document, in axes of the bodies."""

    def __init__(self, document: Document, own: Own) -> None:
        self._begin("body")
        self.document, self.own = document, own

    def read(self) -> Made:
        """All parts, initial coordinates and rates."""
        for key, add in _SECTIONS.items():
            for item in self.document.value.get(key, ()):
                add(self, item)
        for coordinate, inertia in self.document.value.get("armature", {}).items():
            self.armature(coordinate, inertia)
        for key, into in (("angles", self._made.angles), ("rates", self._made.rates)):
            into |= {name: float(value) for name, value in self.document.value.get(key, {}).items()}
        return self._made

    def _body(self, item: Item) -> None:
        self.body(**item)
        if "p" in item:  # with the bits of the file
            start = self._made.starts[item["name"]].copy()
            start[P:V] = unit(np.array(item["p"], dtype=float), f"body '{item['name']}': p", AXIS_TOLERANCE)
            self._made.starts[item["name"]] = read_only(start)

    def _kind(self, sort: str, item: Item, family: str, key: str = "kind") -> ModuleType | str:
        """The module of a definition: a user's own, or a shipped one; the name of an unknown one."""
        kind, listed = item[key], self.document.value.get("definitions", {})
        found = _definition(self.own, family, kind)
        if found is None and f"{family} {kind}" in listed:
            own = {LAW_COMPILERS.get(family, family): kind}
            if law := law_of(kind):
                parts = {"muscle": law, "reflex": reflex_of(kind)}
                own = {part: name for part, name in parts.items() if name and name not in OF_MUSCLES[part]}
            made = ", ".join(f"codegen.compile_{part}({name})" for part, name in own.items())
            raise ModelError(
                f"{sort} '{item['name']}': {shown(kind)} is a definition of the user's own; pass definitions=[{made}]"
            )
        return found or kind

    def _joint(self, item: Item) -> None:
        sort = "driver" if "signals" in item else "joint"
        module = self._kind(sort, item, "joint")
        add = self.driver if getattr(module, "SIGNALS", sort == "driver") else self.joint
        add(item["name"], module, item["body_i"], item["body_j"], **_values(item, sort))

    def _motor(self, item: Item) -> None:
        given = {key: item[key] for key in ("stiffness", "damping") if key in item}
        effort = _signal(item.get("effort", 0.0), f"motor '{item['name']}': effort")
        module, values = self._kind("motor", item, "joint"), _values(item, "motor")
        self.motor(item["name"], module, item["body"], item["other"], effort=effort, **given, **values)
        motors = self._of["motors"]
        motors[item["name"]] = replace(motors[item["name"]], coordinate=item.get("coordinate", ""))

    def _limit(self, item: Item) -> None:
        given = {**item, "cone": Cone(**item["cone"])}
        law: Any = item.get("law", LAWS[0])
        law = law if law in LAWS else self._kind("limit", item, "law", "law")
        own = item.get("parameters", {})
        if "xi" in item:
            kept = {key: value for key, value in given.items() if key not in ("kind", "values", "parameters")}
            _refuse_arguments("limit", item["name"], own)
            self.limit(**{**kept, "law": law}, **own)
            return
        what = f"limit '{item['name']}'"
        checked_name(item["name"], "limit", self._of["limits"])
        if item["joint"] not in self._of["joints"]:
            raise unknown_name(item["joint"], self._of["joints"], "joint", whose=f"{what}: ")
        joint = self._of["joints"][item["joint"]]
        moving = moving_body(what, joint, item["reference"])
        if item["kind"] not in LIMIT_KINDS:
            raise unknown_name(item["kind"], LIMIT_KINDS, "kind", whose=f"{what}: ")
        module = LIMIT_KINDS[item["kind"]]
        if module.FITS and joint.kind not in module.FITS:
            raise ModelError(
                f"{what} ({module.NAME}): joint '{joint.name}' is {joint.kind}; use {', '.join(module.FITS)}"
            )
        law_module = law_of_limit(what, law)
        numbers = {key: item[key] for key in LIMIT_BOUNDS if key in item}
        checked = checked_law_parameters(what, law_module, {"damping": 0.0, **numbers, **own})
        values = _limit_values(what, module, item["values"])
        if values["damping"] != checked["damping"]:
            raise ModelError(
                f"{what}: damping = {checked['damping']:g}, but its values have {values['damping']:g}; give it twice"
            )
        self._of["limits"][item["name"]] = Limit(
            item["name"], module.NAME, joint.name, item["reference"], moving, given["cone"], **checked,
            law=item.get("law", LAWS[0]), values=MappingProxyType(values), law_module=law_module,
        )  # fmt: skip

    def _load(self, item: Item) -> None:
        three = {
            key: [_signal(one, f"load '{item['name']}': {key}") for one in item[key]]
            for key in ("force", "moment", "point")
            if key in item
        }
        attached = item.get("attached", False)
        if attached and (item.get("axes") == "body" or "point" not in item):
            raise ModelError(f'load \'{item["name"]}\': attached needs a point and "axes": "global"')
        self.load(**{**item, **three, "attached": False})
        loads = self._of["loads"]
        loads[item["name"]] = replace(loads[item["name"]], attached=attached)  # its point is in axes of the body

    def _contact(self, item: Item) -> None:
        given = {key: value for key, value in item.items() if key != "parameters"}
        _refuse_arguments("contact", item["name"], item["parameters"])
        if "belt_speed" in item:
            given["belt_speed"] = _signal(item["belt_speed"], f"contact '{item['name']}': belt_speed")
        for key, family in (("law", "contact"), ("friction", "friction")):
            if key in item:
                given[key] = self._kind("contact", item, family, key)
        self.contact(**given, **item["parameters"])

    def _force(self, item: Item) -> None:
        ends = dict(zip(("body_i", "body_j", "body_k", "body_l"), item["bodies"], strict=False))
        own, forces = {"joint": item["joint"]} if "joint" in item else {}, self._of["forces"]
        self.force(item["name"], self._kind("force", item, "force"), **ends, **own, **_values(item, "force"))
        made = forces[item["name"]]
        borrowed = tuple(item.get("borrowed", made.borrowed))
        if set(borrowed) - set(made.values):
            raise ModelError(
                f"force '{item['name']}': borrowed = {shown(list(borrowed))}; its vectors are {', '.join(made.values)}"
            )
        if set(settled := item.get("settled", ())) - set(made.module.STATES):
            raise ModelError(
                f"force '{item['name']}': settled = {shown(list(settled))}; its states are {', '.join(made.module.STATES)}"
            )
        forces[item["name"]] = replace(made, borrowed=borrowed, settled=tuple(settled))

    def _coupling(self, item: Item) -> None:
        law = item["law"]
        pieces = isinstance(law, dict) and "knots" in law
        if isinstance(law, dict):
            law = SumOfProducts(**law) if "powers" in law else _signal(law, f"coupling '{item['name']}': law")
        self.coupling(item["name"], item["follower"], item["leader"], law, straight=not pieces)

    def _frame(self, item: Item) -> None:
        self.frame(item["name"], item["body"], s=item.get("s", np.zeros(3)))
        frames, A = self._of["frames"], np.array(item.get("rotation", np.eye(3)), float)
        frames[item["name"]] = replace(frames[item["name"]], A=A)

    def _shape(self, item: Item) -> None:
        self.add_shapes([shape_of(item, self._made.starts)])


_SECTIONS: dict[str, Callable[[_Reader, Item], None]] = {
    "bodies": _Reader._body, "joints": _Reader._joint, "limits": _Reader._limit, "loads": _Reader._load,
    "motors": _Reader._motor, "contacts": _Reader._contact, "forces": _Reader._force, "shapes": _Reader._shape,
    "couplings": _Reader._coupling, "frames": _Reader._frame,
}  # fmt: skip


def _values(item: Item, sort: str) -> dict[str, Any]:
    """The keywords of a definition, its signals among them."""
    what = f"{sort} '{item['name']}'"
    found = {**item["values"], **{k: _signal(v, f"{what}: {k}") for k, v in item.get("signals", {}).items()}}
    _refuse_arguments(sort, item["name"], found)
    return found


def _refuse_arguments(sort: str, name: str, given: Iterable[str]) -> None:
    """Refuse keywords of a definition with the name of another argument of the method of the builder, ``sort``."""
    if unused := [key for key in given if key in signature(getattr(PartsBuilder, sort)).parameters]:
        raise ModelError(f"{sort} '{name}': unused {', '.join(unused)}")


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


def _limit_values(what: str, module: ModuleType, given: Item) -> dict[str, Any]:
    """The keywords of a limit's definition."""
    vectors = {name: AXIS_TOLERANCE if kind == "direction" else math.inf for name, kind, _ in module.VECTORS}
    wanted = [*vectors, *(row[0] for row in module.PARAMETERS)]
    refuse_other_keys(what, given, wanted, f"needs {', '.join(wanted)}")
    return {
        key: checked_vector(value, what, key, vectors[key])
        if key in vectors
        else finite_number(value, f"{what}: {key}")
        for key, value in given.items()
    }
