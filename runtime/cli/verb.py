"""A verb of the command, as Typer sees it: an error ends it with one sentence."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand

from runtime.cli.options import BAD_INPUT, FAILED
from runtime.report.report import Report
from runtime.report.tables import WORDS, print_json
from runtime.support.errors import ACCEPTED, ModelError

AS = "as "  # begins the annotation of an option whose arguments in messages have other names, such as "as rtol, atol"
FUNCTION = r"(?<![\w.'-])(?:(?:[a-z_]\w*\.)*[a-z_]\w*: )??"  # before an argument


class Verb(TyperCommand):
    """A verb.  An error ends it with one sentence, which names options as the user gave them."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        options = _options_of(ctx.command)
        before = WORDS.set(partial(with_remedies, options=options))
        try:
            return super().invoke(ctx)
        except ModelError as error:
            from runtime.report.terminal import print_error

            print_error(with_options(str(error), options))
            raise typer.Exit(BAD_INPUT) from None
        finally:
            WORDS.reset(before)


def with_options(message: str, options: Mapping[str, str]) -> str:
    """A message such as "function: name = value ...; give name=value" with options of the command for arguments."""
    names = _alternatives(options)
    named = rf"{FUNCTION}({names})(?= = )|^({names})(?=: )"
    return with_remedies(re.sub(named, lambda found: options[found[1] or found[2]], message), options)


def with_remedies(text: str, options: Mapping[str, str]) -> str:
    """A text with options of the command for arguments of Python that are to be given: name=value, name={key: value}, name=."""
    if "check_units" not in options:
        text = text.removesuffix(ACCEPTED)
    given = rf"(?<![\w.'-])({_alternatives(options)})=(?:True\b|(False\b)|'(\w+)'|{{'?(\w+)'?: (\w+)}}|(?=[ ,;]|$))"
    text = re.sub(given, lambda found: _option(options[found[1]], *found.groups()[1:]), text)
    if "--set" not in options.values():
        return text
    return re.sub(
        r"(?<![\w.'-])(\w+)=(?:'([\w,]+)'|(True|False)\b)", r"--set \1=\2\3", text
    )  # an argument of the model


def _option(option: str, off: str | None, value: str | None, key: str | None, of_key: str | None) -> str:
    """An option with its value."""
    if off:
        return option.replace("--", "--no-", 1)
    return " ".join(filter(None, (option, value, key and f"{key}={of_key}")))


def _alternatives(options: Mapping[str, str]) -> str:
    return "|".join(map(re.escape, sorted(options, key=len, reverse=True)))


def _options_of(command: Any) -> dict[str, str]:
    """Options of a verb by the names that their arguments have in messages."""
    hints = get_type_hints(inspect.unwrap(command.callback), include_extras=True)
    notes = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    others = {
        name: [n.removeprefix(AS).split(", ") for n in own if str(n).startswith(AS)] for name, own in notes.items()
    }
    options = {p.name: p.opts[-1] for p in command.params if p.param_type_name == "option"}
    return options | {name: options[own] for own in options for names in others.get(own, []) for name in names}


def show_study(report: Report, folder: Path, *, as_json: bool, full: bool) -> None:
    """Show the report of a study and its files, and end with an exit code if a part of it failed."""
    from runtime.report.terminal import print_error, show_files, show_report

    report.failures = [*map(WORDS.get(), report.failures)]
    if as_json:
        print_json(report.data())
    else:
        show_report(report, full=full)
        show_files(report, folder)
    for failure in report.failures:
        print_error(failure)
    if report.failures:
        raise typer.Exit(FAILED)
