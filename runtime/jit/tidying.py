"""The cache tidies itself: old code of earlier sources goes when the cache has grown large.

Each checkout (folder of packages and environment) leaves a record of the digests that it uses; what a checkout that still
exists uses is never removed.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from runtime.jit.freshness import ROOT, sha256

LARGE = 1e9  # bytes
OLD = 30 * 86400.0  # [s] since the last use
DAY = 86400.0  # [s] between two looks at all files
CHECKOUTS, LOOKED = "checkouts", "looked_at"
TEXTS = {CHECKOUTS, "joints", "whole"}  # records, and kernels of users' joints and models: small, and long to derive


def recorded(folder: Path, version: str, root: Path = ROOT) -> bool:
    """Whether the packages in ``root`` are recorded with the ``version`` of their sources in the cache ``folder``."""
    with suppress(OSError):
        return f'"{version}"' in _record_of(folder, root).read_text(encoding="utf-8")
    return False


def record(folder: Path, version: str, digests: Iterable[str], root: Path = ROOT) -> None:
    """Record the digests that the packages in ``root`` use."""
    facts = {"packages": str(root), "environment": sys.prefix, "version": version, "digests": sorted(set(digests))}
    file = _record_of(folder, root)
    with suppress(OSError):  # a cache that is only read
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}")
        part.write_text(json.dumps(facts), encoding="utf-8")
        part.replace(file)


def _record_of(folder: Path, root: Path) -> Path:
    return folder / CHECKOUTS / f"{sha256(f'{root} {sys.prefix}')[:16]}.json"


def touch(folder: Path) -> None:
    """Note that the code in a folder is used."""
    with suppress(OSError):  # a cache that is only read
        if time.time() - folder.stat().st_mtime > DAY:
            os.utime(folder)


def tidy(folder: Path, large: float = LARGE, old: float = OLD) -> list[str]:
    """Remove the oldest code that no checkout uses until the cache is smaller than ``large``, once a day; what was removed."""
    removed: list[str] = []
    with suppress(OSError):
        looked = folder / LOOKED
        if looked.exists() and time.time() - looked.stat().st_mtime < DAY:
            return []
        looked.touch()
        sizes = {entry: _size(entry) for entry in folder.iterdir() if entry.is_dir()}
        total = sum(sizes.values())
        used = set(_used(folder))
        for entry in sorted(sizes, key=lambda entry: entry.stat().st_mtime):
            if total <= large or time.time() - entry.stat().st_mtime < old:
                break
            if entry.name not in used | TEXTS:
                shutil.rmtree(entry, ignore_errors=True)
                total -= sizes[entry]
                removed.append(entry.name)
    return removed


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _used(folder: Path) -> Iterator[str]:
    """Digests that checkouts use; the records of those that are gone are removed."""
    for file in (folder / CHECKOUTS).glob("*.json"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            facts = json.loads(file.read_text(encoding="utf-8"))
            if Path(facts["packages"], "generated").is_dir() and Path(facts["environment"]).is_dir():
                yield from facts["digests"]
            else:
                file.unlink()
