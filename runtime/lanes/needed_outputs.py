"""Kernels with the statements that some of their outputs need, to be run with vectors."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection, Mapping
from copy import copy
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any


def call_for(module: ModuleType, name: str, outputs: Collection[int], functions: dict[str, Any], *given: Any) -> Any:
    """Run a kernel as far as some of its outputs need it, and return these by their places in its last argument.

    Parameters
    ----------
    module : module
    name : str
        Of a kernel of straight-line code, whose last argument is its array of outputs.
    outputs : collection of int
    functions : dict
        What takes the place of ``math`` and other names that the code uses.
    given : sequence
        Its arguments but the outputs.
    """
    found: Mapping[int, Any] = {}
    FunctionType(_code(module, name, frozenset(outputs)), functions)(*given, found)
    return found


@cache
def _code(module: ModuleType, name: str, outputs: frozenset[int]) -> CodeType:
    """Code of a kernel without the statements that the outputs do not need."""
    whole = _functions_of(module)[name]
    out, needed, kept = whole.args.args[-1].arg, set[str](), list[ast.stmt]()
    for statement in reversed(whole.body):
        if not isinstance(statement, ast.Assign):
            continue  # the docstring
        (target,) = statement.targets
        if _is_needed(target, out, outputs, needed):
            needed |= {node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name)}
            kept.append(statement)
    short = copy(whole)
    short.body, short.decorator_list = [*reversed(kept)] or [ast.Pass()], []
    tree = ast.fix_missing_locations(ast.Module([short], []))
    place: dict[str, Any] = {}
    exec(compile(tree, module.__name__, "exec"), place)
    code: CodeType = place[name].__code__
    return code


@cache
def _functions_of(module: ModuleType) -> dict[str, ast.FunctionDef]:
    """The functions of a module by name, as syntax trees."""
    tree = ast.parse(inspect.getsource(module))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _is_needed(target: ast.expr, out: str, outputs: Collection[int], needed: Collection[str]) -> bool:
    """Whether an assignment is to a name that is needed, or to one of the outputs."""
    if isinstance(target, ast.Name):
        return target.id in needed
    assert isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)
    assert target.value.id == out and isinstance(target.slice, ast.Constant)
    return target.slice.value in outputs
