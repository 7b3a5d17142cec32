"""Equations of motion in compiled code: Newton-Euler with Lagrange multipliers.  Seed 000, Eq. (1).

    M v' + D^T lam = g,    D v' = gamma - 2 alpha Phi' - beta^2 Phi,    p' = 1/2 G^T omega

State of a body: r (3), p (4), v (3), omega (3), all in global axes, p scalar first.  Body 0 is the ground.
The multipliers come from the Schur complement S = D M^-1 D^T, factorised along its sparsity, with one step of
refinement on the residual of the rows themselves, which S alone would hide.  On the foot it takes the error of the
accelerations from 4e-15 to 3e-16.  Scaling the rows (cond(S) falls from 3e6 to 3e1) would change nothing: a factorisation
without pivoting makes the same roundings with and without it; pivots are compared with their own row's size instead.
Drivers are joints whose rows hold prescribed signals of time.  Nothing here allocates: all memory is in ``Work``.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import carray, cfunc, types

from runtime import addresses
from runtime.contacts import ContactTables, ContactWork, apply_contacts, contact_work
from runtime.kernels import cached_here, compiled, inlined
from runtime.limits import LimitTables, LimitWork, apply_limits, limit_work
from runtime.loads import LoadTables, LoadWork, apply_loads, load_work
from runtime.pointers import CALL, Behind, behind, behind_address, call, raw
from runtime.signals import SignalTables, evaluate_signals
from runtime.structure import GROUND, Floats, Ints, Structure
from runtime.vectors import rotate_vectors

STATE = 13  # numbers per body
R, P, V, OMEGA = 0, 3, 7, 10  # where they start

ROWS = 6  # two bodies can be restrained in six ways, so a joint has at most six rows

OK, SINGULAR, NOT_FINITE = 0, 1, 2  # codes of an evaluation; they may be combined
# What an evaluation is for: accelerations and multipliers; the same, and limits tell all; the state derivative alone.
FORCES, REPORT, DERIVATIVE = range(3)
EVALUATION, WHOLE, LOADED = range(3)  # in ``Work.address``
# A pivot of S below this fraction of its row's own size: the row depends on those before it.
# Pivots are squares: 1e-13 means that the row leaves the others by an angle below 3e-7.
PIVOT_TOLERANCE = 1e-13


class Tables(NamedTuple):
    """A system as flat tables."""

    mass: Floats  # (bodies + 1,)
    inertia: Floats  # (bodies + 1, 3, 3) local axes
    inertia_inverse: Floats  # (bodies + 1, 3, 3)
    gravity: Floats  # (3,)
    alpha: float
    beta: float
    address: Ints  # (joints,) of their kernels, in this process
    body_i: Ints
    body_j: Ints
    rows: Ints  # (joints,) rows of each joint
    active: Ints  # (joints,) rows that are kept
    active_row: Ints  # (joints, 6) their numbers within the joint
    vector_joint: Ints  # (vectors,) body-fixed vectors: where they go in x, and what they are
    vector_place: Ints
    vector_body: Ints
    vector_local: Floats  # (vectors, 3)
    x: Floats  # (joints, X) parameters and held constants, at their places in x
    signals: SignalTables
    signal_joint: Ints  # (signals of joints,) where the value and two derivatives of the first signals go in x
    signal_place: Ints
    structure: Structure
    limits: LimitTables
    loads: LoadTables
    contacts: ContactTables


class Work(NamedTuple):
    """Memory of one evaluation; the results lie here too."""

    state: Floats  # (bodies + 1, 13)
    A: Floats  # (bodies + 1, 3, 3)
    inertia_inverse: Floats  # (bodies + 1, 3, 3) global axes
    free: Floats  # (bodies + 1, 6) M^-1 g
    v_dot: Floats  # (bodies + 1, 6) accelerations v', omega'
    momentum: Floats  # (3,)
    x: Floats  # (joints, X)
    Phi: Floats  # (joints, 6)
    Phi_dot: Floats
    D: Floats  # (joints, 6, 12)
    gamma: Floats
    target: Floats  # (joints, 6) right-hand side of D v'
    rows: Floats  # (joints, 2, 6, 6) kept rows of D by side
    MD: Floats  # (joints, 2, 6, 6) M^-1 D^T, by rows of D
    S: Floats  # (blocks, 6, 6) upper blocks of S (row: earlier joint), then diag(pivots) L^T
    L: Floats  # (blocks, 6, 6) L^T, of unit diagonal
    size: Floats  # (joints, 6) diagonal of S before the factorisation
    inverse: Floats  # (joints, 6) inverse pivots, 0 where a row depends on those before it
    y: Floats  # (joints, 6)
    lam: Floats  # (joints, 6) multipliers of the kept rows
    failed: Ints  # (2,) joint and kept row of a failure
    weakest: Floats  # (1,) smallest pivot of S as a fraction of its row's size: how far from a singular configuration
    signals: Floats  # (signals, 3) value, rate, acceleration
    limits: LimitWork
    loads: LoadWork
    contacts: ContactWork
    address: Ints  # (3,) of the evaluation and of the whole-model kernel (0: none), in this process; 1 if loads go before that
    constants: Floats  # of the whole-model kernel


class Whole(NamedTuple):
    """A whole-model kernel: what ``derivative`` calls in place of the joints' kernels."""

    address: int  # in this process
    loaded: bool  # it takes the accelerations without joints from outside
    constants: Floats


def work_for(t: Tables, whole: Whole | None = None) -> Work:
    """Memory for a system."""
    bodies, joints, blocks = len(t.mass), len(t.address), len(t.structure.block_row)
    six = (joints, ROWS)
    work = Work(
        state=np.zeros((bodies, STATE)),
        A=np.zeros((bodies, 3, 3)),
        inertia_inverse=np.zeros((bodies, 3, 3)),
        free=np.zeros((bodies, 6)),
        v_dot=np.zeros((bodies, 6)),
        momentum=np.zeros(3),
        x=t.x.copy(),
        Phi=np.zeros(six),
        Phi_dot=np.zeros(six),
        D=np.zeros((joints, ROWS, 12)),
        gamma=np.zeros(six),
        target=np.zeros(six),
        rows=np.zeros((joints, 2, ROWS, 6)),
        MD=np.zeros((joints, 2, ROWS, 6)),
        S=np.zeros((blocks, ROWS, ROWS)),
        L=np.zeros((blocks, ROWS, ROWS)),
        size=np.zeros(six),
        inverse=np.zeros(six),
        y=np.zeros(six),
        lam=np.zeros(six),
        failed=np.zeros(2, np.int64),
        weakest=np.ones(1),
        signals=np.zeros((len(t.signals.start) - 1, 3)),
        limits=limit_work(t.limits),
        loads=load_work(t.loads),
        contacts=contact_work(t.contacts),
        address=np.zeros(3, np.int64),
        constants=np.zeros(1) if whole is None else whole.constants,
    )
    work.state[GROUND, P] = 1.0
    work.A[GROUND] = np.eye(3)
    if not _TYPES:
        globals()["_TYPES"] = (numba.typeof(t), numba.typeof(work))
    work.address[EVALUATION] = _evaluation_address()
    if whole is not None:
        work.address[WHOLE], work.address[LOADED] = whole.address, whole.loaded
    return work


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
def place_bodies(y, t, w):  # type: ignore[no-untyped-def]
    """State into work memory, rotation matrices, inverse inertia in global axes, accelerations without joints."""
    for b in range(1, len(t.mass)):
        state, A = w.state[b], w.A[b]
        for k in range(STATE):
            state[k] = y[(b - 1) * STATE + k]
        rotation(state[P:V], A)
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
def place_signals(time, t, w):  # type: ignore[no-untyped-def]
    """Evaluate the signals, and put those of drivers to their places in x."""
    evaluate_signals(time, t.signals, w.signals)
    for k in range(len(t.signal_joint)):
        x, o = w.x[t.signal_joint[k]], t.signal_place[k]
        for c in range(3):
            x[o + c] = w.signals[k, c]


@inlined
def place(time, y, t, w):  # type: ignore[no-untyped-def]
    """Bodies and signals into place, and every joint's rows."""
    place_bodies(y, t, w)
    place_signals(time, t, w)
    evaluate_joints(t, w)


@inlined
def evaluate_joints(t, w):  # type: ignore[no-untyped-def]
    """Rotate the body-fixed vectors once, then let every joint's kernel write its rows."""
    rotate_vectors(t.vector_joint, t.vector_place, t.vector_body, t.vector_local, w.A, w.x)
    for k in range(len(t.address)):
        body_i, body_j = w.state[t.body_i[k]], w.state[t.body_j[k]]
        addresses.call(
            t.address[k], body_i.ctypes.data, body_j.ctypes.data, w.x[k].ctypes.data,
            w.Phi[k].ctypes.data, w.Phi_dot[k].ctypes.data, w.D[k].ctypes.data, w.gamma[k].ctypes.data,
        )  # fmt: skip


@inlined
def scale_rows(t, w):  # type: ignore[no-untyped-def]
    """Kept rows of D by side, and M^-1 D^T."""
    for k in range(len(t.address)):
        for side in range(2):
            b = t.body_i[k] if side == 0 else t.body_j[k]
            if b == GROUND:
                continue
            rows, MD, K, inverse = w.rows[k, side], w.MD[k, side], w.inertia_inverse[b], 1.0 / t.mass[b]
            for r in range(t.active[k]):
                D = w.D[k, t.active_row[k, r]]
                for c in range(6):
                    rows[r, c] = D[c] if side == 0 else D[6 + c]
            for r in range(t.active[k]):
                for c in range(3):
                    MD[r, c] = rows[r, c] * inverse
                    MD[r, 3 + c] = K[c, 0] * rows[r, 3] + K[c, 1] * rows[r, 4] + K[c, 2] * rows[r, 5]


@inlined
def factorise(t, w, tolerance, damping):  # type: ignore[no-untyped-def]
    """Factorise S = D M^-1 D^T = L diag(pivots) L^T by blocks.  Returns how many rows depend on rows before them.

    Such rows, whose pivot is below the tolerance times their own size, get the inverse pivot 0, which leaves them out:
    their multiplier is zero.  The diagonal of S is enlarged by the fraction ``damping``.
    """
    s = t.structure
    scale_rows(t, w)
    for n in range(len(s.block_row)):
        block = w.S[n]
        for r in range(t.active[s.block_col[n]]):
            for c in range(t.active[s.block_row[n]]):
                block[r, c] = 0.0
    for n in range(len(s.pairs)):
        block, later, earlier = w.S[s.pairs[n, 0]], s.pairs[n, 1], s.pairs[n, 3]
        MD, D = w.MD[later, s.pairs[n, 2]], w.rows[earlier, s.pairs[n, 4]]
        for r in range(t.active[earlier]):
            d0, d1, d2, d3, d4, d5 = D[r, 0], D[r, 1], D[r, 2], D[r, 3], D[r, 4], D[r, 5]
            for c in range(r if later == earlier else 0, t.active[later]):
                block[r, c] += (
                    d0 * MD[c, 0] + d1 * MD[c, 1] + d2 * MD[c, 2] + d3 * MD[c, 3] + d4 * MD[c, 4] + d5 * MD[c, 5]
                )
    for k in range(len(t.address)):
        for r in range(t.active[k]):
            w.size[k, r] = w.S[s.diagonal[k], r, r]
            w.S[s.diagonal[k], r, r] *= 1.0 + damping
    dependent, weakest = 0, np.inf
    for p in range(len(s.order)):
        k = s.order[p]
        S, L, inverse, size = w.S[s.diagonal[k]], w.L[s.diagonal[k]], w.inverse[k], w.size[k]
        for c in range(t.active[k]):
            pivot = S[c, c]
            if not pivot >= weakest * size[c]:
                weakest = pivot / size[c]
            # The comparison is false for NaN, which is then a failure as well.
            if pivot > tolerance * size[c]:
                inverse[c] = 1.0 / pivot
            else:
                if dependent == 0:
                    w.failed[0], w.failed[1] = k, c
                dependent += 1
                inverse[c] = 0.0
            for r in range(c + 1, t.active[k]):
                factor = S[c, r] * inverse[c]
                L[c, r] = factor
                for q in range(r, t.active[k]):
                    S[r, q] -= factor * S[c, q]
        for e in range(s.column_start[p], s.column_start[p + 1]):
            B, V, columns = w.S[s.column_block[e]], w.L[s.column_block[e]], t.active[s.block_row[s.column_block[e]]]
            for c in range(t.active[k]):
                for q in range(columns):
                    value = B[c, q]
                    for r in range(c):
                        value -= L[r, c] * B[r, q]
                    B[c, q] = value
                    V[c, q] = value * inverse[c]
        for e in range(s.update_start[p], s.update_start[p + 1]):
            target, later, earlier = w.S[s.updates[e, 0]], w.S[s.updates[e, 1]], w.L[s.updates[e, 2]]
            rows, columns = t.active[s.block_row[s.updates[e, 2]]], t.active[s.block_row[s.updates[e, 1]]]
            for r in range(rows):
                for c in range(r if s.updates[e, 1] == s.updates[e, 2] else 0, columns):
                    value = target[r, c]
                    for q in range(t.active[k]):
                        value -= earlier[q, r] * later[q, c]
                    target[r, c] = value
    w.weakest[0] = weakest
    return dependent


@inlined
def solve(t, w):  # type: ignore[no-untyped-def]
    """w.y = S^-1 w.y with the factors of ``factorise``."""
    s = t.structure
    for p in range(len(s.order)):
        k = s.order[p]
        L, y = w.L[s.diagonal[k]], w.y[k]
        for c in range(t.active[k]):
            for r in range(c + 1, t.active[k]):
                y[r] -= L[c, r] * y[c]
        for e in range(s.column_start[p], s.column_start[p + 1]):
            V, row = w.L[s.column_block[e]], s.block_row[s.column_block[e]]
            to = w.y[row]
            for c in range(t.active[k]):
                for r in range(t.active[row]):
                    to[r] -= V[c, r] * y[c]
        for c in range(t.active[k]):
            y[c] *= w.inverse[k, c]
    for p in range(len(s.order) - 1, -1, -1):
        k = s.order[p]
        L, y = w.L[s.diagonal[k]], w.y[k]
        for e in range(s.column_start[p], s.column_start[p + 1]):
            V, row = w.L[s.column_block[e]], s.block_row[s.column_block[e]]
            known = w.y[row]
            for c in range(t.active[k]):
                value = y[c]
                for r in range(t.active[row]):
                    value -= V[c, r] * known[r]
                y[c] = value
        for c in range(t.active[k] - 1, -1, -1):
            value = y[c]
            for r in range(c + 1, t.active[k]):
                value -= L[c, r] * y[r]
            y[c] = value


@inlined
def rows_times(t, w, u, y):  # type: ignore[no-untyped-def]
    """Add D u to y, for velocities or accelerations u (bodies + 1, 6)."""
    for k in range(len(t.address)):
        a, b, of_i, of_j, to = u[t.body_i[k]], u[t.body_j[k]], w.rows[k, 0], w.rows[k, 1], y[k]
        for r in range(t.active[k]):
            value = to[r]
            for c in range(6):
                value += of_i[r, c] * a[c] + of_j[r, c] * b[c]
            to[r] = value


@inlined
def apply(t, w, y, u):  # type: ignore[no-untyped-def]
    """Subtract M^-1 D^T y from u."""
    for k in range(len(t.address)):
        values = y[k]
        for side in range(2):
            to, MD = u[t.body_i[k] if side == 0 else t.body_j[k]], w.MD[k, side]
            for r in range(t.active[k]):
                value = values[r]
                for c in range(6):
                    to[c] -= MD[r, c] * value


@inlined
def accelerations(time, y, t, w, report):  # type: ignore[no-untyped-def]
    """Put v' and lam of a state into ``w.v_dot`` and ``w.lam``; returns a code.  With ``report``, limits tell all."""
    return call(w.address[EVALUATION], time, y.ctypes.data, raw(t), raw(w), REPORT if report else FORCES, y.ctypes.data)


@inlined
def derivative(time, y, t, w, y_dot):  # type: ignore[no-untyped-def]
    """Put y' of a state (13 numbers per body) into ``y_dot``; returns a code."""
    return call(w.address[EVALUATION], time, y.ctypes.data, raw(t), raw(w), DERIVATIVE, y_dot.ctypes.data)


@inlined
def _evaluate(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    whole = purpose == DERIVATIVE and w.address[WHOLE] != 0
    if whole and w.address[LOADED] == 0:
        place_signals(time, t, w)
    else:
        place_bodies(y, t, w)
        place_signals(time, t, w)
        apply_limits(t, w, purpose == REPORT)
        apply_loads(t, w)
        apply_contacts(t, w)
    if whole:
        addresses.call(
            w.address[WHOLE], y.ctypes.data, w.free.ctypes.data, w.signals.ctypes.data, w.constants.ctypes.data,
            y_dot.ctypes.data, w.weakest.ctypes.data,
        )  # fmt: skip
        w.weakest[0] = 1.0 / math.sqrt(w.weakest[0])
        if w.weakest[0] > PIVOT_TOLERANCE:
            return OK
        if w.address[LOADED] == 0:
            place_bodies(y, t, w)
        # It cannot tell which row is to blame.
    evaluate_joints(t, w)
    for k in range(len(t.address)):
        for r in range(t.active[k]):
            row = t.active_row[k, r]
            w.target[k, r] = w.gamma[k, row] - 2.0 * t.alpha * w.Phi_dot[k, row] - t.beta * t.beta * w.Phi[k, row]
    if factorise(t, w, PIVOT_TOLERANCE, 0.0) > 0:
        return SINGULAR if w.weakest[0] == w.weakest[0] else NOT_FINITE
    for b in range(len(t.mass)):
        for c in range(6):
            w.v_dot[b, c] = w.free[b, c]
    for step in range(2):  # the second step is the refinement
        for k in range(len(t.address)):
            for r in range(t.active[k]):
                w.y[k, r] = -w.target[k, r]
        rows_times(t, w, w.v_dot, w.y)
        solve(t, w)
        for k in range(len(t.address)):
            for r in range(t.active[k]):
                w.lam[k, r] = w.y[k, r] if step == 0 else w.lam[k, r] + w.y[k, r]
        apply(t, w, w.y, w.v_dot)
    if purpose == DERIVATIVE:
        for b in range(1, len(t.mass)):
            state, u, to = w.state[b], w.v_dot[b], y_dot[(b - 1) * STATE : b * STATE]
            to[R], to[R + 1], to[R + 2] = state[V], state[V + 1], state[V + 2]
            euler_rates(state[P:V], state[OMEGA:STATE], to[P:V])
            for c in range(6):
                to[V + c] = u[c]
    return OK


def _entry(time, y, t, w, purpose, y_dot):  # type: ignore[no-untyped-def]
    """The same by pointers alone: compiled once, and not again in all that uses it."""
    tables, work = behind_address(t, _TYPES[0]), behind_address(w, _TYPES[1])
    n = STATE * (len(tables.mass) - 1)
    return _evaluate(time, carray(y, (n,)), tables, work, purpose, carray(y_dot, (n,)))


_TYPES: tuple[Any, ...] = ()  # of tables and memory, the same for all systems


def evaluation_alone() -> Any:
    """The evaluation as a function of its own, compiled anew: to look at its code."""
    alone = inlined(_evaluate.py_func)
    state = types.Array(types.float64, 1, "C")
    alone.compile((types.float64, state, Behind(_TYPES[0]), Behind(_TYPES[1]), types.int64, state))
    return alone


@cache
def _evaluation_address() -> int:
    with cached_here():
        return int(cfunc(CALL, error_model="numpy", cache=True)(_entry).address)


@compiled
def rotations_of(p, A):  # type: ignore[no-untyped-def]
    """Rotation matrices (n, 3, 3) of many Euler parameters (n, 4)."""
    for n in range(len(p)):
        rotation(p[n], A[n])


@compiled
def derivative_once(time, y, t, w, y_dot):  # type: ignore[no-untyped-def]
    """One evaluation, called from Python."""
    t, w = behind(t), behind(w)
    return derivative(time, y, t, w, y_dot)


@compiled
def derivative_repeated(time, y, t, w, y_dot, count):  # type: ignore[no-untyped-def]
    """Many evaluations inside compiled code, for measuring one."""
    t, w = behind(t), behind(w)
    code = 0
    for _ in range(count):
        code |= derivative(time, y, t, w, y_dot)
    return code
