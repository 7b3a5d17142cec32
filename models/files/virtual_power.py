"""Generalised forces of the coordinates of an OpenSim model, for given coordinates, rates and accelerations.

The bodies' accelerations follow outwards from the ground.  The force of a coordinate is the power of the forces of inertia less
that of gravity and loads, per unit of its rate (the principle of virtual power).  Steps that follow a coordinate count with their
slope, so that the file's own functions act and no coupler is needed.  Constraints of the file do not act: as in OpenSim's inverse
dynamics a coordinate that a constraint drives has a force of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.files.description import WORLD, Description, Floats
from models.files.motion import Coordinates, Moving, motion_of, times
from runtime import ModelError
from runtime.support import floats


@dataclass(frozen=True, eq=False)
class Load:
    """A force [N] and a moment [N m] on a body at a point [m], each (times, 3) in global axes."""

    body: str
    force: Floats
    point: Floats
    moment: Floats


def inverse_dynamics(
    description: Description, q: Mapping[str, Floats], u: Mapping[str, Floats], u_dot: Mapping[str, Floats],
    loads: Sequence[Load] = (),
) -> dict[str, Floats]:  # fmt: skip
    """Generalised forces [N m], [N] of all coordinates of a file, (times,) each.

    Parameters
    ----------
    description : Description
        Whole, as ``Reading.source``.
    q, u, u_dot : Mapping
        By coordinate (times,) [rad], [m]; their first and second derivatives.

    Raises
    ------
    ModelError
        For coordinates that are missing or unknown, values that are not finite, and loads on unknown bodies.
    """
    names = list(dict.fromkeys(name for law in description.laws for name in law.coordinates))
    if not names:
        raise ModelError(f"model '{description.name}': has no coordinates with laws; read it from an .osim file")
    table = np.stack([table_of(of, names, what) for of, what in ((q, "q"), (u, "u"), (u_dot, "u_dot"))])
    links = {link.name for link in description.links}
    for load in loads:
        if load.body not in links:
            raise ModelError(f"load on '{load.body}': no such body; the bodies are {', '.join(sorted(links))}")
        for values in (load.force, load.point, load.moment):
            if values.shape != (table.shape[2], 3) or not np.isfinite(values).all():
                raise ModelError(
                    f"load on '{load.body}': shape {values.shape}, limit ({table.shape[2]}, 3) of finite numbers; give "
                    "three numbers for each time"
                )
    return dict(zip(names, _forces(description, names, table, loads), strict=True))


def table_of(values: Mapping[str, Floats], names: Sequence[str], what: str) -> Floats:
    """All coordinates (coordinates, times)."""
    if missing := [name for name in names if name not in values]:
        raise ModelError(f"{what}: has no coordinate '{missing[0]}'; give all of {', '.join(names)}")
    if unknown := [name for name in values if name not in names]:
        raise ModelError(f"{what}: unknown coordinate '{unknown[0]}'; the coordinates are {', '.join(names)}")
    form = "a number or (times,) numbers"
    rows = [np.atleast_1d(floats(values[name], f"{what}: '{name}'", form)) for name in names]
    if len({row.shape for row in rows}) > 1 or rows[0].ndim != 1:
        raise ModelError(f"{what}: coordinates of different shapes; give a number of each for each time")
    table = np.stack(rows)
    if not np.isfinite(table).all():
        raise ModelError(
            f"{what}: '{names[int(np.argwhere(~np.isfinite(table))[0, 0])]}' is not finite; give finite numbers"
        )
    return table


def ways_at(
    description: Description, names: Sequence[str], table: Floats
) -> tuple[dict[str, list[Moving]], dict[str, Floats]]:
    """Axes of all links, and slopes of the laws (times, their coordinates), for coordinates ``table`` (3, coordinates, times)."""
    at = {name: table[:, k] for k, name in enumerate(names)}
    parts: list[dict[str, Floats]] = [{}, {}, {}]
    slopes: dict[str, Floats] = {}
    for law in description.laws:
        x, rates, changes = (np.stack([at[name][k] for name in law.coordinates], axis=-1) for k in range(3))
        value, slope, curvature = law.function.derivatives(*np.moveaxis(x, -1, 0))
        slopes[law.step] = slope
        parts[0][law.step] = value - law.reference
        parts[1][law.step] = (slope * rates).sum(axis=-1)
        parts[2][law.step] = (slope * changes).sum(axis=-1) + np.einsum("...i,...ij,...j", rates, curvature, rates)
    return motion_of(description.links, Coordinates(*parts)), slopes


def _forces(description: Description, names: Sequence[str], table: Floats, loads: Sequence[Load]) -> Floats:
    """Forces (coordinates, times) for ``table`` (3, coordinates, times)."""
    ways, slopes = ways_at(description, names, table)
    return forces_along(description, names, ways, slopes, needed_wrenches(description, ways, loads))


def forces_along(
    description: Description, names: Sequence[str], ways: Mapping[str, list[Moving]], slopes: Mapping[str, Floats],
    wrenches: Mapping[str, tuple[Floats, Floats]],
) -> Floats:  # fmt: skip
    """Powers (coordinates, ...) per unit of each coordinate's rate of forces and moments about the origin (..., 3) on links."""
    left = behind(description, wrenches)
    powers: dict[str, Any] = dict.fromkeys(names, 0.0)
    coordinates = {law.step: law.coordinates for law in description.laws}
    for link in reversed(description.links):
        force, moment = left[link.name]
        for k, step in enumerate(link.steps):
            before = ways[link.name][k]
            e, point = before.A @ step.axis, before.place(step.point)
            # e . (moment - point x force) of a turn; many forces share the product of axis and point
            power = _dot(e, force) if step.kind == "slide" else _dot(e, moment) - _dot(np.cross(e, point), force)
            for n, name in enumerate(coordinates[step.name]):
                powers[name] = powers[name] + slopes[step.name][..., n] * power
    return np.stack(np.broadcast_arrays(*powers.values()))


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.einsum("...i,...i", a, b))


def behind(description: Description, wrenches: Mapping[str, tuple[Floats, Floats]]) -> dict[str, tuple[Floats, Floats]]:
    """Sums of forces and moments about the origin (..., 3): those on each link and all links that it carries."""
    left = dict(wrenches)
    for link in reversed(description.links):
        if link.parent != WORLD:
            left[link.parent] = (
                left[link.parent][0] + left[link.name][0],
                left[link.parent][1] + left[link.name][1],
            )
    return left


def needed_wrenches(
    description: Description, ways: Mapping[str, list[Moving]], loads: Sequence[Load]
) -> dict[str, tuple[Floats, Floats]]:
    """Force and moment about the global origin that each link's motion needs beyond gravity and loads, (..., 3) each."""
    found = {}
    for link in description.links:
        way = ways[link.name][-1]
        r, _, a = way.at(link.centre)
        J = way.A @ link.inertia @ np.swapaxes(way.A, -1, -2)
        force = link.mass * (a - description.gravity)
        moment = times(J, way.alpha) + np.cross(way.omega, times(J, way.omega)) + np.cross(r, force)
        found[link.name] = force, moment
    for load in loads:
        force, moment = found[load.body]
        found[load.body] = force - load.force, moment - load.moment - np.cross(load.point, load.force)
    return found
