"""Rates of trees of turns and slides within stiff steps of a batch, by the rules of ``runtime.integrate.dop853``."""

from __future__ import annotations

from runtime.dynamics.layout import LANES
from runtime.integrate.batches.polynomial import value_of
from runtime.integrate.batches.rows import BY_SLOPES, LENGTH
from runtime.integrate.dop853 import POWER, SUSPICIOUS
from runtime.integrate.dop853_coefficients import COEFFICIENTS, STAGES
from runtime.integrate.limit_changes import bends_of, cubic_of
from runtime.integrate.quintic import RELATED, differs_from_slope, value_and_slope
from runtime.jit.compilation import inlined

OF_WAYS = COEFFICIENTS.b - COEFFICIENTS.a[STAGES - 1, :STAGES]  # from the last stage to the end of the step


@inlined
def may_be_stiff(m, lane, n):  # type: ignore[no-untyped-def]
    """Whether stiffness may spoil the dense output of a lane's step with n components; see ``dop853.check_stiffness``."""
    rates = ways = 0.0
    for o in range(lane, n * LANES, LANES):
        rate, way = m.k[STAGES, o] - m.k[STAGES - 1, o], 0.0
        for q in range(STAGES):
            way += OF_WAYS[q] * m.k[q, o]
        rates += rate * rate
        ways += way * way
    return rates >= SUSPICIOUS * SUSPICIOUS * ways


@inlined
def cubic_of_lane(m, q, n, lane):  # type: ignore[no-untyped-def]
    """The cubic polynomial of coordinate q of n in the step of a lane."""
    o, u = q * LANES + lane, (q + n) * LANES + lane
    return cubic_of(m.y[o], m.end[o], m.y[u], m.end[u], m.lanes[LENGTH * LANES + lane])


@inlined
def choose_slopes(m, lane):  # type: ignore[no-untyped-def]
    """Decide by what the rates of a lane are found within its step, after ``prepare_dense``; see ``choose_polynomials`` there.

    The bends are kept in ``m.errors[1]``: accelerations at the end may be those of other modes afterwards.
    """
    n, h = m.rates[0], m.lanes[LENGTH * LANES + lane]
    m.lanes[BY_SLOPES * LANES + lane] = 0.0
    if n == 0 or 2 * n != m.size[0] or len(m.turned) > 0 or not may_be_stiff(m, lane, 2 * n):
        return
    fastest = 0.0
    for u in range(n * LANES + lane, 2 * n * LANES, LANES):
        fastest = max(fastest, abs(m.y[u]), abs(m.end[u]))
    for q in range(n):
        o, cubic = (q + n) * LANES, cubic_of_lane(m, q, n, lane)
        bends = bends_of(cubic, m.k[0, o + lane], m.k[STAGES, o + lane], h)
        m.errors[1, q * LANES + lane], m.errors[1, o + lane] = bends
        middle = m.y[o + lane] + value_of(m.dense[o * POWER :], lane, 0.5)
        if differs_from_slope(cubic, bends, h * middle, RELATED * h * fastest):
            m.lanes[BY_SLOPES * LANES + lane] = 1.0


@inlined
def put_slopes(m, lane, x, out):  # type: ignore[no-untyped-def]
    """Coordinates by their quintic polynomials, and their rates by the slopes of these, where this was chosen for the step."""
    if m.lanes[BY_SLOPES * LANES + lane] == 1.0:
        n, h = m.rates[0], m.lanes[LENGTH * LANES + lane]
        for q in range(n):
            bend, tilt = m.errors[1, q * LANES + lane], m.errors[1, (q + n) * LANES + lane]
            out[q], slope = value_and_slope(cubic_of_lane(m, q, n, lane), bend, tilt, x)
            out[q + n] = slope / h
