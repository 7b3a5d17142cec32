"""References to named tuples of arrays, for functions that take a pointer to them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np

from runtime.jit.machine_code import Kept
from runtime.jit.numba_types import types
from runtime.jit.pipelines import UnoptimisedCompiler
from runtime.jit.pointers import Pointer, number_of, number_of_type, size_of, store
from runtime.support.latest import Latest

# References to tuples of a class that are written from Python: the first ones, and some more while there is no compiled code.
FIRST, MOST = 8, 32
MAX_REFERENCES = 6  # more would keep memory that new systems could use again, which costs more than new references


class Reference:
    """A named tuple of arrays and numbers as compiled code has it in memory, with its address; arrays are not copied."""

    __slots__ = ("_memory", "_numba_type_", "address", "value")

    def __init__(self, value: Any) -> None:
        self.value = value  # the arrays live as long as this
        if _by_compiled_code(value) or not self._write(value):
            self._store(value)
        self.address = int(self._memory.ctypes.data)

    def _write(self, value: Any) -> bool:
        """Write the memory from Python, ten times slower than ``_store``, which takes a second to compile; whether it can be."""
        kind = _type_of(value)
        if (packed := _packed(value, kind.of)) is None:
            return False
        code, words = packed
        self._memory = np.frombuffer(bytearray(struct.pack(f"={code}", *words)), np.int8)
        self._numba_type_ = kind
        return True

    def _store(self, value: Any) -> None:
        self._memory = np.empty(_SIZES.get(type(value), 0), np.int8)
        number = _store(value, self._memory.ctypes.data, self._memory.size)
        if number < 0:
            _SIZES[type(value)] = -number
            self._memory = np.empty(-number, np.int8)
            number = _store(value, self._memory.ctypes.data, self._memory.size)
        self._numba_type_ = _TYPES.get(number) or _type_of(value)


def _by_compiled_code(value: Any) -> bool:
    """Whether the next reference to a tuple of this class is written by compiled code."""
    sort = type(value)
    made = _MADE[sort] = _MADE.get(sort, 0) + 1
    if (
        sort not in _STORED and made > FIRST and (made & (made - 1) == 0 or made > MOST)
    ):  # now and then: looking takes a while
        if made > MOST or _store.is_kept(numba.typeof(value), types.int64, types.int64):
            _STORED.add(sort)
    return sort in _STORED


@contextmanager
def compiled_at_once() -> Iterator[None]:
    """References are written by compiled code from the first one on, so that it is in the cache."""
    global FIRST, MOST
    before, FIRST, MOST = (FIRST, MOST), 0, 0
    try:
        yield
    finally:
        FIRST, MOST = before


def compile_for(value: Any) -> None:
    """Compile what writes references to tuples of a type."""
    _store.compile((numba.typeof(value), types.int64, types.int64))


def _packed(value: Any, kind: Any) -> tuple[str, list[Any]] | None:
    """A named tuple as numba lays it out: formats of ``struct`` and words; None for types that are not known here.

    An array is the place of its memory and of its owner, which stay empty, its size, size of an item, address, shape and strides.
    """
    codes, words = [], []
    for item, of in zip(value, kind.types, strict=True):
        if isinstance(of, types.BaseNamedTuple):
            if (inner := _packed(item, of)) is None:
                return None
            codes.append(inner[0])
            words += inner[1]
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
            return None
    return "".join(codes), words


_MADE: dict[type, int] = {}  # number of references by the class of the tuple
_STORED: set[type] = set()  # classes whose references are written by compiled code
_SIZES: dict[type, int] = {}  # [bytes] by the class of the tuple, the largest so far
_TYPES: dict[int, Pointer] = {}  # by ``number_of``; numba takes a millisecond to find the type of a large tuple


def _type_of(value: Any) -> Pointer:
    kind = numba.typeof(value)
    return _TYPES.setdefault(number_of(kind), Pointer(kind))


def _store_at(value, address, size):  # type: ignore[no-untyped-def]
    """Store a named tuple at an address; the number of its type, or if it is larger than ``size`` the negative of its size.

    Its many arrays make this function large, although it runs once for each tuple: it is not optimised.
    """
    if size < size_of(value):
        return -size_of(value)
    store(value, address)
    return number_of_type(value)


_store = Kept(
    _store_at,
    targetoptions=dict(nopython=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True, boundscheck=None),
    pipeline_class=UnoptimisedCompiler,
)

reference = Latest(Reference, MAX_REFERENCES)  # the reference to a named tuple, made once for several calls
