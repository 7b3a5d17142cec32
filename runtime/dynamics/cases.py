"""Cases that differ in the data of joints, limits or forces, one after another: rows, sizes and rank, angles, forces at a start.

The vectors of the joints, in axes of their bodies, are read from ``t.vector_local``, masses and inverse inertias of the bodies
from ``t.mass`` and ``t.inertia_inverse``: ``vectors``, ``mass`` and ``inverse`` are the same memory, which the functions below
change from case to case.  Other data of a joint are in ``w.x``.
"""

from __future__ import annotations

import math

from runtime.dynamics.elimination import factorise
from runtime.dynamics.kinematics import rotation, update_kinematics
from runtime.dynamics.loads import motor_effort
from runtime.dynamics.projection import largest_violation
from runtime.jit.compilation import compiled, inlined


@inlined
def _take_case(of, n, vectors, mass, inverse, w):  # type: ignore[no-untyped-def]
    x, local = of.x[min(n, len(of.x) - 1)], of.local[min(n, len(of.local) - 1)]
    masses, inverses = of.masses[min(n, len(of.masses) - 1)], of.inverses[min(n, len(of.inverses) - 1)]
    for k in range(len(w.x)):
        for c in range(w.x.shape[1]):
            w.x[k, c] = x[k, c]
    for k in range(len(vectors)):
        for c in range(3):
            vectors[k, c] = local[k, c]
    for b in range(len(mass) - 1):
        mass[b + 1] = masses[b]
        for r in range(3):
            for c in range(3):
                inverse[b + 1, r, c] = inverses[b, r, c]


@compiled
def rows_of_cases(time, states, of, vectors, mass, inverse, t, w, worst, D):  # type: ignore[no-untyped-def]
    """Largest |Phi| and |Phi'| (cases, 2) in states (cases, 13 bodies), and D (cases, joints, rows, 12)."""
    for n in range(len(states)):
        _take_case(of, n, vectors, mass, inverse, w)
        update_kinematics(time, states[n], t, w)
        for velocities in range(2):
            worst[n, velocities] = largest_violation(t, w, velocities == 1)
        for k in range(len(t.address)):
            for r in range(t.rows[k]):
                for c in range(12):
                    D[n, k, r, c] = w.D[k, r, c]


@compiled
def count_dependent_rows(time, states, of, vectors, mass, inverse, t, w, tolerance, dependent):  # type: ignore[no-untyped-def]
    """Number of rows of each case that depend on rows before them, by pivots below a fraction ``tolerance`` of the rows."""
    for n in range(len(states)):
        _take_case(of, n, vectors, mass, inverse, w)
        update_kinematics(time, states[n], t, w)
        dependent[n] = factorise(t, w, tolerance, 0.0, 0)


@compiled
def gradients_of_motors(t, w, gradients):  # type: ignore[no-untyped-def]
    """Gradients (motors, 12) of the coordinates of motors in the state that was evaluated last."""
    for k in range(len(t.loads.address)):
        motor_effort(k, t.loads, w)
        for c in range(12):
            gradients[k, c] = w.loads.D[0, c]


@compiled
def sizes_of_rows(D, lengths, square, sizes, determinants):  # type: ignore[no-untyped-def]
    """Sizes (cases, rows) of rows D (cases, rows, 12), and determinants (cases,) of the products of the rows of size 1.

    ``lengths`` (cases,) [m] are those by which rotations are divided, in place.  Determinants are 0 where one of a row is not
    positive.  ``square`` is memory (rows, rows).
    """
    for n in range(len(D)):
        rows = D[n]
        count = len(rows)
        for r in range(count):
            total = 0.0
            for c in range(12):
                if c % 6 > 2:
                    rows[r, c] /= lengths[n]
                total += rows[r, c] * rows[r, c]
            sizes[n, r] = math.sqrt(total)
        determinants[n] = 1.0
        for r in range(count):
            for q in range(r, count):
                total = 0.0
                for c in range(12):
                    total += rows[r, c] * rows[q, c]
                square[r, q] = total / (sizes[n, r] * sizes[n, q])
        for r in range(count):  # elimination without an exchange of rows: the matrix is positive definite, or singular
            pivot = square[r, r]
            if not pivot > 0.0:
                determinants[n] = 0.0
                break
            determinants[n] *= pivot
            for q in range(r + 1, count):
                factor = square[r, q] / pivot
                for k in range(q, count):
                    square[q, k] -= factor * square[r, k]


@compiled
def rotations(p, A):  # type: ignore[no-untyped-def]
    """Rotation matrices (n, 3, 3) of Euler parameters (n, 4)."""
    for n in range(len(p)):
        rotation(p[n], A[n])
