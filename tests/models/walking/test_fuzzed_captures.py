"""Damaged files of motion laboratories: each is read, or refused with one line; nothing else is raised, and no process ends."""

import json
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from models.walking.capture import Capture, c3d_process, read_capture
from models.walking.capture.conventions import MAX_FORCE
from models.walking.capture.visible import BEYOND
from runtime import ModelError
from tests.support.capture_files import Y_UP, write_c3d, write_csv, write_marker_csv, write_mot, write_trc
from tests.support.damage import bytes_of, c3d_of, text_of
from tests.support.refusals import assert_refused
from tests.support.walking_person import STRIKES, person, push

FRAMES, SAMPLES = 60, 300
SOME, MANY = 120, 10_000  # files of each format in the full set, and each night


@dataclass(frozen=True)
class Format:
    """The file that is damaged, the file that is read, and the way of damage: of bytes, or of fields with a separator."""

    damaged: str
    read: str
    forces: str | None = None
    separator: str | None = None


FORMATS = {
    "c3d": Format("walk.c3d", "walk.c3d"),
    "trc": Format("walk.trc", "walk.trc", "walk.mot", "\t"),
    "mot": Format("walk.mot", "walk.trc", "walk.mot", "\t"),
    "marker csv": Format("csv_markers.csv", "csv_markers.csv", None, ","),
    "force csv": Format("csv_forces.csv", "csv_markers.csv", None, ","),
    "standing csv": Format("standing.csv", "standing.csv", None, ","),
    "metadata": Format("csv_meta.json", "csv_markers.csv", None, '"'),
}


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory):
    """A short walk in every format: markers, two plates, events and a subject."""
    folder = tmp_path_factory.mktemp("laboratory")
    t, markers = person(FRAMES)
    plates = {
        name: tuple(part[:SAMPLES] for part in push(side, STRIKES[side] - 0.2))
        for name, side in (("1", "R"), ("2", "L"))
    }
    events = [(0.1, "Right", "Foot Strike"), (0.4, "Left", "Foot Off")]
    subject = [("PROCESSING", "Bodymass", [70.5]), ("SUBJECTS", "NAMES", ["S1"]), ("POINT", "Y_SCREEN", ["+Z"])]
    corners = 1000.0 * np.array([[0.6, 0.3, 0.0], [-0.6, 0.3, 0.0], [-0.6, -0.3, 0.0], [0.6, -0.3, 0.0]])
    force = plates["1"][1] @ np.diag([1.0, -1.0, -1.0])
    channels = np.concatenate([force.T, np.zeros((3, SAMPLES))])
    plate = {"type": 2, "corners": corners.T, "origin": np.zeros(3), "channel": 1.0 + np.arange(6)}
    write_c3d(
        folder / "walk.c3d", markers, plates=[plate], channels=channels, events=events, parameters=subject,
        analog_units=["N"] * 3 + ["Nmm"] * 3,
    )  # fmt: skip
    write_trc(folder / "walk.trc", markers, t, turn=Y_UP)
    write_mot(folder / "walk.mot", plates)
    write_marker_csv(folder / "csv_markers.csv", markers, t, comments=("units m/N", "Z up"))
    names, columns = ["time"], [plates["1"][0]]
    for name, (_, of, cop, free) in plates.items():
        names += [*(f"p{name}_F{a}" for a in "xyz"), *(f"p{name}_cop{a}" for a in "xyz"), f"p{name}_Tz_free"]
        columns += [of, cop, free]
    write_csv(folder / "csv_forces.csv", names, np.column_stack(columns), comments=("units m/N",))
    rows = [f"{label},{p[0, 0]:.6f},{p[0, 1]:.6f},{p[0, 2]:.6f}" for label, p in markers.items()]
    (folder / "standing.csv").write_text("\n".join(["# units m", "marker,x,y,z", *rows]) + "\n")
    meta = {
        "subject": "S1", "mass_kg": 70.5, "height_m": 1.7, "sex": "male", "age": 30,
        "events": [{"time": at, "side": side, "label": label} for at, side, label in events],
        "plates": {"plate1": {"foot": "R"}, "plate2": {"foot": "L"}},
    }  # fmt: skip
    (folder / "csv_meta.json").write_text(json.dumps(meta, indent=1))
    return folder


def outcome(folder, one):
    """Kind of what reading gives; fails for anything but a sound capture or one line that says why not."""
    try:
        found = read_capture(folder / one.read, forces=one.forces and folder / one.forces)
    except ModelError as error:
        said = str(error)
        assert said and len(said.splitlines()) == 1 and said.isprintable(), repr(said)
        return "ended" if "ends the process" in said else "refused"
    assert isinstance(found, Capture) and np.isfinite(found.t).all() and (np.diff(found.t) > 0.0).all()
    for positions in found.markers.values():
        assert (np.isfinite(positions).all(axis=1) | np.isnan(positions).all(axis=1)).all()
        assert np.abs(positions[np.isfinite(positions)]).max(initial=0.0) <= BEYOND
    for grf in found.forces:
        assert np.isfinite(grf.force).all() and np.abs(grf.force).max() <= MAX_FORCE
    assert all(note.isprintable() for note in found.notes), found.notes
    return "read"


def examined(folder, name, seeds):
    """Outcomes of damaged files, counted."""
    one = FORMATS[name]
    file, found = folder / one.damaged, Counter()
    whole = file.read_bytes()
    try:
        for seed in seeds:
            random = np.random.default_rng([seed, *name.encode()])
            if one.separator:
                data = text_of(whole.decode(), one.separator, random)
            else:
                data = c3d_of(whole, random)
            file.write_bytes(data)
            found[outcome(folder, one)] += 1
    finally:
        file.write_bytes(whole)
    return found


def test_whole_files_are_read(laboratory):
    assert {name: outcome(laboratory, one) for name, one in FORMATS.items()} == dict.fromkeys(FORMATS, "read")


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_are_read_or_refused(laboratory, name):
    found = examined(laboratory, name, range(SOME))
    assert found["read"] > SOME // 40 and found["refused"] > SOME // 40, found


@pytest.mark.nightly
@pytest.mark.parametrize("name", FORMATS)
def test_many_damaged_files_are_read_or_refused(laboratory, name):
    found = examined(laboratory, name, range(SOME, SOME + MANY))
    assert found["read"] > 500 and found["refused"] > 500, found


def test_a_file_that_ends_the_library_is_a_sentence(laboratory, tmp_path):
    """Dimensions of ANALOG:RATE, the size of POINT:UNITS, and the first others that a search finds."""
    whole, path, said = (laboratory / "walk.c3d").read_bytes(), tmp_path / "damaged.c3d", set()
    spoilt = [_dimensions(whole, b"UNITS", 0), _dimensions(whole, b"RATE", 200)]
    for data in spoilt:
        path.write_bytes(data)
        try:
            read_capture(path)
        except ModelError as error:
            said.add(str(error))
    assert said and all(line.startswith("damaged.c3d: ") for line in said)
    path.write_bytes(whole)
    assert read_capture(path).markers  # after one that ended the process


def _dimensions(data, name, size):
    """The first dimension of the first parameter of a name set to a size."""
    data = bytearray(data)
    at = data.index(name, 512) + len(name)
    data[at + 4 : at + 5] = bytes([size])
    return data


def test_a_library_that_does_not_come_back_is_ended(laboratory, tmp_path, monkeypatch):
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(600)\n")
    for program, patience, said in ((slow, 0.5, "takes too long"), (tmp_path / "none.py", 60.0, "ends the process")):
        c3d_process._READER.stop()
        monkeypatch.setattr(c3d_process, "PROGRAM", program)
        monkeypatch.setattr(c3d_process, "PATIENCE", patience)
        with pytest.raises(ModelError, match=rf"walk.c3d: cannot be read as C3D \(it {said}.*\); export it again"):
            read_capture(laboratory / "walk.c3d")
    monkeypatch.undo()
    assert read_capture(laboratory / "walk.c3d").markers


def test_bytes_at_random(tmp_path):
    random = np.random.default_rng(0)
    for _ in range(40):
        for ending in ("c3d", "trc", "csv"):
            path = tmp_path / f"noise.{ending}"
            path.write_bytes(bytes_of(random.bytes(int(random.integers(1, 3000))), random))
            assert_refused("noise.", read_capture, path)
