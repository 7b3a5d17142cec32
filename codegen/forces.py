"""Force elements: from a limit's geometry, a cone's curve and a law's work to kernels.

    Q = -dV/du . du/d(v, omega) - dR/d(v, omega)          (``limit_*``: u, R;  dV/du is an input)
    V = max_moment compliance W(separation(u, t) / compliance)   with the closest direction t on the cone's curve

At the closest direction the separation does not change with t to first order, so dV/du is taken with t standing still.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from codegen.calculus import Definition, Expr, Moving, Scope, Vector, name_sums, vector
from codegen.derive import (
    argument_names,
    called,
    documentation,
    jacobian_row,
    refuse_collisions,
    refuse_functions,
    refuse_unused,
)
from codegen.emit import Layout, assemble_module, data_lines, kernel
from codegen.straight import function, indexed
from codegen.tangents import moved, seeds_of, tangent

PARTS = ("direction", "angle", "rate", "dissipation")
SENSE_TOLERANCE = 1e-9
SLOPE = list(vector("slope"))
VELOCITIES = [s for body in "ij" for part in ("v", "omega") for s in vector(f"{part}_{body}")]


@dataclass(frozen=True)
class LimitDerivation:
    """All that the emitter needs of a limit's geometry.  wrench: 12 entries in the order v_i omega_i v_j omega_j."""

    name: str
    doc: str
    scope: Scope
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
    if scope.sides:
        raise scope.error("uses sided(x), which is for constraints: a force has no mirror image to refuse")
    if scope.signals:
        raise scope.error(f"uses the signal {', '.join(scope.signals)}; only constraints can be driven")
    keys = [list(scope.held), list(scope.rates)]
    named = name_sums(scope, [*expressions, *scope.held.values(), *scope.rates.values()])
    (own, dial, dissipation, potential), rest = named[: len(expressions)], iter(named[len(expressions) :])
    scope.held, scope.rates = ({key: next(rest) for key in group} for group in keys)

    rows = {symbol: jacobian_row(scope, expression) for symbol, expression in scope.rates.items()}
    push = (
        [sp.diff(potential, angle) * d for d in jacobian_row(scope, own)] if turning else jacobian_row(scope, potential)
    )
    drag = over_velocities(dissipation, rows)
    values = {s: sum(d * v for d, v in zip(row, VELOCITIES, strict=True)) for s, row in rows.items()}
    values[angle] = own
    d = LimitDerivation(
        name=definition.__name__,
        doc=documentation(scope, definition),
        scope=scope,
        direction=tuple(sp.diff(potential, g).subs(values) for g in SLOPE),
        angle=own,
        rate=sp.sympify(dial).subs(values),
        moment=(sp.diff(potential, angle) if turning else Vector(*SLOPE).cross(direction).norm()).subs(values),
        wrench=tuple(-sp.sympify(a + b).subs(values) for a, b in zip(push, drag, strict=True)),
    )
    _refuse_limits_without_sense(d)
    return d


def over_velocities(expression: Expr, rows: Mapping[Expr, Sequence[Expr]]) -> list[Expr]:
    """Derivatives by v_i, omega_i, v_j, omega_j, directly and through rates, whose rows are given."""
    derivatives = [sp.diff(expression, v) for v in VELOCITIES]
    for symbol, row in rows.items():
        derivatives = [a + sp.diff(expression, symbol) * b for a, b in zip(derivatives, row, strict=True)]
    return derivatives


def _refuse_limits_without_sense(d: LimitDerivation) -> None:
    """The direction must have the length 1, and action and reaction must be equal: no power when both bodies move as one.

    Tested with numbers: the directions of each body in the signature stand at right angles, up to three of them, and
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
    if abs(length - 1.0) > SENSE_TOLERANCE:
        raise d.scope.error(
            f"its direction has the length {length:.3g} where its vectors are unit vectors; it must have 1"
        )


def refuse_unequal_forces(
    scope: Scope, wrench: Sequence[Expr], sample: Callable[[list[Expr]], dict[Expr, float]], more: Sequence[Expr] = ()
) -> NDArray[np.float64]:
    """Refuse forces on two bodies (12,) that do not cancel, tried with the numbers of ``sample``; ``more`` in numbers."""
    expressions = [*more, *wrench]
    symbols = set().union(*(sp.sympify(e).free_symbols for e in expressions))
    symbols |= {s for m in scope.sums.values() for _, term in m.terms for s in term.symbols}
    values = sample(sorted(symbols, key=str))
    for m in scope.sums.values():
        parts = {s: sp.Float(values.get(s, 0.0)) for term in m.terms for s in term[1].symbols}
        values |= {s: float(e.xreplace(parts)) for s, e in zip(m.symbols, m.derivative_values(0), strict=True)}
    numbers = np.array(sp.lambdify(list(values), expressions, cse=True)(*values.values()), dtype=float)
    force_i, moment_i, force_j, moment_j = numbers[len(more) :].reshape(4, 3)
    arms = [np.array([values.get(s, 0.0) for s in vector(f"r_{body}")]) for body in "ij"]
    moment = moment_i + moment_j + np.cross(arms[0], force_i) + np.cross(arms[1], force_j)
    if max(np.abs(force_i + force_j).max(), np.abs(moment).max()) > SENSE_TOLERANCE * max(1.0, np.abs(numbers).max()):
        raise scope.error(
            "changes when both bodies move together as one rigid body; a force may only use what lies between the bodies"
        )
    return numbers[: len(more)]


def emit_limit(d: LimitDerivation, source: str) -> str:
    """The module of a limit: its direction, what is reported of it, and its force on both bodies."""
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
        kernel(layout, "reference", (*base, "out"), indexed("out", d.scope.held.values()), "Held constants, as they are now"),
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
        "VECTORS": tuple((m.name, m.kind, m.body) for m in layout.vectors),
        "PARAMETERS": tuple((name,) for name in layout.parameters),
        "HELD": len(layout.held),
        "SIZE": layout.size,
    }
    return assemble_module(d.doc, layout, data_lines(data), kernels, source)


def emit_cone(definition: Callable[..., dict[str, Expr]], source: str) -> str:
    """The module of a cone's curve: the point of the unit sphere with two derivatives; the maximum latitude and its slope."""
    names = list(inspect.signature(definition).parameters)
    s, psi, *coefficients = (sp.Symbol(name, real=True) for name in names)
    curve = definition(s, psi, *coefficients)
    longitude, latitude = curve["longitude"], curve["latitude"]
    point = [sp.cos(longitude) * sp.sin(latitude), sp.sin(longitude) * sp.sin(latitude), sp.cos(latitude)]
    values = [sp.diff(c, s, order) for order in range(3) for c in point]
    # The slope of the latitude over the longitude, by the rule for a function of a parameter.
    slope = sp.diff(latitude, s) / sp.diff(longitude, s)
    # The sine of longitude - psi, written so that it is algebraic where the longitude is an arc tangent.
    bearing = sp.sin(longitude) * sp.cos(psi) - sp.cos(longitude) * sp.sin(psi)
    place = {c: f"c[{k}]" for k, c in enumerate(coefficients)}
    kernels = [
        function("curve", ("s", "c", "out"), place, indexed("out", values), "Point of the unit sphere, and two derivatives"),
        function(
            "limit", ("s", "c", "out"), place, indexed("out", [latitude, slope]),
            "Latitude, and its slope over the longitude",
        ),
        function(
            "bearing", ("s", "psi", "c", "out"), place, indexed("out", [bearing, sp.diff(bearing, s)]),
            "Sine of the longitude's distance from psi, and its derivative",
        ),
        function(
            "parameter", ("psi", "c", "out"), place, indexed("out", [curve["parameter"]]),
            "Parameter at a longitude, or a first guess",
        ),
    ]  # fmt: skip
    data = data_lines({"NAME": definition.__name__, "COEFFICIENTS": tuple(names[2:])})
    return assemble_module(inspect.getdoc(definition) or "", None, data, kernels, source)


def emit_measures(definition: Callable[..., Any], source: str) -> str:
    """The module of measures of directions: their values, then their gradients in the first direction."""
    name = definition.__name__
    arguments = {argument: vector(argument) for argument in inspect.signature(definition).parameters}
    returned = definition(**arguments)
    measures = list(returned.values()) if isinstance(returned, dict) else [returned]
    first = next(iter(arguments.values()))
    place = {s: f"{argument}[{k}]" for argument, v in arguments.items() for k, s in enumerate(v)}
    targets = indexed("out", [*measures, *(sp.diff(measure, s) for measure in measures for s in first)])
    doc = "Values, then gradients in the first direction"
    inputs = [s for v in arguments.values() for s in v]
    directions = [moved(s) for s in inputs], {s: moved(s) for s in inputs}
    of = f"Derivatives of ``{name}``; seeds: {', '.join(arguments)}"
    kernels = [
        function(name, (*arguments, "out"), place, targets, doc),
        tangent(f"{name}_tangent", tuple(arguments), place, targets, of, directions),
    ]
    return assemble_module(inspect.getdoc(definition) or "", None, data_lines({"NAME": name}), kernels, source)


def emit_law(definition: Callable[[Expr], Expr], source: str) -> str:
    """The module of a law: its work and its moment, both as fractions."""
    x = sp.Symbol("x", real=True)
    work = definition(x)
    targets = indexed("out", [sp.horner(sp.diff(work, x, order)) for order in range(3)])
    kernels = [
        function("law", ("x", "out"), {}, targets, "Work W, its slope, which is the moment, and the moment's slope")
    ]
    return assemble_module(
        inspect.getdoc(definition) or "", None, data_lines({"NAME": definition.__name__}), kernels, source
    )
