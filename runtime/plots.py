"""Figures of runs, made with matplotlib, which is imported when the first figure is drawn.

Every function takes runs by label and returns a figure; ``save`` writes it as PNG and SVG.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.result import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which every reader can tell apart; line styles repeat the message in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
PLANES = {"sagittal": (0, 2), "transverse": (0, 1), "frontal": (1, 2)}
DIRECTIONS = ("x, anterior", "y, medial", "z, up")

Runs = Mapping[str, Run]


def figure(rows: int, columns: int, *, width: float = 4.2, height: float = 3.4) -> tuple[Figure, Any]:
    """An empty figure without a window, and its axes (rows, columns)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    fig = Figure(figsize=(width * columns, height * rows), layout="constrained")
    FigureCanvasAgg(fig)
    axes = fig.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.grid(True, linewidth=0.4, alpha=0.5)
        ax.spines[["top", "right"]].set_visible(False)
    return fig, axes


def save(fig: Figure, folder: Path, name: str) -> list[Path]:
    """Write ``name.png`` and ``name.svg``; returns the files."""
    files = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
    for file in files:
        fig.savefig(file, dpi=150)
    return files


def _style(number: int) -> dict[str, Any]:
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": STYLES[number % len(STYLES)], "linewidth": 1.2}


def _legend(fig: Figure, ax: Any) -> None:
    handles, labels = ax.get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 5), frameon=False)


def trajectories(runs: Runs, body: str, planes: Sequence[str] = tuple(PLANES)) -> Figure:
    """Path of a body's centre of mass in the cardinal planes.  Seed 000, Fig. 10 and Fig. 20."""
    fig, axes = figure(1, len(planes))
    for ax, plane in zip(axes[0], planes, strict=True):
        a, b = PLANES[plane]
        for number, (label, run) in enumerate(runs.items()):
            r = run.r[body]
            ax.plot(r[:, a], r[:, b], label=label, **_style(number))
            start = dict(label="start" if number == len(runs) - 1 else None, zorder=5)
            ax.plot(*r[0, [a, b]], "o", color="black", markersize=5, markeredgecolor="white", **start)
        ax.set(title=f"{plane} plane", xlabel=f"{DIRECTIONS[a]} [m]", ylabel=f"{DIRECTIONS[b]} [m]")
        ax.axis("equal")
    _legend(fig, axes[0, 0])
    return fig


def velocities_and_accelerations(runs: Runs, body: str) -> Figure:
    """Velocity and acceleration of a body's centre of mass over time.  Seed 000, Fig. 12."""
    fig, axes = figure(3, 2, width=5.5, height=2.5)
    for k in range(3):
        for number, (label, run) in enumerate(runs.items()):
            axes[k, 0].plot(run.t, run.v[body][:, k], label=label, **_style(number))
            axes[k, 1].plot(run.t, run.v_dot[body][:, k], **_style(number))
        axes[k, 0].set(ylabel=f"velocity {DIRECTIONS[k]} [m/s]")
        axes[k, 1].set(ylabel=f"acceleration {DIRECTIONS[k]} [m/s²]")
    for ax in axes[2]:
        ax.set(xlabel="time [s]")
    _legend(fig, axes[0, 0])
    return fig


def phase_portraits(runs: Runs, body: str) -> Figure:
    """Position against velocity and velocity against acceleration, by direction.  Seed 000, Fig. 13."""
    fig, axes = figure(3, 2, width=4.6, height=3.0)
    for k in range(3):
        for number, (label, run) in enumerate(runs.items()):
            axes[k, 0].plot(run.r[body][:, k], run.v[body][:, k], label=label, **_style(number))
            axes[k, 1].plot(run.v[body][:, k], run.v_dot[body][:, k], **_style(number))
        axes[k, 0].set(xlabel=f"position {DIRECTIONS[k]} [m]", ylabel="velocity [m/s]")
        axes[k, 1].set(xlabel=f"velocity {DIRECTIONS[k]} [m/s]", ylabel="acceleration [m/s²]")
    _legend(fig, axes[0, 0])
    return fig


def energies(runs: Runs) -> Figure:
    """Kinetic, potential and total energy from the start, and the drift of the total.  Seed 000, Fig. 17."""
    fig, axes = figure(2, len(runs), width=5.0, height=2.8)
    for n, (label, run) in enumerate(runs.items()):
        for number, (name, values) in enumerate(
            {"kinetic": run.kinetic_energy, "potential": run.potential_energy, "total": run.energy}.items()
        ):
            axes[0, n].plot(run.t, values - values[0], label=name, **_style(number))
        axes[0, n].set(title=label, ylabel="energy − start [J]")
        axes[1, n].plot(run.t, run.energy - run.energy[0], color=COLOURS[2], linewidth=1.0)
        axes[1, n].set(xlabel="time [s]", ylabel="drift of the total [J]")
    _legend(fig, axes[0, 0])
    return fig


def bars(groups: Sequence[str], values: Mapping[str, Sequence[float]], ylabel: str) -> Figure:
    """Grouped bars with their values written on them.  Seed 000, Fig. 18."""
    fig, axes = figure(1, 1, width=6.0, height=3.8)
    ax = axes[0, 0]
    width = 0.8 / len(values)
    for number, (label, heights) in enumerate(values.items()):
        places = np.arange(len(groups)) + (number - (len(values) - 1) / 2) * width
        drawn = ax.bar(places, heights, width * 0.95, label=label, color=COLOURS[number])
        ax.bar_label(drawn, [f"{height:.0f}" for height in heights], padding=2, fontsize=8)
    ax.set_xticks(range(len(groups)), groups)
    ax.set(ylabel=ylabel)
    ax.margins(y=0.12)
    _legend(fig, ax)
    return fig


def draw(axes_of: Callable[[Any, int], None], count: int) -> Figure:
    """A row of drawings in the sagittal plane, each made by ``axes_of(ax, number)``."""
    fig, axes = figure(1, count, width=3.2, height=4.2)
    for number, ax in enumerate(axes[0]):
        axes_of(ax, number)
        ax.set_aspect("equal")
        ax.set(xlabel=f"{DIRECTIONS[0]} [m]")
    axes[0, 0].set(ylabel=f"{DIRECTIONS[2]} [m]")
    return fig
