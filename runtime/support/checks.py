"""Checks of arguments: a value is returned as the kind that it must be, or an error names it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.support.arrays import Floats
from runtime.support.errors import ModelError


def finite(value: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    """The value as an array of this shape, or an error that names it."""
    try:
        array = np.array(value, dtype=float)
        if value is None or isinstance(value, str | bytes | bool):
            raise TypeError
    except (TypeError, ValueError):
        raise ModelError(f"{what} = {value!r}: give {shape_text(shape)}") from None
    if array.shape != shape:
        raise ModelError(f"{what} has the shape {array.shape}; give {shape_text(shape)}")
    if not np.isfinite(array).all():
        raise ModelError(f"{what} = {array.tolist()} is not finite; give finite numbers")
    return array


def counted(name: str, value: Any, what: str) -> int:
    """The value as a number of something, or an error that names both."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ModelError(f"{name} = {value!r}; give a number of {what}, 1 or more")
    return int(value)


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape in words."""
    return "one number" if shape == () else " x ".join(map(str, shape)) + " numbers"


def unit(value: Floats, what: str, tolerance: float, *, normalise: bool = False) -> Floats:
    """The vector, if its length is 1 within the tolerance."""
    length = float(np.linalg.norm(value))
    if length == 0.0:
        raise ModelError(f"{what} is the zero vector and has no direction; give a vector of length 1")
    if abs(length - 1.0) > tolerance:
        example = ", ".join(f"{component:.12g}" for component in value / length)
        raise ModelError(f"{what} has the length {length:.9g}, limit 1 within {tolerance:.0e}; give ({example})")
    return value / length if normalise else value
