"""Laws of restriction: the work that leaving the cone takes, as a function of the relative excess x = excess / compliance.

A law is given by its work W(x) on 0 <= x <= 1; beyond, the moment keeps the value that it has at x = 1.  The moment
max_moment W'(x) is derived.
"""

from __future__ import annotations

from codegen.calculus import Expr


def cubic(x: Expr) -> Expr:
    """W = x^3 - x^4 / 2, whose slope is the third-degree polynomial 3 x^2 - 2 x^3 of seed 003, Eq. (32)."""
    return x**3 - x**4 / 2
