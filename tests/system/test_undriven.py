"""Undriven and doubly driven degrees of freedom, and drivers that cannot be met, raise errors that name them."""

import numpy as np
import pytest

import models
import runtime
from runtime import AssemblyError, Builder, ModelError, Signal
from runtime.system.degrees_of_freedom import degrees_of_freedom
from tests.support.refusals import assert_refused
from tests.support.trees import Tree
from tests.support.vectors import X, largest


def chain(kind="modified_universal", ball=False):
    """A floating shank, an ankle of two axes, and a hinge or a ball joint beyond."""
    return Tree(["free", kind, "spherical" if ball else "revolute"], [None, 0, 1], 31)


def with_guides(tree, leave=()):
    b = tree.builder()
    tree.guide(b, [Signal.constant(value) for value in tree.q0])
    for name in leave:
        del b._of["joints"][name]
    return b


UNDRIVEN = {
    "first axis": (("near_1",), False, "joint_1.a_i"),
    "second axis": (("far_1",), False, "joint_1.a_j"),
    "both axes": (("near_1", "far_1"), False, "joint_1.a_i, joint_1.a_j"),
    "hinge": (("turn_2",), False, "joint_2.a_i"),
    "place": (("place_0",), False, "body_0.x, body_0.y, body_0.z"),
    "orientation": (("orient_0",), False, "body_0.turn_x, body_0.turn_y, body_0.turn_z"),
    "all of the body": (("place_0", "orient_0"), False, ", ".join(f"body_0.{p}{c}" for p in ("", "turn_") for c in "xyz")),
    "hinge and place": (("turn_2", "place_0"), False, "body_0.x, body_0.y, body_0.z, joint_2.a_i"),
    "ball": (("orient_2",), True, "joint_2.x, joint_2.y, joint_2.z"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["universal", "modified_universal"])
@pytest.mark.parametrize("case", UNDRIVEN)
def test_undriven_degrees_of_freedom_are_named(case, kind):
    leave, ball, names = UNDRIVEN[case]
    system = with_guides(chain(kind, ball), leave).build()
    count = len(names.split(", "))
    assert system.degrees_of_freedom == count
    for analysis in (runtime.kinematics, runtime.inverse_dynamics):
        degrees = "degrees" if count > 1 else "degree"
        expected = f"system 'tree': {count} {degrees} of freedom undriven: {names}; add a driver for each"
        assert assert_refused("", analysis, system, [0.0, 0.1]) == expected


def test_an_undriven_motion_of_several_joints_is_named_by_the_first():
    """The ball is guided against the ground: when the ankle turns, the ball turns back.  One driver for the ankle will do."""
    system = with_guides(chain(ball=True), ("near_1",)).build()
    assert_refused(
        "1 degree of freedom undriven: joint_1.a_i; add a driver for each", runtime.kinematics, system, [0.0]
    )


def test_an_undriven_loop_is_named():
    """Two bars of a four-bar linkage are left to themselves."""
    system = models.four_bar.build()
    assert_refused("1 degree of freedom undriven: crank; add a driver for each", runtime.kinematics, system, [0.0])


def twice(leave=(), angle=0.0):
    tree = chain()
    b = with_guides(tree, leave)
    _, _, near, far, vectors = tree.guides(2)[0]
    b.driver("again", "guided_angle", near, far, **vectors, theta_t=angle)
    return b


@pytest.mark.parametrize("angle", [0.0, 0.2])  # 0.2: against the other driver
def test_doubly_driven_degrees_of_freedom_are_refused_by_name(angle):
    doubly = r"system 'tree' is doubly driven: turn_2.angle, again.angle drive motions that other drivers drive"
    with pytest.raises(ModelError, match=doubly):
        twice(angle=angle).build()
    said = assert_refused("undriven: joint_1.a_i; leave a driver out", twice(("near_1",), angle).build)
    assert "again.angle" in said and "turn_2.angle" in said


@pytest.mark.parametrize("first", [True, False])
def test_two_drivers_of_a_closed_loop_with_redundant_rows_in_any_order(first):
    linkage = models.four_bar.build("revolute")
    b, at = Builder("linkage"), linkage.state
    angle = {name: 2.0 * float(np.arctan2(-at.p[name][2], at.p[name][0])) for name in ("crank", "rocker")}
    for body in linkage.bodies:
        b.body(body.name, mass=body.mass, inertia=body.inertia, r=at.r[body.name], p=at.p[body.name])

    def drive():
        for name in angle:
            b.driver(name, "guided_angle", "ground", name, a_i=X, h_i=(0, -1, 0), b_j=X, theta_t=angle[name])

    if first:
        drive()
    for joint in linkage.joints:
        b.joint(joint.name, joint.kind, joint.body_i, joint.body_j, **joint.values)
    if not first:
        drive()
    assert_refused(
        "doubly driven: crank.angle, rocker.angle drive motions that other drivers drive or joints exclude; leave",
        b.build,
    )


def test_a_driver_that_cannot_be_met_is_named_with_the_time():
    """A rod of 0.5 m between a slider along x and a knob that is led along y, out of its reach after 0.5 s."""
    b = Builder("rod")
    b.body("slider", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0.4, 0, 0))
    b.body("knob", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0.3, 0))
    b.joint("rail", "translational", "ground", "slider", s_i=(0, 0, 0), a_i=X, s_j=(0, 0, 0), a_j=X)
    b.joint("rod", "constant_distance", "slider", "knob", s_i=(0, 0, 0), s_j=(0, 0, 0), l=0.5)
    height = Signal.spline([0.0, 1.0], [0.3, 0.7], degree=1)
    b.driver("led", "guided_point", "knob", s_i=(0, 0, 0), x_t=0.0, y_t=height, z_t=0.0)
    b.driver("upright", "guided_cardan", "knob", alpha_t=0.0, beta_t=0.0, gamma_t=0.0)
    system = b.build()
    assert system.degrees_of_freedom == 0
    t = np.linspace(0.0, 0.45, 10)
    m = runtime.inverse_dynamics(system, t)
    x = np.sqrt(0.25 - height(t) ** 2)
    assert largest(m.r["slider"][:, 0] - x) < 1e-10
    assert largest(m.v["slider"][:, 0] + height(t) * 0.4 / x) < 1e-8
    with pytest.raises(AssemblyError, match=r"^at t = 0\.6 s: could not assemble: .*worst row (rod|led)\."):
        runtime.kinematics(system, [0.0, 0.2, 0.4, 0.6, 0.8])


def test_motions_along_no_axis_of_a_joint_are_named_twists():
    """A rod between two points: three rotations about the point on the body, and two more twists."""
    b = Builder("rod")
    b.body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0), r=(0, 0, -1))
    b.joint("rod", "constant_distance", "ground", "ball", s_i=(0, 0, 0), s_j=(0, 0, 0.1), l=0.9)
    system = b.build()
    names = [degree.name for degree in degrees_of_freedom(system, 0.0, system.state.y)[0]]
    assert names == ["rod.x", "rod.y", "rod.z", "rod.twist_1", "rod.twist_2"]
