"""Memory of a batch of cases with closed loops or drivers: their rows, forces and contacts."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from runtime.dynamics.layout import LANES
from runtime.ensemble.contact_batch import ContactEvents, contacts_of_batch
from runtime.integrate.batches.closing import BatchClosing, batch_closing, project_all
from runtime.integrate.batches.contact_memory import BatchContacts, no_contacts
from runtime.integrate.batches.forces import BatchForces, ForcesOfCases, batch_forces, no_forces
from runtime.integrate.batches.limits import batch_limits
from runtime.integrate.batches.parts import bind_parts
from runtime.integrate.batches.workspace import BatchWorkspace, tree_workspace
from runtime.integrate.constraint_check import relative_bound
from runtime.integrate.settings import Settings
from runtime.integrate.tree_method import tree_of_lanes
from runtime.integrate.tree_scales import scales_of
from runtime.integrate.written.acting_forces import what_acts
from runtime.integrate.written.closed_rows import ClosedRows, closed_rows
from runtime.integrate.written.closed_stages import Addresses, addresses_of_closed
from runtime.integrate.written.force_kinks import angles_of, kinks_of
from runtime.support.arrays import Bools, Floats
from runtime.system.spanning_tree import ties_of
from runtime.system.system import System


@dataclass(frozen=True)
class ClosedMemory:
    """Functions and memory of the rows of a batch."""

    system: System
    rows: ClosedRows
    addresses: Addresses
    closing: BatchClosing
    forces: BatchForces
    contacts: BatchContacts
    bound: float  # [m] of |Phi|

    def workspace(self, limits: Floats) -> BatchWorkspace:
        """Memory of the batch; ``limits`` (cases, limits, PARAMETERS)."""
        tree, rows = tree_of_lanes(self.system), self.rows
        own = batch_limits(tree.limits, tree.limited_places, 0, rows.first_limit, limits)
        memory = tree_workspace(
            (0, 0), rows.of_case, scales_of(tree), own, self.forces, self.contacts, ties_of(rows.kinds), rows.coordinates,
            self.closing, rows.size,
        )  # fmt: skip
        bind_parts(memory)
        return memory

    def project(self, states: Floats, times: Floats, constants: Floats) -> tuple[Bools, Floats]:
        """Project states (cases, m, rows) at times (m,), in place; which cases satisfy them, energy [J] in forces (cases, m)."""
        left, stored = np.empty(states.shape[:2]), np.empty(states.shape[:2])
        memory, of_case = np.zeros(self.rows.size * LANES), np.zeros((self.rows.of_case, LANES))
        given = self.closing, self.forces, self.contacts, states, times, constants
        project_all(*given, memory, of_case, np.zeros(LANES, np.int64), left, stored)
        satisfied: Bools = np.all(left <= self.bound, axis=1)
        return satisfied, stored

    @property
    def events(self) -> ContactEvents | None:
        """Touch-downs and lift-offs of the cases, once these have run; None where there are no contacts."""
        return ContactEvents(self.contacts.events, self.contacts.found) if self.system.contacts else None


def acts(rows: ClosedRows) -> bool:
    """Whether a batch has the functions of forces, by which signals come to the rows too."""
    return rows.loaded or len(rows.driven) > 0


def closed_memory(
    system: System, module: ModuleType, how: Settings, of_cases: ForcesOfCases, cases: int, *, gpu: bool
) -> ClosedMemory:
    """Memory for so many cases of a system; ``of_cases``: parameters of their forces, and signals."""
    rows, addresses = closed_rows(system, module), addresses_of_closed(system, module)
    closing = batch_closing(
        addresses.correction, (rows.coordinates, rows.work), (rows.marks, rows.first_mark), int(rows.loaded), rows.pivot,
        rows.lacking,
    )  # fmt: skip
    forces, contacts, signals = no_forces(cases), no_contacts(), system.data.signals
    if acts(rows):
        acting, kinks, angles = what_acts(system), kinks_of(system, gpu=gpu), angles_of(system)
        forces = batch_forces(addresses.forces, rows.forces, of_cases, cases, acting=acting, kinks=kinks, angles=angles)
        forces.values[::3] = signals.coefficient[signals.start[:-1], :1]  # of those that do not vary
    if system.contacts:
        contacts = contacts_of_batch(system, cases, how.rtol + how.atol, gpu=gpu)
    return ClosedMemory(system, rows, addresses, closing, forces, contacts, relative_bound(how))
