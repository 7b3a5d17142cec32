"""Steps of a batch in which a force element is touched between two samples.

The rules are those of ``runtime.integrate.unseen_corners``, by both ends of a step alone.
"""

from __future__ import annotations

from runtime.integrate.batches.forces import set_signals
from runtime.integrate.batches.polynomial import hermite
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
    hermite(m.y, m.end, m.k[0], m.k[STAGES], fraction, m.s, m.trial[: m.size[0] * m.W])
    if len(x.varying) > 0:
        for lane in range(m.W):
            time = m.s.time[lane] + fraction * m.s.length[lane]
            set_signals(x, lane, x.own_set[lane], time)
    call_corners(x.corners_by[0], m.trial, x.values, x.own, x.corners[row])


@inlined
def sample_lane(m, lane, fraction):  # type: ignore[no-untyped-def]
    """Sample the corners at a fraction of the step of a lane, in the last row; coordinates are by quintic polynomials."""
    x, h = m.forces, m.s.length[lane]
    for i in range(m.size[0]):
        e = i * m.W + lane
        cubic = cubic_of(m.y[e], m.end[e], m.k[0, e], m.k[STAGES, e], h)
        m.trial[e] = cubic[0] + fraction * (cubic[1] + fraction * (cubic[2] + fraction * cubic[3]))
    for r in range(len(m.ties)):
        q, u = m.ties[r, 0] * m.W + lane, m.ties[r, 1] * m.W + lane
        put_tie(m.y, m.end, m.k[0], m.k[STAGES], q, u, m.ties[r, 2], m.W, h, fraction, m.trial, q, u)
    if len(x.varying) > 0:
        set_signals(x, lane, x.own_set[lane], m.s.time[lane] + fraction * h)
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
        found, place = toward_touch(x, width, before, here, after, least)
        if not place >= 0.0:
            return found
    return UNTOUCHED


@columns
def mark_near(before, here, after, taken, near):  # type: ignore[no-untyped-def]
    """Mark the lanes whose accurate attempts may touch a corner near three samples, as of ``suspected``."""
    for lane in range(len(before)):
        a, b, c = before[lane], here[lane], after[lane]
        bend, rise = a - 2.0 * b + c, 0.5 * (c - a)
        inside = -1.0 if bend >= 0.0 else 1.0
        extent = max(a, max(b, c)) - min(a, min(b, c))
        # Over the bend, without a division: top of the parabola above -NEAR of the extent.
        high = (inside * b + NEAR * extent) * abs(bend) + 0.5 * rise * rise
        marked = taken[lane] if high > 0.0 else 0.0
        near[lane] = max(near[lane], marked if abs(rise) <= abs(bend) else 0.0)


@inlined
def first_unseen(m, lane):  # type: ignore[no-untyped-def]
    """As of ``runtime.integrate.unseen_corners.first_unseen``, for the attempt of a lane."""
    corners, first = m.forces.corners, UNTOUCHED
    for i in range(lane, corners.shape[1], m.W):
        for q in range(1, SAMPLES):
            x, inside, least = suspected(corners, i, q)
            found = unseen_touch(m, lane, i, x, least, inside) if x >= 0.0 else UNTOUCHED
            if found >= 0.0 and (first < 0.0 or found < first):
                first = found
    return first
