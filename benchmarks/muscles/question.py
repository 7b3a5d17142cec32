"""Static optimisation of a walk of opensim-core with a spring at the ankle: agreement with OpenSim's tool, and time.

The files are no part of the repository: those of ``../shared/opensim/muscles`` beside it, or of the folder that is given.  Both
programs do the same work: motion and loads are read, moments by inverse dynamics, activations, files written; the model is read
before.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import models
from benchmarks.files.question import version_of
from benchmarks.measure import ROOT, Answer, BenchmarkError, Say
from models import walking
from models.files import read_storage
from models.walking import MuscleForces
from runtime.report import Report, Table

DATA = ROOT.parent / "shared" / "opensim" / "muscles"
SETUP = "staticoptimization_spring_Setup.xml"
MODEL, MOTION, LOADS = "subject01_adjusted_spring.osim", "walk_subject01_Kinematics_q.sto", "externalForces.xml"
FILES = (SETUP, MODEL, MOTION, LOADS, "subject01_walk1_grf.mot", "gait10dof_Actuators_weak.xml")
RESULT = "walk_subject01_ankle_spring_StaticOptimization_activation.sto"
RECORDED = f"std_{RESULT}"  # by OpenSim's developers
INTERVALS = (10, 1)  # rows of the motion for each frame: those of the setup, and all
REPEATS = 3


class OpenSim:
    """A process in which OpenSim's tool runs, in a folder with copies of the files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [sys.executable, str(Path(__file__).with_name("opensim_process.py"))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, interval: int) -> float:
        """Time of the tool [s]; its files lie in the folder of this name."""
        assert self.process.stdin is not None and self.process.stdout is not None
        text = (self.folder / SETUP).read_text()
        for tag, value in (("step_interval", interval), ("results_directory", f"every_{interval}")):
            text = re.sub(f"<{tag}>.*?<", f"<{tag}>{value}<", text)
        setup = self.folder / f"every_{interval}.xml"
        setup.write_text(text)
        self.process.stdin.write(f"{setup}\n")
        self.process.stdin.flush()
        try:
            return float(self.process.stdout.readline())
        except ValueError:
            raise BenchmarkError("the tool of OpenSim failed") from None

    def result(self, interval: int) -> Any:
        """Activations of the last run."""
        return read_storage(self.folder / f"every_{interval}" / RESULT)

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def ask(*, quick: bool, say: Say, files: Sequence[str] = ()) -> Answer:
    """Measure the walk in a folder."""
    data = Path(files[0]) if files else DATA
    if missing := [name for name in (*FILES, RECORDED) if not (data / name).is_file()]:
        raise BenchmarkError(f"{data}: has no {', '.join(missing)}; give a folder with these files of opensim-core")
    if find_spec("opensim") is None:
        raise BenchmarkError("opensim is not installed; pip install opensim")
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in FILES:
            shutil.copy(data / name, folder)
        program = OpenSim(folder)
        try:
            costs = []
            for interval in INTERVALS[: 1 if quick else None]:
                costs += _costs(folder, program, interval, 1 if quick else REPEATS, say)
            agreement = _agreement(folder, program, read_storage(data / RECORDED))
        finally:
            program.close()
    note = (
        f"Processor time of one core, the median and the least of {1 if quick else REPEATS} runs that alternate.  The ratio is "
        "that of the medians.  Model read before; motion and loads read, inverse dynamics, static optimisation, files written."
    )
    of_agreement = (
        "Root mean square of the differences of activations, by muscle the largest one: from OpenSim's tool in this run, and "
        "from its result that opensim-core keeps.  With as_opensim=True muscles of Millard et al. pull without the cosine of the "
        "pennation angle, as in OpenSim's static optimisation."
    )
    versions = Table("versions", ["program", "version"], [[n, version_of(n)] for n in ("talus-multibody", "opensim")])
    columns = ["frames", "program", "median [s]", "least [s]", "OpenSim's median by this"]
    tables = [
        Table("cost", columns, costs, note),
        Table("agreement", ["cosine", "this run [1]", "recorded [1]"], agreement, of_agreement),
        versions,
    ]
    return Answer(Report("Static optimisation of a walk beside OpenSim's tool", tables), {})


def _costs(folder: Path, program: OpenSim, interval: int, repeats: int, say: Say) -> list[list[Any]]:
    """Rows of both programs, and of the parts of Talus."""
    reading, stages = models.read(folder / MODEL), ("moments", "muscles", "files")
    times: dict[str, list[float]] = {name: [] for name in ("OpenSim", "Talus", *(f"Talus: {one}" for one in stages))}
    for n in range(repeats):
        say(f"every row {interval}, run {n + 1} of {repeats}")
        times["OpenSim"].append(program.seconds(interval))
        frames = program.result(interval).t
        spent = _spent(
            frames,
            lambda t: walking.inverse_dynamics_of_trial(
                reading, folder / MOTION, folder / LOADS, cutoff=None, t_eval=t
            ),
            lambda trial: walking.static_optimisation(reading, trial, as_opensim=True),
            lambda found: found.to_sto(folder, "own", overwrite=True),
        )
        times["Talus"].append(sum(spent))
        for name, seconds in zip(stages, spent, strict=True):
            times[f"Talus: {name}"].append(seconds)
    reference = np.median(times["OpenSim"])
    medians = {name: float(np.median(of)) for name, of in times.items()}
    return [[len(frames), name, medians[name], min(of), reference / medians[name]] for name, of in times.items()]


def _spent(found: Any, *stages: Callable[[Any], Any]) -> list[float]:
    """Processor time of each stage [s], which gets what the one before returned, the first one what is given."""
    spent = []
    for stage in stages:
        begin = time.process_time()
        found = stage(found)
        spent.append(time.process_time() - begin)
    return spent


def _agreement(folder: Path, program: OpenSim, recorded: Any) -> list[list[Any]]:
    """A row with and one without the cosine of the pennation angle."""
    reading, now = models.read(folder / MODEL), program.result(INTERVALS[0])
    rows = []
    for as_opensim in (True, False):
        row: list[Any] = ["left out" if as_opensim else "counts"]
        for of in (now, recorded):
            trial = walking.inverse_dynamics_of_trial(
                reading, folder / MOTION, folder / LOADS, cutoff=None, t_eval=of.t
            )
            row.append(_largest(walking.static_optimisation(reading, trial, as_opensim=as_opensim), of))
        rows.append(row)
    return rows


def _largest(found: MuscleForces, of: Any) -> float:
    """Largest root mean square of the differences of a muscle's activations."""
    return max(float(np.sqrt(np.mean((a - of.columns[name]) ** 2))) for name, a in found.activations.items())
