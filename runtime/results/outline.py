"""The outline of a system: what views draw of it.  Made of a system, or read from the text that files of runs carry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from runtime.support.arrays import Floats
from runtime.system.cone import Cone
from runtime.system.muscle_paths import is_muscle, path_points, path_spans
from runtime.system.parts import Contact, Force, Joint
from runtime.system.shapes import Shape
from runtime.system.system import System

OUTLINE = "outline"  # attribute of the files
DIGITS = 7  # of the vertices of meshes in the text


@dataclass(frozen=True, eq=False)
class DrawnBody:
    """A body: mass [kg], inertia (3, 3) [kg m^2] in its axes, and its initial pose r (3,) [m], p (4,)."""

    name: str
    mass: float
    inertia: Floats
    r: Floats
    p: Floats


@dataclass(frozen=True, eq=False)
class Part:
    """A joint, force, contact or span: its bodies, and the points, directions and lengths of its definition by name.

    ``steps``: the motion of a joint: name, kind ("turn", "slide", "ball"), and names of axis and point of each step.
    """

    name: str
    bodies: tuple[str, ...]
    values: Mapping[str, Any]
    steps: tuple[tuple[str, str, str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class DrawnLimit:
    """A limit of motion: its joint, the body that carries the cone, the cone, and the vectors of its definition."""

    name: str
    joint: str
    reference: str
    cone: Cone
    values: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class DrawnMuscle:
    """A muscle: its maximum isometric force [N], 0 where its law has none, and spans and points of its path by their kinds."""

    name: str
    strength: float
    path: tuple[Part, ...]
    points: tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class Outline:
    """What is drawn of a system; ``joints`` are those without drivers, ``forces`` those between two points, without muscles."""

    name: str
    gravity: Floats  # (3,) [m/s^2]
    bodies: tuple[DrawnBody, ...]
    joints: tuple[Part, ...]
    forces: tuple[Part, ...]
    contacts: tuple[Part, ...]
    limits: tuple[DrawnLimit, ...]
    shapes: tuple[Shape, ...]
    muscles: tuple[DrawnMuscle, ...]

    def joint(self, name: str) -> Part:
        """The joint of this name."""
        return next(joint for joint in self.joints if joint.name == name)

    def body(self, name: str) -> DrawnBody:
        """The body of this name."""
        return next(body for body in self.bodies if body.name == name)


def outline_of(system: System) -> Outline:
    """The outline of a system."""
    r, p = system.state.r, system.state.p
    return Outline(
        name=system.name,
        gravity=system.gravity,
        bodies=tuple(DrawnBody(b.name, b.mass, b.inertia, r[b.name], p[b.name]) for b in system.bodies),
        joints=tuple(_drawn(joint) for joint in system.joints if not joint.signals),
        forces=tuple(_drawn(force) for force in system.forces if not is_muscle(force)),
        contacts=tuple(_drawn(contact) for contact in system.contacts),
        limits=tuple(
            DrawnLimit(limit.name, limit.joint, limit.reference, limit.cone, limit.values) for limit in system.limits
        ),
        shapes=system.shapes,
        muscles=tuple(_muscle(force) for force in system.forces if is_muscle(force)),
    )


def _muscle(force: Force) -> DrawnMuscle:
    strength = float(force.values.get("max_isometric_force", 0.0))
    path, points = (tuple(Part(*part) for part in parts(force)) for parts in (path_spans, path_points))
    return DrawnMuscle(force.name, strength, path, points)


def _drawn(part: Joint | Force | Contact) -> Part:
    if isinstance(part, Joint):
        return Part(part.name, (part.body_i, part.body_j), part.values, tuple(part.module.MOTION or ()))
    if isinstance(part, Force):
        return Part(part.name, part.ends[:2], part.values)
    return Part(part.name, (part.body, part.plane), part.values)


def outline_text(outline: Outline) -> str:
    """The outline as JSON."""
    cones = [(limit.cone.longitudes, limit.cone.latitudes, limit.cone.interpolation) for limit in outline.limits]
    limits = [vars(limit) | {"cone": cone} for limit, cone in zip(outline.limits, cones, strict=True)]
    shapes = [vars(shape) | {"vertices": np.round(shape.vertices, DIGITS)} for shape in outline.shapes]
    parts = {
        name: [vars(part) for part in getattr(outline, name)] for name in ("bodies", "joints", "forces", "contacts")
    }
    muscles = [
        vars(muscle) | {of: [vars(part) for part in getattr(muscle, of)] for of in ("path", "points")}
        for muscle in outline.muscles
    ]
    data = {
        "name": outline.name,
        "gravity": outline.gravity,
        **parts,
        "limits": limits,
        "shapes": shapes,
        "muscles": muscles,
    }
    return json.dumps(data, default=_plain, separators=(",", ":"))


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value.tolist()


def outline_from(text: str) -> Outline:
    """The outline of a text by ``outline_text``; a ValueError, KeyError or TypeError where it is none."""
    data = json.loads(text)

    def parts(of: list[dict[str, Any]]) -> tuple[Part, ...]:
        return tuple(
            Part(each["name"], tuple(each["bodies"]), _values(each["values"]), tuple(map(tuple, each.get("steps", ()))))
            for each in of
        )

    def limit(each: dict[str, Any]) -> DrawnLimit:
        return DrawnLimit(**(each | {"cone": Cone(*each["cone"]), "values": _values(each["values"])}))

    return Outline(
        name=data["name"],
        gravity=np.array(data["gravity"]),
        bodies=tuple(DrawnBody(**_values(each)) for each in data["bodies"]),
        joints=parts(data["joints"]),
        forces=parts(data["forces"]),
        contacts=parts(data["contacts"]),
        limits=tuple(limit(each) for each in data["limits"]),
        shapes=tuple(_shape(each) for each in data["shapes"]),
        muscles=tuple(
            DrawnMuscle(**(each | {of: parts(each[of]) for of in ("path", "points")}))
            for each in data.get("muscles", ())
        ),
    )


def _values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Lists as arrays."""
    return {name: np.array(value) if isinstance(value, list) else value for name, value in given.items()}


def _shape(each: dict[str, Any]) -> Shape:
    vertices = np.array(each["vertices"], dtype=float).reshape(-1, 3)
    faces = np.array(each["faces"], dtype=np.int64).reshape(-1, 3)
    return Shape(**(_values(each) | {"sizes": tuple(each["sizes"]), "vertices": vertices, "faces": faces}))
