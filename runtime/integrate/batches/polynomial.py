"""Dense output of a batch."""

from __future__ import annotations

from runtime.integrate.dop853 import POWER
from runtime.integrate.dop853_coefficients import EXTRA, STAGES
from runtime.integrate.limit_changes import bends_of, cubic_of
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


@columns
def hermite(y, end, first, last, x, s, to):  # type: ignore[no-untyped-def]
    """States at a fraction of all steps, by cubic Hermite interpolation."""
    for e in range(0, len(to), s.W):
        for lane in range(s.W):
            h, rise = s.length[lane], end[e + lane] - y[e + lane]
            a, b = h * first[e + lane], h * last[e + lane]
            to[e + lane] = y[e + lane] + x * (a + x * (3.0 * rise - 2.0 * a - b + x * (a + b - 2.0 * rise)))


@columns
def add_difference(y, end, first, last, pull, pull_end, x, s, to):  # type: ignore[no-untyped-def]
    """Add the difference of the quintic polynomial of a coordinate to the cubic one; ``pull``: its accelerations at both ends."""
    both = x * x * (1.0 - x) * (1.0 - x)
    for lane in range(s.W):
        h = s.length[lane]
        cubic = cubic_of(y[lane], end[lane], first[lane], last[lane], h)
        bend, tilt = bends_of(cubic, pull[lane], pull_end[lane], h)
        to[lane] += both * (bend + x * tilt)


@inlined
def states_between(m, x):  # type: ignore[no-untyped-def]
    """States at a fraction of all steps, into ``trial``: turns and slides by quintic polynomials, all else by cubic ones."""
    hermite(m.y, m.end, m.k[0], m.k[STAGES], x, m.s, m.trial)
    for i in range(len(m.surfaces.slopes)):
        o, a = m.surfaces.slopes[i, 0] * m.W, m.surfaces.slopes[i, 1] * m.W
        first, last, pull, pull_end = m.k[0, o:], m.k[STAGES, o:], m.k[0, a:], m.k[STAGES, a:]
        add_difference(m.y[o:], m.end[o:], first, last, pull, pull_end, x, m.s, m.trial[o:])


@inlined
def put_between(m, x, lane):  # type: ignore[no-untyped-def]
    """As ``states_between``, for one lane."""
    h, both = m.s.length[lane], x * x * (1.0 - x) * (1.0 - x)
    for e in range(lane, len(m.trial), m.W):
        c0, c1, c2, c3 = cubic_of(m.y[e], m.end[e], m.k[0, e], m.k[STAGES, e], h)
        m.trial[e] = c0 + x * (c1 + x * (c2 + x * c3))
    for i in range(len(m.surfaces.slopes)):
        e, a = m.surfaces.slopes[i, 0] * m.W + lane, m.surfaces.slopes[i, 1] * m.W + lane
        cubic = cubic_of(m.y[e], m.end[e], m.k[0, e], m.k[STAGES, e], h)
        bend, tilt = bends_of(cubic, m.k[0, a], m.k[STAGES, a], h)
        m.trial[e] += both * (bend + x * tilt)


@inlined
def put_dense(m, lane, x):  # type: ignore[no-untyped-def]
    """State of a lane at a fraction of its step by the dense output, into ``trial``."""
    for e in range(0, len(m.trial), m.W):
        m.trial[e + lane] = m.y[e + lane] + value_of(m.dense[e * POWER :], m.W, lane, x)
