"""Tables and lines on the terminal."""

from __future__ import annotations

import re

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from runtime.report import Table, text

NO_BREAK = "\u00a0"  # a space at which no line is broken
out_console = Console()
err_console = Console(stderr=True)


def show(table: Table) -> None:
    """Print a table and its note; it fits 80 columns where its words do."""
    shown = RichTable(title=escape(table.title), title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for number, column in enumerate(table.columns):
        numeric = all(isinstance(row[number], int | float | None) for row in table.rows)
        # Numbers are short: their headings stand word under word.  Units in brackets would be read as markup.
        whole = re.sub(r"\[.*?\]", lambda unit: unit.group().replace(" ", NO_BREAK), column)
        heading = escape(whole.replace(" ", "\n") if numeric else whole)
        shown.add_column(heading, justify="right" if numeric else "left", overflow="fold", vertical="top")
    for row in table.rows:
        shown.add_row(*(escape(text(value)) for value in row))
    out_console.print(shown)
    if table.note:
        out_console.print(table.note, style="italic", highlight=False, markup=False)
        out_console.print()
