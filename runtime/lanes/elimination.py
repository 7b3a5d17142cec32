"""Block elimination of S = D M^-1 D^T for LANES cases side by side, which differ in D and M alone.

The operations are those of ``runtime.dynamics.elimination``, with all rows kept, in the same order: every lane has the bits that
its case alone would have.  Arrays are flat, the lanes of a number next to each other.
"""

from __future__ import annotations

from runtime.dynamics.layout import GROUND_INDEX, LANES, ROWS
from runtime.jit.compilation import inlined
from runtime.lanes.vector_instructions import all_lanes, load, store, where_above

LINE, BLOCK = ROWS * LANES, ROWS * ROWS * LANES  # of six numbers, of a block


@inlined
def place_of_row(k, r):  # type: ignore[no-untyped-def]
    """Place of row r of joint k in arrays (joints, 6)."""
    return k * LINE + r * LANES


@inlined
def _place(n, r, c):  # type: ignore[no-untyped-def]
    """Place of a number in arrays of blocks (n, 6, 6)."""
    return n * BLOCK + r * LINE + c * LANES


@inlined
def clear(to, o, count):  # type: ignore[no-untyped-def]
    """Put 0 into so many numbers."""
    for n in range(count):
        store(to, o + n * LANES, all_lanes(0.0))


@inlined
def _set_times(to, o, factor, a, p, count):  # type: ignore[no-untyped-def]
    """Put the products of a factor and so many numbers into ``to``."""
    for n in range(count):
        store(to, o + n * LANES, load(a, p + n * LANES) * factor)


@inlined
def _subtract(to, o, factor, a, p, count):  # type: ignore[no-untyped-def]
    """Subtract the products of a factor and so many numbers."""
    for n in range(count):
        store(to, o + n * LANES, load(to, o + n * LANES) - factor * load(a, p + n * LANES))


@inlined
def _divide(D, o, mass, K, p, MD, q):  # type: ignore[no-untyped-def]
    """A row of D M^-1 of the side of a body."""
    inverse = all_lanes(1.0) / mass
    x, y, z = load(D, o + 3 * LANES), load(D, o + 4 * LANES), load(D, o + 5 * LANES)
    for c in range(3):
        k = p + 3 * c * LANES
        store(MD, q + c * LANES, load(D, o + c * LANES) * inverse)
        store(MD, q + (3 + c) * LANES, load(K, k) * x + load(K, k + LANES) * y + load(K, k + 2 * LANES) * z)


@inlined
def _add_products(D, o, MD, p, to, q, count):  # type: ignore[no-untyped-def]
    """Add the products of a row and of so many others."""
    d0, d1, d2 = load(D, o), load(D, o + LANES), load(D, o + 2 * LANES)
    d3, d4, d5 = load(D, o + 3 * LANES), load(D, o + 4 * LANES), load(D, o + 5 * LANES)
    for n in range(count):
        m = p + n * LINE
        product = (
            d0 * load(MD, m) + d1 * load(MD, m + LANES) + d2 * load(MD, m + 2 * LANES) + d3 * load(MD, m + 3 * LANES)
            + d4 * load(MD, m + 4 * LANES) + d5 * load(MD, m + 5 * LANES)
        )  # fmt: skip
        store(to, q + n * LANES, load(to, q + n * LANES) + product)


@inlined
def _assemble(t, m):  # type: ignore[no-untyped-def]
    s = t.sparsity
    for k in range(len(t.address)):
        for side in range(2):
            b = t.body_i[k] if side == 0 else t.body_j[k]
            if b != GROUND_INDEX:
                mass = load(m.mass, b * LANES)
                for r in range(t.rows[k]):
                    o = (2 * ROWS * k + 2 * r + side) * LINE
                    _divide(m.D, o, mass, m.K, 9 * b * LANES, m.MD, _place(2 * k + side, r, 0))
    for n in range(len(s.block_row)):
        for r in range(t.rows[s.block_col[n]]):
            clear(m.S, _place(n, r, 0), t.rows[s.block_row[n]])
    for n in range(len(s.pairs)):
        block, later, earlier = s.pairs[n, 0], s.pairs[n, 1], s.pairs[n, 3]
        for r in range(t.rows[earlier]):
            o, c = (2 * ROWS * earlier + 2 * r + s.pairs[n, 4]) * LINE, r if later == earlier else 0
            p = _place(2 * later + s.pairs[n, 2], c, 0)
            _add_products(m.D, o, m.MD, p, m.S, _place(block, r, c), t.rows[later] - c)
    damped = all_lanes(1.0) + load(m.damping, 0)
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            o = _place(s.diagonal[k], r, r)
            store(m.size, place_of_row(k, r), load(m.S, o))
            store(m.S, o, load(m.S, o) * damped)


@inlined
def _factorise_diagonal(k, t, m):  # type: ignore[no-untyped-def]
    n, rows, none = t.sparsity.diagonal[k], t.rows[k], all_lanes(0.0)
    for c in range(rows):
        pivot = load(m.S, _place(n, c, c))
        inverse = where_above(pivot, none, all_lanes(1.0) / pivot, none)  # 0 of a dependent row
        store(m.inverse_pivot, place_of_row(k, c), inverse)
        _set_times(m.L, _place(n, c, c + 1), inverse, m.S, _place(n, c, c + 1), rows - c - 1)
        for r in range(c + 1, rows):
            _subtract(m.S, _place(n, r, r), load(m.L, _place(n, c, r)), m.S, _place(n, c, r), rows - r)


@inlined
def _eliminate(p, k, t, m):  # type: ignore[no-untyped-def]
    s, n = t.sparsity, t.sparsity.diagonal[k]
    for e in range(s.column_start[p], s.column_start[p + 1]):
        b = s.column_block[e]
        count = t.rows[s.block_row[b]]
        for c in range(t.rows[k]):
            for r in range(c):
                _subtract(m.S, _place(b, c, 0), load(m.L, _place(n, r, c)), m.S, _place(b, r, 0), count)
            inverse = load(m.inverse_pivot, place_of_row(k, c))
            _set_times(m.L, _place(b, c, 0), inverse, m.S, _place(b, c, 0), count)
    for e in range(s.update_start[p], s.update_start[p + 1]):
        target, later, earlier = s.updates[e, 0], s.updates[e, 1], s.updates[e, 2]
        count = t.rows[s.block_row[later]]
        for r in range(t.rows[s.block_row[earlier]]):
            c = r if later == earlier else 0
            for q in range(t.rows[k]):
                factor = load(m.L, _place(earlier, q, r))
                _subtract(m.S, _place(target, r, c), factor, m.S, _place(later, q, c), count - c)


@inlined
def _forwards(p, k, t, m):  # type: ignore[no-untyped-def]
    s, n = t.sparsity, t.sparsity.diagonal[k]
    for c in range(t.rows[k]):
        o = place_of_row(k, c)
        _subtract(m.lam, o + LANES, load(m.lam, o), m.L, _place(n, c, c + 1), t.rows[k] - c - 1)
    for e in range(s.column_start[p], s.column_start[p + 1]):
        b, row = s.column_block[e], s.block_row[s.column_block[e]]
        for c in range(t.rows[k]):
            value = load(m.lam, place_of_row(k, c))
            _subtract(m.lam, place_of_row(row, 0), value, m.L, _place(b, c, 0), t.rows[row])
    for c in range(t.rows[k]):
        o = place_of_row(k, c)
        store(m.lam, o, load(m.lam, o) * load(m.inverse_pivot, o))


@inlined
def _less_products(value, L, o, lam, p, count):  # type: ignore[no-untyped-def]
    """A number less so many products."""
    for n in range(count):
        value = value - load(L, o + n * LANES) * load(lam, p + n * LANES)
    return value


@inlined
def _backwards(p, k, t, m):  # type: ignore[no-untyped-def]
    s, n = t.sparsity, t.sparsity.diagonal[k]
    for e in range(s.column_start[p], s.column_start[p + 1]):
        b, row = s.column_block[e], s.block_row[s.column_block[e]]
        for c in range(t.rows[k]):
            o = place_of_row(k, c)
            value = _less_products(load(m.lam, o), m.L, _place(b, c, 0), m.lam, place_of_row(row, 0), t.rows[row])
            store(m.lam, o, value)
    for c in range(t.rows[k] - 1, -1, -1):
        o = place_of_row(k, c)
        value = _less_products(load(m.lam, o), m.L, _place(n, c, c + 1), m.lam, o + LANES, t.rows[k] - c - 1)
        store(m.lam, o, value)


@inlined
def factorise_lanes(t, m):  # type: ignore[no-untyped-def]
    """Factorise S, damped by ``m.damping``."""
    _assemble(t, m)
    for p in range(len(t.sparsity.order)):
        k = t.sparsity.order[p]
        _factorise_diagonal(k, t, m)
        _eliminate(p, k, t, m)


@inlined
def least_correction(rows, t, m):  # type: ignore[no-untyped-def]
    """``projection.correction`` of Phi or Phi' of all lanes, into ``m.u``; after ``factorise_lanes``."""
    for o in range(0, len(m.lam), LANES):
        store(m.lam, o, load(rows, o))
    for p in range(len(t.sparsity.order)):
        _forwards(p, t.sparsity.order[p], t, m)
    for p in range(len(t.sparsity.order) - 1, -1, -1):
        _backwards(p, t.sparsity.order[p], t, m)
    clear(m.u, 0, 6 * len(t.mass))
    for k in range(len(t.address)):
        for side in range(2):
            b = t.body_i[k] if side == 0 else t.body_j[k]
            if b != GROUND_INDEX:
                for r in range(t.rows[k]):
                    _subtract(m.u, b * LINE, load(m.lam, place_of_row(k, r)), m.MD, _place(2 * k + side, r, 0), 6)
