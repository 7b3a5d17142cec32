"""Notice of compilation: one line on stderr once it has lasted SILENT_SECONDS.

Compilations with less than PAUSE between them are one burst, which has one line.  Processes of an engine are silent; the process
that started them gives the notice.
"""

from __future__ import annotations

import os
import sys
import threading
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from runtime.support.forks import at_fork

SILENT_SECONDS = 2.0
PAUSE = 1.0  # [s]


class Compilation(NamedTuple):
    """A compilation of this process, with those inside it."""

    what: str
    seconds: float


class _Notice:
    """The line for the compilations that are under way, in all threads."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.under_way: list[tuple[str, Path]] = []
        self.begin = self.end = -PAUSE  # of the burst
        self.outer = 0.0  # start of the outermost compilation
        self.given = False
        self.timer = threading.Timer(0.0, self._give)
        self.history: list[Compilation] = []

    def start(self, what: str, folder: Path) -> None:
        """A compilation begins."""
        with self.lock:
            if not self.under_way:
                self.outer = clock.monotonic()
                if self.outer - self.end > PAUSE:
                    self.begin, self.given = self.outer, False
                self.timer = threading.Timer(max(self.begin + SILENT_SECONDS - self.outer, 0.0), self._give)
                self.timer.daemon = True
                with suppress(RuntimeError):  # the interpreter is about to end
                    self.timer.start()
            self.under_way.append((what, folder))

    def stop(self, what: str, folder: Path) -> None:
        """A compilation has ended."""
        with self.lock:
            self.under_way.remove((what, folder))
            if not self.under_way:
                self.timer.cancel()
                self.end = clock.monotonic()
                self.history.append(Compilation(what, self.end - self.outer))

    def _give(self) -> None:
        from multiprocessing import parent_process

        with self.lock:
            if self.given or not self.under_way or sys.stderr is None or parent_process() is not None:
                return  # without a stream, print would write to stdout
            self.given = True
            what, folder = self.under_way[-1]
            where = f"(once; kept in {_short(folder)})" if _may_be_kept(folder) else ""
            with suppress(OSError, ValueError):  # stderr is closed
                print(f"compiling {what} ... {where}".rstrip(), file=sys.stderr, flush=True)


def _short(folder: Path) -> str:
    with suppress(ValueError, RuntimeError):
        return f"~/{folder.relative_to(Path.home()).as_posix()}"
    return str(folder)


def _may_be_kept(folder: Path) -> bool:
    """Whether a file can be written in a folder that may not exist yet."""
    existing = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return existing.is_dir() and os.access(existing, os.W_OK)


_NOTICE = _Notice()


def _renew() -> None:
    global _NOTICE
    _NOTICE = _Notice()


at_fork(after_in_child=_renew)  # threads of the parent process do not go on in the child


@contextmanager
def compiling(what: str, folder: Path) -> Iterator[None]:
    """Note that code is compiled, or made by another process that is waited for; ``what`` in the terms of the field."""
    _NOTICE.start(what, folder)
    try:
        yield
    finally:
        _NOTICE.stop(what, folder)


def compilations() -> list[Compilation]:
    """All compilations of this process."""
    return list(_NOTICE.history)
