"""Cases with loads, motors and forces side by side: what their messages say of stability and balance, as single runs do."""

import functools

import numpy as np
import pytest

import models
import runtime
from benchmarks.ensemble_systems import builder_of
from runtime import Signal
from runtime.integrate import balance_check

ACROSS = dict(a_i=(1, 0, 0), h_i=(0, -1, 0), b_j=(1, 0, 0))


@functools.cache
def foot(damping=0.1):
    """A foot with a spring at the ankle, a motor at the toes that follows a signal, and a load that alternates."""
    b, law = builder_of(models.foot.build()), dict(stiffness=8.0, damping=damping, free_angle=0.1)
    b.force("spring", "torsional_spring", "leg", "main_foot", axes="global", a_i=(0, 1, 0), **law)
    wave = Signal.function(lambda t: 0.3 * np.sin(4.0 * t), 0.0, 2.0)
    b.motor("toe", "guided_angle", "leg", "main_foot", **ACROSS, theta_t=wave, stiffness=5.0, damping=0.05)
    b.load("push", "main_foot", force=(wave, 0.0, 1.0))
    return b.build()


def test_stiff_cases_have_the_messages_of_single_runs():
    """Stability bounds the steps of a strong damper; the rule is that of single runs."""
    cases = {"damping.toe": [0.1, 500.0]}
    many = runtime.simulate_many(foot(), cases, 0.5, rtol=1e-6, atol=1e-6)
    stiff = runtime.with_parameters(foot(), {"damping.toe": 500.0}, check_units=False)
    run = runtime.simulate(stiff, 0.5, method="dop853", rtol=1e-6, atol=1e-6)
    assert "bounded by stability" in run.message and many.messages == {1: run.message}


@pytest.mark.parametrize("built", [False, True])
def test_remarks_are_made_without_single_runs(built, in_lanes):
    """A case that reached its end in its lane keeps its result, whatever its message says of stability and balance."""
    for name in ("EACH_STEP", "ROUNDING"):  # as if the tolerance explained nothing
        in_lanes.setattr(balance_check, name, 0.0)
    system, name = (foot, "damping") if built else (foot(), "damping.toe")
    many = runtime.simulate_many(system, {name: [0.1, 500.0]}, 0.5, rtol=1e-6, atol=1e-6)
    assert many.success and many.vectorised.all() and sorted(many.messages) == [0, 1]
    assert all("the energy balance is off by" in text for text in many.messages.values())
    assert "bounded by stability" in many.messages[1] and "stability" not in many.messages[0]


def test_the_stiff_method_is_not_replaced():
    settings = dict(method="auto", rtol=1e-6, atol=1e-6)
    many = runtime.simulate_many(foot(), {"damping.toe": [500.0]}, 0.5, **settings)
    run = runtime.simulate(runtime.with_parameters(foot(), {"damping.toe": 500.0}, check_units=False), 0.5, **settings)
    assert len(run.stats.parts) > 1 and many.steps[0] == run.stats.steps
