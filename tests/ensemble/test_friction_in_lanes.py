"""Cases with friction by reactions of joints side by side: where it is not unique, beside contacts and limits."""

import numpy as np
import pytest

import models
import runtime
from benchmarks.ensemble_systems import builder_of
from runtime import Status
from runtime.integrate.written.acting_forces import known_forces
from tests.support.planar_friction import arm_on_a_journal, pushed_block

TIMES = np.linspace(0.0, 0.5, 4)
LAW = dict(radius=0.02, thrust_radius=0.015, spacing=0.05, transition_velocity=0.5, damping=0.0)


def off(many, case, single):
    """Largest difference of the states of a case from those of a run."""
    return np.abs(many.states()[case].reshape(single.states.shape) - single.states).max()


def test_a_case_whose_friction_is_not_unique_ends_as_alone():
    values = {"coefficient.rub": np.array([0.1, 0.2, 0.5, 0.3])}
    many = runtime.simulate_many(pushed_block(0.1, 0.1), values, 0.5, t_eval=TIMES)
    run = runtime.simulate(pushed_block(0.5, 0.1), 0.5, t_eval=TIMES)
    assert many.vectorised.tolist() == [True, True, False, True]
    assert many.status.tolist() == [Status.REACHED_END] * 2 + [Status.FRICTION_NOT_UNIQUE, Status.REACHED_END]
    assert many.messages == {2: run.message}


def test_joint_coordinates_are_refused_as_of_single_runs():
    many = runtime.simulate_many(
        arm_on_a_journal(0.3, 0.1, 0.5), {"coefficient.rub": [0.3]}, 0.5, t_eval=TIMES, coordinates="joint"
    )
    assert many.status.tolist() == [Status.REFUSED] and "depends on reactions of a joint" in many.messages[0]


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
    assert many.vectorised.all() and off(many, 1, run) < 1e-8


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
