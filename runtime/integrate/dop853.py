"""Dormand and Prince's explicit Runge-Kutta method of order 8 with dense output of order 7, in compiled code.

Hairer, Norsett and Wanner (1993), Solving Ordinary Differential Equations I, section II.10; ``runtime.integrate.loop`` takes
the steps.  Brief steps, which calls of controllers and of ``Stepping`` cut short, are of order 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from runtime.dynamics.elimination import PIVOT_TOLERANCE, code_of_pivot
from runtime.dynamics.energy import powers
from runtime.dynamics.equations import derivative
from runtime.dynamics.layout import OK, OMEGA, STATE, P, R, V
from runtime.dynamics.lift import OF_TURN
from runtime.dynamics.limits_along import begin_limits, limits_hold, powers_of_limits, store_limits
from runtime.integrate import stepping
from runtime.integrate.balance import BEFORE, BEGIN, DONE, END, TRIAL, UNRESOLVED_NOW, is_compared, keep_powers
from runtime.integrate.dop853_coefficients import BRIEF, COEFFICIENTS, EXTRA, STAGES, BriefSteps, Coefficients
from runtime.integrate.polynomial import POWER, put_between, set_polynomials, value_of
from runtime.integrate.quintic import SUSPICIOUS, largest_square, put_slopes, shows_error
from runtime.integrate.step_error import estimate, judge
from runtime.integrate.stepping import (
    normalise,
    serves,
)
from runtime.integrate.stiffness import STABLE, WORTHWHILE, resting, slow, speaks
from runtime.jit import addresses
from runtime.jit.compilation import inlined
from runtime.support.arrays import Floats, Ints

ATTEMPT, DENSE = 1, 2  # places in ``Memory.written``
PART = 0.5  # of the usual length: a step that is cut to less may be a brief one
# Factor by which an accepted brief step lengthens the usual step; its upper bound, in lengths of the brief step.
LONGER, LONGEST = 1.1, 100.0


class Memory(NamedTuple):
    """Memory of the method."""

    coefficients: Coefficients
    k: Floats  # (16, n) stages; the last row of a step is the first of the next
    dense: Floats  # (7 n,) polynomials of the last step
    ties: Ints  # (ties, 3) of ``runtime.integrate.quintic``: places of coordinates and of rates, number of the former
    better: Ints  # (ties,) 1: quintic polynomials are better in the last step
    compared: Ints  # (1,) 1 once this is known
    scratch: Floats  # (1,)
    # (4, n) of the last attempt: estimates of the orders 5 and 3, the way between its last two stages over its length, and
    # of kinks (``step_error.estimate``)
    errors: Floats
    # (3,) addresses of functions for all stages, of one step, of an attempt and of its dense output; 0 where there is none
    written: Ints
    length: Floats  # (1,) of a step, for these
    worst: Floats  # (1,) of their stages: inverse square of the smallest pivot ratio
    brief: BriefSteps
    longest_brief: Floats  # (1,) [s] length up to which a brief step is attempted; 0: none is


def memory(n: int, written: Sequence[int] = (0, 0, 0), ties: Ints | None = None) -> Memory:
    """Memory for states of n components.

    ``written``: addresses as of ``runtime.integrate.tree_stages``, if there are any; ``ties``: none where the dense output is
    that of order 7 throughout.
    """
    ties = np.zeros((0, 3), np.int64) if ties is None else ties
    return Memory(
        coefficients=COEFFICIENTS, k=np.zeros((STAGES + 1 + EXTRA, n)), dense=np.zeros(POWER * n), ties=ties,
        better=np.zeros(len(ties), np.int64), compared=np.zeros(1, np.int64),
        scratch=np.zeros(1), errors=np.zeros((4, n)), written=np.array(written, np.int64), length=np.zeros(1), worst=np.zeros(1),
        brief=BRIEF, longest_brief=np.zeros(1),
    )  # fmt: skip


def ties_of_bodies(bodies: int) -> Ints:
    """``Memory.ties`` of states of bodies."""
    of_one = [*((R + c, V + c, 1) for c in range(3)), (P, OMEGA, OF_TURN)]
    found = [(STATE * b + q, STATE * b + u, n) for b in range(bodies) for q, u, n in of_one]
    return np.array(found, np.int64).reshape(-1, 3)


@inlined
def combine(y, h, a, k, stages, to):  # type: ignore[no-untyped-def]
    """Put y + h sum a_s k_s into ``to``."""
    n = len(y)
    for i in range(n):
        to[i] = 0.0
    for s in range(stages):
        factor = a[s]
        if factor != 0.0:
            row = k[s]
            for i in range(n):
                to[i] += factor * row[i]
    for i in range(n):
        to[i] = y[i] + h * to[i]


@inlined
def written_stages(m, w, place, y, h):  # type: ignore[no-untyped-def]
    """Stages of a step of length h from y by one function; a code."""
    own = m.own
    own.length[0] = h
    addresses.call(
        own.written[place], y.ctypes.data, own.k.ctypes.data, own.length.ctypes.data, w.tree.constants.ctypes.data,
        m.trial.ctypes.data, own.errors.ctypes.data, own.worst.ctypes.data,
    )  # fmt: skip
    return OK if own.worst[0] < 1.0 / PIVOT_TOLERANCE**2 else code_of_pivot(own.worst[0])


@inlined
def attempt_written(m, t, w, h, rtol, atol):  # type: ignore[no-untyped-def]
    """As ``attempt``, by one function for all stages."""
    k = m.own.k
    code = written_stages(m, w, ATTEMPT, m.y, h)
    m.s.evaluations[0] += STAGES
    code = judge(m, t, w, h, code, rtol, atol)
    for i in range(len(m.y)):
        m.end[i] = k[STAGES, i]
    m.s.smallest_pivot[0] = 1.0 / math.sqrt(m.own.worst[0])
    if m.s.error[0] <= 1.0 and len(w.tree.limits.q) > 0:
        if is_compared(m.balance, m.s.steps[0], w):
            store_limits(m.trial, t, w)
        integrate_powers_written(m, t, w, h)
    return code


@inlined
def integrate_powers_written(m, t, w, h):  # type: ignore[no-untyped-def]
    """As ``integrate_powers``, where the only sources are limits of coordinates; the dense output finds the other powers."""
    b, stages, weights = m.balance, m.own.k, m.own.coefficients.b
    for k in range(b.work.shape[1]):
        q, damping, square = w.tree.limits.q[k], t.limits.damping[k], 0.0
        if damping > 0.0:
            for stage in range(STAGES):
                square += weights[stage] * (stages[stage, q] * stages[stage, q])
        b.power[END, k] = -damping * stages[STAGES, q] * stages[STAGES, q]
        b.work[TRIAL, k], b.energy[UNRESOLVED_NOW] = b.work[DONE, k] - h * damping * square, 0.0


@serves(stepping.attempt, Memory)
def attempt(m, t, w, h, rtol, atol):  # type: ignore[no-untyped-def]
    """Twelve stages, the error, and the derivative at the end of a step that is accurate enough."""
    time, k, coefficients, n = m.s.time[0], m.own.k, m.own.coefficients, len(m.y)
    stages = len(coefficients.b)
    m.s.brief[0] = 0.0
    for i in range(n):
        k[0, i] = m.begin[i]
    if m.own.written[ATTEMPT] != 0 and begin_limits(m.y, t, w):
        code = attempt_written(m, t, w, h, rtol, atol)
        if limits_hold(m.trial, w):
            return code
    if soon_ends(m, w, h):
        if h <= m.own.longest_brief[0]:
            code = attempt_brief(m, t, w, h, rtol, atol)
            if m.s.brief[0] == 1.0:
                return code
        else:
            m.own.longest_brief[0] *= LONGER
    code, smallest_pivot = evaluate_stages(m, m.y, time, h, coefficients.a, coefficients.c, 1, stages, t, w)
    combine(m.y, h, coefficients.b, k, STAGES, m.trial)
    estimate(m, t, w)
    code = judge(m, t, w, h, code, rtol, atol)
    if m.s.error[0] <= 1.0:
        code = derivative(time + h, m.trial, t, w, m.end)
        m.s.evaluations[0] += 1
        smallest_pivot = min(smallest_pivot, w.smallest_pivot[0])
        for i in range(n):
            k[STAGES, i] = m.end[i]
        integrate_powers(m.balance, m.trial, m.end, h, coefficients.b, coefficients.error5, t, w)
    m.s.smallest_pivot[0] = smallest_pivot
    return code


@inlined
def evaluate_stages(m, y, time, h, a, c, first, last, t, w):  # type: ignore[no-untyped-def]
    """Stages ``first`` to ``last`` - 1 of a step from y; a code and the smallest pivot."""
    k, code, smallest_pivot = m.own.k, OK, np.inf
    for q in range(first, last):  # with a constant bound it would be unrolled and take seconds to compile
        combine(y, h, a[q], k, q, m.trial)
        code |= derivative(time + c[q] * h, m.trial, t, w, k[q])
        keep_powers(m.balance, m.trial, k[q], t, w, q)
        smallest_pivot = min(smallest_pivot, w.smallest_pivot[0])
    m.s.evaluations[0] += last - first
    return code, smallest_pivot


@inlined
def soon_ends(m, w, h):  # type: ignore[no-untyped-def]
    """Whether an end of the run cuts the attempt to a part of its usual length, in a motion without changes of mode."""
    quiet = len(w.switches.mode) + len(w.events.value) + m.kinks.shape[1] + m.slips.shape[1] == 0
    return quiet and m.s.projected[0] == 0.0 and h < PART * m.s.next_length[0]


@inlined
def attempt_brief(m, t, w, h, rtol, atol):  # type: ignore[no-untyped-def]
    """``attempt`` by the method of order 5, whose seventh stage is the end; ``s.brief`` is 0 where it is not accurate enough.

    Accepted if its error per unit of time is at most the tolerance over the usual length of a step.
    """
    own, k, errors, n = m.own, m.own.k, m.own.errors, len(m.y)
    of, stages = own.brief, len(own.brief.c)
    code, smallest_pivot = evaluate_stages(m, m.y, m.s.time[0], h, of.a, of.c, 1, stages, t, w)
    for i in range(n):
        m.end[i] = k[stages - 1, i]
        errors[0, i] = errors[1, i] = errors[2, i] = 0.0
    for q in range(stages):
        for i in range(n):
            errors[0, i] += of.error[q] * k[q, i]
    code = judge(m, t, w, h, code, rtol, atol)
    error, longer = m.s.error[0], m.s.next_length[0] / h
    if not error * longer <= 1.0:
        own.longest_brief[0] = h * min(PART, (error * longer) ** -0.2)
        return code
    for i in range(n):
        k[STAGES, i] = m.end[i]
    integrate_powers(m.balance, m.trial, m.end, h, of.a[stages - 1], of.error, t, w)
    m.s.brief[0], m.s.smallest_pivot[0] = 1.0, smallest_pivot
    # The usual length grows until brief steps are not accurate enough for it.
    m.s.factor[0] = min(LONGER * longer, LONGEST)
    return code


@inlined
def integrate_powers(b, y, y_dot, h, weights, of_error, t, w):  # type: ignore[no-untyped-def]
    """The work until the end of an accurate step, a state y with the derivative y', and a bound of the error of its integrals.

    ``weights``: of the stages; ``of_error``: likewise, and perhaps that of the end behind them.
    """
    if b.work.shape[1] == 0:
        return
    powers(y, y_dot, t, w, b.power[END])
    for k in range(b.work.shape[1]):
        b.power[0, k], b.power[STAGES, k], b.work[TRIAL, k] = b.power[BEGIN, k], b.power[END, k], b.work[DONE, k]
    b.energy[UNRESOLVED_NOW] = 0.0
    for k in range(b.work.shape[1]):
        work = of5 = 0.0
        for q in range(len(weights)):
            work += weights[q] * b.power[q, k]
            of5 += of_error[q] * b.power[q, k]
        b.work[TRIAL, k] += h * work
        b.energy[UNRESOLVED_NOW] += h * abs(of5)


@serves(stepping.check_stiffness, Memory)
def check_stiffness(m, rtol, atol, max_step, end):  # type: ignore[no-untyped-def]
    """Count the step if stability bounds it; 1 if radau should go on.  Hairer and Wanner (1996), section IV.2.

    The last two stages are both at the end of the step; the difference of their derivatives estimates the largest eigenvalue.
    """
    k, ways, h = m.own.k, m.own.errors[2], m.s.length[0]
    rates = distances = 0.0
    for i in range(len(m.y)):
        rates += (k[STAGES, i] - k[STAGES - 1, i]) ** 2
        distances += ways[i] * ways[i]
    bounded = distances > 0.0 and rates > STABLE * STABLE * distances
    m.s.bounded[0] += bounded
    if m.s.needed[0] == 0:
        return 0
    stiff = bounded
    if distances > 0.0:
        square, tolerance = rates / distances, rtol if rtol > 0.0 else atol
        stiff = stiff or slow(m, k[0], k[STAGES], square, tolerance) or resting(m, k[0], square, rtol, atol)
        if stiff:
            m.s.reach[0] = min(STABLE, math.sqrt(square))
    speaking = speaks(m, stiff and h < 0.99 * max_step)
    return 1 if speaking and end - m.s.time[0] > WORTHWHILE * h else 0


@serves(stepping.prepare_dense, Memory)
def prepare_dense(m, t, w):  # type: ignore[no-untyped-def]
    """The polynomial of the last step; three further evaluations."""
    n, h, k, dense, coefficients = len(m.y), m.s.length[0], m.own.k, m.own.dense, m.own.coefficients
    if m.s.dense_ready[0] == 1:
        return OK
    code, brief, stages = OK, m.s.brief[0] == 1.0, len(coefficients.b)
    if brief:
        code, _ = evaluate_stages(m, m.y_old, m.s.began[0], h, coefficients.a, coefficients.c, 1, stages, t, w)
    if not brief and m.own.written[DENSE] != 0 and w.tree.limits.ready[0] > 0:
        code = written_stages(m, w, DENSE, m.y_old, h)
        for q in range(len(k)):
            powers_of_limits(k[q], t, w)
            keep_powers(m.balance, m.trial, k[q], t, w, q)
        m.s.evaluations[0] += EXTRA
    else:
        of_dense, _ = evaluate_stages(
            m, m.y_old, m.s.began[0], h, coefficients.a, coefficients.c, STAGES + 1, len(k), t, w
        )
        code |= of_dense
    for i in range(n):
        set_polynomials(m.y_old[i:], m.y[i:], k, coefficients.dense, i, m.s, dense[POWER * i :])
    m.s.dense_ready[0] = 1 if code == OK else 0
    m.own.compared[0] = 0
    for i in range(len(m.own.better)):
        m.own.better[i] = 0
    return code


@inlined
def choose_polynomials(m):  # type: ignore[no-untyped-def]
    """Find the coordinates whose quintic polynomials are better in the last step, because it is stiff."""
    own, size = m.own, STATE if m.bodies[0] > 0 else len(m.y)  # the coordinates of a tree as those of one body
    own.compared[0] = 1
    square = largest_square(own.k, 0, size * max(m.bodies[0], 1), size, 1) if len(own.ties) > 0 else 0.0
    for i in range(len(own.ties) if square >= SUSPICIOUS else 0):
        own.better[i] = shows_error(m, own.ties[i, 0], own.ties[i, 1], own.ties[i, 2], square)


@serves(stepping.interpolate, Memory)
def interpolate(m, time, y):  # type: ignore[no-untyped-def]
    """The polynomial of order 7, or quintic ones of coordinates and their slopes where these are better."""
    x, own = (time - m.s.began[0]) / m.s.length[0], m.own
    if m.s.step_ended[0] == 1 and own.compared[0] == 0:
        choose_polynomials(m)  # for results; changes of mode are located on the polynomial of order 7 alone
    for i in range(len(y)):
        y[i] = m.y_old[i] + value_of(own.dense[POWER * i :], 1, 0, x)
    for i in range(len(own.ties)):
        if own.better[i] == 1:
            # Not ``s.end``: a change of mode at the end of the step replaces the derivatives there.
            put_slopes(m, own.ties[i, 0], own.ties[i, 1], own.ties[i, 2], x, own.k[0], own.k[STAGES], y)
    normalise(y, m.bodies[0])


@serves(stepping.interpolate_work, Memory)
def interpolate_work(m, time, work):  # type: ignore[no-untyped-def]
    """The polynomial of order 7 of the work."""
    b, h, coefficients = m.balance, m.s.length[0], m.own.coefficients
    x = (time - m.s.began[0]) / h
    for k in range(len(work)):
        delta = 0.0
        for q in range(len(coefficients.b)):
            delta += h * coefficients.b[q] * b.power[q, k]
        begin, end, value = h * b.power[0, k], h * b.power[STAGES, k], 0.0
        for d in range(len(coefficients.dense) - 1, -1, -1):
            term = 0.0
            for q in range(coefficients.dense.shape[1]):
                term += h * coefficients.dense[d, q] * b.power[q, k]
            value = (value + term) * (x if d % 2 == 1 else 1.0 - x)
        value = (value + 2.0 * delta - end - begin) * x
        value = (value + begin - delta) * (1.0 - x)
        work[k] = b.work[BEFORE, k] + (value + delta) * x


@serves(stepping.between_ends, Memory)
def between_ends(m, x, y):  # type: ignore[no-untyped-def]
    """Hermite interpolation of the last step, from the states and derivatives at its ends."""
    put_between(m.y_old, m.y, m.begin, m.end, m.own.ties, m.s.length[0], x, 0, 1, y)
