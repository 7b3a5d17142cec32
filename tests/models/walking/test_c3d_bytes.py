"""C3D files that do not state all of their analog channels are read as other programs read them."""

import numpy as np
import pytest

from models.walking.capture import read_capture
from tests.models.walking.test_c3d_plates import write_walk
from tests.support.walking_person import check_first_stance, person


def without(data, name):
    """A file without a parameter of the group ANALOG, or without the group: its name is another one."""
    at = data.index(b"\x06", 512 - 1) if name is None else 0
    while data[at + 2 : at + 8] != b"ANALOG" or data[at] != 6:
        at = data.index(b"\x06", at + 1)
    if name is None:
        return data[:at] + b"\x06" + data[at + 1 : at + 2] + b"ANALOX" + data[at + 8 :]
    number = bytes([256 - data[at + 1]])
    (old,) = [
        old for length in (len(name), 256 - len(name)) if (old := bytes([length]) + number + name.encode()) in data
    ]
    return data.replace(old, old[:-1] + b"\xb5")  # a letter whose capital is of no byte


def test_frames_beyond_the_count_of_the_header_are_noted(tmp_path):
    ezc3d = pytest.importorskip("ezc3d")
    path, file = tmp_path / "long.c3d", ezc3d.c3d()
    for name, value in (("RATE", [100.0]), ("UNITS", ["mm"]), ("LABELS", ["R_HEE", "R_KNE"])):
        file["parameters"]["POINT"][name]["value"] = value
    file["data"]["points"] = (
        np.ones((4, 2, 65600)) * np.array([[1.0, 5.0], [2.0, 3.0], [20.0, 500.0], [1.0, 1.0]])[..., None]
    )
    file.write(str(path))
    assert any("frames, of which 65535 are read" in note for note in read_capture(path).notes)


@pytest.mark.parametrize("name", ["SCALE", "OFFSET", "GEN_SCALE", "RATE", "UNITS", "LABELS", None])
def test_what_the_analog_channels_do_not_state(tmp_path, name):
    path = write_walk(tmp_path / "w.c3d")
    path.write_bytes(without(path.read_bytes(), name))
    capture = read_capture(path)
    check_first_stance(capture.forces[0])
    assert np.allclose(capture.marker("R_FCC"), person()[1]["R_FCC"], atol=1e-6)
    completed = name in ("SCALE", "OFFSET", "GEN_SCALE", "RATE", None)
    assert any("does not state all of its analog channels; read with ANALOG:" in n for n in capture.notes) == completed
