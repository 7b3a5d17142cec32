"""Limits and contacts in an integration: their first modes, and steps that end where one of them switches.

Throughout a step every limit and contact has a fixed mode (``runtime.integrate.switching``), so the equations are smooth in the
step.  A step that is accurate enough but in which a limit or contact switches is repeated up to the change (LANDING counts
the repetitions) and accepted when it ends there.  Modes change only at the end of an accepted step, after its dense output was
prepared, or at the start of a step.  The length of a step that was cut at a change is no measure of the motion; therefore the
usual lengths with all limits and contacts inactive, and with one active, are stored (USUAL) and resumed after the change.

Only systems with limits or contacts need this code: it is compiled apart from the integration loop and called by its address.
"""

from __future__ import annotations

from runtime.dynamics.contacts import SPEED_RESOLUTION
from runtime.dynamics.equations import derivative
from runtime.dynamics.layout import OK
from runtime.dynamics.status import Status
from runtime.integrate.balance import BEGIN, DONE, END, TRIAL, keep_powers, release
from runtime.integrate.loop_parts import INTEGER, REAL, LoopPart
from runtime.integrate.step_control import failure
from runtime.integrate.stepping import (
    AFTER_REJECTION,
    EVALUATIONS,
    FACTOR,
    LANDING,
    NEXT_STEP,
    REJECTIONS,
    UNDONE,
    USUAL,
    T,
)
from runtime.integrate.switching import (
    LANDED,
    any_active,
    change_modes,
    first_contacts,
    first_modes,
    first_switch,
    first_switch_along,
    foremost,
    set_auto,
    sides_are_kept,
)
from runtime.jit.compilation import inlined

MIN_LANDING = 1e-12  # [s] times the larger of 1 and the time
MAX_LANDINGS = 4  # attempts; then the step is taken in mode AUTO
# Of a step, [s]: a contact changes at the end of a step that was cut there if it is so near.
CLOSE, CLOSE_TIME = 1e-9, 1e-11
FIRST_ACTIVE = 0.05  # of the usual step: the first one with a limit active
FIRST_CONTACTS, FIRST_MODES, SWITCH = range(3)  # what ``switching_part`` does


@inlined
def landed(s, w, h):  # type: ignore[no-untyped-def]
    """Fraction of a step that was cut at a change from which on a change in this step counts as one at its end."""
    if len(w.contacts.mode) == 0 or s.flags[LANDING] == MAX_LANDINGS - 1:
        return LANDED
    return 1.0 - max(CLOSE, CLOSE_TIME / h)


@inlined
def switch(s, t, w, h, time_end):  # type: ignore[no-untyped-def]
    """Change the modes of limits and contacts at the end of an accurate step of length h, or undo the step to cut it at a change.

    Returns a status; ``s.flags[UNDONE]`` is 1 afterwards if the step was undone.  The factor for the next step may change.
    """
    time, landing, was_active = s.time[T], s.flags[LANDING] > 0, any_active(w)
    if not landing:
        s.time[USUAL + was_active] = h
        if sides_are_kept(s, w):
            s.flags[UNDONE] = 0
            return Status.RUNNING
    fraction = 2.0
    if s.flags[LANDING] < MAX_LANDINGS:
        along = len(w.tree.limits.q) > 0
        fraction = first_switch_along(s, t, w, landing) if along else first_switch(s, t, w)
    if fraction <= 1.0 and fraction * h <= MIN_LANDING * max(1.0, abs(time)):
        fraction = 0.0  # the step begins at the change, and the mode changes at its start
    again = fraction <= 1.0 and not (landing and fraction > landed(s, w, h))
    s.flags[UNDONE] = again
    if again:
        for i in range(len(s.y)):
            s.y[i] = s.y_old[i]
    at = time if again else time_end
    first = foremost(w) if again else -1
    if (fraction == 0.0 or not again) and change_modes(s, t, w, landing or again, at, first) > 0:
        # The force of a contact may begin or end with a jump.
        code = derivative(at, s.y, t, w, s.begin if again else s.end)
        keep_powers(s.balance, s.y, s.begin if again else s.end, t, w, BEGIN if again else END)
        s.counts[EVALUATIONS] += 1
        if code != OK:
            return failure(code)
    release(s.balance, t, w, DONE if again else TRIAL)
    if again:
        s.counts[REJECTIONS] += 1
        s.flags[LANDING] += 1
        s.time[NEXT_STEP] = fraction * h if fraction > 0.0 else h
        if s.flags[LANDING] == MAX_LANDINGS:
            set_auto(w)
        return Status.RUNNING
    now_active = any_active(w)
    if landing and now_active != was_active:
        # After the change continue with the usual length of steps in this mode.
        usual = s.time[USUAL + now_active]
        if usual == 0.0:
            usual = s.time[USUAL + was_active] * (FIRST_ACTIVE if now_active == 1 else 1.0)
        s.tried[FACTOR] = usual / h
        s.counts[AFTER_REJECTION] = 0
    s.flags[LANDING] = 0
    return Status.RUNNING


def switching_part(purpose, s, t, w, h, time_end):  # type: ignore[no-untyped-def]
    """First modes of contacts or limits, or ``switch``; returns a status."""
    if purpose == FIRST_CONTACTS:
        w.contacts.speed_resolution[0] = SPEED_RESOLUTION * h
        first_contacts(s, t, w)
    elif purpose == FIRST_MODES:
        first_modes(s, t, w)
    else:
        return switch(s, t, w, h, time_end)
    return Status.RUNNING


SWITCHING_PART = LoopPart(switching_part, (INTEGER,), (REAL, REAL))
