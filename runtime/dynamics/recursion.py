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

from runtime.dynamics.kinematics import euler_rates
from runtime.dynamics.layout import NOT_FINITE, OK, SINGULAR
from runtime.dynamics.lift import BALL, FREE, GROUND_STEP, SLIDE, TURN, add_cross, turned
from runtime.jit.compilation import inlined
from runtime.support.arrays import Floats

SMALLEST = 1e-13  # pivot, of the size of its row, below which the coordinates depend on each other


class RecursionWorkspace(NamedTuple):
    """Memory: of each step what it carries, and accelerations."""

    J: Floats  # (n, 3, 3)
    H: Floats  # (n, 3, 3)
    M: Floats  # (n, 3, 3)
    moment: Floats  # (n, 3) n_0
    force: Floats  # (n, 3) f_0
    turning: Floats  # (n, 3) alpha without the rates of the step
    moving: Floats  # (n, 3) a, likewise
    alpha: Floats  # (n + 1, 3)
    a: Floats  # (n + 1, 3)
    U: Floats  # (n, 2, 3) J and H^T, or H and M, times the axis
    pivot: Floats  # (n,) its inverse
    along: Floats  # (n,) moment or force along the axis
    inverse: Floats  # (n, 3, 3) of J of a ball
    B: Floats  # (2, 3, 3)
    vector: Floats  # (4, 3)


def recursion_workspace(steps: int) -> RecursionWorkspace:
    """Memory for a tree of so many steps."""
    n = steps
    square = (n, 3, 3)
    return RecursionWorkspace(
        J=np.zeros(square), H=np.zeros(square), M=np.zeros(square), moment=np.zeros((n, 3)), force=np.zeros((n, 3)),
        turning=np.zeros((n, 3)), moving=np.zeros((n, 3)), alpha=np.zeros((n + 1, 3)), a=np.zeros((n + 1, 3)),
        U=np.zeros((n, 2, 3)), pivot=np.zeros(n), along=np.zeros(n), inverse=np.zeros(square), B=np.zeros((2, 3, 3)),
        vector=np.zeros((4, 3)),
    )  # fmt: skip


@inlined
def dot(a, b):  # type: ignore[no-untyped-def]
    """Product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def transposed_times(A, v, out):  # type: ignore[no-untyped-def]
    """A^T v."""
    for r in range(3):
        out[r] = A[0, r] * v[0] + A[1, r] * v[1] + A[2, r] * v[2]


@inlined
def nine(A):  # type: ignore[no-untyped-def]
    """The numbers of a matrix, row by row, for registers: memory may change with every store, as far as the compiler knows."""
    return A[0, 0], A[0, 1], A[0, 2], A[1, 0], A[1, 1], A[1, 2], A[2, 0], A[2, 1], A[2, 2]


@inlined
def six(A):  # type: ignore[no-untyped-def]
    """The upper half of a symmetric matrix, row by row."""
    return A[0, 0], A[0, 1], A[0, 2], A[1, 1], A[1, 2], A[2, 2]


@inlined
def put_symmetric(of, A):  # type: ignore[no-untyped-def]
    """Store a symmetric matrix by its upper half."""
    A[0, 0], A[0, 1], A[0, 2] = of[0], of[1], of[2]
    A[1, 0], A[1, 1], A[1, 2] = of[1], of[3], of[4]
    A[2, 0], A[2, 1], A[2, 2] = of[2], of[4], of[5]


@inlined
def times_symmetric(of, x, y, z):  # type: ignore[no-untyped-def]
    """A symmetric matrix, by its upper half, times a vector."""
    return of[0] * x + of[1] * y + of[2] * z, of[1] * x + of[3] * y + of[4] * z, of[2] * x + of[4] * y + of[5] * z


@inlined
def cross(a, b):  # type: ignore[no-untyped-def]
    """The cross product of two vectors."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def own_inertia(t, s, w, on, k):  # type: ignore[no-untyped-def]
    """What step k itself carries, in global axes, and the forces of its velocities less those on it.

    ``s``: poses after the steps; ``on``: force and moment on what each step carries.
    """
    a, b, c, d, e, f, g, h, i = nine(s.A[k])
    local, m, omega = six(t.inertia[k]), t.moment[k], (s.omega[k, 0], s.omega[k, 1], s.omega[k, 2])
    x, y, z = a * m[0] + b * m[1] + c * m[2], d * m[0] + e * m[1] + f * m[2], g * m[0] + h * m[1] + i * m[2]
    # A I A^T by its rows A I
    p, q, r = times_symmetric(local, a, b, c), times_symmetric(local, d, e, f), times_symmetric(local, g, h, i)
    J = (
        p[0] * a + p[1] * b + p[2] * c, p[0] * d + p[1] * e + p[2] * f, p[0] * g + p[1] * h + p[2] * i,
        q[0] * d + q[1] * e + q[2] * f, q[0] * g + q[1] * h + q[2] * i, r[0] * g + r[1] * h + r[2] * i,
    )  # fmt: skip
    gyroscopic = cross(omega, times_symmetric(J, omega[0], omega[1], omega[2]))
    centrifugal = cross(omega, cross(omega, (x, y, z)))
    H, M, n, force, n_on, f_on = w.H[k], w.M[k], w.moment[k], w.force[k], on.moment[k], on.force[k]
    n[0], n[1], n[2] = gyroscopic[0] - n_on[0], gyroscopic[1] - n_on[1], gyroscopic[2] - n_on[2]
    force[0], force[1], force[2] = centrifugal[0] - f_on[0], centrifugal[1] - f_on[1], centrifugal[2] - f_on[2]
    put_symmetric(J, w.J[k])
    H[0, 0], H[0, 1], H[0, 2] = 0.0, -z, y
    H[1, 0], H[1, 1], H[1, 2] = z, 0.0, -x
    H[2, 0], H[2, 1], H[2, 2] = -y, x, 0.0
    put_symmetric((t.mass[k], 0.0, 0.0, t.mass[k], 0.0, t.mass[k]), M)


@inlined
def accelerations_of_rates(t, s, w, k):  # type: ignore[no-untyped-def]
    """The accelerations that the present rates give to step k."""
    b = t.parent[k]
    omega = s.omega[len(t.kind) if b == GROUND_STEP else b]
    along, kind = w.vector[0], t.kind[k]
    for c in range(3):
        w.turning[k, c] = w.moving[k, c] = along[c] = 0.0
    if kind == FREE:
        return
    add_cross(omega, s.way[k], along)
    if kind == SLIDE:
        for c in range(3):
            along[c] += 2.0 * s.rate[k, c]
    else:
        add_cross(omega, s.rate[k], w.turning[k])
    add_cross(omega, along, w.moving[k])


@inlined
def eliminate_axis(w, k, axis, slides, armature):  # type: ignore[no-untyped-def]
    """Take the rate of a turn or slide out of the equations of step k; its pivot.

    Only the rate of the step moves its rotor, so that the force along it is ``armature`` times its derivative.
    """
    J, H, M, n, f = w.J[k], w.H[k], w.M[k], w.moment[k], w.force[k]
    Un, Uf = w.U[k, 0], w.U[k, 1]
    if slides:
        turned(H, axis, Un)
        turned(M, axis, Uf)
        pivot, along = dot(axis, Uf), dot(axis, f)
    else:
        turned(J, axis, Un)
        transposed_times(H, axis, Uf)
        pivot, along = dot(axis, Un), dot(axis, n)
    pivot += armature
    inverse = 1.0 / pivot
    w.pivot[k], w.along[k] = inverse, along
    for r in range(3):
        a, b = Un[r] * inverse, Uf[r] * inverse
        for c in range(3):
            J[r, c] -= a * Un[c]
            H[r, c] -= a * Uf[c]
            M[r, c] -= b * Uf[c]
        n[r] -= a * along
        f[r] -= b * along
    return pivot


@inlined
def invert(J, out):  # type: ignore[no-untyped-def]
    """The inverse of a symmetric matrix; its determinant as a fraction of the product of its diagonal."""
    a, b, c, d, e, f = J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]
    A, B, C = d * f - e * e, c * e - b * f, b * e - c * d
    determinant = a * A + b * B + c * C
    s = 1.0 / determinant
    out[0, 0], out[0, 1], out[0, 2] = A * s, B * s, C * s
    out[1, 1], out[1, 2], out[2, 2] = (a * f - c * c) * s, (b * c - a * e) * s, (a * d - b * b) * s
    out[1, 0], out[2, 0], out[2, 1] = out[0, 1], out[0, 2], out[1, 2]
    return determinant / (a * d * f)


@inlined
def eliminate_ball(w, k):  # type: ignore[no-untyped-def]
    """Take the rates of a ball out of the equations of step k; as ``invert``, with what is left: M (its upper half) and f_0."""
    K, n, f = w.inverse[k], w.moment[k], w.force[k]
    fraction = invert(w.J[k], K)
    inverse, M = six(K), six(w.M[k])
    a, b, c, d, e, g, h, i, j = nine(w.H[k])
    # The columns of J^-1 H, and J^-1 n
    p, q, r = times_symmetric(inverse, a, d, h), times_symmetric(inverse, b, e, i), times_symmetric(inverse, c, g, j)
    o = times_symmetric(inverse, n[0], n[1], n[2])
    left = (
        M[0] - (a * p[0] + d * p[1] + h * p[2]), M[1] - (a * q[0] + d * q[1] + h * q[2]),
        M[2] - (a * r[0] + d * r[1] + h * r[2]), M[3] - (b * q[0] + e * q[1] + i * q[2]),
        M[4] - (b * r[0] + e * r[1] + i * r[2]), M[5] - (c * r[0] + g * r[1] + j * r[2]),
    )  # fmt: skip
    force = (
        f[0] - (a * o[0] + d * o[1] + h * o[2]), f[1] - (b * o[0] + e * o[1] + i * o[2]),
        f[2] - (c * o[0] + g * o[1] + j * o[2]),
    )  # fmt: skip
    return fraction, left, force


@inlined
def add_ball(w, k, b, way, M, f):  # type: ignore[no-untyped-def]
    """Add what ``eliminate_ball`` has left of step k to step b, whose point lies ``way`` before that of k."""
    x, y, z = way[0], way[1], way[2]
    on = times_symmetric(M, w.moving[k, 0], w.moving[k, 1], w.moving[k, 2])
    force = f[0] + on[0], f[1] + on[1], f[2] + on[2]
    moment = cross((x, y, z), force)
    # The rows of tilde(way) M
    p, q, r = (
        (y * M[2] - z * M[1], y * M[4] - z * M[3], y * M[5] - z * M[4]),
        (z * M[0] - x * M[2], z * M[1] - x * M[4], z * M[2] - x * M[5]),
        (x * M[1] - y * M[0], x * M[3] - y * M[1], x * M[4] - y * M[2]),
    )
    J, H, N, n, g = six(w.J[b]), w.H[b], six(w.M[b]), w.moment[b], w.force[b]
    J = (  # less tilde(way) M tilde(way)
        J[0] + (y * p[2] - z * p[1]), J[1] + (z * p[0] - x * p[2]), J[2] + (x * p[1] - y * p[0]),
        J[3] + (z * q[0] - x * q[2]), J[4] + (x * q[1] - y * q[0]), J[5] + (x * r[1] - y * r[0]),
    )  # fmt: skip
    put_symmetric(J, w.J[b])
    put_symmetric((N[0] + M[0], N[1] + M[1], N[2] + M[2], N[3] + M[3], N[4] + M[4], N[5] + M[5]), w.M[b])
    for c in range(3):
        H[0, c] += p[c]
        H[1, c] += q[c]
        H[2, c] += r[c]
        g[c] += force[c]
        n[c] += moment[c]


@inlined
def add_to(w, k, b, way):  # type: ignore[no-untyped-def]
    """Add what is left of a turn or slide k to step b, whose point lies ``way`` before that of k."""
    J, H, M, n, f = w.J[k], w.H[k], w.M[k], w.moment[k], w.force[k]
    turning, moving = w.turning[k], w.moving[k]
    x, y, z = way[0], way[1], way[2]
    WM = w.B[0]  # tilde(way) M
    for c in range(3):
        WM[0, c] = y * M[2, c] - z * M[1, c]
        WM[1, c] = z * M[0, c] - x * M[2, c]
        WM[2, c] = x * M[1, c] - y * M[0, c]
    for r in range(3):
        f[r] += M[r, 0] * moving[0] + M[r, 1] * moving[1] + M[r, 2] * moving[2]
        w.force[b, r] += f[r]
    for r in range(3):
        f[r] += H[0, r] * turning[0] + H[1, r] * turning[1] + H[2, r] * turning[2]
        w.force[b, r] += H[0, r] * turning[0] + H[1, r] * turning[1] + H[2, r] * turning[2]
        n[r] += dot(J[r], turning) + dot(H[r], moving)
        w.moment[b, r] += n[r]
    G = w.B[1]  # H + WM
    for r in range(3):
        for c in range(3):
            G[r, c] = H[r, c] + WM[r, c]
            w.H[b, r, c] += G[r, c]
            w.M[b, r, c] += M[r, c]
    # J + G tilde(way)^T + tilde(way) H^T
    for r in range(3):
        w.J[b, r, 0] += J[r, 0] + y * G[r, 2] - z * G[r, 1]
        w.J[b, r, 1] += J[r, 1] + z * G[r, 0] - x * G[r, 2]
        w.J[b, r, 2] += J[r, 2] + x * G[r, 1] - y * G[r, 0]
    for c in range(3):
        w.J[b, 0, c] += y * H[c, 2] - z * H[c, 1]
        w.J[b, 1, c] += z * H[c, 0] - x * H[c, 2]
        w.J[b, 2, c] += x * H[c, 1] - y * H[c, 0]
    add_cross(way, f, w.moment[b])


@inlined
def inwards(t, s, w, on):  # type: ignore[no-untyped-def]
    """Eliminate the rates of all steps from the tips inwards; the smallest pivot as a fraction of its row."""
    n, smallest = len(t.kind), 1.0
    for k in range(n):
        own_inertia(t, s, w, on, k)
        accelerations_of_rates(t, s, w, k)
    for k in range(n - 1, -1, -1):
        kind, b = t.kind[k], t.parent[k]
        if kind == FREE:
            invert_free(w, k)
            continue
        if kind == BALL:
            fraction, mass, force = eliminate_ball(w, k)
            if b != GROUND_STEP:
                add_ball(w, k, b, s.way[k], mass, force)
        else:
            of = w.M[k] if kind == SLIDE else w.J[k]
            size = of[0, 0] + of[1, 1] + of[2, 2] + t.armature[k]
            fraction = eliminate_axis(w, k, s.axis[k], kind == SLIDE, t.armature[k]) / size
            if b != GROUND_STEP:
                add_to(w, k, b, s.way[k])
        if not fraction >= smallest:
            smallest = fraction
    return smallest


@inlined
def invert_free(w, k):  # type: ignore[no-untyped-def]
    """The accelerations of a body that nothing holds, less those of gravity: J alpha + H a = -n, H^T alpha + M a = -f."""
    _, M, f = eliminate_ball(w, k)
    a = w.moving[k]
    put_symmetric(M, w.M[k])
    invert(w.M[k], w.B[1])
    for r in range(3):
        a[r] = -dot(w.B[1][r], f)


@inlined
def outwards(t, s, w, z_dot):  # type: ignore[no-untyped-def]
    """Accelerations of all steps from the ground outwards, into ``z_dot``."""
    n = len(t.kind)
    for c in range(3):
        w.alpha[n, c], w.a[n, c] = 0.0, -t.gravity[c]
    for k in range(n):
        b, kind, u = t.parent[k], t.kind[k], t.u[k]
        if b == GROUND_STEP:
            b = n
        alpha, a = w.alpha[k], w.a[k]
        for c in range(3):
            alpha[c] = w.alpha[b, c] + w.turning[k, c]
            a[c] = (w.a[b, c] if kind != FREE else 0.0) + w.moving[k, c]
        if kind == TURN or kind == SLIDE:
            add_cross(w.alpha[b], s.way[k], a)
            rate = -(w.along[k] + dot(w.U[k, 0], alpha) + dot(w.U[k, 1], a)) * w.pivot[k]
            z_dot[u] = rate
            for c in range(3):
                if kind == TURN:
                    alpha[c] += rate * s.axis[k, c]
                else:
                    a[c] += rate * s.axis[k, c]
            continue
        if kind == BALL:
            add_cross(w.alpha[b], s.way[k], a)
        # J alpha + H a + n = 0 gives alpha itself.
        right, found = w.vector[0], w.vector[1]
        for r in range(3):
            right[r] = -(w.moment[k, r] + dot(w.H[k, r], a))
        turned(w.inverse[k], right, found)
        relative = w.vector[2]
        for c in range(3):
            relative[c] = found[c] - alpha[c]
            alpha[c] = found[c]
        first = 3 if kind == FREE else 0
        transposed_times(s.A[b], relative, z_dot[u + first : u + first + 3])
        if kind == FREE:
            for c in range(3):
                z_dot[u + c] = a[c] + t.gravity[c]


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
        euler_rates(z[q : q + 4], z[u : u + 3], z_dot[q : q + 4])


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
