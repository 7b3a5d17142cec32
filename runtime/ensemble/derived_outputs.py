"""Quantities that follow from states of many cases by their equations: accelerations, multipliers, reactions, forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from runtime.dynamics.derived import Derived, largest_of_rows
from runtime.dynamics.force_elements import ENERGY, REPORTS
from runtime.dynamics.layout import STATE, P, V
from runtime.dynamics.limits import EXCESS, LATITUDE, LONGITUDE, MAXIMUM, POTENTIAL
from runtime.integrate.cases.derived import CaseStates
from runtime.results.force_motion import force_motions
from runtime.results.outputs import Output
from runtime.results.reactions import named_point
from runtime.results.state_quantities import needs_accelerations, rows_of, value_in_rows
from runtime.support.arrays import Floats
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


def derives_outputs(system: System) -> bool:
    """Whether a system has ``DerivedQuantities``: neither couplings nor armatures, of which states of bodies say nothing."""
    return not system.joint_coordinates_only


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
