"""The method "auto": turns between dop853 and radau, and runs that have none."""

import itertools

import numpy as np
import pytest

import models
import runtime
from runtime.dynamics.status import Status
from runtime.integrate.methods import Compiled
from tests.support.stiff import HEIGHT, reduced_ball, reduced_two_bodies, thrown_ball, two_bodies
from tests.support.systems import BUILDS, LIMITED

END = 2.0


@pytest.fixture(scope="module")
def turning():
    t = np.linspace(0.0, END, 41)
    return two_bodies(), t, reduced_two_bodies(t)


def positions(run):
    return np.concatenate([run.r["a"][:, :2], run.r["b"][:, :2]], axis=1)


# Runs without turns


@pytest.mark.parametrize(
    ("name", "tolerance"), [*itertools.product(BUILDS, [1e-4, 1e-7, 1e-11]), *((name, 1e-9) for name in LIMITED)]
)
def test_what_is_not_stiff_is_integrated_by_dop853_to_the_last_digit(name, tolerance):
    system = BUILDS[name]() if name in BUILDS else models.foot.build(**LIMITED[name])
    settings = dict(rtol=tolerance, atol=tolerance)
    a, b = (runtime.simulate(system, 1.0, method=method, **settings) for method in ("auto", "dop853"))
    assert np.array_equal(a.states, b.states) and np.array_equal(a.t, b.t) and a.message == b.message
    assert a.stats.evaluations == b.stats.evaluations
    assert [part.method for part in a.stats.parts] == ["dop853"]


# Runs with turns


@pytest.mark.slow
@pytest.mark.parametrize("tolerance, error", [(1e-6, 5e-4), (1e-8, 5e-6), (1e-11, 5e-9)])
def test_a_stiff_damper_is_left_to_radau(turning, tolerance, error):
    # Below 1e-8 the error estimate keeps dop853 within its stability bound, and the turn comes from the slow motion alone.
    system, t, reference = turning
    run = runtime.simulate(system, END, t_eval=t, rtol=tolerance, atol=tolerance)
    assert run.success and np.abs(positions(run) - reference).max() < error
    assert [part.method for part in run.stats.parts] == ["dop853", "radau"]
    assert run.stats.parts[0].steps < 40 and run.stats.steps < 1300
    assert f"turned to radau from t = {run.stats.parts[1].t:.6g} s" in run.message


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [3e-7, 1e-10])
def test_stiffness_that_comes_and_goes(tolerance):
    run = runtime.simulate(thrown_ball(), END, rtol=tolerance, atol=tolerance)
    down, up, height, speed = reduced_ball(END)
    assert down == pytest.approx(np.sqrt(2.0 * HEIGHT / 9.81), abs=1e-10)
    touch = run.contacts["floor"]
    assert touch.touch_down == pytest.approx([down], abs=1e-9) and touch.lift_off == pytest.approx(
        [up], abs=1e3 * tolerance
    )
    assert run.r["ball"][-1, 2] == pytest.approx(0.05 + height, abs=1e2 * tolerance)
    assert run.v["ball"][-1, 2] == pytest.approx(speed, abs=1e2 * tolerance)
    first, stiff, last = run.stats.parts
    assert [first.method, stiff.method, last.method] == ["dop853", "radau", "dop853"]
    assert down < stiff.t < 0.2 and up < last.t < END
    assert run.stats.steps < 190  # dop853 alone takes 5600


@pytest.mark.parametrize("tolerance", [1e-6, 1e-10])
def test_a_foot_at_rest_costs_nothing(tolerance):
    # At rest on its damped limits, dop853 takes steps at its stability bound for ever.
    system = models.foot.build("classical", limits="dissipative", preset="published")
    settings = dict(rtol=tolerance, atol=tolerance)
    long, longer = (runtime.simulate(system, t_end, **settings) for t_end in (40.0, 80.0))
    assert long.stats.parts[-1].method == "radau"
    assert longer.stats.steps < long.stats.steps + 20
    explicit = runtime.simulate(system, 40.0, method="dop853", **settings)
    assert np.abs(long.final.y - explicit.final.y).max() < 300 * tolerance
    assert explicit.stats.evaluations > 2 * long.stats.evaluations


def test_parts_add_up_to_the_run():
    run = runtime.simulate(thrown_ball(), END, t_eval=np.linspace(0.0, END, 201), rtol=1e-8, atol=1e-8)
    s = run.stats
    assert s.method == "auto" and len(s.parts) == 3 and s.parts[0].t == 0.0
    for count in ("evaluations", "steps", "rejections"):
        assert sum(getattr(part, count) for part in s.parts) == getattr(s, count)
    assert np.all(np.diff([part.t for part in s.parts]) > 0.0)


def test_times_and_events_across_a_turn(turning):
    # The steps, and so the turns, are the same with stated times, and with events, which are located step by step.
    system, t, reference = turning
    settings = dict(rtol=1e-10, atol=1e-10)
    crossing = runtime.Event("b crosses the x axis", lambda t, state: float(state.r["b"][1]))
    steps = runtime.simulate(system, END, **settings)
    run = runtime.simulate(system, END, t_eval=t, events=[crossing], **settings)
    stated = runtime.simulate(system, END, t_eval=t, **settings)
    assert np.array_equal(run.states, stated.states) and np.array_equal(run.final.y, steps.final.y)
    assert [p.t for p in run.stats.parts] == [p.t for p in stated.stats.parts] == [p.t for p in steps.stats.parts]
    assert np.abs(positions(run) - reference).max() < 1e-7
    # b turns about the centre of mass: sine of its angle, from the reference, changes sign between these times.
    y = reference[:, 3]
    between = [k for k in range(1, len(t)) if y[k - 1] * y[k] < 0.0]
    found = run.events["b crosses the x axis"]
    assert len(found) == len(between) > 1
    assert all(t[k - 1] < time < t[k] for k, time in zip(between, found, strict=True))


def test_a_terminal_event_after_a_turn(turning):
    system = turning[0]
    event = runtime.Event("left", lambda t, state: float(state.r["a"][0]) - 0.3, direction=1, terminal=True)
    run = runtime.simulate(system, END, events=[event], rtol=1e-9, atol=1e-9)
    assert run.status == Status.STOPPED_BY_EVENT and "turned to radau" in run.message
    assert run.final.r["a"][0] == pytest.approx(0.3, abs=1e-9)


def test_short_runs_and_bounded_steps_do_not_turn(turning):
    system = turning[0]
    assert len(runtime.simulate(system, 0.01, rtol=1e-6, atol=1e-6).stats.parts) == 1  # not worth it
    # Steps of radau could not be longer either.
    assert len(runtime.simulate(system, 0.5, rtol=1e-4, atol=1e-4, max_step=5e-5).stats.parts) == 1


def test_dop853_goes_on_where_radau_fails(turning, monkeypatch):
    system, t, reference = turning
    whole, failures = Compiled.advance, []

    def failing(self, *arguments):
        if self.s is not self.steppers["dop853"] and len(failures) < 2:
            failures.append(self.t)
            self.s.now.next_length = 1e-18
            return Status.STEP_TOO_SMALL, "as if Newton's method did not converge"
        return whole(self, *arguments)

    monkeypatch.setattr(Compiled, "advance", failing)
    run = runtime.simulate(system, END, t_eval=t, rtol=1e-8, atol=1e-8)
    assert len(failures) == 2 and run.success
    assert [part.method for part in run.stats.parts] == ["dop853", "radau"] * 3
    assert np.abs(positions(run) - reference).max() < 5e-6


def test_an_absolute_tolerance_alone():
    run = runtime.simulate(two_bodies(), 0.5, rtol=0.0, atol=1e-7)
    exact = reduced_two_bodies(np.array([0.0, 0.5]))[-1]
    assert len(run.stats.parts) == 2 and np.abs(positions(run)[-1] - exact).max() < 1e-4
