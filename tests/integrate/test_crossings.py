"""Events that are definitions: found in compiled code, and where Python's events are."""

import numpy as np
import pytest

import codegen
from codegen import DefinitionError
from runtime import Builder, Event, Status, simulate, zero_crossing
from runtime.integrate.events import ZeroCrossing
from tests.support.refusals import assert_refused, refused_with

G = 9.81


def height(r_i, s_i, level):
    """Height of a point above a level.

    level : [m]
    value : [m]
    """
    return (r_i + s_i).z - level


def approach(r_i, r_j, rate):
    """Rate of the squared distance of two bodies.

    value : [m^2/s]
    """
    d = r_j - r_i
    return rate(d.dot(d))


HEIGHT, APPROACH = codegen.compile_event(height), codegen.compile_event(approach)
BALL = dict(s_i=(0, 0, 0), level=0.5)


def thrown():
    b = Builder("thrown")
    b.body("a", mass=1.0, inertia=(1, 1, 1), v=(0, 0, 5.0), free=True, omega=(1.0, 2.0, 0.5))
    b.body("b", mass=1.0, inertia=(1, 1, 1), r=(1.0, 0, 0), v=(0, 0, 2.0), free=True)
    return b.build()


UP, DOWN = (5.0 + np.array([-1, 1]) * np.sqrt(25.0 - G)) / G


@pytest.mark.parametrize("method", ["dop853", "radau", "RK45"])
def test_a_thrown_ball_passes_a_level_twice(method):
    events = [
        zero_crossing("both", HEIGHT, "a", **BALL),
        zero_crossing("up", HEIGHT, "a", direction=1, **BALL),
        zero_crossing("down", HEIGHT, "a", direction=-1, **BALL),
    ]
    run = simulate(thrown(), 2.0, events=events, method=method, rtol=1e-9, atol=1e-9)
    assert run.success and np.abs(run.events["both"] - [UP, DOWN]).max() < 1e-7
    assert np.abs(run.events["up"] - UP).max() < 1e-7 and np.abs(run.events["down"] - DOWN).max() < 1e-7
    assert abs(run.event_states["up"][0].r["a"][2] - 0.5) < 1e-7


@pytest.mark.parametrize("outputs", [None, np.linspace(0.0, 2.0, 21)])
def test_a_terminal_event_ends_the_run_there(outputs):
    ends = zero_crossing("end", HEIGHT, "a", direction=-1, terminal=True, **BALL)
    run = simulate(thrown(), 2.0, t_eval=outputs, events=[ends, zero_crossing("up", HEIGHT, "a", direction=1, **BALL)])
    assert run.status == Status.STOPPED_BY_EVENT and "event 'end'" in run.message
    assert abs(run.events["end"][0] - DOWN) < 1e-9 and abs(run.events["up"][0] - UP) < 1e-9
    assert abs(run.final.r["a"][2] - 0.5) < 1e-9
    if outputs is None:
        assert run.t[-1] == run.events["end"][0] and abs(run.r["a"][-1, 2] - 0.5) < 1e-9
    else:
        assert np.array_equal(run.t, outputs[outputs <= DOWN])


def test_of_two_bodies_with_velocities():
    """The distance of two balls is least at the start, where they fly apart."""
    run = simulate(thrown(), 1.0, events=[zero_crossing("near", APPROACH, "a", "b")])
    assert len(run.events["near"]) == 0
    b = Builder("pass", gravity=(0, 0, 0))
    b.body("a", mass=1.0, inertia=(1, 1, 1), v=(1.0, 0, 0), free=True)
    b.body("b", mass=1.0, inertia=(1, 1, 1), r=(1.5, 0.3, 0), v=(-1.0, 0, 0), free=True)
    run = simulate(b.build(), 2.0, events=[zero_crossing("near", APPROACH, "a", "b")])
    assert np.abs(run.events["near"] - 0.75).max() < 1e-9 and len(run.events["near"]) == 1


def test_the_results_are_those_of_an_event_in_python():
    def python(t, state):
        return state.r["a"][2] - 0.5

    system = thrown()
    one = simulate(system, 2.0, events=[Event("e", python)])
    other = simulate(system, 2.0, events=[zero_crossing("e", HEIGHT, "a", **BALL)])
    mixed = simulate(system, 2.0, events=[zero_crossing("e", HEIGHT, "a", **BALL), Event("f", python)])
    assert np.abs(one.events["e"] - other.events["e"]).max() < 1e-11
    assert np.abs(one.events["e"] - mixed.events["e"]).max() < 1e-11
    assert np.array_equal(one.states, other.states)


def test_python_is_visited_only_where_an_event_is(monkeypatch):
    visits = []
    of = ZeroCrossing.of

    def counted(self, system, data):
        event = of(self, system, data)
        value = event.function
        object.__setattr__(event, "function", lambda t, state: visits.append(t) or value(t, state))
        return event

    monkeypatch.setattr(ZeroCrossing, "of", counted)
    run = simulate(thrown(), 2.0, events=[zero_crossing("e", HEIGHT, "a", **BALL)], max_step=1e-3)
    assert run.stats.steps > 1900 and len(run.events["e"]) == 2
    assert len(visits) < 100


def test_at_the_start():
    low = zero_crossing("low", HEIGHT, "a", direction=-1, terminal=True, at_start=True, **BALL)
    run = simulate(thrown(), 2.0, events=[low])
    assert run.status == Status.STOPPED_BY_EVENT and run.t[-1] == 0.0 and run.events["low"][0] == 0.0


def vector(r_i):
    """A vector.

    value : [m]
    """
    return r_i


def test_bad_events():
    refused_with(DefinitionError, "an event returns one scalar, whose zeros are located", codegen.compile_event, vector)
    assert_refused(
        "definition = 'height': give what a function of codegen, such as compile_joint, ",
        zero_crossing,
        "e",
        "height",
        "a",
    )
    assert_refused("event 'e': direction = 2; use -1, 0 or 1", zero_crossing, "e", HEIGHT, "a", direction=2)
    assert_refused(
        "event 'e' (height): missing level; needs s_i, level",
        simulate,
        thrown(),
        1.0,
        events=[zero_crossing("e", HEIGHT, "a", s_i=(0, 0, 0))],
    )
    assert_refused(
        "event 'e' (height): unknown body 'c'",
        simulate,
        thrown(),
        1.0,
        events=[zero_crossing("e", HEIGHT, "c", **BALL)],
    )
