"""Figures of gait: curves over the gait cycle, paths under the foot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from models.walking.laboratory_page import FEET
from runtime.report.panels import figure, legend, place_legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def pressed(
    maps: Mapping[str, tuple[Any, Mapping[str, Any]]], marks: Sequence[float], marked: str, xlabel: str, scale: str
) -> Figure:
    """Forces of the contacts over time.  Moreira et al. (2011), Fig. 9.

    ``maps``: by title x (n,) and values (n,) by contact, white where they are zero; ``marks``: values of x that are marked,
    ``marked``: their label in the legend.
    """
    fig, axes = figure(len(maps), 2, width=4.2, height=2.6, widths=(1.0, 0.025), share_x=True)
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
        ax.set_yticks(range(len(rows)), [name.removeprefix("sphere_") for name in rows])
        ax.set(title=title, ylabel="sphere")
    axes[-1, 0].set(xlabel=xlabel)
    for ax in axes[:, 1]:
        fig.colorbar(drawn, cax=ax)
        ax.yaxis.set_ticks_position("left")
        ax.set(ylabel=scale)
    legend(fig, axes[0, 0])
    return fig


def under_the_foot(feet: Mapping[str, tuple[Sequence[Any], Mapping[str, Any]]]) -> Figure:
    """Path of the centre of pressure under each foot from heel strike to toe off, seen from above: single trials and their mean.

    Rodrigues da Silva et al. (n.d.), Fig. 6.
    ``feet``: by side, the paths (n, 2) [m] of the trials, anterior and medial of the heel, and points of the foot by name.
    """
    outer = {"right": -1.0, "left": 1.0}  # medial is to the left of a right foot
    every = [
        np.array(x) for paths, marks in feet.values() for x in (*paths, *(np.array(m)[None] for m in marks.values()))
    ]
    low, high = (1e3 * pick([pick(x, axis=0) for x in every], axis=0) for pick in (np.nanmin, np.nanmax))
    back, front, side, other = low[0] - 15.0, high[0] + 15.0, low[1] - 30.0, high[1] + 30.0
    widths, heights = [float(other - side)] * len(feet), [float(front - back)]
    fig, axes = figure(1, len(feet), width=4.4, widths=widths, heights=heights, share_y=True)
    for ax, (foot, (paths, marks)) in zip(axes[0], feet.items(), strict=True):
        colour, dashes = FEET[foot]
        for path in paths:
            thin = {"linewidth": 0.6, "alpha": 0.7} if len(paths) > 1 else {"linewidth": 1.8}
            ax.plot(1e3 * outer[foot] * path[:, 1], 1e3 * path[:, 0], color=colour, linestyle=dashes, **thin)
        if len(paths) > 1:
            share = np.linspace(0.0, 1.0, 101)
            even = [[np.interp(share, np.linspace(0.0, 1.0, len(path)), c) for c in path.T] for path in paths]
            anterior, medial = np.mean(even, axis=0)
            ax.plot(1e3 * outer[foot] * medial, 1e3 * anterior, color=colour, linestyle=dashes, linewidth=1.8)
        for name, (anterior, medial) in marks.items():
            place = (1e3 * outer[foot] * medial, 1e3 * anterior)
            ax.plot(*place, "x", color="0.35", markersize=6)
            ax.annotate(name, place, (4, 4), textcoords="offset points", fontsize=7, color="0.35")
        edges = sorted((outer[foot] * side, outer[foot] * other))
        direction = "lateral" if foot == "right" else "medial"
        count = f"mean of {len(paths)} trials" if len(paths) > 1 else "one trial"
        ax.set(title=f"{foot} foot, {count}", xlabel=f"{direction} of the heel [mm]", xlim=edges, ylim=(back, front))
    axes[0, 0].set(ylabel="anterior of the heel [mm]")
    place_legend(fig, {})
    return fig
