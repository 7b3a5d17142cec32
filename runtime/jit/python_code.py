"""Generated kernels as functions of Python, for single calls: compiled or, where NUMBA_DISABLE_JIT is set, as they are."""

from __future__ import annotations

from typing import Any


def python_code(kernel: Any) -> Any:
    """The Python function of a kernel."""
    return getattr(kernel, "py_func", kernel)
