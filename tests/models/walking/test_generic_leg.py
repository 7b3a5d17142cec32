"""A lower leg from a static trial as a model of OpenSim: known legs are found again; a walk has its known angles and moments."""

from dataclasses import replace

import numpy as np
import pytest

import models
from models import walking
from models.walking import synthetic, with_own_forces, write_leg
from models.walking.capture import Capture
from models.walking.inverse_kinematics import axes_of_model
from tests.support.marked_limbs import markers_of
from tests.support.refusals import assert_refused
from tests.support.standing_subject import MAPPING, standing, without

MODIFIED = "modified universal"
ANGLES = {"talocrural": "ankle_angle", "talocalcaneal": "subtalar_angle", "metatarsophalangeal": "mtp_angle"}
ROUNDING = 1e-9


def other_side(capture):
    """The mirror image of a trial, whose labels begin with L."""
    mirrored = capture.mirrored()
    return replace(mirrored, markers={"L" + label[1:]: p for label, p in mirrored.markers.items()})


def labels(side):
    return {landmark: ("L" if side == "left" else "R") + label[1:] for landmark, label in synthetic.MARKERS.items()}


def on(side, capture):
    return other_side(capture) if side == "left" else capture


def scaled(static, side, **options):
    return walking.scale_to_subject(static.mirrored() if side == "left" else static, side, **options)


def standing_again(reading, subject, side):
    """The markers of the model's own pose as a laboratory records them, with those of the knee, which the model lacks."""
    q = {name: np.zeros(3) for name in reading.source.coordinates}
    turn = axes_of_model(reading.source)
    markers = {name: np.asarray(x) @ turn for name, x in markers_of(reading, q).items()}
    leg = subject.bodies["leg"]
    for label in leg.calibration:
        at = (leg.r + leg.A @ leg.markers[label]) * [1.0, -1.0 if side == "left" else 1.0, 1.0]
        markers[label] = np.tile(at, (3, 1))
    markers = {name: np.broadcast_to(x, (3, 3)) for name, x in markers.items()}
    return Capture("again", np.arange(3) / 100.0, markers)


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_static_trial_of_a_known_leg_gives_it_back(tmp_path, side):
    """Another file from the markers of the model alone has its masses, axes, points and markers."""
    options = dict(mass=64.0, height=1.7, sex="female", markers=labels(side))
    known = scaled(on(side, synthetic.static()), side, **options)
    one = write_leg(known, tmp_path / "one.osim")
    found = scaled(standing_again(one, known, side), side, **options)
    two = write_leg(found, tmp_path / "two.osim")
    assert found.link_length == pytest.approx(known.link_length, abs=ROUNDING)
    for a, b in zip(one.source.links, two.source.links, strict=True):
        assert (a.name, a.parent) == (b.name, b.parent) and a.mass == pytest.approx(b.mass, rel=ROUNDING)
        for name in ("position", "rotation", "centre", "inertia"):
            assert getattr(a, name) == pytest.approx(getattr(b, name), abs=ROUNDING)
        for s, r in zip(a.steps, b.steps, strict=True):
            assert np.hstack([s.axis, s.point]) == pytest.approx(np.hstack([r.axis, r.point]), abs=ROUNDING)
    for name, frame in one.frames.items():
        assert frame.position == pytest.approx(two.frames[name].position, abs=ROUNDING)
    assert sum(link.mass for link in one.source.links) == pytest.approx(
        sum(segment.mass for segment in known.bodies.values())
    )


@pytest.mark.slow
@pytest.mark.parametrize("side", ["right", "left"])
def test_a_walk_has_the_known_angles_and_moments(tmp_path, side):
    """The trial of the driven leg, whose moments its own equations of motion give, by the markers and the plate alone."""
    subject = scaled(on(side, synthetic.static()), side, markers=labels(side))
    letter = side[0]
    reading = write_leg(subject, tmp_path / "leg.osim")
    trial = with_own_forces(on(side, synthetic.trial()), side, markers=labels(side))
    found = walking.compare_ankles(reading, trial, sorts=[MODIFIED], mass=subject.mass, cutoff=None)
    one = found.trials[MODIFIED].trial
    exact = synthetic.exact(one.t)
    # Plates count as loaded from 20 N on, so that moments agree between.
    stance = (one.t > synthetic.STRIKE + 0.05) & (one.t < synthetic.STRIKE + synthetic.STANCE * synthetic.CYCLE - 0.05)
    for joint, coordinate in ANGLES.items():
        assert one.q[f"{coordinate}_{letter}"] == pytest.approx(exact[joint, "angle"], abs=1e-9)
        moments = one.forces[f"{coordinate}_{letter}"][stance], exact[joint, "moment"][stance]
        assert moments[0] == pytest.approx(moments[1], abs=1e-4 * np.abs(exact["talocrural", "moment"]).max())
    largest = np.abs(found.moment(MODIFIED, f"ankle_angle_{letter}")).max()
    assert largest == pytest.approx(np.abs(exact["talocrural", "moment"]).max() / synthetic.MASS, rel=1e-3)


def test_the_file_is_a_leg_with_a_talus_without_mass(tmp_path):
    reading = write_leg(walking.scale_to_subject(standing(), markers=MAPPING), tmp_path / "leg.osim")
    assert [link.name for link in reading.source.links] == ["tibia_r", "talus_r", "calcn_r", "toes_r"]
    assert reading.source.links[1].mass == 0.0 and not reading.source.coordinates["mtp_angle_r"].locked
    swapped = models.swap(reading, "ankle_r", "subtalar_r")
    assert [joint.kind for joint in swapped.build().joints].count("modified_universal") == 1
    assert any("'talus_r' has no mass" in row[2] for row in swapped.rows())
    assert not {frame.name for frame in reading.source.frames} & {"R_FLE", "R_FME"}  # they move with the thigh


def test_toes_without_markers_are_locked(tmp_path):
    reading = write_leg(walking.scale_to_subject(standing(without("toe_tip"))), tmp_path / "leg.osim")
    assert reading.source.coordinates["mtp_angle_r"].locked


def test_forces_under_the_other_foot_are_left_out(tmp_path):
    """Two plates, one under each foot."""
    right, left = synthetic.trial(), other_side(synthetic.trial())
    apart = np.array([0.9, 0.25, 0.0])
    plate = replace(left.forces[0], plate="other", cop=left.forces[0].cop + apart, corners=None)
    markers = {**right.markers, **{label: p + apart for label, p in left.markers.items()}}
    both = replace(right, markers=markers, forces=(*right.forces, plate))
    for side, own in (("right", "synthetic"), ("left", "other")):
        found = with_own_forces(both, side)
        assert [force.plate for force in found.forces] == [own]
        assert any("is under the other foot" in note for note in found.notes)
        assert f"the {side} foot are known at 0.10 to 0.70 s; elsewhere moments" in found.notes[-1]
    assert with_own_forces(replace(both, forces=()), "left").forces == ()
    assert_refused("side = 'both'; use 'left' or 'right'", with_own_forces, both, "both")


def test_another_format_is_refused(tmp_path):
    assert_refused("a lower leg is written as .osim", write_leg, synthetic.subject(), tmp_path / "leg.xml")
