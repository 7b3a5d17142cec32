"""References to named tuples of arrays, for functions that take a pointer to them."""

from __future__ import annotations

import struct
from typing import Any

import numba
import numpy as np

from runtime.jit.numba_types import types
from runtime.jit.pointers import Pointer
from runtime.support.latest import Latest

MAX_REFERENCES = 6  # more would keep the memory of systems that are gone


class Reference:
    """A named tuple of arrays and numbers as compiled code has it in memory, with its address; arrays are not copied."""

    __slots__ = ("_memory", "_numba_type_", "address", "value")

    def __init__(self, value: Any) -> None:
        self.value = value  # the arrays live as long as this
        self._numba_type_ = _type_of(value)
        code, words = _packed(value, self._numba_type_.of)
        self._memory = np.frombuffer(bytearray(struct.pack(f"={code}", *words)), np.int8)
        self.address = int(self._memory.ctypes.data)


def _packed(value: Any, kind: Any) -> tuple[str, list[Any]]:
    """A named tuple as numba lays it out: formats of ``struct`` and words.

    An array is the place of its memory and of its owner, which stay empty, its size, size of an item, address, shape and strides.
    """
    codes, words = [], []
    for item, of in zip(value, kind.types, strict=True):
        if isinstance(of, types.BaseNamedTuple):
            inner, more = _packed(item, of)
            codes.append(inner)
            words += more
        elif isinstance(of, types.Array):
            codes.append(f"{5 + 2 * of.ndim}q")
            words += [0, 0, item.size, item.itemsize, item.__array_interface__["data"][0], *item.shape, *item.strides]
        elif of == types.complex128:
            codes.append("2d")
            words += [item.real, item.imag]
        elif of in (types.int64, types.float64):
            codes.append("q" if of == types.int64 else "d")
            words.append(item)
        else:
            raise TypeError(f"{kind.instance_class.__name__}: a field of the type {of} has no place in a reference")
    return "".join(codes), words


def layout(argument: Any) -> Any:
    """What decides the type of an argument for numba, which takes longer to find it."""
    if isinstance(argument, tuple):
        return type(argument), *map(layout, argument)
    if isinstance(argument, np.ndarray):
        return argument.dtype, argument.ndim, argument.flags.num
    return type(argument)


_TYPES: dict[Any, Pointer] = {}  # by layout; numba takes a millisecond to find the type of a large tuple


def _type_of(value: Any) -> Pointer:
    key = layout(value)
    if key not in _TYPES:
        _TYPES[key] = Pointer(numba.typeof(value))
    return _TYPES[key]


reference = Latest(Reference, MAX_REFERENCES)  # the reference to a named tuple, made once for several calls
