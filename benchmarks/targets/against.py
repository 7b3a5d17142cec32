"""The figures of the targets beside those of an earlier commit, measured in turns on one machine.

Each group of targets runs in a process of its own, once of this checkout and once of the other, again and again, so that both
meet the same load.  The earlier commit measures with its own benchmarks, and with the files of targets of this checkout that it
lacks; figures are paired by what they are called.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, Answer, BenchmarkError, Say
from runtime.report import Report, Table

ROUNDS = 3
# Run in either checkout: the targets of one group as JSON.
PROGRAM = """
import importlib, json, sys
from dataclasses import asdict
module, name = sys.argv[1].split(".")
part = getattr(importlib.import_module(f"benchmarks.targets.{module}"), name)
quick = sys.argv[2] == "quick"
print(json.dumps([asdict(t) for t in part(quick, lambda line: None)]))
"""
Figures = dict[str, list[float]]  # measured values by what they are


def compare(commit: str, parts: list[Callable[..., object]], *, quick: bool, say: Say) -> Answer:
    """Measure the targets of this checkout and of a commit.

    Parameters
    ----------
    commit : str
        Any name that git knows, such as "HEAD~3" or the beginning of a digest.
    parts : list of functions
        Groups of targets of this checkout; those that the commit does not have are listed.

    Raises
    ------
    BenchmarkError
        Where git does not know the commit.
    """
    with tempfile.TemporaryDirectory() as folder:
        earlier = Path(folder) / "checkout"
        _extract(commit, earlier)
        places = {"here": (ROOT, dict(os.environ)), commit: (earlier, {**os.environ, "TALUS_CACHE_DIR": folder})}
        found: dict[str, Figures] = {place: {} for place in places}
        units: dict[str, str] = {}
        failed: list[str] = []
        rounds = 1 if quick else ROUNDS
        for part in parts:
            name = f"{part.__module__.split('.')[-1]}.{part.__name__}"
            for turn in range(rounds):
                for place, (root, environment) in places.items():
                    say(f"{name}, {turn + 1} of {rounds}: {place}")
                    rows = _measured(name, root, environment, quick)
                    if rows is None:
                        failed.append(f"{name} of {place}")
                        continue
                    for row in rows:
                        if row["measured"] is not None:
                            found[place].setdefault(row["what"], []).append(float(row["measured"]))
                            units[row["what"]] = row["unit"]
    return _answer(commit, found, units, list(dict.fromkeys(failed)))


def _extract(commit: str, folder: Path) -> None:
    """Write the files of a commit to a folder, with the files of targets that it lacks."""
    done = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True)
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip()
        raise BenchmarkError(f"--against {commit}: git has no such commit ({reason}); give one that `git log` lists")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    for file in Path(__file__).parent.glob("*.py"):
        if not (lacking := folder / file.relative_to(ROOT)).exists():
            shutil.copy(file, lacking)


def _measured(name: str, root: Path, environment: dict[str, str], quick: bool) -> list[dict[str, Any]] | None:
    """The targets of a group by the code of a checkout; None where it does not have the group or fails."""
    command = [sys.executable, "-c", PROGRAM, name, "quick" if quick else "whole"]
    done = subprocess.run(
        command, cwd=root, env={**environment, "PYTHONPATH": str(root)}, capture_output=True, text=True
    )
    if done.returncode or not done.stdout.strip():
        return None
    rows: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return rows


def _answer(commit: str, found: dict[str, Figures], units: dict[str, str], failed: list[str]) -> Answer:
    rows: list[list[Any]] = []
    slower: list[str] = []
    for what, values in found["here"].items():
        here, before = min(values), min(found[commit].get(what, []), default=None)
        ratio = here / before if before is not None and before > 0.0 else None
        rows.append([what, here, before, units[what], ratio])
        if ratio is not None and ratio > 1.05:
            slower.append(f"{what} ({ratio:.2f})")
    rows.sort(key=lambda row: -(row[-1] or 0.0))
    note = "Least of the rounds; ratio: here to earlier, below 1 is better."
    note += f" Not measured: {', '.join(failed)}." if failed else ""
    answer = f"{len(slower)} of {len(rows)} figures are more than 5 % above those of {commit}"
    answer += f": {'; '.join(slower)}." if slower else "."
    table = Table("against", ["what", "here", "earlier", "unit", "ratio"], rows, note)
    return Answer(Report(f"Targets against {commit}", [table], answer=answer))
