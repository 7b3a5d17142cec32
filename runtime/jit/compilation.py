"""Compilation of the runtime's functions: entry points, which Python calls, and functions that are linked into them."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numba
import numpy as np
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.targetconfig import ConfigStack

from runtime.jit.machine_code import Callback, Kept
from runtime.jit.numba_types import types
from runtime.jit.pipelines import ColumnsCompiler, EntryCompiler, InlinedCompiler, fastmath_of
from runtime.jit.references import layout, reference

CONTRACT = {"contract"}  # the only liberty with floating point: fused multiply-adds


class Entry(Kept):
    """A compiled function that Python calls; it receives named tuples as pointers."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._prepared: set[Any] = set()  # layouts of arguments

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return _called(super().__call__, (), *[reference(a) if isinstance(a, tuple) else a for a in arguments])

    def bound(self, *tuples: Any) -> Callable[..., Any]:
        """The compiled function with its first arguments, named tuples, given: a call takes a third of the time."""
        return partial(_called, super().__call__, tuple(map(reference, tuples)))

    def prepare(self, *arguments: Any) -> None:
        """Compile for the types of arguments, without a call."""
        layouts = tuple(map(layout, arguments))
        if layouts in self._prepared:
            return
        kinds = [reference(a)._numba_type_ if isinstance(a, tuple) else numba.typeof(a) for a in arguments]
        self.compile(tuple(kinds))
        self._prepared.add(layouts)


def _called(call: Callable[..., Any], references: tuple[Any, ...], *arguments: Any) -> Any:
    """The result of a compiled function, or the error of a function that it called and that could not be compiled."""
    _STATE.error = None
    result = call(*references, *arguments)
    if _STATE.error is not None:
        error, _STATE.error = _STATE.error, None
        raise error
    return result


_STATE = threading.local()  # ``error``: why a function that compiled code called could not be compiled


def compiled(function: Callable[..., Any], **more: Any) -> Any:
    """Compile an entry point: strict floating point, no exceptions, without the GIL, kept under the digest of its sources."""
    options = dict(nopython=True, error_model="numpy", nogil=True, _nrt=False, no_cfunc_wrapper=True, boundscheck=None)
    return Entry(function, targetoptions=options | more, pipeline_class=EntryCompiler)


@cache
def address_of_compiled(function: Callable[..., Any], signature: Any) -> int:
    """Address of a function that is compiled for a signature, for calls from compiled code."""
    options = dict(error_model="numpy", _nrt=False)
    callback: Any = Callback(function, normalize_signature(signature), {}, options, EntryCompiler)
    callback.compile()
    _KEPT.append(callback)
    return callback.address


@cache
def place_of_address(function: Callable[..., Any], signature: Any, failed: int) -> int:
    """Place of the address of a function that is compiled when compiled code first calls it, with ``call_at``.

    Until then the address is that of Python code, which compiles the function; ``failed`` is what it returns where that raises,
    so that compiled code ends and the entry point can raise the error.
    """
    place = np.zeros(1, np.int64)
    kinds: Any = [_C_TYPES.get(kind, ctypes.c_void_p) for kind in (signature.return_type, *signature.args)]
    prototype = ctypes.CFUNCTYPE(*kinds)

    def compile_and_call(*arguments: Any) -> Any:
        if getattr(_STATE, "error", None) is not None:
            return failed  # once is enough: the entry point is about to raise it
        try:
            place[0] = address_of_compiled(function, signature)
            return prototype(int(place[0]))(*arguments)
        except BaseException as error:
            _STATE.error = error  # the entry point raises it
            return failed

    first = prototype(compile_and_call)
    place[0] = ctypes.cast(first, ctypes.c_void_p).value or 0
    _KEPT.extend((first, place))
    return int(place.ctypes.data)


_C_TYPES: dict[Any, Any] = {types.float64: ctypes.c_double, types.int64: ctypes.c_int64}
_KEPT: list[Any] = []  # what compiled code may call lives as long as the process


# Settings that numba has a function inherit from its first caller in the process are given here: forceinline, and in ``Linked``
# fastmath.
OPTIONS: dict[str, Any] = dict(
    error_model="numpy", _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=False,
    pipeline_class=InlinedCompiler,
)  # fmt: skip


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function that entry points call; it is cached with them.

    Only compiled code calls it, so no wrappers for calls from Python and C are made: they took a third of the first start.
    ``py_func`` is the function itself, for tests and for rules that Python code shares.
    """
    return linked(function)


def expanded(function: Callable[..., Any]) -> Any:
    """As ``inlined``, into each of its callers whatever its size: tuples of numbers then stay in registers."""
    return linked(function, forceinline=True)


def columns(function: Callable[..., Any]) -> Any:
    """As ``inlined``, for loops over arrays that do not overlap: they become vector instructions without checks.

    Arrays that are only read may overlap each other.
    """
    return linked(function, pipeline_class=ColumnsCompiler)


def linked(function: Callable[..., Any], **more: Any) -> Any:
    """As ``inlined``, with more options.  ``numba.njit`` would return the function itself where NUMBA_DISABLE_JIT is set."""
    targetoptions = dict(nopython=True, boundscheck=None) | OPTIONS | more
    pipeline = targetoptions.pop("pipeline_class")
    return Linked(function, targetoptions=targetoptions, pipeline_class=pipeline)


class Linked(CPUDispatcher):
    """A compiled function without a wrapper for Python: without the refusal here, a call from Python would end the process.

    Code whose caller allows fused multiply-adds, which numba has its functions inherit, is apart from that of strict callers:
    one for both would have the bits of whichever caller came first in the process.
    """

    _contracted: Any = None

    def _for_caller(self) -> Any:
        """The function itself, or the one that callers with fused multiply-adds get."""
        if not fastmath_of(ConfigStack.top_or_none()) or "fastmath" in self.targetoptions:
            return self
        if self._contracted is None:
            more = {"fastmath": CONTRACT}
            self._contracted = type(self)(
                self.py_func, targetoptions=self.targetoptions | more, pipeline_class=self._compiler.pipeline_class
            )
        return self._contracted

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """The signatures of the code for the present caller."""
        return super(Linked, self._for_caller()).get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """The code for the present caller."""
        return super(Linked, self._for_caller()).get_overload(sig)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Refuse the call."""
        name = self.py_func.__name__
        raise TypeError(f"{name} is linked into compiled code and has no entry for Python; call {name}.py_func instead")
