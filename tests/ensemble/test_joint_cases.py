"""Cases that differ in lengths, points and axes of joints, prepared without a system for each."""

import dataclasses

import numpy as np
import pytest

import models
import runtime
from runtime import Status
from runtime.ensemble import chunk
from tests.support.refusals import assert_refused

COUNT = 20
TIMES = np.linspace(0.0, 0.5, 4)
SETTINGS = dict(t_eval=TIMES, rtol=1e-9, atol=1e-9, assemble=True, workers=1)


def random_cases(system, seed=0):
    """Values of masses, of the length of the ankle, and of its points and axes where no limit depends on them."""
    random, ankle = np.random.default_rng(seed), system.joint("ankle")
    cases = {"mass.main_foot": random.uniform(1.0, 1.4, COUNT), "mass.leg": random.uniform(3.0, 4.0, COUNT)}
    ends = {key: np.tile(ankle.values[key], (COUNT, 1)) for key in ("s_i", "s_j")}
    if not (system.limits and "l" in ankle.values):
        ends = {key: value + 0.005 * random.standard_normal((COUNT, 3)) for key, value in ends.items()}
        cases |= {f"{key}.ankle": value for key, value in ends.items()}
    if "l" in ankle.values:  # near the distance of its ends in the reference configuration
        r = system.reference_configuration.r
        way = r["leg"] + ends["s_j"] - r["main_foot"] - ends["s_i"]
        cases["l.ankle"] = np.linalg.norm(way, axis=1) * random.uniform(0.95, 1.1, COUNT)
    if not system.limits:
        axes = np.array(ankle.values["a_i"]) + 0.1 * random.standard_normal((COUNT, 3))
        cases["a_i.ankle"] = axes / np.linalg.norm(axes, axis=1)[:, None]
    return cases


def one_by_one(monkeypatch, *arguments, **settings):
    """The cases with a system for each."""
    with monkeypatch.context() as patch:
        patch.setattr(chunk, "run_side_by_side", lambda *_: None)
        return runtime.simulate_many(*arguments, **settings)


def without_systems(monkeypatch, *arguments, **settings):
    """The cases, none of which may need a system of its own."""
    with monkeypatch.context() as patch:
        patch.delattr(chunk, "built_case")
        return runtime.simulate_many(*arguments, **settings)


@pytest.mark.parametrize("effort", [0.3, 0.0])
def test_constant_efforts_of_motors(effort, monkeypatch):
    """An effort tau turns a wheel of inertia J by tau t^2 / 2 J, also where the system's own effort is 0."""
    b = runtime.Builder("wheels", gravity=(0, 0, 0), axes="global")
    b.body("one", mass=1.0, inertia=(0.5, 0.5, 0.5))
    b.body("two", mass=1.0, inertia=(0.2, 0.2, 0.2))
    b.joint("of_one", "revolute", "ground", "one", point=(0, 0, 0), axis=(0, 0, 1))
    b.joint("of_two", "revolute", "ground", "two", point=(0, 0, 0), axis=(0, 0, 1))
    b.motor("first", coordinate="of_one.angle", effort=effort)
    b.motor("second", coordinate="of_two.angle", effort=0.1)
    efforts = np.linspace(-2.0, 2.0, 5)
    outputs = ["angle.of_one.angle", "angle.of_two.angle", "energy"]
    many = without_systems(
        monkeypatch, b.build(), {"effort.first": efforts}, 1.0, t_eval=[0.5, 1.0], outputs=outputs, rtol=1e-9, atol=1e-9
    )
    turned, other, energy = (many[name] for name in outputs)
    assert many.success and many.vectorised.all() and not many.messages
    squares = 0.5 * np.array([0.5, 1.0]) ** 2
    np.testing.assert_allclose(turned, np.outer(efforts / 0.5, squares), atol=1e-9)
    np.testing.assert_allclose(other, np.tile(0.1 / 0.2 * squares, (5, 1)), atol=1e-9)
    np.testing.assert_allclose(energy, np.outer(efforts, [1.0, 1.0]) * turned + 0.1 * other, atol=1e-8)


@pytest.mark.parametrize("limits", [None, "elastic"])
def test_start_away_from_the_reference_configuration(limits, monkeypatch):
    """Coordinates are counted from the reference configuration of each case, and its limits' angles too."""
    foot = models.foot.build("modified", limits=limits)
    start = runtime.system.displaced(foot, {"ankle.theta_i": 0.25, "ankle.theta_j": -0.1}, {"ankle.theta_j": 1.5})
    system = dataclasses.replace(foot, state=start, reference=foot.state)
    for cases in (random_cases(system), random_cases(system) | {"angle.ankle.theta_j": np.linspace(-0.2, 0.2, COUNT)}):
        once = without_systems(monkeypatch, system, cases, 0.5, **SETTINGS)
        each = one_by_one(monkeypatch, system, cases, 0.5, **SETTINGS)
        assert once.vectorised.all() and np.abs(once.states() - each.states()).max() < 1e-9


@pytest.mark.parametrize("joints", [False, True])
def test_inertias_and_gravity(joints, monkeypatch):
    system, random = models.foot.build("modified", limits="dissipative"), np.random.default_rng(2)
    cases = random_cases(system) if joints else {}
    turns = np.linalg.qr(random.standard_normal((COUNT, 3, 3)))[0]
    turned = turns @ np.diag([1.5e-3, 3.8e-3, 3.7e-3]) @ np.swapaxes(turns, 1, 2)
    cases |= {
        "inertia.main_foot": 0.5 * (turned + np.swapaxes(turned, 1, 2)),
        "inertia.toes": random.uniform(1.0e-4, 1.2e-4, (COUNT, 3)),
        "gravity": [0.0, 0.0, -9.81] + random.standard_normal((COUNT, 3)),
    }
    once = without_systems(monkeypatch, system, cases, 0.5, outputs=["energy", "r.toes"], **SETTINGS)
    each = one_by_one(monkeypatch, system, cases, 0.5, outputs=["energy", "r.toes"], **SETTINGS)
    assert once.vectorised.all() and once.messages == each.messages == {}
    for name in ("energy", "r.toes"):
        assert np.abs(once[name] - each[name]).max() < 1e-10 and np.ptp(once[name][:, -1]) > 1e-3


def test_inertias_that_no_mass_has_are_used_with_a_warning():
    """There is one warning for all cases; moments below 0 are refused."""
    system = models.foot.build("modified")
    cases = {"inertia.toes": [[1e-4, 1e-4, 1e-4], [1e-4, 1e-4, 3e-4], [-1e-4, 1e-4, 1e-4], [1e-4, 1e-4, 2e-4]]}
    with pytest.warns(
        runtime.AssemblyWarning, match=r"triangle .* body 'toes' of case 1 \(0.0003 > 0.0002\); they"
    ) as given:
        many = runtime.simulate_many(system, cases, 0.1)
    assert len(given) == 1 and many.status.tolist() == [0, 0, Status.REFUSED, 0]
    assert "none must be below 0" in many.messages[2]
    with pytest.warns(runtime.AssemblyWarning, match="triangle"):
        alone = runtime.with_parameters(system, {"inertia.toes": cases["inertia.toes"][1]})
    assert np.abs(many[1].final.y - runtime.simulate(alone, 0.1).final.y).max() < 1e-6
    assert np.abs(many[1].final.y - many[0].final.y).max() > 1e-5


def test_axes_that_leave_the_start_on_the_rows_need_no_assembly(monkeypatch):
    system = models.foot.build("modified")
    cases = {name: values for name, values in random_cases(system).items() if name.startswith(("a_i", "mass"))}
    settings = SETTINGS | {"assemble": False}
    once = without_systems(monkeypatch, system, cases, 0.5, **settings)
    each = one_by_one(monkeypatch, system, cases, 0.5, **settings)
    assert once.vectorised.all() and np.abs(once.states() - each.states()).max() < 1e-10


@pytest.mark.parametrize("case", ["length", "axis", "mass"])
def test_cases_that_break_a_rule_have_the_messages_of_their_systems(case, monkeypatch):
    system = models.foot.build("modified")
    axis = np.array(system.joint("ankle").values["a_i"])
    cases = {
        "length": {"l.ankle": [0.04, -1.0, 0.0, 0.3, 0.041, 1e-9]},
        "axis": {"a_i.ankle": [axis, 1.1 * axis, 0.0 * axis, -axis, system.joint("ankle").values["a_j"], axis]},
        "mass": {"l.ankle": [0.04, 0.041, 0.042], "mass.toes": [0.2, -1.0, 0.0]},
    }[case]
    settings = SETTINGS | {"check_units": False}
    once = runtime.simulate_many(system, cases, 0.5, **settings)
    each = one_by_one(monkeypatch, system, cases, 0.5, **settings)
    assert once.messages == each.messages and np.array_equal(once.status, each.status)
    assert 0 < once.vectorised.sum() < len(once.status) and np.array_equal(once.vectorised, each.vectorised)
    assert (once.status[once.vectorised] == Status.REACHED_END).all()


def test_a_limit_that_depends_on_an_axis_refuses_its_change():
    limited = models.foot.build("modified", limits="elastic")
    axes = np.tile(limited.joint("ankle").values["a_i"], (3, 1))
    assert_refused(
        "limit 'talocrural' depends on its a_i; give a function that builds the system",
        runtime.simulate_many,
        limited,
        {"a_i.ankle": axes, "mass.toes": [0.2, 0.21, 0.22]},
        0.1,
        assemble=True,
    )


def test_states_that_violate_changed_rows_are_refused_unless_assembled():
    system = models.foot.build("modified")
    many = runtime.simulate_many(system, {"l.ankle": [0.04, 0.041]}, 0.1)
    assert (many.status == Status.REFUSED).all() and "assemble=True" in many.messages[1]
