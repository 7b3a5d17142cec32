"""Contacts: from their geometry (``codegen.contacts``) to kernels with exact derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sp

from codegen.compiler.calculus import Definition, Expr, Moving, Scope, Vector, name_sums, vector
from codegen.compiler.derive import jacobian_row
from codegen.compiler.forces import VELOCITIES, over_velocities, refuse_unequal_forces
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
from codegen.compiler.straight import function, indexed
from codegen.compiler.tangents import seeds_of, tangent

PARTS = ("penetration", "slip", "point")
FORCE = [sp.Symbol("f_n", real=True), *vector("f_t")]
BASE = ("body_i", "body_j", "x")


@dataclass(frozen=True)
class ContactDerivation:
    """Everything that the emitter needs of a contact's geometry.  wrench: 12 entries in the order v_i omega_i v_j omega_j."""

    name: str
    doc: str
    scope: Scope
    measure: tuple[Expr, ...]  # penetration, its rate, slip
    point: tuple[Expr, ...]
    wrench: tuple[Expr, ...]

    @property
    def moving(self) -> list[Moving]:
        """The moving quantities in the order of the signature."""
        return list(self.scope.moving.values())


def derive_contact(definition: Definition) -> ContactDerivation:
    """Derive a contact's geometry.  Raises DefinitionError, which names the definition and the rule it breaks."""
    scope = Scope(definition.__name__, velocities=True)
    arguments = {name: scope.argument(name) for name in argument_names(scope, definition)}
    refuse_collisions(scope)
    parts = called(scope, definition, arguments)
    if not isinstance(parts, dict) or tuple(parts) != PARTS:
        raise scope.error(f"must return {', '.join(PARTS)} by name")
    if not isinstance(parts["slip"], Vector) or not isinstance(parts["point"], Vector):
        raise scope.error("slip and point must be Vectors")
    expressions = [sp.sympify(e) for e in (parts["penetration"], *parts["slip"], *parts["point"])]
    refuse_unused(scope, arguments, tuple(expressions))
    refuse_functions(scope, [*expressions, *scope.rates.values()])
    if scope.branch_signs or scope.held:
        raise scope.error("uses held(x) or keeps_sign(x), which are for joints")
    rates = list(scope.rates)
    named = name_sums(scope, [*expressions, *scope.rates.values()])
    scope.rates = dict(zip(rates, named[len(expressions) :], strict=True))
    penetration, *slip = named[:4]

    deeper = jacobian_row(scope, penetration)
    rows = {symbol: jacobian_row(scope, expression) for symbol, expression in scope.rates.items()}
    slips = [over_velocities(component, rows) for component in slip]
    values = {s: _times(row, VELOCITIES) for s, row in rows.items()}
    f_n, *f_t = FORCE
    d = ContactDerivation(
        name=definition.__name__,
        doc=documentation(scope, definition),
        scope=scope,
        measure=(penetration, _times(deeper, VELOCITIES), *(sp.sympify(c).xreplace(values) for c in slip)),
        point=tuple(named[4:7]),
        wrench=tuple(-f_n * n + _times(f_t, column) for n, *column in zip(deeper, *slips, strict=True)),
    )
    random = np.random.default_rng(1)
    refuse_unequal_forces(d.scope, d.wrench, lambda symbols: {s: float(random.normal()) for s in symbols})
    return d


def _times(a: list[Expr], b: list[Expr]) -> Expr:
    return sum((x * y for x, y in zip(a, b, strict=True)), sp.S.Zero)


def emit_contact(d: ContactDerivation, source: str) -> str:
    """The module of the geometry of a contact: the inputs of its laws, and the force on both bodies."""
    layout = Layout(d.scope)
    forced = layout.place | {s: f"f[{k}]" for k, s in enumerate(FORCE)}
    own = [s for m in layout.vectors for s in m.symbols] + list(d.scope.parameters.values())
    measure, wrench = indexed("out", d.measure), indexed("Q", d.wrench)
    place, extra = layout.place, (layout.rates, layout.long)
    bodies, forces, parameters = (seeds_of(d.moving, others) for others in ((), FORCE, own))
    kernels = [
        kernel(layout, "measure", (*BASE, "out"), measure, "Penetration, its rate, slip"),
        kernel(layout, "point", (*BASE, "out"), indexed("out", d.point), "Point at which the force acts"),
        kernel(layout, "reference", (*BASE, "out"), [], "No held constants"),
        function("wrench", (*BASE, "f", "Q"), forced, wrench, "Q: force and moment on body i, then j; f: f_n, f_t", *extra),
        tangent("measure_tangent", BASE, place, measure, "Derivatives of ``measure``; seeds: bodies", bodies, *extra),
        tangent(
            "measure_parameter_tangent", BASE, place, measure, "Derivatives of ``measure``; seeds: bodies, x", parameters,
            *extra,
        ),
        tangent(
            "wrench_tangent", (*BASE, "f"), forced, wrench, "Derivatives of ``wrench``; seeds: bodies, f", forces, *extra
        ),
    ]  # fmt: skip
    data: dict[str, object] = {
        "NAME": d.name,
        "VECTORS": tuple((m.name, m.kind, m.body) for m in layout.vectors),
        "PARAMETERS": tuple((name,) for name in layout.parameters),
        "HELD": 0,
        "BRANCH_SIGNS": 0,
        "SIGNALS": tuple(layout.signals),
        "SIZE": layout.size,
    }
    return assemble_module(d.doc, layout, data_lines(data), kernels, source)
