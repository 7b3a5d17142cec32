"""Tables as HTML, for notebooks and reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> str:
    """A table of texts, escaped; ``columns`` may be empty."""
    head = f"<tr>{''.join(f'<th>{escape(str(column))}</th>' for column in columns)}</tr>" if columns else ""
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<table><caption>{escape(title)}</caption><thead>{head}</thead><tbody>{body}</tbody></table>{below}"
