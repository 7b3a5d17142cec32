"""Laws and reflexes of muscles: from formulas to kernels of tensions, rates of states and excitations, with exact derivatives."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from codegen.compiler.bounds import bounds_of_law
from codegen.compiler.calculus import RESERVED, Definition, Expr, Scope, as_expression
from codegen.compiler.corners import corner, corner_kernel, passed
from codegen.compiler.curves import curve, knots_in
from codegen.compiler.force_calculus import ramp, step
from codegen.compiler.laws import entry
from codegen.compiler.module import assemble_module, data_lines
from codegen.compiler.reading import called, documentation, is_scalar, refuse_functions
from codegen.compiler.rounding import beyond_rounding
from codegen.compiler.straight import Lines, Values, function, indexed
from codegen.compiler.tangents import moved, tangent

INPUTS = ("length", "length_dot", "excitation")  # first arguments of every law
MEASURED = INPUTS[:2]  # those of every reflex
NAMED = "named"  # the operator that makes statements
FIRST = ("tension", "energy")  # outputs of every law, before the rates of its states and the reported quantities
RATES, RIGID = "rates", "rigid"
TAKEN = (*RESERVED, *INPUTS, "c", "n", "seeds", "corner", "delay")  # names that kernels and builders use themselves
# What kernels give, in words.
OF_LAWS = "Tension, energy, rates, reports", "tension, energy and rates", "tension and rates"
OF_REFLEXES = ("Excitation", *2 * ["the excitation"])
Law = dict[str, Any]


def emit_muscle(definition: Definition, source: str) -> str:
    """The module of a law of muscles.

    Its kernels take x, which is length, its rate, excitation and the states, and c, the constants; they put the tension, the
    energy, the rates of the states and the reported quantities into out.  ``law`` is the law, ``rigid`` that of a rigid tendon if
    there is one; ``..._tangent`` gives derivatives by x, of tension, energy and rates, and ``..._parameters`` by c, of tension
    and rates, in directions ``seeds``.  ``..._kinks``, where there are any, gives numbers that change sign at kinks of these.

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks.
    """
    scope = Scope(definition.__name__)
    arguments = inspect.signature(definition).parameters
    symbols = _symbols(scope, arguments, INPUTS)
    statements: dict[Expr, Expr] = {}

    def named(x: Any) -> Expr:
        symbol = sp.Symbol(f"{NAMED}{len(statements)}", real=True)
        statements[symbol] = as_expression(x)
        return symbol

    given = symbols | ({NAMED: named} if NAMED in arguments else {})
    returned = called(scope, definition, given)
    laws = {"law": _law(scope, returned, symbols)}
    if RIGID in laws["law"]:
        laws[RIGID] = _law(scope, laws["law"].pop(RIGID), symbols)
    _refuse_forms(scope, laws, symbols, statements)
    states = tuple(name for name in symbols if name in laws["law"][RATES])
    constants = [name for name in symbols if name not in (*INPUTS, *states)]
    reports = [name for name in laws["law"] if name not in (*FIRST, RATES)]
    doc = documentation(scope, definition)
    units = bounds_of_law(scope.definition, doc, [*constants, *dict.fromkeys((*states, *FIRST, *reports))], lowest=None)
    kernels: list[Lines] = [corner_kernel()] if any(isinstance(e, corner) for e in statements.values()) else []
    kinks: dict[str, int] = {}
    for name, law in laws.items():
        outputs = [
            *(law[key] for key in FIRST),
            *(law[RATES].get(s, sp.S.Zero) for s in states),
            *(law[key] for key in reports),
        ]
        own, kinks[name] = _kernels(name, outputs, symbols, len(INPUTS) + len(states), statements, OF_LAWS)
        kernels += own
    data = {
        "NAME": scope.definition,
        "SORT": "muscle",
        "STATES": tuple((name, units[name][3] or "1") for name in states),
        "PARAMETERS": tuple(constants),
        "DEFAULTS": _defaults(arguments),
        "BOUNDS": {name: units[name] for name in constants},
        "OUTPUTS": tuple((name, units[name][3] or "1") for name in (*FIRST, *reports)),
        "RIGID": RIGID in laws,
        "KINKS": kinks,
    }
    return assemble_module(doc, None, data_lines(data), kernels, source)


def emit_reflex(definition: Definition, source: str) -> str:
    """The module of a reflex.

    Its kernels take x, which is length, its rate and the excitation that is given, and c, the constants; they put the excitation
    into out: what a definition returns that takes the one that is given, else its sum with this within 0 and 1.  ``reflex`` and
    ``reflex_...`` are as those of a law.

    Raises
    ------
    DefinitionError
        Naming the definition and the rule that it breaks.
    """
    scope = Scope(definition.__name__)
    arguments = inspect.signature(definition).parameters
    whole = INPUTS[-1] in arguments
    own = _symbols(scope, arguments, (*MEASURED, *INPUTS[-1:] * whole))
    found = called(scope, definition, own)
    if not is_scalar(found):
        raise scope.error(f"returned the wrong shape: {found!r:.80}; it must be one number, an expression")
    given = sp.Symbol(INPUTS[-1], real=True)
    total = as_expression(found) if whole else given + as_expression(found)
    law = {"excitation": total, RATES: {}}
    _refuse_forms(scope, {"law": law}, own | {INPUTS[-1]: given}, {})
    constants = [name for name in own if name not in INPUTS]
    doc = documentation(scope, definition)
    units = bounds_of_law(scope.definition, doc, constants, lowest=None)
    symbols = {name: own[name] for name in MEASURED} | {INPUTS[-1]: given} | {name: own[name] for name in constants}
    result = total if whole else total + ramp(-total) - ramp(total - 1)
    kernels, kinks = _kernels("reflex", [result], symbols, len(INPUTS), {}, OF_REFLEXES)
    data = {
        "NAME": scope.definition,
        "SORT": "reflex",
        "PARAMETERS": tuple(constants),
        "DEFAULTS": _defaults(arguments),
        "BOUNDS": {name: units[name] for name in constants},
        "KINKS": kinks,
    }
    return assemble_module(doc, None, data_lines(data), kernels, source)


def _defaults(arguments: Mapping[str, inspect.Parameter]) -> dict[str, float]:
    return {name: float(p.default) for name, p in arguments.items() if p.default is not p.empty}


def _symbols(scope: Scope, arguments: Mapping[str, inspect.Parameter], first: Sequence[str]) -> dict[str, Expr]:
    """The symbols of the arguments without the operator, constants last; refuse unclear ones."""
    names = [name for name in arguments if name != NAMED or first is not INPUTS]
    if tuple(names[: len(first)]) != first:
        sort, then = (
            ("law of muscles", "its states and its constants") if first is INPUTS else ("reflex", "its constants")
        )
        raise scope.error(
            f"its first arguments are {', '.join(names[: len(first)]) or 'missing'}; a {sort} takes {', '.join(first)}, then "
            f"{then}"
        )
    for name, p in arguments.items():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise scope.error(f"argument '{p}': name every argument")
        if name in TAKEN and name not in first:
            raise scope.error(f"argument '{name}' has a name that the kernels use themselves; choose another")
        if p.default is not p.empty and (name in first or type(p.default) not in (int, float)):
            raise scope.error(f"argument '{p}': only a constant has a default, which is a number")
    return {name: sp.Symbol(name, real=True) for name in names}


def _law(scope: Scope, returned: object, symbols: Mapping[str, Expr]) -> Law:
    """What a law returned, as expressions; refuse other shapes."""
    if not isinstance(returned, dict) or not {*FIRST, RATES} <= set(returned) or not isinstance(returned[RATES], dict):
        raise scope.error(
            f"must return {', '.join((*FIRST, RATES))} by name, and reported quantities; '{RATES}' maps names of states to rates"
        )
    rates = returned[RATES]
    if unknown := [name for name in rates if name not in symbols or name in INPUTS]:
        raise scope.error(f"'{RATES}' names {', '.join(map(str, unknown))}, which is no state; add it to the arguments")
    own = {name: value for name, value in returned.items() if name not in (RATES, RIGID)}
    for what, value in [*own.items(), *((f"rate of {name}", value) for name, value in rates.items())]:
        if not is_scalar(value):
            raise scope.error(f"'{what}' has the wrong shape: {value!r:.80}; it must be one number, an expression")
    found = {name: as_expression(value) for name, value in own.items()}
    more = {RIGID: returned[RIGID]} if RIGID in returned else {}
    return {**found, RATES: {name: as_expression(value) for name, value in rates.items()}, **more}


def _refuse_forms(
    scope: Scope, laws: Mapping[str, Law], symbols: Mapping[str, Expr], statements: Mapping[Expr, Expr]
) -> None:
    """Refuse functions without derivatives, foreign symbols, unused arguments, and outputs that differ with a rigid tendon."""
    found = [*statements.values()]
    for law in laws.values():
        found += [*law[RATES].values(), *(value for name, value in law.items() if name != RATES)]
    refuse_functions(scope, found, (ramp, step, corner, curve))
    used = set().union(*(e.free_symbols for e in found))
    if foreign := used - set(symbols.values()) - set(statements):
        raise scope.error(f"uses {', '.join(sorted(map(str, foreign)))}, which is no argument; add it to the arguments")
    for name, symbol in symbols.items():
        if symbol not in used and name not in INPUTS:
            raise scope.error(f"argument '{name}' is not used; use it or remove it")
    for what, law in laws.items():
        if set(law) != set(laws["law"]) or not set(law[RATES]) <= set(laws["law"][RATES]):
            raise scope.error(f"'{what}' must have the outputs of the law itself, and no other states")


def _kernels(
    name: str, outputs: Sequence[Expr], symbols: Mapping[str, Expr], inputs: int, statements: Values, said: Sequence[str]
) -> tuple[list[Lines], int]:  # fmt: skip
    """A law with its derivatives by x and by c, and their entries; its kinks, and their number; ``said``: as of OF_LAWS."""
    every = list(symbols.values())
    first, constants = every[:inputs], every[inputs:]
    place = {s: f"x[{k}]" for k, s in enumerate(first)} | {s: f"c[{k}]" for k, s in enumerate(constants)}
    acting = outputs[: len(FIRST) + inputs - len(INPUTS)]
    long = set(statements)
    pointed = {"x": f"carray(x, ({inputs},))", "c": f"carray(c, ({max(len(constants), 1)},))"}
    lines = [
        function(name, ("x", "c", "out"), place, indexed("out", outputs), said[0], statements, long),
        entry(name, {**pointed, "out": f"carray(out, ({len(outputs)},))"}),
    ]
    of_sorts = ("tangent", first, "x", acting), ("parameters", constants, "c", [acting[0], *acting[len(FIRST) :]])
    for sort, seeds, by, targets in of_sorts:
        rows = [moved(s) for s in seeds]
        directions = rows, dict(zip(seeds, rows, strict=True))
        what = said[1] if targets is acting else said[2]
        doc = f"Derivatives of {what} of ``{name}``; seeds: {by}"
        shape = {
            "seeds": f"carray(seeds, ({len(seeds)}, {len(seeds)}))",
            "out": f"carray(out, ({len(targets)}, {len(seeds)}))",
        }
        lines += [
            tangent(f"{name}_{sort}", ("x", "c"), place, indexed("out", targets), doc, directions, statements, long),
            entry(f"{name}_{sort}", {**pointed, **shape}),
        ]
    kinks, values = _kinks([acting[0], *acting[len(FIRST) :]], first, statements), dict(statements)
    if kinks:
        targets = indexed("out", [beyond_rounding(x, values) for x in kinks])
        doc = f"Numbers that change sign at kinks of ``{name}``, 0 within their rounding"
        lines.append(function(f"{name}_kinks", ("x", "c", "out"), place, targets, doc, values, set(values)))
    return lines, len(kinks)


def _kinks(acting: Sequence[Expr], inputs: Sequence[Expr], statements: Values) -> list[Expr]:
    """The arguments of ramps and steps on which the tension and the rates depend, and those from knots, if they vary with x."""
    varying, needed, reached = set(inputs), set().union(*(e.free_symbols for e in acting)), list(acting)
    for symbol, e in statements.items():
        varying |= {symbol} if e.free_symbols & varying else set()
    for symbol, e in reversed(statements.items()):
        if symbol in needed:
            needed |= e.free_symbols
            reached.append(e)
    found = {atom.args[0] for e in reached for atom in e.atoms(ramp, step) if not isinstance(atom, passed)}
    found |= set().union(*map(knots_in, reached))
    each = {-x if x.could_extract_minus_sign() else x for x in found if x.free_symbols & varying}
    return sorted(each, key=sp.default_sort_key)
