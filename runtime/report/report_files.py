"""The files of a report: one CSV for each table, a summary, and a page."""

from __future__ import annotations

from pathlib import Path

from runtime.report import printing, report_page
from runtime.report.figure_files import FigureFiles
from runtime.report.report import Report
from runtime.report.tables import json_text, write_csv
from runtime.support.arguments import checked
from runtime.support.errors import ModelError
from runtime.support.files import write_text


@checked
def write_report(report: Report, folder: Path, *, figures: FigureFiles | None = None, pdf: bool = True) -> None:
    """Write ``report.html``, ``summary.json``, ``summary.md``, one CSV for each table, and ``report.pdf``; add them to its files.

    ``figures`` are drawn to the end and listed in a table.  The PDF needs a printer of pages;
    if none is found, this is named in ``report.not_written``.

    Raises
    ------
    ModelError
        Where a file cannot be written.
    """
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
        report.files.append(write_csv(folder / f"{name}.csv", table.columns, rows))
    report.files.append(write_text(folder / "summary.md", report.markdown()))
    page = report_page.write_page(report, folder)
    report.files.append(page)
    if pdf and (missing := _print(report, page, folder / "report.pdf")):
        report.not_written.append(missing)
    report.files.append(folder / "summary.json")
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
