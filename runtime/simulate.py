"""Simulating a system: the compiled integrator, or SciPy's methods by name, behind one call."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from runtime import stepping
from runtime.equations import WHOLE
from runtime.errors import ModelError
from runtime.events import Event, EventError, Rest
from runtime.march import CLOSE_TO_SINGULAR
from runtime.methods import (
    COMPILED_METHODS,
    FINISHED,
    METHODS,
    NONE,
    NONE2,
    RUNNING,
    SCIPY_METHODS,
    SINGULAR_CONFIGURATION,
    Compiled,
    Method,
    SciPy,
    SingularError,
)
from runtime.progress import Progress, reporter
from runtime.result import Run, Stats
from runtime.structure import Floats
from runtime.system import State, System, counted, finite

RTOL = ATOL = 1e-11
# Between two steps an event function is looked at in this many places, so that two crossings in one step are not missed.
EVENT_SAMPLES = 4
STEPS_PER_CALL, MOST_STEPS = (
    64,
    4096,
)  # compiled steps before the first look at progress and interruption, and a later one
SECONDS_PER_CALL = 0.2
NO_LIMIT = 10**15  # steps

REACHED_END, STOPPED_BY_EVENT, INTERRUPTED, STEPS_USED_UP = 0, 1, 2, 3
EVENT_NOT_FINITE = -5  # beside those of runtime.methods
# A long run of which most steps were as short as stability demands is told: an implicit method takes longer ones.
MANY_STEPS, MOSTLY = 2000, 0.8


def simulate(
    system: System,
    t_end: float,
    *,
    t_eval: ArrayLike | None = None,
    method: str = "dop853",
    rtol: float = RTOL,
    atol: float = ATOL,
    initial: State | None = None,
    t_start: float | None = None,
    alpha: float = 5.0,
    beta: float = 5.0,
    events: Sequence[Event | Rest] = (),
    max_step: float = np.inf,
    first_step: float | None = None,
    max_steps: int | None = None,
    progress: bool | Callable[[float, float], None] | None = None,
) -> Run:
    """Integrate the equations of motion from ``t_start`` to ``t_end``, with drivers, loads and motors by their signals.

    Parameters
    ----------
    system : System
        What its contacts touch at the start touches down there, with the speed that it has.
    t_end : float [s]
    t_eval : (n,) [s], optional
        Times of the result, increasing, within the interval.  Default: the steps that the method takes.
    method : str
        "dop853" (compiled), "radau" (compiled, implicit, of order 5, for stiff systems such as contacts with friction), or
        one of SciPy's: "RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA".  Where stability bounds the steps of "dop853", as in a
        stiff contact, its states between them (``t_eval``, events) have velocities less exact than the tolerance; those of
        "radau" are as exact as its steps.
    rtol, atol : float
        Relative and absolute tolerance of the local error of every state (m, m/s, rad/s, Euler parameters).
    initial : State, optional
        Default: ``system.state``.  It must satisfy the constraints; ``system.assemble`` sees to that.
    t_start : float [s], optional
        Default: ``system.time``, which is 0 unless the system was built for another time.
    alpha, beta : float [1/s]
        Baumgarte's coefficients as in the papers: alpha multiplies 2 Phi', beta squared multiplies Phi.
    events : sequence of Event
        ``runtime.Event(name, function)``, ``runtime.rest()``.
    max_step, first_step : float [s]
    max_steps : int, optional
        Accepted steps after which the run is given up, with what was computed.  Default: none.
    progress : bool or callable(t, t_end), optional
        Default: a bar on the terminal when the run is long.

    Returns
    -------
    Run
        ``success``, ``status`` and ``message`` tell how it went; what was computed until a failure is in it.

    Raises
    ------
    ModelError
        For arguments that break a rule.  A failure of the integration itself never raises.
    """
    how = settings(system, t_end, t_eval, method, rtol, atol, t_start, alpha, beta, max_step, first_step, max_steps)
    if not all(isinstance(event, Event | Rest) for event in events):
        raise ModelError("events must be a sequence of runtime.Event(name, function) or runtime.rest()")
    if initial is not None and not isinstance(initial, State):
        raise ModelError(f"initial = {initial!r} is no State; change system.state with its replace()")
    names = [event.name for event in events]
    if len(set(names)) < len(names):
        raise ModelError(f"events: the names {', '.join(names)} must differ")
    state = system.state if initial is None else initial
    if initial is not None or (how.t_start != system.time and system.drivers):
        system.check_state(state, how.t_start)

    tables = system.tables._replace(alpha=how.alpha, beta=how.beta)
    begin = clock.perf_counter()
    bar = reporter(progress, how.t_start, how.t_end)
    make = Compiled if method in COMPILED_METHODS else SciPy
    stepper = make(
        method, system, tables, state.y, how.t_start, how.t_end, how.rtol, how.atol, how.max_step, how.first_step
    )
    outputs = None if how.t is None else np.array(how.t)
    with bar:
        if isinstance(stepper, Compiled) and not events:
            times, states, status, reason = _march_compiled(stepper, outputs, how.max_steps, bar)
            found: dict[str, tuple[list[float], list[Floats]]] = {}
        else:
            bound = [event.of(system, tables) if isinstance(event, Rest) else event for event in events]
            times, states, status, reason, found = _march(stepper, outputs, bound, how.max_steps, system, bar)
    if isinstance(stepper, Compiled):
        stepping.normalise_all(stepper.y[None])
        stepping.normalise_all(states)  # every step begins so; its end, recorded before, shall not differ
    evaluations, steps, rejections = stepper.counts()
    kernel = "whole model" if stepper.work.address[WHOLE] else "joint by joint"
    finite_rows = np.isfinite(states).all(axis=1)
    return Run(
        system=system,
        tables=tables,
        t=times[finite_rows],
        states=states[finite_rows],
        final=State(system.body_names, stepper.y),
        status=status,
        message=(reason or f"reached t = {how.t_end:g} s") + _closeness(stepper) + _stiffness(stepper),
        stats=Stats(method, evaluations, steps, rejections, clock.perf_counter() - begin, how.rtol, how.atol, kernel),
        events={name: np.array(found.get(name, ([], []))[0]) for name in names},
        touches=stepper.touches,
        event_states={name: tuple(State(system.body_names, y) for y in found.get(name, ([], []))[1]) for name in names},
    )


@dataclass(frozen=True)
class Settings:
    """How a run goes, in numbers that were checked."""

    t_start: float  # [s]
    t_end: float
    t: tuple[float, ...] | None  # of the results; None: those of the steps
    method: str
    rtol: float
    atol: float
    alpha: float
    beta: float
    max_step: float
    first_step: float  # 0: the method chooses it
    max_steps: int

    @property
    def keywords(self) -> dict[str, Any]:
        """Those of ``simulate`` beside its times of results."""
        names = ("t_start", "method", "rtol", "atol", "alpha", "beta", "max_step", "max_steps")
        return {name: getattr(self, name) for name in names} | {"first_step": self.first_step or None}


def settings(
    system: System, t_end: float, t_eval: ArrayLike | None, method: str, rtol: float, atol: float, t_start: float | None,
    alpha: float, beta: float, max_step: float, first_step: float | None, max_steps: int | None,
) -> Settings:  # fmt: skip
    """What ``simulate`` was asked for; raises ModelError where it breaks a rule."""
    t_start = system.time if t_start is None else float(finite(t_start, (), "t_start"))
    t_end = float(finite(t_end, (), "t_end"))
    if t_end <= t_start:
        raise ModelError(f"t_end = {t_end:g} s must be after t_start = {t_start:g} s")
    if method not in METHODS:
        raise ModelError(f"unknown method '{method}'; use {', '.join(METHODS)}")
    rtol, atol, alpha, beta = (
        _not_negative(name, value) for name, value in dict(rtol=rtol, atol=atol, alpha=alpha, beta=beta).items()
    )
    if rtol < 1e-14 and atol < 1e-14:
        raise ModelError(
            f"rtol = {rtol:g} and atol = {atol:g} are both below the rounding of numbers, limit 1e-14; raise one"
        )
    if atol == 0.0:
        raise ModelError("atol = 0 leaves states that are zero without a scale; give a small tolerance above 0")
    max_step = _step("max_step", max_step)
    first_step = 0.0 if first_step is None else min(_step("first_step", first_step), t_end - t_start)
    most = NO_LIMIT if max_steps is None else min(counted("max_steps", max_steps, "steps"), NO_LIMIT)
    if system.fits:
        raise ModelError(
            f"system '{system.name}' meets its drivers by least squares and cannot be simulated; guide as many coordinates as "
            "there are degrees of freedom, and build without redundant='fit'"
        )
    if method in SCIPY_METHODS and (needing := [contact.name for contact in system.contacts if contact.needs_impact]):
        raise ModelError(
            f"contact '{needing[0]}' damps by the speed of touch-down, which method '{method}' does not find on its way; use "
            f"{' or '.join(map(repr, COMPILED_METHODS))}, or the law 'hunt_crossley'"
        )
    system.check_span(t_start, t_end, "simulating")
    times = None if t_eval is None else tuple(map(float, _outputs(t_eval, t_start, t_end)))
    return Settings(t_start, t_end, times, method, rtol, atol, alpha, beta, max_step, first_step, most)


def _closeness(m: Method) -> str:
    start, least, t = m.weakest
    if not least < CLOSE_TO_SINGULAR * start:
        return ""
    return f"; passed close to a singular configuration at t = {t:.6g} s, where accuracy is lost"


def _stiffness(m: Method) -> str:
    steps = m.counts()[1]
    if steps < MANY_STEPS or m.bounded < MOSTLY * steps:
        return ""
    return f"; {m.bounded} of {steps} steps were bounded by stability, not by accuracy: method='radau' takes fewer"


def _not_negative(name: str, value: float) -> float:
    number = float(np.nan) if isinstance(value, str | bytes) or np.ndim(value) > 0 or value is None else float(value)
    if not (np.isfinite(number) and number >= 0.0):
        raise ModelError(f"{name} = {value!r} must be a finite number, not below 0")
    return number


def _step(name: str, value: float) -> float:
    if isinstance(value, str | bytes) or np.ndim(value) > 0 or value is None or not value > 0.0:
        raise ModelError(f"{name} = {value!r} s must be above 0 s")
    return float(value)


def _outputs(t_eval: ArrayLike, t_start: float, t_end: float) -> Floats:
    try:
        outputs = np.array(t_eval, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"t_eval = {t_eval!r} is no list of times [s]") from None
    if outputs.ndim != 1 or len(outputs) == 0:
        raise ModelError(f"t_eval has the shape {outputs.shape}; give a list of times")
    if not np.isfinite(outputs).all():
        raise ModelError("t_eval holds a number that is not finite")
    if (np.diff(outputs) <= 0.0).any():
        raise ModelError("t_eval must increase from each time to the next")
    slack = 1e-12 * max(abs(t_start), abs(t_end))
    if outputs[0] < t_start - slack or outputs[-1] > t_end + slack:
        span = f"{outputs[0]:g} to {outputs[-1]:g} s"
        raise ModelError(f"t_eval runs from {span}, outside the interval {t_start:g} .. {t_end:g} s")
    clipped: Floats = np.clip(outputs, t_start, t_end)
    return clipped


def _used_up(max_steps: int, t: float) -> str:
    return f"used up max_steps = {max_steps} at t = {t:.6g} s; raise it, or rtol and atol"


def _march_compiled(
    m: Compiled, outputs: Floats | None, max_steps: int, bar: Progress
) -> tuple[Floats, Floats, int, str]:
    """All steps in compiled code, in portions that leave room for progress and interruption."""
    n = len(m.y)
    wanted = NONE if outputs is None else outputs
    out = np.full((len(wanted), n), np.nan)
    if len(wanted) and wanted[0] == m.t:
        out[0] = m.y
        m.s.counts[stepping.NEXT_OUTPUT] = 1
    times, states = [np.array([m.t])], [m.y.copy()[None, :]]
    portion, code, reason = STEPS_PER_CALL, RUNNING, ""
    try:
        while code == RUNNING:
            portion = min(portion, max_steps - int(m.s.counts[stepping.STEPS]))
            if portion == 0:
                code, reason = STEPS_USED_UP, _used_up(max_steps, m.t)
                break
            record_t, record_y = (NONE, NONE2) if outputs is not None else (np.zeros(portion), np.zeros((portion, n)))
            before, begin = int(m.s.counts[stepping.STEPS]), clock.perf_counter()
            code, reason = m.advance(portion, wanted, out, record_t, record_y)
            taken = int(m.s.counts[stepping.STEPS]) - before
            if outputs is None:
                times.append(record_t[:taken])
                states.append(record_y[:taken])
            bar.update(m.t)
            seconds = max(clock.perf_counter() - begin, 1e-6)
            portion = int(np.clip(portion * SECONDS_PER_CALL / seconds, STEPS_PER_CALL, min(4 * portion, MOST_STEPS)))
        status = REACHED_END if code == FINISHED else code
    except KeyboardInterrupt:
        status, reason = INTERRUPTED, f"interrupted at t = {m.t:.6g} s"
    if outputs is None:
        wanted, out = np.concatenate(times), np.concatenate(states)
    else:
        done = int(m.s.counts[stepping.NEXT_OUTPUT])
        wanted, out = wanted[:done], out[:done]
    return wanted, out, status, reason


def _march(
    m: Method, outputs: Floats | None, events: Sequence[Event], max_steps: int, system: System, bar: Progress
) -> tuple[Floats, Floats, int, str, dict[str, tuple[list[float], list[Floats]]]]:
    """Step by step, with events located on the dense output."""
    names = system.body_names
    times: list[float] = []
    states: list[Floats] = []
    found: dict[str, tuple[list[float], list[Floats]]] = {event.name: ([], []) for event in events}
    wanted = list(outputs) if outputs is not None else []
    if outputs is None or wanted[0] == m.t:
        times.append(m.t)
        states.append(m.y.copy())
        wanted = wanted[1:]
    status, reason, next_output = REACHED_END, "", 0
    code = RUNNING
    try:
        values = [event.value(m.t, State(names, m.y)) for event in events]
        for event, value in zip(events, values, strict=True):
            if event.at_start and value <= 0.0:
                found[event.name][0].append(m.t)
                found[event.name][1].append(m.y.copy())
                if event.terminal:
                    code, status, reason = FINISHED, STOPPED_BY_EVENT, f"event '{event.name}' at t = {m.t:.9g} s"
        while code == RUNNING:
            if m.counts()[1] >= max_steps:
                status, reason = STEPS_USED_UP, _used_up(max_steps, m.t)
                break
            code, reason = m.step()
            if code not in (RUNNING, FINISHED):
                status = code
                break
            stop: tuple[float, Event] | None = None
            for number, event in enumerate(events):
                for root in _zeros(event, values, number, m, names):
                    found[event.name][0].append(root)
                    found[event.name][1].append(m.at(root))
                    if event.terminal:
                        stop = (root, event) if stop is None or root < stop[0] else stop
                        break
            limit = m.t if stop is None else stop[0]
            while next_output < len(wanted) and wanted[next_output] <= limit:
                times.append(wanted[next_output])
                states.append(m.at(wanted[next_output]))
                next_output += 1
            if outputs is None:
                times.append(limit)
                states.append(m.at(limit) if stop else m.y.copy())
            bar.update(limit)
            if stop is not None:
                for roots, roots_y in found.values():
                    kept = [k for k, root in enumerate(roots) if root <= stop[0]]
                    roots[:], roots_y[:] = [roots[k] for k in kept], [roots_y[k] for k in kept]
                m.stop(stop[0])
                status, reason = STOPPED_BY_EVENT, f"event '{stop[1].name}' at t = {stop[0]:.9g} s"
                break
    except KeyboardInterrupt:
        status, reason = INTERRUPTED, f"interrupted at t = {m.t:.6g} s"
    except EventError as error:
        status, reason = EVENT_NOT_FINITE, str(error)
    except SingularError as error:
        status, reason = SINGULAR_CONFIGURATION, str(error)
    return np.array(times), np.array(states).reshape(len(times), len(m.y)), status, reason, found


def _zeros(event: Event, values: list[float], number: int, m: Method, names: tuple[str, ...]) -> list[float]:
    """Zeros of one event function within the last step, in order; its value at the end of the step is kept for the next."""

    def g(t: float) -> float:
        return event.value(t, State(names, m.at(t)))

    zeros = []
    left, value = m.t_old, values[number]
    for right in np.linspace(m.t_old, m.t, EVENT_SAMPLES + 1)[1:]:
        here = g(right)
        rising = value < 0.0 <= here
        falling = value > 0.0 >= here
        if (rising and event.direction >= 0) or (falling and event.direction <= 0):
            zeros.append(right if here == 0.0 else float(brentq(g, left, right, xtol=1e-14, rtol=1e-14)))
        left, value = right, here
    values[number] = value
    return zeros
