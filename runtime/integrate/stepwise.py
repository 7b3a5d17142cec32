"""Integration one step at a time, with events located on the dense output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from runtime.dynamics.status import RunFailure, Status
from runtime.integrate.events import AtRest, Event, ZeroCrossing
from runtime.integrate.handed_state import RunStates
from runtime.integrate.method import Method
from runtime.integrate.settings import Settings
from runtime.integrate.step_control import FIRST_LOOK, NO_LIMIT, would_not_end
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.progress import Progress
from runtime.system.system import System

# An event function is evaluated at this many places of a step, so that two zeros in one step are not missed.
EVENT_SAMPLES = 4
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


class EventSearch:
    """Zeros of event functions along a run, by the names of the events: times [s] and states."""

    def __init__(self, events: Sequence[Event], system: System) -> None:
        self.events, self.states = events, RunStates(system)
        self.found: dict[str, tuple[list[float], list[Floats]]] = {event.name: ([], []) for event in events}
        self.values: list[float] = []

    def _keep(self, event: Event, t: float, y: Floats) -> None:
        times, states = self.found[event.name]
        times.append(t)
        states.append(y)

    def begin(self, m: Method) -> Event | None:
        """Evaluate all functions at the start; the terminal event whose zero is there, if any."""
        self.values = [self.states.value(m, partial(event.value, m.t)) for event in self.events]
        stop = None
        for event, value in zip(self.events, self.values, strict=True):
            if event.at_start and value <= 0.0:
                self._keep(event, m.t, m.y.copy())
                stop = event if event.terminal and stop is None else stop
        return stop

    def search(self, m: Method) -> tuple[float, Event] | None:
        """Add the zeros within the last step; the first zero of a terminal event, if any, after which none is kept."""
        zeros = []
        for number, event in enumerate(self.events):
            roots = self._zeros(number, m)
            zeros += [(number, root) for root in (roots[:1] if event.terminal else roots)]
        return self._add(m, zeros)

    def take(self, m: Method, zeros: Floats | None) -> tuple[float, Event] | None:
        """As ``search``, with the zeros that compiled code found: numbers of events and times; None: a value is not finite."""
        if zeros is None:
            self.values = [self._value(event, m.t_old, m) for event in self.events]
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

    def _value(self, event: Event, t: float, m: Method) -> float:
        """The value of an event at a time within the last step; its function's failure there is one of the run."""
        try:
            return event.value(t, self.states.at(m, t))
        except ModelError as error:
            raise RunFailure(Status.EVENT_NOT_FINITE, t, str(error)) from error

    def drop_after(self, t: float) -> None:
        """Remove the zeros after a time."""
        for times, states in self.found.values():
            kept = [k for k, root in enumerate(times) if root <= t]
            times[:], states[:] = [times[k] for k in kept], [states[k] for k in kept]

    def _zeros(self, number: int, m: Method) -> list[float]:
        """Zeros of one function within the last step, in order; stores its value at the end of the step."""
        event = self.events[number]
        known: dict[float, float] = {}  # at the ends of a bracket, so that its signs stay as they were found

        def g(t: float) -> float:
            return known[t] if t in known else self._value(event, t, m)

        zeros = []
        left, value = m.t_old, self.values[number]
        for right in np.linspace(m.t_old, m.t, EVENT_SAMPLES + 1)[1:]:
            here = self._value(event, right, m)
            rising = value < 0.0 <= here
            falling = value > 0.0 >= here
            if (rising and event.direction >= 0) or (falling and event.direction <= 0):
                if here == 0.0:
                    zeros.append(_end_of_sign(g, left, right, value))
                else:
                    from scipy.optimize import brentq  # here because the import takes a fifth of a second

                    known = {left: value, right: here}
                    # Multiple roots take many iterations, and noise has some change of its sign: neither is an error.
                    root, _ = brentq(g, left, right, xtol=1e-14, rtol=1e-14, maxiter=500, full_output=True, disp=False)
                    zeros.append(float(root))
            left, value = right, here
        self.values[number] = value
        return zeros


def _end_of_sign(g: Callable[[float], float], left: float, right: float, value: float) -> float:
    """Where a function that is 0 at ``right`` loses the sign of its value at ``left``: it may be 0 from there on."""
    low, high = left, right
    while low < (middle := 0.5 * (low + high)) < high:
        here = g(middle)
        low, high = (middle, high) if here and (here < 0.0) == (value < 0.0) else (low, middle)
    return high


def _row(m: Method, t: float) -> Floats:
    """State at a time within the last step, the work of each source of energy until then, and turns of a tree."""
    return np.concatenate([m.at(t), m.work_until(t), m.turns_at(t)])


def _row_reached(m: Method) -> Floats:
    """As ``_row``, at the time reached."""
    return np.concatenate([m.y, m.work_until(m.t), m.turns])


class Recorder:
    """Times, states and work of the sources of energy of a result: those wanted, or without a list those of the steps."""

    def __init__(self, m: Method, outputs: Floats | None) -> None:
        self.every_step = outputs is None
        self.wanted = [] if outputs is None else list(outputs)
        self.next = 0
        self.times: list[float] = []
        self.states: list[Floats] = []
        if self.every_step or self.wanted[0] == m.t:
            self.times.append(m.t)
            self.states.append(_row_reached(m))
            self.next = 0 if self.every_step else 1

    def record(self, m: Method, stop: float | None) -> None:
        """Add the states of the last step, up to ``stop`` [s] where an event ends the run."""
        limit = m.t if stop is None else stop
        while self.next < len(self.wanted) and self.wanted[self.next] <= limit:
            self.times.append(self.wanted[self.next])
            self.states.append(_row(m, self.wanted[self.next]))
            self.next += 1
        if self.every_step:
            self.times.append(limit)
            self.states.append(_row_reached(m) if stop is None else _row(m, limit))

    def arrays(self, n: int) -> tuple[Floats, Floats]:
        """Times (m,), and states with the work of each source of energy and turns of a tree (m, n)."""
        return np.array(self.times), np.array(self.states).reshape(len(self.times), n)


def integrate_stepwise(
    m: Method, recorder: Recorder, search: EventSearch, how: Settings, bar: Progress, step: Callable[[], tuple[Status, str]],
) -> tuple[Status, str]:  # fmt: skip
    """Take all steps; status, and the message unless the run reached its end.  ``step``: that of ``m``, with what is between."""
    try:
        if (first := search.begin(m)) is not None:
            return stopped_by(first, m.t)
        status, lookout = Status.RUNNING, Lookout(how, slower=SLOWER)
        while status == Status.RUNNING:
            steps = m.counts()[1]
            if steps >= how.max_steps:
                return steps_used_up(how.max_steps, m.t)
            if (ended := lookout.given_up(steps, m.t)) is not None:
                return ended
            status, reason = step()
            if status not in (Status.RUNNING, Status.REACHED_END):
                return status, reason
            stop = search.search(m)
            recorder.record(m, None if stop is None else stop[0])
            bar.update(m.t if stop is None else stop[0])
            if stop is not None:
                t, event = stop
                search.drop_after(t)
                m.stop(t)
                return stopped_by(event, t)
    except KeyboardInterrupt:
        return Status.INTERRUPTED, Status.INTERRUPTED.text(m.t)
    except RunFailure as failed:
        return failed.status, str(failed)
    return status, ""
