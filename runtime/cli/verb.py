"""A verb of the command, as Typer sees it: an error ends it with one sentence."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

from runtime.cli.options import BAD_INPUT
from runtime.cli.spelling import spelled, verb_that_runs
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
