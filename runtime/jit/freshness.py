"""Proof that the generated kernels are fresh: unedited, complete, and made from the definitions in ``codegen``.

A generated module states the digest of its own text; ``generated/digests.py`` states those of all modules and of the sources
of ``codegen``.
"""

from __future__ import annotations

import ast
import hashlib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, NoReturn

from runtime.support.errors import StaleKernelsError
from runtime.support.streams import tell

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "python -m codegen"
DIGEST_MARK = "# Digest: "
WHOLE = "whole"  # folder of the whole-model kernels
BEFORE_SOURCES = tuple(EXTENSION_SUFFIXES)  # compiled modules, which Python imports in place of a source of this name


def text_of(file: Path) -> str:
    """Text of a source."""
    if not file.is_file():  # to read a pipe or a device may never end
        raise OSError(f"{file.name} is no file")
    return file.read_text(encoding="utf-8")


def sha256(text: str) -> str:
    """Hexadecimal digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def verify(root: Path = ROOT) -> None:
    """Refuse generated modules that were edited by hand, are missing, or are older than the definitions.

    Parameters
    ----------
    root : path, optional
        Folder of the packages.

    Raises
    ------
    StaleKernelsError
        The message names the file and the command that regenerates it.
    """
    generated = root / "generated"
    recorded = _record(generated / "digests.py")
    modules: dict[str, str] = recorded["MODULES"]
    present = {file.stem: file for file in generated.glob("*.py")}
    for entry in generated.iterdir():
        more = entry.is_dir() and entry.name not in ("__pycache__", WHOLE)
        if more or entry.name.endswith(BEFORE_SOURCES):
            refuse(f"generated/{entry.name}{'/' if more else ''} is no output of codegen")
    for name in sorted(modules.keys() | present.keys()):
        if name not in present:
            refuse(f"generated/{name}.py is missing")
        if name not in modules and name != "digests":
            refuse(f"generated/{name}.py is no output of codegen")
        stated, true = digests_of(present[name])
        if not (true == stated == modules.get(name, stated)):
            refuse(f"generated/{name}.py was edited by hand or comes from another generation")
    for file in sorted((generated / WHOLE).glob("*.py")):  # their keys show whether they are fresh
        stated, true = digests_of(file)
        if true != stated:
            refuse(f"generated/{WHOLE}/{file.name} was edited by hand", f"run: {COMMAND} --models")
    folder = root / "codegen"
    sources = sorted((file.relative_to(folder).as_posix(), file) for file in folder.rglob("*.py"))
    try:
        texts = "".join(f"{name}\n{text_of(file)}" for name, file in sources)
    except (OSError, UnicodeDecodeError) as error:
        refuse(f"a file of codegen/ cannot be read ({error})", "restore it")
    if sources and sha256(texts) != recorded["SOURCES"]:
        refuse("generated/ is older than the definitions in codegen/")


def digests_of(file: Path) -> tuple[str, str]:
    """The digest that a generated module states, and that of its text; another one where it cannot be read."""
    try:
        # The digest reveals bytes that are no text, too.  To read a pipe or a device may never end.
        text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    except OSError:
        text = ""
    stated, _, body = text.partition(DIGEST_MARK)[2].partition("\n")
    return stated, sha256(body)


def _record(file: Path) -> dict[str, Any]:
    """The constants of ``generated/digests.py``, read from its text: an import could find another copy of the module."""
    if not file.is_file():
        refuse("generated/digests.py is missing")
    stated, true = digests_of(file)
    try:
        if stated != true:
            raise ValueError
        assignments = [node for node in ast.parse(text_of(file)).body if isinstance(node, ast.Assign)]
        found = {ast.unparse(node.targets[0]): ast.literal_eval(node.value) for node in assignments}
        return {"MODULES": dict(found["MODULES"]), "SOURCES": str(found["SOURCES"])}
    except (OSError, SyntaxError, ValueError, TypeError, KeyError):
        refuse("generated/digests.py was edited by hand or comes from another generation")


def refuse(reason: str, remedy: str = f"run: {COMMAND}") -> NoReturn:
    """Raise StaleKernelsError, and print its message: uncaught, this error ends the program silently."""
    message = f"stale kernels: {reason}; {remedy}"
    tell(message)
    raise StaleKernelsError(message)
