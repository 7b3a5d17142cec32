"""The scaled sole and its prediction of the ground's force: statics, sums, belts, raised arches."""

import numpy as np
import pytest

from models.walking import Floor, fit_sole, predict_ground_force, scale_sole, synthetic
from models.walking.contact import in_stance
from models.walking.sole import STIFFNESS
from runtime.support import GRAVITY
from tests.support.refusals import assert_refused
from tests.support.soles import ALIKE


def test_the_scaled_sole_lies_under_the_foot_and_bears_half_the_body():
    person = synthetic.subject()
    sole = scale_sole(person)
    foot = person.bodies["main_foot"]
    lowest, reach = [], []
    for sphere in sole.spheres.values():
        segment = person.bodies[sphere.body]
        at = segment.r + segment.A @ sphere.centre
        lowest.append(at[2] - sphere.radius)
        along, medial, _ = foot.local(at)
        reach += [along - sphere.radius, along + sphere.radius]
        assert medial == pytest.approx(foot.markers["R_FCC"][1], abs=1e-12)
    assert max(reach) - min(reach) == pytest.approx(person.foot_length, abs=1e-12)
    depth = np.clip(-np.array(lowest), 0.0, None)
    assert STIFFNESS * (depth**1.5).sum() == pytest.approx(0.5 * person.mass * GRAVITY, rel=1e-9)
    higher = sole.raised(["sphere_4"], 0.002)
    assert higher.spheres["sphere_4"].centre[2] - sole.spheres["sphere_4"].centre[2] == pytest.approx(0.002)
    assert higher.spheres["sphere_5"].centre is sole.spheres["sphere_5"].centre
    assert_refused("sole: unknown sphere 'heel'; the spheres are sphere_1", sole.raised, ["heel"], 0.001)


def test_prediction_follows_from_the_motion_alone(synthetic_walk):
    one = synthetic_walk
    p = predict_ground_force(one, scale_sole(one.subject))
    for body in p.motion.system.body_names:
        assert np.abs(p.motion.r[body] - one.motion.r[body]).max() < 1e-12
        assert np.abs(p.motion.rotations(body) - one.motion.rotations(body)).max() < 1e-12
        assert np.abs(p.motion.omega[body] - one.motion.omega[body]).max() < 1e-10
    total = sum(contact.force for contact in p.motion.contacts.values())
    assert np.abs(p.force - total).max() == 0.0
    assert p.force[:, 2] == pytest.approx(sum(p.pressed.values()), abs=1e-9)
    assert p.in_contact(0.1) and not set(p.in_contact(0.1)) - set(p.pressed)
    # A belt that carries the foot along takes the friction away, and leaves the vertical force.
    carried = predict_ground_force(one, p.sole, Floor(0.0, 5.0))
    assert carried.force[:, 2] == pytest.approx(p.force[:, 2], abs=1e-9)
    assert carried.force[in_stance(one), 0].mean() > p.force[in_stance(one), 0].mean() + 50.0


def test_raised_arches(synthetic_walk):
    one = synthetic_walk
    sole = fit_sole(one, shared=ALIKE, starts=(1.0,), prior=0.0).sole
    normal, cavus, flat = (predict_ground_force(one, each).force[:, 2] for each in (sole, sole.cavus, sole.flat))
    assert (cavus <= normal + 1e-9).all() and (flat >= normal - 1e-9).all()
    middle = np.argmin(np.abs(one.percent - 20.0))
    assert cavus[middle] < 0.97 * normal[middle] and flat[middle] > 1.1 * normal[middle]


def test_measured_is_what_the_plate_showed(synthetic_walk):
    one = synthetic_walk
    force, cop, _ = one.ground_at(one.t)
    assert np.abs(force[~in_stance(one)]).max() < 1e-9 and np.isnan(cop[~in_stance(one)]).any()
    assert force[:, 2].max() == pytest.approx(one.ground.force[:, 2].max(), rel=1e-3)
