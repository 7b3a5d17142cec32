"""Functions for all lanes, whose instructions are written for as many lanes as a vector has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from llvmlite import ir

from runtime.dynamics.layout import LANES
from runtime.jit.addresses import address_of_written
from runtime.jit.llvm_code import INTEGER, function_of_arrays
from runtime.lanes.text_code import TextCode
from runtime.lanes.vector_code import WIDTH, KnownNumbers, VectorCode

# Writes a function with code and its arguments, which are arrays, by name.
Write = Callable[[Any, dict[str, Any]], None]


def text_of_lane(name: str, axes: Mapping[str, int], write: Write) -> str:
    """A function of Python for one lane, as the function of ``address_of_lanes``; ``axes``: as of ``TextCode``."""
    code = TextCode(axes)
    write(code, {argument: argument for argument in axes})
    return code.text(name)


def address_of_lanes(name: str, arguments: Iterable[str], write: Write, module: str, words: str, *decided: str) -> int:
    """Address in this process of a function as of ``written_function``; the others are as of ``address_of_written``."""

    def written(owner: ir.Module, symbol: str) -> ir.Module:
        return written_function(owner, symbol, arguments, write)

    return address_of_written(name, written, module, words, *decided)


def written_function(owner: ir.Module, symbol: str, arguments: Iterable[str], write: Write) -> ir.Module:
    """``owner`` with a function of the addresses of arrays of doubles, whose last axis are the LANES."""
    names = list(arguments)
    function, builder = function_of_arrays(owner, symbol, len(names))
    part, inside = function_of_arrays(owner, f"{symbol}_part", len(names), INTEGER)
    part.linkage = "internal"
    part.attributes.add("noinline")
    known = KnownNumbers(owner, f"{symbol}_numbers")
    *data, column = part.args
    write(VectorCode(inside, known, column=column), dict(zip(names, data, strict=True)))
    inside.ret_void()
    known.finish()
    for first in range(0, LANES, WIDTH):
        builder.call(part, [*function.args, INTEGER(first)])
    builder.ret_void()
    return owner
