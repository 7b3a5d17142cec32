"""Where in a step a limit of a coordinate changes its mode, by quintic polynomials of the coordinate.

The value, rate and acceleration of the coordinate at both ends of a step are known, so that a change is located without the
stages of the dense output.  The result lies a little beyond the change, by more than the error of the polynomial: a step that
ends short of it would be followed by a short one.  The restricting moment begins with the square of the excess, and ends so at
its largest value: there the moments of both modes are still equal.
"""

from __future__ import annotations

from runtime.dynamics.limit_modes import beyond_sides
from runtime.jit.compilation import inlined

ON_RIDGE = 1e-13  # [rad] as ON_SIDE, where the moment jumps
ON_SIDE = 1e-9  # [rad] within this distance a direction is on its cone: the moment is below 1e-13 of its maximum
# Of the difference to the cubic polynomial: more than the error of the quintic one at tolerances below 1e-6.
SHARE = 0.02
MAX_STEPS = 40  # of Newton's method, or halvings


@inlined
def cubic_of(q, q_end, rate, rate_end, h):  # type: ignore[no-untyped-def]
    """Coefficients of the cubic polynomial of a coordinate in a step of length h."""
    first, last, rise = h * rate, h * rate_end, q_end - q
    return q, first, 3.0 * rise - 2.0 * first - last, first + last - 2.0 * rise


@inlined
def bends_of(cubic, acceleration, acceleration_end, h):  # type: ignore[no-untyped-def]
    """Factors of x^2 (1 - x)^2, and of x more, in the difference of the quintic polynomial to the cubic one."""
    at_begin = 0.5 * h * h * acceleration - cubic[2]
    return at_begin, 0.5 * h * h * acceleration_end - cubic[2] - 3.0 * cubic[3] - at_begin


@inlined
def value_and_slope(cubic, bends, x):  # type: ignore[no-untyped-def]
    """Value of a coordinate by its quintic polynomial at a fraction x of a step, slope over x, part beyond the cubic one."""
    (c0, c1, c2, c3), (bend, tilt), both = cubic, bends, x * (1.0 - x)
    share = bend + x * tilt
    more = both * both * share
    slope = c1 + x * (2.0 * c2 + 3.0 * x * c3) + both * (2.0 * (1.0 - 2.0 * x) * share + both * tilt)
    return c0 + x * (c1 + x * (c2 + x * c3)) + more, slope, more


@inlined
def passes(cubic, bends, sides, lower, upper, sharp):  # type: ignore[no-untyped-def]
    """Fraction of a step, between two, at which a coordinate leaves the sides of a limit; ``upper`` if it does not surely.

    ``sharp``: at the ridge, where the end is to be exact, as the moment jumps.
    """
    x = upper
    for _ in range(MAX_STEPS):
        q, slope, more = value_and_slope(cubic, bends, x)
        out = beyond_sides(q, sides)
        wanted = ON_RIDGE if sharp else ON_SIDE + SHARE * abs(more)
        if abs(out - wanted) <= 0.5 * wanted:
            return x
        if out > wanted:
            upper = x
        else:
            lower = x
        slope = slope if out == q - sides[1] else -slope
        x = x + (wanted - out) / slope
        if not lower < x < upper:
            x = 0.5 * (lower + upper)
    return upper
