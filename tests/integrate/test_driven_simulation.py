"""Simulation under drivers, motors and loads, against reduced coordinates and closed forms."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import runtime
from runtime import Builder, ModelError, Signal, State, Status
from tests.support.trees import (
    GRAVITY,
    Tree,
    motors_of,
    quadrature,
    with_loads,
)
from tests.support.vectors import largest, matrix, skew, unit

EXACT = dict(rtol=1e-12, atol=1e-12)


def reduced(tree, t, effort, wrenches):
    """Coordinates and rates of a tree at times t, from rest, by its mass matrix."""

    def slope(time, y):
        position, rate = np.split(y, 2)
        bodies, partials = tree.motion(position, rate, 0.0 * rate), tree.partials(position)
        needed = effort(time) - tree.kane(position, rate, 0.0 * rate, wrenches(time, bodies), partials)
        return np.concatenate([rate, np.linalg.solve(tree.mass_matrix(position, partials), needed)])

    start = np.concatenate([tree.q0, np.zeros(tree.size)])
    found = solve_ivp(slope, (t[0], t[-1]), start, method="DOP853", t_eval=t, rtol=1e-10, atol=1e-10)
    return [(*np.split(y, 2), np.zeros(tree.size)) for y in found.y.T]


@pytest.mark.parametrize("axes", ["global", "body"])
@pytest.mark.parametrize("point", [False, True])
@pytest.mark.parametrize("part", ["force", "moment", "both"])
def test_a_floating_body_under_a_load(axes, point, part):
    """Force and moment in global or body axes, at the centre or at a moving point, by Newton and Euler in global axes."""
    mass, J, t = 1.7, np.array([[0.3, 0.02, -0.01], [0.02, 0.2, 0.03], [-0.01, 0.03, 0.25]]), np.linspace(0.0, 1.0, 11)
    curves = [
        Signal.function(lambda t, k=k: np.sin((1.0 + k) * t + k) * (0.3 if k > 5 else 3.0), 0.0, 1.0) for k in range(9)
    ]
    F, M = (curves[:3] if part != "moment" else [0.0] * 3), (curves[3:6] if part != "force" else [0.0] * 3)
    b = Builder("pushed", gravity=GRAVITY)
    start = dict(r=(0.1, 0.2, 0.3), v=(1.0, 0.0, -1.0), omega=(1.0, 2.0, -0.5), p=unit([0.5, 0.1, -0.2, 0.3]))
    b.body("stone", mass=mass, inertia=J, free=True, **start)
    b.load("push", "stone", force=F, moment=M, point=curves[6:] if point else None, axes=axes)
    system = b.build()
    run = runtime.simulate(system, 1.0, t_eval=t, **EXACT)

    def value(signals, time):
        return np.array([float(s(time)) if isinstance(s, Signal) else s for s in signals])

    def slope(time, y):
        r, A, v, w = y[:3], y[3:12].reshape(3, 3), y[12:15], y[15:]
        force, moment, place = value(F, time), value(M, time), value(curves[6:], time)
        if axes == "body":
            force, moment, place = A @ force, A @ moment, A @ place + r
        if point:
            moment = moment + np.cross(place - r, force)
        K = A @ J @ A.T
        return np.concatenate(
            [v, (skew(w) @ A).ravel(), force / mass + GRAVITY, np.linalg.solve(K, moment - np.cross(w, K @ w))]
        )

    y0 = np.concatenate([start["r"], matrix(np.array(start["p"])).ravel(), start["v"], start["omega"]])
    exact = solve_ivp(slope, (0.0, 1.0), y0, method="DOP853", t_eval=t, rtol=1e-12, atol=1e-12).y.T
    assert largest(run.r["stone"] - exact[:, :3], run.v["stone"] - exact[:, 12:15]) < 1e-9
    assert largest(matrix(run.p["stone"]).reshape(-1, 9) - exact[:, 3:12], run.omega["stone"] - exact[:, 15:]) < 1e-9
    now = slope(t[-1], exact[-1])
    assert largest(run.v_dot["stone"][-1] - now[12:15], run.omega_dot["stone"][-1] - now[15:]) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize(
    "kinds", [("revolute", "universal"), ("modified_universal", "revolute"), ("spherical", "modified_universal")]
)
def test_a_tree_under_motors_and_loads(kinds):
    """By its mass matrix in reduced coordinates, and by its energy; at rest at first."""
    tree, (nodes, weights) = Tree(kinds, [None, 0], 4), quadrature(20)
    t = 0.3 * np.concatenate([[0.0], nodes, [1.0]])
    b = tree.builder()
    loads = with_loads(tree, b, 4, size=0.3)
    efforts = [
        Signal.function(lambda t, n=n: 0.5 * np.cos((3 + n) * t + n), 0.0, 1.0, step=0.01) for n in range(tree.size)
    ]
    moved = motors_of(tree, b, efforts)
    run = runtime.simulate(b.build(), 0.3, t_eval=t, **EXACT)

    def effort(time):
        return np.array([float(efforts[n](time)) if n in moved else 0.0 for n in range(tree.size)])

    found = reduced(tree, t, effort, loads)
    for k, name in enumerate(tree.names):
        states = [tree.motion(*part)[k] for part in found]
        assert largest(run.r[name] - np.array([s.r for s in states])) < 1e-8
        assert largest(matrix(run.p[name]) - np.array([s.A for s in states])) < 1e-8
        assert largest(run.omega[name] - np.array([s.omega for s in states])) < 1e-7
    assert max(largest(part[1]) for part in found) > 1.0

    power = np.array([effort(time) @ part[1] for time, part in zip(t, found, strict=True)])
    for n, (time, part) in enumerate(zip(t, found, strict=True)):
        bodies = tree.motion(*part)
        power[n] += sum(F @ bodies[k].v + M @ bodies[k].omega for k, (F, M) in loads(time, bodies).items())
    change = run.energy[-1] - run.energy[0]
    assert abs(0.3 * weights @ power[1:-1] - change) < 1e-8 and abs(change) > 1e-2


def guided(signal):
    """Two rods, of which a signal turns the upper one."""
    b = Builder("guided", axes="global")
    for name, x in (("upper", 0.25), ("lower", 0.75)):
        b.body(name, mass=1.0, inertia=(0.001, 0.02, 0.02), r=(x, 0, 0))
    b.joint("top", "revolute", "ground", "upper", point=(0, 0, 0), axis=(0, 1, 0))
    b.joint("middle", "revolute", "upper", "lower", point=(0.5, 0, 0), axis=(0, 1, 0))
    b.driver("hand", "guided_angle", "ground", "upper", a_i=(1, 0, 0), h_i=(0, -1, 0), b_j=(1, 0, 0), theta_t=signal)
    return b.build(project_velocities=True)


RAMP = Signal.spline([0, 1], [0, 1], degree=1)


@pytest.mark.parametrize(
    ("signal", "says"),
    [
        (
            Signal.spline([0, 0.3, 1], [0, 0.3, 0], degree=1),
            "the rate of its signal 'theta_t' jumps by -1.43 at t = 0.3 s",
        ),
        (Signal.joined([RAMP, Signal.spline([1, 2], [0.5, 1.5], degree=1)]), "the value .* jumps by -0.5 at t = 1 s"),
    ],
)
def test_signals_that_no_motion_follows_are_refused(signal, says):
    """In absolute coordinates at 1e-11 such a run was a success, with a row off by 0.2."""
    system, end = guided(signal), signal.span[1]
    with pytest.raises(ModelError, match="driver 'hand' of system 'guided': " + says):
        runtime.simulate(system, end)
    assert runtime.simulate(system, 0.99 * signal.knots[1]).success  # no jump lies within
    assert runtime.simulate(guided(RAMP), 1.0).success


def test_all_rows_of_driven_systems_are_checked():
    """A jump of the rate by 9e-4 of it violates the row by 7e-5 for a while; the tolerance does not show that."""
    system = guided(Signal.spline([0, 0.5, 1], [0, 0.5, 0.5 + 0.5 * (1 - 9e-4)], degree=1))
    run = runtime.simulate(system, 1.0, coordinates="absolute", rtol=1e-11, atol=1e-11)
    assert run.status == Status.CONSTRAINTS_VIOLATED and "row hand." in run.message


def test_a_start_beside_a_driver_is_no_violated_row():
    """What a given start may violate fades."""
    system = guided(0.0)
    y, angle = system.state.y.copy().reshape(2, 13), 6e-7
    y[:, 2], y[:, 5] = -angle * y[:, 0], angle / 2.0
    run = runtime.simulate(system, 1.0, coordinates="absolute", initial=State(system.body_names, y.ravel()))
    assert run.success and np.abs(run.violation).max() > 5e-7
    fading = (1.0 + 5.0 * run.t) * np.exp(-5.0 * run.t)  # Phi'' + 2 alpha Phi' + beta^2 Phi = 0
    hand = run.Phi["hand"][:, 0]
    assert np.abs(hand - hand[0] * fading).max() < 1e-3 * abs(hand[0])
