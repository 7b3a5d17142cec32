"""Which bodies joints connect with each other."""

from __future__ import annotations

from collections.abc import Iterable


def groups_of(groups: Iterable[int], pairs: Iterable[tuple[int, int]]) -> list[int]:
    """For each place the first one of those that pairs connect it with; ``groups``: the same before, of n places ``range(n)``."""
    group = list(groups)

    def first(place: int) -> int:
        while group[place] != place:
            place = group[place]
        return place

    for a, b in pairs:
        one, other = sorted((first(a), first(b)))
        group[other] = one
    return [first(place) for place in range(len(group))]
