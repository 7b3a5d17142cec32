"""Places of points of links at many poses at once, and their velocities at unit rates of the coordinates.

Compiled code moves the points (``runtime.analysis.PointChain``).  Steps that follow a coordinate by a function count with its
slope, coordinates that follow others with that of the coupler.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from models.files.description import WORLD, Description, Floats, Law, Link
from runtime import ModelError
from runtime.analysis import ChainLink, PointChain


class PointKinematics:
    """Kinematics of points for unknown coordinates of a file, in the order of ``unknown``.

    Parameters
    ----------
    description : Description
        Whole, as ``Reading.source``.
    unknown : sequence of str
        Coordinates that vary; those with a coupler follow their leader, all others have a value in ``fixed``.
    fixed : mapping of str to float
        [rad], [m]
    points : sequence of (link, (3,) [m] in its axes)

    Raises
    ------
    ModelError
        For steps without a law, and couplers in a circle.
    """

    def __init__(
        self, description: Description, unknown: Sequence[str], fixed: Mapping[str, float],
        points: Sequence[tuple[str, Floats]],
    ) -> None:  # fmt: skip
        self._description, self._fixed = description, dict(fixed)
        self._column = {name: k for k, name in enumerate(unknown)}
        links = {link.name: link for link in description.links}
        needed = _with_parents(links, {link for link, _ in points})
        kept = [link for link in description.links if link.name in needed]
        laws = {law.step: law for law in description.laws}
        steps = [(link.name, step) for link in kept for step in link.steps]
        if missing := [step.name for _, step in steps if step.name not in laws]:
            raise ModelError(f"model '{description.name}': step '{missing[0]}' has no law; read it from an .osim file")
        self._laws: list[Law] = [laws[step.name] for _, step in steps]
        if several := [law.step for law in self._laws if len(law.coordinates) > 1]:
            raise ModelError(
                f"model '{description.name}': step '{several[0]}' follows several coordinates, limit 1 for inverse kinematics; "
                "give its axis a function of one"
            )
        number = {WORLD: -1, **{link.name: n for n, link in enumerate(kept)}}
        self._chain = PointChain(
            [
                ChainLink(
                    number[link.parent],
                    link.position,
                    link.rotation,
                    [(one.kind, one.axis, one.point) for one in link.steps],
                )
                for link in kept
            ],
            [self._leader(law.coordinate, ()) for law in self._laws],
            [(number[link], position) for link, position in points],
            len(unknown),
        )

    def _leader(self, name: str, seen: tuple[str, ...]) -> int:
        """Number of the unknown that a coordinate follows; -1 if it is constant."""
        if name in self._column:
            return self._column[name]
        one = self._description.coordinates.get(name)
        if name in self._fixed or one is None or one.value is None:
            return -1
        if name in seen:
            raise ModelError(f"model '{self._description.name}': couplers of {', '.join(seen)} make a circle")
        return self._leader(one.leader, (*seen, name))

    def values(self, x: Floats, name: str) -> tuple[Floats, Floats]:
        """A coordinate and its slope along the unknown that it follows, (poses,) each, for unknowns x (poses, unknowns)."""
        if name in self._column:
            return x[:, self._column[name]], np.ones(len(x))
        one = self._description.coordinates[name]
        if name in self._fixed or one.value is None:
            return np.full(len(x), self._fixed[name]), np.zeros(len(x))
        leader, slope = self.values(x, one.leader)
        value, change = (np.broadcast_to(one.value(leader, order), leader.shape) for order in (0, 1))
        return value, change * slope

    def places(self, x: Floats) -> Floats:
        """Places (poses, points, 3) [m] in global axes for unknowns x (poses, unknowns) [rad], [m]."""
        return self._chain.places(self._amounts(x)[0])

    def places_and_velocities(self, x: Floats) -> tuple[Floats, Floats]:
        """As ``places``, and velocities (poses, points, 3, unknowns) at unit rates of the unknowns."""
        return self._chain.places_and_velocities(*self._amounts(x))

    def normal_equations(self, x: Floats, observed: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Those of the weighted squares of distances from ``observed`` places, as of ``PointChain``."""
        return self._chain.normal_equations(*self._amounts(x), observed, weights)

    def _amounts(self, x: Floats) -> tuple[Floats, Floats]:
        """How far each step has moved from the reference pose, and its slope along its unknown, (poses, steps) each."""
        known: dict[str, tuple[Floats, Floats]] = {}
        amounts, slopes = np.empty((2, len(x), len(self._laws)))
        for k, law in enumerate(self._laws):
            if law.coordinate not in known:
                known[law.coordinate] = self.values(x, law.coordinate)
            value, slope = known[law.coordinate]
            if law.own:
                amounts[:, k], slopes[:, k] = value - self._description.coordinates[law.coordinate].default, slope
            else:
                amounts[:, k] = law.value(value, 0) - law.reference  # type: ignore[arg-type]
                slopes[:, k] = law.value(value, 1) * slope  # type: ignore[arg-type]
        return amounts, slopes


def _with_parents(links: Mapping[str, Link], names: set[str]) -> set[str]:
    """Links and all those between them and the ground."""
    found: set[str] = set()
    for name in names:
        while name != WORLD and name not in found:
            found.add(name)
            name = links[name].parent
    return found
