"""Values by which forces are refused, against SymPy's, and NaN where a part is not real or not finite."""

import numpy as np
import pytest
import sympy as sp

from codegen.compiler.force_calculus import ramp, step
from codegen.compiler.force_soundness import _value

x, y = sp.symbols("x y", real=True)
POINT = {x: 0.7, y: -1.3}
EXPRESSIONS = [
    x + 2 * y - sp.Rational(1, 3), sp.pi * x * y, (x - y) ** 3 / sp.sqrt(x), sp.atan2(y, x) * sp.exp(-x),
    ramp(x - y, 2) + step(y), sp.cosh(x * y) ** sp.Rational(3, 2),
]  # fmt: skip


@pytest.mark.parametrize("e", EXPRESSIONS, ids=str)
def test_values_are_those_of_sympy(e):
    assert _value(e, dict(POINT)) == pytest.approx(float(e.subs(POINT).evalf(30)), rel=1e-14)


@pytest.mark.parametrize(
    "e", [sp.sqrt(y) + x, sp.log(y) * x, 1 / (x - 0.7), sp.acos(2 * x), sp.exp(sp.exp(1000 * x))], ids=str
)
def test_what_is_not_real_or_finite_is_no_number(e):
    assert not np.isfinite(_value(e, dict(POINT)))
