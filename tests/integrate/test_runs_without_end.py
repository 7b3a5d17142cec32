"""Runs whose steps are too short to reach the end: every call ends with a status, its cause and a remedy."""

import numpy as np
import pytest

import models
from runtime import Builder, Status, fit_parameters, sensitivities, simulate, simulate_many
from runtime.integrate.choices import METHODS
from runtime.integrate.step_control import FIRST_LOOK, MOST_STEPS, would_not_end
from tests.support.refusals import assert_refused

LOOSE = dict(rtol=1e-6, atol=1e-6)
FAILED = {Status.TOO_MANY_STEPS, Status.STEP_TOO_SMALL, Status.NOT_FINITE, Status.METHOD_FAILED}


def spinning(speed):
    """A free body that spins about all axes [rad/s]."""
    b = Builder("spinning")
    b.body("body", mass=1.0, inertia=(0.01, 0.02, 0.03), free=True, omega=(0.1 * speed, speed / 3.0, speed))
    return b.build(check_units=False)


@pytest.mark.parametrize("speed", [1e11, 1e20, 1e49])
@pytest.mark.parametrize("method", METHODS)
def test_a_speed_that_no_body_has(method, speed):
    run = simulate(spinning(speed), 1.0, method=method)
    assert run.status in FAILED and not run.success
    assert run.message.startswith(run.status.sentence) and run.status.remedy in run.message
    assert run.stats.steps <= 2**16 and np.isfinite(run.states).all()


@pytest.mark.parametrize("t_end", [1e10, 1e12])
@pytest.mark.parametrize("method", METHODS)
def test_an_end_that_no_run_reaches(method, t_end):
    run = simulate(spinning(10.0), t_end, method=method)
    assert run.status in FAILED and run.stats.steps <= 2**16


@pytest.mark.parametrize("method", ["RK45", "DOP853", "dop853", "auto"])
def test_a_contact_that_is_too_stiff_after_a_long_fall(method):
    """The mean of all steps is long; that of the later half is not."""
    b = Builder("ball")
    b.body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01), r=(0, 0, 2.0), free=True)
    b.contact(
        "floor", "ball", centre=(0, 0, 0), radius=0.1, law="kelvin_voigt", stiffness=1e18, exponent=1.0, damping=1e14
    )
    run = simulate(b.build(check_units=False), 1.0, method=method)
    assert run.status in FAILED
    assert 0.6 < run.t[-1] < 0.7  # the fall takes 0.622 s
    assert run.stats.steps <= 2**13


def stretched(kind, speed=0.0, gravity=(0.0, 0.0, -9.81)):
    """Three bars in line between two fixed points: the rows admit turns of the bars, but no pose nearby satisfies them."""
    b = Builder("stretched", gravity=gravity, axes="global")
    bars = ["ground", "left", "middle", "right", "ground"]
    for k, (bar, turn) in enumerate(zip(bars[1:4], (1.0, 0.0, -1.0), strict=True)):
        v = (0.0, 0.0, -speed * (1.0 - 0.5 * abs(turn)))
        b.body(bar, mass=1.0, inertia=(1e-3, 0.1, 0.1), r=(k + 0.5, 0, 0), v=v, omega=(0, speed * turn, 0))
    for k, name in enumerate("ABCD"):
        more = {"axis": (0, 1, 0)} if kind == "revolute" else {}
        b.joint(name, kind, bars[k], bars[k + 1], point=(k, 0, 0), **more)
    return b


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.0, 1.0])
@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_a_chain_that_is_stretched_to_its_full_length(kind, speed):
    system = stretched(kind, speed).build()
    ways = {"dop853": "absolute", "radau": "absolute", "auto": "joint"}
    runs = [simulate(system, 1.0, method=method, coordinates=way) for method, way in ways.items()]
    cases = simulate_many(system, {"mass.left": [1.0, 2.0]}, 1.0)
    for run in (*runs, cases[0], cases[1]):
        assert run.status is Status.SINGULAR_CONFIGURATION and run.stats.steps <= 1010
        assert "lead to no motion that satisfies them; avoid this configuration" in run.message


def test_a_stretched_chain_without_a_load_across_it_stays():
    run = simulate(stretched("revolute", gravity=(9.81, 0.0, 0.0)).build(), 1.0)
    assert run.success and np.abs(run.states - run.states[0]).max() < 1e-12


def test_a_four_bar_linkage_that_is_stretched_to_its_full_length():
    """0.3 m + 0.3 m is above 0.9 m - 0.3 m by rounding."""
    run = simulate(models.four_bar.build(crank=0.3, coupler=0.3, rocker=0.3, base=0.9, crank_angle=0.0), 1.0)
    assert run.status is Status.SINGULAR_CONFIGURATION and run.stats.steps <= 1010
    assert_refused(
        "cannot span 0.6", models.four_bar.build, crank=0.3, coupler=0.3, rocker=0.3, base=0.9 + 1e-9, crank_angle=0.0
    )


def test_cases_of_an_ensemble_that_would_not_end():
    """One by one and side by side: the others reach their end."""
    speeds = np.array([[0.0, 0.0, 1e11], [0.0, 0.1, 1.0], [1e38, 1e39, 1e40]])
    alone = simulate_many(spinning(1.0), {"omega.body": speeds}, 1.0, method="RK45", check_units=False, **LOOSE)
    assert alone.status[1] == 0 and set(alone.status[[0, 2]]) <= FAILED
    body = models.free_body.build()
    (name,) = body.body_names
    beside = simulate_many(body, {f"omega.{name}": speeds}, 1.0, check_units=False)
    assert beside.vectorised[1] and beside.status[1] == 0 and set(beside.status[[0, 2]]) <= FAILED
    assert Status.TOO_MANY_STEPS.sentence in beside.messages[0]


@pytest.mark.slow
@pytest.mark.parametrize("speed", [1e11, 1e40])
def test_derivatives_and_fits_that_would_not_end(speed):
    omega = [0.1 * speed, speed / 3.0, speed]
    assert_refused(
        ("failed at t = ", "the motion itself: the step"),
        sensitivities,
        spinning(1.0),
        {"omega.body": omega},
        1.0,
        check_units=False,
    )
    data = {"r.body": [[0, 0, 0], [0, 0, -5]]}
    assert_refused(
        "the motion itself: the step",
        fit_parameters,
        spinning(1.0),
        {"omega.body": omega},
        [0.0, 1.0],
        data,
        check_units=False,
    )


def test_runs_that_begin_with_short_steps_go_on():
    """The first steps of a run may be as short as 1e-20 of it, 1024 of them together 1e-11; later ones have more time behind."""
    rule = would_not_end.py_func
    assert not rule(FIRST_LOOK - 1, 0.0, 1e-300, 1.0)
    assert rule(FIRST_LOOK, 0.0, 1e-12, 1.0) and not rule(FIRST_LOOK, 0.0, 1e-10, 1.0)
    assert not any(rule(steps, 0.0, 1e-300, 1.0) for steps in (1025, 3000, 3 * 2**20))  # looked at after powers of 2
    steps = 2**24
    assert rule(steps, 0.0, 1.0, 1.1 * MOST_STEPS / steps) and not rule(steps, 0.0, 1.0, 0.9 * MOST_STEPS / steps)
    run = simulate(spinning(1.0), 1.0, method="RK45", first_step=1e-30, **LOOSE)
    assert run.success
