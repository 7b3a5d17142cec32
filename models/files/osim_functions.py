"""Functions of OpenSim files, with derivatives: polynomials, also of several coordinates, sines, steps, cubic splines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from math import comb, pi
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from models.files.description import MOST, Floats, one_piece
from runtime import ModelError, SumOfProducts
from runtime.support import Element, are_finite, finite_numbers, plain_numbers, shortened, without_tiny

SPLINES = ("SimmSpline", "NaturalCubicSpline", "natCubicSpline")
TAGS = (
    "Constant", "LinearFunction", "PolynomialFunction", "MultivariatePolynomialFunction", "Sine", "StepFunction",
    "MultiplierFunction", *SPLINES,
)  # fmt: skip
# Functions of OpenSim that are not read, and why.
UNREAD = {
    "PiecewiseLinearFunction": "its slope jumps, and with it velocities; give a SimmSpline",
    "PiecewiseConstantFunction": "it jumps; give a SimmSpline",
    "GCVSpline": "it need not go through its points; give a SimmSpline",
}
MOST_TERMS = 1000
DEEPEST = 20  # functions in each other

Derivative = Callable[[Any, int], Any]  # argument, a number or an array, and order


@dataclass(frozen=True, eq=False)
class Function:
    """A function of coordinates: ``value(x, order)`` is its derivative of that order, if it is of one.

    ``line``: slope and offset if it is a straight line, else None.  ``knots`` (n + 1,) and ``coefficients`` (n, 6): its
    polynomials of powers of x - knot, lowest first, if it has such of degree 5 or less.  ``products``: itself, if it has none.
    """

    value: Derivative
    line: tuple[float, float] | None = None
    knots: Floats | None = None
    coefficients: Floats = field(default_factory=lambda: np.zeros((0, MOST)))
    products: SumOfProducts | None = None

    def derivatives(self, *x: Any) -> tuple[Floats, Floats, Floats]:
        """Value (...), slopes (..., coordinates), curvatures (..., coordinates, coordinates) at coordinates (...) each."""
        if self.products is not None:
            return self.products.derivatives(*x)
        shape = np.shape(x[0])
        found = [np.broadcast_to(self.value(x[0], order), shape) for order in range(3)]
        return found[0], found[1][..., None], found[2][..., None, None]

    def times(self, factor: float) -> Function:
        """The function times a constant."""
        if self.products is not None:
            return products(replace(self.products, coefficients=factor * np.asarray(self.products.coefficients)))
        line = None if self.line is None else (factor * self.line[0], factor * self.line[1])
        return Function(lambda x, order: factor * self.value(x, order), line, self.knots, factor * self.coefficients)

    def of(self, inner: Function) -> Function:
        """The function of another one; without polynomials where that is no straight line, or a constant."""

        def value(x: Any, order: int) -> Any:
            y, slope = inner.value(x, 0), inner.value(x, 1)
            if order < 2:
                return self.value(y, order) * (slope if order else 1.0)
            return self.value(y, 2) * slope**2 + self.value(y, 1) * inner.value(x, 2)

        if inner.line is None or inner.line[0] == 0.0:
            return Function(value)
        slope, offset = inner.line
        if self.products is not None:
            return products(self.products.of_line(slope, offset))
        if self.knots is None:
            return Function(value)
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
        return products(SumOfProducts(p.coef, np.arange(len(p.coef), dtype=float)[:, None]))
    return Function(lambda x, order: derivatives[order](x), line, *one_piece(p.coef.tolist()))


def products(law: SumOfProducts) -> Function:
    """The function of one or several coordinates that a sum of products is."""

    def value(x: Any, order: int) -> Any:
        return np.reshape(law.derivatives(x)[order], np.shape(x))

    return Function(value, products=law)


def smooth_step(begin: float, end: float, low: float, high: float) -> Function:
    """The polynomial of degree 5 that leads from one value to another without slope and curvature at its ends (SimTK)."""
    rows = np.zeros((3, MOST))
    rows[:, 0] = low, low, high
    rows[1, 3:] = (high - low) * np.array([10.0, -15.0, 6.0]) / (end - begin) ** np.arange(3, 6)
    knots = np.array([begin - 1.0, begin, end, end + 1.0])
    from scipy.interpolate import PPoly  # here because the import takes a fifth of a second

    pieces = PPoly(rows[:, ::-1].T, knots)
    return Function(lambda x, order: pieces(x, order), None, knots, rows)


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


def _with_third_derivatives(x: Floats, y: Floats, ends: list[float]) -> Any:
    """The cubic spline whose first and last pieces have given third derivatives."""
    from scipy.interpolate import CubicSpline, PPoly  # as above

    zero = np.zeros_like(y)
    parts = [CubicSpline(x, y, bc_type=((2, 0.0), (2, 0.0)))]
    parts += [CubicSpline(x, zero, bc_type=((2, a), (2, b))) for a, b in ((1.0, 0.0), (0.0, 1.0))]
    thirds = np.array([[6.0 * part.c[0, n] for part in parts] for n in (0, -1)])
    # Three points leave one condition: both ends are then in the same parabola.
    weights = np.linalg.lstsq(thirds[:, 1:], np.array(ends) - thirds[:, 0], rcond=None)[0]
    c = parts[0].c + weights[0] * parts[1].c + weights[1] * parts[2].c
    return PPoly(c, x)


def read_function(element: Element, count: int = 1, depth: int = 0) -> Function | None:
    """The function of an element, of so many coordinates, or None for a kind that is not read.

    Raises
    ------
    ModelError
        With file and line, for numbers that are missing or make no function.
    """
    if element.tag in UNREAD:
        raise element.error(f"<{element.tag}> is not read: {UNREAD[element.tag]}")
    if element.tag not in TAGS or depth > DEEPEST:
        return None
    if element.tag == "MultiplierFunction":
        inner = function_within(element, count, depth + 1)
        return None if inner is None else inner.times(float(numbers(element, "scale", 1, (1.0,))[0]))
    if element.tag == "Constant" and count == 1:
        return straight(0.0, float(numbers(element, "value", 1, (0.0,))[0]))
    try:
        return _of_several(element, count) if count > 1 else _of_one(element)
    except ModelError as error:
        if str(error).startswith(element.file.name):
            raise
        raise element.error(f"<{element.tag}>: {error}") from None


def _of_one(element: Element) -> Function | None:
    """The function of one coordinate."""
    if element.tag == "LinearFunction":
        slope, offset = numbers(element, "coefficients", 2, (1.0, 0.0)).tolist()
        return straight(slope, offset)
    if element.tag == "PolynomialFunction":
        return polynomial(_few(element, numbers(element, "coefficients", None))[::-1])
    if element.tag == "MultivariatePolynomialFunction":
        return _of_several(element, 1)
    if element.tag == "Sine":
        size, omega, phase, offset = (
            float(numbers(element, tag, 1, (usual,))[0])
            for tag, usual in (("amplitude", 1.0), ("omega", 1.0), ("phase", 0.0), ("offset", 0.0))
        )
        return products(SumOfProducts([size, offset], [[0], [0]], [[omega], [0.0]], [[phase], [pi / 2.0]]))
    if element.tag == "StepFunction":
        begin, end = (float(numbers(element, f"transition_{of}_time", 1)[0]) for of in ("start", "end"))
        if not end - begin > 1e-9:
            raise element.error(
                f"<{element.tag}> ends at {end:g}, begins at {begin:g}; let it end later, by 1e-9 or more"
            )
        return smooth_step(begin, end, *(float(numbers(element, f"{of}_value", 1)[0]) for of in ("start", "end")))
    x, y = numbers(element, "x", None), numbers(element, "y", None)
    if len(x) != len(y) or len(x) < 2 or not (np.diff(x) > 0.0).all():
        raise element.error(
            f"<{element.tag}> has {len(x)} x and {len(y)} y; give as many of both, at least 2, with x that increase"
        )
    if not np.isfinite(1.0 / np.diff(x) ** 3).all():
        raise element.error(f"<{element.tag}> has points {np.diff(x).min():g} apart; lay them further apart")
    return spline(x, y)


def _of_several(element: Element, count: int) -> Function | None:
    """The function of several coordinates: linear, or a polynomial with powers up to a sum, the last one's rising first."""
    if count > SumOfProducts.max_coordinates:
        raise element.error(f"<{element.tag}> of {count} coordinates, limit {SumOfProducts.max_coordinates}; use fewer")
    if element.tag == "Constant":
        return products(SumOfProducts(numbers(element, "value", 1, (0.0,)), np.zeros((1, count))))
    if element.tag == "LinearFunction":
        coefficients = numbers(element, "coefficients", count + 1)
        return products(SumOfProducts(coefficients, np.vstack([np.eye(count), np.zeros((1, count))])))
    if element.tag != "MultivariatePolynomialFunction":
        return None
    dimension, order = (numbers(element, tag, 1)[0] for tag in ("dimension", "order"))
    coefficients = _few(element, numbers(element, "coefficients", None))
    if dimension != count or not (0 <= order <= SumOfProducts.max_power and order == round(order)):
        raise element.error(
            f"<{element.tag}>: dimension {dimension:g}, order {order:g}; give {count} and 0 to {SumOfProducts.max_power}"
        )
    if comb(count + int(order), count) != len(coefficients):
        wanted = comb(count + int(order), count)
        raise element.error(
            f"<{element.tag}> has {len(coefficients)} coefficients; give {wanted}, one for each product"
        )
    every = product(range(int(order) + 1), repeat=count)
    powers = [of for of in every if sum(of) <= order]
    return products(SumOfProducts(coefficients, np.array(powers, float)))


def _few(element: Element, coefficients: Floats) -> Floats:
    """Coefficients, no more than can be evaluated."""
    most = SumOfProducts.max_power + 1 if element.tag == "PolynomialFunction" else MOST_TERMS
    if len(coefficients) > most:
        raise element.error(f"<{element.tag}> has {len(coefficients)} coefficients, limit {most}; give fewer")
    return coefficients


def function_within(element: Element, count: int = 1, depth: int = 0, holder: str = "function") -> Function | None:
    """The function of an element in another, of so many coordinates, whether within an element ``holder`` or directly."""
    owner = element.one(holder) or element
    found = [child for child in owner.children if child.tag in TAGS or child.tag.endswith(("Function", "Spline"))]
    if len(found) > 1:
        raise found[1].error(f"<{element.tag}> has a second function; keep one")
    return read_function(found[0], count, depth) if found else None


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
        values = plain_numbers(text.split())
    except ValueError:
        values = np.array([np.nan])
    if not len(values) or count is not None and len(values) != count or not are_finite(values):
        raise (child or element).error(
            f'<{element.tag}>: {tag} = "{shortened(text.strip())}"; give {finite_numbers(count)}'
        )
    return without_tiny(values)
