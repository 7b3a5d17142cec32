"""Limits and contacts of a batch as rows of ``runtime.integrate.surfaces``: values and changes of modes of all lanes.

A case whose changes do not become steps, or with more of them than its memory holds, ends its lane without a result and is run
alone.
"""

from __future__ import annotations

from runtime.dynamics.contact_rules import touches
from runtime.dynamics.limit_modes import acts
from runtime.dynamics.limits_along import beyond_side, holds_at, sides_along
from runtime.integrate.batches.contact_memory import ELSEWHERE, END, MODE, START
from runtime.integrate.batches.contacts import change_contact, is_suspect, measure_states, over_in
from runtime.integrate.batches.equations import evaluate
from runtime.integrate.batches.forces import add_forces
from runtime.integrate.batches.limits import beyond_within, change_limits, cubic_in, screen_limits
from runtime.integrate.batches.within import states_between
from runtime.integrate.batches.workspace import BatchWorkspace
from runtime.integrate.dop853_coefficients import STAGES
from runtime.integrate.lane_state import SAMPLES
from runtime.integrate.limit_changes import bends_of, passes
from runtime.integrate.surfaces import (
    ALONE,
    GRAZE,
    GRAZE_PLANE,
    NEAR,
    NONE,
    along,
    change_modes,
    course,
    end_step,
    ends_at_ridge,
    fill_over,
    find_brackets,
    give_up,
    has_dense,
    holds,
    limits_ahead,
    nearness,
    passage,
    refines,
    set_active,
    set_between,
    value_within,
)
from runtime.integrate.written.acting_contacts import MEASURED
from runtime.jit.by_memory import for_memory
from runtime.jit.compilation import columns, inlined
from runtime.jit.pointers import call_at

READY_CASES, BEGIN, SCREEN, SWITCH, KEEP = range(5)  # what ``surfaces_part`` does


@inlined
def call_surfaces(m, purpose, memory, address, a, b, x, y):  # type: ignore[no-untyped-def]
    """``surfaces_part.surfaces_part`` of the memory of a batch; 0 where there are no rows."""
    if len(m.surfaces.over) == 0:
        return 0
    return call_at(m.surfaces.part.ctypes.data, purpose, memory, address, a, b, x, y)


@for_memory(along, BatchWorkspace)
def along_in_lane(m, of):  # type: ignore[no-untyped-def]
    """``along``."""
    return len(m.contacts.places) == 0


@for_memory(has_dense, BatchWorkspace)
def has_dense_in_lane(m, of):  # type: ignore[no-untyped-def]
    """``has_dense``."""
    return True


@for_memory(fill_over, BatchWorkspace)
def fill_over_in_lane(m, address):  # type: ignore[no-untyped-def]
    """``fill_over``."""
    limits, contacts, over = m.limits, m.contacts, m.surfaces.over
    first = len(limits.q)
    if len(contacts.places) > 0:
        measure_states(m, m.trial, contacts.measured[ELSEWHERE])
    for lane in range(m.W):
        for k in range(first):
            over[k, lane] = beyond_side(limits.own, k, lane, m.trial[limits.q[k] * m.W + lane])
        for k in range(len(contacts.places)):
            over[first + k, lane] = over_in(contacts, k, contacts.measured[ELSEWHERE], lane)


@for_memory(value_within, BatchWorkspace)
def value_within_in_lane(m, of, lane, k, x, dense):  # type: ignore[no-untyped-def]
    """``value_within``."""
    if k < len(m.limits.q):
        return beyond_within(m.limits, k, lane, x)
    set_between(m, of, x, lane)
    m.s.at[lane] = x
    fill_over(m, of)
    return m.surfaces.over[k, lane]


@for_memory(nearness, BatchWorkspace)
def nearness_in_lane(m, of, lane, k):  # type: ignore[no-untyped-def]
    """``nearness``."""
    return GRAZE if k < len(m.limits.q) else GRAZE_PLANE


@for_memory(refines, BatchWorkspace)
def refines_in_lane(m, of):  # type: ignore[no-untyped-def]
    """``refines``."""
    return False


@for_memory(passage, BatchWorkspace)
def passage_in_lane(m, of, lane, k):  # type: ignore[no-untyped-def]
    """``passage``."""
    cubic, bends, _, sides = course(m, of, lane, k)
    return passes(cubic, bends, sides, m.s.lower[lane], m.s.upper[lane], False)


@for_memory(ends_at_ridge, BatchWorkspace)
def ends_at_ridge_in_lane(m, of, k):  # type: ignore[no-untyped-def]
    """``ends_at_ridge``: a case near a ridge is run alone."""
    return False


@for_memory(holds, BatchWorkspace)
def holds_in_lane(m, of, lane):  # type: ignore[no-untyped-def]
    """``holds``."""
    x = m.limits
    for k in range(len(x.q)):
        if not holds_at(x.own, k, lane, m.end[x.q[k] * m.W + lane]):
            return False
    return True


@for_memory(end_step, BatchWorkspace)
def end_step_in_lane(m, of, lane):  # type: ignore[no-untyped-def]
    """``end_step``, and the work of the dampers; the next step of limits begins where this one ended."""
    x, s = m.limits, m.s
    if len(x.q) > 0:
        s.damped[lane] += s.damped_now[lane]
        for k in range(len(x.q) if s.landed[lane] == 0.0 else 0):
            x.own.start[k, lane] = x.own.ended[k, lane]


@for_memory(set_active, BatchWorkspace)
def set_active_in_lane(m, of, lane):  # type: ignore[no-untyped-def]
    """``set_active``."""
    active = 0.0
    for k in range(len(m.limits.q)):
        active = 1.0 if acts(m.limits.own.mode[k, lane]) else active
    for k in range(len(m.contacts.places)):
        active = 1.0 if touches(m.contacts.state[k, MODE, lane]) else active
    m.s.active[lane] = active


@for_memory(give_up, BatchWorkspace)
def give_up_in_lane(m, of, lane):  # type: ignore[no-untyped-def]
    """``give_up``: the case is run alone."""
    m.s.then[lane] = ALONE


@for_memory(limits_ahead, BatchWorkspace)
def limits_ahead_in_lane(m, of):  # type: ignore[no-untyped-def]
    """``limits_ahead``."""
    return len(m.limits.q)


@for_memory(course, BatchWorkspace)
def course_in_lane(m, of, lane, k):  # type: ignore[no-untyped-def]
    """``course``."""
    x = m.limits
    e, a = x.q[k] * m.W + lane, x.u[k] * m.W + lane
    cubic, end = cubic_in(x, k, lane), (m.end[e], m.k[STAGES, e], m.k[STAGES, a])
    return cubic, bends_of(cubic, m.k[0, a], end[2], m.s.length[lane]), end, sides_along(x.own, k, lane)


@inlined
def sample_steps(m):  # type: ignore[no-untyped-def]
    """Values of all rows at places in the steps of the lanes that are sought."""
    limits, contacts, samples = m.limits, m.contacts, m.surfaces.samples
    first = len(limits.q)
    for q in range(SAMPLES + 1):
        of = contacts.measured[START if q == 0 else END]
        if 0 < q < SAMPLES and len(contacts.places) > 0:
            of = contacts.measured[ELSEWHERE]
            states_between(m, q / SAMPLES)
            for lane in range(m.W):
                m.s.at[lane] = q / SAMPLES
            measure_states(m, m.trial, of)
        for lane in range(m.W):
            if m.s.sought[lane] > 0.0:
                for k in range(first):
                    samples[q, k, lane] = beyond_within(limits, k, lane, q / SAMPLES)
                for k in range(len(contacts.places)):
                    samples[q, first + k, lane] = over_in(contacts, k, of, lane)


@columns
def seek(s):  # type: ignore[no-untyped-def]
    """Mark the accurate attempts in which a row may pass its side, or that were cut or aimed at a change; their number."""
    found = 0
    for lane in range(s.W):
        accepted, sought = s.accepted[lane], 0.0
        sought = accepted if s.suspect[lane] > 0.0 else sought
        sought = accepted if s.landings[lane] > 0.0 else sought
        sought = accepted if s.aimed[lane] > 0.0 else sought
        s.sought[lane] = sought
        s.upper[lane] = s.fraction[lane] = NONE
        s.landed[lane] = s.fresh[lane] = 0.0
        found += 1 if sought > 0.0 else 0
    return found


@columns
def count_special(s):  # type: ignore[no-untyped-def]
    """Number of special attempts."""
    found = 0
    for lane in range(s.W):
        found += 1 if s.special[lane] > 0.0 else 0
    return found


@inlined
def screen(m, address):  # type: ignore[no-untyped-def]
    """Mark the accurate attempts in which a mode changes, or that were cut or aimed at a change; the number of special ones.

    Contacts were measured at the ends of the attempts.
    """
    s, contacts = m.s, m.contacts
    screen_limits(m)
    for lane in range(m.W if len(contacts.places) > 0 else 0):
        if s.accepted[lane] == 1.0:
            for k in range(len(contacts.places)):
                if s.suspect[lane] <= 0.0 and is_suspect(contacts, k, lane, s.length[lane]):
                    s.suspect[lane] = 1.0
    if seek(s) > 0:
        sample_steps(m)
        find_brackets(m, address)
        for lane in range(m.W if len(contacts.places) > 0 else 0):
            if s.sought[lane] > 0.0:
                s.has_outputs[lane] = 1.0
    return count_special(s)


@inlined
def change_lane(m, lane):  # type: ignore[no-untyped-def]
    """Change the modes of what is beyond its side in a lane; whether a contact is among these."""
    x, s, limits, changes = m.contacts, m.s, len(m.limits.q), 0
    at_end = s.changed[lane] > 0.0
    first, state = (-1 if at_end else int(s.first[lane])), (m.end if at_end else m.y)
    if limits > 0 and not change_limits(m, lane, state, -NEAR, first):
        s.then[lane] = ALONE
    time = s.end_time[lane] if at_end else s.time[lane]
    for k in range(len(x.places)):
        if limits + k == first or over_in(x, k, x.measured[ELSEWHERE], lane) > -NEAR:
            released, stored = change_contact(m, k, lane, time)
            state[m.size[0] * m.W + lane] += released
            changes += 1
            if not stored:
                s.then[lane] = ALONE
    set_active(m, 0, lane)
    return changes > 0


@for_memory(change_modes, BatchWorkspace)
def change_modes_in_lane(m, address):  # type: ignore[no-untyped-def]
    """``change_modes``; derivatives where contacts are among them."""
    x, s, changes, rates, contacts = m.contacts, m.s, 0, m.errors[0], len(m.contacts.places)
    for lane in range(m.W if contacts > 0 else 0):
        of, s.at[lane] = (m.y, 0.0) if s.changed[lane] < 0.0 else (m.end, 1.0)
        for e in range(lane, len(m.trial), m.W):
            m.trial[e] = of[e]
    if contacts > 0:
        measure_states(m, m.trial, x.measured[ELSEWHERE])
    for lane in range(m.W):
        if s.changed[lane] != 0.0:
            s.changed[lane] = s.changed[lane] if change_lane(m, lane) else 0.0
            changes += s.changed[lane] != 0.0
    if changes == 0:
        return
    measure_states(m, m.trial, x.measured[ELSEWHERE])
    add_forces(m, m.trial, m.forces.own, m.constants, rates)
    evaluate(m, address, m.trial, m.forces.own, m.constants, rates, s.end_code)
    for lane in range(m.W):
        if s.changed[lane] == 0.0:
            continue
        s.checks[lane] += 1.0
        q, to = (STAGES, x.measured[END]) if s.changed[lane] > 0.0 else (0, x.measured[START])
        for e in range(lane, len(m.trial), m.W):
            m.k[q, e] = rates[e]
        for c in range(lane, contacts * MEASURED * m.W, m.W):
            to[c] = x.measured[ELSEWHERE][c]
