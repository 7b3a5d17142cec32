"""C3D files: markers, events, subjects and the vertical written into a file are read back; damaged files are refused."""

import re

import numpy as np
import pytest

from models.walking.capture import read_capture
from models.walking.gait_events import gait_cycle
from tests.support.capture_files import refused, write_c3d
from tests.support.refusals import assert_refused
from tests.support.walking_person import RATE, person

EVENTS = (
    (0.25, "Right", "Foot Strike1"),
    (0.93, "Right", "Foot Off"),
    (1.35, "Right", "Heel Strike"),
    (0.8, "Left", "Initial Contact"),
    (1.48, "Left", "Toe Off"),
    (1.9, "General", "LHS"),
    (1.0, "General", "Event"),
)


def test_missing_and_unnamed_markers_of_a_c3d_file(tmp_path):
    _, markers = person()
    markers["R_FM1"][20:23] = np.nan
    markers["L_FM1"][40:42] = 0.0
    labels = [f"Anna:{label}" for label in markers]
    labels[-1] = "*12"
    path = write_c3d(tmp_path / "walk.c3d", markers, labels=labels)
    capture = read_capture(path)
    assert capture.gaps() == {"R_FM1": [(20, 23)], "L_FM1": [(40, 42)]}
    assert list(capture.markers) == list(markers)[:-1]
    assert np.allclose(capture.marker("R_IAS"), markers["R_IAS"], atol=1e-6)
    for said in ("1 markers without a name", "'Anna:' in front of every label", "2 positions of exactly 0, 0, 0"):
        assert sum(said in note for note in capture.notes) == 1
    assert_refused(("walk.c3d: no marker 'RFCC'; did you mean 'R_FCC'", "it has R_FCC, R_FM1"), capture.marker, "RFCC")
    computed = read_capture(write_c3d(path, markers, parameters=[("POINT", "ANGLES", ["R_IAS", "L_IAS"])]))
    assert "R_IAS" not in computed.markers and any("2 computed quantities" in note for note in computed.notes)


def test_negative_residuals_are_gaps(tmp_path):
    """The format defines a residual of -1 as invalid, whatever the coordinates."""
    path = write_c3d(tmp_path / "walk.c3d", person()[1])
    data = bytearray(path.read_bytes())
    start = 512 * (int.from_bytes(data[16:18], "little") - 1)
    stride = 4 * 4 * 10  # reals of ten markers a frame, no analogs
    assert len(person()[1]) == 10
    at = start + 7 * stride + 2 * 16 + 12
    data[at : at + 4] = np.float32(-1.0).tobytes()
    path.write_bytes(data)
    assert read_capture(path).gaps() == {"R_FM5": [(7, 8)]}


def test_events_of_a_c3d_file(tmp_path):
    capture = read_capture(write_c3d(tmp_path / "walk.c3d", person()[1], events=EVENTS))
    assert [(e.time, e.kind, e.side) for e in capture.events] == [
        (0.25, "foot_strike", "right"), (0.8, "foot_strike", "left"), (0.93, "foot_off", "right"),
        (1.35, "foot_strike", "right"), (1.48, "foot_off", "left"), (1.9, "foot_strike", "left"),
    ]  # fmt: skip
    assert any("events that are neither foot strikes nor foot offs are left out: 1" in note for note in capture.notes)
    assert capture.t[0] == 0.0
    cycle = gait_cycle(capture, "right")
    assert (cycle.strike, cycle.off, cycle.next_strike, cycle.source) == (0.25, 0.93, 1.35, "file")
    assert not cycle.complete and cycle.plates == ()


@pytest.mark.parametrize("shift", [0.0, 4.0])
def test_event_times_count_from_where_they_lie_in_the_trial(tmp_path, shift):
    """401 frames before the first one kept: the format counts from the recording's start, some exporters from that frame."""
    events = [(time_ + shift, side, label) for time_, side, label in EVENTS]
    capture = read_capture(write_c3d(tmp_path / "walk.c3d", person()[1], events=events, first_frame=401))
    assert [e.time for e in capture.events] == [0.25, 0.8, 0.93, 1.35, 1.48, 1.9]
    said = "from the start of the recording, 4 s before" if shift else "from its first frame"
    assert any(said in note for note in capture.notes)
    outside = read_capture(write_c3d(tmp_path / "walk.c3d", person()[1], events=[*EVENTS, (7.0, "Left", "Foot Off")]))
    assert len(outside.events) == 6 and any("1 of 7 events are outside" in note for note in outside.notes)


MARKS = [(0.25, "foot_strike", "right"), (0.93, "foot_off", "right"), (1.35, "foot_strike", "right")]
AT = [time for time, *_ in MARKS]


@pytest.mark.parametrize(
    ("strike", "off", "side"),
    [
        ("RHS", "RTO", "right"), ("LFS", "LFO", "left"), ("r_hs", "r_to", "right"), ("HS_L", "TO_L", "left"),
        ("RON", "ROFF", "right"), ("LIC", "LTO", "left"), ("Right Heel Strike", "Right Toe Off", "right"),
        ("Foot Strike left", "Foot Off left", "left"), ("RightFootStrike", "RightFootOff", "right"),
        ("L Heel Strike 1", "L Toe Off 1", "left"), ("RHeelStrike", "RToeOff", "right"), ("lfootcontact", "lfootoff", "left"),
        ("Foot Strike", "Foot Off", "unknown"), ("Heel Strike1", "Toe Off2", "unknown"), ("IC", "TO", "unknown"),
    ],
)  # fmt: skip
def test_sides_of_events_without_contexts(tmp_path, strike, off, side):
    times = np.array([[0.0] * 4, [*AT, 1.6]])
    parameters = [("EVENT", "LABELS", [strike, off, strike, "Mid stance of trial"]), ("EVENT", "TIMES", times)]
    capture = read_capture(write_c3d(tmp_path / "walk.c3d", person()[1], parameters=parameters))
    assert [(e.time, e.kind, e.side) for e in capture.events] == [(time, kind, side) for time, kind, _ in MARKS]
    assert any("that of their labels" in note for note in capture.notes) is (side != "unknown")


def test_subjects_of_c3d_files(tmp_path):
    path, markers = tmp_path / "walk.c3d", person()[1]
    vicon = [("PROCESSING", "Bodymass", [70.5]), ("PROCESSING", "Height", [1755.0]), ("SUBJECTS", "NAMES", ["S1"])]
    capture = read_capture(write_c3d(path, markers, parameters=vicon))
    assert (capture.subject.name, capture.subject.mass, capture.subject.height) == ("S1", 70.5, 1.755)
    assert any("read in mm" in note for note in capture.notes)
    labels = ["weight", "height", "gender"]
    entries = [("SUBJECT", "LABELS", labels), ("SUBJECT", "VALUES", [61.0, 168.0, 0.0]),
            ("SUBJECT", "UNITS", ["kg", "cm", "adimensioned (0: woman, 1: man)"])]  # fmt: skip
    subject = read_capture(write_c3d(path, markers, parameters=entries)).subject
    assert (subject.mass, subject.height, subject.sex, subject.age) == (61.0, 1.68, "female", None)
    odd = read_capture(write_c3d(path, markers, parameters=[("PROCESSING", "Bodymass", [70500.0])]))
    assert odd.subject.mass is None and any("it must be 2 to 400 kg" in note for note in odd.notes)


def test_the_vertical_that_a_file_states_or_leaves_open(tmp_path):
    path, markers = tmp_path / "walk.c3d", person()[1]
    low = {
        label: p * [1, 1, 0.1] for label, p in markers.items() if "_FM" in label or "_FCC" in label
    }  # no shape that shows it
    screen = [("POINT", "X_SCREEN", ["+X"]), ("POINT", "Y_SCREEN", ["+Z"])]
    capture = read_capture(write_c3d(path, low, parameters=screen))
    assert "z up" in capture.axes and any("Y_SCREEN of walk.c3d, a setting of the display" in n for n in capture.notes)
    refused(r"does not state its vertical axis, .*give up='z' or up='y'", write_c3d(path, low))
    assert "y up" in read_capture(path, up="y").axes


def test_a_c3d_file_is_refused_with_one_sentence(tmp_path, monkeypatch):
    path, markers = tmp_path / "walk.c3d", person()[1]
    whole = write_c3d(path, markers).read_bytes()
    nine = whole[:2] + b"\t" + whole[3:]
    for data, match in (
        (whole[:300], "not a C3D file"), (whole[:600], "parameters"),
        (whole[:-4096], r"300 frames need \d+; the file is cut short"),
        (b"\2\0" + whole[2:], "walk.c3d: not a C3D file .*the second is not 0x50"),
        (nine + bytes(512), "damaged: its header counts 9 markers and 0 analog values per frame, its parameters 10 and 0"),
    ):  # fmt: skip
        path.write_bytes(data)
        refused(match, path)
    path.write_bytes(nine)
    read = read_capture(path)  # the size of the file says that the parameters are right
    assert len(read.markers) == 10 and any("its header counts 9 markers" in note for note in read.notes)
    for options, match in (
        ({"units": "m"}, "units='mm' would fit"), ({"units": ""}, "POINT:UNITS does not state it; give units="),
        ({"labels": [f"*{k}" for k in range(10)]}, "none of its 10 markers has a name"),
        ({"labels": [f"M{k:03d}" for k in range(10)]}, "none of its 10 markers has a name"),
    ):  # fmt: skip
        refused(match, write_c3d(path, markers, **options))
    assert len(read_capture(write_c3d(path, markers, units=""), units="mm").markers) == 10
    refused(r"walk.c3d: no markers", _no_points(path))
    monkeypatch.setitem(__import__("sys").modules, "ezc3d", None)
    path.write_bytes(whole)
    assert refused("reading C3D needs ezc3d", path) == "reading C3D needs ezc3d: pip install 'talus-multibody[gait]'"


def test_labels_that_occur_twice_are_numbered(tmp_path):
    path, markers = tmp_path / "walk.c3d", person()[1]
    twice = read_capture(write_c3d(path, markers, labels=["HEEL_R", "HEEL_R", *list(markers)[2:]]))
    assert list(twice.markers)[:3] == ["HEEL_R (1 of 2)", "HEEL_R (2 of 2)", list(markers)[2]]
    assert any("marker 'HEEL_R' occurs 2 times" in note for note in twice.notes)
    meant = r"no marker 'HEEL_R'; did you mean 'HEEL_R \([12] of 2\)' or 'HEEL_R \([12] of 2\)'"
    assert_refused(re.compile(meant), twice.marker, "HEEL_R")
    first = list(markers)[0]
    copied = write_c3d(path, markers | {"copy": markers[first]}, labels=[*markers, first])
    assert list(read_capture(copied).markers) == [*markers, f"{first} (2 of 2)"]


def _no_points(path):
    ezc3d = pytest.importorskip("ezc3d")
    file = ezc3d.c3d()
    file["parameters"]["POINT"]["RATE"]["value"] = [RATE]
    file["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    file["data"]["points"] = np.zeros((4, 0, 50))
    file.write(str(path))
    return path
