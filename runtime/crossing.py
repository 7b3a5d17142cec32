"""Where a step of the integrator changes the side of a limit of motion or of a contact.

Where a direction leaves its cone, or a sphere meets its plane, the force begins with a bend or a jump that an error estimate
would find by many rejected steps.  So throughout a step each of them is taken in one way; the step in which one changes sides
is taken again, up to there.
"""

from __future__ import annotations

import numpy as np

from runtime.contacts import APART, LEAVING, PENETRATION, PENETRATION_RATE, SLACK, TOUCHING, contact_over, touch
from runtime.equations import OK, place_bodies
from runtime.kernels import inlined
from runtime.limits import AS_FOUND, FREE, HELD, outside
from runtime.stepping import FOUND, LENGTH, LOOKS, T_OLD, between_ends, interpolate, prepare_dense

ON_SIDE = 1e-9  # [rad] or [mm] this near, a direction is on its cone, where the moment is below 1e-13 of its maximum
SURE = 1e-10  # [mm] how near a contact's change is looked for
NEAR_PLANE = 1e-9  # [m]
CHATTER = 1e-8  # [s] a contact that is slack for so short a time only is about to be so again and again
FINDS = 40  # steps of the search for the crossing
GRAZE, GRAZE_PLANE = 0.01, 10.0  # [rad], [mm] what seems to come this near between two looks is looked at there
BACK = 0.99  # of a step: with its end, it tells when something changed near the end
NEARER = 3  # times, each with a tenth of the distance between looks


@inlined
def over_at(y, t, w, out):  # type: ignore[no-untyped-def]
    """How far every limit and contact is on the other side than it is taken for, in a state."""
    place_bodies(y, t, w)
    outside(t, w, out)
    for k in range(len(w.limits.mode)):
        if w.limits.mode[k] == HELD:
            out[k] = -out[k]
    contact_over(t, w, out)


@inlined
def first_sides(s, t, w):  # type: ignore[no-untyped-def]
    """Take everything as it is a little after the start, whose derivative is known: so nothing lies on its cone or plane."""
    for i in range(len(s.y)):
        s.trial[i] = s.y[i] + 1e-6 * s.begin[i]
    over_at(s.trial, t, w, s.over)
    for k in range(len(w.limits.mode)):
        w.limits.mode[k] = FREE if s.over[k] < 0.0 else HELD
    for k in range(len(w.contacts.mode)):
        w.contacts.mode[k] = found_side(k, t, w)
    over_at(s.trial, t, w, s.over)
    for k in range(len(s.over)):
        s.seen[0, k] = s.over[k]  # the first step begins there


@inlined
def found_side(k, t, w):  # type: ignore[no-untyped-def]
    """How contact k, which is taken as it is found, is."""
    if touch(k, t, w):
        return TOUCHING
    return SLACK if w.contacts.told[k, PENETRATION] > 0.0 else APART


@inlined
def change_sides(s, t, w, landing, at_start):  # type: ignore[no-untyped-def]
    """Take what changed sides in the last step as it is now, at its end, or at its start; how many contacts did.

    A step that was to end at a change has made it.
    """
    near = -10.0 * ON_SIDE if landing else ON_SIDE
    limits = len(w.limits.mode)
    over_at(s.y, t, w, s.over)
    changes = contacts = 0
    for k in range(len(s.over)):
        s.seen[0, k] = s.over[k]  # the next step begins there
        changes += s.over[k] > near or as_found(k, w)
    if changes == 0:
        return 0
    if not at_start:
        prepare_dense(s, t, w)  # now, while all is as it was in the step
        interpolate(s, s.time[T_OLD] + BACK * s.time[LENGTH], s.trial)
        over_at(s.trial, t, w, s.seen[1])
        over_at(s.y, t, w, s.over)
    for k in range(len(s.over)):
        if not (s.over[k] > near or as_found(k, w)):
            continue
        if k < limits:
            free = s.over[k] < 0.0 if w.limits.mode[k] == AS_FOUND else w.limits.mode[k] == HELD
            w.limits.mode[k] = FREE if free else HELD
            continue
        time = s.time[T_OLD]
        if not at_start:
            # The secant tells the time of the change to more digits than the end of a step near it.
            now, before = s.over[k], s.seen[1, k]
            late = (1.0 - BACK) * now / (now - before) if now > before else 0.0
            time += s.time[LENGTH] * (1.0 - late)
        change_contact(k - limits, time, s, t, w)
        contacts += 1
    over_at(s.y, t, w, s.over)
    for k in range(len(s.over)):
        s.seen[0, k] = s.over[k]
    return contacts


@inlined
def as_found(k, w):  # type: ignore[no-untyped-def]
    """The limit or contact is taken as it is found."""
    limits = len(w.limits.mode)
    return w.limits.mode[k] == AS_FOUND if k < limits else w.contacts.mode[k - limits] == AS_FOUND


@inlined
def change_contact(k, time, s, t, w):  # type: ignore[no-untyped-def]
    """Take contact k as it is after a change, and write down when it began or ceased to touch."""
    m, mode, told = w.contacts, w.contacts.mode[k], w.contacts.told[k]
    inside, speed = 1e3 * told[PENETRATION] > ON_SIDE, told[PENETRATION_RATE]
    # On the way out, a force that ends on the plane has ended, though the step ends a little before it.
    out = speed < 0.0 and told[PENETRATION] < NEAR_PLANE and t.contacts.fades[k] == 1
    if mode == AS_FOUND:
        mode, m.mode[k] = m.was[k], found_side(k, t, w)
        if out:
            m.mode[k] = APART
    elif mode == TOUCHING:
        m.mode[k], m.since[k] = SLACK if inside and not out else APART, time
    elif mode == SLACK and inside and time - m.since[k] < CHATTER:
        m.mode[k] = LEAVING
    else:
        m.mode[k] = TOUCHING if mode == APART or inside else APART
    began = m.mode[k] == TOUCHING
    if began == (mode == TOUCHING):
        return
    if began and t.contacts.impact[k] >= 0:
        m.normal[k, t.contacts.impact[k]] = max(speed, t.contacts.least_impact[k])
    row = s.found[s.counts[FOUND]]
    row[0], row[1], row[2], row[3] = time, k, 1.0 if began else 0.0, abs(speed)
    s.counts[FOUND] += 1


@inlined
def held(w):  # type: ignore[no-untyped-def]
    """1 if a limit is not free or a contact touches."""
    for k in range(len(w.limits.mode)):
        if w.limits.mode[k] != FREE:
            return 1
    for k in range(len(w.contacts.mode)):
        if w.contacts.mode[k] == TOUCHING:
            return 1
    return 0


@inlined
def take_as_found(w):  # type: ignore[no-untyped-def]
    """Let every evaluation see for itself."""
    for k in range(len(w.limits.mode)):
        w.limits.mode[k] = AS_FOUND
    for k in range(len(w.contacts.mode)):
        w.contacts.was[k], w.contacts.mode[k] = w.contacts.mode[k], AS_FOUND


@inlined
def crossed(s):  # type: ignore[no-untyped-def]
    """The largest of ``s.over``."""
    largest = -np.inf
    for k in range(len(s.over)):
        largest = max(largest, s.over[k])
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
            # The secant, kept well inside the bracket.
            x = 0.5 * (lower + upper)
            if value_lower < 0.0 < value_upper:
                x = lower - value_lower * (upper - lower) / (value_upper - value_lower)
                x = min(max(x, lower + 1e-3 * (upper - lower)), upper - 1e-3 * (upper - lower))
            interpolate(s, s.time[T_OLD] + x * s.time[LENGTH], s.trial)
        over_at(s.trial, t, w, s.over)
        value = crossed(s)
        if upper == 2.0:
            for k in range(len(s.over)):
                s.seen[q, k] = s.over[k]
            if value > (ON_SIDE if q == LOOKS else 0.0):
                lower, upper = (q - 1.0) / LOOKS, x
            elif q == LOOKS:
                upper = graze(s, t, w)
                if upper == 2.0:
                    return 2.0
                lower = max(upper - 1.0 / LOOKS, 0.0)
            if upper < 2.0 and prepare_dense(s, t, w) != OK:
                return 2.0
        elif abs(value) <= (SURE if len(w.contacts.mode) > 0 else ON_SIDE):
            return x
        elif value > 0.0:
            upper, value_upper = x, value
        else:
            lower, value_lower = x, value
    return upper
