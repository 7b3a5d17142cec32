"""Memory of compiled code that is used again by the next run, since making it takes as long as a hundred evaluations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.support.forks import lock
from runtime.support.latest import Latest

MAX_FREE = 4  # blocks of one layout that wait for their next use
MAX_LAYOUTS = 8  # whose blocks wait
SMALL = 4  # items of constant arrays that are compared by value

Layout = tuple[Any, ...]


class Block:
    """A named tuple of arrays, with all arrays of a type side by side, so that they get their first values back at once."""

    __slots__ = ("_blocks", "_pool", "_own", "layout", "owner", "value")

    def __init__(self, value: Any, pool: Pool | None = None, layout: Layout = (), owner: object = None) -> None:
        self._pool, self.layout, self.owner = pool, layout, owner
        bases = {id(base): base for base in map(_base_of, filter(_is_moved, items_of(value)))}
        self._blocks: list[tuple[np.ndarray, np.ndarray]] = []
        places: dict[int, np.ndarray] = {}
        for dtype in {base.dtype for base in bases.values()}:
            alike = [(key, base) for key, base in bases.items() if base.dtype == dtype]
            block = np.concatenate([base.ravel() for _, base in alike])
            self._blocks.append((block, block.copy()))
            ends = np.cumsum([base.size for _, base in alike]).tolist()
            places |= {key: block[end - base.size : end] for (key, base), end in zip(alike, ends, strict=True)}
        self.value = _moved(value, places)
        pairs = zip(items_of(value), items_of(self.value), strict=True)
        self._own = [
            (k, own) for k, (item, own) in enumerate(pairs) if _is_moved(item)
        ]  # by their place among the items

    def set_back(self) -> None:
        """Give all arrays the values that they had at first."""
        for block, first in self._blocks:
            block[:] = first

    def fill(self, value: Any, owner: object) -> None:
        """Give all arrays the values of another named tuple of the same layout, from now on."""
        self.owner = owner
        items = items_of(value)
        for k, own in self._own:
            own[...] = items[k]
        for block, first in self._blocks:
            first[:] = block

    @property
    def arrays(self) -> list[np.ndarray]:
        """The memory of the named tuple: an array for each type."""
        return [block for block, _ in self._blocks]

    def give_back(self) -> None:
        """Let the next run have the memory; nothing may refer to it any more."""
        if self._pool is not None:
            self._pool.keep(self)


class Pool:
    """Blocks that wait for their next use, by the objects that they were made for.

    A block that was made for other objects is filled with the values for these, if its layout is the same: compiled code has the
    addresses of its arrays already.  ``most``: groups of objects whose layouts are known.
    """

    def __init__(self, most: int) -> None:
        self._layouts: Latest[list[Layout]] = Latest(lambda *objects: [], most)
        self._free: dict[Layout, list[Block]] = {}
        self._lock = lock()

    def take(self, make: Callable[[], Any], *objects: Any) -> Block:
        """A block that no run uses, as ``make`` makes its named tuple for these objects.  Safe in threads."""
        known = self._layouts(*objects)
        if known and (block := self._free_block(known[0], known, own=True)) is not None:
            block.set_back()
            return block
        value = make()
        layout = layout_of(value)
        known[:] = [layout]
        if (block := self._free_block(layout, known, own=False)) is None:
            return Block(value, self, layout, known)
        block.fill(value, known)
        return block

    def keep(self, block: Block) -> None:
        """Let a block wait for its next use, unless enough wait."""
        with self._lock:
            free = self._free.pop(block.layout, [])
            while len(self._free) >= MAX_LAYOUTS:
                del self._free[next(iter(self._free))]  # the one that was not used for longest
            self._free[block.layout] = free
            if len(free) < MAX_FREE:
                free.append(block)

    def _free_block(self, layout: Layout, owner: object, *, own: bool) -> Block | None:
        """A block of a layout, of this owner if ``own``; blocks of others are left to them as long as there is no need."""
        with self._lock:
            free = self._free.get(layout, [])
            for k in range(len(free) - 1, -1, -1):
                if not own or free[k].owner is owner:
                    return free.pop(k)
        return None


def items_of(value: Any) -> list[Any]:
    """The arrays and numbers of a named tuple, and of those in it."""
    found: list[Any] = []
    for item in value:
        if isinstance(item, tuple):
            found += items_of(item)
        else:
            found.append(item)
    return found


def _is_moved(item: Any) -> bool:
    """Whether an item is an array that gets a place in the block."""
    return isinstance(item, np.ndarray) and item.flags.writeable


def layout_of(value: Any) -> Layout:
    """What named tuples have in common that may have the same memory one after the other: all but the values of the arrays."""
    return type(value), *map(_layout_of_item, items_of(value))


def _layout_of_item(item: Any) -> Any:
    if not isinstance(item, np.ndarray):
        return item
    if not item.flags.writeable:  # such arrays are not moved into the block
        return (item.dtype.num, item.shape, item.tobytes()) if item.size <= SMALL else id(item)
    if item.base is None:
        return item.dtype.num, item.shape
    base = _base_of(item)
    start = item.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return item.dtype.num, item.shape, base.shape, start


def _base_of(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory: some arrays are parts of others."""
    return array if array.base is None else _base_of(array.base)


def _moved(value: Any, places: dict[int, np.ndarray]) -> Any:
    """The named tuple with its arrays at their new places."""
    return type(value)(*(_moved(v, places) if isinstance(v, tuple) else _moved_array(v, places) for v in value))


def _moved_array(value: Any, places: dict[int, np.ndarray]) -> Any:
    if not _is_moved(value):
        return value
    base = _base_of(value)
    start = (value.ctypes.data - base.ctypes.data) // value.itemsize if value.size else 0
    return places[id(base)][start : start + value.size].reshape(value.shape)
