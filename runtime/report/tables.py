"""Tables for readers: as Markdown, HTML, CSV and plain data."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime.support.arguments import checked_class
from runtime.support.cells import cell
from runtime.support.errors import printable
from runtime.support.files import free_file, write_text
from runtime.support.html import html_table

# Puts the arguments of Python that a text names into the words of who reads it: options, where the command runs.
WORDS: ContextVar[Callable[[str], str]] = ContextVar("words", default=str)


@checked_class
@dataclass(frozen=True)
class Table:
    """A table with a title, named columns and a note for its reader.

    ``brief`` names the columns that are shown in a terminal too narrow for all of them; files contain all columns.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    brief: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Put texts into the words of the reader."""
        words = WORDS.get()
        rows = [[words(value) if isinstance(value, str) else value for value in row] for row in self.rows]
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "note", words(self.note))

    def records(self) -> list[dict[str, Any]]:
        """The rows as mappings from the columns' names to values."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        return html_table(self.title, self.columns, [[text(value) for value in row] for row in self.rows], self.note)

    def markdown(self) -> str:
        """The table as Markdown."""
        lines = [f"## {as_markdown(self.title)}", "", _markdown_row(self.columns), "|" + "---|" * len(self.columns)]
        lines += [_markdown_row([text(value) for value in row]) for row in self.rows]
        return "\n".join([*lines, "", as_markdown(self.note), ""] if self.note else [*lines, ""])


def write_csv(file: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, overwrite: bool = False) -> Path:
    """Write a CSV file, whole or not at all; returns it.

    Raises
    ------
    ModelError
        Where the file exists, unless ``overwrite``, or cannot be written.
    """
    content = io.StringIO()
    writer = csv.writer(content)
    writer.writerows([cell(value) for value in row] for row in (columns, *rows))
    return write_text(free_file(file, overwrite), content.getvalue())


def json_text(data: Any) -> str:
    """Data as JSON, which has no NaN and no infinity: these become null."""
    return json.dumps(_plain(data), indent=2, allow_nan=False)


def print_json(data: Any) -> None:
    """Print data as JSON, for machines."""
    print(json_text(data))


def _plain(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple | set):
        return [_plain(value) for value in data]
    if callable(getattr(data, "tolist", None)):  # numpy's, without its import
        return _plain(data.tolist())
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    return data if data is None or isinstance(data, str | int) else str(data)


def as_markdown(text: str) -> str:
    """A text for Markdown, in which names are no elements of HTML."""
    return re.sub(r"<(?=[A-Za-z!/?])", r"\<", printable(text))


def _markdown_row(cells: Sequence[str]) -> str:
    """A row of a Markdown table; "|" and line breaks within a cell do not end it."""
    escaped = (as_markdown(cell).replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def text(value: Any) -> str:
    """Format a value for a reader: floats with four digits, None as a dash."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value + 0.0:.4g}"  # the sum of -0 and 0 is 0
    return str(value)
