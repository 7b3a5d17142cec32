"""Steps of limits in a batch without a change of mode: what is kept of them, and the beginnings of the next."""

from __future__ import annotations

from runtime.dynamics.layout import LANES
from runtime.dynamics.limit_modes import beyond_sides
from runtime.integrate.aiming import FARTHEST, STRETCH
from runtime.integrate.batches.limits import ENDED, HIGH, LOW, START, place_of
from runtime.integrate.batches.rows import (
    ACTIVE,
    AIMED,
    FRESH,
    LENGTH,
    NEXT,
    PLANNED,
    SOON,
    SPECIAL,
    TAKEN,
    USUAL,
    USUAL_ACTIVE,
    WORK,
    WORKED,
)
from runtime.integrate.dop853_coefficients import STAGES
from runtime.jit.compilation import columns, inlined


@columns
def go_on_with_limit(own, lanes):  # type: ignore[no-untyped-def]
    """Begin the next step of a limit where one was accepted without a change of mode."""
    for lane in range(LANES):
        taken = lanes[TAKEN * LANES + lane] - lanes[SPECIAL * LANES + lane] > 0.0
        start, ended = own[START * LANES + lane], own[ENDED * LANES + lane]
        own[START * LANES + lane] = ended if taken else start


@columns
def keep_work(lanes):  # type: ignore[no-untyped-def]
    """Keep the work of the dampers where a step was accepted that was not special."""
    for lane in range(LANES):
        plain = lanes[TAKEN * LANES + lane] - lanes[SPECIAL * LANES + lane] > 0.0
        lanes[WORK * LANES + lane] += lanes[WORKED * LANES + lane] if plain else 0.0


@inlined
def keep_limits(m):  # type: ignore[no-untyped-def]
    """Begin the next step of limits beside contacts where one was accepted that was not special."""
    if len(m.limits.q) > 0:
        keep_work(m.lanes)
        for k in range(len(m.limits.q)):
            go_on_with_limit(m.limits.own[place_of(k, 0) :], m.lanes)


@inlined
def end_step(m, lane):  # type: ignore[no-untyped-def]
    """Keep the work of the dampers in an accepted step of a lane, and begin the next step of its limits in the same modes."""
    x, lanes = m.limits, m.lanes
    if len(x.q) > 0:
        lanes[WORK * LANES + lane] += lanes[WORKED * LANES + lane]
        for k in range(len(x.q)):
            at = place_of(k, lane)
            x.own[at + START * LANES] = x.own[at + ENDED * LANES]


@columns
def keep_usual(lanes):  # type: ignore[no-untyped-def]
    """Keep the work of the dampers and the usual lengths where a step was accepted without a change of mode.

    The next step of a lane whose step was aimed at a change, in vain, has the length that this one had otherwise, at least.
    """
    for lane in range(LANES):
        plain = lanes[TAKEN * LANES + lane] - lanes[SPECIAL * LANES + lane] > 0.0
        taken = lanes[TAKEN * LANES + lane] - lanes[FRESH * LANES + lane] > 0.0
        h, planned, before = lanes[LENGTH * LANES + lane], lanes[NEXT * LANES + lane], lanes[PLANNED * LANES + lane]
        aimed = lanes[AIMED * LANES + lane] if taken else 0.0
        before = before if aimed > 0.0 and planned > h else 0.0
        planned = before if before > planned else planned
        acts = lanes[ACTIVE * LANES + lane] == 1.0
        usual, usual_active = lanes[USUAL * LANES + lane], lanes[USUAL_ACTIVE * LANES + lane]
        present = usual_active if acts else usual
        present = present if present > 0.0 else planned
        present = present if present < planned else planned
        lanes[USUAL * LANES + lane] = (usual if acts else present) if taken else usual
        lanes[USUAL_ACTIVE * LANES + lane] = (present if acts else usual_active) if taken else usual_active
        lanes[NEXT * LANES + lane] = planned
        lanes[WORK * LANES + lane] += lanes[WORKED * LANES + lane] if plain else 0.0
        lanes[AIMED * LANES + lane], lanes[SOON * LANES + lane] = 0.0, -1.0


@columns
def screen_next(own, end, rate, acceleration, lanes):  # type: ignore[no-untyped-def]
    """Put a number of 0 or above into the row SOON of the lanes in whose next step a limit may change its mode.

    ``end``, ``rate`` and ``acceleration`` of its coordinate at the end of the step.
    """
    for lane in range(LANES):
        longest = min(STRETCH * lanes[NEXT * LANES + lane], FARTHEST * lanes[LENGTH * LANES + lane])
        then = end[lane] + longest * (rate[lane] + 0.5 * longest * acceleration[lane])
        sides = own[LOW * LANES + lane], own[HIGH * LANES + lane]
        soon, found = lanes[SOON * LANES + lane], beyond_sides(then, sides)
        found = found if lanes[TAKEN * LANES + lane] - lanes[FRESH * LANES + lane] > 0.0 else -1.0
        lanes[SOON * LANES + lane] = found if found > soon else soon


@inlined
def go_on_with_limits(m):  # type: ignore[no-untyped-def]
    """Begin the next step of the limits where one was accepted without a change of mode."""
    keep_usual(m.lanes)
    for k in range(len(m.limits.q)):
        own, o = m.limits.own[place_of(k, 0) :], m.limits.q[k] * LANES
        a = m.limits.u[k] * LANES
        go_on_with_limit(own, m.lanes)
        screen_next(own, m.end[o:], m.k[STAGES, o:], m.k[STAGES, a:], m.lanes)
