"""Runs in the coordinates of joints, against those in the coordinates of all bodies."""

import sys

import numpy as np
import pytest

import codegen
import models
import runtime
from benchmarks.ensemble_systems import builder_of, driven_four_bar, floating, loaded_foot
from benchmarks.random import acting, compare, question
from runtime import ModelError, Status
from runtime.integrate.tree_method import InJointCoordinates
from runtime.results.run import Run
from runtime.support.errors import UnknownNameError
from runtime.system.whole_model import own_kernels
from tests.support.joint_trees import KINDS, random_tree
from tests.support.stiff import thrown_ball

TIMES = np.linspace(0.0, 1.0, 21)
FOOT = models.foot.build("modified")


def difference(a: Run, b: Run) -> float:
    """Largest difference of states."""
    return max(float(np.abs(getattr(a, q)[n] - getattr(b, q)[n]).max()) for q in ("r", "p", "v", "omega") for n in a.r)


@pytest.mark.parametrize("ankle", ["modified", "classical"])
def test_the_foot(ankle):
    system, times = models.foot.build(ankle), np.linspace(0.0, 5.0, 101)
    joint = runtime.simulate(system, 5.0, t_eval=times, coordinates="joint")
    absolute = runtime.simulate(system, 5.0, t_eval=times, rtol=1e-12, atol=1e-12, coordinates="absolute")
    assert joint.success and joint.stats.kernel == "joint coordinates"
    assert difference(joint, absolute) < 1e-9
    assert joint.violation.max() < 1e-15
    for name in system.joint_names:
        assert np.abs(joint.lam[name] - absolute.lam[name]).max() < 1e-7
    assert joint.energy == pytest.approx(absolute.energy, abs=1e-10)
    for name in ("theta_i", "theta_j"):
        assert getattr(joint.angles["ankle"], name) == pytest.approx(getattr(absolute.angles["ankle"], name), abs=1e-9)


@pytest.mark.parametrize("seed", range(30, 38))
def test_random_trees(seed):
    system, state = random_tree(seed, 2)
    codegen.compile_model(system)
    joint = runtime.simulate(system, 1.0, t_eval=TIMES, initial=state, coordinates="joint", rtol=1e-10, atol=1e-10)
    absolute = runtime.simulate(
        system, 1.0, t_eval=TIMES, initial=state, rtol=1e-12, atol=1e-12, coordinates="absolute"
    )
    assert joint.success and difference(joint, absolute) < 1e-8
    assert joint.p["b1"][0] == pytest.approx(state.p["b1"], abs=1e-15)  # with their signs
    assert joint.violation.max() < 1e-13


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_by_recursion(seed):
    """All joints with motions, floating bodies, a dozen coordinates."""
    system, state = random_tree(seed, 12, tuple(KINDS), 0.2)
    joint = runtime.simulate(system, 1.0, t_eval=TIMES, initial=state, coordinates="joint", rtol=1e-11, atol=1e-11)
    absolute = runtime.simulate(
        system, 1.0, t_eval=TIMES, initial=state, rtol=1e-12, atol=1e-12, coordinates="absolute"
    )
    assert joint.success and joint.stats.kernel == "joint coordinates, by recursion"
    assert difference(joint, absolute) < 1e-8
    assert joint.violation.max() < 1e-13 if system.joints else True


def test_the_recursion_agrees_with_the_kernel(monkeypatch):
    kernel = runtime.simulate(FOOT, 1.0, t_eval=TIMES, coordinates="joint")
    monkeypatch.setattr("runtime.integrate.tree_method.module_of", lambda key: None)
    recursion = runtime.simulate(models.foot.build("modified"), 1.0, t_eval=TIMES, coordinates="joint")
    assert (kernel.stats.kernel, recursion.stats.kernel) == ("joint coordinates", "joint coordinates, by recursion")
    assert difference(kernel, recursion) < 1e-11


def test_a_chain_of_balls_keeps_its_energy():
    system = models.chain.build(10)
    run = runtime.simulate(system, 5.0, t_eval=np.linspace(0.0, 5.0, 51), coordinates="joint")
    assert run.success and run.violation.max() < 1e-13
    assert np.abs(run.energy - run.energy[0]).max() < 1e-9 * np.ptp(run.r["link_10"][:, 2])


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-12, 1e-13])
def test_errors_follow_the_tolerance(tolerance):
    """Also from rest in the pose in which all coordinates are 0, where a first step from their size would be 0."""
    run = runtime.simulate(FOOT, 1.0, t_eval=TIMES, rtol=tolerance, atol=tolerance, coordinates="joint")
    true = runtime.simulate(FOOT, 1.0, t_eval=TIMES, rtol=1e-13, atol=1e-13, coordinates="absolute")
    assert run.success and difference(run, true) < 20.0 * tolerance + 1e-11


def test_steps_events_and_ends_as_in_absolute_coordinates():
    turns = runtime.Event("turn", lambda t, state: state.v["main_foot"][2])
    first = runtime.Event("first", lambda t, state: state.v["main_foot"][2], terminal=True, direction=1)
    joint, absolute = (runtime.simulate(FOOT, 2.0, events=[turns], coordinates=c) for c in ("joint", "absolute"))
    assert joint.events["turn"] == pytest.approx(absolute.events["turn"], abs=1e-9)
    assert len(joint.t) == joint.stats.steps + 1 and joint.t[-1] == 2.0
    ended = runtime.simulate(FOOT, 2.0, events=[first], coordinates="joint", t_eval=TIMES)
    assert ended.status == Status.STOPPED_BY_EVENT and ended.t[-1] <= ended.events["first"][0]
    assert ended.final.v["main_foot"][2] == pytest.approx(0.0, abs=1e-12)
    few = runtime.simulate(FOOT, 2.0, max_steps=10, coordinates="joint")
    assert few.status == Status.STEPS_USED_UP and few.stats.steps == 10 == len(few.t) - 1
    late = runtime.simulate(FOOT, 3.0, t_start=1.0, max_step=0.01, first_step=1e-3, coordinates="joint")
    assert late.t[:2] == pytest.approx([1.0, 1.001]) and np.diff(late.t).max() < 0.01 + 1e-12
    assert late.r["toes"][-1] == pytest.approx(joint.r["toes"][-1], abs=1e-9)


def test_outputs_are_those_of_the_steps():
    """The dense output against a run whose steps end at its times."""
    wanted = runtime.simulate(FOOT, 1.0, t_eval=TIMES, coordinates="joint")
    for t, r in zip(TIMES[1:], wanted.r["toes"][1:], strict=True):
        assert runtime.simulate(FOOT, t, coordinates="joint").r["toes"][-1] == pytest.approx(r, abs=2e-10)


def test_results_keep_their_values_when_their_memory_is_used_again():
    first = runtime.simulate(FOOT, 1.0, t_eval=TIMES, coordinates="joint")
    kept = {name: r.copy() for name, r in first.r.items()}
    final = first.final.y.copy()
    state = runtime.system.displaced(FOOT, {"ankle.theta_i": 0.3})
    runtime.simulate(FOOT, 1.0, t_eval=TIMES, initial=state, coordinates="joint")
    assert all(np.array_equal(first.r[name], r) for name, r in kept.items())
    assert np.array_equal(first.final.y, final)


def test_whole_turns():
    """A pendulum that turns over: Euler parameters follow, and the tolerance of a large angle stays that of one turn."""
    system = models.pendulum.build()
    state = runtime.system.displaced(system, {}, {"pivot.angle": 30.0})
    times = np.linspace(0.0, 20.0, 201)
    joint, absolute = (
        runtime.simulate(system, 20.0, t_eval=times, initial=state, coordinates=c, rtol=1e-12, atol=1e-12)
        for c in ("joint", "absolute")
    )
    assert np.ptp(joint.angles["pivot"].angle) > 500.0
    assert difference(joint, absolute) < 1e-6


def test_energy_over_a_thousand_seconds():
    run = runtime.simulate(FOOT, 1000.0, t_eval=np.linspace(0.0, 1000.0, 1001), coordinates="joint")
    assert run.success
    heights = sum(FOOT.body(name).mass * 9.81 * run.r[name][:, 2] for name in FOOT.body_names)
    assert np.abs(run.energy - run.energy[0]).max() < 2e-9 * np.ptp(heights)
    assert run.violation.max() < 1e-15


def rod_on(kind, **more):
    b = runtime.Builder("rod")
    b.body("bob", mass=1.0, inertia=(0.02, 0.02, 0.001), r=(0, 0, -0.5))
    ends = {} if kind == "fixed" else dict(s_i=(0, 0, 0), s_j=(0, 0, 0))
    b.joint("rod", kind, "ground", "bob", **ends, **more)
    return b.build()


def test_systems_without_a_tree_are_refused():
    with pytest.raises(
        ModelError,
        match="has no equations in the coordinates of its joints: nothing in it moves; use coordinates='absolute'",
    ):
        runtime.simulate(rod_on("fixed"), 1.0, coordinates="joint")


def test_two_joints_between_the_same_bodies_lock_them_or_restrain_the_coordinates():
    b = runtime.Builder("pair")
    b.body("rod", mass=1.0, inertia=(0.02, 0.02, 0.001), r=(0, 0, -0.5))
    ends = dict(s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0.5), a_j=(0, 1, 0))
    b.joint("pivot", "revolute", "ground", "rod", **ends)
    b.joint("ball", "spherical", "ground", "rod", s_i=(0, 1, 0), s_j=(0, 1, 0.5))
    tree = b.build().tree
    assert tree.name == "tree_turn" and tree.closing == (1,)
    assert FOOT.tree.body_step[0] == FOOT.tree.body_step[1] == 1  # the toes are locked to the main foot
    assert FOOT.tree.closing == ()


def test_what_joint_coordinates_do_not_have_is_refused():
    with pytest.raises(ModelError, match="method 'radau' integrates absolute coordinates"):
        runtime.simulate(FOOT, 1.0, coordinates="joint", method="radau")
    with pytest.raises(
        ModelError, match="alpha and beta stabilise the rows of all joints, which joint coordinates do not have"
    ):
        runtime.simulate(FOOT, 1.0, coordinates="joint", alpha=5.0)
    with pytest.raises(UnknownNameError, match="unknown coordinates 'joints'; did you mean 'joint'"):
        runtime.simulate(FOOT, 1.0, coordinates="joints")


def test_a_start_off_the_constraints_is_refused():
    off = FOOT.state.replace(r={"main_foot": FOOT.state.r["main_foot"] + [5e-8, 0.0, 0.0]})
    with pytest.raises(ModelError, match=r"the initial state is 5.0e-08 off the constraints, limit 1e-09"):
        runtime.simulate(FOOT, 1.0, initial=off, coordinates="joint")


def test_coordinates_that_depend_on_each_other_end_the_run():
    """Two hinges on one line whose middle body has next to no mass: nothing moves the one apart from the other."""
    b = runtime.Builder("coaxial")
    b.body("ring", mass=1e-12, inertia=(1e-16, 1e-16, 1e-16), r=(0, 0, 0))
    b.body("rod", mass=1.0, inertia=(0.02, 0.02, 0.001), r=(0, 0, -0.5))
    hinge = dict(a_i=(0, 1, 0), a_j=(0, 1, 0))
    b.joint("one", "revolute", "ground", "ring", s_i=(0, 0, 0), s_j=(0, 0, 0), **hinge)
    b.joint("two", "revolute", "ring", "rod", s_i=(0, 0, 0), s_j=(0, 0, 0.5), **hinge)
    run = runtime.simulate(b.build(check_units=False), 1.0, coordinates="joint")
    assert run.status == Status.SINGULAR_CONFIGURATION
    assert "the coordinates of the joints depend on each other" in run.message


LIMITED = [(ankle, kind) for ankle in ("modified", "classical") for kind in ("elastic", "dissipative")]


@pytest.mark.parametrize("ankle, kind", LIMITED)
def test_limits_of_the_foot(ankle, kind):
    """Those that restrain angles of joints, by the kernel; steps end where they switch."""
    system, times = models.foot.build(ankle, limits=kind), np.linspace(0.0, 1.5, 301)
    tight = dict(t_eval=times, rtol=1e-12, atol=1e-12)
    joint = runtime.simulate(system, 1.5, **tight)
    absolute = runtime.simulate(system, 1.5, **tight, coordinates="absolute")
    assert joint.stats.kernel == "joint coordinates" and joint.message == absolute.message == "reached t = 1.5 s"
    assert difference(joint, absolute) < 1e-8
    assert max(motion.excess.max() for motion in joint.limits.values()) > 1e-3
    for name, motion in joint.limits.items():
        other = absolute.limits[name]
        assert motion.angle == pytest.approx(other.angle, abs=1e-9)
        assert motion.restricting_moment == pytest.approx(other.restricting_moment, abs=1e-6)
    assert joint.energy == pytest.approx(absolute.energy, abs=1e-9)
    assert np.abs(joint.energy_balance.error).max() < 1e-9


def test_limits_beyond_the_kernel(monkeypatch):
    """The moment is that of the equations of all bodies where the nearest point of the cone leaves the plane of the hinge."""
    usual = runtime.simulate(models.foot.build("modified", limits="elastic"), 1.0, t_eval=TIMES)
    nearest = models.foot.build("modified", limits="elastic").limits
    kept = {limit.name: tuple((0.01, vertex) for _, vertex in limit.vertices) for limit in nearest}
    monkeypatch.setattr("runtime.system.parts.Limit.vertices", property(lambda limit: kept[limit.name]))
    narrow = runtime.simulate(models.foot.build("modified", limits="elastic"), 1.0, t_eval=TIMES)
    assert narrow.stats.kernel == "joint coordinates" and narrow.stats.evaluations > usual.stats.evaluations
    assert difference(usual, narrow) < 1e-7


def test_limits_by_recursion(monkeypatch):
    """Without a kernel, and those of balls."""
    usual = runtime.simulate(models.foot.build("modified", limits="elastic"), 1.0, t_eval=TIMES)
    monkeypatch.setattr("runtime.integrate.tree_method.module_of", lambda key: None)
    general = runtime.simulate(models.foot.build("modified", limits="elastic"), 1.0, t_eval=TIMES, coordinates="joint")
    assert general.stats.kernel == "joint coordinates, by recursion"
    assert difference(usual, general) < 1e-7
    ball = models.pendulum.build("spherical", limits="elastic")
    runs = [runtime.simulate(ball, 1.0, t_eval=TIMES, coordinates=c) for c in ("joint", "absolute")]
    assert difference(*runs) < 1e-7 and runs[0].limits["pivot"].excess.max() > 1e-3


@pytest.fixture
def no_own_kernels(monkeypatch):
    """Without the kernels of other tests of this process."""
    for name in own_kernels():
        monkeypatch.delitem(sys.modules, name)


def test_auto_takes_joint_coordinates_where_these_are_not_slower(no_own_kernels):
    """By a kernel of the tree with any forces; by recursion without forces, where no kernel of all bodies is present."""
    assert runtime.simulate(FOOT, 0.1).stats.kernel == "joint coordinates"
    for settings in (dict(method="radau"), dict(alpha=5.0), dict(method="RK45"), dict(coordinates="absolute")):
        assert runtime.simulate(FOOT, 0.1, **settings).stats.kernel == "whole model"
    off = FOOT.state.replace(r={"main_foot": FOOT.state.r["main_foot"] + [5e-8, 0.0, 0.0]})
    assert runtime.simulate(FOOT, 0.1, initial=off).stats.kernel == "whole model"
    kernels = {
        "joint coordinates": (loaded_foot(), sole_on_ground()),
        "joint coordinates, by recursion": (models.chain.build(3), floating()),
        "whole model": (models.double_pendulum.build(), models.foot_ground.build()),
        "joint by joint": (driven_four_bar("rocker"), thrown_ball()),
    }
    for kernel, systems in kernels.items():
        for system in systems:
            assert runtime.simulate(system, 0.01).stats.kernel == kernel, system.name


def sole_on_ground(creep=1e-2):
    """The modified foot, whose heel hits the ground and slides."""
    b = builder_of(models.foot.build("modified"))
    law = dict(
        law="hunt_crossley", stiffness=2e5, exponent=1.5, loss=0.3, friction="coulomb", mu_c=0.4, mu_d=0.0, creep=creep
    )
    for name, body, depth in (("heel", "main_foot", -0.04), ("ball", "toes", -0.02)):
        b.contact(name, body, centre=(0, 0, depth), radius=0.01, point=(0, 0, -0.02), normal=(0, 0, 1), **law)
    return b.build()


@pytest.mark.parametrize("make", [loaded_foot, sole_on_ground])
def test_loads_and_contacts_by_the_kernel(make):
    system, times = make(), np.linspace(0.0, 0.6, 13)
    run = runtime.simulate(system, 0.6, t_eval=times, rtol=1e-10, atol=1e-10)
    absolute = runtime.simulate(system, 0.6, t_eval=times, rtol=1e-12, atol=1e-12, coordinates="absolute")
    assert run.stats.kernel == "joint coordinates" and difference(run, absolute) < 1e-7
    assert run.energy == pytest.approx(absolute.energy, abs=1e-7)
    assert np.abs(run.energy_balance.error).max() < 1e-7
    assert [row[1:3].tolist() for row in run.contact_events] == [row[1:3].tolist() for row in absolute.contact_events]


def test_radau_gives_way_again_after_joint_coordinates():
    """Radau knows the steps of dop853 from before the turn."""
    parts = runtime.simulate(sole_on_ground(creep=1e-4), 0.6, rtol=1e-10, atol=1e-10).stats.parts
    assert [part.method for part in parts][:3] == ["dop853", "radau", "dop853"]


def test_stiff_motions_turn_to_radau():
    system, times = models.foot.build("modified", limits="dissipative"), np.linspace(0.0, 20.0, 41)
    run = runtime.simulate(system, 20.0, t_eval=times)
    absolute = runtime.simulate(system, 20.0, t_eval=times, coordinates="absolute", rtol=1e-12, atol=1e-12)
    assert [part.method for part in run.stats.parts[:2]] == ["dop853", "radau"] and len(run.stats.parts) < 6
    assert "turned to radau from t = " in run.message and run.success
    assert sum(part.steps for part in run.stats.parts) == run.stats.steps
    assert difference(run, absolute) < 1e-7
    assert np.abs(run.energy_balance.error).max() < 1e-8
    every = runtime.simulate(system, 20.0)
    assert len(every.t) == every.stats.steps + 1 and (np.diff(every.t) > 0.0).all()
    stopped = runtime.simulate(system, 20.0, events=[runtime.rest()], t_eval=times)
    assert stopped.events["rest"] == pytest.approx(
        runtime.simulate(system, 20.0, events=[runtime.rest()], coordinates="absolute").events["rest"], rel=1e-4
    )


def test_failing_joint_coordinates_turn_to_those_of_all_bodies(monkeypatch):
    usual = runtime.simulate(FOOT, 1.0, t_eval=TIMES)
    advance = InJointCoordinates.advance

    def fails(self, steps, *arrays):
        status, message = advance(self, min(steps, 5), *arrays)
        return (Status.SINGULAR_CONFIGURATION, "here") if self.counts()[1] >= 10 else (status, message)

    monkeypatch.setattr(InJointCoordinates, "advance", fails)
    run = runtime.simulate(FOOT, 1.0, t_eval=TIMES)
    assert run.success and len(run.stats.parts) == 2 and run.stats.parts[0].steps == 10
    assert difference(run, usual) < 1e-9 and run.message.startswith("reached t = 1 s; turned to dop853")


@pytest.mark.parametrize("seed", range(24))
def test_random_trees_with_forces_of_all_kinds(seed):
    """Limits, contacts and forces, against the second method of ``benchmarks.random``."""
    verdict = compare.examine(
        "acting_tree", seed, acting.acting_tree, brief=True, options={"coordinates": "joint"}, method="dop853"
    )
    if verdict.kind == "refused":
        assert "no equations in the coordinates of its joints" in verdict.text
    else:
        assert verdict.kind not in question.BAD, verdict.text


def test_prescribed_loads_and_motors():
    b = runtime.Builder("arms")
    b.body("upper", mass=1.0, inertia=(0.02, 0.02, 0.001), r=(0, 0, -0.25))
    b.body("lower", mass=0.5, inertia=(0.01, 0.01, 0.001), r=(0, 0, -0.75))
    hinge = dict(a_i=(0, 1, 0), a_j=(0, 1, 0))
    b.joint("shoulder", "spherical", "ground", "upper", s_i=(0, 0, 0), s_j=(0, 0, 0.25))
    b.joint("elbow", "revolute", "upper", "lower", s_i=(0, 0, -0.25), s_j=(0, 0, 0.25), **hinge)
    push = runtime.Signal.function(lambda t: 2.0 * np.sin(5.0 * t), 0.0, 2.0)
    b.load("push", "lower", force=(push, 1.0, 0.0), point=(0.1, 0.0, -0.2), axes="body")
    angle = dict(h_i=(0, 1, 0), a_i=(0, 0, -1), b_j=(0, 0, -1))  # of a hinge about y, from below
    b.motor("drive", "guided_angle", "upper", "lower", theta_t=0.3, stiffness=3.0, damping=0.1, **angle)
    system = b.build()
    runs = [
        runtime.simulate(system, 2.0, t_eval=2.0 * TIMES, coordinates=c, rtol=1e-11, atol=1e-11)
        for c in ("joint", "absolute")
    ]
    assert difference(*runs) < 1e-8 and runs[0].energy == pytest.approx(runs[1].energy, abs=1e-8)
    assert np.abs(runs[0].energy_balance.error).max() < 1e-8
