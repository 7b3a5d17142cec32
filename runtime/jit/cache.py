"""The generated kernels: proof that they are fresh, and how runtime code that calls them is compiled and cached.

numba's cache looks at the file of the *calling* function only, so after a regeneration it would keep serving old machine
code.  Here the name of the cache folder is the digest of every generated and runtime source: other sources, other folder.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numba
from numba.core import config

from runtime.support.errors import StaleKernelsError

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "python -m codegen"
DIGEST_MARK = "# Digest: "
WHOLE = "whole"  # folder of the whole-model kernels
COMPILED = ("jit", "dynamics", "integrate")  # rooms of compiled code, and of all that it takes a value from


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def verify(root: Path = ROOT) -> None:
    """Refuse generated modules that were edited by hand, are missing, or are older than the definitions.

    Raises
    ------
    StaleKernelsError
        Naming the file and the command that mends it.
    """
    generated = root / "generated"
    found = importlib.util.find_spec("generated")
    if found is None or found.origin is None or Path(found.origin).resolve().parent != generated.resolve():
        place = "nowhere" if found is None else str(found.origin or found.submodule_search_locations)
        refuse(f"the package 'generated' that Python finds is another one ({place}); rename it, or start elsewhere")
    record = generated / "digests.py"
    if not record.is_file():
        refuse("generated/digests.py is missing")
    recorded = _constants(record)
    modules: dict[str, str] = recorded["MODULES"]
    present = {file.stem: file for file in generated.glob("*.py")}
    folders = [f.name for f in generated.iterdir() if f.is_dir() and f.name not in ("__pycache__", WHOLE)]
    if folders:
        refuse(f"generated/{folders[0]}/ is no output of codegen")
    for name in sorted(modules.keys() | present.keys()):
        if name not in present:
            refuse(f"generated/{name}.py is missing")
        if name not in modules and name != "digests":
            refuse(f"generated/{name}.py is no output of codegen")
        stated, true = digests_of(present[name])
        if not (true == stated == modules.get(name, stated)):
            refuse(f"generated/{name}.py was edited by hand or comes from another generation")
    for file in sorted((generated / WHOLE).glob("*.py")):  # whether they are fresh is told by their keys
        stated, true = digests_of(file)
        if true != stated:
            refuse(f"generated/{WHOLE}/{file.name} was edited by hand", f"run: {COMMAND} --models")
    folder = root / "codegen"
    sources = sorted((file.relative_to(folder).as_posix(), file) for file in folder.rglob("*.py"))
    if sources and _sha("".join(f"{name}\n{_text(file)}" for name, file in sources)) != recorded["SOURCES"]:
        refuse("generated/ is older than the definitions in codegen/")


def digests_of(file: Path) -> tuple[str, str]:
    """The digest that a generated module states, and that of its text."""
    text = file.read_text(encoding="utf-8", errors="replace")  # bytes that are no text are told by the digest, too
    stated, _, body = text.partition(DIGEST_MARK)[2].partition("\n")
    return stated, _sha(body)


def _constants(file: Path) -> dict[str, Any]:
    """The constants of a module without importing it: an import might find another copy of it."""
    assignments = [node for node in ast.parse(_text(file)).body if isinstance(node, ast.Assign)]
    return {node.targets[0].id: ast.literal_eval(node.value) for node in assignments}  # type: ignore[attr-defined]


def refuse(reason: str, remedy: str = f"run: {COMMAND}") -> NoReturn:
    """Tell why kernels are not run, on the terminal too: uncaught, the error ends the program without a word of its own."""
    message = f"stale kernels: {reason}; {remedy}"
    print(message, file=sys.stderr)
    raise StaleKernelsError(message)


def cache_folder() -> Path:
    """Where compiled code is kept between starts: TALUS_CACHE_DIR, or the user's cache folder."""
    base = os.environ.get("TALUS_CACHE_DIR") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "talus")
    return Path(base).expanduser()


def _digest() -> str:
    folders = [ROOT / "generated", *(ROOT / "runtime" / room for room in COMPILED)]
    return _sha("".join(_text(file) for folder in folders for file in sorted(folder.glob("*.py"))))[:16]


verify()
_ONE_AT_A_TIME = threading.RLock()
_FOLDER = str(cache_folder() / _digest())


def compiled_folder() -> Path:
    """Where compiled code of these very sources is kept."""
    return Path(_FOLDER)


@contextmanager
def cached_here() -> Iterator[None]:
    """What is made ready for compiling in this context is cached under the digest of the sources."""
    with _ONE_AT_A_TIME:  # numba's setting belongs to the process, and cases run in threads
        previous = config.CACHE_DIR
        config.CACHE_DIR = _FOLDER
        try:
            yield
        finally:
            config.CACHE_DIR = previous


def compiled(function: Callable[..., Any], **more: Any) -> Any:
    """Compile an entry point: strict floating point, no exceptions, no lock, cached under the digest of the sources."""
    with cached_here():
        return numba.njit(cache=True, error_model="numpy", nogil=True, _nrt=False, no_cfunc_wrapper=True, **more)(
            function
        )


OPTIONS: dict[str, Any] = dict(error_model="numpy", _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a part of an entry point; it is cached with the entry points that call it.

    Nothing outside compiled code calls it, so numba is not to make the ways in: they took a third of the first start.
    """
    return numba.njit(**OPTIONS)(function)
