"""Two bodies on analytic curves in time, and derivatives by Cauchy's integral."""

import cmath
from math import factorial

import numpy as np

from tests.support.vectors import skew, unit


def derivatives(f, order, radius=0.08, points=24):
    """Value and derivatives at t = 0 of a real analytic function of time, from its values on a circle."""
    half = [f(radius * cmath.exp(2j * np.pi * k / points)) for k in range(points // 2 + 1)]
    values = np.array([*half, *(np.conj(v) for v in half[-2:0:-1])])
    coefficients = np.fft.fft(values, axis=0) / points
    return [coefficients[k].real * factorial(k) / radius**k for k in range(order + 1)]


def polynomial(coefficients, t, order=0):
    """Value (0) or derivative of sum c_k t^k."""
    for _ in range(order):
        coefficients = [k * c for k, c in enumerate(coefficients)][1:]
    return sum(c * t**k for k, c in enumerate(coefficients))


def G(p):
    """omega = 2 G p', the matrix of the papers."""
    return np.hstack([-p[1:, None], skew(p[1:]) + p[0] * np.eye(3)])


def rotation_matrix(q):
    """Rotation by Euler parameters of any length, real or complex (no conjugation: it must stay analytic)."""
    e = skew(q[1:])
    return np.eye(3) + 2 * (q[0] * e + e @ e) / (q @ q)


def turned(p, w):
    """Euler parameters after a turn by the rotation vector w (of small length, first order and normalised)."""
    return unit(p + G(p).T @ w / 2)


class Motion:
    """Two bodies on analytic curves: polynomials r(t) and q(t), with p = q / |q|."""

    def __init__(self, rng):
        self.r = {body: rng.normal(size=(4, 3)) for body in "ij"}
        self.q = {}
        for body in "ij":
            self.q[body] = 0.4 * rng.normal(size=(3, 4))
            self.q[body][0] = unit(rng.normal(size=4))

    @classmethod
    def through(cls, states, rng):
        """A motion whose states at t = 0 are given; its accelerations are arbitrary."""
        motion = cls(rng)
        for body, state in zip("ij", states, strict=True):
            motion.r[body][:2] = state[0:3], state[7:10]
            motion.q[body][:2] = state[3:7], G(state[3:7]).T @ state[10:13] / 2
        return motion

    def A(self, body, t):
        return rotation_matrix(polynomial(self.q[body], t))

    def omega(self, body, t):
        q = polynomial(self.q[body], t)
        return 2 * G(q) @ polynomial(self.q[body], t, 1) / (q @ q)

    def state(self, body, t=0.0):
        q = polynomial(self.q[body], t)
        p = q / (cmath.sqrt(q @ q) if isinstance(t, complex) else np.sqrt(q @ q))
        r = self.r[body]
        return np.concatenate([polynomial(r, t), p, polynomial(r, t, 1), self.omega(body, t)])

    def states(self, t=0.0):
        return self.state("i", t), self.state("j", t)

    def velocity(self):
        """v_i omega_i v_j omega_j at t = 0."""
        return np.concatenate([self.state(body)[7:] for body in "ij"])

    def acceleration(self):
        """Their time derivatives at t = 0."""
        return np.concatenate([derivatives(lambda t, b=body: self.state(b, t)[7:], 1)[1] for body in "ij"])


def distance(a, b):
    """Largest difference, relative to the largest of 1 and b; infinite where a is not finite."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or not np.isfinite(a).all():
        return np.inf
    return float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(b).max(initial=0.0)))
