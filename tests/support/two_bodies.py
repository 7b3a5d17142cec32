"""Two bodies and a hinge, and how they are guided: the smallest system that has all that a driver needs."""

import numpy as np

from runtime import Builder, Signal

X, Y, Z = np.eye(3)
WAVE = Signal.function(np.sin, 0.0, 1.0)
AXES = dict(a_i=X, h_i=Y, b_j=X)
PLACE = dict(x_t=0.0, y_t=0.0, z_t=0.0)


def two_bodies():
    b = Builder("two")
    b.body("leg", mass=1.0, inertia=(1, 1, 1), free=True)
    b.body("foot", mass=1.0, inertia=(1, 1, 1), r=(1, 0, 0))
    b.joint("ankle", "revolute", "leg", "foot", s_i=(0, 0, 0), a_i=Y, s_j=(-1, 0, 0), a_j=Y)
    return b


def two_guided(theta=WAVE, overdetermined=False, **build):
    b = two_bodies()
    b.driver("place", "guided_point", "leg", s_i=(0, 0, 0), **PLACE)
    b.driver("turn", "guided_cardan", "leg", alpha_t=0.0, beta_t=0.0, gamma_t=0.0)
    b.driver("angle", "guided_angle", "leg", "foot", **AXES, theta_t=theta)
    return b.build_overdetermined(**build) if overdetermined else b.build(**build)
