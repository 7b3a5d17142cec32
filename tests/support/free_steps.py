"""Systems with closed loops or drivers whose trees have balls and free steps."""

import numpy as np

import runtime
from models.walking import leg_foot, synthetic
from runtime import Signal
from tests.support.driven_legs import Y, made, once_with_kernel


@once_with_kernel
def gait():
    """The driven leg and foot: the leg floats, its place and orientation and all angles are prescribed."""
    return leg_foot.build(synthetic.subject(), synthetic.coordinates(), synthetic.ground())


@once_with_kernel
def chain():
    """A hinge, a ball and a hinge, and a body that floats on a rod at their end, with a spring."""
    b = runtime.Builder("floating chain", axes="global", gravity=(0.0, 0.3, -9.81))
    b.body("arm", mass=1.0, inertia=(0.02, 0.03, 0.01), r=(0.2, 0.0, 0.1), p=(0.8, 0.6, 0.0, 0.0))
    b.body("rod", mass=0.7, inertia=(0.02, 0.03, 0.015), r=(0.5, 0.1, 0.2), p=(0.8, 0.0, 0.6, 0.0))
    b.body("tip", mass=0.5, inertia=(0.01, 0.02, 0.015), r=(0.8, 0.1, 0.3))
    b.body("float", mass=0.9, inertia=(0.01, 0.02, 0.015), r=(0.8, 0.5, 0.5), p=(0.8, 0.0, 0.6, 0.0))
    b.joint("hinge", "revolute", "ground", "arm", point=(0, 0, 0), axis=Y)
    b.joint("ball", "spherical", "arm", "rod", point=(0.35, 0.05, 0.15))
    b.joint("elbow", "revolute", "rod", "tip", point=(0.65, 0.1, 0.25), axis=(0.2, 1.0, 0.0))
    ends = np.array([(0.7, 0.45, 0.4), (0.85, 0.12, 0.3)])
    length = float(np.linalg.norm(ends[1] - ends[0]))
    b.joint("link", "constant_distance", "float", "tip", s_i=ends[0], s_j=ends[1], l=length)
    law = dict(stiffness=40.0, damping=0.2, free_length=0.3)
    b.force("spring", "spring_damper", "ground", "float", s_i=(0.5, 0.5, 1.0), s_j=(0.8, 0.5, 0.5), **law)
    return b.build()


def posed(flipped=False):
    """Two hinges, and a driver of Euler parameters of the outer body, whose signs matter."""
    b, sign = runtime.Builder("posed", axes="global"), -1.0 if flipped else 1.0
    b.body("arm", mass=1.0, inertia=(0.02, 0.03, 0.01), r=(0.2, 0.0, 0.1), p=(0.8, 0.6, 0.0, 0.0))
    b.body("rod", mass=0.7, inertia=(0.02, 0.03, 0.015), r=(0.5, 0.1, 0.2), p=sign * np.array([0.8, 0.0, 0.6, 0.0]))
    b.joint("hinge", "revolute", "ground", "arm", point=(0, 0, 0), axis=Y)
    b.joint("elbow", "revolute", "arm", "rod", point=(0.35, 0.05, 0.15), axis=(0.2, 1.0, 0.4))
    guided = Signal.function(lambda t: sign * (0.78 - 0.1 * np.sin(t) ** 2), 0.0, 2.0)
    b.driver("turn", "euler_parameter", "rod", w0=0.3, w1=0.0, w2=0.9, w3=0.0, e_t=guided)
    return made(b.build())
