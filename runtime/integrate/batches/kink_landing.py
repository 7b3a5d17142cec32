"""Kinks of forces in a batch: samples of all lanes, and attempts that are repeated to end at a kink."""

from __future__ import annotations

from runtime.dynamics.layout import OK
from runtime.integrate.batches.forces import set_signals
from runtime.integrate.batches.workspace import BatchWorkspace
from runtime.integrate.dop853_coefficients import STAGES
from runtime.integrate.kink_landing import place_to_end
from runtime.integrate.lane_state import SAMPLES, reject
from runtime.integrate.limit_changes import cubic_of
from runtime.integrate.polynomial import hermite
from runtime.integrate.quintic import put_tie
from runtime.integrate.unseen_kinks import CLOSER_SAMPLE, NEAR, sample_within
from runtime.jit import addresses
from runtime.jit.by_memory import for_memory
from runtime.jit.compilation import columns, inlined
from runtime.jit.pointers import local


@inlined
def call_kinks(address, y, signals, own, out):  # type: ignore[no-untyped-def]
    """Kinks of a force, of all lanes."""
    addresses.call(address, y.ctypes.data, signals.ctypes.data, own.ctypes.data, out.ctypes.data)


@inlined
def sample_lanes(m, fraction, row):  # type: ignore[no-untyped-def]
    """Sample the kinks at a fraction of the steps of all lanes."""
    x = m.forces
    hermite(m.y, m.end, m.k[0], m.k[STAGES], fraction, m.s, m.trial[: m.size[0] * m.W])
    if len(x.varying) > 0:
        for lane in range(m.W):
            time = m.s.time[lane] + fraction * m.s.length[lane]
            set_signals(x, lane, x.own_set[lane], time)
    for k in range(len(x.kinks_by)):
        call_kinks(x.kinks_by[k], m.trial, x.values, x.own, x.kinks[row])


@for_memory(sample_within, BatchWorkspace)
def sample_lane(m, of, lane, fraction, i):  # type: ignore[no-untyped-def]
    """``sample_within``; coordinates are by quintic polynomials."""
    x, h = m.forces, m.s.length[lane]
    for c in range(m.size[0]):
        e = c * m.W + lane
        cubic = cubic_of(m.y[e], m.end[e], m.k[0, e], m.k[STAGES, e], h)
        m.trial[e] = cubic[0] + fraction * (cubic[1] + fraction * (cubic[2] + fraction * cubic[3]))
    for r in range(len(m.ties)):
        q, u = m.ties[r, 0] * m.W + lane, m.ties[r, 1] * m.W + lane
        put_tie(m.y, m.end, m.k[0], m.k[STAGES], q, u, m.ties[r, 2], m.W, h, fraction, m.trial, q, u)
    if len(x.varying) > 0:
        set_signals(x, lane, x.own_set[lane], m.s.time[lane] + fraction * h)
    call_kinks(x.kinks_by[x.kink_of[i // m.W]], m.trial, x.values, x.own, x.kinks[CLOSER_SAMPLE])


@columns
def mark_near(before, here, after, taken, near):  # type: ignore[no-untyped-def]
    """Mark the lanes whose accurate attempts may touch a kink near three samples, as of ``suspected``."""
    for lane in range(len(before)):
        a, b, c = before[lane], here[lane], after[lane]
        bend, rise = a - 2.0 * b + c, 0.5 * (c - a)
        inside = -1.0 if bend >= 0.0 else 1.0
        extent = max(a, max(b, c)) - min(a, min(b, c))
        # Over the bend, without a division: top of the parabola above -NEAR of the extent.
        high = (inside * b + NEAR * extent) * abs(bend) + 0.5 * rise * rise
        marked = taken[lane] if high > 0.0 else 0.0
        near[lane] = max(near[lane], marked if abs(rise) <= abs(bend) else 0.0)


@columns
def count_passed(before, behind):  # type: ignore[no-untyped-def]
    """Number of lanes in which a kink may be passed between two samples."""
    found = 0
    for lane in range(len(before)):
        a, b = before[lane], behind[lane]
        found += 1 if min(a, b) <= 0.0 and max(a, b) >= 0.0 and a != b else 0
    return found


def kink_part(m, special):  # type: ignore[no-untyped-def]
    """Reject accurate attempts that pass a kink, to be repeated up to it; the number of special ones of ``special``.

    Compiled together with the loop it would take time of cases whose forces have none.
    """
    m = local(m)
    x, s, passing = m.forces, m.s, 0
    taken, near = s.accepted, s.near_touch
    for lane in range(m.W):
        near[lane] = 0.0
    for q in range(SAMPLES + 1):
        sample_lanes(m, q / SAMPLES, q)
    for o in range(0, x.kinks.shape[1], m.W):
        for q in range(1, SAMPLES + 1):
            before, here = x.kinks[q - 1, o : o + m.W], x.kinks[q, o : o + m.W]
            passing += count_passed(before, here)
            if q < SAMPLES:
                mark_near(before, here, x.kinks[q + 1, o : o + m.W], taken, near)
    for lane in range(m.W):
        if s.accepted[lane] == 0.0 or s.end_code[lane] != OK:
            continue
        place = place_to_end(m, 0, x.kinks, lane, s.time[lane], s.length[lane], passing > 0, near[lane] > 0.0)
        if place >= 0.0:
            special = reject(s, lane, 2.0, place, special)
    return special
