"""References to named tuples of arrays, for functions that take a pointer to them."""

from __future__ import annotations

import threading
from typing import Any

import numba
import numpy as np

from runtime.jit.machine_code import Kept
from runtime.jit.pipelines import UnoptimisedCompiler
from runtime.jit.pointers import Pointer, number_of, number_of_type, size_of, store

MAX_REFERENCES = 6  # more would keep memory that new systems could use again, which costs more than new references


class Reference:
    """A named tuple of arrays and numbers as compiled code has it in memory, with its address; arrays are not copied."""

    __slots__ = ("_memory", "_numba_type_", "address", "value")

    def __init__(self, value: Any) -> None:
        self.value = value  # the arrays live as long as this
        self._memory = np.empty(_SIZES.get(type(value), 0), np.int8)
        number = _store(value, self._memory.ctypes.data, self._memory.size)
        if number < 0:
            _SIZES[type(value)] = -number
            self._memory = np.empty(-number, np.int8)
            number = _store(value, self._memory.ctypes.data, self._memory.size)
        self._numba_type_ = _TYPES.get(number) or _type_of(value)
        self.address = int(self._memory.ctypes.data)


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

_LOCK = threading.Lock()
_REFERENCES: dict[int, Reference] = {}  # by the identity of the tuples, the last one used at the end


def reference(value: Any) -> Reference:
    """The reference to a named tuple, made once for several calls."""
    with _LOCK:  # cases run in threads
        known = _REFERENCES.pop(id(value), None)
        if known is None or known.value is not value:
            known = Reference(value)
            while len(_REFERENCES) >= MAX_REFERENCES:
                del _REFERENCES[next(iter(_REFERENCES))]  # the one that was not used for longest
        _REFERENCES[id(value)] = known
    return known
