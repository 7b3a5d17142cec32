"""Where a step of the integrator crosses the cone of a limit of motion.

Where a direction leaves its cone, the moment begins with a bend that an error estimate would find by many rejected steps.
So a limit is taken as free while its direction is inside, and as held while it is outside; the step that crosses the cone
is taken again, up to there.
"""

from __future__ import annotations

import numpy as np

from runtime.dop853 import LENGTH, LOOKS, STAGES, T_OLD, interpolate, prepare_dense
from runtime.equations import OK, place_bodies
from runtime.kernels import inlined
from runtime.limits import AS_FOUND, FREE, HELD, outside

ON_CONE = 1e-9  # [rad] a direction this near to its cone is on it: the moment there is below 1e-13 of its maximum
FINDS = 40  # steps of the search for the crossing
GRAZE = 0.01  # [rad] a direction that seems to come this near between two looks is looked at there
NEARER = 3  # times, each with a tenth of the distance between looks


@inlined
def outside_at(y, t, w, out):  # type: ignore[no-untyped-def]
    """How far every direction is outside its cone in a state."""
    place_bodies(y, t, w)
    outside(t, w, out)


@inlined
def first_sides(s, t, w):  # type: ignore[no-untyped-def]
    """Take every limit as its direction is a little after the start, whose derivative is known: so none lies on its cone."""
    for i in range(len(s.y)):
        s.trial[i] = s.y[i] + 1e-6 * s.k[0, i]
    outside_at(s.trial, t, w, s.beyond)
    for k in range(len(s.beyond)):
        w.limits.mode[k] = FREE if s.beyond[k] < 0.0 else HELD
        s.seen[0, k] = s.beyond[k]


@inlined
def next_side(beyond, mode, landing):  # type: ignore[no-untyped-def]
    """How to take a limit after a step; one that was to end on its cone has crossed it."""
    near = -10.0 * ON_CONE if landing else ON_CONE
    if mode == FREE:
        return HELD if beyond > near else FREE
    if mode == HELD:
        return FREE if beyond < -near else HELD
    return FREE if beyond < 0.0 else HELD


@inlined
def change_sides(s, t, w, table, landing):  # type: ignore[no-untyped-def]
    """At the end of a step, take the limits that crossed their cones as they are now."""
    outside_at(s.y, t, w, s.beyond)
    changes = 0
    for k in range(len(s.beyond)):
        s.seen[0, k] = s.beyond[k]  # the next step begins there
        changes += next_side(s.beyond[k], w.limits.mode[k], landing) != w.limits.mode[k]
    if changes == 0:
        return
    prepare_dense(s, t, w, table)  # now, while the limits are as they were in the step
    for k in range(len(s.beyond)):
        w.limits.mode[k] = next_side(s.beyond[k], w.limits.mode[k], landing)


@inlined
def held(w):  # type: ignore[no-untyped-def]
    """1 if a limit is not free."""
    for k in range(len(w.limits.mode)):
        if w.limits.mode[k] != FREE:
            return 1
    return 0


@inlined
def over(beyond, mode):  # type: ignore[no-untyped-def]
    """How far a limit is on the other side than it is taken for; below 0 if it is not."""
    return beyond if mode == FREE else -beyond if mode == HELD else -np.inf


@inlined
def crossed(s, w):  # type: ignore[no-untyped-def]
    """The same, the largest of all limits at ``s.beyond``."""
    largest = -np.inf
    for k in range(len(s.beyond)):
        largest = max(largest, over(s.beyond[k], w.limits.mode[k]))
    return largest


@inlined
def between_ends(s, x, y):  # type: ignore[no-untyped-def]
    """Cubic Hermite interpolation of the last step, from its ends' states and derivatives."""
    h = s.time[LENGTH]
    for i in range(len(y)):
        a, b, slope_a, slope_b = s.y_old[i], s.y[i], h * s.k[0, i], h * s.k[STAGES, i]
        y[i] = a + x * (
            slope_a + x * (3.0 * (b - a) - 2.0 * slope_a - slope_b + x * (2.0 * (a - b) + slope_a + slope_b))
        )


@inlined
def vertex(x, width, before, here, after):  # type: ignore[no-untyped-def]
    """Where a parabola through three values at x - width, x and x + width is largest, or -1; and how large."""
    bend, rise = before - 2.0 * here + after, 0.5 * (after - before)
    if not (bend < 0.0 and abs(rise) <= -bend):
        return -1.0, 0.0
    return x - width * rise / bend, here - 0.5 * rise * rise / bend


@inlined
def graze(s, t, w):  # type: ignore[no-untyped-def]
    """A fraction of the last step at which a limit is on the other side although it is not at the looks; 2 if none is.

    Where a parabola through three looks comes near the cone, three nearer looks tell better, and so on.
    """
    for k in range(len(s.beyond)):
        mode = w.limits.mode[k]
        if mode == AS_FOUND:
            continue
        for q in range(1, LOOKS):
            values = over(s.seen[q - 1, k], mode), over(s.seen[q, k], mode), over(s.seen[q + 1, k], mode)
            x, top = vertex(q / LOOKS, 1.0 / LOOKS, values[0], values[1], values[2])
            width = 1.0 / LOOKS
            for _ in range(NEARER):
                if not (0.0 < x < 1.0 and top > -GRAZE):
                    break
                width *= 0.1
                before = here = after = 0.0
                for side in range(3):
                    place = min(max(x + (side - 1.0) * width, 0.0), 1.0)
                    between_ends(s, place, s.trial)
                    outside_at(s.trial, t, w, s.beyond)
                    after, here, before = over(s.beyond[k], mode), after, here
                    if after > 0.0:
                        return place
                x, top = vertex(x, width, before, here, after)
    return 2.0


@inlined
def first_crossing(s, t, w, table):  # type: ignore[no-untyped-def]
    """The fraction of the last step at which a limit is first on the other side than it is taken for; 2 if none is.

    Looked for at the end, at places between and where a direction seems to graze its cone; then found on the dense output.
    ``s.trial`` is memory.
    """
    lower, upper, value_lower, value_upper = 0.0, 2.0, 0.0, 0.0
    for q in range(1, LOOKS + FINDS + 1):
        if upper == 2.0:
            x = q / LOOKS
            between_ends(s, x, s.trial)
        else:
            # The secant, kept well inside the bracket.
            x = 0.5 * (lower + upper)
            if value_lower < 0.0 < value_upper:
                x = lower - value_lower * (upper - lower) / (value_upper - value_lower)
                x = min(max(x, lower + 1e-3 * (upper - lower)), upper - 1e-3 * (upper - lower))
            interpolate(s, s.time[T_OLD] + x * s.time[LENGTH], s.trial)
        outside_at(s.trial, t, w, s.beyond)
        value = crossed(s, w)
        if upper == 2.0:
            for k in range(len(s.beyond)):
                s.seen[q, k] = s.beyond[k]
            if value > (ON_CONE if q == LOOKS else 0.0):
                lower, upper = (q - 1.0) / LOOKS, x
            elif q == LOOKS:
                upper = graze(s, t, w)
                if upper == 2.0:
                    return 2.0
                lower = max(upper - 1.0 / LOOKS, 0.0)
            if upper < 2.0 and prepare_dense(s, t, w, table) != OK:
                return 2.0
        elif abs(value) <= ON_CONE:
            return x
        elif value > 0.0:
            upper, value_upper = x, value
        else:
            lower, value_lower = x, value
    return upper
