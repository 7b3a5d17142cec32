"""Bodies that touch a one-sided force element for a part of one step."""

import numpy as np

import codegen
import runtime

TOP, END = 2.0, 1.3  # [m], [s]


def thrown(depth, speed, stiffness, loss):
    """A ball thrown upwards that touches a stop by a depth at the top of its flight."""
    b = runtime.Builder("thrown", axes="global")
    up = float(np.sqrt(2.0 * 9.81 * TOP))
    b.body("body", mass=1.0, inertia=(0.01, 0.02, 0.03), r=(0, 0, 0), v=(speed, 0, up), free=True)
    law = dict(stiffness=stiffness, exponent=1.0, loss=loss, clearance=depth - TOP)
    b.force("roof", "stop", "ground", "body", s_i=(0, 0, 0), a_i=(0, 0, -1), s_j=(0, 0, 0), **law)
    return b.build()


def hurled(depth, speed, stiffness, loss):
    """A turning rod whose end is held by a cable that is taut for a part of its flight."""
    b = runtime.Builder("hurled", axes="global")
    up = 4.0 + 0.5 * speed
    motion = dict(v=(0.7, 0, up), omega=(0, 0.1 * speed, 0))
    b.body("body", mass=1.0, inertia=(0.02, 0.02, 0.001), r=(0, 0, 0), **motion, free=True)
    ends = dict(s_i=(0.7 * up / 9.81, 0, -1.0), s_j=(0, 0, 0.05))
    length = 1.05 + up**2 / (2.0 * 9.81) - depth
    b.force("rope", "cable", "ground", "body", **ends, stiffness=stiffness, loss=loss, slack_length=length)
    return b.build()


def ridge(r_i, s_i, r_j, s_j, height, place, width, coordinate):
    """Force along x that rises to a height and falls to 0 again.

    height : [N]
    place : [m]
    width : half of it [m]
    """
    x = coordinate((r_j + s_j - r_i - s_i).x)
    u = (x - place) / width
    return {"forces": {x: height * (codegen.ramp(1 - u) - 2 * codegen.ramp(-u) + codegen.ramp(-1 - u))}}


def pushed(height, place, width, speed):
    """A body that flies through a ridge in a small part of a step."""
    b = runtime.Builder("pushed")
    b.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, 0), v=(speed, 0, 0), free=True)
    law = dict(height=height, place=place, width=width)
    b.force("ridge", codegen.compile_force(ridge), "ground", "body", s_i=(0, 0, 0), s_j=(0, 0, 0), **law)
    return b.build()


def random_touches(count):
    """Random cases of both: touches of 0.1 mm to 10 mm."""
    random = np.random.default_rng(7)
    return dict(
        depth=10.0 ** random.uniform(-4, -2, count), speed=random.uniform(-3, 3, count),
        stiffness=10.0 ** random.uniform(2, 5, count), loss=random.choice([0.0, 0.3], count),
    )  # fmt: skip
