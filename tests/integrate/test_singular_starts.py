"""Starts in singular poses of closed loops, against closed forms of the branches."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import models
import runtime
from benchmarks.random.closed_form import ChangePoint, Motion
from runtime import Builder, Event, ModelError, Status

CRANK, BASE = 0.3, 0.5
LENGTHS = np.array([CRANK, BASE, CRANK, BASE])
GRAVITY = np.array([0.0, -9.81])
TIMES = np.unique(np.concatenate([[0.0, 1e-9, 1e-6, 1e-4, 1e-3], np.linspace(0.0, 1.0, 41)]))


def flat(sign, rate, *, joints="hinges", speeds=1.0, more=None):
    """A parallelogram or antiparallelogram of bars in its flat pose, with velocities of one branch, and the exact motion."""
    linkage, b, z = ChangePoint(LENGTHS, sign), Builder("flat", gravity=(*GRAVITY, 0)), (0, 0, 1)
    masses, moments, centres = LENGTHS[:3], LENGTHS[:3] ** 3 / 12, np.column_stack([LENGTHS[:3] / 2, np.zeros(3)])
    exact = Motion(linkage, masses, moments, centres, GRAVITY)
    for name, bar, m, J, at in zip(
        ("crank", "coupler", "rocker"), linkage.bars(0.0), masses, moments, centres, strict=True
    ):
        x = exact.centre(bar, at)
        u, n = bar[1]
        half = np.arctan2(n.f, u.f) / 2
        b.body(
            name, mass=m, inertia=(J / 100, J, J), r=(x[0].f, x[1].f, 0), p=(np.cos(half), 0, 0, np.sin(half)),
            v=np.array([x[0].f1, x[1].f1, 0]) * rate * speeds, omega=(0, 0, rate * speeds * (u.f * n.f1 - n.f * u.f1)),
        )  # fmt: skip
    corners = {"A": ("ground", "crank", (0, 0)), "B": ("crank", "coupler", (CRANK, 0))}
    corners |= {"C": ("coupler", "rocker", (CRANK + BASE, 0)), "D": ("ground", "rocker", (BASE, 0))}
    kinds = dict.fromkeys("ABCD", "revolute") | (
        {"B": "spherical", "C": "universal"} if joints == "independent" else {}
    )
    for name, (i, j, at) in corners.items():
        if kinds[name] == "universal":
            b.joint(name, "universal", i, j, s_i=(BASE / 2, 0, 0), a_i=(0, 1, 0), s_j=(CRANK / 2, 0, 0), a_j=z)
        elif kinds[name] == "spherical":
            b.joint(name, "spherical", i, j, point=(*at, 0), axes="global")
        else:
            b.joint(name, "revolute", i, j, point=(*at, 0), axis=z, axes="global")
    if more:
        more(b)
    return b, exact


@pytest.mark.parametrize("joints", ["hinges", "independent"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_run_begins_on_the_branch_of_its_velocities(sign, joints):
    b, exact = flat(sign, 2.0, joints=joints)
    system = b.build()
    assert system.degrees_of_freedom == 1 and len(system.redundant) == (3 if joints == "hinges" else 0)
    run = runtime.simulate(system, 1.0, t_eval=TIMES)
    assert run.status == Status.REACHED_END, run.message
    q, rate = exact.solve(0.0, 2.0, TIMES).T
    acceleration = [exact.derivative(t, y)[1] for t, y in zip(TIMES, np.column_stack([q, rate]), strict=True)]
    assert_allclose(run.r["crank"][:, :2], 0.5 * CRANK * np.column_stack([np.cos(q), np.sin(q)]), atol=1e-9)
    assert_allclose(run.omega["crank"][:, 2], rate, atol=1e-7)
    assert_allclose(run.omega_dot["crank"][:, 2], acceleration, atol=1e-4)
    B, C = (np.array([[x.f for x in exact.linkage.points(angle)[k]] for angle in q]) for k in range(2))
    assert_allclose(run.r["coupler"][:, :2], (B + C) / 2, atol=1e-9)
    assert run.violation.max() < 1e-10 and np.ptp(run.energy) < 1e-8


def test_a_run_that_ends_before_the_first_step():
    b, exact = flat(1, 2.0)
    run = runtime.simulate(b.build(), 1e-3, t_eval=[0.0, 5e-4, 1e-3])
    assert run.status == Status.REACHED_END and run.t[-1] == 1e-3
    assert_allclose(run.omega["crank"][:, 2], exact.solve(0.0, 2.0, run.t)[:, 1], atol=1e-10)


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_energy_balance_and_events_of_the_first_step(method):
    def load(b):
        b.load("push", "crank", force=(0.0, 3.0, 0.0))

    b, _ = flat(1, 2.0, more=load)
    after = Event("passed", lambda t, state: state.r["crank"][1] - 1e-4)
    run = runtime.simulate(b.build(), 0.2, method=method, events=[after], t_eval=np.linspace(0, 0.2, 9))
    assert run.status == Status.REACHED_END, run.message
    work = 3.0 * run.r["crank"][:, 1]
    assert_allclose(run.energy_balance.work["push"], work, atol=1e-8)
    assert_allclose(run.energy_balance.error, 0.0, atol=1e-8)
    assert run.event_states["passed"][0].r["crank"][1] == pytest.approx(1e-4, abs=1e-12)
    assert len(run.events["passed"]) >= 1 and 0.0 < run.events["passed"][0] < 1e-3


def test_velocities_that_choose_no_branch_are_refused_with_pose_joint_and_remedy():
    pose = "initial configuration is singular, D.point_x of joint 'D' depend on other rows here but not nearby"
    beside = "start beside this pose, or with velocities of one branch of the motion"
    cases = {
        "without a velocity no branch": {"crank_speed": 0.0},
        "no smooth motion has its velocities": {"crank_speed": 2.0, "coupler_speed": 0.7},
    }
    for reason, speeds in cases.items():
        with pytest.raises(ModelError) as refused:
            models.four_bar.build(
                "revolute", crank=CRANK, coupler=BASE, rocker=CRANK, base=BASE, crank_angle=0.0, **speeds
            )
        assert pose in str(refused.value) and reason in str(refused.value) and str(refused.value).endswith(beside)


def test_a_loop_at_rest_in_its_pose_beside_a_body_that_moves_is_refused():
    def wheel(b):
        b.body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, 1), omega=(0, 0, 3))
        b.joint("axle", "revolute", "ground", "wheel", point=(0, 0, 1), axis=(0, 0, 1), axes="global")

    b, _ = flat(1, 0.0, more=wheel)
    with pytest.raises(ModelError, match="several branches of the motion share its velocities"):
        b.build()


def test_a_state_in_the_pose_is_taken_as_start_and_at_rest_ends_with_a_status():
    system = models.four_bar.build(crank=CRANK, coupler=BASE, rocker=CRANK, base=BASE, crank_angle=0.5)
    sizes = dict(crank=CRANK, coupler=BASE, rocker=CRANK, base=BASE, crank_angle=0.0)
    start = models.four_bar.build(**sizes, crank_speed=2.0, coupler_speed=0.0).state
    k = 9.81 * (CRANK + BASE) / (2 / 3 * CRANK**2 + BASE * CRANK)
    run = runtime.simulate(system, 1.0, initial=start, t_eval=[0.0, 0.5, 1.0])
    exact = solve_ivp(
        lambda t, y: [y[1], -k * np.cos(y[0])], (0, 1), [0, 2], method="DOP853", rtol=1e-13, atol=1e-13, t_eval=run.t
    )
    assert_allclose(-run.omega["crank"][:, 1], exact.y[1], atol=1e-7)
    y = start.y.copy()
    y.reshape(-1, 13)[:, 7:] = 0.0
    rest = runtime.simulate(system, 1.0, initial=runtime.State(start.names, y))
    assert rest.status == Status.SINGULAR_CONFIGURATION and "D.point_x" in rest.message


def test_a_pose_of_a_model_needs_the_speed_of_the_coupler():
    sizes = dict(crank=CRANK, coupler=BASE, rocker=CRANK, base=BASE)
    with pytest.raises(ModelError, match="give coupler_speed"):
        models.four_bar.build(**sizes, crank_angle=0.0, crank_speed=1.0)
    with pytest.raises(ModelError, match="leave it out"):
        models.four_bar.build(**sizes, crank_angle=0.5, crank_speed=1.0, coupler_speed=0.0)
