"""Lengths and moment arms of the muscles of a file along given coordinates of the file.

The moment arm about a coordinate is the generalised force of a unit tension, as in OpenSim: the length's derivative by the
coordinate, with the opposite sign.  Steps that follow the coordinate count with their slopes, couplers do not act.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.files.description import ConditionalPoint, CylinderWrap, Description, Floats, MovingPoint, Muscle, Point
from models.files.motion import Moving, times
from models.files.muscle_spans import span_over
from models.files.virtual_power import forces_along, table_of, ways_at
from runtime.support import checked, named
from runtime.system import span_at

Wrenches = dict[str, tuple[Floats, Floats]]
Places = NDArray[np.int64]  # of times


@dataclass(eq=False)
class MusclePath:
    """A muscle along given coordinates: its length (times,) [m] and, by coordinate, its moment arms (times,) [m], [1].

    ``wrenches``: force [1] and moment about the global origin [m] of a unit tension on links, (times, 3) each in global axes.
    """

    length: Floats
    moment_arms: Mapping[str, Floats] = field(default_factory=dict)
    wrenches: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)


@checked
def muscle_paths(description: Description, q: Mapping[str, Floats]) -> Mapping[str, MusclePath]:
    """Lengths and moment arms of all muscles, by their names.

    Parameters
    ----------
    description : Description
        Whole, as ``Reading.source``.
    q : Mapping
        By coordinate of the file, (times,) [rad], [m].

    Raises
    ------
    ModelError
        For coordinates that are missing or unknown, and values that are not finite.
    """
    names = list(dict.fromkeys(name for law in description.laws for name in law.coordinates))
    values = table_of(q, names, "q")
    table = np.stack([values, np.zeros_like(values), np.zeros_like(values)])
    ways, slopes = ways_at(description, names, table)
    at = dict(zip(names, values, strict=True))
    paths = {muscle.name: _Path(ways, at, values.shape[1]) for muscle in description.muscles}
    for muscle in description.muscles:
        paths[muscle.name].add(muscle)
    if not paths:
        return named("muscle of the file", {}, "muscles of the file")
    wrenches = {
        link: tuple(np.stack([path.wrenches[link][k] for path in paths.values()]) for k in range(2)) for link in ways
    }
    powers = forces_along(description, names, ways, slopes, wrenches)  # type: ignore[arg-type]  # (coordinates, muscles, times)
    found = {}
    for n, (name, path) in enumerate(paths.items()):
        arms = dict(zip(names, powers[:, n], strict=True))
        for coordinate, more in path.moving.items():
            arms[coordinate] = arms[coordinate] + more
        touched = {link: wrench for link, wrench in path.wrenches.items() if wrench[0].any()}
        found[name] = MusclePath(path.length, arms, touched)
    return named("muscle of the file", found, "muscles of the file")


class _Path:
    """Length of a path, forces and moments about the origin of a unit tension on links, and its power on moving points."""

    def __init__(self, ways: Mapping[str, list[Moving]], at: Mapping[str, Floats], count: int) -> None:
        self.at, self.length = at, np.zeros(count)
        self.axes = {link: np.broadcast_to(way[-1].A, (count, 3, 3)) for link, way in ways.items()}
        self.origins = {link: np.broadcast_to(way[-1].r, (count, 3)) for link, way in ways.items()}
        self.wrenches: Wrenches = {link: (np.zeros((count, 3)), np.zeros((count, 3))) for link in ways}
        self.moving: dict[str, Floats] = {}

    def add(self, muscle: Muscle) -> None:
        """Add the pieces between points that belong to the path, which differ where points are conditional."""
        count = len(self.length)
        belongs = np.stack([self._active(point, count) for point in muscle.points])
        patterns = 2 ** np.arange(len(belongs)) @ belongs
        for pattern in np.unique(patterns):
            when = np.flatnonzero(patterns == pattern)
            for one, other in pairwise(np.flatnonzero(belongs[:, when[0]]).tolist()):
                self._add_piece(muscle.points[one], muscle.points[other], muscle.over(one, other), when)

    def _active(self, point: Point, count: int) -> Any:
        if isinstance(point, ConditionalPoint):
            return np.broadcast_to(point.active(self.at[point.coordinate]), count)
        return np.ones(count, bool)

    def _add_piece(self, one: Point, other: Point, wraps: Sequence[CylinderWrap], when: Places) -> None:
        if not wraps and one.link == other.link and not any(isinstance(p, MovingPoint) for p in (one, other)):
            self.length[when] += np.linalg.norm(other.location - one.location)  # type: ignore[union-attr]
            return
        kind, vectors, parameters = span_over(
            wraps, lambda link, v: self._at(link, v, when), lambda link, v: times(self.axes[link][when], v)
        )
        vectors |= {"s_i": self._place(one, when), "s_j": self._place(other, when)}
        links = [one.link, other.link, *(wrap.link for wrap in wraps)]
        length, wrenches = span_at(kind, vectors, parameters)
        self.length[when] += length
        for link, wrench in zip(links, wrenches.values(), strict=True):
            for total, part in zip(self.wrenches[link], wrench, strict=True):
                total[when] += part
        for point, (force, _) in zip((one, other), wrenches.values(), strict=False):
            if isinstance(point, MovingPoint):
                slope = point.at(self.at[point.coordinate][when])[1]
                power = (force * times(self.axes[point.link][when], slope)).sum(axis=-1)
                self.moving.setdefault(point.coordinate, np.zeros(len(self.length)))[when] += power

    def _place(self, point: Point, when: Places) -> Floats:
        inside = point.at(self.at[point.coordinate][when])[0] if isinstance(point, MovingPoint) else point.location
        return self._at(point.link, inside, when)

    def _at(self, link: str, inside: Floats, when: Places) -> Floats:
        """Places of a point of a link."""
        found: Floats = self.origins[link][when] + times(self.axes[link][when], inside)
        return found
