"""Files of figures, drawn in processes beside this one while it goes on working."""

from __future__ import annotations

import gc
import multiprocessing
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.report import plots
from runtime.report.report import ShownFigure
from runtime.report.tables import Table
from runtime.support.arguments import checked, checked_class
from runtime.support.errors import ModelError
from runtime.support.machine import cores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ",".join(plots.FORMATS)  # by default
WAITING, BEGUN, WRITTEN = range(3)


@checked
def formats_of(text: str) -> tuple[str, ...]:
    """Formats of figures from names separated by commas, such as ``png,svg``.

    Raises
    ------
    ModelError
        Where a name is unknown or missing.
    """
    names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    if unknown := [name for name in names if name not in plots.KNOWN_FORMATS]:
        raise ModelError(f"formats = {text!r}: {unknown[0]!r} is unknown; use {', '.join(plots.KNOWN_FORMATS)}")
    return names


@checked_class
@dataclass(frozen=True)
class Drawing:
    """A figure of a study: the function that draws it, one sentence that says what it shows, and the paper's figure, if any.

    ``source`` cites the figure to which it corresponds, such as "Rodrigues da Silva et al. (2024a), Fig. 10".
    """

    draw: Callable[[], Figure]
    shows: str
    source: str = ""


@checked_class
class FigureFiles:
    """Figures of a study by file name; ``add`` starts to draw them, ``write`` returns when all files exist.

    Drawing takes matplotlib longer than most studies take to simulate, and one core.  Where a process can be forked (Linux), the
    other cores draw what was added while this process continues; ``write`` draws what is still waiting.
    """

    def __init__(self, folder: Path, formats: tuple[str, ...] = plots.FORMATS) -> None:
        self.folder, self.formats = folder, formats
        self._batches: list[_Batch] = []

    def add(self, figures: Mapping[str, Drawing]) -> None:
        """Add figures by file name without suffix.

        Raises
        ------
        ModelError
            Where a name was added before.
        """
        if again := [name for batch in self._batches for name, _ in batch.figures if name in figures]:
            raise ModelError(f"figure '{again[0]}' is added twice; give each figure a name of its own")
        self._batches.append(_Batch(list(figures.items()), self.folder, self.formats))

    def table(self) -> Table:
        """A row for each figure: its file in the first format, what it shows, and the paper's figure to which it corresponds."""
        rows = [
            [f"{name}.{self.formats[0]}", drawing.shows, drawing.source or None]
            for batch in self._batches
            for name, drawing in batch.figures
        ]
        return Table("figures", ["file", "shows", "corresponds to"], rows)

    def write(self) -> list[ShownFigure]:
        """Draw what is left, wait for the other processes, and return the figures in the order in which they were added."""
        figures = []
        for batch in self._batches:
            batch.finish()
            for name, drawing in batch.figures:
                files = [plots.file_of(self.folder, name, kind) for kind in self.formats]
                figures.append(ShownFigure(name, files, drawing.shows, drawing.source))
        return figures


class _Batch:
    """Figures that were added together; the processes that draw them share their states."""

    def __init__(self, figures: list[tuple[str, Drawing]], folder: Path, formats: tuple[str, ...]) -> None:
        self.figures, self.folder, self.formats = figures, folder, formats
        self.processes: list[Any] = []
        context = _forking()
        if context is None:
            self.states, self.lock = bytearray(len(figures)), nullcontext()
        else:
            self.states, self.lock = context.RawArray("b", len(figures)), context.Lock()
            self._start(context)

    states: Any
    lock: Any

    def _start(self, context: Any) -> None:
        import matplotlib.backends.backend_agg  # once, before the processes part
        import matplotlib.figure  # noqa: F401

        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # of threads, which are those of linear algebra and bear a fork
            for _ in range(min(cores() - 1, len(self.figures))):
                self.processes.append(context.Process(target=self._draw_beside, daemon=True))
                self.processes[-1].start()

    def finish(self) -> None:
        """Have every figure written when this returns."""
        self._draw()
        for process in self.processes:
            process.join()
        for number, state in enumerate(self.states):
            if state != WRITTEN:  # its process failed or was ended: an error is raised here
                self._save(number)

    def _draw_beside(self) -> None:
        gc.freeze()  # collections need not visit the data of the parent process
        with suppress(Exception):  # see ``finish``
            self._draw()

    def _draw(self) -> None:
        while (number := self._next()) is not None:
            self._save(number)

    def _next(self) -> int | None:
        """The next figure that no process has begun."""
        with self.lock:
            number = bytes(self.states).find(WAITING)
            if number < 0:
                return None
            self.states[number] = BEGUN
        return number

    def _save(self, number: int) -> None:
        name, drawing = self.figures[number]
        plots.save(drawing.draw(), self.folder, name, self.formats)
        self.states[number] = WRITTEN


def _forking() -> Any:
    """The context of forked processes; None where they are not safe, or of no use."""
    if sys.platform != "linux" or cores() < 2 or multiprocessing.current_process().daemon:
        return None
    return multiprocessing.get_context("fork")
