"""Reads a definition: calls it with symbols, and refuses forms that the calculus or straight-line code does not support."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType

import sympy as sp
from sympy.core.function import Application

from codegen.compiler.calculus import (
    FUNCTIONS,
    OPERATORS,
    VELOCITIES,
    Definition,
    Expr,
    Scope,
    as_expression,
    vector,
)
from codegen.compiler.errors import DefinitionError


def argument_names(scope: Scope, definition: Definition) -> list[str]:
    """The names of the arguments, which determine their meaning."""
    parameters = inspect.signature(definition).parameters.values()
    for p in parameters:
        if p.kind is not p.POSITIONAL_OR_KEYWORD or p.default is not p.empty:
            raise scope.error(
                f"argument '{p}': name every argument, without defaults, * and /; its meaning follows from its name"
            )
    return [p.name for p in parameters]


def called(scope: Scope, definition: Definition, arguments: dict[str, object]) -> object:
    """The return value of the definition, called with its symbols."""
    try:
        return definition(**arguments)
    except DefinitionError:
        raise
    except Exception as error:  # whatever the definition raises: it names the definition
        hint = (
            "vectors know +, -, dot, cross, norm and factors; equations are smooth, without branches (if, abs, float), and "
            "their functions are those of SymPy, such as sympy.exp in place of numpy.exp and math.exp"
        )
        raise scope.error(f"cannot be derived: {error}; {hint}") from error


def is_scalar(value: object) -> bool:
    """Whether a definition returned one expression."""
    try:
        expression = as_expression(value)
    except (TypeError, ValueError):
        return False
    return isinstance(expression, sp.Expr) and not expression.is_Matrix


def documentation(scope: Scope, definition: Definition) -> str:
    """The docstring of the definition, which is carried over into the generated module."""
    doc = doc_of(definition)
    if not doc:
        raise scope.error(
            "needs a docstring, for which a lambda is written with def: one sentence about it, its source, and a line "
            "'name : meaning [unit]' for each parameter"
        )
    return doc


def doc_of(documented: Callable[..., object] | ModuleType) -> str:
    """The docstring of a function or a module; by ``python -OO``, which keeps none, from the source."""
    doc = inspect.getdoc(documented)
    if doc is None and sys.flags.optimize > 1:
        with suppress(OSError, SyntaxError, TypeError):
            tree: ast.AST = ast.parse(textwrap.dedent(inspect.getsource(documented)))
            tree = tree if inspect.ismodule(documented) else tree.body[0]  # type: ignore[attr-defined]
            doc = ast.get_docstring(tree)  # type: ignore[arg-type]
    return doc or ""


def refuse_functions(scope: Scope, expressions: list[Expr], more: tuple[type, ...] = ()) -> None:
    """Refuse complex numbers, and functions that branch or have no derivative: kernels are straight-line code of real numbers.

    ``more``: others that are known.
    """
    for expression in map(as_expression, expressions):
        if expression.has(sp.I):
            raise scope.error(f"is complex: {expression!s:.80}; give real expressions")
        for function in expression.atoms(Application):
            if not isinstance(function, (*FUNCTIONS, *more)):
                known = ", ".join([*(f.__name__ for f in FUNCTIONS), *(f"{f.__module__}.{f.__name__}" for f in more)])
                raise scope.error(
                    f"uses the function '{function.func.__name__}', which is not smooth; use only sqrt, {known}"
                )


def refuse_collisions(scope: Scope) -> None:
    """Refuse constants with a name that the calculus gives to a component, a rate or a held constant."""
    taken = set(scope.held)
    for m in scope.quantities:
        taken |= {s for order in range(3) for s in m.derivative_symbols(order)}
    taken |= {signal.symbol(order) for signal in scope.signals.values() for order in (1, 2)}
    for name, symbol in scope.parameters.items():
        if symbol in taken:
            raise scope.error(f"argument '{name}' has a name that the kernels use themselves; choose another")


def refuse_unused(scope: Scope, arguments: dict[str, object], returned: tuple[Expr, ...]) -> None:
    """Refuse arguments that occur in no expression of the definition, held and carried expressions included."""
    expressions = [*returned, *scope.held.values(), *scope.branch_signs, *scope.rates.values()]
    expressions += [c for v in scope.carried.values() for c in v]
    used = set().union(*(as_expression(e).free_symbols for e in expressions))
    used_names = {m.name for m in scope.moving.values() if set(m.symbols) & used}
    # A direction that only serves across(a) is used through its two tangents.
    used_names |= {
        m.kind.split(":")[1] for m in scope.moving.values() if m.kind.startswith("across") and m.name in used_names
    }
    used_names |= {str(s) for s in used}
    used_names |= {"held"} if scope.held else set()
    used_names |= {"rate"} if scope.rates else set()
    used_names |= {"keeps_sign"} if scope.branch_signs else set()
    used_names |= {name for name in VELOCITIES if set(vector(name)) & used}
    used_names |= {m.kind.split(":")[0].rstrip("12") for m in scope.moving.values() if ":" in m.kind}
    for name in arguments:
        if name not in used_names:
            raise scope.error(f"argument '{name}' is not used; use it or remove it")
    if not any(name not in OPERATORS for name in arguments):
        raise scope.error("has no vector of a body among its arguments")
