"""Bodies in contact with the ground: a block on four spheres and a ball."""

import numpy as np

from runtime import Builder

G = 9.81


def block(tilt, *, friction="coulomb", mu_c=0.5, mu_d=0.0, speed=0.0, transition_velocity=1e-3):
    """A foot-like block on four spheres, at its static sink on an incline, about to slide down along it."""
    n, down = np.array([np.sin(tilt), 0.0, np.cos(tilt)]), np.array([np.cos(tilt), 0.0, -np.sin(tilt)])
    mass, stiffness, radius = 1.3, 4e4, 0.02
    sink = mass * G * np.cos(tilt) / 4 / stiffness
    b = Builder("block")
    b.body(
        "block", mass=mass, inertia=(3e-3, 4e-3, 5e-3), r=n * (0.03 + radius - sink), v=speed * down,
        p=(np.cos(tilt / 2), 0, np.sin(tilt / 2), 0), free=True,
    )  # fmt: skip
    for k, (x, y) in enumerate([(0.08, 0.03), (0.08, -0.03), (-0.08, 0.03), (-0.08, -0.03)]):
        b.contact(
            f"corner_{k}", "block", centre=(x, y, -0.03), radius=radius, law="kelvin_voigt", stiffness=stiffness,
            exponent=1.0, damping=300.0, friction=friction,
            mu_c=mu_c, mu_d=mu_d, normal=n, transition_velocity=transition_velocity,
        )  # fmt: skip
    return b.build(), down


STIFF = dict(method="radau", rtol=1e-9, atol=1e-9)
CRITICAL = np.arctan(0.5)  # [rad] incline at which a block with mu_c = 0.5 begins to slide


def ball(speed, omega, **changes):
    b = Builder("ball")
    b.body("ball", mass=0.4, inertia=(2e-4,) * 3, r=(0, 0, 0.0499), v=speed, omega=omega, free=True)
    settings = dict(law="hunt_crossley", stiffness=1e5, exponent=1.5, loss=0.5, friction="coulomb", mu_c=0.8, mu_d=3.0)
    b.contact("sole", "ball", centre=(0, 0, 0), radius=0.05, **(settings | changes))
    return b.build()
