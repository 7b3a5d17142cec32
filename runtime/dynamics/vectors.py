"""Body-fixed vectors of joints, limits, contacts and motors: their data, and their rotation into global axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from runtime.jit.compilation import inlined
from runtime.support.arrays import Floats, Ints

Vector = tuple[int, int, int, Floats]  # index of its owner, place in x, body, local components


def vectors_of(
    number: int, vectors: Sequence[tuple[str, str, str]], owner: Mapping[str, int], local: Mapping[str, Floats]
) -> list[Vector]:
    """The vectors of one owner (a joint, limit, contact or motor), in the order of its module.

    ``owner`` maps "i" and "j" to the indices of the bodies, ``local`` the names of the vectors to their local components.
    """
    return [(number, 3 * n, owner[body], local[name]) for n, (name, _, body) in enumerate(vectors)]


def vector_data(vectors: Sequence[Vector]) -> tuple[Ints, Ints, Ints, Floats]:
    """Indices of owners, places and bodies (vectors,), and local components (vectors, 3)."""
    numbers, places, bodies = (np.array([v[k] for v in vectors], np.int64) for k in range(3))
    return numbers, places, bodies, np.array([v[3] for v in vectors], float).reshape(-1, 3)


@inlined
def rotate_vectors(numbers, places, bodies, locals_, A, x):  # type: ignore[no-untyped-def]
    """Put the vectors, in global axes, into x."""
    for n in range(len(numbers)):
        R, local, o = A[bodies[n]], locals_[n], places[n]
        to = x[numbers[n]][o : o + 3]
        for k in range(3):
            to[k] = R[k, 0] * local[0] + R[k, 1] * local[1] + R[k, 2] * local[2]
