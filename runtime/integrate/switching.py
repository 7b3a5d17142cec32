"""Where a step of the integrator changes the side of a limit of motion or of a contact.

Where a direction leaves its cone, or a sphere meets its plane, the force begins with a bend or a jump that an error estimate
would find by many rejected steps.  So throughout a step each of them is taken in one way; the step in which one changes sides
is taken again, up to there.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics.contacts import (
    APART,
    LEAVING,
    PENETRATION,
    PENETRATION_RATE,
    SLACK,
    TOUCHING,
    contact_over,
    force_left,
    measure,
    place_contacts,
)
from runtime.dynamics.kinematics import update_bodies
from runtime.dynamics.layout import OK
from runtime.dynamics.limits import ACTIVE, AUTO, INACTIVE, outside
from runtime.integrate.stepping import FOUND, LENGTH, LOOKS, T_OLD, T, between_ends, interpolate, prepare_dense
from runtime.jit.cache import inlined

ON_SIDE = 1e-9  # [rad] or [mm] this near, a direction is on its cone, where the moment is below 1e-13 of its maximum
TOLERANCE = 1e-10  # [mm] how near a contact's change is looked for
CHATTER = 1e-5  # [s] so soon after it a change is quick
MAX_QUICK = 2  # in a row: a contact that then regains its force is about to lose and regain it without end
FINDS = 40  # steps of the search for the crossing
GRAZE, GRAZE_PLANE = 0.01, 10.0  # [rad], [mm] what seems to come this near between two looks is looked at there
NEARER = 3  # times, each with a tenth of the distance between looks


@inlined
def over_at(y, t, w, out):  # type: ignore[no-untyped-def]
    """How far every limit and contact is on the other side than it is taken for, in a state."""
    update_bodies(y, t, w)
    outside(t, w, out)
    for k in range(len(w.limits.mode)):
        if w.limits.mode[k] == ACTIVE:
            out[k] = -out[k]
    contact_over(t, w, out)


@inlined
def first_sides(s, t, w):  # type: ignore[no-untyped-def]
    """Take every limit as it is a little after the start, whose derivative is known: so nothing lies on its cone."""
    for i in range(len(s.y)):
        s.trial[i] = s.y[i] + 1e-6 * s.begin[i]
    over_at(s.trial, t, w, s.over)
    for k in range(len(w.limits.mode)):
        w.limits.mode[k] = INACTIVE if s.over[k] < 0.0 else ACTIVE
    over_at(s.trial, t, w, s.over)
    for k in range(len(s.over)):
        s.seen[0, k] = s.over[k]  # the first step begins there


@inlined
def first_contacts(s, t, w):  # type: ignore[no-untyped-def]
    """Take every contact as it is at the start: what touches touches down there."""
    update_bodies(s.y, t, w)
    place_contacts(t, w)
    for k in range(len(w.contacts.mode)):
        measure(k, t, w)
        change_contact(k, s.time[T], s, t, w)


@inlined
def found_side(k, t, w):  # type: ignore[no-untyped-def]
    """How contact k, which is taken as it is found, is; on its plane, it touches if it moves in."""
    m, outputs = w.contacts, w.contacts.outputs[k]
    if abs(1e3 * outputs[PENETRATION]) <= ON_SIDE:
        return TOUCHING if outputs[PENETRATION_RATE] > 0.0 else APART
    if outputs[PENETRATION] < 0.0:
        return APART
    return TOUCHING if force_left(k, t.contacts, m) > 0.0 else SLACK


@inlined
def next_side(k, t, w):  # type: ignore[no-untyped-def]
    """How contact k is after the change to which it came."""
    m, outputs, mode = w.contacts, w.contacts.outputs[k], w.contacts.mode[k]
    if mode == APART:
        return TOUCHING
    depth, left = outputs[PENETRATION], force_left(k, t.contacts, m)
    if mode == SLACK:
        return TOUCHING if left > -depth else APART
    if mode == LEAVING and outputs[PENETRATION_RATE] > -min(left, depth):
        return TOUCHING
    return SLACK if depth > left else APART


@inlined
def change_sides(s, t, w, landing, at, first):  # type: ignore[no-untyped-def]
    """Take what changed sides in the last step as it is now, at its end, or at its start; how many contacts did.

    ``at`` [s] is that time.  A step that was to end at a change has made it; ``first`` is what changes at the start, or -1.
    """
    near = -10.0 * ON_SIDE if landing else ON_SIDE
    limits = len(w.limits.mode)
    over_at(s.y, t, w, s.over)
    changes = contacts = 0
    for k in range(len(s.over)):
        s.seen[0, k] = s.over[k]  # the next step begins there
        changes += s.over[k] > near or as_found(k, w) or k == first
    if changes == 0:
        return 0
    if first < 0:
        prepare_dense(s, t, w)  # now, while all is as it was in the step
        over_at(s.y, t, w, s.over)
    for k in range(len(s.over)):
        if not (s.over[k] > near or as_found(k, w) or k == first):
            continue
        if k < limits:
            free = s.over[k] < 0.0 if w.limits.mode[k] == AUTO else w.limits.mode[k] == ACTIVE
            w.limits.mode[k] = INACTIVE if free else ACTIVE
            continue
        change_contact(k - limits, at, s, t, w)
        contacts += 1
    over_at(s.y, t, w, s.over)
    for k in range(len(s.over)):
        s.seen[0, k] = s.over[k]
    return contacts


@inlined
def as_found(k, w):  # type: ignore[no-untyped-def]
    """The limit or contact is taken as it is found."""
    limits = len(w.limits.mode)
    return w.limits.mode[k] == AUTO if k < limits else w.contacts.mode[k - limits] == AUTO


@inlined
def change_contact(k, time, s, t, w):  # type: ignore[no-untyped-def]
    """Take contact k as it is after a change, and write down when it began or ceased to touch."""
    m, mode, rate = w.contacts, w.contacts.mode[k], w.contacts.outputs[k, PENETRATION_RATE]
    if mode == AUTO:
        mode, now = m.was[k], found_side(k, t, w)
    else:
        now = next_side(k, t, w)
    if now == mode:
        m.mode[k] = now
        return
    m.quick[k] = m.quick[k] + 1 if time - m.since[k] < CHATTER and now != APART and mode != APART else 0
    m.since[k] = time
    if now == TOUCHING and mode == SLACK and rate < 0.0 and m.quick[k] >= MAX_QUICK:
        now = LEAVING
    m.mode[k] = now
    began = now == TOUCHING or now == LEAVING
    if began == (mode == TOUCHING or mode == LEAVING):
        return
    if mode == APART:
        m.speed[k] = max(rate, t.contacts.least_impact[k] if t.contacts.impact[k] >= 0 else 0.0)
        if t.contacts.impact[k] >= 0:
            m.normal[k, t.contacts.impact[k]] = m.speed[k]
    row = s.found[s.counts[FOUND]]
    row[0], row[1], row[2], row[3] = time, k, 1.0 if began else 0.0, m.speed[k] if began else abs(rate)
    s.counts[FOUND] += 1


@inlined
def held(w):  # type: ignore[no-untyped-def]
    """1 if a limit is not free or a contact touches."""
    for k in range(len(w.limits.mode)):
        if w.limits.mode[k] != INACTIVE:
            return 1
    for k in range(len(w.contacts.mode)):
        if w.contacts.mode[k] == TOUCHING or w.contacts.mode[k] == LEAVING:
            return 1
    return 0


@inlined
def take_as_found(w):  # type: ignore[no-untyped-def]
    """Let every evaluation see for itself."""
    for k in range(len(w.limits.mode)):
        w.limits.mode[k] = AUTO
    for k in range(len(w.contacts.mode)):
        w.contacts.was[k], w.contacts.mode[k] = w.contacts.mode[k], AUTO


@inlined
def crossed(s):  # type: ignore[no-untyped-def]
    """The largest of ``s.over``."""
    largest = -np.inf
    for k in range(len(s.over)):
        largest = max(largest, s.over[k])
    return largest


@inlined
def foremost(s):  # type: ignore[no-untyped-def]
    """Which of ``s.over`` is the largest."""
    largest = 0
    for k in range(len(s.over)):
        if s.over[k] > s.over[largest]:
            largest = k
    return largest


@inlined
def vertex(x, width, before, here, after):  # type: ignore[no-untyped-def]
    """Where a parabola through three values at x - width, x and x + width is largest, or -1; and how large."""
    bend, rise = before - 2.0 * here + after, 0.5 * (after - before)
    if not (bend < 0.0 and abs(rise) <= -bend):
        return -1.0, 0.0
    return x - width * rise / bend, here - 0.5 * rise * rise / bend


@inlined
def graze(s, t, w):  # type: ignore[no-untyped-def]
    """A fraction of the last step at which one is on the other side although it is not at the looks; 2 if none is.

    Where a parabola through three looks comes near the change, three nearer looks tell better, and so on.
    """
    for k in range(len(s.over)):
        if as_found(k, w):
            continue
        for q in range(1, LOOKS):
            x, top = vertex(q / LOOKS, 1.0 / LOOKS, s.seen[q - 1, k], s.seen[q, k], s.seen[q + 1, k])
            width = 1.0 / LOOKS
            for _ in range(NEARER):
                if not (0.0 < x < 1.0 and top > (-GRAZE if k < len(w.limits.mode) else -GRAZE_PLANE)):
                    break
                width *= 0.1
                before = here = after = 0.0
                for side in range(3):
                    place = min(max(x + (side - 1.0) * width, 0.0), 1.0)
                    between_ends(s, place, s.trial)
                    over_at(s.trial, t, w, s.over)
                    after, here, before = s.over[k], after, here
                    if after > 0.0:
                        return place
                x, top = vertex(x, width, before, here, after)
    return 2.0


@inlined
def first_crossing(s, t, w):  # type: ignore[no-untyped-def]
    """The fraction of the last step at which one is first on the other side than it is taken for; 2 if none is.

    Looked for at the end, at places between and where one seems to graze its change; then found on the dense output.
    ``s.trial`` is memory.
    """
    lower, upper, value_lower, value_upper = 0.0, 2.0, 0.0, 0.0
    for q in range(1, LOOKS + FINDS + 1):
        if upper == 2.0:
            x = q / LOOKS
            between_ends(s, x, s.trial)
        else:
            # The secant, kept well inside the bracket, and every other time its middle: where two meet there are bends.
            x = 0.5 * (lower + upper)
            if value_lower < 0.0 < value_upper and q % 2 == 0:
                x = lower - value_lower * (upper - lower) / (value_upper - value_lower)
                x = min(max(x, lower + 1e-3 * (upper - lower)), upper - 1e-3 * (upper - lower))
            interpolate(s, s.time[T_OLD] + x * s.time[LENGTH], s.trial)
        over_at(s.trial, t, w, s.over)
        value = crossed(s)
        if upper == 2.0:
            for k in range(len(s.over)):
                s.seen[q, k] = s.over[k]
            if value > ON_SIDE:
                lower, upper = (q - 1.0) / LOOKS, x
            elif q == LOOKS:
                upper = graze(s, t, w)
                if upper == 2.0:
                    return 2.0
                lower = max(upper - 1.0 / LOOKS, 0.0)
            if upper < 2.0 and prepare_dense(s, t, w) != OK:
                return 2.0
        elif abs(value) <= (TOLERANCE if len(w.contacts.mode) > 0 else ON_SIDE):
            return x
        elif value > 0.0:
            upper, value_upper = x, value
        else:
            lower, value_lower = x, value
    return upper
