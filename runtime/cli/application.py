"""The command as Typer sees it: its verbs, among them the studies that are found by name."""

from __future__ import annotations

from functools import partial
from typing import Any

import typer
from typer.core import TyperGroup

from runtime.cli.entries import loaded
from runtime.cli.studies import studies_by_name, study_command


class Verbs(TyperGroup):
    """The verbs.  A study is imported when it is called: to import all of them takes a second."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb that is called."""
        if study := studies_by_name().get(args[0]):
            self.commands[args[0]] = study_command(args[0], partial(loaded, study))
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=Verbs, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)
