"""Find the parameters that minimise a result of a run while other results stay within limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runtime.analysis.edges import BeyondError, Edge, refusal, search_to_edges
from runtime.analysis.fit_search import ON_BOUND
from runtime.analysis.nearby_runs import Result, name_of
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
NEARER = 1e-3  # of what is violated, which a change of the parameters by their sizes must gain, or the search ends
STALLED = 10  # tries that are refused, between which a gain below ``NEARER`` ends the search


@dataclass(frozen=True)
class Minimum:
    """Result of ``minimise``.

    ``values``: name -> value.  ``objective``: its least value.  ``constraints``: result -> its value there.  ``active``: the
    results whose limits the minimum meets; ``on_bounds``: name -> the bound on which a value ended, or the value beyond which
    systems are refused.  ``runs``: number of runs, each with its derivatives.  ``success``, ``message``: of the search.
    ``sensitivities``: at the minimum; ``sensitivities.run`` is the run.
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
    objective: Result,
    *,
    wrt: str | Sequence[str] | None = None,
    bounds: Mapping[str, tuple[Any, Any]] | None = None,
    constraints: Mapping[Result, tuple[float | None, float | None]] | None = None,
    t_eval: ArrayLike | None = None,
    rtol: float = RTOL,
    atol: float = ATOL,
    max_runs: int = MAX_RUNS,
    check_units: bool = True,
) -> Minimum:
    """Find the parameters that minimise a result of a run while other results stay within limits.

    Each run comes with its derivatives (``sensitivities``), also through contacts, limits and force elements, so that a search
    takes some ten runs.  The search (SLSQP of SciPy) goes downhill from ``given``, so the minimum that it ends in may be a local
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
        ``success`` is False where the search ended before a minimum, where no values meet the constraints, and where no parameter
        changes the objective at the start.

    Raises
    ------
    ModelError
        For arguments that break a rule, and for a start that cannot be simulated.
    """
    question = question_of(build, given, wrt, check_units=check_units)
    low, high = bounds_of(question, bounds)
    limits: dict[str, _Limit] = {}
    for of, pair in (constraints or {}).items():
        if (name := name_of(of)) in limits:
            raise ModelError(f"constraints: two functions are named '{name}'; give each a name of its own, by def")
        limits[name] = _Limit(of, *_limits(name, pair))
    if max_runs < 1:
        raise ModelError(f"minimise: max_runs = {max_runs}; give 1 or more")
    for of in (objective, *(one.of for one in limits.values())):
        if isinstance(of, str) and of in question.given and of not in question.places:
            raise ModelError(f"minimise: '{of}' is given but not varied; add it to wrt, or name a result of the run")
    with reporter(None, 0.0, float(max_runs), "runs of the search") as bar:
        problem = _Problem(question, t_end, t_eval, rtol, atol, objective, limits, max_runs, bar)
        if unmoved := _unmoved(problem):
            found, edges = unmoved, dict[int, Edge]()
        else:
            found, edges = search_to_edges(question, partial(_search, problem), low, high)
        best = problem.at(found.row)
    return _minimum(problem, best, found, edges, low, high)


class _RunsUsedUpError(Exception):
    """The search asked for more runs than are allowed."""


class _StalledError(Exception):
    """Tries of the search are refused one after another, and those between them gain little."""


class _CannotBeMetError(Exception):
    """No change of the parameters brings what is violated nearer to its limit."""


class _Limit(NamedTuple):
    """A result, and the least and the greatest value that it may have."""

    of: Result
    low: float
    high: float


class _Ended(NamedTuple):
    """How a search ended."""

    row: Floats
    message: str
    success: bool


@dataclass(frozen=True)
class _Point:
    """A run and its results, with the derivatives of both."""

    row: Floats
    found: Sensitivities
    objective: float
    gradient: Floats  # (K,)
    values: dict[str, Floats]  # of the constrained results
    margins: Floats  # (rows,) of all limits; those below 0 are not kept
    slopes: Floats  # (rows, K)
    equal: Any  # (rows,) bool: the least and the greatest value agree, so the margin must be 0

    @property
    def violation(self) -> float:
        """The largest violation of a limit, in units of its size."""
        broken = np.where(self.equal, np.abs(self.margins), -self.margins)
        return max(0.0, float(broken.max(initial=0.0)))


class _Problem:
    """Objective and constraints at values, in units of their sizes at the start."""

    def __init__(
        self, question: Question, t_end: float, t_eval: ArrayLike | None, rtol: float, atol: float, objective: Result,
        limits: Mapping[str, _Limit], max_runs: int, bar: Progress,
    ) -> None:  # fmt: skip
        self.question, self.t_end, self.rtol, self.atol = question, t_end, rtol, atol
        self.objective, self.limits, self.max_runs, self.bar, self.runs = objective, limits, max_runs, bar, 0
        self.scale = question.sizes(question.row)
        if why := refusal(question, question.row, 0, question.row[0]):
            values = ", ".join(f"{name} = {value:g}" for name, value in zip(question.names, question.row, strict=True))
            raise ModelError(f"minimise: the start, {values}, is refused: {why}; give another start")
        start = question.system(question.row)[0].time
        self.times = np.linspace(start, t_end, TIMES) if t_eval is None else t_eval
        self.sizes: dict[str, float] = {}  # of constrained results
        self._known: dict[bytes, _Point | ModelError] = {}
        self._merits: list[tuple[float, float]] = []  # violation and objective of the best values at each refusal
        first = self.at(question.row)
        self.size = max(abs(first.objective), float(np.abs(first.gradient * self.scale).max())) or 1.0

    def at(self, row: Floats) -> _Point:
        """The results at a row of values; those of all rows are kept.

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
            try:
                found = solve(
                    self.question, row, self.t_end, self.times, self.rtol, self.atol,
                    progress=lambda t, t_end: self.bar.update(self.runs - 1 + t / t_end),
                )  # fmt: skip
                self._known[key] = self._point(row, found)
                vars(found).pop("_runs", None)  # the memory of the runs nearby
            except ModelError as error:
                self._known[key] = error
        point = self._known[key]
        if isinstance(point, ModelError):
            raise point
        return point

    def refuse_stalled(self) -> None:
        """End a search where the best values have gained little since as many refusals as ``STALLED``.

        Raises
        ------
        _StalledError
        """
        best = self.at(_best(self))
        self._merits.append((max(0.0, best.violation - MET), best.objective / self.size))
        (violation, objective), (violation_now, objective_now) = self._merits[-STALLED:][0], self._merits[-1]
        nearer = violation - violation_now > NEARER * violation
        if len(self._merits) >= STALLED and not nearer and abs(objective - objective_now) <= NEARER:
            raise _StalledError

    @property
    def points(self) -> list[_Point]:
        """The values that have a run."""
        return [point for point in self._known.values() if isinstance(point, _Point)]

    def _point(self, row: Floats, found: Sensitivities) -> _Point:
        value, gradient = self._result(self.objective, row, found)
        if value.ndim:
            name = name_of(self.objective)
            remedy = "return one number"
            if isinstance(self.objective, str):
                of_given = name in self.question.places
                remedy = "give a function of the run" if of_given else f"give one number, such as 'max({name})'"
            raise ModelError(f"objective: '{name}' has {value.size} values; {remedy}")
        values, margins, slopes, equal = {}, [np.zeros(0)], [np.zeros((0, len(row)))], [np.zeros(0, bool)]
        for name, (of, low, high) in self.limits.items():
            values[name], own = self._result(of, row, found)
            wide = own.reshape(-1, len(row))
            own_sizes = np.concatenate([np.abs(values[name]).ravel(), np.abs(wide * self.scale).ravel()])
            size = self.sizes.setdefault(name, _size(low, high, own_sizes))
            for limit, side in ((low, 1.0),) if low == high else ((low, 1.0), (high, -1.0)):
                if np.isfinite(limit):
                    equal.append(np.full(values[name].size, low == high))
                    margins.append(side * (values[name].ravel() - limit) / size)
                    slopes.append(side * wide / size)
        return _Point(
            row.copy(), found, float(value), gradient, values, np.concatenate(margins), np.concatenate(slopes),
            np.concatenate(equal),
        )  # fmt: skip

    def _result(self, of: Result, row: Floats, found: Sensitivities) -> tuple[Floats, Floats]:
        """A result (...) and its derivatives (..., K)."""
        if isinstance(of, str) and of in self.question.places:
            place = self.question.places[of]
            values = np.asarray(self.question.split(row)[of], float)
            return values, np.eye(len(row))[place].reshape(*values.shape, len(row))
        return found.result(of)


def _unmoved(problem: _Problem) -> _Ended | None:
    """The end of a search that has nothing to gain at its start, where no parameter changes the objective."""
    first = problem.at(problem.question.row)
    if first.violation > MET or np.abs(first.gradient * problem.scale).max() > ENOUGH * problem.size:
        return None
    message = (
        f"no parameter changes the objective '{name_of(problem.objective)}' at the start: its derivatives by "
        f"{', '.join(problem.question.places)} are 0; choose another objective, other parameters or another start"
    )
    return _Ended(first.row, message, False)


def _refuse_unmet(problem: _Problem, point: _Point, low: Floats, high: Floats) -> None:
    """End a search where, to first order, no change within bounds by up to their sizes brings what is violated nearer.

    Raises
    ------
    _CannotBeMetError
    """
    if point.violation <= MET:
        return
    from scipy.optimize import linprog  # here because the import takes a fifth of a second

    slopes, margins = point.slopes * problem.scale, point.margins
    rows, ends = np.vstack([-slopes, slopes[point.equal]]), np.concatenate([margins, -margins[point.equal]])
    least = np.maximum((low - point.row) / problem.scale, -1.0)
    most = np.minimum((high - point.row) / problem.scale, 1.0)
    found = linprog(
        np.append(np.zeros(len(least)), 1.0), np.column_stack([rows, -np.ones(len(rows))]), ends,
        bounds=[*zip(least, most, strict=True), (0.0, None)],
    )  # fmt: skip
    if found.success and found.fun > (1.0 - NEARER) * point.violation:
        raise _CannotBeMetError


def _search(problem: _Problem, low: Floats, high: Floats, to_edges: bool) -> tuple[Floats, _Ended]:
    """A search from the best values tried, as of ``search_to_edges``."""
    from scipy.optimize import minimize  # here because the import takes a fifth of a second

    scale, begin, refused = problem.scale, _best(problem), [""]

    def at(x: Floats) -> _Point | None:
        """The results; None where values have no run, which shortens the step."""
        row = np.clip(x * scale, low, high)
        try:
            return problem.at(row)
        except ModelError as error:
            refused[0] = str(error)
            if to_edges and refusal(problem.question, row, 0, row[0]):
                raise BeyondError(begin, row) from None
            problem.refuse_stalled()
            return None

    def reached(x: Floats) -> None:
        """Look at each step of the search."""
        if (point := at(x)) is not None:
            _refuse_unmet(problem, point, low, high)

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
        reached(begin / scale)
        found = minimize(
            value, begin / scale, jac=gradient, method="SLSQP", constraints=rows,
            bounds=list(zip(low / scale, high / scale, strict=True)),
            callback=reached, options={"maxiter": problem.max_runs, "ftol": max(ENOUGH, problem.rtol)},  # runs are no more exact
        )  # fmt: skip
    except _CannotBeMetError:
        return _ended(problem, "no change of the parameters brings the constraints nearer to their limits")
    except _StalledError:
        return _ended(problem, _stalled(problem, refused[0]))
    except _RunsUsedUpError:
        why = f"; values beyond were refused: {refused[0]}" if refused[0] else "; go on from the values found"
        return _ended(problem, f"max_runs = {problem.max_runs} reached before a minimum{why}")
    row = np.clip(found.x * scale, low, high)
    if at(row / scale) is None:
        return _ended(problem, f"the search ended where values are refused: {refused[0]}")
    return row, _Ended(row, str(found.message), bool(found.success))


def _stalled(problem: _Problem, reason: str) -> str:
    """Message of a search at values beyond which parameters are refused, together where none alone has an edge there."""
    values = zip(problem.question.names, _best(problem).tolist(), strict=True)
    return (
        f"the search ended at {', '.join(f'{name} = {value:.6g}' for name, value in values)}: better values are refused "
        f"({reason}), and it does not follow such an edge; give this rule as one of the constraints, by a function of the run, "
        "or narrow the bounds"
    )


def _ended(problem: _Problem, message: str) -> tuple[Floats, _Ended]:
    """The end of a search without success, at the best values tried."""
    row = _best(problem)
    return row, _Ended(row, message, False)


def _best(problem: _Problem) -> Floats:
    """The values tried that violate the constraints least, and among these have the least objective."""
    return min(problem.points, key=lambda point: (max(0.0, point.violation - MET), point.objective)).row


def _minimum(
    problem: _Problem, best: _Point, found: _Ended, edges: Mapping[int, Edge], low: Floats, high: Floats
) -> Minimum:
    question, width, success, message = problem.question, high - low, found.success, found.message
    near = ON_BOUND * np.where(np.isfinite(width), width, problem.scale)
    on_bounds = {
        question.names[k]: float(bound[k])
        for k in range(len(best.row))
        for bound in (low, high)
        if abs(best.row[k] - bound[k]) <= near[k]
    }
    for k, edge in edges.items():
        on_bounds[question.names[k]] = float(best.row[k])
        message += f"; values beyond {question.names[k]} = {best.row[k]:.6g} are refused ({edge.reason})"
    broken, active = [], []
    for name, (_, least, most) in problem.limits.items():
        own = best.values[name]
        margin = float(min((own - least).min(), (most - own).min())) / problem.sizes[name]
        if margin < -MET:
            worst = own.ravel()[np.argmax(np.maximum(least - own, own - most))]
            limit = f"at least {least:g}" if worst < least else f"at most {most:g}"
            broken.append(f"{name} = {worst:.6g}, {limit}")
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


def _size(low: float, high: float, own: Floats) -> float:
    """Size by which a limit of a result is measured; ``own``: of its values, and of their changes over the parameters."""
    finite = [abs(one) for one in (low, high) if np.isfinite(one)]
    return max(*finite, float(own.max(initial=0.0))) or 1.0
