"""Limits of motion that restrain a coordinate of a tree, in compiled code.

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
from runtime.dynamics.limit_modes import beyond_sides, excesses_of, mode_of
from runtime.dynamics.limits import EXCESS, POTENTIAL, evaluate_law
from runtime.dynamics.sources import first_limit
from runtime.dynamics.switches import AUTO, FULL, INACTIVE
from runtime.jit.compilation import inlined
from runtime.support.arrays import Floats, Ints

# Constants: relative excess a q + b, 1 beyond the end of the law; largest moment with the sign that q has outside; damping.
OF_LIMIT = 4
A, B, MOMENT, DAMPING = range(OF_LIMIT)
HERE, IN_STEPS = 1, 2  # constants hold at the last state; in the steps until a mode changes
CLEARLY = 1e-12  # [rad] more than the rounding of angles
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
        flat=np.array([limit.flat for limit in limits], float).reshape(-1, 2), rows=rows,
        outside=np.zeros(len(limits)), farthest=np.full(len(limits), np.inf),
        low=np.zeros(len(limits)), high=np.zeros(len(limits)), ready=np.zeros(1, np.int64),
    )  # fmt: skip


@inlined
def turned_back(angle):  # type: ignore[no-untyped-def]
    """An angle less whole turns, within half a turn."""
    turns = angle * (0.5 / math.pi)
    return angle - 2.0 * math.pi * ((turns + WHOLE) - WHOLE)


@inlined
def angle_of(k, m, z):  # type: ignore[no-untyped-def]
    """Angle of limit k, within half a turn."""
    return turned_back(m.sign[k] * z[m.q[k]] + m.offset[k])


@inlined
def excess_along(k, m, z):  # type: ignore[no-untyped-def]
    """Angle of limit k, and its excess; below 0 inside [rad]."""
    angle = angle_of(k, m, z)
    return angle, abs(angle) - m.edge[k, 0 if angle > 0.0 else 1]


@inlined
def over_along(z, w):  # type: ignore[no-untyped-def]
    """Fill ``Switches.over``: how far each limit is beyond the side of its mode, and its excess."""
    m = w.tree.limits
    for k in range(len(m.q)):
        _, w.limits.beyond[k] = excess_along(k, m, z)
        w.switches.over[k] = beyond_side(k, m, z)


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
        m.low[k], m.high[k] = sides_of(excesses, angle_of(k, m, z), m.edge[k, 0], m.edge[k, 1], m.sign[k], z[m.q[k]])
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
