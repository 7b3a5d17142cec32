"""Controllers: functions of time and state that set efforts of motors at a stated rate, which hold until the next call.

A run pauses for their calls, and likewise for the signals of reflexes with a delay (``delays``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from runtime.dynamics.model_data import ModelData
from runtime.dynamics.signals import SignalData
from runtime.dynamics.status import RunFailure, Status
from runtime.integrate.choices import COMPILED_METHODS, SCIPY_METHODS
from runtime.integrate.delays import Delays, at_once, late, refuse_short_delays
from runtime.integrate.handed_state import RunState, RunStates
from runtime.integrate.joints_first import JointsFirst
from runtime.integrate.methods import Compiled
from runtime.integrate.settings import Settings
from runtime.support.arguments import checked_class
from runtime.support.arrays import Floats, frozen
from runtime.support.checks import finite_number, positive
from runtime.support.errors import ModelError, said_by, shown, unknown_name
from runtime.support.numbers import LARGEST, PLAIN
from runtime.system.parameters import replace_parameters
from runtime.system.signal import held_signal
from runtime.system.system import System


@checked_class
@dataclass(frozen=True)
class Controller:
    """A function of time and state that is called at a stated rate and returns efforts of motors, which hold until its next call.

    Parameters
    ----------
    name : str
    function : callable(t, state) -> efforts
        ``state.coordinate("knee.angle")``, ``state.rate("knee.angle")``, ``state.r["arm"]``, arrays ``state.q``, ``state.u``
        and so on, at a time [s].  It returns a mapping of efforts by the names of the motors, a sequence in their order, or of a
        single motor a number [N m], [N].
    rate_hz : float [1/s], optional
        Calls a second, the first one at the start of the run.
    period : float [s], optional
        Time from call to call, in place of the rate.
    efforts : sequence of str
        Names of the motors.  Their efforts in the system are numbers, not signals of time.
    """

    name: str
    function: Callable[[float, RunState], Any]
    rate_hz: float | None = None
    period: float | None = None
    efforts: Sequence[str] = ()

    def __post_init__(self) -> None:
        what = f"controller '{self.name}'"
        if not callable(self.function):
            raise ModelError(f"{what}: function = {shown(self.function)} cannot be called; give function(t, state)")
        if (self.rate_hz is None) == (self.period is None):
            raise ModelError(f"{what}: give either rate_hz or period")
        key, value = ("period", self.period) if self.rate_hz is None else ("rate_hz", self.rate_hz)
        positive(value, f"{what}: {key}")
        if isinstance(self.efforts, str) or not self.efforts or not all(isinstance(one, str) for one in self.efforts):
            raise ModelError(f"{what}: efforts = {shown(self.efforts)}; give names of motors, such as ['knee_motor']")


def efforts_of(controller: Controller, t: float, state: RunState) -> list[float]:
    """Efforts of the motors of a controller, in their order, at a time, from its function.

    Raises
    ------
    ModelError
        The function failed, or returned other than finite efforts of these motors.
    """
    names = controller.efforts
    try:
        given = controller.function(t, state)
    except Exception as error:
        raise ModelError(f"controller '{controller.name}': its function failed: {said_by(error)}") from error
    numbers: list[Any]
    if isinstance(given, np.ndarray) and given.ndim == 1 and given.dtype == np.float64:
        numbers = given.tolist()
    elif isinstance(given, list | tuple):  # fast path
        numbers = [*given]
    elif isinstance(given, Mapping):
        if set(given) != set(names):
            returned = ", ".join(map(str, given)) or "no motor"
            raise ModelError(
                f"controller '{controller.name}': returned efforts of {returned}; return the efforts of "
                f"{', '.join(names)}"
            )
        numbers = [given[name] for name in names]
    else:
        numbers = list(given) if isinstance(given, Iterable) and np.ndim(given) else [given]  # type: ignore[arg-type]
    if len(numbers) != len(names):
        raise ModelError(f"controller '{controller.name}': returned {len(numbers)} efforts; return {len(names)}")
    if PLAIN.issuperset(map(type, numbers)) and sum(map(abs, numbers)) <= LARGEST:  # fast path
        return [*map(float, numbers)]
    pairs = zip(names, numbers, strict=True)
    return [finite_number(x, f"controller '{controller.name}': effort of '{name}'") for name, x in pairs]


class HeldEfforts:
    """Efforts of motors that change between steps; ``data``: the system's data, ``signals``: its signals, to be written."""

    def __init__(self, system: System, data: ModelData, motors: Sequence[str], whose: str) -> None:
        for name in motors:
            if name not in system.motor_names:
                raise unknown_name(name, system.motor_names, "motor", whose=f"{whose}: ")
            if not system.motors[system.motor_names.index(name)].effort.is_constant:
                raise ModelError(
                    f"{whose}: the effort of motor '{name}' is a signal of time; build the motor with a number"
                )
        rows = data.signals.start[data.loads.effort]
        self.rows = {name: int(rows[system.motor_names.index(name)]) for name in motors}
        self.signals = SignalData(**{name: array.copy() for name, array in data.signals._asdict().items()})
        # Compiled code is made for arrays that are read-only.
        read = SignalData(**{name: array.view() for name, array in self.signals._asdict().items()})
        self.data = data._replace(signals=frozen(read))

    def put(self, row: int, effort: float) -> None:
        """Set the effort of a motor, by its row."""
        self.signals.coefficient[row, 0] = effort

    def value(self, name: str) -> float:
        """The effort of a motor."""
        return float(self.signals.coefficient[self.rows[name], 0])


class Sampling:
    """The pauses of a run: calls of its controllers, and windows of its delays."""

    def __init__(
        self, system: System, data: ModelData, controllers: Sequence[Controller], t_start: float, t_end: float
    ) -> None:
        names = [name for controller in controllers for name in controller.efforts]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ModelError(f"controllers: the effort of motor '{twice[0]}' is set twice; leave one of them out")
        whose = f"controller '{controllers[0].name}'" if len(controllers) == 1 else "controllers"
        self.delays = Delays(system, data) if late(system) else None
        data = data if self.delays is None else self.delays.data
        self.system, self.held = system, HeldEfforts(system, data, names, whose)
        self.controllers, self.t_start, self.t_end = controllers, t_start, t_end
        self.states, self.due = RunStates(system), t_start  # the time of the next call
        self.next = [t_start] * len(controllers)
        self.rows = [[self.held.rows[name] for name in controller.efforts] for controller in controllers]
        self.times: list[list[float]] = [[] for _ in controllers]
        self.efforts: list[list[list[float]]] = [[] for _ in controllers]

    def begin(self, m: Compiled | JointsFirst) -> None:
        """The first calls and signals, at the start of the run.

        Raises
        ------
        ModelError
            A function failed.
        """
        self.watched = len(m.work.events.value) > 0
        if self.delays is not None:
            self.delays.begin(m)
        self._call(m, m.t)

    def advance(
        self, m: Compiled | JointsFirst, steps: int, outputs: Floats, out: Floats, record_t: Floats, record_y: Floats
    ) -> tuple[Status, str]:
        """As of ``Compiled``, with the calls on the way, at which steps end; no call follows the last of the steps.

        With delays one step is taken, which is kept.
        """
        first = m.reached[1]
        try:
            while True:
                t, count = m.reached
                taken = count - first
                if taken >= steps:
                    return Status.RUNNING, ""
                if t >= self.due:
                    self._call_again(m, t)
                most = steps - taken if self.delays is None else 1
                status, message = m.advance(most, outputs, out, record_t[taken:], record_y[taken:])
                if self.delays is not None and m.reached[1] > count:
                    self.delays.keep(m)
                if status is not Status.REACHED_END:
                    return status, message
                if self.due >= self.t_end:
                    return status, message
                if self.watched:  # before the next call events may end the run
                    return Status.RUNNING, message
        except KeyboardInterrupt:  # here, so that the steps before it are in the result
            return Status.INTERRUPTED, Status.INTERRUPTED.text(m.t)
        except RunFailure as failed:
            return failed.status, str(failed)

    def _call_again(self, m: Compiled | JointsFirst, t: float) -> None:
        """The calls at the time reached, with whose efforts the next step begins."""
        m.normalise()
        try:
            self._call(m, t)
        except ModelError as error:
            raise RunFailure(Status.CONTROLLER_FAILED, t, str(error)) from error
        m.lane.kinks_at = np.nan  # signals may be others from here on
        m.resume()

    def _call(self, m: Compiled | JointsFirst, t: float) -> None:
        now = at_once(t)
        for k, controller in enumerate(self.controllers):
            if self.next[k] > now:
                continue
            efforts = self.states.value(m, partial(efforts_of, controller, t))
            for row, effort in zip(self.rows[k], efforts, strict=True):
                self.held.put(row, effort)
            self.times[k].append(t)
            self.efforts[k].append(efforts)
            calls, rate, period = len(self.times[k]), controller.rate_hz, controller.period
            self.next[k] = self.t_start + (calls * period if rate is None else calls / rate)  # type: ignore[operator]
        self.due = min([self.t_end, *self.next])
        if self.delays is not None:
            self.due = self.delays.refill(t, self.due, self.held.signals)
            self.due = self.t_end if at_once(self.due) >= self.t_end else self.due
        m.until(self.due)

    def cause(self, steps: int, t: float) -> str:
        """For the message of a run that took so many steps until a time [s] and is given up: the delay that ended them."""
        return "" if self.delays is None else self.delays.cause(steps, t)

    def recorded(self) -> System:
        """The system with the efforts that were set, and with the past of muscles, as signals of time."""
        signals = {}
        for controller, times, efforts in zip(self.controllers, self.times, self.efforts, strict=True):
            for name, of_motor in zip(controller.efforts, np.array(efforts).T, strict=True):
                signals[f"effort.{name}"] = held_signal(np.array([*times, self.t_end]), of_motor)
        found = replace_parameters(self.system, signals) if signals else self.system
        return found if self.delays is None else self.delays.recorded(found)


def sampling_of(system: System, how: Settings, data: ModelData, controllers: Sequence[Controller]) -> Sampling | None:
    """The pauses of a run; None without controllers and delays.

    Raises
    ------
    ModelError
        For what are no controllers, motors that they cannot set, and methods that do not know them.
    """
    if not (isinstance(controllers, Sequence) and all(isinstance(one, Controller) for one in controllers)):
        raise ModelError("controllers must be a sequence of runtime.Controller(name, function, rate_hz, efforts=[...])")
    if not (controllers or late(system)):
        return None
    if how.method in SCIPY_METHODS:
        what = "controllers" if controllers else f"delays, as that of muscle '{late(system)[0].name}'"
        raise ModelError(f"method '{how.method}' knows no {what}; use {' or '.join(map(repr, COMPILED_METHODS))}")
    refuse_short_delays(system, how)
    return Sampling(system, data, controllers, how.t_start, how.t_end)
