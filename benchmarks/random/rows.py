"""The rows of the joints for the second method: three primitives, with derivatives by the rules of moving vectors.

(a) u . w - c, (b) u . d - c, (c) d . d - c^2, for directions u of body k and w of body j, and d from point i to point j.
All rows of a mechanism are evaluated at once.  The derivatives are checked by finite differences in the tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from benchmarks.random.mechanism import GROUND, Floats, Joint, Mechanism

E = np.eye(3)


def cross(a: Floats, b: Floats) -> Floats:
    """Cross products of (n, 3) and (n, 3)."""
    c = np.empty(np.broadcast_shapes(a.shape, b.shape))
    c[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    c[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    c[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return c


def across(n: Floats) -> tuple[Floats, Floats]:
    """Two unit vectors that are perpendicular to n and to each other."""
    b = np.cross(n, E[np.abs(n).argmin()])
    b = b / np.linalg.norm(b)
    return b, np.cross(n, b)


class Rows:
    """The rows of a mechanism: lists of directions (a) and of separations (b, c), as arrays."""

    def __init__(self, m: Mechanism) -> None:
        self.index = {GROUND: 0} | {name: n + 1 for n, name in enumerate(m.bodies)}
        self.poses = {GROUND: (np.zeros(3), E)} | {b.name: (b.r, b.A) for b in m.bodies.values()}
        self.a: list[tuple[Any, ...]] = []  # i, j, u, w, c, signal, second u
        self.b: list[tuple[Any, ...]] = []  # k, i, j, u, s_i, s_j, c, squared, signal
        for joint in m.joints:
            self._add(joint)
        n = len(m.bodies) + 1
        self.bodies = n
        a, b = self.a, self.b
        self.ai, self.aj = np.array([x[0] for x in a], int), np.array([x[1] for x in a], int)
        self.au, self.aw = np.array([x[2] for x in a]).reshape(-1, 3), np.array([x[3] for x in a]).reshape(-1, 3)
        self.ac = np.array([x[4] for x in a], float)
        self.driven = [(k, x[5], x[2], x[6]) for k, x in enumerate(a) if x[5] is not None]
        self.bk, self.bi, self.bj = (np.array([x[c] for x in b], int) for c in range(3))
        self.bu, self.bsi, self.bsj = (np.array([x[c] for x in b]).reshape(-1, 3) for c in (3, 4, 5))
        self.bc = np.array([x[6] for x in b], float)
        self.squared = np.array([x[7] for x in b], bool)
        self.count = len(a) + len(b)

    def _direction(self, body: str, local: Floats) -> Floats:
        return self.poses[body][1] @ local

    def _dots(self, i: str, j: str, u: Floats, w: Floats) -> None:
        """A row u . w that keeps its value."""
        c = float(self._direction(i, u) @ self._direction(j, w))
        self.a.append((self.index[i], self.index[j], u, w, c, None, None))

    def _perpendicular(self, i: str, j: str, u: Floats, w: Floats) -> None:
        self.a.append((self.index[i], self.index[j], u, w, 0.0, None, None))

    def _separation(self, k: str, joint: Joint, u: Floats, c: float = 0.0) -> None:
        zero = np.zeros(3)
        s = joint.values.get("s_i", zero), joint.values.get("s_j", zero)
        self.b.append((self.index[k], self.index[joint.i], self.index[joint.j], u, *s, c, False))

    def _length(self, joint: Joint, length: float) -> None:
        s = joint.values["s_i"], joint.values["s_j"]
        self.b.append((0, self.index[joint.i], self.index[joint.j], np.zeros(3), *s, length, True))

    def _held_separation(self, k: str, joint: Joint, u: Floats) -> None:
        start, end = (
            self.poses[n][0] + self._direction(n, joint.values.get(s, np.zeros(3)))
            for n, s in ((joint.i, "s_i"), (joint.j, "s_j"))
        )
        self._separation(k, joint, u, float(self._direction(k, u) @ (end - start)))

    def _add(self, joint: Joint) -> None:
        kind, i, j, v = joint.kind, joint.i, joint.j, joint.values
        if kind in ("spherical", "revolute", "universal"):
            for axis in E:
                self._separation(GROUND, joint, axis)
        if kind == "universal" or kind in ("constant_angle", "modified_universal"):
            self._dots(i, j, v["a_i"], v["a_j"])
        if kind in ("revolute", "cylindrical", "translational"):
            for u in across(v["a_i"]):
                self._perpendicular(i, j, u, v["a_j"])
        if kind in ("cylindrical", "translational", "point_on_line"):
            for u in across(v["a_i"]):
                self._separation(i, joint, u)
        if kind == "translational":
            b, c = across(v["a_i"])
            on_j = self.poses[j][1].T @ self._direction(i, c)
            self._perpendicular(i, j, b, on_j)
        if kind == "point_on_plane":
            self._separation(i, joint, v["a_i"])
        if kind in ("constant_distance", "modified_universal"):
            self._length(joint, v["l"])
        if kind == "modified_universal":
            self._held_separation(i, joint, v["a_i"])
            self._held_separation(j, joint, v["a_j"])
        if kind == "fixed":
            relative = self.poses[j][1].T @ self.poses[i][1]
            for n in range(3):
                self._held_separation(i, joint, E[n])
                self._perpendicular(i, j, E[n], relative[:, (n + 1) % 3])
        if kind == "guided_angle":
            # cos(q) b . (h x a) - sin(q) b . a = 0 for the angle q: a direction u of body i that turns.
            h = v["h_i"]
            a = v["a_i"] - h * (h @ v["a_i"])
            self.a.append((self.index[i], self.index[j], np.cross(h, a), v["b_j"], 0.0, joint.signal, a))

    def _turned(self, time: float) -> tuple[Floats, Floats, Floats]:
        """Directions u of the rows (a) in axes of their bodies, and their two derivatives by time there."""
        u = self.au
        u_t, u_tt = np.zeros_like(u), np.zeros_like(u)
        if self.driven:
            u = u.copy()
        for k, signal, ha, a in self.driven:
            p = np.polynomial.Polynomial(signal)
            q, q1, q2 = p(time), p.deriv()(time), p.deriv(2)(time)
            along, back = np.cos(q) * ha - np.sin(q) * a, -np.sin(q) * ha - np.cos(q) * a
            u[k], u_t[k], u_tt[k] = along, q1 * back, q2 * back - q1**2 * along
        return u, u_t, u_tt

    def evaluate(
        self, time: float, r: Floats, A: Floats, v: Floats, w: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Phi (m,), D (m, bodies + 1, 6) on v and w in global axes, Phi' (m,) and gamma (m,) of D v' = gamma."""
        na, m = len(self.ai), self.count
        found = np.empty(m), np.zeros((m, self.bodies, 6)), np.empty(m), np.empty(m)
        if na:
            _dots(A, w, self.ai, self.aj, *self._turned(time), self.aw, self.ac, *found)
        if m > na:
            _separations(
                r, A, v, w, self.bk, self.bi, self.bj, self.bu, self.bsi, self.bsj, self.bc, self.squared, na, *found
            )
        return found


@njit(cache=True)
def cross_of(a, b):  # type: ignore[no-untyped-def]
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


@njit(cache=True)
def _dot(a, b):  # type: ignore[no-untyped-def]
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True)
def turn_of(A, u):  # type: ignore[no-untyped-def]
    return np.array([_dot(A[0], u), _dot(A[1], u), _dot(A[2], u)])


@njit(cache=True)
def _dots(A, w, ai, aj, au, au_t, au_tt, aw, ac, Phi, D, rate, gamma):  # type: ignore[no-untyped-def]
    """Rows u . x - c, with u of body i, which may turn in it by a given function of time, and x of body j."""
    for n in range(len(ai)):
        i, j = ai[n], aj[n]
        u, u_t, u_tt, x = turn_of(A[i], au[n]), turn_of(A[i], au_t[n]), turn_of(A[i], au_tt[n]), turn_of(A[j], aw[n])
        ux = cross_of(u, x)
        D[n, i, 3:] += ux
        D[n, j, 3:] -= ux
        wu, wx = cross_of(w[i], u), cross_of(w[j], x)
        Phi[n] = _dot(u, x) - ac[n]
        rate[n] = _dot(wu + u_t, x) + _dot(u, wx)
        u_2 = cross_of(w[i], wu) + 2 * cross_of(w[i], u_t) + u_tt
        gamma[n] = -(_dot(u_2, x) + 2 * _dot(wu + u_t, wx) + _dot(u, cross_of(w[j], wx)))


@njit(cache=True)
def _separations(r, A, v, w, bk, bi, bj, bu, bsi, bsj, bc, squared, first, Phi, D, rate, gamma):  # type: ignore[no-untyped-def]
    """Rows u . d - c with u of body k, and d . d - c^2, for the separation d of points of the bodies i and j."""
    for q in range(len(bk)):
        n, k, i, j = first + q, bk[q], bi[q], bj[q]
        si, sj = turn_of(A[i], bsi[q]), turn_of(A[j], bsj[q])
        d = r[j] + sj - r[i] - si
        wsi, wsj = cross_of(w[i], si), cross_of(w[j], sj)
        d1 = v[j] + wsj - v[i] - wsi
        d2 = cross_of(w[j], wsj) - cross_of(w[i], wsi)
        if squared[q]:
            u = 2 * d
            Phi[n], rate[n] = _dot(d, d) - bc[q] ** 2, _dot(u, d1)
            gamma[n] = -(2 * _dot(d1, d1) + _dot(u, d2))
        else:
            u = turn_of(A[k], bu[q])
            u1 = cross_of(w[k], u)
            D[n, k, 3:] += cross_of(u, d)
            Phi[n], rate[n] = _dot(u, d) - bc[q], _dot(u1, d) + _dot(u, d1)
            gamma[n] = -(_dot(cross_of(w[k], u1), d) + 2 * _dot(u1, d1) + _dot(u, d2))
        D[n, j, :3] += u
        D[n, i, :3] -= u
        D[n, j, 3:] += cross_of(sj, u)
        D[n, i, 3:] -= cross_of(si, u)
