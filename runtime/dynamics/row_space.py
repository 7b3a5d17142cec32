"""Rows of the constraints as vectors of equal unit, whose directions show the branch of a closed loop, in compiled code."""

from __future__ import annotations

import math

from runtime.dynamics.closing_rows import update_rows
from runtime.dynamics.kinematics import update_kinematics
from runtime.dynamics.layout import GROUND_INDEX, STATE
from runtime.dynamics.recursion import inwards
from runtime.dynamics.responses import respond
from runtime.jit.compilation import inlined
from runtime.jit.pointers import array_at

BODY = 6  # entries of a row for each body
SMALL, COSINE = 1e-300, 0.2


@inlined
def add_row(t, w, k, r, to):  # type: ignore[no-untyped-def]
    """Put row r of joint k, divided by roots of masses, into ``to`` (6 bodies)."""
    to[:] = 0.0
    for side in range(2):
        b = t.body_i[k] if side == 0 else t.body_j[k]
        if b == GROUND_INDEX:
            continue
        K, D, o = w.inertia_inverse[b], w.D[k, r], BODY * (b - 1)
        linear, angular = math.sqrt(1.0 / t.mass[b]), math.sqrt((K[0, 0] + K[1, 1] + K[2, 2]) / 3.0)
        for c in range(3):
            to[o + c] += linear * D[BODY * side + c]
            to[o + 3 + c] += angular * D[BODY * side + 3 + c]


def rows_part(time, y, t, w, purpose, rows):  # type: ignore[no-untyped-def]
    """Put the independent rows of D (count, 6 bodies) at a state into ``rows``, divided by roots of masses; their number."""
    bodies = len(t.mass) - 1
    update_kinematics(time, array_at(y, STATE * bodies), t, w)
    n, count = BODY * bodies, 0
    to = array_at(rows, w.kept.size * n)
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            if t.redundant > 0 and w.kept[k, r] == 0.0:
                continue
            add_row(t, w, k, r, to[count * n : (count + 1) * n])
            count += 1
    return count


def closed_rows_part(time, y, t, w, purpose, rows):  # type: ignore[no-untyped-def]
    """As ``rows_part``: accelerations of the coordinates of a tree (count, rates) for unit multipliers of independent rows."""
    m = w.tree
    c, first, size = m.closing, m.data.u[0], m.size[0]
    update_rows(time, array_at(y, size), t, w)
    if c.address[0] == 0:
        inwards(m.data, m.lifting, m.recursion, m)
        respond(m.data, m, t, w, True)
    n = size - first
    to = array_at(rows, len(c.joint) * n)
    for p in range(max(c.chosen[0], 0)):
        for i in range(n):
            to[p * n + i] = c.response[c.order[p], first + i]
    return c.chosen[0]


@inlined
def to_unit_length(rows, o, n):  # type: ignore[no-untyped-def]
    """Divide a row, which begins at o, by its length, which is returned."""
    square = 0.0
    for i in range(n):
        square += rows[o + i] * rows[o + i]
    length = math.sqrt(square)
    for i in range(n):
        rows[o + i] /= max(length, SMALL)
    return length


@inlined
def orthonormalise(rows, count, n):  # type: ignore[no-untyped-def]
    """Make rows (count, n) orthonormal, each against those before it; the smallest sine of an angle between a row and these.

    Where a row is dependent its direction is lost; on both sides of such a place the directions are opposite.
    """
    smallest = 1.0
    for p in range(count):
        o = p * n
        to_unit_length(rows, o, n)
        for again in range(2):  # nearly dependent rows leave rounding the first time
            for q in range(p):
                along = 0.0
                for i in range(n):
                    along += rows[o + i] * rows[q * n + i]
                for i in range(n):
                    rows[o + i] -= along * rows[q * n + i]
            length = to_unit_length(rows, o, n)
            if again == 0:
                smallest = min(smallest, length)
    return smallest


@inlined
def same_side(first, other, product, count, n):  # type: ignore[no-untyped-def]
    """Whether all directions in the space of orthonormal rows are within 78 degrees of their counterparts among other rows.

    Of the matrix of their products the symmetric part, minus ``COSINE``, is positive definite then: ``product`` (count, count) is
    for its factors.
    """
    for p in range(count):
        for q in range(p + 1):
            value = 0.0
            for i in range(n):
                value += first[p * n + i] * other[q * n + i] + first[q * n + i] * other[p * n + i]
            product[p * count + q] = value
        product[p * count + p] -= 2.0 * COSINE
    for p in range(count):
        for q in range(p + 1):
            value = product[p * count + q]
            for k in range(q):
                value -= product[p * count + k] * product[q * count + k]
            if q < p:
                product[p * count + q] = value / product[q * count + q]
            elif not value > 0.0:
                return False
            else:
                product[p * count + p] = math.sqrt(value)
    return True
