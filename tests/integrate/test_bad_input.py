"""Bad input to runs gets one sentence that names the object, the rule and the remedy."""

import numpy as np
import pytest

import models
import runtime
from runtime import AssemblyError, Signal, Status
from runtime.dynamics.status import RunFailure
from runtime.integrate import METHODS
from tests.support.refusals import assert_refused, refused_with


def test_inconsistent_state(foot):
    fast = foot.state.replace(omega={"main_foot": (0, 0, 3)})
    with pytest.raises(
        AssemblyError,
        match=r"inconsistent initial velocities.*in row metatarsophalangeal.*runtime.assemble\(system, state\)",
    ):
        runtime.simulate(foot, 1.0, initial=fast)
    moved = foot.state.replace(r={"toes": (1, 0, 0)})
    refused_with(
        AssemblyError,
        ("initial configuration violates metatarsophalangeal.point_x", "runtime.assemble"),
        runtime.simulate,
        foot,
        1.0,
        initial=moved,
    )
    assert_refused("the state is of the bodies", runtime.simulate, foot, 1.0, initial=models.free_body.build().state)
    for part, message in (({"q": {}}, "unknown part 'q'"), ({"r": {"hand": (0, 0, 0)}}, "unknown body 'hand'")):
        assert_refused(message, foot.state.replace, **part)


SIMULATE_ERRORS = {
    "unknown method": (dict(method="ode15s"), "unknown method 'ode15s'; use auto, dop853, radau, RK23"),
    "negative time": (dict(t_end=-1.0), "t_end = -1 s must be after t_start = 0 s"),
    "no time": (dict(t_end=0.0), "must be after"),
    "time not finite": (dict(t_end=np.nan), "t_end = nan is not finite"),
    "negative tolerance": (dict(rtol=-1e-6), "rtol = -1e-06 is negative; give 0 or more"),
    "tolerances too small": (dict(rtol=0.0, atol=0.0), "both below the rounding"),
    "tolerance of no use": (
        dict(atol=2**70),
        "atol = 1.18059e+21 allows errors larger than the motion, limit 10000; give",
    ),
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
    "outputs words": (dict(t_eval=["a"]), "t_eval = ['a'] holds text; give a list of times [s]"),
    "no state": (
        dict(initial=5),
        "simulate: initial = 5: give a runtime.State, system.state or what its replace() returns, or leave it out",
    ),
    "no event": (
        dict(events=[abs]),
        "events = [<built-in function abs>] has item 0 = <built-in function abs>; give a sequence of items, each runtime.Event",
    ),
    "step": (dict(max_step=0.0), "max_step = 0 is not positive; give a number above 0"),
    "no steps": (dict(max_steps=0), "max_steps = 0; give a number of steps, 1 or more"),
    "half a step": (dict(max_steps=1.5), "simulate: max_steps = 1.5: give a whole number, or leave it out"),
    "event names": (dict(events=[runtime.Event("e", lambda t, s: t)] * 2), "the names e, e must differ"),
}


@pytest.mark.parametrize("case", SIMULATE_ERRORS)
def test_simulate(case, foot):
    values, message = SIMULATE_ERRORS[case]
    assert_refused(message, runtime.simulate, foot, **({"t_end": 1.0} | values))


def test_events(foot):
    for arguments, message in (
        (("e", 5), "event 'e': function = 5: give a function"),
        (("e", abs, 5), "direction = 5; use -1, 0 or 1"),
    ):
        assert_refused(message, runtime.Event, *arguments)
    bad = runtime.Event("bad", lambda t, state: np.nan if t > 0.3 else 1.0)
    run = runtime.simulate(foot, 1.0, events=[bad])
    assert not run.success and len(run.t) > 2
    assert run.message.startswith("an event function gave no finite number at t = 0.3")
    assert run.message.endswith("s: event 'bad' is nan; correct the function")


def test_overflow_is_no_singular_configuration():
    sentence = "the state stopped being finite at t = 0 s; check masses, inertias and initial velocities"
    b = runtime.Builder("feather")
    b.body("feather", mass=1e-20, inertia=(1e-20, 1e-20, 1e-20), free=True)
    b.load("storm", "feather", force=(1e300, 0.0, 0.0))
    system = b.build()
    for method in METHODS:
        run = runtime.simulate(system, 1.0, method=method)
        assert (run.status, run.message) == (Status.NOT_FINITE, sentence), method


def test_a_stage_of_the_dense_output_that_is_not_finite_is_no_singular_configuration():
    b = runtime.Builder("arm")
    b.body("arm", mass=0.01, inertia=(1e-4, 1e-4, 1e-5), r=(0, 0, -0.2))
    b.joint("shoulder", "revolute", "ground", "arm", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0.2), a_j=(0, 1, 0))
    # Of the stages of a step of 0.1 s, only one of the dense output is within 0.1 ms of 0.01 s.
    spike = Signal.spline([0.0, 0.0099, 0.01, 0.0101, 0.2], [0.0, 0.0, 1e300, 0.0, 0.0], degree=1)
    b.load("spike", "arm", force=(spike, 0.0, 0.0))
    run = runtime.simulate(b.build(), 0.1, t_eval=[0.05], rtol=1e-3, atol=1e-3, first_step=0.1, coordinates="absolute")
    assert run.status == Status.NOT_FINITE and "; check masses, inertias and initial velocities" in run.message


def test_rest_at_a_state_without_accelerations_names_reason_and_remedy(foot):
    event = runtime.at_rest().of(foot, foot.data)
    with pytest.raises(RunFailure, match="the state stopped being finite at t = 0 s; check masses") as error:
        event.function(0.0, runtime.State(foot.body_names, np.full(len(foot.state.y), np.nan)))
    assert error.value.status is Status.NOT_FINITE


def test_singular_poses_that_cost_no_digits_are_not_reported():
    flat = dict(crank=0.2, coupler=0.5, rocker=0.2, base=0.5, crank_angle=1.0)
    run = runtime.simulate(models.four_bar.build("revolute", crank_speed=30.0, **flat), 1.0)
    assert run.success and np.ptp(run.energy) < 1e-7 and run.violation.max() < 1e-12
    assert "singular" not in runtime.simulate(models.foot.build(), 1.0).message
