"""Stages of DOP853 for the equations of a tree, translated to machine code together with them.

The state is short, so the sums over the stages are written out, and all intermediate values stay in registers or on the stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from runtime.dynamics.layout import LANES
from runtime.integrate.dop853_coefficients import COEFFICIENTS, EXTRA, STAGES
from runtime.jit.addresses import address_of
from runtime.jit.straight_line import DOUBLE, INTEGER, View, emit

FLAGS = ("contract",)
ATTEMPT, DENSE, ONE = "attempt", "dense", "one"
ALIGNED = 8  # [bytes] as arrays of numbers are; vectors would be expected at multiples of their size
ARGUMENTS = ("y", "k", "h", "c", "end", "error", "worst")


def addresses_of_tree(module: ModuleType) -> dict[str, int]:
    """Addresses in this process of the stages of the module of a tree.

    All take the addresses of y (n,), stages k (16, n), the length h (1,), constants, the end (n,), the errors (3, n) as of
    ``dop853.Memory``, and worst (1,).  ``one``: the first stage alone; ``attempt``: the others of a step, its end with the
    derivative there, and its errors; ``dense``: the stages of the dense output.
    """
    return {name: address_of(module, name, _of_one, __name__, pairs=name != ONE) for name in (ONE, ATTEMPT, DENSE)}


def addresses_of_lanes(module: ModuleType) -> dict[str, int]:
    """As ``addresses_of_tree``, for LANES columns side by side: the last axis of all arrays; errors (2, n) without the way."""
    return {name: address_of(module, f"{name}_lanes", _of_lanes, __name__) for name in (ATTEMPT, DENSE)}


def _of_one(module: ModuleType, name: str, owner: ir.Module, symbol: str) -> ir.Module:
    function, builder = _function(owner, symbol)
    for _ in _Stages(builder, module, function, 1, INTEGER(0)).written(name):
        pass
    builder.ret_void()
    return owner


def _of_lanes(module: ModuleType, name: str, owner: ir.Module, symbol: str) -> ir.Module:
    function, builder = _function(owner, symbol)
    half = LANES // 2
    with cgutils.for_range(builder, INTEGER(half), intp=INTEGER) as loop:
        # The stages of two columns alternate, so that the processor works on one while it waits for the other.
        columns = loop.index, builder.add(loop.index, INTEGER(half))
        sort = name.removesuffix("_lanes")
        both = [_Stages(builder, module, function, LANES, column).written(sort) for column in columns]
        for _ in zip(*both, strict=True):
            pass
    builder.ret_void()
    return owner


def _function(owner: ir.Module, symbol: str) -> tuple[ir.Function, ir.IRBuilder]:
    kind = ir.FunctionType(ir.VoidType(), [DOUBLE.as_pointer()] * len(ARGUMENTS))
    function = ir.Function(owner, kind, symbol)
    for argument in function.args:
        argument.add_attribute("noalias")  # so that columns become vector instructions
    return function, ir.IRBuilder(function.append_basic_block("entry"))


class _Stages:
    """The stages of one column as statements of a function.

    A state or stage is a list of parts: coordinates and rates, a vector each, for one column; its numbers for lanes.  Coordinates
    of a stage depend on the rates of the stage before, not on its accelerations: one vector for both would make them wait.
    """

    def __init__(
        self, builder: ir.IRBuilder, module: ModuleType, function: ir.Function, columns: int, column: ir.Value
    ) -> None:
        self.builder, self.module, self.columns, self.column = builder, module, columns, column
        self.arguments = dict(zip(ARGUMENTS, function.args, strict=True))
        steps = int(module.STEPS)
        self.n = 2 * steps
        self.width = steps if columns == 1 else 1  # of a part
        self.kind = ir.VectorType(DOUBLE, steps) if columns == 1 else DOUBLE
        sizes = (self.n, self.n, 1)
        self.state, self.rates, self.pivots = (cgutils.alloca_once(builder, DOUBLE, size) for size in sizes)
        self.y = self.load("y", 0)
        self.worst: Any = DOUBLE(0.0)

    def written(self, name: str) -> Iterator[None]:
        """Write a function, from one stage to the next."""
        if name == ONE:
            self.store("k", 0, self.evaluate(self.y))
            self.store_worst()
            return
        first, last = (1, STAGES) if name == ATTEMPT else (STAGES + 1, STAGES + EXTRA)
        h = self.builder.load(self.place("h", 0))
        k = [self.load("k", q) for q in range(first)]
        slopes: list[list[Any]] = []
        for q in range(first, last + 1):
            weights = (COEFFICIENTS.b if q == STAGES else COEFFICIENTS.a[q, :q]).tolist()
            state, slope = self.moved(h, weights, k)
            slopes.append(slope)
            k.append(self.evaluate(state))
            self.store("k", q, k[q])
            if q == STAGES:
                self.store("end", 0, state)
            yield
        if name == ATTEMPT:
            for row, of_errors in enumerate((COEFFICIENTS.error5, COEFFICIENTS.error3)):
                self.store("error", row, [self.combined(of_errors.tolist(), k, i) for i in range(len(self.y))])
            if self.columns == 1:  # the way between the last two stages
                ends = zip(*slopes[-2:], strict=True)
                self.store("error", 2, [self.builder.fsub(end, last, flags=FLAGS) for last, end in ends])
        self.store_worst()

    def moved(self, h: ir.Value, weights: list[float], k: list[list[Any]]) -> tuple[list[Any], list[Any]]:
        """The state y + h sum of weights times stages, and this sum."""
        state, slope = [], []
        if self.columns > 1:
            for i, y in enumerate(self.y):
                slope.append(self.combined(weights, k, i))
                state.append(self.plus(y, h, slope[i]))
            return state, slope
        # The stage computed last comes in by one product and one sum: the next evaluation waits for them.
        newest = max(s for s, weight in enumerate(weights) if weight)
        weight, h_weight = (self.repeated(x) for x in (DOUBLE(weights[newest]), self.fmul(h, DOUBLE(weights[newest]))))
        h = self.repeated(h)
        for i, y in enumerate(self.y):
            before = self.combined(weights[:newest], k, i)
            state.append(self.plus(y if before is None else self.plus(y, h, before), h_weight, k[newest][i]))
            slope.append(self.plus(before, weight, k[newest][i]))
        return state, slope

    def evaluate(self, state: list[Any]) -> list[Any]:
        """The derivative at a state."""
        one, builder = INTEGER(1), self.builder
        for i, value in enumerate(state):
            builder.store(value, self.part(self.state, i), align=ALIGNED)
        # The memory of a column is its own; the constants of all are side by side.
        at = builder.gep(self.arguments["c"], [self.column], inbounds=True)
        constants = View(at, (INTEGER(self.columns), one), (None, one))
        views = [View(data, (one, one), (None, one)) for data in (self.state, self.rates, self.pivots)]
        emit(builder, self.module, "derivative", [INTEGER(0), views[0], constants, *views[1:]])
        worst = builder.load(self.pivots)
        larger = builder.fcmp_unordered("ugt", worst, self.worst)  # also where it is not a number
        self.worst = builder.select(larger, worst, self.worst)
        return [builder.load(self.part(self.rates, i), align=ALIGNED) for i in range(self.n // self.width)]

    def combined(self, weights: list[float], k: list[list[Any]], i: int) -> Any:
        """The sum of weights times part i of the stages; None without weights."""
        total: Any = None
        for weight, stage in zip(weights, k, strict=False):
            if weight:
                total = self.plus(total, self.repeated(DOUBLE(weight)), stage[i])
        return total

    def plus(self, a: Any, factor: Any, b: Any) -> Any:
        """The part a + factor b; factor b where a is None."""
        product = self.fmul(factor, b)
        return product if a is None else self.builder.fadd(a, product, flags=FLAGS)

    def fmul(self, a: Any, b: Any) -> Any:
        return self.builder.fmul(a, b, flags=FLAGS)

    def repeated(self, value: ir.Value) -> ir.Value:
        """A part of equal numbers."""
        if self.columns > 1:
            return value
        if isinstance(value, ir.Constant):
            return ir.Constant(self.kind, [value.constant] * self.width)
        vector = ir.Constant(self.kind, ir.Undefined)
        for i in range(self.width):
            vector = self.builder.insert_element(vector, value, ir.IntType(32)(i))
        return vector

    def part(self, data: ir.Value, i: int) -> Any:
        """Place of a part of a state in the memory of a column."""
        at = self.builder.gep(data, [INTEGER(i * self.width)], inbounds=True)
        return self.builder.bitcast(at, self.kind.as_pointer())

    def place(self, name: str, i: int) -> Any:
        at = self.builder.add(INTEGER(i * self.columns), self.column)
        return self.builder.gep(self.arguments[name], [at], inbounds=True)

    def parts(self, name: str, row: int) -> list[Any]:
        """Places of the parts of a row of an argument."""
        places = [self.place(name, row * self.n + i) for i in range(0, self.n, self.width)]
        return [self.builder.bitcast(place, self.kind.as_pointer()) for place in places]

    def load(self, name: str, row: int) -> list[Any]:
        return [self.builder.load(place, align=ALIGNED) for place in self.parts(name, row)]

    def store(self, name: str, row: int, state: list[Any]) -> None:
        for place, part in zip(self.parts(name, row), state, strict=True):
            self.builder.store(part, place, align=ALIGNED)

    def store_worst(self) -> None:
        self.builder.store(self.worst, self.place("worst", 0))
