"""Lift, tilt and roll of a foot, splines in time, with which its spheres carry an expected force near an expected path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import least_squares

from models.walking.plantar import FootMotion, Spheres
from runtime.support.arrays import Floats

KNOTS = 0.04  # [s] between the knots of lift, tilt and roll
# Differences that count alike: of force [body weights] and centre of pressure [foot lengths] from the expected ones, at a knot;
# lift [m], tilt and roll [m], and the changes of the three from knot to knot [m].
FORCE_WIDTH, PATH_WIDTH = 0.03, 0.03
LIFT_WIDTH, TILT_WIDTH, CHANGE_WIDTH = 0.004, 0.002, 0.003
MAX_FORCE, EXCESS_WIDTH = 0.40, 0.01  # [body weights] of a sphere; beyond the first, the excess counts
STEPS = 15
STEP = 1.5e-8  # [m] of differences


@dataclass(frozen=True, eq=False)
class Correction:
    """The least squares of one stance.

    ``spheres``; ``expected`` (n,) [body weights]; ``path`` (n, 2) [m]; ``length`` [m]; ``basis`` (n, m): splines at the frames;
    ``along``, ``across`` (n, 12): lift of each sphere by a unit of tilt and of roll; ``share``: weight of a frame.
    """

    spheres: Spheres
    expected: Floats
    path: Floats
    length: float
    basis: Floats
    along: Floats
    across: Floats
    share: float

    def shifts(self, x: Floats) -> Floats:
        """Lift, tilt and roll (3, n) [m] of coefficients x (3 m,)."""
        return np.asarray(x.reshape(3, -1) @ self.basis.T)

    def forces(self, shifts: Floats) -> Floats:
        """Forces (n, 12) [body weights] of the spheres."""
        lift, tilt, roll = shifts
        return self.spheres.forces(lift[:, None] + tilt[:, None] * self.along + roll[:, None] * self.across)

    def of_frames(self, shifts: Floats) -> Floats:
        """Residuals (n, 15) of each frame: force, centre of pressure, forces of spheres beyond the limit."""
        f = self.forces(shifts)
        off = (f.sum(axis=1) - self.expected) / FORCE_WIDTH
        moment = np.einsum("nk,nkb->nb", f, self.spheres.at - self.path[:, None]) / self.length / PATH_WIDTH
        excess = np.clip(f - MAX_FORCE, 0.0, None) / EXCESS_WIDTH
        return self.share * np.column_stack([off, moment, excess])

    @property
    def priors(self) -> Floats:
        """Rows (2 * 3 m - 3, 3 m) that keep lift, tilt and roll small and smooth."""
        m = self.basis.shape[1]
        sizes = np.repeat([LIFT_WIDTH, TILT_WIDTH, TILT_WIDTH], m)
        change = np.diff(np.eye(m), axis=0) / CHANGE_WIDTH
        return np.vstack([np.diag(1.0 / sizes), np.kron(np.eye(3), change)])

    def solve(self) -> tuple[Floats, Floats]:
        """Lift, tilt and roll (3, n) [m], and the forces (n, 12) [body weights] with them."""
        m, priors = self.basis.shape[1], self.priors

        def residuals(x: Floats) -> Floats:
            return np.concatenate([self.of_frames(self.shifts(x)).ravel(), priors @ x])

        def jacobian(x: Floats) -> Floats:
            """A frame depends on its own lift, tilt and roll alone: three differences serve all coefficients."""
            at = self.shifts(x)
            before = self.of_frames(at)
            slopes = [(self.of_frames(at + STEP * np.eye(3)[:, k : k + 1]) - before) / STEP for k in range(3)]
            frames = np.concatenate([slope[:, :, None] * self.basis[:, None, :] for slope in slopes], axis=2)
            return np.vstack([frames.reshape(-1, 3 * m), priors])

        # A sphere above the floor has no slope, so the search begins with the lift that carries the expected force.
        start = np.clip(self.spheres.lift_of(self.expected), -0.01, 0.01)
        x0 = np.linalg.lstsq(np.vstack([self.basis, 0.3 * np.eye(m)]), np.concatenate([start, np.zeros(m)]))[0]
        x0 = np.concatenate([x0, np.zeros(2 * m)])
        found = least_squares(residuals, x0, jac=jacobian, x_scale=1e-3, max_nfev=STEPS)
        shifts = self.shifts(found.x)
        return shifts, self.forces(shifts)


def correction(foot: FootMotion, spheres: Spheres, expected: Floats, path: Floats) -> tuple[Floats, Floats]:
    """Lift, tilt and roll (3, n) [m] of the foot, and the forces (n, 12) [body weights] of the spheres with them."""
    t = foot.t
    pieces = max(4, round(float(t[-1] - t[0]) / KNOTS))
    knots = np.linspace(t[0], t[-1], pieces + 1)
    knots = np.concatenate([knots[:1].repeat(3), knots, knots[-1:].repeat(3)])
    places = foot.in_foot(t, spheres.at)
    along = 2.0 * places[:, :, 0] - 1.0  # -1 at the heel, 1 at the tip of the toes
    across = 4.0 * places[:, :, 1]  # about 1 at the medial edge, -1 at the lateral edge
    share = float(np.sqrt(float(t[-1] - t[0]) / (len(t) - 1) / KNOTS))  # so that the rate of the frames does not matter
    basis = BSpline.design_matrix(t, knots, 3).toarray()
    return Correction(spheres, expected, path, foot.length, basis, along, across, share).solve()
