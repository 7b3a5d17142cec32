"""Contacts in cases with closed loops and drivers side by side: as single runs and absolute coordinates."""

import functools

import numpy as np
import pytest

import runtime
from benchmarks.ensemble_systems import builder_of, driven_leg_on_plane, four_bar_on_plane
from models.walking import leg_foot, synthetic
from runtime import Cone, Signal, Status
from runtime.ensemble.chunk import size_of_events
from runtime.integrate.batches import contact_memory
from tests.support.contact_laws import BOUNCES, all_laws
from tests.support.driven_legs import ACROSS, Y, made, one_by_one

TIMES = np.linspace(0.0, 1.0, 21)
SETTINGS = dict(t_eval=TIMES, rtol=1e-12, atol=1e-12)
SHARE = np.linspace(0.9, 1.1, 18)
FRICTION = dict(friction="coulomb", mu_c=0.3, mu_d=0.1, creep=1e-2)


@functools.cache
def leg():
    """A leg that is driven at the hip and at the toes; heel and toes touch a plane in turn, the heel already at the start."""
    return made(driven_leg_on_plane())


@functools.cache
def four_bar(stop=False):
    """A four-bar linkage with redundant rows whose coupler touches a plane, and whose rocker may meet a stop."""
    b, one = builder_of(four_bar_on_plane()), four_bar_on_plane().joint("D")
    cone = Cone.from_degrees((0, 90, 180, 270, 360), (10, 30, 10, 30, 10))
    if stop:
        law = dict(max_moment=3.0, compliance=1.0, damping=0.02, cone=cone)
        b.limit("stop", "D", reference=one.body_i, xi=(1, 0, 0), eta=one.values["a_i"], **law)
    return made(b.build())


def pendulum(law="flores", wall=0.2, amplitude=0.3, mu_c=0.3, **own):
    """A pendulum whose upper hinge is driven; the bob of the lower one hits a wall."""
    b = runtime.Builder("driven pendulum at a wall")
    for k, (before, body) in enumerate((("ground", "upper"), ("upper", "lower"))):
        b.body(body, mass=0.5 - 0.2 * k, inertia=(2e-3, 2e-3, 4e-4), r=(0.1 + 0.2 * k, 0.0, 1.0))
        b.joint(f"hinge_{k}", "revolute", before, body, axes="global", point=(0.2 * k, 0.0, 1.0), axis=Y)
    turn = Signal.function(lambda t: amplitude * np.sin(3.0 * t) ** 2, 0.0, 2.0)
    b.driver("drive", "guided_angle", "ground", "upper", **ACROSS, theta_t=turn)
    where = dict(centre=(0.1, 0, 0), radius=0.05, point=(wall, 0, 0), normal=(1, 0, 0))
    b.contact("touch", "lower", law=law, **where, **BOUNCES[law] | own, **FRICTION | {"mu_c": mu_c})
    return b.build(project_velocities=True)


def compared(system, cases, names, bounds, in_lanes, few=slice(None, None, 17), **settings):
    """Outputs of cases in lanes, of which some are those of absolute coordinates to these bounds."""
    settings = SETTINGS | settings
    many = runtime.simulate_many(system, cases, settings["t_eval"][-1], outputs=names, **settings)
    assert (many.status == Status.REACHED_END).all() and not many.messages
    in_lanes.undo()
    some = {key: values[few] for key, values in cases.items()}
    settings["coordinates"] = "absolute"
    absolute = runtime.simulate_many(system, some, settings["t_eval"][-1], outputs=names, **settings)
    for name, bound in zip(names, bounds, strict=True):
        assert np.abs(many[name][few] - absolute[name]).max() < bound, name
    return many


@pytest.mark.parametrize(
    "name", ["stiffness.tip", "mu_c.tip", "radius.heel", "point.tip", "loss.heel", "mass.foot", "stiffness.spring"]
)
def test_a_driven_leg_on_a_plane_as_in_absolute_coordinates(name, closed_in_lanes):
    own = np.asarray(runtime.parameters(leg())[name], float)
    share = 1.0 + 0.01 * (SHARE - 1.0) if name == "point.tip" else SHARE
    names = ["r.toes", "energy", "elastic_energy", "contact_normal_force.tip", "max(contact_normal_force.heel)"]
    names += ["contact_friction.tip", "lam.swing.angle"]
    cases = {name: own * share.reshape(-1, *[1] * own.ndim)}
    many = compared(leg(), cases, names, (1e-11, 1e-10, 1e-10, 1e-8, 1e-8, 1e-8, 1e-7), closed_in_lanes)
    assert many["max(contact_normal_force.heel)"].max() > 1.0 and many["contact_normal_force.tip"].max() > 1.0
    assert np.ptp(many["r.toes"][:, -1], axis=0).max() > 1e-8


@pytest.mark.parametrize("stop", [False, True])
def test_a_loop_on_a_plane_with_a_stop(stop, closed_in_lanes):
    cases = {"mass.coupler": SHARE, "stiffness.touch": 1e5 * SHARE[::-1]} | (
        {"damping.stop": 0.02 * SHARE} if stop else {}
    )
    names = ["r.rocker", "energy", "contact_normal_force.touch", "v_dot.rocker"]
    many = compared(four_bar(stop), cases, names, (2e-11, 2e-10, 1e-8, 1e-8), closed_in_lanes)
    assert many["contact_normal_force.touch"].max() > 1.0


@pytest.mark.slow
@all_laws
def test_laws_as_one_by_one(law, closed_in_lanes):
    """Results, and steps but for those that rounding decides."""
    cases = {"mass.lower": 0.3 * SHARE[::6], "stiffness.touch": BOUNCES[law]["stiffness"] * SHARE[::6]}
    settings = dict(t_eval=0.6 * TIMES, rtol=1e-8, atol=1e-8)
    names = [
        "r.lower",
        "energy",
        "elastic_energy",
        "contact_friction.touch",
        "contact_penetration_rate.touch",
        "lam.drive.angle",
    ]
    names.append("max(contact_normal_force.touch)")
    system = made(pendulum(law))
    many = runtime.simulate_many(system, cases, 0.6, outputs=names, **settings)
    one_by_one(closed_in_lanes)
    each = runtime.simulate_many(system, cases, 0.6, outputs=names, **settings)
    assert not many.messages and np.abs(many.steps - each.steps).max() <= 2 and many[names[-1]].max() > 10.0
    for name in names:
        assert np.abs(many[name] - each[name]).max() < 1e-7 * max(1.0, np.abs(each[name]).max()), name


@pytest.mark.slow
def test_spheres_under_a_foot_that_gait_drives(closed_in_lanes):
    """All coordinates are driven: the contacts add loads alone, at poses that satisfy all rows."""
    coordinates, law = synthetic.coordinates(), dict(law="hunt_crossley", stiffness=1e5, exponent=1.5, loss=0.3)
    b = leg_foot.driven(synthetic.subject(), coordinates, "gait on spheres")
    for name, body, centre in (("heel", "main_foot", (-0.05, 0, -0.03)), ("ball", "toes", (0, 0, -0.01))):
        b.contact(name, body, centre=centre, radius=0.02, point=(0, 0, 0.05), **law, **FRICTION)
    system = made(b.build(time=coordinates.begin))
    cases = {"mass.leg": 3.0 * SHARE[::6], "stiffness.heel": 1e5 * SHARE[::6]}
    names = ["r.toes", "contact_normal_force.heel", "contact_friction.heel", "violation"]
    settings = dict(t_eval=0.6 * TIMES, rtol=1e-9, atol=1e-9)
    many = runtime.simulate_many(system, cases, 0.6, outputs=names, **settings)
    closed_in_lanes.undo()
    absolute = runtime.simulate_many(system, cases, 0.6, outputs=names, coordinates="absolute", **settings)
    assert many["violation"].max() < 1e-13 and many["contact_normal_force.heel"].max() > 100.0
    for name, bound in zip(names[:3], (1e-9, 1e-4, 1e-4), strict=True):
        assert np.abs(many[name] - absolute[name]).max() < bound, name


def test_a_case_with_contacts_depends_on_no_other(closed_in_lanes):
    cases, settings = {"mu_c.tip": np.linspace(0.1, 0.5, 50)}, SETTINGS | dict(rtol=1e-7, atol=1e-7)
    many = runtime.simulate_many(leg(), cases, 1.0, workers=2, chunk=17, **settings)
    some = runtime.simulate_many(leg(), {k: v[40:2:-1] for k, v in cases.items()}, 1.0, workers=1, **settings)
    assert np.array_equal(many.states()[40:2:-1], some.states())
    run = many[1]
    assert np.abs(run.states.reshape(len(TIMES), 3, 13) - many.states()[1]).max() < 1e-5
    assert run.contacts["tip"].normal_force.max() > 1.0


def test_cases_with_more_events_than_memory_run_alone(monkeypatch):
    cases, settings = {"mass.foot": 0.9 * SHARE[:3]}, SETTINGS | dict(rtol=1e-8, atol=1e-8)
    usual = runtime.simulate_many(leg(), cases, 1.0, **settings)
    monkeypatch.setattr(contact_memory, "MOST_EVENTS", 3)
    few = runtime.simulate_many(leg(), cases, 1.0, **settings)
    one_by_one(monkeypatch)
    each = runtime.simulate_many(leg(), cases, 1.0, **settings)
    assert np.array_equal(few.states(), each.states()) and not np.array_equal(few.states(), usual.states())


def test_memory_of_events_bounds_the_chunks():
    how = runtime.simulate_many(leg(), {"mass.foot": [0.9]}, 0.1, rtol=1e-6, atol=1e-6)._task.how
    assert size_of_events(leg(), how, gpu=False) == contact_memory.EVENT * contact_memory.MOST_EVENTS
