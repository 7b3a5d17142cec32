"""The walks of many subjects: a report for each, means of groups, and comparisons along the gait cycle."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from models.papers import cited
from models.studies.gait.sources import SOURCES
from models.studies.gait.subject_report import TITLE, begin, finish, sentences, with_feet
from models.studies.gait_table import tables
from models.studies.gait_table.comparisons import Comparison, compared, wanted
from models.studies.gait_table.figures import figures
from models.studies.gait_table.files import write
from models.studies.options import landmarks_option
from models.walking.both_feet import AnalysedTrials
from models.walking.preparation import Filters
from models.walking.subject_curves import FEET, Foot
from models.walking.subject_table import SubjectRow, SubjectTable, read_subject_table
from models.walking.subjects import analyse_subjects
from runtime import ModelError
from runtime.figures import PNG, FigureFormat
from runtime.report import Report, Table, write_report
from runtime.report.figure_files import FigureFiles

SUBJECTS = "subjects"  # folder of the reports of the subjects
SPM = (
    "T. C. Pataky, J. Vanrenterghem, M. A. Robinson: Zero- vs. one-dimensional, parametric vs. non-parametric, and confidence "
    "interval vs. hypothesis testing procedures in one-dimensional biomechanical trajectory analysis, Journal of Biomechanics "
    "48, 1277-1285 (2015); comparisons, by spm1d (spm1d.org, GPL 3)."
)


# Above 60 lines: the options of the command and their help.
def gait_table(
    folder: Path,
    say: Callable[[str], None],
    *,
    table: Annotated[Path, "argument"],
    compare: str | None = None,
    foot: str = "mean",
    alpha: float = 0.05,
    reports: bool = True,
    filter: bool = True,
    marker_cutoff: Annotated[float, "as filters: markers"] = 6.0,
    cop_cutoff: Annotated[float, "as filters: cop"] = 15.0,
    force_cutoff: Annotated[float, "as filters: forces"] = 20.0,
    order: Annotated[int, "as filters: order"] = 3,
    longest_gap: Annotated[float, "or 0", "as filters: longest_gap"] = 0.1,
    marker: Annotated[list[str] | None, "as markers"] = None,
    up: str | None = None,
    units: str | None = None,
    processes: Annotated[int, "or 0"] = 0,
    figure_format: FigureFormat = PNG,
) -> Report:
    """Analyse the walks of many subjects, each foot.  Means of groups, and comparison of two groups or two conditions.

    Parameters
    ----------
    folder : Path
        Where tables, figures and data are written.
    say : callable(str)
        Receives a line for each subject.
    table : Path
        SUBJECTS.csv: a row for each subject, or for each subject and condition, with the columns subject, static and trials, and
        if you wish mass, height, side, group, condition, sex, functional, toes, axes and so on; files relative to its folder.
    compare : str
        A,B: two groups or two conditions of the table; default: those of the table, if it has two.
    foot : str
        Foot of the means in figures and comparisons: right, left, or mean, the mean of a subject's feet.
    alpha : float
        Probability of a false positive of each compared curve.
    reports : bool
        Write the report of each subject too, into the folder subjects.
    filter : bool
        Apply a zero-lag low-pass filter; switch it off for data that are already filtered.
    marker_cutoff : float [Hz]
        Cut-off frequency of the markers.
    cop_cutoff : float [Hz]
        Cut-off frequency of the centre of pressure.
    force_cutoff : float [Hz]
        Cut-off frequency of the ground reaction force.
    order : int
        Order of each of the two passes of the Butterworth filter.
    longest_gap : float [s]
        Longest gap of a marker that is filled by a spline, 0 for none; longer gaps are refused.
    marker : list of str
        LANDMARK=LABEL, for labels that belong to no known marker set; may be given several times.
    up : str
        Vertical axis of the files (x, y, z, -x, -y, -z), if they do not state it.
    units : str
        Unit of the positions (mm, cm, m), if the files do not state it.
    processes : int
        Subjects that are analysed in parallel; 0: as many as there are cores.
    figure_format : FigureFormat
        Formats of the figures and dots per inch.
    """
    if foot not in FEET:
        raise ModelError(f"foot = {foot!r}: use {', '.join(FEET)}")
    chosen: Foot = next(one for one in FEET if one == foot)
    if not 0.0 < alpha < 0.5:
        raise ModelError(f"alpha = {alpha:g} must be between 0 and 0.5")
    if processes < 0:
        raise ModelError(f"processes = {processes} must be 0, for all cores, or above")
    filters = (
        Filters(marker_cutoff, cop_cutoff, force_cutoff, order, longest_gap) if filter else Filters.off(longest_gap)
    )
    read = read_subject_table(table)
    pairs = wanted(read, compare)
    landmarks = landmarks_option(marker, "marker")
    if landmarks and (open_side := [row.line for row in read.rows if row.side is None]):
        raise ModelError(
            f"{read.file.name}: line {open_side[0]}: give the side, as --marker names the labels of one foot"
        )
    say(f"{len(read.rows)} rows in {read.file.name}")
    people = analyse_subjects(
        read, filters=filters, markers=landmarks or None, up=up, units=units, processes=processes or os.cpu_count() or 1, say=say,
        each=partial(_subject_report, folder / SUBJECTS, _names(read), filters, figure_format) if reports else None,
    )  # fmt: skip
    say("means, figures and data")
    results, left_out = compared(people, pairs, chosen, alpha)
    report = Report("Walks of many subjects: ankle and foot", failures=list(people.failures))
    report.answer = tables.answer(people, results)
    report.tables = [*tables.values(people, chosen), *(tables.comparison(one, people.caveats) for one in results)]
    report.tables += [tables.subjects(people), tables.trials(people)]
    notes = [*left_out, *people.notes]
    report.tables.append(Table("notes", ["assumption that was not read from a file"], [[note] for note in notes]))
    report.first = (report.tables[0].title, *(one.title for one in report.tables if one.title.startswith("comparison")))
    report.head = _head(people.table, filters, chosen, alpha, results)
    report.cite = [*cited("n.d."), *SOURCES, *([SPM] if results else [])]
    files_of_figures = FigureFiles(folder, figure_format)
    files_of_figures.add(figures(people, chosen, results))
    report.files += write(people, results, folder)
    write_report(report, folder, figures=files_of_figures)
    return report


def _subject_report(
    folder: Path,
    names: Mapping[int, str],
    filters: Filters,
    figure_format: FigureFormat,
    row: SubjectRow,
    done: AnalysedTrials,
) -> None:
    """Write the report of one subject, as ``talus gait`` does."""
    own = folder / names[row.line]
    own.mkdir(parents=True)
    left_out = sentences(done.left_out)
    report = Report(TITLE, failures=[why for _, why in done.failures])
    found = with_feet(done.found)
    begin(report, found, done.recorded, left_out, filters)
    report.head = {**report.head, "row of the table": row.name}
    finish(report, found, left_out, FigureFiles(own, figure_format))


def _names(table: SubjectTable) -> dict[int, str]:
    """Name of the folder of each row, by its line; different also where case does not matter."""
    found: dict[int, str] = {}
    for row in table.rows:
        plain = "".join(c if c.isalnum() or c in "-." else "_" for c in row.name).strip("._") or "subject"
        taken = {name.casefold() for name in found.values()}
        found[row.line] = plain if plain.casefold() not in taken else f"{plain}_line_{row.line}"
    return found


def _head(
    table: SubjectTable, filters: Filters, foot: Foot, alpha: float, results: Sequence[Comparison]
) -> dict[str, Any]:
    facts = {
        "table": table.file.name,
        "rows": str(len(table.rows)),
        "filters": filters.text(),
        "means": "of a subject's trials" + (" and feet" if foot == "mean" else f", {foot} foot"),
        "axes": "x anterior, y medial, z up; dorsiflexion and inversion are positive and zero while standing",
    }
    return facts | ({"probability of a false positive": f"{alpha:g} for each curve"} if results else {})
