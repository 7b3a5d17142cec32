"""The figure of an ensemble: median and percentiles over the cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.figures.lines import COLOURS
from runtime.figures.panel_lines import changing, in_degrees
from runtime.figures.panels import figure, legend, letter
from runtime.results.outputs import full_name
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError, unknown_name
from runtime.system.quantity import COORDINATES
from runtime.system.state import AXES, EULER, PARTS, STATE_UNITS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BANDS = ((2.5, 97.5, 0.25, "95 % of the cases"), (25.0, 75.0, 0.45, "50 % of the cases"))
PERCENTILES = [p for low, high, *_ in BANDS for p in (low, high)] + [50.0]
Curves = Mapping[str, Floats]  # label with unit -> values (cases, times), or (cases,)


def plot_ensemble(many: Any, names: Sequence[str]) -> Figure:
    """Draw a panel for each quantity; see ``Ensemble.plot``."""
    curves = _of_outputs(many, names) if many.outputs else _of_states(many, names)
    fig, axes = figure(len(curves), 1, width=8.5, height=2.4)
    for ax, (label, values) in zip(axes[:, 0], curves.items(), strict=True):
        good = values[np.isfinite(values.reshape(len(values), -1)).all(axis=1)]
        if not len(good):
            raise ModelError(f"plot: '{label}' is finite in none of the {len(values)} cases; see messages")
        name = label if len(good) == len(values) else f"{label}\n{len(good)} of {len(values)} cases"
        if values.ndim == 1:
            ax.hist(good, bins="auto", histtype="step", color="black", linewidth=1.0, zorder=3)
            ax.set(xlabel=name, ylabel="cases")
            band = np.percentile(good, PERCENTILES)
            for k, (*_, alpha, text) in enumerate(BANDS):
                ax.axvspan(band[2 * k], band[2 * k + 1], color=COLOURS[4], alpha=alpha, linewidth=0, label=text)
            ax.axvline(band[-1], color=COLOURS[4], linewidth=1.6, label="median")
        else:
            draw_bands(ax, many.t, np.percentile(good, PERCENTILES, axis=0))
            ax.set(xlabel="time [s]")
            ax.set_ylabel(name.replace(" [", "\n["), fontsize=9)
    legend(fig, axes[0, 0])
    letter(fig)
    return fig


def draw_bands(ax: Any, t: Floats, band: Floats) -> None:
    """Draw the ``PERCENTILES`` (5, times) of a quantity over time."""
    for k, (*_, alpha, text) in enumerate(BANDS):
        ax.fill_between(t, band[2 * k], band[2 * k + 1], color=COLOURS[4], alpha=alpha, linewidth=0, label=text)
    ax.plot(t, band[-1], color=COLOURS[4], linewidth=1.6, label="median")


def _of_outputs(many: Any, names: Sequence[str]) -> Curves:
    """Outputs by name, default: all; of vectors a panel for each component."""
    found: dict[str, Floats] = {}
    for name, values in many.values([full_name(name, many.outputs) for name in names] or None).items():
        output = many.outputs[name]
        columns = values.reshape(len(values), *(() if output.reduction else (len(many.t),)), -1)
        for k, (column, unit) in enumerate(output.columns.items()):
            label, own = in_degrees(column, unit, columns[..., k])
            found[label] = own
    return found


def _of_states(many: Any, names: Sequence[str]) -> Curves:
    """Coordinates of joints, or parts of the states of bodies, such as "r.toes"; default: the coordinates that change most."""
    known: dict[str, tuple[str, Floats]] = {}
    bodies = {f"{part}.{body}": (part, body) for body in many.bodies for part in PARTS}
    wanted = names or ["angles"]
    if not {*wanted} <= {*bodies}:
        for joint, angles in many.angles.items():
            known |= {f"{joint}.{column}": (angles.units[column], values) for column, values in angles.values.items()}
    for name in {*wanted} & {*bodies}:
        part, body = bodies[name]
        values, components = getattr(many, part)[body], EULER if part == "p" else AXES
        known |= {f"{name}.{c}": (STATE_UNITS[part], values[..., k]) for k, c in enumerate(components)}
    found: dict[str, Floats] = {}
    for name in names or known:
        coordinate = name.removeprefix(f"{COORDINATES[0]}.")  # "angle.ankle.theta_i", as outputs are named
        own = [key for key in known if key in (name, coordinate) or key.startswith(f"{name}.")]
        if not own:
            raise unknown_name(name, [*known, *bodies], "name", whose="plot: ")
        found |= dict(in_degrees(key, *known[key]) for key in own)
    return found if names else changing(found)
