"""A simulation that a program advances step by step."""

import copy
import pickle

import numpy as np
import pytest

import models
import runtime
from tests.integrate.test_controllers import EXACT, arm, coordinates, law


@pytest.mark.parametrize(
    "how", [{}, {"coordinates": "absolute"}, {"method": "radau"}], ids=["joint", "absolute", "radau"]
)
def test_bits_are_those_of_a_controller(how):
    """The driver returns and goes on without another result."""
    controller = runtime.Controller("pd", law, 100.0, efforts=["motor"])
    run = runtime.simulate(arm(gravity=9.81), 0.5, controllers=[controller], **EXACT, **how)
    stepping = runtime.Stepping(arm(gravity=9.81), **EXACT, **how)
    for k in range(1, 51):
        stepping.efforts["motor"] = law(stepping.t, stepping.state)
        stepping.step(until=k / 100.0)
    assert stepping.t == 0.5 == run.t[-1]
    assert np.array_equal(stepping.state.y, run.final.y)


def test_steps_without_changes_are_those_of_a_run():
    """Of a foot, to the tolerance, with steps of any length."""
    system = models.foot.build(ankle="modified")
    stepping = runtime.Stepping(system, rtol=1e-10, atol=1e-10)
    for dt in (0.05, 1e-6, 0.1, 0.049999):
        stepping.step(dt)
    run = runtime.simulate(system, stepping.t, rtol=1e-10, atol=1e-10)
    assert stepping.t == pytest.approx(0.2) and np.abs(stepping.state.y - run.final.y).max() < 1e-8


def chain():
    """Four links on hinges, in motion, of whose tree there is no kernel."""
    b, before = runtime.Builder("chain"), "ground"
    for k in range(4):
        link = f"link_{k}"
        b.body(link, mass=1.0, inertia=(0.02, 0.02, 0.01), r=(0, 0, -0.2 - 0.4 * k))
        b.joint(f"pin_{k}", "revolute", before, link, axes="global", point=(0, 0, -0.4 * k), axis=(0, 1, 0))
        b.initial_coordinates(f"pin_{k}", angle=0.8 - 0.3 * k, rates={"angle": 0.5 * k})
        before = link
    return b.build()


@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
def test_steps_cut_short_take_fewer_evaluations_at_the_same_accuracy(coordinates):
    """As long as the method of lower order is as accurate as longer steps: with loose tolerances, not at the tightest."""
    system, exact = chain(), None
    for tolerance, most in ((1e-13, 14.0), (1e-8, 7.0), (1e-5, 6.5)):
        how = dict(rtol=tolerance, atol=tolerance, coordinates=coordinates)
        run = runtime.simulate(system, 1.0, t_eval=[1.0], **how)
        stepping = runtime.Stepping(system, **how)
        for k in range(1, 501):
            stepping.step(until=k / 500.0)
        exact = run.final.y if exact is None else exact
        assert np.abs(stepping.state.y - exact).max() < max(20.0 * tolerance, 1e-11)
        assert stepping._m.counts()[0] < most * 500


def test_outputs_within_steps_cut_short():
    """At the calls of a controller, and between them of order 7 as in other steps; and work of the motor."""
    controller = runtime.Controller("pd", law, 500.0, efforts=["motor"])
    how = dict(t_eval=np.arange(301) / 1000.0, controllers=[controller])
    brief, exact = (runtime.simulate(arm(gravity=9.81), 0.3, rtol=x, atol=x, **how) for x in (1e-8, 1e-13))
    at_calls = runtime.simulate(
        arm(gravity=9.81), 0.3, rtol=1e-8, atol=1e-8, **how | {"t_eval": np.arange(151) / 500.0}
    )
    assert at_calls.stats.evaluations < 7.5 * 150 and np.array_equal(at_calls.states, brief.states[::2])
    assert np.abs(brief.states - exact.states).max() < 1e-8
    work, wanted = (run.energy_balance.work["motor"] for run in (brief, exact))
    assert np.abs(work - wanted).max() < 1e-7


def test_states_that_a_controller_keeps_are_those_of_their_times():
    """Also if they are asked for the first time after the run."""
    seen = []

    def remember(t, state):
        seen.append((t, state))
        return 1.0

    controller = runtime.Controller("watch", remember, 50.0, efforts=["motor"])
    run = runtime.simulate(arm(gravity=9.81), 0.3, controllers=[controller], t_eval=np.arange(15) / 50.0, **EXACT)
    assert [t for t, _ in seen] == run.t.tolist()
    assert np.abs([state.y for _, state in seen] - run.states).max() < 1e-12
    angles = [state.coordinate("hinge.angle") for _, state in seen]
    assert np.abs(angles - run.angles["hinge"].angle).max() < 1e-12


def test_efforts_act_from_the_time_reached_on():
    """Uniform acceleration by one effort, then by another."""
    b = runtime.Builder(gravity=(0, 0, 0))
    b.body("cart", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.joint("rail", "translational", "ground", "cart", s_i=(0, 0, 0), s_j=(0, 0, 0), a_i=(1, 0, 0), a_j=(1, 0, 0))
    b.motor("push", coordinate="rail.distance", effort=2.0)
    stepping = runtime.Stepping(b.build(), **EXACT)
    assert dict(stepping.efforts) == {"push": 2.0}
    stepping.step(1.0)
    stepping.efforts["push"] = -4.0
    stepping.step(0.5)
    assert stepping.state.v["cart"][0] == pytest.approx(1.0 - 1.0, abs=1e-10)
    assert stepping.state.r["cart"][0] == pytest.approx(0.5 + 0.5 - 0.25, abs=1e-10)


def test_refused_calls():
    stepping = runtime.Stepping(arm(), t_end=1.0)
    for given, message in [
        ({}, "give either dt or until"), ({"dt": 0.1, "until": 0.1}, "give either dt or until"),
        ({"dt": 0.0}, "give a time after t = 0 s, up to t_end = 1 s"), ({"until": 1.1}, "up to t_end = 1 s"),
        ({"dt": np.nan}, "to t = nan s"),
    ]:  # fmt: skip
        with pytest.raises(runtime.ModelError, match=message):
            stepping.step(**given)
    with pytest.raises(runtime.ModelError, match="unknown motor .*'moter'; did you mean 'motor'"):
        stepping.efforts["moter"] = 1.0
    with pytest.raises(runtime.ModelError, match="unknown argument 'names'; it takes dt, until"):
        stepping.step(names=1.0)
    with pytest.raises(runtime.ModelError, match="unknown motor"):
        stepping.efforts[[1]] = 1.0
    with pytest.raises(runtime.ModelError, match="effort of motor 'motor' = nan"):
        stepping.efforts["motor"] = np.nan
    with pytest.raises(runtime.ModelError, match="set it to 0"):
        del stepping.efforts["motor"]
    with pytest.raises(runtime.ModelError, match="method 'BDF' does not go on by steps"):
        runtime.Stepping(arm(), method="BDF")
    stepping.step(0.1)
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(
            runtime.ModelError, match="stepping of system 'arm' cannot be pickled or copied.*initial=state"
        ):
            way(stepping)
    assert pickle.loads(pickle.dumps(stepping.state)).y.tolist() == stepping.state.y.tolist()
    assert stepping.t == 0.1 and coordinates(stepping.state)[0] != 0.5


def test_a_signal_ends_the_simulation():
    signal = runtime.Signal.spline(np.linspace(0, 2, 9), np.zeros(9))
    stepping = runtime.Stepping(arm(effort=signal))
    assert len(stepping.efforts) == 0
    stepping.step(2.0)
    with pytest.raises(runtime.ModelError, match="up to t_end = 2 s"):
        stepping.step(1e-3)


def test_failures_have_the_status_of_a_run():
    stepping = runtime.Stepping(arm())
    stepping.efforts["motor"] = 1e49
    with pytest.raises(runtime.integrate.StepError) as found:
        stepping.step(1.0)
        stepping.step(1.0)
    assert found.value.status < 0 and "t =" in str(found.value)
