"""Many runs of one system side by side: DOP853 in vector instructions, each lane with its own step.

Every lane integrates its own case with its own time and step; all lanes attempt a step together, and a lane whose case has ended
begins the next case.  The result of a case does not depend on its lane or on the cases beside it.
The steps are those of ``runtime.integrate.loop``, for systems without limits, contacts, loads and drivers.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.layout import LANES, OK
from runtime.dynamics.status import Status
from runtime.integrate.batch_limits import (
    AGAIN,
    ALONE,
    NONE,
    begin_limits,
    end_limits,
    find_bracket,
    limits_hold,
    load_limits,
    measure_work,
    screen,
    switch,
)
from runtime.integrate.batch_stages import (
    attempt,
    batch_workspace,
    evaluate,
    interpolate,
    norm,
    prepare_dense,
    replace_accepted,
    tree_workspace,
)
from runtime.integrate.dop853 import FASTEST, ORDER, SAFETY, SLOWEST
from runtime.integrate.dop853_coefficients import EXTRA, STAGES
from runtime.integrate.loop import CLOSE_TO_SINGULAR
from runtime.integrate.settings import Settings
from runtime.integrate.step_control import (
    ACCEPTED,
    NO_LIMIT,
    REJECTED,
    after_acceptance,
    after_bad_attempt,
    after_rejection,
    combined_error,
    factor_of,
    failure,
    first_length,
    step_length,
    too_small,
    trial_length,
    verdict,
    would_not_end,
)
from runtime.jit.addresses import addresses_of
from runtime.jit.compilation import compiled, inlined, linked
from runtime.jit.pointers import local
from runtime.jit.second_process import ask
from runtime.support.arrays import Floats, Ints

__all__ = [
    "EVALUATIONS",
    "REJECTIONS",
    "STEPS",
    "Results",
    "arguments",
    "batch_workspace",
    "integrate",
    "run",
    "run_until_interrupted",
    "tree_workspace",
]

EVALUATIONS, STEPS, REJECTIONS = range(3)  # counts of a case
CONTRACT = {"contract"}  # the only liberty with floating point: fused multiply-adds
_combined_error = linked(combined_error.py_func, fastmath=CONTRACT)


class Results(NamedTuple):
    """Arrays that ``integrate`` fills."""

    out: Floats  # (cases, times, n) states, NaN after a failure
    status: Ints  # (cases,) of ``Status``; NOT_RUN where a case has not ended
    counts: Ints  # (cases, 3)
    reached: Floats  # (cases,) [s]


def arguments(how: Settings, states: Floats, constants: Floats) -> tuple[Any, Results]:
    """Arguments of ``integrate`` from ``span`` on, for states (cases, n) and constants of a kernel (cases, constants)."""
    times = np.array(how.t)
    steps = np.array([how.max_step, how.first_step, how.max_steps])
    given = np.array([how.t_start, how.t_end]), np.array([how.rtol, how.atol]), steps, states, constants, times
    count, n = states.shape
    out, status = np.full((count, len(times), n), np.nan), np.full(count, int(Status.NOT_RUN))
    return given, Results(out, status, np.zeros((count, 3), np.int64), np.zeros(count))


@inlined
def make_ready(m, address, begin, end, rtol, atol, max_step, first_step, initial, constants):  # type: ignore[no-untyped-def]
    """Load the next cases beside the lanes, with their first derivatives and first steps (Hairer's choice unless given)."""
    n, first = initial.shape[1], m.queue[0]
    count = min(LANES, len(initial) - first)
    m.queue[0], m.queue[1], m.queue[2], m.queue[3] = first + count, first, count, 0
    for lane in range(LANES):
        case = first + min(lane, count - 1)
        m.ready_code[lane] = OK
        for i in range(n):
            m.ready_y[i * LANES + lane] = initial[case, i]
        for i in range(len(m.constants)):
            m.ready_constants[i, lane] = constants[case, i]
        load_limits(m, lane, case, m.ready_y)
    evaluate(address, m.ready_y, m.ready_constants, m.worst, m.ready_k, m.ready_code)
    for lane in range(LANES):
        m.ready_worst[lane] = m.worst[lane]
    if first_step > 0.0:
        for lane in range(LANES):
            m.ready_length[lane] = first_step
        return
    for lane in range(LANES):
        state_norm = norm(m, m.ready_y, m.typical[0], lane, n, rtol, atol)
        rate_norm = norm(m, m.ready_k, 0.0, lane, n, rtol, atol)
        h = trial_length(state_norm, rate_norm, end - begin, max_step)
        m.ready_length[lane] = h
        for i in range(n):
            e = i * LANES + lane
            m.trial[e] = m.ready_y[e] + h * m.ready_k[e]
    evaluate(address, m.trial, m.ready_constants, m.worst, m.error5, m.ready_code)
    for e in range(len(m.error5)):
        m.error3[e] = m.error5[e] - m.ready_k[e]
    for lane in range(LANES):
        h, rate_norm = m.ready_length[lane], norm(m, m.ready_k, 0.0, lane, n, rtol, atol)
        change_norm = norm(m, m.error3, 0.0, lane, n, rtol, atol) / h
        m.ready_length[lane] = first_length(h, rate_norm, change_norm, max_step)


@inlined
def begin_next(m, lane, begin, first_output):  # type: ignore[no-untyped-def]
    """Give a lane the next case that is ready; code of its first derivative."""
    r = m.queue[3]
    m.queue[3] = r + 1
    for e in range(0, len(m.y), LANES):
        m.y[e + lane] = m.end[e + lane] = m.trial[e + lane] = m.ready_y[e + r]
        m.k[0, e + lane] = m.ready_k[e + r]
    for i in range(len(m.constants)):
        m.constants[i, lane] = m.ready_constants[i, r]
    m.time[lane], m.next_length[lane], m.after_rejection[lane] = begin, m.ready_length[r], 0
    m.case[lane], m.output[lane] = m.queue[1] + r, first_output
    m.start_worst[lane] = m.ever_worst[lane] = m.ready_worst[r]
    if len(m.limits.q) > 0 and not begin_limits(m, lane, r):
        m.alone[lane] = 1
    return m.ready_code[r]


@inlined
def end_case(m, lane, ended, status, reached):  # type: ignore[no-untyped-def]
    """Store the status of a lane's case and leave the lane idle."""
    status[m.case[lane]], reached[m.case[lane]] = ended, m.time[lane]
    m.case[lane] = -1


@inlined
def prepare_lane(m, lane, address, span, tolerances, steps, initial, constants, first_output, counts, status, reached):  # type: ignore[no-untyped-def]
    """Give an idle lane a case, as long as there is one that does not fail at once, and every lane the length of its step."""
    begin, finish, max_step, first_step = span[0], span[1], steps[0], steps[1]
    m.length[lane] = 0.0  # of an idle lane
    while True:
        if m.case[lane] < 0:
            if m.queue[3] == m.queue[2] and m.queue[0] < len(initial):
                make_ready(
                    m, address, begin, finish, tolerances[0], tolerances[1], max_step, first_step, initial, constants
                )
            if m.queue[3] == m.queue[2]:
                return
            m.alone[lane] = 0
            code = begin_next(m, lane, begin, first_output)
            counts[m.case[lane], EVALUATIONS] += 1 if first_step > 0.0 else 2
            if code != OK:
                end_case(m, lane, failure(code), status, reached)
                continue
            if m.alone[lane] == 1:
                end_case(m, lane, Status.NOT_RUN, status, reached)
                continue
        h, _ = step_length(m.next_length[lane], max_step, m.time[lane], finish)
        if too_small(h, m.time[lane], finish):
            end_case(m, lane, Status.STEP_TOO_SMALL, status, reached)
            continue
        m.length[lane] = h
        return


@inlined
def write_outputs(m, lane, now, times, out):  # type: ignore[no-untyped-def]
    """States of a lane at the wanted times up to ``now``, the end of its step."""
    time, h = m.time[lane], m.length[lane]
    while m.output[lane] < len(times) and times[m.output[lane]] <= now:
        at, to = times[m.output[lane]], out[m.output[lane]]
        if at == now:
            for i in range(len(to)):
                to[i] = m.end[i * LANES + lane]
        else:
            interpolate(m, lane, (at - time) / h, to)
        m.output[lane] += 1


@inlined
def weigh_attempts(m, n):  # type: ignore[no-untyped-def]
    """Errors of the attempts of all lanes, and where a limit changes its mode in them; n: size of a state."""
    error, h, total, factor = m.error, m.length, m.total, m.factor
    for lane in range(LANES):
        total[lane] = _combined_error(error[0, lane], error[1, lane], h[lane], n)
    for lane in range(LANES):
        if m.code[lane] != OK:
            total[lane] = np.inf
    for lane in range(LANES):
        factor[lane] = factor_of(total[lane], SAFETY, ORDER, SLOWEST, FASTEST)
    if len(m.limits.q) > 0:
        screen(m)
        measure_work(m)
        for lane in range(LANES):
            m.limits.bracket[1, lane] = NONE
            if m.case[lane] >= 0 and total[lane] <= 1.0 and m.limits.suspect[lane] > 0.0:
                find_bracket(m, lane)


@inlined
def judge(m, lane, begin, finish, max_steps, times, out, counts):  # type: ignore[no-untyped-def]
    """Accept or reject the attempt of a lane; RUNNING, or the status with which its case ends.

    ``out`` (m, n) and ``counts`` (3,) are those of the case.
    """
    h, time = m.length[lane], m.time[lane]
    counts[EVALUATIONS] += STAGES + EXTRA * m.between[lane]
    judged, factor = verdict(m.total[lane]), m.factor[lane]
    if judged != ACCEPTED:
        length = after_rejection(h, factor) if judged == REJECTED else after_bad_attempt(h, time)
        if length == 0.0:
            return failure(m.code[lane])
        counts[REJECTIONS] += 1
        m.after_rejection[lane], m.next_length[lane] = 1, length
        return Status.RUNNING
    if m.end_code[lane] != OK:
        return failure(m.end_code[lane])
    if len(m.limits.q) > 0:
        if not limits_hold(m, lane):
            return Status.NOT_RUN
        then, length = switch(m, lane, h)
        if then == ALONE:
            return Status.NOT_RUN
        if then == AGAIN:
            counts[REJECTIONS] += 1
            m.next_length[lane] = length
            return Status.RUNNING
        if length > 0.0:
            factor, m.after_rejection[lane] = length / h, 0
    now = finish if h == finish - time else time + h
    write_outputs(m, lane, now, times, out)
    m.accepted[lane], m.time[lane] = 1, now
    m.next_length[lane] = after_acceptance(h, factor, m.after_rejection[lane])
    m.after_rejection[lane] = 0
    m.ever_worst[lane] = max(m.ever_worst[lane], m.attempt_worst[lane])
    counts[STEPS] += 1
    if now == finish:
        end_limits(m, lane)
        close = m.ever_worst[lane] > m.start_worst[lane] / CLOSE_TO_SINGULAR**2
        return Status.CLOSE_TO_SINGULAR if close else Status.REACHED_END
    if max_steps == NO_LIMIT and would_not_end(counts[STEPS], begin, now, finish):
        return Status.TOO_MANY_STEPS
    return Status.STEPS_USED_UP if counts[STEPS] >= max_steps else Status.RUNNING


def _integrate(m, address, span, tolerances, steps, initial, constants, times, out, status, counts, reached, stop):  # type: ignore[no-untyped-def]
    """Run all cases.

    ``span``: start and end; ``tolerances``: relative, absolute; ``steps``: longest, first (0: chosen), ``max_steps`` (as floats).
    initial (cases, n); constants (cases, constants).  Filled: states at ``times`` (m,) in ``out`` (cases, m, n), ``status``
    (cases,), ``counts`` (cases, 3) and the time ``reached`` (cases,).  When another thread sets ``stop`` (1,) to a value other
    than 0, the function returns, and cases that have not ended keep their status.
    """
    m = local(m)
    begin, finish, rtol, atol = span[0], span[1], tolerances[0], tolerances[1]
    first_output = 1 if len(times) > 0 and times[0] == begin else 0
    if first_output == 1:
        for case in range(len(initial)):
            for i in range(initial.shape[1]):
                out[case, 0, i] = initial[case, i]
    m.queue[0] = m.queue[2] = m.queue[3] = 0
    for lane in range(LANES):
        m.case[lane] = -1
    while True:
        running = 0
        for lane in range(LANES):
            prepare_lane(
                m, lane, address, span, tolerances, steps, initial, constants, first_output, counts, status, reached
            )
            running += m.case[lane] >= 0
        if running == 0 or stop[0] != 0:
            return
        attempt(m, address, rtol, atol)
        weigh_attempts(m, initial.shape[1])
        prepare_dense(m, address, times, finish)
        for lane in range(LANES):
            m.accepted[lane], case = 0, m.case[lane]
            if case >= 0:
                ended = judge(m, lane, begin, finish, int(steps[2]), times, out[case], counts[case])
                if ended != Status.RUNNING:
                    end_case(m, lane, ended, status, reached)
        replace_accepted(m)


integrate = compiled(_integrate, fastmath=CONTRACT)


def run(module: ModuleType, kernel: str, memory: Any, *arrays: Any) -> None:
    """``integrate`` with a kernel of a whole model; where both are to be compiled, the second process compiles the kernel."""
    integrate(memory, _prepared(module, kernel, memory, *arrays), *arrays)


def run_until_interrupted(module: ModuleType, kernel: str, memory: Any, *arrays: Any) -> None:
    """``run`` in a thread of its own, without ``stop``: Ctrl-C, which Python sees between two operations, ends it soon."""
    stop = np.zeros(1, np.int64)
    address = _prepared(module, kernel, memory, *arrays, stop)
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(lambda: integrate(memory, address, *arrays, stop))
        try:
            running.result()
        finally:
            stop[0] = 1


def _prepared(module: ModuleType, kernel: str, memory: Any, *arrays: Any) -> int:
    """The address of a kernel of a whole model; it and ``integrate`` are compiled."""
    ask(f"{module.__name__}:{kernel}")
    integrate.prepare(memory, 0, *arrays)
    return int(addresses_of([module], kernel)[0])
