"""Figures of gait: curves over the gait cycle, paths under the foot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.report.plots import COLOURS, figure, legend, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def pressed(
    maps: Mapping[str, tuple[Any, Mapping[str, Any]]], marks: Sequence[float], marked: str, xlabel: str, scale: str
) -> Figure:
    """Forces of the contacts over time.  Moreira et al. (2011), Fig. 9.

    ``maps``: by title x (n,) and values (n,) by contact, white where they are zero; ``marks``: values of x that are marked,
    ``marked``: their label in the legend.
    """
    fig, axes = figure(len(maps), 1, width=7.5, height=2.8)
    greatest = max(float(np.max(values)) for _, rows in maps.values() for values in rows.values())
    for ax, (title, (x, rows)) in zip(axes[:, 0], maps.items(), strict=True):
        ax.grid(False)
        values = np.array(list(rows.values()))
        drawn = ax.pcolormesh(
            x, np.arange(len(rows)), np.ma.masked_less_equal(values, 0.0), cmap="viridis_r", shading="nearest", vmin=0.0,
            vmax=greatest,
        )  # fmt: skip
        for n, mark in enumerate(marks):
            ax.axvline(mark, color="black", linewidth=0.8, linestyle="--", label=None if n else marked)
        ax.set_yticks(range(len(rows)), list(rows))
        ax.set(title=title, xlabel=xlabel)
    fig.colorbar(drawn, ax=list(axes[:, 0]), label=scale)
    legend(fig, axes[0, 0])
    return fig


def under_the_foot(paths: Mapping[str, Any], marks: Mapping[str, Any]) -> Figure:
    """Path of the centre of pressure under the right foot from heel strike to toe off.

    Rodrigues da Silva et al. (n.d.), Fig. 6.
    ``paths``: by label (n, 2) [m], anterior and medial of the heel; ``marks``: points of the foot by name, (2,) [m].
    """
    fig, axes = figure(1, 1, width=5.6, height=6.0)
    ax = axes[0, 0]
    for number, (label, path) in enumerate(paths.items()):
        ax.plot(1e3 * -path[:, 1], 1e3 * path[:, 0], label=label, **style(number))
        ax.plot(1e3 * -path[0, 1], 1e3 * path[0, 0], "o", color=COLOURS[number % len(COLOURS)], markersize=4)
    for name, (anterior, medial) in marks.items():
        ax.plot(-1e3 * medial, 1e3 * anterior, "x", color="0.35", markersize=6)
        ax.annotate(name, (-1e3 * medial, 1e3 * anterior), (4, 4), textcoords="offset points", fontsize=7, color="0.35")
    ax.set(xlabel="medial  —  lateral [mm]", ylabel="anterior of the heel [mm]")
    ax.set_aspect("equal")
    ax.margins(x=0.45, y=0.1)
    handles, labels = ax.get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 3), frameon=False, fontsize=8)
    return fig
