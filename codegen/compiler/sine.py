"""Cosine and sine of a node by arithmetic alone: without a call of a library, and side by side in vector instructions.

Of an angle in turns the nearest whole number is taken away; a quarter of the rest goes into polynomials that interpolate at
Chebyshev's points, and the formulas for the double angle follow twice.  Errors are below 3e-15, and for large angles as large as
the rounding of the angle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import sympy as sp

from codegen.compiler.trace import Node

Trigonometry = Callable[[Node], tuple[Node, Node]]  # cosine and sine
HALVINGS, DEGREE, DIGITS = 2, 6, 40
ROUNDING = 1.5 * 2.0**52  # the sum with it has no digits after the point


def cosine_and_sine(x: Node) -> tuple[Node, Node]:
    """Nodes of cos x and sin x."""
    cosine, sine = _coefficients()
    turns = x * (0.5 / math.pi)
    part = turns - ((turns + ROUNDING) - ROUNDING)
    z = part * part
    c, s = _polynomial(cosine, z), part * _polynomial(sine, z)
    for _ in range(HALVINGS):
        twice = s + s
        c, s = 1.0 - twice * s, twice * c
    return c, s


def _polynomial(c: Sequence[float], z: Node) -> Any:
    """The value of a polynomial, in few operations after each other (Estrin)."""
    terms: list[Any] = list(c)
    power = z
    while len(terms) > 1:
        pairs = [terms[k] + power * terms[k + 1] for k in range(0, len(terms) - 1, 2)]
        terms = pairs + terms[len(terms) - len(terms) % 2 :]
        power = power * power
    return terms[0]


@cache
def _coefficients() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Of cos(w f) and of sin(w f) / f in f^2, for the angle w of a whole turn as many times halved, f up to 1/2."""
    w = 2 * sp.pi / 2**HALVINGS
    return _interpolated(lambda f: sp.cos(w * f)), _interpolated(lambda f: sp.sin(w * f) / f)


def _interpolated(function: Callable[[Any], Any]) -> tuple[float, ...]:
    """Coefficients of the polynomial in f^2 that meets a function of f at Chebyshev's points between 0 and 1/4."""
    n = DEGREE + 1
    squares = [(1 + sp.cos(sp.pi * (2 * k + 1) / (2 * n)).evalf(DIGITS)) / 8 for k in range(n)]
    powers = sp.Matrix([[square**m for m in range(n)] for square in squares])
    values = sp.Matrix([function(sp.sqrt(square)).evalf(DIGITS) for square in squares])
    return tuple(float(c) for c in powers.LUsolve(values))
