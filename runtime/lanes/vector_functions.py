"""Functions of ``math`` for vectors: sine, cosine, exponential, logarithm, power and inverse tangent without calls.

Errors are a few units in the last place, for angles below 1e5 rad.  Other functions are those of the C library, lane by lane.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from runtime.jit import recorder
from runtime.jit.recorder import Number, Recorded, code_of

# Taylor's series of sine and cosine: up to an eighth of a turn the terms that are left out are below 1e-16.
SINE = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(1, 8))
COSINE = tuple((-1.0) ** k / math.factorial(2 * k) for k in range(1, 9))
QUARTER, REST = 0.5 * math.pi, 6.123233995736766e-17  # of a turn [rad], and by how much the number is too small
WHOLE = 1.5 * 2.0**52  # the sum with it has no digits after the point
# (atan(t) / t - 1) / t^2 in powers of t^2, up to t = tan(pi / 8): a polynomial through Chebyshev's points, error below 1e-17.
TANGENT = (
    -0.3333333333333333, 0.19999999999995516, -0.14285714284665682, 0.11111111015187018, -0.0909090457530649,
    0.07692183125376892, -0.06664510525508936, 0.05858140904866328, -0.050854078345894844, 0.03923044778479309,
    -0.019175404711104935,
)  # fmt: skip
TAN_8 = math.sqrt(2.0) - 1.0
# Series of the logarithm, 2 atanh(s) with s up to (sqrt 2 - 1)^2, and of the exponential up to half of log 2.
LOGARITHM = tuple(2.0 / (2 * k + 1) for k in range(1, 12))
EXPONENTIAL = tuple(1.0 / math.factorial(k) for k in range(2, 15))
LOG_2, LOG_2_REST = 0.6931471803691238, 1.9082149292705877e-10  # the first has 32 bits: multiples of it are exact
SMALLEST, LARGEST = 2.2250738585072014e-308, 1.7976931348623157e308  # of regular numbers
EXPONENT_BITS, BIAS = 52, 1023
BY_LANE = frozenset(
    ("tan", "acos", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "log10", "log2", "log1p", "expm1", "hypot")
)  # fmt: skip


def polynomial(x: Number, coefficients: Sequence[float]) -> Number:
    """A polynomial, lowest power first, by pairs of terms: half of the products wait for no other."""
    if len(coefficients) == 1:
        return coefficients[0]
    pairs = [
        coefficients[k] + x * coefficients[k + 1] if k + 1 < len(coefficients) else coefficients[k]
        for k in range(0, len(coefficients), 2)
    ]
    square, found = x * x, pairs[-1]
    for pair in reversed(pairs[:-1]):
        found = pair + square * found
    return found


def sine_and_cosine(x: Recorded) -> tuple[Recorded, Recorded]:
    """Sine and cosine."""
    code = x.code
    build = code.builder
    sum_ = x * (1.0 / QUARTER) + WHOLE  # its last bits are the number of quarters of a turn
    quarters = sum_ - WHOLE
    r = (x - quarters * QUARTER) - quarters * REST
    z = r * r
    s, c = r + r * z * polynomial(z, SINE), 1.0 + z * polynomial(z, COSINE)
    bits, one, two = code.bits(sum_), code.whole(1), code.whole(2)
    odd = build.icmp_signed("!=", build.and_(bits, one), code.whole(0))
    to_sign = code.whole(62)
    of_sine = build.shl(build.and_(bits, two), to_sign)
    of_cosine = build.shl(build.and_(build.add(bits, one), two), to_sign)
    sine, cosine = code.select(odd, c, s), code.select(odd, s, c)
    return (
        code.of_bits(build.xor(code.bits(sine), of_sine)),
        code.of_bits(build.xor(code.bits(cosine), of_cosine)),
    )


def inverse_tangent(y: Number, x: Number) -> Number:
    """The angle of the point (x, y), as ``math.atan2``."""
    code = code_of(y, x)
    across, along = code.intrinsic("fabs", y), code.intrinsic("fabs", x)
    steep = code.compare(">", across, along)
    small, large = code.select(steep, along, across), code.select(steep, across, along)
    far = code.compare(">", small, TAN_8 * large)
    numerator, denominator = code.select(far, small - large, small), code.select(far, small + large, large)
    none = code.compare("==", denominator, 0.0)
    t = numerator / code.select(none, 1.0, denominator)
    z = t * t
    angle = t + t * z * polynomial(z, TANGENT)
    angle = code.select(far, 0.5 * QUARTER + angle, angle)
    angle = code.select(steep, (QUARTER - angle) + REST, angle)
    below = code.builder.icmp_signed("<", code.bits(x), code.whole(0))  # also -0
    angle = code.select(below, (2.0 * QUARTER - angle) + 2.0 * REST, angle)
    return code.intrinsic("copysign", angle, y)


def exponential(x: Recorded) -> Recorded:
    """The exponential of x between -708 and 709; beyond them the value there."""
    code, build = x.code, x.code.builder
    x = code.select(code.compare("<", x, -708.0), -708.0, x)
    x = code.select(code.compare(">", x, 709.0), 709.0, x)
    sum_ = x * (1.0 / math.log(2.0)) + WHOLE
    powers = sum_ - WHOLE
    r = (x - powers * LOG_2) - powers * LOG_2_REST
    value = 1.0 + (r + r * r * polynomial(r, EXPONENTIAL))
    scale = build.shl(build.add(code.bits(sum_), code.whole(BIAS)), code.whole(EXPONENT_BITS))
    return value * code.of_bits(scale)  # type: ignore[no-any-return]


def logarithm(x: Recorded) -> Recorded:
    """The logarithm of regular numbers above 0."""
    code, build = x.code, x.code.builder
    bits, root_half = code.bits(x), code.bits(math.sqrt(0.5))
    # Powers of 2 such that the rest is between sqrt(1/2) and sqrt(2).
    powers = build.ashr(build.sub(bits, root_half), code.whole(EXPONENT_BITS))
    m = code.of_bits(build.sub(bits, build.shl(powers, code.whole(EXPONENT_BITS))))
    count = Recorded(code, build.sitofp(powers, code.kind))
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    return count * LOG_2 + (2.0 * s + (s * z * polynomial(z, LOGARITHM) + count * LOG_2_REST))  # type: ignore[no-any-return]


def power(x: Number, y: Number) -> Number:
    """The power x^y; where x is not a regular number above 0, that of the C library."""
    code = code_of(x, y)
    x, y = Recorded(code, code.value(x)), Recorded(code, code.value(y))
    regular = code.builder.and_(code.compare(">=", x, SMALLEST), code.compare("<=", x, LARGEST))
    by = y * logarithm(code.select(regular, x, 1.0))
    in_range = code.compare("<", abs(by), 708.0)
    rest = code.builder.not_(code.builder.and_(regular, in_range))
    return code.of_library_where(rest, exponential(by), "pow", x, y)


class Functions(recorder.Functions):
    """The functions of ``math``; sine and cosine of a number are computed together, once."""

    def __init__(self) -> None:
        self._turned: dict[int, tuple[Recorded, tuple[Number, Number]]] = {}

    def called(self, name: str, *numbers: Number) -> Number:
        """A function of numbers."""
        if name not in ("sin", "cos") or (code := code_of(*numbers)) is None:
            return super().called(name, *numbers)
        (x,) = numbers
        if id(x.value) not in self._turned:
            self._turned[id(x.value)] = x, code.sine_and_cosine(x)
        return self._turned[id(x.value)][1][name == "cos"]


def _exp(x: Recorded) -> Number:
    code = x.code
    rest = code.builder.not_(code.compare("<", abs(x), 708.0))
    return code.of_library_where(rest, exponential(x), "exp", x)


def _log(x: Recorded) -> Number:
    code = x.code
    regular = code.builder.and_(code.compare(">=", x, SMALLEST), code.compare("<=", x, LARGEST))
    return code.of_library_where(code.builder.not_(regular), logarithm(code.select(regular, x, 1.0)), "log", x)


def _intrinsic(name: str, *numbers: Number) -> Number:
    return code_of(*numbers).intrinsic(name, *numbers)


OF_VECTORS: dict[str, Callable[..., Any]] = {
    **{name: partial(_intrinsic, name) for name in ("sqrt", "fabs", "copysign")},
    "atan": lambda x: inverse_tangent(x, 1.0),
    "atan2": inverse_tangent,
    "asin": lambda x: inverse_tangent(x, x.code.intrinsic("sqrt", (1.0 - x) * (1.0 + x))),
    "exp": _exp,
    "log": _log,
    "pow": power,
}
KNOWN = frozenset(("math", "sin", "cos", "min", *OF_VECTORS, *BY_LANE))  # names that code of kernels may use
