"""What is drawn of an outline: bodies, massless links, axes of joints, cones of limits, spheres of contacts, paths of muscles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from runtime.results.drawn_motion import DrawnMotion
from runtime.results.outline import DrawnBody, DrawnLimit, DrawnMuscle, Outline, Part
from runtime.support.arrays import Floats, Ints
from runtime.system.parts import GROUND
from runtime.system.reference import rotation_matrix
from runtime.system.shapes import along
from runtime.system.span_lines import point_places, span_line
from runtime.system.spans import BODIES, POINTS, SPANS
from runtime.view import colours
from runtime.view.triangles import Triangles, ellipsoid, fan, long_shape, triangles

Coloured = tuple[Triangles, str | None, str]  # triangles, colour, label
# Of the size of the model: diameter of links, length of cones.
THIN, CONE = 0.02, 0.25
KNOB = 0.9  # radius of the centre of mass, of the diameter of links
LIGHT = 1e-3  # of the largest mass, up to which a body, such as one between two joints, has no ellipsoid
SAME = 1e-3  # of the size: points closer than this are one
FRAME = "xi", "eta", "zeta"  # axes of a body
STRONGEST = 0.012  # of the size of the model: radius of the strongest muscle


def model_size(outline: Outline) -> float:
    """Largest distance between centres of mass and points of joints in the initial pose [m]; of a single body, its extent."""
    points = [body.r for body in outline.bodies]
    for part in (*outline.joints, *outline.forces, *outline.contacts):
        points += [start_point(outline, body, local) for body, local in ends_of(part)]
    extents = [float(semi_axes(body).max()) for body in outline.bodies]
    return max(float(np.linalg.norm(np.ptp(np.array(points), axis=0))), *extents, 1e-9)


def start_rotation(outline: Outline, body: str) -> Floats:
    """Rotation matrix (3, 3) of a body in the initial pose."""
    return np.eye(3) if body == GROUND else rotation_matrix(outline.body(body).p)


def start_point(outline: Outline, body: str, local: Floats) -> Floats:
    """Global coordinates in the initial pose of a point in axes of a body."""
    origin = np.zeros(3) if body == GROUND else outline.body(body).r
    point: Floats = origin + start_rotation(outline, body) @ local
    return point


def ends_of(part: Part) -> Iterator[tuple[str, Floats]]:
    """Bodies and local points s_i, s_j that a joint, force or contact has."""
    for body, name in zip(part.bodies, ("s_i", "s_j"), strict=True):
        if name in part.values:
            yield body, np.asarray(part.values[name])


def semi_axes(body: DrawnBody) -> Floats:
    """Semi-axes [m] of the homogeneous ellipsoid with the body's mass and principal moments of inertia."""
    moments = np.linalg.eigvalsh(body.inertia)
    squares = 2.5 / body.mass * (moments.sum() - 2.0 * moments)
    axes: Floats = np.sqrt(np.maximum(squares, 0.0))
    return axes


def linked(outline: Outline, body: str) -> bool:
    """Whether a body has no shapes of its own, so that links to its joints are drawn."""
    return all(shape.body != body for shape in outline.shapes)


def drawn_by_motion(outline: Outline, joint: Part) -> bool:
    """Whether marks show what a joint lets move: one of its bodies is drawn as a link."""
    return bool(joint.steps) and any(linked(outline, body) for body in joint.bodies if body != GROUND)


def body_triangles(outline: Outline, body: DrawnBody, size: float) -> list[Coloured]:
    """Shapes of a body in its axes: those that it was given; else rods from its joints to its centre of mass.

    From a single joint the rod goes on as far as that of the homogeneous rod with the body's inertia.  A knob marks the centre of
    mass, unless the body is light; a body without rods that is no slider is the ellipsoid of its inertia.
    """
    if not linked(outline, body.name):
        return [(triangles(s), s.colour, s.label) for s in outline.shapes if s.body == body.name]
    ends = [local for part in (*outline.joints, *outline.forces) for name, local in ends_of(part) if name == body.name]
    known = np.array([np.zeros(3), *ends])
    ends = [end for n, end in enumerate(ends) if np.linalg.norm(known[: n + 1] - end, axis=1).min() > SAME * size]
    heavy = body.mass > LIGHT * max(one.mass for one in outline.bodies)
    shapes = [_rod_to(end, size) for end in ends]
    if len(ends) == 1 and (beyond := _half_length(body, ends[0])) > SAME * size:
        shapes.append(_rod_to(-beyond * ends[0] / np.linalg.norm(ends[0]), size))
    slider = any(
        joint.bodies[1] == body.name and step[1] == "slide" for joint in outline.joints for step in joint.steps
    )
    if heavy:
        vertices, faces = ellipsoid(
            np.full(3, KNOB * THIN * size) if ends or slider else np.maximum(semi_axes(body), THIN * size)
        )
        turn = np.linalg.eigh(body.inertia)[1]
        shapes.append((vertices @ (turn * np.sign(np.linalg.det(turn))).T, faces))
    return [(shape, None, "") for shape in shapes]


def _rod_to(end: Floats, size: float) -> Triangles:
    vertices, faces = long_shape(0.5 * THIN * size, float(np.linalg.norm(end)))
    return vertices @ along(end).T, faces


def _half_length(body: DrawnBody, along: Floats) -> float:
    """Half the length [m] of the homogeneous rod in a direction with the moments of inertia of a body across it."""
    zeta = along / np.linalg.norm(along)
    return float(np.sqrt(1.5 * (np.trace(body.inertia) - zeta @ body.inertia @ zeta) / body.mass))


def limit_frame(limit: DrawnLimit) -> Floats:
    """The joint's frame (3, 3), columns xi, eta, zeta, in axes of the reference body."""
    values = limit.values
    zeta = np.asarray(values["u_zeta_i"])
    if "u_xi_i" in values:
        xi = np.asarray(values["u_xi_i"])
    else:  # of a hinge: e = to_xi xi + to_eta eta
        e = np.asarray(values["e_i"])
        xi = values["to_xi"] * e - values["to_eta"] * np.cross(zeta, e)
    frame: Floats = np.stack([xi, np.cross(zeta, xi), zeta], axis=1)
    return frame


def apex(outline: Outline, limit: DrawnLimit) -> Floats:
    """The joint's point on the reference body of a limit, (3,) from its centre of mass."""
    joint = outline.joint(limit.joint)
    name = "s_i" if joint.bodies[0] == limit.reference else "s_j"
    return np.asarray(joint.values.get(name, np.zeros(3)))


def cone_triangles(outline: Outline, limit: DrawnLimit, size: float) -> Triangles:
    """The cone of a limit in axes of its reference body."""
    samples = limit.cone.pieces.samples[:, :-1].reshape(-1, 3)  # directions of the rim in the joint's frame
    point, frame = apex(outline, limit), limit_frame(limit)
    return fan(point, point + CONE * size * samples @ frame.T)


def cone_directions(motion: DrawnMotion, limit: DrawnLimit) -> Floats:
    """The direction that a limit restrains, (n, 3) in global axes."""
    _, latitude, longitude = motion.limits[limit.name]
    in_frame = np.stack(
        [np.sin(latitude) * np.cos(longitude), np.sin(latitude) * np.sin(longitude), np.cos(latitude)], axis=1
    )
    directions: Floats = np.einsum("nab,nb->na", motion.rotations(limit.reference), in_frame @ limit_frame(limit).T)
    return directions


def links(motion: DrawnMotion, size: float) -> Iterator[tuple[Part, Floats]]:
    """Joints whose points are apart, such as massless links, and forces between two points: with their ends (n, 2, 3)."""
    for part in (*motion.outline.joints, *motion.outline.forces):
        if any(step[1] == "slide" for step in part.steps) and drawn_by_motion(motion.outline, part):
            continue
        ends = [motion.points(body, local) for body, local in ends_of(part)]
        if len(ends) == 1 and part.name in motion.spans:
            ends.append(ends[0] + motion.spans[part.name])
        if len(ends) == 2:
            points = np.stack(ends, axis=1)
            if np.linalg.norm(points[:, 1] - points[:, 0], axis=1).max() > SAME * size:
                yield part, points


def muscle_line(motion: DrawnMotion, muscle: DrawnMuscle, kept: Ints) -> Floats:
    """Points (n, k, 3) along the path of a muscle at some of the times, from origin to insertion."""
    points: list[Floats] = []
    for part, ends in zip(muscle.path, pairwise(_path_points(motion, muscle, kept)), strict=True):
        vectors = _vectors(motion, part, SPANS[part.name].VECTORS, kept) | dict(zip(("s_i", "s_j"), ends, strict=True))
        numbers = {name: value for name, value in part.values.items() if name not in vectors}
        points.append(span_line(part.name, vectors, numbers)[:, len(points) > 0 :])
    return np.concatenate(points, axis=1)


def _path_points(motion: DrawnMotion, muscle: DrawnMuscle, kept: Ints) -> list[Floats]:
    """Places (n, 3) of the points of a path; of those that do not belong to it, a place on the straight line past them."""
    places, belong = list[Floats](), list[Any]()
    for point in muscle.points:
        vectors = _vectors(motion, point, POINTS[point.name].VECTORS if point.name else [("s_k", "point", "i")], kept)
        moved = point_places(point.name, vectors, point.values) if point.name else (vectors["s_k"], True)
        places.append(moved[0])
        belong.append(np.broadcast_to(moved[1], len(kept))[:, None])
    ahead = places[:]  # the next place that belongs to the path
    for k in reversed(range(len(places) - 1)):
        ahead[k] = np.where(belong[k], places[k], ahead[k + 1])
    for k in range(1, len(places)):
        places[k] = np.where(belong[k], places[k], (places[k - 1] + ahead[k]) / 2.0)
    return places


def _vectors(motion: DrawnMotion, part: Part, named: Iterable[tuple[str, str, str]], kept: Ints) -> dict[str, Floats]:
    """Those of the vectors (name, kind and body) of a span or point that it has, (n, 3) in global axes."""
    found = {}
    for name, kind, letter in named:
        body = part.bodies[BODIES.index(letter)]
        if kind == "frame":
            found[name] = motion.rotations(body)[kept, :, FRAME.index(name.split("_")[0])]
        elif name in part.values:
            found[name] = (motion.points if kind == "point" else motion.directions)(body, part.values[name])[kept]
    return found


def muscle_radius(outline: Outline, muscle: DrawnMuscle, size: float) -> float:
    """Radius of a muscle [m]: areas are in proportion to maximum isometric forces, as of one specific tension."""
    most = max((one.strength for one in outline.muscles if one.strength > 0.0), default=1.0)
    return STRONGEST * size * float(np.sqrt(muscle.strength / most if muscle.strength > 0.0 else 1.0))


def sphere_colours(force: Floats) -> tuple[str, ...]:
    """Colour of a contact's sphere at each time, by the magnitude (n,) of its force."""
    most = float(force.max(initial=0.0)) or 1.0
    return tuple(colours.between(colours.UNLOADED, colours.LOADED, float(each) / most) for each in force)
