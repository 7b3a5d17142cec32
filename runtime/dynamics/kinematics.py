"""Kinematics in compiled code: rotation matrices, rates of Euler parameters, body-fixed vectors, rows of all joints."""

from __future__ import annotations

from runtime.dynamics.layout import FORCES, LOADS, OK, OMEGA, OVER, STATE, P, V
from runtime.dynamics.places import KINEMATICS, LIFT
from runtime.dynamics.signals import evaluate_signals
from runtime.dynamics.vectors import rotate_vectors
from runtime.jit import addresses
from runtime.jit.compilation import inlined
from runtime.jit.pointers import array_at, call_at


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
def angular_momentum(A, J, omega, h):  # type: ignore[no-untyped-def]
    """Angular momentum, h = A J A^T omega."""
    w0 = A[0, 0] * omega[0] + A[1, 0] * omega[1] + A[2, 0] * omega[2]
    w1 = A[0, 1] * omega[0] + A[1, 1] * omega[1] + A[2, 1] * omega[2]
    w2 = A[0, 2] * omega[0] + A[1, 2] * omega[1] + A[2, 2] * omega[2]
    h0 = J[0, 0] * w0 + J[0, 1] * w1 + J[0, 2] * w2
    h1 = J[1, 0] * w0 + J[1, 1] * w1 + J[1, 2] * w2
    h2 = J[2, 0] * w0 + J[2, 1] * w1 + J[2, 2] * w2
    h[0] = A[0, 0] * h0 + A[0, 1] * h1 + A[0, 2] * h2
    h[1] = A[1, 0] * h0 + A[1, 1] * h1 + A[1, 2] * h2
    h[2] = A[2, 0] * h0 + A[2, 1] * h1 + A[2, 2] * h2


@inlined
def size_of_state(t, w):  # type: ignore[no-untyped-def]
    """Size of a state of the integration: that of all bodies, or of coordinates and rates of a tree."""
    return STATE * (len(t.mass) - 1) if len(w.tree.data.kind) == 0 else w.tree.size[0]


@inlined
def update_motion(y, t, w):  # type: ignore[no-untyped-def]
    """Put the states of all bodies into ``w.motion``: y itself, or those that belong to coordinates and rates y of a tree."""
    if len(w.tree.data.kind) > 0:
        call_at(w.address[LIFT], 0.0, y, t, w, OVER, y)
        return
    for i in range(len(w.motion)):
        w.motion[i] = y[i]


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
        local, K = t.inertia_inverse[b], w.inertia_inverse[b]
        for c in range(3):
            b0 = local[0, 0] * A[c, 0] + local[0, 1] * A[c, 1] + local[0, 2] * A[c, 2]
            b1 = local[1, 0] * A[c, 0] + local[1, 1] * A[c, 1] + local[1, 2] * A[c, 2]
            b2 = local[2, 0] * A[c, 0] + local[2, 1] * A[c, 1] + local[2, 2] * A[c, 2]
            for a in range(3):
                K[a, c] = A[a, 0] * b0 + A[a, 1] * b1 + A[a, 2] * b2
        # Torque about the centre of mass: the gyroscopic one, -omega x J omega.
        omega, torque, free = state[OMEGA:STATE], w.v_dot[b], w.free[b]
        angular_momentum(A, t.inertia[b], omega, torque)
        q0 = torque[1] * omega[2] - torque[2] * omega[1]
        q1 = torque[2] * omega[0] - torque[0] * omega[2]
        q2 = torque[0] * omega[1] - torque[1] * omega[0]
        for k in range(3):
            free[k] = t.gravity[k]
            free[3 + k] = K[k, 0] * q0 + K[k, 1] * q1 + K[k, 2] * q2


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
        evaluate_joints(t, w)
    return OK


@inlined
def evaluate_joints(t, w):  # type: ignore[no-untyped-def]
    """Rotate the body-fixed vectors once, then call the kernel of every joint."""
    rotate_vectors(t.vector_joint, t.vector_place, t.vector_body, t.vector_local, w.A, w.x)
    for k in range(len(t.address)):
        body_i, body_j = w.state[t.body_i[k]], w.state[t.body_j[k]]
        addresses.call(
            t.address[k], body_i.ctypes.data, body_j.ctypes.data, w.x[k].ctypes.data,
            w.Phi[k].ctypes.data, w.Phi_dot[k].ctypes.data, w.D[k].ctypes.data, w.gamma[k].ctypes.data,
        )  # fmt: skip


@inlined
def turn_of(e, d, out):  # type: ignore[no-untyped-def]
    """The rotation vector 2 G d of a small change d of Euler parameters e."""
    out[0] = 2.0 * (-e[1] * d[0] + e[0] * d[1] - e[3] * d[2] + e[2] * d[3])
    out[1] = 2.0 * (-e[2] * d[0] + e[3] * d[1] + e[0] * d[2] - e[1] * d[3])
    out[2] = 2.0 * (-e[3] * d[0] - e[2] * d[1] + e[1] * d[2] + e[0] * d[3])
