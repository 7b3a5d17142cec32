"""What ``simulate`` asks of a method of integration."""

from __future__ import annotations

from typing import Protocol

from runtime.dynamics.model_data import ModelData, Workspace
from runtime.dynamics.status import Status
from runtime.integrate.branches import UnsureStep
from runtime.results.stats import Part
from runtime.support.arrays import Floats


class Method(Protocol):
    """Interface of a method to ``simulate``."""

    data: ModelData
    work: Workspace

    def advance(
        self, steps: int, outputs: Floats, out: Floats, record_t: Floats, record_y: Floats
    ) -> tuple[Status, str]:
        """Up to ``steps`` accepted steps: RUNNING, REACHED_END or a failure, and the message of a failure.

        Rows of states, work of the sources and turns are put into ``out`` at the times ``outputs``, or, unless these are empty,
        into ``record_t`` and ``record_y`` at the ends of steps.
        """

    def at(self, t: float) -> Floats:
        """State at a time within the last step."""

    def turns_at(self, t: float) -> Floats:
        """Angles whose revolutions are counted, and turns of a tree where known [rad], at a time within the last step."""

    def of_tree(self, t: float) -> Floats | None:
        """Coordinates and rates of the tree, and more, at a time within the last step, where they are integrated; or None."""

    @property
    def turns(self) -> Floats:
        """The same at the time reached."""

    @property
    def kernel(self) -> str:
        """By which equations: a name of ``Stats.kernel``."""

    @property
    def balance(self) -> Floats:
        """``Balance.energy``."""

    @property
    def t(self) -> float:
        """Time reached."""

    @property
    def t_old(self) -> float:
        """Start of the last step."""

    @property
    def y(self) -> Floats:
        """State reached."""

    @property
    def unsure_steps(self) -> list[UnsureStep]:
        """Steps across which the branch of the motion of a closed loop may have changed."""

    def stop(self, t: float) -> None:
        """End the motion at a time within the last step."""

    @property
    def contact_events(self) -> Floats:
        """Touch-downs and lift-offs, in order: time, contact, 1 or 0, speed of touch-down."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the run until now, in order."""

    def counts(self) -> tuple[int, int, int | None]:
        """Evaluations, accepted steps, rejected steps."""

    @property
    def bounded(self) -> int:
        """Number of steps bounded by stability rather than accuracy; 0 for methods that do not report it."""

    @property
    def lost_digits(self) -> tuple[float, float]:
        """Digits by which errors near a singular configuration exceed the tolerance, and the time [s] of the first such step."""
