"""Places of points of links at many poses at once, and their velocities at unit rates of the coordinates.

A point of a turning link moves with the rate of the turn times axis x (point - point of the axis), one of a sliding link along
the axis.  Steps that follow a coordinate by a function count with its slope, coordinates that follow others with that of the
coupler.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from models.files.description import WORLD, Description, Floats, Law, Link
from runtime import ModelError


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
        self._links = [link for link in description.links if link.name in needed]
        laws = {law.step: law for law in description.laws}
        steps = [(link.name, step) for link in self._links for step in link.steps]
        if missing := [step.name for _, step in steps if step.name not in laws]:
            raise ModelError(f"model '{description.name}': step '{missing[0]}' has no law; read it from an .osim file")
        self._laws: list[Law] = [laws[step.name] for _, step in steps]
        self._axes = np.array([step.axis for _, step in steps]).reshape(-1, 3)
        self._turns = np.array([step.kind == "turn" for _, step in steps], bool)
        self._points = points
        self._leads = [self._leader(law.coordinate, ()) for law in self._laws]
        self._moving = np.flatnonzero([lead >= 0 for lead in self._leads])
        self._columns = np.zeros((len(self._moving), len(unknown)))
        self._columns[np.arange(len(self._moving)), [self._leads[n] for n in self._moving]] = 1.0
        owners = [steps[n][0] for n in self._moving]
        carried = [_with_parents(links, {link}) for link, _ in points]
        self._carries = np.array([[owner in chain for owner in owners] for chain in carried], float)

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
        return self._placed(x, velocities=False)[0]

    def places_and_velocities(self, x: Floats) -> tuple[Floats, Floats]:
        """As ``places``, and velocities (poses, points, 3, unknowns) at unit rates of the unknowns."""
        return self._placed(x, velocities=True)

    def _placed(self, x: Floats, *, velocities: bool) -> tuple[Floats, Floats]:
        amounts, slopes = self._amounts(x)
        n = len(self._laws)
        turned = Rotation.from_rotvec((amounts[:, :, None] * self._axes[:, None]).reshape(-1, 3)).as_matrix()
        turned = turned.reshape(n, len(x), 3, 3)
        ways = {WORLD: (np.broadcast_to(np.eye(3), (len(x), 3, 3)), np.zeros((len(x), 3)))}
        directions, origins = np.empty((2, len(x), n, 3))
        k = 0
        for link in self._links:
            A, r = ways[link.parent]
            A, r = A @ link.rotation, r + A @ link.position
            for step in link.steps:
                directions[:, k] = e = A @ step.axis
                origins[:, k] = P = r + A @ step.point
                if step.kind == "turn":
                    A = A @ turned[k]
                    r = P - A @ step.point
                else:
                    r = r + amounts[k][:, None] * e
                k += 1
            ways[link.name] = A, r
        places = np.stack([ways[link][1] + ways[link][0] @ position for link, position in self._points], axis=1)
        if not velocities:
            return places, np.zeros(0)
        move = self._moving
        e = directions[:, move] * slopes[move].T[:, :, None]
        arm = places[:, :, None] - origins[:, None, move]
        v = np.where(self._turns[move][:, None], _cross(e[:, None], arm), e[:, None]) * self._carries[:, :, None]
        return places, np.swapaxes(v, 2, 3) @ self._columns

    def _amounts(self, x: Floats) -> tuple[Floats, Floats]:
        """How far each step has moved from the reference pose, and its slope along its unknown, (steps, poses) each."""
        known: dict[str, tuple[Floats, Floats]] = {}
        amounts, slopes = np.empty((2, len(self._laws), len(x)))
        for k, law in enumerate(self._laws):
            if law.coordinate not in known:
                known[law.coordinate] = self.values(x, law.coordinate)
            value, slope = known[law.coordinate]
            if law.own:
                amounts[k], slopes[k] = value - self._description.coordinates[law.coordinate].default, slope
            else:
                amounts[k] = law.value(value, 0) - law.reference  # type: ignore[arg-type]
                slopes[k] = law.value(value, 1) * slope  # type: ignore[arg-type]
        return amounts, slopes


def _with_parents(links: Mapping[str, Link], names: set[str]) -> set[str]:
    """Links and all those between them and the ground."""
    found: set[str] = set()
    for name in names:
        while name != WORLD and name not in found:
            found.add(name)
            name = links[name].parent
    return found


def _cross(a: Floats, b: Floats) -> Floats:
    """Vector products (..., 3); twice as fast as ``numpy.cross``."""
    x, y, z = (a[..., k] for k in range(3))
    p, q, r = (b[..., k] for k in range(3))
    return np.stack([y * r - z * q, z * p - x * r, x * q - y * p], axis=-1)
