"""Curves of circumduction cones in compiled code: maximum latitude, nearest direction."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from generated import dispatch
from runtime.jit.cache import compiled, inlined
from runtime.jit.pointers import by_pointer
from runtime.support.arrays import Floats, Ints

SAMPLES = 17  # directions of a piece among which the search begins
COEFFICIENTS = max(len(module.COEFFICIENTS) for module in dispatch.CONES)
KINDS = [module.NAME for module in dispatch.CONES]
NEWTON_STEPS, MAX_STEPS = 8, 64  # then bisection, which gains a bit of the parameter each step
MAX_HALVINGS = 24  # of an interval between two samples
MAX_LOOKS = 3000  # at places of the curve, in one search
ROUNDING = 1e-20  # a closeness that can gain no more than this is not looked for


class Pieces(NamedTuple):
    """The pieces of one cone, or of several one after the other."""

    kind: Ints  # (pieces,)
    longitude: Floats  # (pieces, 2) at both ends
    span: Floats  # (pieces, 2) parameter there
    coefficients: Floats  # (pieces, COEFFICIENTS)
    samples: Floats  # (pieces, SAMPLES, 3) points of the curve, evenly in the parameter
    bounds: Floats  # (pieces, 2) largest second and third derivative of the curve


@inlined
def maximum(psi, first, last, pieces, pair):  # type: ignore[no-untyped-def]
    """The maximum latitude of a cone (pieces first .. last - 1) at a longitude of 0 .. 2 pi.  ``pair`` is memory (2,)."""
    p = last - 1
    for q in range(first, last - 1):
        if psi < pieces.longitude[q, 1]:
            p = q
            break
    kind, c, lower, upper = pieces.kind[p], pieces.coefficients[p], pieces.span[p, 0], pieces.span[p, 1]
    dispatch.parameter(kind, psi, c, pair)
    s = pair[0] if pair[0] > lower - 1.0 else pair[0] + 2.0 * math.pi
    s = min(max(s, lower), upper)
    # The longitude rises with the parameter: Newton's method, kept in a bracket.
    for step in range(MAX_STEPS):
        dispatch.bearing(kind, s, psi, c, pair)
        if abs(pair[0]) <= 1e-16:
            break
        if pair[0] < 0.0:
            lower = s
        else:
            upper = s
        to = s - pair[0] / pair[1] if pair[1] > 0.0 else 0.5 * (lower + upper)
        if step >= NEWTON_STEPS or not lower <= to <= upper:
            to = 0.5 * (lower + upper)
        if abs(to - s) <= 1e-15 * max(1.0, abs(s)):
            break
        s = to
    dispatch.limit(kind, s, c, pair)
    return pair[0]


@compiled
def nearest_direction(u, pieces, curve, t):  # type: ignore[no-untyped-def]
    at = by_pointer(pieces)
    nearest(u, 0, len(at.kind), at, curve, t)


@compiled
def maximum_latitudes(longitudes, pieces, pair, out):  # type: ignore[no-untyped-def]
    at = by_pointer(pieces)
    for n in range(len(longitudes)):
        out[n] = maximum(longitudes[n], 0, len(at.kind), at, pair)


@compiled
def sample_curves(kind, span, coefficients, out):  # type: ignore[no-untyped-def]
    """The curve of every piece at evenly spaced parameters, (pieces, n, 9)."""
    for p in range(len(kind)):
        steps = out.shape[1] - 1
        for n in range(steps + 1):
            s = span[p, 0] + (span[p, 1] - span[p, 0]) * n / steps
            dispatch.curve(kind[p], s, coefficients[p], out[p, n])


@inlined
def closeness(u, point):  # type: ignore[no-untyped-def]
    """Minus half the square of the chord from u to a point: their cosine less 1, without its loss of digits near 1."""
    x, y, z = u[0] - point[0], u[1] - point[1], u[2] - point[2]
    return -0.5 * (x * x + y * y + z * z)


@inlined
def look(u, p, s, pieces, curve):  # type: ignore[no-untyped-def]
    """The closeness of t(s) with two derivatives into the last three places of ``curve`` (12,), the curve into the others.

    With |t| = 1:  closeness' = (u - t) . t',  closeness'' = (u - t) . t'' - t' . t'.
    """
    dispatch.curve(pieces.kind[p], s, pieces.coefficients[p], curve)
    curve[9] = closeness(u, curve)
    curve[10] = curve[11] = 0.0
    for c in range(3):
        chord = u[c] - curve[c]
        curve[10] += chord * curve[3 + c]
        curve[11] += chord * curve[6 + c] - curve[3 + c] * curve[3 + c]


@inlined
def climb(u, p, lower, upper, pieces, curve):  # type: ignore[no-untyped-def]
    """Look where t(s) is closest to u between two parameters, given that it comes closer at the first and leaves at the second.

    Newton's method, kept in the bracket; after a few steps bisection.
    """
    s = 0.5 * (lower + upper)
    for step in range(MAX_STEPS):
        look(u, p, s, pieces, curve)
        rise, bend = curve[10], curve[11]
        if rise > 0.0:
            lower = s
        else:
            upper = s
        to = s - rise / bend if bend < 0.0 else 0.5 * (lower + upper)
        if step >= NEWTON_STEPS or not lower < to < upper:
            to = 0.5 * (lower + upper)
        if rise == 0.0 or abs(to - s) <= 1e-15 * max(1.0, abs(s)):
            return s
        s = to
    return s


@inlined
def nearest(u, first, last, pieces, curve, t):  # type: ignore[no-untyped-def]
    """Put the direction of the cone (pieces first .. last - 1) nearest to the unit direction u into t; its piece and parameter.

    Every interval between two samples of the curve is left out if it is too far to hold the nearest point, searched if it
    holds one closest place at most, else halved.  ``curve`` is memory (12,).
    """
    best, best_p, best_s = -np.inf, first, 0.0
    for p in range(first, last):
        for n in range(SAMPLES):
            point = pieces.samples[p, n]
            close = closeness(u, point)
            if close > best:
                best, best_p = close, p
                best_s = pieces.span[p, 0] + (pieces.span[p, 1] - pieces.span[p, 0]) * n / (SAMPLES - 1)
                t[0], t[1], t[2] = point[0], point[1], point[2]
    looks = 0
    for p in range(first, last):
        second, third = pieces.bounds[p, 0], pieces.bounds[p, 1]
        whole = (pieces.span[p, 1] - pieces.span[p, 0]) / (SAMPLES - 1)
        for n in range(SAMPLES - 1):
            ends = max(closeness(u, pieces.samples[p, n]), closeness(u, pieces.samples[p, n + 1]))
            if ends + whole * whole / 8.0 * second <= best:
                continue
            halvings, number = 0, 0  # the part ``number`` of the 2^halvings equal ones
            for _ in range(MAX_LOOKS - looks):
                width = whole / 2.0**halvings
                left = pieces.span[p, 0] + n * whole + number * width
                look(u, p, left + 0.5 * width, pieces, curve)
                looks += 1
                close, slope, bend = curve[9], curve[10], curve[11]
                if close > best:
                    best, best_p, best_s = close, p, left + 0.5 * width
                    t[0], t[1], t[2] = curve[0], curve[1], curve[2]
                spread = 0.5 * width * third  # of the second derivative from the middle
                most = min(second, abs(bend) + spread)
                near = close + 0.5 * width * (abs(slope) + 0.25 * width * most) > best + ROUNDING
                turns = abs(slope) <= 0.5 * width * most  # it may be closest or farthest here
                if near and turns and bend < -spread:
                    # One closest place, if it comes closer at the left and leaves at the right.
                    look(u, p, left, pieces, curve)
                    rise = curve[10]
                    look(u, p, left + width, pieces, curve)
                    looks += 2
                    if rise > 0.0 > curve[10]:
                        at = climb(u, p, left, left + width, pieces, curve)
                        if curve[9] >= best:
                            best, best_p, best_s = curve[9], p, at
                            t[0], t[1], t[2] = curve[0], curve[1], curve[2]
                elif near and turns and not bend > spread and halvings < MAX_HALVINGS:
                    halvings, number = halvings + 1, 2 * number
                    continue
                number += 1
                for _up in range(halvings):
                    if number % 2 == 1:
                        break
                    halvings, number = halvings - 1, number // 2
                if halvings == 0:
                    break
    return best_p, best_s
