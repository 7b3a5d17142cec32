"""Arithmetic of neighbouring lanes as vector instructions of LLVM, written by a recorder."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from runtime.dynamics.layout import LANES
from runtime.jit.llvm_code import DOUBLE, FIRST, INTEGER, LlvmCode
from runtime.jit.recorder import Number, Recorded
from runtime.lanes.vector_functions import BY_LANE, OF_VECTORS, sine_and_cosine

WIDTH = 8  # lanes of a vector: those of AVX-512; two registers of AVX2 hide the latency of each other
MAX_KNOWN = 2048
INDEX = ir.IntType(32)


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


class VectorCode(LlvmCode):
    """Instructions for ``WIDTH`` of LANES from a column on."""

    kind = ir.VectorType(DOUBLE, WIDTH)
    integers = ir.VectorType(INTEGER, WIDTH)
    suffix = f"v{WIDTH}f64"

    def __init__(
        self,
        builder: ir.IRBuilder,
        known: KnownNumbers | None = None,
        columns: int = LANES,
        column: ir.Value = FIRST,
    ) -> None:
        super().__init__(builder, columns=columns, column=column)
        self.known = known

    def constant(self, number: float) -> ir.Value:
        """A known number in all lanes."""
        if number == 0.0 or self.known is None or self.known.full:
            return ir.Constant(self.kind, [number] * WIDTH)
        return self._repeated(self.builder.load(self.known.place(self.builder, number)))

    def _repeated(self, number: ir.Value) -> ir.Value:
        none = ir.Constant(self.kind, ir.Undefined)
        one = self.builder.insert_element(none, number, INDEX(0))
        return self.builder.shuffle_vector(one, none, ir.Constant(ir.VectorType(INDEX, WIDTH), [0] * WIDTH))

    def whole(self, number: int) -> ir.Value:
        """An integer in all lanes."""
        return ir.Constant(self.integers, [number] * WIDTH)

    def bits(self, number: Number) -> ir.Value:
        """The bits of numbers as integers."""
        return self.builder.bitcast(self.value(number), self.integers)

    def of_bits(self, bits: ir.Value) -> Recorded:
        """The numbers that have these bits."""
        return Recorded(self, self.builder.bitcast(bits, self.kind))

    def function(self, name: str, *numbers: Number) -> Number:
        """A function of ``math``."""
        if name in OF_VECTORS:
            return OF_VECTORS[name](*numbers)
        if name in BY_LANE:
            return self.of_library(name, *numbers)
        raise NotImplementedError(f"math.{name} for vectors; extend runtime/lanes/vector_functions.py")

    def sine_and_cosine(self, x: Recorded) -> tuple[Number, Number]:
        """Both at once."""
        return sine_and_cosine(x)

    def _lane(self, number: Number, lane: int) -> Recorded:
        return Recorded(self._one, self.builder.extract_element(self.value(number), INDEX(lane)))

    def _vector(self, numbers: Sequence[Recorded]) -> Recorded:
        """The numbers of all lanes as one."""
        value = ir.Constant(self.kind, ir.Undefined)
        for lane, number in enumerate(numbers):
            value = self.builder.insert_element(value, number.value, INDEX(lane))
        return Recorded(self, value)

    @property
    def _one(self) -> LlvmCode:
        """The instructions for a lane."""
        return LlvmCode(self.builder, columns=self.columns)

    def look_up(self, data: ir.Value, place: ir.Value, pieces: int, size: int, argument: Number) -> list[Recorded]:
        """The numbers of a piece of a table, which lanes search one by one."""
        found = []
        for lane in range(WIDTH):
            of_lane = self.builder.add(place, INTEGER(lane))
            found.append(self._one.look_up(data, of_lane, pieces, size, self._lane(argument, lane)))
        return [self._vector(numbers) for numbers in zip(*found, strict=True)]

    def of_library(self, name: str, *numbers: Number) -> Recorded:
        """A function of the C library, called for each lane."""
        lanes = [[self._lane(number, lane) for number in numbers] for lane in range(WIDTH)]
        return self._vector([self._one.of_library(name, *of_lane) for of_lane in lanes])

    def outlined(
        self, name: str, results: int, write: Callable[[list[Recorded]], Sequence[Number]], *numbers: Number
    ) -> list[Recorded]:
        """What ``write`` computes, by a function of that name: rare instructions that are needed at several places."""
        module, caller = self.builder.module, self.builder
        if name not in module.globals:
            kind = ir.FunctionType(ir.ArrayType(self.kind, results), [self.kind] * len(numbers))
            function = ir.Function(module, kind, name)
            function.linkage = "internal"
            function.attributes.add("noinline")
            self.builder = ir.IRBuilder(function.append_basic_block("entry"))
            found: ir.Value = ir.Constant(kind.return_type, ir.Undefined)
            for k, number in enumerate(write([Recorded(self, argument) for argument in function.args])):
                found = self.builder.insert_value(found, self.value(number), k)
            self.builder.ret(found)
            self.builder = caller
        called = caller.call(module.globals[name], [self.value(number) for number in numbers])
        return [Recorded(self, caller.extract_value(called, k)) for k in range(results)]

    def of_library_where(self, condition: ir.Value, usual: Number, name: str, *numbers: Number) -> Recorded:
        """The usual value; where a condition holds, a function of the C library, which is called only if it holds in a lane."""
        return self.where(condition, lambda: [self.of_library(name, *numbers)], [usual], likely=False)[0]

    def where(
        self,
        condition: ir.Value,
        write: Callable[[], Sequence[Number]],
        usual: Sequence[Number],
        *,
        likely: bool = True,
    ) -> list[Recorded]:
        """What ``write`` computes where a condition holds, else the usual values; skipped if it holds in no lane."""
        usual = [self.value(number) for number in usual]
        before = self.builder.block
        with self.builder.if_then(self._somewhere(condition), likely=likely):
            found = [
                self.builder.select(condition, self.value(number), other)
                for number, other in zip(write(), usual, strict=True)
            ]
            there = self.builder.block
        phis = [self.builder.phi(self.kind) for _ in found]
        for phi, number, other in zip(phis, found, usual, strict=True):
            phi.add_incoming(other, before)
            phi.add_incoming(number, there)
        return [Recorded(self, phi) for phi in phis]

    def repeat(
        self, most: int, write: Callable[[Sequence[Number]], tuple[Sequence[Number], ir.Value]], *numbers: Number
    ) -> list[Recorded]:
        """Numbers that ``write`` replaces again as long as the condition that it returns with them holds in a lane.

        It does so once at least, and at most so many times.  Lanes whose condition does not hold must keep their numbers.
        """
        build, values = self.builder, [self.value(number) for number in numbers]
        before, begin = build.block, build.append_basic_block()
        build.branch(begin)
        build.position_at_end(begin)
        count, phis = build.phi(INTEGER), [build.phi(self.kind) for _ in values]
        found, condition = write([Recorded(self, phi) for phi in phis])
        left, passed = [self.value(number) for number in found], build.add(count, INTEGER(1))
        again = build.and_(self._somewhere(condition), build.icmp_unsigned("<", passed, INTEGER(most)))
        there, after = build.block, build.append_basic_block()
        build.cbranch(again, begin, after)
        build.position_at_end(after)
        for phi, first, other in zip((count, *phis), (INTEGER(0), *values), (passed, *left), strict=True):
            phi.add_incoming(first, before)
            phi.add_incoming(other, there)
        return [Recorded(self, value) for value in left]

    def _somewhere(self, condition: ir.Value) -> ir.Value:
        """Whether a condition holds in a lane."""
        mask = self.builder.bitcast(condition, ir.IntType(WIDTH))
        return self.builder.icmp_unsigned("!=", mask, mask.type(0))
