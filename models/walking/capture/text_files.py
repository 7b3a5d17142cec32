"""Text files: markers from TRC and CSV, ground forces from MOT, STO and CSV."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from models.files.storage import MISSING, cells, read_table, text_lines, why_no_number
from models.walking.capture.contents import AXES, Contents, Wrench, named_markers, unit_of_length
from models.walking.capture.force_columns import force_columns, note_unused, wrenches
from models.walking.samples import even_times, sampling_rate
from runtime import ModelError
from runtime.support import plain_number
from runtime.support.arrays import Floats

TIME = ("time", "t", "time_s")
COMMENT_UNITS = re.compile(r"(?i)\bunits?\b\W*(?:are\W+|in\W+)?(mm|cm|m|(?:milli|centi)?met(?:er|re)s?)\b")
COMMENT_UP = (
    re.compile(r"(?i)(?<!\w)([+-]?[xyz])[\s-]*(?:axis)?\s*(?:is|=|:|points)?\s*(?:up|vertical)(?:wards?)?\b"),
    re.compile(r"(?i)\b(?:up|vertical)(?:\s+axis)?\s*(?:is|=|:)?\s*([+-]?[xyz])\b"),
)


def numbers_of(path: Path, rows: Sequence[tuple[int, Sequence[str]]], columns: int) -> Floats:
    """Numbers (rows, columns) of rows given as line number and fields; an empty field is NaN."""
    for number, fields in rows:
        if len(fields) != columns:
            cut = "; the file is cut short" if number == rows[-1][0] and len(fields) < columns else ""
            raise ModelError(
                f"{path.name}: line {number} has {len(fields)} values where the header names {columns} columns{cut}; all rows "
                "must have equal length: export it again"
            )
    numbers = np.full((len(rows), columns), math.nan)
    for row, (number, fields) in zip(numbers, rows, strict=True):
        for k, text in enumerate(fields):
            try:
                row[k] = math.nan if MISSING.fullmatch(text.strip()) else plain_number(text)
            except ValueError:
                raise ModelError(
                    f"{path.name}: line {number}, column {k + 1} contains '{text.strip()[:40]}', which is not a number"
                    f"{why_no_number(text.strip()) or '; write missing values as empty fields or nan'}"
                ) from None
    return numbers


# Markers


def read_trc(path: Path, units: str | None) -> Contents:
    """Read the markers of a TRC file; ``units`` overrules its field Units."""
    lines = text_lines(path)
    if not lines or not lines[0].lstrip().startswith("PathFileType") or len(lines) < 5:
        raise ModelError(
            f"{path.name}: not a TRC file, which has five header lines, the first of them with PathFileType; export it again"
        )
    header = _trc_fields(lines[1], lines[2])
    notes: list[str] = []
    factor, phrase = unit_of_length(path, header.get("units"), "its field Units", units, notes)
    labels = _trc_labels(path, lines[3], header)
    columns = 2 + 3 * len(labels)
    # The line of X1, Y1, Z1, ... may be missing, and blank lines may follow it.
    below = [(number, line) for number, line in enumerate(lines[4:], start=5) if line.strip()]
    if below and re.match(r"\s*x", below[0][1], re.IGNORECASE):
        axes = [name.strip()[:1].lower() for name in below.pop(0)[1].split()]
        if axes[: columns - 2] != [*AXES] * len(labels):
            raise ModelError(
                f"{path.name}: its fifth line does not name the columns X, Y, Z of each of {len(labels)} markers in this "
                "order; export it again"
            )
    rows = [(number, cells(line, columns)) for number, line in below]
    frames = _count(path, header, "numframes", len(rows))
    if len(rows) != frames:
        cut = "; is the file cut short?" if len(rows) < frames else ""
        notes.append(f"{path.name} has {len(rows)} frames although NumFrames is {frames}; all are read{cut}")
    numbers = numbers_of(path, rows, columns)
    labels, kept = named_markers(path, labels, notes)
    points = numbers[:, 2:].reshape(len(numbers), (columns - 2) // 3, 3)[:, kept] * factor
    t = even_times(numbers[:, 1], path.name, notes)
    with suppress(ValueError):  # of an unreadable DataRate, and ModelError of uneven times, which are refused later
        rate, measured = float(header.get("datarate") or "nan"), sampling_rate(t, path.name)
        if abs(rate - measured) > 0.01 * measured:
            notes.append(
                f"{path.name}: its times have a rate of {measured:.6g} Hz although DataRate is {rate:g}; the times are used"
            )
    return Contents(path, t, labels, points, phrase, factor, notes=notes)


def _trc_fields(names: str, values: str) -> dict[str, str]:
    """Fields of the header by name: as many names as values, without regard to blank cells, else those of the same column."""
    pair = [names.split(), values.split()]
    if len(pair[0]) != len(pair[1]):
        pair = [[cell.strip() for cell in line.split("\t")] for line in (names, values)]
    return {name.lower(): value for name, value in zip(*pair, strict=False) if name}


def _trc_labels(path: Path, line: str, header: Mapping[str, str]) -> list[str]:
    """Labels of the markers, "" of one without: three columns apart, else as many as NumMarkers, with any tabs between them."""
    named = [label.strip() for label in line.rstrip("\t ").split("\t")]
    if len(named) == 1:
        named = line.split()
    stated = [label for label in named if label]
    if len(stated) < 3:
        raise ModelError(f"{path.name}: no markers: its fourth line names none")
    if not (stated[0].lower().startswith("frame") and stated[1].lower() == "time"):
        raise ModelError(
            f"{path.name}: its fourth line begins with '{stated[0][:40]}' and '{stated[1][:40]}'; the first columns "
            "of a TRC file are Frame# and Time: export it again"
        )
    labels = named[2::3]
    astray = [label for k, label in enumerate(named) if label and k > 1 and k % 3 != 2]
    count = _count(path, header, "nummarkers", len(stated) - 2 if astray else len(labels))
    if count == len(stated) - 2:
        return stated[2:]
    if astray:
        raise ModelError(
            f"{path.name}: '{astray[0]}' in its fourth line is above no column X of a marker, and NumMarkers is {count} for "
            f"{len(stated) - 2} names; names are three columns apart: export it again"
        )
    if count != len(labels):
        raise ModelError(
            f"{path.name}: NumMarkers is {count} but the header names {len(labels)} markers; export it again"
        )
    return labels


def _count(path: Path, header: Mapping[str, str], key: str, counted: int) -> int:
    """Number stated by the header, or the counted one if the header does not state it."""
    try:
        return int(float(header.get(key) or counted))
    except (ValueError, OverflowError):
        raise ModelError(f"{path.name}: {key} is '{header[key]}', which is not a number; export it again") from None


def read_csv_text(path: Path) -> tuple[list[str], list[str], list[tuple[int, list[str]]]]:
    """Comments, names of the columns, and the rows as line number and fields."""
    lines = [(number, line) for number, line in enumerate(text_lines(path), start=1) if line.strip()]
    comments = [line.lstrip("# \t").strip() for _, line in lines if line.lstrip().startswith("#")]
    rows = [(number, line.split(",")) for number, line in lines if not line.lstrip().startswith("#")]
    if len(rows) < 2:
        raise ModelError(
            f"{path.name}: zero frames; a CSV file needs a line of column names and rows of numbers below it"
        )
    header = [name.strip().strip('"') for name in rows.pop(0)[1]]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise ModelError(f"{path.name}: column {', '.join(map(repr, twice))} occurs more than once; names must differ")
    return comments, header, rows


def csv_unit(path: Path, comments: Sequence[str], units: str | None, notes: list[str]) -> tuple[float, str]:
    """Metres per unit of position, by ``units`` or a comment, and a phrase; comments on filters become notes."""
    stated = next((match[1] for line in comments if (match := COMMENT_UNITS.search(line))), None)
    notes += [f"{path.name} says: {line}" for line in comments if "filter" in line.lower()]
    return unit_of_length(path, stated, "a comment line such as '# units mm/N'", units, notes)


def _csv_up(path: Path, comments: Sequence[str]) -> tuple[str, str] | None:
    for line in comments:
        for pattern in COMMENT_UP:
            if match := pattern.search(line):
                return match[1].lower().lstrip("+"), f"a comment of {path.name}"
    return None


def _triples(path: Path, names: Sequence[str]) -> dict[str, list[int]]:
    """Columns of x, y, z by their common prefix."""
    found: dict[str, dict[str, int]] = {}
    for k, name in enumerate(names):
        if match := re.fullmatch(r"(?i)(.+)[_. ]([xyz])", name):
            axes = found.setdefault(match[1].strip(), {})
            if match[2].lower() in axes:
                raise ModelError(
                    f"{path.name}: columns '{names[axes[match[2].lower()]]}' and '{name}' name one coordinate; names must differ"
                )
            axes[match[2].lower()] = k
    return {label: [at[axis] for axis in AXES] for label, at in found.items() if len(at) == 3}


def read_marker_csv(path: Path, units: str | None) -> Contents:
    """Read the markers of a CSV file: over time, or of one standing frame; ``units`` overrules its comment."""
    comments, header, rows = read_csv_text(path)
    notes: list[str] = []
    if [name.lower() for name in header] == ["marker", "x", "y", "z"]:
        labels = [fields[0].strip() for _, fields in rows]
        values = numbers_of(path, [(number, fields[1:]) for number, fields in rows], 3)
        t, points = np.zeros(1), values[None]
    else:
        if header[0].lower() not in TIME:
            raise ModelError(
                f"{path.name}: its first column is '{header[0]}'; a CSV of markers has time,NAME_x,NAME_y,NAME_z,... or, for one "
                "standing frame, marker,x,y,z"
            )
        numbers = numbers_of(path, rows, len(header))
        triples = _triples(path, header)
        if not triples:
            remedy = "name columns NAME_x, NAME_y, NAME_z"
            if force_columns(path, header):
                remedy = "it holds forces: give it as forces= with a file of markers"
            raise ModelError(f"{path.name}: no markers; {remedy}")
        labels, points = list(triples), numbers[:, list(triples.values())]
        t = even_times(numbers[:, 0], path.name, notes)
        used = [0, *(k for columns in triples.values() for k in columns)]
        note_unused(path, header, used, "a marker has the three columns NAME_x, NAME_y, NAME_z", notes)
    factor, phrase = csv_unit(path, comments, units, notes)
    labels, kept = named_markers(path, labels, notes)
    return Contents(path, t, labels, points[:, kept] * factor, phrase, factor, up=_csv_up(path, comments), notes=notes)


# Forces


def read_storage(path: Path, units: str | None) -> tuple[list[Wrench], list[str]]:
    """Read the ground forces of an OpenSim storage file (MOT, STO), and notes; the format has no units to overrule."""
    remarks: list[str] = []
    _, names, _, values = read_table(path, remarks)
    notes = [f"{path.name}: this format does not state units; read in those of OpenSim: N, m, N m", *remarks]
    return wrenches(path, names, values, 1.0, notes), notes


def read_force_csv(path: Path, units: str | None) -> tuple[list[Wrench], list[str]]:
    """Read the ground forces of a CSV file, and notes; ``units`` overrules the unit of positions in its comment."""
    comments, header, rows = read_csv_text(path)
    if header[0].lower() not in TIME:
        raise ModelError(f"{path.name}: its first column is '{header[0]}'; a CSV of forces begins with the column time")
    notes: list[str] = []
    numbers = numbers_of(path, rows, len(header))
    factor, _ = csv_unit(path, comments, units, notes)
    return wrenches(path, header, numbers, factor, notes), notes
