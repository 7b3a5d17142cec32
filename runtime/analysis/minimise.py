"""Least value of a result of a run over parameters and initial state, under constraints on other results: a design."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.analysis.fit_search import ON_BOUND
from runtime.analysis.nearby_runs import Follows
from runtime.analysis.question import Question, bounds_of, question_of
from runtime.analysis.sensitivities import solve
from runtime.analysis.sensitivity_result import Sensitivities
from runtime.integrate.choices import ATOL, RTOL
from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError, shown
from runtime.support.names import named
from runtime.support.progress import Progress, reporter
from runtime.system.system import System

MAX_RUNS = 100
TIMES = 201  # of a run, without ``t_eval``
ENOUGH = 1e-10  # of the objective's size: a step that gains less ends the search
MET = 1e-6  # of a constraint's size: it is met within this, and counts as active


@dataclass(frozen=True)
class Minimum:
    """Result of ``minimise``.

    ``values``: name -> value.  ``objective``: its least value.  ``constraints``: result -> its value there.  ``active``: the
    results whose limits the minimum meets; ``on_bounds``: name -> the bound on which a value ended.  ``runs``: with their
    derivatives.  ``success``, ``message``: of the search.  ``sensitivities``: at the minimum; ``sensitivities.run`` is the run.
    """

    values: Mapping[str, Any]
    objective: float
    constraints: Mapping[str, Any]
    active: tuple[str, ...]
    on_bounds: Mapping[str, float]
    runs: int
    success: bool
    message: str
    sensitivities: Sensitivities = field(repr=False)


# Long by its signature and docstring.
@checked
def minimise(
    build: System | Callable[..., System],
    given: Mapping[str, Any],
    t_end: float,
    objective: Follows,
    *,
    wrt: str | Sequence[str] | None = None,
    bounds: Mapping[str, tuple[Any, Any]] | None = None,
    constraints: Mapping[Follows, tuple[float | None, float | None]] | None = None,
    t_eval: ArrayLike | None = None,
    rtol: float = RTOL,
    atol: float = ATOL,
    max_runs: int = MAX_RUNS,
    check_units: bool = True,
) -> Minimum:
    """Find the parameters with which a result of a run is least, and others keep their limits.

    The gradients are exact, also through contacts, limits and force elements: each run comes with its derivatives
    (``sensitivities``).  The search (SLSQP of SciPy) goes downhill from ``given``, so the minimum that it ends in may be a local
    one: start from several values and keep the least.

    Parameters
    ----------
    build, given, wrt
        See ``sensitivities``; the search starts from ``given``.
    t_end : float [s]
    objective : str or function
        One of the given names, such as "stiffness"; an output of the run that is one number, such as
        "max(angle.ankle.theta_j)"; or a function that takes the ``Run`` and returns a number.
    bounds : mapping, optional
        Name -> lower and upper bound of the value.
    constraints : mapping, optional
        Result -> least and greatest value, None for no limit: {"max(angle.ankle.theta_j)": (None, 0.4)}.  Results as for the
        objective; of outputs over time and of vectors each component keeps the limits.
    t_eval : (m,) [s], optional
        Times of the run, at which largest and smallest values are taken.  Default: 201 even times.
    rtol, atol, check_units
        See ``sensitivities``.
    max_runs : int
        Default 100.

    Returns
    -------
    Minimum
        ``success`` is False where the search ended before a minimum, and where no values meet the constraints.

    Raises
    ------
    ModelError
        For arguments that break a rule, and for a start that cannot be simulated.
    """
    question = question_of(build, given, wrt, check_units=check_units)
    low, high = bounds_of(question, bounds)
    limits = {_name(of): (of, *_limits(_name(of), pair)) for of, pair in (constraints or {}).items()}
    if max_runs < 1:
        raise ModelError(f"max_runs = {max_runs}; give 1 or more")
    with reporter(None, 0.0, float(max_runs)) as bar:
        problem = _Problem(question, t_end, t_eval, rtol, atol, objective, limits, max_runs, bar)
        row, message, success = _search(problem, low, high)
        best = problem.at(row)
    return _minimum(problem, best, low, high, success=success, message=message)


class _RunsUsedUpError(Exception):
    """The search asked for more runs than are allowed."""


@dataclass(frozen=True)
class _Point:
    """A run with its derivatives, and its results with theirs."""

    row: Floats
    found: Sensitivities
    objective: float
    gradient: Floats  # (K,)
    values: dict[str, Floats]  # of the constrained results
    margins: Floats  # (rows,) of all limits; those below 0 are not kept
    slopes: Floats  # (rows, K)
    equal: Any  # (rows,) bool: the least and the greatest value agree, so the margin must be 0


class _Problem:
    """Objective and constraints at values, in units of their sizes at the start."""

    def __init__(
        self, question: Question, t_end: float, t_eval: ArrayLike | None, rtol: float, atol: float, objective: Follows,
        limits: Mapping[str, tuple[Follows, float, float]], max_runs: int, bar: Progress,
    ) -> None:  # fmt: skip
        self.question, self.t_end, self.rtol, self.atol = question, t_end, rtol, atol
        self.objective, self.limits, self.max_runs, self.bar, self.runs = objective, limits, max_runs, bar, 0
        self.scale = question.sizes(question.row)
        start = question.system(question.row)[0].time
        self.times = np.linspace(start, t_end, TIMES) if t_eval is None else t_eval
        self._known: dict[bytes, _Point] = {}
        first = self.at(question.row)
        self.size = max(abs(first.objective), float(np.abs(first.gradient * self.scale).max())) or 1.0

    def at(self, row: Floats) -> _Point:
        """The results at a row of values, of which the last ones are kept.

        Raises
        ------
        ModelError
            Where values have no system or no run.
        """
        key = row.tobytes()
        if key not in self._known:
            if self.runs == self.max_runs:
                raise _RunsUsedUpError
            self.runs += 1
            found = solve(self.question, row, self.t_end, self.times, self.rtol, self.atol)
            self._known[key] = self._point(row, found)
            self.bar.update(float(self.runs))
        return self._known[key]

    def _point(self, row: Floats, found: Sensitivities) -> _Point:
        value, gradient = self._result(self.objective, row, found)
        if value.ndim:
            raise ModelError(
                f"objective: '{_name(self.objective)}' has {value.size} values; give one number, such as a largest value, "
                f"'max({_name(self.objective)})'"
            )
        values, margins, slopes, equal = {}, [np.zeros(0)], [np.zeros((0, len(row)))], [np.zeros(0, bool)]
        for name, (of, low, high) in self.limits.items():
            values[name], own = self._result(of, row, found)
            wide = own.reshape(-1, len(row))
            for limit, side in ((low, 1.0),) if low == high else ((low, 1.0), (high, -1.0)):
                if np.isfinite(limit):
                    equal.append(np.full(values[name].size, low == high))
                    size = _size(low, high)
                    margins.append(side * (values[name].ravel() - limit) / size)
                    slopes.append(side * wide / size)
        return _Point(
            row.copy(), found, float(value), gradient, values, np.concatenate(margins), np.concatenate(slopes),
            np.concatenate(equal),
        )  # fmt: skip

    def _result(self, of: Follows, row: Floats, found: Sensitivities) -> tuple[Floats, Floats]:
        """A result (...) and its derivatives (..., K)."""
        if isinstance(of, str) and of in self.question.places:
            place = self.question.places[of]
            values = np.asarray(self.question.split(row)[of], float)
            return values, np.eye(len(row))[place].reshape(*values.shape, len(row))
        return found.result(of)


def _search(problem: _Problem, low: Floats, high: Floats) -> tuple[Floats, str, bool]:
    """The values with which a search ended, its message, and whether it found a minimum."""
    from scipy.optimize import minimize  # here because the import takes a fifth of a second

    scale, refused, last = problem.scale, [""], [problem.question.row]

    def at(x: Floats) -> _Point | None:
        """The results; None where values are refused, which shortens the step."""
        row = np.clip(x * scale, low, high)
        try:
            last[0] = row
            return problem.at(row)
        except ModelError as error:
            refused[0] = str(error)
            return None

    first = problem.at(problem.question.row)

    def value(x: Floats) -> float:
        point = at(x)
        return np.inf if point is None else point.objective / problem.size

    def gradient(x: Floats) -> Floats:
        point = at(x)
        return first.gradient * np.nan if point is None else point.gradient * scale / problem.size

    def margins(x: Floats) -> Floats:
        point = at(x)
        return np.full_like(first.margins, -1.0) if point is None else point.margins

    def slopes(x: Floats) -> Floats:
        point = at(x)
        return first.slopes * np.nan if point is None else point.slopes * scale

    rows = [
        {"type": kind, "fun": lambda x, own=own: margins(x)[own], "jac": lambda x, own=own: slopes(x)[own]}
        for kind, own in (("ineq", ~first.equal), ("eq", first.equal))
        if own.any()
    ]
    try:
        found = minimize(
            value, problem.question.row / scale, jac=gradient, method="SLSQP", constraints=rows,
            bounds=list(zip(low / scale, high / scale, strict=True)), options={"maxiter": problem.max_runs, "ftol": ENOUGH},
        )  # fmt: skip
    except _RunsUsedUpError:
        return (
            _best(problem),
            f"max_runs = {problem.max_runs} reached before a minimum; go on from the values found",
            False,
        )
    row = np.clip(found.x * scale, low, high)
    if at(row / scale) is None:
        return _best(problem), f"the search ended where values are refused: {refused[0]}", False
    return row, str(found.message), bool(found.success)


def _best(problem: _Problem) -> Floats:
    """Of the values tried those with the least objective among the ones that break the constraints least."""

    def rank(point: _Point) -> tuple[float, float]:
        broken = np.where(point.equal, np.abs(point.margins), -point.margins)
        return max(0.0, float(broken.max(initial=0.0)) - MET), point.objective

    return min(problem._known.values(), key=rank).row


def _minimum(problem: _Problem, best: _Point, low: Floats, high: Floats, *, success: bool, message: str) -> Minimum:
    question, width = problem.question, high - low
    near = ON_BOUND * np.where(np.isfinite(width), width, problem.scale)
    on_bounds = {
        question.names[k]: float(bound[k])
        for k in range(len(best.row))
        for bound in (low, high)
        if abs(best.row[k] - bound[k]) <= near[k]
    }
    broken, active = [], []
    for name, (_, least, most) in problem.limits.items():
        own = best.values[name]
        margin = float(min((own - least).min(), (most - own).min())) / _size(least, most)
        if margin < -MET:
            worst = own.ravel()[np.argmax(np.maximum(least - own, own - most))]
            broken.append(f"{name} = {worst:.6g}, limits {least:g} and {most:g}")
        elif margin <= MET:
            active.append(name)
    if broken:
        success, message = False, f"{message}; constraints are not met: {'; '.join(broken)}"
    values = question.at(best.row)
    return Minimum(
        named("parameter", {quantity.name: values[quantity.name] for quantity in question.wrt}), best.objective,
        named("constraint", {name: own if own.ndim else float(own) for name, own in best.values.items()}), tuple(active),
        named("parameter", on_bounds), problem.runs, success, message, best.found,
    )  # fmt: skip


def _name(of: Follows) -> str:
    return of if isinstance(of, str) else getattr(of, "__name__", "function")


def _limits(name: str, pair: Any) -> tuple[float, float]:
    """The least and the greatest value that a constraint admits."""
    try:
        low, high = (one if one is None else float(one) for one in pair)
    except (TypeError, ValueError):
        raise ModelError(
            f"constraints: '{name}' has the limits {shown(pair)}; give the least and the greatest value, None for no limit"
        ) from None
    least, most = -np.inf if low is None else low, np.inf if high is None else high
    if not least <= most or (np.isinf(least) and np.isinf(most)):
        raise ModelError(
            f"constraints: '{name}' has the limits {shown(pair)}; give a lower one, a greater one, or both"
        )
    return least, most


def _size(low: float, high: float) -> float:
    """Size by which a limit of a result is measured."""
    finite = [abs(one) for one in (low, high) if np.isfinite(one)]
    return max(finite) or 1.0
