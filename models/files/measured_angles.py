"""Reads measured coordinates of joints from tables: motions of OpenSim (.mot, .sto) and .csv, as runs write them or others do."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from models.files.description import Floats
from models.files.storage import LARGEST, read_storage
from runtime import ModelError, System
from runtime.support import checked, named, read_file, shortened
from runtime.system import coordinate_units

# Units in the header of a column, such as "flexion [deg]" -> factor, and the unit of the quantity.
UNITS = {
    "rad": (1.0, "rad"), "deg": (np.pi / 180.0, "rad"), "°": (np.pi / 180.0, "rad"), "degrees": (np.pi / 180.0, "rad"),
    "m": (1.0, "m"), "cm": (1e-2, "m"), "mm": (1e-3, "m"),
    "rad/s": (1.0, "rad/s"), "deg/s": (np.pi / 180.0, "rad/s"), "°/s": (np.pi / 180.0, "rad/s"),
    "m/s": (1.0, "m/s"), "cm/s": (1e-2, "m/s"), "mm/s": (1e-3, "m/s"),
}  # fmt: skip
WITH_UNIT = re.compile(r"(.*?)\s*[\[(]([^\])]*)[\])]\s*")
MOST_LISTED = 20  # columns in a message


class MeasuredAngles(NamedTuple):
    """Coordinates of joints, and their rates, over time.

    ``t`` (m,) [s]; ``data``: name, such as "angle.ankle.theta_i", -> values (m,) [rad], [m], [rad/s] or [m/s], NaN where there is
    none; as ``fit_parameters`` takes them.
    """

    t: Floats
    data: dict[str, Floats]


@dataclass(frozen=True)
class _Table:
    file: Path
    t: Floats
    columns: Mapping[str, Floats]
    units: Mapping[str, str]  # of columns whose header has one
    in_degrees: bool | None  # None: the file does not say


@checked
def read_angles(
    file: str | Path, system: System, *, names: Mapping[str, str] | None = None, in_degrees: bool | None = None
) -> MeasuredAngles:
    """Read coordinates of the joints of a system, and their rates, from a table over time.

    Parameters
    ----------
    file : path
        .mot or .sto of OpenSim; else comma-separated values with a line of names, such as "time,ankle.theta_i [deg]", in which an
        empty cell is no value.
    system : System
    names : mapping, optional
        Quantity -> column, such as ``{"angle.ankle.theta_i": "ankle_angle_r"}``, where columns have other names than those that
        ``Run.to_mot``, ``to_sto`` and ``to_csv`` write.
    in_degrees : bool, optional
        Whether angles are in degrees, where neither the header of the file nor that of the column says so.

    Returns
    -------
    MeasuredAngles
        ``t, data``; angles in rad, as far as the file has coordinates of the system.

    Raises
    ------
    ModelError
        For a malformed file, one without coordinates of the system, columns that do not exist, and angles without a unit.
    """
    path = Path(file)
    table = _storage(path) if path.suffix.lower() in (".mot", ".sto") else _csv(path)
    known = coordinate_units(system)
    chosen = _named(table, names, known) if names else _found(table, known)
    if not chosen:
        example = next(iter(known), "angle.JOINT.COORDINATE")
        raise ModelError(
            f"{path.name}: no column is a coordinate of system '{system.name}' ({', '.join(known) or 'it has none'}); the "
            f"columns are {_listed(table)}; give names={{'{example}': 'COLUMN'}}"
        )
    return MeasuredAngles(
        table.t,
        {
            name: table.columns[column] * _factor(table, column, known[name], in_degrees)
            for name, column in chosen.items()
        },
    )


def _found(table: _Table, known: Mapping[str, str]) -> dict[str, str]:
    """Columns by the quantities of which they have the name in one of the files of runs."""
    found: dict[str, str] = {}
    for name in known:
        part, _, owner = name.partition(".")
        end = "" if part == "angle" else "_rate"
        for column in (name, owner + end, owner.replace(".", "/") + end, owner.replace(".", "_") + end):
            if column in table.columns:
                found[name] = column
                break
    return found


def _named(table: _Table, names: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """The columns that are named, if they and the quantities exist."""
    whose = table.file.name
    quantities = named("coordinate", known)
    columns = named(f"column of {whose}", table.columns, f"columns of {whose}")
    for name, column in names.items():
        _ = quantities[name], columns[column]  # refuse names that do not exist
    return dict(names)


def _listed(table: _Table) -> str:
    listed = [shortened(name) for name in table.columns]
    return ", ".join(listed[:MOST_LISTED]) + (
        f" and {len(listed) - MOST_LISTED} more" if len(listed) > MOST_LISTED else ""
    )


def _factor(table: _Table, column: str, unit: str, in_degrees: bool | None) -> float:
    """The factor from the values of a column to the unit of its quantity."""
    if stated := table.units.get(column):
        factor, own = UNITS.get(stated, (0.0, ""))
        if own != unit:
            able = ", ".join(key for key, (_, of) in UNITS.items() if of == unit)
            raise ModelError(f"{table.file.name}: column '{column}' is in [{stated}]; give one of {able}")
        return factor
    if not unit.startswith("rad"):
        return 1.0
    degrees = table.in_degrees if table.in_degrees is not None else in_degrees
    if degrees is None:
        raise ModelError(
            f"{table.file.name}: the unit of the angles in column '{column}' is not stated; give in_degrees=True or False"
        )
    if in_degrees is not None and in_degrees is not degrees:
        raise ModelError(
            f"{table.file.name}: in_degrees={in_degrees}, but the header says {'degrees' if degrees else 'radians'}; leave it out"
        )
    return float(np.pi / 180.0) if degrees else 1.0


def _storage(path: Path) -> _Table:
    found = read_storage(path)
    return _Table(path, found.t, found.columns, {}, found.in_degrees if found.states_unit else None)


def _csv(path: Path) -> _Table:
    try:
        lines = read_file(path, LARGEST, smaller="cut it into parts").decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ModelError(
            f"{path.name}: cannot be read (no UTF-8 text); give .mot, .sto or comma-separated values"
        ) from None
    rows = [row for row in csv.reader(lines) if row]
    if len(rows) < 2:
        raise ModelError(f"{path.name}: has no rows of values; give a line of names and a row for each time")
    names, units = [], {}
    for text in rows[0]:
        match = WITH_UNIT.fullmatch(text)
        names.append(match[1].strip() if match else text.strip())
        if match:
            units[names[-1]] = match[2].strip()
    if names[0].lower() not in ("time", "t") or units.get(names[0], "s") != "s":
        raise ModelError(f"{path.name}: the first column is '{shortened(rows[0][0])}'; it must be 'time' in s")
    if double := [name for n, name in enumerate(names) if name in names[:n]]:
        raise ModelError(f"{path.name}: column '{shortened(double[0])}' exists twice; names must differ")
    values = np.array([_numbers(path, n, row, names) for n, row in enumerate(rows[1:], 2)])
    t = values[:, 0]
    if not np.isfinite(t).all() or (np.diff(t) <= 0.0).any():
        n = int(np.argmin(np.isfinite(t) & (np.diff(t, prepend=-np.inf) > 0.0)))
        raise ModelError(f"{path.name}, row {n + 2}: time '{rows[n + 1][0]}'; times must be finite and increase")
    return _Table(path, t, dict(zip(names[1:], values[:, 1:].T.copy(), strict=True)), units, None)


def _numbers(path: Path, number: int, row: list[str], names: list[str]) -> list[float]:
    if len(row) != len(names):
        raise ModelError(f"{path.name}, row {number}: {len(row)} values for {len(names)} columns; give one for each")
    try:
        return [float(cell) if cell.strip() else np.nan for cell in row]
    except ValueError as error:
        raise ModelError(
            f"{path.name}, row {number}: {error}; give numbers, and empty cells where there is none"
        ) from None
