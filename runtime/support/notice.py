"""Notice of compilation: one line on stderr once it has lasted SILENT_SECONDS, on a terminal updated in place.

So is the stage of long work, while nothing is compiled; it is shown on terminals alone.

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
REFRESH = 0.5  # [s] between two updates on a terminal


class Compilation(NamedTuple):
    """A compilation of this process, with those inside it."""

    what: str
    seconds: float


class _Notice:
    """The line for the compilations that are under way, in all threads."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.under_way: list[tuple[str, Path]] = []
        self.begin = self.end = -PAUSE  # of the burst
        self.outer = 0.0  # start of the outermost compilation
        self.watched = self.given = self.in_place = False
        self.stage: tuple[str, float] | None = None  # of long work, and its start
        self.history: list[Compilation] = []

    def start(self, what: str, folder: Path) -> None:
        """A compilation begins."""
        with self.changed:
            now = clock.monotonic()
            if not self.under_way:
                self.outer = now
                if now - self.end > PAUSE:
                    self.begin, self.given = now, False
            self.under_way.append((what, folder))
            self._look()

    def stop(self, what: str, folder: Path) -> None:
        """A compilation has ended."""
        with self.changed:
            self.under_way.remove((what, folder))
            if not self.under_way:
                self.end = clock.monotonic()
                self.history.append(Compilation(what, self.end - self.outer))
                self.clear()
            self.changed.notify_all()

    def set_stage(self, what: str) -> None:
        """A stage of long work begins; "": it has ended."""
        with self.changed:
            self.clear()
            self.stage = (what, clock.monotonic()) if what and _on_terminal() else None
            self._look()

    def _look(self) -> None:
        """Wake the thread that writes the line, or start it."""
        self.changed.notify_all()
        if not self.watched and (self.under_way or self.stage):
            with suppress(RuntimeError):  # the interpreter is about to end
                threading.Thread(target=self._watch, name="notice of compilation", daemon=True).start()
                self.watched = True

    def _watch(self) -> None:
        with self.changed:
            while self.under_way or self.stage:
                begin = self.begin if self.under_way or self.stage is None else self.stage[1]
                wait = begin + SILENT_SECONDS - clock.monotonic()
                if wait <= 0.0:
                    with suppress(OSError, ValueError, AttributeError):  # stderr is closed, or there is none
                        self._write()
                    wait = REFRESH
                self.changed.wait(wait)
            self.watched = False

    def _write(self) -> None:
        from multiprocessing import parent_process

        stream = sys.stderr
        if stream is None or parent_process() is not None:  # without a stream, print would write to stdout
            return
        if not self.under_way:
            if self.stage is not None and _on_terminal():
                self._put(f"{self.stage[0]}, {clock.monotonic() - self.stage[1]:.0f} s")
                self.in_place = True
            return
        what, folder = self.under_way[-1]
        where = f"(once; kept in {_short(folder)})" if _may_be_kept(folder) else ""
        seconds = clock.monotonic() - self.begin
        if _on_terminal():
            self._put(f"compiling {what}, {seconds:.0f} s {where}")
            self.in_place = True
        elif not self.given:
            print(f"compiling {what} ... {where}".rstrip(), file=stream, flush=True)
        self.given = True

    @staticmethod
    def _put(text: str) -> None:
        """Replace the present line; the cursor goes to its beginning, where other output may follow."""
        terminal = sys.__stderr__
        if terminal is not None:
            width = max(os.get_terminal_size(terminal.fileno()).columns - 1, 0)
            terminal.write(f"\r{text[:width]:{width}}\r")
            terminal.flush()

    def clear(self) -> None:
        """Remove the line from the terminal."""
        with self.changed:
            if self.in_place:
                self.in_place = False
                with suppress(OSError, ValueError, AttributeError):
                    self._put("")


def _on_terminal() -> bool:
    """Whether stderr is a terminal.  A bar of progress replaces stderr: lines are printed above it."""
    return sys.stderr is not None and sys.stderr.isatty() and sys.stderr is sys.__stderr__


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


def stage(what: str) -> None:
    """Note the stage of long work, "" at its end: on a terminal a line with its time, updated in place."""
    _NOTICE.set_stage(what)


def clear_notice() -> None:
    """Remove the line from the terminal, before other output."""
    _NOTICE.clear()


def compilations() -> list[Compilation]:
    """All compilations of this process."""
    return list(_NOTICE.history)
