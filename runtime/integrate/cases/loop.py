"""Many cases of systems of one layout, one after another in compiled code, in the memory of one run.

Each case gets its parameters, initial state, modes of limits and contacts, and step; it is integrated by the loop of single runs,
so that its results have the same bits.  A case that does not simply reach its end, or needs what only Python code does, such as
the beginning in a singular pose, gets the status ALONE: ``simulate`` repeats it and has the message.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.angles import put_angles
from runtime.dynamics.force_elements import TERMINAL
from runtime.dynamics.kinematics import update_motion
from runtime.dynamics.layout import OK, STATE, P, R, V
from runtime.dynamics.model_data import ModelData, Workspace
from runtime.dynamics.projection import worst_violation
from runtime.dynamics.status import Status
from runtime.integrate.balance import DONE, ENERGIES
from runtime.integrate.closed_loops import PROJECTED_STAGES
from runtime.integrate.dense_output import RESULTS, write_turns
from runtime.integrate.loop import steps_of_loop
from runtime.integrate.loop_parts import ARRAY, INTEGER, REAL, LoopPart
from runtime.integrate.radau.linear import FASTEST_RATE
from runtime.integrate.step_control import FIRST_LOOK, NO_LIMIT
from runtime.integrate.stepping import (
    Stepper,
    endless,
    normalise,
)
from runtime.jit.compilation import compiled, inlined
from runtime.jit.pointers import array_at, call_at
from runtime.support.arrays import Floats, Ints

ALONE = Status.CLOSE_TO_SINGULAR  # as in a batch: such a case is repeated alone
EXPLICIT, IMPLICIT = range(2)  # methods
DIGITS = SMALLEST, WHEN_CLOSE, LARGEST_LOST, WHEN_LOST = range(4)  # of ``CasesFound.digits``
MAX_TURNS = 5  # times of turns that are kept
PORTIONS = 8  # of steps, in one call from Python


class AnyMethod(NamedTuple):
    """In place of the memory of a method, for code that does not read it."""

    nothing: Floats


class Turning(NamedTuple):
    """What the method "auto" has beside the methods; see ``runtime.integrate.automatic``."""

    kept: Ints  # of the memory of radau
    last: Floats
    needed: Ints  # (2,) by method
    begun: Ints  # (2,) steps at the last turn; the method at work
    first_needed: Ints  # (2,)
    rules: Ints  # (2,) ``automatic.SHORT``, ``automatic.MAX_NEEDED``


class CaseMemory(NamedTuple):
    """The memory of the cases; the arrays of all named tuples lie in ``floats``, ``ints`` and ``pairs``."""

    t: ModelData
    w: Workspace
    rows: Workspace  # for evaluations in states of all bodies: ``w`` itself, or another where ``w`` is of a tree with rows
    s: Stepper  # common to the methods
    turning: Turning
    floats: Floats
    ints: Ints
    pairs: Floats  # complex numbers
    stepper: Ints  # (2,) addresses of the steppers of the two methods
    place: Ints  # (2,) places of the addresses of their loops
    crossings: Ints  # (2,) of ``crossings_part``
    dense: Ints  # (2,) of ``dense_part``
    evaluation: Ints  # (4,) as of ``EventWorkspace``, by ``rows``


class CasesGiven(NamedTuple):
    """What the cases begin with; cases that differ in nothing have one row in common."""

    floats: Floats  # first values of ``CaseMemory.floats``
    ints: Ints
    pairs: Floats
    float_place: Ints  # (k,) those that differ between cases
    float_value: Floats  # (cases or 1, k)
    int_place: Ints
    int_value: Ints
    states: Floats  # (cases, 13 bodies)
    y: Floats  # (cases, n) states of the integration
    outputs: Floats  # (times,) [s]


class CaseControl(NamedTuple):
    """Settings common to the cases."""

    t_start: float
    t_end: float
    rtol: float
    atol: float
    max_step: float
    first_step: float
    max_steps: int
    portion: int  # steps that the loop takes at once
    projected: int
    method: int
    automatic: int
    needed: int  # ``stepping.NEEDED`` at the start
    in_joints: int
    off_the_rows: float  # limit for initial states in joint coordinates
    checked: int  # of the states at the outputs: 0 none, 1 the last one, 2 all
    bound: float  # of |Phi| there, as a fraction of the extent
    coupled: float  # and of couplings


class CasesFound(NamedTuple):
    """Results of the cases."""

    next: Ints  # (2,) the next case; 1 where it is under way
    status: Ints  # (cases,) REACHED_END, STOPPED_BY_EVENT, ALONE, or NOT_RUN after an interruption
    out: Floats  # (cases, times, 13 bodies + sources + angles + turns of a tree)
    counts: Ints  # (cases, 4) evaluations, steps, rejections; steps bounded by stability
    reached: Floats  # (cases,) [s]
    energy: Floats  # (cases, ENERGIES or 0) ``Balance.energy``
    digits: Floats  # (cases, 4) smallest pivot ratio and its time, error by closed loops in units of the tolerance and its time
    turns: Ints  # (cases,)
    turn_times: Floats  # (cases, MAX_TURNS) [s]
    events: Floats  # (cases, most events, 4) of contacts
    event_counts: Ints  # (cases,)
    passed: Ints  # (cases,) 1: states were written in a step close to a singular pose
    zeros: Floats  # (cases, most zeros, 2 + width of ``out``) of events: number of the event, time [s], as ``out``
    zero_counts: Ints  # (cases,)


def cases_found(cases: int, times: int, width: int, energies: int, events: int, zeros: int) -> CasesFound:
    """Empty results; width of ``out``, and how many events of contacts, and zeros of events, are kept."""
    return CasesFound(
        next=np.zeros(2, np.int64), status=np.full(cases, int(Status.NOT_RUN)), out=np.full((cases, times, width), np.nan),
        counts=np.zeros((cases, 4), np.int64), reached=np.zeros(cases), energy=np.zeros((cases, ENERGIES if energies else 0)),
        digits=np.zeros((cases, len(DIGITS))), turns=np.zeros(cases, np.int64), turn_times=np.zeros((cases, MAX_TURNS)),
        events=np.zeros((cases, events, 4)), event_counts=np.zeros(cases, np.int64), passed=np.zeros(cases, np.int64),
        zeros=np.zeros((cases, zeros, 2 + width)), zero_counts=np.zeros(cases, np.int64),
    )  # fmt: skip


def loop_part(m, t, w, end, rtol, atol, max_step, max_steps, count, outputs, width, out):  # type: ignore[no-untyped-def]
    """``loop.advance`` with addresses as arguments: outputs (count,), out (count, width)."""
    none = array_at(outputs, 0)
    of_steps = array_at(outputs, 0, 0)
    wanted, to = array_at(outputs, count), array_at(out, count, width)
    return steps_of_loop(m, t, w, end, rtol, atol, max_step, max_steps, wanted, to, none, of_steps)


LOOP_PART = LoopPart(loop_part, (), (REAL, REAL, REAL, REAL, INTEGER, INTEGER, ARRAY, INTEGER, ARRAY))


@inlined
def restore(m, given, n):  # type: ignore[no-untyped-def]
    """The memory at the start of case n."""
    for i in range(len(m.floats)):
        m.floats[i] = given.floats[i]
    for i in range(len(m.ints)):
        m.ints[i] = given.ints[i]
    for i in range(len(m.pairs)):
        m.pairs[i] = given.pairs[i]
    row = n if len(given.float_value) > 1 else 0
    for k in range(len(given.float_place)):
        m.floats[given.float_place[k]] = given.float_value[row, k]
    row = n if len(given.int_value) > 1 else 0
    for k in range(len(given.int_place)):
        m.ints[given.int_place[k]] = given.int_value[row, k]


@inlined
def largest(y, first, last):  # type: ignore[no-untyped-def]
    """Largest of some components of all bodies, by size."""
    found = 0.0
    for i in range(len(y)):
        if first <= i % STATE < last:
            found = max(found, abs(y[i]))
    return found


@inlined
def keep_signs(m, y, c):  # type: ignore[no-untyped-def]
    """Euler parameters of the tree with the signs of those of y; whether the coordinates lead to y, with a kernel's signs."""
    tree = m.w.tree
    update_motion(m.s.y, m.t, m.w)
    for b in range(len(tree.data.p)):
        product = 0.0
        for k in range(P, V):
            product += m.w.motion[b * STATE + k] * y[b * STATE + k]
        if product < 0.0:
            if tree.closing.posed[b] == 1:
                return False
            for k in range(4):
                tree.data.p[b, k] *= -1.0
    update_motion(m.s.y, m.t, m.w)
    off = size = 0.0
    for i in range(len(y)):
        difference = abs(m.w.motion[i] - y[i])
        if not difference <= off:
            off = difference
        size = max(size, abs(y[i]))
    return off / max(1.0, size) <= c.off_the_rows


@inlined
def begin_case(m, given, n, c):  # type: ignore[no-untyped-def]
    """Put the memory at the start of case n; whether the case can go on."""
    s, y = m.s, given.states[n]
    restore(m, given, n)
    for i in range(len(s.y)):
        s.y[i] = s.y_old[i] = given.y[n, i]
    s.s.time[0] = s.s.began[0] = s.s.checked_at[0] = c.t_start
    s.s.next_length[0] = c.first_step
    s.s.projected[0] = c.projected
    s.s.needed[0] = c.needed
    return c.in_joints == 0 or keep_signs(m, y, c)


@inlined
def turn(m):  # type: ignore[no-untyped-def]
    """``Automatic._turn``."""
    s, u, here, steps = m.s, m.turning, m.turning.begun[1], m.s.s.steps[0]
    there = IMPLICIT if here == EXPLICIT else EXPLICIT
    short = steps - u.begun[0] <= u.rules[0] * u.needed[here]
    u.needed[there] = min(2 * u.needed[there], u.rules[1]) if short else u.first_needed[there]
    u.begun[0], u.begun[1] = steps, there
    if there == IMPLICIT:
        u.kept[:] = 0
        u.last[:] = 0.0
    elif u.last[FASTEST_RATE] > 0.0:
        s.s.next_length[0] = min(s.s.next_length[0], s.s.reach[0] / u.last[FASTEST_RATE])
    s.s.turn[0] = s.s.speaking[0] = s.s.silent[0] = 0
    s.s.needed[0] = u.needed[there]


@inlined
def keep_events(m, found, n):  # type: ignore[no-untyped-def]
    """Keep touch-downs and lift-offs; False where there is no room."""
    for k in range(m.events[0]):
        to = found.event_counts[n]
        if found.events.shape[1] > 0:
            if to == found.events.shape[1]:
                return False
            for i in range(4):
                found.events[n, to, i] = m.found[k, i]
        found.event_counts[n] = to + 1
    m.events[0] = 0
    return True


@inlined
def keep_zeros(m, given, found, n, method):  # type: ignore[no-untyped-def]
    """Keep the zeros of events in the last step; RUNNING, STOPPED_BY_EVENT, or ALONE where not all are known or kept.

    A terminal event leaves its state in all later outputs: energies and turns go on from it.
    """
    e, status = m.w.events, Status.RUNNING
    if e.found[0] < 0 or found.zero_counts[n] + e.found[0] > found.zeros.shape[1]:
        return ALONE
    for k in range(e.found[0]):
        row, time = found.zeros[n, found.zero_counts[n]], e.zeros[k, 1]
        row[0], row[1] = e.zeros[k, 0], time
        stepper, to = m.stepper[method], row[2:]
        if call_at(m.dense[method], RESULTS, stepper, m.t, m.w, 0.0, 1, row[1:], to) != OK:
            return ALONE
        found.zero_counts[n] += 1
        if e.rules[int(e.zeros[k, 0]), TERMINAL] == 1:
            status, found.reached[n] = Status.STOPPED_BY_EVENT, time
            for q in range(len(given.outputs)):
                for i in range(len(to) if given.outputs[q] > time else 0):
                    found.out[n, q, i] = to[i]
    return status


@inlined
def portion_of(steps, c):  # type: ignore[no-untyped-def]
    """Steps until the next check, as ``stepwise.until_next_look``; 0 where none is left."""
    if c.max_steps != NO_LIMIT:
        return min(c.portion, c.max_steps - steps)
    look = FIRST_LOOK
    while look <= steps:
        look *= 2
    return min(c.portion, look - steps)


@inlined
def keep_turn(m, found, n):  # type: ignore[no-untyped-def]
    """Keep the time of a turn."""
    if found.turns[n] < found.turn_times.shape[1]:
        found.turn_times[n, found.turns[n]] = m.s.s.time[0]
    found.turns[n] += 1


@inlined
def first_output(m, given, out, n, c):  # type: ignore[no-untyped-def]
    """Count the state at the start as the first of the result, where it is asked for."""
    s, size = m.s, given.states.shape[1]
    if len(given.outputs) == 0 or given.outputs[0] != c.t_start:
        return
    for i in range(size):
        out[0, i] = given.states[n, i]
    for k in range(s.balance.work.shape[1]):
        out[0, size + k] = s.balance.work[DONE, k]
    write_turns(s.y, m.t, m.w, out[0, size + s.balance.work.shape[1] :])
    s.output[0] = 1


@inlined
def run_case(m, given, found, n, c):  # type: ignore[no-untyped-def]
    """Integrate case n from where it is; RUNNING after some steps, REACHED_END, STOPPED_BY_EVENT or ALONE."""
    s, u, out, status = m.s, m.turning, found.out[n], Status.RUNNING
    for _ in range(PORTIONS):
        steps = int(s.s.steps[0])
        portion = portion_of(steps, c)
        if portion <= 0 or (c.max_steps == NO_LIMIT and endless(s, c.t_end)):
            return ALONE
        if s.s.turn[0] == 1:
            if c.automatic == 0:
                return ALONE
            keep_turn(m, found, n)
            turn(m)
        method = u.begun[1] if c.automatic == 1 else c.method
        s.s.project_stages[0] = PROJECTED_STAGES if method == EXPLICIT else 0.0
        before = s.output[0]
        if len(m.w.events.value) > 0:
            m.w.events.address[0], m.w.events.found[0] = m.crossings[method], 0
            for i in range(len(m.evaluation)):
                m.w.events.evaluation[i] = m.evaluation[i]
        status = call_at(
            m.place[method], m.stepper[method], m.t, m.w, c.t_end, c.rtol, c.atol, c.max_step, portion, len(given.outputs),
            given.outputs, out.shape[1], out,
        )  # fmt: skip
        if status < 0 and c.automatic == 1 and method == IMPLICIT:
            s.s.next_length[0] = s.s.length[0]
            keep_turn(m, found, n)
            turn(m)
            status = Status.RUNNING
        if not keep_events(s, found, n) or s.unsure_count[0] > 0:
            return ALONE
        if s.s.close_by[0] == 1 and s.output[0] > before:
            found.passed[n] = 1
        if len(m.w.events.value) > 0:
            ended = keep_zeros(m, given, found, n, method)
            if ended != Status.RUNNING:
                return ended
        if status != Status.RUNNING:
            return Status.REACHED_END if status == Status.REACHED_END else ALONE
    return Status.RUNNING


@inlined
def satisfied(m, given, out, c):  # type: ignore[no-untyped-def]
    """Whether the results satisfy the rows, as ``violated_row`` asks."""
    joints, bodies, times = len(m.t.address), given.states.shape[1], len(given.outputs)
    for k in range(joints, len(m.w.Phi)):
        if not abs(m.w.Phi[k, 0]) <= c.coupled:
            return False
    for n in range(times):
        normalise(out[n], bodies // STATE)
    if joints == 0 or c.checked == 0:
        return True
    extent = max(1.0, largest(out[times - 1, :bodies], R, P))
    first = bodies + m.s.balance.work.shape[1]
    for n in range(0 if c.checked == 2 else times - 1, times):
        put_angles(out[n, first:], m.t, m.rows)
        if not worst_violation(given.outputs[n], out[n, :bodies], m.t, m.rows, False) <= c.bound * extent:
            return False
    return True


@inlined
def keep_result(m, found, n, status, c):  # type: ignore[no-untyped-def]
    """Keep what is known of case n beside its states."""
    s = m.s
    if status != Status.STOPPED_BY_EVENT:
        found.reached[n] = s.s.time[0]
    found.counts[n, 0], found.counts[n, 1] = s.s.evaluations[0], s.s.steps[0]
    found.counts[n, 2], found.counts[n, 3] = s.s.rejections[0], 0 if c.automatic == 1 else s.s.bounded[0]
    for k in range(found.energy.shape[1]):
        found.energy[n, k] = s.balance.energy[k]
    found.digits[n, SMALLEST], found.digits[n, WHEN_CLOSE] = s.s.least_pivot[0], s.s.first_close[0]
    found.digits[n, LARGEST_LOST], found.digits[n, WHEN_LOST] = s.s.lost[0], s.s.first_lost[0]


@compiled
def run_cases(m, given, found, c):  # type: ignore[no-untyped-def]
    """Go on with the cases for some steps; whether there is more to do."""
    n, steps = found.next[0], 0
    while n < len(found.status) and steps < PORTIONS * c.portion:
        if found.next[1] == 0:
            found.status[n] = ALONE
            if not begin_case(m, given, n, c):
                n += 1
                continue
            first_output(m, given, found.out[n], n, c)
        before = m.s.s.steps[0]
        status = run_case(m, given, found, n, c)
        steps += m.s.s.steps[0] - before
        found.next[1] = 1 if status == Status.RUNNING else 0
        if status == Status.RUNNING:
            break
        ended = status == Status.REACHED_END or status == Status.STOPPED_BY_EVENT
        if ended and not satisfied(m, given, found.out[n], c):
            status = ALONE
        found.status[n] = status
        keep_result(m, found, n, status, c)
        n += 1
    found.next[0] = n
    return n < len(found.status)
