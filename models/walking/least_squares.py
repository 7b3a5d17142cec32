"""Weighted least squares of many poses at once: Gauss-Newton steps with damping where they do not descend, within bounds.

Every pose is a problem of its own.  All are solved side by side, each with its own damping and its own coordinates at bounds
(Levenberg 1944; projected steps after Bertsekas 1982).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.files.description import Floats
from models.files.points import PointKinematics

TOLERANCE = 1e-9  # [rad], [m] of the last step
MOST = 100  # steps
FIRST_DAMPING, GROWTH = 1e-4, 10.0
SMALLEST = 1e-14  # of the largest curvature: what keeps a coordinate that no marker shows where it is
FAINT = 1e-9  # of the largest curvature: below it, a direction is not shown by the markers
SHARE = 0.1  # component of such a direction from which a coordinate belongs to it
ROWS = 256  # poses that are solved together


@dataclass(frozen=True, eq=False)
class Problem:
    """Positions of markers, and values of coordinates, that poses are to meet.

    ``observed`` (poses, markers, 3) [m], NaN where a marker is not seen; ``weights`` (markers,); ``wanted`` and ``pulls``
    (unknowns,): values of coordinates and their weights; ``lower`` and ``upper`` (unknowns,).  The sum over seen markers of
    weight times squared distance, divided by the sum of their weights, plus that of pull times squared difference is least.
    """

    kinematics: PointKinematics
    observed: Floats
    weights: Floats
    wanted: Floats
    pulls: Floats
    lower: Floats
    upper: Floats

    def of(self, poses: NDArray[np.int64]) -> Problem:
        """The problem of some poses."""
        return Problem(
            self.kinematics, self.observed[poses], self.weights, self.wanted, self.pulls, self.lower, self.upper
        )

    def seen_weights(self) -> Floats:
        """Weights (poses, markers), 0 where a marker is not seen, with the sum 1 in each pose."""
        weights = np.where(np.isfinite(self.observed).all(axis=2), self.weights, 0.0)
        total = weights.sum(axis=1, keepdims=True)
        return weights / np.where(total > 0.0, total, 1.0)

    def distances(self, x: Floats) -> Floats:
        """Distances (poses, markers) [m] between markers of the model and the trial, NaN where one is not seen."""
        return np.asarray(np.linalg.norm(self.kinematics.places(x) - self.observed, axis=2))


@dataclass(frozen=True, eq=False)
class Solution:
    """Coordinates (poses, unknowns), the least sums (poses,), whether each pose converged, and the steps of the slowest."""

    x: Floats
    cost: Floats
    converged: NDArray[np.bool_]
    steps: int


def solve(
    problem: Problem, x: Floats, *, prior: float = SMALLEST, tolerance: float = TOLERANCE, most: int = MOST
) -> Solution:
    """Solve for all poses from coordinates x (poses, unknowns).

    Parameters
    ----------
    prior : float
        Weight of staying at x, of the largest curvature.
    tolerance : float [rad], [m]
        Of the last step.
    most : int
        Steps after which a pose counts as not converged.
    """
    parts = [np.arange(n, min(n + ROWS, len(x))) for n in range(0, len(x), ROWS)]
    done = [_solve(problem.of(part), x[part], prior, tolerance, most) for part in parts]
    return Solution(
        np.concatenate([one.x for one in done]),
        np.concatenate([one.cost for one in done]),
        np.concatenate([one.converged for one in done]),
        max(one.steps for one in done),
    )


def _solve(problem: Problem, start: Floats, prior: float, tolerance: float, most: int) -> Solution:
    """The poses of one part."""
    lower, upper = problem.lower, problem.upper
    x = start = np.clip(start, lower, upper)
    g, H, cost = _normal_equations(problem, x)
    stiff = prior * np.maximum(
        np.einsum("nii->ni", H).max(axis=1), 1e-30
    )  # of the pull towards the start, of each pose
    found, least = x.copy(), cost.copy()
    damping = np.zeros(len(x))
    open_ = np.arange(len(x))
    steps = 0
    while open_.size and steps < most:
        d = _step(x, g + stiff[:, None] * (x - start), H, damping, stiff, lower, upper)
        new = np.clip(x + d, lower, upper)
        g_new, H_new, now = _normal_equations(problem, new)
        now += stiff * ((new - start) ** 2).sum(axis=1)
        near = np.abs(new - x).max(axis=1) < tolerance  # rounding decides there, not descent
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
    return Solution(found, least, converged, steps)


def _normal_equations(problem: Problem, x: Floats) -> tuple[Floats, Floats, Floats]:
    """Half of the gradient (poses, unknowns), of the curvature (poses, unknowns, unknowns), and the sum (poses,)."""
    g, H, cost = problem.kinematics.normal_equations(x, problem.observed, problem.seen_weights())
    away = x - problem.wanted
    g += problem.pulls * away
    H[:, np.arange(x.shape[1]), np.arange(x.shape[1])] += problem.pulls
    return g, H, cost + (problem.pulls * away**2).sum(axis=1)


def _step(x: Floats, g: Floats, H: Floats, damping: Floats, stiff: Floats, lower: Floats, upper: Floats) -> Floats:
    """The step of each pose; coordinates at a bound that would leave it stay."""
    stays = ((x <= lower) & (g > 0.0)) | ((x >= upper) & (g < 0.0))
    n = np.arange(x.shape[1])
    damped = np.array(np.where(stays[:, :, None] | stays[:, None, :], 0.0, H), float)
    damped[:, n, n] = np.where(stays, 1.0, H[:, n, n] * (1.0 + damping[:, None]) + stiff[:, None] + 1e-300)
    found: Floats = np.linalg.solve(damped, np.where(stays, 0.0, -g)[:, :, None])[:, :, 0]
    return found


def undetermined(problem: Problem, x: Floats) -> NDArray[np.bool_]:
    """Which coordinates (poses, unknowns) the seen markers and pulls leave open at x (poses, unknowns)."""
    _, H, _ = _normal_equations(problem, x)
    largest = np.einsum("nii->ni", H).max(axis=1)
    limit = FAINT * np.maximum(largest, 1e-30)
    found = np.zeros(x.shape, bool)
    rows = np.flatnonzero(np.linalg.eigvalsh(H)[:, 0] < limit)
    values, vectors = np.linalg.eigh(H[rows])
    faint = values < limit[rows, None]
    found[rows] = (faint[:, None, :] & (np.abs(vectors) > SHARE)).any(axis=2)
    return found
