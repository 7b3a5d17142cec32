"""Cases that no vector instructions serve run one after another: the bits and messages of single runs, also without systems."""

import threading
import time
from contextlib import suppress
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import models
import runtime
from benchmarks.random import model, question
from runtime import Builder, Signal, Status
from runtime.ensemble import chunk
from runtime.integrate import balance_check
from runtime.results.outputs import quantities_of_runs, undetermined_outputs, values_of
from tests.support.marks import quick_for
from tests.support.systems import LAWS, powered, slider

SETTINGS = dict(rtol=1e-8, atol=1e-8)
SHARE = np.array([0.9, 1.0, 1.13])


@pytest.fixture(autouse=True)
def less_in_lanes(monkeypatch):
    """Trees without a kernel have too many steps for lanes."""
    monkeypatch.setattr("runtime.integrate.tree_method.MOST_STEPS", 0)


def mechanism(name):
    """A random mechanism of a class."""
    return model.system_of(question.CLASSES[name](np.random.default_rng([0])), name)


def sprung():
    """A pendulum of two bodies of 1 kg, with a spring, a motor and a load."""
    b = Builder("sprung")
    b.body("upper", mass=1.0, inertia=(0.1, 0.1, 0.1), r=(0.0, 0.0, -0.5))
    b.body("lower", mass=1.0, inertia=(0.1, 0.2, 0.1), r=(0.0, 0.0, -1.5))
    b.joint("hip", "spherical", "ground", "upper", axes="global", point=(0, 0, 0))
    b.joint("knee", "revolute", "upper", "lower", axes="global", point=(0, 0, -1), axis=(0, 1, 0))
    at = dict(s_i=(1.0, 0.0, -1.0), s_j=(0.0, 0.0, 0.2))
    b.force("spring", "spring_damper", "ground", "lower", **at, stiffness=30.0, damping=0.5, free_length=0.7)
    vectors = dict(h_i=(0.0, 1.0, 0.0), a_i=(1.0, 0.0, 0.0), b_j=(1.0, 0.0, 0.0))
    b.motor("drive", "guided_angle", "upper", "lower", **vectors, stiffness=3.0, damping=0.2, theta_t=0.3)
    b.load("push", "upper", force=(Signal.function(lambda t: np.sin(5 * t), 0.0, 2.0), 0.0, 0.0))
    return b.build()


def geared():
    """Two pendulums; the angle of the second follows that of the first."""
    b = Builder("geared")
    b.body("one", mass=1.0, inertia=(0.1, 0.2, 0.3), r=(0.5, 0.0, 0.0))
    b.body("two", mass=2.0, inertia=(0.1, 0.3, 0.2), r=(0.5, 1.0, 0.0))
    b.joint("a", "revolute", "ground", "one", axes="global", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("b", "revolute", "ground", "two", axes="global", point=(0, 1, 0), axis=(0, 1, 0))
    b.coupling("gear", "b.angle", "a.angle", (0.0, 0.3, 0.2))
    b.initial_coordinates("a", angle=0.3, rates={"angle": 1.0})
    return b.build()


def masses(system):
    """Cases of the masses of its last two bodies."""
    return {f"mass.{body.name}": body.mass * SHARE for body in system.bodies[-2:]}


def floating():
    """A body that nothing holds, with another one on a ball joint, both turning."""
    b = Builder("floating")
    b.body("chaser", mass=2.0, inertia=(0.1, 0.2, 0.25), omega=(0.3, 1.0, 0.2), free=True, guess=True)
    b.body("arm", mass=0.5, inertia=(0.01, 0.02, 0.02), r=(0.0, 0.0, 0.6), omega=(0.3, -1.0, 0.2), guess=True)
    b.joint("shoulder", "spherical", "chaser", "arm", axes="global", point=(0, 0, 0.3))
    return b.build(project_velocities=True)


@cache
def ground():
    return models.foot_ground.build(height=0.002)


@cache
def limited():
    return models.foot.build(limits="dissipative")


@pytest.fixture(autouse=True)
def one_after_another(monkeypatch):
    """Cases with closed loops and drivers, too, which otherwise run side by side; see ``test_closed_in_lanes``."""
    monkeypatch.setattr(chunk, "run_side_by_side", lambda *_: None)


@cache
def sliding():
    return slider("flores", "coulomb", **LAWS["flores"])


@cache
def loop():
    return models.four_bar.build(crank_speed=1.0)


def of_masses(system, t_end, **settings):
    """The system with cases of masses."""
    return system, masses(system), t_end, settings


THROWN = dict(coordinates="absolute", assemble=True)
JOINT = dict(coordinates="joint")
WAYS = {
    "contacts": lambda: of_masses(ground(), 0.03),
    "contacts, five turns": lambda: of_masses(ground(), 1.0, method="auto", rtol=1e-6, atol=1e-6),
    "laws and points of contacts": lambda: (
        sliding(),
        {"restitution.sole_0": 0.7 * SHARE, "mu_c.sole_1": 0.6 * SHARE, "radius.sole_2": 0.02 * SHARE}
        | {"centre.sole_1": runtime.parameters(sliding())["centre.sole_1"] * SHARE[:, None] ** 0.1},
        0.05,
        {},
    ),
    "contacts, radau": lambda: of_masses(ground(), 0.1, method="radau"),
    "contacts, velocities": lambda: (
        ground(),
        {"omega.toes": np.outer(SHARE, [0.1, 0.2, 0])},
        0.02,
        dict(assemble=True),
    ),
    "limits": lambda: (limited(), {"omega.main_foot": np.outer(SHARE, [0, 2.0, 0])} | masses(limited()), 0.3, THROWN),
    "load and motor": lambda: of_masses(powered(), 0.3),
    "spring, motor": lambda: (sprung(), {"stiffness.spring": 30.0 * SHARE, "damping.drive": 0.2 * SHARE}, 0.3, {}),
    "points of joints": lambda: (sprung(), {"s_j.hip": np.outer(SHARE, [0, 0, 0.5])}, 0.2, dict(assemble=True)),
    "driver": lambda: of_masses(mechanism("driven_loop"), 0.3),
    "loop by a kernel": lambda: (loop(), {"mass.coupler": SHARE, "gravity": np.outer(SHARE, [0, 0, -9.81])}, 0.3, {}),
    "loop by recursion": lambda: of_masses(mechanism("modified_loop"), 0.3, **JOINT),
    "floating tree by recursion": lambda: of_masses(floating(), 0.3, **JOINT),
    "forces by recursion": lambda: (sprung(), {"rate.knee.angle": SHARE} | masses(sprung()), 0.3, JOINT),
    "coupling": lambda: (geared(), {"rate.a.angle": SHARE, "mass.two": SHARE}, 0.3, {}),
    "all kinds of forces": lambda: of_masses(mechanism("acting_loop"), 0.1, method="auto"),
    "built by a function": lambda: (models.four_bar.build, {"crank": 0.2 * SHARE, "crank_speed": SHARE}, 0.2, {}),
}


# Cases that differ in joints, starts or what their equations do not read have a system each.
OF_SYSTEMS = (
    "contacts, velocities", "limits", "points of joints", "forces by recursion", "coupling", "built by a function",
)  # fmt: skip
QUICK = "contacts", "coupling", "loop by a kernel", "floating tree by recursion", "spring, motor"
STATES_ALONE = "contacts, five turns", "contacts, radau"


@pytest.mark.parametrize("way", quick_for(WAYS, QUICK, pytest.mark.slow))
def test_outputs_counts_and_messages_have_the_bits_of_single_runs(way, monkeypatch):
    made = []

    built = chunk.built_cases

    def recorded(task, chunk, cases, wanted, *more):
        made.extend(wanted)
        return built(task, chunk, cases, wanted, *more)

    monkeypatch.setattr(chunk, "built_cases", recorded)
    system, cases, t_end, more = WAYS[way]()
    one = system if isinstance(system, runtime.System) else system()
    kept = {name: own for name, own in quantities_of_runs(one).items() if way not in STATES_ALONE or own.part in "rpv"}
    settings = dict(t_eval=np.linspace(0.0, t_end, 7), chunk=3, **SETTINGS | more)
    many = runtime.simulate_many(system, cases, t_end, outputs=list(kept), **settings)
    few = runtime.simulate_many(system, cases, t_end, outputs=list(kept)[-2:], **settings | dict(chunk=1, workers=2))
    assert many.success and not many.vectorised.any() and bool(made) == (way in OF_SYSTEMS)
    assert all(few[name].tobytes() == many[name].tobytes() for name in few.outputs)
    for case in range(len(many)):
        run = many[case]
        for name, quantity in kept.items():
            assert many[name][case].tobytes() == np.ascontiguousarray(values_of(run, quantity)).tobytes(), name
        assert tuple(many.counts[case]) == (run.stats.evaluations, run.stats.steps, run.stats.rejections)
        left = undetermined_outputs(run, many.outputs)
        assert many.messages.get(case, run.message) == (left or run.message)


RANDOM = [name for name in question.CLASSES if name != "start_at_pose"]
OFTEN = "driven_parallelogram", "near_change_point", "acting_loop", "spatial_loop", "tree", "driven_loop"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*nearly dependent rows")
@pytest.mark.parametrize("name", quick_for(RANDOM, OFTEN, pytest.mark.nightly))
def test_random_mechanisms_have_the_bits_and_messages_of_single_runs(name, monkeypatch):
    made = question.CLASSES[name](np.random.default_rng([7]))
    system, t = model.system_of(made, name), np.linspace(0.0, made.t_end, 5)
    for more in (JOINT, dict(method="auto", alpha=5.0, beta=5.0)):
        with suppress(runtime.ModelError):  # those without coordinates of joints
            many = runtime.simulate_many(system, masses(system), t[-1], t_eval=t, max_steps=2000, **SETTINGS | more)
            with monkeypatch.context() as patch:
                patch.setattr(chunk, "run_named", lambda *_: None)
                each = runtime.simulate_many(system, masses(system), t[-1], t_eval=t, max_steps=2000, **SETTINGS | more)
            assert np.array_equal(many.states(), each.states(), equal_nan=True) and (many.counts == each.counts).all()
            assert (many.status == each.status).all() and many.messages == each.messages


def test_remarks_are_those_of_single_runs(monkeypatch):
    cases = {"mass.toes": ground().body("toes").mass * SHARE}
    many = runtime.simulate_many(ground(), cases, 0.2, **SETTINGS)
    assert "bounded by stability" in many.messages[1] and many.messages[1] == many[1].message
    for name in ("EACH_STEP", "ROUNDING"):  # as if the tolerance explained nothing
        monkeypatch.setattr(balance_check, name, 0.0)
    many = runtime.simulate_many(ground(), cases, 0.02, method="auto", **SETTINGS)
    assert "the energy balance is off by" in many.messages[2]
    assert many.messages[2] == many[2].message


def test_failures_are_those_of_single_runs():
    many = runtime.simulate_many(ground(), {"mass.toes": 0.3 * SHARE}, 0.05, max_steps=3, **SETTINGS)
    assert (many.status == Status.STEPS_USED_UP).all() and not many.vectorised.any()
    assert many.messages[0] == many[0].message and "max_steps = 3" in many.messages[0]
    # Far off the rows in one case: the others are not concerned.
    speeds = np.zeros((3, 3))
    speeds[1] = 1.0
    many = runtime.simulate_many(ground(), {"omega.toes": speeds}, 0.02, **SETTINGS)
    assert many.status.tolist() == [0, Status.REFUSED, 0] and "assemble=True" in many.messages[1]


def test_a_case_that_ends_early_without_an_output_keeps_both_messages():
    def weight(springs):
        b = Builder("weight")
        b.body("bob", mass=1.0, inertia=(0.1, 0.2, 0.3), omega=(1.0, 2.0, 0.0), free=True)
        if springs:
            at = dict(s_i=(0, 0, 1), s_j=(0, 0, 0.1))
            b.force("spring", "spring_damper", "ground", "bob", **at, stiffness=9.0, damping=0.0, free_length=0.7)
        return b.build()

    many = runtime.simulate_many(
        weight, {"springs": [1, 0]}, 9.0, outputs=["force_length.spring"], t_eval=[0.0, 9.0], max_steps=1
    )
    assert "max_steps = 1" in many.messages[0] and "no quantity" not in many.messages[0]
    assert "max_steps = 1" in many.messages[1] and "has no quantity 'force_length.spring'" in many.messages[1]


def test_a_case_that_simulate_refuses_leaves_the_others(monkeypatch):
    coupler = loop().body_index("coupler") + 1

    def refusing(system, *given, **more):
        if system.data.mass[coupler] == SHARE[1]:
            raise runtime.ModelError("mass refused")
        return runtime.simulate(system, *given, **more)

    monkeypatch.setattr("runtime.ensemble.single_runs.simulate", refusing)
    many = runtime.simulate_many(loop(), {"mass.coupler": SHARE}, 0.2, **SETTINGS)
    assert many.status.tolist() == [0, Status.REFUSED, 0] and many.messages == {1: "mass refused"}


def test_a_case_that_turns_to_other_equations_has_a_system(monkeypatch):
    """Joint coordinates fail at the start: each case goes on in absolute ones, with numbers of its own."""
    failed = Status.STEP_TOO_SMALL, ""
    monkeypatch.setattr("runtime.integrate.tree_method.InJointCoordinates.advance", lambda *_: failed)
    many = runtime.simulate_many(loop(), {"mass.coupler": SHARE}, 0.2, method="auto", **SETTINGS)
    assert many.success and len({many.states()[case].tobytes() for case in range(3)}) == 3
    assert all(many.states()[case].tobytes() == many[case].states.tobytes() for case in range(3))


def test_a_violated_row_is_found_in_every_case(monkeypatch):
    four_bar, cases = loop(), {"mass.coupler": SHARE}
    monkeypatch.setattr("runtime.integrate.constraint_check.PROJECTED_BOUND", 0.0)
    monkeypatch.setattr("runtime.integrate.constraint_check.PROJECTED_TOLERANCES", 1e-12)
    many = runtime.simulate_many(four_bar, cases, 0.2, **SETTINGS)
    assert (many.status == Status.CONSTRAINTS_VIOLATED).all() and many.messages[0] == many[0].message


def test_a_long_case_stops_when_it_is_asked_to():
    many = runtime.simulate_many(ground(), {"mass.toes": 0.3 * SHARE}, 0.01, **SETTINGS)
    task = replace(many._task, how=replace(many._task.how, t_end=1e3, t=(1e3,)), stop=np.zeros(1, np.int64))
    timer = threading.Timer(0.3, lambda: task.stop.__setitem__(0, 1))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(chunk.Stopped):
        chunk.run_chunk(task, 0, dict(many.cases))
    assert time.perf_counter() - start < 30.0  # s; the run would take minutes
