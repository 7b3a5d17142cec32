"""The driver of all runs: attempts at steps, what comes of them, and the ends of runs.

A memory has W lanes, each with a run of its own, its own time and its own step: one lane for ``simulate`` (``loop``), LANES of
them for vectorised cases (``batches.batch``), and one in each thread of a graphics processor.  All lanes attempt a step
together.  What depends on the memory is a function with a form for each (``runtime.jit.by_memory``): ``m`` is the memory itself,
``memory`` its address for parts that are compiled apart, ``of`` the data and workspace of a system, or the address of the
equations of lanes, and ``run`` what the driver was called with.

An attempt is *special* where more than its error decides what comes of it; those of single runs always are.  Of many lanes, the
others are accepted or rejected all at once (``go_on``).
"""

from __future__ import annotations

from typing import Any

from runtime.dynamics.layout import OK
from runtime.dynamics.status import Status
from runtime.integrate.step_control import (
    ACCEPTED,
    REJECTED,
    after_acceptance,
    after_bad_attempt,
    after_rejection,
    failure,
    step_length,
    verdict,
)
from runtime.integrate.surfaces import AGAIN, ALONE
from runtime.jit.compilation import columns, inlined

SMALL = 1e-15  # of the largest time of a run: longer steps are surely not too small


def begin_attempts(m: Any, memory: Any, of: Any, run: Any) -> int:
    """Begin the next steps, and in idle lanes the next runs; the number of lanes with a run, 0 where the driver returns."""
    raise NotImplementedError


def bound_lengths(m: Any, of: Any, run: Any) -> float:
    """Put the greatest lengths of the attempts into ``s.longest``; the end of the runs [s]."""
    raise NotImplementedError


def end_small(m: Any, of: Any, run: Any) -> int:
    """End the runs whose next steps are too small; their number."""
    raise NotImplementedError


def attempt(m: Any, memory: Any, of: Any, run: Any) -> None:
    """Attempt a step in all lanes: its end, ``s.error``, ``s.factor`` and codes."""
    raise NotImplementedError


def screen(m: Any, memory: Any, of: Any, run: Any) -> int:
    """Mark special attempts, and reject those that pass a kink of a force; the number of the former."""
    raise NotImplementedError


def follow(m: Any, memory: Any, of: Any, lane: int, run: Any) -> int:
    """What follows from changes of modes and events in an accurate attempt: GO_ON, AGAIN, ALONE or STOP.

    ``s.then_length`` is the length of the next attempt, or 0; ``s.until`` the time at which the step ends.
    """
    raise NotImplementedError


def keep_step(m: Any, memory: Any, of: Any, lane: int, run: Any, then: int) -> Status:
    """Keep what an accepted step leaves, before its time counts; RUNNING, or the status with which the run ends."""
    raise NotImplementedError


def after_step(m: Any, memory: Any, of: Any, lane: int, run: Any, then: int) -> Status:
    """Outputs and counts after an accepted step; RUNNING, or the status with which the run ends."""
    raise NotImplementedError


def end_run(m: Any, of: Any, lane: int, status: Status, run: Any) -> None:
    """End the run of a lane."""
    raise NotImplementedError


def go_on(m: Any, memory: Any, of: Any, run: Any) -> None:
    """Accept or reject the attempts that were not special, and begin the next ones."""
    raise NotImplementedError


@columns
def choose_lengths(s, finish):  # type: ignore[no-untyped-def]
    """Length of the attempt of every lane, 0 of an idle one; number of lanes whose step may be too small."""
    small = 0
    for lane in range(s.W):
        time = s.time[lane]
        cut = s.landings[lane] + s.kinked[lane] > 0.0
        h, _ = step_length(s.next_length[lane], s.longest[lane], time, finish, cut)
        busy = s.busy[lane] == 1.0
        s.length[lane] = h if busy else 0.0
        least = SMALL * max(abs(time), abs(finish)) if busy else -1.0
        small += 0 if h > least else 1
    return small


@inlined
def judge(m, memory, of, lane, run):  # type: ignore[no-untyped-def]
    """Accept or reject the special attempt of a lane; RUNNING, or the status with which its run ends."""
    s = m.s
    h, judged = s.length[lane], verdict(s.error[lane])
    s.accepted[lane] = 0.0
    if judged != ACCEPTED:
        length = after_rejection(h, s.factor[lane]) if judged == REJECTED else after_bad_attempt(h, s.time[lane])
        if length == 0.0:
            return failure(int(s.code[lane]))
        s.rejections[lane] += 1.0
        s.after_rejection[lane], s.aimed[lane], s.next_length[lane] = 1.0, 0.0, length
        return Status.RUNNING
    if s.end_code[lane] != OK:
        return failure(int(s.end_code[lane]))
    then = follow(m, memory, of, lane, run)
    if s.end_code[lane] != OK:
        return failure(int(s.end_code[lane]))
    if then == ALONE:
        return Status.NOT_RUN
    if then == AGAIN:
        s.rejections[lane] += 1.0
        s.next_length[lane] = s.then_length[lane]
        return Status.RUNNING
    if s.then_length[lane] > 0.0:
        s.factor[lane], s.after_rejection[lane] = s.then_length[lane] / h, 0.0
    ended = keep_step(m, memory, of, lane, run, then)
    if ended != Status.RUNNING:
        return ended
    s.accepted[lane], s.time[lane] = 1.0, s.until[lane]
    s.next_length[lane] = after_acceptance(h, s.factor[lane], s.after_rejection[lane])
    s.after_rejection[lane] = 0.0
    s.steps[lane] += 1.0
    return after_step(m, memory, of, lane, run, then)


@inlined
def drive(m, memory, of, run):  # type: ignore[no-untyped-def]
    """Attempt steps until all runs have ended, or the driver is to return; it goes on from there when it is called again."""
    while begin_attempts(m, memory, of, run) > 0:
        if choose_lengths(m.s, bound_lengths(m, of, run)) > 0 and end_small(m, of, run) > 0:
            continue
        attempt(m, memory, of, run)
        if screen(m, memory, of, run) > 0:
            for lane in range(m.W):
                if m.s.special[lane] > 0.0:
                    ended = judge(m, memory, of, lane, run)
                    if ended != Status.RUNNING:
                        end_run(m, of, lane, ended, run)
        go_on(m, memory, of, run)
