"""Kinematics in compiled code: rotation matrices, rates of Euler parameters, body-fixed vectors, rows of all joints."""

from __future__ import annotations

from runtime.dynamics.layout import FORCES, LOADS, OK, OMEGA, OVER, STATE, P, V
from runtime.dynamics.places import KINEMATICS, LIFT
from runtime.dynamics.signals import evaluate_signals
from runtime.dynamics.small_matrices import cross, dot, times, transposed_times
from runtime.dynamics.vectors import rotate_vectors
from runtime.jit import addresses
from runtime.jit.compilation import inlined
from runtime.jit.pointers import array_at, call_at
from runtime.jit.rows import put_row, row_of


@inlined
def rotation(p, A):  # type: ignore[no-untyped-def]
    """Rotation matrix of Euler parameters of any length: A depends on their direction only."""
    e0, e1, e2, e3 = p[0], p[1], p[2], p[3]
    s = 2.0 / (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
    A[0, 0] = 1.0 - s * (e2 * e2 + e3 * e3)
    A[0, 1] = s * (e1 * e2 - e0 * e3)
    A[0, 2] = s * (e1 * e3 + e0 * e2)
    A[1, 0] = s * (e1 * e2 + e0 * e3)
    A[1, 1] = 1.0 - s * (e1 * e1 + e3 * e3)
    A[1, 2] = s * (e2 * e3 - e0 * e1)
    A[2, 0] = s * (e1 * e3 - e0 * e2)
    A[2, 1] = s * (e2 * e3 + e0 * e1)
    A[2, 2] = 1.0 - s * (e1 * e1 + e2 * e2)


@inlined
def euler_rates(p, omega, p_dot):  # type: ignore[no-untyped-def]
    """Put p' = 1/2 G^T omega into ``p_dot``, omega in global axes."""
    e0, e1, e2, e3, w0, w1, w2 = p[0], p[1], p[2], p[3], omega[0], omega[1], omega[2]
    p_dot[0] = 0.5 * (-e1 * w0 - e2 * w1 - e3 * w2)
    p_dot[1] = 0.5 * (e0 * w0 + e3 * w1 - e2 * w2)
    p_dot[2] = 0.5 * (-e3 * w0 + e0 * w1 + e1 * w2)
    p_dot[3] = 0.5 * (e2 * w0 - e1 * w1 + e0 * w2)


@inlined
def own_euler_rates(p, omega, p_dot):  # type: ignore[no-untyped-def]
    """``euler_rates`` with omega in the axes of the body."""
    e0, e1, e2, e3, w0, w1, w2 = p[0], p[1], p[2], p[3], omega[0], omega[1], omega[2]
    p_dot[0] = 0.5 * (-e1 * w0 - e2 * w1 - e3 * w2)
    p_dot[1] = 0.5 * (e0 * w0 - e3 * w1 + e2 * w2)
    p_dot[2] = 0.5 * (e3 * w0 + e0 * w1 - e1 * w2)
    p_dot[3] = 0.5 * (-e2 * w0 + e1 * w1 + e0 * w2)


@inlined
def angular_momentum(b, inertia, omega, w):  # type: ignore[no-untyped-def]
    """Angular momentum A J A^T omega of body b, with the inertias of the bodies in their own axes."""
    A = row_of(w.A, b, 9)
    return times(A, times(row_of(inertia, b, 9), transposed_times(A, omega)))


@inlined
def turning_square(b, inertia, omega, w):  # type: ignore[no-untyped-def]
    """Twice the energy of turning of body b, omega . A J A^T omega."""
    own = transposed_times(row_of(w.A, b, 9), omega)
    return dot(own, times(row_of(inertia, b, 9), own))


@inlined
def turn_inertia(A, local, K):  # type: ignore[no-untyped-def]
    """K = A local A^T: an inertia, or its inverse, in global axes."""
    for c in range(3):
        b0 = local[0, 0] * A[c, 0] + local[0, 1] * A[c, 1] + local[0, 2] * A[c, 2]
        b1 = local[1, 0] * A[c, 0] + local[1, 1] * A[c, 1] + local[1, 2] * A[c, 2]
        b2 = local[2, 0] * A[c, 0] + local[2, 1] * A[c, 1] + local[2, 2] * A[c, 2]
        for a in range(3):
            K[a, c] = A[a, 0] * b0 + A[a, 1] * b1 + A[a, 2] * b2


@inlined
def size_of_state(t, w):  # type: ignore[no-untyped-def]
    """Size of the motion in a state of the integration, which states of forces may follow: of all bodies, or of a tree."""
    return STATE * (len(t.mass) - 1) if len(w.tree.data.kind) == 0 else w.tree.size[0]


@inlined
def keep_to_project(y, t, w):  # type: ignore[no-untyped-def]
    """Copy a state of the integration, which is to be projected before its evaluation, into ``w.projected``."""
    state = array_at(y, size_of_state(t, w) + w.forces.followed[0])
    for i in range(len(state)):
        w.projected[i] = state[i]


@inlined
def update_motion(y, t, w):  # type: ignore[no-untyped-def]
    """Put the states of all bodies into ``w.motion``: y itself, or those that belong to coordinates and rates y of a tree."""
    if len(w.tree.data.kind) > 0:
        call_at(w.address[LIFT], 0.0, y, t, w, OVER, y)
        return
    for i in range(len(w.motion)):
        w.motion[i] = y[i]


@inlined
def put_state(y, t, w, to):  # type: ignore[no-untyped-def]
    """Put the states of all bodies, and those of forces that follow the motion in y, into ``to``."""
    update_motion(y, t, w)
    n, first = len(w.motion), size_of_state(t, w)
    for i in range(n):
        to[i] = w.motion[i]
    for k in range(w.forces.followed[0]):
        to[n + k] = y[first + k]


@inlined
def is_of_tree(y, w):  # type: ignore[no-untyped-def]
    """Whether a state of the integration has coordinates and rates of a tree."""
    return len(w.tree.data.kind) > 0 and len(y) == w.tree.size[0] + w.forces.followed[0]


@inlined
def update_states(t, w):  # type: ignore[no-untyped-def]
    """States of all bodies by body, and their rotation matrices; after ``update_motion``."""
    for b in range(1, len(t.mass)):
        state = w.state[b]
        for k in range(STATE):
            state[k] = w.motion[(b - 1) * STATE + k]
        rotation(state[P:V], w.A[b])


@inlined
def update_bodies(t, w):  # type: ignore[no-untyped-def]
    """Inverse inertia in global axes, accelerations without joints; after ``update_states``."""
    for b in range(1, len(t.mass)):
        state, A = w.state[b], w.A[b]
        turn_inertia(A, t.inertia_inverse[b], w.inertia_inverse[b])
        # Torque about the centre of mass: the gyroscopic one, -omega x J omega.
        omega, g = state[OMEGA:STATE], t.gravity
        torque = cross(angular_momentum(b, t.inertia, omega, w), omega)
        put_row(w.free, b, (g[0], g[1], g[2]) + times(row_of(w.inertia_inverse, b, 9), torque))


@inlined
def update_signals(time, t, w):  # type: ignore[no-untyped-def]
    """Evaluate the signals, and put those of drivers into x."""
    evaluate_signals(time, t.signals, w.signals)
    for k in range(len(t.signal_joint)):
        x, o = w.x[t.signal_joint[k]], t.signal_place[k]
        for c in range(3):
            x[o + c] = w.signals[k, c]


@inlined
def update_kinematics(time, y, t, w):  # type: ignore[no-untyped-def]
    """Update bodies and signals, and evaluate the rows of every joint."""
    call_at(w.address[KINEMATICS], time, y, t, w, FORCES, y)


@inlined
def update_poses(y, t, w):  # type: ignore[no-untyped-def]
    """Update the states of the bodies and their rotation matrices."""
    call_at(w.address[KINEMATICS], 0.0, y, t, w, OVER, y)


@inlined
def update_poses_and_signals(time, y, t, w):  # type: ignore[no-untyped-def]
    """Update bodies and signals."""
    call_at(w.address[KINEMATICS], time, y, t, w, LOADS, y)


def kinematics_part(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """``update_kinematics``, or a part of it, compiled once for all callers."""
    update_motion(array_at(y, size_of_state(t, w)), t, w)
    update_states(t, w)
    if purpose != OVER:
        update_bodies(t, w)
        update_signals(time, t, w)
    if purpose != OVER and purpose != LOADS:
        evaluate_joints(w.state, t.address, t.vector_local, t, w)
    return OK


@inlined
def evaluate_joints(state, address, local, t, w):  # type: ignore[no-untyped-def]
    """Rotate the body-fixed vectors once, then call the kernel of every joint, at its address, for states of the bodies."""
    rotate_vectors(t.vector_joint, t.vector_place, t.vector_body, local, w.A, w.x)
    for k in range(len(address)):
        body_i, body_j = state[t.body_i[k]], state[t.body_j[k]]
        addresses.call(
            address[k], body_i.ctypes.data, body_j.ctypes.data, w.x[k].ctypes.data,
            w.Phi[k].ctypes.data, w.Phi_dot[k].ctypes.data, w.D[k].ctypes.data, w.gamma[k].ctypes.data,
        )  # fmt: skip


@inlined
def turn_of(e, d, out):  # type: ignore[no-untyped-def]
    """The rotation vector 2 G d of a small change d of Euler parameters e."""
    out[0] = 2.0 * (-e[1] * d[0] + e[0] * d[1] - e[3] * d[2] + e[2] * d[3])
    out[1] = 2.0 * (-e[2] * d[0] + e[3] * d[1] + e[0] * d[2] - e[1] * d[3])
    out[2] = 2.0 * (-e[3] * d[0] - e[2] * d[1] + e[1] * d[2] + e[0] * d[3])
