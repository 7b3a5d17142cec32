"""Motion of the bodies by their own markers, against the rigid motions that generated the markers."""

import numpy as np
import pytest

from models.walking import rebuild, scale_to_subject, segment_pose
from models.walking.capture import Capture
from models.walking.segment_motion import check_same_subject, jumps, tracked
from runtime import ModelError
from tests.support.refusals import assert_refused
from tests.support.standing_subject import MAPPING, STANDING, known, standing, walking


def test_segments_are_where_they_were_put():
    s = known()
    trial, truth = walking(s, np.random.default_rng(1), toes=-0.6)
    for body, pose in segment_pose(s, trial).items():
        np.testing.assert_allclose(pose.A, truth[body][0], atol=1e-10)
        np.testing.assert_allclose(pose.r, truth[body][1], atol=1e-10)
        assert pose.residual.max() < 1e-10


def test_static_markers_are_rebuilt_where_they_were():
    s = known()
    drop = ("R_FCC", "R_FLE", "R_FME", "R__toe_tip")
    whole, _ = walking(s, np.random.default_rng(2))
    trial, _ = walking(s, np.random.default_rng(2), drop=drop)
    rebuilt = rebuild(s, trial)
    bodies = {"R_FCC": "main_foot", "R_FLE": "leg", "R_FME": "leg", "R__toe_tip": "toes"}
    assert dict(rebuilt.static_only) == bodies and set(rebuilt.markers) == set(whole.markers)
    for label in whole.markers:
        np.testing.assert_allclose(rebuilt.markers[label], whole.markers[label], atol=1e-10)
    assert all(residual.shape == (7,) and residual.max() < 1e-10 for residual in rebuilt.residual.values())


def test_the_residual_is_the_distance_from_the_standing_places():
    s = known()
    trial, truth = walking(s, np.random.default_rng(3))
    markers = dict(trial.markers)
    A = truth["leg"][0]
    # Two markers, the fit's mean and turn left alone: apart along the line between them.
    a, b = "R_FAX", "R_TAM"
    along = s.bodies["leg"].markers[a] - s.bodies["leg"].markers[b]
    step = A @ (0.004 * along / np.linalg.norm(along))
    markers[a], markers[b] = markers[a] + step, markers[b] - step
    pose = segment_pose(s, Capture("walk", trial.t, markers))["leg"]
    count = len(tracked(s, trial, "leg"))
    assert "R_FLE" not in tracked(s, trial, "leg") and count == 4
    np.testing.assert_allclose(pose.residual, np.sqrt(2 * 0.004**2 / count), rtol=0.05)


def test_frames_with_gaps_use_the_markers_that_are_left():
    s = known()
    trial, truth = walking(s, np.random.default_rng(4))
    markers = {label: np.array(p) for label, p in trial.markers.items()}
    markers["R_FAX"][1] = np.nan  # three are left
    markers["R_FAX"][2, 0] = np.nan  # two are left
    markers["R_TTC"][2] = np.nan
    markers["R__toe_tip"][3] = np.nan
    poses = segment_pose(s, Capture("walk", trial.t, markers))
    there = np.arange(7) != 2
    np.testing.assert_allclose(poses["leg"].A[there], truth["leg"][0][there], atol=1e-10)
    assert (
        np.isnan(poses["leg"].A[2]).all() and np.isnan(poses["leg"].r[2]).all() and np.isnan(poses["leg"].residual[2])
    )
    assert np.isnan(poses["toes"].A[3]).all() and np.isfinite(poses["toes"].A[[0, 1, 2, 4, 5, 6]]).all()


def test_too_few_markers_for_a_motion_are_refused():
    s = known()
    for drop in (("R_FAX", "R_TTC"), ("R_FCC", "R_FM1", "R_FM2", "R_FM5")):
        trial, _ = walking(s, np.random.default_rng(5), drop=drop)
        assert_refused(
            "in common with the static trial static; three that are not in a line are needed", rebuild, s, trial
        )
    in_line = STANDING | {
        "tibial_tuberosity": (0.045, -0.05, 0.2475)
    }  # between the fibula's head and the lateral malleolus
    s = scale_to_subject(standing(in_line), markers=MAPPING)
    trial, _ = walking(s, np.random.default_rng(5), drop=("R_TAM",))
    assert_refused("not in a line", segment_pose, s, trial)


@pytest.mark.parametrize("size", [0.92, 1.08])
def test_a_static_trial_of_another_subject_is_refused(size):
    trial, _ = walking(known(), np.random.default_rng(6))
    check_same_subject(known(), trial)
    other = scale_to_subject(standing(A=size * np.eye(3)), markers=MAPPING)
    with pytest.raises(
        ModelError, match=r"^walk: the markers are not placed as .* static \(R_\w+ to R_\w+: \d+ mm, standing"
    ):
        rebuild(other, trial)


def test_a_forefoot_that_spreads_is_that_of_the_same_subject():
    trial, truth = walking(known(), np.random.default_rng(8))
    A, broader = truth["main_foot"][0], np.array([0.0, 0.009, 0.0])  # 18 mm between the heads, far less to the heel
    spread = {"R_FM1": trial.markers["R_FM1"] + A @ broader, "R_FM5": trial.markers["R_FM5"] - A @ broader}
    check_same_subject(known(), Capture("walk", trial.t, dict(trial.markers) | spread))


def test_trials_without_a_common_marker_are_refused():
    trial = Capture("walk", np.zeros(1), {"R.Heel": np.zeros((1, 3))})
    with pytest.raises(ModelError, match=r"^walk: it has none of the markers of the static trial static \(R_FAX"):
        rebuild(known(), trial)


def test_a_marker_that_jumps_is_named():
    s = known()
    trial, _ = walking(s, np.random.default_rng(5))
    labels = {label: body for body in s.bodies for label in tracked(s, trial, body)}
    assert jumps(trial, labels, trial.t[0], trial.t[-1]) == []  # however far the whole body moves between two frames
    markers = {label: np.array(p) for label, p in trial.markers.items()}
    markers["R_FAX"][3] += [0.02, 0.02, 0.02]
    (sentence,) = jumps(Capture("walk", trial.t, markers), labels, trial.t[0], trial.t[-1])
    assert sentence.startswith("walk: marker 'R_FAX' jumps at t = 0.0") and "limit 6.0 mm" in sentence
    assert jumps(Capture("walk", trial.t, markers), labels, trial.t[4], trial.t[-1]) == []
