"""Cases with friction by reactions of joints side by side: as runs in absolute coordinates."""

import functools

import numpy as np
import pytest

import models
import runtime
from benchmarks.ensemble_systems import builder_of
from runtime import Builder, Status
from runtime.integrate.written.acting_forces import known_forces

TIMES = np.linspace(0.0, 0.5, 4)
EXACT = dict(rtol=3e-14, atol=3e-14)
LAW = dict(radius=0.02, thrust_radius=0.015, spacing=0.05, creep=0.5, damping=0.0)


@functools.cache
def leg(coefficient=0.3, speed=1.0, limited=False):
    """A leg on a hinge that carries a foot on a skew one, whose toes slide in it; all of them rub, and the foot has a load."""
    b = Builder("leg", gravity=(0.3, 0.2, -9.81))
    b.body("leg", mass=3.0, inertia=(0.05, 0.05, 0.005), r=(0.0, 0.0, 0.3))
    b.body("foot", mass=1.0, inertia=(0.001, 0.004, 0.004), r=(0.05, 0.0, 0.0))
    b.body("toes", mass=0.2, inertia=(1e-4, 2e-4, 2e-4), r=(0.18, 0.0, -0.03))
    axis = np.array((0.1, 0.99, 0.1)) / np.linalg.norm((0.1, 0.99, 0.1))
    b.joint("hip", "revolute", "leg", "ground", axes="global", point=(0, 0, 0.6), axis=(0, 1, 0))
    b.joint("ankle", "revolute", "leg", "foot", axes="global", point=(0, 0, 0.08), axis=axis)
    b.joint("pad", "translational", "toes", "foot", axes="global", point=(0.14, 0, -0.02), axis=(1, 0, 0))
    b.force("rub_hip", "journal_friction", "leg", "ground", joint="hip", coefficient=coefficient, **LAW)
    b.force("rub_ankle", "journal_friction", "leg", "foot", joint="ankle", coefficient=0.2, **LAW)
    b.force(
        "rub_pad", "guide_friction", "toes", "foot", joint="pad", coefficient=0.1, spacing=0.3, creep=0.3, damping=0.0
    )
    ends = dict(s_i=(0.0, 0.0, -0.1), s_j=(0.0, 0.0, 0.02))
    b.force("spring", "spring_damper", "leg", "toes", **ends, stiffness=40.0, damping=0.1, free_length=0.2)
    b.load("push", "foot", force=(1.0, 0.5, 2.0))
    if limited:
        cone = runtime.Cone.from_degrees([0, 90, 180, 270, 360], [3, 5, 4, 5, 3])
        across = np.cross(axis, (0, 0, 1)) / np.linalg.norm(np.cross(axis, (0, 0, 1)))
        more = dict(cone=cone, max_moment=20.0, compliance=0.2, damping=0.1)
        b.limit("end", "ankle", reference="leg", xi=tuple(across), eta=tuple(axis), **more)
    b.angles("hip", angle=0.5, rates={"angle": speed})
    return b.build()


def off(many, case, single):
    """Largest difference of the states of a case from those of a run."""
    return np.abs(many.states()[case].reshape(single.states.shape) - single.states).max()


def own_run(system, name, value):
    """A run in absolute coordinates of a system with a parameter."""
    return runtime.simulate(runtime.with_parameters(system, {name: value}), TIMES[-1], t_eval=TIMES, **EXACT)


@pytest.mark.slow
@pytest.mark.parametrize("limited", [False, True])
def test_cases_side_by_side_as_single_runs(limited):
    """With a limit of a hinge that rubs, and a load of the results, which depends on accelerations."""
    shares, name = np.linspace(0.1, 0.5, 20), "coefficient.rub_hip"
    many = runtime.simulate_many(leg(limited=limited), {name: shares}, 0.5, t_eval=TIMES, **EXACT)
    assert many.in_batch.all() and not many.messages
    run = own_run(leg(limited=limited), name, shares[11])
    assert off(many, 11, run) < 1e-10
    assert many[11].forces["rub_hip"].load == pytest.approx(run.forces["rub_hip"].load, rel=1e-9)
    assert np.abs(many.states()[0] - many.states()[11]).max() > 1e-2
    assert not limited or run.limits["end"].excess.max() > 0.01


@pytest.mark.parametrize("name", ["s_i.spring", "mass.toes", "gravity"])
def test_cases_of_other_systems_as_single_runs(name):
    """Points, masses and gravity that differ, and friction that follows them."""
    own = np.asarray(runtime.parameters(leg())[name])
    values = own * np.linspace(0.9, 1.1, 3).reshape(-1, *[1] * own.ndim)
    many = runtime.simulate_many(leg(), {name: values}, 0.5, t_eval=TIMES, assemble=True, **EXACT)
    exact = runtime.simulate_many(
        leg(), {name: values}, 0.5, t_eval=TIMES, assemble=True, coordinates="absolute", **EXACT
    )
    assert many.in_batch.all() and np.abs(many.states() - exact.states()).max() < 2e-10


@pytest.mark.slow
def test_cases_of_a_function_as_single_runs():
    values = {"coefficient": np.array([0.1, 0.2, 0.3]), "speed": np.array([1.0, -2.0, 3.0])}
    many = runtime.simulate_many(leg, values, 0.5, t_eval=TIMES, **EXACT)
    run = runtime.simulate(leg(0.2, -2.0), 0.5, t_eval=TIMES, **EXACT)
    assert many.in_batch.all() and off(many, 1, run) < 2e-10


def test_a_case_does_not_depend_on_the_others():
    """Others need more steps for their loads."""
    values = {"coefficient.rub_hip": np.array([0.3, 0.9, 0.01, 0.5])}
    one = runtime.simulate_many(leg(), {name: v[:1] for name, v in values.items()}, 0.5, t_eval=TIMES)
    many = runtime.simulate_many(leg(), values, 0.5, t_eval=TIMES)
    assert (many.states()[0] == one.states()[0]).all()


def pushed(coefficient):
    """A block on a slider below its centre of mass: 3 times the coefficient of each newton of load come back as load."""
    b = Builder("pushed")
    b.body("block", mass=2.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, 0.3))
    b.joint("line", "translational", "ground", "block", s_i=(0, 0, 0), s_j=(0, 0, -0.3), a_i=(1, 0, 0), a_j=(1, 0, 0))
    law = dict(coefficient=coefficient, spacing=0.2, creep=1e-1, damping=0.0)
    b.force("rub", "guide_friction", "ground", "block", joint="line", **law)
    b.load("push", "block", force=(50.0, 0.0, 0.0), point=(0.0, 0.0, -0.3), axes="body")
    return b.build()


def test_a_case_whose_friction_is_not_unique_ends_as_alone():
    values = {"coefficient.rub": np.array([0.1, 0.2, 0.5, 0.3])}
    many = runtime.simulate_many(pushed(0.1), values, 0.5, t_eval=TIMES)
    run = runtime.simulate(pushed(0.5), 0.5, t_eval=TIMES)
    assert many.in_batch.tolist() == [True, True, False, True]
    assert many.status.tolist() == [Status.REACHED_END] * 2 + [Status.FRICTION_NOT_UNIQUE, Status.REACHED_END]
    assert many.messages == {2: run.message}


def test_joint_coordinates_are_refused_as_of_single_runs():
    many = runtime.simulate_many(leg(), {"coefficient.rub_hip": [0.3]}, 0.5, t_eval=TIMES, coordinates="joint")
    assert many.status.tolist() == [Status.REFUSED] and "depends on reactions of a joint" in many.messages[0]


@pytest.mark.slow
def test_whole_turns_are_those_of_the_run():
    """A wheel turns ten times between two times of the result."""
    b = Builder("wheel")
    b.body("wheel", mass=2.0, inertia=(0.05, 0.05, 0.05))
    b.joint("pin", "revolute", "ground", "wheel", axes="global", point=(0, 0, 0), axis=(0, 1, 0))
    law = LAW | dict(coefficient=0.2, creep=1.0)
    b.force("rub", "journal_friction", "ground", "wheel", joint="pin", **law)
    b.angles("pin", rates={"angle": 70.0})
    many = runtime.simulate_many(b.build(), {"coefficient.rub": [0.1, 0.2]}, 1.0, t_eval=[0.0, 1.0])
    braking = np.array([0.1, 0.2]) * 0.02 * 2.0 * 9.81 / 0.05
    assert many.angles["pin"].angle[:, -1] == pytest.approx(70.0 - 0.5 * braking, rel=1e-7)


@pytest.mark.slow
def test_friction_beside_contacts():
    b = builder_of(models.foot_ground.build())
    joint = models.foot_ground.build().joint("metatarsophalangeal")
    ends = (joint.body_i, joint.body_j)
    b.force("rub", "journal_friction", *ends, joint=joint.name, coefficient=0.3, **LAW)
    t, how = np.linspace(0.0, 0.05, 3), dict(rtol=1e-11, atol=1e-11)
    system = b.build()
    many = runtime.simulate_many(system, {"coefficient.rub": [0.2, 0.3]}, 0.05, t_eval=t, **how)
    run = runtime.simulate(system, 0.05, t_eval=t, **how)
    assert many.in_batch.all() and off(many, 1, run) < 1e-8


def test_a_limit_between_the_steps_of_a_joint_that_rubs_runs_alone():
    """The reaction of the whole joint has no part of the limit's moment, which the first step passes on."""
    known = []
    for limits in (None, "elastic"):
        plain = models.foot.build() if limits is None else models.foot.build(limits=limits)
        joint, b = plain.joint("ankle"), builder_of(plain)
        ends = (joint.body_i, joint.body_j)
        b.force("rub", "journal_friction", *ends, joint="ankle", coefficient=0.3, **LAW)
        known.append(known_forces(b.build(check_units=False)))
    assert known == [True, False]
