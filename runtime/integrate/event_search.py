"""Zeros of events within a step, in compiled code: their signs at places of the step, and roots on its dense output.

``e`` is the memory of the events, of a single run or of a batch, or of events that are functions in Python
(``stepwise.EventSearch``), for which Python runs ``find_zeros``: ``rules``, ``samples`` and ``zeros`` as of ``EventWorkspace``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.dynamics.force_elements import AT_START, DIRECTION, TERMINAL
from runtime.integrate.kink_landing import MAX_SECANTS, inside_bracket, narrowed
from runtime.integrate.lane_state import SAMPLES
from runtime.jit.compilation import inlined

CLOSEST = 1e-15  # of the step and of the time, between both ends of a bracket
NEVER = 2.0  # a fraction of the step that is not in it
UNKNOWN = -1  # in place of a number of zeros


def value_within(m: Any, of: Any, lane: int, k: int, x: float) -> float:
    """Value of event k at a fraction of the step of a lane, by its dense output."""
    raise NotImplementedError


@inlined
def is_passed(before, now, direction):  # type: ignore[no-untyped-def]
    """Whether an event passes zero in its direction between two values."""
    rising, falling = before < 0.0 and now >= 0.0, before > 0.0 and now <= 0.0
    return (rising and direction >= 0) or (falling and direction <= 0)


@inlined
def begins(e, k, i):  # type: ignore[no-untyped-def]
    """Whether event k, of column i, has a zero at the begin of a run by its first sample."""
    return e.rules[k, AT_START] == 1 and e.samples[0, i] <= 0.0


@inlined
def may_pass(m, e, lane, first):  # type: ignore[no-untyped-def]
    """Whether an event passes zero between samples of the step of a lane, or is not finite at one.

    ``first``: the run begins with this step, whose begin counts.
    """
    for k in range(len(e.rules)):
        i = k * m.W + lane
        if first and begins(e, k, i):
            return True
        for q in range(SAMPLES + 1):
            now = e.samples[q, i]
            if not abs(now) < np.inf or (q > 0 and is_passed(e.samples[q - 1, i], now, e.rules[k, DIRECTION])):
                return True
    return False


@inlined
def zero_between(m, of, lane, k, bracket, close):  # type: ignore[no-untyped-def]
    """Fraction of the step of a lane from which on event k does not have the sign that it has at the lower end of a bracket."""
    for _ in range(MAX_SECANTS):
        if bracket[1] - bracket[0] <= close:
            break
        # Behind the zero the event may stay 0.
        x = inside_bracket(bracket) if bracket[3] != 0.0 else 0.5 * (bracket[0] + bracket[1])
        bracket = narrowed(bracket, x, value_within(m, of, lane, k, x))
    return bracket[1]


@inlined
def find_zeros(m, of, e, lane, begin, h, first):  # type: ignore[no-untyped-def]
    """Put the zeros of all events in a step of a lane, of length h from ``begin`` on, into ``e.zeros``: events and fractions.

    ``first``, ``e.samples``: as of ``may_pass``.  Returns the number of zeros, which is
    UNKNOWN where a value is not finite, and the fraction of the first zero of a terminal event, or NEVER; none behind it is kept.
    """
    count, kept, stop, close = 0, 0, NEVER, CLOSEST * max(1.0, abs(begin) / h)
    for k in range(len(e.rules)):
        i, terminal = k * m.W + lane, e.rules[k, TERMINAL] == 1
        if first and begins(e, k, i):
            e.zeros[count, 0], e.zeros[count, 1] = k, 0.0
            count, stop = count + 1, 0.0 if terminal else stop
        for q in range(1, SAMPLES):
            e.samples[q, i] = value_within(m, of, lane, k, q / SAMPLES)
        for q in range(SAMPLES + 1):
            before, now = e.samples[max(q - 1, 0), i], e.samples[q, i]
            if not abs(now) < np.inf:
                return UNKNOWN, stop
            if is_passed(before, now, e.rules[k, DIRECTION]):
                x = zero_between(m, of, lane, k, ((q - 1.0) / SAMPLES, q / SAMPLES, before, now, 0.0), close)
                e.zeros[count, 0], e.zeros[count, 1] = k, x
                count += 1
                if terminal:
                    stop = min(stop, x)
                    break
    for c in range(count):
        if e.zeros[c, 1] <= stop:
            e.zeros[kept, 0], e.zeros[kept, 1] = e.zeros[c, 0], e.zeros[c, 1]
            kept += 1
    return kept, stop
