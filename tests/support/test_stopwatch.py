"""Wall time without the preparation of machine code, by a clock that is set by hand."""

import threading
from types import SimpleNamespace

import pytest

import models
import runtime
from runtime.jit.compilation import compiled
from runtime.support import stopwatch
from runtime.support.stopwatch import Stopwatch, preparing


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still."""
    hands = SimpleNamespace(now=100.0)
    hands.perf_counter = lambda: hands.now
    monkeypatch.setattr(stopwatch, "clock", hands)
    return hands


def test_preparation_is_left_out_and_counted_once(clock):
    watch = Stopwatch()
    clock.now += 1.0
    with preparing():
        clock.now += 2.0
        with preparing():
            clock.now += 4.0
        clock.now += 8.0
    clock.now += 16.0
    assert watch.times() == (17.0, 14.0)
    assert Stopwatch().times() == (0.0, 0.0)


def test_a_failure_ends_preparation(clock):
    watch = Stopwatch()
    with pytest.raises(ValueError), preparing():
        clock.now += 1.0
        raise ValueError
    clock.now += 2.0
    assert watch.times() == (2.0, 1.0)


def test_threads_are_counted_apart(clock):
    watch = Stopwatch()

    def other():
        with preparing():
            clock.now += 4.0

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert watch.times() == (4.0, 0.0)


def test_a_run_tells_compilation_apart(clock):
    def during(t, state):
        with preparing():
            clock.now += 8.0
        clock.now += 0.5
        return 1.0

    system = models.pendulum.build()
    runtime.simulate(system, 0.1, events=[runtime.Event("none", lambda t, state: 1.0)])  # compiles
    s = runtime.simulate(system, 0.1, events=[runtime.Event("none", during)]).stats
    assert s.wall_time > 0.0 and s.compile_time == 16.0 * s.wall_time


def test_what_is_compiled_is_counted():
    def twice(x):
        return 2.0 * x

    watch, function = Stopwatch(), compiled(twice)
    assert watch.times()[1] == 0.0
    assert function(1.5) == 3.0
    assert 0.0 < watch.times()[1]
