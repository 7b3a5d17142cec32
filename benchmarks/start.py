"""Time from an edit, an installation or a new process to a first result.

Every program runs in a process of its own, on a copy of the packages with a cache folder of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import ROOT, Answer, BenchmarkError, Say
from runtime.report import Report, Table

PACKAGES = ("codegen", "generated", "runtime", "models")
FOOT = "import runtime, models; print(runtime.simulate(models.foot.build(), 5.0).energy[-1])"
NEXT = {
    "linearisation": "import runtime, models; print(runtime.linearisation(models.foot.build()).displacement[0, 0])",
    "sensitivities": "import runtime, models; "
    "print(runtime.sensitivities(models.foot.build, {'link_length': 0.0417}, 0.3, t_eval=[0.3]).r['toes'][0, 0, 0])",
    "inverse dynamics": "import numpy as np, runtime, models; "
    "runtime.inverse_dynamics(models.walking.synthetic.build(), np.linspace(0.1, 0.2, 5))",
}
BALL_ON_A_SLOPE = """
import numpy as np, runtime

b = runtime.Builder("ball on a slope", gravity=(0, 0, -9.81))
b.body("ball", mass=1.0, inertia=(4e-4, 4e-4, 4e-4), r=(0.0, 0.0, 0.06), free=True)
b.contact(
    "slope", "ball", centre=(0, 0, 0), radius=0.05, normal=(np.sin(0.2), 0, np.cos(0.2)), law="hunt_crossley",
    stiffness=1e5, exponent=1.5, loss=0.5, friction="smooth", mu_c=0.5, mu_d=0.0,
)
run = runtime.simulate(b.build(), 0.5, method="radau")
assert run.success, run.message
print(run.energy[-1])
"""
FIRST_RESULTS = {
    "foot": FOOT,
    "pendulum with limits": "import runtime, models; s = models.pendulum.build('spherical', limits='elastic', "
    "omega=(0, 3, 1)); print(runtime.simulate(s, 5.0).energy[-1])",
    "ball on a slope, radau": BALL_ON_A_SLOPE,
    "foot on the ground, radau": "import models, runtime; "
    "print(runtime.simulate(models.foot_ground.build(), 0.05, method='radau').energy[-1])",
    "chain of 100": "import runtime, models; print(runtime.simulate(models.chain.build(100), 0.01).energy[-1])",
}
COMMAND = ("-c", "from runtime.cli import main; main()")
EDIT = ("codegen/joints.py", '"link_length": d.dot(d) - l**2', '"link_length": 2 * d.dot(d) - 2 * l**2')
OWN_JOINT = """
import time, runtime, models
from codegen import compile_joint

def rod(r_i, s_i, r_j, s_j, l):
    \"\"\"Points at the distance l.  l [m].\"\"\"
    d = r_j + s_j - r_i - s_i
    return {"distance": d.dot(d) - l**2}

begin = time.perf_counter()
b = runtime.Builder("rod", gravity=(0, 0, -9.81))
b.body("ball", mass=1.0, inertia=(1, 1, 1), r=(0.5, 0.0, 0.0))
b.joint("rod", compile_joint(rod), "ground", "ball", s_i=(0, 0, 0), s_j=(0, 0, 0), l=0.5)
b.build()
print(time.perf_counter() - begin)
"""


@dataclass(frozen=True)
class Duration:
    """One duration [s], and what it is to be."""

    what: str
    limit: float
    measured: float


class Copy:
    """The packages in a folder of their own, with caches beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for package in PACKAGES:
            shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)

    def run(self, cache: str, *arguments: str) -> tuple[float, str]:
        """Duration of a Python process [s], and what it prints.

        Raises
        ------
        BenchmarkError
        """
        environment = os.environ | {"PYTHONPATH": str(self.folder), "TALUS_CACHE_DIR": str(self.folder / cache)}
        begin = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        took = time.perf_counter() - begin
        if done.returncode != 0:
            raise BenchmarkError(f"{arguments[-1][:60]} failed: {done.stderr.strip().splitlines()[-1:]}")
        return took, done.stdout


def ask(*, quick: bool, say: Say) -> Answer:
    """Measure every start once, those of warm processes three times; ``quick``: warm processes only."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        durations = []
        for duration in _durations(copy, quick):
            say(f"{duration.what}: {duration.measured:.2f} of {duration.limit:g} s")
            durations.append(duration)
    rows = [[d.what, d.limit, d.measured, "yes" if d.measured <= d.limit else "no"] for d in durations]
    note = "Each in a process of its own; first starts once, with an empty cache; warm processes the least of three."
    report = Report("From an edit, an installation or a new process to a first result")
    report.tables.append(Table("starts", ["what", "limit [s]", "measured [s]", "reached"], rows, note))
    return Answer(report)


def _durations(copy: Copy, quick: bool) -> Iterator[Duration]:
    if not quick:
        for name, program in FIRST_RESULTS.items():
            yield Duration(
                f"empty cache to the first result: {name}", 12.0, copy.run(f"cache {name}", "-c", program)[0]
            )
        for name, program in NEXT.items():
            yield Duration(f"first {name} after the foot", 5.0, copy.run("cache foot", "-c", program)[0])
    copy.run("cache foot", "-c", FOOT)
    yield from _warm(copy)
    if not quick:
        yield from _own_joint(copy)
        yield from _edit(copy)
        for which, limit in (("first", 30.0), ("second", 5.0)):
            command = (*COMMAND, "ankle", "--out", str(copy.folder / which))
            yield Duration(f"{which} talus ankle", limit, copy.run("cache ankle", *command)[0])


def _warm(copy: Copy) -> Iterator[Duration]:
    """Processes whose machine code is in the cache."""
    programs = {
        "import runtime": (0.5, ("-c", "import runtime")),
        "first result of the foot": (0.9, ("-c", FOOT)),
        "talus --help": (0.3, (*COMMAND, "--help")),
    }
    for name, (limit, arguments) in programs.items():
        yield Duration(f"warm process, {name}", limit, min(copy.run("cache foot", *arguments)[0] for _ in range(3)))


def _own_joint(copy: Copy) -> Iterator[Duration]:
    """A joint of the user's, from its definition until the system is built."""
    study = copy.folder / "study.py"
    study.write_text(OWN_JOINT, encoding="utf-8")
    for which, limit in (("first", 4.0), ("second", 1.0)):
        yield Duration(f"own joint, {which} process, until built", limit, float(copy.run("cache foot", str(study))[1]))


def _edit(copy: Copy) -> Iterator[Duration]:
    """An edit of the modified universal joint, regeneration, and the runs after it."""
    yield Duration("python -m codegen, nothing changed", 1.0, copy.run("cache foot", "-m", "codegen")[0])
    file, before, after = copy.folder / EDIT[0], *EDIT[1:]
    text = file.read_text(encoding="utf-8")
    if before not in text:
        raise BenchmarkError(f"{EDIT[0]} has no {before!r}; adapt benchmarks/start.py")
    file.write_text(text.replace(before, after), encoding="utf-8")
    regenerated = copy.run("cache foot", "-m", "codegen")[0]
    yield Duration("python -m codegen after an edit of one joint", 3.0, regenerated)
    yield Duration("the first run of the foot after it", 7.0, copy.run("cache foot", "-c", FOOT)[0])
    models_made = copy.run("cache foot", "-m", "codegen", "--models")[0]
    run = copy.run("cache foot", "-c", FOOT)[0]
    yield Duration(
        "edit, regeneration with whole-model kernels, run, all in all", 12.0, regenerated + models_made + run
    )
