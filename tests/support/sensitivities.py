"""Systems with limits, motors, loads and drivers, and differences of their runs."""

import numpy as np

from runtime import Builder, Cone, Signal


def difference(states, step):
    """Slope of runs at their parameter, by central differences of order six."""
    slopes = [(states(h) - states(-h)) / (2.0 * h) for h in (step, step / 2, step / 4)]
    return (slopes[0] - 20 * slopes[1] + 64 * slopes[2]) / 45


def stopped(max_moment=20.0, compliance=0.2, damping=0.03, latitude=35.0, mass=1.2, axis=0.2):
    """A body on a hinge that swings against its limit."""
    a = (np.cos(axis), np.sin(axis), 0.0)
    b = Builder("stopped")
    r, omega = (0.0, 0.0, -0.3), np.multiply(a, 5.0)
    b.body("bob", mass=mass, inertia=(0.01, 0.02, 0.025), r=r, v=np.cross(omega, r), omega=omega)
    b.joint("hinge", "revolute", "ground", "bob", s_i=(0, 0, 0), a_i=a, s_j=(0, 0, 0.3), a_j=a)
    cone = Cone.from_degrees((0, 90, 180, 270, 360), [latitude] * 5)
    b.limit(
        "stop", "hinge", reference="ground", xi=a, eta=(a[1], -a[0], 0.0), cone=cone, max_moment=max_moment,
        compliance=compliance, damping=damping,
    )  # fmt: skip
    return b.build()


def pushed(force=3.0, stiffness=40.0, damping=2.0, rise=3.0, arm=0.03, mass=1.0):
    """A leg on a ball joint with a foot on a motor that a signal drives, pushed by a load."""
    b = Builder("pushed")
    b.body("leg", mass=3.0, inertia=(0.04, 0.05, 0.01), r=(0, 0, 0.3))
    b.body("foot", mass=mass, inertia=(0.001, 0.004, 0.003), r=(0.05, 0, 0.05 - arm))
    b.joint("knee", "spherical", "ground", "leg", s_i=(0, 0, 0.6), s_j=(0, 0, 0.3))
    b.joint("ankle", "revolute", "leg", "foot", s_i=(0, 0, -0.25), a_i=(0, 1, 0), s_j=(-0.05, 0, arm), a_j=(0, 1, 0))
    b.motor(
        "muscle", "guided_angle", "leg", "foot", a_i=(1, 0, 0), h_i=(0, 1, 0), b_j=(0.6, 0, 0.8), theta_t=0.4,
        effort=Signal.function(lambda t: rise * np.sin(t), 0.0, 2.0), stiffness=stiffness, damping=damping,
    )  # fmt: skip
    b.load("push", "foot", force=(force, -5.0, 20.0), moment=(0.3, 1.0, -2.0), axes="body", point=(0.1, -0.02, 0.03))
    return b.build()


def guided(rate=2.0, length=0.4, mass=1.5):
    """A pendulum whose pivot a driver moves to and fro."""
    b = Builder("guided")
    b.body("sledge", mass=1.0, inertia=(0.01, 0.01, 0.01))
    b.body("bob", mass=mass, inertia=(0.01, 0.02, 0.025), r=(0.0, 0.0, -length))
    x = Signal.function(lambda t: 0.1 * np.sin(rate * t), 0.0, 2.0)
    b.driver("way", "guided_point", "sledge", s_i=(0, 0, 0), x_t=x, y_t=0.0, z_t=0.0)
    b.joint("rail", "constant_angle", "ground", "sledge", a_i=(1, 0, 0), a_j=(0, 1, 0))
    b.joint("rail_2", "constant_angle", "ground", "sledge", a_i=(1, 0, 0), a_j=(0, 0, 1))
    b.joint("rail_3", "constant_angle", "ground", "sledge", a_i=(0, 1, 0), a_j=(0, 0, 1))
    b.joint("pivot", "spherical", "sledge", "bob", s_i=(0, 0, 0), s_j=(0, 0, length))
    return b.build()


# Functions, and values of their arguments.
FORCED = {
    "stopped": (stopped, dict(max_moment=20.0, compliance=0.2, damping=0.03, latitude=35.0, mass=1.2, axis=0.2)),
    "pushed": (pushed, dict(force=3.0, stiffness=40.0, damping=2.0, rise=3.0, arm=0.03, mass=1.0)),
    "guided": (guided, dict(rate=2.0, length=0.4)),
}


def other(l):
    """A system that is another one beyond a length."""
    b = Builder("other")
    b.body("bob", mass=1.3, inertia=(0.01, 0.02, 0.025), r=(l, 0.0, 0.0))
    b.joint("pivot", "spherical", "ground", "bob", s_i=(0, 0, 0.1), s_j=(-l, 0, 0.1))
    if l > 0.7:
        b.body("tail", mass=1.0, inertia=(0.01, 0.02, 0.025), free=True)
    return b.build()
