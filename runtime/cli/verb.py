"""A verb of the command, as Typer sees it: an error ends it with one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

from runtime.cli.options import BAD_INPUT, FAILED
from runtime.cli.spelling import spelled, verb_that_runs
from runtime.report.report import Report
from runtime.report.tables import print_json
from runtime.support.errors import ModelError


class Verb(TyperCommand):
    """A verb.  An error ends it with one sentence, which names options as the user gave them."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        with verb_that_runs(ctx):
            try:
                return super().invoke(ctx)
            except ModelError as error:
                from runtime.report.terminal import print_error

                print_error(spelled(str(error)))
                raise typer.Exit(BAD_INPUT) from None


def show_study(report: Report, folder: Path, *, as_json: bool, full: bool) -> None:
    """Show the report of a study and its files, and end with an exit code if a part of it failed."""
    from runtime.report.terminal import print_error, show_files, show_report

    if as_json:
        print_json(report.data())
    else:
        show_report(report, full=full)
        show_files(report, folder)
    for failure in report.failures:
        print_error(spelled(failure))
    if report.failures:
        raise typer.Exit(FAILED)
