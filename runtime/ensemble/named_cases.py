"""Cases of a system that differ in masses, gravity, motors, laws of limits and contacts, and constants of forces.

No case has a system of its own: the values of all are put as arrays where compiled code reads them.  Those that break a
rule, and cases that differ in more, are left to the making of a system each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from runtime.dynamics.contacts import SPEED_RESOLUTION
from runtime.ensemble.cases import Cases
from runtime.ensemble.columns import columns_of
from runtime.ensemble.compiled_cases import Group, group_of, initial_states, run_group
from runtime.ensemble.contact_batch import ContactEvents
from runtime.ensemble.given import system_of_case
from runtime.ensemble.task import Chunk, Task
from runtime.integrate.cases.derived import CaseStates
from runtime.integrate.cases.memory import NO_CHANGES, Changes
from runtime.integrate.choices import COMPILED_METHODS
from runtime.integrate.stepping import LEVER
from runtime.integrate.transition_velocities import TRANSITION_VELOCITY
from runtime.integrate.tree_method import in_joint_coordinates, module_of_tree, tree_of
from runtime.integrate.tree_scales import levers_of
from runtime.integrate.written.force_parameters import takes_values
from runtime.support.arrays import Bools, Floats, Ints
from runtime.support.errors import ModelError
from runtime.system.closed_tree import parameters_of_cases
from runtime.system.contact_building import POINTS, SIZES
from runtime.system.model_description import parameters_of
from runtime.system.parts import FRICTIONS, LIMIT_BOUNDS, NORMAL_LAWS
from runtime.system.quantity import EFFORT, GRAVITY, Quantity, Role
from runtime.system.spanning_tree import SpanningTree
from runtime.system.system import System
from runtime.system.tree_geometry import carried, kernel_parameters
from runtime.system.trees import trees_of
from runtime.system.whole_model import module_of, whole_of

OTHER = 2.0  # in place of a value that is neither 0 nor 1


@dataclass
class _Values:
    """Values of cases by their places in the memory of a group."""

    group: Group
    good: Bools  # (cases,) no value breaks a rule
    mass: Floats  # (cases, bodies + 1)
    gravity: Floats  # (cases, 3)
    folded: list[Floats] = field(
        default_factory=list
    )  # (cases, n) values that a kernel would have as numbers, or OTHER
    places: list[Ints] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)  # (cases, places) each

    @property
    def in_joints(self) -> bool:
        """Whether the cases run in joint coordinates."""
        return in_joint_coordinates(self.group.system, self.group.how)

    def take(self, quantity: Quantity, values: Floats) -> bool:
        """Take the values (cases, ...) of a parameter; False where they change more than numbers of the data."""
        system, sort = self.group.system, quantity.owner_sort
        if quantity.part == GRAVITY:
            self.gravity = values
            return self._unfolded("gravity", values, system.gravity) and self._put("gravity", slice(None), values)
        if sort == "body" and quantity.part == "mass":
            return self._take_mass(system.body_index(quantity.owner) + 1, values)
        if sort == "motor" and quantity.part == EFFORT:  # a signal of one piece
            signal = system.data.loads.effort[system.motor_names.index(quantity.owner)]
            return self._put("signals.coefficient", (system.data.signals.start[signal], 0), values)
        if sort == "motor" and takes_values(system, sort, quantity.owner, quantity.part):
            return self._put(f"loads.{quantity.part}", system.motor_names.index(quantity.owner), values)
        if sort == "limit" and quantity.part in LIMIT_BOUNDS:
            return self._take_limit(system.limit_names.index(quantity.owner), quantity.part, values)
        if sort == "force":
            return self._take_force(system.force_names.index(quantity.owner), quantity.part, values)
        if sort == "contact":
            return self._take_contact(system.contact_names.index(quantity.owner), quantity.part, values)
        return False

    def _unfolded(self, name: str, values: Floats, own: Any, place: Any = slice(None)) -> bool:
        """Whether no value differs that the kernel has as a number; whether there are other kernels is asked later."""
        system = self.group.system
        folded = system.model.folded[name][place]
        if self.in_joints or (~folded | (values == own)).all():
            return True
        flat = values.reshape(len(values), -1)
        self.folded.append(np.where((flat == 0.0) | (np.abs(flat) == 1.0), flat, OTHER))
        return not has_kernel(system)

    def _take_mass(self, body: int, values: Floats) -> bool:
        t = self.group.system.data
        self.mass[:, body] = values
        fits = len(t.thin_body) == 0 and self._unfolded("mass", values, t.mass[body], body)
        return fits and self._put("mass", body, values)

    def _take_limit(self, k: int, part: str, values: Floats) -> bool:
        module = self.group.system.limits[k].module
        if self.in_joints and tree_of(self.group.system).limits:
            return False  # in the constants of its kernel
        names = [name for name, *_ in module.PARAMETERS]
        if part in names:
            self._put("limits.x", (k, 3 * len(module.VECTORS) + names.index(part)), values)
        return self._put(f"limits.{part}", k, values)

    def _take_force(self, k: int, part: str, values: Floats) -> bool:
        module = self.group.system.forces[k].module
        names = [name for name, *_ in module.PARAMETERS]
        in_angle = module.ANGLES > 0 and dict(module.PARAMETERS).get(part) == "rad"  # those before depend on it
        if part not in names or part == TRANSITION_VELOCITY or module.HELD > module.ANGLES or in_angle or module.LOADS:
            return False
        return self._put("forces.x", (k, 3 * len(module.VECTORS) + names.index(part)), values)

    def _take_contact(self, k: int, part: str, values: Floats) -> bool:
        contact = self.group.system.contacts[k]
        friction = FRICTIONS[contact.friction].PARAMETERS if contact.friction else ()
        law = NORMAL_LAWS[contact.law].PARAMETERS
        if part in POINTS:
            rows = np.flatnonzero(self.group.system.data.contacts.vector_contact == k)
            place = [name for name, *_ in contact.module.VECTORS].index(POINTS[part])
            return self._put("contacts.vector_local", rows[place], values)
        if part not in (*law, *friction, *SIZES):
            return False  # transition velocity and the least speed of an impact, on which settings and memory depend
        if part in SIZES:
            return self._put("contacts.x", (k, 3 * len(contact.module.VECTORS) + SIZES.index(part)), values)
        if part in law:
            self._put("contacts.normal", (k, law.index(part)), values)
        return part not in friction or self._put("contacts.tangential", (k, friction.index(part)), values)

    def _put(self, name: str, place: Any, values: Floats) -> bool:
        """Have compiled code read values at a place in an array of the data."""
        array: Any = self.group.frame.parts.t
        for part in name.split("."):
            array = getattr(array, part)
        for own in (array, *self.group.frame.copies.get(id(array), ())):
            self.places.append(np.atleast_1d(self.group.frame.places(own).reshape(own.shape)[place]).ravel())
            self.values.append(values.reshape(len(values), -1))
        return True

    def put_constants(self) -> None:
        """Have kernels, and the recursion of a tree, read what follows from masses and gravity of all cases."""
        system = self.group.system
        if self.in_joints:
            self._put_tree(tree_of(system))
        elif has_kernel(system):
            module = module_of(system.model.key)
            assert module is not None
            varied = {"mass": self.mass.T, "gravity": self.gravity.T}
            self._put_at(self.group.frame.parts.w.constants, constants_of_cases(module, system, self.group, varied))

    def _put_tree(self, tree: SpanningTree) -> None:
        system, m = self.group.system, self.group.frame.parts.w.tree
        load = carried(tree.geometry, tree.skeleton, self.mass[:, 1:], system.data.inertia[1:])
        for own, values in ((m.data.mass, load.mass), (m.data.moment, load.moment), (m.data.inertia, load.inertia)):
            self._put_at(own, values)
        self._put_at(self.group.frame.parts.explicit.scales[LEVER], levers_of(tree, load))
        self._put_at(m.data.gravity, self.gravity)
        closed, module = trees_of(system).closed, module_of_tree(system)
        if module is None:
            return
        if closed is None:
            parameters = kernel_parameters(tree.geometry, tree.skeleton, load, self.gravity)
        else:
            parameters, serves = parameters_of_cases(closed, tree, system.data, self.mass, self.gravity)
            self.good &= serves
        constants = np.zeros((module.CONSTANTS, len(self.mass)))
        module.prepare(parameters, constants)
        to = m.constants if closed is None else m.closing.constants
        self._put_at(to[: module.CONSTANTS], constants.T)

    def _put_at(self, array: Floats, values: Floats) -> None:
        """Have compiled code read values (cases, ...) in an array of its memory."""
        self.places.append(self.group.frame.places(array))
        self.values.append(values.reshape(len(values), -1))

    def examples(self, good: Ints) -> list[int]:
        """A case for each kernel that there might be, of those at these places."""
        if not self.folded or not len(good):
            return []
        first = np.unique(np.concatenate(self.folded, axis=1)[good], axis=0, return_index=True)[1]
        return good[first].tolist()  # type: ignore[no-any-return]

    def changes(self, good: Ints) -> Changes:
        """The changes of the cases at these places; a later value replaces an earlier one."""
        places, values = np.concatenate(self.places), np.concatenate(self.values, axis=1)[good]
        return NO_CHANGES._replace(float_place=places, float_value=values)

    def add_to_group(self, good: Ints) -> None:
        """Add the cases at these places to the group, as they start."""
        system, group = self.group.system, self.group
        states = np.tile(system.state.y, (len(good), 1))
        y = initial_states(system, states[:1], group.how)
        mass, size = self.mass[good, 1:].sum(axis=1), np.linalg.norm(self.gravity[good], axis=1)
        group.add(good.tolist(), states, np.tile(y, (len(good), 1)), self.changes(good), mass, size)

    def of_states(
        self, cases: Ints, states: Floats, events: ContactEvents | None, counted: Floats | None
    ) -> CaseStates:
        """What follows from states (cases, times, 13 bodies) of good cases at these places, with the events of their contacts."""
        self.add_to_group(cases)
        how, resolution = self.group.how, SPEED_RESOLUTION * (self.group.how.rtol + self.group.how.atol)
        events = events or ContactEvents(np.zeros((len(cases), 0, 4)), np.zeros(len(cases), np.int64))
        every, times = np.arange(len(cases)), np.array(how.t, float)
        before = np.zeros((len(cases), len(times), 0)) if counted is None else counted
        return CaseStates(self.group.frame, self.group.given(), every, times, states, before, *events, resolution)


def has_kernel(system: System) -> bool:
    """Whether a system has a whole-model kernel."""
    return whole_of(system, system.data) is not None


def constants_of_cases(module: ModuleType, system: System, group: Group, varied: dict[str, Floats]) -> Floats:
    """Constants of a kernel (cases, constants); varied: parameters with a last axis of cases."""
    data = system.data._replace(alpha=group.how.alpha, beta=group.how.beta)
    own = parameters_of(data, system.state.y, system.model.fixed)
    given = [varied[name][index] if name in varied else float(own[name][index]) for name, index in module.PARAMETERS]
    count = next(iter(varied.values())).shape[-1]
    constants = np.zeros((max(module.CONSTANTS, 1), count))
    module.prepare(given, constants)
    return np.ascontiguousarray(constants.T)


@contextmanager
def values_of_cases(task: Task, cases: Cases) -> Iterator[_Values | None]:
    """The parameters of all cases in the memory of a group; None where cases differ in more than this module knows."""
    system, values = task.system, None
    known = isinstance(system, System) and task.how.method in COMPILED_METHODS and task.starts_in_time(system)
    if not isinstance(system, System) or not known or task.gpu:
        yield None
        return
    try:
        group = group_of({}, system, task.how, task.watched)[0]
    except ModelError:
        yield None
        return
    try:
        columns = columns_of(task, system, cases)
        mass, gravity = (np.tile(own, (len(columns.good), 1)) for own in (system.data.mass, system.gravity))
        values = _Values(group, columns.good, mass, gravity)
        if all(values.take(*column) for column in columns.of.items() if column[0].role is Role.PARAMETER):
            values.put_constants()
            yield values
        else:
            yield None
    finally:
        group.frame.give_back()


def run_named(task: Task, cases: Cases, chunk: Chunk, wanted: Sequence[int] | None = None) -> list[int] | None:
    """Run the cases of a chunk; those to be run in another way.  None where cases differ in more than this module knows.

    wanted : numbers of the cases; default: all
    """
    system = task.system
    if not isinstance(system, System) or any(task.quantities[name].role is not Role.PARAMETER for name in cases):
        return None
    with values_of_cases(task, cases) as values:
        if values is None:
            return None
        numbers = np.arange(len(values.good)) if wanted is None else np.array(wanted, np.int64)
        good = numbers[values.good[numbers]]
        if any(has_kernel(system_of_case(task, cases, case)) for case in values.examples(good)):
            return None
        if len(good):
            values.add_to_group(good)
            left = run_group(values.group, partial(system_of_case, task, cases), task, chunk)
        else:
            left = []
    return sorted([*left, *numbers[~values.good[numbers]].tolist()])
