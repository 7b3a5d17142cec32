"""Many runs of one system side by side: DOP853 in vector instructions, each lane with its own step.

A lane is a column of all arrays.  Every lane takes its own case, its own time and its own step; all make one attempt together,
and a lane whose case has ended gets the next.  What a case comes to does not depend on its lane or on its neighbours.
The steps are those of ``runtime.integrate.loop``, for systems without limits, contacts, loads and drivers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.elimination import PIVOT_TOLERANCE
from runtime.dynamics.layout import LANES, STATE, P
from runtime.integrate.dop853 import EXTRA, FASTEST, ORDER, POWER, SAFETY, SLOWEST, STAGES, TABLE
from runtime.integrate.loop import (
    CLOSE_TO_SINGULAR,
    FAILED_NOT_FINITE,
    FAILED_SINGULAR,
    FINISHED,
    FIRST_ORDER,
    STEP_TOO_SMALL,
    too_small,
)
from runtime.integrate.settings import Settings
from runtime.jit import addresses
from runtime.jit.cache import compiled, inlined
from runtime.jit.pointers import by_pointer
from runtime.support.arrays import Floats, Ints

STEPS_USED_UP, FINISHED_CLOSE = (
    15,
    16,
)  # beside the codes of ``runtime.integrate.loop``; the latter passed close to a singular pose
# What is told of a case.
EVALUATIONS, STEPS, REJECTIONS = range(3)
SOUND, SINGULAR, NOT_FINITE = range(3)  # of an evaluation in a lane


def _combination(coefficients: Floats) -> tuple[Ints, Floats]:
    """Stages and factors of sums, without zeros; filled up to whole groups of four by zeros times the first stage."""
    which, factors = np.zeros(coefficients.shape, np.int64), np.zeros(coefficients.shape)
    for row, values in enumerate(coefficients):
        (used,) = np.nonzero(values)
        which[row, : len(used)], factors[row, : len(used)] = used, values[used]
    return which, factors


# What is summed: the stages' places (rows 1 to 15), the end of the step, both estimates of its error.
END, ERROR5, ERROR3 = range(STAGES + 1 + EXTRA, STAGES + 4 + EXTRA)
SUMS = np.zeros((STAGES + 4 + EXTRA, 16))
SUMS[: len(TABLE.a)] = TABLE.a
SUMS[END, :STAGES], SUMS[ERROR5, : STAGES + 1], SUMS[ERROR3, : STAGES + 1] = TABLE.b, TABLE.error5, TABLE.error3
WHICH, FACTORS = _combination(SUMS)
GROUPS = -(-np.count_nonzero(SUMS, axis=1) // 4)


class Lanes(NamedTuple):
    """Memory of the lanes.  States are flat, (n * LANES,): lanes are next to each other, so that loops become vectors."""

    which: Ints  # (19, 16) stages of the sums
    factors: Floats  # (19, 16)
    groups: Ints  # (19,) of four stages
    polynomial: Floats  # (4, 16) of the dense output
    bodies: Ints  # (1,) how many have Euler parameters, from the top
    parts: Ints  # (parts, 2) where what changes begins and ends in a state: that of bodies that are not fixed
    y: Floats
    trial: Floats
    end: Floats  # of the step
    k: Floats  # (16, n * LANES) stages
    error5: Floats
    error3: Floats
    h: Floats  # the lanes' steps, for every number of the state
    taken: Floats  # 1 where the step is taken
    constants: Floats  # (constants, LANES)
    worst: Floats  # (LANES,)
    time: Floats  # (LANES,)
    length: Floats  # (LANES,) of the step that is tried
    next_length: Floats  # (LANES,)
    error: Floats  # (2, LANES) sums of squares of the two estimates
    start_worst: Floats  # (LANES,) at the start of each case
    ever_worst: Floats  # (LANES,) the largest since
    sound: Ints  # (LANES,)
    rejected: Ints  # (LANES,) 1 after a rejected step
    accepted: Ints  # (LANES,)
    between: Ints  # (LANES,) 1 where an output lies within the step
    case: Ints  # (LANES,) -1: none
    output: Ints  # (LANES,) number of the next output
    ready_y: Floats  # cases that are ready to begin
    ready_k: Floats
    ready_constants: Floats
    ready_length: Floats  # (LANES,)
    ready_sound: Ints  # (LANES,)
    ready_worst: Floats  # (LANES,)
    place: Ints  # (4,) next case to make ready, first of those ready, how many are ready, next of them
    dense: Floats  # (POWER,)


def lanes(fixed: Sequence[bool], constants: int, *, moved: bool = False) -> Lanes:
    """Memory for states of bodies, of which ``fixed`` tells which do not move; ``moved``: with how they move, below them."""
    bodies = len(fixed)
    size = bodies * STATE * LANES * (2 if moved else 1)
    free = [b for b, still in enumerate([*fixed, *fixed] if moved else fixed) if not still]
    parts = np.array([(b * STATE * LANES, (b + 1) * STATE * LANES) for b in free], np.int64).reshape(-1, 2)
    flat, wide = (np.zeros(size) for _ in range(9)), (np.zeros(LANES, np.int64) for _ in range(6))
    y, trial, end, error5, error3, h, taken, ready_y, ready_k = flat
    sound, rejected, accepted, between, output, ready_sound = wide
    return Lanes(
        which=WHICH, factors=FACTORS, groups=GROUPS, polynomial=TABLE.dense,
        bodies=np.array([bodies]), parts=parts, y=y, trial=trial, end=end,
        k=np.zeros((STAGES + 1 + EXTRA, size)), error5=error5, error3=error3, h=h, taken=taken,
        constants=np.zeros((constants, LANES)), worst=np.zeros(LANES), start_worst=np.zeros(LANES),
        ever_worst=np.zeros(LANES), time=np.zeros(LANES), length=np.zeros(LANES),
        next_length=np.zeros(LANES), error=np.zeros((2, LANES)), sound=sound, rejected=rejected, accepted=accepted,
        between=between, case=np.full(LANES, -1), output=output, ready_y=ready_y, ready_k=ready_k,
        ready_constants=np.zeros((constants, LANES)), ready_length=np.zeros(LANES), ready_sound=ready_sound,
        ready_worst=np.zeros(LANES), place=np.zeros(4, np.int64), dense=np.zeros(POWER),
    )  # fmt: skip


class Results(NamedTuple):
    """What ``integrate`` fills."""

    out: Floats  # (cases, times, n) states, NaN where there is none
    status: Ints  # (cases,) 0 where a case has not ended
    counts: Ints  # (cases, 3)
    reached: Floats  # (cases,) [s]


def arguments(how: Settings, states: Floats, constants: Floats) -> tuple[Any, Results]:
    """What ``integrate`` takes from the span on, for states (cases, n) and constants of a kernel (cases, constants)."""
    times = np.array(how.t)
    steps = np.array([how.max_step, how.first_step, how.max_steps])
    given = np.array([how.t_start, how.t_end]), np.array([how.rtol, how.atol]), steps, states, constants, times
    count, n = states.shape
    out, status = np.full((count, len(times), n), np.nan), np.zeros(count, np.int64)
    return given, Results(out, status, np.zeros((count, 3), np.int64), np.zeros(count))


@inlined
def evaluate(address, y, constants, worst, out, sound):  # type: ignore[no-untyped-def]
    """State derivatives of all lanes; ``sound`` keeps the first that is wrong with a lane."""
    addresses.call(address, y.ctypes.data, constants.ctypes.data, out.ctypes.data, worst.ctypes.data)
    for lane in range(LANES):
        if not worst[lane] < 1.0 / PIVOT_TOLERANCE**2 and sound[lane] == SOUND:
            sound[lane] = SINGULAR if worst[lane] == worst[lane] else NOT_FINITE


@inlined
def keep_worst(m):  # type: ignore[no-untyped-def]
    """Remember how near to a singular pose each lane has been."""
    for lane in range(LANES):
        if m.worst[lane] > m.ever_worst[lane]:
            m.ever_worst[lane] = m.worst[lane]


@inlined
def set_sum(to, a, b, c, d, fa, fb, fc, fd):  # type: ignore[no-untyped-def]
    """Put a sum of four into ``to``."""
    for e in range(len(to)):
        to[e] = fa * a[e] + fb * b[e] + (fc * c[e] + fd * d[e])


@inlined
def add_sum(to, a, b, c, d, fa, fb, fc, fd):  # type: ignore[no-untyped-def]
    """Add a sum of four to ``to``."""
    for e in range(len(to)):
        to[e] += fa * a[e] + fb * b[e] + (fc * c[e] + fd * d[e])


@inlined
def sum_stages(m, row, to):  # type: ignore[no-untyped-def]
    """Put the sum of a row over the stages into ``to``."""
    which, factors, k = m.which[row], m.factors[row], m.k
    for p in range(len(m.parts)):
        begin, end = m.parts[p, 0], m.parts[p, 1]
        for g in range(m.groups[row]):
            o = 4 * g
            a, b, c, d = k[which[o]], k[which[o + 1]], k[which[o + 2]], k[which[o + 3]]
            if g == 0:
                set_sum(
                    to[begin:end], a[begin:end], b[begin:end], c[begin:end], d[begin:end],
                    factors[o], factors[o + 1], factors[o + 2], factors[o + 3],
                )  # fmt: skip
            else:
                add_sum(
                    to[begin:end], a[begin:end], b[begin:end], c[begin:end], d[begin:end],
                    factors[o], factors[o + 1], factors[o + 2], factors[o + 3],
                )  # fmt: skip


@inlined
def advance_by(y, h, to):  # type: ignore[no-untyped-def]
    """Put y + h to into ``to``."""
    for e in range(len(to)):
        to[e] = y[e] + h[e] * to[e]


@inlined
def stage(m, row, to):  # type: ignore[no-untyped-def]
    """Put y + h times the sum of a row over the stages into ``to``."""
    sum_stages(m, row, to)
    for p in range(len(m.parts)):
        begin, end = m.parts[p, 0], m.parts[p, 1]
        advance_by(m.y[begin:end], m.h[begin:end], to[begin:end])


@inlined
def weigh(error, y, end, rtol, atol):  # type: ignore[no-untyped-def]
    """Errors as squares in units of the tolerance."""
    for e in range(len(error)):
        v = error[e] / (atol + rtol * max(abs(y[e]), abs(end[e])))
        error[e] = v * v


@inlined
def estimate(m, rtol, atol):  # type: ignore[no-untyped-def]
    """Both estimates of the error: squares summed by lane."""
    sum_stages(m, ERROR5, m.error5)
    sum_stages(m, ERROR3, m.error3)
    for lane in range(LANES):
        m.error[0, lane] = m.error[1, lane] = 0.0
    for p in range(len(m.parts)):
        begin, end = m.parts[p, 0], m.parts[p, 1]
        weigh(m.error5[begin:end], m.y[begin:end], m.end[begin:end], rtol, atol)
        weigh(m.error3[begin:end], m.y[begin:end], m.end[begin:end], rtol, atol)
        for e in range(begin, end, LANES):
            for lane in range(LANES):
                m.error[0, lane] += m.error5[e + lane]
                m.error[1, lane] += m.error3[e + lane]


@inlined
def spread(values, to):  # type: ignore[no-untyped-def]
    """Give every number of a state its lane's value."""
    for e in range(0, len(to), LANES):
        for lane in range(LANES):
            to[e + lane] = values[lane]


@inlined
def keep(taken, new, old):  # type: ignore[no-untyped-def]
    """Put the new where a step is taken."""
    for e in range(len(old)):
        old[e] = new[e] if taken[e] == 1.0 else old[e]


@inlined
def normalise(m, y):  # type: ignore[no-untyped-def]
    """Give the Euler parameters of all lanes unit length."""
    for b in range(m.bodies[0]):
        o = (b * STATE + P) * LANES
        for lane in range(o, o + LANES):
            e0, e1, e2, e3 = y[lane], y[lane + LANES], y[lane + 2 * LANES], y[lane + 3 * LANES]
            inverse = 1.0 / math.sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
            y[lane], y[lane + LANES] = e0 * inverse, e1 * inverse
            y[lane + 2 * LANES], y[lane + 3 * LANES] = e2 * inverse, e3 * inverse


@inlined
def norm(values, y, lane, n, rtol, atol):  # type: ignore[no-untyped-def]
    """Root mean square of a lane's numbers in units of the tolerance."""
    total = 0.0
    for i in range(n):
        e = i * LANES + lane
        total += (values[e] / (atol + rtol * abs(y[e]))) ** 2
    return math.sqrt(total / n)


@inlined
def make_ready(m, address, begin, end, rtol, atol, max_step, first_step, initial, constants):  # type: ignore[no-untyped-def]
    """Load the next cases beside the lanes; their first derivatives, and first steps by Hairer's choice."""
    n, first = initial.shape[1], m.place[0]
    count = min(LANES, len(initial) - first)
    m.place[0], m.place[1], m.place[2], m.place[3] = first + count, first, count, 0
    for lane in range(LANES):
        case = first + min(lane, count - 1)
        m.ready_sound[lane] = SOUND
        for i in range(n):
            m.ready_y[i * LANES + lane] = initial[case, i]
        for i in range(len(m.constants)):
            m.ready_constants[i, lane] = constants[case, i]
    evaluate(address, m.ready_y, m.ready_constants, m.worst, m.ready_k, m.ready_sound)
    for lane in range(LANES):
        m.ready_worst[lane] = m.worst[lane]
    if first_step > 0.0:
        for lane in range(LANES):
            m.ready_length[lane] = first_step
        return
    for lane in range(LANES):
        d0 = norm(m.ready_y, m.ready_y, lane, n, rtol, atol)
        d1 = norm(m.ready_k, m.ready_y, lane, n, rtol, atol)
        h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
        h = min(h, end - begin, max_step)
        m.ready_length[lane] = h
        for i in range(n):
            e = i * LANES + lane
            m.trial[e] = m.ready_y[e] + h * m.ready_k[e]
    evaluate(address, m.trial, m.ready_constants, m.worst, m.error5, m.ready_sound)
    for e in range(len(m.error5)):
        m.error3[e] = m.error5[e] - m.ready_k[e]
    for lane in range(LANES):
        h = m.ready_length[lane]
        largest = max(
            norm(m.ready_k, m.ready_y, lane, n, rtol, atol), norm(m.error3, m.ready_y, lane, n, rtol, atol) / h
        )
        second = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / FIRST_ORDER)
        m.ready_length[lane] = min(100.0 * h, second, max_step)


@inlined
def begin_next(m, lane, begin, first_output):  # type: ignore[no-untyped-def]
    """Give a lane the next case that is ready."""
    r = m.place[3]
    m.place[3] = r + 1
    for e in range(0, len(m.y), LANES):
        m.y[e + lane] = m.end[e + lane] = m.trial[e + lane] = m.ready_y[e + r]
        m.k[0, e + lane] = m.ready_k[e + r]
    for i in range(len(m.constants)):
        m.constants[i, lane] = m.ready_constants[i, r]
    m.time[lane], m.next_length[lane], m.rejected[lane] = begin, m.ready_length[r], 0
    m.case[lane], m.output[lane], m.sound[lane] = m.place[1] + r, first_output, m.ready_sound[r]
    m.start_worst[lane] = m.ever_worst[lane] = m.ready_worst[r]


@inlined
def interpolate(m, lane, x, out):  # type: ignore[no-untyped-def]
    """State at a fraction of the step of a lane, whose further stages are known."""
    h, dense, k = m.length[lane], m.dense, m.k
    for i in range(len(out)):
        e = i * LANES + lane
        delta = m.end[e] - m.y[e]
        dense[0] = delta
        dense[1] = h * k[0, e] - delta
        dense[2] = 2.0 * delta - h * (k[STAGES, e] + k[0, e])
        for d in range(4):
            value = 0.0
            for q in range(STAGES + 1 + EXTRA):
                value += m.polynomial[d, q] * k[q, e]
            dense[3 + d] = h * value
        value = 0.0
        for d in range(POWER - 1, -1, -1):
            value = (value + dense[d]) * (x if (POWER - 1 - d) % 2 == 0 else 1.0 - x)
        out[i] = m.y[e] + value
    for b in range(m.bodies[0]):
        o = b * STATE + P
        size = math.sqrt(out[o] * out[o] + out[o + 1] * out[o + 1] + out[o + 2] * out[o + 2] + out[o + 3] * out[o + 3])
        for c in range(4):
            out[o + c] /= size


def _integrate(m, address, span, tolerances, steps, initial, constants, times, out, status, counts, reached, stop):  # type: ignore[no-untyped-def]
    """Run all cases.

    ``span``: start and end; ``tolerances``: relative, absolute; ``steps``: longest, first (0: chosen), most (as numbers).
    initial (cases, n); constants (cases, constants); states at ``times`` (m,) go to ``out`` (cases, m, n); ``status``, ``counts``
    (cases, 3) and the time ``reached`` (cases,) tell how each went.  When another thread sets ``stop`` (1,) to another number
    than 0, it is left: cases that have not ended keep the status that they were given.
    """
    m = by_pointer(m)
    begin, finish, rtol, atol = span[0], span[1], tolerances[0], tolerances[1]
    max_step, first_step, most = steps[0], steps[1], int(steps[2])
    cases, n = initial.shape
    first_output = 1 if len(times) > 0 and times[0] == begin else 0
    if first_output == 1:
        for case in range(cases):
            for i in range(n):
                out[case, 0, i] = initial[case, i]
    running = 0
    m.place[0] = m.place[2] = m.place[3] = 0
    for lane in range(LANES):
        m.case[lane], m.length[lane], m.sound[lane] = -1, 0.0, SOUND
    while True:
        for lane in range(LANES):
            if m.case[lane] < 0:
                if m.place[3] == m.place[2] and m.place[0] < cases:
                    make_ready(m, address, begin, finish, rtol, atol, max_step, first_step, initial, constants)
                if m.place[3] < m.place[2]:
                    begin_next(m, lane, begin, first_output)
                    counts[m.case[lane], EVALUATIONS] += 1 if first_step > 0.0 else 2
                    running += 1
            h = 0.0  # an idle lane stands still
            if m.case[lane] >= 0:
                h = min(m.next_length[lane], max_step)
                if m.time[lane] + 1.01 * h >= finish:
                    h = finish - m.time[lane]
            m.length[lane] = h
        if running == 0 or stop[0] != 0:
            return
        spread(m.length, m.h)
        for q in range(1, STAGES):
            stage(m, q, m.trial)
            evaluate(address, m.trial, m.constants, m.worst, m.k[q], m.sound)
            keep_worst(m)
        stage(m, END, m.end)
        estimate(m, rtol, atol)
        normalise(m, m.end)
        evaluate(address, m.end, m.constants, m.worst, m.k[STAGES], m.sound)
        wanted = 0
        for lane in range(LANES):
            m.between[lane] = 0
            if m.case[lane] >= 0 and m.output[lane] < len(times):
                m.between[lane] = 1 if times[m.output[lane]] < min(m.time[lane] + m.length[lane], finish) else 0
                wanted += m.between[lane]
        if wanted > 0:
            for q in range(STAGES + 1, STAGES + 1 + EXTRA):
                stage(m, q, m.trial)
                evaluate(address, m.trial, m.constants, m.worst, m.k[q], m.sound)
        for lane in range(LANES):
            m.accepted[lane] = 0
            case, h, time = m.case[lane], m.length[lane], m.time[lane]
            if case < 0:
                m.sound[lane] = SOUND
                continue
            counts[case, EVALUATIONS] += STAGES + EXTRA * m.between[lane]
            e5, e3 = m.error[0, lane], m.error[1, lane]
            mixed = e5 + 0.01 * e3
            error = 0.0 if mixed == 0.0 else h * e5 / math.sqrt(mixed * n)
            ended, factor = 0, 0.1
            if m.sound[lane] != SOUND or not error < np.inf:
                # A singular or non-finite stage: try a much shorter step, and give up when that does not help.
                if h < 1e-10 * max(1.0, abs(time)):
                    ended = FAILED_SINGULAR if m.sound[lane] == SINGULAR else FAILED_NOT_FINITE
                m.sound[lane], error = SOUND, np.inf
            else:
                factor = FASTEST if error == 0.0 else min(FASTEST, max(SLOWEST, SAFETY * error ** (-1.0 / ORDER)))
            if error > 1.0:
                counts[case, REJECTIONS] += 1
                m.rejected[lane], m.next_length[lane] = 1, h * min(1.0, factor)
                if ended == 0 and too_small(m.next_length[lane], time, finish):
                    ended = STEP_TOO_SMALL
            else:
                now = finish if h == finish - time else time + h
                while m.output[lane] < len(times) and times[m.output[lane]] <= now:
                    at, to = times[m.output[lane]], out[case, m.output[lane]]
                    if at == now:
                        for i in range(n):
                            to[i] = m.end[i * LANES + lane]
                    else:
                        interpolate(m, lane, (at - time) / h, to)
                    m.output[lane] += 1
                m.accepted[lane], m.time[lane] = 1, now
                m.next_length[lane] = h * (min(1.0, factor) if m.rejected[lane] == 1 else factor)
                m.rejected[lane] = 0
                counts[case, STEPS] += 1
                if now == finish:
                    close = m.ever_worst[lane] > m.start_worst[lane] / CLOSE_TO_SINGULAR**2
                    ended = FINISHED_CLOSE if close else FINISHED
                elif counts[case, STEPS] >= most:
                    ended = STEPS_USED_UP
            if ended != 0:
                status[case], reached[case], m.case[lane] = ended, m.time[lane], -1
                running -= 1
        for e in range(0, len(m.taken), LANES):
            for lane in range(LANES):
                m.taken[e + lane] = float(m.accepted[lane])
        keep(m.taken, m.end, m.y)
        keep(m.taken, m.k[STAGES], m.k[0])


integrate = compiled(_integrate, fastmath={"contract"})
