"""Joint limits for the independent reference: two hinge limits or one cone on the foot, one cone on a pendulum.

Signs, from geometry (x anterior, y medial for the right foot, z up): ``q1`` turns about the talocrural axis, which
points mostly medially, so q1 > 0 turns the toes down (plantarflexion); ``q2`` turns about the talocalcaneal axis, which
points mostly forward, so q2 > 0 raises the medial border (inversion).  The signed hinge angles are therefore

    talocrural = -q1 (dorsiflexion positive),    talocalcaneal = q2 (inversion positive)

A cone is a closed curve (x, y)(s), counter-clockwise in the top view of a frame xi, eta, zeta, where the direction of
latitude sigma and longitude psi lies at x = sigma cos psi, y = sigma sin psi.  The closest direction on it is found by
brute force over samples of s and a root of the slope; nothing here is taken from the product.

Years stand for Rodrigues da Silva et al.: (2024b) methodology, (2024c) application to the ankle.
"""

from dataclasses import dataclass
from math import atan2, cos, hypot, pi, sin, sqrt

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from tests.support.reduced_foot import EPSILON, TALOCALCANEAL_AXIS, TALOCRURAL_AXIS, TAU_RE, ReducedFoot
from tests.support.vectors import about

ANATOMICAL = dict(talocrural=(20.0, 35.0), talocalcaneal=(35.0, 25.0))  # degrees: positive side, negative side
PUBLISHED = dict(talocrural=(20.0, 35.0), talocalcaneal=(25.0, 35.0))  # as printed in (2024c), against its own text
ANKLE_DAMPING = 0.568  # N m s; published: on omega_rel of the classical joint, half of it on each hinge of the modified
# The one cone that gives the published classical joint: in TALOCRURAL_FRAME, for u = DOWN (not zeta) in the main foot.
DOWN = np.array([0.0, 0.0, -1.0])
PUBLISHED_CONE = (20.0, 35.0, 35.0, 25.0)  # inferred; longitude 90: eversion, 180: plantarflexion, 270: inversion

TALOCRURAL_FRAME = np.array(  # xi, eta, zeta of (2024c), section 4, fixed in the leg
    [
        [np.cos(EPSILON), -np.sin(EPSILON), 0.0],
        -TALOCRURAL_AXIS,
        [np.sin(EPSILON) * np.sin(TAU_RE), np.cos(EPSILON) * np.sin(TAU_RE), -np.cos(TAU_RE)],
    ]
)
TALOCALCANEAL_FRAME = np.array(  # fixed in the main foot; the leg is the moving body
    [TALOCALCANEAL_AXIS, np.cross([0.0, 0.0, 1.0], TALOCALCANEAL_AXIS), np.zeros(3)]
)
TALOCALCANEAL_FRAME[1] /= np.linalg.norm(TALOCALCANEAL_FRAME[1])
TALOCALCANEAL_FRAME[2] = np.cross(*TALOCALCANEAL_FRAME[:2])


@dataclass(frozen=True)
class Stop:
    """The moment law m_p P(excess / compliance) and its potential; P(x) = 3 x^2 - 2 x^3, 0 below 0 and 1 above 1."""

    max_moment: float = 226.0  # m_p [N m]
    compliance: float = np.radians(11.5)  # Delta sigma

    def moment(self, excess):
        x = min(max(excess / self.compliance, 0.0), 1.0)
        return self.max_moment * x * x * (3.0 - 2.0 * x)

    def kinks(self, excess):
        """Change their signs where the moment is not smooth."""
        return excess, excess - self.compliance

    def potential(self, excess):
        x = max(excess / self.compliance, 0.0)
        return self.max_moment * self.compliance * (x**3 - x**4 / 2.0 if x < 1.0 else x - 0.5)


BLIND = 1e-7  # [s] in which the kink just met is not looked for again


def integrate(rhs, y, t, kinks, tolerance):
    """States at the increasing times t, (n, states): DOP853, restarted wherever one of ``kinks(y)`` changes its sign.

    Between kinks the right-hand side is smooth.  A piece ends with a step onto its end, not with an interpolation.
    """
    options = dict(method="DOP853", rtol=tolerance, atol=tolerance)
    out = np.empty((len(t), len(y)))
    out[0] = y
    events = [lambda _, y, i=i: kinks(y)[i] for i in range(len(kinks(y)))]
    for event in events:
        event.terminal = True

    def piece(start, stop, y, events=None):
        solution = solve_ivp(rhs, (start, stop), y, events=events, dense_output=True, **options)
        assert solution.success, solution.message
        done = (t > start) & (t <= solution.t[-1])
        if done.any():
            out[done] = solution.sol(t[done]).T
        if solution.status == 0:
            return stop, solution.y[:, -1]
        before, stop = solution.t[-2:]
        return stop, solve_ivp(rhs, (before, stop), solution.y[:, -2], **options).y[:, -1]

    now = t[0]
    while now < t[-1]:
        now, y = piece(now, min(now + BLIND, t[-1]), y)
        if now < t[-1]:
            now, y = piece(now, t[-1], y, events)
    return out


# --- cones ---------------------------------------------------------------------------------------------------------


class Cone:
    """A closed curve in the top view; ``curve(s)`` gives x, y, dx/ds, dy/ds and repeats after the period."""

    def __init__(self, curve, period, samples=720):
        self.curve, self.step = curve, period / samples
        self.s = np.arange(samples) * self.step
        self.samples = np.array([self.direction(s)[0] for s in self.s])
        self.always_inside = self.samples[:, 2].max()  # cosine of the smallest maximum latitude

    def direction(self, s):
        """Unit direction on the cone and its derivative by s, both in xi, eta, zeta."""
        x, y, dx, dy = self.curve(s)
        sigma = hypot(x, y)
        d_sigma = (x * dx + y * dy) / sigma
        k = sin(sigma) / sigma
        dk = (cos(sigma) - k) / sigma * d_sigma
        return (k * x, k * y, cos(sigma)), (dk * x + k * dx, dk * y + k * dy, -sin(sigma) * d_sigma)

    def closest(self, u):
        """Direction on the cone closest to u, and the unit normal of the cone there that points inside."""
        s = self.s[np.argmax(self.samples @ u)]

        def slope(s):
            _, d = self.direction(s)
            return u[0] * d[0] + u[1] * d[1] + u[2] * d[2]

        s = brentq(slope, s - self.step, s + self.step, xtol=1e-15, rtol=8.9e-16)
        t, d = self.direction(s)
        n = _cross(t, d)
        length = sqrt(n[0] ** 2 + n[1] ** 2 + n[2] ** 2)
        return t, (n[0] / length, n[1] / length, n[2] / length)

    def moment(self, u, stop, law="conservative"):
        """Excess (negative inside), unit axis and size of the moment on the body that carries the unit vector u."""
        if u[2] > self.always_inside + 1e-4:
            return -1.0, (0.0, 0.0, 0.0), 0.0
        t, n = self.closest(u)
        turning = _cross(u, t)
        sine = sqrt(turning[0] ** 2 + turning[1] ** 2 + turning[2] ** 2)
        delta = atan2(sine, u[0] * t[0] + u[1] * t[1] + u[2] * t[2])
        if u[0] * n[0] + u[1] * n[1] + u[2] * n[2] >= 0.0 or sine == 0.0:
            return -delta, (0.0, 0.0, 0.0), 0.0
        if law == "conservative":
            return delta, (turning[0] / sine, turning[1] / sine, turning[2] / sine), stop.moment(delta)
        xa, ya = top_view(u)  # (2024b), Eqs. (32)-(33): planar distance; u x n is shorter than 1
        xb, yb = top_view(t)
        return delta, _cross(u, n), stop.moment(hypot(xa - xb, ya - yb))


def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def top_view(u):
    """x, y of a direction in xi, eta, zeta."""
    side = hypot(u[0], u[1])
    k = atan2(side, u[2]) / side if side else 1.0
    return k * u[0], k * u[1]


def elliptical_cone(maxima):
    """Quarters of ellipses through the maximum latitudes [deg] at longitudes 0, 90, 180, 270; s: eccentric angle."""
    maxima = [float(v) for v in np.radians(maxima)]

    def curve(s):
        c, n = cos(s), sin(s)
        a, b = maxima[0 if c >= 0.0 else 2], maxima[1 if n >= 0.0 else 3]
        return a * c, b * n, -a * n, b * c

    return Cone(curve, 2.0 * pi)


def planar_spline_cone(longitudes, maxima):
    """Periodic cubic splines x(l), y(l) through the given points of the top view, (2024b), Eqs. (16)-(19); s: chords."""
    psi, sigma = np.radians(longitudes), np.radians(maxima)
    points = sigma[:, None] * np.stack([np.cos(psi), np.sin(psi)], axis=1)
    points[-1] = points[0]
    l = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    spline = CubicSpline(l, points, bc_type="periodic")
    slope = spline.derivative()
    return Cone(lambda s: (*map(float, spline(s)), *map(float, slope(s))), l[-1])


# --- the foot ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Viscous:
    """Damping [N m s]: of the rate of each hinge, and of the angular velocity of the foot relative to the leg."""

    hinges: tuple = (0.0, 0.0)
    relative: float = 0.0

    def forces(self, u1, u2):
        """Generalised forces on q1 and q2; omega_rel = q1' a1 + q2' a2, and a1 . a2 stays as it is."""
        c = TALOCRURAL_AXIS @ TALOCALCANEAL_AXIS
        along = u1 + c * u2, c * u1 + u2
        return np.array([-j * u - self.relative * a for j, u, a in zip(self.hinges, (u1, u2), along, strict=True)])


class HingeLimits:
    """One limit per hinge: maxima [deg] as (positive side, negative side) of the signed angle."""

    def __init__(self, talocrural, talocalcaneal, viscous=None, stop=None):
        self.maxima = np.radians([talocrural, talocalcaneal]).tolist()
        self.viscous, self.stop = viscous or Viscous(), stop or Stop()

    @staticmethod
    def angles(q1, q2):
        """Signed hinge angles: dorsiflexion and inversion positive."""
        return -q1, q2

    def excesses(self, q1, q2):
        """By how much each hinge is beyond its maximum, negative inside."""
        return [max(a - up, -a - down) for a, (up, down) in zip(self.angles(q1, q2), self.maxima, strict=True)]

    def restricting(self, q1, q2):
        """Moments on the signed angles; they lower the excess."""
        pairs = zip(self.angles(q1, q2), self.maxima, strict=True)
        return [self.stop.moment(-a - down) - self.stop.moment(a - up) for a, (up, down) in pairs]

    def kinks(self, q1, q2):
        return [k for excess in self.excesses(q1, q2) for k in self.stop.kinks(excess)]

    def forces(self, q1, q2, u1, u2):
        """Generalised forces on q1 and q2."""
        m1, m2 = self.restricting(q1, q2)
        return self.viscous.forces(u1, u2) + np.array([-m1, m2])

    def potential(self, q1, q2):
        return sum(map(self.stop.potential, self.excesses(q1, q2)))


class ConeLimit:
    """One cone between leg and main foot, which turn about one point.

    ``frame``: rows xi, eta, zeta, fixed in the leg; ``u``: unit vector fixed in the main foot, as at the neutral pose,
    by default zeta.
    """

    def __init__(self, cone, frame=TALOCRURAL_FRAME, u=None, viscous=None, stop=None, law="conservative"):
        self.cone, self.frame = cone, np.asarray(frame)
        self.u = self.frame[2] if u is None else np.asarray(u)
        self.viscous, self.stop, self.law = viscous or Viscous(), stop or Stop(), law

    def local(self, q1, q2):
        """u in xi, eta, zeta."""
        return self.frame @ (about(TALOCRURAL_AXIS, q1) @ (about(TALOCALCANEAL_AXIS, q2) @ self.u))

    def excess(self, q1, q2):
        return self.cone.moment(self.local(q1, q2), self.stop)[0]

    def kinks(self, q1, q2):
        u = self.local(q1, q2)
        return *self.stop.kinks(self.excess(q1, q2)), u[0], u[1]  # the curvature of an ellipse jumps between quarters

    def restricting(self, q1, q2):
        """Moment on the foot, global; on the leg the opposite."""
        _, axis, size = self.cone.moment(self.local(q1, q2).tolist(), self.stop, self.law)
        return size * (np.array(axis) @ self.frame)

    def forces(self, q1, q2, u1, u2):
        """Generalised forces on q1 and q2: the moment on the foot along the two hinge axes."""
        a1, a2 = TALOCRURAL_AXIS, about(TALOCRURAL_AXIS, q1) @ TALOCALCANEAL_AXIS
        m = self.restricting(q1, q2)
        return self.viscous.forces(u1, u2) + np.array([a1 @ m, a2 @ m])

    def potential(self, q1, q2):
        """Of the conservative law."""
        return self.stop.potential(self.excess(q1, q2))


class LimitedFoot(ReducedFoot):
    """The reduced foot with ``HingeLimits`` (any link length) or a ``ConeLimit`` (the classical joint, length 0)."""

    def __init__(self, link_length, limits):
        super().__init__(link_length)
        self.limits = limits

    def _equations(self, q1, q2, u1, u2):
        x, M, f = super()._equations(q1, q2, u1, u2)
        return x, M, f + self.limits.forces(q1, q2, u1, u2)

    def solve(self, t, rates=(0.0, 0.0), *, tolerance=3e-14):
        """Angles and rates at the times t, (n, 4), from the neutral pose."""

        def rhs(_, y):
            return (y[2], y[3], *self.accelerations(*y))

        return integrate(rhs, (0.0, 0.0, *rates), t, lambda y: self.limits.kinks(y[0], y[1]), tolerance)

    def energy(self, y):
        """Kinetic energy, weight's and limits' potential, (n,)."""
        return super().energy(y) + [self.limits.potential(q1, q2) for q1, q2, _, _ in y]


# --- the pendulum of (2024b), section 4 ----------------------------------------------------------------------------

PENDULUM_FRAME = np.array([[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]])
PENDULUM_LONGITUDES = [0.0, 90.0, 135.0, 180.0, 270.0, 315.0, 360.0]
PENDULUM_MAXIMA = [30.0, 70.0, 100.0, 80.0, 50.0, 45.0, 30.0]


class Pendulum:
    """A slender uniform rod on a ball joint at its end; state: unit direction of the rod and angular velocity (6,).

    No moment acts about the rod, so that it does not spin and its inertia about itself does not matter.
    """

    def __init__(self, cone=None, damping=0.0, stop=None, law="conservative", length=0.30, mass=3.5):
        self.cone, self.damping, self.stop, self.law = cone, damping, stop or Stop(), law
        self.inertia, self.weight = mass * length**2 / 3.0, mass * 9.81 * length / 2.0
        self.centre = length / 2.0

    @staticmethod
    def release(longitude=135.0, latitude=90.0):
        """State at rest [deg]."""
        psi, sigma = np.radians([longitude, latitude])
        u = np.array([np.sin(sigma) * np.cos(psi), np.sin(sigma) * np.sin(psi), np.cos(sigma)]) @ PENDULUM_FRAME
        return np.concatenate([u, np.zeros(3)])

    def restricting(self, u):
        """Excess (negative inside) and moment on the rod, global."""
        if self.cone is None:
            return -1.0, np.zeros(3)
        excess, axis, size = self.cone.moment((PENDULUM_FRAME @ u).tolist(), self.stop, self.law)
        return excess, size * (np.array(axis) @ PENDULUM_FRAME)

    def _rhs(self, _, y):
        u, omega = y[:3], y[3:]
        moment = self.restricting(u)[1] - self.damping * omega
        moment += (-self.weight * u[1], self.weight * u[0], 0.0)  # u x (0, 0, -weight)
        return np.concatenate([_cross(omega, u), moment / self.inertia])

    def _kinks(self, y):
        u = PENDULUM_FRAME @ y[:3]
        return *self.stop.kinks(self.restricting(y[:3])[0]), u[0], u[1]

    def solve(self, t, start=None, *, tolerance=3e-14):
        """States at the times t, (n, 6)."""
        y = self.release() if start is None else start
        return integrate(self._rhs, y, t, self._kinks, tolerance)

    def energy(self, y):
        """Kinetic energy, weight's and limits' potential (of the conservative law), (n,)."""
        kinetic = 0.5 * self.inertia * np.sum(y[:, 3:] ** 2, axis=1)
        return kinetic + self.weight * y[:, 2] + [self.stop.potential(self.restricting(u)[0]) for u in y[:, :3]]
