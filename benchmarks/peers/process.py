"""Another program in a process of its own, which answers lines of JSON: ``python -m benchmarks.peers.process NAME``.

Some of these programs cannot be loaded into one process: OpenSim brings a CasADi of its own.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from benchmarks.peers.interface import (
    Chain,
    Foot,
    MissingError,
    PeerError,
    Prepared,
    Repeated,
    least,
    timed,
    version_of,
)

MAX_LINKS = 1 << 20  # of a program that sets no limit itself


class Process:
    """A program in a process of its own, which is asked through a pipe."""

    def __init__(self, name: str, foot: Foot, end: float, outputs: int, build: Path) -> None:
        one = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.peers.process", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=os.environ | one, cwd=Path(__file__).resolve().parents[2],
        )  # fmt: skip
        self._settings = dict(foot=foot.text(), end=end, outputs=outputs, build=str(build))

    @property
    def pid(self) -> int:
        """Identifier of the process."""
        return self._process.pid

    def open(self) -> dict[str, Any]:
        """Name, version, method, input and settings of the program.

        Raises
        ------
        MissingError
            The program, or something that it needs, is not installed.
        """
        facts: dict[str, Any] = self.request("open", **self._settings)
        return facts

    def request(self, what: str, **arguments: Any) -> Any:
        """The answer to one request: a method of the process's ``_Server``.

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
            raise PeerError(
                f"{self.name}: the process ended with exit code {self._process.wait()} during the request '{what}'"
            )
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


class _Server:
    """One program's module, inside its process; every public method answers a request."""

    def __init__(self, name: str) -> None:
        self.module = importlib.import_module(f"benchmarks.peers.programs.{name}")
        self.prepared: dict[float, Prepared] = {}

    def open(self, foot: str, end: float, outputs: int, build: str) -> dict[str, Any]:
        m = self.module
        version = version_of(m.DISTRIBUTION)
        self.foot, self.end, self.outputs = Foot.read(foot), end, outputs
        os.environ["TALUS_PEERS_BUILD"] = build
        if hasattr(m, "check"):
            m.check()
        facts = {name.lower(): getattr(m, name) for name in ("NAME", "METHOD", "INPUT", "KNOB")}
        chains = {
            "max_links": getattr(m, "MAX_LINKS", MAX_LINKS) if hasattr(m, "chain") else 0,
            "reason": getattr(m, "REASON", None),
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
            "seconds": _least(found.work, repeats), "what": found.what, "building": building,
            "angular_accelerations": np.asarray(found.angular_accelerations).tolist(),
        }  # fmt: skip


def _least(work: Repeated, repeats: int) -> float:
    """Least time of one of the evaluations that a job repeats [s]; a slow job is measured fewer times."""
    took = [timed(work.job)]
    while len(took) <= repeats and sum(took) < 2.0:
        took.append(timed(work.job))
    return min(took[1:] or took) / work.times


def serve(name: str, requests: TextIO, answers: TextIO) -> None:
    """Answer lines of JSON until they end."""
    server = None
    for line in requests:
        request = json.loads(line)
        try:
            server = server or _Server(name)
            answer: dict[str, Any] = {"answer": getattr(server, request.pop("what"))(**request)}
        except (MissingError, ModuleNotFoundError) as error:
            answer = {"missing": str(error)}
        except Exception as error:  # any error of the other program is returned as the answer
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "w") as pipe:
        os.dup2(2, 1)  # output of a program must not be read as an answer
        serve(sys.argv[1], sys.stdin, pipe)
