"""The compiled integrator: Dormand and Prince's explicit Runge-Kutta method of order 8 with dense output of order 7.

Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section II.10.  The coefficients are those that SciPy
publishes on its class ``DOP853``; the loop runs in compiled code and comes back to Python for events and progress only.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.integrate import DOP853

from runtime.equations import NOT_FINITE, OK, SINGULAR, STATE, Floats, P, derivative, place_bodies
from runtime.kernels import compiled, inlined
from runtime.limits import AS_FOUND, FREE, HELD, outside
from runtime.structure import Ints

STAGES = 12
EXTRA = 3  # further stages of the dense output
ORDER = 8
POWER = 7  # terms of the dense output

SAFETY, SLOWEST, FASTEST = 0.9, 0.333, 6.0
STABLE = 5.5  # below the length of the method's interval of stability

# Where a direction leaves its cone, the moment begins with a bend that an error estimate would find by many rejected steps.
# So a limit is taken as free while its direction is inside, and as held while it is outside; the step that crosses the cone
# is taken again, up to there.
ON_CONE = 1e-9  # [rad] a direction this near to its cone is on it: the moment there is below 1e-13 of its maximum
LEAST_LANDING = 1e-12  # [s] times the larger of 1 and the time
MOST_LANDINGS = 4  # tries; then the step is taken with the limits as they are found
LOOKS = 4  # places of a step where it is looked whether a direction has crossed
FINDS = 40  # steps of the search for the crossing
FIRST_HELD = 0.05  # of the usual step: the first one with a limit held

# Codes of ``advance``: no run's status bears these numbers, so that the two cannot be taken for each other.
RUNNING, FINISHED, STEP_TOO_SMALL, FAILED_SINGULAR, FAILED_NOT_FINITE = range(10, 15)


class Table(NamedTuple):
    """Coefficients of the method."""

    a: Floats  # (16, 16)
    b: Floats  # (12,)
    error5: Floats  # (13,)
    error3: Floats  # (13,)
    dense: Floats  # (4, 16)


TABLE = Table(
    a=np.block([[np.asarray(DOP853.A), np.zeros((STAGES, 4))], [np.zeros((1, 16))], [np.asarray(DOP853.A_EXTRA)]]),
    b=np.asarray(DOP853.B).copy(),
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
    flags: Ints  # (3,) 1: dense output of the last step is ready; its end is not yet the next beginning; tries to land
    beyond: Floats  # (limits,) how far each direction is outside its cone


T, NEXT_STEP, T_OLD, LENGTH, USUAL = range(5)
EVALUATIONS, STEPS, REJECTIONS, NEXT_OUTPUT, REJECTED, BOUND = range(6)
DENSE_READY, STEP_ENDED, LANDING = range(3)


def stepper(y: Floats, t: float, limits: int) -> Stepper:
    """A stepper at the start, of a system with so many limits of motion."""
    n = len(y)
    return Stepper(
        time=np.array([t, 0.0, t, 0.0, 0.0, 0.0]), counts=np.zeros(6, np.int64), y=y.copy(), y_old=y.copy(), trial=np.zeros(n),
        k=np.zeros((STAGES + 1 + EXTRA, n)), dense=np.zeros((POWER, n)), flags=np.zeros(3, np.int64),
        beyond=np.zeros(limits), weakest=np.array([np.inf, np.inf, t]),
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


@compiled
def start(s, t, w, end, rtol, atol, first_step, max_step):  # type: ignore[no-untyped-def]
    """First derivative and first step (Hairer's choice unless given); a code as of ``derivative``."""
    n = len(s.y)
    if len(s.beyond) > 0:
        first_sides(s, t, w)
    code = derivative(s.y, t, w, s.k[0])
    s.counts[EVALUATIONS] += 1
    if code != OK:
        return code
    s.weakest[0] = s.weakest[1] = w.weakest[0]
    for i in range(n):
        if not abs(s.k[0, i]) < np.inf:
            return NOT_FINITE
    if first_step > 0.0:
        s.time[NEXT_STEP] = min(first_step, max_step)
        return OK
    d0 = d1 = 0.0
    for i in range(n):
        scale = atol + rtol * abs(s.y[i])
        d0 += (s.y[i] / scale) ** 2
        d1 += (s.k[0, i] / scale) ** 2
    d0, d1 = math.sqrt(d0 / n), math.sqrt(d1 / n)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h = min(h, end - s.time[T], max_step)
    for i in range(n):
        s.trial[i] = s.y[i] + h * s.k[0, i]
    code = derivative(s.trial, t, w, s.k[1])
    s.counts[EVALUATIONS] += 1
    if code != OK:
        return code
    d2 = 0.0
    for i in range(n):
        scale = atol + rtol * abs(s.y[i])
        d2 += ((s.k[1, i] - s.k[0, i]) / scale) ** 2
    d2 = math.sqrt(d2 / n) / h
    largest = max(d1, d2)
    second = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / ORDER)
    s.time[NEXT_STEP] = min(100.0 * h, second, max_step)
    return OK


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
        code |= derivative(s.trial, t, w, s.k[q])
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
    s.flags[DENSE_READY] = 1
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


@inlined
def outside_at(y, t, w, out):  # type: ignore[no-untyped-def]
    """How far every direction is outside its cone in a state."""
    place_bodies(y, t, w)
    outside(t, w, out)


@inlined
def first_sides(s, t, w):  # type: ignore[no-untyped-def]
    """Take every limit as its direction is, a little after the start: one that lies on its cone goes to one side."""
    for k in range(len(w.limits.mode)):
        w.limits.mode[k] = AS_FOUND
    s.counts[EVALUATIONS] += 1
    if derivative(s.y, t, w, s.k[1]) != OK:
        return
    for i in range(len(s.y)):
        s.trial[i] = s.y[i] + 1e-6 * s.k[1, i]
    outside_at(s.trial, t, w, s.beyond)
    for k in range(len(s.beyond)):
        w.limits.mode[k] = FREE if s.beyond[k] < 0.0 else HELD


@inlined
def next_side(beyond, mode, landing):  # type: ignore[no-untyped-def]
    """How to take a limit after a step; one that was to end on its cone has crossed it."""
    near = -10.0 * ON_CONE if landing else ON_CONE
    if mode == FREE:
        return HELD if beyond > near else FREE
    if mode == HELD:
        return FREE if beyond < -near else HELD
    return FREE if beyond < 0.0 else HELD


@inlined
def change_sides(s, t, w, table, landing):  # type: ignore[no-untyped-def]
    """At the end of a step, take the limits that crossed their cones as they are now."""
    outside_at(s.y, t, w, s.beyond)
    changes = 0
    for k in range(len(s.beyond)):
        changes += next_side(s.beyond[k], w.limits.mode[k], landing) != w.limits.mode[k]
    if changes == 0:
        return
    prepare_dense(s, t, w, table)  # now, while the limits are as they were in the step
    for k in range(len(s.beyond)):
        w.limits.mode[k] = next_side(s.beyond[k], w.limits.mode[k], landing)


@inlined
def held(w):  # type: ignore[no-untyped-def]
    """1 if a limit is not free."""
    for k in range(len(w.limits.mode)):
        if w.limits.mode[k] != FREE:
            return 1
    return 0


@inlined
def crossed(s, w):  # type: ignore[no-untyped-def]
    """How far the limits are on the other side than they are taken for: the largest of ``s.beyond``, below 0 if none is."""
    largest = -np.inf
    for k in range(len(s.beyond)):
        if w.limits.mode[k] == FREE:
            largest = max(largest, s.beyond[k])
        elif w.limits.mode[k] == HELD:
            largest = max(largest, -s.beyond[k])
    return largest


@inlined
def between_ends(s, x, y):  # type: ignore[no-untyped-def]
    """Cubic Hermite interpolation of the last step, from its ends' states and derivatives."""
    h = s.time[LENGTH]
    for i in range(len(y)):
        a, b, slope_a, slope_b = s.y_old[i], s.y[i], h * s.k[0, i], h * s.k[STAGES, i]
        y[i] = a + x * (
            slope_a + x * (3.0 * (b - a) - 2.0 * slope_a - slope_b + x * (2.0 * (a - b) + slope_a + slope_b))
        )


@inlined
def first_crossing(s, t, w, table):  # type: ignore[no-untyped-def]
    """The fraction of the last step at which a limit is first on the other side than it is taken for; 2 if none is.

    Looked for between the ends and at the last one, then found on the dense output.  ``s.trial`` is memory.
    """
    lower, upper, value_lower, value_upper = 0.0, 2.0, 0.0, 0.0
    for q in range(1, LOOKS + FINDS + 1):
        if upper == 2.0:
            if q > LOOKS:
                return 2.0
            x = q / LOOKS
            between_ends(s, x, s.trial)
        else:
            # The secant, kept well inside the bracket.
            x = 0.5 * (lower + upper)
            if value_lower < 0.0 < value_upper:
                x = lower - value_lower * (upper - lower) / (value_upper - value_lower)
                x = min(max(x, lower + 1e-3 * (upper - lower)), upper - 1e-3 * (upper - lower))
            interpolate(s, s.time[T_OLD] + x * s.time[LENGTH], s.trial)
        outside_at(s.trial, t, w, s.beyond)
        value = crossed(s, w)
        if upper == 2.0:
            if value > (ON_CONE if q == LOOKS else 0.0):
                lower, upper = (q - 1.0) / LOOKS, x
                if prepare_dense(s, t, w, table) != OK:
                    return 2.0
        elif abs(value) <= ON_CONE:
            return x
        elif value > 0.0:
            upper, value_upper = x, value
        else:
            lower, value_lower = x, value
    return upper


@compiled
def advance(s, t, w, table, end, rtol, atol, max_step, max_steps, outputs, out, record_t, record_y):  # type: ignore[no-untyped-def]
    """Up to ``max_steps`` accepted steps towards ``end``.

    ``outputs`` (m,) are the times wanted; states at those that were passed go to ``out`` (m, n).  Every step goes to
    ``record_t``, ``record_y`` unless they are empty.
    Returns RUNNING when the steps are used up, else why it stopped.
    """
    n = len(s.y)
    taken = 0
    limits = len(s.beyond) > 0
    while taken < max_steps:
        time, h = s.time[T], s.time[NEXT_STEP]
        if time >= end:
            return FINISHED
        if s.flags[STEP_ENDED] == 1:
            normalise(s.y)
            for i in range(n):
                s.k[0, i] = s.k[STAGES, i]
            s.flags[STEP_ENDED] = 0
        h = min(h, max_step)
        last = time + 1.01 * h >= end
        if last:
            h = end - time
        if not h > 4.0 * abs(np.spacing(time)):
            return STEP_TOO_SMALL
        code, weakest = OK, np.inf
        for q in range(1, STAGES):
            combine(s.y, h, table.a[q], s.k, q, s.trial)
            code |= derivative(s.trial, t, w, s.k[q])
            weakest = min(weakest, w.weakest[0])
        s.counts[EVALUATIONS] += STAGES - 1
        combine(s.y, h, table.b, s.k, STAGES, s.trial)
        error = error_norm(s, table, h, rtol, atol) if code == OK else np.inf
        if not error < np.inf:
            # A singular or non-finite stage: try a much shorter step, and give up when that does not help.
            if h < 1e-10 * max(1.0, abs(time)):
                return FAILED_SINGULAR if code & SINGULAR else FAILED_NOT_FINITE
            s.counts[REJECTIONS] += 1
            s.counts[REJECTED] = 1
            s.time[NEXT_STEP] = 0.1 * h
            continue
        factor = FASTEST if error == 0.0 else min(FASTEST, max(SLOWEST, SAFETY * error ** (-1.0 / ORDER)))
        if error > 1.0:
            s.counts[REJECTIONS] += 1
            s.counts[REJECTED] = 1
            s.time[NEXT_STEP] = h * min(1.0, factor)
            continue
        code = derivative(s.trial, t, w, s.k[STAGES])
        s.counts[EVALUATIONS] += 1
        if code != OK:
            return FAILED_SINGULAR if code & SINGULAR else FAILED_NOT_FINITE
        weakest = min(weakest, w.weakest[0])
        for i in range(n):
            s.y_old[i] = s.y[i]
            s.y[i] = s.trial[i]
        s.time[T_OLD], s.time[LENGTH] = time, h
        s.flags[DENSE_READY] = 0
        if limits:
            landing, was_held = s.flags[LANDING] > 0, held(w)
            if not landing:
                s.time[USUAL + was_held] = h
            fraction = first_crossing(s, t, w, table) if s.flags[LANDING] < MOST_LANDINGS else 2.0
            if fraction <= 1.0 and fraction * h <= LEAST_LANDING * max(1.0, abs(time)):
                fraction = 0.0  # the step begins on the cone, on the other side: take it so from the start
            again = fraction <= 1.0 and not (landing and fraction > 0.9)
            if again:
                for i in range(n):
                    s.y[i] = s.y_old[i]
            if fraction == 0.0 or not again:
                change_sides(s, t, w, table, landing or again)
            if again:
                s.counts[REJECTIONS] += 1
                s.flags[LANDING] += 1
                s.time[NEXT_STEP] = fraction * h if fraction > 0.0 else h
                if s.flags[LANDING] == MOST_LANDINGS:
                    for k in range(len(w.limits.mode)):
                        w.limits.mode[k] = AS_FOUND
                continue
            now_held = held(w)
            if landing and now_held != was_held:
                # After the crossing go on with steps as they were when it was so before.
                usual = s.time[USUAL + now_held]
                if usual == 0.0:
                    usual = s.time[USUAL + was_held] * (FIRST_HELD if now_held == 1 else 1.0)
                factor = usual / h
                s.counts[REJECTED] = 0
            s.flags[LANDING] = 0
        if weakest < s.weakest[1]:
            s.weakest[1], s.weakest[2] = weakest, time
        s.time[T] = end if last else time + h
        s.time[NEXT_STEP] = h * (min(1.0, factor) if s.counts[REJECTED] == 1 else factor)
        s.counts[REJECTED] = 0
        s.counts[STEPS] += 1
        s.counts[BOUND] += at_stability_bound(s, table)
        s.flags[STEP_ENDED] = 1
        taken += 1
        while s.counts[NEXT_OUTPUT] < len(outputs) and outputs[s.counts[NEXT_OUTPUT]] <= s.time[T]:
            wanted = s.counts[NEXT_OUTPUT]
            if prepare_dense(s, t, w, table) != OK:
                return FAILED_SINGULAR
            interpolate(s, outputs[wanted], out[wanted])
            s.counts[NEXT_OUTPUT] += 1
        if len(record_t) > 0:
            record_t[taken - 1] = s.time[T]
            for i in range(n):
                record_y[taken - 1, i] = s.y[i]
    return RUNNING if s.time[T] < end else FINISHED
