"""The vertical of a file follows from plates, forces, labels and statement together; what contradicts it is named."""

import numpy as np
import pytest

from models.walking.capture import read_capture
from models.walking.capture.vertical import ROTATIONS
from models.walking.plate_assignment import assign_feet
from tests.models.walking.test_c3d_plates import CORNERS, plate_wrench, write_walk
from tests.support.capture_files import refused, write_c3d
from tests.support.walking_person import check_first_stance, person

SCREENS = (("+X", "+Z"), ("-X", "-Z"), ("+X", "+Y"), ("+Y", "-X"))


def write_laboratory(path, vertical, *, screen=None, depth=40.0, corners=CORNERS, marker_axes=None):
    """A walk on one plate in a laboratory whose vertical is an axis of the file."""
    turn = ROTATIONS[vertical][0]  # rows: axes of Talus in those of the file
    marked = turn if marker_axes is None else ROTATIONS[marker_axes][0]
    markers = {label: p @ marked for label, p in person()[1].items()}
    force, moment = plate_wrench()
    moment = moment + np.cross([0.0, 0.0, -0.04], force)
    parameters = [] if screen is None else [("POINT", "X_SCREEN", [screen[0]]), ("POINT", "Y_SCREEN", [screen[1]])]
    plate = dict(corners=1000.0 * (corners @ turn).T, origin=np.array([0, 0, -depth]))
    return write_walk(path, np.vstack([force.T, 1000.0 * moment.T]), markers=markers, parameters=parameters, **plate)


@pytest.mark.parametrize("vertical", ROTATIONS)
def test_laboratories_with_any_axis_up(tmp_path, vertical):
    for k, screen in enumerate((None, *SCREENS)):
        capture = read_capture(
            write_laboratory(tmp_path / "walk.c3d", vertical, screen=screen, depth=40.0 - 80.0 * (k % 2))
        )
        assert f"the file has {vertical} up" in capture.axes
        assert any(f"the vertical is {vertical}, because the mean ground force" in note for note in capture.notes)
        assert not any("check the vertical" in note for note in capture.notes)
        check_first_stance(capture.forces[0])


def test_what_contradicts_the_vertical_is_named(tmp_path):
    # Markers with y up, forces and plates with z up.
    path = write_laboratory(tmp_path / "walk.c3d", "z", marker_axes="y")
    assert any("check the vertical, z as decided: R_IAS and others are above" in n for n in read_capture(path).notes)
    refused("with y up, the mean ground force is horizontal", path, up="y")
    path = write_laboratory(tmp_path / "walk.c3d", "z")
    given = read_capture(path, up="-z")
    assert any("check the vertical, -z as given: R_IAS and others" in note for note in given.notes)
    assert not any("check" in note for note in read_capture(path, up="z").notes)


def test_corners_whose_normal_points_up_are_named(tmp_path):
    path = write_laboratory(tmp_path / "walk.c3d", "z", corners=CORNERS[::-1])
    assert any("plate1: by the order of its corners its z axis points up" in note for note in read_capture(path).notes)


def test_a_centre_of_pressure_that_goes_backwards_is_named(tmp_path):
    right = read_capture(write_laboratory(tmp_path / "walk.c3d", "z"))
    assert assign_feet(right).plates("right") == ("plate1",) and not assign_feet(right).doubts
    for order in (np.roll(CORNERS, 1, axis=0), CORNERS[::-1]):
        turned = read_capture(write_laboratory(tmp_path / "walk.c3d", "z", corners=order))
        (said,) = assign_feet(turned).notes(turned)
        assert "check force plate 'plate1': its centre of pressure goes from" in said


def test_the_reason_without_plates_names_plates_only(tmp_path):
    path = write_c3d(tmp_path / "walk.c3d", person()[1], labels=[*list(person()[1])[:-1], "*12"])
    refused("no force plates that can be used: it has none$", path, forces=path)
