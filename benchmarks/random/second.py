"""The second method: accelerations of least norm, projected steps of SciPy's DOP853.  Without ``runtime``.

The rank is that of the mechanism in general poses.  Steps end at the wanted times, so that no interpolation takes part.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.integrate import DOP853
from scipy.linalg.lapack import dgels

from benchmarks.random.actions import Cone, Poses, add_contact, add_force, add_limit
from benchmarks.random.mechanism import GROUND, Floats, Mechanism
from benchmarks.random.rows import Rows, cross

GAP = 1e-9  # singular values of scaled rows below this fraction of the largest are zero
SHAKEN = 1e-2  # of the size: distance of the poses in which the rank is found
PROJECTIONS = 6


class Second:
    """The equations of motion of a mechanism."""

    def __init__(self, m: Mechanism) -> None:
        self.m, self.rows = m, Rows(m)
        bodies = list(m.bodies.values())
        self.n = len(bodies)
        self.mass = np.array([b.mass for b in bodies])
        self.J = np.array([b.J for b in bodies])
        values, vectors = np.linalg.eigh(self.J)
        self.root = np.einsum("nab,nb,ncb->nac", vectors, values**-0.5, vectors)  # J^-1/2 in axes of the bodies
        self.inverse = np.linalg.inv(self.J)
        self.index = self.rows.index
        self.rank = 0
        self.evaluations = 0
        self.cones = [Cone(limit.latitudes) for limit in m.limits]

    def start(self) -> Floats:
        """The initial state: r, p (scalar first), v, w of each body, (13 bodies,)."""
        y = np.zeros((self.n, 13))
        for k, b in enumerate(self.m.bodies.values()):
            y[k, :3], y[k, 3:7], y[k, 7:10], y[k, 10:] = b.r, quaternion(b.A), b.v, b.w
        return y.ravel()

    def geometry(self, t: float, y: Floats) -> tuple[Floats, ...]:
        """Rotation matrices, scaled rows on M^1/2 v, their Phi, Phi' and gamma, and the scales of the bodies."""
        A, turn, r, v, w = placed(y.reshape(-1, 13), self.root)
        Phi, D, rate, gamma = self.rows.evaluate(t, r, A, v, w)
        scale_rows(D, self.mass, turn, Phi, rate, gamma)
        return A[1:], turn, D[:, 1:].reshape(len(Phi), -1), Phi, rate, gamma

    def _least(self, A: Floats, b: Floats) -> Floats:
        """The least x with A x = b, where A has the rank of general poses."""
        found: Floats
        if self.rank == 0:
            return np.zeros(6 * self.n)
        if self.rank == len(A):  # a third of the time of singular values
            _, found, _ = dgels(A, np.concatenate([b, np.zeros(6 * self.n - len(b))]))
            return found
        U, S, V = np.linalg.svd(A, full_matrices=False)
        k = self.rank
        found = V[:k].T @ ((U[:, :k].T @ b) / S[:k])
        return found

    def _unscaled(self, x: Floats, turn: Floats) -> tuple[Floats, Floats]:
        return unscaled(x.reshape(-1, 6), self.mass, turn)

    def find_rank(self, y: Floats) -> int:
        """The rank in general poses: the largest at the start and in poses close to it, which satisfy all rows."""
        ranks = []
        random = np.random.default_rng(1)
        if not self.rows.count:
            return 0
        for distance in (0.0, SHAKEN, -SHAKEN, 3 * SHAKEN):
            z = y.copy()
            for _ in range(8 if distance else 0):  # small steps along admissible motions
                _, turn, scaled, *_ = self.geometry(0.0, z)
                U, S, V = np.linalg.svd(scaled)
                free = V[(S > 1e-7 * S[0]).sum() :]
                if not len(free):
                    break
                x = free.T @ random.standard_normal(len(free))
                dv, dw = self._unscaled(x, turn)
                move = max(np.abs(dv).max() / self.m.size, np.abs(dw).max())
                z = displaced(z, dv * distance / 8 / move, dw * distance / 8 / move)
                for _ in range(20):
                    _, turn, scaled, Phi, *_ = self.geometry(0.0, z)
                    U, S, V = np.linalg.svd(scaled, full_matrices=False)
                    keep = S > 1e-6 * S[0]
                    x = -V[keep].T @ ((U.T @ Phi)[keep] / S[keep])
                    z = displaced(z, *self._unscaled(x, turn))
            S = np.linalg.svd(self.geometry(0.0, z)[2], compute_uv=False)
            ranks.append(int((S > GAP * S[0]).sum()))
            if ranks[-1] == self.rows.count:  # it cannot be higher
                break
        return max(ranks)

    def freedoms(self) -> int:
        """Degrees of freedom in general poses."""
        self.rank = self.find_rank(self.start())
        return 6 * self.n - self.rank

    def admissible(self, y: Floats, rates: Floats) -> tuple[Floats, Floats]:
        """Velocities (n, 3) of the bodies nearest to given M^1/2 v (6 n,) that satisfy the rows, at time 0."""
        y = y.copy().reshape(-1, 13)
        y[:, 7:] = 0.0
        _, turn, scaled, _, rate, _ = self.geometry(0.0, y.ravel())
        x = rates - self._least(scaled, scaled @ rates + rate)
        return self._unscaled(x, turn)

    def forces(self, t: float, y: Floats, A: Floats) -> Floats:
        """Forces and moments about the centres of mass, global axes, (n, 6)."""
        s = y.reshape(-1, 13)
        f = free_forces(s, A, self.mass, self.J, self.m.gravity)
        for spring in self.m.springs:
            add_spring(f, spring, *(self._end(s, A, b) for b in (spring.i, spring.j)), self.index)
        if self.cones or self.m.contacts or self.m.forces:
            self.add_actions(s, A, f)
        return f[1:]

    def add_actions(self, s: Floats, A: Floats, f: Floats) -> None:
        """Add limits, contacts and forces to f (bodies + 1, 6)."""
        r, v, w = (np.concatenate([np.zeros((1, 3)), s[:, k : k + 3]]) for k in (0, 7, 10))
        x = Poses(r, np.concatenate([np.eye(3)[None], A]), v, w, self.index)
        for limit, cone in zip(self.m.limits, self.cones, strict=True):
            add_limit(x, limit, cone, f)
        for contact in self.m.contacts:
            add_contact(x, contact, f)
        for force in self.m.forces:
            add_force(x, force, f)

    def _end(self, s: Floats, A: Floats, body: str) -> tuple[Floats, ...]:
        if body == GROUND:
            return np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3)
        k = self.index[body] - 1
        return s[k, :3], A[k], s[k, 7:10], s[k, 10:]

    def derivative(self, t: float, y: Floats) -> Floats:
        """Rates of a state."""
        self.evaluations += 1
        A, turn, scaled, _, _, gamma = self.geometry(t, y)
        x = scaled_forces(self.forces(t, y, A), self.mass, turn)
        if self.rows.count:
            x = x + self._least(scaled, gamma - scaled @ x)
        return state_rates(y.reshape(-1, 13), *self._unscaled(x, turn)).ravel()

    def project(self, t: float, y: Floats) -> Floats:
        """A state moved onto Phi = 0 and Phi' = 0."""
        y = y.copy()
        s = y.reshape(-1, 13)
        s[:, 3:7] /= np.linalg.norm(s[:, 3:7], axis=1)[:, None]
        if not self.rows.count:
            return y
        last = np.inf
        for _ in range(PROJECTIONS):
            _, turn, scaled, Phi, rate, _ = self.geometry(t, y)
            worst = np.abs(Phi).max()
            if worst < 1e-16 or worst > 0.3 * last:
                break
            last = worst
            y = displaced(y, *self._unscaled(-self._least(scaled, Phi), turn))
        _, turn, scaled, Phi, rate, _ = self.geometry(t, y)
        dv, dw = self._unscaled(-self._least(scaled, rate), turn)
        s = y.reshape(-1, 13)
        s[:, 7:10] += dv
        s[:, 10:] += dw
        return y

    def motion(self, times: Floats, tolerance: float, scale: Floats, longest: int = 2000) -> Floats:
        """States (n, 13 bodies) at the times, of which the first is the start; ``scale``: sizes of the entries of a state.

        Fewer times where more than ``longest`` steps would be needed.
        """
        if not self.rank:
            self.rank = self.find_rank(self.start())
        y = self.project(times[0], self.start())
        found, length, steps = [y], None, 0
        for begin, end in zip(times, times[1:], strict=False):
            solver = DOP853(
                self.derivative, begin, y, end, rtol=max(tolerance, 3e-14), atol=tolerance * scale,
                first_step=None if length is None else min(length, end - begin),
            )  # fmt: skip
            while solver.status == "running":
                solver.step()
                steps += 1
                if solver.status == "failed" or steps > longest or not np.isfinite(solver.y).all():
                    return np.array(found)
                if solver.status == "running":
                    length = solver.h_abs
                solver.y = self.project(solver.t, solver.y)
                solver.f = self.derivative(solver.t, solver.y)
            y = solver.y
            length = max(length or 0.0, solver.h_abs)
            found.append(y)
        return np.array(found)


def add_spring(f: Floats, spring, of_i, of_j, index) -> None:  # type: ignore[no-untyped-def]
    """Add the forces of a spring and damper to f (bodies + 1, 6)."""
    (r_i, A_i, v_i, w_i), (r_j, A_j, v_j, w_j) = of_i, of_j
    k, c, at, i, j = spring.stiffness, spring.damping, spring.values, index[spring.i], index[spring.j]
    if spring.kind == "guided_distance":
        s_i, s_j = A_i @ at["s_i"], A_j @ at["s_j"]
        d = r_j + s_j - r_i - s_i
        length = np.linalg.norm(d)
        n = d / length
        rate = n @ (v_j + np.cross(w_j, s_j) - v_i - np.cross(w_i, s_i))
        push = -(k * (length - spring.target) + c * rate) * n
        f[j, :3] += push
        f[i, :3] -= push
        f[j, 3:] += np.cross(s_j, push)
        f[i, 3:] -= np.cross(s_i, push)
        return
    h, a, b = A_i @ at["h_i"], A_i @ at["a_i"], A_j @ at["b_j"]
    angle = np.arctan2(h @ np.cross(a, b), a @ b - (a @ h) * (b @ h)) - spring.target
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    moment = -(k * angle + c * h @ (w_j - w_i)) * h
    f[j, 3:] += moment
    f[i, 3:] -= moment


def quaternion(A: Floats) -> Floats:
    """Euler parameters of a rotation matrix, scalar first."""
    K = np.array(
        [
            [A[0, 0] + A[1, 1] + A[2, 2], 0, 0, 0],
            [A[2, 1] - A[1, 2], A[0, 0] - A[1, 1] - A[2, 2], 0, 0],
            [A[0, 2] - A[2, 0], A[1, 0] + A[0, 1], A[1, 1] - A[0, 0] - A[2, 2], 0],
            [A[1, 0] - A[0, 1], A[2, 0] + A[0, 2], A[2, 1] + A[1, 2], A[2, 2] - A[0, 0] - A[1, 1]],
        ]
    )
    vectors: Floats = np.linalg.eigh(K)[1][:, -1]
    return vectors


@njit(cache=True)
def rotations(p):  # type: ignore[no-untyped-def]
    """Rotation matrices of Euler parameters of any length, (n, 3, 3)."""
    A = np.empty((len(p), 3, 3))
    for n in range(len(p)):
        length = np.sqrt(p[n, 0] ** 2 + p[n, 1] ** 2 + p[n, 2] ** 2 + p[n, 3] ** 2)
        e0, e1, e2, e3 = p[n, 0] / length, p[n, 1] / length, p[n, 2] / length, p[n, 3] / length
        A[n, 0] = e0 * e0 + e1 * e1 - e2 * e2 - e3 * e3, 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)
        A[n, 1] = 2 * (e1 * e2 + e0 * e3), e0 * e0 - e1 * e1 + e2 * e2 - e3 * e3, 2 * (e2 * e3 - e0 * e1)
        A[n, 2] = 2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), e0 * e0 - e1 * e1 - e2 * e2 + e3 * e3
    return A


@njit(cache=True)
def times(A, x):  # type: ignore[no-untyped-def]
    """The product of a matrix (3, 3) and a vector."""
    y = np.zeros(3)
    for a in range(3):
        for b in range(3):
            y[a] += A[a, b] * x[b]
    return y


@njit(cache=True)
def placed(s, root):  # type: ignore[no-untyped-def]
    """Rotation matrices, J^-1/2 from axes of the bodies to global ones; r, v, w; all with the ground first, of states (n, 13)."""
    n = len(s)
    A = np.zeros((n + 1, 3, 3))
    A[0, 0, 0] = A[0, 1, 1] = A[0, 2, 2] = 1.0
    A[1:] = rotations(s[:, 3:7])
    turn = np.zeros((n, 3, 3))
    r, v, w = np.zeros((n + 1, 3)), np.zeros((n + 1, 3)), np.zeros((n + 1, 3))
    for b in range(n):
        r[b + 1], v[b + 1], w[b + 1] = s[b, :3], s[b, 7:10], s[b, 10:]
        for c in range(3):
            turn[b, :, c] = times(A[b + 1], root[b, :, c])
    return A, turn, r, v, w


@njit(cache=True)
def scale_rows(D, mass, turn, Phi, rate, gamma):  # type: ignore[no-untyped-def]
    """Bring D on velocities to D on M^1/2 v, and each row to length 1; in place."""
    for m in range(len(D)):
        square = 0.0
        for b in range(len(mass)):
            row = D[m, b + 1]
            row[:3] /= np.sqrt(mass[b])
            row[3:] = times(turn[b].T, row[3:])
            square += np.sum(row**2)
        size = np.sqrt(square)
        if size > 0.0:
            D[m] /= size
            Phi[m] /= size
            rate[m] /= size
            gamma[m] /= size


@njit(cache=True)
def unscaled(u, mass, turn):  # type: ignore[no-untyped-def]
    """Velocities (n, 3), (n, 3) of M^1/2 v."""
    dv, dw = np.empty((len(u), 3)), np.empty((len(u), 3))
    for b in range(len(u)):
        dv[b], dw[b] = u[b, :3] / np.sqrt(mass[b]), times(turn[b], u[b, 3:])
    return dv, dw


@njit(cache=True)
def free_forces(s, A, mass, J, gravity):  # type: ignore[no-untyped-def]
    """Gravity and gyroscopic moments, (bodies + 1, 6)."""
    f = np.zeros((len(s) + 1, 6))
    for b in range(len(s)):
        f[b + 1, :3] = mass[b] * gravity
        w = times(A[b].T, s[b, 10:])
        h = times(J[b], w)
        local = np.array([w[2] * h[1] - w[1] * h[2], w[0] * h[2] - w[2] * h[0], w[1] * h[0] - w[0] * h[1]])
        f[b + 1, 3:] = times(A[b], local)
    return f


@njit(cache=True)
def scaled_forces(f, mass, turn):  # type: ignore[no-untyped-def]
    """M^-1/2 f, (6 n,)."""
    b = np.empty(6 * len(f))
    for k in range(len(f)):
        b[6 * k : 6 * k + 3] = f[k, :3] / np.sqrt(mass[k])
        b[6 * k + 3 : 6 * k + 6] = times(turn[k].T, f[k, 3:])
    return b


@njit(cache=True)
def state_rates(s, dv, dw):  # type: ignore[no-untyped-def]
    """Rates of states (n, 13); those of the Euler parameters at angular velocities in global axes."""
    to = np.empty_like(s)
    for b in range(len(s)):
        to[b, :3], to[b, 7:10], to[b, 10:] = s[b, 7:10], dv[b], dw[b]
        e0, e1, e2, e3 = s[b, 3], s[b, 4], s[b, 5], s[b, 6]
        x, y, z = s[b, 10], s[b, 11], s[b, 12]
        to[b, 3] = -0.5 * (e1 * x + e2 * y + e3 * z)
        to[b, 4] = 0.5 * (e0 * x + y * e3 - z * e2)
        to[b, 5] = 0.5 * (e0 * y + z * e1 - x * e3)
        to[b, 6] = 0.5 * (e0 * z + x * e2 - y * e1)
    return to


def displaced(y: Floats, dr: Floats, turn: Floats) -> Floats:
    """A state moved by translations and rotation vectors, (n, 3) each."""
    y = y.copy()
    s = y.reshape(-1, 13)
    s[:, :3] += dr
    angle = np.linalg.norm(turn, axis=1)[:, None]
    sine = np.sinc(angle / (2 * np.pi)) * 0.5 * turn
    c = np.cos(angle / 2)
    e0, e = s[:, 3:4].copy(), s[:, 4:7].copy()
    s[:, 3:4] = c * e0 - np.einsum("na,na->n", sine, e)[:, None]
    s[:, 4:7] = c * e + e0 * sine + cross(sine, e)
    return y
