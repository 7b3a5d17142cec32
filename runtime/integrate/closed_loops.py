"""Steps of systems with closed loops: projection onto the constraints, and the passage of singular poses, in compiled code.

In a singular pose rows of a closed loop become dependent, and branches of the motion may cross, as where a parallelogram linkage
lies flat.  On the smooth branch the accelerations are continuous, but their computation divides by the distance from the pose:
an error d of a state becomes an error d / distance, and rounding becomes rounding / distance^3 after a projection.  Therefore no
step ends close to a singular pose, the stages of a step across one are projected, and the length of such a step is chosen so
that the pose lies in the widest gap between the stages.
"""

from __future__ import annotations

import math
from typing import Any

import numba
from numba import types

from runtime.dynamics.equations import types_of
from runtime.dynamics.layout import DERIVATIVE, DERIVATIVE_ANEW, OK
from runtime.dynamics.model_data import ModelData
from runtime.dynamics.places import EVALUATION, PROJECTION
from runtime.integrate.step_control import ACCEPTED
from runtime.integrate.stepping import (
    AFTER_REJECTION,
    AT_BEGIN,
    ENDS_AHEAD,
    ERROR,
    EVALUATIONS,
    FACTOR,
    FIRST_LOST,
    LOOSE,
    LOST,
    NEXT_STEP,
    REJECTIONS,
    REPEATED,
    RETRIES,
    SMALLEST_PIVOT,
    USUAL_STEP,
    Stepper,
    norm_of,
)
from runtime.jit.compilation import inlined, place_of_address
from runtime.jit.pointers import Pointer, call_at

NEAR = 1e-4  # pivot ratio: the square of the distance [rad] from a singular pose within which no step ends
GAP = 0.467  # middle of the widest gap between the stages of DOP853, as a fraction of the step
# Of the usual step: the longest step across a singular pose, and how far ahead of the pose a step ends that would be longer.
LONGEST, AHEAD = 1.3, 0.4
# A projection that moves a state by more than this, in units of the tolerance, may lead to another branch: a shorter step is
# tried.  Near a singular pose rounding alone moves states by up to ``ROUNDING``.  So is a step at whose end a row is left
# unsatisfied by more than this |D v' - gamma|, in units of its size.
MAX_MOVE, ROUNDING, UNSATISFIED = 100.0, 1e-7, 1e-7
SHORTER = 0.5
NEARER = 1e-6  # as ``NEAR``, for a step that ends ahead of a pose by a part of the usual step
# Attempts to cross a singular pose with each tolerance, factor by which the tolerance is raised then, and how often.
ATTEMPTS, LOOSER, LOOSENED = 4, 30.0, 3


@inlined
def project(s, t, w, time_end):  # type: ignore[no-untyped-def]
    """Move the end of a step onto the constraints, and evaluate the derivative there; a code."""
    for i in range(len(s.y)):
        s.moved[i] = s.trial[i]
    call_at(w.address[PROJECTION], time_end, s.trial, t, w, w.near_singular[0], w.violation)
    for i in range(len(s.y)):
        s.moved[i] -= s.trial[i]
    s.counts[EVALUATIONS] += 1
    return call_at(
        w.address[EVALUATION], time_end, s.trial, t, w, DERIVATIVE_ANEW if t.redundant > 0 else DERIVATIVE, s.end
    )


@inlined
def time_to_pose(h, before, smallest, last):  # type: ignore[no-untyped-def]
    """Time from the begin of a step of length h to the singular pose, from the pivot ratios: at its begin, smallest, last.

    The square root of the smallest pivot ratio is proportional to the distance from the pose, which was crossed if a stage
    was nearer to it than the end.
    """
    a, b = math.sqrt(before), math.sqrt(max(last, 0.0))
    if smallest < last:
        return h * a / (a + b)
    return h * a / (a - b) if b < 0.9 * a else 10.0 * h


@inlined
def repeat(s, length):  # type: ignore[no-untyped-def]
    """Have the step repeated with another length."""
    s.flags[REPEATED] = 1
    s.counts[REJECTIONS] += 1
    s.counts[AFTER_REJECTION] = 1
    s.time[NEXT_STEP] = length


@inlined
def approach(s, w, h, before, smallest, last):  # type: ignore[no-untyped-def]
    """Have the step repeated across the singular pose, or up to a place ahead of it from where the next step can cross it."""
    s.flags[RETRIES] += 1
    if s.flags[RETRIES] % ATTEMPTS == 0:
        s.passage[LOOSE] *= LOOSER
    if s.passage[USUAL_STEP] == 0.0:
        s.passage[USUAL_STEP] = h
    usual = s.passage[USUAL_STEP]
    away = time_to_pose(h, before, smallest, last)
    across = away / GAP
    s.flags[ENDS_AHEAD] = across > LONGEST * usual
    if s.flags[ENDS_AHEAD] == 0:
        w.near_singular[0] = 1
        repeat(s, across)
    else:
        repeat(s, min(away - AHEAD * usual, usual))


def projecting_part(judged, s, t, w, h, time_end, rtol, atol):  # type: ignore[no-untyped-def]
    """Project the end of a step, or have the step repeated: then ``s.flags[REPEATED]`` is 1; a code of an evaluation."""
    s.flags[REPEATED] = 0
    patient = s.flags[RETRIES] < ATTEMPTS * (LOOSENED + 1)
    before, smallest, last = s.smallest_pivot[AT_BEGIN], s.tried[SMALLEST_PIVOT], w.smallest_pivot[0]
    if judged != ACCEPTED:
        if smallest < NEAR and patient:
            approach(s, w, h, before, smallest, last)
        return OK
    code = project(s, t, w, time_end)
    last = w.smallest_pivot[0]
    if (code != OK or last < (NEAR if s.flags[ENDS_AHEAD] == 0 else NEARER)) and patient:
        approach(s, w, h, before, smallest, last)
        return OK
    allowed = MAX_MOVE if w.near_singular[0] == 0 else max(MAX_MOVE, ROUNDING / (rtol + atol))
    if code == OK and (w.unsatisfied[0] > UNSATISFIED or norm_of(s.moved, s.trial, rtol, atol) > allowed):
        s.flags[RETRIES] += 1
        repeat(s, SHORTER * h)
        return OK
    if code == OK:
        s.flags[RETRIES] = 0
        s.smallest_pivot[AT_BEGIN] = last
        lost = s.tried[ERROR] * s.passage[LOOSE]
        if lost > 1.0:
            if s.passage[LOST] == 0.0:
                s.passage[FIRST_LOST] = time_end
            s.passage[LOST] = max(s.passage[LOST], lost)
        s.passage[LOOSE] = 1.0
        if s.flags[ENDS_AHEAD] == 1:
            s.tried[FACTOR] = AHEAD / GAP * s.passage[USUAL_STEP] / h  # the next step crosses the pose
            s.counts[AFTER_REJECTION] = 0
        elif w.near_singular[0] == 0:
            s.passage[USUAL_STEP] = h
        w.near_singular[0] = smallest < NEAR or s.flags[ENDS_AHEAD] == 1
        s.flags[ENDS_AHEAD] = 0
    return code


_SIGNATURES: dict[type, Any] = {}  # by the class of the method's memory


def place_of_projecting(s: Stepper, t: ModelData) -> int:
    """Place of the address of ``projecting_part`` for a method."""
    method = type(s.own)
    if method not in _SIGNATURES:
        real = types.float64
        _SIGNATURES[method] = types.int64(types.int64, Pointer(numba.typeof(s)), *types_of(t), real, real, real, real)
    return place_of_address(projecting_part, _SIGNATURES[method])
