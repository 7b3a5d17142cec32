"""Cases that differ in gravity, parameters of bodies, joints and limits, and coordinates: prepared without a system for each.

Geometry and masses of their trees, parameters of the kernel, constants and initial coordinates are arrays over all cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from runtime.dynamics.equations import shared_workspace_for
from runtime.dynamics.layout import STATE, V
from runtime.dynamics.limits import angles_of_limits
from runtime.dynamics.limits_along import constants_of_each
from runtime.ensemble.cases import Cases
from runtime.ensemble.contact_batch import ContactEvents
from runtime.ensemble.given import Given, given_cases, system_of_case
from runtime.ensemble.given_coordinates import set_coordinates
from runtime.ensemble.joint_batch import (
    NONE_COUNTED,
    Acting,
    TreeRuns,
    cases_of_tree,
    contacts_in_lanes,
    energies_in_lanes,
    forces_of_system,
    has_parameters,
    in_joints,
    of_bodies,
    of_one_batch,
    run_trees,
    states_in_lanes,
    stored_in_lanes,
    trees_of_system,
)
from runtime.ensemble.task import Task
from runtime.ensemble.velocities import coordinates_with_velocities, only_velocities
from runtime.integrate.batches.parameters import OFFSET, SIGN
from runtime.integrate.tree_method import (
    OFF_THE_ROWS,
    by_recursion,
    kernel_of,
    off_the_rows,
    tree_constants,
    tree_of_lanes,
)
from runtime.integrate.written.equation_parameters import equations_of_cases
from runtime.integrate.written.force_parameters import Values, parameters_of_cases
from runtime.lanes.lift import CasesOfTree
from runtime.lanes.tree_constants import TreeCases, constants_of_trees
from runtime.support.arrays import Bools, Floats, Ints
from runtime.support.latest import Latest
from runtime.system.joint_cases import JointCases, joint_cases
from runtime.system.joint_motion import JointMotion
from runtime.system.limits_along import SAME_ANGLE, random_coordinates
from runtime.system.reference import body_places, states_with_ground
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.tree_coordinates import joint_coordinates
from runtime.system.tree_geometry import Geometry, carried, geometry
from runtime.system.variants import with_reference


@dataclass(frozen=True)
class Prepared:
    """Cases whose trees, initial coordinates and rates are known."""

    given: Given
    where: Geometry  # of all cases, or one for all
    z: Floats  # (cases, n) coordinates and rates
    limits: Floats  # (cases, limits, PARAMETERS)
    good: Bools  # (cases,)
    joints: JointCases | None  # None: the same for all
    system_of: Callable[[int], System]  # of a case
    # (cases, n) coordinates in the reference configurations of cases, where results do not count from those of the trees
    turned: Floats | None = None
    shown: Floats | None = None  # (cases, limits, PARAMETERS) of results, where others restrain the coordinates

    def constants(self, at: Ints) -> Floats:
        """Constants of the kernel (cases, constants) of the cases at these places; one row if all have the same."""
        given = self.given
        if by_recursion(given.system):
            return np.zeros((1, constants_of_each(given.tree.limits) * len(given.tree.limits)))
        if self.joints is None and not given.varied:
            return constants_of_system(given.system)
        inertias = given.inertias if given.inertias.ndim == 4 else given.inertias[None]
        steps, gravity = given.tree.skeleton, np.atleast_2d(given.gravity)
        cases = TreeCases(
            np.array(steps.parents), np.array(steps.body_step), *self.where, given.masses, inertias, gravity
        )
        return np.ascontiguousarray(constants_of_trees(kernel_of(given.tree), cases)[at])

    def acting(self, at: Ints) -> Acting:
        """Parameters of what acts on the cases at these places."""
        given, limits = self.given, of_places(self.limits, at)
        if not has_parameters(given.system):
            return Acting(limits, None)
        own = given.forces if len(at) == len(given.good) else given.forces_at(at)
        where = self.where if self.joints is None else _of(self.where, at)
        forces = forces_of_system(given.system, self._parameters(where, own, at))
        return Acting(limits, forces, general=self.joints is not None or given.inertias.ndim == 4)

    def _parameters(self, where: Geometry, own: Values, at: Ints) -> Floats:
        """Parameters (cases or 1, parameters) of the compiled code of forces, or of the equations."""
        given = self.given
        if not by_recursion(given.system):
            return parameters_of_cases(given.system, where, own)
        load = given.tree.carried
        if given.varied or self.joints is not None:
            inertias = given.inertias if given.inertias.ndim == 3 else given.inertias[at]
            load = carried(where, given.tree.skeleton, given.masses[at], inertias)
        gravity = given.gravity[None] if given.gravity.ndim == 1 else given.gravity[at]
        return equations_of_cases(given.system, where, load, gravity, own)

    def integrated(self, task: Task, at: Ints, trees: CasesOfTree) -> TreeRuns:
        """The runs of the cases at these places, whose trees these are."""
        runs = run_trees(task, self.given.system, of_places(self.z, at), self.constants(at), self.acting(at))
        if self.joints is not None:
            ends = states_in_lanes(trees, runs.path[:, -1:])[:, 0]
            runs = runs._replace(good=runs.good & self.joints.of(at).on_the_rows(ends))
        return runs

    def energies(
        self, at: Ints, z: Floats, times: Floats, events: ContactEvents | None, counted: Floats = NONE_COUNTED
    ) -> Floats:
        """Energies (cases, times, 3) of the cases at these places, at coordinates and rates z (cases, times, n).

        counted : as of ``TreeRuns``
        """
        states = np.concatenate([z, np.zeros((*z.shape[:2], 1)), counted], axis=2) if counted.size else z
        stored = stored_in_lanes(self.given.system, states, times, self.acting(at)._replace(events=events))
        return energies_in_lanes(self.trees(at), z, stored)

    def contacts(self, at: Ints, z: Floats, times: Floats, events: ContactEvents) -> Floats:
        """What is measured of contacts of the cases at these places, at coordinates and rates z (cases, times, n)."""
        return contacts_in_lanes(self.given.system, z, times, self.acting(at)._replace(events=events))

    @contextmanager
    def derived(
        self, task: Task, at: Ints, states: Callable[[], Floats], events: Any, counted: Floats | None
    ) -> Iterator[Any]:
        """What follows by the equations of the cases at these places from their states; None: nothing.

        counted : as of ``TreeRuns``, where there are such angles
        """
        yield None

    def angles(self, at: Ints, z: Floats) -> Floats:
        """Coordinates and rates, and states of forces (cases, ..., any), of results of the cases at these places."""
        if self.turned is None:
            return z
        turned, n = z.copy(), self.turned.shape[1]
        turned[..., :n] -= self.turned[at].reshape(len(at), *[1] * (z.ndim - 2), n)
        return turned

    def at_start(self, at: Ints) -> Floats:
        """States at the start (cases, 13 bodies) of the cases at these places."""
        start: Floats = self.states(at, self.z[at][:, None])[:, 0]
        return start

    def states(self, at: Ints, z: Floats) -> Floats:
        """States (cases, times, 13 bodies) of the cases at these places, at coordinates and rates z (cases, times, n)."""
        return states_in_lanes(self.trees(at), z)

    def trees(self, at: Ints) -> CasesOfTree:
        """Geometry and masses of the cases at these places."""
        given, alike = self.given, self.joints is None
        if alike and not given.varied:
            return trees_of_system(given.system)
        where = self.where if len(self.where.pose) == 1 else _of(self.where, at)
        inertias = given.inertias[None] if given.inertias.ndim == 3 else given.inertias[at]
        gravity = given.gravity[None] if given.gravity.ndim == 1 else given.gravity[at]
        return cases_of_tree(given.tree, where, given.masses[at], inertias, gravity)


constants_of_system = Latest(
    lambda system: tree_constants(tree_of_lanes(system), system.gravity)[None], 4
)  # (1, constants)


def of_places(values: Any, at: Ints) -> Any:
    """Rows of the cases at these places, in order; not copied where these are all."""
    return values if len(at) == len(values) else values[at]


def _of(where: Geometry, at: Ints) -> Geometry:
    return Geometry(where.axis[at], where.point[at], where.pose[at])


def with_joints_of_system(given: Given, states: Floats, good: Bools, system_of: Callable[[int], System]) -> Prepared:
    """The cases with the joints of their system, from states (cases or 1, 13 bodies) on, of which these are good."""
    everywhere = [(given.system, np.arange(len(states)))]
    z = in_joints(everywhere, states)
    off = off_the_rows(of_bodies(everywhere, z[:, None])[:, 0], states)
    z = set_coordinates(np.tile(z, (len(given.good) // len(z), 1)), given, given.tree.geometry)
    good = good & (off <= OFF_THE_ROWS)
    return Prepared(given, given.tree.geometry, z, given.limits, good, None, system_of)


def _with_velocities(given: Given, task: Task, cases: Cases, system_of: Callable[[int], System]) -> Prepared:
    """The cases with velocities of their own."""
    z, good = coordinates_with_velocities(task, cases)
    return Prepared(given, given.tree.geometry, z, given.limits, good, None, system_of)


def with_joints(given: Given, system_of: Callable[[int], System], *, assemble: bool) -> Prepared:
    """The cases with joints of their own, assembled; without ``assemble``, those whose rows the state of the system satisfies."""
    system, tree = given.system, given.tree
    joints = joint_cases(system, given.joints, given.masses, given.inertias)
    states = np.tile(system.state.y, (len(given.good), 1))
    if assemble or given.coordinates or given.balls:
        states, good = joints.assembled(system.state.y)
    else:
        good = joints.on_the_rows(states)
    states = reference = states if good.all() else np.where(good[:, None], states, system.state.y)
    if system.reference is not None or not assemble:
        reference, also = joints.assembled_on_joints(system.reference_configuration.y)
        good &= also
    motions = joints.motions(reference)
    where = geometry(tree.skeleton, motions, body_places(system.body_names), states_with_ground(reference))
    z = _coordinates(given, motions, states, reference, where)
    good &= given.good & of_one_batch(system, tree, where, z, states)
    limits = given.limits.copy()
    if tree.limits:
        limits[..., OFFSET] = _angles(system, reference)
        good &= _are_along(system, where, limits)

    def on_the_rows(k: int) -> System:
        return with_reference(system_of(k), State(system.body_names, reference[k]))

    z = set_coordinates(z, given, where)
    return Prepared(given, where, z, limits, good, joints, on_the_rows)


def _coordinates(
    given: Given, motions: Mapping[str, JointMotion], states: Floats, reference: Floats, where: Geometry
) -> Floats:
    """Coordinates and rates (cases, n) in states (cases, 13 bodies)."""
    if states is reference and not states.reshape(len(states), -1, STATE)[..., V:].any():
        return np.tile(given.tree.at_reference, (len(states), 1))
    return joint_coordinates(given.tree, given.system.body_names, motions, states, where.pose)


def _are_along(system: System, where: Geometry, limits: Floats) -> Bools:
    """Which cases of these geometries have limits (cases, limits, PARAMETERS) along coordinates, by one pose at random ones."""
    tree, data, count = tree_of_lanes(system), system.data, len(limits)
    z = random_coordinates(tree)[1]
    trees = cases_of_tree(tree, where, data.mass[None, 1:], data.inertia[None, 1:], system.gravity[None])
    angles = _angles(system, states_in_lanes(trees, np.tile(z, (count, 1, 1)))[:, 0])
    off = limits[..., SIGN] * z[tree.limited_places[0]] + limits[..., OFFSET] - angles
    along: Bools = (np.abs(off - 2.0 * np.pi * np.round(off / (2.0 * np.pi))) < SAME_ANGLE).all(axis=1)
    return along


def _angles(system: System, states: Floats) -> Floats:
    """Angles of all limits (cases, limits) [rad] in states (cases, 13 bodies)."""
    found = np.empty((len(states), len(system.limits)))
    angles_of_limits(np.ascontiguousarray(states), system.data, shared_workspace_for(system.data), found)
    return found


def prepared_trees(task: Task, system: System, cases: Cases) -> Prepared | None:
    """The cases of a system whose trees run side by side; None where they differ in more than this module knows."""
    if (given := given_cases(task, system, cases)) is None:
        return None
    system_of = partial(system_of_case, task, cases)
    if only_velocities(task, cases):
        return _with_velocities(given, task, cases, system_of)
    if given.joints:
        return with_joints(given, system_of, assemble=task.assemble)
    prepared = with_joints_of_system(given, system.state.y[None], np.ones_like(given.good), system_of)
    if not prepared.good.any():
        return None  # the state of the system is off its coordinates
    prepared.good[:] &= given.good
    return prepared
