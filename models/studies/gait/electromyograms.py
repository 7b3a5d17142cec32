"""Electromyograms over the gait cycle: a table, a figure and data; none where no trial has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from models.studies.emg_agreement import recorded as envelopes_of
from models.studies.gait.curves import by_foot, numbered
from models.studies.gait.figures import events
from models.walking.capture import Capture
from models.walking.electromyograms import BAND, CUTOFF, ORDER, Electromyograms
from models.walking.gait_result import PERCENT, Gait
from models.walking.laboratory_page import Panel, laboratory_page
from models.walking.muscle_names import in_words
from models.walking.samples import runs
from runtime.report import Table
from runtime.report.figure_files import Drawing
from runtime.results import write_columns
from runtime.support.arrays import Floats

HALF = 0.5  # of the largest value of a curve
ROW = 3  # panels


@dataclass(frozen=True, eq=False)
class TrialEmg:
    """Electromyograms of the analysed leg of a trial.

    ``curves``: envelopes over the gait cycle (101,) [1] by muscle, such as "soleus_r".
    """

    trial: Gait
    recorded: Electromyograms
    curves: Mapping[str, Floats]


def analyse(
    found: Sequence[Gait],
    recordings: Sequence[Capture],
    more: Sequence[Capture],
    channels: Mapping[str, str],
    notes: list[str],
) -> list[TrialEmg]:
    """Envelopes of each trial that has any of its leg, scaled among all recordings and ``more`` trials of the subject."""
    every = list({id(one): one for one in (*recordings, *more)}.values())
    of = {id(one): envelopes_of(one, every, channels, notes) for one in {id(r): r for r in recordings}.values()}
    trials = []
    for one, recording in zip(found, recordings, strict=True):
        electromyograms = of[id(recording)]
        curves = {} if electromyograms is None else electromyograms.over_cycle(one.cycle)
        own = {muscle: values for muscle, values in curves.items() if muscle.endswith(f"_{one.side[0]}")}
        if electromyograms is not None and own:
            trials.append(TrialEmg(one, electromyograms, own))
    if not trials and (more or any(of.values())):
        notes.append("no electromyogram is of a leg that is analysed")
    return trials


def _by_muscle(trials: Sequence[TrialEmg]) -> dict[str, list[TrialEmg]]:
    names = dict.fromkeys(muscle for one in trials for muscle in one.curves)
    return {muscle: [one for one in trials if muscle in one.curves] for muscle in names}


def tables(trials: Sequence[TrialEmg]) -> list[Table]:
    """A row for each muscle: the mean curve of its trials in stance and in swing."""
    rows: list[list[Any]] = []
    for muscle, own in _by_muscle(trials).items():
        mean = np.mean([one.curves[muscle] for one in own], axis=0)
        stance = float(np.mean([one.trial.toe_off for one in own])) >= PERCENT
        active = ", ".join(f"{a} to {b - 1}" for a, b in runs(mean >= HALF * mean.max()))
        largest, where = own[0].recorded.largest[muscle]
        numbers = [mean.max(), mean[stance].mean(), mean[~stance].mean()]
        doubts = dict.fromkeys(one.recorded.doubts.get(muscle, "") for one in own)
        rows.append(
            [in_words(muscle), own[0].recorded.labels[muscle], len(own), int(mean.argmax()), active,
             *(round(100.0 * float(x), 1) for x in numbers), f"{largest:.3g} {own[0].recorded.units[muscle]}", where,
             "; ".join(filter(None, doubts))]
        )  # fmt: skip
    columns = [
        "muscle", "channel", "trials", "largest at [% of the cycle]", "above half of it at [% of the cycle]",
        "largest [% of the maximum]", "mean in stance [%]", "mean in swing [%]", "maximum", "in trial", "doubt",
    ]  # fmt: skip
    note = (
        f"Envelopes: band pass {BAND[0]:g} to {BAND[1]:g} Hz, absolute value, low pass {CUTOFF:g} Hz, Butterworth filters of "
        f"order {ORDER} forwards and backwards.  Mean curve of the trials, as a share of the largest envelope of the subject in "
        "all trials that were given, which is no maximal contraction.  Deep muscles such as tibialis posterior have no surface "
        "electromyogram."
    )
    return [Table("electromyograms", columns, rows, note, brief=[columns[0], *columns[3:5], *columns[6:8]])]


def figures(trials: Sequence[TrialEmg], heading: str) -> dict[str, Drawing]:
    """The figure by its file name: envelopes of each leg over the gait cycle; its foot off ends stance."""
    if not trials:
        return {}
    feet = by_foot([one.trial for one in trials])
    panels = []
    for name in dict.fromkeys(muscle[:-2] for muscle in _by_muscle(trials)):
        own = {side: [one for one in trials if one.trial.side == side] for side in feet}
        curves = {
            side: 100.0 * np.array([one.curves[muscle] for one in of if muscle in one.curves])
            for side, of in own.items()
            if any((muscle := f"{name}_{side[0]}") in one.curves for one in of)
        }
        doubt = any(f"{name}_{side[0]}" in one.recorded.doubts for side, of in own.items() for one in of)
        title, caveat = name.replace("_", " "), "in doubt: see the table" if doubt else ""
        panels.append(Panel(title, "active", "silent", "% of the maximum", curves, caveat=caveat))
    rows = [panels[k : k + ROW] for k in range(0, len(panels), ROW)]
    shows = (
        "Envelopes of the electromyograms over the gait cycle, by the subject's largest envelope; the vertical line at foot off "
        "ends stance."
    )
    at = {side: events(of) for side, of in feet.items()}
    return {"electromyograms": Drawing(partial(laboratory_page, rows, at, heading), shows)}


def add_to(data: Any, found: Sequence[Gait], trials: Sequence[TrialEmg]) -> Any:
    """The xarray Dataset of the study with the envelopes; adds the dimension muscle.  NaN where a trial has none."""
    muscles, own = list(_by_muscle(trials)), {id(one.trial): one.curves for one in trials}
    blank = np.full(len(PERCENT), np.nan)
    values = np.array([[own.get(id(one), {}).get(muscle, blank) for muscle in muscles] for one in found])
    attributes = {"units": "1", "long_name": "envelope of the electromyogram by the subject's largest envelope"}
    return data.assign_coords(muscle=muscles).assign(
        electromyogram=(("trial", "muscle", "percent"), values, attributes)
    )


def write_csv(trials: Sequence[TrialEmg], file: Path) -> Path:
    """Write percent of the cycle and the envelope of every muscle of every trial [1]."""
    names = numbered([one.trial.name for one in trials])
    columns = {
        f"{muscle} {name}": x for name, one in zip(names, trials, strict=True) for muscle, x in one.curves.items()
    }
    return write_columns(file, ["percent", *columns], np.column_stack([PERCENT, *columns.values()]), digits=10)
