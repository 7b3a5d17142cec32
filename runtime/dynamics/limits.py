"""Joint limits in compiled code: the angle by which a direction is outside its cone, and the moment on both bodies.

The geometry of a limit, the curve of its cone, the separation of two directions and the work of the law are generated; here
they are combined:  dV/du = max_moment W'(delta / compliance) d delta/du  at the direction t of the cone nearest to u.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from runtime.dynamics.cone_curve import Pieces, closeness, maximum, nearest, nearest_on_piece
from runtime.dynamics.kinematics import update_poses
from runtime.dynamics.layout import OK, OVER, REPORT
from runtime.dynamics.limit_modes import SHARP, acts, beyond_sides, excesses_of
from runtime.dynamics.loads import push_both
from runtime.dynamics.sources import first_limit
from runtime.dynamics.switches import ACTIVE, FULL, INACTIVE
from runtime.dynamics.vectors import rotate_vectors
from runtime.jit import addresses
from runtime.jit.compilation import compiled, inlined
from runtime.jit.kernels import dispatch, position, separation, top_view
from runtime.support.arrays import Floats, Ints

CONSERVATIVE, PRINTED = 0, 1
# In place of a piece: none; to be chosen; the vertex ahead, and one less the one behind.
NONE, PENDING, VERTEX = -1.0, -1.5, -2.0
AT_VERTEX = 1e-12  # half the square of the chord
MODE, JOINT, RIDGE = range(3)  # what a limit changes: its mode, the piece of its cone, or the part that is nearest
SAME_EXCESS = 1e-13  # [rad]
FAR = 0.5  # of the excess up to which a vertex is the nearest point: from here on it is kept beyond
LAWS = ("conservative", "as_published")
# Outputs of an evaluation of a limit.
LATITUDE, LONGITUDE, MAXIMUM, EXCESS, POTENTIAL = range(5)
OUTPUTS = 5


class LimitData(NamedTuple):
    """The limits of a system as flat arrays."""

    kind: Ints  # (limits,)
    body_i: Ints  # reference
    body_j: Ints  # moving
    law: Ints  # (limits,) CONSERVATIVE or PRINTED
    address: Ints  # (limits,) of the kernels of their laws, in this process
    constants: Floats  # (limits, C) the compliance, and the parameters of their laws
    max_moment: Floats  # (limits,) [N m]
    compliance: Floats  # (limits,) [rad]
    damping: Floats  # (limits,) [N m s]
    reach: Floats  # (limits,) cosine of the least latitude that leaves the cone
    ahead: Floats  # (limits, 2) plane direction towards which a hinge's angle is positive; 0 without a hinge
    flat: Floats  # (limits, 2) excess up to which the cone's point in the hinge's plane is the nearest: ahead, behind; 0 if never
    vertex: Floats  # (limits, 2, 3) that point
    start: Ints  # (limits + 1,) where the pieces of each cone begin
    pieces: Pieces
    vector_limit: Ints  # (vectors,) body-fixed vectors: their limit and place in x, and their components
    vector_place: Ints
    vector_body: Ints
    vector_local: Floats  # (vectors, 3)
    x: Floats  # (limits, X) parameters and held constants, at their places in x


class LimitWorkspace(NamedTuple):
    """Memory of one evaluation of the limits."""

    mode: Ints  # (limits,) part of ``Switches.mode``
    x: Floats  # (limits, X)
    outputs: Floats  # (limits, OUTPUTS)
    slope: Floats  # (limits, 3) dV/du
    u: Floats  # (3,) direction
    nearest: Floats  # (3,)
    curve: Floats  # (12,)
    separation: Floats  # (4,)
    position: Floats  # (8,)
    pair: Floats  # (3,)
    relative: Floats  # (1,) excess by compliance
    place: Floats  # (2,) piece of the cone's curve and parameter of the nearest direction; -1 where it is a vertex, or inside
    Q: Floats  # (12,)
    measured: Floats  # (3,)
    beyond: Floats  # (limits,) [rad] excess by which a mode is chosen; below 0, and far below the end of the law, in latitude
    # (limits, 2) part of the cone that an acting limit keeps: piece and parameter, or one of the vertices; below 0: none
    kept: Floats
    rival: Floats  # (limits, 2) that of another direction that was nearer
    cause: Ints  # (limits,) of ``Switches.over``: MODE, JOINT or RIDGE


def limit_workspace(t: LimitData, mode: Ints | None = None) -> LimitWorkspace:
    """Memory for the limits of a system, with their part of ``Switches.mode``, or all in mode AUTO."""
    count = len(t.kind)
    return LimitWorkspace(
        mode=np.zeros(count, np.int64) if mode is None else mode, x=t.x.copy(), outputs=np.zeros((count, OUTPUTS)),
        slope=np.zeros((count, 3)), u=np.zeros(3), nearest=np.zeros(3), curve=np.zeros(12), separation=np.zeros(4),
        position=np.zeros(8), pair=np.zeros(3), relative=np.zeros(1), place=np.zeros(2), Q=np.zeros(12), measured=np.zeros(3),
        beyond=np.zeros(count), kept=np.full((count, 2), NONE), rival=np.full((count, 2), NONE),
        cause=np.zeros(count, np.int64),
    )  # fmt: skip


@inlined
def locate(u, k, t, w, outputs):  # type: ignore[no-untyped-def]
    """Put latitude, longitude and maximum latitude of the direction u in cone k into ``outputs``; latitude beyond the cone [rad].

    ``w.position`` and ``w.pair`` then hold the gradients of latitude and longitude and the slope of the maximum.
    """
    position.position(u, w.position)
    latitude, longitude = w.position[0], w.position[1]
    if longitude < 0.0:
        longitude += 2.0 * math.pi
    greatest = maximum(longitude, t.start[k], t.start[k + 1], t.pieces, w.pair)
    outputs[LATITUDE], outputs[LONGITUDE], outputs[MAXIMUM] = latitude, longitude, greatest
    return latitude - greatest


@inlined
def find_nearest(u, k, kept, t, w):  # type: ignore[no-untyped-def]
    """Put the nearest direction into ``w.nearest``: on the piece ``kept``, or of the whole cone; its piece and parameter."""
    if kept >= 0.0:
        found, s = nearest_on_piece(u, int(kept), w.kept[k, 1], t.pieces, w.curve, w.nearest)
        if found:
            return int(kept), s
    return nearest(u, t.start[k], t.start[k + 1], t.pieces, w.curve, w.nearest)


@inlined
def measure_excess(u, k, t, w, outputs):  # type: ignore[no-untyped-def]
    """Angle by which the direction u is outside cone k, and its gradient in u, into ``w.separation``; False if it is inside.

    Inside, a limit that acts is continued by the distance in latitude, converted to an angle to first order, below zero.
    """
    w.place[0] = -1.0
    kept = w.kept[k, 0] if acts(w.mode[k]) else NONE
    side = 0 if u[0] * t.ahead[k, 0] + u[1] * t.ahead[k, 1] > 0.0 else 1
    if kept == VERTEX - (1 - side):  # of the other side
        separation.separation(u, t.vertex[k, 1 - side], w.separation)
        if w.separation[0] > FAR * t.flat[k, 1 - side]:
            for c in range(3):
                w.nearest[c] = t.vertex[k, 1 - side, c]
            return True
    vertex = t.vertex[k, side]
    if t.flat[k, side] > 0.0 and u[2] < vertex[2]:
        separation.separation(u, vertex, w.separation)
        if w.separation[0] <= t.flat[k, side] or kept == VERTEX - side:
            for c in range(3):
                w.nearest[c] = vertex[c]
            return w.separation[0] > 0.0
    beyond = locate(u, k, t, w, outputs)
    if beyond > 0.0:
        p, s = find_nearest(u, k, kept, t, w)
        w.place[0], w.place[1] = p, s
        separation.separation(u, w.nearest, w.separation)
        return w.separation[0] > 0.0
    if not acts(w.mode[k]):
        return False
    size = 0.0
    for c in range(3):
        w.separation[1 + c] = w.position[2 + c] - w.pair[1] * w.position[5 + c]
        size += w.separation[1 + c] * w.separation[1 + c]
        w.nearest[c] = u[c]
    size = math.sqrt(size)
    w.separation[0] = beyond / size
    for c in range(3):
        w.separation[1 + c] /= size
    return beyond < 0.0


@inlined
def excess_of_law(u, k, t, w):  # type: ignore[no-untyped-def]
    """Excess that enters the law of limit k, and the factor that shortens its moment, after ``measure_excess``."""
    if t.law[k] == PRINTED and w.separation[0] > 0.0:
        # Rodrigues da Silva et al. (2024b), Eqs. (32) and (33): the distance in the top view; u x n is shorter than 1 by the
        # cosine of the excess.
        top_view.top_view(u, w.nearest, w.position)
        return w.position[0], w.position[1]
    return w.separation[0], 1.0


@inlined
def evaluate_law(k, x, t, w):  # type: ignore[no-untyped-def]
    """Put work, moment and its slope of limit k at the relative excess x into ``w.pair``, per unit of the largest moment.

    Beyond the end of the law the moment keeps its value there; in the modes ACTIVE and FULL each part is continued.
    """
    mode, pair = w.mode[k], w.pair
    full = mode == FULL or (mode != ACTIVE and x > 1.0)
    w.relative[0] = 1.0 if full else x
    addresses.call(t.address[k], w.relative.ctypes.data, t.constants[k].ctypes.data, pair.ctypes.data)
    if full:
        pair[0] += pair[1] * (x - 1.0)
        pair[2] = 0.0


@inlined
def restrain(u, k, t, w, outputs, slope):  # type: ignore[no-untyped-def]
    """Put dV/du of limit k into ``slope``, its excess and potential into ``outputs``; 0 for a direction inside."""
    slope[0] = slope[1] = slope[2] = 0.0
    outputs[EXCESS] = outputs[POTENTIAL] = 0.0
    if not measure_excess(u, k, t, w, outputs):
        return
    excess, shortening = excess_of_law(u, k, t, w)
    evaluate_law(k, excess / t.compliance[k], t, w)
    moment = t.max_moment[k] * w.pair[1] * shortening
    if t.law[k] == CONSERVATIVE:
        outputs[POTENTIAL] = t.max_moment[k] * t.compliance[k] * w.pair[0]
    outputs[EXCESS] = excess
    for c in range(3):
        slope[c] = moment * w.separation[1 + c]


@inlined
def apply_limits(data, w, report):  # type: ignore[no-untyped-def]
    """Add the moments of the limits to ``w.wrench``.

    With ``report``, ``outputs`` is filled for directions inside their cones too.
    """
    t, m, first = data.limits, w.limits, first_limit(data)
    rotate_vectors(t.vector_limit, t.vector_place, t.vector_body, t.vector_local, w.A, m.x)
    for k in range(len(t.kind)):
        i, j, slope, Q = t.body_i[k], t.body_j[k], m.slope[k], m.Q
        m.outputs[k, EXCESS] = m.outputs[k, POTENTIAL] = slope[0] = slope[1] = slope[2] = w.power[first + k] = 0.0
        if m.mode[k] != INACTIVE:
            dispatch.direction(t.kind[k], w.state[i], w.state[j], m.x[k], m.u)
            if report:
                locate(m.u, k, t, m, m.outputs[k])
            # A direction whose cosine with zeta is above the least one that leaves the cone is inside.
            if m.u[2] < t.reach[k] or acts(m.mode[k]):
                restrain(m.u, k, t, m, m.outputs[k], slope)
        if m.outputs[k, EXCESS] == 0.0 and t.damping[k] == 0.0:
            continue
        dispatch.wrench(t.kind[k], w.state[i], w.state[j], m.x[k], slope, Q)
        power = push_both(i, j, Q, 0.0, w)
        if t.law[k] == PRINTED:
            w.power[first + k] = power
        elif t.damping[k] > 0.0:
            dispatch.measure(t.kind[k], w.state[i], w.state[j], m.x[k], slope, m.measured)
            w.power[first + k] = -t.damping[k] * m.measured[1] * m.measured[1]


@inlined
def past_part(k, t, m):  # type: ignore[no-untyped-def]
    """How far the direction ``m.u`` is past the part of its cone that limit k keeps [rad], and the cause, JOINT or RIDGE.

    It passes a joint with the end of the piece, and a ridge where another direction of the cone is nearer.
    """
    kept, past, own = m.kept[k, 0], -np.inf, 0.0
    if kept <= VERTEX:
        separation.separation(m.u, t.vertex[k, int(VERTEX - kept)], m.separation)
        own = m.separation[0]
        if own <= FAR * t.flat[k, int(VERTEX - kept)]:
            return -np.inf, RIDGE
    else:
        p = int(kept)
        found, s = nearest_on_piece(m.u, p, m.kept[k, 1], t.pieces, m.curve, m.nearest)
        if not found:
            return -np.inf, JOINT
        m.kept[k, 1] = s
        past = max(s - t.pieces.span[p, 1], t.pieces.span[p, 0] - s)
        if past > 0.0:
            return past, JOINT
        separation.separation(m.u, m.nearest, m.separation)
        own = m.separation[0]
    q, at = nearest(m.u, t.start[k], t.start[k + 1], t.pieces, m.curve, m.nearest)
    separation.separation(m.u, m.nearest, m.separation)
    nearer = own - m.separation[0]
    if nearer > SAME_EXCESS:
        m.rival[k, 0], m.rival[k, 1] = q, at
    elif m.rival[k, 0] >= 0.0:
        found, at = nearest_on_piece(m.u, int(m.rival[k, 0]), m.rival[k, 1], t.pieces, m.curve, m.nearest)
        separation.separation(m.u, m.nearest, m.separation)
        nearer = own - m.separation[0] if found else -np.inf
    else:
        nearer = -np.inf
    return (SHARP * nearer, RIDGE) if SHARP * nearer > past else (past, JOINT)


@inlined
def vertex_at(k, t, direction):  # type: ignore[no-untyped-def]
    """The vertex of limit k in a direction, in place of a piece, or NONE."""
    for side in range(2):
        if t.flat[k, side] > 0.0 and abs(closeness(direction, t.vertex[k, side])) < AT_VERTEX:
            return VERTEX - side
    return NONE


@inlined
def choose_part(k, t, m):  # type: ignore[no-untyped-def]
    """Choose the part of its cone that limit k keeps: where it is nearest to the direction ``m.u``."""
    p, s = nearest(m.u, t.start[k], t.start[k + 1], t.pieces, m.curve, m.nearest)
    vertex = vertex_at(k, t, m.nearest)
    m.kept[k, 0], m.kept[k, 1] = vertex if vertex != NONE else p, s
    m.rival[k, 0] = NONE


@inlined
def change_part(k, t, m):  # type: ignore[no-untyped-def]
    """The part that limit k keeps after a joint, the piece beside, or a ridge, the one that is nearer there."""
    p, s = m.kept[k, 0], m.kept[k, 1]
    if m.cause[k] == RIDGE:
        q = int(m.rival[k, 0])
        if q < 0:
            return
        dispatch.curve(t.pieces.kind[q], m.rival[k, 1], t.pieces.coefficients[q], m.curve)
        vertex = vertex_at(k, t, m.curve)
        m.kept[k, 0], m.kept[k, 1] = vertex if vertex != NONE else q, m.rival[k, 1]
        m.rival[k, 0], m.rival[k, 1] = p if p >= 0.0 else NONE, s
        return
    here, first, last = int(p), t.start[k], t.start[k + 1]
    if s - t.pieces.span[here, 0] > t.pieces.span[here, 1] - s:
        q = here + 1 if here + 1 < last else first
        m.kept[k, 0], m.kept[k, 1] = q, t.pieces.span[q, 0]
    else:
        q = here - 1 if here > first else last - 1
        m.kept[k, 0], m.kept[k, 1] = q, t.pieces.span[q, 1]
    m.rival[k, 0] = NONE


@inlined
def limit_over(data, w):  # type: ignore[no-untyped-def]
    """Fill ``Switches.over`` of the limits: how far each direction is beyond the side of its mode; after ``update_states``."""
    t, m = data.limits, w.limits
    rotate_vectors(t.vector_limit, t.vector_place, t.vector_body, t.vector_local, w.A, m.x)
    for k in range(len(t.kind)):
        i, j = t.body_i[k], t.body_j[k]
        dispatch.direction(t.kind[k], w.state[i], w.state[j], m.x[k], m.u)
        outside, compliance = locate(m.u, k, t, m, m.outputs[k]), t.compliance[k]
        beyond = outside
        near = (
            0.5 * compliance if t.law[k] == CONSERVATIVE else 0.0
        )  # the excess is at most the latitude beyond the cone
        if m.mode[k] != INACTIVE and beyond > near and measure_excess(m.u, k, t, m, m.outputs[k]):
            beyond, _ = excess_of_law(m.u, k, t, m)
        m.beyond[k] = beyond
        over = beyond_sides(beyond, excesses_of(m.mode[k], compliance))
        m.cause[k] = MODE
        if acts(m.mode[k]) and m.kept[k, 0] == PENDING:
            choose_part(k, t, m)
        if acts(m.mode[k]) and m.kept[k, 0] != NONE and outside > 0.0:
            past, cause = past_part(k, t, m)
            if past > over:
                over, m.cause[k] = past, cause
        w.switches.over[k] = over


def limits_part(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """``apply_limits`` as a part of the evaluation, or ``limit_over``."""
    if purpose == OVER:
        limit_over(t, w)
    else:
        apply_limits(t, w, purpose == REPORT)
    return OK


@compiled
def angles_of_limits(states, t, w, angles):  # type: ignore[no-untyped-def]
    """``measure_limits``, called from Python."""
    measure_limits(states, t, w, angles)


@inlined
def measure_limits(states, t, w, angles):  # type: ignore[no-untyped-def]
    """Angles (n, limits) [rad] of all limits in states (n, 13 bodies)."""
    m = w.limits
    for n in range(len(states)):
        update_poses(states[n], t, w)
        rotate_vectors(
            t.limits.vector_limit, t.limits.vector_place, t.limits.vector_body, t.limits.vector_local, w.A, m.x
        )
        for k in range(len(t.limits.kind)):
            i, j = w.state[t.limits.body_i[k]], w.state[t.limits.body_j[k]]
            dispatch.measure(t.limits.kind[k], i, j, m.x[k], m.slope[k], m.measured)
            angles[n, k] = m.measured[0]


@compiled
def restrain_all(u, t, w, outputs, moment):  # type: ignore[no-untyped-def]
    """Outputs (n, OUTPUTS) and restricting moments (n, 3) [N m] of the first limit for directions u (n, 3)."""
    for n in range(len(u)):
        slope = w.slope[0]
        restrain(u[n], 0, t, w, outputs[n], slope)
        moment[n, 0] = slope[1] * u[n, 2] - slope[2] * u[n, 1]
        moment[n, 1] = slope[2] * u[n, 0] - slope[0] * u[n, 2]
        moment[n, 2] = slope[0] * u[n, 1] - slope[1] * u[n, 0]
