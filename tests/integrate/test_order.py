"""Order of convergence, dense output and tolerance of the integrators, against finer runs and scipy."""

import numpy as np
import pytest

import models
import runtime
from tests.support.pendulums import free_body, slope

TIGHT = dict(rtol=1e-13, atol=1e-14)
LOOSE = dict(rtol=1e3, atol=1e3)  # no step is ever rejected, so that first_step = max_step fixes its length


def fixed_steps(system, t_end, steps, **settings):
    h = t_end / steps
    run = runtime.simulate(system, t_end, first_step=h, max_step=h, **LOOSE, **settings)
    assert run.success
    # Rounding of the time may leave SciPy's methods one step of no length.
    assert run.stats.steps - steps in ((0, 1) if settings.get("method", "dop853") != "dop853" else (0,))
    return run


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


@pytest.mark.parametrize("method", ["dop853", "radau", "DOP853"])
@pytest.mark.parametrize("events", [[], [runtime.Event("never", lambda t, state: 1.0)]])
def test_a_run_ends_after_max_steps(method, events):
    run = runtime.simulate(models.foot.build(), 1.0, method=method, events=events, max_steps=5)
    assert run.status == runtime.Status.STEPS_USED_UP and not run.success and run.stats.steps == 5 and len(run.t) == 6
    assert run.message.startswith(f"the run reached max_steps at t = {run.t[-1]:.6g} s: max_steps = 5; raise")
    whole = runtime.simulate(models.foot.build(), 1.0, method=method, events=events)
    assert np.array_equal(whole.states[:6], run.states)
    enough = runtime.simulate(models.foot.build(), 1.0, method=method, events=events, max_steps=whole.stats.steps)
    assert enough.success


def test_one_step_is_that_of_scipy():
    # The same tableau by another program, on a constrained system.
    system, h = models.foot.build(), 0.02
    a, b = (fixed_steps(system, h, 1, method=method, coordinates="absolute").final for method in ("dop853", "DOP853"))
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


@pytest.mark.parametrize("method", [m for m in runtime.integrate.METHODS if m != "dop853"])
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


def test_the_last_state_of_a_result_is_the_final_one(foot):
    """Wherever rounding leads: Euler parameters of unit length are not normalised again."""
    system, _ = foot
    for tolerance in 1e-6 * (1.0 + np.linspace(0.0, 0.1, 30)):
        run = runtime.simulate(system, 0.2, rtol=tolerance, atol=tolerance)
        assert np.array_equal(run.states[-1], run.final.y)


@pytest.mark.parametrize("method", runtime.integrate.METHODS)
def test_stated_times_lie_on_the_same_motion_as_the_steps(foot, method):
    system, _ = foot
    settings = dict(method=method, rtol=1e-6, atol=1e-6)
    steps = runtime.simulate(system, 0.2, **settings)
    assert steps.t[0] == 0.0 and steps.t[-1] == 0.2 and (np.diff(steps.t) > 0).all()
    assert len(steps.t) == steps.stats.steps + 1 and np.array_equal(steps.states[0], system.state.y)
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
