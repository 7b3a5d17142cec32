"""Rounding errors of values: which values are 0 within the rounding of what they are computed from."""

from __future__ import annotations

import sympy as sp

from codegen.compiler.calculus import Expr
from codegen.compiler.force_calculus import ramp, table
from codegen.compiler.slopes import slope

# Of the sum of the absolute terms of a value.  The terms come from motions of several bodies and from polynomials, each with
# roundings of its own.
ROUNDING = sp.Float(16 * 2.0**-52)


def beyond_rounding(x: Expr, values: dict[Expr, Expr]) -> Expr:
    """The part of a value beyond its rounding, which is 0 where the value itself is no more than that.

    ``values`` of symbols, in the order in which they can be computed, to which the absolute terms of those in x are added.
    """
    within = rounding_of(x, values)
    return ramp(x - within) - ramp(-x - within)


def rounding_of(x: Expr, values: dict[Expr, Expr]) -> Expr:
    """The rounding of a value; ``values`` as of ``beyond_rounding``."""
    return ROUNDING * _terms(sp.sympify(x), values)


def _terms(e: Expr, values: dict[Expr, Expr]) -> Expr:
    """Sum of the absolute terms of an expression: the effect of a relative change of everything that it is computed from.

    That of a product is the sum of those of its factors, each by the sizes of the others.
    """
    if e.is_Add:
        return sp.Add(*(_terms(part, values) for part in e.args))
    if e.is_Mul:
        sizes = [sp.Abs(part) for part in e.args]
        # All factors without terms of their own count as one.
        changes = [(k, own) for k, part in enumerate(e.args) if (own := _terms(part, values)) != sizes[k]]
        return sp.Add(*(sp.Mul(*sizes[:k], own, *sizes[k + 1 :]) for k, own in changes)) if changes else sp.Abs(e)
    if e.is_Pow:  # a product of equal factors; the exponent is constant
        own = _terms(e.base, values)
        return sp.Abs(e) if own == sp.Abs(e.base) else sp.Abs(e.exp * e.base ** (e.exp - 1)) * own
    if e in values:
        own = sp.Symbol(f"terms_{e}", real=True, nonnegative=True)
        if own not in values:
            values[own] = _terms(sp.sympify(values[e]), values)
        return own
    if e.is_Atom or isinstance(e, table):
        return sp.Abs(e)
    exponents = e.args[1:] if isinstance(e, ramp) else ()  # constants
    given = {sp.Dummy(real=True): part for part in e.args[: len(e.args) - len(exponents)]}
    own = e.func(*given, *exponents)
    parts = [sp.Abs(slope(own, s).xreplace(given)) * _terms(part, values) for s, part in given.items()]
    return sp.Add(sp.Abs(e), *parts)
