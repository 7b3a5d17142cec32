"""Cases of systems with closed loops or drivers, side by side: those that differ in masses, gravity, joints and velocities.

Coordinates of the tree are integrated and projected onto the rows in lanes.  Cases that come near a singular pose, or do not
reach their end, are left to be run one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from runtime.dynamics.status import Status
from runtime.ensemble.at_once import Prepared, with_joints, with_joints_of_system
from runtime.ensemble.cases import Cases
from runtime.ensemble.closed_joints import as_redundant, in_axes_of_system
from runtime.ensemble.closed_memory import ClosedMemory, closed_memory
from runtime.ensemble.contact_batch import ContactEvents, measured_in_lanes
from runtime.ensemble.derived_outputs import DerivedQuantities, derives_outputs
from runtime.ensemble.given import given_cases, system_of_case
from runtime.ensemble.joint_batch import TreeRuns, forces_of_system, integrate, texts_on_contact
from runtime.ensemble.kept_outputs import needs_more_than_states
from runtime.ensemble.named_cases import values_of_cases
from runtime.ensemble.single_runs import settings_of
from runtime.ensemble.task import Task
from runtime.ensemble.velocities import only_velocities, states_with_velocities
from runtime.integrate.batches import batch
from runtime.integrate.batches.parameters import stored_energies
from runtime.integrate.choices import AUTO
from runtime.integrate.settings import Settings
from runtime.integrate.tree_method import (
    OFF_THE_ROWS,
    in_joint_coordinates,
    module_of_tree,
    tree_of_lanes,
)
from runtime.integrate.written.acting_forces import known_beside_rows
from runtime.integrate.written.closed_rows import closed_rows
from runtime.integrate.written.closed_stages import texts_of_closed
from runtime.integrate.written.force_parameters import parameters_of_cases as parameters_of_forces
from runtime.integrate.written.force_parameters import values_at_start
from runtime.lanes.lift import CasesOfTree
from runtime.support.arrays import Bools, Floats, Ints
from runtime.support.errors import ModelError
from runtime.support.latest import Latest
from runtime.system.closed_tree import parameters_of_cases, parameters_of_joints
from runtime.system.system import System
from runtime.system.tree_geometry import carried
from runtime.system.trees import trees_of
from runtime.system.whole_model import counts_in_rows


def rows_in_lanes(system: System, how: Settings) -> bool:
    """Whether cases of a system with closed loops or drivers run side by side; limits are those of turns.

    In joint coordinates, also where ``coordinates="auto"`` takes absolute ones for single runs, as ``joints_in_lanes``.
    """
    if trees_of(system).closed is None or not (in_joint_coordinates(system, how) or how.coordinates == AUTO):
        return False
    if not known_beside_rows(system) or counts_in_rows(system) or (system.limits and not tree_of_lanes(system).limits):
        return False
    return how.method == "dop853" and module_of_tree(system) is not None


def _texts_of(system: System, module: ModuleType) -> dict[str, str]:
    """The functions of one lane, as text, for a graphics processor, by the names of ``gpu.Texts``."""
    return texts_of_closed(system, module) | texts_on_contact(system)


_texts = Latest(_texts_of, 4)
FOLLOWING = 1e-11  # [rad], [m], and per second: a state that is moved by less satisfies the rows
NO_FORCES = np.zeros((1, 0))  # no parameters


@dataclass(frozen=True, kw_only=True)
class ClosedCases(Prepared):
    """Cases of a system with rows, by arrays over all of them."""

    cases: Cases
    module: ModuleType
    how: Settings
    of_kernel: Floats  # (cases, constants) as of ``ClosedRows``
    forces: Floats  # (cases or 1, parameters) as of ``parameters_of_cases`` of forces

    def memory(self, at: Ints, *, gpu: bool = False) -> ClosedMemory:
        """Memory for the cases at these places."""
        system, how = self.given.system, self.how
        return closed_memory(system, self.module, how, forces_of_system(system, self.forces).at(at), len(at), gpu=gpu)

    def integrated(self, task: Task, at: Ints, trees: CasesOfTree) -> TreeRuns:
        """The runs, projected onto the rows; the coordinates at the start are projected too."""
        how, constants, memory = self.how, np.ascontiguousarray(self.of_kernel[at]), self.memory(at, gpu=task.gpu)
        rows, times, n = memory.rows, np.append(how.t_start, how.t or ()), memory.rows.work
        start = np.zeros((len(at), 1, rows.size))
        start[:, 0, :n] = self.z[at]
        if rows.angles:
            own = forces_of_system(self.given.system, self.forces).at(at).parameters
            start[:, 0, n + 1 : rows.first_mark] = values_at_start(self.given.system, own)[1]
        good: Bools = memory.project(start, times[:1], constants)[0]
        moved = np.abs(start[:, 0, :n] - self.z[at]).max(axis=1)
        if self.given.coordinates:  # others follow those that a case has of its own: ``assemble`` decides which
            good &= moved <= FOLLOWING
        if self.joints is not None:  # the rows of the kernel are those that were assembled
            good &= moved <= OFF_THE_ROWS
        of_run, results = batch.arguments(how, start[:, 0], constants)
        limits = np.ascontiguousarray(self.limits[at])
        of_batch = memory.workspace(limits)
        texts = partial(_texts, self.given.system, self.module)
        integrate(task, None, of_batch, *of_run, *results, texts=texts, address=memory.addresses.derivative)
        good &= results.status == Status.REACHED_END
        path, f = np.concatenate([start, results.out], axis=1), memory.forces
        path[~good] = start[~good]
        satisfied, stored = memory.project(path, times, constants)
        counted = np.ascontiguousarray(path[:, 1:, n + 1 : rows.first_mark])
        work, path = path[..., n], np.ascontiguousarray(path[..., :n])
        tree = self.given.tree
        stored += stored_energies(tree.limits, limits, path[..., tree.limited_places[0]])
        self.z[at] = path[:, 0]
        results = results._replace(out=np.ascontiguousarray(path[:, 1:]))
        of_forces = f.bounded, f.exchanged, f.unresolved
        return TreeRuns(results, good & satisfied, times, path, work, stored, *of_forces, True, memory.events, counted)

    def contacts(self, at: Ints, z: Floats, times: Floats, events: ContactEvents) -> Floats:
        """What is measured of contacts, by the forces beside rows."""
        return measured_in_lanes(self.given.system, z, times, self.memory(at).forces, events)

    @contextmanager
    def derived(
        self, task: Task, at: Ints, states: Callable[[], Floats], events: Any, counted: Floats | None
    ) -> Iterator[Any]:
        """What follows by the equations of cases of masses, gravity, forces and limits of their own."""
        system, outputs = self.given.system, task.outputs or {}
        needed = needs_more_than_states(outputs) and derives_outputs(system) and self.joints is None
        with values_of_cases(task, self.cases, runs=False) if needed else nullcontext() as values:
            if values is None or not values.good[at].all():
                yield None
            else:
                of_states = values.of_states(at, states(), events, counted)
                yield DerivedQuantities(system, task.how, outputs, of_states, states(), task.same_mechanics)


def prepared_rows(task: Task, system: System, cases: Cases) -> ClosedCases | None:
    """The cases of a system with rows in lanes, unless they differ in more than this module knows."""
    if not task.how.t or len(system.data.thin_body) or (given := given_cases(task, system, cases)) is None:
        return None
    if given.balls or given.inertias.ndim > 3:
        return None
    try:
        how = settings_of(system, task.how)
    except ModelError:
        return None  # ``simulate`` has the message
    closed, module, count = trees_of(system).closed, module_of_tree(system), len(given.good)
    assert closed is not None and module is not None
    turned, shown, gravity = None, None, np.broadcast_to(given.gravity, (count, 3))
    if given.joints:
        prepared = with_joints(given, partial(system_of_case, task, cases), assemble=task.assemble)
        prepared.good[:] &= as_redundant(prepared)
        shown, (prepared, turned) = prepared.limits, in_axes_of_system(prepared)
        load = carried(prepared.where, given.tree.skeleton, given.masses, given.inertias)
        assert prepared.joints is not None
        of_joints = prepared.joints.of_cases[:3]
        parameters, serves = parameters_of_joints(
            closed, given.tree, system.data, *of_joints, prepared.where, load, gravity
        )
    else:
        states, good = system.state.y[None], given.good
        if only_velocities(task, cases):
            states, good = states_with_velocities(task, cases)
        prepared = with_joints_of_system(given, states, good, partial(system_of_case, task, cases))
        masses = np.concatenate([np.tile(system.data.mass[:1], (count, 1)), given.masses], axis=1)
        parameters, serves = parameters_of_cases(closed, given.tree, system.data, masses, gravity)
    prepared.good[:] &= serves
    rows = closed_rows(system, module)
    constants = np.zeros((rows.of_case, count))
    module.prepare(parameters, constants)
    forces = parameters_of_forces(system, prepared.where, given.forces) if rows.loaded else NO_FORCES
    return ClosedCases(
        **vars(prepared) | {"turned": turned, "shown": shown}, cases=cases, module=module, how=how,
        of_kernel=np.ascontiguousarray(constants.T), forces=forces,
    )  # fmt: skip
