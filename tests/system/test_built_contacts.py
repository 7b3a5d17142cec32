"""Contacts of many systems as arrays, against those of each system."""

import warnings

import numpy as np
import pytest

import models
from benchmarks.ensemble_systems import builder_of
from runtime import UnitWarning
from runtime.integrate.written.force_parameters import OwnForces, parameters_of_cases, parameters_of_forces
from runtime.system.built_contacts import fading_as, usual_contacts, values_of_contacts
from runtime.system.contact_building import layout_of_contact
from tests.support.contact_laws import BOUNCES


def built(law="kelvin_voigt", normal=(0.0, 0.0, 1.0), radius=0.05, check_units=False, **values):
    """A pendulum with a contact."""
    b = builder_of(models.pendulum.build())
    name = b.build().body_names[-1]
    given = dict(friction="coulomb", mu_c=0.5, mu_d=1.0, centre=(0.0, 0.1, 0.0), point=(0.0, 0.0, -2.0))
    b.contact("c", name, radius=radius, law=law, normal=normal, **(BOUNCES[law] | given | values))
    return b.build(check_units=check_units)


def layouts(system):
    return [layout_of_contact(contact) for contact in system.contacts]


def test_values_of_contacts_are_those_of_each_system():
    one = dict(law="flores")
    changes = (
        {}, dict(radius=0.07, centre=(0.1, 0.0, 0.2)), dict(stiffness=2e5, restitution=0.5, creep=0.02, mu_c=0.3),
        dict(point=(0.3, 0.0, -2.1)),
    )  # fmt: skip
    systems = [built(**one | change) for change in changes]
    assert all(layouts(system) == layouts(systems[0]) for system in systems)
    values = values_of_contacts([system.contacts for system in systems])
    found = parameters_of_cases(systems[0], systems[0].tree.geometry, OwnForces({("contact", "c"): values[0]}))
    for row, system in zip(found, systems, strict=True):
        assert row == pytest.approx(parameters_of_forces(system), rel=1e-15)
    tilted = [built(normal=(0.6, 0.0, 0.8)), built(normal=(0.8, 0.0, 0.6))]
    values = values_of_contacts([system.contacts for system in tilted])
    found = parameters_of_cases(tilted[0], tilted[0].tree.geometry, OwnForces({("contact", "c"): values[0]}))
    assert found[1] == pytest.approx(parameters_of_forces(tilted[1]), rel=1e-15)


def test_layouts_of_contacts_differ_in_what_compiled_code_and_settings_depend_on():
    first = layouts(built())
    for change in (
        dict(law="hertz"),
        dict(friction="smooth"),
        dict(normal=(0.0, -1.0, 0.0)),
        dict(normal=(0.6, 0.0, 0.8)),
    ):
        assert layouts(built(**change)) != first
    assert layouts(built(law="flores")) != layouts(built(law="flores", least_impact=0.1))
    assert layouts(built(least_impact=0.1)) == first


def test_damping_that_fades():
    systems = [built(), built(damping=0.0), built(damping=1.0)]
    values = values_of_contacts([system.contacts for system in systems])
    assert fading_as(systems[0], values).tolist() == [True, False, True]


def test_questions_about_contacts():
    changes = {}, dict(stiffness=1e14), dict(radius=1e4), dict(stiffness=1e-3), dict(radius=1e-9)
    systems = [built(**change) for change in changes]
    values, system = values_of_contacts([one.contacts for one in systems]), systems[0]
    cases = len(systems)
    weight, gravity = np.full(cases, sum(b.mass for b in system.bodies)), np.tile(system.gravity, (cases, 1))
    states = np.tile(system.state.y.reshape(1, -1, 13), (cases, 1, 1))
    points = [system.contacts[0].values["s_i"], *(v for k, v in system.joints[0].values.items() if k.startswith("s_"))]
    extent = np.full(cases, max(float(np.linalg.norm(point)) for point in points))
    good = usual_contacts(system, values, weight, gravity, extent, states)
    for change, usual in zip(changes, good.tolist(), strict=True):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            built(**change, check_units=True)
        assert usual is not any(one.category is UnitWarning for one in given)
    assert good.sum() == 1
