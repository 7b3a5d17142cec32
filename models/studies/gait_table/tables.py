"""Tables of many subjects: means of values, comparisons, and which subjects and trials were used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from models.studies.gait.tables import SIGNS
from models.studies.gait_table.comparisons import Comparison
from models.walking.curve_tests import CurveTest
from models.walking.cycle_curves import QUANTITIES
from models.walking.subject_curves import Foot, Subjects
from runtime.report import Table

MOST_TITLES = 4  # of quantities, in the answer


def label(group: str, condition: str) -> str:
    """Name of a set of subjects."""
    return ", ".join(filter(None, (group, condition))) or "all subjects"


def answer(people: Subjects, results: Sequence[Comparison]) -> str:
    """What was used, and what differs, in a sentence for each comparison."""
    rows, trials = len(people.table.rows), sum(len(row.trials) for row in people.table.rows)
    used = len({(one.subject, one.condition) for one in people.analysed})
    files = len({(one.subject, one.condition, one.trial) for one in people.analysed})
    unit = "rows" if people.conditions else "subjects"
    sentences = [f"{used} of {rows} {unit} and {files} of {trials} trials are used."]
    for result in results:
        differing = [name for name, test in result.tests.items() if test.significant]
        titles = ", ".join(QUANTITIES[name].title for name in differing[:MOST_TITLES])
        more = f" and {len(differing) - MOST_TITLES} more" if len(differing) > MOST_TITLES else ""
        found = (
            f"differ in {len(differing)} of {len(result.tests)} curves: {titles}{more}"
            if differing
            else "do not differ"
        )
        sentences.append(f"{result.text} {found}.")
    return "  ".join(sentences)


def values(people: Subjects, foot: Foot) -> list[Table]:
    """Mean and SD over the subjects of each set, of peaks and spatiotemporal parameters, for each foot and for the mean."""
    feet: tuple[Foot, ...] = (foot, *(side for side in ("right", "left") if side != foot))
    return [table for each in feet if (table := _values(people, each)) is not None]


def _values(people: Subjects, foot: Foot) -> Table | None:
    columns, rows = [""], [[name] for name in people.analysed[0].values]
    for group, condition in people.sets():
        members = people.members(group, condition, foot)
        columns += [f"{label(group, condition)} (n = {len(members)})", f"SD, {label(group, condition)}"]
        for row in rows:
            known = [one.values[row[0]] for one in members if np.isfinite(one.values[row[0]])]
            row += [
                float(np.mean(known)) if known else None,
                float(np.std(known, ddof=1)) if len(known) > 1 else None,
            ]  # type: ignore[list-item]
    if all(cell is None for row in rows for cell in row[1:]):
        return None
    of = "mean of a subject's feet" if foot == "mean" else f"{foot} foot"
    note = f"Mean and SD over subjects, each with the mean of its trials; {of}.  {SIGNS}"
    return Table("means" if foot == "mean" else f"means, {foot} foot", columns, rows, note)


def comparison(result: Comparison, caveats: Mapping[str, str]) -> Table:
    """A row for each quantity: where it differs, and with which probability; the note has the caveats of these quantities."""
    rows: list[list[Any]] = []
    for name, test in result.tests.items():
        most = int(np.nanargmax(np.abs(test.t)))
        rows.append(
            [
                f"{QUANTITIES[name].title} [{QUANTITIES[name].unit}]", _clusters(test, result.first),
                min((one.p for one in test.clusters), default=None), abs(float(test.t[most])), test.threshold, most,
                float(test.difference[most]), f"{test.tested[0]:.0f} to {test.tested[1]:.0f}",
            ]
        )  # fmt: skip
    columns = [
        "curve", "differs [% of the cycle]", "smallest p", "largest |t|", "threshold", "at [%]", "difference there", "tested [%]",
    ]  # fmt: skip
    first = next(iter(result.tests.values()))
    kind = "Paired" if first.paired else "Two-sample"
    count = f"{first.count[0]} subjects" if first.paired else f"{first.count[0]} and {first.count[1]} subjects"
    note = (
        f"{kind} t test along the curve, {count}; |t| of smooth random curves exceeds the threshold anywhere with probability "
        f"{first.alpha:g} (statistical parametric mapping, spm1d).  Each curve has its own test: for all {len(result.tests)} "
        f"together, give alpha = {first.alpha / len(result.tests):.2g}.  Difference: {result.first} less {result.second}."
    )
    note += "".join(
        f"  {QUANTITIES[name].title}: {caveat}." for name, caveat in caveats.items() if name in result.tests
    )
    return Table(f"{result.name}: {result.text}", columns, rows, note, brief=columns[:3])


def _clusters(test: CurveTest, first: str) -> str:
    """The parts of the cycle that differ."""
    return "; ".join(
        f"{one.start:.0f} to {one.end:.0f} ({first} {'higher' if one.higher else 'lower'}, p = {one.p:.3f})"
        for one in test.clusters
    )


def subjects(people: Subjects) -> Table:
    """A row for each row of the table of subjects: trials, feet, and whether it was used."""
    rows: list[list[Any]] = []
    for row in people.table.rows:
        own = [one for one in people.analysed if (one.subject, one.condition) == (row.subject, row.condition)]
        feet = [side for side in ("right", "left") if any(one.side == side for one in own)]
        count = len({one.trial for one in own})
        state = "used" if count == len(row.trials) else "used in part" if count else "not used"
        rows.append(
            [
                row.line,
                row.subject,
                row.group,
                row.condition,
                f"{count} of {len(row.trials)}",
                " and ".join(feet),
                state,
            ]
        )
    return Table("subjects", ["line", "subject", "group", "condition", "trials", "feet", "result"], rows)


def trials(people: Subjects) -> Table:
    """A row for each foot of each trial, with the reason where it was not used."""
    rows = [
        [one.subject, one.condition, one.trial, one.side, "used" if one.used else "not used", one.reason]
        for one in people.used
    ]
    return Table(
        "trials", ["subject", "condition", "trial", "foot", "result", "reason"], rows, brief=["trial", "foot", "result"]
    )
