"""Prescribed signals of time: piecewise polynomials, whose derivatives are exact."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import perm
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.signal_integrals import integrals_of_pieces
from runtime.dynamics.signals import DEGREE, SignalData
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats
from runtime.support.checks import called, increasing_times
from runtime.support.errors import ModelError, Refused, shown
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

        values: Floats = PPoly(self.coefficients[:, ::-1].T, self.knots)(times, order)
        return values

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
    try:
        return bool(np.isfinite(real_number(value)))
    except Refused:
        return False


def _constant(value: float) -> Signal:
    """A constant signal of a finite number, without the checks of other signals."""
    signal, coefficients = object.__new__(Signal), np.zeros((1, DEGREE + 1))
    coefficients[0, 0] = value
    coefficients.flags.writeable = False
    vars(signal).update(knots=ALWAYS, coefficients=coefficients)
    return signal


def as_signal(value: object, what: str) -> Signal:
    """Return a signal, or a number as a constant signal."""
    if isinstance(value, Signal):
        return value
    if type(value) is float and -np.inf < value < np.inf:
        return _constant(value) if value else NO_SIGNAL
    if _is_number(value):
        return _constant(real_number(value))
    raise ModelError(f"{what} = {shown(value)}: give a runtime.Signal or a finite number")


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

    ``order`` (signals,): the highest derivatives on which accelerations depend; without it steps need not see them.
    """
    starts = np.cumsum([0] + [0 if s is None else len(s.coefficients) for s in signals])
    given = [s for s in signals if s is not None]
    orders, extent = np.zeros(len(signals), np.int64), np.zeros((len(signals), 3))
    if order is not None:
        orders[:] = order
        for k, signal in enumerate(signals):
            if signal is not None and signal.knots is not ALWAYS and len(signal.coefficients) > 1:
                extent[k] = _extent(signal, int(orders[k]))
    # A constant holds from minus infinity on; its powers of t - knot must not be infinite.
    knots = [np.where(np.isinf(s.knots[:-1]), 0.0, s.knots[:-1]) for s in given]
    return SignalData(
        start=starts.astype(np.int64),
        knot=np.concatenate([*knots, np.zeros(0)]),
        coefficient=np.concatenate([*(s.coefficients for s in given), np.zeros((0, DEGREE + 1))]),
        integrals=np.concatenate([*(integrals_of_pieces(s.knots, s.coefficients) for s in given), np.zeros((0, 3))]),
        order=orders,
        extent=extent,
    )


def _extent(signal: Signal, order: int) -> Floats:
    """The extents (3,) of value, rate and acceleration, where steps must see them, else 0.

    Accelerations depend on the second derivative of a driver's signal by far more than on the others, which are its integrals.
    Knots alone do not show an acceleration that begins and ends with 0 in each piece.
    """
    c, h, extent = signal.coefficients, np.diff(signal.knots), np.zeros(3)
    for n in (2,) if order == 2 else range(order + 1):
        factor = np.array([perm(power, n) for power in range(n, DEGREE + 1)])
        within = (c[:, n:] * factor * h[:, None] ** np.arange(DEGREE + 1 - n)) @ _POWERS[: DEGREE + 1 - n]
        extent[n] = np.ptp(within)
    return extent


# At as many places as decide a polynomial.
_POWERS = np.linspace(0.0, 1.0, DEGREE + 1) ** np.arange(DEGREE + 1)[:, None]

NO_SIGNAL = _constant(0.0)


def jumps(signal: Signal, first: float, last: float) -> Iterator[tuple[float, int, float]]:
    """Where the value (order 0) or the rate (1) of a signal first jumps after a time, or until another: time [s], order, size.

    At a knot the piece that begins there holds, so that a run cannot end there.
    """
    if len(signal.knots) <= 2:
        return
    c, h = signal.coefficients, np.diff(signal.knots)[:-1]
    ends = np.zeros((2, len(h)))
    for power in range(DEGREE, -1, -1):  # Horner's rule, for both at once
        ends[1] = ends[1] * h + ends[0]
        ends[0] = ends[0] * h + c[:-1, power]
    inside = (signal.knots[1:-1] > first) & (signal.knots[1:-1] <= last)
    for order, extent in enumerate((np.ptp(c[:, 0]), np.abs(c[:, 1]).max())):
        size = c[1:, order] - ends[order]
        for k in np.flatnonzero(inside & (np.abs(size) > JUMP * extent + LEAST_JUMP))[:1].tolist():
            yield float(signal.knots[k + 1]), order, float(size[k])
