"""The directive ``public``, which documents the names of a room or of a module: pages cannot part from ``__all__``.

A public name that no page documents is a warning of the build, and with ``-W`` an error.
"""

from __future__ import annotations

import ast
import inspect
import re
from enum import Enum
from importlib import import_module
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from inventory import DICTIONARY, MODELS, MODULES, own_names, public_names
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

OWN = ("codegen", "models", "runtime")
CONSTANTS = {
    "runtime.GROUND": 'Name of the fixed body, ``"ground"``.',
    "runtime.figures.PNG": "``FigureFormat()``: figures as PNG with 150 dots per inch.",
    "runtime.__version__": "Version of Talus, a string.",
    "runtime.integrate.METHODS": "Names of the methods that ``runtime.simulate`` takes.",
}
LITERAL = re.compile(r"(``.*?``|`[^`\n]+`)", re.DOTALL)
RAISES = re.compile(r"^:raises ([\w.]+):\s*$")
TRAILING = re.compile(r"(\w)_(?=\W|$)")
_ATTRIBUTES: dict[str, list[str]] = {}


class Public(SphinxDirective):
    """``public:: NAME``: the names of a room, or of a module."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Document each name by autodoc."""
        name = self.arguments[0]
        module = import_module(name)
        lines = [f".. py:module:: {name}", ""]
        if name in MODELS:
            lines += [*escaped((inspect.getdoc(module) or "").splitlines()), ""]
        listed = own_names(module) if name in MODULES else module.__all__
        lines += _summary(name, {own: getattr(module, own) for own in listed})
        for own in listed:
            lines += [*_entry(name, own, getattr(module, own)), ""]
        node = nodes.section(document=self.state.document)
        self.state.nested_parse(StringList(lines, source=f"public names of {name}"), 0, node)
        return node.children


def _summary(module: str, values: dict[str, Any]) -> list[str]:
    """The lines of a table: each name with the first line of its docstring."""
    rows = {name: inspect.getdoc(value) for name, value in values.items() if not inspect.ismodule(value)}
    rows = {name: CONSTANTS.get(f"{module}.{name}", text or "").partition("\n")[0] for name, text in rows.items()}
    if not rows:
        return []
    lines = [".. list-table::", "   :class: summary", "   :widths: 30 70", ""]
    for name, text in rows.items():
        lines += [f"   * - :py:obj:`{name} <{module}.{name}>`", f"     - {escaped([text])[0]}"]
    return [*lines, ""]


def _entry(module: str, name: str, value: Any) -> list[str]:
    """The lines that document a name."""
    path = f"{module}.{name}"
    if inspect.ismodule(value):
        first = (inspect.getdoc(value) or "").partition("\n")[0]
        return [f"``{value.__name__}``", f"   {escaped([first])[0]}  See :py:mod:`{value.__name__}`."]
    if path in CONSTANTS:
        return [f".. py:data:: {name}", "", f"   {CONSTANTS[path]}"]
    if inspect.isclass(value):
        if issubclass(value, BaseException):
            return [f".. autoexception:: {path}"]
        foreign = [base.__name__ for base in value.__mro__ if base.__module__.split(".")[0] not in OWN]
        options = ["   :members:", f"   :inherited-members: {', '.join(foreign)}"]
        return [f".. autoclass:: {path}", *options, *(["   :undoc-members:"] if issubclass(value, Enum) else [])]
    if not inspect.isroutine(value):  # a function of SymPy
        return [
            f".. py:function:: {name}(x)",
            "",
            *(f"   {line}" for line in (inspect.getdoc(value) or "").splitlines()),
        ]
    lines = [f".. autofunction:: {path}"]
    if module in DICTIONARY:
        lines += ["", ".. code-block:: python", "", *(f"   {line}" for line in _source(value))]
    return lines


def _source(function: Any) -> list[str]:
    """The lines of a function without its docstring."""
    lines = inspect.getsource(inspect.unwrap(function)).splitlines()
    (tree,) = ast.parse("\n".join(lines)).body
    if not isinstance(tree, ast.FunctionDef) or ast.get_docstring(tree) is None:
        return lines
    text = tree.body[0]
    return lines[: text.lineno - 1] + lines[text.end_lineno :]


def escaped(lines: list[str]) -> list[str]:
    """Lines of a docstring in which bars and trailing underscores are text, as docstrings mean them."""
    parts = LITERAL.split("\n".join(lines))
    for n in range(0, len(parts), 2):
        parts[n] = TRAILING.sub(r"\1\\_", parts[n].replace("|", r"\|"))
    return "".join(parts).split("\n")


def process_docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape, and keep the lines of definitions, each of which states one argument."""
    found = escaped(lines)
    if name.rpartition(".")[0] in DICTIONARY:
        found = [line if n == 0 or not line.strip() else f"| {line.strip()}" for n, line in enumerate(found)]
        found[1:1] = [""]
    lines[:] = found
    if what in ("property", "attribute"):
        _ATTRIBUTES[name] = found


def after_napoleon(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Undo what napoleon does to attributes, whose text up to a colon it reads as a type; errors without a text."""
    if name in _ATTRIBUTES:
        lines[:] = _ATTRIBUTES.pop(name)
    lines[:] = [RAISES.sub(r":Raises: ``\1``", line) for line in lines]


def compare(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of each public name that no page documents."""
    domain = env.domains.python_domain
    for name in sorted(public_names() - {*domain.objects, *domain.modules}):
        logging.getLogger(__name__).warning("public name %s is on no page of the reference", name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive, the treatment of docstrings, and the comparison."""
    app.add_directive("public", Public)
    app.connect("autodoc-process-docstring", process_docstring, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", after_napoleon, priority=600)
    app.connect("env-check-consistency", compare)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
