"""Sampled signals: checks of their shapes, times and sampling rate, and runs of samples that fulfil a condition."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from runtime import ModelError
from runtime.support import floats
from runtime.support.arrays import Floats

UNEVEN = 0.1  # of a sample: times that were rounded in a file still count as evenly spaced
ROUNDED = 1e-6  # [s] by which times lie beside evenly spaced ones, from which on they count as rounded


def readonly(values: ArrayLike, shape: tuple[int, ...], name: str) -> Floats:
    """Copy values into a read-only array of the required shape.

    Parameters
    ----------
    values : array_like
        Numbers.
    shape : tuple of int
        Required shape; -1: any length.
    name : str
        Name of the array in the error.

    Raises
    ------
    ModelError
        If the shape differs.
    """
    array = floats(values, name, "an array of numbers")
    if array.ndim != len(shape) or any(want not in (-1, have) for want, have in zip(shape, array.shape, strict=True)):
        wanted = ", ".join("n" if n < 0 else str(n) for n in shape)
        raise ModelError(f"{name}: shape {array.shape}; it must be ({wanted}{',' if len(shape) == 1 else ''})")
    array.flags.writeable = False
    return array


def all_finite(values: Floats) -> NDArray[np.bool_]:
    """Flag where all numbers along the last axis are finite, such as the coordinates of a visible marker."""
    return np.asarray(np.isfinite(values).all(axis=-1))


def check_times(t: Floats, name: str) -> None:
    """Refuse times (n,) [s] that are not finite or do not increase.

    Raises
    ------
    ModelError
        With the name of the signal, the sample and both times.
    """
    if t.ndim != 1:
        raise ModelError(f"{name}: times have the shape {t.shape}; give a list of times [s]")
    if not len(t):
        raise ModelError(f"{name}: zero frames; there is nothing to read")
    bad = np.flatnonzero(~np.isfinite(t))
    if len(bad):
        raise ModelError(
            f"{name}: the time of sample {bad[0] + 1} is {t[bad[0]]}; all times must be finite numbers [s]"
        )
    back = np.flatnonzero(np.diff(t) <= 0.0)
    if len(back):
        n = int(back[0])
        raise ModelError(
            f"{name}: the time goes from {t[n]:g} s to {t[n + 1]:g} s at sample {n + 2}; times must increase: remove "
            "samples that are duplicated or out of order"
        )


def sampling_rate(t: Floats, name: str) -> float:
    """Samples per second [Hz] of evenly spaced times (n,) [s].

    Raises
    ------
    ModelError
        If there are fewer than two samples or the spacing differs by more than a tenth of a sample.
    """
    if len(t) < 2:
        raise ModelError(f"{name}: {len(t)} sample; a sampling rate needs at least two")
    step = float(t[-1] - t[0]) / (len(t) - 1)
    off = np.abs(t - t[0] - step * np.arange(len(t)))
    worst = int(np.argmax(off))
    if off[worst] > UNEVEN * step:
        raise ModelError(
            f"{name}: times are not evenly spaced: sample {worst + 1} is {1e3 * off[worst]:.3g} ms off a step of "
            f"{1e3 * step:.4g} ms; resample to evenly spaced times"
        )
    return 1.0 / step


def even_times(t: Floats, name: str, notes: list[str]) -> Floats:
    """Times (n,) [s] without the rounding of a file, where they are evenly spaced but for that; adds a note.

    Rounding to a millisecond moves a marker of a walker by a millimetre, which is 5 m/s^2 in accelerations at 60 Hz.
    """
    even = np.linspace(t[0], t[-1], len(t)) if len(t) else t
    off = float(np.abs(t - even).max(initial=0.0))
    if not ROUNDED < off <= UNEVEN * (even[1] - even[0]):
        return t
    notes.append(f"{name}: its times are rounded, by up to {1e3 * off:.2g} ms; evenly spaced ones are used")
    return even


def runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Start and stop, as in slices, of each run of True among flags (n,)."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
