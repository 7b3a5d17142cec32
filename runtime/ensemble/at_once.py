"""Cases that differ in gravity, parameters of bodies, joints and limits, and coordinates: prepared without a system for each.

Geometry and masses of their trees, parameters of the kernel, constants and initial coordinates are arrays over all cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.layout import STATE, V
from runtime.dynamics.limits import angles_of_limits
from runtime.dynamics.status import Status
from runtime.ensemble.cases import Cases, row
from runtime.ensemble.joint_batch import (
    cases_of_tree,
    energies_in_lanes,
    given_limits,
    in_joints,
    integrate,
    memory_of_batch,
    of_bodies,
    of_one_batch,
    states_in_lanes,
    trees_of_system,
    turns_in_lanes,
)
from runtime.ensemble.kept_outputs import BatchQuantities, blocks_of, columns_of_batch
from runtime.ensemble.task import Chunk, Task
from runtime.ensemble.velocities import coordinates_with_velocities, only_velocities
from runtime.integrate.balance_check import unbalanced_cases, weights_of
from runtime.integrate.batches import batch
from runtime.integrate.batches.parameters import COMPLIANCE, DAMPING, MAX_MOMENT, OFFSET, SIGN, stored_energies
from runtime.integrate.tree_method import (
    OFF_THE_ROWS,
    in_joint_coordinates,
    kernel_of,
    lanes_know,
    off_the_rows,
    tree_constants,
)
from runtime.lanes.lift import CasesOfTree
from runtime.lanes.tree_constants import TreeCases, constants_of_trees
from runtime.support.arrays import Bools, Floats, Ints
from runtime.support.latest import Latest
from runtime.support.numbers import LARGEST
from runtime.system.joint_cases import JointCases, joint_cases, sound_inertias, states_of_cases
from runtime.system.joint_motion import JointMotion
from runtime.system.limits_along import SAME_ANGLE
from runtime.system.parameters import replace_parameters
from runtime.system.quantity import GRAVITY, INERTIA, Quantity, Role
from runtime.system.reference import body_places
from runtime.system.spanning_tree import SpanningTree, joint_coordinates
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.tree_geometry import Geometry, geometry
from runtime.system.variants import with_reference

OF_LIMITS = {"max_moment": MAX_MOMENT, "compliance": COMPLIANCE, "damping": DAMPING}


@dataclass
class Given:
    """The values of cases of a system, by columns."""

    system: System
    tree: SpanningTree
    masses: Floats  # (cases, bodies)
    inertias: Floats  # (bodies, 3, 3), or (cases, bodies, 3, 3)
    gravity: Floats  # (3,), or (cases, 3)
    limits: Floats  # (cases, limits, PARAMETERS)
    good: Bools  # (cases,) False: a value that breaks a rule
    joints: dict[str, dict[str, Floats]] = field(default_factory=dict)  # joint -> keyword -> values
    coordinates: dict[int, Floats] = field(default_factory=dict)  # by the place among coordinates and rates
    varied: bool = False  # masses, inertias or gravity

    def take(self, quantity: Quantity, values: Floats) -> bool:
        """Give all cases their values of a quantity, but those that break a rule; False if it changes more than these arrays."""
        fits: Bools = np.all(np.abs(values.reshape(len(values), -1)) <= LARGEST, axis=1)
        if quantity.owner_sort == "joint" and quantity.role is Role.PARAMETER:
            self.good &= fits
            return self._take_data_of_joint(quantity, values)
        if quantity.owner_sort in ("body", "limit"):
            fits &= self._allowed(quantity, np.where(fits.reshape(-1, *[1] * (values.ndim - 1)), values, 0.0))
        self.good &= fits
        if quantity.role is Role.COORDINATE:
            return self._take_coordinate(quantity, np.where(fits, values, 0.0))
        self.varied |= quantity.owner_sort == "body" or quantity.part == GRAVITY
        if quantity.owner_sort == "body":
            self._take_data_of_body(self.system.body_index(quantity.owner), quantity.part, values, fits)
        elif quantity.part == GRAVITY:
            self.gravity = np.where(fits[:, None], values, self.system.gravity)
        elif quantity.owner_sort == "limit" and quantity.part in OF_LIMITS:
            self.limits[fits, self.system.limit_names.index(quantity.owner), OF_LIMITS[quantity.part]] = values[fits]
        else:
            return False
        return True

    @staticmethod
    def _allowed(quantity: Quantity, values: Floats) -> Bools:
        """Which values of a body or limit break no rule."""
        if quantity.part == INERTIA:
            return sound_inertias(_matrices(values))
        flat = values.reshape(len(values), -1)
        allowed: Bools = np.all(flat >= 0.0 if quantity.part == "damping" else flat > 0.0, axis=1)
        return allowed

    def _take_coordinate(self, quantity: Quantity, values: Floats) -> bool:
        joint, _, column = quantity.owner.rpartition(".")
        place = list(self.system.joint_motions[joint].units).index(column)
        steps = [k for k, c in enumerate(self.tree.coordinates) if (c.joint, c.place) == (joint, place)]
        if not steps:
            return False
        offset = len(self.tree.kinds) if quantity.part == "rate" else 0
        self.coordinates[steps[0] + offset] = self.tree.coordinates[steps[0]].sign * values
        return True

    def _take_data_of_body(self, body: int, part: str, values: Floats, fits: Bools) -> None:
        if part == "mass":
            self.masses[fits, body] = values[fits]
            return
        if self.inertias.ndim == 3:
            self.inertias = np.tile(self.inertias, (len(values), 1, 1, 1))
        matrices = _matrices(values)[fits]
        self.inertias[fits, body] = 0.5 * (matrices + np.swapaxes(matrices, 1, 2))

    def _take_data_of_joint(self, quantity: Quantity, values: Floats) -> bool:
        used = [limit.module.BORROWS for limit in self.system.limits if limit.joint == quantity.owner]
        if any(quantity.part in borrowed for borrowed in used):
            return False
        self.joints.setdefault(quantity.owner, {})[quantity.part] = values
        return True

    def weights(self, at: Ints) -> tuple[Floats, Floats]:
        """Mass [kg] and gravity [m/s^2] of the cases at these places."""
        return weights_of(self.masses[at], self.gravity if self.gravity.ndim == 1 else self.gravity[at])


@dataclass(frozen=True)
class Prepared:
    """Cases whose trees, initial coordinates and rates are known."""

    given: Given
    where: Geometry  # of all cases, or one for all
    z: Floats  # (cases, n) coordinates and rates
    limits: Floats  # (cases, limits, PARAMETERS)
    good: Bools  # (cases,)
    joints: JointCases | None  # None: the same for all
    # Of limits (cases, limits) [rad] of cases at places, in states (cases, 13 bodies).
    angles: Callable[[Ints, Floats], Floats]
    system_of: Callable[[int], System]  # of a case

    def constants(self, at: Ints) -> Floats:
        """Constants of the kernel (cases, constants) of the cases at these places; one row if all have the same."""
        given = self.given
        if self.joints is None and not given.varied:
            return constants_of_system(given.system)
        inertias = given.inertias if given.inertias.ndim == 4 else given.inertias[None]
        steps, gravity = given.tree.skeleton, np.atleast_2d(given.gravity)
        cases = TreeCases(
            np.array(steps.parents), np.array(steps.body_step), *self.where, given.masses, inertias, gravity
        )
        return np.ascontiguousarray(constants_of_trees(kernel_of(given.tree), cases)[at])

    def states(self, at: Ints, z: Floats) -> Floats:
        """States (cases, times, 13 bodies) of the cases at these places, at coordinates and rates z (cases, times, n)."""
        return states_in_lanes(self.trees(at), z)

    def trees(self, at: Ints) -> CasesOfTree:
        """Geometry and masses of the cases at these places."""
        given, alike = self.given, self.joints is None
        if alike and not given.varied:
            return trees_of_system(given.system)
        where = self.where if alike else _of(self.where, at)
        inertias = given.inertias[None] if given.inertias.ndim == 3 else given.inertias[at]
        gravity = given.gravity[None] if given.gravity.ndim == 1 else given.gravity[at]
        return cases_of_tree(given.tree, where, given.masses[at], inertias, gravity)


def _matrices(inertias: Floats) -> Floats:
    """Inertias (cases, 3, 3) of those given as such, or as principal moments (cases, 3)."""
    return inertias[:, :, None] * np.eye(3) if inertias.ndim == 2 else inertias


constants_of_system = Latest(lambda system: tree_constants(system.tree, system.gravity)[None], 4)  # (1, constants)


def _of_places(values: Any, at: Ints) -> Any:
    """Rows of the cases at these places, in order; not copied where these are all."""
    return values if len(at) == len(values) else values[at]


def _of(where: Geometry, at: Ints) -> Geometry:
    return Geometry(where.axis[at], where.point[at], where.pose[at])


def _values(task: Task, cases: Cases) -> Given | None:
    """The values of the cases, unless they differ in more than this module knows."""
    system, how = task.system, task.how
    if not isinstance(system, System) or how.t_start != system.time:
        return None
    if not in_joint_coordinates(system, how) or not lanes_know(system) or system.tree is None:
        return None
    count = len(next(iter(cases.values())))
    moving = only_velocities(task, cases)
    if not moving and any(task.quantities[name].role not in (Role.COORDINATE, Role.PARAMETER) for name in cases):
        return None
    given = Given(
        system, system.tree, np.tile(system.data.mass[1:], (count, 1)), system.data.inertia[1:], system.gravity,
        given_limits([(system, np.arange(count))], count), np.ones(count, bool),
    )  # fmt: skip
    taken = moving or all(
        given.take(task.quantities[name], np.asarray(values, float)) for name, values in cases.items()
    )
    return given if taken else None


def _prepared(given: Given, system_of: Callable[[int], System]) -> Prepared | None:
    """The cases with the joints of the system; None where its own state is off their coordinates."""
    system, tree, count = given.system, given.tree, len(given.good)
    everywhere = [(system, np.arange(1))]

    z = in_joints(everywhere, system.state.y[None])
    if off_the_rows(of_bodies(everywhere, z[:, None])[0, 0], system.state.y) > OFF_THE_ROWS:
        return None
    z = set_coordinates(np.tile(z, (count, 1)), given)
    return Prepared(given, tree.geometry, z, given.limits, given.good, None, _angles_of(system), system_of)


def _with_velocities(given: Given, task: Task, cases: Cases, system_of: Callable[[int], System]) -> Prepared:
    """The cases with velocities of their own."""
    z, good = coordinates_with_velocities(task, cases)
    return Prepared(given, given.tree.geometry, z, given.limits, good, None, _angles_of(given.system), system_of)


def set_coordinates(z: Floats, given: Given) -> Floats:
    """Coordinates and rates with the given ones."""
    for place, values in given.coordinates.items():
        z[:, place] = values
    return z


def _with_joints(given: Given, system_of: Callable[[int], System], *, assemble: bool) -> Prepared:
    """The cases with joints of their own, assembled; without ``assemble``, those whose rows the state of the system satisfies."""
    system, tree = given.system, given.tree
    joints = joint_cases(system, given.joints, given.masses, given.inertias)
    states = np.tile(system.state.y, (len(given.good), 1))
    if assemble or given.coordinates:
        states, good = joints.assembled(system.state.y)
    else:
        good = joints.on_the_rows(states)
    states = reference = states if good.all() else np.where(good[:, None], states, system.state.y)
    if system.reference is not None or not assemble:
        reference, also = joints.assembled(system.reference_configuration.y)
        good &= also
    motions = joints.motions(reference)
    where = geometry(tree.skeleton, motions, body_places(system.body_names), states_of_cases(reference))
    z = _coordinates(given, motions, states, reference)
    good &= given.good & joints.good & of_one_batch(system, tree, where, z, states)
    limits = given.limits.copy()
    if tree.limits:
        limits[..., OFFSET] = _angles(system, reference)

    def on_the_rows(k: int) -> System:
        return with_reference(system_of(k), State(system.body_names, reference[k]))

    z = set_coordinates(z, given)
    return Prepared(given, where, z, limits, good, joints, _angles_of(system), on_the_rows)


def _coordinates(given: Given, motions: Mapping[str, JointMotion], states: Floats, reference: Floats) -> Floats:
    """Coordinates and rates (cases, n) in states (cases, 13 bodies); all are 0 in the reference configuration."""
    if states is reference and not states.reshape(len(states), -1, STATE)[..., V:].any():
        return np.zeros((len(states), 2 * len(given.tree.kinds)))  # kernels of cases have turns and slides alone
    return joint_coordinates(given.tree, given.system.body_names, motions, states)


def _angles_of(system: System) -> Callable[[Ints, Floats], Floats]:
    """``Prepared.angles`` where all cases have the limits of a system."""
    return lambda _, states: _angles(system, states)


def _angles(system: System, states: Floats) -> Floats:
    """Angles of all limits (cases, limits) [rad] in states (cases, 13 bodies)."""
    found = np.empty((len(states), len(system.limits)))
    angles_of_limits(np.ascontiguousarray(states), system.data, shared_workspace_for(system.data), found)
    return found


def run_at_once(task: Task, cases: Cases, chunk: Chunk) -> list[int] | None:
    """Run the cases of a chunk side by side; those to be run alone.  None where cases differ in more than this module knows."""
    if (given := _values(task, cases)) is None:
        return None

    def system_of(k: int) -> System:
        values = row(cases, k)
        own = {name: value for name, value in values.items() if task.quantities[name].role is Role.PARAMETER}
        return replace_parameters(given.system, own) if own else given.system

    if only_velocities(task, cases):
        prepared: Prepared | None = _with_velocities(given, task, cases, system_of)
    elif given.joints:
        prepared = _with_joints(given, system_of, assemble=task.assemble)
    else:
        prepared = _prepared(given, system_of)
    if prepared is None:
        return None
    return np.flatnonzero(~run_prepared(task, prepared, np.arange(len(prepared.good)), chunk)).tolist()


def run_prepared(task: Task, prepared: Prepared, numbers: Ints, chunk: Chunk) -> Bools:
    """Integrate the good ones of prepared cases, which are those of these numbers in a chunk; which of them reached their end."""
    good, at = prepared.good.copy(), np.flatnonzero(prepared.good)
    if len(at):
        good[at] = _run(task, prepared, at, numbers, chunk)
    return good


def _run(task: Task, prepared: Prepared, at: Ints, numbers: Ints, chunk: Chunk) -> Bools:
    """``run_prepared`` for cases at these places."""
    how, tree, trees = task.how, prepared.given.tree, prepared.trees(at)
    z, limits, constants = _of_places(prepared.z, at), _of_places(prepared.limits, at), prepared.constants(at)
    given, results = batch.arguments(how, z, constants)
    memory, of_limits = memory_of_batch(prepared.given.system, z.shape[1], constants.shape[1], limits)
    integrate(task, kernel_of(tree), memory, *given, *results)
    good: Bools = results.status == Status.REACHED_END
    times, path = np.append(how.t_start, how.t or ()), np.concatenate([z[:, None], results.out], axis=1)
    work, stored = np.zeros((2, *path.shape[:2]))
    if of_limits is not None:  # the work of dampers is known at the end
        times, path = np.array([how.t_start, how.t_end]), np.stack([z, of_limits.final], axis=1)
        work = np.outer(of_limits.work, [0.0, 1.0])
        stored = stored_energies(limits, path[..., of_limits.q])
    if prepared.joints is not None:
        good &= _on_the_rows(prepared, at, path[:, -1], states_in_lanes(trees, path[:, -1:])[:, 0])
    ended = np.flatnonzero(good)
    kept, counts = at[ended], _of_places(results.counts, ended)
    if task.outputs is not None:
        found: Floats | None = _columns(task, prepared, kept, numbers, results.out[ended], chunk)
        energies = energies_in_lanes(trees, path, stored)
    else:
        found, to = None, np.where(good, numbers[at], -1)
        chunk.keep_turns(task, numbers[kept], turns_in_lanes(tree, z[ended], results.out[ended]).quarters)
        if of_limits is None:
            energies = energies_in_lanes(trees, path, stored, chunk.states, to)
        else:
            energies = energies_in_lanes(trees, path, stored)
            states_in_lanes(trees, results.out, chunk.states, to)
    chunk.keep(numbers[kept], found, counts, results.reached[ended])
    weight, of_sources = prepared.given.weights(kept), _of_places(work, ended)
    remarks = unbalanced_cases(weight, how, counts[:, 1], times, _of_places(energies, ended), of_sources)
    chunk.remark(numbers[kept], remarks, how.t_end)
    return good


def _columns(task: Task, prepared: Prepared, kept: Ints, numbers: Ints, z: Floats, chunk: Chunk) -> Floats:
    """Outputs (cases, columns) of the cases at these places, from coordinates and rates (cases, times, n)."""
    blocks = blocks_of(len(kept), z.shape[1] * len(prepared.given.system.state.y))
    return np.concatenate([_columns_of_block(task, prepared, kept[b], numbers, z[b], chunk) for b in blocks])


def _columns_of_block(task: Task, prepared: Prepared, kept: Ints, numbers: Ints, z: Floats, chunk: Chunk) -> Floats:
    """``_columns`` of a block of cases."""
    given, limits = prepared.given, prepared.limits[kept]
    assert task.outputs is not None
    if not len(kept):
        return np.zeros((0, *task.kept_shape))

    # No function refers to itself through another: arrays of a chunk would stay until the next collection of cycles.
    @lru_cache(1)
    def states() -> Floats:
        return prepared.states(kept, z)

    def energies() -> Floats:
        stored = stored_energies(limits, z[..., [limit.step for limit in given.tree.limits]])
        return energies_in_lanes(prepared.trees(kept), z, stored)

    def system_of(k: int) -> System:
        return prepared.system_of(int(kept[k]))

    def say(k: int, text: str) -> None:
        chunk.messages[chunk.first + int(numbers[kept[k]])] = text

    quantities = BatchQuantities(given.system, states, energies, given.tree, z, prepared.z[kept], limits)
    return columns_of_batch(task.outputs, task.how, quantities, system_of, say)


def _on_the_rows(prepared: Prepared, at: Ints, z: Floats, states: Floats) -> Bools:
    """Which of the cases at these places satisfy the rows of their joints, and the angles of their limits, at the end."""
    assert prepared.joints is not None
    good, tree = prepared.joints.of(at).on_the_rows(states), prepared.given.tree
    if tree.limits:
        q = [limit.step for limit in tree.limits]
        off = prepared.limits[at, :, SIGN] * z[:, q] + prepared.limits[at, :, OFFSET] - prepared.angles(at, states)
        good &= (np.abs(off - 2.0 * np.pi * np.round(off / (2.0 * np.pi))) < SAME_ANGLE).all(axis=1)
    return good
