"""The figure of a run: coordinates of joints, reactions and energies over time, or any quantities by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from runtime.figures.panel_lines import changing, in_degrees, label_time, several_lines
from runtime.figures.panels import figure, letter
from runtime.results.outputs import Output, full_name, parsed_outputs, quantities_of_runs, value_of
from runtime.results.recorded import RecordedRun
from runtime.support.arrays import Floats
from runtime.support.errors import ModelError, unknown_name
from runtime.system.quantity import COORDINATES, Quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Quantities that show a part, by its kind; of a force all that it has.
SHOW = {
    "joint": ("angle", "reaction_force", "reaction_moment"),
    "body": ("r", "v"),
    "frame": ("r", "v"),
    "limit": ("limit_angle", "limit_restricting_moment"),
    "contact": ("contact_normal_force", "contact_penetration"),
    "motor": ("motor_effort",),
}
ENERGIES = ("kinetic_energy", "potential_energy", "elastic_energy", "energy")
Panels = Mapping[str, Mapping[str, Floats]]  # label of the axis -> label of the line -> values


def plot_run(run: RecordedRun, names: Sequence[str]) -> Figure:
    """Draw a panel for each quantity; see ``Run.plot``."""
    if len(run.t) < 2:
        raise ModelError(f"plot: the run has {len(run.t)} output times; give simulate a t_eval with two or more")
    panels = _named(run, names) if names else _overview(run)
    fig, axes = figure(len(panels), 1, width=8.5, height=2.2, share_x=True)
    for ax, (label, lines) in zip(axes[:, 0], panels.items(), strict=True):
        several_lines(ax, run.t, lines)
        ax.set_ylabel(label, fontsize=9)
    label_time(axes)
    letter(fig)
    return fig


def _overview(run: RecordedRun) -> Panels:
    """Coordinates of joints and sizes of reactions, those that change most, and energies."""
    panels: dict[str, dict[str, Floats]] = {}
    for quantity in quantities_of_runs(run.system).values():
        if quantity.part == COORDINATES[0]:
            label, values = in_degrees("coordinates", quantity.unit, run[quantity.name])
            panels.setdefault(label, {})[quantity.owner] = values
    # Reactions may be undetermined at a time, or in a motion that meets its drivers roughly.
    with suppress(ModelError):
        sizes = {
            joint.name: run[f"norm(reaction_force.{joint.name})"] for joint in run.system.joints if not joint.signals
        }
        panels |= {"reactions [N]": sizes} if sizes else {}
    panels = {label: changing(lines) for label, lines in panels.items()}
    energies = {name: run[name] for name in ENERGIES}
    changes = {name.replace("_energy", ""): x - x[0] for name, x in energies.items() if x.any()}
    return panels | {"energy − start [J]": changes}


def _named(run: RecordedRun, names: Sequence[str]) -> Panels:
    """Panels of named outputs; the name of a part stands for its main quantities."""
    known = quantities_of_runs(run.system)
    texts: list[str] = []
    for given in names:
        name = full_name(given, known)
        show = {q.name: SHOW.get(q.owner_sort, (q.part,)) for q in known.values() if _owner(q) == name}
        own = sorted((n for n in show if known[n].part in show[n]), key=lambda n: show[n].index(known[n].part))
        if not own and name.isidentifier() and name not in {*known, *run.outputs}:
            parts = dict.fromkeys(filter(None, map(_owner, known.values())))
            raise unknown_name(name, [*parts, *(n for n, q in known.items() if not q.owner)], "name", whose="plot: ")
        texts += own or [name]
    of_run = {text: run.outputs[text] for text in texts if text in run.outputs}
    others = [text for text in dict.fromkeys(texts) if text not in of_run]
    outputs = of_run | (parsed_outputs(others, run.system, len(run.t), named_by="plot") if others else {})
    panels: dict[str, dict[str, Floats]] = {}
    for text in dict.fromkeys(texts):
        output = outputs[text]
        if output.reduction:
            raise ModelError(f"plot: '{text}' is one value; give what varies over time, such as 'energy'")
        label, values = in_degrees(_label(run, output), output.unit, value_of(output, run))
        names_of_lines = output.components or (output.quantity.owner.rpartition(".")[2],)
        columns = values.reshape(len(run.t), -1).T
        panels.setdefault(label, {}).update(zip(names_of_lines, columns, strict=True))
    return panels


def _owner(quantity: Quantity) -> str:
    """Name of the part that has a quantity: of a coordinate and a row its joint."""
    inner = quantity.owner_sort == "joint" and quantity.part not in SHOW["joint"][1:]
    return quantity.owner.rpartition(".")[0] if inner and "." in quantity.owner else quantity.owner


def _label(run: RecordedRun, output: Output) -> str:
    """Of the axis: coordinates of a joint share a panel; a reaction acts on the joint's second body."""
    quantity: Any = output.quantity
    plain = output.name == quantity.name
    if plain and quantity.owner_sort == "joint" and quantity.part in SHOW["joint"][1:]:
        joint = run.system.joint(quantity.owner)
        return f"{quantity.part.replace('_', ' ')} of\n{joint.name} on {joint.body_j}"
    return f"{quantity.part.replace('_', ' ')}\n{_owner(quantity)}".strip() if plain else output.name
