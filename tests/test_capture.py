"""Reading captures, smoothing them, and the ground under the feet: on recorded gait where it is here, and on files made here."""

import json
import math
import pickle
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from runtime import ModelError
from runtime.capture import Capture, GaitEvent, GroundForce, read_capture
from runtime.ground import (
    along_x,
    assign_feet,
    combined,
    contacts,
    events_from_forces,
    events_from_markers,
    filtered,
    foot_force,
    foot_markers,
    gait_cycle,
    gait_cycles,
    heading,
)
from runtime.smoothing import fill_gaps, lowpass, resample, without_flips

GAIT = Path(__file__).resolve().parent.parent.parent / "shared" / "gait"
C3D = GAIT / "dev" / "schreiber_moissenet" / "c3d"
CSV = GAIT / "dev" / "schreiber_moissenet" / "csv"
OPENSIM = GAIT / "dev" / "opensim_subject01"
TRIALS = ("C3_01", "C3_02", "C3_03", "C3_05", "C4_05")

recorded = pytest.mark.skipif(
    not GAIT.is_dir(), reason="the recorded gait is not here: no ../shared/gait beside the repository"
)
trials = pytest.mark.parametrize("trial", TRIALS)


def refused(match, path, **options):
    with pytest.raises(ModelError, match=match) as caught:
        read_capture(path, **options)
    said = str(caught.value)
    assert "\n" not in said and "Traceback" not in said
    return said


# A person who walks along +x: z up, metres

RATE, FORCE_RATE, STEP = 100.0, 500.0, 0.5
STRIDE_LENGTH, CYCLE, DUTY = 1.3, 1.1, 0.62


def foot_forward(t, strike):
    """Place of a foot that strikes at a time and every cycle, stands for a part of it, then swings ahead."""
    phase, number = np.modf((t - strike) / CYCLE + 10.0)
    swing = np.clip((phase - DUTY) / (1 - DUTY), 0.0, 1.0)
    return STRIDE_LENGTH * (number - 10.0 + swing - np.sin(2 * np.pi * swing) / (2 * np.pi))


STRIKES = {"R": 0.25, "L": 0.25 + CYCLE / 2}


def person(n=300):
    """Markers (n, 3) [m] by label, their times [s], and the places of the feet's middles over time."""
    t = np.arange(n) / RATE
    speed = STRIDE_LENGTH / CYCLE
    markers = {}
    for side, y in (("R", -0.1), ("L", 0.1)):
        x = foot_forward(t, STRIKES[side]) + speed * (STRIKES[side] - 0.25)
        lift = 0.05 * np.clip(np.gradient(x, t) / speed - 0.2, 0.0, 1.0)
        for label, at in {
            "FCC": (-0.1, 0, 0.03),
            "FM1": (0.1, -0.04 * np.sign(y), 0.03),
            "FM5": (0.08, 0.04 * np.sign(y), 0.02),
        }.items():
            markers[f"{side}_{label}"] = np.stack([x + at[0], np.full(n, y + at[1]), at[2] + lift], axis=1)
        for label, height in (("IAS", 0.95), ("FTC", 0.85)):
            sway = 0.02 * np.sin(4 * np.pi * t / CYCLE)
            markers[f"{side}_{label}"] = np.stack(
                [speed * (t - 0.25) - 0.3 + 0.0 * t, np.full(n, y), height + sway], axis=1
            )
    return t, markers


def push(side, strike, t=None, weight=700.0):
    """Force (m, 3), centre of pressure (m, 3) and free moment (m,) of one stance of a foot that strikes at a time."""
    t = np.arange(int(3.0 * FORCE_RATE)) / FORCE_RATE if t is None else t
    share = (t - strike) / (DUTY * CYCLE)
    on = (share >= 0) & (share <= 1)
    s = np.clip(share, 0, 1)
    up = np.where(on, weight * (np.sin(np.pi * s) ** 0.5 + 0.15 * np.sin(3 * np.pi * s)), 0.0)
    force = np.stack([-0.2 * up * np.cos(np.pi * s), 0.05 * up * np.sin(np.pi * s), up], axis=1)
    x = STRIDE_LENGTH / CYCLE * (strike - 0.25)
    cop = np.stack([x - 0.09 + 0.18 * s, np.full(len(t), -0.1 if side == "R" else 0.1) + 0.01 * s, 0.0 * s], axis=1)
    return t, force, np.where(on[:, None], cop, np.nan), np.where(on, 3.0 * np.sin(2 * np.pi * s), 0.0)


def walker(n=300, **changes):
    """A capture of the person with a plate under each foot: the right's first stance and the left's first."""
    t, markers = person(n)
    forces = []
    for plate, side in (("plate1", "R"), ("plate2", "L")):
        times, force, cop, free = push(side, STRIKES[side])
        cop[force[:, 2] < 5.0] = np.nan
        forces.append(GroundForce(plate, times, force, cop, free))
    return Capture("walker", **({"t": t, "markers": markers, "forces": tuple(forces)} | changes))


# Files made here


def write_trc(
    path, markers, t, *, units="mm", scale=1000.0, turn=None, frames=None, markers_told=None, header_rate=RATE
):
    turn = np.eye(3) if turn is None else turn
    points = {label: scale * p @ np.asarray(turn).T for label, p in markers.items()}
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{header_rate}\t{RATE}\t{frames or len(t)}\t{markers_told or len(points)}\t{units}\t{RATE}\t1\t{len(t)}",
        "Frame#\tTime\t" + "\t\t\t".join(points) + "\t\t",
        "\t\t" + "\t".join(f"X{k}\tY{k}\tZ{k}" for k in range(1, len(points) + 1)),
        "",
    ]
    for k, time_ in enumerate(t):
        values = np.concatenate([p[k] for p in points.values()])
        lines.append(f"{k + 1}\t{time_:.6f}\t" + "\t".join("" if np.isnan(v) else f"{v:.6f}" for v in values))
    path.write_text("\n".join(lines) + "\n")
    return path


Y_UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # Talus to OpenSim: X forward, Y up, Z right


def write_mot(
    path, plates, *, sign=1.0, names=("{}_ground_force_v", "{}_ground_force_p", "{}_ground_torque_"), rows=None
):
    """Plates by name: (t, force, cop, free moment) in Talus' axes."""
    header, columns = ["time"], []
    for plate, (_, force, cop, free) in plates.items():
        header += [name.format(plate) + axis for name in names for axis in "xyz"]
        moment = np.stack([0 * free, free, 0 * free], axis=1)
        columns += [sign * force @ Y_UP.T, np.nan_to_num(cop) @ Y_UP.T, sign * moment]
    table = np.column_stack([next(iter(plates.values()))[0], *columns])
    lines = [
        path.name,
        "version=1",
        f"nRows={rows or len(table)}",
        f"nColumns={table.shape[1]}",
        "inDegrees=no",
        "endheader",
    ]
    lines += ["\t".join(header), *("\t".join(f"{v:.9g}" for v in row) for row in table)]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_csv(path, names, table, comments=("units m/N",)):
    lines = [f"# {line}" for line in comments] + [",".join(names)]
    lines += [",".join(f"{v:.9g}" for v in row) for row in table]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_marker_csv(path, markers, t, **options):
    names = ["time", *(f"{label}_{axis}" for label in markers for axis in "xyz")]
    return write_csv(path, names, np.column_stack([t, *markers.values()]), **options)


def write_c3d(
    path,
    markers,
    *,
    units="mm",
    scale=1000.0,
    labels=None,
    plates=(),
    channels=None,
    analog_units=None,
    events=(),
    first_frame=None,
    parameters=(),
):
    ezc3d = pytest.importorskip("ezc3d")
    file = ezc3d.c3d()
    points = scale * np.stack(list(markers.values()), axis=1).transpose(2, 1, 0)
    point = file["parameters"]["POINT"]
    point["RATE"]["value"], point["UNITS"]["value"] = [RATE], [units] if units is not None else []
    point["LABELS"]["value"] = list(labels or markers)
    file["data"]["points"] = np.vstack([points, np.ones((1, *points.shape[1:]))])
    if channels is not None:
        analog = file["parameters"]["ANALOG"]
        analog["RATE"]["value"] = [FORCE_RATE]
        analog["LABELS"]["value"] = [f"channel {k + 1}" for k in range(len(channels))]
        analog["UNITS"]["value"] = list(analog_units)
        file["data"]["analogs"] = channels[None]
    if plates:
        file.add_parameter("FORCE_PLATFORM", "USED", [len(plates)])
        file.add_parameter("FORCE_PLATFORM", "TYPE", [plate["type"] for plate in plates])
        for name in ("CORNERS", "ORIGIN", "CHANNEL", "CAL_MATRIX"):
            if all(name.lower() in plate for plate in plates):
                stacked = np.stack([np.asarray(plate[name.lower()], float) for plate in plates], axis=-1)
                file.add_parameter("FORCE_PLATFORM", name, stacked)
    if events:
        file.add_parameter("EVENT", "USED", [len(events)])
        file.add_parameter("EVENT", "CONTEXTS", [side for _, side, _ in events])
        file.add_parameter("EVENT", "LABELS", [label for *_, label in events])
        file.add_parameter("EVENT", "TIMES", np.array([[0.0] * len(events), [at for at, *_ in events]]))
    for group, name, value in parameters:
        file.add_parameter(group, name, value)
    if first_frame is not None:
        file["header"]["points"]["first_frame"] = first_frame - 1
    file.write(str(path))
    return path


# Recorded gait


@recorded
@trials
def test_c3d_and_csv_of_a_trial_agree(trial):
    pytest.importorskip("ezc3d")
    c3d, csv = read_capture(C3D / f"2014001_{trial}.c3d"), read_capture(CSV / f"2014001_{trial}_markers.csv")
    meta = json.loads((CSV / f"2014001_{trial}_meta.json").read_text())
    c3d = c3d.turned(0.0 if meta["walking_direction_in_lab"] == "+x" else math.pi)
    assert np.allclose(c3d.t, csv.t, atol=1e-9)
    for label, positions in csv.markers.items():
        assert np.abs(c3d.marker(label) - positions).max() < 0.6e-5  # five decimals of a metre
    for a, b in zip(c3d.forces, csv.forces, strict=True):
        every = slice(0, 5 * len(b.t), 5)  # 1500 Hz and 300 Hz
        assert np.allclose(a.t[every], b.t, atol=1e-4)
        assert np.allclose(a.force[every], b.force, rtol=1e-4, atol=1e-3)
        loaded = b.force[:, 2] > 20.0
        assert loaded.sum() > 100
        assert np.isnan(b.cop[b.force[:, 2] == 0.0]).all() and (b.free_moment[b.force[:, 2] == 0.0] == 0.0).all()
        assert np.allclose(a.cop[every][loaded], b.cop[loaded], rtol=1e-4, atol=1e-5)
        assert np.allclose(a.free_moment[every][loaded], b.free_moment[loaded], rtol=1e-3, atol=1e-4)
        assert (a.surface, a.corners.shape) == (pytest.approx(-0.002), (4, 3))
    assert c3d.events == csv.events and len(c3d.events) == 7
    assert (c3d.subject.mass, c3d.subject.height, c3d.subject.sex, c3d.subject.age) == (67.0, 1.655, "male", 30.0)
    assert replace(c3d.subject, name="2014001") == csv.subject


@recorded
@trials
def test_feet_events_and_cycles_of_recorded_trials(trial):
    capture = read_capture(CSV / f"2014001_{trial}_markers.csv")
    meta = json.loads((CSV / f"2014001_{trial}_meta.json").read_text())
    unmarked = replace(capture, forces=tuple(replace(ground, foot=None) for ground in capture.forces))
    found = assign_feet(unmarked)
    assert found.sides == {plate: {"L": "left", "R": "right"}[at["foot"]] for plate, at in meta["plates"].items()}
    assert not found.left_out
    for plate, at in meta["plates"].items():
        side = found.sides[plate]
        pushed = [event.time for event in events_from_forces(capture, found) if event.side == side]
        assert np.allclose(pushed, at["contact"], atol=0.005)
    assert foot_markers(capture)["right"] == ("R_FCC", "R_FM1", "R_FM5", "R_FM2")
    angle, _ = heading(capture)
    assert abs(angle) < math.radians(3.0)
    for side in ("left", "right"):
        cycle = gait_cycle(capture, side)
        strikes = [e.time for e in capture.events if (e.kind, e.side) == ("foot_strike", side)]
        assert [cycle.strike, cycle.next_strike] == strikes and cycle.source == "file"
        assert cycle.complete and found.sides[cycle.plates[0]] == side and 0.55 < cycle.stance < 0.68
    # Without events in the file: strike and off from the plate, the next strike from the heel.
    known = gait_cycle(capture, side)
    cycle = gait_cycle(replace(capture, events=()), side)
    assert cycle.source == "forces and markers" and "heel" in cycle.note and cycle.complete
    assert abs(cycle.strike - known.strike) < 0.02 and abs(cycle.next_strike - known.next_strike) < 0.06


@recorded
def test_events_from_markers_are_near_those_of_the_file():
    kinds = set()
    for trial in TRIALS:
        capture = read_capture(CSV / f"2014001_{trial}_markers.csv")
        for event in events_from_markers(capture):
            near = [
                e
                for e in capture.events
                if (e.kind, e.side) == (event.kind, event.side) and abs(e.time - event.time) < 0.07
            ]
            assert len(near) == 1, event
            kinds.add((event.kind, event.side))
    assert len(kinds) == 4


@recorded
def test_opensim_subject01():
    capture = read_capture(OPENSIM / "subject01_walk1.trc")
    assert (len(capture.t), len(capture.markers), round(capture.rate)) == (151, 41, 60)
    assert "y up" in capture.axes and "mm" in capture.axes
    assert any("walk1_grf.mot" in note for note in capture.notes) and any("N, m, N m" in note for note in capture.notes)
    assert np.allclose(capture.marker("R.ASIS")[0], [0.61724762, -0.17078198, 1.05527502])
    right, left = capture.forces
    assert np.allclose(right.force[0], [101.5119767, 47.44870554, 745.4661142])
    assert np.allclose(right.cop[0], [0.37898285, -0.12774652, -0.0075]) and right.free_moment[0] == pytest.approx(
        13.53783445
    )
    # The left plate's horizontal moments are gone into the point, so that the moment about any place stays.
    moment = np.cross([0.81009656, 0.05354309, -0.0075], [17.26938127, 7.46930128, 20.49185173]) + [
        1.5550397,
        -6.88030347,
        -0.75741936,
    ]
    assert np.allclose(np.cross(left.cop[0], left.force[0]) + [0, 0, left.free_moment[0]], moment)
    assert assign_feet(capture).sides == {"ground_force": "right", "1_ground_force": "left"}
    cycle = gait_cycle(capture, "right")
    assert (round(cycle.strike, 3), round(cycle.off, 3), cycle.complete) == (0.618, 1.408, True)
    assert abs(cycle.next_strike - 1.853) < 0.03
    _, found = heading(capture)
    assert "stays in place" in found
    static = read_capture(OPENSIM / "subject01_static.trc")
    assert "y up" in static.axes and not static.forces and np.ptp([p[0, 2] for p in static.markers.values()]) > 1.7


@recorded
def test_standing_frames_of_c3d_and_csv_agree():
    pytest.importorskip("ezc3d")
    c3d, csv = read_capture(C3D / "2014001_ST.c3d"), read_capture(CSV / "2014001_static_markers.csv")
    assert len(c3d.t) == len(csv.t) == 1 and len(c3d.markers) == 52
    for label, positions in csv.markers.items():
        assert np.abs(c3d.marker(label) - positions).max() < 1e-6


@recorded
def test_reading_is_fast():
    pytest.importorskip("ezc3d")
    walls = []
    for _ in range(3):
        start = time.perf_counter()
        read_capture(C3D / "2014001_C3_01.c3d")
        walls.append(time.perf_counter() - start)
    assert min(walls) < 0.2


@recorded
def test_damaged_c3d_files_give_a_sentence(tmp_path):
    """Bytes changed at random and files cut anywhere; the library alone ends the process on one in a hundred of these."""
    pytest.importorskip("ezc3d")
    whole = (C3D / "2014001_C4_05.c3d").read_bytes()
    rng = np.random.default_rng(1)
    sentences = set()
    for k in range(120):
        data = bytearray(whole)
        if k % 3 == 0:
            data = data[: rng.integers(len(data))]
        else:
            for at in rng.integers(0, 60 if k % 3 == 1 else 5120, size=(1, 3, 20)[k % 9 // 3]):
                data[at] = rng.integers(256)
        path = tmp_path / "damaged.c3d"
        path.write_bytes(data)
        try:
            read_capture(path)
        except ModelError as error:
            sentences.add(str(error))
    assert len(sentences) > 20


# Force plates of C3D files

CORNERS = np.array(
    [[0.3, 0.1, 0.0], [0.3, -0.5, 0.0], [-0.3, -0.5, 0.0], [-0.3, 0.1, 0.0]]
)  # its z points into the floor


def plate_wrench(corners=CORNERS, action=False):
    """Force and moment about the middle of the surface in the plate's axes, of the right foot's first stance."""
    t, force, cop, free = push("R", STRIKES["R"])
    x, y = corners[0] - corners[1], corners[0] - corners[3]
    axes = np.stack(
        [x / np.linalg.norm(x), y / np.linalg.norm(y), np.cross(x, y) / np.linalg.norm(np.cross(x, y))], axis=1
    )
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


def expected(capture, ground, mirror=1.0):
    _, force, cop, free = push("R", STRIKES["R"], ground.t)
    loaded = force[:, 2] > 20.0
    assert loaded.sum() > 300
    assert np.allclose(ground.force, force, atol=1e-3)
    assert np.allclose(ground.cop[loaded], cop[loaded], atol=2e-6)
    assert np.allclose(ground.free_moment[loaded], free[loaded], atol=1e-3)
    assert np.isnan(ground.cop[force[:, 2] == 0.0]).all()


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
    expected(capture, capture.forces[0])
    assert any("turned, so that it acts on the foot" in note for note in capture.notes) == action
    if kind in (2, 4):  # many files have the origin the other way
        plate["origin"] = -origin
        other = read_capture(write_c3d(path, markers, plates=[plate], channels=channels, analog_units=units))
        expected(other, other.forces[0])


def test_units_of_moments_come_from_the_channels(tmp_path):
    _, markers = person()
    channels = channels_of(2, *plate_wrench(), np.zeros(3))
    channels[3:] /= 1000.0
    plate = {"type": 2, "corners": 1000.0 * CORNERS.T, "origin": np.zeros(3), "channel": np.arange(6) + 1}
    path = tmp_path / "walk.c3d"
    write_c3d(path, markers, plates=[plate], channels=channels, analog_units=["N"] * 3 + ["N.m"] * 3)
    expected(None, read_capture(path).forces[0])
    channels[3:] *= 1000.0
    capture = read_capture(write_c3d(path, markers, plates=[plate], channels=channels, analog_units=[""] * 6))
    expected(None, capture.forces[0])
    assert any("without a unit" in note for note in capture.notes)
    # Moments of another unit than they say put the centre of pressure outside the plate, which is told.
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
    assert [ground.plate for ground in capture.forces] == ["plate4"]
    for plate, why in (("plate1", "type 7"), ("plate2", "span no area"), ("plate3", "analog channels")):
        assert any(plate in note and why in note for note in capture.notes)
    write_c3d(path, markers, plates=[good], channels=channels, analog_units=["V"] * 6)
    assert any("the unit of its forces is 'v'" in note for note in read_capture(path).notes)


def test_a_file_with_y_up_and_a_sloping_plate(tmp_path):
    """The force keeps its line of action on a slope, so that it meets the plate's surface, not a level plane."""
    _, markers = person()
    slope = math.radians(6.0)
    tilt = np.array([[math.cos(slope), 0, math.sin(slope)], [0, 1, 0], [-math.sin(slope), 0, math.cos(slope)]])
    corners = (CORNERS - CORNERS.mean(axis=0)) @ tilt.T + CORNERS.mean(axis=0)
    t, force, cop, free = push("R", STRIKES["R"])
    along = corners[3] - corners[0]
    x, y = corners[0] - corners[1], corners[0] - corners[3]
    axes = np.stack(
        [x / np.linalg.norm(x), y / np.linalg.norm(y), np.cross(x, y) / np.linalg.norm(np.cross(x, y))], axis=1
    )
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


# Markers and events of C3D files


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
    for said in ("1 markers without a name", "'Anna:' before every label", "2 positions of exactly 0, 0, 0"):
        assert sum(said in note for note in capture.notes) == 1
    with pytest.raises(ModelError, match=r"walk.c3d: no marker 'RFCC'; did you mean 'R_FCC'.*it has R_FCC, R_FM1"):
        capture.marker("RFCC")
    computed = read_capture(write_c3d(path, markers, parameters=[("POINT", "ANGLES", ["R_IAS", "L_IAS"])]))
    assert "R_IAS" not in computed.markers and any("2 angles" in note for note in computed.notes)


def test_negative_residuals_are_gaps(tmp_path):
    """What the format calls invalid: a residual of -1 beside whatever coordinates."""
    path = write_c3d(tmp_path / "walk.c3d", person()[1])
    data = bytearray(path.read_bytes())
    start = 512 * (int.from_bytes(data[16:18], "little") - 1)
    stride = 4 * 4 * 10  # reals of ten markers a frame, no analogs
    assert len(person()[1]) == 10
    at = start + 7 * stride + 2 * 16 + 12
    data[at : at + 4] = np.float32(-1.0).tobytes()
    path.write_bytes(data)
    assert read_capture(path).gaps() == {"R_FM5": [(7, 8)]}


EVENTS = (
    (0.25, "Right", "Foot Strike1"),
    (0.93, "Right", "Foot Off"),
    (1.35, "Right", "Heel Strike"),
    (0.8, "Left", "Initial Contact"),
    (1.48, "Left", "Toe Off"),
    (1.9, "General", "LHS"),
    (1.0, "General", "Event"),
)


def test_events_of_a_c3d_file(tmp_path):
    capture = read_capture(write_c3d(tmp_path / "walk.c3d", person()[1], events=EVENTS))
    assert [(e.time, e.kind, e.side) for e in capture.events] == [
        (0.25, "foot_strike", "right"), (0.8, "foot_strike", "left"), (0.93, "foot_off", "right"),
        (1.35, "foot_strike", "right"), (1.48, "foot_off", "left"), (1.9, "foot_strike", "left"),
    ]  # fmt: skip
    assert any("1 events that are no foot strike" in note for note in capture.notes)
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


def test_subjects_of_c3d_files(tmp_path):
    path, markers = tmp_path / "walk.c3d", person()[1]
    vicon = [("PROCESSING", "Bodymass", [70.5]), ("PROCESSING", "Height", [1755.0]), ("SUBJECTS", "NAMES", ["S1"])]
    capture = read_capture(write_c3d(path, markers, parameters=vicon))
    assert (capture.subject.name, capture.subject.mass, capture.subject.height) == ("S1", 70.5, 1.755)
    assert any("taken as mm" in note for note in capture.notes)
    labels = ["weight", "height", "gender"]
    told = [("SUBJECT", "LABELS", labels), ("SUBJECT", "VALUES", [61.0, 168.0, 0.0]),
            ("SUBJECT", "UNITS", ["kg", "cm", "adimensioned (0: woman, 1: man)"])]  # fmt: skip
    subject = read_capture(write_c3d(path, markers, parameters=told)).subject
    assert (subject.mass, subject.height, subject.sex, subject.age) == (61.0, 1.68, "female", None)
    odd = read_capture(write_c3d(path, markers, parameters=[("PROCESSING", "Bodymass", [70500.0])]))
    assert odd.subject.mass is None and any("a person has 2 to 400 kg" in note for note in odd.notes)


def test_what_the_file_says_of_its_vertical(tmp_path):
    path, markers = tmp_path / "walk.c3d", person()[1]
    low = {
        label: p * [1, 1, 0.1] for label, p in markers.items() if "_FM" in label or "_FCC" in label
    }  # no shape that tells
    screen = [("POINT", "X_SCREEN", ["+X"]), ("POINT", "Y_SCREEN", ["+Z"])]
    capture = read_capture(write_c3d(path, low, parameters=screen))
    assert "z up" in capture.axes and not any("vertical" in note for note in capture.notes)
    refused(r"does not tell its vertical axis, .*give up='z' or up='y'", write_c3d(path, low))
    assert "y up" in read_capture(path, up="y").axes


# TRC, MOT, STO and CSV


@pytest.mark.parametrize("names", [
    ("{}_ground_force_v", "{}_ground_force_p", "{}_ground_torque_"),
    ("ground_force_{}_v", "ground_force_{}_p", "ground_moment_{}_m"),
    ("ground_force_{}_v", "ground_force_{}_p", "ground_torque_{}_"),
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
    expected(capture, capture.forces[0])
    assert assign_feet(capture).plates("left") == (capture.forces[1].plate,)
    given = read_capture(trc, forces=tmp_path / "walk_grf.mot", up="y")
    assert np.array_equal(given.forces[0].force, capture.forces[0].force)


def test_csv_tells_its_units_and_its_vertical(tmp_path):
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
    expected(capture, capture.forces[0])
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


def test_a_capture_is_refused_with_one_sentence(tmp_path):
    t, markers = person()
    path = tmp_path / "walk.trc"
    refused(r"nowhere.c3d: no such file", tmp_path / "nowhere.c3d")
    refused(r"not a file", tmp_path if tmp_path.suffix else _folder(tmp_path / "x.trc"))
    (tmp_path / "walk.xlsx").write_text("")
    refused(
        r"walk.xlsx: no reader for files that end with '.xlsx'; markers are read from .c3d, .trc, .csv",
        tmp_path / "walk.xlsx",
    )
    refused(r"walk.mot: no reader .* which holds forces: give it as forces=", tmp_path / "walk.mot")
    refused(r"up = 'w'; use one of", path, up="w")
    refused(r"units = 'ft'; use 'mm', 'cm' or 'm'", path, units="ft")

    for name in ("garbage.c3d", "garbage.trc", "garbage.csv"):
        (tmp_path / name).write_bytes(np.random.default_rng(0).bytes(5000))
        refused("garbage", tmp_path / name)
    (tmp_path / "empty.c3d").write_bytes(b"")
    refused("empty.c3d: not a C3D file", tmp_path / "empty.c3d")

    refused(
        r"290 frames where NumFrames is 300; the file is cut short", write_trc(path, *short(markers, t), frames=300)
    )
    refused(r"NumMarkers is 9 but the header names 10", write_trc(path, markers, t, markers_told=9))
    refused(
        r"the unit of the positions is not known: its field Units does not tell; give units=",
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
        r"none of its 300 markers|none of its 10 markers is seen",
        write_trc(path, {k: p * np.nan for k, p in markers.items()}, t),
    )
    renamed = {f"*{k}" if k else "Unnamed": p for k, p in enumerate(markers.values())}
    refused(r"none of its 10 markers has a name \('Unnamed', '\*1', '\*2', ...\)", write_trc(path, renamed, t))

    write_trc(path, markers, t)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:3], lines[3].replace("L_FM1", "L_FCC"), *lines[4:]]))
    refused(r"walk.trc: marker 'L_FCC' is there 2 times", path)
    path.write_text("\n".join([*lines[:20], lines[20].rsplit("\t", 2)[0], *lines[21:]]))
    refused(r"line 21 has 30 values where the header names 32 columns; all rows must be of equal length", path)
    path.write_text("\n".join([*lines[:20], lines[20].replace("0.14", "O.14"), *lines[21:]]))
    refused(r"line 21, column 2 holds 'O.14\d*', which is not a number", path)
    path.write_text("\n".join(lines)[:-30])
    refused(r"the file is cut short", path)


def short(markers, t):
    return {label: p[:290] for label, p in markers.items()}, t[:290]


def _folder(path):
    path.mkdir()
    return path


def test_a_c3d_file_is_refused_with_one_sentence(tmp_path, monkeypatch):
    path, markers = tmp_path / "walk.c3d", person()[1]
    write_c3d(path, markers)
    whole = path.read_bytes()
    for size, match in (
        (300, "not a C3D file"),
        (600, "parameters"),
        (len(whole) - 4096, r"300 frames need \d+; the file is cut short"),
    ):
        path.write_bytes(whole[:size])
        refused(match, path)
    path.write_bytes(b"\2\0" + whole[2:])
    refused("walk.c3d: not a C3D file .*the second is not 0x50", path)
    path.write_bytes(whole[:2] + b"\t" + whole[3:])
    refused("damaged: its header counts 9 markers and 0 analog values per frame, its parameters 10 and 0", path)
    refused("POINT:UNITS does not tell; give units=", write_c3d(path, markers, units=""))
    assert len(read_capture(path, units="mm").markers) == 10
    refused(r"units='mm' would fit", write_c3d(path, markers, units="m"))
    refused(r"none of its 10 markers has a name", write_c3d(path, markers, labels=[f"*{k}" for k in range(10)]))
    refused(r"none of its 10 markers has a name", write_c3d(path, markers, labels=[f"M{k:03d}" for k in range(10)]))
    refused(r"marker 'A' is there 2 times", write_c3d(path, markers, labels=["A", "A", *list(markers)[2:]]))
    refused(r"walk.c3d: no markers", _no_points(path))
    monkeypatch.setitem(__import__("sys").modules, "ezc3d", None)
    write = Path(tmp_path / "other.c3d")
    write.write_bytes(whole)
    assert refused("reading C3D needs ezc3d", write) == "reading C3D needs ezc3d: pip install 'talus[gait]'"


def _no_points(path):
    ezc3d = pytest.importorskip("ezc3d")
    file = ezc3d.c3d()
    file["parameters"]["POINT"]["RATE"]["value"] = [RATE]
    file["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    file["data"]["points"] = np.zeros((4, 0, 50))
    file.write(str(path))
    return path


def test_forces_are_refused_with_one_sentence(tmp_path):
    t, markers = person()
    trc = write_trc(tmp_path / "walk.trc", markers, t, turn=Y_UP)
    mot = tmp_path / "f.mot"
    stance = push("R", STRIKES["R"])
    refused(
        r"f.mot: 1500 rows where the header says 1600; the file is cut short",
        trc,
        forces=write_mot(mot, {"1": stance}, rows=1600),
    )
    late = (stance[0] + 50.0, *stance[1:])
    refused(
        r"markers from 0 to 2.99 s, but '1_ground_force' from 50 to 52.998 s", trc, forces=write_mot(mot, {"1": late})
    )
    back = (np.where(stance[0] == 0.5, 0.1, stance[0]), *stance[1:])
    refused(r"'1_ground_force': the time goes from 0.498 s to 0.1 s", trc, forces=write_mot(mot, {"1": back}))
    hole = (stance[0], np.where(stance[0][:, None] == 0.5, np.nan, stance[1]), *stance[2:])
    refused(
        r"'1_ground_force': the force of sample 251, at 0.5 s, is not a finite number",
        trc,
        forces=write_mot(mot, {"1": hole}),
    )
    far = (stance[0], stance[1], 1000.0 * stance[2], stance[3])
    refused(
        r"centre of pressure of '1_ground_force' is \d+ m from the markers, limit 5 m",
        trc,
        forces=write_mot(mot, {"1": far}),
    )
    strong = (stance[0], 1000.0 * stance[1], *stance[2:])
    refused(r"a force of .* N; no step makes more than 20000 N", trc, forces=write_mot(mot, {"1": strong}))
    names = ("{}_grf_v", "{}_grf_p", "{}_t_")
    refused(r"no ground forces among its columns", trc, forces=write_mot(mot, {"1": stance}, names=names))
    mot.write_text(mot.read_text().replace("endheader", ""))
    refused(r"not an OpenSim storage file", trc, forces=mot)
    refused(r"f.xls: no reader", trc, forces=tmp_path / "f.xls")
    refused(r"missing.mot: no such file", trc, forces=tmp_path / "missing.mot")
    csv = write_csv(tmp_path / "f.csv", ["time", "p1_Fx", "p1_Fy", "p1_Fz", "p1_copx", "p1_copy"], np.zeros((5, 6)))
    refused(r"force plate 'p1' has no column pz", trc, forces=csv)
    refused(r"f.csv: no markers; it holds forces: give it as forces=", csv)
    write_csv(csv, ["time", "time", "b"], np.zeros((2, 3)))
    refused(r"column 'time' is there more than once", csv)
    write_csv(csv, ["frame", "a_x"], np.zeros((2, 2)))
    refused(r"its first column is 'frame'", csv)
    write_csv(csv, ["time", "a_x", "a_y", "a_z"], np.zeros((0, 4)))
    refused(r"zero frames", csv)


# The capture itself


def test_a_capture_is_immutable_and_travels():
    capture = walker()
    with pytest.raises(ValueError, match="read-only"):
        capture.marker("R_FCC")[0] = 0.0
    with pytest.raises(TypeError):
        capture.markers["new"] = np.zeros((300, 3))
    with pytest.raises(AttributeError):
        capture.name = "x"
    again = pickle.loads(pickle.dumps(capture))
    assert np.array_equal(again.marker("R_FCC"), capture.marker("R_FCC")) and not again.forces[0].cop.flags.writeable
    assert "10 markers, 300 frames, plate1, plate2" in repr(capture) and "1500 samples" in repr(capture.forces[0])
    with pytest.raises(ModelError, match=r"marker 'a': shape \(3,\); it must be \(2, 3\)"):
        Capture("c", [0.0, 1.0], {"a": np.zeros(3)})
    with pytest.raises(ModelError, match=r"walker: no force plate 'plate9'; it has plate1, plate2"):
        capture.force("plate9")


def test_mirrored_twice_is_itself_and_once_keeps_mechanics():
    capture = walker()
    mirrored = capture.mirrored()
    back = mirrored.mirrored()
    assert back.axes == capture.axes != mirrored.axes
    for label in capture.markers:
        assert np.array_equal(back.marker(label), capture.marker(label))
        assert np.array_equal(mirrored.marker(label), capture.marker(label) * [1, -1, 1])
    for a, b, c in zip(capture.forces, mirrored.forces, back.forces, strict=True):
        assert np.array_equal(a.cop, c.cop, equal_nan=True) and np.array_equal(a.free_moment, c.free_moment)
        assert np.array_equal(b.free_moment, -a.free_moment) and np.abs(b.free_moment).max() > 1.0
        # A moment is axial: x and z change their sign, y does not.
        loaded = np.isfinite(a.cop[:, 0])
        about = [np.cross(g.cop, g.force)[loaded] + np.outer(g.free_moment[loaded], [0, 0, 1]) for g in (a, b)]
        assert np.allclose(about[1], about[0] * [-1, 1, -1])
    assert assign_feet(mirrored).sides == assign_feet(capture).sides


def test_turned_about_the_vertical():
    capture = walker()
    quarter = capture.turned(math.pi / 2)
    p = capture.marker("R_FM5")
    assert np.array_equal(quarter.marker("R_FM5"), np.stack([-p[:, 1], p[:, 0], p[:, 2]], axis=1))
    assert np.array_equal(quarter.turned(-math.pi / 2).forces[0].cop, capture.forces[0].cop, equal_nan=True)
    assert np.array_equal(quarter.forces[0].free_moment, capture.forces[0].free_moment)
    dropped = {
        label: np.where((label[0] == "R") & (capture.t > 2.0), np.nan, p.T).T for label, p in capture.markers.items()
    }
    angle, said = heading(replace(capture, markers=dropped))
    assert abs(angle) < 1e-3 and said.startswith("walks 3.75 m towards 0 degrees")
    angle, _ = heading(capture.turned(2.0))
    assert angle == pytest.approx(2.0, abs=1e-3)
    straight, said = along_x(capture.turned(2.0))
    assert abs(heading(straight)[0]) < 1e-9 and "turned by -11" in said
    exact, _ = along_x(capture.turned(math.pi))
    assert np.array_equal(exact.marker("R_FM5"), p)


def test_crop():
    capture = walker(events=(GaitEvent(0.25, "foot_strike", "right"), GaitEvent(0.93, "foot_off", "right")))
    part = capture.crop(0.5, 1.0)
    assert (part.t[0], part.t[-1], len(part.t)) == (0.5, 1.0, 51) and [e.time for e in part.events] == [0.93]
    assert (part.forces[0].t[0], part.forces[0].t[-1]) == (0.5, 1.0) and part.marker("R_FCC").shape == (51, 3)
    assert np.array_equal(part.marker("R_FCC"), capture.marker("R_FCC")[50:101])
    with pytest.raises(ModelError, match="no frame between 5 s and 6 s; the trial lasts from 0 to 2.99 s"):
        capture.crop(5.0, 6.0)
    uneven = Capture("c", [0.0, 1.0, 5.0], {"a": np.zeros((3, 3))})
    with pytest.raises(ModelError, match="c: times are not evenly spaced"):
        _ = uneven.rate


# Smoothing


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("cutoff", [6.0, 20.0, 45.0])
def test_lowpass_gain_and_lag(order, cutoff):
    rate, n = 100.0, 4000
    t, middle = np.arange(n) / rate, slice(1000, 3000)
    for frequency in (0.3 * cutoff, cutoff, min(1.8 * cutoff, 47.0)):
        wave = np.exp(2j * np.pi * frequency * t)
        passed = lowpass(wave.real, rate, cutoff, order=order) + 1j * lowpass(wave.imag, rate, cutoff, order=order)
        gain = (passed[middle] * wave[middle].conj()).mean()
        bilinear = math.tan(math.pi * frequency / rate) / math.tan(math.pi * cutoff / rate)
        wanted = 1.0 / (1.0 + (math.sqrt(2.0) - 1.0) * bilinear ** (2 * order))
        assert gain.real == pytest.approx(wanted, abs=1e-6) and abs(gain.imag) < 1e-6  # a lag would be imaginary
        if frequency == cutoff:
            assert 20 * math.log10(gain.real) == pytest.approx(-3.0103, abs=1e-3)


def test_lowpass_passes_polynomials_and_constant_ends():
    rate, t = 100.0, np.arange(300) / 100.0
    for degree in range(7):
        x = (10.0 * t) ** degree
        off = np.abs(lowpass(x, rate, 6.0) - x)[120:-120].max()
        assert (off > 0.05) == (degree == 6) and (degree == 6 or off < 1e-4), (degree, off)
    line = np.stack([t, 3.0 - 2.0 * t], axis=1)
    assert np.abs(lowpass(line, rate, 6.0) - line).max() < 5e-6  # to the very ends
    step = (t > 1.5).astype(float)
    assert np.allclose(lowpass(step[::-1], rate, 6.0)[::-1], lowpass(step, rate, 6.0), atol=1e-6)  # no lag
    assert lowpass(np.ones(12), rate, 6.0).tolist() == pytest.approx([1.0] * 12)


def test_lowpass_refuses():
    x = np.zeros(100)
    for arguments, match in (
        (
            (np.where(np.arange(100) == 7, np.nan, x), 100.0, 6.0),
            "1 samples are missing, the first is number 8.*fill gaps",
        ),
        ((x, 100.0, 50.0), "cut-off 50 Hz; at 100 samples per second it must lie between 0 and 50 Hz"),
        ((x, 100.0, -1.0), "cut-off -1 Hz"),
        ((x[:11], 100.0, 6.0), "11 samples; a filter of order 3 needs 12 at least"),
        ((x, 0.0, 6.0), "rate = 0.0 Hz; it must be positive"),
    ):
        with pytest.raises(ModelError, match=match):
            lowpass(*arguments)
    with pytest.raises(ModelError, match="order = 0"):
        lowpass(x, 100.0, 6.0, order=0)


def test_gaps_are_filled_by_a_spline_or_refused_by_name():
    t = np.arange(100) / 100.0
    x = np.stack([t**3 - t, 2.0 * t**2, 1.0 + 0.0 * t], axis=1)
    holes = x.copy()
    holes[30:40], holes[60, 1] = np.nan, np.nan
    filled = fill_gaps(t, holes, 0.1)
    assert np.allclose(filled, x, atol=1e-12) and np.array_equal(filled[:30], x[:30])
    assert np.array_equal(fill_gaps(t, x, 0.1), x) and np.isnan(holes[30:40]).all()
    with pytest.raises(
        ModelError, match=r"R_FCC: not seen from 0.3 to 0.4 s, 0.1 s; gaps up to 0.09 s are filled: crop"
    ):
        fill_gaps(t, holes, 0.09, name="R_FCC")
    for rows, match in (
        (slice(0, 3), "R_FCC: seen only from 0.03 s on"),
        (slice(97, 100), "seen only until 0.96 s"),
        (slice(3, 100), "4 at least"),
    ):
        broken = x.copy()
        broken[rows] = np.nan
        with pytest.raises(ModelError, match=match):
            fill_gaps(t, broken, 1.0, name="R_FCC")


def test_resample():
    t, new = np.arange(50) / 100.0, np.linspace(0.0, 0.49, 371)
    assert np.allclose(resample(t, np.stack([t**3, t], axis=1), new), np.stack([new**3, new], axis=1), atol=1e-12)
    with pytest.raises(ModelError, match=r"asked for at 0.6 s, but measured from 0 to 0.49 s"):
        resample(t, t, [0.1, 0.6])
    with pytest.raises(ModelError, match=r"samples are missing"):
        resample(t, np.where(t > 0.2, np.nan, t), new)


def test_euler_parameters_without_flips():
    angle = np.linspace(0.0, 4.0 * np.pi, 200)
    p = np.stack([np.cos(angle / 2), np.sin(angle / 2), 0 * angle, 0 * angle], axis=1)
    flipped = p * np.where(np.random.default_rng(3).random(200) < 0.4, -1.0, 1.0)[:, None]
    flipped[0] = p[0]
    assert np.array_equal(without_flips(flipped), p) and not np.array_equal(flipped, p)
    with pytest.raises(ModelError, match=r"Euler parameters of shape \(4,\)"):
        without_flips(p[0])


# The ground


def test_contacts_have_hysteresis_and_a_shortest_time():
    t = np.arange(1000) / 1000.0
    up = np.where((t > 0.2) & (t < 0.8), 500.0, 0.0)
    up[400:403] = 15.0  # below the threshold, above the release: the same contact
    up[100:110] = 300.0  # a knock of 10 ms
    ground = GroundForce("p", t, np.stack([0 * t, 0 * t, up], axis=1), np.zeros((1000, 3)), 0 * t)
    assert contacts(ground) == [(201, 800)]
    assert contacts(ground, threshold=40.0) == [(201, 400), (403, 800)]
    with pytest.raises(ModelError, match="threshold = 0 N"):
        contacts(ground, threshold=0)


@pytest.mark.parametrize("by", ["cop", "moments"])
def test_filtered_ground_force_smears_nothing_across_contacts(by):
    capture = walker()
    ground = capture.forces[0]
    start, stop = contacts(ground)[0]
    noise = np.random.default_rng(0).normal(scale=0.004, size=ground.cop.shape) * [1, 1, 0]
    noisy = replace(ground, cop=ground.cop + noise)
    smooth = filtered(noisy, by=by)
    inside = np.isfinite(smooth.cop[:, 0])
    assert inside[start + 20 : stop - 20].all() and not inside[:start].any() and not inside[stop:].any()
    assert (smooth.force[~inside] == 0.0).all() and (smooth.free_moment[~inside] == 0.0).all()
    middle = slice(start + 40, stop - 40)
    rough, left = (np.abs(g.cop[middle] - ground.cop[middle])[:, :2].mean() for g in (noisy, smooth))
    assert left < 0.5 * rough
    assert np.abs(smooth.force[middle] - ground.force[middle]).max() < 25.0
    # Half of a contact is not pulled to the other plate's zero: near both ends it is still where the foot is.
    assert np.abs(smooth.cop[inside] - ground.cop[inside])[:, 0].max() < (0.01 if by == "cop" else 0.05)
    assert np.array_equal(filtered(ground, force_cutoff=None, cop_cutoff=None).cop[start:stop], ground.cop[start:stop])


def test_combined_plates_keep_force_and_moment_about_any_point():
    t, force, cop, free = push("R", 0.25)
    share = np.clip((t - 0.4) / 0.3, 0.0, 1.0)[:, None]
    parts = []
    for k, (part, place) in enumerate(((1 - share, -0.05), (share, 0.07))):
        there = np.where((force * part)[:, 2:] > 5.0, cop + [place, 0.01 * k, 0.0], np.nan)
        parts.append(
            GroundForce(f"p{k}", t, force * part, there, np.where(np.isnan(there[:, 0]), 0.0, free * part[:, 0]))
        )
    whole = combined(parts, name="right foot")

    def about(g):
        return np.cross(np.nan_to_num(g.cop) - [0.3, -0.2, 0.5], g.force) + np.outer(g.free_moment, [0, 0, 1])

    # Below 5 N a plate has no centre of pressure, and its force is left out.
    clear = np.isfinite(whole.cop[:, 0])
    for part in parts:
        clear &= (part.force[:, 2] > 5.0) | (part.force[:, 2] == 0.0)
    assert clear.sum() > 250
    assert np.allclose(whole.force[clear], sum(p.force for p in parts)[clear])
    assert np.allclose(about(whole)[clear], sum(about(p) for p in parts)[clear], atol=1e-9)
    assert np.allclose(whole.cop[clear, 2], 0.0) and combined(parts[:1]).plate == "ground"
    with pytest.raises(ModelError, match="sampled at different times"):
        combined([parts[0], replace(parts[1], t=t + 0.001)])


def test_feet_on_plates():
    capture = walker()
    found = assign_feet(capture)
    assert found.sides == {"plate1": "right", "plate2": "left"} and found.plates("left") == ("plate2",)
    one, two = capture.forces
    both = GroundForce(
        "wide", one.t, one.force + two.force, np.where(np.isfinite(one.cop), one.cop, two.cop), 0 * one.t
    )
    away = replace(one, plate="far", cop=one.cop + [0.0, 0.9, 0.0])
    empty = replace(one, plate="empty", force=0 * one.force, cop=np.nan * one.cop)
    found = assign_feet(replace(capture, forces=(both, away, empty, two)))
    assert found.sides == {"plate2": "left"}
    for plate, why in (
        ("wide", "touched by both feet"),
        ("far", "under none of the feet; the nearest, left"),
        ("empty", "never loaded"),
    ):
        assert why in found.left_out[plate]
    with pytest.raises(
        ModelError,
        match="no force plate under the right foot alone; force plate 'plate2' is under the left foot; .*both feet",
    ):
        foot_force(replace(capture, forces=(both, away, empty, two)), "right")
    with pytest.raises(ModelError, match="no heel and forefoot markers among R_A"):
        assign_feet(replace(capture, markers={"R_A": capture.marker("R_FCC")}))
    given = {"right": ("R_FCC", "R_FM1"), "left": ("L_FCC", "L_FM5")}
    assert assign_feet(capture, given).sides == {"plate1": "right", "plate2": "left"}
    assert np.array_equal(foot_force(capture, "left").force, two.force)


def test_gait_cycles_from_each_source():
    capture = walker()
    wanted = (0.25, 0.25 + DUTY * CYCLE, 0.25 + CYCLE)
    cycle = gait_cycle(capture, "right")
    assert cycle.source == "forces and markers" and cycle.complete and cycle.plates == ("plate1",)
    assert np.allclose((cycle.strike, cycle.off), wanted[:2], atol=0.01) and cycle.next_strike == pytest.approx(
        wanted[2], abs=0.08
    )
    times, force, cop, free = push("R", 0.25 + CYCLE)
    second = GroundForce("plate3", times, force, np.where(force[:, 2:] > 5, cop, np.nan), free)
    cycle = gait_cycle(replace(capture, forces=(*capture.forces, second)), "right")
    assert (
        cycle.source == "forces"
        and cycle.next_strike == pytest.approx(wanted[2], abs=0.01)
        and cycle.stance == pytest.approx(DUTY, abs=0.02)
    )
    cycles = gait_cycles(replace(capture, forces=()), "right")
    assert cycles[0].source == "markers" and not cycles[0].complete and "heel" in cycles[0].note
    assert all(a.next_strike == b.strike for a, b in zip(cycles[:-1], cycles[1:], strict=True))
    marks = [
        (1.35, "foot_strike"),
        (2.03, "foot_off"),
        (0.25, "foot_strike"),
        (0.85, "foot_off"),
        (2.45, "foot_strike"),
    ]
    told = replace(capture, events=tuple(GaitEvent(at, kind, "right") for at, kind in marks))
    cycles = gait_cycles(told, "right")
    assert [(c.strike, c.off, c.next_strike) for c in cycles] == [(0.25, 0.85, 1.35), (1.35, 2.03, 2.45)]
    twice = replace(told, events=(*told.events, GaitEvent(0.95, "foot_off", "right")))  # nobody knows which
    assert [c.strike for c in gait_cycles(twice, "right")] == [1.35]
    # Only the off that was marked too early keeps the first stance from being whole.
    assert not cycles[0].complete and "foot off at 0.85 s is 0.08" in cycles[0].note
    mended = replace(told, events=(*told.events[:1], GaitEvent(0.93, "foot_off", "right"), *told.events[2:]))
    assert gait_cycle(mended, "right").complete and gait_cycle(mended, "right").strike == 0.25
    # The complete stance is chosen, not the first one.
    early = replace(mended, forces=(second,))
    assert gait_cycles(early, "right")[0].complete is False and gait_cycle(early, "right").strike == 1.35


def test_contacts_that_the_trial_cuts_have_no_strike_or_no_off():
    capture = walker()
    kinds = [(e.kind, e.side) for e in events_from_forces(capture)]
    assert sorted(kinds) == [(kind, side) for kind in ("foot_off", "foot_strike") for side in ("left", "right")]
    late = replace(capture, forces=tuple(ground_from(ground, 0.5, 1.2) for ground in capture.forces))
    assert [(e.kind, e.side) for e in events_from_forces(late)] == [("foot_strike", "left"), ("foot_off", "right")]


def ground_from(ground, t0, t1):
    keep = (ground.t >= t0) & (ground.t <= t1)
    return replace(ground, **{name: getattr(ground, name)[keep] for name in ("t", "force", "cop", "free_moment")})


def test_a_trial_without_events_is_refused_with_one_sentence():
    capture = walker()
    still = {label: np.broadcast_to(p[0], p.shape) for label, p in capture.markers.items()}
    with pytest.raises(
        ModelError,
        match=r"walker: no gait cycle of the left foot.* 0 in the file, 0 from the force plates, 0 from the markers",
    ):
        gait_cycle(replace(capture, markers=still, forces=()), "left")
    with pytest.raises(ModelError, match="no heel and forefoot markers"):
        gait_cycle(replace(capture, markers={"A": capture.marker("R_IAS")}), "left")
    with pytest.raises(ModelError, match="side = 'middle'; use 'left' or 'right'"):
        gait_cycle(capture, "middle")
