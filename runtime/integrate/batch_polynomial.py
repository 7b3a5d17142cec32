"""Dense output of a lane of a batch."""

from __future__ import annotations

from runtime.integrate.dop853 import POWER
from runtime.integrate.dop853_coefficients import EXTRA, STAGES
from runtime.jit.compilation import inlined


@inlined
def set_polynomial(m, lane, e, dense):  # type: ignore[no-untyped-def]
    """Polynomial (POWER,) of component e, from the stages of a lane's step and of its dense output."""
    h, k = m.length[lane], m.k
    delta = m.end[e] - m.y[e]
    dense[0] = delta
    dense[1] = h * k[0, e] - delta
    dense[2] = 2.0 * delta - h * (k[STAGES, e] + k[0, e])
    for d in range(4):
        value = 0.0
        for q in range(STAGES + 1 + EXTRA):
            value += m.polynomial[d, q] * k[q, e]
        dense[3 + d] = h * value


@inlined
def value_of(dense, x):  # type: ignore[no-untyped-def]
    """Change of a component since the start of the step, at a fraction x of it."""
    value = 0.0
    for d in range(POWER - 1, -1, -1):
        value = (value + dense[d]) * (x if (POWER - 1 - d) % 2 == 0 else 1.0 - x)
    return value
