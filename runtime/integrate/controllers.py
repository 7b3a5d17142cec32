"""Controllers: functions of time and state that set efforts of motors at a stated rate, which hold until the next call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from runtime.dynamics.model_data import ModelData
from runtime.dynamics.status import RunFailure, Status
from runtime.integrate.choices import COMPILED_METHODS, SCIPY_METHODS
from runtime.integrate.handed_state import RunState, RunStates
from runtime.integrate.joints_first import JointsFirst
from runtime.integrate.methods import Compiled
from runtime.integrate.settings import Settings
from runtime.support.arguments import checked_class
from runtime.support.checks import finite_number, positive
from runtime.support.errors import ModelError, said_by, shown, unknown_name
from runtime.support.numbers import LARGEST, PLAIN
from runtime.system.parameters import replace_parameters
from runtime.system.signal import Signal
from runtime.system.system import System

ROUNDING = 1e-12  # of a time: samples so near each other are at one time


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


def efforts_of(controller: Controller, t: float, state: RunState) -> dict[str, float]:
    """Efforts by the names of motors at a time, from the function of a controller.

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
    if type(given) in PLAIN and len(names) == 1 and abs(given) <= LARGEST:
        return {names[0]: float(given)}
    if isinstance(given, Mapping):
        if set(given) != set(names):
            returned = ", ".join(map(str, given)) or "no motor"
            raise ModelError(
                f"controller '{controller.name}': returned efforts of {returned}; return those of {', '.join(names)}"
            )
        numbers = [given[name] for name in names]
    else:
        numbers = list(given) if isinstance(given, Iterable) and np.ndim(given) else [given]  # type: ignore[arg-type]
    if len(numbers) != len(names):
        raise ModelError(f"controller '{controller.name}': returned {len(numbers)} efforts; return {len(names)}")
    pairs = zip(names, numbers, strict=True)
    return {name: finite_number(x, f"controller '{controller.name}': effort of '{name}'") for name, x in pairs}


class HeldEfforts:
    """Efforts of motors that change between steps; ``data``: those of the system, with memory of their own for the efforts."""

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
        self._coefficients = data.signals.coefficient.copy()
        read = self._coefficients.view()  # compiled code is made for arrays that are read-only
        read.flags.writeable = False
        self.data = data._replace(signals=data.signals._replace(coefficient=read))

    def put(self, name: str, effort: float) -> None:
        """Set the effort of a motor."""
        self._coefficients[self.rows[name], 0] = effort

    def value(self, name: str) -> float:
        """The effort of a motor."""
        return float(self._coefficients[self.rows[name], 0])


class Sampling:
    """The calls of the controllers of a run."""

    def __init__(
        self, system: System, data: ModelData, controllers: Sequence[Controller], t_start: float, t_end: float
    ) -> None:
        names = [name for controller in controllers for name in controller.efforts]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ModelError(f"controllers: the effort of motor '{twice[0]}' is set twice; leave one of them out")
        whose = f"controller '{controllers[0].name}'" if len(controllers) == 1 else "controllers"
        self.system, self.held = system, HeldEfforts(system, data, names, whose)
        self.controllers, self.t_start, self.t_end = controllers, t_start, t_end
        self.states, self.calls = RunStates(system), [0] * len(controllers)
        self.times: dict[str, list[float]] = {name: [] for name in names}
        self.efforts: dict[str, list[float]] = {name: [] for name in names}

    def begin(self, m: Compiled | JointsFirst) -> None:
        """The first calls, at the start of the run.

        Raises
        ------
        ModelError
            A function failed.
        """
        self._call(m)

    def go_on(self, m: Compiled | JointsFirst) -> Status:
        """The calls at the time reached, before which steps end; RUNNING unless this is the end of the run.

        Raises
        ------
        RunFailure
            A function failed.
        """
        if m.t >= self.t_end:
            return Status.REACHED_END
        m.normalise()
        try:
            self._call(m)
        except ModelError as error:
            raise RunFailure(Status.CONTROLLER_FAILED, m.t, str(error)) from error
        m.resume()
        return Status.RUNNING

    def _call(self, m: Compiled | JointsFirst) -> None:
        t = m.t
        for k, controller in enumerate(self.controllers):
            if self._next(k) > t + ROUNDING * max(1.0, abs(t)):
                continue
            self.calls[k] += 1
            for name, effort in efforts_of(controller, t, self.states.now(m)).items():
                self.held.put(name, effort)
                self.times[name].append(t)
                self.efforts[name].append(effort)
        m.until(min(self.t_end, *(self._next(k) for k in range(len(self.controllers)))))

    def _next(self, k: int) -> float:
        """Time of the next call of a controller [s]."""
        controller, call = self.controllers[k], self.calls[k]
        rate, period = controller.rate_hz, controller.period
        return self.t_start + (call * period if rate is None else call / rate)  # type: ignore[operator]

    def recorded(self) -> System:
        """The system with the efforts that were set, as signals of time."""
        return replace_parameters(self.system, {f"effort.{name}": self._signal(name) for name in self.times})

    def _signal(self, name: str) -> Signal:
        coefficients = np.zeros((len(self.times[name]), 6))
        coefficients[:, 0] = self.efforts[name]
        return Signal(np.array([*self.times[name], self.t_end]), coefficients)


def sampling_of(system: System, how: Settings, data: ModelData, controllers: Sequence[Controller]) -> Sampling | None:
    """The calls of the controllers of a run; None without controllers.

    Raises
    ------
    ModelError
        For what are no controllers, motors that they cannot set, and methods that do not know them.
    """
    if not (isinstance(controllers, Sequence) and all(isinstance(one, Controller) for one in controllers)):
        raise ModelError("controllers must be a sequence of runtime.Controller(name, function, rate_hz, efforts=[...])")
    if not controllers:
        return None
    if how.method in SCIPY_METHODS:
        raise ModelError(f"method '{how.method}' knows no controllers; use {' or '.join(map(repr, COMPILED_METHODS))}")
    return Sampling(system, data, controllers, how.t_start, how.t_end)
