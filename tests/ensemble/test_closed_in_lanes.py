"""Cases with closed loops and drivers side by side: as single runs, beside any others, and alone near singular poses."""

import functools

import numpy as np
import pytest

import models
import runtime
from benchmarks.ensemble_systems import driven_four_bar
from benchmarks.random import model, question
from runtime import Status
from runtime.dynamics import equations, projection
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
def loop(name):
    """A four-bar linkage of independent rows, and Bricard's linkage, one of whose rows is redundant."""
    if name == "four-bar":
        return models.four_bar.build(crank_speed=1.0)
    b, (points, axes) = runtime.Builder("Bricard", gravity=(0.0, 0.0, -9.81), axes="global"), bricard()
    for k in range(1, 6):
        b.body(f"bar_{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(points[k - 1] + points[k]) / 2)
    names = ["ground", *(f"bar_{k}" for k in range(1, 6)), "ground"]
    for k in range(6):
        b.joint(f"hinge_{k}", "revolute", names[k], names[k + 1], point=points[k - 1], axis=axes[k - 1])
    return b.build()


@pytest.mark.parametrize("name", ["stiffness.spring", "mass.foot", "gravity", "damping.tendon", "rate.ankle.angle"])
def test_a_passive_ankle_beside_drivers_as_in_absolute_coordinates(name, closed_in_lanes):
    own = np.asarray(runtime.parameters(leg()).get(name, 1.0))
    values = own * SHARE.reshape(-1, *[1] * own.ndim)
    outputs = ["r.toes", "omega.foot", "energy"]
    many = runtime.simulate_many(leg(), {name: values}, 1.0, outputs=outputs, **SETTINGS)
    assert (many.status == Status.REACHED_END).all() and not many.messages
    closed_in_lanes.undo()
    few = {name: values[::19]}
    absolute = runtime.simulate_many(leg(), few, 1.0, outputs=outputs, coordinates="absolute", **SETTINGS)
    for output, bound in zip(outputs, (1e-11, 1e-9, 1e-9), strict=True):
        assert np.abs(many[output][::19] - absolute[output]).max() < bound
    assert np.ptp(many["r.toes"][:, -1], axis=0).max() > 1e-7


def test_forces_beside_drivers_at_a_coarse_tolerance(closed_in_lanes):
    """Projections move states, outputs among them, by much more than rounding; forces are those of the projected states."""
    cases, settings = {"stiffness.spring": 40.0 * SHARE}, SETTINGS | dict(rtol=1e-5, atol=1e-5)
    many = runtime.simulate_many(leg(), cases, 1.0, **settings)
    one_by_one(closed_in_lanes)
    each = runtime.simulate_many(leg(), cases, 1.0, **settings)
    off = np.abs(many.states() - each.states()).max(axis=(0, 2, 3))
    assert np.array_equal(many.steps, each.steps) and off.max() < 2e-10 and off[-1] < 1e-12


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


def test_steps_whose_projection_moves_far_are_repeated(closed_in_lanes):
    """Knots of a signal are not seen by the estimate of the error of driven coordinates; rounding decides some of the steps."""
    system, cases = made(driven_four_bar()), {"mass.rocker": SHARE[:3]}
    many = runtime.simulate_many(system, cases, 1.0, **SETTINGS)
    one_by_one(closed_in_lanes)
    each = runtime.simulate_many(system, cases, 1.0, **SETTINGS)
    assert np.allclose(many.rejections, each.rejections, rtol=0.2) and many.rejections.min() > 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "t_end"), [("four-bar", 1.0), ("Bricard", 6.0)])
def test_loops_as_one_by_one(name, t_end, closed_in_lanes):
    """Bricard's linkage goes round: which of its rows are independent changes on the way."""
    system = loop(name)
    body, settings = system.body_names[0], SETTINGS | dict(t_eval=t_end * TIMES, rtol=1e-11, atol=1e-11)
    cases = {f"mass.{body}": SHARE, "gravity": np.outer(SHARE, (0, 0, -9.81))}
    many = runtime.simulate_many(system, cases, t_end, **settings)
    one_by_one(closed_in_lanes)
    each = runtime.simulate_many(system, cases, t_end, **settings)
    assert not many.messages and not each.messages and np.array_equal(many.steps, each.steps)
    assert np.abs(many.states() - each.states()).max() < 1e-9
    assert np.ptp(many.states()[:, -1], axis=0).max() > 1e-3


def test_outputs_between_steps_satisfy_all_rows(closed_in_lanes):
    system = loop("four-bar")
    many = runtime.simulate_many(system, {"mass.coupler": SHARE}, 1.0, t_eval=TIMES, rtol=1e-6, atol=1e-6)
    states = many.states().reshape(-1, len(system.state.y))
    worst = np.zeros((len(states), 2))
    projection.worst_of_all(0.0, states, system.data, equations.workspace_for(system.data), worst)
    assert worst[:, 0].max() < 1e-13 and worst[:, 1].max() < 1e-12


def test_velocities_of_loops(closed_in_lanes):
    system = loop("four-bar")
    cases = {
        f"{part}.{body}": SHARE[:, None] * getattr(system.state, part)[body]
        for part in ("v", "omega")
        for body in system.body_names
    }
    many = runtime.simulate_many(system, cases, 1.0, **SETTINGS)
    one_by_one(closed_in_lanes)
    each = runtime.simulate_many(system, cases, 1.0, **SETTINGS)
    assert np.abs(many.states() - each.states()).max() < 1e-11


def test_a_case_depends_on_no_other(closed_in_lanes):
    cases = {"stiffness.spring": np.linspace(0.0, 9.0, 60)}
    settings = SETTINGS | dict(rtol=1e-7, atol=1e-7)
    many = runtime.simulate_many(leg(), cases, 1.0, workers=2, chunk=17, **settings)
    some = runtime.simulate_many(leg(), {k: v[40:2:-1] for k, v in cases.items()}, 1.0, workers=1, **settings)
    assert np.array_equal(many.states()[40:2:-1], some.states())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("polygon", 6),
        ("spherical_four_bar", 5),
        ("sarrus", 4),
        ("driven_loop", 0),
        ("sprung_loop", 1),
        ("door", 12),  # no row of its loops restrains a coordinate
    ],
)
def test_random_loops_as_one_by_one(name, seed, closed_in_lanes):
    system = made(model.system_of(question.CLASSES[name](np.random.default_rng(seed)), name))
    cases = {f"mass.{system.body_names[0]}": system.data.mass[1] * SHARE[:3]}
    settings = SETTINGS | dict(t_eval=0.5 * TIMES)
    many = runtime.simulate_many(system, cases, 0.5, **settings)
    one_by_one(closed_in_lanes)
    each = runtime.simulate_many(system, cases, 0.5, **settings)
    assert np.abs(many.states() - each.states()).max() < 1e-11 * max(1.0, np.abs(each.states()).max())


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
