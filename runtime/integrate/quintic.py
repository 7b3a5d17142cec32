"""Polynomials of degree 5 of the positions of a body in a step, by r, v and v' at both ends; the velocities are their slopes.

A direction that is stiff leaves errors in velocities and accelerations, and hardly any in positions: the velocities between
the ends are then more accurate than those at the ends.  They are the same for all methods and compiled apart from them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import types

from runtime.dynamics.kinematics import euler_rates, turn_of
from runtime.dynamics.layout import NOT_FINITE, OK, OMEGA, STATE, P, V
from runtime.integrate.limit_changes import bends_of, cubic_of
from runtime.integrate.stepping import LENGTH, QUINTIC
from runtime.jit.compilation import inlined, place_of_address
from runtime.jit.pointers import array_at, call_at

DEGREE = 5
SLOPE = 3.08  # largest slope of x^2 (1 - x)^2 over its value in the middle
CLEARLY = 2.0  # a difference so many times another one is due to an error
RELATED = 1e-12  # of the largest change of a coordinate in a step: differences below are rounding
POSITIONS = 7  # scalars of r and p of a body
SCRATCH = 8  # memory of the functions below
SET, AT = range(2)  # what ``quintic_part`` does


@inlined
def set_quintic(s, b, first, last, dense, scratch):  # type: ignore[no-untyped-def]
    """Put the polynomials of body b in the last step into ``dense`` (6, 7 bodies); accelerations: ``first``, ``last`` (n,)."""
    call_at(
        s.address[QUINTIC], SET, b, len(s.y), 0.0, s.time[LENGTH], s.y_old, s.y, s.begin, s.end, first, last, dense, scratch,
        scratch,
    )  # fmt: skip


@inlined
def at_quintic(s, b, x, dense, scratch, y):  # type: ignore[no-untyped-def]
    """Put the state of body b at the fraction x of the step into y (13,); p is not of unit length."""
    call_at(
        s.address[QUINTIC],
        AT,
        b,
        len(s.y),
        x,
        s.time[LENGTH],
        s.y_old,
        s.y,
        s.begin,
        s.end,
        s.begin,
        s.end,
        dense,
        scratch,
        y,
    )


def quintic_part(purpose, b, n, x, h, y_old, y, begin, end, first, last, dense, scratch, out):  # type: ignore[no-untyped-def]
    """``set_quintic`` and ``at_quintic``, with the places of arrays."""
    columns = POSITIONS * (n // STATE)
    polynomials, memory = array_at(dense, (DEGREE + 1) * columns), array_at(scratch, SCRATCH)
    if purpose == SET:
        _set_end(b, h, array_at(y_old, n), array_at(begin, n), array_at(first, n), 0, columns, polynomials, memory)
        _set_end(b, h, array_at(y, n), array_at(end, n), array_at(last, n), 3, columns, polynomials, memory)
        _set_coefficients(b, columns, polynomials)
    else:
        _evaluate(b, x, h, columns, polynomials, memory, array_at(out, STATE))
    return OK


@inlined
def _set_end(b, h, y, y_dot, slope, row, columns, dense, scratch):  # type: ignore[no-untyped-def]
    """Positions of body b at an end of the step, their rates and accelerations, into three rows."""
    o = STATE * b
    # p'' = 1/2 G(p')^T omega + 1/2 G(p)^T omega'
    euler_rates(y_dot[o + P : o + V], y[o + OMEGA : o + STATE], scratch[:4])
    euler_rates(y[o + P : o + V], slope[o + OMEGA : o + STATE], scratch[4:8])
    for c in range(POSITIONS):
        k = row * columns + POSITIONS * b + c
        dense[k] = y[o + c]
        dense[k + columns] = h * y_dot[o + c]
        dense[k + 2 * columns] = h * h * (slope[o + V + c] if c < 3 else scratch[c - 3] + scratch[c + 1])


@inlined
def _set_coefficients(b, columns, dense):  # type: ignore[no-untyped-def]
    for c in range(POSITIONS):
        d = dense[POSITIONS * b + c :: columns]
        y0, v0, a0, y1, v1, a1 = d[0], d[1], d[2], d[3], d[4], d[5]
        rise, v, a = y1 - y0 - v0 - 0.5 * a0, v1 - v0 - a0, a1 - a0
        d[2] = 0.5 * a0
        d[3] = 10.0 * rise - 4.0 * v + 0.5 * a
        d[4] = -15.0 * rise + 7.0 * v - a
        d[5] = 6.0 * rise - 3.0 * v + 0.5 * a


@inlined
def _evaluate(b, x, h, columns, dense, scratch, y):  # type: ignore[no-untyped-def]
    for c in range(POSITIONS):
        d = dense[POSITIONS * b + c :: columns]
        y[c] = d[0] + x * (d[1] + x * (d[2] + x * (d[3] + x * (d[4] + x * d[5]))))
        slope = (d[1] + x * (2.0 * d[2] + x * (3.0 * d[3] + x * (4.0 * d[4] + x * 5.0 * d[5])))) / h
        if c < 3:
            y[V + c] = slope
        else:
            scratch[c - 3] = slope
    e, omega = y[P:V], y[OMEGA:STATE]
    turn_of(e, scratch, omega)
    square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]
    for c in range(3):
        omega[c] /= square  # omega = 2 G p' / |p|^2


_REAL, _INTEGER, _ARRAY = types.float64, types.int64, types.CPointer(types.float64)


@cache
def place_of_quintic() -> int:
    """Place of the address of ``quintic_part``."""
    return place_of_address(quintic_part, signature_of_quintic(), NOT_FINITE)


def signature_of_quintic() -> Any:
    """Types of ``quintic_part``."""
    return _INTEGER(*[_INTEGER] * 3, *[_REAL] * 2, *[_ARRAY] * 9)


@inlined
def largest_change(s, coordinates):  # type: ignore[no-untyped-def]
    """The largest change of a coordinate of a tree in the last step, by the rates at its ends."""
    largest = 0.0
    for u in range(coordinates, 2 * coordinates):
        largest = max(largest, abs(s.y_old[u]), abs(s.y[u]))
    return s.time[LENGTH] * largest


@inlined
def rate_differs(s, q, coordinates, rounding):  # type: ignore[no-untyped-def]
    """Whether the rate of coordinate q of a tree in the middle of the step, in ``s.trial``, shows an error.

    It differs from the slope of the quintic polynomial of the coordinate by more than this does from that of the cubic one, and
    by more than ``rounding``: both polynomials are exact of a coordinate that rests, or that a driver or gravity moves so.
    """
    u, h = q + coordinates, s.time[LENGTH]
    cubic = cubic_of(s.y_old[q], s.y[q], s.y_old[u], s.y[u], h)
    return differs_from_slope(cubic, bends_of(cubic, s.begin[u], s.end[u], h), h * s.trial[u], rounding)


@inlined
def differs_from_slope(cubic, bends, change, rounding):  # type: ignore[no-untyped-def]
    """As ``rate_differs``; ``change``: what the coordinate would change in the step by the rate in its middle."""
    bend, tilt = bends
    _, slope = value_and_slope(cubic, bend, tilt, 0.5)
    allowed = CLEARLY * SLOPE / 16.0 * max(abs(bend), abs(bend + tilt))
    return abs(change - slope) > max(allowed, rounding)


@inlined
def value_and_slope(cubic, bend, tilt, x):  # type: ignore[no-untyped-def]
    """Value of a coordinate by its quintic polynomial at a fraction x of the step, and its slope over x."""
    c0, c1, c2, c3 = cubic
    both, share = x * (1.0 - x), bend + x * tilt
    value = c0 + x * (c1 + x * (c2 + x * c3)) + both * both * share
    return value, c1 + x * (2.0 * c2 + 3.0 * x * c3) + both * (2.0 * (1.0 - 2.0 * x) * share + both * tilt)


@inlined
def interpolate_slopes(s, coordinates, x, y):  # type: ignore[no-untyped-def]
    """Coordinates of a tree by their quintic polynomials, and their rates by the slopes of these, at a fraction x of the step."""
    h = s.time[LENGTH]
    for q in range(coordinates):
        u = q + coordinates
        cubic = cubic_of(s.y_old[q], s.y[q], s.y_old[u], s.y[u], h)
        bend, tilt = bends_of(cubic, s.begin[u], s.end[u], h)
        y[q], slope = value_and_slope(cubic, bend, tilt, x)
        y[u] = slope / h
