"""Equations of motion, rank and redundancy of arbitrary mechanisms, against dense linear algebra."""

from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest

import models
import runtime
from runtime import GROUND, AssemblyWarning, Builder, ModelError
from tests.support.random_mechanisms import (
    CASES,
    KINDS,
    MODULES,
    POINTS,
    SHAPES,
    Dense,
    RandomMechanism,
    mechanism_of,
    random_edges,
    single,
    stacked,
)
from tests.support.refusals import assert_refused


def test_the_random_mechanisms_hold_every_kind_of_joint():
    assert {kind for case in CASES for kind, _, _ in mechanism_of(case)[0].edges} == set(KINDS)


@pytest.mark.parametrize("case", CASES)
def test_accelerations_reactions_and_rank_by_dense_algebra(case):
    system = mechanism_of(case)[1]
    names = system.body_names
    dense = Dense(system, system.state)
    assert system.redundant == () and system.rank == dense.rank() == len(dense.Phi)
    assert system.degrees_of_freedom == dense.n - system.rank
    assert np.abs(dense.Phi).max() < 1e-12
    assert np.abs(dense.D @ dense.u).max() < 1e-11
    run = runtime.simulate(system, 1e-3, t_eval=[0.0])
    expected, wrenches = dense.accelerations(5.0, 5.0)
    got = stacked(run.v_dot, run.omega_dot, names)
    assert np.abs(got - expected).max() < 1e-9 * np.abs(expected).max()
    # The rows hold for the accelerations: D v' = gamma.
    scale = np.abs(dense.D) @ np.abs(got) + np.abs(dense.gamma)
    assert (np.abs(dense.D @ got - dense.gamma) < 1e-12 * scale + 1e-12).all()

    largest = max(np.abs(wrench).max() for wrench in wrenches.values())
    for joint in system.joints:
        for body in {joint.body_i, joint.body_j} - {GROUND}:
            reaction = run.reaction(joint.name, on=body, at="centre")
            o = 6 * names.index(body)
            on_body = wrenches[joint.name][o : o + 6]
            assert np.abs(np.concatenate([reaction.force[0], reaction.moment[0]]) - on_body).max() < 1e-9 * largest


@pytest.mark.parametrize("case", CASES)
def test_velocities_are_projected_by_the_least_kinetic_energy(case):
    mechanism, system = mechanism_of(case)
    given = system.state.replace(
        v={name: body["v"] for name, body in mechanism.bodies.items()},
        omega={name: body["omega"] for name, body in mechanism.bodies.items()},
    )
    dense = Dense(system, given)
    expected = dense.u - dense.least_change(dense.D @ dense.u)
    got = Dense(system, system.state).u
    assert np.abs(dense.D @ got).max() < 1e-12 * max(1.0, np.abs(dense.D).max() * np.abs(got).max())
    assert np.abs(got - expected).max() < 1e-9 * np.abs(expected).max()
    again = runtime.assemble(system, system.state)
    assert np.abs(again.y - system.state.y).max() < 1e-11


@pytest.mark.parametrize("case", CASES)
def test_baumgarte_terms_by_dense_algebra(case):
    # Off by no more than a given state may be, with coefficients that make this count.
    system = mechanism_of(case)[1]
    names, rng = system.body_names, np.random.default_rng(len(case))
    shaken = system.state.replace(
        r={name: system.state.r[name] + 1e-8 * rng.standard_normal(3) for name in names},
        v={name: 1e-10 * rng.standard_normal(3) for name in names},
        omega={name: 1e-10 * rng.standard_normal(3) for name in names},
    )
    dense = Dense(system, shaken, system.state)
    without, _ = dense.accelerations(0.0, 0.0)
    for alpha, beta in ((2e9, 0.0), (0.0, 3e4), (2e9, 3e4)):
        run = runtime.simulate(system, 1e-12, t_eval=[0.0], initial=shaken, alpha=alpha, beta=beta)
        expected, _ = dense.accelerations(alpha, beta)
        assert np.abs(expected - without).max() > 1e-2
        got = stacked(run.v_dot, run.omega_dot, names)
        assert np.abs(got - expected).max() < 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("name", ["ladder", "star of loops", "two joints", "random"])
def test_order_of_bodies_and_joints_does_not_matter(name):
    edges = SHAPES.get(name) or random_edges(4, 8, 6)
    mechanism = RandomMechanism(3, edges)
    system = mechanism.build()
    t = np.linspace(0.0, 0.1, 5)
    settings = dict(t_eval=t, rtol=1e-12, atol=1e-12)
    first = runtime.simulate(system, t[-1], **settings)
    rng = np.random.default_rng(0)
    for _ in range(2):
        order, bodies = list(rng.permutation(list(mechanism.joints))), list(rng.permutation(list(mechanism.bodies)))
        other = runtime.simulate(mechanism.build(order=order, bodies=bodies), t[-1], **settings)
        for body in system.body_names:
            assert np.abs(first.r[body] - other.r[body]).max() < 1e-10
            assert np.abs(first.p[body] - other.p[body]).max() < 1e-10
            scale = np.abs(first.v_dot[body][0]).max() + np.abs(first.omega_dot[body][0]).max()
            assert np.abs(first.v_dot[body][0] - other.v_dot[body][0]).max() < 1e-10 * scale
    assert first.violation.max() < 1e-9
    assert np.ptp(first.energy) < 1e-8


@pytest.mark.parametrize("seed", range(3))
def test_masses_of_different_size(seed):
    system = RandomMechanism(seed, random_edges(seed, 8, 5), masses=(1e-2, 1e2)).build()
    run = runtime.simulate(system, 1e-3, t_eval=[0.0])
    expected, _ = Dense(system, system.state).accelerations(5.0, 5.0)
    assert np.abs(stacked(run.v_dot, run.omega_dot, system.body_names) - expected).max() < 1e-8 * np.abs(expected).max()


MODELS = {
    "modified foot": (models.foot.build, {}, 2),
    "classical foot": (models.foot.build, {"ankle": "classical"}, 2),
    "hinged pendulum": (models.pendulum.build, {}, 1),
    "ball pendulum": (models.pendulum.build, {"kind": "spherical"}, 3),
    "double pendulum": (models.double_pendulum.build, {}, 6),
    "free body": (models.free_body.build, {}, 6),
    "four-bar": (models.four_bar.build, {}, 1),
    "four hinges": (models.four_bar.build, {"joints": "revolute"}, 1),
    "Hooke joint": (models.hooke_shaft.build, {}, 1),
    "chain of balls": (models.chain.build, {"links": 10}, 30),
    "chain of hinges": (models.chain.build, {"links": 10, "joint": "revolute"}, 10),
}


@pytest.mark.parametrize("build, options, freedom", MODELS.values(), ids=MODELS)
def test_rank_and_accelerations_of_the_models(build, options, freedom):
    system = build(**options)
    dense = Dense(system, system.state)
    assert system.degrees_of_freedom == freedom
    assert system.rank == 6 * len(system.bodies) - freedom
    if len(dense.Phi):
        assert np.abs(dense.Phi).max() < 1e-12
        assert dense.rank() == system.rank
        assert len(dense.Phi) - len(system.redundant) == system.rank
    if not system.redundant:
        run = runtime.simulate(system, 1e-3, t_eval=[0.0])
        expected, _ = dense.accelerations(5.0, 5.0)
        got = stacked(run.v_dot, run.omega_dot, system.body_names)
        assert np.abs(got - expected).max() < 1e-10 * max(1.0, np.abs(expected).max())


def test_redundant_rows_are_named_and_can_be_refused():
    system = models.four_bar.build("revolute")
    dense = Dense(system, system.state)
    assert dense.rank() == len(dense.Phi) - 3
    kept = np.ones(len(dense.Phi), bool)
    for row in system.redundant:
        joint, _, name = row.partition(".")
        kept[dense.rows[joint].start + system.joint(joint).rows.index(name)] = False
    # In the builder's rows; those chosen here span the same for a whole joint, so only the count is compared.
    assert kept.sum() == dense.rank()

    b = Builder("two hinges on one axis")
    b.body("door", mass=1.0, inertia=(0.1, 0.1, 0.1))
    for name, height in (("upper", 1.0), ("lower", -1.0)):
        b.joint(name, "revolute", GROUND, "door", s_i=(0, 0, height), a_i=(0, 0, 1), s_j=(0, 0, height), a_j=(0, 0, 1))
    with pytest.raises(ModelError, match="over-constrained") as refused:
        b.build(redundant="refuse")
    door = b.build()
    assert len(door.redundant) == 5
    assert door.degrees_of_freedom == 1
    for row in door.redundant:
        assert row in str(refused.value)
    assert 'redundant="keep"' in str(refused.value)


OVERCONSTRAINED = {
    "loop": [
        ("point_on_line", GROUND, "b0"), ("modified_universal", "b0", "b1"), ("spherical", "b1", "b2"),
        ("translational", "b1", "b2"), ("spherical", GROUND, "b2"), ("revolute", "b2", "b0"),
    ],
    "held thrice": [
        ("universal", GROUND, "b0"), ("universal", GROUND, "b0"), ("spherical", "b0", GROUND), ("point_on_plane", GROUND, "b0"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("seed, name", [(1077, "loop"), (1064, "held thrice"), (1, "loop"), (2, "held thrice")])
def test_velocities_of_overconstrained_systems_are_projected(seed, name):
    mechanism = RandomMechanism(seed, OVERCONSTRAINED[name])
    with pytest.warns(AssemblyWarning, match="has 0 degrees of freedom") if name == "held thrice" else nullcontext():
        system = mechanism.build()
    dense = Dense(system, system.state)
    assert system.rank == dense.rank() < len(dense.Phi)
    assert np.abs(dense.D @ dense.u).max() < 1e-10


@pytest.mark.parametrize("angle", [1e-2, 1e-3])
def test_a_joint_near_its_singular_configuration_still_works(angle):
    axis = (np.sin(angle), 0.0, np.cos(angle))
    system = single("universal", **POINTS, a_i=(0, 0, 1), a_j=axis).build()
    assert system.degrees_of_freedom == 2
    dense = Dense(system, system.state)
    expected, _ = dense.accelerations(5.0, 5.0)
    run = runtime.simulate(system, 1e-3, t_eval=[0.0])
    assert np.abs(stacked(run.v_dot, run.omega_dot, ["body"]) - expected).max() < 1e-9


def test_a_singular_pose_of_a_loop_is_distinguished_from_redundancy():
    assert_refused(
        ("the initial configuration is singular, ", " not nearby"),
        models.four_bar.build,
        crank=0.3,
        coupler=0.5,
        rocker=0.3,
        base=0.5,
        crank_angle=0.0,
    )


def test_every_kind_of_joint_takes_away_its_rows():
    for kind in KINDS:
        mechanism = RandomMechanism(11, [(kind, GROUND, "body")])
        system = mechanism.build()
        rows = len(MODULES[kind].ROWS)
        assert system.degrees_of_freedom == 6 - rows, kind
        # Each combination with a second joint of another kind that is not over-constrained.
    for first, second in pairwise([*KINDS, KINDS[0]]):
        if len(MODULES[first].ROWS) + len(MODULES[second].ROWS) > 6:
            continue
        system = RandomMechanism(12, [(first, GROUND, "a"), (second, "a", "b"), (second, GROUND, "b")]).build()
        assert system.rank == Dense(system, system.state).rank()
