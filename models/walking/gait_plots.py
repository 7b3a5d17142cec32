"""Figures of gait: curves over the gait cycle, paths under the foot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from models.walking.axes_posterior import POSTERIOR, TAILS, AxesPosterior
from models.walking.laboratory_page import FEET
from models.walking.subject import LegFoot
from models.walking.two_hinges import directions, points
from runtime.figures.panels import figure, legend, place_legend
from runtime.support.arrays import Floats

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


AXES = {
    "talocrural": ("tab:blue", 1),
    "talocalcaneal": ("tab:red", 0),
}  # colour; direction along which the axis is drawn
VIEWS = {"from the side": (0, 2), "from above": (0, 1), "from the front": (1, 2)}
DIRECTIONS = ("anterior", "medial", "up")


def axes_on_the_foot(feet: Mapping[str, tuple[LegFoot, AxesPosterior]]) -> Figure:
    """Both axes with their cones of 95 % on the standing foot, those of the prior in grey, and the markers of leg and foot.

    ``feet``: by side, a subject by the rules or with the axes of its posterior, and this.  An axis that points at the viewer is
    drawn as its point, with intervals.
    """
    fig, axes = figure(len(feet), len(VIEWS), width=3.6, height=3.2)
    for row, (side, (subject, found)) in zip(axes, feet.items(), strict=True):
        leg, foot = subject.bodies["leg"], subject.bodies["main_foot"]
        moved = subject.sources["talocrural axis"] == POSTERIOR
        centre = leg.r + leg.A @ subject.talocrural.points["leg"] - moved * foot.A @ points(found.mean)[0]
        marks = np.array([(one.r + one.A @ p - centre) @ foot.A for one in (leg, foot) for p in one.markers.values()])
        near = 1e3 * marks[np.abs(marks[:, 2]) < 0.1]
        of_prior = np.random.default_rng(0).multivariate_normal(
            found.prior.mean, found.prior.covariance, len(found.draws)
        )
        for ax, (view, (a, b)) in zip(row, VIEWS.items(), strict=True):
            ax.plot(near[:, a], near[:, b], "o", color="0.35", markersize=4, label="markers")
            for k, (name, (colour, along)) in enumerate(AXES.items()):
                for draws, tint, label in (
                    (of_prior, "0.6", "prior, 95 %"),
                    (found.draws, colour, f"{name} axis, 95 %"),
                ):
                    _cone(ax, draws, k, along, (a, b), tint, label)
            ax.set(title=f"{side} foot {view}", xlabel=f"{DIRECTIONS[a]} [mm]", ylabel=f"{DIRECTIONS[b]} [mm]")
            ax.set_aspect("equal")
    legend(fig, axes[0, 1])
    return fig


def _cone(ax: Any, draws: Floats, k: int, along: int, view: tuple[int, int], colour: str, label: str) -> None:
    """The band of an axis by draws (s, 8), and its median; where it points at the viewer, its point with intervals."""
    axis, point = directions(draws)[k], points(draws)[k]
    if along not in view:
        low, middle, high = 1e3 * np.percentile(point[:, view], (TAILS[0], 50.0, TAILS[1]), axis=0)
        ax.errorbar(*middle[:, None], *np.array([[middle - low], [high - middle]]).transpose(2, 0, 1), color=colour)
        return
    other = view[0] + view[1] - along
    reach = np.linspace(-0.06, 0.1 if along == 0 else 0.06, 30)
    slope = axis[:, other] / axis[:, along]
    lines = point[:, other, None] + slope[:, None] * (reach - point[:, along, None])
    low, middle, high = 1e3 * np.percentile(lines, (TAILS[0], 50.0, TAILS[1]), axis=0)
    if along == view[0]:
        ax.fill_between(1e3 * reach, low, high, color=colour, alpha=0.25, linewidth=0.0, label=label)
        ax.plot(1e3 * reach, middle, color=colour, linewidth=1.2)
    else:
        ax.fill_betweenx(1e3 * reach, low, high, color=colour, alpha=0.25, linewidth=0.0, label=label)
        ax.plot(middle, 1e3 * reach, color=colour, linewidth=1.2)
