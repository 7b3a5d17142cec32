"""Recorded gait: C3D and CSV files of a trial agree, and feet, events and cycles are those of the laboratory."""

import json
import math
import time
from dataclasses import replace

import numpy as np
import pytest

from models.walking.capture import read_capture
from models.walking.gait_events import events_from_forces, events_from_markers, gait_cycle
from models.walking.heading import foot_markers, heading
from models.walking.plate_assignment import assign_feet
from tests.support.recorded_gait import C3D, CSV, OPENSIM, TRIALS, recorded, trials


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
    unmarked = replace(capture, forces=tuple(replace(grf, foot=None) for grf in capture.forces))
    found = assign_feet(unmarked)
    assert found.sides == {plate: {"L": "left", "R": "right"}[at["foot"]] for plate, at in meta["plates"].items()}
    assert not found.left_out
    for plate, at in meta["plates"].items():
        side = found.sides[plate]
        pushed = [event.time for event in events_from_forces(capture, found) if event.side == side]
        assert np.allclose(pushed, at["contact"], atol=0.005)
    assert foot_markers(capture)["right"] == ("R_FCC", "R_FM1", "R_FM2", "R_FM5")
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
def test_opensim_subject01_has_the_published_markers_forces_and_cycle():
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
    # The left plate's horizontal moments are moved into the point, so that the moment about any point is preserved.
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
def test_reading_a_c3d_file_takes_less_than_a_fifth_of_a_second():
    pytest.importorskip("ezc3d")
    spent = []
    for _ in range(5):
        start = time.process_time()
        read_capture(C3D / "2014001_C3_01.c3d")
        spent.append(time.process_time() - start)
    assert min(spent) < 0.2
