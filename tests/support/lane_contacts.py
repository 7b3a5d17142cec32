"""Contacts of a tree in lanes, in random modes, and from the equations of all bodies."""

import numpy as np

from runtime.dynamics.contacts import NORMAL_FORCE, PENETRATION, PENETRATION_RATE, SLIP
from runtime.dynamics.equations import derivative_once, workspace_for
from runtime.dynamics.layout import LANES, STATE
from runtime.dynamics.lift import lift_once, lift_workspace
from runtime.dynamics.switches import ACTIVE, INACTIVE, LEAVING, SLACK
from runtime.integrate.written.acting_contacts import MEASURED
from runtime.integrate.written.acting_forces import Rows, acting_forces
from runtime.integrate.written.force_parameters import parameters_of_forces
from runtime.integrate.written.measured_contacts import address_of_contacts
from runtime.system.spanning_tree import tree_data
from runtime.system.trees import trees_of
from tests.support.contact_laws import BOUNCES
from tests.support.lane_forces import call, signals_at

FRICTIONS = {
    None: {},
    "coulomb": dict(mu_c=0.8, mu_d=3.0),
    "sticking": dict(mu_s=0.9, mu_c=0.6, mu_d=2.0, fading=0.1),
    "smooth": dict(mu_c=0.7, mu_d=1.0),
    "stribeck": dict(mu_s=0.9, mu_c=0.6, mu_v=0.2),
}


def add_contact(
    b, name, sphere, plane, random, law="kelvin_voigt", friction="coulomb", transition_velocity=1.0, **more
):
    """Add a contact with random geometry to a builder; the belt, if it has a speed, is across the normal."""
    n, a = random.standard_normal((2, 3))
    n /= np.linalg.norm(n)
    a -= n * (a @ n)
    where = dict(point=random.standard_normal(3), normal=n, belt=a / np.linalg.norm(a)) | more
    b.contact(
        name, sphere, centre=random.standard_normal(3), radius=random.uniform(0.5, 1.5), plane=plane, law=law,
        sphere_share=0.3, friction=friction, transition_velocity=transition_velocity, **BOUNCES[law], **FRICTIONS[friction],
        **where,
    )  # fmt: skip


def random_modes(system, seed):
    """Modes (LANES, contacts), and speeds of the last touch-down of the same shape."""
    random = np.random.default_rng([seed, 3])
    shape = LANES, len(system.contacts)
    return random.choice([ACTIVE, INACTIVE, LEAVING, SLACK], shape), random.uniform(0.1, 2.0, shape)


def with_modes(system, modes, speeds, parameters=None):
    """Parameters (LANES, P) with these modes and speeds."""
    one, acting = parameters_of_forces(system) if parameters is None else parameters, acting_forces(system)
    found, rows = np.array(np.broadcast_to(one, (LANES, one.shape[-1]))), Rows(acting)
    for k, contact in enumerate(acting.contacts):
        first, own = rows.of("contact", k), contact.rows
        found[:, first + own.acts] = (modes[:, k] == ACTIVE) | (modes[:, k] == LEAVING)
        found[:, first + own.rubs] = modes[:, k] == ACTIVE
        if own.impact >= 0:
            found[:, first + own.impact] = speeds[:, k]
    return found


def beginning(system, modes, speeds):
    """What gives the workspace of the equations these modes and speeds."""
    impact = system.data.contacts.impact

    def begin(work, lane):
        work.contacts.mode[:] = modes[lane]
        for k in np.flatnonzero(impact >= 0):
            work.contacts.normal[k, impact[k]] = speeds[lane, k]

    return begin


def measured_in_lanes(system, z, times, parameters):
    """What is measured of all contacts (contacts, MEASURED, LANES) with parameters (LANES, P)."""
    found = np.full((len(system.contacts), MEASURED, LANES), np.nan)
    arrays = [np.ascontiguousarray(z), signals_at(system, times), np.ascontiguousarray(parameters.T), found]
    call(address_of_contacts(system), arrays)
    return found


def measured_once(system, z, times, speeds):
    """The same by the functions of the equations of all bodies."""
    tree, data, work = tree_data(trees_of(system).tree, system.gravity), system.data, workspace_for(system.data)
    memory, found = lift_workspace(len(tree.kind)), np.zeros((len(system.contacts), MEASURED, LANES))
    begin = beginning(system, np.full((LANES, len(system.contacts)), ACTIVE), speeds)
    for lane in range(LANES):
        y = np.zeros(STATE * len(tree.step))
        lift_once(tree, memory, np.ascontiguousarray(z[:, lane]), y)
        begin(work, lane)
        derivative_once(float(times[lane]), y, data, work, np.zeros(len(y)))
        out, law = work.contacts.outputs.T, work.contacts.law.T
        slip = out[SLIP : SLIP + 3] * data.contacts.kinks / data.contacts.transition_velocity
        found[:, :, lane] = np.transpose(
            [out[PENETRATION], out[PENETRATION_RATE], out[NORMAL_FORCE], law[1], law[4], law[5], law[0], *slip]
        )
    return found
