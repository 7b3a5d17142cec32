"""Independent references for friction by reactions: plane mechanisms by Newton and Euler's equations, integrated by SciPy."""

import numpy as np
from scipy.integrate import solve_ivp

from runtime import Builder

G = 9.81


def saturation(slip, transition_velocity):
    """The share of the full friction at a slip."""
    x = np.clip(slip / transition_velocity, -1.0, 1.0)
    return 1.5 * x - 0.5 * x**3


def arm_on_a_journal(
    coefficient, radius, transition_velocity, *, turned=False, thrust_radius=0.0, tilt=0.0, spacing=1.0
):
    """A pendulum on a journal, released from the horizontal; ``turned``: the ground is body j."""
    axis, origin = np.array([0.0, np.cos(tilt), np.sin(tilt)]), (0.0, 0.0, 0.0)
    b = Builder("journal")
    b.body("arm", mass=2.0, inertia=(0.05, 0.05, 0.05), r=(0.5, 0, 0))
    arm, ends = (-0.5, 0.0, 0.0), ("ground", "arm")
    values = dict(s_i=origin, s_j=arm)
    if turned:
        ends, values = ends[::-1], dict(s_i=arm, s_j=origin)
    b.joint("pin", "revolute", *ends, a_i=axis, a_j=axis, **values)
    law = dict(
        radius=radius,
        thrust_radius=thrust_radius,
        spacing=spacing,
        transition_velocity=transition_velocity,
        damping=0.0,
    )
    b.force("rub", "journal_friction", *ends, joint="pin", coefficient=coefficient, **law)
    return b.build()


def pushed_block(coefficient, transition_velocity):
    """A block on a slider below its centre of mass: 3 times the coefficient of each newton of load come back as load."""
    b = Builder("pushed")
    b.body("block", mass=2.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, 0.3))
    b.joint("line", "translational", "ground", "block", s_i=(0, 0, 0), s_j=(0, 0, -0.3), a_i=(1, 0, 0), a_j=(1, 0, 0))
    law = dict(coefficient=coefficient, spacing=0.2, transition_velocity=transition_velocity, damping=0.0)
    b.force("rub", "guide_friction", "ground", "block", joint="line", **law)
    b.load("push", "block", force=(50.0, 0.0, 0.0), point=(0.0, 0.0, -0.3), axes="body")
    return b.build()


def pendulum(t, coefficient, radius, transition_velocity, *, mass=2.0, inertia=0.05, length=0.5, thrust=0.0, tilt=0.0):
    """Angle below the horizontal and its rate, (2, n), of a pendulum on a journal, released at rest from the horizontal.

    ``thrust``: friction radius of the thrust; ``tilt``: angle of the axis with the horizontal [rad].
    """
    g, along = G * np.cos(tilt), G * np.sin(tilt)

    def acceleration(phi, w):
        k = coefficient * saturation(w, transition_velocity)
        radial = -mass * length * w * w - mass * g * np.sin(phi)
        found = g * np.cos(phi) * mass * length / (inertia + mass * length**2)
        for _ in range(60):  # Newton's method for the acceleration, on which the bearing's force depends
            across = mass * length * found - mass * g * np.cos(phi)
            force = np.hypot(radial, across)
            moment = k * (radius * force + thrust * mass * along)
            rest = inertia * found + length * across + moment  # about the centre of mass
            step = rest / (inertia + mass * length**2 + k * radius * across / force * mass * length)
            found -= step
            if abs(step) < 1e-15 * max(1.0, abs(found)):
                break
        return found

    def rates(_, y):
        return [y[1], acceleration(*y)]

    return solve_ivp(rates, (0.0, t[-1]), [0.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-13, t_eval=t).y


class SliderCrank:
    """A crank about O, a rod from A to B, a block on the x axis at B, in the plane x, z; angles about y.

    Friction in the pins O, A, B of radius ``radius``, and of the block on two pads at the distance ``spacing``.
    """

    crank, rod = 0.2, 0.5
    masses = (1.0, 0.8, 1.5)
    inertias = (0.02, 0.03, 0.01)

    def __init__(
        self, coefficient, radius, spacing, transition_velocity_of_turn, transition_velocity_of_slide, of_pads=None
    ):
        self.of_pads = coefficient if of_pads is None else of_pads
        self.mu, self.radius, self.spacing = coefficient, radius, spacing
        self.transition_velocities = transition_velocity_of_turn, transition_velocity_of_slide

    def geometry(self, a):
        """Angle of the rod for that of the crank."""
        return np.arcsin(-self.crank * np.sin(a) / self.rod)

    def solve(self, a, w):
        """Acceleration of the crank, and the friction loads of O, A, B and the block."""
        b = self.geometry(a)
        u = -self.crank * w * np.cos(a) / (self.rod * np.cos(b))  # rate of the rod: the height of B stays 0
        slide = -self.crank * w * np.sin(a) - self.rod * u * np.sin(b)
        M, right = self.equations(a, b, w, u)
        inverse = np.linalg.inv(M)
        shares = self.mu * saturation(np.array([w, u - w, -u]), self.transition_velocities[0])
        share, loads = self.of_pads * saturation(slide, self.transition_velocities[1]), np.zeros(4)
        for _ in range(200):  # the loads follow from the forces that they change
            extra = np.zeros(17)
            moments = self.radius * shares * loads[:3]
            extra[[2, 5, 8]] = moments[1] - moments[0], moments[2] - moments[1], -moments[2]
            extra[6] = -share * loads[3]
            x = inverse @ (right + extra)
            half, couple = 0.5 * x[15], x[16] / self.spacing
            found = np.array([*(np.hypot(*x[k : k + 2]) for k in (9, 11, 13)), abs(half + couple) + abs(half - couple)])
            done = np.abs(found - loads).max() < 1e-14 * max(1.0, found.max())
            loads = found
            if done:
                break
        return x[2], loads

    def equations(self, a, b, w, u):
        """Matrix and right-hand side of Newton's and Euler's equations and of the joints, without friction.

        Unknowns: x'', z'' and angle'' of crank, rod and block; force on the crank at O, on the rod at A, on the block at B; force
        along z and moment on the block from its guide.
        """
        crank, rod = (
            0.5 * length * np.array([np.cos(t), -np.sin(t)]) for length, t in ((self.crank, a), (self.rod, b))
        )
        M, right, none = np.zeros((17, 17)), np.zeros(17), np.zeros(2)
        for body in range(3):
            M[3 * body, 3 * body] = M[3 * body + 1, 3 * body + 1] = self.masses[body]
            M[3 * body + 2, 3 * body + 2] = self.inertias[body]
            right[3 * body + 1] = -self.masses[body] * G
        arms = [(0, -crank, 9, 1.0), (0, crank, 11, -1.0), (1, -rod, 11, 1.0), (1, rod, 13, -1.0), (2, none, 13, 1.0)]
        for body, arm, column, sign in arms:
            for c in range(2):
                M[3 * body + c, column + c] -= sign
            M[3 * body + 2, column : column + 2] -= sign * np.array([arm[1], -arm[0]])
        M[7, 15] = M[8, 16] = -1.0
        # The accelerations of the points agree.
        points = [
            ([(0, -crank, 1.0)], -crank * w**2),
            ([(0, crank, 1.0), (1, -rod, -1.0)], crank * w**2 + rod * u**2),
            ([(1, rod, 1.0), (2, none, -1.0)], rod * u**2),
        ]
        for n, (parts, value) in enumerate(points):
            for c in range(2):
                row = 9 + 2 * n + c
                right[row] = value[c]
                for body, arm, sign in parts:
                    M[row, 3 * body + c] += sign
                    M[row, 3 * body + 2] += sign * (arm[1] if c == 0 else -arm[0])
        M[15, 7] = M[16, 8] = 1.0
        return M, right

    def integrate(self, t, a, w):
        """Angle and rate of the crank, (2, n)."""

        def rates(_, y):
            return [y[1], self.solve(*y)[0]]

        return solve_ivp(rates, (0.0, t[-1]), [a, w], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=t).y
