"""Cases of a batch: those that are ready to begin, their beginnings in lanes, and their ends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import OK
from runtime.dynamics.status import Status
from runtime.integrate.batches.equations import rates_when_ready
from runtime.integrate.batches.forces import begin_forces, end_forces, load_forces
from runtime.integrate.batches.limits import begin_limits, load_limits
from runtime.integrate.batches.stages import norm
from runtime.integrate.batches.surfaces import BEGIN, READY_CASES, call_surfaces
from runtime.integrate.dop853_coefficients import EXTRA, STAGES
from runtime.integrate.step_control import FIRST_LOOK, failure, first_length, trial_length
from runtime.jit.compilation import inlined
from runtime.support.arrays import Floats, Ints

EVALUATIONS, STEPS, REJECTIONS = range(3)  # counts of a case


class Cases(NamedTuple):
    """What the driver runs.

    When another thread sets ``stop`` to a value other than 0, cases that have not ended keep their status.
    """

    span: Floats  # (2,) start and end [s]
    tolerances: Floats  # (2,) relative, absolute
    steps: Floats  # (3,) longest, first (0: chosen) [s], ``max_steps``
    initial: Floats  # (cases, n)
    constants: Floats  # (cases, constants), or one row for all
    times: Floats  # (m,) [s]
    out: Floats  # (cases, m, n) states at these
    status: Ints  # (cases,)
    counts: Ints  # (cases, 3)
    reached: Floats  # (cases,) [s]
    stop: Ints  # (1,)


@inlined
def first_output(run):  # type: ignore[no-untyped-def]
    """Number of outputs at the start."""
    return 1 if len(run.times) > 0 and run.times[0] == run.span[0] else 0


@inlined
def share_constants(m, constants):  # type: ignore[no-untyped-def]
    """Whether all cases have equal constants, which nothing changes."""
    return len(constants) == 1 and m.stages[0] != 0 and len(m.limits.q) == 0


@inlined
def put_constants(m, lane, of_case, to):  # type: ignore[no-untyped-def]
    """Put the constants of a case into the column of a lane."""
    for i in range(len(m.constants)):
        to[i, lane] = of_case[i]


@inlined
def make_ready(m, memory, address, run):  # type: ignore[no-untyped-def]
    """Load the next cases beside the lanes, with their first derivatives and first steps (Hairer's choice unless given)."""
    span, initial, constants, (rtol, atol) = (
        run.span,
        run.initial,
        run.constants,
        (run.tolerances[0], run.tolerances[1]),
    )
    n, first, s, max_step, first_step = initial.shape[1], m.queue[0], m.s, run.steps[0], run.steps[1]
    count = min(m.W, len(initial) - first)
    m.queue[0], m.queue[1], m.queue[2], m.queue[3] = first + count, first, count, 0
    for lane in range(m.W):
        case = first + min(lane, count - 1)
        s.ready_code[lane] = OK
        for i in range(n):
            m.ready_y[i * m.W + lane] = initial[case, i]
        if first == 0 and share_constants(m, constants):
            put_constants(m, lane, constants[0], m.constants)
        if first == 0 or not share_constants(m, constants):
            put_constants(m, lane, constants[min(case, len(constants) - 1)], m.ready_constants)
        load_limits(m, lane, case, m.ready_y)
        load_forces(m, lane, case)
    call_surfaces(m, READY_CASES, memory, address, 0, 0, span[0], 0.0)
    rates_when_ready(m, address, span[0], 0.0, m.ready_y, m.ready_k)
    for lane in range(m.W):
        s.ready_worst[lane] = m.worst[lane]
        s.ready_length[lane] = first_step
    if first_step > 0.0:
        return
    for lane in range(m.W):
        state_norm = norm(m, m.ready_y, m.typical[0], lane, rtol, atol)
        rate_norm = norm(m, m.ready_k, 0.0, lane, rtol, atol)
        h = trial_length(state_norm, rate_norm, span[1] - span[0], max_step)
        s.ready_length[lane] = h
        for i in range(n):
            e = i * m.W + lane
            m.trial[e] = m.ready_y[e] + h * m.ready_k[e]
    change = m.errors[0]
    rates_when_ready(m, address, span[0], 1.0, m.trial, change)
    for e in range(len(change)):
        change[e] -= m.ready_k[e]
    for lane in range(m.W):
        h, rate_norm = s.ready_length[lane], norm(m, m.ready_k, 0.0, lane, rtol, atol)
        change_norm = norm(m, change, 0.0, lane, rtol, atol) / h
        s.ready_length[lane] = first_length(h, rate_norm, change_norm, max_step)


@inlined
def begin_next(m, memory, lane, run):  # type: ignore[no-untyped-def]
    """Give a lane the next case that is ready; False where its limits are beyond what the kernel knows."""
    r, s, begin, first = m.queue[3], m.s, run.span[0], first_output(run)
    m.queue[3] = r + 1
    for e in range(0, len(m.y), m.W):
        m.y[e + lane] = m.end[e + lane] = m.trial[e + lane] = m.ready_y[e + r]
        m.k[0, e + lane] = m.ready_k[e + r]
    if not share_constants(m, run.constants):
        for i in range(len(m.constants)):
            m.constants[i, lane] = m.ready_constants[i, r]
    s.after_rejection[lane] = s.attempts[lane] = s.steps[lane] = s.rejections[lane] = 0.0
    s.dense_steps[lane] = s.checks[lane] = s.kinked[lane] = 0.0
    s.checked_at[lane] = begin
    s.time[lane], s.next_length[lane] = begin, s.ready_length[r]
    s.busy[lane], s.look_at[lane] = 1.0, min(run.steps[2], FIRST_LOOK)
    m.case[lane], m.output[lane] = m.queue[1] + r, first
    s.next_output[lane] = run.times[first] if first < len(run.times) else np.inf
    begin_forces(m, lane, r)
    call_surfaces(m, BEGIN, memory, 0, lane, r, begin, 0.0)
    worst = s.ready_worst[r]
    s.least_worst[lane] = s.ever_worst[lane] = worst
    return len(m.limits.q) == 0 or begin_limits(m, lane)


@inlined
def end_case(m, lane, ended, run):  # type: ignore[no-untyped-def]
    """Store the status and counts of a lane's case, and leave the lane idle."""
    case, s, evaluations = m.case[lane], m.s, 1 if run.steps[1] > 0.0 else 2  # before the steps
    taken, rejected = s.steps[lane], s.rejections[lane]
    run.status[case], run.reached[case] = ended, s.time[lane]
    found = STAGES * s.attempts[lane] + EXTRA * s.dense_steps[lane] + s.checks[lane]
    run.counts[case, EVALUATIONS] = evaluations + int(found)
    run.counts[case, STEPS], run.counts[case, REJECTIONS] = int(taken), int(rejected)
    end_forces(m, lane, case)
    m.case[lane], s.busy[lane] = -1, 0.0


@inlined
def fill(m, memory, address, run):  # type: ignore[no-untyped-def]
    """Give idle lanes the next cases that do not fail at once, as long as there are any; the number of lanes with a case."""
    busy = 0
    for lane in range(m.W):
        while m.case[lane] < 0:
            if m.queue[3] == m.queue[2]:
                if m.queue[0] == len(run.initial):
                    break
                make_ready(m, memory, address, run)
            code = int(m.s.ready_code[m.queue[3]])
            known = begin_next(m, memory, lane, run)
            if code != OK or not known:
                end_case(m, lane, failure(code) if code != OK else Status.NOT_RUN, run)
        busy += m.case[lane] >= 0
    return busy
