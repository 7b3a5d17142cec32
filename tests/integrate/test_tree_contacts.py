"""Contacts on trees in lanes, against the equations of all bodies."""

import numpy as np
import pytest

import models
from benchmarks.ensemble_systems import builder_of
from runtime import Signal
from runtime.integrate.written.acting_contacts import ELASTIC, MEASURED, RATE
from runtime.integrate.written.acting_forces import acting_forces, known_forces
from runtime.integrate.written.force_parameters import (
    takes_values,
)
from runtime.system.allowed_values import allowed
from runtime.system.quantity import quantities
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
from tests.support.lane_forces import expected, foot_with_forces, in_lanes, random_states


def same(system, seed, size=1.0):
    """Forces and what is measured agree with the equations of all bodies, in random modes."""
    assert known_forces(system)
    z, times = random_states(system, seed, size)
    z[len(z) // 2 :, :3] = 0.0  # at rest, where the friction above the transition velocity is not a number
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


def system_with_contacts(law, seed, **more):
    """A tree of turns and slides with contacts of all frictions between its bodies and with the ground."""
    b = builder_of(random_tree(seed, coordinates=4)[0])
    names, random = b.build(check_units=False).body_names, np.random.default_rng([seed, 1])
    pairs = (
        (names[-1], "ground"),
        (names[0], names[-1]),
        (names[-1], names[0]),
        (names[0], "ground"),
        (names[-1], "ground"),
    )
    for friction, (sphere, plane) in zip(FRICTIONS, pairs, strict=True):
        add_contact(b, f"c_{friction}", sphere, plane, random, law, friction, **more)
    return b.build(check_units=False)


@pytest.mark.slow
@pytest.mark.parametrize("law", BOUNCES)
def test_contacts_of_each_sort(law):
    belt = Signal.function(np.sin, 0.0, 1.0)
    same(system_with_contacts(law, seed=len(law), belt_speed=belt), 3)


@pytest.mark.slow
def test_contacts_with_an_even_ground_and_other_forces():
    b = builder_of(foot_with_forces())
    for k, normal in enumerate([(0, 0, 1), (0, -1, 0)]):
        add_contact(
            b,
            f"c_{k}",
            "main_foot",
            "ground",
            np.random.default_rng(k),
            normal=normal,
            belt=(1, 0, 0),
            transition_velocity=0.5,
        )
    same(b.build(check_units=False), 2)


def test_values_that_change_more_than_numbers():
    system = system_with_contacts("kelvin_voigt", 12)
    values = np.array([1.0, 0.0, -1.0, np.nan, 2.0])
    for part, good in (("stiffness", [1, 0, 0, 0, 1]), ("damping", [1, 0, 0, 0, 1]), ("radius", [1, 0, 0, 0, 1])):
        assert allowed(system, quantities(system)[f"{part}.c_coulomb"][0], values).tolist() == [
            bool(one) for one in good
        ]
    for part in ("transition_velocity", "min_impact_speed", "normal"):
        assert not takes_values(system, "contact", "c_coulomb", part)


def test_exponents_that_no_root_gives_have_one_code():
    """A function of cases may vary the exponent: one code for each would be compiled."""

    def text(exponent):
        b, law = builder_of(models.foot.build()), dict(law="hunt_crossley", stiffness=1e5, exponent=exponent, loss=0.1)
        b.contact("heel", "toes", centre=(0, 0, 0), radius=0.01, point=(0, 0, -0.1), **law)
        return acting_forces(b.build()).text()

    assert text(1.3) == text(1.4) == text(1.5) != text(2.0)
