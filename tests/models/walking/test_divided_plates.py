"""A plate on which both feet step in turn, assembled from recorded plates and from those of a walker."""

from dataclasses import replace

import numpy as np
import pytest

from models.walking.capture import read_capture
from models.walking.gait_events import events_from_forces, gait_cycle
from models.walking.plate_assignment import assign_feet, foot_force
from tests.support.recorded_gait import C3D, recorded
from tests.support.refusals import assert_refused
from tests.support.walking_person import walker


def onto_one_plate(capture, first, second, delay=0.0):
    """The capture with the record of a plate, shifted in time, added onto another one."""
    one, two = capture.force(first), capture.force(second)
    step = round(delay * one.rate)
    rolled = {name: np.roll(getattr(two, name), step, axis=0) for name in ("force", "cop", "free_moment")}
    weight = [
        np.where(np.isfinite(cop[:, :1]), f[:, 2:], 0.0)
        for cop, f in ((one.cop, one.force), (rolled["cop"], rolled["force"]))
    ]
    total = weight[0] + weight[1]
    with np.errstate(invalid="ignore"):
        cop = (weight[0] * np.nan_to_num(one.cop) + weight[1] * np.nan_to_num(rolled["cop"])) / np.where(
            total > 0.0, total, np.nan
        )
    both = replace(
        one, plate="shared", force=one.force + rolled["force"], cop=cop, free_moment=one.free_moment + rolled["free_moment"],
        foot=None,
    )  # fmt: skip
    return replace(capture, forces=(both,))


def shifted(capture, label_start, time):
    """The markers whose labels begin so, later by a time."""
    step = round(time * capture.rate)
    markers = {k: np.roll(p, step, axis=0) if k.startswith(label_start) else p for k, p in capture.markers.items()}
    return replace(capture, markers=markers, events=())


@recorded
@pytest.mark.parametrize("gap", [0.05, 0.2])  # [s] between the off of one foot and the strike of the other
def test_each_foot_gets_its_own_force_of_recorded_plates(gap):
    pytest.importorskip("ezc3d")
    trial = read_capture(C3D / "2014001_C4_05.c3d")
    alone = assign_feet(trial)
    (right,), (left,) = alone.plates("right"), alone.plates("left")
    off = next(e.time for e in events_from_forces(trial) if (e.kind, e.side) == ("foot_off", "right"))
    strike = next(e.time for e in events_from_forces(trial) if (e.kind, e.side) == ("foot_strike", "left"))
    late = round((off + gap - strike) * trial.rate) / trial.rate
    shared = shifted(onto_one_plate(trial, right, left, late), "L_", late)
    found = assign_feet(shared)
    assert (
        [side for side, _, _ in found.divided["shared"]] == ["right", "left"] and not found.left_out and not found.sides
    )
    of_right, of_left = foot_force(shared, "right", found), foot_force(shared, "left", found)
    own, step = trial.force(right), round(late * trial.force(left).rate)
    loaded = own.force[:, 2] > 10.0
    np.testing.assert_allclose(of_right.force[loaded], own.force[loaded], atol=1e-9)
    np.testing.assert_allclose(of_right.cop[loaded], own.cop[loaded], atol=1e-9)
    moved = np.roll(trial.force(left).force, step, axis=0)
    loaded = moved[:, 2] > 10.0
    np.testing.assert_allclose(of_left.force[loaded], moved[loaded], atol=1e-9)
    times = {(e.kind, e.side): e.time for e in events_from_forces(shared, found)}
    assert times["foot_off", "right"] == pytest.approx(off) and times["foot_strike", "left"] == pytest.approx(
        strike + late
    )


def test_feet_that_overlap_on_one_plate_are_left_out():
    capture = walker()
    shared = onto_one_plate(capture, "plate1", "plate2")
    found = assign_feet(shared)
    assert not found.divided and not found.sides
    assert (
        "touched by both feet at once" in found.left_out["shared"]
        and "never unloaded between them" in found.left_out["shared"]
    )
    assert_refused("touched by both feet at once", foot_force, shared, "right", found)
    assert not gait_cycle(shared, "right").complete
