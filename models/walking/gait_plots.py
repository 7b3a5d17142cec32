"""Figures of gait: curves over the gait cycle, paths under the foot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.report.lines import COLOURS, style
from runtime.report.panels import figure, legend

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


def under_the_foot(paths: Mapping[str, Any], marks: Mapping[str, Any]) -> Figure:
    """Path of the centre of pressure under the right foot from heel strike to toe off.

    Rodrigues da Silva et al. (n.d.), Fig. 6.
    ``paths``: by label (n, 2) [m], anterior and medial of the heel; ``marks``: points of the foot by name, (2,) [m].
    """
    points = 1e3 * np.concatenate([*paths.values(), *(np.array(mark)[None] for mark in marks.values())])
    (back, side), (front, other) = np.nanmin(points, axis=0) - 15.0, np.nanmax(points, axis=0) + 15.0
    fig, axes = figure(1, 1, width=4.4, widths=[float(other - side) + 30.0], heights=[float(front - back)])
    ax = axes[0, 0]
    for number, (label, path) in enumerate(paths.items()):
        ax.plot(1e3 * -path[:, 1], 1e3 * path[:, 0], label=label, **style(number))
        ax.plot(1e3 * -path[0, 1], 1e3 * path[0, 0], "o", color=COLOURS[number % len(COLOURS)], markersize=4)
    for name, (anterior, medial) in marks.items():
        ax.plot(-1e3 * medial, 1e3 * anterior, "x", color="0.35", markersize=6)
        ax.annotate(name, (-1e3 * medial, 1e3 * anterior), (4, 4), textcoords="offset points", fontsize=7, color="0.35")
    ax.set(xlabel="lateral of the heel [mm]", ylabel="anterior of the heel [mm]")
    ax.set(xlim=(-other, 30.0 - side), ylim=(back, front))
    legend(fig, ax)
    return fig
