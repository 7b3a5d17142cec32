"""Bodies without inertia in some rotation, such as thin rods about their axis, in compiled code.

Where M is singular, M^-1 is that of M + E, with a small inertia E in those rotations.  The true accelerations satisfy

    (M + E) v' + D^T lam = g + E v',    D v' = gamma,

so that E v' is added to the forces until it no longer changes.  The iteration converges by the factor rho, the largest ratio
of E to M + E on the motions that the rows admit, which the building of a system bounds; the factors of S serve all steps.
"""

from __future__ import annotations

from runtime.dynamics.elimination import apply, rows_times, solve
from runtime.dynamics.layout import OK, SINGULAR
from runtime.dynamics.places import THIN
from runtime.jit.compilation import inlined
from runtime.jit.pointers import array_at, call_at

SWEEPS = 60  # a factor rho of 1/2 needs 40
CONVERGED = 1e-12  # last change as a fraction of the largest angular acceleration of such a body; rho times it is left


@inlined
def remove_added_inertia(t, w, v_dot):  # type: ignore[no-untyped-def]
    """Correct accelerations that satisfy the rows; the change of the multipliers is left in ``w.thin.lam``.  Returns a code."""
    return call_at(w.address[THIN], 0.0, w.y, t, w, 0, v_dot)


def thin_part(time, y, t, w, purpose, out):  # type: ignore[no-untyped-def]
    """``remove_added_inertia``, with accelerations (bodies + 1, 6); compiled once for all callers."""
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
        b, N = t.thin_body[n], t.thin[n]
        A, u, step = w.A[b], v_dot[b], m.step[b]
        for c in range(3):
            m.local[c] = A[0, c] * u[3] + A[1, c] * u[4] + A[2, c] * u[5]
            largest = max(largest, abs(u[3 + c]))
        for c in range(3):
            m.turned[c] = N[c, 0] * m.local[0] + N[c, 1] * m.local[1] + N[c, 2] * m.local[2]
        for c in range(3):
            added = A[c, 0] * m.turned[0] + A[c, 1] * m.turned[1] + A[c, 2] * m.turned[2]
            step[3 + c] = added - m.added[n, c]
            m.added[n, c] = added
            change = max(change, abs(step[3 + c]))
        for c in range(3):
            u[3 + c] += step[3 + c]
    return change, largest
