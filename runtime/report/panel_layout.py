"""Placement of panels in a grid, with margins of fixed sizes.  Imports matplotlib: to be imported when a figure is drawn.

Panels of a column or row have the same edges, and their labels the same distance from them.  Nothing is measured, which makes it
much faster than matplotlib's own layout; a test measures that no label is cut off or covers another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import LayoutEngine

# Sizes [in].
TICKS, TICKS_BELOW = 0.58, 0.28  # numbers left of a panel and below it
LINE, TITLE, LEGEND_ROW = 0.19, 0.30, 0.24  # rows of text
EDGE = 0.14  # without text


class PanelLayout(LayoutEngine):  # type: ignore[misc]
    """Places the axes of a grid (rows, columns) and keeps a band for the legend above them.

    ``widths``, ``heights``: sizes of the panels relative to each other; with ``equal`` both in the same unit, which then has the
    same length in all panels and in both directions.
    """

    _adjust_compatible, _colorbar_gridspec = False, False

    def __init__(
        self, axes: Any, widths: Sequence[float], heights: Sequence[float], equal: bool, numbers: float
    ) -> None:
        super().__init__()
        self.axes, self.widths, self.heights, self.equal = axes, np.array(widths), np.array(heights), equal
        self.legend_rows, self.numbers = 0, numbers  # [in] left of a panel

    def margins(self) -> tuple[Any, Any, Any, float]:
        """Left of each column, above and below each row, and of the legend [in]."""
        left = [max(map(self._left, column)) for column in self.axes.T]
        above = [
            TITLE if any(ax.get_title(loc) for ax in row for loc in ("left", "center")) else EDGE for row in self.axes
        ]
        below = [max(map(_below, row)) for row in self.axes]
        band = LEGEND_ROW * self.legend_rows + 0.06 * bool(self.legend_rows)
        return np.array(left), np.array(above), np.array(below), band

    def size(self, width: float) -> tuple[float, float]:
        """Size of a figure of this width whose panels fill it with equal scales [in]."""
        left, above, below, band = self.margins()
        scale = (width - left.sum() - EDGE * len(left)) / self.widths.sum()
        return width, float(scale * self.heights.sum() + above.sum() + below.sum() + band)

    def execute(self, fig: Figure) -> None:
        """Place the panels and their labels."""
        width, height = fig.get_size_inches()
        left, above, below, band = self.margins()
        across = (width - left.sum() - EDGE * len(left)) / self.widths.sum()
        up = (height - above.sum() - below.sum() - band) / self.heights.sum()
        if self.equal:
            across = up = min(across, up)
        y = height - band
        for row, panel_height, over, under in zip(self.axes, up * self.heights, above, below, strict=True):
            y -= over + panel_height
            x = 0.0
            for ax, panel_width, beside in zip(row, across * self.widths, left, strict=True):
                x += beside
                ax.set_position((x / width, y / height, panel_width / width, panel_height / height))
                if ax.get_title():  # at a fixed height, else matplotlib measures all numbers for each drawing
                    ax.set_title(ax.get_title(), y=1.0, fontsize=ax.title.get_fontsize())
                lines = 1 + ax.get_ylabel().count("\n")
                ax.yaxis.set_label_coords(-(self._left(ax) - 0.55 * LINE * lines) / panel_width, 0.5)
                ax.yaxis.label.set_verticalalignment("center")
                ax.xaxis.set_label_coords(0.5, -(_below(ax) - 0.5 * LINE) / panel_height)
                ax.xaxis.label.set_verticalalignment("center")
                x += panel_width + EDGE
            y -= under

    def _left(self, ax: Any) -> float:
        """Space for the numbers and the label left of a panel [in]."""
        shown = _numbered(ax.yaxis) and len(ax.yaxis.get_major_locator()())
        lines = 1 + ax.get_ylabel().count("\n") if ax.get_ylabel() else 0
        return float((self.numbers if shown else EDGE) + LINE * lines)


def _numbered(axis: Any) -> bool:
    """Whether numbers stand at an axis; ``get_tick_params`` names them otherwise in old versions of matplotlib."""
    return bool(axis.get_major_ticks(1)[0].label1.get_visible())


def _below(ax: Any) -> float:
    """Space for the numbers or names and the label below a panel [in]."""
    names = [tick.label1.get_text() for tick in ax.xaxis.majorTicks]
    lines = max((name.count("\n") for name in names), default=0) + bool(ax.get_xlabel())
    return float(LINE * lines + (TICKS_BELOW if _numbered(ax.xaxis) else EDGE))
