"""Stages of DOP853 for the equations of a tree, translated to machine code together with them.

The state is short, so the sums over the stages are written out, and all intermediate values stay in registers or on the stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from runtime.dynamics.layout import LANES
from runtime.integrate.dop853_coefficients import COEFFICIENTS, EXTRA, STAGES
from runtime.jit.addresses import address_of
from runtime.jit.straight_line import DOUBLE, INTEGER, View, emit

FLAGS = ("contract",)
ATTEMPT, DENSE, ONE = "attempt", "dense", "one"
ARGUMENTS = ("y", "k", "h", "c", "end", "error", "worst")


def addresses_of_tree(module: ModuleType) -> dict[str, int]:
    """Addresses in this process of the stages of the module of a tree.

    All take the addresses of y (n,), stages k (16, n), the length h (1,), constants, the end (n,), the errors (3, n) as of
    ``dop853.Memory``, and worst (1,).  ``one``: the first stage alone; ``attempt``: the others of a step, its end with the
    derivative there, and its errors; ``dense``: the stages of the dense output.
    """
    return {name: address_of(module, name, _of_one, __name__) for name in (ONE, ATTEMPT, DENSE)}


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
    """The stages of one column as statements of a function."""

    def __init__(
        self, builder: ir.IRBuilder, module: ModuleType, function: ir.Function, columns: int, column: ir.Value
    ) -> None:
        self.builder, self.module, self.columns, self.column = builder, module, columns, column
        self.arguments = dict(zip(ARGUMENTS, function.args, strict=True))
        self.n = 2 * int(module.STEPS)
        sizes = (self.n, self.n, 1)
        self.state, self.rates, self.pivots = (cgutils.alloca_once(builder, DOUBLE, size) for size in sizes)
        self.y = [self.load("y", i) for i in range(self.n)]
        self.worst: Any = DOUBLE(0.0)

    def written(self, name: str) -> Iterator[None]:
        """Write a function, from one stage to the next."""
        if name == ONE:
            self.keep(0, self.evaluate(self.y))
            self.store("worst", 0, self.worst)
            return
        first, last = (1, STAGES) if name == ATTEMPT else (STAGES + 1, STAGES + EXTRA)
        h = self.load("h", 0)
        k = [[self.load("k", q * self.n + i) for i in range(self.n)] for q in range(first)]
        for q in range(first, last + 1):
            weights = COEFFICIENTS.b if q == STAGES else COEFFICIENTS.a[q, :q]
            state = [self.fma(h, self.combined(weights, k, i), self.y[i]) for i in range(self.n)]
            k.append(self.evaluate(state))
            self.keep(q, k[q])
            if q == STAGES:
                for i in range(self.n):
                    self.store("end", i, state[i])
            yield
        if name == ATTEMPT:
            rows = [COEFFICIENTS.error5, COEFFICIENTS.error3]
            if self.columns == 1:
                rows.append(COEFFICIENTS.b - COEFFICIENTS.a[STAGES - 1, :STAGES])
            for row, weights in enumerate(rows):
                for i in range(self.n):
                    self.store("error", row * self.n + i, self.combined(weights, k, i))
        self.store("worst", 0, self.worst)

    def evaluate(self, state: list[Any]) -> list[Any]:
        """The derivative at a state."""
        one, builder = INTEGER(1), self.builder
        for i, value in enumerate(state):
            builder.store(value, self.own(self.state, i))
        # The memory of a column is its own; the constants of all are side by side.
        at = builder.gep(self.arguments["c"], [self.column], inbounds=True)
        constants = View(at, (INTEGER(self.columns), one), (None, one))
        views = [View(data, (one, one), (None, one)) for data in (self.state, self.rates, self.pivots)]
        emit(builder, self.module, "derivative", [INTEGER(0), views[0], constants, *views[1:]])
        worst = builder.load(self.pivots)
        larger = builder.fcmp_unordered("ugt", worst, self.worst)  # also where it is not a number
        self.worst = builder.select(larger, worst, self.worst)
        return [builder.load(self.own(self.rates, i)) for i in range(self.n)]

    def combined(self, weights: np.ndarray[Any, Any], k: list[list[Any]], i: int) -> Any:
        """The sum of weights times component i of the stages."""
        total: Any = None
        for weight, stage in zip(weights.tolist(), k, strict=False):
            if weight:
                product = self.builder.fmul(DOUBLE(weight), stage[i], flags=FLAGS)
                total = product if total is None else self.builder.fadd(total, product, flags=FLAGS)
        return total

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        return self.builder.fadd(c, self.builder.fmul(a, b, flags=FLAGS), flags=FLAGS)

    def keep(self, q: int, rates: list[Any]) -> None:
        for i, value in enumerate(rates):
            self.store("k", q * self.n + i, value)

    def own(self, data: ir.Value, i: int) -> Any:
        return self.builder.gep(data, [INTEGER(i)], inbounds=True)

    def place(self, name: str, i: int) -> Any:
        at = self.builder.add(INTEGER(i * self.columns), self.column)
        return self.builder.gep(self.arguments[name], [at], inbounds=True)

    def load(self, name: str, i: int) -> Any:
        return self.builder.load(self.place(name, i))

    def store(self, name: str, i: int, value: Any) -> None:
        self.builder.store(value, self.place(name, i))
