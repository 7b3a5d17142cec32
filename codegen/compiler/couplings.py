"""Couplings of coordinates: from their equation to a kernel."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from codegen.compiler.calculus import Expr
from codegen.compiler.module import assemble_module, data_lines
from codegen.compiler.reading import doc_of
from codegen.compiler.straight import function, indexed

ORDERS = ("", "_slope", "_curvature")


def emit_coupling(definition: Callable[..., Expr], source: str) -> str:
    """The module of a coupling: its row at coordinates, rates, and a function of the leader with two derivatives."""
    names = ("follower", "leader", "law")
    q = [sp.Symbol(name, real=True) for name in names[:2]]
    rates = [sp.Symbol(f"{name}_rate", real=True) for name in names[:2]]
    law = sp.Function("law")
    values = [sp.Symbol(f"law{order}", real=True) for order in ORDERS]
    Phi = definition(*q, law)
    D = [sp.diff(Phi, c) for c in q]
    Phi_dot = sum(column * rate for column, rate in zip(D, rates, strict=True))
    gamma = -sum(sp.diff(Phi_dot, c) * rate for c, rate in zip(q, rates, strict=True))
    known = {sp.diff(law(q[1]), q[1], order): value for order, value in enumerate(values)}

    def plain(expression: Expr) -> Expr:
        return sp.sympify(expression).subs({d: known[d] for d in sorted(known, key=sp.count_ops, reverse=True)})

    targets = [
        ("Phi[0]", plain(Phi)), ("Phi_dot[0]", plain(Phi_dot)), *indexed("D", map(plain, D)), ("gamma[0]", plain(gamma)),
    ]  # fmt: skip
    own = [s for pair in zip(q, rates, strict=True) for s in pair] + values
    doc = f"The row, of D the columns of follower and leader; x: {', '.join(map(str, own))}"
    place = {s: f"x[{k}]" for k, s in enumerate(own)}
    kernels = [function("rows", ("x", "Phi", "Phi_dot", "D", "gamma"), place, targets, doc)]
    data = data_lines({"NAME": definition.__name__})
    return assemble_module(doc_of(definition), None, data, kernels, source)
