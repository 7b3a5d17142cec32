"""Outputs of the cases of a chunk: from the arrays of a batch where they hold the quantity, otherwise from a run of each case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from runtime.dynamics.layout import LANES, STATE
from runtime.ensemble.contact_batch import QUANTITIES as OF_CONTACTS
from runtime.ensemble.derived_outputs import DerivedQuantities, run_of_states
from runtime.integrate.batches.parameters import (
    AHEAD,
    BEHIND,
    COMPLIANCE,
    DAMPING,
    MAX_MOMENT,
    OFFSET,
    SIGN,
    law_at,
    stored_energies,
)
from runtime.integrate.settings import Settings
from runtime.results.coordinate_quantities import COORDINATE_QUANTITIES, INVERSE_DYNAMICS
from runtime.results.joint_angles import angles_of_joint
from runtime.results.outputs import Output, is_on_request, undetermined_outputs, value_of
from runtime.results.result_quantities import SYSTEM_QUANTITIES
from runtime.results.run import Run
from runtime.results.state_quantities import Rows, needs_accelerations, value_in_rows
from runtime.results.whole_turns import before_start
from runtime.support.arrays import Floats, Ints
from runtime.support.errors import ModelError
from runtime.system.coordinate_steps import step_along
from runtime.system.force_states import names_of_states
from runtime.system.joint_motion import FULL_TURN, JointMotion
from runtime.system.quantity import COORDINATES, Quantity
from runtime.system.spanning_tree import SpanningTree
from runtime.system.state import PARTS, by_body
from runtime.system.system import System

Outputs = Mapping[str, Output]
ENERGIES = {"kinetic_energy": [0], "potential_energy": [1], "elastic_energy": [2], "energy": [0, 1, 2]}

# Bytes of states at once.  The C library takes larger arrays from the operating system each time, cleared, and gives them back:
# where states of a whole chunk were made at once, this took a third of the time.
BLOCK = 16e6


def blocks_of(cases: int, size: int) -> list[slice]:
    """Blocks of so many cases whose states, of so many numbers a case, fit into ``BLOCK``; at least one block."""
    block = max(LANES, int(BLOCK / (8 * size)))
    return [slice(first, first + block) for first in range(0, max(cases, 1), block)]


def places_of(outputs: Outputs) -> dict[str, slice]:
    """Columns of each output among those of a case."""
    ends = np.cumsum([0, *(output.size for output in outputs.values())]).tolist()
    return {name: slice(start, end) for name, start, end in zip(outputs, ends[:-1], ends[1:], strict=True)}


@dataclass
class BatchQuantities:
    """Quantities over time of cases that were integrated side by side and reached their end.

    ``states``: returns (cases, times, 13 bodies); ``begun``: returns those at the start, (cases, 13 bodies);
    ``energies``: returns (cases, times, 3), if they are known; called again for each quantity, as ``contacts`` is;
    ``z`` (cases, times, n): coordinates and rates of the tree;
    ``start`` (cases, n): those at the start of the runs;
    ``limits`` (cases, limits, PARAMETERS): those that restrain them; ``motions``: of the joints, where all cases have the same;
    ``quarters`` (cases, times, turns): ``WholeTurns.quarters``;
    ``contacts``: returns what is measured of contacts, as of ``contact_batch.measured_in_lanes``;
    ``events``: returns touch-downs and lift-offs of a case, as ``Run.contact_events``;
    ``derived``: what follows by the equations of the cases;
    ``of_forces`` (cases, times, states): states of forces, where they have some;
    ``counted`` (cases, times, angles): ``WholeTurns.counted``;
    ``masses``: (bodies,) or (cases, bodies), and inertias (bodies, 3, 3) or (cases, bodies, 3, 3), where all cases have the
    frames of the system; ``alike``: whether all have its mechanics.
    """

    system: System
    states: Callable[[], Floats]
    begun: Callable[[], Floats]
    energies: Callable[[], Floats] | None = None
    tree: SpanningTree | None = None
    z: Floats | None = None
    start: Floats | None = None
    limits: Floats | None = None
    motions: Mapping[str, JointMotion] | None = None
    quarters: Ints | None = None
    contacts: Callable[[], Floats] | None = None
    events: Callable[[int], Floats] | None = None
    derived: DerivedQuantities | None = None
    of_forces: Floats | None = None
    counted: Floats | None = None
    masses: tuple[Floats, Floats] | None = None
    alike: bool = False

    def of(self, quantity: Quantity) -> Floats | None:
        """Values (cases, times, ...) of a quantity; None where these arrays do not have it."""
        part, sort = quantity.part, quantity.owner_sort
        if self.of_forces is not None and sort == "force":
            names, name = names_of_states(self.system), f"{quantity.owner}.{part.removeprefix('force_')}"
            return self.of_forces[..., names.index(name)] if name in names else None
        if sort == "body" and part in PARTS:
            o, place = STATE * self.system.body_index(quantity.owner), PARTS[part]
            return self.states()[..., o + place.start : o + place.stop]
        if part in ENERGIES and self.energies is not None:
            return np.asarray(self.energies()[..., ENERGIES[part]].sum(axis=-1))
        if part in OF_CONTACTS and self.contacts is not None:
            return self.contacts()[:, :, self.system.contact_names.index(quantity.owner), OF_CONTACTS[part]]
        if part in COORDINATES and self.motions is not None:
            return self._coordinate_of_states(self.motions, quantity)
        if quantity.part in COORDINATE_QUANTITIES and not self.alike:
            return None
        if is_on_request(quantity) and not needs_accelerations(quantity):
            return None if self.masses is None else self._of_rows(quantity, *self.masses)
        values = self._along_coordinates(quantity)
        return self.derived.of(quantity) if values is None and self.derived is not None else values

    def _of_rows(self, quantity: Quantity, mass: Floats, inertia: Floats) -> Floats | None:
        """A quantity of a frame or of all bodies."""
        states = by_body(self.states())
        cases, times, *of_each = states.shape
        if mass.ndim > 1:
            mass = np.repeat(mass, times, axis=0)
        if inertia.ndim > 3:
            inertia = np.repeat(inertia, times, axis=0)
        rows = Rows(states.reshape(cases * times, *of_each), _no_accelerations, mass, inertia, dict)
        found = value_in_rows(self.system, quantity, rows)
        return None if found is None else found.reshape(cases, times, *found.shape[1:])

    def _along_coordinates(self, quantity: Quantity) -> Floats | None:
        """Values of a quantity that follows from coordinates of the tree."""
        if self.tree is None or self.z is None:
            return None
        if quantity.part in COORDINATES:
            return self._coordinate(quantity)
        if quantity.owner_sort == "limit" and self.limits is not None:
            k = self.system.limit_names.index(quantity.owner)
            return self._of_limit(self.tree, k, quantity.part, self.z, self.limits, self.start)
        return None

    def _coordinate_of_states(self, motions: Mapping[str, JointMotion], quantity: Quantity) -> Floats:
        """A coordinate of a joint or its rate from states, as ``Run.angles`` has it."""
        joint, _, column = quantity.owner.rpartition(".")
        states, begun = self.states(), self.begun()
        found = np.empty(states.shape[:2])
        for case, own in enumerate(states):
            turns = None if self.quarters is None or not self.quarters.size else self.quarters[case]
            angles = angles_of_joint(self.system, motions[joint], by_body(own), turns, start=begun[case])
            found[case] = (angles.values if quantity.part == "angle" else angles.rates)[column]
        return found

    def _coordinate(self, quantity: Quantity) -> Floats | None:
        """A coordinate of a joint or its rate, as ``Run.angles`` has it: at the start an angle is within half a turn."""
        assert self.tree is not None and self.z is not None and self.start is not None
        found = step_along(quantity.owner, self.system.joint_motions, self.tree)
        if found is None or self.tree.kinds[found[0]] == "ball":
            return None
        sign, (q, u) = self.tree.coordinates[found[0]].sign, (places[found[0]] for places in self.tree.places)
        if quantity.part == "rate":
            return sign * self.z[..., u]
        values = sign * self.z[..., q]
        return values - before_start(sign * self.start[:, q, None]) if quantity.unit == "rad" else values

    @staticmethod
    def _of_limit(
        tree: SpanningTree, k: int, part: str, z: Floats, limits: Floats, start: Floats | None
    ) -> Floats | None:
        """A quantity of a limit, as ``LimitMotion`` has it."""
        given = np.moveaxis(limits[:, k], 1, 0)[:, :, None]  # (PARAMETERS, cases, 1)
        q, u = (places[k] for places in tree.limited_places)
        part = part.removeprefix("limit_")
        angle, rate = given[SIGN] * z[..., q] + given[OFFSET], given[SIGN] * z[..., u]
        if part == "rate":
            return rate  # type: ignore[no-any-return]
        if part == "angle":
            assert start is not None
            return angle - before_start(given[SIGN] * start[:, q, None] + given[OFFSET])  # type: ignore[no-any-return]
        if part == "dissipative_moment":
            return given[DAMPING] * np.abs(rate)  # type: ignore[no-any-return]
        if part == "dissipated_power":
            return given[DAMPING] * rate**2  # type: ignore[no-any-return]
        if part == "elastic_energy":
            return stored_energies(tree.limits[k : k + 1], limits[:, k : k + 1], z[..., q : q + 1])
        turned = angle - FULL_TURN * np.round(angle / FULL_TURN)
        excess: Floats = np.maximum(np.abs(turned) - np.where(turned > 0.0, given[AHEAD], given[BEHIND]), 0.0)
        if part == "excess":
            return excess
        if part == "restricting_moment":
            law = law_at(tree.limits[k], given, np.minimum(excess / given[COMPLIANCE], 1.0))
            return given[MAX_MOMENT] * law[1]  # type: ignore[no-any-return]
        return None  # latitude and longitude of the direction


def _no_accelerations() -> Floats:
    raise AssertionError("accelerations come from DerivedQuantities")


def needs_more_than_states(outputs: Outputs) -> bool:
    """Whether outputs need accelerations, multipliers or forces of cases."""
    of_states = {*PARTS, *COORDINATES, *ENERGIES, *SYSTEM_QUANTITIES, *COORDINATE_QUANTITIES, "norm_violation"}
    return not {output.quantity.part for output in outputs.values()} <= of_states - {INVERSE_DYNAMICS}


def needs_masses(outputs: Outputs) -> bool:
    """Whether outputs depend on masses beside states and what is derived of them."""
    of_masses = {*SYSTEM_QUANTITIES, *COORDINATE_QUANTITIES}
    return any(output.quantity.part in of_masses for output in outputs.values())


def columns_of_batch(
    outputs: Outputs,
    how: Settings,
    quantities: BatchQuantities,
    system_of: Callable[[int], System],
    say: Callable[[int, str], None],
) -> Floats:
    """Outputs of cases of a batch, (cases, columns); ``system_of``: the system of a case, ``say``: a message about one."""
    t, places = np.array(how.t), places_of(outputs)
    of_runs = {}
    columns: dict[str, Floats] = {}
    for name, output in outputs.items():
        values = quantities.of(output.quantity)
        if values is None:
            of_runs[name] = output
        else:
            columns[name] = output.of(values, t).reshape(len(values), output.size)
    states, begun = (quantities.states(), quantities.begun()) if of_runs else (np.zeros((0, 0, 0)), np.zeros((0, 0)))
    count = len(next(iter(columns.values()), states))
    found = np.full((count, max(place.stop for place in places.values())), np.nan)
    for name, values in columns.items():
        found[:, places[name]] = values
    for case in range(count) if of_runs else ():
        events = quantities.events(case) if quantities.events else np.zeros((0, 4))
        z, counted = (
            None if every is None else np.ascontiguousarray(every[case])
            for every in (quantities.of_forces, quantities.counted)
        )
        own = how, t, np.ascontiguousarray(states[case]), events, begun[case], z, counted
        run = run_of_states(system_of(case), *own)
        if quantities.derived is not None:
            vars(run)["_found"] = quantities.derived.of_states.derived(case)
        try:
            values = columns_of_run(of_runs, run, len(t))
        except ModelError as error:
            say(case, str(error))
            found[case] = np.nan
            continue
        if remark := undetermined_outputs(run, of_runs):
            say(case, remark)
        for name, place in places_of(of_runs).items():
            found[case, places[name]] = values[place]
    return found


def columns_of_run(outputs: Outputs, run: Run, times: int) -> Floats:
    """Outputs of a run, (columns,).  Of one that stopped before its end: NaN for reductions, and at times that it did not reach.

    Raises
    ------
    ModelError
        Where a quantity is undetermined, such as a reaction in a singular pose.
    """
    columns: list[Floats] = []
    for output in outputs.values():
        values = np.full(output.shape, np.nan)
        if len(run.t) == times or not output.reduction:
            own = value_of(output, run) if len(run.t) else np.zeros(0)
            values[() if output.reduction else slice(len(run.t))] = own
        columns.append(values.ravel())
    return np.concatenate(columns)
