"""Limits of motion that restrain coordinates, in a batch: every lane has its own modes and ends its steps where they change.

The rules are those of ``runtime.integrate.landing`` and ``switching``.  A case that leaves what the kernel knows of its limits,
or whose changes of mode do not become steps, ends its lane without a result; it is run alone.  Beside contacts, changes of both
are found together (``runtime.integrate.batches.contacts``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import LANES
from runtime.dynamics.limit_modes import acts, beyond_sides, excesses_of, mode_after, mode_of
from runtime.dynamics.limits_along import OF_LIMIT, sides_of, turned_back
from runtime.dynamics.switches import ACTIVE as TOUCHES
from runtime.dynamics.switches import FULL, INACTIVE, LEAVING
from runtime.integrate.batches.contact_memory import MODE
from runtime.integrate.batches.memory_kinds import Common, Found, OfCases, OfLanes, Scratch
from runtime.integrate.batches.parameters import (
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
from runtime.integrate.batches.rows import (
    ACTIVE,
    AIMED,
    FRESH,
    LANDED,
    LANDINGS,
    LENGTH,
    SPECIAL,
    SUSPECT,
    TAKEN,
    UPPER,
    USUAL,
    USUAL_ACTIVE,
    WORK,
    WORKED,
)
from runtime.integrate.dop853_coefficients import COEFFICIENTS, STAGES
from runtime.integrate.limit_changes import ON_SIDE, bends_of
from runtime.integrate.stepping import SAMPLES
from runtime.integrate.switching import GRAZE
from runtime.jit.compilation import columns, inlined
from runtime.support.arrays import Floats, Ints, lanes_of

NONE = 2.0  # a fraction of the step that is not in it
# Rows of ``BatchLimits.own``, after the parameters: mode, and the coordinates between which it holds; how far the coordinate is
# outside these at the start of the step and at its end [rad]; sign of the coordinate outside, 0 for a limit that does not act,
# and the product of both up to which its constants hold [rad]; cubic of the coordinate in the step, and the factors of its
# difference to the quintic one.
OF_MODE, LOW, HIGH, START, ENDED, OUTSIDE, FARTHEST, CUBIC = range(PARAMETERS, PARAMETERS + 8)
WIDTH = CUBIC + 6


class BatchLimits(NamedTuple):
    """Limits of a batch."""

    q: Common[Ints]  # (limits,) places of the coordinates
    u: Common[Ints]  # (limits,) and of their rates
    first: Common[Ints]  # (1,) row of the constants of the first limit
    weights: Common[Floats]  # (12,) of the stages
    given: OfCases[Floats]  # (cases, limits, PARAMETERS)
    final: Found[Floats]  # (cases, n) coordinates and rates at the end
    work: Found[Floats]  # (cases,) [J] of the dampers
    own: OfLanes[Floats]  # (limits * WIDTH * LANES,) flat, so that loops over lanes become vector instructions
    waiting: OfLanes[Floats]  # the same of the cases that are ready
    over: Scratch[Floats]  # (limits,) [rad] beyond the side of the mode
    samples: Scratch[Floats]  # (SAMPLES + 1, limits)


def batch_limits(
    places: tuple[Sequence[int], Sequence[int]] = ((), ()), n: int = 0, first: int = 0, given: Floats | None = None
) -> BatchLimits:
    """Memory for limits of cases, at places of coordinates and rates; n: size of states, first: row of the first constant."""
    count = len(places[0])
    given = np.zeros((0, count, PARAMETERS)) if given is None else given
    own, waiting = (lanes_of(count * WIDTH * LANES) for _ in range(2))
    return BatchLimits(
        q=np.array(places[0], np.int64), u=np.array(places[1], np.int64), first=np.array([first]), weights=COEFFICIENTS.b,
        given=given,
        final=np.full((len(given), n), np.nan), work=np.zeros(len(given)), own=own, waiting=waiting, over=np.zeros(count),
        samples=np.zeros((SAMPLES + 1, count)),
    )  # fmt: skip


@inlined
def place_of(k, lane):  # type: ignore[no-untyped-def]
    """Place of the first row of limit k in ``own``, in a lane."""
    return k * WIDTH * LANES + lane


@inlined
def beyond(own, at, coordinate):  # type: ignore[no-untyped-def]
    """Angle of the limit at a place within half a turn, and how far it is beyond the edge of its side [rad]."""
    angle = turned_back(own[at + SIGN * LANES] * coordinate + own[at + OFFSET * LANES])
    ahead, behind = own[at + AHEAD * LANES], own[at + BEHIND * LANES]
    return angle, abs(angle) - (ahead if angle > 0.0 else behind)


@inlined
def sides_in(x, k, lane):  # type: ignore[no-untyped-def]
    """Coordinates between which limit k keeps the side of its mode."""
    at = place_of(k, lane)
    return x.own[at + LOW * LANES], x.own[at + HIGH * LANES]


@inlined
def beyond_side(x, k, lane, coordinate):  # type: ignore[no-untyped-def]
    """Angle of limit k beyond the side of its mode."""
    return beyond_sides(coordinate, sides_in(x, k, lane))


@inlined
def set_over(x, k, lane, coordinate):  # type: ignore[no-untyped-def]
    """Put the angle of limit k beyond the side of its mode into ``over``."""
    x.over[k] = beyond_side(x, k, lane, coordinate)


@inlined
def beyond_within(x, k, lane, fraction):  # type: ignore[no-untyped-def]
    """``beyond_side`` at a fraction of a lane's step, by the quintic polynomial of the coordinate (``screen_limit``)."""
    of, both = x.own[place_of(k, lane) + CUBIC * LANES :], fraction * fraction * (1.0 - fraction) * (1.0 - fraction)
    cubic = of[0] + fraction * (of[LANES] + fraction * (of[2 * LANES] + fraction * of[3 * LANES]))
    return beyond_side(x, k, lane, cubic + both * (of[4 * LANES] + fraction * of[5 * LANES]))


@inlined
def count_alone(m):  # type: ignore[no-untyped-def]
    """Number of limits without contacts beside them."""
    return len(m.limits.q) if len(m.contacts.places) == 0 else 0


@inlined
def set_mode(own, at, mode, coordinate):  # type: ignore[no-untyped-def]
    """Store the mode of the limit at a place, and the coordinates between which it holds, near one of them."""
    angle, _ = beyond(own, at, coordinate)
    own[at + OF_MODE * LANES] = mode
    own[at + LOW * LANES], own[at + HIGH * LANES] = sides_of(
        excesses_of(mode, own[at + COMPLIANCE * LANES]), angle, own[at + AHEAD * LANES], own[at + BEHIND * LANES],
        own[at + SIGN * LANES], coordinate,
    )  # fmt: skip


@inlined
def change_mode(own, at, coordinate):  # type: ignore[no-untyped-def]
    """The mode of the limit at a place after the change that was located at a coordinate; a second time, the one before."""
    _, excess = beyond(own, at, coordinate)
    set_mode(own, at, mode_after(int(own[at + OF_MODE * LANES]), excess, own[at + COMPLIANCE * LANES]), coordinate)


@inlined
def set_constants(x, k, own, lane, coordinate, constants):  # type: ignore[no-untyped-def]
    """Constants of limit k for a step from a coordinate on, into a column; False where the kernel does not know its excess.

    ``own``: that of the lanes, or of the cases that are ready.
    """
    row, at = x.first[0] + OF_LIMIT * k, place_of(k, lane)
    for c in range(3):
        constants[row + c, lane] = 0.0
    constants[row + 3, lane], own[at + FARTHEST * LANES] = own[at + DAMPING * LANES], np.inf
    own[at + OUTSIDE * LANES] = 0.0
    mode = own[at + OF_MODE * LANES]
    if mode == INACTIVE:
        return True
    angle, out = beyond(own, at, coordinate)
    outside, compliance = 1.0 if angle > 0.0 else -1.0, own[at + COMPLIANCE * LANES]
    slope = outside * own[at + SIGN * LANES]
    constants[row, lane] = slope / compliance
    constants[row + 1, lane] = (out - slope * coordinate) / compliance
    if mode == FULL:
        constants[row, lane], constants[row + 1, lane] = 0.0, 1.0
    constants[row + 2, lane] = slope * own[at + MAX_MOMENT * LANES]
    most = own[at + FLAT_AHEAD * LANES] if angle > 0.0 else own[at + FLAT_BEHIND * LANES]
    own[at + OUTSIDE * LANES], own[at + FARTHEST * LANES] = slope, most - (out - slope * coordinate)
    return out <= most


@inlined
def set_active(m, lane):  # type: ignore[no-untyped-def]
    """Store whether a limit or contact of a lane acts."""
    active = 0.0
    for k in range(len(m.limits.q)):
        active = 1.0 if acts(m.limits.own[place_of(k, lane) + OF_MODE * LANES]) else active
    for k in range(len(m.contacts.places)):
        mode = m.contacts.state[k, MODE, lane]
        active = 1.0 if mode == TOUCHES or mode == LEAVING else active
    m.lanes[ACTIVE * LANES + lane] = active


@inlined
def load_limits(m, r, case, ready):  # type: ignore[no-untyped-def]
    """Constants of the limits of a case for its first derivative, as column r of those ready; those outside act.

    The parameters of a case that is ready are kept beside the lanes until it begins.
    """
    x = m.limits
    for k in range(len(x.q)):
        at, coordinate = place_of(k, r), ready[x.q[k] * LANES + r]
        for c in range(PARAMETERS):
            x.waiting[at + c * LANES] = x.given[case, k, c]
        _, out = beyond(x.waiting, at, coordinate)
        set_mode(x.waiting, at, mode_of(out, x.waiting[at + COMPLIANCE * LANES]), coordinate)
        set_constants(x, k, x.waiting, r, coordinate, m.ready_constants)


@inlined
def begin_limits(m, lane, r):  # type: ignore[no-untyped-def]
    """First modes of a lane's case, a little after its start so that no direction is on its cone; False where it is run alone."""
    x, holds, lanes = m.limits, True, m.lanes
    lanes[LANDINGS * LANES + lane] = lanes[WORK * LANES + lane] = 0.0
    lanes[USUAL * LANES + lane] = lanes[USUAL_ACTIVE * LANES + lane] = lanes[AIMED * LANES + lane] = 0.0
    for k in range(len(x.q)):
        e, at, ready = x.q[k] * LANES + lane, place_of(k, lane), place_of(k, r)
        for c in range(PARAMETERS):
            x.own[at + c * LANES] = x.waiting[ready + c * LANES]
        soon = m.y[e] + 1e-6 * m.k[0, e]
        _, out = beyond(x.own, at, soon)
        set_mode(x.own, at, mode_of(out, x.own[at + COMPLIANCE * LANES]), soon)
        x.own[at + START * LANES] = beyond_side(x, k, lane, soon)
        holds = set_constants(x, k, x.own, lane, m.y[e], m.constants) and holds
    set_active(m, lane)
    return holds


@inlined
def limits_hold(m, lane):  # type: ignore[no-untyped-def]
    """Whether the constants of the limits hold at the end of a lane's step."""
    x = m.limits
    for k in range(len(x.q)):
        at, coordinate = place_of(k, lane), m.end[x.q[k] * LANES + lane]
        if x.own[at + OUTSIDE * LANES] * coordinate > x.own[at + FARTHEST * LANES]:
            return False
    return True


@columns
def screen_limit(own, y, end, first, last, pull, pull_end, lanes):  # type: ignore[no-untyped-def]
    """Put a number above 0 into the row SUSPECT of the lanes in whose step a limit may change its mode.

    Also where its constants do not hold at the end of the step.  y, end, first, last, pull, pull_end: its coordinate, rate and
    acceleration at both ends.
    """
    for lane in range(LANES):
        h = lanes[LENGTH * LANES + lane]
        slope_a, slope_b, rise = h * first[lane], h * last[lane], end[lane] - y[lane]
        c2, c3 = 3.0 * rise - 2.0 * slope_a - slope_b, slope_a + slope_b - 2.0 * rise
        own[CUBIC * LANES + lane], own[(CUBIC + 1) * LANES + lane] = y[lane], slope_a
        own[(CUBIC + 2) * LANES + lane], own[(CUBIC + 3) * LANES + lane] = c2, c3
        bend, tilt = bends_of((y[lane], slope_a, c2, c3), pull[lane], pull_end[lane], h)
        own[(CUBIC + 4) * LANES + lane], own[(CUBIC + 5) * LANES + lane] = bend, tilt
        sides = own[LOW * LANES + lane], own[HIGH * LANES + lane]
        found, before, here = -1.0, own[START * LANES + lane], own[START * LANES + lane]
        for q in range(1, SAMPLES + 1):
            s = q / SAMPLES
            more = s * s * (1.0 - s) * (1.0 - s) * (bend + s * tilt)
            after = beyond_sides(y[lane] + s * (slope_a + s * (c2 + s * c3)) + more, sides)
            # The top of the parabola through three samples, where it lies between them.
            curved, rises = before - 2.0 * here + after, 0.5 * (after - before)
            top = here - 0.5 * rises * rises / curved + GRAZE
            top = top if abs(rises) <= -curved else -1.0
            top = top if curved < 0.0 else -1.0
            top = top if q > 1 else -1.0
            found = top if top > found else found
            found = after - ON_SIDE if after - ON_SIDE > found else found
            before, here = here, after
        own[ENDED * LANES + lane] = here
        found = 1.0 if own[OUTSIDE * LANES + lane] * end[lane] > own[FARTHEST * LANES + lane] else found
        suspect = lanes[SUSPECT * LANES + lane]
        lanes[SUSPECT * LANES + lane] = found if found > suspect else suspect


@columns
def begin_screen(lanes):  # type: ignore[no-untyped-def]
    """No lane is suspect so far, and no damper has worked in the step."""
    for lane in range(LANES):
        lanes[SUSPECT * LANES + lane], lanes[WORKED * LANES + lane] = -1.0, 0.0


@columns
def end_screen(lanes):  # type: ignore[no-untyped-def]
    """Mark the accepted steps in which a limit may change its mode, or that end at a change; the number of special lanes."""
    found = 0
    for lane in range(LANES):
        special, taken = lanes[SPECIAL * LANES + lane], lanes[TAKEN * LANES + lane]
        special = taken if lanes[SUSPECT * LANES + lane] > 0.0 else special
        special = taken if lanes[LANDINGS * LANES + lane] > 0.0 else special
        special = taken if lanes[AIMED * LANES + lane] > 0.0 else special
        lanes[SPECIAL * LANES + lane] = max(special, lanes[SPECIAL * LANES + lane])
        lanes[UPPER * LANES + lane] = NONE
        lanes[LANDED * LANES + lane] = lanes[FRESH * LANES + lane] = 0.0
        found += 1 if lanes[SPECIAL * LANES + lane] > 0.0 else 0
    return found


@inlined
def screen_limits(m):  # type: ignore[no-untyped-def]
    """Find the lanes in whose steps a limit may change its mode, and the work of their dampers."""
    x, lanes = m.limits, m.lanes
    begin_screen(lanes)
    for k in range(len(x.q)):
        o, own = x.q[k] * LANES, x.own[place_of(k, 0) :]
        a = x.u[k] * LANES
        y, end, first, last, pull, pull_end = (
            m.y[o:],
            m.end[o:],
            m.k[0, o:],
            m.k[STAGES, o:],
            m.k[0, a:],
            m.k[STAGES, a:],
        )
        screen_limit(own, y, end, first, last, pull, pull_end, lanes)
        measure_work(own[DAMPING * LANES :], x.weights, m.k, o, lanes)


@inlined
def screen(m):  # type: ignore[no-untyped-def]
    """Mark the lanes in whose steps a limit may change its mode; the number of special lanes."""
    screen_limits(m)
    return end_screen(m.lanes)


@columns
def measure_work(damping, weights, k, o, lanes):  # type: ignore[no-untyped-def]
    """Add the work of the damper of a limit, from the rates of its coordinate, at place o in the stages k."""
    if o < 0:
        return  # never; places of arrays below 0 would count from their ends
    for lane in range(LANES):
        work = 0.0
        for q in range(STAGES):
            work += weights[q] * k[q, o + lane] * k[q, o + lane]
        lanes[WORKED * LANES + lane] -= lanes[LENGTH * LANES + lane] * damping[lane] * work


@inlined
def change_modes(m, lane, state, near, first):  # type: ignore[no-untyped-def]
    """Change the modes of the limits beyond their sides at a state of a lane; False where the case is to be run alone."""
    x, holds = m.limits, True
    for k in range(len(x.q)):
        coordinate, at = state[x.q[k] * LANES + lane], place_of(k, lane)
        set_over(x, k, lane, coordinate)
        if x.over[k] > near or k == first:
            change_mode(x.own, at, coordinate)
            set_over(x, k, lane, coordinate)
        x.own[at + START * LANES] = x.over[k]
        holds = set_constants(x, k, x.own, lane, coordinate, m.constants) and holds
    set_active(m, lane)
    return holds


@inlined
def end_limits(m, lane):  # type: ignore[no-untyped-def]
    """Keep the coordinates and rates at the end of a lane's case, and the work of its dampers."""
    if len(m.limits.q) > 0:
        m.limits.work[m.case[lane]] = m.lanes[WORK * LANES + lane]
    for i in range(m.limits.final.shape[1]):
        m.limits.final[m.case[lane], i] = m.end[i * LANES + lane]
