"""Cases whose systems a function builds: those of one layout are checked, assembled and run at once.

The function is called once for each case, while building is put off (``runtime.system.deferred``).  Where a case may be refused
or remarked on, or the function did more with its system than return it, the case is built as if it were the only one.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from runtime.dynamics.layout import STATE, V
from runtime.ensemble.at_once import Prepared, run_prepared
from runtime.ensemble.built_closed import built_closed, shared_parts
from runtime.ensemble.cases import Cases, row
from runtime.ensemble.closed_at_once import closed_in_lanes, run_built_closed
from runtime.ensemble.given import Given
from runtime.ensemble.given_coordinates import set_coordinates
from runtime.ensemble.joint_batch import cases_of_tree, given_limits, of_one_batch, states_in_lanes
from runtime.ensemble.task import Chunk, Stopped, Task
from runtime.integrate.batches.parameters import (
    AHEAD,
    BEHIND,
    COMPLIANCE,
    DAMPING,
    FLAT_AHEAD,
    FLAT_BEHIND,
    MAX_MOMENT,
    OFFSET,
)
from runtime.integrate.creeps import resolved_creeps
from runtime.integrate.settings import Settings
from runtime.integrate.tree_method import joints_in_lanes, tree_of_lanes
from runtime.integrate.written.force_parameters import OwnForces
from runtime.integrate.written.signal_sets import signal_sets
from runtime.support.arrays import Bools, Floats, Ints
from runtime.support.errors import ModelError
from runtime.system.built_cases import BuiltCases, built_cases
from runtime.system.built_forces import ForceCases
from runtime.system.case_table import CaseTable, structure_of, table_of_calls, table_of_recipes
from runtime.system.deferred import Deferred, Recipe, calls_of, deferring, finished, recipe_of
from runtime.system.joint_cases import states_of_cases
from runtime.system.limits_along import SAME_ANGLE, random_coordinates
from runtime.system.quantity import Role, quantities
from runtime.system.recording import Recording
from runtime.system.reference import body_places
from runtime.system.spanning_tree import SpanningTree
from runtime.system.system import System
from runtime.system.tree_coordinates import joint_coordinates
from runtime.system.tree_geometry import Geometry, geometry
from runtime.system.variants import build_variant, variant

BETWEEN = 512  # cases from one collection of garbage to the next
LEAST = 4  # cases of a layout: fewer are built one by one


@dataclass
class Known:
    """What is known of the cases of a chunk: those that are done, in order, and systems that are built."""

    done: list[int] = field(default_factory=list)
    systems: dict[int, System] = field(default_factory=dict)
    recipes: dict[int, Recipe] = field(default_factory=dict)  # of those that were not built when the function returned


def run_built(task: Task, cases: Cases, chunk: Chunk) -> Known:
    """Run cases whose systems differ in numbers alone."""
    known, groups = Known(), dict[Hashable, dict[int, Deferred]]()
    roles = {task.quantities[name].role for name in cases}
    if task.gpu or Role.STATE in roles:
        return known
    for members in _noted(task, cases, known).values():
        left = _run_noted(task, cases, members, chunk, known)
        for case, deferred in left.items():
            if (recipe := _recipe(deferred)) is not None and recipe.plain:
                known.recipes[case] = recipe
                groups.setdefault(recipe.layout, {})[case] = deferred
    for members in groups.values():
        _keep(_run_group(task, cases, members, chunk, known), members, known)
    known.done.sort()
    return known


def _noted(task: Task, cases: Cases, known: Known) -> dict[Hashable, dict[int, Deferred]]:
    """Systems that are not built yet by the structure of their calls, None where these are not known."""
    groups = dict[Hashable, dict[int, Deferred]]()
    rows = zip(*[values.tolist() for values in cases.values()], strict=True)
    with seldom_collected() as collect, deferring(Recording) as made:
        for case, values in enumerate(rows):
            if task.stop[0]:
                raise Stopped
            made.clear()
            if (deferred := _called(task, dict(zip(cases, values, strict=True)), case, known, made)) is not None:
                calls = calls_of(deferred)
                groups.setdefault(calls and structure_of(calls), {})[case] = deferred
            if case % BETWEEN == BETWEEN - 1:
                collect()
    return groups


def _run_noted(
    task: Task, cases: Cases, members: dict[int, Deferred], chunk: Chunk, known: Known
) -> dict[int, Deferred]:
    """Run the cases of one structure of calls by a table of these; returns those that this leaves to tables of recipes."""
    calls = {case: noted for case, deferred in members.items() if (noted := calls_of(deferred)) is not None}
    recipe = next(filter(None, map(_recipe, members.values())), None) if len(calls) >= LEAST else None
    if recipe is None or not recipe.plain or (found := table_of_calls([*calls.values()], recipe)) is None:
        return members
    table, good = found
    own = {case: members[case] for case, fits in zip(calls, good.tolist(), strict=True) if fits}
    if len(own) < len(calls):
        again = table_of_calls([calls[case] for case in own], recipe) if own else None
        if again is None:
            return members
        table = again[0]
    done = _run_group(task, cases, own, chunk, known, table)
    if done is None:
        return members
    _keep(done, own, known)
    return {case: deferred for case, deferred in members.items() if case not in own}


def _keep(done: list[int] | None, members: dict[int, Deferred], known: Known) -> None:
    """Note which cases of a group are done, and build the others."""
    known.done += done or []
    for case in set(members) - set(done or []):
        _finish(case, members[case], known)


def _recipe(deferred: Deferred) -> Recipe | None:
    """The recipe of a system; None where it is refused, or built already."""
    try:
        return recipe_of(deferred) if type(deferred) is Deferred else None
    except Exception:  # as in ``_finish``
        return None


@contextmanager
def seldom_collected() -> Iterator[Callable[[], Any]]:
    """Garbage is collected by the function that is returned alone, among new objects.

    Systems of all cases are kept, and each automatic collection would look through them and all other objects of the process.
    """
    automatic = gc.isenabled()
    gc.disable()
    try:
        yield partial(gc.collect, 1)
    finally:
        if automatic:
            gc.enable()


def _called(task: Task, values: dict[str, Any], case: int, known: Known, made: Sequence[Deferred]) -> Deferred | None:
    """The system of a case that is not built yet; None where the case is to be built alone.  ``made``: by the builders."""
    try:
        system = build_variant(task.system, values, task.quantities)  # type: ignore[arg-type]
    except ModelError:
        return None
    if not made:
        known.systems[case] = system
    if len(made) != 1 or made[0] is not system or type(system) is not Deferred:
        return None
    return system


def _finish(case: int, deferred: Deferred, known: Known) -> None:
    """Build a system; one that is refused is left to the function, which may know what to do."""
    try:
        known.systems[case] = finished(deferred) if type(deferred) is Deferred else deferred
    except (
        Exception
    ):  # whatever is raised for extreme values: the function is called again, and its message is that of the case
        pass


def _run_group(
    task: Task, cases: Cases, members: dict[int, Deferred], chunk: Chunk, known: Known, table: CaseTable | None = None
) -> list[int] | None:
    """Run the cases of a layout; those that reached their end.  None where these cannot be run by a table."""
    how = task.how
    system = _first_system(members, known)  # the others have its layout
    if system is not None and (system.drivers or system.data.closed):
        return _run_closed(task, cases, members, chunk, known) if table is None else None
    if len(members) < LEAST or system is None or system.body_names != task.bodies or system.redundant:
        return None if table is not None else []
    if not task.starts_in_time(system) or not joints_in_lanes(system, how):
        return []
    if table is None:
        table = table_of_recipes([known.recipes[case] for case in members])
    numbers = np.array(list(members))
    with np.errstate(all="ignore"):  # cases with extreme values are not good, and are built alone
        prepared = _prepared(task, cases, system, tree_of_lanes(system), numbers, table)
    return [] if prepared is None else numbers[run_prepared(task, prepared, numbers, chunk)].tolist()


def _first_system(members: dict[int, Deferred], known: Known) -> System | None:
    """The first system that can be built."""
    for case, deferred in members.items():
        _finish(case, deferred, known)
        if case in known.systems:
            return known.systems[case]
    return None


def _run_closed(task: Task, cases: Cases, members: dict[int, Deferred], chunk: Chunk, known: Known) -> list[int]:
    """Run the cases of a layout with closed loops or drivers; those that reached their end."""
    if any(task.quantities[name].role is not Role.ARGUMENT for name in cases):
        return []
    groups, done = dict[Hashable, list[int]](), list[int]()
    for case in members:
        if (shared := shared_parts(known.recipes[case])) is not None:
            groups.setdefault(shared, []).append(case)
    for group in groups.values():
        system = _first_system({case: members[case] for case in group}, known)
        if system is None or system.body_names != task.bodies or not closed_in_lanes(task, system):
            continue
        with np.errstate(all="ignore"):  # cases with extreme values are not good
            built = built_closed(system, [known.recipes[case] for case in group], task.how)
        if built is not None:
            numbers, system_of = np.array(group), partial(_system_of, task, cases, group)
            done += numbers[run_built_closed(task, cases, *built, system_of, numbers, chunk)].tolist()
    return sorted(done)


def _system_of(task: Task, cases: Cases, group: list[int], place: int) -> System:
    """The system of a case of a group."""
    return variant(task.system, row(cases, group[place]), task.quantities)[0]


def _prepared(
    task: Task, cases: Cases, system: System, tree: SpanningTree, numbers: Ints, table: CaseTable
) -> Prepared | None:
    """The cases of a layout, which have these numbers, with a system for each."""
    built = built_cases(system, table)
    count, states, parameters = len(numbers), built.states, quantities(system)
    limits = np.tile(given_limits([(system, np.zeros(1, int))], 1), (count, 1, 1))
    if built.limits is not None:
        for column, of in ((AHEAD, built.limits.edge), (FLAT_AHEAD, built.limits.flat), (MAX_MOMENT, built.limits.law)):
            limits[..., column : column + of.shape[2]] = of
    given = Given(system, tree, built.masses, built.inertias, built.gravity, limits, built.good)
    if built.forces is not None:
        _give_forces(given, built.forces, built.states, task.how)
    for name, values in cases.items():
        quantity = task.quantities[name]
        if quantity.role is Role.ARGUMENT:
            continue
        known = quantity.role is Role.COORDINATE or (quantity.owner_sort != "joint" and name in parameters)
        if not known or not given.take(quantity, np.asarray(values[numbers], float)):
            return None
    motions = built.joints.motions(states)
    where = geometry(tree.skeleton, motions, body_places(system.body_names), states_of_cases(states))
    z = _coordinates(system, tree, built, motions, where)
    good = given.good & of_one_batch(system, tree, where, z, states)
    if built.limits is not None:
        good &= _find_offsets(limits, built, tree, where, system)

    def system_of(k: int) -> System:
        return variant(task.system, row(cases, int(numbers[k])), task.quantities)[0]

    return Prepared(given, where, set_coordinates(z, given, where), limits, good, built.joints, system_of)


def _give_forces(given: Given, forces: ForceCases, states: Floats, how: Settings) -> None:
    """Give cases their loads, motors and forces; those that ``settings`` might refuse are not good."""
    given.forces = {whose: dict(own) for whose, own in forces.values.items()}
    references = states_of_cases(states)
    given.built = OwnForces({}, forces.constants, forces.tables, references)
    given.sets, which = signal_sets(forces.signals)
    given.set_of = np.array(which, np.int64)
    given.good &= (forces.spans[:, 0] <= how.t_start) & (how.t_end <= forces.spans[:, 1])
    given.good &= resolved_creeps(given.system, forces.values, references, how.rtol, how.atol)


def _coordinates(system: System, tree: SpanningTree, built: BuiltCases, motions: Any, where: Geometry) -> Floats:
    """Coordinates and rates (cases, n), 0 in the reference configuration, in which systems start."""
    states = built.states
    z: Floats = joint_coordinates(tree, system.body_names, motions, states, where.pose)
    if not tree.turns_and_slides:
        return z
    z[:, : z.shape[1] // 2] = 0.0
    z[~states.reshape(len(states), -1, STATE)[..., V:].any(axis=(1, 2))] = 0.0
    return z


def _find_offsets(limits: Floats, built: BuiltCases, tree: SpanningTree, where: Geometry, system: System) -> Bools:
    """Fill the offsets of limits (cases, limits, PARAMETERS); which cases have limits along the same coordinates."""
    of = built.limits
    assert of is not None
    z = random_coordinates(tree)
    trees = cases_of_tree(tree, where, built.masses, system.data.inertia[None, 1:], system.gravity[None])
    states = states_in_lanes(trees, np.tile(z, (len(limits), 1, 1)))
    angles = of.angles(states)
    limits[..., OFFSET] = angles[:, 0]
    good: Bools = np.all(of.flat > 0.0, axis=(1, 2))
    for k, (limit, q) in enumerate(zip(tree.limits, tree.limited_places[0], strict=True)):
        off = angles[..., k] - angles[:, :1, k] - limit.sign * z[:, q]
        good &= np.abs(off - 2.0 * np.pi * np.round(off / (2.0 * np.pi))).max(axis=1) < SAME_ANGLE
    return good


assert (BEHIND, FLAT_BEHIND, COMPLIANCE, DAMPING) == (AHEAD + 1, FLAT_AHEAD + 1, MAX_MOMENT + 1, MAX_MOMENT + 2)
