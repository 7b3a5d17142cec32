"""Functions of several coordinates, sums of products of powers and sines, in compiled code."""

from __future__ import annotations

from typing import NamedTuple

import generated.coupling_combination
from runtime.jit.compilation import compiled, inlined
from runtime.jit.kernels import product
from runtime.support.arrays import Floats, Ints

LEADERS = generated.coupling_combination.LEADERS  # at most, of a function
ENTRIES = 1 + 3 * LEADERS  # of a term: coefficient, then powers, frequencies and phases of all leaders
VALUES = 1 + LEADERS + LEADERS * (LEADERS + 1) // 2  # value, slopes, and curvatures above the diagonal, row by row


class ProductData(NamedTuple):
    """Terms of functions of several coordinates, in flat arrays, and memory."""

    start: Ints  # (functions + 1,) where the terms of each begin
    term: Floats  # (terms, ENTRIES)
    offset: Floats  # (functions, LEADERS) added to the leaders
    x: Floats  # (LEADERS + ENTRIES,)
    out: Floats  # (VALUES,)


@inlined
def evaluate_products(k, p, values):  # type: ignore[no-untyped-def]
    """Put value and derivatives of function k at the leaders p.x[:LEADERS] into ``values`` (VALUES,)."""
    for n in range(VALUES):
        values[n] = 0.0
    for n in range(LEADERS):
        p.x[n] += p.offset[k, n]
    for row in range(p.start[k], p.start[k + 1]):
        for n in range(ENTRIES):
            p.x[LEADERS + n] = p.term[row, n]
        product.values(p.x, p.out)
        for n in range(VALUES):
            values[n] += p.out[n]


@compiled
def evaluate_at(leaders, p, values):  # type: ignore[no-untyped-def]
    """Put value and derivatives of function 0 at leaders (points, LEADERS) into ``values`` (points, VALUES)."""
    for point in range(len(leaders)):
        for n in range(LEADERS):
            p.x[n] = leaders[point, n]
        evaluate_products(0, p, values[point])
