"""Smooth curves through measured points, as functions of SymPy with derivatives.

A curve is the natural cubic spline through its points, continued by its tangents: twice continuously differentiable everywhere.
In forces and muscles its knots are kinks, at which steps end: without, dop853 was off by 7000 tolerances of 1e-10.

Kernels first select the numbers of the piece in which x is, by sums in which all terms but one are 0: a value has the rounding
of one cubic polynomial.  Sums of powers of ramps from each point on would cancel: with 50 random points they lose nine digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import new_class
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from codegen.compiler.calculus import Expr
from codegen.compiler.errors import DefinitionError, shown
from codegen.compiler.force_calculus import ORDERS, _OfExpressions
from codegen.compiler.text import digest

Array = NDArray[np.float64]
FAR = 1e300  # bound of the first and of the last piece, which are lines


@dataclass(frozen=True, init=False)
class Curve:
    """A smooth curve through points, for own laws and forces: the natural cubic spline, continued by its tangents.

    ``curve(x)`` is its value, ``curve.integral(x)`` its integral from the first point to x.  A law of a limit, which returns its
    work, takes the integral; two points give a line.

    Parameters
    ----------
    points : array_like (n, 2)
        Two or more, argument and value each, arguments increasing.

    Raises
    ------
    DefinitionError
        Naming the point that breaks a rule.
    """

    points: tuple[tuple[float, float], ...]

    def __init__(self, points: ArrayLike) -> None:
        object.__setattr__(self, "points", tuple(map(tuple, _checked(points).tolist())))

    def __call__(self, x: Expr) -> Expr:
        """The value at x."""
        return _function(self.points, 0)(x)

    def integral(self, x: Expr) -> Expr:
        """The integral from the first point to x."""
        return _function(self.points, -1)(x)


class piece(_OfExpressions):  # named as functions are
    """piece(x, lower, upper) is 1 where lower < x <= upper, else 0; itself treated as constant."""

    nargs = 3
    is_real = True

    def fdiff(self, argindex: int = 1) -> Expr:
        """Zero."""
        return sp.S.Zero


class curve(_OfExpressions):
    """A derivative of a curve at x; of each curve and order there is a class."""

    nargs = 1
    is_real = True
    points: tuple[tuple[float, float], ...]
    order: int

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """The value for a number."""
        return sp.Float(float(cls._imp_(float(x)))) if x.is_Number else None

    @classmethod
    def _imp_(cls, x: ArrayLike) -> Any:
        """Values at numbers, for ``sympy.lambdify``."""
        knots, derivatives = _pieces(cls.points)
        starts, *values = derivatives[:, np.searchsorted(knots, x)]
        return _taylor(np.asarray(x) - starts, values[cls.order - ORDERS[0] :])

    def fdiff(self, argindex: int = 1) -> Expr:
        """The next derivative."""
        if self.order == ORDERS[-1]:
            raise DefinitionError(
                "a curve through points whose second derivative decides a force has no Jacobian; use its value or its integral"
            )
        return _function(self.points, self.order + 1)(*self.args)

    def written(self) -> Expr:
        """The same by selected numbers of a piece."""
        (x,), (knots, derivatives) = self.args, _pieces(self.points)
        bounds = [_exact(bound) for bound in (-FAR, *knots, FAR)]
        chosen = [piece(x, *between) for between in zip(bounds, bounds[1:], strict=False)]
        start, *values = (
            sp.Add(*(_exact(value) * one for value, one in zip(row, chosen, strict=True))) for row in derivatives
        )
        return _taylor(x - start, values[self.order - ORDERS[0] :])


def written(expression: Expr) -> Expr:
    """An expression with its curves by selected numbers of their pieces."""
    while found := expression.atoms(curve):
        expression = expression.xreplace({one: one.written() for one in found})
    return expression


def knots_in(expression: Expr) -> set[Expr]:
    """Expressions that are 0 at the knots of curves, where the third derivative jumps."""
    return {one.args[0] - _exact(x) for one in expression.atoms(curve) for x, _ in one.points}


@cache
def _function(points: tuple[tuple[float, float], ...], order: int) -> type[curve]:
    """The function of a curve; its name is that of its points, by which SymPy sorts."""
    name = f"curve_{digest(repr(points))[:16]}_{ORDERS.index(order)}"
    return new_class(name, (curve,), exec_body=lambda body: body.update(points=points, order=order))


def _checked(points: ArrayLike) -> Array:
    try:
        given = np.array(points, dtype=float)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.ndim != 2 or given.shape[1] != 2 or len(given) < 2:
        raise DefinitionError(
            f"Curve: points = {shown(points)}; give two or more points (n, 2), argument and value each"
        )
    if not np.isfinite(given).all():
        bad = int(np.argmin(np.isfinite(given).all(axis=1)))
        raise DefinitionError(f"Curve: points[{bad}] = {shown(given[bad].tolist())} is not finite; leave it out")
    if not (rising := np.diff(given[:, 0]) > 0.0).all():
        bad = int(np.argmin(rising)) + 1
        raise DefinitionError(
            f"Curve: points[{bad}, 0] = {given[bad, 0]:g} is not above the one before; sort the points"
        )
    return given


@cache
def _pieces(points: tuple[tuple[float, float], ...]) -> tuple[Array, Array]:
    """Knots (n,); of each piece (n + 1,) its start, and there the integral, the value and the first three derivatives."""
    x, y = np.array(points).T
    h, bends = np.diff(x), np.zeros(len(x))
    rises = np.diff(y) / h
    if len(x) > 2:
        matrix = np.diag(2.0 * (h[:-1] + h[1:])) + np.diag(h[1:-1], 1) + np.diag(h[1:-1], -1)
        bends[1:-1] = np.linalg.solve(matrix, 6.0 * np.diff(rises))
    jerks = np.diff(bends) / h
    slopes = rises - h * (2.0 * bends[:-1] + bends[1:]) / 6.0
    last = rises[-1] + h[-1] * (bends[-2] + 2.0 * bends[-1]) / 6.0
    areas = h * (y[:-1] + y[1:]) / 2.0 - h**3 * (bends[:-1] + bends[1:]) / 24.0
    before, after = [x[0], 0.0, y[0], slopes[0], 0.0, 0.0], [x[-1], areas.sum(), y[-1], last, 0.0, 0.0]
    inside = np.array([x[:-1], np.cumsum(areas) - areas, y[:-1], slopes, bends[:-1], jerks])
    return x, np.column_stack([before, inside, after])


def _taylor(x: Any, derivatives: Sequence[Any]) -> Any:
    """A polynomial from its derivatives at 0."""
    value = derivatives[-1]
    for k in range(len(derivatives) - 1, 0, -1):
        value = derivatives[k - 1] + x * value / k
    return value


def _exact(number: float) -> Expr:
    """A number with all its digits in the text of a kernel."""
    return sp.Float(repr(float(number)), 17)
