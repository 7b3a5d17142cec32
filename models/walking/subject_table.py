"""A table of subjects and their trials: a CSV file as spreadsheets export it, read with one sentence for each mistake."""

from __future__ import annotations

import csv
import difflib
import glob
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from models.walking.anatomy import Anatomy
from models.walking.capture.trial import Side
from runtime import ModelError
from runtime.support import checked, read_file

NEEDED = ("subject", "static", "trials")
TEXTS = ("side", "group", "condition", "sex", "functional", "inertia", "toes", "foot_flat")
UNITS = {
    "mass": "kg", "height": "m", "subtalar_inclination": "deg", "subtalar_deviation": "deg",
    "talocrural_inclination": "deg", "talocrural_deviation": "deg", "link_length": "m", "ankle_width": "m",
}  # fmt: skip
COLUMNS = (*NEEDED, "mass", "height", *TEXTS, *list(UNITS)[2:])
PLAUSIBLE = {"mass": (10.0, 300.0), "height": (0.5, 2.5)}  # [kg], [m]
CHOICES = {
    "side": ("right", "left", "auto"), "sex": ("female", "male"), "toes": ("auto", "guided", "locked"),
    "foot_flat": ("yes", "no"),
}  # fmt: skip
TABLES = ("de_leva", "winter")
SEPARATORS = (",", ";", "\t")
MOST_MISTAKES = 5  # in one message

Toes = Literal["auto", "guided", "locked"]


@dataclass(frozen=True)
class SubjectRow:
    """A row of the table: one subject in one condition.

    Attributes
    ----------
    line : int
        Of the file.
    subject, group, condition : str
        ``group`` and ``condition`` are "" where the table has none.
    static : Path
        The standing trial.
    trials : tuple of Path
        Walking trials.
    side : "left" or "right", optional
        The foot to analyse; default: each foot with a whole stance on force plates.
    mass, height : float [kg], [m], optional
        Default: those of the files.
    sex : "female" or "male", optional
    functional : Path, optional
        A trial in which the subject moves the ankle, see ``models.walking.functional_axes``.
    anatomy : Anatomy
    toes : "auto", "guided" or "locked"
    foot_flat : bool
        Whether the sole is flat on the floor in the static trial, see ``models.walking.scale_to_subject``.
    """

    line: int
    subject: str
    static: Path
    trials: tuple[Path, ...]
    side: Side | None = None
    group: str = ""
    condition: str = ""
    mass: float | None = None
    height: float | None = None
    sex: str | None = None
    functional: Path | None = None
    anatomy: Anatomy = field(default_factory=Anatomy)
    toes: Toes = "auto"
    foot_flat: bool = True

    @property
    def name(self) -> str:
        """Subject and condition."""
        return f"{self.subject}, {self.condition}" if self.condition else self.subject


@dataclass(frozen=True)
class SubjectTable:
    """Rows of a table of subjects, and what was assumed about the file."""

    file: Path
    rows: tuple[SubjectRow, ...]
    notes: tuple[str, ...] = ()


@checked
def read_subject_table(file: str | Path) -> SubjectTable:
    """Read a table of subjects and trials.

    Parameters
    ----------
    file : path
        A CSV file with a header and a row for each subject, or for each subject and condition.  Separated by commas, semicolons
        (then numbers may have decimal commas) or tabs.  Needed columns: ``subject``, ``static`` and ``trials``: one file, several
        separated by ``;`` or ``|``, or patterns such as ``walk*.c3d``, relative to the folder of the table.  Optional columns:
        ``mass`` [kg], ``height`` [m], ``side`` (right, left, auto), ``group``, ``condition``, ``sex``, ``functional``, ``toes``,
        ``inertia`` and the axes and ``link_length`` of ``models.walking.Anatomy``.

    Raises
    ------
    ModelError
        With the line and the remedy of each mistake, of five at most.
    """
    path = Path(file).expanduser()
    text, notes = _text(path)
    separator, header, rows = _cells(path, text)
    columns = _columns(path, header, notes)
    mistakes: list[str] = []
    found: list[SubjectRow] = []
    seen: dict[tuple[str, str], int] = {}
    for line, cells in rows:
        try:
            if len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :]):
                raise ModelError(
                    f"{len(cells)} cells where the header names {len(header)} columns; put cells that contain '{separator}' "
                    "in quotes"
                )
            by_name = {
                name: cells[k].strip() if k < len(cells) else "" for k, name in enumerate(columns) if name is not None
            }
            row = _row(line, by_name, path.parent, decimal_comma=separator != ",")
            if (key := (row.subject.casefold(), row.condition.casefold())) in seen:
                both = " and this condition" if row.condition else ""
                raise ModelError(
                    f"subject '{row.subject}'{both} is in line {seen[key]} already; give each subject a name of its own, or a "
                    "column 'condition' with different conditions"
                )
        except ModelError as error:
            mistakes.append(f"line {line}: {error}")
            continue
        seen[key] = line
        found.append(row)
    if mistakes:
        more = f"; and {len(mistakes) - MOST_MISTAKES} more lines" if len(mistakes) > MOST_MISTAKES else ""
        raise ModelError(f"{path.name}: {'; '.join(mistakes[:MOST_MISTAKES])}{more}")
    if not found:
        raise ModelError(f"{path.name}: no subject below the header; give a row for each subject")
    return SubjectTable(path, _checked_groups(path, found), tuple(notes))


def _text(path: Path) -> tuple[str, list[str]]:
    """The content of the file, and a note where its encoding is assumed."""
    data = read_file(path, remedy="give the CSV file of the subjects")
    if data[:2] == b"PK":
        raise ModelError(
            f"{path.name}: this is a workbook of a spreadsheet program, not a CSV file; save the sheet as CSV (UTF-8)"
        )
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return data.decode("utf-16"), []
        except UnicodeDecodeError:
            raise ModelError(
                f"{path.name}: begins as UTF-16, but is not; save it as CSV with the encoding UTF-8"
            ) from None
    if b"\0" in data:
        raise ModelError(f"{path.name}: not a text file, as it contains binary data; save the table as CSV (UTF-8)")
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        try:
            text = data.decode("cp1252")
        except UnicodeDecodeError:
            raise ModelError(
                f"{path.name}: line {line} is neither UTF-8 nor Windows-1252; save it as CSV (UTF-8)"
            ) from None
        return text, [f"{path.name}: line {line} is not UTF-8; the file is read as Windows-1252"]


def _cells(path: Path, text: str) -> tuple[str, list[str], list[tuple[int, list[str]]]]:
    """Separator, header, and rows with their lines; blank lines and comments (#) are left out."""
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    stated = re.fullmatch(r"sep=(.)\s*", first, re.IGNORECASE)  # as spreadsheets write it
    separator = stated[1] if stated else max(SEPARATORS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    rows: list[tuple[int, list[str]]] = []
    begin = 1
    try:
        for cells in reader:
            line, begin = begin, reader.line_num + 1
            if any(cell.strip() for cell in cells) and not cells[0].startswith("#"):
                rows.append((line, cells))
    except csv.Error as error:
        raise ModelError(f"{path.name}: line {reader.line_num}: {error}; save the table as CSV again") from None
    rows = rows[1:] if stated else rows
    if not rows:
        raise ModelError(f"{path.name}: the file is empty; give a header with {', '.join(NEEDED)}, and a row each")
    return separator, rows[0][1], rows[1:]


def _columns(path: Path, header: Sequence[str], notes: list[str]) -> list[str | None]:
    """Name of each column, None for those that are not read, which get a note."""
    names: list[str | None] = []
    unread = []
    for cell in header:
        plain, unit = _without_unit(cell)
        known = plain in COLUMNS
        near = difflib.get_close_matches(plain, COLUMNS, n=1, cutoff=0.8)
        if plain and not known and near and near[0] not in [_without_unit(other)[0] for other in header]:
            raise ModelError(f"{path.name}: unknown column '{cell.strip()}'; did you mean '{near[0]}'?")
        if known and unit and unit != UNITS.get(plain, unit):
            raise ModelError(
                f"{path.name}: column '{cell.strip()}' is in {unit}; give it in {UNITS[plain]}, and write so"
            )
        if known and plain in names:
            raise ModelError(f"{path.name}: column '{plain}' occurs twice; leave one out")
        names.append(plain if known else None)
        unread += [cell.strip()] if plain and not known else []
    if missing := [name for name in NEEDED if name not in names]:
        raise ModelError(
            f"{path.name}: line 1 has no column {' and no column '.join(repr(name) for name in missing)}; it has "
            f"{', '.join(repr(cell.strip()) for cell in header)}; needed are {', '.join(NEEDED)}"
        )
    if unread:
        notes.append(f"{path.name}: columns that were not read: {', '.join(unread)}")
    return names


def _without_unit(cell: str) -> tuple[str, str]:
    """Name of a column in lower case with underscores, and the unit in brackets behind it."""
    found = re.fullmatch(r"\s*(.*?)\s*(?:[\[(]\s*([^\])]*?)\s*[\])])?\s*", cell, re.DOTALL)
    name, unit = (found[1], found[2] or "") if found else (cell, "")
    return re.sub(r"[\s\-]+", "_", name.strip().lower()), unit


def _row(line: int, cells: Mapping[str, str], folder: Path, *, decimal_comma: bool) -> SubjectRow:
    """A subject from its cells by column."""
    for name in NEEDED:
        if not cells[name]:
            raise ModelError(f"column '{name}' is empty; every subject needs one")
    numbers = {name: _number(name, text, decimal_comma) if (text := cells.get(name, "")) else None for name in UNITS}
    words = {name: _choice(name, cells.get(name, ""), allowed) for name, allowed in CHOICES.items()}
    inertia = cells.get("inertia", "").lower() or TABLES[0]
    if inertia not in TABLES:
        raise ModelError(f"inertia '{inertia}' is unknown; use {' or '.join(TABLES)}")
    static = _file(cells["static"], folder, "static")
    trials = [file for file in _files(cells["trials"], folder) if file != static]
    if not trials:
        raise ModelError("column 'trials' names the static trial only; name the walking trials")
    side: Side | None = next((side for side in get_args(Side) if side == words["side"]), None)
    toes: Toes = next((toes for toes in get_args(Toes) if toes == words["toes"]), "auto")
    return SubjectRow(
        line, cells["subject"], static, tuple(trials), side, cells.get("group", ""), cells.get("condition", ""),
        numbers["mass"], numbers["height"], words["sex"] or None,
        _file(text, folder, "functional") if (text := cells.get("functional", "")) else None,
        Anatomy(
            numbers["subtalar_inclination"], numbers["subtalar_deviation"], numbers["talocrural_inclination"],
            numbers["talocrural_deviation"], numbers["link_length"], "winter" if inertia == "winter" else "de_leva",
            ankle_width=numbers["ankle_width"],
        ),
        toes,
        words["foot_flat"] != "no",
    )  # fmt: skip


def _number(name: str, text: str, decimal_comma: bool) -> float:
    try:
        value = float(text.replace(",", ".") if decimal_comma else text)
    except ValueError:
        raise ModelError(f"{name} = '{text}' is not a number; give it in {UNITS[name]}, without the unit") from None
    low, high = PLAUSIBLE.get(name, (-float("inf"), float("inf")))
    if not low <= value <= high:
        meant = {"mass": "grams", "height": "centimetres"}.get(name)
        asked = f"; is it in {meant}?" if meant and value > high else ";"
        raise ModelError(f"{name} = {value:g} {UNITS[name]}, limits {low:g} and {high:g}{asked} give {UNITS[name]}")
    return value


def _choice(name: str, text: str, allowed: Sequence[str]) -> str:
    """A word of a list, also by its first letter; "" where the cell is empty."""
    word = text.strip().lower()
    word = "auto" if name == "side" and word == "both" else word
    found = [one for one in allowed if one == word] or [one for one in allowed if len(word) == 1 and one[0] == word]
    if word and len(found) != 1:
        raise ModelError(f"{name} '{text}' is unknown; use {', '.join(allowed)}, or leave the cell empty")
    return found[0] if found else ""


def _files(text: str, folder: Path) -> list[Path]:
    """Files of a list of names and patterns, each once, in the order of the list."""
    found: list[Path] = []
    for part in filter(None, (part.strip() for part in re.split(r"[;|\n]", text))):
        if glob.has_magic(part):
            matches = sorted(Path(name) for name in glob.glob(str(_place(part, folder))))
            if not matches:
                raise ModelError(f"column 'trials': no file matches '{part}' in {folder}; correct the pattern")
            found += matches
        else:
            found.append(_file(part, folder, "trials"))
    return list(dict.fromkeys(found))


def _file(text: str, folder: Path, column: str) -> Path:
    path = _place(text, folder)
    if path.is_file():
        return path
    beside: Callable[[], list[str]] = lambda: [other.name for other in path.parent.iterdir() if other.is_file()]  # noqa: E731
    near = difflib.get_close_matches(path.name, beside() if path.parent.is_dir() else [], n=1, cutoff=0.8)
    meant = f"did you mean '{near[0]}'?" if near else f"names are relative to the table's folder, {folder}"
    raise ModelError(f"column '{column}': no file '{text}'; {meant}")


def _place(text: str, folder: Path) -> Path:
    return folder / Path(text.replace("\\", "/")).expanduser()


def _checked_groups(path: Path, rows: Sequence[SubjectRow]) -> tuple[SubjectRow, ...]:
    """The rows, refused where some have a group or a condition and others none, or where a subject changes its group."""
    for name in ("group", "condition"):
        without = [row for row in rows if not getattr(row, name)]
        if without and len(without) < len(rows):
            raise ModelError(
                f"{path.name}: line {without[0].line}: column '{name}' is empty, and other lines have one; fill all or none"
            )
    groups: dict[str, SubjectRow] = {}
    for row in rows:
        first = groups.setdefault(row.subject, row)
        if row.group != first.group:
            raise ModelError(
                f"{path.name}: line {row.line}: subject '{row.subject}' is in group '{row.group}', and in line {first.line} in "
                f"'{first.group}'; give a subject one group, and use the column 'condition' for what was varied"
            )
    return tuple(rows)
