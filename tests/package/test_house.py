"""Sizes: no module above 400 lines, no function above 60 without a stated reason, no blocks nested deeper than four."""

import ast
import re
import tomllib

import pytest

from tests.support.paths import ROOT

BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
MODULE, FUNCTION, NESTING = 400, 60, 4  # lines, lines, levels


def depth(node, level=0):
    """The deepest nesting of blocks in a function; functions inside it and ``elif`` do not count."""
    deepest = level
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
                continue
            is_elif = isinstance(node, ast.If) and field == "orelse" and isinstance(child, ast.If) and len(value) == 1
            deepest = max(deepest, depth(child, level + (isinstance(child, BLOCKS) and not is_elif)))
    return deepest


def reason_above(function, lines):
    """Whether there is a comment directly above a function."""
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    return first > 1 and lines[first - 2].strip().startswith("#")


def too_large(file):
    """The sizes in a module that are above their limits."""
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    if len(lines) > MODULE:
        yield f"{len(lines)} lines"
    for function in (node for node in ast.walk(ast.parse(text)) if isinstance(node, FUNCTIONS)):
        length = function.end_lineno - function.lineno + 1
        if length > FUNCTION and not reason_above(function, lines):
            yield f"{function.name}: {length} lines"
        if depth(function) > NESTING:
            yield f"{function.name}: nesting {depth(function)}"


@pytest.mark.parametrize("package", ["codegen", "runtime", "models", "benchmarks", "tests"])
def test_modules_and_functions_are_small(package):
    found = {str(file.relative_to(ROOT)): list(too_large(file)) for file in sorted((ROOT / package).rglob("*.py"))}
    assert {file: sizes for file, sizes in found.items() if sizes} == {}


def test_oversize_code_is_found(tmp_path):
    nested = "def deep(a):\n" + "".join("    " * level + "if a:\n" for level in range(1, 6)) + "    " * 6 + "pass\n"
    long = "def long():\n" + "    pass\n" * 60
    file = tmp_path / "module.py"
    file.write_text(f"{nested}{long}\n\n# A reason.\n{long.replace('long', 'excused')}" + "\n" * 300, encoding="utf-8")
    assert list(too_large(file)) == ["432 lines", "deep: nesting 5", "long: 61 lines"]


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
