"""The activations of least cost that make given moments, of many frames at once.

    minimise  sum (w a + c)^p + sum |r|^p   with  G a + r = b  and  lower <= a <= upper

for the activations a and the controls r of reserve moments, which make up for the rest.  It is convex for p >= 1, and r is the
difference of two controls that are not negative.  With all controls in a, the columns of A = [G, 1, -1], costs of x = w a + c,
their slopes v, multipliers y of the moments, and z and z' of the bounds, a solution has

    A a = b,   A' y = w v - z + z',   v = x^(p - 1),   z (a - lower) = 0,   z' (upper - a) = 0.

Newton's method follows the solutions with mu in place of both 0 and with x + mu / v in place of x, as mu falls to 0.  It is
applied to the logarithm of the third equation: slopes that are many powers of ten apart, as for p = 20, have errors in
proportion to themselves.  For p > 2 the power grows from 2.  Power 2 alone is a problem of least squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from runtime.support.arrays import Floats

MOST_STEPS = 300  # of a frame
OPTIMAL = 1e-4  # how far a frame with success is from its optimum
EXACT = 1e-12  # likewise, where the steps end
CLOSE = 1e-9  # likewise, of least squares by NNLS
ROUNDING = 1e-10  # of the sum of the sizes of what makes a slope
TOGETHER = 64  # frames
FIRST, GROWTH = 2.0, 1.07  # of powers
NEAR = 0.3  # off its optimum, where the power of a frame grows
FASTEST, SLOWEST = 0.01, 0.5  # least and largest mu after a step, by the mean of the products
INSIDE = 0.995  # of the way to a bound
SMALLEST = 1e-3  # of the control of full activation, by which differences are divided at least
MOST_FALL = 20.0  # of the logarithm of a slope in a step
FLATTEST = 1e-12  # curvature of the cost of a control, by its slope without signs
RIDGE = 1e-14  # of the equations of the multipliers, whose diagonal is 1


@dataclass(frozen=True, eq=False)
class Problem:
    """Many frames: G (frames, moments, muscles), b (frames, moments), w and c (frames, muscles), bounds (muscles,)."""

    G: Floats
    b: Floats
    w: Floats
    c: Floats
    lower: Floats
    upper: Floats

    def solved(self, p: float) -> tuple[Floats, Floats]:
        """Activations (frames, muscles), and how far each frame is from its optimum (frames,); NaN where a number overflows.

        That is the largest difference of a control from one that the multipliers ask for, by the largest control, or the largest
        error of a moment by the sum of the sizes of what makes it.  A largest control below 0.001 of that of full activation
        counts as so much.  A muscle without strength stays at its lower bound.
        """
        a, off = self._least_squares() if p == 2.0 else (np.zeros_like(self.c), np.full(len(self.b), np.inf))
        left = np.flatnonzero(~(off <= CLOSE))
        for part in (left[n : n + TOGETHER] for n in range(0, len(left), TOGETHER)):
            with np.errstate(all="ignore"):  # of frames that diverge
                a[part], off[part] = _Iterate.at_start(self, part, min(p, FIRST)).solved(p)
        return np.clip(a, self.lower, self.upper), off

    def _least_squares(self) -> tuple[Floats, Floats]:
        """As of ``solved`` for p = 2, by NNLS, ten times as fast, where it finds the optimum.

        It knows the lower bounds; activations beyond the upper ones are put there, and the others found again.
        """
        A = np.concatenate([self.w[:, :, None] * np.eye(self.w.shape[1]), self.G], axis=1)
        d = np.concatenate([-self.c, self.b], axis=1)
        beyond = d - A @ self.lower
        a = np.stack([nnls(one, right)[0] for one, right in zip(A, beyond, strict=True)]) + self.lower
        for n in np.flatnonzero((a > self.upper).any(axis=1)):
            free = a[n] < self.upper
            a[n] = np.where(free, self.lower, self.upper)
            if free.any():
                a[n, free] += nnls(A[n][:, free], d[n] - A[n] @ a[n])[0]
        r = self.b - np.einsum("nkm,nm->nk", self.G, a)
        w, ends = np.where(self.w > 0.0, self.w, 1.0), [self.w * of + self.c for of in (self.lower, self.upper)]
        low, high = _asked_for(self.G, r, w, ends[0], ends[1], 1.0)
        x = self.w * a + self.c
        most = np.maximum(np.maximum(x.max(axis=1), np.abs(r).max(axis=1)), SMALLEST * ends[1].max(axis=1))
        off = np.maximum(low - x, x - high).max(axis=1) / most
        return a, np.where((a <= self.upper).all(axis=1), off, np.inf)


def _asked_for(
    A: Floats, y: Floats, w: Floats, least: Floats, most: Floats, root: Floats | float
) -> tuple[Floats, Floats]:
    """The range of x, from least to most, whose slope is that of the multipliers up to rounding; root: 1 / (p - 1)."""
    slope, size = _slopes(A, y)
    low, high = (np.maximum(slope + sign * ROUNDING * size, 0.0) / w for sign in (-1.0, 1.0))
    return np.clip(low**root, least, most), np.clip(high**root, least, most)


def _slopes(A: Floats, y: Floats) -> tuple[Floats, Floats]:
    """What the multipliers of the moments give, and the sum of the sizes of their parts."""
    return np.einsum("nkc,nk->nc", A, y), np.einsum("nkc,nk->nc", np.abs(A), np.abs(y))


@dataclass(eq=False)
class _Iterate:
    """Controls and multipliers of some frames, (frames, controls) each; z' and upper - a of the muscles, which come first.

    Controls are counted in the largest one of each frame, ``size`` (frames, 1).
    """

    A: Floats
    w: Floats
    b: Floats
    c: Floats
    lower: Floats
    upper: Floats
    size: Floats
    a: Floats
    below: Floats  # a - lower
    above: Floats
    v: Floats
    z: Floats
    z_above: Floats
    y: Floats
    wanted: Floats  # mu by the mean of the products (frames, 1)
    p: Floats  # (frames, 1)

    @classmethod
    def at_start(cls, of: Problem, part: NDArray[np.intp], p: float) -> _Iterate:
        """Activations in the middle of their bounds, and reserves that make up for the rest, for the power p."""
        G, b = of.G[part], of.b[part]
        reserves, middle = (
            np.zeros((len(b), 2 * b.shape[1])),
            np.broadcast_to((of.lower + of.upper) / 2.0, of.c[part].shape),
        )
        rest = b - np.einsum("nkm,nm->nk", G, middle)
        w = np.concatenate([np.where(of.w[part] > 0.0, of.w[part], 1.0), reserves + 1.0], axis=1)
        c = np.concatenate([of.c[part], reserves], axis=1)
        lower = np.concatenate([np.broadcast_to(of.lower, middle.shape), reserves], axis=1)
        upper = np.concatenate([np.broadcast_to(of.upper, middle.shape), reserves + np.inf], axis=1)
        most = np.maximum(np.abs(rest).max(axis=1), (w * lower + c).max(axis=1))[:, None] + middle.max()
        a = np.concatenate([middle, most + np.maximum(rest, 0.0), most + np.maximum(-rest, 0.0)], axis=1)
        eye = np.broadcast_to(np.eye(b.shape[1]), (len(b), *[b.shape[1]] * 2))
        v = (w * a + c) ** (p - 1.0)
        above = of.upper - middle
        z_above = most**p / above
        z = w * v + np.concatenate([z_above, reserves], axis=1)
        A = np.concatenate([G, eye, -eye], axis=2)
        return cls(
            A,
            w,
            b,
            c,
            lower,
            upper,
            np.ones_like(most),
            a,
            a - lower,
            above,
            v,
            z,
            z_above,
            0.0 * b,
            0.0 * most + SLOWEST,
            0.0 * most + p,
        )

    def solved(self, p: float) -> tuple[Floats, Floats]:
        """As of ``Problem``."""
        for _ in range(MOST_STEPS):
            self._count_by_the_largest()
            ends = self.w * self.lower + self.c, self.w * self.upper + self.c
            low, high = _asked_for(self.A, self.y, self.w, *ends, 1.0 / (self.p - 1.0))
            off = self._off(low, high)
            growing = self.p < p
            moving = ~(off[:, None] <= EXACT) | growing
            if not moving.any():
                break
            self._step(moving, np.where(growing, SLOWEST, FASTEST))
            grown = np.where(off[:, None] <= NEAR, np.minimum(p, GROWTH * self.p), self.p)
            if p > FIRST:
                self.v **= (grown - 1.0) / (self.p - 1.0)
                self.p = grown
        muscles = self.above.shape[1]
        a = (np.clip(self.x, low, high) - self.c)[:, :muscles] / self.w[:, :muscles]
        return a * self.size, off

    @property
    def x(self) -> Floats:
        """What the costs are powers of."""
        return self.w * self.a + self.c

    def _count_by_the_largest(self) -> None:
        most = self.x.max(axis=1, keepdims=True)
        for name in ("b", "c", "lower", "upper", "a", "below", "above"):
            setattr(self, name, getattr(self, name) / most)
        for name in ("v", "z", "z_above", "y"):
            setattr(self, name, getattr(self, name) / most ** (self.p - 1.0))
        self.size = self.size * most

    def _off(self, low: Floats, high: Floats) -> Floats:
        """How far each frame is from its optimum, as of ``Problem.solved``."""
        muscles = self.above.shape[1]
        possible = (self.w * self.upper + self.c)[:, :muscles].max(axis=1, keepdims=True)
        apart = np.maximum(low - self.x, self.x - high) / np.maximum(1.0, SMALLEST * possible)
        moments = np.einsum("nkc,nc->nk", np.abs(self.A), self.a) + np.abs(self.b)
        return np.asarray(np.concatenate([apart, np.abs(self._missing()) / moments], axis=1).max(axis=1))

    def _missing(self) -> Floats:
        """Moments that are not made yet."""
        return self.b - np.einsum("nkc,nc->nk", self.A, self.a)

    def _step(self, moving: NDArray[np.bool_], fastest: Floats) -> None:
        """A step of Newton's method in the frames that move (frames, 1)."""
        p, w, x, v, muscles = self.p, self.w, self.x, self.v, self.above.shape[1]
        products = (self.z * self.below).sum(axis=1) + (self.z_above * self.above).sum(axis=1)
        mu = self.wanted * products[:, None] / (x.shape[1] + muscles)
        soft = x + mu / v
        eased = 1.0 + (p - 1.0) * mu / (v * soft)
        apart = (np.log(v) - (p - 1.0) * np.log(soft)) / eased
        steep = (p - 1.0) / (soft * eased)  # d log v / d x
        slope, size = _slopes(self.A, self.y)
        bends = w**2 * v * steep + self.z / self.below
        right = slope - w * v * (1.0 - apart) + mu / self.below
        bends[:, :muscles] += self.z_above / self.above
        right[:, :muscles] -= mu / self.above
        bends = np.maximum(bends, FLATTEST * size / x)
        over = self.A / bends[:, None]
        H = over @ np.swapaxes(self.A, 1, 2)
        scale = 1.0 / np.sqrt(np.einsum("nkk->nk", H))
        H = H * scale[:, :, None] * scale[:, None] + RIDGE * np.eye(H.shape[1])
        missing = self._missing() - np.einsum("nkc,nc->nk", over, right)
        dy = scale * np.linalg.solve(H, (scale * missing)[:, :, None])[:, :, 0]
        da = (np.einsum("nkc,nk->nc", self.A, dy) + right) / bends
        growth = steep * w * da - apart  # of log v
        dz = (mu - self.z * da) / self.below - self.z
        dz_above = (mu + self.z_above * da[:, :muscles]) / self.above - self.z_above
        along = moving * _share((self.below, da), (self.above, -da[:, :muscles]))
        beside = moving * _share((self.z, dz), (self.z_above, dz_above))
        self.a, self.below = self.a + along * da, self.below + along * da
        self.above = self.above - along * da[:, :muscles]
        self.y, self.z, self.z_above = self.y + beside * dy, self.z + beside * dz, self.z_above + beside * dz_above
        growth = beside * growth
        self.v = v * np.where(growth < 0.0, np.exp(np.maximum(growth, -MOST_FALL)), 1.0 + growth)
        self.wanted = np.clip((1.0 - np.minimum(along, beside)) ** 2, fastest, SLOWEST)


def _share(*changed: tuple[Floats, Floats]) -> Floats:
    """The share (frames, 1), at most 1, of the changes after which all values are above 0."""
    fastest = np.max([np.max(-change / value, axis=1) for value, change in changed], axis=0)[:, None]
    return np.minimum(1.0, INSIDE / np.maximum(fastest, np.finfo(float).tiny))
