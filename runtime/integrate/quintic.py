"""Polynomials of degree 5 of the positions of a body in a step, by r, v and v' at both ends; the velocities are their slopes.

A direction that is stiff leaves errors in velocities and accelerations, and hardly any in positions: the velocities between
the ends are then more accurate than those at the ends.
"""

from __future__ import annotations

from runtime.dynamics.kinematics import euler_rates, turn_of
from runtime.dynamics.layout import OMEGA, STATE, P, V
from runtime.integrate.stepping import LENGTH
from runtime.jit.compilation import inlined

DEGREE = 5
POSITIONS = 7  # scalars of r and p of a body
SCRATCH = 8  # memory of the functions below


@inlined
def set_quintic(s, b, first, last, dense, scratch):  # type: ignore[no-untyped-def]
    """Put the polynomials of body b in the last step into ``dense`` (6, 7 bodies); accelerations: ``first``, ``last`` (n,)."""
    o, h = STATE * b, s.time[LENGTH]
    for end in range(2):
        y, y_dot, slope = (s.y_old, s.begin, first) if end == 0 else (s.y, s.end, last)
        # p'' = 1/2 G(p')^T omega + 1/2 G(p)^T omega'
        euler_rates(y_dot[o + P : o + V], y[o + OMEGA : o + STATE], scratch[:4])
        euler_rates(y[o + P : o + V], slope[o + OMEGA : o + STATE], scratch[4:8])
        for c in range(POSITIONS):
            second = slope[o + V + c] if c < 3 else scratch[c - 3] + scratch[c + 1]
            dense[3 * end, POSITIONS * b + c] = y[o + c]
            dense[3 * end + 1, POSITIONS * b + c] = h * y_dot[o + c]
            dense[3 * end + 2, POSITIONS * b + c] = h * h * second
    for k in range(POSITIONS * b, POSITIONS * (b + 1)):
        y0, v0, a0 = dense[0, k], dense[1, k], dense[2, k]
        y1, v1, a1 = dense[3, k], dense[4, k], dense[5, k]
        rise, v, a = y1 - y0 - v0 - 0.5 * a0, v1 - v0 - a0, a1 - a0
        dense[2, k] = 0.5 * a0
        dense[3, k] = 10.0 * rise - 4.0 * v + 0.5 * a
        dense[4, k] = -15.0 * rise + 7.0 * v - a
        dense[5, k] = 6.0 * rise - 3.0 * v + 0.5 * a


@inlined
def at_quintic(s, b, x, dense, scratch, y):  # type: ignore[no-untyped-def]
    """Put the state of body b at the fraction x of the step into y (13,); p is not of unit length."""
    h = s.time[LENGTH]
    for c in range(POSITIONS):
        d = dense[:, POSITIONS * b + c]
        y[c] = d[0] + x * (d[1] + x * (d[2] + x * (d[3] + x * (d[4] + x * d[5]))))
        slope = (d[1] + x * (2.0 * d[2] + x * (3.0 * d[3] + x * (4.0 * d[4] + x * 5.0 * d[5])))) / h
        if c < 3:
            y[V + c] = slope
        else:
            scratch[c - 3] = slope
    e, omega = y[P:V], y[OMEGA:STATE]
    turn_of(e, scratch, omega)
    square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]
    for c in range(3):
        omega[c] /= square  # omega = 2 G p' / |p|^2
