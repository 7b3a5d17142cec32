"""Limits of motion in compiled code: where a direction leaves its cone, and the force that this puts on both bodies.

The geometry of a limit, the curve of its cone, the separation of two directions and the work of the law are generated; here
they are put together:  dV/du = max_moment W'(delta / compliance) d delta/du  at the direction t of the cone nearest to u.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from generated import dispatch, law_cubic, separation
from runtime.cones import Floats, Pieces, maximum, nearest
from runtime.kernels import inlined
from runtime.structure import GROUND, Ints

CONSERVATIVE, PRINTED = 0, 1
LAWS = ("conservative", "printed")

# What an evaluation tells of a limit.
LATITUDE, LONGITUDE, MAXIMUM, EXCESS, POTENTIAL = range(5)
TOLD = 5


class LimitTables(NamedTuple):
    """The limits of a system as flat tables."""

    kind: Ints  # (limits,)
    body_i: Ints  # reference
    body_j: Ints  # moving
    law: Ints  # (limits,)
    max_moment: Floats  # (limits,) [N m]
    compliance: Floats  # (limits,) [rad]
    damping: Floats  # (limits,) [N m s]
    start: Ints  # (limits + 1,) where the pieces of each cone begin
    pieces: Pieces
    vector_limit: Ints  # (vectors,) body-fixed vectors: where they go in x, and what they are
    vector_place: Ints
    vector_body: Ints
    vector_local: Floats  # (vectors, 3)
    x: Floats  # (limits, X) parameters and held constants, at their places in x


class LimitWork(NamedTuple):
    """Memory of one evaluation of the limits."""

    x: Floats  # (limits, X)
    told: Floats  # (limits, TOLD)
    slope: Floats  # (limits, 3) dV/du
    u: Floats  # (3,) direction
    nearest: Floats  # (3,)
    curve: Floats  # (9,)
    separation: Floats  # (4,)
    top: Floats  # (3,)
    pair: Floats  # (2,)
    Q: Floats  # (12,)
    measured: Floats  # (3,)


def limit_work(t: LimitTables) -> LimitWork:
    """Memory for the limits of a system."""
    count = len(t.kind)
    return LimitWork(
        x=t.x.copy(), told=np.zeros((count, TOLD)), slope=np.zeros((count, 3)), u=np.zeros(3), nearest=np.zeros(3),
        curve=np.zeros(9), separation=np.zeros(4), top=np.zeros(3), pair=np.zeros(2), Q=np.zeros(12), measured=np.zeros(3),
    )  # fmt: skip


@inlined
def top_view(direction, to):  # type: ignore[no-untyped-def]
    """Latitude, then latitude and longitude as plane coordinates, of a direction in the joint's frame."""
    across = math.sqrt(direction[0] * direction[0] + direction[1] * direction[1])
    latitude = math.atan2(across, direction[2])
    to[0] = latitude
    to[1] = latitude * direction[0] / across if across > 0.0 else latitude
    to[2] = latitude * direction[1] / across if across > 0.0 else 0.0


@inlined
def restrain(u, k, t, w, told, slope):  # type: ignore[no-untyped-def]
    """Compare the direction u with cone k; put what there is to tell into ``told`` and dV/du into ``slope``."""
    top_view(u, w.top)
    latitude = w.top[0]
    longitude = math.atan2(u[1], u[0])
    if longitude < 0.0:
        longitude += 2.0 * math.pi
    first, last = t.start[k], t.start[k + 1]
    greatest = maximum(longitude, first, last, t.pieces, w.pair)
    told[LATITUDE], told[LONGITUDE], told[MAXIMUM] = latitude, longitude, greatest
    told[EXCESS] = told[POTENTIAL] = 0.0
    slope[0] = slope[1] = slope[2] = 0.0
    if not latitude > greatest:
        return
    nearest(u, first, last, t.pieces, w.curve, w.nearest)
    separation.separation(u, w.nearest, w.separation)
    excess, moment, work = w.separation[0], 0.0, 0.0
    if not excess > 0.0:
        return
    if t.law[k] == PRINTED:
        # Seed 003, Eqs. (32) and (33): the distance in the top view; u x n is shorter than 1 by the cosine of the excess.
        x_a, y_a = w.top[1], w.top[2]
        top_view(w.nearest, w.top)
        cosine, excess = math.cos(excess), math.sqrt((w.top[1] - x_a) ** 2 + (w.top[2] - y_a) ** 2)
        law_cubic.law(min(excess / t.compliance[k], 1.0), w.pair)
        moment = t.max_moment[k] * w.pair[1] * cosine
    else:
        x = excess / t.compliance[k]
        law_cubic.law(min(x, 1.0), w.pair)
        moment = t.max_moment[k] * w.pair[1]
        # Beyond the end of the law the moment stays what it is there.
        work = t.max_moment[k] * t.compliance[k] * (w.pair[0] + w.pair[1] * max(x - 1.0, 0.0))
    told[EXCESS], told[POTENTIAL] = excess, work
    for c in range(3):
        slope[c] = moment * w.separation[1 + c]


@inlined
def apply_limits(tables, w):  # type: ignore[no-untyped-def]
    """Add what the limits do to the accelerations ``w.free`` of the bodies without joints."""
    t, m = tables.limits, w.limits
    for n in range(len(t.vector_limit)):
        A, local, x, o = w.A[t.vector_body[n]], t.vector_local[n], m.x[t.vector_limit[n]], t.vector_place[n]
        to = x[o : o + 3]
        for k in range(3):
            to[k] = A[k, 0] * local[0] + A[k, 1] * local[1] + A[k, 2] * local[2]
    for k in range(len(t.kind)):
        i, j, slope, Q = t.body_i[k], t.body_j[k], m.slope[k], m.Q
        dispatch.direction(t.kind[k], w.state[i], w.state[j], m.x[k], m.u)
        restrain(m.u, k, t, m, m.told[k], slope)
        if m.told[k, EXCESS] == 0.0 and t.damping[k] == 0.0:
            continue
        dispatch.wrench(t.kind[k], w.state[i], w.state[j], m.x[k], slope, Q)
        for side in range(2):
            b = i if side == 0 else j
            if b == GROUND:
                continue
            free, K, inverse, o = w.free[b], w.inertia_inverse[b], 1.0 / tables.mass[b], 6 * side
            for c in range(3):
                free[c] += Q[o + c] * inverse
                free[3 + c] += K[c, 0] * Q[o + 3] + K[c, 1] * Q[o + 4] + K[c, 2] * Q[o + 5]
