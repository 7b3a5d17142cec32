"""Cases with closed loops and drivers side by side: as single runs, and alone near singular poses."""

import functools

import numpy as np
import pytest

import runtime
from benchmarks.random import model, question
from runtime import Status
from runtime.integrate import balance_check
from tests.support.driven_legs import ACROSS, Y, driven_leg_of, made, once_with_kernel, one_by_one
from tests.support.loops import bricard

TIMES = np.linspace(0.0, 1.0, 5)
SETTINGS = dict(t_eval=TIMES, rtol=1e-12, atol=1e-12)
SHARE = np.linspace(0.9, 1.1, 20)


@functools.cache
def leg():
    """A leg that is driven at the hip and at the toes; the ankle is passive, with a spring, a motor and a load."""
    b, lift = driven_leg_of(
        "driven leg with a passive ankle", lambda t: 0.4 * np.sin(3 * t), lambda t: 0.2 * np.sin(3 * t) ** 3
    )
    b.load("push", "foot", force=(lift, 0.0, 1.0))
    b.force("spring", "torsional_spring", "leg", "foot", a_i=Y, stiffness=8.0, damping=0.1, free_angle=0.1)
    b.motor("tendon", "guided_angle", "leg", "foot", **ACROSS, theta_t=lift, stiffness=2.0, damping=0.05)
    return made(b.build(project_velocities=True))


@once_with_kernel
def bricard_loop():
    """Bricard's linkage, one of whose rows is redundant."""
    b, (points, axes) = runtime.Builder("Bricard", gravity=(0.0, 0.0, -9.81), axes="global"), bricard()
    for k in range(1, 6):
        b.body(f"bar_{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(points[k - 1] + points[k]) / 2)
    names = ["ground", *(f"bar_{k}" for k in range(1, 6)), "ground"]
    for k in range(6):
        b.joint(f"hinge_{k}", "revolute", names[k], names[k + 1], point=points[k - 1], axis=axes[k - 1])
    return b.build()


def test_forces_beside_drivers_at_a_coarse_tolerance(closed_in_lanes):
    """Projections move states, outputs among them, by much more than rounding; forces are those of the projected states."""
    cases, settings = {"stiffness.spring": 40.0 * SHARE}, SETTINGS | dict(rtol=1e-5, atol=1e-5)
    many = runtime.simulate_many(leg(), cases, 1.0, **settings)
    one_by_one(closed_in_lanes)
    each = runtime.simulate_many(leg(), cases, 1.0, **settings)
    off = np.abs(many.states() - each.states()).max(axis=(0, 2, 3))
    assert np.array_equal(many.steps, each.steps) and off.max() < 1e-9


def test_angles_beyond_half_a_turn(closed_in_lanes):
    """Euler parameters have the signs of ``displaced``, as those of trees."""
    cases = {"angle.ankle.angle": [0.2, 2 * np.pi + 0.2, 0.1 - 4 * np.pi], "rate.ankle.angle": [0.0, 3.0, -3.0]}
    outputs = ["p.foot", "p.toes", "angle.ankle.angle"]
    many = runtime.simulate_many(leg(), cases, 1.0, outputs=outputs, **SETTINGS)
    one_by_one(closed_in_lanes)
    each = runtime.simulate_many(leg(), cases, 1.0, outputs=outputs, **SETTINGS)
    for name in outputs:
        assert np.abs(many[name] - each[name]).max() < 1e-9


def test_remarks_are_made_without_single_runs(closed_in_lanes):
    """A case that reached its end in its lane keeps its result, whatever its message says of stability and balance."""
    cases, settings = {"damping.tendon": [0.05, 300.0]}, SETTINGS | dict(rtol=1e-6, atol=1e-6)
    many = runtime.simulate_many(leg(), cases, 1.0, **settings)
    stiff = runtime.with_parameters(leg(), {"damping.tendon": 300.0}, check_units=False)
    run = runtime.simulate(stiff, 1.0, method="dop853", **settings)
    assert "bounded by stability" in run.message and list(many.messages) == [1]
    assert (
        many.messages[1].partition(" of ")[2] == run.message.partition(" of ")[2] and many.steps[1] == run.stats.steps
    )
    for name in ("EACH_STEP", "ROUNDING"):  # as if the tolerance explained nothing
        closed_in_lanes.setattr(balance_check, name, 0.0)
    many = runtime.simulate_many(leg(), cases, 1.0, **settings)
    assert many.success and all("the energy balance is off by" in many.messages[k] for k in (0, 1))
    assert "bounded by stability" in many.messages[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seed"), [("change_point", 2), ("driven_parallelogram", 0), ("driven_parallelogram", 6)]
)
def test_singular_poses_are_passed_alone(name, seed, monkeypatch):
    """Cases that come near a pose in which rows become dependent have the bits and messages of runs one by one."""
    mechanism = question.CLASSES[name](np.random.default_rng(seed))
    system = made(model.system_of(mechanism, name))
    cases = {f"mass.{system.body_names[0]}": system.data.mass[1] * SHARE[:3]}
    settings = dict(t_eval=mechanism.t_end * TIMES, rtol=1e-10, atol=1e-10)
    many = runtime.simulate_many(system, cases, mechanism.t_end, **settings)
    one_by_one(monkeypatch)
    each = runtime.simulate_many(system, cases, mechanism.t_end, **settings)
    assert np.array_equal(many.status, each.status) and many.messages == each.messages
    assert np.array_equal(many.states(), each.states(), equal_nan=True)


def test_rates_that_drivers_keep_are_refused():
    many = runtime.simulate_many(leg(), {"rate.hip.angle": [1.0]}, 1.0, rtol=1e-8, atol=1e-8)
    assert many.status.tolist() == [Status.REFUSED] and "row swing.angle" in many.messages[0]
