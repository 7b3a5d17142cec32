"""Surfaces at which modes change: where in a step the first one is passed, and how the step ends there.

Rows are limits, then contacts.  The value of a row is its distance beyond the side of its mode [rad], [mm], below 0 on that side.
The force has a kink or a jump where a row passes its side, which an error estimate would locate by many rejected steps, or
overlook.  Therefore each row keeps its mode throughout a step; a step in which one passes its side is repeated up to there, and
modes change at its end, or at its start where the row is passed there.  The length of a step that was cut at a change is no
measure of the motion; therefore the usual lengths with all rows inactive, and with one active, are stored (``usual``) and resumed
after the change: the last one, or the shortest since the change before where steps are aimed at changes
(``runtime.integrate.aiming``).

The rules hold for single runs (``switching``) and for lanes (``batches.surfaces``), which both have a form of each function that
depends on their memory: ``m`` is the memory, ``of`` the data and workspace of a system, or the address of the equations of lanes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from runtime.dynamics.layout import OK
from runtime.integrate.aiming import FARTHEST, STRETCH, is_within_reach, may_leave, until_edge
from runtime.integrate.lane_state import SAMPLES, set_usual, usual_of
from runtime.integrate.limit_changes import ON_SIDE
from runtime.integrate.slips import contacts_in
from runtime.jit.compilation import columns, inlined

NONE = 2.0  # a fraction of the step that is not in it
# What comes of an attempt: accepted, repeated with another length, the case is run alone, or it ends within the step.
GO_ON, AGAIN, ALONE, STOP = range(4)
LANDED = 0.9  # of a step that was cut at a change of limits: from here on a change counts as one at its end
# Of a step, [s]: a contact changes at the end of a step that was cut there if it is so near.
CLOSE, CLOSE_TIME = 1e-9, 1e-11
MIN_LANDING = 1e-12  # [s] times the larger of 1 and the time
MAX_LANDINGS = 4  # attempts to end a step at a change
FIRST_ACTIVE = 0.025  # of the usual step: the first one with a limit active
NEAR = 10.0 * ON_SIDE  # rows change together with the one that is passed where they are so near their sides
TOLERANCE = 1e-10  # [mm] of the location of a contact's change
MAX_ITERATIONS = 40  # of the location of a change
GRAZE, GRAZE_PLANE = 0.01, 10.0  # [rad], [mm] a change that seems to come so near between two samples is sampled there
ROUGHLY = 0.1  # of these: between the ends of a step states are known so well without the dense output
REFINEMENTS = 6  # of these samples at most
CLOSER, CLOSEST = 0.1, 1e-3  # factor of the distance between samples in a refinement; the least distance, of the step


def along(m: Any, of: Any) -> bool:
    """Whether all rows are limits that restrain coordinates, whose passages follow from the polynomials of these."""
    raise NotImplementedError


def value_within(m: Any, of: Any, lane: int, k: int, x: float, dense: bool) -> float:
    """Value of row k of a lane at a fraction of its step, on its dense output or on the polynomials of its ends."""
    raise NotImplementedError


def set_between(m: Any, of: Any, x: float, lane: int) -> None:
    """State of a lane at a fraction of its step by the polynomials of its ends, into ``trial``."""
    raise NotImplementedError


def set_dense(m: Any, of: Any, x: float, lane: int) -> None:
    """State of a lane at a fraction of its step by the dense output, into ``trial``."""
    raise NotImplementedError


def fill_over(m: Any, of: Any) -> None:
    """Put the values of all rows in the states in ``trial``, at fractions ``s.at`` of the steps, into ``surfaces.over``."""
    raise NotImplementedError


def has_dense(m: Any, of: Any) -> bool:
    """Whether the dense output of the attempts is known, which is prepared for single runs."""
    raise NotImplementedError


def nearness(m: Any, of: Any, lane: int, k: int) -> float:
    """How near to its side row k of a lane is sampled more closely."""
    raise NotImplementedError


def refines(m: Any, of: Any) -> bool:
    """Whether a maximum near a side is sampled on the dense output too, where all else fails."""
    raise NotImplementedError


def passage(m: Any, of: Any, lane: int, k: int) -> float:
    """Fraction of a lane's step, between ``lower`` and ``upper``, at which the limit k of a coordinate passes its side."""
    raise NotImplementedError


def ends_at_ridge(m: Any, of: Any, k: int) -> bool:
    """Whether row k is a limit that passes its ridge, where its moment jumps."""
    raise NotImplementedError


def holds(m: Any, of: Any, lane: int) -> bool:
    """Whether the equations know the limits of a lane at the end of its step."""
    raise NotImplementedError


def end_step(m: Any, of: Any, lane: int) -> None:
    """Keep what was measured at the end of an accepted step of a lane for the next one."""
    raise NotImplementedError


def set_active(m: Any, of: Any, lane: int) -> None:
    """Store whether a limit or contact of a lane acts."""
    raise NotImplementedError


def change_modes(m: Any, of: Any) -> None:
    """Change the modes of what is beyond its side in the lanes with ``s.changed``; derivatives by the new modes."""
    raise NotImplementedError


def give_up(m: Any, of: Any, lane: int) -> None:
    """What comes of a step that does not end at its change after so many attempts."""
    raise NotImplementedError


def limits_ahead(m: Any, of: Any) -> int:
    """Number of limits at whose changes steps may be aimed."""
    raise NotImplementedError


def course(m: Any, of: Any, lane: int, k: int) -> tuple[Any, Any, Any, Any]:
    """The coordinate of limit k in a lane's step: polynomials as of ``until_edge``, value and derivatives at its end, sides."""
    raise NotImplementedError


@inlined
def foremost(m, lane):  # type: ignore[no-untyped-def]
    """Number of the row of a lane that is farthest beyond its side."""
    over, first = m.surfaces.over, 0
    for k in range(1, len(over)):
        if over[k, lane] > over[first, lane]:
            first = k
    return first


@inlined
def vertex(x, width, before, here, after):  # type: ignore[no-untyped-def]
    """Maximum of a parabola through values at x - width, x and x + width: its place, or -1 if there is none, and its value."""
    bend, rise = before - 2.0 * here + after, 0.5 * (after - before)
    if not (bend < 0.0 and abs(rise) <= -bend):
        return -1.0, 0.0
    return x - width * rise / bend, here - 0.5 * rise * rise / bend


@inlined
def toward_top(x, width, before, here, after):  # type: ignore[no-untyped-def]
    """Place of the next samples near a maximum, its value by the parabola through three, and the factor of their distance."""
    place, top = vertex(x, width, before, here, after)
    if place >= 0.0 or not before - 2.0 * here + after < 0.0:
        return place, top, CLOSER
    return x + (2.0 * width if after > before else -2.0 * width), max(before, after), 1.0


@inlined
def graze_near(m, of, lane, k, x, top, near, dense):  # type: ignore[no-untyped-def]
    """A fraction of a lane's step, near x, at which row k is beyond its side, or NONE; place and value of the maximum.

    The parabola through three samples has the maximum ``top`` at x.  Where it comes as near as ``near`` to the side, three closer
    samples give a better parabola, and so on.  ``dense``: they are on the dense output.
    """
    width, closer = 1.0 / SAMPLES, CLOSER
    for _ in range(REFINEMENTS):
        if not (0.0 < x < 1.0 and top > -near and width > CLOSEST):
            break
        width *= closer
        before = here = after = 0.0
        for side in range(3):
            place = min(max(x + (side - 1.0) * width, 0.0), 1.0)
            after, here, before = value_within(m, of, lane, k, place, dense), after, here
            if after > 0.0:
                return place, x, top
        x, top, closer = toward_top(x, width, before, here, after)
    return NONE, x, top


@inlined
def graze(m, of, lane):  # type: ignore[no-untyped-def]
    """A fraction of a lane's step at which a row is beyond its side although it is not at the samples, or NONE.

    A maximum farther from the side than the samples differ is no sign of a passage.
    """
    samples = m.surfaces.samples
    for k in range(samples.shape[1]):
        for q in range(1, SAMPLES):
            before, here, after = samples[q - 1, k, lane], samples[q, k, lane], samples[q + 1, k, lane]
            x, top = vertex(q / SAMPLES, 1.0 / SAMPLES, before, here, after)
            near = min(nearness(m, of, lane, k), abs(before - here) + abs(after - here))
            place, x, top = graze_near(m, of, lane, k, x, top, near, False)
            if place == NONE and 0.0 < x < 1.0 and top > -ROUGHLY * near and refines(m, of):
                place, x, top = graze_near(m, of, lane, k, x, top, ROUGHLY * near, True)
            if place != NONE:
                return place
    return NONE


@inlined
def bracket(m, of, lane):  # type: ignore[no-untyped-def]
    """Fractions of a lane's step between which a row passes its side, if one does, by ``surfaces.samples``."""
    s, samples = m.s, m.surfaces.samples
    for q in range(1, SAMPLES + 1):
        for k in range(samples.shape[1]):
            if samples[q, k, lane] > ON_SIDE:
                s.lower[lane], s.upper[lane] = (q - 1.0) / SAMPLES, q / SAMPLES
        if s.upper[lane] != NONE:
            return
    place = graze(m, of, lane)
    if place != NONE:
        s.lower[lane], s.upper[lane] = max(place - 1.0 / SAMPLES, 0.0), place


@inlined
def landed(m, of, lane, k):  # type: ignore[no-untyped-def]
    """Fraction of a step that was cut at a change from which on a change of row k counts as one at its end."""
    s, last = m.s, m.s.landings[lane] == MAX_LANDINGS - 1
    if not last and ends_at_ridge(m, of, k):
        return 1.0 if s.length[lane] > shortest(s, lane) else 0.0  # the step ends there as exactly as it can
    if last or contacts_in(m, of) == 0:
        return LANDED
    return 1.0 - max(CLOSE, CLOSE_TIME / s.length[lane])


@inlined
def shortest(s, lane):  # type: ignore[no-untyped-def]
    """Length [s] from the start of a lane's step within which a change is one at its start."""
    return MIN_LANDING * max(1.0, abs(s.time[lane]))


@inlined
def find_landed(m, of):  # type: ignore[no-untyped-def]
    """Find the steps that were cut at a change and end near it: their fraction is 1, and no change is sought in them."""
    s, found = m.s, 0
    for lane in range(m.W):
        if s.sought[lane] > 0.0 and s.upper[lane] == 1.0 and s.landings[lane] > 0.0:
            k = foremost(m, lane)
            if not ends_at_ridge(m, of, k):
                s.at[lane] = s.fraction[lane] = landed(m, of, lane, k)
                set_between(m, of, s.at[lane], lane)
                found += 1
    if found == 0:
        return
    fill_over(m, of)
    for lane in range(m.W):
        if s.sought[lane] > 0.0 and s.fraction[lane] < 1.0:
            s.first[lane] = foremost(m, lane)
            if m.surfaces.over[int(s.first[lane]), lane] <= ON_SIDE:
                s.sought[lane], s.fraction[lane] = 0.0, 1.0


@inlined
def find_brackets(m, of):  # type: ignore[no-untyped-def]
    """Mark the attempts in which a row passes its side, which are sought on, and those that were cut or aimed at a change."""
    s = m.s
    for lane in range(m.W):
        if s.sought[lane] > 0.0:
            bracket(m, of, lane)
            if s.upper[lane] != NONE or s.landings[lane] + s.aimed[lane] > 0.0 or not holds(m, of, lane):
                s.special[lane] = 1.0
            s.sought[lane] = 1.0 if s.upper[lane] != NONE else 0.0
    find_landed(m, of)


@inlined
def next_place(s, lane, n):  # type: ignore[no-untyped-def]
    """The place that the n-th iteration tries: the secant, well inside the bracket, and every other time its middle.

    The largest of all values has kinks.
    """
    lower, upper, below, above = s.lower[lane], s.upper[lane], s.below[lane], s.above[lane]
    if below < 0.0 < above and n % 2 == 0:
        x, edge = lower - below * (upper - lower) / (above - below), 1e-3 * (upper - lower)
        return min(max(x, lower + edge), upper - edge)
    return 0.5 * (lower + upper)


@inlined
def locate_along(m, of, lane):  # type: ignore[no-untyped-def]
    """Locate the first passage in a lane where all rows are limits, by the polynomials of their coordinates."""
    s = m.s
    s.first[lane], s.fraction[lane] = -1.0, s.upper[lane]
    for k in range(len(m.surfaces.over)):
        if value_within(m, of, lane, k, s.upper[lane], False) > ON_SIDE:
            x = passage(m, of, lane, k)
            if s.first[lane] < 0.0 or x < s.fraction[lane]:
                s.first[lane], s.fraction[lane] = k, x
    s.sought[lane] = 0.0


@inlined
def locate(m, of):  # type: ignore[no-untyped-def]
    """Locate the first passage in all lanes with a bracket, on the dense output: fractions of their steps, and rows."""
    s, sought, close = m.s, 0, TOLERANCE if contacts_in(m, of) > 0 else ON_SIDE
    for lane in range(m.W):
        if s.sought[lane] > 0.0 and along(m, of):
            locate_along(m, of, lane)
        s.below[lane] = s.above[lane] = 0.0
        sought += s.sought[lane] > 0.0
    if sought == 0 or not has_dense(m, of):
        return
    for n in range(1, MAX_ITERATIONS + 1):
        for lane in range(m.W):
            if s.sought[lane] > 0.0:
                s.at[lane] = s.fraction[lane] = next_place(s, lane, n)
                set_dense(m, of, s.at[lane], lane)
        fill_over(m, of)
        for lane in range(m.W):
            if s.sought[lane] == 0.0:
                continue
            first = foremost(m, lane)
            value, s.first[lane] = m.surfaces.over[first, lane], first
            if abs(value) <= close or n == MAX_ITERATIONS:
                s.fraction[lane] = s.fraction[lane] if abs(value) <= close else s.upper[lane]
                s.sought[lane] = 0.0
                sought -= 1
            elif value > 0.0:
                s.upper[lane], s.above[lane] = s.fraction[lane], value
            else:
                s.lower[lane], s.below[lane] = s.fraction[lane], value
        if sought == 0:
            return


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
def decide(m, of, lane):  # type: ignore[no-untyped-def]
    """Decide what comes of an accurate attempt, and at which end of it modes change: 1 at its end, -1 at its start."""
    s, h, fraction = m.s, m.s.length[lane], m.s.fraction[lane]
    landing, s.changed[lane], s.then[lane] = s.landings[lane] > 0.0, 0.0, GO_ON
    if not landing and (not along(m, of) or usual_of(s, lane, s.active[lane]) == 0.0):
        set_usual(s, lane, s.active[lane], -h)
    if s.landed[lane] == 1.0:
        end_step(m, of, lane)
        set_active(m, of, lane)
        return
    if not holds(m, of, lane):
        s.then[lane] = ALONE
        return
    if fraction <= 1.0:
        k, least = int(s.first[lane]), shortest(s, lane)
        if fraction * h <= least:
            # The step begins at the change, and the mode changes at its start; but a ridge is passed first.
            fraction = min(1.0, least / h) if ends_at_ridge(m, of, k) else 0.0
        if not (landing and fraction > landed(m, of, lane, k)):
            s.landings[lane] += 1.0
            s.then[lane], s.then_length[lane] = AGAIN, fraction * h if fraction > 0.0 else h
            s.changed[lane] = 0.0 if fraction > 0.0 else -1.0
            return
    end_step(m, of, lane)
    if landing:
        s.changed[lane], s.aimed[lane] = 1.0, 0.0


@inlined
def switch(m, of):  # type: ignore[no-untyped-def]
    """What comes of the special attempts that are accurate, and the modes after them."""
    s, changes = m.s, 0
    locate(m, of)
    for lane in range(m.W):
        s.changed[lane], s.then[lane], s.then_length[lane] = 0.0, GO_ON, 0.0
        if s.special[lane] * s.accepted[lane] > 0.0 and s.end_code[lane] == OK:
            s.was_active[lane] = s.active[lane]
            decide(m, of, lane)
            changes += s.changed[lane] != 0.0
    if changes > 0:
        change_modes(m, of)
    for lane in range(m.W):
        if not s.special[lane] * s.accepted[lane] > 0.0:
            continue
        if s.then[lane] == AGAIN and s.landings[lane] == MAX_LANDINGS:
            give_up(m, of, lane)
        elif s.then[lane] == GO_ON and s.landings[lane] + s.landed[lane] > 0.0:
            s.then_length[lane] = usual_length(m, lane)


@columns
def keep_usual(s):  # type: ignore[no-untyped-def]
    """Keep the usual lengths where a step was accepted without a change of mode.

    The next step of a lane whose step was aimed at a change, in vain, has the length that this one had otherwise, at least.
    """
    for lane in range(s.W):
        taken = s.accepted[lane] - s.fresh[lane] > 0.0
        h, planned, before = s.length[lane], s.next_length[lane], s.planned[lane]
        aimed = s.aimed[lane] if taken else 0.0
        before = before if aimed > 0.0 and planned > h else 0.0
        planned = before if before > planned else planned
        acts = s.active[lane] == 1.0
        usual, usual_active = s.usual[lane], s.usual_active[lane]
        present = usual_active if acts else usual
        present = present if present > 0.0 else planned
        present = present if present < planned else planned
        s.usual[lane] = (usual if acts else present) if taken else usual
        s.usual_active[lane] = (present if acts else usual_active) if taken else usual_active
        s.next_length[lane] = planned
        s.aimed[lane], s.soon[lane] = 0.0, -1.0


@inlined
def aim(m, of, lane):  # type: ignore[no-untyped-def]
    """Choose the length of a lane's next step so that it ends at the next change of a limit, where one is expected soon."""
    s = m.s
    h, planned = s.length[lane], s.next_length[lane]
    until, first, longest = np.inf, -1, min(STRETCH * planned, FARTHEST * h)
    for k in range(limits_ahead(m, of)):
        cubic, bends, end, sides = course(m, of, lane, k)
        if may_leave(end, sides, longest):
            soon = until_edge(cubic, bends, h, end, sides, longest)
            if soon < until:
                first, until = k, soon
    if is_within_reach(until, planned):
        s.aimed[lane], s.planned[lane] = 1.0 + first, planned
        s.next_length[lane] = until
