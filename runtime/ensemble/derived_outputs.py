"""Quantities that follow from states of many cases by their equations: accelerations, multipliers, reactions, forces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from runtime.dynamics.derived import Derived, derive, derived_memory, largest_of_rows
from runtime.dynamics.force_elements import ENERGY, REPORTS
from runtime.dynamics.layout import STATE, P, V
from runtime.dynamics.limits import EXCESS, LATITUDE, LONGITUDE, MAXIMUM, POTENTIAL
from runtime.ensemble.case_memory import CaseSystem
from runtime.ensemble.contact_batch import ContactEvents
from runtime.results.force_motion import force_motions
from runtime.results.outputs import Output
from runtime.results.reactions import named_point
from runtime.results.state_quantities import needs_accelerations, rows_of, value_in_rows
from runtime.support.arrays import Floats, Ints
from runtime.system.parts import GROUND
from runtime.system.quantity import Quantity
from runtime.system.reference import rotation_matrices
from runtime.system.state import by_body
from runtime.system.system import System

ACCELERATIONS = {"v_dot": slice(0, 3), "omega_dot": slice(3, 6)}
ROWS_OF_JOINTS = "lam", "Phi"
REACTIONS = "reaction_force", "reaction_moment"
VIOLATIONS = {"violation": "Phi", "velocity_violation": "Phi_dot"}
# Of limits, by their places; not those that depend on dampers, which cases may have of their own, or on whole turns.
OF_LIMITS = {
    "limit_latitude": LATITUDE, "limit_longitude": LONGITUDE, "limit_maximum_latitude": MAXIMUM, "limit_excess": EXCESS,
    "limit_elastic_energy": POTENTIAL,
}  # fmt: skip
RATE, MOMENT = 1, 2  # what is measured of limits
AT_ONCE = 1024  # states of which all quantities are in memory


def derives_outputs(system: System) -> bool:
    """Whether a system has ``DerivedQuantities``: neither couplings nor armatures, of which states of bodies say nothing."""
    return not system.joint_coordinates_only


@dataclass
class CaseStates:
    """States of cases, and what follows from them by the equations, with the numbers of each case in the memory of a system.

    cases (n,): their numbers among those written; states (n, times, 13 bodies) at times (times,) [s]; before (n, times, angles),
    as of ``take_state``; events: of contacts
    """

    of: CaseSystem
    cases: Ints
    times: Floats
    states: Floats
    before: Floats
    events: ContactEvents | None
    _portion: tuple[int, int] = (0, -1)  # first case of the one that is derived, and the next after it
    _derived: Derived | None = None

    def portions(self) -> Iterator[tuple[int, int, Derived]]:
        """What follows from the states of all cases: first case of a portion, the next after it, and states case by case."""
        for case in range(0, len(self.cases), max(1, AT_ONCE // max(len(self.times), 1))):
            found = self._derive_portion(case)
            yield *self._portion, found

    def _derive_portion(self, case: int) -> Derived:
        """Derive the portion that begins with a case."""
        self._portion = case, min(case + max(1, AT_ONCE // max(len(self.times), 1)), len(self.cases))
        found, data = [], self.of.system.data
        to = derived_memory(len(self.times), data)
        for k in range(*self._portion):
            self.of.written.case = self.cases[k]
            self.of.written.write()
            events = self.events.of(k) if self.events is not None else np.zeros((0, 4))
            derive(self.times, self.states[k], self.before[k], events, data, self.of.written.block.value, to)
            found.append([array.copy() for array in to])
        self._derived = Derived(*map(np.concatenate, zip(*found, strict=True)))
        return self._derived

    def derived(self, case: int) -> Derived:
        """What follows from the states of a case, the number of a case among these; cases in order take the least time."""
        first, last = self._portion
        of_portion = self._derived if first <= case < last and self._derived is not None else self._derive_portion(case)
        start = (case - self._portion[0]) * len(self.times)
        return Derived(*(array[start : start + len(self.times)] for array in of_portion))


@dataclass
class DerivedQuantities:
    """Quantities over time of cases of a system, as ``Run`` has them; cases may differ in masses and forces.

    ``states`` (cases, times, 13 bodies) are those of ``of_states``; all quantities of the outputs are found in one pass.
    """

    system: System
    outputs: Mapping[str, Output]
    of_states: CaseStates
    states: Floats
    _found: dict[str, Floats] | None = None

    def of(self, quantity: Quantity) -> Floats | None:
        """Values (cases, times, ...) of a quantity of the outputs; None where it is not one of these, or a state is singular."""
        if self._found is None:
            self._found = self._all()
        return self._found.get(quantity.name)

    def _all(self) -> dict[str, Floats]:
        """Values of all quantities; none where accelerations are undetermined in a state."""
        wanted = {one.quantity.name: one.quantity for one in self.outputs.values() if self._is_known(one.quantity)}
        cases, times = self.states.shape[:2]
        found: dict[str, Floats] = {}
        for first, last, derived in self.of_states.portions() if wanted else ():
            if not derived.pivot.all():
                return {}
            states = self.states[first:last].reshape(-1, self.states.shape[2])
            for name, quantity in wanted.items():
                values = self._values(quantity, derived, states)
                to = found.setdefault(name, np.empty((cases, times, *values.shape[1:])))
                to[first:last] = values.reshape(last - first, times, *values.shape[1:])
        return found

    def _is_known(self, quantity: Quantity) -> bool:
        part, sort = quantity.part, quantity.owner_sort
        if part in ("lam", *REACTIONS):
            return not self.system.redundant  # else those of least norm
        known = {*ACCELERATIONS, *ROWS_OF_JOINTS, *VIOLATIONS, *OF_LIMITS, "limit_rate", "limit_restricting_moment"}
        return sort in ("force", "motor") or needs_accelerations(quantity) or part in known

    def _values(self, quantity: Quantity, derived: Derived, states: Floats) -> Floats:
        """Values (n, ...) in states (n, 13 bodies)."""
        system, part, owner = self.system, quantity.part, quantity.owner
        if needs_accelerations(quantity):
            found = value_in_rows(system, quantity, rows_of(system, by_body(states), lambda: derived.v_dot[:, 1:]))
            assert found is not None
            return found
        if quantity.owner_sort == "motor":
            effort, rate = derived.motors[:, system.motor_names.index(owner)].T
            return effort if part == "motor_effort" else effort * rate
        if part in ACCELERATIONS:
            return derived.v_dot[:, 1 + system.body_index(owner), ACCELERATIONS[part]]
        if part in ROWS_OF_JOINTS:
            name, _, row = owner.rpartition(".")
            rows: Floats = getattr(derived, part)[:, system.joint_names.index(name)]
            return rows[:, system.joint(name).rows.index(row)]
        if part in VIOLATIONS:
            return largest_of_rows(getattr(derived, VIOLATIONS[part]))
        if part in REACTIONS:
            return self._reaction(part, owner, derived, states)
        if quantity.owner_sort == "limit":
            k = system.limit_names.index(owner)
            if part in OF_LIMITS:
                return derived.outputs[:, k, OF_LIMITS[part]]
            return derived.measured[:, k, RATE] if part == "limit_rate" else np.abs(derived.measured[:, k, MOMENT])
        return self._of_force(system.force_names.index(owner), part.removeprefix("force_"), derived, states)

    def _of_force(self, k: int, part: str, derived: Derived, states: Floats) -> Floats:
        """What a force reports, its energy or its power, as ``ForceMotion`` has them."""
        force, outputs = self.system.forces[k], derived.force_outputs[:, k]
        if part == "energy":
            return outputs[:, ENERGY]
        if part != "power":
            return outputs[:, REPORTS + list(force.outputs).index(part)]
        motions = force_motions([force], self.system.body_names, by_body(states), outputs[:, None])
        return motions[force.name].power

    def _reaction(self, part: str, name: str, derived: Derived, states: Floats) -> Floats:
        """Force or moment of a joint on its body j, about its point, as ``Run.reaction`` has it."""
        joint = self.system.joint(name)
        wrench = derived.wrench[:, self.system.joint_names.index(name), 1]
        force, moment = wrench[:, :3], wrench[:, 3:]
        if part == "reaction_force":
            return force
        point, _ = named_point(joint, 1, "joint")
        arm: Floats = np.broadcast_to(point, (len(states), 3))
        if joint.body_j != GROUND:
            o = STATE * self.system.body_index(joint.body_j)
            arm = np.einsum("nab,b->na", rotation_matrices(states[:, o + P : o + V]), point)
        found: Floats = moment - np.cross(arm, force)
        return found
