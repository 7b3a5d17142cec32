"""Pulses of signals between the stages of long steps, side by side."""

import numpy as np
import pytest

import runtime
from tests.support.driven_legs import ACROSS, Y, made
from tests.support.pulses import END, hinged, random_pulses


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-6, 1e-8])
def test_no_pulse_is_passed_side_by_side(tolerance):
    cases = random_pulses(32)
    settings = dict(t_eval=[END], rtol=tolerance, atol=tolerance)
    many = runtime.simulate_many(hinged, cases, END, **settings)
    assert many.success and many.in_batch.all()
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


@pytest.mark.slow
def test_a_driver_that_comes_back_is_not_passed_side_by_side(closed_in_lanes):
    """A leg is turned and turned back while its foot meets a stop."""
    still, at = np.zeros(5), 7.66
    back = runtime.Signal.samples([0.0, at, at + 0.008, at + 0.016, END], [0.0, 0.0, 0.1, 0.0, 0.0], still, still)
    b = runtime.Builder("turned and turned back", axes="global", gravity=(0.0, 0.0, 0.0))
    b.body("leg", mass=3.0, inertia=(4e-2, 4e-2, 5e-3), r=(0.0, 0.0, -0.2))
    b.body("foot", mass=0.9, inertia=(4e-3, 4e-3, 1e-3), r=(0.0, 0.0, -0.5))
    b.joint("hip", "revolute", "ground", "leg", point=(0, 0, 0), axis=Y)
    b.joint("ankle", "revolute", "leg", "foot", point=(0, 0, -0.4), axis=Y)
    b.driver("turn", "guided_angle", "ground", "leg", **ACROSS, theta_t=back)
    stops = runtime.Cone.from_degrees((0, 90, 180, 270, 360), (1,) * 5)
    b.limit("stop", "ankle", reference="leg", xi=(-1, 0, 0), eta=Y, cone=stops, max_moment=5.0, compliance=0.1)
    system, cases = made(b.build()), {"mass.foot": np.linspace(0.8, 1.0, 16)}
    exact = runtime.simulate(system, END, t_eval=[at + 0.008, at + 0.1], rtol=1e-11, atol=1e-11, max_step=1e-3)
    assert np.abs(exact.omega["foot"][1, 1]) > 0.1
    for tolerance in (1e-4, 1e-6):
        settings = dict(t_eval=exact.t, rtol=tolerance, atol=tolerance)
        many = runtime.simulate_many(system, cases, END, **settings)
        assert many.success
        for k in (0, 15):
            one = runtime.with_parameters(system, {"mass.foot": cases["mass.foot"][k]})
            run = runtime.simulate(one, END, **settings)
            exact = runtime.simulate(one, END, t_eval=exact.t, rtol=1e-11, atol=1e-11, max_step=1e-3)
            for r in (run.r["foot"], many.r["foot"][k]):
                assert np.abs(r - exact.r["foot"]).max() < tolerance
