"""Progress of long runs: a bar on the terminal, or in the output of a notebook, that appears after SILENT_SECONDS."""

from __future__ import annotations

import sys
import time as clock
from collections.abc import Callable
from multiprocessing import parent_process
from types import TracebackType
from typing import Any

from runtime.support.checks import called
from runtime.support.notebook import NotebookLine, in_notebook
from runtime.support.notice import SILENT_SECONDS

REFRESH = 0.5  # [s] between two updates


class Progress:
    """Reports the progress of a run, to a bar on the terminal or to a function."""

    def __init__(
        self, show: bool, tell: Callable[[float, float], None] | None, start: float, end: float, what: str
    ) -> None:
        self.show, self.tell, self.start, self.end, self.what = show, tell, start, end, what
        self.begin = self.shown = clock.perf_counter()
        self.bar: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def update(self, t: float) -> None:
        """Report that the run has reached the time t."""
        if self.tell is not None:
            called(self.tell, "progress", t, self.end)
        if not self.show:
            return
        now = clock.perf_counter()
        if self.bar is None and now - self.begin > SILENT_SECONDS:
            self.bar, self.shown = NotebookLine(self.what) if in_notebook() else _TerminalBar(self.what), 0.0
        if self.bar is not None and now - self.shown > REFRESH:
            self.shown = now
            self.bar.update((t - self.start) / (self.end - self.start))


class _TerminalBar:
    """A bar of rich, which removes itself."""

    def __init__(self, what: str) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bar

        self.bar = Bar(console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task(what, total=1.0)
        self.bar.start()

    def update(self, share: float) -> None:
        self.bar.update(self.task, completed=share)

    def stop(self) -> None:
        self.bar.stop()


def reporter(
    progress: bool | Callable[[float, float], None] | None, start: float, end: float, what: str = "simulated time"
) -> Progress:
    """The reporter that a caller asked for: a bar (True), none (False), a function.

    By default a bar on a terminal and in a notebook, except in workers, whose bars would write over each other.
    """
    if callable(progress):
        return Progress(False, progress, start, end, what)
    if progress is None:
        terminal = sys.stderr is not None and sys.stderr.isatty()
        show = (terminal or in_notebook()) and parent_process() is None
    else:
        show = progress
    return Progress(show, None, start, end, what)
