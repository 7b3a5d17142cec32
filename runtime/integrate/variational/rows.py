"""Derivatives of a state as changes of its bodies, and their projection onto the derivatives of the rows, in compiled code."""

from __future__ import annotations

from runtime.dynamics.directions import BODY, BOTH
from runtime.dynamics.elimination import apply, solve
from runtime.dynamics.kinematics import euler_rates, turn_of
from runtime.dynamics.layout import STATE, P, V
from runtime.jit import addresses
from runtime.jit.compilation import inlined


@inlined
def put_changes(states, z, change):  # type: ignore[no-untyped-def]
    """Displacements (translation, rotation) of all bodies, then changes of velocity, of the derivatives z of their states."""
    bodies = len(change) // BODY
    for b in range(bodies):
        o = STATE * b
        e, turn = states[o + P : o + V], change[6 * b + 3 : 6 * b + 6]
        turn_of(e, z[o + P : o + V], turn)
        square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]
        for c in range(3):
            change[6 * b + c] = z[o + c]
            turn[c] /= square
        for c in range(6):
            change[6 * (bodies + b) + c] = z[o + V + c]


@inlined
def put_row_slopes(t, w, m):  # type: ignore[no-untyped-def]
    """The derivatives of Phi' and Phi of each joint over the directions of its bodies, into ``m.slopes``."""
    for c in range(18):
        m.jacobian.about[c] = 0.0
    for k in range(len(t.address)):
        addresses.call(
            m.jacobian.joint[k], w.state[t.body_i[k]].ctypes.data, w.state[t.body_j[k]].ctypes.data, w.x[k].ctypes.data,
            m.jacobian.about.ctypes.data, m.jacobian.seeds.ctypes.data, m.jacobian.out.ctypes.data,
        )  # fmt: skip
        for r in range(t.rows[k]):
            for n in range(BOTH):
                m.slopes[k, 0, r, n] = m.jacobian.out[12 + 2 * t.rows[k] + r, n]
                m.slopes[k, 1, r, n] = m.jacobian.out[12 + t.rows[k] + r, n]


@inlined
def slope_along(d, joint, which, r, c, side, body):  # type: ignore[no-untyped-def]
    """The part of component c of a body's change in the change of a row; 0 for the ground."""
    if body < 0:
        return 0.0
    at, of_row = 6 * body + c, d.slopes[joint, which, r]
    other = at + len(d.change) // 2
    return of_row[BODY * side + c] * d.change[at] + of_row[BODY * side + 6 + c] * d.change[other]


@inlined
def correct(which, k, states, z, t, w, d):  # type: ignore[no-untyped-def]
    """Move the derivatives z with respect to parameter k onto the derivatives of Phi (0), or of Phi' (1), of all rows."""
    bodies = len(t.mass) - 1
    for _ in range(2):  # the second pass removes what the damping of the factors leaves
        put_changes(states, z, d.change)
        for n in range(len(t.address)):
            for r in range(t.rows[n]):
                value = d.rows[k, which, n, r]
                for c in range(6):
                    value += slope_along(d, n, which, r, c, 0, t.body_i[n] - 1) + slope_along(
                        d, n, which, r, c, 1, t.body_j[n] - 1
                    )
                w.y[n, r] = value
        solve(t, w)
        w.v_dot[:, :] = 0.0
        apply(t, w, w.y, w.v_dot)
        for b in range(bodies):
            o, u = STATE * b, w.v_dot[b + 1]
            if which == 1:
                for c in range(6):
                    z[o + V + c] += u[c]
            else:
                euler_rates(states[o + P : o + V], u[3:6], d.p)
                for c in range(3):
                    z[o + c] += u[c]
                for c in range(4):
                    z[o + P + c] += d.p[c]
