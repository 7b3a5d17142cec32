"""Least-squares fit of parameters and initial state to measured motion, with standard deviations and undetermined directions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from runtime.analysis.fit_data import deviations, measured
from runtime.analysis.fit_problem import Effects, Problem
from runtime.analysis.fit_search import MAX_RUNS, fitted, on_bounds_of, refused_beyond
from runtime.analysis.question import Question, bounds_of, question_of
from runtime.analysis.sensitivity_result import Sensitivities
from runtime.integrate.choices import ATOL, RTOL
from runtime.support.arguments import checked
from runtime.support.arrays import Floats
from runtime.support.checks import increasing_times
from runtime.support.names import named
from runtime.support.progress import reporter
from runtime.system.system import System

MIN_SHARE = 1e-3  # a component of an undetermined direction below this is rounding


@dataclass(frozen=True)
class ParameterFit:
    """Result of a least-squares fit.

    ``values``: name -> value.  ``deviation``: name -> standard deviation from the scatter of the residuals, linearised at the
    solution; inf for quantities that the data do not determine.  ``undetermined``: directions along which the data do not
    change, such as "+1 a -1 c" where the data determine the sum of a and c only, or the name of one quantity without effect;
    ``values`` of such quantities are those nearest to the start.  ``on_bounds``: name -> the bound on which the search ended, or
    the value beyond which systems are refused; the best value may lie beyond.  ``residual``: root mean square of all weighted
    residuals.  ``evaluations``, ``success``, ``message``: of the search.  ``sensitivities``: at the solution.
    """

    values: Mapping[str, Any]
    deviation: Mapping[str, Any]
    undetermined: tuple[str, ...]
    on_bounds: Mapping[str, float]
    residual: float
    evaluations: int
    success: bool
    message: str
    sensitivities: Sensitivities = field(repr=False)


# Long by its signature and docstring.
@checked
def fit_parameters(
    build: System | Callable[..., System],
    given: Mapping[str, Any],
    t: ArrayLike,
    data: Mapping[str, ArrayLike],
    *,
    wrt: str | Sequence[str] | None = None,
    sigma: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[Any, Any]] | None = None,
    rtol: float = RTOL,
    atol: float = ATOL,
    check_units: bool = True,
) -> ParameterFit:
    """Fit parameters and initial state of a model to measured motion by least squares.

    The search goes downhill from ``given``, so the minimum that it ends in may be a local one, as where a faster motion meets the
    data at every other time.  Start from several values and keep the fit with the least ``residual``.

    Parameters
    ----------
    build, given, wrt
        See ``sensitivities``; the search starts from ``given``.
    t : (m,) [s]
        Times of the data, increasing.
    data : mapping, or DataFrame
        Measured values by name, NaN where there is none: parts of the state, such as "r.main_foot" -> (m, 3) [m], or a component,
        "r.main_foot.y" -> (m,); coordinates of joints and their rates, such as "angle.ankle.theta_i" -> (m,) [rad] or [m] and
        "rate.ankle.theta_i" [rad/s] or [m/s], as in ``Run.angles``.  Of turns, jumps of more than half a turn from one time to
        the next are taken out, and revolutions do not count at the first time.  ``models.files.read_angles`` reads files.
    sigma : mapping, optional
        Standard deviation of each, in its unit; default 1, so that 1 m weighs as much as 1 rad.
    bounds : mapping, optional
        Name -> lower and upper bound.
    check_units : bool
        Warn of values that were probably given in another unit: data of places that no body comes near, data parallel to the
        run from the start and larger by the factor of a unit (cm, degrees), angles beyond a turn of a joint with a limit,
        and of a System a start far from its own parameters and speeds that no body has.

    Returns
    -------
    ParameterFit
        Quantities that the data do not determine have an infinite deviation and are listed in ``undetermined``.  Parts of the
        initial state are moved onto the constraints; of the three components of an angular velocity of a body on a hinge, the
        data determine one.

    Raises
    ------
    ModelError
        For arguments that break a rule, and for a start that cannot be simulated.
    """
    question = question_of(build, given, wrt, check_units=check_units)
    times = increasing_times(t, "t", single=True)
    start, (low, high) = question.row, bounds_of(question, bounds)
    with reporter(None, 0.0, MAX_RUNS * len(start), "runs of the fit") as bar:
        problem = Problem(question, times, measured(data, times), deviations(sigma), rtol, atol, check_units, bar)
        found = fitted(problem, start, low, high)
    squares = float(np.sum((problem.predicted(found.x) - problem.target) ** 2))
    deviation, undetermined = _determined(question, found.x, problem.effects(found.x), squares)
    message = str(found.message)
    if undetermined:
        message += f" The data do not determine {'; '.join(undetermined)}: leave names out of wrt, or measure more."
    on_bounds = on_bounds_of(question, found, low, high)
    if on_bounds:
        ended = ", ".join(f"{name} = {bound:g}" for name, bound in on_bounds.items())
        message += (
            f" The search ended on a bound, {ended}: the best value may lie beyond; widen the bound if it is possible."
        )
    for name, (value, reason) in refused_beyond(question, found).items():
        if name not in on_bounds:
            on_bounds[name] = value
            message += f" The search ended where values beyond {name} = {value:g} are refused ({reason})."
    values = question.at(found.x)
    return ParameterFit(
        named("parameter", {quantity.name: values[quantity.name] for quantity in question.wrt}),
        named("parameter", question.split(deviation)), undetermined,
        named("parameter", on_bounds), float(np.sqrt(squares / len(problem.target))),
        int(found.nfev), bool(found.success), message, problem.solved(found.x),
    )  # fmt: skip


def _determined(question: Question, row: Floats, effects: Effects, squares: float) -> tuple[Floats, tuple[str, ...]]:
    """Standard deviations (K,), and directions along which the data do not change; ``squares``: of the residuals, summed."""

    def tangent(rows: Floats) -> Floats:
        """Changes of the components without changes of the length of Euler parameters and directions, which is known."""
        rows = rows.copy()
        for place in question.unit_length.values():
            along = row[place] / np.linalg.norm(row[place])
            rows[:, place] -= np.outer(rows[:, place] @ along, along)
        return rows

    scale, count = effects.scale, len(effects.jacobian)
    spread = squares / max(count - len(effects.values), 1)
    changes = tangent(effects.directions / effects.values[:, None] / scale)
    deviation = np.sqrt(spread * np.sum(changes**2, axis=0))
    free = np.linalg.svd(tangent(effects.free.T / scale) * scale, full_matrices=False)[2]
    free = free[: max(len(free) - len(question.unit_length), 0)]
    if not len(free):
        return deviation, ()
    deviation[np.linalg.norm(free, axis=0) > MIN_SHARE] = np.inf
    from scipy.linalg import qr

    pivots = qr(free, mode="r", pivoting=True)[1][: len(free)]
    named = []
    for pivot, direction in sorted(
        zip(pivots, np.linalg.inv(free[:, pivots]) @ free, strict=True), key=lambda pair: pair[0]
    ):
        parts = np.flatnonzero(np.abs(direction) > MIN_SHARE)
        own = direction / scale
        first = parts[np.abs(direction[parts]) > 0.5 * np.abs(direction).max()][0]
        text = " ".join(f"{own[k] / own[first]:+.3g} {question.names[k]}" for k in parts)
        named.append(text if len(parts) > 1 else question.names[pivot])
    return deviation, tuple(named)
