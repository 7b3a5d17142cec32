"""Inverse dynamics of guided loops, by virtual work."""

import numpy as np

import models
import runtime
from runtime import Builder, Signal
from tests.support.trees import quadrature
from tests.support.vectors import X, Y, Z, largest, matrix


def four_bar(signal):
    """The linkage of ``models.four_bar``, its crank guided."""
    given = models.four_bar.build()
    b = Builder("guided four-bar")
    for body in given.bodies:
        b.body(body.name, mass=body.mass, inertia=body.inertia, r=given.state.r[body.name], p=given.state.p[body.name])
    for j in given.joints:
        b.joint(j.name, j.kind, j.body_i, j.body_j, **j.values)
    axis = next(j for j in given.joints if j.name == "A")
    h = np.asarray(axis.values["a_i"])
    other = axis.body_j if axis.body_i == "ground" else axis.body_i
    A = matrix(given.state.p[other])
    b.driver("crank_angle", "guided_angle", "ground", other, a_i=X, h_i=h, b_j=A.T @ X, theta_t=signal)
    return b


def test_a_guided_loop_by_virtual_work():
    """The crank's moment of a four-bar linkage, from the energies of its bars; joints in a loop list no degrees of freedom."""
    nodes, weights = quadrature(40)
    t = np.concatenate([[0.0], nodes, [1.0]])
    angle = Signal.function(lambda t: 3.0 * t + 0.5 * np.sin(4 * t), 0.0, 1.0)
    system = four_bar(angle).build()
    assert system.degrees_of_freedom == 0
    m = runtime.inverse_dynamics(system, t)
    assert not m.degrees_of_freedom
    effort = m.driven["crank_angle"].effort["theta_t"]
    change = np.zeros(len(t))
    for body in system.bodies:
        A, omega, spin = matrix(m.p[body.name]), m.omega[body.name], m.omega_dot[body.name]
        change += body.mass * (m.v[body.name] * (m.v_dot[body.name] - system.gravity)).sum(axis=1)
        change += np.einsum("na,nab,nb->n", omega, A @ body.inertia @ A.swapaxes(1, 2), spin)
    assert largest(effort * angle(t, 1) - change) < 1e-8 * largest(change)
    assert abs(weights @ m.driven["crank_angle"].power[1:-1] - (m.energy[-1] - m.energy[0])) < 1e-7 * np.ptp(m.energy)
    # In a loop the load of a joint is its reaction and the drivers between its bodies.
    load, reaction = (f("A", on="crank") for f in (m.joint_load, m.reaction))
    turned = m.reaction("crank_angle", on="crank", at="centre").moment
    assert largest(load.force - reaction.force) < 1e-12
    assert largest(load.moment - reaction.moment - turned) < 1e-9 and largest(turned) > 0.1


def with_a_bob(b):
    """A pendulum that hangs from the coupler, guided too."""
    pose = models.four_bar.build().state
    A = matrix(pose.p["coupler"])
    b.body("bob", mass=0.3, inertia=(0.01, 0.01, 0.01), r=pose.r["coupler"] - 0.3 * Z)
    b.joint("hang", "revolute", "coupler", "bob", s_i=(0, 0, 0), a_i=A.T @ Y, s_j=(0, 0, 0.3), a_j=Y)
    swing = Signal.function(lambda t: 0.5 * np.sin(3 * t), 0.0, 1.0)
    b.driver("swing", "guided_angle", "coupler", "bob", a_i=A.T @ X, h_i=A.T @ Y, b_j=X, theta_t=swing)
    return b


def test_a_branch_of_a_loop_has_its_effort_and_rate():
    angle = Signal.function(lambda t: np.pi / 3 + 3.0 * t, 0.0, 1.0)
    m = runtime.inverse_dynamics(with_a_bob(four_bar(angle)).build(), np.linspace(0.0, 1.0, 11))
    assert largest(m.degrees_of_freedom["hang.a_i"].rate - m.driven["swing"].rate["theta_t"]) < 1e-9
    assert list(m.degrees_of_freedom) == ["hang.a_i"]
    assert largest(m.degrees_of_freedom["hang.a_i"].effort - m.driven["swing"].effort["theta_t"]) < 1e-10
    load = m.joint_load("hang", on="bob")
    force = 0.3 * (m.v_dot["bob"] + [0, 0, 9.81])
    assert largest(load.force - force) < 1e-9
    hinge_place = m.r["bob"] + 0.3 * matrix(m.p["bob"])[:, :, 2]
    moment = 0.01 * m.omega_dot["bob"] + np.cross(m.r["bob"] - hinge_place, force)
    assert largest(load.moment - moment) < 1e-9
