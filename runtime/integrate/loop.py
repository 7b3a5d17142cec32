"""The compiled integration loop of a method: steps, their control, outputs.

Where a system has limits or contacts, accepted steps are checked, and perhaps undone, by ``runtime.integrate.landing``.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics.angles import follow
from runtime.dynamics.equations import derivative
from runtime.dynamics.kinematics import put_state
from runtime.dynamics.layout import NOT_FINITE, OK
from runtime.dynamics.lift import normalise_coordinates
from runtime.dynamics.places import PROJECTION
from runtime.dynamics.projection import CAUTIOUS
from runtime.dynamics.status import Status
from runtime.integrate.balance import BEGIN, DONE, accept_work, begin_balance, begin_step, compare, keep_powers
from runtime.integrate.closed_loops import NEAR, NEARLY, project_stages
from runtime.integrate.dense_output import count_of_turns, write_results, write_turns
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
    CORNERS,
    PROJECTING,
    SLIPS,
    SWITCHING,
    TYPICAL,
    attempt,
    check_stiffness,
    lost_digits,
    norm_of,
    normalise,
)
from runtime.integrate.surfaces import AGAIN
from runtime.integrate.switching import FIRST_CONTACTS, FIRST_MODES, KEEP, SWITCH
from runtime.integrate.turned_steps import longest_step
from runtime.integrate.unsure_steps import keep_unsure, note_rows
from runtime.jit.compilation import compiled, inlined
from runtime.jit.pointers import call_at, local

# A smallest pivot ratio below this fraction of the largest one of a closed loop is close to a singular configuration.
CLOSE_TO_SINGULAR = 1e-3


@inlined
def start(memory, m, t, w, end, rtol, atol, max_step):  # type: ignore[no-untyped-def]
    """First derivative and first step (Hairer's choice unless given); a code as of ``derivative``."""
    first_step = m.s.next_length[0]
    if m.s.projected[0] == 1:  # velocities may be given to fewer digits than the tolerance
        call_at(w.address[PROJECTION], m.s.time[0], m.y, t, w, CAUTIOUS, w.violation)
        note_rows(m, t, w)
    code = derivative(m.s.time[0], m.y, t, w, m.begin)
    m.s.evaluations[0] += 1
    if code == OK and len(w.contacts.mode) > 0:
        call_at(m.address[SWITCHING], FIRST_CONTACTS, memory, t, w, atol + rtol, 0.0, rtol, atol)
        code = derivative(m.s.time[0], m.y, t, w, m.begin)  # now with the speeds of the touch-downs at the start
        m.s.evaluations[0] += 1
    if code != OK:
        return code
    keep_powers(m.balance, m.y, m.begin, t, w, BEGIN)
    begin_balance(m.balance, m.y, t, w)
    m.s.least_pivot[0] = m.s.pivot_at_begin[0] = w.smallest_pivot[0]
    if len(w.switches.mode) > 0:
        call_at(m.address[SWITCHING], FIRST_MODES, memory, t, w, 0.0, 0.0, rtol, atol)
    for i in range(len(m.y)):
        if not abs(m.begin[i]) < np.inf:
            return NOT_FINITE
    if first_step > 0.0:
        m.s.next_length[0] = min(first_step, max_step)
        return OK
    for i in range(len(m.y)):
        m.trial[i] = max(abs(m.y[i]), m.scales[TYPICAL, i])
    rate_norm = norm_of(m, m.begin, m.y, rtol, atol)
    h = trial_length(norm_of(m, m.trial, m.y, rtol, atol), rate_norm, end - m.s.time[0], max_step)
    for i in range(len(m.y)):
        m.trial[i] = m.y[i] + h * m.begin[i]
    code = derivative(m.s.time[0] + h, m.trial, t, w, m.end)
    m.s.evaluations[0] += 1
    if code != OK:
        return code
    for i in range(len(m.y)):
        m.trial[i] = m.end[i] - m.begin[i]
    m.s.next_length[0] = first_length(h, rate_norm, norm_of(m, m.trial, m.y, rtol, atol) / h, max_step)
    return OK


@inlined
def try_step(memory, m, t, w, h, time_end, rtol, atol):  # type: ignore[no-untyped-def]
    """One attempt at a step of length h that ends at ``time_end``; RUNNING, or why the run fails.

    ``step_ended`` is 1 afterwards if the step was accepted.
    """
    time = m.s.time[0]
    code = attempt(m, t, w, h, m.s.loose[0] * rtol, m.s.loose[0] * atol)
    judged, smallest_pivot = verdict(m.s.error[0]), m.s.smallest_pivot[0]
    if m.s.projected[0] == 1:
        projected = call_at(m.address[PROJECTING], judged, memory, t, w, h, time_end, rtol, atol)
        if m.s.repeated[0] == 1:
            return Status.RUNNING
        code = projected if judged == ACCEPTED else code
    if judged != ACCEPTED:
        length = after_rejection(h, m.s.factor[0]) if judged == REJECTED else after_bad_attempt(h, time)
        if length == 0.0:
            return failure(code)
        m.s.rejections[0] += 1
        m.s.after_rejection[0], m.s.aimed[0] = 1, 0
        m.s.next_length[0] = length
        if judged == REJECTED and m.slips.shape[1] > 0:
            call_at(m.address[SLIPS], AHEAD, memory, t, w, h)
        return Status.RUNNING
    if code != OK:
        return failure(code)
    compare(m.balance, m.s.steps[0], m.trial, t, w)
    for i in range(len(m.y)):
        m.y_old[i] = m.y[i]
        m.y[i] = m.trial[i]
    m.s.began[0], m.s.length[0] = time, h
    m.s.dense_ready[0] = 0
    if m.corners.shape[1] > 0:
        if call_at(m.address[CORNERS], memory, t, w) > 0:
            return Status.RUNNING
    if m.slips.shape[1] > 0 and call_at(m.address[SLIPS], AFTER, memory, t, w, h) > 0:
        return Status.RUNNING
    if len(w.switches.mode) > 0:
        code = call_at(m.address[SWITCHING], SWITCH, memory, t, w, h, time_end, rtol, atol)
        if code != OK:
            return failure(code)
        if m.s.then[0] == AGAIN:
            for i in range(len(m.y)):
                m.y[i] = m.y_old[i]
            m.s.rejections[0] += 1
            m.s.next_length[0] = m.s.then_length[0]
            return Status.RUNNING
        if m.s.then_length[0] > 0.0:
            m.s.factor[0], m.s.after_rejection[0] = m.s.then_length[0] / h, 0
    if smallest_pivot < m.s.least_pivot[0]:
        m.s.least_pivot[0] = smallest_pivot
        if m.s.first_close[0] == np.inf and lost_digits(smallest_pivot, rtol + atol) > 0.0:
            m.s.first_close[0] = time
    if t.closed and m.s.projected[0] == 0:
        # Without projection the branch of the motion may change at a singular pose.
        m.s.largest_pivot[0] = max(m.s.largest_pivot[0], smallest_pivot)
        if smallest_pivot < NEAR * m.s.largest_pivot[0]:
            return Status.SINGULAR_CONFIGURATION
    accept_work(m.balance, time_end)
    follow(m.y, t, w)
    m.s.time[0] = time_end
    m.s.next_length[0] = after_acceptance(h, m.s.factor[0], m.s.after_rejection[0])
    m.s.after_rejection[0] = 0
    if len(w.switches.mode) > 0:
        call_at(m.address[SWITCHING], KEEP, memory, t, w, h, time_end, rtol, atol)
    m.s.steps[0] += 1
    m.s.step_ended[0] = 1
    return Status.RUNNING


@inlined
def write_outputs(memory, m, t, w, outputs, out):  # type: ignore[no-untyped-def]
    """States at the wanted times that the last step passed, and the work until then; a code."""
    first = last = m.output[0]
    while last < len(outputs) and outputs[last] <= m.s.time[0]:
        last += 1
    if last == first:
        return OK
    code = write_results(memory, t, w, outputs[first:last], out[first:last])
    if code == OK:
        m.output[0] = last
    return code


@inlined
def record(m, t, w, to):  # type: ignore[no-untyped-def]
    """Put the states of the bodies, the work of the sources of energy, angles and turns of a tree, into ``to``."""
    sources = m.balance.work.shape[1]
    n = len(to) - sources - count_of_turns(m, t, w)
    put_state(m.y, t, w, to)
    for k in range(sources):
        to[n + k] = m.balance.work[DONE, k]
    write_turns(m.y, t, w, to[n + sources :])


@compiled
def advance(m, t, w, end, rtol, atol, max_step, max_steps, outputs, out, record_t, record_y):  # type: ignore[no-untyped-def]
    """``steps_of_loop``, called from Python."""
    return steps_of_loop(m, t, w, end, rtol, atol, max_step, max_steps, outputs, out, record_t, record_y)


@inlined
def steps_of_loop(m, t, w, end, rtol, atol, max_step, max_steps, outputs, out, record_t, record_y):  # type: ignore[no-untyped-def]
    """Up to ``max_steps`` accepted steps towards ``end``.

    ``outputs`` (m,) are the times wanted; states at those that were passed, the work of the sources of energy until then, angles
    and turns of a tree go to ``out`` (m, n + sources + turns).  Every step goes to ``record_t``, ``record_y`` unless they are
    empty.  Returns the ``Status``: RUNNING when the steps are used up, ``found`` or ``unsure`` is full, an event is in the last
    step, the other method should go on, or states were written in a step close to a singular pose.
    """
    memory, m, taken = m, local(m), 0
    if m.s.started[0] == 0:
        code = start(memory, m, t, w, end, rtol, atol, max_step)
        if code != OK:
            return failure(code)
        m.s.started[0] = 1
    while taken < max_steps and m.events[0] + len(w.contacts.mode) <= len(m.found):
        time = m.s.time[0]
        if time >= end:
            return Status.REACHED_END
        if m.s.step_ended[0] == 1:
            normalise(m.y, m.bodies[0])
            normalise_coordinates(w.tree.data, m.y)
            for i in range(len(m.y)):
                m.begin[i] = m.end[i]
            begin_step(m.balance)
            m.s.step_ended[0] = 0
            if m.s.projected[0] == 0:
                w.chosen[0] = 0  # the next evaluation chooses independent rows anew
            if m.s.projected[0] == 1:
                near = w.near_singular[0] == 1 and (
                    m.s.pivot_at_begin[0] < m.s.project_stages[0] * m.s.largest_pivot[0]
                )
                project_stages(m, w, m.s.ends_ahead[0] == 1 or near)
            m.s.ends_ahead[0] = 0
        longest = longest_step(m, t, w, max_step, rtol, atol)
        h, last = step_length(m.s.next_length[0], longest, time, end, m.s.landings[0] + m.s.cornered[0] > 0)
        if too_small(h, time, end):
            close = m.s.projected[0] == 1 and (
                m.s.pivot_at_begin[0] < CLOSE_TO_SINGULAR * m.s.largest_pivot[0] or m.s.off[0] > NEARLY
            )
            return Status.SINGULAR_CONFIGURATION if close or w.near_singular[0] == 1 else Status.STEP_TOO_SMALL
        status = try_step(memory, m, t, w, h, end if last else time + h, rtol, atol)
        if status != Status.RUNNING:
            return status
        if m.s.step_ended[0] == 0:
            continue
        taken += 1
        full = keep_unsure(m)
        m.s.turn[0] = check_stiffness(m, rtol, atol, longest, end)
        written = m.output[0]
        code = write_outputs(memory, m, t, w, outputs, out)
        if code != OK:
            return failure(code)
        if len(record_t) > 0:
            record_t[taken - 1] = m.s.time[0]
            record(m, t, w, record_y[taken - 1])
        if len(w.events.value) > 0 and call_at(w.events.address[0], memory, t, w) != 0:
            break  # an event in the last step
        if full or m.s.turn[0] == 1 or (m.s.close_by[0] == 1 and m.output[0] > written):
            break
    return Status.RUNNING if m.s.time[0] < end else Status.REACHED_END
