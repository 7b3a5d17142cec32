"""Long runs, repeated runs, singular configurations, interruptions, and the statistics of runs."""

import numpy as np
import pytest

import models
import runtime
from runtime import Event
from tests.support.pendulums import QUARTER, parallelogram, pendulum, turning

TIGHT = dict(rtol=1e-13, atol=1e-14)


# --- long runs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ankle", ["classical", "modified"])
def test_long_run_stays_on_its_constraints(ankle):
    run = runtime.simulate(models.foot.build(ankle), 200.0, t_eval=np.linspace(0.0, 200.0, 2001))
    assert run.success
    assert np.abs(run.energy - run.energy[0]).max() < 2e-8
    assert run.violation.max() < 1e-9
    assert run.velocity_violation.max() < 1e-8
    assert run.norm_violation.max() < 2e-15
    # The constraints do not drift: the second half is no worse than the first.
    half = len(run.t) // 2
    assert run.violation[half:].max() < 3 * run.violation[:half].max()


def test_long_run_keeps_the_time_of_a_pendulum():
    # 100 periods: the phase is off by what the energy is off.
    t_end = 400 * QUARTER
    run = runtime.simulate(pendulum(), t_end, t_eval=[t_end / 2, t_end])
    start = pendulum().state
    assert np.abs(run.r["rod"] - start.r["rod"]).max() < 1e-6
    assert np.abs(run.omega["rod"]).max() < 1e-5


def test_baumgarte_pulls_a_disturbed_state_back():
    # Phi'' = -2 alpha Phi' - beta^2 Phi for each row: critically damped where alpha = beta.
    system = models.pendulum.build(angle=0.0, gravity=(0, 0, 0))
    offset = 8e-7
    initial = system.state.replace(r={"rod": system.state.r["rod"] + [0.0, offset, 0.0]})
    t = np.linspace(0.0, 2.0, 21)
    run = runtime.simulate(system, 2.0, t_eval=t, initial=initial, alpha=5.0, beta=5.0, rtol=1e-12, atol=1e-15)
    assert run.Phi["pivot"][:, 1] == pytest.approx(offset * (1 + 5 * t) * np.exp(-5 * t), abs=1e-12)
    run = runtime.simulate(system, 2.0, t_eval=t, initial=initial, alpha=1.0, beta=3.0, rtol=1e-12, atol=1e-15)
    w = np.sqrt(8.0)
    assert run.Phi["pivot"][:, 1] == pytest.approx(offset * np.exp(-t) * (np.cos(w * t) + np.sin(w * t) / w), abs=1e-12)
    run = runtime.simulate(system, 2.0, t_eval=t, initial=initial, alpha=0.0, beta=0.0, rtol=1e-12, atol=1e-15)
    assert run.Phi["pivot"][:, 1] == pytest.approx(offset, abs=1e-12)


# --- promises ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["dop853", "radau", "RK45"])
def test_start_time_is_only_a_name(method):
    system = models.foot.build()
    wanted = np.linspace(0.0, 1.0, 11)
    settings = dict(method=method, rtol=1e-10, atol=1e-10)
    a = runtime.simulate(system, 1.0, t_eval=wanted, **settings)
    b = runtime.simulate(system, 8.0, t_start=7.0, t_eval=7.0 + wanted, **settings)
    assert b.t[0] == 7.0
    assert np.abs(a.states - b.states).max() < 1e-9


def test_a_run_in_two_parts():
    system = models.foot.build()
    whole = runtime.simulate(system, 1.0, **TIGHT)
    first = runtime.simulate(system, 0.4, **TIGHT)
    second = runtime.simulate(system, 1.0, t_start=0.4, initial=first.final, **TIGHT)
    assert np.abs(second.final.y - whole.final.y).max() < 1e-11


@pytest.mark.parametrize("method", runtime.integrate.METHODS)
def test_step_limits_are_kept(method):
    run = runtime.simulate(
        models.foot.build(), 0.3, method=method, rtol=1e-5, atol=1e-5, max_step=0.004, first_step=0.001
    )
    assert np.diff(run.t).max() <= 0.004 * (1 + 1e-12)
    assert np.diff(run.t)[0] <= 0.001 * (1 + 1e-12)
    assert run.t[-1] == 0.3


def test_cost_is_counted():
    run = runtime.simulate(models.foot.build(), 1.0, coordinates="absolute")
    s = run.stats
    # 12 evaluations per step, 11 for a rejected one (the derivative at its end is not needed), 2 for the first step.
    assert s.evaluations == 12 * s.steps + 11 * s.rejections + 2
    in_joints = runtime.simulate(models.foot.build(), 1.0).stats  # all stages are one function
    assert in_joints.evaluations == 12 * (in_joints.steps + in_joints.rejections) + 2
    assert s.steps == len(run.t) - 1
    assert s.wall_time > 0.0


@pytest.mark.parametrize("joints", ["independent", "revolute"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"method": "radau"}, {"events": [Event("never", lambda t, s: 1.0)]}, {"t_eval": np.linspace(0, 9, 91)}],
    ids=["dop853", "radau", "events", "stated times"],
)
def test_singular_poses_are_passed_on_the_smooth_branch(settings, joints):
    speed, system = 2.0, parallelogram(1.0, joints)
    run = runtime.simulate(system, 9.0, initial=turning(system, 1.0, speed), **settings)
    assert run.success and run.message == "reached t = 9 s"
    angle = (
        1.0 + speed * run.t
    )  # without gravity the crank of a parallelogram turns uniformly, here almost three times round
    assert np.abs(run.r["crank"] - 0.15 * np.stack([np.cos(angle), 0 * angle, np.sin(angle)], 1)).max() < 1e-7
    assert np.ptp(run.energy) < 1e-9
    assert run.violation.max() < 1e-10 and run.velocity_violation.max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("joints", ["independent", "revolute"])
def test_singular_poses_cost_no_digits_wherever_steps_end(joints):
    """Rounding decides where steps end, and with it whether a stage lies close to a pose."""
    for speed in 2.0 * (1.0 + np.linspace(-1e-6, 1e-6, 40)):
        system = parallelogram(1.0, joints)
        assert runtime.simulate(system, 9.0, initial=turning(system, 1.0, speed)).message == "reached t = 9 s"


def test_singular_poses_are_passed_at_any_speed():
    # The coupler does not turn; the rounding of its rate is that of the rate of the crank.
    speed, system = 1e4, parallelogram(1.0, "revolute")
    run = runtime.simulate(system, 18.0 / speed, initial=turning(system, 1.0, speed))
    assert run.success, run.message
    angle = 1.0 + speed * run.t
    assert np.abs(run.r["crank"] - 0.15 * np.stack([np.cos(angle), 0 * angle, np.sin(angle)], 1)).max() < 1e-7


def test_a_redundant_loop_moves_alike_in_any_unit_of_mass_and_time():
    def motion(density, speed):
        system = models.four_bar.build(
            "revolute", density=density, crank_speed=speed, gravity=(0, 0, 0), check_units=False
        )
        return runtime.simulate(system, 10.0 / speed, rtol=1e-9, atol=1e-9, t_eval=np.linspace(0.0, 10.0, 21) / speed)

    usual, heavy = motion(2.0, 10.0), motion(2e6, 5000.0)
    assert usual.success and heavy.success, heavy.message
    assert np.abs(usual.p["rocker"] - heavy.p["rocker"]).max() < 1e-6


def test_velocities_of_fewer_digits_than_the_tolerance_are_projected_at_the_start():
    system = models.four_bar.build("revolute", crank_speed=20.0)
    given = system.state.omega["rocker"]
    rounded = system.state.replace(omega={"rocker": given * (1.0 + 1e-9)})
    settings = dict(rtol=1e-11, atol=1e-11, t_eval=np.linspace(0.0, 0.5, 101))
    exact, run = (runtime.simulate(system, 0.5, initial=y, **settings) for y in (system.state, rounded))
    assert run.success, run.message
    assert np.abs(run.r["coupler"] - exact.r["coupler"]).max() < 1e-9


def test_a_method_without_projection_ends_at_a_singular_pose():
    speed, system = 2.0, parallelogram(1.0)
    flat = (np.pi - 1.0) / speed
    run = runtime.simulate(system, 2 * flat, initial=turning(system, 1.0, speed), method="RK45")
    assert not run.success and run.status < 0
    assert "only 'dop853' and 'radau' without alpha and beta pass singular poses" in run.message
    assert 0.98 * flat < float(run.message.split("t = ")[1].split(" s")[0]) < flat
    row = run.message.split("row ")[1].split()[0]
    joint, _, name = row.partition(".")
    assert name in system.joint(joint).rows
    # What came before is there: the crank has turned uniformly.
    assert len(run.t) > 5 and run.t[-1] <= flat
    angle = 1.0 + speed * run.t
    assert np.abs(run.r["crank"] - 0.15 * np.stack([np.cos(angle), 0 * angle, np.sin(angle)], 1)).max() < 1e-7
    assert np.ptp(run.energy) < 1e-9


@pytest.mark.parametrize(
    "settings",
    [{}, {"method": "RK45"}, {"t_eval": np.linspace(0, 50, 5001)}],
    ids=["compiled", "scipy", "stated times"],
)
def test_interruption_keeps_what_was_computed(settings):
    calls = []

    def progress(t, t_end):
        calls.append(t)
        assert t_end == 50.0
        if t > 0.2:
            raise KeyboardInterrupt

    run = runtime.simulate(models.foot.build(), 50.0, progress=progress, **settings)
    assert (run.success, run.status) == (False, 2)
    assert run.message.startswith("the run was interrupted at t = ") and run.message.endswith(" s; start it again")
    assert calls[-1] > 0.2
    assert 0 < len(run.t)
    assert run.t[-1] <= calls[-1] < 50.0
    exact = runtime.simulate(models.foot.build(), run.t[-1], t_eval=run.t, **TIGHT)
    assert np.abs(run.states - exact.states).max() < 1e-6


@pytest.mark.parametrize("method", ["dop853", "radau", "RK45"])
def test_interruption_before_the_first_stated_time(method):
    def progress(t, t_end):
        raise KeyboardInterrupt

    run = runtime.simulate(models.foot.build(), 50.0, progress=progress, t_eval=[49.0], method=method)
    assert (run.success, run.status) == (False, 2)
    assert run.t.shape == (0,)
    assert run.r["toes"].shape == (0, 3)
    assert np.isfinite(run.final.y).all()


def test_progress_is_reported():
    reports = []
    runtime.simulate(models.foot.build(), 5.0, progress=lambda t, t_end: reports.append((t, t_end)))
    times = [t for t, _ in reports]
    assert len(times) > 1
    assert times == sorted(times)
    assert reports[-1] == (5.0, 5.0)


def test_a_run_that_is_close_to_a_singular_configuration_from_its_start_says_so():
    """Two hinges on one axis with 1e-8 of the inertia between them."""
    b = runtime.Builder("coaxial", gravity=(0.0, 0.0, -9.81), axes="global")
    b.body("between", mass=1e-4, inertia=(1e-8, 1e-8, 1e-8))
    b.body("arm", mass=1.0, inertia=(1.0, 1.0, 1.0), r=(0.0, 0.3, 0.0))
    for name, bodies in (("inner", ("ground", "between")), ("outer", ("between", "arm"))):
        b.joint(name, "revolute", *bodies, point=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0))
    message = runtime.simulate(b.build(check_units=False), 0.1, rtol=1e-13, atol=1e-13, progress=False).message
    assert "close to a singular configuration, from the start on, " in message and "inf" not in message
