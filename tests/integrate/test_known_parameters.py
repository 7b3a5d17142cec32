"""Equations in lanes with parameters that are known, against those that read them."""

import functools

import numpy as np
import pytest

import models
import runtime
from runtime.dynamics.layout import LANES
from runtime.dynamics.switches import ACTIVE
from runtime.ensemble import joint_batch
from runtime.integrate.acting_forces import Rows, acting_forces
from runtime.integrate.equation_parameters import parameters_of_equations
from runtime.integrate.known_parameters import known_parameters
from runtime.integrate.measured_contacts import address_of_contacts
from runtime.system.parameters import with_parameters
from tests.integrate.test_tree_recursion import in_lanes, states_near
from tests.support.joint_trees import random_tree
from tests.support.lane_contacts import measured_in_lanes, with_modes


def test_a_planar_mechanism_with_contacts():
    system = models.foot_ground.build()
    known = known_parameters(system)
    rows, row = Rows(acting_forces(system), whole=True), dict(known)
    assert [row[rows.of("step", 5) + c] for c in range(3)] == [0.0, 1.0, 0.0]  # the axis of the toes
    assert row[rows.of("contact", 0) + 1] == 0.0  # a sphere in the plane
    z, times = states_near(system, system.state, 1)
    modes = np.full((LANES, len(system.contacts)), ACTIVE)
    parameters = with_modes(system, modes, np.ones(modes.shape), parameters_of_equations(system))
    pair = (in_lanes(system, z, times, parameters, known=of) for of in (known, ()))
    for own, wanted in zip(*pair, strict=True):
        assert own == pytest.approx(wanted, rel=1e-12, abs=1e-13 * np.abs(wanted).max())
    general = measured_in_lanes(system, z, times, parameters)
    assert address_of_contacts(system, known) != address_of_contacts(system)
    assert measured_in_lanes(system, z, times, parameters, known) == pytest.approx(general, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("seed", [1, 4])
def test_a_tree_without_planes(seed):
    system, state = random_tree(seed, coordinates=9, floating=0.4)
    z, times = states_near(system, state, seed)
    parameters = np.tile(parameters_of_equations(system), (LANES, 1))
    pair = (in_lanes(system, z, times, parameters, known=of) for of in (known_parameters(system), ()))
    for own, wanted in zip(*pair, strict=True):
        assert own == pytest.approx(wanted, rel=1e-12, abs=1e-13 * np.abs(wanted).max())


def dumbbell():
    """A turn with two equal bodies, whose moments cancel, and products of inertia of the second one."""
    b = runtime.Builder("dumbbell")
    for k, x in enumerate((0.2, -0.2)):
        b.body(f"half_{k}", mass=1.0, inertia=np.diag([2e-3, 3e-3, 2e-3]) + k * 1e-4 * (1 - np.eye(3)), r=(x, 0.0, 0.0))
    axis = dict(axes="global", point=(0, 0, 0), a_i=(0, 0, 1), a_j=(0, 0, 1))
    b.joint("turn", "revolute", "half_0", "ground", **axis)
    b.joint("rod", "fixed", "half_0", "half_1")
    return b.build()


def test_sums_that_masses_change_are_not_known():
    system = dumbbell()
    row, first = dict(known_parameters(system)), Rows(acting_forces(system), whole=True).of("carried", 0)
    assert parameters_of_equations(system)[first + 1] == 0.0  # moment along x, by cancellation
    assert first + 1 not in row and first + 5 not in row and row[first + 2] == row[first + 3] == 0.0
    moved = parameters_of_equations(with_parameters(system, {"mass.half_1": 3.0}))
    assert all(moved[k] == value for k, value in known_parameters(system))


@functools.cache
def foot():
    return models.foot_ground.build()


@pytest.mark.parametrize(
    ("name", "values", "is_known"),
    [
        ("mass.toes", [0.08, 0.09], True),
        ("stiffness.sphere_9", [1e6, 2e6], True),
        ("centre.sphere_9", [[0.0, 0.01, 0.0], [0.0, -0.01, 0.0]], False),
        ("inertia.toes", [np.full((3, 3), 1e-6) + 1e-4 * np.eye(3)] * 2, False),
    ],
)
def test_cases_whose_parameters_are_known(name, values, is_known, monkeypatch):
    """Each agrees with a run of its own."""
    found, memory = [], joint_batch.memory_of_batch
    monkeypatch.setattr(
        joint_batch, "memory_of_batch", lambda *given: found.append(given[3].forces.known) or memory(*given)
    )
    settings = dict(t_eval=[0.02], rtol=1e-10, atol=1e-10, method="dop853", coordinates="joint")
    many = runtime.simulate_many(foot(), {name: np.array(values)}, 0.02, workers=1, **settings)
    assert many.in_batch.all() and [bool(of) for of in found] == [is_known]
    for k in range(2):
        alone = runtime.simulate(with_parameters(foot(), {name: values[k]}), 0.02, **settings)
        for part in ("r", "omega"):
            own, wanted = getattr(many[k], part)["toes"], getattr(alone, part)["toes"]
            assert own == pytest.approx(wanted, abs=1e-7)
