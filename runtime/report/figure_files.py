"""Files of figures, drawn in processes beside this one while it goes on working."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.figures import panels
from runtime.figures.figure_format import PNG, FigureFormat
from runtime.report.report import ShownFigure
from runtime.report.tables import Table
from runtime.results.seen import Seen
from runtime.support.arguments import checked_class
from runtime.support.beside import Beside
from runtime.support.errors import ModelError
from runtime.support.files import free_file
from runtime.support.machine import cores
from runtime.support.results_folder import is_own

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOTION = "motion.html"


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
    other cores draw their share of what was added while this process continues; ``write`` draws the rest.

    Pages show no PDF: where ``figure_format`` names no other format, each figure is written as PNG too.
    Existing files are refused unless ``overwrite``, or in a folder that Talus made.
    """

    def __init__(self, folder: Path, figure_format: FigureFormat = PNG, *, overwrite: bool = False) -> None:
        self.overwrite = overwrite or is_own(folder)
        kinds = figure_format.kinds if {"png", "svg"} & {*figure_format.kinds} else (*figure_format.kinds, "png")
        self.folder, self.figure_format = folder, replace(figure_format, kinds=kinds)
        self.motion: Path | None = None  # the page with a view in three dimensions
        self.not_written: list[str] = []  # a sentence for each file that an optional library would write
        self._drawings: dict[str, Drawing] = {}
        self._shares: list[Callable[[], object]] = []

    def add(self, figures: Mapping[str, Drawing]) -> None:
        """Add figures by file name without suffix.

        Raises
        ------
        ModelError
            Where a name was added before, or a file exists and must not be overwritten.
        """
        if again := [name for name in figures if name in self._drawings]:
            raise ModelError(f"figure '{again[0]}' is added twice; give each figure a name of its own")
        for name, kind in product(figures, self.figure_format.kinds):
            free_file(panels.file_of(self.folder, name, kind), self.overwrite)
        self._drawings |= figures
        self._begin([partial(self._save, name) for name in figures])

    def add_motion(self, run: Seen, **more: Any) -> None:
        """Add ``motion.html``, a view of runs in three dimensions, where viser is installed; ``more`` as for ``run.scene``."""
        if find_spec("viser") is None:
            self.not_written.append(f"{MOTION} was not written: it needs viser: pip install 'talus-multibody[view]'")
            return
        self.motion = self.folder / MOTION
        self._begin([partial(run.animation, self.motion, overwrite=self.overwrite, **more)])

    def _begin(self, jobs: list[Callable[[], object]]) -> None:
        """Deal functions that write files to processes beside this one, and to this one a share for ``write``."""
        import matplotlib.backends.backend_agg  # once, before the processes part
        import matplotlib.figure  # noqa: F401

        others = min(cores() - 1, len(jobs))
        shares = [partial(_write, jobs[k :: others + 1]) for k in range(others + 1)]
        self._shares += [shares.pop(), *(Beside(share).result for share in shares)]

    def _save(self, name: str) -> None:
        panels.save(self._drawings[name].draw(), self.folder, name, self.figure_format)

    def table(self) -> Table:
        """A row for each figure: its file in the first format, what it shows, and the paper's figure to which it corresponds."""
        first = self.figure_format.kinds[0]
        rows = [[f"{name}.{first}", one.shows, one.source or None] for name, one in self._drawings.items()]
        return Table("figures", ["file", "shows", "corresponds to"], rows)

    def write(self) -> list[ShownFigure]:
        """Draw what is left, wait for the other processes, and return the figures in the order in which they were added."""
        for share in self._shares:
            share()
        return [
            ShownFigure(
                name,
                [panels.file_of(self.folder, name, kind) for kind in self.figure_format.kinds],
                one.shows,
                one.source,
            )
            for name, one in self._drawings.items()
        ]


def _write(jobs: list[Callable[[], object]]) -> None:
    for job in jobs:
        job()
