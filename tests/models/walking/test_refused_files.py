"""Files that are no trial, or contradict themselves, are refused with one sentence that names the file and the remedy."""

import numpy as np

from models.walking.capture import read_capture
from tests.support.capture_files import refused, write_trc
from tests.support.walking_person import person


def test_arguments_that_name_no_trial_are_refused_with_one_sentence(tmp_path):
    path = tmp_path / "walk.trc"
    refused(r"nowhere.c3d': No such file", tmp_path / "nowhere.c3d")
    (tmp_path / "x.trc").mkdir()
    refused(r"x.trc': not a file but a folder", tmp_path / "x.trc")
    (tmp_path / "walk.xlsx").write_text("")
    refused(
        r"walk.xlsx: no reader for files that end with '.xlsx'; markers are read from .c3d, .trc, .csv",
        tmp_path / "walk.xlsx",
    )
    refused(r"walk.mot: no reader .* which holds forces: give it as forces=", tmp_path / "walk.mot")
    refused(r"up = 'w'; use one of", path, up="w")
    refused(r"units = 'ft'; use 'mm', 'cm' or 'm'", path, units="ft")


def test_files_without_structure_are_refused_with_one_sentence(tmp_path):
    for name in ("garbage.c3d", "garbage.trc", "garbage.csv"):
        (tmp_path / name).write_bytes(np.random.default_rng(0).bytes(5000))
        refused("garbage", tmp_path / name)
    (tmp_path / "empty.c3d").write_bytes(b"")
    refused("empty.c3d: not a C3D file", tmp_path / "empty.c3d")


def test_a_trc_file_that_contradicts_itself_is_refused_with_one_sentence(tmp_path):
    t, markers = person()
    path = tmp_path / "walk.trc"
    refused(r"NumMarkers is 9 but the header names 10", write_trc(path, markers, t, stated_markers=9))
    refused(
        r"the unit of the positions is not known: its field Units does not state it; give units=",
        write_trc(path, markers, t, units=""),
    )
    refused(r"its field Units says 'furlong'", write_trc(path, markers, t, units="furlong"))
    said = refused(
        r"9\d\d m from the lowest to the highest marker.*units='mm' would fit", write_trc(path, markers, t, units="m")
    )
    assert "0.1 to 3 m" in said
    refused(r"units='m' would fit", write_trc(path, markers, t, scale=1.0))
    assert np.allclose(
        read_capture(write_trc(path, markers, t, units="m"), units="mm").marker("R_FCC"), markers["R_FCC"], atol=1e-8
    )
    assert any("although its field Units says 'm'" in note for note in read_capture(path, units="mm").notes)
    refused(
        r"the time goes from 0.06 s to 0.05 s at sample 8; times must increase",
        write_trc(path, markers, np.where(t == 0.07, 0.05, t)),
    )
    refused(r"the time of sample 3 is nan", write_trc(path, markers, np.where(t == 0.02, np.nan, t)))
    refused(r"zero frames", write_trc(path, {k: p[:0] for k, p in markers.items()}, t[:0]))
    refused(
        r"none of its 300 markers|none of its 10 markers is visible",
        write_trc(path, {k: p * np.nan for k, p in markers.items()}, t),
    )
    renamed = {f"*{k}" if k else "Unnamed": p for k, p in enumerate(markers.values())}
    refused(r"none of its 10 markers has a name \('Unnamed', '\*1', '\*2', ...\)", write_trc(path, renamed, t))


def test_damaged_rows_of_a_trc_file_are_refused_with_one_sentence(tmp_path):
    t, markers = person()
    path = tmp_path / "walk.trc"
    write_trc(path, markers, t)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:3], lines[3].replace("L_FM1", "L_FCC"), *lines[4:]]))
    assert any("marker 'L_FCC' occurs 2 times" in note for note in read_capture(path).notes)
    path.write_text("\n".join([*lines[:20], lines[20].rsplit("\t", 2)[0], *lines[21:]]))
    refused(r"line 21 has 30 values where the header names 32 columns; all rows must have equal length", path)
    path.write_text("\n".join([*lines[:20], lines[20].replace("0.14", "O.14"), *lines[21:]]))
    refused(r"line 21, column 2 contains 'O.14\d*', which is not a number", path)
    path.write_text("\n".join(lines)[:-30])
    refused(r"the file is cut short", path)
