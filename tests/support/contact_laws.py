"""Contact laws as formulas, and the bounce of a ball by scipy and in closed form."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from runtime import Builder
from tests.support.limit_kernels import NORMAL_LAWS

MASS, RADIUS, HEIGHT, FALL = 0.5, 0.1, 0.05, 9.81
BOUNCES = {
    "kelvin_voigt": dict(stiffness=2e4, exponent=1.0, damping=8.0),
    "hertz": dict(stiffness=1e6),
    "hunt_crossley": dict(stiffness=1e6, exponent=1.5, loss=0.15),
    "lankarani_nikravesh": dict(stiffness=1e6, exponent=1.5, restitution=0.8),
    "flores": dict(stiffness=1e6, exponent=1.5, restitution=0.6),
}
all_laws = pytest.mark.parametrize("law", list(NORMAL_LAWS))


def hysteresis(law, p):
    """The factor of delta' in f_n = K delta^n (1 + factor delta')."""
    e = p.get("restitution")
    return {
        "hunt_crossley": lambda: 1.5 * p["loss"],
        "lankarani_nikravesh": lambda: 0.75 * (1.0 - e**2) / p["impact"],
        "flores": lambda: 1.6 * (1.0 - e) / (e * p["impact"]),
    }[law]()


def force_of(law, p, delta, rate):
    """The normal force as the papers write it."""
    if law == "kelvin_voigt":
        return p["stiffness"] * delta ** p["exponent"] + p["damping"] * rate
    if law == "hertz":
        return p["stiffness"] * delta * np.sqrt(delta)
    return p["stiffness"] * delta ** p["exponent"] * (1.0 + hysteresis(law, p) * rate)


# Bounces


def ball(law="hertz", *, z=RADIUS + HEIGHT, v=(0.0, 0.0, 0.0), gravity=FALL, **parameters):
    b = Builder("ball", gravity=(0.0, 0.0, -gravity))
    b.body("ball", mass=MASS, inertia=(0.4 * MASS * RADIUS**2,) * 3, r=(0.0, 0.0, z), v=v, free=True)
    b.contact("touch", "ball", centre=(0, 0, 0), radius=RADIUS, law=law, **(parameters or BOUNCES[law]))
    return b.build()


def reference(law, p, speed, gravity):
    """Duration, penetration and its rate at lift-off, where the force comes to an end, by SciPy."""

    def force(y):
        return force_of(law, p, max(y[0], 0.0), y[1])

    def motion(_, y):
        return [y[1], gravity - force(y) / MASS]

    def ends(_, y):
        return force(y) if y[0] > 0.0 else y[0]

    ends.terminal, ends.direction = True, -1
    done = solve_ivp(motion, (0, 1), (0.0, speed), method="DOP853", rtol=1e-13, atol=1e-16, events=ends)
    return done.t_events[0][0], *done.y_events[0][0]
