"""Contacts of batches in joint coordinates: memory, touch-downs and lift-offs, and quantities over time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import LANES
from runtime.integrate.batches.contact_memory import BatchContacts, batch_contacts, no_contacts, places_of_contacts
from runtime.integrate.batches.contact_outputs import find_measured
from runtime.integrate.batches.forces import BatchForces, find_stored
from runtime.integrate.written.acting_contacts import DEPTH, FORCE, MEASURED, POTENTIAL, RATE
from runtime.integrate.written.measured_contacts import address_of_contacts
from runtime.support.arrays import Floats, Ints
from runtime.system.system import System

# Places of quantities of contacts among what is measured.
QUANTITIES = {
    "contact_penetration": DEPTH,
    "contact_penetration_rate": RATE,
    "contact_normal_force": FORCE,
    "contact_elastic_energy": POTENTIAL,
}


class ContactEvents(NamedTuple):
    """Touch-downs and lift-offs of cases."""

    rows: Floats  # (cases, any, 4) as of ``Run.contact_events``
    counts: Ints  # (cases,) of them

    def of(self, case: int) -> Floats:
        """Those of a case, (n, 4)."""
        return self.rows[case, : self.counts[case]].copy()

    def at(self, cases: Ints) -> ContactEvents:
        """Those of cases at these places."""
        counts = self.counts[cases]
        return ContactEvents(self.rows[cases, : counts.max(initial=0)], counts)


def contacts_of_batch(system: System, cases: int, tolerance: float, *, gpu: bool = False) -> BatchContacts:
    """Memory for the contacts of so many cases; ``tolerance``: the sum of both; ``gpu``: on a graphics processor."""
    return batch_contacts(address_of_contacts(system), *places_of_contacts(system), tolerance, cases, gpu=gpu)


def with_events(system: System, events: ContactEvents | None) -> BatchContacts:
    """Memory for the contacts of cases whose runs are known."""
    if events is None:
        return no_contacts()
    rows = np.ascontiguousarray(events.rows)
    return contacts_of_batch(system, 0, 0.0)._replace(events=rows, found=np.ascontiguousarray(events.counts))


def stored_in_forces(
    system: System, z: Floats, times: Floats, forces: BatchForces, events: ContactEvents | None
) -> Floats:
    """Energy [J] in springs of motors, forces and contacts (cases, m) at coordinates and rates z (cases, m, n), times (m,)."""
    found = np.empty(z.shape[:2])
    rows = z.shape[2] + len(system.data.forces.state_place) + 1
    state, passed = np.zeros((rows, LANES)), np.zeros(LANES, np.int64)
    find_stored(forces, with_events(system, events), np.ascontiguousarray(z), times, state, passed, found)
    return found


def measured_in_lanes(system: System, z: Floats, times: Floats, forces: BatchForces, events: ContactEvents) -> Floats:
    """What is measured of contacts (cases, m, contacts, MEASURED) at coordinates and rates z (cases, m, n), times (m,)."""
    found = np.empty((*z.shape[:2], len(system.contacts), MEASURED))
    state, passed = np.zeros((z.shape[2], LANES)), np.zeros(LANES, np.int64)
    find_measured(forces, with_events(system, events), np.ascontiguousarray(z), times, state, passed, found)
    return found
