"""Steps that pass a kink of a force's law are repeated, to end there.

In a step over a kink the error is of low order, and estimates say little of it: that of radau is judged by a looser tolerance,
which presumes a smooth step, and those of dop853 are small for some places of the kink.  Forces that act between two kinks
alone may lie between two stages.  A step that ends at the kink is smooth, and so is the next one.

The kink is located on polynomials through both ends of the step that passed it, which bend at the kink; the repeated step ends
close to it, and its own polynomials are exact there.
"""

from __future__ import annotations

from runtime.dynamics.force_elements import evaluate_kinks
from runtime.dynamics.kinematics import update_poses, update_poses_and_signals
from runtime.integrate.lane_state import SAMPLES, reject
from runtime.integrate.loop_parts import LoopPart
from runtime.integrate.quintic import put_slopes
from runtime.integrate.stepping import Stepper, between_ends
from runtime.integrate.unseen_kinks import (
    CLOSER_SAMPLE,
    UNTOUCHED,
    first_unseen,
    sample_within,
)
from runtime.jit.by_memory import for_memory
from runtime.jit.compilation import inlined

# Of a step: a kink so near to an end is one at this end.  A stage there has the weight of a part of the whole step: what its
# force is beyond the kink acts for so long.  What changes its sign there is 0 within its own rounding (``evaluate_kinks``).
CLOSE = 1e-12
ROUNDING = 1e-15  # of the time
MAX_KINKED = 5  # attempts to end a step at a kink; then it counts by its error estimate alone
INSIDE, MAX_SECANTS = 1e-3, 60  # of a bracket, how far from its ends samples are at least; of them at most


@inlined
def closest(time, h):  # type: ignore[no-untyped-def]
    """Fraction of a step of length h from ``time`` on, as of CLOSE."""
    return max(CLOSE, ROUNDING * abs(time) / h)


@inlined
def sample_before(samples, i, q):  # type: ignore[no-untyped-def]
    """The sample from which on the kink in column i is passed until sample q, or -1: the last one that is not 0.

    One that is 0 on a whole side, as behind a stop, has another one there.
    """
    k, behind = q - 1, samples[q, i]
    while k > 0 and samples[k, i] == 0.0:
        k -= 1
    before = samples[k, i]
    return k if before < 0.0 < behind or behind < 0.0 < before else -1


@inlined
def inside_bracket(bracket):  # type: ignore[no-untyped-def]
    """Place of the next sample in a bracket (lower, upper, value at lower, value at upper, end that was replaced last)."""
    lower, upper, before, behind, _ = bracket
    # Well inside: the value at the begin of a step is next to nothing where the step before ended at this kink.
    return lower + (upper - lower) * min(max(before / (before - behind), INSIDE), 1.0 - INSIDE)


@inlined
def narrowed(bracket, x, value):  # type: ignore[no-untyped-def]
    """The bracket with a sample, an upper end if it is 0; the value at an end that stays a second time is halved (Illinois)."""
    lower, upper, before, behind, last = bracket
    if (before < 0.0 and value < 0.0) or (before > 0.0 and value > 0.0):
        return x, upper, value, behind * (0.5 if last < 0.0 else 1.0), -1.0
    return lower, x, before * (0.5 if last > 0.0 else 1.0), value, 1.0


@inlined
def passed_at(m, of, kinks, lane, i, k, q, close):  # type: ignore[no-untyped-def]
    """Fraction of the step at which the kink in column i is passed, between samples k and q: up to ``close`` behind it."""
    bracket = (k / SAMPLES, q / SAMPLES, kinks[k, i], kinks[q, i], 0.0)
    for _ in range(MAX_SECANTS):
        if bracket[1] - bracket[0] <= 0.2 * close:
            break
        x = inside_bracket(bracket)
        sample_within(m, of, lane, x, i)
        value = kinks[CLOSER_SAMPLE, i]
        if value == 0.0:
            return x
        bracket = narrowed(bracket, x, value)
    return min(1.0, bracket[1] + 0.4 * close)


@inlined
def first_passed(m, of, kinks, lane, close):  # type: ignore[no-untyped-def]
    """The first fraction of the step of a lane, above ``close``, at which a kink is passed, or UNTOUCHED."""
    first = UNTOUCHED
    for q in range(1, SAMPLES + 1):
        for i in range(lane, kinks.shape[1] if first < 0.0 or first > (q - 1.0) / SAMPLES else 0, m.W):
            k = sample_before(kinks, i, q)
            if k >= 0:
                x = passed_at(m, of, kinks, lane, i, k, q, close)
                if x > close and (first < 0.0 or x < first):
                    first = x
    return first


@inlined
def end_at_kink(s, lane, h):  # type: ignore[no-untyped-def]
    """Accept a step of length h that ends at a kink; the next one is as long as this one was before it was cut."""
    if s.kinked[lane] > 0.0:
        s.factor[lane] = max(s.factor[lane], s.uncut[lane] / h)
        s.after_rejection[lane] = s.kinked[lane] = 0.0
    s.passed_kinks[lane] += 1.0


@inlined
def place_to_end(m, of, kinks, lane, begin, h, passing, touching):  # type: ignore[no-untyped-def]
    """Fraction at which an accurate attempt from ``begin`` on is to end, or UNTOUCHED where it is accepted.

    ``passing``: whether a kink may be passed, ``touching``: or one touched between samples.
    """
    s, kinked, close = m.s, m.s.kinked[lane], closest(begin, h)
    # Friction that sticks changes within a step so stiffly that only steps over its kinks are long enough.
    ends = s.sticking[lane] == 0.0 and kinked < MAX_KINKED
    passed = first_passed(m, of, kinks, lane, close) if passing and ends else UNTOUCHED
    if passed >= 1.0 - close or (passed < 0.0 and kinked > 0.0):
        end_at_kink(s, lane, h)
        return UNTOUCHED
    if passed >= 0.0:
        s.uncut[lane] = h if kinked == 0.0 else s.uncut[lane]
        s.kinked[lane] = kinked + 1.0
        return passed
    s.kinked[lane] = 0.0
    return first_unseen(m, of, kinks, lane) if touching else UNTOUCHED


@for_memory(sample_within, Stepper)
def sample_run(m, of, lane, x, i):  # type: ignore[no-untyped-def]
    """``sample_within``, of all kinks: stages of the dense output may be in a touch, and bend the path."""
    between_ends(m, x, m.trial)
    for tie in m.own.ties:
        put_slopes(m, tie[0], tie[1], tie[2], x, m.begin, m.end, m.trial)
    sample(m.s.began[0] + x * m.s.length[0], m.trial, of[0], of[1], m.kinks[CLOSER_SAMPLE])


@inlined
def sample(time, y, t, w, to):  # type: ignore[no-untyped-def]
    """Put the kinks in a state of a single run into ``to``."""
    if len(t.forces.signal) > 0:
        update_poses_and_signals(time, y, t, w)
    else:
        update_poses(y, t, w)
    evaluate_kinks(y, t, w, to)


@inlined
def sample_step(m, t, w):  # type: ignore[no-untyped-def]
    """Sample the kinks in the last step of a single run; those at its begin are known from the step before."""
    begin, h = m.s.began[0], m.s.length[0]
    if m.s.kinks_at[0] != begin:
        sample(begin, m.y_old, t, w, m.kinks[0])
        m.s.kinks_at[0] = begin
    for q in range(1, SAMPLES + 1):
        between_ends(m, q / SAMPLES, m.trial)
        sample(begin + h * q / SAMPLES, m.trial, t, w, m.kinks[q])


def kinks_part(m, t, w):  # type: ignore[no-untyped-def]
    """1 if the last attempt is rejected, to be repeated up to a kink or a touch; ``m.trial`` is memory."""
    begin, h = m.s.began[0], m.s.length[0]
    sample_step(m, t, w)
    place = place_to_end(m, (t, w), m.kinks, 0, begin, h, True, True)
    if place < 0.0:
        for c in range(m.kinks.shape[1]):
            m.kinks[0, c] = m.kinks[SAMPLES, c]
        m.s.kinks_at[0] = begin + h
        return 0
    reject(m.s, 0, 2.0, place, 0)
    return 1


KINKS_PART = LoopPart(kinks_part)
