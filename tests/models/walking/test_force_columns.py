"""Columns of force files: the names in use, and moments about the point of the same plate."""

from pathlib import Path

import numpy as np
import pytest

from models.walking.capture import read_capture
from models.walking.capture.force_columns import force_columns
from tests.support.capture_files import Y_UP, refused, write_csv, write_trc
from tests.support.walking_person import STRIKES, check_first_stance, person, push

NAMES = {
    "OpenSim": "ground_force_v ground_force_p ground_torque_ 1_ground_force_v 1_ground_force_p 1_ground_torque_",
    "side in front": "R_ground_force_v R_ground_force_p R_ground_torque_ L_ground_force_v L_ground_force_p L_ground_torque_",
    "side inside": "ground_force_r_v ground_force_r_p ground_torque_r_ ground_force_l_v ground_force_l_p ground_torque_l_",
    "body": "ground_force_calcn_r_v ground_force_calcn_r_p ground_force_calcn_r_m grf_l_v grf_l_p grf_l_m",
    "number without a gap": "ground_force1_v ground_force1_p ground_torque1_ ground_force2_v ground_force2_p ground_torque2_",
    "f and t": "ground_force_1_f ground_force_1_p ground_force_1_t ground_force_2_f ground_force_2_p ground_moment_2_m",
    "capitals": "FP1_F FP1_CoP FP1_M FP2F FP2COP FP2M",
    "words": "Right_Force_ Right_COP_ Right_Moment_ grf_l_v grf_l_p grf_l_torque_",
}


@pytest.mark.parametrize("stems", NAMES.values(), ids=NAMES)
def test_the_names_of_force_columns_in_use(stems):
    names = ["time", *(stem + axis for stem in stems.split() for axis in "xyz")]
    plates = force_columns(Path("f.mot"), names)
    assert [list(at.values()) for at in plates.values()] == [list(range(1, 10)), list(range(10, 19))]
    assert all(list(at) == [q + axis for q in "vpm" for axis in "xyz"] for at in plates.values())


@pytest.mark.parametrize(
    "ends", ["F{}1 COP{}1 M{}1", "F{}_m P{}_m M{}_m", "Force.F{}1 (N)|Force.COP{}1 [m]|Force.M{}1 [N m]"]
)
def test_names_with_the_axis_inside(ends):
    stems = ends.split("|") if "|" in ends else ends.split()
    (at,) = force_columns(Path("f.csv"), [stem.format(axis) for stem in stems for axis in "xyz"]).values()
    assert list(at.values()) == list(range(9))


def test_numbered_components():
    (at,) = force_columns(Path("f.sto"), [f"{q}1_{k}" for q in "fpm" for k in (1, 2, 3)]).values()
    assert list(at) == ["vx", "vy", "vz", "px", "py", "pz", "mx", "my", "mz"]


def write_forces(path, about, *, points=True, shift=0.0, moments="grf_m", turning=1.0):
    """The first stance of the right foot as CSV, y up, with moments about the point or about the origin."""
    t, force, cop, free = push("R", STRIKES["R"])
    force, cop = force @ Y_UP.T, np.nan_to_num(cop) @ Y_UP.T
    moment = turning * np.outer(free, [0.0, 1.0, 0.0])
    at = {
        "origin": 0.0 * cop,
        "point": cop,
        "beside": np.where(force.any(axis=1)[:, None], cop + [0.3, 0.0, -0.2], 0.0),
    }[about]
    moment = moment + np.cross(cop - at, force)
    names = [stem + axis for stem in ("grf_v", *(["grf_p"] if points else []), moments) for axis in "xyz"]
    columns = [force, *([at + shift * cop] if points else []), moment]
    return write_csv(path, ["time", *names], np.column_stack([t, *columns]))


@pytest.mark.parametrize("about", ["point", "beside", "origin"])
def test_moments_are_about_the_point_of_the_same_plate(tmp_path, about):
    t, markers = person()
    trc = write_trc(tmp_path / "walk.trc", markers, t, turn=Y_UP)
    capture = read_capture(trc, forces=write_forces(tmp_path / "f.csv", about))
    check_first_stance(capture.forces[0])
    assert any("0, 0, 0 throughout, the origin" in note for note in capture.notes) == (about == "origin")
    if about == "origin":
        without = read_capture(trc, forces=write_forces(tmp_path / "f.csv", about, points=False))
        check_first_stance(without.forces[0])
        assert any("0, 0, 0 throughout, the origin" in note for note in without.notes)


def test_columns_and_moments_in_doubt_are_noted(tmp_path):
    t, markers = person()
    trc = write_trc(tmp_path / "walk.trc", markers, t, turn=Y_UP)
    other = read_capture(trc, forces=write_forces(tmp_path / "f.csv", "point", moments="belt_m"))
    assert any("columns that are not read: belt_mx, belt_my, belt_mz" in note for note in other.notes)
    # The centre of pressure, and beside it the moments about the origin.
    doubled = read_capture(trc, forces=write_forces(tmp_path / "f.csv", "origin", shift=1.0))
    assert any("if they are about the origin, set the columns of the point to 0" in note for note in doubled.notes)
    unlikely = "its free moment is as large as its force at a lever of"
    assert not any(unlikely in note for note in other.notes)
    large = read_capture(trc, forces=write_forces(tmp_path / "f.csv", "point", turning=200.0))
    assert any(unlikely in note and "check the unit of its moments" in note for note in large.notes)
    refused(
        "has no column px, py, pz",
        trc,
        forces=write_forces(tmp_path / "f.csv", "point", points=False, moments="belt_m"),
    )
