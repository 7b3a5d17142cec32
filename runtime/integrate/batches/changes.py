"""Changes of the modes of limits in a batch: where in a step the first one is, and what comes of the step.

The rules are those of ``runtime.integrate.landing`` and ``switching``.
"""

from __future__ import annotations

from runtime.integrate.batches.lane_state import set_usual, usual_of
from runtime.integrate.batches.limit_steps import end_step
from runtime.integrate.batches.limits import (
    NONE,
    beyond_within,
    change_modes,
    set_active,
    sides_in,
)
from runtime.integrate.dop853_coefficients import STAGES
from runtime.integrate.landing import FIRST_ACTIVE, MAX_LANDINGS, MIN_LANDING
from runtime.integrate.limit_changes import ON_SIDE, bends_of, passes
from runtime.integrate.stepping import SAMPLES
from runtime.integrate.switching import CLOSER, CLOSEST, GRAZE, REFINEMENTS, toward_top, vertex
from runtime.integrate.switching import LANDED as NEAR_END
from runtime.jit.compilation import inlined


@inlined
def sample(m, lane, x):  # type: ignore[no-untyped-def]
    """Fill ``over`` at a fraction x of a lane's step, by quintic polynomials of the coordinates (``screen``)."""
    for k in range(len(m.limits.q)):
        m.limits.over[k] = beyond_within(m.limits, k, lane, x)


@inlined
def foremost(x):  # type: ignore[no-untyped-def]
    """Number of the limit that is farthest beyond its side."""
    largest = 0
    for k in range(len(x.over)):
        if x.over[k] > x.over[largest]:
            largest = k
    return largest


@inlined
def graze_near(m, lane, k, x, top):  # type: ignore[no-untyped-def]
    """As of ``switching.graze_near``."""
    width, closer = 1.0 / SAMPLES, CLOSER
    for _ in range(REFINEMENTS):
        if not (0.0 < x < 1.0 and top > -GRAZE and width > CLOSEST):
            break
        width *= closer
        before = here = after = 0.0
        for side in range(3):
            place = min(max(x + (side - 1.0) * width, 0.0), 1.0)
            sample(m, lane, place)
            after, here, before = m.limits.over[k], after, here
            if after > 0.0:
                return place
        x, top, closer = toward_top(x, width, before, here, after)
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
    """Fractions of an accurate step between which a limit changes its mode, into the rows LOWER and UPPER, if one does."""
    x, s = m.limits, m.s
    for k in range(len(x.q)):
        x.samples[0, k] = x.own.start[k, lane]
    for q in range(1, SAMPLES + 1):
        sample(m, lane, q / SAMPLES)
        for k in range(len(x.q)):
            x.samples[q, k] = x.over[k]
        if x.over[foremost(x)] > ON_SIDE:
            s.lower[lane], s.upper[lane] = (q - 1.0) / SAMPLES, q / SAMPLES
            if q == SAMPLES and m.s.landings[lane] > 0.0:
                sample(m, lane, NEAR_END)
                if x.over[foremost(x)] <= ON_SIDE:
                    s.lower[lane] = NEAR_END
            return
    place = graze(m, lane)
    if place != NONE:
        s.lower[lane], s.upper[lane] = max(place - 1.0 / SAMPLES, 0.0), place


@inlined
def locate(m, lane):  # type: ignore[no-untyped-def]
    """As of ``switching.first_passage``, for a lane, with the number of the limit."""
    x, lower, upper = m.limits, m.s.lower[lane], m.s.upper[lane]
    h, first, fraction = m.s.length[lane], -1, upper
    sample(m, lane, upper)
    for k in range(len(x.q)):
        if x.over[k] > ON_SIDE:
            a, own = x.u[k] * m.W + lane, x.own
            cubic = (
                own.c0[k, lane], own.c1[k, lane], own.c2[k, lane],
                own.c3[k, lane],
            )  # fmt: skip
            passage = passes(
                cubic, bends_of(cubic, m.k[0, a], m.k[STAGES, a], h), sides_in(x, k, lane), lower, upper, False
            )
            if first < 0 or passage < fraction:
                first, fraction = k, passage
    return fraction, first


GO_ON, AGAIN, ALONE = range(3)


@inlined
def usual_length(m, lane, was_active):  # type: ignore[no-untyped-def]
    """Length of the step after a change, as of ``landing.resume``; 0: the one by the error."""
    s, now_active = m.s, m.s.active[lane]
    s.landings[lane], s.fresh[lane] = 0.0, 1.0
    if now_active == was_active:
        planned = s.planned[lane] if s.aimed[lane] > 0.0 else 0.0
        return planned if planned > s.factor[lane] * s.length[lane] else 0.0
    usual = abs(usual_of(s, lane, now_active))
    if usual == 0.0:
        usual = abs(usual_of(s, lane, was_active)) * (FIRST_ACTIVE if now_active == 1.0 else 1.0)
    set_usual(s, lane, now_active, -usual)
    return usual


@inlined
def switch(m, lane, h):  # type: ignore[no-untyped-def]
    """As of ``landing.switch``, for an accurate step of a lane: what to do, and the length of the next attempt.

    A length of 0: the one by the error.  AGAIN: the step is to be repeated with that length; ALONE: the case is to be run
    alone; GO_ON: the step is accepted.
    """
    s, time = m.s, m.s.time[lane]
    landings, was_active = s.landings[lane], s.active[lane]
    landing, fraction, first = landings > 0.0, NONE, -1
    if not landing and usual_of(s, lane, was_active) == 0.0:
        set_usual(s, lane, was_active, -h)
    if s.landed[lane] == 1.0:
        s.damped[lane] += s.damped_now[lane]
        set_active(m, lane)
        return GO_ON, usual_length(m, lane, was_active)
    if s.upper[lane] != NONE and landing and s.lower[lane] == NEAR_END:
        fraction = 1.0
    elif s.upper[lane] != NONE:
        fraction, first = locate(m, lane)
        if fraction * h <= MIN_LANDING * max(1.0, abs(time)):
            fraction = 0.0
    if fraction <= 1.0 and not (landing and fraction > NEAR_END):
        if fraction == 0.0 and not change_modes(m, lane, m.y, -10.0 * ON_SIDE, first):
            return ALONE, 0.0
        s.landings[lane] = landings + 1.0
        if landings + 1.0 == MAX_LANDINGS:
            return ALONE, 0.0
        return AGAIN, fraction * h if fraction > 0.0 else h
    end_step(m, lane)
    if not landing and fraction == NONE:
        return GO_ON, 0.0
    s.aimed[lane] = 0.0
    if not change_modes(m, lane, m.end, -10.0 * ON_SIDE if landing else ON_SIDE, -1):
        return ALONE, 0.0
    return GO_ON, usual_length(m, lane, was_active) if landing else 0.0
