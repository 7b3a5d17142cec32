"""Calls for many cases that differ in the data of joints, for all motors, and for many bodies at once."""

from __future__ import annotations

from runtime.dynamics.elimination import factorise
from runtime.dynamics.kinematics import rotation, update_kinematics
from runtime.dynamics.loads import motor_effort
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
def count_dependent_rows(time, states, of, vectors, mass, inverse, t, w, tolerance, dependent):  # type: ignore[no-untyped-def]
    """Number of rows of each case that depend on rows before them, by pivots below a fraction ``tolerance`` of the rows.

    The vectors of the joints, in axes of their bodies, are read from ``t.vector_local``, masses and inverse inertias from
    ``t.mass`` and ``t.inertia_inverse``: ``vectors``, ``mass`` and ``inverse`` are the same memory, changed from case to case.
    """
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
def rotations(p, A):  # type: ignore[no-untyped-def]
    """Rotation matrices (n, 3, 3) of Euler parameters (n, 4)."""
    for n in range(len(p)):
        rotation(p[n], A[n])
