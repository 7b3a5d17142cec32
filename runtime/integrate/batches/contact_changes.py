"""Changes of the modes of contacts in a batch: where in a step the first one is, and what comes of the step.

Limits beside contacts change with them.  The rules are those of ``runtime.integrate.landing`` and ``switching``.  A case whose
changes do not become steps, or that has more of them than its memory holds, ends its lane without a result; it is run alone.
"""

from __future__ import annotations

from runtime.dynamics.contact_rules import mode_after
from runtime.dynamics.layout import OK
from runtime.dynamics.switches import ACTIVE, INACTIVE, LEAVING, SLACK
from runtime.integrate.batches.changes import AGAIN, ALONE, GO_ON, usual_length
from runtime.integrate.batches.contact_memory import (
    ABOVE,
    ACTS,
    BELOW,
    ELSEWHERE,
    END,
    FIRST,
    FRACTION,
    IMPACT,
    LOWER,
    MODE,
    QUICK,
    RUBS,
    SINCE,
    SOUGHT,
    SPEED,
    START,
    UPPER,
)
from runtime.integrate.batches.contacts import (
    foremost,
    landed,
    left_in,
    measure,
    over_in,
    place_of,
    set_signals_at,
)
from runtime.integrate.batches.equations import evaluate
from runtime.integrate.batches.forces import add_forces
from runtime.integrate.batches.lane_state import set_usual
from runtime.integrate.batches.limit_steps import end_step
from runtime.integrate.batches.limits import change_modes as change_limits
from runtime.integrate.batches.limits import limits_hold, set_active
from runtime.integrate.batches.polynomial import value_of
from runtime.integrate.dop853 import POWER
from runtime.integrate.dop853_coefficients import STAGES
from runtime.integrate.landing import MAX_LANDINGS, MIN_LANDING
from runtime.integrate.limit_changes import ON_SIDE
from runtime.integrate.switching import CHATTER, MAX_ITERATIONS, MAX_QUICK, TOLERANCE
from runtime.integrate.written.acting_contacts import DEPTH, MEASURED, POTENTIAL, RATE
from runtime.jit.compilation import inlined


@inlined
def next_place(search, lane, n):  # type: ignore[no-untyped-def]
    """The place that the n-th iteration tries: the secant, well inside the bracket, and every other time its middle."""
    lower, upper, below, above = search[LOWER, lane], search[UPPER, lane], search[BELOW, lane], search[ABOVE, lane]
    if below < 0.0 < above and n % 2 == 0:
        x, edge = lower - below * (upper - lower) / (above - below), 1e-3 * (upper - lower)
        return min(max(x, lower + edge), upper - edge)
    return 0.5 * (lower + upper)


@inlined
def set_dense(m, lane, x):  # type: ignore[no-untyped-def]
    """State of a lane at a fraction of its step by the dense output, into ``trial``."""
    for e in range(0, len(m.trial), m.W):
        m.trial[e + lane] = m.y[e + lane] + value_of(m.dense[e * POWER :], m.W, lane, x)


@inlined
def locate_changes(m):  # type: ignore[no-untyped-def]
    """As of ``switching.first_switch``, for all lanes with a bracket: fractions of their steps, and what changes."""
    search, x, sought = m.contacts.search, m.contacts, 0
    for lane in range(m.W):
        search[BELOW, lane] = search[ABOVE, lane] = 0.0
        sought += search[SOUGHT, lane] > 0.0
    for n in range(1, MAX_ITERATIONS + 1):
        if sought == 0:
            return
        for lane in range(m.W):
            if search[SOUGHT, lane] > 0.0:
                search[FRACTION, lane] = next_place(search, lane, n)
                set_dense(m, lane, search[FRACTION, lane])
                set_signals_at(m, lane, search[FRACTION, lane])
        measure(x, m.trial, m.forces.values, m.forces.own, x.measured[ELSEWHERE])
        for lane in range(m.W):
            if search[SOUGHT, lane] == 0.0:
                continue
            first, value = foremost(m, lane)
            search[FIRST, lane] = first
            if abs(value) <= TOLERANCE or n == MAX_ITERATIONS:
                search[FRACTION, lane] = search[FRACTION, lane] if abs(value) <= TOLERANCE else search[UPPER, lane]
                search[SOUGHT, lane] = 0.0
                sought -= 1
            elif value > 0.0:
                search[UPPER, lane], search[ABOVE, lane] = search[FRACTION, lane], value
            else:
                search[LOWER, lane], search[BELOW, lane] = search[FRACTION, lane], value


@inlined
def set_mode(x, k, lane, now, state, own):  # type: ignore[no-untyped-def]
    """Give a contact a mode; ``state`` and ``own``: of the lanes, or of the cases that are ready."""
    state[k, MODE, lane] = now
    own[x.places[k, ACTS], lane] = 1.0 if now == ACTIVE or now == LEAVING else 0.0
    own[x.places[k, RUBS], lane] = 1.0 if now == ACTIVE else 0.0


@inlined
def keep_event(x, case, time, k, began, speed):  # type: ignore[no-untyped-def]
    """Store a touch-down or lift-off of a case; False if there is no room."""
    if x.found[case] >= x.events.shape[1]:
        return False
    row = x.events[case, x.found[case]]
    row[0], row[1], row[2], row[3] = time, k, began, speed
    x.found[case] += 1
    return True


@inlined
def touch_down(x, k, lane, state, own, rate):  # type: ignore[no-untyped-def]
    """Keep the speed of a touch-down; ``state`` and ``own``: of the lanes, or of the cases that are ready."""
    state[k, SPEED, lane] = max(rate, x.least[k])
    if x.places[k, IMPACT] >= 0:
        own[x.places[k, IMPACT], lane] = state[k, SPEED, lane]


@inlined
def change_contact(m, k, lane, time):  # type: ignore[no-untyped-def]
    """As of ``switching.change_contact``: potential that the change added [J], and whether its event was stored."""
    x, of, at = m.contacts, m.contacts.measured[ELSEWHERE], place_of(m.contacts, k, lane)
    mode, depth, rate = int(x.state[k, MODE, lane]), of[at + DEPTH * m.W], of[at + RATE * m.W]
    left = 0.0 if mode == INACTIVE else left_in(x, k, mode, of, lane)
    now = mode_after(mode, depth, rate, left)
    if now == mode:
        return 0.0, True
    quick = time - x.state[k, SINCE, lane] < CHATTER and now != INACTIVE and mode != INACTIVE
    x.state[k, QUICK, lane] = x.state[k, QUICK, lane] + 1.0 if quick else 0.0
    x.state[k, SINCE, lane] = time
    if now == ACTIVE and mode == SLACK and rate < 0.0 and x.state[k, QUICK, lane] >= MAX_QUICK:
        now = LEAVING
    set_mode(x, k, lane, now, x.state, m.forces.own)
    began = now == ACTIVE or now == LEAVING
    if began == (mode == ACTIVE or mode == LEAVING):
        return 0.0, True
    if mode == INACTIVE:
        touch_down(x, k, lane, x.state, m.forces.own, rate)
    stored = keep_event(
        x, m.case[lane], time, k, 1.0 if began else 0.0, x.state[k, SPEED, lane] if began else abs(rate)
    )
    return of[at + POTENTIAL * m.W] * (1.0 if began else -1.0), stored


@inlined
def decide(m, lane):  # type: ignore[no-untyped-def]
    """As of ``landing.switch`` before modes change: what comes of an accurate step, and the length of the next attempt.

    Also at which end of the step modes change: 1 at its end, -1 at its start, 0 at none.
    """
    s, fraction = m.s, m.contacts.search[FRACTION, lane]
    h, landings = s.length[lane], s.landings[lane]
    landing = landings > 0.0
    if not limits_hold(m, lane):
        return ALONE, 0.0, 0
    if not landing:
        set_usual(s, lane, s.active[lane], -h)
    if fraction <= 1.0 and fraction * h <= MIN_LANDING * max(1.0, abs(s.time[lane])):
        fraction = 0.0
    if fraction <= 1.0 and not (landing and fraction > landed(h, landings)):
        s.landings[lane] = landings + 1.0
        if landings + 1.0 == MAX_LANDINGS:
            return ALONE, 0.0, 0
        return (AGAIN, fraction * h, 0) if fraction > 0.0 else (AGAIN, h, -1)
    end_step(m, lane)
    return GO_ON, 0.0, 1 if landing else 0


@inlined
def change_lane(m, lane, at):  # type: ignore[no-untyped-def]
    """Change the modes of what is beyond its side in a lane, by what was measured; whether a contact is among these.

    ``at``: 1 at the end of its step, -1 at the start.
    """
    x, s, limits, changes = m.contacts, m.s, len(m.limits.q), 0
    first = int(x.search[FIRST, lane]) if at < 0.0 else -1
    if limits > 0 and not change_limits(m, lane, m.end if at > 0.0 else m.y, -10.0 * ON_SIDE, first):
        x.then[0, lane] = ALONE
    time = s.end_time[lane] if at > 0.0 else s.time[lane]
    for k in range(len(x.places)):
        if limits + k == first or over_in(x, k, x.measured[ELSEWHERE], lane) > -10.0 * ON_SIDE:
            released, stored = change_contact(m, k, lane, time)
            work = m.end if at > 0.0 else m.y
            work[m.size[0] * m.W + lane] += released
            changes += 1
            if not stored:
                x.then[0, lane] = ALONE
    set_active(m, lane)
    return changes > 0


@inlined
def put_states(m):  # type: ignore[no-untyped-def]
    """Put the states in which modes change, and others, into ``trial``, with the signals at their times."""
    for lane in range(m.W):
        changed = m.contacts.changed[lane]
        of = m.y if changed < 0.0 else m.end
        for e in range(lane, len(m.trial), m.W):
            m.trial[e] = of[e]
        set_signals_at(m, lane, 0.0 if changed < 0.0 else 1.0)


@inlined
def change_modes(m, address):  # type: ignore[no-untyped-def]
    """Change modes where it was decided, and evaluate by the new ones."""
    x, changes, rates = m.contacts, 0, m.errors[0]
    put_states(m)
    measure(x, m.trial, m.forces.values, m.forces.own, x.measured[ELSEWHERE])
    for lane in range(m.W):
        if x.changed[lane] != 0.0:
            x.changed[lane] = x.changed[lane] if change_lane(m, lane, x.changed[lane]) else 0.0
            changes += x.changed[lane] != 0.0
    if changes == 0:
        return
    measure(x, m.trial, m.forces.values, m.forces.own, x.measured[ELSEWHERE])
    add_forces(m, m.trial, m.forces.own, m.constants, rates)
    evaluate(m, address, m.trial, m.forces.own, m.constants, rates, m.s.end_code)
    for lane in range(m.W):
        if x.changed[lane] == 0.0:
            continue
        m.s.checks[lane] += 1.0
        q, to = (STAGES, x.measured[END]) if x.changed[lane] > 0.0 else (0, x.measured[START])
        for e in range(lane, len(m.trial), m.W):
            m.k[q, e] = rates[e]
        for c in range(lane, len(x.places) * MEASURED * m.W, m.W):
            to[c] = x.measured[ELSEWHERE][c]


@inlined
def switch_contacts(m, address):  # type: ignore[no-untyped-def]
    """What comes of the special attempts that are accurate, and the modes of contacts after them; after ``prepare_dense``."""
    x, s, changes = m.contacts, m.s, 0
    locate_changes(m)
    for lane in range(m.W):
        x.changed[lane], x.then[0, lane], x.then[1, lane] = 0.0, GO_ON, 0.0
        accurate = s.special[lane] * s.accepted[lane] > 0.0
        if not accurate or s.end_code[lane] != OK:
            continue
        x.was[lane] = s.active[lane]
        then, length, at = decide(m, lane)
        x.then[0, lane], x.then[1, lane], x.changed[lane] = then, length, at
        changes += at != 0
    if changes > 0:
        change_modes(m, address)
    for lane in range(m.W):
        accurate = s.special[lane] * s.accepted[lane] > 0.0
        if accurate and x.then[0, lane] == GO_ON and s.landings[lane] > 0.0:
            x.then[1, lane] = usual_length(m, lane, x.was[lane])
