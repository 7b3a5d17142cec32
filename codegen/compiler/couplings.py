"""Couplings of coordinates: from their equation to a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import signature
from itertools import combinations_with_replacement
from typing import Any

import sympy as sp

from codegen.compiler.calculus import Expr
from codegen.compiler.module import assemble_module, data_lines
from codegen.compiler.reading import doc_of
from codegen.compiler.straight import Targets, function, indexed

LEADERS = 6  # at most, of a law of several coordinates
ORDERS = ("law", "law_slope", "law_curvature")


class power(sp.Function):  # named as functions are
    """x^n for whole numbers n >= 0; 1 for n < 0, where derivatives have the factor 0."""

    nargs = 2
    is_real = True

    def fdiff(self, argindex: int = 1) -> Expr:
        """The next lower power."""
        x, n = self.args
        return n * power(x, n - 1)


def emit_coupling(definition: Callable[..., Expr], source: str) -> str:
    """The module of a coupling: its row at coordinates, rates, and a function of the leaders with two derivatives."""
    own = [_real("follower"), *_arguments(definition)["leaders" if _several(definition) else "leader"]]
    rates = [_real(f"{c}_rate") for c in own]
    function_of = sp.Function("law")
    law = function_of(*own[1:])
    known = _named_derivatives(law, own[1:])
    Phi = definition(own[0], own[1:], function_of) if _several(definition) else definition(*own, function_of)
    D = [sp.diff(Phi, c) for c in own]
    Phi_dot = sum(column * rate for column, rate in zip(D, rates, strict=True))
    gamma = -sum(sp.diff(Phi_dot, c) * rate for c, rate in zip(own, rates, strict=True))

    def plain(expression: Expr) -> Expr:
        return sp.sympify(expression).xreplace(known)

    targets = [
        ("Phi[0]", plain(Phi)), ("Phi_dot[0]", plain(Phi_dot)), *indexed("D", map(plain, D)), ("gamma[0]", plain(gamma)),
    ]  # fmt: skip
    x = [s for pair in zip(own, rates, strict=True) for s in pair] + list(known.values())
    doc = f"The row, of D the columns of follower and leader{'s' * _several(definition)}"
    return _module(definition, source, "rows", ("x", "Phi", "Phi_dot", "D", "gamma"), x, targets, doc)


def emit_term(definition: Callable[..., Expr], source: str) -> str:
    """The module of a term of a law of several coordinates: its value and derivatives, in the order of ``combination``."""
    arguments = _arguments(definition)
    value = definition(*(of if len(of) > 1 else of[0] for of in arguments.values()))
    found = [value, *(sp.diff(value, *of) for order in (1, 2) for of in _orders(arguments["leaders"], order))]
    x = [s for of in arguments.values() for s in of]
    doc = "Value, slopes along the leaders, and curvatures"
    return _module(definition, source, "values", ("x", "out"), x, indexed("out", found), doc)


def _module(
    definition: Callable[..., Expr], source: str, name: str, arguments: tuple[str, ...], x: Iterable[Expr], targets: Targets,
    doc: str,
) -> str:  # fmt: skip
    """A module with one kernel whose symbols are in ``x``."""
    x = list(x)
    kernel = function(
        name, arguments, {s: f"x[{k}]" for k, s in enumerate(x)}, targets, f"{doc}; x: {', '.join(map(str, x))}"
    )
    several: dict[str, Any] = {"LEADERS": LEADERS} if _several(definition) else {}
    return assemble_module(
        doc_of(definition), None, data_lines({"NAME": definition.__name__, **several}), [kernel], source
    )


def _several(definition: Callable[..., Expr]) -> bool:
    return "leaders" in signature(definition).parameters


def _arguments(definition: Callable[..., Expr]) -> dict[str, list[Expr]]:
    """The symbols of each argument; those whose names are plurals have one for each leader."""
    names = list(signature(definition).parameters)
    plural = {name: name.removesuffix("ies") + "y" if name.endswith("ies") else name[:-1] for name in names}
    return {
        name: [_real(f"{plural[name]}{k}") for k in range(LEADERS)] if name.endswith("s") else [_real(name)]
        for name in names
    }


def _named_derivatives(law: Expr, leaders: list[Expr]) -> dict[Expr, Expr]:
    """A function of the leaders, its slopes and its curvatures, and a symbol for each."""
    if len(leaders) == 1:
        return {sp.diff(law, leaders[0], order): _real(name) for order, name in enumerate(ORDERS)}
    places = {c: str(k) for k, c in enumerate(leaders)}
    return {
        sp.diff(law, *of) if order else law: _real(ORDERS[order] + "".join(places[c] for c in of))
        for order in range(3)
        for of in _orders(leaders, order)
    }


def _orders(leaders: list[Expr], order: int) -> Iterable[tuple[Expr, ...]]:
    """The leaders of each derivative of an order."""
    return combinations_with_replacement(leaders, order)


def _real(name: str) -> Expr:
    return sp.Symbol(name, real=True)
