"""Mechanisms whose outputs are known functions of their parameters."""

import numpy as np

import runtime

ISHIGAMI = dict(a=7.0, b=0.1)


def ishigami(samples):
    """Initial velocities of a free body without gravity whose path after 1 s is the Ishigami function [m]."""
    x, y, z = (samples[name] for name in "xyz")
    value = np.sin(x) + ISHIGAMI["a"] * np.sin(y) ** 2 + ISHIGAMI["b"] * z**4 * np.sin(x)
    zero = np.zeros(len(x))
    return {"v.body": np.stack([value, zero, zero], axis=1)}


def ishigami_indices():
    """First and total order in closed form: Ishigami and Homma (1990)."""
    a, b = ISHIGAMI.values()
    alone = 0.5 * (1.0 + b * np.pi**4 / 5.0) ** 2, a**2 / 8.0, 0.0
    together = b**2 * np.pi**8 * (1.0 / 18.0 - 1.0 / 50.0)  # of the first and third
    variance = sum(alone) + together
    total = alone[0] + together, alone[1], together
    return np.array(alone) / variance, np.array(total) / variance, variance


def body():
    """A free body without gravity."""
    b = runtime.Builder("body", gravity=(0, 0, 0))
    b.body("body", mass=1.0, inertia=(1, 1, 1), free=True)
    return b.build()


def oscillator():
    """A mass on a spring along a guide, 0.1 m from its rest: x = 0.1 cos(t sqrt(k / m))."""
    b = runtime.Builder("oscillator", gravity=(0, 0, 0))
    b.body("mass", mass=2.0, inertia=(1, 1, 1), r=(1.1, 0, 0))
    b.joint("guide", "translational", "ground", "mass", s_i=(0, 0, 0), a_i=(1, 0, 0), s_j=(0, 0, 0), a_j=(1, 0, 0))
    b.force(
        "spring",
        "spring_damper",
        "ground",
        "mass",
        s_i=(0, 0, 0),
        s_j=(0, 0, 0),
        stiffness=50.0,
        damping=0.0,
        free_length=1.0,
    )
    return b.build()
