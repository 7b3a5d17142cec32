"""Building of contacts: a contact is checked against its bodies and laws, and described by flat data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.contacts import ContactData
from runtime.jit.python_code import python_code, with_arrays
from runtime.support.arguments import checked, unchecked
from runtime.support.arrays import Floats, read_only
from runtime.support.checks import finite, unit
from runtime.support.errors import ModelError, did_you_mean, shown, unknown_name
from runtime.system.connection import (
    PLACES,
    checked_parameter,
    place_of_pull,
    refuse_name_of_shipped,
    refuse_other_keys,
)
from runtime.system.force_addresses import contact_addresses
from runtime.system.global_axes import local_direction, local_point
from runtime.system.parts import AXIS_TOLERANCE, FRICTIONS, GROUND, NORMAL_LAWS, Bounds, Contact
from runtime.system.reference import reference_data, tangents
from runtime.system.signal import Signal, as_signal

# Bounds of the keywords of ``Builder.contact`` that every contact has; those of its laws are stated by their definitions.
COMMON: dict[str, Bounds] = {
    "radius": (0.0, True, None, "m"),
    "sphere_share": (0.0, False, 1.0, ""),
    "transition_velocity": (0.0, True, None, "m/s"),
    "min_impact_speed": (0.0, True, None, "m/s"),
}
POINTS = {
    "centre": "s_i",
    "point": "s_j",
}  # keywords of ``Builder.contact`` and names in the definition of the geometry
KEPT = 64  # laws of contacts with their values, of the systems built last
SIZES = "radius", "sphere_share"  # numbers in the definition of the geometry
OF_ELASTIC, OF_DAMPING = 1, 2  # outputs of a normal law
TRANSITION_VELOCITY, TRANSITION_VELOCITY_OF = (
    1e-3,
    {"sticking": 1e-9},
)  # [m/s] where the user gives none; by law of friction
REMEDY = {
    "stiffness": "a steel ball has 1e10, see hertz_stiffness; a rigid connection is a joint",
    "exponent": "1 is a linear spring, 1.5 is Hertz's",
}


def build_contact(
    name: str, body: str, bodies: Collection[str], *, centre: ArrayLike, radius: float, sphere_share: float,
    law: str | ModuleType, friction: str | ModuleType | None, plane: str, point: ArrayLike, normal: ArrayLike,
    belt: ArrayLike | None, belt_speed: Signal | float, transition_velocity: float | None, min_impact_speed: float,
    parameters: Mapping[str, float], states: Mapping[str, Floats] | None,
) -> Contact:  # fmt: skip
    """Return a checked contact; see ``Builder.contact``.

    ``states``: of the ground and the bodies by name, (13,) each, where the vectors are given in global axes; else None.

    Raises
    ------
    ModelError
    """
    what = f"contact '{name}'"
    law_module = _law_of(what, "law", law)
    friction_module = None if friction is None else _law_of(what, "friction", friction)
    names = law_module.NAME, friction_module.NAME if friction_module else None
    for key, value in (("body", body), ("plane", plane)):
        able = [*bodies, GROUND] if key == "plane" else bodies
        if value not in able:
            raise unknown_name(value, able, key, "bodies", f"{what}: ")
    if body == plane:
        raise ModelError(f"{what}: sphere and plane belong to the same body '{body}'; give two")
    both = set(law_module.PARAMETERS) & set(friction_module.PARAMETERS if friction_module else ()) - set(COMMON)
    if both:
        raise ModelError(
            f"{what}: law {law_module.NAME} and friction {names[1]} both have a parameter {min(both)}; rename one of them"
        )
    bounds = contact_bounds(law_module, friction_module)
    wanted = [key for key in bounds if key not in ("impact", *COMMON)]
    laws = f"law {names[0]}" + (f" with friction {names[1]}" if friction_module else "")
    refuse_other_keys(what, parameters, wanted, f"{laws} needs {', '.join(wanted)}", COMMON)
    transition_velocity = (
        TRANSITION_VELOCITY_OF.get(names[1] or "", TRANSITION_VELOCITY)
        if transition_velocity is None
        else transition_velocity
    )
    given = dict(parameters) | {
        "radius": radius,
        "sphere_share": sphere_share,
        "transition_velocity": transition_velocity,
        "min_impact_speed": min_impact_speed,
    }
    checked = {k: checked_parameter(v, f"{what}: {k}", bounds[k], REMEDY.get(k, "")) for k, v in given.items()}
    values: dict[str, Any] = _vectors(what, body, plane, centre, point, normal, belt, belt_speed, states)
    values |= {key: checked.pop(key) for key in SIZES}
    least = checked.pop("min_impact_speed")
    _refuse_adhesion(what, law_module, {**checked, "impact": least}, values["radius"])
    return unchecked(
        Contact, name, body, plane, *names, MappingProxyType(checked), least, as_signal(belt_speed, f"{what}: belt_speed"),
        MappingProxyType({key: read_only(value) for key, value in values.items()}), law_module, friction_module,
    )  # fmt: skip


def _law_of(what: str, key: str, given: Any) -> ModuleType:
    """The module of a law of the normal force or of friction, by its name or as a user compiled it."""
    known, sort = {"law": (NORMAL_LAWS, "contact"), "friction": (FRICTIONS, "friction")}[key]
    if isinstance(given, ModuleType) and getattr(given, "SORT", "") == sort:
        refuse_name_of_shipped(what, given, known)
        return given
    if not isinstance(given, str) or given not in known:
        raise ModelError(
            f"{what}: {key} = {shown(given)}; {did_you_mean(given, known)}use {', '.join(map(repr, known))}, or what "
            "codegen.compile_contact(law) returned"
        )
    return known[given]


def _refuse_adhesion(what: str, law: ModuleType, given: Mapping[str, float], radius: float) -> None:
    """Refuse a law whose elastic force pulls at a penetration up to the radius."""
    values = [given[name] for name in law.PARAMETERS]
    if pull := _pull(law, radius, tuple(values)):
        listed = ", ".join(f"{name} = {value:g}" for name, value in zip(law.PARAMETERS, values, strict=True))
        raise ModelError(
            f"{what}: law {law.NAME} with {listed} has adhesion: its elastic force is {pull[1]:.3g} N at a penetration of "
            f"{pull[0]:.3g} m, limit 0; give other parameters"
        )


@lru_cache(KEPT)
def _pull(law: ModuleType, radius: float, values: tuple[float, ...]) -> tuple[float, float] | None:
    """``place_of_pull`` of the elastic force at penetrations up to the radius: contacts of many systems have equal laws."""
    return place_of_pull(law, np.linspace(0.0, radius, PLACES), [0.0, list(values)], OF_ELASTIC)


def contact_units(contact: Contact) -> dict[str, str]:
    """Units of the parameters of a contact, by the keywords of ``Builder.contact``; a rigid sphere has no share."""
    bounds = contact_bounds(contact.law_module, contact.friction_module)
    own = [key for key in bounds if key in contact.parameters or key in (*SIZES, "min_impact_speed")]
    if not contact.needs_impact:
        own.remove("min_impact_speed")
    if not contact.friction:
        own.remove("transition_velocity")
    if contact.values["sphere_share"] == 0.0:
        own.remove("sphere_share")
    return {key: bounds[key][3] or "1" for key in own} | dict.fromkeys(POINTS, "m")


def parameter_of(contact: Contact, key: str) -> Any:
    """The value of a parameter of ``contact_units``."""
    if key == "min_impact_speed":
        return contact.min_impact_speed
    return contact.values[POINTS.get(key, key)] if key in SIZES or key in POINTS else contact.parameters[key]


def changed_contact(contact: Contact, changes: Mapping[str, Any]) -> Contact:
    """A contact with other parameters of ``contact_units``, or another ``normal`` or ``belt``.

    Raises
    ------
    ModelError
        For values that ``Builder.contact`` refuses.
    """
    names = contact.values
    given = {key: names[own] for key, own in {**POINTS, "normal": "n_j", "belt": "b_j"}.items()}
    given |= {key: names[key] for key in SIZES}
    given |= {**contact.parameters, "min_impact_speed": contact.min_impact_speed, **changes}
    named = {key: given.pop(key) for key in (*COMMON, *POINTS, "normal", "belt")}
    return build_contact(
        contact.name, contact.body, (contact.body, contact.plane), law=contact.law_module, friction=contact.friction_module,
        plane=contact.plane, belt_speed=contact.belt_speed, parameters=given, states=None, **named,
    )  # fmt: skip


@lru_cache(KEPT)
def contact_bounds(law: ModuleType, friction: ModuleType | None) -> dict[str, Bounds]:
    """Bounds of all numbers of a contact."""
    return law.BOUNDS | (friction.BOUNDS if friction else {}) | COMMON


def _vectors(
    what: str, body: str, plane: str, centre: ArrayLike, point: ArrayLike, normal: ArrayLike, belt: ArrayLike | None,
    belt_speed: Signal | float, states: Mapping[str, Floats] | None,
) -> dict[str, Floats]:  # fmt: skip
    """The checked vectors of a contact's definition, in axes of their bodies."""
    if states is not None:
        centre, point = (
            local_point(states[b], v, f"{what}: {k}") for b, k, v in ((body, "centre", centre), (plane, "point", point))
        )
        normal = local_direction(states[plane], normal, f"{what}: normal")
        belt = None if belt is None else local_direction(states[plane], belt, f"{what}: belt")
    n = unit(finite(normal, (3,), f"{what}: normal"), f"{what}: normal", AXIS_TOLERANCE)
    if belt is None:
        if isinstance(belt_speed, Signal) or belt_speed != 0.0:
            raise ModelError(
                f"{what}: belt_speed = {belt_speed!r} without belt; give the direction in which the belt moves"
            )
        along = tangents(n)[0]
    else:
        along = unit(finite(belt, (3,), f"{what}: belt"), f"{what}: belt", AXIS_TOLERANCE)
        if abs(along @ n) > AXIS_TOLERANCE:
            raise ModelError(
                f"{what}: belt is not in the plane, its product with the normal is {along @ n:.3g}, limit 0 within "
                f"{AXIS_TOLERANCE:.0e}"
            )
    centre, point = (finite(v, (3,), f"{what}: {k}") for k, v in (("centre", centre), ("point", point)))
    return {"s_i": centre, "s_j": point, "n_j": n, "b_j": along}


def directions_of_ground(contact: Contact) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Names and components of the directions of a contact that belong to the ground and are along one of its axes."""
    if contact.plane != GROUND:
        return ()
    found = [
        (name, tuple(contact.values[name].tolist())) for name, kind, _ in contact.module.VECTORS if kind == "direction"
    ]
    return tuple([one for one in found if set(one[1]) <= {0.0, 1.0, -1.0}])


def contact_data(
    contacts: Sequence[Contact], index: Mapping[str, int], states: Floats, first_signal: int
) -> ContactData:
    """Flat data of contacts, whose signals are numbered from ``first_signal``; ``index``: places of the bodies in ``states``."""

    def parameters(names: Sequence[Sequence[str]]) -> Floats:
        values = np.zeros((len(contacts), max(map(len, names), default=1) or 1))
        for k, (contact, own) in enumerate(zip(contacts, names, strict=True)):
            values[k, : len(own)] = [contact.parameters.get(key, contact.min_impact_speed) for key in own]
        return values

    of_law = [c.law_module.PARAMETERS for c in contacts]
    of_friction = [c.friction_module.PARAMETERS if c.friction_module else () for c in contacts]
    return ContactData(
        address=contact_addresses(contacts),
        friction=np.array([0 if c.friction_module else -1 for c in contacts], np.int64),
        **reference_data("contact", contacts, index, states, ("body", "plane")),
        normal=parameters(of_law),
        impact=np.array([names.index("impact") if "impact" in names else -1 for names in of_law], np.int64),
        min_impact_speed=np.array([c.min_impact_speed for c in contacts], float),
        fades=np.array([fades(c) for c in contacts], np.int64),
        tangential=parameters(of_friction),
        transition_velocity=np.array([c.parameters["transition_velocity"] for c in contacts], float),
        kinks=np.array([friction_has_kink(c.friction_module) for c in contacts], np.int64),
        signal=first_signal + np.arange(len(contacts)),
        signal_place=np.array([c.module.SIZE - 3 for c in contacts], np.int64),
    )


@cache
def friction_has_kink(friction: ModuleType | None) -> bool:
    """Whether a law of friction is another one above the transition velocity."""
    if friction is None:
        return False
    found = np.zeros((2, 15))
    slip, ones = np.array([0.5, 0.0, 0.0]), np.ones(len(friction.PARAMETERS))
    for law, out in zip((friction.below, friction.above), found, strict=True):
        python_code(law)(slip, 1.0, ones, out)
    return not np.array_equal(*found)


def fades(contact: Contact, given: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Whether the damping of a contact is 0 on the plane, with these values, (cases,) each, of parameters of its normal law."""
    module, values = contact.law_module, {**contact.parameters, "impact": contact.min_impact_speed, **given}
    inputs = [values[name] for name in module.PARAMETERS]
    return _damping_on_plane(module, inputs) == 0.0 if given else _fades(module, tuple(inputs))


def _damping_on_plane(module: ModuleType, inputs: Sequence[Any]) -> Any:
    out = dict[int, Any]()
    with np.errstate(all="ignore"):
        with_arrays(module.law)(np.zeros(()), 1.0, [np.asarray(value, float) for value in inputs], out)
    return out[OF_DAMPING]


@lru_cache(KEPT)
def _fades(module: ModuleType, inputs: tuple[float, ...]) -> bool:
    """``fades`` of a contact with its own values."""
    return bool(_damping_on_plane(module, inputs) == 0.0)


@checked
def hertz_stiffness(
    radius: float, youngs_modulus: float, poissons_ratio: float, plane_modulus: float = np.inf, plane_ratio: float = 0.0
) -> float:
    """Return the stiffness K [N/m^1.5] of a sphere on a plane from their materials.

    Source: Hertz (1882); Moreira et al. (2011), Eq. (12), with the radius of the sphere.

    Parameters
    ----------
    radius : float [m]
        Radius of the sphere.
    youngs_modulus, plane_modulus : float [Pa]
        Young's moduli of the sphere and of the plane; default: a rigid plane.
    poissons_ratio, plane_ratio : float [1]
        Poisson's ratios of the sphere and of the plane.

    Raises
    ------
    ModelError
    """
    for key, modulus, ratio in (("sphere", youngs_modulus, poissons_ratio), ("plane", plane_modulus, plane_ratio)):
        if not modulus > 0.0:
            raise ModelError(f"hertz_stiffness: modulus of the {key} = {modulus!r} Pa, must be above 0 Pa")
        if not -1.0 < ratio <= 0.5:
            raise ModelError(
                f"hertz_stiffness: Poisson's ratio of the {key} = {ratio!r}, must be above -1 and at most 0.5"
            )
    if not 0.0 < radius < np.inf:
        raise ModelError(f"hertz_stiffness: radius = {radius!r} m, must be a finite number above 0 m")
    if np.isinf(youngs_modulus) and np.isinf(plane_modulus):
        raise ModelError("hertz_stiffness: modulus of the sphere = inf Pa, and that of the plane; one must be finite")
    compliance = (1.0 - poissons_ratio**2) / youngs_modulus + (1.0 - plane_ratio**2) / plane_modulus
    return float(4.0 / 3.0 * np.sqrt(radius) / compliance)
