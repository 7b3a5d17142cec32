"""Limits and contacts in an integration: their first modes, and steps that end where one of them switches.

Throughout a step every limit and contact has a fixed mode (``runtime.integrate.switching``), so the equations are smooth in the
step.  A step that is accurate enough but in which a limit or contact switches is repeated up to the change (LANDING counts
the repetitions) and accepted when it ends there.  Modes change only at the end of an accepted step, after its dense output was
prepared, or at the start of a step.  The length of a step that was cut at a change is no measure of the motion; therefore the
usual lengths with all limits and contacts inactive, and with one active, are stored (USUAL) and resumed after the change: the
last one, or the shortest since the change before where steps are aimed at changes (``runtime.integrate.aiming``).

Only systems with limits or contacts need this code: it is compiled apart from the integration loop and called by its address.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics.contacts import SPEED_RESOLUTION
from runtime.dynamics.equations import derivative
from runtime.dynamics.layout import OK
from runtime.dynamics.limits_along import (
    IN_STEPS,
    MOMENT,
    A,
    B,
    beyond_side,
    mode_after_change,
    set_limit,
    set_sides,
    sides_ahead,
)
from runtime.dynamics.status import Status
from runtime.dynamics.tree_equations import by_kernel
from runtime.integrate.aiming import FARTHEST, PART, STRETCH, is_near, is_within_reach, may_leave, until_edge
from runtime.integrate.balance import BEGIN, DONE, END, TRIAL, keep_powers, release
from runtime.integrate.lane_state import set_usual, usual_of
from runtime.integrate.limit_changes import bends_of, cubic_of
from runtime.integrate.loop_parts import INTEGER, REAL, LoopPart
from runtime.integrate.step_control import after_acceptance, failure
from runtime.integrate.stepping import norm_of
from runtime.integrate.switching import (
    LANDED,
    any_active,
    change_modes,
    ends_at_ridge,
    first_contacts,
    first_modes,
    first_switch,
    first_switch_along,
    foremost,
    forget_constants,
    set_auto,
    sides_are_kept,
)
from runtime.jit.compilation import inlined

MIN_LANDING = 1e-12  # [s] times the larger of 1 and the time
MAX_LANDINGS = 4  # attempts; then the step is taken in mode AUTO
# Of a step, [s]: a contact changes at the end of a step that was cut there if it is so near.
CLOSE, CLOSE_TIME = 1e-9, 1e-11
FIRST_ACTIVE = 0.025  # of the usual step: the first one with a limit active
FIRST_CONTACTS, FIRST_MODES, SWITCH = range(3)  # what ``switching_part`` does


@inlined
def landed(m, w, h, shortest):  # type: ignore[no-untyped-def]
    """Fraction of a step that was cut at a change from which on a change in this step counts as one at its end.

    ``shortest``: length [s] of a step that is not cut.
    """
    if m.s.landings[0] < MAX_LANDINGS - 1 and ends_at_ridge(m, w):
        return 1.0 if h > shortest else 0.0  # the step ends there as exactly as it can
    if len(w.contacts.mode) == 0 or m.s.landings[0] == MAX_LANDINGS - 1:
        return LANDED
    return 1.0 - max(CLOSE, CLOSE_TIME / h)


@inlined
def resume(m, w, h, was_active):  # type: ignore[no-untyped-def]
    """After a change continue with the usual length of steps in the present mode."""
    now_active = any_active(w)
    if now_active != was_active:
        usual = abs(usual_of(m.s, 0, now_active))
        if usual == 0.0:
            usual = abs(usual_of(m.s, 0, was_active)) * (FIRST_ACTIVE if now_active == 1 else 1.0)
        set_usual(m.s, 0, now_active, -usual)
        m.s.factor[0] = usual / h
        m.s.after_rejection[0] = 0
    elif m.s.aimed[0] > 0:
        m.s.factor[0] = max(m.s.factor[0], m.s.planned[0] / h)
    m.s.aimed[0] = 0


@inlined
def lands(k, m, t, w, h, rtol, atol):  # type: ignore[no-untyped-def]
    """Change the mode of limit k at the end of an accurate step that was aimed at its change, if it is near; whether it is.

    The end of the step then has the derivative by the new mode; the constants of the limits are still those of the step.
    """
    x, rates = w.tree.limits, w.tree.size[0] // 2
    q, off = x.q[k], beyond_side(k, x, m.y)
    side = 1.0 if m.y[q] - x.high[k] == off else -1.0
    outward = side * m.end[q]
    if x.ready[0] != IN_STEPS or not is_near(off, outward, m.end[q + rates], h):
        return False
    mode, a, b, moment = w.limits.mode[k], x.rows[k, A], x.rows[k, B], x.rows[k, MOMENT]
    outside, farthest = x.outside[k], x.farthest[k]
    w.limits.mode[k] = mode_after_change(k, m.y, t, w)
    set_limit(k, m.y, t, w)
    code = by_kernel(m.y, w, m.trial)
    x.rows[k, A], x.rows[k, B], x.rows[k, MOMENT] = a, b, moment
    x.outside[k], x.farthest[k] = outside, farthest
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
def aim(m, w, h, active):  # type: ignore[no-untyped-def]
    """Choose the length of the next step so that it ends at the next change of a limit, where one is expected soon.

    The shortest length that steps would have had without this is the usual one.
    """
    x, rates = w.tree.limits, w.tree.size[0] // 2
    planned, usual = after_acceptance(h, m.s.factor[0], m.s.after_rejection[0]), usual_of(m.s, 0, active)
    if m.s.aimed[0] > 0:
        if planned > h:
            planned = max(planned, m.s.planned[0])
            m.s.factor[0] = planned / h
        m.s.aimed[0] = 0
    set_usual(m.s, 0, active, min(usual, planned) if usual > 0.0 else planned)
    until, first, longest = np.inf, -1, min(STRETCH * planned, FARTHEST * h)
    for k in range(len(x.q) if x.ready[0] == IN_STEPS else 0):  # as ``lands`` needs
        q, a = x.q[k], x.q[k] + rates
        end, sides = (m.y[q], m.end[q], m.end[a]), sides_ahead(k, w)
        if may_leave(end, sides, longest):
            cubic = cubic_of(m.y_old[q], m.y[q], m.begin[q], m.end[q], h)
            soon = until_edge(cubic, bends_of(cubic, m.begin[a], m.end[a], h), h, end, sides, longest)
            if soon < until:
                first, until = k, soon
    if is_within_reach(until, planned):
        m.s.aimed[0], m.s.planned[0] = 1 + first, planned
        m.s.factor[0], m.s.after_rejection[0] = until / h, 0


@inlined
def switch(m, t, w, h, time_end, rtol, atol):  # type: ignore[no-untyped-def]
    """Change the modes of limits and contacts at the end of an accurate step of length h, or undo the step to cut it at a change.

    Returns a status; ``undone`` is 1 afterwards if the step was undone.  The factor for the next step may change.
    """
    time, landing, was_active, aimed = m.s.time[0], m.s.landings[0] > 0, any_active(w), int(m.s.aimed[0])
    if not landing:
        if len(w.tree.limits.q) == 0 or usual_of(m.s, 0, was_active) == 0.0:
            set_usual(m.s, 0, was_active, -h)
        if sides_are_kept(m, w, aimed - 1):
            m.s.undone[0] = 0
            if aimed > 0 and lands(aimed - 1, m, t, w, h, rtol, atol):
                resume(m, w, h, was_active)
                return Status.RUNNING
            if aimed <= 0 or beyond_side(aimed - 1, w.tree.limits, m.y) < 0.0:
                aim(m, w, h, was_active)
                return Status.RUNNING
    m.s.aimed[0] = 0
    fraction = 2.0
    if m.s.landings[0] < MAX_LANDINGS:
        along = len(w.tree.limits.q) > 0
        fraction = first_switch_along(m, t, w, landing) if along else first_switch(m, t, w)
    shortest = MIN_LANDING * max(1.0, abs(time))
    if fraction <= 1.0 and fraction * h <= shortest:
        # The step begins at the change, and the mode changes at its start; but a ridge is passed first.
        fraction = min(1.0, shortest / h) if ends_at_ridge(m, w) else 0.0
    again = fraction <= 1.0 and not (landing and fraction > landed(m, w, h, shortest))
    m.s.undone[0] = again
    if again:
        for i in range(len(m.y)):
            m.y[i] = m.y_old[i]
    at = time if again else time_end
    first = foremost(w) if again else -1
    if (fraction == 0.0 or not again) and change_modes(m, t, w, landing or again, at, first) > 0:
        # The force of a contact may begin or end with a jump.
        code = derivative(at, m.y, t, w, m.begin if again else m.end)
        keep_powers(m.balance, m.y, m.begin if again else m.end, t, w, BEGIN if again else END)
        m.s.evaluations[0] += 1
        if code != OK:
            return failure(code)
    release(m.balance, t, w, DONE if again else TRIAL)
    if again:
        m.s.rejections[0] += 1
        m.s.landings[0] += 1
        m.s.next_length[0] = fraction * h if fraction > 0.0 else h
        if m.s.landings[0] == MAX_LANDINGS:
            set_auto(m, t, w)
        return Status.RUNNING
    if landing:
        resume(m, w, h, was_active)
    m.s.landings[0] = 0
    return Status.RUNNING


def switching_part(purpose, m, t, w, h, time_end, rtol, atol):  # type: ignore[no-untyped-def]
    """First modes of contacts or limits, or ``switch``; returns a status."""
    if purpose == FIRST_CONTACTS:
        w.contacts.speed_resolution[0] = SPEED_RESOLUTION * h
        first_contacts(m, t, w)
    elif purpose == FIRST_MODES:
        first_modes(m, t, w)
    else:
        return switch(m, t, w, h, time_end, rtol, atol)
    return Status.RUNNING


SWITCHING_PART = LoopPart(switching_part, (INTEGER,), (REAL, REAL, REAL, REAL))
