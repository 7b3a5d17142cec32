"""Batches in joint coordinates: coordinates of states, states of coordinates, memory; on which engine a batch runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.layout import STATE, P, V
from runtime.dynamics.limits_along import constants_of_each
from runtime.dynamics.status import ENDED
from runtime.ensemble.contact_batch import ContactEvents, contacts_of_batch, measured_in_lanes, stored_in_forces
from runtime.ensemble.task import Chunk, Stopped, Task
from runtime.integrate.batches import batch
from runtime.integrate.batches.batch import Results
from runtime.integrate.batches.event_memory import batch_events
from runtime.integrate.batches.forces import BatchForces, ForcesOfCases, batch_forces
from runtime.integrate.batches.limits import batch_limits
from runtime.integrate.batches.parameters import parameters_of_limits, stored_energies
from runtime.integrate.batches.parts import bind_parts
from runtime.integrate.batches.workspace import BatchWorkspace
from runtime.integrate.events import rules_of
from runtime.integrate.tree_method import (
    OFF_THE_ROWS,
    acts_in_lanes,
    by_recursion,
    kernel_of,
    off_the_rows,
    tree_of_lanes,
)
from runtime.integrate.tree_scales import scales_of, with_states
from runtime.integrate.tree_stages import addresses_of_lanes
from runtime.integrate.written.acting_forces import what_acts
from runtime.integrate.written.equation_parameters import parameters_of_equations
from runtime.integrate.written.event_values import values_of_events
from runtime.integrate.written.force_kinks import angles_of, kinks_of, text_of_angles, text_of_kinks
from runtime.integrate.written.force_parameters import parameters_of_forces, values_at_start
from runtime.integrate.written.measured_contacts import text_of_contacts
from runtime.integrate.written.signal_sets import signal_sets
from runtime.integrate.written.tree_forces import address_of_forces, text_of_forces
from runtime.integrate.written.tree_recursion import address_of_recursion, has_plain_numbers, text_of_recursion
from runtime.lanes.lift import CasesOfTree, lanes_of_tree, lift_lanes, prepare_lift
from runtime.results.whole_turns import WholeTurns, surely_shown, whole_turns
from runtime.support.arrays import Bools, Floats, Ints, read_only
from runtime.support.latest import Latest
from runtime.system.spanning_tree import OF_KIND, SpanningTree, ties_of, turn_weights
from runtime.system.system import System
from runtime.system.tree_coordinates import joint_coordinates
from runtime.system.tree_geometry import Geometry

Systems = Sequence[tuple[System, Ints]]  # each with its cases
NONE_COUNTED = np.zeros((0, 0, 0))


def of_each(systems: Systems, of: Callable[[System], Floats]) -> Floats:
    """Values of the systems of cases, (cases, ...)."""
    values = [of(own) for own, _ in systems]
    found = np.empty((sum(len(at) for _, at in systems), *values[0].shape))
    for (_, at), value in zip(systems, values, strict=True):
        found[at] = value
    return found


def masses_of(systems: Systems) -> tuple[Floats, Floats, Floats]:
    """Masses (cases, bodies), inertias (cases, bodies, 3, 3) and gravity (cases, 3) of cases."""
    masses, inertias = (
        of_each(systems, lambda own: own.data.mass[1:]),
        of_each(systems, lambda own: own.data.inertia[1:]),
    )
    return masses, inertias, of_each(systems, lambda own: own.gravity)


def in_joints(systems: Systems, states: Floats) -> Floats:
    """Coordinates and rates of the trees of systems, (cases, n), in states of their bodies (cases, 13 bodies)."""
    z = np.empty((len(states), tree_of_lanes(systems[0][0]).places[1][-1]))
    for system, at in systems:
        reference = system.reference_configuration.y
        if not reference.reshape(-1, STATE)[:, V:].any() and (states[at] == reference).all():
            z[at] = tree_of_lanes(system).at_reference
            continue
        z[at] = joint_coordinates(tree_of_lanes(system), system.body_names, system.joint_motions, states[at])
    return z


def of_bodies(systems: Systems, z: Floats) -> Floats:
    """States of the bodies (cases, times, 13 bodies) for coordinates and rates of their trees (cases, times, n)."""
    out = np.empty((*z.shape[:2], STATE * len(systems[0][0].bodies)))
    for system, at in systems:
        out[at] = states_in_lanes(trees_of_system(system), z[at])
    return out


def cases_of_tree(
    tree: SpanningTree, where: Geometry, masses: Floats, inertias: Floats, gravity: Floats
) -> CasesOfTree:
    """Geometry, masses (cases, bodies), inertias (cases, bodies, 3, 3) and gravity (cases, 3) of cases, or one row of all.

    All arrays are read-only, for one type in compiled code.
    """
    skeleton = tree.skeleton
    cases = CasesOfTree(
        kind=np.array([OF_KIND[kind] for kind in tree.kinds], np.int64), parent=np.array(tree.parents, np.int64),
        q=np.array(tree.places[0][:-1], np.int64), u=np.array(tree.places[1][:-1], np.int64),
        step=np.array(tree.body_step, np.int64), axis=where.axis, way=where.ways(skeleton.parents),
        arm=where.arms(skeleton.body_step), p=where.pose[..., P:V], mass=masses[..., None],
        inertia=inertias.reshape(*inertias.shape[:2], 9), gravity=gravity[:, None],
    )  # fmt: skip
    return CasesOfTree(*(read_only(np.ascontiguousarray(values)) for values in cases))


# Of the cases of one system.
trees_of_system = Latest(
    lambda system: cases_of_tree(
        tree_of_lanes(system),
        tree_of_lanes(system).geometry,
        system.data.mass[None, 1:],
        system.data.inertia[None, 1:],
        system.gravity[None],
    ),
    4,
)


def states_in_lanes(trees: CasesOfTree, z: Floats, y: Floats | None = None, to: Ints | None = None) -> Floats:
    """States of the bodies (cases, times, 13 bodies) at coordinates and rates z (cases, times, n); in rows ``to`` of ``y``."""
    if y is None or to is None:
        y, to = np.empty((*z.shape[:2], STATE * len(trees.step))), np.arange(len(z))
    _lift(trees, z, y, to, np.empty((0, 0, 3)))
    return y


def energies_in_lanes(
    trees: CasesOfTree, z: Floats, stored: Floats, y: Floats | None = None, to: Ints | None = None
) -> Floats:
    """Kinetic energy, that of gravity and stored energy (cases, times, 3) at coordinates and rates z (cases, times, n).

    States at the last times go into rows ``to`` of ``y`` (any, times, 13 bodies), unless the row is below 0.
    """
    energies = np.empty((*z.shape[:2], 3))
    energies[..., 2] = stored
    if y is None or to is None:
        y, to = np.empty((0, 0, 0)), np.empty(0, np.int64)
    _lift(trees, z, y, to, energies)
    return energies


def _lift(trees: CasesOfTree, z: Floats, y: Floats, to: Ints, energies: Floats) -> None:
    memory = lanes_of_tree(trees, z.shape[2])
    lift_lanes(trees, memory, np.ascontiguousarray(z), to, y, energies)


def of_one_batch(system: System, tree: SpanningTree, where: Geometry, z: Floats, states: Floats) -> Bools:
    """Which cases have their initial states at coordinates and rates z, and errors of turns weighed as in the system's tree.

    The Euler parameters of their geometry get the signs of those of the states.
    """
    wanted, found = (turn_weights(one.reaches(tree.skeleton)) for one in (tree.geometry, where))
    same: Bools = (found == wanted).all(axis=1)  # cases of a batch have the same weights
    return same & (_off(system, tree, where, z, states) <= OFF_THE_ROWS)


def _off(system: System, tree: SpanningTree, where: Geometry, z: Floats, states: Floats) -> Floats:
    """How far the states at coordinates and rates z are off the initial ones, whose signs Euler parameters get, (cases,)."""
    if (z != tree.at_reference).any():
        data = system.data
        trees = cases_of_tree(tree, where, data.mass[None, 1:], data.inertia[None, 1:], system.gravity[None])
        lifted = states_in_lanes(trees, z[:, None])[:, 0]
    else:  # the reference configuration
        lifted = np.zeros_like(states)
        lifted.reshape(len(lifted), -1, STATE)[..., :V] = where.pose
    own, given = (y.reshape(len(y), -1, STATE)[..., P:V] for y in (lifted, states))
    signs = np.where((own * given).sum(axis=2) < 0.0, -1.0, 1.0)[..., None]
    where.pose[..., P:V] *= signs
    own *= signs  # of ``lifted``
    return off_the_rows(lifted, states)


def turns_in_lanes(tree: SpanningTree, start: Floats, z: Floats) -> WholeTurns:
    """Turns of coordinates and rates z (cases, times, n) of trees, from those at the start (cases, n)."""
    turns = _turns(tree)
    return whole_turns(start[:, turns], z[..., turns])


def keep_turns(chunk: Chunk, task: Task, cases: Ints, tree: SpanningTree, start: Floats, z: Floats) -> None:
    """``Chunk.keep_turns`` of ``turns_in_lanes`` of cases, where it keeps any."""
    turns = _turns(tree)
    if not surely_shown(start[:, turns], z[..., turns]):
        chunk.keep_turns(task, cases, turns_in_lanes(tree, start, z).quarters)


def _turns(tree: SpanningTree) -> list[int]:
    return [place for place, kind in zip(tree.places[0], tree.kinds, strict=False) if kind == "turn"]


def given_limits(systems: Systems) -> Floats:
    """Parameters of the limits of the cases of systems, (cases, limits, PARAMETERS)."""
    return of_each(systems, lambda own: parameters_of_limits(tree_of_lanes(own).limits, own.data.limits))


def integrate(
    task: Task, module: ModuleType | None, memory: BatchWorkspace, *arrays: Any,
    texts: Callable[[], dict[str, str]] = dict, address: int | None = None,
) -> None:  # fmt: skip
    """Integrate the cases of a chunk with the kernel of a model, on the CPU or on a graphics processor; None: by the recursion.

    texts : on a graphics processor, the functions of one lane that the kernel does not know, by the names of ``gpu.Texts``
    address : of the equations of a tree with rows

    Raises
    ------
    Stopped
        When ``task.stop`` was set meanwhile.
    """
    if task.gpu:
        from runtime.integrate.batches import gpu

        gpu.integrate(module, memory, *arrays, texts=gpu.Texts(**texts()))
    elif address is None:
        batch.run(module, "lanes", memory, *arrays, task.stop)
    else:
        batch.integrate(memory, address, *arrays, task.stop)
    if task.stop[0]:
        raise Stopped


def texts_on_contact(system: System) -> dict[str, str]:
    """The texts of contacts, and of kinks and angles of forces."""
    texts = {"contacts": text_of_contacts(system) if system.contacts else "", "kinks": text_of_kinks(system)}
    return texts | {"angles": text_of_angles(system)}


class Own(NamedTuple):
    """What a batch has besides the kernel of a model."""

    system: System
    general: bool  # as of ``address_of_recursion``


def _texts_of(system: System, general: bool) -> dict[str, str]:
    """The functions of one lane, as text, for a graphics processor."""
    if by_recursion(system):
        return texts_on_contact(system) | {"equations": text_of_recursion(system, general=general)}
    return texts_on_contact(system) | {"forces": text_of_forces(system)}


_texts = Latest(_texts_of, 8)


def _own(system: System, of: Acting) -> Own | None:
    """None where a kernel knows all that acts."""
    if of.forces is None:
        return None
    general = by_recursion(system) and (of.general or not has_plain_numbers(system, of.forces.parameters))
    return Own(system, general)


def memory_of_batch(
    system: System, z: Floats, constants: int, of: Acting, tolerance: float, events: Sequence[Any], *, gpu: bool = False
) -> BatchWorkspace:
    """Memory for cases of a system's tree, with states (cases, n) and so many constants; ``tolerance``: the sum of both."""
    tree = tree_of_lanes(system)
    prepare_lift()  # now: after an installation the second process compiles the integration meanwhile
    stages = (0, 0) if of.forces is not None else list(addresses_of_lanes(kernel_of(tree)).values())
    first = constants - constants_of_each(tree.limits) * len(tree.limits)
    limits = batch_limits(tree.limits, tree.limited_places, z.shape[1], first, of.limits) if tree.limits else None
    forces = None
    if of.forces is not None and (own := _own(system, of)) is not None:
        whole = by_recursion(system)
        address = address_of_recursion(system, general=own.general) if whole else address_of_forces(system)
        along = first - len(tree.kinds)
        forces = batch_forces(
            address, along, of.forces, len(z), whole=whole, acting=what_acts(system),
            kinks=kinks_of(system, gpu=gpu), angles=angles_of(system), states=len(system.data.forces.state_place),
        )  # fmt: skip
    contacts = contacts_of_batch(system, len(z), tolerance, gpu=gpu) if system.contacts else None
    scales = with_states(scales_of(tree), len(system.data.forces.state_place))
    memory = batch.tree_workspace(
        stages, constants, scales, limits, forces, contacts, ties_of(tree.kinds), tree.places[0][-1]
    )
    if events:
        memory = memory._replace(events=batch_events(*values_of_events(system, events), rules_of(events), *z.shape))
    bind_parts(memory)
    return memory


class Acting(NamedTuple):
    """Parameters of what acts on the trees of cases."""

    limits: Floats  # (cases, limits, PARAMETERS)
    forces: ForcesOfCases | None  # by the recursion those of all equations; None: a kernel knows all that acts
    events: ContactEvents | None = None  # of the runs, where there are contacts
    general: bool = False  # the cases have geometries or inertias of their own

    def at(self, cases: Ints) -> Acting:
        """What acts on the cases at these places."""
        forces = None if self.forces is None else self.forces.at(cases)
        return self._replace(limits=self.limits[cases], forces=forces, events=self.events and self.events.at(cases))


def acting_on(systems: Systems) -> Acting:
    """Parameters of what acts on the cases of systems, which have the same ``forces_key``."""
    forces = None
    if has_parameters(systems[0][0]):
        sets, which = signal_sets([system.data.signals for system, _ in systems])
        places = {id(system): np.array(one) for (system, _), one in zip(systems, which, strict=True)}
        set_of = of_each(systems, lambda own: places[id(own)]).astype(np.int64)
        forces = ForcesOfCases(of_each(systems, parameters_in_lanes), *sets, set_of)
    return Acting(given_limits(systems), forces)


def forces_of_system(system: System, parameters: Floats) -> ForcesOfCases:
    """Parameters (cases or 1, parameters) of cases that have the signals of one system."""
    return ForcesOfCases(parameters, system.data.signals, 1, np.zeros(1, np.int64))


def has_parameters(system: System) -> bool:
    """Whether cases of a system have parameters besides the constants of a kernel."""
    return acts_in_lanes(system) or by_recursion(system)


def parameters_in_lanes(system: System) -> Floats:
    """These parameters (parameters,)."""
    return parameters_of_equations(system) if by_recursion(system) else parameters_of_forces(system)


def forces_key(system: System, *, general: bool) -> tuple[str, ...]:
    """What systems have in common whose forces are those of one batch: compiled code, number of signals, least impacts.

    general : as of ``address_of_recursion``
    """
    if not has_parameters(system):
        return ()
    whole = by_recursion(system)
    address = address_of_recursion(system, general=general) if whole else address_of_forces(system)
    return str(address), str(len(system.data.signals.start)), system.data.contacts.min_impact_speed.tobytes().hex()


class TreeRuns(NamedTuple):
    """Cases that were integrated in lanes, and what is known of their energies."""

    results: Results  # ``out`` (cases, times, n)
    good: Bools  # (cases,) which reached their end
    times: Floats  # (m,) [s] with the start
    path: Floats  # (cases, m, n) coordinates and rates, and states of forces, at these
    work: Floats  # (cases, m) [J] of all sources until then
    stored: Floats  # (cases, m) [J] in limits and forces
    bounded: Ints  # (cases,) steps that stability bounded
    exchanged: Floats  # (cases,) [J] work of all steps without their signs
    unresolved: Floats  # (cases,) [J] as of ``balance.UNRESOLVED``
    forces: bool  # forces act that a kernel does not know, or there is none
    events: ContactEvents | None = None  # where there are contacts
    counted: Floats = NONE_COUNTED  # (cases, times, angles) of forces whose revolutions are counted
    zeros: tuple[Floats, Ints] | None = None  # ``BatchEvents.rows`` and ``found``, where there are events of the task


def run_trees(task: Task, system: System, z: Floats, constants: Floats, of: Acting) -> TreeRuns:
    """Integrate cases from coordinates and rates z (cases, n) on, with constants of the kernel (cases or 1, constants).

    States of forces begin with their initial values, and follow coordinates and rates in the results.
    """
    how, tree, forces = task.how, tree_of_lanes(system), of.forces is not None
    initial, n = z, z.shape[1]
    if of.forces is not None:
        states, angles = (
            np.broadcast_to(of_force, (len(z), of_force.shape[1]))
            for of_force in values_at_start(system, of.forces.parameters)
        )
        initial = np.hstack([z, states, np.zeros((len(z), 1)), angles])
        n += states.shape[1]
    given, results = batch.arguments(how, initial, constants)
    memory = memory_of_batch(system, initial, constants.shape[1], of, how.rtol + how.atol, task.events, gpu=task.gpu)
    module = None if by_recursion(system) else kernel_of(tree)
    own = _own(system, of)
    integrate(task, module, memory, *given, *results, texts=dict if own is None else partial(_texts, *own))
    times, path = np.append(how.t_start, how.t or ()), np.concatenate([initial[:, None], results.out], axis=1)
    dampers: Any = 0.0
    if tree.limits:  # the work of dampers is known at the end
        times, path = np.array([how.t_start, how.t_end]), np.stack([initial, memory.limits.final], axis=1)
        dampers = np.outer(memory.limits.work, [0.0, 1.0])
    work = (path[..., n] if forces else np.zeros(path.shape[:2])) + dampers
    events = ContactEvents(memory.contacts.events, memory.contacts.found) if system.contacts else None
    stored = stored_in_lanes(system, path, times, of._replace(events=events))
    path, counted = np.ascontiguousarray(path[..., :n]), results.out[..., n + 1 :]
    good = np.isin(results.status, ENDED)
    zeros = (memory.events.rows, memory.events.found) if task.events else None
    if not forces:
        none = np.zeros(len(z))
        return TreeRuns(
            results, good, times, path, work, stored, np.zeros(len(z), np.int64), none, none, forces, zeros=zeros
        )
    results, f = results._replace(out=np.ascontiguousarray(results.out[..., :n])), memory.forces
    return TreeRuns(
        results, good, times, path, work, stored, f.bounded, f.exchanged, f.unresolved, forces, events, counted, zeros
    )


def stored_in_lanes(system: System, z: Floats, times: Floats, of: Acting) -> Floats:
    """Energy [J] in limits, springs of motors and forces of cases in states z (cases, m, n or more) of a batch, at times (m,)."""
    tree = tree_of_lanes(system)
    stored: Floats = np.zeros(z.shape[:2])
    if tree.limits:
        stored += stored_energies(tree.limits, of.limits, z[..., tree.limited_places[0]])
    if of.forces is not None and acts_in_lanes(system):
        stored += stored_in_forces(system, z, times, forces_at_rest(system, of), of.events)
    return stored


def contacts_in_lanes(system: System, z: Floats, times: Floats, of: Acting) -> Floats:
    """``contact_batch.measured_in_lanes`` of cases."""
    assert of.events is not None
    return measured_in_lanes(system, z, times, forces_at_rest(system, of), of.events)


def forces_at_rest(system: System, of: Acting) -> BatchForces:
    """Memory for forces of cases that are not integrated."""
    assert of.forces is not None
    q, u = tree_of_lanes(system).places
    return batch_forces(address_of_forces(system), 0, of.forces, 0, u[-1] - q[-1])
