"""Many cases of a system whose joints differ in lengths, points and axes: assembled and checked without a system for each.

The rules are those of ``assemble`` and ``refuse_singular_joints``.  A case that breaks one is marked; the message comes from the
making of its system.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from runtime.dynamics.cases import count_dependent_rows
from runtime.dynamics.equations import workspace_for
from runtime.dynamics.layout import ROWS, P, V
from runtime.dynamics.projection import ASSEMBLED
from runtime.jit.references import Reference
from runtime.lanes.assembly import CaseData, case_lanes
from runtime.lanes.cases import Assembled, Checks, assemble_cases, largest_violations, project_cases
from runtime.support.arrays import Bools, Floats, Ints, read_only
from runtime.support.latest import Latest
from runtime.system.assemble import without_drivers
from runtime.system.joint_motion import JointMotion, motion_from, relative_poses, times
from runtime.system.parts import Force, Joint
from runtime.system.rank import JOINT_RANK_TOLERANCE, lever_arms
from runtime.system.reference import branch_signs, reference, rotation_matrices, states_with_ground
from runtime.system.system import System

Values = Mapping[str, Mapping[str, Floats]]  # joint -> keyword -> vectors (cases, 3) or numbers (cases,)
MARGIN = 10.0  # from the limits of singular joints within which a case is made alone, to be judged exactly
LEAST = MARGIN * JOINT_RANK_TOLERANCE
ON_THE_ROWS = 1e-9  # [SI unit of a row] largest violation at the end of a run in joint coordinates


_without_drivers = Latest(without_drivers, 4)


@dataclass(frozen=True)
class CaseMemory:
    """Memory in which cases of a system are evaluated."""

    written: tuple[Floats, Floats, Floats]  # vectors, masses and inverse inertias of ``data``
    data: Reference  # ``ModelData``
    work: Reference  # ``Workspace``
    lanes: Reference  # ``CaseLanes``


_LAST = threading.local()


def _shared_memory(system: System) -> CaseMemory:
    """Memory for cases of a system, the same in a thread from call to call: nothing in it lasts."""
    kept: tuple[Any, CaseMemory] | None = getattr(_LAST, "kept", None)
    if kept is None or kept[0] is not system.data:
        t = system.data
        written = t.vector_local.copy(), t.mass.copy(), t.inertia_inverse.copy()
        seen = [read_only(part) for part in written]
        data = t._replace(vector_local=seen[0], mass=seen[1], inertia_inverse=seen[2])
        lanes = case_lanes(data, [joint.module for joint in system.joints])
        kept = t, CaseMemory(written, Reference(data), Reference(workspace_for(data)), Reference(lanes))
        _LAST.kept = kept  # at once, also where an interruption comes
    return kept[1]


@dataclass(frozen=True)
class JointCases:
    """Data of the joints of many cases."""

    system: System
    values: Values
    lengths: tuple[Floats, ...]  # (cases,) or (1,) lever arms of the joints [m]
    of_cases: CaseData
    memory: CaseMemory

    def assembled(self, y: Floats) -> tuple[Floats, Bools]:
        """A state (13 bodies,), or one of each case, moved onto the rows of each case, and which cases are assembled.

        The states are (cases, 13 bodies), with consistent velocities.  Cases are not assembled, either, where a joint may be
        singular, or is the mirror image of its reference configuration.
        """
        system, (cases, joints, size) = self.system, self.of_cases.x.shape
        states = np.tile(y, (cases, 1)) if y.ndim == 1 else y.copy()
        signed = [k for k, joint in enumerate(system.joints) if joint.module.BRANCH_SIGNS]
        powers = np.zeros((joints, ROWS), np.int64)
        for k, joint in enumerate(system.joints):
            powers[k, : len(joint.rows)] = np.array(joint.module.UNITS) - 1
        checks = Checks(powers, np.array([LEAST]), np.array(signed, np.int64))
        found = Assembled(np.zeros(cases), np.zeros(cases), np.zeros((cases, len(signed), size)))
        m = self.memory
        assemble_cases(system.time, states, self.of_cases, m.data, m.work, m.lanes, checks, found)
        good: Bools = (found.left <= ASSEMBLED) & (found.regular == 1.0)
        own = states_with_ground(states)
        for k, x in zip(signed, np.moveaxis(found.x, 1, 0), strict=True):
            before = self._signs(k, states_with_ground(system.reference_configuration.y)[None], self._at_reference(k))
            good &= ~(before * self._signs(k, own, x) < 0.0).any(axis=0)
        return states, good

    def assembled_on_joints(self, y: Floats) -> tuple[Floats, Bools]:
        """``assembled`` onto the rows of the joints alone, wherever drivers place the bodies, as reference configurations are."""
        if not self.system.drivers:
            return self.assembled(y)
        alone = _without_drivers(self.system)
        return replace(self, system=alone, memory=_shared_memory(alone)).assembled(y)

    @property
    def masses(self) -> Floats:
        """Masses (cases, bodies), by which states are moved."""
        return self.of_cases.masses

    def of(self, at: Ints) -> JointCases:
        """The cases at these places."""
        if len(at) == len(self.masses):
            return self
        return replace(
            self, of_cases=self.of_cases.at(at),
            lengths=tuple(length if len(length) == 1 else length[at] for length in self.lengths),
            values={name: {key: value[at] for key, value in given.items()} for name, given in self.values.items()},
        )  # fmt: skip

    def on_the_rows(self, states: Floats) -> Bools:
        """Which cases satisfy their rows in states (cases, 13 bodies)."""
        worst, own, memory = np.zeros(len(states)), np.ascontiguousarray(states), self.memory
        largest_violations(self.system.time, own, self.of_cases, memory.data, memory.work, memory.lanes, worst)
        return worst <= ON_THE_ROWS

    def dependent(self, states: Floats, tolerance: float) -> Ints:
        """Number of rows of each case that depend on rows before them, by pivots as of ``projection.dependent_rows``."""
        cases, bodies, found = *self.masses.shape, np.zeros(len(states), np.int64)
        length = np.broadcast_to(self.length, cases)[:, None, None, None]
        inverses = np.tile(np.eye(3), (1, bodies, 1, 1)) / length**2
        unit, m = self.of_cases._replace(masses=np.ones((cases, bodies)), inverses=inverses), self.memory
        of = unit, *m.written, m.data, m.work
        count_dependent_rows(self.system.time, np.ascontiguousarray(states), *of, tolerance, found)
        return found

    @property
    def length(self) -> Floats:
        """Longest lever arm of the joints, (cases,) or (1,) [m]."""
        return np.max(np.broadcast_arrays(*self.lengths), axis=0)

    def motions(self, states: Floats) -> dict[str, JointMotion]:
        """The motions of the joints from reference configurations (cases, 13 bodies)."""
        found, bodies = {}, states_with_ground(states)
        for k, joint in enumerate(self.system.joints):
            if getattr(joint.module, "MOTION", None):
                i, j = (bodies[:, body[k]] for body in (self.system.data.body_i, self.system.data.body_j))
                values = {**joint.values, **self.values.get(joint.name, {})}
                found[joint.name] = motion_from(joint, values, relative_poses(i, j))
        return found

    def _signs(self, k: int, states: Floats, x: Floats) -> Floats:
        """Of the expressions that a joint's definition passes to ``keeps_sign``, (signs, cases)."""
        of_i, of_j = (states[:, body[k]].T for body in (self.system.data.body_i, self.system.data.body_j))
        return branch_signs(self.system.joints[k], of_i, of_j, x.T)

    def _at_reference(self, k: int) -> Floats:
        """The vectors and constants of a joint in the reference configurations, (cases, X)."""
        t, x = self.system.data, self.of_cases.x[:, k].copy()
        states = states_with_ground(self.system.reference_configuration.y)
        for row in np.flatnonzero(t.vector_joint == k):
            o, A = t.vector_place[row], rotation_matrices(states[[t.vector_body[row]], P:V])
            x[:, o : o + 3] = times(A, self.of_cases.local[:, row])
        return x


def joint_cases(system: System, values: Values, masses: Floats, inertias: Floats) -> JointCases:
    """The data of cases of a system with these masses (cases, bodies) and inertias (bodies, 3, 3) or (cases, bodies, 3, 3).

    No value breaks a rule.  The reference configuration of the system gives the constants that joints hold.
    """
    t, cases = system.data, len(masses)
    inverses = t.inertia_inverse[None, 1:].copy()
    if inertias.ndim == 4:
        inverses = np.asarray(np.linalg.inv(inertias), float)
    numbers_alone = all(value.ndim == 1 for given in values.values() for value in given.values())
    x, local = np.tile(t.x, (cases, 1, 1)), np.tile(t.vector_local, (1 if numbers_alone else cases, 1, 1))
    states = states_with_ground(system.reference_configuration.y)
    for k, joint in enumerate(system.joints):
        if joint.name in values:
            ends = states[t.body_i[k]], states[t.body_j[k]]
            own, found = constants_of_cases(joint, values[joint.name], ends, (x.shape[2], cases))
            x[:, k] = own.T
            for row, (name, *_) in zip(np.flatnonzero(t.vector_joint == k), joint.module.VECTORS, strict=True):
                if not numbers_alone:
                    local[:, row] = found[name].T
    lengths = tuple(lever_arms(joint, values.get(joint.name, {})) for joint in system.joints)
    arms = np.stack(np.broadcast_arrays(*lengths), axis=1)
    of_cases = CaseData(x, local, masses.copy(), inverses, arms)
    return JointCases(system, values, lengths, of_cases, _shared_memory(system))


def with_consistent_velocities(system: System, time: float, states: Floats) -> Floats:
    """States (cases, 13 bodies) of one system with the velocities nearest by kinetic energy that satisfy D v = nu."""
    t, m, found = system.data, _shared_memory(system), states.copy()
    parts = t.x, t.vector_local, t.mass[1:], t.inertia_inverse[1:], np.ones(len(system.joints))
    x, local, masses, inverses, lengths = (part[None].copy() for part in parts)
    own = CaseData(x, local, masses, inverses, lengths)
    project_cases(time, found, own, m.data, m.work, m.lanes)
    return found


def constants_of_cases(
    owner: Joint | Force, given: Mapping[str, Floats], ends: Sequence[Floats], shape: tuple[int, int]
) -> tuple[Floats, dict[str, Floats]]:
    """Constants x (X, cases) of a joint or force, and local components of its vectors, as ``reference`` has them.

    ``given``: vectors (cases, 3) and numbers (cases,) in place of its own; ``ends``: states (13,) of its bodies; ``shape``: of x
    """
    columns = {key: value[:, None] if np.ndim(value) == 1 else value for key, value in owner.values.items()}
    of_cases = replace(owner, values=MappingProxyType(columns | {key: value.T for key, value in given.items()}))
    own = np.zeros(shape)
    return own, reference(of_cases, ends[0], ends[1], own, *ends[2:])
