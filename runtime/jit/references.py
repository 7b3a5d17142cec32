"""References to named tuples of arrays, for functions that take a pointer to them."""

from __future__ import annotations

import struct
from ctypes import c_int64
from typing import Any

import numba
import numpy as np

from runtime.jit.numba_types import types
from runtime.jit.pointers import Pointer
from runtime.support.latest import Latest

NUMBERS = {types.int64: "q", types.float64: "d", types.complex128: "2d"}
# Where numpy's arrays have the address of their memory: numpy's own functions take ten times as long to tell it.
ADDRESS = object.__basicsize__
MAX_REFERENCES = 6  # more would keep the memory of systems that are gone


class Reference:
    """A named tuple of arrays and numbers as compiled code has it in memory, with its address; arrays are not copied."""

    __slots__ = ("_memory", "_numba_type_", "address", "value")

    def __init__(self, value: Any) -> None:
        self.value = value  # the arrays live as long as this
        words: list[Any] = []
        key: list[Any] = []
        _collect(value, words, key)
        self._numba_type_, form = _type_of(tuple(key), value)
        self._memory = np.frombuffer(bytearray(struct.pack(f"={form}", *words)), np.int8)
        self.address = int(self._memory.ctypes.data)


def _collect(value: Any, words: list[Any], key: list[Any]) -> None:
    """Add a named tuple as it is in memory to ``words``, and what decides its type, as ``layout``, to ``key``."""
    key.append(type(value))
    for item in value:
        if isinstance(item, np.ndarray):
            address, shape = c_int64.from_address(id(item) + ADDRESS).value, item.shape
            words += 0, 0, item.size, item.itemsize, address, *shape, *item.strides
            key += item.dtype, len(shape), item.flags.num
        elif isinstance(item, tuple):
            _collect(item, words, key)
        else:
            words += (item.real, item.imag) if isinstance(item, complex) else (item,)
            key.append(type(item))


def _format(kind: Any) -> str:
    """The format of ``struct`` of a named tuple as numba lays it out.

    An array is the place of its memory and of its owner, which stay empty, its size, size of an item, address, shape and strides.
    """
    codes = []
    for of in kind.types:
        if isinstance(of, types.BaseNamedTuple):
            codes.append(_format(of))
        elif isinstance(of, types.Array):
            codes.append(f"{5 + 2 * of.ndim}q")
        elif of in NUMBERS:
            codes.append(NUMBERS[of])
        else:
            raise TypeError(f"{kind.instance_class.__name__}: a field of the type {of} has no place in a reference")
    return "".join(codes)


def layout(argument: Any) -> Any:
    """What decides the type of an argument for numba, which takes longer to find it."""
    if isinstance(argument, tuple):
        return type(argument), *map(layout, argument)
    if isinstance(argument, np.ndarray):
        return argument.dtype, argument.ndim, argument.flags.num
    return type(argument)


_TYPES: dict[Any, tuple[Pointer, str]] = {}  # by key; numba takes a millisecond to find the type of a large tuple


def _type_of(key: tuple[Any, ...], value: Any) -> tuple[Pointer, str]:
    """The type of the pointer to a named tuple, and its ``_format``; ``key``: what decides them."""
    if key not in _TYPES:
        kind = numba.typeof(value)
        _TYPES[key] = Pointer(kind), _format(kind)
    return _TYPES[key]


reference = Latest(Reference, MAX_REFERENCES)  # the reference to a named tuple, made once for several calls
