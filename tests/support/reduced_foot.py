"""The foot in two angles: another route to its motion than bodies, joints and multipliers.

The foot turns by ``q2`` about the talocalcaneal axis with respect to the talus, and the massless talus turns by ``q1``
about the talocrural axis with respect to the leg, which stands still; the metatarsophalangeal joint is locked.  Main
foot and toes are each six point masses with the body's mass, centre and moments of inertia, so that no inertia tensor,
angular velocity or gyroscopic torque is needed, only positions r_k(q1, q2) and d'Alembert's principle:

    sum m_k dr_k/dq . (r_k'' - g) = 0

The data are typed here again, from Rodrigues da Silva et al. (2024c), Tables 1 to 4, and (2024a), Eqs. (5) to (8).
"""

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from tests.support.vectors import about, skew

GRAVITY = np.array([0.0, 0.0, -9.81])
TOES = dict(r=(0.2177, 0.0, 0.0367), mass=0.2051, moments=(0.0001003, 0.0001003, 0.0002006))
MAIN_FOOT = dict(r=(0.0907, 0.0, 0.0562), mass=1.2, moments=(0.0013818, 0.0038337, 0.0037110))
LEG = dict(r=(0.0544, 0.0, 0.3513), mass=3.51, moments=(0.0477209, 0.0483791, 0.0048000))
MOVING = {"toes": TOES, "main_foot": MAIN_FOOT}
LINK_LENGTH = 0.0417
TALOCRURAL = np.array([0.0544, 0.0, 0.3513 - 0.2438])
RHO, THETA, EPSILON, TAU = np.radians([19.8, 35.3, 6.0, 8.0])
THETA_RE = np.arctan2(np.sin(THETA) * np.cos(RHO), np.cos(THETA))
TAU_RE = np.arctan2(np.sin(TAU) * np.cos(EPSILON), np.cos(TAU))
TALOCALCANEAL_AXIS = np.array([np.cos(RHO) * np.cos(THETA_RE), np.sin(RHO) * np.cos(THETA_RE), np.sin(THETA_RE)])
TALOCRURAL_AXIS = np.array([np.sin(EPSILON) * np.cos(TAU_RE), np.cos(EPSILON) * np.cos(TAU_RE), np.sin(TAU_RE)])


def point_masses(mass, moments):
    """Six equal masses on the principal axes that move like the body: mass (6,), places (6, 3) from the centre."""
    squares = (sum(moments) / 2 - np.array(moments)) / mass  # mean squares of xi, eta, zeta
    reach = np.sqrt(3.0 * np.maximum(squares, 0.0))
    return np.full(6, mass / 6), np.vstack([np.diag(reach), -np.diag(reach)])


@dataclass(frozen=True)
class Motion:
    """Of one body, all (n, 3): centre of mass, velocities, accelerations, and what moves it against gravity."""

    r: np.ndarray
    v: np.ndarray
    omega: np.ndarray
    v_dot: np.ndarray
    omega_dot: np.ndarray
    force: np.ndarray
    moment: np.ndarray  # about the talocrural point


class ReducedFoot:
    """Equations of motion in (q1, q2, q1', q2') for one length of the talus; 0 is the classical joint."""

    def __init__(self, link_length, axes=(TALOCRURAL_AXIS, TALOCALCANEAL_AXIS)):
        self.axes = axes
        self.link = np.array([0.0, 0.0, -link_length])
        masses, points = [], []
        for body in MOVING.values():
            m, c = point_masses(body["mass"], body["moments"])
            masses.append(m)
            points.append(np.array(body["r"]) + c - TALOCRURAL - self.link)
        self.m, self.c = np.concatenate(masses), np.concatenate(points).T  # c from the talocalcaneal point
        self.first, self.second = map(skew, axes)

    def _derivatives(self, q1, q2, c, link):
        """x = R1 (link + R2 c) and its derivatives (x, x1, x2, x11, x12, x22) by the angles; each (3, points)."""
        talus, foot = about(self.axes[0], q1), about(self.axes[1], q2) @ c
        A, S = self.first, self.second
        x = talus @ (link[:, None] + foot)
        S_foot = S @ foot
        x2 = talus @ S_foot
        x1 = A @ x
        return x, x1, x2, A @ x1, A @ x2, talus @ (S @ S_foot)

    def _equations(self, q1, q2, u1, u2):
        x, x1, x2, x11, x12, x22 = self._derivatives(q1, q2, self.c, self.link)
        along = np.stack([x1, x2]).reshape(2, -1)
        weighted = (along.reshape(2, 3, -1) * self.m).reshape(2, -1)
        bias = x11 * (u1 * u1) + x12 * (2 * u1 * u2) + x22 * (u2 * u2)
        return x, weighted @ along.T, weighted @ (GRAVITY[:, None] - bias).ravel()

    def accelerations(self, q1, q2, u1, u2):
        """q1'' and q2''."""
        _, M, f = self._equations(q1, q2, u1, u2)
        determinant = M[0, 0] * M[1, 1] - M[0, 1] * M[1, 0]
        return (M[1, 1] * f[0] - M[0, 1] * f[1]) / determinant, (M[0, 0] * f[1] - M[1, 0] * f[0]) / determinant

    def solve(self, t, rates=(0.0, 0.0), *, method="DOP853", tolerance=5e-14):
        """Angles and rates at the times t, (n, 4), from the neutral pose."""

        def rhs(_, y):
            return (y[2], y[3], *self.accelerations(*y))

        solution = solve_ivp(
            rhs, (0.0, t[-1]), [0.0, 0.0, *rates], method, t_eval=t, rtol=tolerance, atol=tolerance
        )  # fmt: skip
        assert solution.success, solution.message
        return solution.y.T

    def energy(self, y):
        """Kinetic and potential energy of main foot and toes, (n,)."""
        values = []
        for q1, q2, u1, u2 in y:
            x, M, _ = self._equations(q1, q2, u1, u2)
            u = np.array([u1, u2])
            values.append(0.5 * u @ M @ u - self.m @ (GRAVITY @ (TALOCRURAL[:, None] + x)))
        return np.array(values)

    def bodies(self, y):
        """The motion of ``main_foot`` and ``toes`` along angles and rates (n, 4)."""
        return {name: Motion(*map(np.array, zip(*(self._motion(name, *s) for s in y), strict=True))) for name in MOVING}

    def _motion(self, name, q1, q2, u1, u2):
        w1, w2 = self.accelerations(q1, q2, u1, u2)

        def along(c, link):
            x, x1, x2, x11, x12, x22 = self._derivatives(q1, q2, c, link)
            return x, x1 * u1 + x2 * u2, x1 * w1 + x2 * w2 + x11 * u1**2 + 2 * x12 * u1 * u2 + x22 * u2**2

        body = MOVING[name]
        centre = np.array(body["r"]) - TALOCRURAL - self.link
        m, c = point_masses(body["mass"], body["moments"])
        r, v, v_dot = (x[:, 0] for x in along(centre[:, None], self.link))
        # R' R^T is the skew matrix of omega; the skew part of R'' R^T is that of omega'.
        R, R_dot, R_ddot = along(np.eye(3), np.zeros(3))
        omega, omega_dot = _axial(R_dot @ R.T), _axial(R_ddot @ R.T)
        x, _, x_ddot = along((centre + c).T, self.link)
        pushes = m * (x_ddot - GRAVITY[:, None])
        return TALOCRURAL + r, v, omega, v_dot, omega_dot, pushes.sum(axis=1), np.cross(x, pushes, axis=0).sum(axis=1)


def _axial(W):
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
