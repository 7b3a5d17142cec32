"""Building of contacts: a contact is checked against its bodies and laws, and described by flat data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.contacts import ContactData
from runtime.jit.python_code import python_code
from runtime.support.arguments import checked, unchecked
from runtime.support.arrays import Floats, read_only
from runtime.support.checks import finite, unit
from runtime.support.errors import ModelError, did_you_mean, shown, unknown_name
from runtime.system.connection import checked_parameter, refuse_other_keys
from runtime.system.global_axes import local_direction, local_point
from runtime.system.parts import AXIS_TOLERANCE, FRICTIONS, GROUND, NORMAL_LAWS, Bounds, Contact
from runtime.system.reference import reference_data, tangents
from runtime.system.signal import Signal, as_signal

# Bounds of the keywords of ``Builder.contact`` that every contact has; those of its laws are stated by their definitions.
COMMON: dict[str, Bounds] = {
    "radius": (0.0, True, None, "m"),
    "transition_velocity": (0.0, True, None, "m/s"),
    "min_impact_speed": (0.0, True, None, "m/s"),
}
POINTS = {
    "centre": "s_i",
    "point": "s_j",
}  # keywords of ``Builder.contact`` and names in the definition of the geometry
OF_DAMPING = 2  # output of a normal law
TRANSITION_VELOCITY, TRANSITION_VELOCITY_OF = (
    1e-3,
    {"sticking": 1e-9},
)  # [m/s] where the user gives none; by law of friction
REMEDY = {
    "stiffness": "a steel ball has 1e10, see hertz_stiffness; a rigid connection is a joint",
    "exponent": "1 is a linear spring, 1.5 is Hertz's",
}


def build_contact(
    name: str, body: str, bodies: Collection[str], *, centre: ArrayLike, radius: float, law: str, friction: str | None,
    plane: str, point: ArrayLike, normal: ArrayLike, belt: ArrayLike | None, belt_speed: Signal | float, transition_velocity:
    float | None,
    min_impact_speed: float, parameters: Mapping[str, float], states: Mapping[str, Floats] | None,
) -> Contact:  # fmt: skip
    """Return a checked contact; see ``Builder.contact``.

    ``states``: of the ground and the bodies by name, (13,) each, where the vectors are given in global axes; else None.

    Raises
    ------
    ModelError
    """
    what = f"contact '{name}'"
    for key, value, known in (("law", law, NORMAL_LAWS), ("friction", friction, FRICTIONS)):
        if not (isinstance(value, str) and value in known) and not (key == "friction" and value is None):
            raise ModelError(
                f"{what}: {key} = {shown(value)}; {did_you_mean(value, known)}use {', '.join(map(repr, known))}"
            )
    for key, value in (("body", body), ("plane", plane)):
        able = [*bodies, GROUND] if key == "plane" else bodies
        if value not in able:
            raise unknown_name(value, able, key, "bodies", f"{what}: ")
    if body == plane:
        raise ModelError(f"{what}: sphere and plane belong to the same body '{body}'; give two")
    bounds = contact_bounds(law, friction)
    wanted = [key for key in bounds if key not in ("impact", *COMMON)]
    both = f"law {law}" + (f" with friction {friction}" if friction else "")
    refuse_other_keys(what, parameters, wanted, f"{both} needs {', '.join(wanted)}", COMMON)
    transition_velocity = (
        TRANSITION_VELOCITY_OF.get(friction or "", TRANSITION_VELOCITY)
        if transition_velocity is None
        else transition_velocity
    )
    given = dict(parameters) | {
        "radius": radius,
        "transition_velocity": transition_velocity,
        "min_impact_speed": min_impact_speed,
    }
    checked = {k: checked_parameter(v, f"{what}: {k}", bounds[k], REMEDY.get(k, "")) for k, v in given.items()}
    values: dict[str, Any] = _vectors(what, body, plane, centre, point, normal, belt, belt_speed, states)
    values["radius"] = checked.pop("radius")
    least = checked.pop("min_impact_speed")
    return unchecked(
        Contact, name, body, plane, law, friction, MappingProxyType(checked), least, as_signal(belt_speed, f"{what}: belt_speed"),
        MappingProxyType({key: read_only(value) for key, value in values.items()}),
    )  # fmt: skip


def contact_units(contact: Contact) -> dict[str, str]:
    """Units of the parameters of a contact, by the keywords of ``Builder.contact``."""
    bounds = contact_bounds(contact.law, contact.friction)
    own = [key for key in bounds if key in contact.parameters or key in ("radius", "min_impact_speed")]
    if not contact.needs_impact:
        own.remove("min_impact_speed")
    if not contact.friction:
        own.remove("transition_velocity")
    return {key: bounds[key][3] or "1" for key in own} | dict.fromkeys(POINTS, "m")


def parameter_of(contact: Contact, key: str) -> Any:
    """The value of a parameter of ``contact_units``."""
    if key == "min_impact_speed":
        return contact.min_impact_speed
    return contact.values[POINTS.get(key, key)] if key == "radius" or key in POINTS else contact.parameters[key]


def changed_contact(contact: Contact, changes: Mapping[str, Any]) -> Contact:
    """A contact with other parameters of ``contact_units``, or another ``normal`` or ``belt``.

    Raises
    ------
    ModelError
        For values that ``Builder.contact`` refuses.
    """
    names = contact.values
    given = {key: names[own] for key, own in {**POINTS, "normal": "n_j", "belt": "b_j", "radius": "radius"}.items()}
    given |= {**contact.parameters, "min_impact_speed": contact.min_impact_speed, **changes}
    named = {key: given.pop(key) for key in (*COMMON, *POINTS, "normal", "belt")}
    return build_contact(
        contact.name, contact.body, (contact.body, contact.plane), law=contact.law, friction=contact.friction,
        plane=contact.plane, belt_speed=contact.belt_speed, parameters=given, states=None, **named,
    )  # fmt: skip


def contact_bounds(law: str, friction: str | None) -> dict[str, Bounds]:
    """Bounds of all numbers of a contact."""
    return NORMAL_LAWS[law].BOUNDS | (FRICTIONS[friction].BOUNDS if friction else {}) | COMMON


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
    laws, frictions = list(NORMAL_LAWS), [None, *FRICTIONS]

    def parameters(names: Sequence[Sequence[str]]) -> Floats:
        values = np.zeros((len(contacts), max(map(len, names), default=1) or 1))
        for k, (contact, own) in enumerate(zip(contacts, names, strict=True)):
            values[k, : len(own)] = [contact.parameters.get(key, contact.min_impact_speed) for key in own]
        return values

    of_law = [NORMAL_LAWS[c.law].PARAMETERS for c in contacts]
    of_friction = [FRICTIONS[c.friction].PARAMETERS if c.friction else () for c in contacts]
    return ContactData(
        law=np.array([laws.index(c.law) for c in contacts], np.int64),
        friction=np.array([frictions.index(c.friction) - 1 for c in contacts], np.int64),
        **reference_data("contact", contacts, index, states, ("body", "plane")),
        normal=parameters(of_law),
        impact=np.array([names.index("impact") if "impact" in names else -1 for names in of_law], np.int64),
        min_impact_speed=np.array([c.min_impact_speed for c in contacts], float),
        fades=np.array([bool(fades(c)) for c in contacts], np.int64),
        tangential=parameters(of_friction),
        transition_velocity=np.array([c.parameters["transition_velocity"] for c in contacts], float),
        kinks=np.array([friction_has_kink(c.friction) for c in contacts], np.int64),
        signal=first_signal + np.arange(len(contacts)),
        signal_place=np.array([c.module.SIZE - 3 for c in contacts], np.int64),
    )


@cache
def friction_has_kink(friction: str | None) -> bool:
    """Whether a law of friction is another one above the transition velocity."""
    if friction is None:
        return False
    module, found = FRICTIONS[friction], np.zeros((2, 15))
    slip, ones = np.array([0.5, 0.0, 0.0]), np.ones(len(module.PARAMETERS))
    for law, out in zip((module.below, module.above), found, strict=True):
        python_code(law)(slip, 1.0, ones, out)
    return not np.array_equal(*found)


def fades(contact: Contact, given: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Whether the damping of a contact is 0 on the plane, with these values, (cases,) each, of parameters of its normal law."""
    module, out = NORMAL_LAWS[contact.law], dict[int, Any]()
    values = {**contact.parameters, "impact": contact.min_impact_speed, **given}
    with np.errstate(all="ignore"):
        python_code(module.law)(0.0, 1.0, [np.asarray(values[name], float) for name in module.PARAMETERS], out)
    return out[OF_DAMPING] == 0.0


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
