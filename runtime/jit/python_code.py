"""Generated kernels as functions of Python, for single calls: compiled or, where NUMBA_DISABLE_JIT is set, as they are."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np


def python_code(kernel: Any) -> Any:
    """The Python function of a kernel."""
    return getattr(kernel, "py_func", kernel)


def with_arrays(kernel: Any) -> Any:
    """The Python function of a straight-line kernel, for arrays in place of numbers."""
    return FunctionType(python_code(kernel).__code__, {"math": np})
