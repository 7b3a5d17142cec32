"""Reads OpenSim models of versions 3 and 4: bodies, joints with their functions, markers; what is not read is listed or refused.

Joints are steps: slides along axes of the parent's frame first, then turns about body-fixed axes (Seth, Sherman, Eastman and Delp
2010).  The reference pose is that of the default values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from models.files.building import REFERENCE
from models.files.description import (
    WORLD,
    Actuator,
    Bushing,
    Closure,
    Contact,
    Description,
    FileCoordinate,
    Floats,
    Frame,
    Law,
    LimitForce,
    Link,
    Omitted,
    Step,
)
from models.files.merging import Pose, unmoved
from models.files.motion import motion_of
from models.files.naming import identifiers, unique
from models.files.osim_bushings import bushings_of
from models.files.osim_contacts import contacts_of
from models.files.osim_controllers import controllers_of
from models.files.osim_couplers import COUPLER, Coordinates, Coupler, couplers, followers
from models.files.osim_functions import Function, numbers
from models.files.osim_joints import Axis, Joint, Z, axes_of, coordinate_elements, sphere_radius
from models.files.osim_omissions import ACTUATOR, LIMIT, SPRING, limits_of, omitted_parts, springs_of
from models.files.osim_paths import muscles_of
from models.files.osim_xml import active, name_unnamed, objects, of_parts, text_of, truth, with_defaults
from models.files.xml_reading import read_xml
from runtime.support import Element, shortened

# Units of a model, with the names of each in lower case.
UNITS = {
    "length_units": ("meters", ("m", "meter", "meters", "metre", "metres")),
    "force_units": ("N", ("n", "newton", "newtons")),
}


@dataclass(eq=False)
class _File:
    """What the functions below share."""

    root: Element
    bodies: dict[str, Element]
    joints: list[Joint]
    names: dict[str, str] = field(default_factory=dict)  # of bodies
    offsets: dict[str, list[Element]] = field(default_factory=dict)  # frames by name
    laws: list[Law] = field(default_factory=list)
    defaults: dict[str, float] = field(default_factory=dict)  # of coordinates
    locked: set[str] = field(default_factory=set)
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)  # of coordinates that are clamped
    functions: dict[str, Function] = field(default_factory=dict)  # of steps
    used: dict[str, str] = field(default_factory=dict)  # names of Talus by coordinate
    springs: dict[str, dict[str, float]] = field(default_factory=dict)  # values of steps by coordinate
    limits: dict[str, dict[str, tuple[LimitForce, ...]]] = field(default_factory=dict)  # likewise


def read_osim(file: Path) -> Description:
    """The description of an OpenSim model.

    Raises
    ------
    ModelError
        With file and line.
    """
    root = read_xml(file)
    if root.tag != "OpenSimDocument" or root.one("Model") is None:
        raise root.error(f"the root is <{root.tag}>; an OpenSim model is <OpenSimDocument> with a <Model>")
    model = of_parts(root, "Model")
    _refuse_other_units(model)
    with_defaults(model)
    bodies: dict[str, Element] = {}
    for body in objects(model, "BodySet", "Body"):
        name = body.need("name")
        if name in bodies:
            raise body.error(f"body '{name}' exists already, line {bodies[name].line}; names must differ")
        bodies[name] = body
    if not set(bodies) - {WORLD}:
        raise model.error("<Model> has no body; give one")
    f = _File(model, bodies, [])
    for e in model.within():
        if e.tag == "PhysicalOffsetFrame":
            f.offsets.setdefault(e.attributes.get("name", ""), []).append(e)
    f.names = {**identifiers(name for name in bodies if name != WORLD), WORLD: WORLD}
    name_unnamed(model)
    f.joints = _joints(f)
    _coordinates(f)
    f.springs = springs_of(model, f.defaults)
    turning = {
        name
        for joint in f.joints
        for axis in axes_of(joint.element)
        if axis.kind == "turn"
        for name in axis.coordinates
    }
    f.limits = limits_of(model, f.defaults, turning)
    links = tuple(_link(f, joint) for joint in _ordered(f))
    gravity = numbers(model, "gravity", 3, (0.0, -9.80665, 0.0))
    driven = couplers(objects(model, "ConstraintSet", COUPLER), f.defaults, f.locked)
    following, left = followers(f.laws, f.functions, Coordinates(f.defaults, f.locked, f.used), driven)
    left_forces = [
        (tag, name) for tag, of in ((SPRING, f.springs), (LIMIT, f.limits)) for name in of if name not in f.locked
    ]
    own = {law.coordinate: law.step for law in f.laws if law.own and law.coordinate not in f.locked}
    bushings = _bushings(f)
    contacts, without = _contacts(f, links, [one.name for one in bushings])
    omitted = (*omitted_parts(model, left, left_forces, own), *(one for one in without if one.names))
    elements = {e.need("name"): e for joint in f.joints for e in coordinate_elements(joint.element)}
    muscles, unread = muscles_of(model, partial(_frame_of_link, f), _references(links), elements)
    return Description(
        model.attributes.get("name", "").strip() or file.stem,
        "OpenSim",
        gravity,
        links,
        frames=_markers(f),
        closures=tuple(_closures(f)),
        bushings=bushings,
        contacts=contacts,
        omitted=omitted,
        laws=tuple(f.laws),
        followers=following,
        coordinates=_file_coordinates(f, driven),
        bodies=f.names,
        actuators=tuple(_actuators(model, own)),
        muscles=muscles,
        unread_muscles=unread,
        controllers=controllers_of(model, [muscle.name for muscle in muscles]),
    )


def _refuse_other_units(model: Element) -> None:
    """Refuse a model that states other units than metres and newtons, of which no number of a file is converted."""
    for tag, (unit, names) in UNITS.items():
        given = text_of(model, tag)
        if given and given.lower() not in names:
            raise model.all(tag)[0].error(
                f'<{tag}> = "{shortened(given)}"; numbers of OpenSim models are read in {unit}: convert the file, or write '
                f"{unit} there if its numbers are"
            )


def _actuators(model: Element, steps: Mapping[str, str]) -> Iterator[Actuator]:
    """The actuators of coordinates that are steps, without a control; ``steps``: by coordinate."""
    found = [e for e in objects(model, "ForceSet", ACTUATOR) if active(e) and text_of(e, "coordinate") in steps]
    names = identifiers(unique(e.attributes.get("name") or ACTUATOR for e in found))
    for e, name in zip(found, names.values(), strict=True):
        yield Actuator(name, steps[text_of(e, "coordinate")])


def _file_coordinates(f: _File, driven: Mapping[str, Coupler]) -> dict[str, FileCoordinate]:
    """The coordinates by name; ``driven``: those that couplers drive."""
    found = {}
    for name, value in f.defaults.items():
        leading = driven[name].leading if name in driven else {}
        lower, upper = f.ranges.get(name, (-np.inf, np.inf))
        found[name] = FileCoordinate(value, name in f.locked, lower=lower, upper=upper, **leading)
    return found


def _joints(f: _File) -> list[Joint]:
    """All joints, of both versions."""
    found = []
    for body in f.bodies.values():
        if (holder := body.one("Joint")) is not None:
            for e in holder.children:
                parent = text_of(e, "parent_body")
                if parent not in f.bodies and parent != WORLD:
                    raise e.error(
                        f"joint '{e.need('name')}': parent body '{parent}' does not exist; name a body or ground"
                    )
                frames = [_pose(e, f"location{end}", f"orientation{end}") for end in ("_in_parent", "")]
                bodies = [parent, body.need("name")]
                if truth(e, "reverse", False):  # the coordinates say where the parent is against the body
                    frames, bodies = frames[::-1], bodies[::-1]
                found.append(Joint(e, bodies[0], bodies[1], frames[0], frames[1]))
    for e in objects(f.root, "JointSet", None):
        ends = [_frame(f, e, text_of(e, f"socket_{end}_frame"), e, 0) for end in ("parent", "child")]
        found.append(Joint(e, ends[0][0], ends[1][0], ends[0][1], ends[1][1]))
    return found


def _pose(e: Element, place: str, turn: str) -> Pose:
    angles = numbers(e, turn, 3, (0.0, 0.0, 0.0))
    return Pose(numbers(e, place, 3, (0.0, 0.0, 0.0)), Rotation.from_euler("XYZ", angles).as_matrix())


def _frame(f: _File, e: Element, path: str, owner: Element, depth: int) -> tuple[str, Pose]:
    """Body and pose of a frame that an element names; frames of the element itself come first."""
    if not path:
        raise e.error(f"<{e.tag}> names no frame; save files of versions between 3 and 4 with OpenSim 4")
    words = path.split("/")
    name = words[-1]
    own = [one for one in owner.within() if one.tag == "PhysicalOffsetFrame" and one.attributes.get("name") == name]
    found = own if own and len(words) == 1 else []
    if not found and (name in f.bodies or name == WORLD):
        return name, unmoved()
    found = found or f.offsets.get(name, [])
    if len(found) > 1 and len(words) > 1:
        found = [one for one in found if _lies_in(f, one, words[-2])]
    if len(found) != 1 or depth > 20:
        why = "exists more than once" if len(found) > 1 else "is a frame of itself" if found else "does not exist"
        raise e.error(f"<{e.tag}>: frame '{path}' {why}; name a body, ground, or a PhysicalOffsetFrame")
    inner = found[0]
    body, pose = _frame(f, inner, text_of(inner, "socket_parent"), inner, depth + 1)
    return body, pose.then(_pose(inner, "translation", "orientation"))


def _lies_in(f: _File, inner: Element, name: str) -> bool:
    """Whether a frame lies in an element of a name."""
    return any(
        inner in one.within() for one in f.root.within() if one.attributes.get("name") == name and one is not inner
    )


def _coordinates(f: _File) -> None:
    """Default values, locks and names of all coordinates."""
    for joint in f.joints:
        for e in coordinate_elements(joint.element):
            name = e.need("name")
            if name in f.defaults:
                raise e.error(f"coordinate '{name}' exists already; names must differ")
            f.defaults[name] = float(numbers(e, "default_value", 1, (0.0,))[0])
            if truth(e, "locked", False):
                f.locked.add(name)
            if truth(e, "clamped", False):
                lower, upper = numbers(e, "range", 2, (-10.0, 10.0)).tolist()
                if lower > upper:
                    raise e.error(f"coordinate '{name}': range from {lower:g} to {upper:g} is empty; exchange both")
                f.ranges[name] = lower, upper
    f.used = identifiers(f.defaults)


def _ordered(f: _File) -> list[Joint]:
    """Joints from ground outwards; those whose child is nearer to ground are reversed, as in OpenSim."""
    reached, found, left = {WORLD}, [], list(f.joints)
    while ready := [joint for joint in left if joint.parent in reached or joint.child in reached]:
        for joint in ready:
            if joint.parent in reached and joint.child in reached:
                raise joint.element.error(
                    f"joint '{joint.element.need('name')}': body '{joint.child}' has another joint already; open the loop"
                )
            found.append(replace(joint, reversed=joint.child in reached))
            reached.add(found[-1].outer)
        left = [joint for joint in left if joint not in ready]
    if missing := [name for name in f.bodies if name not in reached]:
        raise f.bodies[missing[0]].error(f"body '{missing[0]}' has no joint that leads to it from ground; give one")
    return found


def _link(f: _File, joint: Joint) -> Link:
    """A body with the steps of its joint."""
    place, turn = np.zeros(3), np.eye(3)
    steps = []
    for axis in axes_of(joint.element):
        value = axis.value({"": 0.0, **f.defaults})
        if axis.kind == "slide":
            place = place + value * axis.axis
        else:
            turn = turn @ Rotation.from_rotvec(value * axis.axis).as_matrix()
        if axis.coordinates and axis.function.line != (0.0, value):
            # Body-fixed: the axis lies in what the turns up to this one have made; from there into axes of the child.
            steps.append((_named(f, joint, axis), turn @ axis.axis if axis.kind == "turn" else axis.axis))
    inner = joint.on_child.then(Pose(-sphere_radius(joint.element) * Z, np.eye(3)))
    back = inner.rotation @ turn.T
    made = tuple(replace(step, axis=back @ axis, point=inner.position) for step, axis in steps)
    pose = joint.on_parent.then(Pose(place, turn)).then(inner.back)
    if joint.reversed:  # the same axes in the reference pose, of which the outer body is before them
        made = tuple(
            replace(step, axis=-(pose.rotation @ step.axis), point=pose.point(step.point)) for step in made[::-1]
        )
        pose = pose.back
    mass, centre, inertia = _inertial(f.bodies[joint.outer])
    name, parent = f.names[joint.outer], f.names[joint.inner]
    return Link(name, parent, pose.position, pose.rotation, mass, centre, inertia, made, joint.element.need("name"))


def _named(f: _File, joint: Joint, axis: Axis) -> Step:
    """The step of an axis; its law is kept."""
    slope = axis.function.line[0] if axis.function.line else 0.0
    coordinate = axis.coordinates[0]
    name = f.used[coordinate]
    taken = {law.step for law in f.laws}
    free = coordinate not in f.locked and slope == 1.0 and name not in taken
    if not free:
        name = unique(
            [*taken, *f.used.values(), f"{identifiers([joint.element.need('name')]).popitem()[1]}_{axis.label}"]
        )[-1]
    f.laws.append(Law(name, axis.coordinates, axis.function, free, axis.value(f.defaults)))
    f.functions[name] = axis.function
    if not free:
        return Step(name, axis.kind)
    values = {**f.springs.pop(coordinate, {}), **f.limits.pop(coordinate, {})}
    return Step(name, axis.kind, reference=f.defaults[coordinate], **values)  # type: ignore[arg-type]


def _inertial(body: Element) -> tuple[float, Floats, Floats]:
    """Mass, centre of mass and inertia about it."""
    mass = float(numbers(body, "mass", 1)[0])
    if mass < 0.0:
        raise body.error(f"body '{body.need('name')}': mass = {mass:g} kg, must not be below 0; correct it")
    if body.one("inertia") is not None:
        xx, yy, zz, xy, xz, yz = numbers(body, "inertia", 6)
    else:
        xx, yy, zz, xy, xz, yz = (
            numbers(body, f"inertia_{of}", 1, (0.0,))[0] for of in ("xx", "yy", "zz", "xy", "xz", "yz")
        )
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return mass, numbers(body, "mass_center", 3, (0.0, 0.0, 0.0)), inertia


def _markers(f: _File) -> tuple[Frame, ...]:
    """Markers as frames of their links."""
    elements = objects(f.root, "MarkerSet", "Marker")
    names = unique(e.need("name") for e in elements)
    found = []
    for name, e in zip(names, elements, strict=True):
        path = text_of(e, "socket_parent_frame") or text_of(e, "body")
        body, pose = _frame(f, e, path, e, 0)
        found.append(Frame(name, f.names[body], pose.point(numbers(e, "location", 3)), pose.rotation, "marker"))
    return tuple(found)


def _bushings(f: _File) -> tuple[Bushing, ...]:
    return bushings_of(objects(f.root, "ForceSet", None), partial(_frame_of_link, f), _pose, _taken(f))


def _contacts(f: _File, links: Iterable[Link], taken: list[str]) -> tuple[tuple[Contact, ...], tuple[Omitted, ...]]:
    return contacts_of(f.root, partial(_frame_of_link, f), _pose, _references(links), [*_taken(f), *taken])


def _references(links: Iterable[Link]) -> Callable[[str], Pose]:
    """The poses of links in the reference pose."""
    way = motion_of(links, REFERENCE)
    return lambda link: Pose(way[link][-1].r, way[link][-1].A)


def _frame_of_link(f: _File, e: Element, path: str) -> tuple[str, Pose]:
    """Link and pose of a frame that an element names."""
    body, pose = _frame(f, e, path, e, 0)
    return f.names[body], pose


def _taken(f: _File) -> list[str]:
    """Names of forces of coordinates."""
    return [f"{name}_{what}" for name in f.used.values() for what in ("spring", "limit")]


def _closures(f: _File) -> Iterator[Closure]:
    """Points that constraints hold together."""
    for e in objects(f.root, "ConstraintSet", "PointConstraint"):
        if not active(e):
            continue
        ends = []
        for k in (1, 2):
            path = text_of(e, f"socket_body_{k}") or text_of(e, f"body_{k}")
            body, pose = _frame(f, e, path, e, 0)
            ends.append((f.names[body], pose.point(numbers(e, f"location_body_{k}", 3, (0.0, 0.0, 0.0)))))
        (one, at_one), (two, at_two) = ends
        yield Closure(identifiers([e.need("name")]).popitem()[1], "point", one, two, at_one, at_two)
