"""Lines of spans of muscle paths, as views draw them, at many times at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from runtime.dynamics.force_elements import LOOKED_UP
from runtime.jit.python_code import with_arrays
from runtime.support.arrays import Bools, Floats, crossed
from runtime.system.force_building import look_up
from runtime.system.muscle_modules import BELONGS, VELOCITY
from runtime.system.spans import POINTS, STATE, span_at

CHORDS = 12  # of which an arc consists: 0.3 % shorter than half a turn
SLIGHT = 1e-6  # change of direction at a cylinder [rad], below which the line is drawn straight


def span_line(kind: str, vectors: Mapping[str, Floats], parameters: Mapping[str, float]) -> Floats:
    """Points (times, k, 3) [m] along a span, of straight lines and of arcs with CHORDS chords; arguments as of ``span_at``.

    The forces of a unit tension on the first end and on the cylinders behind it add up to the direction of the next straight
    line, and their moments to its place.  It touches a cylinder where it is nearest to the axis; in between is a helix.

    Raises
    ------
    ModelError
    """
    _, wrenches = span_at(kind, vectors, parameters)
    start, end = vectors["s_i"], vectors["s_j"]
    (_, line), _, *cylinders = wrenches.items()
    arcs: list[tuple[Bools, Floats]] = []
    for letter, (force, moment) in cylinders:
        centre, axis = (vectors[f"{name}_{letter}"] for name in "sa")
        behind = line[0] + force, line[1] + moment
        first, last = (_nearest(*of, centre, axis) for of in (line, behind))
        arcs.append((np.linalg.norm(force, axis=1) > SLIGHT, _helix(first, last, line[0], centre, axis)))
        line = behind
    ahead = [end]  # of each cylinder: the next place on a cylinder that the line touches, or the end
    for touched, arc in reversed(arcs[1:]):
        ahead.insert(0, np.where(touched[:, None], arc[:, 0], ahead[0]))
    points = [start[:, None]]
    for (touched, arc), after in zip(arcs, ahead, strict=False):
        points.append(np.where(touched[:, None, None], arc, _evenly(points[-1][:, -1], after)))
    return np.concatenate([*points, end[:, None]], axis=1)


def point_places(kind: str, vectors: Mapping[str, Floats], values: Mapping[str, Any]) -> tuple[Floats, Bools]:
    """Places (times, 3) [m] of a point that an angle moves, and whether it belongs to the path (times,).

    ``vectors``: (times, 3) in global axes by the names of the kind, one of ``codegen.points``; points from the origin.
    ``values``: its parameters and tables likewise.  The angle is the one closest to the middle of its range.
    """
    module = POINTS[kind]
    at = [*np.concatenate([vectors[name] for name, *_ in module.VECTORS], axis=1).T]
    count = len(at[0])
    at += [np.full(count, values[name]) for name, _ in module.PARAMETERS]
    x = np.zeros((module.SIZE + LOOKED_UP * len(module.TABLES), count))
    x[: len(at)] = at
    still, found = [np.zeros((STATE, count))] * len(module.BODIES), np.zeros((BELONGS + 1, count))
    with_arrays(module.reference)(*still, x, x[len(at) : len(at) + module.ANGLES])
    look_up(module, module.SIZE, [values[name] for name in module.TABLES], still, x)
    with_arrays(module.point)(*still, x, found)
    return found[:VELOCITY].T, found[BELONGS] > 0.0


def _nearest(force: Floats, moment: Floats, centre: Floats, axis: Floats) -> Floats:
    """The point (times, 3) next to an axis on the line along unit forces (times, 3) with moments about the origin."""
    origin = crossed(force, moment)
    across = force - axis * _dot(force, axis)
    with np.errstate(invalid="ignore"):  # of lines along the axis, which do not touch
        return origin + force * (_dot(centre - origin, across) / _dot(across, across))


def _helix(first: Floats, last: Floats, direction: Floats, centre: Floats, axis: Floats) -> Floats:
    """Points (times, CHORDS + 1, 3) of the helix about an axis from one place to another, which begins in a direction."""
    heights = [_dot(place - centre, axis) for place in (first, last)]
    x, end = (place - centre - axis * height for place, height in zip((first, last), heights, strict=True))
    y = crossed(axis, x)
    sense = np.sign(_dot(direction, y))
    angle = sense * (sense * np.arctan2(_dot(end, y), _dot(end, x)) % (2.0 * np.pi))
    share = np.linspace(0.0, 1.0, CHORDS + 1)[:, None]
    turned, height = angle[:, None] * share, heights[0][:, None] * (1.0 - share) + heights[1][:, None] * share
    x, y, centre, axis = (v[:, None] for v in (x, y, centre, axis))
    return np.asarray(centre + x * np.cos(turned) + y * np.sin(turned) + axis * height)


def _evenly(first: Floats, last: Floats) -> Floats:
    """As many points (times, CHORDS + 1, 3) as an arc has, between two places."""
    share = (np.arange(CHORDS + 1) + 1.0) / (CHORDS + 2.0)
    return first[:, None] + share[:, None] * (last - first)[:, None]


def _dot(a: Floats, b: Floats) -> Floats:
    """Products (times, 1) of vectors (times, 3)."""
    return np.asarray((a * b).sum(axis=1, keepdims=True))
