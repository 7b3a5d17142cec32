"""Refuses a force whose action and reaction differ, or that a common rigid motion of both bodies changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from codegen.compiler.calculus import Expr, quaternion, vector
from codegen.compiler.force_calculus import REACTION, ForceScope, table
from codegen.compiler.forces import BALANCE_TOLERANCE
from codegen.compiler.layout import Layout

Array = NDArray[np.float64]
ATTEMPTS = 20  # at random values, until all is finite


def refuse_unsound_force(
    scope: ForceScope, layout: Layout, outputs: Sequence[Expr], bodies: Sequence[str], vectors: Sequence[int] = ()
) -> None:
    """Refuse a force (6 entries of ``outputs`` for each body, then scalars) by its values before and after a common rigid motion.

    ``vectors``: places among the scalars from which on three may be a vector in global axes, which turns with the bodies.
    A force with quantities of one body only is one against the ground by its signature, and is exempt.
    """
    count = 6 * len(scope.bodies)
    plain = [sp.sympify(e).replace(table, _curve) for e in outputs]
    random = np.random.default_rng(1)
    for _ in range(ATTEMPTS):
        start = _sample(scope, random)
        first = _evaluated(layout, plain, start)
        turned, R = _moved(scope, start, random)
        second = _evaluated(layout, plain, turned)
        if np.isfinite(first).all() and np.isfinite(second).all():
            break
    else:
        raise scope.error("is not finite at random values of its arguments; check roots, logarithms and denominators")
    if not np.abs(first[:count]).max() > 0.0 and not np.abs(second[:count]).max() > 0.0 and not _has_kink(outputs):
        raise scope.error(
            "has no effect: its force is zero; give a potential, a dissipation or forces that depend on the bodies"
        )
    if len({m.body for m in scope.moving.values()} | set(bodies)) < 2:
        return
    forces, moments = first[:count].reshape(-1, 2, 3).swapaxes(0, 1)
    arms = np.array([[start[s] for s in vector(f"r_{body}")] for body in scope.bodies])
    total = np.concatenate([forces.sum(axis=0), (moments + np.cross(arms, forces)).sum(axis=0)])
    size = max(1.0, float(np.abs(first).max()))
    if (worst := np.abs(total).max()) > BALANCE_TOLERANCE * size:
        raise scope.error(
            f"action and reaction differ by {worst:.1e} at random values, limit {BALANCE_TOLERANCE * size:.0e}; it changes when "
            "the bodies move together as one rigid body, and may only use quantities between the bodies"
        )
    expected = np.concatenate([(first[:count].reshape(-1, 3) @ R.T).ravel(), first[count:]])
    for k in vectors:
        first_three = slice(count + k, count + k + 3)
        if np.abs((second - expected)[first_three]).max() > BALANCE_TOLERANCE * size:
            expected[first_three] = R @ first[first_three]
    if (worst := np.abs(second - expected).max()) > BALANCE_TOLERANCE * size:
        raise scope.error(
            f"changes by {worst:.1e} when the bodies move together as one rigid body, limit {BALANCE_TOLERANCE * size:.0e}; a "
            "force may only use quantities between the bodies (give vectors of one body only for a force against the ground)"
        )


def _has_kink(outputs: Sequence[Expr]) -> bool:
    return any(type(f).__name__ in ("ramp", "step") for e in outputs for f in sp.sympify(e).atoms(sp.Function))


def _curve(k: Expr, order: Expr, x: Expr) -> Expr:
    """A smooth curve in place of a table: a sine, its integral or its derivative."""
    return sp.sin(x + k + order * sp.pi / 2)


def _sample(scope: ForceScope, random: np.random.Generator) -> dict[Expr, float]:
    """Random values of every symbol; directions of a body are of unit length, its frame and tangents at right angles."""
    values: dict[Expr, float] = {}
    for body in scope.bodies:
        for stem in ("r", "v", "omega"):
            values |= _components(vector(f"{stem}_{body}"), random.normal(size=3))
        p = random.normal(size=4)
        values |= _components(quaternion(f"p_{body}"), p / np.linalg.norm(p))
    frames = {body: np.linalg.qr(random.normal(size=(3, 3)))[0] for body in scope.bodies}
    for m in scope.moving.values():
        if m.kind == "frame":
            value = frames[m.body][:, ("xi", "eta", "zeta").index(m.name.split("_")[0])]
            if np.linalg.det(frames[m.body]) < 0.0:
                value = -value
        elif m.kind.startswith("across"):
            owner = [values[s] for s in scope.moving[m.kind.split(":")[1]].symbols]
            other = np.cross(owner, np.eye(3)[int(np.argmin(np.abs(owner)))])
            other /= np.linalg.norm(other)
            value = other if m.kind[6] == "1" else np.cross(owner, other)
        elif m.kind in ("centre", "euler"):
            continue
        else:
            value = random.normal(size=3)
            value = value if m.kind == "point" else value / np.linalg.norm(value)
        values |= _components(m.symbols, value)
    for name in REACTION:
        values |= _components(vector(name), random.normal(size=3))
    constants = [*scope.parameters.values(), *scope.held, *scope.loads, *scope.states]
    values |= {s: float(random.uniform(0.5, 2.0)) for s in constants}
    values |= {c.symbol(order): float(random.normal()) for c in scope.signals.values() for order in range(3)}
    return values


def _moved(
    scope: ForceScope, values: dict[Expr, float], random: np.random.Generator
) -> tuple[dict[Expr, float], Array]:
    """The values after a common rigid motion with a common twist, and its rotation."""
    e0, e1, e2, e3 = q = (lambda p: p / np.linalg.norm(p))(random.normal(size=4))
    skew = np.array([[0, -e3, e2], [e3, 0, -e1], [-e2, e1, 0]])
    R = np.eye(3) + 2.0 * e0 * skew + 2.0 * skew @ skew
    offset, u, w = random.normal(size=(3, 3))
    moved = dict(values)
    for body in scope.bodies:
        r, v, omega = (np.array([values[s] for s in vector(f"{stem}_{body}")]) for stem in ("r", "v", "omega"))
        r = R @ r + offset
        moved |= _components(vector(f"r_{body}"), r)
        moved |= _components(vector(f"v_{body}"), R @ v + u + np.cross(w, r))
        moved |= _components(vector(f"omega_{body}"), R @ omega + w)
        p = [values[s] for s in quaternion(f"p_{body}")]
        product = [q[0] * p[0] - q[1:] @ p[1:], *(q[0] * np.array(p[1:]) + p[0] * q[1:] + np.cross(q[1:], p[1:]))]
        moved |= _components(quaternion(f"p_{body}"), product)
    for name in REACTION:
        moved |= _components(vector(name), R @ np.array([values[s] for s in vector(name)]))
    for m in scope.moving.values():
        if m.kind not in ("centre", "euler"):
            moved |= _components(m.symbols, R @ np.array([values[s] for s in m.symbols]))
    return moved, R


def _components(symbols: Any, values: Any) -> dict[Expr, float]:
    return {s: float(value) for s, value in zip(symbols, values, strict=True)}


def _evaluated(layout: Layout, expressions: Sequence[Expr], values: dict[Expr, float]) -> Array:
    """Values of expressions, NaN where one is not real; sums, named parts and rates are computed from the given values."""
    known: dict[Expr, float] = dict(values)
    for symbol, e in layout.rates.items():
        known[symbol] = _value(sp.sympify(e).replace(table, _curve), known)
    return np.array([_value(e, known) for e in expressions])


def _value(e: Expr, known: dict[Expr, float]) -> float:
    """Value of an expression; it is added to the values known, so that each part is computed once."""
    found = known.get(e)
    if found is None:
        try:
            found = known[e] = _operation(e, known)
        except (ArithmeticError, TypeError):  # a zero divisor, an overflow; not real
            found = known[e] = np.nan
    return found


def _operation(e: Expr, known: dict[Expr, float]) -> float:
    if e.is_Number or e.is_NumberSymbol:
        return float(e)
    values = [_value(a, known) for a in e.args]
    if e.is_Add:
        return sum(values)
    if e.is_Mul:
        return math.prod(values)
    if not np.isfinite(values).all():
        return np.nan
    if e.is_Pow:
        return float(values[0] ** values[1])  # a complex number is no float
    return float(e.func(*(a if a.is_Number else sp.Float(value) for a, value in zip(e.args, values, strict=True))))
