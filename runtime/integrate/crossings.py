"""Events in compiled code, which are definitions or that bodies come to rest: their zeros in each step of a single run."""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.force_elements import REPORTS, evaluate_force, follow_force
from runtime.dynamics.kinematics import put_state, update_poses
from runtime.dynamics.layout import DERIVATIVE, OK, OMEGA, OVER, STATE, V
from runtime.dynamics.vectors import rotate_vectors
from runtime.integrate.dense_output import prepare_step, state_within
from runtime.integrate.event_search import UNKNOWN, find_zeros, may_pass, value_within
from runtime.integrate.lane_state import SAMPLES
from runtime.integrate.loop_parts import LoopPart
from runtime.integrate.stepping import Stepper, between_ends
from runtime.jit.by_memory import for_memory
from runtime.jit.compilation import compiled, inlined
from runtime.jit.pointers import call_at


@inlined
def above_rest(time, k, w):  # type: ignore[no-untyped-def]
    """The largest speed or acceleration of a body as a multiple of its limit, less 1; NaN where there are no accelerations."""
    e, motion, largest = w.events, w.motion, 0.0
    if call_at(e.evaluation[0], time, e.y, e.evaluation[2], e.evaluation[3], DERIVATIVE, e.y_dot) != OK:
        return np.nan
    for first in range(V, len(motion), STATE):
        for o in (first, first + OMEGA - V):
            speed = math.sqrt(motion[o] * motion[o] + motion[o + 1] * motion[o + 1] + motion[o + 2] * motion[o + 2])
            a, b, c = e.y_dot[o], e.y_dot[o + 1], e.y_dot[o + 2]
            largest = max(largest, speed / e.limits[k, 0], math.sqrt(a * a + b * b + c * c) / e.limits[k, 1])
    return largest - 1.0


@inlined
def evaluate_events(time, y, data, w):  # type: ignore[no-untyped-def]
    """Put the values of the events in a state into ``w.events.now``."""
    e, t, m = w.events, w.events.data, w.events.forces
    update_poses(y, data, w)
    rotate_vectors(t.vector_force, t.vector_place, t.vector_body, t.vector_local, w.A, m.x)
    for k in range(len(t.address)):
        evaluate_force(k, t, m, w.state)
        follow_force(k, t, m, w.state)  # states that are asked for are less than half a turn apart
    if e.evaluation[0] != 0:
        put_state(y, data, w, e.y)
        if data.counted > 0:  # likewise
            call_at(e.evaluation[1], time, e.y, e.evaluation[2], e.evaluation[3], OVER, e.y)
    for k in range(len(e.now)):
        e.now[k] = m.out[e.definition[k], REPORTS] if e.definition[k] >= 0 else above_rest(time, k, w)


@for_memory(value_within, Stepper)
def value_in_run(m, of, lane, k, x):  # type: ignore[no-untyped-def]
    """``value_within``."""
    t, w = of
    time = m.s.began[0] + x * m.s.length[0]
    state_within(m, t, w, time, m.trial)
    evaluate_events(time, m.trial, t, w)
    return w.events.now[k]


def crossings_part(m, t, w):  # type: ignore[no-untyped-def]
    """Find the zeros of the events in the last step; their number, or UNKNOWN.  ``m.trial`` is memory."""
    e, began, h, first = w.events, m.s.began[0], m.s.length[0], m.s.steps[0] == 1.0
    for q in range(SAMPLES + 1):
        if q == 0 and first:
            evaluate_events(began, m.y_old, t, w)
        elif q == SAMPLES:
            evaluate_events(m.s.time[0], m.y, t, w)
        elif q > 0:
            between_ends(m, q / SAMPLES, m.trial)
            evaluate_events(began + h * q / SAMPLES, m.trial, t, w)
        for k in range(len(e.value)):
            e.samples[q, k] = e.now[k] if q > 0 or first else e.value[k]
    for k in range(len(e.value)):
        e.value[k] = e.samples[SAMPLES, k]
    e.found[0] = 0
    if may_pass(m, e, 0, first):
        e.found[0] = UNKNOWN
        if prepare_step(m, t, w) == OK:
            e.found[0], _ = find_zeros(m, (t, w), e, 0, began, h, first)
    for c in range(e.found[0]):
        e.zeros[c, 1] = m.s.time[0] if e.zeros[c, 1] == 1.0 else began + e.zeros[c, 1] * h
    return e.found[0]


@compiled
def evaluate_events_once(time, y, t, w):  # type: ignore[no-untyped-def]
    """``evaluate_events``, called from Python."""
    evaluate_events(time, y, t, w)


CROSSINGS_PART = LoopPart(crossings_part)
