"""The cache tidies itself: old code of earlier sources goes when the cache has grown large.

Only what the mark of the cache and the names in it prove to be Talus's is removed.  Each checkout (folder of packages and
environment) leaves a record of the digests that it uses; what a checkout that still exists uses is never removed.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from runtime.jit.freshness import ROOT, sha256
from runtime.jit.place import TEXTS, TIDIED, files_of, is_marked, read, remove, rooms_of, write

LARGE = 1e9  # bytes
OLD = 30 * 86400.0  # [s] since the last use
DAY = 86400.0  # [s] between two times of tidying
CHECKOUTS = "checkouts"


def recorded(folder: Path, version: str, root: Path = ROOT) -> bool:
    """Whether the packages in ``root`` are recorded with the ``version`` of their sources in the cache ``folder``."""
    with suppress(OSError):
        file = _record_of(folder, root)
        touch(file)
        return f'"{version}"'.encode() in read(file)
    return False


def record(folder: Path, version: str, digests: Iterable[str], root: Path = ROOT) -> None:
    """Record the digests that the packages in ``root`` use."""
    facts = {
        "machine": platform.node(), "packages": str(root), "environment": sys.prefix, "version": version,
        "digests": sorted(set(digests)),
    }  # fmt: skip
    file = _record_of(folder, root)
    with suppress(OSError):  # a cache that is only read
        write(file, json.dumps(facts).encode())


def _record_of(folder: Path, root: Path) -> Path:
    return folder / CHECKOUTS / f"{sha256(f'{platform.node()} {root} {sys.prefix}')[:16]}.json"


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
        if not is_marked(folder) or (last.exists() and abs(time.time() - last.stat().st_mtime) < DAY):
            return []
        last.touch()
        sizes = {room: size_of(room) for room in rooms_of(folder)}
        for left in (file for room in sizes for file in files_of(room)):  # of processes that were killed
            if left.suffix.lstrip(".").isdigit() or left.suffix == ".lock":
                if time.time() - left.lstat().st_mtime > DAY:
                    left.unlink(missing_ok=True)
        total = sum(sizes.values())
        used = {*_used(folder), *TEXTS}  # the latter are small, and take long to derive
        for room in sorted(sizes, key=lambda room: room.stat().st_mtime):
            if total <= large or time.time() - room.stat().st_mtime < old:
                break
            if room.name not in used:
                remove(room)
                total -= sizes[room]
                removed.append(room.name)
    return removed


def size_of(folder: Path) -> int:
    """Size of all files in a folder [bytes]; 0 if there is no such folder."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file())


def _used(folder: Path) -> Iterator[str]:
    """Digests that checkouts use; the records of those that are gone are removed."""
    for file in (file for room in rooms_of(folder) if room.name == CHECKOUTS for file in files_of(room)):
        with suppress(OSError, ValueError, KeyError, TypeError):
            facts = json.loads(read(file))
            here = Path(facts["packages"], "generated").is_dir() and Path(facts["environment"]).is_dir()
            # Another machine that shares the cache has other folders.
            elsewhere = facts["machine"] != platform.node() and time.time() - file.stat().st_mtime < OLD
            if here or elsewhere:
                yield from map(str, facts["digests"])
            else:
                file.unlink()
