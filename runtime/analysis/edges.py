"""Searches up to values beyond which systems are refused: such values become bounds once a search has come to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from runtime.analysis.question import Question
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError

T = TypeVar("T")
HALVINGS = 40  # by which an edge is found
# Of the size of a component: as near to an edge a search ended at it, and as far beyond it values are refused.
BEYOND = 1e-6
SEARCHES = 3  # for each component, before edges are left to the search


class Edge(NamedTuple):
    """The last value of a component that is admitted, on which side of it values are refused, and why."""

    at: float
    side: float
    reason: str


class BeyondError(Exception):
    """A search that had come to the row ``begin`` came to a row without a system."""

    def __init__(self, begin: Floats, row: Floats) -> None:
        super().__init__()
        self.begin, self.row = begin, row


def search_to_edges(
    question: Question, search: Callable[[Floats, Floats, bool], tuple[Floats, T]], low: Floats, high: Floats
) -> tuple[T, dict[int, Edge]]:
    """The result of a search within bounds, and the edges at which it ended, by component.

    An edge is that of a component alone.  Where the search ends at one that other components have moved, it is looked for again.

    Parameters
    ----------
    search : callable(low, high, to_edges) -> row, result
        With ``to_edges`` it raises ``BeyondError`` at a row without a system; otherwise such rows shorten its steps.
    low, high : (K,)
        The bounds that were given.
    """
    edges: dict[int, Edge] = {}
    for _ in range(SEARCHES * len(low)):
        lower, upper = low.copy(), high.copy()
        for k, edge in edges.items():
            (lower if edge.side < 0.0 else upper)[k] = edge.at
        try:
            row, result = search(lower, upper, True)
        except BeyondError as beyond:
            found = _edges(question, beyond.begin, beyond.row)
            edges |= found
            if not found:
                break
            continue
        near = BEYOND * question.sizes(row)
        ended = {k: edge for k, edge in edges.items() if abs(row[k] - edge.at) <= near[k]}
        moved = [k for k, edge in ended.items() if not refusal(question, row, k, row[k] + 2.0 * edge.side * near[k])]
        if not moved:
            return result, ended
        for k in moved:
            del edges[k]
    return search(low, high, False)[1], {}


def refusal(question: Question, row: Floats, k: int, value: float) -> str:
    """Why a row with another value of a component has no system; "" where it has one."""
    other = row.copy()
    other[k] = value
    try:
        question.system(other)
    except ModelError as error:
        return str(error)
    return ""


def plain(question: Question, row: Floats, k: int, value: float) -> float:
    """A value of a component of a row; 0 where it is as near to it as an edge, and 0 is admitted."""
    near = abs(value) <= BEYOND * question.sizes(row)[k]
    return 0.0 if near and not refusal(question, row, k, 0.0) else float(value)


def _edges(question: Question, row: Floats, beyond: Floats) -> dict[int, Edge]:
    """Edges of the components of a row that alone are refused at their values in another row."""
    found = {}
    for k in np.flatnonzero(beyond != row).tolist():
        good, bad = float(row[k]), float(beyond[k])
        reason = refusal(question, row, k, bad)
        for _ in range(HALVINGS if reason else 0):
            middle = 0.5 * (good + bad)
            if why := refusal(question, row, k, middle):
                bad, reason = middle, why
            else:
                good = middle
        if reason:
            found[k] = Edge(plain(question, row, k, good), float(np.sign(beyond[k] - row[k])), reason)
    return found
