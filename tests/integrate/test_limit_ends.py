"""Runs that pass the end of the law of a limit, where its moment stays at its largest value: each step keeps one part of the law.

References are runs of SciPy's method, which evaluates the law as it is at every stage, at short steps.
"""

import functools

import numpy as np
import pytest

import models
import runtime
from models import foot
from runtime import simulate
from runtime.system.displacement import displaced
from runtime.system.trees import trees_of

TIMES = np.linspace(0.0, 0.02, 5)
RATES = [(0.0, 70.0), (0.0, -80.0), (-100.0, 50.0)]  # [rad/s] of the hinges of the ankle
NAMES = ("ankle.theta_i", "ankle.theta_j")
PLAIN = dict(method="DOP853", rtol=1e-13, atol=1e-13, coordinates="absolute")


@functools.cache
def published():
    return foot.build("modified", limits="elastic", preset="published")


def spun(system, rates):
    return displaced(system, {}, dict(zip(NAMES, rates, strict=True)), check_units=False)


@functools.cache
def reference(rates):
    system = published()
    run = simulate(system, TIMES[-1], t_eval=TIMES, initial=spun(system, rates), max_step=1e-4, **PLAIN)
    limits = simulate(system, TIMES[-1], initial=spun(system, rates), max_step=1e-4).limits
    assert max(motion.excess.max() / system.limit(name).compliance for name, motion in limits.items()) > 1.02
    return run.states


def errors(states, wanted, tolerance):
    """Largest error in tolerances."""
    return (np.abs(states - wanted) / (tolerance * (1.0 + np.abs(wanted)))).max()


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8])
@pytest.mark.parametrize(
    ("method", "coordinates"), [("dop853", "joint"), ("dop853", "absolute"), ("radau", "absolute")]
)
@pytest.mark.parametrize("rates", RATES)
def test_errors_are_those_of_the_steps(rates, method, coordinates, tolerance):
    """Up to 215 tolerances where the law has a kink within a step."""
    settings = dict(t_eval=TIMES, rtol=tolerance, atol=tolerance, method=method, coordinates=coordinates)
    run = simulate(published(), TIMES[-1], initial=spun(published(), rates), **settings)
    assert run.success and errors(run.states, reference(rates), tolerance) < 12.0


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8])
def test_cases_side_by_side_take_the_steps_of_single_runs(tolerance):
    settings = dict(t_eval=TIMES, rtol=tolerance, atol=tolerance)
    cases = {f"rate.{name}": [rates[k] for rates in RATES] * 6 for k, name in enumerate(NAMES)}
    many = runtime.simulate_many(published(), cases, TIMES[-1], **settings)
    assert many.vectorised.all() and not many.messages
    for k, rates in enumerate(RATES):
        run = simulate(published(), TIMES[-1], initial=spun(published(), rates), **settings)
        states = many.states()[k].reshape(run.states.shape)
        assert many.steps[k] == run.stats.steps
        assert errors(states, reference(rates), tolerance) < 12.0
        assert np.array_equal(many.states()[k], many.states()[k + len(RATES)])


@pytest.mark.parametrize("rate", [40.0, -40.0])
def test_an_excess_that_falls_below_the_compliance_far_beyond_the_cone(rate):
    """A hinge that turns through a weak limit comes near another part of its cone: there the angle is not the excess."""
    own = runtime.parameters(published())["latitudes.talocrural"]
    wide = np.where(own < 0.1, np.deg2rad(170.0), own)  # to the sides, where the hinge does not turn
    weak = {"latitudes.talocrural": wide, "compliance.talocrural": 0.6, "max_moment.talocrural": 1.0}
    system = runtime.with_parameters(published(), weak | {"max_moment.talocalcaneal": 0.1})
    assert trees_of(system).of_joints is not None and not trees_of(system).of_joints.limits
    initial, times = spun(system, (0.0, rate)), np.linspace(0.0, 0.1, 5)
    plain = simulate(system, 0.1, t_eval=times, initial=initial, max_step=1e-3, **PLAIN)
    assert (plain.limits["talocrural"].excess < 0.6).tolist()[-2:] == [True, False]
    for coordinates in ("joint", "absolute"):
        run = simulate(system, 0.1, t_eval=times, initial=initial, rtol=1e-10, atol=1e-10, coordinates=coordinates)
        assert np.abs(run.states - plain.states).max() < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("law", ["conservative", "as_published"])
def test_a_ball_past_the_end_of_its_law(law):
    """Up to 900 tolerances where the law has a kink within a step."""
    system, times = models.pendulum.build(limits="elastic", law=law, omega=(-25.0, 20.0, 0.0)), np.linspace(0.0, 0.2, 5)
    plain = simulate(system, 0.2, t_eval=times, max_step=1e-4, **PLAIN)
    fine = simulate(system, 0.2, max_step=1e-3).limits["pivot"]
    assert fine.excess.max() > 1.5 * system.limits[0].compliance
    for tolerance in (1e-6, 1e-8):
        run = simulate(system, 0.2, t_eval=times, rtol=tolerance, atol=tolerance, method="dop853")
        assert run.success and errors(run.states, plain.states, tolerance) < 12.0
