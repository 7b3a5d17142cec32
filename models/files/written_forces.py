"""Forces along the coordinates of links, as springs, dampers and ranges of their steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import atan2, inf, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from models.files.building import LOSS, REFERENCE, ZERO, coordinate_inertias
from models.files.description import WORLD, Description, Link
from models.files.merging import merged
from models.files.motion import motion_of
from runtime import GROUND

CENTRE = 2.0  # [rad] as of ``codegen.basics``
PARALLEL = 1e-9  # [1] sine of the angle between directions below which they are parallel
Poses = Mapping[str, Any]  # place (3,) [m] and axes (3, 3) by body, in the reference configuration


class _Along(NamedTuple):
    """The step along whose coordinate q a force acts; the force's own coordinate is at_zero + sign q."""

    step: int
    sign: float
    at_zero: float


def with_forces(
    description: Description, forces: Sequence[Any], poses: Poses, locked: Collection[str] | None
) -> tuple[Description, tuple[str, ...]]:
    """The description with the forces that act along coordinates, and the names of the others.

    ``locked``: steps that cannot move; None where stops are not written.
    """
    links = {link.name: link for link in description.links}
    stiffness: dict[str, float] = {}  # of stops, by step
    unwritten = []
    for force in forces:
        child = next((b for b in force.bodies if b in links and _pair(links[b]) == set(force.bodies[:2])), "")
        changed = _changed(links[child], force, poses, None if locked is None else stiffness) if child else None
        if changed is None:
            unwritten.append(force.name)
        else:
            links[child] = changed
    description = description.changed(links=tuple(links.values()))
    return _with_stop_times(description, stiffness, locked or ()), tuple(unwritten)


def _pair(link: Link) -> set[str]:
    return {link.name, GROUND if link.parent == WORLD else link.parent}


def _with_stop_times(description: Description, stiffness: Mapping[str, float], locked: Collection[str]) -> Description:
    """Time constants of the stops, from their stiffnesses and the inertias that a reader of the file finds."""
    if not stiffness:
        return description
    moving = tuple(
        replace(link, steps=tuple(step for step in link.steps if step.name not in locked)) for link in description.links
    )
    whole = merged(description.changed(links=moving))
    inertias = coordinate_inertias(whole, motion_of(whole.links, REFERENCE))
    times = {name: sqrt(max(inertias[name], ZERO) / k) for name, k in stiffness.items() if name in inertias}
    links = (
        replace(link, steps=tuple(replace(s, stop_time=times.get(s.name, s.stop_time)) for s in link.steps))
        for link in description.links
    )
    return description.changed(links=tuple(links))


def _changed(link: Link, force: Any, poses: Poses, stops: dict[str, float] | None) -> Link | None:
    """The link with a force along one of its coordinates; None for another force, or a second one."""
    values = force.values
    if force.kind == "rotational_damper":
        balls = [n for n, step in enumerate(link.steps) if step.kind == "ball"]
        return _sprung(link, balls[0], damping=values["damping"]) if balls else None
    along = {
        "hinge_spring": _along_turn,
        "hinge_stop": _along_turn,
        "slider_spring": _along_slide,
        "stop": _along_slide,
    }
    found = along[force.kind](link, force, poses) if force.kind in along else None
    if found is None:
        return None
    n, sign, at_zero = found
    if force.kind == "hinge_spring":
        free = sign * _from_zero(values["free_angle"], at_zero)
        return _sprung(link, n, stiffness=values["stiffness"], damping=values["damping"], free=free)
    if force.kind == "slider_spring":
        free = sign * (values["free_distance"] - at_zero)
        return _sprung(link, n, stiffness=values["stiffness"], damping=values["damping"], free=free)
    if stops is None or values["loss"] != LOSS or values.get("exponent", 1.0) != 1.0:
        return None
    if force.kind == "hinge_stop":
        middle = sign * _from_zero(values["middle"], at_zero)
        edges = middle - values["half_range"], middle + values["half_range"]
    else:
        edge = sign * (values["clearance"] - at_zero)
        edges = (edge, inf) if sign > 0.0 else (-inf, edge)
    return _stopped(link, n, edges, values["stiffness"], stops)


def _from_zero(angle: float, at_zero: float) -> float:
    """A free angle, or the middle of a range, from the one at zero, which is closest to it or to CENTRE on its side."""
    closest = min(max(angle, -CENTRE), CENTRE)
    return angle - at_zero - 2.0 * pi * round((closest - at_zero) / (2.0 * pi))


def _with_step(link: Link, n: int, values: Mapping[str, Any]) -> Link:
    return replace(link, steps=(*link.steps[:n], replace(link.steps[n], **values), *link.steps[n + 1 :]))


def _sprung(link: Link, n: int, **values: float) -> Link | None:
    step = link.steps[n]
    return None if step.stiffness or step.damping else _with_step(link, n, values)


def _stopped(link: Link, n: int, edges: tuple[float, float], own: float, stops: dict[str, float]) -> Link | None:
    """The link with a range of a step; the stops at both ends must be equally stiff."""
    step = link.steps[n]
    lower, upper = edges
    twice = (lower > -inf and step.lower > -inf) or (upper < inf and step.upper < inf)
    if twice or stops.get(step.name, own) != own:
        return None
    stops[step.name] = own
    return _with_step(link, n, {"lower": max(lower, step.lower), "upper": min(upper, step.upper)})


def _along_turn(link: Link, force: Any, poses: Poses) -> _Along | None:
    """The turn whose angle, about a_i from b_i to c_j, a force depends on."""
    turns = [n for n, step in enumerate(link.steps) if step.kind != "slide"]
    if len(turns) > 2 or any(link.steps[n].kind != "turn" for n in turns):
        return None
    (i, j), A = force.bodies[:2], poses[link.name][1]
    a, b, c = (poses[body][1] @ force.values[key] for body, key in ((i, "a_i"), (i, "b_i"), (j, "c_j")))
    outwards = j == link.name
    for place, n in enumerate(turns):
        axis = A @ link.steps[n].axis
        if np.linalg.norm(np.cross(a, axis)) > PARALLEL:
            continue
        if (
            len(turns) == 2
        ):  # the parent sees the first turn, the link the second, each by the direction of the other axis
            other = A @ link.steps[turns[1 - place]].axis
            if outwards != (place == 0) or np.linalg.norm(np.cross(c, other)) > PARALLEL:
                continue
        sign = float(np.sign(a @ axis)) * (1.0 if outwards else -1.0)
        return _Along(n, sign, atan2(float(a @ np.cross(b, c)), float(b @ c - (a @ b) * (a @ c))))
    return None


def _along_slide(link: Link, force: Any, poses: Poses) -> _Along | None:
    """The slide whose distance, along a_i from P_i to P_j, a force depends on."""
    (i, j), A = force.bodies[:2], poses[link.name][1]
    axes = [A @ step.axis for step in link.steps]
    a = poses[i][1] @ force.values["a_i"]
    if any(step.kind != "slide" for step in link.steps):
        return None
    for n, axis in enumerate(axes):
        rest = [other for k, other in enumerate(axes) if k != n]
        if np.linalg.norm(np.cross(a, axis)) > PARALLEL or any(abs(a @ other) > PARALLEL for other in rest):
            continue
        ends = [poses[body][0] + poses[body][1] @ force.values[key] for body, key in ((i, "s_i"), (j, "s_j"))]
        sign = float(np.sign(a @ axis)) * (1.0 if j == link.name else -1.0)
        return _Along(n, sign, float(a @ (ends[1] - ends[0])))
    return None
