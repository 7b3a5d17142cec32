"""Whether the rows of each joint are surely independent, in LANES cases side by side."""

from __future__ import annotations

from runtime.dynamics.layout import GROUND_INDEX, LANES
from runtime.jit.compilation import inlined
from runtime.lanes.elimination import LINE, place_of_row
from runtime.lanes.vector_instructions import all_lanes, load, root, store, where_above

E = 2.718281828459045


@inlined
def _natural_size(length, power):  # type: ignore[no-untyped-def]
    """A power of a length."""
    size = all_lanes(1.0)
    for _ in range(abs(power)):
        size = size * length
    return all_lanes(1.0) / size if power < 0 else size


@inlined
def _unit_rows(k, powers, least, t, m, regular):  # type: ignore[no-untyped-def]
    """Rows of size 1 of a joint, rotations in units of its lever arm, into ``m.MD``; 0 in lanes where one is too small."""
    length, none = load(m.length, k * LANES), all_lanes(0.0)
    for r in range(t.rows[k]):
        o, total = 12 * place_of_row(k, r), none
        for c in range(12):
            body = t.body_i[k] if c < 6 else t.body_j[k]
            value = none if body == GROUND_INDEX else load(m.D, o + c * LANES)
            value = value / length if c % 6 > 2 else value
            store(m.MD, o + c * LANES, value)
            total = total + value * value
        size = root(total)
        regular = where_above(size, all_lanes(least) * _natural_size(length, powers[k, r]), regular, none)
        for c in range(12):
            store(m.MD, o + c * LANES, load(m.MD, o + c * LANES) / size)
    return regular


@inlined
def _determinant(k, t, m):  # type: ignore[no-untyped-def]
    """Determinant of the products of the unit rows of a joint; not a number, or 0 or less, where they are dependent."""
    rows, found = t.rows[k], all_lanes(1.0)
    for r in range(rows):
        for q in range(r, rows):
            total, a, b = all_lanes(0.0), 12 * place_of_row(k, r), 12 * place_of_row(k, q)
            for c in range(12):
                total = total + load(m.MD, a + c * LANES) * load(m.MD, b + c * LANES)
            store(m.S, r * LINE + q * LANES, total)
    for r in range(rows):  # elimination without an exchange of rows: the matrix is positive definite, or singular
        pivot = load(m.S, r * LINE + r * LANES)
        found = where_above(pivot, all_lanes(0.0), found * pivot, all_lanes(0.0))
        for q in range(r + 1, rows):
            factor = load(m.S, r * LINE + q * LANES) / pivot
            for c in range(q, rows):
                o = q * LINE + c * LANES
                store(m.S, o, load(m.S, o) - factor * load(m.S, r * LINE + c * LANES))
    return found


@inlined
def regular_lanes(powers, least, t, m, regular):  # type: ignore[no-untyped-def]
    """Put 1 into ``regular`` (LANES,) where the rows of every joint have singular values above ``least``, surely; else 0.

    powers (joints, 6): powers of the lever arm that are the natural sizes of the rows.  ``m.MD`` and ``m.S`` are overwritten.
    """
    # Of r unit rows the smallest singular value is at least the root of det(D D^T) ((r - 1) / r)^(r - 1), which is above det / e.
    found, none = all_lanes(1.0), all_lanes(0.0)
    for k in range(len(t.address)):
        found = _unit_rows(k, powers, least, t, m, found)
        found = where_above(_determinant(k, t, m), all_lanes(E * least * least), found, none)
    store(regular, 0, found)
