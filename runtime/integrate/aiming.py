"""Steps that are aimed at the next change of a limit of a coordinate.

A step that passes a change is repeated up to there, and was in vain.  Therefore the coordinates are extended beyond each step by
their quintic polynomials, and a step that would pass a change, or end shortly before it, ends there instead.  The moment of a
limit grows with the square of the excess: if the change is so near that the moment between it and the end of the step would
change rates by no more than a part of the tolerance, the mode changes; otherwise the step is one like others.
The rules are functions of scalars, for single runs and lanes.
"""

from __future__ import annotations

import math

import numpy as np

from runtime.integrate.limit_changes import value_and_slope
from runtime.jit.compilation import inlined

STRETCH = 1.2  # of the next step: it becomes longer by this at most, to end at a change
FARTHEST = 2.0  # of the last step: how far its polynomials are extended
SHORTEST = 1e-4  # of the next step: a change sooner than this is left to the step that passes it
NEWTON = 5  # steps of Newton's method
CLOSE = 1e-7  # [rad] from here on the next one is exact enough
NEARLY = 0.01  # of a step: the time from a change at its end at most
PART = 0.1  # of the tolerance: by which a change that is not at its edge may change rates


@inlined
def may_leave(end, sides, longest):  # type: ignore[no-untyped-def]
    """Whether a coordinate may leave the sides of a limit within a time, by its value, rate and acceleration alone."""
    then = end[0] + longest * (end[1] + 0.5 * longest * end[2])
    return not sides[0] < then < sides[1]


@inlined
def until_edge(cubic, bends, h, end, sides, longest):  # type: ignore[no-untyped-def]
    """Time from the end of a step until its extended quintic polynomial leaves the sides of a limit; inf if it surely does not.

    ``end``: value, rate and acceleration there.  ``longest``: time that is looked ahead.
    """
    (q, rate, acceleration), (low, high) = end, sides
    then = q + longest * (rate + 0.5 * longest * acceleration)
    gap = (low if then <= low else high) - q
    root = rate * rate + 2.0 * acceleration * gap
    if not root > 0.0:
        return np.inf
    until = 2.0 * gap / (rate + math.copysign(math.sqrt(root), gap))
    inverse = 1.0 / h
    for _ in range(NEWTON):
        value, slope, _ = value_and_slope(cubic, bends, 1.0 + until * inverse)
        off = q + gap - value
        until += h * off / slope
        if not (0.0 < until < 2.0 * longest and slope * gap > 0.0):
            return np.inf
        if abs(off) <= CLOSE:
            return until
    return np.inf


@inlined
def is_near(off, outward, acceleration, h):  # type: ignore[no-untyped-def]
    """Whether a step of length h ends near a change: ``off`` [rad] beyond it, at a rate and acceleration outward."""
    return abs(off) <= NEARLY * h * outward and 4.0 * abs(off * acceleration) <= outward * outward
