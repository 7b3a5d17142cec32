"""The method of ``coordinates="auto"``: joint coordinates, and absolute ones where the former fail or the motion is stiff."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.dynamics.status import Status
from runtime.integrate import stepping
from runtime.integrate.automatic import DOP853, FIRST_NEEDED, Automatic
from runtime.integrate.balance import DONE
from runtime.integrate.methods import NONE, NONE2, Compiled
from runtime.integrate.tree_method import InJointCoordinates
from runtime.results.passages import Passage
from runtime.results.stats import Part
from runtime.support.arrays import Floats
from runtime.support.logs import logger

LOG = logger(__name__)
Rest = Callable[[Floats, float, float], Compiled]  # a method for all bodies, by its state, time and first step


class JointsFirst:
    """A method of ``simulate`` that turns once; it has what the method has that is at work (``now``)."""

    def __init__(self, first: InJointCoordinates, rest: Rest, *, stiff: bool) -> None:
        self.first, self.now, self._rest = first, first, rest  # type: tuple[InJointCoordinates, Compiled, Rest]
        self._begun = first.t
        if stiff:
            first.s.counts[stepping.NEEDED] = FIRST_NEEDED[DOP853]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.now, name)

    def advance(
        self, steps: int, outputs: Floats, out: Floats, record_t: Floats, record_y: Floats
    ) -> tuple[Status, str]:
        """As of ``Compiled``; fewer steps where a turn follows."""
        if self.now is self.first and self.first.s.flags[stepping.TURN] == 1:
            self._turn()
        status, message = self.now.advance(steps, outputs, out, record_t, record_y)
        if status < 0 and self.now is self.first:
            self._turn()
            return Status.RUNNING, ""
        return status, message

    def step(self) -> tuple[Status, str]:
        """As of ``Compiled``."""
        return self.advance(1, NONE, NONE2, NONE, NONE2)

    def _turn(self) -> None:
        """Go on with the equations of all bodies."""
        first, s = self.first, self.first.s
        LOG.info("system '%s': from t = %.6g s on in absolute coordinates", first.system.name, first.t)
        rest = self._rest(first.y, first.t, float(s.time[stepping.NEXT_STEP]))
        rest.s.counts[stepping.NEXT_OUTPUT] = first.written
        rest.s.balance.energy[:] = first.balance
        rest.s.balance.work[DONE] = s.balance.work[DONE]
        if len(first.work.events.value):
            rest.watch(first.work.events)
        if isinstance(rest, Automatic):
            rest.s.flags[stepping.TURN] = s.flags[stepping.TURN]
            rest.s.time[stepping.REACH] = s.time[stepping.REACH]  # by which radau knows the steps of dop853
        self.now = rest

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the run until now, in order."""
        parts = [Part(DOP853, self._begun, *self.first.counts())]
        if self.now is not self.first:
            of_rest = self.now.parts if isinstance(self.now, Automatic) else ()
            parts += of_rest or (Part(DOP853, self.first.t, *self.now.counts()),)
        return tuple(part for k, part in enumerate(parts) if part.steps or k == len(parts) - 1)

    def counts(self) -> tuple[int, int, int | None]:
        """Evaluations, accepted steps, rejected steps."""
        found = self.first.counts()
        if self.now is self.first:
            return found
        return tuple(a + b for a, b in zip(found, self.now.counts(), strict=True))  # type: ignore[operator, return-value]

    @property
    def kernel(self) -> str:
        """As of ``Method``, of the first part."""
        return self.first.kernel

    @property
    def lost_digits(self) -> tuple[float, float]:
        """As of ``Method``."""
        return max(self.first.lost_digits, self.now.lost_digits)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Of singular poses of closed loops."""
        rest = () if self.now is self.first else self.now.passages
        return (*self.first.passages, *rest)

    def give_back(self) -> None:
        """Let the next run have the memory of this one."""
        self.first.give_back()
        self.now.give_back()
