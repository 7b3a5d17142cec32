"""Ensembles in the coordinates of joints: signs, large trees, and limits beyond what a kernel knows."""

import numpy as np
import pytest

import models
import runtime
from runtime import Status
from runtime.system.trees import trees_of

FOOT = models.foot.build("modified")
TIMES = np.linspace(0.0, 0.5, 4)
SETTINGS = dict(t_eval=TIMES, coordinates="joint", rtol=1e-10, atol=1e-10)


def rates(count):
    values = np.random.default_rng(0).normal(size=(2, count))
    return dict(zip(("rate.ankle.theta_i", "rate.ankle.theta_j"), values, strict=True))


def test_euler_parameters_have_the_signs_of_the_start():
    p = FOOT.state.p["main_foot"]
    many = runtime.simulate_many(FOOT, {"p.main_foot": np.array([p, -p])}, 0.5, **SETTINGS)
    assert np.array_equal(many.p["main_foot"][0], -many.p["main_foot"][1])


def test_weights_of_large_trees_keep_cases_apart():
    """Bodies more than 1 m from an axis have stricter tolerances, whatever the other cases are."""

    def build(length):
        b = runtime.Builder("long pendulum")
        b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(length, 0, 0))
        b.joint("pivot", "revolute", "ground", "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(-length, 0, 0), a_j=(0, 1, 0))
        return b.build(check_units=False)

    lengths = np.array([0.5, 3.0, 12.0])
    many = runtime.simulate_many(build, {"length": lengths}, 0.5, **SETTINGS)
    for number, length in enumerate(lengths):
        run = runtime.simulate(build(length), 0.5, **SETTINGS)
        assert many.r["rod"][number] == pytest.approx(run.r["rod"], abs=1e-12 * length)


def test_a_case_beyond_what_the_kernel_knows_runs_alone(monkeypatch):
    """As where the nearest point of a cone leaves the plane of its hinge."""
    kind, cases = "elastic", {name: 3.0 * v for name, v in rates(12).items()}
    usual = runtime.simulate_many(models.foot.build("modified", limits=kind), cases, 0.5, **SETTINGS)
    monkeypatch.setattr("runtime.system.parts.Limit.vertices", _narrow(models.foot.build("modified", limits=kind)))
    narrow = models.foot.build("modified", limits=kind)
    assert min(min(limit.flat) for limit in trees_of(narrow).in_lanes.limits) == 0.035
    many = runtime.simulate_many(narrow, cases, 0.5, **SETTINGS)
    assert 0 < many.vectorised.sum() < 12 and (many.status == Status.REACHED_END).all() and not many.messages
    assert np.abs(many.r["toes"] - usual.r["toes"]).max() < 1e-7


def _narrow(system):
    """The vertices of its limits, nearest up to an excess of 35 mrad alone."""
    kept = {limit.name: tuple((0.035, vertex) for _, vertex in limit.vertices) for limit in system.limits}
    return property(lambda limit: kept[limit.name])
