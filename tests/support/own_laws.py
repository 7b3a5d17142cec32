"""Laws of limits and contacts as a user writes them, and systems with motions in closed form."""

import numpy as np
from scipy.special import beta

import codegen
from runtime import Builder, Cone

EDGE = np.deg2rad(20.0)
INERTIA, SPEED = 0.35, 1.0  # [kg m^2] of the rod about its hinge, [rad/s] at the start
MASS = 0.4  # [kg] of the ball
DIRECTIONS = dict(xi=(1, 0, 0), eta=(0, -1, 0), direction=(0, 0, -1))


def power(x, exponent):
    """The moment is x^n.

    exponent : n [1], 1 <= exponent <= 8
    """
    return x ** (exponent + 1) / (exponent + 1)


def linear(excess, stiffness):
    """A torsional spring.

    stiffness : k [N m/rad], 0 < stiffness
    """
    return stiffness * excess**2 / 2


def hardening(delta, delta_dot, stiffness, order, loss):
    """f_n = K delta^n (1 + loss delta').

    stiffness : K [N/m^n], 0 < stiffness
    order : n [1], 1 <= order <= 8
    loss : [s/m]
    """
    elastic = stiffness * delta**order
    return {"potential": elastic * delta / (order + 1), "dissipation": loss * elastic * delta_dot**2 / 2}


def lubricated(slip, normal_force, mu_v):
    """Friction in proportion to the slip and the normal force.

    mu_v : [s/m]
    """
    drag = mu_v * normal_force * slip.dot(slip) / 2
    return {"below": drag, "above": drag}


POWER, LINEAR = codegen.compile_limit(power), codegen.compile_limit(linear)
HARDENING, LUBRICATED = codegen.compile_contact(hardening), codegen.compile_contact(lubricated)


def rod(law, **parameters):
    """A rod on a hinge with a stop at 20 degrees on either side, without gravity."""
    b = Builder("rod", gravity=(0, 0, 0))
    turning = dict(omega=(0, SPEED, 0), v=(-0.5 * SPEED, 0, 0))
    b.body("rod", mass=1.0, inertia=(0.1, INERTIA - 0.25, 0.1), r=(0, 0, -0.5), **turning)
    b.joint("pivot", "revolute", "ground", "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0.5), a_j=(0, 1, 0))
    cone = Cone.from_degrees((0, 90, 180, 270, 360), (20,) * 5)
    b.limit("stop", "pivot", reference="ground", cone=cone, law=law, **DIRECTIONS, **parameters)
    return b.build()


def ball(law, friction=None, *, height=0.06, v=(0, 0, -1.0), gravity=(0, 0, 0), **parameters):
    """A ball near a plane, without gravity."""
    b = Builder("ball", gravity=gravity)
    b.body("ball", mass=MASS, inertia=(4e-4,) * 3, r=(0, 0, height), v=v, free=True)
    b.contact("sole", "ball", centre=(0, 0, 0), radius=0.05, law=law, friction=friction, **parameters)
    return b.build()


def time_beyond(stiffness, order, inertia, speed):
    """Time that a body with this speed spends beyond an edge whose force is stiffness times distance^order."""
    farthest = ((order + 1) * inertia * speed**2 / (2 * stiffness)) ** (1 / (order + 1))
    return 2 * farthest / speed * beta(1 / (order + 1), 0.5) / (order + 1)


def angle_of_rod(t, stiffness, order):
    """Angle of the rod [rad] up to its second stop, outside of its stops; NaN within."""
    first, beyond = EDGE / SPEED, time_beyond(stiffness, order, INERTIA, SPEED)
    back = EDGE - SPEED * (t - first - beyond)
    free = np.where(t <= first, SPEED * t, np.where(t >= first + beyond, back, np.nan))
    return np.where(back >= -EDGE, free, np.nan)
