"""Smooth corners between two lines, of which the curves of Millard et al. (2013) are made: quintic Bezier curves.

A corner leads from a point P0 on one line to a point P1 on another; the lines meet at C.  Its control points are

    P0, M0, M0, M1, M1, P1        M0 = P0 + c (C - P0),  M1 = P1 + c (C - P1)

with the curviness c, 0 < c < 1.  Its value and its first two derivatives are those of the lines at its ends.  Either coordinate
of a point at the parameter u, as a share of the way from P0 to P1, is ``share(u, bend, c)`` with ``bend`` the share of C.
The parameter at a given share has no closed form: ``corner`` stands for it, with derivatives by the implicit function theorem.
A sum of both coordinates, with factors, is such a coordinate too, so that ``corner`` also finds where a curve meets a line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import sympy as sp

from codegen.compiler.calculus import Expr
from codegen.compiler.force_calculus import _OfExpressions, ramp, step
from codegen.compiler.straight import DECORATOR, Lines, to_text

HALLEY_STEPS = 4  # from the first guess to rounding, for every bend and curviness from 0.1 to 0.9


def forms(u: Expr) -> tuple[Expr, Expr, Expr]:
    """Shares at the parameter u of the ways from P0 to C, from C to P1 and, with 1 - c, from P0 to P1; they rise from 0 to 1."""
    return 1 - (1 - u) ** 5, u**5, u**3 * (10 - 15 * u + 6 * u**2)


def ways(start: Expr, meeting: Expr, end: Expr, curviness: Expr) -> tuple[Expr, Expr, Expr]:
    """The ways along one coordinate that belong to ``forms``."""
    return curviness * (meeting - start), curviness * (end - meeting), (1 - curviness) * (end - start)


def point(u: Expr, ways: Sequence[Expr]) -> Expr:
    """How far the parameter u is from the start along one coordinate."""
    return sum(f * w for f, w in zip(forms(u), ways, strict=True))


def area(u: Expr, x: Sequence[Expr], y: Sequence[Expr]) -> Expr:
    """The integral of y over x from the start to the parameter u, y being 0 at the start, from the ways along both."""
    return sum(a * wx * wy for row, wy in zip(_areas(u), y, strict=True) for a, wx in zip(row, x, strict=True))


@cache
def _areas(u: Expr) -> list[list[Expr]]:
    t = sp.Dummy("t")
    over = [[sp.integrate(sp.expand(f * sp.diff(g, t)), t) for g in forms(t)] for f in forms(t)]
    return [[sp.horner(a, wrt=t).xreplace({t: u}) for a in row] for row in over]


def share(u: Expr, bend: Expr, curviness: Expr) -> Expr:
    """The coordinate at the parameter u, from 0 at the start of a corner to 1 at its end."""
    return point(u, ways(0, bend, 1, curviness))


class passed(step):
    """The step between neighbouring corners of a smooth curve, which is no kink."""


class corner(_OfExpressions):  # named as functions are
    """corner(way, bend, curviness) is the parameter u with share(u, bend, curviness) = way, 0 <= way <= 1."""

    nargs = 3
    is_real = True

    @classmethod
    def eval(cls, way: Expr, bend: Expr, curviness: Expr) -> Any:
        """The value for numbers."""
        if all(argument.is_Number for argument in (way, bend, curviness)):
            return sp.Float(_solver()(float(way), float(bend), float(curviness)))
        return None

    def fdiff(self, argindex: int = 1) -> Expr:
        """From share(u, bend, curviness) - way = 0."""
        known = sp.symbols("way bend curviness", real=True)
        u = sp.Symbol("u", real=True)
        misfit = share(u, *known[1:]) - known[0]
        slope = -sp.diff(misfit, known[argindex - 1]) / sp.diff(misfit, u)
        return slope.xreplace({u: self, **dict(zip(known, self.args, strict=True))})


@cache
def corner_kernel() -> Lines:
    """The function of a generated module that ``corner`` is printed as."""
    u, way, bend, c = sp.symbols("u way bend curviness", real=True)
    # From the nearer end, where the share is 5 c bend u + 10 (1 - c) u^3 and less; each term alone gives a u that is too large.
    beyond = step(way - share(sp.Rational(1, 2), bend, c))
    guesses = (way / (10 * (1 - c))) ** sp.Rational(1, 3), way / (5 * c * bend + sp.Float("1e-300"))
    misfit = share(u, bend, c) - way
    first, second = sp.diff(misfit, u), sp.diff(misfit, u, 2)
    halley = u - 2 * misfit * first / (2 * first**2 - misfit * second)
    statements, (value,) = sp.cse([halley], symbols=sp.numbered_symbols("t", real=True), order="canonical")
    return [
        DECORATOR,
        "def corner(way, bend, curviness):",
        '    """Parameter of a smooth corner at a share of the way between its ends."""',
        f"    beyond = {to_text(beyond)}",
        f"    way = {to_text(ramp(way + (1 - 2 * way) * sp.Symbol('beyond', real=True)))}",
        f"    bend = {to_text(bend + (1 - 2 * bend) * sp.Symbol('beyond', real=True))}",
        f"    u = {to_text(_less(*guesses))}",
        f"    u = {to_text(_less(u, sp.Rational(1, 2)))}",
        f"    for _ in range({HALLEY_STEPS}):",
        *(f"        {s} = {to_text(e)}" for s, e in statements),
        f"        u = {to_text(value)}",
        "    return u + (1.0 - 2.0*u)*beyond",
    ]


def _less(a: Expr, b: Expr) -> Expr:
    return a - ramp(a - b)


@cache
def _solver() -> Callable[[float, float, float], float]:
    """The function of ``corner_kernel`` in Python."""
    names: dict[str, Any] = {"math": math}
    exec("\n".join(corner_kernel()[1:]), names)
    solved: Callable[[float, float, float], float] = names["corner"]
    return solved
