"""Which bodies joints connect with each other."""

from __future__ import annotations

from collections.abc import Iterable


def connected(count: int, pairs: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """For each of so many places the first one of those that pairs connect it with; and which pairs close loops."""
    group, closing = list(range(count)), []

    def first(place: int) -> int:
        while group[place] != place:
            group[place] = place = group[group[place]]
        return place

    for k, (a, b) in enumerate(pairs):
        one, other = sorted((first(a), first(b)))
        if one == other:
            closing.append(k)
        group[other] = one
    return [first(place) for place in range(count)], closing
