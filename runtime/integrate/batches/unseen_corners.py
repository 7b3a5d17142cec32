"""Steps of a batch in which a force element is touched between two of their stages.

The rules are those of ``runtime.integrate.unseen_corners``, by both ends of a step alone.
"""

from __future__ import annotations

from runtime.dynamics.layout import LANES, OK
from runtime.integrate.batches.forces import set_signals
from runtime.integrate.batches.rows import (
    BETWEEN,
    END_CODE,
    FACTOR,
    LENGTH,
    SPECIAL,
    TAKEN,
    TIME,
    TOTAL,
)
from runtime.integrate.dop853_coefficients import STAGES
from runtime.integrate.quintic import put_tie
from runtime.integrate.stepping import SAMPLES
from runtime.integrate.switching import CLOSER
from runtime.integrate.unseen_corners import REFINEMENTS, UNTOUCHED, suspected, toward_touch
from runtime.jit import addresses
from runtime.jit.compilation import columns, inlined


@inlined
def call_corners(address, y, signals, own, out):  # type: ignore[no-untyped-def]
    """Corners of the forces of all lanes."""
    addresses.call(address, y.ctypes.data, signals.ctypes.data, own.ctypes.data, out.ctypes.data)


@inlined
def cubic_between(a, b, first, last, x):  # type: ignore[no-untyped-def]
    """Hermite interpolation from both ends, by changes at their rates over the whole step."""
    return a + x * (first + x * (3.0 * (b - a) - 2.0 * first - last + x * (2.0 * (a - b) + first + last)))


@columns
def set_between(y, end, first, last, h, x, to):  # type: ignore[no-untyped-def]
    """Put the states of all lanes at a fraction x of their steps into ``to``."""
    for e in range(len(to)):
        to[e] = cubic_between(y[e], end[e], h[e] * first[e], h[e] * last[e], x)


@inlined
def sample_lanes(m, fraction, row):  # type: ignore[no-untyped-def]
    """Sample the corners at a fraction of the steps of all lanes."""
    x = m.forces
    size = m.size[0] * LANES
    set_between(m.y[:size], m.end[:size], m.k[0, :size], m.k[STAGES, :size], m.h[:size], fraction, m.trial[:size])
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
        m.trial[e] = cubic_between(m.y[e], m.end[e], h * m.k[0, e], h * m.k[STAGES, e], fraction)
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


@inlined
def first_unseen(m, lane):  # type: ignore[no-untyped-def]
    """As of ``runtime.integrate.unseen_corners.first_unseen``."""
    corners, first = m.forces.corners, UNTOUCHED
    for i in range(lane, corners.shape[1], LANES):
        for q in range(1, SAMPLES):
            x, inside, least = suspected(corners, i, q)
            found = unseen_touch(m, lane, i, x, least, inside) if x >= 0.0 else UNTOUCHED
            if found >= 0.0 and (first < 0.0 or found < first):
                first = found
    return first


@inlined
def reject_touched(m, special):  # type: ignore[no-untyped-def]
    """Reject accurate attempts with an unseen touch, to be repeated up to it; the number of special ones of ``special``."""
    x, lanes = m.forces, m.lanes
    if x.corners_by[0] == 0:
        return special
    for q in range(SAMPLES + 1):
        sample_lanes(m, q / SAMPLES, q)
    for lane in range(LANES):
        if lanes[TAKEN * LANES + lane] == 0.0 or lanes[END_CODE * LANES + lane] != OK:
            continue
        place = first_unseen(m, lane)
        if place >= 0.0:
            special -= 1 if lanes[SPECIAL * LANES + lane] > 0.0 else 0
            lanes[TAKEN * LANES + lane] = lanes[SPECIAL * LANES + lane] = lanes[BETWEEN * LANES + lane] = 0.0
            lanes[TOTAL * LANES + lane], lanes[FACTOR * LANES + lane] = 2.0, place
    return special
