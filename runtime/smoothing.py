"""Low-pass filtering without lag, filling of gaps, and resampling of measured signals."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from runtime.capture import Floats, check_times, runs
from runtime.errors import ModelError

PASSES = 2
HIGHEST = 8  # order of one pass; steeper filters ring, and lose digits
SETTLING = 3.0  # periods of the cut-off by which a signal is continued at its ends


def lowpass(values: ArrayLike, rate: float, cutoff: float, *, order: int = 3, name: str = "signal") -> Floats:
    """Low-pass filter without lag: a Butterworth filter forwards and backwards in time.

    "Third order, 6 Hz" means here: the filter of one pass is of third order, it is applied twice, so that the amplitude
    falls off as one of sixth order without any shift of phase, and the gain **after both passes** is -3 dB at 6 Hz.  As
    each pass takes its own -3 dB, the filter of one pass is given a higher cut-off, in the bilinear frequency
    tan(pi f / rate) by 1 / (2^(1/2) - 1)^(1/(2 order)), 1.158 for the third order.  (Winter, Biomechanics and Motor Control
    of Human Movement, section on the choice of the cut-off, gives 1/0.802 for the second order by the same reasoning.)
    A filter that leaves this out damps the signal at 6 Hz by 6 dB.

    The gain is 1 / (1 + (w/w_c)^(2 order)) with w = tan(pi f / rate): away from the ends, polynomials of a degree below
    2 order pass unchanged.  At the ends the signal is continued by its point reflection over three periods of the
    cut-off, which keeps value and slope.

    Parameters
    ----------
    values : (n,) or (n, ...)
        Evenly spaced samples; time along the first axis.
    rate : float [Hz]
        Samples per second.
    cutoff : float [Hz]
        Where the gain after both passes is -3 dB (1/sqrt 2); below half the rate.
    order : int
        Of the filter of one pass.
    name : str
        What errors call the signal.

    Returns
    -------
    values : of the same shape

    Raises
    ------
    ModelError
        Where samples are missing or too few, or the cut-off is out of range.
    """
    from scipy.signal import butter, sosfiltfilt  # here, because it takes half a second to import

    x = np.asarray(values, dtype=float)
    if not (math.isfinite(rate) and rate > 0.0):
        raise ModelError(f"{name}: rate = {rate} Hz; it must be positive")
    if not 1 <= order <= HIGHEST:
        raise ModelError(f"{name}: order = {order}; a filter of one pass has an order of 1 to {HIGHEST}")
    if not 0.0 < cutoff < rate / 2.0:
        raise ModelError(
            f"{name}: cut-off {cutoff:g} Hz; at {rate:g} samples per second it must lie between 0 and {rate / 2.0:g} Hz, half "
            "of that: lower it, or leave the filter out"
        )
    least = 3 * (order + 1)
    if x.ndim < 1 or len(x) < least:
        raise ModelError(
            f"{name}: {len(x) if x.ndim else 1} samples; a filter of order {order} needs {least} at least: give a longer piece"
        )
    bad = np.flatnonzero(~np.isfinite(x).reshape(len(x), -1).all(axis=1))
    if len(bad):
        raise ModelError(
            f"{name}: {len(bad)} samples are missing, the first is number {bad[0] + 1}; a filter would smear the gap over its "
            "neighbours: fill gaps before (fill_gaps)"
        )
    bilinear = math.tan(math.pi * cutoff / rate) / (2.0 ** (1.0 / PASSES) - 1.0) ** (1.0 / (2.0 * order))
    sections = butter(order, 2.0 / math.pi * math.atan(bilinear), output="sos")
    padding = min(len(x) - 1, max(least, math.ceil(SETTLING * rate / cutoff)))
    return np.asarray(sosfiltfilt(sections, x, axis=0, padtype="odd", padlen=padding))


def fill_gaps(t: ArrayLike, values: ArrayLike, limit: float, *, name: str = "signal") -> Floats:
    """Fill short gaps by the cubic spline through all samples that are there.

    Parameters
    ----------
    t : (n,) [s]
        Increasing.
    values : (n,) or (n, k)
        NaN where a sample is missing; a row that misses one number is missing as a whole.
    limit : float [s]
        Longest gap that is filled; a gap of j frames lasts j frames.
    name : str
        What errors call the signal, such as the marker's label.

    Returns
    -------
    values : of the same shape
        What was there is unchanged.

    Raises
    ------
    ModelError
        For a longer gap, one at an end, or fewer than four samples, naming the signal, the times and what to do.
    """
    times, x = np.asarray(t, dtype=float), np.array(values, dtype=float)
    check_times(times, name)
    if len(x) != len(times):
        raise ModelError(f"{name}: {len(x)} samples at {len(times)} times; there must be as many")
    missing = ~np.isfinite(x).reshape(len(x), -1).all(axis=1)
    gaps = runs(missing)
    if not gaps:
        return x
    n = len(times)
    if missing.sum() > n - 4:
        raise ModelError(
            f"{name}: seen in {n - missing.sum()} of {n} frames; filling gaps needs 4 at least: choose another marker"
        )
    for start, stop in gaps:
        if start == 0 or stop == n:
            seen = f"from {times[stop]:g} s on" if start == 0 else f"until {times[start - 1]:g} s"
            raise ModelError(
                f"{name}: seen only {seen} in a trial from {times[0]:g} to {times[-1]:g} s; nothing is there to fill a gap at "
                "an end from: crop the trial to where the marker is seen"
            )
        length = times[stop] - times[start]
        if length > limit * (1.0 + 1e-9):
            raise ModelError(
                f"{name}: not seen from {times[start]:g} to {times[stop]:g} s, {length:.3g} s; gaps up to {limit:g} s are "
                "filled: crop the trial, fill it in the capture software, or allow longer gaps"
            )
    x[missing] = CubicSpline(times[~missing], x[~missing])(times[missing])
    return x


def resample(t: ArrayLike, values: ArrayLike, to: ArrayLike, *, name: str = "signal") -> Floats:
    """Values at other times, by the cubic spline through all samples.

    Filter first where the new times are sparser: a spline passes on what is above half the new rate.

    Parameters
    ----------
    t : (n,) [s]
        Increasing, two at least.
    values : (n,) or (n, ...)
        Without gaps.
    to : (m,) [s]
        Within the times of the samples.

    Returns
    -------
    values : (m,) or (m, ...)

    Raises
    ------
    ModelError
        Where samples are missing or a time lies outside.
    """
    times, x, new = np.asarray(t, dtype=float), np.asarray(values, dtype=float), np.asarray(to, dtype=float)
    check_times(times, name)
    if len(times) < 2 or len(x) != len(times):
        raise ModelError(f"{name}: {len(x)} samples at {len(times)} times; there must be as many, two at least")
    if not np.isfinite(x).all():
        raise ModelError(f"{name}: samples are missing; fill gaps before resampling (fill_gaps)")
    tiny = 1e-9 * max(1.0, float(np.abs(times).max()))
    out = new[~((new >= times[0] - tiny) & (new <= times[-1] + tiny))]
    if len(out):
        raise ModelError(
            f"{name}: asked for at {out[0]:g} s, but measured from {times[0]:g} to {times[-1]:g} s; nothing is told outside"
        )
    return np.asarray(CubicSpline(times, x)(np.clip(new, times[0], times[-1])))


def without_flips(p: ArrayLike) -> Floats:
    """Euler parameters (n, 4) whose sign does not jump from one sample to the next.

    p and -p are the same rotation, and what computes p from a rotation may give either; a derivative or a filter needs the
    one that is near its neighbour.  The first sample keeps its sign.
    """
    x = np.asarray(p, dtype=float)
    if x.ndim != 2 or x.shape[1] != 4 or not np.isfinite(x).all():
        raise ModelError(f"Euler parameters of shape {x.shape}; they must be finite numbers (n, 4)")
    turns = np.where((x[1:] * x[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    return x * np.concatenate(([1.0], np.cumprod(turns)))[: len(x), None]
