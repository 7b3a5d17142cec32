"""TRC, MOT, STO and CSV files: markers and forces written in any axes and units are read back in those of Talus."""

import json

import numpy as np
import pytest

from models.walking.capture import read_capture
from models.walking.plate_assignment import assign_feet
from tests.support.capture_files import Y_UP, refused, write_csv, write_marker_csv, write_mot, write_trc
from tests.support.walking_person import STRIKES, check_first_stance, person, push


@pytest.mark.parametrize("names", [
    ("{}_ground_force_v", "{}_ground_force_p", "{}_ground_torque_"),
    ("ground_force_{}_v", "ground_force_{}_p", "ground_moment_{}_m"),
    ("ground_force_{}_v", "ground_force_{}_p", "ground_torque_{}_"),
    ("plate {}_force_v", "plate {}_force_p", "plate {}_torque_"),
])  # fmt: skip
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_trc_with_mot_beside_it(tmp_path, names, sign):
    t, markers = person()
    markers["R_FM1"][20:23] = np.nan
    trc = write_trc(tmp_path / "walk.trc", markers, t, turn=Y_UP)
    write_mot(
        tmp_path / "walk_grf.mot", {"1": push("R", STRIKES["R"]), "2": push("L", STRIKES["L"])}, names=names, sign=sign
    )
    capture = read_capture(trc)
    assert len(capture.forces) == 2 and "x = X, y = -Z, z = Y" in capture.axes
    assert any("walk_grf.mot beside walk.trc" in note for note in capture.notes)
    assert sum("acts on the foot" in note for note in capture.notes) == (2 if sign < 0 else 0)
    for label, positions in markers.items():
        assert np.allclose(capture.marker(label), positions, atol=1e-8, equal_nan=True)
    check_first_stance(capture.forces[0])
    assert assign_feet(capture).plates("left") == (capture.forces[1].plate,)
    given = read_capture(trc, forces=tmp_path / "walk_grf.mot", up="y")
    assert np.array_equal(given.forces[0].force, capture.forces[0].force)


def test_csv_states_its_units_and_its_vertical(tmp_path):
    t, markers = person()
    path = tmp_path / "walk_markers.csv"
    turned = {label: 1000.0 * p @ Y_UP.T for label, p in markers.items()}
    write_marker_csv(path, turned, t, comments=("units mm/N", "X forward, Y up, Z right"))
    names, table = ["time"], []
    for plate, side in (("p1", "R"), ("p2", "L")):
        times, force, cop, free = push(side, STRIKES[side])
        names += [f"{plate}_{what}{axis}" for what in ("F", "cop") for axis in "xyz"] + [f"{plate}_Ty_free"]
        table += [force @ Y_UP.T, 1000.0 * cop @ Y_UP.T, 1000.0 * free]
    table = np.column_stack([times, *table])
    write_csv(tmp_path / "walk_forces.csv", names, table, comments=("units mm/N",))
    (tmp_path / "walk_meta.json").write_text(
        json.dumps({"subject": "S", "mass_kg": 70, "plates": {"plate1": {"foot": "L"}}})
    )
    capture = read_capture(path)
    assert not any("vertical" in note for note in capture.notes) and "y up" in capture.axes
    check_first_stance(capture.forces[0])
    assert (capture.subject.mass, capture.forces[0].foot, capture.forces[1].foot) == (70.0, "left", None)
    # The markers show the right foot there.
    assert "says left" in assign_feet(capture).left_out["plate1"] and assign_feet(capture).sides == {"plate2": "left"}
    silent = write_marker_csv(tmp_path / "silent.csv", markers, t, comments=())
    refused("silent.csv: the unit of the positions is not known.*give units=", silent)
    assert np.allclose(read_capture(silent, units="m").marker("R_FCC"), markers["R_FCC"])
    (tmp_path / "walk_meta.json").write_text("{")
    refused("walk_meta.json: cannot be read", path)


def test_the_vertical_follows_from_the_data(tmp_path):
    t, markers = person()
    for vertical, turn in (
        ("y", Y_UP),
        ("x", np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])),
        ("z", np.eye(3)),
        ("-z", np.diag([1.0, -1, -1])),
    ):
        trc = write_trc(tmp_path / "walk.trc", markers, t, turn=turn)
        capture = read_capture(trc)
        assert f"{vertical} up" in capture.axes and any(
            f"the vertical is {vertical}, because" in note for note in capture.notes
        )
        assert np.allclose(capture.marker("L_FM5"), markers["L_FM5"], atol=1e-8)
    nameless = {f"left {k}" if k % 2 else f"right {k}": p for k, p in enumerate(markers.values())}
    capture = read_capture(write_trc(tmp_path / "walk.trc", nameless, t, turn=Y_UP))
    assert any("the vertical is y, because the markers extend" in note for note in capture.notes)
    refused(
        r"with x up, the mean ground force is horizontal",
        trc,
        up="x",
        forces=write_mot(tmp_path / "f.mot", {"1": push("R", 0.25)}),
    )


def test_forces_are_refused_with_one_sentence(tmp_path):
    t, markers = person()
    trc = write_trc(tmp_path / "walk.trc", markers, t, turn=Y_UP)
    mot = tmp_path / "f.mot"
    times, force, cop, free = stance = push("R", STRIKES["R"])
    longer = read_capture(trc, forces=write_mot(mot, {"1": stance}, rows=1600))
    assert any("nRows = 1600, the table has 1500" in note and "cut short" in note for note in longer.notes)
    hole = np.where(times[:, None] == 0.5, np.nan, force)
    for spoilt, sentence in (
        ((times + 50.0, force, cop, free), r"markers from 0 to 2.99 s, but '1_ground_force' from 50 to 52.998 s"),
        (
            (np.where(times == 0.5, 0.1, times), force, cop, free),
            r"'1_ground_force': the time goes from 0.498 s to 0.1 s",
        ),
        ((times, hole, cop, free), r"'1_ground_force': the force of sample 251, at 0.5 s, is not a finite number"),
        (
            (times, force, 1e3 * cop, free),
            r"centre of pressure of '1_ground_force' is \d+ m from the markers, limit 5 m",
        ),
        ((times, 1e3 * force, cop, free), r"a force of .* N; no step exceeds 20000 N"),
    ):
        refused(sentence, trc, forces=write_mot(mot, {"1": spoilt}))
    names = ("{}_angle_a", "{}_angle_b", "{}_angle_c")
    refused(r"no ground forces among its columns", trc, forces=write_mot(mot, {"1": stance}, names=names))
    refused(r"f.xls: no reader", trc, forces=tmp_path / "f.xls")
    refused(r"missing.mot': No such file", trc, forces=tmp_path / "missing.mot")


def test_tables_of_values_are_refused_with_one_sentence(tmp_path):
    trc, csv = write_trc(tmp_path / "walk.trc", person()[1], person()[0], turn=Y_UP), tmp_path / "f.csv"
    forces = ["time", "p1_Fx", "p1_Fy", "p1_Fz", "p1_copx", "p1_copy"]
    refused(r"force plate 'plate1' has no column pz", trc, forces=write_csv(csv, forces, np.zeros((5, 6))))
    for names, rows, sentence in (
        (forces, 5, r"f.csv: no markers; it holds forces: give it as forces="),
        (["time", "time", "b"], 2, r"column 'time' occurs more than once"),
        (["frame", "a_x"], 2, r"its first column is 'frame'"), (["time", "a_x", "a_y", "a_z"], 0, r"zero frames"),
    ):  # fmt: skip
        refused(sentence, write_csv(csv, names, np.zeros((rows, len(names)))))


@pytest.mark.parametrize("write", [write_trc, write_marker_csv])
def test_rounded_times_are_evened(tmp_path, write):
    """At 60 Hz a millisecond is a sixteenth of a sample, and 5 m/s^2 of a marker's acceleration."""
    seen, markers = person()
    t = np.arange(61) / 60.0
    markers = {k: np.stack([np.interp(t, seen, column) for column in p.T], axis=1) for k, p in markers.items()}
    file = tmp_path / ("walk.trc" if write is write_trc else "walk.csv")
    capture = read_capture(write(file, markers, np.round(t, 3)), up="z", units="mm" if write is write_trc else "m")
    np.testing.assert_allclose(capture.t, t, rtol=0.0, atol=1e-12)
    assert f"{file.name}: its times are rounded, by up to 0.33 ms; evenly spaced ones are used" in capture.notes
    capture = read_capture(write(file, markers, np.round(t, 6)), up="z", units="mm" if write is write_trc else "m")
    assert np.array_equal(capture.t, np.round(t, 6)) and not any("rounded" in note for note in capture.notes)
    late = np.where(np.arange(61) == 30, t + 0.003, t)
    capture = read_capture(write(file, markers, late), up="z", units="mm" if write is write_trc else "m")
    assert np.array_equal(capture.t, np.round(late, 6)) or np.abs(capture.t - late).max() < 1e-9
