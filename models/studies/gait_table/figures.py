"""Figures of many subjects: means with standard deviations, and comparisons with the curve of t."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from models.studies.gait_table.comparisons import Comparison
from models.studies.gait_table.tables import label
from models.walking.cycle_curves import QUANTITIES
from models.walking.gait_result import PERCENT
from models.walking.laboratory_page import LABELS, SMALL, TICKS, TITLE
from models.walking.subject_curves import Foot, SubjectMean, Subjects, mean_and_sd
from runtime.figures.lines import style
from runtime.figures.panels import figure, place_legend
from runtime.report.figure_files import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Sets = dict[str, Sequence[SubjectMean]]  # subjects by label
COLUMNS = 3
MARKED = "#b0b0b0"


def figures(people: Subjects, foot: Foot, results: Sequence[Comparison]) -> dict[str, Drawing]:
    """The figures by file name, to be drawn when called."""
    found = {}
    caveats = people.caveats
    feet: tuple[Foot, ...] = ("mean", "right", "left")
    for each in feet:
        sets: Sets = {
            f"{label(group, condition)} (n = {len(members)})": members
            for group, condition in people.sets()
            if (members := people.members(group, condition, each))
        }
        if not sets:
            continue
        of = "mean of a subject's feet" if each == "mean" else f"{each} foot"
        found["means" if each == "mean" else f"means_{each}"] = Drawing(
            partial(means, sets, people.quantities, caveats),
            f"Mean and standard deviation over subjects, {of}; foot off dashed.",
        )
    for result in results:
        found[result.name.replace(" ", "_")] = Drawing(
            partial(comparison, result, caveats),
            f"Comparison of {result.text}: means with standard deviations, and t along the gait cycle; grey: |t| exceeds the "
            "threshold.",
        )
    return found


def means(sets: Sets, quantities: Sequence[str], caveats: Mapping[str, str]) -> Figure:
    """Mean and standard deviation of each set, a panel for each quantity."""
    fig, axes = figure(-(-len(quantities) // COLUMNS), COLUMNS, width=3.4, height=2.6)
    for ax, name in zip(axes.flat, quantities, strict=False):
        _bands(ax, sets, name, caveats.get(name, ""))
    for ax in axes.flat[len(quantities) :]:
        ax.set_visible(False)
    for ax in axes[-1]:
        ax.set_xlabel("gait cycle [%]", fontsize=LABELS)
    place_legend(fig, _handles(sets))
    return fig


def comparison(result: Comparison, caveats: Mapping[str, str]) -> Figure:
    """Two sets and their t, two panels for each quantity."""
    sets: Sets = {
        f"{name} (n = {len(members)})": members
        for name, members in zip((result.first, result.second), result.sets, strict=True)
    }
    rows = -(-len(result.tests) // COLUMNS)
    fig, axes = figure(2 * rows, COLUMNS, width=3.4, height=2.2)
    for ax in axes.flat:
        ax.set_visible(False)
    for number, (name, test) in enumerate(result.tests.items()):
        row, column = divmod(number, COLUMNS)
        upper, lower = axes[2 * row, column], axes[2 * row + 1, column]
        _bands(upper, sets, name, caveats.get(name, ""))
        lower.plot(PERCENT, test.t, color="black", linewidth=1.2)
        for sign in (-1.0, 1.0):
            lower.axhline(sign * test.threshold, color="black", linestyle="--", linewidth=0.8)
        _prepared(lower, "t")
        for ax in (upper, lower):
            ax.set_visible(True)
            for cluster in test.clusters:
                ax.axvspan(cluster.start, cluster.end, color=MARKED, alpha=0.5, linewidth=0)
        lower.set_xlabel("gait cycle [%]", fontsize=LABELS)
    place_legend(fig, _handles(sets))
    return fig


def _bands(ax: Any, sets: Sets, name: str, caveat: str) -> None:
    """Mean and standard deviation of each set; a caveat is written into the panel."""
    for number, members in enumerate(sets.values()):
        mean, sd = mean_and_sd([one.curves[name] for one in members])
        line = style(number, thin=0.6)
        if np.isfinite(sd).all():
            ax.fill_between(PERCENT, mean - sd, mean + sd, color=line["color"], alpha=0.2, linewidth=0)
        ax.plot(PERCENT, mean, **line)
        off = [one.toe_off for one in members if np.isfinite(one.toe_off)]
        if off:
            ax.axvline(float(np.mean(off)), color=line["color"], linestyle="--", linewidth=0.8)
    ax.set_title(QUANTITIES[name].title, loc="left", fontsize=TITLE)
    if caveat:
        ax.text(0.02, 0.02, fill(caveat, 40), transform=ax.transAxes, fontsize=SMALL, style="italic", va="bottom")
    _prepared(ax, QUANTITIES[name].unit)


def _prepared(ax: Any, unit: str) -> None:
    ax.axhline(0.0, color="0.5", linewidth=0.6)
    ax.set_xlim(0, 100)
    sort = "internal moment " if unit == "N m/kg" else ""
    ax.set_ylabel(f"{sort}[{unit}]" if unit != "t" else unit, fontsize=LABELS)
    ax.tick_params(labelsize=TICKS)


def _handles(sets: Sets) -> dict[str, Any]:
    from matplotlib.lines import Line2D

    return {name: Line2D([], [], **style(number, thin=0.6)) for number, name in enumerate(sets)}
