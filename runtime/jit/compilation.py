"""Compilation of the runtime's functions: entry points, which Python calls, and functions that are linked into them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core.sigutils import normalize_signature

from runtime.jit.machine_code import Callback, Kept
from runtime.jit.pipelines import InlinedCompiler
from runtime.jit.references import reference


class Entry(Kept):
    """A compiled function that Python calls; it receives named tuples as pointers."""

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return super().__call__(*[reference(a) if isinstance(a, tuple) else a for a in arguments])


def compiled(function: Callable[..., Any], **more: Any) -> Any:
    """Compile an entry point: strict floating point, no exceptions, without the GIL, kept under the digest of its sources."""
    options = dict(nopython=True, error_model="numpy", nogil=True, _nrt=False, no_cfunc_wrapper=True, boundscheck=None)
    entry = Entry(function, targetoptions=options | more)
    entry.enable_caching()
    return entry


def address_of_compiled(function: Callable[..., Any], signature: Any) -> int:
    """Address of a function that is compiled for a signature, for calls from compiled code."""
    callback: Any = Callback(function, normalize_signature(signature), {}, dict(error_model="numpy", _nrt=False))
    callback.enable_caching()
    callback.compile()
    address: int = callback.address
    return address


OPTIONS: dict[str, Any] = dict(
    error_model="numpy", _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=InlinedCompiler
)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function that entry points call; it is cached with them.

    Only compiled code calls it, so no wrappers for calls from Python and C are made: they took a third of the first start.
    """
    return numba.njit(**OPTIONS)(function)
