"""Events in a batch: the steps in which one may pass zero, and the zeros in an accepted step of a lane."""

from __future__ import annotations

from runtime.dynamics.layout import OK
from runtime.integrate.batches.event_memory import EVENT, SCREEN_STEPS, STATE, TIME
from runtime.integrate.batches.within import put_state, states_between
from runtime.integrate.batches.workspace import BatchWorkspace
from runtime.integrate.event_search import NEVER, UNKNOWN, find_zeros, may_pass, value_within
from runtime.integrate.lane_state import SAMPLES
from runtime.integrate.surfaces import ALONE, GO_ON, STOP
from runtime.jit import addresses
from runtime.jit.by_memory import for_memory
from runtime.jit.compilation import inlined
from runtime.jit.pointers import local


@inlined
def call_events(e, y, out):  # type: ignore[no-untyped-def]
    """Values of the events of all lanes."""
    addresses.call(e.by[0], y.ctypes.data, e.own.ctypes.data, out.ctypes.data)


@inlined
def state_at(m, lane, x):  # type: ignore[no-untyped-def]
    """Put the state of a lane at a fraction of its step into ``m.events.state``."""
    to, ends = m.events.state, m.end if x == 1.0 else m.y
    if 0.0 < x < 1.0:
        put_state(m, lane, x, to)
        return
    for i in range(len(to)):
        to[i] = ends[i * m.W + lane]


@for_memory(value_within, BatchWorkspace)
def value_in_lane(m, of, lane, k, x):  # type: ignore[no-untyped-def]
    """``value_within``."""
    e = m.events
    state_at(m, lane, x)
    for i in range(len(e.state)):
        m.trial[i * m.W + lane] = e.state[i]
    call_events(e, m.trial, e.values)
    return e.values[k * m.W + lane]


@inlined
def screen_steps(m, special):  # type: ignore[no-untyped-def]
    """Mark the accurate attempts in which an event may pass zero, or has one at the start; the number of special ones."""
    e, s = m.events, m.s
    for q in range(SAMPLES + 1):
        if 0 < q < SAMPLES:
            states_between(m, q / SAMPLES)
        call_events(e, m.y if q == 0 else (m.end if q == SAMPLES else m.trial), e.samples[q])
    for lane in range(m.W):
        s.crossing[lane] = 0.0
        if s.accepted[lane] == 1.0 and s.end_code[lane] == OK and may_pass(m, e, lane, s.steps[lane] == 0.0):
            special += 1 if s.special[lane] == 0.0 else 0
            s.crossing[lane] = s.special[lane] = s.has_outputs[lane] = 1.0
    return special


@inlined
def time_at(s, lane, x):  # type: ignore[no-untyped-def]
    """Time at a fraction of the step of a lane."""
    return s.end_time[lane] if x == 1.0 else s.time[lane] + x * s.length[lane]


@inlined
def locate(m, lane):  # type: ignore[no-untyped-def]
    """Keep the zeros in an accepted step of a lane; GO_ON, STOP at a terminal event, or ALONE.

    At a terminal event ``m.events.state`` is the state there, and ``s.until`` its time.
    """
    e, s, case = m.events, m.s, m.case[lane]
    count, stop = find_zeros(m, 0, e, lane, s.time[lane], s.length[lane], s.steps[lane] == 0.0)
    if count == UNKNOWN or e.found[case] + count > e.rows.shape[1]:
        return ALONE
    for c in range(count):
        row = e.rows[case, e.found[case]]
        state_at(m, lane, e.zeros[c, 1])
        row[EVENT], row[TIME] = e.zeros[c, 0], time_at(s, lane, e.zeros[c, 1])
        for i in range(len(e.state)):
            row[STATE + i] = e.state[i]
        e.found[case] += 1
    if stop == NEVER:
        return GO_ON
    state_at(m, lane, stop)
    s.until[lane] = time_at(s, lane, stop)
    return STOP


def event_part(purpose, m, a):  # type: ignore[no-untyped-def]
    """``screen_steps`` with the number of special attempts, or ``locate`` with a lane."""
    m = local(m)
    return screen_steps(m, a) if purpose == SCREEN_STEPS else locate(m, a)
