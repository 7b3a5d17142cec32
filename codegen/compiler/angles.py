"""Angles that do not wrap: an atan2 of vectors of the bodies goes on beyond half a turn, where its own value jumps.

A kernel adds as many revolutions as bring the value closest to the angle before.  The runtime keeps that one behind the held
constants of a definition: at the start it is the value in the reference configuration, then the angle at the end of the last
accepted step (``runtime.dynamics.angles``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import sympy as sp

from codegen.compiler.calculus import Expr, Scope, as_expression, vector

DOC = "Angles, with the revolutions that bring each closest to the one before"  # of kernels


class revolutions(sp.Function):  # named as functions are
    """revolutions(angle, before): the whole turns [rad] that bring an angle closest to another; constant but for its jumps."""

    nargs = 2
    is_real = True

    @classmethod
    def eval(cls, angle: Expr, before: Expr) -> Any:
        """The value for numbers."""
        if angle.is_Number and before.is_Number:
            return sp.Float(math.tau * round(float(before - angle) / math.tau))
        return None

    def fdiff(self, argindex: int = 1) -> Expr:
        """Zero."""
        return sp.S.Zero


def unwrapped(scope: Scope, expressions: Iterable[Expr]) -> list[Expr]:
    """Expressions whose angles do not wrap; the scope gets the angles, and those before among its held constants.

    Angles that are no functions of the poses alone, or never pass half a turn, are left as they are.
    """
    given = list(map(as_expression, expressions))
    found = set().union(*(e.atoms(sp.atan2) for e in given))
    replaced = {}
    for angle in sorted((angle for angle in found if _wraps(scope, angle)), key=sp.default_sort_key):
        before = sp.Symbol(f"angle_before_{len(scope.angles)}", real=True)
        scope.held[before] = angle
        scope.angles[before] = replaced[angle] = angle + revolutions(angle, before)
    return [e.xreplace(replaced) for e in given]


def wrapped(e: Any) -> Any:
    """An expression, or a matrix of expressions, without the revolutions of its angles."""
    return sp.sympify(e).replace(revolutions, lambda *_: sp.S.Zero)


def _wraps(scope: Scope, angle: Expr) -> bool:
    y, x = angle.args
    poses = {*getattr(scope, "coordinates", ()), *(s for m in scope.moving.values() for s in m.symbols)}
    others = {
        *scope.rates,
        *getattr(scope, "states", ()),
        *(s for body in scope.bodies for s in vector(f"omega_{body}")),
    }
    moving = all(e.free_symbols & poses for e in (y, x)) and not angle.free_symbols & others
    return moving and not y.is_nonnegative
