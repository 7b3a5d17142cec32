"""Spatiotemporal parameters: known steps, a treadmill, running, events that are not seen, and recorded walks."""

import numpy as np
import pytest

from models.walking.capture import Capture
from models.walking.capture.trial import GaitEvent
from models.walking.gait_events import GaitCycle
from models.walking.plate_assignment import Assignment
from models.walking.spatiotemporal import spatiotemporal
from tests.support.recorded_gait import recorded

T = np.linspace(0.0, 2.0, 201)
FEET = {"right": ("RH", "RT"), "left": ("LH", "LT")}
CYCLE = GaitCycle("right", 0.4, 1.0, 1.4, "file", (), True)
ALONG, ACROSS = np.array([0.8, 0.6, 0.0]), np.array([-0.6, 0.8, 0.0])  # a stride that is oblique in the laboratory


def walk(times, right=1.3, left=0.55, side=0.1, *, belt=0.0):
    """The right heel goes ``right`` metres in the cycle, the left one stands ``left`` metres and ``side`` beside its start."""
    share = np.clip((T - 1.0) / 0.4, 0.0, 1.0)[:, None]
    back = belt * (T[:, None] - 0.4) * ALONG
    heel = right * share * ALONG - back
    other = np.tile(left * ALONG + side * ACROSS, (len(T), 1)) - back
    markers = {"RH": heel, "RT": heel + 0.2 * ALONG, "LH": other, "LT": other + 0.2 * ALONG}
    events = tuple(GaitEvent(time, kind, "left") for kind, time in times.items())
    return Capture("walk", T, markers, (), events)


def found(capture, cycle=CYCLE):
    return spatiotemporal(capture, cycle, FEET, Assignment({}, {}))


def test_known_steps():
    s = found(walk({"foot_off": 0.5, "foot_strike": 0.9}))
    assert (s.opposite_off, s.opposite_strike) == pytest.approx((10.0, 50.0))
    assert (s.stride_time, s.cadence, s.stance) == pytest.approx((1.0, 120.0, 60.0))
    assert s.double_support == pytest.approx(10.0 + 10.0)
    assert (s.stride_length, s.step_length, s.step_width) == pytest.approx((1.3, 1.3 - 0.55, 0.1))


def test_running_has_no_double_support():
    s = found(walk({"foot_off": 1.3, "foot_strike": 1.1}), GaitCycle("right", 0.4, 0.8, 1.4, "file", (), True))
    assert s.double_support == 0.0 and s.opposite_strike == pytest.approx(70.0)


def test_who_stays_in_place_has_no_lengths():
    s = found(walk({"foot_off": 0.5, "foot_strike": 0.9}, belt=1.3))
    assert np.isnan([s.stride_length, s.step_length, s.step_width]).all() and s.double_support == pytest.approx(20.0)


def test_events_that_are_not_seen_are_nan():
    s = found(walk({"foot_strike": 0.9}))
    assert np.isnan([s.opposite_off, s.double_support]).all() and s.step_length == pytest.approx(0.75)
    s = found(walk({"foot_off": 0.5}))
    assert np.isnan([s.opposite_strike, s.double_support, s.step_length]).all() and s.stride_length == pytest.approx(
        1.3
    )


@recorded
@pytest.mark.slow
def test_recorded_walk_of_both_feet(adult):
    feet = [adult("C4_05", side) for side in ("right", "left")]
    right, left = (one.spatiotemporal for one in feet)
    for one, s in zip(feet, (right, left), strict=True):
        assert s.stride_length / s.stride_time == pytest.approx(one.speed, rel=0.03)
        assert 8.0 < s.opposite_off < 16.0 and 47.0 < s.opposite_strike < 53.0 and 58.0 < s.stance < 68.0
    # Two steps make a stride; the strikes of one foot are events of the other's cycle.
    assert right.step_length + left.step_length == pytest.approx(right.stride_length, rel=0.05)
    right_strike = feet[0].cycle.strike + right.opposite_strike / 100.0 * right.stride_time
    assert right_strike == pytest.approx(feet[1].cycle.strike, abs=0.02)
