"""Many subjects: the trials of each row of a table, their curves over the gait cycle, means of groups, and comparisons."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from models.walking.both_feet import AnalysedTrials, analyse_trials
from models.walking.capture import read_capture
from models.walking.cycle_curves import curves_of, peaks_of, steps_of
from models.walking.preparation import Filters
from models.walking.subject_curves import Subjects, TrialCurves, UsedTrial
from models.walking.subject_table import SubjectRow, SubjectTable, read_subject_table
from runtime import ModelError
from runtime.support import checked

SAME_MASS = 0.05  # relative difference of the masses that a table and a file state, from which on it is noted

Say = Callable[[str], None]
Each = Callable[[SubjectRow, AnalysedTrials], None]


@dataclass
class RowResult:
    """What became of a row: curves of its trials, a line for each foot of each trial, notes, and why nothing was found."""

    row: SubjectRow
    curves: list[TrialCurves] = field(default_factory=list)
    trials: list[UsedTrial] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


@checked
def analyse_subjects(
    table: str | Path | SubjectTable,
    *,
    filters: Filters | None = None,
    markers: Mapping[str, str] | None = None,
    up: str | None = None,
    units: str | None = None,
    processes: int = 1,
    say: Callable[[str], None] | None = None,
    each: Callable[[SubjectRow, AnalysedTrials], None] | None = None,
) -> Subjects:
    """Inverse dynamics of the trials of many subjects, each foot with a whole stance on force plates.

    A trial, a foot or a subject that cannot be used is listed in the result with the reason, and the others go on.

    Parameters
    ----------
    table : path or SubjectTable
        Of ``models.walking.read_subject_table``: a CSV file with a row for each subject, or for each subject and condition.
    filters : Filters, optional
        Default: those of Rodrigues da Silva et al. (n.d.).
    markers : mapping of landmark to label, optional
        For labels that belong to no known marker set; the column ``side`` must then name the foot.
    up, units
        Of ``models.walking.capture.read_capture``.
    processes : int
        More than one analyses subjects in parallel; a script then needs ``if __name__ == "__main__":``.
    say : callable(str), optional
        Receives a line when a subject is done.
    each : callable(SubjectRow, AnalysedTrials), optional
        Called with the analyses of each row, such as to keep or to plot them; with several processes in one of these.

    Returns
    -------
    Subjects

    Raises
    ------
    ModelError
        If the table has mistakes, or no trial of any subject can be used.
    """
    read = table if isinstance(table, SubjectTable) else read_subject_table(table)
    if processes < 1:
        raise ModelError(f"processes = {processes}; give 1 or more")
    work = partial(_analysed_row, filters=filters or Filters(), markers=markers, up=up, units=units, each=each)
    done: dict[int, RowResult] = {}
    for result in _results(work, read.rows, processes):
        done[result.row.line] = result
        if say is not None:
            say(f"{len(done)} of {len(read.rows)}: {_summary(result)}")
    results = [done[row.line] for row in read.rows]
    failures = [failure for result in results for failure in result.failures]
    if not any(result.curves for result in results):
        raise ModelError(f"{read.file.name}: no trial of any subject can be used: {'; '.join(failures)}")
    notes = dict.fromkeys([*read.notes, *(note for result in results for note in result.notes)])
    curves, trials = ([one for result in results for one in getattr(result, name)] for name in ("curves", "trials"))
    return Subjects(read, tuple(curves), tuple(trials), tuple(failures), tuple(notes))


def _results(
    work: Callable[[SubjectRow], RowResult], rows: Sequence[SubjectRow], processes: int
) -> Iterable[RowResult]:
    """The results in the order in which they are done."""
    if min(processes, len(rows)) == 1:
        return map(work, rows)
    return _side_by_side(work, rows, processes)


def _side_by_side(
    work: Callable[[SubjectRow], RowResult], rows: Sequence[SubjectRow], processes: int
) -> Iterator[RowResult]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(rows)), mp_context=context) as pool:
        futures = {pool.submit(work, row): row for row in rows}
        try:
            for future in as_completed(futures):
                yield _result_of(future, futures[future])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _result_of(future: Any, row: SubjectRow) -> RowResult:
    """The result of a process, also where the process has ended."""
    try:
        result: RowResult = future.result()
    except Exception as error:
        return RowResult(
            row,
            failures=[f"subject '{row.name}' (line {row.line}): its process failed: {error or type(error).__name__}"],
        )
    return result


def _analysed_row(
    row: SubjectRow,
    *,
    filters: Filters,
    markers: Mapping[str, str] | None,
    up: str | None,
    units: str | None,
    each: Each | None,
) -> RowResult:
    """Analyse the trials of one row; whatever fails is named in the result."""
    result = RowResult(row)
    who = f"subject '{row.name}' (line {row.line})"
    try:
        static = read_capture(row.static, up=up, units=units)
        moved = None if row.functional is None else read_capture(row.functional, up=up, units=units)
        options = dict(
            side=row.side, mass=row.mass, height=row.height, sex=row.sex, markers=markers, filters=filters, toes=row.toes,
            anatomy=row.anatomy, functional=moved, foot_flat=row.foot_flat,
        )  # fmt: skip
        readers = [(file.name, partial(read_capture, file, up=up, units=units)) for file in row.trials]
        done = analyse_trials(static, readers, options, lambda line: None)
    except ModelError as error:
        result.failures.append(f"{who}: not used: {error}")
        return result
    stated = static.subject.mass
    if row.mass is not None and stated is not None and abs(row.mass - stated) > SAME_MASS * stated:
        result.notes.append(f"{who}: the table states {row.mass:g} kg, which is used, and {static.name} {stated:g} kg")
    _add_curves(result, done)
    if not done.found:
        reasons = "; ".join(dict.fromkeys(why for _, why in done.failures))
        result.failures.append(f"{who}: not used, as none of its trials can be: {reasons}")
        return result
    result.failures += [f"{who}: trial {name} is not used: {why}" for name, why in done.failures]
    if each is not None:
        try:
            each(row, done)
        except ModelError as error:
            result.failures.append(f"{who}: its report was not written: {error}")
    return result


def _add_curves(result: RowResult, done: AnalysedTrials) -> None:
    """The curves of the analysed trials, and a line for each foot of each trial, used or not."""
    row = result.row
    for one in done.found:
        values = {**peaks_of(one), **steps_of(one)}
        result.curves.append(
            TrialCurves(
                row.subject,
                row.group,
                row.condition,
                one.name,
                one.side,
                curves_of(one),
                values,
                one.toe_off,
                one.toe_caveat,
            )  # fmt: skip
        )
        result.trials.append(UsedTrial(row.subject, row.group, row.condition, one.name, one.side, True, ""))
        result.notes += one.notes
    left = [*done.left_out, *((name, row.side or "both", why) for name, why in done.failures)]
    result.trials += [
        UsedTrial(row.subject, row.group, row.condition, name, side, False, why) for name, side, why in left
    ]


def _summary(result: RowResult) -> str:
    """What became of a subject, in one line."""
    name, trials = result.row.name, {one.trial for one in result.curves}
    if not trials:
        return f"{name}: not used"
    feet = " and ".join(side for side in ("right", "left") if any(one.side == side for one in result.curves))
    count = f"{len(trials)} of {len(result.row.trials)} trials"
    return f"{name}: {count}, {feet} {'feet' if ' and ' in feet else 'foot'}"
