"""Memory of compiled code that is used again by the next run, since making it takes as long as a hundred evaluations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from runtime.support.latest import Latest

MAX_FREE = 4  # blocks of one kind that wait for their next use


class Block:
    """A named tuple of arrays, with all arrays of a type side by side, so that they get their first values back at once."""

    __slots__ = ("_blocks", "free", "value")

    def __init__(self, value: Any, free: list[Block]) -> None:
        self.free = free
        bases = {id(base): base for base in map(_base_of, _arrays_of(value))}
        self._blocks: list[tuple[np.ndarray, np.ndarray]] = []
        places: dict[int, np.ndarray] = {}
        for dtype in {base.dtype for base in bases.values()}:
            alike = [(key, base) for key, base in bases.items() if base.dtype == dtype]
            block = np.concatenate([base.ravel() for _, base in alike])
            self._blocks.append((block, block.copy()))
            ends = np.cumsum([base.size for _, base in alike]).tolist()
            places |= {key: block[end - base.size : end] for (key, base), end in zip(alike, ends, strict=True)}
        self.value = _moved(value, places)

    def set_back(self) -> None:
        """Give all arrays the values that they had at first."""
        for block, first in self._blocks:
            block[:] = first

    def give_back(self) -> None:
        """Let the next run have the memory; nothing may refer to it any more."""
        if len(self.free) < MAX_FREE:
            self.free.append(self)


class Pool:
    """Blocks by the objects that they were made for, the last ``most`` groups of objects."""

    def __init__(self, most: int) -> None:
        self._free: Latest[list[Block]] = Latest(lambda *objects: [], most)

    def take(self, make: Callable[[], Any], *objects: Any) -> Block:
        """A block that no run uses, as ``make`` makes its named tuple for these objects.  Safe in threads."""
        free = self._free(*objects)
        try:
            block = free.pop()
        except IndexError:
            return Block(make(), free)
        block.set_back()
        return block


def _arrays_of(value: Any) -> Iterator[np.ndarray]:
    for item in value:
        if isinstance(item, tuple):
            yield from _arrays_of(item)
        elif isinstance(item, np.ndarray) and item.flags.writeable:
            yield item


def _base_of(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory: some arrays are parts of others."""
    return array if array.base is None else _base_of(array.base)


def _moved(value: Any, places: dict[int, np.ndarray]) -> Any:
    """The named tuple with its arrays at their new places."""
    return type(value)(*(_moved(v, places) if isinstance(v, tuple) else _moved_array(v, places) for v in value))


def _moved_array(value: Any, places: dict[int, np.ndarray]) -> Any:
    if not isinstance(value, np.ndarray) or not value.flags.writeable:
        return value
    base = _base_of(value)
    start = (value.ctypes.data - base.ctypes.data) // value.itemsize if value.size else 0
    return places[id(base)][start : start + value.size].reshape(value.shape)
