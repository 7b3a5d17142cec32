"""Steps of limits in a batch without a change of mode: what is kept of them, and the beginnings of the next."""

from __future__ import annotations

from runtime.dynamics.limit_modes import beyond_sides
from runtime.integrate.aiming import FARTHEST, STRETCH
from runtime.integrate.dop853_coefficients import STAGES
from runtime.integrate.surfaces import keep_usual
from runtime.jit.compilation import columns, inlined


@columns
def go_on_with_limit(own, k, s):  # type: ignore[no-untyped-def]
    """Begin the next step of a limit where one was accepted without a change of mode."""
    for lane in range(s.W):
        taken = s.accepted[lane] - s.special[lane] > 0.0
        start, ended = own.start[k, lane], own.ended[k, lane]
        own.start[k, lane] = ended if taken else start


@columns
def keep_work(s):  # type: ignore[no-untyped-def]
    """Keep the work of the dampers where a step was accepted that was not special."""
    for lane in range(s.W):
        plain = s.accepted[lane] - s.special[lane] > 0.0
        s.damped[lane] += s.damped_now[lane] if plain else 0.0


@inlined
def keep_limits(m):  # type: ignore[no-untyped-def]
    """Begin the next step of limits where one was accepted that was not special."""
    if len(m.limits.q) > 0:
        keep_work(m.s)
        for k in range(len(m.limits.q)):
            go_on_with_limit(m.limits.own, k, m.s)


@columns
def screen_next(own, k, end, rate, acceleration, s):  # type: ignore[no-untyped-def]
    """Put a number of 0 or above into the row SOON of the lanes in whose next step a limit may change its mode.

    ``end``, ``rate`` and ``acceleration`` of its coordinate at the end of the step.
    """
    for lane in range(s.W):
        longest = min(STRETCH * s.next_length[lane], FARTHEST * s.length[lane])
        then = end[lane] + longest * (rate[lane] + 0.5 * longest * acceleration[lane])
        sides = own.low[k, lane], own.high[k, lane]
        soon, found = s.soon[lane], beyond_sides(then, sides)
        found = found if s.accepted[lane] - s.fresh[lane] > 0.0 else -1.0
        s.soon[lane] = found if found > soon else soon


@inlined
def look_ahead(m):  # type: ignore[no-untyped-def]
    """Find the lanes in whose next step a limit may change its mode."""
    keep_usual(m.s)
    for k in range(len(m.limits.q)):
        o, a = m.limits.q[k] * m.W, m.limits.u[k] * m.W
        screen_next(m.limits.own, k, m.end[o:], m.k[STAGES, o:], m.k[STAGES, a:], m.s)


@columns
def keep_usual_beside_contacts(s):  # type: ignore[no-untyped-def]
    """Keep the lengths of the accepted steps that were not special, where there are contacts."""
    for lane in range(s.W):
        plain = s.accepted[lane] - s.special[lane] > 0.0
        acts, h = s.active[lane] == 1.0, -s.length[lane]
        usual, usual_active = s.usual[lane], s.usual_active[lane]
        s.usual[lane] = h if plain and not acts else usual
        s.usual_active[lane] = h if plain and acts else usual_active
