"""Points of a chain of links at many poses: places, velocities along coordinates, and their distance from observed places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.chain_points import Chain, chain_memory, move_points, normal_equations
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.numbers import floats


@checked_class
@dataclass(frozen=True, eq=False)
class ChainLink:
    """A link of a chain: its pose in axes of its parent before its steps, and the steps by which it moves.

    Parameters
    ----------
    parent : int
        Number of an earlier link; -1 for the ground.
    position : (3,) [m]
    rotation : (3, 3)
        From its axes to those of the parent.
    steps : sequence of (kind, axis (3,), point (3,) [m])
        "turn" or "slide", in axes of the link, the first nearest to the parent; unit axes.
    """

    parent: int
    position: ArrayLike
    rotation: ArrayLike
    steps: Sequence[tuple[str, ArrayLike, ArrayLike]] = ()


@checked_class
class PointChain:
    """Points of links that move by turns and slides, in compiled code.

    Parameters
    ----------
    links : sequence of ChainLink
        Parents before children.
    leads : sequence of int
        For each step of all links, in order, the number of the coordinate that it follows; -1 for none.
    points : sequence of (int, (3,) [m])
        Number of the link, -1 for the ground, and place in its axes.
    coordinates : int

    Raises
    ------
    ModelError
        For numbers that do not exist, and arrays of other shapes.
    """

    def __init__(
        self,
        links: Sequence[ChainLink],
        leads: Sequence[int],
        points: Sequence[tuple[int, ArrayLike]],
        coordinates: int,
    ) -> None:
        steps = [step for link in links for step in link.steps]
        if coordinates < 0:
            raise ModelError(f"coordinates = {coordinates}; give a number of 0 or more")
        for n, link in enumerate(links):
            if not -1 <= link.parent < n:
                raise ModelError(f"links[{n}].parent = {link.parent}; give -1, or the number of an earlier link")
        if len(leads) != len(steps) or any(not -1 <= lead < coordinates for lead in leads):
            raise ModelError(
                f"leads: {len(leads)} numbers for {len(steps)} steps; give one of -1 to {coordinates - 1} for each"
            )
        if any(not -1 <= link < len(links) for link, _ in points):
            raise ModelError(f"points: a link that does not exist; give numbers of -1 to {len(links) - 1}")
        if unknown := [kind for kind, _, _ in steps if kind not in ("turn", "slide")]:
            raise ModelError(f"steps: {unknown[0]!r} is unknown; use turn, slide")
        owner = [n for n, link in enumerate(links) for _ in link.steps]
        chains = [_to_ground(links, link) for link, _ in points]
        carried = np.array([[n in chain for n in owner] for chain in chains], np.int64).reshape(len(points), len(steps))
        self._chain = Chain(
            np.array([0, *(link.parent + 1 for link in links)], np.int64),
            _stacked([np.zeros(3), *(link.position for link in links)], "position", 3),
            _stacked([np.eye(3), *(link.rotation for link in links)], "rotation", 3, 3),
            np.cumsum([0, 0, *(len(link.steps) for link in links)]).astype(np.int64),
            np.array([kind == "turn" for kind, _, _ in steps], np.int64),
            _stacked([axis for _, axis, _ in steps], "axis", 3),
            _stacked([point for _, _, point in steps], "point", 3),
            np.array(leads, np.int64),
            np.array([link + 1 for link, _ in points], np.int64),
            _stacked([place for _, place in points], "points", 3),
            carried,
        )
        self._coordinates = coordinates
        self._memory = chain_memory(self._chain, coordinates)

    def places(self, amounts: ArrayLike) -> Floats:
        """Places (poses, points, 3) [m] in global axes, for amounts of the steps (poses, steps) [rad], [m]."""
        amounts = self._checked("amounts", amounts, len(self._chain.turns))
        found = np.empty((len(amounts), len(self._chain.link), 3))
        move_points(self._chain, amounts, amounts, self._memory, found, np.empty((0, 0, 3, 0)))
        return found

    def places_and_velocities(self, amounts: ArrayLike, slopes: ArrayLike) -> tuple[Floats, Floats]:
        """As ``places``, and velocities (poses, points, 3, coordinates) at unit rates of the coordinates.

        ``slopes`` (poses, steps): of each step along the coordinate that it follows.
        """
        amounts = self._checked("amounts", amounts, len(self._chain.turns))
        slopes = self._checked("slopes", slopes, len(self._chain.turns), poses=len(amounts))
        places = np.empty((len(amounts), len(self._chain.link), 3))
        velocities = np.empty((*places.shape, self._coordinates))
        move_points(self._chain, amounts, slopes, self._memory, places, velocities)
        return places, velocities

    def normal_equations(
        self, amounts: ArrayLike, slopes: ArrayLike, observed: ArrayLike, weights: ArrayLike
    ) -> tuple[Floats, Floats, Floats]:
        """Half of gradient (poses, coordinates) and curvature of weighted squares, and their sums (poses,).

        The squares are those of the distances from places ``observed`` (poses, points, 3) [m]; ``weights`` (poses, points): a
        place with weight 0 may be NaN.  The curvature is that of Gauss and Newton, (poses, coordinates, coordinates).
        """
        points, steps = len(self._chain.link), len(self._chain.turns)
        amounts = self._checked("amounts", amounts, steps)
        n, count = len(amounts), self._coordinates
        slopes = self._checked("slopes", slopes, steps, poses=n)
        observed = self._checked("observed", observed, points, 3, poses=n)
        weights = self._checked("weights", weights, points, poses=n)
        g, H, cost = np.empty((n, count)), np.empty((n, count, count)), np.empty(n)
        normal_equations(self._chain, amounts, slopes, observed, weights, self._memory, g, H, cost)
        return g, H, cost

    @staticmethod
    def _checked(name: str, values: ArrayLike, *shape: int, poses: int | None = None) -> Floats:
        """An array of (poses, *shape)."""
        found = floats(values, name, "an array of numbers")
        if found.shape[1:] != shape or found.ndim != len(shape) + 1:
            raise ModelError(f"{name}: shape {found.shape}; it must be (poses, {', '.join(map(str, shape))})")
        if poses not in (None, len(found)):
            raise ModelError(f"{name}: {len(found)} poses, and amounts has {poses}; give as many")
        return found


def _stacked(values: Sequence[ArrayLike], name: str, *shape: int) -> Floats:
    """Arrays of a shape as one."""
    found = [floats(value, name, "an array of numbers") for value in values]
    for one in found:
        if one.shape != shape:
            raise ModelError(f"{name}: shape {one.shape}; it must be {shape}")
    return np.array(found, float).reshape(-1, *shape)


def _to_ground(links: Sequence[ChainLink], link: int) -> set[int]:
    """A link and all between it and the ground."""
    found = set()
    while link >= 0:
        found.add(link)
        link = links[link].parent
    return found
