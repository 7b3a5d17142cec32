"""Pages of the documentation that are written from results of a question."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path


def rows_of(file: Path) -> list[dict[str, str]]:
    """Rows of a table of results."""
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def write_page(page: Callable[[list[Path]], str], usage: str | None, arguments: list[str]) -> int:
    """Write the page from folders of results: ``arguments`` are its file and the folders; an exit status."""
    if len(arguments) < 2:
        print(usage)
        return 2
    Path(arguments[0]).write_text(page([Path(folder) for folder in arguments[1:]]), encoding="utf-8")
    return 0
