"""Differences of order six: places, and the weights of the changes there."""

from __future__ import annotations

import numpy as np

from runtime.support.arrays import Floats

# Places of the points, as fractions of the step: on both sides, or on one.  The latter are points of Chebyshev, whose weights,
# and with them the rounding error of the slope, are smallest.
BOTH_SIDES = np.array([1.0, -1.0, 0.5, -0.5, 0.25, -0.25])
AHEAD = (1.0 - np.cos(np.pi / 6.0 * np.arange(1, 7))) / 2.0


def weights(places: Floats) -> Floats:
    """Weights with which the changes from the value at 0 to those at the places add up to the slope at 0.

    Exact for polynomials of as high a degree as there are places.
    """
    powers = np.arange(1, len(places) + 1)
    first = np.where(powers == 1, 1.0, 0.0)
    return np.asarray(np.linalg.solve(places ** powers[:, None], first), float)
