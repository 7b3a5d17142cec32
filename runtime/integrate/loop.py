"""Single runs, by ``runtime.integrate.driver``: their starts, what comes of their steps, outputs.

The methods are behind ``runtime.integrate.stepping``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.angles import follow as follow_angles
from runtime.dynamics.equations import derivative
from runtime.dynamics.kinematics import put_state
from runtime.dynamics.layout import DERIVATIVE, NOT_FINITE, OK
from runtime.dynamics.lift import normalise_coordinates
from runtime.dynamics.places import AFTERWARDS, PROJECTION
from runtime.dynamics.projection import CAUTIOUS
from runtime.dynamics.status import Status
from runtime.integrate.balance import BEGIN, DONE, accept_work, begin_balance, begin_step, compare, keep_powers
from runtime.integrate.closed_loops import NEAR, NEARLY, project_stages
from runtime.integrate.dense_output import count_of_turns, write_results, write_turns
from runtime.integrate.driver import (
    after_step,
    attempt,
    begin_attempts,
    bound_lengths,
    drive,
    end_run,
    end_small,
    follow,
    go_on,
    keep_step,
    screen,
)
from runtime.integrate.slips import AFTER, AHEAD
from runtime.integrate.step_control import (
    ACCEPTED,
    REJECTED,
    failure,
    first_length,
    too_small,
    trial_length,
    verdict,
)
from runtime.integrate.stepping import (
    KINKS,
    PROJECTING,
    SLIPS,
    SWITCHING,
    TYPICAL,
    Stepper,
    check_stiffness,
    lost_digits,
    norm_of,
    normalise,
)
from runtime.integrate.stepping import attempt as attempt_step
from runtime.integrate.surfaces import AGAIN, GO_ON
from runtime.integrate.switching import FIRST_CONTACTS, FIRST_MODES, KEEP, SWITCH
from runtime.integrate.turned_steps import longest_step
from runtime.integrate.unsure_steps import keep_unsure, note_rows
from runtime.jit.by_memory import for_memory
from runtime.jit.compilation import compiled, inlined
from runtime.jit.pointers import call_at, local
from runtime.support.arrays import Floats

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
def write_outputs(memory, m, t, w, outputs, out):  # type: ignore[no-untyped-def]
    """States at the wanted times that the last step passed, and the work until then; a code."""
    first = last = m.output[0]
    while last < len(outputs) and outputs[last] <= m.s.time[0]:
        last += 1
    if last == first:
        return OK
    if m.s.brief[0] == 1.0 and outputs[first] == m.s.time[0]:  # dense output would take twice as long as the step
        record(m, t, w, out[first])
        m.output[0] = last
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


class Stretch(NamedTuple):
    """What the driver runs: up to ``max_steps`` accepted steps towards ``end``."""

    end: float  # [s]
    rtol: float
    atol: float
    max_step: float  # [s]
    max_steps: int
    outputs: Floats  # (m,) times wanted
    out: Floats  # (m, n + sources + turns) states there, the work of the sources of energy until then, angles and turns of a tree
    record_t: Floats  # (max_steps,) ends of steps; or empty
    record_y: Floats  # (max_steps, n + sources + turns)


@for_memory(begin_attempts, Stepper)
def begin_in_run(m, memory, of, run):  # type: ignore[no-untyped-def]
    """``begin_attempts``."""
    w, s = of[1], m.s
    if s.busy[0] == 0.0 or s.left[0] <= 0.0 or m.events[0] + len(w.contacts.mode) > len(m.found):
        return 0
    if s.time[0] >= run.end:
        return 0
    if s.step_ended[0] == 1:
        normalise(m.y, m.bodies[0])
        normalise_coordinates(w.tree.data, m.y)
        for i in range(len(m.y)):
            m.begin[i] = m.end[i]
        begin_step(m.balance)
        s.step_ended[0] = 0
        if s.projected[0] == 0:
            w.chosen[0] = 0  # the next evaluation chooses independent rows anew
        if s.projected[0] == 1:
            near = w.near_singular[0] == 1 and s.pivot_at_begin[0] < s.project_stages[0] * s.largest_pivot[0]
            project_stages(m, w, s.ends_ahead[0] == 1 or near)
        s.ends_ahead[0] = 0
    return 1


@for_memory(bound_lengths, Stepper)
def bound_run(m, of, run):  # type: ignore[no-untyped-def]
    """``bound_lengths``."""
    m.s.longest[0] = longest_step(m, of[0], of[1], run.max_step, run.rtol, run.atol)
    return run.end


@for_memory(end_small, Stepper)
def end_small_in_run(m, of, run):  # type: ignore[no-untyped-def]
    """``end_small``."""
    s, w = m.s, of[1]
    if not too_small(s.length[0], s.time[0], run.end):
        return 0
    far = s.pivot_at_begin[0] >= CLOSE_TO_SINGULAR * s.largest_pivot[0] and not s.off[0] > NEARLY
    singular = w.near_singular[0] == 1 or (s.projected[0] == 1 and not far)
    end_run(m, of, 0, Status.SINGULAR_CONFIGURATION if singular else Status.STEP_TOO_SMALL, run)
    return 1


@for_memory(attempt, Stepper)
def attempt_in_run(m, memory, of, run):  # type: ignore[no-untyped-def]
    """``attempt``, with the projection of the end onto constraints."""
    (t, w), s = of, m.s
    time, h = s.time[0], s.length[0]
    s.end_time[0] = run.end if h == run.end - time else time + h
    s.code[0] = s.end_code[0] = attempt_step(m, t, w, h, s.loose[0] * run.rtol, s.loose[0] * run.atol)
    s.special[0] = 1.0
    if s.projected[0] == 1:
        judged = verdict(s.error[0])
        code = call_at(m.address[PROJECTING], judged, memory, t, w, h, s.end_time[0], run.rtol, run.atol)
        s.end_code[0] = code if judged == ACCEPTED else s.end_code[0]
        s.special[0] = 1.0 - s.repeated[0]


@for_memory(screen, Stepper)
def screen_run(m, memory, of, run):  # type: ignore[no-untyped-def]
    """``screen``; contacts whose slips pass a kink reject attempts, too."""
    (t, w), s = of, m.s
    if s.special[0] == 0.0:
        return 0
    h, judged, rejected = s.length[0], verdict(s.error[0]), False
    if judged == REJECTED and m.slips.shape[1] > 0:
        call_at(m.address[SLIPS], AHEAD, memory, t, w, h)
    if judged == ACCEPTED and s.end_code[0] == OK:
        compare(m.balance, s.steps[0], m.trial, t, w)
        for i in range(len(m.y)):
            m.y_old[i] = m.y[i]
            m.y[i] = m.trial[i]
        s.began[0], s.dense_ready[0] = s.time[0], 0
        if m.kinks.shape[1] > 0:
            rejected = call_at(m.address[KINKS], memory, t, w) > 0
        if m.slips.shape[1] > 0 and not rejected:
            rejected = call_at(m.address[SLIPS], AFTER, memory, t, w, h) > 0
        if rejected:
            undo(m)
    s.special[0] = 1.0
    return 1


@inlined
def undo(m):  # type: ignore[no-untyped-def]
    """Go back to the start of the last step."""
    for i in range(len(m.y)):
        m.y[i] = m.y_old[i]


@for_memory(follow, Stepper)
def follow_in_run(m, memory, of, lane, run):  # type: ignore[no-untyped-def]
    """``follow``."""
    (t, w), s = of, m.s
    s.until[0], s.then_length[0] = s.end_time[0], 0.0
    if len(w.switches.mode) == 0:
        return GO_ON
    call_at(m.address[SWITCHING], SWITCH, memory, t, w, s.length[0], s.end_time[0], run.rtol, run.atol)
    if s.then[0] == AGAIN:
        undo(m)
    return int(s.then[0])


@for_memory(keep_step, Stepper)
def keep_step_of_run(m, memory, of, lane, run, then):  # type: ignore[no-untyped-def]
    """``keep_step``."""
    (t, w), s = of, m.s
    smallest_pivot = s.smallest_pivot[0]
    if smallest_pivot < s.least_pivot[0]:
        s.least_pivot[0] = smallest_pivot
        if s.first_close[0] == np.inf and lost_digits(smallest_pivot, run.rtol + run.atol) > 0.0:
            s.first_close[0] = s.time[0]
    if t.closed and s.projected[0] == 0:
        # Without projection the branch of the motion may change at a singular pose.
        s.largest_pivot[0] = max(s.largest_pivot[0], smallest_pivot)
        if smallest_pivot < NEAR * s.largest_pivot[0]:
            return Status.SINGULAR_CONFIGURATION
    accept_work(m.balance, s.end_time[0])
    follow_angles(m.y, t, w)
    return Status.RUNNING


@for_memory(after_step, Stepper)
def after_step_of_run(m, memory, of, lane, run, then):  # type: ignore[no-untyped-def]
    """``after_step``; the driver returns where Python code is to look at the step."""
    (t, w), s = of, m.s
    if len(w.switches.mode) > 0:
        call_at(m.address[SWITCHING], KEEP, memory, t, w, s.length[0], s.end_time[0], run.rtol, run.atol)
    s.step_ended[0], s.last_length[0] = 1, s.length[0]
    s.left[0] -= 1
    full = keep_unsure(m)
    s.turn[0] = check_stiffness(m, run.rtol, run.atol, s.longest[0], run.end)
    written = m.output[0]
    code = write_outputs(memory, m, t, w, run.outputs, run.out)
    if w.address[AFTERWARDS] != 0:
        code |= call_at(w.address[AFTERWARDS], s.time[0], m.y, t, w, DERIVATIVE, m.end)
    if code != OK:
        return failure(code)
    if len(run.record_t) > 0:
        taken = run.max_steps - int(s.left[0])
        run.record_t[taken - 1] = s.time[0]
        record(m, t, w, run.record_y[taken - 1])
    found = len(w.events.value) > 0 and call_at(w.events.address[0], memory, t, w) != 0
    if found or full or s.turn[0] == 1 or (s.close_by[0] == 1 and m.output[0] > written):
        s.busy[0] = 0.0
    return Status.RUNNING


@for_memory(end_run, Stepper)
def end_run_in_run(m, of, lane, status, run):  # type: ignore[no-untyped-def]
    """``end_run``; the last step is known as before."""
    m.status[0], m.s.busy[0], m.s.length[0] = status, 0.0, m.s.last_length[0]


@for_memory(go_on, Stepper)
def go_on_in_run(m, memory, of, run):  # type: ignore[no-untyped-def]
    """``go_on``: all attempts are special."""


@compiled
def advance(m, t, w, end, rtol, atol, max_step, max_steps, outputs, out, record_t, record_y):  # type: ignore[no-untyped-def]
    """``steps_of_loop``, called from Python."""
    return steps_of_loop(m, t, w, end, rtol, atol, max_step, max_steps, outputs, out, record_t, record_y)


@inlined
def steps_of_loop(m, t, w, end, rtol, atol, max_step, max_steps, outputs, out, record_t, record_y):  # type: ignore[no-untyped-def]
    """Steps of a ``Stretch``, from where the run is; its ``Status``.

    RUNNING when the steps are used up, ``found`` or ``unsure`` is full, an event is in the last step, the other method should go
    on, or states were written in a step close to a singular pose.
    """
    memory, m = m, local(m)
    if m.s.started[0] == 0:
        code = start(memory, m, t, w, end, rtol, atol, max_step)
        if code != OK:
            return failure(code)
        m.s.started[0] = 1
    m.status[0], m.s.busy[0], m.s.left[0] = Status.RUNNING, 1.0, max_steps
    drive(m, memory, (t, w), Stretch(end, rtol, atol, max_step, max_steps, outputs, out, record_t, record_y))
    return Status.REACHED_END if m.status[0] == Status.RUNNING and m.s.time[0] >= end else m.status[0]
