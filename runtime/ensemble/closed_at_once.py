"""Cases of systems with closed loops or drivers, side by side: those that differ in masses, gravity, joints and velocities.

Coordinates of the tree are integrated and projected onto the rows in lanes.  Cases that come near a singular pose, or do not
reach their end, are left to be run one after another.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from types import ModuleType

import numpy as np

from runtime.dynamics.status import Status
from runtime.ensemble.at_once import Prepared, with_joints
from runtime.ensemble.cases import Cases, row
from runtime.ensemble.closed_joints import as_redundant, in_axes_of_system
from runtime.ensemble.closed_memory import closed_memory
from runtime.ensemble.compiled_cases import OF_MASSES, settings_of, vary_alone
from runtime.ensemble.contact_batch import ContactEvents, measured_in_lanes
from runtime.ensemble.damping_groups import run_in_groups
from runtime.ensemble.derived_outputs import DerivedQuantities, derives_outputs
from runtime.ensemble.given import Given
from runtime.ensemble.given_coordinates import set_coordinates
from runtime.ensemble.joint_batch import (
    cases_of_tree,
    energies_in_lanes,
    forces_of_system,
    given_limits,
    states_in_lanes,
    turns_in_lanes,
)
from runtime.ensemble.kept_outputs import BatchQuantities, columns_of_batch, needs_more_than_states
from runtime.ensemble.named_cases import values_of_cases
from runtime.ensemble.task import Chunk, Stopped, Task
from runtime.ensemble.velocities import only_velocities, states_with_velocities
from runtime.integrate.balance_check import unbalanced_cases
from runtime.integrate.batches import batch
from runtime.integrate.batches.forces import ForcesOfCases
from runtime.integrate.batches.parameters import stored_energies
from runtime.integrate.choices import AUTO
from runtime.integrate.endings import with_stability
from runtime.integrate.settings import Settings
from runtime.integrate.tree_method import (
    OFF_THE_ROWS,
    in_joint_coordinates,
    module_of_tree,
    off_the_rows,
    tree_of_lanes,
)
from runtime.integrate.written.acting_forces import known_beside_rows
from runtime.integrate.written.closed_rows import ClosedRows, closed_rows
from runtime.integrate.written.closed_stages import texts_of_closed
from runtime.integrate.written.force_corners import text_of_corners
from runtime.integrate.written.force_parameters import parameters_of_cases as parameters_of_forces
from runtime.integrate.written.measured_contacts import text_of_contacts
from runtime.lanes.lift import CasesOfTree
from runtime.results.undecided_turns import followed_by_poses, perhaps_unknown, remark_on_turns
from runtime.support.arrays import Bools, Floats, Ints
from runtime.support.errors import ModelError
from runtime.support.latest import Latest
from runtime.system.closed_cases import parameters_of_joints
from runtime.system.closed_tree import parameters_of_cases
from runtime.system.parameters import replace_parameters
from runtime.system.quantity import Role
from runtime.system.spanning_tree import SpanningTree
from runtime.system.system import System
from runtime.system.tree_coordinates import joint_coordinates
from runtime.system.tree_geometry import Geometry, carried


def rows_in_lanes(system: System, how: Settings) -> bool:
    """Whether cases of a system with closed loops or drivers run side by side; limits are those of turns.

    In joint coordinates, also where ``coordinates="auto"`` takes absolute ones for single runs, as ``joints_in_lanes``.
    """
    if system.closed_tree is None or not (in_joint_coordinates(system, how) or how.coordinates == AUTO):
        return False
    if not known_beside_rows(system) or (system.limits and not tree_of_lanes(system).limits):
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

    system: System
    tree: SpanningTree
    module: ModuleType
    how: Settings
    given: Given
    where: Geometry  # of all cases, or one for all
    states: Floats  # (cases or 1, 13 bodies) at the start
    good: Bools  # (cases,)
    constants: Floats  # (cases, constants) as of ``ClosedRows``
    forces: Floats  # (cases or 1, parameters) as of ``parameters_of_cases`` of forces
    limits: Floats  # (cases, limits, PARAMETERS) by the angles of results
    system_of: Callable[[int], System]  # of a case
    joints: Prepared | None = None  # cases whose joints differ, assembled
    turned: Floats | None = None  # (cases, n) their coordinates in their reference configurations

    @property
    def rows(self) -> ClosedRows:
        """Sizes of arrays."""
        return closed_rows(self.system, self.module)

    def forces_of(self, at: Ints) -> ForcesOfCases:
        """Parameters of forces, and signals, of the cases at these places."""
        return forces_of_system(self.system, self.forces).at(at)

    def trees(self, at: Ints) -> CasesOfTree:
        """Geometry and masses of the cases at these places."""
        given, system = self.given, self.system
        gravity = given.gravity[None] if given.gravity.ndim == 1 else given.gravity[at]
        where = self.where if len(self.where.pose) == 1 else Geometry(*(values[at] for values in self.where))
        return cases_of_tree(self.tree, where, given.masses[at], system.data.inertia[None, 1:], gravity)

    def initial(self, at: Ints) -> tuple[Floats, Bools]:
        """Coordinates, rates and what follows them (cases, 1, rows) of cases at the start, and which states they belong to."""
        found = np.zeros((len(self.good), 1, self.rows.size))
        if self.joints is not None:
            found[:, 0, : self.rows.work] = self.joints.z
            return found[at], np.ones(len(at), bool)
        z = joint_coordinates(self.tree, self.system.body_names, self.system.joint_motions, self.states)
        found[:, 0, : self.rows.work] = z
        states = np.broadcast_to(self.states, (len(self.good), self.states.shape[1]))[at]
        lifted = states_in_lanes(self.trees(at), np.ascontiguousarray(found[at, :, : self.rows.work]))
        set_coordinates(found[:, 0], self.given, self.where)
        return found[at], off_the_rows(lifted[:, 0], states) <= OFF_THE_ROWS


def _group_of(task: Task, cases: Cases) -> _Group | None:
    """The cases, unless they differ in more than this module knows."""
    system = task.system
    if not isinstance(system, System) or not closed_in_lanes(task, system):
        return None
    count = len(next(iter(cases.values())))
    own = np.tile(system.data.mass[1:], (count, 1))
    limits = given_limits([(system, np.arange(count))], count)
    tree = tree_of_lanes(system)
    given = Given(system, tree, own, system.data.inertia[1:], system.gravity, limits, np.ones(count, bool))
    states, good = system.state.y[None], np.ones(count, bool)
    if only_velocities(task, cases):
        states, good = states_with_velocities(task, cases)
    elif any(task.quantities[name].role not in (Role.COORDINATE, Role.PARAMETER) for name in cases) or not all(
        given.take(task.quantities[name], np.asarray(values, float)) for name, values in cases.items()
    ):
        return None
    if given.balls or given.inertias.ndim > 3:
        return None
    given.good &= good

    return _grouped(task, given, states, partial(_system_of, task, system, cases))


def closed_in_lanes(task: Task, system: System) -> bool:
    """Whether cases of a system with closed loops or drivers, or of its layout, run side by side."""
    known = task.starts_in_time(system) and bool(task.how.t) and not len(system.data.thin_body)
    return known and rows_in_lanes(system, task.how)


def _grouped(task: Task, given: Given, states: Floats, system_of: Callable[[int], System]) -> _Group | None:
    """The cases of a system with ``closed_in_lanes`` as a group."""
    system, count = given.system, len(given.good)
    try:
        how = settings_of(system, task.how)
    except ModelError:
        return None  # ``simulate`` has the message
    tree, closed, module = given.tree, system.closed_tree, module_of_tree(system)
    assert closed is not None and module is not None
    masses = np.concatenate([np.tile(system.data.mass[:1], (count, 1)), given.masses], axis=1)
    gravity, joints, turned, where = np.broadcast_to(given.gravity, (count, 3)), None, None, tree.geometry
    good, limits = np.ones(count, bool), given.limits
    if given.joints:
        joints = with_joints(given, system_of, assemble=task.assemble)
        system_of, good, limits = joints.system_of, joints.good & as_redundant(joints), joints.limits
        joints, turned = in_axes_of_system(joints)
        where = joints.where
        load = carried(where, tree.skeleton, given.masses, given.inertias)
        assert joints.joints is not None
        of_cases = joints.joints.of_cases
        parameters, serves = parameters_of_joints(closed, tree, system.data, of_cases, where, load, gravity)
    else:
        parameters, serves = parameters_of_cases(closed, tree, system.joints, system.data, masses, gravity)
    constants = np.zeros((closed_rows(system, module).of_case, count))
    module.prepare(parameters, constants)
    good &= given.good & serves
    loaded = closed_rows(system, module).loaded
    forces = parameters_of_forces(system, where, given.forces) if loaded else NO_FORCES
    constants = np.ascontiguousarray(constants.T)
    return _Group(
        system, tree, module, how, given, where, states, good, constants, forces, limits, system_of, joints, turned
    )


def _system_of(task: Task, system: System, cases: Cases, k: int) -> System:
    """The system of a case, in the reference configuration of all."""
    own = {name: value for name, value in row(cases, k).items() if task.quantities[name].role is Role.PARAMETER}
    return replace_parameters(system, own) if own else system


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
    good, at = group.good.copy(), np.flatnonzero(group.good)
    if len(at):
        good[at] = _run(task, cases, group, at, numbers, chunk)
    return numbers[~good].tolist()  # type: ignore[no-any-return]


def _run(task: Task, cases: Cases, group: _Group, at: Ints, numbers: Ints, chunk: Chunk) -> Bools:
    """Integrate the cases at these places; which of them are done.  ``numbers``: of all in the chunk."""
    how, system, constants = group.how, group.system, np.ascontiguousarray(group.constants[at])
    memory = closed_memory(system, group.module, how, group.forces_of(at), len(at), gpu=task.gpu)
    rows, times, trees = memory.rows, np.append(how.t_start, how.t or ()), group.trees(at)
    start, good = group.initial(at)
    wanted = start.copy()
    good &= memory.project(start, times[:1], constants)[0]
    moved = np.abs(start - wanted)[:, 0, : rows.work].max(axis=1)
    if group.given.coordinates:  # others follow those that a case has of its own: ``assemble`` decides which
        good &= moved <= FOLLOWING
    if group.joints is not None:  # the rows of the kernel are those that were assembled
        good &= moved <= OFF_THE_ROWS
    given, results = batch.arguments(how, start[:, 0], constants)
    own_limits = np.ascontiguousarray((group.limits if group.joints is None else group.joints.limits)[at])
    of_batch = memory.workspace(own_limits)
    if task.gpu:
        from runtime.integrate.batches import gpu

        gpu.integrate(None, of_batch, *given, *results, texts=gpu.Texts(**_texts(system, group.module)))
    else:
        batch.integrate(of_batch, memory.addresses.derivative, *given, *results, task.stop)
    if task.stop[0]:
        raise Stopped
    good &= results.status == Status.REACHED_END
    f, path = memory.forces, np.concatenate([start, results.out], axis=1)
    path[~good] = start[~good]
    satisfied, stored = memory.project(path, times, constants)
    good &= satisfied
    path, work = np.ascontiguousarray(path[..., : rows.work]), path[..., rows.work]
    stored += stored_energies(own_limits, path[..., group.tree.limited_places[0]])
    energies = energies_in_lanes(trees, path, stored)
    steps, weights = results.counts[:, batch.STEPS], group.given.weights(at)
    remarks = unbalanced_cases(weights, how, steps, times, energies, work, f.exchanged, f.unresolved)
    remarks = {k: text for k, text in with_stability(system, remarks, steps, f.bounded).items() if good[k]}
    found = states_in_lanes(trees, np.ascontiguousarray(path[:, 1:]))
    ended = np.flatnonzero(good)
    angles = path[ended] if group.turned is None else path[ended] - group.turned[at[ended]][:, None]
    turns = turns_in_lanes(group.tree, angles[:, 0], angles[:, 1:])
    kept, own, begun = numbers[at[ended]], found[ended], partial(_at_start, trees, path, ended)
    if task.outputs is None:
        chunk.keep_turns(task, kept, turns.quarters)
    elif len(kept):
        followed = (system.joint_motions, turns.quarters) if group.joints is None else ()
        quantities = BatchQuantities(
            system, lambda: own, begun, lambda: energies[ended, 1:], group.tree, angles[:, 1:], angles[:, 0],
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
        chunk.remark(kept, _undecided(group, at, ended, begun(), found), how.t_end)
    return good


def _at_start(trees: CasesOfTree, path: Floats, ended: Ints) -> Floats:
    """States at the start (cases, 13 bodies) of the cases ``ended``, from coordinates from the start on."""
    found: Floats = states_in_lanes(trees, np.ascontiguousarray(path[:, :1]))[ended, 0]
    return found


def _undecided(group: _Group, at: Ints, ended: Ints, start: Floats, states: Floats) -> dict[int, str]:
    """Remarks on whole turns of joints that the cases ``ended`` among those at places do not show, by their places there.

    start, states : those at the start (cases, 13 bodies), and of all cases at the times of the result, (cases, times, 13 bodies)
    """
    t, how, at, states = np.array(group.how.t), group.how, at[ended], states[ended]

    def system_of(k: int) -> System:
        return group.system if group.joints is None else group.system_of(int(at[k]))

    def remark(k: int) -> str:
        return remark_on_turns(system_of(k), how.t_start, start[k], t, states[k], how.method, of_tree=True)

    far = np.flatnonzero(perhaps_unknown(how.t_start, start, t, states)).tolist()
    found = {k: remark(k) for k in far}
    return {k: text for k, text in found.items() if text}


def _columns(
    task: Task, cases: Cases, quantities: BatchQuantities, group: _Group, at: Ints, kept: Ints, chunk: Chunk,
    events: ContactEvents | None,
) -> Floats:  # fmt: skip
    """Outputs (cases, columns) of the cases at these places, of these numbers in a chunk, with the events of their contacts."""
    assert task.outputs is not None
    system, quantities.events = group.system, None if events is None else events.of

    same_parts = vary_alone(task, *OF_MASSES) and not system.redundant

    @lru_cache(1)
    def system_of(k: int) -> System:
        return system if same_parts and quantities.derived is not None else group.system_of(int(at[k]))

    def say(k: int, text: str) -> None:
        chunk.messages[chunk.first + int(kept[k])] = text

    needs_more = needs_more_than_states(task.outputs) and derives_outputs(system) and group.joints is None
    with values_of_cases(task, cases) if needs_more else nullcontext() as values:
        if values is not None and values.good[at].all():
            states = quantities.states()
            of_states = values.of_states(at, states, events)
            quantities.derived = DerivedQuantities(system, task.outputs, of_states, states)
        return columns_of_batch(task.outputs, task.how, quantities, system_of, say)
