"""States of lanes within their steps."""

from __future__ import annotations

from runtime.dynamics.layout import STATE
from runtime.integrate.batches.stages import interpolate
from runtime.integrate.batches.workspace import BatchWorkspace
from runtime.integrate.dop853_coefficients import STAGES
from runtime.integrate.polynomial import POWER, add_difference, hermite, put_between, value_of
from runtime.integrate.quintic import SUSPICIOUS, is_spoilt, largest_square, put_tie, rates_of
from runtime.integrate.surfaces import set_between, set_dense
from runtime.jit.by_memory import for_memory
from runtime.jit.compilation import inlined


@inlined
def states_between(m, x):  # type: ignore[no-untyped-def]
    """``put_between`` of all lanes at once, into ``trial``."""
    hermite(m.y, m.end, m.k[0], m.k[STAGES], x, m.s, m.trial)
    for i in range(len(m.ties)):
        if m.ties[i, 2] == 1:
            o, a = m.ties[i, 0] * m.W, m.ties[i, 1] * m.W
            first, last, pull, pull_end = m.k[0, o:], m.k[STAGES, o:], m.k[0, a:], m.k[STAGES, a:]
            add_difference(m.y[o:], m.end[o:], first, last, pull, pull_end, x, m.s, m.trial[o:])


@for_memory(set_between, BatchWorkspace)
def set_between_in_lane(m, of, x, lane):  # type: ignore[no-untyped-def]
    """``set_between``."""
    put_between(m.y, m.end, m.k[0], m.k[STAGES], m.ties, m.s.length[lane], x, lane, m.W, m.trial)


@for_memory(set_dense, BatchWorkspace)
def set_dense_in_lane(m, of, x, lane):  # type: ignore[no-untyped-def]
    """``set_dense``."""
    for e in range(0, len(m.trial), m.W):
        m.trial[e + lane] = m.y[e + lane] + value_of(m.dense[e * POWER :], m.W, lane, x)


@inlined
def choose_slopes(m, lane):  # type: ignore[no-untyped-def]
    """Find the coordinates whose quintic polynomials are better in a lane's step, as ``dop853.choose_polynomials``.

    ``m.errors[1]`` keeps this and the derivative at the end, which may be that of other modes afterwards.
    """
    h = m.s.length[lane]
    m.s.by_slopes[lane] = 0.0
    if len(m.ties) == 0:
        return
    square = largest_square(m.k, lane, m.size[0], m.size[0] if m.rates[0] > 0 else STATE, m.W)
    if square < SUSPICIOUS:
        return
    for i in range(len(m.ties)):
        q, u, n = m.ties[i, 0] * m.W + lane, m.ties[i, 1] * m.W + lane, m.ties[i, 2]
        spoilt = is_spoilt(m.k, m.y, m.end, q, u, n, m.W, h, square)
        m.errors[1, q] = 1.0 if spoilt else 0.0
        if spoilt:
            m.s.by_slopes[lane] = 1.0
            for e in range(u, u + rates_of(n) * m.W, m.W):
                m.errors[1, e] = m.k[STAGES, e]


@inlined
def put_slopes(m, lane, x, out):  # type: ignore[no-untyped-def]
    """Coordinates by their quintic polynomials, and rates by the slopes of these, where this was chosen for the step."""
    if m.s.by_slopes[lane] == 0.0:
        return
    h = m.s.length[lane]
    for i in range(len(m.ties)):
        to_q, to_u, n = m.ties[i, 0], m.ties[i, 1], m.ties[i, 2]
        q, u = to_q * m.W + lane, to_u * m.W + lane
        if m.errors[1, q] == 1.0:
            put_tie(m.y, m.end, m.k[0], m.errors[1], q, u, n, m.W, h, x, out, to_q, to_u)


@inlined
def put_state(m, lane, x, out):  # type: ignore[no-untyped-def]
    """State of a lane at a fraction of its step, after ``prepare_dense`` and ``choose_slopes``."""
    interpolate(m, lane, x, out)
    put_slopes(m, lane, x, out)
