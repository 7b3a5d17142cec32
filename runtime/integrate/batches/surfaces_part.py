"""Limits and contacts in a batch as one function, which ``batch.integrate`` calls by its address where there are any."""

from __future__ import annotations

from runtime.dynamics.layout import OK
from runtime.integrate.batches.aiming import land
from runtime.integrate.batches.contact_memory import END, START
from runtime.integrate.batches.contacts import begin_contacts, keep_measured, measure_states, ready_contacts
from runtime.integrate.batches.limit_steps import keep_limits, keep_usual_beside_contacts, look_ahead
from runtime.integrate.batches.slips import end_at_kinks
from runtime.integrate.batches.surfaces import BEGIN, READY_CASES, SCREEN, SWITCH, screen
from runtime.integrate.surfaces import aim, switch
from runtime.jit.pointers import local


def surfaces_part(purpose, m, address, a, b, x, y):  # type: ignore[no-untyped-def]
    """What is done for limits and contacts; a number of special attempts, or OK.

    ``address``: of the derivative of all lanes; a, b: lane and number of the case that is ready; x, y: both tolerances, or x: the
    begin of the runs [s].
    """
    m = local(m)
    contacts = len(m.contacts.places)
    if purpose == READY_CASES:
        if contacts > 0:
            ready_contacts(m, x)
    elif purpose == BEGIN:
        if contacts > 0:
            begin_contacts(m, a, b)
    elif purpose == SCREEN:
        if contacts > 0:
            for lane in range(m.W):
                m.s.at[lane] = 1.0
            measure_states(m, m.end, m.contacts.measured[END])
            end_at_kinks(m)
        return screen(m, address)
    elif purpose == SWITCH:
        if contacts == 0:
            land(m, address, x, y)
        switch(m, address)
    else:
        keep_limits(m)
        if contacts > 0:
            keep_measured(m.contacts.measured[START], m.contacts.measured[END], m.s)
            keep_usual_beside_contacts(m.s)
        else:
            look_ahead(m)
            for lane in range(m.W):
                if m.s.soon[lane] >= 0.0:
                    aim(m, address, lane)
    return OK
