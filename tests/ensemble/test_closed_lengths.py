"""Cases with closed loops and drivers whose lengths, points and axes differ, side by side, as single runs."""

import numpy as np
import pytest

import models
import runtime
from benchmarks.ensemble_systems import driven_leg, slider_crank
from runtime import Status
from tests.support.driven_legs import made
from tests.support.free_steps import chain, gait
from tests.support.marks import quick_for

TIMES = np.linspace(0.0, 1.0, 5)
SETTINGS = dict(t_eval=TIMES, rtol=1e-12, atol=1e-12, assemble=True)
SHARE = np.linspace(0.98, 1.02, 5)
SYSTEMS = {
    "four-bar": models.four_bar.build,
    "hinges": lambda: models.four_bar.build("revolute", crank_speed=20.0),  # rows that depend on others; several turns
    "slider-crank": lambda: made(slider_crank()),
    "driven leg": lambda: made(driven_leg()),
    "chain": chain,
    "gait": gait,
}


CASES = [
    ("four-bar", "s_j.A"), ("four-bar", "s_j.B"), ("hinges", "s_i.C"), ("hinges", "s_j.A"), ("slider-crank", "s_j.B_sph"),
    ("driven leg", "s_j.hip"), ("chain", "l.link"), ("chain", "s_j.ball"), ("gait", "l.ankle"), ("gait", "s_j.ankle"),
]  # fmt: skip


def cases_of(system, name):
    own = np.asarray(runtime.parameters(system)[name])
    return {name: own * SHARE.reshape(-1, *[1] * own.ndim)}


def exact(system, name, k, **settings):
    """The states of a case in absolute coordinates, by a system of its own."""
    own = runtime.with_parameters(system, {key: v[k] for key, v in cases_of(system, name).items()}, check_units=False)
    start = runtime.assemble(own, own.state)
    return runtime.simulate(own, 1.0, initial=start, coordinates="absolute", **settings)


@pytest.mark.slow
@pytest.mark.parametrize("case", quick_for(CASES, CASES[::2], pytest.mark.nightly), ids=" ".join)
def test_as_single_runs(case, closed_in_lanes):
    system, name = case
    system = SYSTEMS[system]()
    many = runtime.simulate_many(system, cases_of(system, name), 1.0, **SETTINGS)
    assert (many.status == Status.REACHED_END).all()
    states = many.states().reshape(len(SHARE), len(TIMES), -1)
    assert np.abs(many[4].states - states[4]).max() < 2e-8
    if system.data.signals.knot.size == 0:
        assert np.abs(exact(system, name, 4, rtol=1e-12, atol=1e-12, t_eval=TIMES).states - states[4]).max() < 2e-8
    assert np.ptp(states[:, -1], axis=0).max() > 1e-5


def test_whole_turns_count_from_the_reference_configuration(closed_in_lanes):
    """Of the case itself, whatever pose its tree is in."""
    system = SYSTEMS["hinges"]()
    cases, settings = cases_of(system, "s_j.A"), dict(SETTINGS, rtol=1e-9, atol=1e-9)
    settings["t_eval"] = 3.0 * TIMES
    many = runtime.simulate_many(system, cases, 3.0, outputs=["angle.A.angle"], **settings)
    turned = many["angle.A.angle"]
    assert np.abs(turned[:, -1]).min() > np.pi  # where poses alone have other angles
    closed_in_lanes.undo()
    for k in (0, 4):
        own = runtime.simulate_many(system, {key: v[[k]] for key, v in cases.items()}, 3.0, **settings)[0]
        assert np.abs(own.angles["A"].values["angle"] - turned[k]).max() < 1e-6


def test_lengths_that_cannot_be_assembled_are_refused():
    system = SYSTEMS["four-bar"]()
    own = np.asarray(runtime.parameters(system)["s_j.A"])
    many = runtime.simulate_many(system, {"s_j.A": np.array([own, 50.0 * own])}, 1.0, **SETTINGS)
    assert many.status.tolist() == [Status.REACHED_END, Status.REFUSED] and "assemble" in many.messages[1]
