"""Roots of scalar functions in compiled code: Newton's method held in a bracket by bisection."""

from __future__ import annotations

from runtime.jit.compilation import inlined

NEWTON_STEPS, MAX_STEPS = 8, 64  # then bisection, which gains a bit of the root each step
TOLERANCE = 1e-15  # relative move below which the search ends


@inlined
def settled(s, to):  # type: ignore[no-untyped-def]
    """Whether the step from s to ``to`` is within rounding."""
    return abs(to - s) <= TOLERANCE * max(1.0, abs(s))


@inlined
def bracketed_newton(step, s, value, slope, lower, upper):  # type: ignore[no-untyped-def]
    """One step towards the root of a function that is negative at ``lower`` and positive at ``upper``.

    ``value`` and ``slope`` are the function and its derivative at ``s``.  The step is Newton's, or a bisection where Newton's
    step leaves the bracket, where the slope is not positive, and after NEWTON_STEPS steps.  Returns the next s and the new
    bracket.  A caller repeats the step, MAX_STEPS times at most, until ``settled``.
    """
    if value < 0.0:
        lower = s
    else:
        upper = s
    to = s - value / slope if slope > 0.0 else 0.5 * (lower + upper)
    if slope > 0.0 and settled(s, to):
        to = min(max(to, lower), upper)  # the sign of a value of rounding may have put the root outside the bracket
    elif step >= NEWTON_STEPS or not lower <= to <= upper:
        to = 0.5 * (lower + upper)
    return to, lower, upper
