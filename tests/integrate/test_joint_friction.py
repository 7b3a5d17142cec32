"""Friction by the reaction of its joint: closed forms, independent references, loops, and what has no unique value."""

import re

import numpy as np
import pytest

from runtime import Builder, ModelError, Status, simulate
from tests.support.planar_friction import G, SliderCrank, pendulum, pushed_block
from tests.support.planar_friction import arm_on_a_journal as journal
from tests.support.refusals import assert_refused

STIFF = dict(method="radau", rtol=1e-9, atol=1e-11)
Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)
FAR = 1e9  # [m] spacing of bearings whose tilting moment does not count


def slope(angle_deg, coefficient=0.3, speed=0.0, transition_velocity=1e-9, offset=0.0, spacing=FAR, redundant=False):
    """A block on a slider down a slope, its centre of mass above the line by ``offset``."""
    angle = np.deg2rad(angle_deg)
    down, normal = np.array([np.cos(angle), 0.0, -np.sin(angle)]), np.array([np.sin(angle), 0.0, np.cos(angle)])
    b = Builder("slope")
    b.body("block", mass=2.0, inertia=(0.1, 0.1, 0.1), r=offset * normal, v=speed * down)
    values = dict(a_i=down, a_j=down, s_i=Z, s_j=-offset * normal)
    b.joint("line", "translational", "ground", "block", **values)
    if redundant:
        b.joint("rail", "translational", "ground", "block", **values)
    law = dict(coefficient=coefficient, spacing=spacing, transition_velocity=transition_velocity, damping=0.0)
    b.force("rub", "guide_friction", "ground", "block", joint="line", **law)
    return b.build(), down, angle


@pytest.mark.parametrize("angle_deg", [5.0, 16.0])
def test_a_block_below_the_friction_angle_stays(angle_deg):
    """tan(16.7 deg) = 0.3."""
    system, down, angle = slope(angle_deg)
    run = simulate(system, 100.0, t_eval=np.linspace(0.0, 100.0, 21), **STIFF)
    assert run.success and np.abs(run.r["block"] @ down).max() < 1e-6
    held = run.forces["rub"].force_j[1:] @ down
    assert held == pytest.approx(-2.0 * G * np.sin(angle), rel=5e-2)
    assert run.forces["rub"].load[1:] == pytest.approx(2.0 * G * np.cos(angle), rel=1e-9)


@pytest.mark.parametrize("method", ["radau", "auto", "BDF"])
def test_a_block_above_the_friction_angle_slides(method):
    system, down, angle = slope(25.0)
    run = simulate(system, 2.0, t_eval=[1.0, 2.0], method=method, rtol=1e-9, atol=1e-11)
    acceleration = G * (np.sin(angle) - 0.3 * np.cos(angle))
    assert run.r["block"] @ down == pytest.approx(0.5 * acceleration * np.array([1.0, 4.0]), rel=1e-6)
    assert run.forces["rub"].power == pytest.approx(-0.3 * 2.0 * G * np.cos(angle) * acceleration * run.t, rel=1e-6)


def test_the_friction_loads_its_own_pads():
    """The friction acts h off the centre of mass, and its moment h mu N presses the pads apart by h mu N / b each way.

    Up to h mu = b / 2 both forces keep their sign, and their sum stays m g cos.
    """
    system, down, angle = slope(30.0, offset=0.05, spacing=0.2, speed=1.0, coefficient=0.5)
    run = simulate(system, 0.5, t_eval=[0.0, 0.5], **STIFF)
    # The inertial force along the line and the weight act at the centre of mass, h above the line: only mu N h tilts.
    weight = 2.0 * G * np.cos(angle)
    assert run.forces["rub"].load == pytest.approx(weight, rel=1e-9)
    acceleration = G * np.sin(angle) - 0.5 * weight / 2.0
    assert run.v["block"] @ down == pytest.approx([1.0, 1.0 + 0.5 * acceleration], rel=1e-8)


def test_more_friction_than_its_own_load_bears_is_refused():
    """2 mu h / b = 1.5: each newton of load brings 1.5 N more, and the block jams (Painleve)."""
    says = r"force 'rub' \(guide_friction\): a load of 1 N on joint 'line' causes friction that loads it by 1.5 N again, limit 1"
    assert_refused(re.compile(says), slope, 30.0, offset=0.3, spacing=0.2, speed=1.0, coefficient=0.5)
    system, *_ = slope(30.0, offset=0.19, spacing=0.2, speed=1.0, coefficient=0.5)  # 0.95: unique
    assert simulate(system, 0.1, **STIFF).success


def test_friction_that_jams_on_the_way_ends_the_run_with_its_name():
    """The block starts at rest, where its friction is zero; full friction would feed back 1.5 of its load."""
    run = simulate(pushed_block(0.5, 1e-2), 1.0, method="radau")
    assert run.status == Status.FRICTION_NOT_UNIQUE and not run.success
    assert "the friction of a joint by its own reaction has no unique value" in run.message
    assert "force 'rub' (guide_friction): a load of 1 N on joint 'line'" in run.message


def test_thrust_of_an_inclined_axis():
    """The axis is tilted by 30 degrees; the tilting moment does not count with bearings far apart."""
    t = np.linspace(0.0, 3.0, 7)
    _, rate = pendulum(t, 0.4, 0.05, 0.05, thrust=0.1, tilt=np.deg2rad(30.0))
    system = journal(0.4, 0.05, 0.05, thrust_radius=0.1, tilt=np.deg2rad(30.0), spacing=FAR)
    run = simulate(system, 3.0, t_eval=t, method="dop853", rtol=1e-11, atol=1e-11)
    axis = np.array([0.0, np.cos(np.deg2rad(30.0)), np.sin(np.deg2rad(30.0))])
    assert np.abs(run.omega["arm"] @ axis - rate).max() < 2e-8
    assert np.abs(run.forces["rub"].thrust) == pytest.approx(2.0 * G * np.sin(np.deg2rad(30.0)), rel=1e-9)


def sleeve(coefficient=0.3, speed=2.0, spin=15.0, push=0.0):
    """A ring on a horizontal shaft, sliding and turning."""
    b = Builder("sleeve")
    b.body("ring", mass=2.0, inertia=(0.02, 0.05, 0.05), v=(speed, 0, 0), omega=(spin, 0, 0))
    b.joint("shaft", "cylindrical", "ground", "ring", s_i=Z, s_j=Z, a_i=(1, 0, 0), a_j=(1, 0, 0))
    law = dict(coefficient=coefficient, radius=0.1, spacing=FAR, transition_velocity=1e-9)
    b.force("rub", "sleeve_friction", "ground", "ring", joint="shaft", **law)
    if push:
        b.load("push", "ring", force=(push, 0.0, 0.0))
    return b.build()


def test_a_ring_that_slides_and_turns_keeps_the_direction_of_its_slip():
    """With m r^2 = J the slip keeps its direction, so that speed and spin end together after slip / (mu g)."""
    speed, spin = 2.0, 15.0
    slip = np.hypot(speed, 0.1 * spin)
    run = simulate(sleeve(), 2.0, t_eval=[0.0, 0.2, 2.0], **STIFF)
    share = 1.0 - 0.3 * G * 0.2 / slip
    assert run.v["ring"][1, 0] == pytest.approx(speed * share, rel=1e-7)
    assert run.omega["ring"][1, 0] == pytest.approx(spin * share, rel=1e-7)
    assert run.r["ring"][2, 0] == pytest.approx(0.5 * speed * slip / (0.3 * G), rel=1e-6)
    assert abs(run.v["ring"][2, 0]) < 1e-9


def slider_crank(model, start, rate, *, hinges=False, spacing=None):
    """The same mechanism in space.  ``hinges``: a hinge at B in place of a point_on_line, which makes three rows redundant."""
    b = Builder("slider_crank")
    angle, other = start, model.geometry(start)
    u = -model.crank * rate * np.cos(angle) / (model.rod * np.cos(other))

    def e(a):
        return np.array([np.cos(a), 0.0, -np.sin(a)])

    def n(a):
        return np.array([-np.sin(a), 0.0, -np.cos(a)])

    A = model.crank * e(angle)
    B = A + model.rod * e(other)
    v_A = model.crank * rate * n(angle)
    v_B = v_A + model.rod * u * n(other)
    poses = [
        ("crank", 0.5 * A, 0.5 * v_A, angle, rate), ("rod", 0.5 * (A + B), 0.5 * (v_A + v_B), other, u), ("block", B, v_B, 0, 0),
    ]  # fmt: skip
    for (name, r, v, turn, w), m, J in zip(poses, model.masses, model.inertias, strict=True):
        p = (np.cos(turn / 2), 0.0, np.sin(turn / 2), 0.0)
        b.body(name, mass=m, inertia=(J, J, J), r=r, p=p, v=v, omega=(0.0, w, 0.0))
    c, d = 0.5 * model.crank, 0.5 * model.rod
    b.joint("O", "revolute", "ground", "crank", s_i=Z, s_j=(-c, 0, 0), a_i=Y, a_j=Y)
    b.joint("A", "revolute", "crank", "rod", s_i=(c, 0, 0), s_j=(-d, 0, 0), a_i=Y, a_j=Y)
    if hinges:
        b.joint("B", "revolute", "rod", "block", s_i=(d, 0, 0), s_j=Z, a_i=Y, a_j=Y)
    else:
        b.joint("B", "point_on_line", "rod", "block", s_i=(d, 0, 0), s_j=Z, a_i=Y)
    b.joint("guide", "translational", "ground", "block", s_i=Z, s_j=Z, a_i=(1, 0, 0), a_j=(1, 0, 0))
    for name, ends in (("O", ("ground", "crank")), ("A", ("crank", "rod")), ("B", ("rod", "block"))):
        pin = dict(
            radius=model.radius,
            thrust_radius=0.0,
            spacing=spacing or FAR,
            transition_velocity=model.transition_velocities[0],
        )
        b.force(f"pin_{name}", "journal_friction", *ends, joint=name, coefficient=model.mu, damping=0.0, **pin)
    if model.of_pads:
        pads = dict(
            coefficient=model.of_pads,
            spacing=model.spacing,
            transition_velocity=model.transition_velocities[1],
            damping=0.0,
        )
        b.force("pads", "guide_friction", "ground", "block", joint="guide", **pads)
    return b.build()


@pytest.mark.slow
def test_a_loop_with_friction_in_every_joint():
    model = SliderCrank(0.2, 0.03, 0.1, 0.2, 0.05)
    system = slider_crank(model, 0.4, 12.0)
    assert not system.redundant
    t = np.linspace(0.0, 1.0, 11)
    angle, rate = model.integrate(t, 0.4, 12.0)
    run = simulate(system, 1.0, t_eval=t, method="dop853", rtol=1e-11, atol=1e-11)
    assert run.success and np.abs(run.omega["crank"][:, 1] - rate).max() < 1e-7
    loads = np.array([model.solve(a, w)[1] for a, w in zip(angle, rate, strict=True)])
    found = np.column_stack([run.forces[name].load for name in ("pin_O", "pin_A", "pin_B", "pads")])
    assert np.abs(found - loads).max() < 1e-5 * loads.max()
    stiff = simulate(system, 1.0, t_eval=t, method="radau", rtol=1e-10, atol=1e-10)
    assert np.abs(stiff.omega["crank"][:, 1] - rate).max() < 1e-6


def test_redundant_rows_that_do_not_touch_the_loads_do_not_matter():
    """All joints are hinges in the plane: thrusts and tilting moments are undetermined, the forces in the plane are not."""
    model = SliderCrank(0.2, 0.03, FAR, 0.2, 0.05, of_pads=0.0)
    system = slider_crank(model, 0.4, 12.0, hinges=True)
    assert len(system.redundant) == 3
    t = np.linspace(0.0, 1.0, 11)
    _, rate = model.integrate(t, 0.4, 12.0)
    run = simulate(system, 1.0, t_eval=t, method="dop853", rtol=1e-11, atol=1e-11)
    assert run.success and np.abs(run.omega["crank"][:, 1] - rate).max() < 1e-7


def test_friction_by_an_undetermined_reaction_is_refused():
    model = SliderCrank(0.2, 0.03, 0.1, 0.2, 0.05)
    says = r"force 'pin_O' \(journal_friction\): redundant rows \(.*\) leave the load .* of joint 'O' undetermined; use joints"
    assert_refused(re.compile(says), slider_crank, model, 0.4, 12.0, hinges=True, spacing=0.1)
    with pytest.raises(
        ModelError, match=r"force 'pads' \(guide_friction\): redundant rows"
    ):  # the force across the plane
        slider_crank(SliderCrank(0.2, 0.0, FAR, 0.2, 0.05), 0.4, 12.0, hinges=True)
    assert_refused(
        "leave the load that it takes from the reaction of joint 'line' undetermined", slope, 10.0, redundant=True
    )
