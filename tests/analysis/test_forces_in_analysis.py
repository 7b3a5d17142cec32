"""Jacobians, sensitivities and parameters of systems with forces of definitions."""

import pickle

import numpy as np
import pytest

import codegen
import runtime
from runtime import Builder, Signal, equilibrium, sensitivities, simulate
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.layout import OK
from runtime.system.workspaces import workspace
from tests.analysis.test_linearisation import error
from tests.support.refusals import assert_refused

POINTS = dict(s_i=(0.1, 0.2, -0.1), s_j=(-0.05, 0.1, 0.2))
SIX = ("xi", "eta", "zeta")
TABLE = np.column_stack([[0.2, 0.8, 1.3, 2.0, 4.0], [0.0, 5.0, 30.0, 70.0, 90.0]])
VALUES = {
    "spring_damper": dict(**POINTS, stiffness=30.0, damping=2.0, free_length=0.4),
    "torsional_spring": dict(a_i=(0, 0.6, 0.8), stiffness=3.0, damping=0.2, free_angle=0.1),
    "bushing": dict(**POINTS) | {f"{k}_{a}": 3.0 + n for k in ("k", "c", "kt", "ct") for n, a in enumerate(SIX)},
    "stop": dict(**POINTS, a_i=(0, 0, -1), stiffness=40.0, exponent=1.5, loss=0.1, clearance=2.5),
    "cable": dict(**POINTS, stiffness=40.0, loss=0.1, slack_length=0.3),
    "tabulated_spring": dict(**POINTS, tension_table=TABLE, damping=1.0),
    "hinge_friction": dict(a_i=(0, 0.6, 0.8), friction=2.0, transition_velocity=0.5, damping=0.3),
    "slider_friction": dict(**POINTS, a_i=(0, 0, 1), friction=2.0, transition_velocity=0.5, damping=0.3),
}
OVER = dict(s_k=(0.8, 0.1, 0.3), s_l=(0.1, -0.2, 0.1))


def pair(*forces):
    """Two bodies in motion, the first one on a ball joint, with forces between them."""
    b = Builder("pair")
    b.body("a", mass=2.0, inertia=(0.3, 0.2, 0.25), r=(0, 0, -1), omega=(1.0, 0.5, -0.4), guess=True)
    b.body(
        "b", mass=1.0, inertia=(0.1, 0.12, 0.08), r=(0.4, 0.3, -1.8), v=(0.2, -0.3, 0.5), omega=(0.5, 1, 2), free=True
    )
    b.joint("ball", "spherical", "ground", "a", s_i=(0, 0, 0), s_j=(0, 0, 1))
    for n, (kind, bodies, values) in enumerate(forces):
        b.force(f"f{n}", kind, *bodies, **values)
    return b.build(project_velocities=True)


@pytest.mark.parametrize("kind", VALUES)
def test_jacobian_between_two_bodies(kind):
    system = pair((kind, ("a", "b"), VALUES[kind]), (kind, ("b", "ground"), VALUES[kind]))
    assert error(system) < 1e-8


@pytest.mark.parametrize("ends", [("ground", "a"), ("a", "b"), ("b", "a")])
def test_jacobian_of_a_tendon_over_points_of_the_same_bodies(ends):
    more = dict(body_k=ends[0], body_l=ends[1], **OVER)
    table = dict(**POINTS, **more, tension_table=TABLE, damping=1.0)
    linear = dict(**POINTS, **more, stiffness=40.0, loss=0.1, slack_length=0.3)
    for kind, values in (("tendon", linear), ("tabulated_tendon", table)):
        assert error(pair((kind, ("a", "b"), values))) < 1e-8


def test_equilibrium_of_a_body_on_springs():
    b = Builder("hung")
    b.body("plate", mass=2.0, inertia=(0.1, 0.1, 0.2), r=(0, 0, -0.3), free=True)
    for n, (x, y) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
        spring = dict(stiffness=200.0, damping=1.0, free_length=0.9)
        b.force(f"f{n}", "spring_damper", "ground", "plate", s_i=(x, y, 0), s_j=(0.3 * x, 0.3 * y, 0), **spring)
    system = b.build()
    rest = equilibrium(system)
    run = simulate(system, 0.5, initial=rest, rtol=1e-10, atol=1e-10)
    assert np.abs(run.r["plate"] - rest.r["plate"]).max() < 1e-8
    assert sum(f.force_j[0, 2] for f in run.forces.values()) == pytest.approx(2.0 * 9.81, rel=1e-9)


def spring(stiffness=50.0, free_length=1.0, damping=0.0):
    b = Builder("spring")
    b.body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -1.2), free=True)
    values = dict(s_i=(0, 0, 0), s_j=(0, 0, 0), stiffness=stiffness, damping=damping, free_length=free_length)
    b.force("f", "spring_damper", "ground", "bob", **values)
    return b.build()


def test_sensitivities_by_parameters_of_a_spring():
    t = np.linspace(0.0, 1.0, 5)
    given = {"stiffness.f": 50.0, "free_length.f": 1.0, "damping.f": 0.0}
    found = sensitivities(spring(), given, 1.0, t_eval=t, rtol=1e-11, atol=1e-11)
    k, m, l0, g = 50.0, 2.0, 1.0, 9.81
    w = np.sqrt(k / m)
    offset = 1.2 - l0 - m * g / k  # the extension beyond equilibrium at the start
    dw = 1.0 / (2.0 * m * w)
    by_stiffness = -m * g / k**2 + m * g / k**2 * np.cos(w * t) - offset * np.sin(w * t) * t * dw
    by_length = 1.0 - np.cos(w * t)
    # x'' + w^2 x = -(c/m) x0' to first order in c, with x0 = offset cos(w t)
    by_damping = offset / (2.0 * m) * (np.sin(w * t) / w - t * np.cos(w * t))
    for n, expected in enumerate((by_stiffness, by_length, by_damping)):
        assert np.abs(-found.r["bob"][:, 2, n] - expected).max() < 1e-8 * max(1.0, np.abs(expected).max())


def test_other_parameters_and_pickles_give_the_system_that_the_builder_would():
    system = spring()
    assert runtime.parameters(system)["stiffness.f"] == 50.0 and "s_j.f" in runtime.parameters(system)
    changed = runtime.with_parameters(system, {"stiffness.f": 80.0, "free_length.f": 0.9})
    a, b = (simulate(s, 1.0, t_eval=[1.0]) for s in (changed, spring(80.0, 0.9)))
    assert np.abs(a.states - b.states).max() == 0.0
    again = pickle.loads(pickle.dumps(changed))
    assert np.abs(simulate(again, 1.0, t_eval=[1.0]).states - b.states).max() == 0.0
    run = pickle.loads(pickle.dumps(b))
    assert np.array_equal(run.forces["f"].tension, b.forces["f"].tension)
    with pytest.raises(
        AttributeError, match=r"force 'f' \(spring_damper\) reports no 'stretch'; it has length, tension"
    ):
        run.forces["f"].stretch  # noqa: B018
    assert_refused(
        "force 'f' (spring_damper): stiffness = -1 N/m, must not be below 0 N/m",
        runtime.with_parameters,
        system,
        {"stiffness.f": -1.0},
    )


def test_whole_model_kernels_take_the_forces_in():
    def build():
        b = Builder("pendulum on a spring")
        b.body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), r=(0, 0, -1.0), omega=(0, 1.0, 0), v=(-1.0, 0, 0))
        b.joint("hinge", "revolute", "ground", "bob", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 1), a_j=(0, 1, 0))
        values = dict(s_i=(1, 0, 0), s_j=(0, 0, 0), stiffness=50.0, damping=0.3, free_length=1.0)
        b.force("f", "spring_damper", "ground", "bob", **values)
        return b.build()

    t = np.linspace(0.0, 1.0, 5)
    system = build()
    codegen.compile_model(system)
    whole = simulate(build(), 1.0, t_eval=t, rtol=1e-11, atol=1e-11, coordinates="absolute")
    assert whole.stats.kernel == "whole model"
    for time, y in zip(t, whole.states, strict=True):
        found = []
        for work in (workspace(system), workspace_for(system.data)):  # with the kernel, and joint by joint
            found.append(np.empty_like(y))
            assert derivative_once(time, y.copy(), system.data, work, found[-1]) == OK
        assert np.abs(found[0] - found[1]).max() < 1e-11 * np.abs(found[1]).max()
    assert np.abs(whole.energy - whole.energy[0]).max() > 1e-2  # the damper acts


def muscle(r_i, s_i, r_j, s_j, strength, activation_t, coordinate, rate):
    """A force along a line that a signal drives, weaker the faster it shortens.

    strength : [N]
    activation_t : [1]
    tension : [N]
    """
    length = coordinate((r_j + s_j - r_i - s_i).norm())
    tension = strength * activation_t * (1 + rate(length) / 10)
    return {"forces": {length: -tension}, "tension": tension}


def test_a_force_of_the_users_own_with_a_signal():
    b = Builder("own", gravity=(0, 0, 0))
    b.body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), r=(3.0, 0, 0), free=True)
    wave = Signal.function(np.sin, 0.0, 2.0)
    module = codegen.compile_force(muscle)
    b.force("pull", module, "ground", "bob", s_i=(0, 0, 0), s_j=(0, 0, 0), strength=5.0, activation_t=wave)
    system = b.build()
    t = np.linspace(0.0, 2.0, 9)
    run = simulate(system, 2.0, t_eval=t, rtol=1e-11, atol=1e-11)
    # v' = -F sin(t) (1 + v / 10) / m has the solution v = 10 (exp((cos(t) - 1) F / (10 m)) - 1)
    v = 10.0 * np.expm1((np.cos(t) - 1.0) * 5.0 / 20.0)
    assert np.abs(run.v["bob"][:, 0] - v).max() < 1e-8
    assert np.abs(run.forces["pull"].tension - 5.0 * np.sin(t) * (1.0 + v / 10.0)).max() < 1e-7
    assert error(system, run.final, 2.0) < 1e-8
    assert_refused("a force of codegen.compile_force cannot be pickled", pickle.dumps, system)
    assert_refused("'pull.activation_t' of system 'own' is defined from 0 to 2 s", simulate, system, 3.0)


def test_inverse_dynamics_needs_what_the_spring_takes():
    def driven(stiffness):
        b = Builder("driven", gravity=(0, 0, 0))
        b.body("wheel", mass=1.0, inertia=(0.3, 0.5, 0.3))
        b.joint("hinge", "revolute", "ground", "wheel", s_i=(0, 0, 0), a_i=(0, 1, 0), s_j=(0, 0, 0), a_j=(0, 1, 0))
        wave = Signal.function(lambda t: 0.5 * np.sin(t), 0.0, 3.0)
        b.driver("turn", "guided_angle", "ground", "wheel", a_i=(1, 0, 0), h_i=(0, 1, 0), b_j=(1, 0, 0), theta_t=wave)
        b.force(
            "f", "torsional_spring", "ground", "wheel", a_i=(0, 1, 0), stiffness=stiffness, damping=0.2, free_angle=0.0
        )
        return b.build()

    t = np.linspace(0.0, 3.0, 13)
    motion = runtime.inverse_dynamics(driven(4.0), t)
    angle, rate, acceleration = 0.5 * np.sin(t), 0.5 * np.cos(t), -0.5 * np.sin(t)
    needed = 0.5 * acceleration + 4.0 * angle + 0.2 * rate
    assert np.abs(np.abs(motion.lam["turn"][:, 0]) - np.abs(needed)).max() < 1e-7
    assert np.abs(motion.forces["f"].moment + 4.0 * angle + 0.2 * rate).max() < 1e-7
    assert np.abs(motion.energy - 0.25 * rate**2 - 2.0 * angle**2).max() < 1e-7
