"""Shared by limits, contacts and forces: derivatives by velocities, and the test that action equals reaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from codegen.compiler.calculus import BODIES, Expr, Scope, vector
from codegen.compiler.slopes import slope

BALANCE_TOLERANCE = 1e-9


def velocities_of(bodies: Sequence[str]) -> list[Expr]:
    """The components of v and omega of each body, in the order of the rows of D."""
    return [s for body in bodies for part in ("v", "omega") for s in vector(f"{part}_{body}")]


VELOCITIES = velocities_of(BODIES)


def over_velocities(
    expression: Expr, rows: Mapping[Expr, Sequence[Expr]], velocities: Sequence[Expr] = tuple(VELOCITIES)
) -> list[Expr]:
    """Derivatives by v_i, omega_i, v_j, omega_j, directly and through the rates whose rows are given."""
    derivatives = [slope(expression, v) for v in velocities]
    for symbol, row in rows.items():
        derivatives = [a + slope(expression, symbol) * b for a, b in zip(derivatives, row, strict=True)]
    return derivatives


def refuse_unequal_forces(
    scope: Scope, wrench: Sequence[Expr], sample: Callable[[list[Expr]], dict[Expr, float]], more: Sequence[Expr] = ()
) -> NDArray[np.float64]:
    """Refuse forces on two bodies (12,) that do not cancel at the values of ``sample``; returns the values of ``more``."""
    expressions = [*more, *wrench]
    symbols = set().union(*(sp.sympify(e).free_symbols for e in expressions))
    symbols |= {s for m in scope.sums.values() for _, term in m.terms for s in term.symbols}
    values = sample(sorted(symbols, key=str))
    for m in scope.sums.values():
        parts = {s: sp.Float(values.get(s, 0.0)) for term in m.terms for s in term[1].symbols}
        values |= {s: float(e.xreplace(parts)) for s, e in zip(m.symbols, m.derivative_values(0), strict=True)}
    evaluated = np.array(sp.lambdify(list(values), expressions, cse=True)(*values.values()), dtype=float)
    force_i, moment_i, force_j, moment_j = evaluated[len(more) :].reshape(4, 3)
    arms = [np.array([values.get(s, 0.0) for s in vector(f"r_{body}")]) for body in "ij"]
    moment = moment_i + moment_j + np.cross(arms[0], force_i) + np.cross(arms[1], force_j)
    if max(np.abs(force_i + force_j).max(), np.abs(moment).max()) > BALANCE_TOLERANCE * max(
        1.0, np.abs(evaluated).max()
    ):
        raise scope.error(
            "changes when both bodies move together as one rigid body; a force may only use quantities between the bodies"
        )
    return evaluated[: len(more)]
