"""Simulation under drivers, motors and loads, against reduced coordinates and closed forms."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

import runtime
from runtime import Builder, ModelError, Signal, State, Status
from tests.support.trees import (
    GRAVITY,
    Tree,
    continuous,
    coordinate_names,
    motors_of,
    quadrature,
    random_tree,
    signals_of,
    smooth,
    wandering,
    with_loads,
)
from tests.support.vectors import about, largest, matrix, parameter_rates, skew, unit

EXACT = dict(rtol=1e-12, atol=1e-12)


def reduced(tree, q, u, t, effort, wrenches=None, guided=()):
    """Coordinates and rates of a tree at times t, from its mass matrix; those in ``guided`` (n -> Signal) are given."""
    free = [n for n in range(tree.size) if n not in guided]

    def full(time, y):
        position, rate, second = np.zeros((3, tree.size))
        position[free], rate[free] = y[: len(free)], y[len(free) :]
        for n, signal in dict(guided).items():
            position[n], rate[n], second[n] = (float(signal(time, order)) for order in range(3))
        return position, rate, second

    def slope(time, y):
        position, rate, second = full(time, y)
        bodies = tree.motion(position, rate, second)
        given = wrenches(time, bodies) if wrenches else None
        partials = tree.partials(position)
        needed = effort(time) - tree.kane(position, rate, second, given, partials)
        M = tree.mass_matrix(position, partials)[np.ix_(free, free)]
        return np.concatenate([rate[free], np.linalg.solve(M, needed[free])])

    start = np.concatenate([q[free], u[free]])
    found = solve_ivp(slope, (t[0], t[-1]), start, method="DOP853", t_eval=t, rtol=1e-10, atol=1e-10)
    return [full(time, y) for time, y in zip(t, found.y.T, strict=True)]


def same_motion(tree, run, found, tolerance):
    for k, name in enumerate(tree.names):
        states = [tree.motion(*part)[k] for part in found]
        assert largest(run.r[name] - np.array([s.r for s in states])) < tolerance
        assert largest(matrix(run.p[name]) - np.array([s.A for s in states])) < tolerance
        assert largest(run.omega[name] - np.array([s.omega for s in states])) < tolerance * 10


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

    found = reduced(tree, tree.q0, np.zeros(tree.size), t, effort, loads)
    same_motion(tree, run, found, 1e-8)
    assert max(largest(part[1]) for part in found) > 1.0

    power = np.array([effort(time) @ part[1] for time, part in zip(t, found, strict=True)])
    for n, (time, part) in enumerate(zip(t, found, strict=True)):
        bodies = tree.motion(*part)
        power[n] += sum(F @ bodies[k].v + M @ bodies[k].omega for k, (F, M) in loads(time, bodies).items())
    change = run.energy[-1] - run.energy[0]
    assert abs(0.3 * weights @ power[1:-1] - change) < 1e-8 and abs(change) > 1e-2


@cache
def partly_guided():
    """A floating shank that is guided, and an ankle of which one axis is guided and the other swings."""
    tree, t = Tree(["free", "modified_universal"], [None, 0], 6), np.linspace(0.0, 0.3, 4)
    rng = np.random.default_rng(6)
    curves = rng.uniform(0.5, 4.0, (tree.size, 2))
    q = [
        Signal.function(lambda t, n=n: tree.q0[n] + 0.3 * np.sin(curves[n, 0] * t) * curves[n, 1], 0.0, 0.5, step=0.05)
        for n in range(tree.size)
    ]
    b = tree.builder()
    tree.guide(b, q, leave=("far_1",))
    system = b.build()
    # How fast the free axis turns at first, the least change of the velocities decided.
    omega = system.state.omega["body_1"] - system.state.omega["body_0"]
    bodies = tree.motion(tree.q0, np.zeros(tree.size), np.zeros(tree.size))
    u0 = np.zeros(tree.size)
    u0[7] = np.linalg.lstsq(np.array(bodies[1].axes).T, omega, rcond=None)[0][1]
    exact = reduced(tree, tree.q0, u0, t, lambda time: np.zeros(tree.size), guided={n: q[n] for n in range(7)})
    return tree, system, t, exact


@pytest.mark.slow
@pytest.mark.parametrize(
    "method, rtol, limit", [("dop853", 1e-12, 1e-8), ("RK45", 1e-7, 1e-5), ("Radau", 1e-7, 1e-5), ("BDF", 1e-7, 1e-4)]
)
def test_partly_guided(method, rtol, limit):
    tree, system, t, exact = partly_guided()
    assert system.degrees_of_freedom == 1
    run = runtime.simulate(system, t[-1], t_eval=t, method=method, rtol=rtol, atol=rtol)
    assert run.success, run.message
    same_motion(tree, run, exact, limit)
    assert abs(exact[-1][0][7] - exact[0][0][7]) > 0.05


def test_a_pendulum_whose_pivot_is_guided():
    """theta'' = -(m l (z'' + g) sin + m l x'' cos) / I about the pivot; the driver's power is the change of energy."""
    m, l, J, t = 1.2, 0.4, 0.03, np.linspace(0.0, 2.0, 41)
    x = Signal.function(lambda t: 0.1 * np.sin(4 * t), 0.0, 2.0)
    z = Signal.function(lambda t: 0.05 * np.cos(6 * t), 0.0, 2.0)
    b = Builder("shaken", gravity=(0, 0, -9.81))
    b.body("bob", mass=m, inertia=(J, J, J), r=(0, 0, 0.05 - l), free=True)
    b.driver("pivot", "guided_point", "bob", s_i=(0, 0, l), x_t=x, y_t=0.0, z_t=z)
    b.driver("plane_1", "euler_parameter", "bob", w0=0.0, w1=1.0, w2=0.0, w3=0.0, e_t=0.0)
    b.driver("plane_2", "euler_parameter", "bob", w0=0.0, w1=0.0, w2=0.0, w3=1.0, e_t=0.0)
    system = b.build()
    assert system.degrees_of_freedom == 1

    def slope(time, y):
        push = m * l * ((9.81 + z(time, 2)) * np.sin(y[0]) + x(time, 2) * np.cos(y[0]))
        return [y[1], -push / (J + m * l**2)]

    # theta is the turn from hanging, about -y; x, z of the centre are l sin, -l cos from the pivot.
    start = system.state.omega["bob"][1]
    exact = solve_ivp(slope, (0.0, 2.0), [0.0, -start], method="DOP853", t_eval=t, rtol=1e-12, atol=1e-12).y
    run = runtime.simulate(system, 2.0, t_eval=t, **EXACT)
    place = np.column_stack([x(t) + l * np.sin(exact[0]), 0 * t, z(t) - l * np.cos(exact[0])])
    assert largest(run.r["bob"] - place) < 1e-9 and np.ptp(exact[0]) > 0.3
    assert largest(run.omega["bob"][:, 1] + exact[1]) < 1e-8
    nodes, weights = quadrature(60)
    fine = runtime.simulate(system, 2.0, t_eval=2.0 * nodes, **EXACT)
    force = fine.reaction("pivot", on="bob").force
    power = force[:, 0] * x(fine.t, 1) + force[:, 2] * z(fine.t, 1)
    change = run.energy[-1] - run.energy[0]
    assert abs(2.0 * weights @ power - change) < 1e-8 and abs(change) > 1e-2


@pytest.mark.parametrize("seed", [1, 2])
def test_a_motion_of_motors_is_guided_back(seed):
    """A simulated tree: drivers that repeat its motion supply the motors' moments, and nothing at its ball joints."""
    tree, t = random_tree(seed), np.linspace(0.0, 0.6, 31)
    b = tree.builder()
    with_loads(tree, b, seed)
    efforts = [Signal.function(lambda t, n=n: 2.0 * np.sin((3 + n) * t + n), 0.0, 1.0) for n in range(tree.size)]
    moved = motors_of(tree, b, efforts)
    run = runtime.simulate(b.build(), 0.6, t_eval=t, **EXACT)
    assert max(np.ptp(run.r[name], axis=0).max() for name in tree.names) > 0.1

    again = tree.builder()
    with_loads(tree, again, seed)
    names = {}
    for k, c in enumerate(tree.coordinates):
        far = tree.names[k]
        if tree.kinds[k] == "spherical":
            p = continuous(run.p[far])
            e = smooth(t, p, *parameter_rates(p, run.omega[far], run.omega_dot[far]))
            again.driver(f"orient_{k}", "guided_orientation", far, **signals_of(("e0_t", "e1_t", "e2_t", "e3_t"), e))
            continue
        angles, rates, seconds = joint_angles(tree, k, run)
        for n, (name, sort, i, j, vectors) in enumerate(tree.guides(k)):
            signal = Signal.samples(t, angles[n], rates[n], seconds[n])
            again.driver(
                name, f"guided_{sort}", i, j, **vectors, **{"theta_t" if sort == "angle" else "beta_t": signal}
            )
            names[name] = c[n]
    m = runtime.inverse_dynamics(again.build(), t)
    assert sorted(names.values()) == sorted(moved)
    for name in tree.names:
        assert largest(m.r[name] - run.r[name], m.omega_dot[name] - run.omega_dot[name]) < 1e-8 * largest(
            run.omega_dot[name]
        )
    scale = max(largest(f.effort) for f in m.degrees_of_freedom.values())
    for name, n in names.items():
        (effort,) = m.driven[name].effort.values()
        assert largest(effort - efforts[n](t)) < 1e-7 * scale
    for k, c in enumerate(tree.coordinates):
        for name, n in zip(coordinate_names(tree, k), c, strict=True):
            exact = 0.0 if tree.kinds[k] == "spherical" else efforts[n](t)
            assert largest(m.degrees_of_freedom[name].effort - exact) < 1e-7 * scale
    assert scale > 1.5


def joint_angles(tree, k, run):
    """Angles, rates and second rates of a hinge or an ankle from the motion of its bodies, with respect to the start."""
    d, far, n = tree.data[k], tree.names[k], len(run.t)
    ground = tree.parents[k] is None
    zero = np.zeros((n, 3))
    A_i = np.broadcast_to(np.eye(3), (n, 3, 3)) if ground else matrix(run.p[tree.parent_name(k)])
    w_i, a_i = (zero, zero) if ground else (run.omega[tree.parent_name(k)], run.omega_dot[tree.parent_name(k)])
    A_j, w_j, a_j = matrix(run.p[far]), run.omega[far], run.omega_dot[far]
    axes = np.array([A_i @ d.axes[0], A_j @ tree.ends(k)["a_j"]])[: len(tree.coordinates[k])].transpose(1, 2, 0)
    spins = (w_i, w_j)
    rates = np.array([np.linalg.lstsq(axes[m], (w_j - w_i)[m], rcond=None)[0] for m in range(n)])
    rest = a_j - a_i - sum(np.cross(spins[c], axes[:, :, c]) * rates[:, c : c + 1] for c in range(axes.shape[2]))
    seconds = np.array([np.linalg.lstsq(axes[m], rest[m], rcond=None)[0] for m in range(n)])
    relative = np.array([A_i[m].T @ A_j[m] @ tree.relative(k).T for m in range(n)])  # about(first) about(second)
    angles, guess = [], np.zeros(axes.shape[2])
    for R in relative:
        turned = [d.axes[c] for c in range(len(guess))]

        def gap(q, R=R, turned=turned):
            S = np.eye(3)
            for axis, angle in zip(turned, q, strict=True):
                S = S @ about(axis, angle)
            return (S - R).ravel()

        guess = least_squares(gap, guess, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
        angles.append(guess)
    return np.array(angles).T, rates.T, seconds.T


def test_motors_with_the_drivers_moments_repeat_the_guided_motion():
    """The reaction of drivers, given to motors and loads, moves the same bodies without drivers."""
    tree = Tree(["free", "modified_universal", "revolute"], [None, 0, 1], 12)
    q, t = wandering(tree, 12), np.linspace(0.0, 0.4, 201)
    b = tree.builder()
    with_loads(tree, b, 12)
    tree.guide(b, q)
    system = b.build()
    m = runtime.inverse_dynamics(system, t)
    free = tree.builder()
    with_loads(tree, free, 12)
    efforts = [None] * 6 + [
        Signal.spline(t, next(iter(m.driven[name].effort.values()))) for name in ("near_1", "far_1", "turn_2")
    ]
    assert motors_of(tree, free, efforts) == [6, 7, 8]
    force = m.reaction("place_0", on="body_0", at="centre").force
    moment = m.reaction("orient_0", on="body_0", at="centre").moment
    assert not m.reaction("orient_0", on="body_0", at="centre").force.any()
    spline = [[Signal.spline(t, part[:, c]) for c in range(3)] for part in (force, moment)]
    free.load("hand", "body_0", force=spline[0], moment=spline[1])
    start = free.build()
    assert start.degrees_of_freedom == 9
    run = runtime.simulate(start, 0.4, t_eval=t, initial=State(start.body_names, m.states[0]), **EXACT)
    for name in tree.names:
        assert largest(run.r[name] - m.r[name], matrix(run.p[name]) - matrix(m.p[name])) < 2e-7
        assert largest(run.v[name] - m.v[name], run.omega[name] - m.omega[name]) < 2e-6
    assert np.ptp(m.r["body_2"], axis=0).max() > 0.1


def test_a_wholly_guided_system_is_simulated_too():
    """Nothing is free: the simulation follows the drivers, and tells the same multipliers."""
    tree = Tree(["revolute", "modified_universal"], [None, 0], 2)
    q, t = wandering(tree, 2), np.linspace(0.0, 1.0, 21)
    b = tree.builder()
    tree.guide(b, q)
    system = b.build()
    m = runtime.inverse_dynamics(system, t)
    run = runtime.simulate(system, 1.0, t_eval=t, **EXACT)
    assert run.success and system.degrees_of_freedom == 0
    for name in tree.names:
        assert largest(run.r[name] - m.r[name], run.v[name] - m.v[name]) < 1e-8
    for name in ("turn_0", "near_1", "joint_1"):
        assert largest(run.lam[name] - m.lam[name]) < 1e-6 * largest(m.lam[name])


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
