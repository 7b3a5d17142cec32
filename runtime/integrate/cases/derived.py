"""What follows from the states of many cases that ``cases.loop`` has run, in their memory, with the bits of single runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from runtime.dynamics.derived import Derived, derive_states, derived_memory, energies_at
from runtime.dynamics.equations import general_part, place_of_part
from runtime.dynamics.places import EVALUATION
from runtime.integrate.cases.loop import CasesGiven, restore
from runtime.integrate.cases.memory import Frame
from runtime.jit.compilation import compiled, inlined
from runtime.support.arrays import Floats, Ints


@inlined
def be_case(m, given, n, evaluation, resolution):  # type: ignore[no-untyped-def]
    """Put the memory at the start of case n, for the general evaluation in states of all bodies."""
    restore(m, given, n)
    m.rows.address[EVALUATION] = evaluation
    m.rows.contacts.speed_resolution[0] = resolution


@compiled
def derive_cases(m, given, cases, times, states, before, events, counts, evaluation, resolution, d):  # type: ignore[no-untyped-def]
    """``derive`` of cases, whose states (cases, times, 13 bodies) follow each other in ``d``."""
    for k in range(len(cases)):
        n = cases[k]
        be_case(m, given, n, evaluation, resolution)
        derive_states(times, states[k], before[k], events[n, : counts[n]], k * len(times), m.t, m.rows, d)


@compiled
def derive_energies_of_cases(m, given, cases, times, states, before, events, counts, evaluation, resolution, energies):  # type: ignore[no-untyped-def]
    """``derive_energies`` of cases, (cases, times, 3)."""
    for k in range(len(cases)):
        n = cases[k]
        be_case(m, given, n, evaluation, resolution)
        energies_at(times, states[k], before[k], events[n, : counts[n]], m.t, m.rows, energies[k])


class CaseStates:
    """States of some cases of a group, and what follows from them.

    cases (n,): their numbers among those given; states (n, times, 13 bodies) at times (times,) [s]; before (n, times, angles), as
    of ``take_state``; events (all cases, most, 4), of which each case has ``counts``; resolution [m/s]: speeds closer than this
    are equal.
    """

    def __init__(
        self, frame: Frame, given: CasesGiven, cases: Ints, times: Floats, states: Floats, before: Floats, events: Floats,
        counts: Ints, resolution: float,
    ) -> None:  # fmt: skip
        self._frame, self._given, self._cases, self._times = frame, given, cases, times
        self._states, self._events, self._counts, self._resolution = states, events, counts, resolution
        self._before = np.ascontiguousarray(before)
        self._portion = 0, -1  # first case of the one that is derived, and the next after it
        self._derived: Derived | None = None

    def energies(self) -> Floats:
        """Kinetic energy, that of gravity and elastic energy [J], (n, times, 3)."""
        energies = np.zeros((*self._states.shape[:2], 3))
        derive_energies_of_cases(*self._arguments(0, len(self._cases)), energies)
        return energies

    def portions(self) -> Iterator[tuple[int, int, Derived]]:
        """What follows from the states of all cases: first case of a portion, the next after it, and states case by case."""
        for case in range(0, len(self._cases), max(1, AT_ONCE // max(len(self._times), 1))):
            self._derive_portion(case)
            assert self._derived is not None
            yield *self._portion, self._derived

    def _derive_portion(self, case: int) -> None:
        """Derive the portion that begins with a case."""
        first, last = case, min(case + max(1, AT_ONCE // max(len(self._times), 1)), len(self._cases))
        self._derived = derived_memory((last - first) * len(self._times), self._frame.parts.t)
        derive_cases(*self._arguments(first, last), self._derived)
        self._portion = first, last

    def derived(self, case: int) -> Derived:
        """What follows from the states of a case, the number of a case among these; cases in order take the least time."""
        if not self._portion[0] <= case < self._portion[1]:
            self._derive_portion(case)
        assert self._derived is not None
        start = (case - self._portion[0]) * len(self._times)
        given = self._derived.given
        found = [array[start : start + len(self._times)].copy() for array in self._derived]
        return Derived(*found)._replace(given=given)

    def _arguments(self, first: int, last: int) -> tuple[object, ...]:
        return (
            self._frame.memory, self._given, self._cases[first:last], self._times, self._states[first:last],
            self._before[first:last], self._events, self._counts, place_of_part(general_part), self._resolution,
        )  # fmt: skip


AT_ONCE = 1024  # states of which all quantities are in memory
