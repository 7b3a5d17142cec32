"""Steps that pass a pulse of a signal between two of their stages are repeated shorter.

The error of a step is estimated from its stages, which may all be beside a pulse: a push of 20 ms on a subject at rest, say.
Signals are known at any time, though.  Their exact integrals over a step, once, twice and three times, are compared with the sums
of the method over its stages (``runtime.dynamics.signal_integrals``).  The difference is what the step does not see.  It is made
up for by a constant change of the signal; the accelerations with this change less those without, times the length of the step,
are the error in units of the tolerance, as the norm of the step control has it.

This evaluation is left out where the difference is small beside the extent of the signal and harmless, to judge by those before:
an error found with certain changes of all signals bounds the error for each, its gain.  The rules are those of batches too.

A driver that moves a body and brings it back leaves hardly any integral over a long step.  Limits and contacts may act meanwhile,
though, and states are wanted there: such steps are found by the value of the driver at its knots.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics.equations import derivative
from runtime.dynamics.kinematics import update_signals
from runtime.dynamics.layout import OK
from runtime.dynamics.signal_integrals import exact_integrals, has_knot, unseen
from runtime.dynamics.signals import evaluate_piece, piece_at, piece_near, value_of_piece
from runtime.integrate.limit_changes import bends_of, cubic_of
from runtime.integrate.quintic import value_and_slope
from runtime.integrate.stepping import norm_of
from runtime.jit.compilation import inlined

ACCELERATION = 2  # the derivative that steps must see of drivers
PASSED = 0.4  # factor of the length of a step that passed a pulse
ROUNDING = 1e-11  # of the extent of a signal, in the mean over a step: less than this is no difference
EVIDENT = 1e-4  # a larger one is always weighed
HARMLESS = 0.3  # error in units of the tolerance, by the gains
LEAST = 0.01  # error from which gains are found at least
ANEW = 64  # steps after which gains are found anew, as they depend on the pose
# Of a driver's value from the polynomial of degree 5 by both ends of a step: the distance at a knot over the largest one at a
# stage, of a signal that the step does not see; and in tolerances, less of which is no harm.
STRAY, STRAY_LEAST = 3.0, 10.0


@inlined
def is_weighed(change, h, extent, gain):  # type: ignore[no-untyped-def]
    """Whether what a step of length h does not see of a signal may matter."""
    return change > ROUNDING * extent and (change > EVIDENT * extent or h * change * gain > HARMLESS)


@inlined
def gain_of(error, h, change, before):  # type: ignore[no-untyped-def]
    """The gain of a signal after an evaluation with a change."""
    return min(before, max(error, LEAST) / (h * change)) if change > 0.0 else before


@inlined
def change_unseen(k, c, low, begin, high, h, seen, weights, t, ends):  # type: ignore[no-untyped-def]
    """What a step of length h does not see of a derivative of signal k; its ends are in the pieces ``low`` and ``high``.

    ``seen`` (3): sums over the stages after the first one; ``weights``: as of ``quadrature_of``; ``ends`` (2, 3): memory.
    """
    if c > 0:
        evaluate_piece(low, begin, t, ends[0])
        evaluate_piece(high, begin + h, t, ends[1])
        first = ends[0, c]
    else:
        first = value_of_piece(low, begin, t)
    sums = (
        seen[0] + weights[1, 0] * first, seen[1] + weights[2, 0] * first, seen[2] + weights[3, 0] * first
    )  # fmt: skip
    return unseen(h, exact_integrals(k, c, low, begin, high, begin + h, ends[0], ends[1], t), sums)


@inlined
def strays_unseen(k, low, begin, high, h, weights, rtol, atol, t, ends):  # type: ignore[no-untyped-def]
    """Whether signal k strays between the stages of a step of length h; after ``change_unseen``, which fills ``ends``."""
    first, last = ends[0], ends[1]
    cubic = cubic_of(first[0], last[0], first[1], last[1], h)
    bend, tilt = bends_of(cubic, first[2], last[2], h)
    most = STRAY_LEAST * (atol + rtol * max(abs(first[0]), abs(last[0])))
    strays = False
    for piece in range(low + 1, high + 1):
        value, _ = value_and_slope(cubic, bend, tilt, (t.knot[piece] - begin) / h)
        distance = abs(t.coefficient[piece, 0] - value)
        if distance > most:
            most, strays = distance, True
    at = low
    for q in range(1, weights.shape[1] if strays else 1):
        time = begin + weights[0, q] * h
        at = piece_near(k, time, t, at)
        value, _ = value_and_slope(cubic, bend, tilt, weights[0, q])
        strays = strays and most > STRAY * abs(value_of_piece(at, time, t) - value)
    return strays


@inlined
def see_signals(m, t, w, q):  # type: ignore[no-untyped-def]
    """Add the signals of the last evaluation, that of stage q after the first one, to what the attempt sees of them."""
    weights, extent = m.own.coefficients.quadrature, t.signals.extent
    for k in range(len(w.signals)):
        for c in range(3):
            if extent[k, c] > 0.0:
                for n in range(3):
                    m.seen[k, c, n] = (0.0 if q == 1 else m.seen[k, c, n]) + weights[1 + n, q] * w.signals[k, c]


@inlined
def see_signals_of_step(m, t, w, h):  # type: ignore[no-untyped-def]
    """``see_signals`` for all stages after the first one of a step of length h."""
    for q in range(1, m.own.coefficients.quadrature.shape[1]):
        update_signals(m.s.time[0] + m.own.coefficients.quadrature[0, q] * h, t, w)
        see_signals(m, t, w, q)


@inlined
def passes_pulse(m, t, w, h, rtol, atol):  # type: ignore[no-untyped-def]
    """Whether an accurate attempt at a step of length h passes more of the signals than the tolerance allows."""
    weighed, begin, of, weights = False, m.s.time[0], t.signals, m.own.coefficients.quadrature
    for k in range(len(w.signals)):
        if of.extent[k, 0] == 0.0 and of.extent[k, 1] == 0.0 and of.extent[k, 2] == 0.0:
            continue
        high, low = piece_at(k, begin + h, of), piece_near(k, begin, of, max(of.start[k], m.reached[k]))
        m.reached[k] = high
        for c in range(3):
            w.unseen[k, c] = 0.0
            if of.extent[k, c] > 0.0 and has_knot(k, high, begin, of):
                w.unseen[k, c] = change_unseen(k, c, low, begin, high, h, m.seen[k, c], weights, of, m.ends)
                if c == ACCELERATION and strays_unseen(k, low, begin, high, h, weights, rtol, atol, of, m.ends):
                    return True
            if int(m.s.steps[0]) % ANEW == 0:
                m.gain[k, c] = np.inf
            weighed = weighed or is_weighed(abs(w.unseen[k, c]), h, of.extent[k, c], m.gain[k, c])
    return weighed and not error_of_unseen(m, t, w, h, rtol, atol) <= 1.0


@inlined
def error_of_unseen(m, t, w, h, rtol, atol):  # type: ignore[no-untyped-def]
    """The error of a step by ``Workspace.unseen``, in units of the tolerance."""
    end = m.s.time[0] + h
    w.has_unseen[0] = 1
    code = derivative(end, m.trial, t, w, m.rates)
    w.has_unseen[0] = 0
    for i in range(len(m.y)):
        m.rates[i] -= m.end[i]
    error = h * norm_of(m, m.rates, m.trial, rtol, atol) if code == OK else np.inf
    derivative(end, m.trial, t, w, m.rates)  # the memory of the evaluation is that of the end again
    m.s.evaluations[0] += 2
    for k in range(len(w.signals)):
        for c in range(3):
            m.gain[k, c] = gain_of(error, h, abs(w.unseen[k, c]), m.gain[k, c])
    return error
