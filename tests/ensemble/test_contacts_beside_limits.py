"""Cases with contacts beside limits of angles side by side: as single runs, and beside any others."""

import functools

import numpy as np
import pytest

import models
import runtime
from benchmarks.ensemble_systems import builder_of, limited_foot_on_ground
from runtime import Cone, Status
from runtime.ensemble import chunk, joint_batch
from runtime.integrate.batches.parameters import FLAT_AHEAD, FLAT_BEHIND, parameters_of_limits
from tests.ensemble.test_contacts_in_lanes import FINE, SETTINGS, compared, pendulum, sledge

TIMES = np.linspace(0.0, 0.6, 61)
OF_RUN = ["energy", "elastic_energy"]


@functools.cache
def leg(damping=0.0, law="flores", height=0.7, range_deg=20.0):
    """Two hinges about one axis; the bob touches a plane, and the knee has a limit."""
    return with_stop(pendulum(law, height), "hinge_1", "upper", damping, range_deg)


def with_stop(system, joint, reference, damping=0.0, range_deg=20.0, compliance=0.2):
    """A system with a limit of a hinge."""
    b = builder_of(system)
    cone = Cone.from_degrees((0, 90, 180, 270, 360), (range_deg,) * 5)
    law = dict(max_moment=20.0, compliance=compliance, damping=damping, cone=cone)
    b.limit("stop", joint, reference=reference, xi=(1, 0, 0), eta=(0, -1, 0), **law)
    return b.build()


@pytest.mark.slow
@pytest.mark.parametrize(("damping", "law"), [(0.0, "flores"), (0.02, "kelvin_voigt")])
def test_changes_of_both_as_in_absolute_coordinates(damping, law, in_lanes):
    """With parameters of both by name, and coordinates."""
    system = leg(damping, law)
    cases = {
        "max_moment.stop": np.linspace(10.0, 30.0, 10),
        "stiffness.touch": np.linspace(0.9, 1.1, 10) * float(runtime.parameters(system)["stiffness.touch"]),
        "rate.hinge_1.angle": np.linspace(-6.0, 6.0, 10),
    }
    of_both = ["limit_restricting_moment.stop", "contact_elastic_energy.touch"]
    names = ["r.lower", *OF_RUN, *of_both, "max(limit_excess.stop)", "max(contact_normal_force.touch)"]
    many, absolute = compared(system, cases, 0.6, names, in_lanes, t_eval=TIMES, **FINE)
    assert not many.messages
    assert (many["max(limit_excess.stop)"] > 0.02).sum() > 5 and many["max(contact_normal_force.touch)"].min() > 1.0
    for name in names:
        assert np.abs(many[name] - absolute[name]).max() < 1e-5 * max(1.0, np.abs(absolute[name]).max()), name


def test_steps_are_those_of_single_runs(in_lanes):
    """Also their usual lengths before and after changes; without friction, whose bend decides some steps by rounding."""
    system = with_stop(pendulum("kelvin_voigt", 0.75, friction=False), "hinge_1", "upper", damping=0.02)
    cases = {"angle.hinge_1.angle": np.full(9, -0.5), "mass.lower": np.linspace(0.25, 0.4, 9)}
    many = runtime.simulate_many(system, cases, 0.6, **SETTINGS)
    assert not many.messages and (many.status == Status.REACHED_END).all()
    for case in (0, 4, 8):
        changed = runtime.with_parameters(system, {"mass.lower": cases["mass.lower"][case]})
        start = runtime.system.displaced(changed, {"hinge_1.angle": -0.5})
        run = runtime.simulate(changed, 0.6, initial=start, coordinates="joint", method="dop853", **SETTINGS)
        assert run.limits["stop"].excess[0] > 0.1 and len(run.contact_events) > 1
        assert np.abs(many.r["lower"][case] - run.r["lower"]).max() < 1e-8
        assert abs(many.steps[case] - run.stats.steps) <= 1 and abs(many.rejections[case] - run.stats.rejections) <= 1


@pytest.mark.slow
def test_the_foot_on_the_ground(in_lanes):
    """By the recursion, until the ankle is beyond its limit."""
    end, outputs = 0.2, ["r.leg", "r.toes", "max(limit_excess.ankle)"]
    system = limited_foot_on_ground(0.568)
    cases = {"mass.toes": np.linspace(0.9, 1.1, 9) * float(runtime.parameters(system)["mass.toes"])}
    cases["compliance.ankle"] = np.linspace(0.1, 0.3, 9)
    settings = dict(t_eval=np.linspace(0.0, end, 21))
    many, absolute = compared(system, cases, end, outputs, in_lanes, slice(0, None, 8), **settings)
    assert many["max(limit_excess.ankle)"].min() > 1e-3
    for name in outputs:
        assert np.abs(many[name][::8] - absolute[name]).max() < 1e-7, name


@pytest.mark.slow
def test_limits_between_bodies_that_touch(in_lanes):
    """A board on two runners has a flap with a dissipative stop: work of belt, friction and damper is balanced."""
    b = builder_of(sledge())
    b.body("flap", mass=0.3, inertia=(1e-3, 1e-3, 1e-3), r=(0.1, 0, 0.15), v=(1.0, 0, 0))
    b.joint("hinge", "revolute", "board", "flap", axes="global", point=(0, 0, 0.15), a_i=(0, 1, 0), a_j=(0, 1, 0))
    system = with_stop(b.build(), "hinge", "board", damping=0.02, range_deg=5.0)
    cases = {"rate.hinge.angle": np.linspace(-9.0, 9.0, 9), "mu_c.runner_0": np.linspace(0.2, 0.5, 9)}
    names = ["r.flap", "r.board", "max(limit_excess.stop)", *OF_RUN]
    many, absolute = compared(system, cases, 0.6, names, in_lanes, t_eval=TIMES, **FINE)
    assert not many.messages and many["max(limit_excess.stop)"].min() > 0.03
    for name in names:
        assert np.abs(many[name] - absolute[name]).max() < 1e-6, name


def test_a_limit_and_a_contact_that_change_at_once(in_lanes):
    """Legs beside each other with equal angles: the stop of one and the sphere of the other are met at the same time."""
    reach, half = 0.3, np.deg2rad(20.0)
    b = runtime.Builder("two rods")
    for name, y in (("stopped", 0.0), ("falling", 1.0)):
        b.body(name, mass=0.4, inertia=(2e-3, 2e-3, 2e-3), r=(reach, y, 1.0))
        b.joint(
            f"{name}_hinge", "revolute", "ground", name, axes="global", point=(0, y, 1), a_i=(0, 1, 0), a_j=(0, 1, 0)
        )
    where = dict(centre=(0, 0, 0), radius=0.05, point=(0, 0, 0.95 - reach * np.sin(half)))
    b.contact("touch", "falling", **where, law="hertz", stiffness=1e5)
    system = with_stop(b.build(), "stopped_hinge", "ground")
    both = np.linspace(0.5, 3.0, 9)
    cases = {"rate.stopped_hinge.angle": both, "rate.falling_hinge.angle": both}
    names = ["r.stopped", "r.falling", "energy"]
    many, absolute = compared(system, cases, 0.6, names, in_lanes, **FINE)
    assert not many.messages
    for name in names:
        assert np.abs(many[name] - absolute[name]).max() < 1e-7, name


def test_limits_that_are_grazed_within_a_step(in_lanes):
    """A rod swings up to its stop and a little beyond, far above a plane."""
    b = runtime.Builder("rod")
    b.body("rod", mass=0.4, inertia=(2e-3, 2e-3, 2e-3), r=(0.0, 0.0, -0.3))
    b.joint("hinge", "revolute", "ground", "rod", axes="global", point=(0, 0, 0), a_i=(0, 1, 0), a_j=(0, 1, 0))
    b.contact("touch", "rod", centre=(0, 0, 0), radius=0.05, point=(0, 0, -1), law="hertz", stiffness=1e5)
    system = with_stop(b.build(), "hinge", "ground", compliance=0.01)
    inertia, highest = 2e-3 + 0.4 * 0.3**2, np.deg2rad(20.0) + np.linspace(-1e-5, 3e-4, 48)
    cases = {"rate.hinge.angle": np.sqrt(2.0 * 0.4 * 9.81 * 0.3 * (1.0 - np.cos(highest)) / inertia)}
    names = ["max(limit_excess.stop)", "r.rod"]
    settings = dict(t_eval=np.linspace(0.0, 0.6, 601), rtol=1e-8, atol=1e-8)
    many, absolute = compared(system, cases, 0.6, names, in_lanes, slice(0, None, 4), **settings)
    assert (many[names[0]] > 0.0).sum() > 40 and np.abs(many[names[1]][::4] - absolute[names[1]]).max() < 1e-7


def test_a_case_depends_on_no_other(in_lanes, tmp_path):
    values = {"mass.lower": np.linspace(0.25, 0.4, 40), "rate.hinge_1.angle": np.linspace(-6.0, 6.0, 40)}
    many = runtime.simulate_many(leg(), values, 0.6, workers=2, chunk=16, **SETTINGS)
    backwards = {name: own[30:2:-1] for name, own in values.items()}
    some = runtime.simulate_many(leg(), backwards, 0.6, workers=1, **SETTINGS)
    assert np.array_equal(many.r["lower"][30:2:-1], some.r["lower"])
    stored = runtime.simulate_many(leg(), values, 0.6, out=tmp_path / "cases", chunk=7, **SETTINGS)
    assert np.array_equal(many.r["lower"], stored.r["lower"])


def test_systems_of_a_function(in_lanes):
    cases = {"height": np.linspace(0.65, 0.75, 6), "damping": np.linspace(0.0, 0.02, 6)}
    outputs = ["r.lower", *OF_RUN]

    def build(height, damping):
        return leg(damping, "flores", height)

    many = runtime.simulate_many(build, cases, 0.6, outputs=outputs, **SETTINGS)
    in_lanes.undo()
    one = runtime.simulate(leg(0.02, "flores", 0.75), 0.6, coordinates="absolute", t_eval=SETTINGS["t_eval"], **FINE)
    assert not many.messages and np.abs(many["r.lower"][-1] - one.r["lower"]).max() < 1e-6
    assert np.abs(many["energy"][-1] - one.energy).max() < 1e-5


@pytest.fixture
def alone(monkeypatch):
    """How many cases run one by one, by calls."""
    found, run = [], chunk.run_compiled
    monkeypatch.setattr(chunk, "run_compiled", lambda cases, *more: found.append(len(cases)) or run(cases, *more))
    return found


def test_an_excess_beyond_what_lanes_know_runs_alone(alone):
    """A rod turns far beyond a weak stop, where another point of its cone is nearer."""
    cases = {"rate.hinge_1.angle": [0.5, -15.0, -0.5], "max_moment.stop": [20.0, 0.01, 20.0]}
    many = runtime.simulate_many(leg(height=0.4), cases, 0.6, **SETTINGS)
    assert sum(alone) == 1 and (many.status == Status.REACHED_END).all()
    changed = runtime.simulate_many(leg(height=0.4), cases, 0.6, coordinates="absolute", method="dop853", **SETTINGS)
    assert np.abs(many.r["lower"] - changed.r["lower"]).max() < 1e-6


def test_an_excess_that_is_beyond_between_outputs_alone(alone, monkeypatch):
    cases, known = {"rate.hinge_1.angle": np.linspace(-6.0, 6.0, 10)}, 0.11  # [rad]

    def with_small_excess(*arguments):
        found = parameters_of_limits(*arguments)
        found[:, [FLAT_AHEAD, FLAT_BEHIND]] = known
        return found

    often = dict(t_eval=np.linspace(0.0, 0.6, 2001), outputs=["max(limit_excess.stop)", "last(limit_excess.stop)"])
    many = runtime.simulate_many(leg(), cases, 0.6, **SETTINGS | often)
    largest, last = many["max(limit_excess.stop)"], many["last(limit_excess.stop)"]
    assert not sum(alone) and 0 < (largest > known).sum() < 10 and last[largest > known].max() < known
    monkeypatch.setattr(joint_batch, "parameters_of_limits", with_small_excess)
    runtime.simulate_many(leg(), cases, 0.6, rtol=1e-9, atol=1e-9)
    assert sum(alone) == (largest > known).sum()


def test_contacts_beside_limits_with_a_kernel_for_them(in_lanes):
    """The kernel of a foot with elastic limits serves cases with a contact, too."""
    b = builder_of(models.foot.build(limits="elastic"))
    b.contact("toe", "toes", centre=(0, 0, 0), radius=0.01, point=(0, 0, -0.02), law="hertz", stiffness=1e5)
    system, cases = b.build(), {"rate.ankle.theta_j": np.linspace(-8.0, 8.0, 5)}
    names = ["r.toes", "energy", "max(limit_excess.talocalcaneal)", "max(contact_penetration.toe)"]
    many, absolute = compared(system, cases, 0.6, names, in_lanes, t_eval=TIMES, **FINE)
    assert not many.messages and min(many[name].max() for name in names[2:]) > 1e-3
    for name in names:
        assert np.abs(many[name] - absolute[name]).max() < 1e-6, name
