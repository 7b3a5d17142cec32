"""Spans and points of paths, with their tangents.

From a length between bodies follow its rate and the force of a unit tension, from a place its velocity and the forces on the
bodies of a force there.
"""

from __future__ import annotations

from codegen.compiler.bounds import singular_of
from codegen.compiler.calculus import Definition, Expr
from codegen.compiler.force_elements import (
    WRENCH,
    ForceDerivation,
    data_of,
    derive_point,
    derive_span,
    kernels_of_arguments,
    kernels_of_kinks,
    kinks_of,
)
from codegen.compiler.layout import kernel
from codegen.compiler.module import assemble_module, data_lines
from codegen.compiler.straight import Lines, indexed
from codegen.compiler.tangents import seeds_of, tangent


def emit_path(definition: Definition, source: str) -> str:
    """The module of a span: ``span`` and ``span_tangent``, and ``kinks`` where it has any."""
    d = derive_span(definition)
    outputs = [d.potential, d.potential_rate, *d.wrench[: WRENCH * len(_bodies(d))]]
    doc = "Length, its rate, and force and moment of a unit tension on each body"
    return _module(d, [*_with_tangent(d, "span", outputs, doc), *_kinks(d)], data_of(d), source)


def emit_point(definition: Definition, source: str) -> str:
    """The module of a point: ``point`` and ``pull`` with tangents, ``reference``, and ``angles``, ``lookups`` and ``kinks``."""
    d = derive_point(definition)
    bodies, held = _bodies(d), indexed("out", d.scope.held.values())
    kernels = _with_tangent(
        d, "point", [*d.reports.values()], "Place, its velocity, and whether it belongs to the path"
    )
    kernels += _with_tangent(
        d, "pull", list(d.wrench[: WRENCH * len(bodies)]), "Force and moment of a force at the place"
    )
    kernels.append(kernel(d.layout, "reference", (*_arguments(d), "out"), held, "Angles, now"))
    kernels += [lines for _, lines, _ in kernels_of_arguments(d, _arguments(d))]
    data = data_of(d) | {
        "BODIES": bodies, "ANGLES": len(d.scope.angles), "TABLES": tuple(name for name, _ in d.lookups),
        "MAY_LEAVE": not d.reports["belongs"].is_number,
    }  # fmt: skip
    return _module(d, [*kernels, *_kinks(d)], data, source)


def _bodies(d: ForceDerivation) -> tuple[str, ...]:
    named = {*d.bodies, *(m.body for m in d.moving)}
    return tuple(d.scope.bodies[: 1 + max(map(d.scope.bodies.index, named))])


def _arguments(d: ForceDerivation) -> tuple[str, ...]:
    return *(f"body_{body}" for body in _bodies(d)), "x"


def _with_tangent(d: ForceDerivation, name: str, values: list[Expr], doc: str) -> list[Lines]:
    """A kernel and its derivatives along changes of the bodies, and then of the states of the definition."""
    layout, outputs, seeds = d.layout, indexed("out", values), seeds_of(d.moving, d.scope.states, _bodies(d))
    of_tangent = (
        f"Derivatives of what ``{name}`` gives; seeds: bodies{', components of the force' * bool(d.scope.states)}"
    )
    return [
        kernel(layout, name, (*_arguments(d), "out"), outputs, doc),
        tangent(f"{name}_tangent", _arguments(d), layout.place, outputs, of_tangent, seeds, layout.rates, layout.long),
    ]


def _kinks(d: ForceDerivation) -> list[Lines]:
    return kernels_of_kinks(d, d.layout, _arguments(d))


def _module(d: ForceDerivation, kernels: list[Lines], data: dict[str, object], source: str) -> str:
    more = {"SORT": "path", "KINKS": len(kinks_of(d)), "SIZE": d.layout.size, "SINGULAR": singular_of(d.doc)}
    return assemble_module(d.doc, d.layout, data_lines(data | more), kernels, source)
