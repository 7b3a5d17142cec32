"""The right-hand side for integrators of any maker, and its Jacobian, against reduced equations and differences."""

import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose

import models
import runtime
from runtime import ModelError
from tests.support.pendulums import parallelogram
from tests.support.reduced_foot import LINK_LENGTH, ReducedFoot
from tests.support.refusals import assert_refused
from tests.support.stiff import reduced_two_bodies, two_bodies
from tests.support.systems import LAWS, powered, slider, spun


def differences(f, t, y, h=1e-4):
    """Central differences of order 6 of f over every component of y, Euler parameters of any length included."""
    at = {k: f(t, y + k * h * np.eye(len(y))) for k in (-3, -2, -1, 1, 2, 3)}
    return ((45 * (at[1] - at[-1]) - 9 * (at[2] - at[-2]) + (at[3] - at[-3])) / (60 * h)).T


def driven():
    """A crank that a driver turns, with a rod on it."""
    b = runtime.Builder("driven", axes="global")
    b.body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0.2, 0, 0), guess=True)
    b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0.7, 0, 0), guess=True)
    b.joint("axle", "revolute", "ground", "crank", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("pin", "revolute", "crank", "rod", point=(0.4, 0, 0), axis=(0, 1, 0))
    turn = runtime.Signal.function(lambda t: np.sin(3 * t), 0.0, 1.0)
    b.driver("motion", "guided_angle", "ground", "crank", a_i=(1, 0, 0), h_i=(0, 1, 0), b_j=(1, 0, 0), theta_t=turn)
    return b.build(project_velocities=True)


def sprung():
    """Two bodies on a hinge and a universal joint, held by a taut cable."""
    b = runtime.Builder("sprung", axes="global")
    b.body("arm", mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0.5, 0, 0), omega=(0, 1.0, 0), guess=True)
    b.body("tip", mass=0.5, inertia=(0.1, 0.1, 0.1), r=(1.2, 0, 0), guess=True)
    b.joint("pivot", "revolute", "ground", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("elbow", "universal", "arm", "tip", point=(1.0, 0, 0), a_i=(0, 1, 0), a_j=(0, 0, 1))
    b.force(
        "cable",
        "cable",
        "ground",
        "tip",
        s_i=(1.5, 0, 1.0),
        s_j=(1.2, 0, 0),
        slack_length=1.0,
        stiffness=300.0,
        loss=0.1,
    )
    return b.build(project_velocities=True)


SYSTEMS = {
    "foot": models.foot.build,
    "foot with limits": lambda: models.foot.build(limits="dissipative"),
    "limits of the printed law": lambda: models.foot.build(limits="elastic", law="as_published"),
    "four_bar": models.four_bar.build,
    "redundant": lambda: models.four_bar.build("revolute"),
    "chain": lambda: models.chain.build(3),
    "motor and loads": lambda: powered("body", (0.1, 0.0, 0.2)),
    "contacts": lambda: slider("hunt_crossley", "coulomb", stiffness=1e6, exponent=1.5, loss=0.2),
    "stiff damper": two_bodies,
    "cable": sprung,
    "driver": driven,
}


def moved(f, seed=3, size=1e-3):
    return f.y0 + size * np.random.default_rng(seed).normal(size=len(f.y0))


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@pytest.mark.parametrize("name", list(SYSTEMS))
def test_the_jacobian_is_exact_on_and_off_the_constraints(name, coordinates):
    f = runtime.rhs(SYSTEMS[name](), coordinates=coordinates)
    y = moved(f)
    if "limits" in name and coordinates == "joint":  # beyond the cone
        y[:2] += 1.2
        assert max(motion.angle[0] for motion in f.run([0.0], y[None]).limits.values()) > 0.0
    exact, found = f.jacobian(0.3, y), differences(f, 0.3, y)
    assert np.abs(exact).max() > 1.0
    assert_allclose(exact, found, rtol=0, atol=2e-7 * np.abs(found).max())
    assert np.array_equal(f.jacobian(0.3, [y, f.y0]), [exact, f.jacobian(0.3, f.y0)])


def test_the_foot_in_joint_coordinates_is_that_of_reduced_equations():
    reduced = ReducedFoot(LINK_LENGTH)
    f = runtime.rhs(models.foot.build(), coordinates="joint")
    assert f.names == ("-ankle.theta_j", "-ankle.theta_i", "-ankle.theta_j_rate", "-ankle.theta_i_rate")
    assert f.units == ("rad", "rad", "rad/s", "rad/s")
    states = np.random.default_rng(0).uniform(-0.6, 0.6, (5, 4))
    for y, rates, slopes in zip(states, f(0.0, states), f.jacobian(0.0, states), strict=True):
        assert_allclose(rates, (*y[2:], *reduced.accelerations(*y)), atol=1e-11)
        by_complex_step = [reduced.accelerations(*(y + 1e-30j * e)) for e in np.eye(4)]
        assert_allclose(slopes[2:], 1e30 * np.imag(by_complex_step).T, rtol=1e-10, atol=1e-10)
        assert_allclose(slopes[:2], [[0, 0, 1, 0], [0, 0, 0, 1]], atol=1e-9)


def test_an_integrator_of_fixed_steps_that_projects_keeps_a_closed_loop_closed():
    system, h = models.four_bar.build("revolute"), 1e-3
    f = runtime.rhs(system, alpha=0.0, beta=0.0)
    y = drifting = f.y0

    def step(t, y):
        a = f(t, y)
        b = f(t + h / 2, y + h / 2 * a)
        c = f(t + h / 2, y + h / 2 * b)
        return y + h / 6 * (a + 2 * b + 2 * c + f(t + h, y + h * c))

    for n in range(300):
        y, drifting = f.project((n + 1) * h, step(n * h, y)), step(n * h, drifting)
    run = runtime.simulate(system, 0.3, t_eval=[0.3])
    own, other = (f.run([0.3], one[None]) for one in (y, drifting))
    assert own.violation[0] < 1e-13 < other.violation[0] and own.velocity_violation[0] < 1e-13
    assert np.abs(own.r["rocker"] - run.r["rocker"]).max() < 1e-9
    assert own.norm_violation[0] < 1e-15


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@pytest.mark.parametrize("name", ["redundant", "contacts", "foot with limits"])
def test_a_derivative_depends_on_time_and_state_alone(name, coordinates):
    f = runtime.rhs(SYSTEMS[name](), coordinates=coordinates)
    states = f.y0 + 0.05 * np.random.default_rng(1).normal(
        size=(40, len(f.y0))
    )  # with other rows, modes and parts of cones
    together = f(0.0, states)
    assert np.array_equal(together, [f(0.0, y) for y in states])
    assert np.array_equal(together[::-1], f(0.0, states[::-1]))
    copies = [pickle.loads(pickle.dumps(f)) for _ in states[:10]]  # without anything that an evaluation leaves
    assert np.array_equal([copy(0.0, y) for copy, y in zip(copies, states[:10], strict=True)], together[:10])
    other = copies[0]
    with ThreadPoolExecutor(4) as pool:
        assert np.array_equal(list(pool.map(lambda y: f(0.0, y), states)), together)
    assert np.array_equal(other(np.zeros(40), states), together) and other.names == f.names


def test_contacts_and_limits_act_by_the_state():
    system = slider("kelvin_voigt", "coulomb", tilt=0.0, **LAWS["kelvin_voigt"])
    f = runtime.rhs(system)
    above, away = f.y0.copy(), f.y0.copy()
    above[2] += 0.1
    away[7:10] = 0.0, 0.0, 100.0  # within the plane, but faster than its surface recovers: no force, which never pulls
    assert f(0.0, f.y0)[9] > 0.0
    for y in (above, away):
        assert_allclose(f(0.0, y)[7:10], (0.0, 0.0, -9.81), atol=1e-12)


def test_times_belong_to_cases():
    f = runtime.rhs(driven())
    y, times = np.tile(f.y0, (3, 1)), np.array([0.0, 0.3, 0.7])
    assert np.array_equal(f(times, y), [f(t, f.y0) for t in times])
    assert np.abs(np.diff(f(times, y), axis=0)).max() > 0.1
    assert f(0.0, np.zeros((0, len(f.y0)))).shape == (0, 26) and f.jacobian(0.0, np.zeros((0, 26))).shape == (0, 26, 26)


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_states_and_vectors_belong_to_each_other(coordinates):
    system = models.foot_ground.build()
    f, state = runtime.rhs(system, coordinates=coordinates), spun(system)
    y = f.vector(state)
    assert y.shape == f.y0.shape == (len(f.names),) and len(set(f.names)) == len(y) == len(f.units)
    assert_allclose(f.state(y).y, state.y, atol=1e-12)
    assert_allclose(f.vector(system.state), f.y0, atol=1e-15)


def test_couplings_have_equations_in_joint_coordinates_alone():
    b = runtime.Builder("pair", axes="global")
    for k, name in enumerate(("one", "two")):
        b.body(name, mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0.5, k, 0))
        b.joint(f"hinge_{name}", "revolute", "ground", name, point=(0, k, 0), axis=(0, 1, 0))
    b.coupling("gear", "hinge_two.angle", "hinge_one.angle", -0.5)
    system = b.build()
    f = runtime.rhs(system)
    assert f.coordinates == "joint" and f.names[0] == "hinge_one.angle"
    assert_allclose(f(0.0, f.y0)[3], -0.5 * f(0.0, f.y0)[2], atol=1e-12)
    one, two, *rates = f.project(0.0, f.y0 + 0.1)
    assert_allclose((two, rates[1]), (-0.5 * one, -0.5 * rates[0]), atol=1e-12)
    assert_refused("jacobian: system 'pair' has couplings", f.jacobian, 0.0, f.y0)
    assert_refused("leave out coordinates='absolute'", runtime.rhs, system, coordinates="absolute")


def test_what_breaks_a_rule_is_refused_in_a_sentence():
    f = runtime.rhs(driven())
    y, cases = f.y0, np.tile(f.y0, (3, 1))
    cases[1, 4] = np.nan
    for t, given, message in (
        (0.0, y[:5], r"rhs of system 'driven': y has the shape \(5,\); give \(26,\) or \(cases, 26\), as in f.names"),
        (0.0, np.ones((26, 3)), r"vectorized=True"),
        (0.0, "text", "'text'"),
        (0.0, cases, r"y\[1, 4\] = nan is not finite"),
        ([0.0, 0.1], y, "t has the shape"),
        (np.nan, y, r"t\[0\] = nan is not finite"),
        (1.5, y, "the signal 'motion.theta_t' of system 'driven' is defined from 0 to 1 s"),
    ):  # fmt: skip
        for call in (f, f.jacobian, f.project):
            assert_refused(re.compile(message), call, t, given)
    none = y.copy()
    none[3:7] = 0.0
    assert_refused("case 1: the state stopped being finite at t = 0.5 s", f, 0.5, [y, none])
    f = runtime.rhs(sprung())
    at_anchor = f.y0.copy()
    at_anchor[13:16] = 1.5, 0.0, 1.0
    for call in (f, f.jacobian):
        with pytest.raises(
            ModelError, match="case 1: .* force 'cable' .* is not finite: it is singular when the points coincide"
        ):
            call(0.0, [f.y0, at_anchor, f.y0])
    f = runtime.rhs(driven())
    assert_refused("no state nearby satisfies the rows", f.project, 0.0, y + 100.0 * np.arange(26))
    assert_refused("was not integrated", lambda: f.run([0.0], y[None]).energy_balance)
    assert_refused("alpha", runtime.rhs, driven(), alpha=-1.0)
    assert_refused("joint coordinates do not have", runtime.rhs, driven(), coordinates="joint", alpha=1.0)
    assert_refused(
        "contact 'sole_0' damps by the speed of touch-down, which a state does not contain",
        runtime.rhs,
        slider("flores", None, **LAWS["flores"]),
    )


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_a_singular_configuration_names_the_case_and_the_row(coordinates):
    system, turn = parallelogram(np.radians(60.0), "revolute"), np.radians(60.0)
    f, of_joints = runtime.rhs(system, coordinates=coordinates), runtime.rhs(system, coordinates="joint")
    assert of_joints.names[:3] == ("A.angle", "D.angle", "B.angle")
    state = of_joints.state(of_joints.y0 + (turn, turn, -turn, 0.0, 0.0, 0.0))
    flat = f.vector(state)
    assert np.ptp([state.r[name][2] for name in system.body_names]) < 1e-12
    with pytest.raises(ModelError, match=r"case 2: the constraint rows became dependent .* at t = 0 s: row \w+\."):
        f(0.0, [f.y0, f.y0, flat])
    assert_refused("the constraint rows became dependent", f.jacobian, 0.0, flat)


@pytest.mark.slow
@pytest.mark.parametrize("method, error", [("BDF", 3e-4), ("Radau", 1e-6), ("LSODA", 3e-4)])
def test_runs_with_the_exact_jacobian(method, error):
    system, t = two_bodies(), np.linspace(0.0, 0.5, 6)
    run = runtime.simulate(system, 0.5, t_eval=t, method=method, rtol=1e-7, atol=1e-7)
    found = np.concatenate([run.r["a"][:, :2], run.r["b"][:, :2]], axis=1)
    assert run.success and np.abs(found - reduced_two_bodies(t)).max() < error


def test_a_jacobian_costs_one_evaluation():
    # Differences would take 26 evaluations for each.
    run = runtime.simulate(two_bodies(), 0.5, method="BDF", rtol=1e-6, atol=1e-6)
    assert run.stats.evaluations < 8 * run.stats.steps
