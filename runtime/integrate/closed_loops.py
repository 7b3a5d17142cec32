"""Steps of systems with closed loops: projection onto the constraints, and the passage of singular poses, in compiled code.

In a singular pose rows of a closed loop become dependent, and branches of the motion may cross, as where a parallelogram linkage
lies flat.  On the smooth branch the accelerations are continuous, but their computation divides by the distance from the pose:
an error d of a state becomes an error d / distance, and rounding becomes rounding / distance^3 after a projection.  Therefore no
step ends close to a singular pose, the stages of a step across one are projected, and the length of such a step is chosen so
that the pose, which is searched on its way, lies in a wide gap between the stages.
"""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.equations import derivative, derivative_of
from runtime.dynamics.layout import DERIVATIVE, DERIVATIVE_ANEW, OK, SINGULAR, STATE, V
from runtime.dynamics.places import PROJECTION
from runtime.dynamics.projection import TO_ROUNDING, TO_ZERO
from runtime.integrate.balance import END, keep_powers
from runtime.integrate.limit_changes import cubic_of
from runtime.integrate.loop_parts import INTEGER, REAL, LoopPart
from runtime.integrate.step_control import ACCEPTED
from runtime.integrate.stepping import norm_of
from runtime.integrate.unsure_steps import doubt
from runtime.jit.compilation import inlined
from runtime.jit.pointers import call_at

# Pivot ratio, as a fraction of the largest at the ends of steps so far, below which a run is near a singular pose; below which a
# step does not end on its way to one; the same for a step that was shortened to end ahead of the pose.
NEAR, AT_END, NEARER = 3e-3, 4e-2, 3e-5
# Distance of the nearest stage from a singular pose over the sum of those of both ends, below which the step may cross the pose:
# in the widest gap between stages it is up to 0.135 where distances grow in proportion to time.
ACROSS = 0.4
# As ``NEAR``, for a step of dop853 that fails: its stages are projected, before it is shortened.
PROJECTED_STAGES = 0.3
# Steps in a row close to a singular pose after which a run has not passed it and ends; or with a projection that nearly leaves or
# moves as much as is allowed: in a pose whose rows admit accelerations but no motion, every later time leaves more.
MAX_CROSSING_STEPS, NEARLY = 1000, 0.5
# Middles of gaps between the stages of DOP853, those of its dense output included, as fractions of the step: of the widest; of
# the next, for a step that fails with the pose in the widest one; of one for a step that begins close to the pose.
GAP, NEXT_GAP, FIRST_GAP = 0.467, 0.715, 0.159
PLACES = 8  # parts of a step between which the pose is searched
# Of the usual step: the longest step across a singular pose, and how far ahead of the pose a step ends that would be longer.
LONGEST, AHEAD = 1.3, 0.4
# A projection that moves a state by more than this, in units of the tolerance, may lead to another branch: a shorter step is
# tried.  Near a singular pose rounding alone moves states by up to ``ROUNDING``.  So is a step at whose end a row is left
# unsatisfied by more than this ``relative_residual``.
MAX_MOVE, ROUNDING, UNSATISFIED = 10.0, 1e-7, 1e-7
SHORTER = 0.5
TOO_CLOSE = 0.3  # fraction of ``AHEAD`` from the pose at which a step that was to end ahead of it is repeated
# Distances of the pose from the middle of each gap, as fractions of the step, at which a step across it is repeated: the nearest
# stage is 0.033 of the step away at least.
ASIDE, NEXT_ASIDE, FIRST_ASIDE = 0.1, 0.03, 0.008
DIP = 0.25  # pivot ratio of a stage near a singular pose as a fraction of those at the ends of its step
COMING = 0.7  # fraction to which the distance from a pose falls in a step that comes close to it soon
# Attempts to cross a singular pose with each tolerance, factor by which the tolerance is raised then, and up to which tolerance.
ATTEMPTS, LOOSER, LOOSEST = 4, 30.0, 1e-7


@inlined
def evaluate_end(m, t, w, time_end):  # type: ignore[no-untyped-def]
    """The derivative at the end of a step, with independent rows chosen anew; a code."""
    purpose = DERIVATIVE_ANEW if t.redundant > 0 else DERIVATIVE
    return derivative_of(purpose, time_end, m.trial, t, w, m.end)


@inlined
def project(m, t, w, time_end):  # type: ignore[no-untyped-def]
    """Move the end of a step onto the constraints, and evaluate the derivative there; a code."""
    for i in range(len(m.y)):
        m.moved[i] = m.trial[i]
    manner = TO_ZERO if w.near_singular[0] == 1 else TO_ROUNDING
    call_at(w.address[PROJECTION], time_end, m.trial, t, w, manner, w.violation)
    for i in range(len(m.y)):
        m.moved[i] -= m.trial[i]
    for i in range(STATE * m.bodies[0] if m.bodies[0] > 0 else w.tree.size[0], len(m.y)):
        m.moved[i] = 0.0  # derivatives of variational equations, whose rows are differences with their own rounding
    m.s.evaluations[0] += 1
    code = evaluate_end(m, t, w, time_end)
    keep_powers(m.balance, m.trial, m.end, t, w, END)
    return code


@inlined
def time_to_pose(h, before, last, crossed):  # type: ignore[no-untyped-def]
    """Time from the begin of a step of length h to the singular pose, from the pivot ratios at its ends; negative without one.

    The square root of the smallest pivot ratio is proportional to the distance from the pose.
    """
    a, b = math.sqrt(before), math.sqrt(max(last, 0.0))
    if crossed:
        return h * a / (a + b)
    return h * a / (a - b) if b < COMING * a else -1.0


@inlined
def time_of_pose(m, t, w, h, last):  # type: ignore[no-untyped-def]
    """As ``time_to_pose``, of the pose on the way of a step where the pivot ratio is smallest; negative where that is an end.

    Needs ``s.end``; writes over ``moved`` and ``rates``.
    """
    before, at, away = np.inf, math.sqrt(m.s.pivot_at_begin[0]), -1.0
    smallest = at
    for k in range(1, PLACES + 1):
        share = k / PLACES
        for i in range(len(m.y)):
            c0, c1, c2, c3 = cubic_of(m.y[i], m.trial[i], m.begin[i], m.end[i], h)
            m.moved[i] = c0 + share * (c1 + share * (c2 + share * c3))
        if k < PLACES:
            derivative(m.s.time[0] + share * h, m.moved, t, w, m.rates)
        after = math.sqrt(max(w.smallest_pivot[0] if k < PLACES else last, 0.0))
        if k > 1 and at < smallest and at <= min(before, after):
            smallest, away = at, h * (k - 2 + 2.0 * before / (before + after)) / PLACES
        before, at = at, after
    m.s.evaluations[0] += PLACES - 1
    return away


@inlined
def place_of_pose(m, t, w, h, before, last):  # type: ignore[no-untyped-def]
    """Time from the begin of a step to the pose it crosses: searched, or from the pivot ratios at its ends.

    Radau has few stages with wide gaps between them, and needs no search: with it and ``AT_END`` a third of some runs failed.
    """
    away = time_of_pose(m, t, w, h, last) if m.s.project_stages[0] > 0.0 else -1.0
    return away if away > 0.0 else time_to_pose(h, before, last, True)


@inlined
def in_gap(m, place):  # type: ignore[no-untyped-def]
    """Whether a place, as a fraction of a step, is far enough from all stages."""
    other = abs(place - FIRST_GAP) <= FIRST_ASIDE or abs(place - NEXT_GAP) <= NEXT_ASIDE
    return abs(place - GAP) <= ASIDE or (other and m.s.project_stages[0] > 0.0)


@inlined
def repeat(m, length):  # type: ignore[no-untyped-def]
    """Have the step repeated with another length."""
    m.s.repeated[0] = 1
    m.s.rejections[0] += 1
    m.s.after_rejection[0] = 1
    m.s.next_length[0] = length


@inlined
def project_stages(m, w, wanted):  # type: ignore[no-untyped-def]
    """Have the stages of the next step projected or not, and the tolerances of velocities near a singular pose with it.

    Rows that are nearly dependent spread the rounding of the fastest motion over all velocities, those that are 0 too.
    """
    if not wanted and w.near_singular[0] == 0:
        return
    w.near_singular[0] = 1 if wanted else 0
    for kind in range(V, STATE, 3):
        largest = 0.0
        for i in range(STATE * m.bodies[0] if wanted else 0):
            if kind <= i % STATE < kind + 3:
                largest = max(largest, abs(m.y[i]))
        for i in range(STATE * m.bodies[0]):
            if kind <= i % STATE < kind + 3:
                m.sizes[i] = largest


@inlined
def gap_of(attempt, close):  # type: ignore[no-untyped-def]
    """The gap for an attempt to cross a pose: the one whose middle is farthest from all stages is tried first."""
    if close and attempt == 1:
        return FIRST_GAP
    return NEXT_GAP if attempt == (3 if close else 2) else GAP


@inlined
def approach(m, w, h, away):  # type: ignore[no-untyped-def]
    """Have the step repeated across a singular pose, or up to a place ahead of it from where the next step can cross it."""
    m.s.retries[0] += 1
    attempt = m.s.retries[0] % ATTEMPTS
    if attempt == 0:
        m.s.loose[0] *= LOOSER
    if m.s.usual_step[0] == 0.0:
        m.s.usual_step[0] = h
    usual = m.s.usual_step[0]
    across = away / gap_of(attempt, away < FIRST_GAP * LONGEST * usual) if m.s.project_stages[0] > 0.0 else away / GAP
    m.s.ends_ahead[0] = across > LONGEST * usual
    if m.s.ends_ahead[0] == 0:
        project_stages(m, w, True)
        repeat(m, across)
    else:
        repeat(m, min(away - AHEAD * usual, usual))


@inlined
def off_the_rows(m, w, rtol, atol):  # type: ignore[no-untyped-def]
    """The larger of what the projection left unsatisfied and how far it moved the state, as fractions of what is allowed."""
    allowed = MAX_MOVE if w.near_singular[0] == 0 else max(MAX_MOVE, ROUNDING / (rtol + atol))
    m.s.off[0] = max(w.unsatisfied[0] / UNSATISFIED, norm_of(m, m.moved, m.trial, rtol, atol) / allowed)
    return m.s.off[0]


@inlined
def accept(m, w, h, time_end):  # type: ignore[no-untyped-def]
    """Note what a projected step leaves to the next one."""
    ends = math.sqrt(m.s.pivot_at_begin[0]) + math.sqrt(w.smallest_pivot[0])
    smallest = min(m.s.pivot_at_begin[0], w.smallest_pivot[0])
    across = math.sqrt(m.s.smallest_pivot[0]) < ACROSS * ends
    m.s.close_by[0] = w.near_singular[0] == 1 or across or smallest < 4.0 * NEAR * m.s.largest_pivot[0]
    m.s.pivot_at_begin[0] = w.smallest_pivot[0]
    m.s.largest_pivot[0] = max(m.s.largest_pivot[0], w.smallest_pivot[0])
    lost = m.s.error[0] * m.s.loose[0]
    if lost > 1.0:
        if m.s.lost[0] == 0.0:
            m.s.first_lost[0] = time_end
        m.s.lost[0] = max(m.s.lost[0], lost)
    if m.s.ends_ahead[0] == 1:
        m.s.factor[0] = AHEAD / GAP * m.s.usual_step[0] / h  # the next step crosses the pose
        m.s.after_rejection[0] = 0
    elif m.s.loose[0] == 1.0 and m.s.retries[0] == 0:
        m.s.usual_step[0] = h
    m.s.retries[0], m.s.loose[0] = 0, 1.0
    close = w.near_singular[0] == 1 or w.smallest_pivot[0] < NEAR * m.s.largest_pivot[0] or m.s.off[0] > NEARLY
    m.s.crossing_steps[0] = m.s.crossing_steps[0] + 1.0 if close else 0.0


def projecting_part(judged, memory, t, w, h, time_end, rtol, atol):  # type: ignore[no-untyped-def]
    """Project the end of a step, or have the step repeated: then ``repeated`` is 1; a code of an evaluation."""
    m = memory
    m.s.repeated[0] = 0
    patient = m.s.retries[0] < ATTEMPTS or m.s.loose[0] * (rtol + atol) < LOOSEST
    before, smallest, last = m.s.pivot_at_begin[0], m.s.smallest_pivot[0], w.smallest_pivot[0]
    largest = max(m.s.largest_pivot[0], before)
    explicit = m.s.project_stages[0] > 0.0  # not radau
    near, nearer = NEAR * largest, NEARER * largest
    at_end = AT_END * largest if explicit else near
    crossed = smallest < DIP * min(before, last)  # a stage is nearer to a singular pose than both ends
    if judged != ACCEPTED:
        if smallest < near and crossed and patient:
            if explicit:
                evaluate_end(m, t, w, time_end)
            approach(m, w, h, place_of_pose(m, t, w, h, before, last))
        elif smallest < m.s.project_stages[0] * m.s.largest_pivot[0] and w.near_singular[0] == 0:
            project_stages(m, w, True)
            repeat(m, h)
        return OK
    code = project(m, t, w, time_end)
    last = w.smallest_pivot[0]
    off = off_the_rows(m, w, rtol, atol)
    away = time_to_pose(h, before, last, crossed or code != OK)
    if patient and (code != OK or last < at_end < before or last < nearer):
        if code == OK and crossed:
            away = place_of_pose(m, t, w, h, before, last)
        too_close = last < nearer or away - h < TOO_CLOSE * AHEAD * m.s.usual_step[0]
        if away > 0.0 and (m.s.ends_ahead[0] == 0 or too_close):
            approach(m, w, h, away)
            return OK
        if code == OK and crossed and explicit:
            evaluate_end(m, t, w, time_end)
    elif patient and crossed and (smallest < near or m.s.project_stages[0] > 0.0):
        away = place_of_pose(m, t, w, h, before, last)
        if not in_gap(m, away / h):
            approach(m, w, h, away)
            return OK
        if explicit:
            evaluate_end(m, t, w, time_end)
    if code == OK and off > 1.0:
        m.s.retries[0] += 1
        repeat(m, SHORTER * h)
        return OK
    if code == OK:
        if doubt(memory, m, t, w, min(before, smallest, last), time_end):
            evaluate_end(m, t, w, time_end)
        accept(m, w, h, time_end)
        if m.s.crossing_steps[0] > MAX_CROSSING_STEPS:
            return SINGULAR
    return code


PROJECTING_PART = LoopPart(projecting_part, (INTEGER,), (REAL, REAL, REAL, REAL))
