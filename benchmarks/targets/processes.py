"""Time of new processes: compilation of a whole-model kernel, start of Python up to a first result, regeneration."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import ROOT, BenchmarkError, Say, seconds
from benchmarks.start import PACKAGES
from benchmarks.targets.target import Target

COMPILE = """
import time, models
from runtime.system.workspaces import workspace
system = models.foot.build()
begin = time.perf_counter()
workspace(system)
print(time.perf_counter() - begin)
"""
START = "import runtime, models; runtime.simulate(models.foot.build(), 5.0).energy"


def compilation(quick: bool, say: Say) -> Iterator[Target]:
    """Whole-model kernel of the modified foot, compiled and from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TALUS_CACHE_DIR": folder}
        durations = []
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "-c", COMPILE], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
            )
            durations.append(float(done.stdout))
    how = "workspace(system): module, constants and machine code, in a new process"
    yield Target("whole-model kernel, first compile", durations[0], 15.0, "s", f"{how}, empty cache")
    yield Target("whole-model kernel, from the cache", durations[1], 0.5, "s", f"{how}, once compiled")


def start(quick: bool, say: Say) -> Iterator[Target]:
    """A new process up to the end of its first simulation."""
    command = f'python -c "{START}"'
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        if quick:
            yield Target("first start", None, 60.0, "s", "left out by --quick")
        else:
            environment["TALUS_CACHE_DIR"] = folder
            say("first start: everything compiles")
            first = seconds({"first": lambda: _child([sys.executable, "-c", START], ROOT, environment)}, 1)["first"]
            yield Target(
                "first start", float(first[0]), 60.0, "s", f"{command}, empty cache folder TALUS_CACHE_DIR, once"
            )
        later = seconds({"later": lambda: _child([sys.executable, "-c", START], ROOT, environment)}, 2 if quick else 7)[
            "later"
        ]
        yield Target(
            "second start", float(later.min()), 2.5, "s", f"{command}, cache warm, process start included",
            float(np.median(later)),
        )  # fmt: skip


def regeneration(quick: bool, say: Say) -> Iterator[Target]:
    """All definitions, in a copy of the sources without ``generated``."""
    if quick:
        yield Target("python -m codegen", None, 15.0, "s", "left out by --quick")
        yield Target("python -m codegen --models", None, 60.0, "s", "left out by --quick")
        return
    say("regenerating all kernels in a copy")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "codegen", copy / "codegen", ignore=shutil.ignore_patterns("__pycache__"))
        took = seconds({"codegen": lambda: _child([sys.executable, "-m", "codegen"], copy, dict(os.environ))}, 1)[
            "codegen"
        ]
        made = {file.name: file.read_bytes() for file in (copy / "generated").glob("*.py")}
    committed = {file.name: file.read_bytes() for file in (ROOT / "generated").glob("*.py")}
    same = "the same as" if made == committed else "NOT the same as"
    yield Target(
        "python -m codegen", float(took[0]), 15.0, "s",
        f"in a copy without generated/, once; its {len(made)} files are {same} those in use",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for package in PACKAGES:
            shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__", "whole"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        models = [sys.executable, "-m", "codegen", "--models"]
        environment = {**os.environ, "TALUS_CACHE_DIR": str(copy / "cache")}  # an empty one
        took = seconds({"models": lambda: _child(models, copy, environment)}, 1)["models"]
        count = len(list((copy / "generated" / "whole").glob("*.py")))
    yield Target(
        "python -m codegen --models", float(took[0]), 60.0, "s",
        f"in a copy without generated/whole, empty cache, once, to {count} files; all other kernels are up to date",
    )  # fmt: skip


def _child(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Run a process to its end.

    Raises
    ------
    BenchmarkError
    """
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchmarkError(f"{' '.join(command[1:])} failed: {done.stderr.strip().splitlines()[-1:]}")
