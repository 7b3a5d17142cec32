"""Zero-lag low-pass and band-pass filtering, gap filling and resampling of measured signals."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline

from models.walking.samples import check_times, runs
from runtime import ModelError
from runtime.support import checked, floats
from runtime.support.arrays import Floats

PASSES = 2
MAX_ORDER = 8  # of one pass; steeper filters ring and lose digits
LOWEST = 1e-5  # cut-off as a fraction of the sampling rate: below, the poles of a filter are 1 but for rounding
SETTLING = 3.0  # periods of the cut-off by which a signal is extended at its ends


@checked
def lowpass(
    values: ArrayLike,
    rate: float,
    cutoff: float,
    *,
    order: int = 3,
    ends: Literal["point", "mirror"] = "point",
    name: str = "signal",
) -> Floats:
    """Zero-lag low-pass filter: a Butterworth filter applied forwards and backwards in time.

    ``order`` is that of one pass; ``cutoff`` is where the gain **after both passes** is -3 dB.  "Third order, 6 Hz" therefore
    attenuates like a filter of sixth order, without phase shift, and by 3 dB at 6 Hz.  Each pass contributes half of these
    3 dB, so the cut-off of one pass is raised, in the bilinear frequency tan(pi f / rate), by the factor
    1 / (2^(1/2) - 1)^(1/(2 order)), 1.158 for the third order.  (Winter, Biomechanics and Motor Control of Human Movement,
    section on the choice of the cut-off, derives 1/0.802 for the second order in the same way.)  Without this correction the
    signal would be damped by 6 dB at 6 Hz.

    The gain is 1 / (1 + (2^(1/2) - 1) (w/w_c)^(2 order)) with w = tan(pi f / rate): away from the ends, polynomials of a
    degree below 2 order pass unchanged.  At the ends the signal is extended over three periods of the cut-off by its point
    reflection, which preserves value and slope, or by its mirror image.

    Parameters
    ----------
    values : (n,) or (n, ...)
        Evenly spaced samples; time along the first axis.
    rate : float [Hz]
        Samples per second.
    cutoff : float [Hz]
        Frequency at which the gain after both passes is -3 dB (1/sqrt 2); below half the rate.
    order : int
        Order of one pass.
    ends : "point" or "mirror"
        How the signal is extended; "mirror" where single samples say little of the course, as in rectified noise.
    name : str
        Name of the signal in errors.

    Returns
    -------
    values : of the same shape

    Raises
    ------
    ModelError
        If samples are missing or too few, or the cut-off is out of range.
    """
    x = _checked_samples(values, rate, (cutoff,), order, name)
    bilinear = math.tan(math.pi * cutoff / rate) * _widening(order)
    return _both_ways(x, order, (bilinear,), rate / cutoff, "odd" if ends == "point" else "even")


@checked
def bandpass(
    values: ArrayLike, rate: float, low: float, high: float, *, order: int = 2, name: str = "signal"
) -> Floats:
    """Zero-lag band-pass filter: a Butterworth filter applied forwards and backwards in time.

    The gain **after both passes** is -3 dB at ``low`` and ``high``: with w = tan(pi f / rate) it is
    1 / (1 + (2^(1/2) - 1) ((w^2 - w_low w_high) / (w (w_high - w_low)))^(2 order)), as of ``lowpass`` with the usual band-pass
    transformation.  At the ends the signal is extended by its point reflection over three periods of ``low``.

    Parameters
    ----------
    values : (n,) or (n, ...)
        Evenly spaced samples; time along the first axis.
    rate : float [Hz]
        Samples per second.
    low, high : float [Hz]
        Frequencies at which the gain after both passes is -3 dB (1/sqrt 2); increasing, below half the rate.
    order : int
        Order of one pass: far below and above the band a pass attenuates by 6 dB per octave and order.
    name : str
        Name of the signal in errors.

    Returns
    -------
    values : of the same shape

    Raises
    ------
    ModelError
        If samples are missing or too few, or the band is out of range.
    """
    x = _checked_samples(values, rate, (low, high), order, name)
    if not low < high:
        raise ModelError(f"{name}: a band from {low:g} to {high:g} Hz; give its lower limit first")
    w_low, w_high = (math.tan(math.pi * limit / rate) for limit in (low, high))
    half = 0.5 * (w_high - w_low) * _widening(order)
    middle = math.hypot(half, math.sqrt(w_low * w_high))
    return _both_ways(x, order, (middle - half, middle + half), rate / low, "odd")


def _widening(order: int) -> float:
    """By which a cut-off of one pass is raised, so that the gain there is -3 dB after all passes."""
    return float((2.0 ** (1.0 / PASSES) - 1.0) ** (-1.0 / (2.0 * order)))


def _both_ways(x: Floats, order: int, bilinear: tuple[float, ...], period: float, padtype: str) -> Floats:
    """The signal after both passes; ``period`` [samples] of the lowest cut-off."""
    from scipy.signal import butter, sosfiltfilt  # here because the import takes half a second

    limits = [2.0 / math.pi * math.atan(w) for w in bilinear]
    sections = butter(
        order, limits if len(limits) > 1 else limits[0], "band" if len(limits) > 1 else "low", output="sos"
    )
    padding = min(len(x) - 1, max(3 * (order + 1), math.ceil(SETTLING * period)))
    return np.asarray(sosfiltfilt(sections, x, axis=0, padtype=padtype, padlen=padding))


def _checked_samples(values: ArrayLike, rate: float, cutoffs: tuple[float, ...], order: int, name: str) -> Floats:
    """The samples as an array; refuses those and filters that do not go together."""
    x = floats(values, f"{name}: values", "samples, a number or a row of numbers each")
    if x.ndim == 0:
        raise ModelError(f"{name}: values = {x:g} is one number; give samples")
    if not (math.isfinite(rate) and rate > 0.0):
        raise ModelError(f"{name}: rate = {rate} Hz; it must be positive")
    check_order(order, name)
    for cutoff in cutoffs:
        if not LOWEST * rate <= cutoff < rate / 2.0:
            raise ModelError(
                f"{name}: cut-off {cutoff:g} Hz; at {rate:g} samples per second it must lie between {LOWEST * rate:g} and "
                f"{rate / 2.0:g} Hz, half the sampling rate: change it, or omit the filter"
            )
    fewest = 3 * (order + 1)
    if len(x) < fewest:
        raise ModelError(
            f"{name}: {len(x)} samples; a filter of order {order} needs at least {fewest}: use a longer piece"
        )
    bad = np.flatnonzero(~np.isfinite(x).reshape(len(x), -1).all(axis=1))
    if len(bad):
        raise ModelError(
            f"{name}: {len(bad)} samples are missing, the first is number {bad[0] + 1}; a filter would smear the gap over its "
            "neighbours: fill gaps first (fill_gaps)"
        )
    return x


def check_order(order: int, name: str) -> None:
    """Refuse an order of a filter that is out of range.

    Raises
    ------
    ModelError
    """
    if not 1 <= order <= MAX_ORDER:
        raise ModelError(f"{name}: order = {order}; the order of one pass must be 1 to {MAX_ORDER}")


@checked
def fill_gaps(t: ArrayLike, values: ArrayLike, limit: float, *, name: str = "signal") -> Floats:
    """Fill short gaps by the cubic spline through all samples that are present.

    Parameters
    ----------
    t : (n,) [s]
        Increasing times.
    values : (n,) or (n, k)
        NaN where a sample is missing; a row with one missing number counts as missing.
    limit : float [s]
        Longest gap that is filled; a gap of j frames lasts j sampling intervals.
    name : str
        Name of the signal in errors, such as the marker's label.

    Returns
    -------
    values : of the same shape
        Samples that are present are unchanged.

    Raises
    ------
    ModelError
        For a longer gap, a gap at an end, or fewer than four samples, with the signal, the times and the remedy.
    """
    times, x = floats(t, f"{name}: t", "times [s]"), floats(values, f"{name}: values", "a sample for each time")
    check_times(times, name)
    if x.ndim == 0 or len(x) != len(times):
        raise ModelError(f"{name}: samples {x.shape} at {len(times)} times; the numbers must be equal")
    missing: NDArray[np.bool_] = np.asarray(~np.isfinite(x).reshape(len(x), -1).all(axis=1))
    gaps = runs(missing)
    if not gaps:
        return x
    n = len(times)
    if missing.sum() > n - 4:
        raise ModelError(
            f"{name}: seen in {n - missing.sum()} of {n} frames; filling gaps needs at least 4: choose another marker"
        )
    for start, stop in gaps:
        if start == 0 or stop == n:
            seen = f"from {times[stop]:g} s on" if start == 0 else f"until {times[start - 1]:g} s"
            raise ModelError(
                f"{name}: seen only {seen} in a trial from {times[0]:g} to {times[-1]:g} s; a gap at an end has "
                "samples on one side only: crop the trial to where the marker is seen"
            )
        length = times[stop] - times[start]
        if length > limit * (1.0 + 1e-9):
            raise ModelError(
                f"{name}: not seen from {times[start]:g} to {times[stop]:g} s, {length:.3g} s; gaps up to {limit:g} s are "
                "filled: crop the trial, fill the gap in the capture software, or allow longer gaps"
            )
    x[missing] = CubicSpline(times[~missing], x[~missing])(times[missing])
    return x


@checked
def resample(t: ArrayLike, values: ArrayLike, to: ArrayLike, *, name: str = "signal") -> Floats:
    """Values at other times, by the cubic spline through all samples.

    Filter first if the new times are sparser: a spline does not remove frequencies above half the new rate.

    Parameters
    ----------
    t : (n,) [s]
        Increasing times, at least two.
    values : (n,) or (n, ...)
        Samples without gaps.
    to : (m,) [s]
        New times, within the times of the samples.

    Returns
    -------
    values : (m,) or (m, ...)

    Raises
    ------
    ModelError
        If samples are missing or a new time lies outside.
    """
    times, x = floats(t, f"{name}: t", "times [s]"), floats(values, f"{name}: values", "a sample for each time")
    new = floats(to, f"{name}: to", "times [s]")
    check_times(times, name)
    if x.ndim == 0 or new.ndim > 1 or len(times) < 2 or len(x) != len(times):
        raise ModelError(
            f"{name}: samples {x.shape} at {len(times)} times; the numbers must be equal, and at least two"
        )
    if not np.isfinite(x).all():
        raise ModelError(f"{name}: samples are missing; fill gaps before resampling (fill_gaps)")
    tiny = 1e-9 * max(1.0, float(np.abs(times).max()))
    out = new[~((new >= times[0] - tiny) & (new <= times[-1] + tiny))]
    if len(out):
        raise ModelError(
            f"{name}: requested at {out[0]:g} s, but measured from {times[0]:g} to {times[-1]:g} s; values are not extrapolated"
        )
    return np.asarray(CubicSpline(times, x)(np.clip(new, times[0], times[-1])))


@checked
def without_flips(p: ArrayLike) -> Floats:
    """Choose the signs of Euler parameters (n, 4) so that they do not jump from one sample to the next.

    p and -p describe the same rotation, and a conversion from rotations may return either; derivatives and filters need the
    one nearer to the previous sample.  The first sample keeps its sign.
    """
    x = floats(p, "Euler parameters", "finite numbers (n, 4)")
    if x.ndim != 2 or x.shape[1] != 4 or not np.isfinite(x).all():
        raise ModelError(f"Euler parameters of shape {x.shape}; they must be finite numbers (n, 4)")
    turns = np.where((x[1:] * x[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    return x * np.concatenate(([1.0], np.cumprod(turns)))[: len(x), None]
