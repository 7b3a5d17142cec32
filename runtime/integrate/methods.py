"""The methods of integration behind one interface: one step at a time, and states within the last step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from runtime.dynamics.equations import derivative_once
from runtime.dynamics.force_elements import EventWorkspace
from runtime.dynamics.layout import NOT_FINITE, OK
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.dynamics.projection import mark_smallest_pivot
from runtime.dynamics.status import RunFailure, Status
from runtime.integrate import dop853, loop, radau, stepping
from runtime.integrate.balance import DONE, balance_of
from runtime.integrate.closed_loops import NEAR, PROJECTED_STAGES, place_of_projecting
from runtime.integrate.contact_events import find_contact_events
from runtime.integrate.crossings import evaluate_events_once, place_of_crossings
from runtime.integrate.landing import place_of_switching
from runtime.integrate.scipy_jacobian import IMPLICIT, Jacobian
from runtime.integrate.step_control import failure
from runtime.integrate.stepwise_balance import SteppedBalance
from runtime.jit.references import reference
from runtime.jit.second_process import ask
from runtime.support.arrays import Floats
from runtime.system.system import System
from runtime.system.workspaces import workspace, workspace_of_jacobian

EXPLICIT_STAGES = {"RK23": 3, "RK45": 6, "DOP853": 12}  # evaluations of one attempted step
NONE, NONE2 = np.zeros(0), np.zeros((0, 0))


class Method(Protocol):
    """Interface of a method to ``simulate``."""

    data: ModelData
    work: Workspace

    def step(self) -> tuple[Status, str]:
        """One accepted step: RUNNING, REACHED_END or a failure, and the message of a failure."""

    def at(self, t: float) -> Floats:
        """State at a time within the last step."""

    def work_until(self, t: float) -> Floats:
        """Work of each source of energy [J] until a time within the last step."""

    @property
    def balance(self) -> Floats:
        """``Balance.energy``."""

    @property
    def t(self) -> float:
        """Time reached."""

    @property
    def t_old(self) -> float:
        """Start of the last step."""

    @property
    def y(self) -> Floats:
        """State reached."""

    def stop(self, t: float) -> None:
        """End the motion at a time within the last step."""

    @property
    def contact_events(self) -> Floats:
        """Touch-downs and lift-offs, in order: time, contact, 1 or 0, speed of touch-down."""

    def counts(self) -> tuple[int, int, int | None]:
        """Evaluations, accepted steps, rejected steps."""

    @property
    def bounded(self) -> int:
        """Number of steps bounded by stability rather than accuracy; 0 for methods that do not report it."""

    @property
    def lost_digits(self) -> tuple[float, float]:
        """Digits by which errors near a singular configuration exceed the tolerance, and the time [s] of the first such step."""


def memory_of_radau(system: System) -> radau.Memory:
    """Memory of radau for a system, whose code is compiled at its first step."""
    ask("radau")
    return radau.memory(len(system.bodies), workspace_of_jacobian(system))


class Compiled:
    """The compiled methods: DOP853, and Radau IIA of order 5 for stiff systems."""

    def __init__(
        self, method: str, system: System, data: ModelData, y: Floats, t_start: float, t_end: float, rtol: float, atol: float,
        max_step: float, first_step: float, *, projected: bool = False, work: Workspace | None = None,
    ) -> None:  # fmt: skip
        self.system, self.data = system, data
        self.work = workspace(system, data) if work is None else work
        self.end, self.rtol, self.atol, self.max_step = t_end, rtol, atol, max_step
        own = dop853.memory(len(y)) if method == "dop853" else memory_of_radau(system)
        self.s = stepping.stepper(y, t_start, own, data, first_step, balance_of(data, len(y)))
        self.s.flags[stepping.PROJECTED] = projected
        self.bind(self.s)
        self.found: list[Floats] = []

    def bind(self, s: stepping.Stepper) -> None:
        """Set the addresses of the parts of the integration loop that this run needs, for the method of a stepper."""
        if s.flags[stepping.PROJECTED]:
            s.address[stepping.PROJECTING] = place_of_projecting(s, self.data)
        if len(self.work.switches.mode):
            s.address[stepping.SWITCHING] = place_of_switching(s, self.data)

    def advance(
        self, steps: int, outputs: Floats, out: Floats, record_t: Floats, record_y: Floats
    ) -> tuple[Status, str]:
        """Up to ``steps`` accepted steps in compiled code; status and message as of ``step``."""
        if len(self.work.events.value):
            self.work.events.address[0], self.work.events.found[0] = place_of_crossings(self.s, self.data), 0
        explicit = isinstance(
            self.s.own, dop853.Memory
        )  # rounding of projected stages would stop Newton's method of radau
        self.s.passage[stepping.PROJECT_STAGES] = PROJECTED_STAGES if explicit else 0.0
        control = (self.end, self.rtol, self.atol, self.max_step, steps)
        status = Status(loop.advance(self.s, self.data, self.work, *control, outputs, out, record_t, record_y))
        if count := int(self.s.counts[stepping.FOUND]):
            self.found.append(self.s.found[:count].copy())
            self.s.counts[stepping.FOUND] = 0
        if status in (Status.RUNNING, Status.REACHED_END):
            return status, ""
        if status == Status.SINGULAR_CONFIGURATION and self.data.closed:
            mark_smallest_pivot(self.t, self.s.y, self.data, self.work)
        projected = bool(self.s.flags[stepping.PROJECTED])
        return status, status.text(self.t, _detail(status, self.system, self.work, projected=projected))

    def watch(self, events: EventWorkspace) -> None:
        """Stop after every step in which one of these events changes its sign, from the present state on."""
        self.work = self.work._replace(events=events)
        evaluate_events_once(self.s.y, self.data, self.work)

    @property
    def crossed(self) -> bool:
        """Whether an event that is watched changed its sign in the last step."""
        return bool(self.work.events.found[0])

    def step(self) -> tuple[Status, str]:
        return self.advance(1, NONE, NONE2, NONE, NONE2)

    def at(self, t: float) -> Floats:
        return self._at(t)[0]

    @property
    def row(self) -> Floats:
        """State reached, and the work of each source of energy."""
        work = self.s.balance.work[DONE]
        return np.concatenate([self.y, work]) if len(work) else self.y.copy()

    def work_until(self, t: float) -> Floats:
        work = self.s.balance.work[DONE]
        return work.copy() if t >= self.t or not len(work) else self._at(t)[1]

    @property
    def balance(self) -> Floats:
        return self.s.balance.energy

    def _at(self, t: float) -> tuple[Floats, Floats]:
        y, work = np.empty_like(self.s.y), np.empty(self.s.balance.work.shape[1])
        if (code := loop.interpolate_once(self.s, self.data, self.work, t, y, work)) != OK:
            raise evaluation_failure(code, t, self.system, self.work)
        return y, work

    def stop(self, t: float) -> None:
        self.s.y[:], self.s.balance.work[DONE] = self._at(t)
        rows = self.contact_events
        self.found = [rows[rows[:, 0] <= t]]

    @property
    def contact_events(self) -> Floats:
        return np.concatenate([np.zeros((0, 4)), *self.found])

    @property
    def t(self) -> float:
        return float(self.s.time[stepping.T])

    @property
    def t_old(self) -> float:
        return float(self.s.time[stepping.T_OLD])

    @property
    def y(self) -> Floats:
        return self.s.y

    @property
    def bounded(self) -> int:
        return int(self.s.counts[stepping.BOUND])

    @property
    def lost_digits(self) -> tuple[float, float]:
        if self.s.flags[stepping.PROJECTED]:
            lost, t = self.s.passage[stepping.LOST], self.s.passage[stepping.FIRST_LOST]
            return math.log10(max(lost, 1.0)), float(t)
        return _lost_digits(self.s.smallest_pivot[stepping.OF_ALL], self.rtol, self.atol), float(
            self.s.smallest_pivot[stepping.FIRST_CLOSE]
        )

    def counts(self) -> tuple[int, int, int | None]:
        count = self.s.counts
        return int(count[stepping.EVALUATIONS]), int(count[stepping.STEPS]), int(count[stepping.REJECTIONS])


class SciPy:
    """One of SciPy's methods, stepped one step at a time."""

    def __init__(
        self, method: str, system: System, data: ModelData, y: Floats, t_start: float, t_end: float, rtol: float, atol: float,
        max_step: float, first_step: float,
    ) -> None:  # fmt: skip
        work = workspace(system, data)
        self.data, self.work = data, work
        self.system, self.references = system, (reference(data), reference(work))  # once, not at each evaluation
        self.samples = [(t_start, y.copy())]  # states at which contacts are checked: at the ends of steps and between
        self.tolerance = rtol + atol
        self.smallest_pivot, self.largest_pivot, self.first_lost = np.inf, 0.0, np.inf

        more: dict[str, Any] = {}
        if method in IMPLICIT:
            exact = Jacobian(method, system, data, work)

            def jac(t: float, y: Floats) -> Any:
                self.evaluations += 1
                found = exact(t, y)
                if exact.code != OK:
                    raise evaluation_failure(exact.code, t, system, work)
                return found

            more["jac"] = jac

        from scipy import integrate  # here because the import takes a third of a second

        self.method = method
        self.bounded = 0
        self.failure: tuple[Status, str] | None = None
        self.evaluations = self.steps = self.attempts = 0
        self.dense: Callable[[float], Floats] | None = None
        try:
            with warnings.catch_warnings():
                # SciPy warns of an overflow in the choice of the first step, which shows in the step itself, and of a relative
                # tolerance below 100 roundings, which is raised here.
                warnings.simplefilter("ignore", RuntimeWarning)
                self.solver = getattr(integrate, method)(
                    self._derivative, t_start, y.copy(), t_end, rtol=max(rtol, 1e2 * np.finfo(float).eps), atol=atol,
                    max_step=max_step, first_step=first_step or None, **more,
                )  # fmt: skip
            if isinstance(getattr(self.solver, "J", None), np.ndarray):  # an implicit method with a dense Jacobian
                self.solver.lu, self.solver.solve_lu = _factorised, _solved
        except RunFailure as failed:
            self.failure = failed.status, str(failed)
            self._y, self._t = y.copy(), t_start
        self.account = SteppedBalance(t_start, y, data, work, self.references)

    def _derivative(self, t: float, y: Floats) -> Floats:
        self.evaluations += 1
        y_dot, work = np.empty_like(y), self.work
        code = derivative_once(t, np.ascontiguousarray(y), *self.references, y_dot)
        if code != OK:
            raise evaluation_failure(code, t, self.system, work)
        if self.evaluations == 1 and not np.isfinite(y_dot).all():
            # Explicit methods would shorten their first step without end.
            raise evaluation_failure(NOT_FINITE, t, self.system, work)
        pivot = float(work.smallest_pivot[0])
        self.largest_pivot = max(self.largest_pivot, pivot)
        if self.data.closed and pivot < NEAR * self.largest_pivot:
            mark_smallest_pivot(t, y, self.data, work)
            detail = _detail(Status.SINGULAR_CONFIGURATION, self.system, work, projected=False)
            raise RunFailure(Status.SINGULAR_CONFIGURATION, t, detail)
        if pivot < self.smallest_pivot:
            self.smallest_pivot = pivot
            if self.first_lost == np.inf and _lost_digits(pivot, self.tolerance, 0.0) > 0.0:
                self.first_lost = t
        return y_dot

    def step(self) -> tuple[Status, str]:
        if self.failure is not None:
            return self.failure
        before = self.evaluations
        try:
            with warnings.catch_warnings(record=True) as caught:  # LSODA gives the reason of a failure in a warning
                warnings.simplefilter("always")
                message = self.solver.step()
        except RunFailure as failed:
            return failed.status, str(failed)
        except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
            return self._method_failed(error)
        if self.solver.status == "failed":
            return self._method_failed(caught[-1].message if caught else message)
        self.steps += 1
        self.work.chosen[0] = 0
        self.attempts += (self.evaluations - before) // EXPLICIT_STAGES.get(self.method, 1)
        self.dense = None
        if len(self.data.contacts.law):
            times = np.linspace(self.t_old, self.t, stepping.SAMPLES + 1)[1:]
            self.samples += [(float(t), self.at(t)) for t in times]
        self.account.accept(self.t_old, self.t, self.at)
        return (Status.REACHED_END if self.solver.status == "finished" else Status.RUNNING), ""

    def _method_failed(self, reason: object) -> tuple[Status, str]:
        detail = f"{self.method}, {str(reason).rstrip('.').lower()}"
        return Status.METHOD_FAILED, Status.METHOD_FAILED.text(self.t, detail)

    def at(self, t: float) -> Floats:
        if self.dense is None:
            self.dense = self.solver.dense_output()
        assert self.dense is not None
        return self.dense(t)

    def work_until(self, t: float) -> Floats:
        own = self.account
        return own.work if self.failure or t >= self.t or not len(own.work) else own.until(self.t_old, t, self.at)

    @property
    def balance(self) -> Floats:
        return self.account.energy

    def stop(self, t: float) -> None:
        y = self.at(t)
        self.samples = [*(sample for sample in self.samples if sample[0] < t), (t, y)]
        self.solver.y[:] = y

    @property
    def contact_events(self) -> Floats:
        times, states = zip(*self.samples, strict=True)
        return find_contact_events(np.array(times), np.array(states), self.data, self.work)

    @property
    def t(self) -> float:
        return self._t if self.failure else float(self.solver.t)

    @property
    def t_old(self) -> float:
        return float(self.solver.t_old)

    @property
    def y(self) -> Floats:
        y: Floats = self._y if self.failure else self.solver.y
        return y

    @property
    def lost_digits(self) -> tuple[float, float]:
        return _lost_digits(self.smallest_pivot, self.tolerance, 0.0), self.first_lost

    def counts(self) -> tuple[int, int, int | None]:
        # Every attempt of an explicit method takes the same number of evaluations; implicit methods do not count attempts.
        rejected = self.attempts - self.steps if self.method in EXPLICIT_STAGES else None
        return self.evaluations, self.steps, rejected


def _lost_digits(smallest_pivot: float, rtol: float, atol: float) -> float:
    return float(stepping.lost_digits.py_func(smallest_pivot, rtol + atol))


def _factorised(matrix: Floats) -> tuple[Floats, Floats]:
    """The LU factorisation that SciPy's implicit methods make, by LAPACK itself: SciPy's checks take longer than the work."""
    from scipy.linalg import get_lapack_funcs

    if not np.isfinite(matrix).all():
        raise ValueError("a matrix of the implicit method is not finite")
    factors, pivots, _ = get_lapack_funcs(("getrf",), (matrix,))[0](matrix, overwrite_a=True)
    return factors, pivots


def _solved(factorised: tuple[Floats, Floats], right: Floats) -> Floats:
    """The solution for a right-hand side; see ``_factorised``."""
    from scipy.linalg import lapack

    solve = lapack.zgetrs if np.iscomplexobj(factorised[0]) else lapack.dgetrs
    solution: Floats = solve(*factorised, right, overwrite_b=True)[0]
    return solution


def evaluation_failure(code: int, t: float, system: System, work: Workspace) -> RunFailure:
    """The failure of an evaluation at a time [s] with this code, which is not OK."""
    status = failure.py_func(code)
    return RunFailure(status, t, _detail(status, system, work))


def _detail(status: Status, system: System, work: Workspace, *, projected: bool = True) -> str:
    """The dependent row of a singular configuration, or a force that is not finite; empty for another status."""
    if status == Status.NOT_FINITE:
        bad = [f for f, out in zip(system.forces, work.forces.out, strict=True) if not np.isfinite(out).all()]
        return f"force '{bad[0].name}' ({bad[0].kind}) is not finite" if bad else ""
    if status != Status.SINGULAR_CONFIGURATION:
        return ""
    k, r = map(int, work.failed)
    joint = system.joints[k]
    hint = f" (the joint is singular {joint.module.SINGULAR})" if joint.module.SINGULAR else ""
    if system.data.closed and not projected:
        hint += ", and only 'dop853' and 'radau' without alpha and beta pass singular poses of closed loops"
    return f"row {system.row_name(k, r)} depends on the others{hint}"
