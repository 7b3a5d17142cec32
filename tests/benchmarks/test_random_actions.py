"""Limits, contacts and forces of the second method: gradients against finite differences; errors in them are found."""

import copy

import numpy as np
import pytest

from benchmarks.random import acting, actions, compare
from benchmarks.random.actions import Cone, Poses
from benchmarks.random.second import Second, displaced

H = 1e-6


def poses(second, y):
    s = y.reshape(-1, 13)
    A = second.geometry(0.0, y)[0]
    r, v, w = (np.concatenate([np.zeros((1, 3)), s[:, k : k + 3]]) for k in (0, 7, 10))
    return Poses(r, np.concatenate([np.eye(3)[None], A]), v, w, second.index)


def coordinates(m, x):
    """All coordinates of the limits and forces of a mechanism, and those of its contacts."""
    for limit in m.limits:
        if limit.kind == "cross_hinge":
            yield actions.cross_angle(x, limit)
        elif limit.kind == "link_hinge":
            yield actions.link_angle(x, limit)
        elif limit.kind == "hinge":
            i, j = limit.reference, limit.moving
            yield actions.hinge_angle(x, i, limit.axes[0], limit.eta, limit.zeta, j, limit.direction)
    for contact in m.contacts:
        yield actions.along(x, contact.plane, contact.point, contact.normal, contact.body, contact.centre)
    for force in m.forces:
        i, j = force.bodies[:2]
        if "s_i" in force.values:
            yield actions.distance(x, i, force.values["s_i"], j, force.values["s_j"])
        if force.kind == "bushing":
            yield from actions.cardan_angles(x, i, np.eye(3), j, force.across)


def moving(seed):
    """A mechanism, its second method, and a state with admissible velocities."""
    random = np.random.default_rng(seed)
    m = (acting.acting_tree, acting.acting_loop)[seed % 2](random)
    second = Second(m)
    second.freedoms()
    v, w = second.admissible(second.start(), random.standard_normal(6 * second.n))
    y = second.start().reshape(-1, 13)
    y[:, 7:10], y[:, 10:] = v, w
    return m, second, y.ravel(), v, w


@pytest.mark.slow
@pytest.mark.parametrize("block", range(3))
def test_rates_follow_from_values(block):
    kinds = set()
    for seed in range(12 * block, 12 * block + 12):
        m, second, y, v, w = moving(seed)
        h = H / max(np.abs(w).max(), np.abs(v).max() / m.size, 1.0)
        at, before, after = (poses(second, displaced(y, k * h * v, k * h * w)) for k in (0, -1, 1))
        at.rates = poses(second, y).rates
        for (_, g), (low, _), (high, _) in zip(*(coordinates(m, x) for x in (at, before, after)), strict=True):
            size = max(np.abs(g * at.rates).max(), 1e-9)
            assert abs((high - low) / (2 * h) - at.rate(g)) < 1e-6 * size + 1e-7 * abs(high) / h * 1e-3
        kinds |= {one.kind for one in (*m.limits, *m.forces)} | {one.law for one in m.contacts}
    assert len(kinds) > 8


@pytest.mark.slow
def test_excess_of_a_cone():
    cone, random = Cone(np.deg2rad([20.0, 35.0, 50.0, 25.0])), np.random.default_rng(0)
    s = np.linspace(0.0, 2 * np.pi, 200_001)
    dense = np.array([cone.at(one)[0] for one in s])
    outside = 0
    for _ in range(60):
        u = random.standard_normal(3)
        u /= np.linalg.norm(u)
        excess, slope = cone.excess(u)
        if excess:
            outside += 1
            assert excess == pytest.approx(np.arccos(np.clip((dense @ u).max(), -1, 1)), abs=1e-7)
            for k in range(3):
                turn = np.cross(np.eye(3)[k], u)
                high, low = (cone.excess((u + d * turn) / np.linalg.norm(u + d * turn))[0] for d in (H, -H))
                assert (high - low) / (2 * H) == pytest.approx(slope @ turn, abs=1e-7)
    assert 20 < outside < 60
    assert cone.excess(np.array([0.0, 0.0, 1.0]))[0] == 0.0


def _changed(kind):
    """The mechanism of a seed with such an action, with that action a hundredth stronger for Talus."""

    def change(m):
        m = copy.deepcopy(m)
        for one in m.limits if kind == "limit" else []:
            one.max_moment *= 1.01
            one.damping *= 1.01
        for one in m.contacts if kind == "contact" else []:
            one.parameters["stiffness"] *= 1.01
        for one in m.forces if kind == "force" else []:
            for name in ("stiffness", "friction", "damping"):
                if name in one.values:
                    one.values[name] *= 1.01
        return m

    return change


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["limit", "contact", "force"])
def test_an_error_of_a_hundredth_is_found(kind, monkeypatch):
    original, change = compare.system_of, _changed(kind)
    monkeypatch.setattr(compare, "system_of", lambda m, name: original(change(m), name))
    found = {compare.examine("acting_tree", seed, acting.acting_tree, brief=True).kind for seed in range(14)}
    assert "wrong" in found
