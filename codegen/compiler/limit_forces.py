"""Joint limits: from the geometry of a limit to kernels.

    Q = -dV/du . du/d(v, omega) - dR/d(v, omega)          (``limit_*``: u, R;  dV/du is an input)
    V = max_moment compliance W(separation(u, t) / compliance)   with the closest direction t on the cone's curve

At the closest direction the separation does not change with t to first order, so dV/du is taken with t constant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sp

from codegen.compiler.calculus import Definition, Expr, Moving, Scope, Vector, name_sums, vector
from codegen.compiler.declarations import Declaration, declaration_of
from codegen.compiler.derive import jacobian_row
from codegen.compiler.forces import BALANCE_TOLERANCE, VELOCITIES, over_velocities, refuse_unequal_forces
from codegen.compiler.layout import Layout, kernel
from codegen.compiler.module import assemble_module, data_lines
from codegen.compiler.reading import (
    argument_names,
    called,
    documentation,
    refuse_collisions,
    refuse_functions,
    refuse_unused,
)
from codegen.compiler.slopes import slope
from codegen.compiler.straight import indexed
from codegen.compiler.tangents import seeds_of, tangent

PARTS = ("direction", "angle", "rate", "dissipation")
SLOPE = list(vector("slope"))


@dataclass(frozen=True)
class LimitDerivation:
    """Everything that the emitter needs of the geometry of a limit.  wrench: 12 entries in the order v_i omega_i v_j omega_j."""

    name: str
    doc: str
    scope: Scope
    declaration: Declaration
    direction: tuple[Expr, ...]
    angle: Expr
    rate: Expr
    moment: Expr
    wrench: tuple[Expr, ...]

    @property
    def moving(self) -> list[Moving]:
        """The moving quantities in the order of the signature."""
        return list(self.scope.moving.values())


def derive_limit(definition: Definition) -> LimitDerivation:
    """Derive a limit of motion.  Raises DefinitionError, which names the definition and the rule it breaks."""
    scope = Scope(definition.__name__, velocities=True)
    arguments = {name: scope.argument(name) for name in argument_names(scope, definition)}
    refuse_collisions(scope)
    parts = called(scope, definition, arguments)
    if not isinstance(parts, dict) or tuple(parts) != PARTS:
        raise scope.error(f"must return {', '.join(PARTS)} by name")
    # A direction that depends on the angle alone moves as the angle does, which makes the derivatives shorter.
    angle = sp.Symbol("angle", real=True)
    turning = callable(parts["direction"])
    direction = parts["direction"](angle) if turning else parts["direction"]
    if not isinstance(direction, Vector):
        raise scope.error("the direction must be a Vector, or a function of the angle that returns one")
    potential = sum((g * u for g, u in zip(SLOPE, direction, strict=True)), sp.S.Zero)
    expressions = [sp.sympify(e) for e in (parts["angle"], parts["rate"], parts["dissipation"], potential)]
    refuse_unused(scope, arguments, tuple(expressions))
    refuse_functions(scope, [*expressions, *scope.held.values(), *scope.rates.values()])
    if scope.branch_signs:
        raise scope.error("uses keeps_sign(x), which is for constraints: the sign of a force selects no assembly")
    if scope.signals:
        raise scope.error(f"uses the signal {', '.join(scope.signals)}; only constraints can be driven")
    keys = [list(scope.held), list(scope.rates)]
    named = name_sums(scope, [*expressions, *scope.held.values(), *scope.rates.values()])
    (own, shown, dissipation, potential), rest = named[: len(expressions)], iter(named[len(expressions) :])
    scope.held, scope.rates = ({key: next(rest) for key in group} for group in keys)

    rows = {symbol: jacobian_row(scope, expression) for symbol, expression in scope.rates.items()}
    push = (
        [slope(potential, angle) * d for d in jacobian_row(scope, own)] if turning else jacobian_row(scope, potential)
    )
    drag = over_velocities(dissipation, rows)
    values = {s: sum(d * v for d, v in zip(row, VELOCITIES, strict=True)) for s, row in rows.items()}
    values[angle] = own
    d = LimitDerivation(
        name=definition.__name__,
        doc=documentation(scope, definition),
        scope=scope,
        declaration=declaration_of(definition),
        direction=tuple(slope(potential, g).xreplace(values) for g in SLOPE),
        angle=own,
        rate=sp.sympify(shown).xreplace(values),
        moment=(slope(potential, angle) if turning else Vector(*SLOPE).cross(direction).norm()).xreplace(values),
        wrench=tuple(-sp.sympify(a + b).xreplace(values) for a, b in zip(push, drag, strict=True)),
    )
    _refuse_unsound_limit(d)
    return d


def _refuse_unsound_limit(d: LimitDerivation) -> None:
    """Refuse a direction whose length is not 1, and forces with power when both bodies move as one.

    Tested at random values: up to three directions of each body in the signature are at right angles to each other, and
    ``to_xi``, ``to_eta`` are components of a unit vector.
    """
    random = np.random.default_rng(1)

    def sample(symbols: list[Expr]) -> dict[Expr, float]:
        values = {s: float(random.normal()) for s in symbols}
        for body in "ij":
            triad = np.linalg.qr(random.normal(size=(3, 3)))[0]
            directions = [m for m in d.moving if m.body == body and m.kind in ("direction", "frame")]
            for m, axis in zip(directions, triad, strict=False):
                values |= dict(zip(m.symbols, axis.tolist(), strict=True))
        return values | {sp.Symbol("to_xi", real=True): 0.6, sp.Symbol("to_eta", real=True): 0.8}

    direction = refuse_unequal_forces(d.scope, d.wrench, sample, d.direction)
    length = float(np.linalg.norm(direction))
    if abs(length - 1.0) > BALANCE_TOLERANCE:
        raise d.scope.error(
            f"its direction has the length {length:.3g}, limit 1, for unit vectors; divide the direction by its length"
        )


def emit_limit(d: LimitDerivation, source: str) -> str:
    """The module of a limit: its direction, the reported quantities, and its force on both bodies."""
    layout = Layout(d.scope)
    layout.place |= {s: f"slope[{k}]" for k, s in enumerate(SLOPE)}
    base, extra = ("body_i", "body_j", "x"), (layout.rates, layout.long)
    kernels = [
        kernel(layout, "direction", (*base, "u"), indexed("u", d.direction), "Direction that the cone restrains"),
        kernel(
            layout, "measure", (*base, "slope", "out"), indexed("out", [d.angle, d.rate, d.moment]),
            "Angle, rate, and the moment of the potential whose slope dV/du is given",
        ),
        kernel(
            layout, "wrench", (*base, "slope", "Q"), indexed("Q", d.wrench),
            "Q: force and moment on body i, then on body j; slope is dV/du",
        ),
        kernel(layout, "reference", (*base, "out"), indexed("out", d.scope.held.values()), "Held constants, now"),
        tangent(
            "direction_tangent", base, layout.place, indexed("u", d.direction), "Derivatives of ``direction``; seeds: bodies",
            seeds_of(d.moving), *extra,
        ),
        tangent(
            "wrench_tangent", (*base, "slope"), layout.place, indexed("Q", d.wrench),
            "Derivatives of ``wrench``; seeds: bodies, slope", seeds_of(d.moving, SLOPE), *extra,
        ),
    ]  # fmt: skip
    data: dict[str, object] = {
        "NAME": d.name,
        "FITS": d.declaration.fits,
        "BORROWS": d.declaration.borrows,
        "OWN_DIRECTION": d.declaration.own_direction,
        "VECTORS": tuple((m.name, m.kind, m.body) for m in layout.vectors),
        "PARAMETERS": tuple((name,) for name in layout.parameters),
        "HELD": len(layout.held),
        "SIZE": layout.size,
    }
    return assemble_module(d.doc, layout, data_lines(data), kernels, source)
