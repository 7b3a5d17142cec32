"""The latest values that were made of objects, found by the identity of the objects."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class _Same:
    """An object as a key, which is equal to itself alone."""

    __slots__ = ("of",)

    def __init__(self, of: Any) -> None:
        self.of = of

    def __hash__(self) -> int:
        return id(self.of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.of is other.of


class Latest(Generic[T]):
    """The values that ``make`` returned for the last ``most`` objects or groups of objects, which stay alive as long.

    Objects are compared by identity, so they must not change.  Safe in threads.
    """

    def __init__(self, make: Callable[..., T], most: int) -> None:
        self.values = lru_cache(most)(lambda *keys: make(*(key.of for key in keys)))

    def __call__(self, *objects: Any) -> T:
        """The value for these objects, made anew unless it is among the latest."""
        return self.values(*map(_Same, objects))
