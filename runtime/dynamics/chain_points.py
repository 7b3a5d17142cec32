"""Places of points of links in compiled code, and their velocities at unit rates of the coordinates, at many poses.

Links are turned and shifted by steps, parents before children; link 0 is the ground.  A point of a link moves with the rate of a
turn times axis x (point - point of the axis), and with the rate of a slide times its axis.
"""

from __future__ import annotations

from math import cos, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from runtime.jit.compilation import compiled, inlined
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
def turned(axis, angle, A, B):  # type: ignore[no-untyped-def]
    """Put A times the turn about an axis in its own axes into B."""
    c, s = cos(angle), sin(angle)
    x, y, z = axis[0], axis[1], axis[2]
    a, b, d = (1.0 - c) * x, (1.0 - c) * y, (1.0 - c) * z
    for k in range(3):
        p, q, r = A[k, 0], A[k, 1], A[k, 2]
        B[k, 0] = p * (c + a * x) + q * (b * x + s * z) + r * (d * x - s * y)
        B[k, 1] = p * (a * y - s * z) + q * (c + b * y) + r * (d * y + s * x)
        B[k, 2] = p * (a * z + s * y) + q * (b * z - s * x) + r * (c + d * z)


@inlined
def product(A, B, C):  # type: ignore[no-untyped-def]
    """Put A times B (3, 3) into C."""
    for i in range(3):
        for j in range(3):
            C[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j]


@inlined
def shifted(r, A, d, sign, out):  # type: ignore[no-untyped-def]
    """Put r + sign A d into ``out``."""
    for i in range(3):
        out[i] = r[i] + sign * (A[i, 0] * d[0] + A[i, 1] * d[1] + A[i, 2] * d[2])


@inlined
def take_step(chain, s, amount, m, A, r):  # type: ignore[no-untyped-def]
    """Move axes A (3, 3) with the origin r by a step; keep its direction and its point."""
    for i in range(3):
        m.e[s, i] = 0.0
    shifted(m.e[s], A, chain.axis[s], 1.0, m.e[s])
    shifted(r, A, chain.pivot[s], 1.0, m.P[s])
    if chain.turns[s] == 1:
        turned(chain.axis[s], amount, A, A)
        shifted(m.P[s], A, chain.pivot[s], -1.0, r)
    else:
        for i in range(3):
            r[i] += amount * m.e[s, i]


@inlined
def place_links(chain, amounts, m):  # type: ignore[no-untyped-def]
    """Axes of all links, and all points, for the amounts of the steps (steps,) [rad], [m]."""
    for n in range(1, len(chain.parent)):
        before = chain.parent[n]
        product(m.A[before], chain.rotation[n], m.A[n])
        shifted(m.r[before], m.A[before], chain.position[n], 1.0, m.r[n])
        for s in range(chain.first[n], chain.first[n + 1]):
            take_step(chain, s, amounts[s], m, m.A[n], m.r[n])
    for p in range(len(chain.link)):
        shifted(m.r[chain.link[p]], m.A[chain.link[p]], chain.local[p], 1.0, m.x[p])


@inlined
def move_point(chain, p, slopes, m, v):  # type: ignore[no-untyped-def]
    """Velocities (3, coordinates) of a point at unit rates, after ``place_links``."""
    for i in range(3):
        for k in range(v.shape[1]):
            v[i, k] = 0.0
    for s in range(len(chain.turns)):
        k = chain.lead[s]
        if k < 0 or chain.carried[p, s] == 0:
            continue
        if chain.turns[s] == 1:
            x, y, z = (m.x[p, 0] - m.P[s, 0], m.x[p, 1] - m.P[s, 1], m.x[p, 2] - m.P[s, 2])
            v[0, k] += slopes[s] * (m.e[s, 1] * z - m.e[s, 2] * y)
            v[1, k] += slopes[s] * (m.e[s, 2] * x - m.e[s, 0] * z)
            v[2, k] += slopes[s] * (m.e[s, 0] * y - m.e[s, 1] * x)
        else:
            for i in range(3):
                v[i, k] += slopes[s] * m.e[s, i]


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
