"""Derivatives of runs in joint coordinates, against those of the equations of all bodies."""

import numpy as np
import pytest

import models
import runtime.analysis.sensitivities as module
from runtime import Builder, parameters, sensitivities, simulate
from tests.analysis.test_sensitivities_of_loops import bricard_loop, four_bar, independent, slider_crank
from tests.support.sensitivities import FORCED, difference

TIGHT = dict(rtol=1e-11, atol=1e-11)


def both(build, given, t_end, within, **how):
    """The derivatives in joint coordinates, which are those in absolute ones to a fraction of the largest."""
    t = [0.3 * t_end, t_end]
    joint = sensitivities(build, given, t_end, t_eval=t, coordinates="joint", **TIGHT, **how)
    absolute = sensitivities(build, given, t_end, t_eval=t, coordinates="absolute", **TIGHT, **how)
    assert joint.names == absolute.names
    assert np.abs(joint.states - absolute.states).max() < 1e-8
    for k, name in enumerate(joint.names):
        largest = np.abs(absolute.slopes[:, :, k]).max()
        assert largest > 0.0 and np.abs(joint.slopes[:, :, k] - absolute.slopes[:, :, k]).max() < within * largest, name
    return joint


def foot(limits, ankle="modified"):
    return models.foot.build(ankle=ankle, limits=limits) if limits else models.foot.build(ankle=ankle)


@pytest.mark.slow
@pytest.mark.parametrize("limits", [None, "elastic", "dissipative"])
@pytest.mark.parametrize("ankle", ["classical", "modified"])
def test_the_foot(ankle, limits):
    system = foot(limits, ankle)
    given = {"mass.toes": system.data.mass[1], "gravity": [0.3, 0.0, -9.81]} | (
        {"l.ankle": parameters(system)["l.ankle"]} if ankle == "modified" else {}
    )
    both(system, given, 1.0, 1e-7)


def test_what_a_function_builds():
    def build(link_length, inclination):
        return models.foot.build(link_length=link_length, subtalar_inclination_deg=inclination, limits="elastic")

    both(build, {"link_length": 0.0417, "inclination": 41.0}, 0.6, 1e-7)


@pytest.mark.slow
def test_initial_coordinates_and_velocities():
    system = foot("elastic")
    both(system, {"angle.ankle.theta_i": 0.1, "rate.ankle.theta_j": 0.4, "mass.toes": 0.3}, 0.6, 1e-7)
    both(foot(None), {"omega.main_foot": [0.1, 0.5, 0.2]}, 0.6, 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORCED)
def test_forces_loads_motors_and_drivers(name):
    both(*FORCED[name], 0.8, 1e-6)  # signals are fits


def test_a_chain_of_balls_by_recursion():
    both(lambda length: models.chain.build(4, length=length), {"length": 0.2}, 0.5, 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "given", "t_end"),
    [
        (independent, {"crank": 0.2, "coupler": 0.5, "gravity": -9.81, "speed": 2.0}, 1.0),
        (four_bar, {"crank": 0.2, "gravity": -9.81}, 1.0),
        (slider_crank, {"crank": 0.3, "mass": 1.0}, 0.8),
        (bricard_loop, {"mass": 1.0, "gravity": -9.81}, 0.5),
    ],
)
def test_closed_loops(build, given, t_end):
    both(build, given, t_end, 1e-6)


def test_against_differences_of_runs():
    def build(length):
        return models.foot.build(link_length=length, limits="elastic")

    found = sensitivities(build, {"length": 0.0417}, 1.0, coordinates="joint", **TIGHT)
    expected = difference(
        lambda h: simulate(build(0.0417 + h), 1.0, t_eval=[1.0], rtol=1e-13, atol=1e-13).states[0], 1e-4
    )
    assert np.abs(found.slopes[0, :, 0] - expected).max() < 1e-7 * np.abs(expected).max()


def test_rounding_does_not_bound_steps_for_a_small_parameter():
    """Differences along the derivative have steps of their own where those of the parameter are small."""
    steps = [sensitivities(foot("dissipative"), {"damping.talocrural": own}, 0.6).steps for own in (1e-2, 3e-4)]
    assert steps[1] < 2 * steps[0]


def test_a_parameter_that_hardly_matters_at_the_start():
    """Its step suits the motion, too: at the start alone the accelerations would be linear within much longer ones."""
    system, own = foot("dissipative"), {"l.ankle": 0.0417}
    rough, exact = (sensitivities(system, own, 1.0, rtol=t, atol=t) for t in (1e-9, 1e-12))
    assert np.abs(rough.slopes - exact.slopes).max() < 1e-6 * np.abs(exact.slopes).max()


@pytest.mark.parametrize("name", ["free_angle.spring", "stiffness.spring", "damping.spring"])
def test_parameters_much_closer_to_zero_than_their_effect(name):
    """The step of the difference follows the effect on accelerations; in proportion to the value it drowns in rounding."""
    b = Builder("pendulum")
    b.body("rod", mass=1.0, inertia=(0.02, 0.02, 0.001), r=(0.5, 0, 0))
    b.joint("pivot", "revolute", "ground", "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(-0.5, 0, 0), a_j=(0, 1, 0))
    law = {"stiffness": 3.0, "damping": 0.2, "free_angle": 0.4}
    b.force("spring", "torsional_spring", "ground", "rod", a_i=(0, 1, 0), **law | {name.partition(".")[0]: 0.0})
    system = b.build()
    near, at_zero = (sensitivities(system, {name: value}, 0.3) for value in (1e-6, 0.0))
    assert near.steps <= at_zero.steps + 5
    assert np.abs(near.slopes - at_zero.slopes).max() < 1e-5 * np.abs(at_zero.slopes).max()


def test_coordinates_of_joints_are_taken_where_a_kernel_is_present(monkeypatch):
    used = []
    taken = module.Varied
    monkeypatch.setattr(module, "Varied", lambda *args: used.append(args[2] is not None) or taken(*args))
    sensitivities(foot("elastic"), {"mass.toes": 0.3}, 0.1)
    sensitivities(foot("elastic"), {"mass.toes": 0.3}, 0.1, coordinates="absolute")
    assert used == [True, False]
