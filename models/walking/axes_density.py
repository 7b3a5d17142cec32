"""How probable both axes are by the markers of a movement, whatever the angles of its frames are.

The angles of a hinge are normal about zero, with an offset of each trial and a part that is alike in neighbouring frames; how
large they are is found with the axes.  They are integrated out by Laplace's approximation at their most probable values.  The
determinant of this integral counts: without it, as if every frame fitted best with certainty, walks of nine adults put the
talocalcaneal axis near 4 degrees of inclination, where the integral puts it near 41.

Slopes are exact: of analytic functions along imaginary steps, see ``two_hinges``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag
from scipy.optimize import minimize
from scipy.stats import multivariate_t

from models.walking.two_hinges import SHARED, HingedMotion, slopes
from runtime.support.arrays import Floats

# [rad] Expected standard deviations of both angles, and the factor of a standard deviation of their prior: our choice, which
# holds slow walks as well as circles of the foot.
ANGLES, ANGLES_FACTOR = (0.15, 0.1), 2.5
TYPICAL_ANGLE = 0.25  # [rad] within which poses are alike
CORRELATED = 0.15  # [s] within which neighbouring frames are alike
REPEATED = 0.5  # correlation between trials of what depends on the pose: our choice
INDEPENDENT = 1e-3  # part of the variance of the angles
BOUND = 5.0  # of an unknown from its mean, in standard deviations of the prior: no posterior comes near
DIFFERENCE = 0.05  # of slopes for the curvature at the optimum, in standard deviations of the prior
MIN_CURVATURE = 0.4  # in those of the prior: Laplace's approximation is not much wider than the prior
NEWTON, ACCURATE = (
    10,
    1e-4,
)  # steps to the most probable angles, and by how much the last one raises the logarithm of the density
TOGETHER = 16  # draws in one array
DEGREES_OF_FREEDOM = 6  # of the t distribution from which the posterior is sampled


def likeness(motion: HingedMotion) -> Floats:
    """Likeness (3, n, n) between frames of what is constant in a trial, a function of the pose, and a function of time.

    Angles and skin have these parts alike: if skin repeated in other trials and angles did not, skin would explain two walks.
    """
    same, turned = motion.trial[:, None] == motion.trial, motion.turned
    in_pose = np.exp(-np.linalg.norm(turned[:, None] - turned, axis=-1) / TYPICAL_ANGLE)
    in_time = np.exp(-np.abs(motion.t[:, None] - motion.t) / CORRELATED)
    return np.array([same, repeated(motion) * in_pose, same * in_time], float)


def repeated(motion: HingedMotion) -> Floats:
    """Likeness (n, n) between frames of what depends on the pose alone, which the next trial repeats in part."""
    return np.where(motion.trial[:, None] == motion.trial, 1.0, REPEATED)


@dataclass(frozen=True, eq=False)
class Optimum:
    """The most probable unknowns (u,), Laplace's covariance, the angles (n, 2) [rad] and how they follow (2 n, u)."""

    x: Floats
    angles: Floats
    follow: Floats
    covariance: Floats
    converged: bool


@dataclass(frozen=True, eq=False)
class AxesDensity:
    """Density of x (u,): ``UNKNOWNS``, and of each trial logarithms of the standard deviations [rad] of both angles.

    ``precision`` (n, 6, n, 6) [1/m^2]: of the residuals; ``alike`` (n, n): inverse of the likeness of the angles between frames;
    ``mean`` (u,), ``weight`` (u, u): of the prior and its precision.
    """

    motion: HingedMotion
    precision: Floats
    alike: Floats
    mean: Floats
    weight: Floats

    @classmethod
    def of(cls, motion: HingedMotion, covariance: Floats, mean: Floats, prior: Floats) -> AxesDensity:
        """The density for a covariance (6 n, 6 n) [m^2] of the residuals, and mean (8,) and covariance (8, 8) of the prior."""
        n, trials = len(motion.t), len(np.unique(motion.trial))
        alike = np.linalg.inv(likeness(motion).mean(axis=0) + INDEPENDENT * np.eye(n))
        weight = block_diag(np.linalg.inv(prior), np.eye(2 * trials) / np.log(ANGLES_FACTOR) ** 2)
        precision: Floats = np.asarray(np.linalg.inv(covariance), float).reshape(n, 6, n, 6)
        return cls(motion, precision, alike, np.r_[mean, np.tile(np.log(ANGLES), trials)], weight)

    def _sizes(self, x: Floats) -> Floats:
        """Logarithms (..., n, 2) of the standard deviations [rad] of both angles in each frame."""
        return x[..., SHARED:].reshape(*x.shape[:-1], -1, 2)[..., self.motion.trial, :]

    def _expanded(self, x: Floats, angles: Floats) -> tuple[Floats, Floats, Floats]:
        """Half the sum of squares (...), its gradient (..., 2 n) and curvature (..., 2 n, 2 n) by the angles (..., n, 2)."""
        n = len(self.motion.t)
        r = self.motion.residuals(x[..., :SHARED], angles)
        J = self.motion.slopes_of_angles(x[..., :SHARED], angles)
        of_frames = self.precision.reshape(6 * n, 6 * n)
        weighted = (r.reshape(*r.shape[:-2], -1) @ of_frames).reshape(r.shape)
        tight = np.exp(-self._sizes(x))
        steady = tight * (self.alike @ (tight * angles))
        g = (J * weighted[..., None]).sum(axis=-2) + steady
        seen = np.einsum("nkml,...mlb->...nkmb", self.precision, J, optimize=True)
        H = np.einsum("...nka,...nkmb->...namb", J, seen, optimize=True)
        for k in (0, 1):
            H[..., :, k, :, k] += self.alike * tight[..., k, None] * tight[..., None, :, k]
        half = ((r * weighted).sum(axis=(-2, -1)) + (angles * steady).sum(axis=(-2, -1))) / 2.0
        return half, g.reshape(*g.shape[:-2], -1), H.reshape(*H.shape[:-4], 2 * n, 2 * n)

    def angles(self, x: Floats, start: Floats) -> Floats:
        """The most probable angles (..., n, 2) [rad] for x (..., u)."""
        angles = start
        for _ in range(NEWTON):
            _, g, H = self._expanded(x, angles)
            step = np.linalg.solve(H, g[..., None])[..., 0]
            angles = angles - step.reshape(angles.shape)
            if ((g * step).sum(axis=-1) < 2.0 * ACCURATE).all():
                break
        return angles

    def cost(self, x: Floats, angles: Floats) -> Floats:
        """Minus the logarithm of the density (...) but for a constant, for x (..., u) and its most probable angles."""
        half, _, H = self._expanded(x, angles)
        return self._cost(x, half, np.linalg.slogdet(H)[1])

    def _cost(self, x: Floats, half: Floats, volume: Floats) -> Floats:
        """The cost (...) by the squares and the logarithm of the determinant of their curvature."""
        away = x - self.mean
        prior = np.einsum("...a,ab,...b->...", away, self.weight, away, optimize=True)
        return np.asarray(half + self._sizes(x).sum(axis=(-2, -1)) + (volume + prior) / 2.0)

    def follow(self, x: Floats, angles: Floats) -> Floats:
        """How the most probable angles (2 n, u) follow x (u,)."""
        _, _, H = self._expanded(x, angles)
        return np.asarray(-np.linalg.solve(H, slopes(lambda y: self._expanded(y, angles)[1], x)), float)

    def slopes(self, x: Floats, angles: Floats) -> Floats:
        """Derivatives (u,) of the cost by x (u,), at its most probable angles; the volume varies little with these."""
        inverse = np.linalg.inv(self._expanded(x, angles)[2])

        def cost(y: Floats) -> Floats:
            half, _, H = self._expanded(y, angles)
            return self._cost(y, half, (inverse * H).sum(axis=(-2, -1)))  # Jacobi's formula

        return slopes(cost, x)

    def best(self) -> Optimum:
        """The most probable unknowns, from the mean of the prior."""
        sd, angles = 1.0 / np.sqrt(np.diag(self.weight)), np.zeros((len(self.motion.t), 2))
        count = len(sd)

        def at(y: Floats) -> tuple[float, Floats]:
            nonlocal angles
            x = self.mean + sd * y
            angles = self.angles(x, angles)
            return float(self.cost(x, angles)), self.slopes(x, angles) * sd

        found = minimize(at, np.zeros(count), jac=True, method="L-BFGS-B", bounds=[(-BOUND, BOUND)] * count,
                         options={"ftol": 1e-8, "gtol": 1e-2})  # fmt: skip
        ends = [[at(found.x + step * e)[1] for step in (-DIFFERENCE, DIFFERENCE)] for e in np.eye(count)]
        H = np.diff(ends, axis=1)[:, 0] / (2.0 * DIFFERENCE)
        least, V = np.linalg.eigh((H + H.T) / 2.0)
        covariance = (V / np.maximum(least, MIN_CURVATURE)) @ V.T * np.outer(sd, sd)
        x = self.mean + sd * found.x
        angles = self.angles(x, angles)
        return Optimum(x, angles, self.follow(x, angles), covariance, bool(found.success))

    def sample(self, best: Optimum, count: int) -> tuple[Floats, float]:
        """Draws (count, u), and their effective number, by importance resampling from a t distribution about the optimum."""
        proposal = multivariate_t(best.x, best.covariance, df=DEGREES_OF_FREEDOM)
        x = proposal.rvs(count, random_state=np.random.default_rng(0))
        starts = best.angles + ((x - best.x) @ best.follow.T).reshape(count, *best.angles.shape)
        parts = zip(*(np.array_split(of, -(-count // TOGETHER)) for of in (x, starts)), strict=True)
        logs = -np.concatenate([self.cost(some, self.angles(some, start)) for some, start in parts])
        logs -= proposal.logpdf(x)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        places = (np.arange(count) + 0.5) / count
        return x[np.searchsorted(np.cumsum(weights), places).clip(max=count - 1)], float(1.0 / (weights**2).sum())
