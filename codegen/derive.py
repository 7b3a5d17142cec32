"""From Phi to everything else: D, nu, gamma, by differentiating moving vectors.

With x' = B(x) (v, omega) for every moving quantity x of a definition (``Moving.pull_back`` is B transposed):

    Phi' = sum dPhi/dx . x' + sum dPhi/dc c'  =  D v - nu
    D    = sum dPhi/dx B(x)
    nu   = -sum dPhi/dc c'                      c: prescribed signals of time
    gamma = D v' = -(d/dt Phi')  with the accelerations v', omega' left out
"""

from __future__ import annotations

import inspect
import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import Application

from codegen.calculus import (
    AXES,
    BODIES,
    FUNCTIONS,
    OPERATORS,
    VELOCITIES,
    Definition,
    DefinitionError,
    Expr,
    Moving,
    Named,
    Scope,
    Vector,
    name_sums,
    vector,
)

Values = dict[Expr, Expr]

NUMERIC_CHECK_DIGITS = 30
NEWTON_STEPS = 30
MOST_ROWS = 6
RIGID_MOTION_TOLERANCE = 1e-9
VANISHING_GRADIENT = 1e-6


@dataclass(frozen=True)
class Derivation:
    """All that the emitter needs of one definition.  D: (rows, 12) in the order v_i omega_i v_j omega_j."""

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

        Such a driver also tells the coordinate, with the signal zero, and how a moment or a force along it acts; one of
        Euler parameters does not, which no moment belongs to.
        """
        if len(self.Phi) != 1 or len(self.scope.signals) != 1 or any(m.kind == "euler" for m in self.moving):
            return False
        (signal,) = (c.symbol(0) for c in self.scope.signals.values())
        parts, sample = self.scope.spelt_out(), _sample(self.scope)
        slopes = [sp.diff(e, signal) for e in (self.Phi[0].xreplace(parts) + signal, *self.D.xreplace(parts))]
        values = [sp.sympify(slope).xreplace(sample).evalf(NUMERIC_CHECK_DIGITS) for slope in slopes]
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
    refuse_unused(scope, arguments, Phi)
    refuse_functions(scope, [*Phi, *scope.held.values(), *scope.sides, *(c for v in scope.carried.values() for c in v)])
    units, parameter_units = _units(scope, rows, Phi)
    constants = list(scope.held)
    named = iter(name_sums(scope, [*Phi, *scope.held.values(), *scope.sides]))
    Phi, scope.held = tuple(next(named) for _ in Phi), {constant: next(named) for constant in constants}
    scope.sides = list(named)
    Phi = _name_arguments(scope, Phi)
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
    _refuse_rows_without_sense(result)
    return result


def _rows(scope: Scope, returned: object) -> tuple[tuple[str, ...], tuple[Expr, ...]]:
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
                    f"row '{part_name}' is None; a row is an expression that vanishes (sided(x) is no row)"
                )
            expression = sp.sympify(part)
            if not expression.free_symbols & {s for m in scope.moving.values() for s in m.symbols}:
                raise scope.error(f"row '{part_name}' holds no vector of a body: it can never be moved onto zero")
            if not part_name.isidentifier() or part_name in names:
                raise scope.error(f"row name {part_name!r} is not a name, or is given twice")
            names.append(part_name)
            rows.append(expression)
    if len(rows) > MOST_ROWS:
        raise scope.error(
            f"has {len(rows)} rows, limit {MOST_ROWS}: two bodies cannot be restrained in more ways; use two joints"
        )
    symbols = {s for m in scope.moving.values() for s in m.symbols}
    for kept in scope.held.values():
        if not sp.sympify(kept).free_symbols & symbols:
            raise scope.error(f"held({kept}) keeps a constant; hold a quantity that moves")
    for kept in scope.sides:
        if not kept.free_symbols & symbols:
            raise scope.error(f"sided({kept}) keeps the sign of a constant; give a quantity that moves")
    return tuple(names), tuple(rows)


def called(scope: Scope, definition: Definition, arguments: dict[str, object]) -> object:
    """What the definition returns for its symbols."""
    try:
        return definition(**arguments)
    except DefinitionError:
        raise
    except (TypeError, ValueError, AttributeError, sp.SympifyError) as error:
        hint = (
            "vectors know +, -, dot, cross, norm and factors; equations are smooth, without branches (if, abs, float)"
        )
        raise scope.error(f"cannot be derived: {error}; {hint}") from error


def argument_names(scope: Scope, definition: Definition) -> list[str]:
    """The names of the arguments, which say what they are."""
    parameters = inspect.signature(definition).parameters.values()
    for p in parameters:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or p.default is not p.empty:
            raise scope.error(f"argument '{p}': name every argument, without defaults; the names say what they are")
    return [p.name for p in parameters]


def refuse_functions(scope: Scope, expressions: list[Expr]) -> None:
    """Kernels are straight-line code: nothing that branches, and nothing without a derivative."""
    for expression in expressions:
        for function in sp.sympify(expression).atoms(Application):
            if not isinstance(function, FUNCTIONS):
                known = ", ".join(f.__name__ for f in FUNCTIONS)
                raise scope.error(f"uses the function '{function.func.__name__}'; smooth ones only: sqrt, {known}")


def refuse_collisions(scope: Scope) -> None:
    """A constant must not bear a name that the calculus gives to a component, a rate or a held constant."""
    taken = set(scope.held)
    for m in scope.quantities:
        taken |= {s for order in range(3) for s in m.derivative_symbols(order)}
    taken |= {signal.symbol(order) for signal in scope.signals.values() for order in (1, 2)}
    for name, symbol in scope.parameters.items():
        if symbol in taken:
            raise scope.error(f"argument '{name}' has a name that the kernels use themselves; choose another")


def documentation(scope: Scope, definition: Definition) -> str:
    """The docstring, which goes into the generated module."""
    doc = inspect.getdoc(definition)
    if not doc:
        raise scope.error(
            "needs a docstring: geometry in one sentence, source, unit of each argument, when it is singular"
        )
    return doc


def refuse_unused(scope: Scope, arguments: dict[str, object], returned: tuple[Expr, ...]) -> None:
    """Every argument must occur in an expression of the definition, or in what it holds or carries."""
    expressions = [*returned, *scope.held.values(), *scope.sides, *scope.rates.values()]
    expressions += [c for v in scope.carried.values() for c in v]
    used = set().union(*(sp.sympify(e).free_symbols for e in expressions))
    used_names = {m.name for m in scope.moving.values() if set(m.symbols) & used}
    # A direction that only serves across(a) is used through its two tangents.
    used_names |= {
        m.kind.split(":")[1] for m in scope.moving.values() if m.kind.startswith("across") and m.name in used_names
    }
    used_names |= {str(s) for s in used}
    used_names |= {"held"} if scope.held else set()
    used_names |= {"rate"} if scope.rates else set()
    used_names |= {"sided"} if scope.sides else set()
    used_names |= {name for name in VELOCITIES if set(vector(name)) & used}
    used_names |= {m.kind.split(":")[0].rstrip("12") for m in scope.moving.values() if ":" in m.kind}
    for name in arguments:
        if name not in used_names:
            raise scope.error(f"argument '{name}' is not used; use it or remove it")
    if not any(name not in OPERATORS for name in arguments):
        raise scope.error("has no vector of a body among its arguments")


def jacobian_row(scope: Scope, phi: Expr) -> list[Expr]:
    """What phi' takes of v_i, omega_i, v_j and omega_j, 12 entries."""
    row = {(body, part): [sp.S.Zero] * 3 for body in BODIES for part in ("v", "omega")}
    for m in scope.quantities:
        for key, g in m.pull_back([sp.diff(phi, s) for s in m.symbols]).items():
            row[key] = [a + b for a, b in zip(row[key], g, strict=True)]
    return [entry for part in row.values() for entry in part]


def _name_arguments(scope: Scope, expressions: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Give the arguments of functions, and what is under roots and below fraction bars, a name each.

    The derivatives of a function of long arguments would repeat them many times: the driver of an angle takes 881 operations
    so, and 1725 without.
    """
    moving = {s for m in scope.quantities for s in m.symbols}

    def named(part: Expr) -> Expr:
        if not part.is_Add or not part.free_symbols & moving:
            return part
        known = next((m for m in scope.named.values() if m.values[0] == part), None)
        if known is None:
            first = rate(scope, part, 1)
            row = jacobian_row(scope, part)
            keys = [(body, velocity) for body in BODIES for velocity in ("v", "omega")]
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

    return tuple(walk(sp.sympify(e)) for e in expressions)


def rate(scope: Scope, expression: Expr, order: int) -> Expr:
    """Time derivative of an expression of quantities and (order 2) their first derivatives, accelerations left out."""
    value = _signal_rate(scope, expression, order - 1)
    for m in scope.quantities:
        for level in range(order):
            for x, x_dot in zip(m.derivative_symbols(level), m.derivative_symbols(level + 1), strict=True):
                if x != 0:
                    value += sp.diff(expression, x) * x_dot
    return value


def _signal_rate(scope: Scope, expression: Expr, highest: int) -> Expr:
    signals = [(c, level) for c in scope.signals.values() for level in range(highest + 1)]
    return sum((sp.diff(expression, c.symbol(level)) * c.symbol(level + 1) for c, level in signals), sp.S.Zero)


def _units(scope: Scope, rows: tuple[str, ...], Phi: tuple[Expr, ...]) -> tuple[tuple[int, ...], dict[str, int]]:
    """Powers of metre of rows and parameters, found by scaling every length.

    A point and a centre are lengths, directions are pure numbers; a constant or a signal may be a pure number, a length
    or an area.  Refuses a row that adds quantities of different units.
    """
    names = [*scope.parameters, *scope.signals]
    values = _sample(scope)
    kept = {row: sp.sympify(phi).xreplace(dict.fromkeys(scope.held, 0)) for row, phi in zip(rows, Phi, strict=True)}
    worst = rows[0]
    choices = itertools.product((0, 1, 2), repeat=len(names))
    for powers in sorted(choices, key=lambda powers: (max(powers, default=0), sum(powers), powers)):
        chosen = dict(zip(names, powers, strict=True))
        units = []
        for row, phi in kept.items():
            power = _power(scope, phi, values, chosen)
            if power is None:
                worst = row
                break
            units.append(power)
        else:
            return tuple(units), {name: chosen[name] for name in scope.parameters}
    raise scope.error(f"row '{worst}' adds quantities of different units")


def _power(scope: Scope, phi: Expr, values: Values, chosen: dict[str, int]) -> int | None:
    """The power of metre of an expression, or None where it has none."""
    phi = sp.sympify(phi)

    def at(scale: int) -> Expr:
        scaled = dict(values)
        for m in (m for m in scope.moving.values() if set(m.symbols) & phi.free_symbols):
            power = int(m.kind in ("centre", "point"))
            if m.kind.startswith("carried"):  # has the unit of what it was made of
                source = next(c for c in scope.carried[m.name] if sp.sympify(c).free_symbols)
                power = _power(scope, source, values, chosen) or 0
            scaled |= {s: values[s] * scale**power for s in m.symbols}
        for name, power in chosen.items():
            symbol = scope.parameters[name] if name in scope.parameters else scope.signals[name].symbol(0)
            scaled[symbol] = values[symbol] * scale**power
        return phi.xreplace(scaled).evalf(NUMERIC_CHECK_DIGITS)

    base = at(1)
    if base == 0:
        return 0
    power = sp.re(sp.log(at(2) / base) / sp.log(2))
    if not power.is_finite:
        return None
    rounded = int(round(float(power)))
    consistent = all(abs(at(k) / base - sp.Integer(k) ** rounded) < sp.Float("1e-20") * k**4 for k in (2, 3))
    return rounded if consistent else None


def _sample(scope: Scope) -> Values:
    """Pseudo-random numbers of many digits for every symbol that a row may hold; directions have the length 1."""
    symbols = [s for m in scope.moving.values() for s in m.symbols]
    symbols += [c.symbol(k) for c in scope.signals.values() for k in range(3)]
    symbols += list(scope.parameters.values()) + list(scope.held)
    values: Values = {
        s: sp.Float((7919 * (k + 1) ** 2 + 104729 * (k + 3)) % 1009 + 11, 50) / 613 for k, s in enumerate(symbols)
    }
    for m in scope.moving.values():
        if m.kind not in ("centre", "point"):
            length = sp.sqrt(sum(values[s] ** 2 for s in m.symbols))
            values |= {s: values[s] / length for s in m.symbols}
    return values


def _orthonormality(moving: list[Moving]) -> list[Expr]:
    """What holds of the directions of a definition: unit length, and the right angles of triads."""
    directions = [m for m in moving if m.kind not in ("centre", "point")]
    relations = [sum(s**2 for s in m.symbols) - 1 for m in directions]
    for m, other in itertools.combinations([m for m in directions if m.kind != "euler"], 2):
        frames = m.kind == other.kind == "frame" and m.body == other.body
        triad = {m.kind.partition(":")[2] or m.name, other.kind.partition(":")[2] or other.name}
        if frames or (len(triad) == 1 and "across" in m.kind + other.kind):
            relations.append(m.value.dot(other.value))
    return relations


def _refuse_rows_without_sense(d: Derivation) -> None:
    """Rows must have a common solution, be independent there, and not notice that both bodies move together.

    That is D (u + w x r_i, w, u + w x r_j, w) = 0.  It need hold only where the rows do (a spherical joint's rows turn with
    the bodies), so the test is made at a random solution of Phi = 0 with directions of unit length.  A definition with
    vectors of one body only is a joint with the ground by its signature, and is free of the last rule.
    """
    u, w = vector("common_v"), vector("common_omega")
    twist: list[Expr] = []
    for body in BODIES:
        r = d.scope.moving.get(f"r_{body}")
        twist += [*(u + w.cross(r.value) if r else u), *w]
    sample = _sample(d.scope)
    unknowns = list(sample)
    common = dict(zip([*u, *w], (0.3, -0.7, 1.1, 0.5, 0.2, -1.3), strict=True))
    parts = d.scope.spelt_out()
    equations = sp.Matrix([*d.Phi, *_orthonormality(d.moving)]).xreplace(parts)
    Phi, slope, jacobian, moved = (
        sp.lambdify([unknowns], expression, "numpy", cse=True)
        for expression in (
            equations,
            equations.jacobian(unknowns),
            d.D.xreplace(parts),
            sp.Matrix(twist).xreplace(common),
        )
    )
    z = np.array([float(value) for value in sample.values()])
    with np.errstate(all="ignore"):
        for _ in range(NEWTON_STEPS):
            step = np.linalg.pinv(np.nan_to_num(slope(z))) @ np.nan_to_num(Phi(z).ravel())
            z = z - step / max(1.0, float(np.abs(step).max()))
        residual = float(np.abs(Phi(z)).max())
    if not residual < RIGID_MOTION_TOLERANCE:
        raise d.scope.error(f"its rows {', '.join(d.rows)} seem to have no common solution")
    D = np.asarray(jacobian(z), dtype=float)
    for name, row in zip(d.rows, D, strict=True):
        if not np.abs(row).max() > VANISHING_GRADIENT:
            raise d.scope.error(
                f"row '{name}' has no gradient where it holds and restrains nothing there; give its parts"
            )
    if {m.body for m in d.moving} == set(BODIES):
        for name, value in zip(d.rows, (D @ moved(z)).ravel(), strict=True):
            if abs(value) > RIGID_MOTION_TOLERANCE:
                raise d.scope.error(
                    f"row '{name}' changes when both bodies move together as one rigid body; a joint may only use what lies "
                    "between the bodies (give vectors of one body only for a joint with the ground)"
                )
    if np.linalg.matrix_rank(D / np.linalg.norm(D, axis=1, keepdims=True), tol=VANISHING_GRADIENT) < len(d.rows):
        raise d.scope.error(f"its rows {', '.join(d.rows)} depend on each other; leave out those that repeat others")
