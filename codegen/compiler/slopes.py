"""Derivatives by one symbol, by SymPy's rules, with each part of an expression differentiated once.

``sympy.diff`` makes an object for the derivative of every part before it applies a rule, and searches the part for symbols.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp
from sympy.core.function import ArgumentIndexError

from codegen.compiler.calculus import Expr

KEPT = 1 << 16  # parts of expressions


def slope(e: Expr, s: Expr) -> Expr:
    """The derivative of an expression by a symbol."""
    e = sp.sympify(e)
    return _slope(e, s) if s in symbols_in(e) else sp.S.Zero


@lru_cache(KEPT)
def symbols_in(e: Expr) -> frozenset[Expr]:
    """The symbols of an expression."""
    return frozenset().union(*map(symbols_in, e.args)) if e.args else frozenset(e.free_symbols)


@lru_cache(KEPT)
def _slope(e: Expr, s: Expr) -> Expr:
    if e == s:
        return sp.S.One
    if type(e) is sp.Add:
        return sp.Add(*(slope(a, s) for a in e.args))
    if type(e) is sp.Mul:
        slopes = [(k, d) for k, a in enumerate(e.args) if (d := slope(a, s)) != 0]
        return sp.Add(*(sp.Mul(*e.args[:k], d, *e.args[k + 1 :]) for k, d in slopes))
    if type(e) is sp.Pow and s not in symbols_in(e.exp):
        return e * (slope(e.base, s) * e.exp / e.base)
    if isinstance(e, sp.Function) and type(e)._eval_derivative is sp.Function._eval_derivative:
        slopes = [(k, d) for k, a in enumerate(e.args, 1) if not (d := slope(a, s)).is_zero]
        return sp.Add(*(_along(e, k) * d for k, d in slopes))
    return sp.diff(e, s)


@lru_cache(KEPT)
def _along(e: Expr, k: int) -> Expr:
    """The derivative of a function by its k-th argument."""
    try:
        return e.fdiff(k)
    except ArgumentIndexError:
        return sp.Function.fdiff(e, k)
