"""The cache tidies itself: code that was not used for a month goes when the cache has grown large.

Only what the mark of the cache and the names in it prove to be Talus's is removed.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from runtime.jit.place import TEXTS, TIDIED, is_marked, remove, rooms_of

LARGE = 1e9  # bytes
OLD = 30 * 86400.0  # [s] since the last use
DAY = 86400.0  # [s] between two times of tidying


def touch(path: Path) -> None:
    """Note that the code in a folder is used."""
    with suppress(OSError):  # a cache that is only read
        if abs(time.time() - path.stat().st_mtime) > DAY:  # or in the future: a clock was wrong
            os.utime(path)


def tidy(folder: Path, large: float = LARGE, old: float = OLD) -> list[str]:
    """Remove the code that was not used for longest until the cache is smaller than ``large``, once a day; what was removed."""
    removed: list[str] = []
    with suppress(OSError):
        last = folder / TIDIED
        if not is_marked(folder) or (last.exists() and abs(time.time() - last.stat().st_mtime) < DAY):
            return []
        last.touch()
        sizes = {room: size_of(room) for room in rooms_of(folder)}
        total = sum(sizes.values())
        for room in sorted(sizes, key=lambda room: room.stat().st_mtime):
            if total <= large or time.time() - room.stat().st_mtime < old:
                break
            if room.name not in TEXTS:  # these are small, and take long to derive
                remove(room)
                total -= sizes[room]
                removed.append(room.name)
    return removed


def size_of(folder: Path) -> int:
    """Size of all files in a folder [bytes]; 0 if there is no such folder."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file())
