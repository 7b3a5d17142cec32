"""A capture is immutable, pickles, and keeps mechanics when it is mirrored, turned or cropped."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from models.walking.capture import Capture, GaitEvent
from models.walking.heading import along_x, heading
from models.walking.plate_assignment import assign_feet
from tests.support.refusals import assert_refused
from tests.support.walking_person import walker


def test_a_capture_is_immutable_and_pickles():
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
    assert_refused("marker 'a': shape (3,); it must be (2, 3)", Capture, "c", [0.0, 1.0], {"a": np.zeros(3)})
    assert_refused("walker: no force plate 'plate9'; it has plate1, plate2", capture.force, "plate9")


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


def test_quarter_turns_are_exact_and_walking_is_turned_to_x():
    capture = walker()
    quarter = capture.turned(math.pi / 2)
    p = capture.marker("R_FM5")
    assert np.array_equal(quarter.marker("R_FM5"), np.stack([-p[:, 1], p[:, 0], p[:, 2]], axis=1))
    assert np.array_equal(quarter.turned(-math.pi / 2).forces[0].cop, capture.forces[0].cop, equal_nan=True)
    assert np.array_equal(quarter.forces[0].free_moment, capture.forces[0].free_moment)
    dropped = {
        label: np.where((label[0] == "R") & (capture.t > 2.0), np.nan, p.T).T for label, p in capture.markers.items()
    }
    angle, sentence = heading(replace(capture, markers=dropped))
    assert abs(angle) < 1e-3 and sentence.startswith("walks 3.75 m towards 0 degrees")
    angle, _ = heading(capture.turned(2.0))
    assert angle == pytest.approx(2.0, abs=1e-3)
    straight, sentence = along_x(capture.turned(2.0))
    assert abs(heading(straight)[0]) < 1e-9 and "turned by -11" in sentence
    exact, _ = along_x(capture.turned(math.pi))
    assert np.array_equal(exact.marker("R_FM5"), p)


def test_crop_keeps_the_interval_with_its_ends():
    capture = walker(events=(GaitEvent(0.25, "foot_strike", "right"), GaitEvent(0.93, "foot_off", "right")))
    part = capture.crop(0.5, 1.0)
    assert (part.t[0], part.t[-1], len(part.t)) == (0.5, 1.0, 51) and [e.time for e in part.events] == [0.93]
    assert (part.forces[0].t[0], part.forces[0].t[-1]) == (0.5, 1.0) and part.marker("R_FCC").shape == (51, 3)
    assert np.array_equal(part.marker("R_FCC"), capture.marker("R_FCC")[50:101])
    assert_refused("no frame between 5 s and 6 s; the trial lasts from 0 to 2.99 s", capture.crop, 5.0, 6.0)
    uneven = Capture("c", [0.0, 1.0, 5.0], {"a": np.zeros((3, 3))})
    assert_refused("c: times are not evenly spaced", lambda: uneven.rate)


def test_a_walk_that_is_not_turned_says_nothing_of_a_turn():
    t = np.linspace(0.0, 1.0, 21)
    capture = Capture("walk", t, {"a": np.column_stack([2.0 * t, 0.0 * t, 0.0 * t])})
    assert along_x(capture)[1] == "walk walks 2.00 m towards 0 degrees from x"
    assert along_x(capture.turned(np.pi / 2))[1].endswith("; turned by -90 degrees so that it is along +x")
