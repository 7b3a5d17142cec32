"""Runs in the coordinates of joints, against those in the coordinates of all bodies."""

import sys

import numpy as np
import pytest

import models
import runtime
from benchmarks.ensemble_systems import builder_of, driven_four_bar, floating, loaded_foot
from benchmarks.random import acting, compare, question
from benchmarks.targets.calls import chain_of_loops
from runtime import Status
from runtime.integrate.tree_method import InJointCoordinates
from runtime.results.run import Run
from runtime.support.errors import UnknownNameError
from runtime.system.trees import trees_of
from runtime.system.whole_model import own_kernels
from tests.support.marks import quick_for
from tests.support.refusals import assert_refused, refused_with
from tests.support.stiff import thrown_ball

TIMES = np.linspace(0.0, 1.0, 21)
FOOT = models.foot.build("modified")


def difference(a: Run, b: Run) -> float:
    """Largest difference of states."""
    return max(float(np.abs(getattr(a, q)[n] - getattr(b, q)[n]).max()) for q in ("r", "p", "v", "omega") for n in a.r)


def test_systems_in_which_nothing_moves_are_refused():
    b = runtime.Builder("rod")
    b.body("bob", mass=1.0, inertia=(0.02, 0.02, 0.001), r=(0, 0, -0.5))
    b.joint("rod", "fixed", "ground", "bob")
    assert_refused(
        "has no equations in the coordinates of its joints: nothing in it moves; use coordinates='absolute'",
        runtime.simulate,
        b.build(),
        1.0,
        coordinates="joint",
    )


def test_two_joints_between_the_same_bodies_lock_them_or_restrain_the_coordinates():
    b = runtime.Builder("pair")
    b.body("rod", mass=1.0, inertia=(0.02, 0.02, 0.001), r=(0, 0, -0.5))
    ends = dict(s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0.5), a_j=(0, 1, 0))
    b.joint("pivot", "revolute", "ground", "rod", **ends)
    b.joint("ball", "spherical", "ground", "rod", s_i=(0, 1, 0), s_j=(0, 1, 0.5))
    tree = trees_of(b.build()).tree
    assert tree.name == "tree_turn" and tree.closing == (1,)
    assert (
        trees_of(FOOT).tree.body_step[0] == trees_of(FOOT).tree.body_step[1] == 1
    )  # the toes are locked to the main foot
    assert trees_of(FOOT).tree.closing == ()


def test_what_joint_coordinates_do_not_have_is_refused():
    assert_refused(
        "method 'radau' integrates absolute coordinates",
        runtime.simulate,
        FOOT,
        1.0,
        coordinates="joint",
        method="radau",
    )
    assert_refused(
        "alpha and beta stabilise the rows of all joints, which joint coordinates do not have",
        runtime.simulate,
        FOOT,
        1.0,
        coordinates="joint",
        alpha=5.0,
    )
    refused_with(
        UnknownNameError,
        "unknown coordinates 'joints'; did you mean 'joint'",
        runtime.simulate,
        FOOT,
        1.0,
        coordinates="joints",
    )


def test_a_start_off_the_constraints_is_refused():
    off = FOOT.state.replace(r={"main_foot": FOOT.state.r["main_foot"] + [5e-8, 0.0, 0.0]})
    assert_refused(
        "the initial state is 5.0e-08 off the constraints, limit 1e-09",
        runtime.simulate,
        FOOT,
        1.0,
        initial=off,
        coordinates="joint",
    )


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


def test_limits_beyond_the_kernel(monkeypatch):
    """The moment is that of the equations of all bodies where the nearest point of the cone leaves the plane of the hinge."""
    usual = runtime.simulate(models.foot.build("modified", limits="elastic"), 1.0, t_eval=TIMES)
    nearest = models.foot.build("modified", limits="elastic").limits
    kept = {limit.name: tuple((0.01, vertex) for _, vertex in limit.vertices) for limit in nearest}
    monkeypatch.setattr("runtime.system.parts.Limit.vertices", property(lambda limit: kept[limit.name]))
    narrow = runtime.simulate(models.foot.build("modified", limits="elastic"), 1.0, t_eval=TIMES)
    assert narrow.stats.kernel == "joint coordinates" and narrow.stats.evaluations > usual.stats.evaluations
    assert difference(usual, narrow) < 1e-7


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
        "joint coordinates, by recursion": (
            models.chain.build(3),
            models.double_pendulum.build(),
            floating(),
            chain_of_loops(10),
        ),
        "whole model": (models.foot_ground.build(),),
        "joint by joint": (driven_four_bar("rocker"), thrown_ball(), chain_of_loops(2)),
    }
    for kernel, systems in kernels.items():
        for system in systems:
            assert runtime.simulate(system, 0.01).stats.kernel == kernel, system.name


def sole_on_ground(transition_velocity=1e-2):
    """The modified foot, whose heel hits the ground and slides."""
    b = builder_of(models.foot.build("modified"))
    law = dict(
        law="hunt_crossley",
        stiffness=2e5,
        exponent=1.5,
        loss=0.3,
        friction="coulomb",
        mu_c=0.4,
        mu_d=0.0,
        transition_velocity=transition_velocity,
    )
    for name, body, depth in (("heel", "main_foot", -0.04), ("ball", "toes", -0.02)):
        b.contact(name, body, centre=(0, 0, depth), radius=0.01, point=(0, 0, -0.02), normal=(0, 0, 1), **law)
    return b.build()


def test_radau_gives_way_again_after_joint_coordinates():
    """Radau knows the steps of dop853 from before the turn."""
    parts = runtime.simulate(sole_on_ground(transition_velocity=1e-4), 0.6, rtol=1e-10, atol=1e-10).stats.parts
    assert [part.method for part in parts][:3] == ["dop853", "radau", "dop853"]


def test_stiff_motions_turn_to_radau():
    system, times = models.foot.build("modified", limits="dissipative"), np.linspace(0.0, 20.0, 41)
    run = runtime.simulate(system, 20.0, t_eval=times)
    absolute = runtime.simulate(system, 20.0, t_eval=times, coordinates="absolute", rtol=1e-12, atol=1e-12)
    assert [part.method for part in run.stats.parts[:2]] == ["dop853", "radau"] and len(run.stats.parts) < 6
    assert "turned to radau from t = " in run.message and difference(run, absolute) < 1e-7
    assert np.abs(run.energy_balance.error).max() < 1e-8


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


@pytest.mark.slow
@pytest.mark.parametrize("seed", quick_for(range(24), range(8), pytest.mark.nightly))
def test_random_trees_with_forces_of_all_kinds(seed):
    """Limits, contacts and forces, against the second method of ``benchmarks.random``."""
    verdict = compare.examine(
        "acting_tree", seed, acting.acting_tree, brief=True, options={"coordinates": "joint"}, method="dop853"
    )
    if verdict.kind == "refused":
        assert "no equations in the coordinates of its joints" in verdict.text
    else:
        assert verdict.kind not in question.BAD, verdict.text
