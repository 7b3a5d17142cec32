"""Simulating a system: the compiled integrator, or SciPy's methods by name, behind one call."""

from __future__ import annotations

import logging
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.dynamics.layout import STATE
from runtime.dynamics.model_data import ModelData, size_of_states, stabilised
from runtime.dynamics.status import ENDED, RunFailure, Status, message_at_end
from runtime.integrate import stepping
from runtime.integrate.automatic import Automatic
from runtime.integrate.balance_check import judged
from runtime.integrate.branches import OTHER, left_branch
from runtime.integrate.choices import ATOL, AUTO, COMPILED_METHODS, JOINT, RTOL
from runtime.integrate.constraint_check import violated_row
from runtime.integrate.controllers import Controller, Sampling, sampling_of
from runtime.integrate.endings import closeness, stiffness, turns_of
from runtime.integrate.events import (
    AtRest,
    Event,
    ZeroCrossing,
    check_events,
    evaluation_of,
    watched,
    watching,
)
from runtime.integrate.joints_first import JointsFirst
from runtime.integrate.methods import NONE, NONE2, Compiled
from runtime.integrate.scipy_methods import SciPy, remark_on_touches
from runtime.integrate.settings import Settings, settings
from runtime.integrate.stepwise import SLOWER, EventSearch, Lookout, steps_used_up, stopped_by, until_next_look
from runtime.integrate.tree_method import InJointCoordinates, in_joint_coordinates
from runtime.results.outputs import parsed_outputs
from runtime.results.run import Run
from runtime.results.stats import Stats
from runtime.results.undecided_turns import remark_on_turns
from runtime.results.whole_turns import whole_turns
from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.logs import logger
from runtime.support.names import named
from runtime.support.progress import Progress, reporter
from runtime.support.stopwatch import Stopwatch
from runtime.system.assemble import check_state
from runtime.system.coupled_coordinates import OffTheRowsError
from runtime.system.force_states import state_of, vector_of
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.workspaces import workspace

# Compiled steps before the first check of progress and interruption, of a system with states up to SMALL, and at most before a
# later one.
LOG = logger(__name__)
_normalise_all = stepping.normalise_all.bound()
STEPS_PER_CALL, MAX_STEPS_PER_CALL = 256, 4096
SMALL = 260
SECONDS_PER_CALL = 0.2
TIMES = 2  # of a run at the ends of its steps, at least
GOT_STUCK = (
    Status.STEPS_USED_UP, Status.TOO_MANY_STEPS, Status.STEP_TOO_SMALL, Status.SINGULAR_CONFIGURATION,
)  # fmt: skip


# Long by its signature and docstring.
@checked
def simulate(
    system: System,
    t_end: float,
    *,
    t_eval: ArrayLike | None = None,
    outputs: Mapping[str, str] | Sequence[str] | None = None,
    method: str = "auto",
    rtol: float = RTOL,
    atol: float = ATOL,
    initial: State | None = None,
    t_start: float | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    events: Sequence[Event | AtRest | ZeroCrossing] = (),
    controllers: Sequence[Controller] = (),
    max_step: float = np.inf,
    first_step: float | None = None,
    max_steps: int | None = None,
    coordinates: str = AUTO,
    progress: bool | Callable[[float, float], None] | None = None,
) -> Run:
    """Integrate the equations of motion from ``t_start`` to ``t_end``, with drivers, loads and motors by their signals.

    Parameters
    ----------
    system : System
        A contact that is closed at ``t_start`` counts as a touch-down at this time.
    t_end : float [s]
    t_eval : (n,) [s], optional
        Times of the result, increasing, within the interval.  Default: the steps that the method takes.
    outputs : sequence of str, or mapping of str to str, optional
        Quantities that the run and its files have by name, beside all states: those of ``simulate_many``, such as "r.hand" of a
        frame, "centre_of_mass.z", "acceleration.knee.angle", "max(norm(reaction_force.ankle))"; a mapping gives them names of
        your own.  ``run["r.hand"]`` are the values, reductions those over the times of the run.
    method : str
        "auto": "dop853", and "radau" while the motion is stiff.  Results of motions that are never stiff are those of "dop853" to
        the last digit.  ``message`` gives the times of the turns, ``stats.parts`` the cost of each part.
        "dop853" (compiled, explicit, of order 8), "radau" (compiled, implicit, of order 5, for stiff systems such as contacts
        with friction), or one of SciPy's: "RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA".
    rtol, atol : float
        Relative and absolute tolerance of the local error of every state (m, m/s, rad/s, Euler parameters; states of forces in
        their own units).
    initial : State, optional
        Default: ``system.state``.  It must satisfy the constraints, as a state from ``runtime.assemble`` does.  States of forces
        that it lacks in ``z`` have their initial values.  A state has no revolutions: angles of a run that goes on from ``final``
        of another begin within half a turn again.
    t_start : float [s], optional
        Default: ``system.time``, which is 0 unless the system was built for another time.
    alpha, beta : float [1/s]
        Baumgarte's coefficients as in the papers: alpha multiplies 2 Phi', beta squared multiplies Phi.  Default: 5 for systems
        without closed loops.  With closed loops the state is projected instead onto Phi = 0 and Phi' = 0 after each step and at
        each time of the result, by the least change measured by the kinetic energy.
    events : sequence of Event
        ``runtime.Event(name, function)``, ``runtime.at_rest()``, ``runtime.zero_crossing(name, definition, ...)``,
        which compiled code finds.
    controllers : sequence of Controller
        ``runtime.Controller(name, function, rate_hz, efforts=["knee_motor"])``: steps end exactly at its calls.  Compiled methods
        alone know them.  In ``run.system`` the efforts that were set are signals of time.
    max_step, first_step : float [s]
    max_steps : int, optional
        Accepted steps after which the run ends with what was computed.  Default: no bound.
    coordinates : "auto", "absolute" or "joint"
        Of the equations of motion: "absolute", those of all bodies with the reactions of the joints, or "joint", those of the
        motions of the joints, in fewer operations and on the constraints; tolerances are those of these coordinates then.  They
        restrain these coordinates by the rows of joints that close loops or have no motion, and of drivers.  "auto": joint where
        they are present and, as measured, not slower: by a kernel of a tree (``codegen.compile_model``), or by recursion without
        forces, a kernel of all bodies and loops of few bodies, where alpha and beta are not given and the method is "auto" or
        "dop853"; and absolute from where a motion becomes stiff or its joint coordinates fail.
    progress : bool or callable(t, t_end), optional
        Default: a bar on the terminal when the run is long.

    Returns
    -------
    Run
        ``success``, ``status`` (a ``Status``) and ``message`` report the outcome, with an error of the energy balance that the
        tolerance does not explain; after a failure the run holds what was computed
        until then.

    Raises
    ------
    ModelError
        For arguments that break a rule, and for a controller whose function fails at the start.  A failure of the integration
        itself, or of a controller later, never raises.
    """
    how = settings(
        system, t_end, t_eval, method, rtol, atol, t_start, alpha, beta, max_step, first_step, max_steps, coordinates
    )  # fmt: skip
    known = {} if outputs is None else parsed_outputs(outputs, system, TIMES if how.t is None else len(how.t))
    state = start_of_run(system, how, initial, events)
    data = stabilised(system.data, how.alpha, how.beta)
    if (sampling := sampling_of(system, how, data, controllers)) is not None:
        data = sampling.held.data
    watch = Stopwatch()
    method, stepper = stepper_of(system, how, data, state)
    search = EventSearch([event if isinstance(event, Event) else event.of(system, data) for event in events], system)
    if events and not isinstance(stepper, SciPy):
        compiled = [event for event in events if isinstance(event, AtRest | ZeroCrossing)]
        if len(compiled) == len(events):
            # ``EventSearch.begin`` has zeros at the start.
            memory = watching(compiled, watched(compiled, system), size_of_states(data), at_start=False)
            stepper.watch(memory, *evaluation_of(compiled, data, lambda: workspace(system, data)))
        else:
            stepper.sample()
    start, bar = stepper.turns, reporter(progress, how.t_start, how.t_end)
    n, sources = size_of_states(data), len(stepper.work.power)
    with bar:
        times, rows, status, reason = _integrate(stepper, how, search, bar, n + sources + len(start), sampling)
    if isinstance(stepper, JointsFirst):
        stepper = stepper.used
    if sampling is not None:
        system = sampling.recorded()
        data = stabilised(system.data, how.alpha, how.beta)
    # Copies, which do not keep all of the rows.
    bodies, end = STATE * len(system.bodies), n + sources
    states, others = rows[:, :bodies].copy(), rows[:, bodies:].copy()
    z, done, angles = others[:, : n - bodies], others[:, n - bodies : end - bodies], others[:, end - bodies :]
    if not isinstance(stepper, SciPy):
        stepper.normalise()
        _normalise_all(states)  # as the next step begins; the ends of steps were recorded before
    if status in ENDED and (found := violated_row(system, stepper, times, states, angles, how)):
        status, reason = Status.CONSTRAINTS_VIOLATED, Status.CONSTRAINTS_VIOLATED.text(*found)
    left = left_branch(system, unsure, stepper.t) if (unsure := stepper.unsure_steps) else None
    if left is not None and left.relation == OTHER and status in ENDED:
        status, reason = Status.BRANCH_LEFT, Status.BRANCH_LEFT.text(left.time, left.detail)
    if not np.vdot(states, states) < np.inf:  # in a fifth of the time
        finite = np.isfinite(states).all(axis=1)
        times, states, z, done, angles = (part[finite] for part in (times, states, z, done, angles))
    ended: Any = stepper if isinstance(stepper, SciPy) else stepper.ended()
    y, kernel, of_tree = stepper.y.copy(), stepper.kernel, len(start) > data.counted
    wall_time, compile_time = watch.times()

    def message() -> str:
        # Times of ``t_eval``, or the first one, may be too far apart to count turns that poses have to show.
        shown = (
            ""
            if how.t is None
            else remark_on_turns(system, how.t_start, state.y, times, states, how.method, of_tree=of_tree)
        )
        of_assembly = "; ".join(["", *(system.assembly.remarks if status in GOT_STUCK else ())])
        return (
            (reason or message_at_end(how.t_end))
            + closeness(*ended.lost_digits)
            + (left.remark if left is not None and status in ENDED else "")
            + judged(ended, how, done, system)[1]
            + stiffness(system, ended.counts()[1], ended.bounded)
            + (remark_on_touches(method, system, how.max_step) if isinstance(ended, SciPy) else "")
            + shown
            + turns_of([(part.method, part.t) for part in ended.parts[1:]], len(ended.parts) - 1)
            + of_assembly
        )

    later: dict[str, Callable[[], Any]] = {
        "message": message,
        "stats": lambda: Stats(  # type: ignore[call-arg]  # of as many counts as ended has
            method, *ended.counts(), wall_time, how.rtol, how.atol, kernel, ended.parts, compile_time
        ),
        "final": lambda: state_of(system, y),
        "events": lambda: named("event", {name: np.array(of[0]) for name, of in search.found.items()}),
        "event_states": lambda: named(
            "event", {name: tuple(state_of(system, y) for y in of[1]) for name, of in search.found.items()}
        ),
        "_work_done": lambda: judged(ended, how, done, system)[0],
        "_turns": lambda: whole_turns(start[data.counted :], angles, data.counted) if len(start) else None,
    }
    run = Run._of(
        later, system=system, data=data, t=times, states=states, status=status, contact_events=stepper.contact_events,
        singular_passages=() if isinstance(stepper, SciPy) else tuple(stepper.passages), _at_steps=how.t is None,
        _start=state.y, _z=z, outputs=named("output", {name: replace(one, times=len(times)) for name, one in known.items()}),
    )  # fmt: skip
    if LOG.isEnabledFor(level := logging.DEBUG if run.success else logging.INFO):
        LOG.log(level, "system '%s': %s", system.name, run.message)
    if not isinstance(stepper, SciPy):
        stepper.give_back()
    return run


def stepper_of(
    system: System, how: Settings, data: ModelData, state: State
) -> tuple[str, Compiled | JointsFirst | SciPy]:
    """What integrates a run, and the name of its method."""
    method, span = how.method, (how.t_start, how.t_end, how.rtol, how.atol, how.max_step, how.first_step)
    first = _joint_method(system, how, data, state)
    if how.coordinates == JOINT and first is not None:
        return "dop853", first
    compiled = Automatic if method == "auto" else Compiled

    def absolute(start: State | Floats, t: float, h: float) -> Compiled:
        return compiled(
            method, system, data, start, t, how.t_end, how.rtol, how.atol, how.max_step, h, projected=how.projected
        )

    if first is not None:
        return method, JointsFirst(first, absolute, stiff=method == "auto")
    if method in COMPILED_METHODS:
        return method, absolute(state, how.t_start, how.first_step)
    return method, SciPy(method, system, data, vector_of(system, state), *span)


def _joint_method(system: System, how: Settings, data: ModelData, state: State) -> InJointCoordinates | None:
    """The method in joint coordinates, where these are asked for, or known by a kernel and left to choose."""
    if not in_joint_coordinates(system, how):
        return None
    span = how.t_start, how.t_end, how.rtol, how.atol, how.max_step, how.first_step
    try:
        return InJointCoordinates(system, data, state, *span)
    except OffTheRowsError:
        if how.coordinates == JOINT:
            raise
        return None


def start_of_run(
    system: System, how: Settings, initial: State | None, events: Sequence[Event | AtRest | ZeroCrossing]
) -> State:
    """The initial state, after the checks of events and state."""
    if events:
        check_events(events, system)
    state = system.state if initial is None else initial
    if initial is not None or (how.t_start != system.time and system.drivers):
        check_state(system, state, how.t_start)
    return state


def _integrate(
    m: Any, how: Settings, search: EventSearch, bar: Progress, n: int, sampling: Sampling | None
) -> tuple[Floats, Floats, Status, str]:
    """Times (m,); states, work of each source, and angles and turns (m, n); how it ended.

    That is the status, and a message that is empty where the run reached its end.  Steps are taken in portions in compiled code,
    between which progress is shown and an interruption is possible; events that it watches end a portion after the step in
    which one is.  Methods of SciPy, those with events in Python, and reflexes with a delay take one step at a time.
    """
    wanted, every_step, advance = NONE if how.t is None else np.array(how.t), how.t is None, m.advance
    if sampling is not None:
        sampling.begin(m)
        advance = partial(sampling.advance, m)
    watched = not isinstance(m, SciPy) and len(m.work.events.value) == len(search.events)
    several = watched and (sampling is None or sampling.delays is None)
    out, times, states = np.empty((len(wanted), n)), [], []
    if every_step:
        times, states = [np.array([how.t_start])], [m.row[None, :]]
    elif wanted[0] == how.t_start:
        m.first_output(out[0])
    portion = (
        max(1, int(STEPS_PER_CALL * min(1.0, SMALL / n) ** 2)) if several else 1
    )  # a step of a large system takes long
    lookout, t, steps, stop = Lookout(how, slower=1.0 if several else SLOWER), how.t_start, 0, np.inf
    status, reason = Status.RUNNING, ""
    try:
        if search.events and (first := search.begin(m)) is not None:
            status, reason = stopped_by(first, m.t)
        while status == Status.RUNNING:
            if (ended := lookout.given_up(steps, t)) is not None:
                status, reason = ended if isinstance(m, SciPy) else m.explained(*ended)
                break
            portion = min(portion, until_next_look(steps, how.max_steps))
            if portion == 0:
                status, reason = steps_used_up(how.max_steps, t)
                break
            record_t, record_y = (np.zeros(portion), np.zeros((portion, n))) if every_step else (NONE, NONE2)
            begin = clock.perf_counter()
            status, reason = advance(portion, wanted, out, record_t, record_y)
            before, (t, steps) = steps, m.reached
            taken = steps - before
            if every_step:
                if 2 * taken < portion:  # a view would keep the whole portion
                    record_t, record_y = record_t[:taken].copy(), record_y[:taken].copy()
                times.append(record_t[:taken])
                states.append(record_y[:taken])
            if search.events and (m.crossed if watched else taken > 0 and status >= 0):
                found = search.take(m, m.zeros) if watched else search.search(m)
                if found is not None:
                    stop, event = found
                    status, reason = stopped_by(event, stop)
            bar.update(min(t, stop))
            if status == Status.RUNNING and several:
                seconds = max(clock.perf_counter() - begin, 1e-6)
                most = min(4 * portion, MAX_STEPS_PER_CALL)
                portion = max(1, min(int(portion * SECONDS_PER_CALL / seconds), most))
    except KeyboardInterrupt:
        status, reason = Status.INTERRUPTED, Status.INTERRUPTED.text(m.t)
    except RunFailure as failed:
        status, reason = failed.status, str(failed)
    if sampling is not None and status in (Status.STEPS_USED_UP, Status.TOO_MANY_STEPS):
        reason = "; ".join(filter(None, [reason, sampling.cause(steps, t)]))
    if stop < np.inf:
        m.stop(stop)
        if every_step:
            times[-1][-1], states[-1][-1] = stop, m.row
    if every_step:
        return np.concatenate(times), np.concatenate(states), status, reason
    done = m.written if stop == np.inf else min(m.written, int(np.searchsorted(wanted, stop, side="right")))
    return wanted[:done], out[:done], status, reason
