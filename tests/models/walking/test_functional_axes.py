"""The axes of the ankle from the motion of markers whose axes are known, with noise."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from models.walking import Anatomy, Filters, analyse, functional_axes, leg_foot, synthetic
from models.walking.geometry import euler_parameters
from models.walking.hinge_fit import FunctionalAxes
from runtime import Signal, kinematics
from tests.models.walking.test_anatomy import other_walk, scaled
from tests.support.gait_files import laboratory, write_c3d
from tests.support.refusals import assert_refused

TRUE = Anatomy(
    subtalar_inclination_deg=48.0,
    subtalar_deviation_deg=14.0,
    talocrural_inclination_deg=3.0,
    talocrural_deviation_deg=10.0,
)
T_END = 4.0  # [s]


def circles(dorsiflexion, inversion, noise, *, seed=0, phase=1.3, rate=50.0):
    """A trial: the leg rests and the foot turns by sines about the true axes, amplitudes [rad]; markers with noise [m]."""
    person, t = scaled(TRUE), np.arange(0.0, T_END, 1.0 / rate)
    leg = person.bodies["leg"]

    def sines(amplitude, shift, second):
        return Signal.function(
            lambda t: amplitude * (np.sin(1.5 * np.pi * t + shift) + second * np.sin(7.0 * t)), 0.0, T_END, step=1e-3
        )

    coordinates = leg_foot.Coordinates(
        leg=tuple(Signal.constant(float(x)) for x in leg.r),
        turn=tuple(Signal.constant(float(p)) for p in euler_parameters(leg.A[None])[0]),
        talocrural=sines(dorsiflexion, 0.0, 0.0), talocalcaneal=sines(inversion, phase, 0.2 if phase else 0.0),
        metatarsophalangeal=Signal.constant(0.0),
    )  # fmt: skip
    motion, rng = kinematics(leg_foot.build(person, coordinates), t), np.random.default_rng(seed)
    markers = {
        label: motion.r[body]
        + np.einsum("nab,b->na", motion.rotations(body), local)
        + noise * rng.normal(size=(len(t), 3))
        for body, segment in person.bodies.items()
        for label, local in segment.markers.items()
        if label not in segment.calibration
    }
    return replace(synthetic.trial(), name="circles", t=t, markers=markers, forces=(), events=())


@cache
def found(dorsiflexion, inversion, noise, **more):
    return functional_axes(scaled(), circles(dorsiflexion, inversion, noise, **more))


def errors(axes):
    """Angle [deg] between each axis and the true one."""
    true = scaled(TRUE)
    pairs = (
        (axes.talocrural.axis, true.talocrural.axes["leg"]),
        (axes.talocalcaneal.axis, true.talocalcaneal.axes["main_foot"]),
    )
    return [float(np.degrees(np.arccos(min(a @ b, 1.0)))) for a, b in pairs]


def test_axes_of_exact_markers():
    axes = found(0.4, 0.3, 0.0)
    assert max(errors(axes)) < 1e-4
    one, two = axes.talocrural, axes.talocalcaneal
    assert (one.inclination_deg, one.deviation_deg) == pytest.approx((3.0, 10.0), abs=1e-4)
    assert (two.inclination_deg, two.deviation_deg) == pytest.approx((48.0, 14.0), abs=1e-4)
    assert one.identified and two.identified and axes.residual < 1e-8 < axes.rule_residual
    assert (one.range_deg, two.range_deg) == pytest.approx((45.2, 37.9), abs=1.5)
    rule = scaled().talocalcaneal.axes["main_foot"]
    assert two.from_rule_deg == pytest.approx(np.degrees(np.arccos(rule @ two.axis)), abs=1e-9)


@pytest.mark.slow
def test_twice_the_noise_has_twice_the_deviation():
    one, two = (found(0.4, 0.3, noise).talocalcaneal.sd_deg for noise in (5e-4, 1e-3))
    assert two == pytest.approx(2.0 * one, rel=0.35)


@pytest.mark.slow
def test_deviations_are_those_of_repeated_trials():
    trials = [found(0.4, 0.3, 1e-3, seed=seed) for seed in range(6)]
    seen = np.sqrt(np.mean(np.square([errors(axes) for axes in trials]), axis=0))
    said = np.mean([(axes.talocrural.sd_deg, axes.talocalcaneal.sd_deg) for axes in trials], axis=0)
    assert (0.4 * said < seen).all() and (seen < 1.6 * said).all()


@pytest.mark.slow
def test_a_still_subtalar_joint_identifies_no_subtalar_axis():
    axes = found(0.4, 0.03, 1e-3)
    assert axes.talocrural.identified
    assert (
        "talocalcaneal angle varies by" in axes.talocalcaneal.reason and "8 deg are needed" in axes.talocalcaneal.reason
    )
    anatomy = axes.anatomy()
    assert anatomy.subtalar_inclination_deg is None and anatomy.talocrural_inclination_deg is not None
    assert "not identified, the rule remains" in axes.sentences()[1]


@pytest.mark.slow
def test_angles_that_follow_each_other_identify_neither_axis():
    """One turn about a fixed axis: any two hinges whose angles go together make it."""
    axes = found(0.25, 0.25, 1e-3, phase=0.0)
    assert not axes.talocrural.identified and not axes.talocalcaneal.identified
    assert axes.anatomy().stated("talocrural") == "" == axes.anatomy().stated("subtalar")


def test_an_angle_that_is_given_remains():
    axes = found(0.4, 0.3, 0.0)
    anatomy = axes.anatomy(Anatomy(subtalar_deviation_deg=30.0, link_length=0.03))
    assert (anatomy.subtalar_deviation_deg, anatomy.subtalar_inclination_deg, anatomy.link_length) == (30.0, None, 0.03)
    assert anatomy.talocrural_deviation_deg == pytest.approx(10.0, abs=1e-4)


@pytest.mark.slow
def test_analysis_with_functional_axes():
    """A walk about the true axes is analysed exactly once the circles have shown them."""
    walk = other_walk(scaled(TRUE))
    options = dict(markers=synthetic.MARKERS, filters=Filters.off())
    one = analyse(synthetic.static(), walk, functional=circles(0.4, 0.3, 0.0), **options)
    assert isinstance(one.functional_axes, FunctionalAxes)
    for joint in ("talocrural", "talocalcaneal"):
        assert np.abs(one.angles[joint] - synthetic.angle(joint, one.t)).max() < 1e-5
    assert any(note.startswith("functional talocalcaneal axis: inclination 48.0 deg") for note in one.notes)
    again = analyse(synthetic.static(), walk, functional=one.functional_axes, **options)
    assert np.array_equal(again.moments["talocrural"], one.moments["talocrural"])
    assert_refused(
        "functional= and subject= are both given",
        analyse,
        synthetic.static(),
        walk,
        functional=one.functional_axes,
        subject=scaled(),
        **options,
    )


def test_too_few_frames_are_refused():
    trial = circles(0.4, 0.3, 0.0)
    assert_refused(
        "circles: leg and foot are seen together in 11 frames, functional axes need 24",
        functional_axes,
        scaled(),
        trial.crop(0.0, 0.2),
    )


@pytest.mark.slow
def test_command_with_a_trial_of_circles(talus, tmp_path, without_figures):
    """The table states both axes, and the axes of the subject are those."""
    walk = other_walk(scaled(TRUE))
    files = laboratory(tmp_path, None, walk, "c3d")
    moved = write_c3d(tmp_path / "circles.c3d", circles(0.4, 0.3, 5e-4))
    labels = ("--marker", "hallux=R_HLX", "--marker", "toe_tip=R_TOE")
    done = talus(*files, "--functional", moved, "--no-filter", "--mass", 70, "--out", "o", *labels)
    assert done.code == 0, done.err
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    rows = summary["tables"]["functional axes"]
    assert [row["result"] for row in rows] == ["identified"] * 2
    assert rows[1]["inclination [deg]"] == pytest.approx(48.0, abs=1.5) and rows[1]["SD [deg]"] < 1.5
    (subject,) = [table for name, table in summary["tables"].items() if name.startswith("subject")]
    (axis,) = [row["value"] for row in subject if row[""] == "talocalcaneal axis"]
    assert f"inclination {rows[1]['inclination [deg]']:.1f} deg" in axis
