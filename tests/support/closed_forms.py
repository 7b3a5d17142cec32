"""Motions in closed form or in reduced coordinates: the free body, the four-bar, the double pendulum."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj

from tests.support.quadrature import quadrature
from tests.support.vectors import about

g = 9.81
X, Y, Z = np.eye(3)

MOMENTS = np.array([0.02, 0.05, 0.06])


class EulerTop:
    """Torque-free asymmetric body, I1 < I2 < I3, from its largest and smallest rates (Landau and Lifshitz, section 37).

    ``near_largest``: the angular momentum circles the axis 3 (L^2 > 2 E I2), else the axis 1.
    """

    def __init__(self, energy, momentum):
        I1, I2, I3 = MOMENTS
        E, L2 = energy, momentum**2
        self.near_largest = L2 > 2 * E * I2
        self.amplitude = np.sqrt(
            [(2 * E * I3 - L2) / (I1 * (I3 - I1)), 0.0, (L2 - 2 * E * I1) / (I3 * (I3 - I1))]
        )  # fmt: skip
        if self.near_largest:
            self.amplitude[1] = np.sqrt((2 * E * I3 - L2) / (I2 * (I3 - I2)))
            self.rate = np.sqrt((I3 - I2) * (L2 - 2 * E * I1) / (I1 * I2 * I3))
            self.m = (I2 - I1) * (2 * E * I3 - L2) / ((I3 - I2) * (L2 - 2 * E * I1))
        else:
            self.amplitude[1] = np.sqrt((L2 - 2 * E * I1) / (I2 * (I2 - I1)))
            self.rate = np.sqrt((I2 - I1) * (2 * E * I3 - L2) / (I1 * I2 * I3))
            self.m = (I3 - I2) * (L2 - 2 * E * I1) / ((I2 - I1) * (2 * E * I3 - L2))

    def omega(self, phase):
        """Components in body axes at a phase, (n, 3)."""
        sn, cn, dn, _ = ellipj(phase, self.m)
        first, third = (cn, dn) if self.near_largest else (dn, cn)
        return np.stack([self.amplitude[0] * first, self.amplitude[1] * sn, self.amplitude[2] * third], axis=-1)

    def attitude(self, t, phase):
        """Rotation matrices (n, 3, 3) at times t from 0 on, the unit matrix at first: precession about H by quadrature."""

        def momentum(time):
            return MOMENTS * self.omega(self.rate * time + phase)

        def precession(time):
            h = momentum(time)
            return np.linalg.norm(h) * (h[0] ** 2 / MOMENTS[0] + h[1] ** 2 / MOMENTS[1]) / (h[0] ** 2 + h[1] ** 2)

        h = momentum(t)
        nutation, spin = np.arccos(h[:, 2] / np.linalg.norm(h, axis=1)), np.arctan2(h[:, 0], h[:, 1])
        angles = zip(quadrature(precession, t), nutation, spin, strict=True)
        found = np.array([about(Z, a) @ about(X, b) @ about(Z, c) for a, b, c in angles])
        return found[0].T @ found


def top(ratio, energy=0.3):
    """The body whose L^2 is ``ratio`` times that of the separatrix."""
    return EulerTop(energy, np.sqrt(2 * energy * MOMENTS[1] * ratio))


CRANK, COUPLER, ROCKER, FRAME, DENSITY = 0.2, 0.5, 0.4, 0.5, 2.0


class FourBar:
    """Angles of coupler and rocker from that of the crank, from x towards z, by the law of cosines."""

    def __init__(self, crank=CRANK, coupler=COUPLER, rocker=ROCKER):
        self.crank, self.coupler, self.rocker = crank, coupler, rocker

    def angles(self, crank):
        """(coupler, rocker)."""
        bx, bz = self.crank * np.cos(crank), self.crank * np.sin(crank)
        reach = np.hypot(FRAME - bx, -bz)
        slope = np.arctan2(-bz, FRAME - bx)
        coupler = slope + np.arccos((self.coupler**2 + reach**2 - self.rocker**2) / (2 * self.coupler * reach))
        rocker = np.pi + slope - np.arccos((self.rocker**2 + reach**2 - self.coupler**2) / (2 * self.rocker * reach))
        return coupler, rocker

    def rates(self, crank):
        """Their derivatives by the crank's angle: the velocity loop."""
        coupler, rocker = self.angles(crank)
        return (
            self.crank * np.sin(crank - rocker) / (self.coupler * np.sin(rocker - coupler)),
            self.crank * np.sin(crank - coupler) / (self.rocker * np.sin(rocker - coupler)),
        )

    def centres(self, crank):
        coupler, rocker = self.angles(crank)
        b = self.crank * np.array([np.cos(crank), np.sin(crank)])
        c = b + self.coupler * np.array([np.cos(coupler), np.sin(coupler)])
        return {"crank": b / 2, "coupler": (b + c) / 2, "rocker": (c + [FRAME, 0.0]) / 2}

    def thrown(self, system, crank, speed):
        """The state of the system with this rate of the crank; the centres by the derivative of their places."""
        rates = dict(zip(("crank", "coupler", "rocker"), (1.0, *self.rates(crank)), strict=True))
        coupler, rocker = self.angles(crank)
        b = self.crank * speed * np.array([-np.sin(crank), np.cos(crank)])
        c = self.rocker * speed * rates["rocker"] * np.array([-np.sin(rocker), np.cos(rocker)])
        v = {"crank": b / 2, "coupler": (b + c) / 2, "rocker": c / 2}
        return system.state.replace(
            v={name: (x, 0.0, z) for name, (x, z) in v.items()},
            omega={name: (0.0, -speed * rate, 0.0) for name, rate in rates.items()},
        )

    def inertia_and_height(self, crank):
        """Twice the kinetic energy for the rate 1, and the potential energy."""
        coupler, rocker = self.angles(crank)
        d_coupler, d_rocker = self.rates(crank)
        about_end = DENSITY * np.array([self.crank, self.rocker]) ** 3 / 3
        velocity = self.crank * np.array([-np.sin(crank), np.cos(crank)]) + self.coupler / 2 * d_coupler * np.array(
            [-np.sin(coupler), np.cos(coupler)]
        )
        mass = DENSITY * self.coupler
        inertia = about_end[0] + about_end[1] * d_rocker**2
        inertia += mass * (velocity @ velocity) + mass * self.coupler**2 / 12 * d_coupler**2
        height = sum(
            DENSITY * length * self.centres(crank)[name][1]
            for name, length in (("crank", self.crank), ("coupler", self.coupler), ("rocker", self.rocker))
        )
        return inertia, g * height


def reduced_double_pendulum(t, lengths, masses, omega):
    """Two rods on ball joints in their rotation matrices and angular velocities: Kane's equations, no multipliers."""
    points, inertias = [], []
    for length, mass, along in zip(lengths, masses, (0, 1), strict=True):
        radius = length / 30
        moments = [mass * (length**2 + 3 * radius**2) / 12] * 3
        moments[along] = mass * radius**2 / 2
        points.append(length * np.eye(3)[along])
        inertias.append(np.diag(moments))

    def skew(x):
        return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])

    def rhs(_, y):
        A, w = y[:18].reshape(2, 3, 3), y[18:].reshape(2, 3)
        M, f = np.zeros((6, 6)), np.zeros(6)
        base, base_bias = np.zeros((3, 6)), np.zeros(3)
        for k in range(2):
            arm = A[k] @ points[k]
            turn = np.zeros((3, 6))
            turn[:, 3 * k : 3 * k + 3] = np.eye(3)
            J = base - skew(arm / 2) @ turn
            bias = base_bias + np.cross(w[k], np.cross(w[k], arm / 2))
            inertia = A[k] @ inertias[k] @ A[k].T
            M += masses[k] * J.T @ J + turn.T @ inertia @ turn
            f += masses[k] * J.T @ (-g * Z - bias) - turn.T @ np.cross(w[k], inertia @ w[k])
            base, base_bias = base - skew(arm) @ turn, base_bias + np.cross(w[k], np.cross(w[k], arm))
        A_dot = np.stack([skew(w[k]) @ A[k] for k in range(2)])
        return np.concatenate([A_dot.ravel(), np.linalg.solve(M, f)])

    start = np.concatenate([np.eye(3).ravel(), np.eye(3).ravel(), omega, omega])
    y = solve_ivp(rhs, (0.0, t[-1]), start, "DOP853", t_eval=t, rtol=1e-13, atol=1e-13).y.T
    A, w = y[:, :18].reshape(-1, 2, 3, 3), y[:, 18:].reshape(-1, 2, 3)
    elbow = A[:, 0] @ points[0]
    return {"upper": elbow / 2, "lower": elbow + A[:, 1] @ points[1] / 2}, {"upper": w[:, 0], "lower": w[:, 1]}
