"""Dense output of a batch."""

from __future__ import annotations

from runtime.integrate.dop853 import POWER
from runtime.integrate.dop853_coefficients import EXTRA, STAGES
from runtime.jit.compilation import columns, inlined


@columns
def set_polynomials(y, end, k, polynomial, o, s, dense):  # type: ignore[no-untyped-def]
    """Polynomials (POWER, LANES), flat, of the component at place o, from the stages of the steps and of their dense output."""
    if o < 0:
        return  # never; places of arrays below 0 would count from their ends
    for lane in range(s.W):
        h, delta, first, last = s.length[lane], end[lane] - y[lane], k[0, o + lane], k[STAGES, o + lane]
        dense[lane] = delta
        dense[s.W + lane] = h * first - delta
        dense[2 * s.W + lane] = 2.0 * delta - h * (last + first)
        a = b = c = d = 0.0
        for q in range(STAGES + 1 + EXTRA):
            rate = k[q, o + lane]
            a += polynomial[0, q] * rate
            b += polynomial[1, q] * rate
            c += polynomial[2, q] * rate
            d += polynomial[3, q] * rate
        dense[3 * s.W + lane], dense[4 * s.W + lane] = h * a, h * b
        dense[5 * s.W + lane], dense[6 * s.W + lane] = h * c, h * d


@inlined
def value_of(dense, lanes, lane, x):  # type: ignore[no-untyped-def]
    """Change of a component in one of so many lanes since the start of the step, at a fraction x of it."""
    value = 0.0
    for d in range(POWER - 1, -1, -1):
        value = (value + dense[d * lanes + lane]) * (x if (POWER - 1 - d) % 2 == 0 else 1.0 - x)
    return value
