"""Contacts in a batch as one function, compiled apart from ``batch.integrate`` and called by its address where there are any."""

from __future__ import annotations

import numpy as np

from runtime.dynamics.contact_rules import mode_at
from runtime.dynamics.layout import OK
from runtime.dynamics.switches import ACTIVE, INACTIVE
from runtime.integrate.batches.contact_changes import keep_event, set_mode, switch_contacts, touch_down
from runtime.integrate.batches.contact_memory import (
    BEGIN,
    END,
    OF_STATE,
    QUICK,
    READY,
    READY_CASES,
    SCREEN,
    SINCE,
    SPEED,
    START,
    SWITCH,
)
from runtime.integrate.batches.contacts import left_in, measure, measure_in_steps, place_of, screen_contacts
from runtime.integrate.batches.forces import set_signals
from runtime.integrate.batches.limit_steps import keep_limits
from runtime.integrate.batches.limits import set_active
from runtime.integrate.batches.slips import end_at_bends
from runtime.integrate.switching import ON_PLANE
from runtime.integrate.written.acting_contacts import DEPTH, RATE
from runtime.jit.compilation import columns, inlined
from runtime.jit.pointers import local


@inlined
def ready_contacts(m, begin):  # type: ignore[no-untyped-def]
    """First modes of the contacts of the cases that are ready; one that is closed counts as a touch-down at the start."""
    x, f, count = m.contacts, m.forces, m.queue[2]
    for lane in range(m.W):
        if len(f.varying) > 0:
            set_signals(f, lane, f.waiting_set[lane], begin)
        if lane < count:
            x.found[m.queue[1] + lane] = 0
    measure(x, m.ready_y, f.values, f.waiting, x.measured[READY])
    for lane in range(count):
        for k in range(len(x.places)):
            begin_contact(m, k, lane, begin)
    measure(x, m.ready_y, f.values, f.waiting, x.measured[READY])


@inlined
def begin_contact(m, k, lane, begin):  # type: ignore[no-untyped-def]
    """First mode of contact k of a case that is ready."""
    x, of, own = m.contacts, m.contacts.measured[READY], m.forces.waiting
    at = place_of(x, k, lane)
    depth, rate = of[at + DEPTH * m.W], of[at + RATE * m.W]
    now = mode_at(depth, rate, left_in(x, k, INACTIVE, of, lane) if depth > 0.0 else 0.0, ON_PLANE)
    x.waiting[k, QUICK, lane], x.waiting[k, SINCE, lane] = 0.0, -np.inf if now == INACTIVE else begin
    set_mode(x, k, lane, now, x.waiting, own)
    if now == ACTIVE:
        touch_down(x, k, lane, x.waiting, own, rate)
        keep_event(x, m.queue[1] + lane, begin, k, 1.0, x.waiting[k, SPEED, lane])


@inlined
def begin_contacts(m, lane, r):  # type: ignore[no-untyped-def]
    """Give a lane the contacts of a case that is ready, whose parameters it has."""
    x = m.contacts
    for k in range(len(x.places)):
        for c in range(OF_STATE):
            x.state[k, c, lane] = x.waiting[k, c, r]
    of, to = x.measured[READY], x.measured[START]
    for c in range(0, len(of), m.W):
        to[c + lane] = of[c + r]
    m.s.landings[lane] = 0.0
    m.s.cuts[lane] = m.s.sliding[lane] = 0.0
    m.s.usual[lane] = m.s.usual_active[lane] = 0.0
    set_active(m, lane)


@columns
def keep_measured(start, end, s):  # type: ignore[no-untyped-def]
    """Begin the next step of the contacts where one was accepted."""
    for o in range(0, len(start), s.W):
        for lane in range(s.W):
            before, then = start[o + lane], end[o + lane]
            start[o + lane] = then if s.accepted[lane] == 1.0 else before


@columns
def keep_usual(s):  # type: ignore[no-untyped-def]
    """Keep the lengths of the accepted steps that were not special."""
    for lane in range(s.W):
        plain = s.accepted[lane] - s.special[lane] > 0.0
        acts, h = s.active[lane] == 1.0, -s.length[lane]
        usual, usual_active = s.usual[lane], s.usual_active[lane]
        s.usual[lane] = h if plain and not acts else usual
        s.usual_active[lane] = h if plain and acts else usual_active


def contact_part(purpose, m, address, a, b, begin):  # type: ignore[no-untyped-def]
    """What is done for contacts; a number of lanes, or 0.

    ``address``: of the derivative of all lanes; a, b: lane and number of the case that is ready; ``begin``: of the runs [s].
    """
    m = local(m)
    if purpose == READY_CASES:
        ready_contacts(m, begin)
    elif purpose == BEGIN:
        begin_contacts(m, a, b)
    elif purpose == SCREEN:
        measure_in_steps(m, 1.0, m.end, m.contacts.measured[END])
        end_at_bends(m)
        return screen_contacts(m)
    elif purpose == SWITCH:
        switch_contacts(m, address)
    else:
        keep_measured(m.contacts.measured[START], m.contacts.measured[END], m.s)
        keep_usual(m.s)
        keep_limits(m)
    return OK
