"""Muscles of OpenSim models of versions 3 and 4 with their paths; those that cannot be read exactly are refused one by one.

Source of the rules: GeometryPath, MovingPathPoint, ConditionalPathPoint and WrapCylinder of OpenSim 4.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from models.files.description import (
    COMPLIANCE,
    ConditionalPoint,
    CylinderWrap,
    Floats,
    MovingPoint,
    Muscle,
    Omitted,
    PathPoint,
    Point,
)
from models.files.merging import Pose
from models.files.naming import identifiers, unique
from models.files.osim_functions import Function, function_within, numbers, straight
from models.files.osim_omissions import MUSCLE
from models.files.osim_xml import active, objects, of_parts, text_of, truth
from runtime import ModelError
from runtime.support import Element

# By the property of OpenSim, or by its curve and property: the constant of the law, which is the same name where none is given.
COMMON = dict.fromkeys(
    ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle_at_optimal",
     "max_contraction_velocity", "activation_time_constant", "deactivation_time_constant"), ""
)  # fmt: skip
BOUNDED = dict.fromkeys(("minimum_activation", "maximum_pennation_angle"), "")
THELEN = {
    "FmaxTendonStrain": "fmax_tendon_strain", "FmaxMuscleStrain": "fmax_muscle_strain", "KshapeActive": "kshape_active",
    "KshapePassive": "kshape_passive", "Af": "af", "Flen": "flen", "fv_linear_extrap_threshold": "",
}  # fmt: skip
CURVES = {
    "ActiveForceLengthCurve": dict.fromkeys(
        ("min_norm_active_fiber_length", "transition_norm_fiber_length", "max_norm_active_fiber_length",
         "shallow_ascending_slope", "minimum_value"), ""
    ),
    "ForceVelocityCurve": dict.fromkeys(
        ("concentric_slope_at_vmax", "concentric_slope_near_vmax", "isometric_slope", "eccentric_slope_at_vmax",
         "eccentric_slope_near_vmax", "max_eccentric_velocity_force_multiplier", "concentric_curviness", "eccentric_curviness"),
        "",
    ),
    "FiberForceLengthCurve": {
        "strain_at_zero_force": "passive_fiber_strain_at_zero_force",
        "strain_at_one_norm_force": "passive_fiber_strain_at_one_norm_force",
        "stiffness_at_low_force": "passive_fiber_stiffness_at_low_force",
        "stiffness_at_one_norm_force": "passive_fiber_stiffness_ratio", "curviness": "passive_fiber_curviness",
    },
    "TendonForceLengthCurve": {
        "strain_at_one_norm_force": "tendon_strain_at_one_norm_force",
        "stiffness_at_one_norm_force": "tendon_stiffness_ratio", "norm_force_at_toe_end": "tendon_norm_force_at_toe_end",
        "curviness": "tendon_curviness",
    },
}  # fmt: skip
DE_GROOTE = dict.fromkeys(
    ("activation_dynamics_smoothing", "active_force_width_scale", "fiber_damping", "passive_fiber_strain_at_one_norm_force",
     "tendon_strain_at_one_norm_force"), ""
)  # fmt: skip


class Kind(NamedTuple):
    """How OpenSim 4.6 takes a kind of muscle: the law, its constants by property, and the default of the activation.

    ``fibre_alone``: its static optimisation applies the force of the fibre without the cosine of the pennation angle.
    """

    law: str
    properties: Mapping[str, str]
    activation: float
    fibre_alone: bool


LAWS = {
    "Thelen2003Muscle": Kind("thelen_as_opensim", COMMON | BOUNDED | THELEN, 0.05, False),
    "Millard2012EquilibriumMuscle": Kind("millard_as_opensim", COMMON | BOUNDED | {"fiber_damping": ""}, 0.05, True),
    "DeGrooteFregly2016Muscle": Kind("de_groote_as_opensim", COMMON | DE_GROOTE, 0.5, True),
}
# Properties without a default in the laws, with those of OpenSim; of Millard's curves, where the ratios of stiffness need them.
DEFAULTS = {
    "max_isometric_force": 1000.0, "optimal_fiber_length": 0.1, "tendon_slack_length": 0.2, "pennation_angle_at_optimal": 0.0,
}  # fmt: skip
FIBER_STRAINS, TENDON_STRAIN = (0.0, 0.7), 0.049
# Of Millard's muscle: without damping, the active curve is at least so high, and slopes at the maximum velocities are at least
# half of those near them, whose defaults these are.
LEAST_DAMPING, LEAST_ACTIVE, SLOPES_NEAR_VMAX = 0.001, 0.1, {"concentric": 0.25, "eccentric": 0.15}
IGNORED = {
    "ignore_tendon_compliance": COMPLIANCE, "ignore_activation_dynamics": "activation dynamics",
    "ignore_passive_fiber_force": "passive fiber force",
}  # fmt: skip
DISABLED = "disabled in the file; enable it there"
CONDITION = 1e-5  # [rad], [m] by which OpenSim widens the range of a conditional point
RANGE = (-10.0, 10.0)  # of a coordinate without one
QUADRANTS = ("x", "y")  # across the axis of a cylinder, with a sign
SPATIAL = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class _Model:
    """What the functions below share."""

    frame: Callable[[Element, str], tuple[str, Pose]]
    reference: Callable[[str], Pose]
    ranges: Mapping[str, tuple[float, float]]
    wraps: Mapping[str, tuple[Element, str]]  # wrap objects by name, with the frames that hold them


def muscles_of(
    model: Element,
    frame: Callable[[Element, str], tuple[str, Pose]],
    reference: Callable[[str], Pose],
    coordinates: Mapping[str, Element],
) -> tuple[tuple[Muscle, ...], tuple[Omitted, ...]]:
    """The muscles of a model that act, and those that are not read, by reason.

    Parameters
    ----------
    model : element
    frame : link and pose of a frame that an element names
    reference : pose of a link in the reference pose, which decides the order of two cylinders between the same points
    coordinates : elements by name
    """
    ranges = {name: _pair(e, "range", RANGE) for name, e in coordinates.items()}
    f = _Model(frame, reference, ranges, dict(_wrap_objects(model)))
    every = [e for e in objects(model, "ForceSet", None) if _is_muscle(e)]
    elements = [e for e in every if active(e)]
    names = identifiers(unique(e.attributes.get("name") or e.tag for e in elements))
    found: list[Muscle] = []
    refused: dict[str, list[str]] = {}
    if disabled := [e.attributes.get("name") or e.tag for e in every if not active(e)]:
        refused[DISABLED] = disabled
    for e, (given, name) in zip(elements, names.items(), strict=True):
        try:
            found.append(_muscle(f, e, name))
        except ModelError as error:
            refused.setdefault(str(error), []).append(given)
    return tuple(found), tuple(Omitted("muscles", tuple(of), reason) for reason, of in refused.items())


def _is_muscle(e: Element) -> bool:
    return MUSCLE in e.tag


def _wrap_objects(model: Element) -> Iterator[tuple[str, tuple[Element, str]]]:
    """Objects that paths lead around; of several with one name the first."""
    known = set[str]()
    for holder in model.within():
        for e in objects(holder, "WrapObjectSet", None):
            name = e.attributes.get("name", "")
            if name not in known:
                known.add(name)
                yield name, (e, holder.attributes.get("name", ""))


def _pair(e: Element, tag: str, default: tuple[float, float]) -> tuple[float, float]:
    lower, upper = numbers(e, tag, 2, default).tolist()
    return lower, upper


def _muscle(f: _Model, e: Element, name: str) -> Muscle:
    if e.tag not in LAWS:
        raise ModelError(f"muscles of the kind {e.tag} are not read; the kinds are {', '.join(LAWS)}")
    path = e.one("GeometryPath") or of_parts(e, "path").one("GeometryPath")
    if path is None:
        raise ModelError("has no <GeometryPath>")
    points = tuple(_point(f, one) for one in objects(path, "PathPointSet", None))
    if len(points) < 2:
        raise ModelError(f"its path has {len(points)} points, and needs two")
    ignored = tuple(what for tag, what in IGNORED.items() if truth(e, tag, False))
    kind = LAWS[e.tag]
    return Muscle(
        name, e.tag, kind.law, points, _wraps(f, path, points), DEFAULTS | _constants(e, kind.properties, ignored), ignored,
        float(numbers(e, "min_control", 1, (0.01,))[0]), float(numbers(e, "max_control", 1, (1.0,))[0]),
        float(numbers(e, "default_activation", 1, (kind.activation,))[0]),
    )  # fmt: skip


def _constants(e: Element, properties: Mapping[str, str], ignored: tuple[str, ...]) -> dict[str, float]:
    """The constants of a law that a muscle states."""
    found = _stated(e, properties)
    if e.tag != "Millard2012EquilibriumMuscle":
        return found
    for curve, own in CURVES.items():
        found |= _stated(of_parts(e, curve), own)
    at_zero = found.get("passive_fiber_strain_at_zero_force", FIBER_STRAINS[0])
    at_one = found.get("passive_fiber_strain_at_one_norm_force", FIBER_STRAINS[1])
    if "passive_fiber_stiffness_ratio" in found:  # OpenSim states the stiffness
        found["passive_fiber_stiffness_ratio"] *= at_one - at_zero
    if "tendon_stiffness_ratio" in found:
        found["tendon_stiffness_ratio"] *= found.get("tendon_strain_at_one_norm_force", TENDON_STRAIN)
    damped = found.get("fiber_damping", 1.0) >= LEAST_DAMPING
    if not damped:
        found["fiber_damping"] = 0.0
    # OpenSim overrides the values of the file.
    classic = not damped and COMPLIANCE not in ignored
    lowest = max(found.get("minimum_value", LEAST_ACTIVE), LEAST_ACTIVE)
    found["minimum_value"] = lowest if classic else 0.0
    for side, near in SLOPES_NEAR_VMAX.items():
        half = found.get(f"{side}_slope_near_vmax", near) / 2.0
        found[f"{side}_slope_at_vmax"] = max(found.get(f"{side}_slope_at_vmax", half), half) if classic else 0.0
    return found


def _stated(e: Element, properties: Mapping[str, str]) -> dict[str, float]:
    return {to or tag: float(numbers(e, tag, 1)[0]) for tag, to in properties.items() if text_of(e, tag)}


def _point(f: _Model, e: Element) -> Point:
    """A point of a path."""
    link, pose = f.frame(e, text_of(e, "socket_parent_frame") or text_of(e, "body"))
    if e.tag == "MovingPathPoint":
        names = {_coordinate(f, e, f"{axis}_coordinate") for axis in SPATIAL}
        if len(names) > 1:
            raise ModelError("has a moving point that follows several coordinates")
        (coordinate,) = names
        along = tuple(_along(e, f"{axis}_location") for axis in SPATIAL)
        bounds = f.ranges[coordinate]
        return MovingPoint(link, coordinate, along, pose.position, pose.rotation, *bounds)  # type: ignore[arg-type]
    location = pose.point(numbers(e, "location", 3))
    if e.tag == "ConditionalPathPoint":
        lower, upper = _pair(e, "range", (0.0, 0.0))
        coordinate = _coordinate(f, e, "coordinate")
        return ConditionalPoint(link, location, coordinate, lower - CONDITION, upper + CONDITION)
    if e.tag != "PathPoint":
        raise ModelError(f"has a point of the kind {e.tag}, which is not read")
    return PathPoint(link, location)


def _along(e: Element, tag: str) -> Function:
    """The function of a moving point along an axis."""
    holder = e.one(tag)
    if holder is None:
        return straight(0.0, 0.0)
    found = function_within(holder)
    if found is None:
        raise ModelError(f"has a moving point whose {tag} is a function that is not read")
    return found


def _coordinate(f: _Model, e: Element, tag: str) -> str:
    name = (text_of(e, f"socket_{tag}") or text_of(e, tag)).split("/")[-1]
    if name not in f.ranges:
        raise ModelError(f"has a point of the coordinate '{name}', which does not exist")
    return name


def _wraps(f: _Model, path: Element, points: Sequence[Point]) -> tuple[CylinderWrap, ...]:
    """The cylinders that a path leads around, in their order along it; other objects, or more of them, are refused."""
    found = list[CylinderWrap]()
    for e in objects(path, "PathWrapSet", None):
        name = text_of(e, "wrap_object")
        if name not in f.wraps:
            raise ModelError(f"wraps over '{name}', which does not exist")
        one, holder = f.wraps[name]
        if not truth(one, "active", True):
            continue
        if one.tag != "WrapCylinder":
            raise ModelError(f"wraps over '{name}', a {one.tag}; paths wrap over WrapCylinder only")
        first, last = (int(k) for k in _pair(e, "range", (-1.0, -1.0)))
        first, last = max(first - 1, 0), last - 1 if last > 0 else len(points) - 1
        if not first < last < len(points):
            raise ModelError(
                f"wraps over '{name}' from point {first + 1} to {last + 1} of {len(points)}; correct the range"
            )
        found.append(_cylinder(f, one, name, holder, first, last))
    for wrap in found:
        several = wrap.last - wrap.first > 1
        if wrap.sided and several:
            raise ModelError(
                f"wraps over one side of '{wrap.name}' between more than two points; give the range of its PathWrap"
            )
        shared = [f"'{w.name}'" for w in found if max(wrap.first, w.first) < min(wrap.last, w.last)]
        if len(shared) > 2 or (len(shared) > 1 and several):
            raise ModelError(
                f"wraps over {', '.join(shared)} between the same points, limit two cylinders between two points; give the "
                "ranges of its PathWraps"
            )
    return tuple(sorted(found, key=lambda wrap: (wrap.first, _along_piece(f, wrap, points))))


def _along_piece(f: _Model, wrap: CylinderWrap, points: Sequence[Point]) -> float:
    """Where the centre of a cylinder is along the line from the first of its points to the last, in the reference pose."""
    start, end = (
        f.reference(p.link).point(p.at(np.zeros(1))[0][0] if isinstance(p, MovingPoint) else p.location)
        for p in (points[wrap.first], points[wrap.last])
    )
    return float((f.reference(wrap.link).point(wrap.centre) - start) @ (end - start))


def _cylinder(f: _Model, e: Element, name: str, holder: str, first: int, last: int) -> CylinderWrap:
    from scipy.spatial.transform import Rotation  # here because the import takes a tenth of a second

    link, pose = f.frame(e, holder)
    turn = Rotation.from_euler("XYZ", numbers(e, "xyz_body_rotation", 3, (0.0, 0.0, 0.0))).as_matrix()
    own = pose.then(Pose(numbers(e, "translation", 3, (0.0, 0.0, 0.0)), turn))
    radius, length = (float(numbers(e, tag, 1, (1.0,))[0]) for tag in ("radius", "length"))
    if not (radius > 0.0 and length > 0.0):
        raise ModelError(f"wraps over '{name}' of radius {radius:g} m and length {length:g} m, which must be above 0")
    side, sided = _side(e, name, own)
    return CylinderWrap(name, link, own.position, own.rotation[:, 2], side, sided, radius, length, first, last)


def _side(e: Element, name: str, pose: Pose) -> tuple[Floats, bool]:
    """A direction across the axis of a cylinder, and whether the path passes on this side of it."""
    quadrant = (text_of(e, "quadrant") or "all").lower()
    if quadrant in ("all", "unassigned"):
        return pose.rotation[:, 0], False
    if quadrant.lstrip("+-") not in QUADRANTS:
        raise ModelError(f"wraps over '{name}' with the quadrant '{quadrant}', which is not across its axis")
    return (-1.0 if quadrant[0] == "-" else 1.0) * pose.rotation[:, QUADRANTS.index(quadrant[-1])], True
