"""Search for the best parameters of a fit, within bounds and up to values beyond which systems are refused."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from runtime.analysis.edges import BEYOND, BeyondError, plain, refusal, search_to_edges
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


def fitted(problem: Problem, start: Floats, low: Floats, high: Floats) -> OptimizeResult:
    """The result of a least-squares search within bounds, and up to values beyond which systems are refused."""
    reached = [start]
    found, _ = search_to_edges(problem.question, partial(_search, problem, reached), low, high)
    found.nfev += len(reached) - 1 - found.njev  # searches before the last one
    return found


def _search(
    problem: Problem, reached: list[Floats], low: Floats, high: Floats, to_edges: bool
) -> tuple[Floats, OptimizeResult]:
    """A search from the last of the rows ``reached``, which gets those of its steps; see ``search_to_edges``."""
    from scipy.optimize import least_squares  # here because the import takes a fifth of a second

    start = reached[0]
    tie = TIE * np.diag(problem.effects(start).scale)

    def residuals(row: Floats) -> Floats:
        try:
            return np.concatenate([problem.predicted(row) - problem.target, tie @ (row - start)])
        except ModelError:
            if to_edges and (np.abs(row - reached[-1]) <= AT_EDGE * problem.question.sizes(reached[-1])).all():
                raise BeyondError(reached[-1], row.copy()) from None
            return np.full(len(problem.target) + len(start), np.nan)

    def jacobian(row: Floats) -> Floats:
        reached.append(row.copy())
        return np.vstack([problem.effects(row).jacobian, tie])

    found = least_squares(
        residuals, reached[-1], jac=jacobian, bounds=(low, high), x_scale="jac", xtol=1e-12, ftol=1e-14, gtol=1e-14,
        max_nfev=MAX_RUNS * len(start),
    )  # fmt: skip
    return found.x, found


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
    edges = {}
    for k, (x, slope, size) in enumerate(zip(found.x, found.grad, question.sizes(found.x), strict=True)):
        if reason := refusal(question, found.x, k, x - np.sign(slope) * BEYOND * size):
            edges[question.names[k]] = plain(question, found.x, k, x), reason
    return edges
