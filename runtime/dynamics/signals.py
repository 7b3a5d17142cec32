"""Prescribed signals of time in compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.jit.compilation import inlined
from runtime.support.arrays import Floats, Ints

DEGREE = 5  # of the polynomial pieces
ZERO, CONSTANT, VARYING = "zero", "constant", "varying"  # sorts of signals
SHARP = 2.0  # weight of a knot at which the rate jumps
LONGER = 4.0  # times the way from one knot to the next: a step that is longer does not pass the latter
SHORT = 0.5  # of the length that the error of the step before allows: what a signal does until a knot so near may be a pulse
ROUNDING = 2.0**-50  # of the time: a knot so near is one where the step begins


class SignalData(NamedTuple):
    """Data of the signals of a system, in flat arrays."""

    start: Ints  # (signals + 1,) where the pieces of each signal begin
    knot: Floats  # (pieces,) [s]
    coefficient: Floats  # (pieces, 6)
    weight: (
        Floats  # (pieces,) how much the signal changes where they begin, as a part of its extent (``system.signal``)
    )
    order: Ints  # (signals,) highest derivative on which accelerations depend

    def sort(self, k: int) -> str:
        """Whether signal k is 0 at any time, constant, or neither."""
        coefficients = self.coefficient[self.start[k] : self.start[k + 1]]
        if len(coefficients) == 1:
            first, *others = coefficients[0].tolist()
            return VARYING if any(others) else CONSTANT if first else ZERO
        return VARYING if coefficients.any() else ZERO


def no_signals() -> SignalData:
    """The data of a system without signals."""
    return SignalData(
        np.zeros(1, np.int64),
        np.zeros(0),
        np.zeros((0, DEGREE + 1)),
        np.zeros(0),
        np.zeros(0, np.int64),
    )


@inlined
def piece_at(k, x, t):  # type: ignore[no-untyped-def]
    """The piece of function k of ``start`` and ``knot`` that holds at x; beyond the knots the first or the last."""
    low, high = t.start[k], t.start[k + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if t.knot[middle] <= x:
            low = middle
        else:
            high = middle
    return low


@inlined
def evaluate_signal(k, time, t, value):  # type: ignore[no-untyped-def]
    """Put value, rate and acceleration of signal k into ``value`` (3,)."""
    evaluate_piece(piece_at(k, time, t), time, t, value)


@inlined
def piece_near(k, x, t, low):  # type: ignore[no-untyped-def]
    """As ``piece_at``, soon where it is the piece ``low`` or one beside it."""
    for _ in range(2):
        if x < t.knot[low] and low > t.start[k]:
            low -= 1
        elif low + 1 < t.start[k + 1] and t.knot[low + 1] <= x:
            low += 1
        else:
            return low
    return piece_at(k, x, t)


@inlined
def value_of_piece(low, time, t):  # type: ignore[no-untyped-def]
    """Value of a piece of a signal."""
    c, h = t.coefficient[low], time - t.knot[low]
    return c[0] + h * (c[1] + h * (c[2] + h * (c[3] + h * (c[4] + h * c[5]))))


@inlined
def evaluate_piece(low, time, t, value):  # type: ignore[no-untyped-def]
    """Put value, rate and acceleration of a piece of a signal into ``value`` (3,)."""
    c, h = t.coefficient[low], time - t.knot[low]
    value[0] = value_of_piece(low, time, t)
    value[1] = c[1] + h * (2.0 * c[2] + h * (3.0 * c[3] + h * (4.0 * c[4] + h * 5.0 * c[5])))
    value[2] = 2.0 * c[2] + h * (6.0 * c[3] + h * (12.0 * c[4] + h * 20.0 * c[5]))


@inlined
def evaluate_signals(time, t, values):  # type: ignore[no-untyped-def]
    """Put value, rate and acceleration of every signal into ``values`` (signals, 3)."""
    for k in range(len(t.start) - 1):
        evaluate_signal(k, time, t, values[k])


@inlined
def until_knot(k, time, longest, least, t):  # type: ignore[no-untyped-def]
    """Time [s] until the first sharp knot of signal k, or the second one that weighs more than ``least``; ``longest`` at most.

    A pulse begins and ends at such knots: a step that passes one of them at most has its end within the pulse, and sees it.  One
    that begins within a pulse may see nothing of it, and passes its end only where it is not much longer than the pulse.
    """
    passed, low = 0, piece_at(k, time, t)
    before = low
    while before > t.start[k] and t.weight[before] <= least:
        before -= 1
    for piece in range(low + 1, t.start[k + 1]):
        until = t.knot[piece] - time
        if until >= longest:
            break
        if t.weight[piece] > least and until > ROUNDING * abs(time):
            if passed == 1 or t.weight[piece] == SHARP or longest > LONGER * (t.knot[piece] - t.knot[before]):
                return until
            passed = 1
    return longest


@inlined
def least_weight(rtol, atol):  # type: ignore[no-untyped-def]
    """Weight of the knots that steps with these tolerances may pass by any number."""
    return min(1e-2, 100.0 * (rtol + atol))
