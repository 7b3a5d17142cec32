"""The method of ``coordinates="auto"``: joint coordinates, and absolute ones where the former fail or the motion is stiff."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.dynamics.angles import take_angles
from runtime.dynamics.status import Status
from runtime.integrate.automatic import DOP853, FIRST_NEEDED, Automatic
from runtime.integrate.balance import DONE
from runtime.integrate.branches import UnsureStep
from runtime.integrate.followed_turns import FollowedTurns
from runtime.integrate.methods import NONE2, Compiled
from runtime.integrate.tree_method import InJointCoordinates
from runtime.results.passages import Passage
from runtime.results.stats import Part
from runtime.support.arrays import Floats
from runtime.support.logs import logger

LOG = logger(__name__)
FOLLOWED = 2**20  # numbers in the states of steps that are followed at once
Rest = Callable[[Floats, float, float], Compiled]  # a method for all bodies, by its state, time and first step


class JointsFirst:
    """A method of ``simulate`` that turns once; it has what the method has that is at work (``now``)."""

    def __init__(self, first: InJointCoordinates, rest: Rest, *, stiff: bool) -> None:
        self.first, self.now, self._rest = first, first, rest  # type: tuple[InJointCoordinates, Compiled, Rest]
        self._out = NONE2
        self._followed: FollowedTurns | None = None
        if stiff:
            first.lane.needed = FIRST_NEEDED[DOP853]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.now, name)

    def advance(
        self, steps: int, outputs: Floats, out: Floats, record_t: Floats, record_y: Floats
    ) -> tuple[Status, str]:
        """As of ``Compiled``; fewer steps where a turn follows."""
        if self.now is self.first and self.first.lane.turn == 1:
            self._turn()
        if self._followed is not None:
            return self._advance_rest(self._followed, steps, outputs, out, record_t, record_y)
        status, message = self.now.advance(steps, outputs, out, record_t, record_y)
        if status < 0 and self.now is self.first:
            self._turn()
            return Status.RUNNING, ""
        return status, message

    def _advance_rest(
        self, followed: FollowedTurns, steps: int, outputs: Floats, out: Floats, record_t: Floats, record_y: Floats
    ) -> tuple[Status, str]:
        """``advance`` in absolute coordinates, where the turns of the tree are followed from step to step."""
        m, n = self.now, len(self.now.row)
        steps = min(steps, max(1, FOLLOWED // n))
        if self._out.shape != (len(outputs), n):
            self._out = np.empty((len(outputs), n))
        t, y, first, taken = np.zeros(steps), np.zeros((steps, n)), m.written, m.counts()[1]
        status, message = m.advance(steps, outputs, self._out, t, y)
        taken, results = m.counts()[1] - taken, slice(first, m.written if len(outputs) else first)
        count = results.stop - first
        times, rows = np.append(outputs[results], t[:taken]), np.concatenate([self._out[results], y[:taken]])
        rows = np.concatenate([rows, followed.go_on(times, rows[:, : len(m.bodies)])], axis=1)
        if count:
            out[results] = rows[:count]
        if len(record_t):
            record_t[:taken], record_y[:taken] = t[:taken], rows[count:]
        return status, message

    @property
    def row(self) -> Floats:
        """As of ``Compiled``."""
        return (
            self.now.row
            if self._followed is None
            else np.append(self.now.row, self._followed.at(self.now.t, self.now.bodies))
        )

    @property
    def turns(self) -> Floats:
        """As of ``Compiled``."""
        return self.now.turns if self._followed is None else self.turns_at(self.now.t)

    def turns_at(self, t: float) -> Floats:
        """As of ``Compiled``."""
        if self._followed is None:
            return self.now.turns_at(t)
        bodies = self.now.bodies if t == self.now.t else self.now.at(t)[: len(self.now.bodies)]
        return np.append(self.now.turns_at(t), self._followed.at(t, bodies))

    @property
    def used(self) -> InJointCoordinates | JointsFirst:
        """The method that was at work, where there was only one."""
        return self.first if self.now is self.first else self

    def _turn(self) -> None:
        """Go on with the equations of all bodies."""
        first, s = self.first, self.first.s
        LOG.info("system '%s': from t = %.6g s on in absolute coordinates", first.system.name, first.t)
        rest = self._rest(first.y, first.t, float(s.now.next_length))
        rest.end = first.end
        rest.s.output[0] = first.written
        rest.s.balance.energy[:] = first.balance
        rest.s.balance.work[DONE] = s.balance.work[DONE]
        if len(first.work.events.value):
            rest.watch(first.work.events, first.work.events.evaluation.tolist(), first.kept)
        if first.sampled:
            rest.sample()
        if isinstance(rest, Automatic):
            rest.lane.turn = s.now.turn
            rest.lane.reach = s.now.reach  # by which radau knows the steps of dop853
        self.now = rest
        take_angles(first.turns, first.data, rest.work)
        if len(turns := first.turns[first.data.counted :]):
            self._followed = FollowedTurns(first.system, first.tree, first.t, first.bodies, turns)

    @property
    def parts(self) -> tuple[Part, ...]:
        """As of ``Method``."""
        parts = self.first.parts if self.now is self.first else self.first.parts + self.now.parts
        return tuple(part for k, part in enumerate(parts) if part.steps or k == len(parts) - 1)

    def counts(self) -> tuple[int, int, int | None]:
        """Evaluations, accepted steps, rejected steps."""
        found = self.first.counts()
        if self.now is self.first:
            return found
        return tuple(a + b for a, b in zip(found, self.now.counts(), strict=True))  # type: ignore[operator, return-value]

    @property
    def reached(self) -> tuple[float, int]:
        """As of ``Compiled``."""
        t, steps = self.now.reached
        return t, steps if self.now is self.first else steps + self.first.reached[1]

    def ended(self) -> Any:
        """As of ``Compiled``, after a turn."""
        found = object.__new__(type(self))
        vars(found).update(vars(self), first=self.first.ended(), now=self.now.ended())
        return found

    @property
    def kernel(self) -> str:
        """As of ``Method``, of the first part."""
        return self.first.kernel

    @property
    def lost_digits(self) -> tuple[float, float]:
        """As of ``Method``."""
        found = self.first.lost_digits
        return found if self.now is self.first else max(found, self.now.lost_digits)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Of singular poses of closed loops."""
        rest = () if self.now is self.first else self.now.passages
        return (*self.first.passages, *rest)

    @property
    def unsure_steps(self) -> list[UnsureStep]:
        """As of ``Method``."""
        rest = [] if self.now is self.first else self.now.unsure_steps
        return self.first.unsure_steps + rest

    def give_back(self) -> None:
        """Let the next run have the memory of this one."""
        self.first.give_back()
        self.now.give_back()
