"""Messages about arguments of Python, as the user of the command spells these arguments: as options.

Talus's messages have one form: ``name = value`` is an argument with its value, after ``function: `` where the function matters;
``name: `` at the beginning is an argument whose value is not repeated; ``name=value`` or ``name=`` is what to give.  This module
knows which option of the verb that runs belongs to which argument.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, get_type_hints

from runtime.support.errors import ACCEPTED

AS = "as "  # begins the annotation of an option whose arguments in messages have other names, such as "as rtol, atol"
SET = "--set "
START = r"(?<![\w.'-])(?<!--set )"
FUNCTION = r"(?:(?:[a-z_]\w*\.)*[a-z_]\w*: )?"
VALUE = r"(\{[^{}]*\}|'[^']*'|\"[^\"]*\"|[-+.\w]+)?"


_CONTEXT: ContextVar[Any] = ContextVar("context of the verb that runs", default=None)


@contextmanager
def verb_that_runs(context: Any) -> Iterator[None]:
    """Within this block ``spelled`` names the options of the verb with this context of Typer's."""
    token = _CONTEXT.set(context)
    try:
        yield
    finally:
        _CONTEXT.reset(token)


def spelled(message: str) -> str:
    """The message with the options of the verb that runs in place of the arguments of Python."""
    context = _CONTEXT.get()
    return message if context is None else with_options(message, options_of(context.command, context.params))


def with_options(message: str, options: Mapping[str, str]) -> str:
    """The message with options in place of arguments; a key "filters: order" holds after this function only."""
    if "check_units" not in options:
        message = message.removesuffix(ACCEPTED)
    for name in sorted(options, key=len, reverse=True):
        option, own = options[name], re.escape(name)
        subject = own if ": " in name else f"{FUNCTION}{START}{own}"
        message = re.sub(f"{START}{subject}(?= = )|^{own}(?=: )", partial(_option, option), message)
        if ": " not in name:
            message = re.sub(f"{START}{own}={VALUE}(?!=)", partial(_given, option), message)
    return message


def _option(option: str, found: re.Match[str]) -> str:
    return option


def _given(option: str, found: re.Match[str]) -> str:
    """An option with a value that is written in Python; of a mapping, KEY=VALUE."""
    value = found[1] or ""
    if not value:
        return option
    if value.startswith("{"):
        return " ".join(f"{option} {pair}" for pair in _pairs(value))
    if value == "False" and not option.startswith(SET):
        return f"--no-{option.removeprefix('--')}"
    if value == "True" and not option.startswith(SET):
        return option
    joint = "=" if option.startswith(SET) else " "
    try:
        return f"{option}{joint}{ast.literal_eval(value)}"
    except (ValueError, SyntaxError):
        return f"{option}{joint}{value}"


def _pairs(mapping: str) -> list[str]:
    """KEY=VALUE of each pair of a mapping that is written in Python; words without quotes are placeholders."""
    pairs = [[part.strip() for part in pair.split(":")] for pair in mapping[1:-1].split(",")]
    return ["=".join(part.strip("'") if "'" in part else part.upper() for part in pair) for pair in pairs]


def options_of(command: Any, values: Mapping[str, Any]) -> dict[str, str]:
    """Options of a verb by the names that their arguments have in messages."""
    found: dict[str, str] = {}
    annotations = get_type_hints(inspect.unwrap(command.callback), include_extras=True)
    for parameter in command.params:
        if parameter.param_type_name != "option":
            continue
        name, option = parameter.name or "", parameter.opts[-1]
        if option == SET.strip():
            found |= {key: f"{SET}{key}" for key in _keys(values)}
            continue
        notes = getattr(annotations.get(name), "__metadata__", ())
        others = [note.removeprefix(AS).split(", ") for note in notes if isinstance(note, str) and note.startswith(AS)]
        found |= dict.fromkeys((name, *(other for group in others for other in group)), option)
    return found


def _keys(values: Mapping[str, Any]) -> list[str]:
    """The keys that --set takes for the model of this call."""
    from runtime.cli.models import load_model

    try:
        model = values.get("model") or values["named"][0]
        return list(inspect.signature(load_model(model)).parameters)
    except Exception:  # the message is about the model itself, and names no key
        return []
