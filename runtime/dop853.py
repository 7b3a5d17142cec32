"""Dormand and Prince's explicit Runge-Kutta method of order 8 with dense output of order 7, in compiled code.

Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section II.10.  The coefficients are those that SciPy
publishes on its class ``DOP853``; ``runtime.march`` takes the steps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.integrate import DOP853

from runtime.equations import OK, STATE, P, derivative
from runtime.kernels import compiled, inlined
from runtime.structure import Floats, Ints

STAGES = 12
EXTRA = 3  # further stages of the dense output
ORDER = 8
POWER = 7  # terms of the dense output

LOOKS = 4  # places of a step where it is looked whether a direction has crossed its cone
STABLE = 5.5  # below the length of the method's interval of stability


class Table(NamedTuple):
    """Coefficients of the method."""

    a: Floats  # (16, 16)
    b: Floats  # (12,)
    c: Floats  # (16,) where the stages stand in the step
    error5: Floats  # (13,)
    error3: Floats  # (13,)
    dense: Floats  # (4, 16)


TABLE = Table(
    a=np.block([[np.asarray(DOP853.A), np.zeros((STAGES, 4))], [np.zeros((1, 16))], [np.asarray(DOP853.A_EXTRA)]]),
    b=np.asarray(DOP853.B).copy(),
    c=np.concatenate([DOP853.C, [1.0], DOP853.C_EXTRA]),
    error5=np.asarray(DOP853.E5).copy(),
    error3=np.asarray(DOP853.E3).copy(),
    dense=np.asarray(DOP853.D).copy(),
)


class Stepper(NamedTuple):
    """Where an integration stands; changed in place, so that it can be left and taken up again."""

    time: Floats  # (6,) t, next step, start and length of the last step, usual lengths with all limits free, and with one held
    counts: Ints  # (6,) evaluations, steps, rejections, next output, 1 after a rejected step, steps at the bound of stability
    y: Floats  # (n,)
    y_old: Floats  # (n,) at the start of the last step
    trial: Floats  # (n,)
    k: Floats  # (16, n) stages; the last row of a step is the first of the next
    dense: Floats  # (7, n) polynomial of the last step
    weakest: Floats  # (3,) of ``Work.weakest``: at the start, the least of all accepted steps, the time of that
    flags: Ints  # (4,) 1: dense output of the last step is ready; its end is not yet the next beginning; tries to land; started
    beyond: Floats  # (limits,) how far each direction is outside its cone
    seen: Floats  # (LOOKS + 1, limits) the same, at the start of the last step and at places in it


T, NEXT_STEP, T_OLD, LENGTH, USUAL = range(5)
EVALUATIONS, STEPS, REJECTIONS, NEXT_OUTPUT, REJECTED, BOUND = range(6)
DENSE_READY, STEP_ENDED, LANDING, STARTED = range(4)


def stepper(y: Floats, t: float, limits: int, first_step: float = 0.0) -> Stepper:
    """A stepper at the start, of a system with so many limits of motion; a first step of 0 is chosen by the method."""
    n = len(y)
    return Stepper(
        time=np.array([t, first_step, t, 0.0, 0.0, 0.0]), counts=np.zeros(6, np.int64), y=y.copy(),
        y_old=y.copy(), trial=np.zeros(n),
        k=np.zeros((STAGES + 1 + EXTRA, n)), dense=np.zeros((POWER, n)), flags=np.zeros(4, np.int64),
        beyond=np.zeros(limits),
        seen=np.zeros((LOOKS + 1, limits)), weakest=np.array([np.inf, np.inf, t]),
    )  # fmt: skip


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
def normalise(y):  # type: ignore[no-untyped-def]
    """Give the Euler parameters unit length again; the equations of motion depend on their direction only."""
    for b in range(len(y) // STATE):
        o = b * STATE + P
        norm = math.sqrt(y[o] * y[o] + y[o + 1] * y[o + 1] + y[o + 2] * y[o + 2] + y[o + 3] * y[o + 3])
        for k in range(4):
            y[o + k] /= norm


@compiled
def normalise_all(states):  # type: ignore[no-untyped-def]
    """The same for many states (n, 13 bodies)."""
    for n in range(len(states)):
        normalise(states[n])


@inlined
def error_norm(s, table, h, rtol, atol):  # type: ignore[no-untyped-def]
    """Hairer's combination of the estimates of order 5 and 3, in units of the tolerance."""
    n = len(s.y)
    e5 = e3 = 0.0
    for i in range(n):
        scale = atol + rtol * max(abs(s.y[i]), abs(s.trial[i]))
        v5 = v3 = 0.0
        for q in range(STAGES):
            v5 += table.error5[q] * s.k[q, i]
            v3 += table.error3[q] * s.k[q, i]
        e5 += (v5 / scale) ** 2
        e3 += (v3 / scale) ** 2
    denominator = e5 + 0.01 * e3
    if denominator == 0.0:
        return 0.0
    return abs(h) * e5 / math.sqrt(denominator * n)


@inlined
def at_stability_bound(s, table):  # type: ignore[no-untyped-def]
    """1 if stability rather than accuracy bounds the step just tried.  Hairer and Wanner II, section IV.2.

    The last two stages stand at the end of the step: how much their derivatives differ tells the largest rate in sight.
    """
    rates = distances = 0.0
    for i in range(len(s.y)):
        distance = 0.0
        for q in range(STAGES):
            distance += (table.b[q] - table.a[STAGES - 1, q]) * s.k[q, i]
        rates += (s.k[STAGES, i] - s.k[STAGES - 1, i]) ** 2
        distances += distance * distance
    return 1 if distances > 0.0 and rates > STABLE * STABLE * distances else 0


@inlined
def prepare_dense(s, t, w, table):  # type: ignore[no-untyped-def]
    """The polynomial of the last step; three further evaluations."""
    n, h = len(s.y), s.time[LENGTH]
    if s.flags[DENSE_READY] == 1:
        return OK
    code = OK
    for q in range(STAGES + 1, STAGES + 1 + EXTRA):
        combine(s.y_old, h, table.a[q], s.k, q, s.trial)
        code |= derivative(s.time[T_OLD] + table.c[q] * h, s.trial, t, w, s.k[q])
    s.counts[EVALUATIONS] += EXTRA
    for i in range(n):
        delta = s.y[i] - s.y_old[i]
        s.dense[0, i] = delta
        s.dense[1, i] = h * s.k[0, i] - delta
        s.dense[2, i] = 2.0 * delta - h * (s.k[STAGES, i] + s.k[0, i])
    for d in range(4):
        to = s.dense[3 + d]
        for i in range(n):
            to[i] = 0.0
        for q in range(STAGES + 1 + EXTRA):
            factor, row = h * table.dense[d, q], s.k[q]
            for i in range(n):
                to[i] += factor * row[i]
    s.flags[DENSE_READY] = 1 if code == OK else 0
    return code


@inlined
def interpolate(s, time, y):  # type: ignore[no-untyped-def]
    """State within the last step."""
    x = (time - s.time[T_OLD]) / s.time[LENGTH]
    for i in range(len(y)):
        value = 0.0
        for d in range(POWER - 1, -1, -1):
            value = (value + s.dense[d, i]) * (x if (POWER - 1 - d) % 2 == 0 else 1.0 - x)
        y[i] = s.y_old[i] + value
    normalise(y)


@compiled
def interpolate_once(s, t, w, table, time, y):  # type: ignore[no-untyped-def]
    """State within the last step, called from Python."""
    code = prepare_dense(s, t, w, table)
    interpolate(s, time, y)
    return code
