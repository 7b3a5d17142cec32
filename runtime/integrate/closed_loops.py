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

from runtime.dynamics.layout import DERIVATIVE, DERIVATIVE_ANEW, OK, SINGULAR, STATE, V
from runtime.dynamics.places import EVALUATION, PROJECTION
from runtime.dynamics.projection import TO_ROUNDING, TO_ZERO
from runtime.integrate.balance import END, keep_powers
from runtime.integrate.limit_changes import cubic_of
from runtime.integrate.loop_parts import INTEGER, REAL, LoopPart
from runtime.integrate.step_control import ACCEPTED
from runtime.integrate.stepping import (
    AFTER_REJECTION,
    AT_BEGIN,
    BODIES,
    CLOSE_BY,
    CROSSING_STEPS,
    ENDS_AHEAD,
    ERROR,
    EVALUATIONS,
    FACTOR,
    FIRST_LOST,
    LARGEST_PIVOT,
    LOOSE,
    LOST,
    NEXT_STEP,
    OFF,
    PROJECT_STAGES,
    REJECTIONS,
    REPEATED,
    RETRIES,
    SMALLEST_PIVOT,
    USUAL_STEP,
    T,
    norm_of,
)
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
def evaluate_end(s, t, w, time_end):  # type: ignore[no-untyped-def]
    """The derivative at the end of a step, with independent rows chosen anew; a code."""
    purpose = DERIVATIVE_ANEW if t.redundant > 0 else DERIVATIVE
    return call_at(w.address[EVALUATION], time_end, s.trial, t, w, purpose, s.end)


@inlined
def project(s, t, w, time_end):  # type: ignore[no-untyped-def]
    """Move the end of a step onto the constraints, and evaluate the derivative there; a code."""
    for i in range(len(s.y)):
        s.moved[i] = s.trial[i]
    manner = TO_ZERO if w.near_singular[0] == 1 else TO_ROUNDING
    call_at(w.address[PROJECTION], time_end, s.trial, t, w, manner, w.violation)
    for i in range(len(s.y)):
        s.moved[i] -= s.trial[i]
    for i in range(STATE * s.flags[BODIES] if s.flags[BODIES] > 0 else w.tree.size[0], len(s.y)):
        s.moved[i] = 0.0  # derivatives of variational equations, whose rows are differences with their own rounding
    s.counts[EVALUATIONS] += 1
    code = evaluate_end(s, t, w, time_end)
    keep_powers(s.balance, s.trial, s.end, t, w, END)
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
def time_of_pose(s, t, w, h, last):  # type: ignore[no-untyped-def]
    """As ``time_to_pose``, of the pose on the way of a step where the pivot ratio is smallest; negative where that is an end.

    Needs ``s.end``; writes over ``moved`` and ``rates``.
    """
    before, at, away = np.inf, math.sqrt(s.smallest_pivot[AT_BEGIN]), -1.0
    smallest = at
    for k in range(1, PLACES + 1):
        share = k / PLACES
        for i in range(len(s.y)):
            c0, c1, c2, c3 = cubic_of(s.y[i], s.trial[i], s.begin[i], s.end[i], h)
            s.moved[i] = c0 + share * (c1 + share * (c2 + share * c3))
        if k < PLACES:
            call_at(w.address[EVALUATION], s.time[T] + share * h, s.moved, t, w, DERIVATIVE, s.rates)
        after = math.sqrt(max(w.smallest_pivot[0] if k < PLACES else last, 0.0))
        if k > 1 and at < smallest and at <= min(before, after):
            smallest, away = at, h * (k - 2 + 2.0 * before / (before + after)) / PLACES
        before, at = at, after
    s.counts[EVALUATIONS] += PLACES - 1
    return away


@inlined
def place_of_pose(s, t, w, h, before, last):  # type: ignore[no-untyped-def]
    """Time from the begin of a step to the pose it crosses: searched, or from the pivot ratios at its ends.

    Radau has few stages with wide gaps between them, and needs no search: with it and ``AT_END`` a third of some runs failed.
    """
    away = time_of_pose(s, t, w, h, last) if s.passage[PROJECT_STAGES] > 0.0 else -1.0
    return away if away > 0.0 else time_to_pose(h, before, last, True)


@inlined
def in_gap(s, place):  # type: ignore[no-untyped-def]
    """Whether a place, as a fraction of a step, is far enough from all stages."""
    other = abs(place - FIRST_GAP) <= FIRST_ASIDE or abs(place - NEXT_GAP) <= NEXT_ASIDE
    return abs(place - GAP) <= ASIDE or (other and s.passage[PROJECT_STAGES] > 0.0)


@inlined
def repeat(s, length):  # type: ignore[no-untyped-def]
    """Have the step repeated with another length."""
    s.flags[REPEATED] = 1
    s.counts[REJECTIONS] += 1
    s.counts[AFTER_REJECTION] = 1
    s.time[NEXT_STEP] = length


@inlined
def project_stages(s, w, wanted):  # type: ignore[no-untyped-def]
    """Have the stages of the next step projected or not, and the tolerances of velocities near a singular pose with it.

    Rows that are nearly dependent spread the rounding of the fastest motion over all velocities, those that are 0 too.
    """
    if not wanted and w.near_singular[0] == 0:
        return
    w.near_singular[0] = 1 if wanted else 0
    for kind in range(V, STATE, 3):
        largest = 0.0
        for i in range(STATE * s.flags[BODIES] if wanted else 0):
            if kind <= i % STATE < kind + 3:
                largest = max(largest, abs(s.y[i]))
        for i in range(STATE * s.flags[BODIES]):
            if kind <= i % STATE < kind + 3:
                s.sizes[i] = largest


@inlined
def gap_of(attempt, close):  # type: ignore[no-untyped-def]
    """The gap for an attempt to cross a pose: the one whose middle is farthest from all stages is tried first."""
    if close and attempt == 1:
        return FIRST_GAP
    return NEXT_GAP if attempt == (3 if close else 2) else GAP


@inlined
def approach(s, w, h, away):  # type: ignore[no-untyped-def]
    """Have the step repeated across a singular pose, or up to a place ahead of it from where the next step can cross it."""
    s.flags[RETRIES] += 1
    attempt = s.flags[RETRIES] % ATTEMPTS
    if attempt == 0:
        s.passage[LOOSE] *= LOOSER
    if s.passage[USUAL_STEP] == 0.0:
        s.passage[USUAL_STEP] = h
    usual = s.passage[USUAL_STEP]
    across = (
        away / gap_of(attempt, away < FIRST_GAP * LONGEST * usual) if s.passage[PROJECT_STAGES] > 0.0 else away / GAP
    )
    s.flags[ENDS_AHEAD] = across > LONGEST * usual
    if s.flags[ENDS_AHEAD] == 0:
        project_stages(s, w, True)
        repeat(s, across)
    else:
        repeat(s, min(away - AHEAD * usual, usual))


@inlined
def off_the_rows(s, w, rtol, atol):  # type: ignore[no-untyped-def]
    """The larger of what the projection left unsatisfied and how far it moved the state, as fractions of what is allowed."""
    allowed = MAX_MOVE if w.near_singular[0] == 0 else max(MAX_MOVE, ROUNDING / (rtol + atol))
    s.passage[OFF] = max(w.unsatisfied[0] / UNSATISFIED, norm_of(s, s.moved, s.trial, rtol, atol) / allowed)
    return s.passage[OFF]


@inlined
def accept(s, w, h, time_end):  # type: ignore[no-untyped-def]
    """Note what a projected step leaves to the next one."""
    ends = math.sqrt(s.smallest_pivot[AT_BEGIN]) + math.sqrt(w.smallest_pivot[0])
    smallest = min(s.smallest_pivot[AT_BEGIN], w.smallest_pivot[0])
    across = math.sqrt(s.tried[SMALLEST_PIVOT]) < ACROSS * ends
    s.flags[CLOSE_BY] = w.near_singular[0] == 1 or across or smallest < 4.0 * NEAR * s.passage[LARGEST_PIVOT]
    s.smallest_pivot[AT_BEGIN] = w.smallest_pivot[0]
    s.passage[LARGEST_PIVOT] = max(s.passage[LARGEST_PIVOT], w.smallest_pivot[0])
    lost = s.tried[ERROR] * s.passage[LOOSE]
    if lost > 1.0:
        if s.passage[LOST] == 0.0:
            s.passage[FIRST_LOST] = time_end
        s.passage[LOST] = max(s.passage[LOST], lost)
    if s.flags[ENDS_AHEAD] == 1:
        s.tried[FACTOR] = AHEAD / GAP * s.passage[USUAL_STEP] / h  # the next step crosses the pose
        s.counts[AFTER_REJECTION] = 0
    elif s.passage[LOOSE] == 1.0 and s.flags[RETRIES] == 0:
        s.passage[USUAL_STEP] = h
    s.flags[RETRIES], s.passage[LOOSE] = 0, 1.0
    close = w.near_singular[0] == 1 or w.smallest_pivot[0] < NEAR * s.passage[LARGEST_PIVOT] or s.passage[OFF] > NEARLY
    s.passage[CROSSING_STEPS] = s.passage[CROSSING_STEPS] + 1.0 if close else 0.0


def projecting_part(judged, stepper, t, w, h, time_end, rtol, atol):  # type: ignore[no-untyped-def]
    """Project the end of a step, or have the step repeated: then ``s.flags[REPEATED]`` is 1; a code of an evaluation."""
    s = stepper
    s.flags[REPEATED] = 0
    patient = s.flags[RETRIES] < ATTEMPTS or s.passage[LOOSE] * (rtol + atol) < LOOSEST
    before, smallest, last = s.smallest_pivot[AT_BEGIN], s.tried[SMALLEST_PIVOT], w.smallest_pivot[0]
    largest = max(s.passage[LARGEST_PIVOT], before)
    explicit = s.passage[PROJECT_STAGES] > 0.0  # not radau
    near, nearer = NEAR * largest, NEARER * largest
    at_end = AT_END * largest if explicit else near
    crossed = smallest < DIP * min(before, last)  # a stage is nearer to a singular pose than both ends
    if judged != ACCEPTED:
        if smallest < near and crossed and patient:
            if explicit:
                evaluate_end(s, t, w, time_end)
            approach(s, w, h, place_of_pose(s, t, w, h, before, last))
        elif smallest < s.passage[PROJECT_STAGES] * s.passage[LARGEST_PIVOT] and w.near_singular[0] == 0:
            project_stages(s, w, True)
            repeat(s, h)
        return OK
    code = project(s, t, w, time_end)
    last = w.smallest_pivot[0]
    off = off_the_rows(s, w, rtol, atol)
    away = time_to_pose(h, before, last, crossed or code != OK)
    if patient and (code != OK or last < at_end < before or last < nearer):
        if code == OK and crossed:
            away = place_of_pose(s, t, w, h, before, last)
        too_close = last < nearer or away - h < TOO_CLOSE * AHEAD * s.passage[USUAL_STEP]
        if away > 0.0 and (s.flags[ENDS_AHEAD] == 0 or too_close):
            approach(s, w, h, away)
            return OK
        if code == OK and crossed and explicit:
            evaluate_end(s, t, w, time_end)
    elif patient and crossed and (smallest < near or s.passage[PROJECT_STAGES] > 0.0):
        away = place_of_pose(s, t, w, h, before, last)
        if not in_gap(s, away / h):
            approach(s, w, h, away)
            return OK
        if explicit:
            evaluate_end(s, t, w, time_end)
    if code == OK and off > 1.0:
        s.flags[RETRIES] += 1
        repeat(s, SHORTER * h)
        return OK
    if code == OK:
        if doubt(stepper, s, t, w, min(before, smallest, last), time_end):
            evaluate_end(s, t, w, time_end)
        accept(s, w, h, time_end)
        if s.passage[CROSSING_STEPS] > MAX_CROSSING_STEPS:
            return SINGULAR
    return code


PROJECTING_PART = LoopPart(projecting_part, (INTEGER,), (REAL, REAL, REAL, REAL))
