"""The non-zero blocks of S = D M^-1 D^T, and the order of their elimination.

Joints are the nodes, shared bodies the edges: the ground couples nothing.  A minimum-degree order keeps a chain
block-tridiagonal and a tree without fill, so the factorisation is linear in the number of bodies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, compress
from typing import NamedTuple

import numpy as np

from runtime.dynamics.layout import GROUND_INDEX
from runtime.support.arrays import Ints, frozen


class Sparsity(NamedTuple):
    """The program of assembly and block Cholesky factorisation, in flat arrays for compiled code.

    Blocks are lower-triangular: ``block_row`` comes after ``block_col`` in the order of elimination.
    """

    order: Ints  # (joints,) joints in the order of elimination
    diagonal: Ints  # (joints,) block of each joint with itself
    block_row: Ints  # (blocks,)
    block_col: Ints  # (blocks,)
    pairs: Ints  # (pairs, 5) block, joint of its rows, side, joint of its columns, side
    column_start: Ints  # (joints + 1,) by place in the order
    column_block: Ints  # blocks below the diagonal of each column
    update_start: Ints  # (joints + 1,)
    updates: Ints  # (updates, 3) target block, left block, right block: target -= left right^T


def sparsity(body_i: Ints, body_j: Ints) -> Sparsity:
    """The program for joints between bodies ``body_i`` and ``body_j`` (joints,); body 0 is the ground."""
    return _sparsity(tuple(body_i.tolist()), tuple(body_j.tolist()))


@lru_cache(64)  # a system of the same layout is often built many times
def _sparsity(body_i: tuple[int, ...], body_j: tuple[int, ...]) -> Sparsity:
    n = len(body_i)
    joints_of: dict[int, list[tuple[int, int]]] = {}
    for k in range(n):
        for side, body in enumerate((body_i[k], body_j[k])):
            if body != GROUND_INDEX:
                joints_of.setdefault(body, []).append((k, side))
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for members in joints_of.values():
        for (a, _), (b, _) in combinations(members, 2):
            neighbours[a].add(b)
            neighbours[b].add(a)

    order, below = _eliminate(neighbours)
    place = {k: p for p, k in enumerate(order)}
    block: dict[tuple[int, int], int] = {}
    for k in order:
        for other in (k, *below[k]):
            block[other, k] = len(block)

    shared = ((a, b) for members in joints_of.values() for a in members for b in members)
    pairs = sorted((block[a, b], a, side_a, b, side_b) for (a, side_a), (b, side_b) in shared if place[a] >= place[b])
    columns = [[block[other, k] for other in below[k]] for k in order]
    # below[k] is in the order of elimination: the block of (later, earlier) loses L(later, k) L(earlier, k)^T.
    updates = [
        [(block[b, a], block[b, k], block[a, k]) for a, b in combinations_with_replacement(below[k], 2)] for k in order
    ]
    keys = list(block)
    found = Sparsity(
        order=_ints(order),
        diagonal=_ints([block[k, k] for k in range(n)]),
        block_row=_ints([a for a, _ in keys]),
        block_col=_ints([b for _, b in keys]),
        pairs=_ints(pairs).reshape(-1, 5),
        column_start=_starts(columns),
        column_block=_ints([b for column in columns for b in column]),
        update_start=_starts(updates),
        updates=_ints([u for part in updates for u in part]).reshape(-1, 3),
    )
    return frozen(found)


def has_loops(body_i: Ints, body_j: Ints, points: Sequence[bool]) -> bool:
    """True if joints between bodies ``body_i`` and ``body_j`` (joints,) close a loop.

    A loop has three bodies or more, with the ground, or two that are connected by two joints with ``points`` (joints,), as by two
    rods of constant length.  Joints that constrain rotation alone, as a lock beside a hinge, close no loop of two bodies.
    """
    pairs = [frozenset(pair) for pair in zip(body_i.tolist(), body_j.tolist(), strict=True)]
    if max(Counter(compress(pairs, points)).values(), default=0) > 1:
        return True
    joined: dict[int, int] = {}

    def root(body: int) -> int:
        while body in joined:
            body = joined[body]
        return body

    for pair in set(pairs):
        a, b = (root(body) for body in pair)
        if a == b:
            return True
        joined[a] = b
    return False


def _eliminate(neighbours: list[set[int]]) -> tuple[list[int], list[list[int]]]:
    """Minimum-degree order, ties by index; for each joint the later joints that are coupled to it, fill included."""
    graph = {k: set(s) - {k} for k, s in enumerate(neighbours)}
    order: list[int] = []
    below: list[list[int]] = [[] for _ in neighbours]
    degrees: dict[int, set[int]] = {}
    for k, s in graph.items():
        degrees.setdefault(len(s), set()).add(k)
    while graph:
        degree = min(d for d, members in degrees.items() if members)
        k = min(degrees[degree])
        degrees[degree].remove(k)
        rest = graph.pop(k)
        order.append(k)
        below[k] = list(rest)
        for a in rest:
            degrees[len(graph[a])].discard(a)
            graph[a] |= rest
            graph[a] -= {a, k}
        for a in rest:
            degrees.setdefault(len(graph[a]), set()).add(a)
    place = {k: p for p, k in enumerate(order)}
    return order, [sorted(later, key=place.__getitem__) for later in below]


def _ints(values: Sequence[int] | Sequence[tuple[int, ...]]) -> Ints:
    return np.array(values, dtype=np.int64)


def _starts(parts: Sequence[Sequence[object]]) -> Ints:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
