"""Joints that a user defines, against built-in joints and a closed form."""

import numpy as np

import models
import runtime
from codegen import compile_joint
from runtime import GROUND, Builder
from tests.support.refusals import assert_refused

g = 9.81


def my_hinge(r_i, s1_i, s2_i, r_j, s1_j, a_j, across):
    """A hinge written in another way: a point in common, and a second point of body i on the axis of body j.

    s1_i, s1_j : the point in common [m]
    s2_i : a second point of the axis [m]
    a_j : the axis
    """
    b_j, c_j = across(a_j)
    second = r_i + s2_i - r_j - s1_j
    return {"point": r_j + s1_j - r_i - s1_i, "off_1": second.dot(b_j), "off_2": second.dot(c_j)}


def my_universal(r_i, s_i, a_i, r_j, s_j, a_j, angle):
    """A universal joint whose axes have the cosine ``angle``, which is given.

    s_i, s_j : the crossing point [m]
    a_i, a_j : the axes
    """
    return {"point": r_j + s_j - r_i - s_i, "axes": a_i.dot(a_j) - angle}


def point_on_cylinder(r_i, s_i, a_i, r_j, s_j, l):
    """Point P_j stays on the cylinder of radius l about the line of body i through P_i.

    s_i, s_j : points [m]
    a_i : direction of the line
    l : radius [m]
    """
    normal = a_i.cross(r_j + s_j - r_i - s_i)
    return {"radius": normal.dot(normal) - l**2}


def foot(own):
    """The foot with toes on a free hinge; ankle and hinge of the user's own, or built-in."""
    built_in = models.foot.build("classical")
    b = Builder("foot")
    for body in built_in.bodies:
        b.body(body.name, mass=body.mass, inertia=body.inertia, r=built_in.state.r[body.name])
    for name in ("ground", "ankle", "metatarsophalangeal"):
        joint = built_in.joint(name)
        kind, values = joint.kind, dict(joint.values)
        if own and name == "ankle":
            kind, values["angle"] = compile_joint(my_universal), values["a_i"] @ values["a_j"]
        elif own and name == "metatarsophalangeal":
            s_i = values["s_i"]
            kind = compile_joint(my_hinge)
            values = dict(s1_i=s_i, s2_i=s_i + 0.1 * values["a_i"], s1_j=values["s_j"], a_j=values["a_j"])
        b.joint(name, kind, joint.body_i, joint.body_j, **values)
    return b.build()


def test_own_joints_move_the_foot_like_the_built_in_ones():
    t = np.linspace(0.0, 1.0, 51)
    own, built_in = (runtime.simulate(foot(own), t[-1], t_eval=t, rtol=1e-13, atol=1e-13) for own in (True, False))
    for name in ("toes", "main_foot"):
        assert np.abs(own.r[name] - built_in.r[name]).max() < 1e-11
        assert np.abs(own.p[name] - built_in.p[name]).max() < 1e-11
        assert np.ptp(own.r[name], axis=0).max() > 0.01
    for name in ("ankle", "metatarsophalangeal"):
        a, b = (run.reaction(name, on="main_foot", at="centre") for run in (own, built_in))
        assert np.abs(a.force - b.force).max() < 1e-8
        assert np.abs(a.moment - b.moment).max() < 1e-8


def test_own_joint_without_a_built_in_counterpart():
    # A particle on an upright cylinder: uniform about the axis, free fall along it.
    radius, speed = 0.5, 3.0
    b = Builder("particle on a cylinder")
    b.body("particle", mass=2.0, inertia=(0.1, 0.1, 0.1), r=(radius, 0.0, 0.0), v=(0.0, speed, 1.0))
    b.joint(
        "wall", compile_joint(point_on_cylinder), GROUND, "particle",
        s_i=(0, 0, 0.7), a_i=(0, 0, 1), s_j=(0, 0, 0), l=radius,
    )  # fmt: skip
    t = np.linspace(0.0, 2.0, 41)
    run = runtime.simulate(b.build(), t[-1], t_eval=t, rtol=1e-13, atol=1e-13)
    angle = speed / radius * t
    exact = np.stack([radius * np.cos(angle), radius * np.sin(angle), t - 0.5 * g * t**2], axis=1)
    assert np.abs(run.r["particle"] - exact).max() < 1e-10
    inward = run.reaction("wall", on="particle").force
    assert np.abs(inward + 2.0 * speed**2 / radius * np.stack([np.cos(angle), np.sin(angle), 0 * t], 1)).max() < 1e-8


def test_where_an_own_joint_is_singular_is_derived():
    """Its docstring does not say so; the condition is that of its motion's proof."""

    def axes(s_i, a_i, s_j, a_j, turn):
        return {"first": turn(a_i, s_i), "second": turn(a_j, s_j)}

    b = Builder("straight", axes="global")
    b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -0.5))
    module = compile_joint(my_universal, axes)
    b.joint("gimbal", module, GROUND, "rod", point=(0, 0, 0), axis=(1, 0, 0), angle=1.0)
    assert_refused("constrains nothing; it is singular where a_i x a_j = 0; start from", b.build)
