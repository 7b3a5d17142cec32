"""The result of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtime.report.tables import Table, as_markdown
from runtime.support.arguments import checked_class


@checked_class
@dataclass(frozen=True)
class ShownFigure:
    """A figure in files of several formats: its name, one sentence that says what it shows, and the paper's figure, if any."""

    name: str
    files: Sequence[Path]
    shows: str
    source: str = ""


@checked_class
@dataclass
class Report:
    """Result of a study: its answer, tables, figures, the files written, and a sentence for each run that failed.

    Attributes
    ----------
    title : str
    tables : list of Table
    files : list of Path
    failures : list of str
        A sentence for each run that failed.
    answer : str
        At most three sentences.
    first : sequence of str
        Titles of the tables that are shown with the answer; default: the first table.
    head : mapping of str to str
        Facts that head the page, such as the subject.
    figures : list of ShownFigure
        Of the page, in its order.
    motion : Path, optional
        A page with a view in three dimensions, in the folder of the report.
    cite : list of str
        References, beside that of Talus.
    not_written : list of str
        A sentence for each file that an optional library would write.
    """

    title: str
    tables: list[Table] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    answer: str = ""
    first: Sequence[str] = ()
    head: Mapping[str, str] = field(default_factory=dict)
    figures: list[ShownFigure] = field(default_factory=list)
    motion: Path | None = None
    cite: list[str] = field(default_factory=list)
    not_written: list[str] = field(default_factory=list)

    def shown_first(self) -> list[Table]:
        """The tables that are shown with the answer."""
        return [table for table in self.tables if table.title in self.first] or self.tables[:1]

    def data(self) -> dict[str, Any]:
        """Everything as plain data, for JSON."""
        return {
            "title": self.title,
            "answer": self.answer,
            "head": dict(self.head),
            "tables": {table.title: table.records() for table in self.tables},
            "notes": {table.title: table.note for table in self.tables if table.note},
            "files": [str(file) for file in self.files],
            "failures": self.failures,
            "not written": self.not_written,
        }

    def markdown(self) -> str:
        """Title, answer and tables as Markdown."""
        answer = [as_markdown(self.answer), ""] if self.answer else []
        return "\n".join([f"# {as_markdown(self.title)}", "", *answer, *(table.markdown() for table in self.tables)])
