"""Poses of a model whose markers are nearest to those of a trial, as a problem of least squares."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.files.description import Floats
from models.files.points import PointKinematics
from runtime.analysis import PoseProblem


@dataclass(frozen=True, eq=False)
class MarkerProblem(PoseProblem):
    """Positions of markers, and values of coordinates, that poses are to meet.

    ``observed`` (poses, markers, 3) [m], NaN where a marker is not seen; ``weights`` (markers,); ``wanted`` and ``pulls``
    (unknowns,): values of coordinates and their weights; ``lower`` and ``upper`` (unknowns,).  The sum over seen markers of
    weight times squared distance, divided by the sum of their weights, plus that of pull times squared difference is least.

    ``runtime.inverse_kinematics`` shares the solver but not this problem.  Its coordinates are those of the joints of a system,
    whose couplings are rows, and here coordinates are those of the file, each of which may move several steps, so that no rows
    remain.  On limbs of 9 coordinates with 30 markers both agree to 4e-9 rad in 51 frames with noise of 5 mm, but that function
    takes twice as long even from starts 1e-3 rad off (0.30 s against 0.17 s, with a coupler 0.59 s against 0.29 s), and 13 times
    as long where instants follow each other.
    """

    kinematics: PointKinematics
    observed: Floats
    weights: Floats
    wanted: Floats
    pulls: Floats
    lower: Floats
    upper: Floats

    def of(self, poses: NDArray[np.int64]) -> MarkerProblem:
        """The problem of some poses."""
        return replace(self, observed=self.observed[poses])

    def seen_weights(self) -> Floats:
        """Weights (poses, markers), 0 where a marker is not seen, with the sum 1 in each pose."""
        weights = np.where(np.isfinite(self.observed).all(axis=2), self.weights, 0.0)
        total = weights.sum(axis=1, keepdims=True)
        return weights / np.where(total > 0.0, total, 1.0)

    def distances(self, x: Floats) -> Floats:
        """Distances (poses, markers) [m] between markers of the model and the trial, NaN where one is not seen."""
        return np.asarray(np.linalg.norm(self.kinematics.places(x) - self.observed, axis=2))

    def normal_equations(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Half of gradient (poses, unknowns) and curvature (poses, unknowns, unknowns), and the sums (poses,)."""
        g, H, cost = self.kinematics.normal_equations(x, self.observed, self.seen_weights())
        away, n = x - self.wanted, np.arange(x.shape[1])
        g += self.pulls * away
        H[:, n, n] += self.pulls
        return g, H, cost + (self.pulls * away**2).sum(axis=1)
