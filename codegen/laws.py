"""Laws of restriction: the work of leaving the cone, as a function of the relative excess x = excess / compliance.

A law is given by its work W(x) on 0 <= x <= 1; beyond x = 1 the moment keeps its value there.  The moment max_moment W'(x)
is derived.
"""

from __future__ import annotations

from codegen.compiler.calculus import Expr


def cubic(x: Expr) -> Expr:
    """W = x^3 - x^4 / 2, with the derivative 3 x^2 - 2 x^3.

    Source: Rodrigues da Silva et al. (2024b), Eq. (32).
    """
    return x**3 - x**4 / 2
