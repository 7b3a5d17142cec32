"""Another program's solutions of a problem: ``python -m benchmarks.mechanisms.peers PROGRAM`` in a process of its own.

Some of these programs cannot be loaded into one process, and some end it.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mechanisms.geometry import RefusedError
from benchmarks.peers.interface import MissingError, version_of

PROGRAMS = ("exudyn", "opensim", "mujoco", "drake")
FAST = 0.5  # [s] a run below is repeated, and counts warm


def solve(program: str, data: dict[str, Any], times: list[float], key: list[str], count: int, timeout: float) -> Any:
    """Solutions by a program: its ``name`` and ``method`` and ``rows``; or ``missing``, ``refused`` or ``error``, a sentence.

    Parameters
    ----------
    program : str
        One of ``PROGRAMS``.
    data, times, key
        A problem's data, times of its reference [s], and columns of the kind "pos" that are wanted.
    count : int
        Settings, from the coarse end.
    timeout : float [s]
        After which the solutions that there are count.
    """
    request = json.dumps({"data": data, "times": times, "key": key, "count": count})
    one = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
    command = [sys.executable, "-m", "benchmarks.mechanisms.peers", program]
    try:
        done = subprocess.run(
            command, input=request, capture_output=True, text=True, timeout=timeout, check=False, env=os.environ | one,
            cwd=Path(__file__).resolve().parents[2],
        )  # fmt: skip
        lines, end = done.stdout.splitlines(), f"the process ended with exit code {done.returncode}"
    except subprocess.TimeoutExpired as late:
        found = late.stdout or b""
        lines = (found.decode() if isinstance(found, bytes) else found).splitlines()
        end = f"longer than {timeout:g} s"
    answers = [json.loads(line) for line in lines]
    facts = answers[0] if answers else {}
    rows = [answer for answer in answers[1:] if "setting" in answer]
    last = next((answer for answer in answers if {"missing", "refused", "error"} & set(answer)), None)
    if last is None and not any("finished" in answer for answer in answers):
        last = {"error": end}
    return {"name": program, "method": ""} | facts | {"rows": rows} | (last or {})


def answers(program: str, request: dict[str, Any]) -> Any:
    """Facts, a row for each setting, and how it ended."""
    data, times = request["data"], np.array(request["times"])
    columns = {c["name"]: c for c in data["outputs"]["columns"]}
    wanted = [columns[name] for name in request["key"]]
    points = [(c["body"], c.get("local", (0.0, 0.0, 0.0))) for c in wanted]
    try:
        module = importlib.import_module(f"benchmarks.mechanisms.programs.{program}")
        version = version_of(module.DISTRIBUTION)
        yield {"name": f"{module.NAME} {version}", "method": module.method(data)}
        for setting in module.settings(data, float(times[-1]))[: request["count"]]:
            run = module.prepare(data, times, points, setting)
            seconds = []
            while not seconds or (len(seconds) < 3 and seconds[-1] < FAST):
                begin = time.perf_counter()
                positions, evaluations = run()
                seconds.append(time.perf_counter() - begin)
            found = {c["name"]: positions[k, :, c["comp"]].tolist() for k, c in enumerate(wanted)}
            yield {"setting": setting, "columns": found, "seconds": min(seconds), "evaluations": evaluations}
        yield {"finished": True}
    except (MissingError, ModuleNotFoundError) as error:
        yield {"missing": str(error)}
    except RefusedError as error:
        yield {"refused": str(error)}
    except Exception as error:  # any error of the other program is an answer
        yield {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # names that other programs are about to give up
    with os.fdopen(os.dup(1), "w") as pipe:
        os.dup2(2, 1)  # output of a program must not be read as an answer
        for answer in answers(sys.argv[1], json.load(sys.stdin)):
            pipe.write(json.dumps(answer) + "\n")
            pipe.flush()
