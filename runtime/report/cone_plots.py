"""Figures of circumduction cones and joint limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.figures.lines import EDGE, style
from runtime.figures.panel_lines import draw_lines, label_time
from runtime.figures.panels import figure, legend
from runtime.report.plots import LOGARITHMIC, Runs
from runtime.support.arguments import checked
from runtime.support.errors import ModelError
from runtime.system.cone import Cone

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VIEW = 1.25  # of the farthest point in a top view, with room for the labels of the spokes


@checked
def angles(groups: Mapping[str, Runs], limits: Mapping[str, Mapping[str, float]], *, until: float = np.inf) -> Figure:
    """Angles of hinges over time and their limits as horizontal lines, a row for each hinge and a column for each group.

    Rodrigues da Silva et al. (2024c), Fig. 14.

    ``limits``: by hinge, the angle [deg] of each limit by its name, such as ``{"dorsiflexion": 20.0, "plantarflexion": -35.0}``;
    the first names the positive direction.
    """
    if not groups or not limits or not all(limits.values()):
        empty = "groups" if not groups else "limits"
        raise ModelError(f"angles: {empty} are empty; give one at least")
    fig, axes = figure(len(limits), len(groups), width=10.4 / len(groups), height=2.6, share_x=True, share_y=True)
    for row, (hinge, bounds) in zip(axes, limits.items(), strict=True):
        for ax, (title, runs) in zip(row, groups.items(), strict=True):
            until_then = {label: (run, run.t <= until) for label, run in runs.items()}
            draw_lines(
                ax,
                {label: (run.t[m], np.rad2deg(run.limits[hinge].angle[m])) for label, (run, m) in until_then.items()},
            )
            for name, bound in bounds.items():
                ax.axhline(bound, color=EDGE, linewidth=1.0, zorder=3, label="joint limit")
                away, beside = (2, "bottom") if bound > 0.0 else (-2, "top")
                ax.annotate(
                    f"{name} {abs(bound):g}°", (1.0, bound), (0, away), xycoords=("axes fraction", "data"),
                    textcoords="offset points", fontsize=8, ha="right", va=beside, color=EDGE, zorder=6,
                    bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.5},
                )  # fmt: skip
            ax.set(title=f"{hinge}, {title}")
        row[0].set(ylabel=f"{next(iter(bounds))} [deg]")
    label_time(axes)
    legend(fig, axes[0, 0])
    return fig


@checked
def latitudes(runs: Runs, limit: str) -> Figure:
    """Latitude and maximum latitude at the same longitude of a limit over time.  Rodrigues da Silva et al. (2024b), Fig. 18a."""
    fig, axes = figure(len(runs), 1, width=7.5, height=1.7, share_x=True)
    for number, ((label, run), ax) in enumerate(zip(runs.items(), axes[:, 0], strict=True)):
        motion = run.limits[limit]
        line = style(number, label) | {"linestyle": "-", "linewidth": 1.8}
        ax.plot(run.t, np.rad2deg(motion.latitude), label=label, **line)
        ax.plot(
            run.t, np.rad2deg(motion.maximum_latitude), label="limit at the same longitude", color=EDGE, linewidth=0.8
        )
        ax.set(ylabel="latitude [deg]", ylim=(0.0, None))
    label_time(axes)
    legend(fig, *axes[:, 0])
    return fig


@checked
def moments(runs: Runs, limits: Sequence[str]) -> Figure:
    """Dissipative and restricting moments of limits over time.  Rodrigues da Silva et al. (2024c), Fig. 15; (2024b), Fig. 19."""
    fig, axes = figure(len(limits), 2, width=5.2, height=2.3, share_x=True)
    for row, limit in zip(axes, limits, strict=True):
        for ax, kind in zip(row, ("dissipative", "restricting"), strict=True):
            draw_lines(
                ax, {label: (run.t, getattr(run.limits[limit], f"{kind}_moment")) for label, run in runs.items()}
            )
            ax.set(title=f"{limit}, {kind}", ylim=(0.0, None))
            tops = [float(line.get_ydata().max()) for line in ax.lines if line.get_ydata().max() > 0.0]
            if len(tops) > 1 and max(tops) > 0.3 * LOGARITHMIC * min(tops):
                ax.set_yscale("symlog", linthresh=0.1)
                ax.set(ylabel="moment [N m],\nlogarithmic", yticks=[0, 0.1, 1, 10], yticklabels=["0", "0.1", "1", "10"])
            elif kind == "dissipative":
                ax.set(ylabel="moment [N m]")
    label_time(axes)
    legend(fig, axes[0, 0])
    return fig


@checked
def top_view(
    runs: Runs,
    limits: Mapping[str, Cone],
    *,
    until: float = np.inf,
    zooms: Mapping[str, tuple[float, ...]] | None = None,
) -> Figure:
    """Longitude and latitude in the top view of each limit's cone.

    Rodrigues da Silva et al. (2024b), Fig. 18b.  ``zooms``: limit -> longitude, latitude and half width [deg] of a second panel.
    """
    zooms = zooms or {}
    columns = 2 if zooms else 1
    fig, axes = figure(len(limits), columns, width=4.8, widths=[1.0] * columns, heights=[1.0] * len(limits))
    for row, (name, cone) in zip(axes, limits.items(), strict=True):
        around = np.linspace(0.0, 2 * np.pi, 361)
        edge = _plane(around, cone.maximum_latitude(around))
        motions = {label: (run.limits[name], run.t <= until) for label, run in runs.items()}
        if not all(shown.sum() > 1 for _, shown in motions.values()):
            raise ModelError(f"top_view: until = {until:g} s leaves less than two times of a run; give a later time")
        paths = {label: _plane(m.longitude[shown], m.latitude[shown]) for label, (m, shown) in motions.items()}
        reach = max(float(np.hypot(*curve).max()) for curve in (edge, *paths.values()))
        for ax in row:
            _rings(ax, reach)
            draw_lines(ax, paths, thin=0.6)
            ax.plot(*edge, color=EDGE, linewidth=1.6, label="joint limit", zorder=5)
            ax.set_aspect("equal")
            ax.set(xlabel="latitude along ξ [deg]", ylabel="latitude along η [deg]")
        row[0].set(title=name, xlim=(-VIEW * reach, VIEW * reach), ylim=(-VIEW * reach, VIEW * reach))
        if name in zooms:
            longitude, latitude, half = zooms[name]
            x, y = _plane(np.deg2rad(longitude), np.deg2rad(latitude))
            row[1].set(
                title=f"{name}, near longitude {longitude:g}°", xlim=(x - half, x + half), ylim=(y - half, y + half)
            )
    legend(fig, axes[0, 0])
    return fig


def _plane(longitude: Any, latitude: Any) -> Any:
    """Top view: plane coordinates [deg] of longitudes and latitudes [rad]."""
    return np.rad2deg(np.array([latitude * np.cos(longitude), latitude * np.sin(longitude)]))


def _rings(ax: Any, reach: float) -> None:
    """Circles of latitude and spokes of longitude."""
    ax.grid(False)
    turn = np.linspace(0.0, 2 * np.pi, 181)
    step = 10.0 if reach < 50.0 else 20.0
    for radius in np.arange(step, 1.1 * reach, step):
        ax.plot(radius * np.cos(turn), radius * np.sin(turn), color="0.85", linewidth=0.6, zorder=0)
    for spoke in range(0, 360, 45):
        end = 1.04 * reach * np.array([np.cos(np.deg2rad(spoke)), np.sin(np.deg2rad(spoke))])
        ax.plot([0.0, end[0]], [0.0, end[1]], color="0.85", linewidth=0.6, zorder=0)
        ax.text(*(1.07 * end), f"{spoke}°", color="0.45", fontsize=7, ha="center", va="center", clip_on=True)
