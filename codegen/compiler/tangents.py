"""Exact derivatives of kernels in many directions at once, statement by statement.

A direction is a displacement of the bodies: a translation and a turn of each, and changes of its velocities.  A moving vector
responds by its rule of motion in the calculus (x' = omega x x), with the turn in place of omega.  The derivative of a
statement is a sum of products: factors that do not depend on the direction are computed once, and the loop over the
directions contains the sums only.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import cache
from operator import attrgetter

import sympy as sp

from codegen.compiler.calculus import BODIES, Expr, Moving, vector
from codegen.compiler.corners import corner
from codegen.compiler.slopes import slope, symbols_in
from codegen.compiler.straight import DECORATOR, Lines, Statements, Targets, Values, straight, to_text

Sum = list[tuple[Expr, Expr]]  # factors, and the symbols whose motion they multiply


def seeds_of(
    moving: Iterable[Moving], others: Iterable[Expr] = (), bodies: Iterable[str] = BODIES
) -> tuple[list[Expr], Values]:
    """The components of a direction, in the order of the rows of ``seeds``, and the derivative of each symbol in terms of them.

    ``others`` are further inputs that a direction may change, beside the states of the bodies.
    """
    rows: list[Expr] = []
    motion: Values = {}
    moving = list(moving)
    for body in bodies:
        translation, turn = [moved(s) for s in vector(f"r_{body}")], vector(f"turn_{body}")
        omega_to_turn = dict(zip(vector(f"omega_{body}"), turn, strict=True))
        rows += [*translation, *turn]
        for stem in ("v", "omega"):
            for s in vector(f"{stem}_{body}"):
                motion[s] = moved(s)
                rows.append(moved(s))
        for m in (m for m in moving if m.body == body):
            steps = translation if m.kind == "centre" else [sp.sympify(e) for e in m.derivative_values(1)]
            motion |= {s: e.xreplace(omega_to_turn) for s, e in zip(m.symbols, steps, strict=True)}
    for s in others:
        change = sp.Symbol(f"change_{s}", real=True) if s in motion else moved(s)
        rows.append(change)
        motion[s] = motion.get(s, sp.S.Zero) + change
    return rows, motion


@cache
def moved(s: Expr) -> Expr:
    """The symbol for the derivative of a symbol."""
    return sp.Symbol(f"d_{s}", real=True)


def tangent(
    name: str,
    arguments: tuple[str, ...],
    place: Values,
    targets: Targets,
    doc: str,
    directions: tuple[list[Expr], Values],
    rates: Values | None = None,
    long: Container[Expr] = (),
) -> Lines:
    """A function that puts the derivatives of the targets in all directions into ``out`` (targets, directions).

    ``directions`` comes from ``seeds_of``; the array ``seeds`` of the emitted function has a row for each component.
    """
    rows, motion = directions
    loads, statements, results = straight(arguments, place, targets, rates or {}, long)
    sums: dict[Expr, Sum] = {}  # the derivative of each statement
    moving = set(motion)
    for symbol, value in statements:
        sums[symbol] = _derivative(value, moving)
        if isinstance(value, corner):  # its derivatives contain it, and it is solved for once
            sums[symbol] = [(factor.xreplace({value: symbol}), s) for factor, s in sums[symbol]]
        if sums[symbol]:
            moving.add(symbol)
    outputs = [_derivative(sp.sympify(result), moving) for result in results]

    wanted = {s for terms in outputs for _, s in terms}
    for symbol, _ in reversed(statements):
        if symbol in wanted:
            wanted |= {s for _, s in sums[symbol]}
    first = [(s, e) for s, e in motion.items() if s in wanted and moved(s) != e]
    inner = [(symbol, sums[symbol]) for symbol, _ in statements if symbol in wanted]

    taken = [*place, *(rates or {}), *(s for s, _ in statements), *(sp.Symbol(a, real=True) for a in arguments)]
    before, names = _once([f for terms in (*(t for _, t in inner), *outputs) for f, _ in terms], taken)
    needed = set().union(*(f.free_symbols for f in names.values()), *(e.free_symbols for _, e in first))
    kept: Statements = []
    for symbol, value in reversed([*statements, *before]):
        if symbol in needed:
            kept.insert(0, (symbol, value))
            needed |= value.free_symbols

    def text(terms: Sum) -> str:
        return str(to_text(sp.Add(*(names[f] * moved(s) for f, s in terms))))

    seen = set().union(*(e.free_symbols for _, e in first)) | {moved(s) for s in wanted}
    lines = [DECORATOR, f"def {name}({', '.join((*arguments, 'seeds', 'out'))}):", f'    """{doc}."""']
    lines += [f"    {s} = {place[s]}" for s in loads if s in needed]
    lines += [f"    {s} = {to_text(value)}" for s, value in kept]
    lines += ["    for n in range(seeds.shape[1]):"]
    lines += [f"        {row} = seeds[{k}, n]" for k, row in enumerate(rows) if row in seen]
    lines += [f"        {moved(s)} = {to_text(e)}" for s, e in first]
    lines += [f"        {moved(symbol)} = {text(terms)}" for symbol, terms in inner]
    lines += [f"        out[{k}, n] = {text(terms) if terms else '0.0'}" for k, terms in enumerate(outputs)]
    return lines


def _derivative(value: Expr, moving: set[Expr]) -> Sum:
    parts: dict[Expr, list[Expr]] = {}
    for term in sp.Add.make_args(value):  # each by its own symbols only
        for s in symbols_in(term) & moving:
            parts.setdefault(s, []).append(slope(term, s))
    slopes = [(sp.Add(*parts[s]), s) for s in sorted(parts, key=attrgetter("name"))]
    return [(slope, s) for slope, s in slopes if slope != 0]


def _once(factors: list[Expr], taken: list[Expr]) -> tuple[Statements, dict[Expr, Expr]]:
    """Statements that are computed once for all directions, and each factor in terms of them."""
    distinct = list(dict.fromkeys(factors))
    symbols = sp.numbered_symbols("c", real=True, exclude=taken)
    shared, values = sp.cse(distinct, symbols=symbols, order="canonical")
    names: dict[Expr, Expr] = {}
    for factor, value in zip(distinct, values, strict=True):
        coefficient, rest = value.as_coeff_Mul()
        if rest.is_Atom:
            names[factor] = value
        else:
            names[factor] = next(symbols)
            shared.append((names[factor], value))
    return shared, names
