"""Switches over the kinds of each family, so that one compiled program runs every model."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from codegen.compiler.straight import DECORATOR
from codegen.compiler.text import with_header


@dataclass(frozen=True)
class Switch:
    """A function of every module of one family, chosen by the number of the kind."""

    function: str
    arguments: tuple[str, ...]


STATES = ("body_i", "body_j", "x")
# How the modules of each family are called from compiled code; the first argument of a switch is the number of the kind.
SWITCHES: dict[str, list[Switch]] = {
    "LIMITS": [
        Switch("direction", (*STATES, "u")),
        Switch("measure", (*STATES, "slope", "out")),
        Switch("wrench", (*STATES, "slope", "Q")),
        Switch("direction_tangent", (*STATES, "seeds", "out")),
        Switch("wrench_tangent", (*STATES, "slope", "seeds", "out")),
    ],
    "LAWS": [],  # these are called through their addresses, as a user's own are
    "NORMAL_LAWS": [],
    "FRICTIONS": [],
    "CONES": [
        Switch("curve", ("s", "c", "out")),
        Switch("limit", ("s", "c", "out")),
        Switch("bearing", ("s", "psi", "c", "out")),
        Switch("parameter", ("psi", "c", "out")),
    ],
}


def definitions(module: ModuleType) -> list[Callable[..., Any]]:
    """The definitions of a module, such as the joints, in the order of the file."""
    own = [f for _, f in inspect.getmembers(module, inspect.isfunction) if f.__module__ == module.__name__]
    return sorted((f for f in own if not f.__name__.startswith("_")), key=lambda f: f.__code__.co_firstlineno)


def emit_dispatch(families: dict[str, tuple[list[str], list[Switch]]], source: str) -> str:
    """The module ``dispatch``.  ``families``: by name, the modules of each family and its switches."""
    lines = [
        '"""Switches over the kinds of each family: compiled once for all models."""',
        "",
        "from numba import njit",
        "",
    ]
    lines += [f"from generated import {name}" for name in sorted(sum((names for names, _ in families.values()), []))]
    lines += [""] + [f"{family} = ({', '.join(names)},)" for family, (names, _) in families.items()]
    for family, (names, switches) in families.items():
        for switch in switches:
            arguments = ", ".join(switch.arguments)
            lines += ["", "", DECORATOR, f"def {switch.function}(kind, {arguments}):"]
            lines += [f'    """``{switch.function}`` of ``{family}[kind]``."""']
            for k, name in enumerate(names):
                branch = f"    {'el' if k else ''}if kind == {k}:"
                lines += [branch, f"        {name}.{switch.function}({arguments})"]
    return with_header("\n".join([*lines, ""]), source)


def emit_list(modules: dict[str, str], what: str, source: str) -> str:
    """A module such as ``joints`` or ``forces``: names of modules by definition; a model imports those that it uses."""
    lines = [f'"""The {what} and their modules, in the order of the dictionary."""', "", "MODULES = {"]
    lines += [f'    "{definition}": "generated.{name}",' for definition, name in modules.items()]
    return with_header("\n".join([*lines, "}", ""]), source)
