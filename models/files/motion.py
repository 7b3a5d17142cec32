"""Poses, velocities and accelerations of links for given coordinates of their steps, outwards from the ground."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.files.description import WORLD, Floats, Link, Step


@dataclass(frozen=True, eq=False)
class Moving:
    """Axes that move: A (3, 3) to global axes, origin r (3,) [m]; v, omega and their derivatives a, alpha in global axes.

    At many times (times, 3, 3) and (times, 3).
    """

    A: Floats
    r: Floats
    v: Floats
    omega: Floats
    a: Floats
    alpha: Floats

    def place(self, d: Floats) -> Floats:
        """Place of a point d (3,) [m] of these axes."""
        return self.r + times(self.A, d)

    def at(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Place, velocity and acceleration of a point d (3,) [m] of these axes."""
        d = times(self.A, d)
        rim = np.cross(self.omega, d)
        return self.r + d, self.v + rim, self.a + np.cross(self.alpha, d) + np.cross(self.omega, rim)


def times(A: Floats, d: Floats) -> Floats:
    """Matrices (..., 3, 3) times vectors (..., 3)."""
    found: Floats = (A @ d[..., None])[..., 0]
    return found


def resting() -> Moving:
    """The ground."""
    zero = np.zeros(3)
    return Moving(np.eye(3), zero, zero, zero, zero, zero)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates of the steps by name, as differences from the reference pose; 0 where a name is missing.

    ``q``: a number or (times,); of a ball the rotation matrix (3, 3) from the reference pose; of a free step a pair, place (3,)
    [m] and rotation matrix to global axes.  ``u``: a number or (times,); of a ball the angular velocity in axes of the link; of
    a free one six numbers, the velocity of the origin in global axes and the angular velocity in axes of the link.  ``u_dot``:
    derivatives.
    """

    q: Mapping[str, Any]
    u: Mapping[str, Any]
    u_dot: Mapping[str, Any]


def _turns(vectors: Floats) -> Floats:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3)."""
    if not vectors.any():  # as in the reference pose
        return np.broadcast_to(np.eye(3), (*vectors.shape, 3))
    from scipy.spatial.transform import Rotation  # here because the import takes a tenth of a second

    found: Floats = Rotation.from_rotvec(vectors).as_matrix()
    return found


def placed(before: Moving, link: Link) -> Moving:
    """The axes of a link before its steps, from those of its parent."""
    r, v, a = before.at(link.position)
    return Moving(before.A @ link.rotation, r, v, before.omega, a, before.alpha)


def moved(at: Moving, step: Step, c: Coordinates) -> Moving:
    """The axes after a step."""
    if step.kind == "free":
        return _free(at, step, c)
    if step.kind == "ball":
        R, u, u_dot = (of.get(step.name, zero) for of, zero in _zeros(c, np.eye(3), np.zeros(3)))
        A = at.A @ R
        return _turned(at, step.point, A, A @ u, A @ u_dot, relative_to_old=False)
    q, u, u_dot = (np.asarray(of.get(step.name, 0.0), float)[..., None] for of in (c.q, c.u, c.u_dot))
    e, q = at.A @ step.axis, q * step.axis
    if step.kind == "turn":
        A = at.A @ _turns(q)
        return _turned(at, step.point, A, e * u, e * u_dot, relative_to_old=True)
    r, v, a = at.at(q)
    rim = np.cross(at.omega, e)
    return Moving(at.A, r, v + e * u, at.omega, a + 2.0 * u * rim + e * u_dot, at.alpha)


def _zeros(c: Coordinates, q: Any, u: Any) -> Iterable[tuple[Mapping[str, Any], Any]]:
    return (c.q, q), (c.u, u), (c.u_dot, u)


def _turned(at: Moving, point: Floats, A: Floats, rate: Floats, change: Floats, *, relative_to_old: bool) -> Moving:
    """The axes A after a turn about a point; the axis of the rate is fixed in the old axes, or in the new ones."""
    P, v, a = at.at(point)
    omega = at.omega + rate
    alpha = at.alpha + change + np.cross(at.omega if relative_to_old else omega, rate)
    d = times(A, -point)
    rim = np.cross(omega, d)
    return Moving(A, P + d, v + rim, omega, a + np.cross(alpha, d) + np.cross(omega, rim), alpha)


def _free(at: Moving, step: Step, c: Coordinates) -> Moving:
    r, A = c.q.get(step.name, (at.r, at.A))
    u, u_dot = (np.asarray(of.get(step.name, np.zeros(6)), float) for of in (c.u, c.u_dot))
    return Moving(A, np.asarray(r, float), u[:3], A @ u[3:], u_dot[:3], A @ u_dot[3:])


def motion_of(links: Iterable[Link], c: Coordinates) -> dict[str, list[Moving]]:
    """The axes of each link before its steps and after each of them, by its name."""
    found: dict[str, list[Moving]] = {WORLD: [resting()]}
    for link in links:
        ways = [placed(found[link.parent][-1], link)]
        for step in link.steps:
            ways.append(moved(ways[-1], step, c))
        found[link.name] = ways
    return found
