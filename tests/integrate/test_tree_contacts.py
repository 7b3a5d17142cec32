"""Contacts on trees in lanes, against the equations of all bodies."""

import numpy as np
import pytest

import models
from benchmarks.ensemble_systems import builder_of
from runtime import Signal
from runtime.dynamics.layout import LANES
from runtime.dynamics.switches import ACTIVE
from runtime.integrate.written.acting_contacts import ELASTIC, MEASURED, RATE
from runtime.integrate.written.acting_forces import acting_forces, known_forces
from runtime.integrate.written.force_parameters import (
    parameters_of_cases,
    parameters_of_forces,
    takes_values,
)
from runtime.integrate.written.measured_contacts import address_of_contacts
from runtime.system.allowed_values import allowed
from runtime.system.parameters import replace_parameters
from runtime.system.quantity import quantities
from tests.support.contact_laws import BOUNCES
from tests.support.joint_trees import random_tree
from tests.support.lane_contacts import (
    FRICTIONS,
    add_contact,
    beginning,
    measured_in_lanes,
    measured_in_text,
    measured_once,
    random_modes,
    with_modes,
)
from tests.support.lane_forces import expected, foot_with_forces, in_lanes, in_text, random_states


def same(system, seed, size=1.0):
    """Forces and what is measured agree with the equations of all bodies, in random modes."""
    assert known_forces(system)
    z, times = random_states(system, seed, size)
    z[len(z) // 2 :, :3] = 0.0  # at rest, where the friction above the creep is not a number
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
    for own, one in zip(in_text(system, z, times, parameters), (Q, power, energy), strict=True):
        assert own == pytest.approx(one, rel=1e-12, abs=1e-12 * max(stored, np.abs(one).max()))
    of_text = measured_in_text(system, z, times, parameters)
    assert of_text == pytest.approx(in_lanes_too, rel=1e-12, abs=1e-12 * np.abs(measured).max())


def system_with_contacts(law, seed, **more):
    """A tree of turns and slides with contacts of all frictions between its bodies and with the ground."""
    b = builder_of(random_tree(seed, coordinates=4)[0])
    names, random = b.build(check_units=False).body_names, np.random.default_rng([seed, 1])
    pairs = (names[-1], "ground"), (names[0], names[-1]), (names[-1], names[0]), (names[0], "ground")
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
            b, f"c_{k}", "main_foot", "ground", np.random.default_rng(k), normal=normal, belt=(1, 0, 0), creep=0.5
        )
    same(b.build(check_units=False), 2)


def test_parameters_of_many_cases():
    """Cases with values of their own have those of their systems, and do not depend on their neighbours, bit by bit."""
    system, random = system_with_contacts("hunt_crossley", 13), np.random.default_rng(4)
    own = {
        "radius": random.uniform(0.5, 1.5, LANES), "centre": random.standard_normal((LANES, 3)),
        "point": random.standard_normal((LANES, 3)), "stiffness": random.uniform(1e5, 1e6, LANES),
        "exponent": np.where(np.arange(LANES) % 3, 1.5, random.uniform(1.0, 2.0, LANES)), "loss": random.uniform(0.1, 0.2, LANES),
        "mu_c": random.uniform(0.5, 0.8, LANES),
    }  # fmt: skip
    assert all(takes_values(system, "contact", "c_coulomb", part) for part in own)
    varied = parameters_of_cases(system, system.tree.geometry, {("contact", "c_coulomb"): own})
    z, times = random_states(system, 2)
    modes, speeds = np.full((LANES, 4), ACTIVE), np.ones((LANES, 4))
    together = in_lanes(system, z, times, with_modes(system, modes, speeds, varied))
    for case in (0, 4, 7):
        one = replace_parameters(system, {f"{part}.c_coulomb": values[case] for part, values in own.items()})
        assert varied[case] == pytest.approx(parameters_of_forces(one), rel=1e-14, abs=1e-15)
        wanted = expected(one, z, times, begin=beginning(one, modes, speeds))
        assert together[0][:, case] == pytest.approx(wanted[0][:, case], rel=1e-12)
        alone = in_lanes(system, z, times, with_modes(system, modes, speeds, np.tile(varied[case], (LANES, 1))))
        assert all((a[..., case] == b[..., case]).all() for a, b in zip(alone, together, strict=True))


def test_values_that_change_more_than_numbers():
    system = system_with_contacts("kelvin_voigt", 12)
    values = np.array([1.0, 0.0, -1.0, np.nan, 2.0])
    for part, good in (("stiffness", [1, 0, 0, 0, 1]), ("damping", [1, 0, 0, 0, 1]), ("radius", [1, 0, 0, 0, 1])):
        assert allowed(system, quantities(system)[f"{part}.c_coulomb"][0], values).tolist() == [
            bool(one) for one in good
        ]
    for part in ("creep", "least_impact", "normal"):
        assert not takes_values(system, "contact", "c_coulomb", part)


def test_contacts_of_other_structure_have_their_own_code():
    flat, other, steep = (
        small_system(**more)
        for more in (dict(normal=(0, 0, 1)), dict(normal=(0, 0, 1), radius=0.3), dict(normal=(0, 1, 0)))
    )
    assert address_of_contacts(flat) == address_of_contacts(other) != address_of_contacts(steep)


def small_system(radius=0.2, **more):
    """A pendulum with a contact."""
    b = builder_of(models.pendulum.build())
    name = b.build(check_units=False).body_names[-1]
    b.contact("c", name, centre=(0, 0, 0), radius=radius, law="hertz", stiffness=1e4, **more)
    return b.build(check_units=False)


def test_exponents_that_no_root_gives_have_one_code():
    """A function of cases may vary the exponent: one code for each would be compiled."""

    def text(exponent):
        b, law = builder_of(models.foot.build()), dict(law="hunt_crossley", stiffness=1e5, exponent=exponent, loss=0.1)
        b.contact("heel", "toes", centre=(0, 0, 0), radius=0.01, point=(0, 0, -0.1), **law)
        return acting_forces(b.build()).text()

    assert text(1.3) == text(1.4) == text(1.5) != text(2.0)
