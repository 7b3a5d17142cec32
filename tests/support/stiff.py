"""Stiff systems with reduced equations of their own: two bodies on a damper that turns, and a ball on a damped floor."""

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


MASS, HEIGHT, FALL, FLOOR, FLOOR_DAMPING = 1.0, 0.1, 9.81, 1e6, 4e4  # of a ball that lands on a stiff, damped floor


def lift(t):
    """A force [N] that throws the ball up again."""
    return 30.0 * np.exp(-(((t - 1.2) / 0.15) ** 2))


def thrown_ball():
    """A ball that falls, comes to rest on a stiff, damped floor, and is thrown up: stiff only while it touches."""
    b = runtime.Builder("thrown ball")
    b.body("ball", mass=MASS, inertia=(0.01, 0.01, 0.01), r=(0, 0, 0.05 + HEIGHT), free=True)
    floor = dict(law="kelvin_voigt", stiffness=FLOOR, exponent=1.0, damping=FLOOR_DAMPING)
    b.contact("floor", "ball", centre=(0, 0, 0), radius=0.05, **floor)
    b.load("lift", "ball", force=(0, 0, runtime.Signal.function(lift, 0.0, 2.0)))
    return b.build()


def reduced_ball(t_end, mass=MASS):
    """Times of touch-down and lift-off, and height [m] and speed of ``thrown_ball`` at the end, by SciPy."""
    settings = dict(method="Radau", rtol=1e-12, atol=1e-14)

    def contact(y):
        return -FLOOR * y[0] - FLOOR_DAMPING * y[1]

    def ends(t, y):
        return contact(y) if t > down + 1e-3 else 1.0

    ends.terminal = True
    fall = solve_ivp(lambda t, y: [y[1], lift(t) / mass - FALL], (0.0, 1.0), [HEIGHT, 0.0], events=_landed, **settings)
    down, y = fall.t_events[0][0], fall.y_events[0][0]
    rest = solve_ivp(
        lambda t, y: [y[1], (lift(t) + contact(y)) / mass - FALL], (down, t_end), y, events=ends, **settings
    )
    up, y = rest.t_events[0][0], rest.y_events[0][0]
    flight = solve_ivp(lambda t, y: [y[1], lift(t) / mass - FALL], (up, t_end), y, **settings)
    return down, up, *flight.y[:, -1]


def _landed(_, y):
    return y[0]


_landed.terminal = True
