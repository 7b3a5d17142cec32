"""Cases of a system that differ in masses, gravity, motors, laws of limits and contacts, and constants of forces.

No case has a system of its own: its values are written where compiled code reads them.  Cases whose values break a rule, and
cases that differ in other parameters, run with a system each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import attrgetter
from types import ModuleType
from typing import Any

import numpy as np

from runtime.dynamics.contacts import SPEED_RESOLUTION
from runtime.dynamics.layout import P, V
from runtime.dynamics.status import ENDED
from runtime.ensemble.case_workspace import CaseSystem, Parts, case_system
from runtime.ensemble.cases import Cases
from runtime.ensemble.columns import columns_of
from runtime.ensemble.contact_batch import ContactEvents
from runtime.ensemble.derived_outputs import CaseStates
from runtime.ensemble.given import system_of_case
from runtime.ensemble.kept_outputs import needs_masses, needs_more_than_states
from runtime.ensemble.single_runs import SingleRuns, settings_of, simulated
from runtime.ensemble.task import Chunk, Task
from runtime.integrate.choices import COMPILED_METHODS
from runtime.integrate.events import AtRest
from runtime.integrate.stepping import LEVER
from runtime.integrate.transition_velocities import TRANSITION_VELOCITY
from runtime.integrate.tree_method import in_joint_coordinates, module_of_tree, tree_of
from runtime.integrate.tree_scales import levers_of
from runtime.integrate.written.force_parameters import takes_values
from runtime.support.arrays import Bools, Floats, Ints
from runtime.support.errors import ModelError
from runtime.system.closed_tree import parameters_of_cases
from runtime.system.contact_building import POINTS, SIZES
from runtime.system.force_states import names_of_states
from runtime.system.model_description import parameters_of
from runtime.system.parts import LIMIT_BOUNDS
from runtime.system.quantity import EFFORT, GRAVITY, Quantity, Role
from runtime.system.spanning_tree import SpanningTree
from runtime.system.system import System
from runtime.system.tree_geometry import carried, kernel_parameters
from runtime.system.trees import trees_of
from runtime.system.whole_model import module_of, whole_of

# Arrays of the data of which the workspace has copies.
COPIED = "limits.x", "forces.x", "contacts.x", "contacts.normal"
OTHER = 2.0  # in place of a value that is neither 0 nor 1


@dataclass
class _Values:
    """Values of cases by their places in the data and the workspace."""

    system: System
    of: CaseSystem
    memory: Parts
    good: Bools  # (cases,) no value breaks a rule
    mass: Floats  # (cases, bodies + 1)
    gravity: Floats  # (cases, 3)
    # (cases, n) values that a kernel would contain as constants, or OTHER
    folded: list[Floats] = field(default_factory=list)

    @property
    def in_joints(self) -> bool:
        """Whether the cases run in joint coordinates."""
        return in_joint_coordinates(self.system, self.of.how)

    def take(self, quantity: Quantity, values: Floats) -> bool:
        """Put the values (cases, ...) of a parameter; False if they change more than values in the data."""
        system, kind = self.system, quantity.owner_sort
        if quantity.part == GRAVITY:
            self.gravity = values
            return self._unfolded("gravity", values, system.gravity) and self._put("gravity", slice(None), values)
        if kind == "body" and quantity.part == "mass":
            return self._take_mass(system.body_index(quantity.owner) + 1, values)
        if kind == "motor" and quantity.part == EFFORT:  # a signal of one piece
            signal = system.data.loads.effort[system.motor_names.index(quantity.owner)]
            return self._put("signals.coefficient", (system.data.signals.start[signal], 0), values)
        if kind == "motor" and takes_values(system, kind, quantity.owner, quantity.part):
            return self._put(f"loads.{quantity.part}", system.motor_names.index(quantity.owner), values)
        if kind == "limit" and quantity.part in LIMIT_BOUNDS:
            return self._take_limit(system.limit_names.index(quantity.owner), quantity.part, values)
        if kind == "force":
            return self._take_force(system.force_names.index(quantity.owner), quantity.part, values)
        if kind == "contact":
            return self._take_contact(system.contact_names.index(quantity.owner), quantity.part, values)
        return False

    def _unfolded(self, name: str, values: Floats, own: Any, place: Any = slice(None)) -> bool:
        """Whether a kernel serves all values: where it contains a constant, no case differs."""
        system = self.system
        folded = system.model.folded[name][place]
        if self.in_joints or (~folded | (values == own)).all():
            return True
        flat = values.reshape(len(values), -1)
        self.folded.append(np.where((flat == 0.0) | (np.abs(flat) == 1.0), flat, OTHER))
        return not has_kernel(system)

    def _take_mass(self, body: int, values: Floats) -> bool:
        t = self.system.data
        self.mass[:, body] = values
        fits = len(t.thin_body) == 0 and self._unfolded("mass", values, t.mass[body], body)
        return fits and self._put("mass", body, values)

    def _take_limit(self, k: int, part: str, values: Floats) -> bool:
        module = self.system.limits[k].module
        if self.in_joints and tree_of(self.system).limits:
            return False  # in the constants of its kernel
        names = [name for name, *_ in module.PARAMETERS]
        if part in names:
            self._put("limits.x", (k, 3 * len(module.VECTORS) + names.index(part)), values)
        limit = self.system.limits[k]
        own = ["compliance", *limit.law_module.PARAMETERS]
        if part in own:
            self._put("limits.constants", (k, own.index(part)), values)
        return part in limit.parameters or self._put(f"limits.{part}", k, values)

    def _take_force(self, k: int, part: str, values: Floats) -> bool:
        module = self.system.forces[k].module
        names = [name for name, *_ in module.PARAMETERS]
        in_angle = module.ANGLES > 0 and dict(module.PARAMETERS).get(part) == "rad"  # those before depend on it
        if part not in names or part == TRANSITION_VELOCITY or module.HELD > module.ANGLES or in_angle or module.LOADS:
            return False
        return self._put("forces.x", (k, 3 * len(module.VECTORS) + names.index(part)), values)

    def _take_contact(self, k: int, part: str, values: Floats) -> bool:
        contact = self.system.contacts[k]
        friction = contact.friction_module.PARAMETERS if contact.friction_module else ()
        law = contact.law_module.PARAMETERS
        if part in POINTS:
            rows = np.flatnonzero(self.system.data.contacts.vector_contact == k)
            place = [name for name, *_ in contact.module.VECTORS].index(POINTS[part])
            return self._put("contacts.vector_local", rows[place], values)
        if part not in (*law, *friction, *SIZES):
            return (
                False  # settings and the workspace depend on the transition velocity and the least speed of an impact
            )
        if part in SIZES:
            return self._put("contacts.x", (k, 3 * len(contact.module.VECTORS) + SIZES.index(part)), values)
        if part in law:
            self._put("contacts.normal", (k, law.index(part)), values)
        return part not in friction or self._put("contacts.tangential", (k, friction.index(part)), values)

    def _put(self, name: str, place: Any, values: Floats) -> bool:
        """Have compiled code read values at a place in an array of the data, and in copies of it."""
        for memory in (self.memory.t, self.memory.w) if name in COPIED else (self.memory.t,):
            self._put_at(attrgetter(name)(memory), values, place)
        return True

    def put_constants(self) -> None:
        """Put the constants of kernels and of the recursion of a tree, for masses and gravity of all cases."""
        system = self.system
        if self.in_joints:
            self._put_tree(tree_of(system))
        elif has_kernel(system):
            module = module_of(system.model.key)
            assert module is not None
            varied = {"mass": self.mass.T, "gravity": self.gravity.T}
            self._put_at(self.memory.w.constants, constants_of_cases(module, self.of, varied))

    def _put_tree(self, tree: SpanningTree) -> None:
        system, m, s = self.system, self.memory.w.tree, self.memory.s
        assert s is not None
        load = carried(tree.geometry, tree.skeleton, self.mass[:, 1:], system.data.inertia[1:])
        for own, values in ((m.data.mass, load.mass), (m.data.moment, load.moment), (m.data.inertia, load.inertia)):
            self._put_at(own, values)
        self._put_at(s.scales[LEVER], levers_of(tree, load))
        self._put_at(m.data.gravity, self.gravity)
        closed, module = trees_of(system).closed, module_of_tree(system)
        if module is None:
            return
        if closed is None:
            parameters = kernel_parameters(tree.geometry, tree.skeleton, load, self.gravity)
        else:
            parameters, serves = parameters_of_cases(closed, tree, system.data, self.mass, self.gravity)
            mirrored = m.closing.posed.any() and ((m.data.p * tree.pose[:, P:V]).sum(axis=1) < 0.0).any()
            self.good &= serves & (not mirrored)  # else the constants have other signs
        constants = np.zeros((module.CONSTANTS, len(self.mass)))
        module.prepare(parameters, constants)
        to = m.constants if closed is None else m.closing.constants
        self._put_at(to[: module.CONSTANTS], constants.T)

    def _put_at(self, array: Floats, values: Floats, place: Any = slice(None)) -> None:
        """Have compiled code read values (cases, ...) at a place in an array."""
        self.of.written.put.append((array, place, values))

    def examples(self, good: Ints) -> list[int]:
        """One of the cases at these places for each set of values that a kernel would contain as constants."""
        if not self.folded or not len(good):
            return []
        first = np.unique(np.concatenate(self.folded, axis=1)[good], axis=0, return_index=True)[1]
        return good[first].tolist()  # type: ignore[no-any-return]

    def of_states(
        self, cases: Ints, states: Floats, events: ContactEvents | None, counted: Floats | None
    ) -> CaseStates:
        """Quantities that follow from states (cases, times, 13 bodies) of cases at these places, with their contact events."""
        how, times = self.of.how, np.array(self.of.how.t, float)
        self.memory.w.contacts.speed_resolution[0] = SPEED_RESOLUTION * (how.rtol + how.atol)
        self.of.written.block.keep()
        before = np.zeros((len(cases), len(times), 0)) if counted is None else counted
        return CaseStates(self.of, cases, times, states, before, events)


def has_kernel(system: System) -> bool:
    """Whether a system has a whole-model kernel."""
    return whole_of(system, system.data) is not None


def constants_of_cases(module: ModuleType, of: CaseSystem, varied: dict[str, Floats]) -> Floats:
    """Constants of a kernel (cases, constants); varied: parameters with a last axis of cases."""
    system = of.system
    own = parameters_of(system.data, system.state.y, system.model.fixed)
    given = [varied[name][index] if name in varied else float(own[name][index]) for name, index in module.PARAMETERS]
    count = next(iter(varied.values())).shape[-1]
    constants = np.zeros((max(module.CONSTANTS, 1), count))
    module.prepare(given, constants)
    return np.ascontiguousarray(constants.T)


@contextmanager
def values_of_cases(task: Task, cases: Cases, *, runs: bool) -> Iterator[_Values | None]:
    """The parameters of all cases; None if the cases differ in parameters that this module does not put.

    runs : put them into the workspace of runs; False: into the workspace of quantities that follow from states
    """
    system = task.system
    known = isinstance(system, System) and task.how.method in COMPILED_METHODS and task.starts_in_time(system)
    if not isinstance(system, System) or not known or task.gpu or names_of_states(system):
        yield None  # states of forces may begin with parameters of the case
        return
    try:
        how = settings_of(system, task.how)
    except ModelError:
        yield None  # ``simulate`` has the message
        return
    with case_system(system, how) as of:
        try:
            memory = of.of_runs() if runs else of.of_states()
        except ModelError:
            yield None
            return
        columns = columns_of(task, system, cases)
        mass, gravity = (np.tile(own, (len(columns.good), 1)) for own in (system.data.mass, system.gravity))
        values = _Values(system, of, memory, columns.good, mass, gravity)
        if not all(values.take(*column) for column in columns.of.items() if column[0].role is Role.PARAMETER):
            yield None
            return
        if runs:
            values.put_constants()
        yield values


def run_named(task: Task, cases: Cases, chunk: Chunk, wanted: Sequence[int] | None = None) -> list[int] | None:
    """Run the cases of a chunk; returns the places of cases that need a system of their own.

    None if the cases differ in parameters that this module does not put.

    wanted : places of the cases to run; default: all
    """
    system = task.system
    if not isinstance(system, System) or any(task.quantities[name].role is not Role.PARAMETER for name in cases):
        return None
    if any(isinstance(event, AtRest) for event in task.events):
        return None  # their accelerations have a workspace of their own
    with values_of_cases(task, cases, runs=True) as values:
        if values is None:
            return None
        numbers = np.arange(len(values.good)) if wanted is None else np.array(wanted, np.int64)
        good = values.good[numbers]
        if any(has_kernel(system_of_case(task, cases, case)) for case in values.examples(numbers[good])):
            return None
        runs = SingleRuns(task, chunk)
        left = [case for case in numbers.tolist() if not (values.good[case] and _run(case, values, cases, runs))]
        runs.end()
        return left


def _run(case: int, values: _Values, cases: Cases, runs: SingleRuns) -> bool:
    """Run a case; False if it needs a system of its own, for its equations, a message or an output."""
    task = runs.task
    values.of.written.case = case
    try:
        run, reached = simulated(values.of.system, None, task)
    except ModelError:
        return False  # with a system of its own the case keeps the message
    if run.status not in ENDED or (task.outputs is not None and run.singular_passages):
        return False
    if needs_more_than_states(task.outputs or {}) or needs_masses(task.outputs or {}):
        run = replace(run, system=system_of_case(task, cases, case))
    runs.keep(case, run, reached, values.system.state.y)
    return True
