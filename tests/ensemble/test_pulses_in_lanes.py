"""Pulses of signals between the stages of long steps, side by side."""

import numpy as np
import pytest

import runtime
from tests.support.pulses import END, hinged, random_pulses


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-6, 1e-8])
def test_no_pulse_is_passed_side_by_side(tolerance):
    cases = random_pulses(32)
    settings = dict(t_eval=[END], rtol=tolerance, atol=tolerance)
    many = runtime.simulate_many(hinged, cases, END, **settings)
    assert many.success and many.vectorised.all()
    for k in range(0, 32, 3):
        system = hinged(*(float(values[k]) for values in cases.values()))
        alone = runtime.simulate(system, END, **settings)
        assert many.steps[k] == pytest.approx(
            alone.stats.steps, rel=0.15
        )  # rounding decides where steps meet the knots
        exact = runtime.simulate(system, END, t_eval=[END], rtol=1e-11, atol=1e-11, max_step=0.2 * cases["width"][k])
        for run in (many[k], alone):
            error = np.abs(run.omega["body"] - exact.omega["body"]).max()
            assert error < 100 * tolerance * (1.0 + np.abs(exact.omega["body"]).max())
