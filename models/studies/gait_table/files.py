"""Files of many subjects: curves of trials and means as CSV and NetCDF, and the curves of t."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from models.studies.gait_table.comparisons import Comparison
from models.walking.cycle_curves import QUANTITIES
from models.walking.gait_result import PERCENT
from models.walking.subject_curves import FEET, Subjects, mean_and_sd
from runtime.report import tables
from runtime.results import write_dataset
from runtime.support.arrays import Floats


def write(people: Subjects, results: Sequence[Comparison], folder: Path) -> list[Path]:
    """Write all files; returns their paths."""
    nc = folder / "curves.nc"
    write_dataset(people.to_xarray(), nc)
    files = [nc, _curves(people, folder / "curves.csv"), _means(people, folder / "curve_means.csv")]
    files.append(_values(people, folder / "values.csv"))
    files += [_tests(one, folder / f"{one.name.replace(' ', '_')}_curves.csv") for one in results]
    return files


def _titles(people: Subjects) -> list[str]:
    return [f"{name} [{QUANTITIES[name].unit}]" for name in people.quantities]


def _text(values: Sequence[float] | Floats) -> list[str]:
    return [f"{value:.10g}" if np.isfinite(value) else "" for value in values]


def _curves(people: Subjects, file: Path) -> Path:
    """A line for each percent of each foot of each trial."""
    rows = [
        [one.subject, one.group, one.condition, one.trial, one.side, f"{percent:g}", *_text(values)]
        for one in people.analysed
        for percent, values in zip(
            PERCENT, np.column_stack([one.curves[name] for name in people.quantities]), strict=True
        )
    ]
    return tables.write_csv(file, ["subject", "group", "condition", "trial", "foot", "percent", *_titles(people)], rows)


def _means(people: Subjects, file: Path) -> Path:
    """A line for each percent of the mean and of the SD of each set of subjects, for each foot and for the mean of both."""
    rows = []
    for foot in FEET:
        for group, condition in people.sets():
            members = people.members(group, condition, foot)
            pairs = [mean_and_sd([one.curves[name] for one in members]) for name in people.quantities]
            for k, statistic in enumerate(("mean", "SD")):
                columns = np.column_stack([pair[k] for pair in pairs])
                head = [group, condition, foot, str(len(members)), statistic]
                rows += [[*head, f"{percent:g}", *_text(row)] for percent, row in zip(PERCENT, columns, strict=True)]
    return tables.write_csv(
        file, ["group", "condition", "foot", "subjects", "statistic", "percent", *_titles(people)], rows
    )


def _values(people: Subjects, file: Path) -> Path:
    """A line of peaks and spatiotemporal parameters for each foot of each trial."""
    names = list(people.analysed[0].values)
    rows = [
        [one.subject, one.group, one.condition, one.trial, one.side, *_text([one.values[name] for name in names])]
        for one in people.analysed
    ]
    return tables.write_csv(file, ["subject", "group", "condition", "trial", "foot", *names], rows)


def _tests(result: Comparison, file: Path) -> Path:
    """Difference, t and threshold of each quantity at each percent."""
    columns, values = ["percent"], [PERCENT]
    for name, test in result.tests.items():
        columns += [f"{name} difference [{QUANTITIES[name].unit}]", f"{name} t", f"{name} threshold"]
        values += [test.difference, test.t, np.full(len(PERCENT), test.threshold)]
    return tables.write_csv(file, columns, [_text(row) for row in np.column_stack(values)])
