"""Limits whose shape a user states, as forces with a potential of g(angles) > 0: against a cone, and on both ankles."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from sympy import atan2

import codegen
import models
import runtime
from tests.support.own_laws import LINEAR

FINE = dict(rtol=1e-10, atol=1e-10)
EDGE, STIFFNESS = np.deg2rad(30.0), 40.0
FLEXION, INVERSION = 0.25, 0.15  # [rad] half axes of the ellipse
MOMENTS = [(0.0, 0.0), (0.5, 6.0), (1.0, 20.0), (2.0, 80.0)]  # over g


def beyond_a_circle(c_i, c_j, edge, stiffness, coordinate):
    """A direction of body j stays within an angle about one of body i.

    edge : [rad], 0 < edge <= 3
    stiffness : [N m/rad], 0 < stiffness
    excess : [rad]
    """
    angle = coordinate(atan2(codegen.size(c_i.cross(c_j)), c_i.dot(c_j)))
    excess = codegen.ramp(angle - edge)
    return {"potential": stiffness / 2 * excess**2, "excess": excess}


def range_of_an_ankle(
    a_i, a_j, first_range, second_range, damping, across, held, coordinate, rate
):  # fmt: skip
    """Both angles of an ankle stay within an ellipse; the moments are those of measured points.

    first_range : half axis of the angle about a_i [rad], 0 < first_range
    second_range : half axis of the angle about a_j [rad], 0 < second_range
    damping : [N m s], 0 <= damping
    first : from the reference configuration [rad]
    second : from the reference configuration [rad]
    outside : 0 on the ellipse [1]
    """
    (b_i, c_i), (b_j, c_j) = across(a_i), across(a_j)
    first = coordinate(held(atan2(a_j.dot(c_i), a_j.dot(b_i))))
    second = coordinate(held(atan2(a_i.dot(c_j), a_i.dot(b_j))))
    outside = coordinate((first / first_range) ** 2 + (second / second_range) ** 2 - 1)
    beyond = codegen.ramp(outside)
    return {
        "potential": codegen.Curve(MOMENTS).integral(beyond), "dissipation": damping / 2 * beyond * rate(outside) ** 2,
        "first": first, "second": second, "outside": outside,
    }  # fmt: skip


CIRCLE, ELLIPSE = codegen.compile_force(beyond_a_circle), codegen.compile_force(range_of_an_ankle)


def swinging(add):
    """A rod on a ball, which swings out of a circular cone about the direction down."""
    b = runtime.Builder("swing")
    b.body("rod", mass=3.5, inertia=(0.026, 0.026, 0.0002), r=(0, 0, -0.15), omega=(4, 2, 0), v=(-0.3, 0.6, 0))
    b.joint("pivot", "spherical", "ground", "rod", s_i=(0, 0, 0), s_j=(0, 0, 0.15))
    add(b)
    return b.build()


def test_a_circle_is_the_cone_of_a_limit():
    """The same motion as that of a limit with a linear law."""

    def of_limit(b):
        cone = runtime.Cone.from_degrees((0, 90, 180, 270, 360), (30,) * 5)
        b.limit("stop", "pivot", reference="ground", xi=(-1, 0, 0), eta=(0, 1, 0), direction=(0, 0, -1), cone=cone, law=LINEAR,
                stiffness=STIFFNESS, compliance=1.0)  # fmt: skip

    def of_force(b):
        b.force("stop", CIRCLE, "ground", "rod", c_i=(0, 0, -1), c_j=(0, 0, -1), edge=EDGE, stiffness=STIFFNESS)

    limit, force = (
        runtime.simulate(swinging(add), 1.5, t_eval=np.linspace(0, 1.5, 31), **FINE) for add in (of_limit, of_force)
    )
    assert limit.limits["stop"].excess.max() > 0.05
    assert np.abs(limit.states - force.states).max() < 1e-7
    assert np.abs(force.forces["stop"].excess - np.maximum(limit.limits["stop"].excess, 0.0)).max() < 1e-8


def foot(ankle, folder, damping):
    """The foot on an ankle that an ellipse of both angles restrains."""
    built = models.foot.build(ankle=ankle)
    joint, b = built.joint("ankle"), runtime.Builder.from_file(built.to_file(folder / "foot.json", overwrite=True))
    axes = {name: joint.values[name] for name in ("a_i", "a_j")}
    b.force(
        "range",
        ELLIPSE,
        joint.body_i,
        joint.body_j,
        **axes,
        first_range=INVERSION,
        second_range=FLEXION,
        damping=damping,
    )
    return b.build()


@pytest.mark.parametrize("ankle", ["classical", "modified"])
def test_an_ellipse_of_both_angles_of_an_ankle(ankle, tmp_path):
    system = foot(ankle, tmp_path, 0.0)
    run = runtime.simulate(system, 1.0, t_eval=np.linspace(0, 1, 201), **FINE)
    of, angles = run.forces["range"], run.angles["ankle"]
    for own, theta in ((of.first, angles.theta_i), (of.second, angles.theta_j)):
        turned = theta - theta[0]
        sign = np.sign(turned @ (own - own[0]))
        assert own - own[0] == pytest.approx(sign * turned, abs=1e-8) and np.ptp(theta) > 0.05
    assert of.outside.max() > 0.1 and of.outside.min() < -0.5
    assert of.outside == pytest.approx((of.first / INVERSION) ** 2 + (of.second / FLEXION) ** 2 - 1, abs=1e-12)
    spline, beyond = CubicSpline(*np.array(MOMENTS).T, bc_type="natural"), np.maximum(of.outside, 0.0)
    assert of.energy == pytest.approx([float(spline.integrate(0.0, x)) for x in beyond], abs=1e-9)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-8
    damped = runtime.simulate(foot(ankle, tmp_path, 1.0), 1.0, t_eval=np.linspace(0, 1, 201), **FINE)
    assert damped.energy[-1] < run.energy[-1] - 1e-2 and (np.diff(damped.energy) < 1e-7).all()


def test_cases_and_derivatives_of_an_own_shape(tmp_path):
    """Each case with its own half axis; the derivative over it is that of differences."""
    system, end, name = foot("classical", tmp_path, 0.5), 0.4, "second_range.range"
    h, at = 1e-5, FLEXION
    values = [at - h, at + h, 0.2]
    many = runtime.simulate_many(system, {name: values}, end, t_eval=[end], **FINE)
    assert many.vectorised.all() and not many.messages
    found = runtime.sensitivities(system, {name: at}, t_end=end, t_eval=[end], rtol=1e-9, atol=1e-9)
    found = found.r["main_foot"][-1, :, 0]
    slope = (many.r["main_foot"][1, 0] - many.r["main_foot"][0, 0]) / (2 * h)
    assert np.abs(slope).max() > 1e-3 and found == pytest.approx(slope, abs=1e-3 * np.abs(slope).max())
    one = runtime.simulate(runtime.with_parameters(system, {name: 0.2}), end, t_eval=[end], **FINE)
    assert many.r["main_foot"][2, 0] == pytest.approx(one.r["main_foot"][-1], abs=1e-8)
