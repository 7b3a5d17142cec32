"""What figures of several panels have in common: lines by label, panels in rows, the label of the time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.figures.lines import of_many, style
from runtime.figures.panels import figure
from runtime.support.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LINES = 6  # in a panel: those with the largest values


def draw_lines(ax: Any, series: Mapping[str, tuple[Any, Any]], *, thin: float = 1.0) -> None:
    """Draw curves (x, y) by label, each in the style of its label and number."""
    for number, (label, (x, y)) in enumerate(series.items()):
        ax.plot(x, y, label=label, **style(number, label, thin=thin))


def several_lines(ax: Any, x: Floats, lines: Mapping[str, Floats]) -> None:
    """Draw curves by label, with a legend of their own beside the panel where there are several."""
    for number, (label, y) in enumerate(lines.items()):
        ax.plot(x, y, label=label, **of_many(number))
    if len(lines) > 1:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)


def largest(sizes: Mapping[str, float]) -> list[str]:
    """Names of the largest sizes, ``MOST_LINES`` at most, in their order."""
    kept = sorted(sizes, key=lambda name: -sizes[name])[:MOST_LINES]
    return [name for name in sizes if name in kept]


def changing(lines: Mapping[str, Floats]) -> dict[str, Floats]:
    """The curves that change most, where they are finite."""
    changes = {name: float(np.nanmax(values) - np.nanmin(values)) for name, values in lines.items()}
    return {name: lines[name] for name in largest(changes)}


def in_degrees(name: str, unit: str, values: Floats) -> tuple[str, Floats]:
    """A label with its unit and the values in it, of angles in degrees."""
    if unit.startswith("rad"):
        unit, values = unit.replace("rad", "deg", 1), np.rad2deg(values)
    return f"{name} [{unit}]" if unit not in ("", "1") else name, values


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
