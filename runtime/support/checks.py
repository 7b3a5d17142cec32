"""Checks of arguments: each returns the value in its proper type, or raises a ModelError that names the argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from runtime.support.arrays import Floats
from runtime.support.errors import ModelError, Refused, said_by, shown
from runtime.support.numbers import LARGEST, PLAIN, SMALLEST, floats, real_number, real_numbers

T = TypeVar("T")
GREATEST = float(np.finfo(float).max)
LONGEST = 1e12  # [s]
TOO_LONG = f"limit {LONGEST:g} s, from where on the rounding of time exceeds 1e-4 s; choose an origin of time nearby"


def finite(value: ArrayLike, shape: tuple[int, ...], what: str, most: float = LARGEST) -> Floats:
    """The value as a new array of this shape, with numbers up to ``most`` in magnitude.

    Raises
    ------
    ModelError
        It has another shape, or holds something else than finite numbers.
    """
    array = numbers_of_shape(value, shape, what)
    if not np.abs(array).max(initial=0.0) <= min(most, GREATEST):  # false for NaN, too
        if not np.isfinite(array).all():
            raise ModelError(f"{what} = {shown(array.tolist())} is not finite; give finite numbers")
        raise ModelError(
            f"{what} = {shown(array.tolist())} overflows in products, limit {LARGEST:g}; choose other units"
        )
    return array


def numbers_of_shape(value: Any, shape: tuple[int, ...], what: str) -> Floats:
    """The value as a new array of this shape; its numbers need not be finite.

    Raises
    ------
    ModelError
    """
    array = floats(value, what, shape_text(shape))
    if array.shape != shape:
        raise ModelError(f"{what} has the shape {array.shape}; give {shape_text(shape)}")
    return array


def bounded(array: Floats, what: str) -> Floats:
    """The array, if its numbers are finite and their products do not overflow.

    Raises
    ------
    ModelError
        Naming the first number that is not.
    """
    if not (np.abs(array) <= LARGEST).all():  # false for NaN, too
        at = tuple(map(int, np.argwhere(~(np.abs(array) <= LARGEST))[0]))
        what = f"{what}{list(at) or ''}"  # as Python writes the element
        if not np.isfinite(array[at]):
            raise ModelError(f"{what} = {array[at]:g} is not finite; give finite numbers")
        raise ModelError(f"{what} = {array[at]:g} overflows in products, limit {LARGEST:g}; choose other units")
    return array


def check_array(array: Floats, shape: tuple[int, ...], what: str) -> None:
    """Refuse an array that compiled code could not take as one of this shape, and make it read-only.

    Raises
    ------
    ModelError
    """
    if type(array) is not np.ndarray or array.dtype != np.float64 or array.shape != shape:
        given = f"has the shape {array.shape} of {array.dtype}" if type(array) is np.ndarray else f"= {shown(array)}"
        raise ModelError(f"{what} {given}; give {shape} of float64")
    array.flags.writeable = False


def are_finite(value: Any) -> bool:
    """Whether a value is one finite number or an array of them, not empty."""
    try:
        numbers = np.asarray(real_numbers(value), dtype=float)
    except Refused:
        return False
    return bool(numbers.size and np.isfinite(numbers).all())


def finite_number(value: Any, what: str, most: float = LARGEST) -> float:
    """The value as a finite number, up to ``most`` in magnitude.

    Raises
    ------
    ModelError
    """
    if type(value) in PLAIN and -most <= value <= most and -math.inf < value < math.inf:
        return float(value)  # most values are of these types, and a check through an array takes 20 us
    return float(finite(value, (), what, most))


def called(function: Callable[..., T], what: str, *given: Any) -> T:
    """What a user's function returns; ``what``: its name.

    Raises
    ------
    ModelError
        From any exception that it raises, except Talus's own.
    """
    try:
        return function(*given)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{what} failed: {said_by(error)}") from error


def returned_number(value: Any, what: str) -> float:
    """The number that a user's function returned; ``what``: the function.

    Raises
    ------
    ModelError
    """
    try:
        return real_number(value)
    except Refused as refused:
        reason = f", which {refused.reason}" if refused.reason else ""
        raise ModelError(f"{what} returned {shown(value)}{reason}; it must return one number") from None


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
    if infinite and isinstance(value, float | np.floating) and value == np.inf:
        return np.inf
    number = finite_number(value, what)
    if number <= 0.0:
        raise ModelError(f"{what} = {number:g} is not positive; {remedy}")
    if number < SMALLEST:
        raise ModelError(
            f"{what} = {number:g}: its reciprocal overflows in products, limit {SMALLEST:g}; choose other units"
        )
    return number


def instant(value: Any, what: str) -> float:
    """The value as a time [s] whose rounding is below a tenth of a millisecond.

    Raises
    ------
    ModelError
    """
    number = finite_number(value, what)
    if abs(number) > LONGEST:
        raise ModelError(f"{what} = {number:g} s, {TOO_LONG}")
    return number


def counted(name: str, value: Any, what: str) -> int:
    """The value as a count of ``what``, 1 or more.

    Raises
    ------
    ModelError
    """
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, int | np.integer) or value < 1:
        raise ModelError(f"{name} = {shown(value)}; give a number of {what}, 1 or more")
    return int(value)


@lru_cache(64)
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
    times = floats(value, what, "a list of times [s]")
    if single and times.ndim == 0:
        times = times[None]
    if times.ndim != 1 or len(times) == 0:
        raise ModelError(f"{what} has the shape {times.shape}; give a list of times [s]")
    if not np.isfinite(times).all():
        raise ModelError(f"{what}: time {int(np.argmin(np.isfinite(times)))} is not finite; give finite times [s]")
    if abs(times[0]) > LONGEST or abs(times[-1]) > LONGEST:
        raise ModelError(f"{what} runs from {times[0]:g} to {times[-1]:g} s, {TOO_LONG}")
    if len(times) > 1 and (times[1:] <= times[:-1]).any():
        at = int(np.argmax(np.diff(times) <= 0.0)) + 1
        raise ModelError(
            f"{what} must increase from each time to the next; {times[at]:g} s follows {times[at - 1]:g} s"
        )
    return times


def unit(value: Floats, what: str, tolerance: float, *, normalise: bool = False) -> Floats:
    """The vector (3,), if its length is 1 within the tolerance; with ``normalise``, divided by its length.

    tolerance : infinite for vectors of any length but 0

    Raises
    ------
    ModelError
        The length differs from 1; the message gives the unit vector of the same direction.
    """
    length = math.sqrt(value.dot(value))  # numpy's function takes four times as long
    if length == 0.0:
        raise ModelError(f"{what} is the zero vector and has no direction; give a vector along it")
    if abs(length - 1.0) > tolerance:
        example = ", ".join(f"{component:.12g}" for component in value / length)
        raise ModelError(f"{what} has the length {length:.9g}, limit 1 within {tolerance:.0e}; give ({example})")
    return value / length if normalise else value
