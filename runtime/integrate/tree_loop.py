"""The integration loop in the coordinates of a tree: DOP853 by the machine code of ``runtime.integrate.tree_stages``.

The rules for the length of a step are those of ``runtime.integrate.loop``.  States of bodies are computed for results alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from runtime.dynamics.elimination import PIVOT_TOLERANCE, code_of_pivot
from runtime.dynamics.layout import NOT_FINITE, OK
from runtime.dynamics.lift import BALL, FREE, LiftWorkspace, TreeData, lift
from runtime.dynamics.recursion import RecursionWorkspace, tree_derivative
from runtime.dynamics.status import Status
from runtime.integrate.balance import EVERY, Balance, accept_work, begin_balance, compare
from runtime.integrate.batch_stages import TYPICAL
from runtime.integrate.dop853 import FASTEST, ORDER, POWER, SAFETY, SLOWEST, combine
from runtime.integrate.dop853_coefficients import COEFFICIENTS, EXTRA, STAGES
from runtime.integrate.loop_parts import INTEGER
from runtime.integrate.step_control import (
    ACCEPTED,
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
)
from runtime.integrate.stepping import (
    AFTER_REJECTION,
    EVALUATIONS,
    LENGTH,
    NEXT_OUTPUT,
    NEXT_STEP,
    REJECTIONS,
    STEPS,
    T_OLD,
    T,
    lost_digits,
)
from runtime.jit import addresses
from runtime.jit.compilation import compiled, inlined, place_of_address
from runtime.jit.pointers import Pointer, call_at, local
from runtime.support.arrays import Floats, Ints

ONE, ATTEMPT, DENSE = range(
    3
)  # which stages: the first of a step, the others with its errors, those of the dense output
ERRORS = STAGES + 1 + EXTRA  # rows of the errors
ROWS = np.zeros((ERRORS + 2, STAGES + 1 + EXTRA))
ROWS[:ERRORS] = COEFFICIENTS.a
ROWS[STAGES, :STAGES] = COEFFICIENTS.b
ROWS[ERRORS, : STAGES + 1], ROWS[ERRORS + 1, : STAGES + 1] = COEFFICIENTS.error5, COEFFICIENTS.error3
STARTED, DENSE_READY, STEP_ENDED = range(3)  # flags


class TreeMemory(NamedTuple):
    """State and memory of an integration; changed in place, so that it can be paused and continued."""

    address: Ints  # (3,) of the stages of a kernel, in this process; 0 where there is none
    general: Ints  # (1,) place of the address of ``general_stages``
    tree: TreeData
    lifting: LiftWorkspace
    recursion: RecursionWorkspace
    rows: Floats  # (18, 16) coefficients of the stages and of both errors
    state: Floats  # (n,) of a stage
    constants: Floats  # of the kernel
    cap: Floats  # (n,) largest value of a state that takes part in its tolerance
    weight: Floats  # (n,) by which errors of it count
    time: Floats  # (4,) as of ``Stepper.time``
    counts: Ints  # (5,) as of ``Stepper.counts``
    flags: Ints  # (3,) 1: started; 1: the dense output of the last step is ready; 1: the last attempt was accepted
    z: Floats  # (n,) coordinates and rates
    z_old: Floats  # at the start of the last step
    end: Floats  # of the last attempt
    k: Floats  # (16, n) stages of the last step
    first: Floats  # (n,) derivative at the start of the next step
    h: Floats  # (1,)
    error: Floats  # (2, n) of the orders 5 and 3
    worst: Floats  # (1,) inverse square of the smallest pivot ratio of the last stages
    ever_worst: Floats  # (2,) of all accepted steps; time of the first step that costs digits of the tolerance
    dense: Floats  # (7, n) polynomial of the last step
    polynomial: Floats  # (4, 16) coefficients of the dense output
    at: Floats  # (n,) within the last step
    y: Floats  # (13 bodies,) states at the end of the last step that was compared or recorded
    balance: Balance


@inlined
def stages(m, place):  # type: ignore[no-untyped-def]
    """Stages of a step; a code."""
    if m.address[place] == 0:
        return call_at(m.general[0], place, m)
    addresses.call(
        m.address[place], m.z.ctypes.data, m.k.ctypes.data, m.h.ctypes.data, m.constants.ctypes.data, m.end.ctypes.data,
        m.error.ctypes.data, m.worst.ctypes.data,
    )  # fmt: skip
    return OK if m.worst[0] < 1.0 / PIVOT_TOLERANCE**2 else code_of_pivot(m.worst[0])


def general_stages(place, m):  # type: ignore[no-untyped-def]
    """Stages of a step by recursion over the tree; a code."""
    n, h, code, smallest = len(m.z), m.h[0], OK, 1.0
    first, last = (0, 0) if place == ONE else (1, STAGES) if place == ATTEMPT else (STAGES + 1, STAGES + EXTRA)
    for q in range(first, last + 1):
        combine(m.z, h, m.rows[q], m.k, q, m.state)
        code |= tree_derivative(m.tree, m.lifting, m.recursion, m.state, m.k[q], m.worst)
        if not m.worst[0] >= smallest:
            smallest = m.worst[0]
        if q == STAGES:
            for i in range(n):
                m.end[i] = m.state[i]
    m.worst[0] = 1.0 / (smallest * smallest)
    if place == ATTEMPT:
        for row in range(2):
            for i in range(n):
                m.error[row, i] = 0.0
            for q in range(STAGES + 1):
                factor = m.rows[ERRORS + row, q]
                for i in range(n):
                    m.error[row, i] += factor * m.k[q, i]
    return code


def place_of_stages(m: TreeMemory) -> int:
    """Place of the address of ``general_stages``, which is compiled when the loop first calls it."""
    return place_of_address(general_stages, INTEGER(INTEGER, Pointer(numba.typeof(m))), NOT_FINITE)


@inlined
def norm_of(m, v, z, rtol, atol):  # type: ignore[no-untyped-def]
    """Root mean square of v in units of the tolerance at the state z."""
    total = 0.0
    for i in range(len(v)):
        total += (m.weight[i] * v[i] / (atol + rtol * min(abs(z[i]), m.cap[i]))) ** 2
    return math.sqrt(total / len(v))


@inlined
def start(m, t, w, end, rtol, atol, max_step):  # type: ignore[no-untyped-def]
    """First derivative and first step (Hairer's choice unless given); a code."""
    n, first_step = len(m.z), m.time[NEXT_STEP]
    code = stages(m, ONE)
    m.counts[EVALUATIONS] += 1
    lift(m.tree, m.lifting, m.z, m.y)
    begin_balance(m.balance, m.y, t, w)
    m.ever_worst[0] = m.worst[0]
    for i in range(n):
        m.first[i] = m.k[0, i]
    if code != OK:
        return code
    if first_step > 0.0:
        m.time[NEXT_STEP] = min(first_step, max_step)
        return OK
    rate_norm = norm_of(m, m.first, m.z, rtol, atol)
    for i in range(n):
        m.z_old[i] = m.z[i]
        m.at[i] = max(abs(m.z[i]), TYPICAL)
    h = trial_length(norm_of(m, m.at, m.z, rtol, atol), rate_norm, end - m.time[T], max_step)
    for i in range(n):
        m.z[i] += h * m.first[i]
    code = stages(m, ONE)
    m.counts[EVALUATIONS] += 1
    for i in range(n):
        m.z[i] = m.z_old[i]
        m.at[i] = m.k[0, i] - m.first[i]
    m.time[NEXT_STEP] = first_length(h, rate_norm, norm_of(m, m.at, m.z, rtol, atol) / h, max_step)
    return code


@inlined
def error_of(m, h, rtol, atol):  # type: ignore[no-untyped-def]
    """Hairer's combination of the estimates of order 5 and 3, in units of the tolerance."""
    n, e5, e3 = len(m.z), 0.0, 0.0
    for i in range(n):
        scale = m.weight[i] / (atol + rtol * min(max(abs(m.z[i]), abs(m.end[i])), m.cap[i]))
        e5 += (m.error[0, i] * scale) ** 2
        e3 += (m.error[1, i] * scale) ** 2
    return combined_error(e5, e3, h, n)


@inlined
def try_step(m, t, w, h, time_end, rtol, atol):  # type: ignore[no-untyped-def]
    """One attempt at a step of length h that ends at ``time_end``; RUNNING, or why the run fails.

    ``m.flags[STEP_ENDED]`` is 1 afterwards if the step was accepted.
    """
    n = len(m.z)
    for i in range(n):
        m.k[0, i] = m.first[i]
    m.h[0] = h
    code = stages(m, ATTEMPT)
    m.counts[EVALUATIONS] += STAGES
    error = error_of(m, h, rtol, atol) if code == OK else np.inf
    judged, factor = verdict(error), factor_of(error, SAFETY, ORDER, SLOWEST, FASTEST)
    if judged != ACCEPTED:
        length = after_rejection(h, factor) if judged == REJECTED else after_bad_attempt(h, m.time[T])
        if length == 0.0:
            return failure(code)
        m.counts[REJECTIONS] += 1
        m.counts[AFTER_REJECTION], m.time[NEXT_STEP] = 1, length
        return Status.RUNNING
    for i in range(n):
        m.z_old[i], m.z[i], m.first[i] = m.z[i], m.end[i], m.k[STAGES, i]
    m.time[T_OLD], m.time[LENGTH], m.time[T] = m.time[T], h, time_end
    m.time[NEXT_STEP] = after_acceptance(h, factor, m.counts[AFTER_REJECTION])
    m.counts[AFTER_REJECTION], m.flags[DENSE_READY] = 0, 0
    if m.worst[0] > m.ever_worst[0]:
        m.ever_worst[0] = m.worst[0]
        if m.ever_worst[1] == np.inf and lost_digits(1.0 / math.sqrt(m.worst[0]), rtol + atol) > 0.0:
            m.ever_worst[1] = time_end - h
    if m.counts[STEPS] % EVERY == 0:
        lift(m.tree, m.lifting, m.z, m.y)
        compare(m.balance, m.counts[STEPS], m.y, t, w)
        accept_work(m.balance, time_end)
    for k in range(len(m.tree.kind)):
        if m.tree.kind[k] == BALL or m.tree.kind[k] == FREE:
            q = m.tree.q[k] + (3 if m.tree.kind[k] == FREE else 0)
            z = m.z[q : q + 4]
            length = math.sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2] + z[3] * z[3])
            for c in range(4):
                z[c] /= length
    m.counts[STEPS] += 1
    m.flags[STEP_ENDED] = 1
    return Status.RUNNING


@inlined
def prepare_dense(m):  # type: ignore[no-untyped-def]
    """The polynomial of the last step; three further evaluations; a code."""
    n, h, k, dense = len(m.z), m.time[LENGTH], m.k, m.dense
    if m.flags[DENSE_READY] == 1:
        return OK
    m.h[0] = h
    for i in range(n):
        m.end[i], m.z[i] = m.z[i], m.z_old[i]
    code = stages(m, DENSE)
    for i in range(n):
        m.z[i] = m.end[i]
    m.counts[EVALUATIONS] += EXTRA
    for i in range(n):
        delta = m.z[i] - m.z_old[i]
        dense[0, i] = delta
        dense[1, i] = h * k[0, i] - delta
        dense[2, i] = 2.0 * delta - h * (k[STAGES, i] + k[0, i])
        for d in range(len(m.polynomial)):
            dense[3 + d, i] = 0.0
    for d in range(len(m.polynomial)):
        for q in range(len(k)):
            factor = h * m.polynomial[d, q]
            for i in range(n):
                dense[3 + d, i] += factor * k[q, i]
    m.flags[DENSE_READY] = 1 if code == OK else 0
    return code


@inlined
def interpolate(m, time):  # type: ignore[no-untyped-def]
    """Coordinates and rates at a time within the last step, into ``m.at``."""
    x = (time - m.time[T_OLD]) / m.time[LENGTH]
    for i in range(len(m.z)):
        value = 0.0
        for d in range(POWER - 1, -1, -1):
            value = (value + m.dense[d, i]) * (x if (POWER - 1 - d) % 2 == 0 else 1.0 - x)
        m.at[i] = m.z_old[i] + value


@compiled
def state_within(m, time, y):  # type: ignore[no-untyped-def]
    """States of all bodies at a time within the last step, into y (13 bodies,); a code."""
    code = prepare_dense(m)
    interpolate(m, time)
    lift(m.tree, m.lifting, m.at, y)
    return code


@inlined
def write_outputs(m, outputs, out):  # type: ignore[no-untyped-def]
    """States at the wanted times that the last step passed; a code."""
    place = m.counts[NEXT_OUTPUT]
    while place < len(outputs) and outputs[place] <= m.time[T]:
        if outputs[place] == m.time[T]:
            lift(m.tree, m.lifting, m.z, out[place])
        else:
            code = prepare_dense(m)
            if code != OK:
                return code
            interpolate(m, outputs[place])
            lift(m.tree, m.lifting, m.at, out[place])
        place += 1
    m.counts[NEXT_OUTPUT] = place
    return OK


@compiled
def advance(m, t, w, end, rtol, atol, max_step, max_steps, outputs, out, record_t, record_y):  # type: ignore[no-untyped-def]
    """As ``runtime.integrate.loop.advance``, for the memory of a tree; t and w are data and memory of the bodies."""
    m, taken = local(m), 0
    if m.flags[STARTED] == 0:
        code = start(m, t, w, end, rtol, atol, max_step)
        if code != OK:
            return failure(code)
        m.flags[STARTED] = 1
    while taken < max_steps:
        time = m.time[T]
        if time >= end:
            return Status.REACHED_END
        h, last = step_length(m.time[NEXT_STEP], max_step, time, end)
        if too_small(h, time, end):
            return Status.STEP_TOO_SMALL
        m.flags[STEP_ENDED] = 0
        status = try_step(m, t, w, h, end if last else time + h, rtol, atol)
        if status != Status.RUNNING:
            return status
        if m.flags[STEP_ENDED] == 0:
            continue
        taken += 1
        code = write_outputs(m, outputs, out)
        if code != OK:
            return failure(code)
        if len(record_t) > 0:
            record_t[taken - 1] = m.time[T]
            lift(m.tree, m.lifting, m.z, record_y[taken - 1])
    return Status.RUNNING if m.time[T] < end else Status.REACHED_END


@compiled
def stages_repeated(m, count):  # type: ignore[no-untyped-def]
    """``count`` evaluations inside compiled code, for measuring the time of one; the codes combined."""
    code = OK
    for _ in range(count):
        code |= stages(m, ONE)
    return code
