"""Arithmetic of a batch: one step of DOP853 in vector instructions, for LANES cases next to each other.

A lane is a column of all arrays: equal components of all lanes are next to each other, so that loops over them become
vector instructions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from runtime.dynamics.elimination import PIVOT_TOLERANCE, code_of_pivot
from runtime.dynamics.layout import LANES, OK, STATE, P
from runtime.integrate.batch_limits import NONE, BatchLimits, batch_limits
from runtime.integrate.batch_polynomial import set_polynomial, value_of
from runtime.integrate.dop853 import POWER
from runtime.integrate.dop853_coefficients import COEFFICIENTS, EXTRA, STAGES
from runtime.jit import addresses
from runtime.jit.compilation import inlined
from runtime.support.arrays import Floats, Ints


def _combination(coefficients: Floats) -> tuple[Ints, Floats]:
    """Stages and factors of sums without zeros, padded to whole groups of four by zeros times the first stage."""
    which, factors = np.zeros(coefficients.shape, np.int64), np.zeros(coefficients.shape)
    for row, values in enumerate(coefficients):
        (used,) = np.nonzero(values)
        which[row, : len(used)], factors[row, : len(used)] = used, values[used]
    return which, factors


# Rows of the sums over the stages: states of the stages (rows 1 to 15), end of the step, both estimates of its error.
END, ERROR5, ERROR3 = range(STAGES + 1 + EXTRA, STAGES + 4 + EXTRA)
SUMS = np.zeros((STAGES + 4 + EXTRA, 16))
SUMS[: len(COEFFICIENTS.a)] = COEFFICIENTS.a
SUMS[END, :STAGES] = COEFFICIENTS.b
SUMS[ERROR5, : STAGES + 1], SUMS[ERROR3, : STAGES + 1] = COEFFICIENTS.error5, COEFFICIENTS.error3
WHICH, FACTORS = _combination(SUMS)
GROUPS = -(-np.count_nonzero(SUMS, axis=1) // 4)


class BatchWorkspace(NamedTuple):
    """Memory of a batch.  States are flat, (n * LANES,), the lanes of a component next to each other."""

    which: Ints  # (19, 16) stages of the sums
    factors: Floats  # (19, 16)
    groups: Ints  # (19,) of four stages
    polynomial: Floats  # (4, 16) of the dense output
    bodies: Ints  # (1,) count of those that have Euler parameters, which come first
    parts: Ints  # (parts, 2) begin and end, in a state, of the bodies that are not fixed
    stages: Ints  # (2,) addresses of the stages of an attempt and of its dense output as one function each; 0 where there is none
    cap: Floats  # (n * LANES,) largest value of a component that takes part in its tolerance
    weight: Floats  # (n * LANES,) by which errors of it count
    typical: Floats  # (1,) least size of the components with which the first step is compared
    y: Floats
    trial: Floats
    end: Floats  # of the step
    k: Floats  # (16, n * LANES) stages
    errors: Floats  # (2, n * LANES) the two below
    error5: Floats
    error3: Floats
    h: Floats  # length of the lane's step, for every component of the state
    taken: Floats  # 1 where the step is accepted
    constants: Floats  # (constants, LANES)
    worst: Floats  # (LANES,) inverse square of the smallest pivot ratio of the last evaluation
    time: Floats  # (LANES,)
    length: Floats  # (LANES,) of the attempt
    next_length: Floats  # (LANES,)
    error: Floats  # (2, LANES) sums of squares of the two estimates
    start_worst: Floats  # (LANES,) at the start of each case
    attempt_worst: Floats  # (LANES,) the largest of the attempt
    ever_worst: Floats  # (LANES,) the largest of the accepted steps of each case
    code: Ints  # (LANES,) of the stages: OK, or the first other code of an evaluation
    end_code: Ints  # (LANES,) of the end of the step and of the stages of the dense output
    after_rejection: Ints  # (LANES,) 1 after a rejected attempt
    accepted: Ints  # (LANES,)
    alone: Ints  # (LANES,) 1: the case is to be run alone
    total: Floats  # (LANES,) error of the attempt in units of the tolerance
    factor: Floats  # (LANES,) by which the next step may differ
    between: Ints  # (LANES,) 1 where an output lies within the step
    case: Ints  # (LANES,) -1 for an idle lane
    output: Ints  # (LANES,) index of the next output
    ready_y: Floats  # of cases that are ready to begin
    ready_k: Floats
    ready_constants: Floats
    ready_length: Floats  # (LANES,)
    ready_code: Ints  # (LANES,)
    ready_worst: Floats  # (LANES,)
    queue: Ints  # (4,) next case to make ready; of those ready: the first, their count, the next to begin
    dense: Floats  # (POWER,)
    limits: BatchLimits  # that restrain coordinates


def batch_workspace(fixed: Sequence[bool], constants: int, *, directions: bool = False) -> BatchWorkspace:
    """Memory for a system.

    Parameters
    ----------
    fixed : (bodies,) sequence of bool
        True for bodies that do not move.
    constants : int
        Number of constants of the whole-model kernel.
    directions : bool
        The states are followed by their derivatives with respect to a parameter.
    """
    bodies = len(fixed)
    n = bodies * STATE * (2 if directions else 1)
    free = [b for b, still in enumerate([*fixed, *fixed] if directions else fixed) if not still]
    return _workspace(
        bodies, [(b * STATE, (b + 1) * STATE) for b in free], constants, np.full(n, np.inf), np.ones(n), 0.0
    )


def tree_workspace(
    stages: Sequence[int], constants: int, scales: Sequence[Floats], limits: BatchLimits | None = None
) -> BatchWorkspace:
    """Memory for coordinates and rates (n,) of a tree; ``scales`` (3, n) as of ``Stepper.scales``."""
    cap, weight, typical = scales
    memory = _workspace(0, [(0, len(cap))], constants, cap, weight, float(typical[0]))
    memory.stages[:] = stages
    return memory if limits is None else memory._replace(limits=limits)


def _workspace(
    bodies: int, parts: Sequence[tuple[int, int]], constants: int, cap: Floats, weight: Floats, typical: float
) -> BatchWorkspace:
    """Memory for states (n,); ``parts``: first and last component of what moves."""
    size = len(cap) * LANES
    flat, wide = (np.zeros(size) for _ in range(7)), (np.zeros(LANES, np.int64) for _ in range(7))
    y, trial, end, h, taken, ready_y, ready_k = flat
    errors = np.zeros((2, size))
    code, end_code, after_rejection, accepted, between, output, ready_code = wide
    return BatchWorkspace(
        which=WHICH, factors=FACTORS, groups=GROUPS, polynomial=COEFFICIENTS.dense,
        bodies=np.array([bodies]), stages=np.zeros(2, np.int64),
        parts=LANES * np.array(parts, np.int64).reshape(-1, 2), cap=np.repeat(cap, LANES),
        weight=np.repeat(weight, LANES), typical=np.array([typical]), y=y, trial=trial, end=end,
        k=np.zeros((STAGES + 1 + EXTRA, size)), errors=errors, error5=errors[0], error3=errors[1], h=h, taken=taken,
        constants=np.zeros((constants, LANES)), worst=np.zeros(LANES), start_worst=np.zeros(LANES),
        attempt_worst=np.zeros(LANES), ever_worst=np.zeros(LANES), time=np.zeros(LANES), length=np.zeros(LANES),
        next_length=np.zeros(LANES), error=np.zeros((2, LANES)), code=code, end_code=end_code,
        after_rejection=after_rejection, accepted=accepted, alone=np.zeros(LANES, np.int64),
        total=np.zeros(LANES), factor=np.zeros(LANES),
        between=between, case=np.full(LANES, -1), output=output, ready_y=ready_y, ready_k=ready_k,
        ready_constants=np.zeros((constants, LANES)), ready_length=np.zeros(LANES), ready_code=ready_code,
        ready_worst=np.zeros(LANES), queue=np.zeros(4, np.int64), dense=np.zeros(POWER),
        limits=batch_limits(),
    )  # fmt: skip


@inlined
def call_lanes(address, y, constants, out, worst):  # type: ignore[no-untyped-def]
    """State derivatives of all lanes by the kernel of a whole model (on a graphics processor: ``runtime.integrate.gpu``)."""
    addresses.call(address, y.ctypes.data, constants.ctypes.data, out.ctypes.data, worst.ctypes.data)


@inlined
def evaluate(address, y, constants, worst, out, code):  # type: ignore[no-untyped-def]
    """State derivatives of all lanes; ``code`` keeps the first code of a lane that is not OK."""
    call_lanes(address, y, constants, out, worst)
    for lane in range(LANES):
        if not worst[lane] < 1.0 / PIVOT_TOLERANCE**2 and code[lane] == OK:
            code[lane] = code_of_pivot(worst[lane])


@inlined
def keep_worst(m):  # type: ignore[no-untyped-def]
    """Update the measure of how close to a singular configuration each lane came in the attempt."""
    for lane in range(LANES):
        if m.worst[lane] > m.attempt_worst[lane]:
            m.attempt_worst[lane] = m.worst[lane]


@inlined
def set_sum(to, a, b, c, d, fa, fb, fc, fd):  # type: ignore[no-untyped-def]
    """Put a sum of four stages into ``to``."""
    for e in range(len(to)):
        to[e] = fa * a[e] + fb * b[e] + (fc * c[e] + fd * d[e])


@inlined
def add_sum(to, a, b, c, d, fa, fb, fc, fd):  # type: ignore[no-untyped-def]
    """Add a sum of four stages to ``to``."""
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
def weigh(error, y, end, cap, weight, rtol, atol):  # type: ignore[no-untyped-def]
    """Errors as squares in units of the tolerance."""
    for e in range(len(error)):
        v = weight[e] * error[e] / (atol + rtol * min(max(abs(y[e]), abs(end[e])), cap[e]))
        error[e] = v * v


@inlined
def estimate(m, rtol, atol):  # type: ignore[no-untyped-def]
    """Both estimates of the error: sums of squares of each lane."""
    for lane in range(LANES):
        m.error[0, lane] = m.error[1, lane] = 0.0
    for p in range(len(m.parts)):
        begin, end = m.parts[p, 0], m.parts[p, 1]
        weigh(m.error5[begin:end], m.y[begin:end], m.end[begin:end], m.cap[begin:end], m.weight[begin:end], rtol, atol)
        weigh(m.error3[begin:end], m.y[begin:end], m.end[begin:end], m.cap[begin:end], m.weight[begin:end], rtol, atol)
        for e in range(begin, end, LANES):
            for lane in range(LANES):
                m.error[0, lane] += m.error5[e + lane]
                m.error[1, lane] += m.error3[e + lane]


@inlined
def spread(values, to):  # type: ignore[no-untyped-def]
    """Give every component of a state its lane's value."""
    for e in range(0, len(to), LANES):
        for lane in range(LANES):
            to[e + lane] = values[lane]


@inlined
def keep(taken, new, old):  # type: ignore[no-untyped-def]
    """Replace the old state where a step is accepted."""
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
def norm(m, values, least, lane, n, rtol, atol):  # type: ignore[no-untyped-def]
    """Root mean square of a lane's components, of this size at least, in units of the tolerance at its first state."""
    total = 0.0
    for i in range(n):
        e = i * LANES + lane
        size = m.weight[e] * max(abs(values[e]), least)
        total += (size / (atol + rtol * min(abs(m.ready_y[e]), m.cap[e]))) ** 2
    return math.sqrt(total / n)


@inlined
def interpolate(m, lane, x, out):  # type: ignore[no-untyped-def]
    """State at a fraction of the step of a lane, from the stages of the dense output."""
    for i in range(len(out)):
        e = i * LANES + lane
        set_polynomial(m, lane, e, m.dense)
        out[i] = m.y[e] + value_of(m.dense, x)
    for b in range(m.bodies[0]):
        o = b * STATE + P
        size = math.sqrt(out[o] * out[o] + out[o + 1] * out[o + 1] + out[o + 2] * out[o + 2] + out[o + 3] * out[o + 3])
        for c in range(4):
            out[o + c] /= size


@inlined
def written_stages(m, address, worst):  # type: ignore[no-untyped-def]
    """Stages of all lanes by one function (``runtime.integrate.tree_stages``)."""
    addresses.call(
        address, m.y.ctypes.data, m.k.ctypes.data, m.length.ctypes.data, m.constants.ctypes.data, m.end.ctypes.data,
        m.errors.ctypes.data, worst.ctypes.data,
    )  # fmt: skip


@inlined
def attempt(m, address, rtol, atol):  # type: ignore[no-untyped-def]
    """One step in all lanes, with both error estimates."""
    for lane in range(LANES):
        m.code[lane] = m.end_code[lane] = OK
        m.attempt_worst[lane] = 0.0
    if m.stages[0] != 0:
        written_stages(m, m.stages[0], m.attempt_worst)
        for lane in range(LANES):
            if not m.attempt_worst[lane] < 1.0 / PIVOT_TOLERANCE**2:
                m.code[lane] = m.end_code[lane] = code_of_pivot(m.attempt_worst[lane])
        estimate(m, rtol, atol)
    else:
        spread(m.length, m.h)
        for q in range(1, STAGES):
            stage(m, q, m.trial)
            evaluate(address, m.trial, m.constants, m.worst, m.k[q], m.code)
            keep_worst(m)
        stage(m, END, m.end)
        sum_stages(m, ERROR5, m.error5)
        sum_stages(m, ERROR3, m.error3)
        estimate(m, rtol, atol)
        normalise(m, m.end)
        evaluate(address, m.end, m.constants, m.worst, m.k[STAGES], m.end_code)
        keep_worst(m)


@inlined
def prepare_dense(m, address, times, finish):  # type: ignore[no-untyped-def]
    """The stages of the dense output of all lanes, where an output lies in a step or a limit changes its mode."""
    wanted = 0
    for lane in range(LANES):
        m.between[lane] = 0
        if m.case[lane] < 0:
            continue
        if m.output[lane] < len(times) and times[m.output[lane]] < min(m.time[lane] + m.length[lane], finish):
            m.between[lane] = 1
        if len(m.limits.q) > 0 and m.limits.bracket[1, lane] != NONE:
            m.between[lane] = 1
        wanted += m.between[lane]
    if wanted > 0 and m.stages[1] != 0:
        written_stages(m, m.stages[1], m.worst)
    elif wanted > 0:
        for q in range(STAGES + 1, STAGES + 1 + EXTRA):
            stage(m, q, m.trial)
            evaluate(address, m.trial, m.constants, m.worst, m.k[q], m.end_code)


@inlined
def replace_accepted(m):  # type: ignore[no-untyped-def]
    """Begin the next step at the end of this one, in the lanes whose step was accepted."""
    for e in range(0, len(m.taken), LANES):
        for lane in range(LANES):
            m.taken[e + lane] = float(m.accepted[lane])
    keep(m.taken, m.end, m.y)
    keep(m.taken, m.k[STAGES], m.k[0])
