"""Steps in which a force element is touched between two of their stages are repeated shorter.

The law of a ``stop`` or a cable has a corner where it is touched: the force of a short touch, or its absence in a short gap, may
lie between the stages of a long step, all of which are on the other side.  Therefore the numbers that change sign at corners
(``ForceData.corners``) are sampled in each accepted step.  A parabola through three shows where one may pass zero and come
back; closer samples decide.  Where it does, and no stage is at more than half the depth of the touch, the step is repeated up to
the deepest place.  The last stages of the repeated step are there, so its error shows whether the force matters.
"""

from __future__ import annotations

import math

from runtime.dynamics.force_elements import evaluate_corners
from runtime.dynamics.kinematics import update_poses, update_poses_and_signals
from runtime.integrate.loop_parts import LoopPart
from runtime.integrate.quintic import put_slopes
from runtime.integrate.stepping import (
    AFTER_REJECTION,
    AIMED,
    CORNERS_AT,
    LENGTH,
    NEXT_STEP,
    REJECTIONS,
    SAMPLES,
    T_OLD,
    UNDONE,
    between_ends,
)
from runtime.integrate.switching import CLOSER, vertex
from runtime.jit.compilation import inlined

NEAR = 0.3  # of the extent of three samples: a parabola that comes so near to zero is refined
REFINEMENTS = 4
HALF = 0.5  # of the depth of a touch: a stage that is deeper sees it
ROUNDING = 1e-12  # of the values around: a touch that is less deep is none
UNTOUCHED = -1.0  # in place of a fraction of the step


@inlined
def sample(time, y, t, w, to):  # type: ignore[no-untyped-def]
    """Put the corners in a state into ``to``."""
    if len(t.forces.signal) > 0:
        update_poses_and_signals(time, y, t, w)
    else:
        update_poses(y, t, w)
    evaluate_corners(t, w, to)


@inlined
def sample_step(s, t, w):  # type: ignore[no-untyped-def]
    """Sample the corners in the last step; those at its begin are known from the step before."""
    begin, h = s.time[T_OLD], s.time[LENGTH]
    if s.time[CORNERS_AT] != begin:
        sample(begin, s.y_old, t, w, s.corners[0])
        s.time[CORNERS_AT] = begin
    for q in range(1, SAMPLES + 1):
        between_ends(s, q / SAMPLES, s.trial)
        sample(begin + h * q / SAMPLES, s.trial, t, w, s.corners[q])


@inlined
def is_seen(nodes, x, reach):  # type: ignore[no-untyped-def]
    """Whether a stage of a step is as near as ``reach`` to its fraction x; ``nodes``: as of ``quadrature_of``."""
    for q in range(nodes.shape[1]):
        if nodes[1, q] != 0.0 and abs(nodes[0, q] - x) <= reach:
            return True
    return False


@inlined
def returns(samples, i, q, inside):  # type: ignore[no-untyped-def]
    """Whether the corner in column i has the other sign than ``inside`` at a sample before sample q, and at one behind it."""
    before = after = False
    for k in range(SAMPLES + 1):
        outside = inside * samples[k, i] < 0.0
        before, after = before or (outside and k < q), after or (outside and k > q)
    return before and after


@inlined
def suspected(samples, i, q):  # type: ignore[no-untyped-def]
    """Where near sample q the corner in column i may be on its other side, or UNTOUCHED; its sign there; the least depth."""
    before, here, after = samples[q - 1, i], samples[q, i], samples[q + 1, i]
    inside = 1.0 if 2.0 * here > before + after else -1.0  # the sign of a touch near an extremum
    least = ROUNDING * max(abs(before), abs(after))
    x, top = vertex(q / SAMPLES, 1.0 / SAMPLES, inside * before, inside * here, inside * after)
    extent = max(before, max(here, after)) - min(before, min(here, after))
    if x < 0.0 or not top > -NEAR * extent or not returns(samples, i, q, inside):
        return UNTOUCHED, inside, least
    return x, inside, least


@inlined
def toward_touch(x, width, before, here, after, least, nodes):  # type: ignore[no-untyped-def]
    """The place of a touch that no stage sees, or UNTOUCHED; and where to take closer samples, or UNTOUCHED if this is decided.

    By three samples at a distance ``width`` around x, positive in the touch; ``least`` depth; ``nodes``: as of ``is_seen``.
    """
    place, depth = vertex(x, width, before, here, after)
    bend = (2.0 * here - before - after) / (width * width)
    if not bend > 0.0:
        return UNTOUCHED, UNTOUCHED
    if place < 0.0:
        place = x + (width if after > before else -width) / CLOSER
        return UNTOUCHED, place if place < 1.0 else UNTOUCHED
    unseen = 0.0 < place < 1.0 and depth > least and not is_seen(nodes, place, math.sqrt(2.0 * HALF * depth / bend))
    return place if unseen else UNTOUCHED, UNTOUCHED


@inlined
def within(s, x, y):  # type: ignore[no-untyped-def]
    """State at a fraction x of the last step, by both ends: stages of the dense output may be in the touch, and bend the path."""
    between_ends(s, x, y)
    ties = s.own.ties
    for i in range(len(ties)):
        put_slopes(s, ties[i, 0], ties[i, 1], ties[i, 2], x, s.begin, s.end, y)


@inlined
def unseen_touch(c, x, least, inside, s, t, w):  # type: ignore[no-untyped-def]
    """Fraction of the last step at which corner c is on its other side, unseen, or UNTOUCHED; x: the place to begin with.

    ``inside``: 1 or -1, its sign there; ``least`` value that is no rounding.
    """
    width, place, row = 1.0 / SAMPLES, x, s.corners[SAMPLES + 1]
    for _ in range(REFINEMENTS):
        width *= CLOSER
        x = min(max(place, width), 1.0 - width)
        before = here = after = 0.0
        for side in range(3):
            place = x + (side - 1.0) * width
            within(s, place, s.trial)
            sample(s.time[T_OLD] + place * s.time[LENGTH], s.trial, t, w, row)
            before, here, after = here, after, inside * row[c]
        found, place = toward_touch(x, width, before, here, after, least, s.own.coefficients.quadrature)
        if not place >= 0.0:
            return found
    return UNTOUCHED


@inlined
def first_unseen(s, t, w):  # type: ignore[no-untyped-def]
    """The first fraction of the last step at which a touch, or a gap, is seen by no stage; UNTOUCHED if there is none."""
    first = UNTOUCHED
    for c in range(s.corners.shape[1]):
        for q in range(1, SAMPLES):
            x, inside, least = suspected(s.corners, c, q)
            if x < 0.0:
                continue
            found = unseen_touch(c, x, least, inside, s, t, w)
            if found >= 0.0 and (first < 0.0 or found < first):
                first = found
    return first


def corners_part(s, t, w):  # type: ignore[no-untyped-def]
    """1 if the last step is undone, to be repeated up to a touch; ``s.trial`` is memory."""
    sample_step(s, t, w)
    first = first_unseen(s, t, w)
    if first < 0.0:
        for c in range(s.corners.shape[1]):
            s.corners[0, c] = s.corners[SAMPLES, c]
        s.time[CORNERS_AT] = s.time[T_OLD] + s.time[LENGTH]
        return 0
    for i in range(len(s.y)):
        s.y[i] = s.y_old[i]
    s.time[NEXT_STEP] = first * s.time[LENGTH]
    s.counts[REJECTIONS] += 1
    s.counts[AFTER_REJECTION], s.flags[AIMED], s.flags[UNDONE] = 1, 0, 1
    return 1


CORNERS_PART = LoopPart(corners_part)
