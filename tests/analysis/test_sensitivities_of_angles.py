"""Derivatives of the coordinates of joints and of their rates, against differences of runs."""

import pickle

import numpy as np
import pytest

import models
import runtime
from tests.support.sensitivities import stopped

TIGHT = dict(rtol=1e-12, atol=1e-12)
T = np.linspace(0.0, 0.6, 4)


def slopes(run_with, value, step):
    """Differences of order four of coordinates and rates, by joint and coordinate, of runs at nearby values."""
    runs = [run_with(value + place * step).angles for place in (-2, -1, 1, 2)]
    weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * step)
    return {
        (joint, part, name): sum(w * getattr(run[joint], part)[name] for w, run in zip(weights, runs, strict=True))
        for joint in runs[0] for part in ("values", "rates") for name in runs[0][joint].units
    }  # fmt: skip


def compare(found, expected, k=0, rel=1e-7):
    for (joint, part, name), value in expected.items():
        own = getattr(found.angles[joint], part)[name][:, k]
        assert np.abs(own - value).max() <= rel * max(np.abs(value).max(), 1e-3), (joint, part, name)


@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
@pytest.mark.parametrize("name", ["l.ankle", "mass.leg"])
def test_derivatives_by_parameters_of_a_system(name, coordinates):
    system = models.foot.build("modified")
    value = runtime.parameters(system)[name]
    found = runtime.sensitivities(system, {name: value}, T[-1], t_eval=T, coordinates=coordinates, **TIGHT)
    expected = slopes(
        lambda x: runtime.simulate(runtime.with_parameters(system, {name: x}), T[-1], t_eval=T, **TIGHT), value, 3e-4 * value
    )  # fmt: skip
    compare(found, expected)


def test_derivatives_beside_a_changed_length():
    """The length is given and not varied: coordinates count from the reference configuration with it."""
    system, given = models.foot.build("modified"), {"l.ankle": 0.045, "mass.leg": 2.0, "omega.leg": (0.1, 0.5, 0.2)}
    found = [
        runtime.sensitivities(
            system, given, 0.3, t_eval=[0.1, 0.3], wrt=["mass.leg", "omega.leg"], coordinates=way, **TIGHT
        )
        for way in ("joint", "absolute")
    ]
    for own, other in zip(*(one.angles.values() for one in found), strict=True):
        for name in own.units:
            assert own[name] == pytest.approx(other[name], abs=1e-9)
            assert own.rates[name] == pytest.approx(other.rates[name], abs=1e-8)


def test_derivatives_by_initial_coordinates():
    system = models.foot.build("modified")
    given = {"angle.ankle.theta_i": 0.2, "rate.ankle.theta_j": 1.0}
    found = runtime.sensitivities(system, given, T[-1], t_eval=T, **TIGHT)
    assert found.angles["ankle"].theta_i[0] == pytest.approx([1.0, 0.0], abs=1e-11)
    assert found.angles["ankle"].rates["theta_j"][0] == pytest.approx([0.0, 1.0], abs=1e-11)

    def run_with(rate):
        state = runtime.system.displaced(system, {"ankle.theta_i": 0.2}, {"ankle.theta_j": rate})
        return runtime.simulate(system, T[-1], t_eval=T, initial=state, **TIGHT)

    assert found.motion["ankle"].theta_i == pytest.approx(run_with(1.0).angles["ankle"].theta_i, abs=1e-9)
    compare(found, slopes(run_with, 1.0, 1e-3), k=1)


def test_derivatives_of_balls_and_of_built_systems():
    """A ball has a rotation vector; its turn exceeds half a turn in the run.  An argument moves the stop of a hinge."""

    def ball(speed):
        return models.pendulum.build("spherical", omega=(0.3, speed, 2.0))

    found = runtime.sensitivities(ball, {"speed": 7.0}, T[-1], t_eval=T, **TIGHT)
    compare(found, slopes(lambda x: runtime.simulate(ball(x), T[-1], t_eval=T, **TIGHT), 7.0, 2e-3))
    found = runtime.sensitivities(stopped, {"damping": 0.03}, T[-1], t_eval=T, **TIGHT)
    compare(
        found, slopes(lambda x: runtime.simulate(stopped(damping=x), T[-1], t_eval=T, **TIGHT), 0.03, 1e-4), rel=1e-5
    )


def test_derivatives_at_half_a_turn():
    """The coordinate is found between -pi and pi: next to these its values jump, its derivatives do not."""
    system = models.pendulum.build()
    found = runtime.sensitivities(system, {"angle.pivot.angle": np.pi}, 0.01, t_eval=[0.0, 0.01])
    assert found.angles["pivot"].angle[0, 0] == pytest.approx(1.0, abs=1e-10)


def test_datasets_and_pickles_have_the_coordinates():
    system = models.foot.build("modified")
    found = runtime.sensitivities(system, {"rate.ankle.theta_i": 0.5}, 0.1, t_eval=[0.0, 0.1])
    dataset, again = found.to_xarray(), pickle.loads(pickle.dumps(found))
    own = dataset.d_angle.sel(coordinate="ankle.theta_i", number="rate.ankle.theta_i")
    assert (own.values == found.angles["ankle"].theta_i[:, 0]).all()
    assert (again.angles["ankle"].theta_i == found.angles["ankle"].theta_i).all()
    with pytest.raises(runtime.ModelError, match="unknown joint with coordinates 'ankel'; did you mean 'ankle'"):
        again.angles["ankel"]
