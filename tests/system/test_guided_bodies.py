"""Every kind of driver, on a body that it guides."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import runtime
from codegen import compile_joint
from runtime import Builder, ModelError, Signal
from tests.support.trees import (
    GRAVITY,
    continuous,
    euler_signals,
    matches,
    signal_values,
    signals_of,
    single,
    wandering,
)
from tests.support.vectors import about, largest, matrix, parameters, unit


def test_a_point_off_the_centre():
    """The point follows its signals while the body turns, and the force acts at it."""
    tree = single("free")
    q, s, t = wandering(tree, 3, size=2.0), np.array([0.3, -0.2, 0.5]), np.linspace(0, 1, 41)
    A = tree.start[0][1]
    tree.start[0] = (-A @ s, A)
    b = tree.builder()
    b.driver("point", "guided_point", "body_0", s_i=s, **signals_of(("x_t", "y_t", "z_t"), q[:3]))
    b.driver("turn", "guided_cardan", "body_0", **signals_of(("alpha_t", "beta_t", "gamma_t"), q[3:]))
    m = runtime.inverse_dynamics(b.build(), t)
    A, r, omega = matrix(m.p["body_0"]), m.r["body_0"], m.omega["body_0"]
    arm, values = A @ s, signal_values(q, t)
    assert largest(r + arm - values[0][:, :3]) < 1e-12
    assert largest(m.v["body_0"] + np.cross(omega, arm) - values[1][:, :3]) < 1e-11
    spin = np.cross(m.omega_dot["body_0"], arm) + np.cross(omega, np.cross(omega, arm))
    assert largest(m.v_dot["body_0"] + spin - values[2][:, :3]) < 1e-10
    force = np.column_stack([m.driven["point"].effort[axis] for axis in ("x_t", "y_t", "z_t")])
    assert largest(force - tree.mass[0] * (m.v_dot["body_0"] - GRAVITY)) < 1e-10
    assert largest(m.reaction("point", on="body_0").moment) < 1e-10


@pytest.mark.parametrize("sign", [1, -1])
def test_a_whole_turn_by_euler_parameters(sign):
    """Through e0 = 0 and on for two and a half turns, the wrong sign and length included."""
    axis, tree, t = unit([1.0, -2.0, 0.5]), single("free"), np.linspace(0.0, 1.0, 101)
    phi = Signal.function(lambda t: 5 * np.pi * t**2, 0.0, 1.0)
    A0 = tree.start[0][1]

    def value(n):
        def curve(time):
            turned = continuous(parameters(np.array([about(axis, a) @ A0 for a in np.atleast_1d(phi(time))])))
            return sign * 0.7 * np.sign(turned[0] @ parameters(A0)) * turned[:, n]

        return curve

    e = [Signal.function(value(n), 0.0, 1.0) for n in range(4)]
    b = tree.builder()
    b.driver("point", "guided_point", "body_0", s_i=(0, 0, 0), x_t=0.0, y_t=0.0, z_t=0.0)
    b.driver("turn", "guided_orientation", "body_0", **signals_of(("e0_t", "e1_t", "e2_t", "e3_t"), e))
    m = runtime.inverse_dynamics(b.build(), t)
    assert np.ptp(np.sign(m.p["body_0"][:, 0])) == 2  # e0 passes through zero
    assert largest(matrix(m.p["body_0"]) - np.array([about(axis, a) @ A0 for a in phi(t)])) < 1e-10
    assert largest(m.omega["body_0"] - np.outer(phi(t, 1), axis)) < 1e-8
    assert largest(m.omega_dot["body_0"] - np.outer(phi(t, 2), axis)) < 1e-4 * largest(phi(t, 2))
    J = np.array([A @ tree.inertia[0] @ A.T for A in matrix(m.p["body_0"])])
    power = np.einsum("na,nab,nb->n", m.omega["body_0"], J, m.omega_dot["body_0"])
    assert largest(m.driven["turn"].power - power) < 1e-7 * largest(power)


def test_cardan_angles_through_a_right_angle():
    """beta passes 90 degrees, where Cardan angles of a given orientation are undetermined, and goes on to a whole turn."""
    tree, t = single("free"), np.linspace(0.0, 1.0, 61)
    q = wandering(tree, 9)
    q[4] = Signal.function(lambda t: tree.q0[4] + 7.0 * t, 0.0, 1.0)
    b = tree.builder()
    tree.guide(b, q)
    m = runtime.inverse_dynamics(b.build(), t)
    values = signal_values(q, t)
    matches(tree, m, [tree.motion(*values[:, n]) for n in range(len(t))], 1e-9)
    assert values[0][:, 4].max() > 2 * np.pi


PRINTED = {"revolute": "cosine_of_angle", "modified_universal": "cosine_of_link"}


def guide_as_printed(tree, b, q, ahead):
    """As ``Tree.guide`` of one joint, by the drivers of the paper, whose angles are ``ahead`` of the coordinates."""
    for (driver, sort, near, far, vectors), n in zip(tree.guides(0, ahead), tree.coordinates[0], strict=True):
        kind = PRINTED[tree.kinds[0]]
        if sort == "angle":  # directions at right angles to the axis
            axis = vectors.pop("h_i")
            assert abs(axis @ vectors["a_i"]) < 1e-12
        signal = Signal.function(lambda t, n=n: q[n](t) + ahead, 0.0, 1.0)
        b.driver(driver, kind, near, far, **vectors, **{"theta_t" if sort == "angle" else "beta_t": signal})


@pytest.mark.parametrize("kind", ["revolute", "modified_universal"])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_drivers_as_printed_away_from_their_singular_angles(kind, sign):
    """Of angles of either sign, the one that the configuration is at: 0.5 .. 2.5 rad, or -2.5 .. -0.5 rad."""
    tree, t = single(kind, seed=8), np.linspace(0.0, 1.0, 41)
    q = [Signal.function(lambda t, w=w: np.sin(w * t), 0.0, 1.0) for w in (5.0, 3.0)[: tree.size]]
    ahead = 1.5 * sign
    b = tree.builder()
    guide_as_printed(tree, b, q, ahead)
    m = runtime.inverse_dynamics(b.build(), t)
    values = signal_values(q, t)
    matches(tree, m, [tree.motion(*values[:, n]) for n in range(len(t))], 1e-9)
    exact = np.array([tree.kane(*values[:, n]) for n in range(len(t))])
    for (driver, *_), n in zip(tree.guides(0), tree.coordinates[0], strict=True):
        (effort,) = m.driven[driver].effort.values()
        assert largest(effort - exact[:, n]) < 1e-9 * largest(exact)


@pytest.mark.parametrize("at", [0.0, np.pi])
@pytest.mark.parametrize("kind", ["revolute", "modified_universal"])
def test_the_drivers_as_printed_are_refused_at_their_singular_angles(kind, at):
    tree = single(kind, seed=8)
    b = tree.builder()
    guide_as_printed(tree, b, [Signal.constant(0.0)] * tree.size, at)
    driver = tree.guides(0)[0][0]
    with pytest.raises(
        ModelError, match=f"'{driver}' .*row cosine vanishes .*singular when the angle is 0 or 180 degrees"
    ):
        b.build()


@pytest.mark.slow
@pytest.mark.parametrize("kept", [0, 1, 2, 3])
def test_three_euler_parameters_as_printed(kept):
    """The fourth follows, with its sign, as long as it is not zero."""
    tree, t = single("free"), np.linspace(0.0, 1.0, 41)
    A0 = about(unit([1, 1, 1]), 2 * np.pi / 3 - 0.2)  # all four are near 0.5
    tree.q0[3:] = Rotation.from_matrix(A0).as_euler("XYZ")
    tree.data[0].A = A0
    tree.start[0] = (np.zeros(3), A0)
    q = wandering(tree, 3, size=0.2)
    b = tree.builder()
    e = euler_signals(tree, 0, q, np.linspace(0.0, 1.0, 401))
    b.driver("point", "guided_point", "body_0", s_i=(0, 0, 0), **signals_of(("x_t", "y_t", "z_t"), q[:3]))
    for n in {0, 1, 2, 3} - {kept}:
        signal = Signal(np.array(e[n].knots), e[n].coefficients / -2.0)
        weights = {f"w{m}": float(m == n) for m in range(4)}
        b.driver(f"e{n}", "euler_parameter", "body_0", **weights, e_t=signal)
    m = runtime.inverse_dynamics(b.build(), t)
    values = signal_values(q, t)
    states = [tree.motion(*values[:, n]) for n in range(len(t))]
    assert (m.p["body_0"][:, kept] * m.p["body_0"][0, kept]).min() > 0.0
    assert largest(matrix(m.p["body_0"]) - np.array([s[0].A for s in states])) < 1e-9
    assert largest(m.omega["body_0"] - np.array([s[0].omega for s in states])) < 1e-8
    assert largest(m.omega_dot["body_0"] - np.array([s[0].omega_dot for s in states])) < 1e-6


def test_a_users_own_driver():
    """A distance from the ground, driven by a study's own equation."""

    def rope_length(r_i, s_i, r_j, s_j, d_t):
        """Points of two bodies are at a prescribed distance."""
        d = r_j + s_j - r_i - s_i
        return {"distance": d.dot(d) - d_t**2}

    b = Builder("crane", gravity=(0, 0, -9.81))
    b.body("load", mass=3.0, inertia=(1, 1, 1), r=(0, 0, -1.0), free=True)
    distance = Signal.function(lambda t: 1.0 + 0.3 * np.sin(2 * t), 0.0, 1.0)
    b.driver("rope", compile_joint(rope_length), "ground", "load", s_i=(0, 0, 0), s_j=(0, 0, 0), d_t=distance)
    b.joint("rail", "point_on_line", "ground", "load", s_i=(0, 0, 0), a_i=(0, 0, 1), s_j=(0, 0, 0))
    b.driver("upright", "guided_cardan", "load", alpha_t=0.0, beta_t=0.0, gamma_t=0.0)
    t = np.linspace(0, 1, 21)
    m = runtime.inverse_dynamics(b.build(), t)
    assert largest(m.r["load"][:, 2] + distance(t)) < 1e-12
    assert largest(m.v_dot["load"][:, 2] + distance(t, 2)) < 1e-8
    assert largest(m.driven["rope"].effort["d_t"] - 3.0 * (distance(t, 2) - 9.81)) < 1e-7
