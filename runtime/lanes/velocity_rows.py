"""Many cases of a pose that differ in the velocities of the bodies: their rows and rates, side by side in vector instructions.

In a pose Phi', the rates of the coordinates of a tree, and the velocities that belong to rates are linear functions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.dynamics.kinematics import update_kinematics
from runtime.jit.compilation import columns, compiled, inlined
from runtime.support.arrays import Floats, Ints


class LinearRows(NamedTuple):
    """Rows of linear functions without their zeros: ``offset`` plus the sum of factors times variables, in groups of four."""

    offset: Floats  # (rows,)
    begin: Ints  # (rows + 1,) of the groups of each row, and the end of the last
    variable: Ints  # (groups, 4)
    factor: Floats  # (groups, 4)


class VelocityRows(NamedTuple):
    """Linear functions of the velocities (6 bodies,), v and omega by body, in a pose."""

    violated: LinearRows  # Phi'
    rates: LinearRows  # of the coordinates
    lifted: LinearRows  # velocities, of the rates
    least: Floats  # (2,) speeds up to this count as this in the tolerances of Phi' and of the lifted velocities
    tolerance: Floats  # (2,) of both, as a fraction of the speed


def linear_rows(offset: Floats, matrix: Floats) -> LinearRows:
    """The functions ``offset`` (rows,) + ``matrix`` (rows, variables) times variables."""
    counts = -(-np.count_nonzero(matrix, axis=1) // 4)
    begin = np.append(0, np.cumsum(counts)).astype(np.int64)
    variable, factor = np.zeros(4 * begin[-1], np.int64), np.zeros(4 * begin[-1])
    for row, first in enumerate(4 * begin[:-1]):
        (used,) = np.nonzero(matrix[row])
        variable[first : first + len(used)], factor[first : first + len(used)] = used, matrix[row, used]
    return LinearRows(offset.copy(), begin, variable.reshape(-1, 4), factor.reshape(-1, 4))


@compiled
def rates_of_rows(time, states, t, w, found):  # type: ignore[no-untyped-def]
    """Largest |Phi|, and Phi' of all rows, into ``found`` (n, 1 + joints * ROWS), of states (n, 13 bodies) at one time."""
    for n in range(len(states)):
        update_kinematics(time, states[n], t, w)
        for k in range(len(t.address)):
            for r in range(t.rows[k]):
                value = abs(w.Phi[k, r])
                found[n, 0] = value if not value <= found[n, 0] else found[n, 0]
                found[n, 1 + k * w.Phi.shape[1] + r] = w.Phi_dot[k, r]


@columns
def set_row(offset, to):  # type: ignore[no-untyped-def]
    """Begin the values of a row."""
    for n in range(len(to)):
        to[n] = offset


@columns
def add_terms(factor, a, b, c, d, to):  # type: ignore[no-untyped-def]
    """Add four factors times variables."""
    fa, fb, fc, fd = factor[0], factor[1], factor[2], factor[3]
    for n in range(len(to)):
        to[n] += fa * a[n] + fb * b[n] + (fc * c[n] + fd * d[n])


@inlined
def put_values(rows, row, x, to):  # type: ignore[no-untyped-def]
    """Values (cases,) of a row for variables x (variables, cases)."""
    set_row(rows.offset[row], to)
    for k in range(rows.begin[row], rows.begin[row + 1]):
        which = rows.variable[k]
        add_terms(rows.factor[k], x[which[0]], x[which[1]], x[which[2]], x[which[3]], to)


@columns
def find_speed(v, speed):  # type: ignore[no-untyped-def]
    """Largest of the speeds so far and the sizes of velocities."""
    for n in range(len(speed)):
        speed[n] = max(speed[n], abs(v[n]))


@columns
def subtract(x, to):  # type: ignore[no-untyped-def]
    """Subtract variables from values."""
    for n in range(len(to)):
        to[n] -= x[n]


@columns
def count_beyond(value, speed, least, tolerance, beyond):  # type: ignore[no-untyped-def]
    """Count values that are beyond their tolerance, or not finite."""
    for n in range(len(value)):
        beyond[n] += 0.0 if abs(value[n]) <= tolerance * max(least, speed[n]) else 1.0


@compiled  # without fused multiply-adds: vector instructions and the rest of a loop might use others
def find_rates(t, v, u, speed, value, beyond):  # type: ignore[no-untyped-def]
    """Rates u (n, cases) for velocities v (6 bodies, cases), and of how many rows the values are beyond their tolerances.

    These rows are Phi', and the differences of the velocities from those that belong to the rates.  Also filled: ``speed``
    (cases,), the largest component of the velocities, and ``value`` (cases,).
    """
    set_row(0.0, speed)
    set_row(0.0, beyond)
    for row in range(len(v)):
        find_speed(v[row], speed)
    for row in range(len(t.violated.offset)):
        put_values(t.violated, row, v, value)
        count_beyond(value, speed, t.least[0], t.tolerance[0], beyond)
    for row in range(len(u)):
        put_values(t.rates, row, v, u[row])
    for row in range(len(v)):
        put_values(t.lifted, row, u, value)
        subtract(v[row], value)
        count_beyond(value, speed, t.least[1], t.tolerance[1], beyond)
