"""A simulation that a program of the user's advances, and whose efforts it sets between the steps."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np

from runtime.dynamics.model_data import stabilised
from runtime.dynamics.status import Status
from runtime.integrate.choices import ATOL, AUTO, RTOL, SCIPY_METHODS
from runtime.integrate.controllers import HeldEfforts
from runtime.integrate.handed_state import RunState, RunStates
from runtime.integrate.joints_first import JointsFirst
from runtime.integrate.methods import NONE, NONE2
from runtime.integrate.settings import settings
from runtime.integrate.simulate import start_of_run, stepper_of
from runtime.support.arguments import checked, fitting
from runtime.support.checks import finite_number
from runtime.support.errors import ModelError, unknown_name
from runtime.support.numbers import LARGEST, PLAIN
from runtime.system.delays import refuse_delays
from runtime.system.state import State
from runtime.system.system import System

LONGEST = 1e6  # [s] from the start to the end of a simulation of which no end is known
MOST_STEPS = 10**9  # in one call


class Efforts(MutableMapping[str, float]):
    """Efforts by the names of motors [N m], [N], which act from the time reached on."""

    def __init__(self, held: HeldEfforts) -> None:
        self._held, self.changed = held, False

    def __getitem__(self, name: str) -> float:
        return self._held.value(self._known(name))

    def __setitem__(self, name: str, effort: float) -> None:
        if not (type(effort) in PLAIN and abs(effort) <= LARGEST):
            effort = finite_number(effort, f"effort of motor '{name}'")
        self._held.put(self._held.rows[self._known(name)], float(effort))
        self.changed = True

    def __delitem__(self, name: str) -> None:
        raise ModelError(f"effort of motor '{name}': motors cannot be taken away; set it to 0")

    def __iter__(self) -> Iterator[str]:
        return iter(self._held.rows)

    def __len__(self) -> int:
        return len(self._held.rows)

    def _known(self, name: str) -> str:
        if not isinstance(name, str) or name not in self._held.rows:
            raise unknown_name(name, self._held.rows, "motor with a constant effort", "motors with constant efforts")
        return name


class StepError(Exception):
    """A step that failed, with the status and the message that a run would have."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status


class Stepping:
    """A simulation of a system that goes on by ``step``, for programs that exchange states and efforts with it.

    ``efforts`` are those of the motors with constant ones, by name [N m], [N]; ``stepping.efforts["knee_motor"] = 2.0`` acts from
    ``t`` on.

    Parameters
    ----------
    system : System
    initial, t_start, method, rtol, atol, coordinates, max_step
        As of ``runtime.simulate``; compiled methods alone.
    t_end : float [s], optional
        Time after which no step goes.  Default: where the first signal of the system ends, or 1e6 s after the start.

    Raises
    ------
    ModelError
        For arguments that break a rule.
    """

    # Every parameter is one of ``simulate``.
    @checked
    def __init__(
        self,
        system: System,
        *,
        initial: State | None = None,
        t_start: float | None = None,
        t_end: float | None = None,
        method: str = "auto",
        rtol: float = RTOL,
        atol: float = ATOL,
        coordinates: str = AUTO,
        max_step: float = np.inf,
    ) -> None:
        if method in SCIPY_METHODS:
            raise ModelError(f"method '{method}' does not go on by steps of a program; use 'auto', 'dop853' or 'radau'")
        refuse_delays(system, "steps of a program")
        if t_end is None:
            begin = system.time if t_start is None else t_start
            t_end = min([begin + LONGEST, *(signal.span[1] for signal in system.signals.values())])
        how = settings(
            system, t_end, None, method, rtol, atol, t_start, None, None, max_step, None, None, coordinates
        )  # fmt: skip
        motors = [motor.name for motor in system.motors if motor.effort.is_constant]
        held = HeldEfforts(system, stabilised(system.data, how.alpha, how.beta), motors, f"system '{system.name}'")
        self._m: Any = stepper_of(system, how, held.data, start_of_run(system, how, initial, ()))[1]
        self._states = RunStates(system)
        self._states.now(self._m)  # turns are counted from here
        self._turns, self._began = isinstance(self._m, JointsFirst), False
        self.system, self.efforts = system, Efforts(held)
        self._t, self._end = how.t_start, how.t_end

    def __reduce__(self) -> tuple[Any, ...]:
        raise ModelError(
            f"stepping of system '{self.system.name}' cannot be pickled or copied, since it goes on in memory of its process; "
            "pass on its state and t, and begin another there: Stepping(system, initial=state, t_start=t)"
        )

    @property
    def t(self) -> float:
        """Time reached [s]."""
        return self._t

    @property
    def state(self) -> RunState:
        """State reached; ``state.coordinate("knee.angle")`` is a coordinate of a joint, ``state.rate`` its rate."""
        self._m.normalise()
        return self._states.now(self._m)

    @fitting
    def step(self, dt: float | None = None, *, until: float | None = None) -> None:
        """Go on by a time dt [s], or until a time [s], exactly.

        Raises
        ------
        ModelError
            For a time that is not after ``t``, or after ``t_end``.
        StepError
            The integration failed; ``status`` of the error says why, and the message gives the remedy.
        """
        if (dt is None) == (until is None):
            raise ModelError("step: give either dt or until")
        if type(given := dt if until is None else until) not in PLAIN:
            given = finite_number(given, "step: " + ("dt" if until is None else "until"))
        end = float(self._t + given if until is None else given)  # type: ignore[operator, arg-type]
        if not self._t < end <= self._end:
            raise ModelError(
                f"step: to t = {end:g} s; give a time after t = {self._t:g} s, up to t_end = {self._end:g} s"
            )
        m = self._m
        now = m.now if self._turns else m  # a name that ``JointsFirst`` looks up takes a microsecond
        if self.efforts.changed:
            self.efforts.changed = False
            if self._began:
                now.resume()
        self._began = True
        now.until(end)
        status, message = Status.RUNNING, ""
        while status is Status.RUNNING:
            status, message = m.advance(MOST_STEPS, NONE, NONE2, NONE, NONE2)
        if status != Status.REACHED_END:
            self._t = m.t
            raise StepError(status, message)
        self._t = end
