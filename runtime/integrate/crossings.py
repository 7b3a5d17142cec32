"""Events that are definitions, in compiled code: after each accepted step, whether one of them changed its sign in it."""

from __future__ import annotations

from runtime.dynamics.force_elements import REPORTS, evaluate_force
from runtime.dynamics.kinematics import update_poses
from runtime.dynamics.vectors import rotate_vectors
from runtime.integrate.loop_parts import LoopPart
from runtime.integrate.stepping import SAMPLES, between_ends
from runtime.jit.compilation import compiled, inlined


@inlined
def evaluate_events(y, data, w):  # type: ignore[no-untyped-def]
    """Put the values of the events in a state into the outputs of their definitions."""
    t, m = w.events.data, w.events.forces
    update_poses(y, data, w)
    rotate_vectors(t.vector_force, t.vector_place, t.vector_body, t.vector_local, w.A, m.x)
    for k in range(len(t.address)):
        evaluate_force(k, t, m, w.state)


@inlined
def crosses(w):  # type: ignore[no-untyped-def]
    """Keep the values of the events; 1 if one differs in sign from the value before it."""
    found = 0
    for k in range(len(w.events.value)):
        before, now = w.events.value[k], w.events.forces.out[k, REPORTS]
        if before < 0.0 <= now or before > 0.0 >= now or now != now:
            found = 1
        w.events.value[k] = now
    return found


def crossings_part(m, t, w):  # type: ignore[no-untyped-def]
    """1 if an event changes its sign in the last step, by its values at the end and at places between; ``s.trial`` is memory."""
    found = 0
    for q in range(1, len(m.sampled) - 1):
        between_ends(m, q / SAMPLES, m.trial)
        evaluate_events(m.trial, t, w)
        found |= crosses(w)
    evaluate_events(m.y, t, w)
    w.events.found[0] = found | crosses(w)
    return w.events.found[0]


@compiled
def evaluate_events_once(y, t, w):  # type: ignore[no-untyped-def]
    """The values of the events in a state, called from Python, as those at the end of the last step."""
    evaluate_events(y, t, w)
    for k in range(len(w.events.value)):
        w.events.value[k] = w.events.forces.out[k, REPORTS]


CROSSINGS_PART = LoopPart(crossings_part)
