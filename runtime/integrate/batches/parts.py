"""Parts of ``batch.integrate`` for what few batches have: each is compiled apart and called by its address where it is needed."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types

from runtime.integrate.batches.event_part import event_part
from runtime.integrate.batches.kink_landing import kink_part
from runtime.integrate.batches.surfaces_part import surfaces_part
from runtime.integrate.batches.workspace import BatchWorkspace
from runtime.jit.compilation import address_of_compiled
from runtime.jit.pointers import Pointer

WHOLE, REAL = types.int64, types.float64
# The arguments after the memory of a batch, and those before it.
ARGUMENTS: dict[Any, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    surfaces_part: ((WHOLE,), (WHOLE, WHOLE, WHOLE, REAL, REAL)),
    kink_part: ((), (WHOLE,)),
    event_part: ((WHOLE,), (WHOLE,)),
}
_ADDRESSES: dict[Any, int] = {}  # by ``_types``; numba takes a millisecond to find the type of a memory


def bind_parts(memory: BatchWorkspace) -> None:
    """Give a memory the addresses of the parts that it needs."""
    if len(memory.surfaces.over):
        memory.surfaces.part[0] = address_of_part(surfaces_part, memory)
    if len(memory.forces.kinks_by):
        memory.forces.kink_part[0] = address_of_part(kink_part, memory)
    if len(memory.events.rules):
        memory.events.by[1] = address_of_part(event_part, memory)


def address_of_part(part: Any, memory: BatchWorkspace) -> int:
    """Address of a part for a memory."""
    if (address := _ADDRESSES.get(key := (part, _types(memory)))) is None:
        before, behind = ARGUMENTS[part]
        signature = WHOLE(*before, Pointer(numba.typeof(memory)), *behind)
        address = _ADDRESSES[key] = address_of_compiled(part, signature)
    return address


def _types(value: Any) -> Any:
    """What decides the types of named tuples of arrays and numbers."""
    if isinstance(value, tuple):
        return type(value), *map(_types, value)
    return (value.dtype, value.ndim, value.flags.num) if isinstance(value, np.ndarray) else type(value)
