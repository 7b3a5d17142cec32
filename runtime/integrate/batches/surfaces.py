"""Surfaces at which modes change: where in a step the first one is passed, and how the step ends there.

Rows are the limits that restrain coordinates, then the contacts.  The value of a row is its distance beyond the side of its mode
[rad], [mm], below 0 on that side.  A step in which a row passes its side is repeated up to there, and modes change at its end; a
step that begins there changes them at its start.  A case whose changes do not become steps, or with more of them than its memory
holds, ends its lane without a result and is run alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import LANES, OK
from runtime.integrate.batches.contact_memory import ELSEWHERE, END, START
from runtime.integrate.batches.contacts import change_contact, is_suspect, measure_at, over_in
from runtime.integrate.batches.equations import evaluate
from runtime.integrate.batches.forces import add_forces
from runtime.integrate.batches.limit_steps import end_step
from runtime.integrate.batches.limits import (
    beyond_side,
    beyond_within,
    change_limits,
    limits_hold,
    passage_of_limit,
    screen_limits,
    set_active,
)
from runtime.integrate.batches.memory_kinds import Common, OfLanes
from runtime.integrate.batches.polynomial import set_between, set_dense, states_between
from runtime.integrate.dop853_coefficients import STAGES
from runtime.integrate.landing import CLOSE, CLOSE_TIME, FIRST_ACTIVE, MAX_LANDINGS, MIN_LANDING
from runtime.integrate.lane_state import set_usual, usual_of
from runtime.integrate.limit_changes import ON_SIDE
from runtime.integrate.stepping import SAMPLES
from runtime.integrate.switching import (
    CLOSER,
    CLOSEST,
    GRAZE,
    GRAZE_PLANE,
    LANDED,
    MAX_ITERATIONS,
    REFINEMENTS,
    TOLERANCE,
    toward_top,
    vertex,
)
from runtime.integrate.written.acting_contacts import MEASURED
from runtime.jit.compilation import columns, inlined
from runtime.jit.named_rows import with_lanes
from runtime.jit.pointers import call_at
from runtime.support.arrays import Floats, Ints, lanes_of

NONE = 2.0  # a fraction of the step that is not in it
# What comes of an attempt: accepted, repeated with another length, the case is run alone, or it ends within the step.
GO_ON, AGAIN, ALONE, STOP = range(4)
READY_CASES, BEGIN, SCREEN, SWITCH, KEEP = range(5)  # what ``surfaces_part`` does


@with_lanes(LANES)
class Surfaces(NamedTuple):
    """The rows of a batch."""

    part: Common[Ints]  # (1,) address of ``surfaces_part.surfaces_part``; 0: there are no rows
    slopes: Common[Ints]  # (turns and slides, 2) places of these coordinates, and of their rates, in a state
    over: OfLanes[Floats]  # (rows, W) values in the states that were asked for last
    samples: OfLanes[Floats]  # (SAMPLES + 1, rows, W)


def surfaces_of(rows: int, ties: Ints, lanes: int = LANES) -> Surfaces:
    """Memory for so many rows; ``ties`` of the coordinates as of ``spanning_tree.ties_of``."""
    slopes = np.ascontiguousarray(ties[ties[:, 2] == 1, :2])
    return Surfaces(np.zeros(1, np.int64), slopes, lanes_of(rows, lanes), lanes_of(SAMPLES + 1, rows, lanes))


@inlined
def call_surfaces(m, purpose, memory, address, a, b, x, y):  # type: ignore[no-untyped-def]
    """``surfaces_part.surfaces_part`` of the memory of a batch; 0 where there are no rows."""
    if len(m.surfaces.over) == 0:
        return 0
    return call_at(m.surfaces.part.ctypes.data, purpose, memory, address, a, b, x, y)


@inlined
def fill_over(m):  # type: ignore[no-untyped-def]
    """Values of all rows in the states in ``trial``, at fractions ``s.at`` of the steps."""
    limits, contacts, over = m.limits, m.contacts, m.surfaces.over
    first = len(limits.q)
    if len(contacts.places) > 0:
        measure_at(m, contacts.measured[ELSEWHERE])
    for lane in range(m.W):
        for k in range(first):
            over[k, lane] = beyond_side(limits, k, lane, m.trial[limits.q[k] * m.W + lane])
        for k in range(len(contacts.places)):
            over[first + k, lane] = over_in(contacts, k, contacts.measured[ELSEWHERE], lane)


@inlined
def foremost(m, lane):  # type: ignore[no-untyped-def]
    """Number of the row of a lane that is farthest beyond its side."""
    over, first = m.surfaces.over, 0
    for k in range(1, len(over)):
        if over[k, lane] > over[first, lane]:
            first = k
    return first


@inlined
def over_at(m, k, lane, fraction):  # type: ignore[no-untyped-def]
    """Value of row k of a lane at a fraction of its step."""
    if k < len(m.limits.q):
        return beyond_within(m.limits, k, lane, fraction)
    set_between(m, fraction, lane)
    m.s.at[lane] = fraction
    fill_over(m)
    return m.surfaces.over[k, lane]


@inlined
def graze_near(m, lane, k, q):  # type: ignore[no-untyped-def]
    """A fraction of a lane's step, near sample q, at which row k is beyond its side, or NONE.

    The parabola through three samples has a maximum.  Where it comes near the side, three closer samples give a better parabola,
    and so on.  A maximum farther from the side than the samples differ is no sign of a passage.
    """
    samples = m.surfaces.samples
    before, here, after = samples[q - 1, k, lane], samples[q, k, lane], samples[q + 1, k, lane]
    x, top = vertex(q / SAMPLES, 1.0 / SAMPLES, before, here, after)
    near, width, closer = GRAZE if k < len(m.limits.q) else GRAZE_PLANE, 1.0 / SAMPLES, CLOSER
    near = min(near, abs(before - here) + abs(after - here))
    for _ in range(REFINEMENTS):
        if not (0.0 < x < 1.0 and top > -near and width > CLOSEST):
            break
        width *= closer
        before = here = after = 0.0
        for side in range(3):
            place = min(max(x + (side - 1.0) * width, 0.0), 1.0)
            after, here, before = over_at(m, k, lane, place), after, here
            if after > 0.0:
                return place
        x, top, closer = toward_top(x, width, before, here, after)
    return NONE


@inlined
def graze(m, lane):  # type: ignore[no-untyped-def]
    """A fraction of a lane's step at which a row is beyond its side although it is not at the samples, or NONE."""
    for k in range(len(m.surfaces.over)):
        for q in range(1, SAMPLES):
            place = graze_near(m, lane, k, q)
            if place != NONE:
                return place
    return NONE


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
            measure_at(m, of)
        for lane in range(m.W):
            if m.s.sought[lane] > 0.0:
                for k in range(first):
                    samples[q, k, lane] = beyond_within(limits, k, lane, q / SAMPLES)
                for k in range(len(contacts.places)):
                    samples[q, first + k, lane] = over_in(contacts, k, of, lane)


@inlined
def bracket(m, lane):  # type: ignore[no-untyped-def]
    """Fractions of a lane's step between which a row passes its side, if one does."""
    s, samples = m.s, m.surfaces.samples
    for q in range(1, SAMPLES + 1):
        for k in range(samples.shape[1]):
            if samples[q, k, lane] > ON_SIDE:
                s.lower[lane], s.upper[lane] = (q - 1.0) / SAMPLES, q / SAMPLES
        if s.upper[lane] != NONE:
            return
    place = graze(m, lane)
    if place != NONE:
        s.lower[lane], s.upper[lane] = max(place - 1.0 / SAMPLES, 0.0), place


@inlined
def landed(m, lane):  # type: ignore[no-untyped-def]
    """Fraction of a step that was cut at a change from which on a change counts as one at its end."""
    if len(m.contacts.places) == 0 or m.s.landings[lane] == MAX_LANDINGS - 1:
        return LANDED
    return 1.0 - max(CLOSE, CLOSE_TIME / m.s.length[lane])


@inlined
def find_landed(m):  # type: ignore[no-untyped-def]
    """Find the steps that were cut at a change and end near it: their fraction is 1, and no change is sought in them."""
    s, found = m.s, 0
    for lane in range(m.W):
        if s.sought[lane] > 0.0 and s.upper[lane] == 1.0 and s.landings[lane] > 0.0:
            s.at[lane] = s.fraction[lane] = landed(m, lane)
            set_between(m, s.at[lane], lane)
            found += 1
    if found == 0:
        return
    fill_over(m)
    for lane in range(m.W):
        if s.sought[lane] > 0.0 and s.fraction[lane] < 1.0 and m.surfaces.over[foremost(m, lane), lane] <= ON_SIDE:
            s.sought[lane], s.fraction[lane] = 0.0, 1.0


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
def screen(m):  # type: ignore[no-untyped-def]
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
        for lane in range(m.W):
            if s.sought[lane] > 0.0:
                bracket(m, lane)
                if s.upper[lane] != NONE or s.landings[lane] > 0.0 or s.aimed[lane] > 0.0 or not limits_hold(m, lane):
                    s.special[lane] = 1.0
                s.sought[lane] = 1.0 if s.upper[lane] != NONE else 0.0
        find_landed(m)
        for lane in range(m.W if len(contacts.places) > 0 else 0):
            if s.sought[lane] > 0.0:
                s.has_outputs[lane] = 1.0
    return count_special(s)


@inlined
def next_place(s, lane, n):  # type: ignore[no-untyped-def]
    """The place that the n-th iteration tries: the secant, well inside the bracket, and every other time its middle."""
    lower, upper, below, above = s.lower[lane], s.upper[lane], s.below[lane], s.above[lane]
    if below < 0.0 < above and n % 2 == 0:
        x, edge = lower - below * (upper - lower) / (above - below), 1e-3 * (upper - lower)
        return min(max(x, lower + edge), upper - edge)
    return 0.5 * (lower + upper)


@inlined
def locate_along(m, lane):  # type: ignore[no-untyped-def]
    """Locate the first passage in a lane where all rows are limits, by the polynomials of their coordinates."""
    s = m.s
    s.first[lane], s.fraction[lane] = -1.0, s.upper[lane]
    for k in range(len(m.limits.q)):
        if beyond_within(m.limits, k, lane, s.upper[lane]) > ON_SIDE:
            passage = passage_of_limit(m, k, lane, s.lower[lane], s.upper[lane])
            if s.first[lane] < 0.0 or passage < s.fraction[lane]:
                s.first[lane], s.fraction[lane] = k, passage
    s.sought[lane] = 0.0


@inlined
def locate(m):  # type: ignore[no-untyped-def]
    """Locate the first passage in all lanes with a bracket, on the dense output: fractions of their steps, and rows."""
    s, sought = m.s, 0
    for lane in range(m.W):
        if s.sought[lane] > 0.0 and len(m.contacts.places) == 0:
            locate_along(m, lane)
        s.below[lane] = s.above[lane] = 0.0
        sought += s.sought[lane] > 0.0
    for n in range(1, MAX_ITERATIONS + 1):
        if sought == 0:
            return
        for lane in range(m.W):
            if s.sought[lane] > 0.0:
                s.at[lane] = s.fraction[lane] = next_place(s, lane, n)
                set_dense(m, lane, s.at[lane])
        fill_over(m)
        for lane in range(m.W):
            if s.sought[lane] == 0.0:
                continue
            first = foremost(m, lane)
            value, s.first[lane] = m.surfaces.over[first, lane], first
            if abs(value) <= TOLERANCE or n == MAX_ITERATIONS:
                s.fraction[lane] = s.fraction[lane] if abs(value) <= TOLERANCE else s.upper[lane]
                s.sought[lane] = 0.0
                sought -= 1
            elif value > 0.0:
                s.upper[lane], s.above[lane] = s.fraction[lane], value
            else:
                s.lower[lane], s.below[lane] = s.fraction[lane], value


@inlined
def usual_length(m, lane):  # type: ignore[no-untyped-def]
    """Length of the step after a change: the usual one in the present modes; 0: the one by the error."""
    s, now, was = m.s, m.s.active[lane], m.s.was_active[lane]
    s.landings[lane], s.fresh[lane] = 0.0, 1.0
    if now == was:
        planned = s.planned[lane] if s.aimed[lane] > 0.0 else 0.0
        return planned if planned > s.factor[lane] * s.length[lane] else 0.0
    usual = abs(usual_of(s, lane, now))
    if usual == 0.0:
        usual = abs(usual_of(s, lane, was)) * (FIRST_ACTIVE if now == 1.0 else 1.0)
    set_usual(s, lane, now, -usual)
    return usual


@inlined
def decide(m, lane):  # type: ignore[no-untyped-def]
    """Decide what comes of an accurate attempt, and at which end of it modes change: 1 at its end, -1 at its start."""
    s, h, landings, fraction = m.s, m.s.length[lane], m.s.landings[lane], m.s.fraction[lane]
    landing, s.changed[lane], s.then[lane] = landings > 0.0, 0.0, GO_ON
    if not landing and (len(m.contacts.places) > 0 or usual_of(s, lane, s.active[lane]) == 0.0):
        set_usual(s, lane, s.active[lane], -h)
    if s.landed[lane] == 1.0:
        s.damped[lane] += s.damped_now[lane]
        set_active(m, lane)
        return
    if not limits_hold(m, lane):
        s.then[lane] = ALONE
        return
    if fraction <= 1.0 and fraction * h <= MIN_LANDING * max(1.0, abs(s.time[lane])):
        fraction = 0.0
    if fraction <= 1.0 and not (landing and fraction > landed(m, lane)):
        s.landings[lane] = landings + 1.0
        s.then[lane] = AGAIN if landings + 1.0 < MAX_LANDINGS else ALONE
        s.then_length[lane] = fraction * h if fraction > 0.0 else h
        s.changed[lane] = 0.0 if fraction > 0.0 else -1.0
        return
    end_step(m, lane)
    if landing:
        s.changed[lane], s.aimed[lane] = 1.0, 0.0


@inlined
def change_lane(m, lane):  # type: ignore[no-untyped-def]
    """Change the modes of what is beyond its side in a lane; whether a contact is among these."""
    x, s, limits, changes = m.contacts, m.s, len(m.limits.q), 0
    at_end = s.changed[lane] > 0.0
    first, state = (-1 if at_end else int(s.first[lane])), (m.end if at_end else m.y)
    if limits > 0 and not change_limits(m, lane, state, -10.0 * ON_SIDE, first):
        s.then[lane] = ALONE
    time = s.end_time[lane] if at_end else s.time[lane]
    for k in range(len(x.places)):
        if limits + k == first or over_in(x, k, x.measured[ELSEWHERE], lane) > -10.0 * ON_SIDE:
            released, stored = change_contact(m, k, lane, time)
            state[m.size[0] * m.W + lane] += released
            changes += 1
            if not stored:
                s.then[lane] = ALONE
    set_active(m, lane)
    return changes > 0


@inlined
def change_modes(m, address):  # type: ignore[no-untyped-def]
    """Change modes where it was decided; where contacts are among them, with the derivatives by the new modes."""
    x, s, changes, rates, contacts = m.contacts, m.s, 0, m.errors[0], len(m.contacts.places)
    for lane in range(m.W if contacts > 0 else 0):
        of, s.at[lane] = (m.y, 0.0) if s.changed[lane] < 0.0 else (m.end, 1.0)
        for e in range(lane, len(m.trial), m.W):
            m.trial[e] = of[e]
    if contacts > 0:
        measure_at(m, x.measured[ELSEWHERE])
    for lane in range(m.W):
        if s.changed[lane] != 0.0:
            s.changed[lane] = s.changed[lane] if change_lane(m, lane) else 0.0
            changes += s.changed[lane] != 0.0
    if changes == 0:
        return
    measure_at(m, x.measured[ELSEWHERE])
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


@inlined
def switch(m, address):  # type: ignore[no-untyped-def]
    """What comes of the special attempts that are accurate, and the modes after them; after ``prepare_dense``."""
    s, changes = m.s, 0
    locate(m)
    for lane in range(m.W):
        s.changed[lane], s.then[lane], s.then_length[lane] = 0.0, GO_ON, 0.0
        if s.special[lane] * s.accepted[lane] > 0.0 and s.end_code[lane] == OK:
            s.was_active[lane] = s.active[lane]
            decide(m, lane)
            changes += s.changed[lane] != 0.0
    if changes > 0:
        change_modes(m, address)
    for lane in range(m.W):
        accurate = s.special[lane] * s.accepted[lane] > 0.0
        if accurate and s.then[lane] == GO_ON and s.landings[lane] + s.landed[lane] > 0.0:
            s.then_length[lane] = usual_length(m, lane)
