"""How the uncertainty of the axes spreads to a walk: tables, figures, files and what the report says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from models.studies.gait.curves import by_foot, joints
from models.studies.gait.figures import DIRECTIONS, POWER, events
from models.studies.gait.moments import Moments
from models.walking.axes_bands import CHECKS, ENOUGH, AxesBands, axes_bands, values_of
from models.walking.axes_posterior import AxesPosterior
from models.walking.capture import Capture
from models.walking.cycle_curves import QUANTITIES
from models.walking.gait_muscles import muscle_values
from models.walking.gait_result import PERCENT, Gait
from models.walking.laboratory_page import Panel, laboratory_page
from models.walking.two_hinges import UNKNOWNS
from models.walking.upper_leg import JOINT_ANGLES
from runtime import ModelError
from runtime.report import Table
from runtime.report.figure_files import Drawing
from runtime.results import write_columns

ROW = 3  # panels
INTERVALS = "intervals by the axes"
ROUNDING = 1e-9  # of the largest value: a muscle at its bound does not change
ABOVE, MUSCLES = tuple(JOINT_ANGLES), ("[1]", "[N]")
UNKNOWN = tuple(name.replace("_", " ") for name in UNKNOWNS)
SAID = ("plantarflexor moment, largest [N m/kg]", "talocrural power, largest [W/kg]", "inversion, range [deg]")


def analyse(
    found: Sequence[Gait], static: Capture, recorded: Sequence[Capture], options: Mapping[str, Any],
    muscles: Mapping[str, Any] | None, notes: list[str], say: Callable[[str], None],
) -> list[AxesBands]:  # fmt: skip
    """Bands of the first trial of each foot whose axes have a posterior; adds to the notes.

    ``options``: of ``models.walking.analyse``; ``muscles``: of ``muscles_of_walk``, None without them.
    """

    def of(gait: Gait) -> dict[str, Any]:
        return values_of(gait) | ({} if muscles is None else muscle_values(gait, **muscles))

    done = []
    for side, trials in by_foot(found).items():
        one = trials[0]
        if not isinstance(one.functional_axes, AxesPosterior):
            continue
        say(f"{one.name}: bands by the axes")
        trial = next(trial for gait, trial in zip(found, recorded, strict=True) if gait is one)
        try:
            own = {**options, "side": side, "functional": one.functional_axes}
            done.append(axes_bands(static, trial, of=of, draws=CHECKS if muscles is None else ENOUGH, **own))
            notes += [note if len(trials) == 1 else f"{note}; of the first trial" for note in done[-1].notes]
        except ModelError as error:
            notes.append(f"{one.name}: bands by the axes are left out: {error}")
    return done


def _named(name: str) -> str:
    """A curve or a value in words, with its unit."""
    known = QUANTITIES.get(name)
    return name if known is None else f"{known.title} [{known.unit}]"


def _of(bands: AxesBands, *, curves: bool) -> list[str]:
    """Names of the curves, or of the single values, that the axes change."""
    return [name for name in bands.missed if (np.ndim(bands.values[name]) > 0) == curves]


def tables(found: Sequence[AxesBands]) -> list[Table]:
    """Values with their intervals, and the share of each unknown in the variances of values and curves of the ankle."""
    rows: dict[str, list[list[Any]]] = {INTERVALS: []}
    blamed: list[list[Any]] = []
    for one in found:
        for name in _of(one, curves=False):
            of = ", knee and hip" if name.startswith(ABOVE) else ", muscles" if name.endswith(MUSCLES) else ""
            row = [one.gait.side, name, float(one.values[name]), *one.interval(name).tolist()]
            rows.setdefault(INTERVALS + of, []).append(row)
        for name in [*_of(one, curves=False), *_of(one, curves=True)]:
            if name.startswith(ABOVE) or not one.sd(name).max() > ROUNDING * np.abs(one.values[name]).max():
                continue
            parts = [round(100.0 * share, 1) for share in one.shares(name).values()]
            first, second = np.argsort(parts)[:-3:-1]
            sd = float(np.sqrt(np.mean(one.sd(name) ** 2)))
            most = [UNKNOWN[first], parts[first], UNKNOWN[second], parts[second]]
            blamed.append([one.gait.side, _named(name), sd, *most, *parts])
    note = (
        "By the uncertainty of the axes alone, to first order; noise of markers and forces, inertia and the variation of strides "
        "are not included.  Values of the first trial of each foot."
    )
    why = (
        "Part of the variance that would vanish if this unknown alone were known.  As the unknowns are correlated, the parts do "
        "not add up to 100 %.  SD: of a curve the root mean square over the cycle, and its variances are summed over the cycle."
    )
    columns, head = (
        ["foot", "", "value", "95 % from", "to"],
        ["foot", "of", "SD", "most by", "part [%]", "then by", "its part [%]"],
    )
    shares = Table("which unknown causes the spread", [*head, *(f"{name} [%]" for name in UNKNOWN)], blamed, why, head)
    first, *more = (Table(title, columns, of, note) for title, of in rows.items())
    return [first, shares, *more]


def answer(found: Sequence[AxesBands]) -> str:
    """The intervals of the main values, and the unknown with the largest share of each, a sentence for each foot."""
    sentences = []
    for one in found:
        parts = []
        for name in SAID:
            words, _, unit = name.removesuffix("]").partition(" [")
            (low, high), shares = one.interval(name), one.shares(name)
            blamed = max(shares, key=shares.__getitem__).replace("_", " ")
            parts.append(f"{words} {one.values[name]:.2f} {unit} ({low:.2f} to {high:.2f}, most by {blamed})")
        by = "the axes by rule with the deviations of the prior" if one.by_prior else "the axes"
        sentences.append(f"{one.gait.side.capitalize()} foot, 95 % by {by}: {'; '.join(parts)}.")
    return "  " + "  ".join(sentences)


def figures(found: Sequence[AxesBands], heading: str, moments: Moments) -> dict[str, Drawing]:
    """Curves of the ankle with their bands, and those of its muscles where they were asked for, by file name."""
    at = {one.gait.side: events([one.gait]) for one in found}
    rows = [
        [
            _panel(found, f"{joint}_angle", *DIRECTIONS[joint]),
            moments.of(_panel(found, f"{joint}_moment", *DIRECTIONS[joint]), joint),
            _panel(found, f"{joint}_power", *POWER),
        ]
        for joint in joints([one.gait for one in found])
    ]
    shows = "Angles, moments and powers over the gait cycle with the 95 % band that the uncertainty of the axes makes, pointwise."
    drawn = {"axes_bands": Drawing(partial(laboratory_page, rows, at, heading), shows)}
    pulled = dict.fromkeys(name for one in found for name in _of(one, curves=True) if name not in QUANTITIES)
    panels = [_panel(found, name) for name in pulled]
    if panels:
        rows = [panels[k : k + ROW] for k in range(0, len(panels), ROW)]
        shows = "Activations, forces and contact forces over the gait cycle with the same bands."
        drawn["axes_bands_of_muscles"] = Drawing(partial(laboratory_page, rows, at, heading), shows)
    return drawn


def _panel(found: Sequence[AxesBands], name: str, positive: str = "", negative: str = "") -> Panel:
    """A curve of each foot with its band."""
    shown = {one.gait.side: one for one in found if name in one.values}
    title, _, unit = _named(name).removesuffix("]").partition(" [")
    curves = {side: one.values[name][None] for side, one in shown.items()}
    within = {side: one.interval(name) for side, one in shown.items()}
    return Panel(title, positive, negative, unit, curves, within=within)


def add_to(data: Any, found: Sequence[AxesBands]) -> Any:
    """The xarray Dataset of the study with bands and shares; adds the dimensions foot, unknown, and names of curves and values.

    NaN where a foot lacks a curve or a value.
    """
    data = data.assign_coords(foot=[one.gait.side for one in found], unknown=list(UNKNOWNS))
    for what, curves in (("axes_curve", True), ("axes_value", False)):
        names = list(dict.fromkeys(name for one in found for name in _of(one, curves=curves)))
        data = data.assign_coords({what: [_named(name) for name in names]})
        over, blank = (("percent",), np.full(len(PERCENT), np.nan)) if curves else ((), np.array(np.nan))
        for kind, own, empty, of, meaning in (
            ("mean", over, blank, lambda one, name: one.values[name], "with the mean axes; its unit is in its name"),
            ("sd", over, blank, AxesBands.sd, "standard deviation by the uncertainty of the axes; of a curve at each point"),
            ("share", ("unknown",), np.full(len(UNKNOWN), np.nan), lambda one, name: [*one.shares(name).values()],
             "part of the variance that would vanish if the unknown were known"),
        ):  # fmt: skip
            values = [[of(one, name) if name in one.missed else empty for name in names] for one in found]
            data[f"{what}_{kind}"] = ("foot", what, *own), np.array(values), {"long_name": meaning}
    return data


def write_csv(found: Sequence[AxesBands], file: Path) -> Path:
    """Percent of the cycle, and every curve with the ends of its band."""
    columns = {"percent": PERCENT}
    for one in found:
        foot = f" {one.gait.side}" if len(found) > 1 else ""
        for name in _of(one, curves=True):
            ends = zip(("", " 95 % from", " 95 % to"), (one.values[name], *one.interval(name)), strict=True)
            columns |= {f"{_named(name)}{foot}{end}": values for end, values in ends}
    return write_columns(file, list(columns), np.column_stack(list(columns.values())), digits=10)
