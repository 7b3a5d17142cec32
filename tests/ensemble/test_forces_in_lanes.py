"""Cases with loads, motors and forces side by side: as single runs, beside any others, and alone where these say more."""

import functools
import tempfile
from pathlib import Path

import numpy as np
import pytest

import models
import runtime
from runtime import Signal, Status
from runtime.integrate import balance_check

TIMES = np.linspace(0.0, 0.5, 4)
SETTINGS = dict(t_eval=TIMES, rtol=1e-10, atol=1e-10)
ACROSS = dict(a_i=(1, 0, 0), h_i=(0, -1, 0), b_j=(1, 0, 0))


@functools.cache
def foot(damping=0.1, stiffness=8.0, limits=None):
    """A foot with a spring at the ankle, a motor at the toes that follows a signal, and a load that alternates."""
    with tempfile.TemporaryDirectory() as folder:
        b = runtime.Builder.from_file(models.foot.build(limits=limits).to_file(Path(folder) / "foot.json"))
    law = dict(stiffness=stiffness, damping=damping, free_angle=0.1)
    b.force("spring", "torsional_spring", "leg", "main_foot", axes="global", a_i=(0, 1, 0), **law)
    wave = Signal.function(lambda t: 0.3 * np.sin(4.0 * t), 0.0, 2.0)
    b.motor("toe", "guided_angle", "leg", "main_foot", **ACROSS, theta_t=wave, stiffness=5.0, damping=0.05)
    b.load("push", "main_foot", force=(wave, 0.0, 1.0))
    return b.build()


def differ(many, case, run):
    """The largest difference of a case from a run."""
    parts = [(getattr(many, part)[body][case], getattr(run, part)[body]) for part in "rpv" for body in run.r]
    return max(np.abs(a - b).max() for a, b in parts)


@pytest.mark.parametrize("name", ["stiffness.spring", "damping.toe", "mass.toes", "l.ankle", "gravity"])
def test_varied_parameters_as_single_runs(name, in_lanes):
    system = foot()
    own = np.asarray(runtime.parameters(system)[name])
    values = own * np.linspace(0.9, 1.1, 20).reshape(-1, *[1] * own.ndim)
    many = runtime.simulate_many(system, {name: values}, 0.5, assemble=True, **SETTINGS)
    assert (many.status == Status.REACHED_END).all() and not many.messages
    for case in (0, 19):
        changed = runtime.with_parameters(system, {name: values[case]})
        run = runtime.simulate(changed, 0.5, coordinates="absolute", t_eval=TIMES, rtol=1e-12, atol=1e-12)
        assert differ(many, case, run) < 2e-9
    assert np.ptp(many.r["toes"][:, -1], axis=0).max() > 1e-5


def test_a_case_depends_on_no_other(in_lanes):
    values = {"stiffness.spring": np.linspace(0.0, 9.0, 40), "rate.ankle.theta_i": np.linspace(-2.0, 2.0, 40)}
    many = runtime.simulate_many(foot(), values, 0.5, workers=2, chunk=16, **SETTINGS)
    some = runtime.simulate_many(foot(), {k: v[30:2:-1] for k, v in values.items()}, 0.5, workers=1, **SETTINGS)
    assert np.array_equal(many.r["toes"][30:2:-1], some.r["toes"])


def test_outputs_as_in_absolute_coordinates():
    cases = {"stiffness.spring": np.linspace(5.0, 9.0, 5)}
    outputs = ["energy", "elastic_energy", "reaction_force.ankle", "rate.ankle.theta_i", "max(kinetic_energy)"]
    many = runtime.simulate_many(foot(), cases, 0.5, outputs=outputs, **SETTINGS)
    absolute = runtime.simulate_many(
        foot(), cases, 0.5, outputs=outputs, t_eval=TIMES, rtol=1e-12, atol=1e-12, coordinates="absolute"
    )
    for name in outputs:
        assert np.abs(many[name] - absolute[name]).max() < 1e-7 * np.abs(absolute[name]).max()


@pytest.mark.parametrize("limits", ["elastic", "dissipative"])
def test_limits_beside_forces(limits, in_lanes):
    system = foot(limits=limits)
    cases = {
        "max_moment.talocalcaneal": np.linspace(0.8, 1.2, 20) * system.limits[1].max_moment,
        "free_angle.spring": np.linspace(-1.0, 1.0, 20),
        "rate.ankle.theta_j": np.linspace(-8.0, 8.0, 20),
    }
    outputs = ["r.toes", "energy", "elastic_energy", "max(limit_excess.talocrural)", "max(limit_excess.talocalcaneal)"]
    settings = dict(t_eval=np.linspace(0.0, 1.0, 21), outputs=outputs)
    many = runtime.simulate_many(system, cases, 1.0, rtol=1e-10, atol=1e-10, **settings)
    assert (many.status == Status.REACHED_END).all() and not many.messages
    few = {key: values[::9] for key, values in cases.items()}
    in_lanes.undo()
    absolute = runtime.simulate_many(system, few, 1.0, rtol=1e-12, atol=1e-12, coordinates="absolute", **settings)
    assert min(many[name].max() for name in outputs[3:]) > 0.01
    for name in outputs:
        assert np.abs(many[name][::9] - absolute[name]).max() < 1e-7 * max(1.0, np.abs(absolute[name]).max())


def test_systems_of_a_function(in_lanes):
    cases = {"stiffness": np.linspace(5.0, 9.0, 6), "damping": np.linspace(0.0, 0.2, 6)}
    many = runtime.simulate_many(lambda stiffness, damping: foot(damping, stiffness), cases, 0.5, **SETTINGS)
    run = runtime.simulate(foot(0.2, 9.0), 0.5, **SETTINGS)
    assert (many.status == Status.REACHED_END).all() and differ(many, 5, run) < 1e-8


def pendulum(end, force=1.0):
    """A pendulum with a load that is known until a time."""
    b = runtime.Builder("pendulum")
    b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0.5, 0, 0))
    b.joint("pivot", "revolute", "ground", "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(-0.5, 0, 0), a_j=(0, 1, 0))
    b.load("push", "rod", force=(Signal.function(lambda t: force * np.cos(t), 0.0, end), 0.0, 0.0))
    return b.build()


def test_signals_of_each_case():
    """A function may give cases signals of their own, which may end too early, and runs may begin later than the state."""
    cases = {"end": [2.0, 2.0, 0.2, 2.0], "force": [1.0, 2.0, 1.0, 1.0]}
    settings = dict(t_start=0.3, rtol=1e-10, atol=1e-10)
    many = runtime.simulate_many(pendulum, cases, 0.7, **settings)
    assert many.status.tolist() == [Status.REACHED_END, Status.REACHED_END, Status.REFUSED, Status.REACHED_END]
    for case in (0, 1, 3):
        run = runtime.simulate(pendulum(2.0, cases["force"][case]), 0.7, t_eval=[0.7], **settings)
        assert np.abs(many.r["rod"][case] - run.r["rod"]).max() < 1e-9


def test_values_that_break_a_rule_end_their_cases_alone():
    many = runtime.simulate_many(foot(), {"stiffness.spring": [8.0, -1.0, np.float64(7.0)]}, 0.5, **SETTINGS)
    assert many.status.tolist() == [Status.REACHED_END, Status.REFUSED, Status.REACHED_END]
    assert "stiffness" in many.messages[1]


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
    system, name = (lambda damping: foot(damping), "damping") if built else (foot(), "damping.toe")
    many = runtime.simulate_many(system, {name: [0.1, 500.0]}, 0.5, rtol=1e-6, atol=1e-6)
    assert many.success and many.in_batch.all() and sorted(many.messages) == [0, 1]
    assert all("the energy balance is off by" in text for text in many.messages.values())
    assert "bounded by stability" in many.messages[1] and "stability" not in many.messages[0]


def test_the_stiff_method_is_not_replaced():
    settings = dict(method="auto", rtol=1e-6, atol=1e-6)
    many = runtime.simulate_many(foot(), {"damping.toe": [500.0]}, 0.5, **settings)
    run = runtime.simulate(runtime.with_parameters(foot(), {"damping.toe": 500.0}, check_units=False), 0.5, **settings)
    assert len(run.stats.parts) > 1 and many.steps[0] == run.stats.steps


def test_rates_within_stiff_steps(in_lanes):
    times = dict(t_eval=np.linspace(0.0, 0.05, 21))
    system, cases = foot(damping=20.0, stiffness=200.0), {"damping.spring": [20.0, 19.0]}
    many = runtime.simulate_many(system, cases, 0.05, workers=1, rtol=1e-6, atol=1e-6, **times)
    exact = runtime.simulate(system, 0.05, rtol=1e-12, atol=1e-12, coordinates="absolute", **times)
    single = runtime.simulate(system, 0.05, rtol=1e-6, atol=1e-6, coordinates="joint", **times)
    own, wanted = (
        np.abs(r - exact.omega["main_foot"]).max() for r in (many.omega["main_foot"][0], single.omega["main_foot"])
    )
    assert many.in_batch.all() and own < 2.0 * wanted + 1e-9
