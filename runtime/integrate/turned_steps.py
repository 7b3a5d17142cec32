"""Longest steps by the turns of bodies and by signals: within one step no body turns far, and no pulse begins and ends.

In joint coordinates a body that turns freely moves by a straight line, which is exact for steps of any length.  What it passes on
its way, a wall, the edge of a limit, a cable that is taut for a part of the turn, or an event, would be between two stages or two
samples of such a step, and revolutions of angles could not be counted.  Therefore steps of systems with one of these turn no
body, or joint, by more than ``TURN``.  Closed loops may pass a singular pose, where a stage is useless, twice in a turn; within
``TURN_OF_LOOPS`` they pass one at most.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics.layout import OMEGA, STATE
from runtime.dynamics.signals import SHORT, least_weight, until_knot
from runtime.integrate.stepping import LEVER
from runtime.jit.compilation import compiled, inlined

TURN = 1.0  # [rad] by the rates at the begin of a step: samples are a quarter of this apart
TURN_OF_LOOPS = 2.0  # [rad] likewise


@inlined
def fastest_rate(m):  # type: ignore[no-untyped-def]
    """The largest component of the rates of turns and of angular velocities at the begin of a step [rad/s]."""
    rate = 0.0
    if m.bodies[0] == 0:
        for i in range(len(m.y)):
            if m.scales[LEVER, i] > 0.0:
                rate = max(rate, abs(m.y[i]))
    for b in range(m.bodies[0]):
        for i in range(STATE * b + OMEGA, STATE * b + OMEGA + 3):
            rate = max(rate, abs(m.y[i]))
    return rate


@inlined
def keep_knot(s, lane, until):  # type: ignore[no-untyped-def]
    """Keep the time [s] until the knot of a signal at which the attempt of a lane is to end, where that is soon."""
    s.until_knot[lane] = until if until < SHORT * s.next_length[lane] else np.inf


@inlined
def longest_step(m, t, w, max_step, rtol, atol):  # type: ignore[no-untyped-def]
    """The length of the next step [s] is this at most; ``max_step``: that of the settings."""
    least, planned = least_weight(rtol, atol), min(m.s.next_length[0], max_step)
    m.s.until_knot[0] = np.inf
    for k in range(len(w.signals)):
        until = until_knot(k, m.s.time[0], planned, least, t.signals)
        if until < planned:
            keep_knot(m.s, 0, until)
            max_step = planned = until
    if t.counted + len(t.forces.address) + len(w.switches.mode) + len(w.events.value) > 0:
        return longest_turned(m, TURN, max_step)
    return longest_turned(m, TURN_OF_LOOPS, max_step) if m.s.projected[0] == 1 else max_step


@inlined
def longest_turned(m, turn, max_step):  # type: ignore[no-untyped-def]
    """The length of a step with a turn by ``turn`` [rad], ``max_step`` at most [s]."""
    rate = fastest_rate(m)
    return max_step if rate == 0.0 or rate * max_step <= turn else turn / rate


@compiled
def longest_watched(m, max_step):  # type: ignore[no-untyped-def]
    """``longest_turned``, called from Python."""
    return longest_turned(m, TURN, max_step)
