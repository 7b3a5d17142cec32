"""The path of the centre of pressure under a foot, as the motion of foot and body suggests it.

The mean path of other adults ignores the trial.  Five *guides* say how a stance differs from those of others: the slope of the
foot, its rate, its roll, and the zero-moment point of the body in both directions (Vukobratovic and Borovac 2004), which in
single support is the centre of pressure of a body whose angular momentum is constant.  At each part of stance a ridge
regression over other adults gives the change of the path with each guide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.walking.plantar import FootMotion
from models.walking.subject import Frozen
from models.walking.whole_body import BodyMotion
from runtime.support import checked_class
from runtime.support.arrays import Floats

STANCE = np.linspace(0.0, 1.0, 21)  # parts of stance of the curves
GUIDES = ("slope", "rate of the slope", "roll", "zero-moment point, forwards", "zero-moment point, medial")
RIDGE = 1.0  # prior deviations of the change of the path by one standard deviation of a guide
NEIGHBOURS = 1  # parts of stance on each side whose deviations share one regression
MAX_DEVIATION = 2.0  # standard deviations: beyond them a guide is not extrapolated


@checked_class
@dataclass(frozen=True, eq=False)
class Guidance(Frozen):
    """How the centre of pressure follows the guides, over stance.

    Attributes
    ----------
    mean, sd : (21, 5)
        Of the guides in the adults of the fit: sines, sines per twentieth of stance, sines, foot lengths, foot lengths.
    change : (21, 5, 2) [foot lengths]
        Of the path, forwards and medial, with one standard deviation of each guide.
    """

    mean: Floats
    sd: Floats
    change: Floats

    def shift(self, guides: Floats) -> Floats:
        """Difference (21, 2) [foot lengths] from the mean path with guides (21, 5)."""
        deviation = np.clip((guides - self.mean) / self.sd, -MAX_DEVIATION, MAX_DEVIATION)
        return np.asarray(np.einsum("ng,ngb->nb", deviation, self.change))


def guides_of(foot: FootMotion, body: BodyMotion) -> Floats:
    """The guides (21, 5) of a stance, from markers alone."""
    t = body.strike + STANCE * (body.off - body.strike)
    slope, roll = (np.interp(t, foot.t, foot.A[:, 2, k]) for k in (0, 1))
    point = foot.in_foot(t, np.column_stack([np.interp(t, body.t, column) for column in body.zero_moment.T]))
    return np.column_stack([slope, np.gradient(slope), roll, point])


def fit_guidance(paths: Floats, guides: Floats) -> Guidance:
    """Regression of paths (trials, 21, 2) [foot lengths] on guides (trials, 21, 5), about the means of both."""
    mean, sd = guides.mean(axis=0), guides.std(axis=0) + 1e-9
    x, y = (guides - mean) / sd, paths - paths.mean(axis=0)
    change = np.empty((*mean.shape, 2))
    for k in range(len(STANCE)):
        near = slice(max(0, k - NEIGHBOURS), k + NEIGHBOURS + 1)
        of_x, of_y = x[:, near].reshape(-1, x.shape[2]), y[:, near].reshape(-1, 2)
        normal = of_x.T @ of_x / len(of_x) + RIDGE * np.eye(x.shape[2])
        change[k] = np.linalg.solve(normal, of_x.T @ of_y / len(of_x))
    return Guidance(mean, sd, change)
