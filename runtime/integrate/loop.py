"""The compiled march of a method: steps, their control, outputs, and landings on changes of limits and contacts.

Throughout a step every limit and contact is taken in one way (``runtime.integrate.switching``), so the equations are smooth in it.  A
step that was accurate enough but changed a side is not kept: it is tried again up to the change (LANDING counts the tries),
and kept when it ends there.  Only a kept step changes how things are taken, and its dense output is made before that.  The
length of a step cut short says nothing about the motion; so the usual lengths with all limits free and nothing touching, and
otherwise, are remembered (USUAL) and taken up again after a landing.
"""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.contacts import BLUR
from runtime.dynamics.equations import derivative
from runtime.dynamics.layout import NOT_FINITE, OK, SINGULAR
from runtime.integrate.stepping import (
    BODIES,
    BOUND,
    DENSE_READY,
    ERROR,
    EVALUATIONS,
    FACTOR,
    FOUND,
    LANDING,
    LENGTH,
    NEXT_OUTPUT,
    NEXT_STEP,
    REJECTED,
    REJECTIONS,
    SMALLEST_PIVOT,
    STARTED,
    STEP_ENDED,
    STEPS,
    T_OLD,
    USUAL,
    T,
    at_stability_bound,
    attempt,
    interpolate,
    normalise,
    prepare_dense,
)
from runtime.integrate.switching import (
    change_sides,
    first_contacts,
    first_crossing,
    first_sides,
    foremost,
    held,
    take_as_found,
)
from runtime.jit.cache import compiled, inlined
from runtime.jit.pointers import by_pointer

# Codes of ``advance``: no run's status bears these numbers, so that the two cannot be taken for each other.
RUNNING, FINISHED, STEP_TOO_SMALL, FAILED_SINGULAR, FAILED_NOT_FINITE = range(10, 15)
# A pivot of the constraints that falls to this fraction of its start is told: the run came close to a singular pose.
CLOSE_TO_SINGULAR = 1e-3
MIN_LANDING = 1e-12  # [s] times the larger of 1 and the time
MAX_LANDINGS = 4  # tries; then the step is taken with everything as it is found
FIRST_ORDER = 8  # of the method that Hairer's choice of the first step is made for
CLOSE, CLOSE_TIME = 1e-9, 1e-11  # of a step, [s]: how near its end a contact changes that it was to end at
FIRST_HELD = 0.05  # of the usual step: the first one with a limit held


@inlined
def start(s, t, w, end, rtol, atol, max_step):  # type: ignore[no-untyped-def]
    """First derivative and first step (Hairer's choice unless given); a code as of ``derivative``."""
    n, first_step = len(s.y), s.time[NEXT_STEP]
    code = derivative(s.time[T], s.y, t, w, s.begin)
    s.counts[EVALUATIONS] += 1
    if code == OK and len(w.contacts.mode) > 0:
        w.contacts.blur[0] = BLUR * (atol + rtol)
        first_contacts(s, t, w)
        code = derivative(s.time[T], s.y, t, w, s.begin)  # now with the speeds of the touch-downs there
        s.counts[EVALUATIONS] += 1
    if code != OK:
        return code
    s.smallest_pivot[0] = s.smallest_pivot[1] = w.smallest_pivot[0]
    if len(s.over) > 0:
        first_sides(s, t, w)
    for i in range(n):
        if not abs(s.begin[i]) < np.inf:
            return NOT_FINITE
    if first_step > 0.0:
        s.time[NEXT_STEP] = min(first_step, max_step)
        return OK
    d0 = d1 = 0.0
    for i in range(n):
        scale = atol + rtol * abs(s.y[i])
        d0 += (s.y[i] / scale) ** 2
        d1 += (s.begin[i] / scale) ** 2
    d0, d1 = math.sqrt(d0 / n), math.sqrt(d1 / n)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h = min(h, end - s.time[T], max_step)
    for i in range(n):
        s.trial[i] = s.y[i] + h * s.begin[i]
    code = derivative(s.time[T] + h, s.trial, t, w, s.end)
    s.counts[EVALUATIONS] += 1
    if code != OK:
        return code
    d2 = 0.0
    for i in range(n):
        scale = atol + rtol * abs(s.y[i])
        d2 += ((s.end[i] - s.begin[i]) / scale) ** 2
    d2 = math.sqrt(d2 / n) / h
    largest = max(d1, d2)
    second = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / FIRST_ORDER)
    s.time[NEXT_STEP] = min(100.0 * h, second, max_step)
    return OK


@inlined
def too_small(h, time, end):  # type: ignore[no-untyped-def]
    """The step is lost in the rounding of the times that the run passes."""
    return not h > 4.0 * np.spacing(max(abs(time), abs(end)))


@inlined
def landed(s, w, h):  # type: ignore[no-untyped-def]
    """From which fraction of a step on, a change in a step that was to end at it counts as its end."""
    if len(w.contacts.mode) == 0 or s.flags[LANDING] == MAX_LANDINGS - 1:
        return 0.9
    return 1.0 - max(CLOSE, CLOSE_TIME / h)


@compiled
def advance(s, t, w, end, rtol, atol, max_step, max_steps, outputs, out, record_t, record_y):  # type: ignore[no-untyped-def]
    """Up to ``max_steps`` accepted steps towards ``end``.

    ``outputs`` (m,) are the times wanted; states at those that were passed go to ``out`` (m, n).  Every step goes to
    ``record_t``, ``record_y`` unless they are empty.
    Returns RUNNING when the steps are used up or ``found`` is full, else why it stopped.
    """
    s, t, w = by_pointer(s), by_pointer(t), by_pointer(w)
    n = len(s.y)
    taken = 0
    switches = len(s.over) > 0
    if s.flags[STARTED] == 0:
        code = start(s, t, w, end, rtol, atol, max_step)
        if code != OK:
            return FAILED_SINGULAR if code & SINGULAR else FAILED_NOT_FINITE
        s.flags[STARTED] = 1
    while taken < max_steps and s.counts[FOUND] + len(w.contacts.mode) <= len(s.found):
        time, h = s.time[T], s.time[NEXT_STEP]
        if time >= end:
            return FINISHED
        if s.flags[STEP_ENDED] == 1:
            normalise(s.y, s.flags[BODIES])
            for i in range(n):
                s.begin[i] = s.end[i]
            s.flags[STEP_ENDED] = 0
        h = min(h, max_step)
        last = time + 1.01 * h >= end
        if last:
            h = end - time
        if too_small(h, time, end):
            return STEP_TOO_SMALL
        code = attempt(s, t, w, h, rtol, atol)
        error, factor, smallest_pivot = s.tried[ERROR], s.tried[FACTOR], s.tried[SMALLEST_PIVOT]
        if not error < np.inf:
            # A singular or non-finite stage: try a much shorter step, and give up when that does not help.
            if h < 1e-10 * max(1.0, abs(time)):
                return FAILED_SINGULAR if code & SINGULAR else FAILED_NOT_FINITE
            s.counts[REJECTIONS] += 1
            s.counts[REJECTED] = 1
            s.time[NEXT_STEP] = 0.1 * h
            continue
        if error > 1.0:
            s.counts[REJECTIONS] += 1
            s.counts[REJECTED] = 1
            s.time[NEXT_STEP] = h * min(1.0, factor)
            continue
        if code != OK:
            return FAILED_SINGULAR if code & SINGULAR else FAILED_NOT_FINITE
        for i in range(n):
            s.y_old[i] = s.y[i]
            s.y[i] = s.trial[i]
        s.time[T_OLD], s.time[LENGTH] = time, h
        s.flags[DENSE_READY] = 0
        if switches:
            landing, was_held = s.flags[LANDING] > 0, held(w)
            if not landing:
                s.time[USUAL + was_held] = h
            fraction = first_crossing(s, t, w) if s.flags[LANDING] < MAX_LANDINGS else 2.0
            if fraction <= 1.0 and fraction * h <= MIN_LANDING * max(1.0, abs(time)):
                fraction = 0.0  # the step begins on the cone, on the other side: take it so from the start
            again = fraction <= 1.0 and not (landing and fraction > landed(s, w, h))
            if again:
                for i in range(n):
                    s.y[i] = s.y_old[i]
            at = time if again else end if last else time + h
            first = foremost(s) if again else -1
            if (fraction == 0.0 or not again) and change_sides(s, t, w, landing or again, at, first) > 0:
                # The force of a contact may begin or end with a jump.
                code = derivative(at, s.y, t, w, s.begin if again else s.end)
                s.counts[EVALUATIONS] += 1
                if code != OK:
                    return FAILED_SINGULAR if code & SINGULAR else FAILED_NOT_FINITE
            if again:
                s.counts[REJECTIONS] += 1
                s.flags[LANDING] += 1
                s.time[NEXT_STEP] = fraction * h if fraction > 0.0 else h
                if s.flags[LANDING] == MAX_LANDINGS:
                    take_as_found(w)
                continue
            now_held = held(w)
            if landing and now_held != was_held:
                # After the crossing go on with steps as they were when it was so before.
                usual = s.time[USUAL + now_held]
                if usual == 0.0:
                    usual = s.time[USUAL + was_held] * (FIRST_HELD if now_held == 1 else 1.0)
                factor = usual / h
                s.counts[REJECTED] = 0
            s.flags[LANDING] = 0
        if smallest_pivot < s.smallest_pivot[1]:
            s.smallest_pivot[1], s.smallest_pivot[2] = smallest_pivot, time
        s.time[T] = end if last else time + h
        s.time[NEXT_STEP] = h * (min(1.0, factor) if s.counts[REJECTED] == 1 else factor)
        s.counts[REJECTED] = 0
        s.counts[STEPS] += 1
        s.counts[BOUND] += at_stability_bound(s)
        s.flags[STEP_ENDED] = 1
        taken += 1
        while s.counts[NEXT_OUTPUT] < len(outputs) and outputs[s.counts[NEXT_OUTPUT]] <= s.time[T]:
            wanted = s.counts[NEXT_OUTPUT]
            if prepare_dense(s, t, w) != OK:
                return FAILED_SINGULAR
            interpolate(s, outputs[wanted], out[wanted])
            s.counts[NEXT_OUTPUT] += 1
        if len(record_t) > 0:
            record_t[taken - 1] = s.time[T]
            for i in range(n):
                record_y[taken - 1, i] = s.y[i]
    return RUNNING if s.time[T] < end else FINISHED


@compiled
def interpolate_once(s, t, w, time, y):  # type: ignore[no-untyped-def]
    """State within the last step, called from Python."""
    s, t, w = by_pointer(s), by_pointer(t), by_pointer(w)
    code = prepare_dense(s, t, w)
    interpolate(s, time, y)
    return code
