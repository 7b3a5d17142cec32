"""Orthoses of the foot with a hinge by the axes of the ankle: aligned, misplaced, mirrored, started at an angle; refusals."""

import re

import numpy as np
import pytest

import runtime
from models import foot, foot_orthosis
from tests.support.limits import both_ankles
from tests.support.refusals import assert_refused

STRAPS = {"cuff": {"stiffness": (1e4, 8e3, 6e3, 20.0, 15.0, 10.0), "damping": (40.0,) * 3 + (0.2,) * 3}}


def hinged(axes=1, *, stiffness=(0.0, 0.0, 0.0), **hinge):
    return dict(stiffness=stiffness, mass=(0.2, 0.15), straps=STRAPS, hinge={"axes": axes, **hinge})


def straps_of(system, t_end=1e-9):
    run = runtime.simulate(system, t_end, rtol=1e-9, atol=1e-9)
    assert run.success, run.message
    return run.forces["orthosis_cuff_strap"]


@both_ankles
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize(("axes", "ankle_deg"), [(1, (-12.0, 0.0)), (2, (9.0, -7.0))])
def test_a_hinge_on_the_axes_of_the_ankle_begins_at_its_angles_and_loads_no_strap(ankle, side, axes, ankle_deg):
    system = foot.build(ankle, side=side, orthosis=hinged(axes, stiffness=(5.0, 0.0, 0.0)), ankle_deg=ankle_deg)
    assert np.abs(straps_of(system).force[0]).max() < 1e-8
    run = runtime.simulate(system, 1e-9)
    angles = run.angles["orthosis_hinge"]
    found = (angles.angle,) if axes == 1 else (angles.theta_i, angles.theta_j)
    assert [np.rad2deg(one[0]) for one in found] == pytest.approx(ankle_deg[:axes], abs=1e-6)
    assert np.rad2deg(run.forces["orthosis_dorsiflexion"].angle[0]) == pytest.approx(ankle_deg[0], abs=1e-6)


@both_ankles
@pytest.mark.parametrize("axes", [1, 2])
def test_a_misplaced_hinge_of_a_left_foot_is_the_mirror_image(ankle, axes):
    misplaced = dict(shift=(0.012, -0.008, 0.005), turn_deg=(4.0, -3.0, 8.0))
    forces = {
        side: straps_of(foot.build(ankle, side=side, orthosis=hinged(axes, **misplaced), ankle_deg=(-10.0, 5.0)), 0.05)
        for side in ("right", "left")
    }
    assert np.linalg.norm(forces["right"].force, axis=1).max() > 10.0
    for name, signs in (("force", (1, -1, 1)), ("moment", (-1, 1, -1))):
        right, left = (getattr(forces[side], name) for side in ("right", "left"))
        assert left == pytest.approx(right * signs, abs=1e-6 * np.abs(right).max())


def test_a_shift_and_a_turn_displace_point_and_axis_of_the_hinge():
    plain, moved = (
        foot.build(orthosis=hinged(1, **misplaced)).joint("orthosis_hinge").values
        for misplaced in ({}, dict(shift=(0.01, 0.02, -0.005), turn_deg=(0.0, 0.0, 10.0)))
    )
    assert moved["s_i"] - plain["s_i"] == pytest.approx([0.01, 0.02, -0.005], abs=1e-15)
    c, s = np.cos(np.deg2rad(10.0)), np.sin(np.deg2rad(10.0))
    assert moved["a_i"] == pytest.approx(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ plain["a_i"], abs=1e-15)
    assert plain["a_i"] == pytest.approx(-foot.talocrural_axis(), abs=1e-15)


def test_integers_of_numpy_count_axes():
    own, of_numpy = (foot.build(orthosis=hinged(count)) for count in (2, np.int64(2)))
    assert np.array_equal(runtime.simulate(own, 0.01).states, runtime.simulate(of_numpy, 0.01).states)


def test_a_hinge_may_be_given_by_point_and_axis():
    given = dict(point=(0.0, 0.01, -0.3), axis=(0.0, -1.0, 0.1))
    values = foot.build(orthosis={**hinged(), "hinge": given}).joint("orthosis_hinge").values
    assert values["s_i"] == pytest.approx(np.subtract(given["point"], foot_orthosis.CUFF), abs=1e-15)


@pytest.mark.parametrize(
    ("orthosis", "words"),
    [
        (hinged(3), "orthosis: hinge: axes = 3; use 1 or 2"),
        (hinged(1.0), "orthosis: hinge: axes = 1.0; give a number of axes, 1 or more"),
        (
            hinged(1, offset=(0, 0, 0)),
            "orthosis: hinge has no 'offset'; it takes axes, shift, turn_deg, or point and axis",
        ),
        (hinged(1, shift=(0.01, 0)), "orthosis: hinge: shift has the shape (2,); give 3 numbers"),
        (hinged(1) | {"straps": {}}, "its cuff is not fastened"),
        (hinged(1) | {"hinge": "one"}, "hinge"),
        (
            hinged(1) | {"mass": 0.3},
            "orthosis 'orthosis': mass of plate and cuff [kg] has the shape (); give 2 numbers",
        ),
    ],
)
def test_bad_hinges_are_refused(orthosis, words):
    assert_refused(words, foot.build, orthosis=orthosis)


def test_the_number_of_axes_may_be_of_numpy():
    assert foot.build(orthosis=hinged(np.int64(2))).joint("orthosis_hinge").kind == "modified_universal"


@pytest.mark.parametrize(
    ("orthosis", "question"),
    [
        (hinged(1, shift=(10, 0, 0)), "orthosis: hinge: shift = 10 m, but a misplacement.*10 mm are 0.01 m"),
        (hinged(1, turn_deg=(0, 0, 180)), "orthosis: hinge: turn_deg = 180 degrees, but a misplacement"),
        (dict(stiffness=(60, 20, 10), neutral=(5, 0, 0)), "orthosis 'orthosis': neutral = 5 rad.*5 degrees are 0.08727 rad"),
        (dict(stiffness=(60, 20, 10), mass=300), "orthosis 'orthosis': mass = 300 kg.*300 g are 0.3 kg"),
        (dict(stiffness=(60, 20, 10), plate=(50, 0, 0)), "orthosis 'orthosis': plate = 50 m.*50 mm are 0.05 m"),
        (hinged(1) | {"cuff": (0, 0, 70)}, "orthosis 'orthosis': cuff = 70 m.*70 mm are 0.07 m"),
    ],
)  # fmt: skip
def test_values_in_another_unit_are_asked_about(orthosis, question):
    with pytest.warns(runtime.UnitWarning) as given:
        foot.build(orthosis=orthosis)
    assert any(re.match(question, str(one.message)) for one in given), [str(one.message) for one in given]
    foot.build(orthosis=orthosis, check_units=False)


def test_a_curve_over_degrees_and_stiffnesses_per_degree_are_asked_about():
    curve = np.column_stack([[-20.0, 0.0, 20.0], [-9.0, 0.0, 20.0]])
    for stiffness, words in (
        ((curve, 0.0, 0.0), "20 degrees are 0.3491 rad"),
        (((0.6, 0.4), 0.0, 0.0), "0.6 N m/deg are 34.38"),
    ):
        with pytest.warns(runtime.UnitWarning, match=words):
            foot.build(orthosis=dict(stiffness=stiffness))
        foot.build(orthosis=dict(stiffness=stiffness), check_units=False)
