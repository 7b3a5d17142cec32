"""The foot and the chain by the papers' method: absolute coordinates, multipliers from a dense system, NumPy, SciPy's BDF.

The method of Rodrigues da Silva et al. (2024a), whose integrator ode15s is of the BDF family.

The leg, which the paper fixes to the ground by a joint, is left out; the toes are fixed to the foot by six rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.peers.interface import JOINTS, Chain, Chained, Floats, Foot, Prepared, Repeated

NAME, DISTRIBUTION, METHOD, INPUT = "the papers' method", "scipy", "NumPy, SciPy's BDF", JOINTS
KNOB, LADDER, SHOWN = "tolerance", [10.0 ** (-k / 5) for k in range(15, 61)], [10.0**-k for k in range(3, 12)]
ALPHA = BETA = 5.0  # Baumgarte's coefficients, as in the papers
MAX_LINKS, REASON = 300, "its dense matrix has (9 N)^2 entries"
GROUND = -1


def _cross(a: Floats, b: Floats) -> Floats:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _skew(a: Floats) -> Floats:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


@dataclass(frozen=True)
class Pose:
    """A body, or the ground, at one moment."""

    r: Floats
    A: Floats
    v: Floats
    omega: Floats


STILL = Pose(np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3))
# Violation, its rate, gamma, and the coefficients of both bodies' (v, omega), (rows, 6) each.
Rows = tuple[Floats, Floats, Floats, Floats, Floats]
Joint = tuple[int, int, Callable[[Pose, Pose], Rows]]


def same_point(s_i: Floats, s_j: Floats) -> Callable[[Pose, Pose], Rows]:
    """Two points coincide."""

    def rows(i: Pose, j: Pose) -> Rows:
        a, b = i.A @ s_i, j.A @ s_j
        va, vb = _cross(i.omega, a), _cross(j.omega, b)
        D_i, D_j = np.hstack([-np.eye(3), _skew(a)]), np.hstack([np.eye(3), -_skew(b)])
        return j.r + b - i.r - a, j.v + vb - i.v - va, _cross(i.omega, va) - _cross(j.omega, vb), D_i, D_j

    return rows


def same_angle(a_i: Floats, a_j: Floats) -> Callable[[Pose, Pose], Rows]:
    """Two directions keep their angle."""
    held = a_i @ a_j

    def rows(i: Pose, j: Pose) -> Rows:
        a, b = i.A @ a_i, j.A @ a_j
        n, w = _cross(a, b), i.omega - j.omega
        n_dot = _cross(_cross(i.omega, a), b) + _cross(a, _cross(j.omega, b))
        D = np.concatenate([np.zeros(3), n])[None]
        return np.array([a @ b - held]), np.array([w @ n]), np.array([-w @ n_dot]), D, -D

    return rows


def link(s_i: Floats, a_i: Floats, s_j: Floats, a_j: Floats, length: float) -> Callable[[Pose, Pose], Rows]:
    """The modified universal joint without its angle between the axes: length of the link, its angle with either axis."""
    held = None

    def rows(i: Pose, j: Pose) -> Rows:
        nonlocal held
        s, t, a, b = i.A @ s_i, j.A @ s_j, i.A @ a_i, j.A @ a_j
        d = j.r + t - i.r - s
        vs, vt, va, vb = _cross(i.omega, s), _cross(j.omega, t), _cross(i.omega, a), _cross(j.omega, b)
        d_dot = j.v + vt - i.v - vs
        rest = _cross(j.omega, vt) - _cross(i.omega, vs)  # of the second derivative of d, without accelerations
        if held is None:
            held = np.array([length**2, a @ d, b @ d])
        Phi = np.array([d @ d, a @ d, b @ d]) - held
        Phi_dot = np.array([2.0 * d @ d_dot, va @ d + a @ d_dot, vb @ d + b @ d_dot])
        gamma = -np.array([
            2.0 * (d_dot @ d_dot + d @ rest), _cross(i.omega, va) @ d + 2.0 * va @ d_dot + a @ rest,
            _cross(j.omega, vb) @ d + 2.0 * vb @ d_dot + b @ rest,
        ])  # fmt: skip
        along = (2.0 * d, a, b)
        D_i = np.array([np.concatenate([-e, -_cross(s, e)]) for e in along])
        D_j = np.array([np.concatenate([e, _cross(t, e)]) for e in along])
        D_i[1, 3:] += _cross(a, d)
        D_j[2, 3:] += _cross(b, d)
        return Phi, Phi_dot, gamma, D_i, D_j

    return rows


class Model:
    """Bodies and joints; the derivative of their state, of r, p, v and omega of each body."""

    def __init__(self, mass: list[float], inertia: list[Floats], gravity: list[float], joints: list[Joint]) -> None:
        self.mass, self.inertia, self.gravity, self.joints = mass, inertia, np.array(gravity), joints

    def derivative(self, t: float, y: Floats) -> Floats:
        """Of the state (13 N,)."""
        N = len(self.mass)
        poses, M, g = [], np.zeros((6 * N, 6 * N)), np.empty(6 * N)
        out = np.empty_like(y).reshape(N, 13)
        for k, (r, p, v, omega) in enumerate((x[:3], x[3:7], x[7:10], x[10:]) for x in y.reshape(N, 13)):
            e0, e = p[0], p[1:]
            tilde = _skew(e)
            A = (2.0 * e0**2 - 1.0) * np.eye(3) + 2.0 * (np.outer(e, e) + e0 * tilde)
            J = A @ self.inertia[k] @ A.T
            poses.append(Pose(r, A, v, omega))
            M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = self.mass[k] * np.eye(3)
            M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = J
            g[6 * k : 6 * k + 3], g[6 * k + 3 : 6 * k + 6] = self.mass[k] * self.gravity, -_cross(omega, J @ omega)
            out[k, :3], out[k, 3], out[k, 4:7] = v, -0.5 * e @ omega, 0.5 * (e0 * omega - tilde @ omega)
        found = [
            (i, j, rows(STILL if i == GROUND else poses[i], STILL if j == GROUND else poses[j])) for i, j, rows in self.joints
        ]  # fmt: skip
        m = sum(len(rows[0]) for _, _, rows in found)
        full = np.zeros((6 * N + m, 6 * N + m))
        full[: 6 * N, : 6 * N] = M
        right, at = np.concatenate([g, np.empty(m)]), 6 * N
        for i, j, (Phi, Phi_dot, gamma, D_i, D_j) in found:
            end = at + len(Phi)
            for body, D in ((i, D_i), (j, D_j)):
                if body != GROUND:
                    full[at:end, 6 * body : 6 * body + 6] = D
                    full[6 * body : 6 * body + 6, at:end] = D.T
            right[at:end] = gamma - 2.0 * ALPHA * Phi_dot - BETA**2 * Phi
            at = end
        out[:, 7:] = np.linalg.solve(full, right)[: 6 * N].reshape(N, 6)
        return out.ravel()


def _start(places: list[Floats]) -> Floats:
    state = np.zeros((len(places), 13))
    state[:, :3], state[:, 3] = places, 1.0
    return state.ravel()


def _foot(foot: Foot) -> tuple[Model, Floats]:
    parts = (foot.main_foot, foot.toes)
    r, toes = np.array(foot.main_foot.r), np.array(foot.toes.r)
    P, Q, a, b = (
        np.array(x) for x in (foot.talocrural, foot.talocalcaneal, foot.talocalcaneal_axis, foot.talocrural_axis)
    )
    x, y, z = np.eye(3)
    joints: list[Joint] = [
        (0, GROUND, link(Q - r, a, P, b, float(np.linalg.norm(P - Q)))),
        (0, GROUND, same_angle(a, b)),
        (0, 1, same_point(toes - r, np.zeros(3))),
        *((0, 1, same_angle(*pair)) for pair in ((x, y), (y, z), (z, x))),
    ]
    model = Model([part.mass for part in parts], [np.diag(part.inertia) for part in parts], foot.gravity, joints)
    return model, _start([r, toes])


def prepare(foot: Foot, end: float, setting: float, outputs: int) -> Prepared:
    """With step control."""
    model, start = _foot(foot)
    evaluations = 0

    def solve() -> tuple[Floats, Floats]:
        nonlocal evaluations
        found = solve_ivp(model.derivative, (0.0, end), start, method="BDF", rtol=setting, atol=setting)
        evaluations = found.nfev
        return found.t, found.y[:3].T

    return Prepared(solve, solve, lambda: evaluations)


def evaluation(foot: Foot) -> Repeated:
    """The derivative in NumPy."""
    return _repeated(*_foot(foot), 200)


def _repeated(model: Model, start: Floats, times: int) -> Repeated:
    def job() -> None:
        for _ in range(times):
            model.derivative(0.0, start)

    return Repeated(job, times)


def chain(chain: Chain) -> Chained:
    """Chain on spherical joints, each of three rows."""
    half = np.array([chain.length / 2, 0.0, 0.0])
    joints: list[Joint] = [
        (n - 1 if n else GROUND, n, same_point(half if n else np.zeros(3), -half)) for n in range(chain.links)
    ]
    model = Model([chain.mass] * chain.links, [np.diag(chain.inertia)] * chain.links, chain.gravity, joints)
    start = _start([(2 * n + 1) * half for n in range(chain.links)])
    angular_accelerations = model.derivative(0.0, start).reshape(-1, 13)[:, 11]
    return Chained(_repeated(model, start, max(1, 100 // chain.links)), angular_accelerations)
