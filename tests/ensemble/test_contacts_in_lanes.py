"""Cases with contacts side by side: as single runs, beside any others, and alone where these say more."""

import functools
import importlib

import numpy as np
import pytest

import models
import runtime
from benchmarks.ensemble_systems import builder_of
from runtime import Status
from runtime.ensemble import chunk
from runtime.integrate.batches import contact_memory
from tests.support.contact_laws import BOUNCES

TIMES = np.linspace(0.0, 0.6, 13)
SETTINGS = dict(t_eval=TIMES, rtol=1e-9, atol=1e-9)
FINE = dict(rtol=1e-11, atol=1e-11)
TIGHT = dict(t_eval=TIMES, rtol=1e-12, atol=1e-12, coordinates="absolute", method="dop853")
FRICTION = dict(friction="coulomb", mu_c=0.3, mu_d=0.1, transition_velocity=1e-2)


@functools.cache
def pendulum(law="flores", height=0.7, friction=True):
    """Two hinges about one axis; the bob touches a plane."""
    b = runtime.Builder("pendulum on a plane")
    for k, x in enumerate((0.1, 0.3)):
        before, own = ("ground", "upper") if k == 0 else ("upper", "lower")
        b.body(own, mass=0.5 - 0.2 * k, inertia=(2e-3, 2e-3, 4e-4), r=(x, 0.0, 1.0))
        axis = dict(axes="global", point=(0.2 * k, 0.0, 1.0), a_i=(0, 1, 0), a_j=(0, 1, 0))
        b.joint(f"hinge_{k}", "revolute", before, own, **axis)
    where = dict(centre=(0.1, 0, 0), radius=0.05, point=(0, 0, height), normal=(0, 0, 1))
    b.contact("touch", "lower", law=law, **where, **BOUNCES[law], **(FRICTION if friction else {}))
    return b.build()


def compared(system, cases, duration, names, in_lanes, few=slice(None), **settings):
    """Outputs of cases in lanes, and of some of them in absolute coordinates at a tight tolerance."""
    many = runtime.simulate_many(system, cases, duration, outputs=names, **(SETTINGS | settings))
    assert (many.status == Status.REACHED_END).all()
    in_lanes.undo()
    some = {key: values[few] for key, values in cases.items()}
    tight = TIGHT | {key: settings[key] for key in settings if key == "t_eval"}
    return many, runtime.simulate_many(system, some, duration, outputs=names, **tight)


def test_a_contact_that_is_closed_at_the_start(in_lanes):
    """It counts as a touch-down at the start, whose speed is part of the law."""
    system = pendulum(height=0.955, friction=False)
    cases = {"rate.hinge_0.angle": np.linspace(0.5, 2.0, 9)}
    many, absolute = compared(system, cases, 0.6, ["r.lower", "energy", "elastic_energy"], in_lanes)
    assert many["elastic_energy"][:, 0].min() > 0.0 and not many.messages
    assert np.abs(many["r.lower"] - absolute["r.lower"]).max() < 1e-6
    assert np.abs(many["energy"] - absolute["energy"]).max() < 1e-5


@pytest.mark.slow
def test_the_foot_on_the_ground(in_lanes):
    """By the recursion, with motors, from the fall until it stands on heel and toes."""
    system, end = models.foot_ground.build(), 0.15
    cases = {
        "stiffness.sphere_1": np.linspace(1.0, 1.4, 9) * float(runtime.parameters(system)["stiffness.sphere_1"]),
        "radius.sphere_3": np.linspace(1.0, 1.1, 9) * float(runtime.parameters(system)["radius.sphere_3"]),
        "mass.toes": np.linspace(0.9, 1.1, 9) * float(runtime.parameters(system)["mass.toes"]),
    }
    settings = dict(t_eval=np.linspace(0.0, end, 4))
    many, absolute = compared(system, cases, end, ["r.leg", "r.toes"], in_lanes, slice(0, None, 4), **settings)
    for name in ("r.leg", "r.toes"):
        assert np.abs(many[name][::4] - absolute[name]).max() < 1e-8, name


def test_cases_with_more_events_than_memory_run_alone(monkeypatch):
    cases = {"mass.lower": np.linspace(0.25, 0.4, 9)}
    usual = runtime.simulate_many(pendulum(), cases, 0.6, **SETTINGS)
    monkeypatch.setattr(contact_memory, "MOST_EVENTS", 3)
    few = runtime.simulate_many(pendulum(), cases, 0.6, **SETTINGS)
    assert (few.status == Status.REACHED_END).all() and few.steps.tolist() != usual.steps.tolist()
    assert np.abs(few.r["lower"] - usual.r["lower"]).max() < 1e-6


def test_memory_of_events_bounds_the_chunks(monkeypatch):
    module, sizes = importlib.import_module("runtime.ensemble.simulate_many"), []

    def run_chunk(task, first, cases):
        sizes.append(len(cases["mass.lower"]))
        return chunk.run_chunk(task, first, cases)

    monkeypatch.setattr(module, "run_chunk", run_chunk)
    monkeypatch.setattr(module, "MAX_BYTES", 5e5)
    runtime.simulate_many(pendulum(), {"mass.lower": np.linspace(0.25, 0.4, 40)}, 0.05, workers=1)
    assert sum(sizes) == 40 and max(sizes) * 8 * contact_memory.EVENT * contact_memory.MOST_EVENTS < 5e5


def test_damping_that_fades_in_some_cases():
    """Without damping the force ends on the plane, with it before; a case does not depend on the others."""
    system, values = pendulum("kelvin_voigt"), np.array([0.0, 2.0, 8.0, 0.0, 20.0])
    many = runtime.simulate_many(system, {"damping.touch": values}, 0.6, **SETTINGS)
    assert not many.messages and (many.status == Status.REACHED_END).all()
    for own in ([0, 3], [4, 2, 1]):
        some = runtime.simulate_many(system, {"damping.touch": values[own]}, 0.6, **SETTINGS)
        assert np.array_equal(many.r["lower"][own], some.r["lower"])
    absolute = runtime.simulate_many(system, {"damping.touch": values}, 0.6, **TIGHT)
    assert np.abs(many.r["lower"] - absolute.r["lower"]).max() < 1e-6
    undamped = runtime.with_parameters(system, {"damping.touch": 0.0})
    other = runtime.simulate_many(undamped, {"damping.touch": values}, 0.6, **SETTINGS)
    assert np.abs(many.r["lower"] - other.r["lower"]).max() < 1e-6


def test_contacts_beside_limits_of_the_printed_law_run_one_after_another():
    b = builder_of(models.foot.build(limits="elastic", law="as_published"))
    b.contact("toe", "toes", centre=(0, 0, 0), radius=0.01, point=(0, 0, -0.02), law="hertz", stiffness=1e5)
    system, cases = b.build(), {"mass.toes": np.linspace(0.2, 0.3, 5)}
    many = runtime.simulate_many(system, cases, 0.2, t_eval=[0.1, 0.2], coordinates="joint")
    changed = runtime.with_parameters(system, {"mass.toes": 0.3})
    run = runtime.simulate(changed, 0.2, t_eval=[0.1, 0.2], coordinates="joint", method="dop853")
    assert np.array_equal(many.r["toes"][-1], run.r["toes"])
