"""Cases whose systems a function builds: checked and run at once, as if each were built alone."""

import pickle

import numpy as np
import pytest

import models
import runtime
from runtime.ensemble import built_at_once, chunk
from runtime.system import built_cases
from runtime.system.deferred import Deferred, deferring
from tests.support.ensembles import equal, once_and_each

COUNT = 60
SETTINGS = dict(t_eval=np.linspace(0.0, 0.3, 3), rtol=1e-9, atol=1e-9, workers=1)


@pytest.fixture
def both(monkeypatch):
    return once_and_each(monkeypatch, 0.3, SETTINGS)


def feet(seed):
    """Feet of both kinds, many of which are refused: axes, sizes, ranges of motion and lengths beyond their bounds."""
    random = np.random.default_rng(seed)

    def chosen(*values):
        return [values[k] for k in random.integers(len(values), size=COUNT)]

    limits = chosen(None, "elastic", "dissipative", "dissipative")
    return {
        "ankle": chosen("modified", "modified", "classical"),
        "limits": limits,
        "side": chosen("left", "right"),
        "subtalar_inclination_deg": random.uniform(18.0, 70.0, COUNT),
        "talocrural_deviation_deg": random.uniform(-10.0, 22.0, COUNT),
        "mass": random.uniform(4.0, 310.0, COUNT),
        "height": random.uniform(0.48, 2.52, COUNT),
        "dorsiflexion_deg": [None if limit is None else float(random.uniform(-1.0, 40.0)) for limit in limits],
        "check_units": chosen(True, True, True, False),
    }


@pytest.mark.slow
def test_feet_are_those_that_are_built_alone(both):
    once, each, done = both(models.foot.build, feet(0))
    assert equal(once, each) and done > 35 and len(once.messages) > 10


def test_a_case_does_not_depend_on_the_others():
    cases = feet(1)
    whole = runtime.simulate_many(models.foot.build, cases, 0.3, **SETTINGS)
    parts = runtime.simulate_many(models.foot.build, {k: v[::-1] for k, v in cases.items()}, 0.3, chunk=7, **SETTINGS)
    assert np.array_equal(whole.states(), parts.states()[::-1], equal_nan=True)
    assert whole.messages == {COUNT - 1 - case: text for case, text in parts.messages.items()}


@pytest.mark.slow
def test_coordinates_parameters_and_outputs(both):
    random = np.random.default_rng(2)
    cases = {
        "link_length": random.uniform(0.03, 0.05, COUNT),
        "limits": ["dissipative"] * COUNT,
        "angle.ankle.theta_i": random.uniform(-0.3, 0.3, COUNT),
        "rate.ankle.theta_j": random.uniform(-9.0, 9.0, COUNT),
        "mass.toes": random.uniform(0.1, 0.3, COUNT),
        "damping.talocrural": random.uniform(0.0, 0.5, COUNT),
    }
    outputs = ["energy", "r.toes", "max(limit_excess.talocrural)", "norm(reaction_force.ankle)"]
    once, each, done = both(models.foot.build, cases, outputs=outputs)
    assert done == COUNT and once.in_batch.all() and once.messages == each.messages == {}
    for name in outputs:
        assert once[name] == pytest.approx(each[name], rel=1e-9, abs=1e-10) and np.ptp(once[name]) > 1e-3


def tolerant(link_length):
    """A foot with another length where this one is refused."""
    try:
        return models.foot.build(link_length=link_length)
    except runtime.ModelError:
        return models.foot.build(link_length=0.04)


def heavier(link_length):
    foot = models.foot.build(link_length=link_length)
    return runtime.with_parameters(foot, {"mass.toes": 1.5 * foot.body("toes").mass})


def with_another(link_length):
    models.foot.build(link_length=link_length - 0.02)
    return models.foot.build(link_length=link_length)


def checked_afterwards(link_length):
    foot = models.foot.build(link_length=link_length)
    if link_length < 0.02:
        raise ValueError("too short")
    return foot


def pendulum(shift, gravity, loose=False):
    """A pendulum whose rod is beside its pin and is moved there, with a warning where it is far; ``loose``: beside a stone."""
    b = runtime.Builder("pendulum", gravity=(0.0, 0.0, -gravity))
    b.body("rod", r=(0.5 + shift, 0.0, 0.0), mass=1.0, inertia=(1e-3, 1 / 12, 1 / 12))
    b.joint("pin", "revolute", runtime.GROUND, "rod", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(-0.5, 0, 0), a_j=(0, 1, 0))
    if loose:
        b.body("stone", mass=1.0, inertia=(1.0, 1.0, 1.0))
    return b.build()


LENGTHS = {"link_length": np.linspace(-0.005, 0.05, 23)}  # the first two are refused, the third has no link


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "cases", "at_once"),
    [
        (tolerant, LENGTHS, 22),
        (heavier, LENGTHS, 0),
        (with_another, LENGTHS, 0),
        (checked_afterwards, LENGTHS, 13),
        (pendulum, {"shift": [0.0, 1e-17, 1e-12, 1e-5, 1e-2, 3.0] * 2, "gravity": [9.81] * 6 + [400.0] * 6}, 3),
    ],
)
@pytest.mark.filterwarnings("ignore::runtime.AssemblyWarning", "ignore::runtime.UnitWarning")
def test_functions_that_do_more_than_build(build, cases, at_once, both):
    once, each, done = both(build, cases)
    assert equal(once, each) and done == at_once and once.success == each.success


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["usual_cases", "sound_inertias", "_moved_by_rounding", "_consistent"])
def test_a_rule_that_no_case_surely_meets_leaves_the_cases_to_be_built_alone(rule, both, monkeypatch):
    own = getattr(built_cases, rule)
    monkeypatch.setattr(built_cases, rule, lambda *arguments: own(*arguments) & False)
    once, each, done = both(models.foot.build, {"link_length": np.linspace(0.03, 0.05, 8)})
    assert done == 0 and equal(once, each) and once.in_batch.all()


def test_a_deferred_system_is_built_when_it_is_used():
    with deferring() as made:
        foot = models.foot.build(limits="elastic", link_length=0.04)
        other = models.foot.build(link_length=0.04)
        mirrored = models.foot.build(limits="elastic", side="left")
    plain = models.foot.build(limits="elastic", link_length=0.04)
    assert made == [foot, other, mirrored] and type(foot) is Deferred and isinstance(foot, runtime.System)
    assert chunk.digest_of_system(foot, foot.state.y) == chunk.digest_of_system(plain, plain.state.y)
    assert type(foot) is runtime.System and repr(foot) == repr(plain) and len(foot.shapes) == len(plain.shapes)
    assert repr(pickle.loads(pickle.dumps(other))) == repr(models.foot.build(link_length=0.04))
    assert runtime.simulate(mirrored, 0.01).success and type(mirrored) is runtime.System


def test_a_deferred_system_is_refused_when_it_is_used():
    with deferring():
        loose = pendulum(0.0, 9.81, loose=True)
    for _ in range(2):
        with pytest.raises(runtime.ModelError, match="no chain of joints leads from 'stone' to the ground"):
            _ = loose.state


def test_a_deferred_system_is_asked_about_when_it_is_used():
    with deferring():
        heavy = pendulum(0.0, 400.0)
    with pytest.warns(runtime.UnitWarning, match="gravity = 400 m/s.2, but gravity is at most 300 .* is used as it is"):
        _ = heavy.state
    assert heavy.gravity.tolist() == [0.0, 0.0, -400.0]


def test_few_cases_are_built_together_by_any_number_of_workers(monkeypatch):
    together, run_group = [], built_at_once._run_group
    monkeypatch.setattr(built_at_once, "_run_group", lambda *given: together.append(len(given[2])) or run_group(*given))
    lengths = {"link_length": np.linspace(0.03, 0.05, 12)}
    many = runtime.simulate_many(models.foot.build, lengths, 0.1, **SETTINGS | {"t_eval": [0.1], "workers": 4})
    assert together == [12] and many.in_batch.all()
