"""Stages of DOP853 for the equations of a tree, translated to machine code together with them.

The state is short, so the sums over the stages are written out, and all intermediate values stay in registers or on the stack.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from llvmlite import ir

from runtime.integrate.dop853_coefficients import COEFFICIENTS, EXTRA, STAGES
from runtime.jit.addresses import address_of
from runtime.jit.straight_line import DOUBLE, INTEGER, View, emit

FLAGS = ("contract",)
ATTEMPT, DENSE, ONE = "attempt", "dense", "one"
ARGUMENTS = ("y", "k", "h", "c", "end", "error", "worst")


def addresses_of_tree(module: ModuleType) -> dict[str, int]:
    """Addresses in this process of the stages of the module of a tree.

    All take the addresses of y (n,), stages k (16, n), the length h (1,), constants, the end (n,), the errors (2, n) of order 5
    and 3, and worst (1,).  ``one``: the first stage alone; ``attempt``: the others of a step, its end with the derivative
    there, and its errors; ``dense``: the stages of the dense output.
    """
    return {name: address_of(module, name, _translated, __name__) for name in (ONE, ATTEMPT, DENSE)}


def _translated(module: ModuleType, name: str, owner: ir.Module, symbol: str) -> ir.Module:
    kind = ir.FunctionType(ir.VoidType(), [DOUBLE.as_pointer()] * len(ARGUMENTS))
    function = ir.Function(owner, kind, symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    _Stages(builder, module, dict(zip(ARGUMENTS, function.args, strict=True))).write(name)
    builder.ret_void()
    return owner


class _Stages:
    """The stages as statements of one function."""

    def __init__(self, builder: ir.IRBuilder, module: ModuleType, arguments: dict[str, ir.Value]) -> None:
        self.builder, self.module, self.arguments = builder, module, arguments
        self.n = 2 * int(module.STEPS)
        self.state, self.rates, self.pivots = (builder.alloca(DOUBLE, size) for size in (self.n, self.n, 1))
        self.y = [self.load("y", i) for i in range(self.n)]
        self.worst: Any = DOUBLE(0.0)

    def write(self, name: str) -> None:
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
        if name == ATTEMPT:
            for row, weights in enumerate((COEFFICIENTS.error5, COEFFICIENTS.error3)):
                for i in range(self.n):
                    self.store("error", row * self.n + i, self.combined(weights, k, i))
        self.store("worst", 0, self.worst)

    def evaluate(self, state: list[Any]) -> list[Any]:
        """The derivative at a state."""
        one, builder = INTEGER(1), self.builder
        for i, value in enumerate(state):
            builder.store(value, self.place(self.state, i))
        views = [
            View(data, (one, one), (INTEGER(size), one))
            for data, size in ((self.state, self.n), (self.arguments["c"], 1), (self.rates, self.n), (self.pivots, 1))
        ]
        emit(builder, self.module, "derivative", [INTEGER(0), *views])
        worst = builder.load(self.pivots)
        larger = builder.fcmp_unordered("ugt", worst, self.worst)  # also where it is not a number
        self.worst = builder.select(larger, worst, self.worst)
        return [builder.load(self.place(self.rates, i)) for i in range(self.n)]

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

    def place(self, data: ir.Value, i: int) -> Any:
        return self.builder.gep(data, [INTEGER(i)], inbounds=True)

    def load(self, name: str, i: int) -> Any:
        return self.builder.load(self.place(self.arguments[name], i))

    def store(self, name: str, i: int, value: Any) -> None:
        self.builder.store(value, self.place(self.arguments[name], i))
