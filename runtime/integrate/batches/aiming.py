"""Steps that are aimed at the next change of a limit, in a batch.  The rules are those of ``runtime.integrate.aiming``."""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.layout import LANES
from runtime.dynamics.limits_along import stays_between
from runtime.integrate.aiming import FARTHEST, PART, STRETCH, is_near, is_within_reach, may_leave, until_edge
from runtime.integrate.batches.forces import forces_in_steps
from runtime.integrate.batches.limits import (
    CUBIC,
    ENDED,
    START,
    change_mode,
    limits_hold,
    place_of,
    set_constants,
    sides_in,
)
from runtime.integrate.batches.rows import AIMED, CHECKS, LANDED, LENGTH, NEXT, PLANNED, SOON, SPECIAL, TAKEN
from runtime.integrate.batches.stages import LARGEST_WORST, derive
from runtime.integrate.dop853_coefficients import STAGES
from runtime.integrate.limit_changes import bends_of
from runtime.jit.compilation import inlined


@inlined
def aim(m, lane):  # type: ignore[no-untyped-def]
    """Choose the length of a lane's next step so that it ends at the next change of a limit, where one is expected soon."""
    x, lanes = m.limits, m.lanes
    h, planned = lanes[LENGTH * LANES + lane], lanes[NEXT * LANES + lane]
    until, first, longest = np.inf, -1, min(STRETCH * planned, FARTHEST * h)
    for k in range(len(x.q)):
        e, a, at = x.q[k] * LANES + lane, x.u[k] * LANES + lane, place_of(k, lane)
        end, sides = (m.end[e], m.k[STAGES, e], m.k[STAGES, a]), sides_in(x, k, lane)
        if not may_leave(end, sides, longest):
            continue
        cubic = (
            x.own[at + CUBIC * LANES], x.own[at + (CUBIC + 1) * LANES], x.own[at + (CUBIC + 2) * LANES],
            x.own[at + (CUBIC + 3) * LANES],
        )  # fmt: skip
        soon = until_edge(cubic, bends_of(cubic, m.k[0, a], end[2], h), h, end, sides, longest)
        if soon < until:
            first, until = k, soon
    if is_within_reach(until, planned):
        lanes[AIMED * LANES + lane], lanes[PLANNED * LANES + lane] = 1.0 + first, planned
        lanes[NEXT * LANES + lane] = until


@inlined
def aim_lanes(m):  # type: ignore[no-untyped-def]
    """``aim`` in the lanes where a change may be soon."""
    if len(m.limits.q) > 0:
        for lane in range(LANES):
            if m.lanes[SOON * LANES + lane] >= 0.0:
                aim(m, lane)


@inlined
def end_is_near(m, lane, k):  # type: ignore[no-untyped-def]
    """Whether a lane's step ends near the change of limit k at which it was aimed, and no limit changes before."""
    x, h = m.limits, m.lanes[LENGTH * LANES + lane]
    for i in range(len(x.q)):
        e = x.q[i] * LANES + lane
        a, sides = x.u[i] * LANES + lane, sides_in(x, i, lane)
        begin, end = (m.y[e], m.k[0, e], m.k[0, a]), (m.end[e], m.k[STAGES, e], m.k[STAGES, a])
        if not stays_between(begin, end, h, sides, i == k):
            return False
    e = x.q[k] * LANES + lane
    low, high = sides_in(x, k, lane)
    outward = m.k[STAGES, e] * (1.0 if m.end[e] - high > low - m.end[e] else -1.0)
    off, acceleration = x.own[place_of(k, lane) + ENDED * LANES], m.k[STAGES, x.u[k] * LANES + lane]
    return is_near(off, outward, acceleration, h) and limits_hold(m, lane)


@inlined
def turn_over(m, lane, k):  # type: ignore[no-untyped-def]
    """The other mode of limit k at the end of a lane's step, with its constants."""
    x, coordinate = m.limits, m.end[m.limits.q[k] * LANES + lane]
    change_mode(x.own, place_of(k, lane), coordinate)
    set_constants(x, k, x.own, lane, coordinate, m.constants)


@inlined
def shift(m, lane, rtol, atol):  # type: ignore[no-untyped-def]
    """Root mean square of the differences of two derivatives of a lane, in units of the tolerance."""
    n, total = m.size[0], 0.0
    for i in range(n):
        e = i * LANES + lane
        scale = atol + rtol * min(abs(m.end[e]), m.cap[e])
        total += (m.weight[e] * (m.trial[e] - m.k[STAGES, e]) / scale) ** 2
    return math.sqrt(total / n)


@inlined
def land(m, address, rtol, atol):  # type: ignore[no-untyped-def]
    """Change the modes of limits at the ends of accurate steps that were aimed at their changes, where these are near.

    The ends of the steps then have the derivatives by the new modes.
    """
    x, lanes, found = m.limits, m.lanes, 0
    for lane in range(LANES):
        k = int(lanes[AIMED * LANES + lane]) - 1
        if lanes[SPECIAL * LANES + lane] * lanes[TAKEN * LANES + lane] > 0.0 and k >= 0 and end_is_near(m, lane, k):
            lanes[LANDED * LANES + lane] = 1.0
            turn_over(m, lane, k)
            found += 1
    if found == 0:
        return
    forces_in_steps(m, 1.0, m.end, m.trial)
    derive(m, address, m.end, m.forces.own, m.constants, m.trial)
    for lane in range(LANES):
        if lanes[LANDED * LANES + lane] == 0.0:
            continue
        k = int(lanes[AIMED * LANES + lane]) - 1
        at, e = place_of(k, lane), x.q[k] * LANES + lane
        lanes[CHECKS * LANES + lane] += 1.0
        share = abs(x.own[at + ENDED * LANES]) / (3.0 * abs(m.k[STAGES, e]))
        if m.worst[lane] < LARGEST_WORST and share * shift(m, lane, rtol, atol) <= PART:
            for i in range(lane, len(m.y), LANES):
                m.k[STAGES, i] = m.trial[i]
            for i in range(len(x.q)):
                own = place_of(i, lane)
                x.own[own + START * LANES] = x.own[own + ENDED * LANES] * (-1.0 if i == k else 1.0)
        else:
            lanes[LANDED * LANES + lane] = 0.0
            turn_over(m, lane, k)
