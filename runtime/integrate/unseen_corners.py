"""Steps in which a force element is touched between two of their stages are repeated shorter.

The law of a ``stop`` or a cable has a corner where it is touched: the force of a short touch, or of a short gap, may act between the
stages of a long step only, all of which are on the other side.  What changes its sign at corners (``ForceData.corners``) is
therefore sampled in each accepted step.  A parabola through three samples shows where it may pass zero and come back; closer
samples of the dense output decide.  Where it does, and no stage is at more than half the depth of the touch, the step is repeated
up to the deepest place.  The last stages of the repeated step are there, so its error shows whether the force matters.
"""

from __future__ import annotations

import math

from runtime.dynamics.force_elements import evaluate_corners
from runtime.dynamics.kinematics import update_poses, update_poses_and_signals
from runtime.dynamics.layout import OK, OMEGA, STATE, P, R, V
from runtime.integrate.dense_output import prepare_step, state_within
from runtime.integrate.loop_parts import LoopPart
from runtime.integrate.quintic import OF_TURN, put_slopes
from runtime.integrate.stepping import (
    AFTER_REJECTION,
    AIMED,
    BODIES,
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
def is_seen(s, x, reach):  # type: ignore[no-untyped-def]
    """Whether a stage of the last step is as near as ``reach`` to its fraction x."""
    nodes = s.own.coefficients.quadrature
    for q in range(nodes.shape[1]):
        if nodes[1, q] != 0.0 and abs(nodes[0, q] - x) <= reach:
            return True
    return False


@inlined
def within(s, t, w, x, dense, y):  # type: ignore[no-untyped-def]
    """State at a fraction x of the last step: of the dense output, after ``prepare_step``, or by both ends alone.

    Stages of the dense output may be in the touch, and would bend the path away from it.
    """
    if dense:
        state_within(s, t, w, s.time[T_OLD] + x * s.time[LENGTH], y)
        return
    if s.flags[BODIES] == 0:
        between_ends(s, x, y)
    for b in range(s.flags[BODIES]):
        o = STATE * b
        for c in range(3):
            put_slopes(s, o + R + c, o + V + c, 1, x, s.begin, s.end, y)
        put_slopes(s, o + P, o + OMEGA, OF_TURN, x, s.begin, s.end, y)


@inlined
def unseen_touch(c, x, least, inside, dense, s, t, w):  # type: ignore[no-untyped-def]
    """Fraction of the last step at which corner c is on its other side, unseen, or UNTOUCHED; x: the place to begin with.

    ``inside``: 1 or -1, its sign there; ``least`` value that is no rounding; ``dense``: as of ``within``.
    """
    width, place, row = 1.0 / SAMPLES, x, s.corners[SAMPLES + 1]
    depth = bend = 0.0
    for _ in range(REFINEMENTS):
        width *= CLOSER
        x = min(max(place, width), 1.0 - width)
        before = here = after = 0.0
        for side in range(3):
            place = x + (side - 1.0) * width
            within(s, t, w, place, dense, s.trial)
            sample(s.time[T_OLD] + place * s.time[LENGTH], s.trial, t, w, row)
            before, here, after = here, after, inside * row[c]
        place, depth = vertex(x, width, before, here, after)
        bend = (2.0 * here - before - after) / (width * width)
        if not bend > 0.0:
            return UNTOUCHED
        if place >= 0.0:
            break
        place = x + (width if after > before else -width) / CLOSER
        if not 0.0 < place < 1.0:
            return UNTOUCHED
    if not (0.0 < place < 1.0 and depth > least):
        return UNTOUCHED
    return UNTOUCHED if is_seen(s, place, math.sqrt(2.0 * HALF * depth / bend)) else place


@inlined
def returns(samples, c, q, inside):  # type: ignore[no-untyped-def]
    """Whether corner c has the other sign than ``inside`` at a sample before sample q, and at one behind it."""
    before = after = False
    for k in range(SAMPLES + 1):
        outside = inside * samples[k, c] < 0.0
        before, after = before or (outside and k < q), after or (outside and k > q)
    return before and after


@inlined
def first_unseen(s, t, w):  # type: ignore[no-untyped-def]
    """The first fraction of the last step at which a touch, or a gap, is seen by no stage; UNTOUCHED if there is none."""
    first = UNTOUCHED
    for c in range(s.corners.shape[1]):
        for q in range(1, SAMPLES):
            before, here, after = s.corners[q - 1, c], s.corners[q, c], s.corners[q + 1, c]
            inside = 1.0 if 2.0 * here > before + after else -1.0  # the sign of a touch near an extremum
            if not returns(s.corners, c, q, inside):
                continue
            x, top = vertex(q / SAMPLES, 1.0 / SAMPLES, inside * before, inside * here, inside * after)
            extent = max(before, here, after) - min(before, here, after)
            if x < 0.0 or not top > -NEAR * extent:
                continue
            least = ROUNDING * max(abs(before), abs(after))
            found = unseen_touch(c, x, least, inside, False, s, t, w)
            if found < 0.0 and prepare_step(s, t, w) == OK:
                found = unseen_touch(c, x, least, inside, True, s, t, w)
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
