"""Steps of a batch end where slips of contacts pass the creep of friction.

The rules are those of ``runtime.integrate.slips``.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics.layout import OK
from runtime.dynamics.switches import ACTIVE
from runtime.integrate.batches.contact_memory import CREEP, ELSEWHERE, END, MODE, START, WITHIN
from runtime.integrate.batches.contacts import measure_at, place_of
from runtime.integrate.batches.control import reject
from runtime.integrate.batches.polynomial import set_between, states_between
from runtime.integrate.slips import (
    MAX_CUTS,
    MAX_ITERATIONS,
    NOWHERE,
    SHARE,
    SHORTER,
    is_near_creep,
    is_outside,
    length_after,
    narrowed,
    near_creep,
    passes_creep,
    place_of_bend,
    rate_in,
    will_slow,
)
from runtime.integrate.stepping import SAMPLES
from runtime.integrate.written.acting_contacts import NOTHING, SLIP
from runtime.jit.compilation import inlined


@inlined
def slip_in(x, of, k, lane):  # type: ignore[no-untyped-def]
    """The slip of contact k of a lane, by what was measured."""
    at = place_of(x, k, lane) + SLIP * x.W
    return of[at], of[at + x.W], of[at + 2 * x.W]


@inlined
def rubs(m, k, lane):  # type: ignore[no-untyped-def]
    """Whether contact k of a lane has a friction with a bend in the step."""
    return m.contacts.places[k, CREEP] != NOTHING and m.contacts.state[k, MODE, lane] == ACTIVE


@inlined
def slides(m, lane):  # type: ignore[no-untyped-def]
    """Whether a contact of a lane rubs."""
    for k in range(len(m.contacts.places)):
        if rubs(m, k, lane):
            return True
    return False


@inlined
def near_in(m, k, lane):  # type: ignore[no-untyped-def]
    """As of ``slips.near_creep``, of contact k of a lane."""
    return near_creep(m.contacts.resolution[0], m.forces.own[m.contacts.places[k, CREEP], lane])


@inlined
def row_of(q):  # type: ignore[no-untyped-def]
    """Row of ``BatchContacts.measured`` of sample q of the steps."""
    return START if q == 0 else (END if q == SAMPLES else WITHIN + q - 1)


@inlined
def locate(m, lane, k, bracket):  # type: ignore[no-untyped-def]
    """As of ``slips.locate``, in the step of a lane."""
    near, of, place = 0.5 * near_in(m, k, lane), m.contacts.measured[ELSEWHERE], place_of_bend(bracket)
    for _ in range(MAX_ITERATIONS):
        if place == NOWHERE:
            break
        set_between(m, place, lane)
        m.s.at[lane] = place
        measure_at(m, of)
        u = slip_in(m.contacts, of, k, lane)
        if is_near_creep(u, near):
            break
        bracket = narrowed(bracket, place, u)
        place = place_of_bend(bracket)
    return place, rate_in(bracket, m.s.length[lane])


@inlined
def first_bend(m, lane):  # type: ignore[no-untyped-def]
    """As of ``slips.first_bend``, in the step of a lane."""
    first, fastest, inward, x, of = NOWHERE, 0.0, False, m.contacts, m.contacts.measured
    for q in range(SAMPLES):
        for k in range(len(m.contacts.places)):
            if not rubs(m, k, lane):
                continue
            near = near_in(m, k, lane)
            a, b = slip_in(x, of[row_of(q)], k, lane), slip_in(x, of[row_of(q + 1)], k, lane)
            least = 2.0 * near if q == 0 else 0.0
            at_end = q == SAMPLES - 1 and m.s.cuts[lane] > 0.0 and is_near_creep(b, near)
            if not at_end and passes_creep(a, b, least) == NOWHERE:
                continue
            place, rate = locate(m, lane, k, (q / SAMPLES, a, (q + 1) / SAMPLES, b, least))
            if at_end:
                place = 1.0
            if place < first:
                first, fastest, inward = place, rate, is_outside(a)
        if first != NOWHERE:
            break
    return first, fastest, inward


@inlined
def cut_at_bend(m, lane):  # type: ignore[no-untyped-def]
    """As of ``slips.cut_at_bend``, for the accurate attempt of a lane."""
    s, cuts, (first, rate, inward) = m.s, m.s.cuts[lane], first_bend(m, lane)
    h, s.cuts[lane] = s.length[lane], 0.0
    usual = max(s.sliding[lane], h)
    if cuts == 0.0 or first != 1.0:
        s.sliding[lane] = usual
    if first < 1.0 and cuts < MAX_CUTS:
        s.cuts[lane] = cuts + 1.0
        reject(s, lane, 2.0, first, 0)
    elif cuts > 0.0 and first != NOWHERE:
        s.factor[lane], s.after_rejection[lane] = length_after(usual, rate, inward) / h, 0.0
        if not inward:
            s.sliding[lane] = 0.0


@inlined
def look_ahead(m):  # type: ignore[no-untyped-def]
    """As of ``slips.look_ahead``, for the rejected attempts."""
    s, x = m.s, m.contacts
    for lane in range(m.W):
        ahead = SHARE * s.length[lane]
        for e in range(lane, len(m.trial), m.W):
            m.trial[e] = m.y[e] + ahead * m.k[0, e]
        s.at[lane] = SHARE
    measure_at(m, x.measured[ELSEWHERE])
    for lane in range(m.W):
        if not is_rejected(s, lane):
            continue
        first = SHORTER
        for k in range(len(x.places)):
            if rubs(m, k, lane):
                a, b = slip_in(x, x.measured[START], k, lane), slip_in(x, x.measured[ELSEWHERE], k, lane)
                first = min(first, will_slow(a, b, near_in(m, k, lane)))
        if first < SHORTER:
            s.factor[lane] = first


@inlined
def is_rejected(s, lane):  # type: ignore[no-untyped-def]
    """Whether the attempt of a lane is not accurate, but its stages are known."""
    tried = s.busy[lane] > 0.0 and s.accepted[lane] == 0.0
    return tried and s.error[lane] < np.inf


@inlined
def end_at_bends(m):  # type: ignore[no-untyped-def]
    """Reject accurate attempts that pass a bend, to be repeated up to it, and shorten rejected ones to a bend ahead."""
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
        measure_at(m, m.contacts.measured[row_of(q)])
    for lane in range(m.W):
        accurate = s.accepted[lane] == 1.0 and s.end_code[lane] == OK
        if accurate and slides(m, lane):
            cut_at_bend(m, lane)
