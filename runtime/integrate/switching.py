"""Switching of joint limits and contacts: location of a change of mode within a step, and the new mode.

Where a direction leaves its cone, or passes the end of the law of its limit, or a sphere meets its plane, the force has a bend
or a jump, which an error estimate would locate by many rejected steps, or overlook. Therefore each limit and contact keeps its
mode throughout a step; a step in which one of them switches is repeated up to the change.
"""

from __future__ import annotations

from runtime.dynamics import limit_modes
from runtime.dynamics.contact_rules import mode_after, mode_at
from runtime.dynamics.contacts import (
    PENETRATION,
    PENETRATION_RATE,
    force_left,
    measure,
    normal_force,
    place_contacts,
)
from runtime.dynamics.kinematics import is_of_tree, update_poses
from runtime.dynamics.layout import OK, OVER
from runtime.dynamics.limits import PENDING
from runtime.dynamics.limits_along import HERE, at_ridge, change_limit, is_at_ridge, keep_sides, over_along, set_sides
from runtime.dynamics.places import CONTACTS, LIMITS
from runtime.dynamics.switches import ACTIVE, AUTO, FULL, INACTIVE, LEAVING, SLACK
from runtime.integrate.dense_output import prepare_step, state_within
from runtime.integrate.limit_changes import ON_SIDE, bends_of, cubic_of, passes
from runtime.integrate.stepping import SAMPLES, between_ends
from runtime.jit.compilation import inlined
from runtime.jit.pointers import call_at

LANDED = 0.9  # of a step that was cut at a change of limits: from here on a change counts as one at its end
ON_PLANE = 1e-3 * ON_SIDE  # [m]
TOLERANCE = 1e-10  # [mm] of the location of a contact's change
CHATTER = 1e-5  # [s] a change sooner than this after the one before is quick
ELASTIC_ENERGY = 0  # of the outputs of a normal law
MAX_QUICK = 2  # quick changes in a row, after which a contact would lose and regain its force without end
MAX_ITERATIONS = 40  # of the location of a change
GRAZE, GRAZE_PLANE = 0.01, 10.0  # [rad], [mm] a change that seems to come so near between two samples is sampled there
REFINEMENTS = 6  # of these samples at most
CLOSER, CLOSEST = 0.1, 1e-3  # factor of the distance between samples in a refinement; the least distance, of the step
ROUGHLY = 0.1  # of these: between the ends of a step states are known so well without the dense output


@inlined
def over_at(y, t, w):  # type: ignore[no-untyped-def]
    """Fill ``Switches.over`` in a state."""
    if len(w.tree.limits.q) > 0:
        over_along(y, w)
        return
    update_poses(y, t, w)
    if len(t.limits.kind) > 0:
        call_at(w.address[LIMITS], 0.0, y, t, w, OVER, y)
    if len(t.contacts.law) > 0:
        call_at(w.address[CONTACTS], 0.0, y, t, w, OVER, y)


@inlined
def first_modes(m, t, w):  # type: ignore[no-untyped-def]
    """Initial mode of every limit, a little after the start so that no direction lies on its cone."""
    for i in range(len(m.y)):
        m.trial[i] = m.y[i] + 1e-6 * m.begin[i]
    over_at(m.trial, t, w)
    for k in range(len(w.limits.mode)):
        w.limits.mode[k], w.limits.kept[k, 0] = limit_modes.mode_of(w.limits.beyond[k], t.limits.compliance[k]), PENDING
    set_sides(m.y, t, w)
    over_at(m.trial, t, w)
    for k in range(len(w.switches.over)):
        m.sampled[0, k] = w.switches.over[k]  # the first step begins there


@inlined
def first_contacts(m, t, w):  # type: ignore[no-untyped-def]
    """Initial mode of every contact; a contact that is closed at the start counts as a touch-down there."""
    update_poses(m.y, t, w)
    place_contacts(t, w)
    for k in range(len(w.contacts.mode)):
        measure(k, t, w)
        change_contact(k, m.s.time[0], m, t, w)
        w.contacts.released[k] = 0.0  # part of the energy at the start


@inlined
def mode_now(k, t, w):  # type: ignore[no-untyped-def]
    """Mode of contact k by its penetration and force."""
    m, outputs = w.contacts, w.contacts.outputs[k]
    left = force_left(k, t.contacts, m) if outputs[PENETRATION] > 0.0 else 0.0
    return mode_at(outputs[PENETRATION], outputs[PENETRATION_RATE], left, ON_PLANE)


@inlined
def next_mode(k, t, w):  # type: ignore[no-untyped-def]
    """Mode of contact k after the change that was located."""
    m, outputs, mode = w.contacts, w.contacts.outputs[k], w.contacts.mode[k]
    left = 0.0 if mode == INACTIVE else force_left(k, t.contacts, m)
    return mode_after(mode, outputs[PENETRATION], outputs[PENETRATION_RATE], left)


@inlined
def change_modes(m, t, w, landing, at, first):  # type: ignore[no-untyped-def]
    """Set the modes of what switched at the end of the last step, or its start; number of those whose force may jump.

    ``at`` [s] is that time.  ``landing``: the step was cut to end at a change.
    ``first``: index of the change at the start, or -1.
    """
    near = -10.0 * ON_SIDE if landing else ON_SIDE
    limits = len(w.limits.mode)
    over_at(m.y, t, w)
    changes = jumps = 0
    for k in range(len(w.switches.over)):
        m.sampled[0, k] = w.switches.over[k]  # the next step begins there
        changed = w.switches.over[k] > near or w.switches.mode[k] == AUTO or k == first
        changes += changed
        jumps += changed and is_at_ridge(k, m.y, w)
    if changes == 0:
        return 0
    if first < 0 and (jumps > 0 or not constants_are_kept(m, w)):
        prepare_step(m, t, w)  # with the modes of the step
        over_at(m.y, t, w)
    for k in range(len(w.switches.over)):
        if not (w.switches.over[k] > near or w.switches.mode[k] == AUTO or k == first):
            continue
        if k < limits:
            change_limit(k, m.y, t, w)
            continue
        change_contact(k - limits, at, m, t, w)
        jumps += 1
    forget_constants(w)
    set_sides(m.y, t, w)
    over_at(m.y, t, w)
    for k in range(len(w.switches.over)):
        m.sampled[0, k] = w.switches.over[k]
    return jumps


@inlined
def constants_are_kept(m, w):  # type: ignore[no-untyped-def]
    """Whether the dense output of the last step may be prepared after a change of modes: by constants of limits of coordinates.

    They are those of the step until the next one begins.
    """
    return w.tree.limits.ready[0] > 0 and is_of_tree(m.y, w)


@inlined
def forget_constants(w):  # type: ignore[no-untyped-def]
    """Find the constants of limits of coordinates anew at the next step, as modes change now."""
    w.tree.limits.ready[0] = min(w.tree.limits.ready[0], HERE)


@inlined
def change_contact(k, time, m, t, w):  # type: ignore[no-untyped-def]
    """Set the mode of contact k after a change, and store a touch-down or lift-off."""
    x, mode, rate = w.contacts, w.contacts.mode[k], w.contacts.outputs[k, PENETRATION_RATE]
    if mode == AUTO:
        mode, now = w.switches.before_auto[len(w.limits.mode) + k], mode_now(k, t, w)
    else:
        now = next_mode(k, t, w)
    if now == mode:
        x.mode[k] = now
        return
    x.quick[k] = x.quick[k] + 1 if time - x.since[k] < CHATTER and now != INACTIVE and mode != INACTIVE else 0
    x.since[k] = time
    if now == ACTIVE and mode == SLACK and rate < 0.0 and x.quick[k] >= MAX_QUICK:
        now = LEAVING
    x.mode[k] = now
    began = now == ACTIVE or now == LEAVING
    if began == (mode == ACTIVE or mode == LEAVING):
        return
    normal_force(k, t.contacts, x)
    x.released[k] += x.law[k, ELASTIC_ENERGY] * (1.0 if began else -1.0)
    if mode == INACTIVE:
        x.speed[k] = max(rate, t.contacts.min_impact_speed[k] if t.contacts.impact[k] >= 0 else 0.0)
        if t.contacts.impact[k] >= 0:
            x.normal[k, t.contacts.impact[k]] = x.speed[k]
    row = m.found[m.events[0]]
    row[0], row[1], row[2], row[3] = time, k, 1.0 if began else 0.0, x.speed[k] if began else abs(rate)
    m.events[0] += 1


@inlined
def any_active(w):  # type: ignore[no-untyped-def]
    """1 if a limit is not inactive or a contact touches."""
    limits = len(w.limits.mode)
    for k in range(len(w.switches.mode)):
        mode = w.switches.mode[k]
        if mode == ACTIVE or mode == LEAVING or mode == FULL or (mode == AUTO and k < limits):
            return 1
    return 0


@inlined
def set_auto(m, t, w):  # type: ignore[no-untyped-def]
    """Set all modes to AUTO."""
    forget_constants(w)
    for k in range(len(w.switches.mode)):
        w.switches.before_auto[k], w.switches.mode[k] = w.switches.mode[k], AUTO
    set_sides(m.y, t, w)


@inlined
def foremost(w):  # type: ignore[no-untyped-def]
    """Index of the switch that is farthest beyond its side."""
    largest = 0
    for k in range(len(w.switches.over)):
        if w.switches.over[k] > w.switches.over[largest]:
            largest = k
    return largest


@inlined
def vertex(x, width, before, here, after):  # type: ignore[no-untyped-def]
    """Maximum of a parabola through values at x - width, x and x + width: its place, or -1 if there is none, and its value."""
    bend, rise = before - 2.0 * here + after, 0.5 * (after - before)
    if not (bend < 0.0 and abs(rise) <= -bend):
        return -1.0, 0.0
    return x - width * rise / bend, here - 0.5 * rise * rise / bend


@inlined
def toward_top(x, width, before, here, after):  # type: ignore[no-untyped-def]
    """Place of the next samples near a maximum, its value by the parabola through three, and the factor of their distance."""
    place, top = vertex(x, width, before, here, after)
    if place >= 0.0 or not before - 2.0 * here + after < 0.0:
        return place, top, CLOSER
    return x + (2.0 * width if after > before else -2.0 * width), max(before, after), 1.0


@inlined
def graze_near(k, x, top, near, dense, m, t, w):  # type: ignore[no-untyped-def]
    """A fraction of the last step, near x, at which number k is beyond its side, or -1; place and value of the maximum.

    The parabola through three samples has the maximum ``top`` at x.  Where it comes as near as ``near`` to the change, three
    closer samples give a better parabola, and so on.  ``dense``: they are on the dense output.
    """
    width, closer = 1.0 / SAMPLES, CLOSER
    for _ in range(REFINEMENTS):
        if not (0.0 < x < 1.0 and top > -near and width > CLOSEST):
            break
        width *= closer
        before = here = after = 0.0
        for side in range(3):
            place = min(max(x + (side - 1.0) * width, 0.0), 1.0)
            if dense:
                state_within(m, t, w, m.s.began[0] + place * m.s.length[0], m.trial)
            else:
                between_ends(m, place, m.trial)
            over_at(m.trial, t, w)
            after, here, before = w.switches.over[k], after, here
            if after > 0.0:
                return place, x, top
        x, top, closer = toward_top(x, width, before, here, after)
    return -1.0, x, top


@inlined
def graze(m, t, w):  # type: ignore[no-untyped-def]
    """A fraction of the last step at which one is beyond its side although it is not at the samples; 2 if none is."""
    for k in range(len(w.switches.over)):
        if w.switches.mode[k] == AUTO:
            continue
        near = GRAZE if k < len(w.limits.mode) else GRAZE_PLANE
        for q in range(1, len(m.sampled) - 1):
            before, here, after = m.sampled[q - 1, k], m.sampled[q, k], m.sampled[q + 1, k]
            x, top = vertex(q / SAMPLES, 1.0 / SAMPLES, before, here, after)
            place, x, top = graze_near(k, x, top, near, False, m, t, w)
            rough = len(w.tree.limits.q) == 0 and 0.0 < x < 1.0 and top > -ROUGHLY * near
            if place < 0.0 and rough and prepare_step(m, t, w) == OK:
                place, x, top = graze_near(k, x, top, ROUGHLY * near, True, m, t, w)
            if place >= 0.0:
                return place
    return 2.0


@inlined
def sides_are_kept(m, w, aimed):  # type: ignore[no-untyped-def]
    """Whether it is known without samples that nothing switches in the last step; False for modes AUTO and contacts.

    ``aimed``: the limit whose change the step was to end at, which is not asked about the end; or -1.
    """
    return len(w.tree.limits.q) > 0 and keep_sides(m.y_old, m.y, m.begin, m.end, m.s.length[0], w, aimed)


@inlined
def first_switch(m, t, w):  # type: ignore[no-untyped-def]
    """Fraction of the last step at which the first limit or contact switches; 2 if none does.

    Samples at the end, between, and where one seems to graze its change bracket the change, which is located on the dense output.
    ``s.trial`` is memory.
    """
    lower, upper, value_lower, value_upper = 0.0, 2.0, 0.0, 0.0
    for q in range(1, SAMPLES + MAX_ITERATIONS + 1):
        if upper == 2.0:
            x = q / SAMPLES
            between_ends(m, x, m.trial)
        else:
            # The secant, kept well inside the bracket, and every other time its middle, since the largest of ``over`` has kinks.
            x = 0.5 * (lower + upper)
            if value_lower < 0.0 < value_upper and q % 2 == 0:
                x = lower - value_lower * (upper - lower) / (value_upper - value_lower)
                x = min(max(x, lower + 1e-3 * (upper - lower)), upper - 1e-3 * (upper - lower))
            state_within(m, t, w, m.s.began[0] + x * m.s.length[0], m.trial)
        over_at(m.trial, t, w)
        value = w.switches.over[foremost(w)]
        if upper == 2.0:
            for k in range(len(w.switches.over)):
                m.sampled[q, k] = w.switches.over[k]
            if value > ON_SIDE:
                lower, upper = (q - 1.0) / SAMPLES, x
            elif q == SAMPLES:
                upper = graze(m, t, w)
                if upper == 2.0:
                    return 2.0
                lower = max(upper - 1.0 / SAMPLES, 0.0)
            if upper < 2.0 and prepare_step(m, t, w) != OK:
                return 2.0
        elif abs(value) <= (TOLERANCE if len(w.contacts.mode) > 0 else ON_SIDE):
            return x
        elif value > 0.0:
            upper, value_upper = x, value
        else:
            lower, value_lower = x, value
    return upper


@inlined
def first_switch_along(m, t, w, landing):  # type: ignore[no-untyped-def]
    """``first_switch`` where all are limits of coordinates; ``landing``: the step was cut to end at a change."""
    if landing and sides_are_kept(m, w, -1):  # other steps have been asked
        return 2.0  # as the samples would, which are on the same polynomials
    lower = upper = 2.0
    for q in range(SAMPLES + 1):
        between_ends(m, q / SAMPLES, m.trial)
        over_along(m.trial, w)
        for k in range(len(w.switches.over)):
            m.sampled[q, k] = w.switches.over[k]
        if q > 0 and w.switches.over[foremost(w)] > ON_SIDE:
            lower, upper = (q - 1.0) / SAMPLES, q / SAMPLES
            break
    if lower == 2.0:
        upper = graze(m, t, w)
        if upper == 2.0:
            return 2.0
        lower = max(upper - 1.0 / SAMPLES, 0.0)
    elif landing and upper == 1.0 and not ends_at_ridge(m, w):
        between_ends(m, LANDED, m.trial)
        over_along(m.trial, w)
        if w.switches.over[foremost(w)] <= ON_SIDE:
            return 1.0
    between_ends(m, upper, m.trial)
    over_along(m.trial, w)
    return first_passage(m, w, lower, upper)


@inlined
def ends_at_ridge(m, w):  # type: ignore[no-untyped-def]
    """Whether what is farthest beyond its side, or was located last, is a limit at its ridge at the end of the step."""
    return len(w.limits.mode) > 0 and is_at_ridge(foremost(w), m.y, w)


@inlined
def first_passage(m, w, lower, upper):  # type: ignore[no-untyped-def]
    """Fraction of the last step at which the first of the limits of coordinates that are over at ``upper`` passes its edge.

    It alone is over afterwards.
    """
    own, h, rates, first, at = w.tree.limits, m.s.length[0], w.tree.size[0] // 2, -1, upper
    for k in range(len(own.q)):
        if w.switches.over[k] > ON_SIDE:
            q, a = own.q[k], own.q[k] + rates
            cubic = cubic_of(m.y_old[q], m.y[q], m.begin[q], m.end[q], h)
            x = passes(
                cubic,
                bends_of(cubic, m.begin[a], m.end[a], h),
                (own.low[k], own.high[k]),
                lower,
                upper,
                at_ridge(k, m.trial, w),
            )
            if first < 0 or x < at:
                first, at = k, x
    for k in range(len(own.q)):
        w.switches.over[k] = 1.0 if k == first else -1.0
    return at
