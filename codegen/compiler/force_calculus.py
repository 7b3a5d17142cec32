"""What the definition of a force may use beside the calculus of joints: coordinates, tables, and functions with a kink."""

from __future__ import annotations

import re
from typing import Any

import sympy as sp

from codegen.compiler import calculus
from codegen.compiler.calculus import Expr, Moving, Named, Scope, Vector, as_expression, vector
from codegen.compiler.errors import DefinitionError

OPERATORS = ("coordinate", "along", "normal_load", "state")
SEARCHED = ("stationary", "constant")  # of spans
REACTION = ("reaction_force", "reaction_moment")  # vectors of the joint that a force belongs to
LEAST = sp.Float("1e-24")  # below the square of every load or slip that matters: keeps the slope of a size finite at 0
TABLE = re.compile(r"\w+_table")
ORDERS = (-1, 0, 1, 2)  # of the derivatives of a table that the runtime supplies; -1: its integral
ENTRIES = len(ORDERS)  # places of a table's value in ``x``


class _OfExpressions(sp.Function):
    """A function whose arguments are expressions, not texts."""

    def __new__(cls, *arguments: object, **how: Any) -> Any:
        return super().__new__(cls, *map(as_expression, arguments), **how)


class ramp(_OfExpressions):  # named as functions are
    """The positive part: ramp(x) is x where x > 0, else 0; ramp(x, n) its power, 0 where x <= 0 for every n."""

    nargs = (1, 2)
    is_real = True
    is_nonnegative = True

    @classmethod
    def eval(cls, x: Expr, n: Expr = sp.S.One) -> Any:
        """The value for numbers."""
        if x.is_Number and n.is_Number:
            return x**n if x > 0 else sp.S.Zero
        return None

    def _eval_power(self, exponent: Expr) -> Any:
        """A power of a ramp is a ramp, whose derivatives are finite where it is zero."""
        x, *n = self.args
        return None if n or exponent.is_negative else ramp(x, exponent)

    def fdiff(self, argindex: int = 1) -> Expr:
        """The step, or a lower power."""
        x, *n = self.args
        if argindex != 1:
            raise DefinitionError("the exponent of a ramp must be constant")
        return n[0] * ramp(x, n[0] - 1) if n and n[0] != 1 else step(x)


class step(_OfExpressions):
    """1 where x > 0, else 0: the derivative of ``ramp``, itself treated as constant."""

    nargs = 1
    is_real = True
    is_nonnegative = True

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """The value for a number."""
        return sp.Integer(int(bool(x > 0))) if x.is_Number else None

    def fdiff(self, argindex: int = 1) -> Expr:
        """Zero."""
        return sp.S.Zero


class table(sp.Function):
    """table(k, order, x): a derivative of the curve of call k of a table at x."""

    nargs = 3
    is_real = True

    def fdiff(self, argindex: int = 3) -> Expr:
        """The next derivative."""
        k, order, x = self.args
        if argindex != 3 or order + 1 > max(ORDERS):
            raise DefinitionError(
                "a table whose second derivative decides a force has no Jacobian; use its value or its integral"
            )
        return table(k, order + 1, x)


class Table:
    """A smooth curve through points that the user of a force gives: called in the definition with its argument."""

    def __init__(self, scope: ForceScope, name: str) -> None:
        self.scope, self.name = scope, name

    def __call__(self, x: Expr) -> Expr:
        """The curve at x."""
        return self._at(x, 0)

    def integral(self, x: Expr) -> Expr:
        """The integral of the curve from its first point to x."""
        return self._at(x, -1)

    def _at(self, x: Expr, order: int) -> Expr:
        x = as_expression(x)
        if x.atoms(table):
            raise self.scope.error(f"{self.name}({x}) looks up what another table gave; use one table for both")
        calls = self.scope.lookups
        if (self.name, x) not in calls:
            calls.append((self.name, x))
        return table(calls.index((self.name, x)), order, x)


class still(_OfExpressions):
    """A value whose changes have no effect."""

    nargs = 1
    is_real = True

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """The value for a number."""
        return x if x.is_Number else None

    def fdiff(self, argindex: int = 1) -> Expr:
        """Zero."""
        return sp.S.Zero


def size(x: Any) -> Expr:
    """The length of a vector, or the magnitude of a scalar, with a finite slope at 0; wrong by 1e-12 there."""
    return sp.sqrt((x.dot(x) if isinstance(x, Vector) else x**2) + LEAST)


class ForceScope(Scope):
    """Everything that occurs in the definition of a force."""

    bodies = ("i", "j", "k", "l")

    def __init__(self, definition: str) -> None:
        super().__init__(definition, velocities=True)
        self.coordinates: dict[Expr, Expr] = {}  # symbol -> its expression
        self.alongs: dict[Expr, Expr] = {}  # symbol of the force along a coordinate -> the coordinate
        self.tables: list[str] = []
        self.lookups: list[tuple[str, Expr]] = []  # name and argument of each call of a table
        self.loads: dict[Expr, Expr] = {}  # symbol of a normal load -> its expression in terms of the reaction
        self.states: dict[Expr, Expr] = {}  # symbol of a state -> its initial value
        self.state_rates: dict[Expr, Expr] = {}  # symbol of a state -> its rate
        self.stationary: dict[Expr, Expr] = {}  # symbol -> value at which the length of a span is stationary

    @property
    def quantities(self) -> list[Moving | Named]:
        """As of ``Scope``, the states, whose rates no velocity of a body takes part in by itself, and stationary values."""
        still = [Stationary(str(s), (e, sp.S.Zero, sp.S.Zero), {}) for s, e in self.stationary.items()]
        states = [Named(str(s), (s, self.state_rates.get(s, sp.S.Zero), sp.S.Zero), {}, "state") for s in self.states]
        return [*super().quantities, *states, *still]

    def argument(self, name: str) -> Any:
        """The object that an argument of this name stands for."""
        if name in OPERATORS:
            return getattr(self, "_" + name)
        if TABLE.fullmatch(name):
            self.tables.append(name)
            return Table(self, name)
        if name in REACTION:
            return vector(name)
        return super().argument(name)

    def _normal_load(self, expression: Any) -> Any:
        if isinstance(expression, Vector):
            raise self.error("normal_load(x) needs a scalar, such as normal_load(codegen.size(force))")
        symbol = sp.Symbol(f"normal_load{len(self.loads)}", real=True, nonnegative=True)
        self.loads[symbol] = as_expression(expression)
        return symbol

    def _state(self, name: Any, initial: Any = 0) -> Any:
        if type(name) is not str or not name.isidentifier() or name in map(str, self.states):
            raise self.error(f"state({name!r}) needs a name of its own, an identifier such as 'extension'")
        if isinstance(initial, Vector):
            raise self.error(f"state('{name}') has a vector as its initial value; give a scalar")
        symbol = sp.Symbol(name, real=True)
        self.states[symbol] = as_expression(initial)
        return symbol

    def _coordinate(self, expression: Any) -> Any:
        if isinstance(expression, Vector):
            return Vector(*(self._coordinate(component) for component in expression))
        symbol = sp.Symbol(f"coordinate{len(self.coordinates)}", real=True)
        self.coordinates[symbol] = as_expression(expression)
        return symbol

    def _along(self, coordinate: Any) -> Any:
        if isinstance(coordinate, Vector):
            return Vector(*(self._along(component) for component in coordinate))
        if coordinate not in self.coordinates:
            raise self.error(f"along({coordinate}) needs what coordinate(x) returned")
        symbol = sp.Symbol(f"along{len(self.alongs)}", real=True)
        self.alongs[symbol] = coordinate
        return symbol


class Stationary(Named):
    """A value at which the length of a span is stationary: rates and forces do not depend on its changes, tangents do."""

    def derivative_symbols(self, order: int) -> list[Expr]:
        """Its symbol; no rates."""
        return super().derivative_symbols(0) if order == 0 else [sp.S.Zero]


class SpanScope(ForceScope):
    """Everything that occurs in the definition of a span of a path."""

    def argument(self, name: str) -> Any:
        """A vector of a body, a parameter, ``stationary`` or ``constant``."""
        if name in SEARCHED:
            return getattr(self, "_" + name)
        operators = (*calculus.OPERATORS, *OPERATORS, *REACTION, "rate")
        if name in operators or TABLE.fullmatch(name) or name.startswith(("omega_", "p_")) or name.endswith("_t"):
            raise self.error(
                f"argument '{name}' is for joints and forces; a span is a function of points, directions and parameters"
            )
        return super().argument(name)

    def _stationary(self, value: Any) -> Any:
        if isinstance(value, Vector):
            return Vector(*(self._stationary(component) for component in value))
        symbol = sp.Symbol(f"stationary{len(self.stationary)}", real=True)
        self.stationary[symbol] = as_expression(value)
        return symbol

    def _constant(self, value: Any) -> Any:
        if isinstance(value, Vector):
            return Vector(*(self._constant(component) for component in value))
        return self._stationary(still(value))
