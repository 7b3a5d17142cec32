"""What figures of several panels have in common: lines by label, panels in rows, the label of the time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runtime.report.lines import style
from runtime.report.panels import figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_lines(ax: Any, series: Mapping[str, tuple[Any, Any]], *, thin: float = 1.0) -> None:
    """Draw curves (x, y) by label, each in the style of its label and number."""
    for number, (label, (x, y)) in enumerate(series.items()):
        ax.plot(x, y, label=label, **style(number, label, thin=thin))


def rows_of_panels(count: int, columns: int, **sizes: Any) -> tuple[Figure, Any]:
    """A figure with so many panels in rows, and its axes (rows, columns); ``sizes`` as of ``figure``."""
    columns = max(1, min(columns, count))
    fig, axes = figure(-(-count // columns), columns, **sizes)
    for ax in axes.flat[count:]:
        ax.set_visible(False)
    return fig, axes


def label_time(axes: Any) -> None:
    """Label the axis of time below the panels."""
    for ax in axes[-1]:
        ax.set(xlabel="time [s]")
