"""Contacts in a batch: what is measured of them, their modes, and in which steps one may change its mode."""

from __future__ import annotations

import numpy as np

from runtime.dynamics.contact_rules import beyond_mode, left_of_force, mode_after, mode_at, touches, without_chatter
from runtime.dynamics.switches import ACTIVE, INACTIVE, SLACK
from runtime.integrate.batches.contact_memory import (
    ACTS,
    ELSEWHERE,
    END,
    FADES,
    IMPACT,
    MODE,
    OF_STATE,
    QUICK,
    READY,
    RUBS,
    SINCE,
    SPEED,
    START,
)
from runtime.integrate.batches.forces import set_signals
from runtime.integrate.lane_state import SAMPLES
from runtime.integrate.limit_changes import ON_SIDE
from runtime.integrate.surfaces import set_active, vertex
from runtime.integrate.written.acting_contacts import DEPTH, ELASTIC, FORCE, MEASURED, OVER_RATE, POTENTIAL, RATE, SLOPE
from runtime.jit import addresses
from runtime.jit.compilation import columns, inlined

SWING = 4.0 / 27.0  # of changes by the slopes at both ends: beyond its ends a cubic polynomial is below the sum
MARGIN = 0.05  # of the change in a step: what polynomials of penetration and force may be off between the ends


@inlined
def measure(x, y, signals, own, to):  # type: ignore[no-untyped-def]
    """Measure all contacts of all lanes in states y."""
    addresses.call(x.address[0], y.ctypes.data, signals.ctypes.data, own.ctypes.data, to.ctypes.data)


@inlined
def measure_states(m, y, to):  # type: ignore[no-untyped-def]
    """Measure all contacts of all lanes in states y, at fractions ``s.at`` of their steps."""
    f = m.forces
    if len(f.varying) > 0:
        for lane in range(m.W):
            set_signals(f, lane, f.own_set[lane], m.s.time[lane] + m.s.at[lane] * m.s.length[lane])
    measure(m.contacts, y, f.values, f.own, to)


@inlined
def place_of(x, k, lane):  # type: ignore[no-untyped-def]
    """Place of the first number of contact k among those measured of a lane."""
    return k * MEASURED * x.W + lane


@inlined
def left_in(x, k, mode, of, lane):  # type: ignore[no-untyped-def]
    """As of ``contact_rules.left_of_force`` of contact k of a lane, by what was measured."""
    at = place_of(x, k, lane)
    law = of[at + FORCE * x.W], of[at + ELASTIC * x.W], of[at + OVER_RATE * x.W], of[at + SLOPE * x.W]
    depth, rate = of[at + DEPTH * x.W], of[at + RATE * x.W]
    return left_of_force(x.places[k, FADES], mode == SLACK, depth, rate, law, x.resolution[0])


@inlined
def over_in(x, k, of, lane):  # type: ignore[no-untyped-def]
    """Distance of contact k of a lane beyond the side of its mode [mm]."""
    at, mode = place_of(x, k, lane), int(x.state[k, MODE, lane])
    left = 0.0 if mode == INACTIVE else left_in(x, k, mode, of, lane)
    return 1e3 * beyond_mode(mode, x.places[k, FADES], of[at + DEPTH * x.W], of[at + RATE * x.W], left)


@inlined
def is_suspect(x, k, lane, h):  # type: ignore[no-untyped-def]
    """Whether contact k of a lane may change its mode in a step, by what was measured at its ends.

    The penetration between them is a cubic polynomial; the force follows it as the tangents of its law at the ends do.
    """
    mode, at, of, to = int(x.state[k, MODE, lane]), place_of(x, k, lane), x.measured[START], x.measured[END]
    if not (mode == INACTIVE or mode == ACTIVE) or not over_in(x, k, to, lane) <= ON_SIDE:
        return True
    a, b, r, s = of[at], to[at], h * of[at + RATE * x.W], h * to[at + RATE * x.W]
    c2, c3, fades = 3.0 * (b - a) - 2.0 * r - s, 2.0 * (a - b) + r + s, x.places[k, FADES] == 1
    sweep = MARGIN * (abs(b - a) + abs(r) + abs(s))
    if mode == INACTIVE and max(a, b) + SWING * (abs(r) + abs(s)) < -sweep:
        return False  # most contacts
    sign = 1.0 if mode == INACTIVE else -1.0
    before = here = sign * a
    for q in range(1, SAMPLES + 1):
        p = q / SAMPLES
        depth, rate = a + p * (r + p * (c2 + p * c3)), (r + p * (2.0 * c2 + p * 3.0 * c3)) / h
        if mode == ACTIVE:
            left, size = by_tangents(x, of, to, at, depth, rate, fades)
            if not left > MARGIN * size:
                return True
        if mode == INACTIVE or fades:
            after = sign * depth
            place, top = vertex(1.0, 1.0, before, here, after)
            if (q < SAMPLES and after > -sweep) or (q > 1 and place >= 0.0 and top > -sweep):
                return True
            before, here = here, after
    return False


@inlined
def by_tangents(x, of, to, at, depth, rate, fades):  # type: ignore[no-untyped-def]
    """The force of a contact at a penetration and rate by the tangents of its law at both ends of a step, and its size there.

    Where damping fades: as parts of the elastic force; the least of both ends.  Elsewhere the largest: laws are convex.
    """
    found, most = -np.inf, 0.0
    for side in range(2):
        m = of if side == 0 else to
        force, elastic, over_rate = m[at + FORCE * x.W], m[at + ELASTIC * x.W], m[at + OVER_RATE * x.W]
        then, size = force + over_rate * (rate - m[at + RATE * x.W]), abs(elastic) + abs(over_rate * rate)
        if not fades:
            found = max(found, then + m[at + SLOPE * x.W] * (depth - m[at + DEPTH * x.W]))
            most = max(most, size)
        elif elastic != 0.0:
            found = then / elastic if found == -np.inf else min(found, then / elastic)
            most = max(most, size / abs(elastic))
    return found, most


@inlined
def set_mode(x, k, lane, now, state, own):  # type: ignore[no-untyped-def]
    """Give a contact a mode; ``state`` and ``own``: of the lanes, or of the cases that are ready."""
    state[k, MODE, lane] = now
    own[x.places[k, ACTS], lane] = 1.0 if touches(now) else 0.0
    own[x.places[k, RUBS], lane] = 1.0 if now == ACTIVE else 0.0


@inlined
def keep_event(x, case, time, k, began, speed):  # type: ignore[no-untyped-def]
    """Store a touch-down or lift-off of a case; False if there is no room."""
    if x.found[case] >= x.events.shape[1]:
        return False
    row = x.events[case, x.found[case]]
    row[0], row[1], row[2], row[3] = time, k, began, speed
    x.found[case] += 1
    return True


@inlined
def touch_down(x, k, lane, state, own, rate):  # type: ignore[no-untyped-def]
    """Keep the speed of a touch-down; ``state`` and ``own``: of the lanes, or of the cases that are ready."""
    state[k, SPEED, lane] = max(rate, x.least[k])
    if x.places[k, IMPACT] >= 0:
        own[x.places[k, IMPACT], lane] = state[k, SPEED, lane]


@inlined
def change_contact(m, k, lane, time):  # type: ignore[no-untyped-def]
    """As of ``switching.change_contact``: potential that the change added [J], and whether its event was stored."""
    x, of, at = m.contacts, m.contacts.measured[ELSEWHERE], place_of(m.contacts, k, lane)
    mode, depth, rate = int(x.state[k, MODE, lane]), of[at + DEPTH * m.W], of[at + RATE * m.W]
    left = 0.0 if mode == INACTIVE else left_in(x, k, mode, of, lane)
    now = mode_after(mode, depth, rate, left)
    if now == mode:
        return 0.0, True
    since, quick = x.state[k, SINCE, lane], x.state[k, QUICK, lane]
    now, x.state[k, QUICK, lane] = without_chatter(mode, now, rate, time - since, quick)
    x.state[k, SINCE, lane] = time
    set_mode(x, k, lane, now, x.state, m.forces.own)
    began = touches(now)
    if began == touches(mode):
        return 0.0, True
    if mode == INACTIVE:
        touch_down(x, k, lane, x.state, m.forces.own, rate)
    stored = keep_event(
        x, m.case[lane], time, k, 1.0 if began else 0.0, x.state[k, SPEED, lane] if began else abs(rate)
    )
    return of[at + POTENTIAL * m.W] * (1.0 if began else -1.0), stored


@inlined
def ready_contacts(m, begin):  # type: ignore[no-untyped-def]
    """First modes of the contacts of the cases that are ready; one that is closed counts as a touch-down at the start."""
    x, f, count = m.contacts, m.forces, m.queue[2]
    for lane in range(m.W):
        if len(f.varying) > 0:
            set_signals(f, lane, f.waiting_set[lane], begin)
        if lane < count:
            x.found[m.queue[1] + lane] = 0
    measure(x, m.ready_y, f.values, f.waiting, x.measured[READY])
    for lane in range(count):
        for k in range(len(x.places)):
            begin_contact(m, k, lane, begin)
    measure(x, m.ready_y, f.values, f.waiting, x.measured[READY])


@inlined
def begin_contact(m, k, lane, begin):  # type: ignore[no-untyped-def]
    """First mode of contact k of a case that is ready."""
    x, of, own = m.contacts, m.contacts.measured[READY], m.forces.waiting
    at = place_of(x, k, lane)
    depth, rate = of[at + DEPTH * m.W], of[at + RATE * m.W]
    now = mode_at(depth, rate, left_in(x, k, INACTIVE, of, lane) if depth > 0.0 else 0.0)
    x.waiting[k, QUICK, lane], x.waiting[k, SINCE, lane] = 0.0, -np.inf if now == INACTIVE else begin
    set_mode(x, k, lane, now, x.waiting, own)
    if now == ACTIVE:
        touch_down(x, k, lane, x.waiting, own, rate)
        keep_event(x, m.queue[1] + lane, begin, k, 1.0, x.waiting[k, SPEED, lane])


@inlined
def begin_contacts(m, lane, r):  # type: ignore[no-untyped-def]
    """Give a lane the contacts of a case that is ready, whose parameters it has."""
    x = m.contacts
    for k in range(len(x.places)):
        for c in range(OF_STATE):
            x.state[k, c, lane] = x.waiting[k, c, r]
    of, to = x.measured[READY], x.measured[START]
    for c in range(0, len(of), m.W):
        to[c + lane] = of[c + r]
    m.s.landings[lane] = 0.0
    m.s.cuts[lane] = m.s.sliding[lane] = 0.0
    m.s.usual[lane] = m.s.usual_active[lane] = 0.0
    set_active(m, 0, lane)


@columns
def keep_measured(start, end, s):  # type: ignore[no-untyped-def]
    """Begin the next step of the contacts where one was accepted."""
    for o in range(0, len(start), s.W):
        for lane in range(s.W):
            before, then = start[o + lane], end[o + lane]
            start[o + lane] = then if s.accepted[lane] == 1.0 else before
