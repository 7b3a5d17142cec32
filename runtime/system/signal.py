"""Prescribed signals of time: piecewise polynomials, whose derivatives are exact."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.signals import DEGREE, SHARP, SignalData
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats
from runtime.support.checks import called, increasing_times
from runtime.support.errors import ModelError, Refused, shown
from runtime.support.latest import Latest
from runtime.support.numbers import floats, real_number

MAX_ORDER = 100  # of derivatives, which are zero from DEGREE + 1 on
MAX_SAMPLES = 10_000_000  # of a function
JUMP, LEAST_JUMP = 1e-3, 1e-9  # of values and rates: fraction of their extent, and size, that rounded data may have
# From value, rate and acceleration at both ends of an interval of length 1: coefficients of the quintic through them.
_HERMITE = np.linalg.inv(
    [
        [1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 0, 2, 0, 0, 0],
        [1, 1, 1, 1, 1, 1],
        [0, 1, 2, 3, 4, 5],
        [0, 0, 2, 6, 12, 20],
    ]
)
LEVELS = (1e-8, 1e-6, 1e-4, 1e-2)  # of the extent of a signal: what knots may weigh
_PLACES = (0.0, 0.5, 1.0)  # of a piece
TINY = 1e-300
ALWAYS = np.array([-np.inf, np.inf])  # knots of a constant
ALWAYS.flags.writeable = False


@checked_class
@dataclass(frozen=True, eq=False, repr=False)
class Signal:
    """A prescribed function of time, with consistent derivatives; immutable.

    Made by ``Signal.constant``, ``Signal.spline``, ``Signal.samples`` or ``Signal.function``; ``signal(t)`` is its value,
    ``signal(t, 1)`` and ``signal(t, 2)`` its rate and its acceleration.  A signal is not defined outside of ``span``.
    """

    knots: Floats  # (pieces + 1,) [s]; piece k holds from knots[k] to knots[k + 1]
    coefficients: Floats  # (pieces, 6) of powers of t - knots[k], lowest first

    def __post_init__(self) -> None:
        knots, coefficients = self.knots, self.coefficients
        pieces = len(coefficients) if coefficients.ndim == 2 else 0
        if not pieces or coefficients.shape != (pieces, DEGREE + 1) or knots.shape != (pieces + 1,):
            raise ModelError(
                f"signal: knots of the shape {knots.shape} and coefficients of the shape {coefficients.shape}; give (n + 1,) and "
                f"(n, {DEGREE + 1}), or use Signal.constant, spline, samples or function"
            )
        constant = pieces == 1 and knots[0] == -np.inf and knots[1] == np.inf
        if not (
            np.isfinite(coefficients).all() and (constant or np.isfinite(knots).all()) and (np.diff(knots) > 0.0).all()
        ):
            raise ModelError(
                "signal: knots must increase, and coefficients be finite; use Signal.constant or Signal.spline"
            )
        for name in ("knots", "coefficients"):
            array = np.ascontiguousarray(getattr(self, name), dtype=float)
            object.__setattr__(self, name, array)
            array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return Signal, (np.array(self.knots), np.array(self.coefficients))

    def __repr__(self) -> str:
        if np.isinf(self.knots[0]):
            return f"Signal.constant({self.coefficients[0, 0]:g})"
        return f"Signal of {self.knots[0]:g} .. {self.knots[-1]:g} s, {len(self.coefficients)} pieces"

    @property
    def span(self) -> tuple[float, float]:
        """First and last time at which the signal is defined [s]."""
        return float(self.knots[0]), float(self.knots[-1])

    @property
    def extent(self) -> tuple[float, float]:
        """Smallest and largest value, also between knots."""
        values = self.coefficients[:, 0]
        if not self.is_constant:
            from scipy.interpolate import PPoly

            pieces = PPoly(self.coefficients[:, ::-1].T, self.knots)
            turning = pieces.derivative().roots(extrapolate=False)
            ends = _polynomials(self.coefficients, np.diff(self.knots))[0]
            values = np.concatenate([values, ends, pieces(turning[np.isfinite(turning)])])
        return float(values.min()), float(values.max())

    @property
    def is_constant(self) -> bool:
        """Whether it has one value at all times."""
        return len(self.coefficients) == 1 and not self.coefficients[0, 1:].any()

    def __call__(self, t: ArrayLike, order: int = 0) -> Floats:
        """Value (order 0) or time derivative (order 1, 2, ...) at times (n,) or one time.

        Raises
        ------
        ModelError
            A time outside of ``span``.
        """
        times = floats(t, "signal: t", "times [s]")
        if not 0 <= order <= MAX_ORDER:
            raise ModelError(f"signal: order = {order}; give that of a derivative, 0 to {MAX_ORDER}")
        first, last = self.knots[0] - _slack(self.knots[0]), self.knots[-1] + _slack(self.knots[-1])
        if times.size and not (first <= times.min() and times.max() <= last):
            raise ModelError(
                f"signal asked for at t = {times.min():g} .. {times.max():g} s; it is defined from {self.knots[0]:g} to "
                f"{self.knots[-1]:g} s"
            )
        if np.isinf(self.knots[0]):
            return np.full(times.shape, self.coefficients[0, 0] if order == 0 else 0.0)
        from scipy.interpolate import PPoly  # here because the import takes a fifth of a second

        return PPoly(self.coefficients[:, ::-1].T, self.knots)(times, order)

    @classmethod
    def constant(cls, value: float) -> Signal:
        """Return a constant signal."""
        if not _is_number(value):
            raise ModelError(f"signal: the constant {shown(value)} is no finite number")
        return _constant(real_number(value))

    @classmethod
    def spline(cls, t: ArrayLike, values: ArrayLike, *, degree: int = 5) -> Signal:
        """Return the interpolating spline of odd degree through samples.

        Parameters
        ----------
        t : (n,) [s]
            Increasing times; n above the degree.
        values : (n,)
        degree : 1, 3 or 5
            A spline of degree 5 has continuous derivatives up to the fourth, as an integrator of high order needs.
        """
        times, samples = _samples(t, values)
        if degree not in (1, 3, 5):
            raise ModelError(f"signal: degree = {degree!r}; use 1, 3 or 5")
        if len(times) <= degree:
            raise ModelError(f"signal: {len(times)} samples, a spline of degree {degree} needs {degree + 1} or more")
        from scipy.interpolate import PPoly, make_interp_spline

        pieces = PPoly.from_spline(make_interp_spline(times, samples, k=degree))
        kept = np.diff(pieces.x) > 0.0
        coefficients = np.zeros((int(kept.sum()), DEGREE + 1))
        coefficients[:, : degree + 1] = pieces.c[::-1].T[kept]
        return cls(np.append(pieces.x[:-1][kept], pieces.x[-1]), coefficients)

    @classmethod
    def samples(cls, t: ArrayLike, values: ArrayLike, rates: ArrayLike, accelerations: ArrayLike) -> Signal:
        """Return the piecewise quintic through values, rates and accelerations (n,) at increasing times (n,), n above 1.

        Values and derivatives are exact at the given times; samples of a cubic spline with the same knots are reproduced
        everywhere.
        """
        times, y, y1, y2 = _samples(t, values, rates, accelerations)
        if len(times) < 2:
            raise ModelError("signal: give two samples or more, or Signal.constant")
        h = np.diff(times)
        ends = [y[:-1], h * y1[:-1], h**2 * y2[:-1], y[1:], h * y1[1:], h**2 * y2[1:]]
        scaled = np.array(ends).T @ _HERMITE.T
        scaled[:, :3] = np.array([y[:-1], h * y1[:-1], h**2 * y2[:-1] / 2]).T  # without the rounding of the inverse
        return cls(times, np.ascontiguousarray(scaled / h[:, None] ** np.arange(DEGREE + 1)))

    @classmethod
    def function(cls, f: Callable[[Floats], ArrayLike], t_start: float, t_end: float, *, step: float = 1e-3) -> Signal:
        """Return the spline of degree 5 through samples of a smooth function of times (n,), at most ``step`` [s] apart.

        The error is step^6 times the sixth derivative in order of magnitude; step^4 for the acceleration.
        """
        if not (_is_number(t_start) and _is_number(t_end) and t_start < t_end):
            raise ModelError(
                f"signal: from t_start = {t_start!r} to t_end = {t_end!r} s; give finite times that increase"
            )
        if not (_is_number(step) and step > 0.0):
            raise ModelError(f"signal: step = {step!r} s must be a finite number above 0 s")
        if (t_end - t_start) / step > MAX_SAMPLES:
            raise ModelError(f"signal: step = {step:g} s makes more than {MAX_SAMPLES} samples; give a longer one")
        times = np.linspace(t_start, t_end, max(int(np.ceil((t_end - t_start) / step)), 8) + 1)
        return cls.spline(times, called(f, "signal: its function", times.copy()))

    @classmethod
    def joined(cls, signals: Sequence[Signal]) -> Signal:
        """Return signals in succession, each beginning at the end of the one before; their values may jump there."""
        if not len(signals) or not all(isinstance(signal, Signal) for signal in signals):
            raise ModelError("signal: join a list of one Signal or more")
        for before, after in itertools.pairwise(signals):
            end, begin = before.span[1], after.span[0]
            if not abs(end - begin) <= _slack(end):
                raise ModelError(f"signal: a piece ends at t = {end:.12g} s and the next begins at {begin:.12g} s")
        knots = [s.knots[:-1] for s in signals] + [signals[-1].knots[-1:]]
        return cls(np.concatenate(knots), np.concatenate([s.coefficients for s in signals]))


def _slack(t: float) -> float:
    """Difference below which two times count as equal [s]."""
    return 1e-12 * max(1.0, abs(t)) if np.isfinite(t) else 0.0


def _is_number(value: object) -> bool:
    return _number(value) is not None


def _number(value: object) -> float | None:
    """A finite number, None for anything else."""
    try:
        number = real_number(value)
    except Refused:
        return None
    return number if math.isfinite(number) else None


def _constant(value: float) -> Signal:
    """A constant signal of a finite number."""
    return Signal(ALWAYS, np.array([[value, *[0.0] * DEGREE]]))


def held_signal(knots: Floats, values: Floats) -> Signal:
    """The signal that has a value (pieces,) from each knot to the next; knots (pieces + 1,)."""
    return Signal(knots, np.hstack([values[:, None], np.zeros((len(values), DEGREE))]))


def as_signal(value: object, what: str) -> Signal:
    """Return a signal, or a number as a constant signal."""
    if isinstance(value, Signal):
        return value
    number = _number(value)
    if number is None:
        raise ModelError(f"{what} = {shown(value)}: give a runtime.Signal or a finite number")
    return _constant(number) if number else NO_SIGNAL


def _samples(t: ArrayLike, *columns: ArrayLike) -> list[Floats]:
    """Increasing times (n,) and columns of samples (n,), checked."""
    times = increasing_times(t, "signal: t")
    checked = [times]
    for values in columns:
        samples = floats(values, "signal: samples", "a list of one number for each time")
        if samples.shape != times.shape:
            raise ModelError(
                f"signal: times {times.shape} and samples {samples.shape} must be lists of the same length"
            )
        if not np.isfinite(samples).all():
            bad = int(np.argmin(np.isfinite(samples)))
            raise ModelError(f"signal: sample {bad} is not finite; fill or leave out what was not measured")
        checked.append(samples)
    return checked


def signal_data(signals: Sequence[Signal | None], order: ArrayLike | None = None) -> SignalData:
    """Flat data of signals, in their order; None has no pieces.

    ``order`` (signals,): the highest derivatives on which accelerations depend; without it steps may pass any knots.
    """
    starts = np.cumsum([0] + [0 if s is None else len(s.coefficients) for s in signals])
    given = [s for s in signals if s is not None]
    orders = np.zeros(len(signals), np.int64) if order is None else np.array(order, np.int64)
    weights = [
        np.zeros(len(s.coefficients)) if order is None else _weights(s, bool(of))
        for s, of in zip(signals, orders, strict=True)
        if s is not None
    ]
    # A constant holds from minus infinity on; its powers of t - knot must not be infinite.
    knots = [np.where(np.isinf(s.knots[:-1]), 0.0, s.knots[:-1]) for s in given]
    return SignalData(
        start=starts.astype(np.int64),
        knot=np.concatenate([*knots, np.zeros(0)]),
        coefficient=np.concatenate([*(s.coefficients for s in given), np.zeros((0, DEGREE + 1))]),
        weight=np.concatenate([*weights, np.zeros(0)]),
        order=orders,
    )


def _found_weights(signal: Signal, rates: bool) -> Floats:
    """How much the signal changes at the begin of each piece, (pieces,), as one of LEVELS of its extent.

    1 for more, and SHARP where its rate jumps, too, or ``rates`` matter.  A knot has a level if the quintic polynomial over it,
    from the heavier knot before to the one behind, differs by no more from the signal, and where rates matter from its rate.
    Of a signal of held values each jump weighs 1.
    """
    pieces = len(signal.coefficients)
    weights, marks = np.zeros(pieces), np.arange(pieces + 1)
    if pieces < 2:
        return weights
    if not (rates or signal.coefficients[:, 1:].any()):  # held values, which no polynomial follows
        values = signal.coefficients[:, 0]
        weights[1:] = np.abs(np.diff(values)) > LEAST_JUMP * np.ptp(values)
        return weights
    h = np.diff(signal.knots)
    at = [_polynomials(signal.coefficients, h * x) for x in _PLACES]  # value, rate and acceleration of all pieces
    sizes = [np.ptp([one[n] for one in at]) for n in range(1 + rates)]
    for level in LEVELS:
        first = left = 0
        while left < 2 and len(marks) > 2:  # every other knot is tried, then the others
            low, high = marks[first:-2:2], marks[first + 2 :: 2]
            span = signal.knots[high] - signal.knots[low]
            ends = [at[0][n][low] * span**n for n in range(3)] + [at[-1][n][high - 1] * span**n for n in range(3)]
            inside = np.arange(low[0], high[-1])  # pieces
            of = np.searchsorted(high, inside, side="right")
            quintic, began = (_HERMITE @ ends).T[of], signal.knots[inside] - signal.knots[low[of]]
            off = np.zeros(len(inside))
            for one, x in zip(at, _PLACES, strict=True):
                found = _polynomials(quintic, (began + h[inside] * x) / span[of])
                for n, size in enumerate(sizes):
                    off = np.maximum(off, np.abs(found[n] / span[of] ** n - one[n][inside]) / max(size, TINY))
            passed = marks[first + 1 : -1 : 2][np.maximum.reduceat(off, low - low[0]) <= level]
            weights[passed] = level
            marks, first, left = (
                np.setdiff1d(marks, passed, assume_unique=True),
                1 - first,
                0 if len(passed) else left + 1,
            )
            first = min(first, len(marks) - 3)
    weights[marks[1:-1]] = 1.0
    value, rate = (np.abs(at[0][n][1:] - at[-1][n][:-1]) for n in range(2))  # jumps
    sharp = (value <= LEAST_JUMP * sizes[0]) & (rate > JUMP * np.ptp(at[0][1]))
    # A driver that moves a body and brings it back shows nothing at the knots: steps end at each of them.
    weights[1:][(sharp | rates) & (weights[1:] == 1.0)] = SHARP
    return weights


_weights = Latest(_found_weights, 256)


def _polynomials(coefficients: Floats, x: Floats) -> list[Floats]:
    """Value, rate and acceleration of polynomials (n, 6), each at its place x (n,)."""
    of = [np.zeros(len(x)) for _ in range(3)]
    for power in range(DEGREE, -1, -1):
        of = [of[0] * x + coefficients[:, power], of[1] * x + of[0], of[2] * x + 2.0 * of[1]]
    return of


NO_SIGNAL = _constant(0.0)


def jumps(signal: Signal, first: float, last: float) -> Iterator[tuple[float, int, float]]:
    """Where the value (order 0) or the rate (1) of a signal first jumps after a time, or until another: time [s], order, size.

    At a knot the piece that begins there holds, so that a run cannot end there.
    """
    if len(signal.knots) <= 2:
        return
    c, h = signal.coefficients, np.diff(signal.knots)[:-1]
    ends = _polynomials(c[:-1], h)
    inside = (signal.knots[1:-1] > first) & (signal.knots[1:-1] <= last)
    for order, extent in enumerate((np.ptp(c[:, 0]), np.abs(c[:, 1]).max())):
        size = c[1:, order] - ends[order]
        for k in np.flatnonzero(inside & (np.abs(size) > JUMP * extent + LEAST_JUMP))[:1].tolist():
            yield float(signal.knots[k + 1]), order, float(size[k])
