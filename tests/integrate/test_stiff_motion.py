"""Stiff motion: cost and accuracy of the implicit method where a stiff direction turns."""

import numpy as np
import pytest

import runtime
from tests.support.stiff import reduced_two_bodies, two_bodies


@pytest.fixture(scope="module")
def turning():
    t = np.linspace(0.0, 2.0, 21)
    return two_bodies(), t, reduced_two_bodies(t)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance, error, steps", [(1e-6, 5e-4, 300), (1e-8, 5e-7, 350), (1e-10, 1e-9, 800)])
def test_radau_takes_long_steps_where_a_stiff_direction_turns(turning, tolerance, error, steps):
    # A predictor that a rejected attempt overwrites, or a verdict on the first corrections alone, rejects more than it takes.
    system, t, reference = turning
    run = runtime.simulate(system, t[-1], t_eval=t, method="radau", rtol=tolerance, atol=tolerance)
    found = np.concatenate([run.r["a"][:, :2], run.r["b"][:, :2]], axis=1)
    assert run.success and np.abs(found - reference).max() < error
    assert run.stats.steps < steps and run.stats.rejections < 0.1 * run.stats.steps
