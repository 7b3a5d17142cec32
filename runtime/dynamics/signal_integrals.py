"""Integrals of signals over steps, and the part of them that the stages of a step do not see.

The integrals are exact, as signals are piecewise polynomials.  Those from the begin of a block of pieces until each piece are
kept, so that a step over many pieces needs the two at its ends alone.  Over few pieces such differences would lose digits.
"""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.signals import DEGREE
from runtime.jit.compilation import inlined
from runtime.support.arrays import Floats

BLOCK, FEW = 256, 8  # pieces
SECOND = 0.1  # weight of the third integral over the square of the length of the step


def integrals_of_pieces(knots: Floats, coefficients: Floats) -> Floats:
    """Integrals (pieces, 3) of a signal, once, twice and three times, from the begin of the block of each piece to its begin.

    knots (pieces + 1,); coefficients (pieces, 6).
    """
    pieces = len(coefficients)
    found = np.zeros((pieces, 3))
    if pieces == 1:
        return found
    blocks = -(-pieces // BLOCK)
    padded = np.zeros((blocks * BLOCK, 4))  # length, and the integrals over the piece alone
    powers = np.arange(DEGREE + 1)
    h = padded[:pieces, 0] = np.diff(knots)
    scaled, factor = coefficients * h[:, None] ** powers, np.ones(DEGREE + 1)
    for n in range(1, 4):
        factor = factor / (powers + n)
        padded[:pieces, n] = h**n * (scaled @ factor)
    h, once, twice, thrice = (column.reshape(blocks, BLOCK) for column in padded.T)

    def before(changes: Floats) -> Floats:
        return np.cumsum(changes, axis=1) - changes

    first = before(once)
    second = before(twice + h * first)
    third = before(thrice + h * (second + 0.5 * h * first))
    for n, of in enumerate((first, second, third)):
        found[:, n] = of.ravel()[:pieces]
    return found


@inlined
def integrals_of(c0, c1, c2, c3, c4, c5, h):  # type: ignore[no-untyped-def]
    """Integrals of a polynomial with these coefficients, once, twice and three times, from 0 to h."""
    c1, c2, c3, c4, c5 = c1 * h, c2 * (h * h * (1 / 3)), c3 * (h**3 * 0.25), c4 * (h**4 * 0.2), c5 * (h**5 * (1 / 6))
    once = h * (c0 + 0.5 * c1 + c2 + c3 + c4 + c5)
    twice = h * h * (0.5 * c0 + (1 / 6) * c1 + 0.25 * c2 + 0.2 * c3 + (1 / 6) * c4 + (1 / 7) * c5)
    thrice = h * h * h * ((1 / 6) * c0 + (1 / 24) * c1 + 0.05 * c2 + (1 / 30) * c3 + (1 / 42) * c4 + (1 / 56) * c5)
    return once, twice, thrice


@inlined
def integrals_in_piece(piece, order, begin, end, t):  # type: ignore[no-untyped-def]
    """Integrals of a derivative between two times in a piece.

    The polynomial is moved to the first one: differences would lose digits.
    """
    c, x = t.coefficient[piece], begin - t.knot[piece]
    c0, c1, c2, c3, c4, c5 = c[0], c[1], c[2], c[3], c[4], c[5]
    if x != 0.0:
        c0 += x * (c1 + x * (c2 + x * (c3 + x * (c4 + x * c5))))
        c1 += x * (2.0 * c2 + x * (3.0 * c3 + x * (4.0 * c4 + x * (5.0 * c5))))
        c2 += x * (3.0 * c3 + x * (6.0 * c4 + x * (10.0 * c5)))
        c3 += x * (4.0 * c4 + x * (10.0 * c5))
        c4 += x * (5.0 * c5)
    if order == 1:
        c0, c1, c2, c3, c4, c5 = c1, 2.0 * c2, 3.0 * c3, 4.0 * c4, 5.0 * c5, 0.0
    elif order == 2:
        c0, c1, c2, c3, c4, c5 = 2.0 * c2, 6.0 * c3, 12.0 * c4, 20.0 * c5, 0.0, 0.0
    return integrals_of(c0, c1, c2, c3, c4, c5, end - begin)


@inlined
def continued(before, h, after):  # type: ignore[no-untyped-def]
    """Integrals until the end of a stretch of length h, from those until its begin and those over it."""
    once, twice, thrice = before
    return once + after[0], twice + h * once + after[1], thrice + h * (twice + 0.5 * h * once) + after[2]


@inlined
def integrals_over_few(order, low, begin, high, end, t):  # type: ignore[no-untyped-def]
    """Integrals of a derivative between two times, which lie in the pieces ``low`` and ``high``, piece by piece."""
    until = end if low == high else t.knot[low + 1]
    found = integrals_in_piece(low, order, begin, until, t)
    for piece in range(low + 1, high + 1):
        at, until = until, end if piece == high else t.knot[piece + 1]
        found = continued(found, until - at, integrals_in_piece(piece, order, at, until, t))
    return found


@inlined
def integrals_until(piece, time, t):  # type: ignore[no-untyped-def]
    """Integrals from the begin of the block of a piece until a time in the piece."""
    c, h, a = t.coefficient[piece], time - t.knot[piece], t.integrals[piece]
    return continued((a[0], a[1], a[2]), h, integrals_of(c[0], c[1], c[2], c[3], c[4], c[5], h))


@inlined
def integrals_over_many(k, low, begin, high, end, t):  # type: ignore[no-untyped-def]
    """Integrals of signal k between two times, which lie in the pieces ``low`` and ``high``, by those of blocks."""
    before, at, start = integrals_until(low, begin, t), begin, t.start[k]
    found = (0.0, 0.0, 0.0)
    block, last = (low - start) // BLOCK, (high - start) // BLOCK
    while True:
        piece = high if block == last else start + (block + 1) * BLOCK - 1
        until = end if block == last else t.knot[piece + 1]
        after, h = integrals_until(piece, until, t), until - at
        own = (
            after[0] - before[0], after[1] - before[1] - h * before[0],
            after[2] - before[2] - h * (before[1] + 0.5 * h * before[0]),
        )  # fmt: skip
        found = continued(found, h, own)
        if block == last:
            return found
        block, at, before = block + 1, until, (0.0, 0.0, 0.0)


@inlined
def exact_integrals(k, order, low, begin, high, end, first, last, t):  # type: ignore[no-untyped-def]
    """Integrals of a derivative of signal k over a step from a time in the piece ``low`` to one in the piece ``high``.

    ``first`` and ``last``: value, rate and acceleration there.
    """
    if high - low <= FEW:
        return integrals_over_few(order, low, begin, high, end, t)
    of = integrals_over_many(k, low, begin, high, end, t)
    if order == 0:
        return of
    h, change = end - begin, last[0] - first[0]
    if order == 1:
        return change, of[0] - h * first[0], of[1] - 0.5 * h * h * first[0]
    return last[1] - first[1], change - h * first[1], of[0] - h * (first[0] + 0.5 * h * first[1])


@inlined
def has_knot(k, high, begin, t):  # type: ignore[no-untyped-def]
    """Whether a step from ``begin`` to a time in the piece ``high`` of signal k passes a knot, as any pulse has."""
    return high > t.start[k] and t.knot[high] > begin


@inlined
def unseen(h, exact, seen):  # type: ignore[no-untyped-def]
    """The constant change of a derivative that makes up, by its size, for what a step of length h does not see of it.

    ``exact``: its integrals over the step, once, twice and three times; ``seen``: sums over the stages with the method's weights,
    which are those integrals where the step sees it, over h, h^2 and h^3.

    The first integral changes velocities, the second one positions.  The third one is a displacement and back, which moves what
    is not driven; its weight is small, since the method is of a lower order for it.
    """
    once, twice, thrice = exact[0] - h * seen[0], exact[1] - h * h * seen[1], exact[2] - h * h * h * seen[2]
    size = abs(once) + abs(twice) + SECOND / (h * h) * abs(thrice)
    return math.copysign(size, once if abs(once) >= abs(twice) else twice) / h
