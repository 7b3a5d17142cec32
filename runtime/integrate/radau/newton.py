"""Newton's method for the stages of Radau IIA: prediction, iteration, and the rate of convergence.

Hairer and Wanner (1996), Solving Ordinary Differential Equations II, section IV.8.
"""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.equations import derivative
from runtime.dynamics.layout import OK
from runtime.integrate.radau.coefficients import STAGES
from runtime.integrate.radau.linear import SOLVE, SOLVE_PAIR, solve_linear
from runtime.jit.compilation import inlined

MAX_ITERATIONS = 10
RESOLVED = 3e-12  # of a velocity: the least bound of its tolerance
DIVERGING = 2.0  # the iteration ends where the second correction is so much larger than the first
# Places in ``kept`` and ``last`` of the method's memory.
FRESH, FACTORISED, MODES, HAS_LAST_STEP = range(4)
FACTORS_OF, LAST_LENGTH, LAST_ERROR, THETA, LAST_ATTEMPT, LAST_BEGIN = range(6)


@inlined
def through_stages(own, z, i):  # type: ignore[no-untyped-def]
    """Coefficients of x, x^2 and x^3 of the polynomial of component i through the stages z, less the start."""
    a = b = c = 0.0
    for q in range(STAGES):
        a += own.coefficients.dense[0, q] * z[q, i]
        b += own.coefficients.dense[1, q] * z[q, i]
        c += own.coefficients.dense[2, q] * z[q, i]
    return a, b, c


@inlined
def continued(own, i, begin, x):  # type: ignore[no-untyped-def]
    """Change of component i from ``begin`` to x, both as fractions of the last accurate step, by its polynomial."""
    a, b, c = through_stages(own, own.z_last, i)
    return x * (a + x * (b + x * c)) - begin * (a + begin * (b + begin * c))


@inlined
def scale_of(own, i, value, rtol, atol):  # type: ignore[no-untyped-def]
    """The tolerance of component i: below its bound, but above the rounding of its value."""
    return min(atol + rtol * abs(value), own.bounds[i] + RESOLVED * abs(value))


@inlined
def norm_in(own, v, y, rtol, atol):  # type: ignore[no-untyped-def]
    """Root mean square of v in units of these tolerances at the state y."""
    total = 0.0
    for i in range(len(v)):
        total += (v[i] / scale_of(own, i, y[i], rtol, atol)) ** 2
    return math.sqrt(total / len(v))


@inlined
def predict_middle(m, h):  # type: ignore[no-untyped-def]
    """Put the predicted state in the middle of a step into ``own.middle``; without a prediction, the start of the step.

    Where a stiff direction turns, the rate of Newton's method depends on the angles between that direction at the stages and in
    the Jacobian, which are half as large from the middle of the step as from its start.
    """
    own = m.own
    begin = (m.s.time[0] - own.last[LAST_BEGIN]) / own.last[LAST_LENGTH]
    x = begin + 0.5 * h / own.last[LAST_LENGTH]
    for i in range(len(m.y)):
        change = continued(own, i, begin, x) if own.kept[HAS_LAST_STEP] == 1 else 0.0
        own.middle[i] = m.y[i] + change


@inlined
def predict(m, h):  # type: ignore[no-untyped-def]
    """Initial values of the stages: the polynomial of the last accurate step, continued; of a part of this step, itself."""
    own, n = m.own, len(m.y)
    # 1 at the end of that step, 0 where it was cut at a change of mode and is repeated.
    begin = (m.s.time[0] - own.last[LAST_BEGIN]) / own.last[LAST_LENGTH]
    for q in range(len(own.z)):
        x = begin + own.coefficients.nodes[q] * h / own.last[LAST_LENGTH]
        for i in range(n):
            own.z[q, i] = continued(own, i, begin, x) if own.kept[HAS_LAST_STEP] == 1 else 0.0


@inlined
def rate_of(step, last, quotient):  # type: ignore[no-untyped-def]
    """Rate of Newton's method from the last two quotients of corrections, and whether it diverges.

    A stiff direction that turns during the step passes errors to other directions and back, with a large and a small quotient in
    turn.  Their geometric mean is the rate, and the first one alone proves little.
    """
    if step == 1:
        return quotient, quotient >= DIVERGING
    rate = math.sqrt(last * quotient)
    return rate, rate >= 1.0


@inlined
def iterate(m, t, w, h, rtol, atol, enough):  # type: ignore[no-untyped-def]
    """Newton's method for the stages: number of iterations, or -1 where it does not converge; and a code."""
    own, n, coefficients = m.own, len(m.y), m.own.coefficients
    mu, mu_pair = coefficients.real / h, coefficients.pair / h
    for i in range(n):
        own.real[i], own.pair[i] = 0.0, 0.0j
        for q in range(STAGES):
            own.real[i] += coefficients.to_real[q] * own.z[q, i]
            own.pair[i] += coefficients.to_pair[q] * own.z[q, i]
    before = theta = quotient = 0.0
    for step in range(MAX_ITERATIONS):
        for q in range(len(own.z)):  # a constant bound would be unrolled, at the price of seconds of compilation
            for i in range(n):
                m.trial[i] = m.y[i] + own.z[q, i]
            code = derivative(m.s.time[0] + coefficients.nodes[q] * h, m.trial, t, w, own.f[q])
            m.s.evaluations[0] += 1
            m.s.smallest_pivot[0] = min(m.s.smallest_pivot[0], w.smallest_pivot[0])
            if code != OK:
                return -1, code
        for i in range(n):
            own.right[i], own.right_pair[i] = -mu * own.real[i], -mu_pair * own.pair[i]
            for q in range(STAGES):
                own.right[i] += coefficients.to_real[q] * own.f[q, i]
                own.right_pair[i] += coefficients.to_pair[q] * own.f[q, i]
        solve_linear(SOLVE, m, t, w, h)
        solve_linear(SOLVE_PAIR, m, t, w, h)
        size = 0.0
        for i in range(n):
            own.real[i] += own.right[i]
            own.pair[i] += own.right_pair[i]
            scale = scale_of(own, i, m.y[i], rtol, atol)
            for q in range(STAGES):
                change = (
                    coefficients.from_real[q] * own.right[i]
                    + 2.0 * (coefficients.from_pair[q] * own.right_pair[i]).real
                )
                own.z[q, i] += change
                size += (change / scale) ** 2
        size = math.sqrt(size / (STAGES * n))
        if not size < np.inf:
            return -1, OK
        if step > 0:
            last, quotient = quotient, size / before
            theta, diverging = rate_of(step, last, quotient)
            own.last[THETA] = theta
            left = MAX_ITERATIONS - 1 - step
            if diverging or (step > 1 and theta**left / (1.0 - theta) * size > enough):
                return -1, OK
            if theta < 1.0 and theta / (1.0 - theta) * size < enough:
                return step + 1, OK
        elif size == 0.0:
            own.last[THETA] = 0.0
            return 1, OK
        before = size
    return -1, OK
