"""Friction that sticks: blocks on slopes held, sliding and stopping, hinges and sliders held, against closed forms."""

import numpy as np
import pytest

from runtime import Builder, simulate
from tests.support.refusals import assert_refused

G = 9.81
STIFF = dict(method="radau", rtol=1e-9, atol=1e-11)


def block(slope_deg, speed=0.0, push=0.0, **law):
    """A block on four spheres, at rest in the plane under its weight, with a speed down the slope."""
    angle = np.deg2rad(slope_deg)
    down, n = np.array([np.cos(angle), 0.0, -np.sin(angle)]), np.array([np.sin(angle), 0.0, np.cos(angle)])
    b = Builder("block")
    weight, stiffness = 1.3 * G * np.cos(angle), 3e4
    depth = weight / 4.0 / stiffness
    b.body(
        "block", mass=1.3, inertia=(0.003, 0.004, 0.005), r=(0.02 - depth) * n, v=speed * down, free=True,
        p=(np.cos(angle / 2), 0, np.sin(angle / 2), 0),
    )  # fmt: skip
    if push:
        b.load("push", "block", force=(0.0, push, 0.0))
    law = law or dict(friction="sticking", mu_s=0.4, mu_c=0.4, mu_d=0.0, fading=0.1)
    spring = dict(law="kelvin_voigt", stiffness=stiffness, exponent=1.0, damping=100.0)
    for k, (x, y) in enumerate([(0.08, 0.03), (0.08, -0.03), (-0.08, 0.03), (-0.08, -0.03)]):
        b.contact(f"c{k}", "block", centre=(x, y, 0.0), radius=0.02, normal=tuple(n), **spring, **law)
    return b.build(), down


@pytest.mark.parametrize("slope", [5.0, 15.0, 21.0])
def test_a_block_on_a_slope_below_the_friction_angle_stays(slope):
    """tan(21.8 deg) = 0.4.  In the first 0.1 s the block tilts on its springs until the load is shared."""
    system, down = block(slope)
    run = simulate(system, 100.1, t_eval=[0.1, 100.1], **STIFF)
    assert run.success
    assert np.abs((run.r["block"][1] - run.r["block"][0]) @ down) < 1e-6
    assert run.stats.evaluations < 5000


def test_a_sliding_block_stops_and_stays():
    angle = np.deg2rad(15.0)
    system, down = block(15.0, speed=1.0)
    t = np.linspace(0.0, 4.0, 401)
    run = simulate(system, 4.0, t_eval=t, **STIFF)
    braking = G * (0.4 * np.cos(angle) - np.sin(angle))
    moved = (run.r["block"] - run.r["block"][0]) @ down
    assert moved[-1] == pytest.approx(1.0 / (2.0 * braking), rel=1e-3)  # the block also pitches while it brakes
    after = moved[t > 1.0 / braking + 0.2]
    assert np.ptp(after) < 1e-8
    assert np.abs(run.v["block"][-1]).max() < 1e-9
    assert np.diff(run.energy).max() < 1e-9


def test_static_friction_holds_more_than_friction_in_motion():
    """tan(25 deg) lies between mu_c and mu_s: a block at rest stays, a moving one does not stop."""
    law = dict(friction="sticking", mu_s=0.6, mu_c=0.3, mu_d=0.0, fading=1e-3)
    held, down = block(25.0, **law)
    run = simulate(held, 10.1, t_eval=[0.1, 10.1], **STIFF)
    assert np.abs((run.r["block"][1] - run.r["block"][0]) @ down) < 1e-6
    moving, down = block(25.0, speed=0.5, **law)
    run = simulate(moving, 1.0, t_eval=[0.5, 1.0], **STIFF)
    angle = np.deg2rad(25.0)
    expected = 0.5 * G * (np.sin(angle) - 0.3 * np.cos(angle))
    assert (run.v["block"][1] - run.v["block"][0]) @ down == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("push", "holds"), [(3.0, True), (4.5, False)])
def test_a_push_across_the_slope_is_held_in_the_plane(push, holds):
    """Weight down the slope and a push across it together stay below the limit, or exceed it."""
    angle = np.deg2rad(15.0)
    system, _ = block(15.0, push=push)
    assert (np.hypot(1.3 * G * np.sin(angle), push) < 0.4 * 1.3 * G * np.cos(angle)) == holds
    run = simulate(system, 5.1, t_eval=[0.1, 5.1], **STIFF)
    moved = run.r["block"][1] - run.r["block"][0]
    assert (np.linalg.norm(moved) < 1e-7) == holds
    assert holds or (moved[1] > 0.01 and moved[0] > 0.01)  # it slides along the sum of both


def arm(friction, transition_velocity=1e-9, omega=0.0):
    """A pendulum that hangs out horizontally from a hinge with friction."""
    b = Builder("arm")
    b.body("arm", mass=2.0, inertia=(0.01, 0.01, 0.01), r=(0.5, 0, 0), omega=(0, omega, 0), v=(0, 0, -0.5 * omega))
    b.joint("hinge", "revolute", "ground", "arm", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(-0.5, 0, 0), a_j=(0, 1, 0))
    b.force(
        "f",
        "hinge_friction",
        "ground",
        "arm",
        a_i=(0, 1, 0),
        friction=friction,
        transition_velocity=transition_velocity,
        damping=0.0,
    )
    return b.build()


def test_a_hinge_is_held_by_its_friction():
    limit = 2.0 * G * 0.5
    run = simulate(arm(1.01 * limit), 100.0, t_eval=[0.0, 100.0], **STIFF)
    assert np.abs(run.r["arm"][1] - run.r["arm"][0]).max() < 1e-6
    assert run.reaction("hinge", on="arm").force[1, 2] == pytest.approx(2.0 * G, rel=1e-6)
    run = simulate(arm(0.99 * limit), 1.0, t_eval=[0.0, 1.0], **STIFF)
    fallen = 0.01 * limit / (0.01 + 0.5) / 2.0
    assert -run.r["arm"][1, 2] == pytest.approx(0.5 * np.sin(fallen), rel=0.05)


def test_a_swinging_arm_comes_to_rest_off_its_lowest_point():
    run = simulate(arm(3.0), 20.0, t_eval=np.linspace(0.0, 20.0, 201), **STIFF)
    x, z = run.r["arm"][-1, [0, 2]]
    assert np.ptp(run.r["arm"][150:], axis=0).max() < 1e-7
    assert abs(2.0 * G * x) < 3.0 and z < -0.4  # held where the weight is not enough to turn it
    assert np.diff(run.energy).max() < 1e-9


def test_a_slider_stops_and_is_held():
    b = Builder("slider")
    angle = np.deg2rad(30.0)
    down = (np.cos(angle), 0.0, -np.sin(angle))
    b.body("block", mass=2.0, inertia=(0.1, 0.1, 0.1), v=tuple(np.array(down)))
    b.joint("line", "translational", "ground", "block", s_i=(0, 0, 0), a_i=down, s_j=(0, 0, 0), a_j=down)
    values = dict(s_i=(0, 0, 0), s_j=(0, 0, 0), a_i=down, friction=14.0, transition_velocity=1e-9, damping=0.0)
    b.force("f", "slider_friction", "ground", "block", **values)
    run = simulate(b.build(), 50.0, t_eval=[0.0, 1.0, 50.0], **STIFF)
    braking = 7.0 - G * np.sin(angle)
    moved = run.r["block"] @ down
    assert moved[1] == pytest.approx(0.5 / braking, rel=1e-6)
    assert abs(moved[2] - moved[1]) < 1e-6


def test_an_explicit_method_is_refused_for_friction_that_sticks():
    system, _ = block(10.0)
    says = (
        "contact 'c0': transition_velocity = 1e-09, for which the explicit method 'dop853' would need steps far "
        "below a microsecond"
    )
    assert_refused(says, simulate, system, 1.0, method="dop853")
