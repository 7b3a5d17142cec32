"""Force plates of C3D files, types 1 to 5: the wrench put into their channels is read back."""

import math

import numpy as np
import pytest

from models.walking.capture import read_capture
from tests.support.capture_files import Y_UP, write_c3d
from tests.support.walking_person import STRIKES, check_first_stance, person, push

# The plate's z axis points into the floor.
CORNERS = np.array([[0.3, 0.1, 0.0], [0.3, -0.5, 0.0], [-0.3, -0.5, 0.0], [-0.3, 0.1, 0.0]])


def axes_of(corners):
    """Columns x, y, z (3, 3) of a plate; the first corner is in its +x, +y quadrant."""
    x, y = corners[0] - corners[1], corners[0] - corners[3]
    z = np.cross(x, y)
    return np.stack([x / np.linalg.norm(x), y / np.linalg.norm(y), z / np.linalg.norm(z)], axis=1)


def plate_wrench(corners=CORNERS, action=False):
    """Force and moment about the middle of the surface in the plate's axes, of the right foot's first stance."""
    t, force, cop, free = push("R", STRIKES["R"])
    axes = axes_of(corners)
    assert np.allclose(axes[2], [0, 0, -1])
    arm = np.nan_to_num(cop - corners.mean(axis=0))
    moment = np.cross(arm, force) + np.stack([0 * free, 0 * free, free], axis=1)
    sign = -1.0 if action else 1.0
    return sign * force @ axes, sign * moment @ axes


def channels_of(kind, force, moment, origin):
    """Analog channels in N and N mm (type 1: mm) that a plate of a type gives; ``origin`` [mm] is the surface's middle."""
    moment = 1000.0 * moment
    if kind == 1:
        up = np.where(force[:, 2] == 0.0, np.inf, force[:, 2])
        x, y = -moment[:, 1] / up, moment[:, 0] / up
        return np.stack([*force.T, x, y, moment[:, 2] - x * force[:, 1] + y * force[:, 0]])
    if kind == 3:
        a, b, depth = abs(origin)
        sensors = np.array([[a, b, depth], [-a, b, depth], [-a, -b, depth], [a, -b, depth]])
        # Some forces of the four sensors that together are the wrench.
        balance = np.zeros((6, 12))
        for k, (x, y, z) in enumerate(sensors):
            balance[:3, 3 * k : 3 * k + 3] = np.eye(3)
            balance[3:, 3 * k : 3 * k + 3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
        f = np.linalg.pinv(balance) @ np.concatenate([force.T, moment.T])
        fx, fy, fz = f[0::3], f[1::3], f[2::3]
        return np.stack([fx[0] + fx[1], fx[2] + fx[3], fy[0] + fy[3], fy[1] + fy[2], *fz])
    about = moment + np.cross(origin, force)
    return np.concatenate([force.T, about.T])


@pytest.mark.parametrize("action", [False, True])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_force_plates_of_all_types(tmp_path, kind, action):
    _, markers = person()
    origin = (
        np.array([120.0, 200.0, -54.0])
        if kind == 3
        else np.array([0.0, 0, 0])
        if kind == 1
        else np.array([4.0, -7.0, -41.0])
    )
    channels = channels_of(kind, *plate_wrench(action=action), origin)
    plate = {"type": kind, "corners": 1000.0 * CORNERS.T, "origin": origin, "channel": np.arange(len(channels)) + 2}
    units = [
        "V",
        *["N"] * (8 if kind == 3 else 3),
        *([] if kind == 3 else ["mm", "mm", "Nmm"] if kind == 1 else ["Nmm"] * 3),
    ]
    if kind == 4:
        matrix = np.diag([1.0, 2.0, 5.0, 300.0, 200.0, 100.0]) + 0.1 * np.random.default_rng(0).normal(size=(6, 6))
        channels, plate["cal_matrix"] = np.linalg.solve(matrix, channels), matrix
        units = ["V"] * 7
    channels = np.vstack([np.ones(channels.shape[1]), channels])  # another channel before them
    path = write_c3d(tmp_path / "walk.c3d", markers, plates=[plate], channels=channels, analog_units=units)
    capture = read_capture(path)
    check_first_stance(capture.forces[0])
    assert any("reversed, so that it acts on the foot" in note for note in capture.notes) == action
    if kind in (2, 4):  # many files have the origin the other way
        plate["origin"] = -origin
        other = read_capture(write_c3d(path, markers, plates=[plate], channels=channels, analog_units=units))
        check_first_stance(other.forces[0])


def test_units_of_moments_come_from_the_channels(tmp_path):
    _, markers = person()
    channels = channels_of(2, *plate_wrench(), np.zeros(3))
    channels[3:] /= 1000.0
    plate = {"type": 2, "corners": 1000.0 * CORNERS.T, "origin": np.zeros(3), "channel": np.arange(6) + 1}
    path = tmp_path / "walk.c3d"
    write_c3d(path, markers, plates=[plate], channels=channels, analog_units=["N"] * 3 + ["N.m"] * 3)
    check_first_stance(read_capture(path).forces[0])
    channels[3:] *= 1000.0
    capture = read_capture(write_c3d(path, markers, plates=[plate], channels=channels, analog_units=[""] * 6))
    check_first_stance(capture.forces[0])
    assert any("without a unit" in note for note in capture.notes)
    # Moments in another unit than stated put the centre of pressure outside the plate, which a note says.
    channels[3:] /= 1000.0
    plain = dict(plates=[plate], channels=channels, analog_units=["N"] * 3 + ["Nmm"] * 3)
    assert not any("outside" in note for note in capture.notes)
    channels[3:] *= 5000.0
    assert any("outside the plate's corners" in note for note in read_capture(write_c3d(path, markers, **plain)).notes)


def test_plates_that_cannot_be_read_are_left_out_by_name(tmp_path):
    _, markers = person()
    channels = channels_of(2, *plate_wrench(), np.zeros(3))
    good = {"type": 2, "corners": 1000.0 * CORNERS.T, "origin": np.zeros(3), "channel": np.arange(6) + 1}
    others = [good | {"type": 7}, good | {"corners": np.zeros((3, 4))}, good | {"channel": np.arange(6) + 90}, good]
    path = write_c3d(
        tmp_path / "walk.c3d", markers, plates=others, channels=channels, analog_units=["N"] * 3 + ["Nmm"] * 3
    )
    capture = read_capture(path)
    assert [grf.plate for grf in capture.forces] == ["plate4"]
    for plate, why in (("plate1", "type 7"), ("plate2", "span no area"), ("plate3", "analog channels")):
        assert any(plate in note and why in note for note in capture.notes)
    write_c3d(path, markers, plates=[good], channels=channels, analog_units=["V"] * 6)
    assert any("the unit of its forces, 'v', is not known" in note for note in read_capture(path).notes)


def test_a_file_with_y_up_and_a_sloping_plate(tmp_path):
    """The force keeps its line of action on a slope, so that it meets the plate's surface, not a level plane."""
    _, markers = person()
    slope = math.radians(6.0)
    tilt = np.array([[math.cos(slope), 0, math.sin(slope)], [0, 1, 0], [-math.sin(slope), 0, math.cos(slope)]])
    corners = (CORNERS - CORNERS.mean(axis=0)) @ tilt.T + CORNERS.mean(axis=0)
    t, force, cop, free = push("R", STRIKES["R"])
    along = corners[3] - corners[0]
    axes = axes_of(corners)
    cop[:, 2] = corners[:, 2].mean() + (cop[:, 0] - corners[:, 0].mean()) * along[2] / along[0]
    moment = np.cross(np.nan_to_num(cop - corners.mean(axis=0)), force) + np.stack([0 * free, 0 * free, free], axis=1)
    channels = np.concatenate([(force @ axes).T, 1000.0 * (moment @ axes).T])
    plate = {"type": 2, "corners": 1000.0 * (corners @ Y_UP.T).T, "origin": np.zeros(3), "channel": np.arange(6) + 1}
    turned = {label: p @ Y_UP.T for label, p in markers.items()}
    path = write_c3d(
        tmp_path / "walk.c3d", turned, plates=[plate], channels=channels, analog_units=["N"] * 3 + ["Nmm"] * 3
    )
    capture = read_capture(path)
    loaded = force[:, 2] > 20.0
    assert "y up" in capture.axes and any("normal to y" in note for note in capture.notes)
    assert np.allclose(capture.marker("R_FCC"), markers["R_FCC"], atol=1e-6)
    assert np.allclose(capture.forces[0].force, force, atol=1e-3)
    assert np.allclose(capture.forces[0].cop[loaded], cop[loaded], atol=1e-5)
    assert np.allclose(capture.forces[0].free_moment[loaded], free[loaded], atol=1e-3)


def write_walk(path, channels, *, units=("N",) * 3 + ("Nmm",) * 3, zero=None, **plate):
    """A walk on one plate of type 2, whose moments are about the middle of its surface."""
    made = {
        "type": 2,
        "corners": 1000.0 * CORNERS.T,
        "origin": np.zeros(3),
        "channel": np.arange(len(channels)) + 1,
    } | plate
    parameters = [] if zero is None else [("FORCE_PLATFORM", "ZERO", list(zero))]
    return write_c3d(
        path, person()[1], plates=[made], channels=channels, analog_units=list(units), parameters=parameters
    )


@pytest.mark.parametrize(
    ("force", "moment", "metres"),
    [
        ("Nt", "Nmm", 1e-3),
        ("NT", "N.mm", 1e-3),
        ("newton", "N*m", 1.0),
        ("[N]", "Ncm", 1e-2),
        ("Newtons", "Newton metres", 1.0),
    ],
)
def test_the_spellings_of_units(tmp_path, force, moment, metres):
    channels = np.concatenate([channels_of(2, *plate_wrench(), np.zeros(3))[:3], plate_wrench()[1].T / metres])
    check_first_stance(
        read_capture(write_walk(tmp_path / "w.c3d", channels, units=[force] * 3 + [moment] * 3)).forces[0]
    )


def test_a_plate_of_type_5_has_a_matrix_of_six_rows(tmp_path):
    rng = np.random.default_rng(2)
    matrix = np.diag([1.0, 1, 1, 1000, 1000, 1000]) @ (rng.normal(size=(6, 8)) + np.eye(6, 8) * 5.0)
    channels = np.linalg.pinv(matrix) @ channels_of(2, *plate_wrench(), np.zeros(3))
    path = write_walk(tmp_path / "w.c3d", channels, units=["V"] * 8, type=5, cal_matrix=matrix)
    check_first_stance(read_capture(path).forces[0])
    path = write_walk(tmp_path / "w.c3d", channels, units=["V"] * 8, type=5)
    assert any("it is of type 5 but has no FORCE_PLATFORM:CAL_MATRIX" in note for note in read_capture(path).notes)


OFFSET = np.array([[4.0], [-3.0], [12.0], [2000.0], [-3000.0], [400.0]])


def test_the_mean_of_unloaded_frames_is_subtracted(tmp_path):
    path, channels = tmp_path / "w.c3d", channels_of(2, *plate_wrench(), np.zeros(3))
    capture = read_capture(write_walk(path, channels + OFFSET, zero=(1, 20)))
    check_first_stance(capture.forces[0])
    assert any("ZERO names as unloaded, 13 N, is subtracted" in note for note in capture.notes)
    assert not any("while it is unloaded" in note for note in capture.notes)


@pytest.mark.parametrize(
    ("zero", "said"),
    [
        ((0, 0), "shows 13 N while it is unloaded"),
        ((1, 0), "shows 13 N while it is unloaded"),
        ((0, 10), "names frames 0 to 10 as unloaded, but the file has frames 1 to 300"),
        ((290, 310), "names frames 290 to 310 as unloaded, but the file has frames 1 to 300"),
        ((20, 40), "loaded, or not steady"),  # the foot strikes at frame 26
        ((50, 60), "loaded, or not steady"),
    ],
)
def test_a_baseline_that_is_not_subtracted_is_named(tmp_path, zero, said):
    channels = channels_of(2, *plate_wrench(), np.zeros(3)) + OFFSET
    capture = read_capture(write_walk(tmp_path / "w.c3d", channels, zero=zero))
    assert any(said in note for note in capture.notes) and any(
        "13 N while it is unloaded" in note for note in capture.notes
    )
