"""A builder of Talus from a description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np

from models.files.description import (
    WORLD,
    Actuator,
    Bushing,
    Contact,
    Description,
    Floats,
    Follower,
    Frame,
    LimitForce,
    Link,
    Omitted,
    Step,
)
from models.files.grouping import Group, groups_of, masses_of
from models.files.merging import Pose
from models.files.motion import Coordinates, Moving, motion_of
from models.files.muscle_building import Angle, add_muscle
from models.files.naming import identifiers, unique
from runtime import GROUND, Builder, ModelError
from runtime.system import Shape

LOSS = 1.0  # [s/rad], [s/m] of stops
LEAST_MOMENT = 1e-15  # [kg m^2] of all entries: below is rounding that a file holds for a point mass
ZERO = 1e-15  # [kg] of the mass that a stop restrains
REFERENCE = Coordinates({}, {}, {})


@dataclass(frozen=True)
class Part:
    """A body of Talus: how many steps of which link lie before it, and its centre of mass in axes of the link."""

    link: str
    steps: int
    centre: Floats


@dataclass(frozen=True)
class Built:
    """A builder, and where the links and steps of the description are in it."""

    builder: Builder
    parts: Mapping[str, Part]  # by the name of the body
    coordinates: Mapping[
        str, tuple[str, str]
    ]  # of each step: joint and coordinate of Talus; ("", "") where it has none
    refused: tuple[Omitted, ...]  # muscles that no builder states, by reason


@dataclass(eq=False)
class _Making:
    """What the functions below share."""

    description: Description
    builder: Builder
    reference: Mapping[str, list[Moving]]
    inertias: Mapping[str, float]  # of the coordinates, by step
    parts: dict[str, Part] = field(default_factory=dict)
    coordinates: dict[str, tuple[str, str]] = field(default_factory=dict)
    turns: dict[str, tuple[str, str, dict[str, Any], float]] = field(default_factory=dict)  # as of ``_angle``, by step


def built(description: Description) -> Built:
    """A new builder with the bodies, joints, forces, shapes and constraints of a merged description.

    Raises
    ------
    ModelError
        Naming the link or the joint that Talus cannot state.
    """
    if not description.links:
        remedy = (
            "pass floating=True, with which the root of the robot moves freely"
            if description.format == "URDF"
            else "read the file that includes this one"
        )
        raise ModelError(f"has no body that moves; give a body a joint, or {remedy}")
    reference = motion_of(description.links, REFERENCE)
    builder = Builder(description.name, gravity=description.gravity)
    making = _Making(description, builder, reference, coordinate_inertias(description, reference))
    for link in description.links:
        _add_link(making, link)
    for outline in description.outlines:
        _add_shape(making, outline)
    _add_frames(making)
    for closure in description.closures:
        one, two = (reference[name][-1] for name in (closure.link_1, closure.link_2))
        kind, values = "fixed", {}
        if closure.kind == "point":
            kind = "spherical"
            values = {"s_i": one.r + one.A @ closure.point_1, "s_j": two.r + two.A @ closure.point_2}
        builder.joint(closure.name, kind, closure.link_1, closure.link_2, axes="global", **values)
    for bushing in description.bushings:
        _add_bushing(making, bushing)
    for contact in description.contacts:
        _add_contact(making, contact)
    loops = _loops(description)
    for follower in description.followers:
        if name := loops.get(follower.step):
            raise ModelError(
                f"joint '{follower.step}': follows {', '.join(map(repr, follower.leaders))} and belongs to the loop that "
                f"'{name}' closes: a coordinate of a loop cannot follow others; ignore='{follower.sort}', or leave the loop open"
            )
        _add_coupling(making, follower)
    for actuator in description.actuators:
        _add_motor(making, actuator)
    return Built(builder, making.parts, making.coordinates, _add_muscles(making))


def _add_muscles(m: _Making) -> tuple[Omitted, ...]:
    """The muscles of the description that are to be built; those that cannot be are returned."""
    d, refused = m.description, dict[str, list[str]]()
    places = {frame.name: frame for frame in d.frames if frame.kind.startswith("link")}

    def place(link: str) -> tuple[str, Pose]:
        found = _on_body(m, places.get(link, Frame(link, link, np.zeros(3))))
        if found is None:
            raise ModelError(f"has a point on '{link}', which moves without mass; give it a mass above 0 kg")
        return found

    for muscle in d.muscles:
        try:
            if muscle.built:
                add_muscle(m.builder, muscle, place, lambda coordinate: _driver(m, coordinate))
        except ModelError as error:
            reason = str(error).removeprefix(f"muscle '{muscle.name}': ")
            refused.setdefault(reason, []).append(muscle.name)
    return tuple(Omitted("muscles", tuple(names), reason) for reason, names in refused.items())


def _driver(m: _Making, coordinate: str) -> Angle | float:
    """The angle of the system that a coordinate of the file is, or its value where nothing of the system follows it."""
    d = m.description
    laws = [law for law in d.laws if coordinate in law.coordinates and law.step in m.coordinates]
    if not laws:
        return d.coordinates[coordinate].default
    own = next((law.step for law in laws if law.own and law.step in m.turns), None)
    if own is None:
        raise ModelError(
            f"has points that follow '{coordinate}', which is no angle of a hinge; no builder has such points"
        )
    j, k, values, sign = m.turns[own]
    axes = [m.reference[m.parts[body].link][-1].A if body in m.parts else np.eye(3) for body in (j, k)]
    vectors = zip(("a_j", "b_j", "c_k"), ("a_i", "b_i", "c_j"), (axes[0], axes[0], axes[1]), strict=True)
    reference = next(step.reference for _, step in d.steps if step.name == own)
    return Angle((j, k), {name: A.T @ values[given] for name, given, A in vectors}, sign, reference)


def _loops(description: Description) -> dict[str, str]:
    """Steps that take part in closed loops, with the constraint that closes the loop."""
    links, found = {link.name: link for link in description.links}, dict[str, str]()
    for closure in description.closures:
        ways = []
        for name in (closure.link_1, closure.link_2):
            way = set[str]()
            while name != WORLD:
                way.add(name)
                name = links[name].parent
            ways.append(way)
        found |= {step.name: closure.name for name in ways[0] ^ ways[1] for step in links[name].steps}
    return found


def _add_coupling(m: _Making, follower: Follower) -> None:
    """The coupling of coordinates."""
    names: list[str] = []
    for step in (follower.step, *follower.leaders):
        joint, coordinate = m.coordinates[step]
        if not joint:
            raise ModelError(
                f"joint '{step}': takes part in a coupling, and is no turn or slide; ignore='{follower.sort}'"
            )
        names.append(f"{joint}.{coordinate}")
    name = f"{follower.step}_of_{'_'.join(follower.leaders)}"
    m.builder.coupling(name, names[0], names[1:], follower.law, straight=False)


def _add_motor(m: _Making, actuator: Actuator) -> None:
    """The motor of an actuator."""
    joint, coordinate = m.coordinates[actuator.step]
    if not joint:
        raise ModelError(f"joint '{actuator.step}': has an actuator, and is no turn or slide; ignore='actuators'")
    m.builder.motor(
        actuator.name, coordinate=f"{joint}.{coordinate}", effort=actuator.effort, stiffness=actuator.stiffness,
        damping=actuator.damping,
    )  # fmt: skip


def _add_bushing(m: _Making, bushing: Bushing) -> None:
    """A bushing, unless both of its frames are on one link by now, whose force moves nothing."""
    if bushing.link_1 != bushing.link_2:
        links = bushing.link_1, bushing.link_2
        values = bushing_values(bushing, [m.reference[link][-1] for link in links])
        m.builder.force(bushing.name, "frame_bushing", *links, axes="global", **values)


def bushing_values(bushing: Bushing, ends: Sequence[Moving]) -> dict[str, Any]:
    """Keywords of ``frame_bushing``, in the axes in which the poses ``ends`` of both links are given."""
    values: dict[str, Any] = {}
    for end, at, (position, rotation) in zip("ij", ends, bushing.frames, strict=True):
        axes = at.A @ rotation
        values |= {f"s_{end}": at.r + at.A @ position, f"a_{end}": axes[:, 0], f"b_{end}": axes[:, 1]}
    for start, constants in zip(("k", "kt", "c", "ct"), (*bushing.stiffness, *bushing.damping), strict=True):
        values |= {start + axis: float(value) for axis, value in zip("xyz", constants, strict=True)}
    return values


def _add_contact(m: _Making, contact: Contact) -> None:
    """A contact, unless sphere and plane are on one link by now."""
    if contact.link_1 == contact.link_2:
        return
    if contact.link_1 == WORLD:
        raise ModelError(
            f"contact '{contact.name}': its sphere is fixed to the ground, and its plane moves; fix the plane, or "
            "ignore='contacts'"
        )
    one, two = (m.reference[link][-1] for link in (contact.link_1, contact.link_2))
    centre, point, normal = one.r + one.A @ contact.centre, two.r + two.A @ contact.point, two.A @ contact.normal
    if contact.smooth:
        m.builder.force(
            contact.name, "smooth_contact", contact.link_1, contact.link_2, axes="global", s_i=centre, s_j=point, n_j=normal,
            radius=contact.radius, **contact.values,
        )  # fmt: skip
        return
    m.builder.contact(
        contact.name, contact.link_1, plane=contact.link_2, axes="global", centre=centre, point=point, normal=normal,
        radius=contact.radius, **contact.values,
    )  # fmt: skip


def _add_link(m: _Making, link: Link) -> None:
    """The bodies and joints of a link."""
    at = m.reference[link.name][-1]
    groups = groups_of(link)
    before, steps = (GROUND if link.parent == WORLD else link.parent), 0
    turned = before  # the body whose axes the next turn leaves
    for n, (group, mass) in enumerate(zip(groups, masses_of(link, groups), strict=True)):
        last = n == len(groups) - 1
        name = link.name if last else f"{link.name}_behind_{group.name}"
        steps += len(group.steps)
        free = group.kind == "free"
        inertia = mass.inertia if not last or np.abs(mass.inertia).max() > LEAST_MOMENT else np.zeros((3, 3))
        m.builder.body(name, mass=mass.mass, inertia=inertia, r=at.r + at.A @ mass.centre, p=at.A, free=free)
        m.parts[name] = Part(link.name, steps, mass.centre)
        if not free:
            m.builder.joint(group.name, group.kind, before, name, axes="global", **_values(group, at))
        for step, coordinate in zip(group.steps, group.coordinates, strict=True):
            m.coordinates[step.name] = (group.name, coordinate) if coordinate else ("", "")
            if step.kind == "turn":
                m.turns[step.name] = _angle(group, step, (turned, name), at)
            _add_forces(m, group, step, (before, name), at)
            if step.armature > 0.0 and step.kind in ("turn", "slide"):
                _add_armature(m, step)
        before = name
        turned = turned if all(step.kind == "slide" for step in group.steps) else name


def _add_armature(m: _Making, step: Step) -> None:
    """The inertia of the rotor of a step."""
    joint, coordinate = m.coordinates[step.name]
    if not joint:
        raise ModelError(f"joint '{step.name}': has armature, and is no turn or slide; ignore='armature'")
    m.builder.armature(f"{joint}.{coordinate}", step.armature)


def _values(group: Group, at: Moving) -> dict[str, Any]:
    """Keywords of the joint of a group, in global axes."""
    point = at.r + at.A @ group.point
    axes = [at.A @ step.axis for step in group.steps]
    if group.kind == "spherical":
        return {"point": point}
    if group.kind == "universal":
        return {"point": point, "a_i": axes[0], "a_j": axes[1]}
    if group.kind == "modified_universal":
        end = at.r + at.A @ group.end
        return {"s_i": point, "a_i": axes[0], "s_j": end, "a_j": axes[1], "l": float(np.linalg.norm(end - point))}
    if group.kind == "plane_translation":
        return {"point": point, "a_i": axes[0], "b_i": axes[1]}
    if group.kind == "translation":
        return {}
    if group.kind == "oblique_translation":
        return dict(zip(("a_i", "b_i", "c_i"), axes, strict=True))
    return {"point": point, "axis": axes[0]}


def _add_forces(m: _Making, group: Group, step: Step, bodies: tuple[str, str], at: Moving) -> None:
    """Spring, damper and stops of a step."""
    if step.kind in ("ball", "free"):
        if step.damping > 0.0:
            m.builder.force(f"{step.name}_damper", "rotational_damper", *bodies, damping=step.damping)
        return
    sprung = step.stiffness > 0.0 or step.damping > 0.0
    if not sprung and not step.limited and not step.limits:
        return
    if step.kind == "slide":
        _slide_forces(m, group, step, bodies, at)
        return
    i, j, values, sign = _angle(group, step, bodies, at)
    if sprung:
        free = sign * step.free if step.stiffness > 0.0 else 0.0
        m.builder.force(
            f"{step.name}_spring", "hinge_spring", i, j, axes="global", stiffness=step.stiffness, damping=step.damping,
            free_angle=free, **values,
        )  # fmt: skip
    for name, limit in _named_limits(step):
        m.builder.force(
            name,
            "hinge_limit",
            i,
            j,
            axes="global",
            **_range(limit, sign),
            **values,
            **_limit_values(limit, sign),
        )
    if step.limited:
        m.builder.force(
            f"{step.name}_stop", "hinge_stop", i, j, axes="global", stiffness=_stop_stiffness(m, step), loss=LOSS,
            **_range(step, sign), **values,
        )  # fmt: skip


def _named_limits(step: Step) -> list[tuple[str, LimitForce]]:
    """The limit forces of a step with names of their own."""
    return [(f"{step.name}_limit{n + 1 if n else ''}", limit) for n, limit in enumerate(step.limits)]


def _range(of: Step | LimitForce, sign: float) -> dict[str, Any]:
    """Middle and half of the range of an angle, of the stops or the limit of a step."""
    lower, upper = sorted((sign * of.lower, sign * of.upper))
    return {"middle": (lower + upper) / 2.0, "half_range": (upper - lower) / 2.0}


def _limit_values(limit: LimitForce, sign: float) -> dict[str, Any]:
    """Constants of a limit of a coordinate with this sign."""
    ends = (limit.lower_stiffness, limit.upper_stiffness)
    lower, upper = ends if sign > 0.0 else ends[::-1]
    return {
        "lower_stiffness": lower, "upper_stiffness": upper, "damping": limit.damping, "transition": limit.transition,
    }  # fmt: skip


def _stop_stiffness(m: _Making, step: Step) -> float:
    return max(m.inertias[step.name] + step.armature, ZERO) / step.stop_time**2


def _angle(group: Group, step: Step, bodies: tuple[str, str], at: Moving) -> tuple[str, str, dict[str, Any], float]:
    """Bodies, directions in global axes and sign of the angle of a turn, for ``hinge_spring`` and ``hinge_stop``."""
    before, behind = bodies
    axes = [at.A @ one.axis for one in group.steps]
    if group.kind not in ("universal", "modified_universal"):
        axis = at.A @ step.axis
        across = np.cross(axis, np.eye(3)[int(np.abs(axis).argmin())])
        across /= np.linalg.norm(across)
        return before, behind, {"a_i": axis, "b_i": across, "c_j": across}, 1.0
    first = step is group.steps[0]
    axis, other = axes if first else axes[::-1]
    across = other - axis * float(axis @ other)
    values = {"a_i": axis, "b_i": across / np.linalg.norm(across), "c_j": other}
    # The axis of the second turn belongs to the body behind, from which the first one turns back.
    return (before, behind, values, 1.0) if first else (behind, before, values, -1.0)


def _slide_forces(m: _Making, group: Group, step: Step, bodies: tuple[str, str], at: Moving) -> None:
    """Spring, damper, limit and stops of a slide; along a direction w on which its distance is x = w . d beside oblique ones."""
    w = _across_others(group, step)
    size = float(np.linalg.norm(w))
    ends: dict[str, Any] = {"point": at.r + at.A @ group.point, "axes": "global"}
    axis = at.A @ (w / size)
    if step.stiffness > 0.0 or step.damping > 0.0:
        m.builder.force(
            f"{step.name}_spring", "slider_spring", *bodies, a_i=axis, stiffness=step.stiffness * size**2,
            damping=step.damping * size**2, free_distance=step.free / size, **ends,
        )  # fmt: skip
    for label, limit in _named_limits(step):
        middle, half = (limit.lower + limit.upper) / 2.0 / size, (limit.upper - limit.lower) / 2.0 / size
        values = _limit_values(limit, 1.0)
        scaled = {name: value / size if name == "transition" else value * size**2 for name, value in values.items()}
        m.builder.force(
            label,
            "slider_limit",
            bodies[0],
            bodies[1],
            a_i=axis,
            middle=middle,
            half_range=half,
            **scaled,
            **ends,
        )
    for name, sign, edge in (("lower", 1.0, step.lower), ("upper", -1.0, step.upper)):
        if abs(edge) < inf:
            m.builder.force(
                f"{step.name}_{name}_stop", "stop", *bodies, a_i=sign * axis, exponent=1.0, loss=LOSS * size,
                stiffness=_stop_stiffness(m, step) * size**2, clearance=sign * edge / size, **ends,
            )  # fmt: skip


def _across_others(group: Group, step: Step) -> Floats:
    """The vector w (3,) for which w . d is the distance of a slide, for displacements d along the slides of its group."""
    axes = [one.axis for one in group.steps if one.kind == "slide"]
    if all(abs(float(a @ b)) <= 1e-9 for n, a in enumerate(axes) for b in axes[:n]):
        return step.axis
    slides = [one for one in group.steps if one.kind == "slide"]
    found: Floats = np.linalg.pinv(np.array(axes).T)[slides.index(step)]
    return found


def coordinate_inertias(description: Description, reference: Mapping[str, list[Moving]]) -> dict[str, float]:
    """Inertia of all that each turn or slide moves, in the reference pose [kg m^2], [kg], by the name of the step."""
    carried: dict[str, list[Link]] = {link.name: [] for link in description.links}
    parents = {link.name: link.parent for link in description.links}
    for link in description.links:
        name = link.name
        while name != WORLD:
            carried[name].append(link)
            name = parents[name]
    found = {}
    for link, step in description.steps:
        at = reference[link.name][-1]
        axis, point = at.A @ step.axis, at.r + at.A @ step.point
        found[step.name] = sum(
            _inertia(other, reference[other.name][-1], step, axis, point) for other in carried[link.name]
        )
    return found


def _inertia(link: Link, at: Moving, step: Step, axis: Floats, point: Floats) -> float:
    if step.kind != "turn":
        return link.mass
    arm = np.cross(axis, at.r + at.A @ link.centre - point)
    own = at.A.T @ axis
    return float(own @ link.inertia @ own + link.mass * arm @ arm)


def _add_frames(m: _Making) -> None:
    """Frames of the links in the file, such as "arm_origin", merged ones too; sites and markers.

    A frame of a link without mass needs a body that moves with it: between the two turns of a universal joint there is none.
    """
    frames = [Frame(f"{link.name}_origin", link.name, np.zeros(3)) for link in m.description.links]
    for one in m.description.frames:
        merged = one.kind.startswith("link")
        frames.append(replace(one, name=f"{one.name}_origin") if merged else one)
    for frame, name in zip(frames, identifiers(unique(one.name for one in frames), m.parts).values(), strict=True):
        if found := _on_body(m, frame):
            body, pose = found
            m.builder.frame(name, body, s=pose.position, p=pose.rotation, axes="body")


def _on_body(m: _Making, frame: Frame) -> tuple[str, Pose] | None:
    """The body that moves with a frame, and the pose of the frame from its centre of mass; None where there is no body."""
    body = GROUND if frame.link == WORLD else _moving_with(m, frame)
    if body is None:
        return None
    centre = m.parts[body].centre if body in m.parts else np.zeros(3)
    return body, Pose(frame.position - centre, frame.rotation)


def _moving_with(m: _Making, frame: Frame) -> str | None:
    """The body that moves with a frame."""
    if frame.steps is None:
        return frame.link
    of_link = (name for name, part in m.parts.items() if (part.link, part.steps) == (frame.link, frame.steps))
    return next(of_link, None)


def _add_shape(m: _Making, outline: Any) -> None:
    """A shape for views."""
    body = GROUND if outline.link == WORLD else outline.link
    centre = m.parts[body].centre if body in m.parts else np.zeros(3)
    place, turn = outline.position - centre, outline.rotation
    shape = Shape(
        body, outline.kind, place.copy(), turn.copy(), tuple(outline.sizes), outline.vertices.copy(), outline.faces.copy(),
        outline.colour, "",
    )  # fmt: skip
    for array in (shape.at, shape.rotation, shape.vertices, shape.faces):
        array.flags.writeable = False
    m.builder.add_shapes([shape])
