"""Steps end where friction reaches, or leaves, its transition velocity.

The law of friction of a contact has a kink where the slip is as fast as the transition velocity.  A step whose slip reverses
passes two kinks,
and all of the change of friction may lie between two of its stages: no estimate of its error holds then.  Therefore slips are
sampled in each accepted step.  Between the samples they follow nearly straight lines, also where they pass through zero so
quickly that no sample is below the transition velocity.  Where a line passes the transition velocity, the step is repeated up
to there.  The force and its slope have no jump at the kink, so that a step may end a little beside it, and no modes are needed.

Slips are vectors in units of the transition velocity.
"""

from __future__ import annotations

import math
from typing import Any

from runtime.dynamics.contacts import SLIP, SPEED_RESOLUTION, measure, place_contacts
from runtime.dynamics.kinematics import update_poses_and_signals
from runtime.dynamics.switches import ACTIVE, AUTO
from runtime.integrate.lane_state import SAMPLES, reject
from runtime.integrate.loop_parts import INTEGER, REAL, LoopPart
from runtime.integrate.stepping import Stepper, between_ends
from runtime.jit.by_memory import for_memory
from runtime.jit.compilation import inlined

NOWHERE = 2.0  # in place of a fraction of the step
# Of the transition velocity: a slip is at it within this, or less: accelerations change with the square of the distance.
NEAR = 3e-3
MAX_ITERATIONS = 12  # of the location of a kink
MAX_CUTS = 4  # attempts to end a step at a kink
SHORTER = 0.9  # of a rejected attempt: a kink before this is where the next one ends
SHARE = 1e-3  # of an attempt: from its start, for the rate of the slip
AFTER, AHEAD = range(2)  # what ``slips_part`` does: after an accurate attempt, or after a rejected one
THROUGH = 3.0  # transition velocities over the rate of the slip: the first step below the transition velocity


@inlined
def passes_transition_velocity(a, b, least):  # type: ignore[no-untyped-def]
    """Fraction of the line between two slips at which it passes the transition velocity first, beyond ``least``, or NOWHERE."""
    d = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    toward = a[0] * d[0] + a[1] * d[1] + a[2] * d[2]
    under = toward * toward - square * (a[0] * a[0] + a[1] * a[1] + a[2] * a[2] - 1.0)
    if not under > 0.0:
        return NOWHERE
    root, most = math.sqrt(under), max(least * math.sqrt(square), 0.0)
    for first in (-toward - root, -toward + root):
        if most < first <= square:
            return first / square
    return NOWHERE


@inlined
def near_transition(resolution, transition_velocity):  # type: ignore[no-untyped-def]
    """Part of the transition velocity by which a step may end beside it, within the tolerance; ``resolution`` [m/s] of speeds."""
    return min(NEAR, math.sqrt(resolution / (SPEED_RESOLUTION * transition_velocity)))


@inlined
def is_near_transition_velocity(a, near):  # type: ignore[no-untyped-def]
    """Whether a slip is at its transition velocity."""
    square = a[0] * a[0] + a[1] * a[1] + a[2] * a[2]
    return abs(square - 1.0) <= 2.0 * near


@inlined
def is_outside(a):  # type: ignore[no-untyped-def]
    """Whether a slip is faster than its transition velocity."""
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2] > 1.0


@inlined
def distance(a, b):  # type: ignore[no-untyped-def]
    """Distance of two slips."""
    return math.sqrt((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 + (b[2] - a[2]) ** 2)


@inlined
def beyond(a, b, times):  # type: ignore[no-untyped-def]
    """A slip on the way from a to b, so many times as far."""
    return a[0] + times * (b[0] - a[0]), a[1] + times * (b[1] - a[1]), a[2] + times * (b[2] - a[2])


@inlined
def will_slow(a, b, near):  # type: ignore[no-untyped-def]
    """Fraction of an attempt at which a slip falls to its transition velocity, by two values near the start, or NOWHERE.

    Below the transition velocity the slip is stiff, and its rate at the start says nothing of later ones.
    """
    return passes_transition_velocity(a, beyond(a, b, 1.0 / SHARE), 2.0 * near) if is_outside(a) else NOWHERE


@inlined
def place_of_kink(bracket):  # type: ignore[no-untyped-def]
    """Place of the kink in a bracket (lower, slip there, upper, slip there, ``least``) by the straight line, or NOWHERE."""
    lower, a, upper, b, least = bracket
    p = passes_transition_velocity(a, b, least)
    return lower + p * (upper - lower) if p != NOWHERE else NOWHERE


@inlined
def narrowed(bracket, place, u):  # type: ignore[no-untyped-def]
    """The bracket with a slip u at a place in it."""
    lower, a, upper, b, least = bracket
    if passes_transition_velocity(a, u, least) != NOWHERE:
        return lower, a, place, u, least
    return place, u, upper, b, 0.0


def contacts_in(m: Any, of: Any) -> int:
    """Number of contacts."""
    raise NotImplementedError


def rubs(m: Any, of: Any, lane: int, k: int) -> bool:
    """Whether contact k of a lane has a friction with a kink in the attempt."""
    raise NotImplementedError


def near_in(m: Any, of: Any, lane: int, k: int) -> float:
    """``near_transition`` of contact k of a lane."""
    raise NotImplementedError


def sampled_slip(m: Any, of: Any, lane: int, k: int, q: int) -> tuple[float, float, float]:
    """The slip of contact k of a lane at sample q of the attempt."""
    raise NotImplementedError


def slip_at(m: Any, of: Any, lane: int, k: int, x: float) -> tuple[float, float, float]:
    """The slip of contact k of a lane at a fraction of the attempt."""
    raise NotImplementedError


@inlined
def locate(m, of, lane, k, bracket):  # type: ignore[no-untyped-def]
    """Fraction of the step at which contact k passes its transition velocity in a bracket, or NOWHERE; its rate [1/s]."""
    near, place = 0.5 * near_in(m, of, lane, k), place_of_kink(bracket)
    for _ in range(MAX_ITERATIONS):
        if place == NOWHERE:
            break
        u = slip_at(m, of, lane, k, place)
        if is_near_transition_velocity(u, near):
            break
        bracket = narrowed(bracket, place, u)
        place = place_of_kink(bracket)
    return place, distance(bracket[1], bracket[3]) / ((bracket[2] - bracket[0]) * m.s.length[lane])


@inlined
def first_kink(m, of, lane):  # type: ignore[no-untyped-def]
    """First fraction of the step at which a slip passes its transition velocity, or NOWHERE; its rate [1/s]; whether it slows.

    A kink at the start is that of the step before.  The end of a step that was cut at a kink has the fraction 1 if it is near.
    """
    first, fastest, inward = NOWHERE, 0.0, False
    for q in range(SAMPLES):
        for k in range(contacts_in(m, of)):
            if not rubs(m, of, lane, k):
                continue
            near = near_in(m, of, lane, k)
            a, b = sampled_slip(m, of, lane, k, q), sampled_slip(m, of, lane, k, q + 1)
            least = 2.0 * near if q == 0 else 0.0
            at_end = q == SAMPLES - 1 and m.s.cuts[lane] > 0.0 and is_near_transition_velocity(b, near)
            if not at_end and passes_transition_velocity(a, b, least) == NOWHERE:
                continue
            place, rate = locate(m, of, lane, k, (q / SAMPLES, a, (q + 1) / SAMPLES, b, least))
            if at_end:
                place = 1.0
            if place < first:
                first, fastest, inward = place, rate, is_outside(a)
        if first != NOWHERE:
            break
    return first, fastest, inward


@inlined
def place_of_cut(m, of, lane):  # type: ignore[no-untyped-def]
    """Fraction at which the accurate attempt of a lane is to end at a kink, or NOWHERE where it is accepted."""
    s, cuts, h, (first, rate, inward) = m.s, m.s.cuts[lane], m.s.length[lane], first_kink(m, of, lane)
    s.cuts[lane] = 0.0
    usual = max(s.sliding[lane], h)
    if first < 1.0 and cuts < MAX_CUTS:
        s.sliding[lane], s.cuts[lane] = usual, cuts + 1.0
        return first
    if cuts == 0.0 or first == NOWHERE:
        s.sliding[lane] = usual
        return NOWHERE
    # The next step surely passes the transition velocity.
    s.factor[lane], s.after_rejection[lane] = (min(usual, THROUGH / rate) if inward else usual) / h, 0.0
    if not inward:
        s.sliding[lane] = 0.0
    return NOWHERE


@inlined
def place_ahead(m, of, lane, first_of):  # type: ignore[no-untyped-def]
    """Fraction of a rejected attempt at which a slip will fall to its transition velocity, by its rate at the start, or SHORTER.

    The slips are those of the samples 0 and ``first_of``, which is SHARE of the attempt later.
    """
    first = SHORTER
    for k in range(contacts_in(m, of)):
        if rubs(m, of, lane, k):
            a, b = sampled_slip(m, of, lane, k, 0), sampled_slip(m, of, lane, k, first_of)
            first = min(first, will_slow(a, b, near_in(m, of, lane, k)))
    return first


@for_memory(contacts_in, Stepper)
def contacts_in_run(m, of):  # type: ignore[no-untyped-def]
    """``contacts_in``."""
    return len(of[0].contacts.address)


@for_memory(rubs, Stepper)
def rubs_in_run(m, of, lane, k):  # type: ignore[no-untyped-def]
    """``rubs``."""
    t, w = of
    return t.contacts.kinks[k] == 1 and (w.contacts.mode[k] == ACTIVE or w.contacts.mode[k] == AUTO)


@for_memory(near_in, Stepper)
def near_in_run(m, of, lane, k):  # type: ignore[no-untyped-def]
    """``near_in``."""
    return near_transition(of[1].contacts.speed_resolution[0], of[0].contacts.transition_velocity[k])


@for_memory(sampled_slip, Stepper)
def sampled_slip_of_run(m, of, lane, k, q):  # type: ignore[no-untyped-def]
    """``sampled_slip``."""
    slip = m.slips[q, k]
    return slip[0], slip[1], slip[2]


@for_memory(slip_at, Stepper)
def slip_in_run(m, of, lane, k, x):  # type: ignore[no-untyped-def]
    """``slip_at``."""
    between_ends(m, x, m.trial)
    update_contacts(m.s.began[0] + x * m.s.length[0], m.trial, of[0], of[1])
    return slip_of(k, of[0], of[1])


@inlined
def update_contacts(time, y, t, w):  # type: ignore[no-untyped-def]
    """Update poses and the vectors of contacts of a single run, with the speeds of their belts."""
    update_poses_and_signals(time, y, t, w)
    place_contacts(t, w)


@inlined
def slip_of(k, t, w):  # type: ignore[no-untyped-def]
    """The slip of contact k, after ``update_contacts``."""
    measure(k, t, w)
    slip, transition_velocity = w.contacts.outputs[k], t.contacts.transition_velocity[k]
    return slip[SLIP] / transition_velocity, slip[SLIP + 1] / transition_velocity, slip[SLIP + 2] / transition_velocity


@inlined
def sample_slips(m, of, q, time, y):  # type: ignore[no-untyped-def]
    """Store the slips in a state of a single run as those of sample q."""
    update_contacts(time, y, of[0], of[1])
    for k in range(len(m.slips[q])):
        if rubs(m, of, 0, k):
            m.slips[q, k, 0], m.slips[q, k, 1], m.slips[q, k, 2] = slip_of(k, of[0], of[1])


@inlined
def look_ahead(h, m, of):  # type: ignore[no-untyped-def]
    """End the attempt after a rejected one of length h where a slip will fall to its transition velocity."""
    sample_slips(m, of, 0, m.s.time[0], m.y)
    for i in range(len(m.y)):
        m.trial[i] = m.y[i] + SHARE * h * m.begin[i]
    sample_slips(m, of, 1, m.s.time[0] + SHARE * h, m.trial)
    first = place_ahead(m, of, 0, 1)
    if first < SHORTER:
        m.s.factor[0] = first


@inlined
def cut_at_kink(m, of):  # type: ignore[no-untyped-def]
    """Reject the last attempt if it passes a kink before its end; 1 if it does."""
    for q in range(SAMPLES + 1):
        between_ends(m, q / SAMPLES, m.trial)
        sample_slips(m, of, q, m.s.began[0] + q / SAMPLES * m.s.length[0], m.trial)
    place = place_of_cut(m, of, 0)
    if place == NOWHERE:
        return 0
    reject(m.s, 0, 2.0, place, 0)
    return 1


def slips_part(purpose, m, t, w, h):  # type: ignore[no-untyped-def]
    """After an accurate attempt of length h, 1 if it is rejected, to be repeated up to a kink; ``m.trial`` is memory.

    After a step that ends at a kink the next one has the usual length, or that of the way through the transition velocity.
    """
    of = t, w
    for k in range(len(t.contacts.address)):
        if rubs(m, of, 0, k):
            if purpose == AFTER:
                return cut_at_kink(m, of)
            look_ahead(h, m, of)
            return 0
    m.s.cuts[0] = 0
    return 0


SLIPS_PART = LoopPart(slips_part, (INTEGER,), (REAL,))
