"""Memory of compiled code that is used again by the next run, since making it takes as long as a hundred evaluations."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar
from weakref import ref

import numpy as np

MAX_POOLS = 8  # of the latest blocks that were made
MAX_FREE = 4  # blocks of a key that wait for their next use

B = TypeVar("B", bound="Block")


class Block:
    """A named tuple of arrays, with all arrays of a type side by side, so that they get their first values back at once."""

    home: list[Any] | None = None  # where it waits

    def __init__(self, value: Any) -> None:
        bases = {id(base): base for base in map(_base_of, filter(_is_moved, items_of(value)))}
        self._blocks: list[tuple[np.ndarray, np.ndarray]] = []
        places: dict[int, np.ndarray] = {}
        of_types: dict[Any, list[tuple[int, np.ndarray]]] = {}
        for key, base in bases.items():
            of_types.setdefault(base.dtype, []).append((key, base))
        for alike in of_types.values():
            block = np.concatenate([base.ravel() for _, base in alike])
            self._blocks.append((block, block.copy()))
            ends = np.cumsum([base.size for _, base in alike]).tolist()
            places |= {key: block[end - base.size : end] for (key, base), end in zip(alike, ends, strict=True)}
        self.value = _moved(value, places)

    def set_back(self) -> None:
        """Give all arrays the values that they had at first."""
        for block, first in self._blocks:
            block[:] = first

    def keep(self) -> None:
        """Take the values that all arrays have now for the first ones."""
        for block, first in self._blocks:
            first[:] = block

    def give_back(self) -> None:
        """Let the next run have the memory, unless enough waits; nothing may refer to it any more."""
        if self.home is not None and len(self.home) < MAX_FREE:
            self.home.append(self)


class Pool:
    """Blocks that wait for their next use, by keys.  ``most``: the latest keys for which any wait.

    A pool lives as long as its owner; only the latest pools that made blocks keep some.
    """

    def __init__(self, most: int) -> None:
        self._waiting: Any = lru_cache(most)(lambda *key: [])

    def take(self, make: Callable[[], B], *key: Any) -> B:
        """A block that no run uses, as ``make`` makes it for this key, with its first values.  Safe in threads."""
        home = self._waiting(*key)
        try:
            block: B = home.pop()
        except IndexError:
            block = make()
            block.home = home
            _LATEST.append(ref(self))
            if len(_LATEST) > MAX_POOLS and (other := _LATEST.popleft()()) is not None:
                other._waiting.cache_clear()  # it makes blocks again when they are needed
            return block
        block.set_back()
        return block


_LATEST: deque[ref[Pool]] = deque()  # one for each block that was made


def items_of(value: Any) -> list[Any]:
    """The arrays and numbers of a named tuple, and of those in it."""
    return [leaf for item in value for leaf in (items_of(item) if isinstance(item, tuple) else (item,))]


def _is_moved(item: Any) -> bool:
    """Whether an item is an array that gets a place in the block."""
    return isinstance(item, np.ndarray) and item.flags.writeable


def _base_of(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory: some arrays are parts of others."""
    return array if array.base is None else _base_of(array.base)


def _moved(value: Any, places: dict[int, np.ndarray]) -> Any:
    """The named tuple with its arrays at their new places."""
    return type(value)(*(_moved(v, places) if isinstance(v, tuple) else _moved_array(v, places) for v in value))


def _moved_array(value: Any, places: dict[int, np.ndarray]) -> Any:
    if not _is_moved(value):
        return value
    if value.base is None:
        return places[id(value)].reshape(value.shape)
    base = _base_of(value)
    start = (value.ctypes.data - base.ctypes.data) // value.itemsize if value.size else 0
    return places[id(base)][start : start + value.size].reshape(value.shape)
