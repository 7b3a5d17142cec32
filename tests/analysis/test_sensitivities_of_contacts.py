"""Derivatives of runs with contacts, with the jumps where these begin and end, against differences of runs."""

import numpy as np
import pytest

import models
from runtime import GROUND, Builder, fit_parameters, sensitivities, simulate
from tests.support.marks import quick_for
from tests.support.refusals import assert_refused
from tests.support.sensitivities import difference
from tests.support.stiff import MASS, reduced_ball, thrown_ball

TIGHT = dict(rtol=1e-13, atol=1e-13)
NORMAL = np.array([0.1, -0.2, 1.0]) / np.linalg.norm([0.1, -0.2, 1.0])
BELT = np.cross(NORMAL, (0.0, 1.0, 0.0)) / np.linalg.norm(np.cross(NORMAL, (0.0, 1.0, 0.0)))
LAWS = {
    "kelvin_voigt": dict(stiffness=4e4, exponent=1.3, damping=30.0),  # its force begins and ends with jumps
    "hertz": dict(stiffness=3e5),
    "hunt_crossley": dict(stiffness=2e5, exponent=1.5, loss=0.4),
    "lankarani_nikravesh": dict(stiffness=2e5, exponent=1.5, restitution=0.7),  # it knows the speed of the touch-down
    "flores": dict(stiffness=2e5, exponent=1.4, restitution=0.6),
}
BALL = dict(speed=-1.0, height=0.125, radius=0.1, mass=1.0, offset=0.005)


def ball(
    law, friction=None, speed=-1.0, height=0.125, radius=0.1, mass=1.0, offset=0.005, slope=0.0, belt=0.2, **parameters
):
    """A spinning body that hits a tilted plane; its sphere lies off its centre."""
    b = Builder("ball")
    spin = dict(omega=(0.0, 2.0, 1.0), v=(0.3, 0.1, speed))
    b.body("ball", free=True, mass=mass, inertia=(4e-3, 5e-3, 4.5e-3), r=(0, 0, height), **spin)
    rub = {} if friction is None else dict(friction=friction, mu_c=0.4, mu_d=2.0, transition_velocity=0.05)
    place = dict(
        centre=(0.0, 0.01, offset),
        radius=radius,
        normal=np.cos(slope) * NORMAL + np.sin(slope) * BELT,
        belt=np.cross(NORMAL, BELT),
    )
    b.contact("floor", "ball", law=law, belt_speed=belt, **place, **rub, **parameters)
    return b.build(check_units=False)


def hopper(height=0.3, loss=0.5, arm=0.2, mass=1.0):
    """A rod on a hinge whose end hits the ground several times."""
    b = Builder("hopper")
    b.body("rod", mass=mass, inertia=(1e-3, 0.02, 0.02), r=(arm, 0.0, height))
    b.joint("hinge", "revolute", GROUND, "rod", s_i=(0, 0, height), a_i=(0, 1, 0), s_j=(-arm, 0, 0), a_j=(0, 1, 0))
    b.contact(
        "end", "rod", centre=(arm, 0, 0), radius=0.05, law="hunt_crossley", stiffness=1e5, exponent=1.5, loss=loss,
        friction="smooth", mu_c=0.4, mu_d=1.0, transition_velocity=0.05,
    )  # fmt: skip
    return b.build(check_units=False)


def check(build, given, t_end, *, step, within, tolerance=1e-11):
    """Derivatives at the end and half-way by all given numbers are differences of runs, in all coordinates."""
    how = dict(t_eval=[0.5 * t_end, t_end], rtol=tolerance, atol=tolerance)
    t = how["t_eval"]
    found = [sensitivities(build, given, t_end, coordinates=c, **how) for c in ("absolute", "joint")]
    for k, (number, value) in enumerate(given.items()):

        def states(h, number=number, value=value):
            return simulate(build(**(given | {number: value + h})), t_end, t_eval=t, **TIGHT).states

        expected = difference(states, step * (abs(value) or 1.0))
        off = max(np.abs(one.slopes[:, :, k] - expected).max() for one in found)
        assert np.abs(expected * (value or 1.0)).max() > 1e-4 and off < within * np.abs(expected).max(), number
    return found[0]


@pytest.mark.slow
@pytest.mark.parametrize("friction", [None, "smooth", "coulomb"])
@pytest.mark.parametrize("law", quick_for(LAWS, ["kelvin_voigt", "hertz", "flores"], pytest.mark.nightly))
def test_derivatives_through_a_touch_down_and_a_lift_off(law, friction):
    def build(**numbers):
        return ball(law, friction, **numbers)

    given = BALL | LAWS[law] | ({} if friction is None else {"belt": 0.2})
    run = simulate(build(**given), 0.1)
    assert run.contact_events[:, 2].tolist() == [1.0, 0.0]
    # Friction of Coulomb has a seam at the transition velocity, where the differences of runs are worse.
    check(build, given, 0.1, step=1e-4, within=1e-6 if friction == "coulomb" else 2e-8)


def test_a_plane_that_tilts():
    check(
        lambda slope: ball("flores", "smooth", slope=slope, **LAWS["flores"]),
        {"slope": 0.0},
        0.1,
        step=1e-4,
        within=2e-8,
    )


def test_a_sphere_that_starts_within_its_plane():
    """The speed of its touch-down is that of the start."""

    def build(**numbers):
        return ball("flores", None, **numbers, **LAWS["flores"])

    given = BALL | {"height": 0.09}
    assert simulate(build(**given), 0.1).contact_events[0, [0, 2]].tolist() == [0.0, 1.0]
    check(build, given, 0.02, step=1e-4, within=2e-8)


def test_a_touch_down_below_the_smallest_speed():
    """Its law knows the smallest speed instead, whatever the motion."""

    def build(speed, least):
        return ball("flores", None, speed=speed, height=0.1025, min_impact_speed=least, **LAWS["flores"])

    given = {"speed": -0.01, "least": 2.0}
    run = simulate(build(**given), 0.06)
    assert run.contact_events[0, 2] == 1.0 and run.contact_events[0, 3] == 2.0
    check(build, given, 0.06, step=1e-3, within=1e-7)


@pytest.mark.slow
def test_several_bounces_of_a_body_on_a_hinge():
    given = {"height": 0.3, "loss": 0.5, "arm": 0.2, "mass": 1.0}
    assert simulate(hopper(**given), 1.0).contact_events[:, 2].sum() >= 3
    check(hopper, given, 1.0, step=1e-5, within=1e-6)


def test_parts_of_the_initial_state():
    def build(**numbers):
        return ball("lankarani_nikravesh", "smooth", **numbers, **LAWS["lankarani_nikravesh"])

    expected = check(build, {"speed": -1.0, "mass": 1.0}, 0.1, step=1e-4, within=2e-8).slopes[-1]
    given = {"v.ball": [0.3, 0.1, -1.0], "mass.ball": 1.0}
    for coordinates in ("absolute", "joint"):
        found = sensitivities(build(), given, 0.1, rtol=1e-11, atol=1e-11, coordinates=coordinates)
        assert found.names == ("v.ball[0]", "v.ball[1]", "v.ball[2]", "mass.ball")
        assert np.abs(found.slopes[-1, :, 2:] - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.slow
def test_the_foot_on_the_ground():
    def build(hardness):
        return models.foot_ground.build(stiffness=hardness * models.foot_ground.STIFFNESS, friction="smooth")

    check(build, {"hardness": 1.0}, 0.14, step=1e-4, within=1e-6, tolerance=1e-9)


@pytest.mark.slow
def test_a_stiff_contact_is_left_to_radau():
    """Against SciPy's Radau on equations of the height alone; dop853 takes 5600 steps."""
    expected = difference(lambda h: np.array(reduced_ball(2.0, MASS + h)[2:]), 1e-3)
    found = sensitivities(thrown_ball(), {"mass.ball": MASS}, 2.0, rtol=1e-9, atol=1e-9)
    assert found.steps < 500
    slopes = found.r["ball"][-1, 2, 0], found.v["ball"][-1, 2, 0]
    assert slopes == pytest.approx(expected, rel=1e-5)


def test_stiffness_and_restitution_from_a_measured_bounce():
    def build(stiffness, restitution):
        return ball("flores", "smooth", stiffness=stiffness, exponent=1.4, restitution=restitution)

    t = np.linspace(0.0, 0.08, 41)
    measured = simulate(build(2e5, 0.6), 0.08, t_eval=t, **TIGHT)
    found = fit_parameters(
        build, {"stiffness": 1e5, "restitution": 0.8}, t, {"r.ball": measured.r["ball"]}, rtol=1e-10, atol=1e-10
    )
    assert found.values["stiffness"] == pytest.approx(2e5, rel=1e-6)
    assert found.values["restitution"] == pytest.approx(0.6, rel=1e-6)


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_a_contact_that_grazes_its_plane_is_refused(coordinates):
    """A ball is thrown up to a ceiling that it just reaches."""

    def build(rise):
        b = Builder("graze")
        b.body("ball", free=True, mass=1.0, inertia=(1, 1, 1), v=(0, 0, 1.0 + rise))
        top = 0.5 / 9.81 - 5e-12
        b.contact(
            "top",
            "ball",
            centre=(0, 0, 0),
            radius=0.1,
            normal=(0, 0, -1),
            point=(0, 0, 0.1 + top),
            law="hertz",
            stiffness=1e5,
        )
        return b.build(check_units=False)

    assert_refused("contact 'top' grazes its plane", sensitivities, build, {"rise": 0.0}, 0.5, coordinates=coordinates)
