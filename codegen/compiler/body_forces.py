"""Bodies and their loads: derivatives of their terms in the equations of motion."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from codegen.compiler.calculus import Expr, Scope, vector
from codegen.compiler.layout import Layout
from codegen.compiler.module import assemble_module, data_lines
from codegen.compiler.straight import Lines, indexed
from codegen.compiler.tangents import seeds_of, tangent

MATRIX = "J"  # name of the argument that is a symmetric matrix


def emit_bodies(definitions: Sequence[Callable[..., Any]], doc: str, source: str) -> str:
    """The module ``bodies``: derivatives of the values that the definitions return."""
    return assemble_module(doc, None, data_lines({}), [_tangent(definition) for definition in definitions], source)


def _tangent(definition: Callable[..., Any]) -> Lines:
    """Derivatives of a definition; the moving vectors come in ``x``, others by their names."""
    scope = Scope(definition.__name__, velocities=True)
    names = list(inspect.signature(definition).parameters)
    bare = [name for name in names if not name.endswith("_i")]
    J = sp.Matrix(3, 3, lambda a, b: sp.Symbol(f"{MATRIX}_{min(a, b)}{max(a, b)}", real=True))
    place: dict[Expr, str] = {}
    arguments: list[Any] = []
    for name in names:
        if name == MATRIX:
            arguments.append(J)
            place |= {J[a, b]: f"{MATRIX}[{a}, {b}]" for a in range(3) for b in range(a, 3)}
        else:
            arguments.append(scope.argument(name) if name.endswith("_i") else vector(name))
    layout = Layout(scope)
    place = layout.place | place | {s: f"{name}[{k}]" for name in bare for k, s in enumerate(vector(name))}
    targets = indexed("out", list(definition(*arguments)))
    signature = ("body_i", "x", *bare)
    doc = f"Derivatives of ``{definition.__name__}``; x: {', '.join(m.name for m in layout.vectors) or 'nothing'}"
    return tangent(f"{definition.__name__}_tangent", signature, place, targets, doc, seeds_of(scope.moving.values()))
