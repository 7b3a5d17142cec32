"""Places of points of links in compiled code, and their velocities at unit rates of the coordinates, at many poses.

Links are turned and shifted by steps, parents before children; link 0 is the ground.  A point of a link moves with the rate of a
turn times axis x (point - point of the axis), and with the rate of a slide times its axis.
"""

from __future__ import annotations

from math import cos, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from runtime.dynamics.small_matrices import cross, matrix_product, minus, plus, plus_times, times, turn_about
from runtime.jit.compilation import compiled, inlined
from runtime.jit.rows import put_row, row_of
from runtime.support.arrays import Floats

Ints = NDArray[np.int64]


class Chain(NamedTuple):
    """Links (links,), their steps in order (steps,), and points (points,); ``first`` (links + 1,): the first step of each link.

    ``lead``: the coordinate that a step follows, -1 for none; ``carried`` (points, steps): whether a step moves a point.
    """

    parent: Ints
    position: Floats  # (links, 3) [m] in axes of the parent
    rotation: Floats  # (links, 3, 3)
    first: Ints
    turns: Ints  # 1 for a turn, 0 for a slide
    axis: Floats  # (steps, 3) in axes of the link
    pivot: Floats  # (steps, 3) [m] point of the axis
    lead: Ints
    link: Ints  # of the points
    local: Floats  # (points, 3) [m]
    carried: Ints


class ChainMemory(NamedTuple):
    """Of one pose: axes and origins of the links, directions and points of the steps, places, velocities, one row of these."""

    A: Floats
    r: Floats
    e: Floats
    P: Floats
    x: Floats
    v: Floats


def chain_memory(chain: Chain, coordinates: int) -> ChainMemory:
    """Memory for the functions below."""
    links, steps, points = len(chain.parent), len(chain.turns), len(chain.link)
    m = ChainMemory(
        np.zeros((links, 3, 3)), np.zeros((links, 3)), np.zeros((steps, 3)), np.zeros((steps, 3)), np.zeros((points, 3)),
        np.zeros((3, coordinates)),
    )  # fmt: skip
    m.A[0] = np.eye(3)
    return m


@inlined
def take_step(chain, s, amount, m, n):  # type: ignore[no-untyped-def]
    """Move link n by a step; keep the direction of the step and its point."""
    A, r, own = row_of(m.A, n, 9), row_of(m.r, n, 3), row_of(chain.pivot, s, 3)
    axis = row_of(chain.axis, s, 3)
    e, point = times(A, axis), plus(r, times(A, own))
    put_row(m.e, s, e)
    put_row(m.P, s, point)
    if chain.turns[s] == 1:
        A = matrix_product(A, turn_about(axis, cos(amount), sin(amount)))
        put_row(m.A, n, A)
        put_row(m.r, n, minus(point, times(A, own)))
    else:
        put_row(m.r, n, plus_times(r, amount, e))


@inlined
def place_links(chain, amounts, m):  # type: ignore[no-untyped-def]
    """Axes of all links, and all points, for the amounts of the steps (steps,) [rad], [m]."""
    for n in range(1, len(chain.parent)):
        before = chain.parent[n]
        A = row_of(m.A, before, 9)
        put_row(m.A, n, matrix_product(A, row_of(chain.rotation, n, 9)))
        put_row(m.r, n, plus(row_of(m.r, before, 3), times(A, row_of(chain.position, n, 3))))
        for s in range(chain.first[n], chain.first[n + 1]):
            take_step(chain, s, amounts[s], m, n)
    for p in range(len(chain.link)):
        k = chain.link[p]
        put_row(m.x, p, plus(row_of(m.r, k, 3), times(row_of(m.A, k, 9), row_of(chain.local, p, 3))))


@inlined
def move_point(chain, p, slopes, m, v):  # type: ignore[no-untyped-def]
    """Velocities (3, coordinates) of a point at unit rates, after ``place_links``."""
    for i in range(3):
        for k in range(v.shape[1]):
            v[i, k] = 0.0
    for s in range(len(chain.turns)):
        k, moved = chain.lead[s], row_of(m.e, s, 3)
        if k < 0 or chain.carried[p, s] == 0:
            continue
        if chain.turns[s] == 1:
            moved = cross(moved, minus(row_of(m.x, p, 3), row_of(m.P, s, 3)))
        for i in range(3):
            v[i, k] += slopes[s] * moved[i]


@compiled
def move_points(chain, amounts, slopes, m, places, velocities):  # type: ignore[no-untyped-def]
    """Fill places (poses, points, 3) and, unless it is empty, velocities (poses, points, 3, coordinates)."""
    for n in range(len(amounts)):
        place_links(chain, amounts[n], m)
        for p in range(len(chain.link)):
            for i in range(3):
                places[n, p, i] = m.x[p, i]
            if len(velocities) > 0:
                move_point(chain, p, slopes[n], m, velocities[n, p])


@inlined
def add_point(w, off, v, g, H):  # type: ignore[no-untyped-def]
    """Add the part of one component of a point's distance, with the velocities v (coordinates,), to g and the lower part of H."""
    for a in range(len(g)):
        along = w * v[a]
        if along == 0.0:
            continue
        g[a] += along * off
        for b in range(a + 1):
            H[a, b] += along * v[b]


@inlined
def cleared(g, H):  # type: ignore[no-untyped-def]
    """Set both to 0."""
    for a in range(len(g)):
        g[a] = 0.0
        for b in range(len(g)):
            H[a, b] = 0.0


@inlined
def mirror(H):  # type: ignore[no-untyped-def]
    """Put the lower part of H into the upper one."""
    for a in range(len(H)):
        for b in range(a):
            H[b, a] = H[a, b]


@compiled
def normal_equations(chain, amounts, slopes, observed, weights, m, g, H, cost):  # type: ignore[no-untyped-def]
    """Weighted squares of the distances of points from observed places: half of gradient and curvature, and the sum.

    ``amounts`` and ``slopes`` (poses, steps), ``observed`` (poses, points, 3), ``weights`` (poses, points); into g (poses,
    coordinates), H (poses, coordinates, coordinates), cost (poses,).
    """
    for n in range(len(amounts)):
        place_links(chain, amounts[n], m)
        cleared(g[n], H[n])
        cost[n] = 0.0
        for p in range(len(chain.link)):
            w = weights[n, p]
            if w == 0.0:
                continue
            move_point(chain, p, slopes[n], m, m.v)
            for i in range(3):
                off = m.x[p, i] - observed[n, p, i]
                cost[n] += w * off * off
                add_point(w, off, m.v[i], g[n], H[n])
        mirror(H[n])
