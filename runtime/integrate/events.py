"""Events: functions of time and state whose zeros a simulation locates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from runtime.dynamics.equations import derivative_once
from runtime.dynamics.force_elements import AT_START, EventWorkspace, ForceData, event_workspace, follow_states
from runtime.dynamics.model_data import ModelData, Workspace, size_of_states
from runtime.dynamics.places import ANGLES, EVALUATION
from runtime.dynamics.status import RunFailure, Status
from runtime.integrate.crossings import evaluate_events_once
from runtime.integrate.failures import evaluation_failure
from runtime.integrate.lane_state import SAMPLES
from runtime.jit.references import reference
from runtime.support.arguments import checked, checked_class
from runtime.support.arrays import Ints, frozen
from runtime.support.checks import positive, returned_number
from runtime.support.errors import ModelError, said_by, shown
from runtime.support.numbers import PLAIN
from runtime.system.force_building import build_force, force_data
from runtime.system.force_states import vector_of
from runtime.system.parts import GROUND, Force
from runtime.system.reference import body_places, states_with_ground
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.workspaces import workspace


@checked_class
@dataclass(frozen=True)
class Event:
    """A scalar function of time and state whose zeros are located; a zero at the very start counts only with ``at_start``.

    Parameters
    ----------
    name : str
    function : callable(t, state) -> float
        ``state.r["toes"]`` and so on.
    direction : -1, 0 or 1
        Falling zeros only, all, or rising only.
    terminal : bool
        Stop at the first zero.
    at_start : bool
        A value that is not above 0 at the very start counts as a zero there.
    """

    MADE_BY: ClassVar[str] = "runtime.Event(name, function)"
    name: str
    function: Callable[[float, State], float]
    direction: int = 0
    terminal: bool = False
    at_start: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ModelError(
                f"event '{self.name}': function = {shown(self.function)} cannot be called; give function(t, state)"
            )
        if self.direction not in (-1, 0, 1):
            raise ModelError(f"event '{self.name}': direction = {shown(self.direction)}; use -1, 0 or 1")

    def value(self, t: float, state: State) -> float:
        """The function's value, which must be finite.

        Raises
        ------
        ModelError
            The function failed, or returned no number.
        RunFailure
            The value is not finite.
        """
        try:
            given = self.function(t, state)
        except (ModelError, RunFailure):
            raise
        except Exception as error:
            raise ModelError(f"event '{self.name}': its function failed: {said_by(error)}") from error
        value = float(given) if type(given) in PLAIN else returned_number(given, f"event '{self.name}': function")
        if not np.isfinite(value):
            raise RunFailure(Status.EVENT_NOT_FINITE, t, f"event '{self.name}' is {value}")
        return value


class _Compiled:
    """An event that compiled code finds; ``simulate`` makes it an event of its system."""

    def of(self: Any, system: System, data: ModelData) -> Event:
        """The event for a system with the data of its simulation; its values come from compiled code."""
        work: Any = None
        kept: Any = None

        def value(t: float, state: State) -> float:
            nonlocal work, kept
            if work is None:
                events = watching([self], watched([self], system), size_of_states(data), at_start=True)
                work = workspace(system, data)._replace(events=events)
                events.evaluation[:], kept = evaluation_of([self], data, lambda: work)
            y = vector_of(system, state)
            evaluate_events_once(t, y, data, work)
            found = float(work.events.now[0])
            if isinstance(self, AtRest) and np.isnan(found):
                code = derivative_once(t, y, data, work, work.events.y_dot)
                raise evaluation_failure(code, t, system, work)
            return found

        return Event(self.name, value, self.direction, self.terminal, self.at_start)


@dataclass(frozen=True)
class ZeroCrossing(_Compiled):
    """An event that is a definition, from ``zero_crossing``."""

    MADE_BY: ClassVar[str] = "runtime.zero_crossing(name, definition, ...)"
    name: str
    module: ModuleType
    bodies: tuple[str, ...]
    values: Mapping[str, Any]
    direction: int
    terminal: bool
    at_start: bool

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse: another process cannot import the definition."""
        raise ModelError(
            f"event '{self.name}': a definition of codegen.compile_event cannot be pickled; run the cases in this process, or "
            "give runtime.Event with a function of a module"
        )

    def element(self, system: System) -> Force:
        """Its definition with checked values."""
        bodies = [*self.bodies, GROUND] if len(self.bodies) == 1 else list(self.bodies)
        return build_force(self.name, self.module, bodies, self.values, system.body_names, "event")


def watching(events: Sequence[AtRest | ZeroCrossing], data: ForceData, size: int, *, at_start: bool) -> EventWorkspace:
    """Memory for events with the data of their definitions; ``size`` as of ``event_workspace``; ``evaluation`` is left open.

    at_start : whether zeros at the begin of the first step count
    """
    rules = rules_of(events)
    rules[:, AT_START] *= at_start
    limits = [(event.speed, event.acceleration) if isinstance(event, AtRest) else (np.nan, np.nan) for event in events]
    return event_workspace(data, rules, np.array(limits), SAMPLES + 1, size)


NO_EVALUATION: tuple[list[int], Any] = [0, 0, 0, 0], None


def evaluation_in(data: ModelData, work: Workspace) -> tuple[list[int], Any]:
    """``EventWorkspace.evaluation`` with data and memory of its own, and what must live as long."""
    follow_states(data.forces, work.forces)
    kept = reference(data), reference(work)
    return [int(work.address[EVALUATION]), int(work.address[ANGLES]), *(one.address for one in kept)], kept


def evaluation_of(
    events: Sequence[AtRest | ZeroCrossing], data: ModelData, work: Callable[[], Workspace]
) -> tuple[list[int], Any]:
    """``evaluation_in`` memory that is made for it, where one of the events needs it."""
    return evaluation_in(data, work()) if any(isinstance(event, AtRest) for event in events) else NO_EVALUATION


def watched(events: Sequence[AtRest | ZeroCrossing], system: System) -> ForceData:
    """Flat data of the events that are definitions."""
    places, states = body_places(system.body_names), states_with_ground(system.reference_configuration.y)
    return frozen(
        force_data(
            [event.element(system) for event in events if isinstance(event, ZeroCrossing)], (), places, states, 0
        )
    )


def rules_of(events: Sequence[Event | AtRest | ZeroCrossing]) -> Ints:
    """Direction, terminal, at_start of events, (events, 3)."""
    rules = [(event.direction, event.terminal, event.at_start) for event in events]
    return np.array(rules, np.int64).reshape(-1, 3)


@checked
def zero_crossing(
    name: str, definition: ModuleType, *bodies: str, direction: int = 0, terminal: bool = False, at_start: bool = False,
    **values: Any,
) -> ZeroCrossing:  # fmt: skip
    """The event that a scalar of a definition crosses zero, found in compiled code.

    Parameters
    ----------
    name : str
    definition : module
        What ``codegen.compile_event`` returned.
    *bodies : str
        Names of its bodies i, j, k, l, or "ground"; of one body only, without the ground.
    direction, terminal, at_start
        As of ``Event``.
    **values
        The arguments of the definition, as for ``Builder.force``.

    Raises
    ------
    ModelError
    """
    if not (hasattr(definition, "OUTPUTS") and [key for key, _ in definition.OUTPUTS] == ["value"]):
        raise ModelError(
            f"event '{name}': {shown(definition)} is no event; give what codegen.compile_event(definition) returned"
        )
    if direction not in (-1, 0, 1):
        raise ModelError(f"event '{name}': direction = {direction!r}; use -1, 0 or 1")
    return ZeroCrossing(name, definition, bodies, dict(values), direction, bool(terminal), bool(at_start))


def check_events(events: Sequence[Event | AtRest | ZeroCrossing], system: System) -> None:
    """Refuse what are no events of a system.

    Raises
    ------
    ModelError
    """
    if not all(isinstance(event, Event | AtRest | ZeroCrossing) for event in events):
        raise ModelError(
            "events must be a sequence of runtime.Event(name, function), runtime.at_rest() or runtime.zero_crossing()"
        )
    names = [event.name for event in events]
    if len(set(names)) < len(names):
        raise ModelError(f"events: the names {', '.join(names)} must differ")
    for event in events:
        if isinstance(event, ZeroCrossing):
            event.element(system)


@dataclass(frozen=True)
class AtRest(_Compiled):
    """The event that a system comes to rest, from ``at_rest``."""

    MADE_BY: ClassVar[str] = "runtime.at_rest()"
    name: str
    speed: float
    acceleration: float
    terminal: bool
    direction: ClassVar[int] = -1
    at_start: ClassVar[bool] = True


@checked
def at_rest(*, speed: float = 1e-3, acceleration: float = 1e-2, terminal: bool = True, name: str = "rest") -> AtRest:
    """The event that a system comes to rest: the speeds and accelerations of all bodies fall below limits.

    A pendulum at its turning point is slow but accelerated, so it is not at rest.  For a system at rest at the start, the event
    occurs at the start.

    Parameters
    ----------
    speed : float [m/s] and [rad/s]
        Limit for the centres of mass and for the angular velocities.
    acceleration : float [m/s^2] and [rad/s^2]
        Limit for the centres of mass and for the angular accelerations.
    terminal : bool
        Stop there.
    name : str

    Raises
    ------
    ModelError
    """
    speed, acceleration = (
        positive(value, f"event '{name}': {key}") for key, value in dict(speed=speed, acceleration=acceleration).items()
    )
    return AtRest(name, speed, acceleration, bool(terminal))
