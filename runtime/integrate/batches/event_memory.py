"""Memory for events in a batch: samples of all lanes, and what was found in each case."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.force_elements import NO_RULES
from runtime.dynamics.layout import LANES
from runtime.integrate.lane_state import SAMPLES
from runtime.integrate.memory_kinds import Common, Found, OfLanes, Scratch, Written
from runtime.jit.compilation import inlined
from runtime.jit.named_rows import with_lanes
from runtime.jit.pointers import call_at
from runtime.support.arrays import Floats, Ints, lanes_of

MOST_ZEROS = 64  # of events in a case; one with more is run alone
SCREEN_STEPS, LOCATE = range(2)  # what ``event_part`` does
EVENT, TIME, STATE = range(3)  # columns of ``BatchEvents.rows``; the state is the last ones


@with_lanes(LANES)
class BatchEvents(NamedTuple):
    """Events of a batch."""

    # (2,) addresses of the function of their values in lanes (``runtime.integrate.written.event_values``), and of
    # ``event_part.event_part``; 0: there are none
    by: Common[Ints]
    rules: Common[Ints]  # (events, 3) as of ``EventWorkspace``
    own: OfLanes[Floats]  # (parameters, LANES)
    samples: OfLanes[Floats]  # (SAMPLES + 1, events * LANES) at places of the steps
    values: OfLanes[Floats]  # (events * LANES,) in the states that were asked for last
    zeros: Scratch[Floats]  # (any, 2) events and fractions of a step
    state: Scratch[Floats]  # (n,) of one lane
    rows: Written[Floats]  # (cases, any, 2 + n) event, time [s] and state of each zero
    found: Found[Ints]  # (cases,) number of these


def batch_events(address: int, parameters: Floats, rules: Ints, cases: int, n: int) -> BatchEvents:
    """Memory for events with these parameters (P,) in so many cases with states (n,)."""
    own, count = lanes_of(len(parameters), LANES), len(rules)
    own[:] = parameters[:, None]
    return BatchEvents(
        by=np.array([address, 0]), rules=rules, own=own, samples=lanes_of(SAMPLES + 1, count * LANES),
        values=lanes_of(count * LANES), zeros=np.zeros(((SAMPLES + 1) * count, 2)), state=np.zeros(n),
        rows=np.zeros((cases, MOST_ZEROS if count else 0, STATE + n)), found=np.zeros(cases, np.int64),
    )  # fmt: skip


def no_events() -> BatchEvents:
    """The memory of a batch without events."""
    return batch_events(0, np.zeros(0), NO_RULES, 0, 0)


@inlined
def call_event_part(m, purpose, memory, a):  # type: ignore[no-untyped-def]
    """``event_part.event_part`` of the memory of a batch with events."""
    return call_at(m.events.by[1:].ctypes.data, purpose, memory, a)
