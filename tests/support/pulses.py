"""Pushes that last for a small part of a run, and what becomes of what they act on."""

import numpy as np

import runtime

END = 10.0  # [s]
MASS = 2.0  # [kg]
WIDEST = 0.1  # [s]


def pulse(at, width, height, double=0.0):
    """A signal that is 0 but for a trapezium; ``double``: one of the opposite sign follows at once."""
    places, values = [0.0, 0.25, 0.75, 1.0], [0.0, height, height, 0.0]
    if double:
        places, values = [*places, 1.25, 1.75, 2.0], [*values, -height, -height, 0.0]
    times = [0.0, *(at + width * np.array(places)), END]
    return runtime.Signal.spline(times, [0.0, *values, 0.0], degree=1)


def pushed(at, width, height, double=0.0):
    """A body that floats at rest until it is pushed."""
    b = runtime.Builder("pushed", gravity=(0.0, 0.0, 0.0))
    b.body("body", mass=MASS, inertia=(0.1, 0.1, 0.1), free=True)
    b.load("push", "body", force=(pulse(at, width, height, double), 0.0, 0.0))
    return b.build()


def end_of(at, width, height, double=0.0):
    """Place and speed of the body of ``pushed`` at the end."""
    gained = 0.75 * width * height / MASS
    return (gained * width, 0.0) if double else (gained * (END - at - 0.5 * width), gained)


def hinged(at, width, height, double=0.0):
    """A body that hangs on a hinge, without weight, and is pushed."""
    b = runtime.Builder("hinged", axes="global", gravity=(0.0, 0.0, 0.0))
    b.body("body", mass=MASS, inertia=(0.1, 0.1, 0.1), r=(0.0, 0.0, -0.5))
    b.joint("hinge", "revolute", "ground", "body", point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    b.load("push", "body", force=(pulse(at, width, height, double), 0.0, 0.0))
    return b.build()


def random_pulses(count, seed=0):
    """Arguments of ``pulse`` (count,): one in two is double."""
    rng = np.random.default_rng(seed)
    return dict(
        at=rng.uniform(0.3, END - 1.0, count),
        width=WIDEST * 10.0 ** rng.uniform(-2.0, 0.0, count),
        height=10.0 ** rng.uniform(-1.0, 1.0, count),
        double=np.arange(count) % 2.0,
    )
