"""Jacobians, sensitivities, parameters, ensembles and inverse dynamics of systems with friction by reactions."""

import pickle
import re

import numpy as np
import pytest

import codegen
import runtime
from runtime import Builder, Signal, sensitivities, simulate
from tests.analysis.test_linearisation import error
from tests.integrate.test_joint_friction import FAR, Y, Z, journal, slider_crank
from tests.support.planar_friction import SliderCrank, saturation
from tests.support.refusals import assert_refused, refused_with

WIDE = dict(coefficient=0.3, spacing=0.3, transition_velocity=1.5)


def chain(inertia=(0.3, 0.2, 0.25)):
    """Three bodies in space in a chain of all three joints with friction, in motion."""
    b = Builder("chain")
    b.body("a", mass=2.0, inertia=inertia, r=(0.1, 0.3, -0.5), omega=(1.0, 0.5, -0.4), guess=True)
    b.body(
        "b", mass=1.0, inertia=(0.1, 0.12, 0.08), r=(0.6, 0.2, -0.8), v=(0.2, -0.3, 0.5), omega=(0.5, 1, 2), guess=True
    )
    b.body(
        "c",
        mass=0.7,
        inertia=(0.05, 0.07, 0.06),
        r=(0.9, -0.3, -0.4),
        v=(-0.6, 0.1, 0.3),
        omega=(0.1, 1, -1),
        guess=True,
    )
    axis = np.array([0.6, 0.0, 0.8])
    b.joint("pin", "revolute", "ground", "a", point=Z, axis=axis, axes="global")
    b.joint("sleeve", "cylindrical", "b", "a", point=(0.4, 0.3, -0.7), axis=(1, 2, 2), axes="global")
    b.joint("guide", "translational", "b", "c", point=(0.8, 0.0, -0.5), axis=(2, -1, 2), axes="global")
    b.force("f1", "journal_friction", "ground", "a", joint="pin", radius=0.2, thrust_radius=0.1, damping=0.1, **WIDE)
    b.force("f2", "sleeve_friction", "b", "a", joint="sleeve", radius=0.1, **WIDE)
    b.force("f3", "guide_friction", "b", "c", joint="guide", damping=0.2, **WIDE)
    return b.build(project_velocities=True)


@pytest.mark.parametrize("inertia", [(0.3, 0.2, 0.25), (0.0, 0.2, 0.2)])
def test_jacobian_of_coupled_frictions(inertia):
    system = chain(inertia)
    assert error(system) < 1e-8
    run = simulate(system, 0.3, method="dop853")
    assert error(system, run.final, 0.3) < 1e-8
    assert min(abs(f.power[-1]) for f in run.forces.values()) > 1e-3


def test_jacobian_of_a_loop_and_with_the_ground_as_body_j():
    assert error(slider_crank(SliderCrank(0.2, 0.03, 0.1, 0.2, 0.05), 0.4, 12.0)) < 1e-8
    assert error(journal(0.8, 0.2, 0.05, turned=True)) < 1e-8


def test_accelerations_and_loads_satisfy_the_equations():
    """Newton's and Euler's equations with the reported forces and reactions, and the loads by their formula."""
    system = chain()
    run = simulate(system, 0.3, t_eval=[0.0, 0.15, 0.3], method="dop853")
    force = {
        name: np.tile([0.0, 0.0, -9.81 * body.mass], (3, 1)) for name, body in zip("abc", system.bodies, strict=True)
    }
    for joint in system.joints:
        for body in {joint.body_i, joint.body_j} - {"ground"}:
            force[body] = force[body] + run.reaction(joint.name, on=body).force
    for f in run.forces.values():
        for body, own in zip(f.bodies, (f.force_i, f.force_j), strict=True):
            if body != "ground":
                force[body] = force[body] + own
    for body in system.bodies:
        assert np.abs(force[body.name] - body.mass * run.v_dot[body.name]).max() < 1e-10
    axis = run.rotations("b") @ system.force("f3").values["a_i"]
    reaction = run.reaction("guide", on="c")
    half = 0.5 * (reaction.force - axis * np.sum(axis * reaction.force, axis=1)[:, None])
    couple = np.cross(axis, reaction.moment) / 0.3
    load = np.linalg.norm(half + couple, axis=1) + np.linalg.norm(half - couple, axis=1)
    assert run.forces["f3"].load == pytest.approx(load, rel=1e-9)
    assert np.linalg.norm(run.forces["f3"].force_j, axis=1) == pytest.approx(
        0.3 * load * np.abs(saturation(run.forces["f3"].slip, 1.5)) + 0.2 * np.abs(run.forces["f3"].slip), rel=1e-9
    )


def test_sensitivities_by_the_coefficient_and_a_mass():
    given = {"coefficient.rub": 0.5, "mass.arm": 2.0, "radius.rub": 0.2}
    t = [0.25, 0.5]
    found = sensitivities(journal(0.5, 0.2, 0.05), given, 0.5, t_eval=t, rtol=1e-11, atol=1e-11)

    def states(**other):
        values = given | {name.replace("_", "."): value for name, value in other.items()}
        system = runtime.with_parameters(journal(0.5, 0.2, 0.05), values)
        return simulate(system, 0.5, t_eval=t, method="dop853", rtol=1e-12, atol=1e-12).r["arm"]

    h = 1e-4
    for n, (name, value) in enumerate(given.items()):
        key = name.replace(".", "_")
        expected = (states(**{key: value + h}) - states(**{key: value - h})) / (2.0 * h)
        assert np.abs(found.r["arm"][..., n] - expected).max() < 1e-6 * max(1.0, np.abs(expected).max())


def test_parameters_pickles_and_the_joints_own_vectors():
    system = journal(0.5, 0.2, 0.05)
    assert system.force("rub").joint == "pin" and system.force("rub").borrowed == ("a_i", "s_j")
    again = pickle.loads(pickle.dumps(runtime.with_parameters(system, {"coefficient.rub": 0.8})))
    a, b = (simulate(s, 1.0, t_eval=[1.0], method="dop853") for s in (again, journal(0.8, 0.2, 0.05)))
    assert np.array_equal(a.states, b.states)
    assert_refused(
        "joint 'pin' (revolute): force 'rub' depends on its s_j; give a function that builds the system from it",
        runtime.with_parameters,
        system,
        {"s_j.pin": (-0.6, 0.0, 0.0)},
    )
    cases = runtime.simulate_many(
        system, {"coefficient.rub": [0.5, 0.8]}, 1.0, workers=1, progress=False, method="dop853"
    )
    assert np.abs(cases.r["arm"][1, -1] - b.r["arm"][-1]).max() < 1e-9


def test_whole_model_kernels_stand_aside():
    system = journal(0.5, 0.2, 0.05)
    refused_with(
        codegen.DefinitionError, "has friction by the reactions of joints ('rub')", codegen.compile_model, system
    )
    plain = Builder("plain")
    plain.body("arm", mass=2.0, inertia=(0.05, 0.05, 0.05), r=(0.5, 0, 0))
    plain.joint("pin", "revolute", "ground", "arm", s_i=Z, s_j=(-0.5, 0, 0), a_i=Y, a_j=Y)
    codegen.compile_model(plain.build())
    assert simulate(system, 0.1, method="dop853").stats.kernel != "whole model"


def test_inverse_dynamics_needs_the_torque_of_the_friction():
    """A wheel off its centre, driven at 3 rad/s: the bearing carries m g and m e w^2."""
    b = Builder("driven")
    b.body("wheel", mass=2.0, inertia=(0.3, 0.5, 0.3), r=(0.1, 0.0, 0.0))
    b.joint("pin", "revolute", "ground", "wheel", s_i=Z, s_j=(-0.1, 0, 0), a_i=Y, a_j=Y)
    turn = Signal.function(lambda t: 3.0 * t, 0.0, 2.0)
    b.driver("turn", "guided_angle", "ground", "wheel", a_i=(1, 0, 0), h_i=Y, b_j=(1, 0, 0), theta_t=turn)
    law = dict(radius=0.05, thrust_radius=0.0, spacing=FAR, transition_velocity=1e-3, damping=0.0, coefficient=0.3)
    b.force("rub", "journal_friction", "ground", "wheel", joint="pin", **law)
    t = np.linspace(0.0, 2.0, 9)
    motion = runtime.inverse_dynamics(b.build(), t)
    g, w = 9.81, 3.0
    bearing = np.hypot(0.2 * w**2 * np.cos(w * t), 2.0 * g + 0.2 * w**2 * np.sin(w * t))
    assert motion.forces["rub"].load == pytest.approx(bearing, rel=1e-8)
    torque = 0.3 * 0.05 * bearing - 0.2 * g * np.cos(w * t)
    assert np.abs(motion.lam["turn"][:, 0]) == pytest.approx(np.abs(torque), rel=1e-7)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (dict(joint=None), r"force 'f' \(guide_friction\): depends on the reaction of a joint; add the joint first"),
        (dict(joint="lines"), r"unknown joint 'lines'; depends on the reaction of a joint"),
        (
            dict(bodies=("block", "ground")),
            r"acts between 'block' and 'ground', but joint 'line' joins 'ground' and 'block'",
        ),
        (dict(coefficient=-0.1), r"coefficient = -0.1, must not be below 0"),
        (
            dict(kind="slider_friction"),
            r"force 'f' \(slider_friction\): unused joint; this force does not depend on a reaction",
        ),
    ],
)
def test_bad_frictions(change, says):
    b = Builder("bad")
    b.body("block", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("line", "translational", "ground", "block", s_i=Z, s_j=Z, a_i=Y, a_j=Y)
    given = dict(joint="line", coefficient=0.3, spacing=1.0, transition_velocity=1e-3, damping=0.0) | change
    assert_refused(
        re.compile(says),
        b.force,
        "f",
        given.pop("kind", "guide_friction"),
        *given.pop("bodies", ("ground", "block")),
        **given,
    )


def test_a_friction_of_the_users_own():
    """A top on a ball that rubs in its socket."""

    def ball_friction(omega_i, omega_j, reaction_force, coefficient, radius, transition_velocity, normal_load):
        """Friction of a ball in its socket.

        coefficient : [1], 0 <= coefficient
        radius : of the ball [m], 0 <= radius
        transition_velocity : [m/s], 0 < transition_velocity
        load : [N]
        """
        load = normal_load(codegen.size(reaction_force))
        slip = codegen.size((omega_j - omega_i) * radius)
        return {
            "dissipation": coefficient
            * load
            * (slip - transition_velocity * (1 - 1 / (1 + slip / transition_velocity))),
            "load": load,
        }

    b = Builder("ball")
    b.body("top", mass=1.0, inertia=(0.1, 0.1, 0.2), r=(0, 0, 0.3), omega=(0, 0, 30.0))
    b.joint("ball", "spherical", "ground", "top", s_i=Z, s_j=(0, 0, -0.3))
    module = codegen.compile_force(ball_friction)
    b.force("rub", module, "ground", "top", joint="ball", coefficient=0.1, radius=0.02, transition_velocity=1e-4)
    system = b.build()
    run = simulate(system, 1.0, t_eval=[0.0, 1.0], method="dop853", rtol=1e-11, atol=1e-11)
    assert run.forces["rub"].load == pytest.approx(9.81, rel=1e-9)
    assert run.omega["top"][1, 2] == pytest.approx(30.0 - 0.1 * 9.81 * 0.02 / 0.2, rel=1e-6)
    assert error(system, run.final, 1.0) < 1e-8
