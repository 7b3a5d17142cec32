"""The cache of machine code.

numba's cache looks at the file of the *calling* function only, so after a regeneration it would keep serving old machine
code.  Here the functions of a module are cached in a folder named by the digest of the module and of all that it imports from
``generated`` and the folders of compiled code: other sources, other folder.
"""

from __future__ import annotations

import ast
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from numba.core import config

from runtime.jit.freshness import ROOT, sha256, text_of, verify

COMPILED = ("jit", "dynamics", "integrate")  # folders of compiled code, and of all constants that it uses
COVERED = ("generated.", *(f"runtime.{folder}." for folder in COMPILED))


def cache_folder() -> Path:
    """The folder of the cache: the environment variable TALUS_CACHE_DIR, or ``talus`` in the user's cache folder."""
    base = os.environ.get("TALUS_CACHE_DIR") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "talus")
    return Path(base).expanduser()


def digest(root: Path = ROOT) -> str:
    """Digest of all sources that decide what machine code is made: ``generated`` and the folders of compiled code."""
    folders = [root / "generated", *(root / "runtime" / folder for folder in COMPILED)]
    return sha256("".join(text_of(file) for folder in folders for file in sorted(folder.glob("*.py"))))[:16]


verify()
_ONE_AT_A_TIME = threading.RLock()
_BASE, _ALL = cache_folder(), digest()


def compiled_folder() -> Path:
    """The folder of what is made from all present sources."""
    return _BASE / _ALL


def sources_of(module: str, root: Path = ROOT) -> dict[str, Path]:
    """Name -> file of a module, and of those that it imports from ``generated`` and the folders of compiled code, and so on."""
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = root / (name.replace(".", "/") + ".py")
        if name not in found and name.startswith(COVERED) and file.is_file():
            found[name] = file
            waiting += _imports(file)
    return found


@cache
def _imports(file: Path) -> list[str]:
    """Names that a file imports at its top, as modules and as names of modules in packages."""
    names: list[str] = []
    for node in ast.parse(text_of(file)).body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


@cache
def folder_of(module: str) -> Path:
    """The folder for the functions of a module; functions of other packages depend on all sources."""
    if not module.startswith(COVERED):
        return compiled_folder()
    texts = [(name, _digest_of(file)) for name, file in sorted(sources_of(module).items())]
    return _BASE / sha256(repr(texts))[:16]


@cache
def _digest_of(file: Path) -> str:
    return sha256(text_of(file))


@contextmanager
def cached_for(module: str) -> Iterator[None]:
    """Cache the functions of a module that are declared in this context under the digest of its sources."""
    with _ONE_AT_A_TIME:  # numba's setting belongs to the process, and cases run in threads
        previous = config.CACHE_DIR
        config.CACHE_DIR = str(folder_of(module))
        try:
            yield
        finally:
            config.CACHE_DIR = previous
