"""Figures of other feet: where the axes lie, the paths of the foot, and what was measured on them, by each varied value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from models.foot_bones import BONES
from models.studies.ankle.runs import ANKLES, BODY
from models.studies.ankle.varied import MEASURES, VARIED, Case, at_reference
from runtime.figures import lines, panels
from runtime.report.figure_files import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIRST = 1.0  # [s] of the runs whose paths are shown
LEGEND = 6  # values in a legend, at most
REACH = 0.07  # [m] of a drawn axis, to either side of its joint
# Planes by their axes, the second one up in the drawing; ranges [m] of the drawings of the foot.
PLANES = {"sagittal plane": (0, 2), "frontal plane": (1, 2), "transverse plane": (0, 1)}
RANGES = ((-0.02, 0.27), (-0.085, 0.085), (-0.01, 0.21))
DIRECTIONS = ("anterior", "medial", "up")
SOURCE = "Rodrigues da Silva et al. (2024a), Fig. 20"


def figures(
    cases: Sequence[Case], grid: Mapping[str, Sequence[float]], reference: Mapping[str, float]
) -> dict[str, Drawing]:
    """Figures by file name; a value that is varied beside others is shown with these at their reference values."""
    found: dict[str, Drawing] = {}
    swept = [name for name, values in grid.items() if len(values) > 1]
    for name in swept:
        words, others = VARIED[name].words, _others(name, reference)
        file = words.replace(" ", "_")
        by_ankle = {ankle: at_reference(cases, ankle, name, reference) for ankle in ANKLES}
        found |= {
            f"axes_by_{file}": Drawing(
                partial(_axes, by_ankle["modified"], name),
                f"Axes and link of the modified ankle in the neutral pose in the three planes, for each {words}{others}.",
            ),
            f"paths_by_{file}": Drawing(
                partial(_paths, by_ankle, name),
                f"Path of the main foot's centre of mass in the first second, from the front, for each {words}{others}.",
                SOURCE if name == "link_length" else "",
            ),
            f"measures_by_{file}": Drawing(
                partial(_measures, by_ankle, name),
                f"Mediolateral range and mean of the main foot, and largest angles of the hinges, over the {words}{others}.",
            ),
        }
    if not swept:
        found["paths"] = Drawing(
            partial(_paths, {ankle: [case for case in cases if case.ankle == ankle] for ankle in ANKLES}, ""),
            "Path of the main foot's centre of mass in the first second, from the front, with either joint.",
        )
    return found


def _others(name: str, reference: Mapping[str, float]) -> str:
    """The values of the other varied keywords, in words."""
    rest = [f"{VARIED[key].words} {VARIED[key].shown(value)}" for key, value in reference.items() if key != name]
    return f"; {', '.join(rest)}" if rest else ""


def _coloured(cases: Sequence[Case], name: str) -> list[tuple[Case, str, Any]]:
    """Cases in the order of a value, each with its label, empty where the legend has enough, and its colour."""
    from matplotlib import colormaps

    ordered = sorted(cases, key=lambda case: case.values.get(name, 0.0))
    in_legend = {round(k) for k in np.linspace(0, len(ordered) - 1, min(len(ordered), LEGEND))}
    colours = colormaps["viridis"](np.linspace(0.0, 0.9, len(ordered)))
    return [
        (case, VARIED[name].shown(case.values[name]) if n in in_legend and name in case.values else "_", colours[n])
        for n, case in enumerate(ordered)
    ]


def _paths(by_ankle: Mapping[str, Sequence[Case]], name: str) -> Figure:
    """Paths in the frontal plane, a panel for each ankle."""
    cases_of_all = [case for cases in by_ankle.values() for case in cases]
    first = cases_of_all[0].run.t <= FIRST + 1e-9
    paths = {
        id(case): np.column_stack([case.mediolateral, 1e3 * case.run.r[BODY][:, 2]])[first] for case in cases_of_all
    }
    low, high = (pick([pick(path, axis=0) for path in paths.values()], axis=0) for pick in (np.min, np.max))
    margin = 0.06 * float(np.max(high - low))
    low, high = low - margin, high + margin
    width, height = (float(size) for size in high - low)
    fig, axes = panels.figure(1, len(by_ankle), width=4.6, widths=[width] * len(by_ankle), heights=[height])
    for ax, (ankle, cases) in zip(axes.flat, by_ankle.items(), strict=True):
        for case, label, colour in _coloured(cases, name):
            style = {"color": colour} if len(cases) > 1 else lines.style(0, ankle)
            ax.plot(*paths[id(case)].T, label=label, **style)
        ax.plot(*paths[id(cases[0])][0], "o", color="black", markersize=4, zorder=5, label="start")
        ax.set(
            xlim=(low[0], high[0]), ylim=(low[1], high[1]), title=ANKLES[ankle], xlabel="medial [mm]", ylabel="up [mm]"
        )
    _legend(fig, name, *axes.flat[::-1])
    return fig


def _legend(fig: Figure, name: str, *axes: Any) -> None:
    """One legend, headed by the name of the value."""
    handles: dict[str, Any] = {}
    for ax in axes:
        handles = dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True)) | handles
    panels.place_legend(fig, handles, heading=VARIED[name].words if name else "")


def _measures(by_ankle: Mapping[str, Sequence[Case]], name: str) -> Figure:
    """What was measured over the values, a line for each ankle; a level line for an ankle without this value."""
    varied = VARIED[name]
    columns = 3
    rows = -(-len(MEASURES) // columns)
    fig, axes = panels.figure(rows, columns, width=3.8, height=2.7)
    values = sorted(case.values[name] for case in by_ankle["modified"])
    for ax, measure in zip(axes.flat, MEASURES, strict=False):
        for number, (ankle, cases) in enumerate(by_ankle.items()):
            ordered = sorted(cases, key=lambda case: case.values.get(name, 0.0))
            y = [case.measured[measure] for case in ordered]
            style = lines.style(number, ankle)
            if name in ordered[0].values:
                x = [varied.factor * case.values[name] for case in ordered]
                ax.plot(x, y, "o", markersize=4, label=ANKLES[ankle], **style)
            else:
                ax.axhline(y[0], label=ANKLES[ankle], **style)
        ax.set(title=measure.partition(" [")[0], ylabel=measure, xlabel=varied.column)
        ax.set(
            xlim=tuple(
                varied.factor * (v + 0.04 * s * (values[-1] - values[0])) for v, s in ((values[0], -1), (values[-1], 1))
            )
        )
    for ax in axes.flat[len(MEASURES) :]:
        ax.set_visible(False)
    panels.legend(fig, axes[0, 0])
    return fig


def _axes(cases: Sequence[Case], name: str) -> Figure:
    """Bones, joints, link and axes in the neutral pose."""
    spans = [float(high - low) for low, high in RANGES]
    fig, axes = panels.figure(
        1, len(PLANES), width=4.2, widths=[spans[a] for a, _ in PLANES.values()], heights=[max(spans[1:])]
    )
    for ax, (plane, (a, b)) in zip(axes.flat, PLANES.items(), strict=True):
        _draw_bones(ax, cases[0], a, b)
        for case, label, colour in _coloured(cases, name):
            _draw_joints(ax, case, a, b, label, colour)
        middle = float(np.mean(RANGES[b]))
        ax.set(title=plane, xlabel=f"{DIRECTIONS[a]} [m]", ylabel=f"{DIRECTIONS[b]} [m]", xlim=RANGES[a])
        ax.set(ylim=(middle - 0.5 * max(spans[1:]), middle + 0.5 * max(spans[1:])))
    _legend(fig, name, axes[0, 0])
    return fig


def _draw_bones(ax: Any, case: Case, a: int, b: int) -> None:
    """The bones of the published foot, in grey."""
    state, size = case.run.system.state, case.size
    for body, start, end, _ in BONES:
        factor = size.leg if body == "leg" else size.foot
        ends = state.r[body] + factor * np.array([start, end])
        ax.plot(ends[:, a], ends[:, b], color="0.8", linewidth=4, solid_capstyle="round", zorder=1)


def _draw_joints(ax: Any, case: Case, a: int, b: int, label: str, colour: Any) -> None:
    """Talocrural axis, dashed, link, and talocalcaneal axis, solid, of one case; y is drawn medial."""
    system, to_medial = case.run.system, np.array([1.0, case.medial, 1.0])
    ends = system.joint("ankle").values
    calcaneal = (system.state.r[BODY] + ends["s_i"]) * to_medial
    crural = (system.state.r["leg"] + ends["s_j"]) * to_medial
    for point, axis, dashes, own in ((calcaneal, ends["a_i"], "-", label), (crural, ends["a_j"], (0, (4, 2)), "_")):
        along = REACH * np.array([-1.0, 1.0])[:, None] * axis * to_medial
        ax.plot(*(point + along)[:, [a, b]].T, color=colour, linestyle=dashes, linewidth=1.4, label=own)
    ax.plot(*np.array([calcaneal, crural])[:, [a, b]].T, "o-", color=colour, linewidth=2.6, markersize=3)
