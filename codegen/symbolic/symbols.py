"""Symbols of the data, coordinates and rates of a system, as inputs of an expression graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from codegen.compiler.calculus import AXES, Expr
from codegen.compiler.errors import DefinitionError, shown
from codegen.compiler.recorded_algebra import Matrix, Vector
from codegen.compiler.trace import Node, Record
from codegen.compiler.tree_equations import UPPER
from codegen.symbolic.expressions import exact

NEARLY = 1e-13  # of the size of a vector: a component below it is 0


class SystemSymbols:
    """Makes them, with names of the user's in place of the usual ones.

    Parameters
    ----------
    record : Record
    names : mapping of str to str
        From usual names to others, such as {"m_upper": "m_1"}; also from names of coordinates.
    numbers : bool
        Data are numbers and have no symbols.
    """

    def __init__(self, record: Record, names: Mapping[str, str], *, numbers: bool) -> None:
        self.record, self.names, self.numbers = record, names, numbers
        self.zero = record.constant(0.0)
        self.symbols: dict[str, Expr] = {}  # by the texts of the inputs
        self.parameters: dict[Expr, float] = {}  # values of the symbols of data
        self._usual: set[str] = set()

    def input(self, name: str, also: str = "", stem: str = "", *, positive: bool = False) -> Node:
        """An input with a symbol of a name, or of that which the user gives this name or ``also``.

        ``stem`` follows the first word, such as "dot" in "qdot_knee".
        """
        key = name + stem
        while key in self.symbols:  # of two data with one name, such as a component of one and another one
            name, key = name + "_", key + "_"
        self._usual |= {name, also} - {""}
        first, line, rest = self.names.get(also, self.names.get(name, name)).partition("_")
        self.symbols[key] = sp.Symbol(first + stem + line + rest, real=True, positive=True if positive else None)
        return self.record.input(key)

    def datum(self, name: str, value: float) -> Node:
        """A symbol for a number, or the number itself; 0 has no symbol."""
        if value == 0.0 or self.numbers:
            return self.record.constant(value)
        node = self.input(name, positive=value > 0.0)
        self.parameters[next(reversed(self.symbols.values()))] = float(value)
        return node

    def vector(self, name: str, value: Any, size: float = 0.0) -> Vector:
        """The components of a vector: one that is not 0 alone as a length along the axis, others with a symbol each."""
        size = size or float(np.abs(value).max(initial=0.0))
        parts = [float(x) if abs(x) > NEARLY * size else 0.0 for x in value]
        if len([x for x in parts if x]) == 1:
            length = self.datum(name, abs(sum(parts)))
            return [length * float(np.sign(x)) for x in parts]
        return [self.datum(f"{name}_{axis}", x) for axis, x in zip(AXES, parts, strict=True)]

    def direction(self, name: str, value: Any) -> Vector:
        """The components of a unit vector; 0, 1 and -1 have no symbols."""
        parts = [(axis, float(x), round(x)) for axis, x in zip(AXES, value, strict=True)]
        return [
            self.record.constant(whole) if abs(x - whole) <= NEARLY else self.datum(f"{name}_{axis}", x)
            for axis, x, whole in parts
        ]

    def inertia(self, name: str, value: Any) -> Matrix:
        """The components of a symmetric matrix."""
        size, found = NEARLY * float(np.abs(value).max(initial=0.0)), [[self.zero] * 3 for _ in range(3)]
        for a, b in UPPER:
            x = float(value[a, b])
            found[a][b] = found[b][a] = self.datum(f"{name}_{AXES[a]}{AXES[b]}", x if abs(x) > size else 0.0)
        return found

    def expression(self, node: Node) -> Expr:
        """The symbol of an input, or a number."""
        name, value = self.record.operations[node.index]
        return exact(value) if name == "constant" else self.symbols[value]

    def refuse_unused(self, what: str) -> None:
        """Refuse names for symbols that there are not.

        Raises
        ------
        DefinitionError
        """
        if unknown := [name for name in self.names if name not in self._usual]:
            raise DefinitionError(
                f"{what}: names = {shown(unknown[0])} is neither a coordinate nor a symbol; there are "
                f"{', '.join(sorted(self._usual))}"
            )
