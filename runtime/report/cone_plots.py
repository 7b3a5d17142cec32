"""Figures of circumduction cones and limits of motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.report.plots import COLOURS, LOGARITHMIC, Runs, figure, legend, style
from runtime.support.arguments import checked
from runtime.support.errors import ModelError
from runtime.system.cone import Cone

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EDGE = "#333333"  # of cones


@checked
def latitudes(runs: Runs, limit: str) -> Figure:
    """Latitude and maximum latitude at the same longitude of a limit over time.  Rodrigues da Silva et al. (2024b), Fig. 18a."""
    fig, axes = figure(len(runs), 1, width=7.5, height=1.9)
    for number, ((label, run), ax) in enumerate(zip(runs.items(), axes[:, 0], strict=True)):
        motion = run.limits[limit]
        ax.plot(run.t, np.rad2deg(motion.latitude), label="latitude", color=COLOURS[number], linewidth=1.2)
        ax.plot(
            run.t, np.rad2deg(motion.maximum_latitude), label="maximum at the same longitude", color=EDGE, linewidth=0.8
        )
        ax.set(title=label, ylabel="latitude [deg]", ylim=(0.0, None))
    axes[-1, 0].set(xlabel="time [s]")
    legend(fig, axes[0, 0])
    return fig


@checked
def moments(runs: Runs, limits: Sequence[str]) -> Figure:
    """Dissipative and restricting moments of limits over time.  Rodrigues da Silva et al. (2024c), Fig. 15; (2024b), Fig. 19."""
    fig, axes = figure(len(limits), 2, width=5.2, height=2.6)
    for row, limit in zip(axes, limits, strict=True):
        for number, (label, run) in enumerate(runs.items()):
            motion = run.limits[limit]
            for ax, values in zip(row, (motion.dissipative_moment, motion.restricting_moment), strict=True):
                ax.plot(run.t, values, label=label, **style(number))
        for ax, kind in zip(row, ("dissipative", "restricting"), strict=True):
            ax.set(title=f"{limit}: {kind}", ylabel="moment [N m]", ylim=(0.0, None))
            tops = [float(line.get_ydata().max()) for line in ax.lines if line.get_ydata().max() > 0.0]
            if len(tops) > 1 and max(tops) > 0.3 * LOGARITHMIC * min(tops):
                ax.set_yscale("symlog", linthresh=0.1)
                ax.set(ylabel="moment [N m], logarithmic", yticks=[0, 0.1, 1, 10], yticklabels=["0", "0.1", "1", "10"])
    for ax in axes[-1]:
        ax.set(xlabel="time [s]")
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

    Rodrigues da Silva et al. (2024c), Fig. 14; (2024b), Fig. 18b.  ``zooms``: limit -> longitude, latitude and half width [deg]
    of a second panel.  Where paths coincide, such as those of a hinge, wide lines are drawn below narrow ones, and
    a dot marks the largest latitude of each.
    """
    zooms = zooms or {}
    fig, axes = figure(len(limits), 2 if zooms else 1, width=5.0, height=4.4)
    for row, (name, cone) in zip(axes, limits.items(), strict=True):
        around = np.linspace(0.0, 2 * np.pi, 1441)
        edge = _plane(around, cone.maximum_latitude(around))
        motions = {label: (run.limits[name], run.t <= until) for label, run in runs.items()}
        if not all(shown.sum() > 1 for _, shown in motions.values()):
            raise ModelError(f"top_view: until = {until:g} s leaves less than two times of a run; give a later time")
        paths = {label: _plane(m.longitude[shown], m.latitude[shown]) for label, (m, shown) in motions.items()}
        hinge = all(_on_a_line(path) for path in paths.values())
        reach = max(float(np.hypot(*curve).max()) for curve in (edge, *paths.values()))
        for ax in row:
            _rings(ax, reach)
            for number, (label, path) in enumerate(paths.items()):
                line = style(number)
                if hinge:
                    line |= {"linestyle": "-", "linewidth": 1.5 + 2.5 * (len(paths) - 1 - number)}
                    far = path[:, [int(np.argmax(np.hypot(*path)))]]
                    ax.plot(*far, "o", color=COLOURS[number], markersize=7, markeredgecolor="white", zorder=6)
                ax.plot(*path, label=label, **line)
            ax.plot(*edge, color=EDGE, linewidth=1.6, label="limit of the cone", zorder=5)
            ax.set_aspect("equal")
            ax.set(xlabel="latitude along ξ [deg]", ylabel="latitude along η [deg]")
        row[0].set(title=name, xlim=(-1.25 * reach, 1.25 * reach), ylim=(-1.25 * reach, 1.25 * reach))
        if name in zooms:
            longitude, latitude, half = zooms[name]
            x, y = _plane(np.deg2rad(longitude), np.deg2rad(latitude))
            row[1].set(
                title=f"{name}: zoom at longitude {longitude:g}°", xlim=(x - half, x + half), ylim=(y - half, y + half)
            )
    legend(fig, axes[0, 0])
    return fig


def _plane(longitude: Any, latitude: Any) -> Any:
    """Top view: plane coordinates [deg] of longitudes and latitudes [rad]."""
    return np.rad2deg(np.array([latitude * np.cos(longitude), latitude * np.sin(longitude)]))


def _on_a_line(path: Any) -> bool:
    across = np.linalg.svd(path, compute_uv=False)
    return bool(across[1] < 1e-3 * across[0])


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
