"""What of an OpenSim model is not carried over."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from math import pi

from models.files.description import LimitForce, Omitted
from models.files.osim_bushings import BUSHING
from models.files.osim_contacts import HUNT_CROSSLEY, SMOOTH
from models.files.osim_functions import numbers
from models.files.osim_xml import active, objects, text_of, truth
from runtime.support import Element

SPRING = "SpringGeneralizedForce"
LIMIT = "CoordinateLimitForce"
ACTUATOR = "CoordinateActuator"
MUSCLE = "Muscle"  # in each of their kinds
NARROWEST = 1e-6  # [rad], [m] transition of a limit
# Property, OpenSim's default, and the power of the unit, a degree or a metre, in it.
LIMIT_VALUES = (
    ("lower_limit", 0.0, 1), ("upper_limit", 0.0, 1), ("lower_stiffness", 1.0, -1), ("upper_stiffness", 1.0, -1),
    ("damping", 0.001, -1), ("transition", 0.1, 1),
)  # fmt: skip
CARRIED = ("CoordinateCouplerConstraint", "PointConstraint")  # as steps, and as closures
SETS = {"ProbeSet": "probes"}
# Of parts in the model, its bodies, joints and frames instead of in a set: end of their kind, sort, whether they change motion.
LOOSE = (
    (MUSCLE, "muscles", False), ("Actuator", "actuators", False), ("Controller", "controllers", False),
    ("Probe", "probes", False), ("IMU", "sensors", False), ("ContactSphere", "contact geometry", False),
    ("ContactHalfSpace", "contact geometry", False), ("ContactMesh", "contact geometry", False),
    ("HuntCrossleyForce", "other contacts", True), ("ElasticFoundationForce", "other contacts", True),
    ("SmoothSphereHalfSpaceForce", "other contacts", True),
)  # fmt: skip
REASONS = {
    "muscles": "parts of the model that are in no set of forces",
    "actuators": "they act by controls, which a model does not hold",
    "other contacts": "contact forces",
    "limits": "forces at limits of coordinates",
    "forces": "forces that act without controls",
    "disabled forces": "the file switches them off",
    "controllers": "they set controls; give excitations and efforts instead",
    "contact geometry": "it acts by contact forces alone",
    "probes": "no influence on the motion",
    "sensors": "no influence on the motion",
    "shapes": "bones and other geometry are not drawn",
}
SHAPES = (
    "Mesh",
    "DisplayGeometry",
    "Brick",
    "Cylinder",
    "Ellipsoid",
    "Sphere",
    "LineGeometry",
    "Arrow",
    "Cone",
    "Torus",
)
FRAMES = ("PhysicalOffsetFrame", "Marker", "Station")  # among the components of bodies and joints
CONTACTS = ("HuntCrossleyForce", "ElasticFoundationForce", "SmoothSphereHalfSpaceForce")


def springs_of(model: Element, defaults: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Stiffness, damping and free value of the springs of coordinates, by these; ``defaults``: values in the reference pose.

    Raises
    ------
    ModelError
        With file and line, for a spring of no coordinate, a second one, and values below 0.
    """
    found: dict[str, dict[str, float]] = {}
    for e in filter(active, objects(model, "ForceSet", SPRING)):
        name = text_of(e, "coordinate")
        if name not in defaults or name in found:
            why = "has another spring; add them to one" if name in found else "does not exist; correct it"
            raise e.error(f"force '{_name(e)}': coordinate '{name}' {why}")
        values = {
            to: float(numbers(e, tag, 1, (0.0,))[0])
            for tag, to in (("stiffness", "stiffness"), ("viscosity", "damping"))
        }
        if worst := [what for what, value in values.items() if value < 0.0]:
            raise e.error(f"force '{_name(e)}': {worst[0]} = {values[worst[0]]:g}, must not be below 0; correct it")
        found[name] = values | {"free": float(numbers(e, "rest_length", 1, (0.0,))[0]) - defaults[name]}
    return found


def limits_of(
    model: Element, defaults: Mapping[str, float], turning: Collection[str]
) -> dict[str, dict[str, tuple[LimitForce, ...]]]:
    """The limit forces of coordinates, which add, as values of their steps; ``turning``: coordinates in rad (limits in degrees).

    Raises
    ------
    ModelError
        With file and line, for a limit of no coordinate, and values that make none.
    """
    found: dict[str, dict[str, tuple[LimitForce, ...]]] = {}
    for e in filter(active, objects(model, "ForceSet", LIMIT)):
        name = text_of(e, "coordinate")
        if name not in defaults:
            raise e.error(f"force '{_name(e)}': coordinate '{name}' does not exist; correct it")
        unit, values = (pi / 180.0 if name in turning else 1.0), {}
        for tag, usual, power in LIMIT_VALUES:
            values[tag] = float(numbers(e, tag, 1, (usual,))[0]) * unit**power
            if values[tag] < 0.0 and power < 0:
                raise e.error(f"force '{_name(e)}': {tag} must not be below 0; correct it")
        lower, upper = (values[f"{end}_limit"] - defaults[name] for end in ("lower", "upper"))
        if not upper > lower or not values["transition"] >= NARROWEST:
            rule = f"upper_limit must be above lower_limit, and transition at least {NARROWEST:g} rad or m"
            raise e.error(f"force '{_name(e)}': {rule}; correct it")
        stiffnesses = (values["lower_stiffness"], values["upper_stiffness"])
        one = LimitForce(lower, upper, *stiffnesses, values["damping"], values["transition"])
        found[name] = {"limits": (*found.get(name, {}).get("limits", ()), one)}
    return found


def omitted_parts(
    model: Element,
    followers: Iterable[tuple[str, str]],
    of_followers: Collection[tuple[str, str]],
    motors: Collection[str],
) -> tuple[Omitted, ...]:
    """What is not in the description, but for muscles and their controllers, which say so themselves.

    ``followers``: steps that follow a coordinate in a way that is not read, with it; ``of_followers``: kinds of springs and
    limits whose coordinates no step has, with these; ``motors``: coordinates whose actuators are motors.
    """
    found = [*_forces(model, of_followers, motors), *_constraints(model), *_coordinates(model)]
    followers = list(followers)
    if followers:
        names = tuple(f"{step} of {coordinate}" for step, coordinate in followers)
        reason = "what follows coordinates without steps of their own, or by a function that is not read"
        found.append(Omitted("couplers", names, reason, True))
    for group, sort in SETS.items():
        found.append(Omitted(sort, tuple(map(_name, objects(model, group, None))), REASONS[sort]))
    found += _loose(model)
    wraps = tuple(_name(e) for holder in model.within() for e in objects(holder, "WrapObjectSet", None))
    found.append(Omitted("wrapping", wraps, "it guides the paths of muscles that are not here"))
    drawn = tuple(
        e.attributes.get("name", "ground") for e in model.within() if e.tag in ("Body", "Ground") and _is_drawn(e)
    )
    found.append(Omitted("shapes", drawn, REASONS["shapes"]))
    return _by_sort(found)


def _by_sort(found: Iterable[Omitted]) -> tuple[Omitted, ...]:
    """One entry for each sort that has names."""
    merged: dict[tuple[str, bool], Omitted] = {}
    for one in found:
        known = merged.get((one.sort, one.moves))
        merged[one.sort, one.moves] = one if known is None else replace(known, names=known.names + one.names)
    return tuple(one for one in merged.values() if one.names)


def _is_drawn(body: Element) -> bool:
    """Whether a body has shapes, of either version."""
    return any(e.tag in SHAPES or e.tag == "geometry_files" and e.text.strip() for e in body.within())


def _name(e: Element) -> str:
    return e.attributes.get("name") or f"{e.tag}, line {e.line}"


def _loose(model: Element) -> list[Omitted]:
    """Components within bodies, joints, frames and the model itself, other than frames and points."""
    owners = ("Model", "Body", "Ground", *FRAMES)
    holders = [h for e in model.within() if e.tag in owners or e.tag.endswith("Joint") for h in e.all("components")]
    nested = [e for h in holders for e in h.children if e.tag not in FRAMES]
    found = []
    for e in [*objects(model, "ComponentSet", None), *nested]:
        sort, moves = next(((sort, moves) for end, sort, moves in LOOSE if e.tag.endswith(end)), ("components", True))
        sort, moves = ("shapes", False) if e.tag in SHAPES else (sort, moves)
        reason = REASONS.get(sort, "parts of a kind that is not read")
        if moves and not active(e):
            sort, reason, moves = "disabled forces", REASONS["disabled forces"], False
        found.append(Omitted(sort, (_name(e),), reason, moves))
    return found


def _forces(model: Element, of_followers: Collection[tuple[str, str]], motors: Collection[str]) -> list[Omitted]:
    """Forces by what they need in order to act."""
    sorts: dict[str, list[str]] = {
        sort: [] for sort in ("actuators", "other contacts", "limits", "forces", "disabled forces")
    }
    for e in objects(model, "ForceSet", None):
        if e.tag in (SPRING, LIMIT) and active(e) and (e.tag, text_of(e, "coordinate")) not in of_followers:
            continue
        if active(e) and (
            e.tag in (BUSHING, HUNT_CROSSLEY, SMOOTH)
            or MUSCLE in e.tag
            or (e.tag == ACTUATOR and text_of(e, "coordinate") in motors)
        ):
            continue
        sort = "actuators" if e.tag.endswith("Actuator") else "forces"
        sort = "other contacts" if e.tag in CONTACTS else "limits" if e.tag == LIMIT else sort
        sorts[sort if active(e) else "disabled forces"].append(_name(e))
    return [
        Omitted(sort, tuple(names), REASONS[sort], sort in ("forces", "other contacts", "limits"))
        for sort, names in sorts.items()
    ]


def _constraints(model: Element) -> list[Omitted]:
    """Constraints other than couplers, which are steps."""
    elements = [e for e in objects(model, "ConstraintSet", None)]
    off = tuple(_name(e) for e in elements if not active(e))
    on = tuple(_name(e) for e in elements if active(e) and e.tag not in CARRIED)
    return [
        Omitted("disabled constraints", off, "the file switches them off"),
        Omitted("constraints", on, "constraints between bodies", True),
    ]


def _coordinates(model: Element) -> list[Omitted]:
    """Ranges, prescribed motion and speeds of coordinates."""
    elements = [e for e in model.within() if e.tag == "Coordinate" and e.attributes.get("name")]
    ranges = tuple(_name(e) for e in elements if e.one("range") is not None)
    speeds = tuple(_name(e) for e in elements if numbers(e, "default_speed_value", 1, (0.0,)).any())
    prescribed = tuple(_name(e) for e in elements if truth(e, "prescribed", False))
    return [
        Omitted("ranges", ranges, "they bound poses that are sought, and exert no forces"),
        Omitted("speeds", speeds, "default values of rates; give rates to a run"),
        Omitted("prescribed coordinates", prescribed, "coordinates that are functions of time", True),
    ]
