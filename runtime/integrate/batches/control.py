"""Step control of a batch, over all lanes at once: lengths of attempts, what comes of them, beginnings of the next.

The loops have no branches, so they become vector instructions.  An attempt that is neither simply accepted nor simply rejected is
marked as special: bad, the last of its case, with an output in it, or with a limit that may change its mode.
"""

from __future__ import annotations

import numpy as np

from runtime.dynamics.layout import LANES
from runtime.integrate.batches.rows import (
    AFTER_REJECTION,
    ATTEMPT_WORST,
    ATTEMPTS,
    BETWEEN,
    BUSY,
    CODE,
    CORNERED,
    END_CODE,
    EVER_WORST,
    FACTOR,
    LANDINGS,
    LEAST_WORST,
    LENGTH,
    LONGEST,
    LOOK_AT,
    NEXT,
    NOW,
    OUTPUT_AT,
    REJECTED_STEPS,
    SPECIAL,
    SPEED,
    SUM3,
    SUM5,
    TAKEN,
    TAKEN_STEPS,
    TIME,
    TOTAL,
)
from runtime.integrate.step_control import after_acceptance, after_rejection, factor_of, squared_error, step_length
from runtime.integrate.step_error import FASTEST, SAFETY, SLOWEST
from runtime.jit.compilation import CONTRACT, columns, inlined, linked

_squared_error = linked(squared_error.py_func, fastmath=CONTRACT)
SMALL = 1e-15  # of the largest time of a run: longer steps are surely not too small


@columns
def choose_lengths(lanes, finish):  # type: ignore[no-untyped-def]
    """Length of the attempt of every lane, 0 of an idle one; number of lanes whose step may be too small."""
    small = 0
    for lane in range(LANES):
        time = lanes[TIME * LANES + lane]
        cut = lanes[LANDINGS * LANES + lane] + lanes[CORNERED * LANES + lane] > 0.0
        h, _ = step_length(lanes[NEXT * LANES + lane], lanes[LONGEST * LANES + lane], time, finish, cut)
        busy = lanes[BUSY * LANES + lane] == 1.0
        lanes[LENGTH * LANES + lane] = h if busy else 0.0
        least = SMALL * max(abs(time), abs(finish)) if busy else -1.0
        small += 0 if h > least else 1
    return small


@columns
def weigh_attempts(lanes, n, finish, fastest):  # type: ignore[no-untyped-def]
    """Errors of the attempts of all lanes, states (n,), and which are special; the number of these.

    ``fastest``: turns are slower [m/s], or a case is to be run alone.
    """
    found = 0
    for lane in range(LANES):
        h, time = lanes[LENGTH * LANES + lane], lanes[TIME * LANES + lane]
        total = _squared_error(lanes[SUM5 * LANES + lane], lanes[SUM3 * LANES + lane], h, n)
        total = total if lanes[CODE * LANES + lane] == 0.0 else np.inf
        lanes[FACTOR * LANES + lane] = factor_of(total, SAFETY, SLOWEST, FASTEST)
        now = finish if h == finish - time else time + h
        lanes[TOTAL * LANES + lane], lanes[NOW * LANES + lane] = total, now
        taken = lanes[BUSY * LANES + lane] if total <= 1.0 else 0.0
        lanes[TAKEN * LANES + lane] = taken
        between = taken if lanes[OUTPUT_AT * LANES + lane] < now else 0.0
        lanes[BETWEEN * LANES + lane] = between
        special = taken if now >= finish else 0.0
        special = taken if lanes[OUTPUT_AT * LANES + lane] <= now else special
        special = taken if lanes[END_CODE * LANES + lane] != 0.0 else special
        special = taken if lanes[SPEED * LANES + lane] > fastest else special
        special = taken if lanes[TAKEN_STEPS * LANES + lane] + 1.0 >= lanes[LOOK_AT * LANES + lane] else special
        special = special if total < np.inf else lanes[BUSY * LANES + lane]
        lanes[SPECIAL * LANES + lane] = special
        lanes[ATTEMPTS * LANES + lane] += lanes[BUSY * LANES + lane]
        found += 1 if special > 0.0 else 0
    return found


@inlined
def reject(lanes, lane, error, factor, special):  # type: ignore[no-untyped-def]
    """Reject the accurate attempt of a lane by another error; the number of special ones of ``special``."""
    left = special - (1 if lanes[SPECIAL * LANES + lane] > 0.0 else 0)
    lanes[TAKEN * LANES + lane] = lanes[SPECIAL * LANES + lane] = lanes[BETWEEN * LANES + lane] = 0.0
    lanes[TOTAL * LANES + lane], lanes[FACTOR * LANES + lane] = error, factor
    return left


@columns
def go_on(lanes):  # type: ignore[no-untyped-def]
    """Begin the next attempt in the lanes whose attempt was not special.

    All numbers are read before the first is stored: a choice between two places in memory is no vector instruction.
    """
    for lane in range(LANES):
        busy, special, taken = lanes[BUSY * LANES + lane], lanes[SPECIAL * LANES + lane], lanes[TAKEN * LANES + lane]
        h, factor, planned = lanes[LENGTH * LANES + lane], lanes[FACTOR * LANES + lane], lanes[NEXT * LANES + lane]
        time, now, before = lanes[TIME * LANES + lane], lanes[NOW * LANES + lane], lanes[AFTER_REJECTION * LANES + lane]
        steps, rejected = lanes[TAKEN_STEPS * LANES + lane], lanes[REJECTED_STEPS * LANES + lane]
        ever, least = lanes[EVER_WORST * LANES + lane], lanes[LEAST_WORST * LANES + lane]
        worst = lanes[ATTEMPT_WORST * LANES + lane]
        plain = busy - special > 0.0
        one = 1.0 if plain else 0.0
        step = one if taken == 1.0 else 0.0
        longer, shorter = after_acceptance(h, factor, before), after_rejection(h, factor)
        following = longer if taken == 1.0 else shorter
        lanes[NEXT * LANES + lane] = following if plain else planned
        lanes[AFTER_REJECTION * LANES + lane] = one - step if plain else before
        lanes[TAKEN_STEPS * LANES + lane] = steps + step
        lanes[REJECTED_STEPS * LANES + lane] = rejected + (one - step)
        lanes[TIME * LANES + lane] = now if step > 0.0 else time
        lanes[EVER_WORST * LANES + lane] = worst if step > 0.0 and worst > ever else ever
        lanes[LEAST_WORST * LANES + lane] = worst if step > 0.0 and worst < least else least
