"""Events that are functions in Python, located on the dense output step by step, and when a run is given up."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np

from runtime.dynamics.status import RunFailure, Status
from runtime.integrate.event_search import find_zeros
from runtime.integrate.events import AtRest, Event, ZeroCrossing, rules_of
from runtime.integrate.handed_state import RunStates
from runtime.integrate.lane_state import SAMPLES
from runtime.integrate.method import Method
from runtime.integrate.settings import Settings
from runtime.integrate.step_control import FIRST_LOOK, NO_LIMIT, would_not_end
from runtime.lanes.vector_formulas import with_vectors
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.system.system import System

SLOWER = 100.0  # a step in Python takes this many times as long as a compiled one, so that fewer count as without end


def steps_used_up(max_steps: int, t: float) -> tuple[Status, str]:
    """Status and message of a run that took ``max_steps``."""
    return Status.STEPS_USED_UP, Status.STEPS_USED_UP.text(t, f"max_steps = {max_steps}")


def until_next_look(steps: int, max_steps: int) -> int:
    """Steps that may be taken until ``Lookout`` is to be asked again, or to ``max_steps``."""
    look = max(FIRST_LOOK, 1 << steps.bit_length())
    return (look if max_steps == NO_LIMIT else max_steps) - steps


class Lookout:
    """Ends a run without ``max_steps`` whose steps are too short to reach its end, by the mean of the later half of them.

    ``slower``: times that a step takes longer than a compiled one.
    """

    def __init__(self, how: Settings, *, slower: float = 1.0) -> None:
        self.how, self.slower, self.before = how, slower, how.t_start

    def given_up(self, steps: int, t: float) -> tuple[Status, str] | None:
        """Status and message after so many steps, at a time [s]; None where the run goes on."""
        if steps < FIRST_LOOK or steps & (steps - 1) or t == self.before:  # after 1024, 2048, ... steps, once
            return None
        half, end, self.before = t - self.before, self.how.t_end, t
        endless = would_not_end.py_func(steps, t - 2.0 * half, t, t + self.slower * (end - t))
        if self.how.max_steps != NO_LIMIT or not endless:
            return None
        length = 2.0 * half / steps
        detail = f"{steps} steps, the later half of {length:.1e} s in the mean, {(end - t) / length:.0e} more to t = {end:g} s"
        return Status.TOO_MANY_STEPS, Status.TOO_MANY_STEPS.text(t, detail)


def stopped_by(event: Event | AtRest | ZeroCrossing, t: float) -> tuple[Status, str]:
    """Status and message of a run that a terminal event stopped."""
    return Status.STOPPED_BY_EVENT, Status.STOPPED_BY_EVENT.text(t, f"event '{event.name}'")


def _value_within(search: EventSearch, m: Method, lane: int, k: int, x: float) -> float:
    """``event_search.value_within`` of functions in Python."""
    return search.value(search.events[k], m.t_old + x * (m.t - m.t_old), m)


_find_zeros = with_vectors(find_zeros, value_within=_value_within)


class EventSearch:
    """Zeros of event functions along a run, by the names of the events: times [s] and states."""

    W = 1  # lanes

    def __init__(self, events: Sequence[Event], system: System) -> None:
        self.events, self.states, count = events, RunStates(system), len(events)
        # As of ``EventWorkspace``.
        samples, zeros = np.zeros((SAMPLES + 1, count)), np.zeros(((SAMPLES + 1) * count, 2))
        self.memory = SimpleNamespace(rules=rules_of(events), samples=samples, zeros=zeros)
        self.found: dict[str, tuple[list[float], list[Floats]]] = {event.name: ([], []) for event in events}
        self.values: list[float] = []

    def _keep(self, event: Event, t: float, y: Floats) -> None:
        times, states = self.found[event.name]
        times.append(t)
        states.append(y)

    def begin(self, m: Method) -> Event | None:
        """Evaluate all functions at the start; the terminal event whose zero is there, if any."""
        self.values = [event.value(m.t, self.states.now(m)) for event in self.events]
        stop = None
        for event, value in zip(self.events, self.values, strict=True):
            if event.at_start and value <= 0.0:
                self._keep(event, m.t, m.y.copy())
                stop = event if event.terminal and stop is None else stop
        return stop

    def search(self, m: Method) -> tuple[float, Event] | None:
        """Add the zeros within the last step; the first zero of a terminal event, if any, after which none is kept."""
        e, begin, h = self.memory, m.t_old, m.t - m.t_old
        if h == 0.0:  # before the first step of the next method
            return None
        e.samples[0], e.samples[SAMPLES] = self.values, [self.value(event, m.t, m) for event in self.events]
        self.values = e.samples[SAMPLES].tolist()
        count, _ = _find_zeros(self, m, e, 0, begin, h, False)
        return self._add(m, [(k, m.t if x == 1.0 else begin + x * h) for k, x in e.zeros[:count].tolist()])

    def take(self, m: Method, zeros: Floats | None) -> tuple[float, Event] | None:
        """As ``search``, with the zeros that compiled code found: numbers of events and times; None: a value is not finite."""
        if zeros is None:
            self.values = [self.value(event, m.t_old, m) for event in self.events]
            return self.search(m)
        return self._add(m, zeros.tolist())

    def _add(self, m: Method, zeros: Sequence[Sequence[float]]) -> tuple[float, Event] | None:
        """Add zeros within the last step; the first one of a terminal event."""
        stop: tuple[float, Event] | None = None
        for number, root in zeros:
            event = self.events[int(number)]
            self._keep(event, root, m.at(root))
            if event.terminal and (stop is None or root < stop[0]):
                stop = root, event
        return stop

    def value(self, event: Event, t: float, m: Method) -> float:
        """The value of an event at a time within the last step; its function's failure there is one of the run."""
        try:
            return event.value(t, self.states.at(m, t))
        except ModelError as error:
            raise RunFailure(Status.EVENT_NOT_FINITE, t, str(error)) from error
