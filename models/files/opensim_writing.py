"""Writes models of OpenSim 4.

Turns about one point, and slides, are a CustomJoint.  Other turns of a link lie one behind the other, with a body without mass
between them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element

import numpy as np

from models.files.description import MOST, WORLD, Bushing, Description, Floats, Law, Link, Omitted, Step
from models.files.osim_functions import straight
from models.files.written_couplings import couplings_of, highest_first
from models.files.written_muscles import add_function, add_muscles
from models.files.written_tree import Tree
from models.files.written_xml import body_angles, child, element, text_of
from runtime import ModelError

VERSION = "40000"  # of documents of OpenSim 4
MEETING = 1e-12  # [m] distance of points below which turns are about one point
GROUND_PATH = "/ground"
INDEPENDENT = 1e-3  # [1] least determinant of three axes
AXES = ("1", "2", "3")
TOWARDS = {"ball": ("x", "y", "z"), "free": ("x", "y", "z")}


def opensim_text(tree: Tree) -> str:
    """The text of a model of OpenSim; adds to ``tree.left_out``.

    Raises
    ------
    ModelError
        For ball joints that close loops.
    """
    d = tree.description
    if d.closures:
        raise ModelError(f"loops ({', '.join(c.name for c in d.closures)}): not written as .osim; write MJCF")
    top = element(None, "OpenSimDocument", Version=VERSION)
    model = element(top, "Model", name=_label(d.name))
    child(model, "gravity", d.gravity)
    child(model, "length_units", "meters")
    child(model, "force_units", "N")
    bodies = element(element(model, "BodySet", name="bodyset"), "objects")
    joints = element(element(model, "JointSet", name="jointset"), "objects")
    forces = element(element(model, "ForceSet", name="forceset"), "objects")
    thin = []
    for link in d.links:
        thin += _add_link(tree, bodies, joints, link)
    for _, step in d.steps:
        _add_spring(forces, step)
    for bushing in d.bushings:
        _add_bushing(forces, bushing)
    of_joints = {step.name: f"/jointset/{tree.joints.get(link.name)}/{step.name}" for link, step in d.steps}
    add_muscles(forces, d, of_joints)
    _add_couplers(tree, model)
    _add_markers(model, d)
    if turned := tuple(f.name for f in d.frames if f.kind == "marker" and not np.array_equal(f.rotation, np.eye(3))):
        tree.left_out.append(Omitted("axes of frames", turned, "markers have no axes"))
    if thin:
        reason = (
            "bodies without mass lie between the joints of one body, as the massless link of a modified universal joint"
        )
        tree.left_out.append(Omitted("massless bodies", tuple(thin), reason))
    if d.outlines:
        shown = tuple(dict.fromkeys(o.link for o in d.outlines))
        tree.left_out.append(Omitted("shapes", shown, "shapes are not written"))
    angles = tuple(step.name for _, step in d.steps if step.kind in TOWARDS)
    if angles:
        reason = "three angles of OpenSim, about x, y, z of the body; Run.to_mot writes the rotation vector"
        tree.left_out.append(Omitted("coordinates", angles, reason))
    return text_of(top)


def _add_couplers(tree: Tree, model: Element) -> None:
    """Couplings, by polynomials and by OpenSim's own splines."""
    found = couplings_of(tree, MOST - 1, "OpenSim has other splines", splines=True)
    if not found:
        return
    constraints = element(element(model, "ConstraintSet", name="constraintset"), "objects")
    for one in found:
        made = element(constraints, "CoordinateCouplerConstraint", name=_label(one.name))
        child(made, "isEnforced", "true")
        holder = element(made, "coupled_coordinates_function")
        if one.points:
            spline = element(holder, "SimmSpline")
            child(spline, "x", [x for x, _ in one.points])
            child(spline, "y", [y for _, y in one.points])
        else:
            child(element(holder, "PolynomialFunction"), "coefficients", highest_first(one.powers))
        child(made, "independent_coordinate_names", one.leader)
        child(made, "dependent_coordinate_name", one.follower)
        child(made, "scale_factor", 1.0)


def _add_markers(model: Element, d: Description) -> None:
    """Markers on their bodies."""
    markers = [frame for frame in d.frames if frame.kind == "marker"]
    objects = element(element(model, "MarkerSet", name="markerset"), "objects") if markers else model
    for frame in markers:
        made = element(objects, "Marker", name=frame.name)
        child(made, "socket_parent_frame", _path(frame.link))
        child(made, "location", frame.position)


def _label(text: str) -> str:
    """A name that OpenSim admits."""
    return re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_") or "model"


def _path(link: str) -> str:
    return GROUND_PATH if link == WORLD else f"/bodyset/{link}"


def _groups(link: Link) -> list[list[Step]]:
    """Steps of a link that one joint of OpenSim has: slides before turns, and turns about one point."""
    groups: list[list[Step]] = []
    for step in link.steps:
        last = groups[-1] if groups else []
        turns = [one for one in last if one.kind == "turn"]
        alone = step.kind in TOWARDS or any(one.kind in TOWARDS for one in last)
        if step.kind == "slide":
            joins = bool(last) and not turns and len(last) < 3
        else:
            met = not turns or float(np.linalg.norm(turns[0].point - step.point)) <= MEETING
            joins = bool(last) and met and (len(turns) < 2 or len(turns) == 2 and _independent([*turns, step]))
        if joins and not alone:
            last.append(step)
        else:
            groups.append([step])
    return groups or [[]]


def _independent(turns: Sequence[Step]) -> bool:
    """Whether three axes are in no plane, as those of a CustomJoint must be."""
    return abs(float(np.linalg.det([step.axis for step in turns]))) > INDEPENDENT


def _add_link(tree: Tree, bodies: Element, joints: Element, link: Link) -> list[str]:
    """The bodies and joints of a link; names of the bodies without mass."""
    groups, before, thin = _groups(link), link.parent, []
    for n, group in enumerate(groups):
        last = n == len(groups) - 1
        inner = link.name if last else f"{link.name}_behind_{group[-1].name}"
        first = n == 0
        if last:
            J = link.inertia
            _add_body(bodies, inner, link.mass, link.centre, [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
        else:
            thin.append(inner)
            _add_body(bodies, inner, 0.0, np.zeros(3), [0.0] * 6)
        point = next((step.point for step in group if step.kind in ("turn", "ball")), np.zeros(3))
        place = link.position + link.rotation @ point if first else point
        outer = (before, place, link.rotation if first else np.eye(3))
        title = tree.joints.get(link.name, f"{link.name}_free")
        label = title if len(groups) == 1 else f"{title}_{n + 1}"
        _add_joint(tree, joints, label, group, outer, (inner, point), link)
        before = inner
    return thin


def _add_body(bodies: Element, label: str, mass: float, centre: Floats, inertia: Sequence[float]) -> None:
    body = element(bodies, "Body", name=label)
    child(body, "mass", mass)
    child(body, "mass_center", centre)
    child(body, "inertia", inertia)


def _kind(group: Sequence[Step]) -> str:
    if not group:
        return "WeldJoint"
    return {"ball": "BallJoint", "free": "FreeJoint"}.get(group[0].kind, "CustomJoint")


def _add_joint(
    tree: Tree, joints: Element, label: str, group: Sequence[Step], outer: tuple[str, Floats, Floats],
    inner: tuple[str, Floats], link: Link,
) -> None:  # fmt: skip
    kind = _kind(group)
    joint = element(joints, kind, name=label)
    ends = {"parent": (outer[0], f"{label}_parent"), "child": (inner[0], f"{label}_child")}
    for end, (_, frame) in ends.items():
        child(joint, f"socket_{end}_frame", frame)
    if group:
        coordinates = element(joint, "coordinates")
        for label_of, value, rate, locked in _coordinates(tree, group, link):
            made = element(coordinates, "Coordinate", name=label_of)
            child(made, "default_value", value)
            child(made, "default_speed_value", rate)
            child(made, "clamped", "false")
            child(made, "locked", "true" if locked else "false")
            child(made, "prescribed", "false")
    frames = element(joint, "frames")
    turns = {"parent": body_angles(outer[2]), "child": np.zeros(3)}
    places = {"parent": outer[1], "child": inner[1]}
    for end, (body, frame) in ends.items():
        _add_offset(frames, frame, body, places[end], turns[end])
    if kind == "CustomJoint":
        _add_transform(tree, joint, group)


def _coordinates(tree: Tree, group: Sequence[Step], link: Link) -> list[tuple[str, float, float, bool]]:
    """Name, initial value, initial rate, and whether it is locked, of each coordinate of a joint."""
    step = group[0]
    if step.kind not in TOWARDS:
        own = (s.name for s in group if s.name not in _following(tree))
        return [(name, tree.start[name], tree.rates[name], name in tree.locked) for name in own]
    r, turn, v, omega = tree.relative(link)
    angles = body_angles(turn)
    spin = turn @ omega  # in axes of the joint's frame on the parent
    found = [(f"{step.name}_{c}", float(a), float(u), False) for c, a, u in zip("xyz", angles, spin, strict=True)]
    if step.kind == "free":
        place, speed = link.rotation.T @ (r - link.position), link.rotation.T @ v
        found += [(f"{step.name}_t{c}", float(a), float(u), False) for c, a, u in zip("xyz", place, speed, strict=True)]
    return found


def _following(tree: Tree) -> dict[str, Law]:
    """Laws of the steps that follow a coordinate of their joint."""
    return {law.step: law for law in tree.description.laws if not law.own}


def _add_transform(tree: Tree, joint: Element, group: Sequence[Step]) -> None:
    """The rotations and translations of a CustomJoint."""
    transform = element(joint, "SpatialTransform")
    following = _following(tree)
    turns = [step for step in group if step.kind == "turn"]
    slides = [step for step in group if step.kind == "slide"]
    for word, steps in (("rotation", turns), ("translation", slides)):
        axes = _completed([step.axis for step in steps])
        for n, axis in enumerate(axes):
            made = element(transform, "TransformAxis", name=f"{word}{AXES[n]}")
            name = steps[n].name if n < len(steps) else ""
            law = following.get(name)
            child(made, "coordinates", law.coordinate if law else name)
            child(made, "axis", axis)
            if n < len(steps):
                add_function(made, law.function if law else straight(1.0, 0.0), name="function")  # type: ignore[arg-type]
            else:
                child(element(made, "Constant", name="function"), "value", 0.0)


def _completed(axes: list[Floats]) -> list[Floats]:
    """Three directions that are not in one plane, beginning with given ones."""
    found = list(axes)
    if not found:
        return list(np.eye(3))
    if len(found) == 1:
        across = np.cross(found[0], np.eye(3)[int(np.abs(found[0]).argmin())])
        found.append(across / np.linalg.norm(across))
    if len(found) == 2:
        third = np.cross(found[0], found[1])
        found.append(third / np.linalg.norm(third))
    return found


def _add_bushing(forces: Element, bushing: Bushing) -> None:
    """A bushing between frames of its own."""
    made = element(forces, "BushingForce", name=bushing.name)
    frames = element(made, "frames")
    for n, (link, (place, axes)) in enumerate(zip((bushing.link_1, bushing.link_2), bushing.frames, strict=True), 1):
        child(made, f"socket_frame{n}", f"{bushing.name}_offset_{n}")
        _add_offset(frames, f"{bushing.name}_offset_{n}", link, place, body_angles(axes))
    for of, constants in (("stiffness", bushing.stiffness), ("damping", bushing.damping)):
        for kind, values in zip(("translational", "rotational"), constants, strict=True):
            child(made, f"{kind}_{of}", values)


def _add_offset(frames: Element, name: str, body: str, place: Floats, angles: Floats) -> None:
    made = element(frames, "PhysicalOffsetFrame", name=name)
    child(made, "socket_parent", _path(body))
    child(made, "translation", place)
    child(made, "orientation", angles)


def _add_spring(forces: Element, step: Step) -> None:
    """Spring and damper of a turn or a slide."""
    if not (step.stiffness or step.damping):
        return
    if step.kind in TOWARDS:
        raise ModelError(f"joint '{step.name}': its damper is not written as .osim; write MJCF")
    spring = element(forces, "SpringGeneralizedForce", name=f"{step.name}_spring")
    child(spring, "coordinate", step.name)
    child(spring, "stiffness", step.stiffness)
    child(spring, "rest_length", step.free)
    child(spring, "viscosity", step.damping)
