"""Arithmetic of neighbouring lanes as vector instructions: an operator-overloading tracer that writes LLVM's language.

Python code that is run with ``Vector`` in place of numbers writes the instructions that compute its results.  Known numbers
remain numbers: sums with 0 and products with 0 or 1 are left out, so a fixed body adds no instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from runtime.dynamics.layout import LANES
from runtime.jit.straight_line import DOUBLE, INTEGER, MAX_UNROLLED_POWER

WIDTH = 8  # lanes of a vector: those of AVX-512; two registers of AVX2 hide the latency of each other
FLAGS = ("contract",)
MAX_KNOWN = 2048
ALIGNED = 8  # [bytes] as arrays of numbers are
INDEX = ir.IntType(32)
Number = Any  # a float, or a Vector


class KnownNumbers:
    """Known numbers of a module of LLVM in its memory, one place for each use.

    An instruction takes such a number from there; one in the text takes two instructions more, and one that is loaded once for
    several uses takes a register.  LLVM would put a constant array back into the text.
    """

    def __init__(self, module: ir.Module, name: str) -> None:
        self.array = ir.GlobalVariable(module, ir.ArrayType(DOUBLE, MAX_KNOWN), name)
        self.numbers: list[float] = []

    @property
    def full(self) -> bool:
        """Whether there is no place left."""
        return len(self.numbers) == MAX_KNOWN

    def place(self, builder: ir.IRBuilder, number: float) -> ir.Value:
        """Address of a number."""
        self.numbers.append(number)
        return builder.gep(self.array, [INDEX(0), INDEX(len(self.numbers) - 1)], inbounds=True)

    def finish(self) -> None:
        """Write the numbers, when all are known."""
        numbers = self.numbers + [0.0] * (MAX_KNOWN - len(self.numbers))
        self.array.initializer = ir.Constant(self.array.type.pointee, numbers)


class Code:
    """The instructions written so far, for ``width`` lanes; ``power``: the function of powers that are no whole numbers."""

    def __init__(
        self,
        builder: ir.IRBuilder,
        power: Callable[[Number, Number], Number],
        width: int = WIDTH,
        known: KnownNumbers | None = None,
    ) -> None:
        self.builder, self.power, self.width, self.known = builder, power, width, known
        self.kind = ir.VectorType(DOUBLE, width)
        self.integers = ir.VectorType(INTEGER, width)

    def load(self, data: ir.Value, place: ir.Value) -> Vector:
        """The numbers at a place of an array."""
        return Vector(self, self.builder.load(self._at(data, place), align=ALIGNED))

    def store(self, number: Number, data: ir.Value, place: ir.Value) -> None:
        """Write numbers at a place of an array."""
        self.builder.store(self.value(number), self._at(data, place), align=ALIGNED)

    def _at(self, data: ir.Value, place: ir.Value) -> ir.Value:
        return self.builder.bitcast(self.builder.gep(data, [place], inbounds=True), self.kind.as_pointer())

    def value(self, number: Number) -> ir.Value:
        """A number as a value of LLVM."""
        if isinstance(number, Vector):
            return number.value
        if number == 0.0 or self.known is None or self.known.full:
            return ir.Constant(self.kind, [float(number)] * self.width)
        return self._repeated(self.builder.load(self.known.place(self.builder, float(number))))

    def _repeated(self, number: ir.Value) -> ir.Value:
        none = ir.Constant(self.kind, ir.Undefined)
        one = self.builder.insert_element(none, number, INDEX(0))
        return self.builder.shuffle_vector(one, none, ir.Constant(ir.VectorType(INDEX, self.width), [0] * self.width))

    def whole(self, number: int) -> ir.Value:
        """An integer in all lanes."""
        return ir.Constant(self.integers, [number] * self.width)

    def arithmetic(self, name: str, *numbers: Number) -> Vector:
        """Sum, difference, product, quotient or change of sign."""
        return Vector(self, getattr(self.builder, name)(*map(self.value, numbers), flags=FLAGS))

    def intrinsic(self, name: str, *numbers: Number) -> Vector:
        """A function that LLVM has for vectors."""
        kind = ir.FunctionType(self.kind, [self.kind] * len(numbers))
        called = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.{name}.v{self.width}f64")
        return Vector(self, self.builder.call(called, list(map(self.value, numbers))))

    def compare(self, sign: str, a: Number, b: Number) -> ir.Value:
        """In which lanes a comparison holds; never for what is not a number."""
        return self.builder.fcmp_ordered(sign, self.value(a), self.value(b))

    def select(self, condition: ir.Value, a: Number, b: Number) -> Vector:
        """The number a where the condition holds, else b."""
        return Vector(self, self.builder.select(condition, self.value(a), self.value(b)))

    def bits(self, number: Number) -> ir.Value:
        """The bits of numbers as integers."""
        return self.builder.bitcast(self.value(number), self.integers)

    def of_bits(self, bits: ir.Value) -> Vector:
        """The numbers that have these bits."""
        return Vector(self, self.builder.bitcast(bits, self.kind))

    def lane(self, number: Number, lane: int) -> ir.Value:
        """The number of one lane."""
        return self.builder.extract_element(self.value(number), INDEX(lane))

    def vector(self, numbers: Sequence[ir.Value]) -> Vector:
        """The numbers of all lanes as one."""
        value = ir.Constant(self.kind, ir.Undefined)
        for lane, number in enumerate(numbers):
            value = self.builder.insert_element(value, number, INDEX(lane))
        return Vector(self, value)

    def look_up(self, data: ir.Value, first: ir.Value, pieces: int, size: int, argument: Number) -> list[Vector]:
        """The numbers of the piece of a table that an argument is in.

        Each piece has ``size`` rows, of which the first is its begin; ``first``: place of the first piece.
        """
        build, found = self.builder, list[list[ir.Value]]()
        for lane in range(self.width):
            low, left, x = build.add(first, INTEGER(lane)), pieces, self.lane(argument, lane)
            while left > 1:
                half = left // 2
                middle = build.add(low, INTEGER(half * size * LANES))
                knot = build.load(build.gep(data, [middle], inbounds=True))
                low = build.select(build.fcmp_ordered("<=", knot, x), middle, low)
                left -= half
            places = [build.add(low, INTEGER(c * LANES)) for c in range(size)]
            found.append([build.load(build.gep(data, [place], inbounds=True)) for place in places])
        return [self.vector(numbers) for numbers in zip(*found, strict=True)]

    def by_lane(self, name: str, *numbers: Number) -> Vector:
        """A function of the C library, called for each lane."""
        kind = ir.FunctionType(DOUBLE, [DOUBLE] * len(numbers))
        called = cgutils.insert_pure_function(self.builder.module, kind, name)
        lanes = [[self.lane(number, k) for number in numbers] for k in range(self.width)]
        return self.vector([self.builder.call(called, arguments) for arguments in lanes])

    def outlined(
        self, name: str, results: int, write: Callable[[list[Vector]], Sequence[Number]], *numbers: Number
    ) -> list[Vector]:
        """What ``write`` computes, by a function of that name: rare instructions that are needed at several places."""
        module, caller = self.builder.module, self.builder
        if name not in module.globals:
            kind = ir.FunctionType(ir.ArrayType(self.kind, results), [self.kind] * len(numbers))
            function = ir.Function(module, kind, name)
            function.linkage = "internal"
            function.attributes.add("noinline")
            self.builder = ir.IRBuilder(function.append_basic_block("entry"))
            found: ir.Value = ir.Constant(kind.return_type, ir.Undefined)
            for k, number in enumerate(write([Vector(self, argument) for argument in function.args])):
                found = self.builder.insert_value(found, self.value(number), k)
            self.builder.ret(found)
            self.builder = caller
        called = caller.call(module.globals[name], [self.value(number) for number in numbers])
        return [Vector(self, caller.extract_value(called, k)) for k in range(results)]

    def by_lane_where(self, condition: ir.Value, usual: Number, name: str, *numbers: Number) -> Vector:
        """The usual value; where a condition holds, a function of the C library, which is called only if it holds in a lane."""
        return self.where(condition, lambda: [self.by_lane(name, *numbers)], [usual], likely=False)[0]

    def where(
        self,
        condition: ir.Value,
        write: Callable[[], Sequence[Number]],
        usual: Sequence[Number],
        *,
        likely: bool = True,
    ) -> list[Vector]:
        """What ``write`` computes where a condition holds, else the usual values; skipped if it holds in no lane."""
        usual = [self.value(number) for number in usual]
        before = self.builder.block
        mask = self.builder.bitcast(condition, ir.IntType(self.width))
        some = self.builder.icmp_unsigned("!=", mask, mask.type(0))
        with self.builder.if_then(some, likely=likely):
            found = [
                self.builder.select(condition, self.value(number), other)
                for number, other in zip(write(), usual, strict=True)
            ]
            there = self.builder.block
        phis = [self.builder.phi(self.kind) for _ in found]
        for phi, number, other in zip(phis, found, usual, strict=True):
            phi.add_incoming(other, before)
            phi.add_incoming(number, there)
        return [Vector(self, phi) for phi in phis]

    def repeat(
        self, most: int, write: Callable[[Sequence[Number]], tuple[Sequence[Number], ir.Value]], *numbers: Number
    ) -> list[Vector]:
        """Numbers that ``write`` replaces again as long as the condition that it returns with them holds in a lane.

        It does so once at least, and at most so many times.  Lanes whose condition does not hold must keep their numbers.
        """
        build, values = self.builder, [self.value(number) for number in numbers]
        before, begin = build.block, build.append_basic_block()
        build.branch(begin)
        build.position_at_end(begin)
        count, phis = build.phi(INTEGER), [build.phi(self.kind) for _ in values]
        found, condition = write([Vector(self, phi) for phi in phis])
        left, passed = [self.value(number) for number in found], build.add(count, INTEGER(1))
        mask = build.bitcast(condition, ir.IntType(self.width))
        again = build.and_(
            build.icmp_unsigned("!=", mask, mask.type(0)), build.icmp_unsigned("<", passed, INTEGER(most))
        )
        there, after = build.block, build.append_basic_block()
        build.cbranch(again, begin, after)
        build.position_at_end(after)
        for phi, first, other in zip((count, *phis), (INTEGER(0), *values), (passed, *left), strict=True):
            phi.add_incoming(first, before)
            phi.add_incoming(other, there)
        return [Vector(self, value) for value in left]


class Vector:
    """A number of each lane, with the operators of numbers."""

    __slots__ = ("code", "value")

    def __init__(self, code: Code, value: ir.Value) -> None:
        self.code, self.value = code, value

    def __add__(self, other: Number) -> Number:
        return self if _is(other, 0.0) else self.code.arithmetic("fadd", self, other)

    __radd__ = __add__

    def __sub__(self, other: Number) -> Number:
        return self if _is(other, 0.0) else self.code.arithmetic("fsub", self, other)

    def __rsub__(self, other: Number) -> Number:
        return -self if _is(other, 0.0) else self.code.arithmetic("fsub", other, self)

    def __mul__(self, other: Number) -> Number:
        if _is(other, 0.0):
            return 0.0
        if _is(other, 1.0):
            return self
        return -self if _is(other, -1.0) else self.code.arithmetic("fmul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Number:
        return self.code.arithmetic("fdiv", self, other)

    def __rtruediv__(self, other: Number) -> Number:
        return self.code.arithmetic("fdiv", other, self)

    def __neg__(self) -> Number:
        return self.code.arithmetic("fneg", self)

    def __abs__(self) -> Number:
        return self.code.intrinsic("fabs", self)

    def __pow__(self, exponent: Number) -> Number:
        """Powers with a whole exponent by squaring and multiplication; those with a half one by a square root besides."""
        if isinstance(exponent, Vector) or abs(exponent) > MAX_UNROLLED_POWER or 2 * exponent != int(2 * exponent):
            return self.code.power(self, exponent)
        if exponent != int(exponent):
            root = self.code.intrinsic("sqrt", self)
            return root * self ** int(exponent - 0.5) if exponent > 0 else 1.0 / self**-exponent
        exponent = int(exponent)
        result: Number = 1.0
        base, left = self, abs(exponent)
        while left:
            if left & 1:
                result = base * result
            left >>= 1
            if left:
                base = base * base
        return result if exponent >= 0 else 1.0 / result

    def __rpow__(self, base: Number) -> Number:
        return self.code.power(base, self)

    def __bool__(self) -> bool:
        raise NotImplementedError("lanes may differ; code for vectors has no branches")


def _is(number: Number, known: float) -> bool:
    return not isinstance(number, Vector) and number == known
