"""The compiled integration loop of a method: steps, their control, outputs.

Where a system has limits or contacts, accepted steps are checked, and perhaps undone, by ``runtime.integrate.landing``.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics.equations import derivative
from runtime.dynamics.kinematics import update_motion
from runtime.dynamics.layout import JUMP, NOT_FINITE, OK
from runtime.dynamics.lift import normalise_coordinates
from runtime.dynamics.places import PROJECTION
from runtime.dynamics.projection import CAUTIOUS
from runtime.dynamics.status import Status
from runtime.integrate.balance import BEGIN, DONE, accept_work, begin_balance, begin_step, compare, keep_powers
from runtime.integrate.closed_loops import NEAR, NEARLY, project_stages
from runtime.integrate.dense_output import count_of_turns, write_results, write_turns
from runtime.integrate.landing import FIRST_CONTACTS, FIRST_MODES, SWITCH
from runtime.integrate.slips import AFTER, AHEAD
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
    AIMED,
    AT_BEGIN,
    BODIES,
    CLOSE_BY,
    CORNERED,
    CORNERS,
    DENSE_READY,
    ENDS_AHEAD,
    ERROR,
    EVALUATIONS,
    FACTOR,
    FIRST_CLOSE,
    FOUND,
    LANDING,
    LARGEST_PIVOT,
    LENGTH,
    LOOSE,
    NEXT_OUTPUT,
    NEXT_STEP,
    OF_ALL,
    OFF,
    PROJECT_STAGES,
    PROJECTED,
    PROJECTING,
    REJECTIONS,
    REPEATED,
    SLIPS,
    SMALLEST_PIVOT,
    STARTED,
    STEP_ENDED,
    STEPS,
    SWITCHING,
    T_OLD,
    TURN,
    TYPICAL,
    UNDONE,
    T,
    attempt,
    check_stiffness,
    lost_digits,
    norm_of,
    normalise,
)
from runtime.integrate.turned_steps import longest_step
from runtime.integrate.unseen_signals import PASSED, passes_pulse
from runtime.integrate.unsure_steps import keep_unsure, note_rows
from runtime.jit.compilation import compiled, inlined
from runtime.jit.pointers import call_at, local

# A smallest pivot ratio below this fraction of the largest one of a closed loop is close to a singular configuration.
CLOSE_TO_SINGULAR = 1e-3


@inlined
def start(stepper, s, t, w, end, rtol, atol, max_step):  # type: ignore[no-untyped-def]
    """First derivative and first step (Hairer's choice unless given); a code as of ``derivative``."""
    first_step = s.time[NEXT_STEP]
    if s.flags[PROJECTED] == 1:  # velocities may be given to fewer digits than the tolerance
        call_at(w.address[PROJECTION], s.time[T], s.y, t, w, CAUTIOUS, w.violation)
        note_rows(s, t, w)
    code = derivative(s.time[T], s.y, t, w, s.begin)
    s.counts[EVALUATIONS] += 1
    if code == OK and len(w.contacts.mode) > 0:
        call_at(s.address[SWITCHING], FIRST_CONTACTS, stepper, t, w, atol + rtol, 0.0, rtol, atol)
        code = derivative(s.time[T], s.y, t, w, s.begin)  # now with the speeds of the touch-downs at the start
        s.counts[EVALUATIONS] += 1
    if code != OK:
        return code
    keep_powers(s.balance, s.y, s.begin, t, w, BEGIN)
    begin_balance(s.balance, s.y, t, w)
    s.smallest_pivot[OF_ALL] = s.smallest_pivot[AT_BEGIN] = w.smallest_pivot[0]
    if len(w.switches.mode) > 0:
        call_at(s.address[SWITCHING], FIRST_MODES, stepper, t, w, 0.0, 0.0, rtol, atol)
    for i in range(len(s.y)):
        if not abs(s.begin[i]) < np.inf:
            return NOT_FINITE
    if first_step > 0.0:
        s.time[NEXT_STEP] = min(first_step, max_step)
        return OK
    for i in range(len(s.y)):
        s.trial[i] = max(abs(s.y[i]), s.scales[TYPICAL, i])
    rate_norm = norm_of(s, s.begin, s.y, rtol, atol)
    h = trial_length(norm_of(s, s.trial, s.y, rtol, atol), rate_norm, end - s.time[T], max_step)
    for i in range(len(s.y)):
        s.trial[i] = s.y[i] + h * s.begin[i]
    code = derivative(s.time[T] + h, s.trial, t, w, s.end)
    s.counts[EVALUATIONS] += 1
    if code != OK:
        return code
    for i in range(len(s.y)):
        s.trial[i] = s.end[i] - s.begin[i]
    s.time[NEXT_STEP] = first_length(h, rate_norm, norm_of(s, s.trial, s.y, rtol, atol) / h, max_step)
    return OK


@inlined
def try_step(stepper, s, t, w, h, time_end, rtol, atol):  # type: ignore[no-untyped-def]
    """One attempt at a step of length h that ends at ``time_end``; RUNNING, or why the run fails.

    ``s.flags[STEP_ENDED]`` is 1 afterwards if the step was accepted.
    """
    time = s.time[T]
    code = attempt(s, t, w, h, s.passage[LOOSE] * rtol, s.passage[LOOSE] * atol)
    judged, smallest_pivot = verdict(s.tried[ERROR]), s.tried[SMALLEST_PIVOT]
    if judged == ACCEPTED and code == OK and len(w.signals) > 0 and passes_pulse(s, t, w, h, rtol, atol):
        judged, s.tried[FACTOR] = REJECTED, PASSED
    if s.flags[PROJECTED] == 1:
        projected = call_at(s.address[PROJECTING], judged, stepper, t, w, h, time_end, rtol, atol)
        if s.flags[REPEATED] == 1:
            return Status.RUNNING
        code = projected if judged == ACCEPTED else code
    if judged != ACCEPTED:
        length = after_rejection(h, s.tried[FACTOR]) if judged == REJECTED else after_bad_attempt(h, time)
        if length == 0.0:
            return failure(code)
        s.counts[REJECTIONS] += 1
        s.counts[AFTER_REJECTION], s.flags[AIMED] = 1, 0
        s.time[NEXT_STEP] = length
        if judged == REJECTED and s.slips.shape[1] > 0:
            call_at(s.address[SLIPS], AHEAD, stepper, t, w, h)
        return Status.RUNNING
    if code != OK:
        return failure(code)
    compare(s.balance, s.counts[STEPS], s.trial, t, w)
    for i in range(len(s.y)):
        s.y_old[i] = s.y[i]
        s.y[i] = s.trial[i]
    s.time[T_OLD], s.time[LENGTH] = time, h
    s.flags[DENSE_READY] = 0
    if s.corners.shape[1] > 0:
        undone = call_at(s.address[CORNERS], stepper, t, w)
        if undone > 0:
            return failure(JUMP) if undone == JUMP else Status.RUNNING
    if s.slips.shape[1] > 0 and call_at(s.address[SLIPS], AFTER, stepper, t, w, h) > 0:
        return Status.RUNNING
    if len(w.switches.mode) > 0:
        status = call_at(s.address[SWITCHING], SWITCH, stepper, t, w, h, time_end, rtol, atol)
        if s.flags[UNDONE] == 1 or status != Status.RUNNING:
            return status
    if smallest_pivot < s.smallest_pivot[OF_ALL]:
        s.smallest_pivot[OF_ALL] = smallest_pivot
        if s.smallest_pivot[FIRST_CLOSE] == np.inf and lost_digits(smallest_pivot, rtol + atol) > 0.0:
            s.smallest_pivot[FIRST_CLOSE] = time
    if t.closed and s.flags[PROJECTED] == 0:
        # Without projection the branch of the motion may change at a singular pose.
        s.passage[LARGEST_PIVOT] = max(s.passage[LARGEST_PIVOT], smallest_pivot)
        if smallest_pivot < NEAR * s.passage[LARGEST_PIVOT]:
            return Status.SINGULAR_CONFIGURATION
    accept_work(s.balance, time_end)
    s.time[T] = time_end
    s.time[NEXT_STEP] = after_acceptance(h, s.tried[FACTOR], s.counts[AFTER_REJECTION])
    s.counts[AFTER_REJECTION] = 0
    s.counts[STEPS] += 1
    s.flags[STEP_ENDED] = 1
    return Status.RUNNING


@inlined
def write_outputs(stepper, s, t, w, outputs, out):  # type: ignore[no-untyped-def]
    """States at the wanted times that the last step passed, and the work until then; a code."""
    first = last = s.counts[NEXT_OUTPUT]
    while last < len(outputs) and outputs[last] <= s.time[T]:
        last += 1
    if last == first:
        return OK
    code = write_results(stepper, t, w, outputs[first:last], out[first:last])
    if code == OK:
        s.counts[NEXT_OUTPUT] = last
    return code


@inlined
def record(s, t, w, to):  # type: ignore[no-untyped-def]
    """Put the states of the bodies, the work of the sources of energy, and turns of a tree, into ``to``."""
    sources = s.balance.work.shape[1]
    n = len(to) - sources - count_of_turns(s, w)
    update_motion(s.y, t, w)
    for i in range(n):
        to[i] = w.motion[i]
    for k in range(sources):
        to[n + k] = s.balance.work[DONE, k]
    write_turns(s.y, w, to[n + sources :])


@compiled
def advance(s, t, w, end, rtol, atol, max_step, max_steps, outputs, out, record_t, record_y):  # type: ignore[no-untyped-def]
    """``steps_of_loop``, called from Python."""
    return steps_of_loop(s, t, w, end, rtol, atol, max_step, max_steps, outputs, out, record_t, record_y)


@inlined
def steps_of_loop(s, t, w, end, rtol, atol, max_step, max_steps, outputs, out, record_t, record_y):  # type: ignore[no-untyped-def]
    """Up to ``max_steps`` accepted steps towards ``end``.

    ``outputs`` (m,) are the times wanted; states at those that were passed, the work of the sources of energy until then, and
    turns of a tree go to ``out`` (m, n + sources + turns).  Every step goes to ``record_t``, ``record_y`` unless they are empty.
    Returns the ``Status``: RUNNING when the steps are used up, ``found`` or ``unsure`` is full, an event may be in the last step,
    the other method should go on, or states were written in a step close to a singular pose.
    """
    stepper, s, taken = s, local(s), 0
    if s.flags[STARTED] == 0:
        code = start(stepper, s, t, w, end, rtol, atol, max_step)
        if code != OK:
            return failure(code)
        s.flags[STARTED] = 1
    while taken < max_steps and s.counts[FOUND] + len(w.contacts.mode) <= len(s.found):
        time = s.time[T]
        if time >= end:
            return Status.REACHED_END
        if s.flags[STEP_ENDED] == 1:
            normalise(s.y, s.flags[BODIES])
            normalise_coordinates(w.tree.data, s.y)
            for i in range(len(s.y)):
                s.begin[i] = s.end[i]
            begin_step(s.balance)
            s.flags[STEP_ENDED] = 0
            if s.flags[PROJECTED] == 0:
                w.chosen[0] = 0  # the next evaluation chooses independent rows anew
            if s.flags[PROJECTED] == 1:
                near = w.near_singular[0] == 1 and (
                    s.smallest_pivot[AT_BEGIN] < s.passage[PROJECT_STAGES] * s.passage[LARGEST_PIVOT]
                )
                project_stages(s, w, s.flags[ENDS_AHEAD] == 1 or near)
            s.flags[ENDS_AHEAD] = 0
        longest = longest_step(s, t, w, max_step)
        h, last = step_length(s.time[NEXT_STEP], longest, time, end, s.flags[LANDING] + s.flags[CORNERED] > 0)
        if too_small(h, time, end):
            close = s.flags[PROJECTED] == 1 and (
                s.smallest_pivot[AT_BEGIN] < CLOSE_TO_SINGULAR * s.passage[LARGEST_PIVOT] or s.passage[OFF] > NEARLY
            )
            return Status.SINGULAR_CONFIGURATION if close or w.near_singular[0] == 1 else Status.STEP_TOO_SMALL
        status = try_step(stepper, s, t, w, h, end if last else time + h, rtol, atol)
        if status != Status.RUNNING:
            return status
        if s.flags[STEP_ENDED] == 0:
            continue
        taken += 1
        full = keep_unsure(s)
        s.flags[TURN] = check_stiffness(s, rtol, atol, longest, end)
        written = s.counts[NEXT_OUTPUT]
        code = write_outputs(stepper, s, t, w, outputs, out)
        if code != OK:
            return failure(code)
        if len(record_t) > 0:
            record_t[taken - 1] = s.time[T]
            record(s, t, w, record_y[taken - 1])
        if len(w.events.value) > 0 and call_at(w.events.address[0], stepper, t, w) > 0:
            break  # an event in the last step
        if full or s.flags[TURN] == 1 or (s.flags[CLOSE_BY] == 1 and s.counts[NEXT_OUTPUT] > written):
            break
    return Status.RUNNING if s.time[T] < end else Status.REACHED_END
