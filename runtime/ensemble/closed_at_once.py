"""Cases of systems with closed loops or drivers, side by side: those that differ in masses, gravity, joints and velocities.

Coordinates of the tree are integrated and projected onto the rows in lanes.  Cases that come near a singular pose, or do not
reach their end, are left to be run one after another.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from types import ModuleType

import numpy as np

from runtime.dynamics.status import Status
from runtime.ensemble.at_once import Prepared, with_joints, with_joints_of_system
from runtime.ensemble.batch_remarks import undecided
from runtime.ensemble.cases import Cases
from runtime.ensemble.closed_joints import as_redundant, in_axes_of_system
from runtime.ensemble.closed_memory import closed_memory
from runtime.ensemble.compiled_cases import OF_MASSES, settings_of, vary_alone
from runtime.ensemble.contact_batch import ContactEvents, measured_in_lanes
from runtime.ensemble.damping_groups import run_in_groups
from runtime.ensemble.derived_outputs import DerivedQuantities, derives_outputs
from runtime.ensemble.given import given_cases, system_of_case
from runtime.ensemble.joint_batch import (
    energies_in_lanes,
    forces_of_system,
    states_in_lanes,
    turns_in_lanes,
)
from runtime.ensemble.kept_outputs import BatchQuantities, columns_of_batch, needs_more_than_states
from runtime.ensemble.named_cases import values_of_cases
from runtime.ensemble.task import Chunk, Stopped, Task
from runtime.ensemble.velocities import only_velocities, states_with_velocities
from runtime.integrate.balance_check import unbalanced_cases
from runtime.integrate.batches import batch
from runtime.integrate.batches.parameters import stored_energies
from runtime.integrate.choices import AUTO
from runtime.integrate.constraint_check import may_jump
from runtime.integrate.endings import with_stability
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
from runtime.integrate.written.force_corners import text_of_corners
from runtime.integrate.written.force_parameters import parameters_of_cases as parameters_of_forces
from runtime.integrate.written.measured_contacts import text_of_contacts
from runtime.lanes.lift import CasesOfTree
from runtime.results.undecided_turns import followed_by_poses
from runtime.support.arrays import Bools, Floats, Ints
from runtime.support.errors import ModelError
from runtime.support.latest import Latest
from runtime.system.closed_tree import parameters_of_cases, parameters_of_joints
from runtime.system.system import System
from runtime.system.tree_geometry import carried


def rows_in_lanes(system: System, how: Settings) -> bool:
    """Whether cases of a system with closed loops or drivers run side by side; limits are those of turns.

    In joint coordinates, also where ``coordinates="auto"`` takes absolute ones for single runs, as ``joints_in_lanes``.
    """
    if system.closed_tree is None or not (in_joint_coordinates(system, how) or how.coordinates == AUTO):
        return False
    if not known_beside_rows(system) or may_jump(system) or (system.limits and not tree_of_lanes(system).limits):
        return False
    return how.method == "dop853" and module_of_tree(system) is not None


def _texts_of(system: System, module: ModuleType) -> dict[str, str]:
    """The functions of one lane, as text, for a graphics processor, by the names of ``gpu.Texts``."""
    contacts = text_of_contacts(system) if system.contacts else ""
    return texts_of_closed(system, module) | {"contacts": contacts, "corners": text_of_corners(system)}


_texts = Latest(_texts_of, 4)
FOLLOWING = 1e-11  # [rad], [m], and per second: a state that is moved by less satisfies the rows
NO_FORCES = np.zeros((1, 0))  # no parameters


@dataclass(frozen=True)
class _Group:
    """Cases of a system, by arrays over all of them."""

    prepared: Prepared
    module: ModuleType
    how: Settings
    constants: Floats  # (cases, constants) as of ``ClosedRows``
    forces: Floats  # (cases or 1, parameters) as of ``parameters_of_cases`` of forces
    limits: Floats  # (cases, limits, PARAMETERS) by the angles of results
    turned: Floats | None  # (cases, n) coordinates in the reference configurations of cases whose joints differ


def _group_of(task: Task, cases: Cases) -> _Group | None:
    """The cases, unless they differ in more than this module knows."""
    system, turned = task.system, None
    if (
        not isinstance(system, System)
        or not task.starts_in_time(system)
        or not task.how.t
        or len(system.data.thin_body)
    ):
        return None
    if not rows_in_lanes(system, task.how) or (given := given_cases(task, system, cases)) is None:
        return None
    if given.balls or given.inertias.ndim > 3:
        return None
    try:
        how = settings_of(system, task.how)
    except ModelError:
        return None  # ``simulate`` has the message
    closed, module, count = system.closed_tree, module_of_tree(system), len(given.good)
    assert closed is not None and module is not None
    if given.joints:
        prepared = with_joints(given, partial(system_of_case, task, cases), assemble=task.assemble)
        prepared.good[:] &= as_redundant(prepared)
        limits, (prepared, turned) = prepared.limits, in_axes_of_system(prepared)
        load = carried(prepared.where, given.tree.skeleton, given.masses, given.inertias)
        assert prepared.joints is not None
        own = prepared.joints.of_cases[:3], prepared.where, load, np.broadcast_to(given.gravity, (count, 3))
        parameters, serves = parameters_of_joints(closed, given.tree, system.data, *own[0], *own[1:])
    else:
        states, good = system.state.y[None], given.good
        if only_velocities(task, cases):
            states, good = states_with_velocities(task, cases)
        prepared = with_joints_of_system(given, states, good, partial(system_of_case, task, cases))
        masses = np.concatenate([np.tile(system.data.mass[:1], (count, 1)), given.masses], axis=1)
        gravity, limits = np.broadcast_to(given.gravity, (count, 3)), given.limits
        parameters, serves = parameters_of_cases(closed, given.tree, system.data, masses, gravity)
    prepared.good[:] &= serves
    rows = closed_rows(system, module)
    constants = np.zeros((rows.of_case, count))
    module.prepare(parameters, constants)
    forces = parameters_of_forces(system, prepared.where, given.forces) if rows.loaded else NO_FORCES
    return _Group(prepared, module, how, np.ascontiguousarray(constants.T), forces, limits, turned)


def run_closed(task: Task, cases: Cases, chunk: Chunk) -> list[int] | None:
    """Run the cases of a chunk side by side; those to be run in another way.  None where it knows them not.

    Raises
    ------
    Stopped
    """
    return run_in_groups(_run_alike, task, cases, chunk)


def _run_alike(task: Task, cases: Cases, numbers: Ints, chunk: Chunk) -> list[int] | None:
    """``run_closed`` for cases of these numbers in a chunk, whose contacts are like those of the system."""
    if (group := _group_of(task, cases)) is None:
        return None
    good, at = group.prepared.good.copy(), np.flatnonzero(group.prepared.good)
    if len(at):
        good[at] = _run(task, cases, group, at, numbers, chunk)
    return numbers[~good].tolist()  # type: ignore[no-any-return]


def _run(task: Task, cases: Cases, group: _Group, at: Ints, numbers: Ints, chunk: Chunk) -> Bools:
    """Integrate the cases at these places; which of them are done.  ``numbers``: of all in the chunk."""
    how, prepared, constants = group.how, group.prepared, np.ascontiguousarray(group.constants[at])
    given, system, tree, differ = (
        prepared.given,
        prepared.given.system,
        prepared.given.tree,
        prepared.joints is not None,
    )
    memory = closed_memory(
        system, group.module, how, forces_of_system(system, group.forces).at(at), len(at), gpu=task.gpu
    )
    rows, times, trees = memory.rows, np.append(how.t_start, how.t or ()), prepared.trees(at)
    start = np.zeros((len(at), 1, rows.size))
    start[:, 0, : rows.work] = prepared.z[at]
    wanted = start.copy()
    good: Bools = memory.project(start, times[:1], constants)[0]
    moved = np.abs(start - wanted)[:, 0, : rows.work].max(axis=1)
    if given.coordinates:  # others follow those that a case has of its own: ``assemble`` decides which
        good &= moved <= FOLLOWING
    if differ:  # the rows of the kernel are those that were assembled
        good &= moved <= OFF_THE_ROWS
    of_run, results = batch.arguments(how, start[:, 0], constants)
    own_limits = np.ascontiguousarray(prepared.limits[at])
    of_batch = memory.workspace(own_limits)
    if task.gpu:
        from runtime.integrate.batches import gpu

        gpu.integrate(None, of_batch, *of_run, *results, texts=gpu.Texts(**_texts(system, group.module)))
    else:
        batch.integrate(of_batch, memory.addresses.derivative, *of_run, *results, task.stop)
    if task.stop[0]:
        raise Stopped
    good &= results.status == Status.REACHED_END
    f, path = memory.forces, np.concatenate([start, results.out], axis=1)
    path[~good] = start[~good]
    satisfied, stored = memory.project(path, times, constants)
    good &= satisfied
    path, work = np.ascontiguousarray(path[..., : rows.work]), path[..., rows.work]
    stored += stored_energies(own_limits, path[..., tree.limited_places[0]])
    energies = energies_in_lanes(trees, path, stored)
    steps, weights = results.counts[:, batch.STEPS], given.weights(at)
    remarks = unbalanced_cases(weights, how, steps, times, energies, work, f.exchanged, f.unresolved)
    remarks = {k: text for k, text in with_stability(system, remarks, steps, f.bounded).items() if good[k]}
    found = states_in_lanes(trees, np.ascontiguousarray(path[:, 1:]))
    ended = np.flatnonzero(good)
    angles = path[ended] if group.turned is None else path[ended] - group.turned[at[ended]][:, None]
    turns = turns_in_lanes(tree, angles[:, 0], angles[:, 1:])
    kept, own, begun = numbers[at[ended]], found[ended], partial(_at_start, trees, path, ended)
    if task.outputs is None:
        chunk.keep_turns(task, kept, turns.quarters)
    elif len(kept):
        followed = () if differ else (system.joint_motions, turns.quarters)
        quantities = BatchQuantities(
            system, lambda: own, begun, lambda: energies[ended, 1:], tree, angles[:, 1:], angles[:, 0],
            group.limits[at[ended]], *followed,
        )  # fmt: skip
        if (events := memory.events) is not None:
            quantities.contacts = lambda: measured_in_lanes(system, path[:, 1:], times[1:], f, events)[ended]
        own = _columns(task, cases, quantities, group, at[ended], kept, chunk, events and events.at(ended))
    else:
        own = np.zeros((0, *task.kept_shape))
    chunk.keep(kept, own, results.counts[ended], results.reached[ended])
    chunk.keep_starts(task, kept, begun, of_tree=True)
    chunk.remark(numbers[at], remarks, how.t_end)
    if len(ended) and task.counts_turns and followed_by_poses(system, of_tree=True):
        systems = (lambda k: prepared.system_of(int(at[ended[k]]))) if differ else lambda _: system
        chunk.remark(kept, undecided(systems, how, begun(), found[ended], of_tree=True), how.t_end)
    return good


def _at_start(trees: CasesOfTree, path: Floats, ended: Ints) -> Floats:
    """States at the start (cases, 13 bodies) of the cases ``ended``, from coordinates from the start on."""
    found: Floats = states_in_lanes(trees, np.ascontiguousarray(path[:, :1]))[ended, 0]
    return found


def _columns(
    task: Task, cases: Cases, quantities: BatchQuantities, group: _Group, at: Ints, kept: Ints, chunk: Chunk,
    events: ContactEvents | None,
) -> Floats:  # fmt: skip
    """Outputs (cases, columns) of the cases at these places, of these numbers in a chunk, with the events of their contacts."""
    assert task.outputs is not None
    system, quantities.events = group.prepared.given.system, None if events is None else events.of

    same_parts = vary_alone(task, *OF_MASSES) and not system.redundant

    @lru_cache(1)
    def system_of(k: int) -> System:
        return system if same_parts and quantities.derived is not None else group.prepared.system_of(int(at[k]))

    needs_more = needs_more_than_states(task.outputs) and derives_outputs(system) and group.prepared.joints is None
    with values_of_cases(task, cases) if needs_more else nullcontext() as values:
        if values is not None and values.good[at].all():
            states = quantities.states()
            of_states = values.of_states(at, states, events)
            quantities.derived = DerivedQuantities(system, task.outputs, of_states, states)
        return columns_of_batch(task.outputs, task.how, quantities, system_of, partial(chunk.say, kept))
