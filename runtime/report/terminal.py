"""Tables and lines on the terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from runtime.report.report import Report
from runtime.report.tables import Table, text
from runtime.support.errors import one_line, printable

NO_BREAK = "\u00a0"  # a space at which no line is broken
LONGEST_WORD = 20  # letters
MIN_WIDTH = 20  # at least; some environments state 0


class _Console(Console):
    """A console on which no name acts: control characters are printed as escapes."""

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(printable(text), **how)


def plain_console(**settings: Any) -> Console:
    """A console that prints brackets and colons of names as they are."""
    return _Console(markup=False, emoji=False, highlight=False, **settings)


out_console, err_console = plain_console(), plain_console(stderr=True)
for _console in (out_console, err_console):
    if _console.width < MIN_WIDTH:
        _console.width = MIN_WIDTH


def print_line(line: str) -> None:
    """Print a line on stdout."""
    out_console.print(one_line(line), soft_wrap=True)


def print_error(line: str, *, dim: bool = False) -> None:
    """Print a line on stderr: a sentence, or, dim, a stage of long work."""
    err_console.print(one_line(line), style="dim" if dim else None, soft_wrap=True)


def print_text(text: str) -> None:
    """Print sentences on stdout, in lines as wide as the terminal."""
    out_console.print(text)


def print_pairs(texts: Mapping[str, str]) -> None:
    """Print texts by name, in two columns as wide as the terminal."""
    indent = 2 + max(map(len, texts), default=0) + 2
    for name, described in texts.items():
        first = f"  {name}".ljust(indent)
        lines = fill(described, out_console.width, initial_indent=first, subsequent_indent=" " * indent)
        out_console.print(lines, soft_wrap=True)


@dataclass(frozen=True)
class _Column:
    """One column, formatted."""

    heading: str
    cells: list[str]
    numeric: bool

    @property
    def preferred(self) -> int:
        """Width at which no line is broken."""
        return max(cell_len(line) for line in "\n".join([self.heading, *self.cells]).split("\n"))

    @property
    def minimum(self) -> int:
        """Width at which no word and no number is broken."""
        return max(cell_len(word) for word in re.split("[ \n]", " ".join([self.heading, *self.cells])))


def show(table: Table, *, elsewhere: str = "the files contain all columns") -> None:
    """Print a table and its note; ``elsewhere``: where to find the columns for which the terminal is too narrow.

    Where the terminal is too narrow, columns are left out: all but ``brief`` first, then from the last on.  Numbers and words
    are not broken, but words of more than ``LONGEST_WORD`` letters, such as paths.
    """
    columns = {name: _column(table, number) for number, name in enumerate(table.columns)}
    widths = _widths(list(columns.values()))
    if widths is None and table.brief:
        columns = {name: columns[name] for name in table.brief}
        widths = _widths(list(columns.values()))
    widths = widths or _widths(list(columns.values()), LONGEST_WORD)
    while widths is None and len(columns) > 1:
        columns.popitem()
        widths = _widths(list(columns.values()), LONGEST_WORD)
    left_out = [name for name in table.columns if name not in columns]
    shown = RichTable(title=table.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for number, column in enumerate(columns.values()):
        shown.add_column(
            column.heading, justify="right" if column.numeric else "left", overflow="fold", vertical="top",
            width=widths[number] if widths else None,
        )  # fmt: skip
    for cells in zip(*(column.cells for column in columns.values()), strict=True):
        shown.add_row(*cells)
    out_console.print(shown)
    if left_out:
        notice = f"The terminal is too narrow for {', '.join(left_out)}; {elsewhere}."
        out_console.print(notice)
    if table.note:
        out_console.print(table.note, style="italic")
    if left_out or table.note:
        out_console.print()


def show_report(report: Report, *, full: bool = False, elsewhere: str = "--json has all columns") -> None:
    """Print the answer of a report and the tables that belong to it; with ``full`` all tables.

    ``elsewhere``: where a report without files has the columns for which the terminal is too narrow.
    """
    if report.answer:
        out_console.print(f"{report.answer}\n")
    shown = report.tables if full else report.shown_first()
    for table in shown:
        show(table, elsewhere="the files contain all columns" if report.files else elsewhere)
    if rest := [table.title for table in report.tables if table not in shown]:
        written = any(file.name == "summary.md" for file in report.files)
        more = f"More tables with --full{', and in summary.md' if written else ''}: {'; '.join(rest)}."
        out_console.print(more)


def show_files(report: Report, folder: Path) -> None:
    """Print where the files of a report are and which to open first; to stderr, what was not written and why."""
    pages = [file.name for file in report.files if file.name in ("report.html", "report.pdf")]
    print_line(f"{len(report.files)} files in {folder}{f'; open {pages[0]}' if pages else ''}")
    for sentence in report.not_written:
        print_error(sentence, dim=True)


def _column(table: Table, number: int) -> _Column:
    values = [row[number] for row in table.rows]
    numeric = all(isinstance(value, int | float | None) for value in values)
    # Columns of numbers are narrow: their headings have one word per line, and units are not broken.
    whole = re.sub(r"\[.*?\]", lambda unit: unit.group().replace(" ", NO_BREAK), table.columns[number])
    return _Column(whole.replace(" ", "\n") if numeric else whole, [text(value) for value in values], numeric)


def _widths(columns: Sequence[_Column], longest: int = 1 << 20) -> list[int] | None:
    """Width of each column so that all fit the terminal; None where words up to ``longest`` letters, or numbers, would break."""
    room = out_console.width - 3 * len(columns) - 1  # between the columns and at both sides
    minimum = [column.minimum if column.numeric else min(column.minimum, longest) for column in columns]
    widths = [column.preferred for column in columns]
    if sum(minimum) > room:
        return None
    while sum(widths) > room:
        widest = max((k for k in range(len(columns)) if widths[k] > minimum[k]), key=lambda k: widths[k])
        widths[widest] -= 1
    return widths
