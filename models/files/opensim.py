"""Reads models of OpenSim (.osim): bodies, joints, coordinates, markers, point constraints, of versions 3 and 4.

A joint moves its child frame M against its parent frame F by slides along axes of F, then by successive turns.  Each of these is
a function of a coordinate.  The reference pose is that of the default values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from models.files.description import WORLD, Closure, Description, Floats, Frame, Link, Omitted, Step
from models.files.merging import Pose, unmoved
from models.files.naming import identifiers
from models.files.opensim_forces import forces_of
from models.files.opensim_functions import coefficients_of, value_of
from models.files.opensim_text import Entry, entries, flag, number, numbers, text_of
from models.files.xml_reading import Element, read_xml

X, Y, Z = np.eye(3)
GRAVITY = (0.0, -9.80665, 0.0)
# Turns and slides of each kind of joint, in order from the parent, in axes of its parent frame.
STEPS: Mapping[str, tuple[tuple[str, Floats], ...]] = {
    "PinJoint": (("turn", Z),), "SliderJoint": (("slide", X),), "WeldJoint": (), "UniversalJoint": (("turn", X), ("turn", Y)),
    "GimbalJoint": (("turn", X), ("turn", Y), ("turn", Z)), "PlanarJoint": (("slide", X), ("slide", Y), ("turn", Z)),
}  # fmt: skip
PLANAR = (1, 2, 0)  # its coordinates: the turn, then the slides
AXES = ("translation1", "translation2", "translation3", "rotation1", "rotation2", "rotation3")


@dataclass(frozen=True, eq=False)
class Coordinate:
    """A coordinate of a joint: its value in the reference pose, and whether it is kept there."""

    name: str
    value: float
    locked: bool
    element: Element


@dataclass(frozen=True, eq=False)
class Way:
    """A turn or slide of a joint, in axes of its parent frame: by a coordinate, or constant."""

    kind: str
    axis: Floats
    value: float  # in the reference pose [rad], [m]
    coordinate: Coordinate | None


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint of the file: body and pose of both frames, and its motion."""

    name: str
    parent: str
    child: str
    at_parent: Pose
    at_child: Pose
    ways: tuple[Way, ...]
    whole: str  # "ball", "free", or "" for a joint of turns and slides
    coordinates: tuple[Coordinate, ...]


def read_osim(file: Path) -> Description:
    """The description of a model.

    Raises
    ------
    ModelError
        With file and line.
    """
    root = read_xml(file)
    if root.tag != "OpenSimDocument":
        raise root.error(f"the root is <{root.tag}>; a file of OpenSim begins with <OpenSimDocument>")
    model = root.one("Model")
    if model is None:
        raise root.error("has no <Model>; give a model")
    bodies = {entry.name: entry.element for entry in entries(model, "BodySet") if entry.name != "ground"}
    if not bodies:
        raise model.error("<Model> has no body; give a <BodySet> with bodies")
    frames = _frames(model, bodies)
    coupled: list[str] = []
    joints = {joint.child: joint for joint in _joints(model, bodies, frames, coupled)}
    order = _ordered(bodies, joints, model)
    names = identifiers(bodies)
    steps = identifiers([c.name for name in order if name in joints for c in joints[name].coordinates])
    forces = forces_of(model, {c.name: c.value for joint in joints.values() for c in joint.coordinates})
    links = [_link(bodies[name], name, joints[name], names, steps, forces.of) for name in order]
    return Description(
        identifiers([model.attributes.get("name") or file.stem]).popitem()[1], "OpenSim",
        numbers(model, "gravity", 3, GRAVITY), tuple(links),
        frames=tuple(_markers(model, names, frames)), closures=tuple(_closures(model, names)),
        omitted=(*_omitted(model, joints, coupled), *forces.omitted),
    )  # fmt: skip


def _frames(model: Element, bodies: Mapping[str, Element]) -> dict[str, tuple[str, Pose]]:
    """Body and pose of all frames that a path may name, by the last part of the path."""
    found: dict[str, tuple[str, Pose]] = {name: (name, unmoved()) for name in bodies}
    found["ground"] = ("ground", unmoved())
    holders: list[Element | None] = [*bodies.values(), model.one("Ground")]
    for body in holders:
        for element in body.within() if body is not None else ():
            if element.tag == "PhysicalOffsetFrame":
                found.setdefault(element.need("name"), _offset(element, found))
    return found


def _offset(element: Element, frames: Mapping[str, tuple[str, Pose]]) -> tuple[str, Pose]:
    body, pose = _frame(element, "socket_parent", frames)
    return body, pose.then(_pose(element, "translation", "orientation"))


def _frame(element: Element, tag: str, frames: Mapping[str, tuple[str, Pose]]) -> tuple[str, Pose]:
    path = text_of(element, tag)
    name = path.rstrip("/").rpartition("/")[2]
    if name not in frames:
        raise element.error(
            f"<{element.tag}>: <{tag}> names '{path}', which is no body and no frame of this file; correct it"
        )
    return frames[name]


def _pose(element: Element, place: str, angles: str) -> Pose:
    """A pose from a place [m] and angles about x, y, z of turned axes [rad]."""
    turn = Rotation.from_euler("XYZ", numbers(element, angles, 3, (0.0, 0.0, 0.0))).as_matrix()
    return Pose(numbers(element, place, 3, (0.0, 0.0, 0.0)), turn)


def _joints(
    model: Element, bodies: Mapping[str, Element], frames: Mapping[str, tuple[str, Pose]], coupled: list[str]
) -> Iterator[Joint]:
    """All joints; names of steps that follow a coordinate in another way than by its value go to ``coupled``."""
    seen: dict[str, str] = {}
    for name, body in bodies.items():  # version 3: the joint of a body to its parent is in the body
        for holder in body.all("Joint"):
            for element in holder.children:
                parent = text_of(element, "parent_body")
                if parent not in frames:
                    raise element.error(f"joint '{element.need('name')}': parent body '{parent}' does not exist")
                at = _pose(element, "location_in_parent", "orientation_in_parent")
                yield _joint(element, parent, name, at, _pose(element, "location", "orientation"), coupled, seen)
    for entry in entries(model, "JointSet"):
        element, own = entry.element, dict(frames)
        inner = element.one("frames")
        for frame in inner.children if inner is not None else ():
            own[frame.need("name")] = _offset(frame, frames)
        parent, at_parent = _frame(element, "socket_parent_frame", own)
        child, at_child = _frame(element, "socket_child_frame", own)
        if child == "ground":
            raise element.error(f"joint '{entry.name}': its child is the ground; exchange parent and child")
        yield _joint(element, parent, child, at_parent, at_child, coupled, seen)


def _joint(
    element: Element, parent: str, child: str, at_parent: Pose, at_child: Pose, coupled: list[str], seen: dict[str, str]
) -> Joint:
    name = element.need("name")
    if child in seen:
        raise element.error(
            f"joint '{name}': body '{child}' is the child of joint '{seen[child]}' already; a limb is a tree"
        )
    seen[child] = name
    if flag(element, "reverse", False):
        raise element.error(f"joint '{name}' is reversed; exchange its parent and child")
    coordinates = tuple(_coordinates(element))
    ways: tuple[Way, ...] = ()
    whole = {"BallJoint": "ball", "FreeJoint": "free"}.get(element.tag, "")
    if element.tag == "CustomJoint":
        ways = tuple(_custom(element, coordinates, coupled))
    elif element.tag in STEPS:
        kinds = STEPS[element.tag]
        if len(coordinates) != len(kinds):
            raise element.error(
                f"joint '{name}' has {len(coordinates)} coordinates, needs {len(kinds)} as a {element.tag}"
            )
        own = [coordinates[k] for k in (PLANAR if element.tag == "PlanarJoint" else range(len(kinds)))]
        ways = tuple(Way(kind, axis, c.value, c) for (kind, axis), c in zip(kinds, own, strict=True))
    elif not whole:
        known = ", ".join([*STEPS, "BallJoint", "FreeJoint", "CustomJoint"])
        raise element.error(f"joint '{name}' is a {element.tag}; the joints that are read are {known}")
    if whole and any(c.locked or c.value for c in coordinates):
        raise element.error(
            f"joint '{name}' ({element.tag}) has default values or locked coordinates; set them to 0, unlocked"
        )
    return Joint(name, parent, child, at_parent, at_child, ways, whole, coordinates)


def _coordinates(joint: Element) -> Iterator[Coordinate]:
    holder = joint.one("coordinates")
    for entry in (
        [Entry(e.need("name"), e) for e in holder.children] if holder is not None else entries(joint, "CoordinateSet")
    ):
        element = entry.element
        yield Coordinate(entry.name, number(element, "default_value", 0.0), flag(element, "locked", False), element)


def _custom(joint: Element, coordinates: tuple[Coordinate, ...], coupled: list[str]) -> Iterator[Way]:
    """Slides and turns of a CustomJoint; those that follow a coordinate in another way than by its value keep their place."""
    known = {c.name: c for c in coordinates}
    transform = joint.one("SpatialTransform")
    if transform is None:
        raise joint.error(f"joint '{joint.need('name')}' has no <SpatialTransform>; give one")
    axes = {axis.need("name"): axis for axis in transform.all("TransformAxis")}
    if missing := [name for name in AXES if name not in axes]:
        raise transform.error(
            f"joint '{joint.need('name')}' has no TransformAxis '{missing[0]}'; a transform has {', '.join(AXES)}"
        )
    moving: set[str] = set()
    for name in (*AXES[3:], *AXES[:3]):  # a coordinate that turns is an angle
        named = text_of(axes[name], "coordinates", "").split()
        line = coefficients_of(axes[name])
        if len(named) == 1 and line is not None and abs(line[0]) == 1.0 and named[0] not in moving:
            moving.add(named[0])
            axes[name].attributes["by"] = named[0]
    for name in AXES:
        axis, kind = axes[name], "slide" if name.startswith("translation") else "turn"
        direction = numbers(axis, "axis", 3, (1.0, 0.0, 0.0))
        if not (length := float(np.linalg.norm(direction))) > 1e-12:
            raise axis.error(f"joint '{joint.need('name')}', {name}: its axis has no length; give a direction")
        named = text_of(axis, "coordinates", "").split()
        if unknown := [c for c in named if c not in known]:
            raise axis.error(f"joint '{joint.need('name')}', {name}: '{unknown[0]}' is no coordinate of this joint")
        value = value_of(axis, [known[c].value for c in named])
        by = known[axis.attributes["by"]] if "by" in axis.attributes else None
        line = coefficients_of(axis)
        if (
            by is None
            and named
            and not (line is not None and line[0] == 0.0)
            and not all(known[c].locked for c in named)
        ):
            coupled.append(f"{joint.need('name')}.{name}")
        sign = line[0] if by is not None and line is not None else 1.0
        yield Way(kind, sign * direction / length, sign * value, by)


def _ordered(bodies: Mapping[str, Element], joints: Mapping[str, Joint], model: Element) -> list[str]:
    """Parents before children."""
    if alone := [name for name in bodies if name not in joints]:
        raise bodies[alone[0]].error(
            f"body '{alone[0]}' has no joint to its parent; give a FreeJoint to the ground if it floats"
        )
    order, left = ["ground"], dict(joints)
    while ready := [name for name, joint in left.items() if joint.parent in order]:
        order += ready
        for name in ready:
            del left[name]
    if left:
        raise model.error(f"bodies {', '.join(list(left)[:5])} form a loop; a model is a tree with constraints")
    return order[1:]


def _link(
    body: Element, name: str, joint: Joint, names: Mapping[str, str], steps: Mapping[str, str],
    forces: Mapping[str, Mapping[str, float]],
) -> Link:  # fmt: skip
    """The link of a body in the reference pose."""
    moved, ways = unmoved(), []
    for way in joint.ways:
        if way.coordinate is not None and not way.coordinate.locked:
            ways.append((way, moved.rotation @ way.axis))
        slid, turned = (
            (way.value * way.axis, np.zeros(3)) if way.kind == "slide" else (np.zeros(3), way.value * way.axis)
        )
        moved = moved.then(Pose(slid, Rotation.from_rotvec(turned).as_matrix()))
    inverse = joint.at_child.rotation.T
    pose = joint.at_parent.then(moved).then(Pose(-inverse @ joint.at_child.position, inverse))
    to_link = pose.rotation.T @ joint.at_parent.rotation
    found = [
        Step(steps[c.name], way.kind, to_link @ axis, joint.at_child.position, c.value, **forces.get(c.name, {}))  # type: ignore[arg-type]
        for way, axis in ways
        if (c := way.coordinate) is not None
    ]
    if joint.whole:
        whole = "_".join(steps[c.name] for c in joint.coordinates[:1]) or joint.name
        found = [Step(whole, joint.whole, point=joint.at_child.position)]  # type: ignore[arg-type]
    parent = WORLD if joint.parent == "ground" else names[joint.parent]
    mass = number(body, "mass", 0.0)
    if mass < 0.0:
        raise body.error(f"body '{name}': mass = {mass:g} kg, must not be below 0; correct it")
    centre = numbers(body, "mass_center", 3, (0.0, 0.0, 0.0))
    return Link(names[name], parent, pose.position, pose.rotation, mass, centre, _inertia(body), tuple(found))


def _inertia(body: Element) -> Floats:
    if body.one("inertia") is not None:
        xx, yy, zz, xy, xz, yz = numbers(body, "inertia", 6)
    else:
        xx, yy, zz, xy, xz, yz = (number(body, f"inertia_{key}", 0.0) for key in ("xx", "yy", "zz", "xy", "xz", "yz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _markers(model: Element, names: Mapping[str, str], frames: Mapping[str, tuple[str, Pose]]) -> Iterator[Frame]:
    found = entries(model, "MarkerSet")
    labels = identifiers([entry.name for entry in found])
    for entry in found:
        tag = next(
            (t for t in ("socket_parent_frame", "parent_body", "body") if entry.element.one(t) is not None), "body"
        )
        body, pose = _frame(entry.element, tag, frames)
        place = pose.point(numbers(entry.element, "location", 3))
        yield Frame(labels[entry.name], WORLD if body == "ground" else names[body], place, kind="marker")


def _closures(model: Element, names: Mapping[str, str]) -> Iterator[Closure]:
    for entry in entries(model, "ConstraintSet"):
        if entry.element.tag == "PointConstraint" and _enforced(entry.element):
            ends = []
            for k in (1, 2):
                tag = next(
                    (t for t in (f"socket_body_{k}", f"body_{k}") if entry.element.one(t) is not None), f"body_{k}"
                )
                body = text_of(entry.element, tag).rpartition("/")[2]
                if body != "ground" and body not in names:
                    raise entry.element.error(f"constraint '{entry.name}': body '{body}' does not exist; correct it")
                ends.append(
                    (WORLD if body == "ground" else names[body], numbers(entry.element, f"location_body_{k}", 3))
                )
            (one, at_one), (two, at_two) = ends
            yield Closure(identifiers([entry.name])[entry.name], "point", one, two, at_one, at_two)


def _enforced(element: Element) -> bool:
    return flag(element, "isEnforced", True) and not flag(element, "isDisabled", False)


def _omitted(model: Element, joints: Mapping[str, Joint], coupled: list[str]) -> Iterator[Omitted]:
    """What of the file is not in the description, but forces."""
    couplers = coupled + [
        e.name
        for e in entries(model, "ConstraintSet")
        if e.element.tag == "CoordinateCouplerConstraint" and _enforced(e.element)
    ]
    if couplers:
        reason = "functions of coordinates; without them each keeps its value in the default pose, or moves by itself"
        yield Omitted("couplers", tuple(couplers), reason, True)
    others = ("PointConstraint", "CoordinateCouplerConstraint")
    rest = [e.name for e in entries(model, "ConstraintSet") if e.element.tag not in others and _enforced(e.element)]
    if rest:
        yield Omitted("equalities", tuple(rest), "constraints other than of points", True)
    all_of = [c for joint in joints.values() for c in joint.coordinates]
    if driven := tuple(c.name for c in all_of if flag(c.element, "prescribed", False)):
        yield Omitted("prescribed motions", driven, "functions of time; add drivers", True)
    if ranges := tuple(
        c.name for c in all_of if c.element.one("range") is not None and flag(c.element, "clamped", False)
    ):
        yield Omitted("ranges", ranges, "bounds of what may be set; OpenSim gives them no force")
    if locked := tuple(c.name for c in all_of if c.locked):
        yield Omitted("locked coordinates", locked, "they keep their default values")
    drawn = tuple(e.need("name") for e in model.within() if e.tag in ("Mesh", "Geometry") and e.attributes.get("name"))
    if drawn:
        yield Omitted("shapes", drawn, "meshes are not drawn")
