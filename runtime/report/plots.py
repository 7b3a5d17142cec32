"""Figures of runs, made with matplotlib, which is imported when the first figure is drawn.

Every function takes runs by label and returns a figure; ``save`` writes it in the formats asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.report.points import curve_points
from runtime.results.run import Run
from runtime.support.arguments import checked, checked_class
from runtime.support.checks import called
from runtime.support.errors import ModelError
from runtime.support.files import whole_file
from runtime.support.names import named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colours of Okabe and Ito, distinct for colour-blind readers; the line styles distinguish the lines in black and white too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
PLANES = named("plane", {"sagittal": (0, 2), "transverse": (0, 1), "frontal": (1, 2)})
DIRECTIONS = ("x, anterior", "y, medial", "z, up")
LOGARITHMIC = 30.0  # ratio of the largest to the smallest bar above which the scale is logarithmic
FORMATS = ("png", "svg")  # of files, by default
KNOWN_FORMATS = ("png", "svg", "pdf")
DOTS_PER_INCH = 150
Runs = Mapping[str, Run]


@checked_class
@dataclass(frozen=True)
class Chart:
    """Curves (x, y) of one quantity by label."""

    title: str
    ylabel: str
    series: Mapping[str, tuple[Any, Any]]


@checked
def figure(rows: int, columns: int, *, width: float = 4.2, height: float = 3.4) -> tuple[Figure, Any]:
    """An empty figure without a window, and its axes (rows, columns)."""
    for what, value, most in (
        ("rows", rows, 100),
        ("columns", columns, 100),
        ("width", width, 1000),
        ("height", height, 1000),
    ):
        if not 0.1 <= value <= most:
            raise ModelError(
                f"figure: {what} = {value:g}, limit 1 to {most}; give something to draw, and not more at once"
            )
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    fig = Figure(figsize=(width * columns, height * rows), layout="constrained")
    FigureCanvasAgg(fig)
    axes = fig.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.grid(True, linewidth=0.4, alpha=0.5)
        ax.spines[["top", "right"]].set_visible(False)
    return fig, axes


@checked
def save(fig: Figure, folder: Path, name: str, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write a figure as ``name.png`` and so on, each file whole or not at all; returns the files.

    Raises
    ------
    ModelError
        Where a file cannot be written.
    """
    fig.dpi = DOTS_PER_INCH
    engine = fig.get_layout_engine()
    if (
        engine is not None
    ):  # once for all formats: savefig would draw the figure once more for each, only to place everything
        engine.execute(fig)
        fig.set_layout_engine(None)
    files = [file_of(folder, name, kind) for kind in formats]
    for file in files:
        more: dict[str, Any] = (
            {"pil_kwargs": {"compress_level": 1}} if file.suffix == ".png" else {}
        )  # a third faster, a tenth larger
        with whole_file(file) as stream:
            fig.savefig(stream, format=file.suffix[1:], dpi=DOTS_PER_INCH, **more)
    return files


@checked
def file_of(folder: Path, name: str, kind: str) -> Path:
    """File of a figure in a format."""
    return folder / f"{name}.{kind}"


@checked
def style(number: int) -> dict[str, Any]:
    """Colour, dashes and width of a line by its number."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": STYLES[number % len(STYLES)], "linewidth": 1.2}


@checked
def legend(fig: Figure, ax: Any) -> None:
    """One legend above all axes for the lines of ``ax``."""
    place_legend(fig, *ax.get_legend_handles_labels())


@checked
def place_legend(fig: Figure, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """A legend above all axes, with as few rows as fit the width of the figure."""
    if not labels:
        return
    renderer = fig.canvas.get_renderer()  # type: ignore[attr-defined]
    for rows in range(1, len(labels) + 1):
        columns = -(-len(labels) // rows)
        drawn = fig.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False)
        if columns == 1 or drawn.get_window_extent(renderer).width <= fig.bbox.width:
            return
        drawn.remove()


@checked
def trajectories(runs: Runs, body: str, planes: Sequence[str] = tuple(PLANES)) -> Figure:
    """Path of a body's centre of mass in the cardinal planes.  Rodrigues da Silva et al. (2024a), Figs. 10 and 20."""
    fig, axes = figure(1, len(planes))
    for ax, plane in zip(axes[0], planes, strict=True):
        a, b = PLANES[plane]
        for number, (label, run) in enumerate(runs.items()):
            r = run.r[body]
            ax.plot(r[:, a], r[:, b], label=label, **style(number))
            start = dict(label="start" if number == len(runs) - 1 else None, zorder=5)
            ax.plot(*r[0, [a, b]], "o", color="black", markersize=5, markeredgecolor="white", **start)
        ax.set(title=f"{plane} plane", xlabel=f"{DIRECTIONS[a]} [m]", ylabel=f"{DIRECTIONS[b]} [m]")
        ax.axis("equal")
        ax.locator_params(nbins=5)
    legend(fig, axes[0, 0])
    return fig


@checked
def velocities_and_accelerations(runs: Runs, body: str) -> Figure:
    """Velocity and acceleration of a body's centre of mass over time.  Rodrigues da Silva et al. (2024a), Fig. 12."""
    fig, axes = figure(3, 2, width=5.5, height=2.5)
    for k in range(3):
        for number, (label, run) in enumerate(runs.items()):
            axes[k, 0].plot(run.t, run.v[body][:, k], label=label, **style(number))
            axes[k, 1].plot(run.t, run.v_dot[body][:, k], **style(number))
        axes[k, 0].set(ylabel=f"velocity {DIRECTIONS[k]} [m/s]")
        axes[k, 1].set(ylabel=f"acceleration {DIRECTIONS[k]} [m/s²]")
    for ax in axes[2]:
        ax.set(xlabel="time [s]")
    legend(fig, axes[0, 0])
    return fig


@checked
def phase_portraits(runs: Runs, body: str) -> Figure:
    """Position against velocity and velocity against acceleration, by direction.  Rodrigues da Silva et al. (2024a), Fig. 13."""
    fig, axes = figure(3, 2, width=4.6, height=3.0)
    for k in range(3):
        for number, (label, run) in enumerate(runs.items()):
            axes[k, 0].plot(run.r[body][:, k], run.v[body][:, k], label=label, **style(number))
            axes[k, 1].plot(run.v[body][:, k], run.v_dot[body][:, k], **style(number))
        axes[k, 0].set(xlabel=f"position {DIRECTIONS[k]} [m]", ylabel="velocity [m/s]")
        axes[k, 1].set(xlabel=f"velocity {DIRECTIONS[k]} [m/s]", ylabel="acceleration [m/s²]")
        for ax in axes[k]:
            ax.locator_params(axis="x", nbins=6)
    legend(fig, axes[0, 0])
    return fig


@checked
def energies(runs: Runs) -> Figure:
    """Change of kinetic, potential and total energy, and the drift of the total.  Rodrigues da Silva et al. (2024a), Fig. 17."""
    fig, axes = figure(2, len(runs), width=5.0, height=2.8)
    for n, (label, run) in enumerate(runs.items()):
        for number, (name, values) in enumerate(
            {"kinetic": run.kinetic_energy, "potential": run.potential_energy, "total": run.energy}.items()
        ):
            axes[0, n].plot(run.t, values - values[0], label=name, **style(number))
        axes[0, n].set(title=label, ylabel="energy − start [J]")
        axes[1, n].plot(run.t, run.energy - run.energy[0], color=COLOURS[2], linewidth=1.0)
        axes[1, n].set(xlabel="time [s]", ylabel="drift of the total [J]")
    legend(fig, axes[0, 0])
    return fig


@checked
def bars(groups: Sequence[str], values: Mapping[str, Sequence[float]], ylabel: str) -> Figure:
    """Grouped bars labelled with their values.  Rodrigues da Silva et al. (2024a), Fig. 18."""
    fig, axes = figure(1, 1, width=max(6.0, 0.75 * len(groups) * len(values)), height=3.8)
    ax = axes[0, 0]
    if not values or any(len(heights) != len(groups) for heights in values.values()):
        raise ModelError(f"bars: give a height for each of the {len(groups)} groups under each label")
    width = 0.8 / len(values)
    for number, (label, heights) in enumerate(values.items()):
        places = np.arange(len(groups)) + (number - (len(values) - 1) / 2) * width
        drawn = ax.bar(places, heights, width * 0.95, label=label, color=COLOURS[number % len(COLOURS)])
        ax.bar_label(drawn, [f"{height:.0f}" for height in heights], padding=2, fontsize=8)
    ax.set_xticks(range(len(groups)), groups)
    ax.set(ylabel=ylabel)
    everything = [height for heights in values.values() for height in heights]
    if max(everything) > LOGARITHMIC * min(everything) > 0.0:
        ax.set(yscale="log", ylabel=f"{ylabel}, logarithmic", ylim=(0.4 * min(everything), None))
    ax.margins(y=0.12)
    legend(fig, ax)
    return fig


@checked
def draw(axes_of: Callable[[Any, int], None], count: int) -> Figure:
    """A row of drawings in the sagittal plane, each made by ``axes_of(ax, number)``."""
    fig, axes = figure(1, count, width=3.2, height=4.2)
    for number, ax in enumerate(axes[0]):
        axes_of(ax, number)
        ax.set_aspect("equal")
        ax.set(xlabel=f"{DIRECTIONS[0]} [m]")
    axes[0, 0].set(ylabel=f"{DIRECTIONS[2]} [m]")
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
    fig, axes = figure(len(quantities), 1 + beside, width=5.0 if beside else 7.0, height=2.4)
    for column in axes.T:
        for ax in column[1:]:
            ax.sharex(column[0])
    for row, (ylabel, quantity) in zip(axes, quantities.items(), strict=True):
        first = None
        for number, (label, run) in enumerate(runs.items()):
            values = curve_points(
                f"over_time: '{ylabel}' of '{label}'", run.t, called(quantity, f"over_time: '{ylabel}'", run)
            )[1]
            row[0].plot(run.t, values, label=label, **style(number))
            if span is not None:
                inside = (run.t >= span[0]) & (run.t <= span[1])
                row[1].plot(run.t[inside], values[inside], **style(number))
            if differences:
                first = values if first is None else first
                row[-1].plot(run.t, values - first, **style(number))
        row[0].set(ylabel=ylabel)
    if beside:
        axes[0, 0].set(title="whole run")
    if span is not None:
        axes[0, 1].set(title=f"zoom: {span[0]:.2f} .. {span[1]:.2f} s")
        axes[0, 1].locator_params(axis="x", nbins=6)
    if differences:
        axes[0, -1].set(title=f"difference from {next(iter(runs))}")
    for ax in axes[-1]:
        ax.set(xlabel="time [s]")
    legend(fig, axes[0, 0])
    return fig


@checked
def mechanical_energies(groups: Mapping[str, Runs]) -> Figure:
    """Change of kinetic and gravitational energy, as the papers plot them, and with the elastic energy of the limits.

    Rodrigues da Silva et al. (2024a), Fig. 17; (2024b), Fig. 20.
    """
    fig, axes = figure(2, len(groups), width=5.6, height=2.6)
    for column, (title, runs) in zip(axes.T, groups.items(), strict=True):
        for number, (label, run) in enumerate(runs.items()):
            papers = run.kinetic_energy + run.potential_energy
            column[0].plot(run.t, papers - run.energy[0], label=label, **style(number))
            column[1].plot(run.t, run.energy - run.energy[0], **style(number))
        column[0].set(title=title, ylabel="kinetic + gravitational [J]")
        column[1].set(ylabel="with energy of limits [J]", xlabel="time [s]")
    legend(fig, axes[0, 0])
    return fig


@checked
def curves(series: Mapping[str, tuple[Any, Any]], xlabel: str, ylabel: str) -> Figure:
    """Curves y over x by label.  Rodrigues da Silva et al. (2024b), Figs. 22 and 24."""
    fig, axes = figure(1, 1, width=7.0, height=3.8)
    for number, (label, (x, y)) in enumerate(series.items()):
        axes[0, 0].plot(*curve_points(f"curves: '{label}'", x, y), label=label, **style(number))
    axes[0, 0].set(xlabel=xlabel, ylabel=ylabel)
    legend(fig, axes[0, 0])
    return fig


@checked
def charts(charts: Sequence[Chart], xlabel: str, *, columns: int = 2) -> Figure:
    """Several charts over the same axis, with one legend; the first series of each, such as a measurement, is black."""
    columns = max(1, min(columns, len(charts)))
    rows = -(-len(charts) // columns)
    fig, axes = figure(rows, columns, width=5.2, height=3.2)
    for ax, chart in zip(axes.flat, charts, strict=False):
        for number, (label, (x, y)) in enumerate(chart.series.items()):
            line = style(number - 1) if number else {"color": "black", "linewidth": 1.8}
            ax.plot(*curve_points(f"charts: '{label}'", x, y), label=label, **line)
        ax.axhline(0.0, color="0.5", linewidth=0.6)
        ax.set(title=chart.title, xlabel=xlabel, ylabel=chart.ylabel)
    for ax in axes.flat[len(charts) :]:
        ax.set_visible(False)
    legend(fig, axes[0, 0])
    return fig


@checked
def snapshots(
    poses: Mapping[str, Mapping[float, Mapping[str, Any]]], *, planes: Sequence[str] = ("sagittal", "frontal")
) -> Figure:
    """Stick figures side by side, one for each time, from the side and from the front.

    Rodrigues da Silva et al. (2024a), Figs. 11, 15 and 16.

    ``poses``: by label and time [s], polylines (n, 3) [m] by the name of their part.
    """
    fig, axes = figure(len(poses), len(planes), width=6.2 if len(planes) > 1 else 9.0, height=2.3)
    everything = [points for by_time in poses.values() for parts in by_time.values() for points in parts.values()]
    low, high = (pick([pick(points, axis=0) for points in everything], axis=0) for pick in (np.nanmin, np.nanmax))
    for row, (title, by_time) in zip(axes, poses.items(), strict=True):
        for ax, plane in zip(row, planes, strict=True):
            a, b = PLANES[plane]
            step = 1.15 * (high[a] - low[a])
            for number, (time, parts) in enumerate(by_time.items()):
                for n, (part, points) in enumerate(parts.items()):
                    label = part if number == 0 else None
                    across, up = points[:, a] - 0.5 * (low[a] + high[a]) + number * step, points[:, b]
                    thin = len(points) > 10  # an outline
                    ax.plot(
                        across,
                        up,
                        color=COLOURS[n],
                        linewidth=0.8 if thin else 2.0,
                        solid_capstyle="round",
                        label=label,
                    )
                ax.text(number * step, low[b] - 0.02, f"{time:.2f} s", ha="center", va="top", fontsize=8)
            ax.grid(False)
            ax.set_aspect("equal")
            ax.set(
                title=f"{title}, {plane} plane",
                xticks=[],
                ylabel=f"{DIRECTIONS[b]} [m]",
                ylim=(low[b] - 0.02 - 0.12 * (high[b] - low[b]), high[b] + 0.01),
            )
    legend(fig, axes[0, 0])
    return fig


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
    width = 3.2
    count = max(map(len, poses.values()))
    fig, axes = figure(len(poses), count, width=width, height=width * (high - low) / (right - left) + 0.4)
    for row, (title, by_time) in zip(axes, poses.items(), strict=True):
        for ax, (time, parts) in zip(row, by_time.items(), strict=True):
            ax.axhline(0.0, color="0.35", linewidth=1.5, zorder=0)
            for n, (part, points) in enumerate(parts.items()):
                outline = len(points) > 10
                ax.plot(points[:, a], points[:, b], color=COLOURS[n], linewidth=1.0 if outline else 3.0, label=part)
            ax.grid(False)
            ax.set_aspect("equal")
            ax.set(xlim=(left, right), ylim=(low, high))
            ax.text(0.02, 0.02, f"{time:.2f} s", transform=ax.transAxes)
        row[0].set(ylabel=f"{title}\n{DIRECTIONS[b]} [m]")
    for ax in axes[-1]:
        ax.set(xlabel=f"{DIRECTIONS[a]} [m]")
    legend(fig, axes[0, 0])
    return fig
