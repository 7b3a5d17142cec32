"""A mechanism from its JSON file: bodies, joints, forces and drivers, reference motion, and the measure of errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import BenchmarkError
from runtime.support.arrays import Floats

FOLDER = Path(__file__).parent
NAMES = (
    "simple_pendulum", "heavy_top", "adams_spherical", "slider_crank_iftomm", "bricard_brick", "nfourbar_2",
    "andrews_iftomm", "flyball_stiff",
)  # fmt: skip
QUATERNION, TIME = "quat", "time"


@dataclass(frozen=True)
class Problem:
    """A mechanism with its reference motion.

    ``data`` is the content of the JSON file; ``t`` (n,) [s] and ``reference`` (n,) each, by column, are the reference.
    """

    data: Mapping[str, Any]
    t: Floats
    reference: Mapping[str, Floats]

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.data["name"])

    @property
    def columns(self) -> tuple[Mapping[str, Any], ...]:
        """The columns of the reference but the time: each a mapping with name, kind, unit and what the kind needs."""
        return tuple(column for column in self.data["outputs"]["columns"] if column["kind"] != TIME)

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that decide about the error."""
        return tuple(self.data["acceptance"]["key"])

    @property
    def good(self) -> float:
        """The error of the key columns below which a solution counts as good."""
        return float(self.data["acceptance"]["good"])

    @property
    def reactions(self) -> Mapping[str, float]:
        """Limits of the error of reactions, by column."""
        limits = self.data["acceptance"].get("reactions", {})
        named = [(c["name"], start) for c in self.columns for start in limits if _belongs(c["name"], start)]
        return {name: float(limits[start]) for name, start in named}


def _belongs(column: str, name: str) -> bool:
    """Whether a column is the named quantity or one of its components."""
    return column == name or column in {f"{name}_{axis}" for axis in "xyz"}


def read(file: str | Path) -> Problem:
    """Read a problem; its reference is in the same file, or in a CSV file beside it.

    Raises
    ------
    BenchmarkError
        Naming the file and what is wrong with it.
    """
    file = Path(file)
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        reference = data["reference"]
        beside = file.with_name(reference["file"]) if "file" in reference else None
        table = reference["columns"] if beside is None else _table(beside)
        series = {name: np.array(values, float) for name, values in table.items()}
        (time,) = (c["name"] for c in data["outputs"]["columns"] if c["kind"] == TIME)
        problem = Problem(data, series.pop(time), series)
        lost = [c["name"] for c in problem.columns if c["name"] not in series]
    except OSError as error:
        raise BenchmarkError(f"{error.filename}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise BenchmarkError(f"{file}: no problem file, {type(error).__name__} {error}") from None
    if lost:
        raise BenchmarkError(f"{file}: the reference lacks {', '.join(lost)}")
    return problem


def _table(file: Path) -> dict[str, Floats]:
    """Columns of a CSV file by name; lines that begin with "#" are comments."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    names = lines[0].split(",")
    values = np.array([[float(cell) for cell in line.split(",")] for line in lines[1:]])
    return dict(zip(names, values.T, strict=True))


def shipped(name: str) -> Problem:
    """One of the problems in this folder."""
    return read(FOLDER / f"{name}.json")


def errors(problem: Problem, found: Mapping[str, Floats]) -> dict[str, float]:
    """The largest absolute difference of each column from the reference.

    Parameters
    ----------
    problem : Problem
    found : mapping from columns to arrays (m,)
        At the first m times of the reference; the sign of Euler parameters is arbitrary.
    """
    count = len(next(iter(found.values())))
    signs = _signs(problem, found, count)
    return {
        c["name"]: float(np.abs(signs.get(c["name"], 1.0) * found[c["name"]] - problem.reference[c["name"]][:count]).max())
        for c in problem.columns
        if c["name"] in found
    }  # fmt: skip


def _signs(problem: Problem, found: Mapping[str, Floats], count: int) -> dict[str, Floats]:
    """For the columns of Euler parameters: the sign (m,) with which those of each body are closest to the reference."""
    bodies: dict[str, list[str]] = {}
    for c in problem.columns:
        if c["kind"] == QUATERNION and c["name"] in found:
            bodies.setdefault(c["body"], []).append(c["name"])
    signs = {}
    for names in bodies.values():
        product = sum(found[name] * problem.reference[name][:count] for name in names)
        signs |= dict.fromkeys(names, np.where(np.asarray(product) < 0.0, -1.0, 1.0))
    return signs
