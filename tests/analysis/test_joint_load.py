"""Joint loads with motors, limits and drivers across the joint, by Newton and Euler."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import runtime
from runtime import Cone, Signal
from tests.support.trees import Tree, coordinate_names, signal_values, wandering, with_loads
from tests.support.two_bodies import AXES, PLACE, WAVE, two_bodies
from tests.support.vectors import X, Y, across, largest, unit

LIMIT = dict(cone=Cone.from_degrees([0, 90, 180, 270, 360], [15] * 5), max_moment=20.0, compliance=0.4, damping=0.3)


def limited(tree, b):
    """A limit of motion on every hinge of revolutes and ankles, and a cone on balls; the hinges' coordinates by name."""
    hinges = {}
    for k, (kind, c) in enumerate(zip(tree.kinds, tree.coordinates, strict=True)):
        d, near, far, B = tree.data[k], tree.parent_name(k), tree.names[k], tree.relative(k).T
        first, second = tree.ends(k)["a_i"], tree.ends(k)["a_j"]
        if kind == "spherical":
            zeta = unit(tree.ends(k)["s_j"])
            xi = across(zeta, X + Y)
            there = tree.data[k].A @ zeta  # in axes of the parent, at the start
            parent = np.eye(3) if tree.parents[k] is None else tree.data[tree.parents[k]].A
            x = across(parent.T @ there, xi)
            b.limit(
                f"cone_{k}",
                f"joint_{k}",
                reference=near,
                xi=x,
                eta=np.cross(parent.T @ there, x),
                direction=zeta,
                **LIMIT,
            )
            continue
        if kind == "revolute":
            sides = [(f"hinge_{k}", near, first, across(first, X + Y), c[0])]
        else:
            sides = [
                (f"near_{k}", near, first, across(first, d.link), c[0]),
                (f"far_{k}", far, second, across(second, -B @ d.link), c[1]),
            ]
        for name, reference, axis, zeta, n in sides:
            b.limit(name, f"joint_{k}", reference=reference, xi=axis, eta=np.cross(zeta, axis), **LIMIT)
            hinges[name] = n
    return hinges


KINDS = [("revolute", "modified_universal"), ("modified_universal", "spherical"), ("spherical", "revolute")]


@cache
def moved(kinds, motors, limits):
    """A chain with loads, guided through one motion, with or without motors and limits across its joints."""
    tree, t = Tree(kinds, [None, 0], 5), np.linspace(0.0, 1.0, 41)
    q = wandering(tree, 5)
    b = tree.builder()
    loads = with_loads(tree, b, 5)
    tree.guide(b, q)
    hinges = limited(tree, b) if limits else {}
    efforts = {}
    if motors:
        for k in range(2):
            if kinds[k] == "spherical":
                continue
            for (name, sort, near, far, vectors), n in zip(tree.guides(k), tree.coordinates[k], strict=True):
                effort = Signal.function(lambda t, n=n: 4.0 * np.cos((3 + n) * t), 0.0, 1.0)
                target = {"theta_t" if sort == "angle" else "beta_t": 0.2}
                b.motor(
                    f"motor_{name}",
                    f"guided_{sort}",
                    near,
                    far,
                    effort=effort,
                    stiffness=6.0,
                    damping=0.4,
                    **vectors,
                    **target,
                )
                efforts[name] = n, effort(t) - 6.0 * (q[n](t) - 0.2) - 0.4 * q[n](t, 1)
    m = runtime.inverse_dynamics(b.build(), t)
    values = signal_values(q, t)
    states = [tree.motion(*values[:, n]) for n in range(len(t))]
    found = [
        tree.inverse(*values[:, n], loads(time, bodies)) for n, (time, bodies) in enumerate(zip(t, states, strict=True))
    ]
    return SimpleNamespace(tree=tree, m=m, values=values, states=states, found=found, hinges=hinges, efforts=efforts)


beside = pytest.mark.parametrize(("motors", "limits"), [(False, False), (True, False), (False, True), (True, True)])


@pytest.mark.parametrize("kinds", KINDS, ids=" ".join)
@beside
def test_joint_loads_by_newton_and_euler(kinds, motors, limits):
    """Against the recursion of ``Tree``, which has no multipliers, motors or limits: the load follows from the motion alone."""
    g = moved(kinds, motors, limits)
    scale = max(largest(load[part]) for f in g.found for load in f[1] for part in range(2))
    for k, name in enumerate(g.tree.names):
        force, moment = (np.array([f[1][k][part] for f in g.found]) for part in range(2))
        load = g.m.joint_load(f"joint_{k}", on=name)
        assert largest(load.force - force, load.moment - moment) < 1e-9 * scale
        first, last = (np.array([s[k].points[n] for s in g.states]) for n in (0, -1))
        back = g.m.joint_load(f"joint_{k}", on=g.tree.parent_name(k))
        assert largest(back.force + force, back.moment + moment + np.cross(last - first, force)) < 1e-9 * scale


@pytest.mark.parametrize("kinds", KINDS, ids=" ".join)
@beside
def test_drivers_supply_what_motors_and_limits_do_not(kinds, motors, limits):
    """Of every coordinate of hinges and ankles: driver, motor and limit together are the effort of Newton and Euler."""
    g = moved(kinds, motors, limits)
    exact = np.array([f[0] for f in g.found])
    others = np.zeros_like(exact)
    for n, effort in g.efforts.values():
        others[:, n] += effort
    for name, n in g.hinges.items():
        limit, rate = g.m.limits[name], g.values[1][:, n]
        sense = np.sign((limit.rate * rate).sum())  # of the limit's angle
        assert largest(limit.rate - sense * rate) < 1e-9 * largest(rate)
        moment = -np.sign(limit.angle) * limit.restricting_moment - LIMIT["damping"] * limit.rate
        others[:, n] += sense * moment
        assert limit.restricting_moment.max() > 5.0
    for k, c in enumerate(g.tree.coordinates):
        if g.tree.kinds[k] == "spherical":
            continue
        for (name, *_), freedom, n in zip(g.tree.guides(k), coordinate_names(g.tree, k), c, strict=True):
            assert largest(g.m.degrees_of_freedom[freedom].effort + others[:, n] - exact[:, n]) < 1e-8 * largest(exact)
            (effort,) = g.m.driven[name].effort.values()
            if "spherical" not in g.tree.kinds[k + 1 :]:  # whose driver, from the ground, takes its share
                assert largest(effort + others[:, n] - exact[:, n]) < 1e-8 * largest(exact)


def test_a_motor_from_the_ground_to_beyond_a_joint_crosses_it():
    """As a driver from the ground does: what lies beyond the joint needs no more and no less."""
    loads = []
    for stiffness in (0.0, 30.0):
        b = two_bodies()
        b.driver("place", "guided_point", "leg", s_i=(0, 0, 0), **PLACE)
        b.driver("turn", "guided_cardan", "leg", alpha_t=0.0, beta_t=0.0, gamma_t=0.0)
        b.driver("angle", "guided_angle", "leg", "foot", **AXES, theta_t=WAVE)
        b.motor("rope", "guided_angle", "ground", "foot", **AXES, stiffness=stiffness, damping=0.0, theta_t=0.1)
        loads.append(runtime.inverse_dynamics(b.build(), np.linspace(0.0, 1.0, 11)))
    one, two = loads
    for on in ("leg", "foot"):
        a, b = (m.joint_load("ankle", on=on) for m in loads)
        assert largest(a.force - b.force, a.moment - b.moment) < 1e-10
    supplied = two.driven["angle"].effort["theta_t"] - one.driven["angle"].effort["theta_t"]
    assert largest(supplied - 30.0 * (WAVE(one.t) - 0.1)) < 1e-9
