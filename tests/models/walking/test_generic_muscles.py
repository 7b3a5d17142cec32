"""Muscles of a generic leg on a subject: a leg of generic size is OpenSim's, others are scaled; a walk with known moments."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from models.files.description import ConditionalPoint, MovingPoint, PathPoint
from models.files.muscle_lengths import muscle_paths
from models.files.osim_functions import spline
from models.generic_bones import SOURCE, generic_leg
from models.rotations import about
from models.studies.gait import muscles
from models.walking import Filters, analyse, muscles_of_walk, synthetic, write_leg
from models.walking.capture import read_capture
from models.walking.electromyograms import emg
from models.walking.generic_muscles import place_generic_leg
from models.walking.geometry import UP
from tests.support.generic_subject import generic
from tests.support.paths import ROOT
from tests.support.recorded_gait import C3D, recorded, trial
from tests.support.refusals import assert_refused

OPENSIM = json.loads((ROOT / "tests" / "support" / "opensim_generic_leg.json").read_text())
ARMS = ("hip_flexion_r", "knee_angle_r", "ankle_angle_r", "subtalar_angle_r", "mtp_angle_r")
HINGES, MODIFIED = "as in the file", "modified universal"
ROUNDING = 1e-9


@cache
def knee_at_rest():
    return tuple(float(spline(*np.array(points)).value(0.0, 0)) for points in generic_leg()["knee"].values())


def paths_of(reading, q):
    every = {name: np.array([q.get(name, 0.0)]) for name in reading.source.coordinates}
    return muscle_paths(reading.source, every)


def test_a_leg_of_generic_size_is_that_of_opensim(tmp_path):
    """Lengths and moment arms of gait2392 by OpenSim 4.6, with all joints turned; data have ten digits."""
    subject, upper = generic(knee_at_rest())
    reading = write_leg(subject, tmp_path / "leg.osim", upper=upper)
    assert not reading.source.unread_muscles
    for pose in OPENSIM["paths"]:
        found = paths_of(reading, pose["q"])
        assert list(found) == list(pose["length"])
        for name, path in found.items():
            assert path.length[0] == pytest.approx(pose["length"][name], abs=ROUNDING), name
            arms = [path.moment_arms[coordinate][0] for coordinate in ARMS]
            assert arms == pytest.approx(pose["arms"][name], abs=1e-8), name


def test_the_knee_of_a_straight_leg_is_that_of_its_splines():
    assert generic_leg()["centres"]["knee"] == pytest.approx([*knee_at_rest(), 0.0], abs=1e-15)


def test_constants_are_those_of_the_source_on_a_leg_of_generic_size(tmp_path):
    subject, upper = generic(knee_at_rest())
    reading = write_leg(subject, tmp_path / "leg.osim", upper=upper)
    for muscle in reading.source.muscles:
        own = generic_leg()["muscles"][muscle.name.removesuffix("_r")]
        for name, value in own.items():
            if name != "points":
                assert muscle.constants[name] == pytest.approx(value, rel=ROUNDING)
        assert muscle.constants["fmax_tendon_strain"] == 0.033 and muscle.kind == "Thelen2003Muscle"


def test_lengths_grow_with_the_leg_and_forces_do_not(tmp_path):
    one, two = (
        write_leg(subject, tmp_path / f"{size}.osim", upper=upper, strength=strength)
        for size, strength in ((1.0, 1.0), (1.1, 1.5))
        for subject, upper in [generic(knee_at_rest(), size)]
    )
    q = OPENSIM["paths"][1]["q"]
    before, after = paths_of(one, q), paths_of(two, q)
    for a, b in zip(one.source.muscles, two.source.muscles, strict=True):
        assert after[a.name].length == pytest.approx(1.1 * before[a.name].length, abs=ROUNDING)
        arms = [of[a.name].moment_arms["knee_angle_r"][0] for of in (before, after)]
        assert arms[1] == pytest.approx(1.1 * arms[0], abs=ROUNDING)
        for name in ("optimal_fiber_length", "tendon_slack_length"):
            assert b.constants[name] == pytest.approx(1.1 * a.constants[name], rel=ROUNDING)
        assert b.constants["max_isometric_force"] == pytest.approx(1.5 * a.constants["max_isometric_force"])


def test_a_subject_who_stands_bent_has_the_generic_leg_in_this_posture():
    """Fibres are those of one who stands upright; ranges and places of points count from the angles of the generic leg."""
    subject, upper = generic(knee_at_rest())
    upright = place_generic_leg(subject, upper)
    bend = about(np.array([0.0, 1.0, 0.0]), -0.2)  # the knee goes forward, the leg stays upright
    knee = upper.thigh.A @ upper.knee
    moved = {name: replace(body, r=body.r + (bend @ knee - knee)) for name, body in subject.bodies.items()}
    thigh = replace(upper.thigh, A=bend @ upper.thigh.A)
    bent = place_generic_leg(replace(subject, bodies=moved), replace(upper, thigh=thigh))
    assert bent.standing == pytest.approx({"hip_flexion": 0.2, "knee_angle": -0.2})
    origins, axes = dict.fromkeys(bent.bones, np.zeros(3)), dict.fromkeys(bent.bones, np.eye(3))
    kinds = set()
    for a, b in zip(upright.muscles(origins, axes, "r", 1.0), bent.muscles(origins, axes, "r", 1.0), strict=True):
        # Between 0 and 0.2 rad the tibia slides by 2 mm in the generic femur, and by nothing while it stands.
        assert b.constants["optimal_fiber_length"] == pytest.approx(a.constants["optimal_fiber_length"], rel=0.03)
        for one, two in zip(a.points, b.points, strict=True):
            kinds.add(type(one))
            if isinstance(one, ConditionalPoint):
                own = bent.standing[one.coordinate.removesuffix("_r")]
                assert (two.lower, two.upper) == pytest.approx((one.lower - own, one.upper - own))
            if isinstance(one, MovingPoint):
                q = np.array([-0.5, 0.0])
                off = bent.bones["tibia"].place - upright.bones["tibia"].place
                assert two.at(q)[0] == pytest.approx(one.at(q - 0.2)[0] + off, abs=ROUNDING)
    assert kinds == {PathPoint, ConditionalPoint, MovingPoint}


def test_the_tibia_is_twisted_from_the_epicondyles_to_the_malleoli():
    subject, upper = generic(knee_at_rest())
    turn = about(UP, 0.3)
    leg = place_generic_leg(subject, replace(upper, knee_axes=turn)).bones["tibia"]
    plain = place_generic_leg(subject, upper).bones["tibia"]
    knee, ankle = np.array([0.01, 0.02, 0.0]), np.array([0.01, 0.02, -0.43])
    middle = (knee + ankle) / 2.0
    assert leg.at(knee) - leg.place == pytest.approx(turn @ (plain.at(knee) - plain.place))
    assert leg.at(ankle) == pytest.approx(plain.at(ankle))
    assert leg.at(middle) - leg.place == pytest.approx(about(UP, 0.15) @ (plain.at(middle) - plain.place))


def test_a_left_leg_is_the_mirror_image(tmp_path):
    subject, upper = generic(knee_at_rest())
    left = replace(subject, landmarks=replace(subject.landmarks, side="left"))
    one, two = (write_leg(of, tmp_path / f"{k}.osim", upper=upper) for k, of in enumerate((subject, left)))
    q = OPENSIM["paths"][2]["q"] | {"hip_adduction_r": 0.1, "hip_rotation_r": -0.2, "knee_rotation_r": 0.1}
    right, mirrored = paths_of(one, q), paths_of(two, {f"{name[:-1]}l": value for name, value in q.items()})
    for name, path in right.items():
        other = mirrored[f"{name[:-1]}l"]
        assert other.length == pytest.approx(path.length, abs=ROUNDING)
        for coordinate, arm in path.moment_arms.items():
            if not coordinate.startswith("pelvis"):
                assert other.moment_arms[f"{coordinate[:-1]}l"] == pytest.approx(arm, abs=ROUNDING)


@pytest.fixture(scope="module")
def synthetic_muscles(synthetic_walk, tmp_path_factory):
    return muscles_of_walk(synthetic_walk, tmp_path_factory.mktemp("leg") / "leg.osim", sorts=[MODIFIED])


@pytest.mark.slow
def test_a_walk_has_the_moments_of_its_analysis(synthetic_walk, synthetic_muscles):
    """Leg and foot move as in the analysis; knee and hip hold together, and the tibia slides in the femur."""
    one = synthetic_muscles.trials[MODIFIED]
    t, exact = one.trial.t, synthetic.exact(one.trial.t)
    assert t[0] == pytest.approx(synthetic_walk.cycle.strike) and t[-1] <= synthetic_walk.cycle.next_strike + 1e-9
    stance = (t > synthetic.STRIKE + 0.05) & (t < synthetic.STRIKE + synthetic.STANCE * synthetic.CYCLE - 0.05)
    largest = np.abs(exact["talocrural", "moment"]).max()
    for joint, coordinate in (("talocrural", "ankle_angle_r"), ("talocalcaneal", "subtalar_angle_r")):
        assert one.trial.q[coordinate] == pytest.approx(exact[joint, "angle"], abs=2e-3)
        assert one.trial.forces[coordinate][stance] == pytest.approx(exact[joint, "moment"][stance], abs=1e-3 * largest)
    for name, coordinate, sign in (("knee_flexion", "knee_angle_r", -1.0), ("hip_flexion", "hip_flexion_r", 1.0)):
        moment = sign * exact[name, "moment"][stance]
        assert one.trial.forces[coordinate][stance] == pytest.approx(moment, abs=0.15 * np.abs(moment).max())


@pytest.mark.slow
def test_muscles_and_reserves_make_six_moments(synthetic_muscles):
    one = synthetic_muscles.trials[MODIFIED]
    assert set(one.muscles.moments) == {
        "hip_flexion_r", "hip_adduction_r", "hip_rotation_r", "knee_angle_r", "ankle_angle_r", "subtalar_angle_r",
    }  # fmt: skip
    for name, moment in one.muscles.moments.items():
        made = sum(path.moment_arms[name] * one.muscles.forces[m] for m, path in one.muscles.paths.items())
        assert made + one.muscles.reserves[name] == pytest.approx(moment, abs=1e-9)
    assert not one.muscles.failed.size and len(one.muscles.activations) == 43
    said = f"right leg: {SOURCE}; factors: pelvis"
    with_mass = f"of a model of 75.2 kg, while this subject has {synthetic.MASS:.1f} kg"
    assert any(note.startswith(said) and note.endswith(with_mass) for note in synthetic_muscles.notes)


def test_a_walk_without_pelvis_is_refused(synthetic_walk, tmp_path):
    bare = replace(synthetic_walk, upper_leg=None, notes=("knee and hip are not analysed: no marker R_IAS",))
    assert_refused("no marker R_IAS", muscles_of_walk, bare, tmp_path / "leg.osim")
    assert_refused("strength = 0: give a factor", muscles_of_walk, synthetic_walk, tmp_path / "leg.osim", strength=0.0)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_options_that_are_refused_leave_no_leg(synthetic_walk, tmp_path):
    odd = (dict(muscles=dict(exponent=0.5)), "exponent = 0.5"), (dict(strength=float("nan")), "strength = nan")
    for options, why in odd:
        assert_refused(why, muscles.analyse, [synthetic_walk], tmp_path, options, print)
        assert not list(tmp_path.iterdir())


@recorded
@pytest.mark.slow
def test_activations_are_those_of_opensim(tmp_path):
    """Static optimisation of OpenSim 4.6 on the written leg, which has a talus without mass; its splines have other ends."""
    walk = analyse(trial("ST"), trial("C4_05"), side="right", filters=Filters.off())
    found = muscles_of_walk(walk, tmp_path / "leg.osim", sorts=[HINGES]).trials[HINGES].muscles
    rows = [int(np.abs(found.t - t).argmin()) for t in OPENSIM["walk"]["t"]]
    for name, expected in OPENSIM["walk"]["a"].items():
        assert found.activations[name][rows] == pytest.approx(expected, abs=2e-3), name


@recorded
@pytest.mark.slow
def test_activations_go_with_electromyograms(tmp_path):
    """Calf muscles and vastus medialis of an adult within 100 ms, the tibialis anterior less so; reserves are small."""
    walk = analyse(trial("ST"), trial("C4_05"), side="right", filters=Filters.off())
    found = muscles_of_walk(walk, tmp_path / "leg.osim").trials[MODIFIED].muscles
    every = emg(trial("C4_05")).agreement(found.t, found.activations).muscles
    correlation = {one.activation: one.correlation for one in every}
    for name, least in (("soleus_r", 0.8), ("med_gas_r", 0.9), ("vas_med_r", 0.9), ("tib_ant_r", 0.6)):
        assert correlation[name] > least
    assert all(found.reserve_share(name) < 0.05 for name in found.moments)


@pytest.mark.slow
def test_an_orthosis_leaves_the_rest_to_muscles(synthetic_walk, synthetic_muscles, tmp_path):
    """Its part of the moments is that of the analysis with the orthosis."""
    worn = analyse(
        synthetic.static(), synthetic.trial(), markers=synthetic.MARKERS, filters=Filters.off(), orthosis="stiff"
    )
    found = muscles_of_walk(synthetic_walk, tmp_path / "leg.osim", sorts=[MODIFIED], orthosis="stiff").trials[MODIFIED]
    part = np.interp(found.trial.t, worn.t, worn.orthosis_moments["talocrural"])
    largest = np.abs(part).max()
    assert found.orthosis["ankle_angle_r"] == pytest.approx(part, abs=2e-2 * largest) and largest > 1.0
    alone = synthetic_muscles.trials[MODIFIED].muscles.moments["ankle_angle_r"]
    assert found.muscles.moments["ankle_angle_r"] == pytest.approx(alone - part, abs=2e-2 * largest)


@pytest.mark.slow
def test_tables_of_several_walks_name_their_trials(synthetic_walk, synthetic_muscles):
    walks = [(replace(synthetic_walk, name=name), synthetic_muscles) for name in ("one", "two")]
    alone = muscles.tables(walks[:1], [])
    for table, of_one in zip(muscles.tables(walks, []), alone, strict=True):
        assert table.columns == ["trial", *of_one.columns] and table.note == of_one.note
        assert [list(row) for row in table.rows] == [[name, *row] for name in ("one", "two") for row in of_one.rows]
    assert "mean of 2 trials" in muscles.answer(walks) and "mean of" not in muscles.answer(walks[:1])
    assert len(muscles.notes(walks)) == len(muscles.notes(walks[:1]))
    assert set(muscles.figures(walks)) == {
        f"{stem}_{name}" for stem in ("one", "two") for name in muscles.figures(walks[:1])
    }


@recorded
@pytest.mark.slow
@pytest.mark.parametrize("who", sorted({path.name[:7] for path in C3D.glob("*_ST.c3d")}) if C3D.is_dir() else [])
def test_calf_muscles_act_late_in_stance_and_the_tibialis_anterior_early(who, tmp_path):
    """Nine adults at the speed that they chose."""
    walk = analyse(
        read_capture(C3D / f"{who}_ST.c3d"), read_capture(next(C3D.glob(f"{who}_C4_*.c3d"))), filters=Filters.off()
    )
    found = muscles_of_walk(walk, tmp_path / "leg.osim")
    letter = walk.side[0]
    for one in found.trials.values():
        percent = np.interp(one.trial.t, walk.t, walk.percent)
        a = {name.removesuffix(f"_{letter}"): of for name, of in one.muscles.activations.items()}
        early, middle = percent < 12.0, (percent > 0.3 * walk.toe_off) & (percent < 0.9 * walk.toe_off)
        late = (percent > 0.6 * walk.toe_off) & (percent < walk.toe_off)
        for name in ("soleus", "med_gas", "lat_gas"):
            assert 0.6 * walk.toe_off < percent[a[name].argmax()] < walk.toe_off
        assert a["soleus"][late].mean() > 10.0 * a["soleus"][early].mean()
        assert a["tib_ant"][early].mean() > 1.3 * a["tib_ant"][middle].mean()
        contact = one.contacts[f"ankle_{letter}"].size.max() / (9.81 * found.mass)
        assert 3.5 < contact < 7.0 and not one.muscles.failed.size
