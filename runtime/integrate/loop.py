"""The compiled integration loop of a method: steps, their control, outputs, and switching of limits and contacts.

Throughout a step every limit and contact has a fixed mode (``runtime.integrate.switching``), so the equations are smooth in the
step.  A step that is accurate enough but in which a limit or contact switches is repeated up to the change (LANDING counts
the repetitions) and accepted when it ends there.  Modes change only at the end of an accepted step, after its dense output was
prepared, or at the start of a step.  The length of a step that was cut at a change is no measure of the motion; therefore the
usual lengths with all limits and contacts inactive, and with one active, are stored (USUAL) and resumed after the change.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics.contacts import SPEED_RESOLUTION
from runtime.dynamics.equations import derivative
from runtime.dynamics.layout import NOT_FINITE, OK
from runtime.dynamics.status import Status
from runtime.integrate.step_control import (
    ACCEPTED,
    REJECTED,
    after_acceptance,
    after_bad_attempt,
    after_rejection,
    failure,
    first_length,
    step_length,
    too_small,
    trial_length,
    verdict,
)
from runtime.integrate.stepping import (
    AFTER_REJECTION,
    BODIES,
    BOUND,
    DENSE_READY,
    ERROR,
    EVALUATIONS,
    FACTOR,
    FOUND,
    LANDING,
    LENGTH,
    NEXT_OUTPUT,
    NEXT_STEP,
    REJECTIONS,
    SMALLEST_PIVOT,
    STARTED,
    STEP_ENDED,
    STEPS,
    T_OLD,
    USUAL,
    T,
    at_stability_bound,
    attempt,
    interpolate,
    norm_of,
    normalise,
    prepare_dense,
)
from runtime.integrate.switching import (
    any_active,
    change_modes,
    first_contacts,
    first_modes,
    first_switch,
    foremost,
    set_auto,
)
from runtime.jit.compilation import compiled, inlined
from runtime.jit.pointers import local

# A smallest pivot ratio of the constraints that falls to this fraction of its initial value is reported: the run came close to
# a singular configuration.
CLOSE_TO_SINGULAR = 1e-3
MIN_LANDING = 1e-12  # [s] times the larger of 1 and the time
MAX_LANDINGS = 4  # attempts; then the step is taken in mode AUTO
CLOSE, CLOSE_TIME = (
    1e-9,
    1e-11,
)  # of a step, [s]: a contact changes at the end of a step that was cut there if it is so near
FIRST_ACTIVE = 0.05  # of the usual step: the first one with a limit active


@inlined
def start(s, t, w, end, rtol, atol, max_step):  # type: ignore[no-untyped-def]
    """First derivative and first step (Hairer's choice unless given); a code as of ``derivative``."""
    first_step = s.time[NEXT_STEP]
    code = derivative(s.time[T], s.y, t, w, s.begin)
    s.counts[EVALUATIONS] += 1
    if code == OK and len(w.contacts.mode) > 0:
        w.contacts.speed_resolution[0] = SPEED_RESOLUTION * (atol + rtol)
        first_contacts(s, t, w)
        code = derivative(s.time[T], s.y, t, w, s.begin)  # now with the speeds of the touch-downs at the start
        s.counts[EVALUATIONS] += 1
    if code != OK:
        return code
    s.smallest_pivot[0] = s.smallest_pivot[1] = w.smallest_pivot[0]
    if len(w.switches.mode) > 0:
        first_modes(s, t, w)
    for i in range(len(s.y)):
        if not abs(s.begin[i]) < np.inf:
            return NOT_FINITE
    if first_step > 0.0:
        s.time[NEXT_STEP] = min(first_step, max_step)
        return OK
    rate_norm = norm_of(s.begin, s.y, rtol, atol)
    h = trial_length(norm_of(s.y, s.y, rtol, atol), rate_norm, end - s.time[T], max_step)
    for i in range(len(s.y)):
        s.trial[i] = s.y[i] + h * s.begin[i]
    code = derivative(s.time[T] + h, s.trial, t, w, s.end)
    s.counts[EVALUATIONS] += 1
    if code != OK:
        return code
    for i in range(len(s.y)):
        s.trial[i] = s.end[i] - s.begin[i]
    s.time[NEXT_STEP] = first_length(h, rate_norm, norm_of(s.trial, s.y, rtol, atol) / h, max_step)
    return OK


@inlined
def landed(s, w, h):  # type: ignore[no-untyped-def]
    """Fraction of a step that was cut at a change from which on a change in this step counts as one at its end."""
    if len(w.contacts.mode) == 0 or s.flags[LANDING] == MAX_LANDINGS - 1:
        return 0.9
    return 1.0 - max(CLOSE, CLOSE_TIME / h)


@inlined
def switch(s, t, w, h, time_end):  # type: ignore[no-untyped-def]
    """Change the modes of limits and contacts at the end of an accurate step of length h, or undo the step to cut it at a change.

    Returns a status and True if the step was undone.  The factor for the next step may change.
    """
    time, landing, was_active = s.time[T], s.flags[LANDING] > 0, any_active(w)
    if not landing:
        s.time[USUAL + was_active] = h
    fraction = first_switch(s, t, w) if s.flags[LANDING] < MAX_LANDINGS else 2.0
    if fraction <= 1.0 and fraction * h <= MIN_LANDING * max(1.0, abs(time)):
        fraction = 0.0  # the step begins at the change, and the mode changes at its start
    again = fraction <= 1.0 and not (landing and fraction > landed(s, w, h))
    if again:
        for i in range(len(s.y)):
            s.y[i] = s.y_old[i]
    at = time if again else time_end
    first = foremost(w) if again else -1
    if (fraction == 0.0 or not again) and change_modes(s, t, w, landing or again, at, first) > 0:
        # The force of a contact may begin or end with a jump.
        code = derivative(at, s.y, t, w, s.begin if again else s.end)
        s.counts[EVALUATIONS] += 1
        if code != OK:
            return failure(code), again
    if again:
        s.counts[REJECTIONS] += 1
        s.flags[LANDING] += 1
        s.time[NEXT_STEP] = fraction * h if fraction > 0.0 else h
        if s.flags[LANDING] == MAX_LANDINGS:
            set_auto(w)
        return Status.RUNNING, again
    now_active = any_active(w)
    if landing and now_active != was_active:
        # After the change continue with the usual length of steps in this mode.
        usual = s.time[USUAL + now_active]
        if usual == 0.0:
            usual = s.time[USUAL + was_active] * (FIRST_ACTIVE if now_active == 1 else 1.0)
        s.tried[FACTOR] = usual / h
        s.counts[AFTER_REJECTION] = 0
    s.flags[LANDING] = 0
    return Status.RUNNING, again


@inlined
def try_step(s, t, w, h, time_end, rtol, atol):  # type: ignore[no-untyped-def]
    """One attempt at a step of length h that ends at ``time_end``; RUNNING, or why the run fails.

    ``s.flags[STEP_ENDED]`` is 1 afterwards if the step was accepted.
    """
    time = s.time[T]
    code = attempt(s, t, w, h, rtol, atol)
    judged, smallest_pivot = verdict(s.tried[ERROR]), s.tried[SMALLEST_PIVOT]
    if judged != ACCEPTED:
        length = after_rejection(h, s.tried[FACTOR]) if judged == REJECTED else after_bad_attempt(h, time)
        if length == 0.0:
            return failure(code)
        s.counts[REJECTIONS] += 1
        s.counts[AFTER_REJECTION] = 1
        s.time[NEXT_STEP] = length
        return Status.RUNNING
    if code != OK:
        return failure(code)
    for i in range(len(s.y)):
        s.y_old[i] = s.y[i]
        s.y[i] = s.trial[i]
    s.time[T_OLD], s.time[LENGTH] = time, h
    s.flags[DENSE_READY] = 0
    if len(w.switches.mode) > 0:
        status, again = switch(s, t, w, h, time_end)
        if again or status != Status.RUNNING:
            return status
    if smallest_pivot < s.smallest_pivot[1]:
        s.smallest_pivot[1], s.smallest_pivot[2] = smallest_pivot, time
    s.time[T] = time_end
    s.time[NEXT_STEP] = after_acceptance(h, s.tried[FACTOR], s.counts[AFTER_REJECTION])
    s.counts[AFTER_REJECTION] = 0
    s.counts[STEPS] += 1
    s.counts[BOUND] += at_stability_bound(s)
    s.flags[STEP_ENDED] = 1
    return Status.RUNNING


@inlined
def write_outputs(s, t, w, outputs, out):  # type: ignore[no-untyped-def]
    """States at the wanted times that the last step passed; a code."""
    while s.counts[NEXT_OUTPUT] < len(outputs) and outputs[s.counts[NEXT_OUTPUT]] <= s.time[T]:
        wanted = s.counts[NEXT_OUTPUT]
        code = prepare_dense(s, t, w)
        if code != OK:
            return code
        interpolate(s, outputs[wanted], out[wanted])
        s.counts[NEXT_OUTPUT] += 1
    return OK


@compiled
def advance(s, t, w, end, rtol, atol, max_step, max_steps, outputs, out, record_t, record_y):  # type: ignore[no-untyped-def]
    """Up to ``max_steps`` accepted steps towards ``end``.

    ``outputs`` (m,) are the times wanted; states at those that were passed go to ``out`` (m, n).  Every step goes to
    ``record_t``, ``record_y`` unless they are empty.
    Returns the ``Status``: RUNNING when the steps are used up or ``found`` is full.
    """
    s, taken = local(s), 0
    if s.flags[STARTED] == 0:
        code = start(s, t, w, end, rtol, atol, max_step)
        if code != OK:
            return failure(code)
        s.flags[STARTED] = 1
    while taken < max_steps and s.counts[FOUND] + len(w.contacts.mode) <= len(s.found):
        time = s.time[T]
        if time >= end:
            return Status.REACHED_END
        if s.flags[STEP_ENDED] == 1:
            normalise(s.y, s.flags[BODIES])
            for i in range(len(s.y)):
                s.begin[i] = s.end[i]
            s.flags[STEP_ENDED] = 0
        h, last = step_length(s.time[NEXT_STEP], max_step, time, end)
        if too_small(h, time, end):
            return Status.STEP_TOO_SMALL
        status = try_step(s, t, w, h, end if last else time + h, rtol, atol)
        if status != Status.RUNNING:
            return status
        if s.flags[STEP_ENDED] == 0:
            continue
        taken += 1
        code = write_outputs(s, t, w, outputs, out)
        if code != OK:
            return failure(code)
        if len(record_t) > 0:
            record_t[taken - 1] = s.time[T]
            for i in range(len(s.y)):
                record_y[taken - 1, i] = s.y[i]
    return Status.RUNNING if s.time[T] < end else Status.REACHED_END


@compiled
def interpolate_once(s, t, w, time, y):  # type: ignore[no-untyped-def]
    """State within the last step, for calls from Python; a code."""
    code = prepare_dense(s, t, w)
    interpolate(s, time, y)
    return code
