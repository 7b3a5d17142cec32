"""States within a step by polynomials of degree 5 of the coordinates, with their first two derivatives at both ends.

A direction that is stiff leaves errors in rates and accelerations, and hardly any in coordinates: the slopes of the
polynomials are then more accurate than polynomials of the rates.  *Ties* are the coordinates whose rates are in the state too:
one with its slope, or four Euler parameters with an angular velocity, in the axes in which they turn or in those that they
turn.  The latter is one of the former kind with the parameters of the turn back, which is minus as fast.  ``stride``: distance of
components in arrays; 1, or LANES.  For single runs the functions are the same for all methods and compiled apart from them.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from numba import types

from runtime.dynamics.layout import NOT_FINITE, OK
from runtime.dynamics.lift import OF_TURN, product
from runtime.integrate.dop853_coefficients import COEFFICIENTS, EXTRA, PLACES, SLOPES, STAGES, VALUES
from runtime.integrate.limit_changes import bends_of, cubic_of, value_and_slope
from runtime.integrate.stepping import QUINTIC
from runtime.jit.compilation import expanded, inlined, place_of_address
from runtime.jit.pointers import array_at, call_at

RATES = 3  # of a tie of Euler parameters
# Squares of the length of a step times an eigenvalue.  From SUSPICIOUS on errors of rates by the polynomial of order 7, in the
# direction of the eigenvalue, are larger than those of quintic slopes.  There, and soon after it, the rates differ from quintic
# slopes by at most 0.6 (CLEARLY, a square) of what they differ by from slopes of the coordinates' own polynomials of order 7,
# and beyond FAR by less than all of that.  Both hold for eigenvalues of linear motions, real and complex, up to 1000 in a step.
SUSPICIOUS, FAR, CLEARLY = 9.0, 100.0, 0.36
OF_WAYS = COEFFICIENTS.b - COEFFICIENTS.a[STAGES - 1, :STAGES]  # from the last stage to the end of the step
SPOILT, PUT = range(2)  # what ``quintic_part`` does


@inlined
def shows_error(m, q, u, n, square):  # type: ignore[no-untyped-def]
    """1 if a tie of the last step of dop853 ``is_spoilt``."""
    k, h = m.own.k, m.s.length[0]
    return call_at(m.address[QUINTIC], SPOILT, q, u, n, len(m.y), square, h, m.y_old, m.y, k, k, m.y)


@inlined
def put_slopes(m, q, u, n, x, first, last, y):  # type: ignore[no-untyped-def]
    """``put_tie`` at the fraction x of the last step into a state y; ``first``, ``last``: derivatives at its ends."""
    call_at(m.address[QUINTIC], PUT, q, u, n, len(m.y), x, m.s.length[0], m.y_old, m.y, first, last, y)


def quintic_part(purpose, q, u, n, size, x, h, y_old, y, first, last, out):  # type: ignore[no-untyped-def]
    """``is_spoilt`` with stages at ``first`` and a square x, or ``put_tie``, with the places of arrays."""
    begin, end = array_at(y_old, size), array_at(y, size)
    if purpose == SPOILT:
        return 1 if is_spoilt(array_at(first, STAGES + 1 + EXTRA, size), begin, end, q, u, n, 1, h, x) else 0
    put_tie(begin, end, array_at(first, size), array_at(last, size), q, u, n, 1, h, x, array_at(out, size), q, u)
    return OK


_REAL, _INTEGER, _ARRAY = types.float64, types.int64, types.CPointer(types.float64)


@cache
def place_of_quintic() -> int:
    """Place of the address of ``quintic_part``."""
    return place_of_address(quintic_part, signature_of_quintic(), NOT_FINITE)


def signature_of_quintic() -> Any:
    """Types of ``quintic_part``."""
    return _INTEGER(*[_INTEGER] * 5, *[_REAL] * 2, *[_ARRAY] * 5)


@inlined
def is_spoilt(k, y, end, q, u, n, stride, h, square):  # type: ignore[no-untyped-def]
    """Whether stiffness spoils the polynomial of order 7 of the rates of a tie, so that slopes are better.

    Its coordinates have such a polynomial too, by the same stages: where the rates differ from its slopes, they are wrong by
    about half of that.  ``square``: as of SUSPICIOUS, ``largest_square``; a single tie may show a large one by chance.
    """
    square = min(square, square_of_stiffness(k, u, rates_of(n), stride))
    if square < SUSPICIOUS:
        return False
    off = wrong = 0.0
    for p in range(len(PLACES)):
        at_place = of_turn(k, y, end, q, u, n, stride, h, p) if n >= OF_TURN else of_slope(k, y, end, q, u, h, p)
        off, wrong = off + at_place[0], wrong + at_place[1]
    return off < (CLEARLY if square < FAR else 1.0) * wrong


@inlined
def rates_of(n):  # type: ignore[no-untyped-def]
    """Number of rates of a tie."""
    return RATES if n >= OF_TURN else 1


@inlined
def side_of(n):  # type: ignore[no-untyped-def]
    """1 for an angular velocity in the axes in which Euler parameters turn, -1 for the one in those that they turn."""
    return 1.0 if n == OF_TURN else -1.0


@inlined
def largest_square(k, first, n, size, stride):  # type: ignore[no-untyped-def]
    """The largest ``square_of_stiffness`` of parts, of so many components each, of n components from ``first`` on."""
    largest = 0.0
    for i in range(first, first + n * stride, size * stride):
        largest = max(largest, square_of_stiffness(k, i, size, stride))
    return largest


@inlined
def square_of_stiffness(k, u, n, stride):  # type: ignore[no-untyped-def]
    """Square of the length of the step times the largest eigenvalue that n components show; see ``dop853.check_stiffness``."""
    rates = ways = 0.0
    for i in range(u, u + n * stride, stride):
        rate, way = k[STAGES, i] - k[STAGES - 1, i], 0.0
        for q in range(STAGES):
            way += OF_WAYS[q] * k[q, i]
        rates += rate * rate
        ways += way * way
    return rates / ways if ways > 0.0 else 0.0


@inlined
def of_stages(weights, p, k, i):  # type: ignore[no-untyped-def]
    """Sum of the stages of component i by the weights of a place."""
    total = 0.0
    for q in range(STAGES + 1 + EXTRA):
        total += weights[p, q] * k[q, i]
    return total


@inlined
def of_slope(k, y, end, q, u, h, p):  # type: ignore[no-untyped-def]
    """Squares of differences of a rate by the polynomial of order 7 at a place: to the quintic one, and to the slope by it."""
    rate = y[u] + h * of_stages(VALUES, p, k, u)
    _, better = slope_within(y, end, k[0], k[STAGES], q, u, h, PLACES[p])
    return (rate - better) ** 2, (rate - of_stages(SLOPES, p, k, q)) ** 2


@inlined
def of_turn(k, y, end, q, u, n, stride, h, p):  # type: ignore[no-untyped-def]
    """As ``of_slope``, for Euler parameters and an angular velocity."""
    side = side_of(n)
    q1, q2, q3 = q + stride, q + 2 * stride, q + 3 * stride
    e = (
        y[q] + h * of_stages(VALUES, p, k, q), side * (y[q1] + h * of_stages(VALUES, p, k, q1)),
        side * (y[q2] + h * of_stages(VALUES, p, k, q2)), side * (y[q3] + h * of_stages(VALUES, p, k, q3)),
    )  # fmt: skip
    slope = rate_of_turn(
        e,
        (
            of_stages(SLOPES, p, k, q),
            side * of_stages(SLOPES, p, k, q1),
            side * of_stages(SLOPES, p, k, q2),
            side * of_stages(SLOPES, p, k, q3),
        ),
    )
    first, last = end_of_turn(y, k[0], q, u, n, stride), end_of_turn(end, k[STAGES], q, u, n, stride)
    _, better = turn_within(first, last, h, PLACES[p])
    off = wrong = 0.0
    for c in range(RATES):
        rate = side * (y[u + c * stride] + h * of_stages(VALUES, p, k, u + c * stride))
        off, wrong = off + (rate - better[c]) ** 2, wrong + (rate - slope[c]) ** 2
    return off, wrong


@inlined
def put_tie(y, end, first, last, q, u, n, stride, h, x, out, to_q, to_u):  # type: ignore[no-untyped-def]
    """Coordinates of a tie by their quintic polynomials at a fraction x of the step, and rates by the slopes of these.

    ``first``, ``last``: derivatives of the state at both ends; ``to_q``, ``to_u``: places in ``out``.
    """
    if n >= OF_TURN:
        e, omega = turn_within(end_of_turn(y, first, q, u, n, stride), end_of_turn(end, last, q, u, n, stride), h, x)
        out[to_q] = e[0]
        for c in range(RATES):
            out[to_q + 1 + c], out[to_u + c] = side_of(n) * e[1 + c], side_of(n) * omega[c]
    else:
        out[to_q], out[to_u] = slope_within(y, end, first, last, q, u, h, x)


@inlined
def slope_within(y, end, first, last, q, u, h, x):  # type: ignore[no-untyped-def]
    """A coordinate at a fraction x of a step of length h, and its slope."""
    return value_and_rate((y[q], y[u], first[u]), (end[q], end[u], last[u]), h, x)


@inlined
def value_and_rate(first, last, h, x):  # type: ignore[no-untyped-def]
    """As ``slope_within``, by value, rate and acceleration at both ends."""
    cubic = cubic_of(first[0], last[0], first[1], last[1], h)
    value, slope, _ = value_and_slope(cubic, bends_of(cubic, first[2], last[2], h), x)
    return value, slope / h


@inlined
def end_of_turn(y, y_dot, q, u, n, stride):  # type: ignore[no-untyped-def]
    """Euler parameters at an end of a step with their first two derivatives: p' = (0, omega) p / 2, products of turns."""
    side = side_of(n)
    e = y[q], side * y[q + stride], side * y[q + 2 * stride], side * y[q + 3 * stride]
    omega = 0.0, side * y[u], side * y[u + stride], side * y[u + 2 * stride]
    faster = 0.0, side * y_dot[u], side * y_dot[u + stride], side * y_dot[u + 2 * stride]
    d, a = product(omega, e), product(faster, e)
    rate = 0.5 * d[0], 0.5 * d[1], 0.5 * d[2], 0.5 * d[3]
    b = product(omega, rate)
    return e, rate, (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]), 0.5 * (a[3] + b[3]))


@inlined
def turn_within(first, last, h, x):  # type: ignore[no-untyped-def]
    """Euler parameters of unit length at a fraction x of a step, and the angular velocity; ``end_of_turn`` of both ends."""
    (a, a1, a2), (b, b1, b2) = first, last
    e0, d0 = value_and_rate((a[0], a1[0], a2[0]), (b[0], b1[0], b2[0]), h, x)
    e1, d1 = value_and_rate((a[1], a1[1], a2[1]), (b[1], b1[1], b2[1]), h, x)
    e2, d2 = value_and_rate((a[2], a1[2], a2[2]), (b[2], b1[2], b2[2]), h, x)
    e3, d3 = value_and_rate((a[3], a1[3], a2[3]), (b[3], b1[3], b2[3]), h, x)
    size = math.sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
    return (e0 / size, e1 / size, e2 / size, e3 / size), rate_of_turn((e0, e1, e2, e3), (d0, d1, d2, d3))


@expanded
def rate_of_turn(e, slope):  # type: ignore[no-untyped-def]
    """The angular velocity of Euler parameters of any length with these rates."""
    w = product(slope, (e[0], -e[1], -e[2], -e[3]))
    factor = 2.0 / (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
    return factor * w[1], factor * w[2], factor * w[3]
