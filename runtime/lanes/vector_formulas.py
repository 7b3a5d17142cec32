"""Formulas of compiled code, run by Python with vectors: the instructions for lanes are those of the same source."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any

from numba.core.registry import CPUDispatcher

from runtime.jit.python_code import python_code

# What takes the place of ``runtime.jit.rows``: a row is an entry of a list or dictionary.
ROWS: Mapping[str, Any] = {
    "row_of": lambda rows, row, count: rows[row],
    "put_row": lambda rows, row, numbers: rows.__setitem__(row, numbers),
}


def with_vectors(function: Any, replaced: Mapping[str, Any] = ROWS) -> Any:
    """A function of compiled code as one of Python, with all that it calls; ``replaced``: names with other values.

    Comparisons decide while the instructions are written: a vector is neither equal to a number nor less.
    """
    source = python_code(function)
    values = {name: source.__globals__[name] for name in source.__code__.co_names if name in source.__globals__}
    for name, value in values.items():
        if name in replaced:
            values[name] = replaced[name]
        elif isinstance(value, CPUDispatcher):
            values[name] = with_vectors(value, replaced)
    return FunctionType(source.__code__, values, source.__name__)
