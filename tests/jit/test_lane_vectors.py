"""Functions for one case, compiled for a memory whose arrays have lanes: each lane has the bits of its case alone."""

import math
from typing import NamedTuple

import numpy as np

from runtime.jit.compilation import compiled, inlined
from runtime.jit.lane_vectors import choose, numbers_of
from runtime.jit.pointers import in_lanes
from runtime.jit.rows import put_row, row_of
from runtime.support.arrays import Floats, Ints

LANES, ROWS = 4, 3


class Part(NamedTuple):
    """Memory within another."""

    sizes: Floats  # (rows,)


class One(NamedTuple):
    """Memory of one case."""

    kind: Ints  # (rows,)
    vectors: Floats  # (rows, 3)
    part: Part


@in_lanes(LANES)
class Many(NamedTuple):
    """The same for lanes."""

    kind: Ints
    vectors: Floats
    part: Part


@inlined
def _change(m):  # type: ignore[no-untyped-def]
    for k in range(len(m.kind)):
        x, y, z = row_of(m.vectors, k, 3)
        length, total = math.sqrt(x * x + y * y + z * z), 0.0
        row = m.vectors[k]
        for c in range(3):
            total += abs(row[c]) / length
        row[2] -= 0.5
        m.part.sizes[k] = choose(total <= 1.5, -total, 2.0 - total) if m.kind[k] == 1 else length
        if m.kind[k] == 2:
            put_row(m.vectors, k, (1.0, y * 0.25) + (x,))
            m.vectors[k, 0] *= length


@compiled
def _change_one(m):  # type: ignore[no-untyped-def]
    _change(m)


@compiled
def _change_many(m):  # type: ignore[no-untyped-def]
    _change(m)
    numbers = numbers_of(m.part.sizes)
    for lane in range(numbers.shape[1]):
        numbers[0, lane] += lane


def test_each_lane_has_the_bits_of_its_case():
    random = np.random.default_rng(0)
    memory = np.zeros(ROWS * 3 * LANES + 1)[1:]  # at no multiple of the size of a vector
    kind, vectors = np.arange(ROWS), memory.reshape(ROWS, 3, LANES)
    vectors[:] = random.normal(size=vectors.shape)
    vectors[1, 1:, ::2] *= 0.1  # either choice in some lanes
    cases = [One(kind, vectors[..., lane].copy(), Part(np.zeros(ROWS))) for lane in range(LANES)]
    many = Many(kind, vectors, Part(np.zeros((ROWS, LANES))))
    _change_many(many)
    chosen = set()
    for lane, one in enumerate(cases):
        _change_one(one)
        chosen.add(one.part.sizes[1] < 0.0)
        one.part.sizes[0] += lane
        assert np.array_equal(vectors[..., lane], one.vectors)
        assert np.array_equal(many.part.sizes[:, lane], one.part.sizes)
    assert chosen == {True, False}
