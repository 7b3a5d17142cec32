"""Initial coordinates of joints: by the builder, by names in ensembles, and as states."""

import numpy as np
import pytest

import models
from runtime import GROUND, Builder, Signal, Status, simulate, simulate_many, with_parameters
from runtime.system import displaced, joint_coordinates
from runtime.system.assemble import check_state
from tests.support.refusals import assert_refused

ANGLES = {"ankle.theta_i": 0.3, "ankle.theta_j": -0.2}
RATES = {"ankle.theta_i": 1.0, "ankle.theta_j": -2.0}


def at(run, k=0):
    """Angles and rates of the ankle at a time of a run."""
    ankle = run.angles["ankle"]
    return [ankle.theta_i[k], ankle.theta_j[k], ankle.rates["theta_i"][k], ankle.rates["theta_j"][k]]


WANTED = pytest.approx([0.3, -0.2, 1.0, -2.0], abs=1e-12)


@pytest.mark.parametrize("ankle", ["classical", "modified"])
def test_a_state_has_the_coordinates_and_satisfies_the_constraints(ankle):
    system = models.foot.build(ankle)
    state = displaced(system, ANGLES, RATES)
    check_state(system, state, 0.0)
    run = simulate(system, 0.2, initial=state, t_eval=[0.0, 0.2])
    assert at(run) == WANTED and run.violation[0] < 1e-14
    later = displaced(system, {"ankle.theta_i": 0.1}, state=state)
    assert at(simulate(system, 0.01, initial=later)) == pytest.approx([0.1, -0.2, 1.0, -2.0], abs=1e-12)


def chain(turned=()):
    """A base, a slider on it, and a ball on the slider."""
    b = Builder("chain")
    for k, name in enumerate(("base", "slider", "ball")):
        b.body(name, mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0.2 * k, 0.0, 0.0))
    b.joint("hinge", "revolute", "base", GROUND, s_i=(0, 0, 0), a_i=(0, 0, 1), s_j=(0, 0, 0), a_j=(0, 0, 1))
    b.joint("guide", "cylindrical", "base", "slider", s_i=(0, 0, 0), a_i=(1, 0, 0), s_j=(0, 0, 0), a_j=(1, 0, 0))
    b.joint("socket", "spherical", "slider", "ball", s_i=(0.1, 0, 0), s_j=(-0.1, 0, 0))
    for joint, values, rates in turned:
        b.initial_coordinates(joint, rates=rates, **values)
    return b.build()


TURNED = (
    ("hinge", {"angle": 0.7}, {"angle": 1.5}),
    ("guide", {"angle": -0.4, "distance": 0.3}, {"distance": 0.8, "angle": -1.0}),
    ("socket", {"orientation_x": 0.2, "orientation_z": -0.5}, {"orientation_y": 2.0}),
)


def test_the_builder_turns_joints_after_the_reference_pose():
    system = chain(TURNED)
    run = simulate(system, 0.01)
    for joint, values, rates in TURNED:
        angles = run.angles[joint]
        for name in angles.values:
            assert angles[name][0] == pytest.approx(values.get(name, 0.0), abs=1e-12)
            assert angles.rates[name][0] == pytest.approx(rates.get(name, 0.0), abs=1e-12)
    assert run.violation[0] < 1e-14 and run.velocity_violation[0] < 1e-14
    # In closed form: the hinge turns the base, body i, against the ground by -0.7.
    c, s = np.cos(-0.7), np.sin(-0.7)
    assert system.state.r["slider"] == pytest.approx([c * 0.5, s * 0.5, 0.0], abs=1e-14)
    assert system.state.v["slider"] == pytest.approx([0.8 * c + 1.5 * 0.5 * s, 0.8 * s - 1.5 * 0.5 * c, 0.0], abs=1e-14)
    assert not system.assembly.remarks


def test_other_parameters_keep_the_reference():
    system = with_parameters(chain(TURNED), {"mass.ball": 2.0})
    assert simulate(system, 0.01).angles["hinge"].angle[0] == pytest.approx(0.7, abs=1e-12)
    moved = with_parameters(chain(TURNED), {"s_i.socket": (0.2, 0.0, 0.0)})
    angles = simulate(moved, 0.01).angles
    assert angles["guide"].angle[0] == pytest.approx(-0.4, abs=0.2)


def linked(axis, angles=True):
    b = Builder("linked")
    b.body("base", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0.2, 0.0, 0.0))
    b.body("arm", mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0.4, 0.1, 0.0))
    b.joint("hinge", "revolute", GROUND, "base", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(-0.2, 0, 0), a_j=(0, 1, 0))
    b.joint("link", "modified_universal", "base", "arm", s_i=(0.1, 0, 0), a_i=axis, s_j=(-0.05, 0, 0), a_j=(0, 0.6, 0.8),
            l=np.hypot(0.05, 0.1))  # fmt: skip
    if angles:
        b.initial_coordinates("link", theta_i=0.7, theta_j=-0.4)
    return b.build()


def test_other_parameters_take_held_constants_from_the_reference():
    before, after = np.array([0.1, 0.8, 0.59]), np.array([0.0, 0.8, 0.6])
    changed = with_parameters(linked(before / np.linalg.norm(before)), {"a_i.link": after})
    held = linked(after).data.x[1][13:16]
    assert changed.data.x[1][13:16] == pytest.approx(held, abs=1e-14)
    assert held != pytest.approx(linked(before / np.linalg.norm(before)).data.x[1][13:16], abs=1e-3)


def test_displacing_every_joint_of_a_chain():
    b, n = Builder("long chain"), 40
    for k in range(n):
        b.body(f"link_{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(k + 0.5, 0.0, 0.0))
        b.joint(f"joint_{k}", "spherical", f"link_{k - 1}" if k else GROUND, f"link_{k}",
                s_i=(0.5 if k else 0.0, 0, 0), s_j=(-0.5, 0, 0))  # fmt: skip
        b.initial_coordinates(f"joint_{k}", orientation_y=0.1)
    state = b.build().state
    along = np.cumsum([[np.cos(0.1 * k), -np.sin(0.1 * k)] for k in range(1, n + 1)], axis=0)
    half = 0.5 * np.array([np.cos(0.1 * n), -np.sin(0.1 * n)])
    assert state.r[f"link_{n - 1}"][[0, 2]] == pytest.approx(along[-1] - half, abs=1e-12)
    assert np.linalg.norm(state.p[f"link_{n - 1}"]) == pytest.approx(1.0, abs=1e-15)


def two_joints(**turn):
    """A ball and a constant angle between the same bodies."""
    b = Builder("two joints")
    b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0.2, 0.0, 0.0))
    b.joint("ball", "spherical", GROUND, "arm", s_i=(0, 0, 0), s_j=(-0.2, 0, 0))
    b.joint("tilt", "constant_angle", GROUND, "arm", a_i=(0, 0, 1), a_j=(1, 0, 0))
    b.initial_coordinates("ball", **turn)
    return b.build()


def driven():
    b = Builder("driven")
    b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0.2, 0.0, 0.0))
    b.joint("hinge", "revolute", GROUND, "arm", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(-0.2, 0, 0), a_j=(0, 1, 0))
    b.driver("motor", "guided_angle", GROUND, "arm", h_i=(0, 1, 0), a_i=(1, 0, 0), b_j=(1, 0, 0), theta_t=0.0)
    b.initial_coordinates("hinge", angle=0.3)
    return b.build()


def test_coordinates_that_another_joint_of_the_bodies_allows():
    assert two_joints(orientation_z=0.3).state.r["arm"] == pytest.approx([0.2 * np.cos(0.3), 0.2 * np.sin(0.3), 0.0])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: displaced(models.foot.build(), {"ankle.theta": 1.0}),
            "unknown coordinate 'ankle.theta'; did you mean 'ankle.theta_",
        ),
        (
            lambda: displaced(models.four_bar.build(), {"A.angle": 1.0}),
            "belongs to a closed loop, in which other joints have to",
        ),
        (
            lambda: simulate_many(
                models.four_bar.build(), {"angle.A.angle": [0.0, 1.0], "s_j.B": np.zeros((2, 3))}, 0.1
            ),
            "joint 'A' of system 'four-bar linkage, independent joints' belongs to a closed loop",
        ),
        (lambda: displaced(models.foot.build(), {"ankle.theta_i": np.nan}), "angle 'ankle.theta_i'"),
        (
            lambda: displaced(models.foot.build(), {"metatarsophalangeal.angle": 0.1}),
            "they violate metatarsophalangeal_lock.angle between the same bodies by 1.0e-01, limit 1e-06",
        ),
        (
            lambda: displaced(models.foot.build(), rates={"metatarsophalangeal.angle": 0.1}),
            "give values that joint 'metatarsophalangeal_lock' allows",
        ),
        (lambda: two_joints(orientation_y=0.3), "joint 'ball' of system 'two joints' cannot have these coordinates"),
        (driven, "violates motor.angle: |Phi| = 3.0e-01, limit 1e-06; leave out angles of joints that drivers move"),
        (
            lambda: chain((("hing", {"angle": 1.0}, None),)),
            "initial_coordinates: unknown joint 'hing'; did you mean 'hinge'",
        ),
        (
            lambda: chain((("hinge", {"turn": 1.0}, None),)),
            "unknown coordinate 'hinge.turn'; did you mean 'hinge.angle'",
        ),
        (
            lambda: simulate_many(models.foot.build(), {"angle.ankle.theta": [1.0]}, 1.0),
            "unknown coordinate 'ankle.theta'",
        ),
        (
            lambda: simulate_many(models.foot.build(), {"rate.ankle.theta_i": [[1.0, 2.0]]}, 1.0),
            "'rate.ankle.theta_i' has the shape (1, 2)",
        ),
    ],
)
def test_what_cannot_be_displaced_is_refused(call, says):
    assert_refused(says, call)


@pytest.mark.parametrize(
    ("given", "which"),
    [
        ({"p.main_foot": (1.0, 0.0, 0.0, 0.0), "angle.ankle.theta_i": 0.1}, "p.main_foot and angle.ankle.theta_i"),
        ({"omega.main_foot": (0.0, 0.0, 0.0), "rate.ankle.theta_j": 1.0}, "omega.main_foot and rate.ankle.theta_j"),
    ],
)
def test_states_of_bodies_that_given_coordinates_move_are_refused(given, which):
    """They would not be those of the run; the state of a body that keeps its own is no contradiction."""
    cases = {name: [value, value] for name, value in given.items()}
    sound = cases | {name: [0.0, values[1]] for name, values in cases.items() if name.startswith(("angle", "rate"))}
    many = simulate_many(models.foot.build(), sound, 0.1)
    assert many.status.tolist() == [Status.REACHED_END, Status.REFUSED]
    assert many.messages[1].startswith(
        f"{which} contradict each other: the joints move body 'main_foot'; give its state by"
    )
    beside = simulate_many(models.foot.build(), {"angle.ankle.theta_i": [0.1], "p.leg": [[1.0, 0.0, 0.0, 0.0]]}, 0.1)
    assert beside.success


def on_a_driver(rates):
    """Rates of two arms, the first of which a driver turns, at 2 rad/s at the start."""
    b = Builder("two arms")
    for k, (name, joint) in enumerate((("upper", "hip"), ("lower", "knee"))):
        b.body(name, mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0, 0, -0.5 - k))
        b.joint(joint, "revolute", ("ground", "upper")[k], name, axes="global", point=(0, 0, -k), axis=(0, 1, 0))
    axes = dict(a_i=(1, 0, 0), h_i=(0, 1, 0), b_j=(1, 0, 0))
    swing = Signal.function(lambda t: np.sin(2.0 * t), 0.0, 2.0)
    b.driver("swing", "guided_angle", "ground", "upper", **axes, theta_t=swing)
    for joint, rate in rates.items():
        b.initial_coordinates(joint, rates={"angle": rate})
    return b.build()


def test_given_rates_are_kept_beside_drivers():
    rates = joint_coordinates(on_a_driver({"knee": 1.0}))[1]
    assert rates["knee.angle"] == pytest.approx(1.0, abs=1e-12) and abs(rates["hip.angle"]) == pytest.approx(2.0)
    assert_refused(
        ("in row swing.angle, limit ", "; leave out rates of joints that drivers move"),
        on_a_driver,
        {"knee": 1.0, "hip": 0.5},
    )
