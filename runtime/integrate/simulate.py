"""Simulating a system: the compiled integrator, or SciPy's methods by name, behind one call."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from runtime.dynamics.model_data import WHOLE
from runtime.integrate import stepping
from runtime.integrate.events import Event, EventError, Rest
from runtime.integrate.loop import CLOSE_TO_SINGULAR
from runtime.integrate.methods import (
    COMPILED_METHODS,
    FINISHED,
    NONE,
    NONE2,
    RUNNING,
    SINGULAR_CONFIGURATION,
    Compiled,
    Method,
    SciPy,
    SingularError,
)
from runtime.integrate.settings import ATOL, INTERRUPTED, REACHED_END, RTOL, STEPS_USED_UP, STOPPED_BY_EVENT, settings
from runtime.results.run import Run, Stats
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError
from runtime.support.progress import Progress, reporter
from runtime.system.assemble import check_state
from runtime.system.state import State
from runtime.system.system import System

# Between two steps an event function is looked at in this many places, so that two crossings in one step are not missed.
EVENT_SAMPLES = 4
STEPS_PER_CALL, MAX_STEPS = (
    64,
    4096,
)  # compiled steps before the first look at progress and interruption, and a later one
SECONDS_PER_CALL = 0.2
EVENT_NOT_FINITE = -5  # beside those of runtime.integrate.methods
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
        check_state(system, state, how.t_start)

    data = system.data._replace(alpha=how.alpha, beta=how.beta)
    begin = clock.perf_counter()
    bar = reporter(progress, how.t_start, how.t_end)
    make = Compiled if method in COMPILED_METHODS else SciPy
    stepper = make(
        method, system, data, state.y, how.t_start, how.t_end, how.rtol, how.atol, how.max_step, how.first_step
    )
    outputs = None if how.t is None else np.array(how.t)
    with bar:
        if isinstance(stepper, Compiled) and not events:
            times, states, status, reason = _integrate_compiled(stepper, outputs, how.max_steps, bar)
            found: dict[str, tuple[list[float], list[Floats]]] = {}
        else:
            bound = [event.of(system, data) if isinstance(event, Rest) else event for event in events]
            times, states, status, reason, found = _integrate_stepwise(
                stepper, outputs, bound, how.max_steps, system, bar
            )
    if isinstance(stepper, Compiled):
        stepping.normalise_all(stepper.y[None])
        stepping.normalise_all(states)  # every step begins so; its end, recorded before, shall not differ
    evaluations, steps, rejections = stepper.counts()
    kernel = "whole model" if stepper.work.address[WHOLE] else "joint by joint"
    finite_rows = np.isfinite(states).all(axis=1)
    return Run(
        system=system,
        data=data,
        t=times[finite_rows],
        states=states[finite_rows],
        final=State(system.body_names, stepper.y),
        status=status,
        message=(reason or f"reached t = {how.t_end:g} s") + _closeness(stepper) + _stiffness(stepper),
        stats=Stats(method, evaluations, steps, rejections, clock.perf_counter() - begin, how.rtol, how.atol, kernel),
        events={name: np.array(found.get(name, ([], []))[0]) for name in names},
        contact_events=stepper.contact_events,
        event_states={name: tuple(State(system.body_names, y) for y in found.get(name, ([], []))[1]) for name in names},
    )


def _closeness(m: Method) -> str:
    start, least, t = m.smallest_pivot
    if not least < CLOSE_TO_SINGULAR * start:
        return ""
    return f"; passed close to a singular configuration at t = {t:.6g} s, where accuracy is lost"


def _stiffness(m: Method) -> str:
    steps = m.counts()[1]
    if steps < MANY_STEPS or m.bounded < MOSTLY * steps:
        return ""
    return f"; {m.bounded} of {steps} steps were bounded by stability, not by accuracy: method='radau' takes fewer"


def _used_up(max_steps: int, t: float) -> str:
    return f"used up max_steps = {max_steps} at t = {t:.6g} s; raise it, or rtol and atol"


def _integrate_compiled(
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
            portion = int(np.clip(portion * SECONDS_PER_CALL / seconds, STEPS_PER_CALL, min(4 * portion, MAX_STEPS)))
        status = REACHED_END if code == FINISHED else code
    except KeyboardInterrupt:
        status, reason = INTERRUPTED, f"interrupted at t = {m.t:.6g} s"
    if outputs is None:
        wanted, out = np.concatenate(times), np.concatenate(states)
    else:
        done = int(m.s.counts[stepping.NEXT_OUTPUT])
        wanted, out = wanted[:done], out[:done]
    return wanted, out, status, reason


def _integrate_stepwise(
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
