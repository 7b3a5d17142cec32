"""Landings of OpenSim models from their start, muscles and controllers off: agreement with OpenSim, and time at equal error."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import models
import runtime
from benchmarks.files.question import version_of
from benchmarks.measure import Answer, BenchmarkError, Say, succeeded
from runtime import GROUND, Run, System
from runtime.report import Report, Table
from runtime.support.arrays import Floats

END = 0.4  # [s]
TIMES = np.linspace(0.0, END, 41)[1:]
WANTED, SAME = 1e-6, 1e-9  # [m]
EXACT, EXACT_OPENSIM = 1e-12, 1e-12
TOLERANCES, ACCURACIES = [10.0**-n for n in range(3, 11)], [10.0**-n for n in range(3, 10)]
REPEATS, REPEATS_OPENSIM = 10, 3
CASES, SPREAD = 64, 0.05  # of gravity among the cases of a batch


@dataclass(frozen=True)
class Found:
    """A run: origins of the bodies by name, (times, 3) [m], and its time [s] of one processor."""

    positions: dict[str, Floats]
    seconds: float


class OpenSim:
    """A process in which OpenSim integrates a model."""

    def __init__(self, file: Path, *how: str) -> None:
        program = Path(__file__).with_name("opensim_process.py")
        command = [sys.executable, str(program), str(file), *how]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, accuracy: float) -> Found:
        """Integrate from the start."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps({"accuracy": accuracy, "times": TIMES.tolist()}) + "\n")
        self.process.stdin.flush()
        if not (line := self.process.stdout.readline()):
            raise BenchmarkError("OpenSim ended without an answer")
        answer = json.loads(line)
        return Found({name: np.array(of) for name, of in answer["positions"].items()}, answer["seconds"])

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def ask(*, quick: bool, say: Say, files: Sequence[str] = ()) -> Answer:
    """Measure the given files."""
    if not files:
        raise BenchmarkError("give .osim files with contacts, such as ToyLandingModel.osim of opensim-models")
    if find_spec("opensim") is None:
        raise BenchmarkError("opensim is not installed; pip install opensim")
    agreement, costs = [], []
    for path in map(Path, files):
        say(path.name)
        rows = _measured(path, quick)
        agreement.append(rows[0])
        costs += rows[1:]
    columns = ["file", "degrees of freedom", "contacts", "difference [m]", "until [s]", "before [m]", "separate [m]"]
    of_agreement = (
        f"Largest distance of the origins of all bodies between Talus at {EXACT:g} and OpenSim at {EXACT_OPENSIM:g} in "
        f"{END:g} s; the last time at which they differ by less than {SAME:g} m, and the largest distance up to it; with a "
        "HuntCrossleyForce for each sphere in OpenSim, which leaves out all later contacts of a force where one would pull."
    )
    of_cost = (
        f"First setting with an error below {WANTED:g} m against the program's own exact run, and the least time of {REPEATS} "
        f"runs ({REPEATS_OPENSIM} of OpenSim) on one core. Of a batch: a case of {CASES}, with gravity changed by up to "
        f"{SPREAD:.0%}."
    )
    versions = Table("versions", ["program", "version"], [[n, version_of(n)] for n in ("talus-multibody", "opensim")])
    tables = [
        Table("agreement", columns, agreement, of_agreement),
        Table("cost", ["file", "program", "setting", "error [m]", "time [ms]", "ratio"], costs, of_cost),
        versions,
    ]
    times, ratios = ([row[k] for row in costs if row[1] == "Talus"] for k in (4, 5))
    answer = (
        f"Trajectories of {END:g} s agree within {max(row[-1] for row in agreement):.1g} m, where OpenSim has a force of its own "
        f"for each sphere.  At equal error a landing takes Talus {min(times):.0f} to {max(times):.0f} ms on one core, and "
        f"OpenSim {min(ratios):.0f} to {max(ratios):.0f} times as long."
    )
    return Answer(Report("Landings of OpenSim models", tables, answer=answer), {})


def _measured(path: Path, quick: bool) -> list[list[Any]]:
    """The row of agreement, then those of cost."""
    system = models.read(path).build()
    moving = [frame.name for frame in system.frames if frame.body != GROUND]
    names = [name.removesuffix("_origin") for name in moving if name.endswith("_origin")]

    def own(tolerance: float) -> Found:
        begin = time.process_time()
        run = runtime.simulate(system, END, t_eval=TIMES, rtol=tolerance, atol=tolerance, progress=False)
        seconds = time.process_time() - begin
        return Found(_origins(system, succeeded(run, path.name), names), seconds)

    exact = own(EXACT)
    separate, whole = OpenSim(path, "separate"), OpenSim(path)
    of_opensim = whole.run(EXACT_OPENSIM)
    differences = distances(exact, of_opensim)
    late = np.flatnonzero(differences > SAME)
    until = int(late[0]) if len(late) else len(TIMES)
    agreement = [
        path.name, system.degrees_of_freedom, len(system.contacts), differences.max(), TIMES[until - 1] if until else 0.0,
        differences[:until].max(initial=0.0), distances(exact, separate.run(EXACT_OPENSIM)).max(),
    ]  # fmt: skip
    repeats = 1 if quick else REPEATS
    rows = [
        ["Talus", *_first(own, TOLERANCES, exact, repeats)],
        ["OpenSim", *_first(whole.run, ACCURACIES, of_opensim, min(repeats, REPEATS_OPENSIM))],
    ]
    for program in (separate, whole):
        program.close()
    rows.append(["Talus, in a batch", rows[0][1], None, 1e3 * _batch(system, float(rows[0][1]), 8 if quick else CASES)])
    return [agreement, *([path.name, *row, rows[1][3] / row[3]] for row in rows)]


def _origins(system: System, run: Run, names: Iterable[str]) -> dict[str, Floats]:
    """Origins of bodies of the file, by the frames of the system."""
    frames = {frame.name: frame for frame in system.frames}
    chosen = {name: frames[f"{name}_origin"] for name in names}
    return {name: run.r[one.body] + run.rotations(one.body) @ one.s for name, one in chosen.items()}


def distances(one: Found, other: Found) -> Floats:
    """Largest distance of the origins of common bodies at each time [m]."""
    common = one.positions.keys() & other.positions.keys()
    apart = [np.linalg.norm(one.positions[name] - other.positions[name], axis=1) for name in common]
    return np.max(apart, axis=0)  # type: ignore[no-any-return]


def _first(run: Callable[[float], Found], settings: Sequence[float], exact: Found, repeats: int) -> list[float]:
    """The first setting that is exact enough, its error, and its least time [ms]."""
    setting, error = settings[-1], np.inf
    for setting in settings:
        error = distances(run(setting), exact).max()
        if error < WANTED:
            break
    return [setting, error, 1e3 * min(run(setting).seconds for _ in range(repeats))]


def _batch(system: System, tolerance: float, cases: int) -> float:
    """Time of a case [s] in a batch on one core."""
    gravity = np.linspace(1.0 - SPREAD, 1.0 + SPREAD, cases)[:, None] * system.gravity
    best = np.inf
    for _ in range(2):  # the first may compile
        begin = time.process_time()
        many = runtime.simulate_many(
            system, {"gravity": gravity}, END, rtol=tolerance, atol=tolerance, workers=1, progress=False
        )
        best = min(best, (time.process_time() - begin) / cases)
    if not many.success:
        raise BenchmarkError("a landing of the batch failed")
    return best
