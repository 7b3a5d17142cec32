"""Limits of motion that restrain coordinates, in a batch: every lane has its own modes and ends its steps where they change.

The rules are those of ``runtime.integrate.landing`` and ``switching``.  A case that leaves what the kernel knows of its limits,
or whose changes of mode do not become steps, ends its lane without a result; it is run alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import LANES
from runtime.dynamics.limits_along import OF_LIMIT, LimitAlong, turned_back
from runtime.integrate.batch_parameters import (
    AHEAD,
    BEHIND,
    COMPLIANCE,
    DAMPING,
    FLAT_AHEAD,
    FLAT_BEHIND,
    MAX_MOMENT,
    OFFSET,
    PARAMETERS,
    SIGN,
)
from runtime.integrate.batch_polynomial import set_polynomial, value_of
from runtime.integrate.dop853 import POWER
from runtime.integrate.dop853_coefficients import COEFFICIENTS, STAGES
from runtime.integrate.landing import FIRST_ACTIVE, LANDED, MAX_LANDINGS, MIN_LANDING
from runtime.integrate.stepping import SAMPLES
from runtime.integrate.switching import GRAZE, MAX_ITERATIONS, ON_SIDE, REFINEMENTS, vertex
from runtime.jit.compilation import inlined
from runtime.support.arrays import Floats, Ints

NONE = 2.0  # a fraction of the step that is not in it


class BatchLimits(NamedTuple):
    """Limits of a batch."""

    q: Ints  # (limits,) places of the coordinates
    first: Ints  # (1,) row of the constants of the first limit
    weights: Floats  # (12,) of the stages
    given: Floats  # (cases, limits, PARAMETERS)
    final: Floats  # (cases, n) coordinates and rates at the end
    work: Floats  # (cases,) [J] of the dampers
    own: Floats  # (limits, PARAMETERS, LANES)
    active: Ints  # (limits, LANES) 1: the limit acts
    waiting: Floats  # (limits, PARAMETERS, LANES) of the cases that are ready
    waiting_active: Ints  # (limits, LANES)
    most: Floats  # (limits, LANES) ``largest`` of these
    largest: Floats  # (limits, LANES) relative excess up to which its constants hold
    over: Floats  # (limits,) [rad] beyond the side of the mode
    start: Floats  # (limits, LANES) the same at the start of the step
    ended: Floats  # (limits, LANES) and at its end
    worked: Floats  # (LANES,) [J] work of the dampers in the step
    side: Floats  # (limits, LANES) -1: the limit acts; 1: it does not
    suspect: Floats  # (LANES,) above 0: a limit may change its mode in the step
    samples: Floats  # (SAMPLES + 1, limits)
    polynomial: Floats  # (limits, POWER) of the coordinates within a step
    bracket: Floats  # (2, LANES) fractions of the step between which a mode changes; NONE: none does
    landings: Ints  # (LANES,) attempts to end the step at a change
    usual: Floats  # (2, LANES) usual length of steps, without an active limit and with one


def batch_limits(
    limits: Sequence[LimitAlong] = (), n: int = 0, first: int = 0, given: Floats | None = None
) -> BatchLimits:
    """Memory for limits of cases; n: size of their states, first: row of their first constant."""
    count = len(limits)
    given = np.zeros((0, count, PARAMETERS)) if given is None else given
    wide = (count, LANES)
    return BatchLimits(
        q=np.array([limit.step for limit in limits], np.int64), first=np.array([first]), weights=COEFFICIENTS.b, given=given,
        final=np.full((len(given), n), np.nan), work=np.zeros(len(given)), own=np.zeros((count, PARAMETERS, LANES)),
        waiting=np.zeros((count, PARAMETERS, LANES)), waiting_active=np.zeros(wide, np.int64), most=np.zeros(wide),
        active=np.zeros(wide, np.int64), largest=np.zeros(wide), over=np.zeros(count), start=np.zeros(wide), ended=np.zeros(wide),
        worked=np.zeros(LANES),
        side=np.ones(wide), suspect=np.zeros(LANES), samples=np.zeros((SAMPLES + 1, count)),
        polynomial=np.zeros((count, POWER)), bracket=np.full((2, LANES), NONE), landings=np.zeros(LANES, np.int64),
        usual=np.zeros((2, LANES)),
    )  # fmt: skip


@inlined
def beyond(own, coordinate, lane):  # type: ignore[no-untyped-def]
    """Angle of a limit, own (PARAMETERS, LANES), within half a turn, and how far it is beyond the edge of its side [rad]."""
    angle = turned_back(own[SIGN, lane] * coordinate + own[OFFSET, lane])
    return angle, abs(angle) - (own[AHEAD, lane] if angle > 0.0 else own[BEHIND, lane])


@inlined
def set_over(x, k, lane, coordinate):  # type: ignore[no-untyped-def]
    """Put the angle of limit k beyond the side of its mode into ``over``."""
    _, out = beyond(x.own[k], coordinate, lane)
    x.over[k] = -out if x.active[k, lane] == 1 else out


@inlined
def set_constants(x, k, own, active, coordinate, constants, column, largest):  # type: ignore[no-untyped-def]
    """Constants of limit k for a step from a coordinate on, into a column; False where the kernel does not know its excess.

    ``own`` (PARAMETERS, LANES) and ``active`` (LANES,) are those of the limit, ``largest`` (limits, LANES) is filled.
    """
    row = x.first[0] + OF_LIMIT * k
    for c in range(3):
        constants[row + c, column] = 0.0
    constants[row + 3, column], largest[k, column] = own[DAMPING, column], np.inf
    if active[column] == 0:
        return True
    angle, out = beyond(own, coordinate, column)
    outside = 1.0 if angle > 0.0 else -1.0
    slope = outside * own[SIGN, column]
    constants[row, column] = slope / own[COMPLIANCE, column]
    constants[row + 1, column] = (out - slope * coordinate) / own[COMPLIANCE, column]
    constants[row + 2, column] = slope * own[MAX_MOMENT, column]
    most = own[FLAT_AHEAD, column] if angle > 0.0 else own[FLAT_BEHIND, column]
    largest[k, column] = most / own[COMPLIANCE, column]
    return out <= most


@inlined
def any_active(m, lane):  # type: ignore[no-untyped-def]
    """1 if a limit of a lane acts."""
    for k in range(len(m.limits.q)):
        if m.limits.active[k, lane] == 1:
            return 1
    return 0


@inlined
def load_limits(m, r, case, ready):  # type: ignore[no-untyped-def]
    """Constants of the limits of a case for its first derivative, as column r of those ready; those outside act.

    The parameters of a case that is ready are kept beside the lanes until it begins.
    """
    x = m.limits
    for k in range(len(x.q)):
        for c in range(PARAMETERS):
            x.waiting[k, c, r] = x.given[case, k, c]
        _, out = beyond(x.waiting[k], ready[x.q[k] * LANES + r], r)
        x.waiting_active[k, r] = 1 if out > 0.0 else 0
        set_constants(x, k, x.waiting[k], x.waiting_active[k], ready[x.q[k] * LANES + r], m.ready_constants, r, x.most)


@inlined
def begin_limits(m, lane, r):  # type: ignore[no-untyped-def]
    """First modes of a lane's case, a little after its start so that no direction is on its cone; False where it is run alone."""
    x, holds = m.limits, True
    x.landings[lane] = 0
    x.usual[0, lane] = x.usual[1, lane] = 0.0
    for k in range(len(x.q)):
        e = x.q[k] * LANES + lane
        for c in range(PARAMETERS):
            x.own[k, c, lane] = x.waiting[k, c, r]
        soon = m.y[e] + 1e-6 * m.k[0, e]
        _, out = beyond(x.own[k], soon, lane)
        x.active[k, lane] = 0 if out < 0.0 else 1
        x.start[k, lane] = -out if x.active[k, lane] == 1 else out
        x.side[k, lane] = 1.0 - 2.0 * x.active[k, lane]
        holds = set_constants(x, k, x.own[k], x.active[k], m.y[e], m.constants, lane, x.largest) and holds
    return holds


@inlined
def limits_hold(m, lane):  # type: ignore[no-untyped-def]
    """Whether the constants of the limits hold at the end of a lane's step."""
    x = m.limits
    for k in range(len(x.q)):
        row = x.first[0] + OF_LIMIT * k
        if m.constants[row, lane] * m.end[x.q[k] * LANES + lane] + m.constants[row + 1, lane] > x.largest[k, lane]:
            return False
    return True


@inlined
def sample(m, lane, x):  # type: ignore[no-untyped-def]
    """Fill ``over`` at a fraction x of a lane's step, by cubic Hermite interpolation of the coordinates."""
    h = m.length[lane]
    for k in range(len(m.limits.q)):
        e = m.limits.q[k] * LANES + lane
        a, b, slope_a, slope_b = m.y[e], m.end[e], h * m.k[0, e], h * m.k[STAGES, e]
        bend = 3.0 * (b - a) - 2.0 * slope_a - slope_b
        set_over(m.limits, k, lane, a + x * (slope_a + x * (bend + x * (2.0 * (a - b) + slope_a + slope_b))))


@inlined
def foremost(x):  # type: ignore[no-untyped-def]
    """Number of the limit that is farthest beyond its side."""
    largest = 0
    for k in range(len(x.over)):
        if x.over[k] > x.over[largest]:
            largest = k
    return largest


@inlined
def screen(m):  # type: ignore[no-untyped-def]
    """Put a number above 0 into ``suspect`` of the lanes in whose step a limit may change its mode, in vector instructions."""
    x, y, end, h = m.limits, m.y, m.end, m.length
    for lane in range(LANES):
        x.suspect[lane] = -1.0
    for k in range(len(x.q)):
        o, sign, offset, ahead, behind = (
            x.q[k] * LANES,
            x.own[k, SIGN],
            x.own[k, OFFSET],
            x.own[k, AHEAD],
            x.own[k, BEHIND],
        )
        side, start, first, last = x.side[k], x.start[k], m.k[0], m.k[STAGES]
        for lane in range(LANES):
            e = o + lane
            slope_a, slope_b = h[lane] * first[e], h[lane] * last[e]
            rise = end[e] - y[e]
            c2, c3 = 3.0 * rise - 2.0 * slope_a - slope_b, slope_a + slope_b - 2.0 * rise
            found, before, here = -1.0, start[lane], start[lane]
            for q in range(1, SAMPLES + 1):
                s = q / SAMPLES
                angle = turned_back(sign[lane] * (y[e] + s * (slope_a + s * (c2 + s * c3))) + offset[lane])
                after = side[lane] * (abs(angle) - (ahead[lane] if angle > 0.0 else behind[lane]))
                # The top of the parabola through three samples, where it lies between them.
                bend, tilt = before - 2.0 * here + after, 0.5 * (after - before)
                top = here - 0.5 * tilt * tilt / bend + GRAZE
                top = top if bend < 0.0 and abs(tilt) <= -bend and q > 1 else -1.0
                found = top if top > found else found
                found = after - ON_SIDE if after - ON_SIDE > found else found
                before, here = here, after
            x.suspect[lane] = found if found > x.suspect[lane] else x.suspect[lane]
            x.ended[k, lane] = here


@inlined
def graze_near(m, lane, k, x, top):  # type: ignore[no-untyped-def]
    """As of ``switching.graze_near``."""
    width = 1.0 / SAMPLES
    for _ in range(REFINEMENTS):
        if not (0.0 < x < 1.0 and top > -GRAZE):
            break
        width *= 0.1
        before = here = after = 0.0
        for side in range(3):
            place = min(max(x + (side - 1.0) * width, 0.0), 1.0)
            sample(m, lane, place)
            after, here, before = m.limits.over[k], after, here
            if after > 0.0:
                return place
        x, top = vertex(x, width, before, here, after)
    return -1.0


@inlined
def graze(m, lane):  # type: ignore[no-untyped-def]
    """A fraction of a lane's step at which a limit is beyond its side although it is not at the samples; NONE if none is."""
    samples = m.limits.samples
    for k in range(len(m.limits.q)):
        for q in range(1, SAMPLES):
            x, top = vertex(q / SAMPLES, 1.0 / SAMPLES, samples[q - 1, k], samples[q, k], samples[q + 1, k])
            place = graze_near(m, lane, k, x, top)
            if place >= 0.0:
                return place
    return NONE


@inlined
def find_bracket(m, lane):  # type: ignore[no-untyped-def]
    """Fractions of an accurate step between which a limit changes its mode, into ``bracket``; NONE where no limit does."""
    x = m.limits
    x.bracket[0, lane] = x.bracket[1, lane] = NONE
    for k in range(len(x.q)):
        x.samples[0, k] = x.start[k, lane]
    for q in range(1, SAMPLES + 1):
        sample(m, lane, q / SAMPLES)
        for k in range(len(x.q)):
            x.samples[q, k] = x.over[k]
        if x.over[foremost(x)] > ON_SIDE:
            x.bracket[0, lane], x.bracket[1, lane] = (q - 1.0) / SAMPLES, q / SAMPLES
            return
    upper = graze(m, lane)
    if upper != NONE:
        x.bracket[0, lane], x.bracket[1, lane] = max(upper - 1.0 / SAMPLES, 0.0), upper


@inlined
def over_within(m, lane, x):  # type: ignore[no-untyped-def]
    """Fill ``over`` at a fraction x of a lane's step, on the dense output."""
    for k in range(len(m.limits.q)):
        e = m.limits.q[k] * LANES + lane
        set_over(m.limits, k, lane, m.y[e] + value_of(m.limits.polynomial[k], x))


@inlined
def locate(m, lane):  # type: ignore[no-untyped-def]
    """Fraction of a lane's step at which the first limit changes its mode, from its bracket."""
    x = m.limits
    for k in range(len(x.q)):
        set_polynomial(m, lane, x.q[k] * LANES + lane, x.polynomial[k])
    lower, upper, value_lower, value_upper = x.bracket[0, lane], x.bracket[1, lane], 0.0, 0.0
    for q in range(MAX_ITERATIONS):
        middle = 0.5 * (lower + upper)
        if value_lower < 0.0 < value_upper and q % 2 == 1:
            middle = lower - value_lower * (upper - lower) / (value_upper - value_lower)
            middle = min(max(middle, lower + 1e-3 * (upper - lower)), upper - 1e-3 * (upper - lower))
        over_within(m, lane, middle)
        value = x.over[foremost(x)]
        if abs(value) <= ON_SIDE:
            return middle
        if value > 0.0:
            upper, value_upper = middle, value
        else:
            lower, value_lower = middle, value
    return upper


@inlined
def change_modes(m, lane, state, near, first):  # type: ignore[no-untyped-def]
    """Change the modes of the limits beyond their sides at a state of a lane; False where the case is to be run alone."""
    x, holds = m.limits, True
    for k in range(len(x.q)):
        coordinate = state[x.q[k] * LANES + lane]
        set_over(x, k, lane, coordinate)
        if x.over[k] > near or k == first:
            x.active[k, lane] = 1 - x.active[k, lane]
            x.side[k, lane] = -x.side[k, lane]
            set_over(x, k, lane, coordinate)
        x.start[k, lane] = x.over[k]
        holds = set_constants(x, k, x.own[k], x.active[k], coordinate, m.constants, lane, x.largest) and holds
    return holds


@inlined
def measure_work(m):  # type: ignore[no-untyped-def]
    """Work of the dampers in the steps of all lanes, in vector instructions."""
    x, h = m.limits, m.length
    for lane in range(LANES):
        x.worked[lane] = 0.0
    for k in range(len(x.q)):
        o, damping = x.q[k] * LANES, x.own[k, DAMPING]
        for q in range(len(x.weights)):
            weight, rates = x.weights[q], m.k[q]
            for lane in range(LANES):
                x.worked[lane] -= h[lane] * damping[lane] * weight * rates[o + lane] * rates[o + lane]


GO_ON, AGAIN, ALONE = range(3)


@inlined
def switch(m, lane, h):  # type: ignore[no-untyped-def]
    """As of ``landing.switch``, for an accurate step of a lane: what to do, and the length of the next attempt.

    A length of 0: the one by the error.  AGAIN: the step is to be repeated with that length; ALONE: the case is to be run
    alone; GO_ON: the step is accepted.
    """
    x, time = m.limits, m.time[lane]
    landing, was_active, fraction, first = x.landings[lane] > 0, any_active(m, lane), NONE, -1
    if not landing:
        x.usual[was_active, lane] = h
    if x.bracket[1, lane] != NONE:
        fraction = locate(m, lane)
        if fraction * h <= MIN_LANDING * max(1.0, abs(time)):
            fraction = 0.0
        first = foremost(x)
    if fraction <= 1.0 and not (landing and fraction > LANDED):
        if fraction == 0.0 and not change_modes(m, lane, m.y, -10.0 * ON_SIDE, first):
            return ALONE, 0.0
        x.landings[lane] += 1
        if x.landings[lane] == MAX_LANDINGS:
            return ALONE, 0.0
        return AGAIN, fraction * h if fraction > 0.0 else h
    x.work[m.case[lane]] += x.worked[lane]
    if not landing and fraction == NONE:
        for k in range(len(x.q)):
            x.start[k, lane] = x.ended[k, lane]
        return GO_ON, 0.0
    if not change_modes(m, lane, m.end, -10.0 * ON_SIDE if landing else ON_SIDE, -1):
        return ALONE, 0.0
    now_active, usual = any_active(m, lane), 0.0
    if landing and now_active != was_active:
        usual = x.usual[now_active, lane]
        if usual == 0.0:
            usual = x.usual[was_active, lane] * (FIRST_ACTIVE if now_active == 1 else 1.0)
    x.landings[lane] = 0
    return GO_ON, usual


@inlined
def end_limits(m, lane):  # type: ignore[no-untyped-def]
    """Keep the coordinates and rates at the end of a lane's case."""
    for i in range(m.limits.final.shape[1]):
        m.limits.final[m.case[lane], i] = m.end[i * LANES + lane]
