"""Notes and refusals of a comparison of ankles: markers that do not show them, forces of a part of the trial, other names."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.files.opensim_loads import ExternalForce
from models.files.sides import on_other_side, side_of
from models.files.storage import Storage
from models.walking import compare_ankles, inverse_dynamics_of_trial, inverse_kinematics
from models.walking.swapped_ankle import ankles_of, feet_of
from tests.support.marked_limbs import TIMES, marked, read, smooth, trial_of
from tests.support.refusals import assert_refused

FILE, MODIFIED = "as in the file", "modified universal"


@pytest.fixture
def reading(tmp_path):
    return read(tmp_path, marked())


def without(trial, bodies, frames):
    """A trial in which the markers of bodies are not seen in some frames."""
    markers = {name: np.array(x) for name, x in trial.markers.items()}
    for name, x in markers.items():
        if name.startswith(bodies):
            x[frames] = np.nan
    return replace(trial, markers=markers)


def force_over(t, body="calcn_r"):
    zero = np.zeros((len(t), 3))
    table = Storage(Path("grf.mot"), t, {}, in_degrees=False)
    return ExternalForce("push", body, table, zero + 1.0, zero, zero, "ground", "ground")


def test_ankles_that_no_frame_shows_are_refused(reading):
    trial = without(trial_of(reading, smooth(reading)), ("calcn_l", "talus_l"), slice(None))
    assert_refused(
        ("'ankle_angle_l' in none of 51 frames", "ankles="), compare_ankles, reading, trial, sorts=[FILE], cutoff=None
    )
    compare_ankles(reading, trial, sorts=[FILE], cutoff=None, ankles=[("ankle_r", "subtalar_r")])


def test_ankles_that_some_frames_show_are_noted(reading):
    trial = without(trial_of(reading, smooth(reading)), ("calcn_l", "talus_l"), slice(0, 9))
    found = compare_ankles(reading, trial, sorts=[FILE], cutoff=None)
    notes = [note for note in found.notes if "not shown by the markers" in note]
    assert [note.split(":")[0] for note in notes] == ["ankle_angle_l", "subtalar_angle_l"] and "9 of 51" in notes[0]


def test_a_part_with_forces_is_noted(reading):
    trial = trial_of(reading, smooth(reading))
    found = compare_ankles(reading, trial, [force_over(np.linspace(0.2, 0.6, 9))], sorts=[FILE], cutoff=None)
    assert found.trials[FILE].trial.t[[0, -1]] == pytest.approx([0.2, 0.6])
    assert "moments are from 0.2 to 0.6 s, where the ground forces are known" in found.notes
    whole = compare_ankles(reading, trial, [force_over(np.linspace(-0.2, 1.6, 9))], sorts=[FILE], cutoff=None)
    assert not any("moments are from" in note for note in whole.notes)


def test_links_as_long_as_in_the_file_are_noted(reading):
    trial = trial_of(reading, smooth(reading))
    for length, noted in ((None, True), (0.02, False)):
        found = compare_ankles(reading, trial, sorts=[FILE, MODIFIED], talus_length=length, cutoff=None)
        assert any("talus's mass alone" in note for note in found.notes) == noted


@pytest.mark.parametrize(
    ("sentence", "options"),
    [
        ("external loads name the bodies", {"feet": ["calcn_r"]}), ("no body 'heel'", {"feet": ["heel"]}),
        ("^sorts: there are none to compare; give ", {"sorts": []}),
        ("^ankles: there are none to compare; give ", {"ankles": []}),
    ],
)  # fmt: skip
def test_choices_that_would_be_ignored_or_are_empty_are_refused(reading, sentence, options):
    assert_refused(
        re.compile(sentence),
        compare_ankles,
        reading,
        trial_of(reading, smooth(reading)),
        [force_over(TIMES)],
        **{"sorts": [FILE]} | options,
    )


@pytest.mark.parametrize(
    ("sentence", "loads", "options"),
    [
        ("has times 5 to 6 s: no time is in all of them", [np.array([5.0, 6.0])], {}),
        ("no sample lies between start and end", [], {"start": 0.501, "end": 0.509}),
    ],
)
def test_trials_without_a_common_time(reading, sentence, loads, options):
    motion = inverse_kinematics(reading, trial_of(reading, smooth(reading)))
    assert_refused(
        re.compile(sentence),
        inverse_dynamics_of_trial,
        reading,
        motion,
        [force_over(t) for t in loads],
        cutoff=None,
        **options,
    )


def test_results_are_shown_in_lines(reading):
    found = compare_ankles(reading, trial_of(reading, smooth(reading)), sorts=[FILE], cutoff=None)
    one = found.trials[FILE]
    assert [len(repr(x)) < 300 and "array" not in repr(x) for x in (found, one, one.motion, one.trial)] == 4 * [True]
    assert repr(found) == "AnkleComparison of limb along synthetic: as in the file; ankles ankle_r, ankle_l"


def test_sides_in_names():
    names = ("ankle_r", "l_ankle", "right_ankle", "ankle_Left", "ankle")
    assert [side_of(name) for name in names] == ["right", "left", "right", "left", None]
    assert [on_other_side(name) for name in names] == ["ankle_l", "r_ankle", "left_ankle", "ankle_Right", "ankle"]


def test_ankles_and_feet_by_other_names(tmp_path):
    text = marked()
    for old, new in (
        ("ankle_", "AnkleJoint_"),
        ("subtalar_", "SubtalarJoint_"),
        ("calcn_r", "r_foot"),
        ("calcn_l", "l_foot"),
    ):
        text = text.replace(old, new)
    source = read(tmp_path, text).source
    pairs = ankles_of(source)
    assert pairs == [("AnkleJoint_r", "SubtalarJoint_r"), ("AnkleJoint_l", "SubtalarJoint_l")]
    assert feet_of(source, pairs[:1]) == ["r_foot", "l_foot"]
