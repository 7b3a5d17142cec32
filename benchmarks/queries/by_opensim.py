"""Answers of OpenSim, by Simbody's operators, from a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.files.states import Sample
from benchmarks.queries.differences import DIFFERENCES, Floats
from benchmarks.queries.tied import Asked, moved
from models.files import Reading
from models.files.naming import identifiers


class OpenSimQueries:
    """``Rates`` and answers: derivatives of the coordinates that follow no other."""

    def __init__(self, reading: Reading) -> None:
        if find_spec("opensim") is None:
            raise ImportError("opensim is not installed")
        self.reading, self.steps = reading, {step.name: step for _, step in reading.description.steps}
        following = {one.step for one in reading.description.followers}
        own = {name: step for step, name in identifiers(list(reading.description.coordinates)).items()}
        self.names = {step: name for step, name in own.items() if step in self.steps}
        self.rates = [step for step in self.names if step not in following]
        self.count, self.free = len(self.rates), list[int]()
        frames = {f.name for f in reading.build().frames}
        self.frames = {name: f"{link}_origin" for name, link in reading.description.bodies.items() if link != "ground"}
        missing = [frame for frame in self.frames.values() if frame not in frames]
        if missing:
            raise ValueError(f"no frames {', '.join(missing)}")
        couplers = ["couplers"] if reading.description.followers else []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.queries.opensim_process", str(reading.file.resolve()), *couplers],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        self._asked([self.names[name] for name in self.rates])

    def close(self) -> None:
        """End the process."""
        self.process.communicate()

    def _asked(self, what: Any) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise ValueError("OpenSim ended without an answer")
        return json.loads(line)

    def of_file(self, sample: Sample, w: Floats) -> dict[str, Any]:
        """See ``Rates``."""
        return dict.fromkeys(self.steps, 0.0) | dict(zip(self.rates, w.tolist(), strict=True))

    def drift(self, sample: Sample, w: Floats) -> dict[str, Any]:
        """See ``Rates``."""
        return {}

    def q(self, sample: Sample) -> dict[str, float]:
        """Coordinates of the file."""
        return {name: float(sample.q[own] + self.steps[own].reference) for own, name in self.names.items()}

    def answers(self, asked: Asked) -> dict[str, Floats]:
        """Of all queries."""
        return self._answered(asked, self.q(asked.other))

    def changes(self, asked: Asked) -> dict[str, Floats]:
        """Differences of Simbody's own velocities and mass matrix: accelerations, and efforts by Lagrange's equations."""
        return self._answered(asked, None)

    def _answered(self, asked: Asked, other: dict[str, float] | None) -> dict[str, Floats]:
        numbers = {"w": asked.w.tolist(), "a": asked.a.tolist(), "tau": asked.tau.tolist(), "step": asked.step}
        found = self._asked({"q": self.q(asked.sample), "other": other} | numbers)
        return {name: np.array(value) for name, value in found.items()}

    def derivatives(self, asked: Asked) -> dict[str, Floats]:
        """Of the inverse dynamics, as differences."""
        states, n = [], self.count
        for unit in np.eye(n):
            for k, _ in DIFFERENCES:
                for sign in (k, -k):
                    to = moved(self.reading, asked.sample, self.of_file(asked.sample, unit), sign * asked.step)
                    states.append([self.q(to), asked.w.tolist(), asked.a.tolist()])
        for unit in np.eye(n):
            states += [[self.q(asked.sample), (asked.w + x * unit).tolist(), asked.a.tolist()] for x in (1.0, -1.0)]
        found = np.array(self._asked({"states": states}))
        of_q = found[: 8 * n].reshape(n, 4, 2, n)
        weights = np.array([c for _, c in DIFFERENCES]) / asked.step
        of_u = found[8 * n :].reshape(n, 2, n)
        return {
            "derivatives over q": np.einsum("k,ckj->jc", weights, of_q[:, :, 0] - of_q[:, :, 1]),
            "derivatives over u": (of_u[:, 0] - of_u[:, 1]).T / 2.0,
        }

    def moves(self, asked: Asked) -> dict[str, Floats]:
        """OpenSim has none."""
        return {}
