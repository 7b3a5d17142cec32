"""Cases whose joints differ in their data: assembly and rows, in compiled code.

The vectors of the joints, in axes of their bodies, are read from ``t.vector_local``, masses and inverse inertias of the bodies
from ``t.mass`` and ``t.inertia_inverse``: ``vectors``, ``mass`` and ``inverse`` are the same memory, which the functions below
change from case to case.  Other data of a joint are in ``w.x``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from runtime.dynamics.elimination import factorise
from runtime.dynamics.kinematics import rotation, update_kinematics
from runtime.dynamics.lane_assembly import (
    assemble_lanes,
    evaluate_lanes,
    load_lanes,
    make_lanes_consistent,
    store_states,
    worst_of_lanes,
)
from runtime.dynamics.lane_ranks import regular_lanes
from runtime.dynamics.layout import LANES
from runtime.dynamics.limits import measure_limits
from runtime.dynamics.projection import largest_violation
from runtime.jit.compilation import compiled, inlined
from runtime.support.arrays import Floats, Ints


class Checks(NamedTuple):
    """How assembled cases are checked."""

    powers: Ints  # (joints, 6) of the lever arms, the natural sizes of the rows
    least: Floats  # (1,) singular value above which the unit rows of a joint are surely independent
    signed: Ints  # joints of which ``Assembled.x`` is wanted


class Assembled(NamedTuple):
    """Of cases in their assembled states."""

    left: Floats  # (cases,) largest |Phi|
    regular: Floats  # (cases,) 1: the rows of every joint are surely independent
    x: Floats  # (cases, signed joints, X) in global axes


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
def assemble_cases(time, states, velocities, of, t, w, m, checks, found):  # type: ignore[no-untyped-def]
    """Move states (cases, 13 bodies) onto the rows by the least change, in place, and check the joints there.

    ``velocities``: also their velocities; else they remain.  ``of``: the data of the cases.  ``found`` (``Assembled``) is filled.
    """
    size = w.x.shape[1]
    for first in range(0, len(states), LANES):
        load_lanes(time, first, states, of, t, w, m)
        assemble_lanes(t, m)
        if velocities:
            make_lanes_consistent(t, m)
        regular_lanes(checks.powers, checks.least[0], t, m, m.candidate)
        store_states(first, m, states)
        for n in range(first, min(first + LANES, len(states))):
            lane = n - first
            found.left[n], found.regular[n] = m.residual[lane], m.candidate[lane]
            for k in range(len(checks.signed)):
                for c in range(size):
                    found.x[n, k, c] = m.x[(checks.signed[k] * size + c) * LANES + lane]


@compiled
def project_cases(time, states, of, t, w, m):  # type: ignore[no-untyped-def]
    """Give states (cases, 13 bodies) the velocities nearest by kinetic energy that satisfy D v = nu, in place."""
    for first in range(0, len(states), LANES):
        load_lanes(time, first, states, of, t, w, m)
        evaluate_lanes(m.y, m.address, t, m)
        make_lanes_consistent(t, m)
        store_states(first, m, states)


@compiled
def largest_violations(time, states, of, t, w, m, worst):  # type: ignore[no-untyped-def]
    """Largest |Phi| (cases,) in states (cases, 13 bodies)."""
    for first in range(0, len(states), LANES):
        load_lanes(time, first, states, of, t, w, m)
        evaluate_lanes(m.y, m.of_Phi, t, m)
        worst_of_lanes(m.Phi, t, m.now)
        for n in range(first, min(first + LANES, len(states))):
            worst[n] = m.now[n - first]


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
def angles_of_cases(states, x, local, vectors, t, w, angles):  # type: ignore[no-untyped-def]
    """Angles (cases, m, limits) [rad] of limits that differ from case to case in states (cases, m, 13 bodies).

    x (cases, limits, X), local (cases, vectors, 3); ``vectors`` is the memory of ``t.limits.vector_local``.
    """
    for n in range(len(states)):
        for k in range(len(local[n])):
            for c in range(3):
                vectors[k, c] = local[n, k, c]
        for k in range(len(x[n])):
            for c in range(x.shape[2]):
                w.limits.x[k, c] = x[n, k, c]
        measure_limits(states[n], t, w, angles[n])


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
