"""Steps of a batch that pass a corner of a force's law are repeated, to end there.

The rules are those of ``runtime.integrate.corner_landing``.
"""

from __future__ import annotations

from runtime.dynamics.layout import JUMP, OK
from runtime.integrate.batches.control import reject
from runtime.integrate.batches.unseen_corners import first_unseen, mark_near, sample_lane, sample_lanes
from runtime.integrate.corner_landing import (
    MAX_CORNERED,
    MAX_SECANTS,
    closest,
    inside_bracket,
    narrowed,
    sample_before,
)
from runtime.integrate.stepping import SAMPLES
from runtime.integrate.unseen_corners import UNTOUCHED
from runtime.jit.compilation import columns, inlined
from runtime.jit.pointers import local


@columns
def count_passed(before, behind):  # type: ignore[no-untyped-def]
    """Number of lanes in which a corner may be passed between two samples."""
    found = 0
    for lane in range(len(before)):
        a, b = before[lane], behind[lane]
        found += 1 if min(a, b) <= 0.0 and max(a, b) >= 0.0 and a != b else 0
    return found


@inlined
def passed_at(m, lane, i, k, q, close):  # type: ignore[no-untyped-def]
    """As of ``runtime.integrate.corner_landing.passed_at``, for the corner in column i."""
    corners = m.forces.corners
    bracket = (k / SAMPLES, q / SAMPLES, corners[k, i], corners[q, i], 0.0)
    for _ in range(MAX_SECANTS):
        if bracket[1] - bracket[0] <= 0.2 * close:
            break
        x = inside_bracket(bracket)
        sample_lane(m, lane, x)
        if corners[SAMPLES + 1, i] == 0.0:
            return x
        bracket = narrowed(bracket, x, corners[SAMPLES + 1, i])
    return min(1.0, bracket[1] + 0.4 * close)


@inlined
def first_passed(m, lane, close):  # type: ignore[no-untyped-def]
    """As of ``runtime.integrate.corner_landing.first_passed``, for the attempt of a lane."""
    corners, first = m.forces.corners, UNTOUCHED
    for q in range(1, SAMPLES + 1):
        for i in range(lane, corners.shape[1] if first < 0.0 or first > (q - 1.0) / SAMPLES else 0, m.W):
            k = sample_before(corners, i, q) if m.forces.jump[i // m.W] == 0 else -1
            if k >= 0:
                x = passed_at(m, lane, i, k, q, close)
                if x > close and (first < 0.0 or x < first):
                    first = x
    return first


@inlined
def jumps(m, lane):  # type: ignore[no-untyped-def]
    """Whether an angle of a force jumps by a turn in the attempt of a lane, as of ``ForceData.jump``."""
    corners = m.forces.corners
    for i in range(lane, corners.shape[1], m.W):
        if m.forces.jump[i // m.W] == 1:
            for q in range(1, SAMPLES + 1):
                if sample_before(corners, i, q) >= 0:
                    return True
    return False


@inlined
def place_to_end(m, lane, passing):  # type: ignore[no-untyped-def]
    """Fraction at which the accurate attempt of a lane is to end, or UNTOUCHED where it is accepted.

    ``passing``: whether any lane passes a corner.
    """
    s, h = m.s, m.s.length[lane]
    close, cornered = closest(s.time[lane], h), s.cornered[lane]
    passed = first_passed(m, lane, close) if passing and cornered < MAX_CORNERED else UNTOUCHED
    if passed >= 1.0 - close or (passed < 0.0 and cornered > 0.0):
        if cornered > 0.0:
            s.factor[lane] = max(s.factor[lane], s.uncut[lane] / h)
            s.after_rejection[lane] = s.cornered[lane] = 0.0
        return UNTOUCHED
    if passed >= 0.0:
        s.uncut[lane] = h if cornered == 0.0 else s.uncut[lane]
        s.cornered[lane] = cornered + 1.0
        return passed
    s.cornered[lane] = 0.0
    return first_unseen(m, lane) if s.near_touch[lane] > 0.0 else UNTOUCHED


def corner_part(m, special):  # type: ignore[no-untyped-def]
    """Reject accurate attempts that pass a corner, to be repeated up to it; the number of special ones of ``special``.

    Compiled together with the loop it would take time of cases whose forces have none.
    """
    m = local(m)
    x, s, passing = m.forces, m.s, 0
    taken, near = s.accepted, s.near_touch
    for lane in range(m.W):
        near[lane] = 0.0
    for q in range(SAMPLES + 1):
        sample_lanes(m, q / SAMPLES, q)
    for o in range(0, x.corners.shape[1], m.W):
        for q in range(1, SAMPLES + 1):
            before, here = x.corners[q - 1, o : o + m.W], x.corners[q, o : o + m.W]
            passing += count_passed(before, here)
            if q < SAMPLES:
                mark_near(before, here, x.corners[q + 1, o : o + m.W], taken, near)
    for lane in range(m.W):
        if s.accepted[lane] == 0.0 or s.end_code[lane] != OK:
            continue
        if passing > 0 and jumps(m, lane):  # the run alone ends at the jump, and says so
            s.end_code[lane] = JUMP
            special += 1 if s.special[lane] == 0.0 else 0
            s.special[lane] = 1.0
            continue
        place = place_to_end(m, lane, passing > 0)
        if place >= 0.0:
            special = reject(s, lane, 2.0, place, special)
    return special
