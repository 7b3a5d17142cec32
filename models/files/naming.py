"""Names that Talus takes, in place of those of a file."""

from __future__ import annotations

from collections.abc import Iterable

from models.files.description import WORLD


def identifiers(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """For each name of a file one of letters, digits and underscores; names that become equal get a number."""
    used = {WORLD, *taken}
    found: dict[str, str] = {}
    for name in names:
        plain = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
        plain = plain if plain.isidentifier() else f"_{plain}"
        new, n = plain, 1
        while new in used:
            n += 1
            new = f"{plain}_{n}"
        used.add(new)
        found[name] = new
    return found


def unique(names: Iterable[str]) -> list[str]:
    """The names in order, those that occur again with a number."""
    used: set[str] = set()
    found = []
    for name in names:
        new, n = name, 1
        while new in used:
            n += 1
            new = f"{name}_{n}"
        used.add(new)
        found.append(new)
    return found
