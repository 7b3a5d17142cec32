"""Cones and measures of directions: from their formulas to kernels."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import sympy as sp

from codegen.compiler.calculus import Expr, vector
from codegen.compiler.module import assemble_module, data_lines
from codegen.compiler.reading import doc_of
from codegen.compiler.slopes import slope
from codegen.compiler.straight import function, indexed
from codegen.compiler.tangents import moved, tangent


def emit_cone(definition: Callable[..., dict[str, Expr]], source: str) -> str:
    """The module of the curve of a cone: point of the unit sphere with two derivatives, maximum latitude and its slope."""
    names = list(inspect.signature(definition).parameters)
    s, psi, *coefficients = (sp.Symbol(name, real=True) for name in names)
    curve = definition(s, psi, *coefficients)
    longitude, latitude = curve["longitude"], curve["latitude"]
    point = [sp.cos(longitude) * sp.sin(latitude), sp.sin(longitude) * sp.sin(latitude), sp.cos(latitude)]
    values = [*point, *(slope(c, s) for c in point), *(sp.diff(c, s, 2) for c in point)]
    # The slope of the latitude over the longitude, by the rule for a function of a parameter.
    rise = slope(latitude, s) / slope(longitude, s)
    # The sine of longitude - psi, written so that it is algebraic where the longitude is an arc tangent.
    bearing = sp.sin(longitude) * sp.cos(psi) - sp.cos(longitude) * sp.sin(psi)
    place = {c: f"c[{k}]" for k, c in enumerate(coefficients)}
    kernels = [
        function("curve", ("s", "c", "out"), place, indexed("out", values), "Point of the unit sphere, and two derivatives"),
        function(
            "limit", ("s", "c", "out"), place, indexed("out", [latitude, rise]),
            "Latitude, and its derivative by the longitude",
        ),
        function(
            "bearing", ("s", "psi", "c", "out"), place, indexed("out", [bearing, slope(bearing, s)]),
            "Sine of the longitude less psi, and its derivative",
        ),
        function(
            "parameter", ("psi", "c", "out"), place, indexed("out", [curve["parameter"]]),
            "Parameter at a longitude, or a first guess",
        ),
    ]  # fmt: skip
    data = data_lines({"NAME": definition.__name__, "COEFFICIENTS": tuple(names[2:])})
    return assemble_module(doc_of(definition), None, data, kernels, source)


def emit_measures(definition: Callable[..., Any], source: str) -> str:
    """The module of measures of directions: their values, then their gradients in the first direction."""
    name = definition.__name__
    arguments = {argument: vector(argument) for argument in inspect.signature(definition).parameters}
    returned = definition(**arguments)
    measures = list(returned.values()) if isinstance(returned, dict) else [returned]
    first = next(iter(arguments.values()))
    place = {s: f"{argument}[{k}]" for argument, v in arguments.items() for k, s in enumerate(v)}
    targets = indexed("out", [*measures, *(slope(measure, s) for measure in measures for s in first)])
    doc = "Values, then gradients in the first direction"
    inputs = [s for v in arguments.values() for s in v]
    directions = [moved(s) for s in inputs], {s: moved(s) for s in inputs}
    of = f"Derivatives of ``{name}``; seeds: {', '.join(arguments)}"
    kernels = [
        function(name, (*arguments, "out"), place, targets, doc),
        tangent(f"{name}_tangent", tuple(arguments), place, targets, of, directions),
    ]
    return assemble_module(doc_of(definition), None, data_lines({"NAME": name}), kernels, source)
