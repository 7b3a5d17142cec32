"""The cache tidies itself: old code of earlier sources goes when the cache has grown large.

Each checkout (folder of packages and environment) leaves a record of the digests that it uses; what a checkout that still
exists uses is never removed.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from runtime.jit.freshness import ROOT, sha256

LARGE = 1e9  # bytes
OLD = 30 * 86400.0  # [s] since the last use
DAY = 86400.0  # [s] between two times of tidying
CHECKOUTS, TIDIED = "checkouts", "tidied"
TEXTS = {CHECKOUTS, "joints", "whole"}  # records, and kernels of users' joints and models: small, and long to derive


def recorded(folder: Path, version: str, root: Path = ROOT) -> bool:
    """Whether the packages in ``root`` are recorded with the ``version`` of their sources in the cache ``folder``."""
    with suppress(OSError):
        file = _record_of(folder, root)
        touch(file)
        return file.is_file() and f'"{version}"'.encode() in file.read_bytes()
    return False


def record(folder: Path, version: str, digests: Iterable[str], root: Path = ROOT) -> None:
    """Record the digests that the packages in ``root`` use."""
    facts = {
        "machine": platform.node(), "packages": str(root), "environment": sys.prefix, "version": version,
        "digests": sorted(set(digests)),
    }  # fmt: skip
    file = _record_of(folder, root)
    with suppress(OSError):  # a cache that is only read
        write_whole(file, json.dumps(facts).encode())


def _record_of(folder: Path, root: Path) -> Path:
    return folder / CHECKOUTS / f"{sha256(f'{platform.node()} {root} {sys.prefix}')[:16]}.json"


def write_whole(file: Path, data: bytes) -> None:
    """Write a file of the cache, of which other processes see all or nothing.  What is in its place and no file is removed.

    Raises
    ------
    OSError
    """
    if file.parent.exists() and not file.parent.is_dir():
        file.parent.unlink()
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        part.write_bytes(data)
        if file.is_dir():
            shutil.rmtree(file)
        part.replace(file)
    finally:
        with suppress(OSError):
            part.unlink()


def touch(path: Path) -> None:
    """Note that a record, or the code in a folder, is used."""
    with suppress(OSError):  # a cache that is only read
        if abs(time.time() - path.stat().st_mtime) > DAY:  # or in the future: a clock was wrong
            os.utime(path)


def tidy(folder: Path, large: float = LARGE, old: float = OLD) -> list[str]:
    """Remove the oldest code that no checkout uses until the cache is smaller than ``large``, once a day; what was removed."""
    removed: list[str] = []
    with suppress(OSError):
        last = folder / TIDIED
        if last.exists() and abs(time.time() - last.stat().st_mtime) < DAY:
            return []
        last.touch()
        for left in (*folder.glob("*/*.lock"), *folder.glob("*/*.[0-9]*")):  # of processes that were killed
            if time.time() - left.stat().st_mtime > DAY:
                left.unlink(missing_ok=True)
        sizes = {entry: size_of(entry) for entry in folder.iterdir() if entry.is_dir()}
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


def size_of(folder: Path) -> int:
    """Size of all files in a folder [bytes]; 0 if there is no such folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _used(folder: Path) -> Iterator[str]:
    """Digests that checkouts use; the records of those that are gone are removed."""
    for file in (folder / CHECKOUTS).glob("*.json"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            facts = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
            here = Path(facts["packages"], "generated").is_dir() and Path(facts["environment"]).is_dir()
            # Another machine that shares the cache has other folders.
            elsewhere = facts["machine"] != platform.node() and time.time() - file.stat().st_mtime < OLD
            if here or elsewhere:
                yield from map(str, facts["digests"])
            else:
                file.unlink()
