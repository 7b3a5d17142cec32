"""Steps of a batch that pass a corner of a force's law are repeated, to end there.

The rules are those of ``runtime.integrate.corner_landing``.
"""

from __future__ import annotations

from runtime.dynamics.layout import JUMP, LANES, OK
from runtime.integrate.batches.control import reject
from runtime.integrate.batches.rows import (
    AFTER_REJECTION,
    CORNERED,
    END_CODE,
    FACTOR,
    LENGTH,
    NEAR_TOUCH,
    SPECIAL,
    TAKEN,
    TIME,
    UNCUT,
)
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
        for i in range(lane, corners.shape[1] if first < 0.0 or first > (q - 1.0) / SAMPLES else 0, LANES):
            k = sample_before(corners, i, q) if m.forces.jump[i // LANES] == 0 else -1
            if k >= 0:
                x = passed_at(m, lane, i, k, q, close)
                if x > close and (first < 0.0 or x < first):
                    first = x
    return first


@inlined
def jumps(m, lane):  # type: ignore[no-untyped-def]
    """Whether an angle of a force jumps by a turn in the attempt of a lane, as of ``ForceData.jump``."""
    corners = m.forces.corners
    for i in range(lane, corners.shape[1], LANES):
        if m.forces.jump[i // LANES] == 1:
            for q in range(1, SAMPLES + 1):
                if sample_before(corners, i, q) >= 0:
                    return True
    return False


@inlined
def place_to_end(m, lane, passing):  # type: ignore[no-untyped-def]
    """Fraction at which the accurate attempt of a lane is to end, or UNTOUCHED where it is accepted.

    ``passing``: whether any lane passes a corner.
    """
    lanes, h = m.lanes, m.lanes[LENGTH * LANES + lane]
    close, cornered = closest(lanes[TIME * LANES + lane], h), lanes[CORNERED * LANES + lane]
    passed = first_passed(m, lane, close) if passing and cornered < MAX_CORNERED else UNTOUCHED
    if passed >= 1.0 - close or (passed < 0.0 and cornered > 0.0):
        if cornered > 0.0:
            lanes[FACTOR * LANES + lane] = max(lanes[FACTOR * LANES + lane], lanes[UNCUT * LANES + lane] / h)
            lanes[AFTER_REJECTION * LANES + lane] = lanes[CORNERED * LANES + lane] = 0.0
        return UNTOUCHED
    if passed >= 0.0:
        lanes[UNCUT * LANES + lane] = h if cornered == 0.0 else lanes[UNCUT * LANES + lane]
        lanes[CORNERED * LANES + lane] = cornered + 1.0
        return passed
    lanes[CORNERED * LANES + lane] = 0.0
    return first_unseen(m, lane) if lanes[NEAR_TOUCH * LANES + lane] > 0.0 else UNTOUCHED


@inlined
def reject_cornered(m, special):  # type: ignore[no-untyped-def]
    """Reject accurate attempts that pass a corner, to be repeated up to it; the number of special ones of ``special``."""
    x, lanes, passing = m.forces, m.lanes, 0
    if x.corners_by[0] == 0:
        return special
    taken, near = lanes[TAKEN * LANES : (TAKEN + 1) * LANES], lanes[NEAR_TOUCH * LANES : (NEAR_TOUCH + 1) * LANES]
    for lane in range(LANES):
        near[lane] = 0.0
    for q in range(SAMPLES + 1):
        sample_lanes(m, q / SAMPLES, q)
    for o in range(0, x.corners.shape[1], LANES):
        for q in range(1, SAMPLES + 1):
            before, here = x.corners[q - 1, o : o + LANES], x.corners[q, o : o + LANES]
            passing += count_passed(before, here)
            if q < SAMPLES:
                mark_near(before, here, x.corners[q + 1, o : o + LANES], taken, near)
    for lane in range(LANES):
        if lanes[TAKEN * LANES + lane] == 0.0 or lanes[END_CODE * LANES + lane] != OK:
            continue
        if passing > 0 and jumps(m, lane):  # the run alone ends at the jump, and says so
            lanes[END_CODE * LANES + lane] = JUMP
            special += 1 if lanes[SPECIAL * LANES + lane] == 0.0 else 0
            lanes[SPECIAL * LANES + lane] = 1.0
            continue
        place = place_to_end(m, lane, passing > 0)
        if place >= 0.0:
            special = reject(lanes, lane, 2.0, place, special)
    return special
