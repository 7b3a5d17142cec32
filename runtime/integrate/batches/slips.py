"""Slips of contacts in a batch: samples of all lanes, and attempts that end where slips pass the transition velocity."""

from __future__ import annotations

import numpy as np

from runtime.dynamics.layout import OK
from runtime.dynamics.switches import ACTIVE
from runtime.integrate.batches.contact_memory import ELSEWHERE, END, MODE, START, TRANSITION_VELOCITY, WITHIN
from runtime.integrate.batches.contacts import measure_states, place_of
from runtime.integrate.batches.within import states_between
from runtime.integrate.batches.workspace import BatchWorkspace
from runtime.integrate.lane_state import SAMPLES, reject
from runtime.integrate.slips import (
    NOWHERE,
    SHARE,
    SHORTER,
    contacts_in,
    near_in,
    near_transition,
    place_ahead,
    place_of_cut,
    rubs,
    sampled_slip,
    slip_at,
)
from runtime.integrate.surfaces import set_between
from runtime.integrate.written.acting_contacts import NOTHING, SLIP
from runtime.jit.by_memory import for_memory
from runtime.jit.compilation import inlined


@for_memory(contacts_in, BatchWorkspace)
def contacts_in_lanes(m, of):  # type: ignore[no-untyped-def]
    """``contacts_in``."""
    return len(m.contacts.places)


@for_memory(rubs, BatchWorkspace)
def rubs_in_lanes(m, of, lane, k):  # type: ignore[no-untyped-def]
    """``rubs``."""
    return m.contacts.places[k, TRANSITION_VELOCITY] != NOTHING and m.contacts.state[k, MODE, lane] == ACTIVE


@for_memory(near_in, BatchWorkspace)
def near_in_lanes(m, of, lane, k):  # type: ignore[no-untyped-def]
    """``near_in``."""
    return near_transition(m.contacts.resolution[0], m.forces.own[m.contacts.places[k, TRANSITION_VELOCITY], lane])


@inlined
def row_of(q):  # type: ignore[no-untyped-def]
    """Row of ``BatchContacts.measured`` of sample q of the steps; of another place beyond SAMPLES."""
    return START if q == 0 else END if q == SAMPLES else ELSEWHERE if q > SAMPLES else WITHIN + q - 1


@for_memory(sampled_slip, BatchWorkspace)
def sampled_slip_of_lanes(m, of, lane, k, q):  # type: ignore[no-untyped-def]
    """``sampled_slip``."""
    measured, at = m.contacts.measured[row_of(q)], place_of(m.contacts, k, lane) + SLIP * m.W
    return measured[at], measured[at + m.W], measured[at + 2 * m.W]


@for_memory(slip_at, BatchWorkspace)
def slip_in_lanes(m, of, lane, k, x):  # type: ignore[no-untyped-def]
    """``slip_at``."""
    set_between(m, of, x, lane)
    m.s.at[lane] = x
    measure_states(m, m.trial, m.contacts.measured[ELSEWHERE])
    return sampled_slip(m, of, lane, k, SAMPLES + 1)


@inlined
def slides(m, lane):  # type: ignore[no-untyped-def]
    """Whether a contact of a lane rubs."""
    for k in range(len(m.contacts.places)):
        if rubs(m, 0, lane, k):
            return True
    return False


@inlined
def look_ahead(m):  # type: ignore[no-untyped-def]
    """End the attempts after rejected ones where slips will fall to their transition velocity."""
    s = m.s
    for lane in range(m.W):
        ahead = SHARE * s.length[lane]
        for e in range(lane, len(m.trial), m.W):
            m.trial[e] = m.y[e] + ahead * m.k[0, e]
        s.at[lane] = SHARE
    measure_states(m, m.trial, m.contacts.measured[ELSEWHERE])
    for lane in range(m.W):
        first = place_ahead(m, 0, lane, SAMPLES + 1) if is_rejected(s, lane) else SHORTER
        if first < SHORTER:
            s.factor[lane] = first


@inlined
def is_rejected(s, lane):  # type: ignore[no-untyped-def]
    """Whether the attempt of a lane is not accurate, but its stages are known."""
    tried = s.busy[lane] > 0.0 and s.accepted[lane] == 0.0
    return tried and s.error[lane] < np.inf


@inlined
def end_at_kinks(m):  # type: ignore[no-untyped-def]
    """Reject accurate attempts that pass a kink, to be repeated up to it, and shorten rejected ones to a kink ahead."""
    s, taken, rejected = m.s, 0, 0
    for lane in range(m.W):
        if not slides(m, lane):
            s.cuts[lane] = 0.0
            continue
        taken += s.accepted[lane] == 1.0
        rejected += is_rejected(s, lane)
    if rejected > 0:
        look_ahead(m)
    if taken == 0:
        return
    for q in range(1, SAMPLES):
        states_between(m, q / SAMPLES)
        for lane in range(m.W):
            s.at[lane] = q / SAMPLES
        measure_states(m, m.trial, m.contacts.measured[row_of(q)])
    for lane in range(m.W):
        accurate = s.accepted[lane] == 1.0 and s.end_code[lane] == OK
        place = place_of_cut(m, 0, lane) if accurate and slides(m, lane) else NOWHERE
        if place != NOWHERE:
            reject(s, lane, 2.0, place, 0)
