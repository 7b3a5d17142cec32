"""Step size control: the rules by which the integration loop, the batch and the GPU choose, accept and shorten steps.

Each rule is a function of scalars that calls no other function of this package: inlined into CPU code as it is, and compiled from
its source for the GPU (``runtime.integrate.batches.gpu``).
Hairer, Norsett and Wanner (1993), Solving Ordinary Differential Equations I, section II.4.

An error is in units of the tolerance: up to 1 the step is accepted, above 1 it is rejected, and an error that is not finite
marks a bad attempt, in which a stage was singular or not finite.
"""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.layout import FRICTION, SINGULAR
from runtime.dynamics.status import Status
from runtime.jit.compilation import inlined

ACCEPTED, REJECTED, BAD = range(3)  # verdicts on an attempt
NO_LIMIT = 10**15  # steps: none was given
MOST_STEPS = 1e10  # days of computing
FIRST_LOOK = 1024  # steps
SHORTEST = 2.0**-49  # of the largest time of a run: a step of this length is not too small
# Of the growth that an error allows, at order 8: an estimate that passes through zero would else be followed by a rejected step.
GROWTH = 0.35
# Of the square of the estimate of order 5: an error of thirty tolerances, in the mean of all states, counts as one.
BETWEEN_KNOTS = 1e-3
DIGITS_OF_ONE = int(
    (1023.0 * (1.0 + 1.0 / 16.0) - 0.053) * 2.0**52
)  # of 1.0 and a 16th of them; 0.053 centres the error


@inlined
def trial_length(state_norm, rate_norm, span, max_step):  # type: ignore[no-untyped-def]
    """Length of the explicit Euler step from which Hairer's first step is computed; norms in units of the tolerance."""
    h = 1e-6 if state_norm < 1e-5 or rate_norm < 1e-5 else 0.01 * state_norm / rate_norm
    return min(h, span, max_step)


@inlined
def first_length(h, rate_norm, change_norm, max_step):  # type: ignore[no-untyped-def]
    """Hairer's first step of a method of order 8, from the change of the derivative over the trial step h, divided by h."""
    largest = max(rate_norm, change_norm)
    second = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / 8)
    return min(100.0 * h, second, max_step)


@inlined
def step_length(proposed, max_step, time, end, cut):  # type: ignore[no-untyped-def]
    """Length of the next attempt, and whether it ends the run: a step that would leave a very short rest takes the rest too.

    ``cut``: it is to end at a change of mode or a kink, and is made longer only where it would be too small.
    """
    h = min(max(proposed, SHORTEST * max(abs(time), abs(end))) if cut else proposed, max_step)
    last = time + (1.0 if cut else 1.01) * h >= end
    if last:
        h = end - time
    return h, last


@inlined
def too_small(h, time, end):  # type: ignore[no-untyped-def]
    """True for a step below four times the spacing of floating-point numbers at the largest time of the run."""
    largest = max(abs(time), abs(end))
    if h > 0.5 * SHORTEST * largest:  # most steps: the spacing is at most a quarter of this
        return False
    return not h > 4.0 * math.ldexp(1.0, math.frexp(largest)[1] - 53)


@inlined
def would_not_end(steps, begin, time, end):  # type: ignore[no-untyped-def]
    """True where the rest of the run takes too many steps of the mean length so far; looked at after 1024, 2048, ... steps.

    ``begin``: for the mean of the later half of the steps, as far before ``time`` as if all had had this length.

    Too many are more than MOST_STEPS; early in the run, when short steps may be those of its beginning alone, the square of
    MOST_STEPS / steps.
    """
    if steps < FIRST_LOOK or steps & (steps - 1) != 0:
        return False
    return steps * (end - time) > max(MOST_STEPS, (MOST_STEPS / steps) ** 2) * (time - begin)


@inlined
def squared_error(sum5, sum3, h, n):  # type: ignore[no-untyped-def]
    """Square of Hairer's combination of the error estimates of order 5 and 3, from the sums of squares of their n components."""
    denominator = sum5 + 0.01 * sum3
    return 0.0 if denominator == 0.0 else h * h / n * sum5 * (sum5 / denominator)


@inlined
def with_knot(square, sum5, h, n, until):  # type: ignore[no-untyped-def]
    """``squared_error`` of an attempt that perhaps ends at a knot of a signal, ``until`` [s] after its begin, which is soon.

    What a signal does until then may be a short pulse, of whose polynomials the estimate of order 3 is so large that the
    combination says nothing of the error.  That of order 5 bounds it, within the hundred tolerances that are right.
    """
    part = BETWEEN_KNOTS if h > 0.999 * until else 0.0
    return max(square, part * h * h / n * sum5)


@inlined
def factor_of(square, safety, slowest, fastest):  # type: ignore[no-untyped-def]
    """Factor by which the step may change after an error with this square, for an estimate of order 8, to 0.3 %.

    The next attempt waits for the 16th root, and four square roots in a row take longer.  The digits of a number, read as an
    integer, are about its logarithm: a 16th of them gives the root to 4 %, and two terms of a series the rest.
    """
    bounded = min(max(square, (safety / fastest) ** 16), (safety / slowest) ** 16)
    root = np.int64(DIGITS_OF_ONE - (np.float64(bounded).view(np.int64) >> 4)).view(np.float64)  # of 1 / bounded
    power = root * root
    power *= power
    power *= power
    off = 1.0 - bounded * (power * power)
    factor = min(fastest, max(slowest, safety * (root + root * off * (1.0 / 16.0 + 17.0 / 512.0 * off))))
    return factor if factor <= 1.0 else 1.0 + GROWTH * (factor - 1.0)


@inlined
def verdict(error):  # type: ignore[no-untyped-def]
    """ACCEPTED, REJECTED or BAD."""
    if not error < math.inf:
        return BAD
    return ACCEPTED if error <= 1.0 else REJECTED


@inlined
def after_bad_attempt(h, time):  # type: ignore[no-untyped-def]
    """Length of the attempt after a bad one; 0 once shortening has not helped and the run fails."""
    return 0.0 if h < 1e-10 * max(1.0, abs(time)) else 0.1 * h


@inlined
def after_rejection(h, factor):  # type: ignore[no-untyped-def]
    """Length of the attempt after a rejected one."""
    return h * min(1.0, factor)


@inlined
def after_acceptance(h, factor, rejected):  # type: ignore[no-untyped-def]
    """Length of the attempt after an accepted one; it does not grow after a rejected attempt at this step (``rejected`` 1)."""
    return h * (min(1.0, factor) if rejected == 1 else factor)


@inlined
def failure(code):  # type: ignore[no-untyped-def]
    """Status of a run that fails at an evaluation with this code, which is not OK."""
    if code & SINGULAR:
        return Status.SINGULAR_CONFIGURATION
    if code & FRICTION:
        return Status.FRICTION_NOT_UNIQUE
    return Status.NOT_FINITE
