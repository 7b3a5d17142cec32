"""Steps of a batch that were aimed at the change of a limit, and end near it."""

from __future__ import annotations

import math

from runtime.dynamics.limits_along import sides_along, stays_between
from runtime.integrate.aiming import PART, is_near
from runtime.integrate.batches.closing import square_of_change
from runtime.integrate.batches.equations import LARGEST_WORST, derive
from runtime.integrate.batches.forces import forces_in_steps
from runtime.integrate.batches.limits import change_mode, put_moment
from runtime.integrate.dop853_coefficients import STAGES
from runtime.integrate.surfaces import holds
from runtime.jit.compilation import inlined


@inlined
def end_is_near(m, lane, k):  # type: ignore[no-untyped-def]
    """Whether a lane's step ends near the change of limit k at which it was aimed, and no limit changes before."""
    x, h = m.limits, m.s.length[lane]
    for i in range(len(x.q)):
        e = x.q[i] * m.W + lane
        a, sides = x.u[i] * m.W + lane, sides_along(x.own, i, lane)
        begin, end = (m.y[e], m.k[0, e], m.k[0, a]), (m.end[e], m.k[STAGES, e], m.k[STAGES, a])
        if not stays_between(begin, end, h, sides, i == k):
            return False
    e = x.q[k] * m.W + lane
    low, high = sides_along(x.own, k, lane)
    outward = m.k[STAGES, e] * (1.0 if m.end[e] - high > low - m.end[e] else -1.0)
    off, acceleration = x.own.ended[k, lane], m.k[STAGES, x.u[k] * m.W + lane]
    return is_near(off, outward, acceleration, h) and holds(m, 0, lane)


@inlined
def turn_over(m, lane, k):  # type: ignore[no-untyped-def]
    """The other mode of limit k at the end of a lane's step, with its constants."""
    x, coordinate = m.limits, m.end[m.limits.q[k] * m.W + lane]
    change_mode(x.own, k, lane, coordinate)
    put_moment(x, k, x.own, lane, coordinate, m.constants)


@inlined
def land(m, address, rtol, atol):  # type: ignore[no-untyped-def]
    """Change the modes of limits at the ends of accurate steps that were aimed at their changes, where these are near.

    The ends of the steps then have the derivatives by the new modes.
    """
    x, s, found = m.limits, m.s, 0
    for lane in range(m.W):
        k = int(s.aimed[lane]) - 1
        if s.special[lane] * s.accepted[lane] > 0.0 and k >= 0 and end_is_near(m, lane, k):
            s.landed[lane] = 1.0
            turn_over(m, lane, k)
            found += 1
    if found == 0:
        return
    forces_in_steps(m, 1.0, m.end, m.trial)
    derive(m, address, m.end, m.forces.own, m.constants, m.trial)
    for lane in range(m.W):
        if s.landed[lane] == 0.0:
            continue
        k = int(s.aimed[lane]) - 1
        e = x.q[k] * m.W + lane
        s.checks[lane] += 1.0
        share = abs(x.own.ended[k, lane]) / (3.0 * abs(m.k[STAGES, e]))
        shift = math.sqrt(square_of_change(m, lane, m.trial, m.k[STAGES], rtol, atol))
        if m.worst[lane] < LARGEST_WORST and share * shift <= PART:
            for i in range(lane, len(m.y) - m.forces.angles_by[1] * m.W, m.W):
                m.k[STAGES, i] = m.trial[i]
            for i in range(len(x.q)):
                x.own.start[i, lane] = x.own.ended[i, lane] * (-1.0 if i == k else 1.0)
        else:
            s.landed[lane] = 0.0
            turn_over(m, lane, k)
