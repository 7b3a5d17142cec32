"""Accelerations and multipliers close to a singular pose, where their equations lose the digits that they divide by the distance.

On the motion both are smooth functions of time.  The run keeps states around such a pose, from the dense output of the step that
crossed it; the accelerations there are fitted by a polynomial, with small weights close to the pose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from runtime.support.arrays import Floats, Ints

CLOSE = 3e-3  # pivot ratio, over the largest of the run, below which accelerations are fitted
NODES, DEGREE = 20, 11
NO_POLE = 1e-6  # what a polynomial may leave of a quantity without a pole, as a fraction of its largest value
ROUNDING = 1e-9  # of the place of a pole, as a fraction of half the step


class Passage:
    """A step that crosses a singular pose, or ends close to one.

    ``t`` (NODES,) [s] from its begin to its end; ``states`` (NODES, 13 bodies) on its dense output, computed when they are
    needed; ``largest_pivot`` of the run until then.
    """

    def __init__(self, t: Floats, largest_pivot: float, state_at: Callable[[float], Floats]) -> None:
        self.t, self.largest_pivot, self._state_at = t, largest_pivot, state_at

    @cached_property
    def states(self) -> Floats:
        """States (NODES, 13 bodies) at the times ``t``."""
        return np.array([self._state_at(t) for t in self.t])

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the states."""
        return {"t": self.t, "largest_pivot": self.largest_pivot, "states": self.states}


def places(begin: float, end: float) -> Floats:
    """The times of the states of a passage (NODES,) [s]: dense towards the ends of the step."""
    fractions = 0.5 - 0.5 * np.cos(np.pi * np.arange(NODES) / (NODES - 1))
    times: Floats = begin + (end - begin) * fractions
    times[-1] = end
    return times


def close_states(passage: Passage, times: Floats, pivots: Floats) -> Ints:
    """Indices of the states of a run, of these pivot ratios, whose accelerations are to be fitted in a passage."""
    within = (times >= passage.t[0]) & (times <= passage.t[-1])
    return np.flatnonzero(within & ~(pivots >= CLOSE * passage.largest_pivot))


def largest_pivot(pivots: Floats, passages: Sequence[Passage]) -> float:
    """The largest pivot ratio that is known of a run, from those at its times and its passages."""
    return max([*pivots, *(passage.largest_pivot for passage in passages)], default=0.0)


def leaves_pose(passage: Passage, pivots: Floats) -> bool:
    """Whether a passage, with these pivot ratios of its states, ends away from the pose.

    A run that has failed close to a pose approached it by many steps, whose errors the fit of accelerations does not remove.
    """
    return bool(pivots[-1] >= CLOSE * passage.largest_pivot)


def fitted(passage: Passage, pivots: Floats, value: Floats, times: Floats, *, poles: bool = False) -> Floats:
    """A quantity (n, ...) at times, from that at the states of the passage (NODES, ...), which have these pivot ratios.

    The error of a value is inversely proportional to the distance from the pose, the root of the pivot ratio, and that of its
    rounding to the third power of it.  ``poles``: at the pose the quantity may be infinite, as the reactions are that keep a
    linkage straight where its bars would part; it is then a polynomial over the time from the pose.
    """
    middle, half = 0.5 * (passage.t[0] + passage.t[-1]), 0.5 * (passage.t[-1] - passage.t[0])
    x, at = (passage.t - middle) / half, (times - middle) / half
    weights = np.clip(pivots / passage.largest_pivot, 0.0, 1.0)[:, None]
    flat = np.where(weights > 0.0, value.reshape(NODES, -1), 0.0)
    weighted, basis = weights * flat, weights * chebyshev.chebvander(x, DEGREE)
    coefficients, rest = _least_squares(basis, weighted)
    found = chebyshev.chebvander(at, DEGREE) @ coefficients
    if poles and np.abs(rest).max() > NO_POLE * np.abs(weighted).max():
        moved = _least_squares(basis, x[:, None] * weighted)[1]
        pole = float((rest * moved).sum() / (rest * rest).sum())
        coefficients = _least_squares(basis, (x - pole)[:, None] * weighted)[0]
        away = at - pole
        away = np.where(np.abs(away) < ROUNDING, np.copysign(ROUNDING, away), away)
        found = chebyshev.chebvander(at, DEGREE) @ coefficients / away[:, None]
    return found.reshape(len(times), *value.shape[1:])


def _least_squares(basis: Floats, values: Floats) -> tuple[Any, Floats]:
    """Coefficients, and what they leave of the values."""
    coefficients = np.linalg.lstsq(basis, values, rcond=None)[0]
    left: Floats = values - basis @ coefficients
    return coefficients, left
