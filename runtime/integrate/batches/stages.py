"""Arithmetic of a batch: one step of DOP853 in vector instructions, for LANES cases next to each other.

A lane is a column of all arrays: equal components of all lanes are next to each other, so that loops over them become
vector instructions.
"""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.layout import OK
from runtime.integrate.batches.closing import check_ends, project_ends
from runtime.integrate.batches.equations import count_bad, rates_in_steps, store_codes
from runtime.integrate.batches.forces import bound_by_knots, check_forces, forces_in_steps
from runtime.integrate.batches.workspace import END, ERROR3, ERROR5, KINKS
from runtime.integrate.dop853_coefficients import EXTRA, STAGES
from runtime.integrate.polynomial import POWER, set_polynomials, value_of
from runtime.integrate.turned_steps import TURN
from runtime.jit import addresses
from runtime.jit.compilation import columns, inlined

SLOWEST_RATE = 1e-300  # [rad/s]


@columns
def keep_worst(worst, s):  # type: ignore[no-untyped-def]
    """Update the measure of how close to a singular configuration each lane came in the attempt."""
    for lane in range(s.W):
        before = s.attempt_worst[lane]
        s.attempt_worst[lane] = worst[lane] if worst[lane] > before else before


@columns
def clear_codes(s):  # type: ignore[no-untyped-def]
    """Begin an attempt."""
    for lane in range(s.W):
        s.code[lane] = s.end_code[lane] = OK
        s.attempt_worst[lane] = 0.0


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
        begin, end = m.parts[p, 0] * m.W, m.parts[p, 1] * m.W
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
        begin, end = m.parts[p, 0] * m.W, m.parts[p, 1] * m.W
        advance_by(m.y[begin:end], m.h[begin:end], to[begin:end])


@columns
def add_errors(error5, error3, y, end, cap, weight, rtol, atol, s):  # type: ignore[no-untyped-def]
    """Add the squares of both estimates of the error, in units of the tolerance."""
    for o in range(0, len(y), s.W):
        for lane in range(s.W):
            e = o + lane
            share = weight[e] / (atol + rtol * min(max(abs(y[e]), abs(end[e])), cap[e]))
            v5, v3 = share * error5[e], share * error3[e]
            s.sum5[lane] += v5 * v5
            s.sum3[lane] += v3 * v3


@columns
def add_kinks(errors, kinks):  # type: ignore[no-untyped-def]
    """Put the roots of the sums of their squares into ``errors``."""
    for e in range(len(errors)):
        errors[e] = math.sqrt(errors[e] * errors[e] + kinks[e] * kinks[e])


@columns
def set_longest(max_step, s):  # type: ignore[no-untyped-def]
    """Begin the lengths that attempts have at most."""
    for lane in range(s.W):
        s.longest[lane], s.until_knot[lane] = max_step, np.inf


@columns
def bound_turns(rates, lever, s):  # type: ignore[no-untyped-def]
    """As of ``turned_steps.longest_step``, for rates at the begin of the step."""
    for o in range(0, len(rates), s.W):
        for lane in range(s.W):
            longest, rate = s.longest[lane], abs(rates[o + lane])
            bounded = TURN / max(rate, SLOWEST_RATE) if lever[o + lane] > 0.0 else longest
            s.longest[lane] = bounded if bounded < longest else longest


@inlined
def bound_attempts(m, max_step, rtol, atol):  # type: ignore[no-untyped-def]
    """The lengths that attempts have at most, by the settings, by turns and by knots of signals."""
    set_longest(max_step, m.s)
    if m.rates[0] > 0 and (
        m.forces.acting[1] == 1 or len(m.contacts.places) > 0 or len(m.limits.q) > 0 or len(m.events.rules) > 0
    ):
        first, end = m.rates[0] * m.W, m.size[0] * m.W
        bound_turns(m.y[first:end], m.lever[first:end], m.s)
    bound_by_knots(m, rtol, atol)


@inlined
def estimate_kinks(m):  # type: ignore[no-untyped-def]
    """Have the estimate of order 5 see kinks, where accelerations may have some (``step_error.may_have_kinks``)."""
    if m.forces.acting[0] == 0 and len(m.contacts.places) == 0:
        return
    sum_stages(m, KINKS, m.errors[2])
    size = m.size[0] * m.W
    add_kinks(m.errors[0, :size], m.errors[2, :size])


@columns
def clear_errors(s):  # type: ignore[no-untyped-def]
    """Begin the sums of squares."""
    for lane in range(s.W):
        s.sum5[lane] = s.sum3[lane] = 0.0


@columns
def find_fastest(end, lever, s):  # type: ignore[no-untyped-def]
    """The fastest turn of each lane at the end of the attempt."""
    for lane in range(s.W):
        s.speed[lane] = 0.0
    for o in range(0, len(end), s.W):
        for lane in range(s.W):
            before, now = s.speed[lane], lever[o + lane] * abs(end[o + lane])
            s.speed[lane] = now if now > before else before


@inlined
def estimate(m, rtol, atol):  # type: ignore[no-untyped-def]
    """Both estimates of the error: sums of squares of each lane."""
    clear_errors(m.s)
    for p in range(len(m.parts)):
        a, b = m.parts[p, 0] * m.W, m.parts[p, 1] * m.W
        add_errors(
            m.errors[0, a:b], m.errors[1, a:b], m.y[a:b], m.end[a:b], m.cap[a:b], m.weight[a:b], rtol, atol, m.s,
        )  # fmt: skip
    if m.rates[0] > 0:
        first, end = m.rates[0] * m.W, m.size[0] * m.W
        find_fastest(m.end[first:end], m.lever[first:end], m.s)


@columns
def spread(s, to):  # type: ignore[no-untyped-def]
    """Give every component of a state the length of its lane's step."""
    for e in range(0, len(to), s.W):
        for lane in range(s.W):
            to[e + lane] = s.length[lane]


@columns
def keep(taken, new, old):  # type: ignore[no-untyped-def]
    """Replace an old component where a step is accepted."""
    for lane in range(len(taken)):  # a loop of known length is unrolled, and is no vector instruction then
        before, then = old[lane], new[lane]
        old[lane] = then if taken[lane] == 1.0 else before


@inlined
def normalise(m, y):  # type: ignore[no-untyped-def]
    """Give the Euler parameters of all lanes unit length."""
    for b in range(len(m.turned)):
        o = m.turned[b] * m.W
        for lane in range(o, o + m.W):
            e0, e1, e2, e3 = y[lane], y[lane + m.W], y[lane + 2 * m.W], y[lane + 3 * m.W]
            inverse = 1.0 / math.sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
            y[lane], y[lane + m.W] = e0 * inverse, e1 * inverse
            y[lane + 2 * m.W], y[lane + 3 * m.W] = e2 * inverse, e3 * inverse


@inlined
def norm(m, values, least, lane, rtol, atol):  # type: ignore[no-untyped-def]
    """Root mean square of a lane's components, of this size at least, in units of the tolerance at its first state."""
    n, total = m.size[0], 0.0
    for i in range(n):
        e = i * m.W + lane
        size = m.weight[e] * max(abs(values[e]), least)
        total += (size / (atol + rtol * min(abs(m.ready_y[e]), m.cap[e]))) ** 2
    return math.sqrt(total / n)


@inlined
def prepare_dense(m):  # type: ignore[no-untyped-def]
    """Polynomials of all components and lanes, from the stages of the dense output."""
    for o in range(0, len(m.y), m.W):
        set_polynomials(m.y[o:], m.end[o:], m.k, m.polynomial, o, m.s, m.dense[o * POWER :])


@inlined
def interpolate(m, lane, x, out):  # type: ignore[no-untyped-def]
    """State at a fraction of the step of a lane, after ``prepare_dense``."""
    for i in range(len(out)):
        o = i * m.W
        out[i] = m.y[o + lane] + value_of(m.dense[o * POWER :], m.W, lane, x)
    for b in range(len(m.turned)):
        o = m.turned[b]
        size = math.sqrt(out[o] * out[o] + out[o + 1] * out[o + 1] + out[o + 2] * out[o + 2] + out[o + 3] * out[o + 3])
        for c in range(4):
            out[o + c] /= size


@inlined
def written_stages(m, which):  # type: ignore[no-untyped-def]
    """Stages of all lanes by one function (``runtime.integrate.tree_stages``): 0: of the attempt, 1: of its dense output."""
    worst = m.s.attempt_worst.address if which == 0 else m.worst.ctypes.data
    addresses.call(
        m.stages[which], m.y.ctypes.data, m.k.ctypes.data, m.s.length.address, m.constants.ctypes.data, m.end.ctypes.data,
        m.errors.ctypes.data, worst,
    )  # fmt: skip


@inlined
def attempt_steps(m, address, rtol, atol):  # type: ignore[no-untyped-def]
    """One step in all lanes, with both error estimates."""
    clear_codes(m.s)
    if m.stages[0] != 0:
        written_stages(m, 0)
        if count_bad(m.s.attempt_worst) > 0:
            store_codes(m.s.attempt_worst, m.s.code)
        estimate(m, rtol, atol)
    else:
        spread(m.s, m.h)
        for q in range(1, STAGES):
            stage(m, q, m.trial)
            rates_in_steps(m, address, m.forces.nodes[q], m.trial, m.k[q], m.s.code)
            keep_worst(m.worst, m.s)
        stage(m, END, m.end)
        sum_stages(m, ERROR5, m.errors[0])
        sum_stages(m, ERROR3, m.errors[1])
        estimate_kinks(m)
        estimate(m, rtol, atol)
        normalise(m, m.end)
        if m.closing.address[0] != 0:
            forces_in_steps(m, 1.0, m.end, m.k[STAGES])
            project_ends(m)
        rates_in_steps(m, address, 1.0, m.end, m.k[STAGES], m.s.end_code)
        keep_worst(m.worst, m.s)
        check_forces(m)
        check_ends(m, rtol, atol)


@inlined
def dense_stages(m, address):  # type: ignore[no-untyped-def]
    """The stages of the dense output of all lanes."""
    if m.stages[1] != 0:
        written_stages(m, 1)
        return
    for q in range(STAGES + 1, STAGES + 1 + EXTRA):
        stage(m, q, m.trial)
        rates_in_steps(m, address, m.forces.nodes[q], m.trial, m.k[q], m.s.end_code)


@inlined
def replace_accepted(m):  # type: ignore[no-untyped-def]
    """Begin the next step at the end of this one, in the lanes whose step was accepted."""
    taken, last = m.s.accepted, m.k[STAGES]
    for e in range(0, len(m.y), m.W):
        keep(taken, m.end[e:], m.y[e:])
        keep(taken, last[e:], m.k[0, e:])
