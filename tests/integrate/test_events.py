"""Events are located on the motion, against a pendulum's period in closed form."""

import numpy as np
import pytest

import models
import runtime
from runtime import Event
from tests.support.pendulums import QUARTER, pendulum, side

LOOSE = dict(rtol=1e3, atol=1e3)  # no step is ever rejected, so that first_step = max_step fixes its length


@pytest.mark.parametrize("method, tolerance, off", [("dop853", 1e-13, 1e-10), ("RK45", 1e-11, 1e-9)])
def test_events_are_located(method, tolerance, off):
    events = [Event("any", side), Event("rising", side, direction=1), Event("falling", side, direction=-1)]
    run = runtime.simulate(
        pendulum(), 6.5 * QUARTER, events=events, method=method, rtol=tolerance, atol=tolerance
    )  # fmt: skip
    assert np.abs(run.events["any"] - QUARTER * np.array([1, 3, 5])).max() < off
    assert np.abs(run.events["falling"] - QUARTER * np.array([1, 5])).max() < off
    assert np.abs(run.events["rising"] - QUARTER * np.array([3])).max() < off
    for name, times in run.events.items():
        assert len(run.event_states[name]) == len(times)
        assert max(abs(state.r["rod"][0]) for state in run.event_states[name]) < 1e-12
    assert run.status == 0
    assert run.t[-1] == 6.5 * QUARTER


def test_terminal_event_stops_the_run():
    events = [Event("low", side, terminal=True), Event("late", lambda t, state: t - 2.5 * QUARTER)]
    run = runtime.simulate(pendulum(), 4 * QUARTER, events=events, rtol=1e-13, atol=1e-13)
    assert (run.success, run.status) == (True, 1)
    assert "low" in run.message
    assert run.t[-1] == run.events["low"][0] == pytest.approx(QUARTER, abs=1e-10)
    assert np.array_equal(run.final.y, run.event_states["low"][0].y)
    assert np.array_equal(run.states[-1], run.final.y)
    assert len(run.events["late"]) == 0

    wanted = np.linspace(0.0, 4 * QUARTER, 41)
    stated = runtime.simulate(pendulum(), 4 * QUARTER, events=events, t_eval=wanted, rtol=1e-13, atol=1e-13)
    assert np.array_equal(stated.t, wanted[wanted <= stated.events["low"][0]])


@pytest.mark.parametrize("method", ["dop853", "radau", "RK45"])
def test_terminal_event_before_the_first_stated_time(method):
    stop = Event("stop", lambda t, state: t - 0.05, terminal=True)
    run = runtime.simulate(pendulum(), 0.2, events=[stop], t_eval=[0.1, 0.15], method=method)
    assert run.success
    assert run.t.shape == (0,)
    assert run.r["rod"].shape == (0, 3)
    assert run.energy.shape == run.violation.shape == (0,)
    assert run.event_states["stop"][0].r["rod"].shape == (3,)


def test_terminal_event_waits_for_its_direction():
    run = runtime.simulate(
        pendulum(), 6 * QUARTER, events=[Event("back", side, direction=1, terminal=True)], rtol=1e-13, atol=1e-13
    )
    assert run.t[-1] == pytest.approx(3 * QUARTER, abs=1e-10)


def test_two_events_in_one_step():
    step = 0.08
    at = [0.3 * step, 0.7 * step, 0.71 * step]
    events = [Event(f"t{k}", lambda t, state, at=at[k]: t - at) for k in (2, 0, 1)]
    run = runtime.simulate(pendulum(), step, events=events, first_step=step, max_step=step, **LOOSE)
    assert run.stats.steps == 1
    assert [run.events[f"t{k}"] for k in range(3)] == [pytest.approx([moment], abs=1e-14) for moment in at]

    # The earlier of two terminal events stops the run, whatever their order, and takes back what came later.
    stops = [Event("b", events[2].function, terminal=True), Event("a", events[1].function, terminal=True), events[0]]
    for order in (stops, stops[::-1]):
        run = runtime.simulate(pendulum(), step, events=order, first_step=step, max_step=step, **LOOSE)
        assert run.t[-1] == pytest.approx(at[0], abs=1e-14)
        assert {name: len(times) for name, times in run.events.items()} == {"a": 1, "b": 0, "t2": 0}


def test_two_zeros_of_one_event_in_one_step():
    step = 0.08
    there_and_back = Event("pair", lambda t, state: (t - 0.3 * step) * (t - 0.6 * step))
    run = runtime.simulate(pendulum(), step, events=[there_and_back], first_step=step, max_step=step, **LOOSE)
    assert run.stats.steps == 1
    assert run.events["pair"] == pytest.approx([0.3 * step, 0.6 * step], abs=1e-14)


def test_event_at_a_stated_time():
    wanted = np.array([0.05, 0.1, 0.15])
    clock = Event("clock", lambda t, state: t - 0.1)
    run = runtime.simulate(pendulum(), 0.2, events=[clock], t_eval=wanted)
    assert np.array_equal(run.t, wanted)
    assert run.events["clock"] == pytest.approx([0.1], abs=1e-14)
    k = 1
    assert np.abs(run.event_states["clock"][0].y - run.states[k]).max() < 1e-12


def test_event_at_the_ends():
    # A zero at the start is no crossing; one at the very end is found, once.
    ends = Event("ends", lambda t, state: t * (t - 0.2))
    run = runtime.simulate(pendulum(), 0.2, events=[ends])
    assert list(run.events["ends"]) == [0.2]


def test_events_change_nothing_else():
    free, watched = (
        runtime.simulate(models.foot.build(), 1.0, events=events) for events in ([], [Event("never", lambda t, s: 1.0)])
    )
    assert np.array_equal(free.t, watched.t)
    assert np.array_equal(free.states, watched.states)
    assert list(watched.events["never"]) == []


METHODS = ["dop853", "radau", "RK45"]


@pytest.mark.parametrize("method", METHODS)
def test_multiple_zeros_are_located(method):
    powers = {"cube": lambda t, s: (t - 0.07) ** 3, "turn": lambda t, s: (t - 0.07) * abs(t - 0.07)}
    run = runtime.simulate(pendulum(), 0.2, events=[Event(name, f) for name, f in powers.items()], method=method)
    assert run.success and [list(run.events[name]) for name in powers] == [[pytest.approx(0.07, abs=1e-9)]] * 2


@pytest.mark.parametrize("method", ["auto", "RK45"])
def test_a_function_that_stays_zero_is_located_where_it_becomes_zero(method):
    functions = {"clipped": lambda t, _: min(0.0, t - 0.7), "whole": lambda t, _: int(t > 0.3) - 1}
    events = [Event(name, function) for name, function in functions.items()]
    run = runtime.simulate(pendulum(), 1.0, events=events, method=method)
    assert run.events["clipped"] == pytest.approx([0.7], abs=1e-12)
    assert run.events["whole"] == pytest.approx([0.3], abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_noise_is_no_error(method):
    random = np.random.default_rng(0)
    run = runtime.simulate(pendulum(), 0.1, events=[Event("noise", lambda t, s: random.normal())], method=method)
    assert run.success and len(run.events["noise"]) > 0


def fails_later(t, state):
    """An error in the function of a user."""
    return 1.0 / (t <= 0.1)


def no_number_later(t, state):
    """No number."""
    return 1.0 if t <= 0.1 else None


def no_body_later(t, state):
    """A name that does not exist."""
    return 1.0 if t <= 0.1 else state.r["leg"][0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("function", "says"),
    [
        (fails_later, "its function failed: ZeroDivisionError"),
        (no_number_later, "function returned None; it must return one number"),
        (no_body_later, "unknown body 'leg'"),
    ],
)
def test_a_function_that_fails_on_the_way_ends_the_run(function, says, method):
    run = runtime.simulate(pendulum(), 0.4, events=[Event("e", function)], method=method, max_step=0.02)
    assert run.status is runtime.Status.EVENT_NOT_FINITE and says in run.message
    assert 0.05 < run.t[-1] < 0.15 and run.message.endswith(run.status.remedy)


@pytest.mark.parametrize("method", METHODS)
def test_an_interruption_in_a_function_ends_the_run(method):
    def stop(t, state):
        if t > 0.1:
            raise KeyboardInterrupt
        return 1.0

    run = runtime.simulate(pendulum(), 0.4, events=[Event("e", stop)], method=method, max_step=0.02)
    assert run.status is runtime.Status.INTERRUPTED and run.t[-1] < 0.15


@pytest.mark.parametrize("method", METHODS)
def test_a_function_may_change_the_state_that_it_is_given(method):
    """It has a copy of its own, which functions of SciPy take."""

    def changes(t, state):
        for part in (state.r, state.p, state.v, state.omega):
            part["rod"][:] = 7.0
        return state.r["rod"][0]

    events = [Event("changes", changes), Event("low", side)]
    run, free = (runtime.simulate(pendulum(), 1.0, events=given, method=method) for given in (events, events[1:]))
    assert np.array_equal(run.states, free.states) and np.array_equal(run.events["low"], free.events["low"])
    with pytest.raises(ValueError, match="read-only"):
        run.final.r["rod"][0] = 1.0
