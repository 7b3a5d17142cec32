"""Tables in text files: markers from TRC and CSV, forces from MOT, STO and CSV, and what JSON beside them tells.

``read`` takes the reader by the ending of a file's name and pairs markers with forces.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from runtime.capture import Capture, Floats, Subject, sampling_rate
from runtime.capture_axes import (
    AXES,
    TURNS,
    UNITS,
    Contents,
    Wrench,
    brought_to_talus,
    first_line,
    gait_event,
    named_markers,
    side_of,
    unit_of_length,
)
from runtime.capture_c3d import read_c3d, read_c3d_forces
from runtime.errors import ModelError

Reader = TypeVar("Reader")

FORCE_ENDINGS = tuple(
    f"{tail}{kind}" for kind in (".mot", ".sto", ".csv") for tail in ("_grf", "_forces", "_grfs", "_GRF")
)
TIME = ("time", "t", "time_s")
COMMENT_UNITS = re.compile(r"(?i)\bunits?\b\W*(?:are\W+|in\W+)?(mm|cm|m)\b")
COMMENT_UP = (
    re.compile(r"(?i)(?<!\w)([+-]?[xyz])[\s-]*(?:axis)?\s*(?:is|=|:|points)?\s*(?:up|vertical)(?:wards?)?\b"),
    re.compile(r"(?i)\b(?:up|vertical)(?:\s+axis)?\s*(?:is|=|:)?\s*([+-]?[xyz])\b"),
)


def _lines(path: Path) -> list[str]:
    data = path.read_bytes()
    if b"\0" in data[:4096]:
        raise ModelError(f"{path.name}: not a text file; its name ends with '{path.suffix}' but it holds binary data")
    return data.decode("utf-8-sig", errors="replace").splitlines()


def _table(path: Path, rows: Sequence[tuple[int, Sequence[str]]], columns: int) -> Floats:
    """Numbers (rows, columns) of split rows with the number of their line; an empty field is NaN."""
    for number, fields in rows:
        if len(fields) != columns:
            cut = "; the file is cut short" if number == rows[-1][0] and len(fields) < columns else ""
            raise ModelError(
                f"{path.name}: line {number} has {len(fields)} values where the header names {columns} columns{cut}; all rows "
                "must be of equal length: export it again"
            )
    table = np.full((len(rows), columns), math.nan)
    for row, (number, fields) in zip(table, rows, strict=True):
        for k, text in enumerate(fields):
            try:
                row[k] = float(text) if text and not text.isspace() else math.nan
            except ValueError:
                raise ModelError(
                    f"{path.name}: line {number}, column {k + 1} holds '{text.strip()[:40]}', which is not a number; missing "
                    "values are left empty or called nan"
                ) from None
    return table


# Markers


def _read_trc(path: Path, units: str | None) -> Contents:
    lines = _lines(path)
    if not lines or not lines[0].startswith("PathFileType") or len(lines) < 5:
        raise ModelError(
            f"{path.name}: not a TRC file, which has five header lines, the first with PathFileType; export it again"
        )
    header = dict(zip(lines[1].split("\t"), lines[2].split("\t"), strict=False))
    header = {key.strip().lower(): value.strip() for key, value in header.items() if key.strip()}
    notes: list[str] = []
    factor, phrase = unit_of_length(path, header.get("units"), "its field Units", units, notes)
    labels = [label.strip() for label in lines[3].rstrip("\t ").split("\t")[2::3]]
    if not labels:
        raise ModelError(f"{path.name}: no markers: its fourth line names none")
    told = _count(path, header, "nummarkers", len(labels))
    if told != len(labels):
        raise ModelError(
            f"{path.name}: NumMarkers is {told} but the header names {len(labels)} markers; export it again"
        )
    columns = 2 + 3 * len(labels)
    rows = []
    for number, line in enumerate(lines[5:], start=6):
        if line.strip():
            fields = line.split("\t")
            while len(fields) > columns and not fields[-1].strip():
                fields.pop()
            rows.append((number, fields))
    frames = _count(path, header, "numframes", len(rows))
    if len(rows) < frames:
        raise ModelError(
            f"{path.name}: {len(rows)} frames where NumFrames is {frames}; the file is cut short: export it again"
        )
    if len(rows) > frames:
        notes.append(f"{path.name} has {len(rows)} frames although NumFrames is {frames}; all are read")
    table = _table(path, rows, columns)
    labels, places = named_markers(path, labels, notes)
    points = table[:, 2:].reshape(len(table), (columns - 2) // 3, 3)[:, places] * factor
    t = table[:, 1]
    with suppress(ValueError):  # that of uneven times among them: they are checked later, where the error belongs
        rate, measured = float(header.get("datarate") or "nan"), sampling_rate(t, path.name)
        if abs(rate - measured) > 0.01 * measured:
            notes.append(
                f"{path.name}: its times are those of {measured:.6g} Hz although DataRate is {rate:g}; the times count"
            )
    return Contents(path, t, labels, points, phrase, factor, notes=notes)


def _count(path: Path, header: Mapping[str, str], key: str, counted: int) -> int:
    """What the header says, or what was counted where it says nothing."""
    try:
        return int(float(header.get(key) or counted))
    except (ValueError, OverflowError):
        raise ModelError(f"{path.name}: {key} is '{header[key]}', which is not a number; export it again") from None


def _read_csv_text(path: Path) -> tuple[list[str], list[str], list[tuple[int, list[str]]]]:
    """Comments, names of the columns, and the rows with the numbers of their lines."""
    lines = [(number, line) for number, line in enumerate(_lines(path), start=1) if line.strip()]
    comments = [line.lstrip("# \t").strip() for _, line in lines if line.lstrip().startswith("#")]
    rows = [(number, line.split(",")) for number, line in lines if not line.lstrip().startswith("#")]
    if len(rows) < 2:
        raise ModelError(
            f"{path.name}: zero frames; a CSV file needs a line of column names and rows of numbers below it"
        )
    header = [name.strip().strip('"') for name in rows.pop(0)[1]]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise ModelError(
            f"{path.name}: column {', '.join(map(repr, twice))} is there more than once; names must differ"
        )
    return comments, header, rows


def _csv_told(path: Path, comments: Sequence[str], units: str | None, notes: list[str]) -> tuple[float, str]:
    told = next((match[1] for line in comments if (match := COMMENT_UNITS.search(line))), None)
    notes += [f"{path.name} says: {line}" for line in comments if "filter" in line.lower()]
    return unit_of_length(path, told, "a comment line such as '# units mm/N'", units, notes)


def _csv_up(path: Path, comments: Sequence[str]) -> tuple[str, str] | None:
    for line in comments:
        for pattern in COMMENT_UP:
            if match := pattern.search(line):
                return match[1].lower().lstrip("+"), f"a comment of {path.name}"
    return None


def _triples(names: Sequence[str]) -> dict[str, list[int]]:
    """Columns of x, y, z by what stands before them."""
    found: dict[str, dict[str, int]] = {}
    for k, name in enumerate(names):
        if match := re.fullmatch(r"(?i)(.+)[_. ]([xyz])", name):
            found.setdefault(match[1], {})[match[2].lower()] = k
    return {label: [at[axis] for axis in AXES] for label, at in found.items() if len(at) == 3}


def _read_marker_csv(path: Path, units: str | None) -> Contents:
    comments, header, rows = _read_csv_text(path)
    notes: list[str] = []
    if [name.lower() for name in header] == ["marker", "x", "y", "z"]:
        labels = [fields[0].strip() for _, fields in rows]
        values = _table(path, [(number, fields[1:]) for number, fields in rows], 3)
        t, points = np.zeros(1), values[None]
    else:
        if header[0].lower() not in TIME:
            raise ModelError(
                f"{path.name}: its first column is '{header[0]}'; a CSV of markers has time,NAME_x,NAME_y,NAME_z,... or, for one "
                "standing frame, marker,x,y,z"
            )
        table = _table(path, rows, len(header))
        triples = _triples(header)
        if not triples:
            held = "name columns NAME_x, NAME_y, NAME_z"
            if _force_columns(header):
                held = "it holds forces: give it as forces= with a file of markers"
            raise ModelError(f"{path.name}: no markers; {held}")
        labels, t, points = list(triples), table[:, 0], table[:, list(triples.values())]
    factor, phrase = _csv_told(path, comments, units, notes)
    labels, places = named_markers(path, labels, notes)
    return Contents(
        path, t, labels, points[:, places] * factor, phrase, factor, up=_csv_up(path, comments), notes=notes
    )


# Forces


def _force_columns(names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Columns of forces by plate: v, p, m with an axis each.

    OpenSim's names, ``1_ground_force_vx`` with ``1_ground_torque_y``, ``ground_force_2_px`` with ``ground_moment_2_mx``; and
    ``p1_Fx``, ``p1_copx``, ``p1_Ty_free`` or ``p1_Ty``.
    """
    plates: dict[str, dict[str, int]] = {}
    for k, name in enumerate(names):
        if match := re.fullmatch(r"(?i)(.*force.*?)_?([vp])_?([xyz])", name):
            stem, what, axis = match.groups()
        elif match := re.fullmatch(r"(?i)(.*(?:torque|moment).*?)_?m?_?([xyz])", name):
            (stem, axis), what = match.groups(), "m"
        elif match := re.fullmatch(r"(.+?)_?(F|cop|T)_?([xyz])(?:_free)?", name):
            stem, what, axis = match.groups()
            what = {"F": "v", "cop": "p", "T": "m"}[what]
        else:
            continue
        stem = re.sub(r"torque|moment", "force", stem.lower())
        plates.setdefault(stem, {})[what.lower() + axis.lower()] = k
    return {stem: at for stem, at in plates.items() if any(key[0] == "v" for key in at)}


def _wrenches(path: Path, names: Sequence[str], table: Floats, factor: float) -> list[Wrench]:
    plates = _force_columns(names)
    if not plates:
        raise ModelError(
            f"{path.name}: no ground forces among its columns ({', '.join(names[:6])}, ...); they are called ground_force_vx, "
            "ground_force_px, ground_torque_x as in OpenSim, or p1_Fx, p1_copx, p1_Ty_free"
        )
    found = []
    for stem, at in plates.items():
        lacking = [key for key in ("vx", "vy", "vz", "px", "py", "pz") if key not in at]
        if lacking:
            raise ModelError(
                f"{path.name}: force plate '{stem}' has no column {', '.join(lacking)}; a force (v) and its point (p) need "
                "x, y, z"
            )
        force, point = (table[:, [at[what + axis] for axis in AXES]] for what in "vp")
        moment = np.zeros(force.shape)
        for k, axis in enumerate(AXES):
            if f"m{axis}" in at:
                # Where there is no force there is no moment, whatever stands for it; at loaded samples _ground_force refuses it.
                column = table[:, at[f"m{axis}"]]
                moment[:, k] = np.where(np.isfinite(column) | force.any(axis=1), column, 0.0)
        plate = re.sub(r"^p(\d+)$", r"plate\1", stem)
        found.append(Wrench(plate, table[:, 0], force, point * factor, moment * factor))
    return found


def _read_storage(path: Path, units: str | None) -> tuple[list[Wrench], list[str]]:
    lines = _lines(path)
    end = next((k for k, line in enumerate(lines[:200], start=1) if line.strip().lower() == "endheader"), 0)
    rows = [(k, line.split()) for k, line in enumerate(lines[end:], start=end + 1) if line.strip()]
    names = rows.pop(0)[1] if rows else [""]
    if not end or names[0].lower() != "time":
        raise ModelError(
            f"{path.name}: not an OpenSim storage file, which has a line 'endheader' and below it column names from 'time' on"
        )
    told = re.search(r"(?im)^\s*(?:nrows|datarows)\s*[= ]\s*(\d+)", "\n".join(lines[:end]))
    if told and len(rows) < int(told[1]):
        raise ModelError(
            f"{path.name}: {len(rows)} rows where the header says {told[1]}; the file is cut short: export it again"
        )
    wrenches = _wrenches(path, names, _table(path, rows, len(names)), 1.0)
    return wrenches, [f"{path.name}: this format tells no units; taken as OpenSim has them: N, m, N m"]


def _read_force_csv(path: Path, units: str | None) -> tuple[list[Wrench], list[str]]:
    comments, header, rows = _read_csv_text(path)
    if header[0].lower() not in TIME:
        raise ModelError(f"{path.name}: its first column is '{header[0]}'; a CSV of forces begins with the column time")
    notes: list[str] = []
    table = _table(path, rows, len(header))
    factor, _ = _csv_told(path, comments, units, notes)
    return _wrenches(path, header, table, factor), notes


# One trial

MARKER_READERS: dict[str, Callable[[Path, str | None], Contents]] = {
    ".c3d": read_c3d,
    ".trc": _read_trc,
    ".csv": _read_marker_csv,
}
FORCE_READERS: dict[str, Callable[[Path, str | None], tuple[list[Wrench], list[str]]]] = {
    ".mot": _read_storage,
    ".sto": _read_storage,
    ".csv": _read_force_csv,
    ".c3d": read_c3d_forces,
}


def read(path: Path, *, forces: Path | None, up: str | None, units: str | None) -> Capture:
    """Read one trial; ``runtime.read_capture`` tells what the arguments mean and what is raised."""
    vertical = None if up is None else up.lstrip("+").lower()
    if vertical not in (None, *TURNS):
        raise ModelError(f"up = {up!r}; use one of {', '.join(TURNS)}")
    if units not in (None, *UNITS):
        raise ModelError(f"units = {units!r}; use 'mm', 'cm' or 'm', the unit of the positions")
    hint = ", which holds forces: give it as forces=" if path.suffix.lower() in FORCE_READERS else ""
    contents = _reader(path, MARKER_READERS, f"{hint}; markers")(path, units)
    if forces is None and not contents.wrenches:
        forces = _beside(contents)
    if forces is not None:
        read_forces = _reader(forces, FORCE_READERS, "; forces")
        if contents.wrenches:
            contents.notes.append(f"the force plates of {path.name} are left out for those of {forces.name}")
        contents.wrenches, notes = read_forces(forces, units)
        contents.notes += notes
    _take_meta(contents)
    return brought_to_talus(contents, vertical)


def _reader(path: Path, readers: Mapping[str, Reader], what: str) -> Reader:
    if path.suffix.lower() not in readers:
        raise ModelError(
            f"{path.name}: no reader for files that end with '{path.suffix}'{what} are read from {', '.join(readers)}"
        )
    if not path.exists():
        raise ModelError(f"{path}: no such file; check the name and the folder")
    if not path.is_file():
        raise ModelError(f"{path}: not a file; give the file of one trial")
    return readers[path.suffix.lower()]


def _beside(contents: Contents) -> Path | None:
    path = contents.path
    stem = path.stem.removesuffix("_markers")
    found = [path.with_name(stem + ending) for ending in FORCE_ENDINGS]
    found = [candidate for candidate in found if candidate.is_file() and candidate != path]
    if not found:
        return None
    others = f", and not from {', '.join(other.name for other in found[1:])}" if found[1:] else ""
    contents.notes.append(f"ground forces are read from {found[0].name} beside {path.name}{others}")
    return found[0]


def _take_meta(contents: Contents) -> None:
    """Take events, subject and feet from ``X_meta.json`` beside ``X_markers.csv``, where the file itself has none."""
    path = contents.path
    meta = path.with_name(path.stem.removesuffix("_markers") + "_meta.json")
    if not meta.is_file():
        return
    try:
        told = json.loads(meta.read_text(encoding="utf-8"))
        events = [(float(e["time"]), str(e["label"]), str(e["side"])) for e in told.get("events", [])]
        feet = {str(plate): side_of(str(value.get("foot") or "")) for plate, value in told.get("plates", {}).items()}

        def given(kind: type, key: str) -> Any:
            return None if told.get(key) is None else kind(told[key])

        subject = Subject(
            name=given(str, "subject"),
            mass=given(float, "mass_kg"),
            height=given(float, "height_m"),
            sex=given(str, "sex"),
            age=given(float, "age"),
        )
    except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
        raise ModelError(
            f"{meta.name}: cannot be read ({first_line(error)}); it must be JSON with events of time, label and side, mass_kg, "
            "height_m and plates with a foot each; correct it or move it away"
        ) from None
    taken = []
    if not contents.events and events:
        contents.events = [event for e in events if (event := gait_event(*e)) is not None]
        taken.append("events")
    if contents.subject == Subject():
        contents.subject = subject
        taken.append("subject")
    if any(feet.get(wrench.plate) for wrench in contents.wrenches):
        contents.wrenches = [wrench._replace(foot=feet.get(wrench.plate)) for wrench in contents.wrenches]
        taken.append("the feet on the plates")
    if taken:
        contents.notes.append(f"{', '.join(taken)} are read from {meta.name} beside {path.name}")
