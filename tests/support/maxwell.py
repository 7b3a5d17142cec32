"""A spring and a damper in series, a force with a state, and the closed form of a mass on it."""

import numpy as np
from scipy.linalg import expm

import codegen
import runtime

MASS = 2.0


def maxwell(
    r_i, s_i, r_j, s_j, stiffness, viscosity, free_length, flow_0, coordinate, along, state
):  # fmt: skip
    """Spring and damper in series between the points P_i and P_j.

    stiffness : k [N/m], 0 <= stiffness
    viscosity : c [N s/m], 0 < viscosity
    free_length : [m], 0 <= free_length
    flow_0 : of the damper at the start [m]
    flow : of the damper [m]
    length : [m]
    tension : [N]
    """
    length = coordinate((r_j + s_j - r_i - s_i).norm())
    flow = state("flow", flow_0)
    return {
        "potential": stiffness / 2 * (length - free_length - flow) ** 2,
        "rates": {flow: -along(length) / viscosity},
        "length": length,
        "tension": -along(length),
    }


def relaxing(
    r_i, s_i, r_j, s_j, stiffness, viscosity, free_length, coordinate, along, state
):  # fmt: skip
    """A cable in series with a damper, without force at the start and where it is slack.

    stiffness : k [N/m], 0 <= stiffness
    viscosity : c [N s/m], 0 < viscosity
    free_length : [m], 0 <= free_length
    flow : [m]
    tension : [N]
    """
    length = coordinate((r_j + s_j - r_i - s_i).norm())
    flow = state("flow", length - free_length)
    return {
        "potential": stiffness / 2 * codegen.ramp(length - free_length - flow) ** 2,
        "rates": {flow: -along(length) / viscosity},
        "tension": -along(length),
    }


def creeping(
    r_i, s_i, r_k, s_k, r_l, s_l, r_j, s_j, stiffness, viscosity, slack_length, coordinate, rate, along, state
):
    """A tendon over two points, with a yielding part of its length and a state that follows its rate.

    stiffness : k [N/m], 0 <= stiffness
    viscosity : c [N s/m], 0 < viscosity
    slack_length : [m], 0 <= slack_length
    yielded : [m]
    slowed : of the rate [m/s]
    tension : [N]
    """
    ends = (r_i + s_i, r_k + s_k, r_l + s_l, r_j + s_j)
    length = coordinate(sum((b - a).norm() for a, b in zip(ends, ends[1:], strict=False)))
    yielded, slowed = state("yielded"), state("slowed", 0.1 * slack_length)
    return {
        "potential": stiffness / 2 * (length - slack_length - yielded) ** 2,
        "forces": {length: -viscosity * slowed},
        "rates": {yielded: -along(length) / viscosity + yielded * slowed, slowed: 20 * (rate(length) - slowed)},
        "tension": -along(length),
    }


VALUES = dict(stiffness=80.0, viscosity=30.0, free_length=1.0, flow_0=0.05)


def slider(definition=maxwell, *, x=1.3, v=0.4, **values):
    """A block on a straight guide, which the force ties to the ground."""
    return builder(definition, x=x, v=v, **values).build()


def builder(definition=maxwell, *, x=1.3, v=0.4, **values):
    """That of ``slider``."""
    b = runtime.Builder("slider", gravity=(0, 0, 0))
    b.body("block", mass=MASS, inertia=(0.1, 0.1, 0.1), r=(x, 0, 0), v=(v, 0, 0))
    b.joint("line", "translational", "ground", "block", s_i=(0, 0, 0), a_i=(1, 0, 0), s_j=(0, 0, 0), a_j=(1, 0, 0))
    b.force(
        "f", codegen.compile_force(definition), "ground", "block", s_i=(0, 0, 0), s_j=(0, 0, 0), **(values or VALUES)
    )
    return b


def closed_form(t, *, x=1.3, v=0.4, stiffness=80.0, viscosity=30.0, free_length=1.0, flow_0=0.05):
    """Place and speed of the block, and the flow of the damper, (times, 3): those of a linear system of order three."""
    k, c = stiffness, viscosity
    A = np.array([[0.0, 1.0, 0.0], [-k / MASS, 0.0, k / MASS], [k / c, 0.0, -k / c]])
    found = np.array([expm(A * time) @ [x - free_length, v, flow_0] for time in t])
    return found + [free_length, 0.0, 0.0]
