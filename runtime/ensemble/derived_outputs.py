"""Quantities that follow from states of many cases by their equations: accelerations, multipliers, reactions, forces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from runtime.dynamics.derived import Derived, derive, derived_memory
from runtime.dynamics.model_data import stabilised
from runtime.dynamics.status import Status, message_at_end
from runtime.ensemble.case_workspace import CaseSystem
from runtime.ensemble.contact_batch import ContactEvents
from runtime.integrate.settings import Settings
from runtime.results.coordinate_quantities import INVERSE_DYNAMICS
from runtime.results.outputs import OF_JOINTS, Output, values_of
from runtime.results.run import Run
from runtime.results.state_quantities import needs_accelerations
from runtime.results.stats import Stats
from runtime.results.whole_turns import whole_turns
from runtime.support.arrays import Floats, Ints
from runtime.system.quantity import Quantity
from runtime.system.state import State
from runtime.system.system import System

# Of limits, what does not depend on dampers, which cases may have of their own, or on whole turns.
KNOWN = (
    "v_dot", "omega_dot", "Phi", "violation", "velocity_violation", "limit_latitude", "limit_longitude",
    "limit_maximum_latitude", "limit_excess", "limit_elastic_energy", "limit_rate", "limit_restricting_moment",
)  # fmt: skip
NO_EVENTS = np.zeros((0, 4))  # of contacts
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
            events = self.events.of(k) if self.events is not None else NO_EVENTS
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
    how: Settings
    outputs: Mapping[str, Output]
    of_states: CaseStates
    states: Floats
    alike: bool  # whether all cases have the mechanics of the system
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
        no_states = np.zeros((cases * times, len(self.system.data.forces.state_place)))
        for first, last, derived in self.of_states.portions() if wanted else ():
            if not derived.pivot.all():
                return {}
            states = self.states[first:last].reshape(-1, self.states.shape[2])
            run = run_of_states(self.system, self.how, np.zeros(len(states)), states, z=no_states[: len(states)])
            vars(run)["_found"] = derived
            for name, quantity in wanted.items():
                values = values_of(run, quantity)
                to = found.setdefault(name, np.empty((cases, times, *values.shape[1:])))
                to[first:last] = values.reshape(last - first, times, *values.shape[1:])
        return found

    def _is_known(self, quantity: Quantity) -> bool:
        part, sort = quantity.part, quantity.owner_sort
        if part == INVERSE_DYNAMICS:
            return self.alike
        if part == "lam" or part in OF_JOINTS:
            return not self.system.redundant  # else those of least norm
        return sort in ("force", "motor") or needs_accelerations(quantity) or part in KNOWN


def run_of_states(
    system: System, how: Settings, t: Floats, states: Floats, events: Floats = NO_EVENTS, begun: Floats | None = None,
    z: Floats | None = None, counted: Floats | None = None,
) -> Run:  # fmt: skip
    """A run of states (times, 13 bodies), for quantities that follow from these and from that at the start.

    z (times, states), counted (times, angles): of forces
    """
    stats = Stats(how.method, 0, 0, 0, 0.0, how.rtol, how.atol, "")
    return Run(
        system, stabilised(system.data, how.alpha, how.beta), t, states, State(system.body_names, states[-1]),
        Status.REACHED_END, message_at_end(how.t_end), stats, {}, {}, contact_events=events,
        _turns=None if counted is None else whole_turns(np.zeros(0), counted, counted.shape[1]), _start=begun, _z=z,
    )  # fmt: skip
