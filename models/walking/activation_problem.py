"""The activations of least cost that make given moments, frame by frame, by kept solvers.

    minimise  sum (w a + c)^p + sum |r|^p   with  r = b - G a  and  lower <= a <= upper

for the activations a and the controls r of reserve moments, which make up for the rest.  It is convex for p >= 1: a bounded
linear least-squares problem for p = 2, a linear programme for p = 1, and smooth for other p.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog, lsq_linear, minimize, nnls

from runtime.support.arrays import Floats

PRECISION, MOST_STEPS = 1e-15, 1000  # of SLSQP
OPTIMAL = 1e-4  # largest entry of the projected gradient with success
EXACT = 1e-8  # likewise, of least squares by NNLS


@dataclass(frozen=True, eq=False)
class Problem:
    """Many frames: G (frames, moments, muscles), b (frames, moments), w and c (frames, muscles), bounds (muscles,)."""

    G: Floats
    b: Floats
    w: Floats
    c: Floats
    lower: Floats
    upper: Floats

    def least_squares(self) -> Floats:
        """The activations (frames, muscles) for p = 2.

        By NNLS, which knows the lower bounds; activations beyond the upper ones are put there, and the others found again.
        Frames of which this is not the optimum are solved by BVLS.
        """
        A = np.concatenate([self.w[:, :, None] * np.eye(self.w.shape[1]), self.G], axis=1)
        d = np.concatenate([-self.c, self.b], axis=1)
        beyond = d - A @ self.lower
        found = np.stack([nnls(one, right)[0] for one, right in zip(A, beyond, strict=True)]) + self.lower
        for n in np.flatnonzero((found > self.upper).any(axis=1)):
            free = found[n] < self.upper
            found[n] = np.where(free, self.lower, self.upper)
            if free.any():
                found[n, free] += nnls(A[n][:, free], d[n] - A[n] @ found[n])[0]
        off = self.optimality(found, self.b - np.einsum("nkm,nm->nk", self.G, found), 2.0)
        for n in np.flatnonzero((found > self.upper).any(axis=1) | ~(off <= EXACT)):
            found[n] = lsq_linear(A[n], d[n], (self.lower, self.upper), method="bvls").x
        return found

    def solved(self, p: float) -> tuple[Floats, Floats]:
        """Activations (frames, muscles), and how far each frame is from its optimum (frames,); NaN without success."""
        a = self.least_squares()
        if p == 1.0:
            found = [self._programme(n) for n in range(len(a))]
            return np.stack([x for x, _ in found]), np.array([off for _, off in found])
        r = self.b - np.einsum("nkm,nm->nk", self.G, a)
        if p != 2.0:
            for n in range(len(a)):
                a[n], r[n] = self._smooth(n, p, a[n], r[n])
        return a, self.optimality(a, r, p)

    def optimality(self, a: Floats, r: Floats, p: float) -> Floats:
        """Largest entry of the projected gradient |a - clip(a - gradient)| of each frame (Karush, Kuhn and Tucker).

        The gradient is counted by the largest of its terms, where this is above 1.
        """
        own, of_reserves = self.w * _slope(self.w * a + self.c, p), self.G * _slope(r, p)[:, :, None]
        largest = np.maximum(np.abs(own).max(axis=1), np.abs(of_reserves).max(axis=(1, 2)))
        slope = (own - of_reserves.sum(axis=1)) / np.maximum(largest, 1.0)[:, None]
        return np.asarray(np.abs(a - np.clip(a - slope, self.lower, self.upper)).max(axis=1))

    def _smooth(self, n: int, p: float, a: Floats, r: Floats) -> tuple[Floats, Floats]:
        """One frame by SLSQP in activations and reserves, from the quadratic's solution."""
        G, w, c, count = self.G[n], self.w[n], self.c[n], len(a)
        scale, shift = np.concatenate([w, np.ones(len(r))]), np.concatenate([c, np.zeros(len(r))])
        both = np.hstack([G, np.eye(len(r))])
        bounds = [*zip(self.lower, self.upper, strict=True), *[(None, None)] * len(r)]
        found = minimize(
            lambda z: np.sum(np.abs(scale * z + shift) ** p), np.concatenate([a, r]), method="SLSQP", bounds=bounds,
            jac=lambda z: scale * _slope(scale * z + shift, p),
            constraints={"type": "eq", "fun": lambda z: both @ z - self.b[n], "jac": lambda z: both},
            options={"ftol": PRECISION, "maxiter": MOST_STEPS},
        ).x  # fmt: skip
        return np.clip(found[:count], self.lower, self.upper), found[count:]

    def _programme(self, n: int) -> tuple[Floats, float]:
        """One frame for p = 1, with reserves of both signs, by HiGHS."""
        G, eye = self.G[n], np.eye(len(self.b[n]))
        bounds = [*zip(self.lower, self.upper, strict=True), *[(0.0, None)] * (2 * len(eye))]
        costs = np.concatenate([self.w[n], np.ones(2 * len(eye))])
        found = linprog(costs, A_eq=np.hstack([G, eye, -eye]), b_eq=self.b[n], bounds=bounds)
        return (found.x[: len(self.lower)], 0.0) if found.success else (self.lower, np.nan)


def _slope(x: Floats, p: float) -> Floats:
    """The derivative of |x|^p."""
    found: Floats = p * np.abs(x) ** (p - 1.0) * np.sign(x)
    return found
