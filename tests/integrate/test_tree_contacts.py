"""Contacts on trees in lanes, against the equations of all bodies."""

import numpy as np
import pytest

from benchmarks.ensemble_systems import builder_of
from runtime import Signal
from runtime.integrate.acting_contacts import ELASTIC, MEASURED, RATE
from runtime.integrate.acting_forces import known_forces
from tests.support.contact_laws import BOUNCES
from tests.support.joint_trees import random_tree
from tests.support.lane_contacts import (
    FRICTIONS,
    add_contact,
    beginning,
    measured_in_lanes,
    measured_once,
    random_modes,
    with_modes,
)
from tests.support.lane_forces import expected, in_lanes, random_states


def same(system, seed, size=1.0):
    """Forces and what is measured agree with the equations of all bodies, in random modes."""
    assert known_forces(system)
    z, times = random_states(system, seed, size)
    modes, speeds = random_modes(system, seed)
    parameters = with_modes(system, modes, speeds)
    measured = measured_once(system, z, times, speeds)
    in_lanes_too = measured_in_lanes(system, z, times, parameters)
    for k in range(MEASURED):
        own, one = in_lanes_too[:, k], measured[:, k]
        assert own == pytest.approx(one, rel=1e-13, abs=2e-13 * np.abs(one).max())
    wanted = expected(system, z, times, begin=beginning(system, modes, speeds))
    Q, power, energy = in_lanes(system, z, times, parameters)
    stored = np.abs(measured[:, ELASTIC] * measured[:, RATE]).max()  # [W] which the power does not contain
    for own, one, scale in ((Q, wanted[0], 0.0), (power, wanted[1], stored), (energy, wanted[2], 0.0)):
        assert own == pytest.approx(one, rel=1e-13, abs=2e-13 * max(scale, np.abs(one).max()))


def system_with_contacts(law, friction, seed, **more):
    """A tree of turns and slides with contacts between its bodies and with the ground."""
    b = builder_of(random_tree(seed, coordinates=4)[0])
    names, random = b.build(check_units=False).body_names, np.random.default_rng([seed, 1])
    for k, (sphere, plane) in enumerate([(names[-1], "ground"), (names[0], names[-1]), (names[-1], names[0])]):
        add_contact(b, f"c_{k}", sphere, plane, random, law, friction, **more)
    return b.build(check_units=False)


@pytest.mark.parametrize("law", BOUNCES)
@pytest.mark.parametrize("friction", FRICTIONS)
def test_contacts_of_each_sort(law, friction):
    belt = Signal.function(np.sin, 0.0, 1.0)
    same(system_with_contacts(law, friction, seed=len(law), belt_speed=belt), 3)
