"""What is drawn of joints: by their motion between bodies that are drawn as links, else their axes.

A turn is a pin along its axis, any turn about a point a ball, a slide the guide of one body with the block of the other; two
slides have a plate in place of a guide.  Points of the ground stand on a pedestal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from runtime.results.drawn_bodies import SAME, THIN, start_point, start_rotation
from runtime.results.drawn_motion import DrawnMotion
from runtime.results.outline import Outline, Part
from runtime.support.arrays import Floats
from runtime.system.joint_motion import axis_in_body
from runtime.system.parts import GROUND
from runtime.system.reference import tangents
from runtime.system.shapes import along
from runtime.view.triangles import Triangles, box, ellipsoid, revolved, rod

AXIS = 0.35  # of the size of the model: length of axes
# Of the radius of links: radius and length of pins, radius of balls, edges of blocks, half the thickness of guides, their ends.
PIN, BALL, BLOCK, GUIDE, BEYOND = (1.7, 6.0), 2.2, (4.0, 4.0, 6.0), 0.8, 7.0
PEDESTAL = np.array([[0.0, 4.5, 4.5, 3.0, 0.0], [-6.0, -6.0, -5.0, -5.0, 0.0]])  # radii and heights of its profile
DOWN = np.array([0.0, 0.0, -1.0])  # of a pedestal without gravity


class Mark(NamedTuple):
    """Triangles in axes of a body, or of the ground; ``own``: a part of this body, in its colour."""

    body: str
    shape: Triangles
    own: bool = False


def marks(motion: DrawnMotion, joint: Part, size: float) -> Iterator[Mark]:
    """The pins, balls, guides, blocks and pedestals of a joint."""
    outline, thick = motion.outline, 0.5 * THIN * size
    slides = [axis for _, kind, axis, _ in joint.steps if kind == "slide"]
    point = "s_j" if slides else ""
    moved = [(kind, axis, *_place(joint, point or own)) for _, kind, axis, own in joint.steps if kind != "slide"]
    for kind, axis, body, place in moved or [("slide", axis, *_place(joint, point)) for axis in slides[:1]]:
        if kind == "ball":
            vertices, faces = ellipsoid(np.full(3, BALL * thick))
        else:
            vertices, faces = rod(*np.multiply(PIN, thick)) if kind == "turn" else box(np.multiply(BLOCK, thick))
            vertices = vertices @ along(_axis(outline, joint, axis, body)).T
        yield Mark(body, (place + vertices, faces))
    points = zip(joint.bodies, ("s_i", "s_j"), strict=True)
    ground = [np.asarray(joint.values[name]) for body, name in points if body == GROUND and name in joint.values]
    if len(slides) in (1, 2):
        body = joint.bodies[0]
        place, shape = _guide(motion, joint, slides, thick)
        ground = [place] * (body == GROUND)
        yield Mark(body, shape, own=True)
    for place in ground:
        yield _pedestal(outline, joint, place, thick)


def _place(joint: Part, point: str) -> tuple[str, Floats]:
    """Body and local place of a point of a joint by its name; that of a name without values is the centre of mass."""
    return joint.bodies["ij".index(point[-1])], np.asarray(joint.values.get(point, np.zeros(3)))


def _axis(outline: Outline, joint: Part, text: str, body: str) -> Floats:
    """The axis of a step in axes of a body, as in the initial pose."""
    own = joint.bodies["ij".index(text[-1])]
    return start_rotation(outline, body).T @ start_rotation(outline, own) @ axis_in_body(text, joint.values)


def _guide(motion: DrawnMotion, joint: Part, slides: list[str], thick: float) -> tuple[Floats, Triangles]:
    """What body j slides along over the whole motion, a rod or a plate on body i: its middle and its triangles."""
    body = joint.bodies[0]
    ways = np.stack([_axis(motion.outline, joint, text, body) for text in slides])
    ways = np.stack([ways[0], ways[1] if len(ways) == 2 else tangents(ways[0])[0]])
    moved = motion.points(*_place(joint, "s_j")) - motion.points(body, np.zeros(3))
    places = np.einsum("nba,nb->na", motion.rotations(body), moved)
    start = np.asarray(joint.values.get("s_i", places[0]))
    travel = (places - start) @ np.linalg.pinv(ways)
    if body != GROUND:
        travel = np.vstack([travel, np.zeros(2)])  # the guide is connected with its body
    beyond = thick * np.array([BEYOND, BEYOND if len(slides) == 2 else GUIDE])
    low, high = travel.min(axis=0) - beyond, travel.max(axis=0) + beyond
    normal = np.cross(*ways)
    edges = np.vstack([(high - low)[:, None] * ways, 2.0 * GUIDE * thick * normal / np.linalg.norm(normal)])
    middle = start + (low + high) / 2.0 @ ways
    vertices, faces = box(np.ones(3))
    return middle, (middle + vertices @ edges, faces)


def _pedestal(outline: Outline, joint: Part, place: Floats, thick: float) -> Mark:
    """A pyramid on a plate below a place on the ground, or hanging above it unless the body begins above it."""
    down = outline.gravity if outline.gravity.any() else DOWN
    (body,) = (body for body in joint.bodies if body != GROUND)
    above = down @ (start_point(outline, body, np.zeros(3)) - place) < -SAME * thick
    vertices, faces = revolved(PEDESTAL[0] * thick, PEDESTAL[1] * thick, sides=4)
    return Mark(GROUND, (place + vertices @ along(-down if above else down).T, faces), own=True)


def axes_of(joint: Part) -> Iterator[tuple[str, Floats, Floats]]:
    """Body, point and direction (3,) of each axis of a joint, in axes of its body."""
    for side, body in zip("ij", joint.bodies, strict=True):
        point, direction = joint.values.get(f"s_{side}"), joint.values.get(f"a_{side}")
        if point is not None and direction is not None:
            yield body, np.asarray(point), np.asarray(direction)


def axes(outline: Outline, joint: Part, size: float) -> Iterator[Mark]:
    """Rods along the axes of a joint; a common axis of both bodies is drawn once."""
    seen: list[tuple[Floats, Floats]] = []
    for body, point, direction in axes_of(joint):
        at, turned = start_point(outline, body, point), start_rotation(outline, body) @ direction
        if any(np.linalg.norm(np.cross(turned, d)) < SAME and np.linalg.norm(at - p) < SAME * size for p, d in seen):
            continue
        seen.append((at, turned))
        vertices, faces = rod(0.15 * THIN * size, AXIS * size)
        yield Mark(body, (point + vertices @ along(direction).T, faces))
