"""The values of cases of a system as arrays, where they differ in what lanes read: no case has a system of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from runtime.dynamics.lift import GROUND_STEP
from runtime.ensemble.cases import Cases, row
from runtime.ensemble.columns import columns_of
from runtime.ensemble.joint_batch import given_limits
from runtime.ensemble.task import Task
from runtime.ensemble.velocities import only_velocities
from runtime.integrate.balance_check import weights_of
from runtime.integrate.batches.parameters import COMPLIANCE, DAMPING, MAX_MOMENT, PARAMETERS
from runtime.integrate.transition_velocities import TRANSITION_VELOCITY
from runtime.integrate.tree_method import tree_of_lanes
from runtime.integrate.written.force_parameters import Values, takes_values
from runtime.support.arrays import Bools, Floats, Ints
from runtime.system.coordinate_steps import step_along
from runtime.system.parameters import replace_parameters
from runtime.system.quantity import GRAVITY, Quantity, Role
from runtime.system.spanning_tree import SpanningTree
from runtime.system.system import System

OF_LIMITS = {"max_moment": MAX_MOMENT, "compliance": COMPLIANCE, "damping": DAMPING}


@dataclass
class Given:
    """The values of cases of a system, by columns."""

    system: System
    tree: SpanningTree
    masses: Floats  # (cases, bodies); those that only move have one row, broadcast
    inertias: Floats  # (bodies, 3, 3), or (cases, bodies, 3, 3)
    gravity: Floats  # (3,), or (cases, 3)
    limits: Floats  # (cases, limits, PARAMETERS)
    good: Bools  # (cases,) False: a value that breaks a rule
    joints: dict[str, dict[str, Floats]] = field(default_factory=dict)  # joint -> keyword -> values
    coordinates: dict[int, Floats] = field(default_factory=dict)  # by the place among coordinates and rates
    # By the steps that are balls: "angle" or "rate", and the component.
    balls: dict[int, dict[tuple[str, int], Floats]] = field(default_factory=dict)
    varied: bool = False  # masses, inertias or gravity
    # Sort and name of a motor, force or contact -> keyword -> values.
    forces: dict[tuple[str, str], dict[str, Floats]] = field(default_factory=dict)

    def take(self, quantity: Quantity, values: Floats) -> bool:
        """Give all cases their values of a quantity; False if it changes more than these arrays."""
        if quantity.role is Role.COORDINATE:
            return self._take_coordinate(quantity, values)
        sort, part, owner = quantity.owner_sort, quantity.part, quantity.owner
        self.varied |= sort == "body" or part == GRAVITY
        if part == GRAVITY:
            self.gravity = values
        elif sort == "body":
            self._take_data_of_body(self.system.body_index(owner), part, values)
        elif sort == "limit" and (place := self._place_of_limit(owner, part)) is not None:
            self.limits[:, self.system.limit_names.index(owner), place] = values
        elif sort == "joint" and not self._lends(owner, part):
            self.joints.setdefault(owner, {})[part] = values
        elif part != TRANSITION_VELOCITY and takes_values(self.system, sort, owner, part):
            self.forces.setdefault((sort, owner), {})[part] = values
        else:
            return False
        return True

    def _place_of_limit(self, owner: str, part: str) -> int | None:
        """The place of a number of a limit among its parameters; None for the cone."""
        own = self.system.limit(owner).law_module.PARAMETERS
        return PARAMETERS + own.index(part) if part in own else OF_LIMITS.get(part)

    def _take_coordinate(self, quantity: Quantity, values: Floats) -> bool:
        found = step_along(quantity.owner, self.system.joint_motions, self.tree)
        if found is None or not self._moves_what_is_beyond(found[0]):
            return False
        step, component = found
        if self.tree.kinds[step] == "ball":
            self.balls.setdefault(step, {})[quantity.part, component] = values
        else:
            self.coordinates[self.tree.places[int(quantity.part == "rate")][step]] = (
                self.tree.coordinates[step].sign * values
            )
        return True

    def _moves_what_is_beyond(self, step: int) -> bool:
        """Whether other coordinates of a joint move the bodies beyond it in the tree: body j's side, unless that is grounded."""
        inwards, parents = self.tree.coordinates[step].sign < 0.0, self.tree.parents
        while parents[step] != GROUND_STEP:
            step = parents[step]
        return not (inwards and self.tree.kinds[step] == "free")

    def _take_data_of_body(self, body: int, part: str, values: Floats) -> None:
        if part == "mass":
            self.masses[:, body] = values
            return
        if self.inertias.ndim == 3:
            self.inertias = np.tile(self.inertias, (len(values), 1, 1, 1))
        self.inertias[:, body] = 0.5 * (values + np.swapaxes(values, 1, 2))

    def _lends(self, joint: str, part: str) -> bool:
        """Whether limits or motors take a vector from a joint."""
        if any(motor.coordinate.rpartition(".")[0] == joint for motor in self.system.motors):
            return True
        return any(limit.joint == joint and part in limit.module.BORROWS for limit in self.system.limits)

    def forces_at(self, at: Ints) -> Values:
        """Values of motors, forces and contacts of the cases at these places."""
        return {whose: {part: v[at] for part, v in of.items()} for whose, of in self.forces.items()}

    def weights(self, at: Ints) -> tuple[Floats, Floats]:
        """Mass [kg] and gravity [m/s^2] of the cases at these places, of one where all have the same."""
        if self.masses.strides[0] == 0 and self.gravity.ndim == 1:
            at = at[:1]
        return weights_of(self.masses[at], self.gravity if self.gravity.ndim == 1 else self.gravity[at])


def given_cases(task: Task, system: System, cases: Cases) -> Given | None:
    """The values of cases of the system of a task, unless they differ in more than these arrays; velocities are left out."""
    count, masses, moving = len(next(iter(cases.values()))), system.data.mass[1:], only_velocities(task, cases)
    masses = np.broadcast_to(masses, (count, len(masses))) if moving else np.tile(masses, (count, 1))
    limits = given_limits([(system, np.arange(count))])
    columns = columns_of(task, system, cases)
    given = Given(system, tree_of_lanes(system), masses, system.data.inertia[1:], system.gravity, limits, columns.good)
    known = moving or not columns.starts
    return given if known and all(given.take(*column) for column in columns.of.items()) else None


def system_of_case(task: Task, cases: Cases, k: int) -> System:
    """The system of a case, in the reference configuration of that of the task."""
    assert isinstance(task.system, System)
    own = {name: value for name, value in row(cases, k).items() if task.quantities[name].role is Role.PARAMETER}
    return replace_parameters(task.system, own) if own else task.system
