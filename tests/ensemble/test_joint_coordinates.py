"""Ensembles in the coordinates of joints: side by side, as single runs, for varied starts and parameters."""

import numpy as np
import pytest

import models
import runtime
from runtime import Status
from runtime.ensemble import chunk

FOOT = models.foot.build("modified")
TIMES = np.linspace(0.0, 0.5, 4)
SETTINGS = dict(t_eval=TIMES, coordinates="joint", rtol=1e-10, atol=1e-10)


def rates(count):
    values = np.random.default_rng(0).normal(size=(2, count))
    return dict(zip(("rate.ankle.theta_i", "rate.ankle.theta_j"), values, strict=True))


def alone(system, cases, number):
    given = {name.partition(".")[2]: float(values[number]) for name, values in cases.items()}
    return runtime.simulate(system, 0.5, initial=runtime.system.displaced(system, {}, given), **SETTINGS)


def test_side_by_side_as_single_runs():
    cases = rates(40)  # more than the lanes
    many = runtime.simulate_many(FOOT, cases, 0.5, **SETTINGS)
    assert (many.status == Status.REACHED_END).all() and not many.messages
    for number in (0, 17, 39):
        run = alone(FOOT, cases, number)
        for part in ("r", "p", "v", "omega"):
            for body in FOOT.body_names:
                assert getattr(many, part)(body)[number] == pytest.approx(getattr(run, part)[body], abs=1e-10)


def test_a_case_depends_on_no_other(monkeypatch):
    cases = rates(40)
    many = runtime.simulate_many(FOOT, cases, 0.5, **SETTINGS)
    some = runtime.simulate_many(
        FOOT, {name: values[3:20] for name, values in cases.items()}, 0.5, workers=1, **SETTINGS
    )
    assert np.array_equal(many.r["toes"][3:20], some.r["toes"])

    def never(*_):
        raise AssertionError("the cases ran one by one")

    monkeypatch.setattr(chunk, "_run_alone", never)
    assert np.array_equal(runtime.simulate_many(FOOT, cases, 0.5, **SETTINGS).r["toes"], many.r["toes"])


def test_varied_lengths_and_masses():
    lengths = np.linspace(0.03, 0.06, 5)
    cases = {"l.ankle": lengths, "mass.main_foot": np.linspace(1.0, 1.4, 5)}
    joint = runtime.simulate_many(FOOT, cases, 0.5, assemble=True, **SETTINGS)
    absolute = runtime.simulate_many(
        FOOT, cases, 0.5, assemble=True, t_eval=TIMES, rtol=1e-12, atol=1e-12, coordinates="absolute"
    )
    assert (joint.status == Status.REACHED_END).all()
    assert np.abs(joint.r["toes"] - absolute.r["toes"]).max() < 1e-9
    assert np.ptp(joint.r["toes"][:, -1], axis=0).max() > 1e-3


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


def test_failures_have_the_message_of_a_single_run():
    many = runtime.simulate_many(FOOT, rates(3), 0.5, max_steps=2, **SETTINGS)
    assert (many.status == Status.STEPS_USED_UP).all()
    assert "max_steps = 2" in many.messages[0]


def test_loops_run_in_joint_coordinates():
    loop = models.four_bar.build(crank_speed=1.0)
    masses = {"mass.crank": [0.3, 0.4, 0.5]}
    many = runtime.simulate_many(loop, masses, 0.5, **SETTINGS)
    absolute = runtime.simulate_many(loop, masses, 0.5, **SETTINGS | dict(coordinates="absolute"))
    assert (many.status == Status.REACHED_END).all() and many.in_batch.all()
    assert np.abs(many.states() - absolute.states()).max() < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("kind, faster", [("elastic", 3.0), ("dissipative", 40.0)])
def test_limits_side_by_side_as_single_runs(kind, faster):
    """Every lane has its own modes; steps end where they change."""
    limited, cases = models.foot.build("modified", limits=kind), {name: faster * v for name, v in rates(40).items()}
    settings = SETTINGS | dict(t_eval=np.linspace(0.0, 0.5, 101))
    many = runtime.simulate_many(limited, cases, 0.5, **settings)
    assert many.in_batch.all() and (many.status == Status.REACHED_END).all() and not many.messages
    outside = 0
    for number in range(0, 40, 2):
        given = {name.partition(".")[2]: float(values[number]) for name, values in cases.items()}
        start = runtime.system.displaced(limited, {}, given)
        run = runtime.simulate(limited, 0.5, initial=start, **settings)
        assert many.steps[number] == run.stats.steps
        outside += any(motion.excess.max() > 1e-3 for motion in run.limits.values())
        for part, tolerance in (("r", 1e-9), ("omega", 1e-7)):
            assert getattr(many, part)("toes")[number] == pytest.approx(getattr(run, part)["toes"], abs=tolerance)
    assert outside >= 8


def test_varied_limits_and_masses():
    """Parameters of limits differ from lane to lane; equal to the equations of all bodies."""
    limited = models.foot.build("modified", limits="dissipative")
    cases = {
        "damping.talocrural": np.linspace(0.1, 0.6, 6), "compliance.talocrural": np.linspace(0.02, 0.05, 6),
        "max_moment.talocalcaneal": np.linspace(10.0, 30.0, 6), "mass.main_foot": np.linspace(1.0, 1.4, 6),
    }  # fmt: skip
    joint = runtime.simulate_many(limited, cases, 1.5, t_eval=[1.0, 1.5], coordinates="joint", rtol=1e-10, atol=1e-10)
    absolute = runtime.simulate_many(
        limited, cases, 1.5, t_eval=[1.0, 1.5], rtol=1e-12, atol=1e-12, coordinates="absolute"
    )
    assert joint.in_batch.all() and not joint.messages
    assert np.abs(joint.r["toes"] - absolute.r["toes"]).max() < 1e-8
    assert np.ptp(joint.r["toes"][:, -1], axis=0).max() > 1e-4


def test_a_case_beyond_what_the_kernel_knows_runs_alone(monkeypatch):
    """As where the nearest point of a cone leaves the plane of its hinge."""
    kind, cases = "elastic", {name: 3.0 * v for name, v in rates(12).items()}
    usual = runtime.simulate_many(models.foot.build("modified", limits=kind), cases, 0.5, **SETTINGS)
    monkeypatch.setattr("runtime.system.parts.Limit.vertices", _narrow(models.foot.build("modified", limits=kind)))
    narrow = models.foot.build("modified", limits=kind)
    assert min(min(limit.flat) for limit in narrow.tree_in_lanes.limits) == 0.035
    monkeypatch.setattr(chunk, "run_compiled", lambda cases, *_: list(cases))  # they are left to single runs
    many = runtime.simulate_many(narrow, cases, 0.5, **SETTINGS)
    assert 0 < many.in_batch.sum() < 12 and (many.status == Status.REACHED_END).all() and not many.messages
    assert np.abs(many.r["toes"] - usual.r["toes"]).max() < 1e-7


def _narrow(system):
    """The vertices of its limits, nearest up to an excess of 35 mrad alone."""
    kept = {limit.name: tuple((0.035, vertex) for _, vertex in limit.vertices) for limit in system.limits}
    return property(lambda limit: kept[limit.name])


def _one_by_one(monkeypatch):
    """Cases with a system for each."""
    monkeypatch.setattr(chunk, "run_side_by_side", lambda *_: None)


@pytest.mark.slow
@pytest.mark.parametrize("limits", [None, "elastic", "dissipative"])
def test_cases_prepared_at_once_are_those_with_a_system_each(limits, monkeypatch):
    system = models.foot.build("modified", limits=limits)
    cases = {
        "angle.ankle.theta_i": np.linspace(-0.2, 0.3, 20), "rate.ankle.theta_j": np.linspace(3.0, -2.0, 20),
        "mass.main_foot": np.linspace(1.0, 1.4, 20), "mass.toes": np.linspace(0.2, 0.3, 20),
    }  # fmt: skip
    if limits:
        cases |= {"damping.talocrural": np.linspace(0.0, 0.3, 20), "compliance.talocrural": np.linspace(0.03, 0.05, 20)}
    with monkeypatch.context() as patch:
        patch.delattr(chunk, "built_case")
        once = runtime.simulate_many(system, cases, 0.5, **SETTINGS)
    assert once.in_batch.all() and not once.messages
    _one_by_one(monkeypatch)
    each = runtime.simulate_many(system, cases, 0.5, **SETTINGS)
    assert each.in_batch.all() and np.abs(once.states() - each.states()).max() < 1e-11
    assert np.array_equal(once.evaluations, each.evaluations)


def test_values_that_break_a_rule_are_refused_one_by_one():
    cases = {"mass.toes": [0.2, -1.0, 0.3], "rate.ankle.theta_i": [0.0, 0.0, 1.0]}
    many = runtime.simulate_many(FOOT, cases, 0.5, **SETTINGS)
    assert many.status.tolist() == [0, Status.REFUSED, 0] and list(many.messages) == [1]
    assert "mass" in many.messages[1]


def test_loose_tolerances_are_remarked():
    """The balance of energy of cases prepared at once, with the work of their dampers."""
    limited = models.foot.build("modified", limits="elastic")
    cases = {"rate.ankle.theta_i": np.linspace(0.0, 5.0, 8), "mass.toes": np.full(8, 0.2)}
    many = runtime.simulate_many(limited, cases, 2.0, t_eval=[2.0], rtol=1e-10, atol=1e-10)
    assert many.in_batch.all() and not many.messages
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("runtime.integrate.balance_check.EACH_STEP", 1e-9)
        patch.setattr("runtime.integrate.balance_check.ROUNDING", 0.0)
        found = runtime.simulate_many(limited, cases, 2.0, t_eval=[2.0], rtol=1e-6, atol=1e-6, workers=1)
    assert len(found.messages) == 8 and all("the energy balance is off by" in text for text in found.messages.values())
