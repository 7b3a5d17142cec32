"""Steps of a batch in which a force element is touched between two of their stages.

The rules are those of ``runtime.integrate.unseen_corners``, by both ends of a step alone.
"""

from __future__ import annotations

from runtime.dynamics.layout import LANES, OK
from runtime.integrate.batches.contacts import hermite
from runtime.integrate.batches.control import reject
from runtime.integrate.batches.forces import set_signals
from runtime.integrate.batches.rows import (
    END_CODE,
    LENGTH,
    NEAR_TOUCH,
    TAKEN,
    TIME,
    TOUCHED,
)
from runtime.integrate.dop853_coefficients import STAGES
from runtime.integrate.limit_changes import cubic_of
from runtime.integrate.quintic import put_tie
from runtime.integrate.stepping import SAMPLES
from runtime.integrate.switching import CLOSER
from runtime.integrate.unseen_corners import NEAR, REFINEMENTS, UNTOUCHED, suspected, toward_touch
from runtime.jit import addresses
from runtime.jit.compilation import columns, inlined


@inlined
def call_corners(address, y, signals, own, out):  # type: ignore[no-untyped-def]
    """Corners of the forces of all lanes."""
    addresses.call(address, y.ctypes.data, signals.ctypes.data, own.ctypes.data, out.ctypes.data)


@inlined
def sample_lanes(m, fraction, row):  # type: ignore[no-untyped-def]
    """Sample the corners at a fraction of the steps of all lanes."""
    x = m.forces
    hermite(m.y, m.end, m.k[0], m.k[STAGES], fraction, m.lanes, m.trial[: m.size[0] * LANES])
    if len(x.varying) > 0:
        for lane in range(LANES):
            time = m.lanes[TIME * LANES + lane] + fraction * m.lanes[LENGTH * LANES + lane]
            set_signals(x, lane, x.own_set[lane], time)
    call_corners(x.corners_by[0], m.trial, x.values, x.own, x.corners[row])


@inlined
def sample_lane(m, lane, fraction):  # type: ignore[no-untyped-def]
    """Sample the corners at a fraction of the step of a lane, in the last row; coordinates are by quintic polynomials."""
    x, h = m.forces, m.lanes[LENGTH * LANES + lane]
    for i in range(m.size[0]):
        e = i * LANES + lane
        cubic = cubic_of(m.y[e], m.end[e], m.k[0, e], m.k[STAGES, e], h)
        m.trial[e] = cubic[0] + fraction * (cubic[1] + fraction * (cubic[2] + fraction * cubic[3]))
    for r in range(len(m.ties)):
        q, u = m.ties[r, 0] * LANES + lane, m.ties[r, 1] * LANES + lane
        put_tie(m.y, m.end, m.k[0], m.k[STAGES], q, u, m.ties[r, 2], LANES, h, fraction, m.trial, q, u)
    if len(x.varying) > 0:
        set_signals(x, lane, x.own_set[lane], m.lanes[TIME * LANES + lane] + fraction * h)
    call_corners(x.corners_by[0], m.trial, x.values, x.own, x.corners[SAMPLES + 1])


@inlined
def unseen_touch(m, lane, i, x, least, inside):  # type: ignore[no-untyped-def]
    """As of ``runtime.integrate.unseen_corners.unseen_touch``, for the corner in column i."""
    width, place = 1.0 / SAMPLES, x
    for _ in range(REFINEMENTS):
        width *= CLOSER
        x = min(max(place, width), 1.0 - width)
        before = here = after = 0.0
        for side in range(3):
            sample_lane(m, lane, x + (side - 1.0) * width)
            before, here, after = here, after, inside * m.forces.corners[SAMPLES + 1, i]
        found, place = toward_touch(x, width, before, here, after, least, m.forces.quadrature)
        if not place >= 0.0:
            return found
    return UNTOUCHED


@columns
def mark_near(before, here, after, taken, near):  # type: ignore[no-untyped-def]
    """Mark the lanes whose accurate attempts may touch a corner near three samples, as of ``suspected``; their number."""
    found = 0
    for lane in range(len(before)):
        a, b, c = before[lane], here[lane], after[lane]
        bend, rise = a - 2.0 * b + c, 0.5 * (c - a)
        inside = -1.0 if bend >= 0.0 else 1.0
        extent = max(a, max(b, c)) - min(a, min(b, c))
        # Over the bend, without a division: top of the parabola above -NEAR of the extent.
        high = (inside * b + NEAR * extent) * abs(bend) + 0.5 * rise * rise
        marked = taken[lane] if high > 0.0 else 0.0
        marked = marked if abs(rise) <= abs(bend) else 0.0
        near[lane] = marked
        found += 1 if marked > 0.0 else 0
    return found


@inlined
def find_touches(m):  # type: ignore[no-untyped-def]
    """Put as of ``runtime.integrate.unseen_corners.first_unseen`` of the accurate attempts into ``lanes``."""
    corners, lanes = m.forces.corners, m.lanes
    taken, near = lanes[TAKEN * LANES : (TAKEN + 1) * LANES], lanes[NEAR_TOUCH * LANES : (NEAR_TOUCH + 1) * LANES]
    for lane in range(LANES):
        lanes[TOUCHED * LANES + lane] = UNTOUCHED
    for o in range(0, corners.shape[1], LANES):
        for q in range(1, SAMPLES):
            samples = corners[q - 1, o : o + LANES], corners[q, o : o + LANES], corners[q + 1, o : o + LANES]
            if mark_near(*samples, taken, near) == 0:
                continue
            for lane in range(LANES):
                if near[lane] == 0.0 or lanes[END_CODE * LANES + lane] != OK:
                    continue
                x, inside, least = suspected(corners, o + lane, q)
                found = unseen_touch(m, lane, o + lane, x, least, inside) if x >= 0.0 else UNTOUCHED
                first = lanes[TOUCHED * LANES + lane]
                if found >= 0.0 and (first < 0.0 or found < first):
                    lanes[TOUCHED * LANES + lane] = found


@inlined
def reject_touched(m, special):  # type: ignore[no-untyped-def]
    """Reject accurate attempts with an unseen touch, to be repeated up to it; the number of special ones of ``special``."""
    x, lanes = m.forces, m.lanes
    if x.corners_by[0] == 0:
        return special
    for q in range(SAMPLES + 1):
        sample_lanes(m, q / SAMPLES, q)
    find_touches(m)
    for lane in range(LANES):
        place = lanes[TOUCHED * LANES + lane]
        if place >= 0.0:
            special = reject(lanes, lane, 2.0, place, special)
    return special
