"""Joint coordinates that rows restrain: closed loops, joints without a motion, drivers."""

import numpy as np
import pytest

import models
import runtime
from benchmarks.random import compare, question
from runtime import GROUND, Status
from runtime.system.trees import trees_of

SETTINGS = dict(rtol=1e-10, atol=1e-10)
LOOPS = [name for name in question.CLASSES if name not in ("tree", "acting_tree")]


def pendulum(kind, **more):
    """A ball on a rod without mass, whose other end is at the origin."""
    b = runtime.Builder("pendulum", gravity=(0, 0, -9.81))
    b.body("ball", mass=1.0, inertia=(0.02, 0.02, 0.02), r=(0.3, 0, -0.4), v=(0.4, 0.7, 0.3))
    b.joint("rod", kind, GROUND, "ball", s_i=(0, 0, 0), s_j=(0, 0, 0), **more)
    return b.build()


def test_a_rod_without_motion_is_a_ball_joint():
    """The rod restrains a free body by one row, the joint of known motion has two coordinates less."""
    times = np.linspace(0.0, 3.0, 31)
    row = runtime.simulate(pendulum("constant_distance", l=0.5), 3.0, t_eval=times, coordinates="joint", **SETTINGS)
    omega, r = np.array([0.4, 0.7, 0.3]), np.array([0.3, 0, -0.4])
    assert omega @ r == pytest.approx(0.0)  # a spherical pendulum: energy and the moment about the vertical are kept
    found, v = row.r["ball"], row.v["ball"]
    assert np.linalg.norm(found, axis=1) == pytest.approx(0.5, abs=1e-13)
    energy = 0.5 * (v**2).sum(axis=1) + 9.81 * found[:, 2]
    assert energy == pytest.approx(energy[0], abs=1e-8)
    moment = found[:, 0] * v[:, 1] - found[:, 1] * v[:, 0]
    assert moment == pytest.approx(moment[0], abs=1e-8)


def test_steps_avoid_the_joints_with_most_coordinates():
    """A loop is cut at its ball joint, so that few coordinates and rows are left."""
    tree = trees_of(models.four_bar.build("independent")).tree
    system = models.four_bar.build("independent")
    assert [system.joints[k].kind for k in tree.closing] == ["spherical"] and len(tree.kinds) == 4


@pytest.mark.parametrize("name", ["polygon", "spatial_loop", "bricard", "change_point", "start_at_pose"])
def test_random_mechanisms_agree_with_a_second_method(name):
    _examine(name, 3)


@pytest.mark.nightly
@pytest.mark.parametrize("name", LOOPS)
def test_more_random_mechanisms_agree_with_a_second_method(name):
    for seed in range(100, 102):
        _examine(name, seed)


def _examine(name, seed):
    verdict = compare.examine(
        name, seed, question.CLASSES[name], brief=True, options={"coordinates": "joint"}, method="dop853"
    )
    assert verdict.kind not in question.BAD, (name, seed, verdict.text)
    if verdict.kind == "ended":
        assert verdict.status == Status.SINGULAR_CONFIGURATION and "row" in verdict.text
