"""Functions of OpenSim files: constants, polynomials, and the natural cubic spline of SIMM, with derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from scipy.interpolate import CubicSpline, PPoly

from models.files.description import MOST, Floats, one_piece
from models.files.xml_reading import Element, are_finite, finite_numbers, shortened, without_tiny

TAGS = ("Constant", "LinearFunction", "PolynomialFunction", "SimmSpline", "NaturalCubicSpline", "MultiplierFunction")
DEEPEST = 20  # functions in each other

Derivative = Callable[[Any, int], Any]  # argument, a number or an array, and order


@dataclass(frozen=True, eq=False)
class Function:
    """A function of one coordinate: ``value(x, order)`` is its derivative of that order.

    ``line``: slope and offset if it is a straight line, else None.  ``knots`` (n + 1,) and ``coefficients`` (n, 6): its
    polynomials of powers of x - knot, lowest first, if it has such of degree 5 or less.
    """

    value: Derivative
    line: tuple[float, float] | None = None
    knots: Floats | None = None
    coefficients: Floats = field(default_factory=lambda: np.zeros((0, MOST)))

    def times(self, factor: float) -> Function:
        """The function times a constant."""
        line = None if self.line is None else (factor * self.line[0], factor * self.line[1])
        return Function(lambda x, order: factor * self.value(x, order), line, self.knots, factor * self.coefficients)

    def of(self, inner: Function) -> Function:
        """The function of another one; without polynomials where that is no straight line, or a constant."""

        def value(x: Any, order: int) -> Any:
            y, slope = inner.value(x, 0), inner.value(x, 1)
            if order < 2:
                return self.value(y, order) * (slope if order else 1.0)
            return self.value(y, 2) * slope**2 + self.value(y, 1) * inner.value(x, 2)

        if inner.line is None or self.knots is None or inner.line[0] == 0.0:
            return Function(value)
        slope, offset = inner.line
        knots = (self.knots - offset) / slope
        rows = self.coefficients * slope ** np.arange(MOST)
        if slope > 0.0:
            return Function(value, None, knots, rows)
        # About the other end of each piece, in the opposite order.
        moved = [Polynomial(row)(Polynomial([h, 1.0])).coef for row, h in zip(rows, np.diff(knots), strict=True)]
        turned = np.array([np.pad(row, (0, MOST - len(row))) for row in moved[::-1]])
        return Function(value, None, knots[::-1].copy(), turned)


def straight(slope: float, offset: float) -> Function:
    """The straight line of a slope and an offset."""
    return polynomial(np.array([offset, slope]))


def polynomial(coefficients: Floats) -> Function:
    """The polynomial with coefficients from the lowest power up."""
    p = Polynomial(coefficients)
    derivatives = [p, p.deriv(1), p.deriv(2)]
    line = None
    if not p.coef[2:].any():
        line = (float(p.coef[1]) if len(p.coef) > 1 else 0.0, float(p.coef[0]))
    if len(p.coef) > MOST:
        return Function(lambda x, order: derivatives[order](x), line)
    return Function(lambda x, order: derivatives[order](x), line, *one_piece(p.coef.tolist()))


def spline(x: Floats, y: Floats) -> Function:
    """The cubic spline of SIMM through points x, y (n,).

    Its third derivative in the first and the last interval is that of the cubic through the four outer points (Forsythe, Malcolm
    and Moler 1977); through three points its second derivative is constant, through two it is a line.  Beyond the points it goes
    on straight, with the slope of the end.
    """
    if len(x) == 2:
        slope = (y[1] - y[0]) / (x[1] - x[0])
        return straight(float(slope), float(y[0] - slope * x[0]))
    ends = [_third_derivative(x[part], y[part]) for part in (slice(0, 4), slice(-4, None))]
    inner = _with_third_derivatives(x, y, ends)
    pieces = [inner, inner.derivative(1), inner.derivative(2)]

    def value(at: Any, order: int) -> Any:
        inside = np.clip(at, x[0], x[-1])
        found = pieces[order](inside)
        if order == 0:
            return found + pieces[1](inside) * (at - inside)
        return found if order == 1 else np.where(inside == at, found, 0.0)

    rows = np.zeros((len(x) + 1, MOST))
    rows[1:-1, :4] = inner.c[::-1].T
    rows[0, :2] = value(x[0] - 1.0, 0), value(x[0], 1)
    rows[-1, :2] = value(x[-1], 0), value(x[-1], 1)
    return Function(value, None, np.array([x[0] - 1.0, *x, x[-1] + 1.0]), rows)


def _third_derivative(x: Floats, y: Floats) -> float:
    """Third derivative of the cubic through four points; 0 of three points."""
    return 0.0 if len(x) < 4 else float(6.0 * np.linalg.solve(np.vander(x - x[0]), y)[0])


def _with_third_derivatives(x: Floats, y: Floats, ends: list[float]) -> PPoly:
    """The cubic spline whose first and last pieces have given third derivatives."""
    zero = np.zeros_like(y)
    parts = [CubicSpline(x, y, bc_type=((2, 0.0), (2, 0.0)))]
    parts += [CubicSpline(x, zero, bc_type=((2, a), (2, b))) for a, b in ((1.0, 0.0), (0.0, 1.0))]
    thirds = np.array([[6.0 * part.c[0, n] for part in parts] for n in (0, -1)])
    # Three points leave one condition: both ends are then in the same parabola.
    weights = np.linalg.lstsq(thirds[:, 1:], np.array(ends) - thirds[:, 0], rcond=None)[0]
    c = parts[0].c + weights[0] * parts[1].c + weights[1] * parts[2].c
    return PPoly(c, x)


def read_function(element: Element, depth: int = 0) -> Function | None:
    """The function of an element, or None for a kind that is not read.

    Raises
    ------
    ModelError
        With file and line, for numbers that are missing or make no function.
    """
    if element.tag not in TAGS or depth > DEEPEST:
        return None
    if element.tag == "Constant":
        return straight(0.0, float(numbers(element, "value", 1, (0.0,))[0]))
    if element.tag == "LinearFunction":
        slope, offset = numbers(element, "coefficients", 2, (1.0, 0.0)).tolist()
        return straight(slope, offset)
    if element.tag == "PolynomialFunction":
        return polynomial(numbers(element, "coefficients", None)[::-1])
    if element.tag == "MultiplierFunction":
        inner = function_within(element, depth + 1)
        return None if inner is None else inner.times(float(numbers(element, "scale", 1, (1.0,))[0]))
    x, y = numbers(element, "x", None), numbers(element, "y", None)
    if len(x) != len(y) or len(x) < 2 or not (np.diff(x) > 0.0).all():
        raise element.error(
            f"<{element.tag}> has {len(x)} x and {len(y)} y; give as many of both, at least 2, with x that increase"
        )
    if not np.isfinite(1.0 / np.diff(x) ** 3).all():
        raise element.error(f"<{element.tag}> has points {np.diff(x).min():g} apart; lay them further apart")
    return spline(x, y)


def function_within(element: Element, depth: int = 0, holder: str = "function") -> Function | None:
    """The function of an element in another, whether within an element ``holder`` or directly."""
    owner = element.one(holder) or element
    found = [child for child in owner.children if child.tag in TAGS or child.tag.endswith(("Function", "Spline"))]
    if len(found) > 1:
        raise found[1].error(f"<{element.tag}> has a second function; keep one")
    return read_function(found[0], depth) if found else None


def states_function(axis: Element) -> bool:
    """Whether an axis of a joint has a function, of whatever kind."""
    others = ("coordinates", "axis", "is_rotation")
    return any(child.tag not in others for child in (axis.one("function") or axis).children)


def numbers(element: Element, tag: str, count: int | None, default: tuple[float, ...] | None = None) -> Floats:
    """Finite numbers of a child, (count,); of any count if that is None."""
    child = element.one(tag)
    text = "" if child is None else child.text
    if not text.strip() and default is not None:
        return np.array(default)
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.array([np.nan])
    if not len(values) or count is not None and len(values) != count or not are_finite(values):
        raise (child or element).error(
            f'<{element.tag}>: {tag} = "{shortened(text.strip())}"; give {finite_numbers(count)}'
        )
    return without_tiny(values)
