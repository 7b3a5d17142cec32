"""Stiff system with reduced equations of their own: two bodies on a damper that turns."""

import numpy as np
from scipy.integrate import solve_ivp

import runtime
from codegen import compile_joint

STIFFNESS, DAMPING, LENGTH = 8e5, 4e4, 1.0  # of the damper of the flyball governor
MASSES = (1.0, 2.0)
START = np.array([0.0, 0.0, 1.0, 0.0, 0.0, -4.0, 0.0, 2.0])  # x, y of both bodies, and their velocities


def distance(r_i, s_i, r_j, s_j, l_t):
    """Distance of P_i and P_j.  l_t : its target [m]."""
    return {"distance": (r_j + s_j - r_i - s_i).norm() - l_t}


def two_bodies():
    """Two free bodies without gravity, six radians per second about each other, with a stiff spring and damper between."""
    b = runtime.Builder("two bodies", gravity=(0, 0, 0))
    for k, name in enumerate("ab"):
        r, v = (*START[2 * k : 2 * k + 2], 0.0), (*START[4 + 2 * k : 6 + 2 * k], 0.0)
        b.body(name, mass=MASSES[k], inertia=(0.1, 0.1, 0.1), r=r, v=v, free=True)
    spring = dict(s_i=(0, 0, 0), s_j=(0, 0, 0), l_t=LENGTH, stiffness=STIFFNESS, damping=DAMPING)
    b.motor("spring", compile_joint(distance), "a", "b", **spring)
    return b.build()


def reduced_two_bodies(t, tolerance=1e-11):
    """Positions (times, 4) of ``two_bodies`` by SciPy's Radau, from equations in the plane."""

    def rates(_, y):
        d = y[2:4] - y[:2]
        length = np.hypot(*d)
        u = d / length
        force = STIFFNESS * (length - LENGTH) + DAMPING * (u @ (y[6:] - y[4:6]))
        return np.concatenate([y[4:], force * u / MASSES[0], -force * u / MASSES[1]])

    done = solve_ivp(rates, (0.0, t[-1]), START, method="Radau", t_eval=t, rtol=tolerance, atol=tolerance)
    return done.y[:4].T
