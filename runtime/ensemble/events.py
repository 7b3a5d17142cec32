"""Events in the cases of an ensemble: when they occurred, and in which states."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from runtime.dynamics.layout import STATE
from runtime.ensemble.of_bodies import ByBody
from runtime.ensemble.store import Folder
from runtime.support.arrays import Floats, Ints, read_only
from runtime.support.names import named
from runtime.system.state import PARTS, by_body

NUMBER, TIME, STATES = 0, 1, 2  # columns of ``Chunk.events``; the states of the bodies are the last ones


class CaseEvents(ByBody):
    """An event in the cases of an ensemble.

    ``first`` (n,) [s]: when it occurred first, NaN in cases where it did not; ``count`` (n,): how often it occurred;
    ``times`` (n, most) [s]: all its times, NaN behind the last one of a case.
    ``states`` (n, most, bodies, 13): r, p, v, omega at these times; ``r["toes"]``, ``p``, ``v``, ``omega``: the same by body.
    """

    def __init__(self, name: str, cases: int, bodies: tuple[str, ...], of_case: Ints, rows: Floats) -> None:
        """``rows`` (m, 2 + 13 bodies): those of this event, as of ``Chunk.events``, of the cases ``of_case`` (m,)."""
        order = np.lexsort((rows[:, TIME], of_case))
        self.name, self.bodies, self._case, self._rows = name, bodies, of_case[order], rows[order]
        self.count = read_only(np.bincount(of_case, minlength=cases))

    def __repr__(self) -> str:
        return f"event '{self.name}': in {np.count_nonzero(self.count)} of {len(self.count)} cases"

    def _by_case(self, values: Floats) -> Floats:
        """Values (m, ...) of the rows as (cases, most, ...)."""
        out = np.full((len(self.count), max(1, self.count.max(initial=0)), *values.shape[1:]), np.nan)
        out[self._case, np.arange(len(values)) - (np.cumsum(self.count) - self.count)[self._case]] = values
        return out

    @cached_property
    def times(self) -> Floats:
        """All times by case, (n, most) [s], NaN behind the last one."""
        times: Floats = read_only(self._by_case(self._rows[:, TIME]))
        return times

    @property
    def first(self) -> Floats:
        """The first time in each case, (n,) [s], NaN where there is none."""
        first: Floats = self.times[:, 0]
        return first

    @property
    def states(self) -> Floats:
        """States at ``times``, (n, most, bodies, 13): r, p, v, omega."""
        return by_body(self._by_case(self._rows[:, STATES:]))

    def _of_body(self, part: str, body: str) -> Floats:
        states: Floats = self.states[:, :, self.bodies.index(body), PARTS[part]]
        return states


def events_of_cases(ensemble: Any, names: tuple[str, ...]) -> Mapping[str, CaseEvents]:
    """The events of these names in the cases of an ensemble."""
    kept = kept_of_cases(ensemble._states, "events")
    cases = np.concatenate([np.zeros(0, np.int64), *(own for own, _ in kept)])
    rows = np.concatenate([np.zeros((0, STATES + len(ensemble.bodies) * STATE)), *(own for _, own in kept)])
    found = {}
    for k, name in enumerate(names):
        at = rows[:, NUMBER] == k
        found[name] = CaseEvents(name, len(ensemble), ensemble.bodies, cases[at], rows[at])
    return named("event", found)


def kept_of_cases(states: Any, what: str) -> list[tuple[Ints, Any]]:
    """``Chunk.turns``, ``Chunk.starts`` or ``Chunk.events`` of all chunks, in memory or in a folder."""
    if isinstance(states, Folder):
        return [own for first, _ in states.done() for own in states.kept(first, what)]
    return [own for chunk in states for own in getattr(chunk, what, ())]  # pickled by earlier versions: none
