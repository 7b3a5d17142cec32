"""Straight-line functions: common subexpressions named, outputs last, every entry written."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.core.exprtools import decompose_power
from sympy.printing.pycode import PythonCodePrinter

from codegen.compiler.calculus import Expr
from codegen.compiler.curves import written

# Without reference counting, which would take longer than the arithmetic; a kernel that allocates then fails to compile.
DECORATOR = '@njit(error_model="numpy", _nrt=False)'

WHOLE = 1.5 * 2.0**52  # the sum with it has no digits after the point

Lines = list[str]
Targets = list[tuple[str, Expr]]  # where a value goes, and the value
Statements = list[tuple[Expr, Expr]]  # a symbol and its value
Values = dict[Expr, Any]


class _Printer(PythonCodePrinter):
    """Python text in which every number is a float, as in compiled code."""

    def _as_ordered_terms(self, expr: Expr, order: str | None = None) -> list[Expr]:
        """SymPy's order, by powers of the sorted factors, without the evaluation of every coefficient to many digits."""
        terms = []
        for term in expr.args:
            coefficient, rest = term.as_coeff_Mul()
            factors = sp.Mul.make_args(rest)
            if not coefficient.is_Rational or any(factor.is_number for factor in factors):
                return list(super()._as_ordered_terms(expr, order))
            terms.append((term, coefficient, dict(map(decompose_power, factors))))
        factors = sorted(set().union(*(powers for _, _, powers in terms)), key=_sort_key)
        terms.sort(key=lambda term: ([-term[2].get(factor, 0) for factor in factors], term[1]))
        return [term for term, _, _ in terms]

    def _print_Rational(self, expr: Expr) -> str:
        return f"({expr.p}.0/{expr.q}.0)"

    def _print_NumberSymbol(self, expr: Expr) -> str:
        return repr(float(expr))

    _print_Pi = _print_Exp1 = _print_NumberSymbol

    def _print_Pow(self, expr: Expr, rational: bool = False) -> str:
        # numba raises for zero to a negative power under any error model; a quotient gives inf.
        if expr.exp.is_Integer and expr.exp < -1:
            return f"1.0/({self._print(sp.Pow(expr.base, -expr.exp))})"
        return str(super()._print_Pow(expr, rational))

    def _print_Abs(self, expr: Expr) -> str:
        return f"math.fabs({self._print(expr.args[0])})"

    def _print_ramp(self, expr: Expr) -> str:
        x, *n = (self._print(argument) for argument in expr.args)
        part = f"(0.5*({x} + math.fabs({x})))"  # not a number where x is not
        if not n:
            return part
        step = self._step(x)
        return f"({step}*({part} + (1.0 - {step}))**({n[0]}))"

    def _print_step(self, expr: Expr) -> str:
        return self._step(self._print(expr.args[0]))

    _print_passed = _print_step

    def _print_still(self, expr: Expr) -> str:
        return str(self._print(expr.args[0]))

    def _print_corner(self, expr: Expr) -> str:
        return f"corner({', '.join(map(self._print, expr.args))})"

    def _print_power(self, expr: Expr) -> str:
        x, n = (self._print(argument) for argument in expr.args)
        return f"(({x})**(0.5*({n} + math.fabs({n}))))"

    def _step(self, x: str) -> str:
        return f"(0.5 + math.copysign(0.5, {x} - 1e-300))"  # 0 at the kink itself

    def _print_piece(self, expr: Expr) -> str:
        x, lower, upper = map(self._print, expr.args)
        return f"({self._step(f'{x} - {lower}')} - {self._step(f'{x} - {upper}')})"

    def _print_revolutions(self, expr: Expr) -> str:
        angle, before = (self._print(argument) for argument in expr.args)
        turns = f"({0.5 / math.pi}*({before} - {angle}) + {WHOLE})"  # rounded: the sum has no digits after the point
        return f"({2.0 * math.pi}*({turns} - {WHOLE}))"

    def _print_table(self, expr: Expr) -> str:
        first, order, _ = expr.args
        return f"x[{first + order + 1}]"  # the runtime has put it there


_sort_key = lru_cache(1 << 16)(sp.default_sort_key)
to_text = _Printer({"fully_qualified_modules": True}).doprint


def indexed(name: str, values: Iterable[Expr]) -> Targets:
    """Values with their places in an array."""
    return [(f"{name}[{k}]", value) for k, value in enumerate(values)]


def function(
    name: str,
    arguments: tuple[str, ...],
    place: Values,
    targets: Targets,
    doc: str,
    rates: Values | None = None,
    long: Container[Expr] = (),
) -> Lines:
    """One straight-line function.  ``place``: where symbols are read from; ``rates``: values of further symbols.

    The ``long`` ones of ``rates`` take part in the search for common subexpressions.  A symbol in neither is an argument.
    """
    loads, statements, results = straight(arguments, place, targets, rates or {}, long)
    operations = sum(int(sp.count_ops(value)) for _, value in statements) + sum(int(sp.count_ops(e)) for e in results)
    lines = [DECORATOR, f"def {name}({', '.join(arguments)}):", f'    """{doc}.  {operations} operations."""']
    lines += [f"    {s} = {place[s]}" for s in loads]
    lines += [f"    {s} = {to_text(value)}" for s, value in statements]
    lines += [f"    {target} = {_constant(value)}" for (target, _), value in zip(targets, results, strict=True)]
    return lines


def straight(
    arguments: tuple[str, ...], place: Values, targets: Targets, rates: Values, long: Container[Expr]
) -> tuple[list[Expr], Statements, list[Expr]]:
    """The symbols to load, the statements, and the values of the targets in terms of both."""
    reserved = [*place, *rates, *(sp.Symbol(argument, real=True) for argument in arguments)]
    temporaries = sp.numbered_symbols("t", real=True, exclude=reserved)
    targets = [(target, written(sp.sympify(value))) for target, value in targets]
    needed = set().union(*(value.free_symbols for _, value in targets))
    used: Statements = []
    for symbol, value in reversed(rates.items()):
        if symbol in needed:
            used.insert(0, (symbol, written(sp.sympify(value))))
            needed |= used[0][1].free_symbols
    # Vectors and their rates are short and stay whole; named parts are long and share subexpressions with the outputs.
    simple = [(s, value) for s, value in used if s not in long]
    parts = [(s, value) for s, value in used if s in long]
    expressions = [value for _, value in [*parts, *targets]]
    shared, results = sp.cse(expressions, symbols=temporaries, order="canonical")
    named = [(s, e) for (s, _), e in zip(parts, results[: len(parts)], strict=True)]
    statements = simple + (in_order([*shared, *named]) if named else shared)
    return [s for s in place if s in needed], statements, list(results[len(parts) :])


def in_order(statements: list[tuple[Expr, Expr]]) -> list[tuple[Expr, Expr]]:
    """The statements sorted so that each follows those that it needs, otherwise in the given order."""
    waiting = dict(statements)
    ordered: list[tuple[Expr, Expr]] = []

    def place(symbol: Expr) -> None:
        value = waiting.pop(symbol)
        for other in sorted(value.free_symbols & waiting.keys(), key=str):
            if other in waiting:
                place(other)
        ordered.append((symbol, value))

    while waiting:
        place(next(iter(waiting)))
    return ordered


def _constant(value: Expr) -> str:
    """Text of a value; numbers are written as floats, so that no integer is ever assigned to an output array."""
    return repr(float(value)) if value.is_Number else str(to_text(value))
