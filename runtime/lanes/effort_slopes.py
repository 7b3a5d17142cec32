"""Derivatives of the efforts of a tree over its coordinates and rates, from efforts at places along each, side by side in lanes.

Efforts are quadratic in each rate, in each distance, and in the sine and cosine of each turn, as the mass matrix is: two values
along a rate and four along a coordinate give their derivatives exactly.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.lift import BALL, FREE, SLIDE, TURN, TreeData, place_steps, product
from runtime.dynamics.mechanics import accelerate, find_efforts
from runtime.dynamics.tree_workspace import TreeWorkspace
from runtime.jit.compilation import CONTRACT, compiled, inlined
from runtime.jit.lane_vectors import numbers_of
from runtime.jit.pointers import in_lanes
from runtime.lanes import lift  # noqa: F401  # sine and cosine of vectors
from runtime.lanes.vector_code import WIDTH
from runtime.support.arrays import Floats, Ints, lanes_of

EIGHTH, HALF = math.sqrt(1.0 / 8.0), 0.5
# Changes of a turn [rad], of a distance [m] and of a rate, and factors of the efforts there.
TURNS = 0.25 * math.pi, -0.25 * math.pi, 0.75 * math.pi, -0.75 * math.pi
OF_TURNS = EIGHTH + HALF, -EIGHTH - HALF, EIGHTH - HALF, HALF - EIGHTH
DISTANCES, OF_DISTANCES = (1.0, -1.0, 2.0, -2.0), (2.0 / 3.0, -2.0 / 3.0, -1.0 / 12.0, 1.0 / 12.0)
ALONG_Q, PLACES = 4, 6
PLAIN = -1


class Directions(NamedTuple):
    """Of each rate: what varies with it."""

    q: Ints  # (rates,) place of its coordinate, or of the Euler parameters that it turns
    turns: Ints  # (rates,) 1: a turn
    axis: Ints  # (rates,) of a turn of Euler parameters; else PLAIN


def directions_of(t: TreeData) -> Directions:
    """The directions of a tree."""
    rows = []
    for kind, q in zip(t.kind.tolist(), t.q.tolist(), strict=True):
        if kind in (TURN, SLIDE):
            rows.append((q, int(kind == TURN), PLAIN))
        if kind == FREE:
            rows += [(q + c, 0, PLAIN) for c in range(3)]
        if kind in (BALL, FREE):
            rows += [(q + 3 * (kind == FREE), 1, c) for c in range(3)]
    return Directions(*np.array(rows, np.int64).reshape(-1, 3).T.copy())


@in_lanes(0)
class SameTree(TreeData):
    """A tree that is the same in all lanes."""

    __slots__ = ()


@in_lanes(WIDTH)
class EffortLanes(NamedTuple):
    """Memory."""

    tree: TreeWorkspace
    z: Floats  # (n,) coordinates and rates
    rates: Floats  # (rates,) derivatives of the rates


def effort_lanes(tree: TreeWorkspace) -> EffortLanes:
    """Memory for a tree."""

    def lanes(of: Any) -> Any:
        return type(of)(*(lanes_of(*x.shape, WIDTH) for x in of))

    memory = {name: lanes(getattr(tree, name)) for name in ("lifting", "recursion")}
    memory |= {name: lanes_of(*getattr(tree, name).shape, WIDTH) for name in ("force", "moment", "Q")}
    own = tree._replace(data=SameTree(*tree.data), **memory)
    return EffortLanes(own, lanes_of(int(tree.size[0]), WIDTH), lanes_of(len(tree.Q), WIDTH))


@inlined
def vary(t, d, k, place, z, lane):  # type: ignore[no-untyped-def]
    """Change the coordinate of rate k, or the rate, in a lane."""
    q = d.q[k]
    if place >= ALONG_Q:
        z[t.u[0] + k, lane] += 1.0 if place == ALONG_Q else -1.0
    elif d.axis[k] == PLAIN:
        z[q, lane] += TURNS[place] if d.turns[k] == 1 else DISTANCES[place]
    else:
        c, sine = d.axis[k], math.sin(0.5 * TURNS[place])
        turn = math.cos(0.5 * TURNS[place]), sine * (c == 0), sine * (c == 1), sine * (c == 2)
        z[q, lane], z[q + 1, lane], z[q + 2, lane], z[q + 3, lane] = product(
            (z[q, lane], z[q + 1, lane], z[q + 2, lane], z[q + 3, lane]), turn
        )


@inlined
def factor_of(d, k, place):  # type: ignore[no-untyped-def]
    """Factor of the efforts at a place along rate k or its coordinate."""
    if place >= ALONG_Q:
        return 0.5 if place == ALONG_Q else -0.5
    return OF_TURNS[place] if d.turns[k] == 1 else OF_DISTANCES[place]


def _slopes(m, d, z, rates, of_q, of_u):  # type: ignore[no-untyped-def]
    """Derivatives (states, efforts, rates) of the efforts for z (states, n) and derivatives of the rates (states, rates).

    They are 0 before.  Those over coordinates are along the rates of these.
    """
    own, n = m.tree, len(m.tree.Q)
    values, changes, Q = numbers_of(m.z), numbers_of(m.rates), numbers_of(own.Q)
    for i in range(len(z)):
        for k in range(n):
            for lane in range(WIDTH):
                changes[k, lane] = rates[i, k]
        for first in range(0, PLACES * n, WIDTH):
            for c in range(len(values)):
                for lane in range(WIDTH):
                    values[c, lane] = z[i, c]
            last = min(WIDTH, PLACES * n - first)
            for lane in range(last):
                vary(own.data, d, (first + lane) // PLACES, (first + lane) % PLACES, values, lane)
            place_steps(own.data, own.lifting, m.z)
            accelerate(own.data, own.lifting, own.recursion, m.rates, 1.0)
            find_efforts(own, m.rates)
            for lane in range(last):
                k, place = (first + lane) // PLACES, (first + lane) % PLACES
                factor, found = factor_of(d, k, place), of_q[i] if place < ALONG_Q else of_u[i]
                for r in range(n):
                    found[r, k] += factor * Q[r, lane]


slopes_of_efforts = compiled(_slopes, fastmath=CONTRACT)
