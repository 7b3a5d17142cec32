"""Reads tables of OpenSim: motions (.mot) and storage (.sto)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from models.files.description import Floats
from runtime import ModelError
from runtime.support import checked
from runtime.support.files import read_file
from runtime.support.xml_reading import shortened

LARGEST = 2**28  # [bytes]
END = "endheader"
# Numbers of rows and columns in both versions of the header.
COUNT = re.compile(r"\s*((?:n|data)(rows|columns))\s*[=\s]\s*(\d+)[\s,]*$", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Storage:
    """Columns by name over time: ``t`` (n,) [s], ``columns`` (n,) each; ``in_degrees``: its angles are in degrees.

    ``states_unit``: its header says whether they are; else they count as radians, as in OpenSim.
    """

    file: Path
    t: Floats
    columns: dict[str, Floats]
    in_degrees: bool
    states_unit: bool = True


@checked
def read_storage(file: str | Path, *, span: tuple[float, float] | None = None) -> Storage:
    """Read a .mot or .sto file of OpenSim, of either version of its header.

    Parameters
    ----------
    file : str or Path
    span : (first, last) [s], optional
        Read the rows within these times, and those that enclose them; of other rows the time alone.

    Raises
    ------
    ModelError
        With file and line: no header, columns without a name or with the same one, numbers of rows and columns that differ from
        those of the header, rows of another length, values that are not finite, and times that do not increase.
    """
    path = Path(file)
    try:
        lines = read_file(path, LARGEST, smaller="cut it into parts").decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ModelError(f"{path.name}: cannot be read (no UTF-8 text); give a text file of OpenSim") from None
    header = next((n for n, line in enumerate(lines) if line.strip().lower() == END), None)
    if header is None:
        raise ModelError(f"{path.name}: has no line '{END}'; give a .mot or .sto file of OpenSim")
    first = next((n for n in range(header + 1, len(lines)) if lines[n].strip()), None)
    if first is None:
        raise ModelError(f"{path.name}, line {header + 1}: no names of columns come after it; give columns")
    rows = [n for n in range(first + 1, len(lines)) if lines[n].strip()]
    if not rows:
        raise ModelError(f"{path.name}, line {first + 1}: no rows come after the names; give rows")
    names = _names(path, column_names(lines[first], lines[rows[0]]), first + 1)
    check_counts(path, lines[:header], len(rows), len(names))
    if span is not None:
        rows = _within(lines, rows, span)
    values = _values(path, lines, rows, names)
    if (still := np.flatnonzero(np.diff(values[:, 0]) <= 0.0)).size:
        n = int(still[0])
        raise ModelError(
            f"{path.name}: time {values[n + 1, 0]:g} s of row {n + 2} comes after {values[n, 0]:g} s; times must increase"
        )
    columns = dict(zip(names[1:], values[:, 1:].T.copy(), strict=True))
    words = [line.lower().replace(" ", "").rstrip("\t,.") for line in lines[:header]]
    degrees = any(word == "indegrees=yes" or word.startswith("anglesareindegrees") for word in words)
    stated = degrees or any(word.startswith(("indegrees=", "anglesarein")) for word in words)
    return Storage(path, values[:, 0], columns, degrees, stated)


def column_names(line: str, row: str) -> list[str]:
    """Names in the line of a table that states them, before its first row.

    Tabs separate them, as OpenSim writes them: a name may contain blanks.  Blanks separate them in a line without tabs, and
    where this gives as many names as the row has values and tabs do not.
    """
    by_tabs, by_blanks = [name.strip() for name in line.strip("\t").split("\t")], line.split()
    if len(by_tabs) == 1 or len(by_tabs) != len(row.split()) == len(by_blanks):
        return by_blanks
    return by_tabs


def _names(path: Path, names: list[str], number: int) -> list[str]:
    if "" in names:
        before = shortened(names[names.index("") - 1])
        raise ModelError(f"{path.name}, line {number}: the column after '{before}' has no name; give each a name")
    if names[0].lower() != "time":
        raise ModelError(f"{path.name}, line {number}: the first column is '{shortened(names[0])}'; it must be time")
    if double := [name for n, name in enumerate(names) if name in names[:n]]:
        raise ModelError(f"{path.name}, line {number}: column '{shortened(double[0])}' exists twice; names must differ")
    return names


def check_counts(path: Path, header: Sequence[str], rows: int, columns: int) -> None:
    """Compare the numbers of rows and columns of a table with those that its header states, if it does.

    Raises
    ------
    ModelError
    """
    found = {"rows": rows, "columns": columns}
    for match in filter(None, map(COUNT.match, header)):
        name, number, stated = match[1], found[match[2].lower()], int(match[3])
        if number == stated:
            continue
        why = "the file is cut short: export it again" if number < stated else "export it again, or correct the header"
        raise ModelError(f"{path.name}: {number} {match[2].lower()} where the header says {name} = {stated}; {why}")


def _within(lines: Sequence[str], rows: list[int], span: tuple[float, float]) -> list[int]:
    """The rows within a span of time, and those that enclose it."""
    t = np.array([_number(lines[n].split(None, 1)[0]) for n in rows])
    if not np.isfinite(t).all() or (np.diff(t) <= 0.0).any():
        return rows  # refused with its line when all are read
    if t[0] > span[1] or t[-1] < span[0]:
        return rows  # for messages with the times of the whole table
    first = max(int(np.searchsorted(t, span[0], side="right")) - 1, 0)
    last = min(int(np.searchsorted(t, span[1], side="left")) + 1, len(rows))
    return rows[first : max(last, first + 1)]


def _values(path: Path, lines: Sequence[str], rows: Sequence[int], names: Sequence[str]) -> Floats:
    """The values of rows, (n, columns)."""
    try:
        values = np.loadtxt([lines[n] for n in rows], comments=None, ndmin=2)
        if values.shape == (len(rows), len(names)) and np.isfinite(values).all():
            return values
    except ValueError:
        pass
    return np.array([_row(path, lines[n], n + 1, names) for n in rows])  # finds the line that is wrong


def _row(path: Path, line: str, number: int, names: Sequence[str]) -> Floats:
    words = line.split()
    if len(words) != len(names):
        raise ModelError(f"{path.name}, line {number}: {len(words)} values for {len(names)} columns; give one for each")
    values = np.array([_number(word) for word in words])
    if not np.isfinite(values).all():
        n = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ModelError(
            f"{path.name}, line {number}: column '{shortened(names[n])}' is '{shortened(words[n])}'; give a finite number"
        )
    return values


def _number(word: str) -> float:
    """The number of a word; NaN if it is none."""
    try:
        return float(word)
    except ValueError:
        return np.nan
