"""Joint coordinates that rows restrain: closed loops, joints without a motion, drivers."""

import numpy as np
import pytest

import models
import runtime
from benchmarks.random import compare, question
from runtime import GROUND, Status

SETTINGS = dict(rtol=1e-10, atol=1e-10)
LOOPS = [name for name in question.CLASSES if name not in ("tree", "acting_tree")]


def pendulum(kind, **more):
    """A ball on a rod without mass, whose other end is at the origin."""
    b = runtime.Builder("pendulum", gravity=(0, 0, -9.81))
    b.body("ball", mass=1.0, inertia=(0.02, 0.02, 0.02), r=(0.3, 0, -0.4), v=(0.4, 0.7, 0.3))
    b.joint("rod", kind, GROUND, "ball", s_i=(0, 0, 0), s_j=(0, 0, 0), **more)
    return b.build()


def driven_arms():
    """Two driven arms on a hinge each; a weight hangs on the second by a ball, and on the first by a rod of constant length."""
    b = runtime.Builder("arms", gravity=(0, 0, -9.81))
    for name, y in (("first", 0.0), ("second", 0.5)):
        b.body(name, mass=1.0, inertia=(0.02, 0.03, 0.01), r=(0.25, y, 0))
        b.joint(f"hinge_{name}", "revolute", GROUND, name, axes="global", point=(0, y, 0), axis=(0, 1, 0))
    b.body("weight", mass=0.5, inertia=(0.01, 0.01, 0.01), r=(0.5, 0.25, -0.3))
    b.joint("ball", "spherical", "second", "weight", axes="global", point=(0.5, 0.5, 0))
    b.joint(
        "rod", "constant_distance", "first", "weight", s_i=(0.25, 0, 0), s_j=(0, 0, 0), l=float(np.hypot(0.25, 0.3))
    )
    for name, size in (("first", 0.4), ("second", -0.2)):
        swing = runtime.Signal.function(lambda t, size=size: size * np.sin(3 * t) ** 3, 0.0, 1.5)
        b.driver(name, "guided_angle", name, GROUND, a_i=(1, 0, 0), h_i=(0, 1, 0), b_j=(1, 0, 0), theta_t=swing)
    return b.build()


SYSTEMS = {
    "four hinges": lambda: models.four_bar.build("revolute", crank_speed=3.0),
    "independent rows": lambda: models.four_bar.build("independent", crank_speed=3.0),
    "joint without a motion": lambda: pendulum("constant_distance", l=0.5),
    "driver": driven_arms,
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_runs_are_those_in_absolute_coordinates(name):
    system, times = SYSTEMS[name](), np.linspace(0.0, 1.5, 16)
    joint = runtime.simulate(system, 1.5, t_eval=times, coordinates="joint", **SETTINGS)
    absolute = runtime.simulate(system, 1.5, t_eval=times, rtol=1e-12, atol=1e-12, coordinates="absolute")
    assert joint.success and joint.stats.kernel.startswith("joint coordinates") and system.tree.closing
    for body in system.body_names:
        assert joint.r[body] == pytest.approx(absolute.r[body], abs=1e-6)
        assert joint.omega[body] == pytest.approx(absolute.omega[body], abs=1e-5)
    assert joint.violation.max() < 1e-13 and joint.velocity_violation.max() < 1e-12
    if not system.redundant:
        for one in system.joints:
            assert joint.lam[one.name] == pytest.approx(absolute.lam[one.name], abs=1e-3)


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


def test_the_power_of_a_driver_balances_the_energy():
    run = runtime.simulate(driven_arms(), 1.5, coordinates="joint", **SETTINGS)
    balance = run.energy_balance
    assert np.abs(balance.error).max() < 1e-7 and run.message == "reached t = 1.5 s"
    assert all(np.abs(balance.work[name]).max() > 0.1 for name in ("first", "second"))


def test_steps_avoid_the_joints_with_most_coordinates():
    """A loop is cut at its ball joint, so that few coordinates and rows are left."""
    tree = models.four_bar.build("independent").tree
    system = models.four_bar.build("independent")
    assert [system.joints[k].kind for k in tree.closing] == ["spherical"] and len(tree.kinds) == 4


@pytest.mark.parametrize("name", ["polygon", "spatial_loop", "bricard", "change_point", "start_at_pose", "acting_loop"])
def test_random_mechanisms_agree_with_a_second_method(name):
    _examine(name, 3)


@pytest.mark.slow
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
