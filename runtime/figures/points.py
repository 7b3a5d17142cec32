"""Points of curves, checked before they are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.support.arrays import Floats
from runtime.support.checks import bounded
from runtime.support.errors import ModelError
from runtime.support.numbers import floats


def curve_points(what: str, x: Any, y: Any) -> tuple[Floats, Floats]:
    """The points (n,), (n,) of a curve; those that are not finite are gaps.

    Raises
    ------
    ModelError
    """
    points = floats(x, f"{what}: x", "a list of numbers"), floats(y, f"{what}: y", "a list of numbers")
    if points[0].ndim != 1 or points[0].shape != points[1].shape:
        raise ModelError(
            f"{what}: x has the shape {points[0].shape} and y {points[1].shape}; give lists of the same length"
        )
    for axis, values in zip("xy", points, strict=True):
        bounded(values[np.isfinite(values)], f"{what}: {axis}")
    return points
