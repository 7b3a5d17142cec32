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
def own_inertia(t, s, w, on, k):  # type: ignore[no-untyped-def]
    """What step k itself carries, in global axes, and the forces of its velocities less those on it.

    ``s``: poses after the steps; ``on``: force and moment on what each step carries.
    """
    A, h = s.A[k], w.vector[0]
    turned(A, t.moment[k], h)
    for r in range(3):
        for c in range(3):
            w.B[0, r, c] = A[r, 0] * t.inertia[k, 0, c] + A[r, 1] * t.inertia[k, 1, c] + A[r, 2] * t.inertia[k, 2, c]
    for r in range(3):
        for c in range(r + 1):
            value = w.B[0, r, 0] * A[c, 0] + w.B[0, r, 1] * A[c, 1] + w.B[0, r, 2] * A[c, 2]
            w.J[k, r, c] = w.J[k, c, r] = value
            w.M[k, r, c] = w.M[k, c, r] = t.mass[k] if r == c else 0.0
            w.H[k, r, c] = w.H[k, c, r] = 0.0
    w.H[k, 0, 1], w.H[k, 0, 2], w.H[k, 1, 2] = -h[2], h[1], -h[0]
    w.H[k, 1, 0], w.H[k, 2, 0], w.H[k, 2, 1] = h[2], -h[1], h[0]
    omega, momentum, along = s.omega[k], w.vector[1], w.vector[2]
    turned(w.J[k], omega, momentum)
    for c in range(3):
        w.moment[k, c], w.force[k, c], along[c] = -on.moment[k, c], -on.force[k, c], 0.0
    add_cross(omega, momentum, w.moment[k])
    add_cross(omega, h, along)
    add_cross(omega, along, w.force[k])


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
    """Take the rates of a ball out of the equations of step k."""
    J, H, M, n, f, K = w.J[k], w.H[k], w.M[k], w.moment[k], w.force[k], w.inverse[k]
    fraction = invert(J, K)
    KH, Kn = w.B[0], w.vector[0]
    for r in range(3):
        for c in range(3):
            KH[r, c] = K[r, 0] * H[0, c] + K[r, 1] * H[1, c] + K[r, 2] * H[2, c]
    turned(K, n, Kn)
    for r in range(3):
        for c in range(3):
            M[r, c] -= H[0, r] * KH[0, c] + H[1, r] * KH[1, c] + H[2, r] * KH[2, c]
        f[r] -= H[0, r] * Kn[0] + H[1, r] * Kn[1] + H[2, r] * Kn[2]
    return fraction


@inlined
def add_to(w, k, b, way, kind):  # type: ignore[no-untyped-def]
    """Add what is left of step k to step b, whose point lies ``way`` before that of k."""
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
    if kind == BALL:
        for r in range(3):
            # - tilde(way) M tilde(way) = WM tilde(way)^T
            w.J[b, r, 0] += y * WM[r, 2] - z * WM[r, 1]
            w.J[b, r, 1] += z * WM[r, 0] - x * WM[r, 2]
            w.J[b, r, 2] += x * WM[r, 1] - y * WM[r, 0]
            for c in range(3):
                w.H[b, r, c] += WM[r, c]
                w.M[b, r, c] += M[r, c]
    else:
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
            fraction = eliminate_ball(w, k)
        else:
            of = w.M[k] if kind == SLIDE else w.J[k]
            size = of[0, 0] + of[1, 1] + of[2, 2] + t.armature[k]
            fraction = eliminate_axis(w, k, s.axis[k], kind == SLIDE, t.armature[k]) / size
        if not fraction >= smallest:
            smallest = fraction
        if b != GROUND_STEP:
            add_to(w, k, b, s.way[k], kind)
    return smallest


@inlined
def invert_free(w, k):  # type: ignore[no-untyped-def]
    """The accelerations of a body that nothing holds, less those of gravity: J alpha + H a = -n, H^T alpha + M a = -f."""
    eliminate_ball(w, k)
    M, f, a = w.M[k], w.force[k], w.moving[k]
    invert(M, w.B[1])
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
