"""Differences of order two and six: places, and the weights of the changes there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runtime.support.arrays import Floats

# Places of the points, as fractions of the step, on both sides, of order two and six.
CENTRAL = np.array([1.0, -1.0])
BOTH_SIDES = np.array([1.0, -1.0, 0.5, -0.5, 0.25, -0.25])
# Of order two, too: the closer ones take part on one side alone, beside a kink.
BESIDE_KINKS = BOTH_SIDES[:4]


ENOUGH = 1e-9  # tolerance for which differences of order two, with errors of 1e-10, are good enough
NOISE = 1e-8  # of a value: changes below it are not judged


def places_for(tolerance: float, *, kinks: bool) -> Floats:
    """Places of a difference on both sides whose error suits a tolerance; nearer ones where forces have kinks."""
    return CENTRAL if tolerance >= ENOUGH or kinks else BOTH_SIDES


def ahead_of(places: Floats) -> Floats:
    """As many places on one side, as far away: points of Chebyshev, with the least weights and rounding error of the slope."""
    n = len(places)
    return float(np.abs(places).max()) * (1.0 - np.cos(np.pi / n * np.arange(1, n + 1))) / 2.0


def smoothness(places: Floats, values: Sequence[Floats], own: Floats) -> float:
    """Error of slopes at 0 of values (6,) at such places, as a fraction of the largest slope of their kind.

    The slope of order six is compared with one of lower order.  Where there are points on both sides, the difference between the
    slopes of the sides counts too, which neither sees.
    """
    changes = np.array(values) - own
    size = np.abs(changes).max(initial=0.0)
    if not size > NOISE * np.abs(own).max(initial=0.0):
        return 0.0
    slope = weights(places) @ changes
    fewer = places[1:] if places[0] * places[1] > 0.0 else places[2:]
    off = np.abs(slope - weights(fewer) @ changes[-len(fewer) :])
    if len(fewer) == 4:  # on both sides: c |x| + c2 x^2 + c4 x^4
        even = 0.5 * (changes[::2] + changes[1::2])
        x = places[::2]
        off = np.maximum(off, np.abs(np.linalg.solve(np.stack([x, x**2, x**4], axis=1), even)[0]))
    return float(off.max() / (size / np.abs(places).max()))


def weights_of_systems(places: Floats) -> Floats:
    """``weights`` of systems nearby; 0 of those that serve beside kinks."""
    beside = len(places) == len(BESIDE_KINKS) and places[0] * places[1] < 0.0
    return np.append(weights(places[:2]), np.zeros(2)) if beside else weights(places)


def weights(places: Floats) -> Floats:
    """Weights with which the changes from the value at 0 to those at the places add up to the slope at 0.

    Exact for polynomials of as high a degree as there are places.
    """
    powers = np.arange(1, len(places) + 1)
    first = np.where(powers == 1, 1.0, 0.0)
    return np.asarray(np.linalg.solve(places ** powers[:, None], first), float)
