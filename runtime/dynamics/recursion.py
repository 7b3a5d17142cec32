"""Equations of motion of a tree by recursion over its steps, in compiled code: the cost grows with their number.

Featherstone (2008), Rigid Body Dynamics Algorithms, section 7.3, in global axes, about the point of each step.  The force f and
the moment n about its point by which the step moves what it carries are linear in the accelerations a of the point and alpha,
with applied forces in f_0 and n_0:

    n = J alpha + H a + n_0,    f = H^T alpha + M a + f_0

From the tips inwards a step without a force along its motion gives its rates in terms of the accelerations before it, and what is
left is added to the step before.  A ball leaves M and f_0 alone.  The inertia of a rotor along a turn or slide is added to
the pivot alone (the same book, section 9.6).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.kinematics import own_euler_rates
from runtime.dynamics.layout import NOT_FINITE, OK, SINGULAR
from runtime.dynamics.lift import BALL, FREE, GROUND_STEP, SLIDE, TURN
from runtime.dynamics.small_matrices import (
    add_nine,
    add_six,
    cross,
    cross_symmetric,
    dot,
    inverse_of,
    is_zero,
    less_product,
    less_square,
    minus,
    plus,
    plus_times,
    times,
    times_symmetric,
    transposed_times,
)
from runtime.jit.compilation import expanded, inlined
from runtime.jit.lane_vectors import choose
from runtime.jit.pointers import local
from runtime.jit.rows import put_row, row_of
from runtime.support.arrays import Floats

SMALLEST = 1e-13  # pivot, of the size of its row, below which the coordinates depend on each other


class RecursionWorkspace(NamedTuple):
    """Memory: of each step what it carries, and accelerations; of symmetric matrices the upper half, row by row."""

    J: Floats  # (n, 6)
    H: Floats  # (n, 9)
    M: Floats  # (n, 6); of a free step the inverse of what is left of M
    moment: Floats  # (n, 3) n_0
    force: Floats  # (n, 3) f_0
    turning: Floats  # (n, 3) alpha without the rates of the step
    moving: Floats  # (n, 3) a, likewise
    alpha: Floats  # (n + 1, 3)
    a: Floats  # (n + 1, 3)
    U: Floats  # (n, 6) J and H^T, or H and M, times the axis
    pivot: Floats  # (n,) its inverse
    along: Floats  # (n,) moment or force along the axis
    inverse: Floats  # (n, 6) of J of a ball


def recursion_workspace(steps: int) -> RecursionWorkspace:
    """Memory for a tree of so many steps."""
    n = steps
    return RecursionWorkspace(
        J=np.zeros((n, 6)), H=np.zeros((n, 9)), M=np.zeros((n, 6)), moment=np.zeros((n, 3)), force=np.zeros((n, 3)),
        turning=np.zeros((n, 3)), moving=np.zeros((n, 3)), alpha=np.zeros((n + 1, 3)), a=np.zeros((n + 1, 3)),
        U=np.zeros((n, 6)), pivot=np.zeros(n), along=np.zeros(n), inverse=np.zeros((n, 6)),
    )  # fmt: skip


@expanded
def carry_nothing(w, k):  # type: ignore[no-untyped-def]
    """Step k carries nothing yet."""
    six = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    put_row(w.J, k, six)
    put_row(w.H, k, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    put_row(w.M, k, six)
    put_row(w.moment, k, (0.0, 0.0, 0.0))
    put_row(w.force, k, (0.0, 0.0, 0.0))


@expanded
def carry(w, k, J, H, M, n, f):  # type: ignore[no-untyped-def]
    """Add to what step k carries."""
    put_row(w.J, k, add_six(row_of(w.J, k, 6), J))
    put_row(w.H, k, add_nine(row_of(w.H, k, 9), H))
    put_row(w.M, k, add_six(row_of(w.M, k, 6), M))
    put_row(w.moment, k, plus(row_of(w.moment, k, 3), n))
    put_row(w.force, k, plus(row_of(w.force, k, 3), f))


@expanded
def carried(t, s, w, on, k):  # type: ignore[no-untyped-def]
    """J, H, M, n_0 and f_0 of step k, with what it carries itself and the forces on that, in global axes.

    ``s``: poses after the steps; ``on``: force and moment on what each step carries.
    """
    J, H, M = row_of(w.J, k, 6), row_of(w.H, k, 9), row_of(w.M, k, 6)
    n = minus(row_of(w.moment, k, 3), row_of(on.moment, k, 3))
    force = minus(row_of(w.force, k, 3), row_of(on.force, k, 3))
    mass, own = t.mass[k], row_of(t.inertia, k, 9)
    if is_zero(mass) and is_zero(own[0] + own[4] + own[8]):  # between the turns of a joint
        return J, H, M, n, force
    A, omega = row_of(s.A, k, 9), row_of(s.omega, k, 3)
    a, b, c, d, e, f, g, h, i = A
    local = own[0], own[1], own[2], own[4], own[5], own[8]
    centre = times(A, row_of(t.moment, k, 3))
    # A I A^T by its rows A I
    p, q, r = times_symmetric(local, (a, b, c)), times_symmetric(local, (d, e, f)), times_symmetric(local, (g, h, i))
    turned = (
        dot(p, (a, b, c)), dot(p, (d, e, f)), dot(p, (g, h, i)), dot(q, (d, e, f)), dot(q, (g, h, i)), dot(r, (g, h, i)),
    )  # fmt: skip
    n = plus(n, cross(omega, times_symmetric(turned, omega)))
    force = plus(force, cross(omega, cross(omega, centre)))
    x, y, z = centre
    H = (H[0], H[1] - z, H[2] + y, H[3] + z, H[4], H[5] - x, H[6] - y, H[7] + x, H[8])
    return add_six(J, turned), H, (M[0] + mass, M[1], M[2], M[3] + mass, M[4], M[5] + mass), n, force


@expanded
def accelerations_of_rates(t, s, k):  # type: ignore[no-untyped-def]
    """The accelerations that the present rates give to step k: alpha and a."""
    b, kind, none = t.parent[k], t.kind[k], (0.0, 0.0, 0.0)
    if b == GROUND_STEP or kind == FREE:  # the ground does not turn
        return none, none
    omega, rate = row_of(s.omega, b, 3), row_of(s.rate, k, 3)
    along = cross(omega, row_of(s.way, k, 3))
    if kind == SLIDE:
        return none, cross(omega, plus_times(along, 2.0, rate))
    return cross(omega, rate), cross(omega, along)


@expanded
def eliminate_axis(w, k, axis, slides, armature, J, H, M, n, f):  # type: ignore[no-untyped-def]
    """Take the rate of a turn or slide out of the equations of step k; what is left, and the pivot as a fraction of its row.

    Only the rate of the step moves its rotor, so that the force along it is ``armature`` times its derivative.
    """
    if slides:
        Un, Uf = times(H, axis), times_symmetric(M, axis)
        pivot, along, size = dot(axis, Uf), dot(axis, f), M[0] + M[3] + M[5]
    else:
        Un, Uf = times_symmetric(J, axis), transposed_times(H, axis)
        pivot, along, size = dot(axis, Un), dot(axis, n), J[0] + J[3] + J[5]
    pivot, size = pivot + armature, size + armature
    inverse = 1.0 / pivot
    w.pivot[k], w.along[k] = inverse, along
    put_row(w.U, k, (Un[0], Un[1], Un[2], Uf[0], Uf[1], Uf[2]))
    a = Un[0] * inverse, Un[1] * inverse, Un[2] * inverse
    b = Uf[0] * inverse, Uf[1] * inverse, Uf[2] * inverse
    J, H, M = less_square(J, a, Un), less_product(H, a, Uf), less_square(M, b, Uf)
    return J, H, M, plus_times(n, -along, a), plus_times(f, -along, b), pivot / size


@expanded
def add_to(w, b, way, turning, moving, J, H, M, n, f):  # type: ignore[no-untyped-def]
    """Add what is left of a turn or slide to step b, whose point lies ``way`` before its own."""
    x, y, z = way
    f = plus(f, plus(times_symmetric(M, moving), transposed_times(H, turning)))
    n = plus(n, plus(times_symmetric(J, turning), times(H, moving)))
    if not (is_zero(x) and is_zero(y) and is_zero(z)):
        G = add_nine(H, cross_symmetric(way, M))
        J = (  # J + G tilde(way)^T + tilde(way) H^T
            J[0] + (y * G[2] - z * G[1]) + (y * H[2] - z * H[1]), J[1] + (z * G[0] - x * G[2]) + (y * H[5] - z * H[4]),
            J[2] + (x * G[1] - y * G[0]) + (y * H[8] - z * H[7]), J[3] + (z * G[3] - x * G[5]) + (z * H[3] - x * H[5]),
            J[4] + (x * G[4] - y * G[3]) + (z * H[6] - x * H[8]), J[5] + (x * G[7] - y * G[6]) + (x * H[7] - y * H[6]),
        )  # fmt: skip
        H, n = G, plus(n, cross(way, f))
    carry(w, b, J, H, M, n, f)


@expanded
def eliminate_ball(w, k, J, H, M, n, f):  # type: ignore[no-untyped-def]
    """Take the rates of a ball out of the equations of step k; M and f_0 that are left, and ``inverse_of`` J's fraction."""
    inverse, fraction = inverse_of(J)
    put_row(w.inverse, k, inverse)
    put_row(w.H, k, H)
    put_row(w.moment, k, n)
    a, b, c, d, e, g, h, i, j = H
    # The columns of J^-1 H
    p, q, r = (
        times_symmetric(inverse, (a, d, h)),
        times_symmetric(inverse, (b, e, i)),
        times_symmetric(inverse, (c, g, j)),
    )
    left = (
        M[0] - dot((a, d, h), p), M[1] - dot((a, d, h), q), M[2] - dot((a, d, h), r), M[3] - dot((b, e, i), q),
        M[4] - dot((b, e, i), r), M[5] - dot((c, g, j), r),
    )  # fmt: skip
    return left, minus(f, transposed_times(H, times_symmetric(inverse, n))), fraction


@expanded
def add_ball(w, b, way, moving, M, f):  # type: ignore[no-untyped-def]
    """Add what is left of a ball to step b, whose point lies ``way`` before its own."""
    x, y, z = way
    f = plus(f, times_symmetric(M, moving))
    G = cross_symmetric(way, M)
    J = (  # G tilde(way)^T
        y * G[2] - z * G[1], z * G[0] - x * G[2], x * G[1] - y * G[0], z * G[3] - x * G[5], x * G[4] - y * G[3],
        x * G[7] - y * G[6],
    )  # fmt: skip
    carry(w, b, J, G, M, cross(way, f), f)


@inlined
def inwards(t, s, w, on):  # type: ignore[no-untyped-def]
    """Eliminate the rates of all steps from the tips inwards; the smallest pivot as a fraction of its row."""
    t, s, w, steps, smallest = local(t), local(s), local(w), len(t.kind), 1.0
    for k in range(steps):
        carry_nothing(w, k)
    for k in range(steps - 1, -1, -1):
        kind, b = t.kind[k], t.parent[k]
        J, H, M, n, f = carried(t, s, w, on, k)
        turning, moving = accelerations_of_rates(t, s, k)
        way = row_of(s.way, k, 3)
        put_row(w.turning, k, turning)
        if kind == FREE:
            # The accelerations of a body that nothing holds, less those of gravity: J alpha + H a = -n, H^T alpha + M a = -f.
            M, f, _ = eliminate_ball(w, k, J, H, M, n, f)
            inverse, _ = inverse_of(M)
            put_row(w.M, k, inverse)
            put_row(w.moving, k, times_symmetric(inverse, (-f[0], -f[1], -f[2])))
            continue
        put_row(w.moving, k, moving)
        if kind == BALL:
            M, f, fraction = eliminate_ball(w, k, J, H, M, n, f)
            if b != GROUND_STEP:
                add_ball(w, b, way, moving, M, f)
        else:
            axis = row_of(s.axis, k, 3)
            J, H, M, n, f, fraction = eliminate_axis(w, k, axis, kind == SLIDE, t.armature[k], J, H, M, n, f)
            if b != GROUND_STEP:
                add_to(w, b, way, turning, moving, J, H, M, n, f)
        lesser = choose(fraction < smallest, fraction, smallest)
        smallest = choose(fraction == fraction, lesser, fraction)  # not a number from the first one on
    return smallest


@inlined
def outwards(t, s, w, z_dot):  # type: ignore[no-untyped-def]
    """Accelerations of all steps from the ground outwards, into ``z_dot``."""
    t, s, w = local(t), local(s), local(w)
    n, g = len(t.kind), (t.gravity[0], t.gravity[1], t.gravity[2])
    put_row(w.alpha, n, (0.0, 0.0, 0.0))
    put_row(w.a, n, (-g[0], -g[1], -g[2]))
    for k in range(n):
        b, kind, u = t.parent[k], t.kind[k], t.u[k]
        if b == GROUND_STEP:
            b = n
        before, a = row_of(w.alpha, b, 3), row_of(w.moving, k, 3)
        alpha = plus(before, row_of(w.turning, k, 3))
        if kind != FREE:
            a = plus(plus(row_of(w.a, b, 3), a), cross(before, row_of(s.way, k, 3)))
        if kind == TURN or kind == SLIDE:
            z_dot[u], alpha, a = move_along(s, w, w.along, k, kind, alpha, a)
        else:
            alpha = turn_freely(t, s, w, w.moment, k, alpha, a, z_dot)
        put_row(w.alpha, k, alpha)
        put_row(w.a, k, a)
        if kind == FREE:
            z_dot[u], z_dot[u + 1], z_dot[u + 2] = a[0] + g[0], a[1] + g[1], a[2] + g[2]


@expanded
def move_along(s, w, along, k, kind, alpha, a):  # type: ignore[no-untyped-def]
    """The rate of a turn or slide, and the accelerations beyond it, from those before it and its force or moment ``along``."""
    U, axis = row_of(w.U, k, 6), row_of(s.axis, k, 3)
    rate = -(along[k] + dot((U[0], U[1], U[2]), alpha) + dot((U[3], U[4], U[5]), a)) * w.pivot[k]
    if kind == TURN:
        return rate, plus_times(alpha, rate, axis), a
    return rate, alpha, plus_times(a, rate, axis)


@expanded
def turn_freely(t, s, w, moment, k, alpha, a, z_dot):  # type: ignore[no-untyped-def]
    """The angular acceleration of a ball or free body, J alpha + H a + n = 0 with n in ``moment``; its rates go to ``z_dot``."""
    u = t.u[k] + (3 if t.kind[k] == FREE else 0)
    right = plus(row_of(moment, k, 3), times(row_of(w.H, k, 9), a))
    found = times_symmetric(row_of(w.inverse, k, 6), (-right[0], -right[1], -right[2]))
    z_dot[u], z_dot[u + 1], z_dot[u + 2] = transposed_times(row_of(s.A, k, 9), minus(found, alpha))
    return found


@inlined
def rates_of_coordinates(t, z, z_dot):  # type: ignore[no-untyped-def]
    """Derivatives of the coordinates from the rates in z."""
    for k in range(len(t.kind)):
        kind, q, u = t.kind[k], t.q[k], t.u[k]
        if kind == TURN or kind == SLIDE:
            z_dot[q] = z[u]
            continue
        if kind == FREE:
            for c in range(3):
                z_dot[q + c] = z[u + c]
            q, u = q + 3, u + 3
        own_euler_rates(z[q : q + 4], z[u : u + 3], z_dot[q : q + 4])


@inlined
def tree_derivative(t, s, w, on, z, z_dot, smallest):  # type: ignore[no-untyped-def]
    """Put z' into ``z_dot``, after ``place_steps``, and the smallest pivot as a fraction of its row into ``smallest``; a code."""
    fraction = inwards(t, s, w, on)
    smallest[0] = fraction
    if not fraction > SMALLEST:
        return SINGULAR if fraction == fraction else NOT_FINITE
    outwards(t, s, w, z_dot)
    rates_of_coordinates(t, z, z_dot)
    return OK
