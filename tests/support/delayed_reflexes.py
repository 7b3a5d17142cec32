"""Carts on a rail with muscles whose reflexes act after a delay, and the motion in closed form."""

from math import factorial

import numpy as np

import codegen
import runtime
from tests.support.muscles import steady

MASS, FORCE, BASE = 2.0, 40.0, 0.5  # the load balances the muscle at the excitation BASE
OF_SPEED, OF_LENGTH = 0.3, 1.0  # gains [s/m], [1/m]
REST, SPEED = 1.5, 0.4  # length of the muscle and speed of the cart at the start


def by_speed(length, length_dot, gain):
    """Without a bound on shortening.

    gain : [s/m]
    """
    return gain * length_dot


def by_length(length, length_dot, gain, rest):
    """From a length of rest on both sides.

    gain : [1/m]
    rest : [m], 0 <= rest
    """
    return gain * (length - rest)


REFLEXES = {"speed": (by_speed, {"gain": OF_SPEED}), "length": (by_length, {"gain": OF_LENGTH, "rest": REST})}


def cart(b, name, sort, delay, y=0.0):
    """Add a cart that moves along x, with a muscle that pulls it back."""
    b.body(name, mass=MASS, inertia=(1, 1, 1), r=(REST, y, 0), v=(SPEED, 0, 0))
    axes = dict(a_i=(1, 0, 0), a_j=(1, 0, 0))
    b.joint(f"rail_{name}", "translational", "ground", name, s_i=(0, y, 0), s_j=(0, 0, 0), **axes)
    reflex, constants = REFLEXES[sort]
    b.muscle(
        f"muscle_{name}", codegen.compile_muscle(steady), [("ground", (0, y, 0)), (name, (0, 0, 0))], excitation=BASE,
        reflex=codegen.compile_reflex(reflex), delay=delay, max_force=FORCE, **constants,
    )  # fmt: skip
    b.load(f"load_{name}", name, force=(FORCE * BASE, 0, 0))


def carts(*kinds):
    """A system with a cart for each reflex and delay."""
    b = runtime.Builder("carts", gravity=(0, 0, 0))
    for n, (sort, delay) in enumerate(kinds):
        cart(b, f"cart{n}", sort, delay, float(n))
    return b.build()


def place(sort, delay, t):
    """Place of a cart less that at the start, and its speed, in closed form.

    Of its speed: v'(t) = -k v(t - delay), v = 0 before the start: v = SPEED sum over n of (-k)^n (t - n delay)^n / n!.
    Of its length: x''(t) = -k x(t - delay), x = 0 before: x = SPEED sum of (-k)^n (t - n delay)^(2 n + 1) / (2 n + 1)!.
    Terms begin where their brackets are positive.
    """
    k = FORCE / MASS * (OF_SPEED if sort == "speed" else OF_LENGTH)
    x, v = np.zeros_like(t), np.zeros_like(t)
    for n in range(int(t.max() / delay) + 1):
        late = np.clip(t - n * delay, 0.0, None)
        power = n if sort == "speed" else 2 * n
        v += SPEED * (-k) ** n * (late**power if power else (t >= 0)) / factorial(power)
        x += SPEED * (-k) ** n * late ** (power + 1) / factorial(power + 1)
    return x, v
