"""How an integration ended: one code for compiled code, results and messages, with a sentence and a remedy for each."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """Outcome of a run, or of a case of an ensemble; codes below 0 are failures.

    Compiled code returns the members, ``run.status`` is one, and arrays of statuses hold their numbers.
    """

    REACHED_END = 0
    STOPPED_BY_EVENT = 1
    INTERRUPTED = 2
    STEPS_USED_UP = 3
    CLOSE_TO_SINGULAR = 4  # within a batch only: such a case is repeated alone
    RUNNING = 10  # within the integration only
    STEP_TOO_SMALL = -1
    SINGULAR_CONFIGURATION = -2
    NOT_FINITE = -3
    METHOD_FAILED = -4
    EVENT_NOT_FINITE = -5
    CONSTRAINTS_VIOLATED = -6
    FRICTION_NOT_UNIQUE = -7
    TOO_MANY_STEPS = -8
    BRANCH_LEFT = -9
    CONTROLLER_FAILED = -10
    REFUSED = -20
    NOT_RUN = -21

    @property
    def sentence(self) -> str:
        """The outcome in words, without names and times, which ``run.message`` has."""
        return _TEXTS[self][0]

    @property
    def remedy(self) -> str:
        """Possible remedies; empty where none is needed."""
        return _TEXTS[self][1]

    def text(self, t: float, detail: str = "") -> str:
        """Message of a run that ended so at a time [s]: sentence, time, detail and remedy.

        The detail of a state that is not finite has the remedy.
        """
        remedy = "" if detail and self == Status.NOT_FINITE else self.remedy
        parts = (
            f"{self.sentence} at t = {t:.6g} s",
            f": {detail}" if detail else "",
            f"; {remedy}" if remedy else "",
        )
        return "".join(parts)


ENDED = Status.REACHED_END, Status.STOPPED_BY_EVENT  # outcomes of a success


def message_at_end(t: float) -> str:
    """Message of a run of which there is nothing else to say."""
    return f"reached t = {t:g} s"


class RunFailure(Exception):
    """A failure of an integration outside of compiled code, with its status and message."""

    def __init__(self, status: Status, t: float, detail: str = "") -> None:
        super().__init__(status.text(t, detail))
        self.status = status


_TEXTS = {
    Status.REACHED_END: ("the run reached its end", ""),
    Status.STOPPED_BY_EVENT: ("a terminal event stopped the run", ""),
    Status.INTERRUPTED: ("the run was interrupted", "start it again"),
    Status.STEPS_USED_UP: ("the run reached max_steps", "raise max_steps, or rtol and atol"),
    Status.CLOSE_TO_SINGULAR: (
        "the run passed close to a singular configuration",
        "accuracy is lost there; avoid this configuration",
    ),
    Status.RUNNING: ("the run has not ended", ""),
    Status.STEP_TOO_SMALL: (
        "the step size became smaller than machine precision allows",
        "raise rtol and atol where they are near rounding; else check masses, stiffnesses and speeds, or start elsewhere",
    ),
    Status.SINGULAR_CONFIGURATION: (
        "the constraint rows became dependent in a singular configuration",
        "avoid this configuration, use another joint, or reduce the mass ratio",
    ),
    Status.NOT_FINITE: ("the state stopped being finite", "check masses, inertias and initial velocities"),
    Status.METHOD_FAILED: ("SciPy's solver failed", "raise rtol and atol, or try another method"),
    Status.EVENT_NOT_FINITE: (
        "an event function gave no finite number",
        "correct the function",
    ),
    Status.CONTROLLER_FAILED: ("a controller failed", "correct its function"),
    Status.CONSTRAINTS_VIOLATED: (
        "a constraint row is violated by more than its bound",
        "lower rtol and atol; where alpha and beta are given, leave them out",
    ),
    Status.FRICTION_NOT_UNIQUE: (
        "the friction of a joint by its own reaction has no unique value",
        "reduce its coefficient, support the body nearer to its load, or give the friction's moment or force",
    ),
    Status.TOO_MANY_STEPS: (
        "the steps are too short to reach the end",
        "check masses, stiffnesses, speeds and t_end, raise rtol and atol, or try another method; with max_steps the run goes on",
    ),
    Status.BRANCH_LEFT: (
        "a step led a closed loop to another assembly mode, which does not belong to its start",
        "lower rtol and atol by a factor of 10 to 100, or give a shorter max_step",
    ),
    Status.REFUSED: ("the case breaks a rule and was not started", "correct the values of this case"),
    Status.NOT_RUN: ("the case was not run", "repeat the call"),
}
