"""Derivatives by one symbol, against SymPy's."""

import pytest
import sympy as sp

from codegen.compiler.force_calculus import ramp, table
from codegen.compiler.slopes import slope, symbols_in

x, y, n = sp.symbols("x y n", real=True)
EXPRESSIONS = [
    sp.Integer(3), y, x, 2 * x + y, -(x - y) * sp.sin(x), x * (x - y) * (x + 2) * y, (x - y) ** 3 / x, sp.sqrt(x**2 + y**2), 2**x,
    x**y, x**n * y, sp.exp(-x * y) * sp.cos(x - y), sp.atan2(x * y, x + y), sp.log(x) / (1 + sp.tan(x) ** 2), ramp(x - y, n) * x,
    ramp(x * y) * sp.cosh(x), table(4, 0, x * y) + x, sp.Max(x, y) * x, sp.atan2(y, n) + x,
]  # fmt: skip


@pytest.mark.parametrize("e", EXPRESSIONS, ids=str)
def test_slopes_are_those_of_sympy(e):
    assert symbols_in(e) == e.free_symbols
    for s in (x, y):
        assert slope(e, s) == sp.diff(e, s) == slope(e, s)
