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


UNITS = ("N",) * 3 + ("Nmm",) * 3
CHANNELS = channels_of(2, *plate_wrench(), np.zeros(3))


def write_walk(path, channels=CHANNELS, *, units=UNITS, zero=None, markers=None, others=(), parameters=(), **plate):
    """A walk on a plate, of type 2 unless said otherwise, whose moments are about the middle of its surface."""
    made = dict(type=2, corners=1000.0 * CORNERS.T, origin=np.zeros(3), channel=np.arange(len(channels)) + 1) | plate
    zeros = [] if zero is None else [("FORCE_PLATFORM", "ZERO", list(zero))]
    plates = [*(made | other for other in others), made]
    return write_c3d(
        path,
        markers or person()[1],
        plates=plates,
        channels=channels,
        analog_units=units,
        parameters=[*zeros, *parameters],
    )


@pytest.fixture
def walk(tmp_path):
    """Reads a walk on a plate as ``write_walk`` writes it."""
    return lambda *args, **options: read_capture(write_walk(tmp_path / "walk.c3d", *args, **options))


def noted(capture, words):
    return any(words in note for note in capture.notes)


PLATES = {  # the units of the channels, and the middle of the surface [mm]
    1: (["N"] * 3 + ["mm", "mm", "Nmm"], np.zeros(3)),
    2: (UNITS, np.array([4.0, -7.0, -41.0])),
    3: (["N"] * 8, np.array([120.0, 200.0, -54.0])),
    4: (["V"] * 6, np.array([4.0, -7.0, -41.0])),
}


@pytest.mark.parametrize("action", [False, True])
@pytest.mark.parametrize("kind", PLATES)
def test_force_plates_of_all_types(walk, kind, action):
    units, origin = PLATES[kind]
    channels = channels_of(kind, *plate_wrench(action=action), origin)
    plate = dict(type=kind, channel=np.arange(len(channels)) + 2)
    if kind == 4:
        matrix = np.diag([1.0, 2.0, 5.0, 300.0, 200.0, 100.0]) + 0.1 * np.random.default_rng(0).normal(size=(6, 6))
        channels, plate["cal_matrix"] = np.linalg.solve(matrix, channels), matrix
    channels = np.vstack([np.ones(channels.shape[1]), channels])  # another channel before them
    for sense in (1, -1) if kind in (2, 4) else (1,):  # many files have the origin the other way
        capture = walk(channels, units=["V", *units], origin=sense * origin, **plate)
        check_first_stance(capture.forces[0])
        assert noted(capture, "reversed, so that it acts on the foot") == action


@pytest.mark.parametrize(
    ("force", "moment", "metres"),
    [
        ("N", "N.m", 1.0), ("Nt", "Nmm", 1e-3), ("NT", "N.mm", 1e-3), ("newton", "N*m", 1.0), ("[N]", "Ncm", 1e-2),
        ("Newtons", "Newton metres", 1.0), ("", "", 1e-3),
    ],
)  # fmt: skip
def test_the_spellings_of_units(walk, force, moment, metres):
    channels = np.concatenate([CHANNELS[:3], 1e-3 * CHANNELS[3:] / metres])
    capture = walk(channels, units=[force] * 3 + [moment] * 3)
    check_first_stance(capture.forces[0])
    assert noted(capture, "without a unit") == (not moment)


def test_moments_in_another_unit_than_stated_put_the_force_outside_the_plate(walk):
    found = [walk(np.concatenate([CHANNELS[:3], times * CHANNELS[3:]])) for times in (1.0, 5.0)]
    assert [noted(capture, "outside the plate's corners") for capture in found] == [False, True]


def test_plates_that_cannot_be_read_are_left_out_by_name(walk):
    capture = walk(others=[{"type": 7}, {"corners": np.zeros((3, 4))}, {"channel": np.arange(6) + 90}])
    assert [grf.plate for grf in capture.forces] == ["plate4"]
    for plate, why in (("plate1", "type 7"), ("plate2", "span no area"), ("plate3", "analog channels")):
        assert any(plate in note and why in note for note in capture.notes)
    assert noted(walk(units=["V"] * 6), "the unit of its forces, 'v', is not known")


def test_a_file_with_y_up_and_a_sloping_plate(walk):
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
    turned = {label: p @ Y_UP.T for label, p in markers.items()}
    capture = walk(channels, markers=turned, corners=1000.0 * (corners @ Y_UP.T).T)
    loaded = force[:, 2] > 20.0
    assert "y up" in capture.axes and noted(capture, "normal to y")
    assert np.allclose(capture.marker("R_FCC"), markers["R_FCC"], atol=1e-6)
    assert np.allclose(capture.forces[0].force, force, atol=1e-3)
    assert np.allclose(capture.forces[0].cop[loaded], cop[loaded], atol=1e-5)
    assert np.allclose(capture.forces[0].free_moment[loaded], free[loaded], atol=1e-3)


def test_a_plate_of_type_5_has_a_matrix_of_six_rows(walk):
    rng = np.random.default_rng(2)
    matrix = np.diag([1.0, 1, 1, 1000, 1000, 1000]) @ (rng.normal(size=(6, 8)) + np.eye(6, 8) * 5.0)
    of_type_5 = dict(channels=np.linalg.pinv(matrix) @ CHANNELS, units=["V"] * 8, type=5)
    check_first_stance(walk(**of_type_5, cal_matrix=matrix).forces[0])
    assert noted(walk(**of_type_5), "it is of type 5 but has no FORCE_PLATFORM:CAL_MATRIX")


OFFSET = np.array([[4.0], [-3.0], [12.0], [2000.0], [-3000.0], [400.0]])


def test_the_mean_of_unloaded_frames_is_subtracted(walk):
    capture = walk(CHANNELS + OFFSET, zero=(1, 20))
    check_first_stance(capture.forces[0])
    assert noted(capture, "ZERO names as unloaded, 13 N, is subtracted")
    assert not noted(capture, "while it is unloaded")


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
def test_a_baseline_that_is_not_subtracted_is_named(walk, zero, said):
    capture = walk(CHANNELS + OFFSET, zero=zero)
    assert noted(capture, said) and noted(capture, "13 N while it is unloaded")
