"""The directions of a Jacobian: 12 for each body, and where their derivatives go."""

from __future__ import annotations

from runtime.dynamics.layout import GROUND_INDEX
from runtime.jit.compilation import inlined

BODY = 12  # directions of one body
BOTH = 2 * BODY


@inlined
def column_of(k, b, bodies):  # type: ignore[no-untyped-def]
    """The column of J for direction k of body b: displacements of all bodies first, then changes of velocity."""
    return 6 * (b - 1) + k if k < 6 else 6 * bodies + 6 * (b - 1) + k - 6


@inlined
def add_wrench(out, first, i, j, sign, m):  # type: ignore[no-untyped-def]
    """Add the derivatives (12, 24) of the forces on two bodies, from row ``first`` of ``out`` on."""
    bodies = len(m.Q) - 1
    for side in range(2):
        b = i if side == 0 else j
        if b == GROUND_INDEX:
            continue
        for of in range(2):
            other = i if of == 0 else j
            if other == GROUND_INDEX:
                continue
            for k in range(BODY):
                column = column_of(k, other, bodies)
                for c in range(6):
                    m.Q[b, c, column] += sign * out[first + 6 * side + c, BODY * of + k]
