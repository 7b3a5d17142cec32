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
from runtime.integrate.batches.forces import BatchForces, check_stability, forces_in_steps, no_forces
from runtime.integrate.batches.limits import BatchLimits, batch_limits
from runtime.integrate.batches.polynomial import set_polynomials, value_of
from runtime.integrate.batches.rows import (
    ATTEMPT_WORST,
    CODE,
    END_CODE,
    LENGTH,
    ROWS_OF_LANES,
    SPEED,
    SUM3,
    SUM5,
    TAKEN,
)
from runtime.integrate.dop853 import POWER
from runtime.integrate.dop853_coefficients import COEFFICIENTS, EXTRA, STAGES
from runtime.jit import addresses
from runtime.jit.compilation import columns, inlined
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
LARGEST_WORST = 1.0 / PIVOT_TOLERANCE**2  # of an evaluation that is neither singular nor infinite


class BatchWorkspace(NamedTuple):
    """Memory of a batch.  States are flat, (n * LANES,), the lanes of a component next to each other."""

    which: Ints  # (19, 16) stages of the sums
    factors: Floats  # (19, 16)
    groups: Ints  # (19,) of four stages
    polynomial: Floats  # (4, 16) of the dense output
    bodies: Ints  # (1,) count of those that have Euler parameters, which come first
    size: Ints  # (1,) components whose errors count: all but the work of forces, which is the last one
    parts: Ints  # (parts, 2) begin and end, in a state, of the bodies that are not fixed
    stages: Ints  # (2,) addresses of the stages of an attempt and of its dense output as one function each; 0 where there is none
    cap: Floats  # (n * LANES,) largest value of a component that takes part in its tolerance
    weight: Floats  # (n * LANES,) by which errors of it count
    lever: Floats  # (n * LANES,) [m] of the rates of turns; 0 for all others
    typical: Floats  # (1,) least size of the components with which the first step is compared
    y: Floats
    trial: Floats
    end: Floats  # of the step
    k: Floats  # (16, n * LANES) stages
    errors: Floats  # (2, n * LANES) estimates of order 5 and 3
    h: Floats  # length of the lane's step, for every component of the state
    constants: Floats  # (constants, LANES)
    worst: Floats  # (LANES,) inverse square of the smallest pivot ratio of the last evaluation
    lanes: Floats  # (ROWS_OF_LANES * LANES,) flat, so that loops over lanes become vector instructions
    case: Ints  # (LANES,) -1 for an idle lane
    output: Ints  # (LANES,) index of the next output
    ready_y: Floats  # of cases that are ready to begin
    ready_k: Floats
    ready_constants: Floats
    queue: Ints  # (4,) next case to make ready; of those ready: the first, their count, the next to begin
    dense: Floats  # (n * POWER * LANES,) polynomials of the dense output
    limits: BatchLimits  # that restrain coordinates
    forces: BatchForces  # of other kinds


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
        bodies,
        [(b * STATE, (b + 1) * STATE) for b in free],
        constants,
        np.full(n, np.inf),
        np.ones(n),
        np.zeros(n),
        0.0,
    )


def tree_workspace(
    stages: Sequence[int],
    constants: int,
    scales: Sequence[Floats],
    limits: BatchLimits | None = None,
    forces: BatchForces | None = None,
) -> BatchWorkspace:
    """Memory for coordinates and rates (n,) of a tree; ``scales`` (4, n) as of ``Stepper.scales``.

    With forces, states have the work of these as a further component, and ``stages`` are not used.
    """
    cap, weight, typical, lever = scales
    n, lever = len(cap), np.maximum(lever, 0.0)
    if forces is not None:
        cap, weight, lever, stages = np.append(cap, np.inf), np.append(weight, 0.0), np.append(lever, 0.0), (0, 0)
    memory = _workspace(0, [(0, len(cap))], constants, cap, weight, lever, float(typical[0]))
    memory.stages[:], memory.size[0] = stages, n
    memory = memory if limits is None else memory._replace(limits=limits)
    return memory if forces is None else memory._replace(forces=forces)


def _workspace(
    bodies: int, parts: Sequence[tuple[int, int]], constants: int, cap: Floats, weight: Floats, lever: Floats,
    typical: float,
) -> BatchWorkspace:  # fmt: skip
    """Memory for states (n,); ``parts``: first and last component of what moves."""
    size = len(cap) * LANES
    y, trial, end, h, ready_y, ready_k = (np.zeros(size) for _ in range(6))
    return BatchWorkspace(
        which=WHICH, factors=FACTORS, groups=GROUPS, polynomial=COEFFICIENTS.dense,
        bodies=np.array([bodies]), size=np.array([len(cap)]), stages=np.zeros(2, np.int64),
        parts=LANES * np.array(parts, np.int64).reshape(-1, 2), cap=np.repeat(cap, LANES),
        weight=np.repeat(weight, LANES), lever=np.repeat(lever, LANES), typical=np.array([typical]), y=y, trial=trial, end=end,
        k=np.zeros((STAGES + 1 + EXTRA, size)), errors=np.zeros((2, size)), h=h,
        constants=np.zeros((constants, LANES)), worst=np.zeros(LANES), lanes=np.zeros(ROWS_OF_LANES * LANES),
        case=np.full(LANES, -1), output=np.zeros(LANES, np.int64), ready_y=ready_y, ready_k=ready_k,
        ready_constants=np.zeros((constants, LANES)), queue=np.zeros(4, np.int64), dense=np.zeros(POWER * size),
        limits=batch_limits(), forces=no_forces(),
    )  # fmt: skip


@inlined
def call_lanes(address, y, constants, out, worst):  # type: ignore[no-untyped-def]
    """State derivatives of all lanes by the kernel of a whole model (on a graphics processor: ``batches.gpu``)."""
    addresses.call(address, y.ctypes.data, constants.ctypes.data, out.ctypes.data, worst.ctypes.data)


@inlined
def evaluate(m, address, y, constants, out, row):  # type: ignore[no-untyped-def]
    """State derivatives of all lanes; a row of ``lanes`` keeps the first code of a lane that is not OK."""
    call_lanes(address, y, constants, out, m.worst)
    if count_bad(m.worst) > 0:
        store_codes(m.worst, m.lanes, row)


@columns
def count_bad(worst):  # type: ignore[no-untyped-def]
    """Number of lanes whose evaluation was singular or not finite."""
    bad = 0
    for lane in range(len(worst)):
        bad += 0 if worst[lane] < LARGEST_WORST else 1
    return bad


@inlined
def store_codes(worst, lanes, row):  # type: ignore[no-untyped-def]
    """Codes of the last evaluation, in the lanes whose code so far is OK."""
    for lane in range(LANES):
        if not worst[lane] < LARGEST_WORST and lanes[row * LANES + lane] == OK:
            lanes[row * LANES + lane] = code_of_pivot(worst[lane])


@columns
def keep_worst(worst, lanes):  # type: ignore[no-untyped-def]
    """Update the measure of how close to a singular configuration each lane came in the attempt."""
    for lane in range(LANES):
        before = lanes[ATTEMPT_WORST * LANES + lane]
        lanes[ATTEMPT_WORST * LANES + lane] = worst[lane] if worst[lane] > before else before


@columns
def clear_codes(lanes):  # type: ignore[no-untyped-def]
    """Begin an attempt."""
    for lane in range(LANES):
        lanes[CODE * LANES + lane] = lanes[END_CODE * LANES + lane] = OK
        lanes[ATTEMPT_WORST * LANES + lane] = 0.0


@columns
def set_sum(to, a, b, c, d, fa, fb, fc, fd):  # type: ignore[no-untyped-def]
    """Put a sum of four stages into ``to``."""
    for e in range(len(to)):
        to[e] = fa * a[e] + fb * b[e] + (fc * c[e] + fd * d[e])


@columns
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


@columns
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


@columns
def add_errors(error5, error3, y, end, cap, weight, rtol, atol, lanes):  # type: ignore[no-untyped-def]
    """Add the squares of both estimates of the error, in units of the tolerance."""
    for o in range(0, len(y), LANES):
        for lane in range(LANES):
            e = o + lane
            share = weight[e] / (atol + rtol * min(max(abs(y[e]), abs(end[e])), cap[e]))
            v5, v3 = share * error5[e], share * error3[e]
            lanes[SUM5 * LANES + lane] += v5 * v5
            lanes[SUM3 * LANES + lane] += v3 * v3


@columns
def clear_errors(lanes):  # type: ignore[no-untyped-def]
    """Begin the sums of squares."""
    for lane in range(LANES):
        lanes[SUM5 * LANES + lane] = lanes[SUM3 * LANES + lane] = 0.0


@columns
def find_fastest(end, lever, lanes):  # type: ignore[no-untyped-def]
    """The fastest turn of each lane at the end of the attempt."""
    for lane in range(LANES):
        lanes[SPEED * LANES + lane] = 0.0
    for o in range(0, len(end), LANES):
        for lane in range(LANES):
            before, now = lanes[SPEED * LANES + lane], lever[o + lane] * abs(end[o + lane])
            lanes[SPEED * LANES + lane] = now if now > before else before


@inlined
def estimate(m, rtol, atol):  # type: ignore[no-untyped-def]
    """Both estimates of the error: sums of squares of each lane."""
    clear_errors(m.lanes)
    for p in range(len(m.parts)):
        a, b = m.parts[p, 0], m.parts[p, 1]
        add_errors(
            m.errors[0, a:b], m.errors[1, a:b], m.y[a:b], m.end[a:b], m.cap[a:b], m.weight[a:b], rtol, atol, m.lanes,
        )  # fmt: skip
    if m.bodies[0] == 0:
        half = m.size[0] // 2 * LANES
        find_fastest(m.end[half:], m.lever[half:], m.lanes)


@columns
def spread(lanes, to):  # type: ignore[no-untyped-def]
    """Give every component of a state the length of its lane's step."""
    for e in range(0, len(to), LANES):
        for lane in range(LANES):
            to[e + lane] = lanes[LENGTH * LANES + lane]


@columns
def keep(taken, new, old):  # type: ignore[no-untyped-def]
    """Replace an old component where a step is accepted."""
    for lane in range(len(taken)):  # a loop of known length is unrolled, and is no vector instruction then
        before, then = old[lane], new[lane]
        old[lane] = then if taken[lane] == 1.0 else before


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
def norm(m, values, least, lane, rtol, atol):  # type: ignore[no-untyped-def]
    """Root mean square of a lane's components, of this size at least, in units of the tolerance at its first state."""
    n, total = m.size[0], 0.0
    for i in range(n):
        e = i * LANES + lane
        size = m.weight[e] * max(abs(values[e]), least)
        total += (size / (atol + rtol * min(abs(m.ready_y[e]), m.cap[e]))) ** 2
    return math.sqrt(total / n)


@inlined
def prepare_dense(m):  # type: ignore[no-untyped-def]
    """Polynomials of all components and lanes, from the stages of the dense output."""
    for o in range(0, len(m.y), LANES):
        set_polynomials(m.y[o:], m.end[o:], m.k, m.polynomial, o, m.lanes, m.dense[o * POWER :])


@inlined
def interpolate(m, lane, x, out):  # type: ignore[no-untyped-def]
    """State at a fraction of the step of a lane, after ``prepare_dense``."""
    for i in range(len(out)):
        o = i * LANES
        out[i] = m.y[o + lane] + value_of(m.dense[o * POWER :], lane, x)
    for b in range(m.bodies[0]):
        o = b * STATE + P
        size = math.sqrt(out[o] * out[o] + out[o + 1] * out[o + 1] + out[o + 2] * out[o + 2] + out[o + 3] * out[o + 3])
        for c in range(4):
            out[o + c] /= size


@inlined
def written_stages(m, address, worst):  # type: ignore[no-untyped-def]
    """Stages of all lanes by one function (``runtime.integrate.tree_stages``); ``worst`` (LANES,): the largest of all."""
    addresses.call(
        address, m.y.ctypes.data, m.k.ctypes.data, m.lanes.ctypes.data, m.constants.ctypes.data, m.end.ctypes.data,
        m.errors.ctypes.data, worst.ctypes.data,
    )  # fmt: skip


@inlined
def attempt(m, address, rtol, atol):  # type: ignore[no-untyped-def]
    """One step in all lanes, with both error estimates."""
    clear_codes(m.lanes)
    if m.stages[0] != 0:
        worst = m.lanes[ATTEMPT_WORST * LANES : (ATTEMPT_WORST + 1) * LANES]
        written_stages(m, m.stages[0], worst)
        if count_bad(worst) > 0:
            store_codes(worst, m.lanes, CODE)
        estimate(m, rtol, atol)
    else:
        spread(m.lanes, m.h)
        for q in range(1, STAGES):
            stage(m, q, m.trial)
            forces_in_steps(m, m.forces.nodes[q], m.trial, m.k[q])
            evaluate(m, address, m.trial, m.constants, m.k[q], CODE)
            keep_worst(m.worst, m.lanes)
        stage(m, END, m.end)
        sum_stages(m, ERROR5, m.errors[0])
        sum_stages(m, ERROR3, m.errors[1])
        estimate(m, rtol, atol)
        normalise(m, m.end)
        forces_in_steps(m, 1.0, m.end, m.k[STAGES])
        evaluate(m, address, m.end, m.constants, m.k[STAGES], END_CODE)
        keep_worst(m.worst, m.lanes)
        check_stability(m)


@inlined
def dense_stages(m, address):  # type: ignore[no-untyped-def]
    """The stages of the dense output of all lanes."""
    if m.stages[1] != 0:
        written_stages(m, m.stages[1], m.worst)
        return
    for q in range(STAGES + 1, STAGES + 1 + EXTRA):
        stage(m, q, m.trial)
        forces_in_steps(m, m.forces.nodes[q], m.trial, m.k[q])
        evaluate(m, address, m.trial, m.constants, m.k[q], END_CODE)


@inlined
def replace_accepted(m):  # type: ignore[no-untyped-def]
    """Begin the next step at the end of this one, in the lanes whose step was accepted."""
    taken, last = m.lanes[TAKEN * LANES : (TAKEN + 1) * LANES], m.k[STAGES]
    for e in range(0, len(m.y), LANES):
        keep(taken, m.end[e:], m.y[e:])
        keep(taken, last[e:], m.k[0, e:])
