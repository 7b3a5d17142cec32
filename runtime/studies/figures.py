"""Figures of a study, one for each output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.ensemble.ensemble_plot import PERCENTILES, draw_bands
from runtime.figures.lines import COLOURS
from runtime.figures.panel_lines import rows_of_panels
from runtime.figures.panels import figure, legend
from runtime.support.errors import ModelError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 2000  # of a scatter plot
COLUMNS = 3  # of panels
LETTER = 0.09  # [in] width, on average
MARGIN = 0.05  # of the range of values
DOTS, DOT_SIZES = 60.0, (1.8, 5.0)  # [points] size of the points of a hundred samples times 10; smallest and largest
SHOWS = {  # by the kind of the study
    "sobol": "Sobol indices of {} with their bounds.", "sample": "{} over each parameter.", "grid": "{} over the grid.",
    "one_at_a_time": "{} while one parameter varies.",
}  # fmt: skip


def names_of(study: Any, failed: str) -> list[tuple[str, str, str]]:
    """File name, output, and what the figure shows, of each figure that the study has."""
    refused = study.kind == "sobol" and failed == "refuse" and len(study.failed)
    found = [] if refused else [(output, SHOWS[study.kind].format(output)) for output in study.numbers]
    if study.kind in ("sample", "sobol"):
        over_time = [name for name, o in study.many.outputs.items() if not o.reduction and not o.components]
        found += [(output, f"Percentiles of {output} over time.") for output in over_time]
    plain = {output: "".join(c if c.isalnum() else "_" for c in output).strip("_") for output, _ in found}
    return [(f"{study.kind}_{plain[output]}", output, shows) for output, shows in found]


def figure_of(study: Any, output: str, failed: str) -> Figure:
    """The figure of an output."""
    outputs = study.many.outputs
    if output in outputs and not outputs[output].reduction:
        return _bands(study, output)
    if output not in study.numbers:
        known = ", ".join(name for _, name, _ in names_of(study, failed))
        raise ModelError(f"figure: output '{output}' has no figure; those that have one are {known or 'none'}")
    if study.kind == "sobol":
        return _indices(study, output, failed)
    if study.kind == "grid":
        return _grid(study, output)
    return _over_parameters(study, output)


def _label(study: Any, output: str) -> str:
    return _with_unit(output, study.unit(output))


def _name(study: Any, parameter: str) -> str:
    units = study.many.units
    return _with_unit(parameter, units[parameter] if parameter in units else "")


def _with_unit(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit not in ("", "1") else name


def _bands(study: Any, output: str) -> Figure:
    """Percentiles of an output over time."""
    if study.many.outputs[output].components:
        raise ModelError(
            f"figure: output '{output}' is a vector over time; ask for one component, such as '{output}.x'"
        )
    fig, axes = figure(1, 1, width=6.5, height=3.6)
    ax = axes[0, 0]
    draw_bands(ax, study.many.t, study.bands(output, PERCENTILES).values)
    ax.set(xlabel="time [s]", ylabel=_label(study, output))
    legend(fig, ax)
    return fig


def _indices(study: Any, output: str, failed: str) -> Figure:
    """Bars of both orders with their bounds, the largest first."""
    found = study.indices(failed=failed)
    o = found.outputs.index(output)
    order = np.argsort(-np.nan_to_num(found.total[o]), kind="stable")
    space = LETTER * max(map(len, found.parameters))
    fig, axes = figure(1, 1, width=5.0 + space, height=1.6 + 0.42 * len(order))
    ax = axes[0, 0]
    places = np.arange(len(order))
    for k, (name, values, bounds) in enumerate(
        (
            ("first order", found.first[o], found.first_bounds[:, o]),
            ("total order", found.total[o], found.total_bounds[:, o]),
        )
    ):
        values, bounds = np.nan_to_num(values[order]), np.nan_to_num(bounds[:, order])
        reach = np.abs(np.stack([np.minimum(bounds[0], values) - values, np.maximum(bounds[1], values) - values]))
        ax.barh(
            places + 0.4 * (k - 0.5), values, 0.38, xerr=reach, color=(COLOURS[0], COLOURS[1])[k], label=name,
            error_kw={"elinewidth": 1.0, "capsize": 2.5, "ecolor": COLOURS[5]},
        )  # fmt: skip
    ax.set_yticks(places, [found.parameters[k] for k in order])
    ax.invert_yaxis()
    ax.set(xlabel=f"part of the variance of {output}, bounds of {100 * found.level:g} % confidence")
    legend(fig, ax)
    return fig


def _over_parameters(study: Any, output: str) -> Figure:
    """A panel for each parameter: points of samples, or the line of one parameter at a time."""
    names = list(study.parameters)
    fig, axes = rows_of_panels(len(names), COLUMNS, width=3.4, height=2.6, share_y=True)
    values, one = study.numbers[output], study.kind == "one_at_a_time"
    good = np.delete(values, study.failed)
    margin = MARGIN * float(np.ptp(good)) or 1.0
    for k, (name, ax) in enumerate(zip(names, axes.flat, strict=False)):
        if one:
            first = study.design.first[name]
            cases = np.arange(first, first + study.design.shape[k])
        else:
            cases = np.arange(study.design.independent)
        cases = np.setdiff1d(cases, study.failed)[: None if one else MOST_POINTS]
        x = study.design.samples[name][cases]
        if one:
            _line(ax, x, values[cases], study.parameters[name].numeric)
        else:
            size = float(np.clip(DOTS / np.sqrt(len(cases)), *DOT_SIZES))
            ax.plot(x, values[cases], "o", markersize=size, color=COLOURS[4], alpha=0.6, markeredgewidth=0)
        ax.set(xlabel=_name(study, name), ylim=(good.min() - margin, good.max() + margin))
    for row in axes:
        row[0].set(ylabel=_label(study, output))
    return fig


def _line(ax: Any, x: Any, y: Any, numeric: bool) -> None:
    """Values over a parameter: a line with points, points alone where the parameter has names."""
    ax.plot(x, y, "o-" if numeric else "o", markersize=3.5 if numeric else 6.0, color=COLOURS[4], linewidth=1.2)
    if not numeric:
        ax.margins(x=0.3)


def _grid(study: Any, output: str) -> Figure:
    """Lines over one parameter, or over two; of more parameters the mean over the others of each."""
    names, shape = list(study.parameters), study.design.shape
    values = study.numbers[output].copy()
    values[study.failed] = np.nan
    values = values.reshape(shape)
    axis_values = [np.unique(study.design.samples[name]) for name in names]
    if len(names) == 2 and all(study.parameters[name].numeric for name in names):
        fig, axes = figure(1, 1, width=6.0, height=4.4)
        drawn = axes[0, 0].pcolormesh(*axis_values, values.T, cmap="viridis", shading="nearest")
        axes[0, 0].set(xlabel=_name(study, names[0]), ylabel=_name(study, names[1]))
        axes[0, 0].grid(visible=False)
        fig.colorbar(drawn, ax=axes[0, 0], label=_label(study, output))
        return fig
    fig, axes = rows_of_panels(len(names), COLUMNS, width=4.0, height=2.8, share_y=True)
    for k, (name, ax) in enumerate(zip(names, axes.flat, strict=False)):
        others = tuple(i for i in range(len(names)) if i != k)
        mean = np.ma.masked_invalid(values).mean(axis=others).filled(np.nan)
        _line(ax, study.parameters[name].spread(shape[k]), mean, study.parameters[name].numeric)
        ax.set(xlabel=_name(study, name))
    for row in axes:
        row[0].set(
            ylabel=_label(study, output) if len(names) == 1 else f"{_label(study, output)}, mean over the others"
        )
    return fig
