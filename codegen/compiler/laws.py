"""Laws of limits and contacts: from their formulas to kernels with exact derivatives, and the proofs that they restrain.

The proofs take random values of the parameters within their bounds; the runtime checks the values of a user again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from codegen.compiler.bounds import Bounds, bounds_of_law
from codegen.compiler.calculus import RESERVED, Expr, Scope, as_expression, vector
from codegen.compiler.curves import curve
from codegen.compiler.force_calculus import step
from codegen.compiler.module import assemble_module, data_lines
from codegen.compiler.reading import argument_names, called, documentation, is_scalar, refuse_functions
from codegen.compiler.slopes import slope
from codegen.compiler.straight import Lines, function, indexed

RELATIVE, ABSOLUTE = "x", "excess"  # first argument of a law of restriction: excess by compliance, or the excess itself
COMPLIANCE = sp.Symbol("compliance", positive=True)
NORMAL, FRICTION = ("delta", "delta_dot"), ("slip", "normal_force")  # first arguments of laws of contact
PIECES = ("below", "above")
# Keywords of ``Builder.limit`` and ``Builder.contact`` that are no parameters of laws.
TAKEN = {
    "law": ("self", "law", "max_moment", "compliance", "damping", "name", "joint", "reference", "xi", "eta", "cone", "direction",
            "axes"),
    "contact": ("self", "law", "name", "body", "centre", "radius", "sphere_share", "friction", "plane", "point", "normal", "belt",
                "belt_speed", "min_impact_speed", "axes"),
}  # fmt: skip
SAMPLES, PLACES = 8, 101  # sets of random parameters; places of a law at which it is evaluated
NARROWER = "state narrower bounds of its parameters, or take another form"
LOADS, TRANSITIONS = (0.0, 1.0, 1e3), (1e-3, 1.0)  # [N], [m/s] at which friction is evaluated
NONE = 1e-9  # of the largest value: what is more than rounding
Array = NDArray[np.float64]
Law = Callable[..., Any]


def emit_law(definition: Law, source: str) -> str:
    """The module of a law of restriction: its work, its moment and the slope of this, per unit of the largest moment.

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks.
    """
    scope = Scope(definition.__name__)
    names = argument_names(scope, definition)
    if not names or names[0] not in (RELATIVE, ABSOLUTE):
        raise scope.error(
            f"its first argument is {names[0] if names else 'missing'}; a law of restriction takes '{RELATIVE}', the excess by "
            f"the compliance, or '{ABSOLUTE}' [rad], and then its parameters"
        )
    x, parameters = sp.Symbol(names[0], positive=True), _parameters(scope, names[1:], "law")
    work = called(scope, definition, dict(zip(names, (x, *parameters), strict=True)))
    W = _scalars(scope, {"work": work}, (x, *parameters), names)[0]
    relative = names[0] == RELATIVE
    if not relative:
        excess, x = x, sp.Symbol(RELATIVE, positive=True)
        W = W.xreplace({excess: COMPLIANCE * x}) / COMPLIANCE
    values = [sp.simplify(sp.diff(W, x, order)) for order in range(3)]
    bounds = bounds_of_law(scope.definition, documentation(scope, definition), names[1:])
    _refuse_unsound_restriction(scope, values, x, (*parameters, COMPLIANCE), bounds, relative)
    if W.is_polynomial(x):
        values = [sp.horner(value, wrt=x) for value in values]
    else:  # continued inside the cone as an odd function of the excess: powers have no value there
        excess = sp.Symbol(RELATIVE, real=True)
        work, moment, bend = (value.xreplace({x: sp.Abs(excess)}) for value in values)
        values = [work, (2 * step(excess) - 1) * moment, bend]
    place = {c: f"c[{k}]" for k, c in enumerate((COMPLIANCE, *parameters))}
    doc = "Work W, its first derivative, which is the moment, its second"
    kernels = [
        function("law", (RELATIVE, "c", "out"), place, indexed("out", values), doc),
        entry("law", {RELATIVE: "carray(x, (1,))[0]", "c": f"carray(c, ({len(names)},))", "out": "carray(out, (3,))"}),
    ]
    return _assemble(scope, definition, "law", names[1:], bounds, kernels, source, RELATIVE=relative)


def emit_normal_law(definition: Law, source: str) -> str:
    """The module of a normal law: potential, elastic and damping force, and their derivatives.

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks.
    """
    scope = Scope(definition.__name__)
    names = argument_names(scope, definition)
    delta, rate = sp.Symbol(names[0], positive=True), sp.Symbol(names[1], real=True)
    parameters = _parameters(scope, names[2:], "contact")
    parts = called(scope, definition, dict(zip(names, (delta, rate, *parameters), strict=True)))
    if not isinstance(parts, dict) or set(parts) != {"potential", "dissipation"}:
        raise scope.error("must return potential and dissipation by name: the force is dV/d delta + dR/d delta_dot")
    V, R = _scalars(scope, parts, (delta, rate, *parameters), names)
    elastic, damping = slope(V, delta), slope(R, rate)
    force = elastic + damping
    values = [V, elastic, damping, slope(force, delta), slope(force, rate), slope(elastic, delta)]
    values = [sp.simplify(value) for value in values]
    bounds = bounds_of_law(scope.definition, documentation(scope, definition), names[2:])
    _refuse_unsound_normal_law(scope, values, (delta, rate), parameters, bounds)
    place = {c: f"c[{k}]" for k, c in enumerate(parameters)}
    arguments = (*NORMAL, "c", "out")
    doc = "Potential, elastic and damping force; derivatives of their sum by delta, delta', of the elastic one by delta"
    slopes = indexed("out", [sp.simplify(slope(force, c)) for c in parameters])
    pointed = {
        "delta": "carray(x, (2,))[0]",
        "delta_dot": "carray(x, (2,))[1]",
        "c": f"carray(c, ({max(len(parameters), 1)},))",
    }
    kernels = [
        function("law", arguments, place, indexed("out", values), doc),
        function("law_parameters", arguments, place, slopes, "Derivatives of the force by the parameters"),
        entry("law", {**pointed, "out": "carray(out, (6,))"}, ("x", "c", "out")),
        entry("law_parameters", {**pointed, "out": f"carray(out, ({max(len(parameters), 1)},))"}, ("x", "c", "out")),
    ]
    return _assemble(scope, definition, "contact", names[2:], bounds, kernels, source)


def emit_friction(definition: Law, source: str) -> str:
    """The module of a law of friction: its force below and above the transition velocity, with its derivatives.

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks.
    """
    scope = Scope(definition.__name__)
    names = argument_names(scope, definition)
    slip, normal = vector(names[0]), sp.Symbol(names[1], real=True)
    parameters = _parameters(scope, names[2:], "contact")
    parts = called(scope, definition, dict(zip(names, (slip, normal, *parameters), strict=True)))
    if not isinstance(parts, dict) or set(parts) != set(PIECES):
        raise scope.error(f"must return the dissipation {' and '.join(PIECES)} the transition velocity by name")
    pieces = dict(
        zip(PIECES, _scalars(scope, {p: parts[p] for p in PIECES}, (*slip, normal, *parameters), names), strict=True)
    )
    if "impact" in names:
        raise scope.error(
            "argument 'impact': the speed of the touch-down is given to normal laws alone; choose another name"
        )
    if not any(R.has(normal) for R in pieces.values()):
        raise scope.error(
            f"does not depend on {names[1]}: it would act in full from the touch-down on; multiply the dissipation by "
            f"{names[1]}, and add a viscous part if there is one"
        )
    bounds = bounds_of_law(scope.definition, documentation(scope, definition), names[2:])
    place = {c: f"c[{k}]" for k, c in enumerate(parameters)} | {s: f"{names[0]}[{k}]" for k, s in enumerate(slip)}
    pointed = {"slip": "carray(slip, (3,))", "normal_force": "carray(normal_force, (1,))[0]",
               "c": f"carray(c, ({max(len(parameters), 1)},))", "out": "carray(out, (15,))"}  # fmt: skip
    kernels, forces = [], []
    for piece, R in pieces.items():
        force = [-slope(R, s) for s in slip]
        values = [*force, *(slope(f, s) for f in force for s in slip), *(slope(f, normal) for f in force)]
        doc = f"Force {piece} the transition velocity; its derivatives by the slip (rows) and by the normal force"
        kernels.append(function(piece, (*FRICTION, "c", "out"), place, indexed("out", values), doc))
        forces.append(values)
    _refuse_unsound_friction(scope, forces, slip, normal, parameters, bounds)
    kernels += [entry(piece, pointed) for piece in PIECES]
    return _assemble(scope, definition, "friction", names[2:], bounds, kernels, source)


def emitted_contact_law(definition: Law, source: str) -> str:
    """``emit_normal_law`` or ``emit_friction``, by the first arguments of a definition.

    Raises
    ------
    DefinitionError
    """
    scope = Scope(definition.__name__)
    for first, emitted in ((NORMAL, emit_normal_law), (FRICTION, emit_friction)):
        if tuple(argument_names(scope, definition)[:2]) == first:
            return emitted(definition, source)
    raise scope.error(
        f"its first arguments are no law of contact; a normal law takes {', '.join(NORMAL)}, a law of friction "
        f"{', '.join(FRICTION)}, and then its parameters"
    )


def entry(name: str, arguments: Mapping[str, str], given: Sequence[str] = ()) -> Lines:
    """A kernel that takes pointers, for calls through its address; ``arguments``: of the kernel ``name``, from these."""
    doc = f'    """``{name}`` with pointers in place of arrays and numbers, to be called through its address."""'
    return [f"def {name}_entry({', '.join(given or arguments)}):", doc, f"    {name}({', '.join(arguments.values())})"]


def _parameters(scope: Scope, names: Sequence[str], sort: str) -> list[Expr]:
    """Symbols of parameters; refuse names that the builder or the kernels take."""
    for name in names:
        if name in TAKEN[sort]:
            raise scope.error(
                f"argument '{name}' is a keyword of every {'limit' if sort == 'law' else sort}; choose another name"
            )
        if name in RESERVED or name in ("c", "out", "x"):
            raise scope.error(f"argument '{name}' has a name that the kernels use themselves; choose another")
    return [sp.Symbol(name, real=True) for name in names]


def _scalars(scope: Scope, parts: Mapping[str, Any], symbols: Sequence[Expr], names: Sequence[str]) -> list[Expr]:
    """What a law returned as expressions; refuse other shapes and functions, and arguments that it does not use."""
    for what, value in parts.items():
        if not is_scalar(value):
            raise scope.error(f"'{what}' has the wrong shape: {value!r:.80}; it must be one number, an expression")
    found = [as_expression(value) for value in parts.values()]
    refuse_functions(scope, found, (curve,))
    used = set().union(*(e.free_symbols for e in found))
    for name in names:
        own = set(symbols) & {sp.Symbol(name, real=True), sp.Symbol(name, positive=True)} or set(vector(name))
        if not own & used and name not in (NORMAL[1], FRICTION[1]):
            needed = name in (RELATIVE, ABSOLUTE, NORMAL[0], FRICTION[0])
            raise scope.error(f"argument '{name}' is not used; use it{'' if needed else ' or remove it'}")
    if foreign := used - set(symbols):
        raise scope.error(f"uses {', '.join(sorted(map(str, foreign)))}, which is no argument; add it to the arguments")
    return found


def _assemble(
    scope: Scope, definition: Law, sort: str, parameters: Sequence[str], bounds: Mapping[str, Bounds], kernels: list[Lines],
    source: str, **more: Any,
) -> str:  # fmt: skip
    """The module of a law from its kernels."""
    data = {"NAME": scope.definition, "SORT": sort, "PARAMETERS": tuple(parameters), "BOUNDS": dict(bounds), **more}
    return assemble_module(documentation(scope, definition), None, data_lines(data), kernels, source)


def _sets(bounds: Mapping[str, Bounds], parameters: Sequence[Expr]) -> Iterator[list[float]]:
    """Random values of parameters within their bounds."""
    random = np.random.default_rng(1)
    for _ in range(SAMPLES):
        values = []
        for symbol in parameters:
            lower, _, upper, _ = bounds.get(str(symbol), (0.0, True, None, ""))
            share, least = float(random.uniform(0.25, 1.0)), lower or 0.0
            values.append(least + share * (2.0 if upper is None else min(2.0, upper - least)))
        yield values


def _at(values: Sequence[Expr], symbols: Sequence[Expr], *numbers: Any) -> Array:
    """Values of expressions (expressions, ...) at numbers, not finite where they are not."""
    with np.errstate(all="ignore"):
        found = sp.lambdify(list(symbols), list(values), modules="numpy")(*map(np.asarray, numbers))
    return np.array(np.broadcast_arrays(*found), dtype=float)


def _set_text(parameters: Sequence[Expr], values: Sequence[float]) -> str:
    listed = ", ".join(f"{c} = {v:.3g}" for c, v in zip(parameters, values, strict=True))
    return f" with {listed}" if listed else ""


def _refuse_unsound_restriction(
    scope: Scope,
    values: Sequence[Expr],
    x: Expr,
    parameters: Sequence[Expr],
    bounds: Mapping[str, Bounds],
    relative: bool,
) -> None:
    """Refuse a moment that is not 0 at the edge, pulls, or is not the largest one at the end of a law of the relative excess."""
    places = np.linspace(0.0, 1.0, PLACES)
    for own in _sets(bounds, parameters):
        work, moment, bend = _at(values, (x, *parameters), places, *own)
        at, largest = _set_text(parameters, own), float(np.abs(moment).max())
        if not np.isfinite([work, moment, bend]).all():
            bad = places[~np.isfinite([work, moment, bend]).all(axis=0)][0]
            raise scope.error(f"its work, moment or slope is not finite at x = {bad:.2g}{at}; {NARROWER}")
        if abs(work[0]) > NONE * max(largest, 1.0) or abs(moment[0]) > NONE * largest:
            raise scope.error(
                f"is not zero at its edge: work {work[0]:.3g} and moment {moment[0]:.3g} at x = 0{at}, limit 0; subtract them"
            )
        if moment.min() < -NONE * largest:
            bad = places[int(np.argmin(moment))]
            raise scope.error(
                f"pulls: its moment is {moment.min():.3g} at x = {bad:.2g}{at}, limit 0; the work must not fall"
            )
        if not largest > 0.0:
            raise scope.error(f"has no effect: its moment is zero{at}; give a work that rises")
        if relative and abs(moment[-1] - 1.0) > NONE:
            raise scope.error(
                f"its moment is {moment[-1]:.6g} at x = 1{at}, limit 1: max_moment is the moment at the end of the compliance; "
                f"divide the work by it, or take '{ABSOLUTE}' as the first argument"
            )


def _refuse_unsound_normal_law(
    scope: Scope,
    values: Sequence[Expr],
    motion: tuple[Expr, Expr],
    parameters: Sequence[Expr],
    bounds: Mapping[str, Bounds],
) -> None:
    """Refuse a force with adhesion, one that is not 0 at its edge, and damping that feeds power in."""
    places = np.linspace(0.0, 1.0, PLACES)
    for own in _sets(bounds, parameters):
        at = _set_text(parameters, own)
        for rate in (-0.5, 0.5):
            found = _at(values, (*motion, *parameters), places, rate, *own)
            if not np.isfinite(found).all():
                bad = places[~np.isfinite(found).all(axis=0)][0]
                raise scope.error(f"its force or slope is not finite at delta = {bad:.2g}{at}; {NARROWER}")
            potential, elastic, damping = found[:3]
            size = max(float(np.abs(found[1:3]).max()), 1e-300)
            if max(abs(potential[0]), abs(elastic[0])) > NONE * max(size, 1.0):
                raise scope.error(
                    f"is not zero at its edge: potential {potential[0]:.3g}, elastic force {elastic[0]:.3g} at delta = 0{at}, "
                    "limit 0; subtract them"
                )
            if elastic.min() < -NONE * size:
                bad = places[int(np.argmin(elastic))]
                raise scope.error(
                    f"has adhesion: its elastic force is {elastic.min():.3g} at delta = {bad:.2g}{at}, limit 0; the potential "
                    "must not fall"
                )
            if (damping * rate).min() < -NONE * size:
                bad = places[int(np.argmin(damping * rate))]
                raise scope.error(
                    f"feeds power in: its damping force is {damping[places == bad][0]:.3g} at the rate {rate:g} and delta = "
                    f"{bad:.2g}{at}; it must have the sign of the rate"
                )


def _refuse_unsound_friction(
    scope: Scope,
    forces: Sequence[Sequence[Expr]],
    slip: Any,
    normal: Expr,
    parameters: Sequence[Expr],
    bounds: Mapping[str, Bounds],
) -> None:
    """Refuse friction across or along the slip, a force that is not 0 without slip, and one that jumps between its pieces."""
    random, symbols = np.random.default_rng(2), (*slip, normal, *parameters)
    for own, load in itertools.product(_sets(bounds, parameters), LOADS):
        at = _set_text((normal, *parameters), (load, *own))
        given = dict(zip(map(str, parameters), own, strict=True)).get("transition_velocity")
        transition = given or 1.0
        direction = (lambda d: d / np.linalg.norm(d))(random.normal(size=3))
        still, beyond = (_at(forces[0], symbols, 0.0, 0.0, 0.0, one, *own) for one in (load, -load))
        if not np.isfinite(still).all():
            raise scope.error(f"its force or slope is not finite without slip{at}; {NARROWER}")
        if not np.isfinite(beyond).all():  # steps that are cut at a lift-off evaluate it there
            raise scope.error(
                f"its force or slope is not finite beyond a lift-off, at {normal} = {-load:g}; take the power of a positive "
                f"number, such as {normal}**2 + 1e-6"
            )
        if np.abs(still[:3]).max() > NONE:
            size = np.abs(still[:3]).max()
            raise scope.error(
                f"its force is {size:.3g} without slip{at}, limit 0; let the dissipation grow with its square"
            )
        for piece, values, speeds in zip(PIECES, forces, ((0.3, 1.0), (1.0, 3.0)), strict=True):
            for speed in np.array(speeds) * transition:
                f = _at(values[:3], symbols, *(speed * direction), load, *own)
                along, size = float(f @ direction), float(np.abs(f).max())
                if not np.isfinite(f).all() or np.abs(f - along * direction).max() > NONE * max(size, 1.0):
                    raise scope.error(
                        f"its force {piece} is not along the slip{at}; it may depend on the slip by slip.dot(slip)"
                    )
                if along > NONE * max(size, 1.0):
                    raise scope.error(
                        f"drives: its force {piece} is {along:.3g} along a slip of {speed:.3g} m/s{at}, limit 0"
                    )
        for speed in (transition,) if given else TRANSITIONS:
            below, above = (_at(values[:3], symbols, *(speed * direction), load, *own) for values in forces)
            if np.abs(below - above).max() > NONE * max(float(np.abs(below).max()), 1.0):
                raise scope.error(
                    f"jumps by {np.abs(below - above).max():.3g} at a transition velocity of {speed:.3g} m/s{at}, limit 0; let "
                    "both pieces meet at a parameter 'transition_velocity', or return one formula for both"
                )
