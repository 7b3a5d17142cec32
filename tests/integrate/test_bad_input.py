"""Bad input to runs gets one sentence that names the object, the rule and the remedy."""

import numpy as np
import pytest

import models
import runtime
from runtime import AssemblyError, ModelError


def test_inconsistent_state(foot):
    fast = foot.state.replace(omega={"main_foot": (0, 0, 3)})
    with pytest.raises(
        AssemblyError,
        match=r"inconsistent initial velocities.*in row metatarsophalangeal.*runtime.assemble\(system, state\)",
    ):
        runtime.simulate(foot, 1.0, initial=fast)
    moved = foot.state.replace(r={"toes": (1, 0, 0)})
    with pytest.raises(
        AssemblyError, match=r"initial configuration violates metatarsophalangeal.point_x.*runtime.assemble"
    ):
        runtime.simulate(foot, 1.0, initial=moved)
    with pytest.raises(ModelError, match="the state is of the bodies"):
        runtime.simulate(foot, 1.0, initial=models.free_body.build().state)
    for part, message in (({"q": {}}, "unknown part 'q'"), ({"r": {"hand": (0, 0, 0)}}, "unknown body 'hand'")):
        with pytest.raises(ModelError, match=message):
            foot.state.replace(**part)


SIMULATE_ERRORS = {
    "unknown method": (dict(method="ode15s"), "unknown method 'ode15s'; use dop853, radau, RK23"),
    "negative time": (dict(t_end=-1.0), "t_end = -1 s must be after t_start = 0 s"),
    "no time": (dict(t_end=0.0), "must be after"),
    "time not finite": (dict(t_end=np.nan), "t_end = nan is not finite"),
    "negative tolerance": (dict(rtol=-1e-6), "rtol = -1e-06 is negative; give 0 or more"),
    "tolerances too small": (dict(rtol=0.0, atol=0.0), "both below the rounding"),
    "negative damping": (dict(alpha=-1.0), "alpha = -1 is negative; give 0 or more"),
    "outputs fall": (
        dict(t_eval=[0.0, 0.5, 0.4]),
        "t_eval must increase from each time to the next; 0.4 s follows 0.5 s",
    ),
    "outputs outside": (dict(t_eval=[0.0, 2.0]), "t_eval runs from 0 to 2 s, outside the interval 0 .. 1 s"),
    "outputs not finite": (dict(t_eval=[0.0, np.nan]), "t_eval: time 1 is not finite"),
    "outputs no list": (dict(t_eval=0.5), "t_eval has the shape ()"),
    "no outputs": (dict(t_eval=[]), "give a list of times"),
    "no scale": (dict(atol=0.0), "atol = 0 leaves states that are zero without a scale"),
    "tolerance a word": (dict(rtol="a"), "rtol = 'a': give one number"),
    "tolerance true": (dict(rtol=True), "rtol = True: give one number"),
    "tolerance an object": (dict(rtol=object), "rtol = <class 'object'>: give one number"),
    "tolerance a list": (dict(atol=[1e-6]), "atol has the shape (1,); give one number"),
    "step a word": (dict(max_step="a"), "max_step = 'a': give one number"),
    "step an object": (dict(max_step=object), "max_step = <class 'object'>: give one number"),
    "outputs words": (dict(t_eval=["a"]), "t_eval = ['a'] is no list of times"),
    "no state": (dict(initial=5), "5 is no State; change system.state with its replace()"),
    "no event": (dict(events=[abs]), "events must be a sequence of runtime.Event"),
    "step": (dict(max_step=0.0), "max_step = 0 is not positive; give a number above 0"),
    "no steps": (dict(max_steps=0), "max_steps = 0; give a number of steps, 1 or more"),
    "half a step": (dict(max_steps=1.5), "max_steps = 1.5; give a number of steps"),
    "event names": (dict(events=[runtime.Event("e", lambda t, s: t)] * 2), "the names e, e must differ"),
}


@pytest.mark.parametrize("case", SIMULATE_ERRORS)
def test_simulate(case, foot):
    values, message = SIMULATE_ERRORS[case]
    with pytest.raises(ModelError) as error:
        runtime.simulate(foot, **({"t_end": 1.0} | values))
    assert message in str(error.value)


def test_events(foot):
    for arguments, message in (
        (("e", 5), "function = 5 cannot be called"),
        (("e", abs, 5), "direction = 5; use -1, 0 or 1"),
    ):
        with pytest.raises(ModelError, match=message):
            runtime.Event(*arguments)
    bad = runtime.Event("bad", lambda t, state: np.nan if t > 0.3 else 1.0)
    run = runtime.simulate(foot, 1.0, events=[bad])
    assert not run.success and run.message.startswith("event 'bad' is nan at t = 0.3") and len(run.t) > 2


def test_overflow_is_no_singular_configuration():
    run = runtime.simulate(models.free_body.build(omega=(1e200, 1e200, 0)), 1.0)
    assert not run.success and "not finite" in run.message or "finite at t = 0" in run.message


def test_first_step_longer_than_the_run(foot):
    for method in ("dop853", "RK45"):
        assert runtime.simulate(foot, 0.1, method=method, first_step=10.0, rtol=1e-6, atol=1e-6).success


def test_a_singular_pose_that_a_run_passes_is_reported():
    flat = dict(crank=0.2, coupler=0.5, rocker=0.2, ground=0.5, crank_angle=1.0)
    run = runtime.simulate(models.four_bar.build("revolute", crank_speed=30.0, **flat), 1.0)
    assert "close to a singular configuration" in run.message or not run.success
    assert "singular" not in runtime.simulate(models.foot.build(), 1.0).message
