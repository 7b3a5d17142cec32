"""Mappings from names; a name that does not exist raises an error with the nearest one and those that exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from runtime.support.arrays import read_only
from runtime.support.errors import ModelError, unknown_name

T = TypeVar("T")


class Named(dict[str, T]):
    """A dictionary whose missing keys raise an error with names."""

    __slots__ = ("several", "what")

    def __init__(self, items: Mapping[str, T], what: str, several: str = "") -> None:
        super().__init__(items)
        self.what, self.several = what, several

    def __getitem__(self, name: str) -> T:
        try:
            return super().__getitem__(name)
        except ModelError:
            raise
        except Exception:  # what cannot be a key
            raise unknown_name(name, self, self.what, self.several) from None

    def __missing__(self, name: Any) -> T:
        raise unknown_name(name, self, self.what, self.several)


class ReadOnly(Mapping[str, T]):
    """A ``Named`` that cannot be changed, and can be pickled and copied."""

    __slots__ = ("_items",)

    def __init__(self, items: Named[T]) -> None:
        self._items = items

    def __getitem__(self, name: str) -> T:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a name, or the default."""
        return self._items.get(name, default)

    def __repr__(self) -> str:
        return repr(dict(self._items))

    def __or__(self, other: Mapping[str, T]) -> dict[str, T]:
        return {**self._items, **other}

    def __ror__(self, other: Mapping[str, T]) -> dict[str, T]:
        return {**other, **self._items}

    def __reduce__(self) -> tuple[Any, ...]:
        return named, (self._items.what, dict(self._items), self._items.several)


def named(what: str, items: Mapping[str, T], several: str = "") -> Mapping[str, T]:
    """A read-only mapping from names of something, such as "body", to values; arrays among them cannot be changed either.

    several : the plural, if it is not with an "s"

    A name that it does not have raises ``UnknownNameError``, a ModelError and a KeyError.
    """
    return ReadOnly(Named({name: read_only(value) for name, value in items.items()}, what, several))
