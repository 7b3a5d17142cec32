"""The recursion of trees in lanes, in code for plain numbers and in code for any."""

import numpy as np
import pytest

import models
from runtime.dynamics.layout import LANES
from runtime.integrate.written.equation_parameters import parameters_of_equations
from runtime.integrate.written.force_parameters import parameters_of_forces
from runtime.integrate.written.tree_recursion import (
    address_of_recursion,
    has_plain_numbers,
)
from runtime.system.parameters import replace_parameters
from runtime.system.tree_coordinates import joint_coordinates
from runtime.system.trees import trees_of
from tests.support.lane_forces import call, signals_at, with_angles


def states_near(system, state, seed):
    """Coordinates and rates (n, LANES) near those of a state, whose Euler parameters have not quite unit length."""
    random = np.random.default_rng(seed)
    z = joint_coordinates(trees_of(system).tree, system.body_names, system.joint_motions, state.y[None])[0]
    return z[:, None] + 0.3 * random.standard_normal((len(z), LANES)), random.uniform(0.0, 1.0, LANES)


def in_lanes(system, z, times, *, general=False, limits=None):
    """z_dot (n, LANES), power, energy and worst (LANES,) by compiled code of lanes."""
    rows = np.repeat(parameters_of_equations(system)[:, None], LANES, axis=1)
    found = [np.full(z.shape, np.nan), *(np.full(LANES, np.nan) for _ in range(3))]
    limits = np.zeros((0, LANES)) if limits is None else limits
    arrays = [with_angles(system, z, parameters_of_forces(system)), signals_at(system, times), rows, limits, *found]
    call(address_of_recursion(system, general=general), arrays)
    return found


def test_numbers_of_the_text_are_those_of_the_system():
    """A motion in a plane, in code that leaves out products with 0 and in code for any numbers."""
    system = models.foot_ground.build()
    z, times = states_near(system, system.state, 3)
    for own, wanted in zip(in_lanes(system, z, times), in_lanes(system, z, times, general=True), strict=True):
        assert own == pytest.approx(wanted, rel=1e-12, abs=1e-12 * np.abs(wanted).max())
    assert address_of_recursion(system) != address_of_recursion(system, general=True)
    parameters = parameters_of_equations(system)[None]
    assert has_plain_numbers(system, parameters)
    for turned in ({"a_i.sagittal": (0.6, 0.8, 0.0)}, {"inertia.leg": [[1, 0.1, 0], [0.1, 1, 0], [0, 0, 1]]}):
        other = replace_parameters(system, turned)
        assert not has_plain_numbers(system, parameters_of_equations(other)[None])
