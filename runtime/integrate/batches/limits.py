"""Joint limits that restrain coordinates, in a batch: every lane has its own modes.

A case that leaves what the kernel knows of its limits ends its lane without a result; it is run alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np

from runtime.dynamics.layout import LANES
from runtime.dynamics.limit_modes import beyond_sides, mode_of
from runtime.dynamics.limits_along import (
    OF_LIMIT,
    LimitAlong,
    LimitNumbers,
    beyond_side,
    constants_of_each,
    excess_along,
    mode_after_change,
    set_constants,
    set_side,
)
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
from runtime.integrate.dop853_coefficients import COEFFICIENTS, STAGES
from runtime.integrate.lane_state import SAMPLES
from runtime.integrate.limit_changes import ON_SIDE, bends_of, cubic_of
from runtime.integrate.memory_kinds import Common, Found, OfCases, OfLanes
from runtime.integrate.surfaces import GRAZE, set_active
from runtime.jit.compilation import columns, inlined
from runtime.jit.named_rows import Block, with_lanes
from runtime.support.arrays import Floats, Ints


@with_lanes(LANES)
class BatchLimits(NamedTuple):
    """Limits of a batch."""

    q: Common[Ints]  # (limits,) places of the coordinates
    u: Common[Ints]  # (limits,) and of their rates
    first: Common[Ints]  # (2,) row of the constants of the first limit, and their number for each
    weights: Common[Floats]  # (12,) of the stages
    given: OfCases[Floats]  # (cases, limits, PARAMETERS and those of own laws)
    final: Found[Floats]  # (cases, n) coordinates and rates at the end
    work: Found[Floats]  # (cases,) [J] of the dampers
    own: Annotated[OfLanes[Floats], Block(LimitNumbers, table=True)]
    waiting: Annotated[OfLanes[Floats], Block(LimitNumbers, table=True)]  # the same of the cases that are ready


def batch_limits(
    limits: Sequence[LimitAlong] = (),
    places: tuple[Sequence[int], Sequence[int]] = ((), ()),
    n: int = 0,
    first: int = 0,
    given: Floats | None = None,
) -> BatchLimits:
    """Memory for limits of cases, at places of coordinates and rates; n: size of states, first: row of the first constant."""
    sizes = np.array([first, constants_of_each(limits)])
    count = len(places[0])
    given = np.zeros((0, count, PARAMETERS)) if given is None else given
    own, waiting = (LimitNumbers.block(LANES, count) for _ in range(2))
    return BatchLimits(
        q=np.array(places[0], np.int64), u=np.array(places[1], np.int64), first=sizes, weights=COEFFICIENTS.b,
        given=given,
        final=np.full((len(given), n), np.nan), work=np.zeros(len(given)), own=own, waiting=waiting,
    )  # fmt: skip


@inlined
def put_parameters(own, k, lane, of):  # type: ignore[no-untyped-def]
    """Give limit k of a lane its parameters (PARAMETERS,); beyond its flat excess the case is run alone, without a ridge."""
    own.middle[k, lane], own.ridge[k, lane] = 0.0, np.inf
    own.sign[k, lane], own.offset[k, lane] = of[SIGN], of[OFFSET]
    own.ahead[k, lane], own.behind[k, lane] = of[AHEAD], of[BEHIND]
    own.flat_ahead[k, lane], own.flat_behind[k, lane] = of[FLAT_AHEAD], of[FLAT_BEHIND]
    own.max_moment[k, lane], own.compliance[k, lane], own.damping[k, lane] = of[MAX_MOMENT], of[COMPLIANCE], of[DAMPING]


@inlined
def beyond_within(x, k, lane, fraction):  # type: ignore[no-untyped-def]
    """``beyond_side`` at a fraction of a lane's step, by the quintic polynomial of the coordinate (``screen_limit``)."""
    of, both = x.own, fraction * fraction * (1.0 - fraction) * (1.0 - fraction)
    cubic = of.c0[k, lane] + fraction * (of.c1[k, lane] + fraction * (of.c2[k, lane] + fraction * of.c3[k, lane]))
    return beyond_side(of, k, lane, cubic + both * (of.bend[k, lane] + fraction * of.tilt[k, lane]))


@inlined
def set_mode(own, k, lane, mode, coordinate):  # type: ignore[no-untyped-def]
    """Store the mode of limit k, and the coordinates between which it holds, near one of them."""
    own.mode[k, lane] = mode
    set_side(own, k, lane, mode, own.compliance[k, lane], coordinate)


@inlined
def first_mode(own, k, lane, coordinate):  # type: ignore[no-untyped-def]
    """The mode of limit k by its excess at a coordinate."""
    _, excess = excess_along(own, k, lane, coordinate)
    set_mode(own, k, lane, mode_of(excess, own.compliance[k, lane]), coordinate)


@inlined
def change_mode(own, k, lane, coordinate):  # type: ignore[no-untyped-def]
    """The mode of limit k after the change that was located at a coordinate; a second time, the one before."""
    mode, compliance = int(own.mode[k, lane]), own.compliance[k, lane]
    set_mode(own, k, lane, mode_after_change(own, k, lane, mode, compliance, coordinate), coordinate)


@inlined
def put_moment(x, k, own, lane, coordinate, constants):  # type: ignore[no-untyped-def]
    """``set_constants`` of limit k for a step from a coordinate on; ``own``: of the lanes, or of the cases that are ready."""
    law = own.max_moment[k, lane], own.compliance[k, lane], own.damping[k, lane]
    row = x.first[0] + x.first[1] * k
    return set_constants(own, k, lane, int(own.mode[k, lane]), law, coordinate, constants, row)


@inlined
def put_law(x, k, case, lane, constants):  # type: ignore[no-untyped-def]
    """Put the constants of an own law of limit k of a case into rows of a column: the compliance and its parameters."""
    row = x.first[0] + x.first[1] * k + OF_LIMIT
    for c in range(x.first[1] - OF_LIMIT):
        constants[row + c, lane] = x.given[case, k, PARAMETERS + c - 1] if c > 0 else x.given[case, k, COMPLIANCE]


@inlined
def load_limits(m, r, case, ready):  # type: ignore[no-untyped-def]
    """Constants of the limits of a case for its first derivative, as column r of those ready; those outside act."""
    x = m.limits
    for k in range(len(x.q)):
        coordinate = ready[x.q[k] * m.W + r]
        put_parameters(x.waiting, k, r, x.given[case, k])
        first_mode(x.waiting, k, r, coordinate)
        put_moment(x, k, x.waiting, r, coordinate, m.ready_constants)
        put_law(x, k, case, r, m.ready_constants)


@inlined
def begin_limits(m, lane):  # type: ignore[no-untyped-def]
    """First modes of a lane's case, a little after its start so that no direction is on its cone; False where it is run alone."""
    x, holds, s = m.limits, True, m.s
    s.landings[lane] = s.damped[lane] = 0.0
    s.usual[lane] = s.usual_active[lane] = s.aimed[lane] = 0.0
    for k in range(len(x.q)):
        e = x.q[k] * m.W + lane
        put_parameters(x.own, k, lane, x.given[m.case[lane], k])
        soon = m.y[e] + 1e-6 * m.k[0, e]
        first_mode(x.own, k, lane, soon)
        x.own.start[k, lane] = beyond_side(x.own, k, lane, soon)
        holds = put_moment(x, k, x.own, lane, m.y[e], m.constants) and holds
        put_law(x, k, m.case[lane], lane, m.constants)
    set_active(m, 0, lane)
    return holds


@columns
def screen_limit(own, k, y, end, first, last, pull, pull_end, s):  # type: ignore[no-untyped-def]
    """Put a number above 0 into the row SUSPECT of the lanes in whose step a limit may change its mode.

    Also where its constants do not hold at the end of the step.  y, end, first, last, pull, pull_end: its coordinate, rate and
    acceleration at both ends.
    """
    for lane in range(s.W):
        h = s.length[lane]
        c0, c1, c2, c3 = cubic_of(y[lane], end[lane], first[lane], last[lane], h)
        own.c0[k, lane], own.c1[k, lane], own.c2[k, lane], own.c3[k, lane] = c0, c1, c2, c3
        bend, tilt = bends_of((c0, c1, c2, c3), pull[lane], pull_end[lane], h)
        own.bend[k, lane], own.tilt[k, lane] = bend, tilt
        sides = own.low[k, lane], own.high[k, lane]
        found, before, here = -1.0, own.start[k, lane], own.start[k, lane]
        for q in range(1, SAMPLES + 1):
            p = q / SAMPLES
            more = p * p * (1.0 - p) * (1.0 - p) * (bend + p * tilt)
            after = beyond_sides(c0 + p * (c1 + p * (c2 + p * c3)) + more, sides)
            # The top of the parabola through three samples, where it lies between them.
            curved, rises = before - 2.0 * here + after, 0.5 * (after - before)
            top = here - 0.5 * rises * rises / curved + GRAZE
            top = top if abs(rises) <= -curved else -1.0
            top = top if curved < 0.0 else -1.0
            top = top if q > 1 else -1.0
            found = top if top > found else found
            found = after - ON_SIDE if after - ON_SIDE > found else found
            before, here = here, after
        own.ended[k, lane] = here
        found = 1.0 if own.outside[k, lane] * end[lane] > own.farthest[k, lane] else found
        suspect = s.suspect[lane]
        s.suspect[lane] = found if found > suspect else suspect


@columns
def begin_screen(s):  # type: ignore[no-untyped-def]
    """No lane is suspect so far, and no damper has worked in the step."""
    for lane in range(s.W):
        s.suspect[lane], s.damped_now[lane] = -1.0, 0.0


@inlined
def screen_limits(m):  # type: ignore[no-untyped-def]
    """Find the lanes in whose steps a limit may change its mode, and the work of their dampers."""
    x, s = m.limits, m.s
    begin_screen(s)
    for k in range(len(x.q)):
        o = x.q[k] * m.W
        a = x.u[k] * m.W
        y, end, first, last, pull, pull_end = (
            m.y[o:],
            m.end[o:],
            m.k[0, o:],
            m.k[STAGES, o:],
            m.k[0, a:],
            m.k[STAGES, a:],
        )
        screen_limit(x.own, k, y, end, first, last, pull, pull_end, s)
        measure_work(x.own, k, x.weights, m.k, o, s)


@columns
def measure_work(own, k, weights, stages, o, s):  # type: ignore[no-untyped-def]
    """Add the work of the damper of limit k, from the rates of its coordinate, at place o in the stages."""
    if o < 0:
        return  # never; places of arrays below 0 would count from their ends
    for lane in range(s.W):
        work = 0.0
        for q in range(STAGES):
            work += weights[q] * stages[q, o + lane] * stages[q, o + lane]
        s.damped_now[lane] -= s.length[lane] * own.damping[k, lane] * work


@inlined
def change_limits(m, lane, state, near, first):  # type: ignore[no-untyped-def]
    """Change the modes of the limits beyond their sides at a state of a lane; False where the case is to be run alone."""
    x, holds = m.limits, True
    for k in range(len(x.q)):
        coordinate = state[x.q[k] * m.W + lane]
        if beyond_side(x.own, k, lane, coordinate) > near or k == first:
            change_mode(x.own, k, lane, coordinate)
        x.own.start[k, lane] = beyond_side(x.own, k, lane, coordinate)
        holds = put_moment(x, k, x.own, lane, coordinate, m.constants) and holds
    return holds


@inlined
def end_limits(m, lane):  # type: ignore[no-untyped-def]
    """Keep the coordinates and rates at the end of a lane's case, and the work of its dampers."""
    if len(m.limits.q) > 0:
        m.limits.work[m.case[lane]] = m.s.damped[lane]
    for i in range(m.limits.final.shape[1]):
        m.limits.final[m.case[lane], i] = m.end[i * m.W + lane]
