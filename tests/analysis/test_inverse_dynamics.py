"""Inverse dynamics of guided trees: motion, efforts, joint loads and energy, against independent derivations."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import runtime
from runtime import Signal
from tests.support.trees import (
    GRAVITY,
    Tree,
    coordinate_names,
    euler_signals,
    matches,
    quadrature,
    random_tree,
    signal_values,
    signals_of,
    wandering,
    with_loads,
)
from tests.support.vectors import largest, parameter_rates, parameters


@cache
def guided(seed, floating=False, turns=0.0, orientation="guided_cardan"):
    """A random tree under loads, guided through a random motion at the nodes of a quadrature from 0 to 1 s."""
    tree = random_tree(seed, floating=floating)
    q = wandering(tree, seed, turns=turns)
    b = tree.builder()
    loads = with_loads(tree, b, seed)
    nodes, _ = quadrature(64 if turns else 24)
    t = np.concatenate([[0.0], nodes, [1.0]])
    orient = orientation
    if orientation != "guided_cardan":
        orient = lambda k: euler_signals(tree, k, q, t)  # noqa: E731
    tree.guide(b, q, orientation=orient)
    system = b.build()
    values = signal_values(q, t)
    states = [tree.motion(*values[:, n]) for n in range(len(t))]
    wrenches = [loads(time, bodies) for time, bodies in zip(t, states, strict=True)]
    return SimpleNamespace(
        tree=tree, q=q, t=t, system=system, motion=runtime.inverse_dynamics(system, t), values=values, states=states,
        wrenches=wrenches,
    )  # fmt: skip


trees = pytest.mark.parametrize(
    "case",
    [(1,), (2,), (3, True), (4, True), (5, False, 13.0), (6, True, 20.0), (7, True, 0.0, "guided_orientation")],
    ids=str,
)


@trees
def test_a_guided_tree_follows_its_signals(case):
    """Hinges with 13 or 20 rad/s turn several times, through 0, 180 and 360 degrees."""
    g = guided(*case)
    assert g.system.degrees_of_freedom == 0
    if len(case) > 2 and case[2]:
        hinges = [
            n for k, c in enumerate(g.tree.coordinates) if g.tree.kinds[k] not in ("free", "spherical") for n in c
        ]
        assert np.ptp(g.values[0][:, hinges], axis=0).min() > 2 * np.pi - 1.0
    matches(g.tree, g.motion, g.states, 1e-9)
    assert g.motion.violation.max() < 1e-11 and not g.motion.residual.any()


@pytest.mark.slow
@trees
def test_efforts_of_the_drivers_by_kanes_equations(case):
    g = guided(*case)
    exact = np.array([g.tree.kane(*g.values[:, n], g.wrenches[n]) for n in range(len(g.t))])
    for k, c in enumerate(g.tree.coordinates):
        if g.tree.kinds[k] == "free":
            compare_driver(g, f"place_{k}", c[:3], exact)
        if g.tree.kinds[k] in ("free", "spherical"):
            if len(case) < 4:
                compare_driver(g, f"orient_{k}", c[-3:], exact)
            continue
        for (driver, *_), n in zip(g.tree.guides(k), c, strict=True):
            compare_driver(g, driver, [n], exact)
    total = sum(driver.power for driver in g.motion.driven.values())
    assert largest(total - (exact * g.values[1]).sum(axis=1)) < 1e-9 * largest(total)


def compare_driver(g, name, places, exact):
    driver = g.motion.driven[name]
    for signal, n in zip(driver.effort, places, strict=True):
        assert largest(driver.effort[signal] - exact[:, n]) < 1e-9 * largest(exact), (name, signal)
        assert np.array_equal(driver.value[signal], g.values[0][:, n])
        assert np.array_equal(driver.rate[signal], g.values[1][:, n])


@trees
def test_efforts_of_the_freedoms_and_joint_loads_by_newton_and_euler(case):
    g = guided(*case)
    m, tree = g.motion, g.tree
    found = [tree.inverse(*g.values[:, n], g.wrenches[n]) for n in range(len(g.t))]
    efforts, scale = np.array([f[0] for f in found]), largest(*(f[0] for f in found))
    assert list(m.degrees_of_freedom) and set(m.degrees_of_freedom) == {
        name for k in range(5) for name in coordinate_names(tree, k)
    }
    for k, c in enumerate(tree.coordinates):
        exact, rates = efforts[:, c], g.values[1][:, c]
        if tree.kinds[k] in ("free", "spherical"):
            A = np.array([s[k].A for s in g.states])
            omega = np.array([s[k].omega for s in g.states])
            if tree.kinds[k] == "spherical":  # about the axes of its own body
                parent = tree.parents[k]
                omega = omega - (0.0 if parent is None else np.array([s[parent].omega for s in g.states]))
                exact, rates = np.einsum("nab,na->nb", A, exact), np.einsum("nab,na->nb", A, omega)
            else:
                rates = np.column_stack([np.array([s[k].v for s in g.states]), omega])
        for n, name in enumerate(coordinate_names(tree, k)):
            f = m.degrees_of_freedom[name]
            assert largest(f.effort - exact[:, n]) < 1e-9 * scale, name
            assert largest(f.rate - rates[:, n]) < 1e-9 * max(1.0, largest(rates)), name
            assert np.array_equal(f.power, f.effort * f.rate) and f.on == tree.names[k]
            assert f.joint == ("" if tree.kinds[k] == "free" else f"joint_{k}")
            assert f.unit == ("N" if tree.kinds[k] == "free" and n < 3 else "N m")
        if tree.kinds[k] == "free":
            continue
        force, moment = (np.array([f[1][k][part] for f in found]) for part in range(2))
        last, first = (np.array([s[k].points[n] for s in g.states]) for n in (-1, 0))
        load = m.joint_load(f"joint_{k}", on=tree.names[k])
        assert largest(load.force - force, load.moment - moment) < 1e-9 * scale
        assert load.at == f"s_j of joint 'joint_{k}'"
        back = m.joint_load(f"joint_{k}", on=tree.parent_name(k))
        assert largest(back.force + force, back.moment + moment + np.cross(last - first, force)) < 1e-9 * scale
        centre = np.array([s[k].r for s in g.states])
        at_centre = m.joint_load(f"joint_{k}", on=tree.names[k], at="centre", axes=tree.names[k])
        A = np.array([s[k].A for s in g.states])
        exact = np.einsum("nab,na->nb", A, moment + np.cross(last - centre, force))
        assert largest(at_centre.moment - exact) < 1e-9 * scale
        assert largest(at_centre.force - np.einsum("nab,na->nb", A, force)) < 1e-9 * scale


@trees
def test_dalembert(case):
    """Of every body: inertia, weight and loads, and what all joints and drivers do to it, add up to nothing."""
    g = guided(*case)
    m, tree = g.motion, g.tree
    force = {name: np.zeros((len(g.t), 3)) for name in [*tree.names, "ground"]}
    moment = {name: np.zeros((len(g.t), 3)) for name in [*tree.names, "ground"]}
    for joint in g.system.joints:
        for body in (joint.body_i, joint.body_j):
            done = m.reaction(joint.name, on=body, at="centre")
            force[body] += done.force
            moment[body] += done.moment
    scale = max(largest(f) for f in force.values())
    for k, name in enumerate(tree.names):
        for n, bodies in enumerate(g.states):
            body, J = bodies[k], bodies[k].A @ tree.inertia[k] @ bodies[k].A.T
            F, M = g.wrenches[n].get(k, (np.zeros(3), np.zeros(3)))
            rest = force[name][n] + F + tree.mass[k] * (GRAVITY - body.v_dot)
            spin = moment[name][n] + M - J @ body.omega_dot - np.cross(body.omega, J @ body.omega)
            assert largest(rest, spin) < 1e-9 * scale


def test_efforts_do_not_depend_on_where_the_drivers_are_fixed():
    """A motion of a floating tree with two sets of drivers: equal efforts of the degrees of freedom and equal joint loads."""
    tree = Tree(["free", "modified_universal", "revolute"], [None, 0, 1], 21)
    q, t = wandering(tree, 21), np.linspace(0.0, 1.0, 41)
    values = signal_values(q, t)
    states = [tree.motion(*values[:, n]) for n in range(len(t))]
    motions = []
    for other in (False, True):
        b = tree.builder()
        with_loads(tree, b, 21)
        if not other:
            tree.guide(b, q)
        else:  # the last body is placed in space, and the first one follows from it
            r, v, a, omega, alpha = (
                np.array([getattr(s[2], part) for s in states]) for part in ("r", "v", "v_dot", "omega", "omega_dot")
            )
            p = parameters(np.array([s[2].A for s in states]))
            for n in range(1, len(p)):
                p[n] *= np.sign(p[n] @ p[n - 1])
            p_rates = parameter_rates(p, omega, alpha)
            axes = dict(
                zip(
                    ("x_t", "y_t", "z_t"), (Signal.samples(t, r[:, c], v[:, c], a[:, c]) for c in range(3)), strict=True
                )
            )
            b.driver("place", "guided_point", "body_2", s_i=(0, 0, 0), **axes)
            turn = [Signal.samples(t, p[:, c], p_rates[0][:, c], p_rates[1][:, c]) for c in range(4)]
            b.driver("orient", "guided_orientation", "body_2", **signals_of(("e0_t", "e1_t", "e2_t", "e3_t"), turn))
            for k in (1, 2):
                for (driver, sort, near, far, vectors), n in zip(tree.guides(k), tree.coordinates[k], strict=True):
                    b.driver(
                        driver,
                        f"guided_{sort}",
                        near,
                        far,
                        **vectors,
                        **{"theta_t" if sort == "angle" else "beta_t": q[n]},
                    )
        motions.append(runtime.inverse_dynamics(b.build(), t))
    one, two = motions
    scale = max(largest(f.effort) for f in one.degrees_of_freedom.values())
    assert list(one.degrees_of_freedom) == list(two.degrees_of_freedom)
    for name, f in one.degrees_of_freedom.items():
        assert largest(f.effort - two.degrees_of_freedom[name].effort) < 1e-9 * scale
        assert largest(f.rate - two.degrees_of_freedom[name].rate) < 1e-9
    for joint, bodies in (("joint_1", ("body_0", "body_1")), ("joint_2", ("body_1", "body_2"))):
        for on in bodies:
            for at in ("joint", "centre", (0.1, 0.2, -0.3)):
                a, b = (m.joint_load(joint, on=on, at=at, axes="body_1") for m in motions)
                assert largest(a.force - b.force, a.moment - b.moment) < 1e-9 * scale
    assert largest(one.driven["turn_2"].effort["theta_t"] - two.driven["turn_2"].effort["theta_t"]) > 1e-2 * scale
