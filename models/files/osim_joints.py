"""Joints of OpenSim as steps along and about axes, each by a function of coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import pi

import numpy as np

from models.files.description import Floats, StepKind
from models.files.merging import Pose
from models.files.osim_functions import Function, function_within, numbers, products, states_function, straight
from models.files.osim_xml import objects, of_parts, text_of
from runtime import SumOfProducts
from runtime.support import Element

X, Y, Z = np.eye(3)
# Kind, axis and number of the coordinate, in the order in which the child moves.
JOINTS: dict[str, tuple[tuple[StepKind, Floats, int], ...]] = {
    "WeldJoint": (),
    "PinJoint": (("turn", Z, 0),),
    "SliderJoint": (("slide", X, 0),),
    "UniversalJoint": (("turn", X, 0), ("turn", Y, 1)),
    "GimbalJoint": (("turn", X, 0), ("turn", Y, 1), ("turn", Z, 2)),
    "BallJoint": (("turn", X, 0), ("turn", Y, 1), ("turn", Z, 2)),
    "EllipsoidJoint": (("turn", X, 0), ("turn", Y, 1), ("turn", Z, 2)),
    "PlanarJoint": (("slide", X, 1), ("slide", Y, 2), ("turn", Z, 0)),
    "FreeJoint": (("slide", X, 3), ("slide", Y, 4), ("slide", Z, 5), ("turn", X, 0), ("turn", Y, 1), ("turn", Z, 2)),
}
ELLIPSOID = "EllipsoidJoint"
ROUND = 1e-12  # [1] differences of the radii of a sphere
SPATIAL = ("translation1", "translation2", "translation3", "rotation1", "rotation2", "rotation3")


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint of a file: its coordinates say where ``child`` is against ``parent``; ``outer`` is the one further from ground."""

    element: Element
    parent: str
    child: str
    on_parent: Pose
    on_child: Pose
    reversed: bool = False

    @property
    def inner(self) -> str:
        """The body nearer to ground."""
        return self.child if self.reversed else self.parent

    @property
    def outer(self) -> str:
        """The body that the joint carries."""
        return self.parent if self.reversed else self.child


@dataclass(frozen=True, eq=False)
class Axis:
    """A step in axes of the joint before it moves, with its function of the coordinates."""

    kind: StepKind
    axis: Floats
    coordinates: tuple[str, ...]
    function: Function
    label: str

    def value(self, at: Mapping[str, float]) -> float:
        """How far it has moved at values of the coordinates."""
        return float(self.function.derivatives(*(at[name] for name in self.coordinates or ("",)))[0])


def coordinate_elements(joint: Element) -> list[Element]:
    """The coordinates of a joint, of both versions."""
    return of_parts(joint, "coordinates").all("Coordinate") + objects(joint, "CoordinateSet", "Coordinate")


def axes_of(joint: Element) -> list[Axis]:
    """The steps of a joint as the file states them.

    Raises
    ------
    ModelError
        With file and line.
    """
    names = [one.need("name") for one in coordinate_elements(joint)]
    if joint.tag in JOINTS:
        steps = JOINTS[joint.tag]
        if len(names) != len(steps):
            raise joint.error(f"<{joint.tag}> has {len(names)} coordinates and needs {len(steps)}; give as many")
        turns = [Axis(kind, axis, (names[n],), straight(1.0, 0.0), names[n]) for kind, axis, n in steps]
        return [*_over_ellipsoid(joint, names), *turns]
    if joint.tag != "CustomJoint":
        raise joint.error(
            f"joint '{joint.need('name')}' is a {joint.tag}; the joints are {', '.join(JOINTS)}, CustomJoint"
        )
    transform = joint.one("SpatialTransform")
    if transform is None:
        raise joint.error(f"joint '{joint.need('name')}' has no <SpatialTransform>; give one")
    by_name = {axis.attributes.get("name", ""): axis for axis in transform.all("TransformAxis")}
    if unknown := set(by_name) - set(SPATIAL):
        raise transform.error(f"<SpatialTransform> has axis '{min(unknown)}'; the axes are {', '.join(SPATIAL)}")
    return [_transform_axis(by_name[label], label, names) for label in SPATIAL if label in by_name]


def _transform_axis(e: Element, label: str, names: Sequence[str]) -> Axis:
    axis = numbers(e, "axis", 3)
    length = float(np.linalg.norm(axis))
    if not length > 1e-12:
        raise e.error(f"axis '{label}' has no length; give a direction")
    used = tuple(text_of(e, "coordinates").split())
    if len(set(used)) < len(used) or set(used) - set(names):
        raise e.error(f"axis '{label}' depends on '{' '.join(used)}'; name coordinates of its joint, each once")
    function = function_within(e, max(len(used), 1))
    if function is None and not states_function(e) and len(used) < 2:
        function = straight(1.0, 0.0) if used else straight(0.0, 0.0)  # as OpenSim completes it
    if function is None:
        raise e.error(f"axis '{label}' has no function that is read; give one with two derivatives")
    if not used and (function.line is None or function.line[0] != 0.0):
        raise e.error(f"axis '{label}' has a function and no coordinate; name one")
    if not used:
        function = straight(0.0, function.value(0.0, 0))
    if function.line is not None and function.line[0] == -1.0:  # the coordinate itself, the other way round
        axis, function = -axis, function.times(-1.0)
    kind: StepKind = "slide" if label.startswith("translation") else "turn"
    return Axis(kind, axis / length, used, function, label)


def sphere_radius(e: Element) -> float:
    """Distance of the child's frame from the centre about which it turns, along its z axis: of a point on a sphere; else 0."""
    radii = _radii(e)
    return float(radii[0]) if np.ptp(radii) <= ROUND * np.abs(radii).max() else 0.0


def _over_ellipsoid(e: Element, names: Sequence[str]) -> list[Axis]:
    """The slides by which the origin of the child's frame stays on an ellipsoid whose normal is the child's z axis.

    Source: Seth, Sherman, Eastman and Delp (2010): r = (a n_x, b n_y, c n_z) with the normal n, here of the first two angles.
    """
    if sphere_radius(e) or not (radii := _radii(e)).any():
        return []
    # n = (sin q1, -sin q0 cos q1, cos q0 cos q1), as products of sines (frequency, phase) of both angles.
    one, sine, cosine = (0.0, pi / 2.0), (1.0, 0.0), (1.0, pi / 2.0)
    normal = ((1.0, one, sine), (-1.0, sine, cosine), (1.0, cosine, cosine))
    found = []
    for label, axis, radius, (sign, *factors) in zip(SPATIAL, (X, Y, Z), radii.tolist(), normal, strict=False):
        frequencies, phases = ([[factor[k] for factor in factors]] for k in range(2))
        law = SumOfProducts([sign * radius], [[0, 0]], frequencies, phases)
        found.append(Axis("slide", axis, tuple(names[:2]), products(law), label))
    return found


def _radii(e: Element) -> Floats:
    return numbers(e, "radii_x_y_z", 3) if e.tag == ELLIPSOID else np.zeros(3)
