"""Figures of moment arms: the values of ``Mechanics.moment_arms``, in the units of their labels."""

import numpy as np
import pytest

import runtime
from runtime.figures.lines import of_many
from tests.support.muscles import MUSCLE
from tests.support.refusals import assert_refused


@pytest.fixture(scope="module")
def mechanics():
    """A carriage and a rod on a hinge; one muscle pulls the rod to the carriage, one the carriage to the ground."""
    b = runtime.Builder("crane")
    b.body("carriage", mass=2.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, 1))
    b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, 0.5))
    b.joint("rail", "translational", "ground", "carriage", s_i=(0, 0, 1), a_i=(1, 0, 0), s_j=(0, 0, 0), a_j=(1, 0, 0))
    b.joint("pivot", "revolute", "carriage", "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0.5), a_j=(0, 1, 0))
    for name, path in (
        ("lift", [("carriage", (0.2, 0, 0)), ("rod", (0.05, 0, 0.2))]),
        ("haul", [("ground", (2, 0, 1.5)), ("carriage", (0, 0, 0))]),
    ):
        b.muscle(name, "thelen_as_opensim", path, excitation=0.1, tendon="rigid", **MUSCLE)
    return runtime.mechanics(b.build())


def curves(ax):
    return {line.get_label(): line.get_xydata().T for line in ax.lines if not line.get_label().startswith("_")}


def test_curves_are_the_moment_arms_in_degrees_and_millimetres(mechanics):
    fig = mechanics.moment_arm_figure({"pivot.angle": (-0.5, 0.4), "rail.distance": (-1.0, 1.0)})
    turn, slide = fig.axes
    assert turn.get_xlabel() == "pivot.angle [deg]" and turn.get_ylabel() == "moment arm [mm]"
    assert slide.get_xlabel() == "rail.distance [m]" and slide.get_ylabel() == "moment arm [1]"
    names = [name.removesuffix("_rate") for name in mechanics.rate_names]
    for ax, name, unit, factor in ((turn, "pivot.angle", np.deg2rad(1.0), 1e3), (slide, "rail.distance", 1.0, 1.0)):
        assert set(curves(ax)) == {"lift", "haul"}
        for muscle, (x, y) in curves(ax).items():
            for k in (0, 17, -1):
                arms = mechanics.moment_arms(muscle, mechanics.configuration({name: x[k] * unit}))
                assert y[k] == pytest.approx(factor * arms[names.index(name)], abs=1e-9)
    assert curves(turn)["lift"][0][[0, -1]] == pytest.approx(np.rad2deg([-0.5, 0.4]))
    x, y = curves(slide)["haul"]  # towards (2, 0, 1.5): the cosine of its angle with the rail
    np.testing.assert_allclose(y, (2.0 - x) / np.hypot(2.0 - x, 0.5), rtol=1e-9)


def test_muscles_that_do_not_move_a_coordinate_are_left_out_unless_named(mechanics):
    assert set(curves(mechanics.moment_arm_figure({"pivot.angle": (0.0, 0.4)}).axes[0])) == {"lift"}
    named = mechanics.moment_arm_figure({"pivot.angle": (0.0, 0.4)}, ["haul"])
    assert set(curves(named.axes[0])) == {"haul"}


def test_thirty_muscles_have_lines_of_their_own():
    assert len({str(of_many(n)) for n in range(30)}) == 30


def test_what_is_refused(mechanics):
    refused = mechanics.moment_arm_figure
    assert_refused("unknown coordinate 'knee.angle'", refused, {"knee.angle": (0.0, 1.0)})
    assert_refused("unknown force 'lifts'", refused, {"pivot.angle": (0.0, 1.0)}, ["lifts"])
    assert_refused("moment_arm_figure: names no coordinate; give ranges", refused, {})
    assert_refused("moment_arm_figure: pivot.angle", refused, {"pivot.angle": (0.0, np.nan)})


def test_euler_parameters_have_no_moment_arms():
    b = runtime.Builder("ball")
    b.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -0.5))
    b.joint("socket", "spherical", "ground", "ball", s_i=(0, 0, 0), s_j=(0, 0, 0.5))
    b.muscle(
        "m",
        "thelen_as_opensim",
        [("ground", (0.1, 0, 0)), ("ball", (0.1, 0, 0.2))],
        excitation=0.1,
        tendon="rigid",
        **MUSCLE,
    )
    mechanics = runtime.mechanics(b.build())
    name = mechanics.coordinate_names[1]
    assert_refused(f"{name} has no moment arms", mechanics.moment_arm_figure, {name: (0.0, 0.1)})
