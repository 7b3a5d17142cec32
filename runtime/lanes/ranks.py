"""Whether the rows of each joint are surely independent, in LANES cases side by side."""

from __future__ import annotations

import math

from runtime.dynamics.layout import GROUND_INDEX
from runtime.jit.compilation import inlined
from runtime.jit.lane_vectors import choose

E = 2.718281828459045


@inlined
def _natural_size(length, power):  # type: ignore[no-untyped-def]
    """A power of a length."""
    size = 1.0
    for _ in range(abs(power)):
        size = size * length
    return 1.0 / size if power < 0 else size


@inlined
def _unit_rows(k, powers, least, t, m, regular):  # type: ignore[no-untyped-def]
    """Rows of size 1 of a joint, rotations in units of its lever arm, into ``m.rows``; 0 in lanes where one is too small."""
    length = m.length[k]
    for r in range(t.rows[k]):
        total = 0.0
        for side in range(2):
            ground, to = (t.body_i[k] if side == 0 else t.body_j[k]) == GROUND_INDEX, m.rows[k, side, r]
            for c in range(6):
                value = m.D[k, r, 6 * side + c] / length if c > 2 else m.D[k, r, 6 * side + c]
                to[c] = choose(ground, 0.0, value)
                total = total + to[c] * to[c]
        size = math.sqrt(total)
        regular = choose(size > least * _natural_size(length, powers[k, r]), regular, 0.0)
        for side in range(2):
            for c in range(6):
                m.rows[k, side, r, c] = m.rows[k, side, r, c] / size
    return regular


@inlined
def _determinant(k, t, m):  # type: ignore[no-untyped-def]
    """Determinant of the products of the unit rows of a joint; not a number, or 0 or less, where they are dependent."""
    rows, S, found = t.rows[k], m.S[0], 1.0
    for r in range(rows):
        for q in range(r, rows):
            S[r, q] = 0.0
            for side in range(2):
                for c in range(6):
                    S[r, q] += m.rows[k, side, r, c] * m.rows[k, side, q, c]
    for r in range(rows):  # elimination without an exchange of rows: the matrix is positive definite, or singular
        pivot = S[r, r]
        found = choose(pivot > 0.0, found * pivot, 0.0)
        for q in range(r + 1, rows):
            factor = S[r, q] / pivot
            for c in range(q, rows):
                S[q, c] -= factor * S[r, c]
    return found


@inlined
def regular_lanes(powers, least, t, m, regular):  # type: ignore[no-untyped-def]
    """Put 1 into ``regular`` (1,) where the rows of every joint have singular values above ``least``, surely; else 0.

    powers (joints, 6): powers of the lever arm that are the natural sizes of the rows.  ``m.rows`` and ``m.S`` are overwritten.
    """
    # Of r unit rows the smallest singular value is at least the root of det(D D^T) ((r - 1) / r)^(r - 1), which is above det / e.
    regular[0] = 1.0
    for k in range(len(t.address)):
        found = _unit_rows(k, powers, least, t, m, regular[0])
        regular[0] = choose(_determinant(k, t, m) > E * least * least, found, 0.0)
