"""Integrators: order of convergence, dense output, events, failures, and what a run promises beside accuracy."""

import numpy as np
import pytest
from scipy.special import ellipk

import models
import runtime
from runtime import Event
from runtime.simulate import STEPS_USED_UP

g = 9.81
LOOSE = dict(rtol=1e3, atol=1e3)  # no step is ever rejected, so that first_step = max_step fixes its length
TIGHT = dict(rtol=1e-13, atol=1e-14)


def fixed_steps(system, t_end, steps, **settings):
    h = t_end / steps
    run = runtime.simulate(system, t_end, first_step=h, max_step=h, **LOOSE, **settings)
    assert run.success
    # Rounding of the time may leave SciPy's methods one step of no length.
    assert run.stats.steps - steps in ((0, 1) if settings.get("method", "dop853") != "dop853" else (0,))
    return run


def slope(h, errors):
    return np.polyfit(np.log(h), np.log(errors), 1)[0]


def free_body():
    return models.free_body.build(inertia=(0.02, 0.05, 0.06), omega=(1.0, 3.0, 0.5))


def ball_pendulum():
    return models.pendulum.build("spherical", omega=(0.3, 1.0, 2.0))


# --- order ---------------------------------------------------------------------------------------------------------


def error(system, t_end, steps, method):
    """Root mean square over all steps and states, against eight times as many steps of the compiled method."""
    run, fine = fixed_steps(system, t_end, steps, method=method), fixed_steps(system, t_end, 8 * steps)
    return np.sqrt(np.mean((run.states[: steps + 1] - fine.states[::8]) ** 2))


@pytest.mark.parametrize(
    "build, t_end, counts, band",
    [
        pytest.param(models.foot.build, 0.5, [8, 12, 16, 24, 32], 0.05, id="foot"),
        pytest.param(free_body, 1.5, [12, 16, 20, 24, 32], 0.2, id="free body"),
        pytest.param(ball_pendulum, 0.75, [8, 12, 16, 24, 32, 48], 0.3, id="spherical pendulum"),
    ],
)
def test_order_of_dop853(build, t_end, counts, band):
    errors = [error(build(), t_end, n, "dop853") for n in counts]
    assert errors[0] < 1e-5
    assert errors[-1] < 1e-10
    assert -slope(counts, errors) == pytest.approx(8.0, abs=band)


@pytest.mark.parametrize(
    "method, order, counts, band",
    [("RK23", 3, [32, 64, 128], 0.05), ("RK45", 5, [64, 96, 128], 0.2), ("DOP853", 8, [12, 16, 24, 32], 0.05)],
)
def test_order_of_scipy_methods(method, order, counts, band):
    errors = [error(models.foot.build(), 0.5, n, method) for n in counts]
    assert -slope(counts, errors) == pytest.approx(order, abs=band)


@pytest.mark.parametrize("build, band", [(models.foot.build, 0.3), (free_body, 0.3), (ball_pendulum, 0.6)])
def test_order_of_radau(build, band):
    # Error against steps as tolerances fall, at the steps and between them: where steps are fixed, Newton's method, which
    # ends within the tolerance, would hide the order.
    times = np.linspace(0.0, 2.0, 301)
    fine, errors, steps = runtime.simulate(build(), 2.0, t_eval=times, **TIGHT), [], []
    for tolerance in (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10):
        run = runtime.simulate(build(), 2.0, t_eval=times, method="radau", rtol=tolerance, atol=tolerance)
        errors.append(np.sqrt(np.mean((run.states - fine.states) ** 2)))
        steps.append(run.stats.steps)
        assert errors[-1] < 30 * tolerance
    assert -slope(steps, errors) == pytest.approx(5.0, abs=band)


def test_one_step_of_radau_is_that_of_scipy():
    # Both end Newton's method when it is near enough for their tolerances.
    system, h = models.foot.build(), 1e-3
    settings = dict(first_step=h, max_step=h, rtol=1e-9, atol=1e-9)
    a, b = (runtime.simulate(system, h, method=method, **settings) for method in ("radau", "Radau"))
    assert a.stats.steps == b.stats.steps == 1
    start = np.abs(a.final.y - system.state.y).max()
    assert start > 0.01 and np.abs(a.final.y - b.final.y).max() < 1e-11


@pytest.mark.parametrize("method", ["dop853", "radau", "DOP853"])
@pytest.mark.parametrize("events", [[], [runtime.Event("never", lambda t, state: 1.0)]])
def test_a_run_is_given_up_after_so_many_steps(method, events):
    run = runtime.simulate(models.foot.build(), 1.0, method=method, events=events, max_steps=5)
    assert run.status == STEPS_USED_UP and not run.success and run.stats.steps == 5 and len(run.t) == 6
    assert run.message.startswith(f"used up max_steps = 5 at t = {run.t[-1]:.6g} s; raise it")
    whole = runtime.simulate(models.foot.build(), 1.0, method=method, events=events)
    assert np.array_equal(whole.states[:6], run.states)
    enough = runtime.simulate(models.foot.build(), 1.0, method=method, events=events, max_steps=whole.stats.steps)
    assert enough.success


def test_one_step_is_that_of_scipy():
    # The same tableau by another program, on a constrained system.
    system, h = models.foot.build(), 0.02
    a, b = (fixed_steps(system, h, 1, method=method).final for method in ("dop853", "DOP853"))
    for name in system.body_names:
        for part in ("r", "v", "omega"):
            assert np.abs(getattr(a, part)[name] - getattr(b, part)[name]).max() < 1e-14
        p = b.p[name] / np.linalg.norm(b.p[name])
        assert np.abs(a.p[name] / np.linalg.norm(a.p[name]) - p).max() < 1e-14


def test_order_of_the_dense_output():
    # Local errors: a step is of order 8, so that its end is off by h^9; a polynomial of order 7 within it by h^8.
    system, lengths = free_body(), np.array([0.2, 0.16, 0.12, 0.1])
    places = np.array([0.3, 0.5, 0.8])
    ends, inside = [], []
    for h in lengths:
        wanted = np.append(places * h, h)
        run = fixed_steps(system, h, 1, t_eval=wanted)
        exact = np.array([runtime.simulate(system, t, **TIGHT).final.y for t in wanted])
        error = np.abs(run.states - exact).max(axis=1)
        ends.append(error[-1])
        inside.append(error[:-1])
    assert slope(lengths, ends) == pytest.approx(9.0, abs=0.4)
    for column in np.array(inside).T:
        assert slope(lengths, column) == pytest.approx(8.0, abs=0.4)


# --- tolerance -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def foot():
    system = models.foot.build()
    return system, runtime.simulate(system, 0.5, **TIGHT).final.y


@pytest.mark.parametrize("method", [m for m in runtime.METHODS if m != "dop853"])
def test_scipy_methods_reach_their_tolerance(foot, method):
    system, exact = foot
    low = {"RK23": (1e-4, 1e-6)}.get(method, (1e-5, 1e-8))
    errors = []
    for tolerance in low:
        run = runtime.simulate(system, 0.5, method=method, rtol=tolerance, atol=tolerance)
        assert run.success
        assert run.t[-1] == 0.5
        assert run.stats.method == method
        errors.append(np.abs(run.final.y - exact).max())
        assert errors[-1] < 2e3 * tolerance
    gain = np.log(errors[0] / errors[1]) / np.log(low[0] / low[1])
    assert 0.6 < gain < 1.5, errors


def test_error_of_dop853_falls_with_the_tolerance(foot):
    system, exact = foot
    tolerances = np.array([1e-4, 1e-6, 1e-8, 1e-10, 1e-12])
    errors = []
    for tolerance in tolerances:
        run = runtime.simulate(system, 0.5, rtol=tolerance, atol=tolerance)
        errors.append(np.abs(run.final.y - exact).max())
        assert errors[-1] < 1e3 * tolerance
    assert slope(tolerances, errors) == pytest.approx(1.0, abs=0.25)
    assert (np.diff(errors) < 0).all()


@pytest.mark.parametrize("method", runtime.METHODS)
def test_stated_times_lie_on_the_same_motion_as_the_steps(foot, method):
    system, _ = foot
    settings = dict(method=method, rtol=1e-6, atol=1e-6)
    steps = runtime.simulate(system, 0.2, **settings)
    assert steps.t[0] == 0.0
    assert steps.t[-1] == 0.2
    assert (np.diff(steps.t) > 0).all()
    assert len(steps.t) == steps.stats.steps + 1
    assert np.array_equal(steps.states[0], system.state.y)
    assert np.array_equal(steps.states[-1], steps.final.y)
    again = runtime.simulate(system, 0.2, t_eval=steps.t, **settings)
    assert np.array_equal(again.t, steps.t)
    for name in system.body_names:
        for part in ("r", "v", "omega"):
            assert np.abs(getattr(again, part)[name] - getattr(steps, part)[name]).max() < 1e-13
        # The same directions; their length belongs to the method.
        a, b = (run.p[name] / np.linalg.norm(run.p[name], axis=1)[:, None] for run in (again, steps))
        assert np.abs(a - b).max() < 1e-13
    some = runtime.simulate(system, 0.2, t_eval=[0.05, 0.1], **settings)
    assert np.array_equal(some.t, [0.05, 0.1])
    assert np.array_equal(some.final.y, steps.final.y)  # the run goes on to its end
    if method == "dop853":
        assert some.norm_violation.max() < 2e-15


# --- events --------------------------------------------------------------------------------------------------------

AMPLITUDE = np.radians(120.0)
LENGTH, MASS = 0.3, 3.5
INERTIA = MASS * (LENGTH**2 + 3 * (LENGTH / 30) ** 2) / 12 + MASS * LENGTH**2 / 4
QUARTER = ellipk(np.sin(AMPLITUDE / 2) ** 2) / np.sqrt(MASS * g * LENGTH / 2 / INERTIA)


def pendulum():
    return models.pendulum.build(angle=AMPLITUDE)


def side(t, state):
    return state.r["rod"][0]


@pytest.mark.parametrize("method, tolerance, off", [("dop853", 1e-13, 1e-10), ("RK45", 1e-11, 1e-9)])
def test_events_are_located(method, tolerance, off):
    events = [Event("any", side), Event("rising", side, direction=1), Event("falling", side, direction=-1)]
    run = runtime.simulate(
        pendulum(), 6.5 * QUARTER, events=events, method=method, rtol=tolerance, atol=tolerance
    )  # fmt: skip
    assert np.abs(run.events["any"] - QUARTER * np.array([1, 3, 5])).max() < off
    assert np.abs(run.events["falling"] - QUARTER * np.array([1, 5])).max() < off
    assert np.abs(run.events["rising"] - QUARTER * np.array([3])).max() < off
    for name, times in run.events.items():
        assert len(run.event_states[name]) == len(times)
        assert max(abs(state.r["rod"][0]) for state in run.event_states[name]) < 1e-12
    assert run.status == 0
    assert run.t[-1] == 6.5 * QUARTER


def test_terminal_event_stops_the_run():
    events = [Event("low", side, terminal=True), Event("late", lambda t, state: t - 2.5 * QUARTER)]
    run = runtime.simulate(pendulum(), 4 * QUARTER, events=events, rtol=1e-13, atol=1e-13)
    assert (run.success, run.status) == (True, 1)
    assert "low" in run.message
    assert run.t[-1] == run.events["low"][0] == pytest.approx(QUARTER, abs=1e-10)
    assert np.array_equal(run.final.y, run.event_states["low"][0].y)
    assert np.array_equal(run.states[-1], run.final.y)
    assert len(run.events["late"]) == 0

    wanted = np.linspace(0.0, 4 * QUARTER, 41)
    stated = runtime.simulate(pendulum(), 4 * QUARTER, events=events, t_eval=wanted, rtol=1e-13, atol=1e-13)
    assert np.array_equal(stated.t, wanted[wanted <= stated.events["low"][0]])


@pytest.mark.parametrize("method", ["dop853", "radau", "RK45"])
def test_terminal_event_before_the_first_stated_time(method):
    stop = Event("stop", lambda t, state: t - 0.05, terminal=True)
    run = runtime.simulate(pendulum(), 0.2, events=[stop], t_eval=[0.1, 0.15], method=method)
    assert run.success
    assert run.t.shape == (0,)
    assert run.r["rod"].shape == (0, 3)
    assert run.energy.shape == run.violation.shape == (0,)
    assert run.event_states["stop"][0].r["rod"].shape == (3,)


def test_terminal_event_waits_for_its_direction():
    run = runtime.simulate(
        pendulum(), 6 * QUARTER, events=[Event("back", side, direction=1, terminal=True)], rtol=1e-13, atol=1e-13
    )
    assert run.t[-1] == pytest.approx(3 * QUARTER, abs=1e-10)


def test_two_events_in_one_step():
    step = 0.08
    at = [0.3 * step, 0.7 * step, 0.71 * step]
    events = [Event(f"t{k}", lambda t, state, at=at[k]: t - at) for k in (2, 0, 1)]
    run = runtime.simulate(pendulum(), step, events=events, first_step=step, max_step=step, **LOOSE)
    assert run.stats.steps == 1
    assert [run.events[f"t{k}"] for k in range(3)] == [pytest.approx([moment], abs=1e-14) for moment in at]

    # The earlier of two terminal events stops the run, whatever their order, and takes back what came later.
    stops = [Event("b", events[2].function, terminal=True), Event("a", events[1].function, terminal=True), events[0]]
    for order in (stops, stops[::-1]):
        run = runtime.simulate(pendulum(), step, events=order, first_step=step, max_step=step, **LOOSE)
        assert run.t[-1] == pytest.approx(at[0], abs=1e-14)
        assert {name: len(times) for name, times in run.events.items()} == {"a": 1, "b": 0, "t2": 0}


def test_two_zeros_of_one_event_in_one_step():
    step = 0.08
    there_and_back = Event("pair", lambda t, state: (t - 0.3 * step) * (t - 0.6 * step))
    run = runtime.simulate(pendulum(), step, events=[there_and_back], first_step=step, max_step=step, **LOOSE)
    assert run.stats.steps == 1
    assert run.events["pair"] == pytest.approx([0.3 * step, 0.6 * step], abs=1e-14)


def test_event_at_a_stated_time():
    wanted = np.array([0.05, 0.1, 0.15])
    clock = Event("clock", lambda t, state: t - 0.1)
    run = runtime.simulate(pendulum(), 0.2, events=[clock], t_eval=wanted)
    assert np.array_equal(run.t, wanted)
    assert run.events["clock"] == pytest.approx([0.1], abs=1e-14)
    k = 1
    assert np.abs(run.event_states["clock"][0].y - run.states[k]).max() < 1e-12


def test_event_at_the_ends():
    # A zero at the start is no crossing; one at the very end is found, once.
    ends = Event("ends", lambda t, state: t * (t - 0.2))
    run = runtime.simulate(pendulum(), 0.2, events=[ends])
    assert list(run.events["ends"]) == [0.2]


def test_events_change_nothing_else():
    free, watched = (
        runtime.simulate(models.foot.build(), 1.0, events=events) for events in ([], [Event("never", lambda t, s: 1.0)])
    )
    assert np.array_equal(free.t, watched.t)
    assert np.array_equal(free.states, watched.states)
    assert list(watched.events["never"]) == []


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


@pytest.mark.parametrize("method", ["dop853", "radau", "BDF"])
def test_runs_repeat_bit_by_bit(method):
    a, b = (runtime.simulate(models.foot.build(), 0.3, method=method, rtol=1e-8, atol=1e-8) for _ in range(2))
    assert np.array_equal(a.t, b.t)
    assert np.array_equal(a.states, b.states)
    assert np.array_equal(a.lam["ankle"], b.lam["ankle"])


def test_a_run_leaves_its_system_as_it_was():
    system = models.foot.build()
    before = system.state.y.copy()
    runs = [runtime.simulate(system, 0.3, t_eval=[0.3]) for _ in range(2)]
    assert np.array_equal(system.state.y, before)
    assert np.array_equal(runs[0].states, runs[1].states)


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


def test_a_system_without_joints():
    run = runtime.simulate(free_body(), 1.0)
    assert run.success
    assert run.t[-1] == 1.0
    assert np.array_equal(run.violation, np.zeros(len(run.t)))
    assert np.ptp(run.energy) < 1e-11


@pytest.mark.parametrize("method", runtime.METHODS)
def test_step_limits_are_kept(method):
    run = runtime.simulate(
        models.foot.build(), 0.3, method=method, rtol=1e-5, atol=1e-5, max_step=0.004, first_step=0.001
    )
    assert np.diff(run.t).max() <= 0.004 * (1 + 1e-12)
    assert np.diff(run.t)[0] <= 0.001 * (1 + 1e-12)
    assert run.t[-1] == 0.3


def test_cost_is_counted():
    run = runtime.simulate(models.foot.build(), 1.0)
    s = run.stats
    # 12 evaluations per step, 11 for a rejected one (the derivative at its end is not needed), 2 for the first step.
    assert s.evaluations == 12 * s.steps + 11 * s.rejections + 2
    assert s.steps == len(run.t) - 1
    assert s.wall_time > 0.0


# --- failures ------------------------------------------------------------------------------------------------------


def parallelogram(crank_angle):
    """A four-bar of equal opposite bars: it lies flat, and may fold, at the crank angles 0 and 180 degrees."""
    return models.four_bar.build(
        crank=0.3, coupler=0.5, rocker=0.3, ground=0.5, crank_angle=crank_angle, gravity=(0, 0, 0)
    )


def turning(system, crank_angle, speed):
    tip = 0.3 * speed * np.array([-np.sin(crank_angle), 0.0, np.cos(crank_angle)])
    omega = (0.0, -speed, 0.0)
    return system.state.replace(
        v={"crank": tip / 2, "rocker": tip / 2, "coupler": tip}, omega={"crank": omega, "rocker": omega}
    )


@pytest.mark.parametrize(
    "settings",
    [{}, {"method": "RK45"}, {"events": [Event("never", lambda t, s: 1.0)]}, {"t_eval": np.linspace(0, 1, 11)}],
    ids=["compiled", "scipy", "events", "stated times"],
)
def test_singular_configuration_on_the_way(settings):
    speed, system = 2.0, parallelogram(1.0)
    flat = (np.pi - 1.0) / speed
    run = runtime.simulate(system, 2 * flat, initial=turning(system, 1.0, speed), **settings)
    assert not run.success
    assert run.status < 0
    assert f"t = {flat:.4f}" in run.message
    row = run.message.split("row ")[1].split()[0]
    joint, _, name = row.partition(".")
    assert name in system.joint(joint).rows
    # What came before is there: the crank has turned uniformly.
    assert len(run.t) > 5
    assert run.t[-1] <= flat
    angle = 1.0 + speed * run.t
    assert np.abs(run.r["crank"] - 0.15 * np.stack([np.cos(angle), 0 * angle, np.sin(angle)], 1)).max() < 1e-7
    assert np.ptp(run.energy) < 1e-9


@pytest.mark.parametrize("method", ["dop853", "radau", "RK45", "BDF"])
def test_singular_configuration_at_the_start(method):
    # The flat pose meets the constraints; `build` refuses it, but a state may be given.
    system = parallelogram(1.0)
    flat = system.state.replace(
        r={"crank": (0.15, 0, 0), "coupler": (0.55, 0, 0), "rocker": (0.65, 0, 0)},
        p={name: (1.0, 0, 0, 0) for name in system.body_names},
    )
    run = runtime.simulate(system, 1.0, initial=flat, method=method)
    assert (run.success, run.t.tolist()) == (False, [0.0])
    assert run.status < 0
    assert "t = 0 s" in run.message
    assert np.array_equal(run.final.y, flat.y)


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
    assert "interrupted" in run.message
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


def test_progress_is_told():
    told = []
    runtime.simulate(models.foot.build(), 5.0, progress=lambda t, t_end: told.append((t, t_end)))
    times = [t for t, _ in told]
    assert len(times) > 1
    assert times == sorted(times)
    assert told[-1] == (5.0, 5.0)
