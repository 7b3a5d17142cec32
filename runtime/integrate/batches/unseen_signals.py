"""Steps of a batch that pass a pulse of a signal.  The rules are those of ``runtime.integrate.unseen_signals``."""

from __future__ import annotations

import math

import numpy as np

from runtime.dynamics.layout import OK
from runtime.dynamics.signal_integrals import has_knot
from runtime.dynamics.signals import piece_near
from runtime.integrate.batches.control import reject
from runtime.integrate.batches.equations import LARGEST_WORST, derive
from runtime.integrate.batches.forces import add_forces, set_signals
from runtime.integrate.dop853_coefficients import STAGES
from runtime.integrate.unseen_signals import (
    ACCELERATION,
    ANEW,
    PASSED,
    change_unseen,
    gain_of,
    is_weighed,
    strays_unseen,
)
from runtime.jit.compilation import inlined

HARMLESS, TO_WEIGH, STRAYS = 0.0, 1.0, 2.0  # WEIGHED: what is known of an attempt


@inlined
def find_unseen(x, lane, begin, h, rtol, atol):  # type: ignore[no-untyped-def]
    """Put what a lane's step does not see of signals into ``x.unseen``; what is known of it."""
    found, t = HARMLESS, x.signals
    for r in range(len(x.watched)):
        k, c = x.watched[r] // 3, x.watched[r] % 3
        own, high = x.own_set[lane] + k, x.piece[k, lane]
        x.unseen[r, lane] = 0.0
        if t.extent[own, c] == 0.0 or not has_knot(own, high, begin, t):
            continue
        before = x.reached[r, lane]
        if before < t.start[own] or before >= t.start[own + 1]:  # of another set
            before = high
        low, x.reached[r, lane] = piece_near(own, begin, t, before), high
        seen = x.seen[3 * r, lane], x.seen[3 * r + 1, lane], x.seen[3 * r + 2, lane]
        change = change_unseen(own, c, low, begin, high, h, seen, x.quadrature, t, x.ends)
        x.unseen[r, lane] = change
        if c == ACCELERATION and strays_unseen(own, low, begin, high, h, x.quadrature, rtol, atol, t, x.ends):
            found = STRAYS
        elif found == HARMLESS and is_weighed(abs(change), h, t.extent[own, c], x.gain[r, lane]):
            found = TO_WEIGH
    return found


@inlined
def mark_weighed(m, rtol, atol):  # type: ignore[no-untyped-def]
    """Mark the lanes whose accurate attempts are to be weighed, or stray from a signal; their number."""
    x, s, found = m.forces, m.s, 0
    for lane in range(m.W):
        s.weighed[lane] = HARMLESS
        if s.accepted[lane] == 0.0 or s.end_code[lane] != OK:
            continue
        if int(s.steps[lane]) % ANEW == 0:
            for r in range(len(x.watched)):
                x.gain[r, lane] = np.inf
        known = find_unseen(x, lane, s.time[lane], s.length[lane], rtol, atol)
        s.weighed[lane] = known
        found += known > HARMLESS
    return found


@inlined
def error_of_unseen(m, lane, rtol, atol):  # type: ignore[no-untyped-def]
    """The error of a lane's step by ``x.unseen``, in units of the tolerance; ``m.trial``: the derivative with it."""
    if not m.worst[lane] < LARGEST_WORST:
        return np.inf
    n, last, total = m.size[0], m.k[STAGES], 0.0
    for i in range(n):
        e = i * m.W + lane
        scale = atol + rtol * min(abs(m.end[e]), m.cap[e])
        total += (m.weight[e] * (m.trial[e] - last[e]) / scale) ** 2
    return m.s.length[lane] * math.sqrt(total / n)


@inlined
def reject_passed(m, address, tolerances, special):  # type: ignore[no-untyped-def]
    """Reject attempts that pass more of the signals than the tolerance allows; the number of special ones of ``special``."""
    x, s = m.forces, m.s
    if len(x.watched) == 0 or mark_weighed(m, tolerances[0], tolerances[1]) == 0:
        return special
    for lane in range(m.W):
        set_signals(x, lane, x.own_set[lane], s.time[lane] + s.length[lane])
        for r in range(len(x.watched)):
            x.values[x.watched[r], lane] += x.unseen[r, lane] if s.weighed[lane] == TO_WEIGH else 0.0
    add_forces(m, m.end, x.own, m.constants, m.trial)
    derive(m, address, m.end, x.own, m.constants, m.trial)
    for lane in range(m.W):
        if s.weighed[lane] == HARMLESS:
            continue
        h, error = s.length[lane], np.inf
        if s.weighed[lane] == TO_WEIGH:
            s.checks[lane] += 1.0
            error = error_of_unseen(m, lane, tolerances[0], tolerances[1])
        for r in range(len(x.watched)):
            x.gain[r, lane] = gain_of(error, h, abs(x.unseen[r, lane]), x.gain[r, lane])
        if not error <= 1.0:
            special = reject(s, lane, np.inf, PASSED, special)
    return special
