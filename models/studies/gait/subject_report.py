"""The report of one subject's walk: its tables, figures and files, as ``talus gait`` and ``talus gait-table`` write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from models.papers import cited
from models.studies.emg_agreement import CITED, DE_LUCA
from models.studies.gait import (
    bands,
    contact_figures,
    contact_tables,
    electromyograms,
    motion,
    muscles,
    orthosis,
    tables,
)
from models.studies.gait import contact as soles
from models.studies.gait import files as written
from models.studies.gait.curves import notes
from models.studies.gait.figures import figures
from models.studies.gait.head import head
from models.studies.gait.moments import INTERNAL, Moments
from models.studies.gait.sources import SOURCES
from models.walking.axes_bands import AxesBands
from models.walking.capture import Capture
from models.walking.gait_result import Gait
from models.walking.preparation import Filters
from runtime.report import Report, Table, write_report
from runtime.report.figure_files import FigureFiles

TITLE = "Joint angles, moments and powers of the ankle and foot in walking: Rodrigues da Silva et al. (n.d.)"


def begin(
    report: Report,
    found: Sequence[Gait],
    recorded: Sequence[Capture],
    left_out: Sequence[str],
    filters: Filters,
    *papers: str,
) -> None:
    """Add tables, head, answer and references of a subject's trials to a report; ``recorded``: the recording of each trial."""
    report.tables += [
        tables.peaks(found),
        *tables.knee_and_hip(found),
        tables.steps(found),
        *tables.steps_of_trials(found),
    ]
    report.tables += [
        tables.trials(found, filters),
        tables.drawn_norms(found),
        *tables.subjects(found),
        *tables.functional(found),
        *tables.posterior(found),
    ]
    report.head = head(found, recorded, filters)
    report.cite = [*cited("n.d.", *papers), *SOURCES]
    report.answer, report.first = tables.answer(found), ("peaks",)
    if worn := [one for one in found if one.orthosis_moments]:
        report.tables.insert(1, orthosis.table(worn))
        report.answer += f"  {orthosis.answer(worn)}"
        report.first = ("peaks", "orthosis")
    if left_out and len({one.side for one in found}) == 1:
        report.answer += f"  {left_out[0][0].upper()}{left_out[0][1:].partition(':')[0]}, see notes."


def finish(
    report: Report,
    found: Sequence[Gait],
    left_out: Sequence[str],
    files_of_figures: FigureFiles,
    trial_soles: Sequence[soles.TrialSoles] = (),
    trial_emgs: Sequence[electromyograms.TrialEmg] = (),
    walks: muscles.Walks = (),
    by_axes: Sequence[AxesBands] = (),
    moments: Moments = INTERNAL,
) -> None:
    """Add notes, figures and data to a report and write its files into the folder of the figures.

    ``left_out``: notes beside those of the trials.
    """
    patient = report.head["patient"]
    report.head = {**report.head, "moments": moments.text}
    assumptions, drawn = [*notes(found), *left_out], figures(found, patient, moments)
    if trial_soles:
        report.tables += contact_tables.tables(trial_soles)
        assumptions += [one.note for one in trial_soles]
        drawn |= contact_figures.figures(trial_soles)
    if walks:
        report.tables[1:1] = muscles.tables(walks, trial_emgs)
        report.answer += muscles.answer(walks)
        report.first = (*report.first, "contact forces")
        assumptions += muscles.notes(walks)
        drawn |= muscles.figures(walks)
        report.files += muscles.write_files(walks, files_of_figures.folder)
    if by_axes:
        report.tables[1:1] = bands.tables(by_axes)
        report.answer += bands.answer(by_axes)
        report.first = (*report.first, bands.INTERVALS)
        drawn |= bands.figures(by_axes, patient, moments)
    if trial_emgs:
        report.tables += electromyograms.tables(trial_emgs)
        report.cite = [*report.cite, *(CITED if walks else (DE_LUCA,))]
        drawn |= electromyograms.figures(trial_emgs, patient)
    report.tables.append(Table("notes", ["assumption that was not read from a file"], [[note] for note in assumptions]))
    if worn := [one for one in found if one.orthosis_moments]:
        drawn |= orthosis.figures(worn)
    files_of_figures.add(drawn)
    files_of_figures.add_motion(found[0], **motion.others(found))
    report.files += written.write(found, trial_soles, trial_emgs, files_of_figures.folder, by_axes)
    write_report(report, files_of_figures.folder, figures=files_of_figures)


def with_feet(found: Sequence[Gait]) -> list[Gait]:
    """The trials, with the foot in their names where both feet were analysed."""
    if len({one.side for one in found}) > 1:
        return [replace(one, name=f"{one.name}, {one.side} foot") for one in found]
    return list(found)


def sentences(left_out: Sequence[tuple[str, str, str]]) -> list[str]:
    """Why feet were left out."""
    return [f"the {side} foot is not analysed: {why}" for _, side, why in left_out]
