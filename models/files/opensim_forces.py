"""Forces in OpenSim's files: springs of coordinates are read, muscles and actuators listed, others refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from models.files.description import Omitted
from models.files.opensim_text import entries, flag, number, text_of
from models.files.xml_reading import Element

CONTACTS = ("HuntCrossleyForce", "ElasticFoundationForce", "SmoothSphereHalfSpaceForce")


@dataclass(frozen=True)
class Forces:
    """Values of the steps of coordinates, by the names of these, and what is not read."""

    of: Mapping[str, Mapping[str, float]]
    omitted: tuple[Omitted, ...]


def forces_of(model: Element, defaults: Mapping[str, float]) -> Forces:
    """The forces of a model; ``defaults``: values of its coordinates in the reference pose."""
    of: dict[str, dict[str, float]] = {}
    listed: dict[str, list[str]] = {}
    for entry in entries(model, "ForceSet"):
        element = entry.element
        if not flag(element, "appliesForce", True) or flag(element, "isDisabled", False):
            continue
        if element.tag == "SpringGeneralizedForce":
            name = text_of(element, "coordinate")
            if name not in defaults:
                raise element.error(f"force '{entry.name}': '{name}' is no coordinate of this model; correct it")
            if name in of:
                raise element.error(f"force '{entry.name}': coordinate '{name}' has another spring; add them to one")
            values = {
                key: number(element, tag, 0.0) for key, tag in (("stiffness", "stiffness"), ("damping", "viscosity"))
            }
            if worst := [key for key, value in values.items() if value < 0.0]:
                raise element.error(
                    f"force '{entry.name}': {worst[0]} = {values[worst[0]]:g}, must not be below 0; correct it"
                )
            of[name] = values | {"free": number(element, "rest_length", 0.0) - defaults[name]}
            continue
        listed.setdefault(_sort(element.tag), []).append(entry.name)
    reasons = {
        "muscles": ("their forces follow from excitations", False),
        "actuators": ("their forces follow from controls", False),
        "contacts": ("contact forces", True),
        "limits": ("forces at limits of coordinates", True),
        "forces": ("bushings, springs and other forces", True),
    }
    omitted = tuple(Omitted(sort, tuple(names), *reasons[sort]) for sort, names in listed.items())
    return Forces(of, omitted)


def _sort(tag: str) -> str:
    if "Muscle" in tag or tag in ("Thelen2003", "RigidTendonMuscle"):
        return "muscles"
    if tag.endswith("Actuator"):
        return "actuators"
    if tag in CONTACTS:
        return "contacts"
    return "limits" if tag == "CoordinateLimitForce" else "forces"
