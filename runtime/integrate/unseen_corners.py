"""Steps in which a force element is touched between two samples are repeated shorter.

The law of a ``stop`` or a cable has a corner where it is touched: the force of a short touch, or its absence in a short gap, may
lie between the stages of a long step, all of which are on the other side.  Therefore the numbers that change sign at corners
(``ForceData.corners``) are sampled in each accepted step.  A parabola through three shows where one may pass zero and come
back; closer samples decide.  Where it does, the step is repeated up to the deepest place.  It then passes one corner, at which
``runtime.integrate.corner_landing`` ends it.
"""

from __future__ import annotations

from runtime.dynamics.force_elements import evaluate_corners
from runtime.dynamics.kinematics import update_poses, update_poses_and_signals
from runtime.integrate.quintic import put_slopes
from runtime.integrate.stepping import (
    SAMPLES,
    between_ends,
)
from runtime.integrate.switching import CLOSER, vertex
from runtime.jit.compilation import inlined

NEAR = 0.3  # of the extent of three samples: a parabola that comes so near to zero is refined
REFINEMENTS = 4
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
def sample_step(m, t, w):  # type: ignore[no-untyped-def]
    """Sample the corners in the last step; those at its begin are known from the step before."""
    begin, h = m.s.began[0], m.s.length[0]
    if m.s.corners_at[0] != begin:
        sample(begin, m.y_old, t, w, m.corners[0])
        m.s.corners_at[0] = begin
    for q in range(1, SAMPLES + 1):
        between_ends(m, q / SAMPLES, m.trial)
        sample(begin + h * q / SAMPLES, m.trial, t, w, m.corners[q])


@inlined
def returns(samples, i, q, inside):  # type: ignore[no-untyped-def]
    """Whether the corner in column i does not have the sign of ``inside`` at a sample before sample q, and at one behind it."""
    before = after = False
    for k in range(SAMPLES + 1):
        outside = inside * samples[k, i] <= 0.0  # 0 where a step ends exactly at a corner
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
def within(m, x, y):  # type: ignore[no-untyped-def]
    """State at a fraction x of the last step, by both ends: stages of the dense output may be in the touch, and bend the path."""
    between_ends(m, x, y)
    ties = m.own.ties
    for i in range(len(ties)):
        put_slopes(m, ties[i, 0], ties[i, 1], ties[i, 2], x, m.begin, m.end, y)


@inlined
def unseen_touch(c, x, least, inside, m, t, w):  # type: ignore[no-untyped-def]
    """Fraction of the last step at which corner c is on its other side, or UNTOUCHED; x: the place to begin with.

    ``inside``: 1 or -1, its sign there; ``least`` value that is no rounding.
    """
    width, place, row = 1.0 / SAMPLES, x, m.corners[SAMPLES + 1]
    for _ in range(REFINEMENTS):
        width *= CLOSER
        x = min(max(place, width), 1.0 - width)
        before = here = after = 0.0
        for side in range(3):
            place = x + (side - 1.0) * width
            within(m, place, m.trial)
            sample(m.s.began[0] + place * m.s.length[0], m.trial, t, w, row)
            before, here, after = here, after, inside * row[c]
        found, place = toward_touch(x, width, before, here, after, least)
        if not place >= 0.0:
            return found
    return UNTOUCHED


@inlined
def first_unseen(m, t, w):  # type: ignore[no-untyped-def]
    """The first fraction of the last step at which a touch, or a gap, is seen by no sample; UNTOUCHED if there is none."""
    first = UNTOUCHED
    for c in range(m.corners.shape[1]):
        for q in range(1, SAMPLES):
            x, inside, least = suspected(m.corners, c, q)
            if x < 0.0:
                continue
            found = unseen_touch(c, x, least, inside, m, t, w)
            if found >= 0.0 and (first < 0.0 or found < first):
                first = found
    return first
