"""Reads tables of OpenSim: motions (.mot) and storage (.sto)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from models.files.description import Floats
from runtime import ModelError
from runtime.support import checked, plain_number, plain_numbers, read_file, shortened

LARGEST = 2**28  # [bytes]
END = "endheader"
# Numbers of rows and columns in both versions of the header.
COUNT = re.compile(r"\s*((?:n|data)(rows|columns))\s*[=\s]\s*(\d+)[\s,]*$", re.IGNORECASE)
VALUES = re.compile(r"/?(?:[^/]+/)+([^/]+)/value")  # columns of states, by their path in the model
VERSION = re.compile(r"\s*version\s*=\s*[1-9]", re.IGNORECASE)
MISSING = re.compile(r"[-+]?(nan(\(\w*\))?|1\.#(ind|qnan|snan)\d*)?", re.IGNORECASE)  # also as Windows writes it


@dataclass(frozen=True, eq=False)
class Storage:
    """Columns by name over time: ``t`` (n,) [s], ``columns`` (n,) each; ``in_degrees``: its angles are in degrees.

    ``states_unit``: its header says whether they are; else they count as in OpenSim: as degrees in a .mot file without a
    ``version``, which are those of SIMM, and as radians in others.
    """

    file: Path
    t: Floats
    columns: dict[str, Floats]
    in_degrees: bool
    states_unit: bool = True


@checked
def read_storage(file: str | Path, *, span: tuple[float, float] | None = None) -> Storage:
    """Read a .mot or .sto file of OpenSim, of either version of its header.

    As OpenSim, it counts rows and columns itself; a warning says where the header has other numbers.  A column of states such
    as ``/jointset/ankle_r/ankle_angle_r/value`` is named ``ankle_angle_r``, unless two columns would have one name.  A row that
    repeats the one before is left out.

    Parameters
    ----------
    file : str or Path
    span : (first, last) [s], optional
        Read the rows within these times, and those that enclose them; of other rows the time alone.

    Raises
    ------
    ModelError
        With file and line: no header, columns without a name or with the same one, rows of another length, values that are not
        finite, and times that do not increase.
    """
    path = Path(file)
    remarks: list[str] = []
    header, names, numbers, values = read_table(path, remarks, span=span)
    for sentence in remarks:
        warnings.warn(sentence, UserWarning, stacklevel=3)
    if not np.isfinite(values).all():
        n, k = (int(at[0]) for at in np.nonzero(~np.isfinite(values)))
        raise ModelError(
            f"{path.name}, line {numbers[n]}: column '{shortened(names[k])}' is '{values[n, k]:g}'; give a finite number"
        )
    again = np.flatnonzero((values[1:] == values[:-1]).all(axis=1)) + 1  # rows that OpenSim's tools write twice
    values = np.delete(values, again, axis=0) if again.size else values
    if (still := np.flatnonzero(np.diff(values[:, 0]) <= 0.0)).size:
        n = int(still[0])
        raise ModelError(
            f"{path.name}: time {values[n + 1, 0]:g} s of row {n + 2} comes after {values[n, 0]:g} s; times must increase"
        )
    columns = dict(zip(_coordinates(names[1:]), values[:, 1:].T.copy(), strict=True))
    words = [line.lower().replace(" ", "").rstrip("\t,.") for line in header]
    degrees = any(word == "indegrees=yes" or word.startswith("anglesareindegrees") for word in words)
    stated = degrees or any(word.startswith(("indegrees=", "anglesarein")) for word in words)
    if not stated:
        degrees = path.suffix.lower() == ".mot" and not any(map(VERSION.match, header))
    return Storage(path, values[:, 0], columns, degrees, stated)


def _coordinates(names: Sequence[str]) -> list[str]:
    """Names of columns, with those of a coordinate's values by their path in the model reduced to the coordinate's."""
    short = [match[1] if (match := VALUES.fullmatch(name)) else name for name in names]
    return [own if short.count(own) == 1 else name for own, name in zip(short, names, strict=True)]


def text_lines(path: Path) -> list[str]:
    """The lines of a text file: UTF-8, UTF-16 where its first bytes say so; bytes of other encodings are replaced.

    Raises
    ------
    ModelError
    """
    data = read_file(path, LARGEST, smaller="cut it into parts")
    utf_16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    if not utf_16 and b"\0" in data[:4096]:
        raise ModelError(
            f"{path.name}: not a text file; its name ends with '{path.suffix}' but it contains binary data"
        )
    return data.decode("utf-16" if utf_16 else "utf-8-sig", errors="replace").splitlines()


def read_table(
    path: Path, remarks: list[str], *, span: tuple[float, float] | None = None
) -> tuple[list[str], list[str], list[int], Floats]:
    """Header, names of columns, numbers of lines and values (n, columns), NaN in empty cells, of a table of OpenSim.

    ``remarks`` receives a sentence for each number of rows or columns in the header that is not that of the table.

    Raises
    ------
    ModelError
    """
    lines = text_lines(path)
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
    found = {"rows": len(rows), "columns": len(names)}
    for match in filter(None, map(COUNT.match, lines[:header])):
        number, stated = found[match[2].lower()], int(match[3])
        if number != stated:
            cut = "; is the file cut short?" if number < stated and match[2].lower() == "rows" else ""
            remarks.append(
                f"{path.name}: the header says {match[1]} = {stated}, the table has {number}, which are read{cut}"
            )
    if span is not None:
        rows = _within(lines, rows, span)
    return lines[:header], names, [n + 1 for n in rows], _values(path, lines, rows, names)


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


def _within(lines: Sequence[str], rows: list[int], span: tuple[float, float]) -> list[int]:
    """The rows within a span of time, and those that enclose it."""
    try:
        t = plain_numbers([lines[n].split(None, 1)[0] for n in rows])
    except ValueError:
        return rows  # refused with its line when all are read
    if not np.isfinite(t).all() or (np.diff(t) <= 0.0).any():
        return rows
    if t[0] > span[1] or t[-1] < span[0]:
        return rows  # for messages with the times of the whole table
    first = max(int(np.searchsorted(t, span[0], side="right")) - 1, 0)
    last = min(int(np.searchsorted(t, span[1], side="left")) + 1, len(rows))
    return rows[first : max(last, first + 1)]


def _values(path: Path, lines: Sequence[str], rows: Sequence[int], names: Sequence[str]) -> Floats:
    """The values of rows, (n, columns)."""
    try:
        values = np.loadtxt([lines[n] for n in rows], comments=None, ndmin=2)
        if values.shape == (len(rows), len(names)):
            return values
    except ValueError:
        pass
    return np.array([_row(path, lines[n], n + 1, names) for n in rows])  # finds the line that is wrong


def cells(line: str, columns: int) -> list[str]:
    """Cells of a row: tabs separate them, and empty ones are ''; blanks do where tabs do not give ``columns`` cells."""
    by_tabs, by_blanks = [cell.strip() for cell in line.split("\t")], line.split()
    while len(by_tabs) > columns and not by_tabs[-1]:
        by_tabs.pop()
    return by_blanks if len(by_tabs) != columns and (len(by_blanks) == columns or len(by_tabs) == 1) else by_tabs


def why_no_number(word: str) -> str:
    """What is wrong with a cell that is not a number, with the remedy; "" where its text does not show it."""
    if not re.fullmatch(r"[-+\d.,eE]+", word) or "," not in word:
        return ""
    if word.count(",") == 1:
        return "; it has a decimal comma: export the file with decimal points"
    return f"; {word.count(',') + 1} numbers in one cell (vectors) are not read: write a column for each"


def _row(path: Path, line: str, number: int, names: Sequence[str]) -> Floats:
    words = cells(line, len(names))
    if len(words) != len(names):
        raise ModelError(f"{path.name}, line {number}: {len(words)} values for {len(names)} columns; give one for each")
    values = np.array([_number(word) for word in words])
    for name, word, value in zip(names, words, values, strict=True):
        if not np.isfinite(value) and not MISSING.fullmatch(word):
            raise ModelError(
                f"{path.name}, line {number}: column '{shortened(name)}' is '{shortened(word)}'"
                f"{why_no_number(word) or '; give a finite number'}"
            )
    return values


def _number(word: str) -> float:
    """The number of a word; NaN if it is none."""
    try:
        return plain_number(word)
    except ValueError:
        return np.nan
