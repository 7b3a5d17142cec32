"""Figures of runs, made with matplotlib.

Every function takes runs by label and returns a figure; ``panels.save`` writes it in the formats asked for.  Joints and cases
have the lines of ``lines.NAMED`` in every figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.figures.lines import COLOURS, EDGE, fill, style
from runtime.figures.panel_lines import draw_lines, label_time, rows_of_panels
from runtime.figures.panels import WIDEST, figure, legend
from runtime.figures.points import curve_points
from runtime.results.run import Run
from runtime.support.arguments import checked, checked_class
from runtime.support.checks import called
from runtime.support.errors import ModelError
from runtime.support.names import named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLANES = named("plane", {"sagittal": (0, 2), "frontal": (1, 2), "transverse": (0, 1)})
DIRECTIONS = ("anterior", "medial", "up")
LOGARITHMIC = 30.0  # ratio of the largest to the smallest bar above which the scale is logarithmic
BONES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # of stick figures, in the order of their parts
MARGIN = 0.06  # of positions, relative to the largest range
Runs = Mapping[str, Run]


@checked_class
@dataclass(frozen=True)
class Chart:
    """Curves (x, y) of one quantity by label."""

    title: str
    ylabel: str
    series: Mapping[str, tuple[Any, Any]]


@checked
def trajectories(groups: Mapping[str, Runs], body: str, planes: Sequence[str] = tuple(PLANES)) -> Figure:
    """Path of a body's centre of mass in the cardinal planes, a row for each group, all with one scale.

    Rodrigues da Silva et al. (2024a), Figs. 10, 14 and 20; (2024c), Fig. 12.
    """
    runs = [run for by_label in groups.values() for run in by_label.values()]
    if not runs or not planes:
        raise ModelError(f"trajectories: {'planes' if runs else 'groups'} are empty; give one at least")
    low, high = (1e3 * pick([pick(run.r[body], axis=0) for run in runs], axis=0) for pick in (np.min, np.max))
    margin = max(MARGIN * float(np.max(high - low)), 1e-6)
    low, high = low - margin, high + margin
    height = max(float(high[b] - low[b]) for _, b in (PLANES[plane] for plane in planes))
    widths = [float((high - low)[PLANES[plane][0]]) for plane in planes]
    fig, axes = figure(
        len(groups), len(planes), width=10.0 / len(planes), widths=widths, heights=[height] * len(groups)
    )
    for row, (title, by_label) in zip(axes, groups.items(), strict=True):
        for ax, plane in zip(row, planes, strict=True):
            a, b = PLANES[plane]
            paths = {label: (1e3 * run.r[body][:, a], 1e3 * run.r[body][:, b]) for label, run in by_label.items()}
            draw_lines(ax, paths, thin=0.5)
            first = 1e3 * next(iter(by_label.values())).r[body][0]
            ax.plot(
                first[a], first[b], "o", color="black", markersize=5, markeredgecolor="white", label="start", zorder=5
            )
            middle = 0.5 * (low[b] + high[b])
            ax.set(
                xlim=(low[a], high[a]),
                ylim=(middle - 0.5 * height, middle + 0.5 * height),
                ylabel=f"{DIRECTIONS[b]} [mm]",
            )
            ax.set(title=f"{title},\n{plane} plane" if title else f"{plane} plane", xlabel=f"{DIRECTIONS[a]} [mm]")
            ax.locator_params(axis="x", nbins=max(2, round(6 * (high[a] - low[a]) / max(widths))))
    legend(fig, axes[0, 0])
    return fig


@checked
def velocities_and_accelerations(runs: Runs, body: str) -> Figure:
    """Velocity and acceleration of a body's centre of mass over time.  Rodrigues da Silva et al. (2024a), Fig. 12."""
    fig, axes = figure(3, 2, width=5.2, height=1.9, share_x=True)
    for row, direction, k in zip(axes, DIRECTIONS, range(3), strict=True):
        for ax, quantity, unit in zip(row, ("v", "v_dot"), ("m/s", "m/s²"), strict=True):
            draw_lines(ax, {label: (run.t, getattr(run, quantity)[body][:, k]) for label, run in runs.items()})
            ax.set(ylabel=f"{direction} [{unit}]")
    for ax, title in zip(axes[0], ("velocity", "acceleration"), strict=True):
        ax.set(title=title)
    label_time(axes)
    legend(fig, axes[0, 0])
    return fig


@checked
def phase_portraits(runs: Runs, body: str) -> Figure:
    """Velocity over position and acceleration over velocity, by direction.  Rodrigues da Silva et al. (2024a), Fig. 13."""
    fig, axes = figure(2, 3, width=3.5, height=2.8)
    for column, direction, k in zip(axes.T, DIRECTIONS, range(3), strict=True):
        moved = {label: (1e3 * run.r[body][:, k], run.v[body][:, k]) for label, run in runs.items()}
        draw_lines(column[0], moved, thin=0.6)
        draw_lines(
            column[1], {label: (run.v[body][:, k], run.v_dot[body][:, k]) for label, run in runs.items()}, thin=0.6
        )
        column[0].set(title=direction, xlabel="position [mm]", ylabel="velocity [m/s]")
        column[1].set(xlabel="velocity [m/s]", ylabel="acceleration [m/s²]")
    legend(fig, axes[0, 0])
    return fig


@checked
def energies(runs: Runs) -> Figure:
    """Change of kinetic, potential and total energy, and the drift of the total.  Rodrigues da Silva et al. (2024a), Fig. 17."""
    fig, axes = figure(2, len(runs), width=5.0, height=2.1, share_x=True, share_y=True)
    for column, (label, run) in zip(axes.T, runs.items(), strict=True):
        parts = {"kinetic": run.kinetic_energy, "potential": run.potential_energy, "total": run.energy}
        draw_lines(column[0], {name: (run.t, values - values[0]) for name, values in parts.items()})
        column[0].set(title=label)
        column[1].plot(run.t, run.energy - run.energy[0], color=COLOURS[2], linewidth=1.0)
    axes[0, 0].set(ylabel="energy − start [J]")
    axes[1, 0].set(ylabel="drift of the total [J]")
    label_time(axes)
    legend(fig, axes[0, 0])
    return fig


@checked
def bars(groups: Sequence[str], panels: Mapping[str, Mapping[str, Sequence[float]]], ylabel: str) -> Figure:
    """Panels of grouped bars labelled with their values.  Rodrigues da Silva et al. (2024a), Fig. 18; (2024b), Fig. 21.

    ``panels``: by title, the heights of the bars in each group, by label.
    """
    fig, axes = rows_of_panels(len(panels), 2, width=max(5.0, 1.5 * len(groups)), height=2.7, share_y=True)
    if (
        not panels
        or not all(panels.values())
        or any(len(heights) != len(groups) for values in panels.values() for heights in values.values())
    ):
        raise ModelError(f"bars: give a height for each of the {len(groups)} groups under each label")
    everything = [height for values in panels.values() for heights in values.values() for height in heights]
    logarithmic = max(everything) > LOGARITHMIC * min(everything) > 0.0
    for ax, (title, values) in zip(axes.flat, panels.items(), strict=False):
        width = 0.8 / len(values)
        for number, (label, heights) in enumerate(values.items()):
            places = np.arange(len(groups)) + (number - (len(values) - 1) / 2) * width
            drawn = ax.bar(places, heights, width * 0.95, label=label, **fill(number, label))
            ax.bar_label(drawn, [f"{height:.0f}" for height in heights], padding=2, fontsize=8)
        ax.set_xticks(range(len(groups)), groups)
        ax.set(title=title)
        if logarithmic:
            ax.set(yscale="log", ylim=(0.4 * min(everything), 3.0 * max(everything)))
        else:
            ax.set(ylim=(0.0, 1.12 * max(everything)))
    for row in axes:
        row[0].set(ylabel=f"{ylabel},\nlogarithmic" if logarithmic else ylabel)
    legend(fig, axes[0, 0])
    return fig


@checked
def draw(
    axes_of: Callable[[Any, int], None], count: int, anterior: tuple[float, float], up: tuple[float, float]
) -> Figure:
    """A row of drawings in the sagittal plane within these ranges [m], each made by ``axes_of(ax, number)``."""
    fig, axes = figure(
        1, count, width=11.0 / count, widths=[anterior[1] - anterior[0]] * count, heights=[up[1] - up[0]], share_y=True
    )
    for number, ax in enumerate(axes[0]):
        axes_of(ax, number)
        ax.set(xlabel=f"{DIRECTIONS[0]} [m]", xlim=anterior, ylim=up)
    axes[0, 0].set(ylabel=f"{DIRECTIONS[2]} [m]")
    legend(fig, *axes.flat)
    return fig


@checked
def over_time(
    runs: Runs,
    quantities: Mapping[str, Callable[[Run], Any]],
    *,
    span: tuple[float, float] | None = None,
    differences: bool = False,
) -> Figure:
    """Quantities of runs over time, one panel each under its label with unit.

    ``span`` adds a column that shows this interval [s]; ``differences`` adds a column with the difference of each run from the
    first, at the same times.
    """
    beside = (span is not None) + differences
    width = min(7.5, WIDEST / (1 + beside))
    fig, axes = figure(len(quantities), 1 + beside, width=width, height=2.0, share_x=True)
    for row, (ylabel, quantity) in zip(axes, quantities.items(), strict=True):
        first = None
        for number, (label, run) in enumerate(runs.items()):
            values = curve_points(
                f"over_time: '{ylabel}' of '{label}'", run.t, called(quantity, f"over_time: '{ylabel}'", run)
            )[1]
            row[0].plot(run.t, values, label=label, **style(number, label))
            if span is not None:
                inside = (run.t >= span[0]) & (run.t <= span[1])
                row[1].plot(run.t[inside], values[inside], **style(number, label))
            if differences:
                first = values if first is None else first
                row[-1].plot(run.t, values - first, **style(number, label))
        row[0].set(ylabel=ylabel)
    if beside:
        axes[0, 0].set(title="whole run")
    if span is not None:
        axes[0, 1].set(title=f"{span[0]:.2f} to {span[1]:.2f} s")
    if differences:
        axes[0, -1].set(title=f"difference from {next(iter(runs))}")
    label_time(axes)
    legend(fig, axes[0, 0])
    return fig


@checked
def mechanical_energies(groups: Mapping[str, Runs]) -> Figure:
    """Change of kinetic and gravitational energy, as the papers plot them, and with the elastic energy of the limits.

    Rodrigues da Silva et al. (2024a), Fig. 17; (2024b), Fig. 20.
    """
    fig, axes = figure(2, len(groups), width=10.4 / max(len(groups), 1.4), height=2.1, share_x=True, share_y=True)
    for column, (title, runs) in zip(axes.T, groups.items(), strict=True):
        papers = {label: run.kinetic_energy + run.potential_energy - run.energy[0] for label, run in runs.items()}
        draw_lines(column[0], {label: (run.t, papers[label]) for label, run in runs.items()})
        draw_lines(column[1], {label: (run.t, run.energy - run.energy[0]) for label, run in runs.items()})
        column[0].set(title=title)
    axes[0, 0].set(ylabel="kinetic and\ngravitational [J]")
    axes[1, 0].set(ylabel="and that stored\nin limits [J]")
    label_time(axes)
    legend(fig, axes[0, 0])
    return fig


@checked
def curves(series: Mapping[str, tuple[Any, Any]], xlabel: str, ylabel: str) -> Figure:
    """Curves y over x by label.  Rodrigues da Silva et al. (2024b), Figs. 22 and 24."""
    fig, axes = figure(1, 1, width=7.0, height=3.6)
    draw_lines(axes[0, 0], {label: curve_points(f"curves: '{label}'", x, y) for label, (x, y) in series.items()})
    axes[0, 0].set(xlabel=xlabel, ylabel=ylabel)
    legend(fig, axes[0, 0])
    return fig


@checked
def charts(charts: Sequence[Chart], xlabel: str, *, columns: int = 2) -> Figure:
    """Several charts over the same axis, with one legend; the first series of each, such as a measurement, is black."""
    columns = max(1, min(columns, len(charts)))
    fig, axes = rows_of_panels(len(charts), columns, width=min(7.0, WIDEST / columns), height=2.8)
    for ax, chart in zip(axes.flat, charts, strict=False):
        for number, (label, (x, y)) in enumerate(chart.series.items()):
            line = style(number - 1, label) if number else {"color": "black", "linewidth": 1.3, "zorder": 5}
            ax.plot(*curve_points(f"charts: '{label}'", x, y), label=label, **line)
        ax.axhline(0.0, color="0.5", linewidth=0.6)
        ax.set(title=chart.title, xlabel=xlabel, ylabel=chart.ylabel)
    legend(fig, axes[0, 0])
    return fig


def _fit(poses: Mapping[str, Mapping[float, Mapping[str, Any]]]) -> bool:
    """Whether there are poses at each label, with the same parts at each time and points (n, 3)."""
    lines = [np.shape(points) for by_time in poses.values() for parts in by_time.values() for points in parts.values()]
    alike = all(len({tuple(parts) for parts in by_time.values()} - {()}) == 1 for by_time in poses.values())
    return bool(lines) and alike and all(len(shape) == 2 and shape[0] > 0 and shape[1] == 3 for shape in lines)


@checked
def snapshots(
    poses: Mapping[str, Mapping[float, Mapping[str, Any]]], *, planes: Sequence[str] = ("sagittal", "frontal")
) -> Figure:
    """Stick figures side by side, one for each time, from the side and from the front, all with one scale.

    Rodrigues da Silva et al. (2024a), Figs. 11, 15 and 16; (2024c), Fig. 13.

    ``poses``: by label and time [s], polylines (n, 3) [m] by the name of their part.
    """
    if not (planes and _fit(poses)):
        raise ModelError(
            "snapshots: give planes, and poses by label and time: polylines (n, 3) [m] of the same parts at each time"
        )
    everything = [points for by_time in poses.values() for parts in by_time.values() for points in parts.values()]
    low, high = (pick([pick(points, axis=0) for points in everything], axis=0) for pick in (np.nanmin, np.nanmax))
    middle, steps = 0.5 * (low + high), 1.2 * np.maximum(high - low, 1e-3)
    bottom, count = low[2] - 0.25 * (high[2] - low[2]), max(map(len, poses.values()))
    fig, axes = figure(
        len(poses), len(planes), width=11.0 / len(planes),
        widths=[float(count * steps[PLANES[plane][0]]) for plane in planes],
        heights=[float(1.04 * (high[2] - bottom))] * len(poses), share_y=True,
    )  # fmt: skip
    for row, (title, by_time) in zip(axes, poses.items(), strict=True):
        for ax, plane in zip(row, planes, strict=True):
            a, b = PLANES[plane]
            for n, part in enumerate(next(iter(by_time.values()))):
                ax.plot(
                    *_side_by_side([parts[part][:, [a, b]] for parts in by_time.values()], middle[a], steps[a]),
                    label=part,
                    **_bone(n, 2),
                )
            for number, time in enumerate(by_time):
                ax.text(
                    number * steps[a],
                    low[b] - 0.07 * (high[2] - low[2]),
                    f"{time:.2f} s",
                    ha="center",
                    va="top",
                    fontsize=8,
                )
            ax.grid(False)
            ax.spines["bottom"].set_visible(False)
            ax.set(title=f"{title}, {plane} plane", xticks=[], xlim=(-0.5 * steps[a], (count - 0.5) * steps[a]))
            ax.set(ylim=(bottom, bottom + 1.04 * (high[2] - bottom)))
        row[0].set(ylabel=f"{DIRECTIONS[2]} [m]")
    legend(fig, axes[0, 0])
    return fig


def _side_by_side(polylines: Sequence[Any], middle: float, step: float) -> Any:
    """One line (2, n) of polylines (m, 2), shifted by a step each, with gaps between them."""
    gap = np.full((1, 2), np.nan)
    return np.concatenate(
        [part for number, points in enumerate(polylines) for part in (points + (number * step - middle, 0.0), gap)]
    ).T


def _bone(number: int, points: int) -> dict[str, Any]:
    """Line of a part of a stick figure with a number of points: thin for outlines."""
    outline = points > 10
    return {
        "color": BONES[number % len(BONES)], "linewidth": 0.8 if outline else 2.6, "solid_capstyle": "round",
    }  # fmt: skip


@checked
def side_views(poses: Mapping[str, Mapping[float, Mapping[str, Any]]], near: Sequence[str]) -> Figure:
    """Drawings from the side on level ground, a row for each label and a column for each time.

    Moreira et al. (2011), Fig. 7.

    ``poses``: by label and time [s], polylines (n, 3) [m] by the name of their part; ``near``: the parts that are
    shown whole; the others are cut off at the edge of the drawing.
    """
    a, b = PLANES["sagittal"]
    shown = np.concatenate([parts[name] for by_time in poses.values() for parts in by_time.values() for name in near])
    (left, low), (right, high) = np.nanmin(shown, axis=0)[[a, b]] - 0.03, np.nanmax(shown, axis=0)[[a, b]] + 0.03
    low = min(low, -0.02)
    count = max(map(len, poses.values()))
    fig, axes = figure(
        len(poses), count, width=11.0 / count, widths=[float(right - left)] * count,
        heights=[float(high - low)] * len(poses), share_x=True, share_y=True,
    )  # fmt: skip
    for row, (title, by_time) in zip(axes, poses.items(), strict=True):
        for ax, (time, parts) in zip(row, by_time.items(), strict=True):
            ax.axhline(0.0, color=EDGE, linewidth=1.2, zorder=0)
            for n, (part, points) in enumerate(parts.items()):
                ax.plot(points[:, a], points[:, b], label=part, **_bone(n, len(points)))
            ax.grid(False)
            ax.set(xlim=(left, right), ylim=(low, high), title=f"{time:.2f} s")
        row[0].set(ylabel=f"{title}\n{DIRECTIONS[b]} [m]")
    for ax in axes[-1]:
        ax.set(xlabel=f"{DIRECTIONS[a]} [m]")
    legend(fig, axes[0, 0])
    return fig
