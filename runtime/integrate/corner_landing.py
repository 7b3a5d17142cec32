"""Steps that pass a corner of a force's law are repeated, to end there.

In a step over a corner the error is of low order, and estimates say little of it: that of radau is judged by a looser tolerance,
which presumes a smooth step, and those of dop853 are small for some places of the corner.  Forces that act between two corners
alone may lie between two stages.  A step that ends at the corner is smooth, and so is the next one.

The corner is located on polynomials through both ends of the step that passed it, which the corner bends; the repeated step ends
close to it, and its own polynomials are exact there.  The scalar rules are those of lanes, too.
"""

from __future__ import annotations

from runtime.dynamics.layout import JUMP
from runtime.integrate.loop_parts import LoopPart
from runtime.integrate.stepping import SAMPLES
from runtime.integrate.unseen_corners import UNTOUCHED, first_unseen, sample, sample_step, within
from runtime.jit.compilation import inlined

# Of a step: a corner so near to an end is one at this end.  A stage there has the weight of a part of the whole step: what its
# force is beyond the corner acts for so long.  What changes its sign there is 0 within its own rounding (``evaluate_corners``).
CLOSE = 1e-12
ROUNDING = 1e-15  # of the time
MAX_CORNERED = 5  # attempts to end a step at a corner; then it counts by its error estimate alone
# Of a step, and of the time: a run that is so close to the jump of an angle ends.  Attempts across it have large errors.
BEFORE_JUMP, BEFORE_JUMP_TIME = 1e-6, 1e-9
INSIDE, MAX_SECANTS = 1e-3, 60  # of a bracket, how far from its ends samples are at least; of them at most


@inlined
def closest(time, h):  # type: ignore[no-untyped-def]
    """Fraction of a step of length h from ``time`` on, as of CLOSE."""
    return max(CLOSE, ROUNDING * abs(time) / h)


@inlined
def sample_before(samples, i, q):  # type: ignore[no-untyped-def]
    """The sample from which on the corner in column i is passed until sample q, or -1: the last one that is not 0.

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
    # Well inside: the value at the begin of a step is next to nothing where the step before ended at this corner.
    return lower + (upper - lower) * min(max(before / (before - behind), INSIDE), 1.0 - INSIDE)


@inlined
def narrowed(bracket, x, value):  # type: ignore[no-untyped-def]
    """The bracket with a sample; the value at an end that stays a second time is halved (Illinois)."""
    lower, upper, before, behind, last = bracket
    if value * behind > 0.0:
        return lower, x, before * (0.5 if last > 0.0 else 1.0), value, 1.0
    return x, upper, value, behind * (0.5 if last < 0.0 else 1.0), -1.0


@inlined
def passed_at(c, k, q, close, m, t, w):  # type: ignore[no-untyped-def]
    """Fraction of the last step at which corner c is passed, between samples k and q: up to ``close`` behind it.

    At a jump of an angle: up to ``close`` before it.
    """
    row = m.corners[SAMPLES + 1]
    bracket = (k / SAMPLES, q / SAMPLES, m.corners[k, c], m.corners[q, c], 0.0)
    for _ in range(MAX_SECANTS):
        if bracket[1] - bracket[0] <= 0.2 * close:
            break
        x = inside_bracket(bracket)
        within(m, x, m.trial)
        sample(m.s.began[0] + x * m.s.length[0], m.trial, t, w, row)
        if row[c] == 0.0 and t.forces.jump[c] == 0:
            return x
        bracket = narrowed(bracket, x, row[c])
    return max(0.0, bracket[0] - 0.4 * close) if t.forces.jump[c] == 1 else min(1.0, bracket[1] + 0.4 * close)


@inlined
def first_passed(close, jumps, m, t, w):  # type: ignore[no-untyped-def]
    """The first fraction of the last step at which a corner is passed, not as close as ``close`` to its begin, or UNTOUCHED.

    ``jumps``: 1 to look for jumps of angles, at any place, 0 for corners.
    """
    first = UNTOUCHED
    for q in range(1, SAMPLES + 1):
        for c in range(m.corners.shape[1] if first < 0.0 or first > (q - 1.0) / SAMPLES else 0):
            k = sample_before(m.corners, c, q) if t.forces.jump[c] == jumps else -1
            if k >= 0:
                x = passed_at(c, k, q, close, m, t, w)
                if (x > close or jumps == 1) and (first < 0.0 or x < first):
                    first = x
    return first


@inlined
def end_at_corner(m, h):  # type: ignore[no-untyped-def]
    """Accept a step of length h that ends at a corner; the next one is as long as this one was before it was cut."""
    if m.s.cornered[0] > 0:
        m.s.factor[0] = max(m.s.factor[0], m.s.uncut[0] / h)
        m.s.after_rejection[0] = m.s.cornered[0] = 0
    m.s.passed_corners[0] += 1


def corners_part(m, t, w):  # type: ignore[no-untyped-def]
    """1 if the last step is undone, to be repeated up to a corner or a touch; JUMP if it is undone for good, as an angle jumps.

    ``s.trial`` is memory.
    """
    h, place = m.s.length[0], UNTOUCHED
    close = closest(m.s.began[0], h)
    sample_step(m, t, w)
    # Friction that sticks changes within a step so stiffly that only steps over its corners are long enough.
    ends = m.s.sticking[0] == 0 and m.s.cornered[0] < MAX_CORNERED
    passed, jump = first_passed(close, 0, m, t, w) if ends else UNTOUCHED, first_passed(close, 1, m, t, w)
    jumps = jump >= 0.0 and (passed < 0.0 or jump <= passed)
    if jumps:
        passed = jump if ends else 0.0
    if not jumps and (passed >= 1.0 - close or (passed < 0.0 and m.s.cornered[0] > 0)):
        end_at_corner(m, h)
    elif passed >= 0.0:
        m.s.uncut[0] = h if m.s.cornered[0] == 0 else m.s.uncut[0]
        m.s.cornered[0] += 1
        place = passed
    else:
        place = first_unseen(m, t, w)
        m.s.cornered[0] = 0
    if place < 0.0:
        for c in range(m.corners.shape[1]):
            m.corners[0, c] = m.corners[SAMPLES, c]
        m.s.corners_at[0] = m.s.began[0] + h
        return 0
    for i in range(len(m.y)):
        m.y[i] = m.y_old[i]
    if jumps and place <= max(BEFORE_JUMP, BEFORE_JUMP_TIME * abs(m.s.began[0]) / h):
        return JUMP
    m.s.next_length[0] = place * h
    m.s.rejections[0] += 1
    m.s.after_rejection[0], m.s.aimed[0], m.s.undone[0] = 1, 0, 1
    return 1


CORNERS_PART = LoopPart(corners_part)
