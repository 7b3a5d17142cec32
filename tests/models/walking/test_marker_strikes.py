"""Foot strikes from markers against those of force plates, which the markers do not know."""

from dataclasses import replace

import numpy as np
import pytest

from models.walking import marker_strikes
from models.walking.capture import read_capture
from models.walking.gait_events import events_from_forces, events_from_markers, gait_cycle
from models.walking.heading import foot_markers
from tests.support.recorded_gait import C3D, OPENSIM, recorded

INSIDE = 0.2  # [s] after the first frame; first strikes are 0.05 s after it, where no swing is seen


def plate_strikes():
    """Adult, trial and strike on a plate of nine adults."""
    pytest.importorskip("ezc3d")
    found = []
    for file in sorted(C3D.glob("*_C[345]_*.c3d")):
        trial = read_capture(file)
        strikes = [event for event in events_from_forces(trial) if event.kind == "foot_strike"]
        found += [(file.name[:7], trial, event) for event in strikes if event.time > INSIDE]
    return found


def delays_of(found):
    """Time from each strike on a plate to the fastest turn of the foot [s]."""
    return np.array(
        [
            marker_strikes.fastest_turn(trial, foot_markers(trial), event.side, event.time + marker_strikes.AHEAD_DELAY)
            - event.time
            for _, trial, event in found
        ]
    )


@recorded
def test_the_delay_of_adults_who_are_left_out():
    found = plate_strikes()
    delays, adults = delays_of(found), np.array([adult for adult, _, _ in found])
    assert len(delays) == 22 and np.median(delays) == pytest.approx(marker_strikes.SLAP_DELAY, abs=5e-4)
    errors = np.abs([d - np.median(delays[adults != adult]) for d, adult in zip(delays, adults, strict=True)])
    assert np.median(errors) < 0.004 and errors.max() < 0.0105


@pytest.mark.slow
@recorded
@pytest.mark.parametrize("frames_after", [5, 60])  # recordings end 0.05 s after their last strike
def test_the_next_strike_of_adults_who_are_left_out_is_within_10_ms_of_the_plate(frames_after, monkeypatch):
    found, errors = plate_strikes(), []
    delays, adults = delays_of(found), np.array([adult for adult, _, _ in found])
    for adult, trial, event in found:
        monkeypatch.setattr(marker_strikes, "SLAP_DELAY", float(np.median(delays[adults != adult])))
        cut = replace(trial.crop(trial.t[0], event.time + frames_after / trial.rate), events=())
        others = [one for one in events_from_forces(trial) if one.time < event.time - INSIDE]
        times = [
            one.time
            for one in events_from_markers(cut, plates=others)
            if (one.kind, one.side) == ("foot_strike", event.side)
        ]
        errors.append(min(abs(time - event.time) for time in times))
    assert len(errors) == 22 and np.median(errors) < 0.004 and max(errors) < 0.010


@recorded
def test_a_shod_adult_on_a_treadmill_with_the_delay_of_the_own_plates():
    trial = read_capture(OPENSIM / "subject01_walk1.trc")
    plates = events_from_forces(trial)
    for event in plates:
        if event.kind == "foot_strike":
            others = [one for one in plates if one.side != event.side]
            near = [
                min(
                    abs(one.time - event.time)
                    for one in events_from_markers(trial, plates=known)
                    if one.kind == event.kind
                )
                for known in ((), others)
            ]
            assert near[1] < near[0] < 0.035 and near[1] < 0.025


@recorded
def test_the_cycle_of_a_trial_without_events_ends_by_the_foot_not_by_the_foremost_heel():
    pytest.importorskip("ezc3d")
    trial = read_capture(C3D / "2014007_C4_04.c3d")
    cycle = gait_cycle(replace(trial, events=()), "right")
    marked = [event.time for event in trial.events if (event.kind, event.side) == ("foot_strike", "right")]
    assert cycle.source == "forces and markers" and "turns down fastest" in cycle.note
    assert cycle.next_strike == pytest.approx(marked[1], abs=0.03)


def test_a_foot_that_does_not_turn_down_strikes_after_its_foremost_heel():
    from tests.support.walking_person import walker

    trial = walker()
    flat = dict(trial.markers)
    for side in "RL":
        for label in (f"{side}_FM1", f"{side}_FM5", f"{side}_FM2"):
            if label in flat:
                flat[label] = flat[label] * [1, 1, 0] + flat[f"{side}_FCC"] * [0, 0, 1]
    level = replace(trial, markers=flat)
    time, by_turn = marker_strikes.strike_time(level, foot_markers(level), "right", 1.0)
    assert not by_turn and time == pytest.approx(1.042)
