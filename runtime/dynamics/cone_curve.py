"""Curves of circumduction cones in compiled code: maximum latitude, nearest direction."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from runtime.dynamics.root import MAX_STEPS, bracketed_newton, settled
from runtime.jit.compilation import compiled, inlined
from runtime.jit.kernels import dispatch
from runtime.support.arrays import Floats, Ints

SAMPLES = 17  # directions of a piece at which the search begins
COEFFICIENTS = max(len(module.COEFFICIENTS) for module in dispatch.CONES)
KINDS = [module.NAME for module in dispatch.CONES]
MAX_HALVINGS = 24  # of an interval between two samples
MAX_EVALUATIONS = 3000  # of the curve, in one search
SAME_DIRECTION = 1e-12  # [1] distance of two unit vectors
VERTEX_HALVINGS = 20
ROUNDING = 1e-20  # gains of closeness up to this are ignored
EXACT = 1e-9  # of the last move on a piece: its square is below rounding
MAX_CLIMBS = 8  # evaluations, after which all intervals near the nearest sample are searched
# Of the move of Newton's method times the largest relative change of the second derivative, and of the move alone [1]: the last
# move, with a third derivative from two points and without one.
STRAIGHT, ROUNDING_OF_STEP = 1e-5, 1e-15


class Pieces(NamedTuple):
    """The pieces of one cone, or of several one after the other."""

    kind: Ints  # (pieces,)
    longitude: Floats  # (pieces, 2) at both ends
    span: Floats  # (pieces, 2) parameter there
    coefficients: Floats  # (pieces, COEFFICIENTS)
    samples: Floats  # (pieces, SAMPLES, 3) points of the curve, evenly in the parameter
    bounds: Floats  # (pieces, 3) largest second and third derivative of the curve, and distance from its middle sample


@inlined
def maximum(psi, first, last, pieces, pair):  # type: ignore[no-untyped-def]
    """The maximum latitude of a cone (pieces first .. last - 1) at a longitude of 0 .. 2 pi.

    ``pair`` (2,) receives this latitude and its derivative over the longitude.
    """
    p = last - 1
    for q in range(first, last - 1):
        if psi < pieces.longitude[q, 1]:
            p = q
            break
    kind, c, lower, upper = pieces.kind[p], pieces.coefficients[p], pieces.span[p, 0], pieces.span[p, 1]
    dispatch.parameter(kind, psi, c, pair)
    s = pair[0] if pair[0] > lower - 1.0 else pair[0] + 2.0 * math.pi
    s = min(max(s, lower), upper)
    for step in range(MAX_STEPS):  # the longitude rises with the parameter
        dispatch.bearing(kind, s, psi, c, pair)
        if abs(pair[0]) <= 1e-16:
            break
        to, lower, upper = bracketed_newton(step, s, pair[0], pair[1], lower, upper)
        if settled(s, to):
            break
        s = to
    dispatch.limit(kind, s, c, pair)
    return pair[0]


@compiled
def nearest_direction(u, pieces, curve, t):  # type: ignore[no-untyped-def]
    """Put the direction of one cone nearest to the unit direction u into t; ``curve`` is memory (12,)."""
    nearest(u, 0, len(pieces.kind), pieces, curve, t)


@compiled
def reach_of_vertex(side, latitude, pieces, curve, t):  # type: ignore[no-untyped-def]
    """Excess [rad] up to which a point of a cone is the nearest one to directions beyond it in its plane.

    side (2,): the direction of the plane; latitude: of the point; ``curve`` and ``t`` are memory (12,) and (3,).
    """
    x, y, z = math.sin(latitude) * side[0], math.sin(latitude) * side[1], math.cos(latitude)
    known, unknown = 0.0, math.pi - latitude
    for _ in range(VERTEX_HALVINGS):
        middle = 0.5 * (known + unknown)
        angle = latitude + middle
        beyond = (math.sin(angle) * side[0], math.sin(angle) * side[1], math.cos(angle))
        length = math.sqrt(beyond[0] * beyond[0] + beyond[1] * beyond[1] + beyond[2] * beyond[2])
        u = (beyond[0] / length, beyond[1] / length, beyond[2] / length)
        t[0], t[1], t[2] = x, y, z  # few parts of the curve can be nearer, so that most need no search
        known_best = (closeness(u, (x, y, z)), 0, 0.0)
        search_pieces(u, 0, len(pieces.kind), known_best, 0.0, pieces, curve, t)
        away = math.sqrt((t[0] - x) ** 2 + (t[1] - y) ** 2 + (t[2] - z) ** 2)
        if away < SAME_DIRECTION:
            known = middle
        else:
            unknown = middle
    return known


@compiled
def maximum_latitudes(longitudes, pieces, pair, out):  # type: ignore[no-untyped-def]
    """Put the maximum latitudes of one cone at longitudes (n,) of 0 .. 2 pi into ``out``; ``pair`` is memory (2,)."""
    for n in range(len(longitudes)):
        out[n] = maximum(longitudes[n], 0, len(pieces.kind), pieces, pair)


@compiled
def sample_curves(kind, span, coefficients, curve, points, bends):  # type: ignore[no-untyped-def]
    """Points of the curve of every piece at evenly spaced parameters, (pieces, n, 3).

    ``bends`` (pieces, 2): largest second derivative at these points, and its largest change between two.  ``curve`` is memory
    (2, 9).
    """
    for p in range(len(kind)):
        steps = points.shape[1] - 1
        bends[p, 0] = bends[p, 1] = 0.0
        for n in range(steps + 1):
            s = span[p, 0] + (span[p, 1] - span[p, 0]) * n / steps
            now, before = curve[n % 2], curve[1 - n % 2]
            dispatch.curve(kind[p], s, coefficients[p], now)
            square = change = 0.0
            for c in range(3):
                points[p, n, c] = now[c]
                square += now[6 + c] * now[6 + c]
                if n > 0:
                    change += (now[6 + c] - before[6 + c]) * (now[6 + c] - before[6 + c])
            bends[p, 0], bends[p, 1] = max(bends[p, 0], math.sqrt(square)), max(bends[p, 1], math.sqrt(change))


@inlined
def closeness(u, point):  # type: ignore[no-untyped-def]
    """Minus half the square of the chord from u to a point: their cosine less 1, without the loss of digits near 1."""
    x, y, z = u[0] - point[0], u[1] - point[1], u[2] - point[2]
    return -0.5 * (x * x + y * y + z * z)


@inlined
def evaluate_closeness(u, p, s, pieces, curve):  # type: ignore[no-untyped-def]
    """Put the curve t(s) of piece p with two derivatives into curve[:9], and its closeness to u with two into curve[9:].

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
def closest_between(u, p, lower, upper, pieces, curve):  # type: ignore[no-untyped-def]
    """The parameter between two others at which t(s) is closest to u; ``lower`` if closeness has no maximum between them.

    Closeness must be concave there.  A maximum exists if closeness rises at the first parameter and falls at the second; the
    first return value is True in this case, and ``curve`` holds the values at the maximum.
    """
    evaluate_closeness(u, p, lower, pieces, curve)
    rise = curve[10]
    evaluate_closeness(u, p, upper, pieces, curve)
    if not rise > 0.0 > curve[10]:
        return False, lower
    s = 0.5 * (lower + upper)
    for step in range(MAX_STEPS):
        evaluate_closeness(u, p, s, pieces, curve)
        to, lower, upper = bracketed_newton(step, s, -curve[10], -curve[11], lower, upper)
        if curve[10] == 0.0 or settled(s, to):
            break
        s = to if lower < to < upper else 0.5 * (lower + upper)  # both ends were evaluated before
    return True, s


@inlined
def next_part(halvings, number):  # type: ignore[no-untyped-def]
    """The part that follows part ``number`` of 2^halvings equal ones; of the whole where both halves are done."""
    number += 1
    while halvings > 0 and number % 2 == 0:
        halvings, number = halvings - 1, number // 2
    return halvings, number


@inlined
def search_interval(u, p, n, nearest_so_far, evaluations, pieces, curve, t):  # type: ignore[no-untyped-def]
    """Search the curve of piece p between its samples n and n + 1 for a direction nearer to u.

    ``nearest_so_far`` is (closeness, piece, parameter).  Returns the new triple and the number of evaluations; t receives the
    direction.  A part of the interval is skipped if it is too far from u, searched if it holds at most one local maximum of
    closeness, and halved otherwise.
    """
    best, best_p, best_s = nearest_so_far
    second, third = pieces.bounds[p, 0], pieces.bounds[p, 1]
    whole = (pieces.span[p, 1] - pieces.span[p, 0]) / (SAMPLES - 1)
    halvings, number = 0, 0  # the part ``number`` of 2^halvings equal ones
    for _ in range(MAX_EVALUATIONS - evaluations):
        width = whole / 2.0**halvings
        left = pieces.span[p, 0] + n * whole + number * width
        evaluate_closeness(u, p, left + 0.5 * width, pieces, curve)
        evaluations += 1
        close, slope, bend = curve[9], curve[10], curve[11]
        if close > best:
            best, best_p, best_s = close, p, left + 0.5 * width
            t[0], t[1], t[2] = curve[0], curve[1], curve[2]
        spread = 0.5 * width * third  # largest deviation of closeness'' in this part from its value in the middle
        most = min(second, abs(bend) + spread)
        near = close + 0.5 * width * (abs(slope) + 0.25 * width * most) > best + ROUNDING
        turns = abs(slope) <= 0.5 * width * most  # closeness may be stationary in this part
        if near and turns and bend < -spread:  # concave: one maximum at most
            evaluations += 2
            found, s = closest_between(u, p, left, left + width, pieces, curve)
            if found and curve[9] >= best:
                best, best_p, best_s = curve[9], p, s
                t[0], t[1], t[2] = curve[0], curve[1], curve[2]
        elif near and turns and not bend > spread and halvings < MAX_HALVINGS:
            halvings, number = halvings + 1, 2 * number
            continue
        halvings, number = next_part(halvings, number)
        if halvings == 0:
            break
    return (best, best_p, best_s), evaluations


@inlined
def nearest_sample(u, first, last, pieces):  # type: ignore[no-untyped-def]
    """Piece of the sample nearest to u, and its number."""
    best, best_p, best_n = -np.inf, first, 0
    for p in range(first, last):
        for n in range(SAMPLES):
            close = closeness(u, pieces.samples[p, n])
            if close > best:
                best, best_p, best_n = close, p, n
    return best_p, best_n


@inlined
def begin_climb(u, p, n, pieces):  # type: ignore[no-untyped-def]
    """A parameter of piece p near the maximum of closeness around sample n: the vertex of a parabola through three samples."""
    step = (pieces.span[p, 1] - pieces.span[p, 0]) / (SAMPLES - 1)
    s = pieces.span[p, 0] + n * step
    if n == 0 or n == SAMPLES - 1:
        return s
    here, samples = closeness(u, pieces.samples[p, n]), pieces.samples[p]
    before, after = closeness(u, samples[n - 1]) - here, closeness(u, samples[n + 1]) - here
    return s + 0.5 * step * (before - after) / (before + after) if before + after < 0.0 else s


@inlined
def climb(u, p, s, pieces, curve, t):  # type: ignore[no-untyped-def]
    """Newton's method towards a maximum of closeness in piece p, from the parameter s on; t receives the direction.

    Returns closeness and parameter, the side of the piece (-1, 1) at whose end closeness still rises, else 0, and the distance
    from the parameter within which closeness is concave, so that there is no other maximum; 0 where none was found.
    """
    lower, upper, third = pieces.span[p, 0], pieces.span[p, 1], pieces.bounds[p, 1]
    s_old = slope_old = bend_old = 0.0
    for step in range(MAX_CLIMBS):
        evaluate_closeness(u, p, s, pieces, curve)
        slope, bend = curve[10], curve[11]
        t[0], t[1], t[2] = curve[0], curve[1], curve[2]
        if not bend < 0.0:
            return curve[9], s, 0, 0.0
        if (s == upper and slope > 0.0) or (s == lower and slope < 0.0):
            return curve[9], s, 1 if s == upper else -1, -bend / third
        move, curved = -slope / bend, 0.0
        if step > 0 and s != s_old:  # the third derivative, of Hermite's polynomial through both points
            h = s - s_old
            curved = (2.0 * bend_old + 4.0 * bend) / h - 6.0 * (slope - slope_old) / (h * h)
        to = s + move - 0.5 * curved / bend * move * move
        bent = abs(third / bend * move)
        if lower <= to <= upper and bent <= (STRAIGHT if step > 0 else ROUNDING_OF_STEP) and abs(move) <= STRAIGHT:
            move = to - s
            for c in range(3):
                t[c] += move * (curve[3 + c] + 0.5 * move * curve[6 + c])
            return closeness(u, t), to, 0, -bend / third - abs(move)
        s_old, slope_old, bend_old = s, slope, bend
        s = min(max(s + move, lower), upper)
    return curve[9], s_old, 0, 0.0


@inlined
def nearest_on_piece(u, p, s, pieces, curve, t):  # type: ignore[no-untyped-def]
    """Put the direction of piece p, continued beyond its ends, that is nearest to u among those around s into t.

    Returns whether it was found, and its parameter.  It depends smoothly on u, whatever other directions of the cone are nearer.
    """
    for _ in range(MAX_STEPS):
        evaluate_closeness(u, p, s, pieces, curve)
        if not curve[11] < 0.0:
            return False, s
        move = -curve[10] / curve[11]
        if not abs(move) < pieces.span[p, 1] - pieces.span[p, 0]:
            return False, s
        if abs(move) <= EXACT:
            for c in range(3):
                t[c] = curve[c] + move * curve[3 + c]
            return True, s + move
        s += move
    return False, s


@inlined
def nearest(u, first, last, pieces, curve, t):  # type: ignore[no-untyped-def]
    """Put the direction of the cone (pieces first .. last - 1) nearest to the unit direction u into t; its piece and parameter.

    Newton's method from the nearest sample finds a local maximum of closeness.  An interval between two samples is searched only
    if the bound on its closeness exceeds that of this maximum and it is not in the part around it where closeness is concave.
    The result depends on u alone.  ``curve`` is memory (12,).
    """
    p, n = nearest_sample(u, first, last, pieces)
    close, s, side, alone = climb(u, p, begin_climb(u, p, n, pieces), pieces, curve, t)
    found = (close, p, s)
    if side != 0:  # the curve goes on in the next piece
        q = p + side
        q = first if q == last else (last - 1 if q < first else q)
        x, y, z = t[0], t[1], t[2]
        close, s, _, there = climb(u, q, pieces.span[q, 0 if side > 0 else 1], pieces, curve, t)
        if close > found[0]:
            found, alone = (close, q, s), there
        else:
            t[0], t[1], t[2] = x, y, z
    found = search_pieces(u, first, last, found, alone, pieces, curve, t)
    return found[1], found[2]


@inlined
def search_pieces(u, first, last, found, alone, pieces, curve, t):  # type: ignore[no-untyped-def]
    """The closeness, piece and parameter of the direction nearest to u, and t, from those of one that is known.

    There is no nearer one on its piece within a distance ``alone`` of its parameter.
    """
    evaluations, known, lower, upper = 0, found[1], found[2] - alone, found[2] + alone
    for p in range(first, last):
        away = math.sqrt(-2.0 * closeness(u, pieces.samples[p, SAMPLES // 2])) - pieces.bounds[p, 2]
        if p != known and away > 0.0 and -0.5 * away * away <= found[0]:
            continue
        whole = (pieces.span[p, 1] - pieces.span[p, 0]) / (SAMPLES - 1)
        slack, left = whole * whole / 8.0 * pieces.bounds[p, 0], pieces.span[p, 0]
        here = closeness(u, pieces.samples[p, 0])
        for n in range(SAMPLES - 1):
            before, here = here, closeness(u, pieces.samples[p, n + 1])
            if max(before, here) + slack <= found[0]:
                continue
            # A maximum at an end of the interval is none inside it, but for rounding.
            nearer, side = (here, 1) if here > before else (before, 0)
            if nearer > found[0]:
                found = (nearer, p, left + (n + side) * whole)
                for c in range(3):
                    t[c] = pieces.samples[p, n + side, c]
            if p == known and lower <= left + n * whole and left + (n + 1) * whole <= upper:
                continue
            found, evaluations = search_interval(u, p, n, found, evaluations, pieces, curve, t)
    return found
