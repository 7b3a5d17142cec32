"""Powers of metre of rows and parameters, by the dimensions of the parts of a definition."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import sympy as sp

from codegen.compiler.calculus import Expr, Scope
from codegen.compiler.errors import DefinitionWarning

Values = dict[Expr, Expr]
Power = Any  # of metre: a multiple of that of each constant and signal, and a number

NUMERIC_CHECK_DIGITS = 30
POWERS = (0, 1, 2)  # of metre that a constant or a signal may have
SAME = 1e-9


def units_of(scope: Scope, rows: tuple[str, ...], Phi: tuple[Expr, ...]) -> tuple[tuple[int, ...], dict[str, int]]:
    """Powers of metre of rows and parameters.

    Points and centres are lengths, directions and numbers have no unit; a constant or a signal is a number, a length or an area,
    the lowest one that the sums and functions with it allow.  A row that seems to add different units gives a warning.
    """
    names = [*scope.parameters, *scope.signals]
    symbols = [*scope.parameters.values(), *(signal.symbol(0) for signal in scope.signals.values())]
    dimensions = _Dimensions(scope, symbols)
    zeros: list[Power] = []
    chosen = (0,) * len(names)
    powers = []
    for row, phi in zip(rows, Phi, strict=True):
        dimensions.zeros = []
        powers.append(dimensions.power(sp.sympify(phi).xreplace(dict.fromkeys(scope.held, 0))))
        lowest = _lowest([*zeros, *dimensions.zeros], len(names))
        if lowest is None:
            warnings.warn(
                f"definition '{scope.definition}': row '{row}' seems to add quantities of different units; check its terms, "
                "and give a length as an argument, not as a number",
                DefinitionWarning,
                stacklevel=2,
            )
        else:
            zeros, chosen = [*zeros, *dimensions.zeros], lowest
    return tuple(round(power @ (*chosen, 1)) for power in powers), dict(zip(scope.parameters, chosen, strict=False))


class _Dimensions:
    """Dimensional analysis; ``zeros``: the powers that vanish where no sum or function mixes units."""

    def __init__(self, scope: Scope, symbols: list[Expr]) -> None:
        self.zeros: list[Power] = []
        *each, metre = np.eye(len(symbols) + 1)
        self.none = np.zeros(len(symbols) + 1)
        self.known: dict[Expr, Power] = dict(zip(symbols, each, strict=True))
        for m in scope.moving.values():
            power = metre if m.kind in ("centre", "point") else self.none
            if m.kind.startswith("carried"):  # has the unit of the vectors it was made of
                power = next(self.power(c) for c in map(sp.sympify, scope.carried[m.name]) if c.free_symbols)
            self.known |= dict.fromkeys(m.symbols, power)

    def power(self, e: Expr) -> Power:
        """The power of metre of an expression; that of the first term of a sum that is no number."""
        if e.is_Atom:
            return self.known.get(e, self.none)
        powers = [self.power(part) for part in sorted(e.args, key=lambda part: bool(part.is_number)) if part != 0]
        if e.is_Mul:
            return np.sum(powers, axis=0)
        if e.is_Pow and e.exp.is_number:
            return self.power(e.base) * float(e.exp)
        if e.is_Add or isinstance(e, sp.atan2):
            self.zeros += [power - powers[0] for power in powers[1:]]
            return powers[0] if e.is_Add else self.none
        self.zeros += powers
        return self.none


def _lowest(zeros: list[Power], count: int) -> tuple[int, ...] | None:
    """The lowest powers of so many constants and signals for which all ``zeros`` vanish; None if there are none."""
    matrix = np.array(zeros).reshape(-1, count + 1)
    bound = [k for k in range(count) if np.any(matrix[:, k])]
    last = [max(np.flatnonzero(row[:-1]), default=-1) for row in matrix]

    def choices(start: tuple[int, ...], highest: int) -> Iterator[tuple[int, ...]]:
        k = len(start) - 1
        decided = matrix[[place == k for place in last]] if len(matrix) else matrix
        if np.any(np.abs(decided[:, : k + 1] @ start + decided[:, -1]) > SAME):
            return
        if k + 1 == count:
            yield start
            return
        for power in POWERS[: highest + 1] if k + 1 in bound else (0,):
            yield from choices((*start, power), highest)

    for highest in POWERS:
        found = min(choices((), highest), key=lambda powers: (sum(powers), powers), default=None)
        if found is not None:
            return found
    return None


def sample(scope: Scope, attempt: int = 0) -> Values:
    """Pseudo-random values of many digits for every symbol that a row may hold; directions have the length 1.

    Further attempts have constants of other orders of magnitude, so that roots, logarithms and arcs may be real there.
    """
    symbols = [s for m in scope.moving.values() for s in m.symbols]
    symbols += [c.symbol(k) for c in scope.signals.values() for k in range(3)]
    symbols += list(scope.parameters.values()) + list(scope.held)
    values: Values = {
        s: sp.Float((7919 * (k + 1) ** 2 + 104729 * (k + 3)) % 1009 + 11, 50) / 613 for k, s in enumerate(symbols)
    }
    for k, s in enumerate(scope.parameters.values() if attempt else ()):
        values[s] *= sp.Integer(10) ** (attempt * (k + 1) % 5 - 2)
    for m in scope.moving.values():
        if m.kind not in ("centre", "point"):
            length = sp.sqrt(sum(values[s] ** 2 for s in m.symbols))
            values |= {s: values[s] / length for s in m.symbols}
    return values
