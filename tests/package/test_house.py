"""Directions of imports that import-linter does not see."""

import ast
import re
import tomllib

import pytest

from tests.support.paths import ROOT

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@pytest.mark.slow
def test_no_room_of_runtime_names_a_higher_one():
    """Not in text either, where import-linter does not see it: a name in a string is an import too."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract.get("containers") == ["runtime"])
    found = []
    for n, room in enumerate(layers):
        higher = re.compile(rf"[\"' ]runtime\.({'|'.join(layers[:n])})\.\w+[\"'; ]") if n else None
        for file in (ROOT / "runtime" / room).rglob("*.py") if higher else ():
            code = ast.unparse(_without_documentation(ast.parse(file.read_text(encoding="utf-8"))))
            found += [f"{file.relative_to(ROOT)}: {match.group()}" for match in higher.finditer(code)]
    assert found == []


def _without_documentation(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) and ast.get_docstring(node) is not None:
            node.body[0].value.value = ""
    return tree
