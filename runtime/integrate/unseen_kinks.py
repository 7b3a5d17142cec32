"""Steps in which a force element is touched between two samples are repeated shorter.

The law of a ``stop`` or a cable has a kink where it is touched: the force of a short touch, or its absence in a short gap, may
lie between the stages of a long step, all of which are on the other side.  Therefore the numbers that change sign at kinks
(``ForceData.kinks``) are sampled in each accepted step.  A parabola through three shows where one may pass zero and come
back; closer samples decide.  Where it does, the step is repeated up to the deepest place.  It then passes one kink, at which
``runtime.integrate.kink_landing`` ends it.
"""

from __future__ import annotations

from typing import Any

from runtime.integrate.lane_state import SAMPLES
from runtime.integrate.surfaces import CLOSER, vertex
from runtime.jit.compilation import inlined

NEAR = 0.3  # of the extent of three samples: a parabola that comes so near to zero is refined
REFINEMENTS = 4
ROUNDING = 1e-12  # of the values around: a touch that is less deep is none
UNTOUCHED = -1.0  # in place of a fraction of the step
CLOSER_SAMPLE = SAMPLES + 1  # row of the samples that ``sample_within`` fills


def sample_within(m: Any, of: Any, lane: int, x: float, i: int) -> None:
    """Sample the kink in column i at a fraction of the step of a lane, by both ends of the step, in the row CLOSER_SAMPLE."""
    raise NotImplementedError


@inlined
def returns(samples, i, q, inside):  # type: ignore[no-untyped-def]
    """Whether the kink in column i does not have the sign of ``inside`` at a sample before sample q, and at one behind it."""
    before = after = False
    for k in range(SAMPLES + 1):
        outside = inside * samples[k, i] <= 0.0  # 0 where a step ends exactly at a kink
        before, after = before or (outside and k < q), after or (outside and k > q)
    return before and after


@inlined
def suspected(samples, i, q):  # type: ignore[no-untyped-def]
    """Where near sample q the kink in column i may be on its other side, or UNTOUCHED; its sign there; the least depth."""
    before, here, after = samples[q - 1, i], samples[q, i], samples[q + 1, i]
    inside = 1.0 if 2.0 * here > before + after else -1.0  # the sign of a touch near an extremum
    least = ROUNDING * max(abs(before), abs(after))
    x, top = vertex(q / SAMPLES, 1.0 / SAMPLES, inside * before, inside * here, inside * after)
    extent = max(before, max(here, after)) - min(before, min(here, after))
    if x < 0.0 or not top > -NEAR * extent or not returns(samples, i, q, inside):
        return UNTOUCHED, inside, least
    return x, inside, least


@inlined
def toward_touch(x, width, before, here, after, least):  # type: ignore[no-untyped-def]
    """The deepest place of a touch, or UNTOUCHED; and where to take closer samples, or UNTOUCHED if this is decided.

    By three samples at a distance ``width`` around x, positive in the touch; ``least`` depth.
    """
    place, depth = vertex(x, width, before, here, after)
    if not 2.0 * here > before + after:
        return UNTOUCHED, UNTOUCHED
    if place < 0.0:
        place = x + (width if after > before else -width) / CLOSER
        return UNTOUCHED, place if place < 1.0 else UNTOUCHED
    return place if 0.0 < place < 1.0 and depth > least else UNTOUCHED, UNTOUCHED


@inlined
def unseen_touch(m, of, kinks, lane, i, x, least, inside):  # type: ignore[no-untyped-def]
    """Fraction of the step at which the kink in column i is on its other side, or UNTOUCHED; x: the place to begin with.

    ``kinks`` (SAMPLES + 2, kinks W): samples of the step; ``inside``: 1 or -1, its sign there; ``least`` value that is no
    rounding.
    """
    width, place = 1.0 / SAMPLES, x
    for _ in range(REFINEMENTS):
        width *= CLOSER
        x = min(max(place, width), 1.0 - width)
        before = here = after = 0.0
        for side in range(3):
            sample_within(m, of, lane, x + (side - 1.0) * width, i)
            before, here, after = here, after, inside * kinks[CLOSER_SAMPLE, i]
        found, place = toward_touch(x, width, before, here, after, least)
        if not place >= 0.0:
            return found
    return UNTOUCHED


@inlined
def first_unseen(m, of, kinks, lane):  # type: ignore[no-untyped-def]
    """The first fraction of the step of a lane at which a touch, or a gap, is seen by no sample; UNTOUCHED if there is none."""
    first = UNTOUCHED
    for i in range(lane, kinks.shape[1], m.W):
        for q in range(1, SAMPLES):
            x, inside, least = suspected(kinks, i, q)
            found = unseen_touch(m, of, kinks, lane, i, x, least, inside) if x >= 0.0 else UNTOUCHED
            if found >= 0.0 and (first < 0.0 or found < first):
                first = found
    return first
