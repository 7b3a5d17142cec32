"""Foot and ground: equilibrium, and a fall by the implicit method against SciPy's methods and the explicit one."""

import numpy as np
import pytest

import runtime
from models import foot_ground, foot_sole
from runtime import Builder, ModelError, equilibrium, linearisation, simulate
from tests.support.contact_bodies import CRITICAL, STIFF, G, ball, block
from tests.support.refusals import assert_refused

# --- standing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", foot_sole.SHAPE_NAMES)
def test_a_standing_foot_carries_its_weight(shape):
    system = foot_ground.build(shape, height=0.0, pitch_deg=-2.0)
    state = equilibrium(system, simulate(system, 1.0, **STIFF).final)
    run = simulate(system, 1e-6, initial=state, **STIFF)
    masses = np.array([body.mass for body in system.bodies])
    reaction = run.ground_reaction()
    assert abs(reaction.force[0, 2] - G * masses.sum()) < 1e-10 * G * masses.sum()
    centre = sum(mass * state.r[name] for mass, name in zip(masses, system.body_names, strict=True)) / masses.sum()
    assert np.abs(reaction.centre_of_pressure[0, :2] - centre[:2]).max() < 1e-9
    assert reaction.centre_of_pressure[0, 2] == 0.0 and abs(reaction.free_moment[0]) < 1e-9
    still = simulate(system, 1.0, initial=state, **STIFF)
    assert max(np.abs(still.r[name][-1] - state.r[name]).max() for name in system.body_names) < 1e-7


def test_the_sink_of_a_sphere_is_that_of_its_law():
    system = ball((0, 0, 0), (0, 0, 0))
    sink = (0.4 * G / 1e5) ** (2 / 3)
    assert 0.05 - equilibrium(system).r["ball"][2] == pytest.approx(sink, rel=1e-10)
    stiffness = linearisation(system, equilibrium(system)).displacement[2, 2]
    assert -0.4 * stiffness == pytest.approx(1.5 * 1e5 * np.sqrt(sink), rel=1e-9)


@pytest.mark.parametrize("friction", foot_sole.FRICTIONS)
def test_a_foot_above_the_ground_sinks_to_its_rest(friction):
    system = foot_ground.build(friction=friction)
    state = equilibrium(system)
    assert (state.r["leg"] < system.state.r["leg"]).any() and sum(map(abs, state.v["leg"])) == 0.0
    still = simulate(system, 0.1, initial=state, **STIFF)
    assert max(np.abs(still.r[name][-1] - state.r[name]).max() for name in system.body_names) < 1e-8


def test_a_message_tells_why_there_is_no_equilibrium():
    hovering = Builder("hovering")
    hovering.body("ball", mass=0.4, inertia=(2e-4,) * 3, r=(0, 0, 0.1), free=True)
    with pytest.raises(
        ModelError, match="system 'hovering': no equilibrium near this state, where no displace"
    ) as error:
        equilibrium(hovering.build())
    assert "body 'ball' is still accelerated by 9.8" in str(error.value)
    assert "200 steps" not in str(error.value) and "friction" not in str(error.value)
    hovering.contact("sole", "ball", centre=(0, 0, 0), radius=0.05, law="hertz", stiffness=1e5)
    assert 0.04 < equilibrium(hovering.build()).r["ball"][2] < 0.05
    system, _ = block(CRITICAL - 0.1)
    assert_refused(
        "friction is zero without slip, so contact 'corner_0' carries no tangential force at rest", equilibrium, system
    )


# --- falling -------------------------------------------------------------------------------------------------------


def test_chattering_of_a_contact_ends():
    # The viscous part of Eq. (14) does not vanish with the normal force and pulls the sphere back as soon as that is zero.
    system = foot_ground.build(mu_d=30.0, pitch_deg=-10.0, speed=1.0)
    run = simulate(system, 1.0, method="radau", rtol=1e-8, atol=1e-8)
    assert run.success and len(run.contact_events) < 60


def test_methods_that_find_no_touch_down_are_refused_where_a_law_needs_it():
    b = Builder("ball")
    b.body("ball", mass=0.4, inertia=(2e-4,) * 3, r=(0, 0, 0.1), free=True)
    b.contact("sole", "ball", centre=(0, 0, 0), radius=0.05, law="flores", stiffness=1e5, exponent=1.5, restitution=0.7)
    assert_refused(
        "contact 'sole' damps by the speed of touch-down, which method 'BDF' does not find",
        simulate,
        b.build(),
        0.1,
        method="BDF",
    )


def test_events_and_steps_of_python_see_contacts(fall):
    rest = runtime.Event("up", lambda t, state: state.v["leg"][2], direction=1)
    run = simulate(fall.system, 0.3, events=[rest], method="radau", rtol=1e-10, atol=1e-10)
    assert run.success and len(run.events["up"]) >= 1
    assert np.array_equal(run.contact_events[:, 1:3], fall.contact_events[:, 1:3])
    assert np.abs(run.contact_events[:, 0] - fall.contact_events[:, 0]).max() < 1e-9


def test_data_of_contacts_are_written(fall, tmp_path):
    data = fall.to_xarray()
    assert list(data.contact.values) == [f"sphere_{k}" for k in range(1, 10)]
    assert data.contact_force.dims == ("time", "contact", "axis") and data.contact_force.attrs["units"] == "N"
    assert np.array_equal(data.contact_normal_force[:, 1], fall.contacts["sphere_2"].normal_force)
    assert len(data.contact_event_time) == len(fall.contact_events)
    text = fall.to_csv(tmp_path / "fall.csv").read_text().splitlines()[0]
    assert "sphere_2.normal_force [N]" in text and "sphere_9.point_z [m]" in text


@pytest.mark.parametrize(
    "changes, sentence",
    [
        (dict(shape="round"), "shape = 'round'; use 'normal', 'cavus' or 'flat'"),
        (dict(friction="ice"), "friction = 'ice'; use 'coulomb' or 'smooth'"),
        (dict(height=np.nan), "height = nan must be a finite number"),
        (dict(mu_c=-1.0), "mu_c = -1, must not be below 0"),
        (dict(stiffness=0.0), "stiffness = 0 N/m^n, must be above 0 N/m^n"),
    ],
)
def test_bad_input(changes, sentence):
    assert_refused(sentence, foot_ground.build, **changes)


def test_a_left_foot_moves_as_a_right_one():
    right, left = (foot_ground.build(side=side) for side in ("right", "left"))
    assert left.name == f"left {right.name}" and np.array_equal(left.state.y, right.state.y)
    bones = [[shape for shape in system.shapes if shape.body == "toes"] for system in (right, left)]
    assert max(abs(bone.at[1]) for bone in bones[0]) > 0.01
    for one, other in zip(*bones, strict=True):
        assert other.at == pytest.approx(one.at * (1.0, -1.0, 1.0), abs=1e-15)
    assert_refused("side = 'lft'", foot_ground.build, side="lft")
