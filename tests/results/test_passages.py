"""Accelerations and reactions close to singular poses of closed loops, against closed forms."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from benchmarks.random.compare import set_going
from benchmarks.random.model import system_of
from benchmarks.random.question import CLASSES
from benchmarks.random.second import Second
from runtime import Builder, Status, simulate
from tests.support.refusals import assert_refused

GRAVITY = 9.81
MOMENT = 1 / 12  # [kg m^2] of a crank about its centre
AWAY = np.array([0.0, 1e-9, -1e-7, 1e-5, -1e-4, 1e-3, -3e-3, 1e-2, -2e-2])  # [s] from a singular pose


def linkage(loops, rate):
    """Upright cranks of length 1 m and mass 1 kg in a row, joined by bars: they all turn by the same angle."""
    b, z = Builder("cranks", gravity=(0, -GRAVITY, 0)), (0, 0, 1)
    upright = (np.cos(np.pi / 4), 0, 0, np.sin(np.pi / 4))
    for i in range(loops + 1):
        v = (rate / 2, 0, 0)
        b.body(f"c{i}", mass=1, inertia=(1e-3, MOMENT, MOMENT), r=(i, 0.5, 0), p=upright, v=v, omega=(0, 0, -rate))
        b.joint(f"A{i}", "revolute", "ground", f"c{i}", s_i=(i, 0, 0), s_j=(-0.5, 0, 0), a_i=z, a_j=z)
    for i in range(loops):
        b.body(f"b{i}", mass=1, inertia=(1e-3, MOMENT, MOMENT), r=(i + 0.5, 1, 0), v=(rate, 0, 0))
        b.joint(f"L{i}", "revolute", f"c{i}", f"b{i}", s_i=(0.5, 0, 0), s_j=(-0.5, 0, 0), a_i=z, a_j=z)
        b.joint(f"R{i}", "revolute", f"b{i}", f"c{i + 1}", s_i=(0.5, 0, 0), s_j=(0.5, 0, 0), a_i=z, a_j=z)
    return b.build()


def motion(loops, rate, t_end):
    """Angle from the vertical and its rate (a physical pendulum), and the times at which all bars lie flat."""
    k = GRAVITY * ((loops + 1) / 2 + loops) / ((loops + 1) / 3 + loops)
    run = solve_ivp(
        lambda t, y: [y[1], k * np.sin(y[0])], (0, t_end), [0, rate], method="DOP853", rtol=1e-13, atol=1e-13,
        dense_output=True, events=[lambda t, y: np.cos(y[0])],
    )  # fmt: skip
    return run.sol, k, run.t_events[0]


def force_on_outer_crank(angle, rate, k):
    """Component along the base of the force of a bar on the first crank: its moment balance about the hinge on the ground."""
    sin, cos, turning = np.sin(angle), np.cos(angle), k * np.sin(angle)
    down = 0.5 * (GRAVITY - turning * sin - rate**2 * cos)  # half of the bar's weight and inertia
    return ((MOMENT + 0.25) * turning - 0.5 * GRAVITY * sin - down * sin) / cos


RADAU = {1.0: pytest.mark.slow, 1.032: pytest.mark.nightly, 1.056: pytest.mark.nightly, 1.092: pytest.mark.slow}


@pytest.mark.parametrize(
    ("method", "speed"),
    [("dop853", 1.0), *(pytest.param("radau", speed, marks=mark) for speed, mark in RADAU.items())],
)
@pytest.mark.parametrize("loops", [1, 2])
def test_accelerations_and_reactions_close_to_singular_poses(loops, method, speed):
    """With two loops the reactions are infinite in the flat pose: the middle crank carries two bars, the outer ones carry one."""
    at, k, poses = motion(loops, speed, 3.2)
    assert len(poses) >= 3
    times = np.unique((poses[:, None] + AWAY).ravel())
    run = simulate(linkage(loops, speed), times[-1] + 0.1, t_eval=times, method=method)
    assert run.status == Status.REACHED_END
    angle, rate = at(times)
    assert_allclose(-run.omega["c0"][:, 2], rate, atol=2e-8)
    assert_allclose(-run.omega_dot["c0"][:, 2], k * np.sin(angle), atol=1e-6 * k)
    force = run.reaction("L0", on="c0").force[:, 0]
    exact, away = force_on_outer_crank(angle, rate, k), np.abs(np.cos(angle))
    for tolerance, least in ((1e-5, 1e-2), (1e-4, 1e-4), (1e-2, 1e-6)):
        chosen = away > least
        assert_allclose(force[chosen], exact[chosen], rtol=tolerance, atol=tolerance * GRAVITY)
    if loops == 1:
        assert np.abs(force).max() < 50 * GRAVITY
    else:
        assert np.abs(force[away < 1e-7]).min() > 1e5 * GRAVITY


def test_a_passage_is_kept_where_a_result_is_close_to_the_pose_and_pickled_with_its_states():
    poses = motion(1, 1.0, 3.0)[2]
    system = linkage(1, 1.0)
    run = simulate(system, 3.0, t_eval=[poses[0], 3.0])
    assert [p.t[0] < poses[0] < p.t[-1] for p in run.singular_passages][:1] == [True]
    again = pickle.loads(pickle.dumps(run))
    assert_allclose(again.omega_dot["c0"], run.omega_dot["c0"], rtol=0, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 17])
def test_accelerations_of_a_run_that_failed_close_to_a_pose_are_right_or_refused(seed):
    """Four-bars that come closer to a singular pose than the tolerance resolves, against the second method."""
    name = "near_change_point"
    rng = np.random.default_rng([seed, *name.encode()])
    m = CLASSES[name](rng)
    second = Second(m)
    second.freedoms()
    set_going(m, rng, second)
    system = system_of(m, name)

    def run(times):
        failed = simulate(system, m.t_end, t_eval=times, method=m.method, rtol=m.rtol, atol=m.rtol)
        assert failed.status == Status.SINGULAR_CONFIGURATION
        return failed

    end = run(None).t[-1]
    assert_refused("the run failed too close to a singular one", lambda: run([0.0, end]).v_dot)
    ahead = run(np.linspace(0.0, 0.9 * end, 20))
    scale = np.tile([m.size] * 3 + [1.0] * 4 + [10 * m.size / end] * 3 + [10 / end] * 3, second.n)
    states = second.motion(ahead.t, 1e-13, scale)
    exact = np.array([second.derivative(t, y).reshape(-1, 13) for t, y in zip(ahead.t, states, strict=True)])
    for k, body in enumerate(m.bodies):
        assert_allclose(ahead.v_dot[body], exact[:, k, 7:10], atol=1e-7 * np.abs(exact[:, :, 7:10]).max())
        assert_allclose(ahead.omega_dot[body], exact[:, k, 10:], atol=1e-7 * np.abs(exact[:, :, 10:]).max())
