"""A task of an ensemble, common to all of its cases, and the results of a chunk of cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from runtime.dynamics.layout import STATE
from runtime.dynamics.status import Status, message_at_end
from runtime.integrate.controllers import Controller
from runtime.integrate.events import AtRest, Event, ZeroCrossing
from runtime.integrate.settings import Settings
from runtime.integrate.step_control import NO_LIMIT
from runtime.integrate.tree_method import joints_in_lanes
from runtime.integrate.written.event_values import known_events
from runtime.results.coordinate_quantities import MOMENT_ARMS
from runtime.results.outputs import Output
from runtime.results.run import Run
from runtime.results.undecided_turns import poses_show_angles, start_counts
from runtime.results.whole_turns import needed
from runtime.support.arrays import Bools, Floats, Ints
from runtime.system.delays import delayed
from runtime.system.quantity import Quantity, Role
from runtime.system.system import System
from runtime.system.whole_model import own_kernels

Controllers = Sequence[Controller] | Callable[[], Sequence[Controller]]
TURNING = ("angle", "limit_angle")  # parts that count whole turns


class Stopped(Exception):
    """A chunk was stopped before its end."""


@dataclass(frozen=True)
class Task:
    """Settings common to all cases."""

    system: System | Callable[..., System]
    quantities: Mapping[str, Quantity]  # of the cases, by name
    how: Settings
    assemble: bool  # initial states
    bodies: tuple[str, ...]
    gpu: bool = False
    outputs: Mapping[str, Output] | None = None  # what is kept of each case; None: its states
    events: tuple[Event | AtRest | ZeroCrossing, ...] = ()
    controllers: Controllers = ()
    kernels: Mapping[str, str] = field(default_factory=own_kernels)  # for processes of an engine
    stop: Ints = field(default_factory=lambda: np.zeros(1, np.int64))  # other than 0: stop; shared by threads only

    @property
    def stored_settings(self) -> dict[str, Any]:
        """Settings of the runs, stored with the results."""
        max_steps = None if self.how.max_steps == NO_LIMIT else self.how.max_steps
        found = asdict(self.how) | {"assemble": self.assemble, "max_steps": max_steps}
        found["equations"] = f"{found.pop('coordinates')} coordinates"  # "coordinates" is an attribute of NetCDF's own
        return found

    def starts_in_time(self, system: System) -> bool:
        """Whether a system satisfies its rows at the start of the runs if it does at its own time."""
        return self.how.t_start == system.time or not system.drivers

    @property
    def compiled(self) -> bool:
        """Whether compiled code finds all events, of which there may be none, and no controllers or delays act."""
        late = isinstance(self.system, System) and delayed(self.system)
        return not (self.controllers or late or any(isinstance(event, Event) for event in self.events))

    def found_in_lanes(self, system: System) -> bool:
        """Whether lanes find the events in cases of a system; True where there are none.  Lanes know no controllers."""
        if self.controllers or not self.events:
            return not self.controllers
        in_lanes = isinstance(self.system, System) and joints_in_lanes(system, self.how)
        return in_lanes and known_events(system, self.events)

    @property
    def acting(self) -> dict[str, Any]:
        """Events and controllers of a single run."""
        controllers = self.controllers() if callable(self.controllers) else self.controllers
        return {"events": self.events, "controllers": controllers}

    @property
    def counts_turns(self) -> bool:
        """Whether whole turns of joints are part of what is kept of a case."""
        return self.outputs is None or any(one.quantity.part in TURNING for one in self.outputs.values())

    @property
    def varies_masses_alone(self) -> bool:
        """Whether the cases are those of one system with other initial states, masses, inertias and gravity alone."""
        return self._varies_alone("", "body")

    @property
    def same_mechanics(self) -> bool:
        """Whether all cases have the mechanics of one system, which follow from states of its bodies alone."""
        system = self.system
        of_paths = any(one.quantity.part == MOMENT_ARMS for one in (self.outputs or {}).values())
        others = self._varies_alone("motor", "limit", "contact", *(() if of_paths else ("force",)))
        return others and isinstance(system, System) and not system.couplings

    def _varies_alone(self, *sorts: str) -> bool:
        """Whether the cases are those of one system with other initial states, and parameters of such owners."""
        varied = [q.owner_sort for q in self.quantities.values() if q.role is Role.PARAMETER]
        return isinstance(self.system, System) and all(sort in sorts for sort in varied)

    @property
    def kept_shape(self) -> tuple[int, ...]:
        """Shape of what is kept of a case: its states (times, 13 bodies), or the columns of its outputs."""
        if self.outputs is None:
            return len(self.how.t or ()), STATE * len(self.bodies)
        return (sum(output.size for output in self.outputs.values()),)


@dataclass(frozen=True)
class Chunk:
    """Results of cases that were run together."""

    first: int
    states: Floats  # (cases, times, 13 bodies), or (cases, columns) of the outputs; NaN after a failure
    status: Ints  # (cases,) of ``Status``
    reached: Floats  # (cases,) [s]
    counts: Ints  # (cases, 3) evaluations, steps, rejections
    vectorised: Bools  # (cases,) by vector instructions
    messages: dict[int, str]  # of cases that failed or lost accuracy, by case number
    mark: tuple[int, str]  # case number and digest of a system that a function built; "" where there is none
    # Case numbers (m,) and ``WholeTurns.quarters`` (m, times, turns), where states do not show them.
    turns: list[tuple[Ints, Ints]] = field(default_factory=list)
    # Case numbers (m,) and states at the start (m, 13 bodies), from which angles at the first time follow.
    starts: list[tuple[Ints, Floats]] = field(default_factory=list)
    # Case numbers (m,) and rows (m, 2 + 13 bodies): number of an event of the task, its time [s], and the state there.
    events: list[tuple[Ints, Floats]] = field(default_factory=list)

    def keep(self, cases: Ints, states: Floats | None, counts: Ints, reached: Floats) -> None:
        """Keep the results of cases that reached their end in a batch: states or outputs (cases, ...) and what follows them.

        ``states`` is None where they are stored already.
        """
        if states is not None:
            self.states[cases] = states
        every = len(cases) == len(self.status) and bool((cases[1:] > cases[:-1]).all())
        places = slice(None) if every else cases
        self.status[places], self.vectorised[places] = Status.REACHED_END, True
        self.counts[places], self.reached[places] = counts, reached

    def keep_turns(self, task: Task, cases: Ints, quarters: Ints) -> None:
        """Keep ``WholeTurns.quarters`` (cases, times, turns) of cases of a system where states do not show the turns."""
        at = np.flatnonzero(needed(quarters))
        if len(at) and isinstance(task.system, System):
            self.turns.append((self.first + cases[at], quarters[at]))

    def keep_starts(self, task: Task, cases: Ints, start: Callable[[], Floats], *, of_tree: bool) -> None:
        """Keep states at the start (cases, 13 bodies) of cases of a system whose states do not show their angles without them.

        of_tree : whether ``keep_turns`` has the turns of the tree
        """
        system, how = task.system, task.how
        at_start = not how.t or how.t[0] <= how.t_start
        if task.outputs is not None or at_start or not isinstance(system, System):
            return
        if len(cases) and poses_show_angles(system, of_tree=of_tree):
            begun, first = start(), self.states[cases, 0]
            known = np.flatnonzero(np.isfinite(first).all(axis=1))
            at = known[start_counts(system, begun[known], first[known], of_tree=of_tree)]
            if len(at):
                self.starts.append((self.first + cases[at], begun[at]))

    def keep_events(self, case: int, run: Run) -> None:
        """Keep the events of a single run."""
        rows = [
            (k, t, *state.y)
            for k, name in enumerate(run.events)
            for t, state in zip(run.events[name], run.event_states[name], strict=True)
        ]
        if rows:
            self.events.append((np.full(len(rows), self.first + case), np.array(rows)))

    def say(self, cases: Ints, place: int, text: str) -> None:
        """Keep a message of the case at a place among these, behind those that it has."""
        case = self.first + int(cases[place])
        self.messages[case] = f"{self.messages[case]}; {text}" if case in self.messages else text

    def remark(self, cases: Ints, remarks: Mapping[int, str], t_end: float) -> None:
        """Keep remarks on some of these cases, which reached their end."""
        for k, remark in remarks.items():
            case = self.first + int(cases[k])
            self.messages[case] = self.messages.get(case, message_at_end(t_end)) + remark
