"""Step control of a batch, over all lanes at once: what comes of attempts, beginnings of the next.

The loops have no branches, so they become vector instructions.  An attempt that is neither simply accepted nor simply rejected is
marked as special: bad, the last of its case, with an output in it, or with a limit that may change its mode.
"""

from __future__ import annotations

import numpy as np

from runtime.integrate.step_control import (
    after_acceptance,
    after_rejection,
    factor_of,
    squared_error,
    with_knot,
)
from runtime.integrate.step_error import FASTEST, SAFETY, SLOWEST
from runtime.jit.compilation import CONTRACT, columns, linked

_squared_error = linked(squared_error.py_func, fastmath=CONTRACT)


@columns
def weigh_attempts(s, n, finish, fastest):  # type: ignore[no-untyped-def]
    """Errors of the attempts of all lanes, states (n,), and which are special; the number of these.

    ``fastest``: turns are slower [m/s], or a case is to be run alone.
    """
    found = 0
    for lane in range(s.W):
        h, time = s.length[lane], s.time[lane]
        total = _squared_error(s.sum5[lane], s.sum3[lane], h, n)
        total = with_knot(total, s.sum5[lane], h, n, s.until_knot[lane])
        total = total if s.code[lane] == 0.0 else np.inf
        s.factor[lane] = factor_of(total, SAFETY, SLOWEST, FASTEST)
        now = finish if h == finish - time else time + h
        s.error[lane], s.end_time[lane] = total, now
        taken = s.busy[lane] if total <= 1.0 else 0.0
        s.accepted[lane] = taken
        between = taken if s.next_output[lane] < now else 0.0
        s.has_outputs[lane] = between
        special = taken if now >= finish else 0.0
        special = taken if s.next_output[lane] <= now else special
        special = taken if s.end_code[lane] != 0.0 else special
        special = taken if s.speed[lane] > fastest else special
        special = taken if s.steps[lane] + 1.0 >= s.look_at[lane] else special
        special = special if total < np.inf else s.busy[lane]
        s.special[lane] = special
        s.attempts[lane] += s.busy[lane]
        found += 1 if special > 0.0 else 0
    return found


@columns
def go_on_plainly(s):  # type: ignore[no-untyped-def]
    """Begin the next attempt in the lanes whose attempt was not special.

    All numbers are read before the first is stored: a choice between two places in memory is no vector instruction.
    """
    for lane in range(s.W):
        busy, special, taken = s.busy[lane], s.special[lane], s.accepted[lane]
        h, factor, planned = s.length[lane], s.factor[lane], s.next_length[lane]
        time, now, before = s.time[lane], s.end_time[lane], s.after_rejection[lane]
        steps, rejected = s.steps[lane], s.rejections[lane]
        ever, least = s.ever_worst[lane], s.least_worst[lane]
        worst = s.attempt_worst[lane]
        plain = busy - special > 0.0
        one = 1.0 if plain else 0.0
        step = one if taken == 1.0 else 0.0
        longer, shorter = after_acceptance(h, factor, before), after_rejection(h, factor)
        following = longer if taken == 1.0 else shorter
        s.next_length[lane] = following if plain else planned
        s.after_rejection[lane] = one - step if plain else before
        s.steps[lane] = steps + step
        s.rejections[lane] = rejected + (one - step)
        s.time[lane] = now if step > 0.0 else time
        s.ever_worst[lane] = worst if step > 0.0 and worst > ever else ever
        s.least_worst[lane] = worst if step > 0.0 and worst < least else least
