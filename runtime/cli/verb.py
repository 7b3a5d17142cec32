"""A verb of the command, as Typer sees it: an error ends it with one sentence."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand

from runtime.cli.options import BAD_INPUT, FAILED
from runtime.report.report import Report
from runtime.report.tables import print_json
from runtime.support.errors import ACCEPTED, ModelError

AS = "as "  # begins the annotation of an option whose arguments in messages have other names, such as "as rtol, atol"
FUNCTION = r"(?<![\w.'-])(?:(?:[a-z_]\w*\.)*[a-z_]\w*: )??"  # before an argument


class Verb(TyperCommand):
    """A verb.  An error ends it with one sentence, which names options as the user gave them."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        try:
            return super().invoke(ctx)
        except ModelError as error:
            from runtime.report.terminal import print_error

            print_error(with_options(str(error), _options_of(ctx.command)))
            raise typer.Exit(BAD_INPUT) from None


def with_options(message: str, options: Mapping[str, str]) -> str:
    """A message such as "function: name = value ...; give name=value" with options of the command for arguments."""
    names = "|".join(map(re.escape, sorted(options, key=len, reverse=True)))
    named, message = rf"{FUNCTION}({names})(?= = )|^({names})(?=: )", message.removesuffix(ACCEPTED)
    message = re.sub(named, lambda found: options[found[1] or found[2]], message)
    given = rf"(?<![\w.'-])({names})=(?:True\b|'(\w+)'|(?=[ ,;]|$))"
    message = re.sub(given, lambda found: " ".join(filter(None, (options[found[1]], found[2]))), message)
    if "--set" not in options.values():
        return message
    return re.sub(r"(?<![\w.'-])(\w+)='([\w,]+)'", r"--set \1=\2", message)  # an argument of the model


def _options_of(command: Any) -> dict[str, str]:
    """Options of a verb by the names that their arguments have in messages."""
    hints = get_type_hints(inspect.unwrap(command.callback), include_extras=True)
    notes = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    others = {
        name: [n.removeprefix(AS).split(", ") for n in own if str(n).startswith(AS)] for name, own in notes.items()
    }
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    return {name: p.opts[-1] for p in options for name in (p.name, *sum(others.get(p.name, []), []))}


def show_study(report: Report, folder: Path, *, as_json: bool, full: bool) -> None:
    """Show the report of a study and its files, and end with an exit code if a part of it failed."""
    from runtime.report.terminal import print_error, show_files, show_report

    if as_json:
        print_json(report.data())
    else:
        show_report(report, full=full)
        show_files(report, folder)
    for failure in report.failures:
        print_error(failure)
    if report.failures:
        raise typer.Exit(FAILED)
