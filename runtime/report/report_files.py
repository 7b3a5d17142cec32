"""The files of a report: one CSV for each table, a summary, and a page."""

from __future__ import annotations

from pathlib import Path

from runtime.report import printing, report_page
from runtime.report.figure_files import FigureFiles
from runtime.report.report import Report
from runtime.report.tables import json_text, write_csv
from runtime.support.arguments import checked
from runtime.support.errors import ModelError
from runtime.support.files import free_file, write_text
from runtime.support.results_folder import is_own

LONGEST = 100  # characters of a file's name


@checked
def write_report(
    report: Report, folder: Path, *, figures: FigureFiles | None = None, pdf: bool = True, overwrite: bool = False
) -> None:
    """Write ``report.html``, ``summary.json``, ``summary.md``, one CSV for each table, and ``report.pdf``; add them to its files.

    Existing files are refused unless ``overwrite``, or in a folder that Talus made.
    ``figures`` are drawn to the end and listed in a table.  The PDF needs a printer of pages;
    if none is found, this is named in ``report.not_written``.

    Raises
    ------
    ModelError
        Where a file exists and must not be overwritten, and where it cannot be written.
    """
    overwrite = overwrite or is_own(folder)
    if figures is not None:
        report.figures += figures.write()
        report.motion = figures.motion
        report.not_written += figures.not_written
        report.files += [file for figure in report.figures for file in figure.files]
        report.files += [report.motion] if report.motion else []
        report.tables += [figures.table()] if report.figures else []
    for table in report.tables:
        name = "".join(c if c.isalnum() else "_" for c in table.title.split(":")[0].lower()).strip("_")
        rows = [["" if value is None else value for value in row] for row in table.rows]
        report.files.append(write_csv(folder / f"{name[:LONGEST]}.csv", table.columns, rows, overwrite=overwrite))
    report.files.append(write_text(free_file(folder / "summary.md", overwrite), report.markdown()))
    free_file(folder / report_page.FILE, overwrite)
    page = report_page.write_page(report, folder)
    report.files.append(page)
    if pdf and (missing := _print(report, page, free_file(folder / "report.pdf", overwrite))):
        report.not_written.append(missing)
    report.files.append(free_file(folder / "summary.json", overwrite))
    write_text(folder / "summary.json", json_text(report.data()))


def _print(report: Report, page: Path, file: Path) -> str:
    """Print a page, if it can be printed; a sentence on what is missing otherwise."""
    missing = printing.missing()
    if not missing:
        try:
            report.files.append(printing.print_page(page, file))
        except ModelError as error:
            missing = str(error)
    return missing and f"{file.name} was not written: {missing}"
