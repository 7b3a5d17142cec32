"""The generated modules, and what each is made from, by the text of the sources alone: SymPy is not imported here.

A module is derived again when the text of its definition has changed, or that of a function or constant that the definition
uses, or the compiler, or SymPy's version.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from codegen.compiler.errors import DefinitionError
from codegen.compiler.output import digest_of_files, source_of
from codegen.compiler.text import digest

FOLDER = Path(__file__).resolve().parents[1]
MEASURES = ("position", "separation", "top_view")  # of directions, in ``codegen.cones`` beside the shapes of cones
CONTACT = "sphere_plane"
TERM = "product"  # of laws of several coordinates, in ``codegen.couplings``
MOTIONS = "motions"  # file of the motions of the joints, which have their names


@dataclass(frozen=True)
class Output:
    """A generated module: its name, the form of its definition, the file and the name of the definition, and a digest.

    ``inputs`` is the digest of everything that the module is made from.
    """

    name: str
    form: str  # "joint", "limit", "cone", "measure", "law", "normal law", "friction", "contact", "force",
    # "coupling", "term", "path", "point", "muscle", "reflex", "bodies"
    file: str  # "joints" for ``codegen/joints.py``
    definition: str  # empty for the whole file
    inputs: str


@cache
def outputs() -> tuple[Output, ...]:
    """All generated modules with definitions, in the order of the dictionary."""
    found = []
    for file in (
        "joints",
        "drivers",
        "limits",
        "cones",
        "contacts",
        "laws",
        "couplings",
        "forces",
        "coordinate_limits",
        "joint_friction",
        "paths",
        "points",
        "muscles",
        "reflexes",
    ):
        for function in _definitions(file):
            form, name = _form(file, function)
            found.append(Output(name, form, file, function.name, _inputs(file, function.name)))
    return (*found, Output("bodies", "bodies", "bodies", "", digest(_text("bodies") + common_digest())))


def _form(file: str, function: ast.FunctionDef) -> tuple[str, str]:
    """Form of a definition and name of its module."""
    name = function.name
    if file in ("joints", "drivers"):
        return "joint", name
    if file == "cones":
        return ("measure", name) if name in MEASURES else ("cone", f"cone_{name}")
    if file == "contacts":
        if name == CONTACT:
            return "contact", f"contact_{name}"
        normal = function.args.args[0].arg == "delta"
        return ("normal law", f"normal_{name}") if normal else ("friction", f"friction_{name}")
    if file == "couplings" and name == TERM:
        return "term", f"coupling_{name}"
    form = {
        "limits": "limit",
        "laws": "law",
        "couplings": "coupling",
        "forces": "force",
        "coordinate_limits": "force",
        "joint_friction": "force",
        "paths": "path",
        "points": "point",
        "muscles": "muscle",
        "reflexes": "reflex",
    }[file]
    return form, f"{form}_{name}"


@cache
def common_digest() -> str:
    """Digest of what all modules are made with: the compiler and SymPy."""
    return digest(digest_of_files((FOLDER / "compiler").glob("*.py"), FOLDER) + version("sympy"))


def _definitions(file: str) -> Iterator[ast.FunctionDef]:
    """The public functions of a file of the dictionary, in order."""
    for node in _tree(file).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node


@cache
def _text(file: str) -> str:
    return source_of(FOLDER / f"{file}.py")


@cache
def _tree(file: str) -> ast.Module:
    try:
        return ast.parse(_text(file))
    except (SyntaxError, ValueError) as error:  # a null byte
        line = getattr(error, "lineno", None)
        raise DefinitionError(f"codegen/{file}.py{f', line {line}' if line else ''}: {error.args[0]}") from None


def _inputs(file: str, name: str) -> str:
    """Digest of a definition: its text, with all that it uses from the dictionary, and what all modules are made with."""
    texts: dict[tuple[str, str], str] = {}
    waiting = [(file, name), (MOTIONS, name)] if file == "joints" else [(file, name)]
    while waiting:
        where, what = waiting.pop()
        node = _global(where, what)
        if (where, what) in texts or node is None:
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            texts[where, what] = ast.unparse(node)
            waiting += _imported(node, what)
            continue
        # The decorators of a function are not part of its source segment.
        pieces = [*getattr(node, "decorator_list", []), node]
        texts[where, what] = "".join(_segment(where, piece) for piece in pieces)
        waiting += [(where, n.id) for n in ast.walk(node) if isinstance(n, ast.Name)]
    return digest(repr(sorted(texts.items())) + common_digest())


@cache
def _lines(file: str) -> list[bytes]:
    """The lines of a file as Python's parser counts them, with their ends; it counts columns in bytes."""
    return [line.encode() for line in io.StringIO(_text(file), newline="")]


def _segment(file: str, node: ast.stmt | ast.expr) -> str:
    """The source of a node.  ``ast.get_source_segment`` would split the file again for each."""
    lines = _lines(file)[node.lineno - 1 : node.end_lineno]
    lines[-1] = lines[-1][: node.end_col_offset]
    lines[0] = lines[0][node.col_offset :]
    return b"".join(lines).decode()


def _global(file: str, name: str) -> ast.stmt | None:
    """The last statement that gives a global name of a file its value: a function, a class, an assignment, an import."""
    found = None
    for node in _tree(file).body:
        names: list[str] = []
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
        found = node if name in names else found
    return found


def _imported(node: ast.Import | ast.ImportFrom, name: str) -> list[tuple[str, str]]:
    """File and name of what an import takes from the dictionary; all names of a file that is imported whole."""
    if isinstance(node, ast.Import) or node.module == "codegen":
        files = [alias.name.removeprefix("codegen.") for alias in node.names]
        return [(file, other) for file in files if _in_dictionary(file) for other in _names(file)]
    file = (node.module or "").removeprefix("codegen.")
    originals = [alias.name for alias in node.names if (alias.asname or alias.name) == name]
    return [(file, original) for original in originals if _in_dictionary(file)]


def _in_dictionary(file: str) -> bool:
    return "." not in file and (FOLDER / f"{file}.py").is_file()


def _names(file: str) -> list[str]:
    return [node.name for node in _tree(file).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
