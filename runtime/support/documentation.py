"""Docstrings of modules and functions without importing them."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec


def documentation(module: str, function: str = "") -> str:
    """Docstring of a module, or of a function in it: read from the source, or where that does not show it, imported."""
    spec = _spec(module)
    loader = spec.loader if spec else None
    source = loader.get_source(module) if isinstance(loader, InspectLoader) else None
    tree = ast.parse(source or "")
    parts: dict[str, ast.Module | ast.FunctionDef] = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    if source is not None:
        parts[""] = tree
    if function in parts:
        return ast.get_docstring(parts[function]) or ""
    found = import_module(module)
    return inspect.getdoc(getattr(found, function) if function else found) or ""


def _spec(module: str) -> ModuleSpec | None:
    """Where a module is, found without importing the packages that it is in."""
    name, *parts = module.split(".")
    spec = find_spec(name)
    for part in parts:
        if spec is None:
            return None
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, spec.submodule_search_locations)
    return spec
