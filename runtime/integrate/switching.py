"""Limits and contacts of a single run as rows of ``runtime.integrate.surfaces``: first modes, values, changes of modes.

A step that does not end at its change after some attempts is taken with all modes AUTO: each acts as its state says.
Only systems with limits or contacts need this code: it is compiled apart from the integration loop and called by its address.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics import limit_modes
from runtime.dynamics.contact_rules import mode_after, mode_at, touches, without_chatter
from runtime.dynamics.contacts import (
    PENETRATION,
    PENETRATION_RATE,
    SPEED_RESOLUTION,
    force_left,
    measure,
    normal_force,
    place_contacts,
)
from runtime.dynamics.equations import derivative
from runtime.dynamics.kinematics import is_of_tree, update_poses
from runtime.dynamics.layout import OK, OVER
from runtime.dynamics.limits import PENDING
from runtime.dynamics.limits_along import (
    HERE,
    IN_STEPS,
    OF_LIMIT,
    at_ridge,
    beyond_side,
    change_limit,
    is_at_ridge,
    keep_sides,
    mode_after_change,
    over_along,
    set_limit,
    set_sides,
    sides_ahead,
    sides_along,
)
from runtime.dynamics.places import CONTACTS, LIMITS
from runtime.dynamics.switches import AUTO, FULL, INACTIVE
from runtime.dynamics.tree_equations import by_kernel
from runtime.integrate.aiming import PART, is_near
from runtime.integrate.balance import BEGIN, DONE, END, TRIAL, keep_powers, release
from runtime.integrate.dense_output import prepare_step, state_within
from runtime.integrate.lane_state import SAMPLES
from runtime.integrate.limit_changes import bends_of, cubic_of, passes
from runtime.integrate.loop_parts import INTEGER, REAL, LoopPart
from runtime.integrate.stepping import Stepper, between_ends, norm_of
from runtime.integrate.surfaces import (
    GRAZE,
    GRAZE_PLANE,
    MAX_LANDINGS,
    NEAR,
    NONE,
    aim,
    along,
    change_modes,
    course,
    end_step,
    ends_at_ridge,
    fill_over,
    find_brackets,
    give_up,
    has_dense,
    holds,
    keep_usual,
    limits_ahead,
    nearness,
    passage,
    refines,
    set_active,
    set_between,
    set_dense,
    switch,
    value_within,
)
from runtime.jit.by_memory import for_memory
from runtime.jit.compilation import inlined
from runtime.jit.pointers import call_at

ELASTIC_ENERGY = 0  # of the outputs of a normal law
FIRST_CONTACTS, FIRST_MODES, SWITCH, KEEP = range(4)  # what ``switching_part`` does


@inlined
def over_at(y, t, w):  # type: ignore[no-untyped-def]
    """Fill ``Switches.over`` in a state."""
    if len(w.tree.limits.q) > 0:
        over_along(y, w)
        return
    update_poses(y, t, w)
    if len(t.limits.kind) > 0:
        call_at(w.address[LIMITS], 0.0, y, t, w, OVER, y)
    if len(t.contacts.address) > 0:
        call_at(w.address[CONTACTS], 0.0, y, t, w, OVER, y)


@inlined
def sample(m, q, y, t, w):  # type: ignore[no-untyped-def]
    """Store the values of all rows in a state as those of sample q of the step."""
    over_at(y, t, w)
    for k in range(len(w.switches.over)):
        m.surfaces.samples[q, k, 0] = m.surfaces.over[k, 0] = w.switches.over[k]


@inlined
def first_modes(m, t, w):  # type: ignore[no-untyped-def]
    """Initial mode of every limit, a little after the start so that no direction lies on its cone."""
    for i in range(len(m.y)):
        m.trial[i] = m.y[i] + 1e-6 * m.begin[i]
    over_at(m.trial, t, w)
    for k in range(len(w.limits.mode)):
        w.limits.mode[k], w.limits.kept[k, 0] = limit_modes.mode_of(w.limits.beyond[k], t.limits.compliance[k]), PENDING
    set_sides(m.y, t, w)
    sample(m, 0, m.trial, t, w)  # the first step begins there
    set_active(m, (t, w), 0)


@inlined
def first_contacts(m, t, w):  # type: ignore[no-untyped-def]
    """Initial mode of every contact; a contact that is closed at the start counts as a touch-down there."""
    update_poses(m.y, t, w)
    place_contacts(t, w)
    for k in range(len(w.contacts.mode)):
        measure(k, t, w)
        change_contact(k, m.s.time[0], m, t, w)
        w.contacts.released[k] = 0.0  # part of the energy at the start
    set_active(m, (t, w), 0)


@inlined
def mode_now(k, t, w):  # type: ignore[no-untyped-def]
    """Mode of contact k by its penetration and force."""
    m, outputs = w.contacts, w.contacts.outputs[k]
    left = force_left(k, t.contacts, m) if outputs[PENETRATION] > 0.0 else 0.0
    return mode_at(outputs[PENETRATION], outputs[PENETRATION_RATE], left)


@inlined
def change_contact(k, time, m, t, w):  # type: ignore[no-untyped-def]
    """Set the mode of contact k after a change, and store a touch-down or lift-off."""
    x, mode, outputs = w.contacts, w.contacts.mode[k], w.contacts.outputs[k]
    rate = outputs[PENETRATION_RATE]
    if mode == AUTO:
        mode, now = w.switches.before_auto[len(w.limits.mode) + k], mode_now(k, t, w)
    else:
        left = 0.0 if mode == INACTIVE else force_left(k, t.contacts, x)
        now = mode_after(mode, outputs[PENETRATION], rate, left)
    if now == mode:
        x.mode[k] = now
        return
    now, x.quick[k] = without_chatter(mode, now, rate, time - x.since[k], x.quick[k])
    x.since[k], x.mode[k] = time, now
    began = touches(now)
    if began == touches(mode):
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
def forget_constants(w):  # type: ignore[no-untyped-def]
    """Find the constants of limits of coordinates anew at the next step, as modes change now."""
    w.tree.limits.ready[0] = min(w.tree.limits.ready[0], HERE)


@for_memory(along, Stepper)
def along_in_run(m, of):  # type: ignore[no-untyped-def]
    """``along``."""
    return len(of[1].tree.limits.q) > 0


@for_memory(set_between, Stepper)
def set_between_in_run(m, of, x, lane):  # type: ignore[no-untyped-def]
    """``set_between``."""
    between_ends(m, x, m.trial)


@for_memory(set_dense, Stepper)
def set_dense_in_run(m, of, x, lane):  # type: ignore[no-untyped-def]
    """``set_dense``."""
    state_within(m, of[0], of[1], m.s.began[0] + x * m.s.length[0], m.trial)


@for_memory(has_dense, Stepper)
def has_dense_in_run(m, of):  # type: ignore[no-untyped-def]
    """``has_dense``."""
    return prepare_step(m, of[0], of[1]) == OK


@for_memory(fill_over, Stepper)
def fill_over_in_run(m, of):  # type: ignore[no-untyped-def]
    """``fill_over``."""
    over_at(m.trial, of[0], of[1])
    for k in range(len(m.surfaces.over)):
        m.surfaces.over[k, 0] = of[1].switches.over[k]


@for_memory(value_within, Stepper)
def value_in_run(m, of, lane, k, x, dense):  # type: ignore[no-untyped-def]
    """``value_within``."""
    if dense:
        set_dense(m, of, x, lane)
    else:
        set_between(m, of, x, lane)
    over_at(m.trial, of[0], of[1])
    return of[1].switches.over[k]


@for_memory(nearness, Stepper)
def nearness_in_run(m, of, lane, k):  # type: ignore[no-untyped-def]
    """``nearness``; rows in mode AUTO do not change."""
    if of[1].switches.mode[k] == AUTO:
        return -np.inf
    return GRAZE if k < len(of[1].limits.mode) else GRAZE_PLANE


@for_memory(refines, Stepper)
def refines_in_run(m, of):  # type: ignore[no-untyped-def]
    """``refines``."""
    return not along(m, of) and has_dense(m, of)


@for_memory(passage, Stepper)
def passage_in_run(m, of, lane, k):  # type: ignore[no-untyped-def]
    """``passage``; exactly at a ridge, where the moment jumps."""
    x, w = of[1].tree.limits, of[1]
    cubic, bends, _, _ = course(m, of, lane, k)
    set_between(m, of, m.s.upper[0], lane)
    return passes(cubic, bends, sides_along(x.own, k, 0), m.s.lower[0], m.s.upper[0], at_ridge(k, m.trial, w))


@for_memory(ends_at_ridge, Stepper)
def ends_at_ridge_in_run(m, of, k):  # type: ignore[no-untyped-def]
    """``ends_at_ridge``."""
    return is_at_ridge(k, m.y, of[1])


@for_memory(holds, Stepper)
def holds_in_run(m, of, lane):  # type: ignore[no-untyped-def]
    """``holds``: other equations take their place."""
    return True


@for_memory(end_step, Stepper)
def end_step_of_run(m, of, lane):  # type: ignore[no-untyped-def]
    """``end_step``."""
    for k in range(len(m.surfaces.over)):
        m.surfaces.samples[0, k, 0] = m.surfaces.samples[SAMPLES, k, 0]


@for_memory(set_active, Stepper)
def set_active_in_run(m, of, lane):  # type: ignore[no-untyped-def]
    """``set_active``."""
    w, active = of[1], 0.0
    limits = len(w.limits.mode)
    for k in range(len(w.switches.mode)):
        mode = w.switches.mode[k]
        if touches(mode) or mode == FULL or (mode == AUTO and k < limits):
            active = 1.0
    m.s.active[0] = active


@for_memory(give_up, Stepper)
def give_up_in_run(m, of, lane):  # type: ignore[no-untyped-def]
    """``give_up``: the step is taken with all modes AUTO."""
    t, w = of
    forget_constants(w)
    for k in range(len(w.switches.mode)):
        w.switches.before_auto[k], w.switches.mode[k] = w.switches.mode[k], AUTO
    set_sides(m.y_old, t, w)
    set_active(m, of, lane)


@for_memory(limits_ahead, Stepper)
def limits_ahead_of_run(m, of):  # type: ignore[no-untyped-def]
    """``limits_ahead``: those that ``lands`` knows."""
    x = of[1].tree.limits
    return len(x.q) if x.ready[0] == IN_STEPS else 0


@for_memory(course, Stepper)
def course_of_run(m, of, lane, k):  # type: ignore[no-untyped-def]
    """``course``; the sides are those without a ridge, at which no step is aimed."""
    q = of[1].tree.limits.q[k]
    h, a = m.s.length[0], q + of[1].tree.size[0] // 2
    cubic = cubic_of(m.y_old[q], m.y[q], m.begin[q], m.end[q], h)
    bends = bends_of(cubic, m.begin[a], m.end[a], h)
    return cubic, bends, (m.y[q], m.end[q], m.end[a]), sides_ahead(k, of[1])


@for_memory(change_modes, Stepper)
def change_modes_in_run(m, of):  # type: ignore[no-untyped-def]
    """``change_modes``; derivatives where a force may jump."""
    (t, w), s, limits, jumps = of, m.s, len(of[1].limits.mode), 0
    at_start = s.changed[0] < 0.0
    y, time, first = (m.y_old, s.time[0], int(s.first[0])) if at_start else (m.y, s.end_time[0], -1)
    over_at(y, t, w)
    for k in range(len(w.switches.over)):
        jumps += changes_now(k, first, w) and (k >= limits or is_at_ridge(k, y, w))
    kept = w.tree.limits.ready[0] > 0 and is_of_tree(
        m.y, w
    )  # constants of limits are those of the step until the next one
    if not at_start and (jumps > 0 or not kept):
        prepare_step(m, t, w)  # with the modes of the step
        over_at(y, t, w)
    for k in range(len(w.switches.over)):
        if changes_now(k, first, w):
            if k < limits:
                change_limit(k, y, t, w)
            else:
                change_contact(k - limits, time, m, t, w)
    forget_constants(w)
    set_sides(y, t, w)
    sample(m, 0, y, t, w)  # the next step begins there
    set_active(m, of, 0)
    if jumps > 0:
        s.end_code[0] = derivative(time, y, t, w, m.begin if at_start else m.end)
        keep_powers(m.balance, y, m.begin if at_start else m.end, t, w, BEGIN if at_start else END)
        s.evaluations[0] += 1
    release(m.balance, t, w, DONE if at_start else TRIAL)


@inlined
def changes_now(k, first, w):  # type: ignore[no-untyped-def]
    """Whether row k changes its mode where one was located; ``first``: the row that is passed at the start of the step, or -1."""
    return w.switches.over[k] > -NEAR or w.switches.mode[k] == AUTO or k == first


@inlined
def lands(k, m, t, w, h, rtol, atol):  # type: ignore[no-untyped-def]
    """Change the mode of limit k at the end of an accurate step that was aimed at its change, if it is near; whether it is.

    The end of the step then has the derivative by the new mode; the constants of the limits are still those of the step.
    """
    x, rates, mode = w.tree.limits, w.tree.size[0] // 2, w.limits.mode[k]
    q, row, own = x.q[k], OF_LIMIT * k, x.own
    off = beyond_side(own, k, 0, m.y[q])
    side = 1.0 if m.y[q] - own.high[k, 0] == off else -1.0
    outward = side * m.end[q]
    if x.ready[0] != IN_STEPS or not is_near(off, outward, m.end[q + rates], h):
        return False
    constants = x.rows[row, 0], x.rows[row + 1, 0], x.rows[row + 2, 0]
    outside, farthest = own.outside[k, 0], own.farthest[k, 0]
    w.limits.mode[k] = mode_after_change(own, k, 0, mode, t.limits.compliance[k], m.y[q])
    set_limit(k, m.y, t, w)
    code = by_kernel(m.y, w, m.trial)
    x.rows[row, 0], x.rows[row + 1, 0], x.rows[row + 2, 0] = constants
    own.outside[k, 0], own.farthest[k, 0] = outside, farthest
    m.s.evaluations[0] += 1
    share = abs(off) / (3.0 * outward)  # the difference grows with the square of the time from the change
    for i in range(len(m.y)):
        m.trial[i] = m.trial[i] - m.end[i]
    if code != OK or not share * norm_of(m, m.trial, m.y, rtol, atol) <= PART:
        w.limits.mode[k] = mode
        return False
    for i in range(len(m.y)):
        m.end[i] += m.trial[i]
    forget_constants(w)
    set_sides(m.y, t, w)
    return True


@inlined
def screen(m, of, rtol, atol):  # type: ignore[no-untyped-def]
    """Mark the last step where a row passes its side, or where it was cut or aimed at a change.

    It is known without samples that limits of coordinates keep their sides where the polynomials of these do.
    """
    (t, w), s, x, kept, aimed = of, m.s, of[1].tree.limits, False, int(m.s.aimed[0]) - 1
    s.accepted[0] = s.special[0] = s.sought[0] = 1.0
    s.upper[0] = s.fraction[0] = NONE
    s.landed[0] = s.fresh[0] = 0.0
    cut = s.landings[0] > 0.0
    if len(x.q) > 0:
        kept = keep_sides(m.y_old, m.y, m.begin, m.end, s.length[0], w, -1 if cut else aimed)
    if kept and not cut and aimed >= 0 and lands(aimed, m, t, w, s.length[0], rtol, atol):
        s.sought[0], s.landed[0] = 0.0, 1.0
    elif kept and not cut and (aimed < 0 or beyond_side(x.own, aimed, 0, m.y[x.q[aimed]]) < 0.0):
        s.sought[0] = s.special[0] = 0.0
    elif (kept and cut) or s.landings[0] == MAX_LANDINGS:
        s.sought[0] = 0.0
    if s.sought[0] > 0.0:
        for q in range(0 if along(m, of) else 1, SAMPLES + 1):
            between_ends(m, q / SAMPLES, m.trial)
            sample(m, q, m.trial, t, w)
    find_brackets(m, of)


def switching_part(purpose, m, t, w, h, time_end, rtol, atol):  # type: ignore[no-untyped-def]
    """First modes of contacts or limits; what comes of the last step and the modes after it; or the next step; a code."""
    of, s = (t, w), m.s
    if purpose == FIRST_CONTACTS:
        w.contacts.speed_resolution[0] = SPEED_RESOLUTION * h
        first_contacts(m, t, w)
    elif purpose == FIRST_MODES:
        first_modes(m, t, w)
    elif purpose == KEEP:
        if along(m, of):
            keep_usual(s)
            if s.fresh[0] == 0.0:
                aim(m, of, 0)
    else:
        s.end_code[0], s.end_time[0] = OK, time_end
        screen(m, of, rtol, atol)
        switch(m, of)
        return int(s.end_code[0])
    return OK


SWITCHING_PART = LoopPart(switching_part, (INTEGER,), (REAL, REAL, REAL, REAL))
