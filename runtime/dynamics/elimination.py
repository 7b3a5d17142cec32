"""Block elimination of the Schur complement S = D M^-1 D^T in compiled code."""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.layout import GROUND_INDEX, NOT_FINITE, OK, SINGULAR
from runtime.dynamics.places import FACTORS, THIN
from runtime.jit.compilation import inlined
from runtime.jit.pointers import call_at

# A row whose pivot in S is below this fraction of the row's diagonal entry depends on the rows before it.
# Pivots are squares: 1e-13 means that the row leaves the others by an angle below 3e-7.
PIVOT_TOLERANCE = 1e-13
# Closed loops may have redundant rows.  Which rows are independent is chosen anew at the end of each step, where all rows are
# satisfied: those whose pivots are above the first of these tolerances that leaves as many rows as the rank of the mechanism.
CHOICES = (1e-4, 1e-6, 1e-8, 1e-10)
DAMPING = 1e-10  # of the factors with which states of closed loops are projected onto all rows, redundant ones too


@inlined
def code_of_pivot(smallest_pivot):  # type: ignore[no-untyped-def]
    """Code of an evaluation that is not OK, by its smallest pivot ratio or the inverse square of it."""
    return SINGULAR if smallest_pivot == smallest_pivot else NOT_FINITE


@inlined
def scale_rows(t, mass, w):  # type: ignore[no-untyped-def]
    """Rows of D by side, and M^-1 D^T, for masses of the bodies."""
    for k in range(len(t.address)):
        for side in range(2):
            b = t.body_i[k] if side == 0 else t.body_j[k]
            if b == GROUND_INDEX:
                continue
            rows, MD, K, inverse = w.rows[k, side], w.MD[k, side], w.inertia_inverse[b], 1.0 / mass[b]
            for r in range(t.rows[k]):
                D = w.D[k, r]
                for c in range(6):
                    rows[r, c] = D[c] if side == 0 else D[6 + c]
            for r in range(t.rows[k]):
                for c in range(3):
                    MD[r, c] = rows[r, c] * inverse
                    MD[r, 3 + c] = K[c, 0] * rows[r, 3] + K[c, 1] * rows[r, 4] + K[c, 2] * rows[r, 5]


@inlined
def assemble(t, mass, w, damping):  # type: ignore[no-untyped-def]
    """S = D M^-1 D^T by upper blocks, with the diagonal enlarged by the fraction ``damping``; ``w.size`` is the one before."""
    s = t.sparsity
    scale_rows(t, mass, w)
    for n in range(len(s.block_row)):
        block = w.S[n]
        for r in range(t.rows[s.block_col[n]]):
            for c in range(t.rows[s.block_row[n]]):
                block[r, c] = 0.0
    for n in range(len(s.pairs)):
        block, later, earlier = w.S[s.pairs[n, 0]], s.pairs[n, 1], s.pairs[n, 3]
        MD, D = w.MD[later, s.pairs[n, 2]], w.rows[earlier, s.pairs[n, 4]]
        for r in range(t.rows[earlier]):
            d0, d1, d2, d3, d4, d5 = D[r, 0], D[r, 1], D[r, 2], D[r, 3], D[r, 4], D[r, 5]
            for c in range(r if later == earlier else 0, t.rows[later]):
                block[r, c] += (
                    d0 * MD[c, 0] + d1 * MD[c, 1] + d2 * MD[c, 2] + d3 * MD[c, 3] + d4 * MD[c, 4] + d5 * MD[c, 5]
                )
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            w.size[k, r] = w.S[s.diagonal[k], r, r]
            w.S[s.diagonal[k], r, r] *= 1.0 + damping


@inlined
def factorise_diagonal(k, dependent, smallest_pivot, tolerance, chosen, t, w):  # type: ignore[no-untyped-def]
    """Factorise the diagonal block of joint k; the number of dependent rows and the smallest pivot ratio so far."""
    n = t.sparsity.diagonal[k]
    S, L, inverse, size = w.S[n], w.L[n], w.inverse[k], w.size[k]
    for c in range(t.rows[k]):
        pivot = S[c, c]
        if chosen and w.kept[k, c] == 0.0:
            pivot = 0.0
        elif not pivot >= smallest_pivot * size[c]:
            smallest_pivot = pivot / size[c]
        # The comparison is false for NaN, which is then a failure as well.
        if pivot > tolerance * size[c]:
            inverse[c] = 1.0 / pivot
        else:
            if not chosen or w.kept[k, c] != 0.0:
                if dependent == 0:
                    w.failed[0], w.failed[1] = k, c
                dependent += 1
            inverse[c] = 0.0
        subtract_row(c, t.rows[k], inverse[c], S, L)
    return dependent, smallest_pivot


@inlined
def subtract_row(c, rows, inverse, S, L):  # type: ignore[no-untyped-def]
    """Subtract row c of a diagonal block from those below it, by its inverse pivot, and put their factors into L."""
    for r in range(c + 1, rows):
        factor = S[c, r] * inverse
        L[c, r] = factor
        for q in range(r, rows):
            S[r, q] -= factor * S[c, q]


@inlined
def eliminate(p, k, t, w):  # type: ignore[no-untyped-def]
    """Compute the blocks of L below joint k, at place p of the order, and subtract their products from the rest of S."""
    s = t.sparsity
    L, inverse = w.L[s.diagonal[k]], w.inverse[k]
    for e in range(s.column_start[p], s.column_start[p + 1]):
        B, V, columns = w.S[s.column_block[e]], w.L[s.column_block[e]], t.rows[s.block_row[s.column_block[e]]]
        for c in range(t.rows[k]):
            for q in range(columns):
                value = B[c, q]
                for r in range(c):
                    value -= L[r, c] * B[r, q]
                B[c, q] = value
                V[c, q] = value * inverse[c]
    for e in range(s.update_start[p], s.update_start[p + 1]):
        target, later, earlier = w.S[s.updates[e, 0]], w.S[s.updates[e, 1]], w.L[s.updates[e, 2]]
        rows, columns = t.rows[s.block_row[s.updates[e, 2]]], t.rows[s.block_row[s.updates[e, 1]]]
        for r in range(rows):
            for c in range(r if s.updates[e, 1] == s.updates[e, 2] else 0, columns):
                value = target[r, c]
                for q in range(t.rows[k]):
                    value -= earlier[q, r] * later[q, c]
                target[r, c] = value


@inlined
def factorise(t, w, tolerance, damping, chosen):  # type: ignore[no-untyped-def]
    """Factorise S = D M^-1 D^T = L diag(pivots) L^T by blocks.  Returns how many rows depend on rows before them.

    Such rows, whose pivot is below the tolerance times their own size, get the inverse pivot 0, which removes them from the
    system: their multiplier is zero.  The diagonal of S is enlarged by the fraction ``damping``.  ``chosen``: 1 to leave out the
    rows of which ``w.kept`` is 0.
    """
    if len(t.address) == 0:
        w.smallest_pivot[0] = np.inf
        return 0
    w.tolerance[0] = tolerance
    return call_at(w.address[FACTORS], damping, w.tolerance, t, w, chosen, w.tolerance)


def factors_part(damping, tolerance, t, w, chosen, output):  # type: ignore[no-untyped-def]
    """``factorise``, compiled once for all callers."""
    assemble(t, t.mass, w, damping)
    dependent, smallest_pivot = 0, np.inf
    for p in range(len(t.sparsity.order)):
        k = t.sparsity.order[p]
        dependent, smallest_pivot = factorise_diagonal(k, dependent, smallest_pivot, w.tolerance[0], chosen, t, w)
        eliminate(p, k, t, w)
    w.smallest_pivot[0] = smallest_pivot
    return dependent


@inlined
def choose_rows(t, w):  # type: ignore[no-untyped-def]
    """Factorise S with as many independent rows as the mechanism has, and keep this choice; returns how many rows are missing."""
    missing = 0
    for tolerance in CHOICES:
        missing = factorise(t, w, tolerance, 0.0, 0) - t.redundant
        if missing <= 0:
            break
    smallest_pivot = np.inf
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            w.kept[k, r] = 0.0 if w.inverse[k, r] == 0.0 else 1.0
            if w.inverse[k, r] != 0.0:
                smallest_pivot = min(smallest_pivot, 1.0 / (w.inverse[k, r] * w.size[k, r]))
    w.smallest_pivot[0] = smallest_pivot
    return missing


@inlined
def solve(t, w):  # type: ignore[no-untyped-def]
    """w.y = S^-1 w.y with the factors of ``factorise``."""
    s = t.sparsity
    for p in range(len(s.order)):
        k = s.order[p]
        L, y = w.L[s.diagonal[k]], w.y[k]
        for c in range(t.rows[k]):
            for r in range(c + 1, t.rows[k]):
                y[r] -= L[c, r] * y[c]
        for e in range(s.column_start[p], s.column_start[p + 1]):
            V, row = w.L[s.column_block[e]], s.block_row[s.column_block[e]]
            to = w.y[row]
            for c in range(t.rows[k]):
                for r in range(t.rows[row]):
                    to[r] -= V[c, r] * y[c]
        for c in range(t.rows[k]):
            y[c] *= w.inverse[k, c]
    for p in range(len(s.order) - 1, -1, -1):
        k = s.order[p]
        L, y = w.L[s.diagonal[k]], w.y[k]
        for e in range(s.column_start[p], s.column_start[p + 1]):
            V, row = w.L[s.column_block[e]], s.block_row[s.column_block[e]]
            known = w.y[row]
            for c in range(t.rows[k]):
                value = y[c]
                for r in range(t.rows[row]):
                    value -= V[c, r] * known[r]
                y[c] = value
        for c in range(t.rows[k] - 1, -1, -1):
            value = y[c]
            for r in range(c + 1, t.rows[k]):
                value -= L[c, r] * y[r]
            y[c] = value


@inlined
def rows_times(t, w, u, y):  # type: ignore[no-untyped-def]
    """Add D u to y, for velocities or accelerations u (bodies + 1, 6)."""
    for k in range(len(t.address)):
        a, b, of_i, of_j, to = u[t.body_i[k]], u[t.body_j[k]], w.rows[k, 0], w.rows[k, 1], y[k]
        for r in range(t.rows[k]):
            value = to[r]
            for c in range(6):
                value += of_i[r, c] * a[c] + of_j[r, c] * b[c]
            to[r] = value


@inlined
def residual(target, u, t, w):  # type: ignore[no-untyped-def]
    """Put D u - target into ``w.y``."""
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            w.y[k, r] = -target[k, r]
    rows_times(t, w, u, w.y)


@inlined
def satisfy_rows(target, u, lam, t, w):  # type: ignore[no-untyped-def]
    """Make accelerations u = M^-1 Q satisfy D u = target, with the factors of S; the multipliers go to ``lam``.  A code."""
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            lam[k, r] = 0.0
    for _ in range(2):  # the second step is the refinement
        residual(target, u, t, w)
        solve(t, w)
        for k in range(len(t.address)):
            for r in range(t.rows[k]):
                lam[k, r] += w.y[k, r]
        apply(t, w, w.y, u)
    if len(t.thin_body) == 0:
        return OK
    code = call_at(w.address[THIN], 0.0, w.y, t, w, 0, u)
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            lam[k, r] += w.thin.lam[k, r]
    return code


@inlined
def relative_residual(t, w):  # type: ignore[no-untyped-def]
    """The largest |D v' - gamma| of ``w.y``, of the largest |gamma| where that is above 1, each in units of its row's size."""
    largest, target = 0.0, 1.0
    for k in range(len(t.address)):
        for r in range(t.rows[k]):
            size = math.sqrt(w.size[k, r])
            value = abs(w.y[k, r]) / size
            if not value <= largest:
                largest = value
            target = max(target, abs(w.target[k, r]) / size)
    return largest / target


@inlined
def apply(t, w, y, u):  # type: ignore[no-untyped-def]
    """Subtract M^-1 D^T y from u."""
    for k in range(len(t.address)):
        values = y[k]
        for side in range(2):
            to, MD = u[t.body_i[k] if side == 0 else t.body_j[k]], w.MD[k, side]
            for r in range(t.rows[k]):
                value = values[r]
                for c in range(6):
                    to[c] -= MD[r, c] * value
