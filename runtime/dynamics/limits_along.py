"""Joint limits that restrain a coordinate of a tree, in compiled code.

The angle of a hinge is its coordinate, but for sign and offset.  Its direction stays in a plane with the axis of the cone, and up
to some excess (``flat``) the cone's point in this plane is the nearest one: there the excess is the angle less that of the point.
A kernel of a tree (``codegen.compiler.tree``) has the moments of such limits by four constants each, which belong to a step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from runtime.dynamics.lift import TreeData
from runtime.dynamics.limit_modes import SHARP, acts, beyond_sides, excesses_of, mode_after, mode_of
from runtime.dynamics.limits import EXCESS, MODE, PENDING, POTENTIAL, RIDGE, change_part, evaluate_law
from runtime.dynamics.sources import first_limit
from runtime.dynamics.switches import AUTO, FULL, INACTIVE
from runtime.jit.compilation import inlined
from runtime.support.arrays import Floats, Ints

# Constants: relative excess a q + b, 1 beyond the end of the law; largest moment with the sign that q has outside; damping.
OF_LIMIT = 4
A, B, MOMENT, DAMPING = range(OF_LIMIT)
HERE, IN_STEPS = 1, 2  # constants hold at the last state; in the steps until a mode changes
CLEARLY = 1e-12  # [rad] more than the rounding of angles
MEET = 1e-5  # [rad] more than the error of the excesses ``flat``, which are found by halvings
WHOLE = 1.5 * 2.0**52  # the sum with it has no digits after the point


class LimitAlong(NamedTuple):
    """A limit whose angle is sign q + offset, with the coordinate q of a step; ahead and behind are its two sides."""

    step: int
    sign: float
    offset: float  # [rad]
    edge: tuple[float, float]  # [rad] angles of the cone's points in the plane of the hinge
    flat: tuple[float, float]  # [rad] excess up to which these are the nearest


class LimitsAlong(NamedTuple):
    """Such limits, and what holds for the last step that was attempted with them."""

    q: Ints  # (limits,) place of the coordinate in the state
    sign: Floats  # (limits,)
    offset: Floats  # (limits,)
    edge: Floats  # (limits, 2)
    flat: Floats  # (limits, 2)
    middle: Floats  # (limits,) [rad] angle half a turn from the ridge, where the cone's nearest point changes its side
    ridge: Floats  # (limits,) [rad] half a turn, from the middle to the ridge; inf where other points are nearest before it
    rows: Floats  # (limits, 4) constants of the kernel
    outside: Floats  # (limits,) sign of q outside; 0 for a limit that does not act
    farthest: Floats  # (limits,) [rad] outside times q up to which the constants hold
    low: Floats  # (limits,) coordinates between which a limit keeps the side of its mode
    high: Floats  # (limits,)
    ready: Ints  # (1,) HERE or IN_STEPS: these belong to the modes of the limits; 0: they do not


def memory_of_limits(tree: TreeData, limits: Sequence[LimitAlong], rows: Floats) -> LimitsAlong:
    """Memory for limits of a tree."""
    steps = [limit.step for limit in limits]
    return LimitsAlong(
        q=tree.q[steps], sign=np.array([limit.sign for limit in limits], float),
        offset=np.array([limit.offset for limit in limits], float),
        edge=np.array([limit.edge for limit in limits], float).reshape(-1, 2),
        flat=np.array([limit.flat for limit in limits], float).reshape(-1, 2),
        middle=np.array([0.5 * (limit.edge[0] - limit.edge[1]) for limit in limits], float),
        ridge=np.array([math.pi if meets(limit) else math.inf for limit in limits], float), rows=rows,
        outside=np.zeros(len(limits)), farthest=np.full(len(limits), np.inf),
        low=np.zeros(len(limits)), high=np.zeros(len(limits)), ready=np.zeros(1, np.int64),
    )  # fmt: skip


def meets(limit: LimitAlong) -> bool:
    """Whether the cone's points ahead and behind are the nearest ones up to the ridge, where both are as near.

    ``flat`` ends half a turn from the axis.  A point that is the nearest one at the ridge is so for all directions before it.
    """
    (ahead, behind), (flat_ahead, flat_behind) = limit.edge, limit.flat
    excess = math.pi - 0.5 * (ahead + behind)
    return min(excess, math.pi - ahead) < flat_ahead + MEET and min(excess, math.pi - behind) < flat_behind + MEET


@inlined
def turned_back(angle):  # type: ignore[no-untyped-def]
    """An angle less whole turns, within half a turn."""
    turns = angle * (0.5 / math.pi)
    return angle - 2.0 * math.pi * ((turns + WHOLE) - WHOLE)


@inlined
def angle_of(k, m, z):  # type: ignore[no-untyped-def]
    """Angle of limit k, within half a turn of its middle: above 0 where the cone's point ahead is the nearer one."""
    angle = m.sign[k] * z[m.q[k]] + m.offset[k]
    return angle + (turned_back(angle - m.middle[k]) - (angle - m.middle[k]))


@inlined
def excess_along(k, m, z):  # type: ignore[no-untyped-def]
    """Angle of limit k, and its excess; below 0 inside [rad]."""
    angle = angle_of(k, m, z)
    return angle, abs(angle) - m.edge[k, 0 if angle > 0.0 else 1]


@inlined
def mode_after_change(k, z, t, w):  # type: ignore[no-untyped-def]
    """Mode of limit k after the change that was located at the coordinates z; at the ridge the same as before."""
    m, mode, compliance = w.tree.limits, w.limits.mode[k], t.limits.compliance[k]
    angle, excess = excess_along(k, m, z)
    to_ridge = m.ridge[k] - abs(angle - m.middle[k])
    if acts(mode) and to_ridge < min(abs(excess), abs(excess - compliance)):
        return mode
    return mode_after(mode, excess, compliance)


@inlined
def at_ridge(k, z, w):  # type: ignore[no-untyped-def]
    """Whether limit k leaves its sides by its ridge where it leaves them at the coordinates z."""
    m, q = w.tree.limits, z[w.tree.limits.q[k]]
    return w.limits.mode[k] == FULL and m.ridge[k] < np.inf and m.outside[k] * (2.0 * q - m.low[k] - m.high[k]) > 0.0


@inlined
def change_limit(k, z, t, w):  # type: ignore[no-untyped-def]
    """Set the mode of limit k after the change that was located at the state z, or the part of its cone that it keeps."""
    m, mode, compliance = w.limits, w.limits.mode[k], t.limits.compliance[k]
    if len(w.tree.limits.q) > 0:
        m.mode[k] = mode_after_change(k, z, t, w)
    elif mode != AUTO and m.cause[k] != MODE:
        change_part(k, t.limits, m)
    else:
        m.mode[k] = mode_after(mode, m.beyond[k], compliance)
        if mode == AUTO or mode == INACTIVE:
            m.kept[k, 0] = PENDING


@inlined
def is_at_ridge(k, y, w):  # type: ignore[no-untyped-def]
    """Whether number k of the switches, where it changes at the state y, is a limit at its ridge."""
    if len(w.tree.limits.q) > 0:
        return at_ridge(k, y, w)
    return k < len(w.limits.mode) and acts(w.limits.mode[k]) and w.limits.cause[k] == RIDGE


@inlined
def sides_ahead(k, w):  # type: ignore[no-untyped-def]
    """Coordinates between which limit k keeps its mode, without its ridge."""
    m = w.tree.limits
    if w.limits.mode[k] == FULL and m.ridge[k] < np.inf:
        return (m.low[k], np.inf) if m.outside[k] > 0.0 else (-np.inf, m.high[k])
    return m.low[k], m.high[k]


@inlined
def over_along(z, w):  # type: ignore[no-untyped-def]
    """Fill ``Switches.over``: how far each limit is beyond the side of its mode, and its excess."""
    m = w.tree.limits
    for k in range(len(m.q)):
        _, w.limits.beyond[k] = excess_along(k, m, z)
        over = beyond_side(k, m, z)
        w.switches.over[k] = over * SHARP if over > 0.0 and at_ridge(k, z, w) else over


@inlined
def sides_of(excesses, angle, ahead, behind, sign, q):  # type: ignore[no-untyped-def]
    """Least and largest coordinate, near q with an angle, up to which a limit keeps the side of its mode (``excesses_of``)."""
    (below, above), whole = excesses, 2.0 * math.pi
    least, most = -behind, ahead
    if below >= 0.0 and angle > 0.0:
        least, most = ahead + below, min(ahead + above, whole - behind - below)
    elif below >= 0.0:
        least, most = -min(behind + above, whole - ahead - below), -behind - below
    if sign < 0.0:
        angle, least, most = -angle, -most, -least
    return q + (least - angle), q + (most - angle)


@inlined
def set_sides(z, t, w):  # type: ignore[no-untyped-def]
    """Coordinates between which the limits keep the sides of their modes, near z; none in mode AUTO."""
    m = w.tree.limits
    for k in range(len(m.q)):
        excesses = excesses_of(w.limits.mode[k], t.limits.compliance[k])
        angle, q = angle_of(k, m, z), z[m.q[k]]
        low, high = sides_of(excesses, angle, m.edge[k, 0], m.edge[k, 1], m.sign[k], q)
        m.low[k], m.high[k] = low, high
        if acts(w.limits.mode[k]) and m.ridge[k] < np.inf:
            # Beyond the ridge the moment turns towards the other side: none of its parts is continued there.
            from_middle = m.sign[k] * (angle - m.middle[k])
            m.low[k], m.high[k] = max(low, q - from_middle - m.ridge[k]), min(high, q - from_middle + m.ridge[k])
        if w.limits.mode[k] == AUTO:
            m.low[k], m.high[k] = np.inf, -np.inf


@inlined
def beyond_side(k, m, z):  # type: ignore[no-untyped-def]
    """How far limit k is beyond the side of its mode [rad]; below 0 on that side."""
    return beyond_sides(z[m.q[k]], (m.low[k], m.high[k]))


@inlined
def stays_between(begin, end, h, sides, aimed):  # type: ignore[no-untyped-def]
    """Whether the quintic polynomial of a coordinate in a step of length h surely stays between two sides after its begin.

    ``begin``, ``end``: its value, rate and acceleration there.  ``aimed``: it may leave them at its end.  It stays between the
    least and the largest of its six Bezier points.
    """
    fifth, twentieth = 0.2 * h, 0.05 * h * h
    a, d = begin[0] + fifth * begin[1], end[0] - fifth * end[1]
    b = a + fifth * begin[1] + twentieth * begin[2]
    c = d - fifth * end[1] + twentieth * end[2]
    last = d if aimed else end[0]
    least, most = min(min(a, b), min(c, d)), max(max(a, b), max(c, d))
    return min(least, last) > sides[0] + CLEARLY and max(most, last) < sides[1] - CLEARLY


@inlined
def keep_sides(z, z_end, rates, rates_end, h, w, aimed):  # type: ignore[no-untyped-def]
    """Whether no limit leaves the side of its mode on the quintic polynomials of a step of length h that begins there.

    ``rates``, ``rates_end``: derivatives of the states.  Limit ``aimed`` may leave its side at the end.
    """
    m, of_rates = w.tree.limits, w.tree.size[0] // 2
    for k in range(len(m.q)):
        q, a = m.q[k], m.q[k] + of_rates
        begin, end = (z[q], rates[q], rates[a]), (z_end[q], rates_end[q], rates_end[a])
        if not stays_between(begin, end, h, (m.low[k], m.high[k]), k == aimed):
            return False
    return True


@inlined
def clear_limits(m):  # type: ignore[no-untyped-def]
    """Leave the limits to the equations of all bodies."""
    for k in range(len(m.q)):
        for c in range(OF_LIMIT):
            m.rows[k, c] = 0.0
    m.ready[0] = 0


@inlined
def begin_limits(z, t, w):  # type: ignore[no-untyped-def]
    """``set_limits`` for a step from z on; False also for a limit whose mode may change in the step.

    Limits that keep their modes keep their sides, and so their constants.
    """
    m = w.tree.limits
    for k in range(len(m.q)):
        if w.limits.mode[k] == AUTO:
            clear_limits(m)
            return False
    if m.ready[0] != IN_STEPS and set_limits(z, t, w):
        m.ready[0] = IN_STEPS
    return m.ready[0] == IN_STEPS


@inlined
def set_limits(z, t, w):  # type: ignore[no-untyped-def]
    """Constants of the limits at z, by their modes; False where the kernel does not know these."""
    for k in range(len(w.tree.limits.q)):
        set_limit(k, z, t, w)
    w.tree.limits.ready[0] = HERE
    return limits_hold(z, w)


@inlined
def set_limit(k, z, t, w):  # type: ignore[no-untyped-def]
    """Constants of limit k at z."""
    m, of = w.tree.limits, t.limits
    row = m.rows[k]
    row[A] = row[B] = row[MOMENT] = m.outside[k] = 0.0
    row[DAMPING], m.farthest[k] = of.damping[k], np.inf
    angle, excess = excess_along(k, m, z)
    mode = w.limits.mode[k]
    if mode == AUTO:
        mode = mode_of(excess, of.compliance[k])
    if mode == INACTIVE:
        return
    slope = m.sign[k] if angle > 0.0 else -m.sign[k]
    at_edge = excess - slope * z[m.q[k]]
    row[A], row[B] = slope / of.compliance[k], at_edge / of.compliance[k]
    if mode == FULL:
        row[A], row[B] = 0.0, 1.0
    row[MOMENT], m.outside[k] = slope * of.max_moment[k], slope
    if m.ridge[k] == np.inf:
        m.farthest[k] = m.flat[k, 0 if angle > 0.0 else 1] - at_edge


@inlined
def limits_hold(z, w):  # type: ignore[no-untyped-def]
    """Whether the constants of the limits hold at the coordinates z; else the limits are left to the equations of all bodies."""
    m = w.tree.limits
    for k in range(len(m.q)):
        if m.outside[k] * z[m.q[k]] > m.farthest[k]:
            clear_limits(m)
            return False
    return True


@inlined
def store_limits(z, t, w):  # type: ignore[no-untyped-def]
    """Excess and potential of all limits at coordinates z, into the outputs of the limits."""
    m, of, outputs = w.tree.limits, t.limits, w.limits.outputs
    for k in range(len(m.q)):
        outputs[k, EXCESS] = outputs[k, POTENTIAL] = 0.0
        if m.outside[k] == 0.0:
            continue
        _, outputs[k, EXCESS] = excess_along(k, m, z)
        evaluate_law(outputs[k, EXCESS] / of.compliance[k], w.limits.mode[k], w.limits.pair)
        outputs[k, POTENTIAL] = of.max_moment[k] * of.compliance[k] * w.limits.pair[0]


@inlined
def powers_of_limits(rates, t, w):  # type: ignore[no-untyped-def]
    """Powers of all limits into ``w.power``, by the derivative of coordinates and rates."""
    m, first = w.tree.limits, first_limit(t)
    for k in range(len(m.q)):
        rate = rates[m.q[k]]
        w.power[first + k] = -t.limits.damping[k] * rate * rate
