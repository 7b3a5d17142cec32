"""Stages of DOP853 for the equations of a tree, translated to machine code together with them.

The state is short, so the sums over the stages are written out, and all intermediate values stay in registers or on the stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from llvmlite import ir
from numba.core import cgutils

from runtime.dynamics.layout import LANES
from runtime.integrate.dop853_coefficients import COEFFICIENTS, EXTRA, STAGES
from runtime.jit.addresses import address_of
from runtime.jit.llvm_code import ALIGNED, DOUBLE, INTEGER, LlvmCode, function_of_arrays
from runtime.jit.recorder import Number, Recorded
from runtime.jit.straight_line import View, emit

ATTEMPT, DENSE, ONE = "attempt", "dense", "one"
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
    function, builder = function_of_arrays(owner, symbol, len(ARGUMENTS))
    for _ in _Stages(builder, module, function, 1, INTEGER(0)).written(name):
        pass
    builder.ret_void()
    return owner


def _of_lanes(module: ModuleType, name: str, owner: ir.Module, symbol: str) -> ir.Module:
    function, builder = function_of_arrays(owner, symbol, len(ARGUMENTS))
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


class _Stages(LlvmCode):
    """The stages of one column as statements of a function.

    A state or stage is a list of parts: coordinates and rates, a vector each, for one column; its numbers for lanes.  Coordinates
    of a stage depend on the rates of the stage before, not on its accelerations: one vector for both would make them wait.
    """

    def __init__(
        self, builder: ir.IRBuilder, module: ModuleType, function: ir.Function, columns: int, column: ir.Value
    ) -> None:
        super().__init__(builder, columns=columns, column=column)
        self.module = module
        self.arguments = dict(zip(ARGUMENTS, function.args, strict=True))
        steps = int(module.STEPS)
        self.n = 2 * steps
        self.width = steps if columns == 1 else 1  # of a part
        self.kind = ir.VectorType(DOUBLE, steps) if columns == 1 else DOUBLE
        sizes = (self.n, self.n, 1)
        self.state, self.rates, self.pivots = (cgutils.alloca_once(builder, DOUBLE, size) for size in sizes)
        self.one = LlvmCode(builder, columns=columns, column=column)  # for single numbers
        self.y = self.parts("y", 0)
        self.worst: Number = 0.0

    def constant(self, number: float) -> ir.Value:
        """A part of equal numbers."""
        return ir.Constant(self.kind, [number] * self.width) if self.columns == 1 else DOUBLE(number)

    def repeated(self, number: Recorded) -> Recorded:
        """A part of equal numbers."""
        if self.columns > 1:
            return Recorded(self, number.value)
        vector = ir.Constant(self.kind, ir.Undefined)
        for i in range(self.width):
            vector = self.builder.insert_element(vector, number.value, ir.IntType(32)(i))
        return Recorded(self, vector)

    def written(self, name: str) -> Iterator[None]:
        """Write a function, from one stage to the next."""
        if name == ONE:
            self.put("k", 0, self.evaluate(self.y))
            self.one.store(self.worst, self.arguments["worst"], 0)
            return
        first, last = (1, STAGES) if name == ATTEMPT else (STAGES + 1, STAGES + EXTRA)
        h = self.one.load(self.arguments["h"], 0)
        k = [self.parts("k", q) for q in range(first)]
        slopes: list[list[Number]] = []
        for q in range(first, last + 1):
            weights = (COEFFICIENTS.b if q == STAGES else COEFFICIENTS.a[q, :q]).tolist()
            state, slope = self.moved(h, weights, k)
            slopes.append(slope)
            k.append(self.evaluate(state))
            self.put("k", q, k[q])
            if q == STAGES:
                self.put("end", 0, state)
            yield
        if name == ATTEMPT:
            for row, of_errors in enumerate((COEFFICIENTS.error5, COEFFICIENTS.error3)):
                self.put("error", row, [_combined(of_errors.tolist(), k, i) for i in range(len(self.y))])
            if self.columns == 1:  # the way between the last two stages
                self.put("error", 2, [end - last for last, end in zip(*slopes[-2:], strict=True)])
        self.one.store(self.worst, self.arguments["worst"], 0)

    def moved(self, h: Recorded, weights: list[float], k: list[list[Number]]) -> tuple[list[Number], list[Number]]:
        """The state y + h sum of weights times stages, and this sum."""
        if self.columns > 1:
            h = self.repeated(h)
            slope = [_combined(weights, k, i) for i in range(len(self.y))]
            return [y + h * own for y, own in zip(self.y, slope, strict=True)], slope
        # The stage computed last comes in by one product and one sum: the next evaluation waits for them.
        newest = max(s for s, weight in enumerate(weights) if weight)
        h_weight, h = self.repeated(h * weights[newest]), self.repeated(h)
        before = [_combined(weights[:newest], k, i) for i in range(len(self.y))]
        state = [y + h * own + h_weight * last for y, own, last in zip(self.y, before, k[newest], strict=True)]
        return state, [own + weights[newest] * last for own, last in zip(before, k[newest], strict=True)]

    def evaluate(self, state: list[Number]) -> list[Number]:
        """The derivative at a state."""
        one, builder = INTEGER(1), self.builder
        for i, value in enumerate(state):
            builder.store(self.value(value), self.at(self.state, INTEGER(i * self.width)), align=ALIGNED)
        # The memory of a column is its own; the constants of all are side by side.
        at = builder.gep(self.arguments["c"], [self.column], inbounds=True)
        constants = View(at, (INTEGER(self.columns), one), (None, one))
        views = [View(data, (one, one), (None, one)) for data in (self.state, self.rates, self.pivots)]
        emit(builder, self.module, "derivative", [0, views[0], constants, *views[1:]])
        worst, before = builder.load(self.pivots), self.one.value(self.worst)
        larger = builder.fcmp_unordered("ugt", worst, before)  # also where it is not a number
        self.worst = Recorded(self.one, builder.select(larger, worst, before))
        return [self.item(self.rates, INTEGER(i * self.width)) for i in range(self.n // self.width)]

    def parts(self, name: str, row: int) -> list[Number]:
        """The parts of a row of an argument."""
        return [self.load(self.arguments[name], row * self.n + i) for i in range(0, self.n, self.width)]

    def put(self, name: str, row: int, state: list[Number]) -> None:
        """Write the parts of a row of an argument."""
        for i, part in enumerate(state):
            self.store(part, self.arguments[name], row * self.n + i * self.width)


def _combined(weights: list[float], k: list[list[Number]], i: int) -> Number:
    """The sum of weights times part i of the stages."""
    return sum((weight * stage[i] for weight, stage in zip(weights, k, strict=False)), 0.0)
