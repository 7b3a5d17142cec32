"""Polynomials of a step of DOP853: of order 7 by all stages, and of the states and derivatives at its ends.

Components of states of W lanes are W places apart in arrays; single runs have one lane.
"""

from __future__ import annotations

from runtime.integrate.dop853_coefficients import EXTRA, STAGES
from runtime.integrate.limit_changes import bends_of, cubic_of
from runtime.jit.compilation import columns, inlined

POWER = 7  # terms of the dense output


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
def put_between(y, end, first, last, ties, h, x, lane, lanes, to):  # type: ignore[no-untyped-def]
    """State of a lane at a fraction x of its step of length h, by its states and derivatives at both ends.

    ``ties`` (n, 3) as of ``quintic``, of which turns and slides follow quintic polynomials; all else follows cubic ones.
    """
    both = x * x * (1.0 - x) * (1.0 - x)
    for e in range(lane, len(to), lanes):
        c0, c1, c2, c3 = cubic_of(y[e], end[e], first[e], last[e], h)
        to[e] = c0 + x * (c1 + x * (c2 + x * c3))
    for i in range(len(ties)):
        if ties[i, 2] == 1:
            e, a = ties[i, 0] * lanes + lane, ties[i, 1] * lanes + lane
            cubic = cubic_of(y[e], end[e], first[e], last[e], h)
            bend, tilt = bends_of(cubic, first[a], last[a], h)
            to[e] += both * (bend + x * tilt)
