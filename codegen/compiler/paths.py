"""Spans of paths: from a length between bodies to its rate, the force of a unit tension, and their tangent."""

from __future__ import annotations

from codegen.compiler.bounds import singular_of
from codegen.compiler.calculus import Definition
from codegen.compiler.force_elements import (
    WRENCH,
    data_of,
    derive_span,
    kernels_of_kinks,
    kinks_of,
)
from codegen.compiler.layout import kernel
from codegen.compiler.module import assemble_module, data_lines
from codegen.compiler.straight import indexed
from codegen.compiler.tangents import seeds_of, tangent


def emit_path(definition: Definition, source: str) -> str:
    """The module of a span: ``span`` and ``span_tangent``, and ``kinks`` where it has any."""
    d = derive_span(definition)
    layout, named = d.layout, {*d.bodies, *(m.body for m in d.moving)}
    bodies = d.scope.bodies[: 1 + max(map(d.scope.bodies.index, named))]
    arguments = (*(f"body_{body}" for body in bodies), "x")
    outputs = indexed("out", [d.potential, d.potential_rate, *d.wrench[: WRENCH * len(bodies)]])
    doc = "Length, its rate, and force and moment of a unit tension on each body"
    directions = seeds_of(d.moving, (), bodies)
    kernels = [
        kernel(layout, "span", (*arguments, "out"), outputs, doc),
        tangent(
            "span_tangent", arguments, layout.place, outputs, "Derivatives of what ``span`` gives; seeds: bodies",
            directions, layout.rates, layout.long,
        ),
        *kernels_of_kinks(d, layout, arguments),
    ]  # fmt: skip
    data = data_of(d) | {
        "SORT": "path", "KINKS": len(kinks_of(d)), "SIZE": layout.size, "SINGULAR": singular_of(d.doc),
    }  # fmt: skip
    return assemble_module(d.doc, layout, data_lines(data), kernels, source)
