"""The method "auto": dop853, and radau where the motion is stiff.

The rules of ``runtime.integrate.stiffness`` are checked after each step in compiled code, which returns where the other method
should go on.  Both methods work on the same state of the integration (``Stepper``): a turn exchanges the method's memory, at
the end of an accepted step.  Radau is compiled at the first turn, so motions that are never stiff do not wait for it; their
results are those of dop853 to the last digit.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics.model_data import ModelData, Workspace, size_of_states
from runtime.dynamics.status import Status
from runtime.integrate import stepping
from runtime.integrate.methods import Compiled, memory_of_radau
from runtime.integrate.radau.linear import FASTEST_RATE
from runtime.results.stats import Part
from runtime.support.arrays import Floats
from runtime.support.logs import logger
from runtime.system.state import State
from runtime.system.system import System

LOG = logger(__name__)
DOP853, RADAU = "dop853", "radau"
FIRST_NEEDED = {DOP853: 15, RADAU: 10}  # steps that speak for the other method before a turn from this one
MAX_NEEDED = 10000
# A part of so many times the steps needed for its end did not pay: next time its beginning needs twice as many
SHORT = 2


class Automatic(Compiled):
    """The compiled methods in turn."""

    def __init__(
        self, method: str, system: System, data: ModelData, start: State | Floats, t_start: float, t_end: float, rtol: float,
        atol: float, max_step: float, first_step: float, *, projected: bool = False, work: Workspace | None = None,
    ) -> None:  # fmt: skip
        span = t_start, t_end, rtol, atol, max_step, first_step
        super().__init__(DOP853, system, data, start, *span, projected=projected, work=work)
        self.needed = dict(FIRST_NEEDED)
        self.now = DOP853
        self.steppers = {DOP853: self.s}
        self.past: list[Part] = []
        self.begun = (t_start, 0, 0, 0)
        self.lane.needed = self.needed[DOP853]

    def advance(
        self, steps: int, outputs: Floats, out: Floats, record_t: Floats, record_y: Floats
    ) -> tuple[Status, str]:
        """As of ``Compiled``; fewer steps where a turn follows."""
        if self.lane.turn == 1:
            self._turn()
        status, message = super().advance(steps, outputs, out, record_t, record_y)
        if status < 0 and self.now == RADAU:
            # Dop853 may pass where Newton's method does not converge.
            self.lane.next_length = self.lane.length
            self._turn()
            return Status.RUNNING, ""
        return status, message

    @property
    def bounded(self) -> int:
        """0: where stability bounds many steps, radau goes on unless it costs more."""
        return 0

    @property
    def parts(self) -> tuple[Part, ...]:
        """As of ``Method``."""
        return (*self.past, self._part())

    def _part(self) -> Part:
        t, *begun = self.begun
        evaluations, steps, rejections = (count - before for count, before in zip(self.counts(), begun, strict=True))
        return Part(self.now, t, evaluations, steps, rejections)

    def _turn(self) -> None:
        """Go on with the other method."""
        here, there = self.now, RADAU if self.now == DOP853 else DOP853
        LOG.info("system '%s': from t = %.6g s on by %s", self.system.name, self.t, there)
        part = self._part()
        short = part.steps <= SHORT * self.needed[here]
        self.needed[there] = min(2 * self.needed[there], MAX_NEEDED) if short else FIRST_NEEDED[there]
        self.past.append(part)
        self.begun = (self.t, *self.counts())
        if there not in self.steppers:
            self.steppers[there] = self._stepper_of_radau()
        s = self.steppers[there]
        if there == RADAU:
            s.own.kept[:] = 0
            s.own.last[:] = 0.0
        elif (fastest := self.s.own.last[FASTEST_RATE]) > 0.0:
            s.now.next_length = min(s.now.next_length, s.now.reach / fastest)
        s.now.turn = 0
        s.now.speaking = s.now.silent = 0
        s.now.needed = self.needed[there]
        self.now = there
        self.use(s)

    def _stepper_of_radau(self) -> stepping.Stepper:
        motions = len(self.s.y) // size_of_states(self.data)
        s = self.s._replace(own=memory_of_radau(self.system, motions), address=np.zeros_like(self.s.address))
        self.bind(s)
        return s
