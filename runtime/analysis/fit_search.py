"""Search for the best parameters of a fit, within bounds and up to values beyond which systems are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from runtime.analysis.fit_problem import Problem
from runtime.analysis.question import Question
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

MAX_RUNS = 100  # of a fit, for each number that is sought
# Weight of the distance from the start, as a fraction of a quantity's effect on the data: it keeps what the data do not
# determine near the start and does not shift what they determine.
TIE = 1e-8
AT_EDGE = 1e-9  # of the sizes of parameters: a refused candidate as near to the row before shows that the search is at an edge
ON_BOUND = 1e-6  # of the range: a distance from a bound that counts as on it, since the search stays inside


class _AtEdgeError(Exception):
    """A search came to where values beyond are refused."""


def search_to_edges(problem: Problem, start: Floats, low: Floats, high: Floats) -> OptimizeResult:
    """``_search``, in which values beyond which systems are refused become bounds once it has come to them."""
    low, high, begin, before = low.copy(), high.copy(), start, 0
    for _ in start:
        reached: list[Floats] = []
        try:
            found = _search(problem, start, begin, low, high, reached)
        except _AtEdgeError:
            begin, before = reached[-1], before + len(reached)
            if not _set_edges(problem, start, begin, low, high):
                break
            continue
        found.nfev += before
        return found
    found = _search(problem, start, begin, low, high)
    found.nfev += before
    return found


def _set_edges(problem: Problem, start: Floats, row: Floats, low: Floats, high: Floats) -> bool:
    """Whether values beyond components of a row are refused where the data are matched better; these become bounds, in place."""
    tie = TIE * problem.effects(start).scale
    slope = problem.effects(row).jacobian.T @ (problem.predicted(row) - problem.target) + tie**2 * (row - start)
    edges = _edges(problem.question, row, slope)
    for k in edges:
        (low if slope[k] > 0.0 else high)[k] = row[k]
    return bool(edges)


def _search(
    problem: Problem, start: Floats, begin: Floats, low: Floats, high: Floats, reached: list[Floats] | None = None
) -> OptimizeResult:
    """Least squares within bounds; candidates without a system or a run have residuals NaN, which shortens the step.

    reached : gets the rows to which the search came; ``_AtEdgeError`` where it comes no further for such candidates
    """
    from scipy.optimize import least_squares  # here because the import takes a fifth of a second

    tie = TIE * np.diag(problem.effects(start).scale)

    def residuals(row: Floats) -> Floats:
        try:
            return np.concatenate([problem.predicted(row) - problem.target, tie @ (row - start)])
        except ModelError:
            if reached and (np.abs(row - reached[-1]) <= AT_EDGE * problem.question.sizes(reached[-1])).all():
                raise _AtEdgeError from None
            return np.full(len(problem.target) + len(start), np.nan)

    def jacobian(row: Floats) -> Floats:
        if reached is not None:
            reached.append(row.copy())
        return np.vstack([problem.effects(row).jacobian, tie])

    return least_squares(
        residuals, begin, jac=jacobian, bounds=(low, high), x_scale="jac", xtol=1e-12, ftol=1e-14, gtol=1e-14,
        max_nfev=MAX_RUNS * len(start),
    )  # fmt: skip


def on_bounds_of(question: Question, found: OptimizeResult, low: Floats, high: Floats) -> dict[str, float]:
    """Bounds by the names of components on which a search ended: at the end of the range, and better beyond it."""
    ended: dict[str, float] = {}
    for k, (x, slope) in enumerate(zip(found.x.tolist(), found.grad.tolist(), strict=True)):
        for bound, outward in ((float(low[k]), -1.0), (float(high[k]), 1.0)):
            if np.isinf(bound) or outward * slope >= 0.0:
                continue
            width = float(high[k] - low[k])
            near = ON_BOUND * (width if width < np.inf else max(abs(bound), abs(x), abs(float(question.row[k]))))
            if abs(x - bound) <= near or found.active_mask[k] == outward:
                ended[question.names[k]] = bound
    return ended


def refused_beyond(question: Question, found: OptimizeResult) -> dict[str, tuple[float, str]]:
    """Components on the edge of what systems admit, and better beyond it: their values, and why those beyond are refused."""
    edges = _edges(question, found.x, found.grad)
    return {question.names[k]: (_edge(question, found.x, k), reason) for k, reason in edges.items()}


def _edges(question: Question, row: Floats, slope: Floats) -> dict[int, str]:
    """Components of a row beyond which, against the slope of the squares, systems are refused, with the reasons."""
    edges = {}
    for k, size in enumerate(question.sizes(row).tolist()):
        beyond = row.copy()
        beyond[k] -= np.sign(slope[k]) * ON_BOUND * size
        try:
            question.system(beyond)
        except ModelError as error:
            edges[k] = str(error)
    return edges


def _edge(question: Question, row: Floats, k: int) -> float:
    """The value at the edge: 0 where a component is as near to it, and 0 is not refused."""
    zero = row.copy()
    zero[k] = 0.0
    if abs(row[k]) > ON_BOUND * question.sizes(row)[k]:
        return float(row[k])
    try:
        question.system(zero)
    except ModelError:
        return float(row[k])
    return 0.0
