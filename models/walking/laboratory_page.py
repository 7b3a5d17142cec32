"""The curves of a walk on one page, as laboratories show them: both feet, single trials, mean and SD, norms, events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.figures.panels import figure, place_legend
from runtime.support.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEET = {"right": ("#007a5e", "-"), "left": ("#d55e00", (0, (5, 1.5)))}  # colour and dashes; also distinct in grey
SMALL, TICKS, LABELS, TITLE = 7.5, 9.0, 9.0, 10.0  # [points]; at 180 mm, the width of a page, seven tenths of it
LETTERS = 42  # of a line above a panel


@dataclass(frozen=True)
class Band:
    """Mean and SD (m,) of a norm over the gait cycle, and their source."""

    mean: Floats
    sd: Floats
    source: str


@dataclass(frozen=True)
class Panel:
    """A quantity over the gait cycle: its directions, unit, curves (trials, points) by foot, norm, and a caveat.

    ``sort``: words before the unit, such as "internal moment ".
    ``within``: ends (2, points) of the band of each foot that the uncertainty of the axes makes, instead of that of the trials.
    """

    title: str
    positive: str
    negative: str
    unit: str
    curves: Mapping[str, Floats]
    norm: Band | None = None
    caveat: str = ""
    within: Mapping[str, Floats] = field(default_factory=dict)
    sort: str = ""


@dataclass(frozen=True)
class Events:
    """Mean times of events [%] of a foot: its own foot off, foot off and strike of the other foot; NaN if not seen."""

    off: float
    opposite_off: float
    opposite_strike: float


def laboratory_page(rows: Sequence[Sequence[Panel]], events: Mapping[str, Events], heading: str = "") -> Figure:
    """Rows of panels over 0 to 100 % of the gait cycle below a heading.  Rodrigues da Silva et al. (n.d.), Figs. 5 and 7.

    Mean and standard deviation of each foot, single trials thin; grey: norm; vertical lines: events of the foot in its colour.
    """
    fig, axes = figure(len(rows), max(len(row) for row in rows), width=3.4, height=2.9)
    lines = max(len(_below_title(panel).splitlines()) for row in rows for panel in row)
    for row, panels in zip(axes, rows, strict=True):
        for ax, panel in zip(row, panels, strict=False):
            _draw(ax, panel, events)
            ax.set_title(panel.title, loc="left", fontsize=TITLE, pad=5.0 + 1.3 * SMALL * lines)
        for ax in row[len(panels) :]:
            ax.set_visible(False)
    for ax in axes[-1]:
        ax.set_xlabel("gait cycle [%]", fontsize=LABELS)
    place_legend(fig, _legend([panel for row in rows for panel in row], events), heading=heading)
    return fig


def _legend(panels: Sequence[Panel], events: Mapping[str, Events]) -> dict[str, Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    curves = {side: trials for panel in reversed(panels) for side, trials in panel.curves.items()}
    handles: dict[str, Any] = {}
    for side, trials in curves.items():
        colour, dashes = FEET[side]
        name = f"{side} foot, mean of {len(trials)} trials ± SD" if len(trials) > 1 else f"{side} foot, one trial"
        handles[name] = Line2D([], [], color=colour, linestyle=dashes, linewidth=1.6)
    if any(len(trials) > 1 for trials in curves.values()):
        handles["single trials"] = Line2D([], [], color="0.3", linewidth=0.5)
    if any(panel.within for panel in panels):
        handles["95 % by the axes, pointwise"] = Patch(color="0.3", alpha=0.25)
    handles["foot off"] = Line2D([], [], color="0.3", linewidth=0.9)
    if any(np.isfinite([at.opposite_off, at.opposite_strike]).any() for at in events.values()):
        handles["off and strike of the other foot"] = Line2D([], [], color="0.3", linewidth=0.9, linestyle=":")
    if any(panel.norm for panel in panels):
        handles["norm, mean ± SD"] = Patch(color="0.85")
    return handles


def _below_title(panel: Panel) -> str:
    """Source of the norm and caveat of a panel, in lines as wide as the panel."""
    return fill(
        "; ".join(([f"norm: {panel.norm.source}"] if panel.norm else []) + [panel.caveat] * bool(panel.caveat)), LETTERS
    )


def _draw(ax: Any, panel: Panel, events: Mapping[str, Events]) -> None:
    if panel.norm is not None:
        x = np.linspace(0.0, 100.0, len(panel.norm.mean))
        band = (panel.norm.mean - panel.norm.sd, panel.norm.mean + panel.norm.sd)
        ax.fill_between(x, *band, color="0.85", linewidth=0)
    ax.text(0.0, 1.02, _below_title(panel), fontsize=SMALL, color="0.4", transform=ax.transAxes, in_layout=False)
    for side, curves in panel.curves.items():
        colour, dashes = FEET[side]
        percent, mean = np.linspace(0.0, 100.0, curves.shape[1]), curves.mean(axis=0)
        if len(curves) > 1:
            sd = curves.std(axis=0, ddof=1)
            ax.fill_between(percent, mean - sd, mean + sd, color=colour, alpha=0.18, linewidth=0)
            ax.plot(percent, curves.T, color=colour, linewidth=0.4, alpha=0.7)
        ax.plot(percent, mean, color=colour, linestyle=dashes, linewidth=1.6)
        if side in panel.within:
            ax.fill_between(percent, *panel.within[side], color=colour, alpha=0.25, linewidth=0)
        at = events[side]
        for time, line in ((at.off, "-"), (at.opposite_off, ":"), (at.opposite_strike, ":")):
            if np.isfinite(time):
                ax.axvline(time, color=colour, linestyle=line, linewidth=0.9)
    ax.axhline(0.0, color="0.5", linewidth=0.6)
    ax.set_xlim(0, 100)
    directions = f"{panel.negative} –   + {panel.positive}\n" if panel.positive else ""
    ax.set_ylabel(f"{directions}{panel.sort}[{panel.unit}]", fontsize=LABELS)
    ax.tick_params(labelsize=TICKS)
