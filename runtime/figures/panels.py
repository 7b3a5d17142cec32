"""Figures of panels: their making, letters, legend and files.  matplotlib is imported when the first figure is drawn."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.figures.figure_format import PNG, FigureFormat
from runtime.support.arguments import checked
from runtime.support.errors import ModelError
from runtime.support.files import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL import Image

OF_AXES = re.compile(
    r"(\$\\mathdefault\{[-\d.^{}\\times\u2212]*\}\$)?"
)  # of logarithmic scales; empty before they are drawn
LETTER = "letter of a panel"  # marks these texts
WIDEST = 10.4  # [in] of a figure: 180 mm, the width of a page, are seven tenths of it
COLOURS = 256  # of a picture
LABELS, LEGEND_ROW = 0.8, 0.24  # [in] of the labels and numbers of a panel with equal scales, and of a row of a legend
INTERVALS = 6  # between numbers of an axis, at most: each number takes a millisecond


@checked
def figure(
    rows: int,
    columns: int,
    *,
    width: float = 4.2,
    height: float = 3.4,
    widths: Sequence[float] = (),
    heights: Sequence[float] = (),
    share_x: bool = False,
    share_y: bool = False,
) -> tuple[Figure, Any]:
    """An empty figure without a window, and its axes (rows, columns).

    Parameters
    ----------
    rows, columns : int
    width, height : float [in]
        Of a panel with its labels.
    widths, heights : sequence of float
        Sizes of the panels of each column and of each row, relative to each other.  Both must have the same unit, which then has
        the same length in all panels and in both directions; ``height`` is not used.
    share_x, share_y : bool
        One scale for the panels of a column, and for those of a row; only the outer panels have numbers.
    """
    sides = ("rows", rows, 100), ("columns", columns, 100), ("width", width, 1000), ("height", height, 1000)
    for what, value, most in sides:
        if not 0.1 <= value <= most:
            raise ModelError(
                f"figure: {what} = {value:g}, limit 1 to {most}; give something to draw, and not more at once"
            )
    for what, sizes, count in (("widths", widths, columns), ("heights", heights, rows)):
        if len(sizes) not in (0, count) or not all(0.0 < size < 1e9 for size in sizes):
            raise ModelError(f"figure: {what} = {list(sizes)}; give {count} numbers above 0")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    equal, across, up = bool(len(widths) and len(heights)), widths or (1.0,) * columns, heights or (1.0,) * rows
    panels_height = (width - LABELS) * columns * sum(up) / sum(across) + LABELS * rows if equal else height * rows
    fig = Figure(figsize=(width * columns, panels_height), layout="compressed" if equal else "constrained")
    FigureCanvasAgg(fig)
    axes = fig.subplots(
        rows, columns, squeeze=False, sharex="col" if share_x else "none", sharey="row" if share_y else "none",
        width_ratios=across, height_ratios=up,
    )  # fmt: skip
    for (row, column), ax in np.ndenumerate(axes):
        ax.grid(True, linewidth=0.4, alpha=0.5)
        ax.set_axisbelow(True)
        ax.tick_params(labelsize=9)
        ax.locator_params(nbins=INTERVALS)
        ax.spines[["top", "right"]].set_visible(False)
        if equal:
            ax.set_box_aspect(up[row] / across[column])
    fig.align_ylabels()
    return fig, axes


@checked
def letter(fig: Figure) -> None:
    """Letter the panels of a figure a, b, c and so on, row by row; once, and not a single panel.

    Scales of colours, hidden panels and drawings without axes have no letter.
    """
    shown = [ax for ax in fig.axes if ax.get_visible() and ax.axison and not hasattr(ax, "_colorbar")]
    names = chain(ascii_lowercase, map("".join, product(ascii_lowercase, repeat=2)))
    if len(shown) > 1 and not fig.findobj(lambda artist: artist.get_gid() == LETTER):
        for ax, name in zip(shown, names, strict=False):
            ax.annotate(
                name, (0.0, 1.0), (-8.0, 3.0), xycoords="axes fraction", textcoords="offset points", ha="right", va="bottom",
                fontsize=11, fontweight="bold", gid=LETTER,
            )  # fmt: skip


@checked
def save(fig: Figure, folder: Path, name: str, figure_format: FigureFormat = PNG) -> list[Path]:
    """Letter the panels of a figure and write it as ``name.png`` and so on, each file whole or not at all; returns the files.

    Existing files are replaced.

    Raises
    ------
    ModelError
        Where a file cannot be written.
    """
    from matplotlib import rc_context

    texts: list[Any] = fig.findobj(lambda artist: hasattr(artist, "set_parse_math"))
    for text in texts:
        text.set_parse_math(OF_AXES.fullmatch(text.get_text()) is not None)  # "$" of a name begins no formula
    letter(fig)
    fig.dpi = figure_format.dpi
    engine = fig.get_layout_engine()
    if engine is not None:  # here for all formats, since savefig would place everything anew for each
        for _ in range(2):  # titles and labels move by the first placement
            engine.execute(fig)
        fig.set_layout_engine(None)
    files = [file_of(folder, name, kind) for kind in figure_format.kinds]
    for file in files:
        with whole_file(file) as stream:
            if file.suffix == ".png":
                _picture(fig).save(stream, "PNG", dpi=(fig.dpi, fig.dpi))
            else:
                with rc_context({"pdf.fonttype": 42}):  # letters as text, which journals ask for
                    fig.savefig(stream, format=file.suffix[1:], dpi=fig.dpi)
    return files


def _picture(fig: Figure) -> Image.Image:
    """A picture with a palette of its own: a third of the size of one with all colours, and written faster."""
    from PIL import Image

    stream = io.BytesIO()
    fig.savefig(stream, format="rgba", dpi=fig.dpi)
    # Matplotlib's own rounding: 11.4 inches are 1709.9999 dots.
    picture = Image.frombytes("RGBA", fig.canvas.get_width_height(), stream.getvalue()).convert("RGB")
    return picture.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)


@checked
def file_of(folder: Path, name: str, kind: str) -> Path:
    """File of a figure in a format."""
    return folder / f"{name}.{kind}"


@checked
def legend(fig: Figure, *axes: Any) -> None:
    """One legend above all axes for the lines of ``axes``, each label once."""
    handles: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    place_legend(fig, handles)


@checked
def place_legend(fig: Figure, handles: Mapping[str, Any], *, heading: str = "") -> None:
    """A legend of handles by label above all axes, in additional height.  ``heading``: one line above it."""
    if handles:
        rows = _place(fig, list(handles.values()), list(handles)) + bool(heading)
        fig.legends[-1].set_title(heading)
        fig.set_figheight(fig.get_figheight() + LEGEND_ROW * rows)


def _place(fig: Figure, handles: Sequence[Any], labels: Sequence[str]) -> int:
    """Draw a legend with as few rows as fit the width of the figure; returns the number of its rows."""
    renderer = fig.canvas.get_renderer()  # type: ignore[attr-defined]
    for rows in range(1, len(labels) + 1):
        columns = -(-len(labels) // rows)
        drawn = fig.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False, handlelength=3.0)
        if columns == 1 or drawn.get_window_extent(renderer).width <= fig.bbox.width:
            return -(-len(labels) // columns)
        drawn.remove()
    return 0
