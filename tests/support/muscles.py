"""Laws of muscles for tests, and a leg on a hinge with a muscle."""

import numpy as np
from numpy.polynomial import Polynomial
from sympy import Rational, exp

import codegen
import runtime

HILL = dict(
    max_isometric_force=1000.0, optimal_fiber_length=0.1, tendon_slack_length=0.2, max_contraction_velocity=10.0,
    activation_time_constant=0.02,
)  # fmt: skip
MUSCLE = dict(  # of shipped laws
    max_isometric_force=1000.0, optimal_fiber_length=0.1, tendon_slack_length=0.18, pennation_angle_at_optimal=0.2
)
STIFFNESS = 30  # of the tendon's exponential
PATH = [("ground", (0.05, 0, 0.2)), ("ground", (0.06, 0, 0.05)), ("shank", (0.04, 0, 0.1))]
OVER_CYLINDER = [
    ("ground", (0.02, 0.01, 0.2)),
    ("cylinder", "ground", dict(s_k=(0, 0, 0), a_k=(0, 1, 0), radius=0.03, length=0.2)),
    ("shank", (0.02, -0.01, 0.1)),
]
RIGID = dict(law="thelen_as_opensim", tendon="rigid")

HINGE = dict(a_j=(0, 1, 0), b_j=(1, 0, 0), c_k=(1, 0, 0))  # of points that the angle of the knee moves
BODIES = ("shank", "ground", "shank")
CONDITIONAL = [
    PATH[0], ("conditional", BODIES, dict(s_i=(0.07, 0, 0.15), lower=-0.4, upper=0.3, **HINGE)), PATH[2],
]  # fmt: skip
WAYS = {
    "xi": Polynomial([0.0, 0.01, 0.02, 0.03]),
    "eta": Polynomial([0.01]),
    "zeta": Polynomial([0.0, 0.02, -0.03]),
}  # [m]
MOVING = [
    PATH[0],
    ("moving", BODIES, dict(s_i=(0.04, 0, 0.1), lower=-0.6, upper=0.8, **HINGE) | {
        f"{axis}_table": [(x, way(x), way.deriv()(x)) for x in (-1.0, 0.0, 1.0)] for axis, way in WAYS.items()
    }),
]  # fmt: skip


def steady(length, length_dot, excitation, max_force):
    """A force that the excitation alone decides.

    max_force : [N], 0 < max_force
    tension : [N]
    energy : [J]
    """
    return {"tension": excitation * max_force, "energy": 0, "rates": {}}


def elastic(length, length_dot, excitation, stiffness, loss, slack_length):
    """The force ``cable``, for any excitation.

    stiffness : [N/m], 0 <= stiffness
    loss : [s/m], 0 <= loss
    slack_length : [m], 0 <= slack_length
    tension : [N]
    energy : [J]
    """
    extension = codegen.ramp(length - slack_length)
    tension = codegen.ramp(stiffness * extension * (1 + loss * length_dot))
    return {"tension": tension, "energy": stiffness / 2 * extension**2, "rates": {}}


def hill(
    length, length_dot, excitation, activation, fiber_length, max_isometric_force, optimal_fiber_length, tendon_slack_length,
    max_contraction_velocity=10, activation_time_constant=0.02,
):  # fmt: skip
    """A damped fibre, active and passive, on an exponential tendon, both without pennation.

    activation : [1], 0 <= activation <= 1
    fiber_length : [m], 0 < fiber_length
    max_isometric_force : [N], 0 < max_isometric_force
    optimal_fiber_length : [m], 0 < optimal_fiber_length
    tendon_slack_length : [m], 0 < tendon_slack_length
    max_contraction_velocity : [1/s], 0 < max_contraction_velocity
    activation_time_constant : [s], 0 < activation_time_constant
    fiber_velocity : [m/s]
    tension : [N]
    energy : [J]
    fiber_force : [N]
    fiber_power : [W]
    """
    normal = fiber_length / optimal_fiber_length
    strength = activation * exp(-((normal - 1) ** 2) / Rational(45, 100))
    passive, damping = (exp(5 * (normal - 1)) - 1) / 50, Rational(1, 10)
    strain = (length - fiber_length) / tendon_slack_length - 1
    pull = (exp(STIFFNESS * strain) - 1) / 4
    velocity = (pull - passive - strength) / (strength + damping)  # by the maximum
    speed = velocity * optimal_fiber_length * max_contraction_velocity
    stored = tendon_slack_length / 4 * (exp(STIFFNESS * strain) / STIFFNESS - strain)
    stored += optimal_fiber_length / 50 * (exp(5 * (normal - 1)) / 5 - (normal - 1))
    return {
        "tension": max_isometric_force * pull,
        "energy": max_isometric_force * stored,
        "rates": {"activation": (excitation - activation) / activation_time_constant, "fiber_length": speed},
        "fiber_velocity": speed,
        "fiber_force": max_isometric_force * (strength * (1 + velocity) + passive + damping * velocity),
        "fiber_power": -max_isometric_force * (strength * (1 + velocity) + damping * velocity) * speed,
    }


def leg(definition=hill, path=PATH, excitation=0.5, *, rate=0.0, **constants):
    """A shank on a hinge at the origin, without gravity, and a muscle from the ground to it."""
    return builder(definition, path, excitation, rate=rate, **constants).build()


def builder(definition=hill, path=PATH, excitation=0.5, *, rate=0.0, **constants):
    """That of ``leg``."""
    b = runtime.Builder("leg", gravity=(0, 0, 0))
    omega = np.array([0.0, rate, 0.0])
    b.body("shank", mass=3.0, inertia=(0.05, 0.05, 0.01), r=(0, 0, -0.2), v=np.cross(omega, (0, 0, -0.2)), omega=omega)
    b.joint("knee", "revolute", "ground", "shank", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0.2), a_j=(0, 1, 0))
    b.muscle("flexor", codegen.compile_muscle(definition), path, excitation=excitation, **(constants or HILL))
    return b


def leg_with_muscles(*, up="z", gravity=9.81, speed=0.0, weak=250.0):
    """A thigh that may slide forwards, and a shank on a hinge with two muscles; the flexor's excitation rises from 0 to 1."""
    b = runtime.Builder("leg", gravity={"z": (0, 0, -gravity), "y": (0, -gravity, 0)}[up])

    def at(x, y, z):
        return (x, y, z) if up == "z" else (x, z, -y)

    def inertia(x, y, z):
        return (x, y, z) if up == "z" else (x, z, y)

    for name, height in (("thigh", 0.2), ("shank", -0.2)):
        b.body(name, mass=3.0, inertia=inertia(0.05, 0.05, 0.01), r=at(0, 0, height), v=at(speed, 0, 0))
    forwards = at(1, 0, 0)
    b.joint("rail", "translational", "ground", "thigh", s_i=at(0, 0, 0), a_i=forwards, s_j=at(0, 0, -0.2), a_j=forwards)
    b.joint(
        "knee", "revolute", "thigh", "shank", s_i=at(0, 0, -0.2), a_i=at(0, 1, 0), s_j=at(0, 0, 0.2), a_j=at(0, 1, 0)
    )
    (_, start), (kind, _, wrap), (_, end) = OVER_CYLINDER
    own = wrap | dict(s_k=at(0, 0, -0.2), a_k=at(*wrap["a_k"]))
    rising = runtime.Signal.samples([0, 0.1, 0.3], [0, 1, 1], [0, 0, 0], [0, 0, 0])
    b.muscle("flexor", path=[("thigh", at(start[0], start[1], 0.0)), (kind, "thigh", own), ("shank", at(*end))],
             excitation=rising, **RIGID, **MUSCLE)  # fmt: skip
    straight = [("thigh", at(-0.05, 0, 0)), ("thigh", at(-0.06, 0, -0.1)), ("shank", at(-0.04, 0, 0.1))]
    b.muscle("extensor", path=straight, excitation=0.05, **RIGID, **MUSCLE | dict(max_isometric_force=weak))
    return b
