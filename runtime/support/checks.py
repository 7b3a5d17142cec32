"""Checks of arguments: each returns the value in its proper type, or raises a ModelError that names the argument."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.support.arrays import Floats
from runtime.support.errors import ModelError


def finite(value: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    """The value as a new array of this shape.

    Raises
    ------
    ModelError
        It has another shape, or holds something else than finite numbers.
    """
    try:
        array = np.array(value, dtype=float)
        if value is None or isinstance(value, str | bytes | bool | np.bool_):
            raise TypeError
    except (TypeError, ValueError):
        raise ModelError(f"{what} = {value!r}: give {shape_text(shape)}") from None
    if array.shape != shape:
        raise ModelError(f"{what} has the shape {array.shape}; give {shape_text(shape)}")
    if not np.isfinite(array).all():
        raise ModelError(f"{what} = {array.tolist()} is not finite; give finite numbers")
    return array


def finite_number(value: Any, what: str) -> float:
    """The value as a finite number.

    Raises
    ------
    ModelError
    """
    if type(value) is float and -math.inf < value < math.inf:
        return value  # most values are of this kind, and a check through an array takes 5 us
    return float(finite(value, (), what))


def not_negative(value: Any, what: str) -> float:
    """The value as a finite number of 0 or more.

    Raises
    ------
    ModelError
    """
    number = finite_number(value, what)
    if number < 0.0:
        raise ModelError(f"{what} = {number:g} is negative; give 0 or more")
    return number


def positive(value: Any, what: str, *, infinite: bool = False, remedy: str = "give a number above 0") -> float:
    """The value as a finite number above 0; ``infinite``: or as infinity.

    Raises
    ------
    ModelError
    """
    if infinite and isinstance(value, float) and value == np.inf:
        return np.inf
    number = finite_number(value, what)
    if number <= 0.0:
        raise ModelError(f"{what} = {number:g} is not positive; {remedy}")
    return number


def counted(name: str, value: Any, what: str) -> int:
    """The value as a count of ``what``, 1 or more.

    Raises
    ------
    ModelError
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ModelError(f"{name} = {value!r}; give a number of {what}, 1 or more")
    return int(value)


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape in words."""
    return "one number" if shape == () else " x ".join(map(str, shape)) + " numbers"


def increasing_times(value: ArrayLike, what: str, *, single: bool = False) -> Floats:
    """The value as a new array of times (n,) [s], n of 1 or more, each above the one before; ``single``: or one number.

    Raises
    ------
    ModelError
        It is no list, is empty, holds a time that is not finite, or does not increase; the message names the time.
    """
    try:
        if value is None or np.iscomplexobj(value):
            raise TypeError
        times = np.array(value, dtype=float, ndmin=1 if single else 0)
    except (TypeError, ValueError):
        raise ModelError(f"{what} = {value!r} is no list of times [s]") from None
    if times.ndim != 1 or len(times) == 0:
        raise ModelError(f"{what} has the shape {times.shape}; give a list of times [s]")
    if not np.isfinite(times).all():
        raise ModelError(f"{what}: time {int(np.argmin(np.isfinite(times)))} is not finite; give finite times [s]")
    if (np.diff(times) <= 0.0).any():
        at = int(np.argmax(np.diff(times) <= 0.0)) + 1
        raise ModelError(
            f"{what} must increase from each time to the next; {times[at]:g} s follows {times[at - 1]:g} s"
        )
    return times


def unit(value: Floats, what: str, tolerance: float, *, normalise: bool = False) -> Floats:
    """The vector (3,), if its length is 1 within the tolerance; with ``normalise``, divided by its length.

    Raises
    ------
    ModelError
        The length differs from 1; the message gives the unit vector of the same direction.
    """
    length = float(np.linalg.norm(value))
    if length == 0.0:
        raise ModelError(f"{what} is the zero vector and has no direction; give a vector of length 1")
    if abs(length - 1.0) > tolerance:
        example = ", ".join(f"{component:.12g}" for component in value / length)
        raise ModelError(f"{what} has the length {length:.9g}, limit 1 within {tolerance:.0e}; give ({example})")
    return value / length if normalise else value
