"""From Phi to everything else: D, nu, gamma, by differentiating moving vectors.

With x' = B(x) (v, omega) for every moving quantity x of a definition (``Moving.pull_back`` is B transposed):

    Phi' = sum dPhi/dx . x' + sum dPhi/dc c'  =  D v - nu
    D    = sum dPhi/dx B(x)
    nu   = -sum dPhi/dc c'                      c: prescribed signals of time
    gamma = D v' = -(d/dt Phi')  with the accelerations v', omega' left out
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp
from sympy.core.function import Application

from codegen.compiler.angles import unwrapped, wrapped
from codegen.compiler.calculus import AXES, Definition, Expr, Moving, Named, Scope, Vector, as_expression, name_sums
from codegen.compiler.errors import shown
from codegen.compiler.reading import (
    argument_names,
    called,
    documentation,
    is_scalar,
    refuse_collisions,
    refuse_functions,
    refuse_unused,
)
from codegen.compiler.slopes import slope
from codegen.compiler.soundness import refuse_unsound_rows
from codegen.compiler.units import NUMERIC_CHECK_DIGITS, sample, units_of

MAX_ROWS = 6


@dataclass(frozen=True)
class Derivation:
    """Everything that the emitter needs of one definition.  D: (rows, 12) in the order v_i omega_i v_j omega_j."""

    name: str
    doc: str
    scope: Scope
    rows: tuple[str, ...]
    units: tuple[int, ...]  # power of metre of each row
    parameter_units: dict[str, int]  # power of metre of each constant parameter
    Phi: tuple[Expr, ...]
    Phi_dot: tuple[Expr, ...]
    D: sp.Matrix
    nu: tuple[Expr, ...]
    gamma: tuple[Expr, ...]

    @cached_property
    def coordinate(self) -> bool:
        """The one row is an angle or a length less one signal: D does not depend on the signal.

        With the signal zero, the row of such a driver is the value of the coordinate, and D gives the direction in which a
        moment or a force along it acts.  Drivers of Euler parameters have no such moment.
        """
        if len(self.Phi) != 1 or len(self.scope.signals) != 1 or any(m.kind == "euler" for m in self.moving):
            return False
        (signal,) = (c.symbol(0) for c in self.scope.signals.values())
        parts, somewhere = self.scope.spelt_out(), sample(self.scope)
        slopes = [slope(e, signal) for e in (self.Phi[0].xreplace(parts) + signal, *self.D.xreplace(parts))]
        values = [as_expression(slope).xreplace(somewhere).evalf(NUMERIC_CHECK_DIGITS) for slope in slopes]
        return all(abs(value) < sp.Float("1e-20") for value in values)

    @property
    def moving(self) -> list[Moving]:
        """The moving quantities in the order of the signature."""
        return list(self.scope.moving.values())


def derive(definition: Definition) -> Derivation:
    """Derive every kernel of a definition.  Raises DefinitionError, which names the definition and the rule it breaks."""
    scope = Scope(definition.__name__)
    arguments = {name: scope.argument(name) for name in argument_names(scope, definition)}
    refuse_collisions(scope)
    rows, Phi = _rows(scope, called(scope, definition, arguments))
    _refuse_constants(scope)
    refuse_unused(scope, arguments, Phi)
    refuse_functions(
        scope, [*Phi, *scope.held.values(), *scope.branch_signs, *(c for v in scope.carried.values() for c in v)]
    )
    units, parameter_units = units_of(scope, rows, Phi)
    if not scope.signals:  # else angles from a prescribed one, which vanish
        Phi = tuple(unwrapped(scope, Phi))
    constants, angles = list(scope.held), list(scope.angles)
    named = iter(name_sums(scope, [*Phi, *scope.held.values(), *scope.angles.values(), *scope.branch_signs]))
    Phi, scope.held = tuple(next(named) for _ in Phi), {constant: next(named) for constant in constants}
    scope.angles = dict(zip(angles, name_arguments(scope, tuple(next(named) for _ in angles)), strict=True))
    scope.branch_signs = list(named)
    Phi = name_arguments(scope, Phi)
    refuse_collisions(scope)
    parts = scope.spelt_out()

    D = sp.Matrix([jacobian_row(scope, phi) for phi in Phi])
    Phi_dot = tuple(rate(scope, phi, 1) for phi in Phi)
    result = Derivation(
        name=definition.__name__,
        doc=documentation(scope, definition),
        scope=scope,
        rows=rows,
        units=units,
        parameter_units=parameter_units,
        Phi=Phi,
        Phi_dot=Phi_dot,
        D=D,
        nu=tuple(-_signal_rate(scope, phi.xreplace(parts), 0) for phi in Phi),
        gamma=tuple(-rate(scope, phi_dot, 2) for phi_dot in Phi_dot),
    )
    refuse_unsound_rows(scope, rows, tuple(map(wrapped, Phi)), wrapped(D))
    return result


def _rows(scope: Scope, returned: object) -> tuple[tuple[str, ...], tuple[Expr, ...]]:
    """Names and expressions of the rows that a definition returned, vectors taken apart."""
    if not isinstance(returned, dict) or not returned:
        raise scope.error("must return its rows by name, such as {'distance': d.dot(d) - l**2}")
    names: list[str] = []
    rows: list[Expr] = []
    for name, value in returned.items():
        parts: dict[str, Any] = {str(name): value}
        if isinstance(value, Vector):
            parts = {f"{name}_{axis}": part for axis, part in zip(AXES, value, strict=True)}
        for part_name, part in parts.items():
            if part is None:
                raise scope.error(
                    f"row '{part_name}' is None; a row is an expression that vanishes (keeps_sign(x) adds no row)"
                )
            if not is_scalar(part):
                raise scope.error(f"row '{part_name}' = {shown(part)}; give an expression of the arguments")
            expression = as_expression(part)
            if not expression.free_symbols & {s for m in scope.moving.values() for s in m.symbols}:
                raise scope.error(f"row '{part_name}' contains no vector of a body, so no motion can bring it to zero")
            if not part_name.isidentifier() or part_name in names:
                raise scope.error(f"row name {part_name!r} is not an identifier, or occurs twice")
            names.append(part_name)
            rows.append(expression)
    if len(rows) > MAX_ROWS:
        raise scope.error(
            f"has {len(rows)} rows, limit {MAX_ROWS}: two bodies have no more relative motions; use two joints"
        )
    return tuple(names), tuple(rows)


def _refuse_constants(scope: Scope) -> None:
    """Refuse operators that are applied to constants."""
    symbols = {s for m in scope.moving.values() for s in m.symbols}
    for kept in scope.held.values():
        if not as_expression(kept).free_symbols & symbols:
            raise scope.error(f"held({kept}) keeps a constant; hold a quantity that moves")
    for kept in scope.branch_signs:
        if not kept.free_symbols & symbols:
            raise scope.error(f"keeps_sign({kept}) keeps the sign of a constant; give a quantity that moves")


def jacobian_row(scope: Scope, phi: Expr) -> list[Expr]:
    """Coefficients of v_i, omega_i, v_j and omega_j in phi', 12 entries; in forces of more bodies 24."""
    row = {(body, part): [sp.S.Zero] * 3 for body in scope.bodies for part in ("v", "omega")}
    for m in scope.quantities:
        for key, g in m.pull_back([slope(phi, s) for s in m.symbols]).items():
            row[key] = [a + b for a, b in zip(row[key], g, strict=True)]
    return [entry for part in row.values() for entry in part]


def name_arguments(scope: Scope, expressions: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Give the arguments of functions, roots and denominators a name each.

    The derivatives of a function of long arguments would repeat them many times: the driver of an angle takes 881 operations
    with these names, and 1725 without.
    """
    moving = {s for m in scope.quantities for s in m.symbols}

    def named(part: Expr) -> Expr:
        if not part.is_Add or not part.free_symbols & moving:
            return part
        known = next((m for m in scope.named.values() if m.values[0] == part), None)
        if known is None:
            first = rate(scope, part, 1)
            row = jacobian_row(scope, part)
            keys = [(body, velocity) for body in scope.bodies for velocity in ("v", "omega")]
            covectors = {key: row[3 * k : 3 * k + 3] for k, key in enumerate(keys)}
            known = Named(f"part{len(scope.named)}", (part, first, rate(scope, first, 2)), covectors)
            scope.named[known.name] = known
            moving.update(known.symbols)
        return known.symbols[0]

    def walk(e: Expr) -> Expr:
        if e.is_Atom:
            return e
        arguments = [walk(argument) for argument in e.args]
        if isinstance(e, Application):
            arguments = [named(argument) for argument in arguments]
        elif e.is_Pow and not (e.exp.is_Integer and e.exp > 0):
            arguments[0] = named(arguments[0])
        return e.func(*arguments)

    return tuple(walk(as_expression(e)) for e in expressions)


def rate(scope: Scope, expression: Expr, order: int) -> Expr:
    """Time derivative of an expression of quantities and (order 2) their first derivatives, without accelerations."""
    value = _signal_rate(scope, expression, order - 1)
    for m in scope.quantities:
        for level in range(order):
            for x, x_dot in zip(m.derivative_symbols(level), m.derivative_symbols(level + 1), strict=True):
                if x != 0:
                    value += slope(expression, x) * x_dot
    return value


def _signal_rate(scope: Scope, expression: Expr, highest: int) -> Expr:
    """The part of a time derivative that is due to signals and their derivatives up to the order ``highest``."""
    signals = [(c, level) for c in scope.signals.values() for level in range(highest + 1)]
    return sum((slope(expression, c.symbol(level)) * c.symbol(level + 1) for c, level in signals), sp.S.Zero)
