"""Functions for all lanes, whose instructions are written for as many lanes as a vector has."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from runtime.dynamics.layout import LANES
from runtime.jit.addresses import address_of_written
from runtime.jit.straight_line import DOUBLE, INTEGER
from runtime.lanes.vector_code import WIDTH, Code, KnownNumbers
from runtime.lanes.vector_functions import power

# Writes instructions for the lanes from a column on, with the addresses of the arguments.
Write = Callable[[Code, Sequence[ir.Value], ir.Value], None]


def address_of_lanes(name: str, arguments: int, write: Write, module: str, words: str, *decided: str) -> int:
    """Address in this process of a function as of ``written_function``; the others are as of ``address_of_written``."""

    def written(owner: ir.Module, symbol: str) -> ir.Module:
        return written_function(owner, symbol, arguments, write)

    return address_of_written(name, written, module, words, *decided)


def written_function(owner: ir.Module, symbol: str, arguments: int, write: Write) -> ir.Module:
    """``owner`` with a function of the addresses of so many arrays of doubles, whose last axis are the LANES."""
    addresses = [DOUBLE.as_pointer()] * arguments
    function = ir.Function(owner, ir.FunctionType(ir.VoidType(), addresses), symbol)
    part = ir.Function(owner, ir.FunctionType(ir.VoidType(), [*addresses, INTEGER]), f"{symbol}_part")
    part.linkage = "internal"
    part.attributes.add("noinline")
    known = KnownNumbers(owner, f"{symbol}_numbers")
    *data, column = part.args
    for argument in data:
        argument.add_attribute("noalias")
    inside = ir.IRBuilder(part.append_basic_block("entry"))
    write(Code(inside, power, known=known), data, column)
    inside.ret_void()
    known.finish()
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    for first in range(0, LANES, WIDTH):
        builder.call(part, [*function.args, INTEGER(first)])
    builder.ret_void()
    return owner
