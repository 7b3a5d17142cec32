"""Many runs of one system side by side: DOP853 in vector instructions, each lane with its own step.

Every lane integrates its own case with its own time and step; all lanes attempt a step together, and a lane whose case has ended
begins the next case.  The result of a case does not depend on its lane or on the cases beside it.
The steps are those of ``runtime.integrate.loop``, for systems without drivers.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.layout import OK
from runtime.dynamics.status import Status
from runtime.integrate.batches.cases import EVALUATIONS, REJECTIONS, STEPS, end_case, end_small, fill
from runtime.integrate.batches.control import choose_lengths, go_on, weigh_attempts
from runtime.integrate.batches.event_memory import LOCATE, SCREEN_STEPS, call_event_part
from runtime.integrate.batches.forces import (
    begin_angles,
    call_corner_part,
    follow_angles,
    go_on_with_forces,
    keep_forces,
)
from runtime.integrate.batches.limits import end_limits
from runtime.integrate.batches.slopes import choose_slopes, put_state
from runtime.integrate.batches.stages import (
    attempt,
    bound_lengths,
    dense_stages,
    prepare_dense,
    replace_accepted,
)
from runtime.integrate.batches.surfaces import KEEP, SCREEN, SWITCH, call_surfaces
from runtime.integrate.batches.workspace import batch_workspace, tree_workspace
from runtime.integrate.closed_loops import NEAR
from runtime.integrate.settings import Settings
from runtime.integrate.step_control import (
    ACCEPTED,
    NO_LIMIT,
    REJECTED,
    after_acceptance,
    after_bad_attempt,
    after_rejection,
    failure,
    verdict,
    would_not_end,
)
from runtime.integrate.step_error import fastest_in_batch
from runtime.integrate.surfaces import AGAIN, ALONE, GO_ON, STOP
from runtime.jit.addresses import addresses_of
from runtime.jit.compilation import CONTRACT, compiled, inlined
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


class Results(NamedTuple):
    """Arrays that ``integrate`` fills."""

    out: Floats  # (cases, times, n) states, NaN after a failure
    status: Ints  # (cases,) of ``Status``; NOT_RUN where a case has not ended
    counts: Ints  # (cases, 3)
    reached: Floats  # (cases,) [s]


def arguments(how: Settings, states: Floats, constants: Floats) -> tuple[Any, Results]:
    """Arguments of ``integrate`` from ``span`` on, for states (cases, n) and constants of a kernel (cases or 1, constants)."""
    times = np.array(how.t)
    steps = np.array([how.max_step, how.first_step, how.max_steps])
    given = np.array([how.t_start, how.t_end]), np.array([how.rtol, how.atol]), steps, states, constants, times
    count, n = states.shape
    out, status = np.full((count, len(times), n), np.nan), np.full(count, int(Status.NOT_RUN))
    return given, Results(out, status, np.zeros((count, 3), np.int64), np.zeros(count))


@inlined
def write_outputs(m, lane, times, out):  # type: ignore[no-untyped-def]
    """States of a lane at the wanted times up to the end of its step, or to the event that ends its case."""
    time, h, now = m.s.time[lane], m.s.length[lane], m.s.end_time[lane]
    while m.output[lane] < len(times) and times[m.output[lane]] <= m.s.until[lane]:
        at, to = times[m.output[lane]], out[m.output[lane]]
        if at == now:
            for i in range(len(to)):
                to[i] = m.end[i * m.W + lane]
        else:
            put_state(m, lane, (at - time) / h, to)
        m.output[lane] += 1
    m.s.next_output[lane] = times[m.output[lane]] if m.output[lane] < len(times) else np.inf


@inlined
def hold_state(m, lane, out):  # type: ignore[no-untyped-def]
    """Put the state at the event that ended the case of a lane into all later outputs: energies and turns go on from it."""
    for q in range(m.output[lane], len(out)):
        for i in range(out.shape[1]):
            out[q, i] = m.events.state[i]


@inlined
def judge(m, memory, lane, span, tolerances, max_steps, times, out):  # type: ignore[no-untyped-def]
    """Accept or reject the special attempt of a lane; RUNNING, or the status with which its case ends.

    ``out`` (m, n) is that of the case.
    """
    s = m.s
    h, time = s.length[lane], s.time[lane]
    judged, factor = verdict(s.error[lane]), s.factor[lane]
    s.accepted[lane] = 0.0
    if judged != ACCEPTED:
        length = after_rejection(h, factor) if judged == REJECTED else after_bad_attempt(h, time)
        if length == 0.0:
            return failure(int(s.code[lane]))
        s.rejections[lane] += 1.0
        s.after_rejection[lane], s.next_length[lane] = 1.0, length
        return Status.RUNNING
    if s.end_code[lane] != OK:
        return failure(int(s.end_code[lane]))
    if s.speed[lane] > fastest_in_batch(tolerances[0], tolerances[1]):
        return Status.CLOSE_TO_SINGULAR
    if len(m.surfaces.over) > 0:
        if s.then[lane] == ALONE:
            return Status.NOT_RUN
        if s.then[lane] == AGAIN:
            s.rejections[lane] += 1.0
            s.next_length[lane] = s.then_length[lane]
            return Status.RUNNING
        if s.then_length[lane] > 0.0:
            factor, s.after_rejection[lane] = s.then_length[lane] / h, 0.0
    s.until[lane], then = s.end_time[lane], GO_ON
    if len(m.events.rules) > 0 and s.crossing[lane] > 0.0:
        then = call_event_part(m, LOCATE, memory, lane)
        if then == ALONE:
            return Status.NOT_RUN
    write_outputs(m, lane, times, out)
    if then == STOP:
        hold_state(m, lane, out)
    s.accepted[lane], s.time[lane] = 1.0, s.until[lane]
    s.next_length[lane] = after_acceptance(h, factor, s.after_rejection[lane])
    s.after_rejection[lane] = 0.0
    worst = s.attempt_worst[lane]
    s.ever_worst[lane] = max(s.ever_worst[lane], worst)
    s.least_worst[lane] = min(s.least_worst[lane], worst)
    s.steps[lane] += 1.0
    keep_forces(m, lane)
    return after_step(m, lane, span, max_steps, then == STOP)


@inlined
def after_step(m, lane, span, max_steps, stopped):  # type: ignore[no-untyped-def]
    """RUNNING, or the status with which a lane's case ends after an accepted step, or within it (``stopped``)."""
    s, now = m.s, m.s.end_time[lane]
    if now == span[1] or stopped:
        end_limits(m, lane)
        if s.ever_worst[lane] > s.least_worst[lane] / NEAR**2:
            return Status.CLOSE_TO_SINGULAR
        return Status.STOPPED_BY_EVENT if stopped else Status.REACHED_END
    steps = int(s.steps[lane])
    if steps >= max_steps:
        return Status.STEPS_USED_UP
    if s.look_at[lane] <= steps:
        s.look_at[lane] = min(2.0 * s.look_at[lane], max_steps)
        half, s.checked_at[lane] = now - s.checked_at[lane], now
        if max_steps == NO_LIMIT and would_not_end(steps, now - 2.0 * half, now, span[1]):
            return Status.TOO_MANY_STEPS
    return Status.RUNNING


@inlined
def prepare_special(m, memory, address, tolerances):  # type: ignore[no-untyped-def]
    """The dense output of the special attempts with outputs, and what comes of those in which a mode changes."""
    s, outputs = m.s, 0
    for lane in range(m.W):
        if s.special[lane] == 0.0:
            continue
        outputs += s.has_outputs[lane] > 0.0
        s.dense_steps[lane] += s.has_outputs[lane]
    if outputs > 0:
        dense_stages(m, address)
        prepare_dense(m)
        for lane in range(m.W):
            if s.has_outputs[lane] > 0.0:
                choose_slopes(m, lane)
    call_surfaces(m, SWITCH, memory, address, 0, 0, tolerances[0], tolerances[1])


@inlined
def attend(m, memory, address, span, tolerances, steps, times, out, status, counts, reached):  # type: ignore[no-untyped-def]
    """End, accept, reject or repeat the special attempts."""
    prepare_special(m, memory, address, tolerances)
    for lane in range(m.W):
        if m.s.special[lane] > 0.0:
            ended = judge(m, memory, lane, span, tolerances, int(steps[2]), times, out[m.case[lane]])
            if ended != Status.RUNNING:
                end_case(m, lane, ended, 1 if steps[1] > 0.0 else 2, status, counts, reached)


def _integrate(m, address, span, tolerances, steps, initial, constants, times, out, status, counts, reached, stop):  # type: ignore[no-untyped-def]
    """Run all cases.

    ``span``: start and end; ``tolerances``: relative, absolute; ``steps``: longest, first (0: chosen), ``max_steps`` (as floats).
    initial (cases, n); constants (cases, constants), or one row for all.  Filled: states at ``times`` (m,) in ``out`` (cases, m,
    n), ``status`` (cases,), ``counts`` (cases, 3) and the time ``reached`` (cases,).  When another thread sets ``stop`` (1,) to a
    value other than 0, the function returns, and cases that have not ended keep their status.
    """
    memory, m = m, local(m)
    fastest = fastest_in_batch(tolerances[0], tolerances[1])
    first_output, n = 1 if len(times) > 0 and times[0] == span[0] else 0, initial.shape[1]
    if first_output == 1:
        for case in range(len(initial)):
            for i in range(n):
                out[case, 0, i] = initial[case, i]
    begin_angles(m)
    m.queue[0] = m.queue[2] = m.queue[3] = busy = 0
    for lane in range(m.W):
        m.case[lane], m.s.busy[lane] = -1, 0.0
    while True:
        if busy < m.W:
            busy = fill(
                m, memory, address, span, tolerances, steps, initial, constants, times, first_output, status, counts, reached
            )  # fmt: skip
        if busy == 0 or stop[0] != 0:
            return
        bound_lengths(m, steps[0], tolerances[0], tolerances[1])
        if choose_lengths(m.s, span[1]) > 0:
            ended = end_small(m, span, steps, status, counts, reached)
            busy -= ended
            if ended > 0:
                continue
        attempt(m, address, tolerances[0], tolerances[1])
        special = weigh_attempts(m.s, m.size[0], span[1], fastest)
        special = call_corner_part(m.forces, memory, special)
        if len(m.surfaces.over) > 0:
            special = call_surfaces(m, SCREEN, memory, address, 0, 0, 0.0, 0.0)
        if len(m.events.rules) > 0:
            special = call_event_part(m, SCREEN_STEPS, memory, special)
        if special > 0:
            attend(m, memory, address, span, tolerances, steps, times, out, status, counts, reached)
        go_on(m.s)
        go_on_with_forces(m)
        call_surfaces(m, KEEP, memory, address, 0, 0, 0.0, 0.0)
        follow_angles(m)
        replace_accepted(m)
        busy = 0
        for lane in range(m.W):
            busy += m.case[lane] >= 0


integrate = compiled(_integrate, fastmath=CONTRACT)


def run(module: ModuleType | None, kernel: str, memory: Any, *arrays: Any) -> None:
    """``integrate`` with a kernel of a whole model; where both are to be compiled, the second process compiles the kernel.

    Without a module the memory has the function of the equations.
    """
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


_PREPARED: set[tuple[str, str, int]] = set()  # modules, kernels and numbers of arrays


def _prepared(module: ModuleType | None, kernel: str, memory: Any, *arrays: Any) -> int:
    """The address of a kernel of a whole model, 0 without a module; it and ``integrate`` are compiled."""
    if module is None:
        return 0
    if (which := (module.__name__, kernel, len(arrays))) not in _PREPARED:  # chunk after chunk has the same types
        ask(f"{module.__name__}:{kernel}")
        integrate.prepare(memory, 0, *arrays)
        _PREPARED.add(which)
    return int(addresses_of([module], kernel)[0])
