"""Nonlinear least squares of many poses at once: Gauss-Newton steps with damping where they do not descend.

Every pose is a problem of its own, with its own damping (Levenberg 1944) and its own coordinates at bounds (projected steps after
Bertsekas 1982); all are solved together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from runtime.support.arrays import Floats, Ints

TOLERANCE = 1e-9  # [rad], [m] of the last step
MOST = 100  # steps
FIRST_DAMPING, GROWTH = 1e-4, 10.0
SMALLEST = 1e-14  # of the largest curvature: weight of staying at the start where nothing else determines a coordinate
FAINT = 1e-9  # of the largest curvature: below it, a direction is not determined
SHARE = 0.1  # component of such a direction from which a coordinate belongs to it
ROWS = 256  # poses that are solved together


@dataclass(frozen=True, eq=False)
class PoseSolution:
    """Coordinates (poses, coordinates), the least sums (poses,), whether each pose converged, and the steps of the slowest."""

    x: Floats
    cost: Floats
    converged: NDArray[np.bool_]
    steps: int


class PoseProblem(ABC):
    """Sums of squares of poses, each a function of the coordinates x (poses, coordinates) of this pose, to be least.

    As it is, for coordinates that are their own rates, between ``lower`` and ``upper`` (coordinates,).
    ``models.walking.inverse_kinematics`` and ``runtime.inverse_kinematics`` state such problems.
    """

    lower: Floats
    upper: Floats

    @abstractmethod
    def of(self, poses: Ints) -> Self:
        """The problem of some poses, which may repeat."""

    @abstractmethod
    def normal_equations(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Half of gradient (poses, rates) and curvature (poses, rates, rates), new arrays, and the sums (poses,)."""

    def moved(self, x: Floats, way: Floats) -> Floats:
        """Admissible coordinates after a way (poses, rates); NaN in poses from which there are none."""
        return np.clip(x + way, self.lower, self.upper)

    def way(self, x: Floats, to: Floats) -> Floats:
        """The way (poses, rates) between coordinates."""
        return to - x

    def restrained(self, x: Floats, g: Floats, H: Floats) -> tuple[Floats, Floats]:
        """Gradient and curvature without what leads off the bounds, or off other conditions; the curvature stays regular."""
        return held_at_bounds(x, g, H, self.lower, self.upper)

    def solve(
        self, x: Floats, *, prior: float = SMALLEST, tolerance: float = TOLERANCE, most: int = MOST
    ) -> PoseSolution:
        """Solve for all poses from coordinates x (poses, coordinates), which are admissible.

        Parameters
        ----------
        x : (poses, coordinates)
        prior : float
            Weight of staying at x, of the largest curvature.
        tolerance : float [rad], [m]
            Of the last step.
        most : int
            Steps after which a pose counts as not converged.
        """
        parts = [np.arange(n, min(n + ROWS, len(x))) for n in range(0, len(x), ROWS)]
        done = [_solve(self.of(part), x[part], prior, tolerance, most) for part in parts]
        return PoseSolution(
            np.concatenate([one.x for one in done]),
            np.concatenate([one.cost for one in done]),
            np.concatenate([one.converged for one in done]),
            max(one.steps for one in done),
        )

    def undetermined(self, x: Floats) -> NDArray[np.bool_]:
        """Which rates (poses, rates) nothing determines at x (poses, coordinates)."""
        g, H, _ = self.normal_equations(x)
        _, H = self.restrained(x, 0.0 * g, H)
        return faint_rates(H, np.einsum("nii->ni", H).max(axis=1, initial=0.0))


def _solve(problem: PoseProblem, start: Floats, prior: float, tolerance: float, most: int) -> PoseSolution:
    """The poses of one part."""
    x = start
    g, H, cost = problem.normal_equations(x)
    stiff = prior * np.maximum(np.einsum("nii->ni", H).max(axis=1, initial=0.0), 1e-30)  # of the pull towards the start
    found, least = x.copy(), cost.copy()
    damping = np.zeros(len(x))
    open_ = np.arange(len(x))
    steps = 0
    while open_.size and steps < most:
        d = _step(problem, x, g + stiff[:, None] * problem.way(start, x), H, damping, stiff)
        new = problem.moved(x, d)
        g_new, H_new, now = problem.normal_equations(new)
        now += stiff * (problem.way(start, new) ** 2).sum(axis=1)
        near = np.abs(new - x).max(axis=1, initial=0.0) < tolerance  # rounding decides there, not descent
        better = (now <= cost) | near
        damping = np.where(
            better,
            np.where(damping > FIRST_DAMPING, damping / GROWTH, 0.0),
            np.maximum(GROWTH * damping, FIRST_DAMPING),
        )
        x, g = (np.where(better[:, None], a, b) for a, b in ((new, x), (g_new, g)))
        H, cost = np.where(better[:, None, None], H_new, H), np.where(better, now, cost)
        found[open_], least[open_] = x, cost
        if near.any():
            left = np.flatnonzero(~near)
            open_, problem = open_[left], problem.of(left)
            x, start, g, H, cost, stiff, damping = (of[left] for of in (x, start, g, H, cost, stiff, damping))
        steps += 1
    converged = np.ones(len(found), bool)
    converged[open_] = False
    return PoseSolution(found, least, converged, steps)


def _step(problem: PoseProblem, x: Floats, g: Floats, H: Floats, damping: Floats, stiff: Floats) -> Floats:
    """The step of each pose."""
    damped, n = np.array(H), np.arange(H.shape[1])
    damped[:, n, n] = H[:, n, n] * (1.0 + damping[:, None]) + stiff[:, None] + 1e-300
    g, damped = problem.restrained(x, g, damped)
    try:
        return np.asarray(np.linalg.solve(damped, -g[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:  # rounding has cancelled the weight of the start where nothing else determines a rate
        return np.asarray((np.linalg.pinv(damped, hermitian=True) @ -g[:, :, None])[:, :, 0])


def held_at_bounds(x: Floats, g: Floats, H: Floats, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Gradient and curvature without the coordinates x (poses, rates) that are at a bound beyond which the sum would fall.

    Their gradient is 0 and their curvature 1: they stay.
    """
    stays, n = ((x <= lower) & (g > 0.0)) | ((x >= upper) & (g < 0.0)), np.arange(H.shape[1])
    H = np.array(np.where(stays[:, :, None] | stays[:, None, :], 0.0, H), float)
    H[:, n, n] = np.where(stays, 1.0, H[:, n, n])
    return np.where(stays, 0.0, g), H


def faint_rates(H: Floats, largest: Floats) -> NDArray[np.bool_]:
    """Rates (poses, rates) that belong to directions without curvature H, against the largest (poses,)."""
    found, limit = np.zeros(H.shape[:2], bool), FAINT * np.maximum(largest, 1e-30)
    rows = np.flatnonzero(np.linalg.eigvalsh(H).min(axis=1, initial=np.inf) < limit)
    values, vectors = np.linalg.eigh(H[rows])
    faint = values < limit[rows, None]
    found[rows] = (faint[:, None, :] & (np.abs(vectors) > SHARE)).any(axis=2)
    return found
