"""Powers of metre of rows and parameters, found by scaling every length of a definition."""

from __future__ import annotations

import itertools

import sympy as sp

from codegen.compiler.calculus import Expr, Scope

Values = dict[Expr, Expr]

NUMERIC_CHECK_DIGITS = 30


def units_of(scope: Scope, rows: tuple[str, ...], Phi: tuple[Expr, ...]) -> tuple[tuple[int, ...], dict[str, int]]:
    """Powers of metre of rows and parameters, as they follow from scaling every length.

    Points and centres are lengths, directions are pure numbers; a constant or a signal may be a pure number, a length
    or an area.  Refuses a row that adds quantities of different units.
    """
    names = [*scope.parameters, *scope.signals]
    values = sample(scope)
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
            if m.kind.startswith("carried"):  # has the unit of the vectors it was made of
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


def sample(scope: Scope) -> Values:
    """Pseudo-random values of many digits for every symbol that a row may hold; directions have the length 1."""
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
