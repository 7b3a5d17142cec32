"""Formulas of compiled code, run by Python with vectors: the instructions for lanes are those of the same source."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import FunctionType
from typing import Any

from numba.core.registry import CPUDispatcher

from runtime.jit.python_code import python_code
from runtime.jit.recorder import Functions, choose, is_known

# What takes the place of instructions of compiled code: a row is an entry of a list or dictionary.
INSTRUCTIONS: Mapping[str, Any] = {
    "row_of": lambda rows, row, count: rows[row],
    "put_row": lambda rows, row, numbers: rows.__setitem__(row, numbers),
    "local": lambda memory: memory,
    "choose": choose,
    "is_zero": partial(is_known, value=0.0),
    "math": Functions(),
}


def with_vectors(function: Any, **more: Any) -> Any:
    """A function of compiled code as one of Python, with all that it calls; ``more``: names with other values.

    What it decides by ``if`` it decides while the instructions are written; by ``choose`` each lane decides.
    """
    return _with(function, {**INSTRUCTIONS, **more})


def _with(function: Any, replaced: Mapping[str, Any]) -> Any:
    source = python_code(function)
    values = {name: source.__globals__[name] for name in source.__code__.co_names if name in source.__globals__}
    for name, value in values.items():
        if name in replaced:
            values[name] = replaced[name]
        elif isinstance(value, CPUDispatcher):
            values[name] = _with(value, replaced)
    return FunctionType(source.__code__, values, source.__name__)
