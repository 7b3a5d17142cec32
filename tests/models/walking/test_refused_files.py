"""Files that are no trial, or contradict themselves, are refused with one sentence that names the file and the remedy."""

import numpy as np

from models.walking.capture import read_capture
from tests.support.capture_files import refused, write_trc
from tests.support.walking_person import person


def test_arguments_that_name_no_trial_are_refused_with_one_sentence(tmp_path):
    (tmp_path / "x.trc").mkdir()
    for name in ("walk.xlsx", "empty.c3d"):
        (tmp_path / name).write_text("")
    for sentence, name, options in (
        (r"nowhere.c3d': No such file", "nowhere.c3d", {}), (r"x.trc': not a file but a folder", "x.trc", {}),
        (r"walk.xlsx: no reader for files that end with '.xlsx'; markers are read from .c3d, .trc, .csv", "walk.xlsx", {}),
        (r"walk.mot: no reader .* which holds forces: give it as forces=", "walk.mot", {}),
        (r"up = 'w'; use one of", "walk.trc", {"up": "w"}), (r"units = 'ft'; use 'mm', 'cm' or 'm'", "walk.trc", {"units": "ft"}),
        (r"empty.c3d: not a C3D file", "empty.c3d", {}),
    ):  # fmt: skip
        refused(sentence, tmp_path / name, **options)


def test_a_trc_file_that_contradicts_itself_is_refused_with_one_sentence(tmp_path):
    t, markers = person()
    path = tmp_path / "walk.trc"
    unseen, none = ({k: p * np.nan for k, p in markers.items()}, {k: p[:0] for k, p in markers.items()})
    renamed = {f"*{k}" if k else "Unnamed": p for k, p in enumerate(markers.values())}
    for sentence, of, at, options in (
        (r"NumMarkers is 9 but the header names 10", markers, t, {"stated_markers": 9}),
        (r"unit of the positions is not known: its field Units does not state it; give units=", markers, t, {"units": ""}),
        (r"9\d\d m from the lowest to the highest marker, .*0.1 to 3 m.*units='mm' would fit", markers, t, {"units": "m"}),
        (r"units='m' would fit", markers, t, {"scale": 1.0}),
        (r"the time goes from 0.06 s to 0.05 s at sample 8; times must increase", markers, np.where(t == 0.07, 0.05, t), {}),
        (r"the time of sample 3 is nan", markers, np.where(t == 0.02, np.nan, t), {}), (r"zero frames", none, t[:0], {}),
        (r"none of its 300 markers|none of its 10 markers is visible", unseen, t, {}),
        (r"none of its 10 markers has a name \('Unnamed', '\*1', '\*2', ...\)", renamed, t, {}),
    ):  # fmt: skip
        refused(sentence, write_trc(path, of, at, **options))
    given = read_capture(write_trc(path, markers, t, units="m"), units="mm")
    assert np.allclose(given.marker("R_FCC"), markers["R_FCC"], atol=1e-8)
    assert any("although its field Units says 'm'" in note for note in given.notes)
    for count, words in ((310, "310; all are read; is the file cut"), (290, "290; all are read")):
        assert any(words in note for note in read_capture(write_trc(path, markers, t, frames=count)).notes)


def test_a_trc_file_that_ends_early_is_refused_and_a_doubled_label_is_noted(tmp_path):
    path = write_trc(tmp_path / "walk.trc", *person()[::-1])
    whole = path.read_text()
    path.write_text(whole.replace("L_FM1", "L_FCC", 1))
    assert any("marker 'L_FCC' occurs 2 times" in note for note in read_capture(path).notes)
    path.write_text(whole[:-31])
    refused(r"the file is cut short", path)
