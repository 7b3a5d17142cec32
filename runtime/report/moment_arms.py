"""Moment arms of muscles over coordinates, as a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from runtime.figures.lines import of_many
from runtime.figures.panel_lines import rows_of_panels
from runtime.figures.panels import legend
from runtime.support.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Arms(NamedTuple):
    """Moment arms (n,) [m], of slides [1], about a coordinate by muscle, over values (n,) [rad], [m] of this coordinate."""

    coordinate: str
    turns: bool
    values: Floats
    arms: Mapping[str, Floats]


def moment_arms(panels: Sequence[Arms], muscles: Sequence[str]) -> Figure:
    """A panel for each coordinate, with one legend for all."""
    fig, axes = rows_of_panels(len(panels), 2, width=5.2, height=3.4)
    for ax, panel in zip(axes.flat, panels, strict=False):
        unit, arm = ("deg", "mm") if panel.turns else ("m", "1")
        for number, name in enumerate(muscles):
            x, y = (
                (np.rad2deg(panel.values), 1e3 * panel.arms[name]) if panel.turns else (panel.values, panel.arms[name])
            )
            ax.plot(x, y, label=name, **of_many(number))
        ax.axhline(0.0, color="0.5", linewidth=0.6)
        ax.set(title=f"about {panel.coordinate}", xlabel=f"{panel.coordinate} [{unit}]", ylabel=f"moment arm [{arm}]")
    legend(fig, axes[0, 0])
    return fig
