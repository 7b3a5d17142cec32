"""Bodies without inertia in some rotation, such as thin rods about their axis, in compiled code.

Where M is singular, M^-1 is that of M + E, with a small inertia E in those rotations.  The true accelerations satisfy

    (M + E) v' + D^T lam = g + E v',    D v' = gamma,

so that E v' is added to the forces until it no longer changes.  The iteration converges by the factor rho, the largest ratio
of E to M + E on the motions that the rows admit, which the building of a system bounds; the factors of S serve all steps.
"""

from __future__ import annotations

from runtime.dynamics.elimination import apply, rows_times, solve
from runtime.dynamics.layout import OK, SINGULAR
from runtime.dynamics.small_matrices import times, transposed_times
from runtime.jit.compilation import inlined
from runtime.jit.pointers import array_at
from runtime.jit.rows import row_of

SWEEPS = 60  # a factor rho of 1/2 needs 40
CONVERGED = 1e-12  # last change as a fraction of the largest angular acceleration of such a body; rho times it is left


def thin_part(time, y, t, w, purpose, out):  # type: ignore[no-untyped-def]
    """Correct accelerations (bodies + 1, 6) that satisfy the rows; the change of the multipliers is left in ``w.thin.lam``.

    Compiled once for all callers; returns a code.
    """
    m, v_dot = w.thin, array_at(out, len(t.mass), 6)
    m.added[:] = 0.0
    m.lam[:] = 0.0
    for _ in range(SWEEPS):
        change, largest = _move(t, w, v_dot)
        for k in range(len(t.address)):
            for r in range(t.rows[k]):
                w.y[k, r] = 0.0
        rows_times(t, w, m.step, w.y)
        solve(t, w)
        for k in range(len(t.address)):
            for r in range(t.rows[k]):
                m.lam[k, r] += w.y[k, r]
        apply(t, w, w.y, v_dot)
        if change <= CONVERGED * largest:
            return OK
    return SINGULAR


@inlined
def _move(t, w, v_dot):  # type: ignore[no-untyped-def]
    """Give the bodies (M + E)^-1 E v' in place of the one before; largest change, and largest angular acceleration."""
    m, change, largest = w.thin, 0.0, 0.0
    for n in range(len(t.thin_body)):
        b = t.thin_body[n]
        A, u, step = row_of(w.A, b, 9), v_dot[b], m.step[b]
        added = times(A, times(row_of(t.thin, n, 9), transposed_times(A, u[3:6])))
        for c in range(3):
            largest = max(largest, abs(u[3 + c]))
            step[3 + c] = added[c] - m.added[n, c]
            m.added[n, c] = added[c]
            change = max(change, abs(step[3 + c]))
        for c in range(3):
            u[3 + c] += step[3 + c]
    return change, largest
