"""The axes of the ankle of many subjects, found together from one table of their trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from models.studies.options import landmarks_option
from models.walking.analysis import scale_with_trial
from models.walking.axes_of_many import AxesOfMany, axes_of_many
from models.walking.axes_posterior import AxesPosterior, axes_posterior
from models.walking.capture import read_capture
from models.walking.capture.trial import Side
from models.walking.subject_table import SubjectRow, SubjectTable, read_subject_table
from models.walking.two_hinges import MILLIMETRES, UNKNOWNS
from runtime import ModelError
from runtime.figures import PNG, FigureFormat
from runtime.figures.panels import figure, legend
from runtime.report import Report, Table, write_report
from runtime.report.figure_files import Drawing, FigureFiles
from runtime.support.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEET: tuple[Side, ...] = ("right", "left")
UNITS = np.where(MILLIMETRES, 1e3, np.degrees(1.0))
WORDS = [f"{name.replace('_', ' ')} [{'mm' if mm else 'deg'}]" for name, mm in zip(UNKNOWNS, MILLIMETRES, strict=True)]
SAID = ("talocrural_inclination", "talocalcaneal_inclination", "talocalcaneal_deviation")
CITE = [
    "M. Haddou, L.-P. Rivest, M. Pierrynowski: A nonlinear mixed effects directional model for the estimation of the rotation "
    "axes of the human ankle, Annals of Applied Statistics 4, 1892-1912 (2010); subjects of one population.",
    "R. E. Isman, V. T. Inman: Anthropometric studies of the human foot and ankle, Bulletin of Prosthetics Research 10-11, "
    "97-129 (1969); the prior.",
]  # fmt: skip


def axes(
    folder: Path,
    say: Callable[[str], None],
    *,
    table: Annotated[Path, "argument"],
    foot: str = FEET[0],
    marker: Annotated[list[str] | None, "as markers"] = None,
    up: str | None = None,
    units: str | None = None,
    figure_format: FigureFormat = PNG,
) -> Report:
    """Find the axes of the ankle of many subjects together, with credible intervals, and the population that they come from.

    Parameters
    ----------
    folder : Path
        Where tables, figures and data are written.
    say : callable(str)
        Receives a line for each subject.
    table : Path
        SUBJECTS.csv, as of talus gait-table: a row for each subject, or for each subject and condition.  The first trial of each
        row counts, and the trial in the column functional, such as circles of the foot.
    foot : str
        Foot of subjects whose column side is empty: right or left.
    marker : list of str
        LANDMARK=LABEL, for labels that belong to no known marker set; may be given several times.
    up : str
        Vertical axis of the files (x, y, z, -x, -y, -z), if they do not state it.
    units : str
        Unit of the positions (mm, cm, m), if the files do not state it.
    figure_format : FigureFormat
        Formats of the figures and dots per inch.
    """
    drawn = FigureFiles(folder, figure_format)
    if foot not in FEET:
        raise ModelError(f"foot = {foot!r}: use {' or '.join(FEET)}")
    read = read_subject_table(table)
    options = dict(markers=landmarks_option(marker, "marker") or None, up=up, units=units)
    alone, report = dict[str, AxesPosterior](), Report("Axes of the ankle of many subjects", cite=CITE)
    notes = list(read.notes)
    for name, rows in _by_subject(read).items():
        say(f"axes of {name}")
        try:
            side = next((row.side for row in rows if row.side), next(one for one in FEET if one == foot))
            one = alone[f"{name}, {side}"] = _posterior(rows, side, **options)
        except ModelError as error:
            report.failures.append(f"subject '{name}' (line {rows[0].line}): not used: {error}")
            continue
        left = sum(len(row.trials) - 1 for row in rows)
        notes += [f"{name}: trials that were not used: {left}"] if left else []
        notes += [
            f"{name}: {why}" for why in (*one.notes, *(f"{what} conflicts with the prior" for what in one.conflicts))
        ]
    if len(alone) < 2:
        raise ModelError(
            f"{read.file.name}: the axes of {len(alone)} subjects were found, two are needed: {report.failures}"
        )
    found = axes_of_many(list(alone.values()))
    report.answer = _answer(found)
    report.head = {"subjects": str(len(alone)), "table": read.file.name}
    report.tables = [*tables(alone, found), Table("notes", ["remark"], [[note] for note in notes])]
    shows = "Means and 95 % intervals of each subject, by its own markers and together with the others."
    drawn.add({"axes": Drawing(partial(intervals, alone, found), shows)})
    write_report(report, folder, figures=drawn)
    return report


def _by_subject(read: SubjectTable) -> dict[str, list[SubjectRow]]:
    """The rows of each subject, refused where they are of both feet."""
    found: dict[str, list[SubjectRow]] = {}
    for row in read.rows:
        rows = found.setdefault(row.subject, [])
        if rows and rows[0].side != row.side:
            raise ModelError(
                f"{read.file.name}: line {row.line}: subject '{row.subject}' has another side than in line {rows[0].line}; "
                "one foot of each subject counts: give both lines one side"
            )
        rows.append(row)
    return found


def _posterior(
    rows: list[SubjectRow], side: Side, *, markers: Mapping[str, str] | None, **files: Any
) -> AxesPosterior:  # fmt: skip
    """The axes of a subject by the first trials of its rows and by functional ones."""
    one, wanted = rows[0], [file for row in rows for file in (row.functional, row.trials[0]) if file is not None]
    static, *trials = (read_capture(file, **files) for file in (one.static, *dict.fromkeys(wanted)))
    if side == "left":
        static, *trials = (capture.mirrored() for capture in (static, *trials))
    subject = scale_with_trial(
        static, trials[-1], side, mass=one.mass, height=one.height, sex=one.sex, markers=markers, anatomy=one.anatomy,
        foot_flat=one.foot_flat,
    )  # fmt: skip
    return axes_posterior(subject, trials)


def _population(found: AxesOfMany) -> Floats:
    """Published mean and SD, mean of the group, its SD, and SD between subjects (5, 8), of a foot of mean length [deg], [mm]."""
    mean, sd = (np.mean([getattr(one.prior, of) for one in found.subjects], axis=0) for of in ("mean", "sd"))
    return UNITS * np.array([mean, sd, mean + sd * found.mean, sd * found.mean_sd, sd * found.sd])


def tables(alone: Mapping[str, AxesPosterior], found: AxesOfMany) -> list[Table]:
    """The population, and the axes of each subject alone and together."""
    columns = ["", "published", "SD", "group", "known to", "SD between subjects"]
    rows: list[list[Any]] = [[word, *of.round(1)] for word, of in zip(WORDS, _population(found).T, strict=True)]
    note = "Of a foot of mean length.  Known to: standard deviation of the mean of the group."
    people: list[list[Any]] = []
    for (name, by_itself), one in zip(alone.items(), found.subjects, strict=True):
        values = np.column_stack([by_itself.mean, by_itself.sd, one.mean, one.sd, one.interval]) * UNITS[:, None]
        people += [
            [name, word, *of.round(1), round(ratio, 2)]
            for word, of, ratio in zip(WORDS, values, one.ratio, strict=True)
        ]
    heads = ["subject", "what", "alone", "SD alone", "together", "SD", "95 % from", "to", "ratio"]
    words = (
        "Angles as those of the options; places of the talocrural axis from its rule, of the talocalcaneal axis from the middle "
        "of the talocrural one.  Ratio: of the deviation to that of the published samples."
    )
    brief = ["subject", "what", "together", "95 % from", "to"]
    return [Table("population", columns, rows, note), Table("axes of the subjects", heads, people, words, brief=brief)]


def _answer(found: AxesOfMany) -> str:
    """Means of the group beside those of the published samples."""
    parts, population = [], _population(found).T
    for name in SAID:
        k = UNKNOWNS.index(name)
        published, spread, mean, known, between = population[k]
        parts.append(
            f"{name.replace('_', ' ')} {mean:.1f} ± {known:.1f} deg, between subjects {between:.1f} deg "
            f"(published {published:.0f} and {spread:.1f} deg)"
        )
    return f"{len(found.subjects)} feet: {'; '.join(parts)}."


def intervals(alone: Mapping[str, AxesPosterior], found: AxesOfMany) -> Figure:
    """A panel for each unknown, a row for each subject: intervals alone and together, and the group's mean with its spread."""
    fig, panels = figure(2, 4, width=3.0, height=1.2 + 0.22 * len(alone))
    at, population = np.arange(len(alone)), _population(found)
    for k, ax in enumerate(panels.flat):
        for people, off, colour, label in (
            (list(alone.values()), 0.16, "0.55", "alone"),
            (list(found.subjects), -0.16, "tab:blue", "together"),
        ):
            mean = UNITS[k] * np.array([one.mean[k] for one in people])
            ends = UNITS[k] * np.array([one.interval[k] for one in people]).T
            ax.errorbar(mean, at + off, xerr=np.abs(ends - mean), fmt="o", markersize=3.5, color=colour, label=label)
        _, _, group, _, between = population[:, k]
        ax.axvspan(group - between, group + between, color="tab:blue", alpha=0.12, label="group, ± SD")
        ax.axvline(population[0, k], color="0.4", linestyle="--", linewidth=1.0, label="published mean")
        ax.set(xlabel=WORDS[k])
        ax.set_yticks(at, list(alone) if k % 4 == 0 else [])
        ax.invert_yaxis()
    legend(fig, panels[0, 0])
    return fig
