"""Joint limits that restrain a coordinate of a tree, in compiled code.

The angle of a hinge is its coordinate, but for sign and offset.  Its direction stays in a plane with the axis of the cone, and up
to some excess (``flat``) the cone's point in this plane is the nearest one: there the excess is the angle less that of the point.
A kernel of a tree (``codegen.compiler.tree``) has the moments of such limits by four constants each, which belong to a step.

The rules of one limit are functions of its ``LimitNumbers`` in a lane, for single runs and cases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Annotated, Any, NamedTuple

import numpy as np

from generated import law_cubic
from runtime.dynamics.lift import TreeData
from runtime.dynamics.limit_modes import SHARP, acts, beyond_sides, excesses_of, mode_after, mode_of
from runtime.dynamics.limits import EXCESS, MODE, PENDING, POTENTIAL, RIDGE, change_part, evaluate_law
from runtime.dynamics.sources import first_limit
from runtime.dynamics.switches import AUTO, FULL, INACTIVE
from runtime.jit.compilation import inlined
from runtime.jit.named_rows import Block, Fields, Row, with_lanes
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
    law: ModuleType = law_cubic


def constants_of_each(limits: Sequence[Any]) -> int:  # with a law each
    """Number of constants of each limit: those of a kernel and, beyond the law of the papers, those of its law."""
    own = [len(one.law.PARAMETERS) + 1 for one in limits if one.law is not law_cubic]
    return OF_LIMIT + max(own, default=0)


class LimitNumbers(Fields):
    """Numbers of limits in lanes: parameters, the sides of their modes, and how they change in the step of a case."""

    sign: Row
    offset: Row  # [rad]
    ahead: Row  # [rad] edges of the free range
    behind: Row
    flat_ahead: Row  # [rad] excess up to which the cone's points at these are the nearest
    flat_behind: Row
    middle: Row  # [rad] angle half a turn from the ridge, where the cone's nearest point changes its side
    ridge: Row  # [rad] half a turn, from the middle to the ridge; inf where other points are nearest before it
    max_moment: Row  # [N m] of cases
    compliance: Row  # [rad]
    damping: Row  # [N m s]
    mode: Row
    low: Row  # coordinates between which the mode holds
    high: Row
    start: Row  # [rad] how far the coordinate is outside of these at the start of the step
    ended: Row  # and at its end
    outside: Row  # sign of the coordinate outside, 0 for a limit that does not act
    farthest: Row  # [rad] product of sign and coordinate up to which its constants hold
    c0: Row  # cubic polynomial of the coordinate in the step
    c1: Row
    c2: Row
    c3: Row
    bend: Row  # factors of its difference to the quintic one
    tilt: Row


@with_lanes(1)
class LimitsAlong(NamedTuple):
    """Such limits of a single run, and what holds for the last step that was attempted with them."""

    q: Ints  # (limits,) place of the coordinate in the state
    own: Annotated[Floats, Block(LimitNumbers, table=True)]
    rows: Floats  # (4 limits, 1) constants of the kernel
    ready: Ints  # (1,) HERE or IN_STEPS: these belong to the modes of the limits; 0: they do not


def memory_of_limits(tree: TreeData, limits: Sequence[LimitAlong], rows: Floats) -> LimitsAlong:
    """Memory for limits of a tree."""
    own, names = LimitNumbers.block(1, len(limits)), LimitNumbers.names()
    for numbers, (_, sign, offset, edge, flat, _) in zip(own[:, :, 0], limits, strict=True):
        ridge = math.pi if meets(edge, flat) else math.inf
        numbers[: names.index("max_moment")] = sign, offset, *edge, *flat, 0.5 * (edge[0] - edge[1]), ridge
        numbers[names.index("farthest")] = np.inf
    return LimitsAlong(tree.q[[limit.step for limit in limits]], own, rows, np.zeros(1, np.int64))


def meets(edge: tuple[float, float], flat: tuple[float, float]) -> bool:
    """Whether the cone's points ahead and behind are the nearest ones up to the ridge, where both are as near.

    ``flat`` ends half a turn from the axis.  A point that is the nearest one at the ridge is so for all directions before it.
    """
    (ahead, behind), (flat_ahead, flat_behind) = edge, flat
    excess = math.pi - 0.5 * (ahead + behind)
    return min(excess, math.pi - ahead) < flat_ahead + MEET and min(excess, math.pi - behind) < flat_behind + MEET


@inlined
def turned_back(angle, middle):  # type: ignore[no-untyped-def]
    """An angle less whole turns, within half a turn of another."""
    turns = (angle - middle) * (0.5 / math.pi)
    return angle - 2.0 * math.pi * ((turns + WHOLE) - WHOLE)


@inlined
def excess_along(own, k, lane, q):  # type: ignore[no-untyped-def]
    """Angle of limit k at a coordinate, within half a turn of its middle, and its excess; below 0 inside [rad].

    The angle is above 0 where the cone's point ahead is the nearer one.
    """
    angle = turned_back(own.sign[k, lane] * q + own.offset[k, lane], own.middle[k, lane])
    return angle, abs(angle) - (own.ahead[k, lane] if angle > 0.0 else own.behind[k, lane])


@inlined
def mode_after_change(own, k, lane, mode, compliance, q):  # type: ignore[no-untyped-def]
    """Mode of limit k after the change that was located at a coordinate; at the ridge the same as before."""
    angle, excess = excess_along(own, k, lane, q)
    to_ridge = own.ridge[k, lane] - abs(angle - own.middle[k, lane])
    if acts(mode) and to_ridge < min(abs(excess), abs(excess - compliance)):
        return mode
    return mode_after(mode, excess, compliance)


@inlined
def at_ridge(k, z, w):  # type: ignore[no-untyped-def]
    """Whether limit k leaves its sides by its ridge where it leaves them at the coordinates z."""
    own, q = w.tree.limits.own, z[w.tree.limits.q[k]]
    off = 2.0 * q - own.low[k, 0] - own.high[k, 0]
    return w.limits.mode[k] == FULL and own.ridge[k, 0] < np.inf and own.outside[k, 0] * off > 0.0


@inlined
def change_limit(k, z, t, w):  # type: ignore[no-untyped-def]
    """Set the mode of limit k after the change that was located at the state z, or the part of its cone that it keeps."""
    m, along, mode, compliance = w.limits, w.tree.limits, w.limits.mode[k], t.limits.compliance[k]
    if len(along.q) > 0:
        m.mode[k] = mode_after_change(along.own, k, 0, mode, compliance, z[along.q[k]])
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
def sides_along(own, k, lane):  # type: ignore[no-untyped-def]
    """Coordinates between which limit k keeps the side of its mode."""
    return own.low[k, lane], own.high[k, lane]


@inlined
def sides_ahead(k, w):  # type: ignore[no-untyped-def]
    """Coordinates between which limit k keeps its mode, without its ridge."""
    own = w.tree.limits.own
    if w.limits.mode[k] == FULL and own.ridge[k, 0] < np.inf:
        return (own.low[k, 0], np.inf) if own.outside[k, 0] > 0.0 else (-np.inf, own.high[k, 0])
    return sides_along(own, k, 0)


@inlined
def over_along(z, w):  # type: ignore[no-untyped-def]
    """Fill ``Switches.over``: how far each limit is beyond the side of its mode, and its excess."""
    m = w.tree.limits
    for k in range(len(m.q)):
        _, w.limits.beyond[k] = excess_along(m.own, k, 0, z[m.q[k]])
        over = beyond_side(m.own, k, 0, z[m.q[k]])
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
def set_side(own, k, lane, mode, compliance, q):  # type: ignore[no-untyped-def]
    """Coordinates between which limit k keeps the side of a mode, near a coordinate; none in mode AUTO."""
    angle, _ = excess_along(own, k, lane, q)
    sign, ridge = own.sign[k, lane], own.ridge[k, lane]
    low, high = sides_of(excesses_of(mode, compliance), angle, own.ahead[k, lane], own.behind[k, lane], sign, q)
    if acts(mode) and ridge < np.inf:
        # Beyond the ridge the moment turns towards the other side: none of its parts is continued there.
        from_middle = sign * (angle - own.middle[k, lane])
        low, high = max(low, q - from_middle - ridge), min(high, q - from_middle + ridge)
    if mode == AUTO:
        low, high = np.inf, -np.inf
    own.low[k, lane], own.high[k, lane] = low, high


@inlined
def set_sides(z, t, w):  # type: ignore[no-untyped-def]
    """``set_side`` of all limits of a single run, near z."""
    m = w.tree.limits
    for k in range(len(m.q)):
        set_side(m.own, k, 0, w.limits.mode[k], t.limits.compliance[k], z[m.q[k]])


@inlined
def beyond_side(own, k, lane, q):  # type: ignore[no-untyped-def]
    """How far a coordinate is beyond the side of the mode of limit k [rad]; below 0 on that side."""
    return beyond_sides(q, sides_along(own, k, lane))


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
        if not stays_between(begin, end, h, sides_along(m.own, k, 0), k == aimed):
            return False
    return True


@inlined
def clear_limits(m):  # type: ignore[no-untyped-def]
    """Leave the limits to the equations of all bodies."""
    for c in range(len(m.rows)):
        m.rows[c, 0] = 0.0
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
    """``set_constants`` of limit k of a single run at z."""
    m, law = w.tree.limits, (t.limits.max_moment[k], t.limits.compliance[k], t.limits.damping[k])
    set_constants(m.own, k, 0, w.limits.mode[k], law, z[m.q[k]], m.rows, OF_LIMIT * k)


@inlined
def set_constants(own, k, lane, mode, law, q, constants, row):  # type: ignore[no-untyped-def]
    """Constants of limit k from a coordinate on, into rows of a column; False where the kernel does not know its excess.

    ``law``: largest moment, compliance and damping.
    """
    max_moment, compliance, damping = law
    for c in range(DAMPING):
        constants[row + c, lane] = 0.0
    constants[row + DAMPING, lane], own.farthest[k, lane] = damping, np.inf
    own.outside[k, lane] = 0.0
    angle, excess = excess_along(own, k, lane, q)
    if mode == AUTO:
        mode = mode_of(excess, compliance)
    if mode == INACTIVE:
        return True
    slope = own.sign[k, lane] if angle > 0.0 else -own.sign[k, lane]
    at_edge = excess - slope * q
    constants[row + A, lane], constants[row + B, lane] = slope / compliance, at_edge / compliance
    if mode == FULL:
        constants[row + A, lane], constants[row + B, lane] = 0.0, 1.0
    constants[row + MOMENT, lane], own.outside[k, lane] = slope * max_moment, slope
    if own.ridge[k, lane] < np.inf:
        return True
    most = own.flat_ahead[k, lane] if angle > 0.0 else own.flat_behind[k, lane]
    own.farthest[k, lane] = most - at_edge
    return excess <= most


@inlined
def holds_at(own, k, lane, q):  # type: ignore[no-untyped-def]
    """Whether the constants of limit k hold at a coordinate."""
    return not own.outside[k, lane] * q > own.farthest[k, lane]


@inlined
def limits_hold(z, w):  # type: ignore[no-untyped-def]
    """Whether the constants of the limits hold at the coordinates z; else the limits are left to the equations of all bodies."""
    m = w.tree.limits
    for k in range(len(m.q)):
        if not holds_at(m.own, k, 0, z[m.q[k]]):
            clear_limits(m)
            return False
    return True


@inlined
def store_limits(z, t, w):  # type: ignore[no-untyped-def]
    """Excess and potential of all limits at coordinates z, into the outputs of the limits."""
    m, of, outputs = w.tree.limits, t.limits, w.limits.outputs
    for k in range(len(m.q)):
        outputs[k, EXCESS] = outputs[k, POTENTIAL] = 0.0
        if m.own.outside[k, 0] == 0.0:
            continue
        _, outputs[k, EXCESS] = excess_along(m.own, k, 0, z[m.q[k]])
        evaluate_law(k, outputs[k, EXCESS] / of.compliance[k], of, w.limits)
        outputs[k, POTENTIAL] = of.max_moment[k] * of.compliance[k] * w.limits.pair[0]


@inlined
def powers_of_limits(rates, t, w):  # type: ignore[no-untyped-def]
    """Powers of all limits into ``w.power``, by the derivative of coordinates and rates."""
    m, first = w.tree.limits, first_limit(t)
    for k in range(len(m.q)):
        rate = rates[m.q[k]]
        w.power[first + k] = -t.limits.damping[k] * rate * rate
