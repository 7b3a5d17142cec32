"""States, energies and rates of many cases in vector instructions, against the functions for one case."""

import numba
import numpy as np
import pytest

import models
from runtime import GROUND, Builder, simulate_many
from runtime.dynamics.layout import LANES, OMEGA, STATE, P, V
from runtime.dynamics.lift import lift_once, lift_workspace
from runtime.ensemble.joint_batch import cases_of_tree, energies_in_lanes, states_in_lanes
from runtime.integrate.balance_check import energies_of_motions
from runtime.system.spanning_tree import tree_data
from runtime.system.tree_geometry import Geometry

TIMES = 3


@pytest.fixture(scope="module")
def branched():
    """Turns and slides about oblique axes; the first body carries two of them."""
    b, random = Builder("branched", gravity=(0.3, -1.0, -9.0)), np.random.default_rng(0)

    def direction(size):
        v = random.normal(size=size)
        return v / np.linalg.norm(v)

    for name in "abcd":
        b.body(
            name,
            mass=random.uniform(1, 2),
            inertia=(0.02, 0.03, 0.04),
            r=random.normal(size=3),
            p=direction(4),
        )
    for kind, i, j in (
        ("revolute", GROUND, "a"),
        ("translational", "a", "b"),
        ("revolute", "a", "c"),
        ("revolute", "c", "d"),
    ):
        b.joint(f"{i}_{j}", kind, i, j, axes="global", point=random.normal(size=3), axis=direction(3))
    return b.build()


def one_by_one(system, where, z):
    """States at coordinates and rates z (cases, times, 2 n), of geometries (cases, ...)."""
    out = np.empty((*z.shape[:2], len(system.state.y)))
    for case in range(len(z)):
        own = Geometry(*(part[case : case + 1] for part in where))
        data = tree_data(system.tree, system.gravity)._replace(
            axis=own.axis[0], way=own.ways(system.tree.parents)[0], arm=own.arms(system.tree.body_step)[0],
            p=np.ascontiguousarray(own.pose[0, :, P:V]),
        )  # fmt: skip
        for time in range(z.shape[1]):
            lift_once(data, lift_workspace(len(system.tree.kinds)), z[case, time], out[case, time])
    return out


@pytest.mark.parametrize("count", [1, LANES + 3])
def test_lanes_are_as_single_states(branched, count):
    system, tree, random = branched, branched.tree, np.random.default_rng(count)
    assert set(tree.kinds) == {"turn", "slide"} and 0 in tree.parents[2:]
    z = random.normal(
        scale=[[[5.0] * len(tree.kinds) + [1.0] * len(tree.kinds)]], size=(count, TIMES, 2 * len(tree.kinds))
    )
    one = tree.geometry
    where = Geometry(*(part + 0.1 * random.normal(size=(count, *part.shape[1:])) for part in one))
    where.axis[:] /= np.linalg.norm(where.axis, axis=2)[..., None]
    masses, gravity = random.uniform(1, 2, size=(count, len(system.bodies))), random.normal(size=(count, 3))
    inertias = np.tile(system.data.inertia[1:], (count, 1, 1, 1)) * random.uniform(1, 2, size=(count, 1, 1, 1))
    trees, wanted = cases_of_tree(tree, where, masses, inertias, gravity), one_by_one(system, where, z)
    assert states_in_lanes(trees, z) == pytest.approx(wanted, rel=1e-14, abs=2e-14)
    stored = random.normal(size=z.shape[:2])
    energies = energies_of_motions(masses, inertias, gravity, wanted)
    energies[..., 2] = stored
    assert energies_in_lanes(trees, z, stored) == pytest.approx(energies, rel=1e-13, abs=1e-13)
    alike = cases_of_tree(tree, one, masses[:1], inertias[:1], gravity[:1])
    assert states_in_lanes(alike, z) == pytest.approx(
        one_by_one(system, Geometry(*(np.repeat(part, count, axis=0) for part in one)), z), rel=1e-14, abs=2e-14
    )


def test_states_of_wanted_cases_at_the_last_times(branched):
    tree, count = branched.tree, 2 * LANES + 1
    z = np.random.default_rng(0).normal(size=(count, TIMES, 2 * len(tree.kinds)))
    data = branched.data
    trees = cases_of_tree(tree, tree.geometry, data.mass[None, 1:], data.inertia[None, 1:], branched.gravity[None])
    given = data.mass[None, 1:].copy(), data.inertia[None, 1:].copy(), branched.gravity[None].copy()
    assert numba.typeof(cases_of_tree(tree, tree.geometry, *given)) == numba.typeof(trees)  # compiled once
    y, to = np.full((count, TIMES - 1, len(branched.state.y)), -1.0), np.arange(count)[::-1].copy()
    to[3] = -1
    energies_in_lanes(trees, z, np.zeros(z.shape[:2]), y, to)
    every = states_in_lanes(trees, z)[:, 1:]
    assert (y[count - 4] == -1.0).all()
    assert np.array_equal(np.delete(y[::-1], 3, axis=0), np.delete(every, 3, axis=0))


@pytest.mark.parametrize("off, good", [(0.0, True), (5e-10, True), (2e-9, False)])
def test_velocities_off_the_rows_are_refused(off, good):
    """As those of a state: beside 1 m/s a row may be violated by 1e-9 m/s."""
    foot, count = models.foot.build(), LANES + 2
    rates = dict(zip(("theta_i", "theta_j"), np.random.default_rng(1).normal(scale=0.1, size=(2, count)), strict=True))
    start = simulate_many(foot, {f"rate.ankle.{k}": v for k, v in rates.items()}, 1e-6, t_eval=[0.0]).states()[:, 0]
    cases = {}
    for body, state in zip(foot.body_names, np.moveaxis(start, 1, 0), strict=True):
        cases |= {f"v.{body}": state[:, V:OMEGA].copy(), f"omega.{body}": state[:, OMEGA:STATE].copy()}
    cases["v.toes"][7, 2] += off
    found = simulate_many(foot, cases, 0.1, workers=1)
    refused = np.flatnonzero(~found.in_batch).tolist()
    assert refused == ([] if good else [7]) and list(found.messages) == refused
