"""The latest values that were made of objects, found by the identity of the objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from runtime.support.forks import lock

T = TypeVar("T")


class Latest(Generic[T]):
    """The values that ``make`` returned for the last ``most`` objects or groups of objects, which stay alive as long.

    Objects are compared by identity, so they must not change.  Safe in threads.
    """

    __slots__ = ("_lock", "_made", "_make", "_most")

    def __init__(self, make: Callable[..., T], most: int) -> None:
        self._make, self._most = make, most
        self._lock = lock()
        self._made: dict[
            tuple[int, ...], list[Any]
        ] = {}  # by identities: objects, value, whether it was used again lately

    def __call__(self, *objects: Any) -> T:
        """The value for these objects, made anew unless it is among the latest."""
        key = tuple(map(id, objects))
        found = self._made.get(key)  # a lock would take longer than this
        if found is None:
            return self._added(key, objects)
        found[2] = True
        value: T = found[1]
        return value

    def _added(self, key: tuple[int, ...], objects: tuple[Any, ...]) -> T:
        with self._lock:
            found = self._made.get(key)
            if found is None:
                found = [objects, self._make(*objects), False]
                while len(self._made) >= self._most:
                    oldest, other = next(iter(self._made.items()))
                    del self._made[oldest]
                    if other[2]:  # it stays once more
                        other[2] = False
                        self._made[oldest] = other
                self._made[key] = found
        value: T = found[1]
        return value
