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
