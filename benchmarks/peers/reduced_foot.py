"""Two equations of motion for the foot, for programs that take equations and no bodies.

Coordinates are the angles of the talocrural and of the talocalcaneal hinge. In axes that turn with the first hinge the mass
matrix depends only on the second angle: constants times cosines and sines, as one would derive it by hand for speed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from benchmarks.peers.interface import Floats, Foot


@dataclass(frozen=True)
class Equations:
    """Symbols of angles, speeds, cosines, sines and moments; mass matrix (2, 2), right-hand side (2,), accelerations (2,)."""

    angles: tuple[sp.Symbol, sp.Symbol]
    speeds: tuple[sp.Symbol, sp.Symbol]
    cosines: tuple[sp.Symbol, sp.Symbol]
    sines: tuple[sp.Symbol, sp.Symbol]
    moments: tuple[sp.Symbol, ...]  # about the hinges, where there are limits
    mass: sp.Matrix
    force: sp.Matrix
    accelerations: tuple[sp.Expr, sp.Expr]

    def plain(self) -> tuple[sp.Expr, sp.Expr]:
        """The accelerations with cosines and sines of the angles in place of their symbols."""
        values = {c: sp.cos(q) for c, q in zip(self.cosines, self.angles, strict=True)}
        values |= {s: sp.sin(q) for s, q in zip(self.sines, self.angles, strict=True)}
        values |= dict.fromkeys(self.moments, sp.S.Zero)
        first, second = (expression.subs(values) for expression in self.accelerations)
        return first, second


def equations(foot: Foot) -> Equations:
    """Lagrange's equations from the kinetic and the potential energy."""
    return _equations(foot.text())


@cache
def _equations(text: str) -> Equations:
    foot = Foot.read(text)
    q, u = sp.symbols("q1 q2"), sp.symbols("u1 u2")
    c, s = sp.symbols("c1 c2"), sp.symbols("s1 s2")
    mass, centre, inertia = foot.welded()
    axes = [sp.Matrix(axis) for axis in (foot.talocrural_axis, foot.talocalcaneal_axis)]
    about_first, about_second = (_turn(axis, c[k], s[k]) for k, axis in enumerate(axes))
    link = sp.Matrix(np.array(foot.talocalcaneal) - foot.talocrural)
    arm = about_second * sp.Matrix(centre - foot.talocalcaneal)
    # In axes that turn with the first hinge: partial velocities of the centre of mass and partial angular velocities.
    J = sp.Matrix.hstack(axes[0].cross(link + arm), axes[1].cross(arm))
    W = sp.Matrix.hstack(*axes)
    M = mass * J.T * J + W.T * about_second * sp.Matrix(inertia) * about_second.T * W
    M = M.applyfunc(lambda e: _reduced(e, c[1], s[1]))
    V = sp.expand(-mass * sp.Matrix(foot.gravity).dot(about_first * (link + arm)))

    def slope(e: sp.Expr, k: int) -> sp.Expr:
        return e.diff(s[k]) * c[k] - e.diff(c[k]) * s[k]

    M = sp.Matrix(2, 2, [M[0, 0], M[0, 1], M[0, 1], M[1, 1]])
    dM = M.applyfunc(lambda e: _reduced(slope(e, 1), c[1], s[1]))  # by the second angle
    speeds = sp.Matrix(u)
    kinetic = (speeds.T * dM * speeds)[0] / 2
    force = sp.Matrix([-slope(V, 0), kinetic - slope(V, 1)]) - u[1] * dM * speeds
    force = force.applyfunc(_clean)
    moments = sp.symbols("m1 m2") if foot.stops else ()
    force += sp.Matrix(moments) if moments else sp.zeros(2, 1)
    determinant = M[0, 0] * M[1, 1] - M[0, 1] ** 2
    first = (M[1, 1] * force[0] - M[0, 1] * force[1]) / determinant
    second = (M[0, 0] * force[1] - M[0, 1] * force[0]) / determinant
    return Equations(q, u, c, s, moments, M, force, (first, second))


def moments_of_limits(foot: Foot, angles: Any, larger: Any) -> list[Any]:
    """Moments of the limits about both hinges, none without limits; ``larger``: the larger of two expressions of a program."""
    found: list[Any] = [0.0, 0.0] if foot.stops else []
    for stop in foot.stops:
        q = angles[stop.hinge]
        for sign, over in ((-1.0, q - stop.above), (1.0, stop.below - q)):
            x = larger(over, 0.0) / stop.compliance
            found[stop.hinge] += sign * stop.max_moment * (3.0 - 2.0 * x) * x * x
    return found


def lagrangian(foot: Foot, angles: Any, speeds: Any, cos: Any, sin: Any) -> Any:
    """Kinetic less potential energy in the expressions of another program, whose cosine and sine are given.

    Rotations are multiplied as matrices; nothing is simplified.
    """
    mass, centre, inertia = foot.welded()
    axes = [np.array(foot.talocrural_axis), np.array(foot.talocalcaneal_axis)]
    turns = []
    for angle, a in zip(angles, axes, strict=True):
        c, s = cos(angle), sin(angle)
        skew = np.cross(np.eye(3), a)
        turns.append(
            [[c * float(i == j) + s * skew[i, j] + (1.0 - c) * (a[i] * a[j]) for j in range(3)] for i in range(3)]
        )

    def turned(R: Any, v: Any) -> list[Any]:
        return [sum(R[i][j] * v[j] for j in range(3)) for i in range(3)]

    def back(R: Any, v: Any) -> list[Any]:
        return [sum(R[j][i] * v[j] for j in range(3)) for i in range(3)]

    def cross(a: Any, b: Any) -> list[Any]:
        return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

    first, second = turns
    link = np.subtract(foot.talocalcaneal, foot.talocrural)
    # All vectors are in the ground's axes, except the angular velocity of the kinetic energy, which is in the foot's.
    arm = turned(first, turned(second, centre - foot.talocalcaneal))
    at = [x + y for x, y in zip(turned(first, link), arm, strict=True)]
    second_axis = turned(first, axes[1])
    velocity = [speeds[0] * x + speeds[1] * y for x, y in zip(cross(axes[0], at), cross(second_axis, arm), strict=True)]
    omega = [speeds[0] * x + speeds[1] * y for x, y in zip(axes[0], second_axis, strict=True)]
    own = back(second, back(first, omega))
    kinetic = 0.5 * mass * sum(v * v for v in velocity)
    kinetic += 0.5 * sum(own[i] * sum(inertia[i, j] * own[j] for j in range(3)) for i in range(3))
    return kinetic + mass * sum(g * x for g, x in zip(foot.gravity, at, strict=True))


def positions(foot: Foot, first: Floats, second: Floats) -> Floats:
    """Centre of mass of the main foot at angles (n,) [rad]: (n, 3) [m]."""
    P, Q, r = (np.array(v) for v in (foot.talocrural, foot.talocalcaneal, foot.main_foot.r))
    arm = _turned(foot.talocalcaneal_axis, second, np.broadcast_to(r - Q, (len(second), 3)))
    return P + _turned(foot.talocrural_axis, first, Q - P + arm)


def _turned(axis: list[float], angle: Floats, vectors: Floats) -> Floats:
    a, c, s = np.array(axis), np.cos(angle)[:, None], np.sin(angle)[:, None]
    return c * vectors + s * np.cross(a, vectors) + (1.0 - c) * (vectors @ a)[:, None] * a


def _turn(axis: sp.Matrix, c: sp.Symbol, s: sp.Symbol) -> sp.Matrix:
    """Rotation about a unit vector by an angle of this cosine and sine."""
    skew = sp.Matrix(3, 3, lambda i, j: sum(-sp.LeviCivita(i, j, k) * axis[k] for k in range(3)))
    return c * sp.eye(3) + s * skew + (1 - c) * axis * axis.T


def _reduced(e: sp.Expr, c: sp.Symbol, s: sp.Symbol) -> sp.Expr:
    """A polynomial in a cosine and a sine with s^2 = 1 - c^2, so that the sine appears once in each product."""
    return _clean(sp.rem(sp.expand(e), s**2 + c**2 - 1, s))


def _clean(e: sp.Expr) -> sp.Expr:
    """The expression without terms that are due to rounding only."""
    terms = sp.expand(e).as_coefficients_dict()
    least = 1e-13 * max((abs(float(number)) for number in terms.values()), default=0.0)
    return sp.Add(*(number * term for term, number in terms.items() if abs(float(number)) > least))
