"""Positions, columns and entries that are no data: left out with a note, or refused; never read in silence."""

import json

import numpy as np
import pytest

from models.walking.capture import c3d_process, read_capture
from tests.support.capture_files import Y_UP, refused, write_c3d, write_csv, write_marker_csv, write_mot, write_trc
from tests.support.walking_person import STRIKES, person, push

T, MARKERS = person()
PLATE = ["time", *(f"p1_{what}{a}" for what in ("F", "cop") for a in "xyz"), "p1_Tz"]
STEP = push("R", STRIKES["R"])


def written(folder, kind, markers=MARKERS):
    """A file of the person in millimetres (c3d, trc) or metres (csv)."""
    path = folder / f"walk.{kind}"
    if kind == "c3d":
        return write_c3d(path, markers)
    return (write_trc if kind == "trc" else write_marker_csv)(path, markers, T)


@pytest.fixture
def csv(tmp_path):
    return written(tmp_path, "csv")


@pytest.fixture
def trc(tmp_path):
    return written(tmp_path, "trc")


def noted(capture, *words):
    return [note for note in capture.notes if all(word in note for word in words)]


@pytest.mark.parametrize("kind", ["c3d", "trc", "csv"])
@pytest.mark.parametrize("far", [1e27, -1e12, 5e4, 100.0, 20.0])
def test_a_marker_out_of_reach_is_a_gap_and_a_note(tmp_path, kind, far):
    markers = person()[1]
    markers["R_FM1"][20:23, 1] = far
    capture = read_capture(written(tmp_path, kind, markers))
    assert capture.gaps() == {"R_FM1": [(20, 23)]}
    assert len(noted(capture, "3 positions, up to", "R_FM1", "not visible")) == 1


@pytest.mark.parametrize("kind", ["c3d", "trc", "csv"])
@pytest.mark.parametrize("nines", [999.0, -999.0, 9999.0, -9999.0, 99999.0, -999999.0])
def test_numbers_of_nines_are_gaps_and_a_note(tmp_path, kind, nines):
    markers = person()[1]
    metres = 1.0 if kind == "csv" else 1e-3
    markers["R_FM1"][20:23] = nines * metres
    capture = read_capture(written(tmp_path, kind, markers))
    assert capture.gaps() == {"R_FM1": [(20, 23)]}
    assert len(noted(capture, f"3 positions of {nines:g}", "R_FM1")) == 1


def test_a_marker_that_is_never_near_the_others_is_a_gap(tmp_path):
    capture = read_capture(written(tmp_path, "trc", MARKERS | {"R_FM1": np.full((len(T), 3), 1e27)}))
    assert np.isnan(capture.marker("R_FM1")).all() and noted(capture, "never visible: R_FM1")
    assert np.allclose(capture.marker("R_FCC"), MARKERS["R_FCC"], atol=1e-8)


def test_infinite_positions_are_gaps_and_a_note(tmp_path):
    markers = person()[1]
    markers["R_FM1"][20:23, 2] = np.inf
    markers["L_FM1"][5] = -np.inf
    markers["L_FM5"][7] = np.nan  # a missing position as usual
    capture = read_capture(written(tmp_path, "csv", markers))
    assert capture.gaps() == {"R_FM1": [(20, 23)], "L_FM1": [(5, 6)], "L_FM5": [(7, 8)]}
    assert noted(capture, "4 positions that are infinite", "R_FM1, L_FM1") and not noted(capture, "L_FM5")


def test_a_sound_file_has_no_note_on_positions(tmp_path):
    for kind in ("c3d", "trc", "csv"):
        notes = read_capture(written(tmp_path, kind)).notes
        assert not [note for note in notes if "not visible" in note or "not read" in note], notes


@pytest.mark.parametrize(
    ("old", "new"),
    [("R_FM1_y", "R_FM1_w"), ("R_FM1_y", "R_FM1y"), ("R_FM1_y", "r_fm1_y"), ("R_FM1_y", ""), ("R_FM1_y", "x")],
)
def test_a_misnamed_marker_column_is_noted(csv, old, new):
    csv.write_text(csv.read_text().replace(old, new, 1))
    capture = read_capture(csv)
    (note,) = noted(capture, "columns that are not read", "R_FM1_x", "R_FM1_z", "NAME_x, NAME_y, NAME_z")
    assert (new or "without a name") in note and "R_FM1" not in capture.markers


def test_columns_that_name_one_coordinate_are_refused(csv):
    csv.write_text(csv.read_text().replace("R_FM1_y", "R_FM1_X", 1))
    refused("columns 'R_FM1_x' and 'R_FM1_X' name one coordinate", csv)


def test_misnamed_force_columns_are_noted(tmp_path):
    trc = write_trc(tmp_path / "turned.trc", MARKERS, T, turn=Y_UP)
    mot = write_mot(tmp_path / "f.mot", {"1": STEP})
    whole = mot.read_text()
    assert not noted(read_capture(trc, forces=mot, up="y"), "not read")
    mot.write_text(whole.replace("1_ground_torque_y", "1_ground_trq_y"))
    assert noted(read_capture(trc, forces=mot, up="y"), "f.mot: columns that are not read: 1_ground_trq_y")
    csv = write_csv(tmp_path / "f.csv", [*PLATE[:-1], "p1_Tz_fre"], np.column_stack(STEP))
    assert noted(
        read_capture(written(tmp_path, "trc"), forces=csv, up="z"), "f.csv: columns that are not read: p1_Tz_fre"
    )


def test_labels_between_other_tabs_are_those_of_the_markers_in_order(trc):
    """As in OpenSim, where there are as many as NumMarkers."""
    trc.write_text(trc.read_text().replace("R_FM1\t\t\tR_FM5", "R_FM1\tR_FM5\t\t", 1))
    assert np.allclose(read_capture(trc).marker("R_FM5"), MARKERS["R_FM5"], atol=1e-8)
    trc.write_text(trc.read_text().replace("R_FM1\tR_FM5", "R_FM1\t", 1).replace("L_FM1\t", "\tL_FM1", 1))
    refused("in its fourth line is above no column X of a marker, and NumMarkers is 10 for 9 names", trc)


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        (5, 1e27, r"'plate1': at 0.6 s the centre of pressure is 1e\+27 m from the markers, limit 10 \(1 samples\)"),
        (7, 1e27, r"'plate1': at 0.6 s the free moment is 1e\+27 N m, limit 2000"),
        (1, 1e27, r"'plate1': a force of 1e\+27 N; no step exceeds 20000 N"),
    ],
)
def test_single_samples_that_no_foot_can_have_are_refused(tmp_path, trc, column, value, said):
    table = np.column_stack(STEP)
    table[300, column] = value
    refused(said, trc, forces=write_csv(tmp_path / "f.csv", PLATE, table), up="z")


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_rates_that_no_laboratory_has_are_refused(tmp_path, factor):
    path = write_marker_csv(tmp_path / "walk.csv", MARKERS, T * factor)
    refused("samples per second; laboratories record 1 to 100000", path)


def test_metadata_that_are_not_read_are_noted(tmp_path):
    path = write_marker_csv(tmp_path / "walk_markers.csv", MARKERS, T)
    write_csv(tmp_path / "walk_forces.csv", PLATE[:-1], np.column_stack(STEP[:-1]))
    meta = {
        "mass": 70, "heigth_m": 1.7, "plates": {"plate1": {"foot": "rihgt"}, "plate7": {"foot": "L"}},
        "events": [{"time": 0.1, "side": "Right", "label": "Foot Stirke"}, {"time": 0.1, "side": "R", "label": "FS"}],
    }  # fmt: skip
    (tmp_path / "walk_meta.json").write_text(json.dumps(meta))
    capture = read_capture(path, up="z")
    for words in (
        ("entries that are not read: mass, heigth_m",), ("the foot 'rihgt' of plate1 is neither left nor right",),
        ("plate7 is no force plate of the trial, which has plate1",), ("neither foot strikes nor foot offs are left out: 1",),
    ):  # fmt: skip
        assert len(noted(capture, "walk_meta.json", *words)) == 1, capture.notes
    for value in ("NaN", "Infinity", "1e999", '"a"', "[]", "{}"):
        (tmp_path / "walk_meta.json").write_text(f'{{"mass_kg": {value}}}')
        refused("walk_meta.json: cannot be read", path)


def test_points_without_labels_and_events_without_contexts_are_noted(tmp_path, monkeypatch):
    path = written(tmp_path, "c3d")
    contents = c3d_process.read(path)
    contents["parameters"]["POINT"]["LABELS"] = contents["parameters"]["POINT"]["LABELS"][:-2]
    monkeypatch.setattr(c3d_process, "read", lambda path: contents)
    assert noted(read_capture(path), "2 of 10 points have no label")
    monkeypatch.undo()
    more = [("EVENT", "TIMES", np.array([[0.0] * 3, [0.1, 0.2, 0.3]])), ("EVENT", "LABELS", ["FS", "FO"]),
            ("EVENT", "CONTEXTS", ["Right"])]  # fmt: skip
    capture = read_capture(write_c3d(path, MARKERS, parameters=more))
    assert noted(capture, "3 times, 2 labels, 1 contexts of events")
    assert [event.side for event in capture.events] == ["right", "unknown"]


def test_texts_of_files_cannot_break_lines_or_colour_terminals(csv):
    csv.write_text(csv.read_text().replace("R_FM1_", "R\x1b[31mFM1_"))
    assert "R?[31mFM1" in read_capture(csv).markers
    csv.write_text(csv.read_text().replace("0.10,", "0.1\x1b[31m0,", 1).replace("0.1,", "0.\x071,", 1))
    refused("which is not a number", csv)
