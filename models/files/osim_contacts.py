"""Contacts of OpenSim models: spheres against half-spaces, by the laws of Simbody.

Source: Sherman, Seth and Delp (2011); HuntCrossleyForce and SmoothSphereHalfSpaceForce of Simbody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from models.files.description import Contact, Omitted
from models.files.merging import Pose
from models.files.naming import identifiers, unique
from models.files.osim_functions import numbers
from models.files.osim_xml import active, objects, text_of
from runtime.support import Element

HUNT_CROSSLEY, SMOOTH = "HuntCrossleyForce", "SmoothSphereHalfSpaceForce"
SPHERE, HALF_SPACE, MESH = "ContactSphere", "ContactHalfSpace", "ContactMesh"
SET = f"{HUNT_CROSSLEY}::ContactParametersSet"
FRICTIONS = {"static_friction": "mu_s", "dynamic_friction": "mu_c", "viscous_friction": "mu_v"}
EXPONENT = 1.5  # Hertz's
OTHERS = "other contacts"  # sort of those that are not read
# [s/m] in place of a dissipation c = 0, by which the smooth law divides: 1 + 3/2 c v is 1 to rounding, as in its limit.
LOSSLESS = 1e-20
# Of a smooth contact: property, its default in OpenSim, and the name in ``smooth_contact``.
SMOOTHING = (
    ("transition_velocity", 0.01, "transition_velocity"), ("constant_contact_force", 1e-5, "rounding"),
    ("hertz_smoothing", 300.0, "hertz_smoothing"), ("hunt_crossley_smoothing", 50.0, "loss_smoothing"),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Surface:
    """A sphere, a half-space or a mesh of a link, with its material."""

    name: str
    tag: str
    link: str
    at: Pose  # in axes of the link
    radius: float  # [m] of a sphere
    stiffness: float = 0.0  # [Pa^(2/3)] stiffness to the power 2/3, by which Simbody combines materials
    dissipation: float = 0.0  # [s/m]
    frictions: tuple[float, ...] = ()


def contacts_of(
    model: Element, frame: Callable[[Element, str], tuple[str, Pose]], pose: Callable[[Element, str, str], Pose],
    reference: Callable[[str], Pose], taken: Iterable[str],
) -> tuple[tuple[Contact, ...], tuple[Omitted, ...]]:  # fmt: skip
    """Contacts that act, and the parts of contacts that are not read.

    Parameters
    ----------
    frame : link and pose of a frame that an element names
    pose : by the names of properties of an element
    reference : pose of a link in the reference pose
    taken : names of other forces

    Raises
    ------
    ModelError
        With file and line, for geometry that does not exist and values that make no contact.
    """
    geometry = {e.need("name"): e for e in model.within() if e.tag in (SPHERE, HALF_SPACE, MESH)}

    def surface(e: Element, path: str, **material: Any) -> Surface:
        name = path.rpartition("/")[2]
        if name not in geometry:
            raise e.error(f"<{e.tag}> names the contact geometry '{path}', which does not exist; correct it")
        shape = geometry[name]
        link, at = frame(shape, text_of(shape, "socket_frame") or text_of(shape, "body_name"))
        radius = _above_zero(shape, "radius") if shape.tag == SPHERE else 0.0
        return Surface(name, shape.tag, link, at.then(pose(shape, "location", "orientation")), radius, **material)

    found: list[Contact] = []
    meshes: list[str] = []
    near: list[str] = []
    apart: list[str] = []
    for e in filter(active, objects(model, "ForceSet", None)):
        name = e.attributes.get("name", "").strip() or f"{e.tag.lower()}_{e.line}"
        if e.tag == HUNT_CROSSLEY:
            surfaces = list(_surfaces(e, surface))
            meshes += [f"{name} with the mesh {one.name}" for one in surfaces if one.tag == MESH]
            found += _hunt_crossley(e, name, surfaces)
            for one, two in combinations([one for one in surfaces if one.tag == SPHERE], 2):
                if one.link != two.link:
                    centres = [reference(s.link).point(s.at.position) for s in (one, two)]
                    touch = float(np.linalg.norm(centres[0] - centres[1])) <= one.radius + two.radius
                    (near if touch else apart).append(f"{name} between {one.name} and {two.name}")
        elif e.tag == SMOOTH:
            found.append(_smooth(e, name, surface))
    names = identifiers(unique(one.name for one in found), list(taken))
    return tuple(replace(one, name=new) for one, new in zip(found, names.values(), strict=True)), (
        Omitted(OTHERS, (*meshes, *near), "contacts of a sphere with a half-space are read, others are not", True),
        Omitted("contacts between spheres", tuple(apart), "they act only where the two spheres meet"),
    )


def _surfaces(e: Element, surface: Callable[..., Surface]) -> Iterator[Surface]:
    """The surfaces of a force, with their materials."""
    for material in objects(e, SET, None):
        stiffness = _above_zero(material, "stiffness", 1.0)
        others = [_not_below_zero(material, tag) for tag in ("dissipation", *FRICTIONS)]
        for name in text_of(material, "geometry").split():
            yield surface(
                e, name, stiffness=stiffness ** (2.0 / 3.0), dissipation=others[0], frictions=tuple(others[1:])
            )


def _hunt_crossley(e: Element, name: str, surfaces: list[Surface]) -> Iterator[Contact]:
    """The contacts of all spheres with all half-spaces of other links."""
    planes = [one for one in surfaces if one.tag == HALF_SPACE]
    for sphere in surfaces:
        for plane in planes if sphere.tag == SPHERE else ():
            if sphere.link == plane.link:
                continue
            of_sphere = plane.stiffness / (sphere.stiffness + plane.stiffness)  # share of the penetration
            values: dict[str, Any] = {
                "law": "hunt_crossley", "exponent": EXPONENT, "sphere_share": of_sphere,
                "stiffness": _hertz(sphere.radius, sphere.stiffness * of_sphere),
                "loss": plane.dissipation * (1.0 - of_sphere) + sphere.dissipation * of_sphere,
            }  # fmt: skip
            frictions = {
                own: _harmonic(*both)
                for own, both in zip(
                    FRICTIONS.values(), zip(sphere.frictions, plane.frictions, strict=True), strict=True
                )
            }
            if any(frictions.values()):
                values |= {"friction": "stribeck", **frictions}
                values["transition_velocity"] = _above_zero(e, "transition_velocity", 0.01)
            yield _contact(
                f"{name}_{sphere.name}" + (f"_{plane.name}" if len(planes) > 1 else ""), sphere, plane, values
            )


def _smooth(e: Element, name: str, surface: Callable[..., Surface]) -> Contact:
    """The contact of a smooth force."""
    sphere, plane = (surface(e, text_of(e, f"socket_{end}")) for end in ("sphere", "half_space"))
    if sphere.tag != SPHERE or plane.tag != HALF_SPACE:
        raise e.error(
            f"force '{name}': is between a {sphere.tag} and a {plane.tag}; give a {SPHERE} and a {HALF_SPACE}"
        )
    values = {to: _above_zero(e, tag, usual) for tag, usual, to in SMOOTHING}
    values |= {tag: _not_below_zero(e, tag) for tag in FRICTIONS}
    values["loss"] = _not_below_zero(e, "dissipation") or LOSSLESS
    stiffness = _above_zero(e, "stiffness", 1.0)
    values["stiffness"] = _hertz(sphere.radius, stiffness ** (2.0 / 3.0) / 2.0)
    return _contact(name, sphere, plane, values, smooth=True)


def _contact(name: str, sphere: Surface, plane: Surface, values: dict[str, Any], *, smooth: bool = False) -> Contact:
    """The half-space lies where x of its frame is above 0."""
    return Contact(
        name, sphere.link, plane.link, sphere.at.position, plane.at.position, -plane.at.rotation[:, 0], sphere.radius,
        values, smooth,
    )  # fmt: skip


def _hertz(radius: float, modulus: float) -> float:
    """Stiffness [N/m^1.5] of a sphere on a plane by the combined modulus."""
    return float(4.0 / 3.0 * modulus * np.sqrt(radius * modulus))


def _harmonic(a: float, b: float) -> float:
    """The mean by which Simbody combines coefficients of friction."""
    return 2.0 * a * b / (a + b) if a + b > 0.0 else 0.0


def _above_zero(e: Element, tag: str, default: float | None = None) -> float:
    value = float(numbers(e, tag, 1, None if default is None else (default,))[0])
    if not value > 0.0:
        raise e.error(f"<{e.tag}>: {tag} = {value:g}, must be above 0; correct it")
    return value


def _not_below_zero(e: Element, tag: str) -> float:
    value = float(numbers(e, tag, 1, (0.0,))[0])
    if value < 0.0:
        raise e.error(f"<{e.tag}>: {tag} = {value:g}, must not be below 0; correct it")
    return value
