"""Derivatives of the rows of a joint over its data: points, directions and constants, as the definition takes them.

A point moves by a translation; a direction moves by a turn, which its triad follows.  The data have a second way into the rows:
carried vectors and held constants are computed from them in the reference configuration.  Therefore there are two kernels:

    data_slopes        derivatives of Phi, now, over the data and over carried vectors and held constants
    reference_slopes   derivatives of carried vectors and held constants, in the reference configuration, over the data

All components are global.  Columns of the data: the keywords in their order, three of a point or direction, one of a constant.
"""

from __future__ import annotations

import sympy as sp

from codegen.compiler.calculus import Expr, Moving, Scope, Vector
from codegen.compiler.slopes import slope
from codegen.compiler.straight import Targets

UNIT = (Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1))
Changes = dict[Expr, Expr]  # of symbols


def slopes_of_rows(scope: Scope, Phi: tuple[Expr, ...]) -> Targets:
    """Entries of ``slopes`` (rows, columns): of the data, of the components of carried vectors, of held constants."""
    parts = scope.spelt_out()
    derived: list[Changes] = [{s: sp.S.One} for name in scope.carried for s in scope.moving[name].symbols]
    derived += [{s: sp.S.One} for s in scope.held]
    return _entries([sp.sympify(phi).xreplace(parts) for phi in Phi], [*_of_data(scope), *derived])


def slopes_of_reference(scope: Scope) -> Targets:
    """Entries of ``slopes`` (components of carried vectors and held constants, columns): of the data."""
    parts, carried = scope.spelt_out(), [sp.sympify(e) for v in scope.carried.values() for e in v]
    symbols = [s for name in scope.carried for s in scope.moving[name].symbols]
    changes = [c | {s: _slope(e, c) for s, e in zip(symbols, carried, strict=True)} for c in _of_data(scope)]
    return _entries([*carried, *(sp.sympify(e).xreplace(parts) for e in scope.held.values())], changes)


def _of_data(scope: Scope) -> list[Changes]:
    """For each component of the data, the changes of the symbols that it moves."""
    given = [m for m in scope.moving.values() if m.kind in ("point", "direction")]
    vectors = [_moved(scope, m, axis) for m in given for axis in UNIT]
    return vectors + [{symbol: sp.S.One} for symbol in scope.parameters.values()]


def _moved(scope: Scope, m: Moving, axis: Vector) -> Changes:
    """Changes of a point that moves along an axis, or of a direction and its triad that turn about it."""
    if m.kind == "point":
        return dict(zip(m.symbols, axis, strict=True))
    triad = [other for other in scope.moving.values() if other is m or other.kind.endswith(f":{m.name}")]
    pairs = [(other.symbols, axis.cross(Vector(*other.symbols))) for other in triad]
    return {s: change for symbols, turn in pairs for s, change in zip(symbols, turn, strict=True)}


def _entries(expressions: list[Expr], columns: list[Changes]) -> Targets:
    return [
        (f"slopes[{r}, {c}]", _slope(e, column)) for r, e in enumerate(expressions) for c, column in enumerate(columns)
    ]


def _slope(expression: Expr, changes: Changes) -> Expr:
    used = sorted(expression.free_symbols & changes.keys(), key=str)
    return sp.sympify(sum((slope(expression, s) * changes[s] for s in used), sp.S.Zero))
