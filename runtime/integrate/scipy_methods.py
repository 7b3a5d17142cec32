"""SciPy's methods of integration, one step at a time."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.dynamics.angles import angles_along, angles_now
from runtime.dynamics.layout import NOT_FINITE, OK
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.projection import mark_smallest_pivot
from runtime.dynamics.status import RunFailure, Status
from runtime.integrate.branches import UnsureStep
from runtime.integrate.choices import ABSOLUTE
from runtime.integrate.closed_loops import NEAR
from runtime.integrate.contact_events import find_contact_events
from runtime.integrate.endings import lost_digits_at
from runtime.integrate.failures import failure_detail
from runtime.integrate.lane_state import SAMPLES
from runtime.integrate.methods import kernel_of
from runtime.integrate.right_hand_side import RightHandSide
from runtime.integrate.stepwise_balance import SteppedBalance
from runtime.results.stats import Part
from runtime.support.arrays import Floats
from runtime.system.system import System

IMPLICIT, WITHOUT_SPARSE = ("Radau", "BDF", "LSODA"), ("LSODA",)
# Components of a state from which SciPy is faster with sparse matrices, measured on chains, in which every acceleration depends
# on all bodies: at 325 both take the same time, at 1040 dense ones 2.5 to 4 times as long.
LARGE = 325
EXPLICIT_STAGES = {"RK23": 3, "RK45": 6, "DOP853": 12}  # evaluations of one attempted step


def remark_on_touches(method: str, system: System, max_step: float) -> str:
    """That a method of SciPy may pass what acts for a part of a step, where a system has it and steps have no bound."""
    data = system.data
    counts = {
        "limits": len(data.limits.kind),
        "contacts": len(data.contacts.address),
        "kinks of forces": int(data.forces.kink[-1]),
    }
    places = [name for name, count in counts.items() if count > 0]
    if not places or np.isfinite(max_step):
        return ""
    return (
        f"; {method} locates no {' and no '.join(places)} and may pass a short touch whole: give a max_step below its length, or "
        "method='auto'"
    )


class SciPy:
    """One of SciPy's methods, stepped one step at a time."""

    def __init__(
        self, method: str, system: System, data: ModelData, y: Floats, t_start: float, t_end: float, rtol: float, atol: float,
        max_step: float, first_step: float,
    ) -> None:  # fmt: skip
        self.f = RightHandSide(system, ABSOLUTE, data.alpha, data.beta)
        self.data, self.work, self.system = self.f.data, self.f.work, system
        self.turns = angles_now(self.data, self.work)
        self.samples = [(t_start, y.copy())]  # states at which contacts are checked: at the ends of steps and between
        self.tolerance = rtol + atol
        self.smallest_pivot, self.largest_pivot, self.first_lost = np.inf, 0.0, np.inf

        more: dict[str, Any] = {"jac": self.jacobian} if method in IMPLICIT else {}

        from scipy import integrate  # here because the import takes a third of a second

        self.method, self.t_start = method, t_start
        self.bounded = 0
        self.failure: tuple[Status, str] | None = None
        self.evaluations = self.steps = self.attempts = 0
        self.written = 0
        self.dense: Callable[[float | Floats], Floats] | None = None
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
                self.solver.lu, self.solver.solve_lu = _linear_solver()
        except RunFailure as failed:
            self.failure = failed.status, str(failed)
            self._y, self._t = y.copy(), t_start
        self.account = SteppedBalance(t_start, y, self.data, self.work, self.f.references)

    def _derivative(self, t: float, y: Floats) -> Floats:
        self.evaluations += 1
        y_dot = np.empty_like(y)
        _, code = self.f.rates(np.array([t]), np.ascontiguousarray(y)[None], y_dot[None])
        if self.evaluations == 1 and code == OK and not np.isfinite(y_dot).all():
            code = NOT_FINITE  # explicit methods would shorten their first step without end
        if code != OK:
            raise self.f.failure(code, t)
        work = self.work
        pivot = float(work.smallest_pivot[0])
        self.largest_pivot = max(self.largest_pivot, pivot)
        if self.data.closed and pivot < NEAR * self.largest_pivot:
            mark_smallest_pivot(t, y, self.data, work)
            detail = failure_detail(Status.SINGULAR_CONFIGURATION, self.system, work, projected=False)
            raise RunFailure(Status.SINGULAR_CONFIGURATION, t, detail)
        if pivot < self.smallest_pivot:
            self.smallest_pivot = pivot
            if self.first_lost == np.inf and lost_digits_at(pivot, self.tolerance, 0.0) > 0.0:
                self.first_lost = t
        return y_dot

    def jacobian(self, t: float, y: Floats) -> Any:
        """The derivative (n, n) of y' over y; a sparse matrix where this is faster."""
        self.evaluations += 1
        found = np.zeros((len(y), len(y)))
        _, code = self.f.jacobians(np.array([t]), np.ascontiguousarray(y)[None], found[None])
        if code != OK:
            raise self.f.failure(code, t)
        if self.method in WITHOUT_SPARSE or len(y) < LARGE:
            return found
        from scipy.sparse import csc_matrix  # here because the import takes a fifth of a second

        return csc_matrix(found)

    def advance(
        self, steps: int, outputs: Floats, out: Floats, record_t: Floats, record_y: Floats
    ) -> tuple[Status, str]:
        """As of ``Compiled``, one step."""
        status, message = self.step()
        while status >= 0 and self.written < len(outputs) and outputs[self.written] <= self.t:
            t = outputs[self.written]
            out[self.written] = np.concatenate([self.at(t), self.work_until(t), self.turns])
            self.written += 1
        if status >= 0 and len(record_t):
            record_t[0], record_y[0] = self.t, self.row
        return status, message

    @property
    def row(self) -> Floats:
        """As of ``Compiled``."""
        return np.concatenate([self.y, self.account.work, self.turns])

    def first_output(self, out: Floats) -> None:
        """As of ``Compiled``."""
        out[:], self.written = self.row, 1

    @property
    def reached(self) -> tuple[float, int]:
        """As of ``Compiled``."""
        return self.t, self.steps

    def step(self) -> tuple[Status, str]:
        """One accepted step: RUNNING, REACHED_END or a failure, and the message of a failure."""
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
        self.dense = None
        self.turns = angles_along(self.y[None], self.data, self.work)[0]
        self.steps += 1
        self.attempts += (self.evaluations - before) // EXPLICIT_STAGES.get(self.method, 1)
        if len(self.data.contacts.address):
            times = np.linspace(self.t_old, self.t, SAMPLES + 1)[1:]
            self.samples += [(float(t), self.at(t)) for t in times]
        self.account.accept(self.t_old, self.t, self.y, self._at_times)
        return (Status.REACHED_END if self.solver.status == "finished" else Status.RUNNING), ""

    def _method_failed(self, reason: object) -> tuple[Status, str]:
        detail = f"{self.method}, {str(reason).rstrip('.').lower()}"
        return Status.METHOD_FAILED, Status.METHOD_FAILED.text(self.t, detail)

    def _at_times(self, times: Floats) -> Floats:
        """States (m, n) at times (m,) within the last step."""
        return self.at(times).T

    def at(self, t: float | Floats) -> Floats:
        if self.dense is None:
            self.dense = self.solver.dense_output()
        assert self.dense is not None
        return self.dense(t)

    def turns_at(self, t: float) -> Floats:
        return self.turns

    def of_tree(self, t: float) -> None:
        return None

    def work_until(self, t: float) -> Floats:
        """Work of each source of energy [J] until a time within the last step."""
        own = self.account
        return (
            own.work if self.failure or t >= self.t or not len(own.work) else own.until(self.t_old, t, self._at_times)
        )

    @property
    def kernel(self) -> str:
        """As of ``Method``."""
        return kernel_of(self.work)

    @property
    def balance(self) -> Floats:
        return self.account.energy

    def stop(self, t: float) -> None:
        y, self.account.work = self.at(t), self.work_until(t)
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
    def unsure_steps(self) -> list[UnsureStep]:
        """As of ``Method``: none, as runs near a singular pose of closed loops end."""
        return []

    @property
    def lost_digits(self) -> tuple[float, float]:
        return lost_digits_at(self.smallest_pivot, self.tolerance, 0.0), self.first_lost

    @property
    def parts(self) -> tuple[Part, ...]:
        """As of ``Method``."""
        return (Part(self.method, self.t_start, *self.counts()),)

    def counts(self) -> tuple[int, int, int | None]:
        # Every attempt of an explicit method takes the same number of evaluations; implicit methods do not count attempts.
        rejected = self.attempts - self.steps if self.method in EXPLICIT_STAGES else None
        return self.evaluations, self.steps, rejected


def _linear_solver() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """LU factorisation and solution for SciPy's implicit methods, by LAPACK itself: SciPy's checks take longer than the work."""
    from scipy.linalg import lapack  # here because the import takes a tenth of a second

    def factorised(matrix: Floats) -> tuple[Floats, Floats]:
        if not np.isfinite(matrix).all():
            raise ValueError("a matrix of the implicit method is not finite")
        factorise = lapack.zgetrf if np.iscomplexobj(matrix) else lapack.dgetrf
        factors, pivots, _ = factorise(matrix, overwrite_a=True)
        return factors, pivots

    def solved(factors: tuple[Floats, Floats], right: Floats) -> Floats:
        solve = lapack.zgetrs if np.iscomplexobj(factors[0]) else lapack.dgetrs
        solution: Floats = solve(*factors, right, overwrite_b=True)[0]
        return solution

    return factorised, solved
