"""The methods of integration behind one interface: one step at a time, and states within the last step."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from runtime.dynamics.angles import angles_now
from runtime.dynamics.force_elements import EventWorkspace, follow_states
from runtime.dynamics.layout import OK, STATE
from runtime.dynamics.model_data import ModelData, Workspace, size_of_states
from runtime.dynamics.places import WHOLE
from runtime.dynamics.projection import mark_smallest_pivot
from runtime.dynamics.status import RunFailure, Status
from runtime.integrate import dop853, loop, stepping
from runtime.integrate.balance import DONE, balance_of
from runtime.integrate.branches import UnsureStep, fetch_unsure, unsure_steps
from runtime.integrate.choices import ABSOLUTE
from runtime.integrate.closed_loops import NEAR, NEARLY, PROJECTED_STAGES, PROJECTING_PART
from runtime.integrate.crossings import CROSSINGS_PART
from runtime.integrate.dense_output import DENSE_PART, result_once
from runtime.integrate.endings import lost_digits_at
from runtime.integrate.failures import failure_detail
from runtime.integrate.kink_landing import KINKS_PART
from runtime.integrate.lane_state import LaneState
from runtime.integrate.quintic import place_of_quintic
from runtime.integrate.radau import radau
from runtime.integrate.radau.linear import LINEAR_PART
from runtime.integrate.resuming import resume_at_end
from runtime.integrate.singular_forces import singular_force
from runtime.integrate.slips import SLIPS_PART
from runtime.integrate.step_control import failure
from runtime.integrate.switching import SWITCHING_PART
from runtime.integrate.transition_velocities import bounds_of_tolerances, sticks
from runtime.integrate.turned_steps import longest_watched
from runtime.integrate.unsure_steps import TURNED_PART
from runtime.jit.named_rows import Lane
from runtime.jit.second_process import ask
from runtime.results.passages import Passage, places
from runtime.results.stats import Part
from runtime.support.arrays import Floats
from runtime.support.kept import kept
from runtime.support.pool import Block, Pool
from runtime.system.force_states import vector_of
from runtime.system.state import State
from runtime.system.system import System
from runtime.system.whole_model import module_of_whole
from runtime.system.workspaces import workspace, workspace_of_jacobian

NONE, NONE2 = np.zeros(0), np.zeros((0, 0))
WITHOUT_MEMORY = dict.fromkeys(["s", "work", "kept", "steppers", "_ready", "_bound", "_resumed"])
MOST_READY = 4  # methods and data of a system of which memory waits


def memory_of_radau(system: System, motions: int = 1) -> radau.Memory:
    """Memory of radau for a system, whose code is compiled at its first step; ``motions``: as of ``radau.memory``."""
    ask("radau")
    memory = radau.memory(len(system.bodies), workspace_of_jacobian(system), motions)
    bounds = bounds_of_tolerances(system)
    memory.bounds[: len(bounds)] = bounds
    return memory


def stepper_for(method: str, system: System, data: ModelData, y: Floats) -> stepping.Stepper:
    """A stepper of a compiled method for states of all bodies, or for others of another size."""
    if method == "dop853":
        bodies = len(data.mass) - 1
        own: Any = dop853.memory(len(y), ties=dop853.ties_of_bodies(bodies if len(y) == size_of_states(data) else 0))
    else:
        own = memory_of_radau(system)
    return stepping.stepper(y, 0.0, own, data, 0.0, balance_of(data, len(y)))


def bind(s: stepping.Stepper, data: ModelData, work: Workspace) -> None:
    """Set the addresses of the parts of the integration loop that a run needs, for the method of its stepper."""
    s.address[stepping.DENSE], s.address[stepping.QUINTIC] = DENSE_PART.place(s, data), place_of_quintic()
    if isinstance(s.own, radau.Memory):
        s.address[stepping.LINEAR] = LINEAR_PART.place(s, data)
    if s.now.projected:
        s.address[stepping.PROJECTING] = PROJECTING_PART.place(s, data)
        s.address[stepping.TURNED] = TURNED_PART.place(s, data)
    if s.kinks.shape[1]:
        s.address[stepping.KINKS] = KINKS_PART.place(s, data)
    if s.slips.shape[1]:
        s.address[stepping.SLIPS] = SLIPS_PART.place(s, data)
    if len(work.switches.mode):
        s.address[stepping.SWITCHING] = SWITCHING_PART.place(s, data)


class Memory(NamedTuple):
    """Memory of a run: of evaluations, and of steps."""

    work: Workspace
    s: stepping.Stepper


class Ready(Block):
    """Memory of a run as it is at a start, with the compiled code that is bound to it."""

    value: Memory
    lift: Any = None  # of coordinates of a tree, and the places of its turns
    turns: Any = None
    start: tuple[Any, ...] = ()  # state, time and first step of the start

    def __init__(self, value: Memory, data: ModelData) -> None:
        super().__init__(value)
        s, work = self.value.s, self.value.work
        self.data, self.lane = data, s.now  # by whose identity it is found; the named numbers
        self.advance: tuple[Any, ...] = s, work, loop.advance.bound(s, data, work)


@kept
def pool_of(system: System) -> Pool:
    """Memory of runs of a system that waits for the next ones."""
    return Pool(MOST_READY)


class Compiled:
    """The compiled methods: DOP853, and Radau IIA of order 5 for stiff systems."""

    coordinates = ABSOLUTE

    def __init__(
        self, method: str, system: System, data: ModelData, start: State | Floats, t_start: float, t_end: float, rtol: float,
        atol: float, max_step: float, first_step: float, *, projected: bool = False, work: Workspace | None = None,
    ) -> None:  # fmt: skip
        self.method, self.system, self.data = method, system, data
        self.t_start, self.end, self.rtol, self.atol, self.max_step = t_start, t_end, rtol, atol, max_step
        self.found: list[Floats] = []
        self.unsure: list[Floats] = []  # as of ``Stepper.unsure``
        self.passages: list[Passage] = []
        self.variational = self.sampled = False
        # The loop, and ``resume_at_end``, with the memory that they were bound to.
        self._bound: tuple[Any, ...] = (None, None, None)
        self._resumed: tuple[Any, ...] = (None, None, None)
        self._ready: Ready | None = None
        if work is not None:  # for equations of another size
            self.work = work
            self.use(self._stepper_for(method, work, start))
            self._begin(start, first_step, projected)
            return
        of_start = (start.y.tobytes(), *start.z.items()) if isinstance(start, State) else (start.tobytes(),)
        begun = *of_start, t_start, first_step, projected
        ready = pool_of(system).take(lambda: self._made(start), id(data), method, self.coordinates, self._kernel())
        self._ready, self._bound = ready, ready.advance
        self.work, self.s = ready.value
        self.lane, self.balance = ready.lane, self.s.balance.energy
        if ready.start != begun:
            self._begin(start, first_step, projected)
            ready.keep()
            ready.start = begun

    def _kernel(self) -> ModuleType | None:
        """The module of the kernel, which ``codegen.compile_model`` may have made since the last run."""
        return module_of_whole(self.system, self.data)

    def _made(self, start: Any) -> Ready:
        work = workspace(self.system, self.data)
        return Ready(Memory(work, self._stepper_for(self.method, work, start)), self.data)

    def _stepper_for(self, method: str, work: Workspace, start: Any) -> stepping.Stepper:
        return stepper_for(method, self.system, self.data, self._first(start))

    def _first(self, start: Any) -> Floats:
        """The state of the integration at a start."""
        return vector_of(self.system, start) if isinstance(start, State) else start

    def _begin(self, start: Any, first_step: float, projected: bool) -> None:
        """Put the memory at a start."""
        follow_states(self.data.forces, self.work.forces)
        stepping.begin(self.s, self._first(start), self.t_start, first_step)
        self.lane.projected = projected
        self.bind(self.s)

    def use(self, s: stepping.Stepper) -> None:
        """Go on with a stepper; ``lane`` has its named numbers, ``balance`` is its ``Balance.energy``."""
        self.s, self.lane, self.balance = s, s.now, s.balance.energy

    @property
    def kernel(self) -> str:
        """As of ``Method``."""
        return kernel_of(self.work)

    @property
    def width(self) -> int:
        """Size of the states of a result."""
        return len(self.s.y)

    def normalise(self) -> None:
        """Give the Euler parameters of the state reached unit length."""
        stepping.normalise_all(self._bodies_of(self.s.y)[None])

    def project_derivatives(self) -> None:
        """Project states and their derivatives, those of variational equations, onto the rows and the derivatives of these."""
        self.lane.projected, self.variational = 1, True
        self.bind(self.s)

    @property
    def close_to_singular(self) -> bool:
        """Whether an accepted step came close to a singular pose of closed loops."""
        return bool(self.lane.least_pivot < NEAR * self.lane.largest_pivot)

    def give_back(self) -> None:
        """Let the next run have the memory of this one, unless results refer to it."""
        if self._ready is not None and not self.passages:
            self._ready.give_back()
            self._ready = None

    def bind(self, s: stepping.Stepper) -> None:
        """Set the addresses of the parts of the integration loop that this run needs, for the method of a stepper."""
        bind(s, self.data, self.work)
        if s.kinks.shape[1]:
            s.now.sticking = sticks(self.system)

    def until(self, end: float) -> None:
        """Let ``advance`` end at another time, also after it has reached its end; steps that this cuts short are brief ones."""
        self.end, own = end, self.s.own
        if isinstance(own, dop853.Memory) and own.longest_brief[0] == 0.0:
            own.longest_brief[0] = np.inf

    def resume(self) -> None:
        """Begin the next step with forces that have changed at the time reached, after a step."""
        if self._resumed[0] is not self.s or self._resumed[1] is not self.work:
            self._resumed = self.s, self.work, resume_at_end.bound(self.s, self.data, self.work)
        if (code := self._resumed[2]()) != OK:
            status = failure.py_func(code)
            raise RunFailure(status, self.t, self._detail(status))

    def advance(
        self, steps: int, outputs: Floats, out: Floats, record_t: Floats, record_y: Floats
    ) -> tuple[Status, str]:
        """As of ``Method``, in compiled code."""
        if len(self.work.events.value):
            self.work.events.address[0], self.work.events.found[0] = CROSSINGS_PART.place(self.s, self.data), 0
        if projected := self.lane.projected:
            # Rounding of projected stages would stop Newton's method of radau; variational equations have none.
            explicit = isinstance(self.s.own, dop853.Memory) and not self.variational
            self.lane.project_stages = PROJECTED_STAGES if explicit else 0.0
        longest = longest_watched(self.s, self.max_step) if self.sampled else self.max_step
        control = (self.end, self.rtol, self.atol, longest, steps)
        if self._bound[0] is not self.s or self._bound[1] is not self.work:
            self._bound = self.s, self.work, loop.advance.bound(self.s, self.data, self.work)
        status = Status(self._bound[2](*control, outputs, out, record_t, record_y))
        if count := int(self.s.events[0]):
            self.found.append(self.s.found[:count].copy())
            self.s.events[0] = 0
        fetch_unsure(self.s, self.unsure)
        if projected and self.lane.close_by and (written := int(self.s.output[0])):
            if len(outputs) and outputs[written - 1] > self.t_old:
                self._keep_passage()
        if status is Status.REACHED_END or status is Status.RUNNING:
            return status, ""
        if status == Status.SINGULAR_CONFIGURATION and self.data.closed:
            mark_smallest_pivot(self.t, self.s.y, self.data, self.work)
        return status, status.text(self.t, self._detail(status))

    def _detail(self, status: Status) -> str:
        """Of the message of a failure."""
        if status == Status.STEP_TOO_SMALL:
            return self._singular_force()
        projected, stuck = bool(self.lane.projected), bool(self.lane.off > NEARLY)
        return failure_detail(status, self.system, self.work, projected=projected, stuck=stuck)

    def _singular_force(self) -> str:
        """What ``singular_force`` finds at the state reached; "" where that is not a state of bodies, but of variations."""
        of_bodies = not self.variational and len(self.bodies) == STATE * len(self.system.bodies)
        return singular_force(self.t, self.bodies, self.system, self.data) if of_bodies else ""

    @property
    def unsure_steps(self) -> list[UnsureStep]:
        return unsure_steps(self.unsure, self._bodies_of) if self.unsure else []

    @property
    def bodies(self) -> Floats:
        """States of the bodies (13 bodies,) at the time reached."""
        return self._bodies_of(self.s.y)

    def _bodies_of(self, y: Floats) -> Floats:
        return y[: STATE * len(self.system.bodies)]

    def explained(self, status: Status, message: str) -> tuple[Status, str]:
        """Status and message of a run that is given up for its short steps; those of their cause, where it is known."""
        cause = self._singular_force()
        return status, f"{message}; {cause}" if cause and cause not in message else message

    def watch(self, events: EventWorkspace, evaluation: list[int], kept: Any) -> None:
        """Stop after every step in which one of these events has a zero; the others as of ``evaluation_of``."""
        events.evaluation[:] = evaluation
        self.work, self.kept = self.work._replace(events=events), kept

    def sample(self) -> None:
        """Take steps in which no body turns far, one at a time: events are searched in them."""
        self.sampled = True

    @property
    def crossed(self) -> bool:
        """Whether an event that is watched has a zero in the last step, or a value that is not finite."""
        return bool(self.work.events.found[0])

    @property
    def zeros(self) -> Floats | None:
        """Numbers of events and times [s] of these zeros, (n, 2); None where a value is not finite."""
        count = int(self.work.events.found[0])
        return None if count < 0 else self.work.events.zeros[:count]

    def at(self, t: float) -> Floats:
        y = self._at(t)[0]
        if self.lane.close_by:
            self._keep_passage()
        return y

    def _keep_passage(self) -> None:
        """Keep states of the last step, which is close to a singular pose, once."""
        if not self.passages or self.passages[-1].t[-1] != self.t:
            kept = stepping.copied(self.s)
            largest = float(self.lane.largest_pivot)
            self.passages.append(Passage(places(self.t_old, self.t), largest, lambda t: self._at(t, kept)[0]))

    @property
    def turns(self) -> Floats:
        """Angles whose revolutions are counted, and those of the turns of a tree whose coordinates are integrated [rad]."""
        return angles_now(self.data, self.work)

    def of_tree(self, t: float) -> Floats | None:
        """As of ``Method``."""
        return None

    @property
    def row(self) -> Floats:
        """State reached, the work of each source of energy, angles and turns."""
        return np.concatenate([self.y, self.s.balance.work[DONE], self.turns])

    def first_output(self, out: Floats) -> None:
        """Count the state at the start, which is written to ``out``, as the first of the result."""
        out[:] = self.row
        self.s.output[0] = 1

    @property
    def written(self) -> int:
        """States of the result that are written."""
        return int(self.s.output[0])

    def turns_at(self, t: float) -> Floats:
        """As ``turns``, at a time within the last step."""
        return self.turns if t >= self.t or not len(self.turns) else self._at(t)[2]

    def within(self, times: Floats) -> Floats:
        """States (times, n) at increasing times within the last step."""
        return self._rows(times, self.s)[:, : self.width]

    def _at(self, t: float, s: stepping.Stepper | None = None) -> tuple[Floats, Floats, Floats]:
        s = self.s if s is None else s
        n = self.width
        end = n + s.balance.work.shape[1]
        row = self._rows(np.array([t]), s)[0]
        return row[:n], row[n:end], row[end:]

    def _rows(self, times: Floats, s: stepping.Stepper) -> Floats:
        """States, work of the sources and turns at times within the last step of a stepper."""
        rows = np.empty((len(times), self.width + s.balance.work.shape[1] + len(self.turns)))
        if (code := result_once(s, self.data, self.work, times, rows)) != OK:
            status = failure.py_func(code)
            raise RunFailure(status, float(times[-1]), self._detail(status))
        return rows

    def stop(self, t: float) -> None:
        work = self._at(t)[1]
        self.s.y[:], self.s.balance.work[DONE] = self._state_at(t), work
        rows = self.contact_events
        self.found = [rows[rows[:, 0] <= t]]

    def _state_at(self, t: float) -> Floats:
        """State of the integration at a time within the last step."""
        return self._at(t)[0]

    @property
    def contact_events(self) -> Floats:
        return np.concatenate(self.found) if self.found else np.zeros((0, 4))

    @property
    def t(self) -> float:
        return float(self.lane.time)

    @property
    def t_old(self) -> float:
        return float(self.lane.began)

    @property
    def y(self) -> Floats:
        return self.s.y

    @property
    def bounded(self) -> int:
        return int(self.lane.bounded)

    @property
    def lost_digits(self) -> tuple[float, float]:
        if self.lane.projected:
            lost, t = self.lane.lost, self.lane.first_lost
            return math.log10(max(lost, 1.0)), float(t)
        return lost_digits_at(self.lane.least_pivot, self.rtol, self.atol), float(self.lane.first_close)

    def counts(self) -> tuple[int, int, int]:
        now = self.lane
        return int(now.evaluations), int(now.steps), int(now.rejections)

    @property
    def reached(self) -> tuple[float, int]:
        """Time [s] and accepted steps."""
        return self.lane.time, int(self.lane.steps)

    def ended(self) -> Any:
        """A copy with the present numbers of the run and without its memory, which the next run may have."""
        found = object.__new__(type(self))
        lane, balance = Lane(LaneState, self.s.s.copy()), self.balance.copy()
        vars(found).update(vars(self) | WITHOUT_MEMORY, lane=lane, balance=balance)
        return found

    @property
    def parts(self) -> tuple[Part, ...]:
        """As of ``Method``."""
        return (Part(self.method, self.t_start, *self.counts()),)


def kernel_of(work: Workspace) -> str:
    """Of the evaluations of all bodies."""
    return "whole model" if work.address[WHOLE] else "joint by joint"
