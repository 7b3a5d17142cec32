"""Motors on coordinates, and the coordinates themselves: angles, and lengths of a user's own."""

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import runtime
from codegen import compile_joint
from runtime import Builder, ModelError, Signal
from tests.support.refusals import assert_refused
from tests.support.trees import signal_values, single, wandering
from tests.support.two_bodies import AXES
from tests.support.vectors import X, Y, Z, about, largest, unit

EXACT = dict(rtol=1e-12, atol=1e-12)


# --- angles ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["guided_angle", "guided_link"])
def test_a_motor_with_a_spring_and_a_damper(kind):
    """I theta'' = Q - k (theta - theta*) - c (theta' - theta*') of a wheel that starts at 0.2 rad from its mark."""
    inertia, k, c, t = 0.4, 30.0, 1.5, np.linspace(0.0, 1.5, 31)
    target = Signal.function(lambda t: 0.5 * np.sin(4 * t), 0.0, 1.5, step=0.01)
    effort = Signal.function(lambda t: 2.0 * np.cos(7 * t), 0.0, 1.5, step=0.01)

    def wheel(**values):
        b = Builder("wheel", gravity=(0, 0, 0))
        b.body("wheel", mass=1.0, inertia=(inertia, 0.3, 0.3))
        b.joint("axle", "revolute", "ground", "wheel", s_i=(0, 0, 0), a_i=X, s_j=(0, 0, 0), a_j=X)
        mark = about(X, 0.2) @ Y
        given = (
            dict(b_j=mark, theta_t=target) if kind == "guided_angle" else dict(s_i=(0, 0, 0), s_j=mark, beta_t=target)
        )
        b.motor("spring", kind, "ground", "wheel", a_i=Y, h_i=X, effort=effort, **given, **values)
        return runtime.simulate(b.build(), 1.5, t_eval=t, **EXACT)

    def slope(time, y):
        moment = effort(time) - k * (y[0] - target(time)) - c * (y[1] - target(time, 1))
        return [y[1], moment / inertia]

    exact = solve_ivp(slope, (0.0, 1.5), [0.2, 0.0], method="DOP853", t_eval=t, rtol=1e-12, atol=1e-12).y
    run = wheel(stiffness=k, damping=c)
    assert largest(run.omega["wheel"][:, 0] - exact[1]) < 1e-9 and np.ptp(exact[0]) > 0.5
    vectors = dict(a_i=Y, h_i=X) | (
        dict(b_j=about(X, 0.2) @ Y) if kind == "guided_angle" else dict(s_i=(0, 0, 0), s_j=about(X, 0.2) @ Y)
    )
    assert largest(runtime.analysis.coordinate(run, kind, "ground", "wheel", **vectors) - exact[0]) < 1e-9
    assert largest(runtime.analysis.coordinate(run, kind, "ground", "wheel", **vectors, rate=True) - exact[1]) < 1e-9
    assert largest(run.elastic_energy - 0.5 * k * (exact[0] - target(t)) ** 2) < 1e-9
    assert largest(run.energy - run.elastic_energy - 0.5 * inertia * exact[1] ** 2) < 1e-9
    # Without a spring and a damper the target means nothing.
    assert largest(wheel().omega["wheel"][:, 0] - 2.0 / 7.0 * np.sin(7 * t) / inertia) < 1e-8


@pytest.mark.parametrize("kind", ["revolute", "universal", "modified_universal"])
def test_coordinates_of_a_motion(kind):
    """``coordinate`` returns the coordinate over several turns, and its rate."""
    tree, t = single(kind, seed=8), np.linspace(0.0, 1.0, 61)
    q = wandering(tree, 8, turns=9.0)
    b = tree.builder()
    tree.guide(b, q)
    m = runtime.inverse_dynamics(b.build(), t)
    values = signal_values(q, t)
    for (_, sort, near, far, vectors), n in zip(tree.guides(0), tree.coordinates[0], strict=True):
        assert largest(runtime.analysis.coordinate(m, f"guided_{sort}", near, far, **vectors) - values[0][:, n]) < 1e-10
        assert (
            largest(runtime.analysis.coordinate(m, f"guided_{sort}", near, far, **vectors, rate=True) - values[1][:, n])
            < 1e-9
        )
        assert np.ptp(values[0][:, n]) > 2 * np.pi
    for call, message in (
        (
            lambda: runtime.analysis.coordinate(m, "guided_point", "body_0", s_i=(0, 0, 0)),
            "single coordinate|one coordinate",
        ),
        (lambda: runtime.analysis.coordinate(m, "guided_angle", "knee", "ground", **AXES), "unknown body 'knee'"),
    ):
        assert_refused(re.compile(message), call)


# --- lengths of a user's own ----------------------------------------------------------------------------------------


def way(r_i, s_i, a_i, r_j, s_j, x_t):
    """The way of P_j from P_i along a_i is x_t [m]."""
    return {"way": a_i.dot(r_j + s_j - r_i - s_i) - x_t}


def gap(r_i, s_i, r_j, s_j, x_t):
    """The distance of P_i and P_j is x_t [m].

    Singular when the points coincide.
    """
    return {"distance": (r_j + s_j - r_i - s_i).norm() - x_t}


def damped(x0, v0, push, mass, stiffness, damping, t):
    """Way and rate of m x'' = push - k x - c x', underdamped, in closed form."""
    decay = damping / (2 * mass)
    w = np.sqrt(stiffness / mass - decay**2)
    rest = push / stiffness
    A, B = x0 - rest, (v0 + decay * (x0 - rest)) / w
    wave, slope = A * np.cos(w * t) + B * np.sin(w * t), w * (B * np.cos(w * t) - A * np.sin(w * t))
    return rest + np.exp(-decay * t) * wave, np.exp(-decay * t) * (slope - decay * wave)


@pytest.mark.parametrize("kind", [way, gap], ids=lambda f: f.__name__)
def test_a_linear_spring_of_a_users_own_kind(kind):
    """A block on a rail, from a constant force, a spring and a damper, in closed form; its lengths from an offset point."""
    mass, k, c, push, length, x0, v0, t = 0.7, 40.0, 1.2, 3.0, 0.6, 0.15, -0.4, np.linspace(0.0, 2.0, 41)
    axis = unit([1.0, 2.0, -2.0])
    vectors = dict(s_i=0.1 * axis, s_j=0.3 * axis) | (dict(a_i=axis) if kind is way else {})
    b = Builder("block", gravity=(0, 0, 0))
    place = length + x0 + 0.1 - 0.3
    b.body("block", mass=mass, inertia=(0.1, 0.1, 0.1), r=place * axis, v=v0 * axis)
    b.joint("rail", "translational", "ground", "block", s_i=(0, 0, 0), a_i=axis, s_j=(0, 0, 0), a_j=axis)
    module = compile_joint(kind)
    given = dict(effort=push, stiffness=k, damping=c, x_t=length)
    b.motor("spring", module, "ground", "block", **vectors, **given)
    run = runtime.simulate(b.build(), 2.0, t_eval=t, **EXACT)
    x, rate = damped(x0, v0, push, mass, k, c, t)
    assert np.ptp(x) > 0.1
    assert largest(run.r["block"] - np.outer(place - x0 + x, axis)) < 1e-10
    assert largest(run.v["block"] - np.outer(rate, axis)) < 1e-9
    assert largest(runtime.analysis.coordinate(run, module, "ground", "block", **vectors) - length - x) < 1e-10
    assert largest(runtime.analysis.coordinate(run, module, "ground", "block", **vectors, rate=True) - rate) < 1e-9
    assert largest(run.elastic_energy - 0.5 * k * x**2) < 1e-9
    assert largest(run.kinetic_energy - 0.5 * mass * rate**2) < 1e-9


def test_the_effort_of_a_motor_of_a_length_is_a_force():
    """Guided against it, the driver of the same length supplies what the motor does not."""
    t, path = np.linspace(0.0, 1.0, 11), Signal.function(lambda t: 0.7 + 0.2 * np.sin(3 * t), 0.0, 1.0)
    module, mass = compile_joint(way), 1.4
    b = Builder("lift", gravity=(0, 0, -9.81))
    b.body("load", mass=mass, inertia=(0.1, 0.1, 0.1), r=(0, 0, 0.7))
    b.joint("rail", "translational", "ground", "load", s_i=(0, 0, 0), a_i=Z, s_j=(0, 0, 0), a_j=Z)
    vectors = dict(s_i=(0, 0, 0), a_i=Z, s_j=(0, 0, 0))
    b.driver("height", module, "ground", "load", **vectors, x_t=path)
    b.motor("counterweight", module, "ground", "load", **vectors, effort=9.0, stiffness=50.0, damping=2.0, x_t=0.6)
    m = runtime.inverse_dynamics(b.build(), t)
    motor = 9.0 - 50.0 * (path(t) - 0.6) - 2.0 * path(t, 1)
    assert largest(m.driven["height"].effort["x_t"] + motor - mass * (path(t, 2) + 9.81)) < 1e-8
    assert m.degrees_of_freedom["rail.along_a_i"].unit == "N"
    assert largest(m.joint_load("rail", on="load").force[:, 2] - mass * (path(t, 2) + 9.81)) < 1e-8


# --- where a motor is singular --------------------------------------------------------------------------------------


def two_masses(other_at, kind, **vectors):
    b = Builder("masses")
    b.body("one", mass=1.0, inertia=(1, 1, 1), free=True)
    b.body("other", mass=1.0, inertia=(1, 1, 1), free=True, r=other_at)
    b.motor("spring", kind, "one", "other", **vectors, effort=1.0)
    return b


POINTS = dict(s_i=(0.1, 0, 0), s_j=(0, 0.2, 0))
SINGULAR = {
    "distance": (gap, (0.1, -0.2, 0.0), POINTS, "the points coincide"),
    "link": ("guided_link", (0.1, -0.2, 0.0), POINTS | dict(a_i=X, h_i=Y), "the link or a_i is parallel to h_i"),
    "link along its axis": ("guided_link", (0.1, 0.5, 0.0), POINTS | dict(a_i=X, h_i=Y), "the link or a_i is parallel to h_i"),
    "angle": ("guided_angle", (1.0, 0.0, 0.0), dict(a_i=X, h_i=Y, b_j=-Y), "a_i or b_j is parallel to h_i"),
}  # fmt: skip


@pytest.mark.parametrize("case", SINGULAR)
def test_a_motor_that_is_singular_is_refused_by_name(case):
    kind, place, vectors, why = SINGULAR[case]
    name, kind = (kind, kind) if isinstance(kind, str) else (kind.__name__, compile_joint(kind))
    with pytest.raises(ModelError) as error:
        two_masses(place, kind, **vectors).build()
    assert str(error.value).startswith(
        f"motor 'spring' ({name}): its coordinate has no gradient in this configuration; it is singular when {why}"
    )
    beside = np.array(place) + [0.0, 0.0, 1e-3]
    if case != "angle":
        assert two_masses(beside, kind, **vectors).build().motor_names == ("spring",)


def test_a_kind_without_a_singularity_note_is_refused():
    def bare(r_i, s_i, r_j, s_j, x_t):
        """A distance."""
        return {"distance": (r_j + s_j - r_i - s_i).norm() - x_t}

    with pytest.raises(ModelError, match="motor 'spring' .*has no gradient in this configuration") as error:
        two_masses((0.1, -0.2, 0.0), compile_joint(bare), **POINTS).build()
    assert "it is singular" not in str(error.value)


def test_a_motor_that_is_singular_where_the_system_is_assembled_is_refused():
    b = Builder("led")
    b.body("knob", mass=1.0, inertia=(1, 1, 1), free=True, r=(0.3, 0, 0))
    b.driver("place", "guided_point", "knob", s_i=(0, 0, 0), x_t=0.0, y_t=0.0, z_t=0.0)
    b.driver("turn", "guided_cardan", "knob", alpha_t=0.0, beta_t=0.0, gamma_t=0.0)
    b.motor("spring", compile_joint(gap), "knob", s_i=(0, 0, 0), s_j=(0, 0, 0), effort=1.0)
    assert_refused(("motor 'spring' ", "has no gradient"), b.build)


# --- kinds that are no coordinates ----------------------------------------------------------------------------------


def half_turn(p_i, e_t):
    """An Euler parameter of body i."""
    return {"parameter": p_i[1] - e_t}


def two_ways(r_i, s_i, x_t, y_t):
    """Two coordinates."""
    return {"x": r_i.x + s_i.x - x_t, "y": r_i.y + s_i.y - y_t}


@pytest.mark.parametrize("kind", [half_turn, two_ways], ids=lambda f: f.__name__)
def test_a_users_kind_that_is_no_coordinate_is_refused(kind):
    module = compile_joint(kind)
    vectors = {} if kind is half_turn else dict(s_i=(0, 0, 0))
    b = Builder("one")
    b.body("one", mass=1.0, inertia=(1, 1, 1), free=True)
    message = rf"motor 'm' \({kind.__name__}\): drives no single coordinate; use guided_angle, guided_link"
    assert_refused(re.compile(message), b.motor, "m", module, "one", **vectors, effort=1.0)
    run = runtime.simulate(b.build(), 0.1)
    with pytest.raises(
        ModelError, match=f"coordinate of kind '{kind.__name__}': that driver drives no single coordinate"
    ):
        runtime.analysis.coordinate(run, module, "one", **vectors)
