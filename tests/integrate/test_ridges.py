"""Bodies that turn right through their limits, past the line at which the nearest point of the cone changes its side.

There the moment jumps, and where the nearest point passes from one piece of the cone's curve to the next, it bends: each step
keeps one part of the curve.  References are runs of SciPy's method, which has the nearest point of all at every stage.
"""

import functools

import numpy as np
import pytest

import runtime
from models import foot
from runtime import simulate
from tests.integrate.test_limit_ends import NAMES, PLAIN, errors, spun

TIMES = np.linspace(0.0, 0.06, 7)
BOUND = 15.0  # [tolerances]
# [rad/s] of the hinges of the ankle
RATES = {
    ("classical", "anatomical"): (60.0, 80.0),
    ("modified", "published"): (12.0, -104.0),
    ("classical", "published"): (-38.0, -60.0),  # one cone of two axes
}


@functools.cache
def weak(ankle, preset):
    system = foot.build(ankle, limits="elastic", preset=preset)
    values = {"compliance": 0.6, "max_moment": 5.0}
    return runtime.with_parameters(
        system, {f"{key}.{one.name}": v for one in system.limits for key, v in values.items()}
    )


@functools.cache
def reference(ankle, preset):
    system = weak(ankle, preset)
    return simulate(
        system, TIMES[-1], t_eval=TIMES, initial=spun(system, RATES[ankle, preset]), max_step=2e-4, **PLAIN
    ).states


@pytest.mark.parametrize(
    ("method", "coordinates"), [("dop853", "joint"), ("dop853", "absolute"), ("radau", "absolute")]
)
@pytest.mark.parametrize("kind", RATES)
def test_errors_are_those_of_the_steps(kind, method, coordinates):
    """Up to 3000 tolerances where the moment jumps within a step."""
    system = weak(*kind)
    settings = dict(t_eval=TIMES, rtol=1e-8, atol=1e-8, method=method, coordinates=coordinates)
    run = simulate(system, TIMES[-1], initial=spun(system, RATES[kind]), **settings)

    assert run.success and errors(run.states, reference(*kind), 1e-8) < BOUND


def test_cases_side_by_side_are_run_alone_from_there():
    kind = "classical", "anatomical"
    settings = dict(t_eval=TIMES, rtol=1e-8, atol=1e-8)
    cases = {f"rate.{name}": [rate, 0.0] for name, rate in zip(NAMES, RATES[kind], strict=True)}
    many = runtime.simulate_many(weak(*kind), cases, TIMES[-1], **settings)
    run = simulate(weak(*kind), TIMES[-1], initial=spun(weak(*kind), RATES[kind]), **settings)
    assert np.array_equal(many.states()[0].reshape(run.states.shape), run.states)
    assert errors(run.states, reference(*kind), 1e-8) < BOUND


def test_a_ridge_shortly_before_the_end():
    """A step that is cut at a change is not made longer to end the run."""
    system, kind = weak("classical", "anatomical"), ("classical", "anatomical")
    fine = simulate(
        system, TIMES[-1], initial=spun(system, RATES[kind]), rtol=1e-11, atol=1e-11, coordinates="absolute"
    )
    excess = fine.limits["talocrural"].excess
    end = fine.t[int(np.argmax(excess))] + 2e-5
    assert 2.0 < excess.max() and end < TIMES[-1]
    settings = dict(t_eval=[end], initial=spun(system, RATES[kind]), coordinates="absolute")
    wanted = simulate(system, TIMES[-1], rtol=1e-12, atol=1e-12, **settings).states
    assert errors(simulate(system, end, rtol=1e-8, atol=1e-8, **settings).states, wanted, 1e-8) < BOUND
