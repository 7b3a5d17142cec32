"""Cases that differ in masses, limits of motion and initial coordinates of joints alone: prepared without a system for each.

Their trees have the same geometry, so parameters of the kernel, constants and initial coordinates are arrays over all cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from runtime.dynamics.layout import P, R
from runtime.dynamics.lift import GROUND_STEP
from runtime.dynamics.status import Status
from runtime.ensemble.cases import Cases
from runtime.ensemble.joint_batch import given_limits, in_joints, memory_of_batch, of_bodies
from runtime.ensemble.task import Chunk, Stopped, Task
from runtime.integrate import batch
from runtime.integrate.balance_check import energies_of_motions, unbalanced_cases
from runtime.integrate.batch_parameters import COMPLIANCE, DAMPING, MAX_MOMENT, stored_energies
from runtime.integrate.tree_method import OFF_THE_ROWS, in_joint_coordinates, kernel_knows, kernel_of, off_the_rows
from runtime.support.arrays import Floats, Ints
from runtime.system.quantity import Quantity, Role
from runtime.system.spanning_tree import OF_GRAVITY, OF_STEP, SpanningTree, tree_parameters
from runtime.system.system import System

Bools = np.ndarray[Any, np.dtype[np.bool_]]
OF_LIMITS = {"max_moment": MAX_MOMENT, "compliance": COMPLIANCE, "damping": DAMPING}


def _is_plain(quantity: Quantity) -> bool:
    """A mass, or a parameter of the law of a limit."""
    return (quantity.owner_sort, quantity.part) == ("body", "mass") or (
        quantity.owner_sort == "limit" and quantity.part in OF_LIMITS
    )


@dataclass
class _Prepared:
    """Cases of a system, by columns of parameters and rows of initial coordinates and rates."""

    system: System
    tree: SpanningTree
    z: Floats  # (cases, n)
    parameters: Floats  # (parameters, cases) of the kernel
    masses: Floats  # (cases, bodies)
    limits: Floats  # (cases, limits, PARAMETERS)
    good: Bools  # (cases,) False: a value that breaks a rule

    def take(self, quantity: Quantity, values: Floats) -> bool:
        """Give all cases their values of a quantity; False if it changes more than these arrays."""
        if quantity.role is Role.COORDINATE:
            return self._take_coordinate(quantity, values)
        if not _is_plain(quantity):
            return False
        if quantity.owner_sort == "body":
            self._take_mass(self.system.body_index(quantity.owner), values)
            return True
        least = values >= 0.0 if quantity.part == "damping" else values > 0.0
        self.good &= least & np.isfinite(values)
        self.limits[:, self.system.limit_names.index(quantity.owner), OF_LIMITS[quantity.part]] = values
        return True

    def _take_coordinate(self, quantity: Quantity, values: Floats) -> bool:
        joint, _, column = quantity.owner.rpartition(".")
        place = list(self.system.joint_motions[joint].units).index(column)
        steps = [k for k, c in enumerate(self.tree.coordinates) if (c.joint, c.place) == (joint, place)]
        if not steps:
            return False
        offset = len(self.tree.kinds) if quantity.part == "rate" else 0
        self.z[:, steps[0] + offset] = self.tree.coordinates[steps[0]].sign * values
        self.good &= np.isfinite(values)
        return True

    def _take_mass(self, body: int, values: Floats) -> None:
        self.good &= (values > 0.0) & np.isfinite(values)
        step, more = self.tree.body_step[body], values - self.masses[:, body]
        self.masses[:, body] = values
        if step == GROUND_STEP:
            return
        arm, o = self.tree.pose[body, R:P] - self.tree.point[step], OF_GRAVITY + OF_STEP * step
        about = (arm @ arm * np.eye(3) - np.outer(arm, arm))[np.triu_indices(3)]
        self.parameters[o + 6 : o + OF_STEP] += np.outer([1.0, *arm, *about], more)

    def constants(self) -> Floats:
        """Constants of the kernel, (cases, constants)."""
        module = kernel_of(self.tree)
        found = np.zeros((module.CONSTANTS, len(self.z)))
        module.prepare(self.parameters, found)
        return np.ascontiguousarray(found.T)


def _prepared(task: Task, cases: Cases) -> _Prepared | None:
    """The cases, unless they differ in more than this module knows."""
    system, how = task.system, task.how
    if not isinstance(system, System) or task.gpu or how.t_start != system.time:
        return None
    if not in_joint_coordinates(system, how) or not kernel_knows(system) or system.tree is None:
        return None
    tree, count = system.tree, len(next(iter(cases.values())))
    if any(task.quantities[name].role not in (Role.COORDINATE, Role.PARAMETER) for name in cases):
        return None
    everywhere = [(system, np.arange(1))]
    z = in_joints(everywhere, system.state.y[None])
    if off_the_rows(of_bodies(everywhere, z[:, None])[0, 0], system.state.y) > OFF_THE_ROWS:
        return None
    prepared = _Prepared(
        system, tree, np.tile(z, (count, 1)), np.tile(np.array(tree_parameters(tree, system.gravity))[:, None], (1, count)),
        np.tile(system.data.mass[1:], (count, 1)), given_limits([(system, np.arange(count))], count), np.ones(count, bool),
    )  # fmt: skip
    taken = all(prepared.take(task.quantities[name], np.asarray(values, float)) for name, values in cases.items())
    return prepared if taken else None


def run_at_once(task: Task, cases: Cases, chunk: Chunk) -> list[int] | None:
    """Run the cases of a chunk side by side; those to be run alone.  None where cases differ in more than this module knows."""
    prepared = _prepared(task, cases)
    if prepared is None:
        return None
    at = np.flatnonzero(prepared.good)
    if len(at):
        good = _run(task, prepared, at, chunk)
        prepared.good[at[~good]] = False
    return [int(case) for case in np.flatnonzero(~prepared.good)]


def _run(task: Task, prepared: _Prepared, at: Ints, chunk: Chunk) -> Bools:
    """Integrate the cases at these places; which of them reached their end."""
    s, system, z, limits = task.how, prepared.system, prepared.z[at], prepared.limits[at]
    constants = prepared.constants()[at]
    given, results = batch.arguments(s, z, constants)
    memory, of_limits = memory_of_batch(system, z.shape[1], constants.shape[1], limits)
    batch.run(kernel_of(prepared.tree), "lanes", memory, *given, *results, task.stop)
    if task.stop[0]:
        raise Stopped
    good: Bools = results.status == Status.REACHED_END
    ends = z[:, None] if of_limits is None else of_limits.final[:, None]
    motions = of_bodies([(system, np.arange(len(at)))], np.concatenate([z[:, None], results.out, ends], axis=1))
    kept = at[good]
    chunk.keep(kept, motions[good, 1:-1], results.counts[good], results.reached[good])
    times, work = np.append(s.t_start, s.t or ()), np.zeros((len(at), motions.shape[1] - 1))
    stored: Floats | float = 0.0
    states = motions[:, :-1]
    if of_limits is not None:  # the work of dampers is known at the end
        times, states = np.array([s.t_start, s.t_end]), motions[:, [0, -1]]
        work = np.outer(of_limits.work, [0.0, 1.0])
        stored = stored_energies(limits, np.stack([z, of_limits.final], axis=1)[..., of_limits.q])
    energies = energies_of_motions(system.data, prepared.masses[at], states, stored)
    found = unbalanced_cases(system.data, s, chunk.counts[kept, 1], times, energies[good], work[good])
    chunk.remark(kept, found, s.t_end)
    return good
