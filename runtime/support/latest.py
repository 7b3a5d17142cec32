"""The latest values that were made of objects, found by the identity of the objects."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """The values that ``make`` returned for the last ``most`` objects or groups of objects, which stay alive as long.

    Objects are compared by identity, so they must not change.  Safe in threads.
    """

    __slots__ = ("_lock", "_made", "_make", "_most")

    def __init__(self, make: Callable[..., T], most: int) -> None:
        self._make, self._most = make, most
        self._lock = threading.Lock()
        self._made: dict[tuple[int, ...], tuple[tuple[Any, ...], T]] = {}  # by identities, the last one used at the end

    def __call__(self, *objects: Any) -> T:
        """The value for these objects, made anew unless it is among the latest."""
        key = tuple(map(id, objects))
        with self._lock:
            found = self._made.pop(key, None)
            if found is None:
                found = objects, self._make(*objects)
                while len(self._made) >= self._most:
                    del self._made[next(iter(self._made))]  # the one that was not used for longest
            self._made[key] = found
        return found[1]
