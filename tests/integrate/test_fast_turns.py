"""Runs in joint coordinates whose bodies pass close to the axis of a turn, about which they have little inertia there."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import runtime

GRAVITY = np.array([0.0, 0.0, -9.81])
LENGTH = 0.5  # [m]


def pendulum(moment=0.0):
    """A body that swings through the first axis of its gimbal, nearly."""
    b = runtime.Builder("pole", gravity=GRAVITY, axes="global")
    b.body("bob", mass=1.0, inertia=(moment,) * 3, r=(LENGTH * np.sin(0.5), 0.0, -LENGTH * np.cos(0.5)))
    b.joint("gimbal", "universal", "ground", "bob", point=(0, 0, 0), a_i=(0, 0, 1), a_j=(0, 1, 0))
    return b.build()


def started(system, spin):
    return runtime.system.displaced(system, {}, {"gimbal.theta_i": spin})


def on_a_sphere(state, t_end, t):
    """Positions and velocities of a point on a sphere, without angles."""

    def rates(_, y):
        r, v = y[:3], y[3:]
        n = r / LENGTH
        return np.concatenate([v, GRAVITY - (GRAVITY @ n) * n - (v @ v) / LENGTH * n])

    y = np.concatenate([state.r["bob"], state.v["bob"]])
    return solve_ivp(rates, (0.0, t_end), y, "DOP853", rtol=1e-13, atol=1e-14, t_eval=t).y.T


@pytest.mark.parametrize(("spin", "tolerance"), [(1e-4, 1e-4), (1e-4, 1e-5), (1e-3, 1e-6), (1e-2, 1e-8)])
def test_energy_and_motion_are_accurate_beside_the_pole(spin, tolerance):
    """With errors of angles alone, the energy was off by 1.1, 4, 0.8 and 0.8 tolerances."""
    system, t = pendulum(), np.linspace(0.0, 3.0, 31)
    start = started(system, spin)
    how = {"initial": start, "rtol": tolerance, "atol": tolerance, "coordinates": "joint"}
    steps = runtime.simulate(system, 3.0, **how)
    assert steps.success
    assert np.abs(steps.energy - steps.energy[0]).max() < 0.4 * tolerance
    assert np.abs(steps.omega["bob"]).max() > 1e3
    run = runtime.simulate(system, 3.0, t_eval=t, **how)
    wanted = on_a_sphere(start, 3.0, t)
    np.testing.assert_allclose(np.hstack([run.r["bob"], run.v["bob"]]), wanted, rtol=0, atol=3 * tolerance)


def test_a_pole_closer_than_the_accuracy_allows_is_named():
    system = pendulum()
    run = runtime.simulate(
        system, 3.0, initial=started(system, 1e-4), rtol=1e-8, atol=1e-8, coordinates="joint", t_eval=[0.0]
    )
    assert run.status == runtime.Status.SINGULAR_CONFIGURATION
    assert "joint 'gimbal' turns at" in run.message and "no body is faster than 1.1 m/s" in run.message


def test_runs_go_on_in_absolute_coordinates_where_these_pass_the_pole():
    system, t = pendulum(1e-9), [0.0, 1.0]
    how = {"initial": started(system, 1e-3), "rtol": 1e-9, "atol": 1e-9, "t_eval": t}
    assert runtime.simulate(system, 1.0, coordinates="joint", **how).status == runtime.Status.SINGULAR_CONFIGURATION
    run = runtime.simulate(system, 1.0, **how)
    assert run.success and "turned to dop853 from t = 0.36" in run.message
    wanted = runtime.simulate(system, 1.0, coordinates="absolute", **how)
    np.testing.assert_allclose(run.r["bob"], wanted.r["bob"], rtol=0, atol=1e-7)


def test_cases_side_by_side_leave_fast_turns_to_single_runs():
    system, spins = pendulum(), np.array([1.0, 0.5, 0.1, 0.02, 1e-3, 1e-5])
    how = {"rtol": 1e-6, "atol": 1e-6}
    many = runtime.simulate_many(system, {"rate.gimbal.theta_i": spins}, t_end=3.0, **how)
    for case, spin in enumerate(spins):
        run = runtime.simulate(system, 3.0, initial=started(system, spin), t_eval=[0.0, 3.0], **how)
        assert many.status[case] == run.status
        bound = 1e-6 if spin > 0.1 else 0.0
        np.testing.assert_allclose(
            many.r["bob"][case, -1], run.r["bob"][-1] if run.success else np.nan, rtol=0, atol=bound
        )
