"""What another program is told of the foot and the chain, what it answers, and the process that it lives in.

A program is a module ``benchmarks.peer_<name>`` with

- ``NAME``, ``DISTRIBUTION``, ``METHOD``, ``WRITTEN`` (what its user had to write: one of the names below), ``KNOB``, and the
  settings of that knob from coarse to fine: ``LADDER``, all that a search may use, and ``SHOWN``;
- ``prepare(foot, end, setting, outputs) -> Prepared`` and ``evaluation(foot) -> Repeated``;
- ``chain(chain) -> Chained``, if it can do chains, up to ``MOST_LINKS``; ``WHY`` not, or not longer ones;
- ``check()``, which raises MissingError where something beside the program is not installed.

Each lives in a process of its own, because some of these programs cannot be loaded into one process (OpenSim brings a
CasADi of its own).  The process answers lines of JSON: ``python -m benchmarks.peer NAME``.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# What the user of a program writes.
JOINTS, TREE, FRAMES = "bodies and joints", "a tree", "frames and points"
LAGRANGIAN, HAND = "the Lagrangian", "equations derived by hand"


MOST = 1 << 20  # links


class MissingError(Exception):
    """A program, or what it needs beside it, is not installed."""


class PeerError(Exception):
    """A program did not do what was asked of it."""


@dataclass(frozen=True)
class Body:
    """Mass [kg], moments of inertia about its centre of mass (3,) [kg m^2], place of that in the neutral pose (3,) [m]."""

    mass: float
    inertia: list[float]
    r: list[float]


@dataclass(frozen=True)
class Foot:
    """The modified foot with its leg fixed: a main foot, with the toes welded to it, on two hinges with a massless link between.

    All vectors are in the ground's axes, in the neutral pose, where all frames are parallel: [m], [m/s^2].
    """

    gravity: list[float]
    main_foot: Body
    toes: Body
    talocrural: list[float]
    talocrural_axis: list[float]
    talocalcaneal: list[float]
    talocalcaneal_axis: list[float]

    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Foot:
        """From JSON."""
        data = json.loads(text)
        return cls(**(data | {part: Body(**data[part]) for part in ("main_foot", "toes")}))

    def welded(self) -> tuple[float, Floats, Floats]:
        """Main foot and toes as one body: mass [kg], centre of mass (3,) [m], inertia about it (3, 3) [kg m^2]."""
        parts = (self.main_foot, self.toes)
        mass = sum(part.mass for part in parts)
        centre = sum((part.mass * np.array(part.r) for part in parts), np.zeros(3)) / mass
        inertia = np.zeros((3, 3))
        for part in parts:
            s = np.array(part.r) - centre
            inertia += np.diag(part.inertia) + part.mass * (s @ s * np.eye(3) - np.outer(s, s))
        return mass, centre, inertia


@dataclass(frozen=True)
class Chain:
    """N equal links on ball joints that hang from the ground, at rest along x: SI units; ``inertia`` about x, y, z."""

    links: int
    length: float
    mass: float
    inertia: list[float]
    gravity: list[float]


@dataclass(frozen=True)
class Prepared:
    """A run with one setting, ready to be timed."""

    run: Callable[[], object]  # the whole motion, warm and without outputs
    motion: Callable[
        [], tuple[Floats, Floats]
    ]  # times (n,) [s] and positions of the main foot's centre of mass (n, 3) [m]
    evaluations: Callable[[], int | None]  # of the last run, where the program tells


@dataclass(frozen=True)
class Repeated:
    """A job that does the same thing so many times in compiled code."""

    job: Callable[[], object]
    times: int


@dataclass(frozen=True)
class Chained:
    """One evaluation, or step, of a chain, repeated; angular accelerations of the links about y at the start (N,) [rad/s^2]."""

    work: Repeated
    turning: Floats
    what: str = "evaluation"


def version_of(distribution: str) -> str:
    """Version of an installed distribution.

    Raises
    ------
    MissingError
    """
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        raise MissingError(f"{distribution} is not installed") from None


def frame(axis: list[float]) -> Floats:
    """A rotation whose third column is the axis (3,), of length one; (3, 3)."""
    z = np.array(axis)
    x = np.cross(z, np.eye(3)[np.abs(z).argmin()])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def timed(job: Callable[[], object]) -> float:
    """Duration of a job [s]."""
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin


def least(job: Callable[[], object], spend: float = 5e-3) -> float:
    """Least duration of a job [s] that is done once, or again and again for so long [s]: a processor wakes up slowly."""
    best = spent = timed(job)
    while spent < spend:
        took = timed(job)
        best, spent = min(best, took), spent + took
    return best


class Process:
    """A program in a process of its own, at the end of a pipe."""

    def __init__(self, name: str, foot: Foot, end: float, outputs: int, build: Path) -> None:
        one = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.peer", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=os.environ | one, cwd=Path(__file__).resolve().parent.parent,
        )  # fmt: skip
        self._told = dict(foot=foot.text(), end=end, outputs=outputs, build=str(build))

    def open(self) -> dict[str, Any]:
        """Facts of the program.

        Raises
        ------
        MissingError
            It, or what it needs, is not installed.
        """
        facts: dict[str, Any] = self.ask("open", **self._told)
        return facts

    def ask(self, what: str, **arguments: Any) -> Any:
        """The answer to one question.

        Raises
        ------
        MissingError, PeerError
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"what": what, **arguments}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise PeerError(f"{self.name}: its process ended with {self._process.wait()} when asked for '{what}'")
        answer = json.loads(line)
        if "missing" in answer:
            raise MissingError(answer["missing"])
        if "error" in answer:
            raise PeerError(f"{self.name}, {what}: {answer['error']}")
        return answer["answer"]

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


class _Served:
    """The other end of the pipe: one program's module."""

    def __init__(self, name: str) -> None:
        self.module = importlib.import_module(f"benchmarks.peer_{name}")
        self.prepared: dict[float, Prepared] = {}

    def open(self, foot: str, end: float, outputs: int, build: str) -> dict[str, Any]:
        m = self.module
        version = version_of(m.DISTRIBUTION)
        self.foot, self.end, self.outputs = Foot.read(foot), end, outputs
        os.environ["TALUS_PEERS_BUILD"] = build
        if hasattr(m, "check"):
            m.check()
        facts = {name.lower(): getattr(m, name) for name in ("NAME", "METHOD", "WRITTEN", "KNOB")}
        chains = {
            "most_links": getattr(m, "MOST_LINKS", MOST) if hasattr(m, "chain") else 0,
            "why": getattr(m, "WHY", None),
        }
        return facts | chains | {"version": version, "ladder": list(m.LADDER), "shown": list(m.SHOWN)}

    def _prepare(self, setting: float) -> Prepared:
        if setting not in self.prepared:
            prepared = self.module.prepare(self.foot, self.end, setting, self.outputs)
            prepared.run()  # warm
            self.prepared = {setting: prepared} if len(self.prepared) > 8 else self.prepared | {setting: prepared}
        return self.prepared[setting]

    def motion(self, setting: float) -> list[Any]:
        return [np.asarray(found).tolist() for found in self._prepare(setting).motion()]

    def run(self, setting: float) -> float:
        return least(self._prepare(setting).run)

    def evaluations(self, setting: float) -> int | None:
        return self._prepare(setting).evaluations()

    def evaluation(self, repeats: int) -> float:
        return _least(self.module.evaluation(self.foot), repeats)

    def chain(self, chain: dict[str, Any], repeats: int) -> dict[str, Any]:
        begin = time.perf_counter()
        found = self.module.chain(Chain(**chain))
        building = time.perf_counter() - begin
        return {
            "seconds": _least(found.work, repeats), "turning": np.asarray(found.turning).tolist(), "what": found.what,
            "building": building,
        }  # fmt: skip


def _least(work: Repeated, repeats: int) -> float:
    """Least time of one of the things that a job repeats [s]; a job that is slow is not repeated so often."""
    took = [timed(work.job)]
    while len(took) <= repeats and sum(took) < 2.0:
        took.append(timed(work.job))
    return min(took[1:] or took) / work.times


def serve(name: str, questions: TextIO, answers: TextIO) -> None:
    """Answer lines of JSON until they end."""
    served = None
    for line in questions:
        question = json.loads(line)
        try:
            served = served or _Served(name)
            answer: dict[str, Any] = {"answer": getattr(served, question.pop("what"))(**question)}
        except (MissingError, ModuleNotFoundError) as error:
            answer = {"missing": str(error)}
        except Exception as error:  # whatever another program raises is told to whoever asked
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "w") as pipe:
        os.dup2(2, 1)  # what programs print is not an answer
        serve(sys.argv[1], sys.stdin, pipe)
