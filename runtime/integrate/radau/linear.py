"""Linear systems of the method Radau IIA, compiled apart from the rest of the method."""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.kinematics import euler_rates, turn_of
from runtime.dynamics.layout import OK, OMEGA, SINGULAR, STATE, P, R, V
from runtime.integrate.loop_parts import INTEGER, REAL, LoopPart
from runtime.integrate.stepping import LINEAR
from runtime.jit.compilation import inlined
from runtime.jit.pointers import call_at

POWER_STEPS = 6  # even
FACTORISE, SOLVE, SOLVE_PAIR, EIGENVALUE = range(4)  # what ``linear_part`` does
FASTEST_RATE = 6  # place in ``last`` of the method's memory


@inlined
def factorise_lu(a, turns):  # type: ignore[no-untyped-def]
    """LU factors of a matrix, in place, with exchanges of rows; False if it is singular."""
    n = len(a)
    for k in range(n):
        best, row = abs(a[k, k]), k
        for r in range(k + 1, n):
            if abs(a[r, k]) > best:
                best, row = abs(a[r, k]), r
        turns[k] = row
        if not 0.0 < best < np.inf:
            return False
        if row != k:
            for c in range(n):
                a[k, c], a[row, c] = a[row, c], a[k, c]
        inverse = 1.0 / a[k, k]
        for r in range(k + 1, n):
            a[r, k] *= inverse
            factor = a[r, k]
            for c in range(k + 1, n):
                a[r, c] -= factor * a[k, c]
    return True


@inlined
def solve_lu(a, turns, x):  # type: ignore[no-untyped-def]
    """Solve with the factors, in place."""
    n = len(a)
    for k in range(n):
        row = turns[k]
        if row != k:
            x[k], x[row] = x[row], x[k]
    for k in range(n):
        value = x[k]
        for r in range(k + 1, n):
            x[r] -= a[r, k] * value
    for k in range(n - 1, -1, -1):
        value = x[k]
        for c in range(k + 1, n):
            value -= a[k, c] * x[c]
        x[k] = value / a[k, k]


@inlined
def change_of(mu, omega, right, out):  # type: ignore[no-untyped-def]
    """The change of Euler parameters that (mu - P) makes to the right-hand side; ``right`` and ``out`` differ."""
    euler_rates(right, omega, out)
    scale = 1.0 / (mu * mu + 0.25 * (omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2]))
    for c in range(4):
        out[c] = (out[c] + mu * right[c]) * scale


@inlined
def set_matrix(mu, y, J, a, T, p):  # type: ignore[no-untyped-def]
    """Put mu - J_u - J_q T into ``a``; ``T`` (3, 3) and ``p`` (3, 4) are memory."""
    m, moving = len(a), J.shape[1] - len(a)
    inverse = 1.0 / mu
    for b in range(moving // 6):
        e, omega = y[STATE * b + P : STATE * b + V], y[STATE * b + OMEGA : STATE * b + STATE]
        for k in range(3):
            p[2, 0] = p[2, 1] = p[2, 2] = p[2, 3] = 0.0
            p[2, k] = 1.0
            euler_rates(e, p[2], p[0])
            change_of(mu, omega, p[0], p[1])
            turn_of(e, p[1], p[2])
            for c in range(3):
                T[c, k] = p[2, c]
        for r in range(m):
            for k in range(3):
                column = 6 * b + k
                a[r, column] = -J[r, moving + column] - J[r, column] * inverse
                value = -J[r, moving + column + 3] + 0.0 * mu  # of the type of mu
                for c in range(3):
                    value -= J[r, 6 * b + 3 + c] * T[c, k]
                a[r, column + 3] = value
    for r in range(m):
        for column in range(moving, m):  # states of forces
            a[r, column] = -J[r, moving + column] + 0.0 * mu
        a[r, r] += mu


@inlined
def solve_state(mu, y, J, a, turns, right, q, u, p):  # type: ignore[no-untyped-def]
    """Replace the right-hand side of a state's linear system by its solution; ``q``, ``u`` and ``p`` are memory."""
    m, moving, inverse = len(a), J.shape[1] - len(a), 1.0 / mu
    states = STATE * (moving // 6)  # of forces begin here
    for b in range(moving // 6):
        o = STATE * b
        e, omega = y[o + P : o + V], y[o + OMEGA : o + STATE]
        change_of(mu, omega, right[o + P : o + V], p[0])
        turn_of(e, p[0], q[6 * b + 3 : 6 * b + 6])
        for c in range(3):
            q[6 * b + c] = right[o + R + c] * inverse
        for c in range(6):
            u[6 * b + c] = right[o + V + c]
    for k in range(m - moving):
        u[moving + k] = right[states + k]
    for r in range(m):
        value = u[r]
        for c in range(moving):
            value += J[r, c] * q[c]
        u[r] = value
    solve_lu(a, turns, u)
    for k in range(m - moving):
        right[states + k] = u[moving + k]
    for b in range(moving // 6):
        o = STATE * b
        e, omega = y[o + P : o + V], y[o + OMEGA : o + STATE]
        for c in range(3):
            right[o + R + c] = (right[o + R + c] + u[6 * b + c]) * inverse
        euler_rates(e, u[6 * b + 3 : 6 * b + 6], p[0])
        for c in range(4):
            p[1, c] = right[o + P + c] + p[0, c]
        change_of(mu, omega, p[1], right[o + P : o + V])
        for c in range(6):
            right[o + V + c] = u[6 * b + c]


@inlined
def largest_eigenvalue(J, v, out):  # type: ignore[no-untyped-def]
    """Modulus of the largest eigenvalue of the linearised motion, roughly: a few steps of the power method from ``v``.

    ``v`` holds displacements, velocities and states of forces, and is left at the end of the iteration, from which the next call
    goes on; ``out`` is memory.  The number of steps is even: an oscillation, whose eigenvalues are conjugate, then returns to its
    phase.
    """
    m, moving = len(J), J.shape[1] - len(J)
    logarithm = 0.0
    for _ in range(POWER_STEPS):
        size = 0.0
        for r in range(m):
            value = 0.0
            for c in range(moving + m):
                value += J[r, c] * v[c]
            out[r] = value
        for r in range(moving):
            v[r] = v[moving + r]
            size += v[r] * v[r] + out[r] * out[r]
        for r in range(m):
            v[moving + r] = out[r]
        for r in range(moving, m):
            size += out[r] * out[r]
        if not 0.0 < size < np.inf:
            for c in range(moving + m):
                v[c] = math.cos(c)
            return 0.0
        size = math.sqrt(size)
        logarithm += math.log(size)
        for c in range(moving + m):
            v[c] /= size
    return math.exp(logarithm / POWER_STEPS)


def linear_part(purpose, m, t, w, h):  # type: ignore[no-untyped-def]
    """Matrices for a step of length h and their factors; a solution with the factors; or the largest eigenvalue.  Returns a code.

    SOLVE replaces ``right`` of the method's memory, SOLVE_PAIR ``right_pair``; those of variational equations have the matrix of
    the motion.
    """
    own, J = m.own, m.own.jacobian.J
    n = len(own.lu) + m.bodies[0] * (STATE - 6)
    mu, mu_pair = own.coefficients.real / h, own.coefficients.pair / h
    if purpose == FACTORISE:
        set_matrix(mu, own.middle, J, own.lu, own.T, own.p)
        set_matrix(mu_pair, own.middle, J, own.lu_pair, own.T_pair, own.p_pair)
        regular = factorise_lu(own.lu, own.turns[0]) and factorise_lu(own.lu_pair, own.turns[1])
        return OK if regular else SINGULAR
    if purpose == SOLVE:
        for k in range(0, len(m.y), n):
            solve_state(mu, own.middle, J, own.lu, own.turns[0], own.right[k : k + n], own.q, own.u, own.p)
    elif purpose == SOLVE_PAIR:
        for k in range(0, len(m.y), n):
            right = own.right_pair[k : k + n]
            solve_state(mu_pair, own.middle, J, own.lu_pair, own.turns[1], right, own.q_pair, own.u_pair, own.p_pair)
    else:
        own.last[FASTEST_RATE] = largest_eigenvalue(J, own.fastest, own.u)
    return OK


LINEAR_PART = LoopPart(linear_part, (INTEGER,), (REAL,))


@inlined
def solve_linear(purpose, m, t, w, h):  # type: ignore[no-untyped-def]
    """``linear_part``; a code."""
    return call_at(m.address[LINEAR], purpose, m, t, w, h)
