"""The error of a step of dop853 in units of the tolerance, and the factor of the next step, in compiled code.

Errors of the coordinates of a tree are judged by what they do to velocities, too.  Where a turn is fast though its bodies are
slow, since these are near its axis, an error dq of a coordinate changes velocities by the rate of the turn, times its lever,
times dq.  This is more than the tolerance of velocities allows, by a factor of ``speed`` of the turn over the fastest body: its
coordinates count by this factor more.  The inertia about the axis is then the difference of numbers that are as many times
larger squared; where its rounding exceeds the tolerance, the configuration is singular.

Where accelerations may have a kink within a step (friction at its transition velocity, laws of forces, signals of loads), that of
order 5 passes
through 0 for some places of the kink, and is far below the error beside them.  A third estimate, of order 6, is added to it
there: its zeros are elsewhere, and in smooth steps it is small beside the first one.
"""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.energy import speed_of_bodies
from runtime.dynamics.layout import OK, SINGULAR
from runtime.integrate.dop853_coefficients import STAGES
from runtime.integrate.step_control import factor_of, squared_error, with_knot
from runtime.integrate.stepping import CAP, LEVER, WEIGHT
from runtime.jit.compilation import inlined

# At a safety factor of 0.9 one step in fourteen of a free foot is rejected, at 0.83 one in forty.
SAFETY, SLOWEST, FASTEST = 0.83, 0.333, 6.0
FAST = 8.0  # speed of a turn over that of the bodies from which on errors of coordinates count more
ALONE = 12.0  # times this speed: a case of a batch, which does not know the speeds of bodies, is run alone
LEAST = 0.05  # of the relative tolerance: the absolute one counts as this much at least [m/s]
ROUNDING = 2.2e-16
TINY = 1e-300
LOST = 10.0  # rounding of velocities, in units of the tolerance, at which a configuration is singular


@inlined
def may_have_kinks(t, w):  # type: ignore[no-untyped-def]
    """Whether forces may have a kink accelerations within a step.  Limits of coordinates keep their law in a step."""
    limits = len(t.limits.kind) - len(w.tree.limits.q)
    return len(t.forces.address) + len(t.contacts.address) + len(t.loads.body) + len(t.loads.address) + limits > 0


@inlined
def estimate(m, t, w):  # type: ignore[no-untyped-def]
    """Estimates of the error from the stages, and the way between the last two of them.

    With kinks that of order 5 becomes the root of the sum of its square and that of the estimate of kinks.
    """
    coefficients, k, errors = m.own.coefficients, m.own.k, m.own.errors
    for i in range(len(m.y)):
        errors[0, i] = errors[1, i] = errors[2, i] = errors[3, i] = 0.0
    for q in range(STAGES):  # a row of the stages at a time, in vector instructions
        of5, of3 = coefficients.error5[q], coefficients.error3[q]
        of_way = coefficients.b[q] - coefficients.a[STAGES - 1, q]
        for i in range(len(m.y)):
            errors[0, i] += of5 * k[q, i]
            errors[1, i] += of3 * k[q, i]
            errors[2, i] += of_way * k[q, i]
    if not may_have_kinks(t, w):
        return
    for q in range(STAGES):
        of_kinks = coefficients.kinks[q]
        for i in range(len(m.y)):
            errors[3, i] += of_kinks * k[q, i]
    for i in range(len(m.y)):
        errors[0, i] = math.sqrt(errors[0, i] * errors[0, i] + errors[3, i] * errors[3, i])


@inlined
def judge(m, t, w, h, code, rtol, atol):  # type: ignore[no-untyped-def]
    """Store the error of an attempt, and the factor of the next step; a code."""
    square = square_of_error(m, h, rtol, atol, 1.0) if code == OK else np.inf
    if square <= 1.0 and m.bodies[0] == 0:
        speed = fastest_turn(m)
        if speed * (rtol + atol) > FAST * max(atol, LEAST * rtol):
            factor = weight_of_coordinates(m, t, w, speed, rtol, atol)
            if factor > 1.0:
                square = square_of_error(m, h, rtol, atol, factor)
            code = SINGULAR if factor == np.inf else OK
    m.s.error[0] = math.sqrt(square)
    m.s.factor[0] = factor_of(square, SAFETY, SLOWEST, FASTEST)
    return code


@inlined
def square_of_error(m, h, rtol, atol, of_coordinates):  # type: ignore[no-untyped-def]
    """Square of Hairer's combination of the estimates of order 5 and 3, in units of the tolerance.

    ``of_coordinates``: factor by which errors of the coordinates of a tree count.
    """
    errors, e5, e3 = m.own.errors, 0.0, 0.0
    for i in range(len(m.y)):
        scale = atol + rtol * min(max(abs(m.y[i]), abs(m.trial[i]), m.sizes[i]), m.scales[CAP, i])
        weight = m.scales[WEIGHT, i] / scale
        e5 += (weight * errors[0, i]) ** 2
        e3 += (weight * errors[1, i]) ** 2
    if of_coordinates > 1.0:
        more = of_coordinates * of_coordinates - 1.0
        for i in range(len(m.y)):
            if m.scales[LEVER, i] < 0.0:
                weight = m.scales[WEIGHT, i] / (atol + rtol * min(max(abs(m.y[i]), abs(m.trial[i])), m.scales[CAP, i]))
                e5 += more * (weight * errors[0, i]) ** 2
                e3 += more * (weight * errors[1, i]) ** 2
    return with_knot(squared_error(e5, e3, h, len(m.y)), e5, h, len(m.y), m.s.until_knot[0])


@inlined
def fastest_turn(m):  # type: ignore[no-untyped-def]
    """The largest rate of a turn times its lever, at the end of an attempt [m/s]."""
    speed = 0.0
    for i in range(len(m.trial)):
        speed = max(speed, m.scales[LEVER, i] * abs(m.trial[i]))
    return speed


@inlined
def weight_of_coordinates(m, t, w, speed, rtol, atol):  # type: ignore[no-untyped-def]
    """Factor by which errors of coordinates count at the end of an attempt, for a speed of the fastest turn [m/s].

    Infinite where rounding exceeds the tolerance.
    """
    body = speed_of_bodies(m.trial, t, w, m.own.scratch[:1])
    allowed = atol + rtol * body
    if not rounding_over_limit(speed, body, rtol, atol) <= 1.0:
        return np.inf
    return speed * (rtol + atol) / (FAST * max(allowed, LEAST * rtol))


@inlined
def rounding_over_limit(speed, body, rtol, atol):  # type: ignore[no-untyped-def]
    """Rounding of velocities, as a fraction of its limit, for speeds [m/s] of a turn and of the fastest body."""
    return ROUNDING * speed * speed / (LOST * (atol + rtol * body) * max(body, TINY))


@inlined
def fastest_in_batch(rtol, atol):  # type: ignore[no-untyped-def]
    """Speed of a turn [m/s] above which a case of a batch is run alone."""
    return ALONE * FAST * max(atol, 0.5 * rtol) / (rtol + atol)
