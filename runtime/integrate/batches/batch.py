"""Many vectorised runs of one system, by ``runtime.integrate.driver``: DOP853 in vector instructions.

Every lane integrates its own case with its own time and step; all lanes attempt a step together, and a lane whose case has ended
begins the next case.  The result of a case does not depend on its lane or on the cases beside it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.status import Status
from runtime.integrate.batches.cases import (
    EVALUATIONS,
    REJECTIONS,
    STEPS,
    Cases,
    end_case,
    fill,
    first_output,
)
from runtime.integrate.batches.control import go_on_plainly, weigh_attempts
from runtime.integrate.batches.event_memory import LOCATE, SCREEN_STEPS, call_event_part
from runtime.integrate.batches.forces import (
    begin_angles,
    call_kink_part,
    follow_angles,
    go_on_with_forces,
    keep_forces,
)
from runtime.integrate.batches.limits import end_limits
from runtime.integrate.batches.stages import (
    attempt_steps,
    bound_attempts,
    dense_stages,
    prepare_dense,
    replace_accepted,
)
from runtime.integrate.batches.surfaces import KEEP, SCREEN, SWITCH, call_surfaces
from runtime.integrate.batches.within import choose_slopes, put_state
from runtime.integrate.batches.workspace import BatchWorkspace, batch_workspace, tree_workspace
from runtime.integrate.closed_loops import NEAR
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
from runtime.integrate.settings import Settings
from runtime.integrate.step_control import NO_LIMIT, too_small, would_not_end
from runtime.integrate.step_error import fastest_in_batch
from runtime.integrate.surfaces import ALONE, GO_ON, STOP
from runtime.jit.addresses import addresses_of
from runtime.jit.by_memory import for_memory
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
def prepare_special(m, memory, address, run):  # type: ignore[no-untyped-def]
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
    call_surfaces(m, SWITCH, memory, address, 0, 0, run.tolerances[0], run.tolerances[1])


@for_memory(begin_attempts, BatchWorkspace)
def begin_in_lanes(m, memory, address, run):  # type: ignore[no-untyped-def]
    """``begin_attempts``."""
    busy = 0
    for lane in range(m.W):
        busy += m.case[lane] >= 0
    if busy < m.W:
        busy = fill(m, memory, address, run)
    return busy if run.stop[0] == 0 else 0


@for_memory(bound_lengths, BatchWorkspace)
def bound_lanes(m, address, run):  # type: ignore[no-untyped-def]
    """``bound_lengths``."""
    bound_attempts(m, run.steps[0], run.tolerances[0], run.tolerances[1])
    return run.span[1]


@for_memory(end_small, BatchWorkspace)
def end_small_in_lanes(m, address, run):  # type: ignore[no-untyped-def]
    """``end_small``."""
    found = 0
    for lane in range(m.W):
        if m.case[lane] >= 0 and too_small(m.s.length[lane], m.s.time[lane], run.span[1]):
            end_case(m, lane, Status.STEP_TOO_SMALL, run)
            found += 1
    return found


@for_memory(attempt, BatchWorkspace)
def attempt_in_lanes(m, memory, address, run):  # type: ignore[no-untyped-def]
    """``attempt``."""
    attempt_steps(m, address, run.tolerances[0], run.tolerances[1])


@for_memory(screen, BatchWorkspace)
def screen_lanes(m, memory, address, run):  # type: ignore[no-untyped-def]
    """``screen``."""
    fastest = fastest_in_batch(run.tolerances[0], run.tolerances[1])
    special = weigh_attempts(m.s, m.size[0], run.span[1], fastest)
    special = call_kink_part(m.forces, memory, special)
    if len(m.surfaces.over) > 0:
        special = call_surfaces(m, SCREEN, memory, address, 0, 0, 0.0, 0.0)
    if len(m.events.rules) > 0:
        special = call_event_part(m, SCREEN_STEPS, memory, special)
    if special > 0:
        prepare_special(m, memory, address, run)
    return special


@for_memory(follow, BatchWorkspace)
def follow_in_lane(m, memory, address, lane, run):  # type: ignore[no-untyped-def]
    """``follow``."""
    s, then = m.s, GO_ON
    s.until[lane] = s.end_time[lane]
    if s.speed[lane] > fastest_in_batch(run.tolerances[0], run.tolerances[1]):
        return ALONE
    if len(m.surfaces.over) > 0:
        then = int(s.then[lane])
    if then == GO_ON and len(m.events.rules) > 0 and s.crossing[lane] > 0.0:
        then = call_event_part(m, LOCATE, memory, lane)
    return then


@for_memory(keep_step, BatchWorkspace)
def keep_step_of_lane(m, memory, address, lane, run, then):  # type: ignore[no-untyped-def]
    """``keep_step``."""
    s, out = m.s, run.out[m.case[lane]]
    write_outputs(m, lane, run.times, out)
    if then == STOP:
        hold_state(m, lane, out)
    worst = s.attempt_worst[lane]
    s.ever_worst[lane] = max(s.ever_worst[lane], worst)
    s.least_worst[lane] = min(s.least_worst[lane], worst)
    keep_forces(m, lane)
    return Status.RUNNING


@for_memory(after_step, BatchWorkspace)
def after_step_of_lane(m, memory, address, lane, run, then):  # type: ignore[no-untyped-def]
    """``after_step``."""
    s, now, end, max_steps = m.s, m.s.end_time[lane], run.span[1], int(run.steps[2])
    if now == end or then == STOP:
        end_limits(m, lane)
        if s.ever_worst[lane] > s.least_worst[lane] / NEAR**2:
            return Status.CLOSE_TO_SINGULAR
        return Status.STOPPED_BY_EVENT if then == STOP else Status.REACHED_END
    steps = int(s.steps[lane])
    if steps >= max_steps:
        return Status.STEPS_USED_UP
    if s.look_at[lane] <= steps:
        s.look_at[lane] = min(2.0 * s.look_at[lane], max_steps)
        half, s.checked_at[lane] = now - s.checked_at[lane], now
        if max_steps == NO_LIMIT and would_not_end(steps, now - 2.0 * half, now, end):
            return Status.TOO_MANY_STEPS
    return Status.RUNNING


@for_memory(end_run, BatchWorkspace)
def end_run_of_lane(m, address, lane, status, run):  # type: ignore[no-untyped-def]
    """``end_run``."""
    end_case(m, lane, status, run)


@for_memory(go_on, BatchWorkspace)
def go_on_in_lanes(m, memory, address, run):  # type: ignore[no-untyped-def]
    """``go_on``."""
    go_on_plainly(m.s)
    go_on_with_forces(m)
    call_surfaces(m, KEEP, memory, address, 0, 0, 0.0, 0.0)
    follow_angles(m)
    replace_accepted(m)


def _integrate(m, address, span, tolerances, steps, initial, constants, times, out, status, counts, reached, stop):  # type: ignore[no-untyped-def]
    """Run all cases; the arguments are those of ``Cases``."""
    memory, m = m, local(m)
    run = Cases(span, tolerances, steps, initial, constants, times, out, status, counts, reached, stop)
    if first_output(run) == 1:
        for case in range(len(initial)):
            for i in range(initial.shape[1]):
                out[case, 0, i] = initial[case, i]
    begin_angles(m)
    m.queue[0] = m.queue[2] = m.queue[3] = 0
    for lane in range(m.W):
        m.case[lane], m.s.busy[lane] = -1, 0.0
    drive(m, memory, address, run)


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
