"""Numbers of a recorder as instructions of LLVM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from runtime.jit.recorder import Number, Recorded, Recorder

DOUBLE, INTEGER = ir.DoubleType(), ir.IntType(64)
FIRST = INTEGER(0)
ALIGNED = 8  # [bytes] as arrays of numbers are; vectors would be expected at multiples of their size
CONTRACT = ("contract",)  # products and sums may become one instruction
IN_LLVM = ("sqrt", "sin", "cos", "exp", "log", "pow")  # functions that LLVM knows; others are those of the C library


def function_of_arrays(owner: ir.Module, symbol: str, count: int, *more: ir.Type) -> tuple[ir.Function, ir.IRBuilder]:
    """A function of the addresses of so many arrays of numbers, which do not overlap, and of more; where its code begins."""
    function = ir.Function(owner, ir.FunctionType(ir.VoidType(), [DOUBLE.as_pointer()] * count + [*more]), symbol)
    for argument in function.args[:count]:
        argument.add_attribute("noalias")  # so that columns become vector instructions
    return function, ir.IRBuilder(function.append_basic_block("entry"))


class LlvmCode(Recorder):
    """Instructions for one number.

    flags : of LLVM, for arithmetic
    columns, column : how many numbers each row of an array has, and which of them
    """

    kind: Any = DOUBLE
    suffix = "f64"

    def __init__(
        self, builder: ir.IRBuilder, flags: Sequence[str] = CONTRACT, columns: int = 1, column: ir.Value = FIRST
    ) -> None:
        self.builder, self.flags, self.columns, self.column = builder, flags, columns, column

    def value(self, number: Number) -> ir.Value:
        """A number as an operand."""
        return number.value if isinstance(number, Recorded) else self.constant(float(number))

    def constant(self, number: float) -> ir.Value:
        """A known number."""
        return DOUBLE(number)

    def arithmetic(self, name: str, *numbers: Number) -> Recorded:
        """Sum, difference, product, quotient or change of sign."""
        return Recorded(self, getattr(self.builder, name)(*map(self.value, numbers), flags=self.flags))

    def function(self, name: str, *numbers: Number) -> Number:
        """A function of ``math``."""
        return self.intrinsic(name, *numbers) if name in IN_LLVM else self.of_library(name, *numbers)

    def intrinsic(self, name: str, *numbers: Number) -> Recorded:
        """A function that LLVM has."""
        kind = ir.FunctionType(self.kind, [self.kind] * len(numbers))
        called = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.{name}.{self.suffix}")
        return Recorded(self, self.builder.call(called, list(map(self.value, numbers))))

    def of_library(self, name: str, *numbers: Number) -> Recorded:
        """A function of the C library."""
        kind = ir.FunctionType(DOUBLE, [DOUBLE] * len(numbers))
        called = cgutils.insert_pure_function(self.builder.module, kind, name)
        return Recorded(self, self.builder.call(called, list(map(self.value, numbers))))

    def compare(self, sign: str, a: Number, b: Number) -> ir.Value:
        """Where a comparison holds."""
        return self.builder.fcmp_ordered(sign, self.value(a), self.value(b))

    def select(self, condition: ir.Value, a: Number, b: Number) -> Recorded:
        """The number a where the condition holds, else b."""
        return Recorded(self, self.builder.select(condition, self.value(a), self.value(b)))

    def place(self, row: int) -> ir.Value:
        """The place of a row of an array."""
        return self.builder.add(INTEGER(row * self.columns), self.column)

    def behind(self, place: ir.Value, rows: int) -> ir.Value:
        """The place so many rows behind another."""
        return self.builder.add(place, INTEGER(rows * self.columns))

    def chosen(self, condition: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
        """The place a where the condition holds, else b."""
        return self.builder.select(condition, a, b)

    def item(self, data: ir.Value, place: ir.Value) -> Recorded:
        """The number at a place of an array."""
        return Recorded(self, self.builder.load(self.at(data, place), align=ALIGNED))

    def store(self, number: Number, data: ir.Value, row: int) -> None:
        """Write a number to a row of an array."""
        place = self.place(row)
        self.builder.store(self.value(number), self.at(data, place), align=ALIGNED)

    def at(self, data: ir.Value, place: ir.Value) -> ir.Value:
        """The address of a place of an array."""
        return self.builder.bitcast(self.builder.gep(data, [place], inbounds=True), self.kind.as_pointer())
