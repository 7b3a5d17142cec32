"""The digests that name what is in the cache.

Compiled code is kept under the digest of all that it is made from: other sources, other place, so that old code never runs.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from runtime.jit.freshness import ROOT, sha256, text_of
from runtime.jit.place import cache_folder

COMPILED = ("jit", "dynamics", "lanes", "integrate")  # folders of compiled code, and of all constants that it uses
IMPORT = re.compile(r"^(?:from ([\w.]+) )?import (?:\(([^)]*)\)|(.*))", re.MULTILINE)
BESIDES_NAMES = re.compile(r"#.*| as \w+")
FIRST_DEFINITION = re.compile(r"\n\n\n(?=def |class |@)")  # imports are before it
COVERED = ("generated.", *(f"runtime.{folder}." for folder in COMPILED))


def digest(root: Path = ROOT) -> str:
    """Digest of all sources: ``generated`` and the folders of compiled code."""
    return sha256("".join(map(text_of, sources(root))))[:16]


def sources(root: Path = ROOT) -> list[Path]:
    """The sources that decide what machine code is made."""
    rooms = [file for folder in COMPILED for file in sorted((root / "runtime" / folder).rglob("*.py"))]
    return [*sorted((root / "generated").glob("*.py")), *rooms]


def _stamp(file: Path) -> tuple[int, int]:
    stat = file.stat()
    return stat.st_mtime_ns, stat.st_size


_STAMPS = {file: _stamp(file) for file in sources()}  # when this process imports them
_ALL = digest()


def unchanged(module: str) -> bool:
    """Whether the sources of a module are those that this process imported: the digest of others is not that of its code."""
    try:
        return all(_stamp(file) == _STAMPS.get(file) for file in sources_of(module).values())
    except OSError:
        return False


def compiled_folder() -> Path:
    """The folder of what is made from all present sources."""
    return cache_folder() / _ALL


def sources_of(module: str, root: Path = ROOT) -> dict[str, Path]:
    """Name -> file of a module, and of those that it imports from ``generated`` and the folders of compiled code, and so on."""
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in found and (file := _file_of(name, root)):
            found[name] = file
            waiting += _imports(file)
    return found


@cache
def _file_of(module: str, root: Path) -> Path | None:
    """The file of a module of ``generated`` or of a folder of compiled code, None for other names."""
    file = root / (module.replace(".", "/") + ".py")
    return file if module.startswith(COVERED) and file.is_file() else None


@cache
def _imports(file: Path) -> list[str]:
    """Names that a file imports at its top, as modules and as names of modules in packages.

    They are read from the text: to parse it would take a twentieth of a second at each start.
    """
    names: list[str] = []
    for module, several, listed in IMPORT.findall(FIRST_DEFINITION.split(text_of(file), maxsplit=1)[0]):
        imported = re.findall(r"[\w.]+", BESIDES_NAMES.sub("", several or listed))
        names += [module, *(f"{module}.{name}" for name in imported)] if module else imported
    return names


@cache
def digest_of(module: str) -> str:
    """Digest of a module and of all that it imports from ``generated`` and the folders of compiled code."""
    return sha256(repr([(name, _digest_of(file)) for name, file in sorted(sources_of(module).items())]))[:16]


def digest_for(function: Any) -> str:
    """Digest of all that decides what machine code a function has."""
    if function.__module__.startswith(COVERED):
        return digest_of(function.__module__)
    return sha256(_ALL + text_of(Path(function.__code__.co_filename)))[:16]


@cache
def _digest_of(file: Path) -> str:
    return sha256(text_of(file))
