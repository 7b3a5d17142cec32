"""Contacts in a batch: in which steps one may change its mode, and between which places of them it does.

The rules are those of ``runtime.integrate.switching``.  Limits beside contacts are found with them, numbered before them, by
their coordinates.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics.contact_rules import beyond_mode, left_of_force
from runtime.dynamics.switches import ACTIVE, INACTIVE, SLACK
from runtime.integrate.batches.contact_memory import (
    ELSEWHERE,
    END,
    FADES,
    FRACTION,
    LOWER,
    MODE,
    SOUGHT,
    START,
    UPPER,
)
from runtime.integrate.batches.forces import set_signals
from runtime.integrate.batches.limits import beyond_side, beyond_within, limits_hold, screen_limits
from runtime.integrate.dop853_coefficients import STAGES
from runtime.integrate.landing import CLOSE, CLOSE_TIME, MAX_LANDINGS
from runtime.integrate.limit_changes import ON_SIDE, bends_of, cubic_of
from runtime.integrate.stepping import SAMPLES
from runtime.integrate.switching import CLOSER, CLOSEST, GRAZE, GRAZE_PLANE, LANDED, REFINEMENTS, toward_top, vertex
from runtime.integrate.written.acting_contacts import DEPTH, ELASTIC, FORCE, MEASURED, OVER_RATE, RATE, SLOPE
from runtime.jit import addresses
from runtime.jit.compilation import columns, inlined

NONE = 2.0  # a fraction of the step that is not in it
SWING = 4.0 / 27.0  # of changes by the slopes at both ends: beyond its ends a cubic polynomial is below the sum
MARGIN = 0.05  # of the change in a step: what polynomials of penetration and force may be off between the ends


@inlined
def measure(x, y, signals, own, to):  # type: ignore[no-untyped-def]
    """Measure all contacts of all lanes in states y."""
    addresses.call(x.address[0], y.ctypes.data, signals.ctypes.data, own.ctypes.data, to.ctypes.data)


@inlined
def measure_in_steps(m, fraction, y, to):  # type: ignore[no-untyped-def]
    """``measure`` in states y at a fraction of all steps."""
    f = m.forces
    if len(f.varying) > 0:
        for lane in range(m.W):
            set_signals(f, lane, f.own_set[lane], m.s.time[lane] + fraction * m.s.length[lane])
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
def foremost(m, lane):  # type: ignore[no-untyped-def]
    """Number of the limit or contact of a lane that is farthest beyond its side, and how far [rad], [mm].

    In the state in ``trial``, where contacts were measured.
    """
    x, limits, first, largest = m.contacts, len(m.limits.q), -1, -np.inf
    for k in range(limits):
        over = beyond_side(m.limits, k, lane, m.trial[m.limits.q[k] * m.W + lane])
        if first < 0 or over > largest:
            first, largest = k, over
    for k in range(len(x.places)):
        over = over_in(x, k, x.measured[ELSEWHERE], lane)
        if first < 0 or over > largest:
            first, largest = limits + k, over
    return first, largest


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


@columns
def hermite(y, end, first, last, x, s, to):  # type: ignore[no-untyped-def]
    """States at a fraction of all steps, by cubic Hermite interpolation."""
    for e in range(0, len(to), s.W):
        for lane in range(s.W):
            h, rise = s.length[lane], end[e + lane] - y[e + lane]
            a, b = h * first[e + lane], h * last[e + lane]
            to[e + lane] = y[e + lane] + x * (a + x * (3.0 * rise - 2.0 * a - b + x * (a + b - 2.0 * rise)))


@columns
def add_difference(y, end, first, last, pull, pull_end, x, s, to):  # type: ignore[no-untyped-def]
    """Add the difference of the quintic polynomial of a coordinate to the cubic one; ``pull``: its accelerations at both ends."""
    both = x * x * (1.0 - x) * (1.0 - x)
    for lane in range(s.W):
        h = s.length[lane]
        cubic = cubic_of(y[lane], end[lane], first[lane], last[lane], h)
        bend, tilt = bends_of(cubic, pull[lane], pull_end[lane], h)
        to[lane] += both * (bend + x * tilt)


@inlined
def states_between(m, x):  # type: ignore[no-untyped-def]
    """States at a fraction of all steps, into ``trial``: turns and slides by quintic polynomials, all else by cubic ones."""
    hermite(m.y, m.end, m.k[0], m.k[STAGES], x, m.s, m.trial)
    for i in range(len(m.contacts.slopes)):
        o, a = m.contacts.slopes[i, 0] * m.W, m.contacts.slopes[i, 1] * m.W
        first, last, pull, pull_end = m.k[0, o:], m.k[STAGES, o:], m.k[0, a:], m.k[STAGES, a:]
        add_difference(m.y[o:], m.end[o:], first, last, pull, pull_end, x, m.s, m.trial[o:])


@inlined
def set_between(m, x, lane):  # type: ignore[no-untyped-def]
    """As ``states_between``, for one lane."""
    h, both = m.s.length[lane], x * x * (1.0 - x) * (1.0 - x)
    for e in range(lane, len(m.trial), m.W):
        c0, c1, c2, c3 = cubic_of(m.y[e], m.end[e], m.k[0, e], m.k[STAGES, e], h)
        m.trial[e] = c0 + x * (c1 + x * (c2 + x * c3))
    for i in range(len(m.contacts.slopes)):
        e, a = m.contacts.slopes[i, 0] * m.W + lane, m.contacts.slopes[i, 1] * m.W + lane
        cubic = cubic_of(m.y[e], m.end[e], m.k[0, e], m.k[STAGES, e], h)
        bend, tilt = bends_of(cubic, m.k[0, a], m.k[STAGES, a], h)
        m.trial[e] += both * (bend + x * tilt)


@inlined
def set_signals_at(m, lane, fraction):  # type: ignore[no-untyped-def]
    """Signals of a lane at a fraction of its step."""
    if len(m.forces.varying) > 0:
        time, h = m.s.time[lane], m.s.length[lane]
        set_signals(m.forces, lane, m.forces.own_set[lane], time + fraction * h)


@inlined
def over_at(m, k, lane, fraction):  # type: ignore[no-untyped-def]
    """Distance of number k of a lane beyond the side of its mode [rad], [mm] at a fraction of its step."""
    if k < len(m.limits.q):
        return beyond_within(m.limits, k, lane, fraction)
    set_between(m, fraction, lane)
    set_signals_at(m, lane, fraction)
    measure(m.contacts, m.trial, m.forces.values, m.forces.own, m.contacts.measured[ELSEWHERE])
    return over_in(m.contacts, k - len(m.limits.q), m.contacts.measured[ELSEWHERE], lane)


@inlined
def graze_near(m, lane, k, q):  # type: ignore[no-untyped-def]
    """As of ``switching.graze_near``, near sample q of a lane's step.

    A maximum farther below the change than the samples differ is no sign of one.
    """
    samples = m.contacts.samples
    before, here, after = samples[q - 1, k, lane], samples[q, k, lane], samples[q + 1, k, lane]
    x, top = vertex(q / SAMPLES, 1.0 / SAMPLES, before, here, after)
    near, width, closer = GRAZE if k < len(m.limits.q) else GRAZE_PLANE, 1.0 / SAMPLES, CLOSER
    near = min(near, abs(before - here) + abs(after - here))
    for _ in range(REFINEMENTS):
        if not (0.0 < x < 1.0 and top > -near and width > CLOSEST):
            break
        width *= closer
        before = here = after = 0.0
        for side in range(3):
            place = min(max(x + (side - 1.0) * width, 0.0), 1.0)
            after, here, before = over_at(m, k, lane, place), after, here
            if after > 0.0:
                return place
        x, top, closer = toward_top(x, width, before, here, after)
    return NONE


@inlined
def graze(m, lane):  # type: ignore[no-untyped-def]
    """A fraction of a lane's step at which one is beyond its side although it is not at the samples; NONE if none is."""
    for k in range(m.contacts.samples.shape[1]):
        for q in range(1, SAMPLES):
            place = graze_near(m, lane, k, q)
            if place != NONE:
                return place
    return NONE


@inlined
def landed(h, landings):  # type: ignore[no-untyped-def]
    """As of ``landing.landed``."""
    return LANDED if landings == MAX_LANDINGS - 1 else 1.0 - max(CLOSE, CLOSE_TIME / h)


@inlined
def sample_steps(m):  # type: ignore[no-untyped-def]
    """Distances of all limits and contacts beyond their sides, at places in the steps of the lanes that are sought."""
    x, limits = m.contacts, len(m.limits.q)
    for q in range(SAMPLES + 1):
        of = x.measured[START if q == 0 else END]
        if 0 < q < SAMPLES:
            of = x.measured[ELSEWHERE]
            states_between(m, q / SAMPLES)
            measure_in_steps(m, q / SAMPLES, m.trial, of)
        for lane in range(m.W):
            if x.search[SOUGHT, lane] > 0.0:
                for k in range(limits):
                    x.samples[q, k, lane] = beyond_within(m.limits, k, lane, q / SAMPLES)
                for k in range(len(x.places)):
                    x.samples[q, limits + k, lane] = over_in(x, k, of, lane)


@inlined
def bracket(m, lane):  # type: ignore[no-untyped-def]
    """Fractions of a lane's step between which a limit or contact changes its mode, if one does."""
    x = m.contacts
    x.search[LOWER, lane], x.search[UPPER, lane] = 0.0, NONE
    for q in range(1, SAMPLES + 1):
        for k in range(x.samples.shape[1]):
            if x.samples[q, k, lane] > ON_SIDE:
                x.search[LOWER, lane], x.search[UPPER, lane] = (q - 1.0) / SAMPLES, q / SAMPLES
        if x.search[UPPER, lane] != NONE:
            return
    place = graze(m, lane)
    if place != NONE:
        x.search[LOWER, lane], x.search[UPPER, lane] = max(place - 1.0 / SAMPLES, 0.0), place


@inlined
def find_landed(m):  # type: ignore[no-untyped-def]
    """Find the steps that were cut at a change and end near it: FRACTION is 1 there, and no change is sought in them."""
    x, found = m.contacts, 0
    for lane in range(m.W):
        at_end = x.search[UPPER, lane] == 1.0 and m.s.landings[lane] > 0.0
        if x.search[SOUGHT, lane] > 0.0 and at_end:
            place = landed(m.s.length[lane], m.s.landings[lane])
            set_between(m, place, lane)
            set_signals_at(m, lane, place)
            x.search[FRACTION, lane] = place
            found += 1
    if found == 0:
        return
    measure(x, m.trial, m.forces.values, m.forces.own, x.measured[ELSEWHERE])
    for lane in range(m.W):
        if x.search[SOUGHT, lane] > 0.0 and x.search[FRACTION, lane] < 1.0:
            _, largest = foremost(m, lane)
            if largest <= ON_SIDE:
                x.search[SOUGHT, lane], x.search[FRACTION, lane] = 0.0, 1.0


@inlined
def screen_contacts(m):  # type: ignore[no-untyped-def]
    """Mark the accepted steps in which a mode changes, or that were cut at a change; the number of special lanes.

    Also those at whose end the constants of a limit do not hold.  Contacts were measured at the ends of the attempts.
    """
    x, s, limits, sought, found = m.contacts, m.s, len(m.limits.q), 0, 0
    if limits > 0:
        screen_limits(m)
    for lane in range(m.W):
        x.search[SOUGHT, lane], x.search[UPPER, lane], x.search[FRACTION, lane] = 0.0, NONE, NONE
        if s.accepted[lane] == 1.0:
            suspect = s.landings[lane] > 0.0 or (limits > 0 and s.suspect[lane] > 0.0)
            for k in range(len(x.places)):
                suspect = suspect or is_suspect(x, k, lane, s.length[lane])
            x.search[SOUGHT, lane] = 1.0 if suspect else 0.0
            sought += suspect
    if sought > 0:
        sample_steps(m)
        for lane in range(m.W):
            if x.search[SOUGHT, lane] > 0.0:
                bracket(m, lane)
                x.search[SOUGHT, lane] = 1.0 if x.search[UPPER, lane] != NONE else 0.0
        find_landed(m)
    for lane in range(m.W):
        special = x.search[UPPER, lane] != NONE or s.landings[lane] > 0.0 or not limits_hold(m, lane)
        if special and s.accepted[lane] == 1.0:
            s.special[lane] = 1.0
        if x.search[SOUGHT, lane] > 0.0:
            s.has_outputs[lane] = 1.0
        found += s.special[lane] > 0.0
    return found
