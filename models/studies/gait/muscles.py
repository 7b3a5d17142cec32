"""Muscles of a walk with a generic leg: comparisons of each trial, and what the report says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from models.studies import muscle_report
from models.studies.gait.curves import numbered, stems
from models.studies.gait.electromyograms import TrialEmg
from models.walking.gait_muscles import muscles_of_walk
from models.walking.gait_result import Gait
from models.walking.swapped_ankle import AnkleComparison
from runtime import ModelError
from runtime.report import Table
from runtime.report.figure_files import Drawing
from runtime.results import write_columns

PERCENT = "gait cycle [%]"

Walks = Sequence[tuple[Gait, AnkleComparison]]


def analyse(
    found: Sequence[Gait], folder: Path, options: Mapping[str, Any], say: Callable[[str], None]
) -> tuple[list[tuple[Gait, AnkleComparison]], list[str]]:
    """The muscles of each trial, with the leg of each foot in the folder, and why trials were left out.

    ``options``: of ``muscles_of_walk``.

    Raises
    ------
    ModelError
        Where no trial shows them.
    """
    walks: list[tuple[Gait, AnkleComparison]] = []
    without = []
    for one in found:
        say(f"{one.name}: muscles")
        file, again = folder / f"leg_{one.side}.osim", any(other.side == one.side for other, _ in walks)
        try:
            walks.append((one, muscles_of_walk(one, file, overwrite=again, **options)))
        except ModelError as error:
            without.append(f"muscles of {one.name} are left out: {error}")
            if not again:
                file.unlink(missing_ok=True)
    if not walks:
        raise ModelError("; ".join(without))
    return walks, without


def tables(walks: Walks, trial_emgs: Sequence[TrialEmg]) -> list[Table]:
    """Muscles, reserves and contact forces of all trials, each row with its trial where there are several.

    Between them the agreement with electromyograms of the trials, where they have any.
    """
    recorded = {id(one.trial): one.recorded for one in trial_emgs}
    names = numbered([one.name for one, _ in walks]) if len(walks) > 1 else [""]
    compared_by = {name: (compared, recorded.get(id(one))) for name, (one, compared) in zip(names, walks, strict=True)}
    agreement = muscle_report.agreement(compared_by)
    each = [(name, muscle_report.tables(compared, agreement)) for name, (compared, _) in compared_by.items()]
    if len(walks) == 1:
        return each[0][1]
    return [
        of[0]
        if of[0] in agreement
        else Table(
            of[0].title, ["trial", *of[0].columns],
            [[name, *row] for (name, _), table in zip(each, of, strict=True) for row in table.rows], of[0].note,
            ["trial", *of[0].brief],
        )
        for of in zip(*(tables for _, tables in each), strict=True)
    ]  # fmt: skip


def answer(walks: Walks) -> str:
    """The largest contact forces, and reserves above the threshold."""
    return muscle_report.answer([compared for _, compared in walks])


def notes(walks: Walks) -> list[str]:
    """Assumptions of all trials, each once."""
    return list(dict.fromkeys(note for _, compared in walks for note in compared.notes))


def figures(walks: Walks) -> dict[str, Drawing]:
    """Activations and contact forces of each trial over the gait cycle."""
    shown = {}
    for stem, (one, compared) in zip(_stems(walks), walks, strict=True):

        def percent(t: Any, one: Gait = one) -> Any:
            return np.interp(t, one.t, one.percent)

        shown |= {f"{stem}{name}": of for name, of in muscle_report.figures(compared, PERCENT, percent).items()}
    return shown


def write_files(walks: Walks, folder: Path) -> list[Path]:
    """Legs, activations and forces as tables of OpenSim, and contact forces."""
    files = list(dict.fromkeys(folder / f"leg_{one.side}.osim" for one, _ in walks))
    for stem, (_, compared) in zip(_stems(walks), walks, strict=True):
        more, columns = muscle_report.write_files(compared, folder, stem)
        t = next(iter(compared.trials.values())).trial.t
        table = np.column_stack([t, *columns.values()])
        files += [*more, write_columns(folder / f"{stem}ankle_contact.csv", ["time [s]", *columns], table, digits=10)]
    return files


def _stems(walks: Walks) -> list[str]:
    """Beginnings of names of files; empty for one trial."""
    return [f"{stem}_" for stem in stems([one for one, _ in walks])] if len(walks) > 1 else [""]
