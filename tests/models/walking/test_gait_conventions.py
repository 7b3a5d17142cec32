"""Clinical conventions of the figures of a walk: moments, feet, letters that are large enough, and the patient's line."""

import json
from dataclasses import replace

import numpy as np
import pytest

from models.studies.gait.curves import by_foot
from models.studies.gait.figures import figures
from models.studies.gait.head import head
from models.studies.gait.moments import Moments
from models.walking import Filters, synthetic
from models.walking.capture import Subject, read_capture
from models.walking.cycle_curves import curve
from runtime.figures.panels import WIDEST
from tests.support.gait_files import laboratory
from tests.support.layouts import faults
from tests.support.refusals import assert_refused

PAGE = 180.0 / 25.4  # [in] width of a page
LEAST = 5.0  # [points] of letters on it


@pytest.fixture(scope="module")
def drawn(synthetic_walk):
    """Figures of the walk in a convention, by file name."""

    def draw(*conventions):
        of = figures([synthetic_walk], "patient", Moments(*conventions))
        return {name: of[name].draw() for name in ("gait", "knee")}

    return draw


def panel(figures_, title):
    """Label of the axis, the curve of the foot and the norm's upper edge of a panel."""
    (ax,) = [
        ax for fig in figures_.values() for ax in fig.axes if ax.get_visible() and ax.get_title(loc="left") == title
    ]
    line = max(ax.lines, key=lambda line: line.get_linewidth())
    norm = ax.collections[0].get_paths()[0].vertices[:, 1] if ax.collections else np.zeros(1)
    return ax.get_ylabel(), line.get_ydata(), norm


# Conventions -> for moments of talocrural joint, subtalar joint and knee: sign, and whether the negative direction is up.
AXES = {
    ("internal", False): ((1, False), (1, False), (1, False)),
    ("external", False): ((-1, False), (-1, False), (-1, False)),
    ("internal", True): ((-1, True), (1, False), (-1, True)),
    ("external", True): ((1, True), (-1, False), (1, True)),
}
JOINTS = {
    "talocrural": ("plantarflexion", "dorsiflexion"), "talocalcaneal": ("eversion", "inversion"),
    "knee_flexion": ("extension", "flexion"),
}  # fmt: skip


@pytest.mark.parametrize("conventions", AXES)
def test_moments_are_drawn_as_the_axis_says(drawn, synthetic_walk, conventions):
    shown = drawn(*conventions)
    for (joint, directions), (sign, turned) in zip(JOINTS.items(), AXES[conventions], strict=True):
        down, up = directions[::-1] if turned else directions
        label, values, norm = panel(shown, f"{joint.replace('_', ' ')} moment")
        assert label == f"{down} –   + {up}\n{conventions[0]} moment [N m/kg]"
        own = curve(synthetic_walk, "moment", joint)
        assert np.array_equal(values, sign * own)
        largest = np.abs(own).argmax()
        assert abs(norm.max() if values[largest] > 0.0 else norm.min()) > 0.5 * np.abs(norm).max()  # the norm turns too
    label, values, _ = panel(shown, "talocrural angle")
    assert label == "plantarflexion –   + dorsiflexion\n[deg]"
    assert np.array_equal(values, curve(synthetic_walk, "angle", "talocrural"))


def test_an_internal_plantarflexor_moment_points_up_when_asked(drawn):
    _, values, _ = panel(drawn("internal", True), "talocrural moment")
    assert 1.2 < values.max() < 1.5 and values.min() > -0.1  # [N m/kg] of push-off


def test_unknown_kinds_of_moments_are_refused():
    assert_refused(("moments = 'net'", "internal, external"), Moments, "net")


def test_letters_are_large_enough_on_a_page(drawn):
    for name, fig in drawn("internal", False).items():
        assert fig.get_figwidth() <= WIDEST
        small = [text for text in fig.findobj(lambda artist: hasattr(artist, "get_fontsize")) if text.get_text()]
        assert min(text.get_fontsize() for text in small) * PAGE / fig.get_figwidth() > LEAST, name
        assert faults(fig) == []


def test_the_left_foot_is_on_the_left(synthetic_walk):
    left = replace(synthetic_walk, side="left")
    found = [synthetic_walk, left]
    assert list(by_foot(found)) == ["left", "right"]
    fig = figures(found, "", Moments())["centre_of_pressure"].draw()
    titles = {ax.get_title().partition(" ")[0]: ax.get_position().x0 for ax in fig.axes}
    assert titles["left"] < titles["right"]


def test_the_patients_line_has_what_the_files_state(synthetic_walk):
    trial = synthetic.trial()
    stated = replace(trial, subject=Subject("P. Atient", 70.0, 1.75, "female", 41.0), date="2024-05-17")
    line = head([synthetic_walk], [stated], Filters.off())["patient"]
    assert line == "P. Atient, 41 years, 1.75 m, 70.0 kg, 2024-05-17, 1.42 m/s, right foot, 1 trial"
    without = replace(trial, subject=Subject())
    line = head([synthetic_walk], [without], Filters.off())["patient"]
    assert line == f"{synthetic_walk.subject.name}, 1.75 m, 70.0 kg, 1.42 m/s, right foot, 1 trial"


def test_the_date_is_read_beside_the_markers(tmp_path):
    _, walk = laboratory(tmp_path)
    assert read_capture(walk).date == ""
    meta = walk.with_name(walk.name.replace("_markers.csv", "_meta.json"))
    meta.write_text(json.dumps({"date": "2024-05-17"}))
    capture = read_capture(walk)
    assert capture.date == "2024-05-17" and any("the date" in note for note in capture.notes)
    assert capture.mirrored().date == "2024-05-17"
